"""Scanning from Python: a notebook's corpus, or a column of text that any engine hands over in batches."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import text_array
from urnscan.display.progress import show_if_wanted
from urnscan.display.text import counted, html_counts, html_failures, html_table, html_trimming
from urnscan.errors import SourceError
from urnscan.library.context import Context, read_context
from urnscan.run.failures import saying_why
from urnscan.run.options import OF_INPUTS, Options, named_inputs, read_keywords
from urnscan.run.pipeline import Report, run
from urnscan.run.tasks import plan_size
from urnscan.scanner.views import make_scanner
from urnscan.tables.rows import CLASSES, OCCURRENCES, REJECTS, Found, canonical_column
from urnscan.tables.values import is_text, scan_values
from urnscan.urn.syntax import URN, as_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Scan", "scan", "scan_batches"]

_SHOWN = 20  # classes that a notebook shows
_WANTED = "batches must be record batches of Arrow, or a table or frame that gives them"


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan found; in a notebook it shows itself as a table of the most frequent classes."""

    classes: pa.Table = field(repr=False)
    """One row per equivalence class, sorted by `urn`."""
    occurrences: pa.Table = field(repr=False)
    """One row per occurrence, in the order of the inputs, then by offset."""
    report: Report
    """What was counted, and what could not be read."""
    rejects: pa.Table | None = field(default=None, repr=False)
    """One row for each place where a URN nearly begins, in the same order; None where they were not asked for."""
    inputs: tuple[str, ...] = field(default=(), repr=False)
    """What was scanned, as it was named."""
    options: Options = field(default_factory=Options, repr=False)
    """By what it was scanned."""

    def to_pandas(self) -> pd.DataFrame:
        """The classes as a pandas frame."""
        frame: pd.DataFrame = self.classes.to_pandas()
        return frame

    def context(self, urn: str | URN, width: int = 60, *, limit: int | None = 100) -> Context:
        """The occurrences of a class with what stands around them, as a concordance shows a keyword.

        `urn` is any spelling of it; `width` says how many characters are shown on each side, up to 10,000; `limit` how many
        occurrences, None: all. The inputs that hold them are read once more, and nothing of the others. Where one cannot be
        read again (standard input, say) or has changed, what is missing is told in `failures` of what is returned.
        Raises InvalidURN where `urn` is none in the syntax of the scan, and ArgumentError, a ValueError, where it was not
        found, or width or limit is no such number.
        """
        return read_context(self.inputs, self.options, self.occurrences, urn, width, limit)

    def _repr_html_(self) -> str:
        report = self.report
        head = [
            counted(report.occurrences, "occurrence"),
            counted(self.classes.num_rows, "class", "classes"),
            counted(report.inputs, "input"),
        ]
        top = self.classes.select(["urn", "nid", "nid_status", "count", "source_count", "variant_count"])
        top = top.take(pc.sort_indices(top, [("count", "descending"), ("urn", "ascending")])[:_SHOWN])
        rows = [tuple(row.values()) for row in top.to_pylist()]
        more = (
            f"<p>the {_SHOWN} most frequent of {self.classes.num_rows:,}</p>" if len(rows) < len(self.classes) else ""
        )
        table = html_table(top.column_names, rows) if rows else ""
        return html_counts(*head) + table + more + html_trimming(report.trimmable) + html_failures(report.failures)


