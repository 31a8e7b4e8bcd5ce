"""Sentences scored by a network on any device of torch's.

Owns batching for scoring: sentences of like numbers of sub-words together, answers in the order in
which the sentences came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from treewright.charts import cell_count
from treewright.model.build import feature_maker
from treewright.model.network import Network
from treewright.scorer import Description, Scores
from treewright.text.subwords import Subwords, SubwordTokenizer


class TorchScorer:
    """A `Scorer` over a `Network`.

    Args:
        network: is put on the device, and into its mode for evaluation.
        tokenizer: the network's own.
        description: what the charts mean; its labels and tags are the network's.
        device: where to compute; the charts are left there.
        bf16: whether everything up to the fenceposts may be computed in bfloat16.
        batch_subwords: sub-words that a batch holds at most, padding included.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: SubwordTokenizer,
        description: Description,
        *,
        device: torch.device | str = "cpu",
        bf16: bool = False,
        batch_subwords: int = 4096,
    ) -> None:
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()
        self.tokenizer = tokenizer
        self.features = feature_maker(network, tokenizer)
        self.bf16 = bf16
        self.batch_subwords = batch_subwords
        self._description = description

    @property
    def description(self) -> Description:
        """What the charts mean."""
        return self._description

    @torch.inference_mode()
    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        """The charts and tags of sentences of one word or more each; charts are float32 tensors."""
        tokenized = self.features.tokenize(sentences)
        lengths = np.array([len(subwords.first) for subwords in tokenized], dtype=np.int64)
        charts: list[torch.Tensor] = [torch.empty(0)] * len(tokenized)
        tags: list[torch.Tensor] = [torch.empty(0)] * len(tokenized)
        for batch in batches(tokenized, self.batch_subwords):
            rows, best = self._score([tokenized[b] for b in batch])
            words = [int(lengths[b]) for b in batch]
            cells = [cell_count(n) for n in words]
            for b, chart in zip(batch, torch.split_with_sizes(rows, cells), strict=True):
                charts[b] = chart
            for b, tag in zip(batch, torch.split_with_sizes(best, words), strict=True):
                tags[b] = tag
        if not charts:
            empty = torch.empty(0, len(self.description.labels), device=self.device)
            return Scores(empty, lengths, lengths)
        return Scores(torch.cat(charts), lengths, torch.cat(tags).numpy())

    def _score(self, sentences: Sequence[Subwords]) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.features.collate(sentences).to(self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            encoded = self.network.encode(features)
        rows = self.network.chart(encoded).float()
        if encoded.tag_logits is None:
            return rows, torch.zeros(len(features.words), dtype=torch.int64)
        return rows, encoded.tag_logits.argmax(-1).cpu()


def batches(sentences: Sequence[Subwords], most: int) -> Iterator[list[int]]:
    """Sentences by number, the shortest together first, padded sub-words of a batch up to `most`.

    >>> short, long = Subwords([0, 1, 2], [1], [1]), Subwords([0, 1, 1, 1, 2], [1], [3])
    >>> list(batches([long, short, short], most=6))
    [[1, 2], [0]]
    """
    order = sorted(range(len(sentences)), key=lambda b: len(sentences[b].ids))
    batch: list[int] = []
    for b in order:
        if batch and len(sentences[b].ids) * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(b)
    if batch:
        yield batch
