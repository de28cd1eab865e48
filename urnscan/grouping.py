"""Occurrences to equivalence classes, out of core. What a class is, is said here and nowhere else.

A *partial* row (`tables.PARTIAL`) says what is known so far of one spelling of one class. An occurrence is a partial row; partial rows
of the same spelling add up to one, whatever the order of adding up, so that runs of rows can be sorted and added up by
threads, spilled, cut at the same keys, and added up again. `sources` of a class, `first_…` and `last_source` stand in
the first of its rows, the others of it have 0 sources.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrow import number_array, numbers, octet_strings, string_array
from urnscan.compiled import compiled, read_only
from urnscan.errors import FatalError
from urnscan.strings import Integers, Octets, Offsets, Rows, argsort_pairs, compare, cut, same
from urnscan.tables import GROUPED, PARTIAL

__all__ = ["MOST_VARIANTS", "Grouping", "group"]

MOST_VARIANTS = 100
"""How many spellings of a class are listed."""

_RUN = 32 << 20  # octets of partial rows that are sorted at once: a thread's share
_BLOCK = 1024  # rows of a spilled run that are read at once; a slice reads up to two of each run in vain
_BLOCK_OCTETS = 1 << 16
_MOST_OCTETS = 1 << 31  # offsets are 32 bits wide
_KEY = 1024  # octets of a key by which runs are cut
_SLICE = 1 << 23  # octets of strings that are added up at once in the end


class Grouping:
    """Takes occurrences in the order of the inputs and gives their classes in the order of their keys.

    `memory` is how many octets of partial rows may wait in memory before they are spilled to files in a folder that
    `spill_folder` is asked for once, when it is needed first. The work is done by `executor`, `jobs` threads.
    """

    def __init__(self, memory: int, jobs: int, executor: Executor, spill_folder: Callable[[], Path]) -> None:
        # What is being sorted takes three times its octets in each thread, and the allocator keeps some of what is free.
        self._run_octets = min(_RUN, max(_RUN // 4, memory // (16 * jobs)))
        self._waiting_octets = memory // 4
        self._jobs = jobs
        self._executor = executor
        self._spill_folder = spill_folder
        self._folder: Path | None = None
        self._rows: list[pa.RecordBatch] = []
        self._octets = 0
        self._sorting: deque[Future[pa.RecordBatch]] = deque()
        self._runs: list[_Run] = []
        self._in_memory = 0

    def add(self, rows: pa.RecordBatch) -> None:
        """Take a batch of PARTIAL rows that follows those before it in the order of the inputs."""
        self._rows.append(rows)
        self._octets += rows.nbytes
        if self._octets >= self._run_octets:
            self._start_run()

    def classes(self, finish: Callable[[pa.RecordBatch], pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """All classes, sorted by `urn` in the order of octets: batches of GROUPED rows as `finish` makes of them, in
        the threads. Once, after the last add.
        """
        self._start_run()
        while self._sorting:
            self._end_run()
        runs, self._runs = self._runs, []
        slices = _slices(runs)
        working: deque[Future[pa.RecordBatch]] = deque()
        for cuts in slices:
            working.append(self._executor.submit(lambda cuts: finish(_group_slice(runs, cuts)), cuts))
            if len(working) > self._jobs:
                yield working.popleft().result()
        while working:
            yield working.popleft().result()
        for run in runs:
            run.drop()

    def _start_run(self) -> None:
        if not self._rows:
            return
        while len(self._sorting) >= self._jobs:
            self._end_run()
        self._sorting.append(self._executor.submit(_add_up, self._rows))
        self._rows, self._octets = [], 0

    def _end_run(self) -> None:
        rows = self._sorting.popleft().result()
        self._runs.append(_Run(rows))
        self._in_memory += rows.nbytes
        if self._in_memory > self._waiting_octets:
            if self._folder is None:
                self._folder = self._spill_folder()
            for number, run in enumerate(self._runs):
                run.spill(self._folder / f"run-{number}.arrow")
            self._in_memory = 0


def group(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The classes of PARTIAL rows that fit in memory, as GROUPED rows: for an engine that brings rows of one key together."""
    return _classes(_add_up(batches))


