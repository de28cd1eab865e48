"""Fill in the numbers of docs/performance.md from the newest results of benchmarks/: `.venv/bin/python docs/make_performance.py`."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
RUNS = ROOT / "benchmarks" / "runs"

BLOCK = re.compile(r"(<!-- (\w+), by docs/make_performance.py -->\n\n).*?(<!-- end -->)", re.DOTALL)
WHOLE_JOB = "urnscan, whole job"
BESIDE = {
    "rg -oai": "ripgrep",
    "rg -oai | sort | uniq -c": "ripgrep, sort, uniq",
    "grep -oai -P | sort | uniq -c": "grep, sort, uniq",
    "DuckDB, extract + GROUP BY": "DuckDB",
    "Polars, extract + group_by": "Polars",
    "cat": "cat",
}
"""Contenders that are compared with urnscan, and their names in the table."""
OPTIONS = ("-j 1", "--equivalence namespace", "--recover all")


def filled(page: str) -> str:
    """The page with its blocks replaced by the newest numbers."""
    blocks = {
        "runs": _runs,
        "pictures": _pictures,
        "options": _options,
        "targets": _targets,
        "memory": _memory,
        "forms": lambda: _of_readme("Forms"),
        "dedup": lambda: _of_readme("Deduplication"),
    }
    return BLOCK.sub(lambda match: match[1] + "\n".join(blocks[match[2]]()) + "\n\n" + match[3], page)


def _results() -> dict[str, dict[str, Any]]:
    """Results by name of the run, newest first."""
    files = sorted(RUNS.glob("*/results.json"), reverse=True)
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _largest() -> Iterator[tuple[str, dict[str, Any]]]:
    """For each kind of text: the newest run that has it, and its results on the largest text."""
    for kind in ("dense", "medium", "sparse", "many", "texts"):
        for run, told in _results().items():
            if found := [each for each in told["measured"] if each.get("corpus") == kind]:
                yield run, max(found, key=lambda each: int(each["octets"]))
                break


def _runs() -> list[str]:
    rows = []
    for _, text in _largest():
        medians = _medians(text)
        (ours,) = (each for each in text["results"] if each["name"] == WHOLE_JOB)
        took = medians[WHOLE_JOB]
        ratios = [f"{took / medians[name]:.2f}" if name in medians else "-" for name in BESIDE]
        rows.append([_named(text), f"{took:.2f} s", *ratios, f"{ours['matches']:,}", _mb(ours["peak_octets"])])
    head = ["text", "whole job", *(f"of {name}" for name in BESIDE.values()), "URNs", "peak memory"]
    runs = " and ".join(f"`benchmarks/runs/{run}/`" for run in sorted({run for run, _ in _largest()}))
    return [*_table(head, rows), "", f"All other tools, sizes and counts, and the machine, are in {runs}."]


def _options() -> list[str]:
    """Time with some options, divided by the time without."""
    rows = []
    for _, text in _largest():
        medians = _medians(text)
        took = [medians.get(f"urnscan {option}") for option in OPTIONS]
        rows.append([_named(text), *(f"{each / medians[WHOLE_JOB]:.2f}" if each else "-" for each in took)])
    return _table(["text", *(f"with `{option}`" for option in OPTIONS)], rows)


def _medians(text: dict[str, Any]) -> dict[str, float]:
    return {each["name"]: statistics.median(each["seconds"]) for each in text["results"] if each["seconds"]}


def _named(text: dict[str, Any]) -> str:
    size = _size(text["octets"])
    return f"{size} {text['corpus']}" if text["files"] == 1 else f"{text['corpus']}: {text['files']:,} files, {size}"


def _pictures() -> list[str]:
    lines = []
    for run, text in _largest():
        kind = text["corpus"]
        for what, alt in (("time", "time of each command against the size"), ("memory", "its peak memory")):
            if (RUNS / run / f"{what}-{kind}.svg").exists():
                lines.append(f"![{kind} text: {alt}](../benchmarks/runs/{run}/{what}-{kind}.svg)\n")
    return lines[:-1] + [line.rstrip() for line in lines[-1:]]


def _targets() -> list[str]:
    """Targets, each from the newest run that measured it."""
    rows: dict[str, Sequence[str]] = {}
    for told in _results().values():
        for each in told.get("targets", []):
            row = (each["target"], each["should_be"].replace("|", "\\|"), each["is"], each["verdict"])
            if row[0] not in rows or rows[row[0]][2] == "-":
                rows[row[0]] = row
    return _table(["target", "should be", "is", ""], rows.values(), left=2)


def _memory() -> list[str]:
    rows, pictures = [], []
    for run, told in reversed(_results().items()):
        if told["measured"] and "source" in told["measured"][0]:
            pictures.append(f"![peak memory against the size](../benchmarks/runs/{run}/memory.svg)")
            for each in told["measured"]:
                found = [f"{each[name]:,}" for name in ("matches", "classes")]
                rows.append([_size(each["octets"]), *found, _mb(each["peak_octets"])])
    return [*_table(["dense text", "occurrences", "classes", "peak memory"], rows), "", pictures[0]]


def _of_readme(heading: str) -> list[str]:
    """The table in a section of benchmarks/README.md."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    rule = "|".join(["---"] * left + ["--:"] * (len(head) - left))
    first, *others = ("| " + " | ".join(row) + " |" for row in (head, *rows))
    return [first, f"|{rule}|", *others]


def _mb(octets: int) -> str:
    return f"{octets / 1e6:,.0f} MB"


def _size(octets: int) -> str:
    return f"{octets / 1e9:.0f} GB" if octets >= 10**9 else f"{octets / 1e6:.0f} MB"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
