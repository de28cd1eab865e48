"""Dumps that are read twice: the second reading, and the check that both readings give the same bytes."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from urnscan.errors import FatalError, SourceError
from urnscan.formats.checksum import fastest_crc32
from urnscan.formats.contents import Document
from urnscan.formats.context import Reading
from urnscan.formats.unfold import open_documents
from urnscan.framing.buffer import Buffer
from urnscan.records.format import Format
from urnscan.stores.input import Input
from urnscan.stores.reader import past_damage

ReadInto = Callable[[memoryview], int]
"""Function that fills a buffer with the next bytes, and returns their number; 0 at the end."""


@dataclass(slots=True, eq=False)
class Dump:
    """A document of records (a file, or a member of an archive), and counts of the first reading."""

    source: Input
    """The input that is, or contains, the dump."""
    name: str
    """Name in messages: of the input, and of the member."""
    member: str | None
    """Names of the members in the input that lead to the dump, as in `Document.member`; None if the dump is the whole
    input.
    """
    number: int
    """Index among the documents of the input, from 0."""
    format: Format
    """The format of the records, an element of `FORMATS`."""
    first: int = 0
    """Number of the first record among the readable records of all dumps, from 0; set when the dump is read."""
    records: int = 0
    """Number of records that could be read."""
    damaged: int = 0
    """Number of records that could not be read."""
    without: int = 0
    """Records without a URN and without another key (keys that nearly every record has do not count)."""
    wrong: int = 0
    """Records of `without` that have an ISBN or ISSN whose check digit is wrong."""
    byte_count: int = 0
    """Bytes of the dump, without those of the compression."""
    checksum: int = 0
    """CRC-32 of the bytes; 0 if the dump is read only once."""
    own: bool = False
    """Whether only record-level identifiers count; False: every URN in a record counts."""
    unread: str = ""
    """Name of the element inside the records of OAI-PMH or SRU, such as `ead`, if its fields are not known: then only
    identifiers in the headers of the records count. Otherwise empty.
    """
    spooled: int | None = None
    """Offset of the dump in the `Spool` (content of pipes on disk), in bytes; None if the input can be read again, or
    is read only once.
    """


Place = tuple[Dump, int]
"""A dump, and the offset of a record in the dump, in bytes."""


class Spool:
    """Content of pipes, kept on disk for the second reading: an unnamed file for all dumps."""

    def __init__(self, folder: Path) -> None:
        """Raises FatalError if the file cannot be made in the folder."""
        self.byte_count = 0
        """Bytes kept so far."""
        self._folder = folder
        with self._as_fatal():
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)

    def keep(self, data: memoryview) -> None:
        """Append bytes. Raises FatalError if the disk is full or fails."""
        with self._as_fatal():
            self._file.write(data)
        self.byte_count += len(data)

    def read_again(self, start: int, end: int) -> ReadInto:
        """Return a reader of the bytes between two offsets in the spool: a function that fills a buffer and returns the
        number of bytes, 0 at the end. From the first call on, `keep` must not be called, and only the newest reader
        works. Method and reader raise FatalError if reading fails.
        """
        with self._as_fatal():
            self._file.seek(start)

        def read_into(view: memoryview) -> int:
            nonlocal start
            with self._as_fatal():
                length: int = self._file.readinto(view[: end - start])  # type: ignore[attr-defined]
            start += length
            return length

        return read_into

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    @contextlib.contextmanager
    def _as_fatal(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FatalError(f"{self._folder}: cannot store the content of a pipe: {error.strerror}") from error


@dataclass(slots=True)
class SummedReader:
    """A reader that counts bytes and computes their checksum. It may also copy the bytes into a spool (a file for the
    content of pipes).
    """

    reader: ReadInto
    """Function that gives the bytes."""
    want_checksum: bool = True
    """Whether the checksum is computed."""
    spool: Spool | None = None
    """The spool that gets a copy of the bytes; None: no copy is kept."""
    on_read: Callable[[int], object] = lambda _: None
    """Called at each reading with the number of bytes that it gave."""
    byte_count: int = 0
    """Number of bytes read so far."""
    checksum: int = 0
    """CRC-32 of the bytes read so far; 0 without `want_checksum`."""

    def read_into(self, view: memoryview) -> int:
        """Read the next bytes into `view`, and return their number; 0 at the end. Raises the errors of the reader, and
        FatalError if the disk is full or fails.
        """
        length = self.reader(view)
        self.byte_count += length
        self.on_read(length)
        if self.want_checksum:
            self.checksum = fastest_crc32()(view[:length], self.checksum)
        if self.spool is not None:
            self.spool.keep(view[:length])
        return length


@dataclass(frozen=True, slots=True)
class SecondReading:
    """The second reading of all dumps, or of some records."""

    dumps: Sequence[Dump]
    """All dumps, in the order of the first reading."""
    spool: Spool | None
    """Content of pipes, if dumps were read from pipes; otherwise None."""
    reading: Reading
    """Options of the first reading, by which the dumps are opened again."""
    on_read: Callable[[int], object]
    """Called with the number of bytes of the dumps that were read since the last call."""

    def read(self) -> Iterator[tuple[Dump, Buffer]]:
        """Yield the dumps, in order, each with its bytes; the caller must read all bytes of a dump before it takes the
        next. Raises FatalError for a dump that cannot be read again, or, when the next is taken, for a dump that has
        changed.
        """
        for dump, reader in self._open(self.dumps):
            yield dump, Buffer(past_damage(reader.read_into))
            if (reader.byte_count, reader.checksum) != (dump.byte_count, dump.checksum):
                raise changed(dump)

    def excerpts(self, places: Mapping[Dump, Sequence[tuple[int, int]]]) -> Iterator[tuple[Place, bytes]]:
        """Yield bytes of records, each with its place (dump, and offset in bytes), in dump order. `places`: for each
        dump, the offsets of its records, ascending, each with the number of bytes to read: at most the length of the
        record, as bytes after it are not left out.

        Raises FatalError for a dump that cannot be opened again. It is not checked that the bytes are still those of
        the record; they are fewer if the dump ends or reading fails.
        """
        for dump, reader in self._open([dump for dump in self.dumps if dump in places]):
            buffer = Buffer(past_damage(reader.read_into))
            for start, length in places[dump]:
                for _ in buffer.blocks(start - buffer.offset):
                    pass
                yield (dump, start), buffer.take(length)

    def _open(self, dumps: Sequence[Dump]) -> Iterator[tuple[Dump, SummedReader]]:
        """Yield each of the dumps, which must be in dump order, with a reader of its bytes; use it before the next is
        taken. Raises FatalError for a dump that is missing.
        """
        for source, of_source in itertools.groupby(dumps, lambda dump: dump.source):
            pending = deque(of_source)
            while self.spool is not None and pending and (start := pending[0].spooled) is not None:
                dump = pending.popleft()
                yield dump, SummedReader(self.spool.read_again(start, start + dump.byte_count), on_read=self.on_read)
            if not pending:
                continue
            try:
                with contextlib.closing(open_documents(source, self.reading)) as documents:
                    for number, document in enumerate(documents):
                        if number == pending[0].number and isinstance(document, Document):
                            yield pending.popleft(), SummedReader(document.reader.read_into, on_read=self.on_read)
                        if not pending:
                            break
            except SourceError as error:
                if pending:
                    raise FatalError(
                        f"{error.source}: cannot be read a second time: {error.reason}; run again"
                    ) from error
            if pending:
                raise changed(pending[0])


def changed(dump: Dump) -> FatalError:
    """Return (not raise) the error for a dump whose second reading gives different bytes."""
    return FatalError(f"{dump.name}: has changed during the run; run again when nothing writes to it")
