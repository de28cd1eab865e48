"""Options of a scan that exclude each other, as a table, with advice for each pair."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from urnscan.errors import FatalError

if TYPE_CHECKING:
    from urnscan.run.tasks import Argument

STANDARD_OUTPUT = "-"
"""Name of standard output among the outputs."""
TABLES = {"classes": "-o", "partial": "--partial", "occurrences": "--occurrences", "rejects": "--rejects"}
"""Argument -> the option that names an output."""

_FORMS = {"count": "--count", "list_sources": "--list-sources", "unique": "--unique"}
"""Argument -> an option that prints something other than all occurrences."""
_AROUND = "-C"
_OTHERS = {
    name: f"--{name}" for name in "json canonical by resume master errors memory timings delimiter flat".split()
} | {
    "jobs": "-j",
    "context": _AROUND,
}
_FILES = list(TABLES.values())
_STREAMS = [f"{name} {STANDARD_OUTPUT}" for name in _FILES]
_SPARK, _CLOSED, _TERMINAL, _ONCE = "--engine spark", "closed standard output", "a terminal", "standard input"


class Rule(NamedTuple):
    """A rule about facts. A fact is an option that is used (`--json`, `-o -`), or a state: "a terminal" says that
    standard output is one. The command line is wrong if a fact of `these` is true, also a fact of `those` (None: this
    is not needed), and no fact of `unless`.
    """

    these: Sequence[str]
    """Facts, one of which must be true."""
    those: Sequence[str] | None
    """Facts, one of which must be true, too; None: a fact of `these` is enough."""
    message: str
    """The reason and advice; `{0}` is the fact of `these`, `{1}` the fact of `those`."""
    unless: Sequence[str] = ()
    """Facts that allow the others: if one of them is true, the rule does not apply."""


def _each_two(facts: Sequence[str], message: str) -> list[Rule]:
    """Rules against any two of the facts together."""
    return [Rule([fact], facts[number + 1 :], message) for number, fact in enumerate(facts)]


_NAME_ONE = "name an output with -o, --occurrences or --rejects"
_RULES = (
    Rule(["--partial -"], None, "{0}: a partial result is a file for urnscan merge; name a file"),
    Rule(["--master", "--errors"], None, "{0} is for Spark; add --engine spark, or leave it out", [_SPARK]),
    Rule(
        ["--json", "--canonical", "--by", _AROUND, *_FORMS.values()],
        [_SPARK],
        "{0} is for printing, which --engine spark does not do; leave it out",
    ),
    Rule(["--resume"], [_SPARK], "{0} is for one machine; leave it out, as Spark repeats only what an executor lost"),
    Rule(
        ["-j"],
        [_SPARK],
        "{0} is for one machine; set the executors of Spark by its master, as in --master 'local[4]'",
    ),
    Rule(
        ["--memory"],
        [_SPARK],
        "{0} is for one machine; set the memory of executors, spark.executor.memory",
    ),
    Rule(
        ["--delimiter", "--flat"],
        [_SPARK],
        "{0} is for one machine; leave it out, as {1} writes Parquet with all columns",
    ),
    Rule(
        ["--flat"],
        ["--json"],
        "{0} is for tables, and {1} prints lines; leave out {0}, or write -o names.jsonl",
    ),
    Rule(["--timings"], [_SPARK], "{0} is for one machine; see the pages of Spark for what its stages take"),
    Rule(
        ["--partial"],
        [_SPARK],
        "{0} is for one machine; leave it out, as Spark merges the results of its executors itself",
    ),
    Rule(_STREAMS, [_SPARK], "{0}: the outputs of {1} are folders; name one"),
    Rule([_SPARK], None, f"{{0}} prints no occurrences; {_NAME_ONE}", _FILES),
    *_each_two(list(_FORMS.values()), "{0} and {1} exclude each other; choose one"),
    Rule(["--unique"], ["--json"], "{0} prints lines; for the classes as JSON write -o - --json instead"),
    Rule(["--count", "--list-sources"], ["--json"], "{0} prints lines; leave out {0} or {1}"),
    Rule([*_FORMS.values()], [*_FILES, *_STREAMS], "{0} is for printing; leave out {0} or {1}"),
    Rule(
        ["--by"],
        ["--count", "--list-sources", "--json", "--canonical", _AROUND, *_FILES, *_STREAMS],
        "{0} prints a table; leave out {0} or {1}",
    ),
    Rule(["--canonical"], ["--unique"], "{1} always prints canonical forms; leave out {0}"),
    Rule(
        [_AROUND, "--canonical"],
        [*_FORMS.values(), *_FILES, *_STREAMS],
        "{0} is for printing occurrences; leave out {0} or {1}",
    ),
    Rule(["--canonical"], ["--json"], '{1} has the canonical form as "urn"; leave out {0}'),
    Rule([_AROUND], [_ONCE], "{0} reads the inputs twice, but {1} can be read only once; save it to a file"),
    Rule(["--json"], _FILES, "{0} is for printing; leave out {0} or {1}, or write -o - to print the classes", _STREAMS),
    *_each_two(_STREAMS, "{0} and {1} are two outputs in one stream; name a file for one"),
    Rule(
        _STREAMS,
        [_TERMINAL],
        "{0} would print Parquet to a terminal; add --json, or redirect it with | or >",
        ["--json"],
    ),
    Rule(["--resume"], _STREAMS, "{0} needs files as outputs; name a file in {1}"),
    Rule(["--resume"], None, "{0} needs an output; name it with -o, --occurrences, --rejects or --partial", _FILES),
    Rule([_CLOSED], _STREAMS, "standard output is closed; name a file in {1}"),
    Rule([_CLOSED], None, f"standard output is closed; {_NAME_ONE}", _FILES),
)


def check_rules(arguments: Namespace, inputs: Sequence[Argument]) -> None:
    """Raise FatalError if options of a scan exclude each other, if an option lacks another that it needs, or if an
    option does not fit the inputs or standard output. Of several faults, the first in the order of the rules is raised.
    """
    facts = list(_facts(arguments, inputs))
    for rule in _RULES:
        first = next((fact for fact in rule.these if fact in facts), None)
        second = next((fact for fact in rule.those if fact in facts), None) if rule.those is not None else ""
        if first is not None and second is not None and not any(fact in facts for fact in rule.unless):
            raise FatalError(rule.message.format(first, second))


def _facts(arguments: Namespace, inputs: Sequence[Argument]) -> Iterator[str]:
    """Yield the facts that are true: options in use (`--json`, `-o -`), and states such as "a terminal"."""
    for argument, name in TABLES.items():
        if (path := getattr(arguments, argument)) is not None:
            yield f"{name} {path}" if path == STANDARD_OUTPUT else name
    for argument, name in (_FORMS | _OTHERS).items():
        if getattr(arguments, argument) not in (None, False):
            yield name
    if arguments.engine == "spark":
        yield _SPARK
    if any(argument == "-" if isinstance(argument, str) else not argument.is_file for argument in inputs):
        yield _ONCE
    if sys.stdout is None:
        yield _CLOSED
    elif sys.stdout.isatty():
        yield _TERMINAL
