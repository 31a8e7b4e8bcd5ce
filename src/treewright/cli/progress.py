"""Progress of long work: a live counter on a terminal, a plain line now and then elsewhere.

All of it goes to standard error, and nothing at all is said of work that is done within a moment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import click

_Item = TypeVar("_Item")

_SILENT_SECONDS = 2.0  # work shorter than this is not worth a word
_LINE_SECONDS = 30.0  # between two plain lines


def track(
    items: Iterable[_Item], what: str, share: Callable[[], float | None] | None = None
) -> Iterator[_Item]:
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


def _live(items: Iterable[_Item], what: str, share: Callable[[], float | None]) -> Iterator[_Item]:
    begun = time.monotonic()
    progress = None
    task = None
    try:
        for done, item in enumerate(items):
            if progress is not None and task is not None:
                rate = f"{done / (time.monotonic() - begun):,.0f}/s"
                progress.update(task, completed=share() or 0.0, done=f"{done:,}", rate=rate)
            elif time.monotonic() - begun > _SILENT_SECONDS:
                from rich.console import Console
                from rich.progress import (
                    BarColumn,
                    Progress,
                    SpinnerColumn,
                    TextColumn,
                    TimeElapsedColumn,
                    TimeRemainingColumn,
                )

                known = share() is not None
                text = TextColumn("{task.fields[done]} " + what + ", {task.fields[rate]}")
                columns = [BarColumn(), TimeRemainingColumn()] if known else [TimeElapsedColumn()]
                console = Console(stderr=True)
                progress = Progress(
                    SpinnerColumn(), text, *columns, console=console, transient=True
                )
                progress.start()
                total = 1.0 if known else None
                task = progress.add_task(what, total=total, done=f"{done:,}", rate="")
            yield item
    finally:
        if progress is not None:
            progress.stop()


def _plain(items: Iterable[_Item], what: str, share: Callable[[], float | None]) -> Iterator[_Item]:
    begun = said = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - said > _LINE_SECONDS:
            said = now
            part = share()
            known = f", {100 * part:.0f} %" if part is not None else ""
            click.echo(f"{done:,} {what}, {done / (now - begun):,.0f}/s{known}", err=True)
        yield item
