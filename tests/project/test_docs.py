"""The pages of docs/ that are written by programs are what these write now, and tables that are not are those of the code."""

import ast
import functools
import re
from pathlib import Path

from tests.support.scripts import script
from urnscan.tables.column_meanings import column_meanings
from urnscan.tables.schemas import TABLES

ROOT = Path(__file__).parents[2]


def test_page_of_the_namespaces():
    """docs/reference/namespaces.md follows the table of rules; `.venv/bin/python docs/make_namespaces.py` writes it anew."""
    module = script("docs/make_namespaces.py")
    assert module.page() == module.PAGE.read_text(encoding="utf-8")
    assert module.page().count("\n## ") == 105


def test_columns():
    """docs/reference/files.md has every column of each table in its order, with its type, whether it may be null, and the
    meaning that the second sheet of a workbook has; `.venv/bin/python docs/make_columns.py` writes it anew.
    """
    module = script("docs/make_columns.py")
    assert module.page() == module.PAGE.read_text(encoding="utf-8")
    assert {name: list(meanings) for name, meanings in column_meanings().items()} == {
        name: schema.names for name, schema in TABLES.items()
    }


@functools.cache
def parsed(name):
    """The statements of a file of tests."""
    return ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8")).body


def named_tests():
    """The (promise, test, mark) triples of the page of promises."""
    for line in (ROOT / "docs" / "promises.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| promise "):
            promise, tests = line.strip("| ").split(" | ")
            for name, mark in re.findall(r"`([^`]+)`(?: \((\w+)\))?", tests):
                yield promise, name, mark


def test_every_promise_has_its_tests():
    """docs/promises.md names no test that is not there, and says of each that does not run with the others how it is run."""
    found = list(named_tests())
    assert len(found) > 80
    for promise, name, mark in found:
        file, *inner = name.split("::")
        body = parsed(file)
        assigned = [node for node in body if isinstance(node, ast.Assign)]
        marks = [told for node in assigned if (told := ast.unparse(node)).startswith("pytestmark = ")]
        for part in inner:
            (node,) = [node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part]
            marks += map(ast.unparse, node.decorator_list)
            body = node.body
        assert "assert" in ast.unparse(node if inner else body), (promise, name)
        kinds = set(re.findall(r"pytest\.mark\.(core|full|guard|spark)\b", "\n".join(marks)))
        assert {mark} - {""} == (kinds if "core" not in kinds else set()), (promise, name)
