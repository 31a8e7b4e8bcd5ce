"""How a run of training is shown: a live line on a terminal, a plain one now and then elsewhere.

All of it goes to standard error. What a run tells is said by `treewright.training.observer`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from treewright.training.observer import Observer, Progress

if TYPE_CHECKING:
    import rich.progress

_LINE_SECONDS = 30.0  # between two plain lines


@contextmanager
def watcher() -> Iterator[Observer]:
    """Something that shows a run as this standard error can."""
    if not sys.stderr.isatty():
        yield _Plain()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Live(bar)


class _Plain(Observer):
    """A line for every check, and now and then one between."""

    def __init__(self) -> None:
        self._said = time.monotonic()
        self._loss: float | None = None

    def said(self, message: str) -> None:
        click.echo(message, err=True)

    def stepped(self, progress: Progress) -> None:
        self._loss = progress.loss if progress.loss is not None else self._loss
        if time.monotonic() - self._said > _LINE_SECONDS:
            self.said(_where(progress, self._loss))
            self._said = time.monotonic()

    def checked(self, line: Mapping[str, Any]) -> None:
        self.said(_check(line))
        self._said = time.monotonic()


class _Live(Observer):
    """A bar, with a line above it for every check."""

    def __init__(self, bar: rich.progress.Progress) -> None:
        self._bar = bar
        self._task: rich.progress.TaskID | None = None
        self._loss: float | None = None

    def said(self, message: str) -> None:
        self._bar.console.print(message, highlight=False, markup=False)

    def stepped(self, progress: Progress) -> None:
        self._loss = progress.loss if progress.loss is not None else self._loss
        if self._task is None:
            self._task = self._bar.add_task("", total=progress.epochs or None)
        text = _where(progress, self._loss)
        self._bar.update(self._task, completed=progress.epoch, description=text)

    def checked(self, line: Mapping[str, Any]) -> None:
        self.said(_check(line))


def _where(progress: Progress, loss: float | None) -> str:
    of = f"/{progress.epochs}" if progress.epochs else ""
    parts = [f"epoch {progress.epoch:.2f}{of}"]
    if loss is not None:
        parts.append(f"loss {loss:.3f}")
    parts.append(f"{progress.rate:,.1f} sentences/s")
    if progress.seconds_left is not None:
        parts.append(f"{_duration(progress.seconds_left)} left")
    return ", ".join(parts)


def _check(line: Mapping[str, Any]) -> str:
    dev = line["dev"]
    best = " (best)" if line["best"] else ""
    return (
        f"epoch {line['epoch']:.2f}: loss {line['loss']:.3f}, "
        f"dev F1 {dev['hard']['f1']:.2f}{best}, rules off {dev['off']['f1']:.2f}, "
        f"tags {dev['tagging']:.2f}; "
        f"{line['sentences_per_second']:,.1f} sentences/s, {_duration(line['seconds'])}"
    )


def summary(figures: Mapping[str, Any]) -> str:
    """The lines that a run ends with."""
    dev, best = figures["dev"], figures["best"]
    return (
        f"best after epoch {best['epoch']:g}: dev F1 {dev['hard']['f1']:.2f} with hard rules, "
        f"{dev['soft']['f1']:.2f} with soft ones (penalty {figures['penalty']:g}), "
        f"{dev['off']['f1']:.2f} without; tags {dev['tagging']:.2f}"
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
