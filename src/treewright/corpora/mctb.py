"""MCTB, the multi-domain constituent treebank: `data/MCTB_en/dialogue.cleaned.txt` and four more.

Owns the names of its domains. It is for testing only: all of it is `test`, domain after domain; to
have one domain alone, point at its file.
"""

from __future__ import annotations

import re
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import by_key, file_or_folder, listed, matching_files, nothing_found
from treewright.errors import MissingPart, Place

DOMAINS = ("dialogue", "forum", "law", "literature", "review")
_TREES_EACH = 1_000
_FILE = re.compile(rf"(?:mctb[_-])?({'|'.join(DOMAINS)})(?:\.cleaned)?\.(?:txt|mrg)", re.IGNORECASE)


def _find(source: Path) -> Layout:
    if file_or_folder(source).is_file():
        return Layout({"test": [source]}, counts={"test": _TREES_EACH})
    found = matching_files(source, _FILE, prefer="MCTB_en")
    if not found:
        raise nothing_found(source, "dialogue.cleaned.txt or the like")
    domains = by_key(found, lambda match: match[1].lower())
    if missing := [name for name in DOMAINS if name not in domains]:
        message = f"lacks the domain {listed(missing)}; point at a file to have one domain alone"
        raise MissingPart(message, Place(str(source)))
    return Layout({"test": [domains[name] for name in DOMAINS]})


TREEBANK = Treebank(
    name="mctb",
    title="MCTB, five domains (github.com/RingoS/multi-domain-parsing-analysis)",
    source="data/MCTB_en, or the file of one domain",
    split="all of it is test",
    licence="MIT",
    counts={"test": _TREES_EACH * len(DOMAINS)},
    find=_find,
)
