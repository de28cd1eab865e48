"""Partitions: the tasks that one executor works at together, and the ranges of keys that one groups."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from urnscan.grouping.ranges import Ranges
from urnscan.run.tasks import FilePart, Files, Task, octets_of
from urnscan.spark import executors
from urnscan.spark.executors import Told, Wanted
from urnscan.spark.frames import CUT, RAW, ddl
from urnscan.spark.keys import Keys, heads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTITION = 512 << 20  # octets of inputs in a partition, at most: Spark's part of a task takes some 0.06 CPU seconds
_WORTH = 64 << 20  # octets of inputs for which a further partition of a core is worth that
_FILE = 32 << 20  # octets of blobs in a file of occurrences or rejects, about, where those of many tasks come together
_WAVES = 4  # partitions for each core, at least, if they are worth it


def cores_of(spark: SparkSession) -> int:
    """Number of cores of the executors; a session of Spark Connect tells it only by the partitions of a frame."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    if ".connect." in type(spark).__module__:
        cores: int = spark.range(1 << 16).select(F.spark_partition_id()).distinct().count()
    else:
        cores = spark.sparkContext.defaultParallelism
    return cores


def partitions_of(planned: Sequence[Task], cores: int) -> Iterator[tuple[int, bytes]]:
    """The number of the first task of each partition, and its tasks, pickled: neighbours, of about the same size together."""
    sizes = [_size(task, _PARTITION) for task in planned]
    share = sum(sizes) // cores + 1
    full = min(_PARTITION, max(share // _WAVES, min(share, _WORTH)))
    first = octets = 0
    for number, size in enumerate(sizes, 1):
        octets += size
        if octets >= full or number == len(planned):
            yield first, pickle.dumps(planned[first:number])
            first, octets = number, 0


def ranges_before(spark: SparkSession, planned: Sequence[Task], wanted: Wanted) -> Ranges:
    """Ranges of the keys that a scan will find, by the first octets of some tasks; one range if there is little to do."""
    sizes = [_size(task, 0) for task in planned]  # a pipe is unknown, and can be read only once: it gives no head
    cores = cores_of(spark)
    chosen = [pickle.dumps(head) for head in heads(planned, sizes)]
    if not chosen:
        return Ranges()
    numbers = spark.range(0, len(chosen), 1, min(len(chosen), cores))
    blobs = numbers.mapInArrow(lambda batches: executors.keys_of_heads(batches, wanted, chosen), ddl(RAW))
    keys, read = Keys(), 0
    for (blob,) in blobs.select("rows").collect():
        octets, some = pickle.loads(blob)  # noqa: S301 (pickled by executors, which run the same code)
        keys.add(some)
        read += octets
    keys.octets = keys.octets * sum(sizes) // max(read, 1)
    return keys.ranges(cores)


def by_range(blobs: DataFrame, ranges: Ranges) -> DataFrame:
    """Blobs of partial rows; a partition is a range of `urn`, so an executor has all rows of a class."""
    return blobs.select(*CUT.names).repartitionById(len(ranges), "range").sortWithinPartitions("task", "row")


def first_tasks(told: Sequence[Told], kind: str) -> list[int]:
    """The first task of each partition, if neighbouring tasks come together whose blobs of a kind are few."""
    firsts, octets = [0], 0
    for each in told:
        if octets >= _FILE:
            firsts.append(each.task)
            octets = 0
        octets += each.blobs[kind]
    return firsts


def _size(task: Task, unknown: int) -> int:
    """Octets of the inputs of a task; those of an input of unknown size are given."""
    match task:
        case Files():
            known = map(octets_of, task.inputs)
            return sum(unknown if octets is None else octets for octets in known)
        case FilePart():
            return min(task.end, (task.input.size or 0)) - task.start
        case _:
            return 0
