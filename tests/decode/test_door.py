"""The door `decode`: what it answers, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from decode.strategies import simple_grammar
from optional import needs_torch, torch
from treewright.charts import cell_count, packed_index, to_padded
from treewright.decode import Parse, decode, marginals
from treewright.errors import BadScore, LabelError, NoParse, OptionError
from treewright.grammar import Grammar, Rule, Violation
from treewright.trees import Span, Tree, read_trees
from treewright.trees.binarize import derivation
from treewright.trees.symbols import SCHEMES

LABELS = ["@", "$", "A", "B"]
every_method = pytest.mark.parametrize("method", ["reference", "native", "batched"])


def chart_of(spans: list[Span], labels: list[str], gain: float = 1.0) -> np.ndarray:
    """A packed chart in which exactly these spans gain something."""
    n = spans[0].end
    scores = np.zeros((cell_count(n), len(labels)), dtype=np.float32)
    for i, j, label in spans:
        scores[packed_index(n, i, j), labels.index(label)] = gain
    return scores


def test_a_parse_says_what_it_is() -> None:
    spans = [Span(0, 3, "B"), Span(0, 1, "A"), Span(1, 3, "A"), Span(1, 2, "@"), Span(2, 3, "@")]
    scores = chart_of(spans, LABELS)
    parse = decode(scores, LABELS, simple_grammar(), penalty=0.25)
    assert isinstance(parse, Parse)
    assert parse.spans == tuple(spans)
    assert parse.score == 5 - 0.25 * 3
    assert parse.n_violations == 3
    assert parse.violations == [
        Violation("root", 0, 3, "B"),
        Violation("rule", 0, 3, "B", ("A", "A")),
        Violation("word", 0, 1, "A"),
    ]
    assert parse.rules == [Rule("A", "@", "@")]
    tables = simple_grammar().tables(LABELS)
    assert [tables.rule_of(r) for r in np.flatnonzero(parse.rule_counts)] == [("A", "@", "@")]
    assert parse.rule_counts.sum() == 1
    assert (
        parse.tree(["x", "y", "z"], ["X", "Y", "Z"]).brackets() == "(B (A (X x)) (A (Y y) (Z z)))"
    )
    assert [column.tolist() for column in parse.columns] == [
        [0, 0, 1, 1, 2], [3, 1, 3, 2, 3], [3, 2, 2, 0, 0]
    ]  # fmt: skip
    assert "(0, 3, B)" in repr(parse)


def test_without_a_grammar_nothing_is_violated() -> None:
    parse = decode(np.zeros((3, 4)), LABELS)
    assert parse.violations == parse.rules == []
    assert parse.n_violations == 0
    assert parse.rule_counts.tolist() == []


def test_a_batch_is_like_a_list() -> None:
    charts = [np.random.default_rng(n).normal(size=(cell_count(n), 4)) for n in (3, 1, 5)]
    parses = decode(charts, LABELS, simple_grammar())
    alone = [decode(chart, LABELS, simple_grammar()) for chart in charts]
    assert len(parses) == 3
    assert [parse.spans for parse in parses] == [parse.spans for parse in alone]
    assert parses[-1].spans == parses[2].spans == parses[1:][1].spans
    assert parses.scores.tolist() == [parse.score for parse in alone]
    assert parses.rule_counts.tolist() == sum(parse.rule_counts for parse in alone).tolist()
    assert parses.arrays().counts.tolist() == [1, 1, 1]
    with pytest.raises(IndexError):
        parses[3]


@every_method
def test_no_sentences(method: Any) -> None:
    assert list(decode([], LABELS, simple_grammar(), method=method)) == []
    assert list(decode(np.zeros((0, 4, 4, 4)), LABELS, method=method)) == []
    assert list(marginals([], LABELS, method=method)) == []


def test_k_best_of_one_sentence_and_of_many() -> None:
    chart = np.random.default_rng(0).normal(size=(6, 4))
    best = decode(chart, LABELS, k=3)
    assert [parse.score for parse in best] == sorted((p.score for p in best), reverse=True)
    assert len({parse.spans for parse in best}) == 3
    many = decode([chart, chart[:1]], LABELS, k=9)
    assert [parse.spans for parse in many[0][:3]] == [parse.spans for parse in best]
    assert len(many[1]) == 3  # a word has three labels, and no more trees


@every_method
@pytest.mark.parametrize("scheme", SCHEMES)
def test_gold_trees_come_back(shared: Any, method: Any, scheme: Any) -> None:
    """A chart that prefers a tree's own spans gives the tree back, whatever the tree."""
    trees = list(read_trees(shared / "data" / "craft_dev.mrg"))
    grammar = Grammar.from_trees(trees, scheme=scheme)
    few = [tree for tree in trees if len(tree.words()) <= (9 if method == "reference" else 30)][:8]
    charts = [chart_of(derivation(tree, scheme), list(grammar.labels)) for tree in few]
    for rules in (None, grammar):
        parses = decode(charts, grammar.labels, rules, method=method)
        for tree, parse in zip(few, parses, strict=True):
            inner = tree.children[0]
            assert parse.tree(tree.words(), tree.tags()) == inner
            assert parse.violations == []


