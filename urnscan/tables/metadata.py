"""Metadata in the schema of a table: the run that made the table, and the types of the columns in pandas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

KEY = "urnscan"
"""Key of the metadata of a run, in a schema and in the attributes of a pandas frame."""
OF_PARTIAL = "partial"
"""Key in the metadata of a partial result; the value has the options that the metadata of tables do not have."""
OF_FOLDER = "_urnscan.json"
"""Name of the file with the metadata of a folder of Parquet files. Readers of Parquet ignore names that begin with "_".
"""


def with_metadata(schema: pa.Schema, metadata: Mapping[str, Any]) -> pa.Schema:
    """Return the schema with the metadata of a run as JSON under the key `urnscan`, and with the entries that pandas
    reads. These replace all metadata of the schema.

    The entries for pandas have the type of each column: without them, integers with nulls would become floats, and
    flags with nulls objects. They also have the metadata as an attribute of the frame.
    """
    attributes = {KEY: metadata}
    of_pandas = {
        "index_columns": [],
        "column_indexes": [],
        "columns": [_column(field) for field in schema],
        "attributes": attributes,
        "creator": {"library": KEY, "version": metadata.get("version", "")},
    }
    entries = {KEY: metadata, "pandas": of_pandas, "PANDAS_ATTRS": attributes}
    return schema.with_metadata({key: json.dumps(value) for key, value in entries.items()})


def _column(field: pa.Field) -> dict[str, Any]:
    """The entry of a column in the metadata of pandas."""
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
"""Types of Arrow that have another name in pandas."""
