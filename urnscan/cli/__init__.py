"""The commands: arguments -> options -> run -> exit status. Only this package prints.

shared_options: options that commands share, as data.
arguments: the parser of a command, and records of options.
guesses: words that no command knows, and suggestions for them.
scan_command: `urnscan INPUT...`: find URNs, and print them or write them to tables; also on Spark.
check_command: `urnscan check INPUT...`: name each wrong URN in a line.
faults: the lines of `urnscan check`, in each of its formats.
dedup_command: `urnscan dedup DUMP...`.
explain_command: `urnscan explain URN...`.
report_command: `urnscan report CLASSES.parquet`.
merge_command: `urnscan merge TABLE.parquet...`.
diff_command: `urnscan diff OLD.parquet NEW.parquet`.
conflicts: options of a scan that exclude each other.
printer: the printed results of a scan.
outputs: files that a command writes: all appear, or none.
first_run: the compilation at the first run.
lazy_imports: heavy imports, loaded without garbage collection.
completion: the option that prints completions for a shell.
signals: signals that stop the command.
terminal: lines and the progress bar on standard error.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from urnscan.cli import guesses
from urnscan.cli.arguments import USAGE, Parser
from urnscan.cli.check_command import check, check_parser
from urnscan.cli.dedup_command import dedup, dedup_parser
from urnscan.cli.diff_command import diff, diff_parser
from urnscan.cli.explain_command import explain, explain_parser
from urnscan.cli.merge_command import merge, merge_parser
from urnscan.cli.report_command import report, report_parser
from urnscan.cli.scan_command import scan, scan_parser
from urnscan.cli.signals import handle_signals
from urnscan.cli.terminal import say
from urnscan.errors import FatalError, UrnscanError, at_shell

_DONE, _SOME_FAILED, _NOTHING_DONE, _INTERRUPTED = 0, 1, USAGE, 130


class Command(NamedTuple):
    """A command: the parser of the arguments, and the function that runs the command."""

    parser: Callable[[], Parser]
    """Makes the parser. Loads no heavy library."""
    run: Callable[[Namespace], bool]
    """Runs the command with parsed arguments; returns whether nothing failed."""


COMMANDS: Mapping[str, Command] = {
    "urnscan": Command(scan_parser, scan),
    "urnscan check": Command(check_parser, check),
    "urnscan dedup": Command(dedup_parser, dedup),
    "urnscan explain": Command(explain_parser, explain),
    "urnscan report": Command(report_parser, report),
    "urnscan merge": Command(merge_parser, merge),
    "urnscan diff": Command(diff_parser, diff),
}
"""First words of a command line -> the command. Any other first word is an input of a scan."""
_FIRST_WORDS = [name.removeprefix("urnscan ") for name in COMMANDS if " " in name]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments, without `urnscan` (None: the arguments of the process). Prints the
    error that ends the command, if any, and returns the exit status. Must be called in the main thread, as it sets
    handlers of signals.

    0: done, also if nothing was found, or the reader of standard output stopped; 1: done, but some inputs failed (for
    `check`, `explain` and `diff` also: names are wrong, or tables differ); 2: an error ended the command, such as wrong
    usage; 130: interrupted by Ctrl-C. `--help`, SIGTERM and wrong usage that the parser finds raise SystemExit. If
    inputs may be open, Ctrl-C and SystemExit end the process at once, with their status. An unexpected error is raised.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    handle_signals()
    # NumPy would start a thread for each core, for linear algebra, which nothing here needs. That would take a fifth of
    # the CPU time of a start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        all_well = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException as error:
        status = _say_what_ended(error)
        for note in getattr(error, "__notes__", ()):
            say(note)
        if isinstance(error, KeyboardInterrupt | SystemExit):
            _leave(status)
        if isinstance(error, SystemExit):
            raise
        return status
    return _DONE if all_well else _SOME_FAILED


def _run(words: list[str]) -> bool:
    """Run the command that the first word names, or a scan if it names none. Return whether nothing failed."""
    name = " ".join(["urnscan", *words[:1]])
    if name in COMMANDS:
        words = words[1:]
    elif words and (meant := guesses.for_command(words[0], _FIRST_WORDS)):
        raise FatalError(meant)
    command = COMMANDS.get(name, COMMANDS["urnscan"])
    with at_shell():
        arguments = command.parser().parse(words)
        if shell := getattr(arguments, "print_completion", None):
            from urnscan.cli.completion import print_completion

            print_completion(shell, {name: command.parser for name, command in COMMANDS.items()})
            return True
        return command.run(arguments)


def _say_what_ended(error: BaseException) -> int:
    """Print why `error` ended the command, except for a closed pipe and SystemExit, and return the exit status. An
    unexpected error is raised again.
    """
    match error:
        # The reader of standard output has stopped, as `head` does.
        case BrokenPipeError():
            _drop_standard_output()
            return _DONE
        case UrnscanError() | ValueError():
            say(error)
        # The error of a write that no module handles. Without a file name, the file is standard output.
        case OSError():
            _drop_standard_output()
            say(f"{error.filename or 'standard output'}: {error.strerror}" if error.strerror else error)
        case MemoryError():
            say("out of memory; where a command has -j or --memory, smaller values need less")
        case RuntimeError() if "can't start new thread" in str(error):
            say("the system starts no more threads; a scan takes fewer with -j 1")
        case KeyboardInterrupt():
            say("interrupted")
            return _INTERRUPTED
        case SystemExit(code=int(status)):
            return status
        case _:
            raise error
    return _NOTHING_DONE


def _leave(status: int) -> None:
    # A normal exit would wait for threads that read, perhaps from a store that never answers.
    if "urnscan.inputs" in sys.modules:
        os._exit(status)


def _drop_standard_output() -> None:
    """Redirect standard output to /dev/null, so that no later flush fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
