"""`python -m tests.fuzzing TARGET… [--seconds N] [--folder DIRECTORY]`, `TARGET FILE`, or `TARGET --add FILE…`: see the package."""
# ruff: noqa: T201 (it is a command)

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.fuzzing.corpora import add, inputs, unpack
from tests.fuzzing.targets import TARGETS

__all__ = ["main", "replay"]

ROOT = Path(__file__).parents[2]
PROPERTIES = "hypothesis"
"""Name of the target that is all property tests."""
_SECONDS_AN_INPUT, _MEGABYTES = 30, 3000  # more than that is a find
_MAX_FINDS = 10  # of a target, then something is wrong that need not be found again


class Result(NamedTuple):
    """What fuzzing a target came to."""

    target: str
    executions: int
    seconds: float
    finds: list[Path]

    def __str__(self) -> str:
        line = f"{self.target}: {self.executions:,} executions, {self.seconds:,.0f} s, {len(self.finds)} finds"
        return "\n".join([line, *(f"  {find}" for find in self.finds)])


def main() -> int:
    """The exit status: 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description="Fuzz targets, one after the other.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="names of targets, or patterns of them: records-*")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: %(default)s)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(tempfile.gettempdir(), "urnscan-fuzzing"),
        help="where corpora grow, and what was found is put (default: %(default)s)",
    )
    parser.add_argument("--replay", action="store_true", help="only give the inputs of the corpora to the targets")
    parser.add_argument(
        "--add", nargs="+", type=Path, metavar="FILE", help="put files into the corpus of the one target"
    )
    arguments = parser.parse_args()
    if not arguments.targets:
        print(*TARGETS, PROPERTIES, sep="\n")
        return 0
    if arguments.add:
        (name,) = arguments.targets
        add(TARGETS[name].corpus, [path.read_bytes() for path in arguments.add])
        return 0
    if len(arguments.targets) == 2 and arguments.targets[0] in TARGETS and Path(arguments.targets[1]).is_file():
        TARGETS[arguments.targets[0]].run(Path(arguments.targets[1]).read_bytes())
        return 0
    names = [name for pattern in arguments.targets for name in fnmatch.filter([*TARGETS, PROPERTIES], pattern)]
    if not names:
        parser.error(f"no target is called {' or '.join(arguments.targets)}")
    if arguments.replay:
        print(*map(replay, names), sep="\n")
        return 0
    found = False
    for name in names:
        fuzz = _properties if name == PROPERTIES else _fuzz
        result = fuzz(name, arguments.seconds, arguments.folder)
        print(result, flush=True)
        found |= bool(result.finds)
    return int(found)


def replay(name: str) -> str:
    """Give each input of its corpus to a target; what was done. Raises what the target raises, with the input in a note."""
    corpus = inputs(TARGETS[name].corpus)
    for input_name, data in corpus.items():
        try:
            TARGETS[name].run(data)
        except BaseException as error:
            error.add_note(f"{name}: {input_name} of {TARGETS[name].corpus}: {data!r}")
            raise
    return f"{name}: {len(corpus)} inputs"


def _fuzz(name: str, seconds: int, folder: Path) -> Result:
    """Fuzz a target for so long, beginning anew behind each find."""
    target = TARGETS[name]
    grown, finds_folder, kept = folder / "corpus" / target.corpus_name, folder / "finds", folder / "kept" / name
    for each in (grown, finds_folder, folder / "logs", kept):
        each.mkdir(parents=True, exist_ok=True)
    unpack(target.corpus, kept)
    start, executions, finds = time.monotonic(), 0, set[Path]()
    with (folder / "logs" / f"{name}.log").open("ab") as log:
        while (left := int(seconds - (time.monotonic() - start))) > 0 and len(finds) < _MAX_FINDS:
            place = log.tell()
            words = (
                f"-max_total_time={left}",
                f"-timeout={_SECONDS_AN_INPUT}",
                f"-rss_limit_mb={_MEGABYTES}",
                f"-artifact_prefix={finds_folder}/{name}-",
                "-print_final_stats=1",
                *map(str, (grown, kept)),
            )
            status = subprocess.run(
                [sys.executable, "-m", "tests.fuzzing.child", name, *words],
                cwd=ROOT,
                env=os.environ | ({"NUMBA_DISABLE_JIT": "1"} if target.python else {}),
                stdout=log,
                stderr=log,
                check=False,
            ).returncode
            told = (folder / "logs" / f"{name}.log").read_bytes()[place:].decode("utf-8", "replace")
            executions += _executions(told)
            finds |= set(_finds(told))
            if status and not finds:  # the fuzzer failed, or did not come to write what it found: the log tells
                finds.add(Path(log.name))
                break
    return Result(name, executions, time.monotonic() - start, sorted(finds))


def _executions(told: str) -> int:
    """How many inputs libFuzzer says that it has run."""
    stats = re.findall(r"stat::number_of_executed_units: (\d+)", told)
    return int(stats[-1]) if stats else max(map(int, re.findall(r"^#(\d+)\b", told, re.MULTILINE)), default=0)


def _finds(told: str) -> Iterator[Path]:
    """The files that libFuzzer wrote; not those of inputs that only took long."""
    for path in re.findall(r"Test unit written to (\S+)", told):
        if "-slow-unit-" not in path:
            yield Path(path)


def _properties(name: str, seconds: int, folder: Path) -> Result:
    """Run the property tests again and again, each time with other examples."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    start, rounds, failures = time.monotonic(), 0, list[Path]()
    log = folder / "logs" / f"{name}.log"
    with log.open("ab") as out:
        while time.monotonic() - start < seconds and not failures:
            status = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-x",
                    "-m",
                    "full and hypothesis",
                    "--timeout=0",  # a test is as long as its examples
                    "--hypothesis-profile=search",
                ],
                cwd=ROOT,
                stdout=out,
                stderr=out,
                check=False,
            ).returncode
            rounds += 1
            failures += [log] if status else []
    return Result(name, rounds, time.monotonic() - start, failures)


if __name__ == "__main__":
    sys.exit(main())
