"""Headers of members of zip archives, members that are not read, and the decoding of members.

The names are those of APPNOTE.TXT 6.3.10.
"""

import re
import struct
import zlib
from collections.abc import Generator
from dataclasses import dataclass

from urnscan.sources.buffer import Buffer, CutError
from urnscan.sources.compression import decoders, frames

__all__ = ["FIXED", "Header", "descriptor", "refusal", "texts"]

FIXED = 30
"""Octets of the header of a member before its name."""

_HEADER = struct.Struct("<4x5H3I2H")
_LATEST_VERSION = 99
_IN_EXTRA = 0xFFFFFFFF

_STORED, _DEFLATE, _DEFLATE64, _BZIP2, _ZSTD, _XZ, _AES = 0, 8, 9, 12, 93, 95, 99
_READ = (_STORED, _DEFLATE, _BZIP2, _ZSTD, _XZ)
_NAMES = {
    **dict.fromkeys((2, 3, 4, 5), "Reduce"),
    1: "Shrink",
    6: "Implode",
    _DEFLATE64: "Deflate64",
    10: "PKWARE Implode",
    14: "LZMA",
    16: "IBM CMPSC",
    18: "IBM Terse",
    19: "IBM LZ77",
    20: "Zstandard, deprecated",
    94: "MP3",
    96: "JPEG",
    97: "WavPack",
    98: "PPMd",
    _AES: "AES",
}
_ENCRYPTED, _DESCRIPTOR, _STRONGLY, _UTF8, _MASKED = 1 << 0, 1 << 3, 1 << 6, 1 << 11, 1 << 13

# What descriptors look like: with a signature or without, with sizes of 64 bits or of 32. The longer first: with an
# empty member the front of the longer ones is one of the shorter.
_SIGNATURE = b"PK\x07\x08"
_DESCRIPTORS = tuple(struct.Struct(layout) for layout in ("<4sIQQ", "<4sIII", "<0sIQQ", "<0sIII"))
_LONGEST_DESCRIPTOR = 24
_BEHIND = (b"PK\x03\x04", b"PK\x01\x02")
_MARK = re.compile(rb"PK(?:\x07\x08|\x03\x04|\x01\x02)")
_SEARCHED = 1 << 12  # octets in which a descriptor is searched at a time


@dataclass(frozen=True, slots=True)
class Header:
    """Header before a member."""

    name: str
    flags: int
    method: int
    crc: int
    compressed: int | None
    """Octets in the archive; None where only what is behind them tells."""
    size: int | None

    @property
    def has_descriptor(self) -> bool:
        """Whether its checksum and sizes stand behind the member."""
        return bool(self.flags & _DESCRIPTOR)

    @property
    def is_encrypted(self) -> bool:
        """Whether it is, in any of the ways there are."""
        return bool(self.flags & (_ENCRYPTED | _STRONGLY | _MASKED)) or self.method == _AES

    @classmethod
    def parse(cls, fixed: bytes, rest: bytes) -> "Header":
        """`fixed` are its first 30 octets, `rest` the name and the extra fields."""
        _, flags, method, _, _, crc, compressed, size, name_length, _ = _HEADER.unpack(fixed)
        octets, extra = rest[:name_length], rest[name_length:]
        name = octets.decode("utf-8", "backslashreplace") if flags & _UTF8 else octets.decode("cp437")
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<HH", extra, at)
            field = extra[at + 4 : at + 4 + length]
            at += 4 + length
            if kind == 1:  # zip64: those of the sizes that do not fit
                if size == _IN_EXTRA and len(field) >= 8:
                    size, field = int.from_bytes(field[:8], "little"), field[8:]
                if compressed == _IN_EXTRA and len(field) >= 8:
                    compressed = int.from_bytes(field[:8], "little")
            elif kind == 0x7075 and int.from_bytes(field[1:5], "little") == zlib.crc32(octets):  # the name in Unicode
                name = field[5:].decode("utf-8", "backslashreplace")
        if flags & _DESCRIPTOR:
            return cls(name, flags, method, crc, compressed or None, size or None)
        return cls(name, flags, method, crc, compressed, size)

    @staticmethod
    def is_plausible(fixed: bytes) -> bool:
        """Whether its first 30 octets can be such, and are not data that happens to look so."""
        version, flags, method, _, _, _, _, _, name_length, _ = _HEADER.unpack(fixed)
        known = method in _READ or method in _NAMES
        return version & 0xFF <= _LATEST_VERSION and known and not flags & 0xC000 and name_length > 0


