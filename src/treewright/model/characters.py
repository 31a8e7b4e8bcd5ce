"""An encoder of characters, learned from scratch: for languages and tests without a pretrained one.

Owns `CharacterEncoder` and the tokenizer whose sub-words are characters, so that everything else
(features, windows, files) is as with any other encoder.

Convolutions read the characters of the whole sentence, words marked by where they begin and end; a
word is the largest value of each of its characters' numbers. Padding is set to zero before each
convolution, which is what lies beyond the ends of a sentence anyhow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from torch import nn

from treewright.model.config import ModelConfig
from treewright.model.dropout import Dropout
from treewright.model.encoder import WordEncoder
from treewright.model.features import Features
from treewright.text.penn import unescape
from treewright.text.subwords import SubwordTokenizer

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")

#: Convolutions have no longest sentence; this only keeps numbers finite.
_WINDOW = 1 << 20


def character_tokenizer(sentences: Iterable[Sequence[str]], min_count: int = 2) -> SubwordTokenizer:
    """A tokenizer whose sub-words are the characters of some sentences.

    Those seen less than `min_count` times are left out, so that training learns what an unknown
    character is like.
    """
    counts: Counter[str] = Counter()
    for words in sentences:
        for word in words:
            counts.update(unescape(word))
    known = [*_SPECIAL, *sorted(c for c, count in counts.items() if count >= min_count)]
    vocabulary = {token: number for number, token in enumerate(known)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(t, vocabulary[t]) for t in ("[CLS]", "[SEP]")]
    )
    return SubwordTokenizer.from_tokenizer(tokenizer)


class CharacterEncoder(WordEncoder):
    """Characters to vectors of tokens."""

    def __init__(self, vocab_size: int, config: ModelConfig) -> None:
        super().__init__()
        self.size = config.character_size
        self.window = _WINDOW
        self.characters = nn.Embedding(vocab_size, self.size)
        self.edges = nn.Embedding(4, self.size)  # inside a word, at its begin, at its end, at both
        self.layers = nn.ModuleList(
            _Convolution(self.size, config.character_width, config.dropout)
            for _ in range(config.character_layers)
        )
        self.dropout = Dropout(config.dropout)
        nn.init.normal_(self.characters.weight, std=self.size**-0.5)
        nn.init.normal_(self.edges.weight, std=self.size**-0.5)

    def forward(self, features: Features) -> torch.Tensor:
        """The vectors, `(T, d)`."""
        edges = torch.zeros_like(features.ids).flatten()
        edges = edges.index_fill(0, features.first, 1)
        edges = edges.index_add(0, features.last, torch.full_like(features.last, 2))
        x = self.characters(features.ids) + self.edges(edges.view_as(features.ids))
        real = features.mask.unsqueeze(-1).to(x.dtype)
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, real)
        pieces = x.flatten(0, 1).index_select(0, features.pieces)
        owners = features.owners.unsqueeze(1).expand_as(pieces)
        lowest = pieces.new_full((len(features.first), self.size), float("-inf"))
        words: torch.Tensor = lowest.scatter_reduce(0, owners, pieces, "amax")
        return words


class _Convolution(nn.Module):
    """`x + conv(norm(x))`, each character's neighbours mixed in."""

    def __init__(self, size: int, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.convolution = nn.Conv1d(size, 2 * size, width, padding=width // 2)
        self.dropout = Dropout(dropout)

    def forward(self, x: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """`(W, S, d)` to the same; `real` is 0 where padding is, `(W, S, 1)`."""
        y = (self.norm(x) * real).transpose(1, 2)
        y = nn.functional.glu(self.convolution(y), dim=1).transpose(1, 2)
        mixed: torch.Tensor = x + self.dropout(y)
        return mixed
