"""Zip archives, read front to back in one pass: by the headers before the members, not by the directory at the end.

So they can be read from a pipe and inside other forms, and as far as they go when they are cut off or damaged.
The names are those of APPNOTE.TXT 6.3.10. Members without data, such as folders, are passed over, though counted.
"""

import re
import struct
from collections.abc import Callable, Generator, Iterator

from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.sources.archives.zip_entries import FIXED, Header, descriptor, refusal, texts
from urnscan.sources.buffer import Buffer, CutError
from urnscan.sources.compression.decoding import BrokenError, ChecksumError
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins

__all__ = ["is_zip", "open_zip"]

_MEMBER, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_SPLIT = (b"PK\x07\x08", b"PK00")  # in front of an archive of several parts, or of one that could have become such
_MAGICS = (_MEMBER, _END, *(mark + _MEMBER for mark in _SPLIT))
_RECORD = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x05\x06|\x06\x06)")
# Other records: how many octets their fixed part has, and where in it the size of the rest stands, in which format.
_OTHERS = {
    _ENTRY: (46, 28, "<HHH"),
    _END: (22, 20, "<H"),
    b"PK\x06\x06": (12, 4, "<Q"),  # zip64: the end
    b"PK\x06\x07": (20, 20, ""),  # zip64: where that is
    b"PK\x05\x05": (6, 4, "<H"),  # a signature
    b"PK\x06\x08": (8, 4, "<I"),  # extra data, of encrypted archives
}
_SEARCHED = 1 << 16  # octets in which a record is searched at a time
_PATIENCE = 1 << 28  # octets to go back in all to search them
_BLOCK = 1 << 18  # octets read at a time
_LARGEST_SIGNATURE = 1 << 18
_APK_MAGIC = b"APK Sig Block 42"  # what Android has between the members and the directory


