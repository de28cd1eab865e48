"""Write the tables of columns in docs/reference/files.md: `.venv/bin/python docs/make_columns.py`.

Names, types and nulls are those of the schemas, meanings those of urnscan/tables/columns.toml. All else on the page is written
by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from urnscan.tables.column_meanings import column_meanings
from urnscan.tables.schemas import TABLES

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parent / "reference" / "files.md"
_WORDS = {pa.bool_(): "bool", pa.timestamp("ms", "UTC"): "timestamp in UTC"}


def page() -> str:
    """The text of the page, with the tables of today."""
    text = PAGE.read_text(encoding="utf-8")
    for name, schema in TABLES.items():
        meanings = column_meanings()[name]
        rows = "".join(f"| `{field.name}` | {_type(field)} | {meanings[field.name]} |\n" for field in schema)
        head = rf"(^## {name.title()}\n.*?^\| column \| type \| meaning \|\n\|[-|]+\n).*?\n(?=\n)"
        text, count = re.subn(
            head, lambda match, rows=rows: match[1] + rows, text, count=1, flags=re.MULTILINE | re.DOTALL
        )
        if not count:
            raise SystemExit(f"{PAGE}: has no table of columns in the section {name.title()}")
    return text


def _type(field: pa.Field) -> str:
    """The type of a column in words: `dictionary or null`."""
    return _word(field.type) + " or null" * field.nullable


def _word(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return "dictionary"
    if pa.types.is_list(kind):
        return f"list of {_word(kind.value_type)}"
    if pa.types.is_struct(kind):
        return f"({', '.join(f'`{inner.name}` {_word(inner.type)}' for inner in kind)})"
    return _WORDS.get(kind, str(kind))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
