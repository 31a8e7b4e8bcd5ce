"""Trees as values: shape, walking, equality, hashing, pickling, immutability."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given

from strategies import ROOTED_TREES
from treewright.errors import TreeError
from treewright.trees import Span, Tree

DOG = Tree.from_brackets("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))")
DEPTH = 50_000


@pytest.fixture(scope="module")
def deep() -> Tree:
    tree = Tree("NN", word="bottom")
    for number in range(DEPTH):
        tree = Tree("NP", [Tree("DT", word=f"w{number}"), tree])
    return tree


def test_words_and_tags_stand_in_the_order_of_the_sentence() -> None:
    assert DOG.words() == ("The", "dog", "barks")
    assert DOG.tags() == ("DT", "NN", "VBZ")


def test_walks_go_left_to_right() -> None:
    assert [node.label for node in DOG.subtrees()] == ["S", "NP", "DT", "NN", "VP", "VBZ"]
    assert [node.label for node in DOG.postorder()] == ["DT", "NN", "NP", "VBZ", "VP", "S"]
    assert [leaf.word for leaf in DOG.leaves()] == ["The", "dog", "barks"]


def test_spans_are_half_open_and_leave_tags_out() -> None:
    assert list(DOG.spans()) == [Span(0, 3, "S"), Span(0, 2, "NP"), Span(2, 3, "VP")]


def test_depth_counts_nodes() -> None:
    assert DOG.depth() == 3
    assert Tree("NN", word="dog").depth() == 1


def test_replace_leaves_the_original_alone() -> None:
    other = DOG.replace(label="SQ")
    assert (other.label, DOG.label) == ("SQ", "S")
    assert other.children is DOG.children
    with pytest.raises(TypeError, match="lable"):
        DOG.replace(lable="SQ")


def test_map_rebuilds_from_the_bottom() -> None:
    lowered = DOG.map(lambda node, children: Tree(node.label.lower(), children, node.word))
    assert lowered.brackets() == "(s (np (dt The) (nn dog)) (vp (vbz barks)))"


@pytest.mark.parametrize("name", ["label", "children", "word", "anything"])
def test_a_tree_cannot_be_changed(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(DOG, name, None)
    with pytest.raises(AttributeError):
        delattr(DOG, name)


def test_a_node_has_children_or_a_word_and_not_both() -> None:
    leaf = Tree("NN", word="dog")
    with pytest.raises(TreeError, match="neither"):
        Tree("NP")
    with pytest.raises(TreeError, match="both"):
        Tree("NP", [leaf], word="dog")
    with pytest.raises(TreeError, match="str"):
        Tree("NP", ["dog"])  # type: ignore[list-item]
    with pytest.raises(TreeError, match="sequence"):
        Tree("NP", leaf)  # type: ignore[arg-type]
    with pytest.raises(TreeError, match="strings"):
        Tree(5, word="a")  # type: ignore[arg-type]
    with pytest.raises(TreeError, match="strings"):
        Tree("NN", word=5)  # type: ignore[arg-type]


def test_trees_differ_by_label_word_and_shape() -> None:
    others = [
        "(S (NP (DT The) (NN dog)) (VP (VBZ bark)))",
        "(S (NP (DT The) (NN dog)) (VP (VBP barks)))",
        "(S (NP (DT The)) (NP (NN dog)) (VP (VBZ barks)))",
        "(S (NP (DT The) (NN dog)) (VBZ barks))",
    ]
    assert len({DOG, *map(Tree.from_brackets, others)}) == 5
    assert DOG != "(S)"


@given(ROOTED_TREES)
def test_copies_are_equal_and_hash_alike(tree: Tree) -> None:
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert copy.deepcopy(tree) is tree
    assert copy.copy(tree) is tree


@given(ROOTED_TREES)
def test_repr_is_python_for_the_tree(tree: Tree) -> None:
    assert eval(repr(tree), {"Tree": Tree}) == tree


def test_repr_never_fails() -> None:
    assert repr(Tree("NN", word="a b")) == "<Tree 'NN' over ('a b',)>"


@given(ROOTED_TREES)
def test_spans_cover_the_words_below(tree: Tree) -> None:
    words = tree.words()
    inner = [node for node in tree.subtrees() if not node.is_leaf]
    spans = list(tree.spans())
    assert [span.label for span in spans] == [node.label for node in inner]
    assert [words[start:end] for start, end, _ in spans] == [node.words() for node in inner]


def test_nothing_recurses(deep: Tree) -> None:
    again = pickle.loads(pickle.dumps(deep))
    assert again == deep
    assert hash(again) == hash(deep)
    assert again != deep.replace(label="X")
    assert deep.depth() == DEPTH + 1
    assert len(deep.words()) == DEPTH + 1
    assert len(list(deep.spans())) == DEPTH
    assert Tree.from_brackets(deep.brackets()) == deep
    assert deep.map(lambda node, children: Tree(node.label, children, node.word)) == deep


def test_any_tree_can_be_printed() -> None:
    tree = Tree(
        "S", [Tree("-LRB-", word="("), Tree("NN", word="a\u00a0b c"), Tree("X)", word="\0")]
    )
    assert str(tree) == "(S (-LRB- -LRB-) (NN a\u00a0b_c) (X-RRB- _))"
    assert Tree.from_brackets(str(tree)).tags() == ("-LRB-", "NN", "X-RRB-")
