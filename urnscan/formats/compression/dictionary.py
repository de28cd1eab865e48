"""Zstandard files whose frames were compressed with a dictionary in the same file (`.warc.zst`).

The file begins with a skippable frame that contains the dictionary, compressed or not: "Zstandard Compression for WARC
Files 1.0", https://iipc.github.io/warc-specifications/specifications/warc-zstd/. A further dictionary frame replaces
the dictionary for the frames after it, so concatenated files are read, too.
"""

from collections.abc import Callable, Iterator

from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.compression.frames import (
    TEXT_FRAME,
    Decompressors,
    pass_over,
    short_frame,
    skip_frame,
    without_dictionary,
    zstandard,
)
from urnscan.formats.compression.replay import BrokenError, ChecksumError, LeftOutError
from urnscan.stores.reader import PieceReader

DICTIONARY_FRAME = b"\x5d\x2a\x4d\x18"
"""First bytes of a skippable frame that may contain a dictionary, or any other data."""
LARGEST_DICTIONARY = 1 << 23
"""Maximum bytes of a dictionary, compressed and decompressed: the specification asks readers to accept 8 MiB."""
_TOGETHER = 1 << 17  # maximum bytes of short frames, and about the maximum of their text, that are decoded by one call
_DICTIONARY = b"\x37\xa4\x30\xec"
_TOO_LARGE = "has more than 8 MiB"
_ADVICE = "decompress the file first (zstd -d -D DICTIONARY)"


class ZstandardFile:
    """Decoder of the frames of a Zstandard file, with the dictionaries in the file.

    A call, `decoder(buffer)`, returns an iterator that takes the next frame and yields its unpacked bytes.
    """

    def __init__(self, count: Callable[[int], object]) -> None:
        """`count`: called with the number of bytes of each piece of a dictionary that is decompressed."""
        self._count = count
        self._bytes = b""  # the dictionary, still compressed, until a frame needs it
        self._name = ""
        self._wrong = ""  # reason why the dictionary cannot be used
        self._number = 0
        self._decompressors: Decompressors | None = None

    def __call__(self, buffer: Buffer) -> Iterator[bytes]:
        """Take the frame at the position of the buffer, and yield its unpacked bytes. Yields nothing for a skippable
        frame; if it contains a dictionary, stores this for the frames after it.

        Raises CutError, BrokenError, ChecksumError; and LeftOutError if the frame needs a dictionary that is missing or
        damaged: then the position is after the frame.
        """
        if self._take(buffer):
            return
        is_first = True
        try:
            for text in zstandard(buffer, self._find):
                # A dictionary in a damaged frame is decoded like text.
                if is_first and text.startswith(_DICTIONARY):
                    raise BrokenError("contains a dictionary; left out")
                is_first = False
                yield text
        except _MissingError as missing:
            pass_over(buffer)
            raise LeftOutError(f"{missing}: left out, like all that need it; {_ADVICE}") from missing

    def short(self, buffer: Buffer) -> bytes:
        """Take the next short frames (at most 128 KiB) that are complete in the buffer and undamaged, and return their
        unpacked bytes, joined.

        Empty, and nothing is taken, if `self(buffer)` must take the next frame: for example if it is incomplete or
        damaged, needs a new dictionary, or has no size in its header or more than 256 KiB of text.
        """
        # A new or wrong dictionary: `__call__` opens or reports it at the next frame.
        if self._bytes or self._wrong:
            return b""
        from zstandard import ZstdError  # noqa: PLC0415 (only for such files)

        decompressors = self._decompressors or without_dictionary(0)
        decompressor = decompressors.take()
        data = bytes(buffer.peek()[:_TOGETHER])
        view = memoryview(data)
        texts: list[bytes] = []
        at = length = 0
        while length < _TOGETHER and (frame := short_frame(data, at)) and frame.dictionary in (0, self._number):
            try:
                text = decompressor.decompress(view[at : frame.end])
            except ZstdError:
                break
            if text.startswith(_DICTIONARY):
                break
            at = frame.end
            length += len(text)
            texts.append(text)
        buffer.skip(at)
        decompressors.give_back(decompressor, 0)
        return b"".join(texts)

    def _take(self, buffer: Buffer) -> bool:
        """Take the frame at the position, if it contains a dictionary, and store that (one over 8 MiB cannot be used).
        False, and nothing is taken, for any other frame.
        """
        head = bytes(buffer.peek(12)[:12])
        if head[:4] != DICTIONARY_FRAME or head[8:] not in (_DICTIONARY, TEXT_FRAME):
            return False
        start, size = buffer.tell(), int.from_bytes(head[4:8], "little")
        self._name = f"the dictionary at byte {start}"
        self._bytes, self._decompressors, self._number = b"", None, 0
        self._wrong = _TOO_LARGE
        if size > LARGEST_DICTIONARY:
            return skip_frame(buffer)
        self._wrong = "is cut off"
        buffer.skip(8)
        self._bytes = bytes(buffer.read(size))
        self._wrong = ""
        return True

    def _find(self, number: int) -> Decompressors:
        """Decompressors for a frame with the dictionary `number` (0: no number in its header). Raises _MissingError if
        the file has another dictionary, or one that cannot be used.
        """
        if self._bytes:
            data, self._bytes = self._bytes, b""
            self._open(data)
        if self._wrong:
            raise _MissingError(f"needs {self._name}, which {self._wrong}")
        if self._decompressors is None and not number:
            return without_dictionary(number)
        if self._decompressors is None or number not in (0, self._number):
            has = f"the file has {self._number}" if self._decompressors else "the file has none"
            raise _MissingError(f"needs the dictionary {number}, and {has}")
        return self._decompressors

    def _open(self, data: bytes) -> None:
        """Make decompressors with a dictionary, or store why the dictionary cannot be used."""
        from zstandard import DICT_TYPE_FULLDICT, ZstdCompressionDict, ZstdError  # noqa: PLC0415 (only for such files)

        try:
            content = data if data.startswith(_DICTIONARY) else self._decompressed(data)
            dictionary = ZstdCompressionDict(content, dict_type=DICT_TYPE_FULLDICT)
            decompressors = Decompressors(dictionary)
            decompressors.give_back(decompressors.take(), 0)
            self._number, self._decompressors = dictionary.dict_id(), decompressors
        except (CutError, BrokenError, ChecksumError, ZstdError):
            self._wrong = "is damaged"
        except _MissingError as error:
            self._wrong = str(error)

    def _decompressed(self, data: bytes) -> bytes:
        content = bytearray()
        for text in zstandard(Buffer(PieceReader(iter([data])))):
            self._count(len(text))
            content += text
            if len(content) > LARGEST_DICTIONARY:
                raise _MissingError(_TOO_LARGE)
        return bytes(content)


class _MissingError(Exception):
    """The dictionary that a frame needs cannot be used."""
