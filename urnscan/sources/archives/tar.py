"""Tar archives, read front to back in one pass: V7, ustar, GNU and pax.

The standard library takes each header apart. What ties headers together (long names, pax records) is read here: there
it is as large as a header says it is, and is lost with the rest at the first damaged header. Links, devices,
folders and empty files are counted and passed over; the end marker may be missing, as many writers leave it out.
"""

import re
import tarfile
from collections.abc import Iterable, Iterator

from urnscan.errors import DamageError, SourceError
from urnscan.sources.buffer import Buffer
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, read_up_to, skip

__all__ = ["is_tar", "open_tar"]

_BLOCK = 512
_SEARCHED = 1 << 16  # octets in which a header is searched at a time
_LONGEST_EXTENSION = 1 << 20  # octets of a long name, of pax records
_LARGEST = 1 << 63

# A name, and nothing but NULs behind it: what UTF-16 is not.
_NAME = re.compile(rb"[^\0]+\0+")
_CHECKSUM = re.compile(rb"[ \0]*[0-7]+[ \0]*")
_MAGIC = re.compile(b"ustar")
_MAGIC_AT = 257
_GNU_MAGIC = b"ustar  \0"

_LONG_NAME, _LONG_LINK, _PAX_GLOBAL = b"L", b"K", b"g"
_EXTENSIONS = (_LONG_NAME, _LONG_LINK, _PAX_GLOBAL, b"x", b"X")
_WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
_FOLDER_LIST = b"D"  # GNU, incremental: which names a folder held

_SPARSE = (b"GNU.sparse.size", b"GNU.sparse.major")  # one of them stands in each sparse file of pax
_KEYWORDS = (b"path", b"size", b"GNU.sparse.name", *_SPARSE)


