"""All that follows the encoder, as one graph: vectors of tokens in, fenceposts and tags out.

Owns the layers of `treewright.model` between the encoder and the chart, written for sentences of
one length: dense, without padding or masks. What depends on weights alone is worked out here, once.

    B  sentences of t = n + 2 tokens each    d  size of the encoder    h  size of a half
    K  heads of the label attention, o their outputs    H  hidden size of the span scorer
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch

from treewright.export.graph import FLOAT, INTEGER, Graph, Tensor
from treewright.model.attention import PartitionedLayer, WordPositions
from treewright.model.label_attention import LabelAttention
from treewright.model.network import Network


class _Halves(NamedTuple):
    """Content and position of tokens, `(B, t, h)` each; position `(1, t, h)` while all have one."""

    content: str
    position: str


def top_model(network: Network) -> onnx.ModelProto:
    """`words` `(B, t, d)` to `posts` `(B, n + 1, H)` and, with a tagger, `tags` `(B, n)`."""
    top = _Top(network)
    shape = ("B", "posts", network.scorer.bias.numel())
    outputs: dict[str, tuple[str, Tensor]] = {"posts": (top.posts(), (FLOAT, shape))}
    if network.tagger is not None:
        outputs["tags"] = (top.tags(), (INTEGER, ("B", "n")))
    return top.graph.model({"words": (FLOAT, ("B", "t", network.encoder.size))}, outputs)


class _Top:
    """The graph while it is written."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.graph = Graph()
        self.batch = self.graph.size("words", 0)
        self.tokens = self.graph.size("words", 1)
        self.half = network.config.model_size // 2
        x = _Halves(self._content(), self._positions(network.positions))
        for number, layer in enumerate(network.layers):
            assert isinstance(layer, PartitionedLayer)
            x = self._layer(x, layer, shared=number == 0)
        if not len(network.layers):
            x = x._replace(position=self._for_all(x.position))
        self.x = x

    def _content(self) -> str:
        graph, network = self.graph, self.network
        content = graph.norm(graph.linear("words", network.content), network.content_norm)
        start, stop = network.edges
        inner = self.graph.node("Sub", self.tokens, graph.constant([2]))
        nothing = graph.node(
            "Expand", graph.constant(torch.zeros(1, 1, self.half)), graph.shape(1, inner, self.half)
        )
        ends = (graph.constant(start[None, None]), nothing, graph.constant(stop[None, None]))
        return graph.node("Add", content, graph.node("Concat", *ends, axis=1))

    def _positions(self, positions: WordPositions) -> str:
        """The halves of positions, `(1, t, h)`: they are the same in all sentences."""
        graph = self.graph
        count = graph.node("Squeeze", self.tokens)
        zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
        numbers = graph.node("Cast", graph.node("Range", zero, count, one), to=FLOAT)
        steps = torch.arange(0, self.half, 2, dtype=torch.float32)
        rates = torch.exp(steps * (-math.log(10000.0) / self.half))
        column = graph.node("Unsqueeze", numbers, graph.constant([0, 2]))
        angles = graph.node("Mul", column, graph.constant(rates[None, None]))
        waves = graph.node("Concat", graph.node("Sin", angles), graph.node("Cos", angles), axis=2)
        waves = graph.cut(waves, 2, 0, self.half)
        return graph.norm(graph.linear(waves, positions.project), positions.norm)

    def _for_all(self, x: str) -> str:
        """`(1, t, ...)` for all sentences."""
        return self.graph.node("Expand", x, self.graph.shape(self.batch, 1, 1))

    def _layer(self, x: _Halves, layer: PartitionedLayer, *, shared: bool) -> _Halves:
        graph, attention = self.graph, layer.attention
        heads, k = attention.heads, attention.key_half
        inner = heads * k
        maps = attention.project_in
        together = []
        for part in range(3):  # queries, keys, values
            rows = slice(part * inner, (part + 1) * inner)
            content = graph.product(x.content, maps.content.weight[rows])  # type: ignore[index]
            position = graph.product(x.position, maps.position.weight[rows])  # type: ignore[index]
            if shared:
                position = self._for_all(position)
            halves = [graph.reshape(half, 0, 0, heads, k) for half in (content, position)]
            joined = graph.node("Concat", *halves, axis=3)
            together.append(graph.reshape(joined, 0, 0, 2 * inner))
        biases = [each.bias.view(3, heads, k) for each in (maps.content, maps.position)]  # type: ignore[operator]
        bias = torch.cat(biases, dim=2).flatten()
        mixed = graph.attention(together[0], together[1], together[2], heads, bias)
        mixed = graph.reshape(mixed, 0, 0, heads, 2 * k)
        if shared:
            x = x._replace(position=self._for_all(x.position))
        found = []
        for name, half, begin in (("content", x.content, 0), ("position", x.position, k)):
            out: Any = getattr(attention.project_out, name)
            feed: Any = getattr(layer.feed_forward, name)
            norms: Any = [getattr(n, name) for n in (layer.norm_attention, layer.norm_feed_forward)]
            own = graph.reshape(graph.cut(mixed, 3, begin, begin + k), 0, 0, inner)
            half = graph.norm_of_sum(half, graph.linear(own, out), norms[0])
            found.append(self._fed(half, feed, norms[1]))
        return _Halves(*found)

    def _fed(self, x: str, feed: Any, norm: Any) -> str:
        """`norm(x + feed(x))`, for a feed-forward of ours."""
        first, last = feed[0], feed[3]
        y = self.graph.node("Relu", self.graph.linear(x, first))
        return self.graph.norm_of_sum(x, self.graph.linear(y, last), norm)

    # What comes out

    def tags(self) -> str:
        """The best tag of every word, `(B, n)`."""
        assert self.network.tagger is not None
        graph = self.graph
        first, norm, _, last = self.network.tagger
        y = graph.linear(graph.cut(self.x.content, 1, 1, -1), first)  # type: ignore[arg-type]
        y = graph.node("Relu", graph.norm(y, norm))  # type: ignore[arg-type]
        y = graph.linear(y, last)  # type: ignore[arg-type]
        return graph.node("ArgMax", y, axis=2, keepdims=0)

    def posts(self) -> str:
        """W1 f of every fencepost, `(B, n + 1, H)`.

        f_k has the forward halves of token k and the backward halves of token k + 1: two products,
        each with the columns of W1 that belong to it.
        """
        graph, scorer = self.graph, self.network.scorer
        attention = self.network.label_attention
        heads, size = (2, self.half)
        if attention is not None:
            heads, size = attention.heads, attention.norm.normalized_shape[0]
            flat = self._label_attention(attention)
        else:
            flat = graph.node("Concat", *self.x, axis=2)
        said = graph.reshape(flat, 0, 0, heads, size)
        # chunk() gives the forward half the odd one
        middle = -(-size // 2)
        forward = graph.cut(graph.cut(said, 3, 0, middle), 1, 0, -1)
        backward = graph.cut(graph.cut(said, 3, middle, size), 1, 1, 1 << 30)
        # Without their mean, so that the norm of differences need not take it off
        weight = scorer.project.weight - scorer.project.weight.mean(0)
        weights = torch.split(weight, [heads * middle, heads * (size - middle)], dim=1)
        parts = [
            graph.product(graph.reshape(half, 0, 0, heads * width), weight)
            for half, width, weight in zip(
                (forward, backward), (middle, size - middle), weights, strict=True
            )
        ]
        return graph.node("Add", *parts)

    def _label_attention(self, attention: LabelAttention) -> str:
        """What every head says of every token, `(B, t, K * o)`."""
        graph = self.graph
        heads, size = attention.heads, attention.norm.normalized_shape[0]
        maps = (attention.content, attention.position)
        x = graph.node("Concat", *self.x, axis=2)
        scorers = torch.cat([half.scorers() for half in maps], dim=1) * attention.scale  # (K, 2h)
        scores = graph.node("Transpose", graph.product(x, scorers), perm=[0, 2, 1])
        weights = graph.node("Softmax", scores, axis=-1)  # (B, K, t)
        seen = graph.node("Transpose", graph.node("MatMul", weights, x), perm=[1, 0, 2])
        # R P c, all of it linear: one matrix a head
        reduce = torch.split(attention.reduce.weight, self.half, dim=1)
        tell = torch.cat(
            [
                torch.einsum("khi,pi,op->kho", half.values, half.spread.weight, own)
                for half, own in zip(maps, reduce, strict=True)
            ],
            dim=1,
        )
        told = graph.node("MatMul", seen, graph.constant(tell))  # (K, B, o)
        told = graph.node("Transpose", told, perm=[1, 0, 2])
        own = graph.product(x, attention.reduce.weight)  # (B, t, o)
        said = graph.node(
            "Add", graph.reshape(own, 0, 0, 1, size), graph.reshape(told, 0, 1, heads, size)
        )
        flat = graph.reshape(graph.norm(said, attention.norm), 0, 0, heads * size)
        if attention.feed_forward is None or attention.norm_feed_forward is None:
            return flat
        return self._fed(flat, attention.feed_forward, attention.norm_feed_forward)
