"""Batches of one length, and words from their sub-words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.runtime.batches import of_one_length, places, pool
from treewright.runtime.files import Pooling


@given(st.lists(st.integers(1, 9), max_size=40), st.integers(1, 30))
def test_batches_are_of_one_length(sizes: list[int], most: int) -> None:
    array = np.array(sizes, dtype=np.int64)
    found = list(of_one_length(array, most))
    assert sorted(row for batch in found for row in batch.tolist()) == list(range(len(sizes)))
    for batch in found:
        assert len(set(array[batch].tolist())) == 1
        assert len(batch) == 1 or array[batch].sum() <= most
    longest = [int(array[batch[0]]) for batch in found]
    assert longest == sorted(longest, reverse=True)


def test_places() -> None:
    begins = np.array([0, 3, 5])
    assert places(begins, np.array([2, 0]), 3).tolist() == [[5, 6, 7], [0, 1, 2]]


@pytest.mark.parametrize("how", ["first", "last", "mean", "max"])
@given(counts=st.lists(st.integers(1, 6), min_size=1, max_size=12))
def test_pooling(how: Pooling, counts: list[int]) -> None:
    vectors = np.random.default_rng(len(counts)).standard_normal((sum(counts) + 2, 3))
    vectors = vectors.astype(np.float32)
    last = np.cumsum(counts)  # one sub-word before all of them belongs to none
    first = last - np.array(counts) + 1
    found = pool(vectors, first, last, how)
    for row, begin, end in zip(found, first, last, strict=True):
        own = vectors[begin : end + 1]
        expected = {"first": own[0], "last": own[-1], "mean": own.mean(0), "max": own.max(0)}
        np.testing.assert_allclose(row, expected[how], rtol=1e-5, atol=1e-6)
