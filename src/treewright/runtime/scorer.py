"""Sentences scored by an exported model.

Owns the way from words to charts: sub-words, windows, the encoder, words, the layers above it, the
spans. It is walked in chunks, so that memory stays bounded, and twice the rows of one length go
together: windows of as many sub-words through the encoder, sentences of as many words through what
is above it. Nothing is ever padded, and what a sentence scores does not depend on its neighbours.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import accumulate
from pathlib import Path

import numpy as np

from treewright._kernel import SpanScorer
from treewright.errors import CheckpointError, OptionError, Place, TreeError
from treewright.runtime.batches import of_one_length, places, pool
from treewright.runtime.files import (
    ENCODER_FILE,
    SETTINGS_FILE,
    SPANS_FILE,
    TOKENIZER_FILE,
    TOP_FILE,
    Floats,
    Settings,
    SpanArrays,
)
from treewright.runtime.sessions import Session
from treewright.scorer import Description, Scores, kind_of, read_part
from treewright.text.packing import Ints, Reach, Windows
from treewright.text.subwords import Subwords, SubwordTokenizer

#: Sub-words of a run of the encoder: enough for its products, few enough for the caches.
_BATCH = 512
#: Sub-words that are on their way through all of it at a time.
_CHUNK = 1 << 14


class OnnxScorer:
    """A `Scorer` over the graphs of a runtime model; `load` makes one. Threads may share it."""

    def __init__(
        self,
        description: Description,
        settings: Settings,
        tokenizer: SubwordTokenizer,
        encoder: Session,
        top: Session,
        spans: SpanArrays,
        *,
        threads: int | None = None,
    ) -> None:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise OptionError(f"threads is a whole number from 1, not {threads!r}")
        self.threads = threads or os.cpu_count() or 1
        self.settings = settings
        self._description = description
        self._tokenizer = tokenizer
        self._reach = Reach.of(tokenizer, settings.window, settings.overlap)
        self._encoder = encoder
        self._top = top
        self._spans = SpanScorer(
            *(spans.bias, spans.scale, spans.shift, spans.weight, spans.offset),
            epsilon=float(spans.epsilon),
        )
        self._hidden = len(spans.bias)

    @property
    def description(self) -> Description:
        """What the charts mean."""
        return self._description

    def score(self, sentences: Sequence[Sequence[str]]) -> Scores:
        """The charts and tags of sentences of one word or more each, as numpy arrays."""
        for b, words in enumerate(sentences):
            if not words:
                raise TreeError("a sentence has at least one word", Place(sentence=b + 1))
        tokenized = self._tokenizer.encode(sentences)
        lengths = np.array([len(subwords.first) for subwords in tokenized], dtype=np.int64)
        posts = np.empty((int((lengths + 1).sum()), self._hidden), dtype=np.float32)
        tags = np.zeros(int(lengths.sum()), dtype=np.int64)
        several = self.threads > 1 and len(sentences) > 1
        with ThreadPoolExecutor(self.threads) if several else nullcontext() as workers:
            for begin, end in _chunks(tokenized):
                word = int(lengths[:begin].sum())
                # Every sentence before has a post more than words
                self._read(tokenized[begin:end], posts[word + begin :], tags[word:], workers)
        if tags.max(initial=0) >= len(self._description.tags):
            message = "has more tags than the model's description names"
            raise CheckpointError(message, Place(str(self._top.path)))
        rows = self._spans.score(posts, lengths.astype(np.int32), threads=self.threads)
        return Scores(rows, lengths, tags)

    def _read(
        self,
        sentences: Sequence[Subwords],
        posts: Floats,
        tags: Ints,
        workers: ThreadPoolExecutor | None,
    ) -> None:
        """Fenceposts and tags of some sentences, written to where those begin."""
        windows = Windows(self._reach, sentences)
        words = self._words(windows, workers)
        tokens = np.array([len(subwords.first) + 2 for subwords in sentences], dtype=np.int64)
        begins = np.cumsum(tokens) - tokens
        numbers = np.arange(len(tokens))

        def run(batch: Ints) -> None:
            size = int(tokens[batch[0]])
            if len(batch) == 1:
                # A product with a row a sentence adds up one row alone in another order than
                # several, and 8 bits make a difference of that: one sentence goes in twice.
                batch = np.repeat(batch, 2)
            found = self._top.run({"words": words[places(begins, batch, size)]})
            posts[places(begins - numbers, batch, size - 1)] = found["posts"]
            if "tags" in found:
                tags[places(begins - 2 * numbers, batch, size - 2)] = found["tags"]

        _run_all(workers, run, of_one_length(tokens, _BATCH))

    def _words(self, windows: Windows, workers: ThreadPoolExecutor | None) -> Floats:
        """The vectors of all tokens, `(T, d)`."""
        sizes = windows.sizes
        begins = np.cumsum(sizes) - sizes
        first, last = windows.ends(begins)
        ids = np.fromiter((id_ for window in windows.ids for id_ in window), np.int64, sizes.sum())
        edges = None
        if self.settings.edges:
            edges = np.zeros(len(ids), dtype=np.int64)
            edges[first] = 1
            edges[last] += 2
        vectors = np.empty((len(ids), self._encoder.sizes["vectors"]), dtype=np.float32)

        def run(batch: Ints) -> None:
            where = places(begins, batch, int(sizes[batch[0]]))
            inputs = {"ids": ids[where]}
            if edges is not None:
                inputs["edges"] = edges[where]
            vectors[where] = self._encoder.run(inputs)["vectors"]

        _run_all(workers, run, of_one_length(sizes, _BATCH))
        return pool(vectors, first, last, self.settings.pooling)


def _run_all(
    workers: ThreadPoolExecutor | None, run: Callable[[Ints], None], batches: Iterable[Ints]
) -> None:
    """Do all batches, several at a time if there are workers."""
    for _ in (workers.map if workers else map)(run, batches):
        pass


def _chunks(sentences: Sequence[Subwords]) -> Iterator[tuple[int, int]]:
    """Cuts after every `_CHUNK` sub-words or a little more."""
    begin = 0
    before = list(accumulate((len(subwords.ids) for subwords in sentences), initial=0))
    for end in range(1, len(sentences) + 1):
        if end == len(sentences) or before[end] - before[begin] >= _CHUNK:
            yield begin, end
            begin = end


def load(directory: str | os.PathLike[str], *, threads: int | None = None) -> OnnxScorer:
    """Open a runtime model, to be run by so many threads; by default as many as there are cores."""
    directory = Path(directory)
    if kind_of(directory) != "runtime":
        message = "is a checkpoint, no runtime model: treewright export makes one of it"
        raise CheckpointError(message, Place(str(directory)))
    description = Description.load(directory)
    settings = read_part(directory / SETTINGS_FILE, Settings.load)
    tokenizer = read_part(directory / TOKENIZER_FILE, SubwordTokenizer.from_file)
    encoder = read_part(directory / ENCODER_FILE, Session)
    top = read_part(directory / TOP_FILE, Session)
    spans = read_part(directory / SPANS_FILE, SpanArrays.load)
    size = encoder.sizes.get("vectors")
    for belongs, file in (
        ("ids" in encoder.sizes and type(size) is int, ENCODER_FILE),
        (("edges" in encoder.sizes) == settings.edges, ENCODER_FILE),
        (top.sizes.get("words") == size and "posts" in top.sizes, TOP_FILE),
        (spans.weight.shape == (top.sizes.get("posts"), len(description.labels)), SPANS_FILE),
    ):
        if not belongs:
            message = "is not of one model with the other files"
            raise CheckpointError(message, Place(str(directory / file)))
    return OnnxScorer(description, settings, tokenizer, encoder, top, spans, threads=threads)
