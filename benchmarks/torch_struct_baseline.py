"""Free decoding with torch-struct, called as benepar calls it: the baseline for free decoding.

The hinge that benepar trains by is here too: the score of the worst offender is torch-struct's
maximum, through whose chart the gradient runs.

benepar has one null label, in column 0, which scores 0. A chart goes in padded `(B, N, N, L)`, both
ends of a span counted inside; out comes a chart of label numbers a sentence, 0 where there is no
constituent. torch-struct reduces labels to the best one, runs CKY over all spans of a length at
once, and finds the tree as the gradient of its score.

    B  sentences    N  words of the longest    L  labels
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
import torch_struct

from treewright.charts import Labels
from treewright.grammar import Kind


def benepar_chart(padded: torch.Tensor, labels: Labels) -> torch.Tensor:
    """A padded chart `(B, N+1, N+1, L)` with the nulls as one column, as benepar's would be.

    `@` scores over one word and the mark elsewhere; where there is another mark, its score is lost.
    """
    inner = padded[:, :-1, 1:]
    real = torch.from_numpy(np.flatnonzero(labels.kinds == Kind.REAL))
    null = inner[..., int((labels.kinds == Kind.MARK).argmax())].clone()
    over_word = inner[..., int((labels.kinds == Kind.WORD_NULL).argmax())]
    torch.diagonal(null, dim1=1, dim2=2).copy_(torch.diagonal(over_word, dim1=1, dim2=2))
    return torch.cat([null[..., None], inner.index_select(-1, real)], dim=-1)


def decode(
    scores: torch.Tensor, lengths: torch.Tensor, root_is_real: bool = True
) -> list[npt.NDArray[np.int64]]:
    """The best tree of each sentence as a chart `(n, n)` of label numbers."""
    scores = scores.detach()
    scores = scores - scores[..., :1]
    if root_is_real:
        scores[torch.arange(len(scores)), 0, lengths - 1, 0] -= 1e9
    best = torch_struct.TreeCRF(scores, lengths=lengths).argmax
    best[..., 0] += 1e-9  # so that spans outside the tree come out as null
    charts: Sequence[npt.NDArray[np.int64]] = best.argmax(-1).detach().cpu().numpy()
    return [chart[:n, :n] for chart, n in zip(charts, lengths.tolist(), strict=True)]


def hinges(scores: torch.Tensor, lengths: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    """Margin losses of sentences `(B,)`; `gold` are their charts `(B, N, N)`, 0 for null.

    Every span of the worst offender's costs 1 where its label is not gold's.
    """
    events = torch.nn.functional.one_hot(gold, scores.shape[-1]).to(scores.dtype)
    scores = scores - scores[..., :1]
    worst = torch_struct.TreeCRF(scores + (1 - events), lengths=lengths).max
    return (worst - (scores * events).sum((1, 2, 3))).relu()
