"""What `treewright parse` writes: sentences one after the other, in one of its formats.

Owns how sentences follow each other, and where they go: to standard output, to a file that can be
gone on with, to a folder of pictures. The forms of one sentence are `treewright.parser.formats`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol, TextIO

import click

from treewright.cli.common import coloured
from treewright.cli.folders import make_folder, output_folder
from treewright.cli.parse_input import Note
from treewright.cli.partial import Partial
from treewright.errors import EmptyInput
from treewright.files import atomic_write, name_of
from treewright.parser import Sentence
from treewright.parser.formats import brackets, conll, to_dict, with_confidences
from treewright.trees.drawing import pretty, svg

Format = Literal["brackets", "json", "pretty", "svg", "conll"]

#: One sentence as text, line ends included.
Write = Callable[[Sentence, Note], str]


def as_brackets(k: int, escape: bool) -> Write:
    """A tree a line; of several trees of a sentence, an empty line after the last."""

    def write(sentence: Sentence, note: Note) -> str:
        lines = [brackets(tree, escape=escape) + "\n" for tree in sentence.trees]
        return "".join(lines) + ("\n" if k > 1 else "")

    return write


def as_json(sentence: Sentence, note: Note) -> str:
    """One object a line."""
    return json.dumps({"file": note.file, **to_dict(sentence)}, ensure_ascii=False) + "\n"


def as_conll(sentence: Sentence, note: Note) -> str:
    """A line a word, an empty line after the sentence."""
    return conll(sentence) + "\n\n"


def as_drawing(color: bool, confidence: bool) -> Write:
    """Trees drawn, an empty line between two, and what they break of the grammar below them."""
    paint = coloured if color else None

    def dim(text: str) -> str:
        return click.style(text, dim=True) if color else text

    def write(sentence: Sentence, note: Note) -> str:
        parts = []
        for number, (tree, score) in enumerate(zip(sentence.trees, sentence.scores, strict=True)):
            heading = dim(f"── {number + 1}: score {score:.2f}") + "\n"
            shown = with_confidences(sentence) if confidence and not number else tree
            lines = heading if len(sentence.trees) > 1 else ""
            lines += pretty(shown, paint=paint) + "\n"
            if not number:
                broken = [f"not in the grammar: {one}" for one in sentence.violations]
                lines += "".join([dim(line) + "\n" for line in broken])
            parts.append(lines)
        return ("\n" if note.done > 1 else "") + "\n".join(parts)

    return write


class Output(Protocol):
    """Where sentences go, a batch at a time."""

    def write(self, text: str) -> None:
        """Add whole records."""
        ...

    def commit(self, done: int, digest: str) -> None:
        """A batch has been written, with which so many records had been read."""
        ...


class _Stream:
    """What is written to and forgotten: standard output, a pipe, a device."""

    def __init__(self, handle: TextIO) -> None:
        self._handle = handle

    def write(self, text: str) -> None:
        self._handle.write(text)

    def commit(self, done: int, digest: str) -> None:
        self._handle.flush()


@contextmanager
def opened(out: str, partial: Partial | None) -> Iterator[Output]:
    """Standard output for `-`, a file that can be gone on with, or else what there is."""
    if partial is not None:
        with partial:
            yield partial
    else:
        with atomic_write(out) as handle:
            yield _Stream(handle)


def can_be_resumed(out: str) -> bool:
    """Whether a file of that name is an ordinary one, or would be."""
    path = Path(out)
    return out not in ("", "-") and (path.is_file() or not path.exists())


def write_pictures(sentences: Iterable[tuple[Sentence, Note]], out: str, confidence: bool) -> None:
    """SVG: the only sentence to standard output or to `OUT.svg`, or else a file each in OUT."""
    if out != "-" and not out.endswith(".svg"):
        _write_folder(sentences, output_folder(out), confidence)
        return
    found = iter(sentences)
    first = next(found, None)
    if first is None:
        raise EmptyInput("there is no sentence to draw")
    if next(found, None) is not None:
        message = "a picture holds one sentence, and there are more"
        raise click.UsageError(f"{message}: give a folder with --out")
    with atomic_write(out) as handle:
        handle.write(_picture(first[0], confidence))


def _write_folder(
    sentences: Iterable[tuple[Sentence, Note]], folder: Path, confidence: bool
) -> None:
    make_folder(folder)
    numbers: Counter[str] = Counter()
    for sentence, note in sentences:
        stem = Path(name_of(note.file)).stem.replace(" ", "-")
        numbers[stem] += 1
        with atomic_write(folder / f"{stem}-{numbers[stem]:04}.svg") as handle:
            handle.write(_picture(sentence, confidence))


def _picture(sentence: Sentence, confidence: bool) -> str:
    return svg(with_confidences(sentence) if confidence else sentence.tree)
