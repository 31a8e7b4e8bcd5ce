"""Batches of sentences as indices: sub-words in windows, and where their tokens lie.

Owns all index arithmetic of a batch, on plain numbers and once, so that a network only gathers, be
it in torch or in ONNX Runtime, and nothing in it depends on how a batch was padded. Tokens are
start, the words of a sentence, and stop.

    B  sentences          n  words of one          t = n + 2  tokens
    W  windows (>= B)     S  sub-words of the longest window     P  sub-words of all
    T  tokens of all sentences, packed             M  tokens of the longest sentence
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.errors import SettingError
from treewright.text.subwords import Subwords, SubwordTokenizer
from treewright.text.windows import cut, plan

Ints = npt.NDArray[np.int64]


class Reach(NamedTuple):
    """How much an encoder reads at once."""

    limit: int
    """Sub-words of words in a window."""

    overlap: int
    """Those that windows over a longer sentence share."""

    n_special: int
    """Special tokens around every window."""

    @classmethod
    def of(cls, tokenizer: SubwordTokenizer, window: int, overlap: int) -> Reach:
        """For windows of so many sub-words, special ones in them."""
        limit = window - tokenizer.n_special
        if limit < 1:
            raise SettingError(f"a window of {window} sub-words leaves no room for words")
        return cls(limit, min(overlap, limit - 1), tokenizer.n_special)


class Windows:
    """What an encoder reads for a batch, and where in it tokens begin and end."""

    def __init__(self, reach: Reach, sentences: Sequence[Subwords] = ()) -> None:
        self.reach = reach
        self.ids: list[list[int]] = []
        # One entry a token, places within its window; and how many tokens each window has of them
        self.first: list[int] = []
        self.last: list[int] = []
        self.tokens: list[int] = []
        for subwords in sentences:
            self.add(subwords)

    def add(self, subwords: Subwords) -> None:
        """Add a sentence, in one window or in several that overlap.

        Start is the first sub-word of its first window, stop the last of its last: special tokens,
        where the encoder has them there.
        """
        n, (limit, overlap, n_special) = len(subwords.first), self.reach
        if len(subwords.ids) - n_special <= limit:
            self._add(subwords, 0, n, starts=True, stops=True)
            return
        counts = [last - first + 1 for first, last in zip(subwords[1], subwords[2], strict=True)]
        for window in plan(counts, limit, overlap):
            self._add(
                cut(subwords, window, limit),
                window.keep_from - window.first_word,
                window.keep_to - window.first_word,
                starts=window.keep_from == 0,
                stops=window.keep_to == n,
            )

    def _add(self, part: Subwords, begin: int, end: int, *, starts: bool, stops: bool) -> None:
        start = [0] if starts else []
        stop = [len(part.ids) - 1] if stops else []
        self.ids.append(part.ids)
        self.first += [*start, *part.first[begin:end], *stop]
        self.last += [*start, *part.last[begin:end], *stop]
        self.tokens.append(len(start) + end - begin + len(stop))

    @property
    def sizes(self) -> Ints:
        """The sub-words of each window, `(W,)`."""
        return np.fromiter(map(len, self.ids), np.int64, len(self.ids))

    def padded(self, pad_id: int) -> tuple[Ints, Ints]:
        """`ids` and `mask`, `(W, S)` each; the mask is 1 where a sub-word is."""
        width = max(map(len, self.ids))
        ids = np.full((len(self.ids), width), pad_id, dtype=np.int64)
        mask = np.zeros((len(self.ids), width), dtype=np.int64)
        for row, window in enumerate(self.ids):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        return ids, mask

    def ends(self, begins: Ints) -> tuple[Ints, Ints]:
        """Where each token's first and last sub-word lie, `(T,)`, if windows begin at `begins`."""
        shift = np.repeat(begins, self.tokens)
        return np.array(self.first) + shift, np.array(self.last) + shift


def pieces_of(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Where all sub-words of tokens lie, and the token that owns each: `(sub-words,)` both."""
    counts = last - first + 1
    owners = np.repeat(np.arange(len(first)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return first[owners] + within, owners


class Padding(NamedTuple):
    """The way between packed rows and rows padded to the longest of some groups."""

    groups: Ints
    """`(T,)`: the group of each packed row."""

    positions: Ints
    """`(T,)`: its number within the group."""

    rows: Ints
    """`(B * M,)`: the packed row of each padded place; padding repeats the first of its group."""

    places: Ints
    """`(T,)`: the padded place of each packed row, `(B, M)` made flat."""

    real: npt.NDArray[np.bool_]
    """`(B, M)`: True where a padded place is a row."""


def padding(sizes: Ints) -> Padding:
    """The padding of groups of so many rows each.

    >>> padding(np.array([2, 1])).rows
    array([0, 1, 2, 2])
    """
    longest = int(sizes.max())
    groups = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.cumsum(sizes) - sizes
    positions = np.arange(len(groups)) - begins[groups]
    places = groups * longest + positions
    rows = np.repeat(begins, longest)
    rows[places] = np.arange(len(places))
    real: npt.NDArray[np.bool_] = np.arange(longest) < sizes[:, None]
    return Padding(groups, positions, rows, places, real)


class Roles(NamedTuple):
    """What the tokens of some sentences are for."""

    words: Ints
    """`(T - 2B,)`: the tokens that are words."""

    left: Ints
    """`(T - B,)`: the tokens before each fencepost: all but stops."""

    right: Ints
    """`(T - B,)`: the tokens after each fencepost: all but starts."""


def roles(positions: Ints, last: Ints) -> Roles:
    """The roles of tokens by their positions and the last one of their sentence, `(T,)` each."""
    after_start, before_stop = positions > 0, positions < last
    return Roles(
        np.flatnonzero(after_start & before_stop),
        np.flatnonzero(before_stop),
        np.flatnonzero(after_start),
    )
