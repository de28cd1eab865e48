"""Contenders run in turn as whole processes: their times, CPU seconds, peak memory and counts."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

__all__ = [
    "Contender",
    "Count",
    "Counts",
    "Result",
    "count_lines",
    "count_nothing",
    "count_numbers",
    "count_uniq",
    "measure",
    "summary",
]

ONCE = 30
"""Contenders that take more seconds run only once: long runs vary little."""

_CHILD = Path(__file__).with_name("child.py")


class Counts(NamedTuple):
    """Counts that a run printed."""

    matches: int | None = None
    classes: int | None = None
    seconds: float | None = None
    """Seconds that it measured itself, if these count."""


Count = Callable[[IO[bytes], IO[bytes]], Counts]
"""Reads the counts from standard output and standard error of a command. Raises ValueError if there are none."""


def count_nothing(_out: IO[bytes], _err: IO[bytes]) -> Counts:
    """No counts: the command does not search."""
    return Counts()


def count_lines(out: IO[bytes], _err: IO[bytes]) -> Counts:
    """Count lines: the command prints a match on each."""
    return Counts(sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 20), b"")))


def count_uniq(out: IO[bytes], _err: IO[bytes]) -> Counts:
    """Read the output of `uniq -c`."""
    counts = [int(line.split(maxsplit=1)[0]) for line in out]
    return Counts(sum(counts), len(counts))


def count_numbers(out: IO[bytes], _err: IO[bytes]) -> Counts:
    """Read matches, classes and seconds from one line; the last two may be missing or `-`."""
    numbers = [None if number == b"-" else float(number) for number in out.read().split()]
    matches, classes, seconds = (*numbers, None, None)[:3]
    return Counts(int(matches or 0), None if classes is None else int(classes), seconds)


def summary(*words: str) -> Count:
    """Read the counts of these words, such as `occurrence`, from the last line of urnscan."""

    def count(_out: IO[bytes], err: IO[bytes]) -> Counts:
        text = err.read().decode()
        found = [re.search(rf"([\d,]+) {word}", text) for word in words]
        if not found[0]:
            raise ValueError("no summary")
        return Counts(*(int(each[1].replace(",", "")) if each else None for each in found))

    return count


@dataclass(frozen=True)
class Contender:
    """A command, or several in a pipe, and the function that reads its counts."""

    name: str
    stages: Sequence[Sequence[object]]
    """The words of each command."""
    count: Count
    tool: str = "urnscan"
    """The tool that is measured."""
    statuses: Sequence[int] = (0,)
    """Exit statuses that mean success."""
    ours: int = 0
    """The first stage whose memory and CPU seconds count."""


@dataclass
class Result:
    """Times, memory and counts of a contender."""

    contender: Contender
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak: int = 0
    """Bytes; of a pipe the sum of the peaks of its processes, of several runs the largest."""
    found: Counts = field(default_factory=Counts)
    failure: str = ""

    @property
    def name(self) -> str:
        """The name of the contender."""
        return self.contender.name

    @property
    def median(self) -> float:
        """Median of the seconds."""
        return statistics.median(self.seconds)


def run(contender: Contender, result: Result) -> None:
    """Run a contender once and add to its result."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        stages = [[str(word) for word in stage] for stage in contender.stages]
        order = {"stages": stages, "out": str(out), "err": str(err)}
        environment = os.environ | {"LC_ALL": "C"}  # tools must sort and match bytes
        child = subprocess.run(
            [sys.executable, "-IS", _CHILD, json.dumps(order)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        if child.returncode:
            result.failure = child.stderr.strip().rpartition("\n")[2]
            return
        took = json.loads(child.stdout)
        try:
            result.found = _counts(contender, took["status"], out, err)
        except ValueError as error:
            result.failure = (err.read_text(errors="replace").strip() or str(error)).rpartition("\n")[2]
            return
        result.seconds.append(result.found.seconds or took["seconds"])
        result.cpu_seconds.append(sum(took["cpu"][contender.ours :]))
        result.peak = max(result.peak, sum(took["peak"][contender.ours :]))


def _counts(contender: Contender, statuses: list[int], out: Path, err: Path) -> Counts:
    """Read the counts. Raises ValueError if the run failed."""
    if not set(statuses) <= {*contender.statuses}:
        raise ValueError(f"exit status {statuses}")
    with out.open("rb") as output, err.open("rb") as errors:
        return contender.count(output, errors)


def measure(contenders: Sequence[Contender], runs: int, tell: Callable[[str], None] = lambda _: None) -> list[Result]:
    """Run all contenders in turn, A B C, A B C, ...; calls `tell` after each run. One that fails is not run again."""
    results = [Result(contender) for contender in contenders]
    for _ in range(runs):
        for result in results:
            if result.failure or any(seconds > ONCE for seconds in result.seconds):
                continue
            run(result.contender, result)
            tell(f"{result.name}: {result.failure or f'{result.seconds[-1]:.2f} s'}")
    return results
