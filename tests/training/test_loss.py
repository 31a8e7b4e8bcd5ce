"""The loss against a literal one that lists every tree, and what must hold of any loss."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from decode.enumeration import children, derivations
from training.fake import Problem

from treewright.charts import packed_index
from treewright.trees.symbols import Scheme

TREES = [
    "(S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sees)))",
    "(S (NP (PRP it)) (VP (VBZ is) (ADVP (RB so))))",
    "(NP (NN one))",
    "(S (NP (NN a)) (, ,) (VP (VB b)) (. .))",
]
# The second tree's VP, and the one-word NP at the root of the third, are not in it
OTHER = ["(S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sees)))", TREES[3]]


def literal_cost(labels: tuple[str, ...], scheme: Scheme, column: int, gold: int | None) -> float:
    """The cost of a label over a span whose gold label in gold's binary tree is given."""
    if column == gold:
        return 0.0
    if scheme == "$+left":
        return 1.0
    null = labels[column] in ("@", "$")
    gold_null = gold is None or labels[gold] in ("@", "$")
    return 0.0 if null and gold_null else 1.0


def legal(problem: Problem, spans: list[tuple[int, int, int]]) -> bool:
    names, grammar = problem.labels.names, problem.grammar
    if names[spans[0][2]] not in grammar.roots:
        return False

    def below(nodes: list[tuple[int, int, int]]) -> bool:
        if len(nodes) == 1:
            return names[nodes[0][2]] in grammar.words
        left, right = children(nodes)
        rule = (names[nodes[0][2]], names[left[0][2]], names[right[0][2]])
        return rule in grammar.rules and below(left) and below(right)

    return below(spans)


def literal(problem: Problem, scheme: Scheme) -> tuple[list[float], list[float]]:
    """The hinges of every sentence, free and rule-based (0 where gold is forbidden)."""
    names = problem.labels.names
    kinds = tuple(problem.labels.kinds.tolist())
    rows = problem.network.rows.detach().numpy()
    gold = problem.gold
    free, ruled = [], []
    first = node = 0
    for b, n in enumerate(problem.lengths):
        many = slice(node, node + 2 * n - 1)
        own = list(
            zip(
                gold.begins[many].tolist(),
                gold.ends[many].tolist(),
                gold.columns[many].tolist(),
                strict=True,
            )
        )
        gold_at = {(i, j): column for i, j, column in own}

        def score(spans: list[tuple[int, int, int]], first: int = first, n: int = n) -> float:
            return sum(float(rows[first + packed_index(n, i, j), c]) for i, j, c in spans)

        def offence(
            spans: list[tuple[int, int, int]], gold_at: dict[tuple[int, int], int] = gold_at
        ) -> float:
            return score(spans) + sum(
                literal_cost(names, scheme, c, gold_at.get((i, j))) for i, j, c in spans
            )

        every = list(derivations(n, kinds))
        free.append(max(map(offence, every)) - score(own))
        allowed = [spans for spans in every if legal(problem, spans)]
        ruled.append(max(map(offence, allowed)) - score(own) if legal(problem, own) else 0.0)
        first += n * (n + 1) // 2
        node += 2 * n - 1
    return free, ruled


@pytest.mark.parametrize("scheme", ["$", "$+left"])
@pytest.mark.parametrize("grammar", [None, OTHER], ids=["own grammar", "foreign grammar"])
@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_as_a_list_of_all_trees_has_it(
    scheme: Scheme, grammar: list[str] | None, weight: float
) -> None:
    trees = TREES[1:3] if scheme == "$+left" else TREES[:3]
    problem = Problem(trees, grammar, scheme=scheme, rule_weight=weight)
    for seed in range(6):
        problem.set_scores(seed, scale=2.0)
        free, ruled = literal(problem, scheme)
        total, record = problem()
        if weight < 1:
            assert record["free"] == pytest.approx(sum(free), abs=1e-4)
        if weight > 0:
            assert record["ruled"] == pytest.approx(sum(ruled), abs=1e-4)
        wanted = (1 - weight) * sum(free) + weight * sum(ruled)
        assert total.item() == pytest.approx(wanted, abs=1e-4)


def test_a_forbidden_gold_tree_has_no_rule_based_hinge_and_is_counted() -> None:
    problem = Problem(TREES[:3], OTHER)
    problem.set_scores(0)
    _, record = problem()
    assert record["forbidden"] == 2
    assert problem.examples.forbidden == 2
    assert record["searched"] <= 1
    assert record["sentences"] == 3


