"""Tables of several runs -> one table, as one run over all inputs would have written it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from urnscan.display.progress import Progress
from urnscan.display.text import counted
from urnscan.errors import FatalError, option
from urnscan.grouping.classes import MOST_SPELLINGS
from urnscan.pool import Pool
from urnscan.results.classes_of_occurrences import ClassesOfOccurrences
from urnscan.results.key_windows import rows_at_once, windows
from urnscan.results.merged_classes import Merged, merge_rows
from urnscan.results.opening import added_counts, differing_options, open_tables
from urnscan.run.groupings import groupings
from urnscan.run.pipeline import Outputs, Sink
from urnscan.tables.readers import TableFile
from urnscan.tables.schemas import CLASSES, OCCURRENCES

_NO_PROGRESS = Progress()
_Output = TypeVar("_Output")

KINDS = ("classes", "occurrences")
"""Tables that can be merged."""


@dataclass
class MergeReport:
    """Counts of a merge."""

    kind: str
    """Kind of the tables: classes or occurrences."""
    tables: int
    """Number of tables."""
    rows: int = 0
    """Rows of the merged table."""
    classes: int | None = None
    """Classes that were written; None if no output takes them."""
    occurrences: int = 0
    """Occurrences in all tables."""
    inexact: int = 0
    """Classes of several tables, of which one lists not all spellings (a table lists 100): their columns `spellings` and
    `spelling_count` are not exact.
    """
    shared: int = 0
    """Classes that have the same first source in several tables. If it is the same input, it counts several times in
    `source_count`, and its occurrences count several times, too.
    """
    seconds: float = 0.0
    """Duration in seconds."""

    def remarks(self) -> Iterator[str]:
        """A line about each count that may differ from the one in a run over all inputs."""
        if self.inexact:
            yield (
                f"{counted(self.inexact, 'class', 'classes')} with more than {MOST_SPELLINGS} spellings in one table: "
                "spellings and spelling_count are not exact there, as a table lists no more; spelling_count is the least "
                "that it can be"
            )
        if self.shared:
            yield (
                f"{counted(self.shared, 'class', 'classes')} with the same first source in several tables: if it is "
                "the same input, it counts several times there"
            )


class Merge:
    """A merge of tables. `run` gives its rows; then `report` and `metadata` are complete."""

    def __init__(self, names: Sequence[str], outputs: Sequence[str], *, memory: int, jobs: int) -> None:
        """`names` are those of files, folders and patterns; `outputs` are files that are written, and must not be read.

        Raises FatalError if one cannot be read or is not a table of classes or occurrences, and if options of their runs
        differ.
        """
        self._tables = open_tables(names, outputs, *KINDS)
        self._memory, self._jobs = memory, jobs
        if (difference := next(differing_options(self._tables), None)) is not None:
            raise FatalError(f"{difference}: tables of runs with the same options can be merged")
        self._counts = added_counts(self._tables)
        self.kind = self._tables[0].kind
        self.rows = sum(table.rows for table in self._tables)
        """Rows of all tables."""
        self.report = MergeReport(self.kind, len(self._tables))

    def kinds_of(self, outputs: Mapping[str, _Output]) -> dict[str, _Output]:
        """The outputs by the kind of rows that they get: "classes" or "occurrences"; `outputs` are by "output" and "classes".

        Raises FatalError if there is an output "classes" and the tables contain classes: "output" gets these.
        """
        if self.kind == "classes" and "classes" in outputs:
            raise FatalError(f"{option('classes', None)} is for tables of occurrences, and these hold classes")
        return {self.kind if name == "output" else name: output for name, output in outputs.items()}

    def run(self, outputs: Outputs, progress: Progress = _NO_PROGRESS) -> None:
        """Give all rows to the sinks, in order: merged classes, or merged occurrences, and the classes of these.

        `progress` gets the numbers of rows that were merged, and the stage "grouping". Raises FatalError for a damaged
        table, and for classes of occurrences if their run had `--rules`, which the tables do not hold. Raises the errors of
        sinks.
        """
        began = time.monotonic()
        report = self.report
        with ExitStack() as stack:
            if self.kind == "classes":
                for merged in self._classes(progress.on_progress):
                    _give(merged.rows, outputs.classes)
                    report.rows += len(merged.rows)
                    report.inexact += merged.inexact
                    report.shared += merged.shared
                report.classes = report.rows
            else:
                pool = outputs.pool or stack.enter_context(Pool(self._jobs))
                new_grouping = groupings(pool, outputs.spill_folder, stack)
                grouping = (
                    ClassesOfOccurrences(self._tables[0], new_grouping(self._memory)) if outputs.classes else None
                )
                for table, rows in self._occurrences(progress.on_progress):
                    _give(rows, outputs.occurrences)
                    report.rows += len(rows)
                    if grouping is not None:
                        grouping.add(table, rows)
                if grouping is not None:
                    report.classes = 0
                    for rows in grouping.classes(progress):
                        _give(rows, outputs.classes)
                        report.classes += len(rows)
        report.occurrences = self._counts.get("occurrences") or 0
        report.seconds = time.monotonic() - began

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the merged table: options once, counts added. A class of several tables counts once."""
        counts = self._counts
        if "classes" in counts:
            counts = counts | {"classes": self.report.classes}
        return self._tables[0].metadata() | {"counts": counts}

    def _classes(self, on_rows: Callable[[int], object]) -> Iterator[Merged]:
        sorted_tables = [(table.path, self._rows_of(table, CLASSES)) for table in self._tables]
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="urnscan-merge") as executor:
            pending: deque[tuple[int, Future[Merged]]] = deque()
            try:
                for window in windows(sorted_tables):
                    batches = [rows for batches_of_table in window for rows in batches_of_table]
                    pending.append((sum(map(len, batches)), executor.submit(merge_rows, batches)))
                    if len(pending) > self._jobs:
                        yield from _next(pending, on_rows)
                while pending:
                    yield from _next(pending, on_rows)
            finally:
                for _, future in pending:
                    future.cancel()

    def _occurrences(self, on_rows: Callable[[int], object]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """OCCURRENCES rows, and the number of their table."""
        for number, table in enumerate(self._tables):
            for rows in self._rows_of(table, OCCURRENCES):
                columns = [rows.column(field.name).cast(field.type) for field in OCCURRENCES]
                yield number, pa.RecordBatch.from_arrays(columns, schema=OCCURRENCES)
                on_rows(len(rows))

    def _rows_of(self, table: TableFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        most = rows_at_once(self._memory, len(self._tables), table.row_octets)
        return table.batches(*schema.names, max_rows=most)


def _give(rows: pa.RecordBatch, sink: Sink | None) -> None:
    if sink is not None:
        sink(rows)


def _next(pending: deque[tuple[int, Future[Merged]]], on_rows: Callable[[int], object]) -> Iterable[Merged]:
    rows, future = pending.popleft()
    yield future.result()
    on_rows(rows)