def is_tar(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (a tar archive is known by its octets)
    """Whether these are the first octets of a tar archive: a header whose checksum is right; NULs fill its fields."""
    if len(head) >= _BLOCK:
        return b"\0" in head[:_BLOCK] and _parse(head[:_BLOCK]) is not None
    name = head[:100]
    return None if b"\0" in head and (b"\0" not in name or _NAME.fullmatch(name)) else False


def open_tar(reader: Reader, layer: Layer) -> Iterator[tuple[str, Reader] | SourceError]:
    """The files in a tar archive, and in those that follow it; each is to be read before the next is asked for."""
    return _Archive(_Input(reader), layer).members()


class _Input(Reader):
    """The octets of the archive: knows where they stand, and whether their order can be relied on."""

    def __init__(self, reader: Reader) -> None:
        self._buffer = Buffer.of(reader)
        self.damage = False
        """Whether something was lost, so that what follows may stand anywhere."""
        self.failed = False
        """Whether reading ended with an error."""

    @property
    def at(self) -> int:
        """How many octets were read."""
        return self._buffer.position

    def peek(self, count: int) -> bytes:
        return self._buffer.head(count)

    def read_into(self, view: memoryview) -> int:
        if self.failed:
            return 0
        try:
            return self._buffer.read_into(view)
        except DamageError:
            self.damage = True
            raise
        except SourceError:
            self.failed = True
            raise

    def close(self) -> None:
        """The reader below stays open."""


class _Stored(Reader):
    """The data of a member, as far as the archive has it."""

    def __init__(self, source: _Input, layer: Layer, name: str, size: int) -> None:
        self._source = source
        self._layer = layer
        self._name = name
        self._size = size
        self.left = size
        """Octets still to be read."""
        self.is_cut = False
        """Whether its end is missing, which was said."""

    def read_into(self, view: memoryview) -> int:
        if not self.left:
            return 0
        try:
            got = self._source.read_into(view[: self.left])
        except SourceError:
            self.left = 0
            raise
        if not got:
            raise self.cut_off()
        self.left -= got
        return got

    def close(self) -> None:
        """Octets that were not read are passed over when the next member is asked for."""

    def cut_off(self) -> SourceError:
        """The error for a member whose end is missing; nothing more is read of it."""
        there, self.left, self.is_cut = self._size - self.left, 0, True
        reason = f"cut off: {there:,} of {self._size:,} octets are there"
        return SourceError(self._layer.name_of(self._name), reason)


class _Archive:
    """Goes from header to header."""

    def __init__(self, source: _Input, layer: Layer) -> None:
        self._source = source
        self._layer = layer
        self._member: _Stored | None = None  # the last one
        self._padding = 0  # octets behind its data
        self._global: dict[bytes, bytes] = {}  # what pax headers say of all members that follow
        self._extended: dict[bytes, bytes] = {}  # what pax headers and GNU ones say of the next member
        self._searching = False
        self._ended = False

    def members(self) -> Iterator[tuple[str, Reader] | SourceError]:
        while not self._ended and not self._source.failed:
            try:
                found = self._next()
            except DamageError as error:
                found = error
            if found is not None:
                yield found

    def _next(self) -> tuple[str, Reader] | SourceError | None:
        """The next member or error; None where there is none yet. Raises what the reader raises."""
        cut_off = self._pass_over_member()
        if cut_off is not None:
            return cut_off
        if self._searching or self._source.damage:
            self._search()
            return None
        at = self._source.at
        self._source.peek(_BLOCK)  # takes some more in at once, and so does for small members
        block = read_up_to(self._source, _BLOCK)
        if len(block) < _BLOCK:
            self._ended = True
            if not block.strip(b"\0"):
                return None
            return SourceError(self._layer.name, f"cut off in a header, at octet {at}")
        if block == bytes(_BLOCK):
            return None
        header = _parse(block)
        if header is None:
            self._searching = True
            reason = f"no valid tar header at octet {at}: passed over what stands there, up to the next one"
            return SourceError(self._layer.name, reason)
        if header.type in _EXTENSIONS:
            return self._extension(header, at)
        found = self._file(header, block, at)
        if found is None:  # a link, a folder, an empty file: it counts
            self._layer.budget.member()
        return found

    def _pass_over_member(self) -> SourceError | None:
        """Pass over what was not read of the last member, and over its padding; the error where its data is cut off."""
        member, padding = self._member, self._padding
        self._member, self._padding = None, 0
        if member is None or self._source.damage:
            return None
        if member.left:
            member.left -= skip(self._source, member.left)
            if member.left:
                self._ended = True
                return member.cut_off()
        return None if member.is_cut else self._skip_padding(padding)

    def _skip_padding(self, octets: int) -> SourceError | None:
        """Pass over what fills a block; the error where the archive is cut off in it."""
        if skip(self._source, octets) == octets:
            return None
        self._ended = True
        return SourceError(self._layer.name, f"cut off at octet {self._source.at}, before the end of the archive")

    def _search(self) -> None:
        """Go to the next header in what is at hand; where there is none, behind it.

        Where it is not known where headers stand, only those with a magic string are found.
        """
        head = self._source.peek(_SEARCHED)
        at = _find_header(head, anywhere=self._source.damage)
        if at is not None:
            skip(self._source, at)
            self._searching = self._source.damage = False
            self._extended = {}
        elif len(head) < _SEARCHED:
            # Then the end or a damage is behind it, which shows when it is read.
            self._searching = True
            skip(self._source, len(head))
            self._ended = not self._source.read_into(memoryview(bytearray(1)))
        else:
            skip(self._source, len(head) - _BLOCK + 1 if self._source.damage else len(head) // _BLOCK * _BLOCK)

    def _extension(self, header: tarfile.TarInfo, at: int) -> SourceError | None:
        """Read what a header says of those that follow."""
        name = self._layer.name
        self._padding = -header.size % _BLOCK
        if header.size > _LONGEST_EXTENSION:
            self._member = _Stored(self._source, self._layer, header.name, header.size)
            reason = f"an extension header of {header.size:,} octets at octet {at}: not read, 1 MiB is the most"
            return SourceError(name, reason)
        data = read_up_to(self._source, header.size)
        if len(data) < header.size:
            self._ended = True
            return SourceError(name, f"cut off in an extension header, at octet {at}")
        padding, self._padding = self._padding, 0
        if (error := self._skip_padding(padding)) is not None:
            return error
        if header.type == _LONG_NAME:
            self._extended[b"path"] = data.split(b"\0", 1)[0]
        elif header.type != _LONG_LINK:
            try:
                records = _pax_records(data)
            except ValueError:
                return SourceError(name, f"a damaged extension header at octet {at}: passed over")
            (self._global if header.type == _PAX_GLOBAL else self._extended).update(records)
        return None

    def _file(self, header: tarfile.TarInfo, block: bytes, at: int) -> tuple[str, Reader] | SourceError | None:
        """The member of a header that is no extension; None if it has no data."""
        records, self._extended = self._global | self._extended, {}
        if header.type in _WITHOUT_DATA:
            return None
        is_sparse = header.type == tarfile.GNUTYPE_SPARSE or any(keyword in records for keyword in _SPARSE)
        try:
            stored = _decimal(records[b"size"]) if b"size" in records else header.size
        except ValueError as error:
            self._searching = True  # where it ends is not known
            return SourceError(self._layer.name, f"a damaged header at octet {at}: {error}; the member is passed over")
        path = records.get(b"GNU.sparse.name", records.get(b"path"))
        name = header.name if path is None else path.decode(errors="backslashreplace")
        if header.type == tarfile.GNUTYPE_SPARSE:
            self._skip_map(block)
        self._member = member = _Stored(self._source, self._layer, name, stored)
        self._padding = -stored % _BLOCK
        if is_sparse:
            self._layer.budget.member()
            reason = "a sparse file, which is not read: unpack it, and pack it without --sparse"
            return SourceError(self._layer.name_of(name), reason)
        return (name, member) if stored and header.type != _FOLDER_LIST else None

    def _skip_map(self, block: bytes) -> None:
        """Pass over the blocks behind a header of GNU that hold the rest of a sparse map."""
        more = block[482]
        while more:
            block = read_up_to(self._source, _BLOCK)
            more = len(block) == _BLOCK and block[504]


def _parse(block: bytes) -> tarfile.TarInfo | None:
    """The header that a block of 512 octets is, None where it is none."""
    if not _CHECKSUM.fullmatch(block, 148, 156):
        return None
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
    except (tarfile.HeaderError, ValueError):
        return None
    if block[_MAGIC_AT : _MAGIC_AT + len(_GNU_MAGIC)] == _GNU_MAGIC:
        # GNU tar has other things where ustar has the front of the name.
        header.name = block[:100].split(b"\0", 1)[0].decode(errors="backslashreplace")
    return header if 0 <= header.size < _LARGEST else None


def _find_header(head: bytes, *, anywhere: bool) -> int | None:
    """Index of the first header: with `anywhere` of one with a magic string, else in steps of 512 octets."""
    last = len(head) - _BLOCK
    starts: Iterable[int] = range(0, last + 1, _BLOCK)
    if anywhere:
        starts = (magic.start() - _MAGIC_AT for magic in _MAGIC.finditer(head, _MAGIC_AT, last + _MAGIC_AT + 5))
    return next((at for at in starts if _parse(head[at : at + _BLOCK])), None)


def _decimal(digits: bytes) -> int:
    """A number in pax records. Raises ValueError."""
    if not re.fullmatch(rb"[0-9]{1,18}", digits):
        raise ValueError("it has no number where one must be")
    return int(digits)


def _pax_records(data: bytes) -> dict[bytes, bytes]:
    """The records of a pax header that say where a member ends and how it is called. Raises ValueError."""
    records = {}
    at = 0
    while at < len(data):
        digits, space, _ = data[at : at + 20].partition(b" ")
        length = _decimal(digits)
        record = data[at + len(digits) + 1 : at + length]
        keyword, equals, value = record[:-1].partition(b"=")
        if not (space and equals and record.endswith(b"\n") and at + length <= len(data)):
            raise ValueError("not a record")
        if keyword in _KEYWORDS:
            records[keyword] = value
        at += length
    return records
