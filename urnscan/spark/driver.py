"""The part of the driver: tasks are planned, handed to executors as a frame, and their results become tables."""

from __future__ import annotations

import json
import os
import pickle
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from urnscan.errors import ArgumentError, FatalError, SourceError, SourceNote, checks_options
from urnscan.grouping.ranges import Ranges
from urnscan.run.failures import add_note
from urnscan.run.options import OF_INPUTS, Options, named_inputs, read_options
from urnscan.run.pipeline import Report
from urnscan.run.task_results import Counts
from urnscan.run.tasks import Argument, FilePart, tasks
from urnscan.scanner.grammar import ResolverTail
from urnscan.spark import executors
from urnscan.spark.executors import Told, Wanted
from urnscan.spark.frames import CLASSES_HERE, CUT, OCCURRENCES_HERE, PART, RAW, REJECTED, ddl
from urnscan.spark.keys import Keys
from urnscan.spark.partitions import by_range, cores_of, first_tasks, partitions_of, ranges_before
from urnscan.tables.editions import names_now
from urnscan.tables.schemas import WRITTEN
from urnscan.urn.namespaces.own import Rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


_KEY = "urnscan"  # of the options in the metadata of the column `urn`


@dataclass(frozen=True)
class Scan:
    """Tables of a scan; a context manager that calls `unpersist`.

    Inputs are scanned once, when a table is first needed. The results stay on the disks of the executors; if an
    executor is lost, its part is scanned again.
    """

    raw: DataFrame
    """The results of all tasks, in blobs (`frames.RAW`)."""
    options: Options
    """The options of the scan."""
    _partitions: int
    """Their number."""
    has_parts: bool
    """Whether a file was cut into parts, each of which counts its lines from 1: these tables then begin with a scan."""
    _ranges: Ranges
    """Ranges of keys by which executors part what they find."""

    @property
    def occurrences(self) -> DataFrame:
        """The table of occurrences, and a column `place`: sorted by it, rows are in the order of one machine."""
        return self._rows_of(self._blobs("occurrences"), "occurrences")

    @property
    def classes(self) -> DataFrame:
        """The table of classes, sorted by `urn`. Begins with a scan: the ranges of its partitions depend on what is found."""
        return _classes(self._in_ranges(), self.options)

    @property
    def rejects(self) -> DataFrame:
        """The table of rejects, if it was asked for."""
        return self._rows_of(self._blobs("rejects"), "rejects")

    def _rows_of(self, blobs: DataFrame, table: str) -> DataFrame:
        before = self._lines_before
        if table == "rejects":
            return blobs.mapInArrow(lambda batches: executors.rejects_here(batches, before), ddl(REJECTED))
        rows = blobs.mapInArrow(lambda batches: executors.occurrences_here(batches, before), ddl(OCCURRENCES_HERE))
        return _with_options(rows, self.options)

    def to_write(self, table: str) -> DataFrame:
        """A table whose small neighbouring partitions come together, so that they become few files."""
        return self.classes if table == "classes" else self._rows_of(self._in_order(table), table)

    def write(self, table: str, folder: str) -> list[Row]:
        """Have executors write a table to files in a folder that all of them share, or at a URL.

        Gives a row for each file, in the order of the table (`frames.PART`). Files that lost attempts leave are others.
        """
        options, before = self.options, self._lines_before
        blobs = self._in_ranges() if table == "classes" else self._in_order(table)

        def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
            if table == "classes":
                return executors.classes_of_range(batches, options)
            return executors.whole_lines(batches, before, WRITTEN[table]["schema"])

        metadata = options.metadata()
        files = blobs.mapInArrow(
            lambda batches: executors.written(batches, rows_of, table, metadata, folder), ddl(PART)
        )
        return sorted(files.collect())

    @property
    def errors(self) -> DataFrame:
        """Failures in the order of the inputs: `source`, `reason`. Equal failures of parts of one file are one row."""
        return self._frame(self.report().failures)

    @property
    def notes(self) -> DataFrame:
        """Notes in the order of the inputs: `source`, `reason`. What they name was scanned as it is."""
        return self._frame(self.report().notes)

    def _frame(self, told: Sequence[SourceError]) -> DataFrame:
        rows = [(each.source, each.reason) for each in told]
        return self.raw.sparkSession.createDataFrame(rows, "source string, reason string")

    def report(self) -> Report:
        """Counts, failures and notes; `classes` and `seconds` are unknown."""
        counts, failures, met, parts = Counts(), [], set(), set()
        for told in self._told[0]:
            counts += told.counts
            if told.part_of is not None and told.counts.inputs:  # all parts of a file are one input
                counts += Counts(inputs=-1 if told.part_of in parts else 0)
                parts.add(told.part_of)
            for each in told.failures:
                if told.part_of is None or (told.part_of, str(each)) not in met:
                    failures.append(each)
                    met.add((told.part_of, str(each)))
        report = Report(**asdict(counts), failures=[each for each in failures if not isinstance(each, SourceNote)])
        for each in failures:
            if isinstance(each, SourceNote):
                add_note(report.notes, each)
        if not self.options.leaves_out:
            report.left_out = None
        return report

    def unpersist(self) -> None:
        """Delete the results on the disks of the executors."""
        self.raw.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    @cached_property
    def _told(self) -> tuple[list[Told], Keys]:
        """Summaries of the tasks in their order, and some keys: the first to ask for them has all inputs scanned."""
        return _told(self._blobs("told"))

    @property
    def _lines_before(self) -> dict[int, int]:
        """LF octets in a file before a task that is a part of it."""
        before: dict[int, int] = {}
        lines: Counter[int] = Counter()
        for told in self._told[0] if self.has_parts else ():
            if told.part_of is not None:
                before[told.task] = lines[told.part_of]
                lines[told.part_of] += told.lines
        return before

    def _in_order(self, kind: str) -> DataFrame:
        """Blobs of occurrences or rejects in the order of the inputs; small ones of many partitions come into one."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        blobs = self._blobs(kind)
        firsts = first_tasks(self._told[0], kind)
        if 2 * len(firsts) > self._partitions:
            return blobs
        number = F.size(F.filter(F.lit(firsts), lambda first: first <= F.col("task"))) - 1
        return blobs.repartitionById(len(firsts), number).sortWithinPartitions("task", "row")

    def _in_ranges(self) -> DataFrame:
        """Blobs of partial rows by range. They are parted again if the ranges do not fit what was found."""
        blobs, ranges, keys = self._blobs("partial"), self._ranges, self._told[1]
        cores = cores_of(self.raw.sparkSession)
        if not keys.fit(ranges, cores):
            ranges = keys.ranges(cores)
            blobs = blobs.select(*CUT.names).mapInArrow(lambda batches: executors.cut(batches, ranges), ddl(CUT))
        return by_range(blobs, ranges)

    def _blobs(self, kind: str) -> DataFrame:
        return self.raw.where(f"kind = '{kind}'").drop("kind")


@checks_options
def scan(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rejects: bool = False,
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
    strict: bool = False,
) -> Scan:
    """Scan files, folders, globs and URLs, which all executors must reach by the same name.

    `spark` is a session of pyspark 4.1 or later. The options are those of `urnscan.scan` but for `jobs` and `memory`.
    Inputs that fail are in `errors`.
    Raises FatalError for standard input, ArgumentError (a ValueError and a TypeError) for invalid options.

    >>> with urnscan.spark.scan(spark, "data/samples/*.txt", trim=True) as found:  # doctest: +SKIP
    ...     found.report().occurrences, found.classes.count()
    (72, 55)
    """
    tables = {"occurrences", "classes", *(["rejects"] if rejects else [])}
    return _scan(spark, inputs, locals(), tables)


@checks_options
def occurrences(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
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
    strict: bool = False,
) -> DataFrame:
    """Scan inputs; gives the table of occurrences. Takes the options of `scan` and raises its errors.

    If failures or classes are needed as well, call `scan`, which gives all tables for one reading.

    >>> urnscan.spark.occurrences(spark, "data/samples/prose.txt").where("nid = 'nbn'").count()  # doctest: +SKIP
    12
    """
    return _scan(spark, inputs, locals(), {"occurrences"}).occurrences


def _scan(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    options: Mapping[str, Any],
    tables: Collection[str],
) -> Scan:
    """Scan one input or several, for a function of the library. Raises FatalError and ArgumentError."""
    (chosen,) = read_options(options, Options)
    names = named_inputs([inputs] if isinstance(inputs, str | os.PathLike) else inputs)
    return scan_inputs(spark, names, Wanted(chosen, frozenset(tables)))


@checks_options
def classes(occurrences: DataFrame, *, rules: Rules = None) -> DataFrame:
    """Group occurrences that this module gave, or some of them, into equivalence classes; also when read from Parquet.

    Needs their columns `urn`, `text`, `source`, `member`, `start` and `place`. Occurrences that were found with own
    `rules` need the same rules here. Raises ArgumentError if a column is missing, or the rules are others.

    >>> found = urnscan.spark.occurrences(spark, "data/samples/prose.txt", trim=True)  # doctest: +SKIP
    >>> urnscan.spark.classes(found.where("nid = 'isbn'")).select("urn", "occurrence_count").first()  # doctest: +SKIP
    Row(urn='urn:isbn:0-9999412-0-8', occurrence_count=1)
    """
    now = dict(zip(occurrences.columns, names_now(occurrences.columns), strict=True))
    occurrences = occurrences.withColumnsRenamed(now)
    names = ("urn", "text", "source", "member", "start", "place")
    is_whole = set(names) <= set(occurrences.columns)
    found_by = occurrences.schema["urn"].metadata.get(_KEY) if is_whole else None
    if found_by is None:
        raise ArgumentError(
            f"these are no occurrences of urnscan.spark: it needs their columns {', '.join(names)} as they are"
        )
    metadata = json.loads(found_by)
    options = Options(syntax=metadata["syntax"], equivalence=metadata["equivalence"], rules=rules)
    if options.level.rulebook.sha256 != metadata.get("rules"):
        raise ArgumentError("these occurrences were found with other rules: give the same file as rules=")
    _, keys = _told(occurrences.select("urn").mapInArrow(executors.keys_of_occurrences, ddl(RAW)))
    ranges = keys.ranges(cores_of(occurrences.sparkSession))
    # Rows are added up in input order, so partitions must be ranges of `place`, each sorted.
    ordered = occurrences.select(*names).repartitionByRange("place").sortWithinPartitions("place")
    partial = ordered.mapInArrow(lambda batches: executors.partial_of_occurrences(batches, ranges), ddl(RAW))
    return _classes(by_range(partial, ranges), options)


@checks_options
def scan_column(
    frame: DataFrame,
    column: str,
    *,
    keep: Sequence[str] = (),
    syntax: str = "rfc2141",
    equivalence: str = "lexical",
    trim: bool = False,
    recover: str | Iterable[str] = (),
    resolver_tail: ResolverTail = "keep",
    max_length: int = 65_536,
    nid: str | Iterable[str] = (),
    not_nid: str | Iterable[str] = (),
    rules: Rules = None,
) -> DataFrame:
    """Scan a column of text or octets; occurrences get the columns `keep` of their row.

    The rows are those of the occurrence table: `source` is empty, `member` is `row/column`, with the rows numbered by
    `monotonically_increasing_id`. The options are those of `urnscan.scan_batches`. Raises ArgumentError (a ValueError and
    a TypeError) for invalid options, and for a column that is missing, is not text, or has the name of a column of the
    occurrence table.

    >>> frame = spark.createDataFrame([(7, "see urn:isbn:0451450523")], "page int, text string")  # doctest: +SKIP
    >>> urnscan.spark.scan_column(frame, "text", keep=["page"]).select("page", "urn").first()  # doctest: +SKIP
    Row(page=7, urn='urn:isbn:0451450523')
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    for name in (column, *keep):
        if name not in frame.columns:
            raise ArgumentError(f"no column {name!r} among {', '.join(frame.columns)}")
    if twice := sorted({*keep} & {*OCCURRENCES_HERE.names}):
        raise ArgumentError(f"occurrences already have a column {twice[0]!r}: rename the one to keep")
    kind = frame.schema[column].dataType.typeName()
    if kind not in ("string", "binary", "char", "varchar"):
        raise ArgumentError(f"column {column!r} is {kind}, not text")
    (options,) = read_options(locals(), Options, without=OF_INPUTS)
    numbered = frame.select(F.col(column), *keep, F.monotonically_increasing_id().alias("row"))
    kept = (f"`{name}` {frame.schema[name].dataType.simpleString()}" for name in keep)
    schema = ", ".join([ddl(OCCURRENCES_HERE), *kept])
    return _with_options(
        numbered.mapInArrow(lambda batches: executors.scanned_column(batches, options, keep), schema), options
    )


