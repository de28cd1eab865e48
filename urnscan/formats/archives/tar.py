"""Tar archives, read front to back in one pass: V7, ustar, GNU and pax.

The module `tarfile` parses each header. Long names and pax records are read here, because `tarfile` allocates as much
memory as a header announces, and stops at the first damaged header. Links, devices, folders and empty files are counted
and skipped; the end marker may be missing, as many writers omit it.
"""

import re
import tarfile
from collections.abc import Iterable, Iterator

from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats.archives.tar_fast import BLOCK, GNU_MAGIC, LONGEST_EXTENSION, MAGIC_AT, MemberRun, UsualFiles
from urnscan.formats.buffer import Buffer
from urnscan.formats.contents import Label, Member, Texts
from urnscan.formats.context import Layer
from urnscan.formats.encodings import WIDE_MARKS
from urnscan.formats.protocol import Archive
from urnscan.stores.reader import LengthReader, Reader, read_up_to, skip

_RUN = 1 << 20  # bytes whose complete members are yielded together
# Maximum of files with unusual headers that are yielded together; then usual headers are tried again.
_FEW = 64
_SEARCHED = 1 << 16  # bytes per step of the search for a header
_LARGEST = 1 << 63

# A name with only NULs after it, unlike text in UTF-16.
_NAME = re.compile(rb"[^\0]+\0+")
_CHECKSUM = re.compile(rb"[ \0]*[0-7]+[ \0]*")
_NUMBER = re.compile(rb"[0-9]{1,18}")
_PAX_RECORD = re.compile(rb"([0-9]{1,18}) ([^=]*)=")
_MAGIC = re.compile(b"ustar")

_LONG_NAME, _LONG_LINK, _PAX_GLOBAL = b"L", b"K", b"g"
_EXTENSIONS = (_LONG_NAME, _LONG_LINK, _PAX_GLOBAL, b"x", b"X")
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
_WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
_FOLDER_LIST = b"D"  # GNU, incremental: the names in a folder

_SPARSE = (b"GNU.sparse.size", b"GNU.sparse.major")  # each sparse file in pax has at least one of these records
_KEYWORDS = (b"path", b"size", b"GNU.sparse.name", *_SPARSE)


