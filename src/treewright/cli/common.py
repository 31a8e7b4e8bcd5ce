"""What commands share: the argument for files of trees, a stream of the trees in them, colours.

@click.command()
@FILES
def count(files: tuple[str, ...]) -> None:
    print(sum(1 for _ in located_trees(files)))
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from treewright.errors import EmptyInput, Place
from treewright.files import name_of
from treewright.trees import Tree, read_located_trees

if TYPE_CHECKING:
    from treewright.trees.layout import Kind

#: One or more files of trees, `-` being standard input.
FILES = click.argument("files", nargs=-1, required=True, metavar="FILE...")


def located_trees(files: Iterable[str]) -> Iterator[tuple[Place, Tree]]:
    """Stream the trees of several files, each with its file and line.

    A file that holds none is an error.
    """
    for file in files:
        name = name_of(file)
        empty = True
        for line, tree in read_located_trees(file):
            empty = False
            yield Place(name, line=line), tree
        if empty:
            raise EmptyInput("holds no tree", Place(name))


def colours_wanted() -> bool:
    """Whether standard output is a terminal, and its user has nothing against colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def coloured(kind: Kind, text: str) -> str:
    """A piece of a drawn tree as a terminal is to receive it."""
    if kind == "label":
        return click.style(text, fg="cyan")
    if kind == "tag":
        return click.style(text, fg="green")
    if kind == "word":
        return click.style(text, bold=True)
    return click.style(text, dim=True)
