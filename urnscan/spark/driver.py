"""The driver: plans tasks, sends the tasks to executors as a frame, and makes tables of the results."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from urnscan.errors import ArgumentError, FatalError, SourceError, checks_options, option
from urnscan.grouping.ranges import Ranges
from urnscan.run.options import OF_INPUTS, Options, named_inputs, read_options
from urnscan.run.pipeline import Report
from urnscan.run.tasks import Argument, FilePart, tasks
from urnscan.scanner.grammar import ResolverTail
from urnscan.scanner.views.kinds import ViewName
from urnscan.spark import executors
from urnscan.spark.executors import ScanRequest
from urnscan.spark.frames import (
    PARTIAL_BLOBS,
    RESULTS,
    SPARK_CLASSES,
    SPARK_OCCURRENCES,
    SPARK_REJECTS,
    WRITTEN_FILES,
    ddl,
)
from urnscan.spark.keys import KeySample
from urnscan.spark.partitions import by_range, cores_of, first_tasks, partitions_of, ranges_of_heads
from urnscan.spark.summaries import TaskSummary, collect, lines_before_parts, report_of
from urnscan.tables.editions import names_now
from urnscan.tables.schemas import WRITTEN
from urnscan.urn.equivalence import LevelName
from urnscan.urn.namespaces.own import Rules
from urnscan.urn.syntax import SyntaxName

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


_KEY = "urnscan"
"""Key of the options in the metadata of the column `urn`."""


@dataclass(frozen=True)
class Scan:
    """Tables of a scan on Spark; a context manager that calls `unpersist`.

    Inputs are scanned once: when the first table is needed or, with `strict`, by the function `scan`. Results stay on
    the disks of the executors; if an executor is lost, its inputs are scanned again.
    """

    results: DataFrame
    """The results of all tasks, as blobs (many rows of Arrow in one binary value): `frames.RESULTS`."""
    options: Options
    """The options of the scan."""
    _partitions: int
    """Number of partitions of `results`."""
    has_parts: bool
    """Whether a file was split into parts. Each part counts its lines from 1, so all tables then need a whole scan."""
    _ranges: Ranges
    """Ranges of keys (canonical forms) by which executors split partial rows."""

    @property
    def occurrences(self) -> DataFrame:
        """The table of occurrences, not sorted. Sorted by `place`, it has the order of a scan on a single machine."""
        return self._rows_of(self._blobs("occurrences"), "occurrences")

    @property
    def classes(self) -> DataFrame:
        """The table of classes, sorted by `urn`. This first runs the whole scan."""
        return _classes(self._in_ranges(), self.options)

    @property
    def rejects(self) -> DataFrame:
        """The table of rejects; without rows if the scan was not asked for rejects."""
        return self._rows_of(self._blobs("rejects"), "rejects")

    def _rows_of(self, blobs: DataFrame, table: str) -> DataFrame:
        lines_before = self._lines_before
        if table == "rejects":
            return blobs.mapInArrow(lambda batches: executors.reject_rows(batches, lines_before), ddl(SPARK_REJECTS))
        rows = blobs.mapInArrow(
            lambda batches: executors.occurrence_rows(batches, lines_before), ddl(SPARK_OCCURRENCES)
        )
        return _with_options(rows, self.options)

    def to_write(self, table: str) -> DataFrame:
        """The table `table`, in order (classes by `urn`, others as the inputs), in few partitions. Runs the scan."""
        return self.classes if table == "classes" else self._rows_of(self._in_order(table), table)

    def write(self, table: str, folder: str) -> list[Row]:
        """Write the table `classes`, `occurrences` or `rejects` to Parquet files. Executors write them, to a folder
        that all executors share, or to a URL.

        Returns a row of `frames.WRITTEN_FILES` (name and counts) for each file, in the order of the table. The folder
        may contain more files, which lost attempts have left. Raises an error of Spark if an executor cannot write.
        """
        options, lines_before = self.options, self._lines_before
        blobs = self._in_ranges() if table == "classes" else self._in_order(table)

        def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
            if table == "classes":
                return executors.classes_of_range(batches, options)
            return executors.table_rows(batches, lines_before, WRITTEN[table]["schema"])

        metadata = options.metadata()
        files = blobs.mapInArrow(
            lambda batches: executors.write_file(batches, rows_of, table, metadata, folder), ddl(WRITTEN_FILES)
        )
        return sorted(files.collect())

    @property
    def errors(self) -> DataFrame:
        """Frame of the failures, in the order of the inputs, with the columns `source` and `reason`; runs the scan, if
        it has not run. Equal failures of several parts of a file are one row.
        """
        return self._frame(self.report().failures)

    @property
    def notes(self) -> DataFrame:
        """Frame of the notes (remarks on inputs that are not failures), like `errors`; runs the scan, if need be."""
        return self._frame(self.report().notes)

    def _frame(self, failures: Sequence[SourceError]) -> DataFrame:
        rows = [(failure.source, failure.reason) for failure in failures]
        return self.results.sparkSession.createDataFrame(rows, "source string, reason string")

    def report(self) -> Report:
        """Counts, failures and notes; runs the whole scan, if it has not run. Classes are not counted; `seconds` is 0."""
        return report_of(self._summaries, self.options)

    def unpersist(self) -> None:
        """Delete the results on the disks of the executors. A later use of a table would scan the inputs again."""
        self.results.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    @cached_property
    def _summaries_and_keys(self) -> tuple[list[TaskSummary], KeySample]:
        """The first access waits for the whole scan."""
        return collect(self._blobs("summaries"))

    @property
    def _summaries(self) -> list[TaskSummary]:
        return self._summaries_and_keys[0]

    @property
    def _lines_before(self) -> dict[int, int]:
        return lines_before_parts(self._summaries) if self.has_parts else {}

    def _in_order(self, kind: str) -> DataFrame:
        """Blobs of `kind` in the order of the inputs; small ones share a partition. Runs the scan."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        blobs = self._blobs(kind)
        firsts = first_tasks(self._summaries, kind)
        if 2 * len(firsts) > self._partitions:
            return blobs
        number = F.size(F.filter(F.lit(firsts), lambda first: first <= F.col("task"))) - 1
        return blobs.repartitionById(len(firsts), number).sortWithinPartitions("task", "row")

    def _in_ranges(self) -> DataFrame:
        """Blobs of partial rows, a partition for each range of keys."""
        blobs, ranges = self._blobs("partial"), self._ranges
        _, sample = self._summaries_and_keys
        cores = cores_of(self.results.sparkSession)
        if not sample.fits(ranges, cores):
            ranges = sample.ranges(cores)
            blobs = blobs.select(*PARTIAL_BLOBS.names).mapInArrow(
                lambda batches: executors.split_blobs(batches, ranges), ddl(PARTIAL_BLOBS)
            )
        return by_range(blobs, ranges)

    def _blobs(self, kind: str) -> DataFrame:
        return self.results.where(f"kind = '{kind}'").drop("kind")


