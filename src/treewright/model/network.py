"""The network: an encoder, partitioned self-attention, label attention, a span scorer, a tagger.

Owns how the parts are put together, and the way training uses them cheaply: `encode` once, `chart`
without gradients for the decoders, `span_scores` with gradients for the few spans that matter.
Nothing random comes after `encode`, so both agree.

    T  tokens, packed     F  fenceposts, packed     C  cells of all sentences     L  columns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from treewright.charts import cell_spans
from treewright.model.attention import Halves, PartitionedLayer, WordPositions
from treewright.model.config import ModelConfig
from treewright.model.dropout import Dropout
from treewright.model.encoder import WordEncoder
from treewright.model.features import Features
from treewright.model.label_attention import LabelAttention
from treewright.model.span_scorer import SpanScorer
from treewright.trees.symbols import is_null


@dataclass(frozen=True)
class Encoded:
    """Sentences read: all that is needed to score any of their spans."""

    fenceposts: torch.Tensor
    """`(F, H)`: the n + 1 fenceposts of every sentence, projected, packed."""

    tag_logits: torch.Tensor | None
    """`(words, tags)`: packed; None without a tagger."""

    lengths: tuple[int, ...]
    """The words of each sentence."""


class Output(NamedTuple):
    """Everything at once, for those who do not mind a gradient through all cells."""

    rows: torch.Tensor
    """`(C, L)`: packed charts, sentences one below the other."""

    tag_logits: torch.Tensor | None
    """`(words, tags)`."""


class Network(nn.Module):
    """Features to charts."""

    def __init__(
        self,
        config: ModelConfig,
        encoder: WordEncoder,
        labels: Sequence[str],
        tags: Sequence[str],
    ) -> None:
        super().__init__()
        if config.label_attention and not config.label_heads:
            real = sum(not is_null(label) for label in labels)
            config = replace(config, label_heads=max(1, real))
        self.config = config
        self.labels = tuple(labels)
        self.tags = tuple(tags)
        half = config.model_size // 2
        self.encoder = encoder
        self.content = nn.Linear(encoder.size, half)
        self.content_norm = nn.LayerNorm(half)
        self.edges = nn.Parameter(torch.zeros(2, half))  # added to start and stop
        self.positions = WordPositions(half)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(PartitionedLayer(config) for _ in range(config.layers))
        self.label_attention = _label_attention(config)
        self.scorer = _scorer(config, self.labels)
        self.tagger = _tagger(config, len(self.tags))

    # What training and scoring ask

    def encode(self, features: Features) -> Encoded:
        """Read sentences."""
        with _attention_kernels(self.edges.device):
            x = self.embed(features)
            for layer in self.layers:
                x = layer(x, features)
        if self.label_attention is None:
            said = torch.stack(x, dim=1)  # content and position, each as a head
        else:
            said = self.label_attention(x, features)
        logits = None
        if self.tagger is not None:
            logits = self.tagger(x.content.index_select(0, features.words))
        return Encoded(self.scorer.fenceposts(said, features), logits, features.lengths)

    def chart(self, encoded: Encoded) -> torch.Tensor:
        """All cells of all sentences, `(C, L)`, in the packed order of `treewright.charts`."""
        begins, ends = _cells(encoded.lengths)
        device = encoded.fenceposts.device
        return self.scorer.rows_of(encoded.fenceposts, begins.to(device), ends.to(device))

    def span_scores(
        self,
        encoded: Encoded,
        sentences: torch.Tensor,
        begins: torch.Tensor,
        ends: torch.Tensor,
        columns: torch.Tensor,
    ) -> torch.Tensor:
        """The scores of some spans, given by sentence, begin, end and column: `(S,)`."""
        before = _posts_before(encoded.lengths)
        posts = torch.from_numpy(before[:-1]).to(sentences.device).index_select(0, sentences)
        return self.scorer.scores_of(encoded.fenceposts, posts + begins, posts + ends, columns)

    def forward(self, features: Features) -> Output:
        """Charts and tags of sentences."""
        encoded = self.encode(features)
        return Output(self.chart(encoded), encoded.tag_logits)

    def embed(self, features: Features) -> Halves:
        """Content and position of tokens, as the first layer takes them."""
        content = self.content_norm(self.content(self.encoder(features)))
        starts = features.positions == 0
        stops = starts.roll(-1)
        content = content + starts.unsqueeze(1) * self.edges[0] + stops.unsqueeze(1) * self.edges[1]
        position = self.positions(features.positions, features.real.shape[1])
        return Halves(self.dropout(content), self.dropout(position))

    # What fine-tuning asks

    def encoder_parameters(self) -> Iterator[nn.Parameter]:
        """The parameters of the encoder."""
        return self.encoder.parameters()

    def top_parameters(self) -> Iterator[nn.Parameter]:
        """All other parameters."""
        encoders = {id(parameter) for parameter in self.encoder.parameters()}
        return (parameter for parameter in self.parameters() if id(parameter) not in encoders)

    def extended(self, labels: Sequence[str], tags: Sequence[str]) -> Network:
        """A network of other labels and tags; what it has of the old ones it knows already.

        The encoder is shared with the old network. Heads of the label attention stay as many as
        they were.
        """
        new = Network(self.config, self.encoder, labels, tags)
        new.to(self.edges.device, self.edges.dtype)
        state = dict(self.state_dict())
        own = new.state_dict()
        _carry(own, state, "scorer.output", self.scorer.scored, new.scorer.scored)
        if self.tagger is not None:
            _carry(own, state, f"tagger.{len(self.tagger) - 1}", self.tags, new.tags)
        new.load_state_dict(state)
        return new.train(self.training)


def _attention_kernels(device: torch.device) -> AbstractContextManager[None]:
    """Which of torch's kernels for attention may be used.

    cuDNN's makes a plan for every new shape, and batches of sentences seldom share one: on an H200
    steps of training took more than three times as long.
    """
    if device.type != "cuda":
        return nullcontext()
    kernels: AbstractContextManager[None] = sdpa_kernel(
        [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    )
    return kernels


def _label_attention(config: ModelConfig) -> LabelAttention | None:
    if not config.label_attention:
        return None
    return LabelAttention(
        half=config.model_size // 2,
        heads=config.label_heads,
        key_half=config.label_key_size // 2,
        output_size=config.label_output_size,
        feed_forward_size=config.label_feed_forward_size,
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
    )


def _scorer(config: ModelConfig, labels: Sequence[str]) -> SpanScorer:
    return SpanScorer(
        heads=config.label_heads if config.label_attention else 2,
        output_size=config.label_output_size if config.label_attention else config.model_size // 2,
        hidden=config.scorer_size,
        labels=labels,
        null=config.null,
    )


def _tagger(config: ModelConfig, tags: int) -> nn.Sequential | None:
    if not config.tagger_size or not tags:
        return None
    return nn.Sequential(
        nn.Linear(config.model_size // 2, config.tagger_size),
        nn.LayerNorm(config.tagger_size),
        nn.ReLU(),
        nn.Linear(config.tagger_size, tags),
    )


def _posts_before(lengths: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The fenceposts before each sentence, and all of them: `(B + 1,)`."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64) + 1)])


def _cells(lengths: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The fenceposts where all cells begin and end, `(C,)` each."""
    before = _posts_before(lengths)
    spans = [cell_spans(n) for n in lengths]
    begins = np.concatenate([begin + at for (begin, _), at in zip(spans, before, strict=False)])
    ends = np.concatenate([end + at for (_, end), at in zip(spans, before, strict=False)])
    return torch.from_numpy(begins), torch.from_numpy(ends)


def _carry(
    own: dict[str, torch.Tensor],
    state: dict[str, torch.Tensor],
    name: str,
    old: Sequence[str],
    new: Sequence[str],
) -> None:
    """Put into `state` the rows of `own`, and in place of them those that the old network knows."""
    place = {symbol: row for row, symbol in enumerate(old)}
    for part in ("weight", "bias"):
        rows = own[f"{name}.{part}"].clone()
        for row, symbol in enumerate(new):
            if symbol in place:
                rows[row] = state[f"{name}.{part}"][place[symbol]]
        state[f"{name}.{part}"] = rows
