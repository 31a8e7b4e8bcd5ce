"""The network's layers as the papers write them: slow, a sentence and a head at a time."""

from __future__ import annotations

import torch

from treewright.model.attention import Halves, SelfAttention
from treewright.model.features import Features
from treewright.model.label_attention import LabelAttention
from treewright.model.span_scorer import SpanScorer


def sentences_of(features: Features) -> list[torch.Tensor]:
    """The packed tokens of each sentence."""
    tokens = torch.arange(len(features.sentences))
    return [tokens[features.sentences == b] for b in range(len(features.lengths))]


def self_attention(layer: SelfAttention, x: Halves, features: Features) -> Halves:
    """Every head by itself: queries, keys and values of both halves, one softmax."""
    k = layer.key_half
    out = [torch.zeros_like(half) for half in x]
    maps = (layer.project_in.content, layer.project_in.position)
    outs = (layer.project_out.content, layer.project_out.position)
    for tokens in sentences_of(features):
        for head in range(layer.heads):
            queries, keys, values = [], [], []
            for half, linear in zip(x, maps, strict=True):
                weight = linear.weight.view(3, layer.heads, k, -1)[:, head]
                bias = linear.bias.view(3, layer.heads, k)[:, head]
                q, key, v = (half[tokens] @ w.T + b for w, b in zip(weight, bias, strict=True))
                queries.append(q)
                keys.append(key)
                values.append(v)
            products = sum(q @ key.T for q, key in zip(queries, keys, strict=True))
            weights = (products / (2 * k) ** 0.5).softmax(-1)
            for number, (v, linear) in enumerate(zip(values, outs, strict=True)):
                columns = linear.weight.view(-1, layer.heads, k)[:, head]
                out[number][tokens] += weights @ v @ columns.T
    return Halves(*(half + linear.bias for half, linear in zip(out, outs, strict=True)))


def label_attention(layer: LabelAttention, x: Halves, features: Features) -> torch.Tensor:
    """Every label's keys and values at every token, and LN(R(x_n + P c_l)) at each."""
    said = torch.zeros(len(features.sentences), layer.heads, layer.reduce.out_features)
    said = said.to(x.content.dtype)
    for tokens in sentences_of(features):
        for head in range(layer.heads):
            parts = list(zip((layer.content, layer.position), x, strict=True))
            query = torch.cat([maps.queries[head] for maps, _ in parts])
            keys = torch.cat([half[tokens] @ maps.keys[head] for maps, half in parts], dim=1)
            weights = (keys @ query / len(query) ** 0.5).softmax(0)
            contexts = [weights @ (half[tokens] @ maps.values[head]) for maps, half in parts]
            spread = [maps.spread(c) for (maps, _), c in zip(parts, contexts, strict=True)]
            whole = torch.cat([half[tokens] for half in x], dim=1)
            said[tokens, head] = layer.norm(layer.reduce(whole + torch.cat(spread)))
    return said


def chart(scorer: SpanScorer, said: torch.Tensor, features: Features) -> torch.Tensor:
    """Fenceposts, differences and W2 ReLU(LN(W1 s + b1)) + b2, a span and a label at a time."""
    rows = []
    half = said.shape[2] // 2
    weights = dict(zip(scorer.scored, scorer.output.weight, strict=True))
    biases = dict(zip(scorer.scored, scorer.output.bias, strict=True))
    for tokens in sentences_of(features):
        y = said[tokens]
        posts = [
            torch.cat([y[k, :, :half].flatten(), y[k + 1, :, half:].flatten()])
            for k in range(len(tokens) - 1)
        ]
        for i in range(len(posts)):
            for j in range(i + 1, len(posts)):
                hidden = scorer.project.weight @ (posts[j] - posts[i]) + scorer.bias
                hidden = scorer.norm(hidden).clamp_min(0)
                rows.append(
                    torch.stack(
                        [
                            weights[label] @ hidden + biases[label]
                            if label in weights
                            else hidden.new_zeros(())
                            for label in scorer.labels
                        ]
                    )
                )
    return torch.stack(rows)
