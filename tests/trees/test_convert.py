"""`nltk.Tree` and back, and what has no counterpart on this side."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given

from strategies import ROOTED_TREES
from treewright.errors import MissingExtra, StrayWord, TreeError
from treewright.trees import Tree

nltk = pytest.importorskip("nltk")

TEXT = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))"
DEEP = 50_000


@given(ROOTED_TREES)
def test_there_and_back(tree: Tree) -> None:
    assert Tree.from_nltk(tree.to_nltk()) == tree


def test_it_is_the_tree_that_nltk_reads() -> None:
    ours, theirs = Tree.from_brackets(TEXT), nltk.Tree.fromstring(TEXT)
    assert ours.to_nltk() == theirs
    assert type(ours.to_nltk()) is nltk.Tree
    assert Tree.from_nltk(theirs) == ours
    assert ours.to_nltk().leaves() == list(ours.words())
    assert ours.to_nltk().pos() == list(zip(ours.words(), ours.tags(), strict=True))


def test_subclasses_of_nltk_trees_are_read_too() -> None:
    assert Tree.from_nltk(nltk.ParentedTree.fromstring(TEXT)) == Tree.from_brackets(TEXT)


@pytest.mark.parametrize("width", [1, 2])
def test_deep_trees_do_not_exhaust_the_stack(width: int) -> None:
    tree = Tree("NN", word="dog")
    for _ in range(DEEP):
        tree = Tree("NP", [*[Tree("JJ", word="big")] * (width - 1), tree])
    assert Tree.from_nltk(tree.to_nltk()) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(NP the (NN dog))", "2 children stand under 'NP' beside a word"),
        ("(NP (DT the) dog)", "the word 'dog' stands without a tag of its own"),
        ("(NN guide dog)", "2 children stand under 'NN' beside a word"),
        ("(S (NP (NN dog) (VP barks away)))", "2 children stand under 'VP' beside a word"),
    ],
)
def test_words_without_tags_are_refused(text: str, message: str) -> None:
    with pytest.raises(StrayWord, match=message):
        Tree.from_nltk(nltk.Tree.fromstring(text))


def test_a_word_alone_is_no_tree() -> None:
    with pytest.raises(StrayWord, match="'dog' stands without a tag"):
        Tree.from_nltk("dog")  # type: ignore[arg-type]


def test_tagged_tuples_are_no_leaves() -> None:
    with pytest.raises(StrayWord, match="without a tag of its own"):
        Tree.from_nltk(nltk.Tree("NP", [("the", "DT"), ("dog", "NN")]))


def test_a_node_without_children_is_refused() -> None:
    with pytest.raises(TreeError, match="'NP' has neither children nor a word"):
        Tree.from_nltk(nltk.Tree("S", [nltk.Tree("NP", [])]))


def test_without_nltk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(MissingExtra, match="pip install nltk"):
        Tree.from_brackets(TEXT).to_nltk()
