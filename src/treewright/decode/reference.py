"""The reference decoders: plain Python, one step after the other, written to be read.

Owns algorithms 1, 3 and 4 of "Fast Rule-Based Decoding" (Shi, Wang, Xiao and Liu), soft rules, k
best and inside-outside as they follow from them. It is the oracle that the fast decoders are held
against, so nothing here is done for speed.

Where this differs from the algorithms in print, and why:

* In print any label may stand anywhere. Then one tree has many derivations, since marks and `@`
  may fall on any span, and none of a free parse's nulls match a grammar. Here marks stand over two
  words or more, as left children only; `@` stands over one word only (see `may_stand`).
* Algorithm 4 in print lets every label stand over one word, and at the root. Both are licensed by
  the grammar here, as rules are.
* Algorithm 3 chooses each label once more, by its score alone. That is right for algorithm 1, and
  done so here; the rule-based decoder keeps the labels with the split, as the paper says in words.
* The print leaves ties open. Here, from the root down: the lowest label (column), then the lowest
  split, then the lowest left label, then the lowest right label.
* With an infinite penalty the print has no answer where no tree obeys the rules. Here the fewest
  violations win, then the score: a value is the pair (minus violations, score), and pairs compare
  as Python compares tuples.

A derivation is a nested tuple: `(label,)` over one word, else `(label, split, left label, right
label, left derivation, right derivation)`. So the tie rule is the order of tuples.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from treewright.charts import Chart, packed_index
from treewright.decode.parses import Found, Marginal, gather
from treewright.decode.steps import Steps
from treewright.grammar import Kind

Value: TypeAlias = tuple[float, float]
Derivation: TypeAlias = tuple[Any, ...]

IMPOSSIBLE: Value = (-math.inf, -math.inf)
ROOT, LEFT, RIGHT = "root", "left", "right"


def plus(*values: Value) -> Value:
    """The sum of values; what holds an impossible score is impossible, whatever its violations."""
    score = sum(value[1] for value in values)
    return IMPOSSIBLE if score == -math.inf else (sum(value[0] for value in values), score)


def log_plus(values: Iterable[Value]) -> Value:
    """The log of the sum of the exponentials, among the values with the fewest violations."""
    present = [value for value in values if value != IMPOSSIBLE]
    if not present:
        return IMPOSSIBLE
    rank = max(value[0] for value in present)
    scores = [score for violations, score in present if violations == rank]
    top = max(scores)
    return rank, top + math.log(sum(math.exp(score - top) for score in scores))


def may_stand(kind: int, width: int, role: str) -> bool:
    """Whether a label of this kind may stand over `width` words in this role."""
    if kind == Kind.WORD_NULL:
        return width == 1
    if kind == Kind.MARK:
        return width > 1 and role == LEFT
    return True


class Sentence:
    """One sentence's scores and the steps that its derivations are made of."""

    def __init__(self, scores: npt.NDArray[Any], n: int, steps: Steps) -> None:
        self.n = n
        self.steps = steps
        self.kinds = steps.labels.kinds.tolist()
        self._rows = scores.tolist()

    def score(self, i: int, j: int, label: int) -> Value:
        """What a label over a span adds."""
        score = self._rows[packed_index(self.n, i, j)][label]
        return IMPOSSIBLE if score == -math.inf else (0.0, score)

    def labels(self, i: int, j: int, role: str) -> list[int]:
        """The labels that may stand over a span in a role, lowest first."""
        return [x for x, kind in enumerate(self.kinds) if may_stand(kind, j - i, role)]

    def spans(self) -> Iterator[tuple[int, int]]:
        """All spans, the shortest first."""
        for width in range(1, self.n + 1):
            for i in range(self.n - width + 1):
                yield i, i + width

    @cached_property
    def unlicensed(self) -> Value:
        """What a step adds that the grammar lacks; nothing if there is no grammar."""
        if self.steps.tables is None:
            return (0.0, 0.0)
        penalty = self.steps.penalty
        return (-1.0, 0.0) if penalty == math.inf else (0.0, -penalty)

    @cached_property
    def rules(self) -> dict[int, dict[tuple[int, int], Value]]:
        """By parent, then by children: what a licensed step adds, lowest children first."""
        tables = self.steps.tables
        rules: dict[int, dict[tuple[int, int], Value]] = defaultdict(dict)
        if tables is not None:
            for (parent, pair), score in zip(tables.rules, self.steps.rule_scores, strict=True):
                left, right = (int(child) for child in tables.pairs[pair])
                rules[int(parent)][left, right] = max(self.unlicensed, (0.0, float(score)))
        return rules

    def step(self, label: int, left: int, right: int) -> Value:
        """What a node over two children adds beside the score of its label."""
        return self.rules[label].get((left, right), self.unlicensed)

    def over_word(self, label: int) -> Value:
        """What a label over one word adds beside its score."""
        tables = self.steps.tables
        return (0.0, 0.0) if tables is None or tables.words[label] else self.unlicensed

    def at_root(self, label: int) -> Value:
        """What a label at the root adds beside its score."""
        tables = self.steps.tables
        return (0.0, 0.0) if tables is None or tables.roots[label] else self.unlicensed


