"""Arrow IPC files (Feather V2) and streams, read front to back with `pyarrow.ipc`.

An IPC file is a stream between a signature and a footer, and is read as this stream, so the batches of a truncated file
are read. Before pyarrow reads a batch, its unpacked bytes are checked against a limit, and its rows are counted, so
that rows after a damaged batch keep their numbers.
"""

import contextlib
import functools
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from urnscan.errors import SourceError
from urnscan.formats.contents import Values
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Table, begins_with, exactly, looks_binary
from urnscan.formats.tables.nested_text import FAILED, choose, read_column
from urnscan.formats.tables.values import Failures, in_words
from urnscan.stores.reader import Reader, begins, path_of, read_up_to, skip

_MAGIC = b"ARROW1\0\0"
_NAMES = (".arrow", ".arrows", ".feather")
_CONTINUATION = b"\xff\xff\xff\xff"  # first bytes of each message since Arrow 0.15
# Maximum bytes of the schema of a stream; a file with a longer schema is not recognised.
_LONGEST_SCHEMA = 1 << 20
_FOOTER = struct.Struct("<i6s")  # last bytes of a file: length of the footer, and a signature
# Bytes; a longer body is mapped and not read, if the input is a file.
_MAPPED = 1 << 28
_LARGEST = 1 << 30  # maximum bytes of a body, of an unpacked body, of all dictionaries
_BLOCK = 1 << 20


def is_arrow_stream(head: bytes, layer: Layer) -> bool | None:
    """Whether a file that begins with `head` is an Arrow IPC stream: it begins with four bytes 0xFF, and has a suffix
    of Arrow (`.arrow`, `.arrows`, `.feather`) or a schema as first message. None if more bytes are needed.
    """
    if not head.startswith(_CONTINUATION):
        return begins(head, _CONTINUATION)
    if layer.file_name.lower().endswith(_NAMES):
        return True
    if len(head) < 8:
        return None
    length = struct.unpack_from("<i", head, 4)[0]
    if not 0 < length <= _LONGEST_SCHEMA or length % 8:
        return False
    if len(head) < 8 + length:
        return None
    with contextlib.suppress(*FAILED):
        pa.ipc.read_schema(pa.py_buffer(head[: 8 + length]))
        return True
    return False


def read_arrow(reader: Reader, layer: Layer, *, is_file: bool) -> Iterator[Values | SourceError]:
    """Yield the strings and bytes in the columns of an Arrow IPC file (`is_file`) or stream as `Values`, also
    nested ones; with `--column` only those in named columns. Also yields errors about named columns and
    damaged batches.

    `layer`: names, options and limits. Raises SourceError if the rest cannot be read, and LimitError.
    """
    data = _Bytes(reader, layer, skip(reader, len(_MAGIC)) if is_file else 0)
    messages = _Messages(data, layer)
    try:
        schema = messages.schema()
        chosen, errors = choose(schema, layer)
        yield from errors
        if not chosen:
            return
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=list(chosen))
        stream = pa.ipc.open_stream(pa.PythonFile(messages, "r"), options=options)
    except FAILED as error:
        raise SourceError(layer.name, f"cannot be read as Arrow: {in_words(error)}") from error
    failures = Failures(layer.name, "batches")
    row = 0
    while True:
        at = data.at
        try:
            batch = stream.read_next_batch()
            for column, (index, tails) in zip(batch.columns, chosen.items(), strict=True):
                yield from read_column(column, schema.field(index).name, tails, row, layer)
        except StopIteration:
            break
        except SourceError:
            yield from failures.rest()
            raise
        except FAILED as error:
            messages.parts.clear()
            yield from failures.one(f"batch before byte {data.at} damaged: {in_words(error)}")
            # Nothing more can be read.
            if data.at == at:
                break
        row += messages.rows
    yield from failures.rest()
    data.end(is_file=is_file)


