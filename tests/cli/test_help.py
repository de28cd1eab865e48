"""What `--help` tells of each command, and what is said of words that no command knows."""

import shlex
import subprocess
import sys

import pytest

from urnscan.cli import COMMANDS
from urnscan.cli.arguments import SUMMARIES
from urnscan.dedup.policy import KEEP, Policy
from urnscan.display.sizes import octets_of
from urnscan.records.formats import FORMATS
from urnscan.run.options import Options

PARSERS = {name: command.parser() for name, command in COMMANDS.items()}
OPTIONS = [(name, action) for name, parser in PARSERS.items() for action in parser._actions]
every_command = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(autouse=True)
def _eighty_columns_without_colour(monkeypatch):
    """argparse of Python 3.14 paints what it tells, also where nobody looks if FORCE_COLOR is set."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


@every_command
class TestHelp:
    def test_fits_a_terminal(self, name):
        lines = PARSERS[name].format_help().splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith(f"usage: {name} ")

    def test_groups_come_as_they_are_looked_for(self, name):
        """Input and output first, help last; no group is called what argparse calls its own."""
        lines = PARSERS[name].format_help().splitlines()
        titles = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
        titles = [title for title in titles if title != "commands"]
        assert titles[0] == "input"
        assert titles[1].startswith("output")
        assert titles[-3:] == ["help", "examples", "exit status"]
        assert not {"options", "positional arguments"} & set(titles)

    def test_examples_are_commands(self, name):
        """Each is read by the parser that tells of it."""
        about = PARSERS[name].about
        assert 1 <= len(about.examples) <= 3
        for _, example in about.examples:
            words = shlex.split(example)
            count = len(name.split())
            assert words[:count] == name.split()
            assert vars(PARSERS[name].parse(words[count:]))

    def test_every_option_says_what_it_does(self, name):
        for action in PARSERS[name]._actions:
            assert action.help
            assert action.nargs == 0 or action.metavar  # else argparse makes one up
            assert all(word in action.help for word in action.choices or ()) or action.metavar == "FORMAT"

    def test_it_names_the_command(self, name):
        assert PARSERS[name].prog == PARSERS[name].about.name == name


def test_the_first_tells_of_the_others():
    told = PARSERS["urnscan"].format_help()
    assert set(SUMMARIES) == set(COMMANDS)
    for name in list(COMMANDS)[1:]:
        (line,) = (line for line in told.splitlines() if line.startswith(f"  {name} "))
        assert line.endswith(SUMMARIES[name])


@pytest.mark.parametrize(("name", "action"), OPTIONS, ids=lambda given: getattr(given, "dest", given))
def test_defaults_are_those_that_are_told(name, action):
    """Where the command leaves an option out, the records of options decide."""
    told = (action.help or "").rpartition("(default: ")[2].removesuffix(")") if "(default: " in action.help else None
    record = Policy() if name == "urnscan dedup" and hasattr(Policy(), action.dest) else Options()
    default = getattr(record, action.dest, action.default) if action.default is None else action.default
    if (
        told in ("the cores", "read as octets", "known by content", "every URN that stands in a record")
        or action.dest == "master"
    ):
        return  # not values but what is done
    if told is None:
        assert default in (None, False, (), [], "==SUPPRESS==")
    elif isinstance(default, int):
        assert octets_of(told.replace(",", "").removesuffix(" octets")) == default
    else:
        assert told == (default if isinstance(default, str) else ",".join(default))


@pytest.mark.parametrize("dest", ["syntax", "max_length"])
def test_defaults_of_the_command_are_those_of_its_options(dest):
    assert PARSERS["urnscan"].get_default(dest) == getattr(Options(), dest)


@pytest.mark.parametrize(("dest", "table"), [("record", FORMATS), ("keep", KEEP)])
def test_names_that_the_parser_knows_by_itself(dest, table):
    """Their tables are slow to load; a new format has to be named in both."""
    (action,) = (action for action in PARSERS["urnscan dedup"]._actions if action.dest == dest)
    assert sorted(action.choices) == sorted(table)


def test_help_loads_nothing_heavy():
    """For it is asked for often, by people and by shells."""
    code = """
import sys
from urnscan.cli import COMMANDS
for command in COMMANDS.values():
    command.parser().format_help()
print(*{"numba", "numpy", "pyarrow", "lxml", "pandas", "jinja2", "shtab", "tqdm"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


class TestWrongWords:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (
                ["dedup", "--recrd", "marc"],
                "unrecognized arguments: --recrd; is it --record? (urnscan dedup --help tells more)",
            ),
            (
                ["--syntx=rfc8141"],
                "unrecognized arguments: --syntx=rfc8141; is it --syntax? (urnscan --help tells more)",
            ),
            (["--nonsense"], "unrecognized arguments: --nonsense (urnscan --help tells more)"),
            (["--occ", "a"], "unrecognized arguments: --occ; is it --occurrences? (urnscan --help tells more)"),
            (
                ["report", "a", "b", "--forse", "-o", "c"],
                "unrecognized arguments: b --forse; is it --force? (urnscan report --help tells more)",
            ),
            (["report", "a", "-", "-o", "b"], "unrecognized arguments: - (urnscan report --help tells more)"),
            (
                ["report", "a", "-o", "b", "--", "--force"],
                "unrecognized arguments: --force (urnscan report --help tells more)",
            ),
            (
                ["--max-size", "9" * 30, "a"],
                f"argument --max-size: '{'9' * 30}' is no size; write it like 500MB or 2GiB (urnscan --help tells more)",
            ),
            (["report", "a", "quiet", "-o", "b"], "unrecognized arguments: quiet (urnscan report --help tells more)"),
            (["--quiet", "report"], "report: no such file or folder; as a command it comes first: urnscan report ..."),
        ],
        ids=lambda given: given[0] if isinstance(given, list) else "",
    )
    def test_the_nearest_is_told(self, urnscan, words, said):
        assert urnscan(*words, status=2).err == f"urnscan: {said}\n"

    def test_options_stand_anywhere(self, urnscan):
        """Also among the URNs to explain."""
        assert len(urnscan.printed("explain", "urn:a:b", "--json", "urn:c:d")) == 2

    @pytest.mark.parametrize(
        ("words", "inputs"),
        [
            (["--", "-x"], ["-x"]),
            (["--quiet", "--", "--json"], ["--json"]),
            (["a", "--quiet", "--", "-x", "--", "--json", "", "-"], ["a", "-x", "--", "--json", "", "-"]),
            (["a", "--quiet", "--"], ["a"]),
        ],
    )
    def test_no_options_behind_two_hyphens(self, words, inputs):
        """As argparse alone has it, --json there was an option, and -x was none that it knew."""
        arguments = PARSERS["urnscan"].parse(words)
        assert (arguments.inputs, arguments.json, arguments.quiet) == (inputs, False, "--quiet" in words)

    def test_the_argument_of_a_report_may_stand_behind_them(self):
        arguments = PARSERS["urnscan report"].parse(["-o", "b", "--", "-a"])
        assert (arguments.classes, arguments.output) == ("-a", "b")
