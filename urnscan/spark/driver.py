"""The driver's part: inputs are planned, tasks become a frame, and what comes out of them the tables."""

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
from urnscan.run.tasks import Argument, Files, Part, Sizes, Task, tasks
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

SIZES = Sizes(part=64 << 20)
_PARTITION = 128 << 20  # octets of inputs that make a partition, where there are many
_WAVES = 4  # partitions for each core, where there are few
_TOLD = "urnscan"  # the key under which the column `urn` tells what options it was found by


@dataclass(frozen=True)
class Scan:
    """What comes out of inputs: done once, when it is first asked for, and kept on the disks of the executors.

    What a lost executor kept is done again. `unpersist` gives the disks back; it is a context manager that does.
    """

    raw: DataFrame
    """A row for each occurrence, partial sum, failure and task."""
    options: Options
    """By which it was scanned."""
    has_parts: bool
    """Whether a file was cut into parts, which count their lines from 1."""

    @property
    def occurrences(self) -> DataFrame:
        """The columns of the occurrence table, and `place`, by which to sort them as on one machine."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        rows = self._rows("occurrence", "task", "row")
        place = F.struct("task", "row", "input")
        told = {_TOLD: json.dumps(self.options.metadata())}
        return (
            self._whole_lines(rows).select(*OCCURRENCES_HERE.names[:-1], place.alias("place")).withMetadata("urn", told)
        )

    @property
    def classes(self) -> DataFrame:
        """The table of classes, sorted by `urn`."""
        return _classes(self._rows("partial"), self.options)

    @property
    def rejects(self) -> DataFrame:
        """The table of rejects, if it was asked for."""
        rows = self._rows("reject", "task")
        return self._whole_lines(rows).drop("task")

    @property
    def errors(self) -> DataFrame:
        """What could not be read: `source`, `reason`, in the order of the inputs."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        rows = self._rows("failure", "task", "row")
        own = F.when(F.col("input").isNull(), F.struct("task", "row"))  # all parts of a file may fail in the same way
        first = rows.groupBy("source", "reason", "input", own).agg(F.min(F.struct("task", "row")).alias("at"))
        return first.orderBy("at").select("source", "reason")

    def report(self) -> Report:
        """What was done; `classes` and `seconds` are not known here."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        done = self._rows("done")
        names = ("octets", "occurrences", "rejects", "trimmable")
        whole = F.when(F.col("input").isNull(), F.col("inputs"))
        part = F.when(F.col("inputs") > 0, F.col("input"))
        sums = [F.sum(name).alias(name) for name in names]
        (told,) = done.agg(F.sum(whole).alias("whole"), F.countDistinct(part).alias("cut"), *sums).collect()
        failures = [SourceError(row["source"], row["reason"]) for row in self.errors.collect()]
        return Report(
            inputs=(told["whole"] or 0) + told["cut"], failures=failures, **{name: told[name] or 0 for name in names}
        )

    def unpersist(self) -> None:
        """Forget what was kept."""
        self.raw.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def _rows(self, name: str, *more: str) -> DataFrame:
        return self.raw.where(f"{name} is not null").select(*more, f"{name}.*")

    def _whole_lines(self, rows: DataFrame) -> DataFrame:
        """Lines counted from the beginning of the file where they are counted from that of a part."""
        if not self.has_parts:
            return rows
        from pyspark.sql import Window  # noqa: PLC0415
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        parts = self._rows("done", "task").where("input is not null")
        earlier = Window.partitionBy("input").orderBy("task").rowsBetween(Window.unboundedPreceding, -1)
        before = parts.select("task", F.sum("lines").over(earlier).alias("before")).where("before > 0")
        shifted = (F.col("line") + F.coalesce("before", F.lit(0))).alias("line")
        return rows.join(F.broadcast(before), "task", "left").withColumn("line", shifted).drop("before")


def scan(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rejects: bool = False,
    **options: Any,  # noqa: ANN401 (those of Options)
) -> Scan:
    """The inputs as tables: files, folders, globs and URLs, which all executors must reach by the same name.

    `spark` is a session of pyspark 4. `options` are those of `urnscan.scan`. Inputs that fail are in `errors`. Raises
    FatalError where an input cannot be one, ArgumentError (a ValueError and a TypeError) for options that are none.

    >>> with urnscan.spark.scan(spark, "data/samples/*.txt", trim=True) as found:  # doctest: +SKIP
    ...     found.report().occurrences, found.classes.count()
    (72, 55)
    """
    (rules,) = read_keywords("urnscan.spark.scan", options, Options)
    return scan_inputs(spark, _names(inputs), rules, rejects=rejects)


def occurrences(
    spark: SparkSession,
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    **options: Any,  # noqa: ANN401 (those of Options)
) -> DataFrame:
    """The occurrences in the inputs, as `scan(...).occurrences`, and raises what that does.

    Where the failures and the classes are wanted too, `scan` gives all for one reading.

    >>> urnscan.spark.occurrences(spark, "data/samples/prose.txt").where("nid = 'nbn'").count()  # doctest: +SKIP
    12
    """
    (rules,) = read_keywords("urnscan.spark.occurrences", options, Options)
    return scan_inputs(spark, _names(inputs), rules, want_classes=False).occurrences


def classes(occurrences: DataFrame) -> DataFrame:
    """The equivalence classes of occurrences as this module gives them, also of some of them, or read back from Parquet.

    Needs their columns `urn`, `text`, `source`, `member`, `offset` and `place`. Raises ValueError where one is missing.

    >>> found = urnscan.spark.occurrences(spark, "data/samples/prose.txt", trim=True)  # doctest: +SKIP
    >>> urnscan.spark.classes(found.where("nid = 'isbn'")).select("urn", "count").first()  # doctest: +SKIP
    Row(urn='urn:isbn:0-9999412-0-8', count=1)
    """
    names = ("urn", "text", "source", "member", "offset", "place")
    told = None
    if set(names) <= set(occurrences.columns):
        told = occurrences.schema["urn"].metadata.get(_TOLD)
    if told is None:
        raise ValueError(
            f"these are no occurrences of urnscan.spark: it needs their columns {', '.join(names)} as they are"
        )
    meaning = json.loads(told)
    options = Options(syntax=meaning["syntax"], equivalence=meaning["equivalence"])
    # What is added up must lie in order, and where one partition ends the next must begin: then adding up is as anywhere.
    ordered = occurrences.select(*names).repartitionByRange("place").sortWithinPartitions("place")
    return _classes(ordered.mapInArrow(partial_of_occurrences, ddl(PLACED_PARTIAL)), options)


def scan_column(
    frame: DataFrame,
    column: str,
    *,
    keep: Sequence[str] = (),
    **options: Any,  # noqa: ANN401 (those of Options)
) -> DataFrame:
    """The occurrences in a column of text or octets, as `urnscan.scan_batches` gives them, each with its row's columns
    `keep`.

    `member` is `row/column` with the rows numbered as `monotonically_increasing_id` does. `options` are those of
    `urnscan.scan_batches`. Raises ValueError for a column that is not there, is not text, or has the name of one of the
    occurrence table's, ArgumentError (a ValueError and a TypeError) for options that are none.

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
    found = numbered.mapInArrow(lambda batches: scanned_column(batches, rules, keep), schema)
    return found.withMetadata("urn", {_TOLD: json.dumps(rules.metadata())})


