"""`treewright corpus` as a user runs it: what it writes, what it refuses, what it leaves alone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from treewright.cli import main
from treewright.corpora import TREEBANKS

TREE = "( (S (NP-SBJ (NN {}))\n     (VP (VBZ runs) (NP (-NONE- *)))) )\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for part in ("train", "dev", "test"):
        (folder / f"{part}.mrg").write_text(TREE.format(part))
    return folder


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    path = tmp_path / "law.cleaned.txt"
    path.write_text(TREE.format("x"))
    return path


def test_writes_every_part(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "out"
    assert main(["corpus", "brackets", str(source), str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["dev.mrg", "test.mrg", "train.mrg"]
    assert (out / "dev.mrg").read_text() == "(TOP (S (NP (NN dev)) (VP (VBZ runs))))\n"
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        f"train       1 trees  {out}/train.mrg",
        f"dev         1 trees  {out}/dev.mrg",
        f"test        1 trees  {out}/test.mrg",
    ]
    assert captured.err == ""


def test_written_files_have_ordinary_modes(source: Path, tmp_path: Path) -> None:
    (ordinary := tmp_path / "ordinary").write_text("")
    assert main(["corpus", "brackets", str(source), str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "dev.mrg").stat().st_mode == ordinary.stat().st_mode


def test_verbatim(source: Path, tmp_path: Path) -> None:
    assert main(["corpus", "brackets", str(source), str(tmp_path), "--verbatim"]) == 0
    expected = "( (S (NP-SBJ (NN dev)) (VP (VBZ runs) (NP (-NONE- *)))))\n"
    assert (tmp_path / "dev.mrg").read_text() == expected


def test_other_counts_are_a_warning_or_an_error(
    domain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["corpus", "mctb", str(domain), str(out), "--strict"]) == 2
    message = "test has 1 trees where 1,000 are standard for mctb"
    assert capsys.readouterr().err == f"treewright: {domain}: {message}\n"
    assert not out.exists()
    assert main(["corpus", "mctb", str(domain), str(out)]) == 0
    assert capsys.readouterr().err == f"treewright: warning: {message}\n"
    assert (out / "test.mrg").exists()


def test_refuses_to_replace_unless_forced(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("dev.mrg", "notes.txt"):
        (out / name).write_text("mine")
    assert main(["corpus", "brackets", str(source), str(out)]) == 2
    assert capsys.readouterr().err == f"treewright: {out}/dev.mrg: exists; --force replaces it\n"
    assert sorted(path.name for path in out.iterdir()) == ["dev.mrg", "notes.txt"]
    assert main(["corpus", "brackets", str(source), str(out), "--force"]) == 0
    assert (out / "dev.mrg").read_text().startswith("(TOP")
    assert (out / "notes.txt").read_text() == "mine"


def test_an_error_in_the_last_part_leaves_everything_as_it_was(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (source / "test.mrg").write_text(TREE.format("x") + "(S (NN a)")
    out = tmp_path / "new" / "out"
    assert main(["corpus", "brackets", str(source), str(out)]) == 2
    (message,) = capsys.readouterr().err.splitlines()
    assert message.startswith(f"treewright: {source}/test.mrg:3")
    assert message.endswith("'(S' is never closed")
    assert not out.parent.exists()
    out.mkdir(parents=True)
    (out / "train.mrg").write_text("old")
    assert main(["corpus", "brackets", str(source), str(out), "--force"]) == 2
    assert [path.name for path in out.iterdir()] == ["train.mrg"]
    assert (out / "train.mrg").read_text() == "old"


def test_an_interruption_leaves_nothing_behind(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(trees: Iterable[object], what: str) -> Iterator[object]:
        yield next(iter(trees))
        raise KeyboardInterrupt

    monkeypatch.setattr("treewright.cli.corpus.track", interrupted)
    assert main(["corpus", "brackets", str(source), str(tmp_path / "new" / "out")]) == 130
    assert not (tmp_path / "new").exists()


def test_places_that_cannot_be_written(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        assert main(["corpus", "brackets", str(source), str(out)]) == 2
        assert capsys.readouterr().err == f"treewright: {tmp_path}/file: is no folder\n"
    (tmp_path / "out" / "dev.mrg").mkdir(parents=True)
    assert main(["corpus", "brackets", str(source), str(tmp_path / "out"), "--force"]) == 2
    assert "dev.mrg: is a folder where a file should go" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pbt", "x", "y"], "'pbt' is not one of"),
        (["ptb", "nowhere", "y"], "treewright: nowhere: no such folder\n"),
        (["mctb", "nowhere", "y"], "treewright: nowhere: no such file or folder\n"),
        (["sinica", "nowhere", "y"], "treewright: nowhere: no such file or folder\n"),
        (["brackets", "nowhere", "y"], "treewright: nowhere: no such file or folder\n"),
        (["brackets", "n" * 300, "y"], "nnn: File name too long\n"),
        (["brackets", "DOMAIN", "n" * 300], "nnn: File name too long\n"),
        (["brackets", "", "y"], "treewright: a treebank to read needs a folder or a file"),
        (["brackets", ".", ""], "treewright: a folder to write to needs a name\n"),
        (["ptb", "."], "Missing argument 'OUT'"),
    ],
)
def test_bad_arguments(
    arguments: list[str], message: str, domain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"DOMAIN": str(domain)}
    assert main(["corpus", *(places.get(argument, argument) for argument in arguments)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "standard output" not in error


def test_help_names_every_treebank(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("Usage: treewright corpus [OPTIONS] NAME SOURCE OUT ")
    assert f"NAME is {', '.join(list(TREEBANKS)[:-1])}, or {[*TREEBANKS][-1]} " in out


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", "--list"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == list(TREEBANKS)
    assert "trees: train 39,832, dev 1,700, test 2,416" in out


def test_notes_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    const = tmp_path / "const"
    const.mkdir()
    names = {"train": "GUM_a_a", "dev": "GUM_a_b", "test": "GUM_a_c"}
    for name in (*names.values(), "GUM_a_d"):
        (const / f"{name}.ptb").write_text(TREE.format(name))
    lines = [f"## {part}\n  * {name}\n" for part, name in names.items()]
    (tmp_path / "splits.md").write_text("".join(lines))
    assert main(["corpus", "gum", str(tmp_path), str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == (
        "treewright: note: splits.md does not name GUM_a_d: left out\n"
    )


def test_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, code in ((TREE.format("x"), 0), ("", 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert main(["corpus", "brackets", "-", str(tmp_path / "out"), "--force"]) == code
    assert capsys.readouterr().err == "treewright: standard input: holds no tree for train\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["train.mrg"]


def test_needs_no_numpy(source: Path, tmp_path: Path) -> None:
    script = (
        "import sys\nfrom treewright.cli import main\n"
        "code = main(sys.argv[1:])\nassert 'numpy' not in sys.modules\nsys.exit(code)"
    )
    arguments = ["corpus", "brackets", str(source), str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
