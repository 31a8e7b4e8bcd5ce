"""The batched decoder: algorithms 2 and 5 in PyTorch, on any device.

Owns the dynamic programs in a number of tensor operations that grows with the longest sentence
only: one step a span length, for all spans of that length in all sentences at once, on the way up,
on the way back down a tree, and in inside-outside. k best is not its business.

    B  sentences    N  words of the longest    L  labels    P  pairs of children    R  rules
    W = N + 1       C  components of a value: the score; or minus the violations, then the score
    F  feeds: what a step needs of a child, one a pair; and last, for steps that no rule licenses,
       the best (or the sum) over all labels that may stand there

Where this differs from the algorithms in print, beside what `reference` says: as printed, algorithm
5 never adds the scores of longer spans, reduces over the wrong axis at its end, and gathers both
children of every label's every rule, mostly padding, at every split. Here the maximum over splits
is taken once for each distinct pair of children, and each rule then reads its pair. No
back-pointers are kept: on the way down, a node's sums are made again, in the same order.

Charts of spans are laid out so that all splits of all spans of one length are two plain slices:
left children by where they begin and how long they are, right children by where they end and
`N - length`.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch

from treewright.charts import Chart, Ints, cell_spans, is_tensor
from treewright.decode.parses import Found, Marginal
from treewright.decode.steps import Steps
from treewright.grammar import Kind

# Sentences are decoded together as long as their charts hold no more than this many numbers.
MOST_NUMBERS = 1 << 28


# Values: what is added along a derivation and compared or summed between derivations. A tensor of
# values has its C components in front, and an impossible value is -inf in all of them.


class Semiring(Protocol):
    """How values of different derivations become one."""

    def reduce(self, values: torch.Tensor, dim: int) -> torch.Tensor:
        """One value of many, along a dimension counted from the end."""
        ...

    def group(self, values: torch.Tensor, groups: torch.Tensor, size: int) -> torch.Tensor:
        """One value a group of the last dimension: `(..., X)` to `(..., size)`."""
        ...


class Best:
    """The best value: the fewest violations where they are a component, then the score."""

    @staticmethod
    def reduce(values: torch.Tensor, dim: int) -> torch.Tensor:
        """The best along a dimension."""
        ranks, scores = _of_best_rank(values, values[:-1].amax(dim, keepdim=True))
        return torch.cat([ranks.squeeze(dim), scores.amax(dim)])

    @staticmethod
    def group(values: torch.Tensor, groups: torch.Tensor, size: int) -> torch.Tensor:
        """The best of every group."""
        ranks = _group_max(values[:-1], groups, size)
        _, scores = _of_best_rank(values, ranks.index_select(-1, groups))
        return torch.cat([ranks, _group_max(scores, groups, size)])


class LogSum:
    """The log of the sum of exponentials, of the values with the fewest violations."""

    @staticmethod
    def reduce(values: torch.Tensor, dim: int) -> torch.Tensor:
        """The log sum along a dimension."""
        ranks, scores = _of_best_rank(values, values[:-1].amax(dim, keepdim=True))
        return torch.cat([ranks.squeeze(dim), scores.logsumexp(dim)])

    @staticmethod
    def group(values: torch.Tensor, groups: torch.Tensor, size: int) -> torch.Tensor:
        """The log sum of every group."""
        ranks = _group_max(values[:-1], groups, size)
        _, scores = _of_best_rank(values, ranks.index_select(-1, groups))
        # Where nothing is possible the top is -inf; 0 in its place leaves log(0).
        top = _group_max(scores, groups, size).clamp_min(torch.finfo(scores.dtype).min)
        parts = (scores - top.index_select(-1, groups)).exp()
        sums = torch.zeros_like(top).index_add_(-1, groups, parts)
        return torch.cat([ranks, sums.log() + top])


def _of_best_rank(values: torch.Tensor, ranks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The best ranks as they are, and the scores: -inf where a value's rank is not the best."""
    scores = values[-1:]
    if len(values) == 1:
        return ranks, scores
    return ranks, scores.masked_fill(values[:-1] < ranks, -math.inf)


def _group_max(numbers: torch.Tensor, groups: torch.Tensor, size: int) -> torch.Tensor:
    out = numbers.new_full((*numbers.shape[:-1], size), -math.inf)
    return out.scatter_reduce_(-1, groups.expand(numbers.shape), numbers, "amax")


def arg_best(values: torch.Tensor) -> torch.Tensor:
    """Where the best value of the last dimension stands, the first of equals: `(C, ..., X)`."""
    _, scores = _of_best_rank(values, values[:-1].amax(-1, keepdim=True))
    return scores[0].argmax(-1)


