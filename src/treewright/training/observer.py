"""What a run tells those who watch it. It says nothing by itself: `cli/train.py` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """Where a run is."""

    step: int
    epoch: float
    """Epochs done, the part of the present one among them."""

    epochs: int
    """The most there will be; 0 for no limit."""

    loss: float | None
    """The mean loss a sentence since the last check; told now and then only."""

    rate: float
    """Sentences a second, since the run was begun or gone on with, dev left out."""

    seconds_left: float | None


class Observer:
    """Watches a run; this one in silence."""

    def said(self, message: str) -> None:
        """Something that is worth a line."""

    def stepped(self, progress: Progress) -> None:
        """After every step."""

    def checked(self, line: Mapping[str, Any]) -> None:
        """After every check of dev, with its line of the metrics."""
