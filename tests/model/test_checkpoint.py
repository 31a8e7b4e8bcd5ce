"""Checkpoints: whole or not at all, and clear about what is wrong with one."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch

from model.networks import LABELS, SENTENCES, TAGS, grammar, make
from treewright import files
from treewright.errors import CheckpointError, NotFound, OutputError, TreewrightError
from treewright.model import checkpoint
from treewright.model.torch_scorer import TorchScorer
from treewright.scorer import Description


def description() -> Description:
    return Description(LABELS, TAGS, grammar(), penalty=0.5, name="small one")


def saved(directory: Path, encoder: str = "characters", **changes: object) -> TorchScorer:
    network, tokenizer = make(encoder, **changes)
    checkpoint.save(directory, network, description(), tokenizer)
    return TorchScorer(network, tokenizer, description())


@pytest.mark.parametrize(
    ("encoder", "changes"),
    [
        ("characters", {}),
        ("bert", {"layer_mix": True, "label_heads": 2}),
        ("bert", {"null": "learned"}),
    ],
)
def test_round_trip(encoder: str, changes: dict[str, object], tmp_path: Path) -> None:
    before = saved(tmp_path / "model", encoder, **changes)
    after = checkpoint.load(tmp_path / "model")
    assert after.description == before.description
    assert after.network.config.label_heads == before.network.config.label_heads
    one, other = before.score(SENTENCES), after.score(SENTENCES)
    assert torch.equal(one.rows, other.rows)
    assert np.array_equal(one.tags, other.tags)
    files = {path.name for path in (tmp_path / "model").iterdir()}
    wanted = {
        "treewright.json",
        "grammar.json",
        "model.toml",
        "tokenizer.json",
        "model.safetensors",
    }
    assert files == wanted | ({"encoder.json"} if encoder == "bert" else set())
    assert [path.name for path in tmp_path.iterdir()] == ["model"]  # nothing is left beside


def test_loads_without_a_network(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    with mock.patch("socket.socket.connect", side_effect=AssertionError("reached for a network")):
        checkpoint.load(tmp_path / "model").score([["a", "b"]])


def test_holds_no_path_of_the_machine(tmp_path: Path) -> None:
    """Of an encoder's folder only its name is kept."""
    folder = tmp_path / "folders" / "encoder"
    folder.mkdir(parents=True)
    network, tokenizer = make("bert")
    network.encoder.model.config._name_or_path = str(folder)
    object.__setattr__(network.config, "encoder", str(folder))
    checkpoint.save(tmp_path / "model", network, description(), tokenizer)
    for file in (tmp_path / "model").iterdir():
        assert str(tmp_path).encode() not in file.read_bytes()
    assert checkpoint.load(tmp_path / "model").network.config.encoder == "encoder"


