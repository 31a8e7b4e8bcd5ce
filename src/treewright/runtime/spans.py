"""From fenceposts to charts: every label's score for every span."""

from __future__ import annotations

import numpy as np

from treewright.charts import cell_count, cell_spans
from treewright.runtime.files import Floats, SpanArrays
from treewright.text.packing import Ints


def score_spans(posts: Floats, lengths: Ints, arrays: SpanArrays, threads: int) -> Floats:
    """Packed fenceposts `(sum of n + 1, H)` to packed charts `(cells, L)`."""
    rows = np.empty((int(cell_count(lengths).sum()), len(arrays.offset)), dtype=np.float32)
    cell = post = 0
    for n in lengths.tolist():
        begins, ends = cell_spans(n)
        own = posts[post : post + n + 1]
        hidden = own[ends] - own[begins] + arrays.bias
        hidden /= np.sqrt((hidden * hidden).mean(1, keepdims=True) + arrays.epsilon)
        hidden = np.maximum(hidden * arrays.scale + arrays.shift, 0)
        rows[cell : cell + len(begins)] = hidden @ arrays.weight + arrays.offset
        cell, post = cell + len(begins), post + n + 1
    return rows
