"""Partitions: the tasks that one executor works at together."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from urnscan.run.tasks import Files, Part, Task, octets_of
from urnscan.spark.executors import Told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITION = 128 << 20  # octets of inputs in a partition, at most
_FILE = 32 << 20  # octets of blobs in a file of occurrences or rejects, about, where those of many tasks come together
_WAVES = 4  # partitions for each core, at least, if there is so much to do


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
    sizes = [_size(task) for task in planned]
    full = min(_PARTITION, sum(sizes) // (_WAVES * cores) + 1)
    first = octets = 0
    for number, size in enumerate(sizes, 1):
        octets += size
        if octets >= full or number == len(planned):
            yield first, pickle.dumps(planned[first:number])
            first, octets = number, 0


def first_tasks(told: Sequence[Told], kind: str) -> list[int]:
    """The first task of each partition, if neighbouring tasks come together whose blobs of a kind are few."""
    firsts, octets = [0], 0
    for each in told:
        if octets >= _FILE:
            firsts.append(each.task)
            octets = 0
        octets += each.blobs[kind]
    return firsts


def _size(task: Task) -> int:
    """Octets of the inputs of a task; those of a partition if unknown."""
    match task:
        case Files():
            known = map(octets_of, task.inputs)
            return sum(_PARTITION if octets is None else octets for octets in known)
        case Part():
            return min(task.end, (task.input.size or 0)) - task.start
        case _:
            return 0
