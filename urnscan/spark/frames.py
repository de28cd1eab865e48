"""Schemas of the rows that executors exchange, and the conversion of rows to them.

Spark has no dictionaries and no unsigned numbers: columns become `string` and `smallint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from urnscan.tables.schemas import CLASSES, OCCURRENCES, PARTIAL, REJECTS

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
    """Write a schema in the syntax of Spark."""
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
"""Neighbouring tasks, pickled; `task` is the number of the first."""

PLACE = pa.struct([("task", pa.int64()), ("row", pa.int64()), ("input", pa.int32())])
"""Position of an occurrence in the run (frames have no order), and the number of its input."""

PLACED = _plain_schema([*OCCURRENCES, pa.field("input", pa.int32())])
"""OCCURRENCES with the numbers of their inputs."""

OCCURRENCES_HERE = _plain_schema([*OCCURRENCES, pa.field("place", PLACE)])
"""OCCURRENCES with their PLACE."""

REJECTED = _plain_schema(REJECTS)

PLACED_PARTIAL = pa.schema(
    [*_plain_schema(PARTIAL), ("source", pa.string()), ("task", pa.int64()), ("row", pa.int64())]
)
"""PARTIAL with the name of the first source. Sorted by `task` and `row`, rows of a class are in input order."""

CLASSES_HERE = _plain_schema(CLASSES)

FAILURE = pa.schema([("input", pa.int32()), ("source", pa.string()), ("reason", pa.string())])
"""Failures; `input` is the number of the file if a part of it failed, otherwise null."""

DONE = pa.schema(
    [
        ("input", pa.int32()),  # of a part, the number of its file; otherwise null
        *((name, pa.int64()) for name in ("inputs", "octets", "occurrences", "rejects", "trimmable", "lines")),
    ]
)
"""Counts of a task."""

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
"""All results of tasks in one frame, so that tasks run only once: each row has one of the structs."""


def plain(
    rows: pa.RecordBatch, schema: pa.Schema, more: Mapping[str, pa.Array] = MappingProxyType({})
) -> pa.RecordBatch:
    """Convert rows, and the columns `more`, to a schema of Spark's types."""
    columns: list[Any] = []
    for field in schema:
        column = more[field.name] if field.name in more else rows.column(field.name)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def as_struct(rows: pa.RecordBatch) -> pa.StructArray:
    """Rows as one column of structs."""
    return pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))
