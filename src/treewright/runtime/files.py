"""What lies in the directory of a runtime model, and how it is to be run.

Owns the files beside those of `Description`:

    treewright.json, grammar.json    what the charts mean
    runtime.json                     `Settings`
    tokenizer.json                   the encoder's tokenizer
    encoder.onnx                     sub-words to vectors
    top.onnx                         vectors of words to fenceposts and tags
    spans.npz                        `SpanArrays`: from fenceposts to scores

Weights over 2 GB, which no ONNX file can hold, lie beside it in `encoder.onnx.data`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal, get_args
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from treewright.errors import CheckpointError, Place
from treewright.files import atomic_write, open_bytes
from treewright.scorer import read_json

SETTINGS_FILE = "runtime.json"
TOKENIZER_FILE = "tokenizer.json"
ENCODER_FILE = "encoder.onnx"
TOP_FILE = "top.onnx"
SPANS_FILE = "spans.npz"

FORMAT = "treewright runtime"
VERSION = 1

Floats = npt.NDArray[np.float32]
Precision = Literal["fp32", "int8"]
Pooling = Literal["first", "last", "mean", "max"]


@dataclass(frozen=True)
class Settings:
    """How the graphs of a model are to be fed.

    >>> Settings(precision="fp32", window=512, overlap=64, pooling="mean", edges=False).window
    512
    """

    precision: Precision
    """In what the encoder multiplies."""

    window: int
    """Sub-words that the encoder reads at once, special ones in it."""

    overlap: int
    """Sub-words that windows over a longer sentence share."""

    pooling: Pooling
    """How the vectors of a word's sub-words make its own."""

    edges: bool
    """Whether the encoder wants to know where words begin and end."""

    def save(self, path: Path) -> None:
        """Write them as JSON."""
        with atomic_write(path) as handle:
            document = {"format": FORMAT, "version": VERSION, **asdict(self)}
            json.dump(document, handle, indent=1)
            handle.write("\n")

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Read what `save` wrote."""
        document, place = read_json(path), Place(str(path))
        if document.get("format") != FORMAT or document.get("version") != VERSION:
            message = f"a runtime model of another kind or version than {VERSION}"
            raise CheckpointError(message, place)
        choices = {"precision": get_args(Precision), "pooling": get_args(Pooling)}
        for field in fields(cls):
            value = document.get(field.name)
            if field.name in choices:
                right = value in choices[field.name]
            elif field.type == "bool":
                right = isinstance(value, bool)
            else:
                right = type(value) is int and value >= 0
            if not right:
                raise CheckpointError(f"{field.name!r} cannot be {value!r}", place)
        return cls(**{field.name: document[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class SpanArrays:
    """The span scorer after W1: `W2 ReLU(LN(f_j - f_i + bias)) + b2`, in arrays.

    `H` hidden size, `L` columns of the chart. Hidden numbers have no mean: W1 and the bias are
    stored with it taken off, so that the norm need not look for it.
    """

    bias: Floats
    """`(H,)`: added to differences."""

    scale: Floats
    """`(H,)`: of the norm."""

    shift: Floats
    """`(H,)`: of the norm."""

    weight: Floats
    """`(H, L)`: W2, a column of zeros where a label scores 0."""

    offset: Floats
    """`(L,)`: b2."""

    epsilon: Floats
    """`()`: added to the variance."""

    def save(self, path: Path) -> None:
        """Write them as a `.npz`."""
        np.savez(path, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: Path) -> SpanArrays:
        """Read what `save` wrote."""
        try:
            with open_bytes(path) as handle, np.load(handle, allow_pickle=False) as file:
                arrays = {field.name: file[field.name] for field in fields(cls)}
        except (OSError, ValueError, KeyError, BadZipFile, EOFError) as error:
            raise CheckpointError(str(error), Place(str(path))) from None
        found = cls(**arrays)
        hidden, columns = found.weight.shape if found.weight.ndim == 2 else (0, 0)
        shapes = [(hidden,)] * 3 + [(hidden, columns), (columns,), ()]
        for (name, array), shape in zip(arrays.items(), shapes, strict=True):
            if array.shape != shape or array.dtype != np.float32 or not hidden:
                raise CheckpointError(f"the array {name!r} has a wrong shape", Place(str(path)))
            if not np.isfinite(array).all():
                raise CheckpointError(f"the array {name!r} holds NaN or inf", Place(str(path)))
        return found
