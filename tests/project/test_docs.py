"""The pages of docs/ that are written by programs are what these write now, and tables that are not are those of the code."""

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

from tests.support.scripts import script
from urnscan.dedup.compare.agreement import RULES, SURE_RULES
from urnscan.dedup.compare.citations import CITATION_RULES, PLACES
from urnscan.tables.column_meanings import column_meanings, column_texts
from urnscan.tables.schemas import TABLES

ROOT = Path(__file__).parents[2]


def test_page_of_the_namespaces():
    """docs/reference/namespaces.md follows the table of rules; `.venv/bin/python docs/make_namespaces.py` writes it anew."""
    module = script("docs/make_namespaces.py")
    assert module.page() == module.PAGE.read_text(encoding="utf-8")
    assert module.page().count("\n## ") == 105


def test_columns():
    """docs/reference/files.md has every column of each table in its order, with its type, whether it may be null, the meaning
    that the second sheet of a workbook has, and a value from the samples; `.venv/bin/python docs/make_columns.py` writes it anew.
    """
    module = script("docs/make_columns.py")
    assert module.page() == module.PAGE.read_text(encoding="utf-8")
    assert {name: list(meanings) for name, meanings in column_meanings().items()} == {
        name: schema.names for name, schema in TABLES.items()
    }


def test_meanings_of_columns_are_used():
    """A meaning in urnscan/tables/columns.toml is that of a column of its table, or of columns of several tables."""
    texts = dict(column_texts())
    common, prefixes = texts.pop("common"), texts.pop("prefixes")
    assert texts.keys() == TABLES.keys()
    for name, meanings in texts.items():
        assert set(meanings) <= set(TABLES[name].names)
    for column in common:
        assert sum(column in schema.names and column not in texts[name] for name, schema in TABLES.items()) > 1, column
    for prefix in prefixes:
        assert any(column.startswith(prefix) for schema in TABLES.values() for column in schema.names)


@pytest.mark.parametrize(("page", "rules"), [("conflicts", RULES), ("keys", SURE_RULES), ("articles", CITATION_RULES)])
def test_rules_of_conflicts(page, rules):
    """A page of docs/reference/dedup has a row for each rule, in their order, and its limit is that of the code."""
    text = (ROOT / "docs" / "reference" / "dedup" / f"{page}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `?(title|author|year|edition|part|format|language)`? \| ([^|]+?) \|", text, re.MULTILINE)
    assert rows == [(rule.aspect, rule.condition) for rule in rules]
    for rule in rules:
        limit = f"more than {rule.most:.0%}" if rule.most < 1 else f"more than {rule.most:g}"
        assert (limit in rule.condition) == bool(rule.most), rule


def test_places_of_articles():
    """docs/reference/dedup/articles.md has a row for each place that two articles share."""
    text = (ROOT / "docs" / "reference" / "dedup" / "articles.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `description:(.+?)` \| (.+?) \|", text, re.MULTILINE) == [
        (place.name, place.compared) for place in PLACES
    ]


@functools.cache
def parsed(name):
    """The statements of a file of tests."""
    return ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8")).body


def guarantees():
    """The sections of tests/guarantees.toml: for each sentence its tests."""
    return tomllib.loads((ROOT / "tests" / "guarantees.toml").read_text(encoding="utf-8"))


def test_page_of_guarantees():
    """docs/guarantees.md has the sections and sentences of tests/guarantees.toml, in their order, but for those of the code."""
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    sections = {name: sentences for name, sentences in guarantees().items() if name != "code"}
    assert re.findall(r"^## (.+)", page, re.MULTILINE) == [*sections]
    lines = [sentence for sentences in sections.values() for sentence in sentences]
    assert re.findall(r"^\* (?:\*\*(.+?)\*\*)?", page, re.MULTILINE) == lines


def test_every_guarantee_has_its_tests():
    """tests/guarantees.toml names no test that is not there, and each asserts something."""
    found = [
        (sentence, name) for section in guarantees().values() for sentence, tests in section.items() for name in tests
    ]
    assert len(found) > 80
    assert all(tests for section in guarantees().values() for tests in section.values())
    for sentence, name in found:
        file, *inner = name.split("::")
        body = parsed(file)
        for part in inner:
            (node,) = [node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part]
            body = node.body
        assert "assert" in ast.unparse(node if inner else body), (sentence, name)
