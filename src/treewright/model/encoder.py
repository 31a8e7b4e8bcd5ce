"""Encoders: sub-words in, one vector a token out.

Owns what the network asks of an encoder (`WordEncoder`), and `PretrainedEncoder`, which is any
model of Hugging Face's that has a fast tokenizer. The one learned from scratch has a file of its
own, `characters`.

    W  windows    S  sub-words of the longest    T  tokens, packed    d  size of the encoder
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from treewright.errors import InputError, Place, SettingError
from treewright.model.dropout import quicken
from treewright.model.features import Features
from treewright.text.subwords import SubwordTokenizer

Pooling = Literal["first", "last", "mean"]

#: What encoders without positions of their own, which could read any length, read at once.
UNBOUNDED_WINDOW = 512


class WordEncoder(nn.Module, ABC):
    """Makes a vector of every token: start, the words of a sentence, stop."""

    size: int
    """Size of the vectors."""

    window: int
    """Sub-words that it can read at once, special ones in it."""

    @abstractmethod
    def forward(self, features: Features) -> torch.Tensor:
        """The vectors, `(T, d)`."""


def pool(vectors: torch.Tensor, features: Features, how: Pooling) -> torch.Tensor:
    """Vectors of tokens from those of sub-words: `(W, S, d)` to `(T, d)`."""
    flat = vectors.flatten(0, 1)
    if how == "first":
        return flat.index_select(0, features.first)
    if how == "last":
        return flat.index_select(0, features.last)
    sums = flat.new_zeros(len(features.first), flat.shape[1])
    sums = sums.index_add(0, features.owners, flat.index_select(0, features.pieces))
    counts = (features.last - features.first + 1).unsqueeze(1)
    return sums / counts.to(sums.dtype)


class LayerMix(nn.Module):
    """One vector of all the layers' by learned weights, as ELMo does: `(K, ...)` to `(...)`."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """The mix, equal shares at first."""
        shares = self.scale * self.weights.softmax(0)
        mixed = shares[0] * layers[0]
        for share, layer in zip(shares[1:], layers[1:], strict=True):
            mixed = mixed + share * layer
        return mixed


class PretrainedEncoder(WordEncoder):
    """A model of Hugging Face's, its head cut off."""

    def __init__(self, model: nn.Module, *, pooling: Pooling, layer_mix: bool) -> None:
        super().__init__()
        config: Any = model.config
        if config.is_encoder_decoder:
            model = model.get_encoder()  # type: ignore[operator]
        if getattr(model, "pooler", None) is not None:
            model.pooler = None  # type: ignore[assignment]  # of no use, and without a gradient
        quicken(model)
        self.model = model
        self.pooling: Pooling = pooling
        self.size = int(config.hidden_size)
        self.window = _window_of(model)
        self.mix = LayerMix(int(config.num_hidden_layers) + 1) if layer_mix else None

    @classmethod
    def from_pretrained(cls, name: str, *, pooling: Pooling, layer_mix: bool) -> PretrainedEncoder:
        """Load config and weights from a folder, or by a name on the hub."""
        import transformers

        with _quiet(), _placed(name):
            model = transformers.AutoModel.from_pretrained(name)
        # Some are kept in half precision; training wants all there is
        return cls(model.float(), pooling=pooling, layer_mix=layer_mix)

    @classmethod
    def from_description(
        cls, description: Mapping[str, Any], *, pooling: Pooling, layer_mix: bool
    ) -> PretrainedEncoder:
        """Build what `description` says, its weights at random: a checkpoint fills them in."""
        import transformers

        with _quiet():
            config = transformers.AutoConfig.for_model(**description)
            auto: Any = transformers.AutoModel
            model = auto.from_config(config)
        return cls(model.float(), pooling=pooling, layer_mix=layer_mix)

    @property
    def description(self) -> dict[str, Any]:
        """The model's config: all that is needed to build it anew, without its weights."""
        config: Any = self.model.config
        found: dict[str, Any] = json.loads(config.to_json_string(use_diff=False))
        # Where it was loaded from is a place on one machine
        return {key: value for key, value in found.items() if key != "_name_or_path"}

    def forward(self, features: Features) -> torch.Tensor:
        """The vectors, `(T, d)`."""
        output = self.model(
            input_ids=features.ids,
            attention_mask=features.mask,
            output_hidden_states=self.mix is not None,
        )
        if self.mix is None:
            return pool(output.last_hidden_state, features, self.pooling)
        return pool(self.mix(output.hidden_states), features, self.pooling)


def pretrained_tokenizer(name: str) -> SubwordTokenizer:
    """The fast tokenizer of an encoder, from its folder or by its name on the hub."""
    file = Path(name) / "tokenizer.json"
    if file.exists():
        return SubwordTokenizer.from_file(file)
    import transformers

    with _quiet(), _placed(name):
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    if not tokenizer.is_fast:
        raise SettingError(f"the encoder {name!r} has no fast tokenizer")
    return SubwordTokenizer.from_tokenizer(tokenizer.backend_tokenizer)


def _window_of(model: nn.Module) -> int:
    """How many sub-words a model's positions are for.

    RoBERTa and its kind begin counting after the number of the padding token.
    """
    config: Any = model.config
    positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return UNBOUNDED_WINDOW
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            used = 0 if module.padding_idx is None else module.padding_idx + 1
            return min(positions, module.num_embeddings) - used
    return positions


@contextmanager
def _placed(name: str) -> Iterator[None]:
    """What the library says of an encoder that it cannot load, as an error of ours."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(f"no encoder can be loaded: {reason}", Place(name)) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """No reports of weights that are left out, no bars of progress."""
    import transformers

    logging: Any = transformers.utils.logging
    verbosity = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
