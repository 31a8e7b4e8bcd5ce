"""Decoding: scores of spans in, the best trees out. One door for every decoder.

Owns `decode`; beside it `marginals`, `minimum_risk` and `fit_temperature`, each with a file of its
own. What a chart is: `treewright.charts`. What is decoded, and how ties fall: docs/decoding.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treewright.charts import Array, as_chart
from treewright.decode.calibration import Calibration, fit_temperature
from treewright.decode.constraints import Constraints, constrain
from treewright.decode.engines import Method, find_best, whole_number
from treewright.decode.marginals import Confidence, Marginals, confidences, marginals
from treewright.decode.parses import Found, Parse, Parses
from treewright.decode.risk import minimum_risk
from treewright.decode.steps import as_steps

if TYPE_CHECKING:
    from treewright.grammar import Grammar, RuleTables

__all__ = [
    "Calibration",
    "Confidence",
    "Constraints",
    "Found",
    "Marginals",
    "Method",
    "Parse",
    "Parses",
    "confidences",
    "decode",
    "fit_temperature",
    "marginals",
    "minimum_risk",
]


def decode(
    chart: Array,
    labels: Sequence[str],
    grammar: Grammar | RuleTables | None = None,
    *,
    lengths: Any = None,
    penalty: float = math.inf,
    rule_scores: Any = None,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    k: int = 1,
    distinct: bool = False,
    method: Method = "auto",
    threads: int | None = None,
) -> Any:
    """The best tree, or the best `k`, of every sentence of a chart.

    Args:
        chart: scores of spans, numpy or torch, packed or padded, of one sentence or of many; see
            `treewright.charts.as_chart`.
        labels: the symbols that name the columns.
        grammar: whose rules the trees obey; without one, every tree over the labels may win.
        lengths: the numbers of words of a padded or packed batch.
        penalty: what each violation of the grammar costs. With infinity the fewest violations win,
            then the score; with 0 the grammar only says which steps it lacks.
        rule_scores: what each rule adds where it is used: a mapping from rules, or an array in the
            order of the rules of `grammar.tables(labels)`.
        constraints: the user's own, of one sentence, or a list with one (or `None`) a sentence.
        k: how many trees.
        distinct: whether the `k` must differ after undoing binarisation.
        method: `reference` (plain Python), `native` (C++) or `batched` (PyTorch, on the chart's
            device). All give the same answer; `auto` takes the fastest.
        threads: how many the kernel may use; as many as the machine has, by default.

    Returns:
        A `Parse` for one sentence; for a batch a `Parses`, which is like a list of them. With
        `k > 1`, a list of parses in place of each parse, the best first.

    >>> import numpy as np
    >>> scores = np.zeros((3, 3))  # the spans (0, 1), (0, 2), (1, 2)
    >>> scores[1, 2] = 1.0
    >>> parse = decode(scores, ["@", "NP", "S"])
    >>> parse.score, parse.spans[0]
    (1.0, Span(start=0, end=2, label='S'))
    >>> parse.tree(["I", "run"], ["PRP", "VBP"]).brackets()
    '(S (PRP I) (VBP run))'
    """
    checked = as_chart(chart, labels, lengths)
    if constraints is not None:
        checked = constrain(checked, constraints)
    steps = as_steps(checked.labels, grammar, penalty, rule_scores)
    k = whole_number("k", k)
    distinct = bool(distinct)
    parses = find_best(checked, steps, k=k, distinct=distinct, method=method, threads=threads)
    return parses[0] if checked.single else parses
