"""What is said to whoever runs the command: lines on standard error, and a bar that shows how far it is."""

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
    """One line on standard error."""
    if sys.stderr is not None:  # closed: print would take standard output instead
        try:
            print(f"urnscan: {printable(str(message))}", file=sys.stderr)
        except OSError:  # a full disk behind it: nobody can be told, the rest is done all the same
            sys.stderr = None


def say_trimmable(count: int, options: Options) -> None:
    """A line about what trimming would have changed, if it would have, and was not done."""
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
    """One line of what was done, and one about trimming where it would have changed something.

    `kept` octets did not have to be scanned again.
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
