"""Label attention: every label looks at the sentence, and tells every word what it saw.

Owns the layer of Mrini et al. (2020), with its algebra done. Head l has a learned query q_l, so it
sees one context c_l a sentence; what it says at token n is LN(R(x_n + P c_l)), P and R shared by
all heads; queries, keys, values and P are split into halves of content and position:

    a_l = softmax over n of (q_l . W_k,l x_n) / sqrt(key size)
    c_l = sum over n of a_ln W_v,l x_n

Written so, there would be keys and values of every head at every token. But the query does not
depend on the token, so q_l . (W_k,l x_n) = (W_k,l^T q_l) . x_n: one matrix U of labels for all
tokens. The sum goes before W_v, which then sees one vector a sentence, and so do P and R, for
R(x_n + P c_l) = R x_n + R P c_l. What is left at every token is U, R, and an addition.

    B  sentences    T  tokens, packed    M  tokens of the longest sentence    K  heads
    h  size of a half     k  half of the key size     o  output size
"""

from __future__ import annotations

import math

import torch
from torch import nn

from treewright.model.attention import FeedForward, Halves
from treewright.model.dropout import Dropout
from treewright.model.features import Features


class HeadMaps(nn.Module):
    """The part of the layer that works on one half: queries, keys, values and P."""

    def __init__(self, half: int, heads: int, key_half: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.empty(heads, key_half))
        self.keys = nn.Parameter(torch.empty(heads, half, key_half))
        self.values = nn.Parameter(torch.empty(heads, half, key_half))
        self.spread = nn.Linear(key_half, half, bias=False)  # P
        nn.init.normal_(self.queries)
        for maps in (self.keys, self.values):
            bound = math.sqrt(6 / (half + key_half))
            nn.init.uniform_(maps, -bound, bound)

    def scorers(self) -> torch.Tensor:
        """U, which scores tokens for all heads: `(K, h)`."""
        return torch.einsum("khi,ki->kh", self.keys, self.queries)

    def contexts(self, seen: torch.Tensor) -> torch.Tensor:
        """P c of what each head saw: `(B, K, h)` to the same."""
        values = torch.einsum("bkh,khi->bki", seen, self.values)
        spread: torch.Tensor = self.spread(values)
        return spread


class LabelAttention(nn.Module):
    """Tokens to what every head says of them, `(T, K, o)`, and a feed-forward over all heads."""

    def __init__(
        self,
        *,
        half: int,
        heads: int,
        key_half: int,
        output_size: int,
        feed_forward_size: int,
        dropout: float,
        attention_dropout: float,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (2 * key_half) ** -0.5
        self.content = HeadMaps(half, heads, key_half)
        self.position = HeadMaps(half, heads, key_half)
        self.reduce = nn.Linear(2 * half, output_size, bias=False)  # R
        self.norm = nn.LayerNorm(output_size)
        self.dropout = Dropout(dropout)
        self.attention_dropout = Dropout(attention_dropout)
        size = heads * output_size
        self.feed_forward = (
            FeedForward(size, feed_forward_size, dropout) if feed_forward_size else None
        )
        self.norm_feed_forward = nn.LayerNorm(size) if feed_forward_size else None

    def forward(self, x: Halves, features: Features) -> torch.Tensor:
        """`(T, h)` a half to `(T, K, o)`."""
        said = self.attend(x, features)
        if self.feed_forward is None or self.norm_feed_forward is None:
            return said
        flat = said.flatten(1)
        flat = self.norm_feed_forward(flat + self.dropout(self.feed_forward(flat)))
        mixed: torch.Tensor = flat.view_as(said)
        return mixed

    def attend(self, x: Halves, features: Features) -> torch.Tensor:
        """The attention alone, `(T, K, o)`."""
        scores = nn.functional.linear(x.content, self.content.scorers())
        scores = scores + nn.functional.linear(x.position, self.position.scorers())  # (T, K)
        weights = self.attention_dropout(self._softmax(scores, features))  # (B, K, M)
        told = torch.cat(
            [
                self.content.contexts(weights @ _padded(x.content, features)),
                self.position.contexts(weights @ _padded(x.position, features)),
            ],
            dim=-1,
        )
        told = self.reduce(self.dropout(told))  # R P c, (B, K, o)
        own = self.reduce(x.joined())  # R x, (T, o)
        said: torch.Tensor = self.norm(own.unsqueeze(1) + told.index_select(0, features.sentences))
        return said

    def _softmax(self, scores: torch.Tensor, features: Features) -> torch.Tensor:
        """Scores of packed tokens to weights over each sentence, `(T, K)` to `(B, K, M)`."""
        padded = _padded(scores * self.scale, features).transpose(1, 2)
        return padded.masked_fill(~features.real.unsqueeze(1), -math.inf).softmax(-1)


def _padded(packed: torch.Tensor, features: Features) -> torch.Tensor:
    """`(T, x)` to `(B, M, x)`; padding repeats a token of the sentence, for masks to hide."""
    return packed.index_select(0, features.rows).view(*features.real.shape, packed.shape[1])
