"""Errors of Spark -> one line that names the cause: what failed, where, and what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import regex

from urnscan.errors import FatalError

_OWN = regex.compile(r"urnscan\.errors\.\w+: (.+)")
_LOST = regex.compile(
    r"(?:Lost task|Task) \S+ in stage \S+(?: \(TID \d+\))? \((?P<host>\S+) executor (?P<executor>\w+)\): (?P<cause>.+)"
)
_GONE = regex.compile(r"ExecutorLostFailure \(executor (?P<executor>\w+) .*?\)? ?Reason: (?P<cause>.+)")
_TIMES = regex.compile(r"Task \d+ in stage \S+ failed (\d+) times")
_IN_PYTHON = regex.compile(r"Traceback \(most recent call last\):(?:\n(?:  .*)?)*\n(?P<cause>\S.*)")
_IN_JAVA = regex.compile(r"(?m)^(?:: |Caused by: )?(?:[\w$]+\.)*[\w$]+(?:Exception|Error): (?P<cause>\S.*)$")
_NO_CAUSE = regex.compile(r"(?:[\w$]+\.)*[\w$]+(?:Exception|Error)(?::\s*$|$)|Exception thrown in awaitResult")
_NAMED = regex.compile(r"^(?:[\w$]+\.)+(?P<name>[\w$]+(?:Exception|Error)): ")


class _Advice(NamedTuple):
    """Meaning of a cause, and what helps."""

    sign: str
    """A pattern in the text of the error."""
    means: str


_ADVICE = (
    _Advice(
        r"Python worker exited unexpectedly|Python worker failed to connect back|code 137|exceeding .*memory limits|OOMKilled|oom-kill",
        "mostly the system kills a process where memory is short: give executors more of it beside the JVM "
        "(spark.executor.memoryOverhead), or fewer cores",
    ),
    _Advice(
        r"\bMemoryError\b|ArrowMemoryError|malloc of size",
        "a Python worker had no more memory: give executors more of it beside the JVM (spark.executor.memoryOverhead), or "
        "fewer cores",
    ),
    _Advice(
        r"OutOfMemoryError",
        "the JVM had no more memory: more for executors (spark.executor.memory) or the driver (spark.driver.memory)",
    ),
    _Advice(
        r"No space left on device", "a disk is full: that of spark.local.dir has what is found and what is exchanged"
    ),
    _Advice(
        r"No module named 'urnscan|No module named 'numba",
        "executors need Python with urnscan (PYSPARK_PYTHON names it)",
    ),
)


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Turn errors of Spark into FatalErrors of one line."""
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise FatalError(cause_of(str(error))) from error


def cause_of(text: str) -> str:
    r"""Line for an error of Spark, of which `text` is all that it says.

    >>> cause_of("An error occurred while calling o1.collect.\n: java.io.IOException: No space left on device")
    'Spark: No space left on device (a disk is full: that of spark.local.dir has what is found and what is exchanged)'
    """
    if own := _OWN.findall(text):  # in an executor
        return str(own[-1])
    lost = _LOST.search(text) or _GONE.search(text)
    cause = _cause(text, lost and lost["cause"])
    line = f"Spark: {cause}"
    if lost and lost["executor"] != "driver":
        line += f", in executor {lost['executor']}"
        line += f" on {lost['host']}" if "host" in lost.groupdict() else ""
    if (times := _TIMES.search(text)) and times[1] != "1":
        line += f", after {times[1]} attempts"
    means = next((advice.means for advice in _ADVICE if regex.search(advice.sign, text)), "")
    return f"{line} ({means})" if means else line


def _cause(text: str, lost: str | None) -> str:
    """The words of the cause: of Python in an executor, else of the task that was lost, else the innermost of Java."""
    if in_python := _IN_PYTHON.findall(text):
        return str(in_python[-1]).strip()
    if lost and not _NO_CAUSE.match(lost) and "ExecutorLostFailure" not in lost:
        return _NAMED.sub("", lost).partition(" Consider setting ")[0].rstrip(". ")
    if gone := _GONE.search(text):
        return f"an executor was lost: {gone['cause']}".rstrip(". ")
    causes = [found["cause"] for found in _IN_JAVA.finditer(text) if not _NO_CAUSE.match(found["cause"])]
    return str(causes[-1]) if causes else text.strip().partition("\n")[0]
