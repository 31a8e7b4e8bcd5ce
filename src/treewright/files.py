"""Reading text and writing results without accidents.

Owns decoding with a helpful error, standard input as `-`, and writing beside and renaming.
Knows nothing of trees.
"""

from __future__ import annotations

import codecs
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from treewright.errors import (
    BinaryInput,
    EncodingError,
    InputError,
    NotAFile,
    NotFound,
    OutputError,
    Place,
)

# Small enough that a piece of a treebank and its tokens stay in a core's own cache: reading trees
# is a quarter faster than with pieces of 64 KiB.
CHUNK_BYTES = 1 << 13

# Encodings that treebanks come in, most likely first; offered when UTF-8 fails.
_OTHER_ENCODINGS = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252", "latin-1")

# What an older directory is called while a newer one takes its place
_OLD = "old"
# Of Linux's renameat2: names are relative to where we are; swap them
_HERE, _EXCHANGE = -100, 2


@contextmanager
def open_bytes(source: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file, or standard input for `-`, for reading bytes."""
    if os.fspath(source) == "-":
        if sys.stdin is None:
            raise NotFound("is closed", Place("standard input"))
        yield sys.stdin.buffer
        return
    if not os.fspath(source):
        raise NotFound("a file to read needs a name")
    try:
        handle = open(source, "rb")  # noqa: SIM115 - closed below, apart from these errors
    except FileNotFoundError:
        raise NotFound("no such file", Place(os.fspath(source))) from None
    except IsADirectoryError:
        raise NotAFile("is a directory, not a file", Place(os.fspath(source))) from None
    except OSError as error:
        raise InputError(error.strerror or str(error), Place(os.fspath(source))) from None
    with handle:
        yield handle


def name_of(source: str | os.PathLike[str]) -> str:
    """The name of a source as messages show it."""
    name = os.fspath(source)
    return "standard input" if name == "-" else name


def text_chunks(
    handle: BinaryIO, name: str | None = None, encoding: str = "utf-8", *, nul: bool = False
) -> Iterator[str]:
    """Decode a stream piece by piece; a byte-order mark is dropped, line ends stay as they are.

    Where bytes are no text, what stands before them is given out first. NUL, by which a binary file
    gives itself away, is refused, unless with `nul` it may be text.
    """
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
        raise EncodingError(f"no encoding is called {encoding!r}", Place(name)) from None
    decoder = codec.incrementaldecoder()
    holds_nul = codec.name.startswith(("utf-16", "utf-32"))
    line = column = 1  # of the text to come
    first = True
    while True:
        data = handle.read(CHUNK_BYTES)
        if not holds_nul:
            _refuse_binary(data, name, line, first=first, nul=nul)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            if sound := error.object[: error.start].decode(encoding):
                yield sound.removeprefix("\ufeff") if first else sound
            raise _encoding_error(error, name, line, column) from None
        if first and text:
            text = text.removeprefix("\ufeff")
        first = False
        if text:
            yield text
        if not data:
            return
        line, column = _advance(text, line, column)


def text_lines(source: str | os.PathLike[str], encoding: str = "utf-8") -> Iterator[str]:
    r"""The lines of a file without their ends (`\n`, `\r\n`)."""
    with open_bytes(source) as handle:
        yield from lines_of(text_chunks(handle, name_of(source), encoding))


def lines_of(chunks: Iterable[str]) -> Iterator[str]:
    r"""The lines of a text in pieces, without their ends (`\n`, `\r\n`)."""
    begun: list[str] = []  # the pieces of the line that has no end yet
    for chunk in chunks:
        head, *lines = chunk.split("\n")
        begun.append(head)
        for line in lines:
            yield "".join(begun).removesuffix("\r")
            begun = [line]
    if last := "".join(begun):
        yield last.removesuffix("\r")


def _advance(text: str, line: int, column: int) -> tuple[int, int]:
    """Where a text ends that begins at this line and column."""
    line_end = text.rfind("\n")
    return line + text.count("\n"), len(text) - line_end + (column - 1 if line_end < 0 else 0)


def _refuse_binary(
    data: bytes, name: str | None, line: int, *, first: bool, nul: bool = False
) -> None:
    at = -1 if nul else data.find(b"\0")
    marks = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
    wide = first and (data.startswith(marks) or _alternates(data[:64]))
    if wide:
        kind = "UTF-32" if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff") else "UTF-16"
        message = f"is not UTF-8; it looks like {kind}: convert it first"
        raise EncodingError(message, Place(name, line=line))
    if at >= 0:
        line += data.count(b"\n", 0, at)
        raise BinaryInput("holds a NUL byte: a binary file, not text", Place(name, line=line))


def _alternates(data: bytes) -> bool:
    """Whether every other byte is NUL, as in UTF-16 text of ASCII characters."""
    return len(data) >= 4 and any(
        not any(data[odd::2]) and all(data[1 - odd :: 2]) for odd in (0, 1)
    )


def _encoding_error(
    error: UnicodeDecodeError, name: str | None, line: int, column: int
) -> EncodingError:
    """The error with its place, in characters, given where the bytes in hand begin."""
    data = error.object
    before = data[: error.start].decode(error.encoding, "replace")
    line, column = _advance(before, line, column)
    begin = data.rfind(b"\n", 0, error.start) + 1
    end = data.find(b"\n", error.start)
    sample = data[begin : end if end >= 0 else len(data)]
    able = [other for other in _OTHER_ENCODINGS if _decodes(sample, other)]
    advice = f"; this line would read as {', '.join(able)}" if able else ""
    shown = data[error.start : error.end].hex(" ")
    message = f"byte {shown} is not {error.encoding.upper()}{advice}"
    return EncodingError(message, Place(name, line=line, column=column))


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def atomic_write(target: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Write UTF-8 text beside `target` and rename it into place when the block ends well.

    With `-` the text goes to standard output. If the block raises, nothing is left behind and an
    older file stays as it was. A link leads to the file that it names; what is no ordinary file (a
    device, a pipe) is written to as it is, for it must not be replaced by one.
    """
    name = os.fspath(target)
    if name == "-":
        yield sys.stdout
        return
    if not name:
        raise OutputError("a file to write needs a name")
    path = Path(name)
    try:
        if path.is_dir():
            raise OutputError("is a directory, not a file", Place(name))
        if path.exists() and not os.access(path, os.W_OK):
            raise OutputError("may not be written", Place(name))
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", newline="\n") as handle:
                yield handle
        else:
            with _beside(path.resolve()) as handle:
                yield handle
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error), Place(name)) from None


