"""A sentence's gold and predicted tree side by side, with what is missing and what is extra.

Owns the drawing of two trees in two columns, which stay in step: what begins at the same word
stands in the same row. Which brackets match is decided in `score`.

      gold: - missing       |   predicted: + extra
      S                     |   S  I
    -   NP  I               |
        VP  saw/VBP         |     VP  saw/NN
          NP  the dog       | +     NP
                            |         NP  the dog
          ADVP  here        |         ADVP  here
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from treewright.evaluation.parameters import Parameters
from treewright.evaluation.score import (
    Bracket,
    SentenceScore,
    counted,
    match_brackets,
    reconcile,
)
from treewright.evaluation.sentence import LEAF, OPEN, Sentence, events, read_sentence
from treewright.trees import Tree
from treewright.trees.layout import cell_width, visible

_BETWEEN = " | "
_NARROWEST = 20  # of a column; the margin for marks takes two of it
_MARGIN = 2


@dataclass(frozen=True)
class Comparison:
    """A scored sentence and its brackets that count, which span the words that count."""

    score: SentenceScore
    gold: list[Bracket]
    predicted: list[Bracket]
    matches: list[tuple[int, int]]
    """Pairs of a gold and a predicted bracket, by their numbers in the lists above."""

    sources: tuple[str | Tree, str | Tree] = field(repr=False)
    sentences: tuple[Sentence, Sentence] = field(repr=False)
    wrong_tags: frozenset[int] = field(repr=False)

    @classmethod
    def of(
        cls,
        score: SentenceScore,
        gold: str | Tree,
        predicted: str | Tree,
        parameters: Parameters,
    ) -> Comparison:
        """Compare two trees that have been scored."""
        ours, theirs = read_sentence(gold, parameters), read_sentence(predicted, parameters)
        reconcile(ours, theirs, parameters)
        brackets = counted(ours), counted(theirs)
        # In an error sentence there may be more of one than of the other.
        tags = enumerate(zip(ours.tags, theirs.tags, strict=False))
        return cls(
            score,
            *brackets,
            match_brackets(*brackets, parameters),
            (gold, predicted),
            (ours, theirs),
            frozenset(at for at, (a, b) in tags if not parameters.same_label(a, b)),
        )

    @property
    def missing(self) -> list[Bracket]:
        """Gold brackets that were not predicted."""
        found = {ours for ours, _ in self.matches}
        return [bracket for at, bracket in enumerate(self.gold) if at not in found]

    @property
    def extra(self) -> list[Bracket]:
        """Predicted brackets that are not in the gold tree."""
        right = {theirs for _, theirs in self.matches}
        return [bracket for at, bracket in enumerate(self.predicted) if at not in right]

    def as_dict(self) -> dict[str, Any]:
        """What is missing and what is extra, as data."""
        return {
            "sentence": self.score.number,
            "f1": self.score.f1,
            "missing": [list(bracket) for bracket in self.missing],
            "extra": [list(bracket) for bracket in self.extra],
        }

    def text(self, width: int = 80) -> str:
        """Both trees in two columns, a constituent a line, never wider than `width` (from 43 on).

        A word stands behind the constituent that it is the first of, or on a line of its own; its
        tag is shown where gold and predicted differ in it.
        """
        score = self.score
        column = max((width - len(_BETWEEN)) // 2, _NARROWEST)
        headline = (
            f"#{score.number}  F1 {score.f1:.2f}  recall {score.recall:.2f}  "
            f"precision {score.precision:.2f}  missing {len(self.missing)}  "
            f"extra {len(self.extra)}  crossing {score.crossing}"
        )
        found, right = zip(*self.matches, strict=True) if self.matches else ((), ())
        gold = self._rows(0, "-", set(found))
        predicted = self._rows(1, "+", set(right))
        lines = [line.rstrip(" ") for line in _wrap(headline.split(" "), "", "", width)]
        lines.append(_beside(*_HEADINGS, column))
        for at in sorted(gold.keys() | predicted.keys()):
            ours = [line for row in gold.get(at, []) for line in row.lines(column)]
            theirs = [line for row in predicted.get(at, []) for line in row.lines(column)]
            lines += [_beside(*pair, column) for pair in zip_longest(ours, theirs, fillvalue="")]
        return "\n".join(lines) + "\n"

    def _rows(self, side: int, mark: str, matched: set[int]) -> dict[int, list[_Row]]:
        """The rows of one tree by the number of words that count before them."""
        sentence = self.sentences[side]
        rows: dict[int, list[_Row]] = {}
        newest: _Row | None = None
        at = depth = opened = counting = 0
        for kind, label, word in events(self.sources[side]):
            if kind is LEAF:
                # A leaf that does not count has a tag that no word that counts can have.
                counts = [label, word] == [
                    *sentence.tags[at : at + 1],
                    *sentence.words[at : at + 1],
                ]
                shown = f"{word}/{label}" if counts and at in self.wrong_tags else word
                if newest is None:
                    newest = _Row(depth, "", "")
                    rows.setdefault(at, []).append(newest)
                newest.words.append(visible(shown))
                at += counts
            elif kind is OPEN:
                is_counted = (
                    sentence.labels[opened] is not None
                    and sentence.starts[opened] != sentence.ends[opened]
                )
                wrong = is_counted and counting not in matched
                newest = _Row(depth, mark if wrong else "", visible(label) if label else "()")
                rows.setdefault(at, []).append(newest)
                counting += is_counted
                opened += 1
                depth += 1
            else:
                newest = None
                depth -= 1
        return rows


_HEADINGS = ("  gold: - missing", "  predicted: + extra")


@dataclass(slots=True)
class _Row:
    """A constituent with the words it begins with, or words that follow a constituent."""

    depth: int
    mark: str
    label: str
    words: list[str] = field(default_factory=list)

    def lines(self, width: int) -> Iterator[str]:
        """The row within so many columns; deep rows share one indentation."""
        indent = min(2 * self.depth, (width - _MARGIN) // 2)
        margin = self.mark.ljust(_MARGIN) + " " * indent
        words = list(self.words)
        if self.label:  # which a wider gap sets off from the words
            words.insert(0, f"{self.label} " if words else self.label)
        return _wrap(words, margin, " " * (_MARGIN + indent + 2), width)


def _wrap(words: list[str], first: str, later: str, width: int) -> Iterator[str]:
    """Fill lines with words; the first begins with `first`, the others with `later`."""
    line, used, empty = first, cell_width(first), True
    for word in words:
        if not empty and used + 1 + cell_width(word) > width:
            yield line
            line, used, empty = later, cell_width(later), True
        if not empty:
            line, used = line + " ", used + 1
        for character in word:
            if used + cell_width(character) > width:  # a word longer than a line
                yield line
                line, used = later, cell_width(later)
            line, used, empty = line + character, used + cell_width(character), False
    yield line


def _beside(left: str, right: str, column: int) -> str:
    return f"{left}{' ' * (column - cell_width(left))}{_BETWEEN}{right}".rstrip(" ")
