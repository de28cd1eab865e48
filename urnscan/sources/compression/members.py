"""Compressed files: how each form is recognised, and the reader of the text in one, whatever is damaged in it.

Such a file is a text in one or more members, each of which can be decoded by itself: what gzip calls a member, xz and
bzip2 call a stream, Zstandard and LZ4 a frame.
"""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.sources.buffer import Buffer, CutError
from urnscan.sources.compression import decoders, frames
from urnscan.sources.compression.decoding import BrokenError, ChecksumError, Decode
from urnscan.sources.encodings import is_binary
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins

__all__ = ["CODINGS", "Coding", "Unpacked"]

_MOST_FAILURES = 1_000  # members: each costs a second look, and there can be very many in a file made to harm
_PROOF = 1 << 10  # octets of text that a member must have, or a good end, that was found behind damaged octets
_SKIPPABLE = tuple(bytes((0x50 + number, 0x2A, 0x4D, 0x18)) for number in range(16))
_BZIP2_FOLLOWS = (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end of an empty stream
_NEVER = re.compile(b"(?!)")
_LONGEST_MAGIC = 6
_WINDOW = 16  # octets; no less than what any header is searched by
_BLOCK = 1 << 18  # octets read at a time


@dataclass(frozen=True, slots=True)
class Coding:
    """One form of compression."""

    name: str
    unit: str
    """Its word for a member."""
    suffixes: tuple[str, ...]
    magics: tuple[bytes, ...]
    """Octets with which a member may begin."""
    telling: tuple[bytes, ...]
    """The magics that tell the form whatever the name is."""
    header: re.Pattern[bytes]
    """Pattern of the beginning of a member, searched for behind damaged octets."""
    overrun: int
    """Octets before the position of an error that may belong to the next members already."""
    decoder: Callable[[], Decode]

    def recognise(self, head: bytes, layer: Layer) -> bool | None:
        """Whether octets that begin so are compressed in this form; None where there are too few of them to tell."""
        return begins(head, *(self.magics if self._is_named(layer) else self.telling))

    def recognise_damaged(self, head: bytes, layer: Layer) -> bool:
        """Whether octets that begin so were compressed in this form, by the name, and are damaged where they begin.

        Text is taken for text whatever its name. What is of another form must have been recognised before.
        """
        return bool(is_binary(head)) and bool(self.telling) and self._is_named(layer)

    def _is_named(self, layer: Layer) -> bool:
        return layer.file_name.lower().endswith(self.suffixes)


def _header(magic: bytes, rest: bytes = b"") -> re.Pattern[bytes]:
    return re.compile(re.escape(magic) + rest, re.DOTALL)


CODINGS = (
    Coding(
        "gzip",
        "member",
        (".gz", ".tgz"),
        (b"\x1f\x8b\x08",),
        (b"\x1f\x8b\x08",),
        _header(b"\x1f\x8b\x08", rb"[\x00-\x1f]"),
        1 << 18,
        decoders.gzip,
    ),
    Coding(
        "bzip2",
        "stream",
        (".bz2", ".tbz2", ".tbz"),
        (b"BZh",),
        tuple(b"BZh%d%b" % (level, follows) for level in range(1, 10) for follows in _BZIP2_FOLLOWS),  # BZh may be text
        _header(b"BZh", rb"[1-9](?:1AY&SY|\x17rE8P\x90)"),
        1 << 21,
        decoders.bzip2,
    ),
    Coding(
        "xz",
        "stream",
        (".xz", ".txz"),
        (b"\xfd7zXZ\x00",),
        (b"\xfd7zXZ\x00",),
        _header(b"\xfd7zXZ\x00", rb"\x00[\x00-\x0f]"),
        1 << 18,
        decoders.xz,
    ),
    Coding(
        "LZ4",
        "frame",
        (".lz4",),
        (b"\x04\x22\x4d\x18", *_SKIPPABLE),
        (b"\x04\x22\x4d\x18",),
        _header(b"\x04\x22\x4d\x18", rb"[\x40-\x7f][\x40\x50\x60\x70]"),
        5 << 20,
        frames.lz4,
    ),
    Coding(
        "zstd",
        "frame",
        (".zst", ".tzst"),
        (b"\x28\xb5\x2f\xfd", *_SKIPPABLE),
        (b"\x28\xb5\x2f\xfd", *_SKIPPABLE),  # with no name that says LZ4, skippable frames are of Zstandard
        _header(b"\x28\xb5\x2f\xfd", rb"[^\x08-\x0f\x18-\x1f]"),
        1 << 19,
        frames.zstandard,
    ),
    Coding("LZMA", "stream", (".lzma",), (b"\x5d\x00\x00",), (), _NEVER, 0, decoders.alone),
)
"""Every form of compression that is read, LZ4 before Zstandard: they share the skippable frames."""


class Unpacked(Reader):
    """The text of a compressed file: its members after each other, and what is left of it where it is damaged.

    Behind damaged octets the next member is searched for.
    """

    def __init__(self, coding: Coding, reader: Reader, layer: Layer) -> None:
        """`reader` stays open when this one is closed; `layer` is the compressed file's."""
        self._coding = coding
        self._layer = layer
        self._buffer = Buffer.of(reader)
        self._buffer.hold(_BLOCK)
        self._decode = coding.decoder()
        self._searching = False
        self._failures = 0  # members that could not be decoded, and what only looked like one
        self._passed: int | None = None  # where octets begin that are no member, if that is still to be said
        self._text = memoryview(b"")  # still to be given
        self._parts = self._read()
        self._error: SourceError | None = None  # behind the text that was given last

    def read_into(self, view: memoryview) -> int:
        """Fill the view, as far as that can be done without waiting for a pipe."""
        filled = 0
        while filled < len(view):
            if not self._text:
                if filled and not self._buffer.buffered:
                    break
                part = self._next_part()
                if isinstance(part, SourceError) and not filled:
                    raise part
                if isinstance(part, SourceError):
                    self._error = part  # first what was decoded before it
                    break
                if part is None:
                    break
                self._text = memoryview(part)
            octets = min(len(self._text), len(view) - filled)
            view[filled : filled + octets] = self._text[:octets]
            self._text = self._text[octets:]
            filled += octets
        return filled

    def close(self) -> None:
        """Close the second file; the reader of the compressed octets stays open."""
        self._parts.close()
        self._buffer.release()

    def _next_part(self) -> bytes | SourceError | None:
        """The next text or error; None at the end."""
        if self._error is not None:
            error, self._error = self._error, None
            return error
        try:
            return next(self._parts, None)
        except LimitError as error:
            return error

    def _read(self) -> Generator[bytes | SourceError, None, None]:
        """Steps of text, and errors in their place."""
        buffer = self._buffer
        while True:
            buffer.forget()
            if buffer.find(self._coding.header, _WINDOW) if self._searching else self._is_at_member():
                yield from self._member()
                if self._failures > _MOST_FAILURES:
                    reason = f"is damaged in more than {_MOST_FAILURES:,} places: read no further"
                    yield SourceError(self._layer.name, reason)
                    return
            elif buffer.buffered:
                self._passed, self._searching = buffer.position, True
            else:
                yield from self._report_passed(buffer.position)
                if buffer.error is None:
                    return
                yield buffer.error
                if not isinstance(buffer.error, DamageError):
                    return
                buffer.resume()
                self._searching = True

    def _member(self) -> Iterator[bytes | SourceError]:
        """Text of the member at the position. A member that was searched for is first held back: it may prove to be none."""
        buffer = self._buffer
        start = buffer.position
        held: list[bytes] = []
        is_proven = not self._searching
        failure: Exception | None = None
        try:
            for text in self._decode(buffer):
                self._layer.budget.gave(len(text))
                held.append(text)
                is_proven = is_proven or sum(map(len, held)) >= _PROOF
                if is_proven:
                    yield from self._report_passed(start)
                    yield from held
                    held.clear()
        except (CutError, BrokenError, ChecksumError) as error:
            failure = error
            self._failures += not isinstance(error, ChecksumError)  # which needs no second look
        if failure is not None and not is_proven:
            buffer.back(start + 1)
            return
        yield from self._report_passed(start)
        yield from held
        self._searching = False
        if isinstance(failure, ChecksumError):
            self._failed_checksum(start)
        elif failure is not None:
            yield from self._fail(start, failure)

    def _failed_checksum(self, start: int) -> None:
        """Tell of the member that began at `start`; the next is here, or is searched for."""
        reason = f"the checksum of {self._named(start)} is wrong: what was read of it may be damaged"
        self._layer.budget.failed_checksum(SourceError(self._layer.name, reason))
        if self._buffer.peek() and not self._is_at_member():
            self._search_from(start)

    def _fail(self, start: int, failure: Exception) -> Iterator[SourceError]:
        """Say what is wrong with the member that began at `start`, and go to where the next is to be searched for."""
        buffer = self._buffer
        if isinstance(failure, CutError) and buffer.error is not None:
            self._searching = True
            return  # the error below says it
        if isinstance(failure, CutError):
            reason = f"ends in the middle of {self._named(start)}: the file is cut off"
        else:
            why = str(failure) or f"is damaged at about octet {buffer.position}: what follows in it is lost"
            reason = f"{self._named(start)} {why}"
        yield DamageError(self._layer.name, reason)
        self._search_from(start)

    def _named(self, start: int) -> str:
        return f"the {self._coding.name} {self._coding.unit} at octet {start}"

    def _search_from(self, start: int) -> None:
        """Search for the next member behind the one that began at `start` and could not be read to its end."""
        self._searching = True
        self._buffer.back(max(start + 1, self._buffer.position - self._coding.overrun))

    def _is_at_member(self) -> bool:
        """Whether a member begins here, behind octets of padding if it is not the first."""
        buffer = self._buffer
        while buffer.position and (block := buffer.peek()) and block[0] == 0:
            buffer.advance(len(block) - len(bytes(block).lstrip(b"\0")))
        head = bytes(buffer.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC])
        return head != b"" and any(magic.startswith(head[: len(magic)]) for magic in self._coding.magics)

    def _report_passed(self, end: int) -> Iterator[SourceError]:
        """Say once how many octets before `end` are no member."""
        if self._passed is not None:
            first, self._passed = self._passed, None
            reason = f"{end - first:,} octets at octet {first} are no {self._coding.name}: passed over"
            yield DamageError(self._layer.name, reason)
