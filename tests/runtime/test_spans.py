"""The kernel's spans against the formula, written out."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from treewright._kernel import SpanScorer
from treewright.charts import cell_spans

RANDOM = np.random.default_rng(3)


def parameters(hidden: int, columns: int) -> list[np.ndarray]:
    shapes = [(hidden,), (hidden,), (hidden,), (hidden, columns), (columns,)]
    found = [RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes]
    found[0] -= found[0].mean()
    return found


def literal(posts: np.ndarray, n: int, of: list[np.ndarray], epsilon: float) -> np.ndarray:
    bias, scale, shift, weight, offset = (each.astype(np.float64) for each in of)
    begins, ends = cell_spans(n)
    x = posts[ends].astype(np.float64) - posts[begins] + bias
    x = x / np.sqrt((x**2).mean(1, keepdims=True) + epsilon)
    rows: np.ndarray = np.maximum(x * scale + shift, 0) @ weight + offset
    return rows


def check(hidden: int, columns: int, lengths: list[int], threads: int = 1) -> None:
    of = parameters(hidden, columns)
    posts = RANDOM.standard_normal((sum(lengths) + len(lengths), hidden)).astype(np.float32)
    posts -= posts.mean(1, keepdims=True)
    scorer = SpanScorer(*of, epsilon=1e-5)
    rows = scorer.score(posts, np.array(lengths, dtype=np.int32), threads=threads)
    assert rows.dtype == np.float32
    expected, at = [], 0
    for n in lengths:
        expected.append(literal(posts[at : at + n + 1], n, of, 1e-5))
        alone = scorer.score(posts[at : at + n + 1], np.array([n], dtype=np.int32))
        begin = sum(map(len, expected[:-1]))
        np.testing.assert_array_equal(rows[begin : begin + len(alone)], alone)
        at += n + 1
    np.testing.assert_allclose(rows, np.concatenate(expected), atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("hidden", [1, 10, 64, 65, 250])
@pytest.mark.parametrize("columns", [1, 16, 61, 64, 65, 130])
def test_like_the_formula(hidden: int, columns: int) -> None:
    check(hidden, columns, [1, 2, 3, 7, 12])


def test_many_threads_and_none_to_score() -> None:
    check(40, 20, [5, 30, 1, 9, 17], threads=4)
    scorer = SpanScorer(*parameters(4, 3), epsilon=0.1)
    empty = np.zeros((0, 4), dtype=np.float32)
    assert scorer.score(empty, np.zeros(0, dtype=np.int32)).shape == (0, 3)


@pytest.mark.parametrize("instructions", ["avx512", "avx2", "plain"])
def test_every_instruction_set(instructions: str) -> None:
    """Those that this machine lacks fall back to the widest that it has."""
    code = "from runtime.test_spans import check; check(250, 61, [1, 13, 4]); check(7, 70, [6])"
    env = {**os.environ, "TREEWRIGHT_INSTRUCTION_SET": instructions}
    env["PYTHONPATH"] = os.pathsep.join(["tests", *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, env=env)


def test_shapes_are_checked() -> None:
    of = parameters(4, 3)
    with pytest.raises(ValueError, match="differ in length"):
        SpanScorer(of[0][:-1], *of[1:], epsilon=0)
    with pytest.raises(ValueError, match="differ in columns"):
        SpanScorer(*of[:4], of[4][:-1], epsilon=0)
    scorer = SpanScorer(*of, epsilon=0)
    lengths = np.array([2], dtype=np.int32)
    with pytest.raises(ValueError, match="another size"):
        scorer.score(np.zeros((3, 5), dtype=np.float32), lengths)
    with pytest.raises(ValueError, match="do not fit"):
        scorer.score(np.zeros((4, 4), dtype=np.float32), lengths)
