"""Checkpoints: a model as a directory that needs nothing else, and holds no code.

Owns the files beside those of `Description`:

    treewright.json, grammar.json    what the charts mean
    model.toml                       `ModelConfig`
    encoder.json                     the config of a pretrained encoder; none for characters
    tokenizer.json                   its tokenizer
    model.safetensors                all weights

A checkpoint is written beside where it shall be, and renamed when it is whole.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from treewright.errors import CheckpointError, Place, TreewrightError
from treewright.files import atomic_directory, atomic_write
from treewright.model.build import rebuild
from treewright.model.config import FILE as CONFIG_FILE
from treewright.model.config import ModelConfig
from treewright.model.encoder import PretrainedEncoder
from treewright.model.network import Network
from treewright.model.torch_scorer import TorchScorer
from treewright.scorer import Description, kind_of, read_json, read_part
from treewright.text.subwords import SubwordTokenizer

ENCODER_FILE = "encoder.json"
TOKENIZER_FILE = "tokenizer.json"
WEIGHTS_FILE = "model.safetensors"


def save(
    directory: str | os.PathLike[str],
    network: Network,
    description: Description,
    tokenizer: SubwordTokenizer,
    *,
    dtype: torch.dtype | None = None,
) -> None:
    """Write a checkpoint in place of one that may be there.

    What else lies in an older one (the run's records) is kept. With `dtype`, weights are written in
    it, as float16 for half the size; they are read back as float32.
    """
    if (network.labels, network.tags) != (description.labels, description.tags):
        raise CheckpointError("the network's labels and tags are not those described")
    with atomic_directory(directory, _FILES) as new:
        description.save(new, "checkpoint")
        # A folder's path would say something about this machine and nothing about the encoder
        network_config = network.config
        if Path(network_config.encoder).exists():
            name = Path(network_config.encoder).resolve().name
            network_config = replace(network_config, encoder=name)
        network_config.save(new / CONFIG_FILE)
        if isinstance(network.encoder, PretrainedEncoder):
            with atomic_write(new / ENCODER_FILE) as handle:
                json.dump(network.encoder.description, handle, indent=1, sort_keys=True)
                handle.write("\n")
        tokenizer.save(new / TOKENIZER_FILE)
        _write_weights(_weights(network, dtype), new / WEIGHTS_FILE)
        (new / WEIGHTS_FILE).chmod((new / TOKENIZER_FILE).stat().st_mode)  # or nobody else may read


def load(
    directory: str | os.PathLike[str],
    device: torch.device | str = "cpu",
    *,
    bf16: bool = False,
) -> TorchScorer:
    """Read a checkpoint, without a network."""
    directory = Path(directory)
    if kind_of(directory) != "checkpoint":
        raise CheckpointError("is no checkpoint, but a runtime model", Place(str(directory)))
    description = Description.load(directory)
    config = read_part(directory / CONFIG_FILE, ModelConfig.load_whole)
    tokenizer = read_part(directory / TOKENIZER_FILE, SubwordTokenizer.from_file)
    encoder = None if config.reads_characters else read_part(directory / ENCODER_FILE, read_json)
    weights = read_part(directory / WEIGHTS_FILE, _read_weights)
    try:
        network = rebuild(config, description.labels, description.tags, tokenizer, encoder)
    except (
        TreewrightError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RuntimeError,
    ) as error:
        # An encoder of characters has no description that could be wrong.
        what, blamed = ("network", CONFIG_FILE) if encoder is None else ("encoder", ENCODER_FILE)
        first = str(error).partition("\n")[0]
        message = f"describes no {what} that can be built: {first}"
        raise CheckpointError(message, Place(str(directory / blamed))) from None
    _fill(network, weights, Place(str(directory / WEIGHTS_FILE)))
    return TorchScorer(network, tokenizer, description, device=device, bf16=bf16)


def _weights(network: Network, dtype: torch.dtype | None) -> dict[str, torch.Tensor]:
    """All weights by name, each in memory of its own, as the format wants it."""
    found: dict[str, torch.Tensor] = {}
    for name, value in network.state_dict().items():
        value = value.detach().cpu()
        if dtype is not None and value.is_floating_point():
            value = value.to(dtype)
        found[name] = value.clone().contiguous()
    return found


def _write_weights(weights: dict[str, torch.Tensor], path: Path) -> None:
    try:
        save_file(weights, path)
    except SafetensorError as error:
        # A disk that is full comes as a text, with the system's number for it in brackets.
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    try:
        weights = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(str(error), Place(str(path))) from None
    return {
        name: value.float() if value.is_floating_point() else value
        for name, value in weights.items()
    }


def _fill(network: Network, weights: dict[str, torch.Tensor], place: Place) -> None:
    own = network.state_dict()
    if missing := own.keys() - weights.keys():
        raise CheckpointError(f"damaged: the weights {min(missing)!r} are missing", place)
    if unknown := weights.keys() - own.keys():
        raise CheckpointError(f"damaged: the weights {min(unknown)!r} belong to nothing", place)
    for name, value in weights.items():
        if value.shape != own[name].shape:
            shapes = f"{tuple(value.shape)}, not {tuple(own[name].shape)}"
            raise CheckpointError(f"damaged: the weights {name!r} are {shapes}", place)
    network.load_state_dict(weights)


_FILES = frozenset(
    {"treewright.json", "grammar.json", CONFIG_FILE, ENCODER_FILE, TOKENIZER_FILE, WEIGHTS_FILE}
)
