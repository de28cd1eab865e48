"""The part of the driver: tasks are planned, handed to executors as a frame, and their results become tables."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from urnscan.errors import FatalError, SourceError
from urnscan.run.options import OF_INPUTS, Options, named_inputs, read_keywords
from urnscan.run.pipeline import Report
from urnscan.run.tasks import Argument, Files, Part, Task, tasks
from urnscan.sources import Listed
from urnscan.spark.executors import (
    Wanted,
    classes_of_partial,
    partial_of_occurrences,
    scanned_column,
    scanned_tasks,
)
from urnscan.spark.frames import CLASSES_HERE, OCCURRENCES_HERE, PLACED_PARTIAL, RAW, TASKS, ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Scan", "classes", "occurrences", "scan", "scan_column", "scan_inputs"]

_PARTITION = 128 << 20  # octets of inputs in a partition, at most
_WAVES = 4  # partitions for each core, at least, if there is so much to do
_KEY = "urnscan"  # of the options in the metadata of the column `urn`


@dataclass(frozen=True)
class Scan:
    """Tables of a scan; a context manager that calls `unpersist`.

    Inputs are scanned once, when a table is first needed. The results stay on the disks of the executors; if an executor
    is lost, its part is scanned again.
    """

    raw: DataFrame
    """A row for each occurrence, partial sum, failure and task."""
    options: Options
    """The options of the scan."""
    has_parts: bool
    """Whether a file was cut into parts, each of which counts its lines from 1."""

    @property
    def occurrences(self) -> DataFrame:
        """The table of occurrences, and a column `place`: sorted by it, rows are in the order of one machine."""
        rows = self._whole_lines(self._rows("occurrence", "task", "row"))
        rows = rows.selectExpr(*map("`{}`".format, OCCURRENCES_HERE.names[:-1]), "struct(task, row, input) AS place")
        return _with_options(rows, self.options)

    @property
    def classes(self) -> DataFrame:
        """The table of classes, sorted by `urn`."""
        return _classes(self._rows("partial"), self.options)

    @property
    def rejects(self) -> DataFrame:
        """The table of rejects, if it was asked for."""
        return self._whole_lines(self._rows("reject", "task")).drop("task")

    @property
    def errors(self) -> DataFrame:
        """Failures in the order of the inputs: `source`, `reason`. Equal failures of parts of one file are one row."""
        rows = self._rows("failure", "task", "row").selectExpr("*", "struct(task, row) AS place")
        rows = rows.selectExpr("*", "if(input IS NULL, place, NULL) AS own")
        first = rows.groupBy("source", "reason", "input", "own").agg({"place": "min"})
        return first.orderBy("min(place)").select("source", "reason")

    def report(self) -> Report:
        """Counts and failures; `classes` and `seconds` are unknown."""
        (counts,) = (
            self._rows("done")
            .selectExpr(
                # All parts of a file are one input.
                "coalesce(sum(if(input IS NULL, inputs, 0)), 0) + count(DISTINCT if(inputs > 0, input, NULL)) AS inputs",
                *(f"coalesce(sum({name}), 0) AS {name}" for name in ("octets", "occurrences", "rejects", "trimmable")),
            )
            .collect()
        )
        return Report(**counts.asDict(), failures=[SourceError(*row) for row in self.errors.collect()])

    def unpersist(self) -> None:
        """Delete the results on the disks of the executors."""
        self.raw.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def _rows(self, name: str, *more: str) -> DataFrame:
        return self.raw.where(f"{name} is not null").select(*more, f"{name}.*")

    def _whole_lines(self, rows: DataFrame) -> DataFrame:
        """Count lines from the beginning of the file instead of the part."""
        if not self.has_parts:
            return rows
        earlier = "PARTITION BY input ORDER BY task ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
        parts = self._rows("done", "task").where("input IS NOT NULL")
        before = (
            parts.selectExpr("task", f"sum(lines) OVER ({earlier}) AS before").where("before > 0").hint("broadcast")
        )
        line = "line + coalesce(before, 0) AS line"
        names = [line if name == "line" else f"`{name}`" for name in rows.columns]
        return rows.join(before, "task", "left").selectExpr(*names)


def scan(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rejects: bool = False,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Scan:
    """Scan files, folders, globs and URLs, which all executors must reach by the same name.

    `spark` is a session of pyspark 4. `options` are those of `urnscan.scan`. Inputs that fail are in `errors`.
    Raises FatalError for standard input, ArgumentError (a ValueError and a TypeError) for invalid options.

    >>> with urnscan.spark.scan(spark, "data/samples/*.txt", trim=True) as found:  # doctest: +SKIP
    ...     found.report().occurrences, found.classes.count()
    (72, 55)
    """
    (rules,) = read_keywords("urnscan.spark.scan", options, Options)
    tables = {"occurrences", "classes", *(["rejects"] if rejects else [])}
    return scan_inputs(spark, _names(inputs), Wanted(rules, frozenset(tables)))


def occurrences(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    **options: Any,  # noqa: ANN401 (those of Options)
) -> DataFrame:
    """Scan inputs; gives the table of occurrences. Takes the options of `scan` and raises its errors.

    If failures or classes are needed as well, call `scan`, which gives all tables for one reading.

    >>> urnscan.spark.occurrences(spark, "data/samples/prose.txt").where("nid = 'nbn'").count()  # doctest: +SKIP
    12
    """
    (rules,) = read_keywords("urnscan.spark.occurrences", options, Options)
    return scan_inputs(spark, _names(inputs), Wanted(rules, frozenset({"occurrences"}))).occurrences


def classes(occurrences: DataFrame) -> DataFrame:
    """Group occurrences that this module gave, or some of them, into equivalence classes; also when read from Parquet.

    Needs their columns `urn`, `text`, `source`, `member`, `offset` and `place`. Raises ValueError if one is missing.

    >>> found = urnscan.spark.occurrences(spark, "data/samples/prose.txt", trim=True)  # doctest: +SKIP
    >>> urnscan.spark.classes(found.where("nid = 'isbn'")).select("urn", "count").first()  # doctest: +SKIP
    Row(urn='urn:isbn:0-9999412-0-8', count=1)
    """
    names = ("urn", "text", "source", "member", "offset", "place")
    found_by = None
    if set(names) <= set(occurrences.columns):
        found_by = occurrences.schema["urn"].metadata.get(_KEY)
    if found_by is None:
        raise ValueError(
            f"these are no occurrences of urnscan.spark: it needs their columns {', '.join(names)} as they are"
        )
    metadata = json.loads(found_by)
    options = Options(syntax=metadata["syntax"], equivalence=metadata["equivalence"])
    # Rows are added up in input order, so partitions must be ranges of `place`, each sorted.
    ordered = occurrences.select(*names).repartitionByRange("place").sortWithinPartitions("place")
    return _classes(ordered.mapInArrow(partial_of_occurrences, ddl(PLACED_PARTIAL)), options)


def scan_column(
    frame: DataFrame,
    column: str,
    *,
    keep: Sequence[str] = (),
    **options: Any,  # noqa: ANN401 (those of Options)
) -> DataFrame:
    """Scan a column of text or octets as `urnscan.scan_batches` does; each occurrence has the columns `keep` of its row.

    `member` is `row/column`; rows are numbered by `monotonically_increasing_id`. `options` are those of
    `urnscan.scan_batches`. Raises ValueError for a column that is missing, is not text, or has the name of a column of
    the occurrence table, ArgumentError (a ValueError and a TypeError) for invalid options.

    >>> frame = spark.createDataFrame([(7, "see urn:isbn:0451450523")], "page int, text string")  # doctest: +SKIP
    >>> urnscan.spark.scan_column(frame, "text", keep=["page"]).select("page", "urn").first()  # doctest: +SKIP
    Row(page=7, urn='urn:isbn:0451450523')
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    for name in (column, *keep):
        if name not in frame.columns:
            raise ValueError(f"no column {name!r} among {', '.join(frame.columns)}")
    if twice := sorted({*keep} & {*OCCURRENCES_HERE.names}):
        raise ValueError(f"occurrences have a column {twice[0]!r} of their own: rename the one to keep")
    kind = frame.schema[column].dataType.typeName()
    if kind not in ("string", "binary", "char", "varchar"):
        raise ValueError(f"column {column!r} is {kind}, not text")
    (rules,) = read_keywords("urnscan.spark.scan_column", options, Options, without=OF_INPUTS)
    numbered = frame.select(F.col(column), *keep, F.monotonically_increasing_id().alias("row"))
    schema = ", ".join(
        [ddl(OCCURRENCES_HERE), *(f"`{name}` {frame.schema[name].dataType.simpleString()}" for name in keep)]
    )
    return _with_options(numbered.mapInArrow(lambda batches: scanned_column(batches, rules, keep), schema), rules)