class _Bytes:
    """Python file over a reader, for `pyarrow.ipc.MessageReader`."""

    closed = False

    def __init__(self, reader: Reader, layer: Layer, at: int) -> None:
        self.at = at
        """Offset in the file of the next byte."""
        self.is_short = False
        """Whether the file ended inside a message."""
        self._reader = reader
        self._layer = layer

    def read(self, count: int) -> memoryview:
        """Read the next `count` bytes, fewer only at the end. Raises SourceError for more than 1 GiB, unless the bytes
        can be mapped.
        """
        if count > _MAPPED and (mapped := self._mapped(count)):
            return mapped
        if count > _LARGEST:
            what = f"has a message of {count:,} bytes at byte {self.at}, more than {_LARGEST:,}"
            raise SourceError(self._layer.name, f"{what}; write smaller batches")
        # The length in a message may be wrong: memory is allocated only for bytes that exist.
        data = read_up_to(self._reader, count)
        self.at += len(data)
        if len(data) < count:
            self.is_short = len(data) > 0 or count != len(_CONTINUATION)
        return memoryview(data)

    def _mapped(self, count: int) -> memoryview | None:
        """Map the next `count` bytes into memory; None, and nothing is taken, if the input is not a file, or too short."""
        path = path_of(self._reader)
        if path is None:
            return None
        with pa.memory_map(path) as mapped:
            if self.at + count > mapped.size():
                return None
            mapped.seek(self.at)
            data = memoryview(mapped.read_buffer(count))
        self.at += skip(self._reader, count)
        return data

    def close(self) -> None:
        """Do nothing: the caller closes the reader."""

    def end(self, *, is_file: bool) -> None:
        """Read to the end, after the last message. Raises SourceError for a file without a footer, and for bytes other
        than NUL after a stream.
        """
        begin, tail, is_blank = self.at, b"", True
        while block := self.read(_BLOCK):
            data = bytes(block)
            is_blank &= not data.strip(b"\0")
            tail = (tail + data)[-_FOOTER.size :]
        if is_file:
            size, magic = _FOOTER.unpack(tail.rjust(_FOOTER.size, b"\0"))
            if magic != _MAGIC[:6] or self.at - begin != size + _FOOTER.size:
                raise SourceError(self._layer.name, f"damaged or truncated Arrow file (no footer at byte {begin})")
        elif not is_blank:
            raise SourceError(self._layer.name, f"its Arrow stream ends at byte {begin}; what follows is not read")


