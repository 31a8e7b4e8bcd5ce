"""The loss: a structured hinge from both decoders, and the tags' cross-entropy.

Owns what a batch costs. For a sentence whose gold tree scores g, the hinge of a decoder is the
maximum over its trees of score plus cost, less g: 0 when gold wins by its margin, never below.
Lambda mixes the hinge of the free decoder and that of the rule-based one; a sentence whose gold
tree the grammar forbids has only the first.

No gradient runs through a chart. Scores of all spans are made without one, costs added, decoded,
and thrown away; then the cells in which gold and the offenders differ, a small part of all, are
scored again with one. Where they agree their scores cancel out.

    B  sentences    M  nodes of a tree for each, 2n - 1    K  cells scored again    R  rules
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from treewright.charts import Ints, Labels
from treewright.decode.parses import Batch, Found, Int32s
from treewright.decode.steps import as_steps
from treewright.grammar import RuleTables
from treewright.model.features import Features
from treewright.model.network import Encoded, Network
from treewright.training.costs import HammingCosts
from treewright.training.offenders import Hunt, Nodes
from treewright.training.treebank import Gold


class Losses(NamedTuple):
    """What some sentences cost, summed over them. `total` alone has a gradient."""

    total: torch.Tensor
    record: torch.Tensor
    """`(len(RECORD),)`: what the names of RECORD say."""


#: Sums over sentences (tags: over words) that are written down.
RECORD = ("free", "ruled", "tags", "missed", "searched", "forbidden", "sentences", "words")


class JointLoss(nn.Module):
    """A network and what it is to learn; `forward` takes a piece of a batch.

    It is a module so that scores of rules are parameters beside the network's, and so that a whole
    step goes through one door, which is what several processes need.
    """

    rule_scores: torch.Tensor | None

    def __init__(
        self,
        network: Network,
        labels: Labels,
        tables: RuleTables,
        *,
        rule_weight: float,
        tag_weight: float,
        rule_scores: Sequence[float] | None = None,
        learn_rules: bool = False,
        method: str = "native",
    ) -> None:
        super().__init__()
        self.network = network
        self.rule_weight = rule_weight
        self.tag_weight = tag_weight
        self.hunt = Hunt(labels, tables, rule_weight, method)
        self.costs = HammingCosts(labels)
        self._steps = as_steps(labels, tables, np.inf, None)
        scores = None if rule_scores is None else torch.tensor(rule_scores, dtype=torch.float32)
        if learn_rules:
            self.rule_scores = nn.Parameter(
                torch.zeros(len(tables.rules)) if scores is None else scores
            )
        else:
            self.register_buffer("rule_scores", scores)

    def forward(
        self, features: Features, gold: Gold, share: float = 1.0, word_share: float = 1.0
    ) -> Losses:
        """The losses of some sentences.

        In the total a sentence's hinge weighs `share`, and a word's cross-entropy `word_share`.
        """
        encoded = self.network.encode(features)
        with torch.no_grad():
            rows = self.network.chart(encoded).float()
        # Autocast keeps the weights that it made smaller in there, which have no gradient.
        torch.clear_autocast_cache()
        free, ruled, searched = self._hinges(encoded, rows, gold)
        legal = torch.as_tensor(gold.legal, device=free.device)
        hinges = (1.0 - self.rule_weight) * free + self.rule_weight * legal * ruled
        tags = self._tag_loss(encoded, gold)
        total = share * hinges.sum() + word_share * self.tag_weight * tags
        with torch.no_grad():
            missed = ((free > 0) | (ruled > 0)).sum()
            counts = (searched, int((~gold.legal).sum()), len(gold.lengths), len(gold.tags))
            sums = [free.sum(), ruled.sum(), tags, missed, *map(total.new_tensor, counts)]
            return Losses(total, torch.stack([value.float() for value in sums]))

    def _tag_loss(self, encoded: Encoded, gold: Gold) -> torch.Tensor:
        logits = encoded.tag_logits
        if logits is None:
            return encoded.fenceposts.new_zeros((), dtype=torch.float32)
        wanted = torch.as_tensor(gold.tags, device=logits.device)
        return functional.cross_entropy(logits.float(), wanted, ignore_index=-1, reduction="sum")

    def _hinges(
        self, encoded: Encoded, rows: torch.Tensor, gold: Gold
    ) -> tuple[torch.Tensor, torch.Tensor, int]:
        """The hinges of both decoders `(B,)` each, live; how often rules were searched."""
        cells = Cells(gold.lengths)
        own = Nodes(gold.begins, gold.ends, gold.columns)
        self.costs.add(rows, cells.of(own), gold.columns)
        scores = None
        if self.rule_scores is not None:
            scores = self.rule_scores.detach().double().cpu().numpy()
        readable = rows if self.hunt.method == "batched" else rows.cpu()
        free, ruled, searched = self.hunt(readable, gold, scores)
        terms, costs = differences(cells, own, (free, ruled), self.costs)
        margins = self._live(encoded, terms, cells, 2 * len(gold.lengths))
        margins = margins + torch.as_tensor(costs, dtype=torch.float32, device=margins.device)
        if self.rule_scores is not None:
            of_rules = self._rules_beside_gold(ruled, gold)
            margins = margins + torch.cat([torch.zeros_like(of_rules), of_rules])
        hinges = functional.relu(margins)
        free_hinges, ruled_hinges = hinges.chunk(2)
        return free_hinges, ruled_hinges, searched

    def _live(self, encoded: Encoded, terms: Terms, cells: Cells, n_hinges: int) -> torch.Tensor:
        """The sums of the scores of cells, with their signs, by hinge: `(n_hinges,)`."""
        # A cell that is wrong under both decoders is scored once.
        key = terms.cells * (int(terms.columns.max(initial=0)) + 1) + terms.columns
        _, first, back = np.unique(key, return_index=True, return_inverse=True)
        sentences = cells.sentences[terms.nodes[first]]

        device = next(self.network.parameters()).device

        def tensor(array: npt.NDArray[np.generic]) -> torch.Tensor:
            return torch.as_tensor(array, device=device)

        live = self.network.span_scores(
            encoded,
            tensor(sentences),
            tensor(terms.begins[first].astype(np.int64)),
            tensor(terms.ends[first].astype(np.int64)),
            tensor(terms.columns[first].astype(np.int64)),
        ).float()
        signed = live[tensor(back)] * tensor(terms.signs)
        return live.new_zeros(n_hinges).index_add(0, tensor(terms.hinges), signed)

    def _rules_beside_gold(self, nodes: Nodes, gold: Gold) -> torch.Tensor:
        """The scores of the rules of trees, less those of gold's rules: `(B,)`."""
        assert self.rule_scores is not None
        lengths = gold.lengths
        every = np.ones(len(lengths), dtype=np.int64)
        found = Found(np.zeros(len(lengths)), every, *nodes)
        used = Batch(found, lengths, self._steps).rule_ids
        sentences = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
        sums = self.rule_scores.new_zeros(len(lengths))
        for rules, sign in ((used, 1.0), (gold.rules, -1.0)):
            which = rules >= 0
            ids = torch.as_tensor(rules[which], device=sums.device)
            of = torch.as_tensor(sentences[which], device=sums.device)
            sums = sums.index_add(0, of, sign * self.rule_scores[ids])
        return sums


