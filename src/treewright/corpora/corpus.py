"""What all treebanks share: parts that stream trees with their places, and a card that says how.

Owns the types `Treebank` (how one treebank is distributed and split), `Layout` (which files of a
copy of it make up which part), `Part` and `Corpus`. Knows no treebank by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from treewright.errors import EmptyInput, MissingPart, Place
from treewright.files import name_of
from treewright.trees import Tree, normalize, read_located_trees

#: Reads one file on behalf of one part: each tree with the number of the line it begins on.
FileReader = Callable[[Path, str], Iterator[tuple[int, Tree]]]


def read_brackets(path: Path, part: str) -> Iterator[tuple[int, Tree]]:
    """The trees of a file in plain brackets, all of them for whichever part the file is in."""
    return read_located_trees(path)


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of each part, in reading order, as found in one copy of a treebank."""

    files: Mapping[str, Sequence[Path]]
    counts: Mapping[str, int] | None = None
    """Trees to expect, where this copy is only a piece of the treebank."""
    notes: tuple[str, ...] = ()
    """What the user should hear: files that belong to no part, say."""


@dataclass(frozen=True, slots=True)
class Treebank:
    """One treebank: how it is distributed, how it is split, how to read it."""

    name: str
    title: str
    source: str
    """What to point at."""
    split: str
    licence: str
    find: Callable[[Path], Layout]
    counts: Mapping[str, int] = field(default_factory=dict)
    """The number of trees of each part, as the literature or the distributor gives it."""
    read: FileReader = read_brackets
    tidy: Callable[[Tree], Tree | None] = normalize
    """From a tree as distributed to one as parsers see it; `None` if no word is left."""

    def open(self, source: Path, verbatim: bool = False) -> Corpus:
        """Find the parts of a copy of this treebank; trees are read later, as they are asked for.

        `verbatim` keeps function tags, indices and traces.
        """
        layout = self.find(source)
        counts = self.counts if layout.counts is None else layout.counts
        tidy = None if verbatim else self.tidy
        parts = {
            name: Part(name, tuple(files), counts.get(name), self.read, tidy)
            for name, files in layout.files.items()
        }
        return Corpus(self.name, source, parts, layout.notes)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a treebank: `train`, `dev` or `test`. Iterating over it reads its files anew."""

    name: str
    files: tuple[Path, ...]
    expected: int | None
    """The standard number of trees, if there is one."""
    read: FileReader
    tidy: Callable[[Tree], Tree | None] | None

    def __iter__(self) -> Iterator[Tree]:
        return (tree for _, tree in self.located())

    def located(self) -> Iterator[tuple[Place, Tree]]:
        """Each tree with its file and line; a file without any tree is an error."""
        kept_any = False
        for path in self.files:
            found_any = False
            for line, tree in self.read(path, self.name):
                found_any = True
                tidied = tree if self.tidy is None else self.tidy(tree)
                if tidied is not None:
                    kept_any = True
                    yield Place(name_of(path), line=line), tidied
            if not found_any:
                raise EmptyInput(f"holds no tree for {self.name}", Place(name_of(path)))
        if not kept_any:
            raise EmptyInput(f"{self.name} holds traces alone, no word")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A copy of a treebank, split as is standard."""

    name: str
    source: Path
    parts: Mapping[str, Part]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Part:
        if name not in self.parts:
            message = f"{self.name} has no part {name!r}, only {', '.join(self.parts)}"
            raise MissingPart(message, Place(name_of(self.source)))
        return self.parts[name]

    @property
    def train(self) -> Part:
        """The trees to train on."""
        return self["train"]

    @property
    def dev(self) -> Part:
        """The trees to tune on."""
        return self["dev"]

    @property
    def test(self) -> Part:
        """The trees to report figures on."""
        return self["test"]
