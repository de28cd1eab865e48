"""Measure a scan on Spark next to one machine, and to 16 tasks with `urnscan merge`: CPU seconds by kind of process.

    python benchmarks/on_spark.py FOLDER [--only dense,sparse,warc,many] [--size SIZE] [--master URL] [--runs N] [--save NAME]

Each is measured on a text of 100 URNs first. That is its start; what a text takes above that is its marginal cost, and the
ratio is that of marginal costs. The start of Spark is compared with an empty job of the same shape: two stages of `mapInArrow` with a
shuffle between them, with pyarrow in its workers. 100 URNs are one task, of one Python worker: the start of the others is in the marginal cost.

What is fair and what is not:
* CPU seconds are those of all processes, also of Java (processes.py). On a shared machine they vary less than time, but they vary:
  compare numbers of one run of this script only.
* All write the same classes; the counts are compared.
* A cluster has more than this machine: network, other disks, stragglers. None of that is here.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from corpora import DENSITIES, generate, generate_many, new, warm
from forms import make_warcs
from measurement import Counts, summary
from peers import URNSCAN
from results import choice, heading, keep, parser, place, size, table

TASKS = 16
KINDS = ["Python of the driver", "JVM of the driver", "JVM of executors", "Python of executors", "unseen"]

EMPTY_JOB = r"""
import os, sys
from pyspark import StorageLevel
from pyspark.sql import SparkSession
os.environ["PYSPARK_PYTHON"] = sys.executable
from urnscan.spark.job import session
with session(sys.argv[1], show_progress=False) as spark:
    tasks = [b"task"]
    def same(batches):
        for batch in batches:
            assert tasks
            yield batch
    first = spark.range(0, 1, 1, 1).mapInArrow(same, "id long").persist(StorageLevel.DISK_ONLY)
    first.collect()
    first.repartitionById(1, first.id.cast("int")).mapInArrow(same, "id long").collect()
"""

TASKS_SCRIPT = """
work=$1; shift
printf '%s\\n' "$@" | xargs -P "$(nproc)" -I{} sh -c '"$0" --files-from "$1" -o "$2/$(basename "$1").parquet" --quiet' URNSCAN {} "$work"
URNSCAN merge "$work" -o "$work.parquet" --force
"""


class Run(NamedTuple):
    """A run: CPU seconds by kind of process, seconds, counts."""

    cpu: dict[str, float]
    seconds: float
    found: Counts

    @property
    def total(self) -> float:
        """CPU seconds of all processes."""
        return sum(self.cpu.values())


def run(command: Sequence[object], *, counted: bool = True) -> Run:
    """Run a command. Raises SystemExit with what it said if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        watch = [sys.executable, "-IS", Path(__file__).with_name("processes.py"), out, err, *command]
        done = subprocess.run([str(word) for word in watch], capture_output=True, text=True, check=True)
        took = json.loads(done.stdout)
        if took["status"]:
            raise SystemExit(f"{command}: exit status {took['status']}: {err.read_text(errors='replace')[-2000:]}")
        with out.open("rb") as output, err.open("rb") as errors:
            found = summary("occurrence", "class")(output, errors) if counted else Counts()
        return Run(took["cpu"], took["seconds"], found)


def median(runs: Sequence[Run]) -> Run:
    """The run whose CPU seconds are the median."""
    middle = statistics.median_low(each.total for each in runs)
    return next(each for each in runs if each.total == middle)


