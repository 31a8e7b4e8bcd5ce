"""From a checkpoint's directory to a runtime model's.

Owns the order of things: read, write the graphs, put them where they shall be when all are whole.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import torch

from treewright.errors import OutputError, Place
from treewright.export.encoders import encoder_model
from treewright.export.top import top_model
from treewright.files import atomic_directory
from treewright.model import checkpoint
from treewright.model.build import feature_maker
from treewright.model.characters import CharacterEncoder
from treewright.model.encoder import PretrainedEncoder
from treewright.model.network import Network
from treewright.model.torch_scorer import TorchScorer
from treewright.runtime.files import (
    ENCODER_FILE,
    SETTINGS_FILE,
    SPANS_FILE,
    TOKENIZER_FILE,
    TOP_FILE,
    Precision,
    Settings,
    SpanArrays,
)
from treewright.scorer import DESCRIPTION_FILE, GRAMMAR_FILE, kind_of

_DATA_FILE = ENCODER_FILE + ".data"
_FILES = (
    *(DESCRIPTION_FILE, GRAMMAR_FILE, SETTINGS_FILE, TOKENIZER_FILE),
    *(ENCODER_FILE, _DATA_FILE, TOP_FILE, SPANS_FILE),
)
# No message of Protocol Buffers can be longer than 2 GB.
_MOST_BYTES = (1 << 31) - (1 << 20)


@torch.inference_mode()
def export(
    model: str | os.PathLike[str], out: str | os.PathLike[str], precision: Precision = "fp32"
) -> None:
    """Write the runtime model of a checkpoint; one that is there is replaced."""
    _refuse(Path(out))
    scorer = checkpoint.load(model)
    network = scorer.network
    encoder, top = encoder_model(network.encoder), top_model(network)
    with atomic_directory(out, _FILES) as new:
        scorer.description.save(new, "runtime")
        settings_of(scorer, precision).save(new / SETTINGS_FILE)
        scorer.tokenizer.save(new / TOKENIZER_FILE)
        span_arrays(network).save(new / SPANS_FILE)
        _save(encoder, new / ENCODER_FILE)
        _save(top, new / TOP_FILE)


def settings_of(scorer: TorchScorer, precision: Precision) -> Settings:
    """How the graphs of a model are to be fed."""
    encoder = scorer.network.encoder
    reach = feature_maker(scorer.network, scorer.tokenizer).reach
    return Settings(
        precision=precision,
        window=reach.limit + reach.n_special,
        overlap=scorer.network.config.overlap,
        pooling=encoder.pooling if isinstance(encoder, PretrainedEncoder) else "max",
        edges=isinstance(encoder, CharacterEncoder),
    )


def span_arrays(network: Network) -> SpanArrays:
    """The span scorer after W1, which is part of the graph."""
    scorer = network.scorer
    weight, offset = scorer.columns()

    def array(tensor: torch.Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.ascontiguousarray(tensor.detach().cpu().float().numpy())

    return SpanArrays(
        bias=array(scorer.bias - scorer.bias.mean()),
        scale=array(scorer.norm.weight),
        shift=array(scorer.norm.bias),
        weight=array(weight.T),
        offset=array(offset),
        epsilon=np.array(scorer.norm.eps, dtype=np.float32),
    )


def _refuse(out: Path) -> None:
    """Only a runtime model is replaced, and only an empty directory filled."""
    if not out.is_dir() or not any(out.iterdir()):
        return
    if not (out / DESCRIPTION_FILE).exists():
        raise OutputError("holds other things: name a new directory", Place(str(out)))
    if kind_of(out) != "runtime":
        raise OutputError("is a checkpoint, which is not overwritten", Place(str(out)))


def _save(model: onnx.ModelProto, path: Path) -> None:
    large = model.ByteSize() > _MOST_BYTES
    onnx.save(model, path, save_as_external_data=large, location=_DATA_FILE)
