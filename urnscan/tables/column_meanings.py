"""The meaning of each column of each table, from `columns.toml`. The page about the files shows the same texts."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from urnscan.tables.nested_columns import flat_names
from urnscan.tables.schemas import TABLES

_FILE = Path(__file__).with_name("columns.toml")
_LINK = re.compile(r"\[([^][]*+)\]\([^()]*+\)")


@functools.cache
def column_meanings() -> Mapping[str, Mapping[str, str]]:
    """Name of a table in TABLES -> name of each column, in the order of the table -> the meaning, in Markdown."""
    known = column_texts()
    return {name: {column: _meaning(known, name, column) for column in schema.names} for name, schema in TABLES.items()}


def column_texts() -> Mapping[str, Mapping[str, str]]:
    """The contents of `columns.toml`, read at each call: name of a table -> column -> meaning, in Markdown. Two keys
    are not tables: `common` has columns of several tables, and `prefixes` maps prefixes of column names to meanings.
    """
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _meaning(known: Mapping[str, Mapping[str, str]], table: str, column: str) -> str:
    text = known[table].get(column) or known["common"].get(column)
    return text or next(text for prefix, text in known["prefixes"].items() if column.startswith(prefix))


def table_name(schema: pa.Schema) -> str:
    """The name in TABLES of the table that has the columns of this schema. The schema is a value of TABLES, or such a
    schema after `flat_schema` (lists replaced by texts).

    >>> from urnscan.tables.schemas import OCCURRENCES
    >>> table_name(OCCURRENCES)
    'occurrences'
    """
    return next(
        name
        for name, known in TABLES.items()
        if schema.names in (known.names, [flat for field in known for flat in flat_names(field)])
    )


def explained_columns(schema: pa.Schema) -> Sequence[tuple[str, str]]:
    """(name, meaning) of each column of a schema, in order; the meaning is plain text, without Markdown. The schema is
    a value of TABLES, or such a schema after `flat_schema` (lists replaced by texts).
    """
    name = table_name(schema)
    rows = []
    for field in TABLES[name]:
        meaning = _LINK.sub(r"\1", column_meanings()[name][field.name]).replace("`", "")
        if field.name in schema.names:
            rows.append((field.name, meaning))
            continue
        parts = [(name, name.removeprefix(f"{field.name}_")) for name in flat_names(field)]
        rows += [(name, f"{meaning}; here the {part} of each") for name, part in parts]
    return rows
