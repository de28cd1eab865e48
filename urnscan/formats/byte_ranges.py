"""Extents: the bytes of files that an index names (`cdx.py`), each read as a file of its own.

Neighbours are read in one request. Of files at a URL several requests are begun at once.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import NamedTuple, Protocol

from urnscan.errors import SourceError
from urnscan.formats.compression.dictionary import DICTIONARY_FRAME, LARGEST_DICTIONARY
from urnscan.formats.compression.frames import TEXT_FRAME
from urnscan.stores.input import Input
from urnscan.stores.prefetch import in_turn
from urnscan.stores.reader import PieceReader, Reader

_REQUEST = 1 << 20  # bytes that are read at once
# Bytes between two neighbours that are read and not used: cheaper than another request.
_GAP = 1 << 14
# Requests of one thread: servers refuse those who ask for more at once.
_AT_ONCE = 8
_SIGN = 2  # bytes by which the forms of records differ


class Extent(NamedTuple):
    """An extent that was opened."""

    start: int
    """Its first byte in the file."""
    size: int
    """Its bytes in the file, without the dictionary that the reader may give before them."""
    reader: Reader


def open_extents(inputs: Iterable[Input]) -> Generator[Extent, None, None]:
    """The extents of inputs one after the other, each to be read before the next is asked for; neighbours may be joined.

    Readers raise SourceError. The caller closes the generator.
    """
    return in_turn((part for source in inputs for part in _parts(source)), _AT_ONCE)


def _parts(source: Input) -> Iterator[Iterator[Extent] | Callable[[], Iterator[Extent]]]:
    """The extents of each request; those of a remote file by a function, which waits for a server."""
    file = _File(source)
    for neighbours in _requests(source.extents):
        part = functools.partial(file.read, neighbours)
        yield part if source.remote is not None else part()


def _requests(extents: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Extents, sorted by their first bytes, in runs that are read in one request."""
    run: list[tuple[int, int]] = []
    upto = 0
    for start, end in extents:
        if run and (start > upto + _GAP or max(end, upto) - run[0][0] > _REQUEST):
            yield run
            run, upto = [], 0
        run.append((start, end))
        upto = max(end, upto)
    if run:
        yield run


def _joined(neighbours: list[tuple[int, int]], data: memoryview) -> Iterator[tuple[int, int]]:
    """Extents to be read as one: neighbours without a gap are joined, which is faster, if they begin with the same bytes.

    `data` are those of the request. A wrong extent begins with other bytes, so it does not affect its neighbours.
    """
    first = start = neighbours[0][0]
    upto = start
    for begin, end in neighbours:
        if begin != upto or data[begin - first :][:_SIGN] != data[start - first :][:_SIGN]:
            yield start, upto
            start = begin
        upto = end
    yield start, upto


class _Bytes(Protocol):
    """Interface for random-access reads from a local file or a URL."""

    def read_at(self, position: int, view: memoryview) -> int:
        """Fill the front of the view from a byte of the file on; 0 at the end. Raises SourceError."""

    def close(self) -> None:
        """Close the file or the connection."""


class _Local:
    def __init__(self, source: Input) -> None:
        self._name = source.name
        try:
            self._descriptor = os.open(source.path or "", os.O_RDONLY | os.O_NOCTTY)
        except OSError as error:
            raise SourceError.from_os(source.name, error) from error

    def read_at(self, position: int, view: memoryview) -> int:
        try:
            return os.preadv(self._descriptor, [view], position)
        except OSError as error:
            raise SourceError.from_os(self._name, error) from error

    def close(self) -> None:
        os.close(self._descriptor)


class _File:
    """A file of which extents are read."""

    def __init__(self, source: Input) -> None:
        self._source = source

    def read(self, neighbours: list[tuple[int, int]]) -> Iterator[Extent]:
        """Neighbouring extents, by one request."""
        first, last = neighbours[0][0], max(end for _, end in neighbours)
        try:
            with closing(self._open(first, last)) as data:
                head = self._read(data, first, min(last, first + _REQUEST))
                for start, end in _joined(neighbours, head):
                    begin = head[start - first : end - first]
                    rest = self._rest(data, first + len(head), end)
                    yield Extent(start, end - start, PieceReader(self._pieces(begin, rest)))
        except SourceError as error:
            # Readers raise their own errors: this one is that of the request, before any extent was given.
            for start, end in neighbours:
                yield Extent(start, end - start, _Unread(error))

    def _open(self, start: int, end: int) -> _Bytes:
        """Open the file for bytes from `start` up to `end`. Raises SourceError."""
        if self._source.remote is None:
            return _Local(self._source)
        from urnscan.stores.objects import open_between  # noqa: PLC0415 (who reads no URL loads nothing for it)

        return open_between(self._source.remote, start, end)

    def _read(self, data: _Bytes, start: int, end: int) -> memoryview:
        """The bytes from `start` up to `end`. Raises SourceError."""
        block = memoryview(bytearray(end - start))
        filled = 0
        while filled < len(block):
            got = data.read_at(start + filled, block[filled:])
            if not got:
                raise SourceError(self._source.name, f"ends at byte {start + filled:,}: it has become shorter")
            filled += got
        return block

    def _rest(self, data: _Bytes, start: int, end: int) -> Iterator[memoryview]:
        for at in range(start, end, _REQUEST):
            yield self._read(data, at, min(at + _REQUEST, end))

    def _pieces(self, begin: memoryview, rest: Iterator[memoryview]) -> Iterator[bytes | memoryview]:
        """The bytes of an extent; before a frame of Zstandard the dictionary of its file. Raises SourceError."""
        if begin[:4] == TEXT_FRAME:
            yield self._dictionary
        yield begin
        yield from rest

    @functools.cached_property
    def _dictionary(self) -> bytes:
        """The first frame of a Zstandard file, if it can be the dictionary of the others. Raises SourceError."""
        with closing(self._open(0, LARGEST_DICTIONARY + 8)) as data:
            head = bytes(self._read(data, 0, 8))
            size = int.from_bytes(head[4:], "little")
            if head[:4] != DICTIONARY_FRAME or size > LARGEST_DICTIONARY:
                return b""
            return head + bytes(self._read(data, 8, 8 + size))


class _Unread(Reader):
    """Extent that could not be read."""

    def __init__(self, error: SourceError) -> None:
        self._error = error

    def read_into(self, view: memoryview) -> int:  # noqa: ARG002 (there are no bytes)
        """Raise the error."""
        raise self._error
