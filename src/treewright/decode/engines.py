"""Which decoder does the work: the plain one, the kernel's or PyTorch's.

Owns the choice and the one check of what comes back: a sentence without a tree is an error. All
three answer the same (`tests/decode/test_agreement.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Literal, Protocol, get_args

import numpy as np

from treewright.charts import Chart, is_tensor
from treewright.decode.parses import Batch, Found, Marginal, Parses
from treewright.decode.steps import Steps
from treewright.errors import BadScore, NoParse, OptionError, Place

Method = Literal["auto", "reference", "native", "batched"]


class Engine(Protocol):
    """What every decoder can do."""

    def decode(
        self, chart: Chart, steps: Steps, k: int, distinct: bool, threads: int | None
    ) -> Found:
        """The best `k` derivations of every sentence."""
        ...

    def marginals(self, chart: Chart, steps: Steps, threads: int | None) -> list[Marginal]:
        """Log partition, violations and marginals of every sentence."""
        ...


def find_best(
    chart: Chart,
    steps: Steps,
    *,
    k: int = 1,
    distinct: bool = False,
    method: str,
    threads: int | None,
) -> Parses:
    """The best `k` parses of every sentence."""
    found = Found.of_nothing()
    engine = _engine(method, chart, threads, k)
    if len(chart):
        found = engine.decode(chart, steps, k, distinct, threads)
    _check(chart, np.flatnonzero(found.counts == 0).tolist())
    _check_sums(chart, found)
    return Parses(Batch(found, chart.lengths, steps), k)


def find_marginals(
    chart: Chart, steps: Steps, *, method: str, threads: int | None
) -> list[Marginal]:
    """Log partition, violations and marginals of every sentence."""
    engine = _engine(method, chart, threads)
    results = engine.marginals(chart, steps, threads) if len(chart) else []
    _check(chart, (b for b, one in enumerate(results) if one.log_partition == -math.inf))
    return results


def whole_number(what: str, value: Any) -> int:
    """An option that counts something, from 1 to more than anybody has."""
    number = value.__index__() if hasattr(value, "__index__") else 0
    if isinstance(value, bool) or not 1 <= number < 2**31:
        raise OptionError(f"{what} is a whole number from 1, not {value!r}")
    return int(number)


def _check(chart: Chart, impossible: Iterable[int]) -> None:
    for b in impossible:
        n = int(chart.lengths[b])
        place = Place(sentence=b + 1, span=(0, n))
        raise NoParse(f"every tree over its {n} words holds a score of -inf", place)


def _check_sums(chart: Chart, found: Found) -> None:
    """Refuse sums beyond the largest number, which would make all trees look alike."""
    if np.isposinf(found.scores).any():
        first = int(np.isposinf(found.scores).argmax())
        b = int(np.searchsorted(np.cumsum(found.counts), first, side="right"))
        place = Place(sentence=b + 1, span=(0, int(chart.lengths[b])))
        raise BadScore("the scores of the best tree add up to more than their type holds", place)


def _engine(method: str, chart: Chart, threads: int | None, k: int = 1) -> Engine:
    """The decoder for a chart: the kernel, or PyTorch where the scores lie on another device."""
    if threads is not None:
        whole_number("threads", threads)
    if method not in get_args(Method):
        raise OptionError(f"the method is one of {', '.join(get_args(Method))}, not {method!r}")
    if method == "auto":
        elsewhere = len(chart) and is_tensor(chart.sample) and chart.sample.device.type != "cpu"
        method = "batched" if elsewhere and k == 1 else "native"
    if method == "batched" and k > 1:
        raise OptionError("the batched decoder finds the best tree only: k best is for the others")
    module: Engine = import_module(f"treewright.decode.{method}")
    return module