@checks_options
def scan(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rejects: bool = False,
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
    strict: bool = False,
) -> Scan:
    """Scan files, folders, globs and URLs. All executors must be able to read each input by the same name.

    `spark` is a session of pyspark 4.1 or later. The options are those of `urnscan.scan`, without `cdx`, `progress`,
    `jobs` and `memory`. The inputs are found now, and scanned when the first table of the result is used; with
    `strict`, they are scanned now. Inputs that fail are in `errors` of the result, even if all fail. Raises FatalError
    for standard input, an unknown encoding, unreadable rules or filters and, with `strict`, if any input fails;
    ArgumentError (a ValueError and a TypeError) for invalid options.

    >>> with urnscan.spark.scan(spark, "data/samples/*.txt", trim=True) as result:  # doctest: +SKIP
    ...     result.report().occurrences, result.classes.count()
    (72, 55)
    """
    return _scan(spark, inputs, locals(), {"occurrences", "classes", *(["rejects"] if rejects else [])})


@checks_options
def occurrences(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
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
    strict: bool = False,
) -> DataFrame:
    """Scan inputs, and return the table of occurrences as a frame. Options and errors are those of `scan`. Failures are
    not reported, except with `strict`: if you need them, or classes, call `scan`, which makes all tables in one scan.

    >>> urnscan.spark.occurrences(spark, "data/samples/prose.txt").where("nid = 'nbn'").count()  # doctest: +SKIP
    12
    """
    return _scan(spark, inputs, locals(), {"occurrences"}).occurrences


