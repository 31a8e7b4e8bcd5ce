"""The folder that a command writes files into: refused early, by name, if it cannot be one."""

from __future__ import annotations

import os
from pathlib import Path

from treewright.errors import OutputError, Place


def output_folder(name: str) -> Path:
    """The folder of that name, which need not be there yet."""
    if not name:
        raise OutputError("a folder to write to needs a name")
    folder = Path(name)
    for path in (folder, *folder.parents):
        if os.path.lexists(path) and not path.is_dir():
            raise OutputError("is no folder", Place(str(path)))
    return folder


def make_folder(folder: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(error.strerror or str(error), Place(str(folder))) from None
