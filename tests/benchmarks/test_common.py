"""What benchmarks measure is the program that they run, not the one that runs it."""

from __future__ import annotations

from common import peak_megabytes


def test_peak_of_the_child_alone() -> None:
    ballast = b"x" * (200 << 20)
    nothing = peak_megabytes("pass")
    assert 1 < nothing < 100
    assert peak_megabytes("kept = b'x' * (100 << 20)") > nothing + 90
    assert len(ballast) == 200 << 20
