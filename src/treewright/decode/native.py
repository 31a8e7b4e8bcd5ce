"""The native decoder: what the C++ kernel does, put into the shapes of this room.

Owns the calls into `treewright._kernel` and what they need: scores as the kernel can read them in
place, and rule tables prepared once.
"""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treewright import _kernel
from treewright.charts import Chart, is_tensor
from treewright.decode.parses import Found, Marginal
from treewright.decode.steps import Steps
from treewright.grammar import RuleTables

_FOUND, _IMPOSSIBLE, _INVALID = range(3)


def decode(chart: Chart, steps: Steps, k: int, distinct: bool, threads: int | None) -> Found:
    """The best `k` derivations of every sentence."""
    if k > 1:
        return _k_best(chart, steps, k, distinct, threads)
    nodes, first_node, scores, statuses, *_ = _kernel.decode(
        **_asked(chart, steps, threads), penalty=steps.penalty
    )
    _check(chart, statuses)
    found = statuses == _FOUND
    if not found.all():
        nodes = nodes[np.repeat(found, np.diff(first_node))]
        scores = scores[found]
    return Found(scores, found.astype(np.int64), nodes[:, 0], nodes[:, 1], nodes[:, 2])


def _k_best(chart: Chart, steps: Steps, k: int, distinct: bool, threads: int | None) -> Found:
    nodes, first_tree, scores, _, statuses, _ = _kernel.k_best(
        **_asked(chart, steps, threads), penalty=steps.penalty, k=k, distinct=distinct
    )
    _check(chart, statuses)
    return Found(scores, np.diff(first_tree), nodes[:, 0], nodes[:, 1], nodes[:, 2])


def marginals(chart: Chart, steps: Steps, threads: int | None) -> list[Marginal]:
    """Log partition, violations and marginals of every sentence."""
    probabilities, totals, violations, statuses, *_ = _kernel.marginals(
        **_asked(chart, steps, threads), penalty=steps.penalty
    )
    _check(chart, statuses)
    totals = np.where(statuses == _FOUND, totals, -np.inf)
    rows = chart.offsets.tolist()
    return [
        Marginal(total, violated, probabilities[rows[b] : rows[b + 1]])
        for b, (total, violated) in enumerate(
            zip(totals.tolist(), violations.tolist(), strict=True)
        )
    ]


def _asked(chart: Chart, steps: Steps, threads: int | None) -> dict[str, Any]:
    """What all of the kernel's doors are told."""
    return {
        "scores": _readable(chart),
        "lengths": chart.lengths.astype(np.int32),
        "kinds": chart.labels.kinds,
        "grammar": _grammar(steps),
        "threads": _threads(threads),
    }


def _check(chart: Chart, statuses: npt.NDArray[np.int8]) -> None:
    if (statuses == _INVALID).any():
        chart.check_values()


def _readable(chart: Chart) -> Any:
    """The scores without a copy, unless rows are not one after the other in this memory."""
    return chart.map(_rows_readable).scores if chart.listed else _rows_readable(chart.scores)


def _rows_readable(scores: Any) -> Any:
    if is_tensor(scores):
        scores = scores.cpu().numpy()
    if scores.ndim == 4 and scores.strides[-1] == scores.itemsize:
        return scores
    return np.ascontiguousarray(scores)


# Prepared tables, as long as the tables live; with scores of their own, rules change too often.
_prepared: WeakKeyDictionary[RuleTables, _kernel.Grammar] = WeakKeyDictionary()


def _grammar(steps: Steps) -> _kernel.Grammar | None:
    tables = steps.tables
    if tables is None or steps.free:
        return None
    scored = bool(steps.rule_scores.any())
    if not scored and tables in _prepared:
        return _prepared[tables]
    grammar = _kernel.Grammar(
        tables.kinds,
        tables.pairs,
        tables.rules,
        tables.words,
        tables.roots,
        steps.rule_scores if scored else None,
    )
    if not scored:
        _prepared[tables] = grammar
    return grammar


def _threads(threads: int | None) -> int:
    if threads is not None:
        return int(threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
