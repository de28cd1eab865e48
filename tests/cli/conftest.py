"""The installed command, run as a user runs it: by its name, in a fresh empty folder, with a clean environment."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq
import pytest

from tests.support.forks import EXITS, Forks
from tests.support.oracle import END, oracle
from tests.support.registrations import verdict
from tests.support.spelled import joined, spelled
from urnscan.urn.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

URNSCAN = Path(sys.executable).with_name("urnscan")
PATIENCE = 150  # seconds for a run that should take one; more means that it hangs

# The peak is that of this one process: a child's own is at least its parent's, and pytest has loaded much.
MEASURED = """
import os, resource, subprocess, sys
most = int(sys.argv[1])
limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
process = subprocess.Popen(sys.argv[3:], preexec_fn=limit)
_, status, usage = os.wait4(process.pid, 0)
with open(sys.argv[2], "w") as peak:
    peak.write(str(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)))
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Result(NamedTuple):
    """What a run left behind on its standard streams."""

    status: int
    out: bytes
    err: str

    @property
    def said(self) -> list[str]:
        """The lines on standard error but for the summary and the hints."""
        return [line for line in self.err.splitlines() if not is_summary(line)]

    @property
    def summary(self) -> str:
        """The one summary line."""
        (line,) = [line for line in self.err.splitlines() if is_summary(line) and " --" not in line]
        return line


def is_summary(line: str) -> bool:
    """Whether a line is the summary or a hint about another option, not a message about an input."""
    return re.match(r"urnscan: [\d,]+ (inputs?|occurrences?)\b", line) is not None


def checked(expected: int | None, status: int, out: bytes, err: bytes) -> Result:
    """The result of a run that ended with the status that a test expects (None: any), and without a traceback."""
    result = Result(status, out, err.decode())
    assert "Traceback" not in result.err, result.err
    assert expected in (None, result.status), result.err
    return result


