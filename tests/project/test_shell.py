"""Completions of the shells, man pages and the reference of the command, all written from the parsers.

Completions are tested in the shells themselves: keys are typed on a terminal, and the shell says which arguments the
command would get. A test is skipped where its shell or program is not installed.
"""

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests.support.scripts import script
from urnscan.cli import COMMANDS
from urnscan.urn.syntax import SYNTAXES

ROOT = Path(__file__).parents[2]
SHELLS = ("bash", "zsh", "fish")
SHARE = ROOT / "share"
SCRIPT = f'"{sys.executable}" -m urnscan --print-completion'
FISH = ["fish", "--no-config", "-c"]
MAN = sorted((SHARE / "man/man1").iterdir())
PATIENCE = 20  # seconds
FILES = ["dump.xml", "my file.txt", "a:b.txt", "urns.parquet", "it's.parquet", "own copy.parquet", "rules.toml"]
FOLDERS = ["folder"]


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {program}")


generator = script("docs/make_commands.py")


def words_of(text, command):
    """The arguments of each call of a command in lines of a shell, without pipes, redirections and what is printed."""
    lines = re.findall(r"^\$ (.*)", text, re.MULTILINE) or [text]
    calls = []
    for line in lines:
        lexer = shlex.shlex(line, posix=False, punctuation_chars="|<>;&")  # which leaves quotation marks around ';'
        lexer.whitespace_split = True
        words = list(lexer)
        while words:
            end = next((at for at, word in enumerate(words) if set(word) <= set("|;&")), len(words))
            call, words = words[:end], words[end + 1 :]
            redirected = {at + more for at, word in enumerate(call) if set(word) & set("<>") for more in (0, 1)}
            call = [word for at, word in enumerate(call) if at not in redirected]
            if " ".join(call[: len(command.name.split())]) == command.name:
                calls.append([shlex.split(word)[0] for word in call[len(command.name.split()) :]])
    return calls


def status_of_parser(command, words):
    """The exit status with which the parser ends, for help or an error; 0 where it reads the words."""
    try:
        COMMANDS[command.name].parser().parse(words)
    except SystemExit as end:
        return end.code
    return 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    for name in FILES:
        (folder / name).touch()
    for name in FOLDERS:
        (folder / name).mkdir()
    return folder


def printed(shell):
    return subprocess.run(shlex.split(f"{SCRIPT} {shell}"), capture_output=True, text=True, check=True).stdout


def before(typed):
    """The arguments before the one that is to be completed."""
    words = shlex.split(typed)[1:]
    return words if typed.endswith(" ") else words[:-1]


class Terminal:
    """A shell on a terminal in which somebody types; `urnscan` is there a function that tells its arguments."""

    def __init__(self, words, folder, environment):
        self._file, other = pty.openpty()
        opened = f"exec {shlex.join(words)} <{os.ttyname(other)} >{os.ttyname(other)} 2>&1"  # its own from now on
        self._shell = subprocess.Popen(["sh", "-c", opened], cwd=folder, env=environment, start_new_session=True)
        try:
            self._read(b"READY")
        finally:
            os.close(other)

    def type(self, keys):
        """The arguments that the command got when these keys had been typed."""
        os.write(self._file, keys + b"\r")
        told = self._read(b"END")
        return [word.decode() for word in re.findall(rb"<([^<>]*)>", told[told.rindex(b"BEGIN") :])]

    def _read(self, mark):
        """What it writes up to this mark; the next line may then be typed."""
        told = b""
        until = time.monotonic() + PATIENCE
        while not re.search(mark + rb"\s*PROMPT$", told):
            assert select.select([self._file], [], [], max(0.0, until - time.monotonic()))[0], told
            told += os.read(self._file, 4096)
            told = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]", b"", told)
        return told

    def close(self):
        self._shell.kill()
        self._shell.wait()
        os.close(self._file)


ASIDE = {"PATH": os.defpath, "LANG": "C.UTF-8", "TERM": "dumb", "COLUMNS": "500"}
TELL = "urnscan() { printf BEGIN; printf '<%s>' \"$@\"; printf 'END\\n'; }"


@pytest.fixture(scope="module")
def bash(folder, tmp_path_factory):
    version = subprocess.run(["bash", "-c", "echo $BASH_VERSINFO"], capture_output=True, text=True, check=True)
    if int(version.stdout) < 4:
        pytest.skip("before 4 bash completes names of files where no word is known")
    home = tmp_path_factory.mktemp("bash")
    (home / "rc").write_text(f"""
        bind 'set enable-bracketed-paste off'
        bind 'set bell-style none'
        bind '"\\C-xa": insert-completions'
        bind '"\\C-i": complete'
        eval "$({SCRIPT} bash)"
        {TELL}
        PS1=PROMPT
        echo READY
    """)
    terminal = Terminal(
        ["bash", "--noprofile", "--rcfile", str(home / "rc"), "-i"], folder, {**ASIDE, "HOME": str(home)}
    )
    yield lambda typed, every: terminal.type(typed.encode() + (b"\x18a" if every else b"\t"))
    terminal.close()


