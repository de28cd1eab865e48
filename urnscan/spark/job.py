"""The run of the command on Spark: tables become folders of Parquet, which appear whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import regex

from urnscan.errors import FatalError, SourceError, option
from urnscan.output.parquet import ParquetOutput
from urnscan.output.places import as_fatal
from urnscan.run.options import Options
from urnscan.run.pipeline import Report
from urnscan.run.tasks import Argument
from urnscan.sources.selection import TEMPORARY_SUFFIX
from urnscan.spark.driver import Scan, scan_inputs
from urnscan.spark.executors import Wanted
from urnscan.spark.frames import batch
from urnscan.tables.metadata import OF_FOLDER
from urnscan.tables.schemas import WRITTEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ERRORS = pa.schema([pa.field("source", pa.string(), nullable=False), pa.field("reason", pa.string(), nullable=False)])


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
        folders = {
            name: stack.enter_context((_Folder if "://" in path else _SharedFolder)(spark, path, force=force))
            for name, path in outputs.items()
        }
        # Files of an earlier run in the output folders are no inputs, even if the folders lie in one.
        earlier = [str(path) for folder in outputs.values() for path in Path(folder).rglob("*")]
        paths = [*outputs.values(), *earlier]
        scan = stack.enter_context(scan_inputs(spark, inputs, Wanted(options, frozenset(outputs)), paths))
        report = scan.report()
        for note in report.notes:
            on_failure(note)
        for failure in report.failures:
            on_failure(failure)
            if options.strict:
                raise FatalError(f"an input failed ({option('strict')}): nothing is written")
        if report.failures and not report.inputs:
            raise FatalError("no input could be read")
        for name, folder in folders.items():
            folder.fill(name, scan, report)
        if "rejects" not in outputs:
            report.rejects = None
        for folder in folders.values():
            folder.commit(report.metadata(options))
    report.seconds = time.monotonic() - began
    return report


class _Folder:
    """A folder of Parquet at a URL, which Spark writes beside its place and then renames."""

    def __init__(self, spark: SparkSession, path: str, *, force: bool) -> None:
        """Raises FatalError if it exists already.

        With `force` it may exist if it is the result of an earlier run.
        """
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
            raise FatalError(f"{path}: exists already; {option('force')} replaces it")
        if self._system.exists(self._place) and not self._system.exists(self._place.suffix(f"/{OF_FOLDER}")):
            raise FatalError(
                f"{path}: is no result of an earlier run on Spark, so it is not replaced: name another folder"
            )

    def __enter__(self) -> Self:
        self._system.delete(self._written, True)
        return self

    def __exit__(self, *_: object) -> None:
        self._system.delete(self._written, True)

    def fill(self, name: str, scan: Scan, report: Report) -> None:
        """Write the table of this name; the report gets the counts that are known only then. Raises FatalError."""
        getattr(scan, name).drop("place").write.mode("overwrite").parquet(self._written.toString())
        if name == "classes":
            report.classes, report.untrimmed = self._count(), self._count("problem LIKE 'untrimmed%'")

    def _count(self, condition: str = "true") -> int:
        """Count the rows that were written and meet an SQL condition."""
        rows: int = self._spark.read.parquet(self._written.toString()).where(condition).count()
        return rows

    def commit(self, metadata: Mapping[str, Any]) -> None:
        """Write the metadata and put the folder in its place. Raises FatalError."""
        file = self._system.create(self._written.suffix(f"/{OF_FOLDER}"))
        file.write(json.dumps(metadata).encode())
        file.close()
        if self._force:
            self._system.delete(self._place, True)
        if not self._system.rename(self._written, self._place):
            raise FatalError(f"{self._name}: cannot be put there")


class _SharedFolder(_Folder):
    """A folder in a file system that all machines share: executors write its files, in the types of one machine."""

    def __init__(self, spark: SparkSession, path: str, *, force: bool) -> None:
        super().__init__(spark, path, force=force)
        self._whole = Path(f"{os.path.abspath(path)}{TEMPORARY_SUFFIX}")  # noqa: PTH100 (as above)
        self._attempts = self._whole / "attempts"

    def __enter__(self) -> Self:
        super().__enter__()
        with as_fatal(self._name):
            self._attempts.mkdir(parents=True)
        return self

    def fill(self, name: str, scan: Scan, report: Report) -> None:
        """Write the table as above. Files that lost attempts of a task have left are removed."""
        if name == "errors":
            rows = batch([(each.source, each.reason) for each in report.failures], _ERRORS)
            self._write_part({"schema": _ERRORS}, [rows])
        else:
            self._take(name, scan, report)
        shutil.rmtree(self._attempts)

    def _take(self, name: str, scan: Scan, report: Report) -> None:
        """Take the files of a table that executors write. Raises FatalError."""
        files = scan.write(name, self._attempts)
        for number, file in enumerate(files):
            try:
                (self._attempts / file.file).rename(self._whole / f"part-{number:05}.parquet")
            except FileNotFoundError as error:
                raise FatalError(
                    f"{self._name}: what executors wrote is not there: name a folder that all machines share, or a URL"
                ) from error
        if not files:
            self._write_part(WRITTEN[name], [], scan.options.metadata())
        rows = sum(file.rows for file in files)
        if name == "classes":
            report.classes, report.untrimmed = rows, sum(file.untrimmed for file in files)
        elif rows != getattr(report, name):
            raise FatalError(
                f"{self._name}: {rows} {name} were written of {getattr(report, name)} that were found: "
                "an input has changed during the run"
            )

    def _write_part(
        self, table: Mapping[str, Any], batches: Sequence[pa.RecordBatch], metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Write the only file of a table, on this machine; `table` as in WRITTEN."""
        with ParquetOutput(self._whole / "part-00000.parquet", **table) as output:
            for rows in batches:
                output.write(rows)
            output.commit(metadata)


@contextlib.contextmanager
def _clear_errors() -> Iterator[None]:
    """Turn errors of Spark into FatalErrors of one line."""
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        if own := regex.findall(r"urnscan\.errors\.\w+: (.+)", text):  # in an executor
            raise FatalError(own[-1]) from error
        causes = regex.findall(r"(?m)^(?:Caused by: )?[\w.$]+(?:Exception|Error): (.+)$", text)
        raise FatalError(f"Spark: {causes[-1] if causes else text.strip().partition(chr(10))[0]}") from error
