"""Sentences as the network takes them: sub-words in windows, and where their words lie.

Owns the way from words to tensors. All index arithmetic of a batch is `text.packing`'s, done once,
on plain numbers, so that the network only gathers; nothing in it depends on how a batch was padded.

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

from treewright.errors import Place, TreeError
from treewright.text.packing import Reach, Windows, padding, pieces_of, roles
from treewright.text.subwords import Subwords, SubwordTokenizer


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
        self.reach = Reach.of(tokenizer, window, overlap)

    def tokenize(self, sentences: Sequence[Sequence[str]]) -> list[Subwords]:
        """The sub-words of sentences of one word or more."""
        for b, words in enumerate(sentences):
            if not words:
                raise TreeError("a sentence has at least one word", Place(sentence=b + 1))
        return self.tokenizer.encode(sentences)

    def collate(self, sentences: Sequence[Subwords]) -> Features:
        """One batch of tokenised sentences."""
        windows = Windows(self.reach, sentences)
        ids, mask = windows.padded(self.tokenizer.pad_id)
        first, last = windows.ends(np.arange(len(ids)) * ids.shape[1])
        pieces, owners = pieces_of(first, last)
        lengths = [len(subwords.first) for subwords in sentences]
        return Features(
            lengths=tuple(lengths),
            ids=torch.from_numpy(ids),
            mask=torch.from_numpy(mask),
            first=torch.from_numpy(first),
            last=torch.from_numpy(last),
            pieces=torch.from_numpy(pieces),
            owners=torch.from_numpy(owners),
            **layout(lengths),
        )

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Features:
        """Both steps."""
        return self.collate(self.tokenize(sentences))


def layout(lengths: Sequence[int]) -> dict[str, torch.Tensor]:
    """The part of `Features` that follows from the numbers of words alone."""
    tokens = np.asarray(lengths, dtype=np.int64) + 2
    padded = padding(tokens)
    role = roles(padded.positions, tokens[padded.groups] - 1)
    found = {"sentences": padded.groups, **padded._asdict(), **role._asdict()}
    del found["groups"]
    return {name: torch.from_numpy(array) for name, array in found.items()}
