"""The options of the commands, and the way from what was given to records of options."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from urnscan import __version__
from urnscan.cli.terminal import say
from urnscan.display.sizes import octets_of
from urnscan.errors import FatalError
from urnscan.scanner.views import KINDS
from urnscan.urn.equivalence import LEVELS
from urnscan.urn.syntax import SYNTAXES

if TYPE_CHECKING:
    from urnscan.run.tasks import Argument

__all__ = [
    "SUMMARIES",
    "USAGE",
    "About",
    "Listed",
    "Parser",
    "add_help",
    "add_inputs",
    "add_meaning",
    "add_reading",
    "add_running",
    "read_inputs",
    "read_record",
]

USAGE = 2
"""The exit status where nothing could be done."""

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "urnscan": "find URNs in text, tell which are the same, and write them to Parquet",
        "urnscan dedup": "take the duplicates out of bibliographic dumps",
        "urnscan explain": "take URNs apart, or say where and why a text is none",
        "urnscan report": "make a page (HTML) of what a scan found",
    }
)
"""What each command does, in a line."""

_WIDTH = 78
"""Columns of what is told before and behind the options, which are as wide as the terminal."""
_BEHIND = "\0"  # marks the words behind "--": no word has one
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class About:
    """What is told of a command beside its options."""

    name: str
    """One of SUMMARIES."""
    usages: tuple[str, ...]
    description: str
    examples: tuple[tuple[str, str], ...]
    """What is done, and the command that does it."""
    statuses: Mapping[int, str]
    """What each exit status says."""
    commands: tuple[str, ...] = ()
    """The commands whose names may come first, each one of SUMMARIES."""
    notes: tuple[str, ...] = ()
    """What has to be known beside."""


class Parser(argparse.ArgumentParser):
    """One that tells what can be done and how, says what is wrong in one line, and lets no argument command the terminal."""

    def __init__(self, about: About) -> None:
        self.about = about
        description = [textwrap.fill(about.description, _WIDTH)]
        if about.commands:
            rows = [(name, SUMMARIES[name]) for name in about.commands]
            rows.append(("urnscan COMMAND --help", "tell more of one"))
            description.append("commands:\n" + _table(rows))
        examples = "".join(f"\n  {done}:\n    {command}" for done, command in about.examples)
        statuses = _table([(str(status), meaning) for status, meaning in about.statuses.items()])
        super().__init__(
            prog=about.name,
            usage="\n       ".join(about.usages),
            description="\n\n".join(description),
            epilog="\n\n".join(
                (
                    f"examples:{examples}",
                    f"exit status:\n{statuses}",
                    *(textwrap.fill(note, _WIDTH) for note in about.notes),
                )
            ),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            add_help=False,  # add_help does, as the last group
        )
        self.register("type", None, lambda word: word.removeprefix(_BEHIND))  # of all that say no other

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """What these arguments give, options in whatever order among the others; behind -- there are none."""
        # Where options stand anywhere, argparse takes the -- out before it has looked for options behind it.
        end = words.index("--") if "--" in words else len(words)
        marked = [*words[:end], *(_BEHIND + word for word in words[end + 1 :])]
        arguments, unknown = self.parse_known_intermixed_args(marked)
        if unknown:
            said = " ".join(word.removeprefix(_BEHIND) for word in unknown)
            option = next((word for word in unknown if word.startswith("-") and word != "-"), None)
            near = option and self._nearest(option.partition("=")[0])
            self.error(f"unrecognized arguments: {said}" + (f"; is it {near}?" if near else ""))
        return arguments

    def _nearest(self, word: str) -> str | None:
        """The option that may be meant: the only one that begins so, or else one that is written nearly so."""
        import difflib  # noqa: PLC0415 (for those who mistype)

        begun = [name for name in self._option_string_actions if name.startswith(word)]
        near = begun if len(begun) == 1 else difflib.get_close_matches(word, self._option_string_actions, 1)
        return next(iter(near), None)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end."""
        say(f"{message} ({self.prog} --help tells more)")
        sys.exit(USAGE)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and what is said of them, side by side."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        textwrap.fill(text, _WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=" " * (width + 4))
        for name, text in rows
    )


@dataclass(frozen=True, slots=True)
class Listed:
    """How an option is read that takes words side by side, as in percent,wraps; `words` are those that it knows."""

    words: tuple[str, ...] = ()

    def __call__(self, text: str) -> tuple[str, ...]:
        """The words; the options themselves say which of them are wrong."""
        return tuple(word.strip() for word in text.split(","))


