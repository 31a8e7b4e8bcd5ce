"""A moving average of the weights, which is steadier than the weights themselves.

Owns the average and the change of places with the weights while dev is scored and models are
written. At first, when there is little to average, it forgets faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

# The average walks over all weights, which costs as much memory traffic as the optimizer's own
# step. Every eighth step, with the decay of eight, it says the same.
_EVERY = 8


class Average:
    """The average of some parameters; with a decay of 0 nothing at all.

    >>> weights = [torch.zeros(2, requires_grad=True)]
    >>> average = Average(weights, decay=0.5)
    >>> with average.in_place():
    ...     print(weights[0].tolist())
    [0.0, 0.0]
    """

    def __init__(self, parameters: Sequence[torch.nn.Parameter], decay: float) -> None:
        self.decay = decay
        self._parameters = [p for p in parameters if p.requires_grad] if decay else []
        self.values = [p.detach().clone() for p in self._parameters]

    @torch.no_grad()
    def stepped(self, step: int) -> None:
        """Take note of the weights after a step, counted from 1."""
        if not self.decay or step % _EVERY:
            return
        decay = min(self.decay, step / (step + 10.0)) ** _EVERY
        live = [p.detach() for p in self._parameters]
        torch._foreach_lerp_(self.values, live, 1.0 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The weights are their average within the block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for parameter, value in zip(self._parameters, self.values, strict=True):
            live = parameter.detach().clone()
            parameter.copy_(value)
            value.copy_(live)

    def state(self) -> list[torch.Tensor]:
        """The average itself."""
        return self.values

    @torch.no_grad()
    def restore(self, state: Sequence[torch.Tensor]) -> None:
        """Go on from an average."""
        for value, saved in zip(self.values, state, strict=True):
            value.copy_(saved)
