"""Scanning from Python: a notebook's corpus, or a column of text that any engine hands over in batches."""

from __future__ import annotations

import html
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrow import octet_strings, text_array
from urnscan.pipeline import Options, Report, run
from urnscan.scanner import Scanner
from urnscan.tables import CLASSES, OCCURRENCES, Found, canonical_column

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Scan", "scan", "scan_batches"]

_SHOWN = 20  # classes that a notebook shows
_ROWS = 1 << 14  # values of a column that are scanned as one text, at most
_TEXT = (pa.null(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


@dataclass(frozen=True)
class Scan:
    """What a scan found; in a notebook it shows itself as a table of the most frequent classes."""

    classes: pa.Table = field(repr=False)
    """One row per equivalence class, sorted by `urn`."""
    occurrences: pa.Table = field(repr=False)
    """One row per occurrence, in the order of the inputs, then by offset."""
    report: Report

    def to_pandas(self) -> pd.DataFrame:
        """The classes as a pandas frame."""
        frame: pd.DataFrame = self.classes.to_pandas()
        return frame

    def _repr_html_(self) -> str:
        report = self.report
        head = f"{report.occurrences:,} occurrences, {report.classes:,} classes, {report.inputs:,} inputs"
        if report.failures:
            head += f", {len(report.failures):,} failed"
        top = self.classes.select(["urn", "nid", "nid_status", "count", "source_count", "variant_count"])
        top = top.take(pc.sort_indices(top, [("count", "descending"), ("urn", "ascending")])[:_SHOWN])
        rows = [f"<tr>{''.join(f'<th>{name}</th>' for name in top.column_names)}</tr>"]
        rows += [
            f"<tr>{''.join(f'<td>{html.escape(str(value))}</td>' for value in row.values())}</tr>"
            for row in top.to_pylist()
        ]
        failures = "".join(f"<li>{html.escape(str(failure))}</li>" for failure in report.failures[:_SHOWN])
        more = f"<p>the {_SHOWN} most frequent of {report.classes:,}</p>" if self.classes.num_rows > _SHOWN else ""
        return f"<p><b>{head}</b></p><table>{''.join(rows)}</table>{more}" + (failures and f"<ul>{failures}</ul>")


def scan(*inputs: str | os.PathLike[str], **options: Any) -> Scan:  # noqa: ANN401 (those of Options)
    """Scan files, folders, globs or standard input (`-`) and hold what is found in memory.

    `options` are the fields of `Options`, named as on the command line: `syntax`, `equivalence`, `trim`, `max_length`
    (octets), `include`, `exclude`, `follow`, `encoding`, `jobs` (threads), `memory` (octets), `strict`. Inputs that
    fail are in `report.failures`. Raises FatalError where none could be read, ValueError and TypeError for options
    that are none. For more than memory holds use the command.
    """
    found: list[pa.RecordBatch] = []
    grouped: list[pa.RecordBatch] = []
    report = run(
        [os.fspath(path) for path in inputs], Options(**options), occurrences=found.append, classes=grouped.append
    )
    return Scan(
        classes=pa.Table.from_batches(grouped, CLASSES).unify_dictionaries(),
        occurrences=pa.Table.from_batches(found, OCCURRENCES).unify_dictionaries(),
        report=report,
    )


def scan_batches(
    batches: Iterable[pa.RecordBatch],
    column: str,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Iterator[pa.RecordBatch]:
    """The occurrences in a column of text or octets, in batches.

    Rows are those of the occurrence table: `source` is empty, `member` is `row/column` with the rows of all batches
    counted from 0, `offset` counts octets within the value, and so does `line`. null holds nothing. `options` are
    those of `scan` that say what is found: `syntax`, `equivalence`, `trim`, `max_length`. Raises KeyError for a column
    that is not there, TypeError for one that is not text.
    """
    rules = Options(**options)
    scanner = Scanner(rules.grammar(count_lines=True))
    first_row = 0
    for batch in batches:
        if column not in batch.schema.names:
            raise KeyError(f"no column {column!r} among {', '.join(batch.schema.names)}")
        values = batch.column(column)
        if not _is_text(values.type):
            raise TypeError(f"column {column!r} is {values.type}, not text")
        for octets in _octets(values):
            yield from _scan_values(scanner, rules, octets, column, first_row)
            first_row += len(octets)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return kind in _TEXT


def _octets(values: pa.Array) -> Iterator[pa.BinaryArray]:
    """The values as octets, each followed by an octet that no URN holds, in parts that 32-bit offsets can count."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    separator = pa.array([b"\0"], pa.binary())[0]
    nothing = pa.array([b""], pa.binary())[0]
    rest = deque(values.slice(start, _ROWS) for start in range(0, len(values), _ROWS))
    while rest:
        part = rest.popleft()
        try:
            yield pc.binary_join_element_wise(part.cast(pa.binary()).fill_null(b""), nothing, separator)
        except pa.ArrowInvalid as error:
            if len(part) == 1:
                raise ValueError("a value has more than 2 GiB; scan it from a file") from error
            half = len(part) // 2
            rest.extendleft((part.slice(half), part.slice(0, half)))


def _scan_values(
    scanner: Scanner, options: Options, values: pa.BinaryArray, column: str, first_row: int
) -> Iterator[pa.RecordBatch]:
    octets, offsets = octet_strings(values)
    starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64) - 1
    line_ends = np.flatnonzero(octets == ord("\n"))
    for matches in scanner.scan_octets(octets[: offsets[-1]]):
        which = matches.locate(starts, ends)
        found = Found(
            matches=matches,
            offset=matches.start - starts[which],
            line=matches.line - np.searchsorted(line_ends, starts[which]),
            source=np.zeros(len(matches), np.int32),
            names=[""],
            member=text_array([f"{first_row + row}/{column}" for row in which.tolist()]),
            urn=canonical_column(matches, options.level),
        )
        yield found.occurrences()
