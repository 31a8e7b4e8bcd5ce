"""Parses: what the decoders answer, as arrays inside and as Python objects on demand.

Owns the way from the concatenated arrays of a decoder to labelled spans, violations, rule counts
and trees. Nothing is made before it is asked for, so that a batch of ten thousand sentences costs
no more Python than a batch of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from treewright.charts import Ints
from treewright.decode.steps import Steps
from treewright.grammar import Rule, Violation, steps
from treewright.trees import Span, Tree
from treewright.trees.binarize import tree_of_derivation

Int32s: TypeAlias = npt.NDArray[np.int32]


class Found(NamedTuple):
    """The best derivations of a batch; those of a sentence follow each other, the best first.

    M derivations in all; one of a sentence of n words has 2n - 1 nodes, parents first and from
    left to right, and those of all derivations follow each other in `begins`, `ends`, `columns`.
    """

    scores: npt.NDArray[np.float64]  # (M,)
    counts: Ints  # (B,): derivations of each sentence, 0 where there is none
    begins: Int32s
    ends: Int32s
    columns: Int32s

    @classmethod
    def of_nothing(cls) -> Found:
        """What no sentences at all are answered with."""
        none = np.zeros(0, dtype=np.int32)
        return cls(np.zeros(0), np.zeros(0, dtype=np.int64), none, none, none)


class Marginal(NamedTuple):
    """One sentence's log partition, its fewest violations, and its probabilities, packed."""

    log_partition: float
    violations: float
    probabilities: npt.NDArray[np.float64]  # (n(n+1)/2, L)


class Batch:
    """The derivations of a batch, and what follows from them, worked out once for all."""

    def __init__(self, found: Found, lengths: Ints, steps: Steps) -> None:
        self.found = found
        self.steps = steps
        self._lengths = np.repeat(lengths, found.counts)

    @cached_property
    def nodes(self) -> Ints:
        """Where the nodes of each derivation begin: `(M + 1,)`."""
        return np.concatenate([[0], np.cumsum(2 * self._lengths - 1)]).astype(np.int64)

    @cached_property
    def rule_ids(self) -> Ints:
        """Of every node the rule that licenses it, -1 if none does or it stands over one word."""
        found = self.found
        ids = np.full(len(found.begins), -1, dtype=np.int64)
        # A left child is the next node. It covers w words in 2w - 1 nodes; then the right child.
        parent = np.flatnonzero(found.ends - found.begins > 1)
        left = parent + 1
        right = parent + 2 * (found.ends[left] - found.begins[left])
        columns = found.columns
        ids[parent] = self.steps.rule_ids(columns[parent], columns[left], columns[right])
        return ids

    @cached_property
    def unlicensed(self) -> npt.NDArray[np.bool_]:
        """The nodes whose rule or one-word label the grammar lacks."""
        tables, found = self.steps.tables, self.found
        if tables is None:
            return np.zeros(len(found.begins), dtype=np.bool_)
        over_word = found.ends - found.begins == 1
        return np.where(over_word, ~tables.words[found.columns], self.rule_ids < 0)

    @cached_property
    def unlicensed_root(self) -> npt.NDArray[np.bool_]:
        """The derivations whose root label the grammar lacks: `(M,)`."""
        tables = self.steps.tables
        if tables is None:
            return np.zeros(len(self._lengths), dtype=np.bool_)
        return ~tables.roots[self.found.columns[self.nodes[:-1]]]

    @cached_property
    def n_violations(self) -> Ints:
        """The number of violations of each derivation: `(M,)`."""
        if not len(self._lengths):
            return np.zeros(0, dtype=np.int64)
        below = np.add.reduceat(self.unlicensed.astype(np.int64), self.nodes[:-1])
        return below + self.unlicensed_root

    @property
    def n_rules(self) -> int:
        """The number of rules of the tables."""
        return 0 if self.steps.tables is None else len(self.steps.tables.rules)