def refusal(header: Header) -> str | None:
    """Why a member is not read; None where it is."""
    if header.is_encrypted:
        return "encrypted, which is not read: decrypt it first"
    if header.method not in _READ:
        name = _NAMES.get(header.method, "unknown")
        return f"compressed by method {header.method} ({name}), which is not read: unpack it and compress it by another"
    return None


def texts(header: Header, buffer: Buffer) -> Generator[bytes | memoryview]:
    """Decode the member at the position of the buffer, and go behind it.

    A piece is good until the next is asked for. Raises what decoders raise.
    """
    if header.method == _STORED:
        if header.compressed is None:
            yield from _stored_up_to_descriptor(buffer)
        else:
            # They are the same, unless one is damaged.
            size = header.compressed if header.size is None else min(header.compressed, header.size)
            yield from _stored(buffer, size)
    elif header.method == _DEFLATE:
        yield from decoders.inflate()(buffer)
    else:
        decode = {_BZIP2: decoders.bzip2, _ZSTD: frames.zstandard, _XZ: decoders.xz}[header.method]()
        end = 0 if header.compressed is None else buffer.position + header.compressed
        yield from decode(buffer)
        while buffer.position < end:  # some write more than one frame
            if not buffer.peek():
                raise CutError
            yield from decode(buffer)


def descriptor(buffer: Buffer, crc: int, compressed: int, size: int) -> tuple[int, bool]:
    """The length of the descriptor at the position, and whether it says the same; 0 where there seems to be none.

    Raises CutError.
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
        if not length and head[layout.size : layout.size + 4] in _BEHIND:
            length = layout.size
    if not length and len(head) < _LONGEST_DESCRIPTOR:
        raise CutError
    return length, False


def _stored(buffer: Buffer, size: int) -> Generator[memoryview]:
    left = size
    while left:
        octets = buffer.peek()[:left]
        if not octets:
            raise CutError
        buffer.advance(len(octets))
        left -= len(octets)
        yield octets


def _stored_up_to_descriptor(buffer: Buffer) -> Generator[memoryview]:
    """Octets before the first descriptor whose sizes are the number of these octets."""
    given = 0
    while True:
        head = buffer.peek(_SEARCHED)
        is_last = len(head) < _SEARCHED
        # What may be the front of a descriptor and of the mark behind it is kept back.
        safe = len(head) if is_last else len(head) - _LONGEST_DESCRIPTOR - 4
        for mark in _MARK.finditer(head):
            at = mark.start()
            if not is_last and at + _LONGEST_DESCRIPTOR > len(head):
                safe = min(safe, at - _LONGEST_DESCRIPTOR)
                break
            end = _before_descriptor(head, at, given)
            if end is not None:
                buffer.advance(end)
                yield head[:end]
                return
        buffer.advance(safe)
        given += safe
        yield head[:safe]
        if is_last:
            raise CutError


def _before_descriptor(head: memoryview, at: int, given: int) -> int | None:
    """Index of the descriptor that begins or ends at a mark; None if its sizes do not fit."""
    for layout in _DESCRIPTORS:
        begin = at if head[at : at + 4] == _SIGNATURE else at - layout.size
        if 0 <= begin <= len(head) - layout.size:
            signature, _, compressed, size = layout.unpack_from(head, begin)
            is_signed = begin == at
            if (signature == _SIGNATURE) == is_signed and compressed == size == given + begin:
                return begin
    return None
