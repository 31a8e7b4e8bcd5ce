"""CRAFT, biomedical articles: `structural-annotation/treebank/penn/NNNNNNNN.tree`.

Owns its split. CRAFT has none for parsing; this one goes by article, in the order of their PubMed
numbers: the 10th, 20th and so on are test, the 5th, 15th and so on dev.
"""

from __future__ import annotations

import re
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import by_key, matching_files, nothing_found
from treewright.errors import MissingPart, Place

_FILE = re.compile(r"(\d+)\.tree")
_ARTICLES = 97
_PART_OF_RANK = {4: "dev", 9: "test"}


def _find(source: Path) -> Layout:
    found = matching_files(source, _FILE)
    if not found:
        raise nothing_found(source, "NNNNNNNN.tree")
    articles = list(by_key(found, lambda match: int(match[1])).values())
    if len(articles) != _ARTICLES:
        message = (
            f"holds {len(articles)} articles, not {_ARTICLES}: "
            "the split goes by their order and would come out otherwise"
        )
        raise MissingPart(message, Place(str(source)))
    files: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    for rank, path in enumerate(articles):
        files[_PART_OF_RANK.get(rank % 10, "train")].append(path)
    return Layout(files)


TREEBANK = Treebank(
    name="craft",
    title="CRAFT, the Colorado Richly Annotated Full-Text corpus (github.com/UCDenver-ccp/CRAFT)",
    source="structural-annotation/treebank",
    split="by article: every tenth is test, every tenth dev",
    licence="CC BY 3.0",
    counts={"train": 25_090, "dev": 3_128, "test": 2_612},
    find=_find,
)
