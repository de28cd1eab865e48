"""Charts: a value against the size of the input, with a line for each contender, labelled at its end.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish. A pipe has the colour of its tool, dashed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from corpora import describe
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

__all__ = ["Line", "draw"]

_COLOURS = {
    "urnscan": "#000000",
    "rg": "#D55E00",
    "ugrep": "#E69F00",
    "grep": "#009E73",
    "regex": "#0072B2",
    "re2": "#56B4E9",
    "duckdb": "#CC79A7",
    "polars": "#8A6D3B",
    "cat": "#8C8C8C",
}
_MARKS = {"urnscan": "o", "rg": "s", "ugrep": "^", "grep": "v", "regex": "D", "re2": "P", "duckdb": "X", "polars": "p"}
_FAINT = "#D9D9D9"
_GREY = "#595959"


class Line(NamedTuple):
    """The line of a contender."""

    name: str
    tool: str
    points: Sequence[tuple[int, float]]
    """Bytes of input, and the value for it, greater than 0."""
    dashed: bool = False
    thick: bool = False


def draw(path: Path, title: str, unit: str, formatter: Callable[[float], str], lines: Sequence[Line]) -> None:
    """Draw the lines into an SVG file. The axis of sizes is logarithmic; that of values only if they differ much.

    `formatter` formats the values at the axis.
    """
    values = [value for line in lines for _, value in line.points]
    logarithmic = max(values) > 4 * min(values)
    with mpl.rc_context({"svg.hashsalt": path.stem, "font.size": 10, "svg.fonttype": "path"}):
        figure = Figure(figsize=(9.5, 5.8), facecolor="white")
        axes = figure.add_axes((0.085, 0.1, 0.615, 0.78))
        for line in lines:
            axes.plot(
                *zip(*sorted(line.points), strict=True),
                color=_COLOURS[line.tool],
                linewidth=2.6 if line.thick else 1.4,
                linestyle=(0, (4, 2)) if line.dashed else "-",
                marker=_MARKS.get(line.tool),
                markersize=6 if line.thick else 4.5,
                markerfacecolor="white" if line.dashed else None,
                zorder=4 if line.thick else 3,
            )
        axes.set(xscale="log", yscale="log" if logarithmic else "linear")
        sizes = sorted({size for line in lines for size, _ in line.points})
        axes.set_xlim(sizes[0] / 1.25, sizes[-1] * 1.25)
        axes.set_ylim(min(values) / 1.3 if logarithmic else 0, max(values) * 1.3)
        axes.xaxis.set_major_locator(FixedLocator(sizes))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda byte_count, _: describe(byte_count)))
        axes.xaxis.set_minor_locator(NullLocator())
        if logarithmic:
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 200 * min(values) else (1,)))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: formatter(value)))
        axes.grid(color=_FAINT, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_GREY)
        axes.tick_params(which="both", color=_GREY, labelcolor=_GREY)
        axes.set_xlabel("size of the input", color=_GREY)
        figure.text(0.015, 0.955, title, fontsize=13, fontweight="bold")
        figure.text(0.015, 0.912, f"{unit}; {'both axes' if logarithmic else 'sizes'} logarithmic", color=_GREY)
        for size in sizes:
            _label(axes, [line for line in lines if max(line.points)[0] == size], next_to=size == sizes[-1])
        figure.savefig(path, format="svg", metadata={"Date": None, "Title": title})


def _label(axes: Axes, lines: Sequence[Line], *, next_to: bool) -> None:
    """Label lines that end at the same size: `next_to` the axes, or else right of their ends."""
    ends = [max(line.points) for line in lines]
    places = [axes.transLimits.transform(axes.transScale.transform(end)) for end in ends]
    heights = _apart([float(height) for _, height in places], 0.043)
    for line, end, (across, _), height in zip(lines, ends, places, heights, strict=True):
        colour = _COLOURS[line.tool]
        label = axes.annotate(
            line.name,
            xy=end,
            xytext=(1.05 if next_to else across + 0.03, height),
            textcoords="axes fraction",
            va="center",
            fontsize=9.5,
            fontweight="bold" if line.thick else "normal",
            color=[0.72 * part for part in to_rgb(colour)],  # darker than the lines, because letters are thin
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "alpha": 0.6,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
            annotation_clip=False,
            zorder=5,
        )
        label.set_path_effects([withStroke(linewidth=3, foreground="white")])


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights apart, in the same order, so that each is at least `gap` from the next."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    groups: list[tuple[float, int]] = []  # middle and number of labels that touch
    for index in order:
        middle, members = heights[index], 1
        while groups and middle - groups[-1][0] < gap * (members + groups[-1][1]) / 2:
            other, others = groups.pop()
            middle = (middle * members + other * others) / (members + others)
            members += others
        groups.append((middle, members))
    placed = [middle + gap * (number - (members - 1) / 2) for middle, members in groups for number in range(members)]
    found = dict(zip(order, placed, strict=True))
    return [found[index] for index in range(len(heights))]
