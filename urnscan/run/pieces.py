"""Pieces of a result that wait for the checksums of what they were found in, and are taken out where these fail."""

from __future__ import annotations

import tempfile
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.errors import FatalError, SourceError
from urnscan.scanner.blocks import Matches, Rejects
from urnscan.sources import Checks

__all__ = ["Dates", "Held", "Piece"]

_IN_MEMORY = 64 << 20  # octets of rows that wait in memory; what is more waits in files
_COLUMNS = ("occurrences", "partial", "rejects")
_MANY = 1 << 12  # dates after which those are forgotten that tell nothing any more

Dated = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """What comes out of a task, bit by bit."""

    found: int = 0
    occurrences: pa.RecordBatch | None = None
    partial: pa.RecordBatch | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    """The names of the inputs of `partial`, by their places."""
    inputs: int = 0
    octets: int = 0
    trimmable: int = 0
    failure: tuple[int, str, SourceError] | None = None
    """A place among the inputs, the name of that input, and what went wrong there."""
    part_of: int | None = None
    """The place of the huge file of which the task is a part; its lines are counted from 1 in each part."""
    part_lines: int = 0
    """The LF octets in the part, at its end."""
    rejects: pa.RecordBatch | None = None
    """They come in pieces of their own, which have dates of their own."""
    begins: str | None = None
    """Of a piece that says that a task begins the stamp of that (`resume.py`), which may be empty; of any other None."""
    ends: bool = False
    """Whether it says that a task ends."""
    is_kept: bool = False
    """Whether it was not made now, but kept by an earlier run."""