def test_rule_scores_by_name_and_by_number() -> None:
    grammar = simple_grammar()
    tables = grammar.tables(LABELS)
    chart = np.zeros((3, 4))
    assert decode(chart, LABELS, grammar).spans[1].label == "@"
    named = decode(chart, LABELS, grammar, rule_scores={Rule("A", "A", "B"): 2.0}, penalty=0.5)
    assert named.rules == [Rule("A", "A", "B")]
    assert named.score == 1.5  # A stands over one word, which the grammar lacks
    numbered = np.zeros(len(tables.rules))
    numbered[[tables.rule_of(r) for r in range(8)].index(("A", "A", "B"))] = 2.0
    learned = [torch.tensor(numbered, requires_grad=True)] if torch else []
    for scores in (numbered, numbered.tolist(), *learned):
        parse = decode(chart, LABELS, tables, rule_scores=scores, penalty=0.5)
        assert (parse.spans, parse.score) == (named.spans, named.score)


def test_a_rule_below_the_penalty_is_read_as_a_violation() -> None:
    grammar = simple_grammar()
    chart = chart_of([Span(0, 2, "A"), Span(0, 1, "@"), Span(1, 2, "@")], LABELS, gain=9.0)
    scores = {Rule("A", "@", "@"): -3.0}
    cheap = decode(chart, LABELS, grammar, penalty=1.0, rule_scores=scores)
    assert (cheap.score, cheap.rules) == (26.0, [])
    assert cheap.violations == [Violation("rule", 0, 2, "A", ("@", "@"))]
    for penalty in (3.0, np.inf):  # a tie counts as licensed
        dear = decode(chart, LABELS, grammar, penalty=penalty, rule_scores=scores)
        assert (dear.score, dear.violations) == (24.0, [])
        assert dear.rules == [Rule("A", "@", "@")]


@every_method
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("span", [(0, 1), (1, 3), (0, 3)])
@pytest.mark.parametrize("rules", [None, simple_grammar()])
def test_bad_scores(
    method: Any, value: float, column: int, span: tuple[int, int], rules: Any
) -> None:
    scores = [np.zeros((cell_count(n), 4), dtype=np.float32) for n in (2, 3)]
    scores[1][packed_index(3, *span), column] = value
    for run in (decode, marginals):
        with pytest.raises(BadScore, match=f"of '[{LABELS[column]}]' is") as error:
            run(scores, LABELS, rules, method=method)
        assert error.value.place is not None
        assert (error.value.place.sentence, error.value.place.span) == (2, span)


@every_method
@pytest.mark.parametrize("penalty", [0.0, 1.0, np.inf])
def test_impossible_scores(method: Any, penalty: float) -> None:
    scores = np.zeros((2, 4, 4, 4))
    scores[1, 1, 2] = -np.inf
    for run in (decode, marginals):
        for rules in (None, simple_grammar()):
            with pytest.raises(NoParse, match=r"sentence 2, span \(0, 3\)"):
                run(scores, LABELS, rules, penalty=penalty, method=method)


