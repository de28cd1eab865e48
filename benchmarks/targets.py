"""Targets of speed and memory, as users set them, and what the runs that are kept have reached of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

INPUT = "the input"
SMALLEST = "that on the smallest text"
"""Divisors that are no contenders: the bytes of the text; the value on the smallest text, both for a GB."""

JOB = "urnscan, whole job"
"""Scanning, canonical forms, classes, Parquet. Ratios refer to it."""
ONE, TWO = "urnscan -j 1", "urnscan -j 2"
FASTWARC = "fastwarc + regex"
DUCKDB = "DuckDB regexp_extract_all"
DEDUP = "urnscan dedup"


class Target(NamedTuple):
    """A limit for a value of a contender, or for its ratio to another on the same text."""

    text: str
    corpus: str
    by: str
    """The value that counts, of `VALUES`."""
    of: str
    to: str | None = None
    """The divisor: another contender, `INPUT` or `SMALLEST`."""
    most: float | None = None
    least: float | None = None
    byte_count: float = 0
    """Least size of the text."""

    @property
    def limit(self) -> str:
        """The limit in words, such as: time at most 0.5 of `cat`."""
        value = f"{self.by} a GB" if self.to == SMALLEST else self.by
        limit = f"{value} at most {self.most:g}" if self.most else f"{value} at least {self.least:g}"
        if self.to:
            return f"{limit} of {self.to if self.to in (INPUT, SMALLEST) else f'`{self.to}`'}"
        return f"{limit} {UNITS[self.by]}"


TARGETS = [
    Target("sparse", "sparse", "time", JOB, "grep -oai -P", most=1, byte_count=4e9),
    Target("sparse", "sparse", "time", JOB, "cat", most=3, byte_count=4e9),
    Target("dense", "dense", "time", JOB, "rg -oai | sort | uniq -c", most=0.5, byte_count=1e9),
    Target("dense", "dense", "time", JOB, "DuckDB, extract + GROUP BY", most=1, byte_count=1e9),
    Target("dense", "dense", "time", JOB, "Polars, extract + group_by", most=1, byte_count=1e9),
    Target("100,000 small files", "many", "time", JOB, "rg -oai", most=2, byte_count=1e8),
    Target("RFCs, 4,876 files", "texts", "time", JOB, "rg -oai", most=2, byte_count=2e8),
    Target("a second worker, dense", "dense", "time", ONE, TWO, least=1.8, byte_count=1e9),
    Target("a second worker, sparse", "sparse", "time", ONE, TWO, least=1.8, byte_count=4e9),
    Target("a second worker, four WARC files", "warcs", "time", ONE, TWO, least=1.8, byte_count=6e8),
    Target("WARC", "warc.gz", "CPU", JOB, FASTWARC, most=1, byte_count=6e8),
    Target("WARC", "warc.gz", "CPU", JOB, "igzip -dc", most=2.2, byte_count=6e8),
    Target("WARC, text alone (WET)", "wet.warc.gz", "CPU", JOB, FASTWARC, most=1, byte_count=3e8),
    Target("WARC, records of all kinds", "all.warc.gz", "CPU", JOB, FASTWARC, most=1, byte_count=6e8),
    Target("WARC in Zstandard", "warc.zst", "CPU", JOB, FASTWARC, most=1, byte_count=6e8),
    Target("gzip, one thread", "gz", "time", ONE, "isal alone, no search", most=1.1, byte_count=2e9),
    Target("Parquet, a string column", "parquet", "CPU", JOB, DUCKDB, most=1.2, byte_count=1e9),
    Target("JSON Lines, a column", "jsonl", "CPU", JOB, DUCKDB, most=1.5, byte_count=1e9),
    Target("tar, 25,000 members", "small.tar", "CPU", JOB, "tar xOf | rg", most=1, byte_count=2e8),
    Target("zip, 25,000 members", "small.zip", "CPU", JOB, "unzip -p | rg", most=0.5, byte_count=2e8),
    Target("growth, dense, all different", "all different", "CPU", JOB, SMALLEST, most=1.1, byte_count=8.8e9),
    Target("growth, dense, all different", "all different", "temporary disk", JOB, INPUT, most=1.1, byte_count=8.8e9),
    Target("one small file, print", "small", "time", "urnscan, print", most=0.25),
    Target("one small file, table", "small", "time", JOB, most=0.3),
    Target("dedup, MARC 21, one core", "marc", "CPU", f"{DEDUP} -j 1", "yaz-marcdump", most=2, byte_count=2.9e8),
    Target(
        "dedup, MARCXML, one core", "marcxml", "CPU", f"{DEDUP} -j 1", "lxml, parsing alone", most=1.2, byte_count=2.9e8
    ),
    Target("dedup, 10 million records", "many marc", "memory", DEDUP, most=1500, byte_count=5.9e9),
]
"""All targets. Texts and contenders have the names that bench.py, forms.py, memory.py and dedup.py give them."""

VALUES: dict[str, Callable[[dict[str, Any]], float]] = {
    "time": lambda result: statistics.median(result["seconds"]),
    "CPU": lambda result: min(result["cpu_seconds"]),
    "memory": lambda result: result["peak_bytes"] / 1e6,
    "temporary disk": lambda result: result["temporary_bytes"],
}
UNITS = {"time": "s", "CPU": "s", "memory": "MB"}
_OTHER = {"time": "CPU", "CPU": "time"}

HEAD = ["target", "should be", "is", "the other", ""]


def rows(runs: Iterable[Sequence[dict[str, Any]]]) -> list[list[str]]:
    """Make a row for each target, from the first of the runs that measured it; a run is a list of measured texts."""
    runs = list(runs)
    return [next(filter(None, (_row(target, run) for run in runs)), _not_measured(target)) for target in TARGETS]


def _not_measured(target: Target) -> list[str]:
    return [target.text, target.limit, "-", "-", "not measured"]


def _row(target: Target, run: Sequence[dict[str, Any]]) -> list[str] | None:
    """Row of a target; None if the run did not measure it."""
    texts = sorted((each for each in run if each["corpus"] == target.corpus), key=lambda each: int(each["byte_count"]))
    if not texts or (value := _value(target, target.by, texts)) is None:
        return None
    reached = value <= target.most if target.most else value >= (target.least or 0)
    result = "reached" if reached else "**not reached**"
    if (byte_count := texts[-1]["byte_count"]) < target.byte_count:
        result += f", but at {byte_count / 1e6:,.0f} MB instead of {target.byte_count / 1e6:,.0f} MB"
    other = _OTHER.get(target.by)
    other_value = _value(target, other, texts) if other else None
    return [target.text, target.limit, _text(value), f"{other} {_text(other_value)}" if other_value else "-", result]


def _text(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _value(target: Target, by: str, texts: Sequence[dict[str, Any]]) -> float | None:
    """Value of a target on the largest of the texts; None if it was not measured."""
    found = _of(target.of, by, texts[-1])
    other: float | None = 1.0
    if target.to == INPUT:
        other = texts[-1]["byte_count"]
    elif target.to == SMALLEST:
        first = _of(target.of, by, texts[0])
        other = first / texts[0]["byte_count"] * texts[-1]["byte_count"] if first and len(texts) > 1 else None
    elif target.to:
        other = _of(target.to, by, texts[-1])
    return found / other if found and other else None


def _of(name: str, by: str, text: dict[str, Any]) -> float | None:
    """Value of a contender on a text; None if it failed, or was not measured."""
    for result in text["results"]:
        if result["name"] == name and result["seconds"] and (by != "CPU" or result["cpu_seconds"]):
            return VALUES[by](result)
    return None
