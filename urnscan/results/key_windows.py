"""Tables that are sorted by `urn` -> windows: all rows of all tables whose URNs are between two limits.

A window has all rows up to the smallest of the last URNs that were read from each table. So all rows of a URN are in
the same window, and only a few rows of each table are in memory.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.errors import FatalError

# Maximum and minimum number of rows of a table that are read at once.
_MOST_ROWS, _FEWEST_ROWS = 1 << 17, 64


def rows_at_once(memory: int, tables: int, row_bytes: int) -> int:
    """Number of rows of a table that are read at once if `tables` tables share `memory` bytes: from 64 to 131,072.

    `row_bytes`: approximate number of bytes of a row in memory.
    """
    return max(_FEWEST_ROWS, min(_MOST_ROWS, memory // (64 * tables * row_bytes)))


def windows(tables: Sequence[tuple[str, Iterator[pa.RecordBatch]]]) -> Iterator[list[list[pa.RecordBatch]]]:
    """Read several tables side by side, and yield window after window: all rows of all tables whose `urn` is between
    two limits. So all rows with the same `urn` are in the same window; later windows have higher URNs.

    A table is a pair of its name, and its batches of rows, sorted by `urn`. A window is a list that has, for each table
    in the order of `tables`, a list of batches, which may be empty. Raises FatalError if a table is not sorted or has a
    URN twice.
    """
    sorted_tables = [_SortedTable(name, batches) for name, batches in tables]
    while True:
        for table in sorted_tables:
            table.fill()
        pending = [table for table in sorted_tables if table.rows]
        if not pending:
            return
        # A table that is read to the end sets no limit: it has no later rows.
        limit = min((table.last for table in pending if not table.is_at_end), default=None)
        yield [table.take(limit) for table in sorted_tables]


class _SortedTable:
    """A table sorted by `urn`, with the rows that are read and not in a window yet (pending)."""

    def __init__(self, name: str, batches: Iterator[pa.RecordBatch]) -> None:
        self.rows = 0
        self.is_at_end = False
        self.last = b""
        self._name = name
        self._batches = batches
        self._pending: list[pa.RecordBatch] = []
        self._batch_rows = 0

    def fill(self) -> None:
        """Read until more than half a batch of rows is pending: with fewer rows, windows would become small."""
        while not self.is_at_end and self.rows * 2 <= self._batch_rows:
            rows = next(self._batches, None)
            if rows is None:
                self.is_at_end = True
                return
            if not len(rows):
                continue
            keys = rows.column("urn")
            if (self.last and _bytes(keys, 0) <= self.last) or not _is_ascending(keys):
                raise FatalError(f"{self._name}: is not sorted by urn; it is not as urnscan wrote it")
            self._pending.append(rows)
            self.rows += len(rows)
            self._batch_rows = max(self._batch_rows, len(rows))
            self.last = _bytes(keys, len(rows) - 1)

    def take(self, limit: bytes | None) -> list[pa.RecordBatch]:
        """Remove the pending rows up to the key `limit`, and return them; with None, all pending rows."""
        batches: list[pa.RecordBatch] = []
        while self._pending:
            rows = self._pending[0]
            keys = rows.column("urn")
            end = len(rows)
            if limit is not None:
                end = bisect_right(range(end), limit, key=functools.partial(_bytes, keys))
            if end:
                batches.append(rows.slice(0, end))
            if end < len(rows):
                self._pending[0] = rows.slice(end)
                break
            del self._pending[0]
        self.rows -= sum(map(len, batches))
        return batches


def one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Join several batches with the same schema, in order, to a single batch. They must have at least one row."""
    if len(batches) == 1:
        return batches[0]
    (rows,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return rows


def _bytes(keys: pa.StringArray, row: int) -> bytes:
    key: str = keys[row].as_py()
    return key.encode()


def _is_ascending(keys: pa.StringArray) -> bool:
    return bool(pc.all(pc.less(keys[:-1], keys[1:])).as_py()) if len(keys) > 1 else True
