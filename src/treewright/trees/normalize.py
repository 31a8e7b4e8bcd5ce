"""Normalisation: what training and grammars see of a treebank's trees.

Owns the removal of traces, function tags and indices. The scorer never comes here: it reads
trees as they stand. Words and part-of-speech tags are never changed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from treewright.trees.binarize import unwrap
from treewright.trees.tree import ROOT_LABELS, Tree, make_node

TRACE = "-NONE-"

# `NP-SBJ-1`, `NP=2`: everything from the first hyphen or equals sign on, unless it comes first,
# as in `-LRB-`.
_FUNCTION = re.compile(r"(?<=.)[-=].*", re.DOTALL)


@lru_cache(maxsize=1 << 16)
def bare_label(label: str) -> str:
    """A constituent's label without function tags and indices.

    >>> bare_label("NP-SBJ-1"), bare_label("NP=2"), bare_label("-LRB-")
    ('NP', 'NP', '-LRB-')
    """
    return label if label.startswith("-") else _FUNCTION.sub("", label, count=1)


def normalize(tree: Tree, root: str = "TOP") -> Tree | None:
    """The tree without traces and function tags, under one name for the root.

    `None` if nothing but traces was in it.

    >>> normalize(Tree.from_brackets("( (S (NP-SBJ (-NONE- *)) (VP (VB Go))))")).brackets()
    '(TOP (S (VP (VB Go))))'
    """
    bare = tree.map(_bare)
    if bare is None:
        return None
    wrapper: str | None = ""
    while wrapper is not None:  # one root may stand in another
        wrapper, bare = unwrap(bare)
    if bare.word is None and bare.label in ROOT_LABELS:
        return make_node(root, bare.children)  # a root over several constituents
    return make_node(root, (bare,))


def _bare(node: Tree, made: tuple[Tree | None, ...]) -> Tree | None:
    """A node without function tags over what is left of its children, if anything is."""
    if node.word is not None:
        return None if node.label == TRACE else node
    children = tuple([child for child in made if child is not None])
    return make_node(bare_label(node.label), children) if children else None
