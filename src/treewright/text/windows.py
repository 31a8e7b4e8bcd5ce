"""Sentences longer than an encoder's positions, read through overlapping windows.

Owns the plan of the windows and the cutting of sub-words by it. Every word is kept from exactly one
window, the one in which it stands farther from a cut edge, so that windows of `limit` sub-words
that overlap by `overlap` give each kept word about `overlap / 2` of context on both sides.

Spans of words are half-open. `limit` counts sub-words of words: special tokens come on top.

>>> plan([1] * 10, limit=6, overlap=2)
[Window(first_word=0, last_word=6, keep_from=0, keep_to=5), \
Window(first_word=4, last_word=10, keep_from=5, keep_to=10)]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from treewright.errors import OptionError
from treewright.text.subwords import Subwords


class Window(NamedTuple):
    """The encoder reads words `first_word:last_word`; vectors of `keep_from:keep_to` are kept."""

    first_word: int
    last_word: int
    keep_from: int
    keep_to: int


def plan(counts: Sequence[int], limit: int, overlap: int) -> list[Window]:
    """Windows over a sentence whose words have `counts` sub-words; one if it is within `limit`.

    The kept words of the windows, one after the other, are the sentence. A word of more than
    `limit` sub-words counts as `limit` of them: `cut` leaves out its middle.
    """
    if limit < 1 or not 0 <= overlap < limit:
        raise OptionError(f"windows of {limit} sub-words cannot overlap by {overlap}")
    # before[w] sub-words stand before word w, each word within the limit
    before = [0, *accumulate(min(count, limit) for count in counts)]
    n = len(counts)
    windows: list[Window] = []
    first = keep = 0
    while keep < n:
        last = bisect_right(before, before[first] + limit) - 1
        if last >= n:
            windows.append(Window(first, n, keep, n))
            break
        following = _start_after(before, last, limit, overlap)
        # the middle of the overlap; a word in the middle goes to the window that began it
        middle = (before[following] + before[last] + 1) // 2
        border = min(max(bisect_left(before, middle), following, keep + 1), last)
        windows.append(Window(first, last, keep, border))
        first, keep = following, border
    return windows


def _start_after(before: Sequence[int], last: int, limit: int, overlap: int) -> int:
    """Where the window after one that ended at `last` begins: it must get past `last`."""
    n = len(before) - 1
    start = bisect_left(before, before[last] - overlap)
    if before[n] - before[start] <= limit:
        # the last window: fill it from the front, context costs nothing there
        return bisect_left(before, before[n] - limit)
    return max(start, bisect_left(before, before[last + 1] - limit))


def cut(subwords: Subwords, window: Window, limit: int) -> Subwords:
    """The sub-words of a window, special tokens around them as around the whole sentence.

    Of a word of more than `limit` sub-words the middle is left out; its first and last ones stay.
    """
    ids, first, last = subwords
    prefix, suffix = ids[: first[0]], ids[last[-1] + 1 :]
    words = range(window.first_word, window.last_word)
    if len(words) > 1 or last[words[0]] - first[words[0]] < limit:
        begin, end = first[words[0]], last[words[-1]] + 1
        shift = begin - len(prefix)
        return Subwords(
            prefix + ids[begin:end] + suffix,
            [first[word] - shift for word in words],
            [last[word] - shift for word in words],
        )
    begin, end = first[words[0]], last[words[0]] + 1
    head = (limit + 1) // 2
    kept = ids[begin : begin + head] + ids[end - (limit - head) : end]
    if limit == 1:
        kept = ids[begin : begin + 1]
    return Subwords(prefix + kept + suffix, [len(prefix)], [len(prefix) + len(kept) - 1])
