"""From inputs to tables: plan the work, do it in parallel, keep the order."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.display.text import html_failures, html_fields
from urnscan.errors import FatalError, SourceError, SourceNote, count_of
from urnscan.grouping.by_count import by_count
from urnscan.grouping.out_of_core import Grouping
from urnscan.pool import Pool
from urnscan.run.failures import Failures
from urnscan.run.groupings import groupings
from urnscan.run.options import Options
from urnscan.run.resume import Shards, stamp
from urnscan.run.task_results import Begun, Counts, Done, Failed, ResultRows, TaskResult, add_lines, octets_of
from urnscan.run.tasks import Argument, FilePart, Sizes, Task, tasks
from urnscan.run.threads import in_order
from urnscan.run.worker import Worker
from urnscan.tables.rows import class_rows, count_untrimmed
from urnscan.urn.syntax import get_syntax

Sink = Callable[[pa.RecordBatch], None]
"""Takes batches of rows, in order."""

_SIZES = Sizes()
_NO_PROGRESS = Progress()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Destinations of the results of a run. Only tables that have a sink are made."""

    occurrences: Sink | None = None
    """Takes OCCURRENCES rows."""
    classes: Sink | None = None
    """Takes CODED_CLASSES rows."""
    frequencies: Sink | None = None
    """Takes FREQUENCIES rows, the highest count first; only in the place of `classes`."""
    rejects: Sink | None = None
    """Takes REJECTS rows."""
    names: Callable[[Sequence[str]], object] | None = None
    """Takes the names of inputs that were read, in order, after all rows of theirs."""
    paths: Collection[str] = ()
    """Files that the run writes and must not read."""
    spill_folder: Path | None = None
    """Folder for files of grouping; None: the system's folder for temporary files."""
    shards: Shards | None = None
    """Finished tasks of an earlier run, and of this one."""
    pool: Pool | None = None
    """Threads that bring rows into classes, and may have other work of the sinks; None: as many as the options say."""

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are made."""
        wanted = {"occurrences": self.occurrences, "classes": self.classes or self.frequencies, "rejects": self.rejects}
        return [name for name, sink in wanted.items() if sink is not None]


@dataclass
class Report:
    """Counts and failures of a run."""

    inputs: int = 0
    """Inputs that were read, or of which a part was."""
    octets: int = 0
    """Octets of text that were scanned."""
    occurrences: int = 0
    """URNs that were found, each time anew."""
    classes: int | None = None
    """Different names among them; None where they were not asked for."""
    rejects: int | None = None
    """Places where a URN nearly begins or ends badly; None where they were not asked for."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    left_out: int | None = None
    """Occurrences of names that do not count, by `nid` and `not_nid`; None where all names do."""
    components_in_names: int = 0
    """Occurrences whose names hold components of RFC 8141 (`?+`, `?=`, `#`): rfc2141 takes them for a part of the name.
    Always 0 in the other syntaxes.
    """
    untrimmed: int | None = None
    """Classes with the problem `untrimmed`; None where classes were not asked for."""
    failures: list[SourceError] = field(default_factory=list)
    """Inputs and members that could not be read, or have a wrong checksum, in the order of the inputs."""
    notes: list[SourceNote] = field(default_factory=list)
    """Inputs and members that were scanned as they are, though they have a form of their own: nothing is lost."""
    seconds: float = 0.0
    """Duration in seconds."""

    def _repr_html_(self) -> str:
        """HTML for notebooks: the counts, then the failures and the notes."""
        names = "inputs octets occurrences left_out classes rejects trimmable".split()
        names += ["untrimmed", "components_in_names", "seconds"]
        counts = html_fields((name.replace("_", " "), getattr(self, name)) for name in names)
        return counts + html_failures(self.failures, self.notes)

    def metadata(self, options: Options) -> dict[str, Any]:
        """Metadata of the outputs; equal for two runs with the same inputs and options."""
        names = "octets occurrences trimmable components_in_names left_out classes rejects".split()
        counts = {name: getattr(self, name) for name in names}
        return {
            **options.metadata(),
            "counts": {
                "inputs": self.inputs,
                "failures": count_of(self.failures),
                "notes": count_of(self.notes),
                **counts,
            },
        }


