"""`treewright info`: what is said of checkpoints and runtime models, whole and damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from safetensors.torch import load_file

from training.made import quick
from treewright.cli import main
from treewright.scorer import Description
from treewright.training.loop import Result, train


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("info")
    return train(quick(folder, "name=made", "language=xx", "rule_scores=counts", n_train=10))


@pytest.fixture
def model(trained: Result, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    copy = tmp_path / "copy"
    shutil.copytree(trained.out, copy)
    return copy


def facts(model: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["info", str(model), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def complaint(model: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["info", str(model)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_a_checkpoint(trained: Result, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(model, capsys)
    description = Description.load(model)
    assert (found["kind"], found["name"], found["language"]) == ("checkpoint", "made", "xx")
    assert (found["labels"], found["tags"]) == (list(description.labels), list(description.tags))
    assert found["grammar"]["rules"] == len(description.grammar.rules)
    assert found["grammar"]["scored"]
    assert found["penalty"] == description.penalty
    assert found["temperatures"] == dict(description.temperatures)
    weights = load_file(model / "model.safetensors")
    counted = found["parameters"]
    assert counted["encoder"] + counted["top"] == sum(value.numel() for value in weights.values())
    assert counted["encoder"] == sum(v.numel() for k, v in weights.items() if k[:8] == "encoder.")
    assert counted["types"] == ["F32"]
    assert found["network"]["model_size"] == 32
    assert found["files"]["model.safetensors"] == (model / "model.safetensors").stat().st_size
    training = found["training"]
    assert training["seed"] == 777
    assert training["data"]["train"]["trees"] == 10
    assert training["result"]["dev"]["hard"]["f1"] == round(trained.f1, 2)


def test_a_network_without_label_attention_has_no_sizes_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for attention, says in (("true", True), ("false", False)):
        folder = tmp_path / attention
        folder.mkdir()
        made = train(quick(folder, f"model.label_attention={attention}", n_train=10))
        assert main(["info", made.out]) == 0
        shown = capsys.readouterr().out
        assert "scorer_size 32" in shown
        assert ("label_output_size" in shown, "label_heads" in shown) == (says, says)


def test_for_people(trained: Result, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{model}: a checkpoint model"
    shown = {line[2:16].strip(): line[16:] for line in lines if line.startswith("  ")}
    assert shown["encoder"] == "characters, learned from scratch"
    assert shown["train"].startswith("train.mrg, 10 trees, sha256 ")
    assert shown["seed"] == "777"
    assert shown["dev F1"].startswith(f"hard {trained.f1:.2f}, soft ")
    assert "rules with scores" in shown["grammar"]


def test_a_run_that_is_not_at_its_end(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (model / "run" / "result.json").unlink()
    assert facts(model, capsys)["training"]["result"] is None
    assert main(["info", str(model)]) == 0
    assert "not known: the run is not at its end" in capsys.readouterr().out


def test_without_a_record(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(model / "run")
    assert facts(model, capsys)["training"] is None
    assert main(["info", str(model)]) == 0
    assert capsys.readouterr().out.endswith("There is no record of its training.\n")


def test_a_runtime_model(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported = tmp_path / "exported"
    exported.mkdir()
    Description.load(model).save(exported, "runtime")
    (exported / "runtime.json").write_text('{"format": "f", "precision": "int8", "window": 512}')
    for name in ("tokenizer.json", "encoder.onnx", "top.onnx"):
        (exported / name).write_bytes(b"x")
    assert "spans.npz: is missing from the model" in complaint(exported, capsys)
    (exported / "spans.npz").write_bytes(b"x")
    found = facts(exported, capsys)
    assert (found["kind"], found["training"]) == ("runtime", None)
    assert found["runtime"]["precision"] == "int8"
    assert main(["info", str(exported)]) == 0
    assert "precision int8, window 512" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    ["treewright.json", "grammar.json", "model.toml", "tokenizer.json", "model.safetensors"],
)
def test_a_missing_file(name: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (model / name).unlink()
    assert f"{model / name}: is missing from the model" in complaint(model, capsys)


def test_a_directory_for_weights(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = model / "model.safetensors"
    weights.unlink()
    weights.mkdir()
    assert f"{weights}: is a directory, not a file" in complaint(model, capsys)


@pytest.mark.parametrize(
    "name",
    [
        *("treewright.json", "grammar.json", "model.toml", "model.safetensors"),
        *("run/provenance.json", "run/result.json"),
    ],
)
@pytest.mark.parametrize("damage", ["empty", "cut", "noise"])
def test_a_damaged_file(
    name: str, damage: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (model / name).read_bytes()
    damaged = {"empty": b"", "cut": data[: len(data) // 2], "noise": bytes(range(256))}[damage]
    (model / name).write_bytes(damaged)
    assert str(model / name) in complaint(model, capsys)


@pytest.mark.parametrize("text", ["{}", '{"data": []}', '{"data": {"train": {"file": 1}}}'])
def test_a_record_of_something_else(
    text: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model / "run" / "provenance.json").write_text(text)
    if text == "{}":
        assert main(["info", str(model)]) == 0
    else:
        assert "damaged: no record of a run" in complaint(model, capsys)


def test_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no such directory" in complaint(tmp_path / "nowhere", capsys)
    assert "treewright.json: is missing from the model" in complaint(tmp_path, capsys)
    (tmp_path / "file").write_text("")
    assert "a model is a directory, not a file" in complaint(tmp_path / "file", capsys)


def test_neither_torch_nor_onnx_is_loaded(model: Path) -> None:
    code = (
        f"from treewright.cli import main; assert main(['info', {str(model)!r}]) == 0\n"
        "import sys; print([m for m in ('torch', 'transformers', 'onnxruntime', 'safetensors') "
        "if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"
