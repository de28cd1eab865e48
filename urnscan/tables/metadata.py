"""Metadata of a table's schema: the run that made it, and its types in pandas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

KEY = "urnscan"
"""Key of the metadata; also among the attributes of a pandas frame."""
OF_FOLDER = "_urnscan.json"
"""File with the metadata of a folder of Parquet. Readers of Parquet ignore files that begin with "_"."""


def described(schema: pa.Schema, said: Mapping[str, Any]) -> pa.Schema:
    """The schema with `said`, as JSON, in its metadata, and with what pandas reads there.

    That is what pandas writes for such a frame: the type of each column (integers and flags with nulls would be
    floats and objects otherwise), and `said` as an attribute, where `Table.to_pandas` of a new Arrow looks for it, and
    where `pandas.read_parquet` does with any. pandas itself is not needed for that.
    """
    attributes = {KEY: said}
    of_pandas = {
        "index_columns": [],
        "column_indexes": [],
        "columns": [_column(field) for field in schema],
        "attributes": attributes,
        "creator": {"library": KEY, "version": said.get("version", "")},
    }
    entries = {KEY: said, "pandas": of_pandas, "PANDAS_ATTRS": attributes}
    return schema.with_metadata({key: json.dumps(value) for key, value in entries.items()})


def _column(field: pa.Field) -> dict[str, Any]:
    """A column as the metadata of pandas describe it; one with a dictionary is described by its values."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    logical, stored, more = _LOGICAL.get(kind, str(kind)), str(kind), None
    if pa.types.is_list(kind):
        logical, stored = f"list[{_LOGICAL.get(kind.value_type, 'object')}]", "object"
    elif pa.types.is_string(kind):
        stored = "object"
    elif pa.types.is_timestamp(kind):
        logical, stored, more = "datetimetz", f"datetime64[{kind.unit}]", {"timezone": kind.tz}
    elif pa.types.is_boolean(kind):
        stored = "boolean" if field.nullable else "bool"
    elif field.nullable:
        stored = stored.replace("u", "U").replace("int", "Int")
    return {
        "name": field.name,
        "field_name": field.name,
        "pandas_type": logical,
        "numpy_type": stored,
        "metadata": more,
    }


_LOGICAL = {pa.string(): "unicode", pa.bool_(): "bool"}
"""Types that have another name in pandas."""
