r"""Trees in brackets: reading them from text, files and pipes, and writing them.

Owns the notation `(S (NP (DT The) (NN dog)) ...)` and nothing else: labels and words come out as
they went in. White space is ASCII white space; every other character but the two round brackets
may stand in a label or a word (a no-break space too). The root may be nameless, as in the Penn
Treebank's own files: `( (S ...) )`. Files are read as a stream, however large.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

from treewright.errors import (
    BracketError,
    EmptyLabel,
    EmptyTree,
    Place,
    StrayWord,
    TreeError,
    UnclosedBracket,
    UnopenedBracket,
)
from treewright.files import name_of, open_bytes, text_chunks
from treewright.trees.tree import Tree, make_leaf, make_node

# What separates tokens: ASCII white space, as in the tools that wrote the treebanks.
_GAP = r"[ \t\n\r\f\v]"
_TEXT = r"[^() \t\n\r\f\v]"
# A whole leaf at once, which most brackets are; or an opening with its label; or an end; or a word.
_TOKEN = re.compile(rf"\(({_TEXT}+){_GAP}+({_TEXT}+){_GAP}*\)|\({_GAP}*({_TEXT}*)|(\))|({_TEXT}+)")
_LEAF, _OPEN, _CLOSE, _WORD = 2, 3, 4, 5  # the number of the last group that took part
_MOST_LEAVES_KEPT = 1 << 16
_UNWRITABLE = re.compile(r"[() \t\n\r\f\v]")


def parse_tree(text: str) -> Tree:
    """The one tree that a text holds."""
    trees = list(parse_trees(text))
    if len(trees) != 1:
        raise TreeError(f"expected one tree, found {len(trees)}")
    return trees[0]


def parse_trees(text: str) -> Iterator[Tree]:
    """The trees of a text, one after the other.

    >>> [tree.words() for tree in parse_trees("(NP (NN a)) (NP (NN b))")]
    [('a',), ('b',)]
    """
    return (tree for _, tree in _Reader(None).read([text]))


def read_trees(
    source: str | os.PathLike[str] | BinaryIO | TextIO, encoding: str = "utf-8"
) -> Iterator[Tree]:
    """Stream the trees of a file, of standard input (`-`), or of an open file."""
    return (tree for _, tree in read_located_trees(source, encoding))


def read_located_trees(
    source: str | os.PathLike[str] | BinaryIO | TextIO, encoding: str = "utf-8"
) -> Iterator[tuple[int, Tree]]:
    """As `read_trees`, each tree with the number of the line that it begins on."""
    if isinstance(source, str | os.PathLike):
        with open_bytes(source) as handle:
            file = name_of(source)
            yield from _Reader(file).read(text_chunks(handle, file, encoding))
        return
    named = getattr(source, "name", None)
    name = named if isinstance(named, str) else None
    if isinstance(source.read(0), bytes):
        chunks: Iterable[str] = text_chunks(source, name, encoding)  # type: ignore[arg-type]
    else:
        chunks = iter(lambda: source.read(1 << 18), "")  # type: ignore[arg-type, return-value]
    yield from _Reader(name).read(chunks)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep Python's cycle collector still while many trees are made.

    Trees hold no cycles, yet each new node brings the next collection nearer, and each collection
    walks over all nodes there are: it would take most of the time of reading a large file.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Reader:
    """Puts trees together from text that arrives in pieces."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._line = 1  # of the character number `_seen` of the text in hand
        self._seen = 0
        self._column = 1  # where the text in hand begins
        # The brackets that wait for their ends, outermost first: their labels, and what each holds
        # so far; a word that arrives apart from its tag is the first and only thing in its bracket.
        self._labels: list[str] = []
        self._held: list[list[Tree | str]] = []
        self._begun = Place(name)  # where the outermost of them stands
        # Leaves by their text: most recur, and a tree is immutable, so that one object serves all.
        self._leaves: dict[str, Tree] = {}

    def read(self, pieces: Iterable[str]) -> Iterator[tuple[int, Tree]]:
        """The trees of a text in pieces, each with its line."""
        carry = ""
        for piece in pieces:
            text = carry + piece
            # The last token may go on in the next piece; after `)` or a line's end none does.
            cut = max(text.rfind(")"), text.rfind("\n")) + 1
            carry = text[cut:]
            yield from self._feed(text[:cut])
        yield from self._feed(carry)
        if self._labels:
            raise UnclosedBracket(f"'({self._labels[0]}' is never closed", self._begun)

    def _feed(self, text: str) -> Iterator[tuple[int, Tree]]:
        """Read the next tokens; the trees that they complete, also those before an error."""
        finished: list[tuple[int, Tree]] = []
        failure = None
        with _collector_paused():
            try:
                self._consume(text, finished)
            except BracketError as error:
                failure = error
        yield from finished
        if failure is not None:
            raise failure

    def _consume(self, text: str, finished: list[tuple[int, Tree]]) -> None:
        labels, held, leaves = self._labels, self._held, self._leaves
        if len(leaves) > _MOST_LEAVES_KEPT:
            leaves.clear()
        for match in _TOKEN.finditer(text):
            kind = match.lastindex
            if kind == _LEAF:
                text_of_leaf = match[0]
                node = leaves.get(text_of_leaf)
                if node is None:
                    node = leaves[text_of_leaf] = make_leaf(match[1], match[2])
                if not held:
                    self._begun = self._place(text, match.start())
            elif kind == _OPEN:
                if not held:
                    self._begun = self._place(text, match.start())
                elif not match[3]:
                    message = "a constituent without a label; only the root may have none"
                    raise EmptyLabel(message, self._place(text, match.start()))
                labels.append(match[3])
                held.append([])
                continue
            elif kind == _CLOSE:
                node = self._close(text, match.start())
            else:
                self._add_word(match[5], text, match.start())
                continue
            if held:
                held[-1].append(node)
            else:
                finished.append((self._begun.line or 1, node))
        self._column = self._place(text, len(text)).column or 1
        self._seen = 0

    def _close(self, text: str, at: int) -> Tree:
        if not self._held:
            raise UnopenedBracket("')' closes nothing", self._place(text, at))
        label, parts = self._labels.pop(), self._held.pop()
        if not parts:
            raise EmptyTree(f"'({label})' holds no word", self._place(text, at))
        word = parts[0]
        if not isinstance(word, str):
            return make_node(label, tuple(parts))  # type: ignore[arg-type]
        if len(parts) > 1:
            message = f"the word {word!r} stands beside constituents, without a tag"
            raise StrayWord(message, self._place(text, at))
        if not label:
            raise EmptyLabel(f"the word {word!r} has no tag", self._place(text, at))
        return make_leaf(label, word)

    def _add_word(self, word: str, text: str, at: int) -> None:
        if not self._held:
            raise StrayWord(f"{word!r} stands outside every tree", self._place(text, at))
        if self._held[-1]:
            message = f"the word {word!r} in '({self._labels[-1]}' has no tag of its own"
            raise StrayWord(message, self._place(text, at))
        self._held[-1].append(word)

    def _place(self, text: str, at: int) -> Place:
        """The place of a character of the text in hand; asked for from left to right."""
        self._line += text.count("\n", self._seen, at)
        self._seen = at
        line_end = text.rfind("\n", 0, at)
        column = at - line_end if line_end >= 0 else self._column + at
        return Place(self._name, line=self._line, column=column)


def format_tree(tree: Tree, indent: int | None = None) -> str:
    """A tree in brackets: on one line, or every constituent on a line of its own.

    A constituent that holds one leaf alone, or leaves alone, stays on its line:

    >>> print(format_tree(parse_tree("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"), indent=2))
    (S
      (NP (DT The) (NN dog))
      (VP (VBZ barks)))
    """
    parts: list[str] = []
    # A string on the stack closes a constituent, or breaks the line.
    stack: list[tuple[Tree, int] | str] = [(tree, 0)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node, depth = item
        if node.word is not None:
            parts.append(f"({_written(node.label)} {_written(node.word)})")
            continue
        parts.append(f"({_written(node.label)}")
        flat = indent is None or all(child.word is not None for child in node.children)
        gap = " " if flat else "\n" + " " * ((indent or 0) * (depth + 1))
        stack.append(")")
        for child in reversed(node.children):
            stack.append((child, depth + 1))
            stack.append(gap)
    return "".join(parts)


def _written(token: str) -> str:
    if _UNWRITABLE.search(token):
        raise TreeError(f"{token!r} cannot be written in brackets: it holds a bracket or a space")
    return token
