"""What a training run is told: treebanks, the loss, rates, batches, when to stop, and the model.

Owns `TrainConfig` and the presets, and puts a file, a preset and single settings together. It is
TOML in and TOML out; the network's own settings are the table `[model]` (see
`treewright.model.config`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from treewright.errors import CheckpointError, Place, SettingError
from treewright.model import config as model_config
from treewright.model.config import ModelConfig
from treewright.settings import (
    from_table,
    nearest,
    parse_assignment,
    read_toml,
    to_table,
)
from treewright.trees.symbols import Scheme

Schedule = Literal["plateau", "linear", "cosine", "constant"]
Precision = Literal["float32", "bf16"]
RuleScores = Literal["none", "counts", "learned"]
Decoder = Literal["auto", "native", "batched"]

# What people may call a setting who come from the paper or from other trainers
_OTHER_NAMES = {
    "lr": "top_rate",
    "learning_rate": "top_rate",
    "joint": "lambda",
    "ema": "average",
    "max_epochs": "epochs",
    "clip": "max_gradient",
    "encoder": "model.encoder",
}

_NETWORK = frozenset(field.name for field in fields(ModelConfig))


@dataclass(frozen=True)
class TrainConfig:
    """The settings of a run."""

    train: str
    """The trees to learn from: a file in Penn-style brackets."""

    dev: str
    """Held-out trees: they choose the epoch, the penalty and the temperatures."""

    out: str
    """The directory of the model and of the run's record."""

    name: str = ""
    """What people call the model."""

    language: str = ""
    """The language of raw text, as `en`; empty for a model that takes words only."""

    scheme: Scheme = "$"
    """How nodes made by binarisation are named."""

    min_count: int = 1
    """Rules, one-word labels and root labels that occur less often are not in the grammar."""

    seed: int = 777
    """Decides the first weights, the order of the sentences and every dropout."""

    lambda_: float = 0.4
    """The share of the rule-based hinge in the loss; the free decoder's has the rest."""

    rule_scores: RuleScores = "none"
    """Scores of rules: none, logs of their relative frequencies, or learned with the rest."""

    count_weight: float = 0.1
    """What the logs of relative frequencies are multiplied by, where rule_scores is counts."""

    tag_weight: float = 1.0
    """The weight of the tags' cross-entropy, a mean over words, beside the hinge."""

    epochs: int = 30
    """The most passes over the trees; 0 for no limit."""

    max_minutes: float = 0.0
    """The most minutes of training; 0 for no limit."""

    batch_size: int = 32
    """Sentences a step, over all processes together."""

    batch_subwords: int = 0
    """Sub-words a step at most, over all processes; 0 for no limit. Longer sentences, fewer."""

    piece_subwords: int = 8192
    """Sub-words, with padding, that a process holds at once: a step with more is taken in pieces,
    whose gradients add up. It decides memory, speed, and how the dice of dropout fall."""

    encoder_rate: float = 5e-5
    """The learning rate of a pretrained encoder; 0 leaves it as it is."""

    top_rate: float = 1e-3
    """The learning rate of everything else."""

    beta1: float = 0.9
    """Adam's decay of the mean."""

    beta2: float = 0.98
    """Adam's decay of the squares."""

    weight_decay: float = 0.0
    """Decoupled weight decay, of matrices alone."""

    max_gradient: float = 1.0
    """The norm that gradients are cut to; 0 for no limit."""

    schedule: Schedule = "plateau"
    """After the warm-up: `plateau` halves the rates where dev no longer gains, `linear` and
    `cosine` let them fall to 0 at the last epoch, `constant` leaves them."""

    warmup_steps: int = 160
    """Steps over which the rates rise from 0."""

    patience: int = 5
    """With `plateau`, checks on dev without gain before the rates are halved."""

    halvings: int = 3
    """With `plateau`, how often they are halved; after as many checks more, training ends."""

    checks_per_epoch: int = 1
    """How often in an epoch dev is scored."""

    average: float = 0.0
    """The decay of a moving average of the weights, a step; dev is scored with it, and it is what
    is kept. 0 for none."""

    precision: Precision = "float32"
    """The precision of the network's products in training."""

    decoder: Decoder = "auto"
    """Which decoder finds the worst offenders; `auto` is the kernel."""

    deterministic: bool = False
    """Refuse operations that differ from run to run on an accelerator; the CPU has none."""

    model: ModelConfig = field(default_factory=ModelConfig)
    """The network."""

    def __post_init__(self) -> None:
        _check_ranges(self)
        _check_contradictions(self)


