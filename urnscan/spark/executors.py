"""Functions that run in executors, on batches of Arrow: tasks to results, occurrences to classes.

Each public function is an argument of `mapInArrow`: it gets the batches of a partition. Nothing here imports Spark.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import platform
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array
from urnscan.errors import FatalError, SourceError
from urnscan.grouping.ranges import Ranges
from urnscan.run.failures import Failures
from urnscan.run.options import Options
from urnscan.run.partial_result import ROWS, Sums, classes_of_partial, names_of, packed, parted, unpacked
from urnscan.run.task_results import Counts, Done, Failed, ResultRows, add_lines
from urnscan.run.tasks import FilePart, Sizes, Task
from urnscan.run.worker import Worker
from urnscan.scanner.scanners import make_scanner
from urnscan.spark import frames
from urnscan.spark.keys import SAMPLED, Keys, keys_of_head
from urnscan.stores.urls import in_folder, is_url
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.rows import count_untrimmed, occurrences_in_values
from urnscan.tables.scanned_columns import scan_values
from urnscan.tables.schemas import PARTIAL, REJECTS, SINGLE, WRITTEN

SIZES = Sizes(part=16 << 20)
_MEMORY = 256 << 20  # octets of rows that an executor groups in memory

_Blob = tuple[int, int, str, int, bytes]
"""A row of RAW."""


@dataclass(frozen=True)
class Wanted:
    """Options of a scan, and the tables that are wanted."""

    options: Options
    tables: frozenset[str] = frozenset({"occurrences", "classes"})
    sizes: Sizes = SIZES
    sampled: int = SAMPLED
    folder: str = field(default_factory=os.getcwd)
    """Working folder of the driver, to which relative paths of inputs refer."""


@dataclass
class Told:
    """Summary of a task, for the driver."""

    task: int
    part_of: int | None
    """Number of the file of which the task is a part."""
    failures: Sequence[SourceError] = ()
    """Failures and notes."""
    counts: Counts = field(default_factory=Counts)
    lines: int = 0
    """LF octets in a part."""
    blobs: Counter[str] = field(default_factory=Counter)
    """Octets of its blobs, by their kind; but those of `partial` are of all tasks of a partition together."""


_workers: dict[Wanted, Worker] = {}
"""The worker of the last partition, if that was finished: otherwise its buffers hold texts."""


def keys_of_heads(
    batches: Iterable[pa.RecordBatch], wanted: Wanted, heads: Sequence[bytes]
) -> Iterator[pa.RecordBatch]:
    """Numbers of heads -> RAW rows with the octets that were read of each, and keys; `heads` are tasks, pickled."""
    _begin(wanted.folder)
    for (number,) in _values(batches, "id"):
        keys = keys_of_head(pickle.loads(heads[number]), wanted.options, wanted.sizes)  # noqa: S301 (as below)
        yield frames.batch([(number, 0, "told", 0, pickle.dumps(keys))], frames.RAW)


def scanned_tasks(
    batches: Iterable[pa.RecordBatch], wanted: Wanted, planned: Sequence[tuple[int, bytes]], ranges: Ranges
) -> Iterator[pa.RecordBatch]:
    """Numbers of partitions -> RAW rows; `planned` has the number of the first task of each, and its tasks, pickled."""
    _begin(wanted.folder)
    tables = wanted.tables | {"classes"}  # their rows have the numbers of inputs
    worker = _workers.pop(wanted, None) or Worker(wanted.options, wanted.sizes, tables, lambda _: None)
    for (number,) in _values(batches, "id"):
        first, tasks = planned[number]
        sums = _Sums(wanted.sampled, ranges)
        # Pickled by the driver, which may run any code here.
        for blob in _scanned(first, pickle.loads(tasks), worker, sums if "classes" in wanted.tables else None):  # noqa: S301
            yield frames.batch([blob], frames.RAW)
    _workers.clear()  # keep the buffers of one worker only
    _workers[wanted] = worker


def _begin(folder: str) -> None:
    """Go to the folder of the driver, and spare what is loaded from `gc.collect`.

    Spark calls that after each task. It would look at all objects of all modules each time, which takes 0.1 s.
    """
    with contextlib.suppress(OSError):  # without the folder, each input at a relative path fails
        os.chdir(folder)
    if not gc.get_freeze_count():
        gc.freeze()


def _scanned(first: int, some: Sequence[Task], worker: Worker, sums: _Sums | None) -> Iterator[_Blob]:
    told = []
    for number, task in enumerate(some, first):
        told.append(Told(number, task.place if isinstance(task, FilePart) else None))
        for blob in _results(told[-1], task, worker, sums):
            told[-1].blobs[blob[2]] += len(blob[-1])
            yield blob
    yield from sums.end() if sums else ()
    yield first, 0, "told", 0, pickle.dumps((told, sums.keys if sums else Keys()))


def _results(told: Told, task: Task, worker: Worker, sums: _Sums | None) -> Iterator[_Blob]:
    """Blobs of a task, and what is told of it."""
    failures = Failures()
    occurrences, rejects = _Waiting(told.task, "occurrences"), _Waiting(told.task, "rejects")
    for count, piece in enumerate(worker.work(task)):
        match piece:
            case Failed():
                failures.add(piece.place, piece.name, piece.error, is_part=told.part_of is not None)
            case Done():
                told.counts += piece.counts
                told.lines = piece.lines
            case ResultRows():
                told.counts += piece.counts
                if piece.occurrences is not None and piece.partial is not None:
                    inputs = piece.partial.column("first_source")
                    yield from occurrences.add(piece.occurrences.append_column("input", inputs))
                if piece.rejects is not None:
                    yield from rejects.add(piece.rejects)
                if piece.partial is not None and sums is not None:
                    yield from sums.add(piece.partial, piece.names, (told.task, count))
    failures.finish()
    told.failures = [*failures.failures, *failures.notes]
    yield from occurrences.end()
    yield from rejects.end()


class _Waiting:
    """Rows of a task, until they are enough for a blob."""

    def __init__(self, task: int, kind: str) -> None:
        self._task, self._kind = task, kind
        self._batches: list[pa.RecordBatch] = []
        self._first = self._rows = 0

    def add(self, rows: pa.RecordBatch) -> Iterator[_Blob]:
        self._batches.append(rows)
        self._rows += rows.num_rows
        if self._rows > ROWS // 4:
            yield from self.end()

    def end(self) -> Iterator[_Blob]:
        """Give all rows that wait."""
        if self._rows:
            yield self._task, self._first, self._kind, 0, packed(self._batches)
            self._first += self._rows
            self._batches, self._rows = [], 0


class _Sums:
    """Adds up the rows of a partition, parts them by ranges, and samples their keys."""

    def __init__(self, sampled: int, ranges: Ranges) -> None:
        self.keys = Keys()
        self._sampled = sampled
        self._sums = Sums(ranges)
        self._at = (0, 0)

    def add(self, rows: pa.RecordBatch, names: Mapping[int, str], at: tuple[int, int]) -> Iterator[_Blob]:
        """Add SINGLE rows; gives blobs when many wait.

        `names` has the names of the inputs; `at` is the task and a number that rises in it.
        """
        self._at = at
        yield from starmap(self._blob, self._sums.add(rows, names))

    def end(self) -> Iterator[_Blob]:
        """Give all rows that wait."""
        yield from starmap(self._blob, self._sums.end())

    def _blob(self, number: int, rows: pa.RecordBatch) -> _Blob:
        self.keys.take(rows, self._sampled, f"{self._at} {number}")
        return *self._at, "partial", number, packed([rows])


def partial_of_occurrences(batches: Iterable[pa.RecordBatch], ranges: Ranges) -> Iterator[pa.RecordBatch]:
    """Rows of OCCURRENCES_HERE in the order of their places -> RAW rows, all partial."""
    sums = _Sums(SAMPLED, ranges)
    for batch in batches:
        if not batch.num_rows:
            continue
        urn, text, place = (batch.column(name) for name in ("urn", "text", "place"))
        source, last = pc.struct_field(place, "input"), place[-1].as_py()
        single = {
            "text": pc.if_else(pc.equal(urn, text), "", text),
            "first_source": source,
            "first_member": batch.column("member"),
            "first_start": batch.column("start"),
        }
        names = dict(zip(source.to_pylist(), batch.column("source").to_pylist(), strict=True))
        for blob in sums.add(frames.plain(batch, SINGLE, single), names, (last["task"], last["row"])):
            yield frames.batch([blob], frames.RAW)
    yield frames.batch(sums.end(), frames.RAW)


def keys_of_occurrences(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with a column `urn` -> RAW rows with a sample of their keys."""
    keys = Keys()
    for number, batch in enumerate(batches):
        if batch.num_rows:
            keys.take(batch, SAMPLED, f"{number} {batch.column('urn')[0]}")
    yield frames.batch([(0, 0, "told", 0, pickle.dumps(([], keys)))], frames.RAW)


