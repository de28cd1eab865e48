"""Scans on Apache Spark, for more than one machine: `pip install 'urnscan[spark]'`.

frames: schemas of the rows that executors exchange.
keys: samples of keys (canonical forms), from which the ranges that executors group are chosen.
partitions: partitions of frames, for tasks and for ranges.
summaries: summaries of tasks, which executors send to the driver.
executors: functions that run in executors, on batches of Arrow.
driver: the public functions `scan`, `occurrences`, `classes`, `scan_column`.
causes: errors of Spark as a line that names the cause.
folders: folders of Parquet, on a disk or in a store, that appear whole or not at all.
job: the run of the command, from inputs to such folders.

Executors call `run.worker` and `grouping`, as the threads on one machine do.
"""

from urnscan.spark.driver import Scan, classes, occurrences, scan, scan_column

__all__ = ["Scan", "classes", "occurrences", "scan", "scan_column"]
