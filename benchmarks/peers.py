"""Contenders for a text: urnscan and the tools that people use instead.

Tools that are not installed are left out and named, never replaced.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from corpora import Corpus
from in_python import PATTERN
from measurement import Contender, count_lines, count_nothing, count_numbers, count_uniq, summary
from targets import JOB, ONE, TWO

__all__ = ["PRINTERS", "TOOLS", "URNSCAN", "contenders", "missing", "of_small", "urnscan", "versions"]

PRINTERS = {
    "rg": ["rg", "-oai", "--no-filename", "--no-ignore", "--hidden"],
    "ugrep": ["ugrep", "-roaih", "-P"],  # its own engine takes 1.2 to 2.5 times as long for this pattern
    "grep": ["grep", "-roaih", "-P"],
}
"""Commands that print each match on a line, with the options by which they read all that urnscan reads."""

_PRINTED = {"rg": "rg -oai", "ugrep": "ugrep -oai -P", "grep": "grep -oai -P"}
_IN_PYTHON = {
    "regex": ("regex", "regex + dict"),
    "re2": ("google-re2", "re2 + dict"),
    "duckdb": ("duckdb", "DuckDB, extract + GROUP BY"),
    "polars": ("polars", "Polars, extract + group_by"),
}

TOOLS = ["variants", "cat", *PRINTERS, *_IN_PYTHON]
"""Contenders in addition to the whole job: urnscan with other options (`variants`), and other tools."""

URNSCAN = shutil.which("urnscan", path=str(Path(sys.executable).parent)) or "urnscan"
_COUNTED = summary("occurrence", "class")


def missing() -> list[str]:
    """Tools that are not installed."""
    return [
        tool
        for tool in TOOLS
        if (tool in PRINTERS and not shutil.which(tool)) or (tool in _IN_PYTHON and not importlib.util.find_spec(tool))
    ]


def versions() -> dict[str, str]:
    """Versions of urnscan and of the installed tools."""
    found = {"urnscan": importlib.metadata.version("urnscan")}
    for tool in TOOLS:
        if tool in PRINTERS and shutil.which(tool):
            output = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
            found[tool] = output.splitlines()[0].removeprefix(f"{tool} ")
        elif tool in _IN_PYTHON and importlib.util.find_spec(tool):
            found[tool] = importlib.metadata.version(_IN_PYTHON[tool][0])
    return found


def urnscan(name: str, *words: object) -> Contender:
    """An urnscan command whose last line has occurrences and classes; it ends with 1 if inputs fail."""
    return Contender(name, [[URNSCAN, *words, "--force"]], _COUNTED, statuses=(0, 1))


def contenders(corpus: Corpus, work: Path, tools: Collection[str]) -> list[Contender]:
    """Contenders for a corpus, the whole job first. `work` is the folder for outputs."""
    text = corpus.path
    job = (text, "-o", work / "urns.parquet")
    found = [urnscan(JOB, *job)]
    if "variants" in tools:
        found += [
            urnscan(ONE, *job, "-j", "1"),
            urnscan(TWO, *job, "-j", "2"),
            urnscan("urnscan --equivalence namespace", *job, "--equivalence", "namespace"),
            urnscan("urnscan --recover all", *job, "--recover", "all"),
        ]
        if text.is_file():
            found.append(_in_python("kernel", "urnscan's kernel alone, -j 1", text))
    if "cat" in tools:
        cat: list[list[object]] = [["cat", text]]
        if text.is_dir():
            cat = [["find", "-H", text, "-type", "f", "-print0"], ["xargs", "-0", "cat"]]
        found.append(
            Contender("cat", [*cat[:-1], ["sh", "-c", '"$@" > /dev/null', "sh", *cat[-1]]], count_nothing, "cat")
        )
    for tool, words in PRINTERS.items():
        if tool in tools:
            printer = [*words, PATTERN, text]
            name = _PRINTED[tool]
            found += [
                Contender(name, [printer], count_lines, tool),
                Contender(f"{name} | sort | uniq -c", [printer, ["sort"], ["uniq", "-c"]], count_uniq, tool),
            ]
    return found + [_in_python(tool, name, text) for tool, (_, name) in _IN_PYTHON.items() if tool in tools]


def _in_python(tool: str, name: str, text: Path) -> Contender:
    script = Path(__file__).with_name("in_python.py")
    return Contender(
        name, [[sys.executable, script, tool, text]], count_numbers, "urnscan" if tool == "kernel" else tool
    )


def of_small(corpus: Corpus, work: Path, tools: Collection[str]) -> list[Contender]:
    """Contenders for one small file: matches are printed, and urnscan writes a table, too."""
    text = corpus.path
    return [
        Contender("urnscan, print", [[URNSCAN, text]], count_lines),
        urnscan(JOB, text, "-o", work / "urns.parquet"),
        *(
            Contender(_PRINTED[tool], [[*PRINTERS[tool], PATTERN, text]], count_lines, tool)
            for tool in PRINTERS
            if tool in tools
        ),
    ]
