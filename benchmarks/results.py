"""Results as tables in Markdown and as JSON; options and formats that all benchmarks share."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpora import Corpus, describe, parse_size
from measurement import Result
from peers import WHOLE_JOB

RUNS = Path(__file__).parent / "runs"
"""Folder of the results that are kept."""

NO_NUMBER = "-"


def machine() -> str:
    """Name of a result: date, processor, cores."""
    return f"{time.strftime('%Y-%m-%d')}-{platform.machine()}-{os.cpu_count()}-cores"


def parser(doc: str | None, runs: int, saved: str) -> argparse.ArgumentParser:
    """Parser with the options of all benchmarks."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("folder", type=lambda text: Path(text).absolute(), help="where the texts are made and kept")
    found.add_argument("--runs", type=int, default=runs, metavar="N", help=f"runs of each (default: {runs})")
    found.add_argument("--save", metavar="NAME", help=f"keep the result as {saved}")
    return found


def size(text: str) -> int:
    """Read a size, for argparse."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def sizes(text: str) -> list[int]:
    """Read sizes with commas between them, for argparse; sorts them."""
    return sorted(size(each) for each in text.split(","))


def choice(among: Sequence[str]) -> Callable[[str], list[str]]:
    """Reader of names with commas between them, for argparse, that accepts only names in `among`."""

    def chosen(text: str) -> list[str]:
        wrong = [name for name in text.split(",") if name not in among]
        if wrong:
            raise argparse.ArgumentTypeError(f"{', '.join(wrong)}: none of {', '.join(among)}")
        return text.split(",")

    return chosen


def heading(title: str) -> list[str]:
    """First lines of a result: date, machine, command."""
    words = [Path(sys.argv[0]).name, *("FOLDER" if Path(word).is_dir() else word for word in sys.argv[1:])]
    day, cores = time.strftime("%Y-%m-%d"), os.cpu_count()
    return [
        f"# {title}: {day}, {platform.machine()}, {cores} cores, Python {platform.python_version()}",
        "",
        f"`python benchmarks/{' '.join(words)}`",
        "",
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Write a table. The first `left` columns are text, the others numbers."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, *rows)]
    return [lines[0], f"|{'|'.join(rule)}|", *lines[1:], ""]


def seconds(value: float) -> str:
    """Write seconds, to hundredths or, below one, thousandths."""
    return f"{value:.{3 if value < 1 else 2}f}"


def spread(result: Result) -> list[str]:
    """Write median and range of the seconds."""
    return [seconds(result.median), f"{seconds(min(result.seconds))}..{seconds(max(result.seconds))}"]


def count(found: int | None, expected: int | None, *, told: bool = True) -> str:
    """Write a count, marked if it is not the expected one."""
    if found is None:
        return NO_NUMBER
    return f"{found:,}" if found == expected or not told else f"≠ {found:,}"


def ratio(first: Result, other: Result) -> str:
    """Write the time of `first` divided by that of `other`."""
    return f"{first.median / other.median:.2f}" if first.seconds else NO_NUMBER


def failed(result: Result, numbers: int) -> list[str]:
    """Row of a result that failed, with so many empty cells; an empty list if it did not fail."""
    return [f"{result.name}: failed: {result.failure}", *[NO_NUMBER] * numbers] if result.failure else []


def megabytes(octets: float) -> str:
    """Write octets in MB."""
    return f"{octets / 1e6:,.0f}"


def rows_of(results: Sequence[Result], rate: Callable[[float], str]) -> list[list[str]]:
    """Rows with time, CPU time, rate, ratio, matches and memory; `rate` writes the rate for the median of seconds."""
    first = results[0]
    return [
        failed(result, 7)
        or [
            result.name,
            *spread(result),
            seconds(min(result.cpu_seconds)),
            rate(result.median),
            ratio(first, result),
            count(result.found.matches, first.found.matches),
            megabytes(result.peak),
        ]
        for result in results
    ]


class Measured(NamedTuple):
    """Results on a corpus."""

    corpus: Corpus
    results: list[Result]
    left_out: list[str]
    """Contenders that would have taken too long."""

    @property
    def title(self) -> str:
        """Name and size of the corpus."""
        corpus = self.corpus
        if corpus.path.is_dir():
            return f"{corpus.kind}, {corpus.path.name}: {corpus.files:,} files, {corpus.octets:,} octets"
        return f"{corpus.kind}, {describe(corpus.octets)}: {corpus.octets:,} octets"

    def rows(self) -> list[str]:
        """Section of the result, as lines."""
        reference = self.results[0]
        rows = []
        for result in self.results:
            # `uniq` counts spellings, which are more than classes
            classes = count(result.found.classes, reference.found.classes, told="uniq" not in result.name)
            rows.append(
                failed(result, 7)
                or [
                    result.name,
                    *spread(result),
                    seconds(min(result.cpu_seconds)),
                    ratio(reference, result),
                    count(result.found.matches, reference.found.matches),
                    classes,
                    megabytes(result.peak),
                ]
            )
        head = ["", "median s", "min..max s", "CPU s", "urnscan takes of it", "matches", "classes", "peak MB"]
        left_out = [f"Left out, as they would take too long: {', '.join(self.left_out)}.", ""] if self.left_out else []
        return [f"## {self.title}", "", *table(head, rows), *left_out]

    def json(self) -> dict[str, Any]:
        """Section of the result as plain data, with every run."""
        return {
            "corpus": self.corpus.kind,
            "octets": self.corpus.octets,
            "files": self.corpus.files,
            "left_out": self.left_out,
            "results": [record(result) for result in self.results],
        }


def record(result: Result) -> dict[str, Any]:
    """Convert a result to plain data."""
    return {
        "name": result.name,
        "command": [[_nameless(str(word)) for word in stage] for stage in result.contender.stages],
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_octets": result.peak,
        "matches": result.found.matches,
        "classes": result.found.classes,
        "failure": result.failure or None,
    }


def _nameless(word: str) -> str:
    """Drop the folders of this machine from a word of a command."""
    return Path(word).name if word.startswith("/") else word


class Target(NamedTuple):
    """A goal: a limit for the time of a contender, or for its ratio to another on the same corpus."""

    text: str
    kind: str
    octets: int | None
    """Size of the corpus; None: any."""
    of: str
    to: str | None
    most: float | None = None
    least: float | None = None


TARGETS = [
    Target("dense, whole job", "dense", 10**9, WHOLE_JOB, "rg -oai | sort | uniq -c", most=0.35),
    Target("sparse, whole job", "sparse", 4 * 10**9, WHOLE_JOB, "rg -oai", most=0.3),
    Target("100,000 small files, whole job", "many", None, WHOLE_JOB, "rg -oai", most=2.0),
    Target("dense, one worker", "dense", 10**9, "urnscan -j 1", "urnscan -j 2", least=1.8),
    Target("sparse, one worker", "sparse", 4 * 10**9, "urnscan -j 1", "urnscan -j 2", least=1.8),
    Target("one small file, start to first output", "small", None, "urnscan, printing", None, most=0.6),
]


def targets(measured: Sequence[Measured]) -> list[list[str]]:
    """Make a row for each target: its name, the limit, the value, whether it is reached."""
    rows = []
    for target in TARGETS:
        should = f"at most {target.most}" if target.most else f"at least {target.least}"
        should += f" of `{target.to}`" if target.to else " s"
        row = [target.text, should]
        found = [each for each in measured if each.corpus.kind == target.kind]
        by_name = {}
        if found:
            largest = max(found, key=lambda each: each.corpus.octets)
            by_name = {result.name: result.median for result in largest.results if result.seconds}
        if target.of not in by_name or (target.to and target.to not in by_name):
            rows.append([*row, NO_NUMBER, "not measured"])
            continue
        value = by_name[target.of] / (by_name[target.to] if target.to else 1)
        reached = value <= target.most if target.most else value >= (target.least or 0)
        told = "reached" if reached else "**not reached**"
        if target.octets and largest.corpus.octets < target.octets:
            told += f", but at {describe(largest.corpus.octets)} instead of {describe(target.octets)}"
        rows.append([*row, f"{value:.2f}", told])
    return rows


def keep(folder: Path, lines: Sequence[str], data: dict[str, Any]) -> None:
    """Write results.md and results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    head = {"title": lines[0].removeprefix("# "), "command": lines[2].strip("`")}
    (folder / "results.json").write_text(json.dumps(head | data, indent=1) + "\n", encoding="utf-8")


def tell(lines: Sequence[str], name: str | None) -> None:
    """Print the result; keep it if a name is given."""
    print("\n".join(lines))
    if name:
        RUNS.mkdir(exist_ok=True)
        (RUNS / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
