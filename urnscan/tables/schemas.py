"""Arrow schemas of the tables that urnscan writes, and of the rows that urnscan groups.

`tables.rows` makes the values of most columns; `grouping.classes` makes the values that are added up for each class.
`results.merged_classes` merges classes, `results.changed_classes` compares them, and `report.embedded` lists the
columns of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_URNS = pa.list_(pa.field("element", pa.string(), nullable=False))
_SPELLING = pa.struct([pa.field("text", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)])
_NAMES = {
    pa.bool_(): "valid kept",
    pa.uint8(): "punctuation",
    pa.uint16(): "marks",
    pa.int16(): "stop status",
    pa.timestamp("ms", "UTC"): "captured",
    pa.int32(): "position length last_source publication_year",
    pa.int64(): "row start kept_record line occurrence_count source_count spelling_count first_start sources "
    "cluster record cluster_rank component",
    pa.string(): "member text urn message number nss first_source first_member problem spelling_problem record_id kept_record_id title author edition part extent publisher digest kept_digest "
    "r_component q_component f_component",
    _DICTIONARY: "mime source kept_source kept_member column_name nid via resolver reason nid_status decision format",
    _URNS: "urns other_keys joined_by",
    pa.list_(pa.field("element", _SPELLING, nullable=False)): "spellings",
}
_TYPES = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_NULLABLE = (
    "captured status mime member stop via resolver r_component q_component f_component first_member valid problem spelling_problem record_id title "
    "kept_member kept_record_id "
    "publication_year format"
).split()


def type_of(name: str) -> pa.DataType | None:
    """The Arrow type of the columns with this name in the tables; int64 for any integer type, and the type of the
    values for a dictionary. None for other names, and for columns that only the tables of candidates and of differences
    have: `similarity`, `change`, `changes`, and `other_…` except `other_keys`.
    """
    kind = _TYPES.get(name)
    if kind is None or not pa.types.is_integer(kind):
        return kind.value_type if kind is not None and pa.types.is_dictionary(kind) else kind
    return pa.int64()


def _schema(names: str, nullable: Sequence[str] = _NULLABLE, **others: pa.DataType) -> pa.Schema:
    """A schema with the columns `names` (separated by spaces). `others` are the types that differ from the usual type
    of a column of this name.
    """
    return pa.schema([pa.field(name, others.get(name) or _TYPES[name], name in nullable) for name in names.split()])


_OF_MATCHES = (
    "start line text urn nid stop punctuation length via resolver r_component q_component f_component "
    "valid problem spelling_problem"
)

OCCURRENCES = _schema(f"source member {_OF_MATCHES} captured status mime", problem=_DICTIONARY)
"""One row per occurrence, in the order of the inputs, then by `start`."""

IN_COLUMN = _schema(f"row column_name {_OF_MATCHES}", problem=_DICTIONARY)
"""One row per occurrence in a column that a caller passes, in the order of the values."""

REJECTS = _schema("source member start line text reason message position")
"""One row per reject: a text that is nearly a URN, or a URN that ends badly; in the order of the inputs, then by
`start`.
"""

CLASSES = _schema(
    "urn nid nss nid_status occurrence_count source_count spelling_count spellings "
    "first_source first_member first_start valid problem"
)
"""One row per equivalence class, sorted by `urn` in the order of bytes."""

CODED_CLASSES = _schema(" ".join(CLASSES.names), first_source=_DICTIONARY, problem=_DICTIONARY)
"""CLASSES with dictionaries for repeating texts, so that a repeating text is not copied for each row.

A Parquet file of these rows has the types of CLASSES.
"""

REPEATING = "nid nid_status occurrence_count source_count spelling_count spellings.list.element.count".split()
REPEATING += ["first_source", "first_member", "problem"]
"""The leaf columns of CLASSES in which many classes have the same value."""

SELECTIVE = "urn nid nid_status occurrence_count source_count spelling_count first_source problem".split()
"""The leaf columns of CLASSES that queries filter by."""

WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "classes": {"schema": CLASSES, "dictionaries": REPEATING, "statistics": SELECTIVE},
    "occurrences": {"schema": OCCURRENCES},
    "rejects": {"schema": REJECTS},
}
"""The tables of a scan, with the arguments of ParquetOutput for each."""

PARTIAL = _schema(
    "urn text occurrence_count sources first_source last_source first_member first_start", first_source=pa.int32()
)
"""One row per spelling of a class, with the counts of some of the occurrences.

