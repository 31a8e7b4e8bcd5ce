"""Cost against length, every way to decode a line: the picture in docs/decoding.md.

Owns the drawing alone; run by itself it draws what bench_decode.py has written with `--json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

# Colour and dashes: what does the work, then how.
STYLES = {
    ("native free", "random"): ("native: free", "#1b7837", "-"),
    ("native rules", "as trained"): ("native: rules, scores as trained", "#2166ac", "-"),
    ("native rules", "random"): ("native: rules, scores at random", "#4393c3", "-"),
    ("native dense", "random"): ("native: rules, no shortcuts", "#4393c3", "--"),
    ("native soft dense", "random"): ("native: soft rules, no shortcuts", "#762a83", "--"),
    ("native k = 10", "random"): ("native: rules, 10 best", "#762a83", "-"),
    ("native marginals", "random"): ("native: rules, marginals", "#c51b7d", "-"),
    ("batched free", "random"): ("batched: free", "#1b7837", ":"),
    ("batched rules", "random"): ("batched: rules", "#2166ac", ":"),
    ("torch-struct free", "random"): ("torch-struct: free", "#d95f02", "-"),
    ("algorithm 5, as meant", "random"): ("algorithm 5, as meant", "#b2182b", "-"),
    ("reference free", "random"): ("reference: free", "#737373", "-"),
    ("reference rules", "random"): ("reference: rules", "#737373", "--"),
}


def draw(times: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Milliseconds a sentence on one thread, both axes logarithmic, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullLocator

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "treewright"})
    figure, axes = plt.subplots(figsize=(8.2, 6.4), layout="constrained")
    ends: dict[int, list[tuple[float, str, str]]] = {}  # by length
    for (way, scores), (name, colour, dashes) in STYLES.items():
        points = sorted(
            (time["n"], 1e3 * time["seconds"])
            for time in times
            if (time["way"], time["scores"], time["threads"]) == (way, scores, 1)
        )
        if points:
            axes.plot(*zip(*points, strict=True), dashes, color=colour, marker="o", markersize=2.5)
            length, height = points[-1]
            ends.setdefault(length, []).append((height, name, colour))
    lengths = sorted({time["n"] for time in times})
    axes.set(xscale="log", yscale="log", xlabel="words", ylabel="milliseconds a sentence")
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.grid(which="major", color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["bottom"].set_bounds(lengths[0] * 0.93, lengths[-1])
    axes.set_xlim(lengths[0] * 0.93, lengths[-1] * 6)  # room for the names
    low, high = axes.get_ylim()
    for length, names in ends.items():
        heights = apart([height for height, _, _ in names], high / low)
        for (_, name, colour), height in zip(names, heights, strict=True):
            axes.text(length * 1.08, height, name, color=colour, va="center", fontsize=8.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)


def apart(heights: Iterable[float], span: float) -> list[float]:
    """Heights moved upwards, as little as will do, until no name is written over another."""
    heights = list(heights)
    gap = span ** (1 / 38)
    found = dict.fromkeys(range(len(heights)), 0.0)
    below = 0.0
    for at in sorted(found, key=lambda at: heights[at]):
        below = found[at] = max(heights[at], below * gap)
    return list(found.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, help="what bench_decode.py --json wrote")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    draw(json.loads(options.figures.read_text())["seconds_a_sentence"], options.out)
