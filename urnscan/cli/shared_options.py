"""Options that commands share, as data: names, and the arguments of `add_argument`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from urnscan.display.text import bytes_of
from urnscan.scanner.views.kinds import MEANINGS
from urnscan.tables.layout import DELIMITERS

# With less memory, grouping would only write more and smaller files: a thread needs some megabytes anyway.
_MIN_MEMORY = 10**6


@dataclass(frozen=True, slots=True)
class Listed:
    """Type of an option whose value is a list. A call splits a text at commas to a tuple: `percent, wraps` ->
    `("percent", "wraps")`. Any word is accepted.
    """

    words: tuple[str, ...] = ()
    """Words that completions of a shell suggest; empty if there is no fixed list."""

    def __call__(self, text: str) -> tuple[str, ...]:
        """The words of the text, without white space around them. Any word is accepted here."""
        return tuple(word.strip() for word in text.split(","))


def _size(text: str) -> int:
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def whole_number(least: int) -> Callable[[str], int]:
    """Return a function that reads an integer of at least `least`, for the type of an option; it raises
    ArgumentTypeError for any other text.
    """

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, not {text!r}")
        return number

    return read


def _memory(text: str) -> int:
    byte_count = _size(text)
    if byte_count < _MIN_MEMORY:
        raise argparse.ArgumentTypeError(f"must be at least 1MB, not {text!r}")
    return byte_count


OptionTable = Mapping[str, Mapping[str, Any]]
"""Options of a group: names of an option, in one text with spaces (`-n --nid`) -> named arguments of `add_argument`."""


def flag(text: str) -> Mapping[str, Any]:
    """Arguments of `add_argument` for an option without a value: True if given, else False. `text` is the help."""
    return {"action": "store_true", "help": text}


def option(shown: str, text: str, **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 (those of add_argument)
    """Arguments of `add_argument` for an option or an argument with a value, which the help calls `shown`. `text` is
    the help, `more` are further arguments of `add_argument`.
    """
    return {"metavar": shown, "help": text, **more}


def repeatable(shown: str, text: str, **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 (those of add_argument)
    """Arguments of `add_argument` for an option with a value that may be repeated: the parsed result is a list of the
    values, empty without the option. `shown` is the value in the help, and `text` the help, to which "(repeatable)" is
    added; `more` are further arguments of `add_argument`.
    """
    return option(shown, f"{text} (repeatable)", action="append", default=[], **more)


NIDS = "NID[,NID...]"
"""Metavar of an option whose value is a list of namespaces, or of prefixes of names."""


def listed(shown: str, text: str, words: tuple[str, ...] = (), **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 (those of add_argument)
    """Arguments of `add_argument` for an option whose value is a list with commas: the parsed result is the list of its
    words; a repeated option adds its words. Without the option: the `default` in `more`, else None.

    `shown` is the value in the help, `text` the help. Completions of a shell suggest `words`; other words are accepted,
    too. `more` are further arguments of `add_argument`.
    """
    return option(shown, text, type=Listed(words), action="extend", **more)


def names_of(text: str) -> Mapping[str, Any]:
    """Arguments of `add_argument` for an option that lists namespaces or prefixes of names (`isbn,nbn:de`) and may be
    repeated: the parsed result is one list of all words, empty without the option. `text` is the help.
    """
    return listed(NIDS, f"{text} (repeatable)", default=[])


def _lines(meanings: Mapping[str, str]) -> str:
    # argparse replaces fields such as %(default)s in a help.
    return "".join(f"\n{name}: {meaning}" for name, meaning in meanings.items()).replace("%", "%%")


THREADS = option("N", "number of threads (default: the cores)", dest="jobs", type=whole_number(1))
"""The option `-j`."""
MEMORY = option("SIZE", "memory for rows; what needs more goes to disk (default: 1GB)", type=_memory)
"""The option `--memory` of commands that read tables."""


_FILTERS = {
    "%": "the path; without it, the command reads standard input",
    "*": "instead of a suffix: every file",
    "application/pdf, image/*": "instead of a suffix: files of this media type, by their first bytes or their web archive",
    "@FILE": "a file with a filter on each line; so is the variable URNSCAN_FILTERS",
}
"""The parts of a value of `--filter`, and their meanings."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Defaults of a command for the options that decide which texts are URNs, and which URNs are the same."""

    syntax: str = "rfc2141"
    """Default of `--syntax`."""
    why: str = ""
    """A sentence for the help: the reason for another syntax than in a scan."""
    equivalence: str = "lexical"
    """Default of `--equivalence`."""
    resolver_tail: str = "keep"
    """Default of `--resolver-tail`."""


