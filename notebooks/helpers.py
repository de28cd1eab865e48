"""What the notebooks look like: tables, plots and widgets."""

from __future__ import annotations

import hashlib
import os
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import StrMethodFormatter

TOP = 20
"""Rows of a table, and bars of a plot."""
STATUS = {
    "formal": "tab:blue",
    "informal": "tab:cyan",
    "experimental": "tab:orange",
    "reserved": "tab:red",
    "unregistered": "tab:gray",
}
"""The colour of each status of a namespace."""
_STYLES = [
    {"selector": "th", "props": "text-align: left; white-space: pre; padding-right: 1em"},
    {
        "selector": "td",
        "props": "text-align: left; white-space: pre-wrap; overflow-wrap: anywhere; padding-right: 1em",
    },
]
_PALETTE = "#cfe2f3 #d9ead3 #fff2cc #f4cccc #d9d2e9 #fce5cd #d0e0e3 #ead1dc".split()
_BYTES = {9: "tab", 10: "line feed", 13: "carriage return", 30: "MARC field end"}
_BYTES |= {31: "MARC subfield", 32: "space"}

plt.rcParams.update(
    {
        "figure.facecolor": "white",  # also where the notebook is dark
        "figure.figsize": (8, 3.4),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlepad": 12,
        "axes.titleweight": "bold",
        "legend.frameon": False,
    }
)
# `!urnscan` in a cell is the command of this Python, also where its environment is not active.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])


def show(frame: pd.DataFrame, colours: pd.DataFrame | None = None) -> HTML:
    """A table with its columns to the left and without the numbers of its rows; `colours` are backgrounds of its cells."""
    style = frame.style.hide(axis="index").format(na_rep="")
    style.set_table_styles(_STYLES)
    name = "left"
    if colours is not None:
        style.apply(lambda _: colours, axis=None)
        # Colours are rules for cells of a name, so each table in a page has another one.
        name = hashlib.sha256(f"{frame.to_csv()}{colours.to_csv()}".encode()).hexdigest()[:8]
    return HTML(style.to_html(table_uuid=name))


def show_fields(title: str, fields: Mapping[str, object]) -> HTML:
    """A table with a row for each field that is not empty."""
    texts = {name: str(value) for name, value in fields.items() if value is not None}
    rows = [(name, text) for name, text in texts.items() if text not in ("", "{}", "()")]
    return show(pd.DataFrame(rows, columns=["", title]))


def show_classes(forms: pd.DataFrame, names: str = "spelling") -> HTML:
    """Canonical forms as letters: in a column the same letter is the same class, and a class of several rows has a colour.

    The index has the spellings. An empty form is a dash: the spelling is no URN there.
    """
    letters = forms.apply(_letters)
    colours = letters.apply(_colours)
    for number, frame in enumerate((letters, colours)):
        frame.insert(0, names, "" if number else forms.index)
    return show(letters.reset_index(drop=True), colours.reset_index(drop=True))


def _letters(column: pd.Series) -> list[str]:
    known: dict[str, str] = {}
    return [known.setdefault(form, chr(65 + len(known))) if form else "-" for form in column]


def _colours(column: pd.Series) -> list[str]:
    sizes = column.value_counts()
    several = [letter for letter in sorted(sizes.index) if letter != "-" and sizes[letter] > 1]
    palette = {
        letter: _PALETTE[number % len(_PALETTE)] for number, letter in enumerate(several)
    }
    return [
        f"background: {palette[one]}; color: black" if one in palette else "" for one in column
    ]


def bars(
    counts: pd.Series, title: str, *, unit: str, colours: Sequence[str] | str = "tab:blue"
) -> Axes:
    """Horizontal bars with their numbers, the first on top."""
    _, axes = plt.subplots(figsize=(8, 1.2 + 0.24 * len(counts)))
    drawn = axes.barh(range(len(counts)), counts.to_numpy(), color=colours)
    axes.set_yticks(range(len(counts)), [str(name) for name in counts.index])
    axes.bar_label(drawn, labels=[f"{count:,}" for count in counts], padding=3)
    axes.set(title=title, xlabel=unit, ylabel="")
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return axes


def bars_of_namespaces(names: pd.DataFrame) -> None:
    """Bars of the columns `nid` and `names`, in the colour of `nid_status`."""
    colours = [STATUS[status] for status in names["nid_status"]]
    axes = bars(
        names.set_index("nid")["names"],
        "Names in each namespace",
        unit="names (classes)",
        colours=colours,
    )
    present = [status for status in STATUS if status in set(names["nid_status"])]
    axes.legend(
        handles=[Patch(color=STATUS[status], label=status) for status in present],
        loc="lower right",
    )
    plt.show()