class _Run:
    """Partial rows that are added up and sorted, in memory or spilled, in blocks."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        self._rows: pa.RecordBatch | None = rows
        self._file: Path | None = None
        self._starts, self.octets = _blocks(rows)
        """`octets`: how many the strings of each block have."""
        heads = rows.column("urn").take(number_array(np.array(self._starts[:-1], np.int64)))
        self.keys: list[str] = pc.utf8_slice_codeunits(heads, 0, _KEY).to_pylist()
        """The beginning of the key of the first row of each block; a key comes before such a beginning, or does not,
        just as its own beginning does.
        """

    def spill(self, file: Path) -> None:
        """Move the rows to a file, where they are not there already."""
        if self._rows is None:
            return
        try:
            with pa.ipc.new_file(file, PARTIAL) as writer:
                for block in range(len(self.keys)):
                    writer.write_batch(self._slice(self._rows, block, block + 1))
        except OSError as error:
            raise FatalError(f"{file.parent}: cannot hold what is spilled: {error}") from error
        self._rows, self._file = None, file

    def between(self, low: str | None, high: str | None) -> list[pa.RecordBatch]:
        """The rows with `low` <= urn < `high`; None is no bound."""
        # Rows of one key may begin in the block before the first that begins with it.
        first = max(0, bisect_left(self.keys, low) - 1) if low is not None else 0
        last = bisect_left(self.keys, high) if high is not None else len(self.keys)
        blocks = self._blocks(first, last)
        if not blocks:
            return []
        batch = _one(blocks)
        octets, offsets = octet_strings(batch.column("urn"))
        start = _lower_bound(octets, offsets, _octets(low)) if low is not None else 0
        end = _lower_bound(octets, offsets, _octets(high)) if high is not None else batch.num_rows
        return [batch.slice(start, end - start)] if end > start else []

    def drop(self) -> None:
        """Give back what the rows take."""
        self._rows = None
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _blocks(self, first: int, last: int) -> list[pa.RecordBatch]:
        if self._rows is not None:
            return [self._slice(self._rows, first, last)]
        with pa.OSFile(str(self._file)) as file, pa.ipc.open_file(file) as reader:
            return [reader.get_batch(number) for number in range(first, last)]

    def _slice(self, rows: pa.RecordBatch, first: int, last: int) -> pa.RecordBatch:
        return rows.slice(self._starts[first], self._starts[last] - self._starts[first])


def _blocks(rows: pa.RecordBatch) -> tuple[list[int], list[int]]:
    """Where blocks begin, and where the last ends: after _BLOCK rows, or with the row that makes _BLOCK_OCTETS full.

    And how many octets the strings of each block have.
    """
    ends = np.cumsum(np.diff(octet_strings(rows.column("urn"))[1]) + np.diff(octet_strings(rows.column("text"))[1]))
    starts, octets = [0], []
    while starts[-1] < rows.num_rows:
        start = starts[-1]
        before = int(ends[start - 1]) if start else 0
        full = int(np.searchsorted(ends, before + _BLOCK_OCTETS)) + 1
        starts.append(min(start + _BLOCK, full, rows.num_rows))
        octets.append(int(ends[starts[-1] - 1]) - before)
    return starts, octets


def _slices(runs: Sequence[_Run]) -> Iterator[tuple[str | None, str | None]]:
    """Keys that cut all runs into slices of about _SLICE octets, each [from, to); rows of one key stay together."""
    blocks = sorted((key, octets) for run in runs for key, octets in zip(run.keys, run.octets, strict=True))
    low, total = None, 0
    for high, octets in blocks:
        if total >= _SLICE and high != low:
            yield low, high
            low, total = high, 0
        total += octets
    if blocks:
        yield low, None


def _group_slice(runs: Sequence[_Run], cuts: tuple[str | None, str | None]) -> pa.RecordBatch:
    rows = [part for run in runs for part in run.between(*cuts)]
    # A single run is added up already.
    return _classes(rows[0] if len(rows) == 1 else _add_up(rows))


def _add_up(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Partial rows, in the order of the inputs, added up: one row for each spelling, sorted by class, then text."""
    rows = _one(batches)
    urn, text = octet_strings(rows.column("urn")), octet_strings(rows.column("text"))
    first_source, last_source = numbers(rows.column("first_source")), numbers(rows.column("last_source"))
    order = argsort_pairs(len("urn:"), *urn, *text)
    urn, text = _take(urn, order), _take(text, order)  # neighbours are compared faster where they lie side by side
    spellings, counts, sources, first_rows, last_sources = _sums(
        order, *urn, *text, numbers(rows.column("count")), numbers(rows.column("sources")), first_source, last_source
    )
    every = len(spellings) == len(order)
    return pa.RecordBatch.from_arrays(
        [
            string_array(*(urn if every else _take(urn, spellings))),
            string_array(*(text if every else _take(text, spellings))),
            number_array(counts),
            number_array(sources),
            number_array(first_source[first_rows]),
            number_array(last_sources),
            rows.column("first_member").take(number_array(first_rows)),
            number_array(numbers(rows.column("first_offset"))[first_rows]),
        ],
        schema=PARTIAL,
    )


