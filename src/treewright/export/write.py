"""From a checkpoint's directory to a runtime model's.

Owns the order of things: read, write the graphs, put them where they shall be when all are whole.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch

from treewright.errors import OptionError, OutputError, Place
from treewright.export.encoders import encoder_model
from treewright.export.quantize import Observed, observable, quantized
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
from treewright.runtime.scorer import OnnxScorer
from treewright.runtime.sessions import Session
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
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    precision: Precision = "fp32",
    sentences: Sequence[Sequence[str]] = (),
) -> None:
    """Write the runtime model of a checkpoint; one that is there is replaced.

    Args:
        model: the checkpoint's directory.
        out: the runtime model's.
        precision: int8 for a model of a third of the size that is about twice as fast.
        sentences: for int8, some words as the model will meet them, which tell how large numbers
            become; a few hundred do.
    """
    if precision == "int8" and not sentences:
        raise OptionError("int8 needs sentences, to see how large numbers become")
    _refuse(Path(out))
    scorer = checkpoint.load(model)
    graphs = {
        ENCODER_FILE: encoder_model(scorer.network.encoder),
        TOP_FILE: top_model(scorer.network),
    }
    with atomic_directory(out, _FILES) as new:
        scorer.description.save(new, "runtime")
        settings_of(scorer, precision).save(new / SETTINGS_FILE)
        scorer.tokenizer.save(new / TOKENIZER_FILE)
        span_arrays(scorer.network).save(new / SPANS_FILE)
        if precision == "int8":
            for file, observed in _observe(scorer, graphs, new, sentences).items():
                graphs[file] = quantized(graphs[file], observed)
        for file, graph in graphs.items():
            _save(graph, new / file)


def _observe(
    scorer: TorchScorer,
    graphs: Mapping[str, onnx.ModelProto],
    folder: Path,
    sentences: Sequence[Sequence[str]],
) -> dict[str, Observed]:
    """What goes into the products of graphs while sentences are scored, by file."""
    for file, graph in graphs.items():
        _save(observable(graph), folder / file)
    observed = {file: Observed() for file in graphs}
    sessions = {file: _Observing(folder / file, observed[file]) for file in graphs}
    watched = OnnxScorer(
        scorer.description,
        settings_of(scorer, "fp32"),
        scorer.tokenizer,
        sessions[ENCODER_FILE],
        sessions[TOP_FILE],
        span_arrays(scorer.network),
        threads=1,
    )
    watched.score(sentences)
    return observed


class _Observing(Session):
    """A graph whose values are looked at as it runs."""

    def __init__(self, path: Path, observed: Observed) -> None:
        super().__init__(path)
        self._observed = observed

    def run(self, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        found = super().run(inputs)
        self._observed.see({**inputs, **found})
        return found


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
