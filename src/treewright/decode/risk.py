"""Minimum-risk decoding: the tree with the fewest expected mistakes, not the most probable one.

Owns the reduction to ordinary decoding: a constituent with probability p gains `p - threshold`,
nulls gain nothing. At 1/2 the gain is half of what the constituent takes from the expected number
of wrong and missing brackets; towards 0 the tree has more brackets (recall), towards 1 fewer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.charts import Array, Chart, as_chart
from treewright.decode.constraints import Constraints, constrain
from treewright.decode.engines import Method, find_best
from treewright.decode.marginals import Marginals, marginals_of
from treewright.decode.steps import Steps, as_steps
from treewright.errors import OptionError
from treewright.grammar import Kind

if TYPE_CHECKING:
    from treewright.grammar import Grammar, RuleTables


def minimum_risk(
    chart: Array,
    labels: Sequence[str],
    grammar: Grammar | RuleTables | None = None,
    *,
    lengths: Any = None,
    penalty: float = math.inf,
    rule_scores: Any = None,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    temperature: float = 1.0,
    threshold: float = 0.5,
    method: Method = "auto",
    threads: int | None = None,
) -> Any:
    """The tree, or trees of a batch, whose constituents are expected to be right.

    Arguments are those of `decode` and `marginals`; a parse's score is the sum of its gains. Under
    an infinite penalty the tree obeys the grammar as far as any can. A finite one has had its say
    in the marginals; the tree is then chosen by them alone.
    """
    if not 0 <= threshold <= 1:
        raise OptionError(f"a threshold lies between 0 and 1, not {threshold}")
    checked = as_chart(chart, labels, lengths)
    if constraints is not None:
        checked = constrain(checked, constraints)
    steps = as_steps(checked.labels, grammar, penalty, rule_scores)
    results = marginals_of(checked, steps, temperature, method, threads)
    gains = _gains(checked, results, threshold)
    rule_scores = np.zeros_like(steps.rule_scores)
    penalty = math.inf if steps.penalty == math.inf else 0.0
    steps = Steps(steps.labels, steps.tables, penalty, rule_scores)
    parses = find_best(gains, steps, method=method, threads=threads)
    return parses[0] if checked.single else parses


def _gains(chart: Chart, results: list[Marginals], threshold: float) -> Chart:
    """What every label gains on every span, packed; what the scores forbid stays forbidden."""
    real = chart.labels.kinds == Kind.REAL
    parts = []
    for b, result in enumerate(results):
        gains = np.where(real, result.probabilities - threshold, 0.0)
        gains[chart.sentence(b) == -np.inf] = -np.inf
        parts.append(gains)
    return as_chart(parts, chart.labels)
