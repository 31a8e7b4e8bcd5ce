"""What a comparison of two treebanks comes to: EVALB's text, and the same figures as data.

Owns the sums over sentences, the tables by label and by length, and the text, which is EVALB's
to the last space. How a sentence is scored is the affair of `score`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from treewright.errors import ParameterError, Place
from treewright.evaluation.compare import Comparison
from treewright.evaluation.parameters import Parameters
from treewright.evaluation.score import SentenceScore, Status
from treewright.evaluation.shares import BracketShares, TagShares, percent
from treewright.trees import Tree

_HEAD = """\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
"""
_RULE = "=" * 76 + "\n"


@dataclass(frozen=True, slots=True)
class Summary(BracketShares, TagShares):
    """Sums over sentences, and the percentages made of them."""

    sentences: int = 0
    errors: int = 0
    skipped: int = 0
    complete: int = 0  # sentences whose brackets are all right
    gold: int = 0
    predicted: int = 0
    matched: int = 0
    crossing: int = 0
    uncrossed: int = 0  # sentences without crossing brackets
    little_crossed: int = 0  # sentences with two crossing brackets or fewer
    words: int = 0
    correct_tags: int = 0

    @classmethod
    def of(cls, scores: Iterable[SentenceScore]) -> Summary:
        """The sums over some sentences; those that were not scored add to their number only."""
        scores = list(scores)
        valid = [score for score in scores if score.status is Status.SCORED]
        return cls(
            sentences=len(scores),
            errors=sum(score.status is Status.ERROR for score in scores),
            skipped=sum(score.status is Status.SKIPPED for score in scores),
            complete=sum(score.matched == score.gold == score.predicted for score in valid),
            gold=sum(score.gold for score in valid),
            predicted=sum(score.predicted for score in valid),
            matched=sum(score.matched for score in valid),
            crossing=sum(score.crossing for score in valid),
            uncrossed=sum(score.crossing == 0 for score in valid),
            little_crossed=sum(score.crossing <= 2 for score in valid),
            words=sum(score.words for score in valid),
            correct_tags=sum(score.correct_tags for score in valid),
        )

    @property
    def valid(self) -> int:
        """The number of sentences that were scored."""
        return self.sentences - self.errors - self.skipped

    @property
    def complete_match(self) -> float:
        """Sentences whose brackets are all right, as a percentage."""
        return percent(self.complete, self.valid)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets a sentence."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Sentences without crossing brackets, as a percentage."""
        return percent(self.uncrossed, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Sentences with two crossing brackets or fewer, as a percentage."""
        return percent(self.little_crossed, self.valid)

    def text(self) -> str:
        """EVALB's lines for this summary, without their heading."""
        return (
            f"Number of sentence        = {self.sentences:6d}\n"
            f"Number of Error sentence  = {self.errors:6d}\n"
            f"Number of Skip  sentence  = {self.skipped:6d}\n"
            f"Number of Valid sentence  = {self.valid:6d}\n"
            f"Bracketing Recall         = {self.recall:6.2f}\n"
            f"Bracketing Precision      = {self.precision:6.2f}\n"
            f"Bracketing FMeasure       = {self._f1_text()}\n"
            f"Complete match            = {self.complete_match:6.2f}\n"
            f"Average crossing          = {self.average_crossing:6.2f}\n"
            f"No crossing               = {self.no_crossing:6.2f}\n"
            f"2 or less crossing        = {self.two_or_less_crossing:6.2f}\n"
            f"Tagging accuracy          = {self.tagging_accuracy:6.2f}\n"
        )

    def _f1_text(self) -> str:
        # Without a matched bracket the C program divides 0 by 0, which x86 prints so.
        return f"{self.f1:6.2f}" if self.matched else "  -nan"

    def as_dict(self) -> dict[str, int | float]:
        """Counts and percentages by name."""
        return {
            "sentences": self.sentences,
            "errors": self.errors,
            "skipped": self.skipped,
            "valid": self.valid,
            "gold": self.gold,
            "predicted": self.predicted,
            "matched": self.matched,
            "recall": self.recall,
            "precision": self.precision,
            "f1": self.f1,
            "complete_match": self.complete_match,
            "average_crossing": self.average_crossing,
            "no_crossing": self.no_crossing,
            "two_or_less_crossing": self.two_or_less_crossing,
            "tagging_accuracy": self.tagging_accuracy,
        }


@dataclass(frozen=True, slots=True)
class LabelScore(BracketShares):
    """The figures of one label, as it counts: without function tags and indices.

    Labels that may match each other are one, `ADVP=PRT`; where labels do not count, all of them
    are (see `Parameters.families`).
    """

    label: str
    gold: int
    predicted: int
    matched: int


@dataclass(frozen=True, slots=True)
class LengthBucket:
    """The sentences of some lengths, `low` and `high` among them."""

    low: int
    high: int
    summary: Summary


@dataclass(frozen=True)
class Report:
    """The scores of predicted trees against gold trees.

    `recall`, `precision`, `f1` and their kind are those of all sentences; `short` sums up the
    sentences that are no longer than the cut-off.
    """

    parameters: Parameters
    scores: tuple[SentenceScore, ...]
    pairs: Sequence[tuple[str | Tree, str | Tree]]
    """Gold and predicted, as they were given, one pair for each score."""

    @cached_property
    def summary(self) -> Summary:
        """The sums over all sentences."""
        return Summary.of(self.scores)

    @cached_property
    def short(self) -> Summary:
        """The sums over the sentences up to the cut-off length."""
        cutoff = self.parameters.cutoff
        return Summary.of(score for score in self.scores if score.length <= cutoff)

    @property
    def recall(self) -> float:
        """Matched brackets as a percentage of the gold ones."""
        return self.summary.recall

    @property
    def precision(self) -> float:
        """Matched brackets as a percentage of the predicted ones."""
        return self.summary.precision

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision, 0 if both are 0."""
        return self.summary.f1

    @property
    def complete_match(self) -> float:
        """Sentences whose brackets are all right, as a percentage."""
        return self.summary.complete_match

    @property
    def average_crossing(self) -> float:
        """Crossing brackets a sentence."""
        return self.summary.average_crossing

    @property
    def tagging_accuracy(self) -> float:
        """Correct tags as a percentage of the words."""
        return self.summary.tagging_accuracy

    @property
    def messages(self) -> list[str]:
        """What EVALB says on standard error: the sentences it refused, and why."""
        return [f"{score.number} : {score.message}" for score in self.scores if score.message]

    @cached_property
    def labels(self) -> tuple[LabelScore, ...]:
        """The figures label by label, the commonest in the gold trees first."""
        family = self.parameters.families
        gold: Counter[str] = Counter()
        predicted: Counter[str] = Counter()
        matched: Counter[str] = Counter()
        for score in self.scores:
            if score.status is Status.SCORED:
                comparison = self.comparison(score.number)
                gold.update(family[label] for *_, label in comparison.gold)
                predicted.update(family[label] for *_, label in comparison.predicted)
                matched.update(family[comparison.gold[at][2]] for at, _ in comparison.matches)
        order = sorted(gold | predicted, key=lambda label: (-gold[label], -predicted[label], label))
        return tuple(
            LabelScore(label, gold[label], predicted[label], matched[label]) for label in order
        )

    def by_length(self, width: int = 10) -> list[LengthBucket]:
        """The scored sentences in groups of lengths: 1 to 10, 11 to 20, and so on."""
        if width < 1:
            raise ParameterError(f"a group of lengths cannot be {width} wide")
        groups: dict[int, list[SentenceScore]] = {}
        for score in self.scores:
            if score.status is Status.SCORED:
                groups.setdefault((max(score.length, 1) - 1) // width, []).append(score)
        return [
            LengthBucket(number * width + 1, (number + 1) * width, Summary.of(group))
            for number, group in sorted(groups.items())
        ]

    def worst(self, count: int = 10) -> list[Comparison]:
        """The scored sentences of lowest F1; of equal ones, those with more wrong brackets."""
        if count < 0:
            raise ParameterError(f"there cannot be {count} worst sentences")
        imperfect = [
            score
            for score in self.scores
            if score.status is Status.SCORED and score.matched < max(score.gold, score.predicted)
        ]
        imperfect.sort(key=lambda s: (s.f1, 2 * s.matched - s.gold - s.predicted, s.number))
        return [self.comparison(score.number) for score in imperfect[:count]]

    def comparison(self, number: int) -> Comparison:
        """One sentence, counted from 1, gold and predicted side by side."""
        if not 1 <= number <= len(self.scores):
            message = f"there is no such sentence, only 1 to {len(self.scores)}"
            raise ParameterError(message, Place(sentence=number))
        gold, predicted = self.pairs[number - 1]
        return Comparison.of(self.scores[number - 1], gold, predicted, self.parameters)

    # Text and data

    def text(self) -> str:
        """What EVALB prints."""
        all_, short = self.summary, self.short
        return (
            f"{self.rows()}{_RULE}{_total(all_)}=== Summary ===\n"
            f"\n-- All --\n{all_.text()}"
            f"\n-- len<={self.parameters.cutoff} --\n{short.text()}"
        )

    def rows(self) -> str:
        """The head of EVALB's text and the lines of the sentences."""
        return _HEAD + "".join(map(_row, self.scores))

    def as_dict(self) -> dict[str, Any]:
        """All figures by name; sentences that were not scored have a status and no shares."""
        return {
            "summary": self.summary.as_dict(),
            "short": {"cutoff": self.parameters.cutoff, **self.short.as_dict()},
            "labels": [
                {
                    "label": label.label,
                    "gold": label.gold,
                    "predicted": label.predicted,
                    "matched": label.matched,
                    "recall": label.recall,
                    "precision": label.precision,
                    "f1": label.f1,
                }
                for label in self.labels
            ],
            "lengths": [
                {"low": bucket.low, "high": bucket.high, **bucket.summary.as_dict()}
                for bucket in self.by_length()
            ],
            "sentences": [_sentence_dict(score) for score in self.scores],
        }

    def json(self, indent: int | None = None) -> str:
        """`as_dict()` as JSON text."""
        return json.dumps(self.as_dict(), indent=indent, ensure_ascii=False)


def _row(score: SentenceScore) -> str:
    return (
        f"{score.number:4d}  {score.length:3d}    {int(score.status)}  "
        f"{score.recall:6.2f} {score.precision:6.2f}   {score.matched:3d}    {score.gold:3d}"
        f"  {score.predicted:3d}    {score.crossing:3d}   {score.words:4d}  "
        f"{score.correct_tags:4d}   {score.tagging_accuracy:6.2f}\n"
    )


def _total(summary: Summary) -> str:
    """The line of totals; without brackets on either side its first half is missing."""
    brackets = ""
    if summary.gold and summary.predicted:
        brackets = (
            f"                {summary.recall:6.2f} {summary.precision:6.2f} "
            f"{summary.matched:6d} {summary.gold:5d} {summary.predicted:5d}  {summary.crossing:5d}"
        )
    tags = f"  {summary.words:5d} {summary.correct_tags:5d}   {summary.tagging_accuracy:6.2f}\n"
    return brackets + tags


def _sentence_dict(score: SentenceScore) -> dict[str, Any]:
    known: dict[str, Any] = {
        "sentence": score.number,
        "length": score.length,
        "status": score.status.name.lower(),
    }
    if score.message:
        known["message"] = score.message
    if score.status is not Status.SCORED:
        return known
    return {
        **known,
        "recall": score.recall,
        "precision": score.precision,
        "f1": score.f1,
        "matched": score.matched,
        "gold": score.gold,
        "predicted": score.predicted,
        "crossing": score.crossing,
        "words": score.words,
        "correct_tags": score.correct_tags,
        "tagging_accuracy": score.tagging_accuracy,
    }