def is_tar(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (a tar archive is known by its bytes)
    """Whether a file that begins with `head` is a tar archive: its first 512 bytes contain a NUL, and are a header with
    a valid checksum.

    For a shorter `head`: None (more bytes are needed) if it contains a NUL and may begin a header, otherwise False.
    """
    if len(head) >= BLOCK:
        return b"\0" in head[:BLOCK] and _parse(head[:BLOCK]) is not None
    name = head[:100]
    # Without a NUL: text from a slow pipe must not wait.
    return None if b"\0" in head and (b"\0" not in name or _NAME.fullmatch(name)) else False


def _has_nuls(head: bytes, _: Layer) -> bool | None:
    if head.startswith(WIDE_MARKS):
        return False
    return b"\0" in head[:BLOCK] or (None if len(head) < BLOCK else False)


def open_tar(reader: Reader, layer: Layer) -> Iterator[Member | Texts | SourceError]:
    """Yield the files of a tar archive, or of several joined ones, as members; and errors about damaged parts and
    sparse files, which are not read.

    Small files come together as `Texts`. A member or `Texts` may be used until the next item is requested. Links,
    folders, devices and empty files are not yielded, only counted for the limit of members. `layer`: names and limits
    of the archive. Raises LimitError, and SourceError if the rest of the archive cannot be read.
    """
    return _TarMembers(_TarBytes(Buffer.of(reader)), layer).members()


class _TarBytes(Reader):
    """Reader of the bytes of `buffer`, which stays open."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.damage = False
        """Whether bytes were lost, so that the next header may begin at any byte."""
        self.failed = False
        """Whether reading ended with an error."""

    def read_into(self, view: memoryview) -> int:
        if self.failed:
            return 0
        try:
            return self.buffer.read_into(view)
        except SourceError as error:
            self.damage |= isinstance(error, DamageError)
            self.failed = not isinstance(error, DamageError)
            raise


class _TarMembers:
    """Reads the members of a tar archive; after damage, from the next header on."""

    def __init__(self, source: _TarBytes, layer: Layer) -> None:
        self._source = source
        self._layer = layer
        self._usual = UsualFiles()
        self._global: dict[bytes, bytes] = {}  # records of pax headers for all members that follow
        self._extended: dict[bytes, bytes] = {}  # records of pax and GNU headers for the next member
        self._searching = False
        self._ended = False

    def members(self) -> Iterator[Member | Texts | SourceError]:
        while not self._ended and not self._source.failed:
            try:
                while run := self._run():
                    yield run.texts
                    self._layer.budget.count_member(run.passed)
                yield from self._next()
            except SourceError as error:
                if self._source.failed or isinstance(error, LimitError):
                    raise
                yield error

    def _run(self) -> MemberRun | None:
        """Take the next members that are complete in the buffer. None if `_next` must read the next one."""
        if self._searching or self._source.damage or self._global or self._extended or self._layer.is_deepest:
            return None
        data = self._source.buffer.peek(_RUN)
        run = self._usual.find(data)
        if not run.end:
            run = _others(data)
        if not self._layer.budget.allows_members(len(run.texts) + run.passed):
            return None
        self._source.buffer.skip(run.end)
        return run if run.end else None

    def _next(self) -> Iterator[Member | SourceError]:
        """Read the next header, and yield its member or error, if any; after damage, search for a header instead. Sets
        `_ended` at the end.
        """
        source = self._source
        if self._searching or source.damage:
            self._search()
            return
        at = source.buffer.tell()
        # Reads ahead: the block of the buffer has many small members.
        source.buffer.peek(BLOCK)
        block = bytes(read_up_to(source, BLOCK))
        if len(block) < BLOCK:
            self._ended = True
            if block.strip(b"\0"):
                raise self._error(f"truncated tar file (in the header at byte {at})")
        elif block != bytes(BLOCK):
            header = _parse(block)
            if header is None:
                self._searching = True
                raise self._error(f"invalid tar header at byte {at}; skipped to the next one")
            if header.type in _EXTENSIONS:
                yield from self._extension(header, at)
            else:
                yield from self._file(header, block, at)

    def _error(self, reason: str) -> SourceError:
        return SourceError(self._layer.name, reason)

    def _pass_over(self, member: LengthReader, size: int) -> None:
        # If the archive ended or failed inside the member, nothing is left to skip.
        if not member.is_cut:
            if member.left:
                skip(member, member.left)
            self._skip_padding(size)

    def _skip_padding(self, size: int) -> None:
        padding = -size % BLOCK
        if skip(self._source, padding) < padding:
            self._ended = True
            raise self._error(f"truncated tar file (at byte {self._source.buffer.tell()}, before its end)")

    def _search(self) -> None:
        """Go to the next header in the next 64 KiB, and end the search; without one, skip bytes. Sets `_ended` at the
        end.
        """
        # If bytes were lost, only headers with a magic string are recognised.
        source = self._source
        head = source.buffer.head(_SEARCHED)
        at = _find_header(head, anywhere=source.damage)
        if at is not None:
            skip(source, at)
            self._searching = source.damage = False
            self._extended = {}
        elif len(head) < _SEARCHED:
            # The end or an error follows the buffered bytes; the next read shows which.
            self._searching = True
            skip(source, len(head))
            self._ended = not source.read_into(memoryview(bytearray(1)))
        else:
            skip(source, len(head) - BLOCK + 1 if source.damage else len(head) // BLOCK * BLOCK)

    def _extension(self, header: tarfile.TarInfo, at: int) -> Iterator[SourceError]:
        """Read the extension header (GNU long name, pax) at offset `at`, and store its records for the next member or,
        if it is global, for all later ones. Yields an error for a header over 1 MiB, which is skipped.
        """
        if header.size > LONGEST_EXTENSION:
            what = f"the extension header at byte {at} has {header.size:,} bytes"
            yield self._error(f"{what}, and more than 1 MiB is not read")
            member = LengthReader(self._source, header.size, self._layer.name_of(header.name))
            self._pass_over(member, header.size)
            return
        data = bytes(read_up_to(self._source, header.size))
        if len(data) < header.size:
            self._ended = True
            raise self._error(f"truncated tar file (in the extension header at byte {at})")
        self._skip_padding(header.size)
        if header.type == _LONG_NAME:
            self._extended[b"path"] = data.split(b"\0", 1)[0]
        elif header.type != _LONG_LINK:
            records = _pax_records(data)
            if records is None:
                raise self._error(f"damaged extension header at byte {at}; it is skipped")
            (self._global if header.type == _PAX_GLOBAL else self._extended).update(records)

    def _file(self, header: tarfile.TarInfo, block: bytes, at: int) -> Iterator[Member | SourceError]:
        """Yield the member after `header`, then skip what the caller left unread. Yields an error for a sparse file,
        and nothing for a member without data. `block`: the bytes of the header; `at`: its offset.
        """
        records, self._extended = self._global | self._extended, {}
        if header.type in _WITHOUT_DATA:
            self._layer.budget.count_member()
            return
        is_gnu_sparse = header.type == tarfile.GNUTYPE_SPARSE
        size = header.size
        if b"size" in records:
            if not _NUMBER.fullmatch(records[b"size"]):
                # The end of the member is unknown.
                self._searching = True
                raise self._error(f"damaged header at byte {at}: its size is not a number; the member is skipped")
            size = int(records[b"size"])
        path = records.get(b"GNU.sparse.name", records.get(b"path"))
        name = header.name if path is None else path.decode(errors="backslashreplace")
        more = is_gnu_sparse and block[482]
        # Further blocks of the sparse map.
        while more:
            block = bytes(read_up_to(self._source, BLOCK))
            more = len(block) == BLOCK and block[504]
        member = LengthReader(self._source, size, self._layer.name_of(name))
        if is_gnu_sparse or any(keyword in records for keyword in _SPARSE):
            self._layer.budget.count_member()
            reason = "a sparse file, which is not read; unpack it, and pack it without --sparse"
            yield SourceError(self._layer.name_of(name), reason)
        elif size and header.type != _FOLDER_LIST:
            yield Member(name, member)
        else:
            self._layer.budget.count_member()
        self._pass_over(member, size)


def _others(data: memoryview) -> MemberRun:
    """The complete regular files with data, at most 64, with which `data` begins; `MemberRun.end` is 0 if there are
    none.
    """
    texts: list[tuple[Label, int, int]] = []
    end = 0
    while len(texts) < _FEW and (start := end + BLOCK) < len(data):
        header = _parse(bytes(data[end:start]))
        if header is None or header.type not in _FILES or not header.size:
            break
        after = start + header.size + -header.size % BLOCK
        if after > len(data):
            break
        texts.append((Label(header.name), start, start + header.size))
        end = after
    return MemberRun(Texts.of(data, texts), 0, end)


def _parse(block: bytes) -> tarfile.TarInfo | None:
    """The header in a block of 512 bytes; None if its checksum or size is invalid."""
    if not _CHECKSUM.fullmatch(block, 148, 156):
        return None
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
    except (tarfile.HeaderError, ValueError):
        return None
    if block[MAGIC_AT : MAGIC_AT + len(GNU_MAGIC)] == GNU_MAGIC:
        # GNU tar has other fields at the place of the name prefix of ustar.
        header.name = block[:100].split(b"\0", 1)[0].decode(errors="backslashreplace")
    return header if 0 <= header.size < _LARGEST else None


def _find_header(head: bytes, *, anywhere: bool) -> int | None:
    """Index of the first whole header (512 bytes, valid checksum) in `head`, or None. With `anywhere`, at any byte, but
    only headers with the magic string `ustar`; else at multiples of 512.
    """
    last = len(head) - BLOCK
    starts: Iterable[int] = range(0, last + 1, BLOCK)
    if anywhere:
        starts = (magic.start() - MAGIC_AT for magic in _MAGIC.finditer(head, MAGIC_AT, last + MAGIC_AT + 5))
    return next((at for at in starts if _parse(head[at : at + BLOCK])), None)


def _pax_records(data: bytes) -> dict[bytes, bytes] | None:
    """The records (keyword -> value) of a pax header about path, size and sparse files; None if it is damaged."""
    records = {}
    at = 0
    while at < len(data):
        begin = _PAX_RECORD.match(data, at)
        end = at + int(begin[1]) if begin else 0
        if not begin or not begin.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            return None
        if begin[2] in _KEYWORDS:
            records[begin[2]] = data[begin.end() : end - 1]
        at = end
    return records


FORM = Archive(name="a tar archive", open=open_tar, recognise=is_tar, suffixes=(".tar",), recognise_named=_has_nuls)
