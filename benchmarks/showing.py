"""What was measured, as tables in Markdown and as JSON; what all benchmarks print, said once."""

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
from measuring import Result
from peers import WHOLE_JOB

RUNS = Path(__file__).parent / "runs"
"""Where results are kept."""

NO_NUMBER = "-"


def machine() -> str:
    """What of the machine a result is named by."""
    return f"{time.strftime('%Y-%m-%d')}-{platform.machine()}-{os.cpu_count()}-cores"


def parser(doc: str | None, runs: int, saved: str) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("folder", type=lambda text: Path(text).absolute(), help="where the texts are made and kept")
    found.add_argument("--runs", type=int, default=runs, metavar="N", help=f"runs of each (default: {runs})")
    found.add_argument("--save", metavar="NAME", help=f"keep the result as {saved}")
    return found


def size(text: str) -> int:
    """A size, as argparse wants it."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def sizes(text: str) -> list[int]:
    """Sizes with commas between them, as argparse wants them, from small to large."""
    return sorted(size(each) for each in text.split(","))


def choice(among: Sequence[str]) -> Callable[[str], list[str]]:
    """Names with commas between them, as argparse wants them, of those that there are."""

    def chosen(text: str) -> list[str]:
        wrong = [name for name in text.split(",") if name not in among]
        if wrong:
            raise argparse.ArgumentTypeError(f"{', '.join(wrong)}: none of {', '.join(among)}")
        return text.split(",")

    return chosen


def heading(title: str) -> list[str]:
    """The first lines of a result: when, where, by which command."""
    words = [Path(sys.argv[0]).name, *("FOLDER" if Path(word).is_dir() else word for word in sys.argv[1:])]
    day, cores = time.strftime("%Y-%m-%d"), os.cpu_count()
    return [
        f"# {title}: {day}, {platform.machine()}, {cores} cores, Python {platform.python_version()}",
        "",
        f"`python benchmarks/{' '.join(words)}`",
        "",
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """A table; its first columns, `left` of them, are text, the others numbers."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, *rows)]
    return [lines[0], f"|{'|'.join(rule)}|", *lines[1:], ""]


def seconds(value: float) -> str:
    """Seconds, to hundredths or, below one, thousandths."""
    return f"{value:.{3 if value < 1 else 2}f}"


def spread(result: Result) -> list[str]:
    """The median and the range of its seconds."""
    return [seconds(result.median), f"{seconds(min(result.seconds))}..{seconds(max(result.seconds))}"]


def count(found: int | None, expected: int | None, *, told: bool = True) -> str:
    """A count, marked where it is not what is expected."""
    if found is None:
        return NO_NUMBER
    return f"{found:,}" if found == expected or not told else f"≠ {found:,}"


def ratio(first: Result, other: Result) -> str:
    """What the first takes of the other's time."""
    return f"{first.median / other.median:.2f}" if first.seconds else NO_NUMBER


def failed(result: Result, numbers: int) -> list[str]:
    """The row of one that failed, without so many numbers; empty where it did not."""
    return [f"{result.name}: failed: {result.failure}", *[NO_NUMBER] * numbers] if result.failure else []


def megabytes(octets: float) -> str:
    """Octets in MB."""
    return f"{octets / 1e6:,.0f}"


def rows_of(results: Sequence[Result], rate: Callable[[float], str]) -> list[list[str]]:
    """Rows of contenders that need no more than a rate, which is written for the median: what each took, found and held."""
    first = results[0]
    return [
        failed(result, 6)
        or [
            result.name,
            *spread(result),
            rate(result.median),
            ratio(first, result),
            count(result.found.matches, first.found.matches),
            megabytes(result.peak),
        ]
        for result in results
    ]


class Measured(NamedTuple):
    """What was measured on a corpus."""

    corpus: Corpus
    results: list[Result]
    left_out: list[str]
    """Who would have taken too long."""

    @property
    def title(self) -> str:
        """What it was measured on."""
        corpus = self.corpus
        if corpus.path.is_dir():
            return f"{corpus.kind}, {corpus.path.name}: {corpus.files:,} files, {corpus.octets:,} octets"
        return f"{corpus.kind}, {describe(corpus.octets)}: {corpus.octets:,} octets"

    def rows(self) -> list[str]:
        """Its section."""
        reference = self.results[0]
        rows = []
        for result in self.results:
            # `uniq` counts spellings, which nobody expects to be as many as classes
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
        """The same as plain data, with every run."""
        return {
            "corpus": self.corpus.kind,
            "octets": self.corpus.octets,
            "files": self.corpus.files,
            "left_out": self.left_out,
            "results": [record(result) for result in self.results],
        }


def record(result: Result) -> dict[str, Any]:
    """A result as plain data."""
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
    """A word of a command without the folders of this machine."""
    return Path(word).name if word.startswith("/") else word


class Target(NamedTuple):
    """What is to be reached: the time of one contender, or its ratio to that of another on the same corpus."""

    text: str
    kind: str
    octets: int | None
    """Of this size; None: whatever it has."""
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
    """A row for each target: what it is, on what it was measured, what it should be, what it is, whether it is reached."""
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
    """Print the result, and keep it under a name if there is one."""
    print("\n".join(lines))
    if name:
        RUNS.mkdir(exist_ok=True)
        (RUNS / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
