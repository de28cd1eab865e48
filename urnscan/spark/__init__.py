"""Scans on Apache Spark, for more than one machine: `pip install 'urnscan[spark]'`.

frames: schemas of the rows that executors exchange, and blobs of rows.
keys: samples of keys -> the ranges of keys that executors group.
partitions: tasks and ranges -> the partitions of a frame.
executors: functions that run in executors, batch by batch.
driver: the public functions `scan`, `occurrences`, `classes`, `scan_column`.
causes: errors of Spark -> one line that names the cause.
folders: folders of Parquet, on a disk or in a store, that appear whole or not at all.
job: the run of the command, from inputs to those folders.

Executors run `run.worker` and `grouping`, like the threads of one machine.
"""

from urnscan.spark.driver import Scan, classes, occurrences, scan, scan_column

__all__ = ["Scan", "classes", "occurrences", "scan", "scan_column"]
