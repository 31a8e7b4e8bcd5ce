"""Trees from labelled spans: the way back from what a decoder returns.

Owns the building of a tree from spans over words. What the spans' labels mean is not its business:
symbols give a binarised tree, which `unbinarize` turns into the tree that is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treewright.errors import Place, TreeError
from treewright.trees.tree import Span, Tree, make_leaf, make_node


def tree_from_spans(spans: Iterable[Span], words: Sequence[str], tags: Sequence[str]) -> Tree:
    """The tree of nested spans, given parents first and from left to right.

    >>> spans = [Span(0, 2, "S"), Span(0, 1, "NP"), Span(1, 2, "VP")]
    >>> tree_from_spans(spans, ["I", "run"], ["PRP", "VBP"]).brackets()
    '(S (NP (PRP I)) (VP (VBP run)))'
    """
    if len(words) != len(tags):
        raise TreeError(f"{len(words)} words, but {len(tags)} tags")
    ordered = list(spans)
    _check_nesting(ordered, len(words))
    leaves = [make_leaf(tag, word) for tag, word in zip(tags, words, strict=True)]
    # Backwards, children come before their parents: `pending` holds finished nodes and where they
    # begin, the leftmost on top.
    pending: list[tuple[int, Tree]] = []
    position = len(words)
    for start, end, label in reversed(ordered):
        while position > start:
            position -= 1
            pending.append((position, leaves[position]))
        children: list[Tree] = []
        while pending and pending[-1][0] < end:
            children.append(pending.pop()[1])
        pending.append((start, make_node(label, tuple(children))))
    return pending[0][1]


def _check_nesting(spans: list[Span], length: int) -> None:
    """Refuse what is no tree: the first span covers all, every other lies within an earlier one."""
    if not spans or spans[0][:2] != (0, length):
        raise TreeError(f"the first span must cover all {length} words", Place(span=(0, length)))
    enclosing = [length]
    previous = 0
    for start, end, _ in spans:
        while enclosing and enclosing[-1] <= start:
            enclosing.pop()
        if not (previous <= start < end) or not enclosing or end > enclosing[-1]:
            message = "spans must nest, parents first and from left to right"
            raise TreeError(message, Place(span=(start, end)))
        enclosing.append(end)
        previous = start
