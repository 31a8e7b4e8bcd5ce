"""Held-out trees: how good the model is, what a violation should cost, how sure it may be.

Owns the scoring of dev with rules off, hard and soft, the choice of the lift and of the penalty,
and the temperatures. Predicted trees are given gold's part-of-speech tags, so that EVALB finds the
same punctuation on both sides; how good the tagger is is told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from treewright.charts import Floats, Ints, cell_count, is_tensor
from treewright.decode import Parses, decode, fit_temperature
from treewright.errors import EmptyInput, Place
from treewright.evaluation import Parameters, evaluate
from treewright.scorer import Description, RulesMode, Scorer
from treewright.training.treebank import Treebank
from treewright.trees import Span, Tree
from treewright.trees.binarize import derivation
from treewright.trees.symbols import is_null

#: How the rules are used: not at all, as they are, or softly, at a penalty.
Way: TypeAlias = Literal["off", "hard"] | float

#: Penalties of soft rules that are tried on dev, in units of the margin that was trained for.
PENALTIES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

#: What is tried on dev as an addition to every label, in the same units. The hinge is content with
#: a flat tree wherever a bracket is unsure, so that more brackets are missed than invented.
LIFTS = tuple(round(0.1 * tenths, 1) for tenths in range(21))
# Of them, so many at a time: more are tried only where the last was as good as any
_LIFTS_AT_ONCE = 7

# Numbers of charts that are held at once: some 250 MB
_MOST_NUMBERS = 1 << 26
# Words of dev that temperatures are fitted on; more would say no more
_TEMPERATURE_WORDS = 8_000
# And words of dev that the lift is chosen on
_LIFT_WORDS = 30_000


@dataclass(frozen=True)
class Score:
    """EVALB's figures of one way of decoding."""

    f1: float
    recall: float
    precision: float
    complete: float

    def as_dict(self) -> dict[str, float]:
        """By name, to two decimals as EVALB prints them."""
        return {name: round(value, 2) for name, value in vars(self).items()}


@dataclass(frozen=True)
class DevScores:
    """The figures of dev by way of decoding, and the share of words with the right tag."""

    by_way: Mapping[Way, Score]
    tagging: float

    def as_dict(self) -> dict[str, Any]:
        """By name; of soft rules the best, with its penalty."""
        figures: dict[str, Any] = {}
        for way, score in self.by_way.items():
            if isinstance(way, str):
                figures[way] = score.as_dict()
            elif way == best_penalty(self):
                figures["soft"] = {**score.as_dict(), "penalty": way}
        return {**figures, "tagging": round(self.tagging, 2)}


