"""`treewright export`: from a checkpoint to trees without PyTorch, and all that is refused."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from treewright.cli import main
from treewright.scorer import kind_of

TREES = """(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))
(TOP (S (NP (PRP it)) (VP (VBZ barks) (ADVP (RB loudly))) (. .)))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkpoint in it, not to be written to."""
    pytest.importorskip("torch", reason="export needs PyTorch")
    pytest.importorskip("onnx", reason="export needs onnx")
    from model.networks import TAGS, grammar, make
    from treewright.model import checkpoint
    from treewright.scorer import Description

    folder = tmp_path_factory.mktemp("made")
    network, tokenizer = make("characters")
    description = Description(network.labels, TAGS, grammar(), language="en")
    checkpoint.save(folder / "checkpoint", network, description, tokenizer)
    (folder / "dev.mrg").write_text(TREES)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "work"))


def test_export_and_parse(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "new" / "model"
    assert main(["export", str(folder / "checkpoint"), str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"{out}: ")
    assert kind_of(out) == "runtime"
    text = folder / "text.txt"
    text.write_text("The dog barks. It does.")
    trees = []
    for model in (folder / "checkpoint", out):
        assert main(["parse", str(text), "--model", str(model), "--threads", "1"]) == 0
        trees.append(capsys.readouterr().out)
    assert trees[0] == trees[1]
    assert trees[0].count("\n") == 2


def test_int8(folder: Path) -> None:
    arguments = ["export", str(folder / "checkpoint"), str(folder / "small"), "--precision", "int8"]
    assert main([*arguments, "--calibrate", str(folder / "dev.mrg")]) == 0
    assert json.loads((folder / "small" / "runtime.json").read_text())["precision"] == "int8"


def test_int8_looks_at_the_trees_of_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["export", str(folder / "checkpoint"), str(folder / "small"), "--precision", "int8"]
    assert main(arguments) == 2
    assert "name some with --calibrate" in capsys.readouterr().err
    (folder / "checkpoint" / "run").mkdir()
    config = folder / "checkpoint" / "run" / "config.toml"
    config.write_text('dev = "no/such/file.mrg"\n')
    assert main(arguments) == 2
    assert not (folder / "small").exists()
    config.write_text(f"dev = {json.dumps(str(folder / 'dev.mrg'))}\n")
    assert main(arguments) == 0


def test_an_older_runtime_model_is_replaced(folder: Path) -> None:
    arguments = ["export", str(folder / "checkpoint"), str(folder / "model")]
    assert main(arguments) == 0
    (folder / "model" / "NOTES").write_text("mine")
    (folder / "model" / "top.onnx").write_bytes(b"")
    assert main(arguments) == 0
    assert (folder / "model" / "NOTES").read_text() == "mine"
    assert (folder / "model" / "top.onnx").stat().st_size > 1000
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint", "dev.mrg", "model"]


def test_what_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, checkpoint = str(folder / "model"), str(folder / "checkpoint")
    other = folder / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    file = folder / "file"
    file.touch()
    trees = str(folder / "dev.mrg")
    assert main(["export", checkpoint, model]) == 0
    for arguments, message in [
        ([model, model], "is exported already"),
        ([str(folder / "none"), model], "there is no such directory"),
        ([str(other), model], r"is missing from the model"),
        ([checkpoint, checkpoint], "is a checkpoint, which is not overwritten"),
        ([checkpoint, str(other)], "holds other things"),
        ([checkpoint, str(file)], "is no folder"),
        ([checkpoint, str(file / "below")], "is no folder"),
        ([checkpoint, model, "--precision", "int4"], "'int4' is not one of"),
        ([checkpoint, model, "--calibrate", trees], "--calibrate is for --precision int8"),
        ([checkpoint, model, "--precision", "int8", "--calibrate", str(file)], "holds no tree"),
    ]:
        capsys.readouterr()
        assert main(["export", *arguments]) == 2, arguments
        assert message in capsys.readouterr().err, arguments
    assert (other / "thesis.tex").read_text() == "years of work"


def test_a_failure_leaves_nothing_behind(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from treewright.export import write

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "_save", full)
    before = sorted(folder.iterdir())
    assert main(["export", str(folder / "checkpoint"), str(folder / "model")]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before


def test_onnx_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("treewright.export")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", str(folder / "checkpoint"), str(folder / "model")]) == 2
    assert "export needs onnx: pip install 'treewright[export]'" in capsys.readouterr().err
