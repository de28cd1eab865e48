"""ORC: stripe by stripe, in a process of its own: the library of Apache crashes on some files that are damaged.

A stripe in which it crashes is told, and another process goes on behind it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pyarrow as pa

from urnscan.errors import SourceError
from urnscan.sources.documents import Values
from urnscan.sources.encodings import is_binary
from urnscan.sources.layers import Layer
from urnscan.sources.on_disk import on_disk
from urnscan.sources.reader import Reader, begins
from urnscan.sources.scripts import ProcessError, Script
from urnscan.sources.tables import orc_script
from urnscan.sources.tables.leaves import FAILED, Tails, choose, read_column
from urnscan.sources.tables.orc_script import END, FRAME, NUMBER, SCHEMA, STRIPE, WRONG
from urnscan.sources.tables.values import Failures, in_words

_MAGIC = b"ORC"
_MOST_CRASHES = 20  # in one file


def is_orc(head: bytes, layer: Layer) -> bool | None:
    """Tell ORC by its sign and its name, or by its sign and octets that are no text, as text may begin with these letters."""
    known = begins(head, _MAGIC)
    return is_binary(head) if known and not layer.file_name.lower().endswith(".orc") else known


def read_orc(reader: Reader, layer: Layer) -> Iterator[Values | SourceError]:
    """Read the text in an ORC file, stripe by stripe. Raises SourceError if the file as a whole cannot be read."""
    with on_disk(reader, layer) as path:
        yield from _File(path, layer).read()


class _Orc(Script):
    name, part = "what reads ORC", "a stripe"

    def __init__(self, path: str) -> None:
        """Raises ProcessError if it cannot be started."""
        super().__init__(orc_script.__file__)
        self.ask(json.dumps(os.fsencode(path).hex()).encode())

    def frame(self) -> tuple[bytes, bytes]:
        """The kind and the content of the next frame. Raises ProcessError."""
        kind, length = FRAME.unpack(self.take(FRAME.size))
        return kind, self.take(length)


class _File:
    def __init__(self, path: str, layer: Layer) -> None:
        self._path = path
        self._layer = layer
        self._failures = Failures(layer.name, "stripes")
        self._next = 0  # stripe that was not begun
        self._row = self._begin = 0  # the next row, and the first of the stripe
        self._count = 0  # stripes

    def read(self) -> Iterator[Values | SourceError]:
        """Read the chosen columns; after a crash go on behind the stripe in which it was."""
        for crashes in range(_MOST_CRASHES + 1):
            try:
                yield from self._with_process(is_first=not crashes)
                break
            except ProcessError as error:
                if not self._next:
                    raise self._unread(error) from error
                yield from self._wrong(error)
            if self._next >= self._count:
                break
            if crashes == _MOST_CRASHES:
                reason = f"{_Orc.name} has ended {crashes + 1} times: read no further"
                raise SourceError(self._layer.name, reason)
        yield from self._failures.rest()

    def _with_process(self, *, is_first: bool) -> Iterator[Values | SourceError]:
        process = _Orc(self._path)
        self._layer.reading.processes.add(process)
        try:
            kind, content = process.frame()
            if kind != SCHEMA:
                raise self._unread(_as_error(content))
            self._count = NUMBER.unpack_from(content)[0]
            try:
                schema = pa.ipc.read_schema(pa.py_buffer(content[NUMBER.size :]))
                chosen, errors = choose(schema, self._layer)
            except FAILED as error:
                raise self._unread(error) from error
            if is_first:
                yield from errors
            names = {schema.field(index).name: tails for index, tails in chosen.items()}
            process.ask(json.dumps({"columns": list(names), "first": self._next}).encode())
            yield from self._stripes(process, names)
        finally:
            self._layer.reading.processes.remove(process)
            process.close()

    def _stripes(self, process: _Orc, names: dict[str, Tails]) -> Iterator[Values | SourceError]:
        while True:
            kind, content = process.frame()
            if kind == END:
                return
            if kind == STRIPE:
                self._next, self._begin = NUMBER.unpack(content)[0] + 1, self._row
            elif kind == WRONG:
                yield from self._wrong(_as_error(content), NUMBER.unpack_from(content)[0])
            else:
                try:
                    yield from self._rows(content, names)
                except FAILED as error:
                    yield from self._wrong(error)

    def _rows(self, content: bytes, names: dict[str, Tails]) -> Iterator[Values]:
        with pa.ipc.open_stream(content) as stream:
            batch = stream.read_next_batch()
        rows = range(self._row, self._row + batch.num_rows)
        self._row = rows.stop
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if field.name in names:
                yield from read_column(column, field.name, names[field.name], rows, self._layer)

    def _wrong(self, error: Exception, rows: int = 0) -> Iterator[SourceError]:
        """The error for the stripe that was begun, of which so many rows are known."""
        self._row += rows if self._row == self._begin else 0
        uncounted = "" if self._row > self._begin else "; rows behind it are counted without it"
        return self._failures.one(f"stripe {self._next - 1} damaged: {in_words(error)}{uncounted}")

    def _unread(self, error: Exception) -> SourceError:
        return SourceError(self._layer.name, f"cannot be read as ORC: {in_words(error)}")


def _as_error(content: bytes) -> ValueError:
    return ValueError(content[NUMBER.size :].decode("utf-8", "replace"))