def _with_options(occurrences: DataFrame, options: Options) -> DataFrame:
    """Note in the metadata of `urn` by which options the occurrences were found."""
    return occurrences.withMetadata("urn", {_KEY: json.dumps(options.metadata())})


def scan_inputs(spark: SparkSession, inputs: Sequence[Argument], wanted: Wanted, outputs: Collection[str] = ()) -> Scan:
    """Scan inputs, but not the files `outputs`; gives the tables that are wanted. Raises FatalError."""
    from pyspark import StorageLevel  # noqa: PLC0415

    if "-" in inputs:
        raise FatalError("standard input is on one machine only: name files, folders or URLs that all executors reach")
    planned = list(tasks(inputs, wanted.options, outputs, wanted.sizes))
    has_parts = any(isinstance(task, FilePart) for task in planned)
    partitions = list(partitions_of(planned, cores_of(spark)))
    ranges = ranges_before(spark, planned, wanted) if "classes" in wanted.tables else Ranges()
    numbers = spark.range(0, len(partitions), 1, max(1, len(partitions)))
    # Functions take the tasks along, as Spark Connect has no broadcast; classic Spark makes one of it if they are many.
    raw = numbers.mapInArrow(lambda batches: executors.scanned_tasks(batches, wanted, partitions, ranges), ddl(RAW))
    return Scan(raw.persist(StorageLevel.DISK_ONLY), wanted.options, len(partitions), has_parts, ranges)


def _told(blobs: DataFrame) -> tuple[list[Told], Keys]:
    """Summaries of the tasks in their order, and some keys of all partitions."""
    told, keys = [], Keys()
    for (blob,) in blobs.select("rows").collect():
        some, sampled = pickle.loads(blob)  # noqa: S301 (pickled by executors, which run the same code)
        told += some
        keys.add(sampled)
    return sorted(told, key=lambda each: each.task), keys


def _classes(blobs: DataFrame, options: Options) -> DataFrame:
    """Blobs of partial rows, by range -> CLASSES_HERE rows."""

    def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return executors.plain(executors.classes_of_range(batches, options), CLASSES_HERE)

    return blobs.mapInArrow(rows_of, ddl(CLASSES_HERE))
