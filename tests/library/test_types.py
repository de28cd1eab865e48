"""The types of the functions: a type checker reports a value that an option does not have."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import get_args

import pytest

import urnscan
from urnscan.scanner.views import kinds

pytestmark = pytest.mark.full

MISTAKES = """
import pandas as pd
import urnscan
import urnscan.pandas
from urnscan.pandas import SeriesURN

urnscan.scan(".", syntax="rfc2142")  # wrong
urnscan.scan(".", equivalence="namespaces")  # wrong
urnscan.scan(".", recover="percents")  # wrong
urnscan.scan(".", recover=["percent", "quoted"])  # wrong
urnscan.parse("urn:a:b", "rfc2142")  # wrong
urnscan.find("urn:a:b", syntax="rfc2142")  # wrong
urnscan.canonical("urn:a:b", equivalence="namespaces")  # wrong
urnscan.explain("urn:a:b", syntax="rfc2142")  # wrong
urnscan.deduplicate(".", equivalence="namespaces")  # wrong
urnscan.scan_partial(".", recover="percents")  # wrong
urnscan.Options(syntax="rfc2142")  # wrong
SeriesURN(pd.Series(["urn:a:b"])).canonical(syntax="rfc2142")  # wrong

urnscan.scan(".", syntax="rfc8141", equivalence="namespace", recover=["percent", "wraps"])
urnscan.scan(".", recover="all")
for syntax in urnscan.SYNTAXES:
    urnscan.parse("urn:a:b", syntax)


def canonical(text: str, syntax: urnscan.SyntaxName, equivalence: urnscan.LevelName) -> str:
    return urnscan.canonical(text, syntax=syntax, equivalence=equivalence)


def recovered(*views: urnscan.ViewName) -> urnscan.Scan:
    return urnscan.scan(".", recover=views)
"""


def test_values_of_options(tmp_path):
    """mypy finds a wrong name before the program runs, and calls no right one wrong. Pyright finds the same lines."""
    (tmp_path / "program.py").write_text(MISTAKES)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    wrong = [number for number, line in enumerate(MISTAKES.split("\n"), 1) if line.endswith("# wrong")]
    found = re.findall(
        r"^program\.py:(\d+): error: .*\[arg-type|^program\.py:(\d+): error: List item", done.stdout, re.MULTILINE
    )
    assert sorted({int(one or other) for one, other in found}) == wrong, done.stdout
    assert f"Found {len(wrong)} errors in 1 file" in done.stdout


def test_names_are_those_of_the_values():
    """A type and the values that a run accepts are written in one place, or agree."""
    assert get_args(urnscan.SyntaxName) == tuple(urnscan.SYNTAXES)
    assert get_args(urnscan.LevelName) == tuple(urnscan.LEVELS)
    assert get_args(urnscan.ViewName) == (*kinds.KINDS, "all")
