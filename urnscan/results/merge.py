"""Tables, or partial results, of several runs -> a merged table, the same as in a run over all inputs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.display.text import Readings, counted
from urnscan.errors import FatalError, option
from urnscan.grouping.classes import MAX_SPELLINGS
from urnscan.grouping.out_of_core import Grouping
from urnscan.pool import Pool
from urnscan.results.classes_of_occurrences import ClassesOfOccurrences
from urnscan.results.classes_of_partials import ClassesOfPartials
from urnscan.results.key_windows import rows_at_once, sorted_windows
from urnscan.results.merged_classes import merge_rows
from urnscan.results.opening import (
    PARTIAL_RESULTS,
    added_counts,
    differing_options,
    open_tables,
    options_of_names,
    unfinished,
)
from urnscan.run.groupings import groupings
from urnscan.run.pipeline import Outputs, Sink
from urnscan.tables.editions import EDITION, VERDICT
from urnscan.tables.joinable_classes import JoinableClasses
from urnscan.tables.metadata import OF_PARTIAL
from urnscan.tables.readers import TableFile
from urnscan.tables.rows import NameColumns, class_rows, count_untrimmed
from urnscan.tables.schemas import CLASSES, NAMED_PARTIAL, OCCURRENCES
from urnscan.urn.syntax import get_syntax

_NO_PROGRESS = Progress()
_Output = TypeVar("_Output")

KINDS = ("classes", "occurrences", PARTIAL_RESULTS)
"""Kinds of tables that can be merged."""


@dataclass
class MergeReport:
    """Result of a merge of tables: counts, and how the result may differ from a single run over all inputs."""

    kind: str
    """Kind of the tables: "classes", "occurrences" or "partial results"."""
    tables: int
    """Number of tables."""
    rows: int = 0
    """Rows of the merged table: classes, or occurrences."""
    classes: int | None = None
    """Number of written classes; None if no output takes classes."""
    occurrences: int = 0
    """Occurrences in all tables."""
    inexact: int = 0
    """Number of classes in several tables whose `spellings` and `spelling_count` are not exact, because a table does
    not list all spellings (a table lists 100).
    """
    shared: int = 0
    """Number of classes with the same first source in several tables. If that is the same input, it is counted several
    times in `source_count` and `occurrence_count`. For partial results: the number of inputs with the same name; inputs
    that are the first source of no class are not seen.
    """
    failures: int = 0
    """Failures of the runs: inputs, or parts of them, that are missing in the tables because they could not be read."""
    failed: Sequence[str] = ()
    """Paths of the tables whose runs had failures."""
    unfinished: Sequence[str] = ()
    """Paths of outputs in the merged folders of which only an interrupted run is kept: they are not in the result."""
    trimmable: int = 0
    """Number of occurrences, in all runs, that `trim` would have changed."""
    components_in_names: int = 0
    """Number of occurrences, in all runs, whose names contain components of RFC 8141 (`?+`, `?=`, `#`)."""
    longer_in_rfc8141: int = 0
    """Number of occurrences, in all runs, whose names go on in RFC 8141, with `~` or `&`."""
    cut_short: int = 0
    """Number of other occurrences, in all runs, that are followed by text that looks like a part of the URN (`ü`)."""
    untrimmed: int | None = None
    """Number of written classes with the problem `untrimmed`; None if no output takes classes."""
    joinable: int | None = None
    """How many fewer classes `equivalence="namespace"` would make. None where `Report.joinable` is None, and after
    runs with `--rules`, which tables do not contain.
    """
    seconds: float = 0.0
    """Duration in seconds."""

    def remarks(self) -> Iterator[str]:
        """Yield messages for people: about `failures`, `unfinished`, `inexact` and `shared`, in this order. A number
        that is 0 has no message.
        """
        if self.failures:
            yield f"{counted(self.failures, 'failure')} in the runs of {_first(self.failed)}; see the messages of these runs"
        if self.unfinished:
            yield f"{_first(self.unfinished)}: unfinished, so not in the result; continue with --resume, and merge again"
        if self.inexact:
            yield (
                f"{counted(self.inexact, 'class', 'classes')} with more than {MAX_SPELLINGS} spellings in one table: "
                "their spelling counts may be too low; merge partial results for exact counts"
            )
        if self.shared and self.kind == PARTIAL_RESULTS:
            yield (
                f"{counted(self.shared, 'input')} with the same name in several partial results: if it is the same "
                "input, it counts several times"
            )
        elif self.shared:
            yield (
                f"{counted(self.shared, 'class', 'classes')} with the same first source in several tables: if it is "
                "the same input, it counts several times there"
            )


def _first(names: Sequence[str]) -> str:
    others = [f"{len(names) - 5:,} more"] if len(names) > 5 else []
    return ", ".join([*names[:5], *others])


class Merge:
    """A merge of tables: the constructor opens them, `run`, which is called once, merges them and passes the rows of
    the result on. After `run`, `report` and `metadata` are complete.
    """

    def __init__(self, names: Sequence[str], outputs: Sequence[str], *, memory: int, jobs: int) -> None:
        """`names` are names of files, folders (the Parquet files and partial results in them) and patterns; `outputs`
        are the files that will be written.

        `memory`: bytes for rows; `jobs`: threads. Raises FatalError if there is no table, if a table cannot be read or
        merged, is also an output or is named twice, if there are several kinds of tables, and if options of runs
        differ.
        """
        self._tables = open_tables(names, outputs, *KINDS)
        self._memory, self._jobs = memory, jobs
        if (difference := next(differing_options(self._tables), None)) is not None:
            raise FatalError(f"{difference}; merge needs tables made with the same options")
        self._counts = added_counts(self._tables)
        self.kind = self._tables[0].kind
        """Kind of the tables, one of KINDS."""
        self.rows = sum(table.rows for table in self._tables)
        """Rows of all tables."""
        self.report = MergeReport(
            self.kind,
            len(self._tables),
            failures=self._counts.get("failures") or 0,
            failed=[table.path for table in self._tables if table.metadata()["counts"].get("failures")],
            unfinished=unfinished(names),
        )
        """Counts of the merge."""

    def kinds_of(self, outputs: Mapping[str, _Output]) -> dict[str, _Output]:
        """Return the same outputs with the kind of rows that each gets, "classes" or "occurrences", as the key. The
        keys of the argument are names of options: "output", which gets occurrences if the tables contain occurrences,
        otherwise classes, and "classes". Raises FatalError for "classes" if the tables do not contain occurrences. For
        tables of occurrences:

        {"output": a, "classes": b} -> {"occurrences": a, "classes": b}
        """
        if self.kind != "occurrences" and "classes" in outputs:
            raise FatalError(f"{option('classes', None)} is for tables of occurrences; these contain {self.kind}")
        table = "occurrences" if self.kind == "occurrences" else "classes"
        return {table if name == "output" else name: output for name, output in outputs.items()}

    def run(self, outputs: Outputs, progress: Progress = _NO_PROGRESS) -> None:
        """Merge the tables, and call the sinks of `outputs` (functions that get batches of rows) with the rows of the
        result.

        Tables of classes and partial results give classes, sorted by `urn`. Tables of occurrences give occurrences in
        the order of the tables; then their classes, if there is a sink for classes. `progress` gets the numbers of rows
        that were merged, and the stage "grouping". Raises FatalError for a damaged table, and for classes of
        occurrences if their run had `--rules`, which the tables do not contain. Raises the errors of sinks.
        """
        began = time.monotonic()
        report = self.report
        with ExitStack() as stack:
            pool = outputs.pool or stack.enter_context(Pool(self._jobs))
            new_grouping = groupings(pool, outputs.spill_folder, stack)
            if self.kind == "classes":
                classes = self._merged_classes(pool, progress)
            elif self.kind == PARTIAL_RESULTS:
                classes = self._classes_of_partials(new_grouping(self._memory), progress)
            else:
                grouping = None if outputs.classes is None else new_grouping(self._memory)
                classes = self._classes_of_occurrences(grouping, outputs.occurrences, progress)
            if outputs.classes is not None:
                report.classes = report.untrimmed = 0
                joinable = JoinableClasses(options_of_names(self._tables[0]).level)
                for rows in classes:
                    outputs.classes(rows)
                    report.classes += len(rows)
                    report.untrimmed += count_untrimmed(rows)
                    joinable.add(rows.column("urn"))
                if not self._tables[0].metadata().get("rules"):
                    report.joinable = joinable.count()
                if self.kind != "occurrences":
                    report.rows = report.classes
        for name in ("occurrences", *Readings.__annotations__):
            setattr(report, name, self._counts.get(name) or 0)
        report.seconds = time.monotonic() - began

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the merged table, for JSON: the options of the runs, and the sums of their counts (None for a
        count that a table lacks). `classes` is not a sum, but the number of merged classes. Complete after `run`.
        """
        counts = self._counts
        if "classes" in counts:
            counts = counts | {"classes": self.report.classes}
        options = {name: value for name, value in self._tables[0].metadata().items() if name != OF_PARTIAL}
        return options | {"schema": EDITION, "counts": counts}

    def _merged_classes(self, pool: Pool, progress: Progress) -> Iterator[pa.RecordBatch]:
        window_batches = (list(chain(*window)) for window in sorted_windows(self._tables, CLASSES.names, self._memory))
        for merged in pool.results("classes", merge_rows, window_batches):
            progress.on_progress(merged.read_rows)
            self.report.inexact += merged.inexact
            self.report.shared += merged.shared
            yield merged.rows

    def _classes_of_partials(self, grouping: Grouping, progress: Progress) -> Iterator[pa.RecordBatch]:
        partials = ClassesOfPartials(self._tables[0], grouping)
        for table in self._tables:
            for count in partials.add(table, self._rows_of(table, NAMED_PARTIAL)):
                progress.on_progress(count)
        self.report.shared = partials.shared
        return _grouped(partials, progress)

    def _classes_of_occurrences(
        self, grouping: Grouping | None, sink: Sink | None, progress: Progress
    ) -> Iterator[pa.RecordBatch]:
        """Give the occurrences of all tables to the sink, and add them to the grouping. Then return their classes; none
        without a grouping.
        """
        classes = None if grouping is None else ClassesOfOccurrences(self._tables[0], grouping)
        for number, table in enumerate(self._tables):
            for rows in self._rows_of(table, OCCURRENCES):
                if sink is not None:
                    sink(rows)
                if classes is not None:
                    classes.add(number, rows)
                self.report.rows += len(rows)
                progress.on_progress(len(rows))
        return iter(()) if classes is None else _grouped(classes, progress)

    def _rows_of(self, table: TableFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Rows of a table in the types of the schema. The columns VERDICT are calculated for OCCURRENCES that lack them
        (second edition).
        """
        is_earlier = schema is OCCURRENCES and table.lacks(*VERDICT)
        stored = [field for field in schema if not (is_earlier and field.name in VERDICT)]
        names = [field.name for field in stored]
        for rows in table.batches(*names, max_rows=rows_at_once(self._memory, 1, table.row_bytes)):
            try:
                columns = {field.name: rows.column(field.name).cast(field.type) for field in stored}
            except pa.ArrowException as error:
                raise FatalError(f"{table.path}: is damaged: {str(error).splitlines()[0]}") from error
            if is_earlier:
                columns |= NameColumns.of(columns["urn"], options_of_names(table).level)._asdict()
            yield pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _grouped(added: ClassesOfOccurrences | ClassesOfPartials, progress: Progress) -> Iterator[pa.RecordBatch]:
    """CODED_CLASSES rows, sorted by `urn`, of the rows in `added`."""
    progress.on_stage(Stage("grouping", added.grouping.complete(), ROWS))
    in_rows = partial(class_rows, names=added.names, level=added.options.level)
    return added.grouping.classes(in_rows, progress.on_progress, get_syntax(added.options.syntax))
