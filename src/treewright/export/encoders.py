"""Encoders as graphs: sub-words in, a vector each out.

Owns the encoders that are written out: those of characters, and BERT's kind (BERT, RoBERTa,
XLM-RoBERTa, CamemBERT, ELECTRA). Whatever else Hugging Face has is traced by PyTorch.

All windows of a run are of one length, so nothing is padded and nothing masked, and a window's
vectors do not depend on which others it is run with.

    W  windows    S  sub-words of each    d  size of the encoder
"""

from __future__ import annotations

import warnings
from typing import Any

import onnx
import torch
from torch import nn

from treewright.errors import MissingExtra
from treewright.export.graph import FLOAT, INTEGER, RUNTIME, Graph, Tensor
from treewright.model.characters import CharacterEncoder
from treewright.model.encoder import LayerMix, PretrainedEncoder, WordEncoder

_WRITTEN_OUT = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})

_IDS = {"ids": (INTEGER, ("W", "S"))}


def encoder_model(encoder: WordEncoder) -> onnx.ModelProto:
    """The graph of an encoder: `ids` `(W, S)` to `vectors` `(W, S, d)`.

    One of characters also wants `edges`, which say where words begin (1) and end (2 more).
    """
    if isinstance(encoder, CharacterEncoder):
        return _characters(encoder)
    if not isinstance(encoder, PretrainedEncoder):
        raise TypeError(f"no graph of a {type(encoder).__name__}")
    if _is_written_out(encoder.model):
        return _bert(encoder)
    return _traced(encoder)


def _vectors(graph: Graph, value: str, size: int) -> dict[str, tuple[str, Tensor]]:
    return {"vectors": (value, (FLOAT, ("W", "S", size)))}


# Characters


def _characters(encoder: CharacterEncoder) -> onnx.ModelProto:
    graph = Graph()
    x = graph.node(
        "Add",
        graph.node("Gather", graph.constant(encoder.characters.weight), "ids"),
        graph.node("Gather", graph.constant(encoder.edges.weight), "edges"),
    )
    for layer in encoder.layers:
        convolution: Any = layer.convolution
        y = graph.node("Transpose", graph.norm(x, layer.norm), perm=[0, 2, 1])  # type: ignore[arg-type]
        width = convolution.padding[0]
        weights = (graph.constant(convolution.weight), graph.constant(convolution.bias))
        y = graph.node("Conv", y, *weights, pads=[width, width])
        gate = graph.node("Sigmoid", graph.cut(y, 1, encoder.size, 2 * encoder.size))
        y = graph.node("Mul", graph.cut(y, 1, 0, encoder.size), gate)
        x = graph.node("Add", x, graph.node("Transpose", y, perm=[0, 2, 1]))
    inputs = {**_IDS, "edges": (INTEGER, ("W", "S"))}
    return graph.model(inputs, _vectors(graph, x, encoder.size))


# BERT's kind


def _is_written_out(model: nn.Module) -> bool:
    config: Any = model.config
    return (
        config.model_type in _WRITTEN_OUT
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not getattr(config, "is_decoder", False)
        and not getattr(config, "add_cross_attention", False)
    )


def _bert(encoder: PretrainedEncoder) -> onnx.ModelProto:
    graph = Graph()
    model: Any = encoder.model
    x = _embedded(graph, model)
    layers = [x]
    for layer in model.encoder.layer:
        x = _bert_layer(graph, x, layer, model.config.num_attention_heads)
        layers.append(x)
    if encoder.mix is not None:
        x = _mixed(graph, layers, encoder.mix)
    return graph.model(_IDS, _vectors(graph, x, encoder.size))


def _embedded(graph: Graph, model: Any) -> str:
    """Words, positions and the one type of token that there is: added, normalised."""
    embeddings = model.embeddings
    positions = embeddings.position_embeddings
    # RoBERTa and its kind count from the number after the padding token's
    begin = 0 if positions.padding_idx is None else positions.padding_idx + 1
    table = positions.weight[begin:] + embeddings.token_type_embeddings.weight[0]
    x = graph.node("Gather", graph.constant(embeddings.word_embeddings.weight), "ids")
    ends = (graph.constant([0]), graph.size("ids", 1), graph.constant([0]))
    x = graph.node("Add", x, graph.node("Slice", graph.constant(table), *ends))
    x = graph.norm(x, embeddings.LayerNorm)
    if getattr(model, "embeddings_project", None) is not None:
        x = graph.linear(x, model.embeddings_project)
    return x


def _bert_layer(graph: Graph, x: str, layer: Any, heads: int) -> str:
    own, after = layer.attention.self, layer.attention.output
    maps = (own.query, own.key, own.value)
    q, k, v = (graph.product(x, each.weight) for each in maps)
    y = graph.attention(q, k, v, heads, torch.cat([each.bias for each in maps]))
    x = graph.norm_of_sum(x, graph.linear(y, after.dense), after.LayerNorm)
    y = graph.product(x, layer.intermediate.dense.weight)
    y = graph.node("BiasGelu", y, graph.constant(layer.intermediate.dense.bias), domain=RUNTIME)
    return graph.norm_of_sum(x, graph.linear(y, layer.output.dense), layer.output.LayerNorm)


def _mixed(graph: Graph, layers: list[str], mix: LayerMix) -> str:
    shares = mix.scale * mix.weights.softmax(0)
    parts = [
        graph.node("Mul", layer, graph.constant(share))
        for layer, share in zip(layers, shares, strict=True)
    ]
    return graph.node("Sum", *parts)


# All others


class _Alone(nn.Module):
    """A pretrained encoder as a function of sub-words alone, none of them padding."""

    def __init__(self, encoder: PretrainedEncoder) -> None:
        super().__init__()
        self.model = encoder.model
        self.mix = encoder.mix

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        output = self.model(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            output_hidden_states=self.mix is not None,
        )
        if self.mix is None:
            vectors: torch.Tensor = output.last_hidden_state
            return vectors
        mixed: torch.Tensor = self.mix(output.hidden_states)
        return mixed


def _traced(encoder: PretrainedEncoder) -> onnx.ModelProto:
    """Any other encoder, its graph made by PyTorch."""
    sizes = {0: torch.export.Dim("W", min=1), 1: torch.export.Dim("S", min=2)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                _Alone(encoder).eval(),
                (torch.ones(2, 7, dtype=torch.int64),),
                input_names=["ids"],
                output_names=["vectors"],
                dynamic_shapes={"ids": sizes},
                dynamo=True,
                verbose=False,
            )
    except ImportError as error:
        message = f"the export of this encoder needs {error.name}"
        raise MissingExtra(f"{message}: pip install 'treewright[export]'") from None
    assert program is not None
    model: onnx.ModelProto = program.model_proto
    return model
