"""Rows that may be more than memory holds: kept in memory up to a point, then in a file without a name."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.arrow import number_array
from urnscan.errors import FatalError


class Spilled:
    """Batches of rows: added, then given back in the same order, as often as they are wanted."""

    def __init__(self, schema: pa.Schema, folder: Callable[[], Path]) -> None:
        """`folder` gives the folder for the file, and is asked when there is to be one."""
        self.octets = 0
        """Octets of the rows that are in memory."""
        self._schema = schema
        self._folder = folder
        self._in_memory: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._stream: Any = None
        """Writes the file; None before it is there, and once rows were read from it."""

    def add(self, rows: pa.RecordBatch, octets: int | None = None) -> None:
        """Append rows, at first in memory; `octets` is about how many they have, if that is known."""
        self._in_memory.append(rows)
        self.octets += rows.nbytes if octets is None else octets

    def spill(self) -> None:
        """Put what is in memory into the file. Raises FatalError if the disk is full."""
        with self._as_fatal():
            if self._file is None:
                self._place = self._folder()
                self._file = tempfile.TemporaryFile(dir=self._place)  # noqa: SIM115 (it lives as long as the rows do)
                self._stream = pa.ipc.new_stream(self._file, self._schema)
            for rows in self._in_memory:
                self._stream.write_batch(rows)
        self._in_memory = []
        self.octets = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, from the first on; after that none can be added. Raises FatalError if the disk fails."""
        if self._file is not None:
            with self._as_fatal():
                if self._stream is not None:
                    self._stream.close()
                    self._stream = None
                self._file.seek(0)
                yield from pa.ipc.open_stream(self._file)
        yield from self._in_memory

    def close(self) -> None:
        """Forget the rows."""
        self._in_memory = []
        if self._file is not None:
            self._file.close()

    @contextlib.contextmanager
    def _as_fatal(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FatalError(f"{self._place}: cannot hold what is spilled: {error}") from error


class SpilledParts:
    """Rows that are spread over parts, which are taken one by one. All of them share the memory."""

    def __init__(self, schema: pa.Schema, parts: int, in_memory: int, folder: Callable[[], Path]) -> None:
        """`in_memory`: octets of rows in memory, of all parts together. `folder`: as for Spilled."""
        self._schema = schema
        self._most = in_memory
        self._parts = [Spilled(schema, folder) for _ in range(parts)]

    def close(self) -> None:
        """Forget the rows."""
        for part in self._parts:
            part.close()

    def add(self, part: npt.NDArray[np.int32], rows: pa.RecordBatch) -> None:
        """Append each row to its part. Raises FatalError if the disk is full."""
        if not len(rows):
            return
        order = np.argsort(part, kind="stable")
        rows = rows.take(number_array(order))
        octets = rows.nbytes  # asked once: of a slice, it takes longer than all else
        ends = np.cumsum(np.bincount(part, minlength=len(self._parts))).tolist()
        for spilled, start, end in zip(self._parts, [0, *ends], ends, strict=False):
            if end > start:
                spilled.add(rows.slice(start, end - start), octets * (end - start) // len(rows))
        if sum(each.octets for each in self._parts) > self._most:
            for each in self._parts:
                each.spill()

    def take(self, part: int) -> pa.Table:
        """Take all rows of a part, in the order of adding; then it is closed. Raises FatalError if the disk fails."""
        rows = pa.Table.from_batches(self._parts[part].batches(), self._schema).combine_chunks()
        self._parts[part].close()
        return rows
