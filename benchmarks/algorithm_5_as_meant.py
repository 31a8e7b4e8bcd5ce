"""The paper's algorithm 5 as it is meant, in PyTorch: the baseline for rule-based decoding.

"Fast Rule-Based Decoding" (Shi, Wang, Xiao and Liu) keeps, for each label, a list of its rules in
one dense table and gathers both children of every entry at every split. As printed that does not
run, or not as the text says. What is mended here, and nothing else:

* `t` is filled with the scores of spans of one word only, and the loop adds `t[I]` where it should
  add `s[I]`: scores of longer spans never enter. Here `s[I]` is added once, after the maxima, which
  comes to the same and costs less.
* After the maximum over rules, the second one is taken over labels; it belongs over splits.
* A cell of one word is `(i, i + 1)` before the loop, and `(i, i)` inside it, where the span size
  begins at 2: the loop's first length would read what was filled as its result. Here all spans are
  half-open. `range(0, n-1)` also leaves out a word.
* `rules` is said to be labels x all rules; labels x most rules of one label is meant. What is
  padding points at a label that is never possible.
* Every label may stand over one word and at the root; here the grammar licenses both. Marks over
  one word, as right children and at the root follow from the grammar, which has no such rules.

It decodes one sentence, as printed. Nothing licensed to find: a score of -inf and no spans.

    n  words    W = n + 1    L  labels    M  most rules of one label    S  spans    K  splits
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from treewright.grammar import RuleTables


class DenseRules(NamedTuple):
    """The rules of each label, padded with a label that is never possible, and the licences."""

    left: torch.Tensor  # (L, M)
    right: torch.Tensor  # (L, M)
    words: torch.Tensor  # (L,)
    roots: torch.Tensor  # (L,)


def dense_rules(tables: RuleTables) -> DenseRules:
    """The table that algorithm 5 calls `rules`."""
    labels = len(tables.labels)
    by_label: list[list[tuple[int, int]]] = [[] for _ in range(labels)]
    for parent, pair in tables.rules.tolist():
        by_label[parent].append(tuple(tables.pairs[pair].tolist()))
    most = max(1, *map(len, by_label))
    padded = [rules + [(labels, labels)] * (most - len(rules)) for rules in by_label]
    left, right = torch.tensor(padded).unbind(-1)
    return DenseRules(
        left, right, torch.from_numpy(tables.words.copy()), torch.from_numpy(tables.roots.copy())
    )


def bytes_needed(n: int, rules: DenseRules) -> int:
    """What the largest step holds at once: both children and their sum, in float32."""
    spans_by_splits = max((n - size + 1) * (size - 1) for size in range(2, n + 1))
    return 3 * 4 * spans_by_splits * rules.left.numel()


def decode(scores: torch.Tensor, rules: DenseRules) -> tuple[float, list[tuple[int, int, int]]]:
    """The score and the spans `(i, j, label)` of the best legal tree, given `(W, W, L)`."""
    wide, labels = scores.shape[0], scores.shape[-1]
    n = wide - 1
    s = scores.reshape(wide * wide, labels)
    t = s.new_full((wide * wide, labels + 1), -math.inf)  # the last column is the padding's
    split = torch.zeros((wide * wide, labels), dtype=torch.int64)
    best_rule = torch.zeros((wide * wide, labels), dtype=torch.int64)
    words = torch.arange(n) * wide + torch.arange(1, n + 1)
    t[words, :labels] = s[words].masked_fill(~rules.words, -math.inf)
    for size in range(2, n + 1):
        begins = torch.arange(n - size + 1)
        spans = begins * wide + begins + size  # (S,)
        steps = torch.arange(1, size)  # (K,)
        left = spans[:, None] - size + steps  # (S, K): (i, i + step)
        right = spans[:, None] + steps * wide  # (i + step, j)
        t1 = t[left[:, :, None, None], rules.left]  # (S, K, L, M)
        t2 = t[right[:, :, None, None], rules.right]
        by_split, rule_per_split = (t1 + t2).max(-1)  # (S, K, L)
        below, at = by_split.max(1)  # (S, L)
        t[spans, :labels] = s[spans] + below
        split[spans] = steps[at]
        best_rule[spans] = rule_per_split.gather(1, at[:, None]).squeeze(1)
    root = t[n, :labels].masked_fill(~rules.roots, -math.inf)
    score, label = root.max(0)
    if score == -math.inf:
        return -math.inf, []
    return float(score), _spans(n, int(label), split, best_rule, rules)


def _spans(
    n: int, label: int, split: torch.Tensor, best_rule: torch.Tensor, rules: DenseRules
) -> list[tuple[int, int, int]]:
    found = []
    stack = [(0, n, label)]
    while stack:
        i, j, label = stack.pop()
        found.append((i, j, label))
        if j - i > 1:
            at = i * (n + 1) + j
            k, rule = i + int(split[at, label]), int(best_rule[at, label])
            stack.append((k, j, int(rules.right[label, rule])))
            stack.append((i, k, int(rules.left[label, rule])))
    return found
