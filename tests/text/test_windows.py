"""Windows: every word once, nothing too long, context on both sides; cutting by a plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.errors import OptionError
from treewright.text.subwords import Subwords
from treewright.text.windows import Window, cut, plan


def test_short_and_empty() -> None:
    assert plan([], 10, 4) == []
    assert plan([3, 3, 4], 10, 4) == [Window(0, 3, 0, 3)]
    assert plan([50], 10, 4) == [Window(0, 1, 0, 1)]


@given(
    counts=st.lists(st.integers(1, 12), max_size=60),
    limit=st.integers(1, 20),
    overlap=st.integers(0, 19),
)
def test_plans(counts: list[int], limit: int, overlap: int) -> None:
    if overlap >= limit:
        with pytest.raises(OptionError):
            plan(counts, limit, overlap)
        return
    windows = plan(counts, limit, overlap)
    kept = [word for w in windows for word in range(w.keep_from, w.keep_to)]
    assert kept == list(range(len(counts)))
    for window in windows:
        assert window.first_word <= window.keep_from < window.keep_to <= window.last_word
        assert sum(min(c, limit) for c in counts[window.first_word : window.last_word]) <= limit
    if sum(min(c, limit) for c in counts) <= limit:
        assert len(windows) <= 1
    # each window but the last is as full as it can be, so there are few of them
    for window in windows[:-1]:
        longer = counts[window.first_word : window.last_word + 1]
        assert sum(min(c, limit) for c in longer) > limit


@given(n=st.integers(1, 400), limit=st.integers(8, 50), overlap=st.integers(0, 7))
def test_context_on_both_sides(n: int, limit: int, overlap: int) -> None:
    for window in plan([1] * n, limit, overlap):
        if window.first_word > 0:
            assert window.keep_from - window.first_word >= overlap // 2
        if window.last_word < n:
            assert window.last_word - window.keep_to >= overlap // 2


def test_linear() -> None:
    windows = plan([1] * 200_000, 510, 128)
    assert len(windows) == pytest.approx(200_000 / (510 - 128), abs=2)


def subwords_of(counts: list[int], before: int, after: int) -> Subwords:
    """Ids that count up, the special ones negative."""
    first, last, ids = [], [], [-1 - at for at in range(before)]
    for count in counts:
        first.append(len(ids))
        ids += range(len(ids) * 10, len(ids) * 10 + count)
        last.append(len(ids) - 1)
    return Subwords([*ids, *(-10 - at for at in range(after))], first, last)


@given(
    counts=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    limit=st.integers(1, 12),
    before=st.integers(0, 2),
    after=st.integers(0, 2),
)
def test_cutting(counts: list[int], limit: int, before: int, after: int) -> None:
    whole = subwords_of(counts, before, after)
    for window in plan(counts, limit, limit // 2):
        part = cut(whole, window, limit)
        assert len(part.ids) <= limit + before + after
        assert part.ids[:before] == whole.ids[:before]
        assert part.ids[len(part.ids) - after :] == whole.ids[len(whole.ids) - after :]
        words = range(window.first_word, window.last_word)
        assert len(part.first) == len(part.last) == len(words)
        for at, word in enumerate(words):
            assert part.ids[part.first[at]] == whole.ids[whole.first[word]]
            if limit > 1 or counts[word] == 1:
                assert part.ids[part.last[at]] == whole.ids[whole.last[word]]
            if counts[word] <= limit:
                ours = part.ids[part.first[at] : part.last[at] + 1]
                assert ours == whole.ids[whole.first[word] : whole.last[word] + 1]


def test_the_middle_of_a_long_word_is_left_out() -> None:
    whole = Subwords([-1, 5, 0, 1, 2, 3, 4, 6, -2], [1, 2, 7], [1, 6, 7])
    windows = plan([1, 5, 1], 3, 1)
    assert [cut(whole, window, 3) for window in windows] == [
        Subwords([-1, 5, -2], [1], [1]),
        Subwords([-1, 0, 1, 4, -2], [1], [3]),
        Subwords([-1, 6, -2], [1], [1]),
    ]
