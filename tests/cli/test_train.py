"""`treewright train` as people run it: what it says, what it refuses, and a disk that is full."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from training.made import QUICK, figures, made_trees, metrics, same_weights, write
from treewright.cli import main
from treewright.model import checkpoint

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A run of a second in a folder of its own."""
    options = {
        "--preset": "tiny",
        "--train": write(tmp_path / "train.mrg", made_trees(30)),
        "--dev": write(tmp_path / "dev.mrg", made_trees(8, seed=1)),
        "--out": str(tmp_path / "model"),
    }
    words = [word for option in options.items() for word in option]
    return ["train", *words, *(word for one in QUICK for word in ("--set", one))]


def complaint(arguments: list[str], capsys: Capture) -> str:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


def test_a_run(arguments: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main([*arguments, "--set", "epochs=2"]) == 0
    captured = capsys.readouterr()
    last = json.loads((tmp_path / "model" / "run" / "result.json").read_text())
    assert captured.out.splitlines() == [
        f"best after epoch {last['best']['epoch']:g}: "
        f"dev F1 {last['dev']['hard']['f1']:.2f} with hard rules, "
        f"{last['dev']['soft']['f1']:.2f} with soft ones (penalty {last['penalty']:g}), "
        f"{last['dev']['off']['f1']:.2f} without; tags {last['dev']['tagging']:.2f}",
        str(tmp_path / "model"),
    ]
    lines = captured.err.splitlines()
    assert lines[0].startswith("30 trees to learn from, 8 of dev, 6 labels")
    assert [line.split(":")[0] for line in lines[1:]] == ["epoch 1.00", "epoch 2.00"]
    assert "is a run" not in captured.err
    assert "'out' holds a run: go on with --resume" in complaint(arguments, capsys)
    assert main([*arguments, "--set", "epochs=3", "--resume"]) == 0
    assert [line["step"] for line in metrics(tmp_path / "model")] == [3, 6, 9]


def test_show_prints_a_config_and_trains_nothing(
    arguments: list[str], tmp_path: Path, capsys: Capture
) -> None:
    assert main([*arguments, "--show"]) == 0
    shown = capsys.readouterr().out
    assert not (tmp_path / "model").exists()
    (tmp_path / "config.toml").write_text(shown)
    assert main(["train", str(tmp_path / "config.toml"), "--show"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "lamda=1"], "did you mean 'lambda'"),
        (["--set", "model.dropout=2"], "dropout is 2.0; it is from 0 to below 1"),
        (["--train", "nowhere.mrg"], "nowhere.mrg: no such file"),
        (["--dev", "."], ".: is a directory, not a file"),
        (["--out", "."], "'out' holds the directory you are in"),
        (["--from", "nowhere"], "nowhere: no such directory"),
        (["--from", "n" * 300], "n: File name too long"),
        (["--out", "n" * 300], "n: File name too long"),
        (["--out", "../train.mrg/x"], "treewright: ../train.mrg/x: Not a directory\n"),
        (["--out", "/proc/none/x"], "treewright: /proc/none/x: No such file or directory\n"),
        (
            ["--set", "model.character_size=65536", "--set", "model.character_width=65535"],
            "there is not memory enough for a network of the sizes in 'model'",
        ),
        (["--resume"], "there is no run to go on with"),
        (["--encoder", "/no/such/encoder"], "/no/such/encoder: no encoder can be loaded"),
    ],
)
def test_what_is_refused(
    more: list[str],
    message: str,
    arguments: list[str],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    if "--encoder" in more:
        arguments = [a for a in arguments if a != "model.encoder=characters"]
        arguments = [a for at, a in enumerate(arguments) if arguments[at : at + 2] != ["--set"] * 2]
    assert message in complaint([*arguments, *more], capsys)
    assert not (tmp_path / "model").exists()
    assert not list(work.iterdir())


def test_from_shows_the_network_of_the_model(
    arguments: list[str], tmp_path: Path, capsys: Capture
) -> None:
    """Whatever a preset says; and what is shown can be trained with."""
    assert main(arguments) == 0
    capsys.readouterr()
    named = arguments[: arguments.index("--set")]
    new = [*named[:-1], str(tmp_path / "new"), "--from", str(tmp_path / "model")]
    assert main([*new, "--set", "epochs=1", "--show"]) == 0
    shown = capsys.readouterr().out
    assert shown.partition("[model]\n")[2] == (tmp_path / "model" / "model.toml").read_text()
    (tmp_path / "shown.toml").write_text(shown)
    assert main(["train", str(tmp_path / "shown.toml"), *new[-2:]]) == 0


def test_trees_from_a_pipe(arguments: list[str], tmp_path: Path) -> None:
    """They come once, as from `--train <(cat train.mrg)`."""
    data = (tmp_path / "train.mrg").read_bytes()
    end, begin = os.pipe()
    with open(begin, "wb") as writer:
        writer.write(data)
    try:
        assert main([*arguments, "--train", f"/dev/fd/{end}"]) == 0
    finally:
        os.close(end)
    provenance = json.loads((tmp_path / "model" / "run" / "provenance.json").read_text())
    assert provenance["data"]["train"]["sha256"] == hashlib.sha256(data).hexdigest()


def test_neither_config_nor_preset(capsys: Capture) -> None:
    assert "name a CONFIG.toml or a --preset" in complaint(["train"], capsys)


def test_brackets_that_do_not_match(arguments: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "train.mrg").write_text("(TOP (S (NP (NN a))))\n(TOP (S (NP (NN b)))\n")
    assert f"{tmp_path}/train.mrg:2" in complaint(arguments, capsys)


LIMITED = """
import resource, sys
import torch
torch.set_num_threads(1)
from treewright.cli import main
from treewright.model import checkpoint
if int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


def limited(limit: int, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """A process that may write no longer file than so many bytes."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", LIMITED, str(limit), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("part", ["state", "model"])
def test_a_full_disk_loses_nothing(part: str, arguments: list[str], tmp_path: Path) -> None:
    """One line, the old files whole; with room again the run ends as if nothing had happened."""
    unharmed = [a.replace(str(tmp_path / "model"), str(tmp_path / "whole")) for a in arguments]
    assert main([*unharmed, "--set", "epochs=2"]) == 0
    sizes = {
        "state": (tmp_path / "whole.resume" / "state.pt").stat().st_size,
        "model": (tmp_path / "whole" / "model.safetensors").stat().st_size,
    }
    assert main([*arguments, "--set", "epochs=1"]) == 0
    state = tmp_path / "model.resume" / "state.pt"
    before = {state: state.read_bytes()}
    if part == "model":  # with the other, a better model has been written when the disk is full
        files = [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
        files.remove(tmp_path / "model" / "run" / "config.toml")  # says two epochs now
        before |= {path: path.read_bytes() for path in files}
    run = limited(sizes[part] // 2, [*arguments, "--set", "epochs=2", "--resume"])
    assert run.returncode == 2, run.stderr
    line = run.stderr.splitlines()[-1]
    assert line.startswith(f"treewright: {tmp_path}/model")
    assert "File too large: what was written before is whole; make room" in line
    assert "Traceback" not in run.stderr
    assert all(path.read_bytes() == data for path, data in before.items())
    checkpoint.load(tmp_path / "model")
    assert not list(tmp_path.glob(".*"))
    assert main([*arguments, "--set", "epochs=2", "--resume"]) == 0
    assert same_weights(tmp_path / "model", tmp_path / "whole")
    assert figures(metrics(tmp_path / "model")) == figures(metrics(tmp_path / "whole"))


def test_a_full_disk_at_the_first_write(arguments: list[str], tmp_path: Path) -> None:
    run = limited(2_000, arguments)
    assert run.returncode == 2
    assert "make room and" in run.stderr.splitlines()[-1]
    assert main(arguments) == 0  # nothing stands in the way of beginning again