def _classes(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The classes of partial rows that are added up."""
    starts = np.flatnonzero(numbers(rows.column("sources")))
    counts = numbers(rows.column("count"))
    urn, text = octet_strings(rows.column("urn")), octet_strings(rows.column("text"))
    heads = rows if len(starts) == rows.num_rows else rows.take(number_array(starts))
    bounds = np.append(starts, rows.num_rows)
    listed, list_offsets = _list_variants(bounds, counts, *urn, *text)
    variants = pa.StructArray.from_arrays(
        [_take_texts(urn, text, listed), number_array(counts[listed])],
        fields=list(GROUPED.field("variants").type.value_type),
    )
    return pa.RecordBatch.from_arrays(
        [
            heads.column("urn"),
            number_array(np.add.reduceat(counts, starts)),
            heads.column("sources"),
            number_array(np.diff(bounds)),
            pa.ListArray.from_arrays(number_array(list_offsets), variants, type=GROUPED.field("variants").type),
            heads.column("first_source"),
            heads.column("first_member"),
            heads.column("first_offset"),
        ],
        schema=GROUPED,
    )


@compiled
def _sums(
    order: Rows,
    urn: Octets,
    urn_offsets: Offsets,
    text: Octets,
    text_offsets: Offsets,
    count: Integers,
    sources: Integers,
    first_source: Rows,
    last_source: Rows,
) -> tuple[Rows, Integers, Integers, Rows, Rows]:
    """Add up rows that `order` brought together; the strings lie in that order already, the numbers do not.

    For each spelling: where it lies first, its count, and, for the first spelling of a class, the sources, the row of
    the first occurrence and the last source (for the others 0, the same row, the same).
    """
    total = len(order)
    spellings = np.empty(total, np.int32)
    counts = np.zeros(total, np.int64)
    class_of_row = np.empty(total, np.int32)
    head = np.empty(total, np.int32)  # of each spelling, the first spelling of its class
    found = 0
    for i in range(total):
        row = order[i]
        new_class = i == 0 or not same(urn, urn_offsets[i], urn_offsets[i + 1], urn, urn_offsets[i - 1], urn_offsets[i])
        if new_class or not same(
            text, text_offsets[i], text_offsets[i + 1], text, text_offsets[i - 1], text_offsets[i]
        ):
            spellings[found] = i
            head[found] = found if new_class else head[found - 1]
            found += 1
        counts[found - 1] += count[row]
        class_of_row[row] = head[found - 1]
    class_sources = np.zeros(found, np.int64)
    first_rows = np.full(found, -1, np.int32)
    last_sources = np.zeros(found, np.int32)
    # Rows stand in the order of the inputs, and so do the sources of each: two rows share the one between them or none.
    for row in range(total):
        if sources[row] > 0:
            of = class_of_row[row]
            class_sources[of] += sources[row]
            if first_rows[of] == -1:
                first_rows[of] = row
            elif last_sources[of] == first_source[row]:
                class_sources[of] -= 1
            last_sources[of] = last_source[row]
    for spelling in range(found):
        first_rows[spelling] = first_rows[head[spelling]]
        last_sources[spelling] = last_sources[head[spelling]]
    return spellings[:found].copy(), counts[:found].copy(), class_sources, first_rows, last_sources


@compiled
def _list_variants(
    bounds: Integers, counts: Integers, urn: Octets, urn_offsets: Offsets, text: Octets, text_offsets: Offsets
) -> tuple[Integers, Offsets]:
    """The rows of the listed spellings of each class, the most frequent first, then by text; and where each list begins."""
    classes = len(bounds) - 1
    listed = np.empty(bounds[classes] - bounds[0], np.int64)
    offsets = np.zeros(classes + 1, np.int32)
    used = 0
    for c in range(classes):
        start, end = bounds[c], bounds[c + 1]
        if end - start == 1:
            listed[used] = start
            used += 1
        else:
            rows = np.arange(start, end)
            # They are sorted by text, but for one that is the same as the URN and therefore empty: it finds its place.
            if text_offsets[start] == text_offsets[start + 1]:
                i = start + 1
                while (
                    i < end
                    and compare(
                        text, text_offsets[i], text_offsets[i + 1], urn, urn_offsets[start], urn_offsets[start + 1]
                    )
                    < 0
                ):
                    rows[i - start - 1] = i
                    i += 1
                rows[i - start - 1] = start
            ranked = rows[np.argsort(-counts[rows], kind="mergesort")]  # stable: by text among equals
            for i in range(min(len(ranked), MOST_VARIANTS)):
                listed[used] = ranked[i]
                used += 1
        offsets[c + 1] = used
    return listed[:used].copy(), offsets


@compiled
def _lower_bound(octets: Octets, offsets: Offsets, key: Octets) -> int:
    """The first row of a sorted column that is not less than the key."""
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high) // 2
        if compare(octets, offsets[middle], offsets[middle + 1], key, 0, len(key)) < 0:
            low = middle + 1
        else:
            high = middle
    return low


def _one(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The same partial rows in one batch."""
    rows: list[pa.RecordBatch] = pa.Table.from_batches(batches, PARTIAL).combine_chunks().to_batches()
    if not rows:
        return pa.RecordBatch.from_pylist([], PARTIAL)
    octets = sum(
        rows[0].column(name).buffers()[2].size for name in ("urn", "text") if rows[0].column(name).buffers()[2]
    )
    if len(rows) > 1 or octets >= _MOST_OCTETS:
        raise FatalError("the spellings of one name have more than 2 GiB in all; a lower --max-length cuts them")
    return rows[0]


def _take(strings: tuple[Octets, Offsets], rows: Rows | Integers) -> tuple[Octets, Offsets]:
    octets, offsets = strings
    taken, taken_offsets = cut(octets, offsets[rows], offsets[rows + 1])
    return read_only(taken), read_only(taken_offsets)


def _take_texts(urn: tuple[Octets, Offsets], text: tuple[Octets, Offsets], rows: Integers) -> pa.StringArray:
    """The spellings of these rows: the text, or the URN where that is empty."""
    lengths = np.diff(text[1])[rows]
    if not lengths.any():
        return string_array(*_take(urn, rows))
    # Both lie in one column, the texts behind the URNs.
    octets = np.concatenate([urn[0], text[0]])
    behind = np.int32(len(urn[0]))
    starts = np.where(lengths, text[1][rows] + behind, urn[1][rows])
    ends = np.where(lengths, text[1][rows + 1] + behind, urn[1][rows + 1])
    return string_array(*cut(octets, starts, ends))


def _octets(key: str) -> Octets:
    return np.frombuffer(key.encode(), np.uint8)
