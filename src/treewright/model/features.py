"""Sentences as the network takes them: sub-words in windows, and where their words lie.

Owns the way from words to tensors. All index arithmetic of a batch is done here, once, on plain
numbers, so that the network only gathers; nothing in it depends on how a batch was padded.

    B  sentences          n  words of one          t = n + 2  tokens: start, the words, stop
    W  windows (>= B)     S  sub-words of the longest window
    T  tokens of all sentences, packed             M  tokens of the longest sentence
    P  sub-words of all tokens
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from treewright.charts import Ints
from treewright.errors import Place, SettingError, TreeError
from treewright.text.subwords import Subwords, SubwordTokenizer
from treewright.text.windows import cut, plan


@dataclass(frozen=True)
class Features:
    """A batch of sentences as indices; all tensors on one device."""

    lengths: tuple[int, ...]
    """The words of each sentence."""

    ids: torch.Tensor
    """`(W, S)`: sub-words, special ones around each window."""

    mask: torch.Tensor
    """`(W, S)`: 1 where a sub-word is, 0 where padding is."""

    first: torch.Tensor
    """`(T,)`: where the first sub-word of each token lies in `ids` made flat."""

    last: torch.Tensor
    """`(T,)`: where the last one lies, itself inside. Start and stop have one sub-word."""

    pieces: torch.Tensor
    """`(P,)`: where all sub-words of tokens lie in `ids` made flat."""

    owners: torch.Tensor
    """`(P,)`: the token of each of them."""

    sentences: torch.Tensor
    """`(T,)`: the sentence of each token."""

    positions: torch.Tensor
    """`(T,)`: its number within the sentence: 0 for start, n + 1 for stop."""

    rows: torch.Tensor
    """`(B * M,)`: the packed token of each place of a padded batch; padding repeats start."""

    places: torch.Tensor
    """`(T,)`: the place of each packed token in a padded batch, `(B, M)` made flat."""

    real: torch.Tensor
    """`(B, M)`: True where a padded place is a token."""

    words: torch.Tensor
    """`(T - 2B,)`: which tokens are words."""

    left: torch.Tensor
    """`(T - B,)`: the tokens before each fencepost: all but stops."""

    right: torch.Tensor
    """`(T - B,)`: the tokens after each fencepost: all but starts."""

    def to(self, device: torch.device | str) -> Features:
        """The same on another device."""
        moved: dict[str, Any] = {
            field.name: getattr(self, field.name).to(device, non_blocking=True)
            for field in fields(self)
            if field.name != "lengths"
        }
        return Features(lengths=self.lengths, **moved)

    @property
    def n_subwords(self) -> int:
        """Sub-words that the encoder reads, padding included."""
        return self.ids.numel()

    def __len__(self) -> int:
        return len(self.lengths)


class FeatureMaker:
    """Words to features, for an encoder that reads `window` sub-words at once, special ones in it.

    Tokenising and collating are two steps, so that training can keep what the first one gives.
    """

    def __init__(self, tokenizer: SubwordTokenizer, *, window: int, overlap: int) -> None:
        self.tokenizer = tokenizer
        self.limit = window - tokenizer.n_special
        if self.limit < 1:
            raise SettingError(f"a window of {window} sub-words leaves no room for words")
        self.overlap = min(overlap, self.limit - 1)

    def tokenize(self, sentences: Sequence[Sequence[str]]) -> list[Subwords]:
        """The sub-words of sentences of one word or more."""
        for b, words in enumerate(sentences):
            if not words:
                raise TreeError("a sentence has at least one word", Place(sentence=b + 1))
        return self.tokenizer.encode(sentences)

    def collate(self, sentences: Sequence[Subwords]) -> Features:
        """One batch of tokenised sentences."""
        windows = _Windows(self)
        for subwords in sentences:
            windows.add(subwords)
        ids, mask = windows.padded(self.tokenizer.pad_id)
        first, last = windows.flat(ids.shape[1])
        lengths = [len(subwords.first) for subwords in sentences]
        return Features(
            lengths=tuple(lengths),
            ids=torch.from_numpy(ids),
            mask=torch.from_numpy(mask),
            first=torch.from_numpy(first),
            last=torch.from_numpy(last),
            **pieces_of(first, last),
            **layout(lengths),
        )

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Features:
        """Both steps."""
        return self.collate(self.tokenize(sentences))


class _Windows:
    """What the encoder reads for a batch, and where in it tokens begin and end."""

    def __init__(self, maker: FeatureMaker) -> None:
        self.maker = maker
        self.ids: list[list[int]] = []
        # One entry a token, places within its window; and how many tokens each window has of them
        self.first: list[int] = []
        self.last: list[int] = []
        self.tokens: list[int] = []

    def add(self, subwords: Subwords) -> None:
        """Add a sentence, in one window or in several that overlap.

        Start is the first sub-word of its first window, stop the last of its last: special tokens,
        where the encoder has them there.
        """
        n, limit = len(subwords.first), self.maker.limit
        if len(subwords.ids) - self.maker.tokenizer.n_special <= limit:
            self._add(subwords, 0, n, starts=True, stops=True)
            return
        counts = [last - first + 1 for first, last in zip(subwords[1], subwords[2], strict=True)]
        for window in plan(counts, limit, self.maker.overlap):
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

    def padded(self, pad_id: int) -> tuple[Ints, Ints]:
        """`ids` and `mask`, `(W, S)` each."""
        width = max(map(len, self.ids))
        ids = np.full((len(self.ids), width), pad_id, dtype=np.int64)
        mask = np.zeros((len(self.ids), width), dtype=np.int64)
        for row, window in enumerate(self.ids):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        return ids, mask

    def flat(self, width: int) -> tuple[Ints, Ints]:
        """`first` and `last`, `(T,)` each."""
        rows = np.repeat(np.arange(len(self.tokens)) * width, self.tokens)
        return np.array(self.first) + rows, np.array(self.last) + rows


def pieces_of(first: Ints, last: Ints) -> dict[str, torch.Tensor]:
    """Which sub-words make each token: `pieces` and `owners`."""
    counts = last - first + 1
    owners = np.repeat(np.arange(len(first)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return {"pieces": torch.from_numpy(first[owners] + within), "owners": torch.from_numpy(owners)}


def layout(lengths: Sequence[int]) -> dict[str, torch.Tensor]:
    """The part of `Features` that follows from the numbers of words alone."""
    tokens = np.asarray(lengths, dtype=np.int64) + 2
    batch, longest = len(tokens), int(tokens.max())
    sentences = np.repeat(np.arange(batch), tokens)
    begins = np.cumsum(tokens) - tokens
    positions = np.arange(tokens.sum()) - begins[sentences]
    places = sentences * longest + positions
    rows = np.repeat(begins, longest)
    rows[places] = np.arange(len(places))
    real = np.arange(longest) < tokens[:, None]
    after_start, before_stop = positions > 0, positions < tokens[sentences] - 1
    found = {
        "sentences": sentences,
        "positions": positions,
        "rows": rows,
        "places": places,
        "real": real,
        "words": np.flatnonzero(after_start & before_stop),
        "left": np.flatnonzero(before_stop),
        "right": np.flatnonzero(after_start),
    }
    return {name: torch.from_numpy(array) for name, array in found.items()}
