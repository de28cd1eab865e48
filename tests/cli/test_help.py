"""What `--help` tells of each command, and what is said of words that no command knows."""

import ast
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from urnscan.cli import COMMANDS, guesses
from urnscan.cli.arguments import SUMMARIES
from urnscan.dedup.join.choose_kept import KEEP
from urnscan.dedup.policy import Policy
from urnscan.display.text import bytes_of
from urnscan.library.deduplication import deduplicate
from urnscan.run.options import Options
from urnscan.scanner.views.kinds import MEANINGS
from urnscan.urn.syntax import SYNTAXES

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

    def test_the_short_one_is_read_at_once(self, name, capsys):
        """`-h` has forty lines at most: two examples, and what most need. `--help` has all, and is told of."""
        with pytest.raises(SystemExit):
            PARSERS[name].parse(["-h"])
        text = capsys.readouterr().out
        assert len(text.splitlines()) <= 40
        assert max(map(len, text.splitlines())) <= 80
        about = PARSERS[name].about
        assert (text == PARSERS[name].format_help()) == (not about.daily)
        if about.daily:
            first, second, *_ = about.examples
            assert text.index("usage:") < text.index(first) < text.index(second) < text.index("most needed:")
            assert text.endswith(f"\n{name} --help shows all options, and what each of them does\n")
            assert all(re.search(rf"^  {option}[ ,]", text, re.MULTILINE) for option in about.daily)

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
        for example in about.examples.values():
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


@pytest.mark.full
@pytest.mark.parametrize(("name", "action"), OPTIONS, ids=lambda given: getattr(given, "dest", given))
def test_defaults_are_those_that_are_told(name, action):
    """Where the command leaves an option out, the records of options decide."""
    told = (action.help or "").rpartition("(default: ")[2].removesuffix(")") if "(default: " in action.help else None
    record = Policy() if name == "urnscan dedup" and hasattr(Policy(), action.dest) else Options()
    default = getattr(record, action.dest, action.default) if action.default is None else action.default
    if told in ("the cores", "read as bytes", "known by content") or action.dest == "master":
        return  # not values but what is done
    if told == "all":
        assert default == Policy(keys="all").keys
    elif told is None:
        assert default in (None, False, (), [], "==SUPPRESS==")
    elif isinstance(default, int):
        assert bytes_of(told.replace(",", "").removesuffix(" bytes")) == default
    else:
        assert told == (default if isinstance(default, str) else ",".join(default))


@pytest.mark.parametrize(("name", "action"), OPTIONS, ids=lambda given: getattr(given, "dest", given))
def test_no_value_is_replaced_silently(name, action, capsys):
    """An option that is given twice keeps both values, or is refused: a condition that has no effect gives a wrong
    result that nobody sees. Once, the last value replaced the others.
    """
    if action.nargs == 0 or not action.option_strings or len(action.choices or "ab") < 2:
        return  # a flag, an input, or an option with one possible value
    option = action.option_strings[-1]
    inputs = {"urnscan merge": ["a"], "urnscan diff": ["a", "b"], "urnscan report": ["a"]}.get(name, [])
    values = next(
        two
        for two in (
            list(action.choices or ())[-2:],
            [*getattr(action.type, "words", ())[:2]],
            ["a", "b"],
            ["7MB", "8MB"],
            ["7", "8"],
        )
        if len(two) == 2 and is_read(PARSERS[name], [option, two[0], *inputs])
    )
    words = [option, values[0], option, values[1], *inputs]
    if is_read(PARSERS[name], words):
        assert set(values) <= {*map(str, getattr(PARSERS[name].parse(words), action.dest))}
    else:
        assert f"{option}: given twice, as " in capsys.readouterr().err.splitlines()[-1]
    assert is_read(PARSERS[name], [option, values[0], option, values[0], *inputs])


def is_read(parser, words):
    """Whether the parser accepts the words."""
    try:
        return parser.parse(words) is not None
    except SystemExit:
        return False


def test_a_list_replaces_the_default():
    """And further lists add up, also after a parse before."""
    parser = PARSERS["urnscan check"]
    for _ in range(2):
        assert parser.parse(["--fail-on", "reject", "a"]).fail_on == ["reject"]
        both = parser.parse(["--fail-on", "reject,invalid", "a", "--fail-on", "unregistered"]).fail_on
        assert both == ["reject", "invalid", "unregistered"]
        assert parser.parse(["a"]).fail_on == ("invalid",)


