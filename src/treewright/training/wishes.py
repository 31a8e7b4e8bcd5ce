"""Ends before the end: Ctrl-C, a request to terminate, the time that was given.

A run ends between two steps, so that what it keeps is whole. The first signal is a wish; a second
one acts as it always does.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Wishes:
    """Remembers that somebody wishes the run to end."""

    def __init__(self) -> None:
        self.signal: int | None = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Take signals as wishes within the block."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        def wish(number: int, _frame: Any) -> None:
            self.signal = number
            restore()

        for number in _SIGNALS:
            signal.signal(number, wish)
        try:
            yield
        finally:
            restore()
