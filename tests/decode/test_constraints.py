"""Constraints that cannot be met are refused with their place; that the others hold is shown by
`test_agreement.test_constraints_on_everything`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optional import ARRAY_KINDS
from treewright.decode import Constraints, decode, minimum_risk
from treewright.errors import ConstraintError, OptionError

LABELS = ["@", "$", "NP", "S::VP", "VP::NP"]


@pytest.mark.parametrize(
    ("constraints", "span", "message"),
    [
        ({"must": [(0, 5)]}, (0, 5), "no span of 4 words"),
        ({"must_not": [(2, 2)]}, (2, 2), "no span"),
        ({"no_cross": [(-1, 2)]}, (-1, 2), "no span"),
        ({"must": [(0.5, 2)]}, None, "in whole numbers, not"),
        ({"must": [(0, 2, "NP", "VP")]}, None, r"is \(start, end\) or \(start, end, label\)"),
        ({"must": [(0,)]}, None, "a span of a constraint is"),
        ({"must_not": [(0, 2, "NP")]}, None, r"is \(start, end\), in whole"),
        ({"no_cross": [3]}, None, "not 3"),
        ({"must": [(0, 2, "PP")]}, (0, 2), "no column of the chart holds the label 'PP'"),
        ({"must": [(0, 2, "$")]}, (0, 2), "no column of the chart holds the label"),
        ({"must": [(0, 2, "S"), (0, 2, "NP")]}, (0, 2), "holds 'S' and 'NP'"),
        ({"must": [(0, 2)], "must_not": [(0, 2)]}, (0, 2), "must be a constituent and must not"),
        ({"must": [(0, 2), (1, 3)]}, (0, 2), r"the span and \(1, 3\) must be constituents, but"),
        ({"must": [(1, 3)], "no_cross": [(2, 4)]}, (1, 3), r"no bracket may cross \(2, 4\)"),
        ({"must_not": [(0, 4)]}, (0, 4), "always a constituent"),
    ],
)
def test_contradictions(constraints: dict[str, Any], span: Any, message: str) -> None:
    wishes = [None, Constraints(**constraints)]
    with pytest.raises(ConstraintError, match=message) as error:
        decode(np.zeros((2, 5, 5, 5)), LABELS, constraints=wishes)
    assert error.value.place is not None
    assert (error.value.place.sentence, error.value.place.span) == (2, span)


def test_a_label_counts_when_it_is_one_of_a_chain() -> None:
    wish = Constraints(must=[(1, 3, "VP")])
    parse = decode(np.zeros((5, 5, 5)), LABELS, constraints=wish)
    assert (1, 3, "S::VP") in parse.spans
    both = Constraints(must=[(1, 3, "VP"), (1, 3, "NP")])
    assert (1, 3, "VP::NP") in decode(np.zeros((5, 5, 5)), LABELS, constraints=both).spans


@pytest.mark.parametrize("kind", ARRAY_KINDS)
@pytest.mark.parametrize("layout", ["packed", "padded", "list"])
def test_only_a_copy_is_changed(kind: Any, layout: str) -> None:
    scores = kind({"packed": np.zeros((20, 5)), "padded": np.zeros((2, 5, 5, 5)),
                   "list": np.zeros((10, 5))}[layout])  # fmt: skip
    given = [scores, scores] if layout == "list" else scores
    lengths = [4, 4] if layout == "packed" else None
    wishes = [Constraints(must=[(1, 3, "NP")]), Constraints(must_not=[(0, 1)])]
    parses = decode(given, LABELS, constraints=wishes, lengths=lengths)
    assert (1, 3, "NP") in parses[0].spans
    assert (0, 1, "@") in parses[1].spans
    assert not scores.any()


def test_constraints_for_one_sentence_or_for_each() -> None:
    wish = Constraints(must=[(0, 1)])
    assert decode(np.zeros((3, 5)), LABELS, constraints=[wish]).spans[1].label == "NP"
    with pytest.raises(OptionError, match="a batch takes a list"):
        decode([np.zeros((3, 5))], LABELS, constraints=wish)
    with pytest.raises(OptionError, match="1 sentences, but 2 constraints"):
        decode([np.zeros((3, 5))], LABELS, constraints=[wish, wish])


def test_what_is_no_constraint() -> None:
    for wishes in ([None, {"must": [(0, 1)]}], {"must": 1, "must_not": 2}):
        with pytest.raises(ConstraintError, match="Constraints or None, not"):
            decode(np.zeros((2, 3, 3, 5)), LABELS, constraints=wishes)


def test_minimum_risk_obeys_too() -> None:
    wish = Constraints(must=[(1, 3, "S")], must_not=[(0, 1), (3, 4)])
    chart = np.random.default_rng(3).normal(size=(10, 5)) * 3
    spans = minimum_risk(chart, LABELS, constraints=wish).spans
    assert {(1, 3, "S::VP"), (0, 1, "@"), (3, 4, "@")} <= set(spans)