def cut(batches: Iterable[pa.RecordBatch], ranges: Ranges) -> Iterator[pa.RecordBatch]:
    """CUT rows -> CUT rows of other ranges."""
    for task, row, blob in _values(batches, "task", "row", "rows"):
        for rows in unpacked(blob):
            parts = parted(rows.select(PARTIAL.names), names_of(rows), ranges)
            yield frames.batch([(number, task, row, packed([some])) for number, some in parts], frames.CUT)


def classes_of_range(batches: Iterable[pa.RecordBatch], options: Options) -> Iterator[pa.RecordBatch]:
    """CUT rows of one range, in the order of `task` and `row` -> CODED_CLASSES rows."""
    rows = chain.from_iterable(unpacked(blob) for (blob,) in _values(batches, "rows"))
    yield from classes_of_partial(rows, options, _MEMORY)


def occurrences_here(batches: Iterable[pa.RecordBatch], before: Mapping[int, int]) -> Iterator[pa.RecordBatch]:
    """RAW rows, all occurrences -> OCCURRENCES_HERE rows; `before` is that of `whole_lines`."""
    for task, first, rows in _unpacked(batches, before):
        place = _places(number_array(np.full(len(rows), task, np.int64)), first, rows.column("input"))
        yield frames.plain(rows, frames.OCCURRENCES_HERE, {"place": place})


