"""torch-struct, called as benepar calls it, and free decoding agree where nulls score 0."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.charts import Labels, cell_spans
from treewright.decode import decode

torch = pytest.importorskip("torch")
pytest.importorskip("torch_struct")


@pytest.mark.filterwarnings("ignore:.*arg_constraints")  # torch-struct is older than that wish
def test_same_constituents() -> None:
    import torch_struct_baseline

    labels = Labels(["@", "$", "NP", "S", "VP"])
    random = np.random.default_rng(1)
    lengths = np.array([1, 2, 5, 9])
    padded = random.standard_normal((4, 10, 10, 5)).astype(np.float32)
    padded[..., :2] = 0
    wanted = decode(padded, labels, lengths=lengths)
    chart = torch_struct_baseline.benepar_chart(torch.from_numpy(padded), labels)
    found = torch_struct_baseline.decode(chart, torch.from_numpy(lengths))
    for n, parse, numbers in zip(lengths.tolist(), wanted, found, strict=True):
        begins, ends = cell_spans(n)
        ours = set(zip(*map(np.ndarray.tolist, parse.columns), strict=True))
        columns = numbers[begins, ends - 1] + 1  # 0 for null, then the real columns from 2
        theirs = set(zip(begins.tolist(), ends.tolist(), columns.tolist(), strict=True))
        real = {span for span in ours if span[2] >= 2}
        if n > 1:  # a root over one word is a constituent to benepar, and may be `@` to us
            assert {span for span in theirs if span[2] >= 2} == real
