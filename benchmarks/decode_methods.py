"""Every way to decode that bench_decode.py times, and the charts that it is timed on.

Owns the list of ways, what each is handed, and the making of charts. It measures nothing.

* `rules` is the rule-based decoder as users get it: hard, with its shortcuts.
* `dense` is the same without shortcuts: every pair of children at every split.
* `soft` has shortcuts too, `soft dense` has none; nor have `k = 10` and `marginals`, with rules.
* What baselines are handed is in the layout that they ask for; making that is not timed.

    n  words    B  sentences    L  labels
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import as_trained
import numpy as np
from as_trained import Gold, Scorer, Scores

from treewright import Grammar, _kernel
from treewright.charts import Labels, as_chart, cell_count
from treewright.decode import Parses, decode
from treewright.grammar import RuleTables

LEGAL = 0.83  # of the free parses, as measured on a real parser
PENALTY = 1.0  # of soft rules
RANDOM, TRAINED = "random", "as trained"
Run = Callable[[int], object]  # with so many threads


class Rules:
    """A grammar in all the forms that decoders want."""

    def __init__(self, grammar: Grammar) -> None:
        self.labels = Labels(sorted(grammar.labels))
        self.tables: RuleTables = grammar.tables(self.labels.names)

    @cached_property
    def prepared(self) -> _kernel.Grammar:
        """For the kernel without its door."""
        t = self.tables
        return _kernel.Grammar(t.kinds, t.pairs, t.rules, t.words, t.roots)

    @cached_property
    def dense(self) -> Any:
        """For algorithm 5."""
        from algorithm_5_as_meant import dense_rules

        return dense_rules(self.tables)


@dataclass(frozen=True)
class Batch:
    """Sentences with their scores, packed."""

    rules: Rules
    lengths: list[int]
    charts: list[Scores]

    def first(self, count: int) -> Batch:
        """Fewer of them."""
        return Batch(self.rules, self.lengths[:count], self.charts[:count])

    def padded(self) -> Any:
        """The scores as one tensor `(B, N+1, N+1, L)`."""
        import torch

        tensors = [torch.from_numpy(chart) for chart in self.charts]
        return as_chart(tensors, self.rules.labels).padded(fill=0.0)


Start = Callable[[Batch], Run]


class Trained(NamedTuple):
    """What charts as a trained parser gives them came to."""

    noise: float
    legal: float  # the share of free parses that are
    f1: float  # of the free parses
    longest: int


def at_random(rules: Rules, n: int, count: int, random: np.random.Generator) -> Batch:
    """Normally distributed scores."""
    shape = (cell_count(n), len(rules.labels))
    charts = [random.standard_normal(shape, dtype=np.float32) for _ in range(count)]
    return Batch(rules, [n] * count, charts)


def trained(
    rules: Rules, golds: Sequence[Gold], random: np.random.Generator
) -> tuple[Batch, Trained]:
    """Gold trees plus as much noise as leaves 83 % of the free parses legal."""
    scorer = Scorer(rules.tables)
    parts = [scorer.charts(gold, random) for gold in golds]

    def parses(size: float) -> list[Any]:
        # A penalty of 0 decodes freely, and says what is not licensed.
        return [
            decode(signal + np.float32(size) * noise, rules.labels, rules.tables, penalty=0.0)
            for signal, noise in parts
        ]

    def share_legal(size: float) -> float:
        return float(np.mean([parse.n_violations == 0 for parse in parses(size)]))

    size = as_trained.calibrate(share_legal, LEGAL, steps=8)
    for signal, noise in parts:
        noise *= np.float32(size)
        signal += noise
    charts = [signal for signal, _ in parts]
    batch = Batch(rules, [gold.n for gold in golds], charts)
    found: Parses = decode(charts, rules.labels, rules.tables, penalty=0.0)
    legal = float((found.n_violations == 0).mean())
    f1 = as_trained.agreement(golds, found, scorer.real)
    return batch, Trained(size, legal, f1, max(batch.lengths))


def native(with_rules: bool) -> Start:
    """The kernel through the door that users take."""

    def start(batch: Batch) -> Run:
        labels, tables = batch.rules.labels, batch.rules.tables if with_rules else None
        return lambda threads: decode(
            batch.charts, labels, tables, threads=threads, method="native"
        )

    return start


def kernel(name: str, **options: Any) -> Start:
    """One of the kernel's own functions, for what its door has no option for."""

    def start(batch: Batch) -> Run:
        lengths, kinds = np.array(batch.lengths, dtype=np.int32), batch.rules.labels.kinds
        given = batch.charts, lengths, kinds, batch.rules.prepared
        return lambda threads: getattr(_kernel, name)(*given, threads=threads, **options)

    return start


