"""Marginals: how probable every label over every span is, given the scores.

Owns the door `marginals`, its results, and the confidences of a parse. A derivation weighs the
exponential of its score (see `decode`) over the temperature. Under an infinite penalty only those
with the fewest violations weigh anything, so where legal trees exist they have it all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.charts import (
    Array,
    Chart,
    Labels,
    as_chart,
    cell_spans,
    packed_index,
    to_padded,
)
from treewright.decode.constraints import Constraints, constrain
from treewright.decode.engines import Method, find_marginals
from treewright.decode.parses import Marginal, Parse
from treewright.decode.steps import Steps, as_steps
from treewright.errors import OptionError
from treewright.grammar import Kind
from treewright.trees import Span

if TYPE_CHECKING:
    from treewright.grammar import Grammar, RuleTables


class Confidence(NamedTuple):
    """A constituent and the probability that it is right, label and all."""

    start: int
    end: int
    label: str
    probability: float


class Marginals:
    """The probabilities of one sentence's spans.

    `probabilities` is packed, `(n(n+1)/2, L)`: that a span stands in the binary tree with the
    symbol of a column, nulls too.
    """

    def __init__(self, labels: Labels, n: int, marginal: Marginal) -> None:
        self.labels = labels
        self.n = n
        self.log_partition = marginal.log_partition
        self.n_violations = int(marginal.violations)
        self.probabilities = marginal.probabilities

    @property
    def spans(self) -> npt.NDArray[np.float64]:
        """The probability of every span to be a constituent, packed: `(n(n+1)/2,)`."""
        real = self.probabilities[:, self.labels.kinds == Kind.REAL]
        sums: npt.NDArray[np.float64] = real.sum(axis=1)
        return sums

    def span(self, i: int, j: int) -> float:
        """The probability that a span is a constituent."""
        return float(self.spans[self._cell(i, j)])

    def symbol(self, i: int, j: int, symbol: str) -> float:
        """The probability that a span carries exactly this symbol, say the chain `S::VP`."""
        return float(self.probabilities[self._cell(i, j), self.labels.columns[symbol]])

    def label(self, i: int, j: int, label: str) -> float:
        """The probability that a constituent of this label covers a span, alone or in a chain."""
        return float(self.probabilities[self._cell(i, j), self.labels.holding(label)].sum())

    def padded(self) -> npt.NDArray[np.float64]:
        """The probabilities as `(n+1, n+1, L)`, 0 where there is no span."""
        padded: npt.NDArray[np.float64] = to_padded(self.probabilities, self.n, fill=0.0)
        return padded

    def likely(self, above: float = 0.5) -> list[Confidence]:
        """The constituents more probable than `above`, in the order of their spans."""
        begins, ends = cell_spans(self.n)
        real = self.labels.kinds == Kind.REAL
        cells, columns = np.nonzero((self.probabilities > above) & real)
        names = [self.labels.names[column] for column in columns]
        values = self.probabilities[cells, columns].tolist()
        spans = zip(begins[cells].tolist(), ends[cells].tolist(), names, values, strict=True)
        return [Confidence(*span) for span in spans]

    def _cell(self, i: int, j: int) -> int:
        if not 0 <= i < j <= self.n:
            raise OptionError(f"({i}, {j}) is no span of {self.n} words")
        return packed_index(self.n, i, j)


def marginals(
    chart: Array,
    labels: Sequence[str],
    grammar: Grammar | RuleTables | None = None,
    *,
    lengths: Any = None,
    penalty: float = math.inf,
    rule_scores: Any = None,
    constraints: Constraints | Sequence[Constraints | None] | None = None,
    temperature: float = 1.0,
    method: Method = "auto",
    threads: int | None = None,
) -> Any:
    """How probable every label over every span is: `Marginals`, or a list of them for a batch.

    Arguments are those of `decode`. A `temperature` above 1 makes probabilities less sure: scores,
    rule scores and penalty are divided by it. `fit_temperature` finds a good one.

    >>> result = marginals(np.zeros((3, 3)), ["@", "NP", "S"])
    >>> round(result.label(0, 2, "S"), 3), round(result.span(0, 1), 3)
    (0.5, 0.667)
    """
    checked = as_chart(chart, labels, lengths)
    if constraints is not None:
        checked = constrain(checked, constraints)
    steps = as_steps(checked.labels, grammar, penalty, rule_scores)
    answers = marginals_of(checked, steps, temperature, method, threads)
    return answers[0] if checked.single else answers


def marginals_of(
    chart: Chart, steps: Steps, temperature: float, method: Method, threads: int | None
) -> list[Marginals]:
    """The marginals of a chart that has been checked."""
    if not 0 < temperature < math.inf:
        raise OptionError(f"a temperature is above 0 and finite, not {temperature}")
    if temperature != 1.0:
        chart = chart.map(lambda scores: scores / temperature)
        steps = steps.scaled(1.0 / temperature)
    results = find_marginals(chart, steps, method=method, threads=threads)
    lengths = chart.lengths.tolist()
    return [Marginals(chart.labels, n, one) for n, one in zip(lengths, results, strict=True)]


def confidences(parse: Parse, marginals: Marginals) -> list[Confidence]:
    """The constituents of a parse, each with the probability of its span and symbol."""
    columns = parse.columns[2]
    real = marginals.labels.kinds[columns] == Kind.REAL
    spans: list[Span] = [span for span, is_real in zip(parse.spans, real, strict=True) if is_real]
    n = marginals.n
    cells = [packed_index(n, span.start, span.end) for span in spans]
    values = marginals.probabilities[cells, columns[real]].tolist()
    return [Confidence(*span, value) for span, value in zip(spans, values, strict=True)]