class Parse:
    """One tree over one sentence: labelled spans and what they are worth.

    `score` is the sum of the scores of its spans and rules, with the penalty of every violation
    taken off; where the penalty is infinite, nothing is taken off.
    """

    __slots__ = ("_at", "_batch")

    def __init__(self, batch: Batch, at: int) -> None:
        self._batch = batch
        self._at = at

    @property
    def score(self) -> float:
        """What the decoder maximised."""
        return float(self._batch.found.scores[self._at])

    @property
    def _nodes(self) -> slice:
        return slice(int(self._batch.nodes[self._at]), int(self._batch.nodes[self._at + 1]))

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans of the binary tree, nulls too, parents first and from left to right."""
        found, nodes = self._batch.found, self._nodes
        names = self._batch.steps.labels.names
        columns = found.columns[nodes].tolist()
        begins, ends = found.begins[nodes].tolist(), found.ends[nodes].tolist()
        return tuple(map(Span, begins, ends, [names[column] for column in columns]))

    @property
    def columns(self) -> tuple[Int32s, Int32s, Int32s]:
        """Begins, ends and columns of the spans, as arrays."""
        found, nodes = self._batch.found, self._nodes
        return found.begins[nodes], found.ends[nodes], found.columns[nodes]

    @property
    def n_violations(self) -> int:
        """How many steps the grammar lacks; 0 without a grammar."""
        return int(self._batch.n_violations[self._at])

    @property
    def violations(self) -> list[Violation]:
        """The rules, one-word labels and the root label that the grammar lacks, as they come."""
        if not self.n_violations:
            return []
        unlicensed = self._batch.unlicensed[self._nodes]
        found: list[Violation] = []
        for at, (span, rule) in enumerate(steps(self.spans)):
            if at == 0 and self._batch.unlicensed_root[self._at]:
                found.append(Violation("root", *span))
            if unlicensed[at]:
                kind: Literal["word", "rule"] = "word" if rule is None else "rule"
                found.append(Violation(kind, *span, rule and (rule.left, rule.right)))
        return found

    @property
    def rule_counts(self) -> Ints:
        """How often each rule of the tables is used as a licensed step: `(R,)`."""
        ids = self._batch.rule_ids[self._nodes]
        return np.bincount(ids[ids >= 0], minlength=self._batch.n_rules)

    @property
    def rules(self) -> list[Rule]:
        """The rules of the grammar that the tree uses, parents first and from left to right."""
        tables = self._batch.steps.tables
        if tables is None:
            return []
        ids = self._batch.rule_ids[self._nodes]
        return [Rule(*tables.rule_of(number)) for number in ids[ids >= 0].tolist()]

    def tree(self, words: Sequence[str], tags: Sequence[str]) -> Tree:
        """The tree over these words and tags, binarisation undone."""
        found, nodes = self._batch.found, self._nodes
        names = self._batch.steps.labels.names
        symbols = [names[column] for column in found.columns[nodes].tolist()]
        over_word = (found.ends[nodes] - found.begins[nodes] == 1).tolist()
        return tree_of_derivation(symbols, over_word, words, tags)

    def __repr__(self) -> str:
        brackets = " ".join(f"({i}, {j}, {label})" for i, j, label in self.spans)
        return f"<Parse {self.score:g}: {brackets}>"


class Parses(Sequence[Any]):
    """What a batch of sentences is answered with: a `Parse` each, or a list of the best `k`."""

    def __init__(self, batch: Batch, k: int) -> None:
        self._batch = batch
        self._k = k
        self._first = np.concatenate([[0], np.cumsum(batch.found.counts)])

    def __len__(self) -> int:
        return len(self._first) - 1

    def __getitem__(self, b: Any) -> Any:
        if isinstance(b, slice):
            return [self[at] for at in range(*b.indices(len(self)))]
        size = len(self)
        if not -size <= b < size:
            raise IndexError(f"{size} sentences, asked for number {b}")
        first, last = self._first[b % size], self._first[b % size + 1]
        if self._k == 1:
            return Parse(self._batch, first)
        return [Parse(self._batch, at) for at in range(first, last)]

    def __iter__(self) -> Iterator[Any]:
        return (self[b] for b in range(len(self)))

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores of all parses, those of a sentence together."""
        return self._batch.found.scores

    @property
    def n_violations(self) -> Ints:
        """How many steps of each parse the grammar lacks: `(M,)`, as the scores."""
        return self._batch.n_violations

    @property
    def rule_counts(self) -> Ints:
        """How often each rule of the tables is used as a licensed step, in all parses: `(R,)`."""
        ids = self._batch.rule_ids
        return np.bincount(ids[ids >= 0], minlength=self._batch.n_rules)

    def arrays(self) -> Found:
        """All parses as arrays, for training: sentences, spans and columns without a loop."""
        return self._batch.found


def gather(found: list[list[tuple[float, tuple[Any, ...]]]], lengths: Ints) -> Found:
    """Scores and nested derivations (see `reference`) of every sentence as arrays."""
    begins: list[int] = []
    ends: list[int] = []
    columns: list[int] = []
    for derivations, n in zip(found, lengths.tolist(), strict=True):
        for _, derivation in derivations:
            stack = [(0, n, derivation)]
            while stack:
                i, j, node = stack.pop()
                begins.append(i)
                ends.append(j)
                columns.append(node[0])
                if len(node) > 1:
                    stack.append((node[1], j, node[5]))
                    stack.append((i, node[1], node[4]))
    return Found(
        np.array([score for derivations in found for score, _ in derivations], dtype=np.float64),
        np.array([len(derivations) for derivations in found], dtype=np.int64),
        np.array(begins, dtype=np.int32),
        np.array(ends, dtype=np.int32),
        np.array(columns, dtype=np.int32),
    )