def _scan(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    arguments: Mapping[str, Any],
    tables: Collection[str],
) -> Scan:
    """Scan inputs. `arguments` are those of a public function; names that are not options are ignored. With `strict`,
    inputs are read now, and a failed input raises FatalError.
    """
    (scan_options,) = read_options(arguments, Options)
    names = named_inputs([inputs] if isinstance(inputs, str | os.PathLike) else inputs)
    result = scan_inputs(spark, names, ScanRequest(scan_options, frozenset(tables)))
    if scan_options.strict and (failures := result.report().failures):
        result.unpersist()
        raise FatalError(f"an input failed ({option('strict')}): {failures[0]}")
    return result


@checks_options
def classes(occurrences: DataFrame, *, rules: Rules = None) -> DataFrame:
    """Group occurrences into classes: returns the table of classes, sorted by `urn`. A job over the frame runs at once.

    `occurrences` is a table of occurrences of this module, or some rows of it, also if written to Parquet and read
    again. The columns `urn`, `text`, `source`, `member`, `start` and `place` must be unchanged. If the scan had custom
    `rules`, the same rules are needed here. Raises ArgumentError for any other frame, and if the rules differ;
    FatalError for unreadable rules.

    >>> rows = urnscan.spark.occurrences(spark, "data/samples/prose.txt", trim=True)  # doctest: +SKIP
    >>> urnscan.spark.classes(rows.where("nid = 'isbn'")).select("urn", "occurrence_count").first()  # doctest: +SKIP
    Row(urn='urn:isbn:0-9999412-0-8', occurrence_count=1)
    """
    new_names = dict(zip(occurrences.columns, names_now(occurrences.columns), strict=True))
    occurrences = occurrences.withColumnsRenamed(new_names)
    names = ("urn", "text", "source", "member", "start", "place")
    is_whole = set(names) <= set(occurrences.columns)
    json_options = occurrences.schema["urn"].metadata.get(_KEY) if is_whole else None
    if json_options is None:
        raise ArgumentError(
            f"this frame was not made by urnscan.spark, or was changed: the columns {', '.join(names)} are needed"
        )
    metadata = json.loads(json_options)
    options = Options(syntax=metadata["syntax"], equivalence=metadata["equivalence"], rules=rules)
    if options.level.rulebook.sha256 != metadata.get("rules"):
        raise ArgumentError("these occurrences were found with other rules; give the same file as rules=")
    _, sample = collect(occurrences.select("urn").mapInArrow(executors.sample_occurrences, ddl(RESULTS)))
    ranges = sample.ranges(cores_of(occurrences.sparkSession))
    # Rows are added up in the order of the inputs, so partitions must be ranges of `place`, and sorted by it.
    ordered = occurrences.select(*names).repartitionByRange("place").sortWithinPartitions("place")
    partial = ordered.mapInArrow(lambda batches: executors.partial_of_occurrences(batches, ranges), ddl(RESULTS))
    return _classes(by_range(partial, ranges), options)


