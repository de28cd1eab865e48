"""Decoders of one frame of a Zstandard (RFC 8878) or LZ4 file, as those in decoders.py.

Both have blocks that tell how long they are, and the libraries get one at a time: where they raise, all before it is
given. Both have skippable frames, in which there is no text.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.compression.replay import BrokenError, ChecksumError

if TYPE_CHECKING:
    from zstandard import ZstdCompressionDict, ZstdDecompressor

TEXT_FRAME = b"\x28\xb5\x2f\xfd"
"""The first bytes of a Zstandard frame with text, or of a compressed dictionary."""
_LONGEST_HEADER = 18
_LARGEST_SHORT_TEXT = 1 << 18  # bytes
_LARGEST_ZSTANDARD_BLOCK = 1 << 17
# Bytes; the largest that zstd decodes by default.
_LARGEST_WINDOW = 1 << 27
_LZ4_BLOCKS = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_LZ4_RATIO = 256  # no byte of a block gives more
_LARGEST_SPARE_WINDOW = 1 << 23  # bytes of memory that an idle decompressor may keep

_Decompress: TypeAlias = Callable[[memoryview], bytes]


class Decompressors:
    """Decompressors with one dictionary, or with none. Making one takes as long as decoding a short frame, so they are kept."""

    def __init__(self, dictionary: "ZstdCompressionDict | None" = None) -> None:
        self._dictionary = dictionary
        self._spare: list[ZstdDecompressor] = []

    def take(self) -> "ZstdDecompressor":
        """A decompressor that is not in use. Raises ZstdError if the dictionary is not valid."""
        from zstandard import ZstdDecompressor  # noqa: PLC0415 (only for such files)

        try:
            return self._spare.pop()
        except IndexError:
            return ZstdDecompressor(dict_data=self._dictionary, max_window_size=_LARGEST_WINDOW)

    def give_back(self, decompressor: "ZstdDecompressor", window: int) -> None:
        """Keep it for the next frame, unless its window is large."""
        if window <= _LARGEST_SPARE_WINDOW:
            self._spare.append(decompressor)


_WITHOUT_DICTIONARY = Decompressors()


def without_dictionary(number: int) -> Decompressors:
    """Decompressors for a frame of a file that has no dictionary. Raises BrokenError if the frame names one."""
    if number:
        raise BrokenError("needs a dictionary: decompress it first")
    return _WITHOUT_DICTIONARY


class _Header(NamedTuple):
    """Header of a Zstandard frame (RFC 8878, 3.1.1.1)."""

    length: int
    """Bytes of the header itself."""
    window: int
    """Bytes that must be in memory to decode the frame."""
    dictionary: int
    """The number of the dictionary; 0: the frame names none."""
    size: int
    """Bytes of the text; 0: the frame has none, or its header does not say."""
    has_checksum: bool

    @classmethod
    def of(cls, buffer: Buffer) -> Self:
        """The header at the position of a buffer, which stays. Raises CutError."""
        data = buffer.peek_exactly(5)
        return cls.at(buffer.peek_exactly(cls._places(data[4])[2]), 0)

    @classmethod
    def at(cls, data: bytes, at: int) -> Self:
        """The header at this place, which is whole."""
        descriptor, window = data[at + 4 : at + 6]
        number_at, size_at, length = cls._places(descriptor)
        number = int.from_bytes(data[at + number_at : at + size_at], "little")
        size = int.from_bytes(data[at + size_at : at + length], "little")
        if length - size_at == 2:
            size += 256
        needs = size if descriptor & 32 else (8 + (window & 7)) << (7 + (window >> 3))
        return cls(length, needs, number, size, descriptor & 4 > 0)

    @staticmethod
    def _places(descriptor: int) -> tuple[int, int, int]:
        """Places in a header where the number of the dictionary begins and where the size does, and the end of it."""
        single = descriptor >> 5 & 1
        number_at = 6 - single
        size_at = number_at + (0, 1, 2, 4)[descriptor & 3]
        return number_at, size_at, size_at + (single, 2, 4, 8)[descriptor >> 6]


def zstandard(buffer: Buffer, find: Callable[[int], Decompressors] = without_dictionary) -> Iterator[bytes]:
    """Decode a frame of a Zstandard file, or pass over a skippable one.

    `find` gives the decompressors for a number of a dictionary; its errors are raised before the position moves.
    """
    from zstandard import ZstdError  # noqa: PLC0415 (only for such files)

    if skip_frame(buffer):
        return
    header = _Header.of(buffer)
    decompressors = find(header.dictionary)
    if header.window > _LARGEST_WINDOW:
        raise BrokenError("needs a window of more than 128 MiB: decompress it first")
    decompressor = decompressors.take()
    decompress = decompressor.decompressobj().decompress
    yield from _push(decompress, buffer, header.length, ZstdError)
    is_last = False
    while not is_last:
        byte_count, is_last = _block(buffer)
        # At its last byte the library compares the size of all and may raise: first what comes before it.
        if is_last:
            yield from _push(decompress, buffer, byte_count - 1, ZstdError)
            byte_count = 1
        yield from _push(decompress, buffer, byte_count, ZstdError)
    if header.has_checksum:
        _verify(decompress, buffer, ZstdError)
    decompressors.give_back(decompressor, header.window)


class ShortFrame(NamedTuple):
    """A Zstandard frame that is whole in some bytes, has the size of its text in its header, and needs little memory."""

    end: int
    """The place after it."""
    dictionary: int
    """The number of its dictionary; 0: it names none."""


def short_frame(data: bytes, at: int) -> ShortFrame | None:
    """The frame that begins at this place, if it is short."""
    if len(data) < at + _LONGEST_HEADER or data[at : at + 4] != TEXT_FRAME:
        return None
    header = _Header.at(data, at)
    if not 0 < header.size <= _LARGEST_SHORT_TEXT or header.window > _LARGEST_SPARE_WINDOW:
        return None
    end = at + header.length
    is_last = False
    while not is_last:
        if end + 3 > len(data):
            return None
        size, is_last = _block_at(data, end)
        end += size
    end += 4 * header.has_checksum
    return None if end > len(data) else ShortFrame(end, header.dictionary)


def pass_over(buffer: Buffer) -> None:
    """Skip a Zstandard frame without decoding it. Raises CutError, and BrokenError where it is seen to be damaged."""
    header = _Header.of(buffer)
    buffer.skip(header.length)
    is_last = False
    while not is_last:
        data, is_last = _block(buffer)
        buffer.skip(data)
    if header.has_checksum:
        buffer.skip(4)


def _block(buffer: Buffer) -> tuple[int, bool]:
    """The bytes of the block of a Zstandard frame at the position, and whether it is the last; the position stays."""
    size, is_last = _block_at(buffer.peek_exactly(3), 0)
    if size > 3 + _LARGEST_ZSTANDARD_BLOCK:
        raise BrokenError
    return size, is_last


def _block_at(data: bytes, at: int) -> tuple[int, bool]:
    """The bytes of the block whose head is at this place, and whether it is the last."""
    word = int.from_bytes(data[at : at + 3], "little")
    # A run is one byte.
    return 3 + (1 if word >> 1 & 3 == 1 else word >> 3), bool(word & 1)


def lz4(buffer: Buffer) -> Iterator[bytes]:
    """Decode a frame of an LZ4 file, or pass over a skippable one."""
    from lz4.frame import LZ4FrameDecompressor  # noqa: PLC0415 (only for such files)

    if skip_frame(buffer):
        return
    frame = LZ4FrameDecompressor()
    head = buffer.peek_exactly(6)
    flags = head[4]
    largest = _LZ4_BLOCKS.get(head[5] >> 4, 0)
    block_check = flags >> 2 & 4
    if flags & 1:
        raise BrokenError("needs a dictionary: decompress it first")

    def decompress(data: memoryview) -> bytes:
        text: bytes = frame.decompress(data, min(largest, _LZ4_RATIO * len(data)))
        return text

    yield from _push(decompress, buffer, 7 + (flags & 8), RuntimeError)
    while size := int.from_bytes(buffer.peek_exactly(4), "little") & 0x7FFFFFFF:
        if size > largest:
            raise BrokenError
        yield from _push(decompress, buffer, 4 + size + block_check, RuntimeError)
    yield from _push(decompress, buffer, 4, RuntimeError)
    if flags & 4:
        _verify(decompress, buffer, RuntimeError)


def _push(decompress: _Decompress, buffer: Buffer, count: int, error: type[Exception]) -> Iterator[bytes]:
    """Decode the next `count` bytes, which are whole blocks unless the buffer ends."""
    data = buffer.peek(count)[:count]
    try:
        text = decompress(data)
    except error as reason:
        raise BrokenError from reason
    buffer.skip(len(data))
    if text:
        yield text
    if len(data) < count:
        raise CutError


def _verify(decompress: _Decompress, buffer: Buffer, error: type[Exception]) -> None:
    """Take the checksum of the text at the end of a frame."""
    value = buffer.read(4)
    try:
        decompress(value)
    except error as reason:
        raise ChecksumError from reason


def skip_frame(buffer: Buffer) -> bool:
    """Pass over a skippable frame, if there is one."""
    magic = bytes(buffer.peek(4)[:4])
    if len(magic) < 4 or magic[0] >> 4 != 5 or magic[1:] != b"\x2a\x4d\x18":
        return False
    buffer.skip(4)
    buffer.skip(int.from_bytes(buffer.read(4), "little"))
    return True
