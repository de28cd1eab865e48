"""Estimate what more cores would give: urnscan on one core and on two, by stage, and Amdahl's rule for the others.

    python benchmarks/cores.py FOLDER [--only dense,sparse] [--size SIZE] [--runs N] [--save NAME]

`taskset` pins urnscan to one core with `-j 1`, and to two with `-j 2`; `--timings` shows what each stage took. Linux only.
There are two estimates for each text, and neither is a measurement:
* at best: only `start`, `file` and `rest`, which one thread does, stay as they are, and all else is divided by the cores;
* as from one to two: the part that a second core did not divide stays as it is, and the other part is divided by the cores.
Memory, disk and the processor's clock are taken to be no limit.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from corpora import DENSITIES, generate, warm
from measurement import Contender, Counts, measure, summary
from peers import URNSCAN
from results import choice, heading, keep, parser, place, size, table

AT = (4, 8, 16)
"""Numbers of cores of the estimate."""
SIZES = {"dense": 10**9, "sparse": 4 * 10**9}

_STAGE = re.compile(rb"^urnscan: (\w+) +([\d.]+) s CPU(?: +([\d.]+) s)?", re.MULTILINE)
_SERIAL = ("start", "file", "rest")

STAGES_HEAD = ["text", "stage", "one core, CPU s", "two cores, CPU s", "two cores, s", "threads busy"]
ESTIMATE_HEAD = ["text", "estimate", "one core", "two cores", *(f"{cores} cores" for cores in AT)]


def stages(timings: bytes) -> dict[str, list[float | None]]:
    """CPU seconds and seconds of each stage, from what urnscan printed; one thread does those without seconds."""
    return {name.decode(): [float(cpu), float(wall) if wall else None] for name, cpu, wall in _STAGE.findall(timings)}


def stage_rows(text: Mapping[str, Any]) -> list[list[str]]:
    """A row for each stage: what it took on one core and on two, and how many threads were busy with it."""
    rows = []
    for name, (cpu, _) in text["one"]["stages"].items():
        on_two, wall = text["two"]["stages"][name]
        if name != "all":
            busy = "1, always" if wall is None else f"{max(1.0, on_two / wall):.1f}" if wall else "-"
            rows.append(
                [text["corpus"], name, f"{cpu:.2f}", f"{on_two:.2f}", f"{on_two if wall is None else wall:.2f}", busy]
            )
    return rows


def estimate_rows(text: Mapping[str, Any]) -> list[list[str]]:
    """The two estimates for a text."""
    one, two = text["one"]["seconds"], text["two"]["seconds"]
    spent = text["one"]["stages"]
    least = one * sum(spent[name][0] for name in _SERIAL) / sum(spent[name][0] for name in spent if name != "all")
    serial = {"at best": least, "as from one to two": min(one, max(least, 2 * two - one))}
    return [
        [
            text["corpus"],
            name,
            *(f"{each:.2f} s" for each in (one, two, *(part + (one - part) / cores for cores in AT))),
        ]
        for name, part in serial.items()
    ]


def run(path: Path, cores: int, runs: int) -> dict[str, Any]:
    """Measure on so many cores; gives the seconds and the stages of the median run."""
    timings: list[dict[str, list[float | None]]] = []

    def count(out: IO[bytes], err: IO[bytes]) -> Counts:
        text = err.read()
        timings.append(stages(text))
        err.seek(0)
        return summary("occurrence", "class")(out, err)

    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        words = [
            "taskset",
            "-c",
            f"0-{cores - 1}",
            URNSCAN,
            path,
            "-o",
            Path(work) / "urns.parquet",
            "-j",
            cores,
            "--timings",
            "--force",
        ]
        contender = Contender(f"urnscan -j {cores}", [words], count)
        (result,) = measure([contender], runs, lambda each: print(f"{path.name}, {each}", file=sys.stderr))
    if result.failure:
        raise SystemExit(f"{path}: {result.failure}")
    middle = statistics.median_low(result.seconds)
    return {"seconds": middle, "stages": timings[result.seconds.index(middle)], "classes": result.found.classes}


def main() -> None:
    """Make, measure, print, save."""
    options = parser(__doc__, 3)
    options.add_argument("--only", type=choice([*SIZES]), default=[*SIZES], metavar="KIND,...")
    options.add_argument("--size", type=size, help="of each text (default: dense 1GB, sparse 4GB)")
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    texts = []
    for kind in arguments.only:
        byte_count = arguments.size or SIZES[kind]
        path = arguments.folder / f"{kind}-{byte_count}"
        generate(path, byte_count, DENSITIES[kind])
        corpus = warm(path)
        one, two = (run(path, cores, arguments.runs) for cores in (1, 2))
        texts.append({"corpus": kind, "byte_count": corpus.byte_count, "one": one, "two": two})
    lines = [*heading("Cores"), *tables(texts)]
    keep(place(arguments, "cores"), lines, {"measured": [], "cores": texts})
    print("\n".join(lines))


def tables(texts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The stages of all texts, and the estimates."""
    return [
        *table(STAGES_HEAD, [row for text in texts for row in stage_rows(text)], left=2),
        *table(ESTIMATE_HEAD, [row for text in texts for row in estimate_rows(text)], left=2),
    ]


if __name__ == "__main__":
    main()
