"""Functions that run in executors, on batches of Arrow: tasks to results, occurrences to classes.

Each public function is an argument of `mapInArrow`: it gets the batches of a partition. Nothing here imports Spark.
"""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import number_array, text_array
from urnscan.errors import SourceError
from urnscan.grouping.classes import add_up, group
from urnscan.run.failures import Failures
from urnscan.run.options import Options
from urnscan.run.pieces import Counts, Done, Failed, Rows
from urnscan.run.tasks import Part, Sizes, Task
from urnscan.run.worker import Work, Worker
from urnscan.scanner.views import make_scanner
from urnscan.spark.frames import (
    CLASSES_HERE,
    DONE,
    FAILURE,
    OCCURRENCES_HERE,
    PLACE,
    PLACED,
    PLACED_PARTIAL,
    RAW,
    REJECTED,
    as_struct,
    plain,
)
from urnscan.tables.rows import class_rows, occurrences_in_values
from urnscan.tables.schemas import PARTIAL, SINGLE
from urnscan.tables.values import scan_values

__all__ = ["SIZES", "Wanted", "classes_of_partial", "partial_of_occurrences", "scanned_column", "scanned_tasks"]

SIZES = Sizes(part=64 << 20)
_ROWS = 1 << 17  # rows that are added up at once


@dataclass(frozen=True)
class Wanted:
    """Options of a scan, and the tables that are wanted."""

    options: Options
    tables: frozenset[str] = frozenset({"occurrences", "classes"})
    sizes: Sizes = SIZES
    folder: str = field(default_factory=os.getcwd)
    """Working folder of the driver, to which relative paths of inputs refer."""


_workers: dict[Wanted, Worker] = {}


@contextlib.contextmanager
def _worker(wanted: Wanted) -> Iterator[Worker]:
    """The worker of the partition before, if that was finished (otherwise its buffers hold texts), or a new one."""
    worker = _workers.pop(wanted, None) or Worker(
        Work(
            wanted.options,
            wanted.sizes,
            want_occurrences="occurrences" in wanted.tables,
            want_partial=True,  # has the numbers of inputs
            want_rejects="rejects" in wanted.tables,
            on_read=lambda _: None,
        )
    )
    yield worker
    _workers.clear()  # keep the buffers of one worker only
    _workers[wanted] = worker


