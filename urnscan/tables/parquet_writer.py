"""Parquet writer: the same rows give the same file, for any sizes of batches and any number of threads.

Row groups are independent. A thread encodes each row group as a separate file, in memory, and the results are written
to the output in order. The file is the same as a single writer of pyarrow would write. That writer encodes one row
group after the other in one thread, which was a third of the CPU time of a scan of text with many URNs.
"""

from __future__ import annotations

import base64
import contextlib
import os
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from urnscan.compiled.arrow import byte_strings, numbers
from urnscan.errors import FatalError
from urnscan.pool import Pool, Timings
from urnscan.tables.metadata import with_metadata
from urnscan.tables.output_file import Output, as_fatal, begin_sync, name_of
from urnscan.tables.parquet_footer import MAGIC, RowGroup, end_of_file
from urnscan.tables.plain_output import CODECS, NOT_WRITTEN, suffix_of

# A row group is full when it has this many rows, or this many bytes in their texts.
_ROW_GROUP = 1 << 17
_ROW_GROUP_BYTES = 1 << 25

_NOT_PARQUET = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".xlsx", ".html", ".db", ".sqlite", *CODECS, *NOT_WRITTEN)
"""Suffixes of other formats. A program that expects another format could not read a Parquet file with such a name."""


class ParquetOutput(Output):
    """An output file in Parquet, which appears only when `commit` is called, like every `Output`.

    The `metadata` of `complete` or `commit` are stored as JSON under the key `urnscan`, in the metadata of the file and
    of the schema, together with the entries that pandas reads.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | IO[bytes],
        schema: pa.Schema,
        *,
        dictionaries: Sequence[str] | bool = True,
        statistics: Sequence[str] | bool = True,
        force: bool = False,
        pool: Pool | None = None,
    ) -> None:
        """`path`: a path, a URL, or an open binary stream, which gets all bytes at `commit`, and is not closed.

        `dictionaries` are the leaf columns (`urn`, for a list `urns.list.element`) that get a dictionary, because their
        values repeat; `statistics` those that get minimum and maximum, because readers filter by them; True: all leaf
        columns, False: none.

        Threads of `pool` encode row groups; None: the calling thread does. Raises FatalError if the file exists already
        (unless `force`), if nothing can be written to its folder, and for the suffix of a known other format (`.csv`).
        """
        name = name_of(path)
        suffix = suffix_of(name)
        if suffix in _NOT_PARQUET:
            raise FatalError(f"{name}: tables are written in Parquet, not as {suffix}; use .parquet")
        super().__init__(path, force=force)
        self.schema = schema
        self._properties = {
            # With zstd the file is a third smaller, and writing it takes 1.5 times as long.
            "compression": "snappy",
            "use_dictionary": dictionaries,
            "write_statistics": statistics,
            # Rows that an encoder gets in a call. More rows mean fewer calls.
            "write_batch_size": 1 << 16,
        }
        self._repeating = () if isinstance(dictionaries, bool) else dictionaries
        self._pool = pool
        self._timings = Timings() if pool is None else pool.timings
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = self._pending_bytes = 0
        self._encoding: deque[Future[RowGroup]] = deque()
        self._written_groups: list[bytes] = []
        self._written_rows = 0
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._file = self._written.open("wb")
            self._clean_up.callback(self._close)
            self._file.write(MAGIC)
            stack.pop_all()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows of the schema; a column of strings may have a dictionary. A row group is encoded when it is full
        (131,072 rows, or about 32 MiB of text), so row groups begin at the same rows for any sizes of batches. Raises
        FatalError if the disk is full or fails, perhaps only at a later call.
        """
        ends = np.cumsum(_bytes(rows, self._repeating))
        start = 0
        while start < rows.num_rows:
            before = int(ends[start - 1]) if start else 0
            full = int(np.searchsorted(ends, before + _ROW_GROUP_BYTES - self._pending_bytes, side="left")) + 1
            stop = min(rows.num_rows, start + _ROW_GROUP - self._pending_rows, max(full, start + 1))
            self._pending.append(rows.slice(start, stop - start))
            self._pending_rows += stop - start
            self._pending_bytes += int(ends[stop - 1]) - before
            if self._pending_rows >= _ROW_GROUP or self._pending_bytes >= _ROW_GROUP_BYTES:
                self._write_group()
            start = stop

    def _write_end(self, metadata: Mapping[str, Any]) -> None:
        if self._pending_rows:
            self._write_group()
        while self._encoding:
            self._append(self._encoding.popleft().result())
        # The metadata are known only now, so the Arrow schema in the footer is replaced by a schema with metadata.
        schema = with_metadata(self.schema, metadata)
        arrow = base64.b64encode(schema.serialize())
        empty = self._encoded(None, {"ARROW:schema": arrow, **schema.metadata})
        self._file.write(end_of_file(empty, self._written_groups, self._written_rows))
        self._file.close()

    def _write_group(self) -> None:
        """Make a row group of the pending rows, of which there is at least one. With a pool, a later call may write it."""
        # If more row groups are being encoded than the pool has threads, this waits for the first.
        batches, self._pending = self._pending, []
        self._pending_rows = self._pending_bytes = 0
        with as_fatal(self._place.name):
            if self._pool is None:
                self._append(self._row_group(batches))
                return
            self._encoding.append(self._pool.submit("encoding", self._row_group, batches))
            while self._encoding and (self._encoding[0].done() or len(self._encoding) > self._pool.jobs):
                self._append(self._encoding.popleft().result())

    def _row_group(self, batches: Sequence[pa.RecordBatch]) -> RowGroup:
        return RowGroup(self._encoded(_same_dictionaries(pa.Table.from_batches(batches))))

    def _encoded(self, rows: pa.Table | None, metadata: Mapping[str, bytes] | None = None) -> memoryview:
        """The bytes of a Parquet file with the rows as its only row group; without row groups if `rows` is None."""
        stream = pa.BufferOutputStream()
        with pq.ParquetWriter(stream, self.schema if rows is None else rows.schema, **self._properties) as writer:
            if rows is not None:
                writer.write_table(rows)
            if metadata is not None:
                writer.add_key_value_metadata(metadata)
        return memoryview(stream.getvalue())

    def _append(self, group: RowGroup) -> None:
        offset = self._file.tell()
        self._written_groups.append(group.moved_to(offset, len(self._written_groups)))
        self._written_rows += group.rows
        with self._timings.measure("file"):
            self._file.write(group.data)
            begin_sync(self._file, offset, len(group.data))
        self._timings.count("encoding", group.rows)
        self._timings.count("file", len(group.data))

    def _close(self) -> None:
        # The error of a full disk was already raised when a row group was written.
        with contextlib.suppress(OSError):
            self._file.close()


def _bytes(rows: pa.RecordBatch, repeating: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number of bytes of text in each row, in columns of strings or lists of strings that are not in `repeating`."""
    data = np.zeros(rows.num_rows, np.int64)
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name in repeating:
            continue
        if pa.types.is_string(column.type) and column.null_count < len(column):
            data += np.diff(byte_strings(column)[1])
        elif pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
            data += np.diff(byte_strings(column.values)[1].astype(np.int64)[numbers(column.offsets)])
    return data


def _same_dictionaries(group: pa.Table) -> pa.Table:
    """The rows with dictionaries that contain only their values, in the order of first occurrence."""
    # Without this step, the file would depend on the dictionaries of the batches.
    group = group.unify_dictionaries().combine_chunks()
    for number, field in enumerate(group.schema):
        if pa.types.is_dictionary(field.type):
            (column,) = group.column(number).chunks
            used = column.indices.dictionary_encode()
            column = pa.DictionaryArray.from_arrays(used.indices, column.dictionary.take(used.dictionary))
            group = group.set_column(number, field, column)
    return group
