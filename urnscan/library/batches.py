"""Scans of a column of text from Python, batch by batch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import number_array, text_array
from urnscan.errors import ArgumentError, checks_options
from urnscan.run.options import OF_INPUTS, Options, read_options
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.scanners import make_scanner
from urnscan.scanner.views.kinds import ViewName
from urnscan.tables.rows import occurrences_in_values
from urnscan.tables.scanned_columns import is_text, scan_values
from urnscan.tables.schemas import IN_COLUMN
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName, as_strings, as_text

if TYPE_CHECKING:
    import pandas as pd

Names: TypeAlias = Sequence[str | None]
"""The name of the column to scan, then the names of the columns to keep. None as the first name means the only column
of the frame.
"""
_WANTED = "batches must be record batches of Arrow, or a table, frame or series that gives them"
OBJECT = "Object of Polars, not text; map_elements(str, return_dtype=polars.String) makes text of it"
"""End of the message about a column of Polars that contains objects of Python."""
_WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Type whose rows Arrow cannot select -> a type for the same values."""


@checks_options
def scan_batches(
    batches: Iterable[pa.RecordBatch] | pa.Table,
    column: str | None = None,
    *,
    keep: str | Iterable[str] = (),
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
) -> Iterator[pa.RecordBatch]:
    """Scan a column of text or bytes, and yield the occurrences in batches: for data that arrive batch by batch.

    `scan_frame` scans a frame in memory. `batches` are record batches of Arrow, or an object that contains batches: a
    table or a reader of Arrow, a frame of pandas or Polars, a relation of DuckDB, an array, or a series. `column` may
    be left out if there is only one column. A null has no occurrences. The other options are those of `scan`.
    The rows have the columns of the occurrence table, with `row` and `column_name` instead of `source` and `member`:
    `row` is the number of the row in all batches, from 0; `start` (byte offset, from 0) and `line` (from 1) are
    positions in the value. `start` and `length` count bytes of UTF-8, not characters: `value.encode()[start : start +
    length]`. The columns `keep` of `batches` follow, with `large_string` for `string_view`.
    Without occurrences, one batch without rows is yielded, so that `pyarrow.Table.from_batches` accepts the result. But
    `batches` without any batch yield nothing: an empty table of Arrow, frame of pandas, relation of DuckDB.
    Raises ArgumentError (a ValueError and a TypeError) if a column is missing or its name is not unique, if `column` is
    not text, if `batches` contains something other than batches, for invalid options, and if a column to keep has the
    name of a column of the rows. An iterable is checked batch by batch, while its occurrences are read.

    >>> notes = pa.table({"id": ["a", "b"], "note": [None, "see urn:isbn:0451450523"]})
    >>> for rows in scan_batches(notes, "note", keep=["id"]):
    ...     rows.select(["id", "row", "column_name", "start", "urn"]).to_pylist()
    [{'id': 'b', 'row': 1, 'column_name': 'note', 'start': 4, 'urn': 'urn:isbn:0451450523'}]
    """
    (options,) = read_options(locals(), Options, without=OF_INPUTS)
    text, kept = names_of(column, keep)
    return scanned(selected(batches, (text, *kept)), options)


