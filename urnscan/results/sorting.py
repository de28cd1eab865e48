"""Rows -> the same rows, sorted by a column, in bounded memory: what does not fit waits in files, sorted, and is merged."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.errors import FatalError
from urnscan.results.windows import windows

KEY = "key"
"""The column by which rows are sorted: strings, in the order of octets."""

_LEAST = 32 << 20  # octets of rows in a file: with less, files would be many
_ROWS = 1 << 15  # rows that are given at once
_OF_FILE = 1 << 11  # rows that are read at once of each file: of a large table there are hundreds
_NUMBERS = itertools.count()  # of files
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class Sorter:
    """Takes rows with a column `key`, in which no value stands twice, and gives them sorted by it.

    About `memory` octets of rows stay in memory; more are spilled to files in the folder that `folder` returns.
    """

    def __init__(self, memory: int, folder: Callable[[], Path]) -> None:
        self._most = max(memory // 4, _LEAST)
        self._folder = folder
        self._rows: list[pa.RecordBatch] = []
        self._octets = 0
        self._files: list[Path] = []

    def add(self, rows: pa.RecordBatch) -> None:
        """Take the next rows, without dictionaries. Raises FatalError if they cannot be spilled."""
        self._rows.append(rows)
        self._octets += rows.nbytes
        if self._octets > self._most:
            self._spill()

    def rows(self) -> Iterator[pa.RecordBatch]:
        """All rows, sorted. Call it once, after the last `add`. Raises FatalError."""
        if not self._files:
            if self._rows:
                yield from self._sorted_rows(_ROWS)
            return
        if self._rows:
            self._spill()
        for window in windows([(str(file), _read(file)) for file in self._files], KEY):
            yield from _sorted([rows for taken in window for rows in taken], _ROWS)
        for file in self._files:
            file.unlink(missing_ok=True)

    def _spill(self) -> None:
        file = self._folder() / f"sorted-{next(_NUMBERS)}.arrow"
        self._files.append(file)
        try:
            with pa.ipc.new_file(file, self._rows[0].schema, options=_OPTIONS) as writer:
                for rows in self._sorted_rows(_OF_FILE):
                    writer.write_batch(rows)
        except OSError as error:
            raise FatalError(f"{file.parent}: cannot hold what is spilled: {error}") from error

    def _sorted_rows(self, at_once: int) -> Iterator[pa.RecordBatch]:
        rows, self._rows, self._octets = self._rows, [], 0
        return _sorted(rows, at_once)


def _sorted(batches: Sequence[pa.RecordBatch], at_once: int) -> Iterator[pa.RecordBatch]:
    rows = pa.Table.from_batches(batches)
    order = pc.sort_indices(rows.column(KEY))
    for start in range(0, len(rows), at_once):
        yield from rows.take(order.slice(start, at_once)).combine_chunks().to_batches()


def _read(path: Path) -> Iterator[pa.RecordBatch]:
    try:
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)
    except OSError as error:
        raise FatalError(f"{path.parent}: cannot read what was spilled: {error}") from error
