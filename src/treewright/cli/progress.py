"""Progress of long work: a live counter on a terminal, a plain line now and then elsewhere.

All of it goes to standard error, and nothing at all is said of work that is done within a moment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

import click

_Item = TypeVar("_Item")

_SILENT_SECONDS = 2.0  # work shorter than this is not worth a word
_SHOW_SECONDS = 0.1  # between two looks of a live counter
_LINE_SECONDS = 30.0  # between two plain lines


def track(
    items: Iterable[_Item], what: str, share: Callable[[], float | None] | None = None
) -> Generator[_Item, None, None]:
    """Hand the items on and count them: `12,000 trees, 4,100/s`.

    `share` says how much of the work is done, from 0 to 1, if that can be known; then there is a
    bar, and the time that is left.

    >>> sum(track([1, 2, 3], "numbers"))
    6
    """
    share = share or _unknown
    return _live(items, what, share) if sys.stderr.isatty() else _plain(items, what, share)


def _unknown() -> float | None:
    return None


def _live(
    items: Iterable[_Item], what: str, share: Callable[[], float | None]
) -> Generator[_Item, None, None]:
    begun = time.monotonic()
    due = begun + _SILENT_SECONDS
    bar: _Bar | None = None
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now >= due:
                bar = bar or _Bar(what, known=share() is not None)
                bar.show(done, done / (now - begun), share())
                due = now + _SHOW_SECONDS
            yield item
    finally:
        if bar is not None:
            bar.stop()


class _Bar:
    """One line of a terminal: a count and, where the share of the work is known, how far it is."""

    def __init__(self, what: str, *, known: bool) -> None:
        # Most work is done before there is anything to show: rich is not loaded for it.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        text = TextColumn("{task.fields[done]} " + what + ", {task.fields[rate]}")
        columns = [BarColumn(), TimeRemainingColumn()] if known else [TimeElapsedColumn()]
        console = Console(stderr=True)
        self._progress = Progress(SpinnerColumn(), text, *columns, console=console, transient=True)
        self._progress.start()
        total = 1.0 if known else None
        self._task = self._progress.add_task(what, total=total, done="", rate="")

    def show(self, done: int, rate: float, share: float | None) -> None:
        self._progress.update(
            self._task, completed=share or 0.0, done=f"{done:,}", rate=f"{rate:,.0f}/s"
        )

    def stop(self) -> None:
        self._progress.stop()


def _plain(
    items: Iterable[_Item], what: str, share: Callable[[], float | None]
) -> Generator[_Item, None, None]:
    begun = said = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - said > _LINE_SECONDS:
            said = now
            part = share()
            known = f", {100 * part:.0f} %" if part is not None else ""
            click.echo(f"{done:,} {what}, {done / (now - begun):,.0f}/s{known}", err=True)
        yield item
