"""Partial rows (counts of spellings) that workers exchange: added up, split by ranges of canonical forms, packed, and
grouped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import byte_strings, number_array, numbers, text_array
from urnscan.grouping.classes import add_up, one_batch, take_rows
from urnscan.grouping.ranges import Ranges, choose_ranges, sample
from urnscan.pool import Pool
from urnscan.run.groupings import groupings
from urnscan.run.options import Options
from urnscan.tables.rows import class_rows
from urnscan.tables.schemas import NAMED_PARTIAL, PARTIAL
from urnscan.urn.syntax import get_syntax

ROWS = 1 << 18
"""Number of pending rows above which `Sums` adds them up."""

# Maximum bytes of pending rows.
_BYTES = 256 << 20
# A trial adds up one row in 16, to find out whether adding up all rows makes them fewer.
_TRIED = 16
# Keys of the sample for each sixteenth of the rows.
_KEYS = 256
# Adding up is worth its time if at most this share of the rows remains.
_FEWER = 0.9
_COMPRESSED = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1))


class Sums:
    """Splits the rows of a worker by ranges of canonical forms (keys), so that another worker can group each range.
    Each range has a number, from 0.

    If many rows have equal keys (or the rows are few), they are added up first to a row for each spelling, so that
    fewer rows are exchanged.
    """

    def __init__(self, ranges: Ranges = Ranges()) -> None:  # noqa: B008 (it is frozen)
        self._ranges = ranges
        self._pending: list[pa.RecordBatch] = []
        self._names: dict[int, str] = {}
        self._rows = self._bytes = 0

    def add(self, rows: pa.RecordBatch, names: Mapping[int, str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Add SINGLE rows (one for each occurrence), in input order; `names` maps the numbers of their inputs, from 0,
        to names. The result is a generator, so the rows are added only when it is iterated.

        Usually yields nothing. If many rows remain pending, even after rows of a name are added up, yields all pending
        rows, split by range, and forgets them.
        """
        self._pending.append(rows)
        self._names.update(names)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        if self._rows > ROWS or self._bytes > _BYTES:
            self._add_up()
            # If more than half of the rows remain, waiting for more rows would hardly make them fewer.
            if self._rows > ROWS // 2 or self._bytes > _BYTES // 2:
                yield from self.end()

    def end(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield all pending rows, and forget them: a pair (number of the range, from 0; NAMED_PARTIAL rows, with counts
        of spellings) for each range that has rows, in order.

        If many rows have equal keys, or the rows are few, they are added up first. Yields nothing if no rows are
        pending.
        """
        if not self._rows:
            return
        if len(self._pending) > 1 or not self._pending[0].schema.equals(PARTIAL):
            self._add_up()
        (rows,), names = self._pending, self._names
        self._pending, self._names = [], {}
        self._rows = self._bytes = 0
        yield from split_by_range(rows, names, self._ranges)

    def _add_up(self) -> None:
        rows = one_batch(self._pending, PARTIAL)
        rows = add_up([rows]) if _has_many_equal_keys(rows) else rows
        self._pending, self._rows, self._bytes = [rows], rows.num_rows, rows.nbytes


def _has_many_equal_keys(rows: pa.RecordBatch) -> bool:
    """Whether so many rows have equal keys that adding up saves about a tenth or more, by a trial with some of them.
    True for few rows.
    """
    if rows.num_rows < _TRIED * _KEYS:
        return True
    urns = byte_strings(rows.column("urn"))
    ranges = choose_ranges(sample(*urns, rows.num_rows // (_TRIED * _KEYS)), _TRIED)
    # A key that fills a range is the key of many rows.
    if any(map(ranges.is_single, range(len(ranges)))):
        return True
    order, begins = ranges.order(*urns)
    middle = len(ranges) // 2
    trial = take_rows(rows, order[begins[middle] : begins[middle + 1]])
    return bool(add_up([trial]).num_rows < _FEWER * trial.num_rows)


def split_by_range(
    rows: pa.RecordBatch, names: Mapping[int, str], ranges: Ranges
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Split PARTIAL rows (counts of spellings) by ranges of keys (canonical forms). Yields a pair (number of the range,
    from 0; its rows as NAMED_PARTIAL) for each range that has rows, in order.

    `names` maps the numbers of inputs, from 0, to names. If a range can have only one key (a very frequent class), its
    rows are added up to one row for each spelling.
    """
    order, begins = ranges.order(*byte_strings(rows.column("urn")))
    ordered = take_rows(rows, order) if len(ranges) > 1 else rows
    for number, (first, end) in enumerate(pairwise(begins.tolist())):
        if first < end:
            part = ordered.slice(first, end - first)
            yield number, with_names(add_up([part]) if ranges.is_single(number) else part, names)


def with_names(rows: pa.RecordBatch, names: Mapping[int, str]) -> pa.RecordBatch:
    """Return PARTIAL rows (counts of spellings) as NAMED_PARTIAL rows: with a column `source`, the name of the input
    whose number is in `first_source`. `names` maps these numbers, from 0, to names.

    Only the first row with a number gets the name. `source` is null in the other rows, and for a number that is not in
    `names`.
    """
    places, firsts = np.unique(numbers(rows.column("first_source")), return_index=True)
    index = np.full(rows.num_rows, len(places), np.int32)
    index[firsts] = np.arange(len(places))
    source = text_array([*(names.get(place) for place in places.tolist()), None]).take(number_array(index))
    return pa.RecordBatch.from_arrays([*rows.columns, source], schema=NAMED_PARTIAL)


def names_of(rows: pa.RecordBatch) -> dict[int, str]:
    """Number of an input, from 0 -> its name, for each input that has a name in the column `source` of NAMED_PARTIAL
    rows.
    """
    named = rows.filter(rows.column("source").is_valid())
    return dict(zip(named.column("first_source").to_pylist(), named.column("source").to_pylist(), strict=True))


def renumbered(rows: pa.RecordBatch, earlier: int) -> pa.RecordBatch:
    """Return the rows with `earlier` added to the numbers of inputs in the columns `first_source` and `last_source`.
    `earlier`: how many inputs come before those of the rows.
    """
    for name in ("first_source", "last_source") if earlier else ():
        index = rows.schema.get_field_index(name)
        inputs = number_array(numbers(rows.column(name)) + np.int32(earlier))
        rows = rows.set_column(index, rows.schema.field(index), inputs)
    return rows


def classes_of_partial(
    batches: Iterable[pa.RecordBatch], options: Options, memory: int, jobs: int = 1
) -> Iterator[pa.RecordBatch]:
    """Group NAMED_PARTIAL rows (counts of spellings) to classes, and yield these as batches of CODED_CLASSES rows,
    sorted by canonical form. The rows of a class must come in the order of their inputs (`first_source`), which all
    rows number in the same way; rows of different classes may come in any order.

    About `memory` bytes of rows are in memory, more are in temporary files; `jobs`: number of threads. Raises
    FatalError, when it is iterated, if the disk fails, or the spellings of a class have more than 2 GiB.
    """
    names: dict[int, str] = {}
    with contextlib.ExitStack() as stack:
        grouping = groupings(stack.enter_context(Pool(jobs)), None, stack)(memory)
        for rows in batches:
            names.update(names_of(rows))
            grouping.add(rows.select(PARTIAL.names))
        yield from grouping.classes(
            lambda grouped: class_rows(grouped, names, options.level), syntax=get_syntax(options.syntax)
        )


def packed(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None) -> bytes:
    """Return rows as bytes, a compressed stream of Arrow, for `unpacked`. All batches have the same schema; `schema` is
    required if there is no batch.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema or batches[0].schema, options=_COMPRESSED) as writer:
        for rows in batches:
            writer.write_batch(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(buffer: bytes) -> list[pa.RecordBatch]:
    """Return the batches of rows in bytes that `packed` returned."""
    with pa.ipc.RecordBatchStreamReader(pa.py_buffer(buffer)) as reader:
        return list(reader)