# As the paper and the code that it builds on have them: dev every quarter of an epoch, rates halved
# after five checks without gain.
_PAPER: dict[str, Any] = {
    "seed": 777,
    "lambda": 0.4,
    "batch_size": 100,
    "encoder_rate": 5e-5,
    "top_rate": 5e-5,
    "warmup_steps": 160,
    "schedule": "plateau",
    "patience": 5,
    "checks_per_epoch": 4,
    "epochs": 100,
}

#: The run's settings of every preset, where they are not the defaults; its network is
#: `treewright.model.config.PRESETS` of the same name.
PRESETS: dict[str, dict[str, Any]] = {
    "paper-en": {**_PAPER, "language": "en"},
    "paper-zh": _PAPER,
    "small": {
        "language": "en",
        # Chosen on WSJ's dev, see experiments/small.
        "batch_size": 16,
        "encoder_rate": 1e-4,
        "top_rate": 1e-3,
        "schedule": "cosine",
        "epochs": 20,
        "average": 0.995,
    },
    "tiny": {
        "batch_size": 32,
        "top_rate": 2e-3,
        "warmup_steps": 50,
        "schedule": "cosine",
        "epochs": 30,
    },
}

# Bounds of numbers: at least, at most; infinity itself is within none
_RANGES: dict[str, tuple[float, float]] = {
    "min_count": (1, float("inf")),
    "seed": (0, 2**31 - 1),  # numpy takes none from 2**32 on, and processes count on from it
    "lambda_": (0, 1),
    "count_weight": (0, float("inf")),
    "tag_weight": (0, float("inf")),
    "epochs": (0, float("inf")),
    "max_minutes": (0, float("inf")),
    "batch_size": (1, float("inf")),
    "batch_subwords": (0, float("inf")),
    "piece_subwords": (1, float("inf")),
    "encoder_rate": (0, 1),
    "top_rate": (0, 1),
    "beta1": (0, 0.999999),
    "beta2": (0, 0.999999),
    "weight_decay": (0, float("inf")),
    "max_gradient": (0, float("inf")),
    "warmup_steps": (0, float("inf")),
    "patience": (1, float("inf")),
    "halvings": (0, float("inf")),
    "checks_per_epoch": (1, float("inf")),
    "average": (0, 0.999999),
}


def _check_ranges(config: TrainConfig) -> None:
    for name, (least, most) in _RANGES.items():
        value = getattr(config, name)
        if not least <= value <= most or value == math.inf:
            upper = f" to {most}" if most < math.inf else ""
            key = name.rstrip("_")
            raise SettingError(f"{key!r} is a number from {least}{upper}, not {value!r}")
    for name in ("train", "dev", "out"):
        if getattr(config, name) in ("", "-"):
            what = "directory" if name == "out" else "file"
            raise SettingError(f"{name!r} is {getattr(config, name)!r}: name a {what}")


def _check_contradictions(config: TrainConfig) -> None:
    if config.rule_scores == "learned" and config.lambda_ == 0:
        message = "'rule_scores' are learned from the rule-based hinge"
        raise SettingError(f"{message}, which 'lambda' = 0 leaves out")
    if config.schedule in ("linear", "cosine") and not config.epochs:
        message = f"a {config.schedule} 'schedule' ends with the last epoch, but 'epochs' is 0"
        raise SettingError(message)
    if config.schedule == "constant" and not config.epochs and not config.max_minutes:
        raise SettingError("nothing ends the run: set 'epochs' or 'max_minutes'")
    if config.top_rate == 0 and config.encoder_rate == 0:
        raise SettingError("'top_rate' and 'encoder_rate' are 0: nothing would be learned")
    if config.top_rate == 0 and config.model.reads_characters:
        message = "'top_rate' is 0, and an encoder of 'characters' learns at no other rate"
        raise SettingError(f"{message}: nothing would be learned")


