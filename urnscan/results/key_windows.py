"""Tables that are sorted by `urn` -> windows: all rows of all tables whose URNs are between two limits.

A window has all rows up to the smallest of the last URNs that were read from each table. So all rows of a URN are in
the same window, and only a few rows of each table are in memory.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, string_array
from urnscan.compiled.strings import RowNumbers, argsort_pairs, take
from urnscan.errors import FatalError
from urnscan.tables.readers import TableFile

SCHEME = len("urn:")
"""Number of bytes with which all URNs begin, which need not be compared."""

# Maximum and minimum number of rows of a table that are read at once.
_MAX_ROWS, _FEWEST_ROWS = 1 << 17, 64


def rows_at_once(memory: int, tables: int, row_bytes: int) -> int:
    """Number of rows of a table that are read at once if `tables` tables share `memory` bytes: from 64 to 131,072. Most
    of the memory is left for what is made of the rows.

    `row_bytes`: approximate number of bytes of a row in memory.
    """
    return max(_FEWEST_ROWS, min(_MAX_ROWS, memory // (64 * tables * row_bytes)))


def sorted_windows(
    tables: Sequence[TableFile], columns: Sequence[str], memory: int
) -> Iterator[list[list[pa.RecordBatch]]]:
    """Read the columns of several tables of classes side by side, and yield window after window: for each table, in
    order, a list of batches (perhaps empty) with all its rows whose `urn` is between two limits, the same for all
    tables. Later windows have higher URNs. `memory`: bytes for the rows of all tables, and for what is made of them.

    `columns` must contain `urn`. Raises FatalError for a damaged table, and for one that is not sorted by `urn` or has
    a URN twice.
    """
    most = [rows_at_once(memory, len(tables), table.row_bytes) for table in tables]
    return windows(
        [(table.path, table.batches(*columns, max_rows=rows)) for table, rows in zip(tables, most, strict=True)]
    )


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
        """Read until more than half as many rows as in the largest batch so far are pending, or the table ends. Raises
        FatalError if it is not sorted or has a URN twice.
        """
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
        """Remove the pending rows whose `urn` is at most `limit` (None: all), and return them."""
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


def by_name(urns: pa.StringArray) -> tuple[RowNumbers, pa.StringArray, npt.NDArray[np.bool_]]:
    """Sort URNs in the order of their bytes; equal ones keep their order. Returns the row numbers in the new order, the
    URNs in that order, and whether each of them differs from the one before it (True for the first). All must begin
    with `urn:`.
    """
    names = byte_strings(urns)
    order = argsort_pairs(SCHEME, names, (np.zeros(0, np.uint8), np.zeros(len(urns) + 1, np.int32)))
    ordered = string_array(*take(*names, order))
    is_first = np.ones(len(urns), np.bool_)
    is_first[1:] = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
    return order, ordered, is_first


def _bytes(keys: pa.StringArray, row: int) -> bytes:
    key: str = keys[row].as_py()
    return key.encode()


def _is_ascending(keys: pa.StringArray) -> bool:
    return bool(pc.all(pc.less(keys[:-1], keys[1:])).as_py()) if len(keys) > 1 else True