def _names(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Sequence[str]:
    """One input or several, as the command has them. Raises ArgumentError."""
    return named_inputs([inputs] if isinstance(inputs, str | os.PathLike) else inputs)


def scan_inputs(
    spark: SparkSession,
    inputs: Sequence[Argument],
    options: Options,
    *,
    outputs: Collection[str] = (),
    want_occurrences: bool = True,
    want_classes: bool = True,
    rejects: bool = False,
    sizes: Sizes = SIZES,
) -> Scan:
    """The same for arguments of the command, and what of it is wanted. Raises FatalError."""
    from pyspark import StorageLevel  # noqa: PLC0415

    if "-" in inputs:
        raise FatalError("standard input is on one machine only: name files, folders or URLs that all executors reach")
    planned = list(tasks(inputs, options, outputs, sizes))
    cores = spark.sparkContext.defaultParallelism
    rows = list(_partitions(planned, cores))
    wanted = Wanted(options, sizes, os.getcwd(), want_occurrences, want_classes, rejects)  # noqa: PTH109 (as in walk.py)
    frame = spark.createDataFrame(spark.sparkContext.parallelize(rows, max(1, len(rows))), ddl(TASKS))
    raw = frame.mapInArrow(lambda batches: scanned_tasks(batches, wanted), ddl(RAW)).persist(StorageLevel.DISK_ONLY)
    return Scan(raw, options, any(isinstance(task, Part) for task in planned))


def _classes(partial: DataFrame, options: Options) -> DataFrame:
    """PLACED_PARTIAL rows added up, those of a class by one executor: partitions are ranges of `urn`, in order."""
    ordered = partial.repartitionByRange("urn").sortWithinPartitions("urn", "task", "row")
    return ordered.mapInArrow(lambda batches: classes_of_partial(batches, options), ddl(CLASSES_HERE))


def _partitions(planned: Sequence[Task], cores: int) -> Iterator[tuple[int, bytes]]:
    """TASKS rows, each to be a partition: tasks next to each other of about the same size in all."""
    sizes = [_size(task) for task in planned]
    full = min(_PARTITION, sum(sizes) // (_WAVES * cores) + 1)
    first = octets = 0
    for number, size in enumerate(sizes, 1):
        octets += size
        if octets >= full or number == len(planned):
            yield first, pickle.dumps(planned[first:number])
            first, octets = number, 0


def _size(task: Task) -> int:
    """Octets of the inputs of a task, or of a partition where nobody knows."""
    match task:
        case Files():
            return sum(
                int(each.sizes.sum()) if isinstance(each, Listed) else each.size or _PARTITION for each in task.inputs
            )
        case Part():
            return min(task.end, (task.input.size or 0)) - task.start
        case _:
            return 0
