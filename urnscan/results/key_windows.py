"""Tables that are sorted by `urn` -> windows: all rows of all tables whose URNs are between two limits.

A window has the rows up to the least of the last URNs that were read. So all rows of one URN are in one window, and
only a few rows of each table are in memory.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.errors import FatalError

_ROWS = 1 << 17  # of a table at once, at most
_LEAST_ROWS = 64


def rows_at_once(memory: int, tables: int, row_octets: int) -> int:
    """Number of rows of a table that are read at once, if `tables` share the memory."""
    return max(_LEAST_ROWS, min(_ROWS, memory // (64 * tables * row_octets)))


def windows(tables: Sequence[tuple[str, Iterator[pa.RecordBatch]]]) -> Iterator[list[list[pa.RecordBatch]]]:
    """Rows of each table (its name, and its rows sorted by `urn`), window by window.

    Each window has the batches of each table, in the order of the tables. Raises FatalError if a table is not sorted.
    """
    runs = [_Run(name, batches) for name, batches in tables]
    while True:
        for run in runs:
            run.fill()
        waiting = [run for run in runs if run.rows]
        if not waiting:
            return
        # A table that is read to its end sets no limit: no row of it can come later.
        limit = min((run.last for run in waiting if not run.is_at_end), default=None)
        yield [run.take(limit) for run in runs]


class _Run:
    """The rows of a table that were read and are in no window yet."""

    def __init__(self, name: str, batches: Iterator[pa.RecordBatch]) -> None:
        self.rows = 0
        self.is_at_end = False
        self.last = b""
        self._name = name
        self._batches = batches
        self._waiting: list[pa.RecordBatch] = []
        self._usual = 0  # rows of a batch

    def fill(self) -> None:
        """Read on, until more than half of a batch waits: with less, windows would become small."""
        while not self.is_at_end and self.rows * 2 <= self._usual:
            rows = next(self._batches, None)
            if rows is None:
                self.is_at_end = True
                return
            if not len(rows):
                continue
            keys = rows.column("urn")
            if (self.last and _octets(keys, 0) <= self.last) or not _is_ascending(keys):
                raise FatalError(f"{self._name}: is not sorted by urn; it is not as urnscan wrote it")
            self._waiting.append(rows)
            self.rows += len(rows)
            self._usual = max(self._usual, len(rows))
            self.last = _octets(keys, len(rows) - 1)

    def take(self, limit: bytes | None) -> list[pa.RecordBatch]:
        """The rows up to a key; all rows if it is None."""
        taken: list[pa.RecordBatch] = []
        while self._waiting:
            rows = self._waiting[0]
            keys = rows.column("urn")
            end = len(rows)
            if limit is not None:
                end = bisect_right(range(end), limit, key=functools.partial(_octets, keys))
            if end:
                taken.append(rows.slice(0, end))
            if end < len(rows):
                self._waiting[0] = rows.slice(end)
                break
            del self._waiting[0]
        self.rows -= sum(map(len, taken))
        return taken


def one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows in one batch."""
    if len(batches) == 1:
        return batches[0]
    (rows,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return rows


def _octets(keys: pa.StringArray, row: int) -> bytes:
    key: str = keys[row].as_py()
    return key.encode()


def _is_ascending(keys: pa.StringArray) -> bool:
    return bool(pc.all(pc.less(keys[:-1], keys[1:])).as_py()) if len(keys) > 1 else True
