"""Occurrences -> equivalence classes, with files for what does not fit in memory.

Each batch of rows is parted by ranges of keys when it comes; it is not sorted yet. At the end one range after another
is sorted and added up (`classes.py`), so most rows are sorted once. Rows that do not fit in memory wait in files, range
by range. A range that is too large to be sorted at once is grouped in the same way again, with ranges of its own.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import octet_strings
from urnscan.arrays.octets import Integers
from urnscan.grouping.classes import add_up, classes_of, one_batch, one_schema, taken
from urnscan.grouping.ranges import Ranges, choose_ranges, sample
from urnscan.pool import Pool
from urnscan.tables.spill import RowsOnDisk
from urnscan.urn.syntax import Syntax

_CHUNK = 16 << 20  # octets of rows that are parted by ranges at once: the share of a thread
_SLICE = 8 << 20  # octets of rows of neighbouring ranges that are added up at once
_FIRST = 128 << 20  # octets of rows by which ranges are chosen
_RANGES = 256
_RANGE = 1 << 20  # octets of rows in a range, where all rows are here before ranges are chosen
_SAMPLE = 1 << 15  # keys, about, by which ranges are chosen
_TRIED = 16  # one slice of so many is added up first: it tells whether that saves memory

_Cut = tuple[int, int]
"""Neighbouring ranges: the first one, and the one behind the last one."""


# Not left to DuckDB: a whole run with 12.4 million occurrences, nearly all different, takes 7 to 8 s and 1.4 GB. With
# DuckDB 2.0, scanning and grouping alone took 24.5 s and 2.2 GB, with its memory limit set to 1 GB.
@dataclass(eq=False)
class Grouping:
    """Takes occurrences in the order of the inputs, and gives classes in the order of their keys.

    About `memory` octets of rows stay in memory; more are spilled to files in the folder that `spill_folder` returns.
    The threads of `pool` do the work.
    """

    memory: int
    pool: Pool
    spill_folder: Callable[[], Path]
    ranges: Ranges | None = None
    """None: the first rows decide them."""

    def __post_init__(self) -> None:
        # In each thread, parting takes twice the octets of its rows, and adding up five times. Rows that wait have the rest.
        share = self.memory // (16 * self.pool.jobs)
        self._chunk_octets = min(_CHUNK, max(_CHUNK // 4, share))
        self._slice_octets = min(_SLICE, max(_SLICE // 4, share))
        self._large_octets = max(_SLICE, share)
        self._is_part = self.ranges is not None
        self._rows: list[pa.RecordBatch] = []
        self._octets = 0
        self._futures: deque[Future[_Chunk]] = deque()
        self._chunks: list[_Chunk | _Spilled] = []
        self._in_memory = 0
        self._try_past = self.memory // 8

    def add(self, rows: pa.RecordBatch) -> None:
        """Take the next batch of SINGLE or PARTIAL rows, in the order of the inputs."""
        self._rows.append(rows)
        self._octets += rows.nbytes
        if self._octets >= (min(_FIRST, self.memory // 8) if self.ranges is None else self._chunk_octets):
            self._order_rows(_RANGES)

    def complete(self) -> int:
        """Part the last rows, after the last `add`; returns the total that `on_rows` of `classes` will reach."""
        self._order_rows(min(_RANGES, self._octets // _RANGE + 1))
        while self._futures:
            self._take_chunk()
        return _count(self._chunks, (0, len(self.ranges or Ranges())))

    def classes(
        self,
        finish: Callable[[pa.RecordBatch], pa.RecordBatch],
        on_rows: Callable[[int], object] = lambda _: None,
        syntax: Syntax | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """All classes, sorted by `urn` in the order of octets. Call it once, after the last `add`.

        `finish` is called in the threads with each batch of GROUPED rows, and its results are returned. `on_rows` is
        called with the number of rows that were finished since its last call. Spellings are looked at by the syntax, if
        there is one.
        """
        self.complete()
        chunks, self._chunks = self._chunks, []
        ranges = self.ranges or Ranges()
        octets = _range_octets(chunks, ranges)

        def is_large(cut: _Cut) -> bool:
            # A part of which all rows came into one range would only be parted again in the same way.
            can_be_parted = not ranges.is_single(cut[0]) and not (self._is_part and len(ranges) == 1)
            return can_be_parted and int(octets[slice(*cut)].sum()) > 2 * self._large_octets

        for large, cuts in itertools.groupby(_cuts(octets, self._slice_octets), is_large):
            if large:
                for cut in cuts:
                    part = self._part(chunks, cut)
                    on_rows(_count(chunks, cut) - part.complete())  # rows that are gone, as the part was added up early
                    yield from part.classes(finish, on_rows, syntax)
            else:
                for cut, rows in self.pool.results(
                    "classes", lambda cut: (cut, finish(classes_of(self._added(chunks, ranges, cut), syntax))), cuts
                ):
                    yield rows
                    on_rows(_count(chunks, cut))
        for chunk in chunks:
            if isinstance(chunk, _Spilled):
                chunk.close()

    def _order_rows(self, most_ranges: int) -> None:
        """Have the waiting rows parted by ranges; choose the ranges first, if there are none."""
        rows, self._rows, self._octets = self._rows, [], 0
        ranges = self.ranges or _choose_ranges(rows, sum(batch.num_rows for batch in rows), most_ranges)
        self.ranges = ranges
        for batches in _packed(rows, self._chunk_octets):
            while len(self._futures) >= self.pool.jobs:
                self._take_chunk()
            self._futures.append(self.pool.submit("ranges", lambda some: _Chunk(one_batch(some), ranges), batches))

    def _take_chunk(self) -> None:
        chunk = self._futures.popleft().result()
        self._chunks.append(chunk)
        self.pool.timings.count("ranges", _count([chunk], (0, len(self.ranges or Ranges()))))
        self._in_memory += int(chunk.octets.sum())
        if self._in_memory > self._try_past:
            self._make_room()

    def _make_room(self) -> None:
        """Add up the rows in memory, if less than half would be left. Spill all of them, if they still take too much."""
        ranges = self.ranges or Ranges()
        spilled = [chunk for chunk in self._chunks if isinstance(chunk, _Spilled)]
        chunks = [chunk for chunk in self._chunks if isinstance(chunk, _Chunk)]
        octets = _range_octets(chunks, ranges)
        cuts = list(_cuts(octets, self._slice_octets))
        some = cuts[_TRIED // 2 :: _TRIED] or cuts[:1]
        tried = [next(_packed(_between(chunks, cut), self._slice_octets), []) for cut in some]
        before = sum(rows.nbytes for batches in tried for rows in batches)
        after = sum(rows.nbytes for rows in self.pool.results("classes", add_up, tried))
        if 2 * after < before:
            added = self.pool.results(
                "classes", lambda cut: _Chunk(self._added(chunks, ranges, cut), ranges, is_sorted=True), cuts
            )
            chunks = list(added)
            self._in_memory = sum(int(chunk.octets.sum()) for chunk in chunks)
        if self._in_memory > self.memory // 4 * 3:
            spilled.append(_Spilled(chunks, ranges, self.spill_folder()))
            chunks = []
            self._in_memory = 0
        self._chunks = [*spilled, *chunks]
        self._try_past = min(max(self.memory // 8, 2 * self._in_memory), self.memory // 4 * 3)

    def _part(self, chunks: Sequence[_Chunk | _Spilled], cut: _Cut) -> Grouping:
        """A grouping of the rows in a range, with ranges of its own."""
        ranges = _choose_ranges(_between(chunks, cut), _count(chunks, cut), _RANGES)
        part = Grouping(self.memory // 4, self.pool, self.spill_folder, ranges)
        for rows in _between(chunks, cut):
            part.add(rows)
        return part

    def _added(self, chunks: Sequence[_Chunk | _Spilled], ranges: Ranges, cut: _Cut) -> pa.RecordBatch:
        """The rows of neighbouring ranges, added up; in steps if they are many."""
        shared = ranges.shared(*cut)
        batches: list[pa.RecordBatch] = []
        octets, most = 0, 2 * self._slice_octets
        for rows in _between(chunks, cut):
            batches.append(rows)
            octets += rows.nbytes
            if octets > most:
                batches = [add_up(batches, shared)]
                octets = batches[0].nbytes
                most = max(most, 2 * octets)
        return add_up(batches, shared)


class _Chunk:
    """Rows in memory, range by range."""

    def __init__(self, rows: pa.RecordBatch, ranges: Ranges, *, is_sorted: bool = False) -> None:
        order, begins = ranges.order(*octet_strings(rows.column("urn")))
        if not is_sorted and len(ranges) > 1:
            rows = taken(rows, order)
        self._rows = rows
        self._begins = begins
        strings = [octet_strings(rows.column(name))[1] for name in ("urn", "text")]
        width = rows.nbytes - sum(int(offsets[-1] - offsets[0]) for offsets in strings)
        self.octets: Integers = np.diff(begins) * (width // max(rows.num_rows, 1))
        """Octets of rows in each range, about."""
        for offsets in strings:
            self.octets += np.diff(offsets.astype(np.int64)[begins])

    def rows(self, cut: _Cut) -> int:
        """Number of rows in these ranges."""
        return int(self._begins[cut[1]] - self._begins[cut[0]])

    def between(self, cut: _Cut) -> Iterator[pa.RecordBatch]:
        """The rows in these ranges."""
        if rows := self.rows(cut):
            yield self._rows.slice(self._begins[cut[0]], rows)


class _Spilled:
    """Rows on disk, range by range."""

    def __init__(self, chunks: Sequence[_Chunk], ranges: Ranges, folder: Path) -> None:
        """Write the rows of the chunks to a file in the folder. Raises FatalError."""
        self.octets = _range_octets(chunks, ranges)
        self._rows = np.array([sum(chunk.rows((i, i + 1)) for chunk in chunks) for i in range(len(ranges))])
        self._first = np.zeros(len(ranges) + 1, np.int64)  # number of the first batch of each range
        schema = one_schema(rows.schema for rows in _between(chunks, (0, len(ranges))))
        self._on_disk = RowsOnDisk(schema, folder)
        for i in range(len(ranges)):
            for batches in _packed(_between(chunks, (i, i + 1)), _SLICE):
                self._on_disk.append(one_batch(batches, schema))
            self._first[i + 1] = self._on_disk.count
        self._on_disk.complete()

    def rows(self, cut: _Cut) -> int:
        """Number of rows in these ranges."""
        return int(self._rows[slice(*cut)].sum())

    def between(self, cut: _Cut) -> Iterator[pa.RecordBatch]:
        """The rows in these ranges. Raises FatalError."""
        return self._on_disk.batches(*self._first[[*cut]].tolist())

    def close(self) -> None:
        """Remove the file."""
        self._on_disk.close()


def _count(chunks: Iterable[_Chunk | _Spilled], cut: _Cut) -> int:
    """Number of rows in some ranges."""
    return sum(chunk.rows(cut) for chunk in chunks)


def _between(chunks: Iterable[_Chunk | _Spilled], cut: _Cut) -> Iterator[pa.RecordBatch]:
    """The rows in some ranges, in the order of the inputs. Raises FatalError."""
    for chunk in chunks:
        yield from chunk.between(cut)


def _choose_ranges(batches: Iterable[pa.RecordBatch], rows: int, most: int) -> Ranges:
    """Choose about `most` ranges by a sample of these rows."""
    every = rows // _SAMPLE + 1
    keys = [key for batch in batches for key in sample(*octet_strings(batch.column("urn")), every)]
    return choose_ranges(keys, most)


def _range_octets(chunks: Sequence[_Chunk | _Spilled], ranges: Ranges) -> Integers:
    """Octets of rows in each range, about."""
    return sum((chunk.octets for chunk in chunks), np.zeros(len(ranges), np.int64))


def _cuts(octets: Integers, most: int) -> Iterator[_Cut]:
    """Neighbouring ranges with at most `most` octets of rows, or a single one with more; empty ranges are left out."""
    ends = np.cumsum(octets)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        if ends[last - 1] > before:
            yield first, last
        first = last


def _packed(batches: Iterable[pa.RecordBatch], octets: int) -> Iterator[list[pa.RecordBatch]]:
    """Batches in lists of at least `octets` each."""
    together: list[pa.RecordBatch] = []
    held = 0
    for rows in batches:
        together.append(rows)
        held += rows.nbytes
        if held >= octets:
            yield together
            together, held = [], 0
    if together:
        yield together
