"""The same job on Apache Spark, for what outgrows one machine: `pip install 'urnscan[spark]'`.

    frames.py     the schemas of what goes between executors
    executing.py  what executors do, batch by batch
    scanning.py   what the driver does: `scan`, `occurrences`, `classes`, `scan_column`
    running.py    the command's run

Nothing here says what is found or what a class is: executors run `worker` and `adding`, as the threads of one machine do.
"""

from urnscan.spark.scanning import Scan, classes, occurrences, scan, scan_column

__all__ = ["Scan", "classes", "occurrences", "scan", "scan_column"]
