"""What a table tells pandas of itself is what pandas would write for the same frame."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from urnscan.tables import schemas
from urnscan.tables.metadata import with_metadata

METADATA = {"version": "0.1", "counts": {"rejects": None, "ä": 1}}
TABLES = [*(table["schema"] for table in schemas.WRITTEN.values()), schemas.CLUSTERS]


@pytest.mark.parametrize("schema", TABLES, ids=lambda schema: schema.names[0])
def test_as_pandas_itself(schema):
    """Columns that may be null, and no others, have a type of pandas that takes null; other types are those of NumPy."""
    table = schema.empty_table().replace_schema_metadata(with_metadata(schema, METADATA).metadata)
    frame = table.to_pandas()
    again = pa.Table.from_pandas(frame, preserve_index=False).schema.pandas_metadata
    told = table.schema.pandas_metadata
    assert [column["name"] for column in told["columns"]] == frame.columns.tolist() == schema.names
    assert (told["index_columns"], told["column_indexes"]) == (again["index_columns"], again["column_indexes"])
    for field, one, other in zip(schema, told["columns"], again["columns"], strict=True):
        if pa.types.is_integer(field.type) or pa.types.is_boolean(field.type):
            assert one == other
            assert isinstance(frame[field.name].dtype, np.dtype) is not field.nullable
        else:
            assert one.keys() == other.keys()
    assert json.loads(table.schema.metadata[b"PANDAS_ATTRS"]) == told["attributes"] == {"urnscan": METADATA}


def test_each_nullable_type():
    """Integers of each width, with a sign or without, and flags."""
    kinds = [
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
        pa.bool_(),
    ]
    schema = with_metadata(pa.schema([(str(kind), kind) for kind in kinds]), METADATA)
    frame = pa.table({str(kind): pa.nulls(2, kind) for kind in kinds}, schema).to_pandas()
    assert [str(dtype).lower() for dtype in frame.dtypes] == [
        "boolean" if str(kind) == "bool" else str(kind) for kind in kinds
    ]
    assert frame.isna().all(axis=None)
    assert all(pd.api.types.is_extension_array_dtype(dtype) for dtype in frame.dtypes)
