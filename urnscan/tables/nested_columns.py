"""Nested columns as plain texts: as JSON in a cell, or with `--flat` as several columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import decoded, text_array
from urnscan.tables.printed_lines import json_values, moments

_BETWEEN = "; "
"""Separator between the elements of a list. No URN contains a space."""


def cell_values(column: pa.Array) -> pa.Array:
    """The values of a column for a spreadsheet: a list as JSON, a time as text in ISO 8601, any other value unchanged.
    A dictionary-encoded column is decoded.
    """
    if pa.types.is_list(column.type):
        return json_values(column)
    return moments(column) if pa.types.is_timestamp(column.type) else decoded(column)


def flat_names(field: pa.Field) -> list[str]:
    """The names of the columns that a column becomes with `--flat`. A list of structures becomes a column for each
    field of the structures; any other column keeps its name.

    >>> kind = pa.list_(pa.struct({"text": pa.string(), "count": pa.int64()}))
    >>> flat_names(pa.field("spellings", kind)), flat_names(pa.field("urns", pa.list_(pa.string())))
    (['spellings_text', 'spellings_count'], ['urns'])
    """
    if not pa.types.is_list(field.type) or not pa.types.is_struct(field.type.value_type):
        return [field.name]
    return [f"{field.name}_{inner.name}" for inner in field.type.value_type]


def flat_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of a table that is written with `--flat`: each list is replaced by a column of texts, a list of
    structures by a column of texts for each field (`flat_names`). Other columns stay.
    """
    return pa.schema(
        pa.field(name, pa.string(), field.nullable) if pa.types.is_list(field.type) else field
        for field in schema
        for name in flat_names(field)
    )


def flat_rows(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows with each list replaced by a single text, with `; ` between the elements; an empty list becomes
    an empty text. Other columns stay.

    A list of structures becomes a text for each field: `spellings` becomes `spellings_text` and `spellings_count`.

    >>> flat_rows(pa.RecordBatch.from_pydict({"urns": [["urn:a:b", "urn:c:d"], []]})).to_pylist()
    [{'urns': 'urn:a:b; urn:c:d'}, {'urns': ''}]
    """
    columns = [column for each in rows.columns for column in _flat(each)]
    names = [(name, field.nullable) for field in rows.schema for name in flat_names(field)]
    # Row groups of Parquet are encoded separately, so their columns must be nullable exactly if those of the file are.
    fields = [pa.field(name, column.type, may) for (name, may), column in zip(names, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _flat(column: pa.Array) -> Iterator[pa.Array]:
    if not pa.types.is_list(column.type):
        yield column
        return
    elements = column.values
    for values in elements.flatten() if pa.types.is_struct(elements.type) else [elements]:
        lists = pa.ListArray.from_arrays(column.offsets, values.cast(pa.string()))
        yield pc.binary_join(lists, text_array([_BETWEEN])[0])


class FlatTable:
    """An output for rows with nested columns, which writes them to another output with the columns of `flat_rows`: a
    list as a text, a list of structures as a text for each field. All attributes except `write` are those of that
    output: `commit`, `folder` and others.
    """

    def __init__(self, table: Any) -> None:  # noqa: ANN401 (each output has its own type)
        """`table` is the output to which the rows are written: an `Output` whose schema is the result of `flat_schema`."""
        self._table = table

    def __enter__(self) -> Self:
        self._table.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._table.__exit__(*error)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (of any type)
        return getattr(self._table, name)

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows of the nested schema, with each list replaced by a text. Raises FatalError if that fails."""
        self._table.write(flat_rows(rows))