def make(folder: Path, kind: str, byte_count: int) -> Path:
    """Make a text, unless it is there; returns its path."""
    if kind == "many":
        path = folder / f"many-{byte_count // 3000}"
        generate_many(path, byte_count // 3000)  # 1.3 KB each, but what they cost is not in their bytes
        return path
    text = folder / f"{'sparse' if kind == 'warc' else kind}-{byte_count}.txt"
    generate(text, byte_count, DENSITIES["sparse" if kind == "warc" else kind])
    if kind != "warc":
        return text
    return make_warcs(text, folder / f"warc-{byte_count}", TASKS)


def shares(text: Path) -> list[Path]:
    """The files of a folder, or a text in parts of whole lines, unless these are there."""
    if text.is_dir():
        return sorted(each for each in text.rglob("*") if each.is_file())
    parts = text.with_name(f"{text.name}.parts")
    if not parts.exists():
        with new(parts) as unfinished:
            unfinished.mkdir()
            subprocess.run(["split", "-d", "-n", f"l/{TASKS}", text, unfinished / "part-"], check=True)
    return sorted(parts.iterdir())


def commands(text: Path, master: str, work: Path) -> dict[str, list[object]]:
    """Commands that scan a text."""
    found, lists = shares(text), []
    for number in range(TASKS):
        some = found[len(found) * number // TASKS : len(found) * (number + 1) // TASKS]
        if some:
            lists.append(work / f"list.{number:02}")
            lists[-1].write_text("".join(f"{path}\n" for path in some))
    (work / "tasks").mkdir()
    script = TASKS_SCRIPT.replace("URNSCAN", str(URNSCAN))
    on_spark = [URNSCAN, "--engine", "spark", "--master", master, text, "-o", work / "classes"]
    return {
        "one machine": [URNSCAN, text, "-o", work / "one.parquet", "--force", "--no-progress"],
        f"{TASKS} tasks and a merge": [
            "sh",
            "-c",
            script.replace("--quiet", "--quiet --force"),
            "sh",
            work / "tasks",
            *lists,
        ],
        "Spark": [*on_spark, "--force", "--no-progress"],
    }


def measure(text: Path, master: str, runs: int, more: dict[str, list[object]]) -> dict[str, Run]:
    """Measure all commands in turn; `more` are others, which print no counts."""
    warm(text)
    with tempfile.TemporaryDirectory(dir=text.parent) as work:
        every = {**more, **commands(text, master, Path(work))}
        results: dict[str, list[Run]] = {name: [] for name in every}
        for _ in range(runs):
            for name, command in every.items():
                results[name].append(run(command, counted=name not in more))
                print(f"{text.name}, {name}: {results[name][-1].total:.1f} CPU s", file=sys.stderr)
    return {name: median(some) for name, some in results.items()}


def row(name: str, found: Run, start: Run | None, one: float | None) -> list[str]:
    """Row of a result: what it took above the start, and of one machine, if that took a second or more."""
    before = start.cpu if start else {}
    total = found.total - (start.total if start else 0)
    kinds = [f"{found.cpu.get(kind, 0) - before.get(kind, 0):.1f}" for kind in KINDS]
    ratio = f"{total / one:.2f}" if one and one >= 1 else "-"  # the start varies by as much as a second
    return [name, f"{total:.1f}", ratio, *kinds, f"{found.found.matches or 0:,}", f"{found.found.classes or 0:,}"]


def main() -> None:
    """Make, measure, print, save."""
    options = parser(__doc__, 3)
    kinds = ["dense", "sparse", "warc", "many"]
    options.add_argument("--only", type=choice(kinds), default=kinds, metavar="KIND,...")
    options.add_argument("--size", type=size, default=10**9, help="of a text (default: 1GB)")
    options.add_argument("--master", default="local[2]", metavar="URL")
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    small = arguments.folder / "small.txt"
    small.write_text("".join(f"see urn:example:{number}\n" for number in range(100)))
    empty = {"empty job": [sys.executable, "-c", EMPTY_JOB, arguments.master]}
    start = measure(small, arguments.master, arguments.runs, empty)
    head = ["", "CPU s", "of one machine", *KINDS, "occurrences", "classes"]
    about = f"`--master {arguments.master}`; CPU seconds of all processes, the median of {arguments.runs} runs in turn."
    rows = [row(name, found, None, None) for name, found in start.items()]
    kept = {"small": {name: found._asdict() for name, found in start.items()}}
    lines = [*heading("Spark"), about, "", "## Start: 100 URNs", "", *table(head, rows)]
    for kind in arguments.only:
        text = make(arguments.folder, kind, arguments.size)
        found = measure(text, arguments.master, arguments.runs, {})
        kept[kind] = {name: each._asdict() for name, each in found.items()}
        one = found["one machine"].total - start["one machine"].total
        rows = [row(name, each, start[name], one) for name, each in found.items()]
        corpus = warm(text)
        title = f"## Above the start: {kind}, {corpus.byte_count:,} bytes, {corpus.files:,} files"
        lines += [title, "", *table(head, rows)]
    keep(place(arguments, "spark"), lines, {"measured": [], "spark": kept})
    print("\n".join(lines))


if __name__ == "__main__":
    main()
