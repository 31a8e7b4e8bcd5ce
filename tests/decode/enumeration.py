"""Every derivation of a short sentence, one after the other: the judge of all decoders.

Shares no code with them: it lists all binary trees, adds up what each is worth, and sorts.

    D  derivations    n  words    L  labels
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

REAL, MARK, WORD_NULL = 0, 1, 2


def derivations(n: int, kinds: tuple[int, ...], at: int = 0) -> Iterator[Any]:
    """All derivations over n words, each the list of its spans `(begin, end, label)`.

    Marks stand over two words or more, as left children; `@` stands over one word.
    """
    if n == 1:
        for label, kind in enumerate(kinds):
            if kind != MARK:
                yield [(at, at + 1, label)]
        return
    bodies = list(_bodies(n, kinds, at))
    for label, kind in enumerate(kinds):
        if kind == REAL:
            for body in bodies:
                yield [(at, at + n, label), *body]


def _bodies(n: int, kinds: tuple[int, ...], at: int) -> Iterator[Any]:
    """What may stand below a node over n words."""
    for width in range(1, n):
        lefts = list(derivations(width, kinds, at))
        if width > 1:
            marks = [label for label, kind in enumerate(kinds) if kind == MARK]
            bodies = list(_bodies(width, kinds, at))
            lefts += [[(at, at + width, mark), *body] for mark in marks for body in bodies]
        rights = list(derivations(n - width, kinds, at + width))
        for left in lefts:
            for right in rights:
                yield left + right


def children(spans: list[tuple[int, int, int]]) -> tuple[Any, Any]:
    """The spans of the left subtree and of the right one."""
    right = 2 * (spans[1][1] - spans[0][0])
    return spans[1:right], spans[right:]


def tie_order(spans: list[tuple[int, int, int]]) -> tuple[int, ...]:
    """Label, split, left label, right label; then the left subtree, then the right."""
    if len(spans) == 1:
        return (spans[0][2],)
    left, right = children(spans)
    top = (spans[0][2], right[0][0], left[0][2], right[0][2])
    return (*top, *tie_order(left), *tie_order(right))


class Everything(NamedTuple):
    """All derivations over n words, in the order that decides ties."""

    spans: np.ndarray  # (D, 2n - 1, 3)
    steps: np.ndarray  # (D, n - 1, 3): parent, left and right label of every node over two words


@lru_cache(maxsize=64)
def everything(n: int, kinds: tuple[int, ...]) -> Everything:
    found = sorted(derivations(n, kinds), key=tie_order)
    steps = []
    for spans in found:
        own = []
        for at, (begin, end, label) in enumerate(spans):
            if end - begin > 1:
                left, right = children(spans[at:])
                own.append((label, left[0][2], right[0][2]))
        steps.append(own)
    shape = (len(found), n - 1, 3)
    return Everything(
        np.array(found).reshape(len(found), -1, 3), np.array(steps, dtype=int).reshape(shape)
    )


class Worth(NamedTuple):
    """What every derivation is worth, and their order from the best to the worst possible one."""

    spans: np.ndarray  # (D, 2n - 1, 3)
    scores: np.ndarray  # (D,), penalties taken off unless they are infinite
    violations: np.ndarray  # (D,)
    order: np.ndarray  # numbers of the possible derivations, the best first
    rank: np.ndarray  # (D,): minus the violations if they come before the score, else 0


def judge(
    chart: np.ndarray,
    n: int,
    kinds: list[int],
    tables: Any = None,
    penalty: float = np.inf,
    rule_scores: Any = None,
) -> Worth:
    """Score and sort all derivations; `chart` is padded `(n+1, n+1, L)`."""
    spans, steps = everything(n, tuple(kinds))
    scores = chart[spans[..., 0], spans[..., 1], spans[..., 2]].astype(np.float64).sum(axis=1)
    violations = np.zeros(len(spans))
    if tables is not None:
        size = len(kinds)
        rule = np.full((size, size, size), -np.inf)
        for number, (parent, pair) in enumerate(tables.rules):
            left, right = tables.pairs[pair]
            rule[parent, left, right] = 0 if rule_scores is None else rule_scores[number]
        added = rule[steps[..., 0], steps[..., 1], steps[..., 2]]
        licensed = (added > -np.inf) & (added >= -penalty)
        scores += np.where(licensed, added, 0).sum(axis=1)
        violations += (~licensed).sum(axis=1)
        over_word = spans[..., 1] - spans[..., 0] == 1
        violations += (over_word & ~tables.words[spans[..., 2]]).sum(axis=1)
        violations += ~tables.roots[spans[:, 0, 2]]
    rank = np.zeros(len(spans))
    if penalty == np.inf:
        rank = -violations
    else:
        scores -= penalty * violations
    possible = scores > -np.inf
    order = np.lexsort((np.arange(len(spans)), -scores, -rank))
    return Worth(spans, scores, violations, order[possible[order]], rank)


def marginals(worth: Worth, chart: np.ndarray) -> tuple[float, np.ndarray]:
    """Log partition and the probability of every label over every span, padded as the chart."""
    first = worth.rank[worth.order[0]]
    weights = np.where(worth.rank == first, np.exp(worth.scores), 0.0)
    total = weights.sum()
    probabilities = np.zeros(chart.shape)
    begins, ends, labels = np.moveaxis(worth.spans, -1, 0)
    np.add.at(probabilities, (begins, ends, labels), (weights / total)[:, None])
    return float(np.log(total)), probabilities


def flat(spans: Any, kinds: list[int]) -> tuple[Any, ...]:
    """What is left of a derivation after undoing binarisation: the constituents."""
    return tuple((i, j, label) for i, j, label in spans.tolist() if kinds[label] == REAL)
