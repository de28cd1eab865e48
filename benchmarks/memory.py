"""Measure memory, CPU time a GB and temporary disk against the size of the input, on text that names a given number of classes.

    python benchmarks/memory.py FOLDER [--sizes SIZE,...] [--classes N] [--from stdin,file] [--memory SIZE] [--runs N]
                                       [--save NAME]

The text is generated while it is read (stream.py), so standard input needs disk only for spilled rows. These are written to
FOLDER, and so is the text with `--from file`. Occurrences and classes are compared with the numbers that were generated.
`--classes 0 --sizes 1.1GB,8.8GB` is the run of the targets for growth: all names are different.
Results go to FOLDER/memory, with --save to benchmarks/runs/NAME/.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from charts import Line, draw
from corpora import describe, warm
from measurement import Contender, Result, measure, summary
from peers import URNSCAN
from results import choice, count, failed, heading, keep, megabytes, parser, place, record, size, sizes, spread, table
from targets import JOB
from watch import Peak, temporary

STREAM = Path(__file__).with_name("stream.py")


class Measured(NamedTuple):
    """A run, and the counts that it should have found."""

    byte_count: int
    source: str
    """`stdin` or `file`."""
    result: Result
    occurrences: int
    classes: int
    temporary: int
    """Largest size of its temporary files."""

    def row(self) -> list[str]:
        """Row of the result."""
        result, found = self.result, self.result.found
        return failed(result, 8) or [
            f"{describe(self.byte_count)}, from {self.source}",
            *spread(result),
            f"{self.byte_count / result.median / 1e6:,.0f}",
            f"{min(result.cpu_seconds) / self.byte_count * 1e9:.2f}",
            count(found.matches, self.occurrences),
            count(found.classes, self.classes),
            megabytes(result.peak),
            f"{self.temporary / self.byte_count:.2f}",
        ]

    def json(self, corpus: str) -> dict[str, Any]:
        """The run as plain data."""
        result = {**record(self.result), "temporary_bytes": self.temporary}
        return {"corpus": corpus, "byte_count": self.byte_count, "files": 1, "source": self.source, "results": [result]}


def run(folder: Path, byte_count: int, classes: int, source: str, options: Sequence[str], runs: int) -> Measured:
    """Generate the text and scan it."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        counts = Path(work) / "counts"
        make = [sys.executable, str(STREAM), str(byte_count), str(classes), str(counts)]
        out = Path(work) / "out"
        out.mkdir()
        scan = [URNSCAN, "-" if source == "stdin" else Path(work) / "text", "-o", out / "urns.parquet", *options]
        stages: list[Sequence[object]] = [make, scan]
        if source == "file":
            with (Path(work) / "text").open("wb") as text:
                subprocess.run(make, stdout=text, check=True)
            warm(Path(work) / "text")
            stages = [scan]
        contender = Contender(JOB, stages, summary("occurrence", "class"), ours=len(stages) - 1)
        # urnscan writes a file `output` in a temporary folder, and renames it at the end.
        with Peak(lambda: temporary(out, ("urns.parquet", "output"))) as disk:
            result = measure([contender], runs, lambda line: print(f"{describe(byte_count)}, {line}", file=sys.stderr))[
                0
            ]
        occurrences, drawn = map(int, counts.read_text().split())
        return Measured(byte_count, source, result, occurrences, drawn, disk.largest)


def main() -> None:
    """Make, measure, draw, save."""
    arguments_of = parser(__doc__, 1)
    arguments_of.add_argument("--sizes", type=sizes, default=[10**9, 2 * 10**9], metavar="SIZE,...")
    arguments_of.add_argument(
        "--classes", type=int, default=5_000_000, metavar="N", help="names to draw from; 0: all different"
    )
    arguments_of.add_argument("--from", type=choice(["stdin", "file"]), default=["stdin"], dest="sources")
    arguments_of.add_argument("--memory", type=size, default=10**9, metavar="SIZE", help="urnscan's option")
    arguments = arguments_of.parse_args()
    folder = place(arguments, "memory")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    options = ["--memory", f"{arguments.memory // 10**6}MB", "--force"]
    run(arguments.folder, 10**6, 1000, "stdin", options, 1)  # not measured: compiles, fills caches
    measured = [
        run(arguments.folder, byte_count, arguments.classes, source, options, arguments.runs)
        for byte_count in arguments.sizes
        for source in arguments.sources
    ]
    head = [
        "",
        "median s",
        "min..max s",
        "MB/s",
        "CPU s a GB",
        "occurrences",
        "classes",
        "peak MB",
        "temporary disk of input",
    ]
    names = f"drawn from {arguments.classes:,}" if arguments.classes else "that are all different"
    about = (
        f"Names {names}, each in one of four spellings, a line of 80 bytes each; "
        f"`urnscan {' '.join(options)}`. ≠ marks a wrong count."
    )
    lines = [*heading("Peak memory"), about, "", *table(head, [each.row() for each in measured])]
    drawn = [
        Line(f"from {source}", "urnscan", points, dashed=source == "file", thick=source == "stdin")
        for source in arguments.sources
        if (points := [(each.byte_count, each.result.peak / 1e6) for each in measured if each.source == source])
    ]
    corpus = "drawn" if arguments.classes else "all different"
    keep(folder, [*lines, "![memory](memory.svg)"], {"measured": [each.json(corpus) for each in measured]})
    draw(
        folder / "memory.svg",
        f"Peak memory of urnscan on names {names}",
        "MB, without what makes the text",
        "{:,.0f}".format,
        drawn,
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