class Best(NamedTuple):
    """A derivation and what it is worth."""

    value: Value
    derivation: Derivation


def free_cky(sentence: Sentence) -> Best:
    """Algorithms 1 and 3: the best derivation without a grammar.

    full[i, j]    the best tree over the span that may be the root or a right child
    any[i, j]     the best tree over the span that may be a left child
    split[i, j]   the best two trees below: any[i, k] + full[k, j]
    splits[i, j]  that k, K in print
    """
    full: dict[tuple[int, int], Value] = {}
    any_: dict[tuple[int, int], Value] = {}
    split: dict[tuple[int, int], Value] = {}
    splits: dict[tuple[int, int], int] = {}

    def best_label(i: int, j: int, role: str) -> int:
        return max(sentence.labels(i, j, role), key=lambda x: sentence.score(i, j, x), default=-1)

    def best(i: int, j: int, role: str) -> Value:
        label = best_label(i, j, role)
        return IMPOSSIBLE if label < 0 else plus(sentence.score(i, j, label), split[i, j])

    for i, j in sentence.spans():
        split[i, j] = (0.0, 0.0)
        if j - i > 1:
            splits[i, j] = max(range(i + 1, j), key=lambda k: plus(any_[i, k], full[k, j]))
            split[i, j] = plus(any_[i, splits[i, j]], full[splits[i, j], j])
        full[i, j] = best(i, j, RIGHT)
        any_[i, j] = best(i, j, LEFT)

    def follow(i: int, j: int, role: str) -> Derivation:
        label = best_label(i, j, role)
        if j - i == 1:
            return (label,)
        left, right = follow(i, splits[i, j], LEFT), follow(splits[i, j], j, RIGHT)
        return (label, splits[i, j], left[0], right[0], left, right)

    value = full[0, sentence.n]
    return Best(value, () if value == IMPOSSIBLE else follow(0, sentence.n, ROOT))


def rule_cky(sentence: Sentence) -> Best:
    """Algorithm 4: the best derivation under a grammar, hard or soft.

    t[i, j, l]       the best tree over the span with label l at its top
    splits[i, j, l]  its split and its children's labels, K in print
    """
    t: dict[tuple[int, int, int], Value] = {}
    splits: dict[tuple[int, int, int], tuple[int, int, int]] = {}

    def best_child(i: int, j: int, role: str) -> int:
        return max(sentence.labels(i, j, role), key=lambda x: t[i, j, x], default=-1)

    for i, j in sentence.spans():
        # The best two children at every split, for steps that the grammar lacks.
        any_two = [(k, best_child(i, k, LEFT), best_child(k, j, RIGHT)) for k in range(i + 1, j)]
        for label in sentence.labels(i, j, LEFT):
            if j - i == 1:
                t[i, j, label] = plus(sentence.score(i, j, label), sentence.over_word(label))
                continue
            ways = {way: sentence.step(label, way[1], way[2]) for way in any_two if -1 not in way}
            for k in range(i + 1, j):
                for (left, right), step in sentence.rules[label].items():
                    if (i, k, left) in t and right in sentence.labels(k, j, RIGHT):
                        ways[k, left, right] = step
            worth = {
                (k, left, right): plus(step, t[i, k, left], t[k, j, right])
                for (k, left, right), step in ways.items()
            }
            # The lowest split, left label and right label among the best.
            way = max(sorted(worth), key=lambda way: worth[way], default=None)
            t[i, j, label] = IMPOSSIBLE
            if way is not None:
                splits[i, j, label] = way
                t[i, j, label] = plus(sentence.score(i, j, label), worth[way])

    def follow(i: int, j: int, label: int) -> Derivation:
        if j - i == 1:
            return (label,)
        k, left, right = splits[i, j, label]
        return (label, k, left, right, follow(i, k, left), follow(k, j, right))

    n = sentence.n
    roots = {x: plus(t[0, n, x], sentence.at_root(x)) for x in sentence.labels(0, n, ROOT)}
    root = max(roots, key=lambda x: roots[x], default=-1)
    if root < 0 or roots[root] == IMPOSSIBLE:
        return Best(IMPOSSIBLE, ())
    return Best(roots[root], follow(0, n, root))