def add_inputs(parser: argparse.ArgumentParser, name: str) -> None:
    """The arguments: what is read."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "inputs",
        metavar=name,
        nargs="*",
        help="a file, a folder (walked, sorted, links not followed), a glob, a URL, or - for standard input, "
        f"which is also what is read when there is no {name} and it is no terminal",
    )
    group.add_argument(
        "--files-from",
        metavar="FILE",
        help="read also what this list names (- for standard input): paths and URLs, never globs, one a line, or each with "
        "a NUL behind it, as find -print0 writes them",
    )


def add_meaning(parser: argparse.ArgumentParser, *, scan: bool, level: str = "lexical") -> None:
    """What is a URN, and which are the same, by default at that level; `scan`: in a text."""
    group = parser.add_argument_group("what counts as a URN, and which are the same")
    group.add_argument(
        "--syntax",
        metavar="NAME",
        choices=list(SYNTAXES),
        default="rfc2141",
        help=f"the standard: {_either(SYNTAXES)} (default: rfc2141)",
    )
    group.add_argument(
        "--equivalence",
        metavar="LEVEL",
        choices=list(LEVELS),
        default=level,
        help="what makes two the same: lexical, the rule for all URNs; resolution, which keeps the query (rfc2141bis-03 "
        f"only); namespace, also what the namespaces have registered (default: {level})",
    )
    if scan:
        group.add_argument(
            "--trim", action="store_true", help="cut closing punctuation and unmatched brackets off the ends"
        )
        group.add_argument(
            "--resolver-tail",
            metavar="WHAT",
            choices=["keep", "cut"],
            default="keep",
            help="keep or cut what follows a URN in a URL and belongs to the URL: its query, its next parameter, its "
            "fragment (default: keep)",
        )
        group.add_argument(
            "--recover",
            metavar="KIND[,KIND...]",
            type=Listed((*KINDS, "all")),
            default=(),
            help=f"also find URNs that do not stand there literally: {', '.join(KINDS)}, or all",
        )
        group.add_argument(
            "--max-length", metavar="N", type=int, default=65_536, help="cut longer matches (default: 65,536 octets)"
        )


def add_reading(parser: argparse.ArgumentParser, *, columns: bool) -> None:
    """Which files are read, and what inside of them; `columns`: also which fields of tables."""
    which = parser.add_argument_group("which files of a folder")
    which.add_argument(
        "--include",
        metavar="GLOB",
        action="append",
        default=[],
        help="only files that match; a GLOB with a / is matched against the path below the folder (repeatable)",
    )
    which.add_argument(
        "--exclude", metavar="GLOB", action="append", default=[], help="no files or folders that match (repeatable)"
    )
    which.add_argument("--follow", action="store_true", help="follow symbolic links; loops are noticed")
    inside = parser.add_argument_group("what is inside of files, and how far they may unfold")
    if columns:
        inside.add_argument(
            "--column",
            metavar="NAME",
            action="append",
            default=[],
            help="read only this column of tables (a dotted path in nested ones, table.column in SQLite), and this field "
            "of CSV, TSV and JSON, which else are scanned as text (repeatable)",
        )
    inside.add_argument(
        "--encoding", metavar="NAME", help="what inputs are in that have no byte order mark (default: read as octets)"
    )
    limits = (
        ("ratio", int, "N", "unfold an input to no more than N times its size, from 256 MiB on (default: 1000)"),
        ("size", _size, "SIZE", "unfold an input to no more than this (default: 10TB)"),
        ("depth", int, "N", "no more archives, tables and compressions in each other (default: 8)"),
        ("members", int, "N", "read no more members of an input's archives (default: 10,000,000)"),
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
    running.add_argument("--quiet", action="store_true", help="no summary and no bar; failures are still named")
    running.add_argument("--no-progress", action="store_true", help="no progress bar")


def add_help(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What tells of the command; the last of its groups."""
    group = parser.add_argument_group("help")
    group.add_argument("-h", "--help", action="help", help="show this and end")
    group.add_argument("--version", action="version", version=f"urnscan {__version__}", help="show the version and end")
    return group


def _either(names: Mapping[str, object]) -> str:
    """Names, as in a, b or c."""
    *others, last = names
    return f"{', '.join(others)} or {last}"


def _size(text: str) -> int:
    """A number of octets, as in 500MB or 2GiB."""
    try:
        return octets_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_record(kind: type[_Record], arguments: argparse.Namespace) -> _Record:
    """A record whose fields are options; those that are not given, or that this command has not, are as by default."""
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(kind)  # type: ignore[arg-type]
    given = {each.name: value for each in fields if (value := getattr(arguments, each.name, None)) is not None}
    return kind(**given)


def read_inputs(arguments: argparse.Namespace) -> list[Argument]:
    """What names the inputs: standard input where nothing does. Raises FatalError where that is a terminal, or named twice,
    and for an empty name.
    """
    from urnscan.sources import PathList  # noqa: PLC0415

    inputs: list[Argument] = [*arguments.inputs]
    if "" in inputs:
        raise FatalError("an input has an empty name")
    if arguments.files_from is not None:
        if not arguments.files_from:
            raise FatalError("the list of inputs has an empty name")
        if arguments.files_from == "-" in inputs:
            raise FatalError("standard input cannot be an input and the list of inputs: leave out - or --files-from -")
        inputs.append(PathList(arguments.files_from))
    if inputs:
        return inputs
    if sys.stdin is None or sys.stdin.isatty():
        raise FatalError("nothing to read: name files or folders, or - for standard input (urnscan --help tells more)")
    return ["-"]
