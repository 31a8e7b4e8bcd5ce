"""Work in batches: cut a stream of sentences into batches, do several at once, keep the order.

Owns the size of batches and the threads that work on them. Memory stays bounded: no more is read
than the batches in work, and no batch is begun before there is room for its result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from treewright.charts import cell_count
from treewright.errors import OptionError
from treewright.parser.sentence import Input

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

#: Words a batch: enough that sentences of like length find each other within it. Exported models
#: run those of one length together; with half as many words they are slower by a fifteenth.
BATCH_WORDS = 8_000
# Charts grow with the square of the length: a batch of long sentences is cut shorter. 40 spans a
# word is what sentences of 80 words have.
_CELLS_A_WORD = 40


def batches(inputs: Iterable[Input], batch_words: int = BATCH_WORDS) -> Iterator[list[Input]]:
    """Sentences in order, as many a batch as have `batch_words` words together, at least one.

    If reading the next sentence fails, those before it still come out.
    """
    if batch_words < 1:
        raise OptionError(f"a batch has at least one word, not {batch_words}")
    batch: list[Input] = []
    words = cells = 0
    reading = iter(inputs)
    while True:
        try:
            given = next(reading, None)
        except Exception:
            if batch:
                yield batch
            raise
        if given is None:
            break
        n = len(given.words)
        words += n
        cells += cell_count(n)
        if batch and (words > batch_words or cells > batch_words * _CELLS_A_WORD):
            yield batch
            batch, words, cells = [], n, cell_count(n)
        batch.append(given)
    if batch:
        yield batch


def in_order(
    work: Callable[[_Given], _Made], items: Iterable[_Given], workers: int
) -> Iterator[_Made]:
    """`map(work, items)`, lazily, by so many threads; results come in the order of the items.

    >>> list(in_order(len, ["a", "bb"], workers=2))
    [1, 2]
    """
    if workers < 1:
        raise OptionError(f"at least one worker, not {workers}")
    if workers == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[_Made]] = deque()
    reading = iter(items)
    failure: Exception | None = None
    with ThreadPoolExecutor(workers, thread_name_prefix="treewright") as pool:
        try:
            while True:
                # One more than there are workers, so that none waits for the next to be read.
                try:
                    for item in islice(reading, workers + 1 - len(waiting)):
                        waiting.append(pool.submit(work, item))
                except Exception as error:  # what was read before it comes out first
                    failure, reading = error, iter(())
                if not waiting:
                    break
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
    if failure is not None:
        raise failure
