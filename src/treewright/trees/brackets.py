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
from itertools import islice
from operator import length_hint
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
from treewright.files import CHUNK_BYTES, name_of, open_bytes, text_chunks
from treewright.trees.tree import Tree, make_leaf, make_node

# What separates tokens: ASCII white space, as in the tools that wrote the treebanks.
_SPACE = " \t\n\r\f\v"
_TEXT = rf"[^(){_SPACE}]"
# A whole leaf at once, which most brackets are; or an opening with its label; or an end; or a line
# end, for counting; or a word that stands apart from its tag.
_TOKEN = re.compile(
    rf"\({_TEXT}+[ \t\r\f\v]+{_TEXT}+[ \t\r\f\v]*\)|\([{_SPACE}]*{_TEXT}*|\)|\n|{_TEXT}+"
)
_LEAF = re.compile(rf"\(({_TEXT}+)[{_SPACE}]+({_TEXT}+)")
_UNWRITABLE = re.compile(rf"[(){_SPACE}]")
_SEPARATING = re.compile(rf"[{_SPACE}\0]")
_MOST_KEPT = 1 << 16  # leaves, and openings
_DEEPEST_INDENTED = 200  # deeper lines stand no further to the right, or output would be quadratic


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
        chunks = iter(lambda: source.read(CHUNK_BYTES), "")  # type: ignore[arg-type, return-value]
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
    """Puts trees together from text that arrives in pieces.

    Tokens are plain strings, and most need no more than a look into the table of leaves: where a
    token stands is found again when somebody must be told.
    """

    def __init__(self, name: str | None) -> None:
        self._origin = Place(name, line=1, column=1)  # where the text in hand begins
        # The brackets that wait for their ends, outermost first: their labels; what the innermost
        # holds so far, `None` outside of all; what each one's outer bracket holds. A word that
        # arrives apart from its tag is the first and only thing in its bracket.
        self._labels: list[str] = []
        self._parts: list[Tree | str] | None = None
        self._outer: list[list[Tree | str] | None] = []
        # The outermost: its line, and how to find its column if it is never closed.
        self._begun = 1
        self._root: tuple[str, int, Place] = "", 0, Place()
        self._root_remaining: int | None = None
        # Leaves by their text: most recur, and a tree is immutable, so that one object serves all.
        self._leaves: dict[str, Tree] = {}
        # Labels by the text that opens a bracket, of those that a label and nothing else is in.
        self._openings: dict[str, str] = {}

    def read(self, pieces: Iterable[str]) -> Iterator[tuple[int, Tree]]:
        """The trees of a text in pieces, each with its line."""
        waiting: list[str] = []
        for piece in pieces:
            # After `)` no token goes on in the next piece.
            cut = piece.rfind(")") + 1
            if cut:
                yield from self._feed("".join([*waiting, piece[:cut]]))
                waiting.clear()
            waiting.append(piece[cut:])
        yield from self._feed("".join(waiting))
        if self._labels:
            message = f"'({self._labels[0]}' is never closed"
            if len(self._labels) > 1:
                message += f", nor is '({self._labels[-1]}', the innermost of {len(self._labels)}"
            raise UnclosedBracket(message, _place_of_token(*self._root))

    def _feed(self, text: str) -> Iterator[tuple[int, Tree]]:
        """Read the next tokens; the trees that they complete, also those before an error."""
        finished: list[tuple[int, Tree]] = []
        failure = None
        with _collector_paused():
            tokens = _TOKEN.findall(text)
            coming = iter(tokens)
            try:
                self._consume(coming, finished)
            except BracketError as error:
                number = len(tokens) - length_hint(coming) - 1
                place = _place_of_token(text, number, self._origin)
                failure = type(error)(error.message, place)
        yield from finished
        if failure is not None:
            raise failure
        if self._root_remaining is not None:
            self._root = text, len(tokens) - self._root_remaining - 1, self._origin
            self._root_remaining = None
        self._origin = _place_after(text, len(text), self._origin)

    def _consume(self, tokens: Iterator[str], finished: list[tuple[int, Tree]]) -> None:
        # Reading spends its time in this loop: what is common comes first and calls little.
        labels, outer, parts = self._labels, self._outer, self._parts
        leaves, openings = self._leaves, self._openings
        for table in (leaves, openings):
            if len(table) > _MOST_KEPT:
                table.clear()
        line = self._origin.line or 1
        for token in tokens:
            node = leaves.get(token)
            if node is None:
                if token == ")":
                    if not parts or parts[0].__class__ is str:
                        node = _odd_node(labels, parts)
                        labels.pop()
                    else:
                        node = make_node(labels.pop(), tuple(parts))  # type: ignore[arg-type]
                    parts = outer.pop()
                elif token in openings or (token[0] == "(" and token[-1] != ")"):
                    if parts is None:
                        self._begun, self._root_remaining = line, length_hint(tokens)
                    label = openings.get(token)
                    if label is None:
                        label = _label_of(token, parts)
                        if label and "\n" not in token:
                            openings[token] = label
                        line += token.count("\n")
                    labels.append(label)
                    outer.append(parts)
                    parts = []
                    continue
                elif token == "\n":
                    line += 1
                    continue
                elif token[0] != "(":
                    _add_word(token, labels, parts)
                    continue
                else:
                    node = leaves[token] = make_leaf(*_LEAF.match(token).groups())  # type: ignore[union-attr]
            if parts is None:
                finished.append((self._begun if token == ")" else line, node))
            else:
                parts.append(node)
        self._parts = parts


