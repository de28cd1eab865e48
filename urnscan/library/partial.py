"""`scan_partial` and `merge_partial`: a scan in shares, for engines that run functions on many machines.

Each share of the inputs is scanned separately, and the results are merged to a single scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import pyarrow as pa

from urnscan.errors import ArgumentError, FatalError, SourceError, checks_options
from urnscan.library.scans import Scan
from urnscan.library.shared import as_table
from urnscan.run.failures import Failures
from urnscan.run.options import Named, Options, named_inputs, read_options
from urnscan.run.partial_result import Sums, classes_of_partial, packed, renumbered, unpacked
from urnscan.run.pipeline import Report
from urnscan.run.task_results import Counts, Done, Failed, ResultRows
from urnscan.run.tasks import FileGroup, FilePart, Sizes, tasks
from urnscan.run.worker import Worker
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.stores.input import Listed
from urnscan.tables.joinable_classes import JoinableClasses
from urnscan.tables.rows import count_untrimmed
from urnscan.tables.schemas import CLASSES, NAMED_PARTIAL, OCCURRENCES
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName

_SIZES = Sizes()


@dataclass(frozen=True)
class Partial:
    """Result of `scan_partial`, the scan of a share of the inputs: counts of each spelling, and failures. It can be
    pickled; `merge_partial` makes a single result of several.
    """

    rows: bytes = field(repr=False)
    """A compressed Arrow stream of NAMED_PARTIAL rows: one or several for each spelling of a URN, with its count and
    the first place where it occurs.
    """
    counts: Counts
    """Counts of inputs, bytes and occurrences."""
    failures: tuple[SourceError, ...] = ()
    """Failures (inputs that could not be read) and notes (inputs of a known form that were scanned as plain text, and
    others), in the order of the inputs.
    """
    options: Options = field(default_factory=Options, repr=False)
    """The options of the scan."""
    places: int = 0
    """Number of inputs, including inputs that could not be read."""


@checks_options
def scan_partial(
    *inputs: Named,
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
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
    """Scan a share of the inputs of a large job, in a single thread. `merge_partial` makes a single result of all
    shares.

    Inputs and options are as in `scan`, without `cdx`. Inputs that cannot be read are in `failures` of the result; they
    raise no error, even if no input could be read. Raises FatalError if a file of rules or a list of filters cannot be
    read, and for an unknown `encoding`; ArgumentError (a ValueError and a TypeError) for other invalid options.

    >>> from urnscan import samples, scan_partial
    >>> scan_partial(samples() / "prose.txt", trim=True).counts.occurrences
    21
    """
    (options,) = read_options(locals(), Options)
    worker = Worker(options, _SIZES, {"classes"}, lambda _: None)
    reported: list[SourceError] = []
    failures, sums, counts, places = Failures(reported.append), Sums(), Counts(), 0
    batches: list[pa.RecordBatch] = []
    # The number of the last huge file that was counted. Such a file is split into several tasks.
    counted_file = None
    for task in tasks(named_inputs(inputs), options, (), _SIZES):
        if isinstance(task, FileGroup | FilePart):
            sources = task.inputs if isinstance(task, FileGroup) else [task.input]
            places = task.place + sum(len(source) if isinstance(source, Listed) else 1 for source in sources)
        for result in worker.work(task):
            match result:
                case Failed():
                    failures.add(result.place, result.name, result.error, is_part=isinstance(task, FilePart))
                case ResultRows():
                    counts += result.counts
                    if result.partial is not None:
                        batches += [rows for _, rows in sums.add(result.partial, result.names)]
                case Done():
                    is_counted = isinstance(task, FilePart) and task.place == counted_file
                    counts += replace(result.counts, inputs=0) if is_counted else result.counts
                    if isinstance(task, FilePart) and result.counts.inputs:
                        counted_file = task.place
    failures.finish()
    batches += [rows for _, rows in sums.end()]
    return Partial(packed(batches, NAMED_PARTIAL), counts, tuple(reported), options, places)


@checks_options
def merge_partial(partials: Iterable[Partial], *, jobs: int | None = None, memory: int | str = 10**9) -> Scan:
    """Merge results of `scan_partial` to the result of a single scan.

    The classes are the same as after one scan of all inputs, in the order of `partials`. The table of occurrences is
    empty, and `rejects` is None. An input in two shares counts twice. `memory` is in bytes, also as text such as
    "500MB". `jobs` is the number of threads; None: the number of cores.
    Raises FatalError if no input could be read; ArgumentError (a ValueError and a TypeError) without partials, and if
    they were scanned with different options.

    >>> from urnscan import merge_partial, samples, scan_partial
    >>> shares = [samples() / "prose.txt", samples() / "titles.csv"]
    >>> result = merge_partial(scan_partial(share, trim=True) for share in shares)
    >>> result.report.occurrences, result.report.classes
    (23, 17)
    """
    (grouping,) = read_options(locals(), Options)
    results = _checked(partials)
    first = next(results, None)
    if first is None:
        raise ArgumentError("nothing to merge; give what scan_partial returned")
    options, merged = first.options, _Merged()
    rows = merged.rows(chain([first], results))
    classes = list(classes_of_partial(rows, options, grouping.memory, grouping.jobs))
    report = Report.of(merged.counts, merged.failures, options)
    report.classes, report.untrimmed = sum(batch.num_rows for batch in classes), sum(map(count_untrimmed, classes))
    joinable = JoinableClasses(options.level)
    for batch in classes:
        joinable.add(batch.column("urn"))
    report.joinable = joinable.count()
    report.rejects = None
    if report.failures and not report.inputs:
        raise FatalError("no input could be read")
    metadata = report.metadata(options)
    occurrences = as_table([], OCCURRENCES, metadata)
    return Scan(classes=as_table(classes, CLASSES, metadata), occurrences=occurrences, report=report, options=options)


def _checked(partials: Any) -> Iterator[Partial]:  # noqa: ANN401 (what a caller gave)
    for partial in partials if isinstance(partials, Iterable) else [partials]:
        if not isinstance(partial, Partial):
            raise ArgumentError(f"merge_partial needs results of scan_partial, not {type(partial).__name__}")
        yield partial


class _Merged:
    """Sums of the counts, and the failures, of the shares (results of `scan_partial`) that were read so far."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.failures: list[SourceError] = []

    def rows(self, partials: Iterable[Partial]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all shares, and add their counts and failures. The numbers of inputs continue from share to
        share.
        """
        inputs, first_options = 0, None
        for partial in partials:
            options = partial.options.identity()
            first_options = first_options or options
            if differing := [name for name, value in options.items() if value != first_options[name]]:
                raise ArgumentError(f"the shares were scanned with different options: {', '.join(differing)}")
            self.counts += partial.counts
            self.failures += partial.failures
            for rows in unpacked(partial.rows):
                yield renumbered(rows, inputs)
            inputs += partial.places
