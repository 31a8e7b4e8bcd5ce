r"""What `treewright parse` reads: raw text, raw sentences, or words, with tags or without.

Owns the notations, which docs/parsing.md describes, and the account of what has been read, by which
a later run finds the place to go on. A *record* is what becomes one sentence.

    text        a file is one text
    sentences   a raw sentence a line
    words       a sentence a line, words parted by spaces: `The dog barks`
    slash       the same with tags: `The/DT dog/NN barks/VBZ`
    columns     a word and its tag a line, parted by a tab; sentences parted by blank lines
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from treewright.errors import InputError, NotFound, Place, ResumeError
from treewright.files import lines_of, name_of, open_bytes, text_chunks
from treewright.parser import Input
from treewright.text.sentences import iter_sentences

Form = Literal["text", "sentences", "words", "slash", "columns"]

# What parts words is what parts them in bracketed trees: a no-break space may stand in a word.
_SPACE = " \t\r\f\v"
_TOKEN = re.compile(rf"[^{_SPACE}]+")
# What `word/TAG` looks like where nobody has said whether there are tags: a tag has no small
# letters and no digit in front, so that `and/or` and `1/2` are words.
_TAGGED = re.compile(r".+/[^/\da-z][^/a-z]*", re.DOTALL)


class Note(NamedTuple):
    """What goes along with a sentence from where it is read to where it is written."""

    file: str
    blanks: int  # blank lines before it, to be kept
    done: int  # records that had been read with it
    digest: str  # of all of them


class _Record(NamedTuple):
    text: str  # empty: a blank line
    line: int | None = None
    start: int = 0


class Reader:
    """The sentences of files, in order, each with a `Note`.

    `sizes` are those of the files (see `sizes_of`). `form` is None for words whose first line is to
    say whether they have tags. `input_of` finds the words of raw sentences.
    """

    def __init__(
        self,
        files: Sequence[str],
        sizes: Sequence[int | None],
        form: Form | None,
        input_of: Callable[[str, int], Input],
    ) -> None:
        self.blanks = 0  # blank lines since the last sentence
        self._files = files
        self._sizes = sizes
        self._form = form
        self._input_of = input_of
        self._skip = 0
        self._digest = ""
        self._done = 0
        self._hash = blake2b(digest_size=16)
        self._read = 0  # bytes of the files that are done with
        self._open: BinaryIO | None = None

    def pass_over(self, records: int, digest: str) -> None:
        """Leave out so many records, which have been parsed before and must have this digest."""
        self._skip, self._digest = records, digest

    def share(self) -> float | None:
        """How much of the input has been read, from 0 to 1, if that can be known."""
        total = 0
        for size in self._sizes:
            if size is None:
                return None
            total += size
        now = self._open.tell() if self._open is not None and not self._open.closed else 0
        return min(1.0, (self._read + now) / total) if total else None

    def __iter__(self) -> Iterator[Input]:
        for file, size in zip(self._files, self._sizes, strict=True):
            self._hash.update(b"\0file\0")
            with open_bytes(file) as handle:
                self._open = handle
                yield from self._inputs(handle, file)
                self._open = None
            self._read += size or 0
        if self._done < self._skip:
            message = f"ends after {self._done:,} sentences, and {self._skip:,} were parsed before"
            raise ResumeError(message, Place(name_of(self._files[-1])))

    def _inputs(self, handle: BinaryIO, file: str) -> Iterator[Input]:
        name = name_of(file)
        form, records = self._records(text_chunks(handle, name, nul=True), name)
        for record in records:
            self._hash.update(record.text.encode("utf-8", "surrogatepass") + b"\n")
            if not record.text:
                self.blanks += 1
                continue
            self._done += 1
            if self._done <= self._skip:
                self._check_skipped(name)
                continue
            given = self._worded(record, form, Place(name, line=record.line))
            if not given.words:
                self.blanks += form != "text"  # a text has no lines that count
                continue
            note = Note(file, self.blanks, self._done, self._hash.hexdigest())
            self.blanks = 0
            yield given._replace(note=note)

    def _check_skipped(self, name: str) -> None:
        self.blanks = 0
        if self._done == self._skip and self._hash.hexdigest() != self._digest:
            raise ResumeError("is not what was parsed before", Place(name))

    def _records(self, chunks: Iterator[str], name: str) -> tuple[Form, Iterator[_Record]]:
        """The form of a file and its records."""
        if self._form == "text":
            raws = iter_sentences(chunks)
            return "text", (_Record(raw.text, None, raw.start) for raw in raws)
        lines = enumerate(lines_of(chunks), 1)
        blanks = 0
        first: list[tuple[int, str]] = []
        for number, line in lines:
            if line.strip(_SPACE):
                first = [(number, line)]
                break
            blanks += 1
        form = self._form or (_form_of(first[0][1]) if first else "words")
        lines_again = chain(first, lines)
        if form == "columns":
            return form, _blocks(lines_again)
        before = (_Record("") for _ in range(blanks))
        return form, chain(before, (_line(line, number) for number, line in lines_again))

    def _worded(self, record: _Record, form: Form, place: Place) -> Input:
        if form in ("text", "sentences"):
            return self._input_of(record.text, record.start)._replace(place=place)
        if form == "words":
            return Input(_TOKEN.findall(record.text), place=place)
        if form == "slash":
            pairs = [_slashed(token, place) for token in _TOKEN.findall(record.text)]
        else:
            pairs = [
                _row(row, Place(place.file, line=(place.line or 0) + at))
                for at, row in enumerate(record.text.split("\n"))
            ]
        return Input([word for word, _ in pairs], [tag for _, tag in pairs], place=place)


def sizes_of(files: Iterable[str]) -> list[int | None]:
    """The bytes of ordinary files; one that is not there is an error, before any work begins."""
    return [_size(file) for file in files]


def _size(file: str) -> int | None:
    if file == "-":
        return None
    path = Path(file)
    if not path.exists():
        hint = "; to parse a text, pipe it in: echo TEXT | treewright parse" if " " in file else ""
        raise NotFound(f"no such file{hint}", Place(file))
    return path.stat().st_size if path.is_file() else None


def _form_of(line: str) -> Form:
    """What the first line of a file of words says about all of them."""
    if line.count("\t") == 1 and all(field.strip(_SPACE) for field in line.split("\t")):
        return "columns"
    tokens = _TOKEN.findall(line)
    return "slash" if all(_TAGGED.fullmatch(token) for token in tokens) else "words"


def _line(line: str, number: int) -> _Record:
    text = line.lstrip(_SPACE)
    return _Record(text.rstrip(_SPACE), number, len(line) - len(text))


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[_Record]:
    """Lines between blank lines, together."""
    block: list[str] = []
    first = 0
    for number, line in lines:
        if line.strip(_SPACE):
            first = first if block else number
            block.append(line)
        elif block:
            yield _Record("\n".join(block), first)
            block = []
    if block:
        yield _Record("\n".join(block), first)


def _slashed(token: str, place: Place) -> tuple[str, str]:
    word, _, tag = token.rpartition("/")
    if not word or not tag:
        message = f"{token!r} is not word/TAG, as other words here are"
        raise InputError(f"{message}; --tags none takes all as words alone", place)
    return word, tag


def _row(row: str, place: Place) -> tuple[str, str]:
    fields = row.split("\t")
    if len(fields) != 2 or not all(fields):
        message = f"{row!r} is not a word and a tag parted by a tab"
        raise InputError(f"{message}; --tags none takes lines as sentences of words", place)
    return fields[0], fields[1].strip(_SPACE)
