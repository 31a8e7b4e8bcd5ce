"""Sentences scored by a runtime model: any number, any length, whatever goes with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treewright
from treewright.charts import cell_count
from treewright.errors import CheckpointError, OptionError, TreeError
from treewright.runtime import load
from treewright.runtime import scorer as scorer_module

WORDS = [
    "a",
    "dog",
    "barks",
    "unbelievably",
    "-LRB-",
    "abcdefghijklmnopqrstuvwxyz" * 5,
    "é",
    "\u200b",
]


def test_nothing_and_no_words(model: Path) -> None:
    scorer = load(model)
    empty = scorer.score([])
    assert empty.rows.shape == (0, len(scorer.description.labels))
    assert len(empty.lengths) == len(empty.tags) == 0
    with pytest.raises(TreeError, match="sentence 2"):
        scorer.score([["a"], []])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sentences=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), max_size=8))
def test_a_sentence_scores_as_if_alone(
    model: Path, sentences: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one batch, in many, and in chunks that are cut anywhere."""
    scorer = load(model, threads=2)
    scores = scorer.score(sentences)
    assert scores.lengths.tolist() == [len(words) for words in sentences]
    assert len(scores.rows) == sum(cell_count(len(words)) for words in sentences)
    alone = [scorer.score([words]) for words in sentences]
    with monkeypatch.context() as patch:
        patch.setattr(scorer_module, "_BATCH", 20)
        patch.setattr(scorer_module, "_CHUNK", 30)
        cut = load(model, threads=1).score(sentences)
    for one in (scores, cut):
        if sentences:
            rows = np.concatenate([each.rows for each in alone])
            np.testing.assert_allclose(one.rows, rows, atol=1e-5)
            tags = np.concatenate([each.tags for each in alone])
            np.testing.assert_array_equal(one.tags, tags)


def test_threads(model: Path) -> None:
    assert load(model, threads=3).threads == 3
    assert load(model).threads >= 1
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match="threads"):
            load(model, threads=wrong)  # type: ignore[arg-type]


def test_it_is_what_the_parser_loads(model: Path) -> None:
    nlp = treewright.load(model, threads=1)
    document = nlp("A dog barks. It does.")
    assert [sentence.words for sentence in document] == [
        ("A", "dog", "barks", "."),
        ("It", "does", "."),
    ]
    with pytest.raises(OptionError, match="CPU"):
        treewright.load(model, device="cuda")


def test_neither_torch_nor_transformers(model: Path) -> None:
    """A fresh process parses without them."""
    code = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = sys.modules["onnx"] = None
import treewright
assert len(treewright.load({str(model)!r}).parse(["a", "dog"]).words) == 2
loaded = [name for name in sys.modules if name.startswith("treewright.")]
assert not any("model" in name or "export" in name or "training" in name for name in loaded), loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Damage


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "copy"))


FILES = ["runtime.json", "tokenizer.json", "encoder.onnx", "top.onnx", "spans.npz", "grammar.json"]


@pytest.mark.parametrize("file", FILES)
def test_a_part_is_missing(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(CheckpointError, match=rf"{file}: is missing from the model"):
        load(copy)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", ["empty", "cut", "nonsense"])
def test_a_part_is_damaged(copy: Path, file: str, damage: str) -> None:
    path = copy / file
    data = path.read_bytes()
    left = {"empty": b"", "cut": data[: len(data) // 2], "nonsense": b"\x93\xff no such thing"}
    path.write_bytes(left[damage])
    with pytest.raises(CheckpointError, match=file):
        load(copy)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"fp32"', '"fp64"', "'precision' cannot be 'fp64'"),
        ('"window": 64', '"window": "64"', "'window' cannot be '64'"),
        ('"edges": false', '"edges": 0', "'edges' cannot be 0"),
        ('"version": 1', '"version": 2', "another kind or version"),
        ('"overlap": 62', '"no": 62', "'overlap' cannot be None"),
        ('"overlap": 62', '"overlap": -1', "'overlap' cannot be -1"),
    ],
)
def test_settings_are_checked(copy: Path, old: str, new: str, message: str) -> None:
    path = copy / "runtime.json"
    text = path.read_text()
    if old == '"overlap": 62':
        old = f'"overlap": {load(copy).settings.overlap}'
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(CheckpointError, match=f"runtime.json: .*{message}"):
        load(copy)


def test_graphs_and_arrays_of_another_model(copy: Path, model: Path) -> None:
    """Each file is sound, but they do not belong together."""
    (copy / "top.onnx").write_bytes((model / "encoder.onnx").read_bytes())
    with pytest.raises(CheckpointError, match=r"top\.onnx"):
        load(copy)


def test_spans_of_another_size(copy: Path) -> None:
    with np.load(copy / "spans.npz") as file:
        arrays = dict(file)
    arrays["weight"] = arrays["weight"][:, :-1]
    arrays["offset"] = arrays["offset"][:-1]
    np.savez(copy / "spans.npz", **arrays)
    with pytest.raises(CheckpointError, match=r"spans\.npz"):
        load(copy)


def test_arrays_hold_numbers(copy: Path) -> None:
    with np.load(copy / "spans.npz") as file:
        arrays = dict(file)
    arrays["epsilon"] = np.array(np.nan, dtype=np.float32)
    np.savez(copy / "spans.npz", **arrays)
    with pytest.raises(CheckpointError, match=r"spans.npz: .*'epsilon' holds NaN"):
        load(copy)


def test_tags_that_nobody_named(copy: Path) -> None:
    path = copy / "treewright.json"
    document = json.loads(path.read_text())
    document["tags"] = ["ONE"]
    path.write_text(json.dumps(document))
    scorer = load(copy)
    with pytest.raises(CheckpointError, match=r"top\.onnx: has more tags"):
        scorer.score([[word] for word in [*WORDS, *"bcdefg"]])


def test_a_checkpoint_is_no_runtime_model(model: Path) -> None:
    with pytest.raises(CheckpointError, match="is a checkpoint, no runtime model"):
        load(model.parent / "checkpoint")
