"""Finding a treebank's files wherever in its tree of folders the user points.

Owns the walk through folders and the errors for what is missing or there twice. Knows no treebank.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from treewright.errors import CorpusError, InputError, MissingPart, NotFound, Place

_Key = TypeVar("_Key", bound="int | str")


def matching_files(
    source: Path, name: re.Pattern[str], prefer: str | None = None
) -> list[tuple[re.Match[str], Path]]:
    """The files below a folder whose whole names match, sorted by path, each with its match.

    If some of them lie in a folder called `prefer`, the rest are left alone: distributions keep
    the same names for the same texts in other forms beside it.
    """
    found = [
        (match, path) for path in sorted(_walk(source)) if (match := name.fullmatch(path.name))
    ]
    if prefer is not None:
        within = [item for item in found if _lies_in(item[1], source, prefer)]
        found = within or found
    return found


def by_key(
    found: Iterable[tuple[re.Match[str], Path]], key: Callable[[re.Match[str]], _Key]
) -> dict[_Key, Path]:
    """One file for each key, in the order of keys; the same key twice is an error."""
    files: dict[_Key, Path] = {}
    for match, path in found:
        other = files.setdefault(key(match), path)
        if other is not path:
            message = f"is here, and {other} too: point at one of the two folders"
            raise CorpusError(message, Place(str(path)))
    return dict(sorted(files.items()))


def folder(source: Path) -> Path:
    """The same path, if it is a folder."""
    if not source.exists():
        raise NotFound("no such folder", Place(str(source)))
    if not source.is_dir():
        raise CorpusError("is a file; point at the treebank's folder", Place(str(source)))
    return source


def file_or_folder(source: Path) -> Path:
    """The same path, if there is anything: for treebanks that come as one file, too."""
    if not source.exists():
        raise NotFound("no such file or folder", Place(str(source)))
    return source


def nothing_found(source: Path, what: str) -> MissingPart:
    """The error for a folder that is not this treebank."""
    return MissingPart(f"holds no {what}: is this the right folder?", Place(str(source)))


def listed(names: Iterable[object], most: int = 6) -> str:
    """Names in a row for a message, the end of a long row left out.

    >>> listed(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    shown = [str(name) for name in names]
    if len(shown) <= most:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"


def _walk(source: Path) -> Iterator[Path]:
    """All files below a folder, links followed, no folder entered twice, hidden ones left out."""

    def fail(error: OSError) -> None:
        raise InputError(error.strerror or str(error), Place(error.filename)) from None

    entered: set[str] = set()
    for base, folders, names in os.walk(folder(source), onerror=fail, followlinks=True):
        real = os.path.realpath(base)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(base, name) for name in names)


def _lies_in(path: Path, source: Path, name: str) -> bool:
    inside = (source.name, *path.relative_to(source).parts[:-1])
    return name.casefold() in (part.casefold() for part in inside)
