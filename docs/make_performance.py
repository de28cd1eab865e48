"""Fill in the numbers of docs/performance.md and benchmarks/README.md: `.venv/bin/python docs/make_performance.py`.

The numbers are the newest results in benchmarks/runs/.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "performance.md", ROOT / "benchmarks" / "README.md")
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
    "DuckDB, extract + GROUP BY": "DuckDB",
    "Polars, extract + group_by": "Polars",
}
"""Contenders that are compared with urnscan, and their names in the table."""
NO_SEARCH = ("isal alone, no search", "igzip -dc")
"""Contenders that only decompress."""
OPTIONS = ("--equivalence namespace", "--recover all")


def filled(page: str) -> str:
    """The page with its blocks replaced by the newest numbers."""
    blocks = {
        "runs": _runs,
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
        for run, results in _results().items():
            if found := [each for each in results["measured"] if each.get("corpus") == kind]:
                yield run, max(found, key=lambda each: int(each["byte_count"]))
                break


def _runs() -> list[str]:
    rows = []
    for _, text in _largest():
        by_name = {each["name"]: each for each in text["results"] if each["seconds"]}
        ours = by_name[WHOLE_JOB]
        ratios = [_ratio(ours, by_name[name]) if name in by_name else "-" for name in BESIDE]
        took, peak = f"{statistics.median(ours['seconds']):.2f}", f"{ours['peak_bytes'] / 1e6:,.0f}"
        rows.append([_named(text), f"{ours['matches']:,}", took, peak, *ratios])
    head = ["text", "URNs", "seconds", "MB of memory", *(f"of {name}" for name in BESIDE.values())]
    return _table(head, rows)


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


def _targets() -> list[str]:
    """Targets, each from the newest run that measured it."""
    rows = targets.rows(each["measured"] for each in _results().values())
    return _table(targets.HEAD, rows, left=2)


def _cores() -> list[str]:
    """What more cores would give, of the newest run that estimates it."""
    texts = next(each["cores"] for each in _results().values() if "cores" in each)
    rows = []
    for text in texts:
        best, worst = cores.estimate_rows(text)
        measured, estimated = best[2:4], zip(best[4:], worst[4:], strict=True)
        ranges = (least if least == most else f"{least.removesuffix(' s')} to {most}" for least, most in estimated)
        rows.append([text["corpus"], *measured, *ranges])
    return _table(["text", *cores.ESTIMATE_HEAD[2:]], rows)


def _memory() -> list[str]:
    """Peak memory on the largest text of each run; the picture of the newest run with several sizes."""
    rows, pictures = [], []
    for run, results in reversed(_results().items()):
        if results["measured"] and "source" in results["measured"][0]:
            if len(results["measured"]) > 1:
                pictures.append(f"![peak memory against the size](../benchmarks/runs/{run}/memory.svg)")
            text = max(results["measured"], key=lambda each: int(each["byte_count"]))
            (result,) = text["results"]
            found = [f"{result[name]:,}" for name in ("matches", "classes")]
            disk = result["temporary_bytes"]
            taken = "-" if disk is None else _size(disk)
            rows.append([_size(text["byte_count"]), *found, _mb(result["peak_bytes"]), taken])
    head = ["dense text", "occurrences", "classes", "memory", "temporary files"]
    return [*_table(head, rows), "", pictures[-1]]


def _newest(fits: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """The texts that fit, of the newest run that has one."""
    of_runs = ([each for each in results["measured"] if fits(each)] for results in _results().values())
    return next(found for found in of_runs if found)


def _forms() -> list[str]:
    """Each form that others search, too: the text that is read in a second, and the ratio to the fastest of them."""
    rows = []
    for form in _newest(lambda each: each["corpus"] in FORMS):
        by_name = {each["name"]: each for each in form["results"] if each["seconds"]}
        ours = by_name.pop(WHOLE_JOB)
        others = [each for name, each in by_name.items() if not name.startswith("urnscan") and name not in NO_SEARCH]
        if others:
            seconds, fastest = min((statistics.median(each["seconds"]), each["name"]) for each in others)
            took = statistics.median(ours["seconds"])
            speed = f"{form['byte_count'] / took / 1e6:,.0f}"
            rows.append([form["about"], speed, f"{took / seconds:.2f} of `{fastest}`"])
    head, rule, *lines = _table(["form", "MB of text in a second", "of the fastest other"], rows)
    return [head, rule.removesuffix("--:|") + "---|", *lines]


def _ratio(ours: dict[str, Any], other: dict[str, Any]) -> str:
    """Ratio of the time, and in brackets that of the CPU time, if it was measured."""
    took = f"{statistics.median(ours['seconds']) / statistics.median(other['seconds']):.2f}"
    if not (ours["cpu_seconds"] and other["cpu_seconds"]):
        return took
    return f"{took} ({min(ours['cpu_seconds']) / min(other['cpu_seconds']):.2f})"


def _dedup() -> list[str]:
    """Seconds for each dump, of urnscan and of a script, and the memory of urnscan."""
    script = "pymarc + pandas"
    rows = []
    for dump in _newest(lambda each: each["corpus"] in ("marc", "marcxml", "many marc")):
        by_name = {each["name"]: each for each in dump["results"] if each["seconds"]}
        ours = next(each for name, each in by_name.items() if name.startswith(targets.DEDUP))
        form = "MARCXML" if dump["corpus"] == "marcxml" else "MARC 21"
        took = [_took(ours), _took(by_name[script]) if script in by_name else "-", _mb(ours["peak_bytes"])]
        rows.append([f"{dump['about']}, {form}", *took])
    return _table(["dump", "urnscan", f"script with {script}", "memory"], rows)


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
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
