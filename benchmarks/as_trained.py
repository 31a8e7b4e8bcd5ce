"""Charts as a trained parser gives them: gold trees, and mistakes such as parsers make.

Owns the making of scores from gold trees, and the size of the noise that leaves a given share of
the free parses legal. It measures nothing.

A span scorer ends in a linear layer over features of the span, which are made of features of its
two fenceposts; and it has seen only trees that obey a grammar. So are these scores:

* Labels have features, made from the rules that they occur in; labels of like use are alike and
  get like scores. Over a gold constituent its symbol scores highest, confusable ones come next.
* Elsewhere the nulls, which score 0, win: by less where a constituent begins or ends at the same
  place, by more where the span crosses brackets.
* A parser wavers between readings: a constituent ends elsewhere (its next sibling taken in, its
  last child let go), has another label, is not there, or there is one more. What a reading gains
  here its rival loses. Each of these readings alone is legal; several at once may not be.
* Besides there is noise in the features. Half of it belongs to the fenceposts, so that all spans
  that begin or end together share it; the rest is the span's own, shared by its labels as far as
  they are alike, and large on some spans. A part moves all labels of a span together.

How far an illegal free parse is from a legal one is left to these: nothing keeps it near.

    n  words    C  spans, n(n+1)/2    L  labels    D  features
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright import Tree
from treewright.charts import Labels, cell_spans, packed_index
from treewright.decode import Parses
from treewright.grammar import Kind, RuleTables
from treewright.trees.binarize import derivation
from treewright.trees.symbols import WORD_NULL

Scores = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

FEATURES = 24
# In units of a margin of training; set so that where 83 % of the free parses are legal, about 91 %
# of the brackets are right, as on a real parser.
GOLD = 7.0  # a gold symbol's score, without its bias
BIAS = 4.0  # off every real label, which puts it below the nulls
ALIKE = 0.6  # the part of a label's features that it shares with like labels
BESIDE = 0.1  # of a constituent's features, to spans that share one end with it
CROSSING = 1.5  # off for each crossed bracket, up to three
RIVAL = -2.0  # the score of a rival reading, before what it gains
TORN = 0.5  # the noise between a constituent and its rival
CONFUSION = 0.13  # the noise in the features
DOUBT = 0.03  # the noise that all labels of a span share


@dataclass(frozen=True)
class Gold:
    """The constituents of one sentence, parents first, as columns."""

    n: int
    begins: Ints
    ends: Ints
    columns: Ints

    @property
    def cells(self) -> Ints:
        """The rows of a packed chart that they are."""
        n, i, j = self.n, self.begins, self.ends
        return i * n - i * (i - 1) // 2 + (j - i - 1)


def golds(trees: Iterable[Tree], labels: Labels) -> list[Gold]:
    """The constituents of trees; a tree with a symbol that is no column is left out."""
    found = []
    for tree in trees:
        spans = derivation(tree)
        if any(span.label not in labels.columns for span in spans):
            continue
        rows = [(i, j, labels.columns[label]) for i, j, label in spans]
        real = [row for row in rows if labels.kinds[row[2]] == Kind.REAL]
        begins, ends, columns = np.array(real, dtype=np.int64).reshape(-1, 3).T
        found.append(Gold(spans[0].end, begins, ends, columns))
    return found


def of_length(
    pool: list[Gold], n: int, count: int, labels: Labels, random: np.random.Generator
) -> list[Gold]:
    """Sentences of exactly `n` words: those there are, then joined ones.

    Joined are clauses, a word after each, under one more `S`: `(S (S ..) , (S ..) , (S ..) .)`.
    """
    there = [gold for gold in pool if gold.n == n]
    chosen = [there[at] for at in random.permutation(len(there))[:count]]
    top = labels.columns["S"]
    clauses: dict[int, list[Gold]] = {}
    for gold in pool:
        if len(gold.columns) and gold.columns[0] == top:
            clauses.setdefault(gold.n, []).append(gold)
    while len(chosen) < count:
        chosen.append(_joined(clauses, n, top, random))
    return chosen


def _joined(clauses: dict[int, list[Gold]], n: int, top: int, random: np.random.Generator) -> Gold:
    """Clauses of random lengths, with a word after each, that fill `n` words."""
    sizes = np.array([size for size, golds in clauses.items() for _ in golds])
    lengths: list[int] = []
    while (left := n - sum(lengths) - len(lengths)) > 0:
        if lengths and left - 1 in clauses:
            lengths.append(left - 1)
            continue
        fitting = sizes[sizes < min(left, n - 2)]
        lengths = [*lengths, int(random.choice(fitting))] if len(fitting) else []
    parts = [clauses[size][random.integers(len(clauses[size]))] for size in lengths]
    starts = np.cumsum([0, *(size + 1 for size in lengths[:-1])])
    placed = list(zip(parts, starts, strict=True))
    return Gold(
        n,
        np.concatenate([[0], *(part.begins + start for part, start in placed)]),
        np.concatenate([[n], *(part.ends + start for part, start in placed)]),
        np.concatenate([[top], *(part.columns for part in parts)]),
    )


def label_features(tables: RuleTables) -> Scores:
    """Unit vectors of labels, `(L, D + L)`, whose products say how alike their use is.

    The first D come from the rules that a label occurs in, as parent, left or right child, and
    with which labels; the others are each label's own.
    """
    labels = len(tables.labels)
    parent, pair = tables.rules.T
    left, right = tables.pairs[pair].T
    counts = np.zeros((labels, 6, labels))
    roles = [(parent, left), (parent, right), (left, parent), (right, parent), (left, right)]
    for role, (label, other) in enumerate([*roles, (right, left)]):
        np.add.at(counts, (label, role, other), tables.rule_counts)
    seen = np.sqrt(counts.reshape(labels, -1))
    seen /= np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-9)
    vectors, sizes, _ = np.linalg.svd(seen, full_matrices=False)
    shared = vectors[:, :FEATURES] * sizes[:FEATURES]
    shared /= np.maximum(np.linalg.norm(shared, axis=1, keepdims=True), 1e-9)
    own = np.sqrt(1 - ALIKE) * np.eye(labels)
    return np.concatenate([np.sqrt(ALIKE) * shared, own], axis=1).astype(np.float32)


@dataclass(frozen=True)
class Node:
    """A constituent with its children, words among them; `column` is that of `@` over a word."""

    begin: int
    end: int
    column: int
    children: tuple[Node, ...] = ()

    def same(self, **changes: object) -> Node:
        """This node with something changed."""
        return Node(**{**self.__dict__, **changes})  # type: ignore[arg-type]


def build(gold: Gold, word: int) -> Node:
    """The tree of the constituents, with `@` over the words between them."""
    pending: list[Node] = [Node(i, i + 1, word) for i in reversed(range(gold.n))]
    done: list[Node] = []
    rows = zip(gold.begins.tolist(), gold.ends.tolist(), gold.columns.tolist(), strict=True)
    for i, j, column in reversed(list(rows)):
        # Backwards, children come before their parents; `done` has the leftmost on top.
        children: list[Node] = []
        at = i
        while at < j:
            if done and done[-1].begin == at:
                children.append(done.pop())
            else:
                children.append(pending[gold.n - 1 - at])
            at = children[-1].end
        done.append(Node(i, j, column, tuple(children) if j - i > 1 else ()))
    return done[-1]


@dataclass(frozen=True)
class Reading:
    """Another reading of a constituent: `new` in place of `old`; one of them may be missing."""

    old: Node | None
    new: Node | None


class Scorer:
    """Makes charts of sentences, in the columns of a grammar's tables."""

    def __init__(self, tables: RuleTables) -> None:
        self.tables = tables
        self.features = label_features(tables)
        self.real = tables.kinds == Kind.REAL
        self.word = tables.labels.index(WORD_NULL)
        pairs = tables.pairs[tables.rules[:, 1]]
        self.rules = set(zip(tables.rules[:, 0].tolist(), *pairs.T.tolist(), strict=True))
        self.mark = int((tables.kinds == Kind.MARK).argmax())
        alike = np.where(self.real, self.features @ self.features.T, -1)
        self.most_alike = np.argsort(-alike, axis=1)[:, 1:7]
        uses = np.bincount(tables.rules[:, 0], weights=tables.rule_counts, minlength=len(self.real))
        self.most_used = np.argsort(-np.where(self.real, uses, -1))[:6]

    def legal(self, column: int, children: Sequence[Node]) -> bool:
        """Whether the rules license a label over children (none: over one word), binarised."""
        if len(children) < 2:
            return not children and bool(self.tables.words[column])
        left = children[0].column
        for child in children[1:-1]:
            if (self.mark, left, child.column) not in self.rules:
                return False
            left = self.mark
        return (column, left, children[-1].column) in self.rules

    def readings(self, gold: Gold, random: np.random.Generator) -> list[Reading]:
        """Legal readings that a parser may prefer to the gold one."""
        found = []
        stack = [build(gold, self.word)]
        while stack:
            node = stack.pop()
            stack += node.children
            for at, child in enumerate(node.children):
                before, after = node.children[:at], node.children[at + 1 :]
                for reading, instead in self._otherwise(child, after, random):
                    rest = after[1:] if instead and instead[-1].end > child.end else after
                    if self.legal(node.column, [*before, *instead, *rest]):
                        found.append(reading)
        return found

    def _otherwise(
        self, child: Node, after: Sequence[Node], random: np.random.Generator
    ) -> Iterator[tuple[Reading, list[Node]]]:
        """Readings of a child, and what then stands in its place."""
        if child.column == self.word:
            if after:  # one more constituent
                column = int(random.choice(self.most_used))
                new = Node(child.begin, after[0].end, column, (child, after[0]))
                if self.legal(column, new.children):
                    yield Reading(None, new), [new]
            return
        for column in self.most_alike[child.column].tolist():
            if self.legal(column, child.children):
                new = child.same(column=column)
                yield Reading(child, new), [new]
                break
        missing = child.children or (child.same(column=self.word),)
        yield Reading(child, None), list(missing)
        if after:
            more = (*child.children, after[0])
            if len(more) > 1 and self.legal(child.column, more):
                new = child.same(end=after[0].end, children=more)
                yield Reading(child, new), [new]
        if len(child.children) > 2 and self.legal(child.column, child.children[:-1]):
            last = child.children[-1]
            new = child.same(end=last.begin, children=child.children[:-1])
            yield Reading(child, new), [new, last]

    def charts(self, gold: Gold, random: np.random.Generator) -> tuple[Scores, Scores]:
        """Scores without noise, and noise of size 1: two charts `(C, L)`."""
        signal, noise = self._signal(gold), self._noise(gold.n, random)
        for reading in self.readings(gold, random):
            torn = TORN * random.laplace()
            old, new = reading.old, reading.new
            if new is not None:
                at = packed_index(gold.n, new.begin, new.end), new.column
                signal[at] = max(signal[at], RIVAL)
                noise[at] += torn
            if old is not None:
                row = packed_index(gold.n, old.begin, old.end)
                if new is not None and (new.begin, new.end) == (old.begin, old.end):
                    noise[row, old.column] -= torn
                else:
                    noise[row] -= torn
        for chart in (signal, noise):
            chart[:, ~self.real] = 0
        return signal, noise

    def _signal(self, gold: Gold) -> Scores:
        n, features = gold.n, self.features
        begins, ends = cell_spans(n)
        opening, closing = np.zeros((2, n + 1, features.shape[1]), dtype=np.float32)
        for posts, at in ((opening, gold.begins), (closing, gold.ends)):
            np.add.at(posts, at, features[gold.columns])
            posts /= np.maximum(np.bincount(at, minlength=n + 1), 1)[:, None]
        of_spans = BESIDE * (opening[begins] + closing[ends])
        of_spans[gold.cells] = features[gold.columns]
        crossed = np.zeros((n + 1, n + 1), dtype=np.float32)
        for i, j in zip(gold.begins, gold.ends, strict=True):
            crossed[i + 1 : j, j + 1 :] += 1
            crossed[:i, i + 1 : j] += 1
        off = CROSSING * np.minimum(crossed[begins, ends], 3)
        return GOLD * (of_spans @ features.T) - (BIAS + off)[:, None]  # type: ignore[no-any-return]

    def _noise(self, n: int, random: np.random.Generator) -> Scores:
        begins, ends = cell_spans(n)
        width = self.features.shape[1] + 1  # the last is of the span as a whole
        posts = random.standard_normal((2, n + 1, width), dtype=np.float32)
        wrong = random.standard_normal((len(begins), width), dtype=np.float32)
        wrong *= random.standard_exponential((len(begins), 1), dtype=np.float32)
        wrong += np.sqrt(np.float32(0.5)) * (posts[0, begins] + posts[1, ends])
        return CONFUSION * (wrong[:, :-1] @ self.features.T) + DOUBT * wrong[:, -1:]  # type: ignore[no-any-return]


def agreement(gold: Sequence[Gold], parses: Parses, real: npt.NDArray[np.bool_]) -> float:
    """The F1 of the parses' symbols over spans: how good this parser would be."""
    right = found = wanted = 0
    for sentence, parse in zip(gold, parses, strict=True):
        begins, ends, columns = parse.columns
        at = real[columns]
        ours = set(zip(begins[at].tolist(), ends[at].tolist(), columns[at].tolist(), strict=True))
        rows = (sentence.begins.tolist(), sentence.ends.tolist(), sentence.columns.tolist())
        theirs = set(zip(*rows, strict=True))
        right, found, wanted = right + len(ours & theirs), found + len(ours), wanted + len(theirs)
    return 2 * right / (found + wanted)


def calibrate(share_legal: Callable[[float], float], target: float, steps: int) -> float:
    """The size of the noise at which a share of the free parses is legal, by bisection.

    The nearest of the sizes tried is the answer: a few sentences have only so many shares.
    """
    low, high = 0.0, 8.0
    tried = {}
    for _ in range(steps):
        size = (low + high) / 2
        tried[size] = share_legal(size)
        if tried[size] > target:
            low = size
        else:
            high = size
    return min(tried, key=lambda size: abs(tried[size] - target))
