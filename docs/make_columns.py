"""Write the tables of columns in docs/reference/files.md: `.venv/bin/python docs/make_columns.py`.

Names, types and nulls are those of the schemas, meanings those of urnscan/tables/columns.toml, and the examples are values of
runs over data/samples. All else on the page is written by hand.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import urnscan
from urnscan.tables.column_meanings import column_meanings, column_texts
from urnscan.tables.schemas import TABLES

__all__ = ["PAGE", "page"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "files.md"
_WORDS = {pa.bool_(): "bool", pa.timestamp("ms", "UTC"): "timestamp"}
_WIDTH = 40
_SHOWN = {"classes": ("nid", "isbn"), "occurrences": ("via", "percent"), "rejects": ("reason", "percent-malformed")}
"""The row that a table shows: the first one with this value in this column; of other tables, the first row."""


def page() -> str:
    """The text of the page, with the tables of today."""
    text = PAGE.read_text(encoding="utf-8")
    common = {
        field.name: _row(table, field)
        for table, schema in reversed(TABLES.items())
        for field in schema
        if _is_common(table, field.name)
    }
    text = _replaced(text, "Columns of several tables", (common[name] for name in column_texts()["common"]))
    for table, schema in TABLES.items():
        text = _replaced(text, table.title(), _rows(table, schema))
    return text


def _is_common(table: str, column: str) -> bool:
    """Whether a column of a table has the meaning that it has in several tables."""
    return column in column_texts()["common"] and column not in column_texts()[table]


def _replaced(text: str, title: str, rows: Iterable[str]) -> str:
    """The page with these rows in the first table of a chapter."""
    table = "| column, type | meaning | example |\n|---|---|---|\n" + "".join(rows)
    head = rf"(^## {title}\n(?:(?!^## ).)*?)^\| column, type \|.*?\n(?=\n)"
    text, count = re.subn(head, lambda match: match[1] + table, text, count=1, flags=re.MULTILINE | re.DOTALL)
    if not count:
        raise SystemExit(f"{PAGE}: has no table of columns in the section {title}")
    return text


def _rows(table: str, schema: pa.Schema) -> Iterator[str]:
    """A row for each column; one row for neighbours whose meaning is elsewhere."""
    for place, run in itertools.groupby(schema, lambda field: _place(table, field.name)):
        fields = list(run)
        if place:
            yield f"| {', '.join(f'`{field.name}`' for field in fields)} | {place} | |\n"
        else:
            yield from (_row(table, field) for field in fields)


def _place(table: str, column: str) -> str:
    """Where the meaning of a column is, if it is not in its table."""
    if column in column_texts()[table]:
        return ""
    if _is_common(table, column):
        return "[common](#columns-of-several-tables)"
    return column_meanings()[table][column]


def _row(table: str, field: pa.Field) -> str:
    type_of = _word(field.type) + " or null" * field.nullable
    return f"| `{field.name}`<br>{type_of} | {column_meanings()[table][field.name]} | {_example(table, field.name)} |\n"


def _word(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return "dictionary"
    if pa.types.is_list(kind):
        return f"list of {_word(kind.value_type)}"
    if pa.types.is_struct(kind):
        return f"({', '.join(f'`{inner.name}` {_word(inner.type)}' for inner in kind)})"
    return _WORDS.get(kind, str(kind))


def _example(table: str, column: str) -> str:
    """A value of the column: that of the shown row, or the first one that says something."""
    if table not in _samples():
        return ""
    column_name, value = _SHOWN.get(table, (None, None))
    rows = _samples()[table].to_pylist()
    rows.sort(key=lambda row: column_name is not None and row[column_name] != value)
    found = next((row[column] for row in rows if row[column] not in (None, [], "")), None)
    if found is None:
        return ""
    text = _text(found)
    text = text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
    return f"`{text}`".replace("|", "\\|")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return json.dumps(value, ensure_ascii=False)


@functools.cache
def _samples() -> Mapping[str, pa.Table]:
    """Tables of runs over data/samples, by their names."""
    with contextlib.chdir(ROOT), tempfile.TemporaryDirectory() as folder:
        scan = urnscan.scan(
            "data/samples", syntax="rfc8141", equivalence="namespace", trim=True, recover="percent", rejects=True
        )
        dumps = [
            f"data/samples/{name}" for name in ("catalogue.marcxml.xml", "record.mrc", "references.bib", "oai-dc.xml")
        ]
        written = {name: f"{folder}/{name}.parquet" for name in ("mapping", "review", "candidates", "wrong")}
        dedup = urnscan.deduplicate(*dumps, trim=True, review_all=True, **written)
        tables = {name: pq.read_table(path) for name, path in written.items()}
    return {
        "classes": scan.classes,
        "occurrences": scan.occurrences,
        "rejects": scan.rejects,
        "clusters": dedup.clusters,
    } | tables


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
