"""Partitioned self-attention: what a word says and where it stands, never mixed.

Owns the layers of Kitaev and Klein (2018) in which content and position are two halves that meet
only in the attention weights: a head's queries and keys have a half of each, and their products
add up; values, outputs and feed-forwards stay within their halves. So every module here is two
modules, and nothing can be cut in the wrong place.

Tokens are packed, so linear maps never see padding; only attention pads, and masks what it padded.

    T  tokens, packed     B, M  sentences and tokens of the longest, padded     H  heads
    h  size of a half     k  half of a head's key size
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from treewright.model.config import ModelConfig
from treewright.model.dropout import Dropout
from treewright.model.features import Features


class Halves(NamedTuple):
    """Content and position of tokens, `(T, h)` each."""

    content: torch.Tensor
    position: torch.Tensor

    def joined(self) -> torch.Tensor:
        """Both as one vector, `(T, 2h)`."""
        return torch.cat(self, dim=-1)


class OfHalves(nn.Module):
    """One module for each half."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.content = make()
        self.position = make()

    def forward(self, halves: Halves) -> Halves:
        """Each half by its module."""
        return Halves(self.content(halves.content), self.position(halves.position))


class WordPositions(nn.Module):
    """The position half of tokens: sines and cosines of their number, projected.

    Sines have a value at any position, so a sentence may be of any length, longer than all that
    were trained on; the learned projection chooses what of them is of use.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.project = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, positions: torch.Tensor, longest: int) -> torch.Tensor:
        """The halves of tokens at `positions`, all below `longest`: `(T,)` to `(T, h)`."""
        weight = self.project.weight
        every = torch.arange(longest, device=weight.device, dtype=weight.dtype)
        waves: torch.Tensor = self.norm(self.project(sinusoids(every, self.size)))
        return waves.index_select(0, positions)


def sinusoids(positions: torch.Tensor, size: int) -> torch.Tensor:
    """Sines and cosines, their wave lengths growing from 2 pi to 20,000 pi: `(P,)` to `(P, h)`."""
    steps = torch.arange(0, size, 2, device=positions.device, dtype=positions.dtype)
    angles = positions.unsqueeze(1) * torch.exp(steps * (-math.log(10000.0) / size))
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :size]


class SelfAttention(nn.Module):
    """Attention of all heads; weights from both halves, values of each half its own."""

    def __init__(self, half: int, heads: int, key_half: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.key_half = key_half
        self.dropout = dropout
        inner = heads * key_half
        self.project_in = OfHalves(lambda: nn.Linear(half, 3 * inner))
        self.project_out = OfHalves(lambda: nn.Linear(inner, half))

    def forward(self, x: Halves, features: Features) -> Halves:
        """`(T, h)` a half to the same."""
        shape = (-1, 3, self.heads, self.key_half)
        inner: Halves = self.project_in(x)
        packed = torch.cat([half.view(shape) for half in inner], dim=-1)  # (T, 3, H, 2k)
        sentences, longest = features.real.shape
        padded = packed.index_select(0, features.rows).view(sentences, longest, *packed.shape[1:])
        queries, keys, values = padded.permute(2, 0, 3, 1, 4)  # (B, H, M, 2k)
        mixed = nn.functional.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=features.real[:, None, None, :],
            dropout_p=self.dropout if self.training else 0.0,
        )
        rows = mixed.transpose(1, 2).flatten(0, 1).index_select(0, features.places)  # (T, H, 2k)
        content, position = rows.chunk(2, dim=-1)
        return self.project_out(Halves(content.flatten(1), position.flatten(1)))  # type: ignore[no-any-return]


class FeedForward(nn.Sequential):
    """Two linear maps around a ReLU."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__(
            nn.Linear(size, hidden), nn.ReLU(), Dropout(dropout), nn.Linear(hidden, size)
        )


class PartitionedLayer(nn.Module):
    """Self-attention, then a feed-forward, each added to its input and normalised by halves."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        half, dropout = config.model_size // 2, config.dropout
        hidden = max(1, config.feed_forward_size // 2)
        self.attention = SelfAttention(
            half, config.heads, config.key_size // 2, config.attention_dropout
        )
        self.feed_forward = OfHalves(lambda: FeedForward(half, hidden, dropout))
        self.norm_attention = OfHalves(lambda: nn.LayerNorm(half))
        self.norm_feed_forward = OfHalves(lambda: nn.LayerNorm(half))
        self.dropout = OfHalves(lambda: Dropout(dropout))

    def forward(self, x: Halves, features: Features) -> Halves:
        """`(T, h)` a half to the same."""
        x = self.norm_attention(_sum(x, self.dropout(self.attention(x, features))))
        x = self.norm_feed_forward(_sum(x, self.dropout(self.feed_forward(x))))
        return x  # noqa: RET504 - two steps that look alike


def _sum(x: Halves, y: Halves) -> Halves:
    return Halves(x.content + y.content, x.position + y.position)
