"""Drawings of trees: for a terminal and as SVG.

Owns how trees look; where their nodes stand is `layout`'s business, colours in a terminal are the
command line's. Edges run along a bar just below the parent and then straight down, so that they
never cross. Nothing recurses, and a drawing grows in step with its tree: what would be too wide
or too deep for an upright tree in a terminal is drawn as an indented one.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Callable
from html import escape
from math import ceil
from typing import NamedTuple

from treewright.trees.layout import (
    Kind,
    Layout,
    cell_width,
    char_cells,
    kind_of,
    lay_out,
    visible,
)
from treewright.trees.tree import Tree

#: Gives a piece its colour: the text as the terminal is to receive it.
Paint = Callable[[Kind, str], str]


def pretty(tree: Tree, width: int | None = None, paint: Paint | None = None) -> str:
    """The tree drawn for a terminal of `width` columns; by default the one at hand, or 80.

    Upright if that fits, else one node a line:

    >>> print(pretty(Tree.from_brackets("(S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .))")))
              S
       ┌──────┴─┬────┐
       NP       VP   │
     ┌─┴──┐     │    │
     DT   NN   VBZ   .
    The  dog  barks  .
    >>> tree = Tree.from_brackets("(NP (JJ free) (PRN (JJ rule-based)) (NN decoding))")
    >>> print(pretty(tree, width=22))
    NP
    ├── JJ free
    ├── PRN
    │   └── JJ rule-based
    └── NN decoding
    """
    if width is None:
        width = shutil.get_terminal_size().columns
    paint = paint or _plain
    for gap in (2, 1):
        layout = lay_out(tree, _cells_around, gap)
        cells = layout.width * layout.height
        if layout.width <= width and cells <= _MOST_CELLS:
            return _upright(layout, paint)
    return _indented(tree, width, paint)


def svg(tree: Tree) -> str:
    """The tree as a self-contained SVG picture, for files and notebooks.

    Text takes the colour of the page around it; opened by itself, the picture follows the reader's
    choice of light or dark.
    """
    return _picture(lay_out(tree, _pixels_around, _WORD_GAP))


# For a terminal

# An upright tree of more cells than this is no picture any more; the indented one stays small.
_MOST_CELLS = 4_000_000
# Levels of an indented tree before a constituent is drawn apart, as the width allows.
_SHALLOWEST, _DEEPEST = 8, 64
_ROOM_FOR_TEXT = 24  # columns kept for labels and words beside the guides
_WIDEST_TAG = 6  # words stand in line after tags up to this width
_LEFT_TO_RIGHT = "\u200e"
_REVERSED = ("R", "AL", "AN")


def _plain(kind: Kind, text: str) -> str:
    return text


def _cells_around(node: Tree) -> tuple[int, int]:
    cells = max(1, cell_width(visible(node.label)), cell_width(visible(node.word or "")))
    left = (cells - 1) // 2
    return left, cells - left


class _Line:
    """A line of text, written from left to right at given columns."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._column = 0

    def put(self, column: int, cells: int, text: str) -> None:
        self._parts += (" " * (column - self._column), text)
        self._column = column + cells

    def __str__(self) -> str:
        return "".join(self._parts)