def grouped_bars(frame: pd.DataFrame, title: str, *, unit: str = "number") -> None:
    """Horizontal bars, a group for each row of the frame, the first on top, a colour for each column."""
    height = 1.2 + 0.42 * len(frame)
    axes = frame[::-1].plot.barh(
        figsize=(8.5, height), width=0.8, color=["#bbbbbb", "tab:blue"]
    )
    for drawn in axes.containers:
        axes.bar_label(
            drawn,
            labels=[f"{count:,.0f}" for count in drawn.datavalues],
            padding=3,
            fontsize="small",
        )
    axes.set(title=title, xlabel=unit, ylabel="")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), reverse=True)
    plt.show()


def points(counts: pd.Series, title: str, *, x: str, y: str) -> None:
    """Numbers by other numbers, both on logarithmic scales."""
    _, axes = plt.subplots()
    axes.loglog(counts.index, counts.to_numpy(), "o")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    plt.show()


def pairs(
    names: Sequence[str], fields: Sequence[Sequence[int]], kinds: Mapping[str, str], title: str
) -> None:
    """A square of coloured fields for pairs of names; `fields` has numbers of `kinds`, whose values are colours."""
    places = [number + 0.5 for number in range(len(names))]
    _, axes = plt.subplots(figsize=(9.5, 6.4))
    cells = ListedColormap(list(kinds.values()))
    axes.pcolormesh(
        fields, cmap=cells, vmin=0, vmax=len(kinds) - 1, edgecolors="white", linewidth=1
    )
    axes.set(title=title, xlabel="spelling, in the order of the rows", aspect="equal")
    axes.set_yticks(places, names, family="monospace", fontsize="small")
    axes.set_xticks(places, range(1, len(names) + 1), fontsize="small")
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    legend = [Patch(color=colour, label=name) for name, colour in kinds.items()]
    axes.legend(handles=legend, loc="upper left", bbox_to_anchor=(1, 1))
    plt.show()


def byte(stop: Any) -> str:  # noqa: ANN401 (a number of pandas, or its missing value)
    """What a person calls the byte that ended a name: a value of the column `stop`."""
    if pd.isna(stop):
        return "end of input"
    code = int(stop)
    if code < 0:
        return "cut: too long"
    if 32 < code < 127:
        return chr(code)
    return _BYTES.get(code) or ("non-ASCII" if code > 127 else f"byte {code}")


def with_files(frame: pd.DataFrame) -> pd.DataFrame:
    """Occurrences with a column `file`, the name of the source without its folders."""
    return frame.assign(file=[Path(source).name for source in frame["source"]])


class Browser:
    """Widgets that filter a table of classes: by namespace, by problem, and by a part of a name or of a spelling.

    A frontend without widgets, or a saved notebook, shows the table alone.
    """

    def __init__(self, classes: pd.DataFrame) -> None:
        self.classes = classes
        self.nid = _choice("namespace", classes["nid"])
        codes = classes["problem"].dropna().str.split("; ").explode()
        self.problem = _choice("problem", codes)
        self.name = widgets.Text(description="class", placeholder="a part of a name")
        self.table = widgets.HTML()
        for control in (self.nid, self.problem, self.name):
            control.observe(lambda _: self._update(), names="value")
        self._update()
        self._box = widgets.VBox(
            [widgets.HBox([self.nid, self.problem, self.name]), self.table]
        )

    @property
    def selected(self) -> pd.DataFrame:
        """The classes that fit all three."""
        chosen = self.classes
        if self.nid.value:
            chosen = chosen[chosen["nid"] == self.nid.value]
        if self.problem.value:
            chosen = chosen[
                [
                    self.problem.value in (codes or "").split("; ")
                    for codes in _texts(chosen["problem"])
                ]
            ]
        if part := self.name.value.strip().lower():
            texts = zip(chosen["urn"], chosen["spellings"], strict=True)
            chosen = chosen[
                [part in " ".join([urn, *_spelled(listed)]).lower() for urn, listed in texts]
            ]
        return chosen

    def _update(self) -> None:
        chosen = self.selected.nlargest(TOP, "occurrence_count")
        shown = chosen[["urn", "occurrence_count", "source_count", "valid", "problem"]]
        count = f"<p>{len(self.selected):,} of {len(self.classes):,} names, the most frequent first</p>"
        self.table.value = count + show(shown).data

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:  # noqa: ANN401 (arguments of IPython)
        return {
            **self._box._repr_mimebundle_(),
            "text/html": self.table.value,
            "text/plain": "a table of names",
        }


def _choice(label: str, values: pd.Series) -> widgets.Dropdown:
    """A list of the values with their numbers, the most frequent first."""
    counts = values.value_counts()
    options = [
        (f"{value} ({count:,})", str(value)) for value, count in counts[counts > 0].items()
    ]
    return widgets.Dropdown(description=label, options=[("all", ""), *options], value="")


def _texts(column: pd.Series) -> Iterable[str | None]:
    return [None if pd.isna(value) else value for value in column]


def _spelled(listed: Iterable[Mapping[str, Any]]) -> list[str]:
    return [spelling["text"] for spelling in listed]