class _Messages:
    """Python file for pyarrow's reader of batches: the bytes of the messages, each checked against the limits."""

    closed = False

    def __init__(self, data: _Bytes, layer: Layer) -> None:
        self.rows = 0
        """Number of rows of the last batch, by the header of its message."""
        self.parts: list[memoryview] = []
        """Unread parts of the current message."""
        self._bytes = data
        self._layer = layer
        self._reader: Any = None
        self._dictionaries: dict[int, int] = {}  # id of a dictionary -> bytes

    def schema(self) -> pa.Schema:
        """Read the schema in the first message, which `read` then gives again. Must be called before `read`."""
        self._reader = pa.ipc.MessageReader.open_stream(pa.PythonFile(self._bytes, "r"))
        self._next()
        return pa.ipc.read_schema(pa.py_buffer(b"".join(self.parts)))

    def read(self, count: int) -> memoryview | bytes:
        """Return the next bytes, at most `count`, of a single part of a message; empty at the end."""
        if not self.parts:
            self._next()
        if not self.parts:
            return b""
        part = self.parts.pop(0)
        if count < len(part):
            self.parts.insert(0, part[count:])
        return part[:count]

    def close(self) -> None:
        """Do nothing: the caller closes the reader."""

    def _next(self) -> None:
        """Read the next message into `parts`, which stay empty at the end."""
        try:
            message = self._reader.read_next_message()
            metadata, body = memoryview(message.metadata), memoryview(message.body or b"")
            self._count(message.type, bytes(metadata), body)
        except StopIteration:
            return
        except (*FAILED, struct.error) as error:
            at = self._bytes.at
            what = "truncated" if self._bytes.is_short else "damaged"
            raise SourceError(self._layer.name, f"{what} Arrow file (in the message at byte {at})") from error
        begin = _CONTINUATION + struct.pack("<i", len(metadata))
        self.parts = [part for part in (memoryview(begin), metadata, body) if part]

    def _count(self, kind: str, metadata: bytes, body: memoryview) -> None:
        """Set `rows`, for a batch, to its number of rows. Raises SourceError if an unpacked batch, or all dictionaries
        together, have more than 1 GiB. `metadata`: a Message (Message.fbs) that pyarrow has verified.
        """
        if kind not in ("dictionary", "record batch"):
            return
        header = _table(metadata, _field(metadata, _table(metadata, 0), 2))
        batch = _table(metadata, _field(metadata, header, 1)) if kind == "dictionary" else header
        unfolded = _unfolded(metadata, batch, body)
        if unfolded > _LARGEST:
            self._refuse("a batch unfolds to", unfolded)
        if kind == "record batch":
            self.rows = max(0, _number(metadata, batch, 0))
            return
        name, is_more = _number(metadata, header, 0), _field(metadata, header, 2)
        before = self._dictionaries.get(name, 0) if is_more and metadata[is_more] else 0
        self._dictionaries[name] = before + (unfolded or len(body))
        if (total := sum(self._dictionaries.values())) > _LARGEST:
            self._refuse("its dictionaries have", total)

    def _refuse(self, what: str, byte_count: int) -> None:
        much = f"{what} {byte_count:,} bytes before byte {self._bytes.at}, more than {_LARGEST:,}"
        raise SourceError(self._layer.name, f"{much}; write smaller batches")


def _table(data: bytes, at: int) -> int:
    """Index in a flatbuffer of the table to which the four bytes at index `at` refer."""
    return at + int(struct.unpack_from("<I", data, at)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Index in a flatbuffer of a field of the table at index `table`: of its value, or of the reference to its value,
    which `_table` follows; 0 without the field. `number`: of the field, from 0.
    """
    vtable = table - struct.unpack_from("<i", data, table)[0]
    size = struct.unpack_from("<H", data, vtable)[0]
    offset = struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0] if 6 + 2 * number <= size else 0
    return int(table + offset) if offset else 0


def _number(data: bytes, table: int, number: int) -> int:
    """Value of a signed field of 64 bits in a flatbuffer; 0 without the field. Parameters: those of `_field`."""
    at = _field(data, table, number)
    return int(struct.unpack_from("<q", data, at)[0]) if at else 0


def _unfolded(metadata: bytes, batch: int, body: memoryview) -> int:
    """Number of unpacked bytes of a compressed batch; 0 if it is not compressed. `metadata`, `body`: of its message;
    `batch`: index of its RecordBatch in `metadata`.
    """
    # Each buffer of a compressed batch begins with its unpacked size, or with -1 if the buffer is not compressed.
    if not _field(metadata, batch, 3):
        return 0
    vector = _table(metadata, _field(metadata, batch, 2))
    count = struct.unpack_from("<I", metadata, vector)[0]
    total = 0
    for offset, length in struct.iter_unpack("<qq", metadata[vector + 4 : vector + 4 + 16 * count]):
        if length >= 8 and offset >= 0:
            size = struct.unpack_from("<q", body, offset)[0]
            total += length - 8 if size == -1 else max(0, size)
    return total


FORMS = (
    Table(
        name="an Arrow file",
        open=functools.partial(read_arrow, is_file=True),
        recognise=begins_with(_MAGIC),
        signs=exactly(_MAGIC),
        suffixes=(".arrow", ".feather"),
        recognise_named=looks_binary,
        needs_beginning=True,
    ),
    Table(
        name="an Arrow stream",
        open=functools.partial(read_arrow, is_file=False),
        recognise=is_arrow_stream,
        signs=exactly(_CONTINUATION),
    ),
)
