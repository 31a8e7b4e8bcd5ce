"""Trees of other libraries: `nltk.Tree`, which is no dependency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.errors import MissingExtra, StrayWord, TreeError
from treewright.trees.tree import Tree, make_node

if TYPE_CHECKING:
    from nltk import Tree as NltkTree


def to_nltk(tree: Tree) -> NltkTree:
    """The same tree as an `nltk.Tree` whose leaves are the words."""
    try:
        from nltk import Tree as NltkTree
    except ImportError:
        raise MissingExtra("nltk.Tree needs nltk: pip install nltk") from None

    def build(node: Tree, made: tuple[NltkTree, ...]) -> NltkTree:
        return NltkTree(node.label, made or [node.word])

    return tree.map(build)


def from_nltk(tree: NltkTree) -> Tree:
    """The same tree; every word needs a tag of its own, as in `(DT the)`."""
    done: list[Tree] = []
    for node in reversed(_parents_first(tree)):
        if isinstance(node[0], str):
            if len(node) != 1:
                raise StrayWord(f"{len(node)} children stand under {node.label()!r} beside a word")
            done.append(Tree(str(node.label()), word=node[0]))
            continue
        count = len(node)
        children = tuple(done[: -count - 1 : -1])
        del done[-count:]
        done.append(make_node(str(node.label()), children))
    return done[0]


def _parents_first(tree: NltkTree) -> list[NltkTree]:
    found: list[NltkTree] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if not hasattr(node, "label"):
            raise StrayWord(f"the word {node!r} stands without a tag of its own")
        if len(node) == 0:
            raise TreeError(f"{node.label()!r} has neither children nor a word")
        found.append(node)
        if not isinstance(node[0], str):
            stack.extend(reversed(node))
    return found
