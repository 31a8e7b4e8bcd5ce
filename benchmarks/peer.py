"""The peer's pipeline, rebuilt from library parts: what benepar does between words and trees.

Owns the baseline for speed, of parsing and of training: MiniLM through transformers, a word a
vector (its last sub-word), benepar's head (two layers of partitioned attention, a label for every
span of a padded chart), batches of sentences of like length that hold up to so many sub-words,
decoding by torch-struct (`torch_struct_baseline`), trees of nltk. In training the score of the
worst offender is torch-struct's, and the gradient runs through its chart. The weights of the head
are random, since time is all that is wanted of it; nulls are made to win nearly everywhere, so that
trees cost it less than they would. Written after benepar 0.2's documentation and behaviour; none of
its code is here, and tokenising and padding are simpler than its own, which again is to its
advantage; so is that its head drops nothing out in training.

As a program it parses one sentence: `python benchmarks/peer.py ENCODER N_LABELS WORD...`

    B  sentences    N  words of the longest, and T two more, for start and stop    S  sub-words
    H  heads, a key size of `key_size` each    M  size of a word's vector    L  labels, null first
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import nltk
import numpy as np
import numpy.typing as npt
import torch
import torch_struct_baseline
from torch import nn
from transformers import AutoModel, AutoTokenizer

from treewright.text.penn import unescape
from treewright.trees import Tree
from treewright.trees.binarize import derivation
from treewright.trees.symbols import is_null

MOST_SUBWORDS = 500  # of a batch, padding included: benepar's own default
MOST_SUBWORDS_TRAINING = 2000
_MOST_WORDS = 512


class Sizes(NamedTuple):
    """Sizes of the head, as benepar's English models have them."""

    model_size: int = 1024
    layers: int = 2
    heads: int = 8
    key_size: int = 64
    inner_size: int = 2048
    hidden_size: int = 250