@pytest.mark.parametrize("dest", ["syntax", "max_length"])
def test_defaults_of_the_command_are_those_of_its_options(dest):
    assert PARSERS["urnscan"].get_default(dest) == getattr(Options(), dest)


def test_defaults_of_dedup_are_those_of_deduplicate():
    """The command and the function give the same clusters."""
    parameters = inspect.signature(deduplicate).parameters
    for dest in ("syntax", "equivalence", "resolver_tail", "trim"):
        assert PARSERS["urnscan dedup"].get_default(dest) == parameters[dest].default


@pytest.mark.parametrize("name", ["urnscan", "urnscan dedup", "urnscan explain"])
def test_each_standard_has_its_year_and_its_use(name):
    """Whoever chooses one reads what it is for."""
    (action,) = (action for action in PARSERS[name]._actions if action.dest == "syntax")
    clauses = action.help.split("; ")
    for syntax, year in (("rfc2141", "1997"), ("rfc8141", "2017"), ("rfc2141bis-03", "2012")):
        (clause,) = (clause for clause in clauses if re.search(rf"\b{syntax} \(", clause))
        assert year in clause
        assert year in SYNTAXES[syntax].title
        assert " is for " in clause


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_addresses_are_of_the_installed_package():
    """A reader without the source can open what help and messages name: a man page, never a page of docs/."""
    root = Path(__file__).parents[2]
    named = set()
    for path in sorted((root / "urnscan").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in prose:
                assert not re.search(r"\bdocs/\S+\.md", node.value), f"{path}: {node.value}"
                named.update(re.findall(r"\bman (urnscan\S*\b)", node.value))
    assert named
    assert named <= {path.stem for path in (root / "share" / "man" / "man1").iterdir()}


def test_each_view_says_what_it_finds():
    """--recover is chosen by its kinds: each has a line, in which its name and its example fit, and the cost is told."""
    lines = PARSERS["urnscan"].format_help().splitlines()
    assert all(f"{' ' * 24}{kind}: {meaning}" in lines for kind, meaning in MEANINGS.items())
    (action,) = (action for action in PARSERS["urnscan"]._actions if action.dest == "recover")
    assert "times the CPU time of a plain run" in action.help


def test_names_that_the_parser_knows_by_itself():
    """Their table is slow to load; a new rule has to be named in both."""
    (action,) = (action for action in PARSERS["urnscan dedup"]._actions if action.dest == "keep")
    assert sorted(action.type.words) == sorted(KEEP)


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
    @pytest.mark.full
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (
                ["dedup", "--recrd", "marc"],
                "unknown option --recrd; is it --record? (see urnscan dedup --help)",
            ),
            (
                ["--syntx=rfc8141"],
                "unknown option --syntx; is it --syntax? (see urnscan --help)",
            ),
            (["--nonsense"], "unknown option --nonsense (see urnscan --help)"),
            (["--occ", "a"], "unknown option --occ; is it --occurrences? (see urnscan --help)"),
            (
                ["report", "a", "b", "--forse", "-o", "c"],
                "unknown option --forse; is it --force? (see urnscan report --help)",
            ),
            (["report", "a", "-", "-o", "b"], "unknown argument - (see urnscan report --help)"),
            (
                ["report", "a", "-o", "b", "--", "--force"],
                "unknown argument --force (see urnscan report --help)",
            ),
            (
                ["--max-size", "9" * 30, "a"],
                f"--max-size: invalid size '{'9' * 30}'; write it like 500MB or 2GiB (see urnscan --help)",
            ),
            (
                ["--memory", "999kB", "a"],
                "--memory: must be at least 1MB, not '999kB' (see urnscan --help)",
            ),
            (["report", "a", "quiet", "-o", "b"], "unknown argument quiet (see urnscan report --help)"),
            (["--quiet", "report"], "report: no such file or folder; as a command it comes first: urnscan report ..."),
            (
                ["--format", "csv", "a"],
                (
                    "unknown option --format; the name of an output decides its format, as in -o urns.csv; "
                    "-o - --json prints the classes as JSON Lines (see urnscan --help)"
                ),
            ),
            (["-j", "0", "a"], "-j: must be an integer of at least 1, not '0' (see urnscan --help)"),
            (
                ["-C", "-5", "a"],
                "-C/--context: must be an integer of at least 0, not '-5' (see urnscan --help)",
            ),
            (
                ["dedup", "--max-class", "x", "a"],
                "--max-class: must be an integer of at least 2, not 'x' (see urnscan dedup --help)",
            ),
            (
                ["URN:foo:a"],
                "URN:foo:a: no such file or folder; to read about a URN, type: urnscan explain 'URN:foo:a'",
            ),
            (
                ["dedupe", "d", "--fields"],
                "dedupe: no such command, and no such file or folder; type: urnscan dedup DUMP...",
            ),
            (["dedpu", "d"], "dedpu: no such command, and no such file or folder; is it urnscan dedup?"),
            (
                ["ISBN", "d"],
                "ISBN: no such file or folder; every URN is found, without a pattern: --nid isbn chooses this namespace",
            ),
            (
                ["-0"],
                (
                    "INPUT: unknown option -0; --files-from FILE reads a list with a NUL after each name (- is "
                    "standard input); for a file of this name write ./-0 (see urnscan --help)"
                ),
            ),
            (
                ["-5", "d"],
                "INPUT: unknown option -5; for a file of this name write ./-5 (see urnscan --help)",
            ),
            (
                ["d", "--syntax", "8141"],
                (
                    "-s/--syntax: unknown value '8141'; choose from rfc2141, rfc8141, rfc2141bis-03; is it rfc8141? "
                    "(see urnscan --help)"
                ),
            ),
        ],
        ids=lambda given: given[0] if isinstance(given, list) else "",
    )
    def test_the_nearest_is_told(self, urnscan, words, said):
        assert urnscan(*words, status=2).err == f"urnscan: {said}\n"

    @pytest.mark.parametrize(
        ("word", "near"),
        [
            ("--colum", "--column"),
            ("--cuont", "--count"),
            ("--quite", "--quiet"),
            ("--trin", "--trim"),
            ("--print", "--print-completion"),
            ("--formt", None),
            ("--depth", None),
            ("--max", None),
            ("-x", None),
        ],
    )
    def test_only_what_is_really_near_is_suggested(self, word, near):
        """A guess that is far from the word misleads: `--format` is not `--force`, nor `--count` `--column`."""
        options = ["--count", "--column", "--quiet", "--trim", "--force", "--max-depth", "--max-size", "-o", "--output"]
        said = guesses.for_option(word, [*options, "--print-completion"])
        assert said == (f"; is it {near}?" if near else "")

    @pytest.mark.parametrize(
        "word", ["--ignore-case", "-r", "--line-number", "-H", "--threads", "--uniq", "--no-filename"]
    )
    def test_words_of_other_tools_have_an_answer(self, word):
        said = guesses.for_option(word, PARSERS["urnscan"]._option_string_actions)
        assert said.startswith("; ")
        assert "is it" not in said

    def test_answers_name_options_of_a_scan(self):
        """An answer names no option that a scan lacks, and no answer is for an option that it has."""
        options = PARSERS["urnscan"]._option_string_actions
        named = {
            name for said in guesses.OPTIONS.values() for name in re.findall(r"(?<!\S)-[\w-]+", said.partition("|")[0])
        }
        assert named <= set(options)
        assert not set(guesses.OPTIONS) & set(options)
        assert guesses.for_option("--threads", PARSERS["urnscan report"]._option_string_actions) == ""

    def test_a_file_with_the_name_of_a_guess_is_read(self, urnscan):
        urnscan.write("scan", b"urn:foo:a")
        assert urnscan.printed("scan", "--quiet") == ["scan:1:urn:foo:a"]
        assert "type: urnscan INPUT..." in urnscan("find", "scan", status=2).err

    @pytest.mark.full
    def test_a_pattern_that_is_only_an_ending(self, urnscan):
        urnscan.write("d/a.xml", b"urn:foo:a")
        *_, said = urnscan("d", "--include", "xml").err.splitlines()
        assert said == "urnscan: --include xml: no file has exactly this name; '*.xml' is for all names that end so"
        assert len(urnscan("d", "--include", "*.md").err.splitlines()) == 2
        assert len(urnscan("d", "--include", "a.xml").err.splitlines()) == 1

    def test_short_names(self):
        """Letters that other tools use for the same."""
        for name, parser in PARSERS.items():
            assert ("-V" in parser._option_string_actions) == ("--version" in parser._option_string_actions)
            assert ("-q" in parser._option_string_actions) == ("--quiet" in parser._option_string_actions)
            assert ("-o" in parser._option_string_actions) == ("--output" in parser._option_string_actions), name

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