class Dates:
    """When the octets of a text were read, by the clock of a Checks."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self.clear()

    def clear(self) -> None:
        """Another text begins."""
        self._from: list[int] = []  # octets from these on …
        self._first: list[int] = []  # … are from these dates …
        self._last: list[int] = []  # … to these

    @property
    def are_open(self) -> bool:
        """Whether a unit has begun and is not settled."""
        return self._checks.settled <= self._checks.now

    def since(self, start: int) -> Dates:
        """The dates of what was read from the octet `start` on, which is the beginning of another text."""
        dates = Dates(self._checks)
        first = max(0, bisect_right(self._from, start) - 1)
        dates._from = [max(0, at - start) for at in self._from[first:]]
        dates._first = self._first[first:]
        dates._last = self._last[first:]
        return dates

    def read(self, read_into: Callable[[memoryview], int], view: memoryview, at: int) -> int:
        """Read what comes next in the text, at the octet `at` of it. Raises what `read_into` raises."""
        octets, first, last = self._checks.read(read_into, view)
        if octets and (not self._from or self._first[-1] != first or self._last[-1] != last):
            if len(self._from) > _MANY:
                self._forget()
            self._from.append(at)
            self._first.append(first)
            self._last.append(last)
        return octets

    def _forget(self) -> None:
        """Make one date of all if all is settled and good: the last of them."""
        refused = self._checks.refused
        if self._last[-1] < self._checks.settled and (not refused or refused[-1][1] < self._first[0]):
            self._from, self._first, self._last = self._from[:1], self._last[-1:], self._last[-1:]

    def of(self, matches: Matches | Rejects) -> tuple[Dated, Dated]:
        """The first and the last date of each match or reject, or one for all."""
        if len(self._from) == 1:
            return np.array(self._first), np.array(self._last)
        first = np.searchsorted(self._from, matches.start, side="right") - 1
        last = np.searchsorted(self._from, matches.start + matches.length - 1, side="right") - 1
        return np.array(self._first)[first], np.array(self._last)[last]


@dataclass(frozen=True, slots=True)
class _Waiting:
    piece: Piece
    first: Dated
    """Of each of its matches or rejects, or one for all."""
    last: Dated
    trims: npt.NDArray[np.bool_]
    """Which of its matches `trim` would change; empty where one date is for all, and for rejects."""
    stored: _Stored | None = None
    """Where its rows are."""


class Held:
    """Holds pieces back, in their order, until all that was read for them is settled."""

    def __init__(self, checks: Checks, spill_folder: Callable[[], Path]) -> None:
        self._checks = checks
        self._spill_folder = spill_folder
        self._waiting: deque[_Waiting] = deque()
        self._octets = 0  # of rows that wait in memory
        self._stored: _Stored | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def add(self, piece: Piece, found: Matches | Rejects, dates: tuple[Dated, Dated]) -> Iterator[Piece]:
        """Take the piece of some matches, or that of some rejects, at least one; gives what need not wait any longer.

        Raises FatalError where no disk is left.
        """
        first, last = dates
        trims = found.trailing > 0 if isinstance(found, Matches) and len(first) > 1 else np.empty(0, bool)
        self._waiting.append(_Waiting(piece, first, last, trims))
        self._octets += _octets(piece)
        yield from self.release()
        if self._octets > _IN_MEMORY:
            self._spill()

    def release(self) -> Iterator[Piece]:
        """What need not wait any longer, without what was refused."""
        settled = self._checks.settled
        while self._waiting and self._waiting[0].last.max() < settled:
            waiting = self._waiting.popleft()
            self._octets -= _octets(waiting.piece)
            piece = waiting.piece if waiting.stored is None else waiting.stored.next(waiting.piece)
            kept = self._kept(waiting)
            if kept.all():
                yield piece
            elif kept.any():
                if piece.rejects is not None:
                    yield replace(piece, rejects=piece.rejects.filter(pa.array(kept)))
                    continue
                yield replace(
                    piece,
                    found=int(kept.sum()),
                    occurrences=piece.occurrences and piece.occurrences.filter(pa.array(kept)),
                    partial=piece.partial and piece.partial.filter(pa.array(kept)),
                    trimmable=int((waiting.trims & kept).sum()),
                )

    def _kept(self, waiting: _Waiting) -> npt.NDArray[np.bool_]:
        """Which of the matches were read in no unit whose checksum failed."""
        refused = self._checks.refused
        at = bisect_left(refused, waiting.first.min(), key=itemgetter(1))
        near = refused[at : bisect_right(refused, waiting.last.max(), key=itemgetter(0))]
        if not near:
            return np.ones(1, bool)
        begins, ends = np.array(near).T
        before = np.searchsorted(begins, waiting.last, side="right") - 1
        kept: npt.NDArray[np.bool_] = (before < 0) | (ends[before] < waiting.first)
        return kept

    def _spill(self) -> None:
        """Put the rows that wait in memory into a file: one for all until it is read."""
        if self._stored is None or self._stored.is_read:
            self._stored = _Stored(self._spill_folder())
        in_memory: list[_Waiting] = []
        while self._waiting and self._waiting[-1].stored is None:
            in_memory.append(self._waiting.pop())
        for waiting in reversed(in_memory):
            self._stored.add(waiting.piece)
            bare = replace(waiting.piece, occurrences=None, partial=None, rejects=None)
            self._waiting.append(replace(waiting, piece=bare, stored=self._stored))
        self._octets = 0


class _Stored:
    """The rows of pieces in files without a name: written, then read back once, in their order."""

    def __init__(self, folder: Path) -> None:
        self.is_read = False
        """Whether reading has begun, so that no more can be added."""
        self._folder = folder
        self._columns: deque[list[str]] = deque()  # that each piece has
        self._files: dict[str, IO[bytes]] = {}
        self._streams: dict[str, Any] = {}  # of Arrow: first to write them, then to read them

    def add(self, piece: Piece) -> None:
        """Write the rows of a piece. Raises FatalError."""
        columns = [column for column in _COLUMNS if getattr(piece, column) is not None]
        try:
            for column in columns:
                rows = getattr(piece, column)
                if column not in self._files:
                    self._files[column] = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (closed when all is read)
                    self._streams[column] = pa.ipc.new_stream(self._files[column], rows.schema)
                self._streams[column].write_batch(rows)
        except OSError as error:
            raise FatalError(f"{self._folder}: cannot hold what is spilled: {error}") from error
        self._columns.append(columns)

    def next(self, piece: Piece) -> Piece:
        """The next piece that was stored, which is `piece` without its rows. Raises FatalError."""
        try:
            if not self.is_read:
                self.is_read = True
                for column, file in self._files.items():
                    self._streams[column].close()
                    file.seek(0)
                    self._streams[column] = pa.ipc.open_stream(file)
            rows = {column: self._streams[column].read_next_batch() for column in self._columns.popleft()}
        except OSError as error:
            raise FatalError(f"{self._folder}: cannot hold what is spilled: {error}") from error
        if not self._columns:
            for file in self._files.values():
                file.close()
        return replace(piece, **rows)


def _octets(piece: Piece) -> int:
    return sum(rows.nbytes for rows in (piece.occurrences, piece.partial, piece.rejects) if rows is not None)
