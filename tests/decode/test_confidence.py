"""What people do with marginals: confidences, minimum risk, a temperature."""

from __future__ import annotations

import numpy as np
import pytest

from decode import enumeration
from decode.strategies import simple_grammar
from treewright.charts import Labels, cell_count, to_packed, to_padded
from treewright.decode import confidences, decode, fit_temperature, marginals, minimum_risk
from treewright.errors import OptionError
from treewright.trees import Span

LABELS = ["@", "$", "A", "B"]
KINDS = Labels(LABELS).kinds.tolist()


def charts(seed: int, sentences: int = 6, longest: int = 4, scale: float = 1.0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, sentences)
    return [rng.normal(scale=scale, size=(cell_count(n), 4)) for n in lengths]


def test_marginals_can_be_asked_by_span_symbol_and_label() -> None:
    labels = ["@", "$", "S::VP", "VP"]
    scores = np.random.default_rng(0).normal(size=(6, 4))
    result = marginals(scores, labels)
    row = result.probabilities[4]  # the span (1, 3)
    assert result.symbol(1, 3, "VP") == row[3]
    assert result.label(1, 3, "VP") == pytest.approx(row[2] + row[3])
    assert result.label(1, 3, "S") == row[2]
    assert result.span(1, 3) == pytest.approx(row[2] + row[3])
    assert result.spans.tolist() == pytest.approx([result.span(i, j) for i in range(3)
                                                   for j in range(i + 1, 4)])  # fmt: skip
    assert result.padded()[1, 3].tolist() == row.tolist()
    assert [tuple(c) for c in result.likely(0.0)] == [
        (i, j, name, result.symbol(i, j, name))
        for i in range(3) for j in range(i + 1, 4) for name in labels[2:]
    ]  # fmt: skip
    with pytest.raises(OptionError, match=r"\(0, 4\) is no span"):
        result.span(0, 4)


def test_confidences_are_the_probabilities_of_constituents() -> None:
    scores = charts(1)[0]
    parse, result = decode(scores, LABELS), marginals(scores, LABELS)
    found = confidences(parse, result)
    assert [tuple(c)[:3] for c in found] == [s for s in parse.spans if s.label in "AB"]
    assert [c.probability for c in found] == [result.symbol(c.start, c.end, c.label) for c in found]


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("penalty", [None, 1.0, np.inf])
def test_minimum_risk_is_the_least_risk_of_all_trees(threshold: float, penalty: float) -> None:
    """At 1/2: the tree with the fewest expected brackets too many and too few."""
    grammar = None if penalty is None else simple_grammar()
    for chart in charts(2, scale=2.0):
        n = int(np.sqrt(2 * len(chart)))
        tables = grammar.tables(LABELS) if grammar else None
        worth = enumeration.judge(to_padded(chart, n), n, KINDS, tables, penalty or 0.0)
        _, probabilities = enumeration.marginals(worth, to_padded(chart, n))
        gains = np.where(np.array(KINDS) == 0, probabilities - threshold, 0.0)
        hard = np.inf if penalty == np.inf else 0.0
        best = enumeration.judge(gains, n, KINDS, tables, hard)
        parse = minimum_risk(chart, LABELS, grammar, penalty=penalty or 0.0, threshold=threshold)
        first = best.order[0]
        assert parse.score == pytest.approx(best.scores[first])
        assert parse.n_violations == best.violations[first]


def test_minimum_risk_of_a_batch_and_of_a_padded_sentence() -> None:
    both = charts(5)
    alone = [minimum_risk(chart, LABELS).spans for chart in both]
    assert [parse.spans for parse in minimum_risk(both, LABELS)] == alone
    padded = to_padded(both[0], int(np.sqrt(2 * len(both[0]))))
    assert minimum_risk(padded, LABELS).spans == alone[0]
    with pytest.raises(OptionError, match="threshold"):
        minimum_risk(padded, LABELS, threshold=1.5)


def samples(scale: float, sentences: int) -> tuple[list[np.ndarray], list[list[Span]]]:
    """Charts, and trees drawn from the distribution of the charts divided by a temperature."""
    rng = np.random.default_rng(11)
    drawn, gold = [], []
    for chart in charts(7, sentences):
        n = int(np.sqrt(2 * len(chart)))
        worth = enumeration.judge(to_padded(chart, n), n, KINDS)
        weights = np.exp(worth.scores)
        spans = worth.spans[rng.choice(len(weights), p=weights / weights.sum())].tolist()
        drawn.append(chart * scale)
        gold.append([Span(i, j, LABELS[label]) for i, j, label in spans])
    return drawn, gold


@pytest.mark.parametrize("scale", [0.25, 1.0, 4.0])
def test_the_temperature_that_the_data_were_drawn_with_is_found(scale: float) -> None:
    drawn, gold = samples(scale, 400)
    fit = fit_temperature(drawn, LABELS, gold)
    assert fit.temperature == pytest.approx(scale, rel=0.25)
    assert fit.loss_after <= fit.loss_before
    around = [fit.temperature * factor for factor in (0.8, 1.25)]
    assert all(loss(drawn, gold, t) > fit.loss_after for t in around)
    assert loss(drawn, gold, fit.temperature) == pytest.approx(fit.loss_after)


def loss(drawn: list[np.ndarray], gold: list[list[Span]], temperature: float) -> float:
    """The log loss of what stands on each span, written out."""
    total = 0.0
    for result, spans in zip(marginals(drawn, LABELS, temperature=temperature), gold, strict=True):
        real = {(i, j): label for i, j, label in spans if label in "AB"}
        for i in range(result.n):
            for j in range(i + 1, result.n + 1):
                label = real.get((i, j))
                chosen = result.symbol(i, j, label) if label else 1 - result.span(i, j)
                total -= np.log(max(chosen, 1e-9))
    return total / len(drawn)


def test_what_cannot_be_calibrated() -> None:
    chart = [np.zeros((3, 4))]
    for gold, message in [
        ([], "1 sentences, but 0"),
        ([[(0, 3, "A")]], r"span \(0, 3\): a gold span outside 2 words"),
        ([[(0, 2, "X")]], "gold label 'X' is no column"),
    ]:
        with pytest.raises(OptionError, match=message):
            fit_temperature(chart, LABELS, gold)
    with pytest.raises(OptionError, match="temperature"):
        marginals(chart, LABELS, temperature=0.0)


def test_a_colder_distribution_is_surer() -> None:
    chart = charts(9)[0]
    warm, cold = (marginals(chart, LABELS, temperature=t) for t in (10.0, 0.01))
    best = decode(chart, LABELS)
    assert all(c.probability > 0.99 for c in confidences(best, cold))
    assert min(c.probability for c in confidences(best, warm)) < 0.7
    assert to_packed(cold.padded()).tolist() == cold.probabilities.tolist()
