"""Checkpoints and runtime models made of small networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model.networks import TAGS, grammar
from treewright.export.write import export
from treewright.model import checkpoint
from treewright.model.network import Network
from treewright.model.torch_scorer import TorchScorer
from treewright.runtime import OnnxScorer, load
from treewright.scorer import Description


def exported(folder: Path, network: Network, tokenizer: Any) -> tuple[TorchScorer, OnnxScorer]:
    """The scorers of `checkpoint` and `runtime`, made in a folder."""
    description = Description(network.labels, TAGS, grammar(), language="en")
    checkpoint.save(folder / "checkpoint", network, description, tokenizer)
    export(folder / "checkpoint", folder / "runtime")
    return checkpoint.load(folder / "checkpoint"), load(folder / "runtime", threads=2)
