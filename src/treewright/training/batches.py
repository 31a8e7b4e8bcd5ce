"""Which sentences a step learns from, and how they are shared out.

Owns the plan of an epoch. It follows from the number of sub-words of every sentence, the seed and
the number of the epoch alone: no memory, so a run goes on from any step, and every process makes
the same plan by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.charts import Ints

# Batches whose sentences are sorted by length together: little padding, and still much chance
_POOL = 64


@dataclass(frozen=True)
class Plan:
    """How the sentences of a treebank become batches.

    >>> plan = Plan(sizes=(3, 9, 4, 8, 5), batch_size=2, batch_subwords=0, seed=1)
    >>> sorted(sorted(batch.tolist()) for batch in plan.epoch(0))
    [[0], [1, 3], [2, 4]]
    """

    sizes: Sequence[int]
    """The sub-words of every sentence."""

    batch_size: int
    batch_subwords: int
    seed: int

    def epoch(self, epoch: int) -> list[Ints]:
        """The batches of an epoch: every sentence once, those of a batch of about one length."""
        random = np.random.default_rng((self.seed, epoch))
        order = random.permutation(len(self.sizes))
        sizes = np.asarray(self.sizes)
        pool = self.batch_size * _POOL
        batches: list[Ints] = []
        for begin in range(0, len(order), pool):
            chosen = order[begin : begin + pool]
            chosen = chosen[np.argsort(-sizes[chosen], kind="stable")]
            batches += self._cut(chosen, sizes[chosen])
        return [batches[at] for at in random.permutation(len(batches))]

    def _cut(self, order: Ints, sizes: Ints) -> list[Ints]:
        """Sentences in an order, the longest first, as batches."""
        batches = []
        begin = 0
        while begin < len(order):
            count = self.batch_size
            if self.batch_subwords:
                fitting = np.searchsorted(np.cumsum(sizes[begin:]), self.batch_subwords, "right")
                count = max(1, min(count, int(fitting)))
            batches.append(order[begin : begin + count])
            begin += count
        return batches

    def steps(self, epoch: int = 0) -> int:
        """The number of batches of an epoch."""
        return len(self.epoch(epoch))


def pieces(batch: Ints, sizes: Sequence[int], rank: int, processes: int, most: int) -> list[Ints]:
    """The share of one process in a batch, in pieces of at most `most` sub-words with padding.

    Every process has as many pieces as any other, so that they stay in step; a piece may be empty.

    >>> pieces(np.array([0, 1, 2]), [5, 4, 3], rank=1, processes=2, most=100)
    [array([1])]
    >>> pieces(np.array([0, 1, 2]), [5, 4, 3], rank=0, processes=1, most=8)
    [array([0]), array([1, 2])]
    """
    shares = [_pieces(batch[r::processes], sizes, most) for r in range(processes)]
    mine, longest = shares[rank], max(map(len, shares))
    return mine + [batch[:0]] * (longest - len(mine))


def _pieces(share: Ints, sizes: Sequence[int], most: int) -> list[Ints]:
    found: list[Ints] = []
    begin = 0
    widest = 0
    for at, sentence in enumerate(share.tolist()):
        wider = max(widest, sizes[sentence])
        if at > begin and wider * (at - begin + 1) > most:
            found.append(share[begin:at])
            begin, wider = at, sizes[sentence]
        widest = wider
    if begin < len(share):
        found.append(share[begin:])
    return found
