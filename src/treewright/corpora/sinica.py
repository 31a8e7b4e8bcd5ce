"""The Sinica Treebank sample as NLTK ships it, `sinica_treebank/parsed`, in its own notation.

Owns that notation and a split. A line is a clause: a number, the tree, the punctuation after it.

    #2:1.[0] NP(property:N‧的(head:Nhaa:我|Head:DE:的)|Head:Nab:書)#。(PERIODCATEGORY)

becomes `(NP (N (Nhaa 我) (DE 的)) (Nab 書))`. Before a bracket stands `role:label`; between bars
stands `role:tag:word`. Verbatim trees keep the roles of constituents, as function tags (`NP-goal`),
and what follows the dot in a label (`N‧的`). The punctuation belongs to no tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import file_or_folder, matching_files, nothing_found
from treewright.errors import (
    BracketError,
    EmptyLabel,
    EmptyTree,
    Place,
    StrayWord,
    UnclosedBracket,
    UnopenedBracket,
)
from treewright.files import text_lines
from treewright.trees import Tree, normalize

_FILE = re.compile(r"parsed")
_NUMBER = re.compile(r"\s*#\S+\s+")
_TOKEN = re.compile(r"[()|]|[^()|]+")
_NO_TREE = "%()"  # where the treebank's makers found none
_PART_OF_RANK = {4: "dev", 9: "test"}


def _find(source: Path) -> Layout:
    path = file_or_folder(source)
    if source.is_dir():
        found = matching_files(source, _FILE, prefer="sinica_treebank")
        if not found:
            raise nothing_found(source, "file named parsed")
        path = found[0][1]
    return Layout({part: [path] for part in ("train", "dev", "test")})


def _read(path: Path, part: str) -> Iterator[tuple[int, Tree]]:
    for rank, located in enumerate(read_clauses(path)):
        if _PART_OF_RANK.get(rank % 10, "train") == part:
            yield located


def read_clauses(path: Path) -> Iterator[tuple[int, Tree]]:
    """All trees of a file in this notation, each with its line."""
    for number, line in enumerate(text_lines(path), start=1):
        begin = match.end() if (match := _NUMBER.match(line)) else 0
        text = line[begin:].partition("#")[0].rstrip()
        if text and text != _NO_TREE:
            yield number, _parse(text, Place(str(path), number), begin)


def _parse(text: str, place: Place, begin: int) -> Tree:
    """The tree of one clause; `begin` is where in its line the text stands."""

    def at(offset: int) -> Place:
        return Place(place.file, place.line, begin + offset + 1)

    labels: list[str] = []
    held: list[list[Tree]] = [[]]
    # What stands before a bracket, or is a word if none follows, and where it is.
    name, name_at = "", place
    for match in _TOKEN.finditer(text):
        token, where = match[0].strip(), at(match.start())
        if token not in ("(", "|", ")"):
            if len(token.split()) > 1:
                raise BracketError(f"white space within {token!r}", where)
            name, name_at = token, where
            continue
        if token == "(":
            labels.append(_label(name, where))
            held.append([])
        elif name:
            held[-1].append(_leaf(name, name_at))
        if token == ")":
            _close(labels, held, where)
        name = ""
    if name:
        held[-1].append(_leaf(name, name_at))
    if labels:
        raise UnclosedBracket(f"'{labels[0]}(' is never closed", at(0))
    if len(held[0]) != 1:
        raise StrayWord(f"{len(held[0])} trees in a line, where one should be", at(0))
    return held[0][0]


def _close(labels: list[str], held: list[list[Tree]], where: Place) -> None:
    if not labels:
        raise UnopenedBracket("')' closes nothing", where)
    label, children = labels.pop(), held.pop()
    if not children:
        raise EmptyTree(f"'{label}(' holds no word", where)
    held[-1].append(Tree(label, children))


def _label(name: str, where: Place) -> str:
    """From `role:label` to a label with a function tag."""
    role, _, label = name.rpartition(":")
    if not label:
        raise EmptyLabel("a constituent without a label", where)
    return f"{label}-{role}" if role else label


def _leaf(name: str, where: Place) -> Tree:
    """From `role:tag:word`; the role may be missing."""
    tag, _, word = name.rpartition(":")
    tag = tag.rpartition(":")[2]
    if not tag or not word:
        raise StrayWord(f"{name!r} is not role:tag:word", where)
    return Tree(tag, word=word)


def _tidy(tree: Tree) -> Tree | None:
    """Without roles, and with `N‧的` as `N`: the particle is a word of its own anyway."""
    return normalize(tree.map(_without_particle))


def _without_particle(node: Tree, children: tuple[Tree, ...]) -> Tree:
    if node.is_leaf:
        return node
    head, _, particle = node.label.partition("‧")
    return Tree(head or particle, children)


TREEBANK = Treebank(
    name="sinica",
    title="Sinica Treebank sample (nltk_data, corpora/sinica_treebank)",
    source="the unpacked folder corpora/sinica_treebank, or its file parsed",
    split="by clause: every tenth is test, every tenth dev",
    licence="CC BY-NC-SA 2.5",
    counts={"train": 8_000, "dev": 1_000, "test": 1_000},
    find=_find,
    read=_read,
    tidy=_tidy,
)
