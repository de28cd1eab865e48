"""Compressed files: the table of compressions, and a reader of the text, also of damaged files.

A compressed file has one or more members, each of which can be decoded alone. gzip calls this unit a member, xz and
bzip2 a stream, Zstandard and LZ4 a frame.

To add a compression, add a row to CODECS and a decoder (`decoders.py`; `frames.py` for frames); the registry of forms
reads CODECS. If urnscan cannot write the compression, add the suffix to `tables/plain_output.py`, too.
"""

import functools
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from urnscan.display.text import counted
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.compression import decoders, frames
from urnscan.formats.compression.dictionary import ZstandardFile
from urnscan.formats.compression.replay import BrokenError, ChecksumError, Decode, LeftOutError
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Compression, exactly, looks_binary
from urnscan.stores.reader import Reader, begins

# Maximum of damaged members in a file: each is decoded twice, and a hostile file has millions.
_MAX_FAILURES = 1_000
_PROOF = 1 << 10  # bytes of text, or a good end, that prove a member which was found after damaged bytes
_LONGEST_MAGIC = 6
# Maximum bytes of the first member for `decode_whole`: with longer members a second decoding would take long.
_SHORT = 1 << 20
# Bytes of the window in which a header is searched for; each pattern of a header is shorter.
_WINDOW = 16
_BLOCK = 1 << 18  # bytes per read

