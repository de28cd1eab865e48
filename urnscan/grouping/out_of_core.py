"""Occurrences -> equivalence classes. Rows that do not fit in memory are spilled to files.

Each batch of rows is split by ranges of keys on arrival, but not sorted. At the end, the ranges are sorted and added up
(`classes.py`) in order, so most rows are sorted once. Spilled files store rows range by range. A range that is too
large to be sorted at once is grouped again in the same way, with narrower ranges.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import byte_strings
from urnscan.compiled.bytes import Integers
from urnscan.grouping.classes import add_up, classes_of, one_batch, one_schema, take_rows
from urnscan.grouping.ranges import Ranges, choose_ranges, sample
from urnscan.pool import Pool
from urnscan.tables.spill import RowsOnDisk
from urnscan.urn.syntax import Syntax

# Bytes of rows that a thread splits by ranges at once.
_CHUNK = 16 << 20
# Bytes of rows of consecutive ranges that are added up at once.
_SLICE = 8 << 20
# Bytes of rows from which ranges are chosen.
_FIRST = 128 << 20
_RANGES = 256
# Bytes of rows in a range, if all rows have arrived before the ranges are chosen.
_RANGE = 1 << 20
# Approximate number of keys from which ranges are chosen.
_SAMPLE = 1 << 15
# One slice of 16 is added up first, as a test whether adding up saves memory.
_TRIED = 16

_Result = TypeVar("_Result")
_Span = tuple[int, int]
"""Consecutive ranges: the number of the first range, and the number after the last."""


# Not left to DuckDB: a whole run with 12.4 million occurrences, nearly all different, takes 7 to 8 s and 1.4 GB. With
# DuckDB 2.0, scanning and grouping alone took 24.5 s and 2.2 GB, with its memory limit set to 1 GB.
@dataclass(eq=False)
class Grouping:
    """Groups occurrences into classes (all spellings of one name). Occurrences are added in the order of the inputs;
    classes are yielded in the order of their canonical forms, once.

    About `memory` bytes of rows stay in memory; more rows are spilled to files in the folder that `spill_folder`
    returns. The threads of `pool` do the work.
    """

    memory: int
    pool: Pool
    spill_folder: Callable[[], Path]
    ranges: Ranges | None = None
    """The ranges of keys by which rows are split; None: ranges are chosen from the first rows, and then set here."""

    def __post_init__(self) -> None:
        # A thread needs twice the memory of its rows to split them, and five times to add them up. Pending rows get the rest.
        share = self.memory // (16 * self.pool.jobs)
        self._chunk_bytes = min(_CHUNK, max(_CHUNK // 4, share))
        self._slice_bytes = min(_SLICE, max(_SLICE // 4, share))
        self._large_bytes = max(_SLICE, share)
        self._is_nested = self.ranges is not None
        self._pending_rows: list[pa.RecordBatch] = []
        self._pending_bytes = 0
        self._futures: deque[Future[_Chunk]] = deque()
        self._chunks: list[_Chunk | _ChunkOnDisk] = []
        self._in_memory = 0
        self._try_past = self.memory // 8

    def add(self, rows: pa.RecordBatch) -> None:
        """Add the next rows, in the order of the inputs: a row for each occurrence (SINGLE), or for the sum of
        occurrences of a spelling (PARTIAL). Raises FatalError if the disk fails.
        """
        self._pending_rows.append(rows)
        self._pending_bytes += rows.nbytes
        if self._pending_bytes >= (min(_FIRST, self.memory // 8) if self.ranges is None else self._chunk_bytes):
            self._split_rows(_RANGES)

    def complete(self) -> int:
        """Split the last rows by ranges, after the last `add`; optional before `classes` and `spellings`, which call
        it. Raises FatalError if the disk fails.

        Returns the number of rows that are left to group; rows with the same spelling may already be added up. The
        numbers that `classes` or `spellings` give to `on_rows` add up to it.
        """
        self._split_rows(min(_RANGES, self._pending_bytes // _RANGE + 1))
        while self._futures:
            self._take_chunk()
        return _count(self._chunks, (0, len(self.ranges or Ranges())))

    def classes(
        self,
        finish: Callable[[pa.RecordBatch], pa.RecordBatch],
        on_rows: Callable[[int], object] = lambda _: None,
        syntax: Syntax | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield all classes in batches, sorted by the bytes of the canonical form (`urn`). May be called only once,
        after the last `add`.

        Threads call `finish` with each batch (columns of GROUPED, a row for each class), and its results are yielded.
        `on_rows` is called with the number of rows that were grouped since its last call. With a syntax, spellings are
        checked for problems. Raises FatalError if the disk fails, or the spellings of a name have more than 2 GiB.
        """
        return self.spellings(lambda rows: finish(classes_of(rows, syntax)), on_rows)

    def spellings(
        self, finish: Callable[[pa.RecordBatch], _Result], on_rows: Callable[[int], object] = lambda _: None
    ) -> Iterator[_Result]:
        """Yield all spellings in batches, sorted by class, then by text; instead of `classes`, and only once.

        Threads call `finish` with each batch (columns of PARTIAL, a row for each spelling), and its results are
        yielded; no class is split between batches. `on_rows` is called with the number of rows that were grouped since
        its last call. Raises FatalError if the disk fails, or the spellings of a name have more than 2 GiB.
        """
        self.complete()
        chunks, self._chunks = self._chunks, []
        ranges = self.ranges or Ranges()
        data = _range_bytes(chunks, ranges)

        def is_large(span: _Span) -> bool:
            # If a nested grouping has one range, splitting its rows again would have the same result.
            can_be_split = not ranges.is_single(span[0]) and not (self._is_nested and len(ranges) == 1)
            return can_be_split and int(data[slice(*span)].sum()) > 2 * self._large_bytes

        for large, spans in itertools.groupby(_spans(data, self._slice_bytes), is_large):
            if large:
                for span in spans:
                    nested = self._nested(chunks, span)
                    # The nested grouping may already have added up rows, so that fewer are left.
                    on_rows(_count(chunks, span) - nested.complete())
                    yield from nested.spellings(finish, on_rows)
            else:
                for span, result in self.pool.results(
                    "classes", lambda span: (span, finish(self._added(chunks, ranges, span))), spans
                ):
                    yield result
                    on_rows(_count(chunks, span))
        for chunk in chunks:
            if isinstance(chunk, _ChunkOnDisk):
                chunk.close()

    def _split_rows(self, most_ranges: int) -> None:
        rows, self._pending_rows, self._pending_bytes = self._pending_rows, [], 0
        ranges = self.ranges or _choose_ranges(rows, sum(batch.num_rows for batch in rows), most_ranges)
        self.ranges = ranges
        for batches in _packed(rows, self._chunk_bytes):
            while len(self._futures) >= self.pool.jobs:
                self._take_chunk()
            self._futures.append(self.pool.submit("ranges", lambda rows: _Chunk(one_batch(rows), ranges), batches))

    def _take_chunk(self) -> None:
        chunk = self._futures.popleft().result()
        self._chunks.append(chunk)
        self.pool.timings.count("ranges", _count([chunk], (0, len(self.ranges or Ranges()))))
        self._in_memory += int(chunk.byte_count.sum())
        if self._in_memory > self._try_past:
            self._make_room()

    def _make_room(self) -> None:
        """Add up the rows in memory, if a sample of them becomes less than half as large. Then spill them all, if they
        still fill more than three quarters of `memory`.
        """
        ranges = self.ranges or Ranges()
        spilled = [chunk for chunk in self._chunks if isinstance(chunk, _ChunkOnDisk)]
        chunks = [chunk for chunk in self._chunks if isinstance(chunk, _Chunk)]
        data = _range_bytes(chunks, ranges)
        spans = list(_spans(data, self._slice_bytes))
        sampled_spans = spans[_TRIED // 2 :: _TRIED] or spans[:1]
        samples = [next(_packed(_rows_of(chunks, span), self._slice_bytes), []) for span in sampled_spans]
        before = sum(rows.nbytes for batches in samples for rows in batches)
        after = sum(rows.nbytes for rows in self.pool.results("classes", add_up, samples))
        if 2 * after < before:
            added = self.pool.results(
                "classes", lambda span: _Chunk(self._added(chunks, ranges, span), ranges, is_sorted=True), spans
            )
            chunks = list(added)
            self._in_memory = sum(int(chunk.byte_count.sum()) for chunk in chunks)
        if self._in_memory > self.memory // 4 * 3:
            spilled.append(_ChunkOnDisk(chunks, ranges, self.spill_folder()))
            chunks = []
            self._in_memory = 0
        self._chunks = [*spilled, *chunks]
        self._try_past = min(max(self.memory // 8, 2 * self._in_memory), self.memory // 4 * 3)

    def _nested(self, chunks: Sequence[_Chunk | _ChunkOnDisk], span: _Span) -> Grouping:
        # `span` is a single large range of keys: it gets narrower ranges.
        ranges = _choose_ranges(_rows_of(chunks, span), _count(chunks, span), _RANGES)
        nested = Grouping(self.memory // 4, self.pool, self.spill_folder, ranges)
        for rows in _rows_of(chunks, span):
            nested.add(rows)
        return nested

    def _added(self, chunks: Sequence[_Chunk | _ChunkOnDisk], ranges: Ranges, span: _Span) -> pa.RecordBatch:
        """The rows of `span`, added up to a row for each spelling, by canonical form, then by text. `ranges`: those by
        which `chunks` were split.
        """
        shared = ranges.shared(*span)
        batches: list[pa.RecordBatch] = []
        byte_count, most = 0, 2 * self._slice_bytes
        for rows in _rows_of(chunks, span):
            batches.append(rows)
            byte_count += rows.nbytes
            if byte_count > most:
                batches = [add_up(batches, shared)]
                byte_count = batches[0].nbytes
                most = max(most, 2 * byte_count)
        return add_up(batches, shared)


class _Chunk:
    """Rows in memory, split by ranges of keys: those of a range are adjacent."""

    def __init__(self, rows: pa.RecordBatch, ranges: Ranges, *, is_sorted: bool = False) -> None:
        order, begins = ranges.order(*byte_strings(rows.column("urn")))
        if not is_sorted and len(ranges) > 1:
            rows = take_rows(rows, order)
        self._rows = rows
        self._begins = begins
        strings = [byte_strings(rows.column(name))[1] for name in ("urn", "text")]
        width = rows.nbytes - sum(int(offsets[-1] - offsets[0]) for offsets in strings)
        self.byte_count: Integers = np.diff(begins) * (width // max(rows.num_rows, 1))
        """Approximate bytes of the rows of each range."""
        for offsets in strings:
            self.byte_count += np.diff(offsets.astype(np.int64)[begins])

    def count(self, span: _Span) -> int:
        return int(self._begins[span[1]] - self._begins[span[0]])

    def rows(self, span: _Span) -> Iterator[pa.RecordBatch]:
        if count := self.count(span):
            yield self._rows.slice(self._begins[span[0]], count)


class _ChunkOnDisk:
    """Rows on disk, split by ranges of keys: those of a range are adjacent. `close` deletes them."""

    def __init__(self, chunks: Sequence[_Chunk], ranges: Ranges, folder: Path) -> None:
        self.byte_count = _range_bytes(chunks, ranges)
        self._counts = np.array([sum(chunk.count((i, i + 1)) for chunk in chunks) for i in range(len(ranges))])
        # Number of the first batch of each range.
        self._first = np.zeros(len(ranges) + 1, np.int64)
        schema = one_schema(rows.schema for rows in _rows_of(chunks, (0, len(ranges))))
        self._on_disk = RowsOnDisk(schema, folder)
        for i in range(len(ranges)):
            for batches in _packed(_rows_of(chunks, (i, i + 1)), _SLICE):
                self._on_disk.append(one_batch(batches, schema))
            self._first[i + 1] = self._on_disk.count
        self._on_disk.complete()

    def count(self, span: _Span) -> int:
        return int(self._counts[slice(*span)].sum())

    def rows(self, span: _Span) -> Iterator[pa.RecordBatch]:
        return self._on_disk.batches(*self._first[[*span]].tolist())

    def close(self) -> None:
        self._on_disk.close()


def _count(chunks: Iterable[_Chunk | _ChunkOnDisk], span: _Span) -> int:
    return sum(chunk.count(span) for chunk in chunks)


def _rows_of(chunks: Iterable[_Chunk | _ChunkOnDisk], span: _Span) -> Iterator[pa.RecordBatch]:
    for chunk in chunks:
        yield from chunk.rows(span)


def _choose_ranges(batches: Iterable[pa.RecordBatch], rows: int, most: int) -> Ranges:
    # `rows` is the number of all rows in the batches.
    every = rows // _SAMPLE + 1
    keys = [key for batch in batches for key in sample(*byte_strings(batch.column("urn")), every)]
    return choose_ranges(keys, most)


def _range_bytes(chunks: Sequence[_Chunk | _ChunkOnDisk], ranges: Ranges) -> Integers:
    return sum((chunk.byte_count for chunk in chunks), np.zeros(len(ranges), np.int64))


def _spans(byte_counts: Integers, most: int) -> Iterator[_Span]:
    """Yield spans of consecutive ranges with at most `most` bytes of rows, or of a single larger range; none without
    rows. `byte_counts`: of each range.
    """
    ends = np.cumsum(byte_counts)
    first = 0
    while first < len(ends):
        start = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, start + most, side="right")))
        if ends[last - 1] > start:
            yield first, last
        first = last


def _packed(batches: Iterable[pa.RecordBatch], byte_count: int) -> Iterator[list[pa.RecordBatch]]:
    """Yield lists of consecutive batches, all except the last with at least `byte_count` bytes."""
    pack: list[pa.RecordBatch] = []
    pack_bytes = 0
    for rows in batches:
        pack.append(rows)
        pack_bytes += rows.nbytes
        if pack_bytes >= byte_count:
            yield pack
            pack, pack_bytes = [], 0
    if pack:
        yield pack
