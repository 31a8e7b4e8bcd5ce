"""The front door: what all commands do when streams fail or signals come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treewright.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="wants a shell and POSIX signals")

TREEWRIGHT = [sys.executable, "-m", "treewright"]


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "a.mrg"
    path.write_text("(S (NP (NN \u4e2d)) (VP (VB b)))\n" * 20_000, encoding="utf-8")
    return path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("arguments", [["--help"], ["trees", "convert", "FILE"]])
def test_a_full_disk_is_one_line(arguments: list[str], trees: Path) -> None:
    filled = [str(trees) if argument == "FILE" else argument for argument in arguments]
    with open("/dev/full", "w") as full:
        run = subprocess.run([*TREEWRIGHT, *filled], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "No space left" in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [["info", "LONG"], ["parse", "-m", "LONG", os.devnull], ["parse", os.devnull, "--out", "LONG"]],
)
def test_a_path_that_the_system_refuses_is_named(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    long = "n" * 300
    assert main([long if argument == "LONG" else argument for argument in arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"treewright: {long}")
    assert said.endswith(": File name too long\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("closing", ["<&-", ">&-"])
def test_a_closed_stream_is_one_line(closing: str) -> None:
    command = f"'{sys.executable}' -m treewright trees show - {closing}"
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, input="")
    assert run.returncode == 2
    assert "is closed" in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_reader_that_leaves_early_ends_it_silently(trees: Path) -> None:
    command = f"'{sys.executable}' -m treewright trees convert '{trees}'; echo $? >&2"
    run = subprocess.run(
        ["sh", "-c", f"({command}) | head -n 1"], capture_output=True, encoding="utf-8"
    )
    assert run.stdout.count("\n") == 1
    assert run.stderr == "141\n"


def test_the_locale_does_not_matter(trees: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    run = subprocess.run(
        [*TREEWRIGHT, "trees", "convert", str(trees)], env=environment, capture_output=True
    )
    assert run.stdout == trees.read_bytes()


def test_a_message_is_never_longer_than_people_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "base64.txt"
    path.write_text("x" * 1_000_000)
    assert main(["trees", "stats", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"{path}:1:1: 'xxx" in said
    assert said.endswith("stands outside every tree\n")
    assert len(said) < 1100


@pytest.mark.usefixtures("ctrl_c_works")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_nothing_behind(
    number: signal.Signals, code: int, trees: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.mrg"
    run = subprocess.Popen(
        [*TREEWRIGHT, "trees", "convert", "-", "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run.stdin is not None
    run.stdin.write(trees.read_bytes())
    run.stdin.flush()
    while run.poll() is None and not list(tmp_path.glob(".out.mrg.*")):
        time.sleep(0.01)
    run.send_signal(number)
    run.communicate()
    assert run.returncode == code
    assert list(tmp_path.iterdir()) == [trees]