@contextmanager
def _beside(path: Path) -> Iterator[TextIO]:
    """A new file beside `path`, which takes its place if the block ends well."""
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as handle:
            yield handle
        Path(beside).chmod(_mode_for(path))
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _mode_for(path: Path) -> int:
    """The mode an ordinary `open` would have left: an older file's, or what the umask allows."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


@contextmanager
def atomic_directory(target: str | os.PathLike[str], files: Collection[str] = ()) -> Iterator[Path]:
    """A new directory beside `target`, which takes its place if the block ends well.

    What an older one holds beside `files`, which are the block's to write, is kept.
    """
    directory = Path(target)
    place = Place(os.fspath(target))
    if directory.exists() and not directory.is_dir():
        raise OutputError("is a file, not a directory", place)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    except OSError as error:
        raise OutputError(error.strerror or str(error), place) from None
    try:
        yield new
        _replace(directory, new, files)
    except OSError as error:
        raise OutputError(error.strerror or str(error), place) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _replace(directory: Path, new: Path, files: Collection[str]) -> None:
    """Put a finished directory in the place of an older one, whose other files move into it."""
    umask = os.umask(0)
    os.umask(umask)
    new.chmod(0o777 & ~umask)
    if not directory.exists():
        new.rename(directory)
        return
    for entry in directory.iterdir():
        if entry.name not in files:
            target = new / entry.name
            if entry.is_dir():
                shutil.copytree(entry, target, symlinks=True)
            else:
                shutil.copy2(entry, target, follow_symlinks=False)
    if _exchange(directory, new):
        return  # the older one has the name of `new` now, and goes with it
    old = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    directory.rename(old / _OLD)
    try:
        new.rename(directory)
    finally:
        _restore(directory, old)


def _restore(directory: Path, old: Path) -> None:
    """Tidy up after a change of places, or undo it where there is nothing in the place."""
    if not directory.exists():
        (old / _OLD).rename(directory)
    shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories at once, so that at no moment one is missing; whether that worked.

    Linux can, on most file systems, and Python does not offer it.
    """
    if sys.platform != "linux":
        return False
    import ctypes  # which few need

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    failed: int = rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return not failed


def recover_directory(target: str | os.PathLike[str]) -> None:
    """Put a directory back that was lost between two renames, where they could not be one.

    That is what a kill leaves of `atomic_directory` at the worst moment.
    """
    directory = Path(target)
    if directory.exists() or not directory.parent.is_dir():
        return
    for lost in directory.parent.glob(f".{glob.escape(directory.name)}.*/{_OLD}"):
        _restore(directory, lost.parent)
