"""Normalisation drops traces and function tags and touches nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given

from strategies import ROOTED_TREES
from treewright.trees import Tree, normalize
from treewright.trees.normalize import bare_label


@pytest.mark.parametrize(
    ("label", "bare"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-LOC=3", "NP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("PRP$", "PRP$"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("=", "="),
        ("X-", "X"),
    ],
)
def test_labels_lose_function_tags_and_indices(label: str, bare: str) -> None:
    assert bare_label(label) == bare


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "( (S (NP-SBJ-1 (-NONE- *)) (VP (VB Go) (PRT-CLR (RP on))) (. .)) )",
            "(TOP (S (VP (VB Go) (PRT (RP on))) (. .)))",
        ),
        ("(S (NP (-NONE- 0) (NN-X dog)))", "(TOP (S (NP (NN-X dog))))"),
        ("( (NP (NN a)) (. .) )", "(TOP (NP (NN a)) (. .))"),
        ("(NN dog)", "(TOP (NN dog))"),
        ("(TOP (ROOT (S (NN a) (NN b))))", "(TOP (S (NN a) (NN b)))"),
        ("(ROOT (-LRB- -LRB-))", "(TOP (-LRB- -LRB-))"),
    ],
)
def test_trees(before: str, after: str) -> None:
    normalized = normalize(Tree.from_brackets(before))
    assert normalized is not None
    assert normalized.brackets() == after


def test_nothing_but_traces_is_nothing() -> None:
    assert normalize(Tree.from_brackets("(S (NP (-NONE- *)) (VP (-NONE- *?*)))")) is None


@given(ROOTED_TREES)
def test_twice_is_once_and_words_stay(tree: Tree) -> None:
    once = normalize(tree)
    if once is None:
        assert set(tree.tags()) == {"-NONE-"}
        return
    assert normalize(once) == once
    kept = [leaf for leaf in tree.leaves() if leaf.label != "-NONE-"]
    assert list(once.leaves()) == kept
