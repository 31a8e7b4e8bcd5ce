"""New networks, and old ones rebuilt without their weights.

Owns which encoder a config means, and where its tokenizer comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treewright.model.characters import CharacterEncoder, character_tokenizer
from treewright.model.config import ModelConfig
from treewright.model.encoder import PretrainedEncoder, WordEncoder, pretrained_tokenizer
from treewright.model.features import FeatureMaker
from treewright.model.network import Network
from treewright.text.subwords import SubwordTokenizer


def new(
    config: ModelConfig,
    labels: Sequence[str],
    tags: Sequence[str],
    sentences: Iterable[Sequence[str]] = (),
) -> tuple[Network, SubwordTokenizer]:
    """A network to be trained, and its tokenizer.

    A pretrained encoder is loaded with its weights. One of characters is made anew, to know the
    characters of `sentences`.
    """
    encoder: WordEncoder
    if config.reads_characters:
        tokenizer = character_tokenizer(sentences)
        encoder = CharacterEncoder(tokenizer.vocab_size, config)
    else:
        tokenizer = pretrained_tokenizer(config.encoder)
        encoder = PretrainedEncoder.from_pretrained(
            config.encoder, pooling=config.subwords, layer_mix=config.layer_mix
        )
    return Network(config, encoder, labels, tags), tokenizer


def rebuild(
    config: ModelConfig,
    labels: Sequence[str],
    tags: Sequence[str],
    tokenizer: SubwordTokenizer,
    description: Mapping[str, Any] | None,
) -> Network:
    """A network whose weights are at random, to be filled from a file.

    `description` is that of a pretrained encoder, None for one of characters.
    """
    encoder: WordEncoder
    if description is None:
        encoder = CharacterEncoder(tokenizer.vocab_size, config)
    else:
        encoder = PretrainedEncoder.from_description(
            description, pooling=config.subwords, layer_mix=config.layer_mix
        )
    return Network(config, encoder, labels, tags)


def feature_maker(network: Network, tokenizer: SubwordTokenizer) -> FeatureMaker:
    """What makes features of sentences for a network."""
    config = network.config
    window = network.encoder.window
    if config.window:
        window = min(window, config.window)
    return FeatureMaker(tokenizer, window=window, overlap=config.overlap)
