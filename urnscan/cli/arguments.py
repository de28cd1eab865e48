"""The options of the commands, and the way from what was given to records of options."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import TYPE_CHECKING, NoReturn

import regex

from urnscan import __version__
from urnscan.cli.terminal import say
from urnscan.equivalence import LEVELS
from urnscan.errors import FatalError
from urnscan.syntax import SYNTAXES
from urnscan.views import KINDS

if TYPE_CHECKING:
    from urnscan.options import Options
    from urnscan.planning import Argument

__all__ = [
    "USAGE",
    "Parser",
    "add_inputs",
    "add_meaning",
    "add_reading",
    "add_running",
    "check_outputs",
    "read_inputs",
    "read_options",
]

USAGE = 2
"""The exit status where nothing could be done."""
_SIZE = regex.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(|[kmgt]i?)b?", regex.IGNORECASE)


class Parser(argparse.ArgumentParser):
    """One that says what is wrong in one line, and lets no argument command the terminal."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end."""
        say(f"{message} ({self.prog} --help tells more)")
        sys.exit(USAGE)


def add_inputs(parser: argparse.ArgumentParser, name: str) -> None:
    """The arguments: what is read."""
    parser.add_argument(
        "inputs",
        metavar=name,
        nargs="*",
        help="a file, a folder (walked, sorted, links not followed), a glob, a URL, or - for standard input, "
        f"which is also what is read when there is no {name} and it is no terminal",
    )
    parser.add_argument(
        "--files-from",
        metavar="FILE",
        help="read also what this list names (- for standard input): paths and URLs, never globs, one a line, or each with "
        "a NUL behind it, as find -print0 writes them",
    )


def add_meaning(group: argparse._ActionsContainer, *, scan: bool, level: str = "lexical") -> None:
    """What is a URN, and which are the same, by default at that level; `scan`: in a text."""
    group.add_argument("--syntax", choices=list(SYNTAXES), default="rfc2141", help="the standard (default: rfc2141)")
    group.add_argument(
        "--equivalence", choices=list(LEVELS), default=level, help=f"what makes two the same (default: {level})"
    )
    if scan:
        group.add_argument(
            "--trim", action="store_true", help="cut closing punctuation and unmatched brackets off the ends"
        )
        group.add_argument(
            "--resolver-tail",
            choices=["keep", "cut"],
            default="keep",
            help="cut off what follows a URN in a URL and belongs to the URL: its query, its next parameter, its fragment "
            "(default: keep)",
        )
        group.add_argument(
            "--recover",
            metavar="KIND[,KIND...]",
            type=_views,
            default=(),
            help=f"also find URNs that do not stand there literally: {', '.join(KINDS)}, or all",
        )
        group.add_argument(
            "--max-length", metavar="N", type=int, default=65_536, help="cut longer matches (default: 65536 octets)"
        )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Which files are read, and what inside of them."""
    which = parser.add_argument_group("which files of a folder")
    which.add_argument(
        "--include", metavar="GLOB", action="append", default=[], help="only files that match (repeatable)"
    )
    which.add_argument(
        "--exclude", metavar="GLOB", action="append", default=[], help="no files or folders that match (repeatable)"
    )
    which.add_argument("--follow", action="store_true", help="follow symbolic links")
    which.add_argument(
        "--encoding", metavar="NAME", help="what inputs are in that have no byte order mark (default: read as octets)"
    )
    inside = parser.add_argument_group("what is inside of files")
    limits = (
        ("ratio", int, "N", "unfold an input to no more than N times its size (default: 1000)"),
        ("size", _size, "SIZE", "unfold an input to no more than this (default: 10TB)"),
        ("depth", int, "N", "no more archives, tables and compressions in each other (default: 8)"),
        ("members", int, "N", "read no more members of an input's archives (default: 10 million)"),
    )
    for name, kind, shown, text in limits:
        inside.add_argument(f"--max-{name}", metavar=shown, type=kind, help=text)


def add_running(parser: argparse.ArgumentParser, *, threads: bool) -> None:
    """How it runs; `threads`: with as many and as much memory as are asked for."""
    running = parser.add_argument_group("running")
    if threads:
        running.add_argument("-j", dest="jobs", metavar="N", type=int, help="threads (default: the cores)")
        running.add_argument(
            "--memory",
            metavar="SIZE",
            type=_size,
            help="what grouping may take before it spills to disk (default: 1GB)",
        )
    running.add_argument("--strict", action="store_true", help="end the run at the first input that fails")
    running.add_argument("--quiet", action="store_true", help="no summary; failures are still named")
    running.add_argument("--no-progress", action="store_true", help="no progress bar")
    running.add_argument("--version", action="version", version=f"urnscan {__version__}")


def _views(text: str) -> tuple[str, ...]:
    """The names of views, as in percent,wraps."""
    return tuple(kind.strip() for kind in text.split(","))


def _size(text: str) -> int:
    """A number of octets, as in 500MB or 2GiB."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write it like 500MB or 2GiB")
    unit = match[2].lower()
    return int(float(match[1]) * (1024 if unit.endswith("i") else 1000) ** " kmgt".index(unit[:1] or " "))


def read_options(arguments: argparse.Namespace) -> Options:
    """The options that are options of a run; those that are not given, or that this command has not, as by default."""
    from urnscan.options import Options  # noqa: PLC0415

    names = (field.name for field in dataclasses.fields(Options))
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    return Options(**given)


def check_outputs(*paths: str | None) -> list[str]:
    """Those of the outputs that are given. Raises FatalError where two of them are the same, or one has no name."""
    from urnscan.sources import real_place  # noqa: PLC0415

    outputs = [path for path in paths if path is not None]
    if "" in outputs:
        raise FatalError("an output has an empty name")
    places = [real_place(path) for path in outputs]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise FatalError(f"{outputs[places.index(place)]}: named as two outputs")
    return outputs


def read_inputs(arguments: argparse.Namespace) -> list[Argument]:
    """What names the inputs: standard input where nothing does. Raises FatalError where that is a terminal, or named twice."""
    from urnscan.sources import PathList  # noqa: PLC0415

    inputs: list[Argument] = [*arguments.inputs]
    if arguments.files_from is not None:
        if arguments.files_from == "-" in inputs:
            raise FatalError("standard input cannot be an input and the list of inputs: leave out - or --files-from -")
        inputs.append(PathList(arguments.files_from))
    if inputs:
        return inputs
    if sys.stdin is None or sys.stdin.isatty():
        raise FatalError("nothing to read: name files or folders, or - for standard input (urnscan --help tells more)")
    return ["-"]
