"""The curve of a run as an SVG: the loss above, dev's F1 with rules and without below.

Owns a drawing of a few lines, made by hand so that training needs no library for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_WIDTH, _PANEL, _LEFT, _RIGHT, _TOP, _GAP = 640, 190, 56, 96, 24, 44

_Points = list[tuple[float, float]]


def curve(lines: Sequence[Mapping[str, Any]]) -> str:
    """The drawing of the lines of a run's metrics."""
    losses = _points(lines, lambda line: line["loss"])
    panels = [
        ("loss a sentence", [("loss", "#555", losses)]),
        (
            "F1 on dev",
            [
                ("rules on", "#0a6", _points(lines, lambda line: line["dev"]["hard"]["f1"])),
                ("rules off", "#c50", _points(lines, lambda line: line["dev"]["off"]["f1"])),
            ],
        ),
    ]
    height = _TOP + len(panels) * (_PANEL + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, (title, series) in enumerate(panels):
        parts += _panel(title, series, _TOP + number * (_PANEL + _GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _points(lines: Sequence[Mapping[str, Any]], value: Any) -> _Points:
    return [(float(line["epoch"]), float(value(line))) for line in lines]


def _panel(title: str, series: list[tuple[str, str, _Points]], top: int) -> list[str]:
    points = [point for _, _, line in series for point in line if math.isfinite(point[1])]
    right, bottom = _WIDTH - _RIGHT, top + _PANEL
    x_ticks = _ticks(0.0, max([x for x, _ in points], default=1.0))
    y_ticks = _ticks(min([y for _, y in points], default=0), max([y for _, y in points], default=1))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0])
        up = (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])
        return _LEFT + across * (right - _LEFT), bottom - up * _PANEL

    parts = [f'<text x="{_LEFT}" y="{top - 8}" font-weight="bold">{escape(title)}</text>']
    for y in y_ticks:
        height = at(x_ticks[0], y)[1]
        parts.append(f'<path d="M{_LEFT} {height:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in x_ticks:
        across = at(x, y_ticks[0])[0]
        parts.append(f'<text x="{across:.1f}" y="{bottom + 16}" text-anchor="middle">{x:g}</text>')
    parts.append(f'<text x="{right + 6}" y="{bottom + 16}">epoch</text>')
    for row, (name, colour, line) in enumerate(series):
        path = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in line if math.isfinite(y))
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )
        parts.append(
            f'<text x="{right + 6}" y="{top + 12 + 16 * row}" fill="{colour}">{name}</text>'
        )
    return parts


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from at or below `low` to at or above `high`, about four of them."""
    spread = max(high - low, 1e-6 * max(abs(high), 1.0))
    size = 10.0 ** math.floor(math.log10(spread / 4))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if spread / (size * m) <= 5)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [round(number * step, 10) for number in range(first, last + 1)]
