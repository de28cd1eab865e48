"""Scanning from Python: inputs with the results in memory, or a column of text, batch by batch."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import text_array
from urnscan.display.text import counted, html_counts, html_failures, html_table, html_trimming
from urnscan.library.context import Context, read_context
from urnscan.library.shared import as_table, watched
from urnscan.run.options import OF_INPUTS, Options, named_inputs, read_keywords
from urnscan.run.pipeline import Report, run
from urnscan.run.tasks import plan_size
from urnscan.scanner.views import make_scanner
from urnscan.tables.rows import occurrences_in_values
from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS
from urnscan.tables.values import is_text, scan_values
from urnscan.urn.parser import URN
from urnscan.urn.syntax import as_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Scan", "scan", "scan_batches"]

_SHOWN = 20  # classes shown in a notebook
_WANTED = "batches must be record batches of Arrow, or a table or frame that gives them"


@dataclass(frozen=True, eq=False)
class Scan:
    """Result of a scan. A notebook shows a table of the most frequent classes."""

    classes: pa.Table = field(repr=False)
    """One row per equivalence class, sorted by `urn`."""
    occurrences: pa.Table = field(repr=False)
    """One row per occurrence, in the order of the inputs, then by offset."""
    report: Report
    """Counts and failures."""
    rejects: pa.Table | None = field(default=None, repr=False)
    """One row for each place where a URN nearly begins, in the same order; None unless asked for."""
    inputs: tuple[str, ...] = field(default=(), repr=False)
    """The arguments of the scan."""
    options: Options = field(default_factory=Options, repr=False)
    """The options of the scan."""

    def to_pandas(self) -> pd.DataFrame:
        """Convert `classes` to a pandas frame."""
        frame: pd.DataFrame = self.classes.to_pandas()
        return frame

    def context(self, urn: str | URN, width: int = 60, *, limit: int | None = 100) -> Context:
        """Show the occurrences of a class with the text around them, like a keyword in a concordance.

        `urn` is any spelling of the class; `width`: characters on each side, up to 10,000; `limit`: occurrences, None for
        all. Only the inputs with these occurrences are read again. If one cannot be read again (standard input, say) or
        has changed, `failures` of the result says what is missing.
        Raises InvalidURN if `urn` is no URN in the syntax of the scan; ArgumentError, a ValueError, if it was not found or
        a number is out of range.
        """
        return read_context(self.inputs, self.options, self.occurrences, urn, width, limit)

    def _repr_html_(self) -> str:
        report = self.report
        counts = [
            counted(report.occurrences, "occurrence"),
            counted(self.classes.num_rows, "class", "classes"),
            counted(report.inputs, "input"),
        ]
        top = self.classes.select(["urn", "nid", "nid_status", "count", "source_count", "variant_count"])
        top = top.take(pc.sort_indices(top, [("count", "descending"), ("urn", "ascending")])[:_SHOWN])
        table = html_table(top.column_names, [tuple(row.values()) for row in top.to_pylist()]) if len(top) else ""
        more = f"<p>the {_SHOWN} most frequent of {len(self.classes):,}</p>" if len(top) < len(self.classes) else ""
        return html_counts(*counts) + table + more + html_trimming(report.trimmable) + html_failures(report.failures)


def scan(
    *inputs: str | os.PathLike[str],
    rejects: bool = False,
    progress: bool | None = None,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Scan:
    """Scan files, folders, globs, URLs or standard input (`-`), with the results in memory.

    `options` are the fields of `Options`, named as on the command line: `syntax`, `equivalence`, `trim`, `recover`,
    `resolver_tail`, `max_length` (octets), `include`, `exclude`, `follow`, `encoding`, `column`, `max_ratio`, `max_size`
    (octets, or text such as "2TB"), `max_depth`, `max_members`, `jobs` (threads), `memory` (octets, or text such as
    "500MB"), `strict`. `rejects` asks for the places where a URN nearly begins. `progress`: whether to show a bar;
    None: in interactive sessions (a notebook, Python on a terminal), after half a second.
    Returns the tables and the counts; inputs that fail are in `report.failures`.
    Raises FatalError if no input could be read, ArgumentError (a ValueError and a TypeError) for invalid options.
    All tables are in memory: for very large inputs use the command.

    >>> from urnscan import samples, scan
    >>> found = scan(samples() / "prose.txt", trim=True)
    >>> found.report.occurrences, found.report.classes
    (21, 17)
    >>> found.to_pandas().nlargest(1, "count")[["urn", "count"]].to_dict("records")
    [{'urn': 'urn:nbn:de:gbv:999-diss-22916', 'count': 3}]
    """
    (rules,) = read_keywords("scan", options, Options)
    paths = named_inputs(inputs)
    found: list[pa.RecordBatch] = []
    grouped: list[pa.RecordBatch] = []
    rejected: list[pa.RecordBatch] = []
    with watched(progress, "scanning", lambda: plan_size(paths, rules)) as shown:
        report = run(
            paths,
            rules,
            occurrences=found.append,
            classes=grouped.append,
            rejects=rejected.append if rejects else None,
            on_failure=shown.on_failure,
            on_progress=shown.on_progress,
            on_grouping=lambda: shown.on_stage("grouping"),
        )
    return Scan(
        classes=as_table(grouped, CLASSES),
        occurrences=as_table(found, OCCURRENCES),
        report=report,
        rejects=as_table(rejected, REJECTS) if rejects else None,
        inputs=paths,
        options=rules,
    )


def scan_batches(
    batches: Iterable[pa.RecordBatch] | pa.Table,
    column: str,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Iterator[pa.RecordBatch]:
    """Scan a column of text or octets; gives the occurrences in batches.

    `batches` are record batches of Arrow, or anything with `__arrow_c_stream__`: a table or a reader of Arrow, a frame of
    pandas or Polars, a relation of DuckDB. Of a pandas frame only this column is read.
    Rows are those of the occurrence table: `source` is empty, `member` is `row/column` with the rows of all batches
    counted from 0, `offset` and `line` count within the value. null has no occurrences. `options` are those of `scan`
    that say what is found: `syntax`, `equivalence`, `trim`, `recover`, `resolver_tail`, `max_length`.
    Raises KeyError if the column is missing or not the only one of its name, TypeError if it is not text or `batches`
    gives no batches, ArgumentError for invalid options.

    >>> notes = pa.table({"note": ["see urn:isbn:0451450523", None, "nothing"]})
    >>> for rows in scan_batches(notes, "note"):
    ...     rows.select(["member", "offset", "urn"]).to_pylist()
    [{'member': '0/note', 'offset': 4, 'urn': 'urn:isbn:0451450523'}]
    >>> pages = notes.to_pandas().set_index([[7, 8, 9]])
    >>> [rows.column("member").to_pylist() for rows in scan_batches(pages, "note")]
    [['0/note']]
    """
    (rules,) = read_keywords("scan_batches", options, Options, without=OF_INPUTS)
    scanner = make_scanner(rules.grammar(count_lines=True), rules.recover)
    first_row = 0
    for values in _values(batches, as_text("column", column)):
        for hits in scan_values(scanner, values):
            member = text_array([f"{first_row + row}/{column}" for row in hits.value.tolist()])
            yield occurrences_in_values(hits, member, rules.level)
        first_row += len(values)


def _values(batches: Any, column: str) -> Iterator[pa.Array]:  # noqa: ANN401 (whatever it is)
    """Values of the column, batch by batch. Raises KeyError and TypeError."""
    pandas = sys.modules.get("pandas")  # not loaded: `batches` is no pandas frame
    if pandas is not None and isinstance(batches, pandas.DataFrame):
        batches = _of_pandas(batches, column)
    if hasattr(batches, "__arrow_c_stream__"):
        try:
            batches = pa.RecordBatchReader.from_stream(batches)
        except pa.ArrowInvalid:
            raise TypeError(f"{_WANTED}, not {type(batches).__name__}, which has no columns") from None
        _place(batches.schema, column)  # raises even if there is no batch
    elif not isinstance(batches, Iterable):
        raise TypeError(f"{_WANTED}, not {type(batches).__name__}")
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(f"{_WANTED}, not {type(batch).__name__}")
        yield batch.column(_place(batch.schema, column))


def _of_pandas(frame: pd.DataFrame, column: str) -> pa.Table:
    """A column of a pandas frame. Arrow may have no type for the others or for the index."""
    series = frame.iloc[:, _index([str(name) for name in frame.columns], column)]
    try:
        return pa.table([pa.array(series, from_pandas=True)], names=[column])
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise TypeError(f"column {column!r} is not text: {error}") from None


def _place(schema: pa.Schema, column: str) -> int:
    """Index of a column of text. Raises KeyError and TypeError."""
    place = _index(schema.names, column)
    if not is_text(kind := schema.types[place]):
        raise TypeError(f"column {column!r} is {kind}, not text")
    return place


def _index(names: Sequence[str], column: str) -> int:
    """Index of the only column of that name. Raises KeyError."""
    times = names.count(column)
    if times != 1:
        shown = f"{times} columns" if times else "no column"
        raise KeyError(f"{shown} {column!r} among {', '.join(names)}")
    return names.index(column)
