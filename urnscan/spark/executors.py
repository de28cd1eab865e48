"""Functions that run in executors, on batches of Arrow: from tasks to results, and from occurrences to classes.

`mapInArrow` calls the public functions with the batches of a partition. This module does not import Spark.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import platform
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import number_array
from urnscan.errors import FatalError
from urnscan.grouping.ranges import Ranges
from urnscan.run.failures import Failures
from urnscan.run.options import Options
from urnscan.run.partial_result import ROWS, Sums, classes_of_partial, names_of, packed, split_by_range, unpacked
from urnscan.run.task_results import Done, Failed, ResultRows, add_lines
from urnscan.run.tasks import FilePart, Sizes, Task
from urnscan.run.worker import Worker
from urnscan.scanner.scanners import make_scanner
from urnscan.spark import frames
from urnscan.spark.keys import SAMPLE_STEP, KeySample, sample_head
from urnscan.spark.summaries import TaskSummary
from urnscan.stores.urls import in_folder, is_url
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.rows import count_untrimmed, occurrences_in_values
from urnscan.tables.scanned_columns import scan_values
from urnscan.tables.schemas import PARTIAL, REJECTS, SINGLE, WRITTEN

SIZES = Sizes(part=16 << 20)
"""Sizes by which inputs are split into tasks: a part of a huge file has 16 MiB."""
# Maximum bytes of rows that an executor groups in memory; more rows are spilled.
_MEMORY = 256 << 20

_Blob = tuple[int, int, str, int, bytes]
"""A row of RESULTS."""


@dataclass(frozen=True)
class ScanRequest:
    """Settings of a scan for all tasks."""

    options: Options
    """The options of the scan."""
    tables: frozenset[str] = frozenset({"occurrences", "classes"})
    """Names of the tables that are made: among `occurrences`, `classes`, `rejects`."""
    sizes: Sizes = SIZES
    """Sizes of tasks, in bytes."""
    sample_step: int = SAMPLE_STEP
    """One in so many rows of counted spellings gives its key (canonical form) to the sample by which ranges of keys are
    chosen.
    """
    folder: str = field(default_factory=os.getcwd)
    """The current folder of the driver, to which relative paths of inputs refer."""


_workers: dict[ScanRequest, Worker] = {}
"""The worker of the last partition, by its request. A partition that failed leaves no worker, because its buffers are
in use.
"""


def sample_heads(
    batches: Iterable[pa.RecordBatch], request: ScanRequest, heads: Sequence[bytes]
) -> Iterator[pa.RecordBatch]:
    """Read heads (first bytes) of tasks. Yields a RESULTS row for each head: the number of bytes that were read, and a
    sample of the keys (canonical forms) in them, pickled.

    `batches` have, in the column `id`, indices in `heads`, from 0; `heads` are tasks, pickled. Changes the current
    folder of the process to that of the driver.
    """
    _prepare(request.folder)
    for (number,) in _values(batches, "id"):
        sample = sample_head(pickle.loads(heads[number]), request.options, request.sizes)  # noqa: S301 (as below)
        yield frames.batch([(number, 0, "summaries", 0, pickle.dumps(sample))], frames.RESULTS)


def scan_tasks(
    batches: Iterable[pa.RecordBatch], request: ScanRequest, partitions: Sequence[tuple[int, bytes]], ranges: Ranges
) -> Iterator[pa.RecordBatch]:
    """Scan the inputs of the tasks of partitions. Yields RESULTS rows. Inputs that fail are in the summaries.

    `batches` have, in the column `id`, indices in `partitions`, from 0; `partitions` has, for each partition, the
    number of the first task, from 0, and the tasks, pickled. `ranges` are ranges of keys (canonical forms), by which
    partial rows (counts of spellings) are split. Changes the current folder of the process to that of the driver.
    """
    _prepare(request.folder)
    # Partial rows are made in each scan, because rows of occurrences get the numbers of their inputs from them.
    tables = request.tables | {"classes"}
    worker = _workers.pop(request, None) or Worker(request.options, request.sizes, tables, lambda _: None)
    for (number,) in _values(batches, "id"):
        first, tasks = partitions[number]
        sums = _PartialSums(request.sample_step, ranges) if "classes" in request.tables else None
        # Pickled by the driver, which may run any code here.
        for blob in _scan(first, pickle.loads(tasks), worker, sums):  # noqa: S301
            yield frames.batch([blob], frames.RESULTS)
    # The buffers of other workers are released.
    _workers.clear()
    _workers[request] = worker


def _prepare(folder: str) -> None:
    """Prepare this process; `folder` is that of the driver."""
    # Without the folder, each input at a relative path fails.
    with contextlib.suppress(OSError):
        os.chdir(folder)
    # Spark calls `gc.collect` after each task. With the objects of all modules, each call would take 0.1 s.
    if not gc.get_freeze_count():
        gc.freeze()


def _scan(first: int, tasks: Sequence[Task], worker: Worker, sums: _PartialSums | None) -> Iterator[_Blob]:
    summaries = []
    for number, task in enumerate(tasks, first):
        summary = TaskSummary(number, task.place if isinstance(task, FilePart) else None)
        summaries.append(summary)
        for blob in _scan_task(summary, task, worker, sums):
            summary.blobs[blob[2]] += len(blob[-1])
            yield blob
    yield from sums.end() if sums else ()
    yield first, 0, "summaries", 0, pickle.dumps((summaries, sums.sample if sums else KeySample()))


def _scan_task(summary: TaskSummary, task: Task, worker: Worker, sums: _PartialSums | None) -> Iterator[_Blob]:
    """Scan a task, complete its summary, and yield blobs. Partial rows are added to `sums` (None without classes),
    whose blobs may have rows of earlier tasks.
    """
    failures = Failures()
    occurrences, rejects = _PendingRows(summary.task, "occurrences"), _PendingRows(summary.task, "rejects")
    for count, result in enumerate(worker.work(task)):
        match result:
            case Failed():
                failures.add(result.place, result.name, result.error, is_part=summary.part_of is not None)
            case Done():
                summary.counts += result.counts
                summary.lines = result.lines
            case ResultRows():
                summary.counts += result.counts
                if result.occurrences is not None and result.partial is not None:
                    inputs = result.partial.column("first_source")
                    yield from occurrences.add(result.occurrences.append_column("input", inputs))
                if result.rejects is not None:
                    yield from rejects.add(result.rejects)
                if result.partial is not None and sums is not None:
                    yield from sums.add(result.partial, result.names, (summary.task, count))
    failures.finish()
    summary.failures = [*failures.failures, *failures.notes]
    yield from occurrences.end()
    yield from rejects.end()


class _PendingRows:
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
        if self._rows:
            yield self._task, self._first, self._kind, 0, packed(self._batches)
            self._first += self._rows
            self._batches, self._rows = [], 0


class _PartialSums:
    """Adds up the rows of the tasks of a partition by ranges of keys. `sample`, of the keys of one in `sample_step`
    rows, is complete after `end`.
    """

    def __init__(self, sample_step: int, ranges: Ranges) -> None:
        self.sample = KeySample()
        self._sample_step = sample_step
        self._sums = Sums(ranges)
        self._at = (0, 0)

    def add(self, rows: pa.RecordBatch, names: Mapping[int, str], at: tuple[int, int]) -> Iterator[_Blob]:
        """Add SINGLE rows, and yield blobs if many are pending. `names` maps numbers of inputs to names. `at` is the
        task, and a number that increases within it.
        """
        self._at = at
        yield from starmap(self._blob, self._sums.add(rows, names))

    def end(self) -> Iterator[_Blob]:
        yield from starmap(self._blob, self._sums.end())

    def _blob(self, number: int, rows: pa.RecordBatch) -> _Blob:
        self.sample.add_rows(rows, self._sample_step, f"{self._at} {number}")
        return *self._at, "partial", number, packed([rows])


def partial_of_occurrences(batches: Iterable[pa.RecordBatch], ranges: Ranges) -> Iterator[pa.RecordBatch]:
    """Yield RESULTS rows of the kind `partial` (counts of spellings, split by ranges of keys), for SPARK_OCCURRENCES
    rows, which must be sorted by `place`.
    """
    sums = _PartialSums(SAMPLE_STEP, ranges)
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
        for blob in sums.add(frames.to_spark_types(batch, SINGLE, single), names, (last["task"], last["row"])):
            yield frames.batch([blob], frames.RESULTS)
    yield frames.batch(sums.end(), frames.RESULTS)


def sample_occurrences(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one RESULTS row: a sample of the keys (canonical forms, in the column `urn`) of the rows, pickled."""
    sample = KeySample()
    for number, batch in enumerate(batches):
        if batch.num_rows:
            sample.add_rows(batch, SAMPLE_STEP, f"{number} {batch.column('urn')[0]}")
    yield frames.batch([(0, 0, "summaries", 0, pickle.dumps(([], sample)))], frames.RESULTS)


