"""Algorithm 5 as meant finds what the reference finds: a baseline that is wrong is no baseline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from decode.strategies import Case, cases, treebank_grammar
from treewright.charts import to_padded
from treewright.decode import decode
from treewright.errors import NoParse

torch = pytest.importorskip("torch")


def found_and_wanted(case: Case, at: int) -> tuple[float, float, float]:
    """The score that algorithm 5 reports, that of its spans, and the reference's."""
    import algorithm_5_as_meant

    assert case.grammar is not None
    chart = case.charts[at]
    n = int(np.sqrt(2 * len(chart)))
    padded = to_padded(chart, n)
    rules = algorithm_5_as_meant.dense_rules(case.grammar.tables(case.labels))
    score, spans = algorithm_5_as_meant.decode(torch.from_numpy(padded), rules)
    of_spans = sum(float(padded[span]) for span in spans) if spans else -np.inf
    assert len(spans) in (0, 2 * n - 1)
    try:
        best = decode(chart, case.labels, case.grammar, method="reference")
    except NoParse:
        return score, of_spans, -np.inf
    return score, of_spans, best.score if best.n_violations == 0 else -np.inf


@given(case=cases(6))
@settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
def test_equal_to_the_reference(case: Case) -> None:
    if case.grammar is None:
        return
    for at in range(len(case.charts)):
        score, of_spans, wanted = found_and_wanted(case, at)
        assert score == of_spans == wanted


def test_equal_to_the_reference_under_a_treebank_grammar(shared: Path) -> None:
    grammar = treebank_grammar(shared / "data" / "wsj_dev.mrg", "$")
    labels = list(grammar.labels)
    scores = np.random.default_rng(5).integers(-9, 10, (10 * 11 // 2, len(labels))).astype(float)
    score, of_spans, wanted = found_and_wanted(Case([scores], labels, grammar, np.inf, None), 0)
    assert score == of_spans == wanted > -np.inf
