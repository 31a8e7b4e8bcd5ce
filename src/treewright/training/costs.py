"""What a wrong label costs: Hamming costs over the cells of a chart.

Owns the costs alone; whose hinge they widen is the business of `loss`. A tree costs the sum over
its spans of what their labels cost. Gold's own label over a span costs nothing, and:

* in scheme `$` nulls stand for no constituent: they cost 1 over a gold constituent and 0 elsewhere;
  every other label costs 1;
* in scheme `$+left` a mark says something too. The gold label of a span is that of gold's binary
  tree, and every other label costs 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from treewright.charts import Ints, Labels
from treewright.decode.parses import Int32s
from treewright.grammar import Kind


class HammingCosts:
    """The costs of labels, by the column of gold's.

    >>> costs = HammingCosts(Labels(["@", "$", "NP", "S"]))
    >>> costs.of(np.array([1, 1, 3, 3]), np.array([2, -1, 3, -1])).tolist()
    [1.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, labels: Labels) -> None:
        real = labels.kinds == Kind.REAL
        all_tell = np.ones(len(labels), dtype=np.bool_)
        #: Gold's labels beside which every other costs 1: (L,).
        self.telling: npt.NDArray[np.bool_] = all_tell if labels.scheme == "$+left" else real
        #: What a label costs where none of those is gold's: (L,).
        self.elsewhere: npt.NDArray[np.float32] = self.telling.astype(np.float32)

    def of(self, columns: Int32s, gold: Int32s) -> npt.NDArray[np.float64]:
        """The costs of labels over spans, where gold has others, or none (-1)."""
        told = (gold >= 0) & self.telling[gold]
        costs = np.where(told, 1.0, self.elsewhere[columns])
        return np.where(columns == gold, 0.0, costs)

    def add(self, rows: torch.Tensor, cells: Ints, columns: Int32s) -> None:
        """Add the costs to packed scores `(cells, L)`, in place; gold's nodes `(M,)` are given."""
        device = rows.device
        at = torch.as_tensor(cells, device=device)
        taken = torch.as_tensor(columns.astype(np.int64), device=device)
        elsewhere = torch.as_tensor(self.elsewhere, device=device)
        gold = rows[at, taken]
        rows += elsewhere
        told = torch.as_tensor(cells[self.telling[columns]], device=device)
        rows[told] += 1.0 - elsewhere
        rows[at, taken] = gold
