"""The same job on Apache Spark, for more than one machine: `pip install 'urnscan[spark]'`.

frames: the schemas of rows between executors.
executors: the work of an executor, batch by batch.
driver: `scan`, `occurrences`, `classes`, `scan_column`.
job: the command's run on a cluster.

Executors run `run.worker` and `grouping.classes`, as the threads of one machine do.
"""

from urnscan.spark.driver import Scan, classes, occurrences, scan, scan_column

__all__ = ["Scan", "classes", "occurrences", "scan", "scan_column"]
