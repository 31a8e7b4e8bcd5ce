"""Charts: layouts, columns, and a typed error with a place for everything that is no chart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optional import ARRAY_KINDS, needs_torch, torch
from treewright.charts import (
    Labels,
    as_chart,
    cell_count,
    cell_spans,
    packed_index,
    to_packed,
    to_padded,
)
from treewright.errors import BadScore, ChartError, LabelError

LABELS = ["@", "$", "NP", "S::VP"]


@given(st.integers(1, 30))
def test_packed_rows_go_by_begin_then_end(n: int) -> None:
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    assert [packed_index(n, i, j) for i, j in spans] == list(range(cell_count(n)))
    begins, ends = cell_spans(n)
    assert list(zip(begins.tolist(), ends.tolist(), strict=True)) == spans


@pytest.mark.parametrize("kind", ARRAY_KINDS)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_packing_and_padding_undo_each_other(kind: Any, n: int) -> None:
    packed = kind(np.random.default_rng(n).normal(size=(cell_count(n), 3)))
    padded = to_padded(packed, n, longest=n + 2)
    assert tuple(padded.shape) == (n + 3, n + 3, 3)
    assert type(padded) is type(packed)
    assert float(padded[0, n, 1]) == float(packed[packed_index(n, 0, n), 1])
    assert (to_packed(padded, n) == packed).all()
    assert (padded == -np.inf).sum() == (n + 3) ** 2 * 3 - cell_count(n) * 3


def test_labels_know_what_columns_stand_for() -> None:
    labels = Labels(LABELS)
    assert labels.kinds.tolist() == [2, 1, 0, 0]
    assert labels.columns == {"@": 0, "$": 1, "NP": 2, "S::VP": 3}
    assert labels.scheme == "$"
    assert labels.holding("VP") == labels.holding("S") == [3]
    assert labels.holding("$") == labels.holding("X") == []
    assert Labels(["@", "$NP", "NP"]).scheme == "$+left"
    assert Labels(["NP"]).scheme is None
    assert labels == Labels(tuple(LABELS))
    assert hash(labels) == hash(Labels(LABELS))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "at least one"),
        (["NP", "NP"], "'NP' names two columns"),
        (["NP", ""], "non-empty"),
        (["NP", None], "non-empty"),
        (["$", "$NP", "NP"], "different schemes"),
    ],
)
def test_labels_that_cannot_be(names: list[Any], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        as_chart(np.zeros((1, len(names))), names)


def shapes() -> list[Any]:
    packed = np.arange(24.0).reshape(6, 4)
    padded = to_padded(packed, 3)
    both = np.stack([to_padded(packed[:3], 2, longest=3, fill=np.nan), padded])
    return [
        pytest.param(packed, None, [3], True, id="packed"),
        pytest.param(packed, 3, [3], True, id="packed with its length"),
        pytest.param(np.concatenate([packed, packed[:3]]), [3, 2], [3, 2], False, id="stacked"),
        pytest.param(padded, None, [3], True, id="padded"),
        pytest.param(padded, 2, [2], True, id="padded with its length"),
        pytest.param(padded[None], None, [3], False, id="padded batch"),
        pytest.param(both, np.array([2, 3]), [2, 3], False, id="padded batch with lengths"),
        pytest.param(both, (2, 3), [2, 3], False, id="lengths in a tuple"),
        pytest.param([packed, padded, packed[:1]], None, [3, 3, 1], False, id="list"),
        pytest.param([packed, padded], [3, 2], [3, 2], False, id="list with lengths"),
        pytest.param([], None, [], False, id="no sentence in a list"),
        pytest.param(padded[None][:0], None, [], False, id="no sentence in a batch"),
    ]


@pytest.mark.parametrize("torched", [False, pytest.param(True, marks=needs_torch)])
@pytest.mark.parametrize(("scores", "lengths", "expected", "single"), shapes())
def test_shapes(scores: Any, lengths: Any, expected: Any, single: bool, torched: bool) -> None:
    if torched:
        kept = scores
        scores = (
            [torch.tensor(s) for s in scores] if isinstance(scores, list) else torch.tensor(scores)
        )
        lengths = torch.tensor(lengths) if isinstance(lengths, np.ndarray) else lengths
    else:
        kept = scores
    chart = as_chart(scores, LABELS, lengths)
    assert chart.lengths.tolist() == expected
    assert chart.single is single
    assert len(chart) == len(expected)
    chart.check_values()
    if expected:
        last = kept[-1] if isinstance(kept, list) or kept.ndim == 4 else kept
        first_cell = last[0, 1] if last.ndim == 3 else last[len(last) - cell_count(expected[-1])]
        assert chart.sentence(len(expected) - 1)[0].tolist() == first_cell.tolist()
        padded = chart.padded()
        assert tuple(padded.shape) == (len(expected), *[max(expected) + 1] * 2, 4)
        for b, n in enumerate(expected):
            rows = chart.sentence(b)
            assert rows.shape == (cell_count(n), 4)
            assert np.array_equal(to_packed(np.asarray(padded[b]), n), rows)


@pytest.mark.parametrize("device_or_layout", ["meta", "sparse"])
def test_tensors_without_numbers_to_read(device_or_layout: str) -> None:
    scores = torch.zeros(3, 4)
    scores = scores.to("meta") if device_or_layout == "meta" else scores.to_sparse()
    with pytest.raises(ChartError, match="no numbers laid out"):
        as_chart(scores, ["@", "$", "A", "B"])


def test_scores_are_read_where_they_are() -> None:
    padded = np.zeros((2, 4, 4, 4), dtype=np.float32)
    packed = np.zeros((9, 4))
    assert as_chart(padded, LABELS).scores is padded
    assert as_chart(packed, LABELS, [3, 2]).scores is packed
    if torch is not None:
        tensor = torch.zeros(9, 4)
        assert as_chart(tensor, LABELS, [3, 2]).scores.data_ptr() == tensor.data_ptr()
    assert as_chart([packed[:6]], LABELS).rows(0).base is packed


zeros = np.zeros


@pytest.mark.parametrize(
    ("scores", "lengths", "message"),
    [
        ([[0.0] * 4], None, "sentence 1: scores are a numpy array or a torch tensor, not list"),
        ("scores", None, "not str"),
        (zeros((6, 4), dtype=np.float16), None, "float32 or float64, not float16"),
        (zeros((6, 4), dtype=np.int64), None, "not int64"),
        (zeros((6, 4)).astype(">f8"), None, "not >f8"),
        (zeros(4), None, "two dimensions"),
        (zeros((6, 3)), None, "3 columns for 4 labels"),
        (zeros((2, 4, 5, 4)), None, "a padded chart"),
        (zeros((4, 3, 4)), None, "a padded chart"),
        (zeros((5, 4)), None, "sentence 1: a packed sentence"),
        (zeros((0, 4)), None, "sentence 1: a packed sentence"),
        (zeros((6, 4)), [2, 1], "lengths have 4 spans; the chart has 6 rows"),
        (zeros((6, 4)), 2, "lengths have 3 spans"),
        (zeros((2, 4, 4, 4)), [3], "2 sentences, but 1 lengths"),
        (zeros((2, 4, 4, 4)), [3, 4], "sentence 2: a length of 4 words over a chart of 3"),
        (zeros((2, 4, 4, 4)), [0, 3], "sentence 1: a sentence has at least one word, not 0"),
        (zeros((2, 4, 4, 4)), [3, -1], "sentence 2: a sentence has at least one word, not -1"),
        (zeros((2, 4, 4, 4)), [3.0, 2.0], "whole numbers"),
        (zeros((2, 4, 4, 4)), [[3, 2]], "whole numbers"),
        (zeros((2, 1, 1, 4)), None, "sentence 1: a sentence has at least one word"),
        ([zeros((6, 4)), zeros((4, 4))], None, "sentence 2: a packed sentence"),
        ([zeros((6, 4)), zeros((3, 5))], None, "sentence 2: the scores have 5 columns"),
        ([zeros((6, 4)), zeros((3, 4), dtype=np.float32)], None, "sentence 2: .* one type"),
        ([zeros((6, 4)), zeros((1, 2, 2, 4))], None, "sentence 2: a list holds single sentences"),
        ([zeros((6, 4))], [2], "sentence 1: a chart of 3 words, but a length of 2"),
        ([zeros((4, 4, 4))], [4], "sentence 1: a length of 4 words over a chart of 3"),
        ([zeros((6, 4))], [3, 3], "1 sentences, but 2 lengths"),
    ],
)
def test_what_is_no_chart(scores: Any, lengths: Any, message: str) -> None:
    with pytest.raises(ChartError, match=message):
        as_chart(scores, LABELS, lengths)


@needs_torch
def test_half_precision_is_no_chart() -> None:
    with pytest.raises(ChartError, match="not bfloat16"):
        as_chart(torch.zeros(6, 4, dtype=torch.bfloat16), LABELS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("listed", [False, True])
def test_bad_scores_are_placed(value: float, listed: bool) -> None:
    scores = zeros((9, 4))
    scores[6 + packed_index(2, 1, 2), 2] = value
    chart = as_chart([scores[:6], scores[6:]] if listed else scores, LABELS, [3, 2])
    with pytest.raises(BadScore, match=r"sentence 2, span \(1, 2\): the score of 'NP' is") as error:
        chart.check_values()
    assert error.value.place is not None
    assert (error.value.place.sentence, error.value.place.span) == (2, (1, 2))


def test_padding_may_hold_anything() -> None:
    scores = np.full((2, 4, 4, 4), np.nan)
    scores[0] = to_padded(zeros((6, 4)), 3, fill=np.inf)
    scores[1, :3, :3] = to_padded(zeros((3, 4)), 2, fill=np.nan)
    chart = as_chart(scores, LABELS, [3, 2])
    chart.check_values()
    assert np.isneginf(chart.padded()[1, :, 3]).all()
