"""Write the reference and the man pages of the commands from their parsers: `.venv/bin/python docs/make_commands.py`.

The files are docs/reference/command.md, a page for each command in docs/reference/command/, and share/man; their templates are
in share/templates, with an example for each option (examples.toml). argparse-manpage knows only subcommands, but
`urnscan INPUT...` has no name of its own.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from urnscan import __version__
from urnscan.cli import COMMANDS
from urnscan.cli.arguments import SUMMARIES, About, Parser, short_help
from urnscan.cli.shared_options import Listed
from urnscan.tables.schemas import TABLES

__all__ = ["EXAMPLES", "Command", "Example", "Group", "Option", "commands", "pages"]

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "share" / "templates"
EXAMPLES: Mapping[str, Mapping[str, str]] = tomllib.loads((TEMPLATES / "examples.toml").read_text(encoding="utf-8"))
"""Examples by the names of commands and options."""

_DEFAULT = re.compile(r" \(default: (.+)\)$")
_REPEATABLE = " (repeatable)"
_ROFF = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


@dataclass(frozen=True, slots=True)
class Example:
    """Example of an option: a session that is run with the tests, or a line for files that are not there."""

    text: str

    @property
    def language(self) -> str:
        """Language of its block in Markdown."""
        return "console" if self.text.startswith("$ ") else "sh"


@dataclass(frozen=True, slots=True)
class Option:
    """Option of a command, or, without names, its positional argument."""

    names: tuple[str, ...]
    value: str | None
    """Name of the value in the help; None if there is no value."""
    meaning: str
    summary: str
    """The first clause of the meaning."""
    default: str | None
    is_repeatable: bool
    words: tuple[str, ...]
    """Values that the option knows; its value is one of them, or a list of them."""
    example: Example | None = field(default=None, compare=False)
    """None on a page that leads to the same option of another one."""

    @property
    def key(self) -> str:
        """Its last name, or the name of the argument."""
        return self.names[-1] if self.names else str(self.value)


@dataclass(frozen=True, slots=True)
class Group:
    """Group of options in the help."""

    title: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """Command, read from its parser."""

    about: About
    groups: tuple[Group, ...]
    shared: tuple[Option, ...] = ()
    """Options that mean the same as in a scan."""

    @property
    def name(self) -> str:
        """Full name, as `urnscan dedup`."""
        return self.about.name

    @property
    def word(self) -> str:
        """Last word of the name: `dedup`."""
        return self.name.split()[-1]

    @property
    def file(self) -> str:
        """The name of its page in the reference."""
        return "scan" if self.word == self.name else self.word

    @property
    def page(self) -> str:
        """The name of its man page."""
        return self.name.replace(" ", "-")

    @property
    def own_groups(self) -> tuple[Group, ...]:
        """Groups without the options that mean the same as in a scan."""
        groups = (
            Group(group.title, tuple(option for option in group.options if option not in self.shared))
            for group in self.groups
        )
        return tuple(group for group in groups if group.options)

    @property
    def summary(self) -> str:
        """Summary of the command, one line."""
        return SUMMARIES[self.name]

    @property
    def options(self) -> tuple[Option, ...]:
        """Options with a name."""
        return tuple(option for group in self.groups for option in group.options if option.names)


@dataclass(frozen=True, slots=True)
class Place:
    """An option in the page of a command."""

    command: Command
    target: Command
    """The command whose page describes the option."""
    ids: tuple[str, ...]
    """Its addresses in the page of all commands."""


@dataclass(frozen=True, slots=True)
class Row:
    """An option in the table of all options: its names, its summary, and the commands that have it."""

    names: tuple[str, ...]
    summary: str
    places: tuple[Place, ...]


def commands() -> tuple[Command, ...]:
    """All commands, scanning first."""
    scan, *others = (_command(command.parser()) for command in COMMANDS.values())
    known = [option for group in scan.groups for option in group.options]
    with_shared = [
        replace(
            command, shared=tuple(option for group in command.groups for option in group.options if option in known)
        )
        for command in others
    ]
    return tuple(_with_examples(command) for command in (scan, *with_shared))


def _with_examples(command: Command) -> Command:
    """The command, with an example for each option that is described on its page."""
    examples = EXAMPLES[command.name]
    described = {option.key for group in command.own_groups for option in group.options}
    if wrong := described ^ examples.keys():
        raise SystemExit(f"examples.toml: {command.name}: without an example, or no such option: {', '.join(wrong)}")
    groups = (
        replace(group, options=tuple(_with_example(option, examples) for option in group.options))
        for group in command.groups
    )
    return replace(command, groups=tuple(groups))


def _with_example(option: Option, examples: Mapping[str, str]) -> Option:
    return replace(option, example=Example(examples[option.key].strip())) if option.key in examples else option


def _rows(known: Sequence[Command]) -> list[Row]:
    """The options of all commands by their long names, in the order of the alphabet."""
    rows: dict[str, Row] = {}
    for command in known:
        for option in command.options:
            target = known[0] if option in command.shared else command
            ids = tuple(f"cmdoption-{command.page}-{name.lstrip('-')}" for name in option.names)
            row = rows.setdefault(option.key, Row(option.names, option.summary, ()))
            rows[option.key] = replace(row, places=(*row.places, Place(command, target, ids)))
    return sorted(rows.values(), key=lambda row: row.names[-1].strip("-").lower())


def _command(parser: Parser) -> Command:
    groups = []
    for group in parser._action_groups:  # noqa: SLF001 (as all that describe parsers do)
        options = tuple(_option(action) for action in group._group_actions if action.help != argparse.SUPPRESS)  # noqa: SLF001
        if options:
            groups.append(Group(str(group.title), options))
    return Command(parser.about, tuple(groups))


def _option(action: argparse.Action) -> Option:
    text = str(action.help).replace("%%", "%")  # as argparse shows it
    is_repeatable = text.endswith(_REPEATABLE)
    text = text.removesuffix(_REPEATABLE)
    default = _DEFAULT.search(text)
    value = None if action.nargs == 0 else str(action.metavar)
    return Option(
        names=tuple(action.option_strings),
        value=value,
        meaning=_DEFAULT.sub("", text),
        summary=short_help(action).replace("%%", "%").removesuffix(_REPEATABLE),
        default=default[1] if default else None,
        is_repeatable=is_repeatable,
        words=action.type.words if isinstance(action.type, Listed) else tuple(action.choices or ()),
    )


def pages() -> Iterator[tuple[Path, str]]:
    """Path and text of each file."""
    environment = Environment(  # noqa: S701 (none of it is HTML)
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"roff": roff, "sentence": sentence, "markdown": markdown}
    known = commands()
    values = {
        "version": __version__,
        "commands": known,
        "columns": {name: schema.names for name, schema in TABLES.items()},
        "rules_example": _passage("own-namespace.md", r"```toml\n(.*?)```"),
        "clusters_query": re.sub(
            r"(?m)^\.\.\. {5}", "", _passage("large-runs.md", r'sql\("""\n(\.\.\. +WITH .*?)\.\.\. """')
        ),
    }
    yield (
        ROOT / "docs" / "reference" / "command.md",
        environment.get_template("command.md.jinja").render(values, options=_rows(known)),
    )
    for command in known:
        for path, name in (
            (f"docs/reference/command/{command.file}.md", f"command/{command.file}.md.jinja"),
            (f"share/man/man1/{command.page}.1", f"{command.page}.1.jinja"),  # as below the prefix of an installation
        ):
            yield ROOT / path, environment.get_template(name).render(values, command=command)


def _passage(page: str, pattern: str) -> str:
    """The first text in a page that a pattern finds: readers of man pages may not have the pages."""
    found = re.search(pattern, (ROOT / "docs" / "howto" / page).read_text(encoding="utf-8"), re.DOTALL)
    return found[1].rstrip()


def roff(text: str) -> str:
    """Escape a text for a man page, so that every character is printed as it is, and each line on its own."""
    escaped = re.sub(r"^(?=[.])", r"\\&", "".join(_ROFF.get(character, character) for character in text))
    # A line that begins with a space is on its own without a request, and mandoc warns of one before it.
    return re.sub(r"\n(?! )", "\n.br\n", escaped)


def markdown(text: str, words: Iterable[str] = ()) -> str:
    """Mark options as code, and each of the words at its first place.

    >>> print(markdown("cut or keep what --trim cuts; - for standard input", ("cut", "keep")))
    `cut` or `keep` what `--trim` cuts; `-` for standard input
    """
    text = re.sub(r"(?<![\w-])(--?[a-z][\w-]*|-(?= ))", r"`\1`", text).replace("*", "\\*").replace("&", "\\&")
    for word in words:
        text = re.sub(rf"(?<![\w`-]){re.escape(word)}(?![\w`-])", f"`{word}`", text, count=1)
    head, *lines = text.split("\n")
    return "\n".join([head, "", *(f"* {line}" for line in lines)]) if lines else head


def sentence(text: str) -> str:
    """Begin the text with a capital, and end it with a full stop."""
    return text[:1].upper() + text[1:] + "."


if __name__ == "__main__":
    for path, text in pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