@pytest.fixture(scope="module")
def zsh(folder, tmp_path_factory):
    home = tmp_path_factory.mktemp("zsh")
    (home / ".zshrc").write_text(f"""
        autoload -Uz compinit
        compinit -u -d {shlex.quote(str(home / "dump"))}
        eval "$({SCRIPT} zsh)"
        unset zle_bracketed_paste
        unsetopt beep prompt_cr prompt_sp
        every() {{ _main_complete; compstate[insert]=all; compstate[list]= }}
        zle -C every complete-word every
        bindkey '^Xa' every
        {TELL}
        PS1=PROMPT
        echo READY
    """)
    terminal = Terminal(["zsh", "-i"], folder, {**ASIDE, "HOME": str(home), "ZDOTDIR": str(home)})
    yield lambda typed, every: terminal.type(typed.encode() + (b"\x18a" if every else b"\t"))
    terminal.close()


@pytest.fixture(scope="module")
def fish(folder, tmp_path_factory):
    """fish tells what it knows, in its own list; what it would insert of that it would quote. All asked at once."""
    asked = [typed for typed, _ in CASES]
    done = subprocess.run(
        [*FISH, f"{SCRIPT} fish | source; for line in $argv; complete -C $line; echo; end", *asked],
        cwd=folder,
        env={**ASIDE, "HOME": str(tmp_path_factory.mktemp("fish"))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    offered = dict(zip(asked, re.split(r"(?:^|(?<=\n))\n", done.stdout)[:-1], strict=True))
    return lambda typed, _: [*before(typed), *(line.partition("\t")[0] for line in offered[typed].splitlines())]


CASES = [
    ("urnscan d", ["dedup", "diff", "dump.xml"]),
    ("urnscan ./d", ["./dump.xml"]),
    ("urnscan my", ["my file.txt"]),
    ("urnscan my\\ f", ["my file.txt"]),
    ("urnscan dedup a", ["a:b.txt"]),
    ("urnscan dump.xml -o m", ["my file.txt"]),
    ("urnscan --files-from m", ["my file.txt"]),
    ("urnscan --sy", ["--syntax"]),
    ("urnscan --tr", ["--trim"]),
    ("urnscan --re", ["--rejects", "--resume", "--resolver-tail", "--recover"]),
    ("urnscan dedup --rec", ["--record", "--recover"]),
    ("urnscan explain --eq", ["--equivalence"]),
    ("urnscan --syntax ", list(SYNTAXES)),
    ("urnscan dedup --keep l", ["last", "longest"]),
    ("urnscan dedup --agree t", ["title"]),
    ("urnscan dedup dump.xml --record pica", ["pica", "pica-plain", "pica-xml"]),
    ("urnscan --engine s", ["spark"]),
    ("urnscan --recover w", ["wraps"]),
    ("urnscan --nid isb", ["isbn"]),
    ("urnscan dedup --weak isb", ["isbn"]),
    ("urnscan --errors ", FOLDERS),
    ("urnscan report u", ["urns.parquet"]),
    ("urnscan report i", ["it's.parquet"]),
    ("urnscan report own\\ c", ["own copy.parquet"]),
    ("urnscan report urns.parquet --occurrences o", ["own copy.parquet"]),
    ("urnscan --max-length ", []),
    ("urnscan --column d", []),
    ("urnscan explain d", []),
]
"""What is typed, and how its last word may go on."""


def offered(ask, typed, expected):
    """What the last word becomes; where nothing is offered, it stays."""
    found = ask(typed, len(expected) > 1)
    count = len(before(typed))
    assert found[:count] == before(typed)
    return sorted(name.rstrip("/") for name in found[count:])


@pytest.mark.full
class TestCompletions:
    @pytest.mark.parametrize("shell", [pytest.param(name, marks=needs(name)) for name in SHELLS])
    @pytest.mark.parametrize(("typed", "expected"), CASES, ids=[typed for typed, _ in CASES])
    def test_what_is_offered(self, request, shell, typed, expected):
        found = offered(request.getfixturevalue(shell), typed, expected)
        untouched = shlex.split(typed)[1 + len(before(typed)) :] if shell != "fish" else []
        assert found == (sorted(expected) or untouched)

    @pytest.mark.parametrize("shell", [pytest.param(name, marks=needs(name)) for name in ("bash", "zsh")])
    def test_files_of_a_kind(self, request, shell):
        """Custom rules are TOML; fish offers these first and then all others."""
        expected = [*(name for name in FILES if name.endswith(".toml")), *FOLDERS]
        assert offered(request.getfixturevalue(shell), "urnscan --rules ", expected) == sorted(expected)

    @pytest.mark.parametrize("shell", [pytest.param(name, marks=needs(name)) for name in SHELLS])
    def test_their_syntax(self, shell):
        script = printed(shell)
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class TestManPages:
    def test_one_for_each_command(self):
        """As `man urnscan dedup` looks for them."""
        assert {path.stem for path in MAN} == {name.replace(" ", "-") for name in COMMANDS}

    @pytest.mark.parametrize("path", MAN, ids=[path.name for path in MAN])
    def test_every_option(self, path):
        (command,) = (command for command in generator.commands() if command.page == path.stem)
        text = path.read_text().replace("\\-", "-")
        for option in command.options:
            for name in option.names:
                assert f"\\fB{name}\\fR" in text
        assert set(re.findall(r"^\.SH (.+)$", text, re.MULTILINE)) >= {"NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"}

    @needs("mandoc")
    @pytest.mark.parametrize("path", MAN, ids=[path.name for path in MAN])
    def test_mandoc_finds_nothing_wrong(self, path):
        """But for the date, which would be another each time the page is written."""
        words = ["mandoc", "-T", "lint", "-W", "warning", path]
        told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        assert [line for line in told.splitlines() if "missing date" not in line] == []

    @needs("groff")
    @pytest.mark.parametrize("path", MAN, ids=[path.name for path in MAN])
    def test_groff_finds_nothing_wrong(self, path):
        """Nor is a line wider than a terminal."""
        words = ["groff", "-ww", "-man", "-Tutf8", "-rLL=78n", "-P-cbou", path]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_columns_are_those_of_the_tables(self):
        from urnscan.tables.schemas import CANDIDATES, CLASSES, CLUSTERS, MAPPING, OCCURRENCES, REJECTS, REVIEW, WRONG

        text = {path.stem: " ".join(path.read_text().split()) for path in MAN}
        for page, schema in (
            ("urnscan", CLASSES),
            ("urnscan", OCCURRENCES),
            ("urnscan", REJECTS),
            ("urnscan-dedup", CLUSTERS),
            ("urnscan-dedup", MAPPING),
            ("urnscan-dedup", REVIEW),
            ("urnscan-dedup", CANDIDATES),
            ("urnscan-dedup", WRONG),
        ):
            assert ", ".join(schema.names) + "." in text[page]


class TestGenerator:
    def test_everything_is_up_to_date(self):
        """`.venv/bin/python docs/make_commands.py` writes it anew."""
        for path, text in generator.pages():
            assert path.read_text(encoding="utf-8") == text, path

    def test_the_wheel_installs_what_is_in_share(self):
        """Where man looks; the templates stay here."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())
        shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
        assert all(name == place for name, place in shared.items())
        installed = {path for name in shared for path in (ROOT / name).rglob("*") if path.is_file()}
        assert installed == {path for path, _ in generator.pages() if SHARE in path.parents}

    def test_every_option_is_in_the_reference(self):
        """On the page of its command, by whose name other pages point to it, or there with a link to the same option of a scan;
        and its address on the page that had all commands leads there.
        """
        old = (ROOT / "docs/reference/command.md").read_text()
        for command in generator.commands():
            page = (ROOT / f"docs/reference/command/{command.file}.md").read_text()
            assert f"```{{program}} {command.name}\n" in page
            for option in command.options:
                is_shared = option in command.shared
                assert (f"````{{option}} {', '.join(option.names)}" in page) is not is_shared
                assert (f" <urnscan {option.names[-1]}>`" in page) is is_shared
                for name in option.names:
                    assert f'<span id="cmdoption-{command.page}-{name.lstrip("-")}">' in old

    @pytest.mark.parametrize("command", generator.commands(), ids=lambda command: command.page)
    def test_every_example_is_a_command(self, command):
        """Each option that a page describes has an example with it, which the parser of the command reads; those in the help, too."""
        own = [option for group in command.own_groups for option in group.options]
        assert all(option.example for option in own)
        for option in own:
            words = words_of(option.example.text, command)
            assert words
            assert not option.names or any(set(option.names) & set(line) for line in words), option.key
        for line in [*(option.example.text for option in own), *command.about.examples.values()]:
            for words in words_of(line, command):
                assert status_of_parser(command, words) == 0, line

    @pytest.mark.parametrize(
        ("text", "expected"),
        [(".dot", r"\&.dot"), ("a\\b", r"a\eb"), ("it's -o", r"it\(aqs \-o"), ("~^`", r"\(ti\(ha\(ga")],
    )
    def test_what_man_pages_would_take_for_more_than_it_is(self, text, expected):
        assert generator.roff(text) == expected
