"""Geometry of the charts and bars, as text that templates put into SVG and HTML.

Bars are laid out in percent of the available width, so that letters keep their size on a phone. Their lengths and the
axis are logarithmic, so that rare things are seen beside frequent ones.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Bar", "Bars", "Curve", "Row", "Tick", "bar_chart", "bars", "shortened", "size_chart"]

_LABEL, _BAR, _GAP, _AXIS = 19, 9, 9, 22
"""Heights in pixels: a line of text, a bar, the gap between two rows, the axis."""
_TICKS = 5
_LETTERS = 28
"""Letters of a label that fit beside the numbers on a phone."""

_LEFT, _RIGHT, _TOP, _BOTTOM, WIDTH, HEIGHT = 72, 14, 12, 46, 480, 320
"""The curve's margins and size, in units of its own."""


class Tick(NamedTuple):
    """A line of the grid and its number."""

    at: str
    label: str
    anchor: str = "middle"


class Row(NamedTuple):
    """A label with a bar for each series."""

    label: str
    """Shortened to the room that there is."""
    numbers: str
    text_y: str
    bars: Sequence[tuple[str, str]]
    """y and width in percent of each bar."""


class Bars(NamedTuple):
    """A chart of horizontal bars."""

    rows: Sequence[Row]
    ticks: Sequence[Tick]
    height: str
    bar: str
    grid: str
    """y of the end of the grid lines."""
    axis: str
    """y of the numbers of the axis."""


class Bar(NamedTuple):
    """A row of a table with a bar."""

    label: str
    number: int
    others: tuple[int | str, ...]
    """Further columns."""
    width: str
    """Width of the bar in percent."""


class Curve(NamedTuple):
    """A chart with two logarithmic axes: a line that falls in steps, and dots."""

    line: str
    """A path."""
    dots: Sequence[tuple[str, str]]
    across: Sequence[Tick]
    up: Sequence[Tick]
    view: str
    left: str
    right: str
    top: str
    bottom: str


def bars(rows: Iterable[tuple[str, int, *tuple[int | str, ...]]]) -> list[Bar]:
    """Rows of a label, a count and further columns, with a bar for each count.

    >>> [bar.width for bar in bars([("1", 999), ("2", 9), ("3", 0)])]
    ['100.0', '33.3', '0.0']
    """
    rows = list(rows)
    widths = _widths([count for _, count, *_ in rows])
    return [Bar(label, count, tuple(others), f"{widths[count]:.1f}") for label, count, *others in rows]


def _widths(numbers: Iterable[int]) -> dict[int, float]:
    """Width in percent of the bar of each number. It grows with the logarithm, so that rare things are seen, too."""
    numbers = set(numbers)
    longest = math.log1p(max(numbers, default=0)) or 1.0
    return {number: 100 * math.log1p(number) / longest for number in numbers}


def bar_chart(rows: Iterable[tuple[str, *tuple[int, ...]]]) -> Bars:
    """A chart of labels, each with a number for each series.

    >>> chart = bar_chart([("isbn", 999, 9), ("nbn", 0, 0)])
    >>> [(row.label, row.numbers, [width for _, width in row.bars]) for row in chart.rows]
    [('isbn', '999 · 9', ['100.00', '33.33']), ('nbn', '0 · 0', ['0.00', '0.00'])]
    >>> [tick.label for tick in chart.ticks]
    ['1', '10', '100']
    """
    rows = list(rows)
    every = [number for _, *numbers in rows for number in numbers]
    widths = _widths(every)
    longest = math.log1p(max(every, default=0)) or 1.0
    shown, y = [], 0
    for label, *numbers in rows:
        placed = [(str(y + _LABEL + _BAR * place), f"{widths[number]:.2f}") for place, number in enumerate(numbers)]
        shown.append(Row(shortened(label), " · ".join(f"{number:,}" for number in numbers), str(y + 13), placed))
        y += _LABEL + _BAR * len(numbers) + _GAP
    ticks = []
    powers = range(int((longest + 1e-9) / math.log(10)) + 1)
    for power in powers[:: -(-len(powers) // _TICKS)]:
        at = 100 * math.log1p(10**power) / longest
        if at <= 100:
            ticks.append(Tick(f"{at:.2f}", _power(power), "end" if at > 90 else "middle"))
    return Bars(shown, ticks, str(y + _AXIS), str(_BAR - 1), str(y), str(y + 15))


def size_chart(sizes: Mapping[int, int]) -> Curve:
    """The number of classes by their size: of each size (dots), and of that size or more (the line). Axes are
    logarithmic.

    >>> chart = size_chart({1: 90, 10: 10})
    >>> chart.dots
    [('72.0', '18.0'), ('466.0', '143.0')]
    >>> chart.line
    'M72.0,12.0V12.0H466.0V143.0'
    """
    ordered = sorted(sizes.items())
    classes = sum(sizes.values())
    across = max(1, math.ceil(math.log10(max(sizes, default=1)) - 1e-9))
    up = max(1, math.ceil(math.log10(max(classes, 1)) - 1e-9))

    def place(size: int, number: int) -> tuple[str, str]:
        x = _LEFT + (WIDTH - _LEFT - _RIGHT) * math.log10(size) / across
        y = HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * math.log10(number) / up
        return f"{x:.1f}", f"{y:.1f}"

    dots = list(dict.fromkeys(place(size, number) for size, number in ordered if number))
    steps, left = [], classes
    for size, number in ordered:
        steps.append(place(size, left))
        left -= number
    path = [f"M{x},{y}" for x, y in steps[:1]] + [f"V{y}" for _, y in steps[:1]]
    path += [f"H{x}V{y}" for (before, above), (x, y) in pairwise(steps) if (before, above) != (x, y)]
    return Curve(
        line="".join(path),
        dots=dots,
        across=[Tick(place(10**power, 1)[0], _power(power)) for power in range(0, across + 1, -(-across // 8))],
        up=[Tick(place(1, 10**power)[1], _power(power), "end") for power in range(0, up + 1, -(-up // 8))],
        view=f"0 0 {WIDTH} {HEIGHT}",
        left=str(_LEFT),
        right=str(WIDTH - _RIGHT),
        top=str(_TOP),
        bottom=str(HEIGHT - _BOTTOM),
    )


def shortened(text: str, most: int = _LETTERS) -> str:
    """The text, or its beginning and end if it is longer than `most`; a wide letter counts twice.

    >>> shortened("catalogue/2026/part-000017.marcxml.gz", 20)
    'catal…0017.marcxml.gz'
    """
    widths = [1 + (unicodedata.east_asian_width(character) in "WF") for character in text[: 4 * most]]
    if len(text) <= most and sum(widths) <= most:
        return text
    most //= 2 if max(widths) > 1 else 1
    return f"{text[: most // 4]}…{text[-(most - most // 4) :]}"


def _power(power: int) -> str:
    """A power of ten as a label of an axis.

    >>> _power(3), _power(6), _power(11)
    ('1,000', '1 M', '100 G')
    """
    if power < 6:
        return f"{10**power:,}"
    return f"{10 ** (power % 3)} {'MGTPE'[min(power // 3 - 2, 4)]}"