def _upright(layout: Layout, paint: Paint) -> str:
    """Two lines a row: the labels, and below them the edges or, under the tags, the words."""
    lines = [_Line() for _ in range(2 * layout.height)]
    edges: list[tuple[int, Kind]] = [(0, "line")] * len(layout.nodes)  # the line each begins on

    def put(line: int, centre: int, kind: Kind, text: str) -> None:
        cells = cell_width(text)
        lines[line].put(centre - max(0, cells - 1) // 2, cells, paint(kind, _in_place(text)))

    # Parents come first and siblings from left to right, so that every line fills left to right.
    for at, (node, centre) in enumerate(zip(layout.nodes, layout.centres, strict=True)):
        line = 2 * (layout.rows[0] - layout.rows[at])
        begin, edge = edges[at]
        for passed in range(begin, line):
            lines[passed].put(centre, 1, paint(edge, "│"))
        put(line, centre, kind_of(node), visible(node.label))
        if node.word is not None:
            put(line + 1, centre, "word", visible(node.word))
            continue
        below = layout.children[at]
        edge = "faint" if kind_of(node) == "null" else "line"
        for child in below:
            edges[child] = (line + 2, edge)
        bar = _bar(centre, [layout.centres[child] for child in below])
        lines[line + 1].put(layout.centres[below[0]], len(bar), paint(edge, bar))
    return "\n".join(map(str, lines))


def _bar(parent: int, children: list[int]) -> str:
    """The edge from a parent to the columns of its children.

    >>> _bar(3, [0, 4, 6])
    '┌──┴┬─┐'
    """
    first, last = children[0], children[-1]
    if first == last:
        return "│"
    bar = ["─"] * (last - first + 1)
    for child in children:
        bar[child - first] = "┬"
    bar[0], bar[-1] = "┌", "┐"
    bar[parent - first] = "┼" if parent in children else "┴"
    return "".join(bar)


def _in_place(text: str) -> str:
    """Keep a terminal that reverses Hebrew and Arabic from reversing the words' order too."""
    if text.isascii() or not any(unicodedata.bidirectional(char) in _REVERSED for char in text):
        return text
    return f"{_LEFT_TO_RIGHT}{text}{_LEFT_TO_RIGHT}"


class _Guides(NamedTuple):
    """The lines of an indented tree: to a child, to the last child, and beside what they hold."""

    child: str
    last: str
    beside: str
    under_last: str


_WIDE = _Guides("├── ", "└── ", "│   ", "    ")
_NARROW = _Guides("├╴", "└╴", "│ ", "  ")


def _indented(tree: Tree, width: int, paint: Paint) -> str:
    """One node a line; a constituent too deep for the width is drawn apart, under a number."""
    tags = [cell_width(visible(leaf.label)) for leaf in tree.leaves()]
    text_from = min(max(tags), _WIDEST_TAG) + 1
    guides = _WIDE if _fits_wide(tree, width, text_from) else _NARROW
    deepest = min(_DEEPEST, max(_SHALLOWEST, (width - _ROOM_FOR_TEXT) // len(guides.child)))
    lines: list[str] = []
    apart = [tree]  # what is drawn each by itself: the tree, then what was too deep
    for number, root in enumerate(apart):
        if number:
            lines += ("", paint("line", f"[{number}]"))
        # Each node waits with its guide, with what stands before its children, and its level.
        stack = [(root, "", "", 1)]
        while stack:
            node, guide, before, level = stack.pop()
            label = visible(node.label)
            line = paint("line", guide) + paint(kind_of(node), label)
            if node.word is not None:
                space = " " * max(1, text_from - cell_width(label))
                line += space + paint("word", visible(node.word))
            elif level == deepest:
                line += paint("line", f" … [{len(apart)}]")
                apart.append(node)
            else:
                last = (node.children[-1], before + guides.last, before + guides.under_last)
                stack.append((*last, level + 1))
                stack.extend(
                    (child, before + guides.child, before + guides.beside, level + 1)
                    for child in reversed(node.children[:-1])
                )
            lines.append(line)
    return "\n".join(lines)


def _fits_wide(tree: Tree, width: int, text_from: int) -> bool:
    stack = [(tree, 1)]
    while stack:
        node, level = stack.pop()
        cells = cell_width(visible(node.label))
        if node.word is not None:
            cells = max(text_from, cells + 1) + cell_width(visible(node.word))
        if level > _DEEPEST or len(_WIDE.child) * (level - 1) + cells > width:
            return False
        stack.extend([(child, level + 1) for child in node.children])
    return True


# As SVG

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Helvetica, Arial, sans-serif"
_SIZES: dict[Kind, int] = {"label": 15, "null": 13, "tag": 12, "word": 17}
_LOOKS: dict[Kind, str] = {
    "label": 'fill="#3b7dc4" font-weight="600"',
    "null": 'fill="currentColor" opacity="0.45"',
    "tag": 'fill="currentColor" opacity="0.65"',
    "word": 'fill="currentColor"',
    "line": 'fill="none" stroke="currentColor" stroke-width="1.25" opacity="0.45"',
    "faint": 'fill="none" stroke="currentColor" stroke-dasharray="3 3" opacity="0.35"',
}
_MARGIN = 16
_WORD_GAP = 18
_ROW = 44  # from one row of labels to the next
_WORDS_BELOW_TAGS = 23
_LINE_BELOW_LABEL = 6
_LINE_ABOVE_LABEL = 17
_BEND = 14  # from a label down to the bar over its children
_ROUNDING = 7
# Only where the picture is a document of its own; within a page the colours are the page's.
_STYLE = (
    "@media (prefers-color-scheme: dark) "
    "{ svg.treewright:root { color: #e6e6e6; background: #16181d } }"
)


def _picture(layout: Layout) -> str:
    """All of one kind together, parents first: edges, then labels, tags and words."""
    width = layout.width + 2 * _MARGIN
    tags_at = _MARGIN + _SIZES["label"] + _ROW * (layout.height - 1)
    height = tags_at + _WORDS_BELOW_TAGS + _MARGIN
    places = [
        (_MARGIN + centre, tags_at - _ROW * row)
        for centre, row in zip(layout.centres, layout.rows, strict=True)
    ]
    edges: dict[Kind, list[str]] = {"line": [], "faint": []}
    texts: dict[Kind, list[str]] = {"label": [], "null": [], "tag": [], "word": []}
    for node, (x, y), below in zip(layout.nodes, places, layout.children, strict=True):
        kind = kind_of(node)
        texts[kind].append(_text(x, y, node.label))
        if node.word is not None:
            texts["word"].append(_text(x, y + _WORDS_BELOW_TAGS, node.word))
        else:
            strokes = _edges(x, y, [places[child] for child in below])
            edges["faint" if kind == "null" else "line"].append(strokes)
    sentence = visible(" ".join(layout.nodes[0].words()))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="treewright" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="{_FONT}" text-anchor="middle">',
        f"<title>{escape(sentence)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    lines += [f'<path {_LOOKS[kind]} d="{"".join(d)}"/>' for kind, d in edges.items() if d]
    for kind, items in texts.items():
        if items:
            lines += [
                f'<g class="treewright-{kind}" {_LOOKS[kind]} font-size="{_SIZES[kind]}">',
                *items,
                "</g>",
            ]
    return "\n".join([*lines, "</svg>", ""])


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(visible(text))}</text>'


def _edges(x: int, y: int, children: list[tuple[int, int]]) -> str:
    """From a label down to a bar with rounded ends, and from the bar straight down to each child.

         S
         │
    ╭────┴─┬────╮
    """
    (first, first_y), (last, last_y) = children[0], children[-1]
    top = y + _LINE_BELOW_LABEL
    if len(children) == 1:
        return f"M{x} {top}V{first_y - _LINE_ABOVE_LABEL}"
    bar = top + _BEND
    bend = bar + _ROUNDING
    inner = "".join(f"M{at} {bar}V{at_y - _LINE_ABOVE_LABEL}" for at, at_y in children[1:-1])
    return (
        f"M{x} {top}V{bar}"
        f"M{first} {first_y - _LINE_ABOVE_LABEL}V{bend}Q{first} {bar} {first + _ROUNDING} {bar}"
        f"H{last - _ROUNDING}Q{last} {bar} {last} {bend}V{last_y - _LINE_ABOVE_LABEL}{inner}"
    )


def _pixels_around(node: Tree) -> tuple[int, int]:
    pixels = text_width(visible(node.label), _SIZES[kind_of(node)])
    if node.word is not None:
        pixels = max(pixels, text_width(visible(node.word), _SIZES["word"]))
    half = ceil(pixels / 2)
    return half, half


def text_width(text: str, size: float) -> float:
    """An estimate, on the generous side, of the width of a text in a sans-serif font."""
    return size * sum([_ems(char) for char in text])


def _ems(char: str) -> float:
    if char in "iljtfrI.,:;'|!()[]{}/\\ -`\"":
        return 0.4
    if char in "mwMW@%—…":
        return 1.0
    if char.isascii():
        return 0.75 if char.isupper() else 0.62
    cells = char_cells(char)
    return 1.05 if cells == 2 else 0.75 * cells