def split_blobs(batches: Iterable[pa.RecordBatch], ranges: Ranges) -> Iterator[pa.RecordBatch]:
    """Split the rows in blobs (binary values, each with many rows) again, by other ranges of keys (canonical forms).

    `batches` are PARTIAL_BLOBS rows, and new PARTIAL_BLOBS rows are yielded.
    """
    for task, row, blob in _values(batches, "task", "row", "rows"):
        for rows in unpacked(blob):
            parts = split_by_range(rows.select(PARTIAL.names), names_of(rows), ranges)
            yield frames.batch([(number, task, row, packed([part])) for number, part in parts], frames.PARTIAL_BLOBS)


def classes_of_range(batches: Iterable[pa.RecordBatch], options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the CODED_CLASSES rows of a range of keys, sorted by name; `batches` are the PARTIAL_BLOBS rows of the
    range, sorted by `task` and `row`.
    """
    rows = chain.from_iterable(unpacked(blob) for (blob,) in _values(batches, "rows"))
    yield from classes_of_partial(rows, options, _MEMORY)


def class_rows(batches: Iterable[pa.RecordBatch], options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the SPARK_CLASSES rows of a range of keys, sorted by name; `batches` are the PARTIAL_BLOBS rows of the range,
    sorted by `task` and `row`.
    """
    for rows in classes_of_range(batches, options):
        yield frames.to_spark_types(rows, frames.SPARK_CLASSES)


def occurrence_rows(batches: Iterable[pa.RecordBatch], lines_before: Mapping[int, int]) -> Iterator[pa.RecordBatch]:
    """Yield SPARK_OCCURRENCES rows for RESULTS rows, which must all be of the kind `occurrences`.

    `lines_before`: number (from 0) of a task that is a part of a file -> number of LF bytes in earlier parts, which is
    added to `line`.
    """
    for task, first, rows in _unpack(batches, lines_before):
        place = _places(number_array(np.full(len(rows), task, np.int64)), first, rows.column("input"))
        yield frames.to_spark_types(rows, frames.SPARK_OCCURRENCES, {"place": place})


def reject_rows(batches: Iterable[pa.RecordBatch], lines_before: Mapping[int, int]) -> Iterator[pa.RecordBatch]:
    """Yield SPARK_REJECTS rows for RESULTS rows, which must all be of the kind `rejects`.

    `lines_before`: number (from 0) of a task that is a part of a file -> number of LF bytes in earlier parts, which is
    added to `line`.
    """
    for rows in table_rows(batches, lines_before, REJECTS):
        yield frames.to_spark_types(rows, frames.SPARK_REJECTS)


def _places(task: pa.Array, first: int, source: pa.Array) -> pa.StructArray:
    row = number_array(np.arange(first, first + len(task)))
    return pa.StructArray.from_arrays([task, row, source], fields=list(frames.PLACE))


def table_rows(
    batches: Iterable[pa.RecordBatch], lines_before: Mapping[int, int], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield rows of the schema, OCCURRENCES or REJECTS, for RESULTS rows, which must all be of this kind.

    `lines_before`: number (from 0) of a task that is a part of a file -> number of LF bytes in earlier parts, which is
    added to `line`.
    """
    for _, _, rows in _unpack(batches, lines_before):
        yield rows.select(schema.names)


def _unpack(
    batches: Iterable[pa.RecordBatch], lines_before: Mapping[int, int]
) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    """Yield batches of the rows in the blobs of RESULTS rows, with the number of the task, and of the first row in it.
    `lines_before` (by task) is added to `line`.
    """
    for task, row, blob in _values(batches, "task", "row", "rows"):
        first = row
        for rows in unpacked(blob):
            yield task, first, add_lines(rows, lines_before.get(task, 0))
            first += rows.num_rows


def write_file(
    batches: Iterable[pa.RecordBatch],
    rows_of: Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]],
    table: str,
    metadata: Mapping[str, Any],
    folder: str,
) -> Iterator[pa.RecordBatch]:
    """Write the rows of a partition to a Parquet file in the folder, with `metadata` in its footer, and yield a
    WRITTEN_FILES row; nothing for an empty partition. Raises FatalError if the file cannot be written.

    `rows_of` makes rows of the table `table` (a key of WRITTEN) of the blobs in `batches`. `folder` is a path or URL.
    The file name begins with the number of the first range or task; each attempt has another file name.
    """
    remaining = iter(batches)
    first = next((batch for batch in remaining if batch.num_rows), None)
    if first is None:
        return
    if not is_url(folder) and not Path(folder).is_dir():
        raise FatalError(
            f"{folder}: is not there on {platform.node()}, where an executor is to write it; name a folder that all "
            "machines share, or a URL"
        )
    name = f"{first.column(0)[0].as_py():012}-{uuid.uuid4().hex}.parquet"
    count = occurrences = untrimmed = 0
    with ParquetOutput(in_folder(folder, name), **WRITTEN[table]) as output:
        for rows in rows_of(chain([first], remaining)):
            output.write(rows)
            count += rows.num_rows
            occurrences += pc.sum(rows.column("occurrence_count")).as_py() if table == "classes" else rows.num_rows
            untrimmed += count_untrimmed(rows) if table == "classes" else 0
        output.commit(metadata)
    yield frames.batch([(name, count, occurrences, untrimmed)], frames.WRITTEN_FILES)


def _values(batches: Iterable[pa.RecordBatch], *names: str) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        for row in range(batch.num_rows):
            yield tuple(batch.column(name)[row].as_py() for name in names)


def scan_column_batches(
    batches: Iterable[pa.RecordBatch], options: Options, kept: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Scan the first column of rows. Yields SPARK_OCCURRENCES rows, with the columns `kept` added; nothing without
    occurrences. In `batches`, the columns `kept` follow the first, and the last column has the numbers of the rows.
    """
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
            rows_of_hits = occurrences_in_values(hits, options.level, scanner.grammar.syntax, member)
            place = _places(number, count, number_array(np.zeros(total, np.int32)))
            count += total
            occurrences = frames.to_spark_types(rows_of_hits, frames.SPARK_OCCURRENCES, {"place": place})
            yield pa.RecordBatch.from_arrays(
                [*occurrences.columns, *(batch.column(1 + number).take(rows) for number in range(len(kept)))],
                names=[*occurrences.schema.names, *kept],
            )