def with_torch(work: Callable[[], object]) -> Run:
    """Work with so many threads for every tensor operation."""
    import torch

    def run(threads: int) -> object:
        torch.set_num_threads(threads)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch-struct is older than this torch
            return work()

    return run


def batched(with_rules: bool) -> Start:
    def start(batch: Batch) -> Run:
        scores, labels = batch.padded(), batch.rules.labels
        tables = batch.rules.tables if with_rules else None
        return with_torch(lambda: decode(scores, labels, tables, method="batched"))

    return start


def reference(with_rules: bool) -> Start:
    def start(batch: Batch) -> Run:
        tables = batch.rules.tables if with_rules else None
        return lambda _: decode(batch.charts, batch.rules.labels, tables, method="reference")

    return start


def torch_struct(batch: Batch) -> Run:
    import torch
    from torch_struct_baseline import benepar_chart, decode

    chart, lengths = benepar_chart(batch.padded(), batch.rules.labels), torch.tensor(batch.lengths)
    return with_torch(lambda: decode(chart, lengths))


def algorithm_5(batch: Batch) -> Run:
    from algorithm_5_as_meant import decode

    dense, padded = batch.rules.dense, batch.padded()
    return with_torch(lambda: [decode(one, dense) for one in padded])


def bytes_of_algorithm_5(rules: Rules, n: int) -> int:
    from algorithm_5_as_meant import bytes_needed

    return bytes_needed(n, rules.dense)


@dataclass(frozen=True)
class Way:
    """A way to decode: `start` makes a batch ready and returns what is timed."""

    name: str
    start: Start
    scores: tuple[str, ...] = (RANDOM,)  # the kinds that its time depends on
    most: int = 256  # sentences at once
    threads: tuple[int, ...] = (1, 2)
    needs: str | None = None  # a library
    bytes_needed: Callable[[Rules, int], int] = lambda rules, n: 0

    @property
    def uses_torch(self) -> bool:
        """Whether it does its work in torch."""
        return self.needs is not None


BOTH = (RANDOM, TRAINED)
WAYS = [
    Way("native free", native(False), BOTH),
    Way("native rules", native(True), BOTH),
    Way("native dense", kernel("decode", shortcuts=False)),
    Way("native soft dense", kernel("decode", shortcuts=False, penalty=PENALTY)),
    Way("native soft", kernel("decode", penalty=PENALTY), BOTH),
    Way("native k = 10", kernel("k_best", k=10), BOTH),
    Way("native marginals", kernel("marginals"), BOTH),
    Way("batched free", batched(False), most=32, needs="torch"),
    Way("batched rules", batched(True), most=32, needs="torch"),
    Way("reference free", reference(False), most=4, threads=(1,)),
    Way("reference rules", reference(True), most=4, threads=(1,)),
    Way("torch-struct free", torch_struct, most=32, needs="torch_struct"),
    Way(
        "algorithm 5, as meant",
        algorithm_5,
        most=1,
        needs="torch",
        bytes_needed=bytes_of_algorithm_5,
    ),
]
