"""Errors of Spark as a single line that names the cause, the place, and advice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import regex

from urnscan.errors import FatalError

_URNSCAN_ERROR = regex.compile(r"urnscan\.errors\.\w+: (.+)")
_LOST_TASK = regex.compile(
    r"(?:Lost task|Task) \S+ in stage \S+(?: \(TID \d+\))? \((?P<host>\S+) executor (?P<executor>\w+)\): (?P<cause>.+)"
)
_LOST_EXECUTOR = regex.compile(r"ExecutorLostFailure \(executor (?P<executor>\w+) .*?\)? ?Reason: (?P<cause>.+)")
_ATTEMPTS = regex.compile(r"Task \d+ in stage \S+ failed (\d+) times")
_PYTHON_CAUSE = regex.compile(r"Traceback \(most recent call last\):(?:\n(?:  .*)?)*\n(?P<cause>\S.*)")
_JAVA_CAUSE = regex.compile(r"(?m)^(?:: |Caused by: )?(?:[\w$]+\.)*[\w$]+(?:Exception|Error): (?P<cause>\S.*)$")
_NO_CAUSE = regex.compile(r"(?:[\w$]+\.)*[\w$]+(?:Exception|Error)(?::\s*$|$)|Exception thrown in awaitResult")
_CLASS_NAME = regex.compile(r"^(?:[\w$]+\.)+(?P<name>[\w$]+(?:Exception|Error)): ")


_MORE_MEMORY = "raise spark.executor.memoryOverhead, or use fewer cores"
_ADVICE = {
    r"Python worker exited unexpectedly|Python worker failed to connect back|code 137|exceeding .*memory limits|OOMKilled|oom-kill": (
        f"memory is probably short: {_MORE_MEMORY}"
    ),
    r"\bMemoryError\b|ArrowMemoryError|malloc of size": f"a Python worker is out of memory: {_MORE_MEMORY}",
    r"OutOfMemoryError": "the JVM is out of memory: raise spark.executor.memory or spark.driver.memory",
    r"No space left on device": "a disk is full: results and exchanged rows are in spark.local.dir",
    r"No module named 'urnscan|No module named 'numba": "executors need Python with urnscan (PYSPARK_PYTHON names it)",
}
"""Pattern of a part of the text of an error -> advice."""


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Context in which an error of Spark or Java is raised as a FatalError with a single line (`cause_of`): the cause
    and, if known, the executor and advice. Other errors pass unchanged.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise FatalError(cause_of(str(error))) from error


def cause_of(text: str) -> str:
    r"""Return the line for an error of Spark: its cause and, if known, the executor, the number of attempts, and
    advice. `text` is the whole text of the error. For an error that urnscan raised in an executor, the line is only the
    message of that error.

    >>> cause_of("An error occurred while calling o1.collect.\n: java.io.IOException: No space left on device")
    'Spark: No space left on device; a disk is full: results and exchanged rows are in spark.local.dir'
    """
    # An error of urnscan in an executor.
    if errors := _URNSCAN_ERROR.findall(text):
        return str(errors[-1])
    lost = _LOST_TASK.search(text) or _LOST_EXECUTOR.search(text)
    cause = _cause(text, lost and lost["cause"])
    line = f"Spark: {cause}"
    if lost and lost["executor"] != "driver":
        line += f", in executor {lost['executor']}"
        line += f" on {lost['host']}" if "host" in lost.groupdict() else ""
    if (attempts := _ATTEMPTS.search(text)) and attempts[1] != "1":
        line += f", after {attempts[1]} attempts"
    advice = next((advice for pattern, advice in _ADVICE.items() if regex.search(pattern, text)), "")
    return f"{line}; {advice}" if advice else line


def _cause(text: str, lost: str | None) -> str:
    """The cause in the text of an error: that of Python; else `lost`, of a lost task or executor; else the innermost of
    Java; else the first line.
    """
    if python_causes := _PYTHON_CAUSE.findall(text):
        return str(python_causes[-1]).strip()
    if lost and not _NO_CAUSE.match(lost) and "ExecutorLostFailure" not in lost:
        return _CLASS_NAME.sub("", lost).partition(" Consider setting ")[0].rstrip(". ")
    if executor := _LOST_EXECUTOR.search(text):
        return f"an executor was lost: {executor['cause']}".rstrip(". ")
    causes = [match["cause"] for match in _JAVA_CAUSE.finditer(text) if not _NO_CAUSE.match(match["cause"])]
    return str(causes[-1]) if causes else text.strip().partition("\n")[0]