def scan(
    *inputs: str | os.PathLike[str],
    rejects: bool = False,
    progress: bool | None = None,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Scan:
    """Scan files, folders, globs, URLs or standard input (`-`) and hold what is found in memory.

    `options` are the fields of `Options`, named as on the command line: `syntax`, `equivalence`, `trim`, `recover`,
    `resolver_tail`, `max_length` (octets), `include`, `exclude`, `follow`, `encoding`, `column`, `max_ratio`, `max_size`
    (octets, or text such as "2TB"), `max_depth`, `max_members`, `jobs` (threads), `memory` (octets, or text such as
    "500MB"), `strict`. `rejects` asks for what begins like a URN and is none. `progress`: whether a bar tells how far it
    is; None: where a session is interactive (a notebook, Python on a terminal), and it takes more than half a second.
    Returns the tables and what was counted; inputs that fail are in `report.failures`.
    Raises FatalError where none could be read, ArgumentError (a ValueError and a TypeError) for options that are none.
    For more than memory holds use the command.

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
    failures: list[SourceError] = []
    with saying_why(failures), contextlib.ExitStack() as stack:
        shown = show_if_wanted(progress, "scanning", lambda: plan_size(paths, rules), stack)
        report = run(
            paths,
            rules,
            occurrences=found.append,
            classes=grouped.append,
            rejects=rejected.append if rejects else None,
            on_failure=failures.append,
            on_progress=shown.on_progress,
            on_grouping=lambda: shown.on_stage("grouping"),
        )
    return Scan(
        classes=pa.Table.from_batches(grouped, CLASSES).unify_dictionaries(),
        occurrences=pa.Table.from_batches(found, OCCURRENCES).unify_dictionaries(),
        report=report,
        rejects=pa.Table.from_batches(rejected, REJECTS).unify_dictionaries() if rejects else None,
        inputs=paths,
        options=rules,
    )


def scan_batches(
    batches: Iterable[pa.RecordBatch] | pa.Table,
    column: str,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Iterator[pa.RecordBatch]:
    """The occurrences in a column of text or octets, in batches.

    `batches` are record batches of Arrow, or anything that hands itself over as such (`__arrow_c_stream__`): a table or
    a reader of Arrow, a frame of pandas or Polars, a relation of DuckDB. Of a frame of pandas that column alone is read.
    Rows are those of the occurrence table: `source` is empty, `member` is `row/column` with the rows of all batches
    counted from 0, `offset` counts octets within the value, and so does `line`. null holds nothing. `options` are
    those of `scan` that say what is found: `syntax`, `equivalence`, `trim`, `recover`, `resolver_tail`,
    `max_length`. Raises KeyError for a column that is not there or not the only one of its name, TypeError for one that
    is not text and for what gives no batches, ArgumentError for options that are none.

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
            found = Found(
                matches=hits.matches,
                offset=hits.offset,
                line=hits.line,
                source=np.zeros(len(hits.matches), np.int32),
                names=[""],
                member=text_array([f"{first_row + row}/{column}" for row in hits.value.tolist()]),
                urn=canonical_column(hits.matches, rules.level),
            )
            yield found.occurrences()
        first_row += len(values)


def _values(batches: Any, column: str) -> Iterator[pa.Array]:  # noqa: ANN401 (whatever it is)
    """The column, batch by batch. Raises KeyError and TypeError."""
    pandas = sys.modules.get("pandas")  # who has not loaded it has no frame of it
    if pandas is not None and isinstance(batches, pandas.DataFrame):
        batches = _of_pandas(batches, column)
    if hasattr(batches, "__arrow_c_stream__"):
        try:
            batches = pa.RecordBatchReader.from_stream(batches)
        except pa.ArrowInvalid:
            raise TypeError(f"{_WANTED}, not {type(batches).__name__}, which has no columns") from None
        _place(batches.schema, column)  # there may be no batch
    elif not isinstance(batches, Iterable):
        raise TypeError(f"{_WANTED}, not {type(batches).__name__}")
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(f"{_WANTED}, not {type(batch).__name__}")
        yield batch.column(_place(batch.schema, column))


def _of_pandas(frame: pd.DataFrame, column: str) -> pa.Table:
    """That column of a frame: for the others and the index Arrow may have no type."""
    series = frame.iloc[:, _index([str(name) for name in frame.columns], column)]
    try:
        return pa.table([pa.array(series, from_pandas=True)], names=[column])
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise TypeError(f"column {column!r} is not text: {error}") from None


def _place(schema: pa.Schema, column: str) -> int:
    """Where a column of text stands. Raises KeyError and TypeError."""
    place = _index(schema.names, column)
    if not is_text(kind := schema.types[place]):
        raise TypeError(f"column {column!r} is {kind}, not text")
    return place


def _index(names: Sequence[str], column: str) -> int:
    """Where the only column of that name stands. Raises KeyError."""
    times = names.count(column)
    if times != 1:
        shown = f"{times} columns" if times else "no column"
        raise KeyError(f"{shown} {column!r} among {', '.join(names)}")
    return names.index(column)