def _label_of(token: str, parts: list[Tree | str] | None) -> str:
    """The label behind an opening bracket."""
    label = token[1:].lstrip(_SPACE)
    if not label and parts is not None:
        raise EmptyLabel("a constituent without a label; only the root may have none")
    return label


def _odd_node(labels: list[str], parts: list[Tree | str] | None) -> Tree:
    """What a closing bracket makes when it does not end a list of constituents."""
    if parts is None:
        raise UnopenedBracket("')' closes nothing")
    if not parts:
        raise EmptyTree(f"'({labels[-1]})' holds no word")
    word = parts[0]
    if len(parts) > 1:
        raise StrayWord(f"the word {word!r} stands beside constituents, without a tag")
    return make_leaf(labels[-1], str(word))


def _add_word(word: str, labels: list[str], parts: list[Tree | str] | None) -> None:
    """Put a word that stands apart from its tag in its bracket, where it must be alone."""
    if parts is None:
        raise StrayWord(f"{word!r} stands outside every tree")
    if parts:
        raise StrayWord(f"the word {word!r} in '({labels[-1]}' has no tag of its own")
    parts.append(word)


def _place_of_token(text: str, number: int, origin: Place) -> Place:
    """The place of the token of that number in a text that begins at `origin`."""
    return _place_after(text, next(islice(_TOKEN.finditer(text), number, None)).start(), origin)


def _place_after(text: str, at: int, origin: Place) -> Place:
    """The place of a character of a text that begins at `origin`."""
    line_end = text.rfind("\n", 0, at)
    column = at - line_end if line_end >= 0 else (origin.column or 1) + at
    return Place(origin.file, line=(origin.line or 1) + text.count("\n", 0, at), column=column)


def format_tree(tree: Tree, indent: int | None = None, *, escape: bool = False) -> str:
    """A tree in brackets: on one line, or every constituent on a line of its own.

    What brackets cannot hold is an error; with `escape` it is written as treebanks write it.

    A constituent that holds one leaf alone, or leaves alone, stays on its line:

    >>> print(format_tree(parse_tree("(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"), indent=2))
    (S
      (NP (DT The) (NN dog))
      (VP (VBZ barks)))
    >>> print(format_tree(Tree("NP", [Tree("NN", word="a b"), Tree("NN", word=":)")]), escape=True))
    (NP (NN a_b) (NN :-RRB-))
    """
    write = _escaped if escape else _written
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
            parts.append(f"({write(node.label, 'tag')} {write(node.word, 'word')})")
            continue
        nameless_root = node is tree and not node.label
        parts.append("(" if nameless_root else f"({write(node.label, 'label')}")
        flat = indent is None or all(child.word is not None for child in node.children)
        gap = " " if flat else "\n" + " " * ((indent or 0) * min(depth + 1, _DEEPEST_INDENTED))
        stack.append(")")
        for child in reversed(node.children):
            stack.append((child, depth + 1))
            stack.append(gap)
    return "".join(parts)


def _written(token: str, what: str) -> str:
    if not token:
        raise TreeError(f"an empty {what} cannot be written in brackets")
    if _UNWRITABLE.search(token):
        raise TreeError(f"{token!r} cannot be written in brackets: it holds a bracket or a space")
    return token


def _escaped(token: str, what: str) -> str:
    """Round brackets as `-LRB-` and `-RRB-`; white space, and NUL, which no text holds, as `_`."""
    if token and "\0" not in token and not _UNWRITABLE.search(token):
        return token
    return _SEPARATING.sub("_", escape_brackets(token)) or "_"


def escape_brackets(word: str) -> str:
    """The word as a bracketed tree can hold it: round brackets become `-LRB-` and `-RRB-`.

    Only round ones: they alone would end a tree, and treebanks differ about the others.

    >>> escape_brackets("("), escape_brackets(":-)"), escape_brackets("word")
    ('-LRB-', ':--RRB-', 'word')
    """
    return word.replace("(", "-LRB-").replace(")", "-RRB-")
