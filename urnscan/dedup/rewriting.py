"""Dumps without some of their records, octet for octet as they came, and single records out of them."""

from __future__ import annotations

import contextlib
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from urnscan.errors import DamageError, FatalError, SourceError
from urnscan.output import OctetOutput, check_output
from urnscan.records.buffer import Buffer
from urnscan.records.formats import Format
from urnscan.sources import Input, is_remote, local_path

__all__ = ["Dumps", "Joined", "ReadInto", "Spool", "Summed", "copy_without", "excerpt"]

_BLANK = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"  # byte order mark of UTF-8
_BLOCK = 1 << 20  # octets copied at a time
_UNPACKED = (".xz", ".lzma", ".zip", ".7z", ".rar", ".tar", ".tgz", ".txz")  # what is read, but not written

ReadInto = Callable[[memoryview], int]
Write = Callable[[bytes], object]


def copy_without(buffer: Buffer, records: Iterable[tuple[int, int, bool]], separator: bytes, write: Write) -> None:
    """Write what the buffer gives without the records that are not kept.

    `records` are where each begins, how many octets it has and whether it is kept. With a record goes what parts it from
    the one before: white space and the `separator` of the format; where none before it is kept, what parts it from the
    next. All else stays: what stands around the records, comments, and what could not be read. Raises what `write` does.
    """
    end = 0  # of the record before
    is_any_kept = False
    has_gone = False  # the record before, and what follows parts it from the next
    for offset, length, kept in records:
        if has_gone:
            gap = offset - end
            write(_without_first(buffer.take(min(gap, _BLOCK)), separator))
            _copy(buffer, gap - _BLOCK, write)
            has_gone = False
        if kept:
            is_any_kept = True
        elif is_any_kept:
            _copy(buffer, end - buffer.offset, write)
            gap = offset - end
            _copy(buffer, gap - _BLOCK, write)
            write(_without_last(buffer.take(min(gap, _BLOCK)), separator))
            _pass(buffer, length)
        else:
            _copy(buffer, offset - buffer.offset, write)
            _pass(buffer, length)
            has_gone = True
        end = offset + length
    while buffer.has(1):
        write(buffer.take(_BLOCK))


def excerpt(buffer: Buffer, offset: int, count: int) -> bytes:
    """The next `count` octets from `offset` on; what comes before is let go of."""
    _pass(buffer, offset - buffer.offset)
    return buffer.take(count)


def _copy(buffer: Buffer, count: int, write: Write) -> None:
    while count > 0 and (octets := buffer.take(min(count, _BLOCK))):
        write(octets)
        count -= len(octets)


def _pass(buffer: Buffer, count: int) -> None:
    _copy(buffer, count, lambda _: None)


def _without_last(gap: bytes, separator: bytes) -> bytes:
    """What stands before a record, without what parts it from the record before."""
    gap = gap.rstrip(_BLANK)
    return gap.removesuffix(separator).rstrip(_BLANK) if separator and gap.endswith(separator) else gap


def _without_first(gap: bytes, separator: bytes) -> bytes:
    """What stands behind a record, without what parts it from the next."""
    gap = gap.lstrip(_BLANK)
    return gap.removeprefix(separator).lstrip(_BLANK) if separator and gap.startswith(separator) else gap


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

    def read_on(self, view: memoryview) -> int:
        """The same, past what is damaged: of that was told when it was read first. 0 at any other error as at the end."""
        while True:
            try:
                return self.read_into(view)
            except DamageError:
                continue
            except SourceError:
                return 0


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


class Joined:
    """Writes dumps one behind the other, so that no record runs into one of the next dump."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._tail = b""  # what was written last
        self._line_ends = 0  # that must stand before what is written next
        self._begins_later = False  # the next octets are the first of a dump that is not the first

    def begin(self, line_ends: int) -> None:
        """Another dump comes, with at least so many line ends before it."""
        self._begins_later = bool(self._tail)
        self._line_ends = line_ends if self._tail else 0

    def __call__(self, octets: bytes) -> None:
        """Write octets of the dump. Raises what `write` does."""
        if self._begins_later and octets:
            octets = octets.removeprefix(_MARK)
            self._begins_later = False
        if not octets:
            return
        if self._line_ends:
            lines = self._tail.replace(b"\r", b"")
            self._write(b"\n" * (self._line_ends - len(lines) + len(lines.rstrip(b"\n"))))
            self._line_ends = 0
        self._write(octets)
        self._tail = (self._tail + octets[-4:])[-4:]


class Dumps:
    """Where dumps without their duplicates go: a file for all, or a folder with a file for each input; a context manager.

    The file appears when `commit` is called; in a folder each appears when it is whole.
    """

    def __init__(self, path: str, *, force: bool = False) -> None:
        """`path` is a folder where there is one, or where it ends in "/". Raises FatalError as every output does."""
        self._path = path
        self._force = force
        self._admitted: dict[str, Format] = {}  # by the path of the output
        self._folder = None if is_remote(path) else Path(local_path(path))
        if self._folder is not None and not self._folder.is_dir() and not path.endswith("/"):
            self._folder = None
        self._output = None if self._folder else OctetOutput(path, force=force)
        self._joined = None if self._output is None else Joined(self._output.write)
        self._sources: dict[str, str] = {}
        if self._folder is not None and not self._folder.is_dir():
            raise FatalError(f"{path}: this folder does not exist; make it first")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output is not None:
            self._output.__exit__(kind, error, trace)

    def admit(self, source: Input, format_: Format, codec: str | None) -> None:
        """A dump of this format is in the input, decoded from that codec. Raises FatalError where it cannot be written, or
        not with those before it.
        """
        if codec is not None:
            raise FatalError(
                f"{source.name}: is in {codec}, and dumps are written as they came: convert it to UTF-8 first"
            )
        path = self._place(source)
        before = self._admitted.setdefault(path, format_)
        first = self._sources.setdefault(path, "")
        if not first:
            self._sources[path] = source.name
            if self._folder is not None:
                check_output(path, force=self._force)
            return
        hint = "" if self._folder else "; name a folder, and each input gets a file in it"
        if self._folder is not None and first != source.name:
            raise FatalError(f"{path}: would be written for {first} and for {source.name}; give them in two runs")
        if before is not format_:
            raise FatalError(f"{path}: would hold {before.title} and {format_.title} ({source.name}){hint}")
        if format_.framed:
            raise FatalError(f"{path}: two dumps of {format_.title} do not make one ({source.name}){hint}")

    @contextlib.contextmanager
    def open(self, source: Input) -> Iterator[Joined]:
        """What writes the dumps of an input. Raises FatalError."""
        if self._joined is not None:
            yield self._joined
            return
        with OctetOutput(self._place(source), force=self._force) as output:
            yield Joined(output.write)
            output.commit()

    def commit(self) -> None:
        """Put the file in its place. Raises FatalError."""
        if self._output is not None:
            self._output.commit()

    def _place(self, source: Input) -> str:
        if self._folder is None:
            return self._path
        name = source.file_name.lstrip("-") or "standard-input"
        suffixes = Path(name).suffixes
        written = (suffix for suffix in suffixes if suffix.lower() not in _UNPACKED)
        return str(self._folder / (name.removesuffix("".join(suffixes)) + "".join(written)))
