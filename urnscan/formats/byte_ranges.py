"""Byte ranges of files, called extents, that an index of records names (`--cdx`); each is read like a separate file.

Neighbouring extents are read by one request. For URLs several requests run in parallel.
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

_REQUEST = 1 << 20  # bytes per read
# Maximum bytes between neighbours. Reading and dropping them is cheaper than another request.
_GAP = 1 << 14
# Parallel requests of a thread: servers refuse clients with more.
_AT_ONCE = 8
_SIGN = 2  # first bytes by which the forms of records differ


class Extent(NamedTuple):
    """A byte range of a file with a reader of its bytes: for example a record of a WARC file that an index names."""

    start: int
    """Offset of the first byte in the file, from 0."""
    size: int
    """Number of bytes of the range, without the Zstandard dictionary that the reader may give before them."""
    reader: Reader
    """Gives the bytes of the range, after the dictionary of a Zstandard file; raises SourceError if that fails."""


def open_extents(inputs: Iterable[Input]) -> Generator[Extent, None, None]:
    """Yield the byte ranges in `Input.extents` of the inputs as extents, in this order. Up to eight requests for URLs
    run in parallel.

    Ranges that directly follow each other may come as a single `Extent`. Its reader may be used until the next extent
    is requested; it raises SourceError if the bytes cannot be read. The caller closes the generator.
    """
    return in_turn((part for source in inputs for part in _parts(source)), _AT_ONCE)


def _parts(source: Input) -> Iterator[Iterator[Extent] | Callable[[], Iterator[Extent]]]:
    # For a URL, functions send the requests, so that several can run in parallel.
    file = _File(source)
    for neighbours in _requests(source.extents):
        part = functools.partial(file.read, neighbours)
        yield part if source.remote is not None else part()


def _requests(extents: Iterable[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Split sorted extents (start, end) into runs of close neighbours, each for a single request of at most 1 MiB, or
    of a single larger extent.
    """
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
    """Yield start and end of the extents of a request; adjacent ones that begin with the same two bytes are joined.
    `data`: the first bytes of the request.
    """
    # Reading fewer extents is faster. A wrong extent begins with different bytes, so it is not joined.
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
        """Read bytes from the offset `position` on into `view`, perhaps fewer than have room. Returns their number, 0
        at the end.
        """

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
    def __init__(self, source: Input) -> None:
        self._source = source

    def read(self, neighbours: list[tuple[int, int]]) -> Iterator[Extent]:
        """Yield neighbouring extents (given as start, end), read by a single request. If the request fails, their
        readers raise the error.
        """
        first, last = neighbours[0][0], max(end for _, end in neighbours)
        try:
            with closing(self._open(first, last)) as data:
                head = self._read(data, first, min(last, first + _REQUEST))
                for start, end in _joined(neighbours, head):
                    begin = head[start - first : end - first]
                    rest = self._rest(data, first + len(head), end)
                    yield Extent(start, end - start, PieceReader(self._pieces(begin, rest)))
        except SourceError as error:
            # The request failed before the first extent was yielded; errors of readers are raised by `read_into`.
            for start, end in neighbours:
                yield Extent(start, end - start, _Unread(error))

    def _open(self, start: int, end: int) -> _Bytes:
        if self._source.remote is None:
            return _Local(self._source)
        from urnscan.stores.objects import open_between  # noqa: PLC0415 (loaded only for URLs)

        return open_between(self._source.remote, start, end)

    def _read(self, data: _Bytes, start: int, end: int) -> memoryview:
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
        # A Zstandard frame may need the dictionary of the file.
        if begin[:4] == TEXT_FRAME:
            yield self._dictionary
        yield begin
        yield from rest

    @functools.cached_property
    def _dictionary(self) -> bytes:
        """The first frame of a Zstandard file, if it may contain a dictionary; else empty."""
        with closing(self._open(0, LARGEST_DICTIONARY + 8)) as data:
            head = bytes(self._read(data, 0, 8))
            size = int.from_bytes(head[4:], "little")
            if head[:4] != DICTIONARY_FRAME or size > LARGEST_DICTIONARY:
                return b""
            return head + bytes(self._read(data, 8, 8 + size))


class _Unread(Reader):
    """Reader of an extent whose request failed."""

    def __init__(self, error: SourceError) -> None:
        self._error = error

    def read_into(self, view: memoryview) -> int:  # noqa: ARG002 (there are no bytes)
        raise self._error
