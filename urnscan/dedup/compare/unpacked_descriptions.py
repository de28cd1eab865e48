"""Descriptions of records in columns: unpacked once, for their comparison and for the rows of clusters."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import text_array
from urnscan.records.description import Description, as_text, shown_title
from urnscan.records.record import description_of

SHOWN = pa.schema(
    {
        "title": pa.string(),
        "publication_year": pa.int32(),
        "format": pa.string(),
        "author": pa.string(),
        "edition": pa.string(),
        "part": pa.string(),
    }
)
"""Columns of tables and pages that show the description of a record to people."""


def different(packed: pa.BinaryArray) -> tuple[list[Description], pa.Int32Array]:
    """Return the different descriptions of packed ones, and for each packed one its index among these."""
    # Many duplicates are copies: their description is unpacked once.
    encoded = packed.dictionary_encode()
    return [description_of(data) for data in encoded.dictionary.to_pylist()], encoded.indices


def unpacked(packed: pa.BinaryArray) -> pa.RecordBatch:
    """Return packed descriptions (bytes, the column `description` of the rows of records) as rows with the columns of
    SHOWN, and `description`, the whole description as a text. The order stays; a value that a record lacks is null.
    `publication_year` is the first year in the record.
    """
    descriptions, indices = different(packed)
    years = text_array([description.year for description in descriptions])
    columns = {
        "title": text_array([description.title and shown_title(description.title) for description in descriptions]),
        "publication_year": pc.utf8_slice_codeunits(years, 0, 4).cast(pa.int32()),
        "format": text_array([description.format for description in descriptions]),
        "author": text_array([description.author for description in descriptions]),
        "edition": text_array([description.edition for description in descriptions]),
        "part": text_array([description.part for description in descriptions]),
        "description": text_array([as_text(description) for description in descriptions]),
    }
    return pa.RecordBatch.from_pydict({name: column.take(indices) for name, column in columns.items()})