def k_best(sentence: Sentence, k: int, distinct: bool = False) -> list[Best]:
    """The best `k` derivations, the best first: algorithm 4 with lists in place of single trees.

    With `distinct`, no two of them are the same tree after undoing binarisation (marks that do not
    name their leftmost child can give the same tree twice in the scheme `$+left`).
    """
    t: dict[tuple[int, int, int], list[Best]] = {}

    def keep(candidates: Iterable[Best]) -> list[Best]:
        ordered = sorted(candidates, key=lambda best: (-best.value[0], -best.value[1], best[1]))
        kept: dict[Any, Best] = {}
        for best in ordered:
            if best.value != IMPOSSIBLE:
                kept.setdefault(sentence_forest(best.derivation) if distinct else best[1], best)
        return list(kept.values())[:k]

    def sentence_forest(derivation: Derivation) -> tuple[Any, ...]:
        return forest(derivation, sentence.kinds)

    def any_child(i: int, j: int, role: str) -> list[Best]:
        return keep(best for label in sentence.labels(i, j, role) for best in t[i, j, label])

    for i, j in sentence.spans():
        # A child beyond the best k of its span cannot be part of the best k: the k before it,
        # in its place, are no worse under any step that the grammar lacks.
        any_two = [(m, any_child(i, m, LEFT), any_child(m, j, RIGHT)) for m in range(i + 1, j)]
        for label in sentence.labels(i, j, LEFT):
            own = sentence.score(i, j, label)
            if j - i == 1:
                t[i, j, label] = keep([Best(plus(own, sentence.over_word(label)), (label,))])
                continue
            found: dict[Derivation, Best] = {}
            for m, lefts, rights in any_two:
                pairs = [(left, right) for left in lefts for right in rights]
                for left_label, right_label in sentence.rules[label]:
                    if right_label in sentence.labels(m, j, RIGHT):
                        for left in t.get((i, m, left_label), []):
                            pairs += [(left, right) for right in t[m, j, right_label]]
                for left, right in pairs:
                    top = (label, m, left.derivation[0], right.derivation[0])
                    step = sentence.step(label, top[2], top[3])
                    derivation = (*top, left.derivation, right.derivation)
                    value = plus(own, plus(step, left.value, right.value))
                    found[derivation] = Best(value, derivation)
            t[i, j, label] = keep(found.values())

    n = sentence.n
    return keep(
        Best(plus(best.value, sentence.at_root(label)), best.derivation)
        for label in sentence.labels(0, n, ROOT)
        for best in t[0, n, label]
    )


def forest(derivation: Derivation, kinds: list[int]) -> tuple[Any, ...]:
    """The trees that a derivation stands for after undoing binarisation: several under a mark."""
    if len(derivation) == 1:
        return (derivation,)
    below = forest(derivation[4], kinds) + forest(derivation[5], kinds)
    return below if kinds[derivation[0]] == Kind.MARK else ((derivation[0], below),)


class Inside(NamedTuple):
    """Logs of sums over trees: of a span and the label at its top, or any label in a role."""

    t: dict[tuple[int, int, int], Value]
    lefts: dict[tuple[int, int], Value]
    rights: dict[tuple[int, int], Value]
    total: Value


