"""Time spent on learning, dev left out, and what follows from it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Counts seconds and sentences of a run, those of its earlier parts too."""

    def __init__(self, max_minutes: float) -> None:
        self.limit = 60.0 * max_minutes or math.inf
        self.sentences = 0  # of this part of the run
        self._before = 0.0  # in earlier parts of the run
        self._begun = 0.0
        self._steps = 0
        self._first_step: int | None = None
        self._pauses = 0.0

    def start(self) -> None:
        """Begin to count."""
        self._begun = time.monotonic()

    @property
    def here(self) -> float:
        """Seconds of this part of the run."""
        return time.monotonic() - self._begun - self._pauses if self._begun else 0.0

    @property
    def spent(self) -> float:
        """Seconds of all parts."""
        return self._before + self.here

    @spent.setter
    def spent(self, seconds: float) -> None:
        self._before = seconds

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return self.sentences / self.here if self.here > 0 else 0.0

    @property
    def over(self) -> bool:
        """Whether the time that was given is over."""
        return self.spent >= self.limit

    def left(self, step: int, steps: int) -> float | None:
        """Seconds until the run must end; None where nothing says when."""
        if self._first_step is None:
            self._first_step = step - 1
        each = self.here / (step - self._first_step)
        ends = [self.limit - self.spent]
        if steps:
            ends.append((steps - step) * each)
        soonest = min(ends)
        return soonest if soonest < math.inf else None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time within the block does not count."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._pauses += time.monotonic() - begun
