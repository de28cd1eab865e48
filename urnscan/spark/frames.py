"""Schemas of the rows that executors exchange, and conversion of rows to them.

Executors exchange tables as blobs. A blob is a value of the type `binary` with many rows of Arrow, compressed. So Spark
moves few large values. Only the final tables have rows of Spark. Spark has neither dictionaries nor unsigned numbers,
so columns of these types become `string` and `smallint`.
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
    """A schema of Arrow, with types that Spark has, in the syntax of Spark: names and types with commas between them.

    >>> ddl(pa.schema([("urn", pa.string()), ("start", pa.int64())]))
    '`urn` string, `start` bigint'
    """
    return ", ".join(f"`{field.name}` {_ddl(field.type)}" for field in schema)


def _ddl(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{field.name}`: {_ddl(field.type)}' for field in kind)}>"
    return f"array<{_ddl(kind.value_type)}>" if pa.types.is_list(kind) else _NAMES[kind]


def _spark_schema(schema: Iterable[pa.Field]) -> pa.Schema:
    fields = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.int16() if kind == pa.uint8() else _MOMENT if pa.types.is_timestamp(kind) else kind
        fields.append((field.name, kind))
    return pa.schema(fields)


PLACE = pa.struct([("task", pa.int64()), ("row", pa.int64()), ("input", pa.int32())])
"""Position of an occurrence in the run, because frames have no order: number of the task, and of the row in it; and the
number of the input; all from 0.
"""

SPARK_OCCURRENCES = _spark_schema([*OCCURRENCES, pa.field("place", PLACE)])
"""OCCURRENCES in types of Spark, with a column `place`."""

SPARK_REJECTS = _spark_schema(REJECTS)
"""REJECTS in types of Spark."""

SPARK_CLASSES = _spark_schema(CLASSES)
"""CLASSES in types of Spark."""

PARTIAL_BLOBS = pa.schema([("range", pa.int32()), ("task", pa.int64()), ("row", pa.int64()), ("rows", pa.binary())])
"""Blobs of NAMED_PARTIAL rows. All rows of a blob are in the same range of keys (canonical forms).

Sorted by `task` and `row`, the blobs of a range are in the order of the inputs.
"""

RESULTS = pa.schema(
    [
        *(PARTIAL_BLOBS.field(name) for name in ("task", "row")),
        ("kind", pa.string()),
        *(PARTIAL_BLOBS.field(name) for name in ("range", "rows")),
    ]
)
"""All results of tasks. They are in one frame, so that each task runs only once. `kind` describes the content of the
blob `rows`:

occurrences: OCCURRENCES of a task, with a column `input`; `row` is the number of the first of these rows in the task,
from 0.
rejects: REJECTS of a task.
partial: NAMED_PARTIAL rows of a range of keys, `range`. (In blobs of other kinds, `range` has no meaning.)
summaries: summaries of the tasks of a partition (`summaries.TaskSummary`) and a sample of the keys (`keys.KeySample`),
pickled.
"""

WRITTEN_FILES = pa.schema(
    [("file", pa.string()), ("rows", pa.int64()), ("occurrences", pa.int64()), ("untrimmed", pa.int64())]
)
"""Files that executors wrote.

`rows` is the number of rows. `occurrences` is also the number of rows, or, in a file of classes, the sum of
`occurrence_count`. `untrimmed` is the number of classes with the problem `untrimmed`.
"""


def batch(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.RecordBatch:
    """A batch of the schema with the given rows, which are tuples of Python values; without rows an empty batch."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def to_spark_types(
    rows: pa.RecordBatch, schema: pa.Schema, other: Mapping[str, pa.Array] = MappingProxyType({})
) -> pa.RecordBatch:
    """Return rows with the columns, in their order, and the types of a schema of Spark. Arrays in `other`, by name,
    replace or add columns; columns that the schema does not have are left out. Raises KeyError for a column of the
    schema that is neither in the rows nor in `other`.
    """
    columns: list[Any] = []
    for field in schema:
        column = other[field.name] if field.name in other else rows.column(field.name)
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
