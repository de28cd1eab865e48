"""Arguments that commands share, the parser, and how parsed arguments become records of options."""

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
"""Exit status for wrong usage, and for a run that could do nothing."""

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "urnscan": "find URNs in text, group those that are the same, and write them to Parquet",
        "urnscan dedup": "remove the duplicates from bibliographic dumps",
        "urnscan explain": "show the parts of URNs, or why a text is no URN",
        "urnscan report": "make an HTML page from the result of a scan",
    }
)
"""Summary of each command, one line."""

_WIDTH = 78
"""Width of the help before and after the options; the options are as wide as the terminal."""
_BEHIND = "\0"  # prefix of the words behind "--": no argument of a process contains NUL
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class About:
    """Help of a command, except its options."""

    name: str
    """Name of the command, a key of SUMMARIES."""
    usages: tuple[str, ...]
    description: str
    examples: tuple[tuple[str, str], ...]
    """Pairs: the purpose, and the command line for it."""
    statuses: Mapping[int, str]
    """Meaning of each exit status."""
    commands: tuple[str, ...] = ()
    """Commands that the help lists, keys of SUMMARIES."""
    notes: tuple[str, ...] = ()
    """Paragraphs at the end of the help."""


class Parser(argparse.ArgumentParser):
    """Parser of a command: help with examples and exit statuses, errors in one line without control characters."""

    def __init__(self, about: About) -> None:
        self.about = about
        description = [textwrap.fill(about.description, _WIDTH, break_on_hyphens=False)]
        if about.commands:
            rows = [(name, SUMMARIES[name]) for name in about.commands]
            rows.append(("urnscan COMMAND --help", "show the help of one"))
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
            add_help=False,  # the function add_help adds it as the last group
        )
        self.register("type", None, lambda word: word.removeprefix(_BEHIND))  # for all arguments without a type

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the words of a command. Options may stand anywhere before `--`, and none stands behind it."""
        # With intermixed arguments argparse drops the "--" first, and then takes words behind it for options.
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
        """Option that may be meant: the only one with this beginning, or else one with similar spelling."""
        import difflib  # noqa: PLC0415 (only after a typing error)

        begun = [name for name in self._option_string_actions if name.startswith(word)]
        near = begun if len(begun) == 1 else difflib.get_close_matches(word, self._option_string_actions, 1)
        return next(iter(near), None)

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        say(f"{message} ({self.prog} --help tells more)")
        sys.exit(USAGE)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns of text: names, and their descriptions."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        textwrap.fill(text, _WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=" " * (width + 4))
        for name, text in rows
    )


@dataclass(frozen=True, slots=True)
class Listed:
    """Type of an option whose value is a list, as in `percent,wraps`; `words` are the values it knows, if they are known."""

    words: tuple[str, ...] = ()

    def __call__(self, text: str) -> tuple[str, ...]:
        """Split the value. The records of options check the words."""
        return tuple(word.strip() for word in text.split(","))


def add_inputs(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the inputs of a command, called `name` in its help."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "inputs",
        metavar=name,
        nargs="*",
        help="a file, a folder with all files below it (sorted, links not followed), a glob, a URL, or - for standard "
        "input; if none is named, standard input is read, unless it is a terminal",
    )
    group.add_argument(
        "--files-from",
        metavar="FILE",
        help="also read the inputs that this file lists (- for standard input): paths and URLs, not globs, one on each "
        "line, or each ended by NUL as find -print0 writes them",
    )


def add_meaning(parser: argparse.ArgumentParser, *, scan: bool, level: str = "lexical") -> None:
    """Add what counts as a URN, and which URNs are the same (by default at `level`); `scan`: also options of a scan."""
    group = parser.add_argument_group("what counts as a URN, and which URNs are the same")
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
        help="which URNs are the same: lexical, by the rule for all URNs; resolution, also by the query (rfc2141bis-03 "
        f"only); namespace, also by the rules that namespaces have registered (default: {level})",
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
            help="for a URN in a URL: keep or cut the part of the URL that follows it, which is the query, the next "
            "parameter or the fragment (default: keep)",
        )
        group.add_argument(
            "--recover",
            metavar="KIND[,KIND...]",
            type=Listed((*KINDS, "all")),
            default=(),
            help=f"also find URNs that are written in another form: {', '.join(KINDS)}, or all",
        )
        group.add_argument(
            "--max-length", metavar="N", type=int, default=65_536, help="cut longer matches (default: 65,536 octets)"
        )


def add_reading(parser: argparse.ArgumentParser, *, columns: bool) -> None:
    """Add which files are read, and how; `columns`: also which columns of tables."""
    which = parser.add_argument_group("which files of a folder")
    which.add_argument(
        "--include",
        metavar="GLOB",
        action="append",
        default=[],
        help="read only files that match; a GLOB with a / is matched against the path below the folder (repeatable)",
    )
    which.add_argument(
        "--exclude", metavar="GLOB", action="append", default=[], help="skip files and folders that match (repeatable)"
    )
    which.add_argument("--follow", action="store_true", help="follow symbolic links; loops are detected")
    inside = parser.add_argument_group("how files are read, and how much may come out of them")
    if columns:
        inside.add_argument(
            "--column",
            metavar="NAME",
            action="append",
            default=[],
            help="read only this column of tables (nested: a dotted path; SQLite: table.column), and only this field of "
            "CSV, TSV and JSON, which are otherwise scanned as text (repeatable)",
        )
    inside.add_argument(
        "--encoding", metavar="NAME", help="encoding of inputs without a byte order mark (default: read as octets)"
    )
    limits = (
        (
            "ratio",
            int,
            "N",
            "end an input that unpacks to more than N times its size, and more than 256 MiB (default: 1000)",
        ),
        ("size", _size, "SIZE", "end an input that unpacks to more than this (default: 10TB)"),
        ("depth", int, "N", "most archives, tables and compressions inside each other (default: 8)"),
        ("members", int, "N", "most members in the archives of an input (default: 10,000,000)"),
    )
    for name, kind, shown, text in limits:
        inside.add_argument(f"--max-{name}", metavar=shown, type=kind, help=text)


def add_running(parser: argparse.ArgumentParser, *, threads: bool) -> None:
    """Add how the command runs; `threads`: also the number of threads, and the memory."""
    running = parser.add_argument_group("running")
    if threads:
        running.add_argument("-j", dest="jobs", metavar="N", type=int, help="number of threads (default: the cores)")
        running.add_argument(
            "--memory",
            metavar="SIZE",
            type=_size,
            help="memory for grouping; what needs more goes to disk (default: 1GB)",
        )
    running.add_argument("--strict", action="store_true", help="end the run at the first input that fails")
    running.add_argument(
        "--quiet", action="store_true", help="no summary and no progress bar; failures are still named"
    )
    running.add_argument("--no-progress", action="store_true", help="no progress bar")


def add_help(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options that show something and exit; the last group of the help."""
    group = parser.add_argument_group("help")
    group.add_argument("-h", "--help", action="help", help="show this help and exit")
    group.add_argument(
        "--version", action="version", version=f"urnscan {__version__}", help="show the version and exit"
    )
    return group


def _either(names: Mapping[str, object]) -> str:
    """Names in one phrase: `a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}"


def _size(text: str) -> int:
    """Number of octets in a size such as 500MB or 2GiB."""
    try:
        return octets_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_record(kind: type[_Record], arguments: argparse.Namespace) -> _Record:
    """Make a record of options. A field keeps its default if the option was not given, or the command does not have it."""
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(kind)  # type: ignore[arg-type]
    given = {each.name: value for each in fields if (value := getattr(arguments, each.name, None)) is not None}
    return kind(**given)


def read_inputs(arguments: argparse.Namespace) -> list[Argument]:
    """Inputs that the arguments name; standard input if they name none.

    Raises FatalError for an empty name, for standard input named twice, and if there is no input and standard input is a
    terminal.
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
