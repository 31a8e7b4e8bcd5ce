"""Binarisation: one tree, one derivation, and back.

Owns the two schemes and their exact undo. A binarised tree is an ordinary `Tree` whose labels are
symbols (see `symbols`). Unary chains fold into one symbol, nodes of more than two children branch
to the left, and every word gets a symbol of its own:

    (TOP (S (NP (DT a) (JJ b) (NN c))      (TOP (S (NP ($ (@ (DT a)) (@ (JJ b)))
            (VP (VBZ d))))             ->              (@ (NN c)))
                                                   (VP (VBZ d))))

In scheme `$` a node made here is `$`; in scheme `$+left` it also names the symbol of its leftmost
original child (`$@` above). So marks stand over two words or more, are never a right child and
never the root; `@` stands over one word.

A root like TOP over a single child is a wrapper, not a constituent: it stays outside, as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.errors import TreeError
from treewright.trees.symbols import (
    MARK,
    WORD_NULL,
    Scheme,
    check_scheme,
    is_mark,
    join_chain,
    mark_of,
    split_chain,
)
from treewright.trees.tree import ROOT_LABELS, Span, Tree, make_leaf, make_node


def binarize(tree: Tree, scheme: Scheme = "$") -> Tree:
    """The binarised tree, under the wrapper that `tree` has, if any.

    >>> binarize(Tree.from_brackets("(TOP (S (NP (PRP I)) (VP (VBP run))))")).brackets()
    '(TOP (S (NP (PRP I)) (VP (VBP run))))'
    >>> binarize(Tree.from_brackets("(NP (DT a) (JJ b) (NN c))"), "$+left").brackets()
    '(NP ($@ (@ (DT a)) (@ (JJ b))) (@ (NN c)))'
    """
    check_scheme(scheme)
    wrapper, inner = unwrap(tree)
    done: list[Tree] = []
    # A tree waits to be taken apart; a symbol and a number wait for that many children.
    stack: list[Tree | tuple[str, int]] = [inner]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            symbol, count = item
            children = done[-count:]
            del done[-count:]
            done.append(_branch_left(symbol, children, scheme))
            continue
        labels: list[str] = []
        while item.word is None and len(item.children) == 1:
            labels.append(item.label)
            item = item.children[0]
        if item.word is not None:
            done.append(make_node(join_chain(labels) if labels else WORD_NULL, (item,)))
        else:
            labels.append(item.label)
            stack.append((join_chain(labels), len(item.children)))
            stack.extend(reversed(item.children))
    return done[0] if wrapper is None else make_node(wrapper, (done[0],))


def _branch_left(symbol: str, children: list[Tree], scheme: Scheme) -> Tree:
    mark = mark_of(scheme, children[0].label)
    left = children[0]
    for child in children[1:-1]:
        left = make_node(mark, (left, child))
    return make_node(symbol, (left, children[-1]))


def unbinarize(tree: Tree) -> Tree:
    """The tree that `binarize` was given; the scheme does not matter.

    >>> binary = Tree.from_brackets("(S::VP ($ (@ (VB go)) (ADVP (RB on))) (@ (. !)))")
    >>> unbinarize(binary).brackets()
    '(S (VP (VB go) (ADVP (RB on)) (. !)))'
    """
    wrapper, inner = (
        unwrap(tree) if tree.children and not tree.children[0].is_leaf else (None, tree)
    )
    forest = inner.map(_unfolded)
    if len(forest) != 1:
        raise TreeError(f"{inner.label!r}, a mark of binarisation, stands at the root")
    return forest[0] if wrapper is None else make_node(wrapper, (forest[0],))


def _unfolded(node: Tree, forests: tuple[list[Tree], ...]) -> list[Tree]:
    """The trees that stand where a node stood: several under a mark, one under a chain."""
    if node.word is not None:
        return [node]
    forest = forests[0]  # grows in place, or a long row of marks would take the square of its time
    for more in forests[1:]:
        forest.extend(more)
    for label in reversed(split_chain(node.label)):
        forest = [make_node(label, tuple(forest))]
    return forest


def tree_of_derivation(
    symbols: Sequence[str],
    over_word: Sequence[bool],
    words: Sequence[str],
    tags: Sequence[str],
) -> Tree:
    """The tree, binarisation undone, whose binarised nodes have these symbols, parents first.

    `over_word` says of each symbol whether it stands over one word: in a binary tree that says all
    of its shape. It is `unbinarize` after `tree_from_spans`, in one pass, for decoders' answers.

    >>> symbols, over_word = ["S", "$", "NP", "@", "@"], [False, False, True, True, True]
    >>> words, tags = ["I", "run", "."], ["PRP", "VBP", "."]
    >>> tree_of_derivation(symbols, over_word, words, tags).brackets()
    '(S (NP (PRP I)) (VBP run) (. .))'
    """
    leaves = list(map(make_leaf, tags, words))
    if not len(symbols) == len(over_word) == 2 * len(leaves) - 1 or len(words) != len(tags):
        counts = f"{len(symbols)} symbols, {len(words)} words and {len(tags)} tags"
        raise TreeError(f"{counts} make no derivation")
    # Backwards, a right child is finished before its left sibling, which is then on top.
    done: list[list[Tree]] = []
    for symbol, is_leaf in zip(reversed(symbols), reversed(over_word), strict=True):
        if is_leaf and leaves:
            forest = [leaves.pop()]
        elif not is_leaf and len(done) > 1:
            forest = done.pop()
            forest += done.pop()
        else:
            raise TreeError("the symbols make no derivation: parents come first")
        for label in split_chain(symbol)[::-1]:
            forest = [make_node(label, tuple(forest))]
        done.append(forest)
    if len(done) != 1 or len(done[0]) != 1:
        raise TreeError(f"{symbols[0]!r} at the root: the symbols make no derivation")
    return done[0][0]


def unwrap(tree: Tree) -> tuple[str | None, Tree]:
    """The label of the wrapper around a tree, if there is one, and what it holds."""
    if len(tree.children) == 1 and tree.label in ROOT_LABELS:
        return tree.label, tree.children[0]
    return None, tree


def derivation(tree: Tree, scheme: Scheme = "$") -> list[Span]:
    """The spans of the binarised tree, parents first, wrapper left out: `2n - 1` of them.

    >>> [tuple(span) for span in derivation(Tree.from_brackets("(TOP (NP (DT a) (NN b)))"))]
    [(0, 2, 'NP'), (0, 1, '@'), (1, 2, '@')]
    """
    _, inner = unwrap(binarize(tree, scheme))
    return list(inner.spans())


def scheme_of(symbols: set[str]) -> Scheme | None:
    """The scheme that a set of symbols belongs to, `None` if it holds no mark to tell by."""
    marks = {symbol for symbol in symbols if is_mark(symbol)}
    if not marks:
        return None
    if marks == {MARK}:
        return "$"
    if MARK in marks:
        raise TreeError(f"{MARK!r} and {min(marks - {MARK})!r} belong to different schemes")
    return "$+left"
