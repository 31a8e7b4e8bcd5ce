"""Trees: their shape, their notation, binarisation and drawing. Pure Python, no numpy."""

from treewright.trees.binarize import binarize, unbinarize
from treewright.trees.brackets import parse_tree, parse_trees, read_located_trees, read_trees
from treewright.trees.normalize import normalize
from treewright.trees.spans import tree_from_spans
from treewright.trees.tree import ROOT_LABELS, Span, Tree

__all__ = [
    "ROOT_LABELS",
    "Span",
    "Tree",
    "binarize",
    "normalize",
    "parse_tree",
    "parse_trees",
    "read_located_trees",
    "read_trees",
    "tree_from_spans",
    "unbinarize",
]
