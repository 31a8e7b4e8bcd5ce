"""Where the nodes of a drawn tree stand, and how their texts are shown.

Owns what the drawings for a terminal and as SVG have in common; the unit is theirs: columns or
pixels. A tree stands upright on its words: the tags in one row, every constituent as low as its
children allow and centred over them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import Literal, NamedTuple

from treewright.trees.symbols import is_null
from treewright.trees.tree import Tree

#: What a piece of a drawing is: the label of a constituent, or of no constituent (`@`, `$`), a tag,
#: a word, a line between them, or one below `@` or `$`.
Kind = Literal["label", "null", "tag", "word", "line", "faint"]


# Text as it is shown


def visible(text: str) -> str:
    r"""The text with a sign for every character that a terminal or XML would not show.

    >>> visible("a\x1b[1m"), visible("")
    ('a␛[1m', '·')
    """
    if not text:
        return "·"  # a nameless root
    if text.isascii() and text.isprintable():
        return text
    if unicodedata.category(text[0]) in ("Mn", "Me"):
        text = "◌" + text  # lest the mark joins what stands before
    return "".join([_sign(char) for char in text])


def _sign(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    unprintable = unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
    # Characters that reorder what follows them would carry on into the rest of the picture.
    reorders = char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return "\ufffd" if unprintable or reorders or code in (0xFFFE, 0xFFFF) else char


def cell_width(text: str) -> int:
    """The number of columns that a text takes in a terminal.

    >>> cell_width("dog"), cell_width("小狗"), cell_width("e\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(char_cells, text))


def char_cells(char: str) -> int:
    """The number of columns that a character takes: 0, 1 or 2."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or 0x1160 <= ord(char) <= 0x11FF:
        return 0  # joins the character before it; so do the vowels and finals of Hangul jamo
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def kind_of(node: Tree) -> Kind:
    """What the label of a node is."""
    if node.word is not None:
        return "tag"
    return "null" if is_null(node.label) else "label"


# Layout


class Layout(NamedTuple):
    """Where the nodes of a tree stand; all lists are parents first, left to right."""

    nodes: list[Tree]
    children: list[list[int]]
    rows: list[int]  # counted from 0, the tags, upwards
    centres: list[int]
    width: int

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.rows[0] + 1


def lay_out(tree: Tree, around: Callable[[Tree], tuple[int, int]], gap: int) -> Layout:
    """Give every node a row and a centre.

    `around` says how much room a node's own text needs left and right of its centre. A node and
    all below it get a block that no other text enters; blocks of siblings stand `gap` apart.
    """
    nodes, children = _number(tree)
    rows = [0] * len(nodes)
    blocks = [(0, 0)] * len(nodes)  # the room of each block left and right of its node's centre
    shifts = [0] * len(nodes)  # from the parent's centre to the node's
    for at in reversed(range(len(nodes))):
        left, right = around(nodes[at])
        below = children[at]
        if below:
            rows[at] = 1 + max([rows[child] for child in below])
            reach = 0  # from the first child's centre to this one's
            for before, child in pairwise(below):
                reach += blocks[before][1] + gap + blocks[child][0]
                shifts[child] = reach
            middle = reach // 2
            for child in below:
                shifts[child] -= middle
            left = max(left, blocks[below[0]][0] + middle)
            right = max(right, blocks[below[-1]][1] + reach - middle)
        blocks[at] = (left, right)
    centres = [blocks[0][0]] * len(nodes)
    for at, below in enumerate(children):
        for child in below:
            centres[child] = centres[at] + shifts[child]
    return Layout(nodes, children, rows, centres, sum(blocks[0]))


def _number(tree: Tree) -> tuple[list[Tree], list[list[int]]]:
    """All nodes, parents first, and the numbers of the children of each."""
    nodes: list[Tree] = []
    children: list[list[int]] = []
    stack = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        if parent >= 0:
            children[parent].append(len(nodes))
        stack.extend([(child, len(nodes)) for child in reversed(node.children)])
        nodes.append(node)
        children.append([])
    return nodes, children
