"""A user's own constraints on a sentence: what must be a constituent, and what must not.

Owns the checking of constraints and their one realisation: -inf in a copy of the chart. So every
decoder obeys them alike, and so do marginals and minimum risk.

* A span that must be a constituent: its nulls, and everything on the spans that cross it, are
  impossible. (A binary tree that no span of it crosses a given span with, holds that span.)
* With a label: so are the columns whose chain does not hold it.
* A span that must not be one: all but its nulls are impossible.
* A span that no bracket may cross: constituents on the spans that cross it are impossible. Marks
  may cross it, since they are no brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.charts import Chart, Labels, cell_spans, indices, is_tensor, packed_index
from treewright.errors import ConstraintError, OptionError, Place
from treewright.grammar import Kind

Pair = tuple[int, int]


@dataclass(frozen=True)
class Constraints:
    """What the tree of one sentence must and must not have; spans are half-open.

    >>> Constraints(must=[(0, 2), (2, 5, "VP")], must_not=[(3, 5)], no_cross=[(0, 3)])
    Constraints(must=[(0, 2), (2, 5, 'VP')], must_not=[(3, 5)], no_cross=[(0, 3)])
    """

    must: Sequence[Pair | tuple[int, int, str]] = ()
    """Spans that are constituents, or that are with this label as one symbol of their chain."""

    must_not: Sequence[Pair] = ()
    """Spans that are no constituents."""

    no_cross: Sequence[Pair] = ()
    """Spans that no bracket crosses; they need not be constituents themselves."""


def constrain(chart: Chart, constraints: Constraints | Sequence[Constraints | None]) -> Chart:
    """A copy of a chart in which whatever the constraints forbid is -inf."""
    if isinstance(constraints, Constraints):
        if not chart.single:
            raise OptionError("a batch takes a list of constraints, one a sentence (or None)")
        constraints = [constraints]
    if len(constraints) != len(chart):
        raise OptionError(f"{len(chart)} sentences, but {len(constraints)} constraints")
    for b, one in enumerate(constraints):
        if not isinstance(one, Constraints | None):
            message = f"a sentence has Constraints or None, not {type(one).__name__}"
            raise ConstraintError(message, Place(sentence=b + 1))
    copy = chart.map(lambda scores: scores.clone() if is_tensor(scores) else scores.copy())
    for b, one in enumerate(constraints):
        if one is not None:
            n = int(chart.lengths[b])
            cells, columns = np.nonzero(_forbidden(one, n, chart.labels, b + 1))
            if copy.is_padded:
                begins, ends = cell_spans(n)
                places = indices(copy.sample, begins[cells], ends[cells], columns)
                copy.scores[b][places] = -np.inf
            else:
                copy.rows(b)[indices(copy.sample, cells, columns)] = -np.inf
    return copy


def _forbidden(
    constraints: Constraints, n: int, labels: Labels, sentence: int
) -> npt.NDArray[np.bool_]:
    """What the constraints forbid of a packed sentence: `(n(n+1)/2, L)`."""
    required = _required(constraints, n, labels, sentence)
    must_not = [_span(span, n, sentence, (2,)) for span in constraints.must_not]
    no_cross = [_span(span, n, sentence, (2,)) for span in constraints.no_cross]
    _check(list(required), must_not, no_cross, n, sentence)
    begins, ends = cell_spans(n)
    real = labels.kinds == Kind.REAL
    forbidden = np.zeros((len(begins), len(labels)), dtype=np.bool_)
    for i, j in must_not:
        forbidden[packed_index(n, i, j)] |= real
    for i, j in no_cross:
        forbidden[_crossing(begins, ends, i, j)] |= real
    for (i, j), allowed in required.items():
        forbidden[packed_index(n, i, j)] |= ~allowed
        forbidden[_crossing(begins, ends, i, j)] = True
    return forbidden


def _crossing(begins: Any, ends: Any, i: int, j: int) -> Any:
    """Whether spans cross `(i, j)`: both begin before the other's end, and neither holds it."""
    return ((begins < i) & (i < ends) & (ends < j)) | ((i < begins) & (begins < j) & (j < ends))


def _span(span: Any, n: int, sentence: int, sizes: tuple[int, ...]) -> Pair:
    try:
        if len(span) not in sizes:
            raise TypeError
        i, j = map(index, span[:2])
    except TypeError:
        form = "(start, end) or (start, end, label)" if 3 in sizes else "(start, end)"
        message = f"a span of a constraint is {form}, in whole numbers, not {span!r}"
        raise ConstraintError(message, Place(sentence=sentence)) from None
    if not 0 <= i < j <= n:
        message = f"a constraint on ({i}, {j}), which is no span of {n} words"
        raise ConstraintError(message, Place(sentence=sentence, span=(i, j)))
    return i, j


def _required(
    constraints: Constraints, n: int, labels: Labels, sentence: int
) -> dict[Pair, npt.NDArray[np.bool_]]:
    """The columns allowed on each span that must be a constituent."""
    required: dict[Pair, npt.NDArray[np.bool_]] = {}
    names: dict[Pair, list[str]] = {}
    for must in constraints.must:
        span = _span(must, n, sentence, (2, 3))
        place = Place(sentence=sentence, span=span)
        allowed = required.setdefault(span, labels.kinds == Kind.REAL)
        if len(must) == 3:
            label = must[2]
            holding = labels.holding(label)
            if not holding:
                raise ConstraintError(f"no column of the chart holds the label {label!r}", place)
            names.setdefault(span, []).append(label)
            allowed &= np.isin(np.arange(len(labels)), holding)
        if not allowed.any():
            wanted = " and ".join(map(repr, names.get(span, ["a constituent"])))
            raise ConstraintError(f"no column of the chart holds {wanted}", place)
    return required


def _check(
    must: list[Pair], must_not: list[Pair], no_cross: list[Pair], n: int, sentence: int
) -> None:
    """Refuse constraints that contradict each other or the shape of trees."""
    for span in must_not:
        if span in must:
            message = "the span must be a constituent and must not be one"
            raise ConstraintError(message, Place(sentence=sentence, span=span))
        if span == (0, n) and n > 1:
            message = "the whole sentence is always a constituent"
            raise ConstraintError(message, Place(sentence=sentence, span=span))
    for number, span in enumerate(must):
        place = Place(sentence=sentence, span=span)
        for other in _that_cross(span, must[number + 1 :]):
            raise ConstraintError(f"the span and {other} must be constituents, but cross", place)
        for other in _that_cross(span, no_cross):
            message = f"the span must be a constituent, but no bracket may cross {other}"
            raise ConstraintError(message, place)


def _that_cross(span: Pair, others: Iterable[Pair]) -> Iterable[Pair]:
    return (other for other in others if _crossing(*span, *other))
