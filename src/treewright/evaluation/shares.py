"""Recall, precision and their kind, for whatever holds the counts that they are made of.

Owns the percentages that a sentence, a label and a sum over sentences have in common.
"""

from __future__ import annotations

from typing import Protocol


class _Brackets(Protocol):
    @property
    def gold(self) -> int: ...
    @property
    def predicted(self) -> int: ...
    @property
    def matched(self) -> int: ...


class _Tags(Protocol):
    @property
    def words(self) -> int: ...
    @property
    def correct_tags(self) -> int: ...


class BracketShares:
    """Mixed into a class that has the numbers of gold, predicted and matched brackets."""

    __slots__ = ()

    @property
    def recall(self: _Brackets) -> float:
        """Matched brackets as a percentage of the gold ones."""
        return percent(self.matched, self.gold)

    @property
    def precision(self: _Brackets) -> float:
        """Matched brackets as a percentage of the predicted ones."""
        return percent(self.matched, self.predicted)

    @property
    def f1(self: _Brackets) -> float:
        """The harmonic mean of recall and precision, 0 if both are 0."""
        precision, recall = percent(self.matched, self.predicted), percent(self.matched, self.gold)
        # In this order of operations the last digit is that of the C program.
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


class TagShares:
    """Mixed into a class that has the numbers of words and of correct tags."""

    __slots__ = ()

    @property
    def tagging_accuracy(self: _Tags) -> float:
        """Correct tags as a percentage of the words."""
        return percent(self.correct_tags, self.words)


def percent(part: int, whole: int) -> float:
    """A share of 100; 0 of nothing.

    >>> percent(1, 4), percent(0, 0)
    (25.0, 0.0)
    """
    return 100.0 * part / whole if whole else 0.0
