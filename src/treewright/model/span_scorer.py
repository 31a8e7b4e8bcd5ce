"""The span scorer: a score of every label for every span, from what lies between two fenceposts.

Owns fenceposts and the two maps over their differences, W2 ReLU(LN(W1 (f_j - f_i) + b1)) + b2.
W1 is linear, so it is applied to the n + 1 fenceposts of a sentence and not to its n(n+1)/2 spans;
b1, which differences would lose, is added after.

All of it runs in single precision at least, whatever autocast says: in half precision, scores of
good and better trees would be the same.

    T  tokens, packed    F = sum of n + 1  fenceposts, packed    K heads, o their outputs
    C  cells (spans)     H  hidden size    L  columns of the chart
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn

from treewright.model.features import Features
from treewright.trees.symbols import MARK, WORD_NULL, is_null

#: Cells whose hidden layers are in memory at once, when nothing must be kept for gradients. On a
#: CPU as many as its cache holds, for they are walked over several times.
_CELLS = 1 << 15
_CELLS_CPU = 1 << 10


class SpanScorer(nn.Module):
    """Vectors of tokens to fenceposts, and differences of fenceposts to scores."""

    def __init__(
        self,
        *,
        heads: int,
        output_size: int,
        hidden: int,
        labels: Sequence[str],
        null: Literal["zero", "learned"],
    ) -> None:
        super().__init__()
        self.project = nn.Linear(heads * output_size, hidden, bias=False)  # W1
        self.bias = nn.Parameter(torch.zeros(hidden))  # b1
        self.norm = nn.LayerNorm(hidden)
        self.null = null
        self.labels = tuple(labels)
        scored = self.scored
        self.output = nn.Linear(hidden, max(1, len(scored)))  # W2, b2; a row a scored column
        # The row of each column, the row after the last being nothing but zeros
        row = {label: number for number, label in enumerate(scored)}
        rows = [row.get(label, self.output.out_features) for label in self.labels]
        self.rows: torch.Tensor
        self.register_buffer("rows", torch.tensor(rows), persistent=False)

    @property
    def scored(self) -> list[str]:
        """The labels that have a row of weights; the others score 0."""
        nulls = {WORD_NULL, MARK} if self.null == "zero" else set()
        return [label for label in self.labels if label not in nulls]

    def fenceposts(self, said: torch.Tensor, features: Features) -> torch.Tensor:
        """W1 f of every fencepost, `(T, K, o)` to `(F, H)`.

        f_k joins the forward halves of token k and the backward halves of token k + 1; each head's
        slice is halved.
        """
        # Each half of W1 goes over tokens, and what is gathered is as small as it can be.
        forward, backward = (half.flatten(1) for half in said.chunk(2, dim=2))
        # By width, not in halves: of an odd slice the forward half has one number more.
        width = forward.shape[1]
        of_forward, of_backward = self.project.weight[:, :width], self.project.weight[:, width:]
        with torch.autocast(said.device.type, enabled=False):
            forward = nn.functional.linear(forward.to(of_forward.dtype), of_forward)
            backward = nn.functional.linear(backward.to(of_backward.dtype), of_backward)
            left = forward.index_select(0, features.left)
            return left + backward.index_select(0, features.right)

    def rows_of(
        self, posts: torch.Tensor, begins: torch.Tensor, ends: torch.Tensor
    ) -> torch.Tensor:
        """All columns of some cells, given by rows of fenceposts: `(C,)` each to `(C, L)`."""
        with torch.autocast(posts.device.type, enabled=False):
            weight, bias = self.columns()
            after = posts + self.bias  # fenceposts are fewer than cells
            most = _CELLS_CPU if posts.device.type == "cpu" else _CELLS
            if torch.is_grad_enabled() or len(begins) <= most:
                return nn.functional.linear(self._hidden(posts, after, begins, ends), weight, bias)
            rows = posts.new_empty(len(begins), len(self.labels))
            for at in range(0, len(begins), most):
                part = slice(at, at + most)
                hidden = self._hidden(posts, after, begins[part], ends[part])
                torch.addmm(bias, hidden, weight.T, out=rows[part])
            return rows

    def scores_of(
        self, posts: torch.Tensor, begins: torch.Tensor, ends: torch.Tensor, columns: torch.Tensor
    ) -> torch.Tensor:
        """One column of each of some cells: `(C,)` each to `(C,)`."""
        with torch.autocast(posts.device.type, enabled=False):
            weight, bias = self.columns()
            hidden = self._hidden(posts, posts + self.bias, begins, ends)
            scores = (hidden * weight.index_select(0, columns)).sum(1)
            return scores + bias.index_select(0, columns)

    def _hidden(
        self, before: torch.Tensor, after: torch.Tensor, begins: torch.Tensor, ends: torch.Tensor
    ) -> torch.Tensor:
        inside = after.index_select(0, ends) - before.index_select(0, begins)
        hidden: torch.Tensor = self.norm(inside).relu_()
        return hidden

    @torch.no_grad()
    def lift(self, by: float) -> None:
        """Add a number to every score of every label but the nulls."""
        real = [not is_null(label) for label in self.scored]
        if real:
            self.output.bias.add_(by * torch.tensor(real, device=self.output.bias.device))

    def columns(self) -> tuple[torch.Tensor, torch.Tensor]:
        """W2 and b2 with a row a column: `(L, H)` and `(L,)`."""
        weight = nn.functional.pad(self.output.weight, (0, 0, 0, 1))
        bias = nn.functional.pad(self.output.bias, (0, 1))
        return weight.index_select(0, self.rows), bias.index_select(0, self.rows)
