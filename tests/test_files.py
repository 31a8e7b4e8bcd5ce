"""Reading and writing files without accidents."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from treewright import files
from treewright.errors import BinaryInput, EncodingError, NotFound, OutputError, Place
from treewright.files import (
    CHUNK_BYTES,
    atomic_directory,
    atomic_write,
    open_bytes,
    recover_directory,
    text_chunks,
    text_lines,
)

posix = pytest.mark.skipif(os.name != "posix", reason="wants a POSIX file system")


@posix
def test_a_file_is_replaced_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_write(path) as handle:
        handle.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as handle:
        handle.write(f"new {1 / 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with atomic_write(link) as handle:
        handle.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@posix
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(pipe) as handle:
        handle.write("new")
    assert os.read(reading, 10) == b"new"
    os.close(reading)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="no /dev/stdout on this system")
def test_standard_output_by_its_name_as_a_file(tmp_path: Path) -> None:
    code = "with atomic_write('/dev/stdout') as handle: handle.write('x')"
    command = [sys.executable, "-c", f"from treewright.files import atomic_write\n{code}"]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"x"


@pytest.mark.parametrize("swap", [True, False], ids=["at once", "in two steps"])
def test_a_directory_takes_the_place_of_another(
    swap: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not the block's to write is kept, and nothing is left beside."""
    if not swap:
        monkeypatch.setattr(files, "_exchange", lambda *_: False)
    target = tmp_path / "model"
    target.mkdir()
    (target / "weights").write_text("old")
    (target / "notes").write_text("mine")
    with atomic_directory(target, ["weights", "gone"]) as new:
        (new / "weights").write_text("new")
        assert (target / "weights").read_text() == "old"
    assert {path.name: path.read_text() for path in target.iterdir()} == {
        "weights": "new",
        "notes": "mine",
    }
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone can swap two directories")
def test_directories_are_swapped_at_once(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    if not files._exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this file system cannot")
    assert (tmp_path / "one" / "other").exists()
    assert not files._exchange(tmp_path / "one", tmp_path / "none")


def test_a_directory_that_was_lost_between_two_renames_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Stands for a kill: nothing is tidied up after it."""

    target = tmp_path / "mo[d]el"
    target.mkdir()
    (target / "weights").write_text("old")
    rename = Path.rename

    def once(path: Path, to: Path) -> Path:
        if path == target or to != target:
            return rename(path, to)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(files, "_exchange", lambda *_: False)
        patched.setattr(files, "_restore", lambda *_: None)
        patched.setattr(Path, "rename", once)
        with pytest.raises(Killed), atomic_directory(target):
            pass
    assert not target.exists()
    recover_directory(target)
    assert (target / "weights").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    recover_directory(target)
    recover_directory(tmp_path / "none" / "none")


@posix
def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "no" / "file", ""):
        with pytest.raises(OutputError), atomic_write(target):
            pass
    with pytest.raises(NotFound, match="needs a name"), open_bytes(""):
        pass


def test_a_place_counts_characters_over_many_pieces(tmp_path: Path) -> None:
    path = tmp_path / "late.txt"
    path.write_bytes("é\n".encode() * 5 + "é".encode() * CHUNK_BYTES + b"\xff\n")
    with pytest.raises(EncodingError, match="byte ff is not UTF-8") as raised:
        list(text_lines(path))
    assert raised.value.place == Place(str(path), line=6, column=CHUNK_BYTES + 1)


def test_what_stands_before_bad_bytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    for start in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(start + "é\nb\n".encode() + b"\xe9\n")
        lines = text_lines(path)
        assert [next(lines), next(lines)] == ["é", "b"]
        with pytest.raises(EncodingError, match=r"bad\.txt:3:1"):
            next(lines)


def test_nul_is_text_where_a_caller_says_so() -> None:
    chunks = text_chunks(io.BytesIO(b"a\0b"), "x", nul=True)
    assert list(chunks) == ["a\0b"]
    with pytest.raises(BinaryInput):
        list(text_chunks(io.BytesIO(b"a\0b"), "x"))
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        name = encoding[:6].upper()
        with pytest.raises(EncodingError, match=f"looks like {name}"):
            list(text_chunks(io.BytesIO("a text".encode(encoding)), "x", nul=True))


def test_lines_are_whole_however_long(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    lines = ["", "a", "b" * 3 * CHUNK_BYTES, "", "c"]
    for end in ("\n", "\r\n"):
        path.write_bytes(end.join(lines).encode())
        assert list(text_lines(path)) == lines
        path.write_bytes(end.join([*lines, ""]).encode())
        assert list(text_lines(path)) == lines
