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
    """What a run did."""

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
    """What could not be read, in the order of the inputs."""
    seconds: float = 0.0
    """How long it took."""

    def _repr_html_(self) -> str:
        """As a notebook shows it: the counts, then what could not be read."""
        names = ("inputs", "octets", "occurrences", "classes", "rejects", "trimmable", "seconds")
        return html_fields((name, getattr(self, name)) for name in names) + html_failures(self.failures)

    def metadata(self, options: Options) -> dict[str, Any]:
        """What the files say of themselves: nothing that differs between two runs with the same inputs and options."""
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
    counts = Counts()
    failures = Failures(report.failures, on_failure, strict=options.strict)
    names: dict[int, str] = {}
    part_of: int | None = None
    lines, is_counted = 0, False  # of the parts of the huge file before this one
    with ExitStack() as stack:
        folder = SpillFolder(spill_folder)
        stack.callback(folder.remove)
        if classes is not None:
            executor = ThreadPoolExecutor(options.jobs, thread_name_prefix="urnscan-grouping")
            stack.callback(executor.shutdown, cancel_futures=True)
            grouping = Grouping(options.memory, options.jobs, executor, folder.get)
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
            match piece:
                case Begun():
                    if part_of is None or piece.part_of != part_of:
                        part_of, lines, is_counted = piece.part_of, 0, False
                case Failed():
                    failures.add(piece.place, piece.name, piece.error, is_part=part_of is not None)
                case Rows():
                    counts += piece.counts
                    if piece.occurrences is not None and occurrences is not None:
                        occurrences(_add_lines(piece.occurrences, lines))
                    if piece.rejects is not None and rejects is not None:
                        rejects(_add_lines(piece.rejects, lines))
                    if piece.partial is not None:
                        grouping.add(piece.partial)
                        names.update(piece.names)
                case Done():
                    counts += replace(piece.counts, inputs=0) if is_counted else piece.counts
                    is_counted = part_of is not None and bool(is_counted or piece.counts.inputs)
                    lines += piece.lines
        failures.finish()
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
