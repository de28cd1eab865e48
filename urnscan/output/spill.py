"""Rows that may be more than memory holds: kept in memory up to a point, then in a file without a name."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

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

    def add(self, rows: pa.RecordBatch) -> None:
        """Append rows, at first in memory."""
        self._in_memory.append(rows)
        self.octets += rows.nbytes

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
