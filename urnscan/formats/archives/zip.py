"""Zip archives, read front to back in one pass: by the headers before the members, not by the directory at the end.

So an archive can be read from a pipe, inside another form, and up to the place where it is truncated or damaged. The
terms are those of APPNOTE.TXT 6.3.10. Members without data, such as folders, are counted and skipped.
"""

import re
import struct
from collections.abc import Iterator

from urnscan.errors import DamageError, SourceError
from urnscan.formats.archives.zip_entries import FIXED, MEMBER, Header, Whole, descriptor
from urnscan.formats.buffer import Buffer, CutError
from urnscan.formats.checksum import fastest_crc32
from urnscan.formats.compression.replay import BrokenError, ChecksumError
from urnscan.formats.contents import Label, Member, Texts
from urnscan.formats.context import Layer
from urnscan.formats.protocol import Archive, begins_with, exactly, looks_binary
from urnscan.stores.reader import PieceReader, Reader, rest_skipped

_ENTRY, _END = b"PK\x01\x02", b"PK\x05\x06"
_SPLIT = (b"PK\x07\x08", b"PK00")  # first bytes of an archive in several parts, or written for several parts
_MAGICS = (MEMBER, _END, *(mark + MEMBER for mark in _SPLIT))
_RECORD = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x05\x06|\x06\x06)")
# Other records: bytes of the fixed part, and in it the offset and format of the size of the rest.
_OTHERS = {
    _ENTRY: (46, 28, "<HHH"),
    _END: (22, 20, "<H"),
    b"PK\x06\x06": (12, 4, "<Q"),  # zip64: the end
    b"PK\x06\x07": (20, 20, ""),  # zip64: the locator of the end
    b"PK\x05\x05": (6, 4, "<H"),  # a signature
    b"PK\x06\x08": (8, 4, "<I"),  # extra data, of encrypted archives
}
_SEARCHED = 1 << 16  # bytes per step of the search for a record
_PATIENCE = 1 << 28  # maximum bytes, in all, to go back for searches
# Bytes of one read; the complete members in them are yielded together.
_BLOCK = 1 << 18
# Maximum bytes of text that are yielded together; a larger member is yielded alone.
_TOGETHER = 1 << 20
_LARGEST_SIGNATURE = 1 << 18
_APK_MAGIC = b"APK Sig Block 42"  # end of the block between the members and the directory of an Android package


def open_zip(reader: Reader, layer: Layer) -> Iterator[Member | Texts | SourceError]:
    """Yield the files of a zip archive, or of several joined ones, as members; and errors about damaged parts, and
    about members that cannot be read (encrypted, unknown compression).

    Small files come together as `Texts`. A member or `Texts` may be used until the next item is requested. Members
    without data, such as folders, are not yielded. `layer`: names and limits of the archive. Raises LimitError, and
    SourceError if the rest of the archive cannot be read.
    """
    return _ZipMembers(reader, layer).members()


class _Member(PieceReader):
    """Reader of the unpacked bytes of a member. A wrong checksum or size is collected by `layer.budget`, not raised."""

    def __init__(self, header: Header, buffer: Buffer, layer: Layer) -> None:
        super().__init__(self._texts())
        self.header = header
        self.start = buffer.tell()
        self.is_begun = False  # reading has begun
        self.is_open = True  # more text may follow
        self.is_decoded = False  # read to the end; the buffer is at the byte after the member
        self.is_whole = False  # the header or descriptor agrees with this end
        self.is_cut_off = False  # the end of the bytes, or an error, came inside the member
        self._buffer = buffer
        self._layer = layer

    @property
    def name(self) -> str:
        return self._layer.name_of(self.header.name)

    def _texts(self) -> Iterator[bytes | memoryview]:
        """Yield the unpacked bytes. Raises SourceError if the rest is lost."""
        self.is_begun = True
        budget, crc32 = self._layer.budget, fastest_crc32()
        size = crc = 0
        try:
            for text in self.header.texts(self._buffer):
                if self.header.method:
                    budget.count_unfolded(len(text))
                size += len(text)
                crc = crc32(text, crc)
                yield text
            self.is_decoded = True
            if not self._is_as_announced(size, crc):
                budget.failed_checksum(self.name, "its checksum or size")
        except ChecksumError:
            budget.failed_checksum(self.name, "its checksum")
        except (CutError, BrokenError) as failure:
            self.is_cut_off = isinstance(failure, CutError)
            raise self._failed(failure) from failure
        finally:
            self.is_open = False

    def _is_as_announced(self, size: int, crc: int) -> bool:
        """Whether size and CRC of the unpacked bytes agree with the header or with the descriptor, which is then
        skipped. Sets `is_whole`.
        """
        header, compressed = self.header, self._buffer.tell() - self.start
        if not header.has_descriptor:
            self.is_whole = header.compressed == compressed
            return (header.crc, header.size) == (crc, size)
        length, good = descriptor(self._buffer, crc, compressed, size)
        self._buffer.skip(length)
        self.is_whole = length > 0
        return good

    def _failed(self, failure: Exception) -> SourceError:
        if isinstance(failure, BrokenError):
            reason = str(failure) or f"is damaged at about byte {self._buffer.tell()}; the rest of it is lost"
            return SourceError(self.name, reason)
        if self._buffer.error is not None:
            return self._buffer.error
        of = "" if self.header.compressed is None else f" of {self.header.compressed:,}"
        there = self._buffer.tell() - self.start
        return SourceError(self.name, f"truncated: only {there:,}{of} compressed bytes are present")


