"""A network whose scores are what a test says: a parameter of all cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from treewright.charts import Labels, packed_index
from treewright.grammar import Grammar
from treewright.training.loss import JointLoss
from treewright.training.treebank import Examples, Gold
from treewright.trees import Tree
from treewright.trees.symbols import Scheme


class FakeEncoded(NamedTuple):
    lengths: tuple[int, ...]
    tag_logits: torch.Tensor | None
    fenceposts: torch.Tensor


class FakeNetwork(nn.Module):
    """Features are the lengths of the sentences."""

    def __init__(self, lengths: list[int], columns: int, tags: int = 0) -> None:
        super().__init__()
        cells = sum(n * (n + 1) // 2 for n in lengths)
        self.rows = nn.Parameter(torch.zeros(cells, columns, dtype=torch.float64))
        self.tag_logits = nn.Parameter(torch.zeros(sum(lengths), tags)) if tags else None

    def encode(self, features: tuple[int, ...]) -> FakeEncoded:
        return FakeEncoded(features, self.tag_logits, self.rows)

    def chart(self, encoded: FakeEncoded) -> torch.Tensor:
        return self.rows.clone()

    def span_scores(
        self,
        encoded: FakeEncoded,
        sentences: torch.Tensor,
        begins: torch.Tensor,
        ends: torch.Tensor,
        columns: torch.Tensor,
    ) -> torch.Tensor:
        sizes = [n * (n + 1) // 2 for n in encoded.lengths]
        first = np.cumsum([0, *sizes])
        spans = zip(sentences.tolist(), begins.tolist(), ends.tolist(), strict=True)
        rows = [int(first[b]) + packed_index(encoded.lengths[b], i, j) for b, i, j in spans]
        return self.rows[torch.tensor(rows, dtype=torch.int64), columns]


class Problem:
    """Gold trees, a grammar, a network that may be told its scores, and the loss."""

    def __init__(
        self,
        trees: list[str],
        grammar: list[str] | None = None,
        *,
        scheme: Scheme = "$",
        rule_weight: float = 0.4,
        **options: object,
    ) -> None:
        gold = [Tree.from_brackets(text) for text in trees]
        known = [Tree.from_brackets(text) for text in grammar] if grammar else gold
        every = Grammar.from_trees([*gold, *known], scheme=scheme)
        counted = Grammar.from_trees(known, scheme=scheme)
        self.grammar = Grammar(
            scheme, counted.rules, counted.words, counted.roots, frozenset(every.labels)
        )
        self.labels = Labels(self.grammar.labels)
        self.tables = self.grammar.tables(self.labels.names)
        tags = sorted({tag for tree in gold for tag in tree.tags()})
        self.examples = Examples(gold, self.labels, self.tables, tags, scheme)
        self.lengths = tuple(self.examples.lengths.tolist())
        self.network = FakeNetwork(list(self.lengths), len(self.labels))
        self.loss = JointLoss(
            self.network,  # type: ignore[arg-type]
            self.labels,
            self.tables,
            rule_weight=rule_weight,
            tag_weight=0.0,
            **options,  # type: ignore[arg-type]
        )

    @property
    def gold(self) -> Gold:
        return self.examples.gold(np.arange(len(self.examples)))

    def set_scores(self, seed: int, scale: float = 1.0) -> None:
        random = np.random.default_rng(seed)
        rows = random.normal(scale=scale, size=self.network.rows.shape)
        with torch.no_grad():
            self.network.rows.copy_(torch.from_numpy(rows))

    def __call__(self) -> tuple[torch.Tensor, dict[str, float]]:
        from treewright.training.loss import RECORD

        losses = self.loss(self.lengths, self.gold)
        return losses.total, dict(zip(RECORD, losses.record.tolist(), strict=True))
