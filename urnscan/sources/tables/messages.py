"""The messages of an Arrow IPC stream, one by one, for pyarrow to read: none is held that is too large.

pyarrow itself takes what a message says of its length, and of the lengths of what is compressed in it, at its word.
"""

import contextlib
import struct

import pyarrow as pa

from urnscan.errors import SourceError
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, skip
from urnscan.sources.tables.values import path_of

__all__ = ["CONTINUATION", "Messages", "is_schema"]

CONTINUATION = b"\xff\xff\xff\xff"
_LONGEST_METADATA = 1 << 26
_IN_MEMORY = 1 << 28  # octets of a body that are read; a longer one is mapped, where it is in a file
_LARGEST = 1 << 30  # octets of the dictionaries, or of what a body unfolds to
_BLOCK = 1 << 20
_FOOTER = struct.Struct("<i6s")  # how a file ends: with the length of its footer, and with this
_FILE_END = b"ARROW1"
_SCHEMA, _DICTIONARY, _RECORDS = 1, 2, 3


class _Table:
    """A table in a flatbuffer. Reading what is not there raises struct.error."""

    def __init__(self, octets: bytearray | bytes, at: int) -> None:
        self._octets = octets
        self._at = at

    @classmethod
    def root(cls, octets: bytearray | bytes) -> "_Table":
        return cls(octets, struct.unpack_from("<I", octets)[0])

    def _place(self, field: int) -> int | None:
        vtable = self._at - struct.unpack_from("<i", self._octets, self._at)[0]
        if vtable < 0:
            raise struct.error
        size = struct.unpack_from("<H", self._octets, vtable)[0]
        if 6 + 2 * field > size:
            return None
        offset = struct.unpack_from("<H", self._octets, vtable + 4 + 2 * field)[0]
        return self._at + offset if offset else None

    def number(self, field: int, form: str) -> int:
        at = self._place(field)
        return 0 if at is None else int(struct.unpack_from(form, self._octets, at)[0])

    def table(self, field: int) -> "_Table | None":
        at = self._place(field)
        return None if at is None else _Table(self._octets, at + struct.unpack_from("<I", self._octets, at)[0])

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A vector of structs of two 64-bit numbers."""
        at = self._place(field)
        if at is None:
            return []
        at += struct.unpack_from("<I", self._octets, at)[0]
        count = struct.unpack_from("<I", self._octets, at)[0]
        if at + 4 + 16 * count > len(self._octets):
            raise struct.error
        return list(struct.iter_unpack("<qq", self._octets[at + 4 : at + 4 + 16 * count]))


def is_schema(metadata: bytes) -> bool:
    """Whether the metadata of a message is that of a schema that can be read."""
    framed = CONTINUATION + struct.pack("<i", len(metadata)) + metadata
    with contextlib.suppress(pa.ArrowException, ValueError, OSError, struct.error):
        if _Table.root(metadata).number(1, "<B") == _SCHEMA:
            pa.ipc.read_schema(pa.py_buffer(framed))
            return True
    return False


class Messages:
    """What pyarrow takes for a file to read a stream from; reads no more of it than the next message."""

    closed = False

    def __init__(self, reader: Reader, layer: Layer, start: int) -> None:
        """`reader` stands at the first message, `start` octets behind the beginning of what it reads."""
        self.at = start
        """Octets that were read."""
        self.rows = 0
        """Rows in the last batch of records that was read, by its own word."""
        self.since = 0
        """The date (see Checks) of the oldest octets that the last batch needs."""
        self._dictionaries_since: int | None = None
        self._reader = reader
        self._layer = layer
        self._parts: list[memoryview] = []
        self._dictionaries: dict[int, int] = {}
        self._is_file = start > 0
        self._continues = False  # whether messages begin with CONTINUATION, as all do since Arrow 0.15
        self._ended = False

    def schema(self) -> pa.Schema:
        """The schema in the first message. Raises pyarrow's own errors and SourceError."""
        if not self._parts:
            self._next()
        return pa.ipc.read_schema(pa.py_buffer(b"".join(self._parts)))

    def drop(self) -> None:
        """Pass over what is left of a message that turned out to be damaged."""
        self._parts.clear()

    def read(self, count: int) -> memoryview | bytes:
        """The next octets, of one message; fewer only at the end. Raises SourceError."""
        if not self._parts and not self._ended:
            self._next()
        given: list[memoryview] = []
        while count and self._parts:
            part = self._parts[0]
            given.append(part[:count])
            if count < len(part):
                self._parts[0] = part[count:]
            else:
                self._parts.pop(0)
            count -= len(given[-1])
        return given[0] if len(given) == 1 else b"".join(given)

    def close(self) -> None:
        """The reader is closed by whoever opened it."""

    def _next(self) -> None:
        """Read the next message."""
        now = self._layer.checks.since = self._layer.checks.now
        prefix = self._take(4, may_end=True)  # a stream may end without a mark
        if not prefix:
            self._end(is_marked=False)
            return
        is_continued = bytes(prefix) == CONTINUATION
        if is_continued:
            prefix += self._take(4)
        length = struct.unpack("<i", prefix[-4:])[0]
        if length == 0 and is_continued >= self._continues:
            self._end(is_marked=True)
            return
        self._continues |= is_continued
        if not 0 < length <= _LONGEST_METADATA:
            self._ended = True
            raise SourceError(self._layer.name, f"damaged at octet {self.at - 4}: no message of an Arrow stream")
        begin = self.at
        metadata = self._take(length)
        try:
            message = _Table.root(metadata)
            records, size = message.table(2), message.number(3, "<q")
            kind = message.number(1, "<B")
            dictionary = records if kind == _DICTIONARY else None
            if dictionary is not None:
                records = dictionary.table(1)
            body = self._body(size)
            if kind == _RECORDS and records is not None:
                self.rows = max(0, records.number(0, "<q"))
            if records is not None and kind != _SCHEMA and (unfolded := _unfolded(records, body)):
                size = unfolded
                if size > _LARGEST:
                    self._refuse("a batch unfolds to", size)
            now = min(now, self._layer.checks.since)
            if self._dictionaries_since is None and dictionary is not None:
                self._dictionaries_since = now
            self.since = now if self._dictionaries_since is None else self._dictionaries_since
            if dictionary is not None:
                which, more = dictionary.number(0, "<q"), dictionary.number(2, "<B")
                self._dictionaries[which] = size + (self._dictionaries.get(which, 0) if more else 0)
                if (total := sum(self._dictionaries.values())) > _LARGEST:
                    self._refuse("its dictionaries have", total)
        except struct.error:
            self._ended = True
            reason = f"damaged at octet {begin}: no message of an Arrow stream"
            raise SourceError(self._layer.name, reason) from None
        self._parts = [part for part in (memoryview(prefix), memoryview(metadata), body) if part]

    def _end(self, *, is_marked: bool) -> None:
        """The stream ends, by its mark or without; nothing but the footer of a file may follow. Raises SourceError."""
        self._ended = True
        begin, tail, is_blank = self.at, b"", True
        block = memoryview(bytearray(_BLOCK))
        while got := self._reader.read_into(block):
            self.at += got
            octets = bytes(block[:got])
            is_blank &= not octets.strip(b"\0")
            tail = (tail + octets)[-_FOOTER.size :]
        if self._is_file:
            size, magic = _FOOTER.unpack(tail.rjust(_FOOTER.size, b"\0"))
            if not is_marked or magic != _FILE_END or self.at - begin != size + _FOOTER.size:
                raise SourceError(self._layer.name, f"is damaged or cut off at octet {begin}: no footer follows there")
        elif not is_blank:
            raise SourceError(self._layer.name, f"what follows octet {begin}, where its stream ends, is not read")

    def _refuse(self, what: str, octets: int) -> None:
        self._ended = True
        reason = f"{what} {octets:,} octets before octet {self.at}, more than {_LARGEST:,}: write smaller batches"
        raise SourceError(self._layer.name, reason)

    def _body(self, size: int) -> memoryview:
        """The body of a message: mapped where it is large and in a file, else read."""
        if size < 0:
            raise struct.error
        if size > _IN_MEMORY:
            file = self._reader.reopen()
            if file is not None:
                with file:
                    path = path_of(file)
                if path is not None:
                    with pa.memory_map(path) as mapped:
                        mapped.seek(self.at)
                        body = memoryview(mapped.read_buffer(size))
                    self.at += skip(self._reader, len(body))
                    if len(body) == size:
                        return body
                    self._fail_short()
            if size > _LARGEST:
                self._refuse("a batch has", size)
        return memoryview(self._take(size))

    def _take(self, count: int, *, may_end: bool = False) -> bytearray:
        """So many octets; fewer, that is none, only where it may end. What is not there takes no memory."""
        octets = bytearray()
        while len(octets) < count:
            block = memoryview(bytearray(min(count - len(octets), _BLOCK)))
            got = self._reader.read_into(block)
            octets += block[:got]
            self.at += got
            if not got and not (may_end and not octets):
                self._fail_short()
            if not got:
                break
        return octets

    def _fail_short(self) -> None:
        self._ended = True
        raise SourceError(self._layer.name, f"ends at octet {self.at} within a message of the Arrow stream")


def _unfolded(records: _Table, body: memoryview) -> int:
    """The octets of all buffers of a batch when they are decompressed; 0 where they are not compressed."""
    if records.table(3) is None:
        return 0
    total = 0
    for offset, length in records.pairs(2):
        if length >= 8:
            if offset < 0:
                raise struct.error
            octets = struct.unpack_from("<q", body, offset)[0]
            total += length - 8 if octets == -1 else max(0, octets)
    return total
