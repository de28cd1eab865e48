"""Partial rows of several workers: they are exchanged as rows with the names of their sources, and become classes at last."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import number_array, numbers, text_array
from urnscan.grouping.classes import add_up
from urnscan.pool import Pool
from urnscan.run.groupings import groupings
from urnscan.run.options import Options
from urnscan.tables.rows import class_rows
from urnscan.tables.schemas import PARTIAL
from urnscan.urn.syntax import get_syntax

ROWS = 1 << 18
"""Rows that are added up at once."""

NAMED_PARTIAL = PARTIAL.append(pa.field("source", pa.string()))
"""PARTIAL with the name of the first source."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


class Sums:
    """Adds up rows in input order, so that fewer are exchanged."""

    def __init__(self) -> None:
        self._waiting: list[pa.RecordBatch] = []
        self._names: dict[int, str] = {}
        self._rows = 0

    def add(self, rows: pa.RecordBatch, names: Mapping[int, str]) -> Iterator[pa.RecordBatch]:
        """Add SINGLE rows; gives NAMED_PARTIAL rows when many wait. `names` has the names of the inputs."""
        self._waiting.append(rows)
        self._names.update(names)
        self._rows += rows.num_rows
        if self._rows > ROWS:
            self._waiting = [add_up(self._waiting)]
            self._rows = self._waiting[0].num_rows
            if self._rows > ROWS // 2:  # mostly different classes: waiting longer would hardly make them fewer
                yield from self.end()

    def end(self) -> Iterator[pa.RecordBatch]:
        """Give all rows that wait."""
        if not self._rows:
            return
        rows = self._waiting[0] if self._is_added else add_up(self._waiting)
        source = rows.column("first_source").dictionary_encode()
        names = text_array([self._names[place] for place in source.dictionary.to_pylist()]).take(source.indices)
        self._waiting, self._rows = [], 0
        self._names.clear()
        yield pa.RecordBatch.from_arrays([*rows.columns, names], schema=NAMED_PARTIAL)

    @property
    def _is_added(self) -> bool:
        return len(self._waiting) == 1 and self._waiting[0].schema.equals(PARTIAL)


def classes_of_partial(
    batches: Iterable[pa.RecordBatch], options: Options, memory: int, jobs: int = 1
) -> Iterator[pa.RecordBatch]:
    """NAMED_PARTIAL rows in the order of the inputs -> CLASSES rows; with about `memory` octets of rows in memory."""
    names: dict[int, str] = {}
    with contextlib.ExitStack() as stack:
        grouping = groupings(stack.enter_context(Pool(jobs)), None, stack)(memory)
        for rows in batches:
            place, source = numbers(rows.column("first_source")), rows.column("source")
            heads = np.flatnonzero(numbers(rows.column("sources")))
            places, first = np.unique(place[heads], return_index=True)
            names.update(zip(places.tolist(), source.take(number_array(heads[first])).to_pylist(), strict=True))
            grouping.add(rows.select(PARTIAL.names))
        yield from grouping.classes(
            lambda grouped: class_rows(grouped, names, options.level), syntax=get_syntax(options.syntax)
        )


def packed(batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None) -> bytes:
    """One buffer of the rows, which have one schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema or batches[0].schema, options=_COMPRESSED) as writer:
        for rows in batches:
            writer.write_batch(rows)
    octets: bytes = sink.getvalue().to_pybytes()
    return octets


def unpacked(buffer: bytes) -> list[pa.RecordBatch]:
    """The rows of a buffer."""
    with pa.ipc.RecordBatchStreamReader(pa.py_buffer(buffer)) as reader:
        return list(reader)
