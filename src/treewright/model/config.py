"""The sizes of the network and what it is made of.

Owns `ModelConfig`, its contradictions and its presets. How the network is trained is no concern of
it (but for dropout, which is part of the network); see `treewright.training`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal

from treewright.errors import Place, SettingError
from treewright.files import atomic_write, name_of
from treewright.settings import from_table, nearest, read_toml, to_table, to_toml

#: Its file in a checkpoint
FILE = "model.toml"

#: The encoder that is learned from scratch, where others are named by a path or a hub's name.
CHARACTERS = "characters"


# Far above those of any network there is; what is larger cannot even be asked of the memory.
_LARGEST = 1 << 16


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What a network is made of.

    >>> ModelConfig(encoder="characters", layers=1).layers
    1
    >>> ModelConfig(model_size=255)
    Traceback (most recent call last):
    ...
    treewright.errors.SettingError: model_size is 255, which has no two halves
    """

    encoder: str = CHARACTERS
    """A pretrained encoder (a folder, or a name on the Hugging Face hub) or `characters`."""

    subwords: Literal["first", "last", "mean"] = "mean"
    """Which sub-words of a word make its vector."""

    layer_mix: bool = False
    """Whether words are a learned mix of all the encoder's layers rather than its last."""

    window: int = 0
    """Sub-words that the encoder reads at once; 0 for as many as it can."""

    overlap: int = 64
    """Sub-words that windows over a longer sentence share."""

    character_size: int = 128
    """Size of a character's vector, in an encoder of characters."""

    character_layers: int = 3
    """Convolutions over the characters of a sentence, in an encoder of characters."""

    character_width: int = 3
    """Characters that such a convolution sees at once; odd."""

    model_size: int = 512
    """Size of a word's vector in the self-attention; half of it is content, half position."""

    layers: int = 1
    """Partitioned self-attention layers."""

    heads: int = 8
    """Heads of each of them."""

    key_size: int = 64
    """Size of a head's queries, keys and values; half of it is content, half position."""

    feed_forward_size: int = 1024
    """Hidden size of the feed-forward after each self-attention."""

    label_attention: bool = True
    """Whether label attention follows the self-attention."""

    label_heads: int = 0
    """Heads of the label attention; 0 for one a label, nulls left out."""

    label_key_size: int = 64
    """Size of their queries, keys and values; half of it is content, half position."""

    label_output_size: int = 16
    """Size of what each of them says of a word; half of it looks forward, half backward."""

    label_feed_forward_size: int = 256
    """Hidden size of the feed-forward after the label attention; 0 for none."""

    scorer_size: int = 250
    """Hidden size of the span scorer."""

    null: Literal["zero", "learned"] = "zero"
    """Whether `@`, and `$` where it names no child, score 0 or as learned."""

    tagger_size: int = 128
    """Hidden size of the tagger; 0 for none."""

    dropout: float = 0.2
    """Share of numbers left out, in training, where layers add up and inside feed-forwards."""

    attention_dropout: float = 0.2
    """Share of attention left out in training."""

    def __post_init__(self) -> None:
        if not self.encoder:
            raise SettingError("encoder is empty; without a pretrained one, say 'characters'")
        halved = ("model_size", "key_size", "label_key_size", "label_output_size")
        for name in halved:
            if getattr(self, name) < 2 or getattr(self, name) % 2:
                raise SettingError(f"{name} is {getattr(self, name)}, which has no two halves")
        positive = (
            *("heads", "feed_forward_size", "scorer_size"),
            *("character_size", "character_width"),
        )
        for name in positive:
            if getattr(self, name) < 1:
                raise SettingError(f"{name} is {getattr(self, name)}; it is 1 or more")
        counts = (
            *("layers", "label_heads", "label_feed_forward_size", "tagger_size"),
            "character_layers",
        )
        for name in (*counts, "window", "overlap"):
            if getattr(self, name) < 0:
                raise SettingError(f"{name} is {getattr(self, name)}; it is 0 or more")
        for name in (*halved, *positive, *counts):
            if getattr(self, name) > _LARGEST:
                raise SettingError(f"{name} is {getattr(self, name)}; it is {_LARGEST} at most")
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingError(f"{name} is {getattr(self, name)}; it is from 0 to below 1")
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        if self.window and self.overlap >= self.window:
            raise SettingError(f"windows of {self.window} cannot overlap by {self.overlap}")
        if not self.character_width % 2:
            raise SettingError(f"character_width is {self.character_width}; it is odd")
        if self.layer_mix and self.encoder == CHARACTERS:
            raise SettingError("layer_mix is for pretrained encoders; characters have one layer")
        if self.label_heads and not self.label_attention:
            raise SettingError(f"label_heads is {self.label_heads} without label attention")

    @property
    def reads_characters(self) -> bool:
        """Whether the encoder is the one of characters."""
        return self.encoder == CHARACTERS

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ModelConfig:
        """Read a file that `save` wrote, or a person."""
        return from_table(cls, read_toml(path), Place(name_of(path)))

    @classmethod
    def load_whole(cls, path: str | PathLike[str]) -> ModelConfig:
        """Read a file that `save` wrote beside weights.

        All settings are there: a default may have been another when the weights were made.
        """
        if missing := [name for name in to_table(cls()) if name not in read_toml(path)]:
            raise SettingError(f"the setting {missing[0]!r} is missing", Place(name_of(path)))
        return cls.load(path)

    def save(self, path: str | PathLike[str]) -> None:
        """Write all settings as TOML."""
        with atomic_write(path) as handle:
            handle.write(to_toml(to_table(self)))


#: The paper's, for the Penn Treebank: BERT-large, twelve layers, a head a label.
_PAPER_EN = ModelConfig(
    encoder="bert-large-uncased",
    subwords="last",
    model_size=1024,
    layers=12,
    heads=8,
    key_size=128,
    feed_forward_size=2048,
    label_key_size=128,
    label_output_size=128,
    label_feed_forward_size=2048,
    tagger_size=256,
)

PRESETS = MappingProxyType(
    {
        "paper-en": _PAPER_EN,
        "paper-zh": replace(_PAPER_EN, encoder="bert-base-chinese"),
        # Label attention cost this one F1 on dev, and more out of domain: see experiments/small.
        "small": ModelConfig(
            encoder="sentence-transformers/all-MiniLM-L6-v2", layers=2, label_attention=False
        ),
        "tiny": ModelConfig(
            model_size=256,
            heads=4,
            key_size=64,
            feed_forward_size=256,
            label_key_size=32,
            label_output_size=8,
            label_feed_forward_size=128,
            scorer_size=128,
            tagger_size=64,
        ),
    }
)


def preset(name: str, **changes: Any) -> ModelConfig:
    """A preset by its name, some settings changed."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise SettingError(f"no preset {name!r}; there are {known}{nearest(name, PRESETS)}")
    return replace(PRESETS[name], **changes)