def run(
    inputs: Sequence[Argument], options: Options, outputs: Outputs = Outputs(), progress: Progress = _NO_PROGRESS
) -> Report:
    """Scan the inputs and give the rows of tables to their sinks.

    `progress` is told of failures and notes in the order of the inputs, of octets that were read (from the threads that read,
    one at a time), and of the stage "grouping". Raises FatalError if no input could be read, and with `strict` if one
    could not; raises the errors of sinks.
    """
    began = time.monotonic()
    failures = Failures(progress.on_failure, strict=options.strict)
    lock = threading.Lock()
    with ExitStack() as stack:
        pool = outputs.pool or stack.enter_context(Pool(options.jobs))
        new_grouping = groupings(pool, outputs.spill_folder, stack)
        grouping = new_grouping(options.memory) if "classes" in outputs.tables else None

        def on_read(octets: int) -> None:
            with lock:
                progress.on_progress(octets)

        def new_worker() -> Callable[[Task], Iterator[TaskResult]]:
            worker = Worker(options, _SIZES, outputs.tables, on_read)
            return lambda task: pool.timings.steps("scan", _pieces(worker, outputs.shards, task))

        pieces = in_order(tasks(inputs, options, outputs.paths, _SIZES), new_worker, options.jobs, octets_of)
        # No thread waits for a process when it is to end; then those end that were started meanwhile.
        ends = [options.reading.processes.end, pieces.close, options.reading.processes.end]
        for end in ends:
            stack.callback(end)
        results = _Results(outputs, failures, grouping)
        for piece in pieces:
            results.add(piece)
        results.finish()
        pool.timings.count("scan", results.counts.octets)
        report = Report(**asdict(results.counts), failures=failures.failures, notes=failures.notes)
        if outputs.rejects is None:
            report.rejects = None
        if not options.leaves_out:
            report.left_out = None
        if report.failures and not report.inputs:
            raise FatalError("no input could be read")
        if grouping is not None:
            progress.on_stage(Stage("grouping", grouping.complete(), ROWS))
            report.classes = 0
            report.untrimmed = None if outputs.classes is None else 0
            for rows in _classes(results, new_grouping, options, outputs, progress.on_progress):
                report.classes += rows.num_rows
                if report.untrimmed is not None:
                    report.untrimmed += count_untrimmed(rows)
            pool.timings.count("classes", report.classes)
    report.seconds = time.monotonic() - began
    return report


def _classes(
    results: _Results,
    new_grouping: Callable[[int], Grouping],
    options: Options,
    outputs: Outputs,
    on_rows: Callable[[int], object],
) -> Iterator[pa.RecordBatch]:
    """Rows of all classes, after the output has taken them. `on_rows` is told how many rows have been added up."""
    grouping = results.grouping
    if grouping is not None and outputs.classes is not None:
        in_rows = functools.partial(class_rows, names=results.names, level=options.level)
        for rows in grouping.classes(in_rows, on_rows, get_syntax(options.syntax)):
            outputs.classes(rows)
            yield rows
    if grouping is not None and outputs.frequencies is not None:
        for rows in by_count(grouping.classes(lambda rows: rows, on_rows), new_grouping(options.memory // 4)):
            outputs.frequencies(rows)
            yield rows


def _pieces(worker: Worker, shards: Shards | None, task: Task) -> Iterator[TaskResult]:
    """The pieces of a task: those that an earlier run kept, or else new ones."""
    part_of = task.place if isinstance(task, FilePart) else None
    if shards is None:
        yield Begun(part_of)
        yield from worker.work(task)
        return
    current = stamp(task)  # before reading: a file that changes meanwhile gets another stamp
    shards.unmarked.append(current.unmarked)
    kept = shards.find(current.text)
    yield Begun(part_of, current.text, is_kept=kept is not None)
    if kept is None:
        yield from worker.work(task)
    else:
        worker.on_read(current.octets)
        yield from shards.pieces(kept)


class _Results:
    """Adds up the pieces of a run, and gives their rows to the outputs."""

    def __init__(self, outputs: Outputs, failures: Failures, grouping: Grouping | None) -> None:
        self.counts = Counts()
        self.names: dict[int, str] = {}
        """Names of the inputs that have occurrences, by their places."""
        self._outputs = outputs
        self._failures = failures
        self.grouping = grouping
        self._part_of: int | None = None  # the huge file to which the current part belongs
        self._lines = 0  # LF octets in its earlier parts
        self._is_counted = False  # whether it is counted as an input
        self._read: list[str] = []  # names of the inputs of the task, or of the parts of one

    def add(self, piece: TaskResult) -> None:
        """Add the next piece. Raises FatalError, and the errors of sinks."""
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
                    self._read += piece.names
                self._is_counted |= self._part_of is not None and piece.counts.inputs > 0
                self._lines += piece.lines

    def finish(self) -> None:
        """End the run. Raises FatalError, and the errors of outputs."""
        self._finish_inputs()
        self._failures.finish()

    def _finish_inputs(self) -> None:
        if self._outputs.names is not None and self._read:
            self._outputs.names(self._read)
        self._read = []
