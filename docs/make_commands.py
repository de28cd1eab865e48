"""Write the reference and the man pages of the commands from their parsers: `.venv/bin/python docs/make_commands.py`.

The files are docs/reference/command.md and share/man; their templates stand in share/templates. argparse-manpage knows only
subcommands, but `urnscan INPUT...` has no name of its own.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from urnscan import __version__
from urnscan.cli import COMMANDS
from urnscan.cli.arguments import SUMMARIES, About, Parser
from urnscan.cli.shared_options import Listed
from urnscan.tables.schemas import TABLES

__all__ = ["Command", "Group", "Option", "commands", "pages"]

ROOT = Path(__file__).parents[1]
TEMPLATES = {
    "docs/reference/command.md": "command.md",
    **{f"share/man/man1/{name}.1": f"{name}.1" for name in (command.replace(" ", "-") for command in COMMANDS)},
}
"""Path of each written file, and its template. share/ is laid out as below the prefix of an installation."""

_DEFAULT = re.compile(r" \(default: (.+)\)$")
_REPEATABLE = " (repeatable)"
_ROFF = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


@dataclass(frozen=True, slots=True)
class Option:
    """Option of a command, or, without names, its positional argument."""

    names: tuple[str, ...]
    value: str | None
    """Name of the value in the help; None if there is no value."""
    meaning: str
    default: str | None
    is_repeatable: bool
    words: tuple[str, ...]
    """Values that the option knows; its value is one of them, or a list of them."""


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

    @property
    def name(self) -> str:
        """Full name, as `urnscan dedup`."""
        return self.about.name

    @property
    def word(self) -> str:
        """Last word of the name: `dedup`."""
        return self.name.split()[-1]

    @property
    def page(self) -> str:
        """The name of its man page."""
        return self.name.replace(" ", "-")

    @property
    def summary(self) -> str:
        """Summary of the command, one line."""
        return SUMMARIES[self.name]

    @property
    def options(self) -> tuple[Option, ...]:
        """Options with a name."""
        return tuple(option for group in self.groups for option in group.options if option.names)


def commands() -> tuple[Command, ...]:
    """All commands, scanning first."""
    return tuple(_command(command.parser()) for command in COMMANDS.values())


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
        default=default[1] if default else None,
        is_repeatable=is_repeatable,
        words=action.type.words if isinstance(action.type, Listed) else tuple(action.choices or ()),
    )


def pages() -> Iterator[tuple[Path, str]]:
    """Path and text of each file."""
    environment = Environment(  # noqa: S701 (none of it is HTML)
        loader=FileSystemLoader(ROOT / "share" / "templates"),
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
        "clusters_query": re.sub(r"(?m)^\.\.\. {5}", "", _passage("large-runs.md", r'sql\("""\n(.*?)\.\.\. """')),
    }
    for path, name in TEMPLATES.items():
        of_command = [command for command in known if f"{command.page}.1" == name]
        template = environment.get_template(f"{name}.jinja")
        yield ROOT / path, template.render(values, command=of_command[0] if of_command else None)


def _passage(page: str, pattern: str) -> str:
    """The first text in a page that a pattern finds: readers of man pages may not have the pages."""
    found = re.search(pattern, (ROOT / "docs" / "howto" / page).read_text(encoding="utf-8"), re.DOTALL)
    return found[1].rstrip()


def roff(text: str) -> str:
    """Escape a text for a man page, so that every character is printed as it is, and each line on its own."""
    escaped = re.sub(r"^(?=[.])", r"\\&", "".join(_ROFF.get(character, character) for character in text))
    return escaped.replace("\n", "\n.br\n")


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
