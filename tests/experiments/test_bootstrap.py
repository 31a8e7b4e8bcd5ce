"""Bootstrap intervals: right on average, paired, and the same each time."""

from __future__ import annotations

import doctest

import bootstrap
import numpy as np
import pytest
from bootstrap import counts, f1, interval, replicates

from treewright import evaluate


@pytest.fixture
def sentences() -> np.ndarray:
    """Counts of 400 made sentences, some 80 % of whose brackets are matched."""
    random = np.random.default_rng(1)
    gold = random.integers(5, 40, 400)
    predicted = gold + random.integers(-2, 3, 400)
    matched = random.binomial(np.minimum(gold, predicted), 0.8)
    return np.stack([matched, gold, predicted], 1).astype(np.float64)


def test_docstrings() -> None:
    assert doctest.testmod(bootstrap).failed == 0


def test_counts_are_those_of_the_report() -> None:
    gold = ["(S (NP (PRP I)) (VP (VBP run)))", "(S (NP (DT a) (NN b)) (VP (VBZ is)))"]
    report = evaluate(gold, ["(S (PRP I) (VP (VBP run)))", gold[1]])
    assert f1(counts(report.scores).sum(0)) == pytest.approx(report.f1)
    assert replicates(counts(report.scores), "made")[0] == pytest.approx(report.f1)


def test_the_interval_is_as_wide_as_the_standard_error_says(sentences: np.ndarray) -> None:
    found = interval(replicates(sentences, "made"))
    assert found.low < found.estimate < found.high
    # The error of a ratio of sums, by the delta method.
    total = sentences[:, 1] + sentences[:, 2]
    residuals = 2 * sentences[:, 0] - found.estimate / 100 * total
    error = 100 * np.sqrt(len(sentences)) * residuals.std() / total.sum()
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_replicates_are_the_same_each_time_and_others_for_another_set(
    sentences: np.ndarray,
) -> None:
    once = replicates(sentences, "made")
    np.testing.assert_array_equal(once, replicates(sentences, "made"))
    assert not np.array_equal(once[1:], replicates(sentences, "other")[1:])
    assert len(once) == 1 + bootstrap.RESAMPLES


def test_two_systems_on_one_set_are_paired(sentences: np.ndarray) -> None:
    better = sentences.copy()
    better[:, 0] = np.minimum(better[:, 0] + 1, np.minimum(better[:, 1], better[:, 2]))
    one, other = replicates(sentences, "made"), replicates(better, "made")
    paired, alone = interval(other - one), interval(other)
    assert paired.low > 0
    assert paired.high - paired.low < 0.3 * (alone.high - alone.low)
    assert interval(one - one) == (0.0, 0.0, 0.0)


def test_sentences_without_brackets_are_no_division_by_zero() -> None:
    assert interval(replicates(np.zeros((3, 3)), "made")).estimate == 0.0
