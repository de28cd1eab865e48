"""The parser of a command, and the conversion of parsed arguments to records of options."""

from __future__ import annotations

import argparse
import copy
import dataclasses
import re
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from urnscan.cli import guesses
from urnscan.cli.lazy_imports import loading
from urnscan.cli.shared_options import (
    FINDING_OPTIONS,
    READING_GROUPS,
    SCAN_MEANING,
    Meaning,
    OptionTable,
    flag,
    option,
)
from urnscan.cli.terminal import say
from urnscan.errors import FatalError, unknown_value
from urnscan.urn.equivalence import LEVELS
from urnscan.urn.syntax import SYNTAXES
from urnscan.version import __version__

if TYPE_CHECKING:
    from urnscan.run.tasks import Argument


USAGE = 2
"""Exit status for wrong usage, and for a run that could do nothing."""
FAILED: Mapping[int, str] = {USAGE: "wrong usage, or nothing could be done", 130: "interrupted"}
"""Exit statuses of a command that did not complete -> the meaning."""

SUMMARIES: Mapping[str, str] = {
    "urnscan": "find URNs in text, group those that are the same, and write them to Parquet",
    "urnscan check": "name each wrong URN in a line, as linters do",
    "urnscan dedup": "remove the duplicates from bibliographic dumps",
    "urnscan explain": "show the parts of URNs, or why a text is not a URN",
    "urnscan report": "make an HTML page from the result of a scan",
    "urnscan merge": "make one table from the tables of several runs",
    "urnscan diff": "show which names differ between two scans",
}
"""Command -> a summary in a line."""

_WIDTH = 78
"""Width of the help before and after the options; the options are as wide as the terminal."""
# Prefix that marks the words after "--". No argument of a process contains NUL.
_AFTER_DASHES = "\0"
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class About:
    """Help of a command, except the help of the options."""

    name: str
    """Name of the command, a key of SUMMARIES."""
    usages: tuple[str, ...]
    """Lines that show how the command is called: `urnscan diff OLD NEW [options]`."""
    description: str
    """The first paragraph of the help: the task of the command."""
    examples: Mapping[str, str]
    """Purpose of an example -> the command line."""
    statuses: Mapping[int, str]
    """Exit status -> the meaning."""
    daily: tuple[str, ...] = ()
    """The options that `-h` shows, for a command whose help is longer than forty lines; `--help` shows all. Empty: `-h`
    shows all, too.
    """
    commands: tuple[str, ...] = ()
    """Commands that the help lists, keys of SUMMARIES."""
    notes: tuple[str, ...] = ()
    """Paragraphs at the end of the help."""


class _Once(argparse.Action):
    """Stores the value of an option. A second, different value is an error, whose message ends with `advice`."""

    def __init__(self, *names: Any, advice: str = "give one", **settings: Any) -> None:  # noqa: ANN401 (as in argparse)
        super().__init__(*names, **settings)
        self.advice = advice

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: object, _name: str | None = None
    ) -> None:
        """Store the value. An earlier, different value of the option raises ArgumentError. `namespace.given`, a dict of
        the options that were given, must exist.
        """
        if self.option_strings and namespace.given.setdefault(self.dest, value) != value:
            first = namespace.given[self.dest]
            raise argparse.ArgumentError(self, f"given twice, as {first} and as {value}; {self.advice}")
        setattr(namespace, self.dest, value)


class _Extended(argparse._ExtendAction):  # noqa: SLF001 (which completions know as an option that may be repeated)
    """Collects the values of a repeated option, instead of the default: `--nid a,b --nid c` gives a, b, c."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,  # noqa: ANN401 (as in argparse)
        name: str | None = None,
    ) -> None:
        if namespace.given.setdefault(self.dest, values) is values:
            setattr(namespace, self.dest, None)
        super().__call__(parser, namespace, values, name)


class _ShortHelp(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if isinstance(parser, Parser):
            print(parser.format_short_help(), end="")
        parser.exit()


class _Lines(argparse.RawDescriptionHelpFormatter):
    """Formatter that keeps the line ends in the help of an option."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return [line for part in text.split("\n") for line in super(_Lines, self)._split_lines(part, width)]


