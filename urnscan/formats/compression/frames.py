"""Decoders of a frame (a part that can be decoded alone) of a Zstandard file (RFC 8878) or LZ4 file.

A frame has blocks with a length. The libraries get a block at a time, so that after an error the text of all earlier
blocks was yielded. Both formats have skippable frames, which contain no text.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.compression.replay import BrokenError, ChecksumError

if TYPE_CHECKING:
    from zstandard import ZstdCompressionDict, ZstdDecompressor

TEXT_FRAME = b"\x28\xb5\x2f\xfd"
"""First bytes of a Zstandard frame with text, or of a compressed dictionary."""
_LONGEST_HEADER = 18
_LARGEST_SHORT_TEXT = 1 << 18  # bytes
_LARGEST_ZSTANDARD_BLOCK = 1 << 17
# Bytes; the maximum that the program zstd decodes by default.
_LARGEST_WINDOW = 1 << 27
_LZ4_BLOCKS = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_LZ4_RATIO = 256  # maximum bytes of text from a byte of a block
_LARGEST_SPARE_WINDOW = 1 << 23  # maximum bytes of memory of an idle decompressor

_Decompress: TypeAlias = Callable[[memoryview], bytes]


class Decompressors:
    """Pool of Zstandard decompressors for reuse, all with the same dictionary, or all without."""

    # Making a decompressor takes as long as decoding a short frame.

    def __init__(self, dictionary: "ZstdCompressionDict | None" = None) -> None:
        self._dictionary = dictionary
        self._spare: list[ZstdDecompressor] = []

    def take(self) -> "ZstdDecompressor":
        """Remove an idle decompressor from the pool and return it; make one if none is idle.

        Raises ZstdError for an invalid dictionary.
        """
        from zstandard import ZstdDecompressor  # noqa: PLC0415 (only for such files)

        try:
            return self._spare.pop()
        except IndexError:
            return ZstdDecompressor(dict_data=self._dictionary, max_window_size=_LARGEST_WINDOW)

    def give_back(self, decompressor: "ZstdDecompressor", window: int) -> None:
        """Put a decompressor into the pool, for the next `take`; drop it if `window`, the bytes of memory that its last
        frame needed, is above 8 MiB.
        """
        if window <= _LARGEST_SPARE_WINDOW:
            self._spare.append(decompressor)


_WITHOUT_DICTIONARY = Decompressors()


def without_dictionary(number: int) -> Decompressors:
    """Return the pool of decompressors that have no dictionary, for a frame that needs none (`number` 0).

    `number`: that of the dictionary in the header of the frame. Raises BrokenError if it is not 0.
    """
    if number:
        raise BrokenError("needs a dictionary; decompress it first")
    return _WITHOUT_DICTIONARY


class _Header(NamedTuple):
    """Header of a Zstandard frame (RFC 8878, 3.1.1.1)."""

    length: int
    """Bytes of the header, with the signature."""
    window: int
    """Bytes of memory that decoding needs."""
    dictionary: int
    """Number of the dictionary; 0: no number in the header."""
    size: int
    """Bytes of the text; 0: empty, or not in the header."""
    has_checksum: bool

    @classmethod
    def of(cls, buffer: Buffer) -> Self:
        data = buffer.peek_exactly(5)
        return cls.at(buffer.peek_exactly(cls._places(data[4])[2]), 0)

    @classmethod
    def at(cls, data: bytes, at: int) -> Self:
        """Parse the complete header at `data[at]`; its signature is not checked."""
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
        """Offsets in a header of the number of the dictionary, of the size of the text, and of the end. `descriptor`:
        its fifth byte.
        """
        single = descriptor >> 5 & 1
        number_at = 6 - single
        size_at = number_at + (0, 1, 2, 4)[descriptor & 3]
        return number_at, size_at, size_at + (single, 2, 4, 8)[descriptor >> 6]


def zstandard(buffer: Buffer, find: Callable[[int], Decompressors] = without_dictionary) -> Iterator[bytes]:
    """Take the Zstandard frame at the position of the buffer, and yield its unpacked bytes; nothing for a skippable
    frame, which has no text.

    `find`: function from the number of the dictionary that the frame needs (0: none) to decompressors with it; its
    errors are raised before the position moves. Raises CutError (the bytes end inside the frame), BrokenError (damaged,
    or needs more than 128 MiB of memory), ChecksumError.
    """
    from zstandard import ZstdError  # noqa: PLC0415 (only for such files)

    if skip_frame(buffer):
        return
    header = _Header.of(buffer)
    decompressors = find(header.dictionary)
    if header.window > _LARGEST_WINDOW:
        raise BrokenError("needs a window of more than 128 MiB; decompress it first")
    decompressor = decompressors.take()
    decompress = decompressor.decompressobj().decompress
    yield from _push(decompress, buffer, header.length, ZstdError)
    is_last = False
    while not is_last:
        byte_count, is_last = _block(buffer)
        # At the last byte the library checks the size of the whole text and may raise; so the text before comes first.
        if is_last:
            yield from _push(decompress, buffer, byte_count - 1, ZstdError)
            byte_count = 1
        yield from _push(decompress, buffer, byte_count, ZstdError)
    if header.has_checksum:
        _verify(decompress, buffer, ZstdError)
    decompressors.give_back(decompressor, header.window)


class ShortFrame(NamedTuple):
    """A Zstandard frame that is complete in memory, and unpacks to 1 byte to 256 KiB, by the size in its header."""

    end: int
    """Index after the frame."""
    dictionary: int
    """Number of the dictionary that the frame needs; 0: no number in the header."""


def short_frame(data: bytes, at: int) -> ShortFrame | None:
    """Find the end of the short frame that begins at `data[at]`, without decoding it. Short means that it unpacks to at
    most 256 KiB, by the size in its header.

    None if no Zstandard frame with text begins there, or if it is not short, not complete in `data`, or needs more than
    8 MiB of memory; also if `data[at:]` has fewer than 18 bytes.
    """
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
    """Skip the Zstandard frame at the position of the buffer, without decoding it. It must be a frame with text, which
    is not checked; `skip_frame` skips other frames.

    Raises CutError (the bytes end inside the frame), and BrokenError for a block that is too long.
    """
    header = _Header.of(buffer)
    buffer.skip(header.length)
    is_last = False
    while not is_last:
        data, is_last = _block(buffer)
        buffer.skip(data)
    if header.has_checksum:
        buffer.skip(4)


def _block(buffer: Buffer) -> tuple[int, bool]:
    """As `_block_at`, for the block at the position, which does not move. Raises BrokenError for a block of more than
    128 KiB.
    """
    size, is_last = _block_at(buffer.peek_exactly(3), 0)
    if size > 3 + _LARGEST_ZSTANDARD_BLOCK:
        raise BrokenError
    return size, is_last


def _block_at(data: bytes, at: int) -> tuple[int, bool]:
    """Number of bytes, with the header, of the Zstandard block at `data[at]`, and whether it is the last of the frame.
    Its header (3 bytes) must be complete.
    """
    word = int.from_bytes(data[at : at + 3], "little")
    # A run-length block contains a single byte.
    return 3 + (1 if word >> 1 & 3 == 1 else word >> 3), bool(word & 1)


def lz4(buffer: Buffer) -> Iterator[bytes]:
    """Take the LZ4 frame at the position of the buffer, and yield its unpacked bytes; nothing for a skippable frame,
    which has no text.

    Raises CutError (the bytes end inside the frame), BrokenError (damaged, or needs a dictionary), ChecksumError.
    """
    from lz4.frame import LZ4FrameDecompressor  # noqa: PLC0415 (only for such files)

    if skip_frame(buffer):
        return
    frame = LZ4FrameDecompressor()
    head = buffer.peek_exactly(6)
    flags = head[4]
    largest = _LZ4_BLOCKS.get(head[5] >> 4, 0)
    block_check = flags >> 2 & 4
    if flags & 1:
        raise BrokenError("needs a dictionary; decompress it first")

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
    """Take the next `count` bytes, and yield their text by `decompress`. Raises BrokenError, and takes nothing, if it
    raises `error`; CutError if fewer bytes were left.
    """
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
    # The checksum at the end of a frame.
    value = buffer.read(4)
    try:
        decompress(value)
    except error as reason:
        raise ChecksumError from reason


def skip_frame(buffer: Buffer) -> bool:
    """Skip the frame at the position of the buffer if it is a skippable frame, which contains no text.

    Returns whether it was one; if not, the position does not move. Raises CutError if the bytes end inside the frame.
    """
    magic = bytes(buffer.peek(4)[:4])
    if len(magic) < 4 or magic[0] >> 4 != 5 or magic[1:] != b"\x2a\x4d\x18":
        return False
    buffer.skip(4)
    buffer.skip(int.from_bytes(buffer.read(4), "little"))
    return True
