"""Trees made at random from a small grammar, and quick settings to learn them with."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import set_seed
from safetensors.torch import load_file

from treewright.training.config import TrainConfig, load_config
from treewright.training.observer import Observer, Progress
from treewright.training.setup import prepare
from treewright.trees import Tree

_RULES: dict[str, list[list[str]]] = {
    "S": [["NP", "VP", "."], ["NP", "VP"], ["PP", ",", "NP", "VP", "."]],
    "NP": [["DT", "NN"], ["DT", "JJ", "NN"], ["PRP"], ["NP", "PP"], ["DT", "JJ", "JJ", "NN", "NN"]],
    "VP": [["VBZ", "NP"], ["VBZ", "NP", "PP"], ["VBZ", "S"], ["VBZ"]],
    "PP": [["IN", "NP"]],
}
_WORDS = {
    "DT": ["the", "a", "every", "no"],
    "NN": ["cat", "dog", "tree", "parser", "saw", "duck", "light", "river"],
    "JJ": ["old", "green", "light", "odd"],
    "PRP": ["she", "it"],
    "VBZ": ["sees", "saw", "ducks", "lights", "says"],
    "IN": ["in", "with", "of"],
    ".": ["."],
    ",": [","],
}


def made_trees(count: int, seed: int = 0, longest: int = 14) -> list[Tree]:
    """So many sentences."""
    dice = random.Random(seed)
    trees: list[Tree] = []
    while len(trees) < count:
        tree = Tree("TOP", [_grow("S", dice, 0)])
        if len(tree.words()) <= longest:
            trees.append(tree)
    return trees


def _grow(symbol: str, dice: random.Random, depth: int) -> Tree:
    if symbol in _WORDS:
        return Tree(symbol, word=dice.choice(_WORDS[symbol]))
    rules = _RULES[symbol][: 2 if depth > 4 else None]
    return Tree(symbol, [_grow(part, dice, depth + 1) for part in dice.choice(rules)])


def write(path: Path, trees: list[Tree]) -> str:
    """A file of trees, one a line."""
    path.write_text("".join(tree.brackets() + "\n" for tree in trees), "utf-8")
    return str(path)


QUICK = (
    "batch_size=10",
    "top_rate=4e-3",
    "warmup_steps=5",
    "schedule=constant",
    "epochs=1",
    "model.encoder=characters",
    "model.character_size=24",
    "model.character_layers=1",
    "model.model_size=32",
    "model.layers=1",
    "model.heads=2",
    "model.key_size=16",
    "model.feed_forward_size=32",
    "model.label_key_size=8",
    "model.label_output_size=8",
    "model.label_feed_forward_size=0",
    "model.scorer_size=32",
    "model.tagger_size=16",
)

NO_DROPOUT = ("model.dropout=0.0", "model.attention_dropout=0.0")


def quick(
    folder: Path, *assignments: str, n_train: int = 30, n_dev: int = 8, **more: Any
) -> TrainConfig:
    """Settings of a run of seconds, its treebanks made in a folder."""
    named = {
        "train": write(folder / "train.mrg", made_trees(n_train)),
        "dev": write(folder / "dev.mrg", made_trees(n_dev, seed=1)),
        "out": str(folder / "model"),
        **more,
    }
    return load_config(settings=named.items(), assignments=(*QUICK, *assignments))


class Watch(Observer):
    """Keeps what a run tells, and may act after a step."""

    def __init__(self, act: Callable[[Progress], None] | None = None) -> None:
        self.messages: list[str] = []
        self.steps: list[Progress] = []
        self.lines: list[Mapping[str, Any]] = []
        self._act = act

    def said(self, message: str) -> None:
        self.messages.append(message)

    def stepped(self, progress: Progress) -> None:
        self.steps.append(progress)
        if self._act is not None:
            self._act(progress)

    def checked(self, line: Mapping[str, Any]) -> None:
        self.lines.append(line)


def weights(model: str | Path) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint."""
    return load_file(Path(model) / "model.safetensors")


def same_weights(one: str | Path, other: str | Path) -> bool:
    """Whether two checkpoints hold the same weights, to the bit."""
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    return all(torch.equal(first[name], second[name]) for name in first)


def apart(one: str | Path, other: str | Path, config: TrainConfig) -> float:
    """How far the weights of two runs are apart, as a part of the way from where both began.

    Single numbers may differ: where a gradient is nothing but rounding, Adam's steps are too.
    """
    first, second = weights(one), weights(other)
    set_seed(config.seed)
    begun = prepare(config).network.state_dict()
    distance = sum(float((first[name] - second[name]).square().sum()) for name in first)
    way = sum(float((first[name] - begun[name]).square().sum()) for name in first)
    return math.sqrt(distance / way)


def figures(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of a run's metrics without what hangs on the machine's speed."""
    timed = ("seconds", "sentences_per_second")
    return [{key: line[key] for key in line if key not in timed} for line in lines]


def metrics(out: str | Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics, as they were written."""
    text = (Path(out) / "run" / "metrics.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]
