"""Parquet writer: the same octets for the same rows, however they arrive, and however many threads encode them.

Row groups are independent. Each is encoded as a file of its own, in memory, by a thread; what they are is put into the
file in their order. The octets are those that one writer of pyarrow would write. That writer encodes one row group after
the other in one thread, which was a third of the CPU time of a scan of text with many URNs.
"""

from __future__ import annotations

import base64
import contextlib
import os
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from urnscan.compiled.arrow import numbers, octet_strings
from urnscan.errors import FatalError
from urnscan.pool import Pool, Timings
from urnscan.tables.atomic_file import Output, as_fatal, begin_sync, name_of
from urnscan.tables.metadata import described
from urnscan.tables.parquet_footer import MAGIC, RowGroup, end_of_file
from urnscan.tables.plain_output import CODECS, NOT_WRITTEN

# A row group is full with so many rows, or so many octets in their texts.
_ROW_GROUP = 1 << 17
_ROW_GROUP_OCTETS = 1 << 25

_NOT_PARQUET = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".xlsx", ".html", ".db", ".sqlite", *CODECS, *NOT_WRITTEN)
"""Suffixes of other forms: a program that opens such a file would fail without saying why."""


class ParquetOutput(Output):
    """A Parquet file. `metadata` becomes a JSON object under the key `urnscan` of the metadata of file and schema."""

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
        """Leaf columns with dictionaries are those whose values repeat; with statistics, those that readers filter by.

        True stands for all columns. Threads of the pool encode; None: the thread that writes does. Raises FatalError
        like Output, for the suffix of another form, and later when the disk is full.
        """
        name = name_of(path)
        suffix = Path(name).suffix.lower()
        if suffix in _NOT_PARQUET:
            raise FatalError(f"{name}: tables are written in Parquet, not as {suffix}: let its name end in .parquet")
        super().__init__(path, force=force)
        self.schema = schema
        self._properties = {
            "compression": "snappy",  # zstd saves a third of the file and takes half as long again
            "use_dictionary": dictionaries,
            "write_statistics": statistics,
            "write_batch_size": 1 << 16,  # rows handed to an encoder at once: fewer, longer calls
        }
        self._repeating = () if isinstance(dictionaries, bool) else dictionaries
        self._pool = pool
        self._timings = Timings() if pool is None else pool.timings
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._octets = 0  # that wait
        self._encoding: deque[Future[RowGroup]] = deque()
        self._groups: list[bytes] = []  # of the footer
        self._all_rows = 0  # of these
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._file = self._written.open("wb")
            self._clean_up.callback(self._close)
            self._file.write(MAGIC)
            stack.pop_all()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows of the schema. Row groups begin at the same rows, whatever the sizes of the batches.

        A column of strings may come with a dictionary, which spares copies; readers of the file get strings.
        """
        ends = np.cumsum(_octets(rows, self._repeating))  # of each row, counted from the first
        start = 0
        while start < rows.num_rows:
            before = int(ends[start - 1]) if start else 0
            most = int(np.searchsorted(ends, before + _ROW_GROUP_OCTETS - self._octets, side="left")) + 1
            stop = min(rows.num_rows, start + _ROW_GROUP - self._rows, max(most, start + 1))
            self._waiting.append(rows.slice(start, stop - start))
            self._rows += stop - start
            self._octets += int(ends[stop - 1]) - before
            if self._rows >= _ROW_GROUP or self._octets >= _ROW_GROUP_OCTETS:
                self._write_group()
            start = stop

    def _write_end(self, metadata: Mapping[str, Any]) -> None:
        if self._rows:
            self._write_group()
        while self._encoding:
            self._append(self._encoding.popleft().result())
        # The schema of Arrow in the footer is replaced by the same with metadata, which are known only at the end.
        schema = described(self.schema, metadata)
        arrow = base64.b64encode(schema.serialize())
        empty = self._encoded(None, {"ARROW:schema": arrow, **schema.metadata})
        self._file.write(end_of_file(empty, self._groups, self._all_rows))
        self._file.close()

    def _write_group(self) -> None:
        """Have the rows that wait encoded, and write the row groups before them that are ready, or should be."""
        batches, self._waiting = self._waiting, []
        self._rows = self._octets = 0
        with as_fatal(self._place.name):
            if self._pool is None:
                self._append(self._row_group(batches))
                return
            self._encoding.append(self._pool.submit("encoding", self._row_group, batches))
            while self._encoding and (self._encoding[0].done() or len(self._encoding) > self._pool.jobs):
                self._append(self._encoding.popleft().result())

    def _row_group(self, batches: Sequence[pa.RecordBatch]) -> RowGroup:
        """A row group with these rows; called in threads."""
        return RowGroup(self._encoded(_same_dictionaries(pa.Table.from_batches(batches))))

    def _encoded(self, rows: pa.Table | None, metadata: Mapping[str, bytes] | None = None) -> memoryview:
        """The octets of a Parquet file with one row group, or none."""
        stream = pa.BufferOutputStream()
        with pq.ParquetWriter(stream, self.schema if rows is None else rows.schema, **self._properties) as writer:
            if rows is not None:
                writer.write_table(rows)
            if metadata is not None:
                writer.add_key_value_metadata(metadata)
        return memoryview(stream.getvalue())

    def _append(self, group: RowGroup) -> None:
        place = self._file.tell()
        self._groups.append(group.placed(len(self._groups), place))
        self._all_rows += group.rows
        with self._timings.measure("file"):
            self._file.write(group.octets)
            begin_sync(self._file, place, len(group.octets))
        self._timings.count("encoding", group.rows)
        self._timings.count("file", len(group.octets))

    def _close(self) -> None:
        with contextlib.suppress(OSError):  # of a full disk, which was told already
            self._file.close()


def _octets(rows: pa.RecordBatch, repeating: Sequence[str]) -> npt.NDArray[np.int64]:
    """Octets of the texts of each row; those of columns that repeat, and inside structures, are not counted."""
    octets = np.zeros(rows.num_rows, np.int64)
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name in repeating:
            continue
        if pa.types.is_string(column.type) and column.null_count < len(column):
            octets += np.diff(octet_strings(column)[1])
        elif pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
            octets += np.diff(octet_strings(column.values)[1].astype(np.int64)[numbers(column.offsets)])
    return octets


def _same_dictionaries(group: pa.Table) -> pa.Table:
    """The group with dictionaries of its own values only, in the order in which they occur, whatever the batches had."""
    group = group.unify_dictionaries().combine_chunks()
    for number, field in enumerate(group.schema):
        if pa.types.is_dictionary(field.type):
            (column,) = group.column(number).chunks
            used = column.indices.dictionary_encode()
            column = pa.DictionaryArray.from_arrays(used.indices, column.dictionary.take(used.dictionary))
            group = group.set_column(number, field, column)
    return group
