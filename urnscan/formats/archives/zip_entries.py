"""Headers of members of zip archives, reasons why members are not read, and the decoding of members.

The terms are those of APPNOTE.TXT 6.3.10.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.checksum import fastest_crc32
from urnscan.formats.compression import decoders, frames

MEMBER = b"PK\x03\x04"
"""Signature of the local header of a member, its first four bytes."""
FIXED = 30
"""Number of bytes of the local header of a member before the name."""

_HEADER = struct.Struct("<4x5H3I2H")
_LATEST_VERSION = 99
_IN_EXTRA = 0xFFFFFFFF

_STORED, _DEFLATE, _AES = 0, 8, 99
_DECODERS = {_DEFLATE: decoders.deflate, 12: decoders.bzip2, 93: frames.zstandard, 95: decoders.xz}
_UNREAD = dict.fromkeys((2, 3, 4, 5), "Reduce") | {1: "Shrink", 6: "Implode", 9: "Deflate64", 10: "PKWARE Implode"}
_UNREAD |= {14: "LZMA", 16: "IBM CMPSC", 18: "IBM Terse", 19: "IBM LZ77", 20: "Zstandard, deprecated"}
_UNREAD |= {94: "MP3", 96: "JPEG", 97: "WavPack", 98: "PPMd", _AES: "AES"}
_METHODS = {_STORED, *_DECODERS, *_UNREAD}
_DESCRIPTOR, _UTF8 = 1 << 3, 1 << 11
_PASSWORD = 1 << 0
_ENCRYPTED = _PASSWORD | 1 << 6 | 1 << 13  # with a password; in addition strongly, with masked headers
_UNUSED = 0xC780  # bits 7 to 10, 14, 15

# Layouts of descriptors: with or without a signature, with sizes of 64 or 32 bits. Longer layouts come first, because
# the first bytes of a long descriptor of an empty member look like a short descriptor.
_SIGNATURE = b"PK\x07\x08"
_DESCRIPTORS = tuple(struct.Struct(layout) for layout in ("<4sIQQ", "<4sIII", "<0sIQQ", "<0sIII"))
_SIGNED = _DESCRIPTORS[:2]
_LONGEST_DESCRIPTOR = 24
_FOLLOWS = (MEMBER, b"PK\x01\x02")
_MARK = re.compile(_SIGNATURE)
_SEARCHED = 1 << 12  # bytes per step of the search for a descriptor


@dataclass(frozen=True, slots=True)
class Header:
    """Local header of a member: the header before its data (APPNOTE.TXT, 4.3.7)."""

    name: str
    """Path of the member in the archive, decoded."""
    flags: int
    """General purpose bit flags (4.4.4)."""
    method: int
    """Compression method (4.4.5): 0 stored, 8 deflate, …"""
    crc: int
    """CRC-32 of the unpacked bytes, by the header; usually 0 if only the descriptor after the member has it."""
    compressed: int | None
    """Number of bytes of the member in the archive; None if only the descriptor after the member has it."""
    size: int | None
    """Number of unpacked bytes; None if only the descriptor after the member has it."""

    @property
    def has_descriptor(self) -> bool:
        """Whether a descriptor with checksum and sizes follows the member (APPNOTE.TXT, 4.3.9)."""
        return bool(self.flags & _DESCRIPTOR)

    @property
    def is_encrypted(self) -> bool:
        """Whether the member is encrypted, by any method."""
        return bool(self.flags & _ENCRYPTED) or self.method == _AES

    @classmethod
    def parse(cls, fixed: bytes, rest: bytes) -> "Header":
        """Parse a header: `fixed`, its first 30 bytes, and `rest`, its name and extra fields (zip64, Unicode name).

        Does not check whether the values are possible: `is_plausible` and `refusal` do.
        """
        _, flags, method, _, _, crc, compressed, size, name_length, _ = _HEADER.unpack(fixed)
        data, extra = rest[:name_length], rest[name_length:]
        is_utf8 = flags & _UTF8 or data.isascii()
        name = data.decode("utf-8", "backslashreplace") if is_utf8 else data.decode("cp437")
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<HH", extra, at)
            field = extra[at + 4 : at + 4 + length]
            at += 4 + length
            # zip64: sizes that do not fit into 32 bits.
            if kind == 1:
                if size == _IN_EXTRA and len(field) >= 8:
                    size, field = int.from_bytes(field[:8], "little"), field[8:]
                if compressed == _IN_EXTRA and len(field) >= 8:
                    compressed = int.from_bytes(field[:8], "little")
            elif kind == 0x7075 and int.from_bytes(field[1:5], "little") == zlib.crc32(data):
                # The name in Unicode.
                name = field[5:].decode("utf-8", "backslashreplace")
        none = None if flags & _DESCRIPTOR else 0
        return cls(name, flags, method, crc, compressed or none, size or none)

    @staticmethod
    def is_plausible(fixed: bytes) -> bool:
        """Whether 30 bytes that begin with the signature of a local header (not checked) may be one: version, flags,
        method and length of the name have possible values.
        """
        version, flags, method, _, _, _, _, _, name_length, _ = _HEADER.unpack(fixed)
        return version & 0xFF <= _LATEST_VERSION and method in _METHODS and not flags & 0xC000 and name_length > 0

    def refusal(self) -> str | None:
        """Return the reason, as words for a message, why the member cannot be read (encrypted, compressed by another
        method than those that are read, or flags that no program writes); None if it can be read.
        """
        if not self.is_encrypted and (self.method == _STORED or self.method in _DECODERS):
            return None
        if self.flags & _UNUSED or (self.is_encrypted and not self.flags & _PASSWORD):
            return "its header is damaged, so it is not read; copy the archive again"
        if self.is_encrypted:
            return "encrypted, which is not read; decrypt it first"
        name = _UNREAD.get(self.method, "unknown")
        return f"compressed by method {self.method} ({name}), which is not read; unpack it and compress it by another"

    def texts(self, buffer: Buffer) -> Iterator[bytes | memoryview]:
        """Yield the unpacked bytes of the member whose data begin at the position of the buffer; the position moves to
        their end, before a descriptor. Does not compare checksum and size with the header.

        Only for a member without a `refusal`. A piece may be used until the next is requested. Raises CutError (the
        bytes end inside the member), BrokenError (damaged) and, if the compression has a checksum, ChecksumError.
        """
        if self.method == _STORED:
            if self.compressed is None:
                yield from _stored_up_to_descriptor(buffer)
            else:
                # For a stored member both sizes are equal, unless the header is damaged.
                yield from _stored(buffer, self.compressed if self.size is None else min(self.compressed, self.size))
            return
        decode = _DECODERS[self.method]
        end = 0 if self.compressed is None else buffer.tell() + self.compressed
        yield from decode(buffer)
        # Some writers make several frames or streams.
        while buffer.tell() < end and self.method != _DEFLATE:
            if not buffer.peek():
                raise CutError
            yield from decode(buffer)


class Whole(NamedTuple):
    """A member of a zip archive that was complete in memory: unpacked, with the right checksum and size."""

    name: str
    """Path of the member in the archive, decoded."""
    text: bytes | memoryview
    """The unpacked bytes; of a stored member a slice of the archive."""
    end: int
    """Index after the member in the bytes of the archive."""
    is_compressed: bool
    """False for a stored member, whose bytes in the archive are its text."""

    @classmethod
    def at(cls, data: memoryview, start: int, most: int) -> "Whole | None":
        """The member whose local header begins at `data[start]`, if it is complete and unpacks to at most `most` bytes.

        None if no header begins there, and for a member that is incomplete, empty, larger, damaged, encrypted, followed
        by a descriptor, or compressed by another method than deflate.
        """
        fixed = bytes(data[start : start + FIXED])
        if len(fixed) < FIXED or not fixed.startswith(MEMBER):
            return None
        begin = start + FIXED + int.from_bytes(fixed[26:28], "little") + int.from_bytes(fixed[28:30], "little")
        header = Header.parse(fixed, bytes(data[start + FIXED : begin]))
        size, end = header.size or 0, begin + (header.compressed or 0)
        is_usual = not header.is_encrypted and not header.has_descriptor
        if not is_usual or not begin < end <= len(data) or not 0 < size <= most:
            return None
        packed, is_compressed = data[begin:end], header.method != _STORED
        result: tuple[bytes | memoryview, int] | None = None
        if header.method == _DEFLATE:
            result = decoders.inflated(packed, size)
        elif not is_compressed and len(packed) == size:
            result = packed, fastest_crc32()(packed)
        if result is None or result[1] != header.crc:
            return None
        return cls(header.name, result[0], end, is_compressed)


def descriptor(buffer: Buffer, crc: int, compressed: int, size: int) -> tuple[int, bool]:
    """Find the descriptor (checksum and sizes after a member) at the position of the buffer, which does not move.

    `crc`, `compressed`, `size`: those of the member as read. Returns the length of the descriptor in bytes, and whether
    it has these values (with others, it is recognised by a record after it); (0, False) if none is recognised.
    Raises CutError if none is recognised and fewer than 24 bytes are left.
    """
    head = bytes(buffer.peek(_LONGEST_DESCRIPTOR + 4)[: _LONGEST_DESCRIPTOR + 4])
    length = 0
    for layout in _DESCRIPTORS:
        if len(head) < layout.size:
            continue
        signature, *values = layout.unpack_from(head)
        if signature not in (b"", _SIGNATURE):
            continue
        mask = (1 << 64 if "Q" in layout.format else 1 << 32) - 1
        if values == [crc, compressed & mask, size & mask]:
            return layout.size, True
        if not length and head[layout.size : layout.size + 4] in _FOLLOWS:
            length = layout.size
    if not length and len(head) < _LONGEST_DESCRIPTOR:
        raise CutError
    return length, False


def _stored(buffer: Buffer, left: int) -> Iterator[memoryview]:
    while left:
        data = buffer.peek()[:left]
        if not data:
            raise CutError
        buffer.skip(len(data))
        left -= len(data)
        yield data


def _stored_up_to_descriptor(buffer: Buffer) -> Iterator[memoryview]:
    """Yield the bytes of a stored member of unknown size up to its descriptor, which is not taken. Raises CutError if
    there is none.
    """
    # The descriptor is recognised by a signature, and by sizes that are equal to the number of bytes before.
    position = 0
    while True:
        head = buffer.peek(_SEARCHED)
        is_last = len(head) < _SEARCHED
        # A descriptor that begins after this index may be incomplete in the buffer.
        safe = len(head) if is_last else len(head) - _LONGEST_DESCRIPTOR
        for mark in _MARK.finditer(head, 0, safe):
            at = mark.start()
            for layout in _SIGNED:
                if at + layout.size <= len(head) and layout.unpack_from(head, at)[2:] == (position + at, position + at):
                    buffer.skip(at)
                    yield head[:at]
                    return
        # The last 3 bytes may be the beginning of a signature.
        safe -= 0 if is_last else 3
        buffer.skip(safe)
        position += safe
        yield head[:safe]
        if is_last:
            raise CutError
