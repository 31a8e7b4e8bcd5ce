"""One sentence against its gold tree: matching brackets, crossing brackets, tags.

Owns the rules by which EVALB compares two sentences, in forms whose cost does not grow with the
square of the number of brackets. Sums over sentences are made in `report`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from treewright.evaluation.parameters import Parameters
from treewright.evaluation.sentence import Sentence, fix_quotes
from treewright.evaluation.shares import BracketShares, TagShares

#: What a bracket covers, half-open, and its label.
Bracket = tuple[int, int, str]


class Status(IntEnum):
    """What became of a sentence, numbered as EVALB does."""

    SCORED = 0
    ERROR = 1
    SKIPPED = 2


class _Counts(NamedTuple):
    number: int  # counted from 1
    length: int  # of the gold sentence
    status: Status
    matched: int = 0  # brackets in both trees
    gold: int = 0  # brackets in the gold tree
    predicted: int = 0
    crossing: int = 0  # predicted brackets that cross a gold one
    words: int = 0  # that count
    correct_tags: int = 0
    message: str = ""  # why it is an error


class SentenceScore(_Counts, BracketShares, TagShares):
    """The figures of one sentence; all but the first two are 0 where nothing was scored."""

    __slots__ = ()


def score_sentence(
    gold: Sentence, predicted: Sentence, parameters: Parameters, number: int = 1
) -> SentenceScore:
    """Compare two readings of a sentence; quotation marks may be put back into them."""
    if not predicted.words:
        return SentenceScore(number, gold.length, Status.SKIPPED)
    if message := reconcile(gold, predicted, parameters):
        return SentenceScore(number, gold.length, Status.ERROR, message=message)
    gold_brackets = counted(gold)
    predicted_brackets = counted(predicted)
    return SentenceScore(
        number,
        gold.length,
        Status.SCORED,
        matched=len(match_brackets(gold_brackets, predicted_brackets, parameters)),
        gold=len(gold_brackets),
        predicted=len(predicted_brackets),
        crossing=count_crossing(gold_brackets, predicted_brackets),
        words=len(gold.words),
        correct_tags=_count_correct(gold.tags, predicted.tags, parameters),
    )


def reconcile(gold: Sentence, predicted: Sentence, parameters: Parameters) -> str:
    """Put back quotation marks if that helps; why the words are not the same, if they are not."""
    if len(gold.words) != len(predicted.words):
        fix_quotes(gold, predicted, parameters.delete_labels)
    if len(gold.words) != len(predicted.words):
        return f"Length unmatch ({len(gold.words)}|{len(predicted.words)})"
    if gold.words != predicted.words:
        for ours, theirs in zip(gold.words, predicted.words, strict=True):
            if not parameters.same_word(ours, theirs):
                return f"Words unmatch ({ours}|{theirs})"
    return ""


def counted(sentence: Sentence) -> list[Bracket]:
    """The brackets that count, in the order they open: over a word, and not to be deleted."""
    return [
        (start, end, label)
        for start, end, label in zip(sentence.starts, sentence.ends, sentence.labels, strict=True)
        if label is not None and start != end
    ]


def match_brackets(
    gold: Sequence[Bracket], predicted: Sequence[Bracket], parameters: Parameters
) -> list[tuple[int, int]]:
    """Which gold bracket matches which predicted one, by number; no bracket is used twice.

    Every gold bracket in turn takes the first free predicted one that covers the same words under
    the same label. Only brackets in one multiset can be the same, and the first one in it mostly
    is: labels that are linked, but not the same, are a rarity.

    >>> match_brackets([(0, 2, "S"), (0, 2, "S")], [(0, 2, "NP"), (0, 2, "S")], Parameters())
    [(0, 1)]
    """
    families = parameters.families
    labelled = parameters.labelled
    free: dict[Bracket, list[int]] = {}  # the first one last
    for at in range(len(predicted) - 1, -1, -1):
        start, end, label = predicted[at]
        free.setdefault((start, end, families[label]), []).append(at)
    pairs = []
    for number, (start, end, label) in enumerate(gold):
        candidates = free.get((start, end, families[label]), [])
        for at in range(len(candidates) - 1, -1, -1):
            if not labelled or parameters.same_label(label, predicted[candidates[at]][2]):
                pairs.append((number, candidates.pop(at)))
                break
    return pairs


def count_crossing(gold: Sequence[Bracket], predicted: Sequence[Bracket]) -> int:
    """How many predicted brackets overlap a gold one without one being within the other.

    >>> count_crossing([(0, 4, "S"), (1, 3, "NP")], [(0, 4, "S"), (0, 2, "NP"), (0, 2, "X")])
    2
    """
    spans = {(start, end) for start, end, _ in gold}
    suspects = [(start, end) for start, end, _ in predicted if (start, end) not in spans]
    if not suspects:
        return 0
    around = _innermost_around(gold, max(end for _, end in suspects))
    crossing = 0
    for start, end in suspects:
        # A gold bracket crosses (start, end) if it reaches over one border and ends, or begins,
        # inside. Of those that reach over a border, the innermost is the likeliest.
        left, right = around[start], around[end]
        if (left and left[1] < end) or (right and right[0] > start):
            crossing += 1
    return crossing


def _innermost_around(gold: Sequence[Bracket], last: int) -> list[tuple[int, int] | None]:
    """For each border between words, the smallest gold bracket with words on both sides of it.

    Gold brackets come in the order they open and lie within each other, so one sweep will do.
    """
    around: list[tuple[int, int] | None] = []
    holding: list[tuple[int, int]] = []
    coming = 0
    for border in range(last + 1):
        while holding and holding[-1][1] <= border:
            holding.pop()
        around.append(holding[-1] if holding else None)
        while coming < len(gold) and gold[coming][0] == border:
            holding.append(gold[coming][:2])
            coming += 1
    return around


def _count_correct(gold: list[str], predicted: list[str], parameters: Parameters) -> int:
    if gold == predicted:
        return len(gold)
    return sum(map(parameters.same_label, gold, predicted))