def _names(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Sequence[str]:
    """Names of one input or several. Raises ArgumentError."""
    return named_inputs([inputs] if isinstance(inputs, str | os.PathLike) else inputs)


def _with_options(occurrences: DataFrame, options: Options) -> DataFrame:
    """Note in the metadata of `urn` by which options the occurrences were found."""
    return occurrences.withMetadata("urn", {_KEY: json.dumps(options.metadata())})


def scan_inputs(spark: SparkSession, inputs: Sequence[Argument], wanted: Wanted, outputs: Collection[str] = ()) -> Scan:
    """Scan inputs, but not the files `outputs`; gives the tables that are wanted. Raises FatalError."""
    from pyspark import StorageLevel  # noqa: PLC0415

    if "-" in inputs:
        raise FatalError("standard input is on one machine only: name files, folders or URLs that all executors reach")
    planned = list(tasks(inputs, wanted.options, outputs, wanted.sizes))
    rows = list(_partitions(planned, spark.sparkContext.defaultParallelism))
    frame = spark.createDataFrame(spark.sparkContext.parallelize(rows, max(1, len(rows))), ddl(TASKS))
    raw = frame.mapInArrow(lambda batches: scanned_tasks(batches, wanted), ddl(RAW)).persist(StorageLevel.DISK_ONLY)
    return Scan(raw, wanted.options, any(isinstance(task, Part) for task in planned))


def _classes(partial: DataFrame, options: Options) -> DataFrame:
    """PLACED_PARTIAL rows -> CLASSES rows; partitions are ranges of `urn`, so that one executor has all rows of a class."""
    ordered = partial.repartitionByRange("urn").sortWithinPartitions("urn", "task", "row")
    return ordered.mapInArrow(lambda batches: classes_of_partial(batches, options), ddl(CLASSES_HERE))


def _partitions(planned: Sequence[Task], cores: int) -> Iterator[tuple[int, bytes]]:
    """TASKS rows, each a partition: neighbouring tasks, of about the same size together."""
    sizes = [_size(task) for task in planned]
    full = min(_PARTITION, sum(sizes) // (_WAVES * cores) + 1)
    first = octets = 0
    for number, size in enumerate(sizes, 1):
        octets += size
        if octets >= full or number == len(planned):
            yield first, pickle.dumps(planned[first:number])
            first, octets = number, 0


def _size(task: Task) -> int:
    """Octets of the inputs of a task; those of a partition if unknown."""
    match task:
        case Files():
            return sum(
                int(each.sizes.sum()) if isinstance(each, Listed) else each.size or _PARTITION for each in task.inputs
            )
        case Part():
            return min(task.end, (task.input.size or 0)) - task.start
        case _:
            return 0