class Halves(nn.Module):
    """Two linear maps, of the content half of a vector and of its position half."""

    def __init__(self, size_in: int, size_out: int) -> None:
        super().__init__()
        self.content = nn.Linear(size_in // 2, size_out // 2)
        self.position = nn.Linear(size_in // 2, size_out // 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """`(B, T, in)` to `(B, T, out)`."""
        content, position = x.chunk(2, dim=-1)
        return torch.cat([self.content(content), self.position(position)], dim=-1)


class Attention(nn.Module):
    """Self-attention in which content and position meet in the weights alone."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        half, key = sizes.model_size // 2, sizes.key_size // 2
        self.scale = sizes.key_size**-0.5
        self.into = nn.ParameterList(
            nn.Parameter(0.02 * torch.randn(sizes.heads, half, 3, key)) for _ in range(2)
        )
        self.out = nn.ParameterList(
            nn.Parameter(0.02 * torch.randn(sizes.heads, key, half)) for _ in range(2)
        )

    def forward(self, x: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
        """`(B, T, M)` to the same; only `valid` tokens, `(B, T)`, are attended to."""
        halves = [
            torch.einsum("btm,hmck->cbhtk", part, weight)
            for part, weight in zip(x.chunk(2, dim=-1), self.into, strict=True)
        ]
        query, key, value = torch.cat(halves, dim=-1)
        dots = torch.einsum("bhqk,bhtk->bhqt", query * self.scale, key)
        dots = dots.masked_fill(~valid[:, None, None], -torch.inf)
        found = torch.einsum("bhqt,bhtk->bhqk", dots.softmax(-1), value)
        return torch.cat(
            [
                torch.einsum("bhtk,hkm->btm", part, weight)
                for part, weight in zip(found.chunk(2, dim=-1), self.out, strict=True)
            ],
            dim=-1,
        )


class Layer(nn.Module):
    """Attention and a feed-forward, each with a residual and a norm behind it."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = Attention(sizes)
        self.attended = nn.LayerNorm(sizes.model_size)
        self.up = Halves(sizes.model_size, sizes.inner_size)
        self.down = Halves(sizes.inner_size, sizes.model_size)
        self.fed = nn.LayerNorm(sizes.model_size)

    def forward(self, x: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
        """`(B, T, M)` to the same."""
        x = self.attended(x + self.attention(x, valid))
        return self.fed(x + self.down(self.up(x).relu()))


class Head(nn.Module):
    """Vectors of words to scores of spans and tags."""

    def __init__(self, encoder_size: int, n_labels: int, n_tags: int, sizes: Sizes) -> None:
        super().__init__()
        half = sizes.model_size // 2
        self.half = half
        self.project = nn.Linear(encoder_size, half, bias=False)
        self.positions = nn.Parameter(torch.randn(_MOST_WORDS, half))
        self.norm = nn.LayerNorm(sizes.model_size)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.labels = self._classifier(n_labels - 1, sizes)
        self.tags = self._classifier(n_tags, sizes)
        with torch.no_grad():
            last: nn.Linear = self.labels[-1]  # type: ignore[assignment]
            last.bias -= 10.0

    @staticmethod
    def _classifier(n_classes: int, sizes: Sizes) -> nn.Sequential:
        return nn.Sequential(
            nn.Linear(sizes.model_size, sizes.hidden_size),
            nn.LayerNorm(sizes.hidden_size),
            nn.ReLU(),
            nn.Linear(sizes.hidden_size, n_classes),
        )

    def forward(
        self, words: torch.Tensor, valid: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`(B, T, encoder size)` to charts `(B, N, N, L)`, ends inside, and tags `(B, T, tags)`."""
        positions = self.positions[: words.shape[1]].expand(len(words), -1, -1)
        x = self.norm(torch.cat([self.project(words), positions], dim=-1))
        for layer in self.layers:
            x = layer(x, valid)
        # Every other number, so that a fencepost has content and position of both its tokens.
        x = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
        fenceposts = torch.cat([x[:, :-1, : self.half], x[:, 1:, self.half :]], dim=-1)
        spans = (fenceposts[:, None] - fenceposts[:, :, None])[:, :-1, 1:]
        real = self.labels(spans)
        return torch.cat([real.new_zeros(*real.shape[:-1], 1), real], dim=-1), self.tags(x)


class Peer:
    """Words in, trees of nltk out."""

    def __init__(
        self,
        encoder: str | Path,
        n_labels: int,
        n_tags: int = 48,
        sizes: Sizes | None = None,
        most_subwords: int = MOST_SUBWORDS,
    ) -> None:
        torch.manual_seed(777)
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.encoder = AutoModel.from_pretrained(encoder, dtype=torch.float32).eval()
        size = self.encoder.config.hidden_size
        self.head = Head(size, n_labels, n_tags, sizes or Sizes()).eval()
        self.most_subwords = most_subwords

    @torch.no_grad()  # not inference_mode: torch-struct finds trees by a gradient
    def parse(self, sentences: Sequence[Sequence[str]]) -> list[nltk.Tree]:
        """The trees of some sentences, in their order."""
        encoded = [self.encode(words) for words in sentences]
        trees: list[nltk.Tree] = [None] * len(encoded)
        for batch in batches([len(ids) for ids, _ in encoded], self.most_subwords):
            found = self._parse([encoded[b] for b in batch])
            for b, (chart, tags) in zip(batch, found, strict=True):
                trees[b] = tree_of(chart, sentences[b], tags)
        return trees

    def encode(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Sub-words, and of start, every word and stop the last one: `(S,)` and `(T,)`."""
        written = [unescape(word) for word in words]
        encoding = self.tokenizer(" ".join(written), return_offsets_mapping=True)
        ids, offsets = encoding["input_ids"], encoding["offset_mapping"]
        ends = np.cumsum([len(word) + 1 for word in written]) - 1
        last, at = [0], 1
        for end in ends.tolist():
            while at + 1 < len(ids) - 1 and offsets[at + 1][1] <= end:
                at += 1
            last.append(at)
        return ids, [*last, len(ids) - 1]

    def _parse(
        self, encoded: Sequence[tuple[list[int], list[int]]]
    ) -> Iterator[tuple[npt.NDArray[np.int64], list[int]]]:
        """Of a batch of sentences each its chart of labels, `(n, n)`, and its tags."""
        charts, tags, lengths = self.scores(encoded)
        best = tags.argmax(-1).tolist()
        decoded = torch_struct_baseline.decode(charts, lengths)
        for chart, row, n in zip(decoded, best, lengths.tolist(), strict=True):
            yield chart, row[1 : n + 1]

    def scores(
        self, encoded: Sequence[tuple[list[int], list[int]]]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Of a batch the charts `(B, N, N, L)`, scores of tags `(B, T, tags)`, lengths `(B,)`."""
        subwords = [torch.tensor(ids) for ids, _ in encoded]
        ids = nn.utils.rnn.pad_sequence(subwords, batch_first=True)
        mask = nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in subwords], True)
        last = nn.utils.rnn.pad_sequence(
            [torch.tensor(one) for _, one in encoded], batch_first=True, padding_value=-1
        )
        valid = last >= 0
        vectors = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        words = vectors[torch.arange(len(ids))[:, None], last.clamp(min=0)] * valid[..., None]
        charts, tags = self.head(words, valid)
        return charts, tags, valid.sum(-1) - 2


class Lessons:
    """The peer's training: trees prepared once, then a step a batch of them.

    Args:
        peer: learns.
        trees: normalised; sentences are named by their number among them.
        rate: the one rate of Adam, for encoder and head.
        bf16: whether the network's products are in bfloat16.
    """

    def __init__(
        self, peer: Peer, trees: Sequence[Tree], *, rate: float = 2e-4, bf16: bool = False
    ) -> None:
        self.peer = peer
        self.bf16 = bf16
        constituents = [
            [span for span in derivation(tree) if not is_null(span.label)] for tree in trees
        ]
        self.labels = sorted({span.label for spans in constituents for span in spans})
        self.tags = sorted({tag for tree in trees for tag in tree.tags()})
        number = {label: at for at, label in enumerate(self.labels, 1)}
        self.gold = [[(i, j - 1, number[label]) for i, j, label in one] for one in constituents]
        self.gold_tags = [[self.tags.index(tag) for tag in tree.tags()] for tree in trees]
        self.encoded = [peer.encode(tree.words()) for tree in trees]
        self.parameters = [*peer.encoder.parameters(), *peer.head.parameters()]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=rate, betas=(0.9, 0.98))

    def step(self, sentences: Sequence[int]) -> float:
        """Learn from a batch, in parts of so many sub-words; its loss a sentence."""
        self.peer.encoder.train()
        self.peer.head.train()
        total = 0.0
        sizes = [len(self.encoded[at][0]) for at in sentences]
        for part in batches(sizes, MOST_SUBWORDS_TRAINING):
            loss = self._loss([sentences[b] for b in part]) / len(sentences)
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return total

    def _loss(self, sentences: Sequence[int]) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            charts, tags, lengths = self.peer.scores([self.encoded[at] for at in sentences])
        charts, tags = charts.float(), tags.float()
        gold = torch.zeros(charts.shape[:3], dtype=torch.int64)
        gold_tags = torch.full(tags.shape[:2], -1)
        for b, sentence in enumerate(sentences):
            begins, ends, labels = torch.tensor(self.gold[sentence]).T
            gold[b, begins, ends] = labels
            of_words = self.gold_tags[sentence]
            gold_tags[b, 1 : len(of_words) + 1] = torch.tensor(of_words)
        hinges = torch_struct_baseline.hinges(charts, lengths, gold)
        tag_loss = nn.functional.cross_entropy(
            tags.flatten(0, 1), gold_tags.flatten(), ignore_index=-1, reduction="sum"
        )
        return hinges.sum() + tag_loss


def batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Sentences by number, the shortest first; a batch, padded, holds `most` sub-words or one.

    >>> list(batches([3, 9, 3, 4], 8))
    [[0, 2], [3], [1]]
    """
    batch: list[int] = []
    for b in np.argsort(lengths, kind="stable").tolist():
        if batch and (len(batch) + 1) * lengths[b] > most:
            yield batch
            batch = []
        batch.append(b)
    yield batch


def tree_of(chart: npt.NDArray[np.int64], words: Sequence[str], tags: Sequence[int]) -> nltk.Tree:
    """The tree of a chart of label numbers, both ends of a span inside; 0 is no constituent."""
    begins, ends = np.nonzero(np.triu(chart))
    order = np.lexsort((-ends, begins))
    root = nltk.Tree("TOP", [])
    stack = [(len(words), root)]
    at = 0
    for begin, end in [*zip(begins[order].tolist(), ends[order].tolist(), strict=True), (-1, -1)]:
        upto = len(words) if begin < 0 else begin
        while at < upto or (at == stack[-1][0] and len(stack) > 1):
            if at == stack[-1][0]:
                stack.pop()
            else:
                stack[-1][1].append(nltk.Tree(str(tags[at]), [words[at]]))
                at += 1
        if begin >= 0:
            node = nltk.Tree(str(chart[begin, end]), [])
            stack[-1][1].append(node)
            stack.append((end + 1, node))
    return root


if __name__ == "__main__":
    torch.set_num_threads(2)
    print(Peer(sys.argv[1], int(sys.argv[2])).parse([sys.argv[3:]])[0])
