"""One body of tests through every decoder: against all derivations, and against the reference."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decode import enumeration
from decode.strategies import (
    FEW,
    Case,
    cases,
    constraint_sets,
    simple_grammar,
    treebank_cases,
    treebank_grammar,
)
from optional import torch
from treewright import _kernel
from treewright.charts import Labels, to_padded
from treewright.decode import Constraints, decode, marginals
from treewright.errors import ConstraintError, NoParse
from treewright.trees.symbols import SCHEMES, split_chain

METHODS = ["reference", "native", "batched"]
every_method = pytest.mark.parametrize("method", METHODS)
every_fast_method = pytest.mark.parametrize("method", ["native", "batched"])
every_list_method = pytest.mark.parametrize("method", ["reference", "native"])
native = pytest.mark.parametrize("method", ["native"])

few = settings(
    max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
some = settings(few, max_examples=20)
fewest = settings(few, max_examples=4)


def length(case: Case, b: int) -> int:
    """The number of words of a sentence: n(n+1)/2 rows."""
    return int(np.sqrt(2 * len(case.charts[b])))


def judged(case: Case, b: int, temperature: float = 1.0) -> enumeration.Worth:
    """Everything that sentence `b` may be."""
    n = length(case, b)
    kinds = Labels(case.labels).kinds.tolist()
    tables = case.grammar.tables(case.labels) if case.grammar else None
    scores = None if case.rule_scores is None else case.rule_scores / temperature
    chart = to_padded(case.charts[b], n).astype(np.float64) / temperature
    return enumeration.judge(chart, n, kinds, tables, case.penalty / temperature, scores)


def triples(parse: Any, labels: list[str]) -> list[tuple[int, int, int]]:
    return [(span.start, span.end, labels.index(span.label)) for span in parse.spans]


def spans(worth: enumeration.Worth, number: int) -> list[tuple[int, int, int]]:
    return [tuple(span) for span in worth.spans[number].tolist()]


def possible(case: Case, run: Any, impossible: list[bool]) -> bool:
    """Whether all sentences have a tree; if not, `run` must name the first without."""
    if not any(impossible):
        return True
    with pytest.raises(NoParse) as error:
        run(case)
    assert error.value.place.sentence == impossible.index(True) + 1
    return False


def decoder(method: str, **options: Any) -> Any:
    """Decodes a case."""
    return lambda case: decode(
        case.charts, case.labels, case.grammar, method=method, **case.options, **options
    )


def summer(method: str, **options: Any) -> Any:
    """Finds the marginals of a case."""
    return lambda case: marginals(
        case.charts, case.labels, case.grammar, method=method, **case.options, **options
    )


# Against every derivation.


@every_method
@given(case=FEW)
@few
def test_best_of_everything(method: str, case: Case) -> None:
    run = decoder(method)
    worths = [judged(case, b) for b in range(len(case.charts))]
    if not possible(case, run, [not len(worth.order) for worth in worths]):
        return
    for parse, worth in zip(run(case), worths, strict=True):
        first = worth.order[0]
        assert parse.score == worth.scores[first]
        assert parse.n_violations == len(parse.violations) == worth.violations[first]
        assert triples(parse, case.labels) == spans(worth, first)


@every_list_method
@given(case=FEW, k=st.sampled_from([2, 3, 7, 20]), distinct=st.booleans())
@few
def test_k_best_of_everything(method: str, case: Case, k: int, distinct: bool) -> None:
    run = decoder(method, k=k, distinct=distinct)
    worths = [judged(case, b) for b in range(len(case.charts))]
    if not possible(case, run, [not len(worth.order) for worth in worths]):
        return
    kinds = Labels(case.labels).kinds.tolist()
    for parses, worth in zip(run(case), worths, strict=True):
        expected = worth.order.tolist()
        if distinct:
            firsts: dict[Any, int] = {}
            for number in expected:
                firsts.setdefault(enumeration.flat(worth.spans[number], kinds), number)
            expected = list(firsts.values())
        expected = expected[:k]
        assert [parse.score for parse in parses] == worth.scores[expected].tolist()
        assert [triples(parse, case.labels) for parse in parses] == [
            spans(worth, number) for number in expected
        ]


@every_method
@given(case=FEW, temperature=st.sampled_from([1.0, 0.5, 3.0]))
@few
def test_marginals_of_everything(method: str, case: Case, temperature: float) -> None:
    run = summer(method, temperature=temperature)
    worths = [judged(case, b, temperature) for b in range(len(case.charts))]
    if not possible(case, run, [not len(worth.order) for worth in worths]):
        return
    for b, (result, worth) in enumerate(zip(run(case), worths, strict=True)):
        chart = to_padded(case.charts[b], length(case, b))
        total, probabilities = enumeration.marginals(worth, chart)
        assert result.log_partition == pytest.approx(total, rel=1e-5, abs=1e-5)
        assert result.n_violations == -worth.rank[worth.order[0]]
        np.testing.assert_allclose(result.padded(), probabilities, rtol=1e-4, atol=1e-6)


def obeys(spans: list[tuple[int, int, int]], wishes: Constraints, labels: list[str]) -> bool:
    """Whether a derivation meets constraints, told without charts."""
    brackets = {(i, j): split_chain(labels[c]) for i, j, c in spans if split_chain(labels[c])}
    return (
        all((i, j) in brackets for i, j, *_ in wishes.must)
        and all(x in brackets[i, j] for i, j, *label in wishes.must for x in label)
        and not any(span in brackets for span in wishes.must_not)
        and not any(a < i < b < j or i < a < j < b for a, b in brackets for i, j in wishes.no_cross)
    )


@every_method
@given(case=FEW, data=st.data())
@few
def test_constraints_on_everything(method: str, case: Case, data: st.DataObject) -> None:
    case = case._replace(charts=case.charts[:1])
    wishes = data.draw(constraint_sets(length(case, 0), case.labels))
    worth = judged(case, 0)
    granted = [number for number in worth.order if obeys(spans(worth, number), wishes, case.labels)]
    run = decoder(method, constraints=[wishes])
    if not granted:
        with pytest.raises((ConstraintError, NoParse)) as error:
            run(case)
        assert error.value.place.sentence == 1
        return
    parse = run(case)[0]
    assert triples(parse, case.labels) == spans(worth, granted[0])
    assert parse.score == worth.scores[granted[0]]
    result = summer(method, constraints=[wishes])(case)[0]
    for i, j, *label in wishes.must:
        found = result.label(i, j, label[0]) if label else result.span(i, j)
        assert found == pytest.approx(1.0)


# Against the reference.


def agree(method: str, case: Case, **options: Any) -> None:
    """A decoder and the reference answer a case alike, spans and all."""
    try:
        expected = decoder("reference", **options)(case)
    except NoParse as error:
        possible(
            case, decoder(method, **options), [b + 1 == error.place.sentence for b in range(9)]
        )
        return
    for ours, theirs in zip(decoder(method, **options)(case), expected, strict=True):
        pairs = zip(ours, theirs, strict=True) if options else [(ours, theirs)]
        for mine, other in pairs:
            assert mine.score == other.score
            assert mine.spans == other.spans
            assert mine.violations == other.violations
            assert mine.rule_counts.tolist() == other.rule_counts.tolist()


def agree_on_marginals(method: str, case: Case) -> None:
    try:
        expected = summer("reference")(case)
    except NoParse:
        with pytest.raises(NoParse):
            summer(method)(case)
        return
    for mine, other in zip(summer(method)(case), expected, strict=True):
        assert mine.log_partition == pytest.approx(other.log_partition, rel=1e-5, abs=1e-4)
        assert mine.n_violations == other.n_violations
        np.testing.assert_allclose(mine.probabilities, other.probabilities, rtol=1e-3, atol=1e-5)


@every_fast_method
@given(case=cases(40))
@some
def test_long_sentences(method: str, case: Case) -> None:
    agree(method, case)


@every_fast_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("penalty", [None, 0.0, 0.7, np.inf])
def test_scores_that_are_no_integers(method: str, dtype: Any, penalty: float | None) -> None:
    """Sums in another order differ in their last digits; the tree is worth what is claimed."""
    labels = ["@", "$", "A", "B"]
    grammar = None if penalty is None else simple_grammar()
    options = {"labels": labels, "grammar": grammar, "penalty": penalty or 0.0}
    rng = np.random.default_rng(0)
    charts = [rng.normal(size=(n * (n + 1) // 2, 4)).astype(dtype) for n in (1, 2, 9, 33, 40)]
    expected = decode(charts, method="reference", **options)
    close = 1e-4 if dtype == np.float32 else 1e-11
    for chart, mine, other in zip(
        charts, decode(charts, method=method, **options), expected, strict=True
    ):
        assert mine.score == pytest.approx(other.score, abs=close)
        assert mine.n_violations == other.n_violations or penalty != np.inf
        n = mine.spans[0].end
        padded = to_padded(chart.astype(np.float64), n)
        worth = sum(padded[i, j, labels.index(label)] for i, j, label in mine.spans)
        if penalty and penalty < np.inf:
            worth -= penalty * mine.n_violations
        assert mine.score == pytest.approx(worth, abs=close)


@native
@given(case=cases(9), k=st.sampled_from([2, 4]), distinct=st.booleans())
@some
def test_k_best_of_long_sentences(method: str, case: Case, k: int, distinct: bool) -> None:
    agree(method, case, k=k, distinct=distinct)


@every_fast_method
@given(case=cases(20))
@some
def test_marginals_of_long_sentences(method: str, case: Case) -> None:
    agree_on_marginals(method, case)


@pytest.mark.parametrize("scheme", SCHEMES)
@every_fast_method
@given(data=st.data())
@fewest
def test_treebank_grammars(shared: Any, method: str, scheme: Any, data: st.DataObject) -> None:
    grammar = treebank_grammar(shared / "data" / "craft_dev.mrg", scheme)
    agree(method, data.draw(treebank_cases(grammar, 8)))
    agree_on_marginals(method, data.draw(treebank_cases(grammar, 5)))
    if method == "native":
        agree(method, data.draw(treebank_cases(grammar, 4)), k=4)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("penalty", [0.0, 1.0, np.inf])
@pytest.mark.parametrize("scored", [False, True])
def test_treebank_grammars_of_long_sentences(
    shared: Any, scheme: Any, penalty: float, scored: bool
) -> None:
    """Up to 40 words over a real grammar: with and without shortcuts, and batched.

    Enough sentences for the lanes of a vector, of lengths that leave some of them idle. Integer
    scores tie everywhere, so that spans tell whether ties fall alike.
    """
    grammar = treebank_grammar(shared / "data" / "craft_dev.mrg", scheme)
    labels = list(grammar.labels)
    tables = grammar.tables(labels)
    rng = np.random.default_rng(3)
    lengths = [40, 39, 33, *range(1, 24), 17, 17]
    charts = [
        rng.integers(-4, 5, (n * (n + 1) // 2, len(labels))).astype(np.float32) for n in lengths
    ]
    for chart in charts[::3]:
        chart[rng.random(chart.shape) < 0.05] = -np.inf
    scores = rng.integers(-2, 3, len(tables.rules)).astype(float) if scored else None
    case = Case(charts, labels, grammar, penalty, scores)
    wanted = decoder("batched")(case)
    for mine, other in zip(decoder("native")(case), wanted, strict=True):
        assert (mine.score, mine.n_violations) == (other.score, other.n_violations)
        assert mine.spans == other.spans
    given = tables.kinds, tables.pairs, tables.rules, tables.words, tables.roots, scores
    nodes, first, dense, statuses, _, passes = _kernel.decode(
        charts,
        np.array(lengths, dtype=np.int32),
        tables.kinds,
        _kernel.Grammar(*given),
        penalty=penalty,
        shortcuts=False,
    )
    assert not statuses.any()
    assert set(passes.tolist()) <= {3, 4}
    assert dense.tolist() == wanted.scores.tolist()
    for b, other in enumerate(wanted):
        found = nodes[first[b] : first[b + 1], :3]
        assert found.tolist() == np.stack(other.columns, axis=1).tolist()


# What holds at any length, and in any layout.


@every_method
@given(case=cases(6, sentences=4), data=st.data())
@some
def test_layouts(method: str, case: Case, data: st.DataObject) -> None:
    """Packed, padded, listed, numpy or torch: the same scores have the same trees."""
    lengths = [length(case, b) for b in range(len(case.charts))]
    longest = max(lengths) + data.draw(st.integers(0, 2))
    padded = np.full((len(lengths), longest + 1, longest + 1, len(case.labels)), np.nan)
    for b, n in enumerate(lengths):
        padded[b, : n + 1, : n + 1] = to_padded(case.charts[b], n, fill=np.nan)
    padded = padded.astype(case.charts[0].dtype)
    stacked = np.concatenate(case.charts)
    run = functools.partial(
        decode, labels=case.labels, grammar=case.grammar, method=method, **case.options
    )
    try:
        expected = [parse.spans for parse in run(case.charts)]
    except NoParse:
        return
    assert [parse.spans for parse in run(stacked, lengths=lengths)] == expected
    assert [parse.spans for parse in run(padded, lengths=lengths)] == expected
    strided = np.repeat(stacked, 2, axis=1)[:, ::2]
    assert [parse.spans for parse in run(strided, lengths=np.array(lengths))] == expected
    if torch is not None:
        tensor = torch.tensor(padded, requires_grad=True)
        assert [parse.spans for parse in run(tensor, lengths=torch.tensor(lengths))] == expected
    one = data.draw(st.integers(0, len(lengths) - 1))
    assert run(case.charts[one]).spans == expected[one]
    assert run(padded[one], lengths=lengths[one]).spans == expected[one]


@every_fast_method
@pytest.mark.parametrize("grammar", [False, True])
def test_marginals_of_three_hundred_words(method: str, grammar: bool) -> None:
    """Large scores, long sums: a tree of n words has 2n - 1 nodes, and they share n - 1 splits."""
    labels = ["@", "$", "A", "B"]
    rng = np.random.default_rng(1)
    n = 300
    chart = rng.normal(scale=30.0, size=(n * (n + 1) // 2, 4)).astype(np.float32)
    rules = simple_grammar() if grammar else None
    result = marginals(chart, labels, rules, penalty=5.0, method=method)
    assert np.isfinite(result.log_partition)
    assert result.probabilities.min() >= 0.0
    assert result.probabilities.max() <= 1.0 + 1e-6
    assert result.span(0, n) == pytest.approx(1.0)
    assert result.probabilities.sum() == pytest.approx(2 * n - 1, rel=1e-6)
    best = decode(chart, labels, rules, penalty=5.0, method=method)
    assert best.score <= result.log_partition + 1e-3 * abs(best.score)
