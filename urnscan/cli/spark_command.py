"""`urnscan --engine spark INPUT...`: scan on a cluster of Apache Spark."""

from __future__ import annotations

import argparse

from urnscan.cli.arguments import read_inputs, read_record
from urnscan.cli.heavy import loading
from urnscan.cli.outputs import check_outputs
from urnscan.cli.terminal import say, summarise
from urnscan.errors import FatalError

__all__ = ["add_engine", "spark_command"]

_REFUSED = {
    "json": "--json is for printing, which --engine spark does not do",
    "resume": "--resume is for one machine: Spark repeats only what an executor lost",
    "jobs": "-j is for one machine: Spark has the executors that its master gives, as in --master 'local[4]'",
    "memory": "--memory is for one machine: Spark groups in what its executors have, spark.executor.memory",
}


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options of Apache Spark."""
    group = parser.add_argument_group("Apache Spark")
    group.add_argument(
        "--engine",
        metavar="NAME",
        choices=["here", "spark"],
        default="here",
        help="where the scan runs: here, on this machine, or spark, on a cluster; the outputs of spark are folders of Parquet (default: here)",
    )
    group.add_argument("--master", metavar="URL", help="the cluster (default: what spark-submit says, or local[*])")
    group.add_argument(
        "--errors", metavar="FOLDER", help="write what could not be read to Parquet, a row for each failure"
    )


def spark_command(arguments: argparse.Namespace) -> bool:
    """Scan on Spark as the arguments say; returns whether nothing failed. Raises FatalError and ValueError."""
    for name, reason in _REFUSED.items():
        if getattr(arguments, name):
            raise FatalError(reason)
    tables = ("classes", "occurrences", "rejects", "errors")
    outputs = {name: path for name in tables if (path := getattr(arguments, name)) is not None}
    if not outputs:
        raise FatalError("--engine spark prints no occurrences: name an output with -o, --occurrences or --rejects")
    check_outputs(*outputs.values())
    inputs = read_inputs(arguments)
    with loading():
        from urnscan.run.options import Options  # noqa: PLC0415
        from urnscan.spark.job import run, session  # noqa: PLC0415
    options = read_record(Options, arguments)
    with session(arguments.master, show_progress=not (arguments.no_progress or arguments.quiet)) as spark:
        report = run(spark, inputs, options, outputs, force=arguments.force, on_failure=say)
    if not arguments.quiet:
        summarise(report, options)
    return not report.failures
