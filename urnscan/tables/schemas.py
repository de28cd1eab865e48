"""Arrow schemas of the tables that urnscan writes, and of the rows that it groups."""

from __future__ import annotations

import pyarrow as pa

__all__ = [
    "CLASSES",
    "CLUSTERS",
    "GROUPED",
    "OCCURRENCES",
    "PARTIAL",
    "REJECTS",
    "REPEATING",
    "REPEATING_IN_CLUSTERS",
    "SELECTIVE",
    "SINGLE",
]


def _field(name: str, kind: pa.DataType, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable)


_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_VARIANTS = pa.list_(_field("element", pa.struct([_field("text", pa.string()), _field("count", pa.int64())])))

OCCURRENCES = pa.schema(
    [
        _field("source", _DICTIONARY),
        _field("member", pa.string(), nullable=True),
        _field("offset", pa.int64()),
        _field("line", pa.int64()),
        _field("text", pa.string()),
        _field("urn", pa.string()),
        _field("nid", _DICTIONARY),
        _field("stop", pa.int16(), nullable=True),
        _field("trailing", pa.uint8()),
        _field("length", pa.int32()),
        _field("via", _DICTIONARY, nullable=True),
        _field("resolver", _DICTIONARY, nullable=True),
    ]
)
"""One row per occurrence, in the order of the inputs, then by offset."""

REJECTS = pa.schema(
    [
        *(OCCURRENCES.field(name) for name in ("source", "member", "offset", "line", "text")),
        _field("reason", _DICTIONARY),
        _field("message", pa.string()),
        _field("position", pa.int32()),
    ]
)
"""One row per place where a URN nearly begins, or ends before a malformed %HH; in the order of OCCURRENCES."""

CLASSES = pa.schema(
    [
        _field("urn", pa.string()),
        _field("nid", _DICTIONARY),
        _field("nss", pa.string()),
        _field("nid_status", _DICTIONARY),
        _field("count", pa.int64()),
        _field("source_count", pa.int64()),
        _field("variant_count", pa.int64()),
        _field("variants", _VARIANTS),
        _field("first_source", pa.string()),
        _field("first_member", pa.string(), nullable=True),
        _field("first_offset", pa.int64()),
        _field("valid", pa.bool_(), nullable=True),
        _field("problem", pa.string(), nullable=True),
    ]
)
"""One row per equivalence class, sorted by `urn` in the order of octets."""

REPEATING = [
    "nid",
    "nid_status",
    "count",
    "source_count",
    "variant_count",
    "variants.list.element.count",
    "first_source",
    "first_member",
    "problem",
]
"""The leaf columns of CLASSES whose values repeat from class to class."""

SELECTIVE = ["urn", "nid", "nid_status", "count", "source_count", "variant_count", "first_source", "problem"]
"""The leaf columns of CLASSES that queries filter by."""

PARTIAL = pa.schema(
    [
        _field("urn", pa.string()),
        _field("text", pa.string()),  # empty where it is the same as `urn`
        _field("count", pa.int64()),
        _field("sources", pa.int64()),
        _field("first_source", pa.int32()),
        _field("last_source", pa.int32()),
        _field("first_member", pa.string(), nullable=True),
        _field("first_offset", pa.int64()),
    ]
)
"""One row per spelling of a class, as far as it is added up. A source is its number among the inputs, from 0."""

SINGLE = pa.schema([PARTIAL.field(name) for name in ("urn", "text", "first_source", "first_member", "first_offset")])
"""One row per occurrence: the columns of PARTIAL that do not follow from that."""

_URNS = pa.list_(_field("element", pa.string()))

CLUSTERS = pa.schema(
    [
        _field("cluster", pa.int64()),
        _field("source", _DICTIONARY),
        _field("member", _DICTIONARY, nullable=True),
        _field("record", pa.int64()),
        _field("record_id", pa.string(), nullable=True),
        _field("offset", pa.int64()),
        _field("length", pa.int64()),
        _field("urns", _URNS),
        _field("joined_by", _URNS),
        _field("rank", pa.int64()),
        _field("kept", pa.bool_()),
    ]
)
"""One row per record of a dump, in the order of the inputs, then of the records."""

REPEATING_IN_CLUSTERS = ["source", "member", "rank", "joined_by.list.element"]
"""The leaf columns of CLUSTERS whose values repeat."""

GROUPED = pa.schema(
    [
        *(CLASSES.field(name) for name in ("urn", "count", "source_count", "variant_count", "variants")),
        _field("first_source", pa.int32()),
        *(CLASSES.field(name) for name in ("first_member", "first_offset")),
    ]
)
"""One row per class: CLASSES without the columns that follow from `urn`, and the first source as a number."""
