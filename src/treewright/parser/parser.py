"""The parser: text or words in, sentences with their trees out.

Owns the doors through which sentences come: a text, a sentence of words, many of them, a stream.
What happens to a batch of them is `work`'s business; what scores words is behind
`treewright.scorer`, so that the same parser serves PyTorch and ONNX Runtime.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from treewright.decode import Constraints
from treewright.errors import OptionError
from treewright.parser.batches import BATCH_WORDS, batches, in_order
from treewright.parser.columns import Columns
from treewright.parser.options import Options
from treewright.parser.sentence import Document, Input, Sentence
from treewright.parser.work import Work, checked
from treewright.scorer import Description, RulesMode, Scorer
from treewright.text.sentences import iter_sentences, split_sentences
from treewright.text.words import tokenize

#: The languages that raw text can be in.
_LANGUAGES = frozenset({"en"})

_Constrained = Sequence[Constraints | None] | None


class Parser:
    """Parses text and words with one model; `treewright.load` makes one.

    Everywhere, `rules` is "hard" (trees obey the model's grammar, or break it as rarely as any
    can), "soft" (they break it where the scores gain more than the `penalty`) or "off"; `k` asks
    for so many trees; `confidence=True` has confidences worked out at once; `constraints` are the
    user's own. The same input gives the same trees, in the same order.
    """

    def __init__(self, scorer: Scorer, *, threads: int | None = None) -> None:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise OptionError(f"threads is a whole number from 1, not {threads!r}")
        self.scorer = scorer
        self.threads = threads
        self._columns = Columns(scorer.description)

    @property
    def description(self) -> Description:
        """What the model's scores mean: labels, tags, grammar."""
        return self.scorer.description

    def __repr__(self) -> str:
        return f"<Parser {self.description.name!r}>"

    # One text, one sentence

    def __call__(
        self,
        text: str,
        *,
        rules: RulesMode = "hard",
        penalty: float | None = None,
        k: int = 1,
        confidence: bool = False,
        constraints: _Constrained = None,
        workers: int = 1,
    ) -> Document:
        """Parse a text: its sentences, in order, none where there is nothing but white space.

        `constraints` are a list with one a sentence, or `None`.
        """
        options = Options(rules, penalty, k, confidence)
        inputs = list(self._inputs_of_text(text))
        if constraints is not None:
            inputs = _constrained(inputs, constraints)
        found = self.run(inputs, options, workers=workers)
        return Document(text, [sentence for _, sentence in found])

    def parse(
        self,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        rules: RulesMode = "hard",
        penalty: float | None = None,
        k: int = 1,
        confidence: bool = False,
        constraints: Constraints | None = None,
    ) -> Sentence:
        """Parse one sentence of words; the user's tags are kept, where they are not `None`."""
        options = Options(rules, penalty, k, confidence)
        given = Input(words, tags, constraints=constraints)
        return next(self.run([given], options))[1]

    # Many

    def parse_many(
        self,
        sentences: Iterable[Sequence[str]],
        tags: Iterable[Sequence[str | None] | None] | None = None,
        *,
        rules: RulesMode = "hard",
        penalty: float | None = None,
        k: int = 1,
        confidence: bool = False,
        constraints: _Constrained = None,
        batch_words: int = BATCH_WORDS,
        workers: int = 1,
    ) -> list[Sentence]:
        """Parse sentences of words, as `parse` does each, but in batches."""
        options = Options(rules, penalty, k, confidence)
        inputs = [Input(words) for words in sentences]
        if tags is not None:
            tags = list(tags)
            if len(tags) != len(inputs):
                raise OptionError(f"{len(inputs)} sentences, but tags for {len(tags)}")
            inputs = [one._replace(tags=own) for one, own in zip(inputs, tags, strict=True)]
        if constraints is not None:
            inputs = _constrained(inputs, constraints)
        found = self.run(inputs, options, batch_words=batch_words, workers=workers)
        return [sentence for _, sentence in found]

    def stream(
        self,
        texts: Iterable[str],
        *,
        rules: RulesMode = "hard",
        penalty: float | None = None,
        k: int = 1,
        confidence: bool = False,
        batch_words: int = BATCH_WORDS,
        workers: int = 1,
    ) -> Iterator[Document]:
        """Parse texts lazily, a document each, in order; short ones share batches.

        No more texts are read than are being parsed. `workers` batches are parsed at the same time,
        each in a thread of its own.
        """
        if isinstance(texts, str):
            raise OptionError("a stream takes many texts; call the parser itself for one")
        options = Options(rules, penalty, k, confidence)
        return self._stream(texts, options, batch_words, workers)

    def _stream(
        self, texts: Iterable[str], options: Options, batch_words: int, workers: int
    ) -> Iterator[Document]:
        # What has been read and not yet been answered: each text with its number of sentences.
        waiting: deque[tuple[str, int]] = deque()

        def inputs() -> Iterator[Input]:
            for text in texts:
                of_text = list(self._inputs_of_text(text))
                waiting.append((text, len(of_text)))
                yield from of_text

        done: list[Sentence] = []
        for _, sentence in self.run(inputs(), options, batch_words=batch_words, workers=workers):
            while waiting[0][1] == 0:
                yield Document(waiting.popleft()[0], [])
            done.append(sentence)
            if len(done) == waiting[0][1]:
                yield Document(waiting.popleft()[0], done)
                done = []
        while waiting:
            yield Document(waiting.popleft()[0], [])

    def sentences(
        self,
        pieces: Iterable[str],
        *,
        rules: RulesMode = "hard",
        penalty: float | None = None,
        k: int = 1,
        confidence: bool = False,
        batch_words: int = BATCH_WORDS,
        workers: int = 1,
    ) -> Iterator[Sentence]:
        """Parse one text that is too long to hold, given in pieces cut anywhere, lazily.

        The pieces may be the lines of a file; offsets count from the start of the first.
        """
        options = Options(rules, penalty, k, confidence)
        inputs = (self.input_of(raw.text, raw.start) for raw in iter_sentences(pieces))
        worded = (given for given in inputs if given.words)
        found = self.run(worded, options, batch_words=batch_words, workers=workers)
        return (sentence for _, sentence in found)

    # What all of these rest on

    def run(
        self,
        inputs: Iterable[Input],
        options: Options = Options(),  # noqa: B008 - it is frozen
        *,
        batch_words: int = BATCH_WORDS,
        workers: int = 1,
    ) -> Iterator[tuple[Input, Sentence]]:
        """Parse sentences lazily and in order; each comes with what was given."""
        for batch in self.run_batches(inputs, options, batch_words=batch_words, workers=workers):
            yield from batch

    def run_batches(
        self,
        inputs: Iterable[Input],
        options: Options,
        *,
        batch_words: int = BATCH_WORDS,
        workers: int = 1,
    ) -> Iterator[list[tuple[Input, Sentence]]]:
        """The same, a batch at a time, for those who want to know where batches end."""
        work = Work(self.scorer, self._columns, options, _share(self.threads, workers))
        ready = checked(inputs, self.description)
        return in_order(work.parse, batches(ready, batch_words), workers)

    def input_of(self, text: str, start: int = 0) -> Input:
        """One raw sentence as input: its words with their offsets; there may be none.

        `start` says where the sentence begins in its document.
        """
        language = self.description.language
        if language not in _LANGUAGES:
            known = " or ".join(sorted(_LANGUAGES))
            own = f"this model's is {language!r}" if language else "this model names none"
            raise OptionError(f"raw text is split into words in {known} only; {own}: give words")
        words = tokenize(text)
        offsets = [(start + word.start, start + word.end) for word in words]
        return Input([word.text for word in words], None, text, start, offsets)

    def _inputs_of_text(self, text: str) -> Iterator[Input]:
        if not isinstance(text, str):
            raise OptionError(f"a text is a str, not {type(text).__name__}")
        for begin, end in split_sentences(text):
            given = self.input_of(text[begin:end], begin)
            if given.words:
                yield given


def _constrained(inputs: list[Input], constraints: Sequence[Constraints | None]) -> list[Input]:
    if isinstance(constraints, Constraints) or len(constraints) != len(inputs):
        count = "one set" if isinstance(constraints, Constraints) else str(len(constraints))
        message = f"constraints are a list with one a sentence: {len(inputs)}, not {count}"
        raise OptionError(message)
    return [given._replace(constraints=one) for given, one in zip(inputs, constraints, strict=True)]


def _share(threads: int | None, workers: int) -> int | None:
    """The threads that the decoder may use for each of the batches in work at a time."""
    if type(workers) is not int or workers < 1:
        raise OptionError(f"workers are a whole number from 1, not {workers!r}")
    if workers == 1:
        return threads
    return max(1, (threads or os.cpu_count() or 1) // workers)
