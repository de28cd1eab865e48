"""The run of the command on Spark: tables become folders of Parquet, which appear whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import regex

from urnscan.errors import FatalError, SourceError
from urnscan.run.options import Options
from urnscan.run.pipeline import Report
from urnscan.run.tasks import Argument
from urnscan.sources import TEMPORARY_SUFFIX
from urnscan.spark.driver import scan_inputs
from urnscan.spark.executors import Wanted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["run", "session"]

_METADATA = "_urnscan.json"  # readers of Parquet ignore files that begin with "_"


@contextlib.contextmanager
def session(master: str | None, *, show_progress: bool) -> Iterator[SparkSession]:
    """Start Spark, or use the active session; stop it at the end if it was started.

    `spark-submit` or the environment configure it; `master`, if given, replaces theirs.
    Raises FatalError if pyspark or Java is missing, or Spark does not start.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise FatalError("--engine spark needs pyspark: pip install 'urnscan[spark]', and Java 17") from error
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("urnscan").config("spark.log.level", "FATAL")
    builder = builder.config("spark.ui.showConsoleProgress", str(show_progress).lower())
    if master is not None:
        builder = builder.master(master)
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)  # at each start
    with _clear_errors():
        spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def run(
    spark: SparkSession,
    inputs: Sequence[Argument],
    options: Options,
    outputs: Mapping[str, str],
    *,
    force: bool = False,
    on_failure: Callable[[SourceError], None] = lambda _: None,
) -> Report:
    """Scan the inputs and write the tables that have an output: classes, occurrences, rejects, errors.

    Raises FatalError if no input could be read, with `strict` if one could not, if an output exists already (without
    `force`) or cannot be written, and if a task fails again and again.
    """
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_clear_errors())
        folders = {name: stack.enter_context(_Folder(spark, path, force=force)) for name, path in outputs.items()}
        paths = [*outputs.values(), *_files_in(outputs.values())]
        scan = stack.enter_context(scan_inputs(spark, inputs, Wanted(options, frozenset(outputs)), paths))
        report = scan.report()
        for failure in report.failures:
            on_failure(failure)
            if options.strict:
                raise FatalError("an input failed (--strict): nothing is written")
        if report.failures and not report.inputs:
            raise FatalError("no input could be read")
        for name, folder in folders.items():
            folder.write(getattr(scan, name).drop("place"))
        if "classes" in folders:
            report.classes = folders["classes"].count()
        if "rejects" not in outputs:
            report.rejects = None
        for folder in folders.values():
            folder.commit(report.metadata(options))
    report.seconds = time.monotonic() - began
    return report


def _files_in(folders: Iterable[str]) -> Iterator[str]:
    """Files of an earlier run in the output folders: these are no inputs, even if the folders lie in one."""
    for folder in folders:
        yield from map(str, Path(folder).rglob("*"))


class _Folder:
    """A folder of Parquet on any file system that Spark knows, written beside its place and then renamed."""

    def __init__(self, spark: SparkSession, path: str, *, force: bool) -> None:
        """Raises FatalError if it exists already (without `force`)."""
        self._spark = spark
        self._name = path
        self._force = force
        java: Any = spark.sparkContext._jvm  # noqa: SLF001 (Spark's own way to Hadoop's file systems)
        hadoop = java.org.apache.hadoop.fs
        place = path if "://" in path else f"file://{os.path.abspath(path)}"  # noqa: PTH100 (as in walk.py)
        self._place = hadoop.Path(place)
        self._written = hadoop.Path(f"{place.rstrip('/')}{TEMPORARY_SUFFIX}")
        self._system = self._place.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001
        if not force and self._system.exists(self._place):
            raise FatalError(f"{path}: exists already; --force replaces it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._system.delete(self._written, True)

    def write(self, table: DataFrame) -> None:
        """Write all rows."""
        table.write.mode("overwrite").parquet(self._written.toString())

    def count(self) -> int:
        """Count the rows that were written."""
        rows: int = self._spark.read.parquet(self._written.toString()).count()
        return rows

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Write the metadata and put the folder in its place. Raises FatalError."""
        file = self._system.create(self._written.suffix(f"/{_METADATA}"))
        file.write(json.dumps(metadata).encode())
        file.close()
        if self._force:
            self._system.delete(self._place, True)
        if not self._system.rename(self._written, self._place):
            raise FatalError(f"{self._name}: cannot be put there")


@contextlib.contextmanager
def _clear_errors() -> Iterator[None]:
    """Turn errors of Spark into FatalErrors of one line."""
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise FatalError(_one_line(error)) from error


def _one_line(error: Exception) -> str:
    """The cause in one line: an error of urnscan in an executor, or else an error of Spark."""
    text = str(error)
    if own := regex.findall(r"urnscan\.errors\.\w+: (.+)", text):
        return str(own[-1])
    causes = regex.findall(r"(?m)^(?:Caused by: )?[\w.$]+(?:Exception|Error): (.+)$", text)
    return f"Spark: {causes[-1] if causes else text.strip().partition(chr(10))[0]}"
