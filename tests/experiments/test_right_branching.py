"""The baseline that looks at no word."""

from __future__ import annotations

import doctest

import right_branching

from treewright import Tree

GOLD = [
    Tree.from_brackets("(TOP (S (X a) (NP (X b) (NP (X c) (X d))) (. .)))"),
    Tree.from_brackets("(TOP (S (NP (X a) (X b)) (VP (X c))))"),
    Tree.from_brackets("(TOP (FRAG (X a)))"),
]


def test_docstrings() -> None:
    assert doctest.testmod(right_branching).failed == 0


def test_labels_are_those_that_gold_has_most_of() -> None:
    assert right_branching.common_labels(GOLD) == ("NP", "S")


def test_f1() -> None:
    """Trees as they are guessed score 100; the other two share a bracket of 2 and of 3, 1 and 1."""
    assert right_branching.f1(GOLD[:1]) == (100.0, 100.0)
    labelled, unlabelled = right_branching.f1(GOLD)
    # gold 3 + 3 + 1, guessed 3 + 2 + 1; right 3 + 1 + 0, and without labels 3 + 1 + 1
    assert (round(labelled, 2), round(unlabelled, 2)) == (61.54, 76.92)
