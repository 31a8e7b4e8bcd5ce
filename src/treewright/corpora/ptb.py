"""The Penn Treebank 3: Wall Street Journal sections, `wsj/NN/wsj_NNNN.mrg`.

Owns the names of its files and its split by section. Trees are indented brackets under a nameless
root: `( (S (NP-SBJ ...) ...) )`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import by_key, listed, matching_files, nothing_found
from treewright.errors import MissingPart, Place

# A text, as distributed; or a whole section in one file. Some copies are in capitals throughout.
_FILE = re.compile(r"wsj_(\d\d)(\d\d)?\.mrg|(\d\d)\.mrg", re.IGNORECASE)

SECTIONS: Mapping[str, range] = {
    "train": range(2, 22),
    "dev": range(22, 23),
    "test": range(23, 24),
}


def wsj_files(source: Path) -> dict[str, Path]:
    """The files by section and text (`0201`), or by section (`02`), wherever they lie."""
    found = matching_files(source, _FILE)
    if not found:
        raise nothing_found(source, "wsj_NNNN.mrg")
    return by_key(found, lambda match: (match[1] or match[3]) + (match[2] or ""))


def _find(source: Path) -> Layout:
    sections: dict[int, list[Path]] = {}
    for key, path in wsj_files(source).items():
        sections.setdefault(int(key[:2]), []).append(path)
    missing = [number for part in SECTIONS.values() for number in part if number not in sections]
    if missing:
        message = (
            f"lacks section {listed(f'{number:02}' for number in missing)}; "
            f"found {listed(f'{number:02}' for number in sections)}"
        )
        raise MissingPart(message, Place(str(source)))
    return Layout(
        {
            part: [path for number in numbers for path in sections[number]]
            for part, numbers in SECTIONS.items()
        }
    )


TREEBANK = Treebank(
    name="ptb",
    title="Penn Treebank 3, Wall Street Journal (LDC99T42)",
    source="a folder with wsj/NN/wsj_NNNN.mrg somewhere in it",
    split="sections 02-21, 22, 23",
    licence="LDC licence",
    counts={"train": 39_832, "dev": 1_700, "test": 2_416},
    find=_find,
)
