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

RUNS = Path(__file__).parent / "runs"
"""Folder of the results that are kept."""

NO_NUMBER = "-"


def machine() -> str:
    """Name of a result: date, processor, cores."""
    return f"{time.strftime('%Y-%m-%d')}-{platform.machine()}-{os.cpu_count()}-cores"


def parser(doc: str | None, runs: int) -> argparse.ArgumentParser:
    """Parser with the options of all benchmarks."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("folder", type=lambda text: Path(text).absolute(), help="where the texts are made and kept")
    found.add_argument("--runs", type=int, default=runs, metavar="N", help=f"runs of each (default: {runs})")
    found.add_argument("--save", metavar="NAME", help="keep the result as benchmarks/runs/NAME/")
    return found


def place(arguments: argparse.Namespace, name: str) -> Path:
    """Folder for the result: of that name next to the texts, or with `--save` in runs/."""
    return RUNS / arguments.save if arguments.save else arguments.folder / name


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


def count(found: int | None, expected: int | None, *, marks: bool = True) -> str:
    """Write a count, marked if it is not the expected one."""
    if found is None:
        return NO_NUMBER
    return f"{found:,}" if found == expected or not marks else f"≠ {found:,}"


def ratios(first: Result, other: Result) -> list[str]:
    """Write time and CPU time of `first` divided by those of `other`."""
    if not first.seconds:
        return [NO_NUMBER] * 2
    return [f"{first.median / other.median:.2f}", f"{min(first.cpu_seconds) / max(min(other.cpu_seconds), 1e-3):.2f}"]


def failed(result: Result, numbers: int) -> list[str]:
    """Row of a result that failed, with so many empty cells; an empty list if it did not fail."""
    return [f"{result.name}: failed: {result.failure}", *[NO_NUMBER] * numbers] if result.failure else []


def megabytes(byte_count: float) -> str:
    """Write bytes in MB."""
    return f"{byte_count / 1e6:,.0f}"


class Measured(NamedTuple):
    """Results on a corpus."""

    corpus: Corpus
    results: list[Result]
    left_out: Sequence[str] = ()
    """Contenders that would have taken too long."""
    about: str = ""
    """A few words about the text."""

    @property
    def title(self) -> str:
        """Name and size of the corpus."""
        corpus = self.corpus
        if corpus.path.is_dir():
            return f"{corpus.kind}, {corpus.path.name}: {corpus.files:,} files, {corpus.byte_count:,} bytes"
        text = f"{corpus.kind}, {describe(corpus.byte_count)}: {corpus.byte_count:,} bytes"
        return f"{text}; {self.about}" if self.about else text

    def rows(self) -> list[str]:
        """Section of the result, as lines."""
        reference = self.results[0]
        of_all = (each.found.classes for each in self.results)
        expected = next((classes for classes in of_all if classes is not None), None)
        rows = []
        for result in self.results:
            # `uniq` counts spellings, which are more than classes
            classes = count(result.found.classes, expected, marks="uniq" not in result.name)
            rows.append(
                failed(result, 8)
                or [
                    result.name,
                    *spread(result),
                    seconds(min(result.cpu_seconds)),
                    *ratios(reference, result),
                    count(result.found.matches, reference.found.matches),
                    classes,
                    megabytes(result.peak),
                ]
            )
        head = [
            "",
            "median s",
            "min..max s",
            "CPU s",
            "first takes of it",
            "CPU of it",
            "matches",
            "classes",
            "peak MB",
        ]
        left_out = [f"Left out, as they would take too long: {', '.join(self.left_out)}.", ""] if self.left_out else []
        return [f"## {self.title}", "", *table(head, rows), *left_out]

    def json(self) -> dict[str, Any]:
        """Section of the result as plain data, with every run."""
        return {
            "corpus": self.corpus.kind,
            "byte_count": self.corpus.byte_count,
            "files": self.corpus.files,
            "about": self.about,
            "left_out": [*self.left_out],
            "results": [record(result) for result in self.results],
        }


def record(result: Result) -> dict[str, Any]:
    """Convert a result to plain data."""
    return {
        "name": result.name,
        "command": [[_nameless(str(word)) for word in stage] for stage in result.contender.stages],
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_bytes": result.peak,
        "matches": result.found.matches,
        "classes": result.found.classes,
        "failure": result.failure or None,
    }


def _nameless(word: str) -> str:
    """Drop the folders of this machine from a word of a command."""
    return Path(word).name if word.startswith("/") else word


def keep(folder: Path, lines: Sequence[str], data: dict[str, Any]) -> None:
    """Write results.md and results.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    head = {"title": lines[0].removeprefix("# "), "command": lines[2].strip("`")}
    (folder / "results.json").write_text(json.dumps(head | data, indent=1) + "\n", encoding="utf-8")
