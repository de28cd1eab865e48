"""Descriptions of records in columns: unpacked once, for their comparison and for the rows of clusters."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import text_array
from urnscan.records.description import as_text, shown_title
from urnscan.records.formats import description_of

SHOWN = pa.schema(
    {
        "title": pa.string(),
        "publication_year": pa.int32(),
        "format": pa.string(),
        "author": pa.string(),
        "edition": pa.string(),
    }
)
"""Columns that show a description."""


def unpacked(packed: pa.BinaryArray) -> pa.RecordBatch:
    """Unpack descriptions: columns of SHOWN, and `description`, the whole of it as `description.as_text` writes it."""
    encoded = packed.dictionary_encode()  # of duplicates, many are copies
    held = [description_of(octets) for octets in encoded.dictionary.to_pylist()]
    years = text_array([each.year for each in held])
    columns = {
        "title": text_array([each.title and shown_title(each.title) for each in held]),
        "publication_year": pc.utf8_slice_codeunits(years, 0, 4).cast(pa.int32()),
        "format": text_array([each.format for each in held]),
        "author": text_array([each.author for each in held]),
        "edition": text_array([each.edition for each in held]),
        "description": text_array([as_text(each) for each in held]),
    }
    return pa.RecordBatch.from_pydict({name: column.take(encoded.indices) for name, column in columns.items()})