def load_config(
    file: str | None = None,
    preset: str | None = None,
    settings: Iterable[tuple[str, Any]] = (),
    assignments: Iterable[str] = (),
    *,
    known_network: ModelConfig | None = None,
) -> TrainConfig:
    """The config of a run: a preset, what a file says, then single settings.

    `settings` are pairs of key and value, where `None` says nothing; `assignments` are texts such
    as `model.layers=2`. Where the network is known, as it is of a model that is trained further
    (`network_of`), settings of it may say what it is, and nothing else.

    >>> config = load_config(preset="tiny", settings=[("train", "a.mrg"), ("dev", "b.mrg")],
    ...                      assignments=["out=model", "lambda=0.2"])
    >>> config.lambda_
    0.2
    """
    table: dict[str, Any] = {}
    place = None
    if preset is not None:
        table = read_preset(preset)
        if known_network is not None:
            del table["model"]
    if file is not None:
        place = Place(file)
        _merge(table, read_toml(file))
    for key, value in settings:
        if value is not None:
            _set(table, tuple(key.split(".")), value)
    for text in assignments:
        _set(table, *parse_assignment(text))
    if known_network is not None:
        told = table.get("model", {})
        if isinstance(told, Mapping):
            _refuse_another_network(told, known_network, place)
            table["model"] = to_table(known_network)
    return config_of(table, place)


def network_of(start: str) -> ModelConfig:
    """The network of a model to go on from, of which nothing else is read."""
    # What reads models brings numpy, which settings alone do without.
    from treewright.scorer import kind_of, read_part

    if kind_of(start) != "checkpoint":
        raise CheckpointError("is no checkpoint, but a runtime model", Place(start))
    return read_part(Path(start) / model_config.FILE, ModelConfig.load_whole)


def _refuse_another_network(
    told: Mapping[str, Any], network: ModelConfig, place: Place | None
) -> None:
    """Refuse settings of a network that are not those of the one to go on from."""
    known = to_table(network)
    # What is wrong with a setting by itself goes before how it differs.
    from_table(ModelConfig, {**known, **told}, place, section="model")
    for key, own in known.items():
        said = told.get(key, own)
        same = said == own
        # A run's own record says where an encoder lay, and that there be as many heads as labels;
        # a checkpoint keeps the encoder's name, and how many heads that came to.
        if key == "encoder":
            same = own in (said, Path(said).resolve().name)
        elif key == "label_heads":
            same = said in (own, 0)
        if not same:
            message = f"'model.{key}' is {said!r}, but the model to go on from has {own!r}"
            raise SettingError(f"{message}: leave out 'model'", place)


def config_of(table: Mapping[str, Any], place: Place | None = None) -> TrainConfig:
    """A config from its table."""
    for key in table:
        if key in _OTHER_NAMES:
            raise SettingError(f"no setting {key!r}; did you mean {_OTHER_NAMES[key]!r}?", place)
        if key in _NETWORK:
            raise SettingError(f"no setting {key!r}; did you mean 'model.{key}'?", place)
    for key, what in (("train", "file of trees"), ("dev", "file of trees"), ("out", "directory")):
        if key not in table:
            raise SettingError(f"the setting {key!r} is missing: a {what}", place)
    return from_table(TrainConfig, table, place)


def read_preset(name: str) -> dict[str, Any]:
    """The table of a preset: the run's settings, and the network's as `model`."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise SettingError(f"no preset {name!r}; there are {known}{nearest(name, PRESETS)}")
    return {**PRESETS[name], "model": to_table(model_config.PRESETS[name])}


def _merge(table: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), dict):
            _merge(table[key], value)
        else:
            table[key] = value


def _set(table: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            raise SettingError(f"{'.'.join(path)!r}: {part!r} is no table")
        table = inner
    table[path[-1]] = value
