"""A scan in shares, for engines that run functions on many machines: each share becomes one buffer, and all buffers a scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import number_array, numbers
from urnscan.errors import ArgumentError, FatalError, SourceError, SourceNote, checks_options
from urnscan.library.scans import Scan
from urnscan.library.shared import as_table
from urnscan.run.failures import Failures
from urnscan.run.options import Named, Options, named_inputs, read_options
from urnscan.run.partial_result import NAMED_PARTIAL, Sums, classes_of_partial, packed, unpacked
from urnscan.run.pipeline import Report
from urnscan.run.task_results import Counts, Done, Failed, ResultRows
from urnscan.run.tasks import FilePart, Files, Sizes, tasks
from urnscan.run.worker import Worker
from urnscan.scanner.grammar import ResolverTail
from urnscan.stores.input import Listed
from urnscan.tables.rows import count_untrimmed
from urnscan.tables.schemas import CLASSES, OCCURRENCES
from urnscan.urn.namespaces.own import Rules

_SIZES = Sizes()


@dataclass(frozen=True)
class Partial:
    """URNs of some inputs, grouped. Engines send it from one process to another (`pickle`)."""

    rows: bytes = field(repr=False)
    """A row for each spelling: a stream of Arrow, compressed."""
    counts: Counts
    """Inputs, octets and occurrences, counted as in `Report`."""
    failures: tuple[SourceError, ...] = ()
    """Inputs that could not be read, and notes, in the order of the inputs."""
    options: Options = field(default_factory=Options, repr=False)
    """The options of the scan."""
    places: int = 0
    """Number of inputs that were looked at."""


@checks_options
def scan_partial(
    *inputs: Named,
    syntax: str = "rfc2141",
    equivalence: str = "lexical",
    trim: bool = False,
    recover: str | Iterable[str] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    follow: bool = False,
    encoding: str | None = None,
    column: str | Iterable[str] = (),
    where: str | None = None,
    filters: str | Iterable[str] = (),
    filter_timeout: int = 600,
    max_ratio: int = 1_000,
    max_size: int | str = 10**13,
    max_depth: int = 8,
    max_members: int = 10**7,
) -> Partial:
    """Scan some of the inputs of a large job, in one thread; `merge_partial` makes one scan of all.

    Takes the inputs and options of `scan`, but no `cdx`. Inputs that fail are in `failures`, and never raise.
    Raises ArgumentError (a ValueError and a TypeError) for invalid options.

    >>> from urnscan import samples, scan_partial
    >>> scan_partial(samples() / "prose.txt", trim=True).counts.occurrences
    21
    """
    (options,) = read_options(locals(), Options)
    worker = Worker(options, _SIZES, {"classes"}, lambda _: None)
    told: list[SourceError] = []
    failures, sums, counts, places = Failures(told.append), Sums(), Counts(), 0
    found: list[pa.RecordBatch] = []
    part_of = None  # the place of a huge file, of which a part has been read
    for task in tasks(named_inputs(inputs), options, (), _SIZES):
        if isinstance(task, Files | FilePart):
            inside = task.inputs if isinstance(task, Files) else [task.input]
            places = task.place + sum(len(each) if isinstance(each, Listed) else 1 for each in inside)
        for piece in worker.work(task):
            match piece:
                case Failed():
                    failures.add(piece.place, piece.name, piece.error, is_part=isinstance(task, FilePart))
                case ResultRows():
                    counts += piece.counts
                    if piece.partial is not None:
                        found += [rows for _, rows in sums.add(piece.partial, piece.names)]
                case Done():
                    is_counted = isinstance(task, FilePart) and task.place == part_of
                    counts += replace(piece.counts, inputs=0) if is_counted else piece.counts
                    if isinstance(task, FilePart) and piece.counts.inputs:
                        part_of = task.place
    failures.finish()
    found += [rows for _, rows in sums.end()]
    return Partial(packed(found, NAMED_PARTIAL), counts, tuple(told), options, places)


@checks_options
def merge_partial(partials: Iterable[Partial], *, jobs: int | None = None, memory: int | str = 10**9) -> Scan:
    """Make one scan of what `scan_partial` has found in shares of the inputs, given in the order of the inputs.

    The classes are those of one scan of all inputs; there are no occurrences. An input that is in two shares counts twice.
    `memory` is in octets, also as text such as "500MB"; `jobs` are threads, None: as many as there are cores.
    Raises FatalError if no input could be read; ArgumentError (a ValueError and a TypeError) if shares were scanned with
    different options.

    >>> from urnscan import merge_partial, samples, scan_partial
    >>> shares = [samples() / "prose.txt", samples() / "titles.csv"]
    >>> found = merge_partial(scan_partial(share, trim=True) for share in shares)
    >>> found.report.occurrences, found.report.classes
    (23, 17)
    """
    (grouping,) = read_options(locals(), Options)
    given = iter(partials)
    first = next(given, None)
    if first is None:
        raise ArgumentError("nothing to merge: give what scan_partial returned")
    options, merged = first.options, _Merged()
    rows = merged.rows(chain([first], given))
    classes = list(classes_of_partial(rows, options, grouping.memory, grouping.jobs))
    report = Report(
        **asdict(merged.counts),
        classes=sum(each.num_rows for each in classes),
        untrimmed=sum(map(count_untrimmed, classes)),
        failures=[each for each in merged.told if not isinstance(each, SourceNote)],
        notes=[each for each in merged.told if isinstance(each, SourceNote)],
    )
    report.rejects = None
    if report.failures and not report.inputs:
        raise FatalError("no input could be read")
    if not options.leaves_out:
        report.left_out = None
    said = report.metadata(options)
    nothing = as_table([], OCCURRENCES, said)
    return Scan(classes=as_table(classes, CLASSES, said), occurrences=nothing, report=report, options=options)


class _Merged:
    """Counts and failures of the shares whose rows have been given."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.told: list[SourceError] = []

    def rows(self, partials: Iterable[Partial]) -> Iterator[pa.RecordBatch]:
        """NAMED_PARTIAL rows of all shares, whose inputs are numbered through. Raises ArgumentError."""
        places, identity = 0, None
        for each in partials:
            own = each.options.identity()
            identity = identity or own
            if differing := [name for name, value in own.items() if value != identity[name]]:
                raise ArgumentError(f"the shares were scanned with different options: {', '.join(differing)}")
            self.counts += each.counts
            self.told += each.failures
            for rows in unpacked(each.rows):
                yield _with_places_from(places, rows)
            places += each.places


def _with_places_from(first: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with higher numbers of their inputs."""
    for name in ("first_source", "last_source") if first else ():
        number = rows.schema.get_field_index(name)
        places = number_array(numbers(rows.column(name)) + np.int32(first))
        rows = rows.set_column(number, rows.schema.field(number), places)
    return rows