# Signatures of members, and patterns of whole headers.
_GZIP, _XZ, _LZ4 = b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\x04\x22\x4d\x18"
_LZ4_HEADER = _LZ4 + rb"[\x40-\x7f][\x40\x50\x60\x70]"
_SKIPPABLE = tuple(bytes((0x50 + number, 0x2A, 0x4D, 0x18)) for number in range(16))
# A file that begins with a skippable frame is LZ4 only with the suffix .lz4.
_ZSTD = (b"\x28\xb5\x2f\xfd", *_SKIPPABLE)
_ZSTD_HEADER = rb"\x28\xb5\x2f\xfd[^\x08-\x0f\x18-\x1f]"
_BZIP2_FOLLOWS = (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end of an empty stream; "BZh" alone may be text
_BZIP2 = tuple(b"BZh%d%b" % (level, follows) for level in range(1, 10) for follows in _BZIP2_FOLLOWS)
_BZIP2_HEADER = rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"


@dataclass(frozen=True, slots=True)
class Codec:
    """A compression, such as gzip: its names, signatures and decoder.

    A compressed file has one or more members, each of which can be decoded alone.
    """

    name: str
    """Name for messages, such as "gzip"."""
    unit: str
    """Word for a member in messages, as in the standard of the compression: member, stream or frame."""
    suffixes: tuple[str, ...]
    """Suffixes of file names, with the dot, in lower case."""
    decode: Decode | type[ZstandardFile]
    """Function that yields the unpacked bytes of a member; for Zstandard a class whose objects are such functions, as
    they store a dictionary that later frames need.
    """
    overrun: int
    """Maximum bytes that the library reads after damage before it raises; the search for a member goes back so far."""
    magics: tuple[bytes, ...]
    """Signatures of a member, which are enough to recognise a file with one of `suffixes`."""
    telling: tuple[bytes, ...]
    """Signatures by which a file with any other name is recognised; empty: only by the suffix."""
    header: bytes
    """Regular expression for the beginning of a member, which is searched for after damaged bytes."""
    decode_whole: Decode | None = None
    """Function that decodes all further members of a file by one call, which is faster; raises BrokenError for any
    damage. None: there is no such function.
    """
    article: str = "a"
    """Article of the name in messages: "an xz file"."""

    def recognise(self, head: bytes, layer: Layer) -> bool | None:
        """Whether a file that begins with `head` has this compression: by `magics` if its name (in `layer`) has one of
        `suffixes`, otherwise by `telling`. None if more bytes are needed.
        """
        is_named = layer.file_name.lower().endswith(self.suffixes)
        return begins(head, *(self.magics if is_named else self.telling))


CODECS = (
    Codec(
        *("gzip", "member", (".gz", ".tgz"), decoders.gzip, 1 << 18, (_GZIP,), (_GZIP,), _GZIP + rb"[\x00-\x1f]"),
        decode_whole=decoders.whole_gzip,
    ),
    Codec("bzip2", "stream", (".bz2", ".tbz2", ".tbz"), decoders.bzip2, 1 << 21, (b"BZh",), _BZIP2, _BZIP2_HEADER),
    Codec(
        "xz", "stream", (".xz", ".txz"), decoders.xz, 1 << 18, (_XZ,), (_XZ,), _XZ + rb"\x00[\x00-\x0f]", article="an"
    ),
    Codec("LZ4", "frame", (".lz4",), frames.lz4, 5 << 20, (_LZ4, *_SKIPPABLE), (_LZ4,), _LZ4_HEADER, article="an"),
    Codec("zstd", "frame", (".zst", ".tzst"), ZstandardFile, 1 << 19, _ZSTD, _ZSTD, _ZSTD_HEADER),
    Codec("LZMA", "stream", (".lzma", ".tlz"), decoders.lzma_alone, 0, (b"\x5d\x00\x00",), (), b"(?!)", article="an"),
)
"""All compressions that are read, in the order in which they are tried: LZ4 before Zstandard, as both have the same
skippable frames.
"""


class Unpacked(Reader):
    """Reader of the unpacked bytes of a compressed file: those of all its members, joined, also of a damaged file.

    At damage it gives the bytes before, raises DamageError, and goes on with the next member that it finds. A wrong
    checksum after all text of a member is, in most formats, not raised, but added to the errors that `layer.budget`
    collects.
    """

    def __init__(self, codec: Codec, reader: Reader, layer: Layer) -> None:
        """`reader`: of the compressed bytes; stays open when this reader is closed. `layer`: their names and limits."""
        self._codec = codec
        self._header = re.compile(codec.header, re.DOTALL)
        self._layer = layer
        self._buffer = Buffer.of(reader)
        self._buffer.start_keeping(_BLOCK)
        self._count = layer.budget.count_unfolded
        decode = codec.decode
        self._decode = decode(self._count) if isinstance(decode, type) else decode
        self._decode_short = self._decode.short if isinstance(self._decode, ZstandardFile) else None
        self._searching = False
        self._may_be_whole = codec.decode_whole is not None and self._buffer.has_second
        self._known = 0  # bytes of text after the position that were already yielded
        self._failures = 0  # number of members that could not be decoded, and of bytes that only looked like a member
        self._left_out = ""  # the reported reason why members were left out since the last text
        self._passed: int | None = None  # first of the bytes that are not a member and are not yet reported
        self._parts = self._read()
        self._part: memoryview | SourceError = memoryview(b"")  # remaining bytes

    def read_into(self, view: memoryview) -> int:
        """Read unpacked bytes into the front of the view. Fills the view, unless the end, an error or a wait for a pipe
        comes before.

        Returns their number, 0 at the end. Raises DamageError, after which the next call reads on; after LimitError and
        other SourceErrors there are no more bytes.
        """
        filled = 0
        while filled < len(view):
            if not self._part:
                if filled and not (self._buffer.buffered or self._buffer.has_second):
                    break
                try:
                    part = next(self._parts, None)
                except LimitError as error:
                    part = error
                if part is None:
                    break
                self._part = part if isinstance(part, SourceError) else memoryview(part)
            if isinstance(self._part, SourceError):
                if filled:
                    # The text before the error is returned first.
                    break
                raised, self._part = self._part, memoryview(b"")
                raise raised
            byte_count = min(len(self._part), len(view) - filled)
            view[filled : filled + byte_count] = self._part[:byte_count]
            self._part = self._part[byte_count:]
            filled += byte_count
        return filled

    def close(self) -> None:
        """Close the second opening of the file; the reader of the compressed bytes stays open."""
        self._parts.close()
        self._buffer.stop_keeping()

    def _read(self) -> Generator[bytes | SourceError, None, None]:
        buffer = self._buffer
        while True:
            buffer.drop_kept()
            if buffer.find(self._header, _WINDOW) if self._searching else self._is_at_member():
                start = buffer.tell()
                yield from self._short()
                if buffer.tell() > start:
                    continue
                yield from self._member()
                if self._may_be_whole and not self._searching:
                    self._may_be_whole = buffer.tell() - start < _SHORT
                    yield from self._whole()
                if self._failures > _MAX_FAILURES:
                    reason = f"is damaged in more than {_MAX_FAILURES:,} places: read no further"
                    yield SourceError(self._layer.name, reason)
                    return
            elif buffer.buffered:
                self._passed, self._searching = buffer.tell(), True
            else:
                yield from self._report_passed(buffer.tell())
                if buffer.error is None:
                    return
                yield buffer.error
                if not isinstance(buffer.error, DamageError):
                    return
                buffer.resume()
                self._searching = True

    def _whole(self) -> Iterator[bytes]:
        """Yield the text of all further members by `decode_whole`, if `_may_be_whole`; after damage go back, so that
        `_member` decodes them.
        """
        decode, start = self._codec.decode_whole, self._buffer.tell()
        if not self._may_be_whole or decode is None or not self._is_at_member():
            return
        self._may_be_whole = False
        try:
            for text in decode(self._buffer):
                self._count(len(text))
                self._known += len(text)
                yield text
            self._known = 0
        except BrokenError:
            self._buffer.seek(start)

    def _short(self) -> Iterator[bytes]:
        """Yield the text of the next Zstandard frames of at most 256 KiB; nothing during a search, and for other
        compressions.
        """
        if self._decode_short is not None and not self._searching:
            while text := self._decode_short(self._buffer):
                self._left_out = ""
                self._count(len(text))
                yield text

    def _member(self) -> Iterator[bytes | SourceError]:
        """Yield the text of the member at the position, and errors. If a search found it, text is yielded only after
        1,024 bytes or all of it are decoded; else the search goes on after its first byte.
        """
        buffer = self._buffer
        start = buffer.tell()
        pending: list[bytes] = []
        is_proven = not self._searching
        failure: Exception | None = None
        try:
            for text in self._decode(buffer):
                self._left_out = ""
                known = min(self._known, len(text))
                self._known -= known
                self._count(len(text) - known)
                pending.append(text[known:])
                is_proven = is_proven or sum(map(len, pending)) >= _PROOF
                if is_proven:
                    yield from self._report_passed(start)
                    yield from pending
                    pending.clear()
        except (CutError, BrokenError, ChecksumError) as error:
            failure = error
            self._known = 0
            # After a wrong checksum the member is not decoded again, so it is not counted.
            self._failures += not isinstance(error, ChecksumError)
        except LeftOutError as error:
            failure = error
            is_proven = is_proven or not buffer.peek() or self._is_at_member()
        if failure is not None and not is_proven:
            buffer.seek(start + 1)
            return
        yield from self._report_passed(start)
        yield from pending
        self._searching = False
        if failure is not None:
            yield from self._fail(start, failure)

    def _fail(self, start: int, failure: Exception) -> Iterator[SourceError]:
        """Yield the error of the member that began at `start`, unless `layer.budget` or the reader reports it, and go
        to where reading or a search goes on.
        """
        buffer, layer = self._buffer, self._layer
        named = f"the {self._codec.name} {self._codec.unit} at byte {start}"
        if isinstance(failure, ChecksumError | LeftOutError):
            if isinstance(failure, ChecksumError):
                layer.budget.failed_checksum(layer.name, f"the checksum of {named}")
            elif self._left_out != str(failure):
                self._left_out = str(failure)
                yield DamageError(layer.name, f"{named} {failure}")
            if not buffer.peek() or self._is_at_member():
                return
        elif isinstance(failure, CutError) and buffer.error is not None:
            self._searching = True
            # The error of the reader is reported instead.
            return
        elif isinstance(failure, CutError):
            yield DamageError(
                layer.name, f"truncated {self._codec.name} file ({self._codec.unit} starting at byte {start})"
            )
        else:
            why = str(failure) or f"is damaged at about byte {buffer.tell()}; the rest of it is lost"
            yield DamageError(layer.name, f"{named} {why}")
        self._searching = True
        buffer.seek(max(start + 1, buffer.tell() - self._codec.overrun))

    def _is_at_member(self) -> bool:
        """Skip padding (NULs). Returns whether a member, perhaps truncated, begins at the position then."""
        buffer = self._buffer
        while buffer.tell() and (block := buffer.peek()) and block[0] == 0:
            buffer.skip(len(block) - len(bytes(block).lstrip(b"\0")))
        head = bytes(buffer.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC])
        return head != b"" and any(magic.startswith(head[: len(magic)]) for magic in self._codec.magics)

    def _report_passed(self, end: int) -> Iterator[SourceError]:
        if self._passed is not None:
            first, self._passed = self._passed, None
            reason = f"{counted(end - first, 'byte')} at byte {first} are not {self._codec.name}; they are skipped"
            yield DamageError(self._layer.name, reason)


def _form(codec: Codec) -> Compression:
    return Compression(
        name=f"{codec.article} {codec.name} file",
        open=functools.partial(Unpacked, codec),
        recognise=codec.recognise,
        signs=exactly(*codec.magics),
        suffixes=codec.suffixes,
        recognise_named=looks_binary,
    )


FORMS = tuple(map(_form, CODECS))
