"""The paper's figure of rule coverage, drawn with matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from treewright.errors import MissingExtra, OutputError, Place
from treewright.grammar.coverage import Coverage


def plot_coverage(found: Mapping[str, Coverage], path: str | PathLike[str]) -> None:
    """Bars for every set of trees: rules known by type, and weighted by use."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a plot needs matplotlib: pip install 'treewright[plot]'") from None
    names = list(found)
    figure = Figure(figsize=(max(4.0, 1.4 * len(names) + 1.6), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    series = [
        ("by type", [covered.by_type for covered in found.values()], "#9db8d2"),
        ("weighted by use", [covered.by_use for covered in found.values()], "#2f5d8a"),
    ]
    for number, (label, heights, colour) in enumerate(series):
        places = [at + (number - 0.5) * 0.4 for at in range(len(names))]
        bars = axes.bar(places, heights, width=0.38, label=label, color=colour)
        axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 110)
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("rules found in the grammar, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=2, frameon=False)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise OutputError(str(error), Place(str(path))) from None