`text` is empty if it is equal to `urn`. A source is the number of the input, from 0.
"""

NAMED_PARTIAL = PARTIAL.append(pa.field("source", pa.string()))
"""PARTIAL with the name of the first source, in the first row of each source."""

SINGLE = _schema("urn text first_source first_member first_start", first_source=pa.int32())
"""One row per occurrence: PARTIAL without `occurrence_count`, `sources` and `last_source`, which follow from the other
columns.
"""

GROUPED = _schema(
    "urn occurrence_count source_count spelling_count spellings first_source first_member first_start marks",
    first_source=pa.int32(),
)
"""One row per class: CLASSES without the columns that follow from `urn`.

The first source is the number of the input, from 0. `marks` has the problems of all spellings as bits: bit i is the
problem `urn.problems.OF_SPELLINGS[i]`.
"""

FREQUENCIES = _schema("urn occurrence_count")
"""One row per class, sorted by count, the highest first, then by `urn` in the order of bytes."""

CLUSTERS = _schema(
    "cluster source member record record_id start length urns other_keys joined_by cluster_rank kept decision reason component "
    "title publication_year format author digest",
    nullable=(*_NULLABLE, "start", "length", "reason", "author"),
    member=_DICTIONARY,
    length=pa.int64(),
)
"""One row per record of a dump, in the order of the inputs, then of the records."""

MAPPING = _schema(
    "source member record record_id start kept_source kept_member kept_record kept_record_id cluster joined_by digest "
    "kept_digest title",
    nullable=(*_NULLABLE, "start"),
    member=_DICTIONARY,
)
"""One row per removed record, in the order of the inputs, then of the records: the removed record, and the record that
is kept instead.
"""

REVIEW = _schema(
    "component cluster decision reason title author publication_year edition part format urns other_keys "
    "source member record record_id start digest joined_by",
    nullable=(*_NULLABLE, "start", "reason", "author", "edition", "part"),
    member=_DICTIONARY,
    decision=pa.string(),
)
"""One row per record in a group that people should check, sorted by `component` (the group), then by cluster and rank.
"""

_OF_CANDIDATES = _schema(
    "title author publication_year edition part extent publisher format urns other_keys source member record record_id "
    "digest",
    nullable=(*_NULLABLE, "author", "edition", "part", "extent", "publisher"),
    member=_DICTIONARY,
)
CANDIDATES = pa.schema(
    [
        pa.field("similarity", pa.float64(), nullable=False),
        REVIEW.field("decision"),
        *_OF_CANDIDATES,
        *(field.with_name(f"other_{field.name}") for field in _OF_CANDIDATES),
    ]
)
"""One row per pair of records that share no key and may describe the same work, sorted by the first record, then by the
other.

The decision is empty: people fill it in.
"""

WRONG = _schema("source member record record_id start title number message", nullable=(*_NULLABLE, "start"))
"""One row per wrong ISBN or ISSN in a field of a record, in the order of CLUSTERS."""

_CHANGE = pa.struct([pa.field(name, pa.string(), nullable=False) for name in ("what", "old", "new")])
CHANGES = _schema(
    "change urn changes", change=pa.string(), changes=pa.list_(pa.field("element", _CHANGE, nullable=False))
)
"""One row per class that differs in two tables, sorted by `urn`."""

TABLES: Mapping[str, pa.Schema] = {
    "classes": CLASSES,
    "occurrences": OCCURRENCES,
    "rejects": REJECTS,
    "clusters": CLUSTERS,
    "mapping": MAPPING,
    "review": REVIEW,
    "candidates": CANDIDATES,
    "wrong": WRONG,
    "differences": CHANGES,
}
"""The tables that commands write to files, by their names in the pages."""

REPEATING_IN_CLUSTERS = "source member cluster_rank joined_by.list.element decision reason".split()
REPEATING_IN_CLUSTERS += ["publication_year", "format"]
"""The leaf columns of CLUSTERS whose values repeat."""
