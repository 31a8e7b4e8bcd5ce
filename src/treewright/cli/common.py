"""What commands share: the argument for files of trees, and a stream of the trees in them.

@click.command()
@FILES
def count(files: tuple[str, ...]) -> None:
    print(sum(1 for _ in located_trees(files)))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from treewright.errors import EmptyInput, Place
from treewright.files import name_of
from treewright.trees import Tree, read_located_trees

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