def environment_of(home: Path) -> dict[str, str]:
    """The environment of somebody who has set nothing."""
    return {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm"}


@dataclass(frozen=True)
class Meddling:
    """Code that changes the process of the command before it begins; as words, what runs the command like this."""

    code: str

    def __iter__(self) -> Iterator[str]:
        run = "import runpy, sys\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
        return iter((sys.executable, "-c", f"{self.code}\n{run}"))


class Command:
    """`urnscan` in its folder. Calling it runs it to its end and checks its exit status.

    A plain call, or one with Meddling, is forked from a process that has loaded the command (`tests/support/forks.py`).
    All others are real starts: `start`, `measured`, and calls with another `through`, another environment, or streams of
    their own.
    """

    def __init__(self, folder: Path, home: Path, forks: Forks | None = None) -> None:
        self.folder = folder
        self.environment = environment_of(home)
        self.forks = forks

    def __call__(
        self,
        *arguments: str | os.PathLike[str],
        stdin: bytes | int | None = b"",
        status: int | None = 0,
        through: Iterable[str] = (),
        **options: object,
    ) -> Result:
        """Run the command; `through` is a command that runs it in turn, `options` are those of `subprocess`."""
        code = through.code if isinstance(through, Meddling) else ""
        if self.forks and self.environment == self.forks.environment:
            if isinstance(stdin, bytes) and not options and (code or not through) and not EXITS & {*arguments}:
                words = [os.fsdecode(argument) for argument in arguments]
                return checked(status, *self.forks.run(words, self.folder, stdin, PATIENCE, code))
        given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given, **options}
        done = subprocess.run(
            [*through, URNSCAN, *arguments],
            cwd=self.folder,
            env=self.environment,
            timeout=PATIENCE,
            check=False,
            **options,
        )
        return checked(status, done.returncode, done.stdout or b"", done.stderr or b"")

    @contextlib.contextmanager
    def start(self, *arguments: str | os.PathLike[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
        """The command while it runs; killed at the end where it still does."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        with subprocess.Popen([URNSCAN, *arguments], cwd=self.folder, env=self.environment, **streams) as process:
            watchdog = threading.Timer(PATIENCE, process.kill)  # so that nobody waits for ever for a line of it
            watchdog.start()
            try:
                yield process
            finally:
                watchdog.cancel()
                process.kill()

    def measured(self, *arguments: str, most: int = 8 << 30, **options: object) -> tuple[Result, int]:
        """A run, and the most bytes of memory that it used. Past `most` bytes of addresses it gets no more."""
        result = self(*arguments, through=[sys.executable, "-c", MEASURED, str(most), "../peak"], **options)
        return result, int((self.folder.parent / "peak").read_text())

    def write(self, name: str, data: bytes) -> Path:
        """Make a file in the folder, with the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def names(self, below: str = ".") -> list[str]:
        """What lies in the folder, or in one below it, hidden or not."""
        return sorted(path.name for path in (self.folder / below).iterdir())

    def rows(self, name: str = "occ.parquet", *columns: str) -> list[tuple]:
        """The rows of an output, with just these columns."""
        table = pq.read_table(self.folder / name, columns=list(columns) or None)
        return [tuple(row.values()) for row in table.to_pylist()]

    def printed(self, *arguments: str, **options: object) -> list[str]:
        """The lines that a run prints."""
        return self(*arguments, **options).out.decode().splitlines()


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> Iterator[None]:
    """What a shell starts in the background ignores SIGINT, and so would all that it starts in turn."""
    ignored = [sent for sent in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(sent) is signal.SIG_IGN]
    for sent in ignored:
        signal.signal(sent, signal.default_int_handler)
    yield
    for sent in ignored:
        signal.signal(sent, signal.SIG_IGN)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's home folder, with nothing in it."""
    return tmp_path_factory.mktemp("home")


@contextlib.contextmanager
def forked(environment: dict[str, str]) -> Iterator[Forks | None]:
    """The process from which plain runs are forked; None where a process with loaded libraries may not fork."""
    if sys.platform != "linux":
        yield None
        return
    found = Forks(URNSCAN, environment)
    try:
        yield found
    finally:
        found.close()


@pytest.fixture(scope="session")
def forks(home: Path) -> Iterator[Forks | None]:
    """The process from which plain runs of all tests are forked."""
    with forked(environment_of(home)) as found:
        yield found


@pytest.fixture
def urnscan(tmp_path: Path, home: Path, forks: Forks | None) -> Command:
    """The command in an empty folder of its own."""
    folder = tmp_path / "here"
    folder.mkdir()
    return Command(folder, home, forks)


@pytest.fixture(scope="module")
def urnscan_of_module(tmp_path_factory: pytest.TempPathFactory, home: Path, forks: Forks | None) -> Command:
    """The command in a folder that all tests of a module share; what one of them leaves there, others find."""
    return Command(tmp_path_factory.mktemp("module"), home, forks)


def expected(source: str, data: bytes, syntax: str = "rfc2141", **options: object) -> list[tuple]:
    """What the oracle says the rows of a file are: (source, start, line, text, urn, nid, stop, punctuation, ...)."""
    rows = []
    for record in oracle(data, syntax, **options):
        components, problems = spelled(record.text.decode(), syntax)
        judged = verdict(parse(record.canonical.decode(), syntax).canonical)
        rows.append(
            (
                source,
                record.start,
                record.line,
                record.text.decode(),
                record.canonical.decode(),
                record.nid.decode().lower(),
                None if record.stop == END else record.stop,
                record.punctuation,
                record.resolver,
                *components.values(),
                judged.valid,
                judged.problem,
                joined(problems),
            )
        )
    return rows


EXPECTED = ("source", "start", "line", "text", "urn", "nid", "stop", "punctuation", "resolver")
EXPECTED += ("r_component", "q_component", "f_component", "valid", "problem", "spelling_problem")
"""The columns of `expected`."""
