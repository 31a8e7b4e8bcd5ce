"""How learning rates go: up in the warm-up, then as the schedule says.

Owns one number, the factor that all rates are multiplied by, and the memory of dev that `plateau`
needs. All of that memory is `state()`, so that a run that goes on knows no difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treewright.training.config import TrainConfig


@dataclass
class Schedule:
    """The factor of the rates; told of steps and of the F1 of every check.

    >>> from treewright.training.config import load_config
    >>> config = load_config(preset="tiny", assignments=["train=a", "dev=b", "out=c",
    ...     "schedule=plateau", "patience=1", "halvings=1", "warmup_steps=4"])
    >>> schedule = Schedule(config, total_steps=100)
    >>> [schedule.factor(step) for step in (0, 1, 3, 50)]
    [0.25, 0.5, 1.0, 1.0]
    >>> [schedule.checked(f1) for f1 in (50.0, 49.0, 48.0)], schedule.factor(50), schedule.done
    ([True, False, False], 0.5, True)
    """

    config: TrainConfig
    total_steps: int
    best: float = -math.inf
    waited: int = 0
    halved: int = 0
    done: bool = False

    def factor(self, step: int) -> float:
        """What the rates of a step, counted from 0, are multiplied by."""
        warmup = self.config.warmup_steps
        if step < warmup:
            return (step + 1) / warmup
        kind = self.config.schedule
        if kind == "plateau":
            return 0.5**self.halved
        if kind == "constant":
            return 1.0
        left = 1.0 - (step - warmup) / max(1, self.total_steps - warmup)
        left = min(1.0, max(0.0, left))
        return left if kind == "linear" else 0.5 - 0.5 * math.cos(math.pi * left)

    def checked(self, f1: float) -> bool:
        """Take note of dev's F1; whether it is the best so far."""
        if f1 > self.best:
            self.best, self.waited = f1, 0
            return True
        self.waited += 1
        if self.config.schedule == "plateau" and self.waited >= self.config.patience:
            self.waited = 0
            self.done = self.halved >= self.config.halvings
            self.halved += not self.done
        return False

    def state(self) -> dict[str, Any]:
        """What it remembers."""
        known = {"best": self.best, "waited": self.waited, "halved": self.halved}
        return {**known, "done": self.done}

    def restore(self, state: dict[str, Any]) -> None:
        """Remember what another one did."""
        for name, value in state.items():
            setattr(self, name, value)