@checks_options
def scan_column(
    frame: DataFrame,
    column: str,
    *,
    keep: Sequence[str] = (),
    syntax: SyntaxName = "rfc2141",
    equivalence: LevelName = "lexical",
    trim: bool = False,
    recover: ViewName | Iterable[ViewName] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
) -> DataFrame:
    """Scan a column of text or bytes, and return a frame with a row for each occurrence. Each gets the columns `keep`
    of the row of `frame` that contains it.

    The result has the columns of the occurrence table. `source` is empty. `member` is `row/column`; the number of the
    row comes from `monotonically_increasing_id`. The options are those of `urnscan.scan_batches`. Raises ArgumentError
    (a ValueError and a TypeError) for invalid options, a column that is missing or has neither text nor bytes, and a
    column to keep that has a name of the occurrence table; FatalError for unreadable rules.

    >>> frame = spark.createDataFrame([(7, "see urn:isbn:0451450523")], "page int, text string")  # doctest: +SKIP
    >>> urnscan.spark.scan_column(frame, "text", keep=["page"]).select("page", "urn").first()  # doctest: +SKIP
    Row(page=7, urn='urn:isbn:0451450523')
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    for name in (column, *keep):
        if name not in frame.columns:
            raise ArgumentError(f"no column {name!r} among {', '.join(frame.columns)}")
    if clashes := sorted({*keep} & {*SPARK_OCCURRENCES.names}):
        raise ArgumentError(f"occurrences already have a column {clashes[0]!r}; rename the one to keep")
    kind = frame.schema[column].dataType.typeName()
    if kind not in ("string", "binary", "char", "varchar"):
        raise ArgumentError(f"column {column!r} is {kind}, not text")
    (options,) = read_options(locals(), Options, without=OF_INPUTS)
    numbered = frame.select(F.col(column), *keep, F.monotonically_increasing_id().alias("row"))
    kept = (f"`{name}` {frame.schema[name].dataType.simpleString()}" for name in keep)
    schema = ", ".join([ddl(SPARK_OCCURRENCES), *kept])
    return _with_options(
        numbered.mapInArrow(lambda batches: executors.scan_column_batches(batches, options, keep), schema), options
    )


def _with_options(occurrences: DataFrame, options: Options) -> DataFrame:
    return occurrences.withMetadata("urn", {_KEY: json.dumps(options.metadata())})


def scan_inputs(
    spark: SparkSession, inputs: Sequence[Argument], request: ScanRequest, outputs: Collection[str] = ()
) -> Scan:
    """Return a `Scan` of inputs, which are found now and read when a table is used. If classes are requested and the
    inputs have 128 MiB or more, first bytes are read now. Outputs in a folder of inputs are skipped. FatalError is
    raised for standard input, an output named as an input or not written by urnscan, and an unreadable list of inputs.
    """
    from pyspark import StorageLevel  # noqa: PLC0415

    if "-" in inputs:
        raise FatalError("executors cannot read standard input; name files, folders or URLs that all of them reach")
    planned = list(tasks(inputs, request.options, outputs, request.sizes))
    has_parts = any(isinstance(task, FilePart) for task in planned)
    cores = cores_of(spark)
    partitions = list(partitions_of(planned, cores))
    ranges = ranges_of_heads(spark, planned, request, cores) if "classes" in request.tables else Ranges()
    numbers = spark.range(0, len(partitions), 1, max(1, len(partitions)))
    # The tasks are sent with the function, because Spark Connect has no broadcast. If there are many tasks, classic Spark
    # sends them as a broadcast.
    results = numbers.mapInArrow(
        lambda batches: executors.scan_tasks(batches, request, partitions, ranges), ddl(RESULTS)
    )
    return Scan(results.persist(StorageLevel.DISK_ONLY), request.options, len(partitions), has_parts, ranges)


def _classes(blobs: DataFrame, options: Options) -> DataFrame:
    """SPARK_CLASSES rows. `blobs` has a partition for each range of keys."""
    return blobs.mapInArrow(lambda batches: executors.class_rows(batches, options), ddl(SPARK_CLASSES))
