"""The run of the command on Spark: tables become folders of Parquet, which appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from urnscan.errors import FatalError, SourceError, option
from urnscan.run.options import Options
from urnscan.run.pipeline import Report
from urnscan.run.tasks import Argument
from urnscan.spark.causes import clear_errors
from urnscan.spark.driver import scan_inputs
from urnscan.spark.executors import ScanRequest
from urnscan.spark.folders import open_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a Java that only moves bytes. Optimised code and garbage collection in threads are switched off, because
they took most of the time.
"""
_CONFIGURED = {"SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_GATEWAY_PORT"}
"""Environment variables. If any of them is set, the user has configured or started Java."""
_QUIET = Path(__file__).with_name("log4j2.properties")


@contextlib.contextmanager
def session(master: str | None, *, show_progress: bool) -> Iterator[SparkSession]:
    """Context with a Spark session: Spark is started, and stopped at the end; a session that is active in this thread
    is used and not stopped.

    Spark is configured by `spark-submit` or the environment. `master` replaces the master that is configured there;
    None: the configured master, or `local[*]` without one. `show_progress`: whether Spark prints its progress bar. For
    an active session, both parameters have no effect. Raises FatalError if pyspark or Java is missing, or if Spark does
    not start.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise FatalError("--engine spark needs pyspark and Java 17; pip install 'urnscan[spark]'") from error
    if (running := SparkSession.getActiveSession()) is not None:
        yield running
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("urnscan")
    builder = builder.config("spark.ui.showConsoleProgress", str(show_progress).lower())
    if _CONFIGURED & os.environ.keys():
        builder = builder.config("spark.log.level", "FATAL")
    else:
        os.environ.setdefault("LOG4J_CONFIGURATION_FILE", str(_QUIET))
        builder = builder.config("spark.driver.extraJavaOptions", LEAN)
    if master is not None:
        builder = builder.master(master)
    # PySpark prints this warning at each start.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
    with clear_errors():
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
    """Scan the inputs, and write the tables that have an output. `outputs` maps `classes`, `occurrences`, `rejects` and
    `errors` to paths or URLs of folders. `on_failure` is called with each note, then with each failure, after the scan
    (with `options.strict`, only the first). Returns counts, failures and notes.

    Raises FatalError if inputs failed and none could be read, or, with `strict`, if an input failed; if an output
    exists already (with `force`: unless an earlier run on Spark wrote it) or cannot be written; and if a task fails at
    each attempt.
    """
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.enter_context(clear_errors())
        folders = {name: stack.enter_context(open_folder(spark, path, force=force)) for name, path in outputs.items()}
        # Files of an earlier run in the output folders are not inputs, even if an output folder is in an input folder.
        earlier = [str(path) for folder in outputs.values() for path in Path(folder).rglob("*")]
        paths = [*outputs.values(), *earlier]
        scan = stack.enter_context(scan_inputs(spark, inputs, ScanRequest(options, frozenset(outputs)), paths))
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
