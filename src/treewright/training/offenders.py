"""The worst offenders: the trees of highest score and cost, freely and under the grammar.

Owns the decoding of augmented scores in training. An offender is written as gold is, as the nodes
of its derivation; where none is wanted gold itself stands in its place, whose hinge is 0.

The free offender, where the grammar licenses it and rules have no scores, is the best under the
grammar too. So the rule-based decoder is asked for the other sentences alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from treewright.charts import Array, Ints, Labels, cell_count
from treewright.decode import decode
from treewright.decode.parses import Int32s
from treewright.grammar import RuleTables
from treewright.training.treebank import Gold


class Nodes(NamedTuple):
    """The nodes of one tree for each sentence of a batch, `2n - 1` each: three arrays (M,)."""

    begins: Int32s
    ends: Int32s
    columns: Int32s


class Offenders(NamedTuple):
    """The worst offenders of a batch."""

    free: Nodes
    ruled: Nodes
    searched: int  # sentences that the rule-based decoder was asked for


@dataclass(frozen=True)
class Hunt:
    """How to look for offenders."""

    labels: Labels
    tables: RuleTables
    rule_weight: float
    """Lambda: at 0 there are no rule-based offenders, at 1 no free ones."""

    method: Any = "native"

    def __call__(
        self, rows: Array, gold: Gold, rule_scores: npt.NDArray[np.float64] | None
    ) -> Offenders:
        """The offenders under scores, packed, that costs have been added to."""
        own = Nodes(gold.begins, gold.ends, gold.columns)
        free, ruled = own, own
        wanted = gold.legal & (self.rule_weight > 0)
        if self.rule_weight < 1:
            # A penalty of 0 makes the grammar say what it lacks, and change nothing.
            found = self._decode(rows, gold.lengths, penalty=0.0)
            free = Nodes(*found.arrays()[2:])
            if rule_scores is None:
                legal = wanted & (found.n_violations == 0)
                ruled = _chosen(legal, free, own, gold.lengths)
                wanted = wanted & ~legal
        searched = np.flatnonzero(wanted)
        if len(searched):
            found = self._decode(
                _parts(rows, gold.lengths, searched),
                gold.lengths[searched],
                rule_scores=rule_scores,
            )
            at = np.repeat(wanted, 2 * gold.lengths - 1)
            ruled = Nodes(*(array.copy() for array in ruled))
            for array, new in zip(ruled, found.arrays()[2:], strict=True):
                array[at] = new
        return Offenders(free, ruled, len(searched))

    def _decode(self, rows: Array, lengths: Ints, **options: Any) -> Any:
        return decode(
            rows,
            self.labels,
            self.tables,
            lengths=lengths,
            method=self.method,
            threads=torch.get_num_threads(),
            **options,
        )


def _chosen(which: npt.NDArray[np.bool_], nodes: Nodes, others: Nodes, lengths: Ints) -> Nodes:
    """Of some sentences the trees of `nodes`, of the rest those of `others`."""
    at = np.repeat(which, 2 * lengths - 1)
    return Nodes(*(np.where(at, a, b) for a, b in zip(nodes, others, strict=True)))


def _parts(rows: Array, lengths: Ints, sentences: Ints) -> Array:
    """The packed scores of some sentences: all in one where all are wanted, else a list."""
    if len(sentences) == len(lengths):
        return rows
    ends = np.cumsum([cell_count(n) for n in lengths.tolist()])
    return [rows[ends[b] - cell_count(int(lengths[b])) : ends[b]] for b in sentences.tolist()]
