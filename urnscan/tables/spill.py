"""Rows in temporary files: rows that are always on disk, and rows that are moved to disk when memory is full."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.arrow import number_array
from urnscan.errors import FatalError

# Compression takes less disk space, and about the same time.
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


class RowsOnDisk:
    """Batches of rows in a temporary file. Call `append` for each batch, then `complete`, then `batches` (several
    threads may call it at a time), and at last `close`, which removes the file.
    """

    def __init__(self, schema: pa.Schema, folder: Path) -> None:
        """Make the file in `folder`. Raises FatalError if this is impossible."""
        self.count = 0
        """Number of batches that were appended."""
        self._folder = folder
        with self._as_fatal("write temporary data"):
            file, path = tempfile.mkstemp(".arrow", "rows-", folder)
            os.close(file)
            self._path = Path(path)
            self._file = pa.OSFile(path, "wb")
            self._writer = pa.ipc.new_file(self._file, schema, options=_COMPRESSED)

    def append(self, rows: pa.RecordBatch) -> None:
        """Append a batch, which gets the next number, from 0. Raises FatalError if the disk is full or fails."""
        with self._as_fatal("write temporary data"):
            self._writer.write_batch(rows)
        self.count += 1

    def complete(self) -> None:
        """End the file: call this once, after the last `append` and before the first `batches`. Raises FatalError if
        the disk is full or fails.
        """
        with self._as_fatal("write temporary data"):
            self._writer.close()
            self._file.close()

    def batches(self, first: int = 0, end: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the batches from number `first` (from 0) to before number `end`; None: to the last. Only after
        `complete`.

        Raises FatalError if the disk fails.
        """
        with (
            self._as_fatal("read temporary data"),
            pa.OSFile(str(self._path)) as file,
            pa.ipc.open_file(file) as reader,
        ):
            for number in range(first, self.count if end is None else end):
                yield reader.get_batch(number)

    def close(self) -> None:
        """Close and remove the file: `batches` may not be called any more. May be called more than once, and also
        without `complete`.
        """
        self._file.close()
        self._path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _as_fatal(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else error
            raise FatalError(f"{self._folder}: cannot {what}: {reason}") from error


class Spilled:
    """Batches of rows, which are in memory until `spill` moves them to a temporary file. They can be read several
    times, in the order in which they were added.
    """

    def __init__(self, schema: pa.Schema, folder: Callable[[], Path]) -> None:
        """`schema` is the schema of all rows. `folder` is called at the first `spill` (move to disk), and returns the
        folder for the temporary file.
        """
        self.byte_count = 0
        """Bytes of the rows that are in memory."""
        self._schema = schema
        self._folder = folder
        self._in_memory: list[pa.RecordBatch] = []
        self._on_disk: RowsOnDisk | None = None
        self._is_complete = False

    def add(self, rows: pa.RecordBatch, byte_count: int | None = None) -> None:
        """Append rows in memory, without a check of how full the memory is. `byte_count` is approximately how much
        memory the rows use; None: `nbytes` of the rows.
        """
        self._in_memory.append(rows)
        self.byte_count += rows.nbytes if byte_count is None else byte_count

    def spill(self) -> None:
        """Move all rows that are in memory to the temporary file, which the first call makes. Raises FatalError if the
        file cannot be made or the disk is full or fails.
        """
        if self._on_disk is None:
            self._on_disk = RowsOnDisk(self._schema, self._folder())
        for rows in self._in_memory:
            self._on_disk.append(rows)
        self._in_memory = []
        self.byte_count = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows in the order in which they were added, from the first on at each call. After the first call,
        `add` and `spill` may not be called. Raises FatalError if the disk is full or fails.
        """
        if self._on_disk is not None:
            if not self._is_complete:
                self._on_disk.complete()
                self._is_complete = True
            yield from self._on_disk.batches()
        yield from self._in_memory

    def close(self) -> None:
        """Release the memory, and remove the file if there is one. After this, only `close` may be called again."""
        self._in_memory = []
        if self._on_disk is not None:
            self._on_disk.close()


class SpilledParts:
    """Rows that are distributed to numbered parts, and then read part by part. They are in memory up to a limit for all
    parts together, and then in temporary files, one for each part.
    """

    def __init__(self, schema: pa.Schema, parts: int, in_memory: int, folder: Callable[[], Path]) -> None:
        """`parts` is the number of parts. If the rows in memory have more than `in_memory` bytes, for all parts
        together, all are moved to disk. `folder` returns the folder for the temporary files; it is called only then,
        once for each part.
        """
        self._schema = schema
        self._max_bytes = in_memory
        self._parts = [Spilled(schema, folder) for _ in range(parts)]

    def close(self) -> None:
        """Release the memory, and remove the temporary files of all parts."""
        for part in self._parts:
            part.close()

    def add(self, part: npt.NDArray[np.int32], rows: pa.RecordBatch) -> None:
        """Append row i to the part with the number `part[i]` (from 0), in the order of the rows. If the rows in memory
        then have more bytes than the limit, the rows of all parts are moved to disk. Raises FatalError if the disk is
        full or fails.
        """
        if not len(rows):
            return
        order = np.argsort(part, kind="stable")
        rows = rows.take(number_array(order))
        # `nbytes` is read once: for each slice, it would take longer than the rest of this method.
        byte_count = rows.nbytes
        ends = np.cumsum(np.bincount(part, minlength=len(self._parts))).tolist()
        for spilled, start, end in zip(self._parts, [0, *ends], ends, strict=False):
            if end > start:
                spilled.add(rows.slice(start, end - start), byte_count * (end - start) // len(rows))
        if sum(spilled.byte_count for spilled in self._parts) > self._max_bytes:
            for spilled in self._parts:
                spilled.spill()

    def take(self, part: int) -> pa.Table:
        """Return all rows of the part with this number (from 0), in the order in which they were added, and remove them
        from memory and disk. May be called once for each part, after the last `add`. Raises FatalError if the disk
        fails.
        """
        rows = pa.Table.from_batches(self._parts[part].batches(), self._schema).combine_chunks()
        self._parts[part].close()
        return rows
