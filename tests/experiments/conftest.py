"""Lets the tests import the experiments' own modules."""

from __future__ import annotations

import sys
from pathlib import Path

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
sys.path[:0] = [str(EXPERIMENTS), str(EXPERIMENTS / "en")]
