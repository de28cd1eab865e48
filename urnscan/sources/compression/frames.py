"""Decoders of one frame of a Zstandard (RFC 8878) or LZ4 file, as those in decoders.py.

Both have blocks that tell how long they are, and the libraries get one at a time: where they raise, all before it is
given. Both have skippable frames, in which there is no text.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from urnscan.sources.buffer import Buffer, CutError
from urnscan.sources.compression.replay import BrokenError, ChecksumError

if TYPE_CHECKING:
    from zstandard import ZstdDecompressor

_LARGEST_ZSTANDARD_BLOCK = 1 << 17
_LARGEST_WINDOW = 1 << 27  # octets; what zstd itself decodes unless it is told otherwise
_LZ4_BLOCKS = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_LZ4_RATIO = 256  # no octet of a block gives more

_Decompress: TypeAlias = Callable[[memoryview], bytes]

# Decompressors that nobody uses now: making one takes as long as decoding a short frame.
_spare: list["ZstdDecompressor"] = []
_LARGEST_SPARE_WINDOW = 1 << 23  # octets, which a decompressor holds on to


def zstandard(buffer: Buffer) -> Iterator[bytes]:
    """Decode a frame of a Zstandard file, or pass over a skippable one."""
    import zstandard as library  # noqa: PLC0415 (only for such files)

    if _skip_frame(buffer):
        return
    descriptor = buffer.look(5)[4]
    single = descriptor >> 5 & 1
    id_size = (0, 1, 2, 4)[descriptor & 3]
    content_size = (single, 2, 4, 8)[descriptor >> 6]
    begin = 6 - single
    header = buffer.look(begin + id_size + content_size)
    if any(header[begin : begin + id_size]):
        raise BrokenError("needs a dictionary: decompress it first")
    if single:
        window = int.from_bytes(header[begin + id_size :], "little")
    else:
        window = (8 + (header[5] & 7)) << (7 + (header[5] >> 3))
    if window > _LARGEST_WINDOW:
        raise BrokenError("needs a window of more than 128 MiB: decompress it first")
    try:
        decompressor = _spare.pop()
    except IndexError:
        decompressor = library.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    decompress = decompressor.decompressobj().decompress
    yield from _push(decompress, buffer, len(header), library.ZstdError)
    last = 0
    while not last:
        block = int.from_bytes(buffer.look(3), "little")
        last = block & 1
        size = 1 if block >> 1 & 3 == 1 else block >> 3  # a run is one octet
        if size > _LARGEST_ZSTANDARD_BLOCK:
            raise BrokenError
        octets = 3 + size
        if last:  # at its last octet the library compares the size of all and may raise: first what comes before it
            yield from _push(decompress, buffer, octets - 1, library.ZstdError)
            octets = 1
        yield from _push(decompress, buffer, octets, library.ZstdError)
    if descriptor & 4:
        _verify(decompress, buffer, library.ZstdError)
    if window <= _LARGEST_SPARE_WINDOW:
        _spare.append(decompressor)


def lz4(buffer: Buffer) -> Iterator[bytes]:
    """Decode a frame of an LZ4 file, or pass over a skippable one."""
    from lz4.frame import LZ4FrameDecompressor  # noqa: PLC0415 (only for such files)

    if _skip_frame(buffer):
        return
    frame = LZ4FrameDecompressor()
    head = buffer.look(6)
    flags = head[4]
    largest = _LZ4_BLOCKS.get(head[5] >> 4, 0)
    block_check = flags >> 2 & 4
    if flags & 1:
        raise BrokenError("needs a dictionary: decompress it first")

    def decompress(octets: memoryview) -> bytes:
        text: bytes = frame.decompress(octets, min(largest, _LZ4_RATIO * len(octets)))
        return text

    yield from _push(decompress, buffer, 7 + (flags & 8), RuntimeError)
    while size := int.from_bytes(buffer.look(4), "little") & 0x7FFFFFFF:
        if size > largest:
            raise BrokenError
        yield from _push(decompress, buffer, 4 + size + block_check, RuntimeError)
    yield from _push(decompress, buffer, 4, RuntimeError)
    if flags & 4:
        _verify(decompress, buffer, RuntimeError)


def _push(decompress: _Decompress, buffer: Buffer, count: int, error: type[Exception]) -> Iterator[bytes]:
    """Decode the next `count` octets, which are whole blocks unless the buffer ends."""
    octets = buffer.peek(count)[:count]
    try:
        text = decompress(octets)
    except error as reason:
        raise BrokenError from reason
    buffer.advance(len(octets))
    if text:
        yield text
    if len(octets) < count:
        raise CutError


def _verify(decompress: _Decompress, buffer: Buffer, error: type[Exception]) -> None:
    """Take the checksum of the text at the end of a frame."""
    value = buffer.take(4)
    try:
        decompress(value)
    except error as reason:
        raise ChecksumError from reason


def _skip_frame(buffer: Buffer) -> bool:
    """Pass over a skippable frame, if there is one."""
    magic = bytes(buffer.peek(4)[:4])
    if len(magic) < 4 or magic[0] >> 4 != 5 or magic[1:] != b"\x2a\x4d\x18":
        return False
    buffer.skip(4)
    buffer.skip(int.from_bytes(buffer.take(4), "little"))
    return True
