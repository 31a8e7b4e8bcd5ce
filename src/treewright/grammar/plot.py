"""The paper's figure of rule coverage, drawn with matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path

from treewright.errors import MissingExtra, OutputError, Place
from treewright.files import atomic_write
from treewright.grammar.coverage import Coverage

#: What a plot may be written as, by the end of its name.
FORMATS = ("svg", "png", "pdf")
_LONGEST_LEVEL = 16  # longer names would run into each other


def check_plot(path: str | PathLike[str]) -> str:
    """The format that a plot of this name will have; an error if it can have none."""
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in FORMATS:
        message = f"the name of a plot ends in one of {', '.join(f'.{name}' for name in FORMATS)}"
        raise OutputError(message, Place(fspath(path)))
    if find_spec("matplotlib") is None:
        raise MissingExtra("a plot needs matplotlib: pip install 'treewright[plot]'")
    return form


def plot_coverage(found: Sequence[tuple[str, Coverage]], path: str | PathLike[str]) -> None:
    """Bars for every set of trees: rules known by type, and weighted by use."""
    form = check_plot(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [name for name, _ in found]
    figure = Figure(figsize=(max(4.0, 1.4 * len(names) + 1.6), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    series = [
        ("by type", [covered.by_type for _, covered in found], "#9db8d2"),
        ("weighted by use", [covered.by_use for _, covered in found], "#2f5d8a"),
    ]
    for number, (label, heights, colour) in enumerate(series):
        places = [at + (number - 0.5) * 0.4 for at in range(len(names))]
        bars = axes.bar(places, heights, width=0.38, label=label, color=colour)
        axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
    axes.set_xticks(range(len(names)), names, parse_math=False)
    if max(map(len, names)) > _LONGEST_LEVEL:
        for name in axes.get_xticklabels():
            name.set(rotation=20, ha="right")
    axes.set_ylim(0, 110)
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("rules found in the grammar, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=2, frameon=False)
    picture = BytesIO()
    figure.savefig(picture, format=form)
    with atomic_write(path) as handle:
        handle.buffer.write(picture.getvalue())
