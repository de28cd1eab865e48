"""Fill in the numbers of docs/performance.md from the newest results of benchmarks/: `.venv/bin/python docs/make_performance.py`."""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
RUNS = ROOT / "benchmarks" / "runs"

sys.path.append(str(ROOT / "benchmarks"))

import cores  # noqa: E402 (of benchmarks/)
import targets  # noqa: E402
from forms import FORMS  # noqa: E402

BLOCK = re.compile(r"(<!-- (\w+), by docs/make_performance.py -->\n\n).*?(<!-- end -->)", re.DOTALL)
WHOLE_JOB = targets.JOB
BESIDE = {
    "rg -oai": "ripgrep",
    "rg -oai | sort | uniq -c": "ripgrep, sort, uniq",
    "grep -oai -P": "grep",
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
        "cores": _cores,
        "memory": _memory,
        "forms": _forms,
        "dedup": _dedup,
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
                yield run, max(found, key=lambda each: int(each["byte_count"]))
                break


def _runs() -> list[str]:
    rows = []
    for _, text in _largest():
        by_name = {each["name"]: each for each in text["results"] if each["seconds"]}
        ours = by_name[WHOLE_JOB]
        ratios = [_ratio(ours, by_name[name]) if name in by_name else "-" for name in BESIDE]
        counts = [f"{ours['matches']:,}", _mb(ours["peak_bytes"])]
        rows.append([_named(text), f"{statistics.median(ours['seconds']):.2f} s", _cpu(ours), *ratios, *counts])
    head = ["text", "whole job", "CPU", *(f"of {name}" for name in BESIDE.values()), "URNs", "peak memory"]
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
    size = _size(text["byte_count"])
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
    rows = targets.rows(told["measured"] for told in _results().values())
    return _table(targets.HEAD, rows, left=2)


def _cores() -> list[str]:
    """Stages on one core and on two, and what more cores would give, of the newest run that has them."""
    return cores.tables(next((told["cores"] for told in _results().values() if "cores" in told), []))[:-1]


def _memory() -> list[str]:
    """Peak memory by size of the text, of all runs; the picture of the newest with several sizes."""
    rows, pictures = [], []
    for run, told in reversed(_results().items()):
        if told["measured"] and "source" in told["measured"][0]:
            if len(told["measured"]) > 1:
                pictures.append(f"![peak memory against the size](../benchmarks/runs/{run}/memory.svg)")
            for each in told["measured"]:
                (result,) = each["results"]
                found = [f"{result[name]:,}" for name in ("matches", "classes")]
                cpu = f"{min(result['cpu_seconds']) / each['byte_count'] * 1e9:.1f} s"
                disk = result["temporary_bytes"]
                of_input = "-" if disk is None else f"{disk / each['byte_count']:.2f}"
                rows.append([_size(each["byte_count"]), *found, _mb(result["peak_bytes"]), cpu, of_input])
    head = ["dense text", "occurrences", "classes", "peak memory", "CPU time a GB", "temporary disk of the input"]
    return [*_table(head, rows), "", pictures[-1]]


def _newest(fits: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """The texts that fit, of the newest run that has one."""
    of_runs = ([each for each in told["measured"] if fits(each)] for told in _results().values())
    return next(found for found in of_runs if found)


def _forms() -> list[str]:
    """Each form, with the ratios to other tools by time; where CPU time was measured, it stands behind."""
    rows = []
    for form in _newest(lambda each: each["corpus"] in FORMS):
        by_name = {each["name"]: each for each in form["results"] if each["seconds"]}
        ours = by_name.pop(WHOLE_JOB)
        others = "; ".join(f"{_ratio(ours, each)} of `{name}`" for name, each in by_name.items())
        rows.append(
            [
                form["about"],
                _size(form["byte_count"]),
                f"{statistics.median(ours['seconds']):.2f} s",
                _cpu(ours),
                others,
            ]
        )
    head, rule, *lines = _table(["form", "of text", "time", "CPU", "of others, by time (by CPU)"], rows)
    return [head, rule.removesuffix("--:|") + "---|", *lines]


def _cpu(result: dict[str, Any]) -> str:
    return f"{min(result['cpu_seconds']):.2f} s" if result["cpu_seconds"] else "-"


def _ratio(ours: dict[str, Any], other: dict[str, Any]) -> str:
    """Ratio of the time, and in brackets that of the CPU time, if it was measured."""
    took = f"{statistics.median(ours['seconds']) / statistics.median(other['seconds']):.2f}"
    if not (ours["cpu_seconds"] and other["cpu_seconds"]):
        return took
    return f"{took} ({min(ours['cpu_seconds']) / min(other['cpu_seconds']):.2f})"


def _dedup() -> list[str]:
    """Seconds for each dump, of urnscan and of others."""
    names = {
        targets.DEDUP: "",
        f"{targets.DEDUP} --any-urn": "",
        f"{targets.DEDUP} -j 1": "",
        "pymarc + pandas": "script with ",
    }
    names |= {"yaz-marcdump": "", "lxml, parsing alone": ""}
    rows = []
    for dump in _newest(lambda each: each["corpus"] in ("marc", "marcxml", "many marc")):
        by_name = {each["name"]: each for each in dump["results"] if each["seconds"]}
        told = [f"{_took(by_name[name])}" if name in by_name else "-" for name in names]
        peak = max(each["peak_bytes"] for name, each in by_name.items() if name.startswith("urnscan"))
        form = "MARCXML" if dump["corpus"] == "marcxml" else "MARC 21"
        rows.append([f"{dump['about']}, {form}", *told, _mb(peak)])
    head = ["dump", *(f"{before}`{name}`" for name, before in names.items()), "peak memory"]
    return _table(head, rows)


def _took(result: dict[str, Any]) -> str:
    """Median of the seconds, and CPU seconds if they were measured."""
    seconds = f"{statistics.median(result['seconds']):.1f} s"
    return f"{seconds} ({min(result['cpu_seconds']):.1f} s CPU)" if result["cpu_seconds"] else seconds


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    rule = "|".join(["---"] * left + ["--:"] * (len(head) - left))
    lines = (" | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in row) for row in (head, *rows))
    first, *others = (f"| {line} |" for line in lines)
    return [first, f"|{rule}|", *others]


def _mb(byte_count: int) -> str:
    return f"{byte_count / 1e6:,.0f} MB"


def _size(byte_count: int) -> str:
    return f"{byte_count / 1e9:.0f} GB" if byte_count >= 10**9 else f"{byte_count / 1e6:.0f} MB"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