def test_half_precision_on_disk(tmp_path: Path) -> None:
    network, tokenizer = make("bert")
    checkpoint.save(tmp_path / "whole", network, description(), tokenizer)
    half = torch.float16
    checkpoint.save(tmp_path / "half", network, description(), tokenizer, dtype=half)
    sizes = [(tmp_path / n / "model.safetensors").stat().st_size for n in ("whole", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    scorer = checkpoint.load(tmp_path / "half")
    assert {parameter.dtype for parameter in scorer.network.parameters()} == {torch.float32}
    whole = checkpoint.load(tmp_path / "whole").score(SENTENCES).rows
    torch.testing.assert_close(scorer.score(SENTENCES).rows, whole, atol=0.05, rtol=0.05)


def test_a_new_one_takes_the_place_of_an_old_one(tmp_path: Path) -> None:
    """Records of the run stay; a file that only the old one had does not."""
    target = tmp_path / "model"
    saved(target, "bert")
    (target / "run").mkdir()
    (target / "run" / "metrics.jsonl").write_text("{}\n")
    saved(target, "characters")
    assert (target / "run" / "metrics.jsonl").read_text() == "{}\n"
    assert not (target / "encoder.json").exists()
    checkpoint.load(target)


def test_failing_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "model"
    before = saved(target)
    network, tokenizer = make("bert")
    full = OSError(28, "No space left on device")
    with (
        mock.patch.object(checkpoint, "save_file", side_effect=full),
        pytest.raises(OutputError) as e,
    ):
        checkpoint.save(target, network, description(), tokenizer)
    assert str(e.value) == f"{target}: No space left on device"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    after = checkpoint.load(target)
    assert torch.equal(after.score(SENTENCES).rows, before.score(SENTENCES).rows)
    real = Path.rename

    def rename(path: Path, to: Path) -> Path:
        if to == target and path.name != "old":
            raise OSError(5, "Input/output error")
        return real(path, to)

    with (
        mock.patch.object(files, "_exchange", return_value=False),
        mock.patch.object(Path, "rename", rename),
        pytest.raises(OutputError, match="Input/output"),
    ):
        checkpoint.save(target, network, description(), tokenizer)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    checkpoint.load(target)


def test_a_file_is_no_place_for_one(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("precious")
    network, tokenizer = make()
    with pytest.raises(OutputError, match="is a file, not a directory"):
        checkpoint.save(tmp_path / "model", network, description(), tokenizer)
    assert (tmp_path / "model").read_text() == "precious"


def test_readable_by_others(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        saved(tmp_path / "model")
    finally:
        os.umask(umask)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()}
    assert modes == {0o644}
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o755


FILES = [
    *("treewright.json", "grammar.json", "model.toml"),
    *("encoder.json", "tokenizer.json", "model.safetensors"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("whole") / "model"
    saved(directory, "bert")
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def refusal(directory: Path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        (directory / name).write_bytes(data)
    with pytest.raises(CheckpointError) as error:
        checkpoint.load(directory)
    assert error.value.place is not None
    return str(error.value)


@pytest.mark.parametrize("name", FILES)
def test_missing_file(name: str, whole: dict[str, bytes], tmp_path: Path) -> None:
    message = refusal(tmp_path, {file: whole[file] for file in FILES if file != name})
    assert message.startswith(f"{tmp_path / name}: is missing")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "nul", "latin"])
def test_damaged_file(name: str, damage: str, whole: dict[str, bytes], tmp_path: Path) -> None:
    data = whole[name]
    damaged = {
        "empty": b"",
        "cut": data[: len(data) // 2],
        "noise": bytes(range(256)) * 4,
        "nul": data[:20] + b"\0" + data[21:],
        "latin": data[:10] + b"\xe9\xff" + data[12:],
    }[damage]
    message = refusal(tmp_path, whole | {name: damaged})
    assert str(tmp_path / name) in message


@pytest.mark.parametrize(
    ("name", "change", "wanted"),
    [
        ("treewright.json", {"version": 2}, "a model of version 2; this treewright reads 1"),
        ("treewright.json", {"format": "other"}, "not a model"),
        ("treewright.json", {"kind": "runtime"}, "is no checkpoint, but a runtime model"),
        ("treewright.json", {"kind": "cake"}, "no kind of model is called 'cake'"),
        ("treewright.json", {"tags": ["NN"]}, "'tagger.3.bias' are (3,), not (1,)"),
        ("treewright.json", {"labels": ["@", "$"]}, "symbols that are no columns"),
        ("treewright.json", {"penalty": "a lot"}, '"penalty" holds what is no number'),
        ("treewright.json", {"penalty": -1}, "a penalty is a number from 0"),
        ("treewright.json", {"temperatures": {"hard": 0}}, "a temperature is above 0"),
        ("treewright.json", {"temperatures": {"warm": 1}}, "no mode of the rules"),
        ("treewright.json", {"rule_scores": [1.0]}, "1 scores of rules for"),
        ("encoder.json", {"model_type": "no such"}, "describes no encoder that can be built"),
        ("encoder.json", {"hidden_size": 32}, "damaged: the weights"),
        ("encoder.json", {"num_hidden_layers": 3}, "are missing"),
        ("encoder.json", {"num_hidden_layers": 1}, "belong to nothing"),
    ],
)
def test_parts_that_do_not_fit(
    name: str, change: dict[str, object], wanted: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    changed = json.dumps(json.loads(whole[name]) | change).encode()
    assert wanted in refusal(tmp_path, whole | {name: changed})


def test_sizes_of_which_no_network_can_be_built(tmp_path: Path) -> None:
    """Where there is no encoder.json, model.toml is what is wrong."""
    saved(tmp_path / "model")
    file = tmp_path / "model" / "model.toml"
    text = file.read_text()
    for wrong in ("character_size = 65536\ncharacter_width = 65535", "model_size = 20000000"):
        for line in wrong.splitlines():
            key = line.partition(" ")[0]
            text = re.sub(rf"^{key} = .*$", line, text, flags=re.MULTILINE)
        assert refusal(tmp_path / "model", {"model.toml": text.encode()}).startswith(f"{file}: ")


@pytest.mark.parametrize("name", FILES)
def test_a_directory_in_the_place_of_a_file(
    name: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / name).mkdir()
    message = refusal(tmp_path, {file: whole[file] for file in FILES if file != name})
    assert message == f"{tmp_path / name}: is a directory, not a file"


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such directory"):
        checkpoint.load(tmp_path / "nowhere")


def test_labels_must_be_those_described(tmp_path: Path) -> None:
    network, tokenizer = make()
    other = Description((*LABELS, "X"), TAGS, grammar())
    with pytest.raises(TreewrightError, match="not those described"):
        checkpoint.save(tmp_path / "model", network, other, tokenizer)
