"""From inputs to tables: plan the work, do it in parallel, keep the order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.display.text import html_failures, html_fields
from urnscan.errors import FatalError, SourceError
from urnscan.grouping.external import Grouping
from urnscan.run.failures import Failures, SpillFolder
from urnscan.run.options import Options
from urnscan.run.pieces import Begun, Counts, Done, Failed, Piece, Rows
from urnscan.run.resume import Shards, stamp
from urnscan.run.tasks import Argument, Part, Sizes, Task, tasks
from urnscan.run.threads import in_order
from urnscan.run.worker import Work, Worker
from urnscan.tables.rows import class_rows

__all__ = ["Report", "Sink", "run"]

Sink = Callable[[pa.RecordBatch], None]
"""Takes batches of rows, in order."""

_SIZES = Sizes()


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
    """Places where a URN nearly begins; None where they were not asked for."""
    trimmable: int = 0
    """Occurrences that `trim` would have changed."""
    failures: list[SourceError] = field(default_factory=list)
    """Inputs and members that could not be read, or have a wrong checksum, in the order of the inputs."""
    seconds: float = 0.0
    """Duration in seconds."""

    def _repr_html_(self) -> str:
        """HTML for notebooks: the counts, then the failures."""
        names = ("inputs", "octets", "occurrences", "classes", "rejects", "trimmable", "seconds")
        return html_fields((name, getattr(self, name)) for name in names) + html_failures(self.failures)

    def metadata(self, options: Options) -> dict[str, Any]:
        """Metadata of the outputs; equal for two runs with the same inputs and options."""
        return {
            **options.metadata(),
            "counts": {
                "inputs": self.inputs,
                "failures": len(self.failures),
                "octets": self.octets,
                "occurrences": self.occurrences,
                "classes": self.classes,
                "rejects": self.rejects,
            },
        }


def run(
    inputs: Sequence[Argument],
    options: Options,
    *,
    occurrences: Sink | None = None,
    classes: Sink | None = None,
    rejects: Sink | None = None,
    outputs: Collection[str] = (),
    spill_folder: Path | None = None,
    shards: Shards | None = None,
    on_failure: Callable[[SourceError], None] = lambda _: None,
    on_progress: Callable[[int], object] = lambda _: None,
    on_grouping: Callable[[], object] = lambda: None,
) -> Report:
    """Scan the inputs; give OCCURRENCES rows to `occurrences`, CLASSES rows to `classes` and REJECTS rows to `rejects`,
    those that are given.

    `outputs` are files that the run writes itself and must not read. `spill_folder` is where grouping may put files, by
    default a temporary folder; in `shards` what is finished is kept, and looked for. `on_failure` is told of each input
    that fails, when its turn comes; `on_progress` how many octets were read since the last call, from the threads that
    read, one at a time; `on_grouping` that all are read and classes come next.
    Returns the report. Raises FatalError where no input could be read, and with `strict` where one could not;
    what a sink raises.
    """
    began = time.monotonic()
    report = Report()
    failures = Failures(report.failures, on_failure, strict=options.strict)
    results = _Results(failures, occurrences, rejects)
    with ExitStack() as stack:
        folder = SpillFolder(spill_folder)
        stack.callback(folder.remove)
        if classes is not None:
            executor = ThreadPoolExecutor(options.jobs, thread_name_prefix="urnscan-grouping")
            stack.callback(executor.shutdown, cancel_futures=True)
            results.grouping = grouping = Grouping(options.memory, options.jobs, executor, folder.get)
        work = Work(
            options,
            _SIZES,
            want_occurrences=occurrences is not None,
            want_partial=classes is not None,
            want_rejects=rejects is not None,
            on_read=_one_at_a_time(on_progress),
        )
        planned = tasks(inputs, options, outputs, _SIZES)
        pieces = in_order(planned, lambda: _work(work, shards), options.jobs)
        stack.callback(pieces.close)
        for piece in pieces:
            if shards is not None:
                shards.add(piece)
            results.take(piece)
        failures.finish()
        counts, names = results.counts, results.names
        report.inputs, report.octets = counts.inputs, counts.octets
        report.occurrences, report.trimmable = counts.occurrences, counts.trimmable
        report.rejects = None if rejects is None else counts.rejects
        if report.failures and not report.inputs:
            raise FatalError("no input could be read")
        if classes is not None:
            on_grouping()
            report.classes = 0
            for rows in grouping.classes(lambda grouped: class_rows(grouped, names, options.syntax, options.level)):
                report.classes += rows.num_rows
                classes(rows)
    report.seconds = time.monotonic() - began
    return report


class _Results:
    """Adds up the pieces of a run, and hands their rows on."""

    def __init__(self, failures: Failures, occurrences: Sink | None, rejects: Sink | None) -> None:
        self.counts = Counts()
        self.names: dict[int, str] = {}
        """Names of the inputs in which something was found, by their places."""
        self.grouping: Grouping | None = None
        self._failures = failures
        self._occurrences = occurrences
        self._rejects = rejects
        self._part_of: int | None = None  # the huge file of which parts are taken
        self._lines = 0  # LF octets in its parts so far
        self._is_counted = False  # whether it is counted as an input

    def take(self, piece: Piece) -> None:
        """Take the next piece. Raises FatalError, and what a sink raises."""
        match piece:
            case Begun():
                if piece.part_of is None or piece.part_of != self._part_of:
                    self._part_of, self._lines, self._is_counted = piece.part_of, 0, False
            case Failed():
                self._failures.add(piece.place, piece.name, piece.error, is_part=self._part_of is not None)
            case Rows():
                self.counts += piece.counts
                if piece.occurrences is not None and self._occurrences is not None:
                    self._occurrences(_add_lines(piece.occurrences, self._lines))
                if piece.rejects is not None and self._rejects is not None:
                    self._rejects(_add_lines(piece.rejects, self._lines))
                if piece.partial is not None and self.grouping is not None:
                    self.grouping.add(piece.partial)
                    self.names.update(piece.names)
            case Done():
                self.counts += replace(piece.counts, inputs=0) if self._is_counted else piece.counts
                self._is_counted |= self._part_of is not None and piece.counts.inputs > 0
                self._lines += piece.lines


def _work(work: Work, shards: Shards | None) -> Callable[[Task], Iterator[Piece]]:
    """The work of a thread: all tasks, but for those that an earlier run finished."""
    worker = Worker(work)

    def pieces(task: Task) -> Iterator[Piece]:
        part_of = task.place if isinstance(task, Part) else None
        if shards is None:
            yield Begun(part_of)
            yield from worker.work(task)
            return
        before = stamp(task)  # it is read: what changes meanwhile is not what was read
        kept = shards.find(before.text)
        yield Begun(part_of, before.text, is_kept=kept is not None)
        if kept is None:
            yield from worker.work(task)
        else:
            work.on_read(before.octets)
            yield from shards.pieces(kept)

    return pieces


def _one_at_a_time(on_progress: Callable[[int], object]) -> Callable[[int], None]:
    """`on_progress` as several threads may call it."""
    lock = threading.Lock()

    def progress(octets: int) -> None:
        with lock:
            on_progress(octets)

    return progress


def _add_lines(rows: pa.RecordBatch, lines: int) -> pa.RecordBatch:
    if not lines:
        return rows
    number = rows.schema.get_field_index("line")
    return rows.set_column(number, rows.schema.field(number), pc.add(rows.column(number), lines))