def rejects_here(batches: Iterable[pa.RecordBatch], before: Mapping[int, int]) -> Iterator[pa.RecordBatch]:
    """RAW rows, all rejects -> REJECTED rows; `before` is that of `whole_lines`."""
    return plain(whole_lines(batches, before, REJECTS), frames.REJECTED)


def _places(task: pa.Array, first: int, source: pa.Array) -> pa.StructArray:
    """The column `place` of rows that are numbered from `first` on."""
    row = number_array(np.arange(first, first + len(task)))
    return pa.StructArray.from_arrays([task, row, source], fields=list(frames.PLACE))


def whole_lines(
    batches: Iterable[pa.RecordBatch], before: Mapping[int, int], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """RAW rows, all occurrences or all rejects -> rows of the schema, OCCURRENCES or REJECTS.

    `before` has the LF octets before a task that is a part of a file.
    """
    for _, _, rows in _unpacked(batches, before):
        yield rows.select(schema.names)


def _unpacked(
    batches: Iterable[pa.RecordBatch], before: Mapping[int, int]
) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    """The task, the number in it of the first row, and the rows, whose lines are counted from the beginning of the file."""
    for task, row, blob in _values(batches, "task", "row", "rows"):
        first = row
        for rows in unpacked(blob):
            yield task, first, add_lines(rows, before.get(task, 0))
            first += rows.num_rows


def plain(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows of a table -> rows of a schema of Spark's types."""
    for rows in batches:
        yield frames.plain(rows, schema)


def written(
    batches: Iterable[pa.RecordBatch],
    rows_of: Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]],
    table: str,
    metadata: Mapping[str, Any],
    folder: str,
) -> Iterator[pa.RecordBatch]:
    """Blobs of a partition -> their rows, written to a file in the folder, a path or URL, and a PART row about it.

    The file has the number of the first range or task in its name, and another name for each attempt. Raises FatalError.
    """
    given = iter(batches)
    begun = next((batch for batch in given if batch.num_rows), None)
    if begun is None:
        return
    if not is_url(folder) and not Path(folder).is_dir():
        raise FatalError(
            f"{folder}: is not there on {platform.node()}, where an executor is to write it: name a folder that all "
            "machines share, or a URL"
        )
    name = f"{begun.column(0)[0].as_py():012}-{uuid.uuid4().hex}.parquet"
    rows = found = untrimmed = 0
    with ParquetOutput(in_folder(folder, name), **WRITTEN[table]) as output:
        for made in rows_of(chain([begun], given)):
            output.write(made)
            rows += made.num_rows
            found += pc.sum(made.column("occurrence_count")).as_py() if table == "classes" else made.num_rows
            untrimmed += count_untrimmed(made) if table == "classes" else 0
        output.commit(metadata)
    yield frames.batch([(name, rows, found, untrimmed)], frames.PART)


def _values(batches: Iterable[pa.RecordBatch], *names: str) -> Iterator[tuple[Any, ...]]:
    """The values of these columns, row by row."""
    for batch in batches:
        for row in range(batch.num_rows):
            yield tuple(batch.column(name)[row].as_py() for name in names)


def scanned_column(
    batches: Iterable[pa.RecordBatch], options: Options, kept: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Scan the first column of rows, numbered by the last; gives OCCURRENCES_HERE rows with the columns `kept`."""
    scanner = make_scanner(options.grammar(count_lines=True), options.recover)
    count = 0
    for batch in batches:
        column = batch.schema.names[0]
        numbers_of_rows = batch.column(batch.num_columns - 1)
        for hits in scan_values(scanner, batch.column(0)):
            total = len(hits.matches)
            if not total:
                continue
            rows = number_array(hits.value)
            number = numbers_of_rows.take(rows)
            member = pc.binary_join_element_wise(number.cast(pa.string()), column, "/")
            found = occurrences_in_values(hits, options.level, scanner.grammar.syntax, member)
            place = _places(number, count, number_array(np.zeros(total, np.int32)))
            count += total
            occurrences = frames.plain(found, frames.OCCURRENCES_HERE, {"place": place})
            yield pa.RecordBatch.from_arrays(
                [*occurrences.columns, *(batch.column(1 + number).take(rows) for number in range(len(kept)))],
                names=[*occurrences.schema.names, *kept],
            )
