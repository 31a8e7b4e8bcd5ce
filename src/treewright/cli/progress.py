"""Progress of long work: a live counter on a terminal, a plain line now and then elsewhere.

All of it goes to standard error, and nothing at all is said of work that is done within a moment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click

_Item = TypeVar("_Item")

_SILENT_SECONDS = 2.0  # work shorter than this is not worth a word
_LINE_SECONDS = 30.0  # between two plain lines


def track(items: Iterable[_Item], what: str) -> Iterator[_Item]:
    """Hand the items on and count them: `12,000 trees, 4,100/s`.

    >>> sum(track([1, 2, 3], "numbers"))
    6
    """
    return _live(items, what) if sys.stderr.isatty() else _plain(items, what)


def _live(items: Iterable[_Item], what: str) -> Iterator[_Item]:
    begun = time.monotonic()
    progress = None
    task = None
    try:
        for done, item in enumerate(items):
            if progress is not None and task is not None:
                progress.update(task, completed=done)
            elif time.monotonic() - begun > _SILENT_SECONDS:
                from rich.console import Console
                from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

                progress = Progress(
                    SpinnerColumn(),
                    TextColumn("{task.completed:,} " + what),
                    TimeElapsedColumn(),
                    console=Console(stderr=True),
                    transient=True,
                )
                progress.start()
                task = progress.add_task(what, total=None, completed=done)
            yield item
    finally:
        if progress is not None:
            progress.stop()


def _plain(items: Iterable[_Item], what: str) -> Iterator[_Item]:
    begun = said = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - said > _LINE_SECONDS:
            said = now
            click.echo(f"{done:,} {what}, {done / (now - begun):,.0f}/s", err=True)
        yield item