def names_of(column: str | None, keep: str | Iterable[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return `column`, the name of the column to scan, unchanged (None: the only column of the frame), and a tuple of
    the names of the columns to keep, without duplicates. A str `keep` is a single name.

    Raises ArgumentError for a name that is not a str, and for a column to keep with the name of a column of the result
    (schema IN_COLUMN).
    """
    kept = tuple(dict.fromkeys(as_strings("keep", keep)))
    if clash := next((name for name in kept if name in IN_COLUMN.names), None):
        raise ArgumentError(f"occurrences already have a column {clash!r}; rename the one to keep")
    return None if column is None else as_text("column", column), kept


def scanned(batches: Iterable[pa.RecordBatch], options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the occurrences of URNs in the first column of batches, which must be text or bytes: a row for each, with
    the columns of the schema IN_COLUMN, then the values of all other columns in the row of the batch where the
    occurrence is.

    `row` counts the rows of all batches from 0. Without occurrences, yields one batch without rows; without batches,
    nothing. Raises ArgumentError if Arrow cannot select rows of a column.
    """
    scanner = make_scanner(options.grammar(count_lines=True), options.recover)
    first_row = 0
    schema, has_rows = None, False
    for batch in batches:
        schema = pa.schema([*IN_COLUMN, *list(batch.schema)[1:]])
        name = text_array([batch.schema.names[0]])
        for hits in scan_values(scanner, batch.column(0)):
            occurrences = occurrences_in_values(hits, options.level, scanner.grammar.syntax)
            column = pa.DictionaryArray.from_arrays(number_array(np.zeros(len(hits.value), np.int32)), name)
            has_rows = True
            rows = number_array(hits.value)
            kept = (rows_of(batch.column(at), rows, batch.schema.names[at]) for at in range(1, batch.num_columns))
            columns = [number_array(hits.value + first_row), column]
            columns += [*occurrences.select(IN_COLUMN.names[2:]).columns, *kept]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
        first_row += batch.num_rows
    if schema is not None and not has_rows:
        yield pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def selected(batches: Any, names: Names) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 (of any library)
    """Yield batches with only the named columns, in the order of `names`; the first is the column to scan (None: the
    only column). `batches`: record batches of Arrow, or an object that contains batches, such as a table, a reader, a
    frame, an array or a series. In the other columns `string_view` becomes `large_string`, and `binary_view` large
    binary.

    Raises ArgumentError for another object, for a name that is missing or not unique, and if the column to scan is not
    text or bytes: at the call if `batches` has a schema, otherwise when the batch is requested.
    """
    # If pandas is not loaded, `batches` cannot be an object of pandas.
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(batches, pandas.Series):
        batches = batches.to_frame(_name_of(batches, names))
    if pandas is not None and isinstance(batches, pandas.DataFrame):
        batches = _of_pandas(batches, names)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(batches, polars.Series) and batches.dtype == polars.Object:
        batches = batches.to_frame(_name_of(batches, names))
    if polars is not None and isinstance(batches, polars.DataFrame):
        # Arrow would get the addresses of such objects in memory, as bytes.
        for index in indices_of(batches.columns, names):
            if batches.dtypes[index] == polars.Object:
                raise ArgumentError(f"column {batches.columns[index]!r} is {OBJECT}")
    elif isinstance(batches, pa.Array):
        batches = pa.table([batches], names=[_name_of(batches, names)])
    if hasattr(batches, "__arrow_c_stream__"):
        try:
            batches = pa.RecordBatchReader.from_stream(batches)
        # `batches` is a series.
        except pa.ArrowInvalid:
            batches = pa.table([pa.chunked_array(batches)], names=[_name_of(batches, names)]).to_reader()
        # This raises errors even if there are no batches.
        _indices(batches.schema, names)
    elif isinstance(batches, str | bytes) or not isinstance(batches, Iterable):
        raise ArgumentError(f"{_WANTED}, not {type(batches).__name__}")
    return _batches(batches, names)


def _batches(batches: Iterable[Any], names: Names) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            hint = "; texts of a list: pyarrow.array(texts)" if isinstance(batch, str | bytes) else ""
            raise ArgumentError(f"{_WANTED}, not {type(batch).__name__}{hint}")
        text, *kept = _indices(batch.schema, names)
        fields, columns = [batch.schema[text]], [batch.column(text)]
        for index in kept:
            field, column = batch.schema[index], batch.column(index)
            kind = without_views(field.type)
            fields.append(field.with_type(kind))
            columns.append(column if kind == field.type else column.cast(kind))
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _of_pandas(frame: pd.DataFrame, names: Names) -> pa.Table:
    """The named columns of a pandas frame; the others are not read, because Arrow may not know their types."""
    columns = [str(name) for name in frame.columns]
    arrays: dict[str, pa.ChunkedArray] = {}
    for index in indices_of(columns, names):
        problem = f"column {columns[index]!r} {'cannot be kept' if arrays else 'is not text'}"
        arrays[columns[index]] = (array_of_pandas if arrays else texts_of_pandas)(frame.iloc[:, index], problem)
    return pa.table(arrays)


def array_of_pandas(series: pd.Series, problem: str) -> pa.ChunkedArray:
    """Convert a pandas series to an Arrow array; missing values become null.

    Raises ArgumentError if Arrow has no type for the values, for example in a mixture of texts and numbers; its message
    begins with `problem`.
    """
    try:
        # Arrow reads no sparse series. Only such a series has this accessor.
        sparse = getattr(series, "sparse", None)
        array = pa.array(series if sparse is None else sparse.to_dense(), from_pandas=True)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise ArgumentError(f"{problem}: {_not_text(series) or error}") from None
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def texts_of_pandas(series: pd.Series, problem: str) -> pa.ChunkedArray:
    """Convert a pandas series to an Arrow array; missing values become null. A series that is empty or has only missing
    values becomes an array of type string. Other values need not be text: the caller checks the type.

    Raises ArgumentError if Arrow has no type for the values; its message begins with `problem`.
    """
    array = array_of_pandas(series, problem)
    # A series without values has numbers in pandas.
    return pa.chunked_array([pa.nulls(len(array), pa.string())]) if array.null_count == len(array) else array


def _not_text(series: pd.Series) -> str:
    """A sentence about the first value of a series that is not text; empty if all values are text or missing."""
    values = series[series.notna()]
    others = values[[not isinstance(value, str) for value in values]][:1]
    # `tolist` makes numbers of Python out of those of numpy.
    for place, value in zip(others.index.tolist(), others.tolist(), strict=True):
        return f"at {place!r} it holds {value!r:.60}; .astype('string') makes text of all values"
    return ""


def remedy_for(kind: pa.DataType) -> str:
    """Return a part of a message: the pandas calls that convert a column of this Arrow type to text, such as
    `.astype('string') makes it text`. A column of floats is converted to integers first.
    """
    # Integers with missing values are floats in pandas: without Int64, 9780306406157 would become "9780306406157.0".
    steps = ".astype('Int64').astype('string')" if pa.types.is_floating(kind) else ".astype('string')"
    return f"{steps} makes it text"


def _name_of(series: Any, names: Names) -> str:  # noqa: ANN401 (of any library)
    name = getattr(series, "name", None)
    return str(names[0] or "" if name is None else name)


def rows_of(column: pa.Array, rows: pa.Array, name: str) -> pa.Array:
    """Return the values of `column` at the row numbers `rows` (from 0), in the order of `rows`. Raises ArgumentError,
    with the name of the column, if Arrow cannot select rows of its type.
    """
    try:
        return column.take(rows)
    except pa.ArrowNotImplementedError:
        raise ArgumentError(f"column {name!r} cannot be kept: Arrow cannot select rows of {column.type}") from None


def without_views(kind: pa.DataType) -> pa.DataType:
    """Return the type with the Arrow types `string_view` and `binary_view` replaced by large strings and large binary,
    also inside structs and lists (of which those without a fixed size become large lists), because Arrow cannot select
    their rows. Another type is returned unchanged.
    """
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_views(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = without_views(kind.value_type)
        if inner == kind.value_type:
            return kind
        return pa.list_(inner, kind.list_size) if pa.types.is_fixed_size_list(kind) else pa.large_list(inner)
    return _WITHOUT_VIEWS.get(kind, kind)


def _indices(schema: pa.Schema, names: Names) -> list[int]:
    """Indices of the named columns (None: the only column). Raises ArgumentError if the first is not text or bytes."""
    indices = indices_of(schema.names, names)
    if not is_text(kind := schema.types[indices[0]]):
        raise ArgumentError(f"column {schema.names[indices[0]]!r} is {kind}, not text")
    return indices


def indices_of(columns: Sequence[str], names: Names) -> list[int]:
    """Return the index in `columns` of each name, in the order of `names`: the column to scan (None: the only column),
    then the columns to keep.

    Raises ArgumentError if a name is missing or occurs several times in `columns`, and for None if there is not exactly
    one column.
    """
    if names[0] is None and len(columns) != 1:
        raise ArgumentError(f"name the column to scan; there are {', '.join(columns)}")
    return [0 if name is None else _index(columns, name) for name in names]


def _index(names: Sequence[str], column: str) -> int:
    count = names.count(column)
    if count != 1:
        counted = f"{count} columns" if count else "no column"
        raise ArgumentError(f"{counted} {column!r} among {', '.join(names)}")
    return names.index(column)
