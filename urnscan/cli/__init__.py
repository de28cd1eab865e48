"""The commands: arguments -> options -> run -> exit status. Only this package prints.

arguments: the options of all commands, and the way from words to records of options.
scan_command: `urnscan INPUT...`: print URNs, or write Parquet.
dedup_command: `urnscan dedup DUMP...`.
explain_command: `urnscan explain URN...`.
report_command: `urnscan report CLASSES.parquet`.
spark_command: `urnscan --engine spark INPUT...`.
outputs: the files of a command, all or none.
heavy: heavy imports, loaded without garbage collection.
completion: the scripts with which shells complete the command.
signals: what the command does when it is asked to stop.
terminal: lines on standard error, and the bar.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from urnscan.cli.arguments import USAGE, Parser
from urnscan.cli.dedup_command import dedup, dedup_parser
from urnscan.cli.explain_command import explain, explain_parser
from urnscan.cli.report_command import report, report_parser
from urnscan.cli.scan_command import scan, scan_parser
from urnscan.cli.signals import heed
from urnscan.cli.terminal import say
from urnscan.errors import UrnscanError

__all__ = ["COMMANDS", "Command", "main"]

DONE, SOME_FAILED, NOTHING_DONE, INTERRUPTED = 0, 1, USAGE, 130


class Command(NamedTuple):
    """What can be done, as two functions."""

    parser: Callable[[], Parser]
    """What reads its arguments, and tells of them; made without loading what is heavy."""
    run: Callable[[Namespace], bool]
    """Does it, and gives whether nothing failed."""


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "urnscan": Command(scan_parser, scan),
        "urnscan dedup": Command(dedup_parser, dedup),
        "urnscan explain": Command(explain_parser, explain),
        "urnscan report": Command(report_parser, report),
    }
)
"""By the words that they begin with. What begins with any other word is to be scanned."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (by default the process's own); returns the exit status.

    0: done, also with nothing found; 1: done, but some inputs failed; 2: wrong usage, or nothing could be done;
    130: interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    heed()
    name = " ".join(["urnscan", *words[:1]])
    if name in COMMANDS:
        words = words[1:]
    command = COMMANDS.get(name, COMMANDS["urnscan"])
    try:
        all_well = command.run(command.parser().parse(words))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough
        _drop_standard_output()
        return DONE
    except (UrnscanError, ValueError) as error:
        say(error)
        return NOTHING_DONE
    except OSError as error:  # of what has no words of its own; without a name it is the standard output
        _drop_standard_output()
        say(f"{error.filename or 'standard output'}: {error.strerror}" if error.strerror else error)
        return NOTHING_DONE
    except MemoryError:
        say("out of memory: the system gives no more; a scan takes less with fewer threads (-j) and a smaller --memory")
        return NOTHING_DONE
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        say("the system starts no more threads; a scan takes fewer with -j 1")
        return NOTHING_DONE
    except KeyboardInterrupt:
        say("interrupted")
        _leave(INTERRUPTED)
        return INTERRUPTED
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise
    return DONE if all_well else SOME_FAILED


def _leave(status: int) -> None:
    """End now if inputs may be open: the interpreter's end waits for reading threads, perhaps for a store that is silent."""
    if "urnscan.sources" in sys.modules:
        os._exit(status)


def _drop_standard_output() -> None:
    """What the interpreter would flush at its end goes nowhere, quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