class Dev:
    """The held-out trees of a run."""

    def __init__(self, treebank: Treebank) -> None:
        self._gold = treebank.trees
        self._normalized = treebank.normalized
        self._words = treebank.words
        self._tags = [tree.tags() for tree in treebank.normalized]
        self._parameters = replace(Parameters.collins(), max_error=len(self._gold))
        if not self._judge(self._gold).f1:
            message = "holds no constituent that EVALB would score: nothing can be chosen by it"
            raise EmptyInput(message, Place(treebank.file))

    def score(
        self,
        scorer: Scorer,
        ways: Sequence[Way],
        *,
        rank: int = 0,
        processes: int = 1,
        gather: Callable[[list[Any]], list[Any]] = list,
    ) -> DevScores:
        """Parse all sentences in all ways, and let EVALB judge.

        Several processes parse a share each, and `gather` puts lists of theirs one after the other.
        """
        order = sorted(range(len(self._words)), key=lambda at: len(self._words[at]))
        found = gather(list(self._parse(scorer, order[rank::processes], ways)))
        trees: list[list[Tree]] = [[tree] * len(ways) for tree in self._gold]
        right = 0
        for sentence, parsed, right_tags in found:
            trees[sentence] = parsed
            right += right_tags
        by_way = {way: self._judge([of[at] for of in trees]) for at, way in enumerate(ways)}
        return DevScores(by_way, 100.0 * right / sum(map(len, self._words)))

    def _parse(
        self, scorer: Scorer, sentences: Sequence[int], ways: Sequence[Way]
    ) -> Iterator[tuple[int, list[Tree], int]]:
        """Of every sentence its trees and how many of its tags are right."""
        description = scorer.description
        for part in _parts(sentences, self._words, len(description.labels)):
            scores = scorer.score([self._words[at] for at in part])
            rows = as_numpy(scores.rows)
            parses = [decoded(rows, scores.lengths, description, way) for way in ways]
            tags = np.split(scores.tags, np.cumsum(scores.lengths)[:-1])
            for at, sentence in enumerate(part):
                words, gold_tags = self._words[sentence], self._tags[sentence]
                trees = [parse[at].tree(words, gold_tags) for parse in parses]
                named = [description.tags[tag] if tag >= 0 else "" for tag in tags[at].tolist()]
                yield sentence, trees, sum(map(str.__eq__, named, gold_tags))

    def _judge(self, predicted: Sequence[Tree], sentences: Sequence[int] | None = None) -> Score:
        gold = self._gold if sentences is None else [self._gold[at] for at in sentences]
        report = evaluate(gold, predicted, self._parameters)
        return Score(report.f1, report.recall, report.precision, report.complete_match)

    def lift(self, scorer: Scorer) -> float:
        """What to add to the scores of all labels but the nulls, by F1 under hard rules.

        The smallest of equals, on a part of dev.
        """
        sample = sorted(self._sample(_LIFT_WORDS), key=lambda at: len(self._words[at]))
        f1: dict[float, float] = {}
        for at in range(0, len(LIFTS), _LIFTS_AT_ONCE):
            f1 |= self._lifted(scorer, sample, LIFTS[at : at + _LIFTS_AT_ONCE])
            if f1[max(f1)] < max(f1.values()):
                break
        return max(f1, key=lambda lift: (f1[lift], -lift))

    def _lifted(
        self, scorer: Scorer, sample: Sequence[int], lifts: Sequence[float]
    ) -> dict[float, float]:
        """F1 under hard rules of some sentences, their labels lifted by each of some numbers."""
        description = scorer.description
        real = np.array([not is_null(label) for label in description.labels])
        trees: dict[float, list[Tree]] = {lift: [] for lift in lifts}
        for part in _parts(sample, self._words, len(description.labels)):
            scores = scorer.score([self._words[at] for at in part])
            rows = as_numpy(scores.rows)
            for lift, found in trees.items():
                lifted = rows + np.where(real, np.float32(lift), np.float32(0))
                parses = decoded(lifted, scores.lengths, description, "hard")
                for sentence, parse in zip(part, parses, strict=True):
                    found.append(parse.tree(self._words[sentence], self._tags[sentence]))
        return {lift: self._judge(found, sample).f1 for lift, found in trees.items()}

    def temperatures(self, scorer: Scorer) -> dict[RulesMode, float]:
        """What makes confidences honest, for every mode of the rules, on a part of dev."""
        description = scorer.description
        sample = self._sample(_TEMPERATURE_WORDS)
        scores = scorer.score([self._words[at] for at in sample])
        rows = as_numpy(scores.rows)
        gold = [_known(derivation(self._normalized[at], description.grammar.scheme), description)
                for at in sample]  # fmt: skip
        found: dict[RulesMode, float] = {}
        modes: tuple[RulesMode, ...] = ("hard", "soft", "off")
        for mode in modes:
            way: Way = description.penalty if mode == "soft" else mode
            fit = fit_temperature(
                rows,
                description.labels,
                gold,
                lengths=scores.lengths,
                **_options(description, way),
            )
            found[mode] = fit.temperature
        return found

    def _sample(self, wanted: int) -> list[int]:
        """Sentences spread evenly over dev, of about as many words as are wanted."""
        words = sum(map(len, self._words))
        stride = max(1, -(-words // wanted))
        return list(range(0, len(self._words), stride))


def best_penalty(scores: DevScores) -> float:
    """The penalty of the best soft rules; of equals the highest, which is the nearest to hard."""
    soft = [(score.f1, way) for way, score in scores.by_way.items() if isinstance(way, float)]
    return max(soft)[1]


def decoded(rows: Floats, lengths: Ints, description: Description, way: Way) -> Parses:
    """The parses of packed charts, in one way."""
    options = _options(description, way)
    parses: Parses = decode(rows, description.labels, lengths=lengths, **options)
    return parses


def _options(description: Description, way: Way) -> dict[str, Any]:
    if way == "off":
        return {}
    penalty = float("inf") if way == "hard" else way
    scores = None if description.rule_scores is None else np.array(description.rule_scores)
    return {"grammar": description.grammar, "penalty": penalty, "rule_scores": scores}


def as_numpy(rows: Any) -> Floats:
    """Scores in this memory, wherever they lie."""
    array: Floats = rows.cpu().numpy() if is_tensor(rows) else rows
    return array


def _parts(
    sentences: Sequence[int], words: Sequence[Sequence[str]], columns: int
) -> Iterator[list[int]]:
    """Sentences in parts whose charts fit in memory together."""
    part: list[int] = []
    numbers = 0
    for at in sentences:
        size = cell_count(len(words[at])) * columns
        if part and numbers + size > _MOST_NUMBERS:
            yield part
            part, numbers = [], 0
        part.append(at)
        numbers += size
    if part:
        yield part


def _known(spans: Sequence[Span], description: Description) -> list[Span]:
    """Spans whose symbols are columns; dev may hold symbols that were never trained."""
    return [span for span in spans if span.label in description.columns]