class _ShortLines(_Lines):
    """Formatter of the short help, with each value once: `-e, --equivalence LEVEL`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        value = "" if action.nargs == 0 else f" {action.metavar}"
        return ", ".join(action.option_strings) + value


def short_help(action: argparse.Action) -> str:
    """The first clause of the help of an option, or of another argument: up to a colon or a semicolon before white
    space, or a parenthesis after a space; without these, the whole help.

    "number of threads (default: the cores)" -> "number of threads"; "names as in nbn:de; in any case" -> "names as in
    nbn:de".
    """
    return re.split(r"[:;](?=\s)| \(", str(action.help))[0].strip()


class Parser(argparse.ArgumentParser):
    """Parser of a command, whose help has examples and exit statuses. The methods `add_…` add the options. Wrong usage
    prints a message, with control characters escaped, and exits with status 2.
    """

    def __init__(self, about: About) -> None:
        self.about = about
        """The texts of the help, except those of the options."""
        description = [textwrap.fill(about.description, _WIDTH, break_on_hyphens=False)]
        if about.commands:
            rows = [(name, SUMMARIES[name]) for name in about.commands]
            rows.append(("urnscan COMMAND --help", "show the help of one"))
            description.append("commands:\n" + _table(rows))
        examples = "".join(f"\n  {done}:\n    {command}" for done, command in about.examples.items())
        statuses = _table([(str(status), meaning) for status, meaning in about.statuses.items()])
        epilog = [f"examples:{examples}", f"exit status:\n{statuses}"]
        super().__init__(
            prog=about.name,
            usage="\n       ".join(about.usages),
            description="\n\n".join(description),
            epilog="\n\n".join(epilog + [textwrap.fill(note, _WIDTH) for note in about.notes]),
            formatter_class=_Lines,
            allow_abbrev=False,
            add_help=False,  # add_exits adds it as the last group
        )
        self.register("type", None, self._read_word)  # for all arguments without a type
        self.register("action", None, _Once)
        self.register("action", "extend", _Extended)

    def format_short_help(self) -> str:
        """The help that `-h` prints: usage, up to two examples, the options that most people need (`about.daily`), and
        the commands.
        """
        formatter = _ShortLines(self.prog)
        formatter.add_usage(self.usage, [], [])
        examples = list(self.about.examples.items())[:2]
        formatter.add_text("examples:" + "".join(f"\n  {done}:\n    {command}" for done, command in examples))
        formatter.start_section("most needed")
        for name in self.about.daily:
            action = copy.copy(self._option_string_actions[name])
            action.help = short_help(action)
            if action.choices and not all(choice in action.help for choice in action.choices):
                action.help += f": {', '.join(action.choices)}"
            formatter.add_argument(action)
        formatter.end_section()
        if self.about.commands:
            formatter.add_text("commands:\n" + _table([(name, SUMMARIES[name]) for name in self.about.commands]))
        formatter.add_text(f"{self.prog} --help shows all options, and what each of them does")
        return formatter.format_help()

    def add_group(self, title: str, options: OptionTable) -> None:
        """Add a group of options, or of arguments, to the parser and, under a title, to the help. `options` maps the
        names, such as `-s --syntax` (or `inputs`, for an argument that is not an option), to the named arguments of
        `add_argument`.
        """
        group = self.add_argument_group(title)
        for names, settings in options.items():
            group.add_argument(*names.split(), **settings)

    def add_inputs(self, name: str, more: OptionTable | None = None) -> None:
        """Add the arguments `inputs` and `--files-from`, and the options `more`, as a group. `name` is the word for an
        input in the help: INPUT or DUMP. `more` maps the names of an option, in one text with spaces (`-f --filter`),
        to the named arguments of `add_argument`.
        """
        inputs = option(
            name,
            "what to read: a file, a folder (all files below it, sorted, also hidden and ignored ones; links are not followed), a glob, a "
            "URL, or - for standard input; without one, standard input is read, unless it is a terminal",
            nargs="*",
        )
        files_from = option(
            "FILE",
            "also read the inputs that this file lists (- for standard input): paths and URLs, not globs, one on each "
            "line, or each ended by NUL as find -print0 writes them",
            advice="join the lists: cat A B | urnscan --files-from -",
        )
        self.add_group("input", {"inputs": inputs, "--files-from": files_from, **(more or {})})

    def add_meaning(
        self, default: Meaning = SCAN_MEANING, more: OptionTable | None = None, left_out: Collection[str] = ()
    ) -> None:
        """Add the options that decide which texts are URNs, and which URNs are the same: `--syntax` and
        `--equivalence`, with the defaults in `default`, `--rules` and `more`: all forms of an option in one text (`-s
        --syntax`) -> named arguments of `add_argument`. Options in `left_out`, with all forms too, are not added.
        """
        standard = (
            "the standard: rfc2141 (of 1997) is for catalogues, exports and prose; rfc8141 (of 2017, here its draft "
            "-20) is for texts whose URNs have components (?+ ?= #), and for software of today; rfc2141bis-03 (a draft "
            "of 2012) is for URNs with directives such as ?s=I2L"
            f"{default.why} (default: {default.syntax})"
        )
        which = (
            "which URNs are the same: lexical, by the rule for all URNs; resolution, also by the query (rfc2141bis-03 "
            f"only); namespace, also by the rules that namespaces have registered (default: {default.equivalence})"
        )
        options = {
            "-s --syntax": option("NAME", standard, choices=list(SYNTAXES), default=default.syntax),
            "-e --equivalence": option("LEVEL", which, choices=list(LEVELS), default=default.equivalence),
        }
        options["--rules"] = option(
            "FILE.toml",
            "custom rules of namespaces, instead of the registered ones; man urnscan has an example",
        )
        options = {name: settings for name, settings in {**options, **(more or {})}.items() if name not in left_out}
        self.add_group("what counts as a URN, and which URNs are the same", options)

    def add_run(
        self,
        default: Meaning = SCAN_MEANING,
        left_out: Collection[str] = (),
        others: OptionTable = MappingProxyType({}),
    ) -> None:
        """Add the options of commands that find URNs in inputs: `--syntax`, `--equivalence`, `--rules`, `--trim`,
        `--resolver-tail`, and the tables FINDING_OPTIONS (such as `--nid`) and READING_GROUPS (such as `--include`,
        `-j`). `default` has the defaults of `--syntax`, `--equivalence` and `--resolver-tail`.

        Options in `left_out` are not added, and options in `others` replace those of the same name in READING_GROUPS. A
        name has all forms of an option, as in `-t --trim`.
        """
        tail = (
            "keep or cut the part of a URL that follows its URN: the query, the next parameter or the "
            f"fragment (default: {default.resolver_tail})"
        )
        ends = {
            "-t --trim": flag("cut closing punctuation and unmatched brackets off the ends"),
            "--resolver-tail": option("WHAT", tail, choices=["keep", "cut"], default=default.resolver_tail),
        }
        self.add_meaning(default, {**ends, **FINDING_OPTIONS}, left_out)
        for title, options in READING_GROUPS.items():
            self.add_group(
                title, {name: others.get(name, settings) for name, settings in options.items() if name not in left_out}
            )

    def add_exits(self, more: OptionTable | None = None) -> None:
        """Add the group "help" with the options that show a text and exit: `-h`, `--help`, `--version` and `more` (all
        forms of an option in one text, separated by spaces -> named arguments of `add_argument`). `-h` shows the short
        help if `about.daily` names options, else the same as `--help`.
        """
        whole = {"action": "help", "help": "show this help and exit"}
        short = {"action": _ShortHelp, "nargs": 0, "help": "show the options that are most needed, and exit"}
        options: dict[str, Mapping[str, Any]] = {
            **({"-h": short, "--help": whole} if self.about.daily else {"-h --help": whole}),
            "-V --version": {
                "action": "version",
                "version": f"urnscan {__version__}",
                "help": "show the version and exit",
            },
        }
        self.add_group("help", {**options, **(more or {})})

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the words of a command line, without the name of the command, and return the arguments; also `given`,
        the values of the options that were given.

        Options may be anywhere before `--`; no word after `--` is an option. Wrong usage prints an error and raises
        SystemExit with status 2; `-h`, `--help` and `--version` print a text and raise SystemExit with status 0.
        """
        # With intermixed arguments argparse drops the "--" first, and then treats words after it as options.
        end = words.index("--") if "--" in words else len(words)
        marked = [*words[:end], *(_AFTER_DASHES + word for word in words[end + 1 :])]
        arguments, unknown = self.parse_known_intermixed_args(marked, argparse.Namespace(given={}))
        if unknown:
            wrong = next((word.partition("=")[0] for word in unknown if word.startswith("-") and word != "-"), None)
            if wrong is not None:
                self.error(f"unknown option {wrong}{guesses.for_option(wrong, self._option_string_actions)}")
            self.error(f"unknown argument {unknown[0].removeprefix(_AFTER_DASHES)}")
        return arguments

    def _read_word(self, word: str) -> str:
        """The word as a value, without the mark (NUL) that `parse` puts before words after `--`. Raises
        ArgumentTypeError for a word without the mark that begins with `-` and a digit: argparse takes it for a number.
        """
        if re.match(r"-\d", word):
            guess = guesses.for_option(word, self._option_string_actions)
            raise argparse.ArgumentTypeError(f"unknown option {word}{guess}; for a file of this name write ./{word}")
        return word.removeprefix(_AFTER_DASHES)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 (as in argparse)
        choices = list(action.choices or ())
        if choices and value not in choices:
            raise argparse.ArgumentError(action, unknown_value(value, choices))

    def error(self, message: str) -> NoReturn:
        """Print the message on standard error, with a hint to --help, and exit with status 2."""
        say(f"{message.removeprefix('argument ')} (see {self.prog} --help)")
        sys.exit(USAGE)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        textwrap.fill(text, _WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=" " * (width + 4))
        for name, text in rows
    )


