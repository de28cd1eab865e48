"""What is to be read twice: how a dump is known again, and the second reading."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import IO

from urnscan.errors import FatalError, SourceError
from urnscan.records.buffer import Buffer
from urnscan.records.formats import Format
from urnscan.sources import Document, Input, Reading, open_documents, past_damage

__all__ = ["Again", "Dump", "Place", "ReadInto", "Spool", "Summed"]

_BLOCK = 1 << 20  # octets passed over at a time

ReadInto = Callable[[memoryview], int]


@dataclass(slots=True, eq=False)
class Dump:
    """A text of records that was read."""

    source: Input
    name: str
    """What errors call it."""
    member: str | None
    number: int
    """Its place among the things that are in the input, from 0."""
    format: Format
    first: int
    """The number of its first record among all that could be read, from 0."""
    records: int = 0
    damaged: int = 0
    without: int = 0
    """Records in which no URN was found."""
    octets: int = 0
    sum: int = 0
    """The checksum of its octets, where it is to be read again."""
    kept: tuple[int, int] | None = None
    """Where it lies in the spool, if it is out of a pipe that is to be read again."""


Place = tuple[Dump, int]
"""Where a record stands: the octets from the beginning of its dump."""


class Summed:
    """Octets on their way, added up: whether a second reading gives what the first one gave."""

    def __init__(self, read_into: ReadInto, *, want_sum: bool = True) -> None:
        self.octets = 0
        self.sum = 0
        self._read_into = read_into
        self._want_sum = want_sum

    def read_into(self, view: memoryview) -> int:
        """As a Reader does."""
        got = self._read_into(view)
        self.octets += got
        if self._want_sum:
            self.sum = zlib.crc32(view[:got], self.sum)
        return got


class Spool:
    """What comes out of pipes, kept in a file without a name, to be read once more: one file, however many dumps."""

    def __init__(self, folder: Path) -> None:
        """Raises FatalError where no disk is left."""
        self.octets = 0
        """How many are kept."""
        self._folder = folder
        with self._as_fatal():
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (it lives as long as this does)

    def keep(self, read_into: ReadInto) -> ReadInto:
        """The same reading, of which all is kept. It raises FatalError where no disk is left."""

        def read_and_keep(view: memoryview) -> int:
            got = read_into(view)
            with self._as_fatal():
                self._file.write(view[:got])
            self.octets += got
            return got

        return read_and_keep

    def read_again(self, start: int, end: int) -> ReadInto:
        """What is kept between two places. Raises FatalError where no disk is left; nothing can be kept from then on."""
        with self._as_fatal():
            self._file.seek(start)

        def read_into(view: memoryview) -> int:
            nonlocal start
            with self._as_fatal():
                got: int = self._file.readinto(view[: end - start])  # type: ignore[attr-defined]
            start += got
            return got

        return read_into

    def close(self) -> None:
        """Forget the octets."""
        self._file.close()

    @contextlib.contextmanager
    def _as_fatal(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FatalError(f"{self._folder}: cannot hold what comes out of a pipe: {error.strerror}") from error


class Again:
    """The second reading of the dumps."""

    def __init__(
        self, dumps: Sequence[Dump], spool: Spool | None, reading: Reading, on_read: Callable[[int], object]
    ) -> None:
        """`spool` has what came out of pipes; `on_read` is told how many octets of the inputs were read."""
        self._dumps = dumps
        self._spool = spool
        self._reading = reading
        self._on_read = on_read

    def read(self) -> Iterator[tuple[Dump, Buffer]]:
        """The dumps, each to be read to its end. Raises FatalError where one is not the same as it was."""
        for dump, summed in self._open(self._dumps):
            yield dump, Buffer(past_damage(summed.read_into))
            if (summed.octets, summed.sum) != (dump.octets, dump.sum):
                raise _changed(dump)

    def excerpts(self, places: Mapping[Place, int]) -> Iterator[tuple[Place, bytes]]:
        """So many octets of the records at these places. Raises FatalError."""
        for dump, summed in self._open([dump for dump in self._dumps if any(place[0] is dump for place in places)]):
            buffer = Buffer(past_damage(summed.read_into))
            for place in sorted((place for place in places if place[0] is dump), key=itemgetter(1)):
                _, offset = place
                while (away := offset - buffer.offset) > 0 and buffer.take(min(away, _BLOCK)):
                    pass
                yield place, buffer.take(places[place])

    def _open(self, dumps: Sequence[Dump]) -> Iterator[tuple[Dump, Summed]]:
        """Some of the dumps, in their order. Raises FatalError where one is not there any more."""
        for source, in_it in itertools.groupby(dumps, lambda dump: dump.source):
            waiting = deque(in_it)
            while self._spool is not None and waiting and (kept := waiting[0].kept) is not None:
                yield waiting.popleft(), Summed(self._spool.read_again(*kept))
            if not waiting:
                continue
            try:
                with closing(open_documents(source, self._reading, self._on_read)) as documents:
                    for number, document in enumerate(documents):
                        if number == waiting[0].number and isinstance(document, Document):
                            yield waiting.popleft(), Summed(document.reader.read_into)
                        if not waiting:
                            break
            except SourceError as error:
                if waiting:
                    raise FatalError(f"{error}: it could be read when it was read first") from error
            if waiting:
                raise _changed(waiting[0])


def _changed(dump: Dump) -> FatalError:
    return FatalError(f"{dump.name}: has changed since it was read first: run it again when nobody writes it")