def is_zip(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (a zip archive is known by its octets)
    """Whether these are the first octets of a zip archive; one with a program in front of it is none."""
    return begins(head, *_MAGICS) if head else False


def open_zip(reader: Reader, layer: Layer) -> Iterator[tuple[str, Reader] | SourceError]:
    """The files in a zip archive, and in those that follow it; each is to be read before the next is asked for."""
    return _Archive(reader, layer).members()


class _Member(Reader):
    """Reader of a member; its checksum and its size are compared at its end."""

    def __init__(self, header: Header, buffer: Buffer, layer: Layer, crc32: Callable[..., int]) -> None:
        self.header = header
        self.start = buffer.position
        self.is_open = True
        """Whether it may have more to give."""
        self.is_decoded = False
        """Whether it was read to its end, and the next octet is that behind it."""
        self.is_whole = False
        """Whether it also ends there by its header or descriptor."""
        self.is_cut_off = False
        """Whether the octets end, or are interrupted, before it does."""
        self._buffer = buffer
        self._layer = layer
        self._crc32 = crc32
        self._texts: Generator[bytes | memoryview] = texts(header, buffer)
        self._text = memoryview(b"")  # still to be given
        self.is_begun = False
        """Whether some of it was read."""
        self._size = self._crc = 0

    def read_into(self, view: memoryview) -> int:
        self.is_begun = True
        while not self._text:
            if not self.is_open:
                return 0
            self._decode()
        got = min(len(self._text), len(view))
        view[:got] = self._text[:got]
        self._text = self._text[got:]
        return got

    def close(self) -> None:
        """Octets that were not read are read, or passed over, when the next member is asked for."""

    def error(self, reason: str) -> SourceError:
        return SourceError(self._layer.name_of(self.header.name), reason)

    def _decode(self) -> None:
        """The next piece of it. Raises SourceError where there should be one."""
        try:
            text = next(self._texts, None)
            if text is None:
                self._finish()
                return
        except ChecksumError:
            self.is_open = False
            self._failed_checksum("checksum")
            return
        except (CutError, BrokenError) as failure:
            self.is_open = False
            self.is_cut_off = isinstance(failure, CutError)
            raise self._failed(failure) from failure
        if self.header.method:
            self._layer.budget.gave(len(text))
        self._size += len(text)
        self._crc = self._crc32(text, self._crc)
        self._text = memoryview(text)

    def _failed(self, failure: Exception) -> SourceError:
        there = self._buffer.position - self.start
        if isinstance(failure, CutError):
            if self._buffer.error is not None:
                return self._buffer.error
            of = "" if self.header.compressed is None else f" of {self.header.compressed:,}"
            return self.error(f"cut off: {there:,}{of} octets of it are there")
        return self.error(str(failure) or f"is damaged at about octet {self._buffer.position}: the rest of it is lost")

    def _finish(self) -> None:
        """Compare what was read with what the archive says of it. Raises CutError."""
        self.is_open = False
        compressed = self._buffer.position - self.start
        self.is_decoded = True
        if self.header.has_descriptor:
            length, good = descriptor(self._buffer, self._crc, compressed, self._size)
            self._buffer.advance(length)
            self.is_whole = length > 0
        else:
            good = (self.header.crc, self.header.size) == (self._crc, self._size)
            self.is_whole = self.header.compressed == compressed
        if not good:
            self._failed_checksum("checksum or size")

    def _failed_checksum(self, what: str) -> None:
        self._layer.budget.failed_checksum(self.error(f"its {what} is wrong: what was read of it may be damaged"))


class _Archive:
    """Goes from record to record."""

    def __init__(self, reader: Reader, layer: Layer) -> None:
        self._buffer = Buffer.of(reader)
        self._buffer.hold(_BLOCK)
        self._layer = layer
        self._crc32 = _fastest_crc32()
        self._member: _Member | None = None  # the last one
        self._said = False  # whether it was said that something is wrong with the last record
        self._raised: SourceError | None = None  # what a member raised of what the reader below did
        self._patience = _PATIENCE
        self._rest = 0  # octets to be passed over
        self._behind_magic = 0  # where to search if it shows that the record before is damaged
        self._searching = False
        self._is_whole = False  # whether it was read to its end
        self._ended = False

    def members(self) -> Iterator[tuple[str, Reader] | SourceError]:
        try:
            while not self._ended:
                try:
                    found = self._next()
                except CutError:
                    found = self._cut_off()
                if found is not None:
                    yield found
        finally:
            self._buffer.release()

    def _next(self) -> tuple[str, Reader] | SourceError | None:
        """The next member or error; None where there is none yet. Raises CutError."""
        buffer = self._buffer
        if self._member is not None:
            return self._leave(self._member)
        if self._rest:
            rest, self._rest = self._rest, 0
            buffer.skip(rest)
        if self._searching:
            self._search()
            return None
        self._said = False
        buffer.forget()
        at = buffer.position
        self._behind_magic = at + 4
        magic = bytes(buffer.peek(4)[:4])
        if not magic and buffer.error is None and self._is_whole:
            self._ended = True
        elif len(magic) < 4 and (buffer.error is not None or not self._is_whole):
            raise CutError
        elif magic == _MEMBER:
            self._is_whole = False
            return self._begin()
        elif magic in _OTHERS:
            self._pass_over(*_OTHERS[magic])
            self._is_whole |= magic == _END
        elif at == 0 and magic in _SPLIT:
            buffer.skip(4)  # a mark in front
        elif not self._pass_over_signature():
            self._searching = self._said = True
            reason = f"no zip record at octet {at}: passed over what stands there, up to the next one"
            return SourceError(self._layer.name, reason)
        return None

    def _begin(self) -> tuple[str, Reader] | SourceError | None:
        """Read the header of a member."""
        buffer = self._buffer
        fixed = bytes(buffer.take(FIXED))
        lengths = int.from_bytes(fixed[26:28], "little") + int.from_bytes(fixed[28:30], "little")
        header = Header.parse(fixed, bytes(buffer.take(lengths)))
        member = _Member(header, buffer, self._layer, self._crc32)
        reason = refusal(header)
        if reason:
            self._layer.budget.member()
            self._rest = header.compressed or 0
            # Of an encrypted member the sizes, too, may be masked.
            self._searching = header.compressed is None or header.has_descriptor or header.is_encrypted
            self._said = True
            return member.error(reason)
        if not (header.compressed or header.size or header.crc or header.has_descriptor):
            # If that is a lie, no record begins at what comes next, which is told.
            self._layer.budget.member()
            return None
        self._member = member
        return header.name, member

    def _leave(self, member: _Member) -> SourceError | None:
        """Go to the record behind a member, however far it was read and whatever it said of its size."""
        buffer, compressed = self._buffer, member.header.compressed
        if member.is_open and (member.is_begun or compressed is None):
            return self._drain(member)
        self._member = None
        if not member.header.method:
            self._behind_magic = buffer.position  # records in it are those of an archive in this one
        self._said = not member.is_open
        if member.is_cut_off:
            self._raised = buffer.error
            raise CutError
        if member.is_whole or (member.is_decoded and self._is_at_record()):
            return None
        if compressed is None:
            self._searching = True
        else:
            end = member.start + compressed
            self._land(end, self._behind_magic if member.header.method else end)
        return None

    def _land(self, end: int, behind: int) -> None:
        """Go where a member ends by its header; if there is no record, look for the next one from `behind` on."""
        buffer = self._buffer
        if buffer.position <= end:
            buffer.skip(end - buffer.position)
        else:
            buffer.back(end)
        if not self._is_at_record():
            self._searching = True
            self._back(behind)

    def _back(self, position: int) -> bool:
        """Go back to where a search can begin, if that is possible, and not with every record of a hostile file."""
        distance = self._buffer.position - position
        if distance <= 0 or distance > self._patience or not self._buffer.holds(position):
            return False
        self._patience -= distance
        self._buffer.back(position)
        return True

    def _drain(self, member: _Member) -> SourceError | None:
        """Read a member to its end, which it alone may tell, and what was given of it needs its checksum."""
        view = memoryview(bytearray(_SEARCHED))
        try:
            while member.read_into(view):
                pass
        except LimitError:
            raise
        except SourceError as error:
            return error
        return None

    def _is_at_record(self) -> bool:
        magic = bytes(self._buffer.peek(4)[:4])
        return magic == _MEMBER or magic in _OTHERS

    def _search(self) -> None:
        """Go to the next record in what is at hand; where there is none, behind it. Raises CutError."""
        buffer = self._buffer
        buffer.forget()
        head = bytes(buffer.peek(_SEARCHED)[:_SEARCHED])
        is_last = len(head) < _SEARCHED
        for record in _RECORD.finditer(head):
            at = record.start()
            if at + FIXED > len(head):
                break
            if not head.startswith(_MEMBER, at) or Header.is_plausible(head[at : at + FIXED]):
                buffer.skip(at)
                self._searching = False
                return
        buffer.skip(len(head) if is_last else len(head) - FIXED)
        if is_last:
            raise CutError

    def _pass_over(self, fixed: int, at: int, layout: str) -> None:
        """Pass over a record that is no member's."""
        octets = bytes(self._buffer.take(fixed))
        self._buffer.skip(sum(struct.unpack_from(layout, octets, at)) if layout else 0)

    def _pass_over_signature(self) -> bool:
        """Pass over the signature of an Android package, if there is one."""
        size = 8 + int.from_bytes(self._buffer.peek(8)[:8], "little")
        if size > _LARGEST_SIGNATURE or not bytes(self._buffer.peek(size)[:size]).endswith(_APK_MAGIC):
            return False
        self._buffer.skip(size)
        return True

    def _cut_off(self) -> SourceError | None:
        """The message where the octets end, or are interrupted; None if that was said. Raises what ended them."""
        buffer = self._buffer
        error = buffer.error
        if error is not None:
            said = error is self._raised
            if isinstance(error, DamageError):
                buffer.resume()
                self._searching = True
                return None if said else error
            self._ended = True
            if said:
                return None
            raise error
        at, said = buffer.position, self._said or self._searching
        # What is there may lie about its size: then there may be more.
        self._ended = self._searching or not self._back(self._behind_magic)
        self._searching = self._said = True
        return (
            None if said else SourceError(self._layer.name, f"cut off at octet {at}, before the end of its directory")
        )


def _fastest_crc32() -> Callable[..., int]:
    try:
        from isal.isal_zlib import crc32  # noqa: PLC0415 (there is none for some machines)
    except ImportError:
        from zlib import crc32  # noqa: PLC0415
    return crc32
