"""The most that the vector units of one core could do, and the clock that this depends on.

Owns the measuring of the clock and the counting of additions. The clock comes from two chains of
dependent instructions of known latency, compiled here and now: multiplications of integers take
three cycles, rotations one. Where both give the same clock, neither was shortened by the processor.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from treewright import _kernel

# Numbers of 32 bits in a vector. Without vector code of its own, a compiler uses the base set's.
LANES = {"avx512": 16, "avx2": 8, "neon": 4, "plain": 4}
UNITS = 2  # vector additions a cycle, on the cores that these sets are found on

PROBE = r"""
#include <algorithm>
#include <chrono>
#include <cstdio>

#if defined(__x86_64__)
#define MULTIPLY "imul %0, %0\n"
#define ROTATE "ror $1, %0\n"
#else
#define MULTIPLY "mul %0, %0, %0\n"
#define ROTATE "ror %0, %0, #1\n"
#endif
#define HUNDRED(code) ".rept 100\n" code ".endr\n"

// Cycles a second, if a step of the chain takes `latency` cycles: the fastest of some runs, since
// whatever disturbs a run makes it slower.
template <class Chain>
double clock_of(Chain chain, int latency) {
  const int steps = 20'000;
  double best = 1e9;
  for (int run = 0; run < 60; ++run) {
    unsigned long value = 3;
    const auto begun = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) chain(value);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    best = std::min(best, taken.count());
  }
  return 100.0 * steps * latency / best;
}

int main() {
  const auto multiply = [](unsigned long& v) { asm volatile(HUNDRED(MULTIPLY) : "+r"(v)); };
  const auto rotate = [](unsigned long& v) { asm volatile(HUNDRED(ROTATE) : "+r"(v)); };
  std::printf("%f %f\n", clock_of(multiply, 3), clock_of(rotate, 1));
}
"""


@dataclass(frozen=True)
class Bound:
    """What the vector units of one core could do."""

    instruction_set: str
    lanes: int
    multiply_ghz: float | None  # by the chain of multiplications
    rotate_ghz: float | None  # by the chain of rotations
    reported_ghz: float | None  # what the system says
    ghz: float | None  # taken for true

    @property
    def additions(self) -> float | None:
        """Float additions a second."""
        return None if self.ghz is None else UNITS * self.lanes * self.ghz * 1e9

    def share(self, n: int, pairs: int, seconds: float) -> float | None:
        """The share of the bound of one sentence of `n` words in some seconds."""
        if self.additions is None:
            return None
        return splits(n) * pairs / seconds / self.additions

    def figures(self) -> dict[str, object]:
        """All of it, for the JSON file."""
        return {**asdict(self), "units": UNITS, "additions_per_second": self.additions}

    def __str__(self) -> str:
        if self.ghz is None:
            return f"{self.instruction_set}; no clock could be measured, so no bound"
        chains = "no compiler, so no check of it"
        if self.multiply_ghz and self.rotate_ghz:
            chains = f"{self.multiply_ghz:.2f} by multiplying, {self.rotate_ghz:.2f} by rotating"
        says = f"; the system says {self.reported_ghz:.2f}" if self.reported_ghz else ""
        assert self.additions is not None
        return (
            f"{self.instruction_set}: {UNITS} x {self.lanes} float additions a cycle, "
            f"{self.ghz:.2f} GHz ({chains}{says}): {self.additions / 1e9:.0f} billion a second"
        )


def splits(n: int) -> int:
    """The splits of all spans of a sentence of `n` words: 2,300 at 24."""
    return (n - 1) * n * (n + 1) // 6


def measure() -> Bound:
    """The bound of this machine, now."""
    name = _kernel.instruction_set()
    reported = _reported_ghz()
    chains = _probe()
    multiply, rotate = chains or (None, None)
    ghz = max(chains) if chains else reported
    return Bound(name, LANES[name], multiply, rotate, reported, ghz)


def _probe() -> tuple[float, float] | None:
    compiler = shutil.which("c++") or shutil.which("clang++") or shutil.which("g++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "clock.cpp"), Path(folder, "clock")
        source.write_text(PROBE)
        built = subprocess.run(
            [compiler, "-O2", "-o", str(program), str(source)], capture_output=True, check=False
        )
        if built.returncode:
            return None
        run = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    multiply, rotate = (float(hertz) / 1e9 for hertz in run.stdout.split())
    return multiply, rotate


def _reported_ghz() -> float | None:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    found = re.findall(r"^cpu MHz\s*:\s*([0-9.]+)", text, flags=re.MULTILINE)
    return max(map(float, found)) / 1000 if found else None


if __name__ == "__main__":
    print(measure())