@pytest.mark.parametrize("scheme", ["$", "$+left"])
def test_0_when_gold_wins_by_its_margin_and_more_when_by_less(scheme: Scheme) -> None:
    problem = Problem(TREES, scheme=scheme)
    gold = problem.gold
    first = np.cumsum([0] + [n * (n + 1) // 2 for n in problem.lengths])
    sentences = np.repeat(np.arange(len(problem.lengths)), 2 * gold.lengths - 1)
    cells = [
        int(first[b]) + packed_index(problem.lengths[b], i, j)
        for b, i, j in zip(
            sentences.tolist(), gold.begins.tolist(), gold.ends.tolist(), strict=True
        )
    ]
    # Any other tree lacks a node of gold's, and costs at most 1 a node.
    most = float(2 * max(problem.lengths))
    with torch.no_grad():
        problem.network.rows[cells, torch.from_numpy(gold.columns).long()] = most
    total, record = problem()
    assert total.item() == 0.0
    assert record["missed"] == 0
    total.backward()
    assert problem.network.rows.grad is not None
    assert not problem.network.rows.grad.any()
    with torch.no_grad():
        problem.network.rows.mul_(0.5 / most)
    total, record = problem()
    assert total.item() > 0
    assert record["missed"] > 0


def test_never_negative() -> None:
    problem = Problem(TREES, OTHER)
    for seed in range(40):
        problem.set_scores(seed, scale=[0.01, 0.5, 3.0, 50.0][seed % 4])
        total, record = problem()
        assert total.item() >= 0
        assert min(record["free"], record["ruled"]) >= 0


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_the_gradient_is_that_of_finite_differences(weight: float) -> None:
    problem = Problem(TREES[:3], rule_weight=weight)
    problem.set_scores(3, scale=1.5)
    total, _ = problem()
    total.backward()
    rows = problem.network.rows
    assert rows.grad is not None
    random = np.random.default_rng(0)
    touched = rows.grad.nonzero().tolist()
    assert touched
    others = [[int(random.integers(size)) for size in rows.shape] for _ in range(10)]
    for cell, column in touched + others:
        sides = []
        for change in (0.01, -0.01):
            with torch.no_grad():
                rows[cell, column] += change
            sides.append(problem()[0].item())
            with torch.no_grad():
                rows[cell, column] -= change
        slope = (sides[0] - sides[1]) / 0.02
        assert slope == pytest.approx(rows.grad[cell, column].item(), abs=1e-2)


def test_learned_rules_have_the_difference_of_counts_as_gradient() -> None:
    problem = Problem(TREES[:2], rule_weight=1.0, learn_rules=True)
    problem.set_scores(5, scale=2.0)
    total, record = problem()
    total.backward()
    weights = problem.loss.rule_scores
    assert isinstance(weights, torch.nn.Parameter)
    assert weights.tolist() == [0.0] * len(problem.tables.rules)
    assert record["searched"] == 2  # rules with scores leave no shortcut
    assert weights.grad is not None
    assert weights.grad.any()
    for rule in range(len(weights)):
        sides = []
        for change in (0.01, -0.01):
            with torch.no_grad():
                weights[rule] += change
            sides.append(problem()[0].item())
            with torch.no_grad():
                weights[rule] -= change
        assert (sides[0] - sides[1]) / 0.02 == pytest.approx(weights.grad[rule].item(), abs=1e-2)


def test_scores_of_rules_are_part_of_the_hinge() -> None:
    problem = Problem(TREES[:2], rule_weight=1.0, learn_rules=True)
    problem.set_scores(5)
    before, _ = problem()
    gold_rules = problem.gold.rules[problem.gold.rules >= 0]
    with torch.no_grad():
        problem.loss.rule_scores[gold_rules] = 100.0  # type: ignore[index]
    after, _ = problem()
    assert after.item() < before.item()


def test_shares_scale_the_total_alone() -> None:
    problem = Problem(TREES)
    problem.set_scores(1)
    once = problem.loss(problem.lengths, problem.gold)
    half = problem.loss(problem.lengths, problem.gold, 0.5, 0.5)
    assert half.total.item() == pytest.approx(once.total.item() / 2)
    assert torch.equal(half.record, once.record)


def test_legal_free_offenders_are_not_searched_again() -> None:
    problem = Problem(TREES)
    gold = problem.gold
    with torch.no_grad():
        problem.network.rows.fill_(-1.0)
        for at, (begin, end, column) in enumerate(
            zip(gold.begins.tolist(), gold.ends.tolist(), gold.columns.tolist(), strict=True)
        ):
            b = int(np.searchsorted(np.cumsum(2 * gold.lengths - 1), at, "right"))
            n = problem.lengths[b]
            first = sum(m * (m + 1) // 2 for m in problem.lengths[:b])
            problem.network.rows[first + packed_index(n, begin, end), column] = 9.0
    _, record = problem()
    assert record["searched"] == 0


def test_offsets_of_sentences() -> None:
    problem = Problem(TREES)
    some = problem.examples.gold(np.array([3, 0]))
    assert some.lengths.tolist() == [4, 4]
    assert all(
        one.tolist() == other.tolist()
        for one, other in pairwise(
            [problem.examples.gold(np.array([2])).columns, problem.gold.columns[14:15]]
        )
    )
