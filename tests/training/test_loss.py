"""The loss against a literal one that lists every tree, and what must hold of any loss."""

from __future__ import annotations

from functools import lru_cache

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

# A grammar with which every tree has rivals
RICH = [
    *TREES,
    "(S (NP (PRP it)) (VP (VBZ is)) (ADVP (RB so)))",
    "(S (NP (DT the) (JJ old)) (VP (NN cat) (NP (VBZ sees))))",
    "(VP (NN one) (ADVP (RB so)))",
]

# Of finite differences: so small that hardly any other tree becomes the worst within it
_STEP = 1e-3


@lru_cache(maxsize=8)
def every_tree(n: int, kinds: tuple[int, ...]) -> np.ndarray:
    """The spans of all derivations over n words, `(D, 2n - 1, 3)`."""
    return np.array(list(derivations(n, kinds)))


def literal_costs(labels: tuple[str, ...], scheme: Scheme, gold: int | None) -> list[float]:
    """The costs of all labels over a span whose gold label in gold's binary tree is given."""
    costs = []
    for column, label in enumerate(labels):
        null = label in ("@", "$")
        gold_null = gold is None or labels[gold] in ("@", "$")
        free = column == gold or (scheme == "$" and null and gold_null)
        costs.append(0.0 if free else 1.0)
    return costs


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
    names, kinds = problem.labels.names, tuple(problem.labels.kinds.tolist())
    rows = problem.network.rows.detach().numpy()
    gold = problem.gold
    nodes = np.stack([gold.begins, gold.ends, gold.columns], axis=1).tolist()
    free, ruled = [], []
    first = node = 0
    for n in problem.lengths:
        own = [tuple(spans) for spans in nodes[node : node + 2 * n - 1]]
        gold_at = {(i, j): column for i, j, column in own}
        cells = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]  # the packed order
        number = {cell: first + at for at, cell in enumerate(cells)}
        costs = [literal_costs(names, scheme, gold_at.get(cell)) for cell in cells]
        augmented = rows[first : first + len(cells)] + np.array(costs)
        score_of_gold = sum(float(rows[number[i, j], c]) for i, j, c in own)
        spans = every_tree(n, kinds)
        at = np.array([[number.get((i, j), 0) - first for j in range(n + 1)] for i in range(n)])
        offences = augmented[at[spans[..., 0], spans[..., 1]], spans[..., 2]].sum(1)
        free.append(float(offences.max()) - score_of_gold)
        ruled.append(0.0)
        if legal(problem, own):
            best_first = np.argsort(-offences)
            best = next(d for d in best_first if legal(problem, spans[d].tolist()))
            ruled[-1] = float(offences[best]) - score_of_gold
        first += len(cells)
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
    problem = Problem(TREES, RICH, rule_weight=weight)
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
        for change in (_STEP, -_STEP):
            with torch.no_grad():
                rows[cell, column] += change
            sides.append(problem()[0].item())
            with torch.no_grad():
                rows[cell, column] -= change
        slope = (sides[0] - sides[1]) / (2 * _STEP)
        assert slope == pytest.approx(rows.grad[cell, column].item(), abs=1e-2)


def test_learned_rules_have_the_difference_of_counts_as_gradient() -> None:
    problem = Problem(TREES, RICH, rule_weight=1.0, learn_rules=True)
    problem.set_scores(5, scale=2.0)
    total, record = problem()
    total.backward()
    weights = problem.loss.rule_scores
    assert isinstance(weights, torch.nn.Parameter)
    assert weights.tolist() == [0.0] * len(problem.tables.rules)
    assert record["searched"] == 4  # rules with scores leave no shortcut
    assert weights.grad is not None
    assert weights.grad.any()
    for rule in range(len(weights)):
        sides = []
        for change in (_STEP, -_STEP):
            with torch.no_grad():
                weights[rule] += change
            sides.append(problem()[0].item())
            with torch.no_grad():
                weights[rule] -= change
        assert (sides[0] - sides[1]) / (2 * _STEP) == pytest.approx(
            weights.grad[rule].item(), abs=1e-2
        )


def test_scores_of_rules_are_part_of_the_hinge() -> None:
    problem = Problem(TREES, RICH, rule_weight=1.0, learn_rules=True)
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


def test_gold_of_some_sentences_in_any_order() -> None:
    problem = Problem(TREES)
    every = problem.gold
    some = problem.examples.gold(np.array([3, 0]))
    ends = np.cumsum(2 * every.lengths - 1)
    wanted = [*range(ends[2], ends[3]), *range(ends[0])]
    assert some.lengths.tolist() == [4, 4]
    for name in ("begins", "ends", "columns", "rules"):
        assert getattr(some, name).tolist() == getattr(every, name)[wanted].tolist()
    words = np.cumsum(every.lengths)
    assert some.tags.tolist() == every.tags[[*range(words[2], words[3]), *range(words[0])]].tolist()
    assert len(problem.examples.gold(np.array([], dtype=np.int64)).columns) == 0
