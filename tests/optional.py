"""Libraries that are there or not: what works without them is tested without them too.

`torch` is None where PyTorch is not installed, as in the tests of the wheels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch: Any
try:
    import torch
except ImportError:
    torch = None

#: What makes an array of numbers: numpy, and PyTorch where it is.
ARRAY_KINDS: list[Callable[..., Any]] = [np.array, *([torch.tensor] if torch else [])]

needs_torch = pytest.mark.skipif(torch is None, reason="wants PyTorch, of the extra `train`")