def read_record(kind: type[_Record], arguments: argparse.Namespace) -> _Record:
    """Make a record of the dataclass `kind`, such as `Options`, from parsed arguments with the names of its fields. A
    field without an argument, or whose argument is None, has its default.

    Raises the errors of the dataclass, such as ArgumentError for an invalid value, FatalError for a file that cannot be
    read.
    """
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(kind)  # type: ignore[arg-type]
    values = {field.name: value for field in fields if (value := getattr(arguments, field.name, None)) is not None}
    return kind(**values)


def read_inputs(arguments: argparse.Namespace) -> list[Argument]:
    """The inputs that the arguments name: paths, globs and URLs, `-` for standard input, and last the list of
    `--files-from`, which is not read yet. `["-"]` if none is named. Raises FatalError if none is named and standard
    input is a terminal or closed, if a name is empty, and if standard input is both an input and the list.
    """
    with loading():
        from urnscan.inputs.lists import PathList

    inputs: list[Argument] = [*arguments.inputs]
    if "" in inputs:
        raise FatalError("an input has an empty name")
    if arguments.files_from is not None:
        if not arguments.files_from:
            raise FatalError("the list of inputs has an empty name")
        if arguments.files_from == "-" in inputs:
            raise FatalError("standard input cannot be an input and the list of inputs; leave out - or --files-from -")
        inputs.append(PathList(arguments.files_from))
    if inputs:
        return inputs
    if sys.stdin is None or sys.stdin.isatty():
        raise FatalError("nothing to read; name files or folders, or - for standard input (see urnscan --help)")
    return ["-"]
