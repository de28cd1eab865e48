"""Measure urnscan and other tools on the same texts, in one run: times, ratios, memory, and the counts found.

    python benchmarks/bench.py FOLDER [--texts FOLDER] [--only KIND,...] [--sizes SIZE,...] [--files N] [--runs N]
                                      [--peers NAME,...] [--patience SECONDS] [--save NAME]

FOLDER keeps the generated texts between runs. Commands are timed as whole processes, from start to exit, in turn
(A B C, A B C, ...), on a warm page cache; the median counts. All texts take half an hour on two cores, and 7 GB.
Tables, numbers and charts go to benchmarks/runs/DATE-MACHINE/; those of a part of the texts go to FOLDER/results,
unless --save gives a name. What is fair and what is not: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from corpora import DENSITIES, Corpus, describe, generate, generate_many, warm
from measurement import Result, measure
from peers import TOOLS, contenders, missing, of_small, versions
from results import RUNS, Measured, choice, heading, keep, machine, parser, place, sizes, table
from targets import HEAD, JOB, ONE, rows

KINDS = [*DENSITIES, "many", "small"]
SIZES = {"dense": [10**7, 10**8, 10**9], "medium": [10**9], "sparse": [10**7, 10**8, 10**9, 4 * 10**9]}
_SMALL = 10**5  # bytes of the one small file
_SMALL_RUNS = 3  # times the runs of other texts: they are short


def corpora(arguments: argparse.Namespace) -> Iterator[Corpus]:
    """Generate the texts, from small to large for each kind."""
    folder: Path = arguments.folder
    for kind in arguments.only:
        if kind == "many":
            generate_many(folder / f"many-{arguments.files}", arguments.files)
            yield warm(folder / f"many-{arguments.files}", kind)
            continue
        for byte_count in [_SMALL] if kind == "small" else arguments.sizes or SIZES[kind]:
            generate(folder / f"{kind}-{byte_count}", byte_count, DENSITIES.get(kind, DENSITIES["medium"]))
            yield warm(folder / f"{kind}-{byte_count}", kind)
    if arguments.texts:
        yield warm(arguments.texts, "texts")


def run(corpus: Corpus, arguments: argparse.Namespace, before: Measured | None, say: Callable[[str], None]) -> Measured:
    """Measure on a corpus, without contenders that were too slow on the corpus before it of the same kind."""
    with tempfile.TemporaryDirectory(dir=arguments.folder) as work:
        if corpus.kind == "small":
            of_file = of_small(corpus, Path(work), arguments.peers)
            return Measured(corpus, measure(of_file, arguments.runs * _SMALL_RUNS, say))
        chosen = contenders(corpus, Path(work), arguments.peers)
        slow: set[str] = set()
        if before:
            longest = arguments.patience * before.corpus.byte_count / corpus.byte_count
            peers = [each for each in before.results if each.seconds and each.contender.tool != "urnscan"]
            slow = {each.name for each in peers if min(each.seconds) > longest} | {*before.left_out}
        return Measured(
            corpus,
            measure([each for each in chosen if each.name not in slow], arguments.runs, say),
            [each.name for each in chosen if each.name in slow],
        )


def report(measured: Sequence[Measured], pictures: Sequence[Path]) -> list[str]:
    """Lines of results.md."""
    lacking, installed = missing(), [f"{tool} {version}" for tool, version in versions().items()]
    return [
        *heading("Speed and memory"),
        *table(HEAD, rows([[each.json() for each in measured]]), left=2),
        "≠ marks a count that differs from that of the whole job.",
        "",
        f"Not installed, so left out: {', '.join(lacking) or 'nothing'}. Measured: {'; '.join(installed)}.",
        "",
        *(line for picture in pictures for line in (f"![{picture.stem}]({picture.name})", "")),
        *(line for each in measured for line in each.rows()),
    ]


def save(folder: Path, measured: Sequence[Measured], pictures: Sequence[Path] = ()) -> list[str]:
    """Write results.md and results.json; returns the lines of results.md."""
    lines = report(measured, pictures)
    data = {
        "versions": versions(),
        "not_installed": missing(),
        "measured": [each.json() for each in measured],
    }
    keep(folder, lines, data)
    return lines


def pictures(folder: Path, measured: Sequence[Measured]) -> list[Path]:
    """Draw time and peak memory against size, for each kind with several sizes."""
    from charts import Line, draw

    values: list[tuple[str, str, str, Callable[[Result], float], Callable[[float], str]]] = [
        (
            "time",
            "Time",
            "seconds, median of whole processes",
            lambda result: result.median,
            lambda value: f"{value:g}",
        ),
        (
            "memory",
            "Peak memory",
            "MB, of a pipe the sum of its processes",
            lambda result: result.peak / 1e6,
            "{:,.0f}".format,
        ),
    ]
    found = []
    for kind, density in DENSITIES.items():
        of_kind = [each for each in measured if each.corpus.kind == kind]
        if len(of_kind) < 2:
            continue
        drawn = {
            result.name: result
            for each in reversed(of_kind)
            for result in each.results
            if result.contender.tool != "urnscan" or result.name in (JOB, ONE)
        }
        for name, title, unit, value_of, formatter in values:
            lines = []
            for contender, last in drawn.items():
                points = [
                    (each.corpus.byte_count, value_of(result))
                    for each in of_kind
                    for result in each.results
                    if result.name == contender and result.seconds
                ]
                if points:
                    dashed, thick = "|" in contender or "-j 1" in contender, contender == JOB
                    lines.append(Line(contender, last.contender.tool, points, dashed, thick))
            path = folder / f"{name}-{kind}.svg"
            draw(path, f"{title} on {kind} text, {density:,} URNs per MiB", unit, formatter, lines)
            found.append(path)
    return found


def main() -> None:
    """Generate, measure, print, save."""
    options = parser(__doc__, 3)
    options.add_argument("--texts", type=Path, metavar="FOLDER", help="also a folder of real texts")
    options.add_argument("--only", type=choice(KINDS), metavar="KIND,...", help=f"of {', '.join(KINDS)}")
    options.add_argument("--sizes", type=sizes, metavar="SIZE,...", help="of the generated texts")
    options.add_argument("--files", type=int, default=100_000, metavar="N", help="number of files in `many`")
    options.add_argument("--peers", type=choice(TOOLS), metavar="NAME,...", help=f"of {', '.join(TOOLS)}")
    options.add_argument(
        "--patience",
        type=float,
        default=60,
        metavar="SECONDS",
        help="leave out commands that would take longer, judged by their time on a smaller text (default: 60)",
    )
    arguments = options.parse_args()
    if arguments.texts and not arguments.texts.is_dir():
        options.error(f"--texts {arguments.texts}: no folder")
    part = arguments.only or arguments.sizes or arguments.peers or arguments.files != 100_000
    arguments.folder.mkdir(parents=True, exist_ok=True)
    arguments.only = arguments.only or KINDS
    lacking = missing()
    arguments.peers = [tool for tool in arguments.peers or TOOLS if tool not in lacking]
    folder = place(arguments, "results") if part or arguments.save else RUNS / machine()
    first = arguments.folder / f"small-{_SMALL}"
    generate(first, _SMALL, DENSITIES["medium"])
    with tempfile.TemporaryDirectory(dir=arguments.folder) as work:  # not measured: compiles, fills caches
        measure(contenders(warm(first), Path(work), arguments.peers), 1)
    measured: list[Measured] = []
    for corpus in corpora(arguments):

        def say(line: str, on: Corpus = corpus) -> None:
            print(f"{on.kind} {describe(on.byte_count)}: {line}", file=sys.stderr)

        before = next((each for each in reversed(measured) if each.corpus.kind == corpus.kind), None)
        measured.append(run(corpus, arguments, before, say))
        save(folder, measured)
    print("\n".join(save(folder, measured, pictures(folder, measured))))
    print(f"{folder}/results.md", file=sys.stderr)


if __name__ == "__main__":
    main()
