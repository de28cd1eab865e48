"""Lines and the progress bar that a command writes to the terminal."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import stat
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from urnscan.cli import guesses
from urnscan.display.addresses import without_secrets
from urnscan.display.progress import Progress, Stage, open_bar, without_bar
from urnscan.display.text import Readings, counted, hints, others_left_out, printable
from urnscan.errors import SourceError, count_of, option

if TYPE_CHECKING:
    from urnscan.dedup.dedup_report import DedupReport
    from urnscan.run.options import Options
    from urnscan.run.pipeline import Report


def write(text: str | memoryview, stream: TextIO) -> None:
    """Write lines to standard output or standard error, and flush it. A progress bar is hidden meanwhile, and returns
    below the lines. Raises OSError if the stream cannot be written.
    """
    with without_bar():
        if isinstance(text, str):
            stream.write(text)
        else:
            stream.buffer.write(text)
        stream.flush()


def print_result(lines: str | memoryview, progress: Progress) -> None:
    """Write lines to standard output. If another program reads standard output, the progress bar is removed for the
    rest of the run. Raises OSError if standard output cannot be written.
    """
    if _is_pipe(sys.stdout):
        progress.close()
    write(lines, sys.stdout)


def has_terminal() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(message: object) -> None:
    """Print `urnscan: ` and a message on standard error, without secrets of addresses, and with control characters
    escaped.

    On a terminal, a long line is broken between words. If writing fails, this message and all later messages are
    dropped.
    """
    if sys.stderr is not None:
        line = f"urnscan: {printable(without_secrets(str(message)))}"
        try:
            write((_folded(line) if has_terminal() else line) + "\n", sys.stderr)
        # For example, the disk is full. The run continues without messages.
        except OSError:
            sys.stderr = None


def _folded(line: str) -> str:
    """A line for standard error, broken between words to the width of the terminal. Precondition: `has_terminal()`."""
    columns = os.get_terminal_size(sys.stderr.fileno()).columns
    if len(line) <= columns or not columns:
        return line
    # Only line breaks are added: spaces inside of a name, and long words, are unchanged.
    return textwrap.fill(
        line,
        columns,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    )


# Number of inputs that are named in a line about many inputs.
_NAMED = 3


class FailureLines:
    """A callable object that prints failures and notes (SourceErrors) on standard error, a line for each.

    The type of an error decides: if it sets `max_reported`, only so many errors of the type are printed, and at the end
    the number of the others; if it sets `together`, all errors of the type have a single line, at the end.
    """

    def __init__(self, stack: contextlib.ExitStack) -> None:
        """When the stack is closed, what belongs to the end is printed: the numbers, and the single lines."""
        self._met: Counter[type[SourceError]] = Counter()
        self._not_printed: Counter[type[SourceError]] = Counter()
        # The first failures of each type that is printed together.
        self._first: dict[type[SourceError], list[SourceError]] = {}
        stack.callback(self._say_others)

    def __call__(self, error: SourceError) -> None:
        """Print an error at once, or only count it, if enough of its type were printed or its type is for the end."""
        kind = type(error)
        self._met[kind] += 1
        if kind.together:
            if self._met[kind] <= _NAMED:
                self._first.setdefault(kind, []).append(error)
        elif kind.max_reported is None or self._met[kind] <= kind.max_reported:
            say(error)
        else:
            self._not_printed[kind] += error.count

    def _say_others(self) -> None:
        for kind, met in self._met.items():
            if kind.together:
                self._say_together(met, self._first[kind], *kind.together)
            elif others := self._not_printed[kind]:
                say(f"{others:,} {kind.others}")

    def _say_together(self, met: int, first: Sequence[SourceError], what: str, remedy: str) -> None:
        if met == 1:
            say(first[0])
            return
        names = ", ".join(error.source for error in first)
        say(f"{met:,} {what}: {names}{', …' if met > len(first) else ''}; {remedy}")


def show_progress(
    arguments: argparse.Namespace, stage: str, total: Callable[[], int | None], stack: contextlib.ExitStack
) -> Progress:
    """Show a progress bar on standard error until the stack is closed, if standard error is a terminal and the
    arguments allow a bar. Returns the functions that move the bar (without a bar they do nothing) and, always, a
    function that prints failures.

    `stage` is the name of the first stage. `total` returns the number of bytes that will be read, or None if unknown;
    it is called now, and only for a bar.
    """
    on_failure = FailureLines(stack)
    shown = Progress()
    # Some commands do not have the option --no-progress.
    unwanted = arguments.quiet or vars(arguments).get("no_progress")
    if not unwanted and has_terminal():
        shown = open_bar(Stage(stage, total()), stack)
    return dataclasses.replace(shown, on_failure=on_failure)


def _is_pipe(stream: TextIO) -> bool:
    # The program that reads it may write to the terminal at any time, in the middle of a bar.
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def say_counts(parts: Sequence[str], seconds: float, written: Sequence[str], failures: int = 0, notes: int = 0) -> None:
    """Print a line on standard error: `parts` (counts of a run), seconds, the numbers of failures and notes if not 0,
    and the outputs that were written, as in `urnscan: 3 inputs, 12 occurrences, 0.1 s, 1 failure -> urns.parquet`.
    """
    more = [counted(number, one) for number, one in ((failures, "failure"), (notes, "note")) if number]
    names = f" -> {', '.join(written)}" if written else ""
    say(", ".join([*parts, f"{seconds:.1f} s", *more]) + names)


def say_hints(
    counts: Readings, *, untrimmed: int | None = None, joinable: int | None = None, has_rejects: bool = False
) -> None:
    """Print on standard error how many occurrences and classes other options would change; nothing for an option that
    would not change any. `counts` is the report of the run.

    `untrimmed`: number of classes that fit their namespaces only after `--trim`, named in the line about `--trim`
    if there is one; `joinable`: how many fewer classes `--equivalence namespace` would make, a line. 0 or None
    (unknown): not mentioned.
    `has_rejects`: the run lists rejects, so no line advises `--rejects`.
    """
    for line in hints(
        counts, option, "urnscan --rejects FILE", untrimmed=untrimmed, joinable=joinable, has_rejects=has_rejects
    ):
        say(line)


def say_no_input(report: Report | DedupReport, options: Options) -> None:
    """If a run read no input and had no failure, print that, and for a pattern of `--include` such as `xml` or `.xml`
    the suggestion `*.xml`. Otherwise print nothing.
    """
    if report.inputs or report.failures:
        return
    say("nothing was read; the folders contain no files, or the options exclude all of them")
    for pattern in options.include:
        ending = pattern.removeprefix(".")
        if ending.isalnum():
            say(f"--include {pattern}: no file has exactly this name; '*.{ending}' is for all names that end so")


def say_no_record(report: Report, options: Options) -> None:
    """If a run on this machine read no text, because no record fits `--where`, print that, with some of the media types
    and status codes of the records. Otherwise print nothing.
    """
    where = options.reading.where
    if where is None or report.byte_count or not where.others:
        return
    there = [f"{name}={value}" for name in ("status", "mime") for value in sorted(where.others.get(name, ()))]
    say(f"no record with text fits --where '{options.where}'{'; there are ' if there else ''}{', '.join(there)}")


def say_unregistered(options: Options) -> None:
    """Print a line on standard error for each value of `--nid` and `--not-nid` whose namespace is neither registered
    nor in `--rules`, but similar to registered ones.
    """
    # The value is used all the same, as texts are full of unregistered namespaces.
    for name, beginnings in (("--nid", options.nid), ("--not-nid", options.not_nid)):
        for beginning in beginnings:
            if beginning.partition(":")[0].lower() in options.level.rulebook.nids:
                continue
            if (guess := guesses.for_nid_option(beginning)) is not None:
                say(f"{name} {beginning}: {guess}")


def summarise(report: Report, written: Sequence[str], kept: int = 0) -> None:
    """Print on standard error the counts of a scan, the outputs that were written, and how many occurrences other
    options would change.

    `kept` is the number of bytes whose results came from an earlier run (`--resume`); 0 is not printed.
    """
    parts = [
        counted(report.inputs, "input"),
        counted(report.byte_count, "byte"),
        counted(report.occurrences, "occurrence"),
        *others_left_out(report.left_out),
    ]
    if report.classes is not None:
        parts.append(counted(report.classes, "class", "classes"))
    if report.rejects is not None:
        parts.append(counted(report.rejects, "reject"))
    if kept:
        parts.append(f"{counted(kept, 'byte')} from an earlier run")
    say_counts(parts, report.seconds, written, count_of(report.failures), count_of(report.notes))
    has_rejects = report.rejects is not None
    say_hints(report, untrimmed=report.untrimmed, joinable=report.joinable, has_rejects=has_rejects)
