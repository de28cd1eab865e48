"""Schemas of the rows that executors exchange, and the conversion of rows to them.

Between executors tables travel as blobs: many rows of Arrow in one value of the type `binary`, compressed. Spark then
moves few large values. Only at the end does it see rows; it has no dictionaries and no unsigned numbers, so columns
become `string` and `smallint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS

_MOMENT = pa.timestamp("us", "UTC")
_NAMES = {
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.string(): "string",
    pa.binary(): "binary",
    _MOMENT: "timestamp",
}


def ddl(schema: Iterable[pa.Field]) -> str:
    """Write a schema in the syntax of Spark."""
    return ", ".join(f"`{field.name}` {_ddl(field.type)}" for field in schema)


def _ddl(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{field.name}`: {_ddl(field.type)}' for field in kind)}>"
    return f"array<{_ddl(kind.value_type)}>" if pa.types.is_list(kind) else _NAMES[kind]


def _plain_schema(schema: Iterable[pa.Field]) -> pa.Schema:
    fields = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.int16() if kind == pa.uint8() else _MOMENT if pa.types.is_timestamp(kind) else kind
        fields.append((field.name, kind))
    return pa.schema(fields)


PLACE = pa.struct([("task", pa.int64()), ("row", pa.int64()), ("input", pa.int32())])
"""Position of an occurrence in the run (frames have no order), and the number of its input."""

OCCURRENCES_HERE = _plain_schema([*OCCURRENCES, pa.field("place", PLACE)])
"""OCCURRENCES with their PLACE."""

REJECTED = _plain_schema(REJECTS)

CLASSES_HERE = _plain_schema(CLASSES)

CUT = pa.schema([("range", pa.int32()), ("task", pa.int64()), ("row", pa.int64()), ("rows", pa.binary())])
"""Blobs of NAMED_PARTIAL rows, each in one range of keys. Those of a range are in input order if sorted by `task` and `row`."""

RAW = pa.schema(
    [
        *(CUT.field(name) for name in ("task", "row")),
        ("kind", pa.string()),
        *(CUT.field(name) for name in ("range", "rows")),
    ]
)
"""All results of tasks in one frame, so that tasks run only once. The blob `rows` holds, by `kind`:

occurrences: OCCURRENCES of one task, with a column `input`; `row` is the number of the first of them in the task.
rejects: REJECTS of one task.
partial: as in CUT. The others have no range.
told: summaries of the tasks of a partition and some of its keys, pickled (`executors.Told`, `keys.Keys`).
"""

PART = pa.schema([("file", pa.string()), ("rows", pa.int64()), ("found", pa.int64()), ("untrimmed", pa.int64())])
"""A file that an executor wrote.

`found` counts what its rows stand for: themselves, or the occurrences of classes. `untrimmed` counts classes with this problem.
"""


def batch(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.RecordBatch:
    """A few rows, given as tuples."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def plain(
    rows: pa.RecordBatch, schema: pa.Schema, more: Mapping[str, pa.Array] = MappingProxyType({})
) -> pa.RecordBatch:
    """Convert rows, and the columns `more`, to a schema of Spark's types."""
    columns: list[Any] = []
    for field in schema:
        column = more[field.name] if field.name in more else rows.column(field.name)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
