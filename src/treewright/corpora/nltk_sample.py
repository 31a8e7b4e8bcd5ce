"""The sample of the Penn Treebank that NLTK ships: `treebank/combined/wsj_0001.mrg` to `0199`.

Owns its split by text. The sample has none of its own; this one keeps texts whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import listed
from treewright.corpora.ptb import wsj_files
from treewright.errors import MissingPart, Place

TEXTS: Mapping[str, range] = {
    "train": range(1, 160),
    "dev": range(160, 180),
    "test": range(180, 200),
}


def _find(source: Path) -> Layout:
    texts = {int(key): path for key, path in wsj_files(source).items() if len(key) == 4}
    missing = [number for part in TEXTS.values() for number in part if number not in texts]
    if missing:
        message = f"lacks {listed(f'wsj_{number:04}.mrg' for number in missing)}"
        raise MissingPart(message, Place(str(source)))
    return Layout({part: [texts[n] for n in numbers] for part, numbers in TEXTS.items()})


TREEBANK = Treebank(
    name="nltk",
    title="NLTK's sample of the Penn Treebank (nltk_data, corpora/treebank)",
    source="the unpacked folder corpora/treebank",
    split="texts 0001-0159, 0160-0179, 0180-0199",
    licence="non-commercial; no models trained on it may be passed on",
    counts={"train": 3_396, "dev": 273, "test": 245},
    find=_find,
)
