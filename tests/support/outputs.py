"""Rows for outputs, and ways to write them."""

from __future__ import annotations

import contextlib
from unittest import mock

import numpy as np
import pyarrow as pa

from urnscan.tables import parquet_writer as parquet
from urnscan.tables.parquet_writer import ParquetOutput

SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("kind", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("member", pa.string()),
        pa.field("parts", pa.list_(pa.struct([("text", pa.string()), ("count", pa.int64())]))),
    ]
)
METADATA = {"version": "0", "counts": {"inputs": 1, "ä": None}}


def rows_of(numbers):
    return pa.RecordBatch.from_pylist(
        [
            {
                "key": f"key {number}",
                "kind": f"kind {number % 3}",
                "number": number,
                "member": None if number % 5 else "a member",
                "parts": [{"text": "part", "count": count} for count in range(number % 4)],
            }
            for number in numbers
        ],
        SCHEMA,
    )


def write(path, batches, schema=SCHEMA, **options):
    with ParquetOutput(path, schema, **options) as file:
        for batch in batches:
            file.write(batch)
        file.commit(METADATA)


def fail(path, error, **options):
    """Write a file until an error ends the writing; the file has not changed until then."""
    before = path.read_bytes() if path.exists() else None
    with mock.patch.object(parquet, "_ROW_GROUP", 4), ParquetOutput(path, SCHEMA, **options) as file:
        file.write(rows_of(range(10)))
        assert list(path.parent.iterdir()) != [path]
        assert (path.read_bytes() if path.exists() else None) == before
        raise error


def one_line(caught, path):
    """The message of a FatalError: one line that names the output."""
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message


@contextlib.contextmanager
def incompressible(rows=20_000):
    """A schema and a batch of it that no compression makes smaller."""
    schema = pa.schema([pa.field("octets", pa.binary())])
    noise = np.random.default_rng(1).bytes(rows * 64)
    batch = pa.RecordBatch.from_arrays([pa.array([noise[i : i + 64] for i in range(0, len(noise), 64)])], schema=schema)
    with mock.patch.object(parquet, "_ROW_GROUP", rows // 4):
        yield schema, batch