class Cells:
    """Where the nodes of a batch lie in its packed chart.

    >>> cells = Cells(np.array([1, 2]))
    >>> cells.of(Nodes(*np.array([[0, 0, 0, 1], [1, 2, 1, 2], [5, 5, 5, 5]]))).tolist()
    [0, 2, 1, 3]
    """

    def __init__(self, lengths: Ints) -> None:
        sizes = lengths * (lengths + 1) // 2
        self.total = int(sizes.sum())
        #: The sentence of every node: (M,).
        self.sentences: Ints = np.repeat(np.arange(len(lengths)), 2 * lengths - 1)
        self._first = (np.cumsum(sizes) - sizes)[self.sentences]
        self._n = lengths[self.sentences]

    def of(self, nodes: Nodes) -> Ints:
        """The cell of every node: (M,)."""
        i = nodes.begins.astype(np.int64)
        cells: Ints = self._first + i * self._n - i * (i - 1) // 2 + nodes.ends - i - 1
        return cells


class Terms(NamedTuple):
    """The nodes in which offenders and gold differ: arrays of one length."""

    nodes: Ints
    """Their places among the nodes of their trees, which say whose sentence they are of."""

    begins: Int32s
    ends: Int32s
    columns: Int32s
    cells: Ints
    hinges: Ints
    """Which hinge they are part of: sentence b's with the first kind of offender is b, with the
    second B + b."""

    signs: npt.NDArray[np.float32]
    """1 for an offender's node, -1 for gold's."""


def differences(
    cells: Cells, gold: Nodes, offenders: Sequence[Nodes], costs: HammingCosts
) -> tuple[Terms, npt.NDArray[np.float64]]:
    """Where offenders and gold differ, and what the offenders cost, by hinge."""
    n_sentences = int(cells.sentences[-1]) + 1
    gold_cells = cells.of(gold)
    gold_at = _chart(cells, gold_cells, gold.columns)
    terms: list[Terms] = []
    sums: list[npt.NDArray[np.float64]] = []
    for kind, nodes in enumerate(offenders):
        own_cells = cells.of(nodes)
        own_at = _chart(cells, own_cells, nodes.columns)
        beside = gold_at[own_cells]
        paid = costs.of(nodes.columns, beside)
        by_sentence = np.bincount(cells.sentences, weights=paid, minlength=n_sentences)
        sums.append(by_sentence.astype(np.float64))
        wrong = np.flatnonzero(beside != nodes.columns)
        lost = np.flatnonzero(own_at[gold_cells] != gold.columns)
        for which, tree, at, sign in (
            (wrong, nodes, own_cells, 1.0),
            (lost, gold, gold_cells, -1.0),
        ):
            terms.append(
                Terms(
                    which,
                    tree.begins[which],
                    tree.ends[which],
                    tree.columns[which],
                    at[which],
                    cells.sentences[which] + kind * n_sentences,
                    np.full(len(which), sign, dtype=np.float32),
                )
            )
    joined = Terms(*(np.concatenate(parts) for parts in zip(*terms, strict=True)))
    return joined, np.concatenate(sums)


def _chart(cells: Cells, at: Ints, columns: Int32s) -> Int32s:
    """The columns of nodes by cell, -1 where no node stands."""
    chart = np.full(cells.total, -1, dtype=np.int32)
    chart[at] = columns
    return chart
