"""Any treebank in plain brackets: one file, or a folder with one file a part.

Owns the names by which a file is known as train, dev or test.
"""

from __future__ import annotations

import re
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import file_or_folder, nothing_found
from treewright.errors import CorpusError, Place

_FILE = re.compile(
    r"(?:.*[._-])?(?:(?P<train>train)|(?P<dev>dev|devel|valid)|(?P<test>test))"
    r"\.(?:mrg|txt|ptb|tree|trees|brackets|clean)",
    re.IGNORECASE,
)


def _part_of(name: str) -> str | None:
    match = _FILE.fullmatch(name)
    return match.lastgroup if match else None


def _find(source: Path) -> Layout:
    if str(source) == "-" or not file_or_folder(source).is_dir():
        return Layout({_part_of(source.name) or "train": [source]})
    files: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    for path in sorted(source.iterdir()):
        if part := _part_of(path.name):
            files[part].append(path)
    for part, paths in files.items():
        if len(paths) > 1:
            message = f"could be {part}, and {paths[0].name} too: point at one file"
            raise CorpusError(message, Place(str(paths[1])))
    found = {part: paths for part, paths in files.items() if paths}
    if not found:
        raise nothing_found(source, "train.mrg, dev.mrg or test.mrg")
    return Layout(found)


TREEBANK = Treebank(
    name="brackets",
    title="any treebank in plain brackets",
    source="a file, -, or a folder with train.mrg, dev.mrg and test.mrg (or *_train.txt ...)",
    split="by file name; a file of another name is train",
    licence="its own",
    find=_find,
)
