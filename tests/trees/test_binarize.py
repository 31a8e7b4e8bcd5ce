"""Binarisation: its form, and its exact undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.errors import TreeError
from treewright.trees import Tree, binarize, normalize, read_trees, tree_from_spans, unbinarize
from treewright.trees.binarize import derivation, scheme_of, tree_of_derivation, unwrap
from treewright.trees.symbols import SCHEMES, WORD_NULL, Scheme, is_mark

SCHEME = st.sampled_from(SCHEMES)


@given(ROOTED_TREES, SCHEME)
def test_undo_is_the_identity(tree: Tree, scheme: Scheme) -> None:
    assert unbinarize(binarize(tree, scheme)) == tree


@given(ROOTED_TREES, SCHEME)
def test_undo_survives_a_file(tree: Tree, scheme: Scheme) -> None:
    written = binarize(tree, scheme).brackets()
    assert unbinarize(Tree.from_brackets(written)) == tree


@given(ROOTED_TREES, SCHEME)
def test_a_derivation_has_the_structure_that_decoders_range_over(
    tree: Tree, scheme: Scheme
) -> None:
    _, inner = unwrap(binarize(tree, scheme))
    assert not is_mark(inner.label)
    for node in inner.subtrees():
        if node.is_leaf:
            continue
        if node.children[0].is_leaf:
            assert len(node.children) == 1
            assert not is_mark(node.label)
        else:
            left, right = node.children
            assert node.label != WORD_NULL
            assert not is_mark(right.label)
            if scheme == "$+left" and is_mark(node.label):
                mark = left.label if is_mark(left.label) else "$" + left.label
                assert node.label == mark


@given(ROOTED_TREES, SCHEME)
def test_spans_give_the_tree_again(tree: Tree, scheme: Scheme) -> None:
    spans = derivation(tree, scheme)
    assert len(spans) == 2 * len(tree.words()) - 1
    _, inner = unwrap(tree)
    assert unbinarize(tree_from_spans(spans, tree.words(), tree.tags())) in (inner, tree)


@given(ROOTED_TREES, SCHEME)
def test_symbols_in_order_give_the_tree_again(tree: Tree, scheme: Scheme) -> None:
    spans = derivation(tree, scheme)
    symbols = [span.label for span in spans]
    over_word = [span.end - span.start == 1 for span in spans]
    _, inner = unwrap(tree)
    assert tree_of_derivation(symbols, over_word, tree.words(), tree.tags()) == inner


@pytest.mark.parametrize(
    ("symbols", "over_word"),
    [
        (["S", "@"], [False, True]),
        (["@", "@", "S"], [True, True, False]),
        (["S", "S", "@"], [False, False, True]),
        (["@", "@", "@"], [True, True, True]),
        (["$", "@", "@"], [False, True, True]),
    ],
)
def test_symbols_that_make_no_derivation(symbols: list[str], over_word: list[bool]) -> None:
    with pytest.raises(TreeError, match="derivation"):
        tree_of_derivation(symbols, over_word, ["a", "b"], ["A", "B"])


def test_children_branch_to_the_left() -> None:
    tree = Tree.from_brackets("(TOP (S (NP (DT a) (JJ b) (NN c)) (, d) (VP (VBZ e))))")
    assert binarize(tree).brackets() == (
        "(TOP (S ($ (NP ($ (@ (DT a)) (@ (JJ b))) (@ (NN c))) (@ (, d))) (VP (VBZ e))))"
    )
    assert binarize(tree, "$+left").brackets() == (
        "(TOP (S ($NP (NP ($@ (@ (DT a)) (@ (JJ b))) (@ (NN c))) (@ (, d))) (VP (VBZ e))))"
    )


def test_a_mark_takes_the_leftmost_original_child() -> None:
    wide = Tree.from_brackets("(X (A::B a) (C c) (D d) (E e))")
    assert [span.label for span in derivation(wide, "$+left")][:3] == ["X", "$@", "$@"]


def test_chains_fold_into_one_symbol() -> None:
    tree = Tree.from_brackets("(ROOT (S (VP (VB Go))))")
    assert binarize(tree).brackets() == "(ROOT (S::VP (VB Go)))"


def test_a_root_over_several_constituents_is_a_constituent() -> None:
    tree = Tree.from_brackets("(TOP (S (VP (VB Go))) (. .))")
    assert [span.label for span in derivation(tree)] == ["TOP", "S::VP", "@"]


def test_a_mark_at_the_root_is_refused() -> None:
    with pytest.raises(TreeError, match="root"):
        unbinarize(Tree.from_brackets("($ (@ (A a)) (@ (B b)))"))


def test_schemes_do_not_mix() -> None:
    assert scheme_of({"S", "@"}) is None
    assert scheme_of({"S", "$"}) == "$"
    assert scheme_of({"$NP", "$@"}) == "$+left"
    with pytest.raises(TreeError, match="schemes"):
        scheme_of({"$", "$NP"})


def test_no_other_scheme() -> None:
    with pytest.raises(TreeError, match="no scheme"):
        binarize(Tree("NN", word="a"), "left")  # type: ignore[arg-type]


def test_deep_and_wide_trees_do_not_recurse() -> None:
    count = 50_000
    wide = Tree("S", [Tree("A", word=str(number)) for number in range(count)])
    chain = Tree("A", word="a")
    deep = Tree("A", word="a")
    for _ in range(count):
        chain = Tree("X", [chain])
        deep = Tree("X", [Tree("B", word="b"), deep])
    for tree in (wide, chain, deep):
        for scheme in SCHEMES:
            assert unbinarize(binarize(tree, scheme)) == tree
    assert normalize(deep) == Tree("TOP", [deep])
    spans = derivation(deep)
    assert unbinarize(tree_from_spans(spans, deep.words(), deep.tags())) == deep


@pytest.mark.parametrize(
    "spans",
    [
        [],
        [(0, 2, "S")],
        [(0, 3, "S"), (0, 2, "A"), (1, 3, "B")],
        [(0, 3, "S"), (1, 2, "A"), (0, 1, "B")],
        [(0, 3, "S"), (2, 4, "A")],
        [(0, 3, "S"), (1, 1, "A")],
    ],
)
def test_spans_that_do_not_nest_are_refused(spans: list[tuple[int, int, str]]) -> None:
    from treewright.trees import Span

    with pytest.raises(TreeError):
        tree_from_spans([Span(*span) for span in spans], "abc", "ABC")


def test_undo_is_the_identity_on_every_treebank(shared: Path) -> None:
    count = 0
    for path in sorted((shared / "data").glob("*.mrg")):
        for tree in read_trees(path):
            count += 1
            for scheme in SCHEMES:
                assert unbinarize(binarize(tree, scheme)) == tree, tree
    assert count > 60_000
