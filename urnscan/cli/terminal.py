"""Lines and the progress bar on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from urnscan.display.progress import Progress, open_bar
from urnscan.display.text import counted, printable, trimming

if TYPE_CHECKING:
    from urnscan.run.options import Options
    from urnscan.run.pipeline import Report

__all__ = ["say", "say_trimmable", "show_progress", "summarise"]


def say(message: object) -> None:
    """Print one line on standard error."""
    if sys.stderr is not None:  # None if closed: print would use standard output instead
        try:
            print(f"urnscan: {printable(str(message))}", file=sys.stderr)
        except OSError:  # for example a full disk: the run goes on without messages
            sys.stderr = None


def say_trimmable(count: int, options: Options) -> None:
    """Print how many occurrences `--trim` would change, if it was not given and would change some."""
    if count and not options.trim:
        say(trimming(count, "--trim"))


def show_progress(
    stage: str, total: Callable[[], int | None], stack: contextlib.ExitStack, *, wanted: bool
) -> Progress:
    """Show a progress bar on standard error until the stack is closed, if it is wanted and standard error is a terminal.

    `stage` is the name of the first stage. `total` returns the octets that will be read, or None if unknown.
    Failures are printed above the bar.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        return Progress(on_failure=say)
    return open_bar(stage, total(), stack, on_failure=say)


def summarise(report: Report, options: Options, kept: int = 0) -> None:
    """Print one line with the counts of the run, and one about trimming if it would change something.

    `kept` is the number of octets whose result was taken from an earlier run.
    """
    parts = [
        counted(report.inputs, "input"),
        counted(report.octets, "octet"),
        counted(report.occurrences, "occurrence"),
    ]
    if report.classes is not None:
        parts.append(counted(report.classes, "class", "classes"))
    if report.rejects is not None:
        parts.append(counted(report.rejects, "reject"))
    if kept:
        parts.append(f"{counted(kept, 'octet')} from an earlier run")
    parts.append(f"{report.seconds:.1f} s")
    if report.failures:
        parts.append(counted(len(report.failures), "failure"))
    say(", ".join(parts))
    say_trimmable(report.trimmable, options)
