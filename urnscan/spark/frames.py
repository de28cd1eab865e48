"""Arrow's tables and Spark's frames: the schemas of what goes between executors, and how rows get into them.

Spark has no dictionaries and no unsigned numbers: its columns are `string` and `smallint` instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from urnscan.tables.rows import CLASSES, OCCURRENCES, PARTIAL, REJECTS

__all__ = [
    "CLASSES_HERE",
    "DONE",
    "FAILURE",
    "OCCURRENCES_HERE",
    "PLACE",
    "PLACED",
    "PLACED_PARTIAL",
    "RAW",
    "REJECTED",
    "TASKS",
    "as_struct",
    "ddl",
    "plain",
]

_NAMES = {
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.string(): "string",
    pa.binary(): "binary",
}


def ddl(schema: Iterable[pa.Field]) -> str:
    """The columns as Spark writes a schema."""
    return ", ".join(f"`{field.name}` {_ddl(field.type)}" for field in schema)


def _ddl(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{field.name}`: {_ddl(field.type)}' for field in kind)}>"
    return f"array<{_ddl(kind.value_type)}>" if pa.types.is_list(kind) else _NAMES[kind]


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.int16() if kind == pa.uint8() else kind


def _plain_schema(schema: Iterable[pa.Field]) -> pa.Schema:
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


TASKS = pa.schema([("task", pa.int64()), ("tasks", pa.binary())])
"""Tasks next to each other, of which `task` is the number of the first, pickled."""

PLACE = pa.struct([("task", pa.int64()), ("row", pa.int64()), ("input", pa.int32())])
"""Where an occurrence stands in the order of a run, for the rows of a frame have none; and which input it is in."""

PLACED = _plain_schema([*OCCURRENCES, pa.field("input", pa.int32())])
"""OCCURRENCES with the places of their inputs."""

OCCURRENCES_HERE = _plain_schema([*OCCURRENCES, pa.field("place", PLACE)])
"""OCCURRENCES as a frame has them."""

REJECTED = _plain_schema(REJECTS)

PLACED_PARTIAL = pa.schema(
    [*_plain_schema(PARTIAL), ("source", pa.string()), ("task", pa.int64()), ("row", pa.int64())]
)
"""PARTIAL with the name of the first source. `task` and `row` tell the order of the rows of a class: a row is of what
lies behind what those before it are of.
"""

CLASSES_HERE = _plain_schema(CLASSES)

FAILURE = pa.schema([("input", pa.int32()), ("source", pa.string()), ("reason", pa.string())])
"""What could not be read; `input` is the place of a file if that was in a part of it, else null."""

DONE = pa.schema(
    [
        ("input", pa.int32()),  # of a part the place of its file, else null
        *((name, pa.int64()) for name in ("inputs", "octets", "occurrences", "rejects", "trimmable", "lines")),
    ]
)
"""What a task did."""

RAW = pa.schema(
    [
        ("task", pa.int64()),
        ("row", pa.int64()),  # rises within a task
        *(
            (name, pa.struct(list(schema)))
            for name, schema in (
                ("occurrence", PLACED),
                ("reject", REJECTED),
                ("partial", PLACED_PARTIAL),
                ("failure", FAILURE),
                ("done", DONE),
            )
        ),
    ]
)
"""All that comes out of tasks, so that they are done once: each row has one of the structs."""


def plain(
    rows: pa.RecordBatch, schema: pa.Schema, more: Mapping[str, pa.Array] = MappingProxyType({})
) -> pa.RecordBatch:
    """Rows, and columns that they lack, in a schema of types that Spark has."""
    columns: list[Any] = []
    for field in schema:
        column = more[field.name] if field.name in more else rows.column(field.name)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def as_struct(rows: pa.RecordBatch) -> pa.StructArray:
    """Rows as one column."""
    return pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))
