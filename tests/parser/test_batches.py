"""Batches and the order of work: what is bounded, and what happens when something fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from treewright.errors import OptionError
from treewright.parser import Input
from treewright.parser.batches import batches, in_order


def sizes(lengths: list[int], batch_words: int) -> list[list[int]]:
    inputs = [Input(["w"] * n) for n in lengths]
    return [[len(one.words) for one in batch] for batch in batches(inputs, batch_words)]


@pytest.mark.parametrize(
    ("lengths", "batch_words", "expected"),
    [
        ([], 5, []),
        ([3, 2, 1], 5, [[3, 2], [1]]),
        ([9, 1, 9], 5, [[9], [1], [9]]),
        ([1, 1, 1], 1, [[1], [1], [1]]),
        # 100 words have 5,050 spans: two such sentences are more than 40 spans a word of 250.
        ([100, 100], 250, [[100], [100]]),
        ([100, 100], 260, [[100, 100]]),
    ],
)
def test_a_batch_has_so_many_words(
    lengths: list[int], batch_words: int, expected: list[list[int]]
) -> None:
    assert sizes(lengths, batch_words) == expected


def test_what_was_read_before_a_failure_comes_out() -> None:
    def failing() -> Iterator[Input]:
        yield Input(["a"])
        yield Input(["b"])
        raise ZeroDivisionError

    found = batches(failing(), 10)
    assert [one.words for one in next(found)] == [["a"], ["b"]]
    with pytest.raises(ZeroDivisionError):
        next(found)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_order(workers: int) -> None:
    def slow(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        return number * number

    assert list(in_order(slow, range(20), workers)) == [number**2 for number in range(20)]
    assert list(in_order(slow, [], workers)) == []


def test_so_many_work_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=10)
    assert list(in_order(lambda _: together.wait() >= 0, range(6), 3)) == [True] * 6


@pytest.mark.parametrize("workers", [1, 3])
def test_results_before_a_failure_come_out(workers: int) -> None:
    found = in_order(lambda number: 1 // (3 - number), range(10), workers)
    assert [next(found) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(found)

    def failing() -> Iterator[int]:
        yield from range(3)
        raise KeyError("source")

    found = in_order(str, failing(), workers)
    assert [next(found) for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(KeyError):
        next(found)


def test_nothing_is_left_running() -> None:
    before = threading.active_count()
    found = in_order(str, iter(range(1000)), 3)
    assert next(found) == "0"
    found.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


@pytest.mark.parametrize("number", [0, -1])
def test_what_makes_no_sense(number: int) -> None:
    with pytest.raises(OptionError, match="at least one worker"):
        list(in_order(str, [1], number))
    with pytest.raises(OptionError, match="at least one word"):
        list(batches([Input(["a"])], number))