def test_labels_that_the_grammar_does_not_know() -> None:
    with pytest.raises(LabelError, match=r"does not know the label 'X' \(and 1 more\)"):
        decode(np.zeros((3, 4)), ["@", "X", "Y", "A"], simple_grammar())
    with pytest.raises(LabelError, match="not over the columns"):
        decode(np.zeros((3, 4)), ["@", "$", "B", "A"], simple_grammar().tables(LABELS))
    fewer = decode(np.zeros((3, 3)), ["@", "$", "A"], simple_grammar())
    assert fewer.rules == [Rule("A", "@", "@")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": -1.0}, "penalty"),
        ({"penalty": np.nan}, "penalty"),
        ({"penalty": None}, "penalty"),
        ({"penalty": "much"}, "penalty"),
        ({"grammar": "en.json"}, "a Grammar or its tables, not str"),
        ({"k": 0}, "k is"),
        ({"k": 1.5}, "k is"),
        ({"k": True}, "k is"),
        ({"k": 2**40}, "k is"),
        ({"threads": 2**40}, "threads"),
        ({"method": "magic"}, "method is one of"),
        ({"method": "batched", "k": 2}, "k best is for the others"),
        ({"threads": 0}, "threads"),
        ({"rule_scores": [1.0]}, "8 rules, but rule scores of shape"),
        ({"rule_scores": {("A", "B", "A"): 1.0}}, "A -> B A, which is no rule"),
        ({"rule_scores": {"A": 1.0}}, "a score for 'A', which is no rule"),
        ({"rule_scores": {("A", "@", "@"): "good"}}, "rule scores are numbers"),
        ({"rule_scores": ["good"] * 8}, "rule scores are numbers"),
        ({"rule_scores": [np.inf] + [0.0] * 7}, "is inf"),
        ({"rule_scores": {("A", "@", "@"): np.nan}}, "A -> @ @ is nan"),
        ({"grammar": None, "rule_scores": [1.0]}, "need a grammar"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    options = {"grammar": simple_grammar(), **options}
    with pytest.raises(OptionError, match=message):
        decode(np.zeros((3, 4)), LABELS, **options)


@pytest.mark.parametrize("method", ["native", "batched"])  # the reference sums in doubles
@pytest.mark.parametrize("rules", [None, simple_grammar()])
def test_sums_beyond_the_largest_number(method: Any, rules: Any) -> None:
    """Were they taken for infinity, all trees would look alike."""
    chart = np.full((6, 4), 3e38, dtype=np.float32)
    with pytest.raises((BadScore, NoParse)) as error:
        decode([chart[:1], chart], LABELS, rules, method=method)
    assert error.value.place is not None
    assert (error.value.place.sentence, error.value.place.span) == (2, (0, 3))


def test_whole_numbers_of_numpy_will_do() -> None:
    chart = np.zeros((6, 4))
    assert len(decode(chart, LABELS, k=np.int64(2), threads=np.int32(1))) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["packed", "padded", "window", "list"])
@pytest.mark.parametrize("torched", [False, True])
def test_the_kernel_reads_scores_where_they_are(
    monkeypatch: pytest.MonkeyPatch, dtype: Any, layout: str, torched: bool
) -> None:
    """What reaches the kernel is the caller's memory, and the kernel takes it as it is."""
    from treewright.decode import native

    scores: Any = np.random.default_rng(0).normal(size=(3, 6, 6, 4)).astype(dtype)
    lengths: Any = [4, 5, 2]
    if layout == "window":  # strides of another array
        scores = scores[1:, :4, :4]
        lengths = [3, 1]
    elif layout != "padded":
        scores = scores.reshape(-1, 4)[:15]
        lengths = [5]
    if torched:
        scores = torch.from_numpy(scores).requires_grad_()
    wanted = decode(scores, LABELS, lengths=lengths, method="reference")
    given: list[Any] = []
    decode_natively = native._kernel.decode
    monkeypatch.setattr(
        native._kernel,
        "decode",
        lambda **asked: (given.append(asked["scores"]), decode_natively(**asked))[1],
    )
    found = decode([scores] if layout == "list" else scores, LABELS, lengths=lengths)
    assert [parse.spans for parse in found] == [parse.spans for parse in wanted]
    read = given[0][0] if layout == "list" else given[0]
    mine = scores.detach().numpy() if torched else scores
    assert np.asarray(read).__array_interface__["data"] == mine.__array_interface__["data"]
    assert np.asarray(read).strides == mine.strides


@every_method
def test_the_callers_scores_are_left_alone(method: Any) -> None:
    scores = np.random.default_rng(0).normal(size=(2, 5, 5, 4)).astype(np.float32)
    scores.setflags(write=False)
    before = scores.copy()
    decode(scores, LABELS, simple_grammar(), lengths=[4, 2], method=method)
    marginals(scores, LABELS, simple_grammar(), lengths=[4, 2], method=method)
    assert np.array_equal(scores, before)


@needs_torch
@pytest.mark.parametrize("portion", [1, 3000])
def test_batches_too_large_for_memory_are_decoded_in_portions(
    monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    from treewright.decode import batched

    charts = [np.random.default_rng(n).normal(size=(cell_count(n), 4)) for n in (3, 6, 1, 5, 6)]
    whole = decode(charts, LABELS, simple_grammar(), method="batched")
    sums = marginals(charts, LABELS, simple_grammar(), method="batched")
    monkeypatch.setattr(batched, "MOST_NUMBERS", portion)
    parts = decode(charts, LABELS, simple_grammar(), method="batched")
    assert [parse.spans for parse in parts] == [parse.spans for parse in whole]
    some = marginals(charts, LABELS, simple_grammar(), method="batched")
    for one, other in zip(some, sums, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities)


def test_loss_augmented_decoding_finds_the_worst_offender() -> None:
    """Scores plus the cost of every label give the tree that training must push down."""
    gold = Tree.from_brackets("(A (B (X x)) (A (Y y) (Z z)))")
    spans = derivation(gold)
    chart = to_padded(chart_of(spans, LABELS, gain=0.5), 3)
    cost = np.zeros_like(chart)
    cost[..., 2:] = 1.0  # a constituent where gold has none
    for i, j, label in spans:
        cost[i, j] = 1.0
        cost[i, j, LABELS.index(label)] = 0.0
    parse = decode(chart + cost, LABELS)
    assert parse.score > 2.5  # what gold has
    assert parse.score == sum(chart[i, j, LABELS.index(x)] + cost[i, j, LABELS.index(x)]
                              for i, j, x in parse.spans)  # fmt: skip
