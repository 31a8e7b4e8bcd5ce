"""The Chinese Treebank 5.1: `bracketed/chtb_NNN.fid` (and `.nw`, `.mz` in later releases).

Owns the names of its files, its split by article, and the markup around its trees:

    <DOC>
    <DATE> 1994-01-27 </DATE>
    <S ID=12>
    ( (IP (NP-SBJ (NR 中国))
          (VP (VV 发展))
          (PU 。)))
    </S>

A file is GB18030 or UTF-8; each is tried on its sentences. All that stands outside them is passed
over as bytes, since the release has stray ones at the end of a file. In neither encoding does a
byte of a longer character look like a bracket, `<` or a line's end.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import by_key, listed, matching_files, nothing_found
from treewright.errors import EncodingError, MissingPart, Place, UnclosedBracket
from treewright.files import open_bytes
from treewright.trees import Tree, read_located_trees

_FILE = re.compile(r"chtb_(\d{3,4})\.(?:fid|nw|mz|bn|bc|wb)", re.IGNORECASE)
_MARKUP = re.compile(rb"\s*</?[A-Za-z][^<>()]*>")
_SENTENCE = re.compile(rb"\s*<(/?)S(?:\s[^<>]*)?>", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"

ARTICLES: Mapping[str, tuple[range, ...]] = {
    "train": (range(1, 271), range(440, 1152)),
    "dev": (range(301, 326),),
    "test": (range(271, 301),),
}
_GAPLESS = range(1, 326)  # later numbers were not all given out


def _find(source: Path) -> Layout:
    found = matching_files(source, _FILE, prefer="bracketed")
    if not found:
        raise nothing_found(source, "chtb_NNN.fid")
    articles = by_key(found, lambda match: int(match[1]))
    files = {
        part: [articles[n] for numbers in ranges for n in numbers if n in articles]
        for part, ranges in ARTICLES.items()
    }
    missing = [number for number in _GAPLESS if number not in articles]
    if missing or max(articles) < ARTICLES["train"][1].start:
        lacking = listed(f"{number:03}" for number in missing) or "440 to 1151"
        raise MissingPart(f"lacks article {lacking}", Place(str(source)))
    return Layout(files)


class _NamedBytes(io.BytesIO):
    """Bytes that messages can name."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _read(path: Path, part: str) -> Iterator[tuple[int, Tree]]:
    with open_bytes(path) as handle:
        sentences = b"\n".join(_sentences_alone(handle.read(), str(path)))
    try:
        sentences.decode("utf-8")
    except UnicodeDecodeError:
        encoding = "gb18030"
    else:
        encoding = "utf-8"
    try:
        yield from read_located_trees(_NamedBytes(sentences, str(path)), encoding)
    except EncodingError as error:
        raise EncodingError("is neither UTF-8 nor GB18030", error.place) from None


def _sentences_alone(data: bytes, name: str) -> Iterator[bytes]:
    """Every line of a file, emptied unless it is of a tree, so that lines keep their numbers."""
    inside = not any(_SENTENCE.match(line) for line in data.split(b"\n"))
    depth = begun = 0
    for number, line in enumerate(data.removeprefix(_BOM).split(b"\n"), start=1):
        if _MARKUP.match(line):
            if depth > 0:
                tag = line.strip().decode("ascii", "replace")
                message = f"a tree is not closed before {tag} in line {number}"
                raise UnclosedBracket(message, Place(name, line=begun))
            if sentence := _SENTENCE.match(line):
                inside = not sentence[1]
            yield b""
        elif inside and (depth > 0 or line.lstrip().startswith((b"(", b")"))):
            if depth == 0:
                begun = number
            depth += line.count(b"(") - line.count(b")")
            yield line
        else:
            yield b""


TREEBANK = Treebank(
    name="ctb",
    title="Chinese Treebank 5.1 (LDC2005T01U01)",
    source="a folder with bracketed/chtb_NNN.fid somewhere in it",
    split="articles 001-270 and 440-1151, 301-325, 271-300",
    licence="LDC licence",
    counts={"train": 17_544, "dev": 352, "test": 348},
    find=_find,
    read=_read,
)
