"""A scan, from inputs to tables: split the work into tasks, process tasks in parallel, keep the order of the results."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import numbers
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.display.text import html_failures, html_fields
from urnscan.errors import FatalError, SourceError, SourceNote, count_in_metadata, count_of
from urnscan.grouping.by_count import by_count
from urnscan.grouping.classes import classes_of
from urnscan.grouping.out_of_core import Grouping
from urnscan.pool import Pool
from urnscan.run.failures import Failures, add_note
from urnscan.run.groupings import groupings
from urnscan.run.options import Options
from urnscan.run.partial_result import names_of, with_names
from urnscan.run.resume import Shards, stamp
from urnscan.run.task_results import Begun, Counts, Done, Failed, ResultRows, TaskResult, add_lines, bytes_of
from urnscan.run.tasks import Argument, FilePart, Sizes, Task, tasks
from urnscan.run.threads import in_order
from urnscan.run.worker import Worker
from urnscan.tables.joinable_classes import JoinableClasses
from urnscan.tables.rows import class_rows, count_untrimmed
from urnscan.urn.syntax import get_syntax

Sink = Callable[[pa.RecordBatch], None]
"""A function that gets batches of rows, in order."""

_SIZES = Sizes()
_NO_PROGRESS = Progress()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Destinations of the results of a run. Only tables that have a sink (a function for their rows) are made."""

    occurrences: Sink | None = None
    """Gets OCCURRENCES rows."""
    classes: Sink | None = None
    """Gets CODED_CLASSES rows."""
    partial: Sink | None = None
    """Gets NAMED_PARTIAL rows, one for each spelling, sorted by class, then by text."""
    frequencies: Sink | None = None
    """Gets FREQUENCIES rows, the highest count first; only instead of `classes` and `partial`."""
    rejects: Sink | None = None
    """Gets REJECTS rows."""
    names: Callable[[Sequence[str]], object] | None = None
    """Gets the names of inputs that were read, in order, some at each call, after all rows of these inputs."""
    paths: Collection[str] = ()
    """Paths and URLs that the run writes, and so must not read."""
    spill_folder: Path | None = None
    """Folder for the temporary files of grouping; None: the system's folder for temporary files."""
    shards: Shards | None = None
    """Stored results of tasks, of an earlier run (`--resume`) and of this run; None: nothing is stored."""
    pool: Pool | None = None
    """Threads for grouping, and for work of the sinks. None: the run makes `Options.jobs` threads."""

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are made, in this order: `occurrences`, `classes`, `rejects`.

        `classes` is also for `partial` and `frequencies`.
        """
        of_classes = self.classes or self.partial or self.frequencies
        sinks = {"occurrences": self.occurrences, "classes": of_classes, "rejects": self.rejects}
        return [name for name, sink in sinks.items() if sink is not None]


@dataclass
class Report:
    """Counts and failures of a run."""

    inputs: int = 0
    """Number of inputs that were read, wholly or in part."""
    byte_count: int = 0
    """Number of bytes of text that were scanned."""
    occurrences: int = 0
    """Number of occurrences of URNs."""
    classes: int | None = None
    """Number of classes of these occurrences; None if the run made no classes."""
    rejects: int | None = None
    """Number of rejects: texts that are nearly URNs, and URNs that end badly. None if the run made no table of rejects.
    """
    trimmable: int = 0
    """Number of occurrences that `trim` would have changed."""
    left_out: int | None = None
    """Number of occurrences that `nid` and `not_nid` left out; None if all names count."""
    components_in_names: int = 0
    """Number of occurrences whose names contain components of RFC 8141 (`?+`, `?=`, `#`): rfc2141 treats components as
    a part of the name. Always 0 in the other syntaxes.
    """
    longer_in_rfc8141: int = 0
    """Number of occurrences whose names go on in RFC 8141, with `~` or `&`: rfc2141 ends names there. Always 0 in the
    other syntaxes.
    """
    cut_short: int = 0
    """Number of occurrences, without those of `longer_in_rfc8141`, that are followed by text that looks like a part of
    the URN: a letter beyond ASCII, a dash instead of a hyphen, a `%` without hex digits; in rfc8141 and
    rfc2141bis-03 a `?` that begins no component or query. The table of rejects lists both.
    """
    untrimmed: int | None = None
    """Number of classes with the problem `untrimmed`; None if the run made no table of classes."""
    joinable: int | None = None
    """How many fewer classes `equivalence="namespace"` would make. None if that is unknown: at other levels than
    `lexical`, if the run counted no classes, with more than 250,000 classes (or 32 MiB of names), and on Spark.
    """
    failures: list[SourceError] = field(default_factory=list)
    """Inputs and members that could not be read, or have a wrong checksum, in the order of the inputs. Their number is
    the sum of `count`: of one input there are at most 20, and then one for the others.
    """
    notes: list[SourceNote] = field(default_factory=list)
    """Remarks that are not failures, for example: an input was not read in its own form (a PDF as raw bytes), was left
    out on purpose (an output of this run), or counts once more (a table of an earlier run).
    """
    seconds: float = 0.0
    """Duration in seconds."""

    @classmethod
    def of(cls, counts: Counts, errors: Iterable[SourceError], options: Options) -> Self:
        """Make the report of a run, from counts, and from failures and notes (`errors`), in order. `classes`,
        `untrimmed`, `joinable` and `seconds` keep their defaults.
        """
        report = cls(**asdict(counts))
        for error in errors:
            if isinstance(error, SourceNote):
                # The count of the note may grow, and the same note may be in another report.
                add_note(report.notes, copy.copy(error) if error.together else error)
            else:
                report.failures.append(error)
        if not options.leaves_out:
            report.left_out = None
        return report

    def _repr_html_(self) -> str:
        names = "inputs byte_count occurrences left_out classes rejects trimmable".split()
        names += ["untrimmed", "joinable", "components_in_names", "longer_in_rfc8141", "cut_short", "seconds"]
        counts = html_fields((name.replace("_", " "), getattr(self, name)) for name in names)
        return counts + html_failures(self.failures, self.notes)

    def metadata(self, options: Options) -> dict[str, Any]:
        """Metadata of the outputs, a dict for JSON: those of the options, and under "counts" most counts of this
        report, and the numbers of failures and notes; null if unknown.
        """
        counts = {"inputs": self.inputs, "failures": count_of(self.failures), "notes": count_in_metadata(self.notes)}
        names = "byte_count occurrences trimmable components_in_names longer_in_rfc8141 cut_short".split()
        names += "left_out classes rejects".split()
        return {**options.metadata(), "counts": counts | {name: getattr(self, name) for name in names}}


def run(
    inputs: Sequence[Argument], options: Options, outputs: Outputs = Outputs(), progress: Progress = _NO_PROGRESS
) -> Report:
    """Scan the inputs, call the sinks of `outputs` with the rows of their tables, in the thread of the caller, and
    return counts and failures.

    `progress` gets failures and notes in the order of the inputs, the number of bytes of each read (called in the
    threads that read, one call at a time), and the stage "grouping", with the numbers of rows that were grouped. Raises
    FatalError if all inputs fail, if an output is also an input, if a list of inputs cannot be read, or, with `strict`,
    if an input could not be read. Raises the errors of sinks.
    """
    began = time.monotonic()
    failures = Failures(progress.on_failure, strict=options.strict)
    lock = threading.Lock()
    with ExitStack() as stack:
        pool = outputs.pool or stack.enter_context(Pool(options.jobs))
        new_grouping = groupings(pool, outputs.spill_folder, stack)
        grouping = new_grouping(options.memory) if "classes" in outputs.tables else None

        def on_read(byte_count: int) -> None:
            with lock:
                progress.on_progress(byte_count)

        def new_worker() -> Callable[[Task], Iterator[TaskResult]]:
            worker = Worker(options, _SIZES, outputs.tables, on_read)
            return lambda task: pool.timings.steps("scan", _pieces(worker, outputs.shards, task))

        pieces = in_order(tasks(inputs, options, outputs.paths, _SIZES), new_worker, options.jobs, bytes_of)
        # Processes of filters are ended first, because threads wait for them. A thread may start one more process before
        # it stops, so processes are ended once more after the threads.
        ends = [options.reading.processes.end, pieces.close, options.reading.processes.end]
        for end in ends:
            stack.callback(end)
        results = _Results(outputs, failures, grouping)
        for piece in pieces:
            results.add(piece)
        results.finish()
        pool.timings.count("scan", results.counts.byte_count)
        report = Report.of(results.counts, [*failures.failures, *failures.notes], options)
        if outputs.rejects is None:
            report.rejects = None
        if report.failures and not report.inputs:
            raise FatalError("no input could be read")
        if grouping is not None:
            progress.on_stage(Stage("grouping", grouping.complete(), ROWS))
            report.classes = 0
            report.untrimmed = None if outputs.classes is None else 0
            joinable = JoinableClasses(options.level)
            for group in _classes(results, new_grouping, options, outputs, progress.on_progress):
                report.classes += group.number
                if group.classes is not None:
                    joinable.add(group.classes.column("urn"))
                    if report.untrimmed is not None:
                        report.untrimmed += count_untrimmed(group.classes)
            if outputs.classes is not None or outputs.frequencies is not None:
                report.joinable = joinable.count()
            pool.timings.count("classes", report.classes)
    report.seconds = time.monotonic() - began
    return report


class _Classes(NamedTuple):
    """A batch of classes, as rows for the outputs."""

    number: int
    partial: pa.RecordBatch | None = None
    """PARTIAL rows."""
    classes: pa.RecordBatch | None = None
    """CODED_CLASSES or FREQUENCIES rows; None if no output needs them."""


def _classes(
    results: _Results,
    new_grouping: Callable[[int], Grouping],
    options: Options,
    outputs: Outputs,
    on_rows: Callable[[int], object],
) -> Iterator[_Classes]:
    """Yield all classes in batches, each after the outputs got its rows. `on_rows` gets the numbers of rows that were
    added up.
    """
    grouping = results.grouping
    if grouping is not None and outputs.frequencies is not None:
        for rows in by_count(grouping.classes(lambda rows: rows, on_rows), new_grouping(options.memory // 4)):
            outputs.frequencies(rows)
            yield _Classes(rows.num_rows, classes=rows)
    elif grouping is not None:
        syntax = get_syntax(options.syntax)

        def finish(rows: pa.RecordBatch) -> _Classes:
            """A thread of the pool calls this."""
            number = int(np.count_nonzero(numbers(rows.column("sources"))))
            partial = None if outputs.partial is None else rows
            if outputs.classes is None:
                return _Classes(number, partial)
            return _Classes(number, partial, class_rows(classes_of(rows, syntax), results.names, options.level))

        unnamed = dict(results.names)
        for group in grouping.spellings(finish, on_rows):
            if outputs.partial is not None and group.partial is not None:
                # This is not done in threads: the batches depend on the number of threads, and the rows of the file must
                # not.
                named = with_names(group.partial, unnamed)
                outputs.partial(named)
                for place in names_of(named):
                    del unnamed[place]
            if outputs.classes is not None and group.classes is not None:
                outputs.classes(group.classes)
            yield group


def _pieces(worker: Worker, shards: Shards | None, task: Task) -> Iterator[TaskResult]:
    """Yield the result of a task in pieces: Begun, then those that `shards` has kept from an earlier run, or else new
    ones of the worker.
    """
    part_of = task.place if isinstance(task, FilePart) else None
    if shards is None:
        yield Begun(part_of)
        yield from worker.work(task)
        return
    # The stamp is made before the task is read: a file that changes meanwhile gets another stamp in the next run.
    current = stamp(task)
    shards.unmarked.append(current.unmarked)
    shard = shards.find(current.text)
    yield Begun(part_of, current.text, is_kept=shard is not None)
    if shard is None:
        yield from worker.work(task)
    else:
        worker.on_read(current.byte_count)
        yield from shards.pieces(shard)


class _Results:
    def __init__(self, outputs: Outputs, failures: Failures, grouping: Grouping | None) -> None:
        self.counts = Counts()
        self.names: dict[int, str] = {}
        """Number of an input that has occurrences -> the name."""
        self._outputs = outputs
        self._failures = failures
        self.grouping = grouping
        # State of the huge file to which the current part belongs: the number of the input, the number of LF bytes in
        # earlier parts, and whether the file is counted as an input.
        self._part_of: int | None = None
        self._lines = 0
        self._is_counted = False
        # Names of the inputs of the current task, or of the current huge file.
        self._names_read: list[str] = []

    def add(self, piece: TaskResult) -> None:
        """Add the next piece, in the order of the tasks: store it, give its rows to the sinks, and add its counts."""
        if self._outputs.shards is not None:
            self._outputs.shards.add(piece)
        match piece:
            case Begun():
                if piece.part_of is None or piece.part_of != self._part_of:
                    self._finish_inputs()
                    self._part_of, self._lines, self._is_counted = piece.part_of, 0, False
            case Failed():
                self._failures.add(piece.place, piece.name, piece.error, is_part=self._part_of is not None)
            case ResultRows():
                self.counts += piece.counts
                if piece.occurrences is not None and self._outputs.occurrences is not None:
                    self._outputs.occurrences(add_lines(piece.occurrences, self._lines))
                if piece.rejects is not None and self._outputs.rejects is not None:
                    self._outputs.rejects(add_lines(piece.rejects, self._lines))
                if piece.partial is not None and self.grouping is not None:
                    self.grouping.add(piece.partial)
                    self.names.update(piece.names)
            case Done():
                self.counts += replace(piece.counts, inputs=0) if self._is_counted else piece.counts
                if not self._is_counted:
                    self._names_read += piece.names
                self._is_counted |= self._part_of is not None and piece.counts.inputs > 0
                self._lines += piece.lines

    def finish(self) -> None:
        self._finish_inputs()
        self._failures.finish()

    def _finish_inputs(self) -> None:
        if self._outputs.names is not None and self._names_read:
            self._outputs.names(self._names_read)
        self._names_read = []
