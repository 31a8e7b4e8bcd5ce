"""What all benchmarks share: alternating timings, peak memory, a table, a JSON file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("TREEWRIGHT_SHARED", Path(__file__).parents[2] / "shared"))


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    return parser


def treebank(name: str) -> Path:
    """The file of a treebank, or a clean end with a reason."""
    path = SHARED / "data" / f"{name}.mrg"
    if not path.is_file():
        sys.exit(f"no {path}: set TREEWRIGHT_SHARED to the folder that has the treebanks")
    return path


def alternate(
    candidates: Mapping[str, Callable[[], object]], *, rounds: int = 5
) -> dict[str, float]:
    """Seconds of each candidate: the median of rounds in which they take turns.

    Taking turns makes ratios fair on a machine whose speed wanders.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            begun = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def peak_megabytes(code: str) -> float:
    """Peak resident memory of a fresh Python process that runs `code`."""
    run = subprocess.run(
        [sys.executable, "-c", code + _REPORT_PEAK], capture_output=True, text=True, check=True
    )
    return int(run.stdout.split()[-1]) / 1024


# The peak that getrusage tells begins with that of the process which started this one; the
# system's own count does not.
_REPORT_PEAK = """
import pathlib, resource
status = pathlib.Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peaks = [line.split()[1] for line in lines if line.startswith("VmHWM")]
print(*peaks or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])
"""


def own_peak_megabytes() -> float:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A plain table: the first column to the left, the others to the right."""
    cells = [list(header)] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        first = row[0].ljust(widths[0])
        print("  ".join([first, *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]))


def write_json(path: Path | None, figures: Mapping[str, Any]) -> None:
    """The figures with what they were measured on."""
    if path is None:
        return
    machine = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, **figures}, indent=1) + "\n")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