def better(values: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Whether values `(C, ...)` beat others."""
    wins = values[-1] > others[-1]
    if len(values) == 2:
        wins = (values[0] > others[0]) | ((values[0] == others[0]) & wins)
    return wins


# Plans: the steps of a derivation as tensors.


class Plan(NamedTuple):
    """What may stand where and what it adds, on one device."""

    pair_left: torch.Tensor  # (P,)
    pair_right: torch.Tensor  # (P,)
    rule_parent: torch.Tensor  # (R,)
    rule_pair: torch.Tensor  # (R,)
    rules: torch.Tensor  # (C, R)
    unlicensed: torch.Tensor | None  # (C,), None where only rules license
    over_word: torch.Tensor  # (C, L), impossible for marks
    over_words: torch.Tensor  # (C, L), impossible for `@`
    at_root: torch.Tensor  # (C, L), impossible for marks
    on_right: torch.Tensor  # (C, L), impossible for marks

    @property
    def feeds(self) -> int:
        """F, the number of feeds."""
        return len(self.pair_left) + (self.unlicensed is not None)


def make_plan(steps: Steps, mode: str, like: torch.Tensor, summing: bool = False) -> Plan:
    """The plan of a decoder.

    The mode is `hard` where only rules license, `ranked` where violations come before the score
    (two components), and `soft` where they cost the penalty, which may be 0. For sums, a rule's
    value is what it adds to its children's share in the unlicensed feed; see `reference`.
    """

    def tensor(array: npt.ArrayLike) -> torch.Tensor:
        return torch.as_tensor(np.asarray(array), device=like.device)

    def values(scores: npt.ArrayLike, ranks: npt.ArrayLike = 0.0) -> torch.Tensor:
        scores = np.asarray(scores, dtype=np.float64)
        ranks = np.where(np.isneginf(scores), -np.inf, ranks)
        both = [ranks, scores] if mode == "ranked" else [scores]
        return torch.as_tensor(np.stack(both), dtype=like.dtype, device=like.device)

    def licensed(which: npt.NDArray[np.bool_], structure: npt.NDArray[np.float64]) -> torch.Tensor:
        cost = {"hard": np.inf, "ranked": 0.0, "soft": steps.penalty}[mode]
        return values(structure - np.where(which, 0.0, cost), np.where(which, 0.0, -1.0))

    kinds = steps.labels.kinds
    no_marks = np.where(kinds == Kind.MARK, -np.inf, 0.0)
    everything = np.ones(len(kinds), dtype=np.bool_)
    tables = None if steps.free else steps.tables
    none = np.zeros(0, dtype=np.int64)
    rule_scores = np.zeros(0) if tables is None else steps.rule_scores
    if mode == "soft":
        base = -steps.penalty if tables is not None else 0.0
        rule_scores = np.maximum(rule_scores, base)
        if summing:
            with np.errstate(divide="ignore"):
                rule_scores = rule_scores + np.log(-np.expm1(base - rule_scores))
        unlicensed: torch.Tensor | None = values(base)
    else:
        unlicensed = None if mode == "hard" else values(0.0, -1.0)
    return Plan(
        pair_left=tensor(none if tables is None else tables.pairs[:, 0].astype(np.int64)),
        pair_right=tensor(none if tables is None else tables.pairs[:, 1].astype(np.int64)),
        rule_parent=tensor(none if tables is None else tables.rules[:, 0].astype(np.int64)),
        rule_pair=tensor(none if tables is None else tables.rules[:, 1].astype(np.int64)),
        rules=values(rule_scores),
        unlicensed=unlicensed,
        over_word=licensed(everything if tables is None else tables.words, no_marks),
        over_words=values(np.where(kinds == Kind.WORD_NULL, -np.inf, 0.0)),
        at_root=licensed(everything if tables is None else tables.roots, no_marks),
        on_right=values(no_marks),
    )


# Up: what every label over every span is worth.


class Inside(NamedTuple):
    """Charts of values `(C, B, ...)`; the indices of spans are given on the right."""

    t: torch.Tensor  # (C, B, N, W, L)  begin, width
    left: torch.Tensor  # (C, B, N, W, F)  begin, width: feeds of left children
    right: torch.Tensor  # (C, B, W, N, F)  end, N - width: feeds of right children


def own_values(scores: torch.Tensor, width: int, plan: Plan) -> torch.Tensor:
    """What the labels over all spans of a width add themselves: `(C, B, N - width + 1, L)`."""
    own = scores.diagonal(width, 1, 2).transpose(1, 2)[None]
    if len(plan.over_words) == 2:
        ranks = torch.zeros_like(own).masked_fill_(own == -math.inf, -math.inf)
        own = torch.cat([ranks, own])
    return own if width == 1 else own + plan.over_words[:, None, None]


def feeds_of(
    t: torch.Tensor, pair_child: torch.Tensor, plan: Plan, semiring: Semiring
) -> torch.Tensor:
    """What parents need of children in one role: `(..., L)` to `(..., F)`."""
    feeds = t.index_select(-1, pair_child)
    if plan.unlicensed is None:
        return feeds
    return torch.cat([feeds, semiring.reduce(t, -1)[..., None]], dim=-1)


def go_up(scores: torch.Tensor, plan: Plan, semiring: Semiring) -> Inside:
    """Algorithms 2 and 5: padded scores `(B, W, W, L)` in, all charts out."""
    batch, wide, _, labels = scores.shape
    longest = wide - 1
    head = (len(plan.over_word), batch)
    t = scores.new_full((*head, longest, wide, labels), -math.inf)
    left = scores.new_full((*head, longest, wide, plan.feeds), -math.inf)
    right = scores.new_full((*head, wide, longest, plan.feeds), -math.inf)
    for width in range(1, wide):
        spans = longest - width + 1
        if width == 1:
            below = plan.over_word[:, None, None]
        else:
            splits = left[:, :, :spans, 1:width] + right[:, :, width:, spans:]
            below = _licensed(semiring.reduce(splits, -2), plan, semiring, labels)
        here = own_values(scores, width, plan) + below
        t[:, :, :spans, width] = here
        left[:, :, :spans, width] = feeds_of(here, plan.pair_left, plan, semiring)
        right_here = here + plan.on_right[:, None, None]
        right[:, :, width:, longest - width] = feeds_of(right_here, plan.pair_right, plan, semiring)
    return Inside(t, left, right)


def _licensed(two: torch.Tensor, plan: Plan, semiring: Semiring, labels: int) -> torch.Tensor:
    """Children's values by feed `(C, B, spans, F)` as values of the labels above them."""
    ways = []
    if plan.unlicensed is not None:
        unlicensed = two[..., -1:] + plan.unlicensed[:, None, None, None]
        if not len(plan.rule_pair):
            return unlicensed
        ways.append(unlicensed.expand(*two.shape[:-1], labels))
    ruled = two.index_select(-1, plan.rule_pair) + plan.rules[:, None, None]
    ways.append(semiring.group(ruled, plan.rule_parent, labels))
    return ways[0] if len(ways) == 1 else semiring.reduce(torch.stack(ways, dim=-1), -1)


# Down: the best tree.


def go_down(inside: Inside, plan: Plan, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The best trees: the value of each `(C, B)`, and a chart of chosen labels `(B, N, W)`.

    The chart is indexed by begin and width, and is -1 where no node stands.
    """
    t, left, right = inside
    longest, wide = t.shape[2:4]
    sentences = torch.arange(t.shape[1], device=t.device)
    roots = t[:, sentences, 0, lengths] + plan.at_root[:, None]
    labels = arg_best(roots)
    values = roots[:, sentences, labels]
    chosen = torch.full(t.shape[1:4], -1, dtype=torch.int64, device=t.device)
    chosen[sentences, 0, lengths] = labels.masked_fill(values[-1] == -math.inf, -1)
    steps = _steps_by_label(plan, t.shape[-1])
    for width in range(longest, 1, -1):
        b, i = (chosen[:, :, width] >= 0).nonzero(as_tuple=True)
        if not len(b):
            continue
        ways = left[:, b, i, 1:width] + right[:, b, i + width, wide - width :]
        ways = ways + steps[:, chosen[b, i, width], None]
        k = arg_best(Best.reduce(ways, -1))
        at_split = ways[:, torch.arange(len(b), device=t.device), k]
        lefts, rights = t[:, b, i, k + 1], t[:, b, i + k + 1, width - k - 1]
        chosen_left, chosen_right = _children(at_split, lefts, rights, plan)
        chosen[b, i, k + 1] = chosen_left
        chosen[b, i + k + 1, width - k - 1] = chosen_right
    return values, chosen


def _steps_by_label(plan: Plan, labels: int) -> torch.Tensor:
    """What a step adds, by parent and feed: `(C, L, F)`, impossible without a rule."""
    steps = plan.rules.new_full((len(plan.rules), labels, plan.feeds), -math.inf)
    steps[:, plan.rule_parent, plan.rule_pair] = plan.rules
    if plan.unlicensed is not None:
        steps[:, :, -1] = plan.unlicensed[:, None]
    return steps


def _children(
    ways: torch.Tensor, lefts: torch.Tensor, rights: torch.Tensor, plan: Plan
) -> tuple[torch.Tensor, torch.Tensor]:
    """The labels of the children of M nodes.

    Ways are the values by feed `(C, M, F)` at the best split, lefts and rights what the labels of
    the two spans are worth `(C, M, L)`.
    """
    pairs = len(plan.pair_left)
    if plan.unlicensed is None:
        pair = arg_best(ways)
        return plan.pair_left[pair], plan.pair_right[pair]
    left, right = arg_best(lefts), arg_best(rights + plan.on_right[:, None])
    if not pairs:
        return left, right
    pair = arg_best(ways[..., :pairs])
    ruled = ways.gather(-1, pair.expand(len(ways), -1)[..., None])[..., 0]
    unlicensed = ways[..., -1]
    ruled_left, ruled_right = plan.pair_left[pair], plan.pair_right[pair]
    lower = (left < ruled_left) | ((left == ruled_left) & (right < ruled_right))
    wins = better(unlicensed, ruled) | (~better(ruled, unlicensed) & lower)
    return torch.where(wins, left, ruled_left), torch.where(wins, right, ruled_right)


# Down again: the probability of every label over every span.


def go_out(
    scores: torch.Tensor, inside: Inside, plan: Plan, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inside-outside: log partitions `(C, B)`, and probabilities by begin and width `(B, N, W, L)`.

    `out` is the sum over what may stand around a label over a span; `parents` are the same with
    the label's own score and the step below it, by feed.
    """
    t, left, right = inside
    parts, batch, longest, wide, labels = t.shape
    sentences = torch.arange(batch, device=t.device)
    roots = t[:, sentences, 0, lengths] + plan.at_root[:, None]
    total = LogSum.reduce(roots, -1)
    # Children's feeds the other way round: by where left ones end, and where right ones begin.
    shape = (parts, batch, wide, wide, plan.feeds)
    left_by_end, right_by_begin, by_begin, by_end = (t.new_full(shape, -math.inf) for _ in range(4))
    for width in range(1, wide):
        spans = wide - width
        left_by_end[:, :, width:, width] = left[:, :, :spans, width]
        right_by_begin[:, :, :spans, width] = right[:, :, width:, longest - width]
    probabilities = t.new_zeros(t.shape[1:])
    for width in range(longest, 0, -1):
        spans = wide - width
        out = t.new_full((parts, batch, spans, labels), -math.inf)
        ends_here = lengths == width
        out[:, ends_here, 0] = plan.at_root[:, None]
        if width < longest:
            as_left = by_begin[:, :, :spans, width + 1 :] + right_by_begin[:, :, width:, 1:spans]
            as_right = by_end[:, :, width:, width + 1 :] + left_by_end[:, :, :spans, 1:spans]
            around = [LogSum.reduce(as_left, -2), LogSum.reduce(as_right, -2)]
            out = _around(out, around[0], around[1], plan)
        here = t[:, :, :spans, width] + out
        within = (here[-1] - total[-1][:, None, None]).exp()
        if parts == 2:
            within = within * (here[0] == total[0][:, None, None])
        probabilities[:, :spans, width] = within
        if width > 1:
            parents = _parents(out + own_values(scores, width, plan), plan)
            by_begin[:, :, :spans, width] = parents
            by_end[:, :, width:, width] = parents
    return total, probabilities


def _around(
    out: torch.Tensor, as_left: torch.Tensor, as_right: torch.Tensor, plan: Plan
) -> torch.Tensor:
    """Adds what parents hand to their children, by feed, to what stands around each label."""
    labels, pairs = out.shape[-1], len(plan.pair_left)
    ways = [out]
    if pairs:
        ways.append(LogSum.group(as_left[..., :pairs], plan.pair_left, labels))
        ways.append(LogSum.group(as_right[..., :pairs], plan.pair_right, labels))
    if plan.unlicensed is not None:
        ways.append(as_left[..., -1:].expand(out.shape))
        ways.append(as_right[..., -1:] + plan.on_right[:, None, None])
    return LogSum.reduce(torch.stack(ways, dim=-1), -1)


def _parents(here: torch.Tensor, plan: Plan) -> torch.Tensor:
    """What labels hand down to any two children, by feed: `(..., L)` to `(..., F)`."""
    ruled = here.index_select(-1, plan.rule_parent) + plan.rules[:, None, None]
    parents = LogSum.group(ruled, plan.rule_pair, len(plan.pair_left))
    if plan.unlicensed is None:
        return parents
    unlicensed = LogSum.reduce(here, -1)[..., None] + plan.unlicensed[:, None, None, None]
    return torch.cat([parents, unlicensed], dim=-1)


# The two doors.


def decode(chart: Chart, steps: Steps, k: int, distinct: bool, threads: int | None) -> Found:
    """The best derivation of every sentence."""
    chart.check_values()
    scores = np.full(len(chart), -np.inf)
    nodes: list[npt.NDArray[np.int64]] = []
    for mode, portion in _portions(chart, steps):
        sentences = portion[np.isneginf(scores[portion])]
        if len(sentences):
            padded, lengths = _padded(chart, sentences)
            plan = make_plan(steps, mode, padded)
            values, chosen = go_down(go_up(padded, plan, Best()), plan, lengths)
            scores[sentences] = values[-1].cpu().numpy()
            nodes.append(_nodes(chosen, sentences))
    b, begins, ends, columns = np.concatenate(nodes, axis=1)
    order = np.argsort(b, kind="stable")
    return Found(
        scores[scores > -np.inf],
        (scores > -np.inf).astype(np.int64),
        begins[order].astype(np.int32),
        ends[order].astype(np.int32),
        columns[order].astype(np.int32),
    )


def _nodes(chosen: torch.Tensor, sentences: Ints) -> npt.NDArray[np.int64]:
    """Sentence, begin, end and column of all nodes, parents first and from left to right."""
    # Of two spans that begin together the wider is the parent.
    widest_first = chosen.flip(-1)
    b, begins, place = (widest_first >= 0).nonzero(as_tuple=True)
    columns = widest_first[b, begins, place].cpu().numpy()
    ends = (begins + chosen.shape[-1] - 1 - place).cpu().numpy()
    return np.stack([sentences[b.cpu().numpy()], begins.cpu().numpy(), ends, columns])


def marginals(chart: Chart, steps: Steps, threads: int | None) -> list[Marginal]:
    """Log partition, violations and marginals of every sentence, in double precision."""
    chart.check_values()
    results: dict[int, Marginal] = {}
    for mode, portion in _portions(chart, steps):
        sentences = np.array([b for b in portion if b not in results], dtype=np.int64)
        if not len(sentences):
            continue
        padded, lengths = _padded(chart, sentences)
        padded = padded if padded.device.type == "mps" else padded.double()  # which has no doubles
        plan = make_plan(steps, mode, padded, summing=True)
        total, probabilities = go_out(padded, go_up(padded, plan, LogSum()), plan, lengths)
        for at, b in enumerate(sentences.tolist()):
            log_partition = float(total[-1, at])
            if log_partition == -math.inf and mode == "hard":
                continue
            begins, ends = cell_spans(int(chart.lengths[b]))
            violations = -float(total[0, at]) if mode == "ranked" else 0.0
            packed = probabilities[at].cpu().numpy()[begins, ends - begins].astype(np.float64)
            results[b] = Marginal(log_partition, violations, packed)
    return [results[b] for b in range(len(chart))]


def _portions(chart: Chart, steps: Steps) -> list[tuple[str, Ints]]:
    """The modes to decode in, each with sentences that fit in memory together.

    Under an infinite penalty the first mode finds what is legal, and the second is for the rest.
    """
    ranked = steps.penalty == math.inf and steps.tables is not None
    modes = ["hard", "ranked"] if ranked else ["soft"]
    feeds = 1 + (0 if steps.free or steps.tables is None else len(steps.tables.pairs))
    portions = []
    for mode in modes:
        size = (len(chart.labels) + 3 * feeds) * (2 if mode == "ranked" else 1)
        most = MOST_NUMBERS // size
        order = np.arange(len(chart))
        if len(chart) * int(chart.lengths.max()) ** 2 > most:
            order = np.argsort(-chart.lengths, kind="stable")  # little padding in each portion
        while len(order):
            together = max(1, most // int(chart.lengths[order[0]]) ** 2)
            portions.append((mode, order[:together]))
            order = order[together:]
    return portions


def _padded(chart: Chart, sentences: Ints) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores `(B, W, W, L)` and lengths of some sentences as tensors, -inf outside of them."""
    if len(sentences) < len(chart):
        chart = chart.select(sentences)
    scores = chart.padded()
    if not is_tensor(scores):
        scores = torch.from_numpy(np.require(scores, requirements=["C", "W"]))
    return scores, torch.as_tensor(chart.lengths, device=scores.device)
