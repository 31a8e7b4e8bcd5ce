"""Drawings as text, compared to what they should be; SVG read back and measured."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from itertools import pairwise
from textwrap import dedent
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import ROOTED_TREES
from treewright.trees import Tree, binarize
from treewright.trees.drawing import pretty, svg, text_width
from treewright.trees.layout import Kind, cell_width, kind_of, visible

SVG = "{http://www.w3.org/2000/svg}"
DEEP = 50_000
# Terminals and pages may get any character at all.
ANY_TEXT = st.text(alphabet=st.characters(), min_size=1, max_size=4)
ODD_TREES = st.recursive(
    st.builds(lambda tag, word: Tree(tag, word=word), ANY_TEXT, ANY_TEXT),
    lambda children: st.builds(Tree, ANY_TEXT, st.lists(children, min_size=1, max_size=3)),
    max_leaves=6,
)


def drawn(text: str, width: int = 80) -> str:
    return pretty(Tree.from_brackets(text), width)


def block(text: str) -> str:
    return dedent(text).strip("\n")


def unary(depth: int) -> Tree:
    tree = Tree("NN", word="dog")
    for _ in range(depth):
        tree = Tree("NP", [tree])
    return tree


def right_branching(depth: int) -> Tree:
    tree = Tree("NN", word="dog")
    for _ in range(depth):
        tree = Tree("NP", [Tree("JJ", word="big"), tree])
    return tree


class TestUpright:
    def test_constituents_stand_over_their_words(self) -> None:
        text = "(TOP (S (NP (DT The) (JJ big) (NN dog)) (VP (VBZ barks) (ADVP (RB loud))) (. .)))"
        assert drawn(text) == block(
            """
                            TOP
                             │
                             S
                  ┌──────────┴──┬───────┐
                  │             VP      │
                  │          ┌──┴──┐    │
                  NP         │    ADVP  │
             ┌────┼────┐     │     │    │
             DT   JJ   NN   VBZ    RB   .
            The  big  dog  barks  loud  .
            """
        )

    def test_one_word(self) -> None:
        assert drawn("(NN dog)") == " NN\ndog"

    def test_closer_together_before_it_gives_up(self) -> None:
        text = "(NP (DT the) (NN dog))"
        assert drawn(text, 8) == "   NP\n ┌─┴──┐\n DT   NN\nthe  dog"
        assert drawn(text, 7) == "   NP\n ┌─┴─┐\n DT  NN\nthe dog"
        assert drawn(text, 6) == "NP\n├╴DT the\n└╴NN dog"

    def test_a_long_label_makes_room_for_itself(self) -> None:
        assert drawn("(S (NP-SBJ-12 (PRP I)) (VP (VBP go)))") == block(
            """
                    S
                ┌───┴───┐
            NP-SBJ-12   VP
                │       │
               PRP     VBP
                I       go
            """
        )

    def test_wide_characters_take_two_columns(self) -> None:
        assert drawn("(S (NP (Nhaa 他)) (VC2 挺起) (NP (Nab 身子)))") == block(
            """
                   S
             ┌─────┼─────┐
             NP    │     NP
             │     │     │
            Nhaa  VC2   Nab
             他   挺起  身子
            """
        )

    def test_combining_marks_take_none(self) -> None:
        assert drawn("(S (NN e\u0301te\u0301) (X x) (Y \u0301a))") == (
            "    S\n ┌──┴┬──┐\n NN  X  Y\n" + "e\u0301te\u0301  x  ◌\u0301a"
        )

    def test_a_terminal_cannot_reverse_the_words(self) -> None:
        words = drawn("(S (PRP אבא) (VB אכל))").splitlines()[-1]
        assert words == "\u200eאבא\u200e  \u200eאכל\u200e"

    def test_nothing_escapes_to_the_terminal(self) -> None:
        tree = Tree("S", [Tree("N\x1b]0;x\x07", word="a\x9b31m\u2028\u202eb\udc80\n")])
        assert pretty(tree).splitlines()[-2:] == [" N␛]0;x␇", "a\ufffd31m\ufffd\ufffdb\ufffd␊"]

    def test_a_nameless_root_is_a_dot(self) -> None:
        assert drawn("( (NN dog))") == " ·\n │\n NN\ndog"

    def test_paint_gets_every_piece_with_its_kind(self) -> None:
        tree = binarize(Tree.from_brackets("(NP (DT a) (JJ b) (NN c))"))
        pieces: list[tuple[Kind, str]] = []
        pretty(tree, 80, lambda kind, text: pieces.append((kind, text)) or text)
        assert [text for kind, text in pieces if kind == "null"] == ["$", "@", "@", "@"]
        assert [text for kind, text in pieces if kind == "label"] == ["NP"]
        assert [text for kind, text in pieces if kind == "tag"] == ["DT", "JJ", "NN"]
        assert [text for kind, text in pieces if kind == "word"] == ["a", "b", "c"]
        assert ("faint", "┌─┴─┐") in pieces
        assert next(text for kind, text in pieces if kind == "line").startswith("┌")


class TestIndented:
    def test_one_node_a_line(self) -> None:
        text = "(S (NP (JJ context-free) (NNS grammars)) (VP (VBP prosper) (ADVP (RB again))))"
        assert drawn(text, 26) == block(
            """
            S
            ├── NP
            │   ├── JJ  context-free
            │   └── NNS grammars
            └── VP
                ├── VBP prosper
                └── ADVP
                    └── RB  again
            """
        )

    def test_narrow_guides_where_wide_ones_do_not_fit(self) -> None:
        text = "(S (NP (JJ context-free) (NNS grammars)) (. !))"
        assert drawn(text, 20) == block(
            """
            S
            ├╴NP
            │ ├╴JJ  context-free
            │ └╴NNS grammars
            └╴.   !
            """
        )

    def test_too_deep_a_constituent_is_drawn_apart(self) -> None:
        deep = "(A (B (C (D (E (F (G (H (I (J one) (K two)))))))))) (M three)"
        assert drawn(f"(S {deep} (N incomprehensibilities))", 20) == block(
            """
            S
            ├╴A
            │ └╴B
            │   └╴C
            │     └╴D
            │       └╴E
            │         └╴F
            │           └╴G … [1]
            ├╴M three
            └╴N incomprehensibilities

            [1]
            G
            └╴H
              └╴I
                ├╴J one
                └╴K two
            """
        )


@pytest.mark.parametrize("make", [unary, right_branching])
@pytest.mark.parametrize("width", [80, 10**9])
def test_deep_trees_print_in_seconds_and_stay_small(make, width: int) -> None:
    tree = make(DEEP)
    begun = time.perf_counter()
    text = pretty(tree, width)
    picture = svg(tree)
    assert time.perf_counter() - begun < 20
    words, nodes = len(tree.words()), DEEP + len(tree.words())
    assert len(re.findall("NP", text)) - text.count("[") == DEEP - text.count("…")
    assert text.count("big") == words - 1
    assert len(text) < 200 * nodes
    assert len(picture) < 400 * nodes


@given(ROOTED_TREES, st.integers(1, 60))
def test_a_drawing_fits_its_width_or_is_indented(tree: Tree, width: int) -> None:
    lines = pretty(tree, width).split("\n")
    if not any(guide in "".join(lines) for guide in ("├", "└")):
        assert all(cell_width(line) <= width for line in lines) or tree.is_leaf


@given(ROOTED_TREES)
def test_words_and_tags_stand_in_their_rows(tree: Tree) -> None:
    *_, tags, words = pretty(tree, 10_000).replace("\u200e", "").split("\n")
    for text, row in ((tree.tags(), tags), (tree.words(), words)):
        at = 0
        for item in map(visible, text):
            at = row.index(item, at) + len(item)


@given(ODD_TREES)
def test_any_text_can_be_drawn(tree: Tree) -> None:
    for text in (pretty(tree), pretty(tree, 1), svg(tree)):
        text.encode()
        assert not set(text) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160)]))
    read = ET.fromstring(svg(tree))
    assert texts_of(read, "word") == [visible(word) for word in tree.words()]


# SVG


class Box(NamedTuple):
    """The label of a node: the middle of its baseline, and half its width."""

    node: Tree
    x: int
    y: int
    half: float


def texts_of(root: ET.Element, kind: Kind) -> list[str | None]:
    return [element.text for element in root.iterfind(f"{SVG}g[@class='treewright-{kind}']/*")]


def boxes(tree: Tree) -> list[Box]:
    """The labels of the picture, in the order of `tree.subtrees()`."""
    root = ET.fromstring(svg(tree))
    waiting = {
        kind: list(root.iterfind(f"{SVG}g[@class='treewright-{kind}']/*"))
        for kind in ("label", "null", "tag")
    }
    sizes = {"label": 15, "null": 13, "tag": 12}
    found = []
    for node in tree.subtrees():
        element = waiting[kind_of(node)].pop(0)
        assert element.text == visible(node.label)
        half = text_width(visible(node.label), sizes[kind_of(node)]) / 2
        found.append(Box(node, int(element.attrib["x"]), int(element.attrib["y"]), half))
    assert not any(waiting.values())
    return found


def families(found: list[Box]) -> list[tuple[Box, list[Box]]]:
    """Every box of a constituent with the boxes of its children."""
    order: list[tuple[Box, list[Box]]] = []
    pending: list[tuple[Box, list[Box]]] = []
    for box in found:
        while pending and len(pending[-1][1]) == len(pending[-1][0].node.children):
            pending.pop()
        if pending:
            pending[-1][1].append(box)
        pending.append((box, []))
        order.append(pending[-1])
    return [(parent, children) for parent, children in order if children]


class Stroke(NamedTuple):
    """A vertical stretch of an edge."""

    x: int
    top: int
    bottom: int


def strokes(tree: Tree) -> list[Stroke]:
    found = []
    for path in ET.fromstring(svg(tree)).iterfind(f"{SVG}path"):
        x = y = 0
        for command, numbers in re.findall(r"([MVHQ])([\d. ]+)", path.attrib["d"]):
            values = [int(value) for value in numbers.split()]
            if command == "V":
                found.append(Stroke(x, min(y, values[0]), max(y, values[0])))
                y = values[0]
            elif command == "H":
                x = values[0]
            else:
                x, y = values[-2:]
    return found


def test_svg_holds_the_sentence_and_every_text() -> None:
    tree = Tree.from_brackets('( (S (NP (NN R&D)) ($ <$>) (VP (VBZ "is\'"))))')
    root = ET.fromstring(svg(tree))
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title") == 'R&D <$> "is\'"'
    assert texts_of(root, "word") == ["R&D", "<$>", '"is\'"']
    assert texts_of(root, "tag") == ["NN", "$", "VBZ"]
    assert texts_of(root, "label") == ["·", "S", "NP", "VP"]
    assert not list(root.iter(f"{SVG}script"))
    assert "href" not in svg(tree)
    assert "url(" not in svg(tree)


def test_what_binarisation_made_is_lighter() -> None:
    root = ET.fromstring(svg(binarize(Tree.from_brackets("(NP (DT a) (JJ b) (NN c))"), "$+left")))
    assert texts_of(root, "null") == ["$@", "@", "@", "@"]
    assert texts_of(root, "label") == ["NP"]
    line, faint = root.iterfind(f"{SVG}path")
    assert float(faint.attrib["opacity"]) < float(line.attrib["opacity"])
    null = root.find(f"{SVG}g[@class='treewright-null']")
    assert null is not None
    assert float(null.attrib["opacity"]) < 0.6


@given(ROOTED_TREES)
def test_parents_stand_over_the_middle_of_their_children(tree: Tree) -> None:
    for parent, children in families(boxes(tree)):
        assert abs(parent.x - (children[0].x + children[-1].x) / 2) < 1
        assert all(parent.y < child.y for child in children)


@given(ROOTED_TREES)
def test_labels_of_a_row_keep_apart_and_inside(tree: Tree) -> None:
    _, _, width, height = map(int, ET.fromstring(svg(tree)).attrib["viewBox"].split())
    rows: dict[int, list[Box]] = {}
    for box in boxes(tree):
        rows.setdefault(box.y, []).append(box)
    for y, row in rows.items():
        assert 10 <= y <= height - 10
        assert row[0].x - row[0].half >= 0
        assert row[-1].x + row[-1].half <= width
        for before, after in pairwise(row):
            assert before.x + before.half < after.x - after.half


@given(ROOTED_TREES)
def test_words_stand_in_one_row_under_their_tags(tree: Tree) -> None:
    found = boxes(tree)
    tags = [box for box in found if box.node.is_leaf]
    assert {tag.y for tag in tags} == {max(box.y for box in found)}
    words = list(ET.fromstring(svg(tree)).iterfind(f"{SVG}g[@class='treewright-word']/*"))
    assert [word.text for word in words] == [visible(word) for word in tree.words()]
    assert [int(word.attrib["x"]) for word in words] == [tag.x for tag in tags]
    assert len({word.attrib["y"] for word in words}) == 1
    assert tags[0].y < int(words[0].attrib["y"])
    halves = [text_width(visible(word), 17) / 2 for word in tree.words()]
    for (before, half), (after, next_half) in pairwise(zip(tags, halves, strict=True)):
        assert before.x + half < after.x - next_half


@given(ROOTED_TREES)
def test_edges_join_labels_and_cross_none(tree: Tree) -> None:
    found = boxes(tree)
    lines = strokes(tree)
    tops = {(line.x, line.top) for line in lines}
    bottoms = {(line.x, line.bottom) for line in lines}
    for parent, children in families(found):
        assert (parent.x, parent.y + 6) in tops
        assert all((child.x, child.y - 17) in bottoms for child in children)
    for line in lines:
        for box in found:
            middle = box.y - 5
            assert abs(line.x - box.x) >= box.half or not line.top < middle < line.bottom
