"""Batches without padding: rows of one length together.

Owns the cut of windows and sentences into such batches, and the way from the vectors of sub-words
to those of words.

    P  sub-words of all windows    T  tokens of all sentences    d  size of the encoder
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treewright.runtime.files import Floats, Pooling
from treewright.text.packing import Ints


def of_one_length(sizes: Ints, most: int) -> Iterator[Ints]:
    """Numbers of rows of the same size, so many a batch that they have `most` places together.

    Longest first: what takes long is begun early.

    >>> [batch.tolist() for batch in of_one_length(np.array([2, 3, 2, 2]), most=4)]
    [[1], [0, 2], [3]]
    """
    order = np.argsort(-sizes, kind="stable")
    borders = np.flatnonzero(np.diff(sizes[order])) + 1
    for group in np.split(order, borders):
        if len(group):
            step = max(1, most // int(sizes[group[0]]))
            for at in range(0, len(group), step):
                yield group[at : at + step]


def places(begins: Ints, batch: Ints, size: int) -> Ints:
    """Where the rows of a batch lie in a packed array, `(rows, size)`."""
    return begins[batch, None] + np.arange(size)


def pool(vectors: Floats, first: Ints, last: Ints, how: Pooling) -> Floats:
    """Vectors of tokens from those of their sub-words, `(P, d)` to `(T, d)`.

    Tokens of several sub-words are few: after the first sub-word of all, only theirs are gone
    through, the second ones together, then the third ones.
    """
    if how == "last":
        return vectors[last]
    found = vectors[first]
    if how == "first":
        return found
    longer = np.flatnonzero(last > first)
    counts = (last - first + 1)[longer, None]
    left, at = longer, 1
    while len(left):
        more = vectors[first[left] + at]
        found[left] = np.maximum(found[left], more) if how == "max" else found[left] + more
        at += 1
        left = left[last[left] - first[left] >= at]
    if how == "mean":
        found[longer] /= counts.astype(np.float32)
    return found