def scanned_tasks(batches: Iterable[pa.RecordBatch], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """TASKS rows -> RAW rows."""
    with contextlib.suppress(OSError):  # without the folder, each input at a relative path fails
        os.chdir(wanted.folder)
    with _worker(wanted) as worker:
        for batch in batches:
            for first, pickled in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                # Pickled by the driver, which may run any code here.
                yield from _scanned(first, pickle.loads(pickled), worker, wanted)  # noqa: S301


def _scanned(first: int, some: Sequence[Task], worker: Worker, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    sums = _Sums()
    for number, task in enumerate(some, first):
        raw = _Raw(number)
        told: list[SourceError] = []
        failures = Failures(told, lambda _: None, strict=False)
        place = task.place if isinstance(task, Part) else None
        counts, lines = Counts(), 0
        for piece in worker.work(task):
            match piece:
                case Failed():
                    failures.add(piece.place, piece.name, piece.error, is_part=place is not None)
                case Done():
                    counts, lines = counts + piece.counts, piece.lines
                case Rows():
                    counts += piece.counts
                    if piece.occurrences is not None and piece.partial is not None:
                        more = {"input": piece.partial.column("first_source")}
                        yield raw.rows("occurrence", plain(piece.occurrences, PLACED, more))
                    if piece.rejects is not None:
                        yield raw.rows("reject", plain(piece.rejects, REJECTED))
                    if piece.partial is not None and "classes" in wanted.tables:
                        for rows in sums.add(piece.partial, piece.names, (number, raw.count)):
                            yield raw.rows("partial", rows)
        failures.finish()
        if told:
            yield raw.rows("failure", _batch(((place, each.source, each.reason) for each in told), FAILURE))
        yield raw.rows("done", _batch([(place, *astuple(counts), lines)], DONE))
    for rows in sums.end():
        yield raw.rows("partial", rows)


class _Raw:
    """Makes the RAW rows of one task."""

    def __init__(self, task: int) -> None:
        self._task = task
        self.count = 0

    def rows(self, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        """RAW rows that have only the struct `name`."""
        total = rows.num_rows
        columns = {
            "task": number_array(np.full(total, self._task, np.int64)),
            "row": number_array(np.arange(self.count, self.count + total)),
            name: as_struct(rows),
        }
        self.count += total
        return pa.RecordBatch.from_arrays(
            [columns[field.name] if field.name in columns else pa.nulls(total, field.type) for field in RAW],
            schema=RAW,
        )


class _Sums:
    """Adds up the rows of a partition, in input order, so that fewer rows are exchanged."""

    def __init__(self) -> None:
        self._waiting: list[pa.RecordBatch] = []
        self._names: dict[int, str] = {}
        self._rows = 0
        self._at = (0, 0)

    def add(self, rows: pa.RecordBatch, names: Mapping[int, str], at: tuple[int, int]) -> Iterator[pa.RecordBatch]:
        """Add SINGLE rows; gives PLACED_PARTIAL rows when many wait.

        `names` has the names of the inputs, `at` is the task and the row of the last of the rows.
        """
        self._waiting.append(rows)
        self._names.update(names)
        self._rows += rows.num_rows
        self._at = at
        if self._rows > _ROWS:
            self._waiting = [add_up(self._waiting)]
            self._rows = self._waiting[0].num_rows
            if self._rows > _ROWS // 2:  # mostly different classes: waiting longer would hardly make them fewer
                yield from self.end()

    def end(self) -> Iterator[pa.RecordBatch]:
        """Give all rows that wait."""
        if not self._rows:
            return
        rows = add_up(self._waiting)
        total = rows.num_rows
        source = rows.column("first_source").dictionary_encode()
        names = text_array([self._names[place] for place in source.dictionary.to_pylist()])
        more = {
            "source": names.take(source.indices),
            "task": number_array(np.full(total, self._at[0], np.int64)),
            "row": number_array(np.full(total, self._at[1], np.int64)),
        }
        self._waiting, self._rows = [], 0
        self._names.clear()
        yield plain(rows, PLACED_PARTIAL, more)


def partial_of_occurrences(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """PLACED rows in the order of their places -> PLACED_PARTIAL rows."""
    sums = _Sums()
    for batch in batches:
        if not batch.num_rows:
            continue
        urn, text, place = (batch.column(name) for name in ("urn", "text", "place"))
        source, last = pc.struct_field(place, "input"), place[-1].as_py()
        single = {
            "text": pc.if_else(pc.equal(urn, text), "", text),
            "first_source": source,
            "first_member": batch.column("member"),
            "first_offset": batch.column("offset"),
        }
        names = dict(zip(source.to_pylist(), batch.column("source").to_pylist(), strict=True))
        yield from sums.add(plain(batch, SINGLE, single), names, (last["task"], last["row"]))
    yield from sums.end()


def classes_of_partial(batches: Iterable[pa.RecordBatch], options: Options) -> Iterator[pa.RecordBatch]:
    """PLACED_PARTIAL rows, sorted by `urn`, `task` and `row`, those of a class in one partition -> CLASSES rows."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        urn = batch.column("urn")
        ended = batch.num_rows and batch.num_rows - pc.sum(pc.equal(urn, urn[-1])).as_py()
        waiting.append(batch.slice(0, ended) if ended else batch)
        if ended:  # the last class may go on in the next batch
            yield _classes(waiting, options)
            waiting = [batch.slice(ended)]
    if any(batch.num_rows for batch in waiting):
        yield _classes(waiting, options)


def _classes(batches: Sequence[pa.RecordBatch], options: Options) -> pa.RecordBatch:
    rows = pa.Table.from_batches(batches)
    heads = rows.filter(pc.greater(rows["sources"], 0))
    names = dict(zip(heads["first_source"].to_pylist(), heads["source"].to_pylist(), strict=True))
    grouped = group([plain(batch, PARTIAL) for batch in batches if batch.num_rows])
    return plain(class_rows(grouped, names, options.syntax, options.level), CLASSES_HERE)


def scanned_column(
    batches: Iterable[pa.RecordBatch], options: Options, kept: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Scan the first column of rows; gives OCCURRENCES_HERE rows with the columns `kept`. The last column numbers rows."""
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
            found = occurrences_in_values(hits, member, options.level)
            place = pa.StructArray.from_arrays(
                [number, number_array(np.arange(count, count + total)), number_array(np.zeros(total, np.int32))],
                fields=list(PLACE),
            )
            count += total
            occurrences = plain(found, OCCURRENCES_HERE, {"place": place})
            yield pa.RecordBatch.from_arrays(
                [*occurrences.columns, *(batch.column(1 + number).take(rows) for number in range(len(kept)))],
                names=[*occurrences.schema.names, *kept],
            )


def _batch(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
