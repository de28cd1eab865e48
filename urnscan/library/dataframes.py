"""Scans of a column of a frame from Python, with a frame of the same library as the result."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from urnscan.display.progress import Progress
from urnscan.errors import ArgumentError, checks_options
from urnscan.library.batches import indices_of, names_of, rows_of, scanned, selected, without_views
from urnscan.library.shared import as_frame, as_polars, as_table, watched
from urnscan.run.options import OF_INPUTS, Options, read_options
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.tables.scanned_columns import count_bytes
from urnscan.tables.schemas import IN_COLUMN
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName

# Number of rows between two reports of progress.
_ROWS = 1 << 16
_Frame = TypeVar("_Frame")
_WANTED = "frame must be a frame of pandas or Polars, or a table of Arrow"
_REMEDIES = {
    "polars": "its method collect() makes one",
    "pyspark": "urnscan.spark.scan_column takes it",
    "pyarrow": 'pyarrow.table({"text": array}) makes one',
    "dask": "its method map_partitions() applies urnscan.scan_frame",
}
"""Library -> advice for an object of that library that is not a frame in memory."""


@checks_options
def scan_frame(
    frame: _Frame,
    column: str | None = None,
    *,
    keep: str | Iterable[str] = (),
    progress: bool | None = None,
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
) -> _Frame:
    """Scan a column of text or bytes of a frame. The result is a frame of the same library with a row for each
    occurrence.

    `frame` is a frame of pandas or Polars, or an object of Arrow: a table, a batch, a reader, or any other object with
    the method `__arrow_c_stream__` (a relation of DuckDB). For an object of Arrow, the result is a `pyarrow.Table`.
    `column` may be left out if there is only one column. A null has no occurrences; without occurrences, the result has
    no rows. `progress`: whether to show a bar; None: in interactive sessions. The other options are those of `scan`.

    The columns are those of the occurrence table, with `row` and `column_name` instead of `source` and `member`, and
    without those of web archives (`captured`, `status`, `mime`): `row` is the number of the row, from 0; `start` (byte
    offset, from 0) and `line` (from 1) are positions in the value. `start` and `length` count bytes of UTF-8, not
    characters: `value.encode()[start : start + length]`. The columns `keep` of `frame` follow, with their types (but
    `large_string` and `large_binary` for Arrow's views), without the index of a pandas frame: `frame.reset_index()`
    makes it a column.

    Raises ArgumentError (a ValueError and a TypeError) if a column is missing or its name is not unique, if `column` is
    not text, for invalid options, for another object than a frame, and if a column to keep has the name of a column of
    the result; FatalError for a file of rules that cannot be read or is wrong.

    >>> import pandas
    >>> notes = pandas.DataFrame({"id": ["a", "b"], "note": [None, "see urn:isbn:0451450523"]})
    >>> scan_frame(notes, "note", keep=["id"])[["id", "row", "start", "urn"]].to_dict("records")
    [{'id': 'b', 'row': 1, 'start': 4, 'urn': 'urn:isbn:0451450523'}]
    """
    (options,) = read_options(locals(), Options, without=OF_INPUTS)
    text, kept_names = names_of(column, keep)
    whole = _whole(frame)
    names = whole.schema.names if isinstance(whole, pa.Table) else [str(name) for name in whole.columns]
    _, *kept = indices_of(names, (text, *kept_names))
    texts = list(selected(whole, (text,)))
    total = sum(count_bytes(batch.column(0)) for batch in texts)
    with watched(progress, "scanning", lambda: total) as shown:
        batches = list(scanned(_reported(texts, shown), options))
    found = as_table(batches, IN_COLUMN, options.metadata())
    result: _Frame = _with_kept(whole, found, kept)
    return result


def _whole(frame: Any) -> Any:  # noqa: ANN401 (of any library)
    """The frame; an object of Arrow as a table, because some objects can be read only once. Raises ArgumentError for
    another object, such as a series.
    """
    if _is(frame, "pandas", "DataFrame") or _is(frame, "polars", "DataFrame"):
        return frame
    if isinstance(frame, pa.RecordBatch) or hasattr(frame, "__arrow_c_stream__"):
        # A series raises these errors.
        with contextlib.suppress(pa.ArrowInvalid, TypeError):
            return pa.table(frame)
    library = type(frame).__module__.partition(".")[0]
    remedy = "its method to_frame() makes one" if hasattr(frame, "to_frame") else _REMEDIES.get(library)
    raise ArgumentError(f"{_WANTED}, not {type(frame).__name__}{f'; {remedy}' if remedy else ''}")


def _is(value: object, library: str, kind: str) -> bool:
    # If the library is not loaded, no value can be of its types.
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, kind))


def _reported(texts: Iterable[pa.RecordBatch], shown: Progress) -> Iterator[pa.RecordBatch]:
    """Yield the rows in smaller batches. The bytes of the first column of a batch are reported when the next one is
    requested, because it is scanned by then.
    """
    for batch in texts:
        for first in range(0, batch.num_rows, _ROWS):
            rows = batch.slice(first, _ROWS)
            yield rows
            shown.on_progress(count_bytes(rows.column(0)))


def _with_kept(frame: Any, found: pa.Table, kept: Sequence[int]) -> Any:  # noqa: ANN401 (of any library)
    """The occurrences `found` as a frame of the library of `frame`, each with the values of the columns `kept`
    (indices) in its row of `frame`. The library selects the rows, so that types unknown to Arrow are unchanged.
    """
    rows = found.column("row")
    if _is(frame, "pandas", "DataFrame"):
        import pandas as pd  # noqa: PLC0415 (loaded already)

        occurrences = as_frame(found)
        columns = frame.iloc[rows.to_numpy(), list(kept)].reset_index(drop=True)
        joined = pd.concat([occurrences, columns], axis="columns")
        joined.attrs = occurrences.attrs
        return joined
    if _is(frame, "polars", "DataFrame"):
        return as_polars(found).hstack(frame[rows.to_numpy(), list(kept)])
    for index in kept:
        field, column = frame.schema.field(index), frame.column(index)
        kind = without_views(field.type)
        values = rows_of(column if kind == field.type else column.cast(kind), rows, field.name)
        found = found.append_column(field.with_type(kind), values)
    return found
