"""Models in 8 bits: near the exact ones, and the same for a sentence whatever stands beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from export.making import exported
from model.networks import SENTENCES, make
from treewright.errors import OptionError
from treewright.export.quantize import Observed, Range, _best_range, _choose, _in_bits, _rounded
from treewright.export.write import export
from treewright.runtime import OnnxScorer, load
from treewright.runtime.files import ENCODER_FILE, TOP_FILE

RANDOM = np.random.default_rng(1)


def scored_alone(scorer: OnnxScorer, sentences: list[list[str]]) -> np.ndarray:
    return np.concatenate([scorer.score([words]).rows for words in sentences])


@pytest.fixture(scope="module", params=["bert", "characters"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model in single precision and in 8 bits."""
    folder = tmp_path_factory.mktemp(request.param)
    network, tokenizer = make(request.param)
    exported(folder, network, tokenizer)
    export(folder / "checkpoint", folder / "int8", "int8", SENTENCES)
    return folder


def test_near_single_precision(both: Path) -> None:
    exact, small = (load(both / name).score(SENTENCES) for name in ("runtime", "int8"))
    assert not np.array_equal(exact.rows, small.rows)
    off = np.sqrt(np.square(small.rows - exact.rows).mean() / np.square(exact.rows).mean())
    assert off < 0.03
    assert (small.tags == exact.tags).mean() > 0.9


def test_weights_are_integers(both: Path) -> None:
    sizes = {
        name: sum((both / name / file).stat().st_size for file in (ENCODER_FILE, TOP_FILE))
        for name in ("runtime", "int8")
    }
    assert sizes["int8"] < sizes["runtime"]
    for file in (ENCODER_FILE, TOP_FILE):
        graph = onnx.load(both / "int8" / file).graph
        floats = {t.name for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT}
        matrices = {t.name for t in graph.initializer if len(t.dims) == 2}
        multiplied = {node.input[1] for node in graph.node if node.op_type == "MatMul"}
        assert not multiplied & floats & matrices
        assert not any(node.op_type.startswith("Dynamic") for node in graph.node)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sentence_scores_the_same_whatever_stands_beside_it(both: Path, threads: int) -> None:
    """Alone, between others, among many of its own length, and next to what is far out of range."""
    scorer = load(both / "int8", threads=threads)
    alone = scored_alone(scorer, SENTENCES)
    together = scorer.score(SENTENCES).rows
    np.testing.assert_allclose(together, alone, atol=1e-5)
    words = SENTENCES[1]
    others = [list(RANDOM.permutation(words)) for _ in range(20)]
    odd = ["zzz" * 30] * len(words)
    for batch in ([words, *others], [*others, words], [odd, words, odd]):
        at = batch.index(words)
        rows = scorer.score(batch).rows.reshape(len(batch), -1, len(scorer.description.labels))
        np.testing.assert_allclose(rows[at], scorer.score([words]).rows, atol=1e-5)


def test_sentences_are_needed(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="int8 needs sentences"):
        export(tmp_path / "any", tmp_path / "out", "int8")
    assert not (tmp_path / "out").exists()


def test_the_range_holds_zero_and_what_is_common() -> None:
    assert _best_range(np.array([0.0, 2.55], dtype=np.float32)) == Range(pytest.approx(0.01), 0)
    numbers = RANDOM.standard_normal(10_000).astype(np.float32)
    far = np.append(numbers, np.float32(30))
    for sample in (numbers, far, numbers + 3, -np.abs(numbers)):
        of = _best_range(sample)
        assert _rounded(np.zeros(1, dtype=np.float32), of) == 0
        assert np.square(_rounded(sample, of) - sample).mean() < 0.003


def test_weights_use_seven_bits() -> None:
    """So that two products of bytes never overflow 16 bits, in which old processors add them."""
    table, scales = _in_bits(RANDOM.standard_normal((40, 8)).astype(np.float32), axis=0, most=64)
    assert table.dtype == np.int8
    assert np.abs(table.astype(int)).max() == 64
    assert scales.shape == (1, 8)
    assert 255 * 64 * 2 < 1 << 15


def test_a_channel_far_out_does_not_take_the_range_of_all() -> None:
    rows = RANDOM.standard_normal((2000, 16)).astype(np.float32)
    rows[:, 3] *= 100
    weight = RANDOM.standard_normal((16, 8)).astype(np.float32)
    weight[3] /= 100
    observed = Observed()
    for at in range(0, 2000, 100):
        observed.see({"x": rows[None, at : at + 100], "ids": np.zeros((1, 2), dtype=np.int64)})
    factors, of = _choose(observed["x"], [weight])
    assert factors.argmax() == 3
    found = _rounded(rows / factors, of) @ (weight * factors[:, None])
    plain = _rounded(rows, _best_range(rows)) @ weight
    exact = rows @ weight
    assert np.square(found - exact).mean() < 0.2 * np.square(plain - exact).mean()
