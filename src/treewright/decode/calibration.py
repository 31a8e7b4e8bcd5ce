"""Calibration: one number that turns scores into probabilities that mean what they say.

Owns the fitting of a temperature on sentences whose trees are known and that the scores were not
trained on. The loss is the log loss over all spans of what stands there, a symbol or no
constituent; it is lowest where constituents of probability p are right in a share p of cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.charts import Array, Chart, Ints, as_chart, packed_index
from treewright.decode.engines import Method
from treewright.decode.marginals import Marginals, marginals_of
from treewright.decode.steps import as_steps
from treewright.errors import OptionError, Place
from treewright.grammar import Kind
from treewright.trees.symbols import is_null

if TYPE_CHECKING:
    from treewright.grammar import Grammar, RuleTables

# A probability of 0 for what turned out to be right costs this much and no more, so that one
# sentence that the grammar forbids cannot decide the temperature.
_SMALLEST = 1e-9
# The search is over the logarithm of the temperature.
_COLDEST, _HOTTEST, _STEPS = math.log(0.02), math.log(50.0), 9


class Calibration(NamedTuple):
    """A temperature for `marginals`, and the log loss a sentence without and with it."""

    temperature: float
    loss_before: float
    loss_after: float


def fit_temperature(
    chart: Array,
    labels: Sequence[str],
    gold: Sequence[Iterable[tuple[int, int, str]]],
    grammar: Grammar | RuleTables | None = None,
    *,
    lengths: Any = None,
    penalty: float = math.inf,
    rule_scores: Any = None,
    method: Method = "auto",
    threads: int | None = None,
) -> Calibration:
    """The temperature under which the gold spans of held-out sentences are most probable.

    The chart holds their scores, as `decode` takes a batch; `gold` of every sentence its labelled
    spans, among which nulls do not count. The other arguments are those of `decode`.
    """
    checked = as_chart(chart, labels, lengths)
    steps = as_steps(checked.labels, grammar, penalty, rule_scores)
    outcomes = _outcomes(checked, gold)

    def loss(log_temperature: float) -> float:
        temperature = math.exp(log_temperature)
        results = marginals_of(checked, steps, temperature, method, threads)
        return _log_loss(results, outcomes)

    best = _minimum(loss, _COLDEST, _HOTTEST)
    before, after = loss(0.0), loss(best)
    if before <= after:
        return Calibration(1.0, before, before)
    return Calibration(math.exp(best), before, after)


def _outcomes(chart: Chart, gold: Sequence[Iterable[tuple[int, int, str]]]) -> list[Ints]:
    """Of every sentence the gold column of each span, -1 for no constituent: `(n(n+1)/2,)`."""
    if len(gold) != len(chart) or not len(chart):
        raise OptionError(f"{len(chart)} sentences, but {len(gold)} with gold spans")
    outcomes = []
    for b, spans in enumerate(gold):
        n = int(chart.lengths[b])
        columns = np.full(n * (n + 1) // 2, -1, dtype=np.int64)
        for i, j, label in spans:
            place = Place(sentence=b + 1, span=(i, j))
            if not 0 <= i < j <= n:
                raise OptionError(f"a gold span outside {n} words", place)
            if is_null(label):
                continue
            if label not in chart.labels.columns:
                raise OptionError(f"the gold label {label!r} is no column of the chart", place)
            columns[packed_index(n, i, j)] = chart.labels.columns[label]
        outcomes.append(columns)
    return outcomes


def _log_loss(results: list[Marginals], outcomes: list[Ints]) -> float:
    """The mean over sentences of the log loss summed over spans."""
    total = 0.0
    for result, columns in zip(results, outcomes, strict=True):
        real = result.labels.kinds == Kind.REAL
        chosen: npt.NDArray[np.float64] = np.where(
            columns < 0,
            1.0 - result.probabilities[:, real].sum(axis=1),
            result.probabilities[np.arange(len(columns)), columns],
        )
        total -= float(np.log(np.clip(chosen, _SMALLEST, 1.0)).sum())
    return total / len(results)


def _minimum(loss: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one number is lowest: a coarse grid, then the golden section."""
    grid = np.linspace(low, high, _STEPS).tolist()
    losses = [loss(at) for at in grid]
    at = int(np.argmin(losses))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, _STEPS - 1)]
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    loss_left, loss_right = loss(left), loss(right)
    while high - low > 0.01:
        if loss_left <= loss_right:
            high, right, loss_right = right, left, loss_left
            left = high - ratio * (high - low)
            loss_left = loss(left)
        else:
            low, left, loss_left = left, right, loss_right
            right = low + ratio * (high - low)
            loss_right = loss(right)
    return (low + high) / 2.0