class _ZipMembers:
    """Reads the members of a zip archive; after damage searches for the next record."""

    def __init__(self, reader: Reader, layer: Layer) -> None:
        self._buffer = Buffer.of(reader)
        self._buffer.start_keeping(_BLOCK)
        self._layer = layer
        self._is_reported = False  # whether an error about the last record was reported
        self._raised: SourceError | None = None  # the error of the reader that a member has already raised
        self._patience = _PATIENCE
        self._after_magic = 0  # position at which to search if the previous record is damaged
        self._searching = False
        self._is_whole = False  # whether the end of the archive was read
        self._ended = False

    def members(self) -> Iterator[Member | Texts | SourceError]:
        try:
            while not self._ended:
                try:
                    if self._searching:
                        self._search()
                    else:
                        while texts := self._run():
                            yield texts
                        self._pass_over_entries()
                        yield from self._next()
                except CutError:
                    if error := self._cut_off():
                        yield error
        finally:
            self._buffer.stop_keeping()

    def _run(self) -> Texts | None:
        """Take the next whole, undamaged members of at most 1 MiB from the buffer; None if `_next` must read on."""
        self._buffer.drop_kept()
        if self._layer.is_deepest or self._buffer.peek(4)[:4] != MEMBER:
            return None
        data = self._buffer.peek(_BLOCK)
        members: list[Whole] = []
        end = size = unfolded = 0
        while size < _TOGETHER and (member := Whole.at(data, end, _TOGETHER)):
            more = len(member.text) if member.is_compressed else 0
            if not self._layer.budget.allows(unfolded + more):
                break
            members.append(member)
            end, size, unfolded = member.end, size + len(member.text), unfolded + more
        if not members:
            return None
        self._layer.budget.count_unfolded(unfolded)
        self._buffer.skip(end)
        self._is_whole = False
        return Texts.joined([(Label(member.name), member.text) for member in members])

    def _pass_over_entries(self) -> None:
        """Skip the entries of the directory (the list of members at the end of the archive) that are next and whole in
        the buffer.
        """
        data, end = self._buffer.peek(), 0
        fixed, where, layout = _OTHERS[_ENTRY]
        while data[end : end + 4] == _ENTRY and end + fixed <= len(data):
            after = end + fixed + sum(struct.unpack_from(layout, data, end + where))
            if after > len(data):
                break
            end = after
        self._buffer.skip(end)

    def _next(self) -> Iterator[Member | SourceError]:
        """Read the next record, and yield its member or error, if any. Sets `_ended` at the end, and `_searching` if no
        record begins here. Raises CutError if the bytes end too early.
        """
        buffer = self._buffer
        self._is_reported = False
        buffer.drop_kept()
        at = buffer.tell()
        self._after_magic = at + 4
        magic = bytes(buffer.peek(4)[:4])
        if not magic and buffer.error is None and self._is_whole:
            self._ended = True
        elif len(magic) < 4 and (buffer.error is not None or not self._is_whole):
            raise CutError
        elif magic == MEMBER:
            self._is_whole = False
            yield from self._entry()
        elif magic in _OTHERS:
            fixed, where, layout = _OTHERS[magic]
            data = bytes(buffer.read(fixed))
            buffer.skip(sum(struct.unpack_from(layout, data, where)) if layout else 0)
            self._is_whole |= magic == _END
        elif at == 0 and magic in _SPLIT:
            # The mark at the beginning of an archive in several parts.
            buffer.skip(4)
        elif not self._pass_over_signature():
            self._searching = self._is_reported = True
            reason = f"no zip record at byte {at}; skipped to the next one"
            yield SourceError(self._layer.name, reason)

    def _entry(self) -> Iterator[Member | SourceError]:
        """Read the header of a member, yield the member (an error if it cannot be read; nothing without data), and go
        to the next record.
        """
        buffer = self._buffer
        fixed = bytes(buffer.read(FIXED))
        lengths = int.from_bytes(fixed[26:28], "little") + int.from_bytes(fixed[28:30], "little")
        header = Header.parse(fixed, bytes(buffer.read(lengths)))
        member = _Member(header, buffer, self._layer)
        if reason := header.refusal():
            self._layer.budget.count_member()
            self._is_reported = True
            # The sizes of an encrypted member may be masked.
            self._searching = header.compressed is None or header.has_descriptor or header.is_encrypted
            yield SourceError(member.name, reason)
            buffer.skip(header.compressed or 0)
        elif header.compressed or header.size or header.crc or header.has_descriptor:
            yield Member(header.name, member)
            if member.is_open and (member.is_begun or header.compressed is None):
                # Perhaps only the data show where the member ends, and only the end shows whether the text is damaged.
                yield from rest_skipped(member)
            self._leave(member)
        else:
            # If the header is wrong and there is data, no record begins at the next byte, which is reported.
            self._layer.budget.count_member()

    def _leave(self, member: _Member) -> None:
        """Go to the record after a member, which may be partly read; if no record is there, set `_searching`, so that
        `_search` comes next. Raises CutError if the member was cut off.
        """
        buffer, compressed = self._buffer, member.header.compressed
        if not member.header.method:
            # Records inside a stored member are of an archive in this archive.
            self._after_magic = buffer.tell()
        self._is_reported = not member.is_open
        if member.is_cut_off:
            self._raised = buffer.error
            raise CutError
        if member.is_whole or (member.is_decoded and self._is_at_record()):
            return
        if compressed is None:
            self._searching = True
            return
        end = member.start + compressed
        if buffer.tell() <= end:
            buffer.skip(end - buffer.tell())
        else:
            buffer.seek(end)
        if not self._is_at_record():
            self._searching = True
            self._back(self._after_magic if member.header.method else end)

    def _back(self, position: int) -> bool:
        """Go back to `position`, to search there. False, and nothing moves, if its bytes are gone, or if all ways back
        together would exceed 256 MiB.
        """
        distance = self._buffer.tell() - position
        if distance <= 0 or distance > self._patience or not self._buffer.can_seek(position):
            return False
        self._patience -= distance
        self._buffer.seek(position)
        return True

    def _is_at_record(self) -> bool:
        magic = bytes(self._buffer.peek(4)[:4])
        return magic == MEMBER or magic in _OTHERS

    def _search(self) -> None:
        """Go to the next record in the next 64 KiB, and end the search; without one, skip bytes. Raises CutError at the
        end.
        """
        buffer = self._buffer
        buffer.drop_kept()
        head = bytes(buffer.peek(_SEARCHED)[:_SEARCHED])
        is_last = len(head) < _SEARCHED
        for record in _RECORD.finditer(head):
            at = record.start()
            if at + FIXED > len(head):
                break
            if not head.startswith(MEMBER, at) or Header.is_plausible(head[at : at + FIXED]):
                buffer.skip(at)
                self._searching = False
                return
        buffer.skip(len(head) if is_last else len(head) - FIXED)
        if is_last:
            raise CutError

    def _pass_over_signature(self) -> bool:
        # Android packages have such a block.
        size = 8 + int.from_bytes(self._buffer.peek(8)[:8], "little")
        if size > _LARGEST_SIGNATURE or not bytes(self._buffer.peek(size)[:size]).endswith(_APK_MAGIC):
            return False
        self._buffer.skip(size)
        return True

    def _cut_off(self) -> SourceError | None:
        """After a CutError, set where to search, or `_ended`. Returns the error, or None if it is already reported;
        raises it if the buffer can read no further.
        """
        buffer, error = self._buffer, self._buffer.error
        if error is not None:
            is_reported = error is self._raised
            if isinstance(error, DamageError):
                buffer.resume()
                self._searching = True
            else:
                self._ended = True
                if not is_reported:
                    raise error
            return None if is_reported else error
        at, is_reported = buffer.tell(), self._is_reported or self._searching
        # If the size of the last member is wrong, more records may follow the header.
        self._ended = self._searching or not self._back(self._after_magic)
        self._searching = self._is_reported = True
        reason = f"truncated zip file (at byte {at}, before the end of its directory)"
        return None if is_reported else SourceError(self._layer.name, reason)


FORM = Archive(
    name="a zip archive",
    open=open_zip,
    # Not an archive after a program (self-extracting).
    recognise=begins_with(*_MAGICS),
    signs=exactly(*_MAGICS),
    suffixes=(
        *(".zip", ".jar", ".war", ".ear", ".apk", ".xpi", ".whl", ".epub", ".kmz", ".cbz", ".wacz"),
        *(".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".pptm", ".odt", ".ods", ".odp", ".odg"),
    ),
    recognise_named=looks_binary,
)