SCAN_MEANING = Meaning()
"""Defaults of `urnscan INPUT...`."""
DEDUP_MEANING = Meaning(
    "rfc8141", "; for records it is rfc8141, as urn:a:b#page=2 names the same work as urn:a:b", "namespace", "cut"
)
"""Defaults of `urnscan dedup`."""
CHECK_MEANING = Meaning(resolver_tail="cut")
"""Defaults of `urnscan check`."""

LAYOUT_OPTIONS: OptionTable = {
    "--delimiter": option(
        "CHARACTER",
        "the character between the values of a .csv: , or ; or | (without this option ,); Excel in Czech, German, French and most languages of the European continent needs ';'",
        choices=DELIMITERS,
    ),
    "--flat": flag(
        "write tables without nested columns: a list becomes one text with '; ' between its elements, and spellings "
        "becomes spellings_text and spellings_count"
    ),
}
"""Options for the form of tables: the fields of `tables.layout.Layout`."""

FINDING_OPTIONS: OptionTable = {
    "--recover": listed(
        "KIND[,KIND...]",
        "also find URNs that are written in another form; all takes about 2.4 times the CPU time of a plain run on text "
        f"with few names:{_lines(MEANINGS)}\nall: all of these",
        (*MEANINGS, "all"),
        default=(),
    ),
    "-n --nid": names_of(
        "find only names in these namespaces, or with these prefixes, as in isbn,nbn:de; a * at the end of a prefix "
        "represents any text"
    ),
    "--not-nid": names_of("find no names in these namespaces, or with these prefixes, even if --nid chooses them"),
    "--max-length": option(
        "N", "cut a longer match after N bytes (default: 65,536)", type=whole_number(1), default=65_536
    ),
}
"""Options that decide which URNs are found."""
READING_GROUPS: Mapping[str, OptionTable] = {
    "which files of a folder": {
        "--include": repeatable(
            "GLOB",
            "read only files that match; a GLOB with a / is compared with the path below the folder, any other with the "
            "name",
        ),
        "--exclude": repeatable("GLOB", "skip files and folders that match, in the same way"),
        "--follow": flag("follow symbolic links; loops are detected"),
    },
    "how files are read, and how much may come out of them": {
        "--column": repeatable(
            "NAME",
            "read only this column of tables (nested: a dotted path; SQLite: table.column), or this field of CSV, TSV and "
            "JSON, which without this option are scanned as text",
        ),
        "--where": option(
            "CONDITIONS",
            "read only records of web archives that meet all conditions: NAME=VALUE for captured, status and mime, with "
            "commas between values and spaces between conditions, as in 'status=200 mime=text/*'; * represents any "
            "text, ? any character",
            advice="write all conditions in one: 'status=200 mime=text/html'",
        ),
        "--filter": repeatable(
            "SUFFIX[,SUFFIX...]:COMMAND",
            f"read files with these suffixes by a command that prints their text, as in 'pdf:pdftotext %% -':{_lines(_FILTERS)}",
            dest="filters",
        ),
        "--filter-timeout": option(
            "SECONDS", "maximum time of a filter for one file (default: 600)", type=whole_number(1)
        ),
        "--encoding": option("NAME", "the encoding of inputs without a byte order mark (default: read as bytes)"),
        "--max-ratio": option(
            "N",
            "stop reading an input that unpacks to more than N times its size, and more than 256 MiB (default: 1000)",
            type=whole_number(1),
        ),
        "--max-size": option(
            "SIZE", "stop reading an input that unpacks to more than this (default: 10TB)", type=_size
        ),
        "--max-depth": option(
            "N",
            "maximum number of archives, tables and compressions inside each other (default: 8)",
            type=whole_number(1),
        ),
        "--max-members": option(
            "N", "maximum number of members in the archives of an input (default: 10,000,000)", type=whole_number(1)
        ),
    },
    "running": {
        "-j": THREADS,
        "--memory": option("SIZE", "memory for grouping; what needs more goes to disk (default: 1GB)", type=_memory),
        "--strict": flag("end the run at the first failure"),
        "-q --quiet": flag("no summary and no progress bar; failures and notes are still printed"),
        "--no-progress": flag("no progress bar"),
        "--timings": flag(
            "at the end, print a line for each stage of the run on standard error: CPU seconds of all its threads, "
            "seconds, and bytes or rows"
        ),
    },
}
"""Title of a group in the help -> options for reading inputs and for the run."""
ONLY_SCAN = ("--column", "--where", "--filter", "--filter-timeout", "--memory", "--timings")
"""Options of READING_GROUPS that `urnscan dedup` does not have."""
ONLY_DEDUP: OptionTable = {
    "-j": option(
        "N",
        "number of processes that read large dumps, except MARC; 1: only this process (default: the cores)",
        dest="jobs",
        type=whole_number(1),
    )
}
"""Options with another meaning in `urnscan dedup`."""
NOT_IN_CHECK = ("-e --equivalence", "-t --trim", "--memory", "--timings")
"""Options of a scan that `urnscan check` does not have."""
