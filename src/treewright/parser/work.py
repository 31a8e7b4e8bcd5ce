"""What happens to a batch: checked, scored, decoded, made into sentences.

Owns the one road from words to trees. It is safe to walk by several threads at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from treewright.charts import cell_count
from treewright.decode import Confidence, Marginals, decode, marginals
from treewright.errors import DecodeError, Place, SentenceError
from treewright.parser.columns import Columns
from treewright.parser.options import Options
from treewright.parser.sentence import Input, Sentence
from treewright.scorer import Description, Scorer, Scores

# The chart of a sentence grows with the square of its length. One that takes more than this is
# rather a text that was never cut into sentences.
_MOST_CHART_BYTES = 4 << 30
# Marginals take several times the memory of scores: so many cells at a time.
_MARGINAL_CELLS = 20_000


def checked(inputs: Iterable[Input], description: Description) -> Iterator[Input]:
    """The same, every one with its place; what cannot be parsed is an error that names it."""
    cell_bytes = 4 * len(description.labels)
    for number, given in enumerate(inputs, 1):
        if given.place is None:
            given = given._replace(place=Place(sentence=number))
        message = _wrong(given, cell_bytes)
        if message:
            raise SentenceError(message, given.place)
        yield given


def _wrong(given: Input, cell_bytes: int) -> str | None:
    words, tags = given.words, given.tags
    if isinstance(words, str):
        return f"the words of a sentence are a list, not the text {words[:40]!r}"
    if not words:
        return "has no words"
    for number, word in enumerate(words, 1):
        if not isinstance(word, str) or not word:
            return f"word {number} is {'empty' if word == '' else repr(word)}"
    if cell_count(len(words)) * cell_bytes > _MOST_CHART_BYTES:
        return f"has {len(words):,} words, which is too long to parse; cut it into sentences"
    if tags is not None:
        if isinstance(tags, str) or len(tags) != len(words):
            return f"has {len(words)} words, but {len(tags)} tags"
        for number, tag in enumerate(tags, 1):
            if not isinstance(tag, str | None) or tag == "":
                return f"the tag of word {number} is {'empty' if tag == '' else repr(tag)}"
    return None


class Work:
    """How batches are parsed with one scorer and one set of options."""

    def __init__(
        self, scorer: Scorer, columns: Columns, options: Options, threads: int | None
    ) -> None:
        self._scorer = scorer
        self._columns = columns
        self._options = options
        self._told = {**columns.for_decoder(options), "threads": threads}

    def parse(self, batch: Sequence[Input]) -> list[tuple[Input, Sentence]]:
        """Every input of a batch with its sentence."""
        description, k = self._scorer.description, self._options.k
        scores = self._scorer.score([given.words for given in batch])
        constraints = [given.constraints for given in batch]
        with _named(batch):
            parses: Sequence[Any] = decode(
                scores.rows,
                description.labels,
                **self._told,
                lengths=scores.lengths,
                constraints=constraints if any(constraints) else None,
                k=k,
                distinct=k > 1,
            )
        tags = iter(self._columns.tags(scores.tags))
        sentences = []
        for given, found in zip(batch, parses, strict=True):
            own = tuple(islice(tags, len(given.words)))
            if given.tags is not None:
                own = tuple([tag or ours for tag, ours in zip(given.tags, own, strict=True)])
            found = [found] if k == 1 else found
            sentences.append(Sentence(given, own, found, self, description.root))
        if self._options.confidence:
            self._add_confidences(scores, sentences)
        return list(zip(batch, sentences, strict=True))

    def confidences(self, sentence: Sentence) -> tuple[Confidence, ...]:
        """Score a sentence again, and say how sure its constituents are."""
        scores = self._scorer.score([sentence.words])
        self._add_confidences(scores, [sentence])
        return sentence.confidences()

    def _add_confidences(self, scores: Scores, sentences: Sequence[Sentence]) -> None:
        """Tell sentences how sure their constituents are, a few at a time."""
        lengths = np.asarray(scores.lengths)
        rows = np.concatenate([[0], np.cumsum(cell_count(lengths))]).tolist()
        begin = 0
        while begin < len(sentences):
            end = begin + 1
            while end < len(sentences) and rows[end + 1] - rows[begin] <= _MARGINAL_CELLS:
                end += 1
            some = sentences[begin:end]
            constraints = [sentence.constraints for sentence in some]
            found: list[Marginals] = marginals(
                scores.rows[rows[begin] : rows[end]],
                self._scorer.description.labels,
                **self._told,
                lengths=lengths[begin:end],
                constraints=constraints if any(constraints) else None,
                temperature=self._columns.temperature(self._options),
            )
            for sentence, one in zip(some, found, strict=True):
                sentence.keep_confidences(self._columns.confidences(sentence.best, one))
            begin = end


@contextmanager
def _named(batch: Sequence[Input]) -> Iterator[None]:
    """Errors name a sentence of a batch by its number in it; people know it by its place."""
    try:
        yield
    except DecodeError as error:
        if error.place is None or error.place.sentence is None:
            raise
        place = batch[error.place.sentence - 1].place or Place()
        raise type(error)(error.message, replace(place, span=error.place.span)) from None