def inside_outside(sentence: Sentence) -> tuple[Value, npt.NDArray[np.float64]]:
    """The log partition, and the probability of every label over every span: `(n(n+1)/2, L)`.

    A derivation weighs the exponential of its score. With an infinite penalty only those with the
    fewest violations weigh anything, which is the limit of ever larger penalties.
    """
    n = sentence.n
    inside = sum_inside(sentence)
    outside = sum_outside(sentence, inside)
    marginals = np.zeros((n * (n + 1) // 2, len(sentence.kinds)))
    for (i, j, label), around in outside.items():
        rank, score = plus(around, inside.t[i, j, label])
        if rank == inside.total[0] != -math.inf:
            marginals[packed_index(n, i, j), label] = math.exp(score - inside.total[1])
    return inside.total, marginals


def sum_inside(sentence: Sentence) -> Inside:
    """Algorithm 4 with sums of exponentials in place of maxima."""
    t: dict[tuple[int, int, int], Value] = {}
    lefts: dict[tuple[int, int], Value] = {}
    rights: dict[tuple[int, int], Value] = {}
    for i, j in sentence.spans():
        for label in sentence.labels(i, j, LEFT):
            below = [sentence.over_word(label)]
            if j - i > 1:
                below = [
                    plus(sentence.unlicensed, lefts[i, k], rights[k, j]) for k in range(i + 1, j)
                ]
                for k, left, right, surplus in _ruled(sentence, i, j, label):
                    below.append(plus(surplus, t[i, k, left], t[k, j, right]))
            t[i, j, label] = plus(sentence.score(i, j, label), log_plus(below))
        lefts[i, j] = log_plus(t[i, j, x] for x in sentence.labels(i, j, LEFT))
        rights[i, j] = log_plus(t[i, j, x] for x in sentence.labels(i, j, RIGHT))
    n = sentence.n
    roots = (plus(t[0, n, x], sentence.at_root(x)) for x in sentence.labels(0, n, ROOT))
    return Inside(t, lefts, rights, log_plus(roots))


def sum_outside(sentence: Sentence, inside: Inside) -> dict[tuple[int, int, int], Value]:
    """Of every label over every span, the sum over what may stand around it, the largest first."""
    t, lefts, rights, _ = inside
    n = sentence.n
    outside: dict[tuple[int, int, int], Value] = {}
    # What has been found so far, of one label or of any label in a role.
    of_label: dict[tuple[int, int, int], list[Value]] = defaultdict(list)
    of_any: dict[tuple[int, int, str], list[Value]] = defaultdict(list)
    for label in sentence.labels(0, n, ROOT):
        of_label[0, n, label].append(sentence.at_root(label))
    for i, j in reversed(list(sentence.spans())):
        for label in sentence.labels(i, j, LEFT):
            ways = of_label[i, j, label] + of_any[i, j, LEFT]
            if label in sentence.labels(i, j, RIGHT):
                ways += of_any[i, j, RIGHT]
            outside[i, j, label] = log_plus(ways)
            here = plus(outside[i, j, label], sentence.score(i, j, label))
            for k in range(i + 1, j):
                unlicensed = plus(here, sentence.unlicensed)
                of_any[i, k, LEFT].append(plus(unlicensed, rights[k, j]))
                of_any[k, j, RIGHT].append(plus(unlicensed, lefts[i, k]))
            for k, left, right, surplus in _ruled(sentence, i, j, label):
                of_label[i, k, left].append(plus(here, surplus, t[k, j, right]))
                of_label[k, j, right].append(plus(here, surplus, t[i, k, left]))
    return outside


def _ruled(sentence: Sentence, i: int, j: int, label: int) -> Iterator[tuple[int, int, int, Value]]:
    """Split, children and surplus of every licensed step of a label over a span.

    The surplus is what a rule adds to a sum that already holds its children as an unlicensed
    step, log(e^w - e^-p). Under an infinite penalty it is w itself: the unlicensed reading of the
    same step has a violation more, and weighs nothing beside it.
    """
    base_rank, base = sentence.unlicensed
    for (left, right), (rank, score) in sentence.rules[label].items():
        if rank == base_rank:
            if score <= base:
                continue
            score += math.log(-math.expm1(base - score))
        for k in range(i + 1, j):
            if left in sentence.labels(i, k, LEFT) and right in sentence.labels(k, j, RIGHT):
                yield k, left, right, (rank, score)


def decode(chart: Chart, steps: Steps, k: int, distinct: bool, threads: int | None = None) -> Found:
    """The best `k` derivations of every sentence."""
    chart.check_values()
    found: list[list[tuple[float, Derivation]]] = []
    for b in range(len(chart)):
        sentence = Sentence(chart.sentence(b), int(chart.lengths[b]), steps)
        if k > 1:
            bests = k_best(sentence, k, distinct)
        else:
            bests = [free_cky(sentence) if steps.free else rule_cky(sentence)]
        found.append([(b.value[1], b.derivation) for b in bests if b.value != IMPOSSIBLE])
    return gather(found, chart.lengths)


def marginals(chart: Chart, steps: Steps, threads: int | None = None) -> list[Marginal]:
    """Log partition, violations and marginals of every sentence."""
    chart.check_values()
    results = []
    for b in range(len(chart)):
        sentence = Sentence(chart.sentence(b), int(chart.lengths[b]), steps)
        (rank, log_partition), probabilities = inside_outside(sentence)
        results.append(Marginal(log_partition, -rank, probabilities))
    return results
