"""GUM, the Georgetown University Multilayer corpus: `const/*.ptb`, a document a file.

Owns the reading of its split file (`splits.md`) and the matter of texts that GUM may not pass on:
in those every letter is an underscore until the user fetches the text, and they are left out.
The out-of-domain documents of GENTLE come with it as a fourth part, `test2`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from treewright.corpora.corpus import Layout, Treebank
from treewright.corpora.finding import by_key, folder, listed, matching_files, nothing_found
from treewright.errors import CorpusError, MissingPart, Place
from treewright.files import text_lines
from treewright.trees import read_trees

_FILE = re.compile(r"(\w+)\.ptb")
_SPLIT_FILES = ("splits.md", "splits.txt", "splits.json")
_PARTS = ("train", "dev", "test", "test2")
_HEADING = re.compile(rf"\s*#*\s*({'|'.join(_PARTS)})\s*:?\s*", re.IGNORECASE)
_DOCUMENT = re.compile(r"\s*[*+-]?\s*([A-Za-z]+_\w+)\s*")


def _find(source: Path) -> Layout:
    inner = folder(source) / "const"
    const = inner if inner.is_dir() else source
    found = matching_files(const, _FILE)
    if not found:
        raise nothing_found(source, "const/*.ptb")
    documents = by_key(found, lambda match: match[1])
    split = _split_file(source)
    part_of = dict(_parts_of_documents(split))
    if missing := [name for name in part_of if name not in documents]:
        raise MissingPart(f"lacks {listed(f'{n}.ptb' for n in missing)}", Place(str(const)))
    withheld = [name for name in part_of if _is_withheld(documents[name])]
    files: dict[str, list[Path]] = {
        part: [documents[n] for n in documents if part_of.get(n) == part and n not in withheld]
        for part in _PARTS
    }
    for part in _PARTS[:3]:
        if not files[part]:
            raise MissingPart(f"no document of {part} has words", Place(str(split)))
    notes = []
    if withheld:
        notes.append(f"{len(withheld)} documents left out, since their words are underscores")
    if strangers := [name for name in documents if name not in part_of]:
        notes.append(f"{split.name} does not name {listed(strangers)}: left out")
    return Layout({part: paths for part, paths in files.items() if paths}, notes=tuple(notes))


def _split_file(source: Path) -> Path:
    for where in (source, source.parent):
        for name in _SPLIT_FILES:
            if (where / name).is_file():
                return where / name
    raise MissingPart(f"no {_SPLIT_FILES[0]} here or one folder up", Place(str(source)))


def _parts_of_documents(split: Path) -> Iterator[tuple[str, str]]:
    """Each document named in the split file, with its part."""
    seen: dict[str, str] = {}
    for line, document, part in _entries(split):
        if seen.setdefault(document, part) != part:
            message = f"{document} is in {seen[document]} and in {part}"
            raise CorpusError(message, Place(str(split), line=line))
        yield document, part
    if not seen:
        raise CorpusError("names no document", Place(str(split)))


def _entries(split: Path) -> Iterator[tuple[int | None, str, str]]:
    if split.suffix == ".json":
        yield from _json_entries(split)
        return
    part = None
    for number, line in enumerate(text_lines(split), start=1):
        if heading := _HEADING.fullmatch(line):
            part = heading[1].lower()
        elif part is not None and (document := _DOCUMENT.fullmatch(line)):
            yield number, document[1], part


def _json_entries(split: Path) -> Iterator[tuple[int | None, str, str]]:
    """From `{"dev": ["GUM_bio_byron", ...], ...}`."""
    try:
        parts = json.loads("\n".join(text_lines(split)))
    except json.JSONDecodeError as error:
        raise CorpusError(error.msg, Place(str(split), error.lineno, error.colno)) from None
    lists_alone = isinstance(parts, dict) and all(isinstance(v, list) for v in parts.values())
    if not lists_alone or not set(parts) <= set(_PARTS):
        raise CorpusError(f"is no object with lists under {listed(_PARTS)}", Place(str(split)))
    for part, documents in parts.items():
        yield from ((None, str(document), part) for document in documents)


def _is_withheld(path: Path) -> bool:
    """Whether the words of a document are not there, to judge by its first tree."""
    if "_reddit_" not in path.name:
        return False
    first = next(read_trees(path), None)
    return first is not None and all(not word.strip("_") for word in first.words())


TREEBANK = Treebank(
    name="gum",
    title="GUM, the Georgetown University Multilayer corpus (github.com/amir-zeldes/gum)",
    source="the repository, or its const folder with splits.md in it or above it",
    split="by document, as splits.md says; GENTLE is test2",
    licence="annotation CC BY 4.0; texts CC BY, BY-SA, BY-NC-SA and others",
    find=_find,
)
