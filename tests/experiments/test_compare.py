"""Ways of training side by side: what is trained, what is left alone, what the table says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import compare as script

from training.made import made_trees, metrics, write

WAYS = """
["as it is"]
epochs = 1

["two layers"]
epochs = 1
model = { layers = 2 }
"""


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, ways: str, *more: str) -> None:
    (folder / "ways.toml").write_text(ways)
    dev = write(folder / "dev.mrg", made_trees(6, seed=1))
    arguments = [str(folder / "ways.toml"), str(folder / "out"), "--preset", "tiny", "--dev", dev]
    arguments += ["--train", write(folder / "train.mrg", made_trees(12)), "--also", f"more={dev}"]
    monkeypatch.setattr(
        sys, "argv", ["compare.py", *arguments, "--seeds", "1", "--jobs", "2", *more]
    )
    script.main()


def test_every_way_is_trained_once_and_has_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, monkeypatch, WAYS)
    first = capsys.readouterr().out
    header, _, *lines = first.splitlines()
    assert header == "| way | share of the top | dev | more | seeds |"
    assert [line.split(" | ")[0] for line in lines] == ["| as it is", "| two layers"]
    model = tmp_path / "out" / "1-1"
    dev = metrics(model)[-1]["dev"]["hard"]["f1"]
    assert script.dev_f1(model) >= dev  # a run ends with the lift that dev likes best
    assert lines[1].split(" | ")[2].startswith(f"{script.dev_f1(model):.2f} [")
    assert float(lines[1].split(" | ")[3]) == pytest.approx(script.dev_f1(model), abs=0.01)
    trained = (model / "model.safetensors").stat().st_mtime_ns
    run(tmp_path, monkeypatch, WAYS)
    assert capsys.readouterr().out.count("\n") == first.count("\n")
    assert (model / "model.safetensors").stat().st_mtime_ns == trained
    with pytest.raises(SystemExit, match="1-1 was begun with other settings"):
        run(tmp_path, monkeypatch, WAYS.replace("layers = 2", "layers = 3"))


def test_a_run_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=r"these runs failed.*\n.*0-1\.log"):
        run(tmp_path, monkeypatch, '["odd"]\nlamda = 1\n')
    assert "did you mean 'lambda'" in (tmp_path / "out" / "0-1.log").read_text()


def test_what_is_missing_is_said_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=r"no .*none\.mrg"):
        run(tmp_path, monkeypatch, WAYS, "--also", f"other={tmp_path}/none.mrg")
    assert not (tmp_path / "out").exists()


def test_settings_as_the_command_line_takes_them() -> None:
    table = {"model": {"null": "learned", "label_attention": False}, "top_rate": 1e-3}
    assert list(script.assignments(table)) == [
        'model.null="learned"',
        "model.label_attention=false",
        "top_rate=0.001",
    ]
