"""How far a figure may be chance: bootstrap intervals of F1 over the sentences of a test set.

Owns the resampling. A test set is always resampled in the same way, so that the replicates of two
systems on it are paired: their difference is what the systems differ by, free of which sentences
happened to be hard. Different sets are resampled independently of each other.

    S  sentences    R  resamples
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.evaluation import SentenceScore

RESAMPLES = 2000
_SEED = 777
_AT_ONCE = 100  # resamples drawn together, for memory's sake

Floats = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """An estimate and where 95 of 100 resamples lie."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.2f} [{self.low:.2f}, {self.high:.2f}]"


def counts(scores: Iterable[SentenceScore]) -> Floats:
    """Matched, gold and predicted brackets of every sentence: `(S, 3)`."""
    rows = [(score.matched, score.gold, score.predicted) for score in scores]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def f1(summed: Floats) -> Floats:
    """F1 in per cent of sums of matched, gold and predicted brackets: `(..., 3)` to `(...)`.

    >>> f1(np.array([[8.0, 10.0, 10.0], [0.0, 0.0, 0.0]])).tolist()
    [80.0, 0.0]
    """
    brackets = summed[..., 1] + summed[..., 2]
    return np.divide(
        200.0 * summed[..., 0], brackets, where=brackets > 0, out=np.zeros_like(brackets)
    )


def replicates(of_sentences: Floats, name: str, resamples: int = RESAMPLES) -> Floats:
    """F1 of the test set of this name and of its resamples: `(S, 3)` to `(1 + R,)`."""
    size = len(of_sentences)
    random = np.random.default_rng([_SEED, *name.encode()])
    sums = [of_sentences.sum(0, keepdims=True)]
    for begin in range(0, resamples, _AT_ONCE):
        drawn = random.multinomial(size, np.full(size, 1 / size), min(_AT_ONCE, resamples - begin))
        sums.append(drawn @ of_sentences)
    return f1(np.concatenate(sums))


def interval(values: Floats) -> Interval:
    """The interval of replicates, or of what was worked out from several: `(1 + R,)`.

    >>> interval(np.array([5.0, *range(1, 10)])).estimate
    5.0
    """
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return Interval(float(values[0]), float(low), float(high))
