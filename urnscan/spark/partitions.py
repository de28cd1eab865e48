"""Partitions of frames: tasks that an executor processes together, and ranges of keys that executors group."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from urnscan.grouping.ranges import Ranges
from urnscan.run.tasks import FileGroup, FilePart, Task, bytes_of
from urnscan.spark import executors
from urnscan.spark.executors import ScanRequest
from urnscan.spark.frames import PARTIAL_BLOBS, RESULTS, ddl
from urnscan.spark.keys import KeySample, choose_heads
from urnscan.spark.summaries import TaskSummary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Spark needs about 0.06 CPU seconds for each partition, so there should be few.
_PARTITION = 512 << 20
"""Maximum bytes of inputs in a partition."""
_WORTH = 64 << 20
"""Minimum bytes of inputs in a partition, if each core has one."""
_WAVES = 4
"""Minimum number of partitions for each core, if partitions are not smaller than `_WORTH`."""
_FILE = 32 << 20
"""Approximate bytes of blobs in a file of occurrences or rejects, if a file contains the blobs of many tasks."""


def cores_of(spark: SparkSession) -> int:
    """Number of cores of the executors that Spark reports. On Spark Connect, this runs a job."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    # Spark Connect has no such number, but it makes as many partitions of a frame.
    if ".connect." in type(spark).__module__:
        cores: int = spark.range(1 << 16).select(F.spark_partition_id()).distinct().count()
    else:
        cores = spark.sparkContext.defaultParallelism
    return cores


def partitions_of(planned: Sequence[Task], cores: int) -> Iterator[tuple[int, bytes]]:
    """Split tasks into partitions of about the same number of bytes; a partition has neighbouring tasks.

    Yields for each partition the number of its first task, from 0, and its tasks as a list, pickled; nothing without
    tasks.
    """
    sizes = [_size(task, _PARTITION) for task in planned]
    share = sum(sizes) // cores + 1
    full = min(_PARTITION, max(share // _WAVES, min(share, _WORTH)))
    first = byte_count = 0
    for number, size in enumerate(sizes, 1):
        byte_count += size
        if byte_count >= full or number == len(planned):
            yield first, pickle.dumps(planned[first:number])
            first, byte_count = number, 0


def ranges_of_heads(spark: SparkSession, planned: Sequence[Task], request: ScanRequest, cores: int) -> Ranges:
    """Ranges of keys (canonical forms) for a scan, chosen by the heads (first bytes) of some tasks, which executors
    read now. If the inputs have less than 128 MiB, nothing is read, and there is a single range.
    """
    # An input of unknown size, such as a pipe, can be read only once. So it counts as empty, and its head is not read.
    sizes = [_size(task, 0) for task in planned]
    heads = [pickle.dumps(head) for head in choose_heads(planned, sizes)]
    if not heads:
        return Ranges()
    numbers = spark.range(0, len(heads), 1, min(len(heads), cores))
    blobs = numbers.mapInArrow(lambda batches: executors.sample_heads(batches, request, heads), ddl(RESULTS))
    sample, read = KeySample(), 0
    for (blob,) in blobs.select("rows").collect():
        byte_count, head_sample = pickle.loads(blob)  # noqa: S301 (pickled by executors, which run the same code)
        sample.add(head_sample)
        read += byte_count
    sample.byte_count = sample.byte_count * sum(sizes) // max(read, 1)
    return sample.ranges(cores)


def by_range(blobs: DataFrame, ranges: Ranges) -> DataFrame:
    """Return the blobs of partial rows (PARTIAL_BLOBS) in a frame with a partition for each range of keys, sorted by
    `task` and `row` in it. So all rows of a class are in the same partition, in the order of the inputs.
    """
    return blobs.select(*PARTIAL_BLOBS.names).repartitionById(len(ranges), "range").sortWithinPartitions("task", "row")


def first_tasks(summaries: Sequence[TaskSummary], kind: str) -> list[int]:
    """Number of the first task of each partition, from 0. A partition gets neighbouring tasks until their blobs of
    `kind` ("occurrences" or "rejects") have 32 MiB; the first number is always 0.
    """
    firsts, byte_count = [0], 0
    for summary in summaries:
        if byte_count >= _FILE:
            firsts.append(summary.task)
            byte_count = 0
        byte_count += summary.blobs[kind]
    return firsts


def _size(task: Task, unknown: int) -> int:
    """Bytes of the inputs of a task, `unknown` for each input of unknown size; 0 for an error."""
    match task:
        case FileGroup():
            sizes = map(bytes_of, task.inputs)
            return sum(unknown if size is None else size for size in sizes)
        case FilePart():
            return min(task.end, (task.input.size or 0)) - task.start
        case _:
            return 0
