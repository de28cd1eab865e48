"""Counts by namespace: they are those of a plain loop over the rows, however the rows are cut into batches."""

from __future__ import annotations

import itertools

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from urnscan.tables.namespace_counts import NamespaceCounts
from urnscan.tables.schemas import CODED_CLASSES, OCCURRENCES

NIDS = st.sampled_from(["isbn", "nbn", "a", "example", "x-1"])
OF_CLASS = {
    "urn": "urn:a:b", "nss": "b", "nid_status": "formal", "source_count": 1, "spelling_count": 1, "spellings": [],
    "first_source": "s", "first_member": None, "first_start": 0, "problem": None,
}  # fmt: skip
OF_MATCH = {
    "member": None, "start": 0, "line": 7, "text": "URN:a:b", "urn": "urn:a:b", "stop": 32, "punctuation": 0, "length": 7,
    "via": None, "resolver": None, "r_component": None, "q_component": None, "f_component": None,
    "valid": None, "problem": None, "spelling_problem": None,
    "captured": None, "status": None, "mime": None,
}  # fmt: skip


def coded(rows, schema):
    """A batch; columns of the type dictionary have their values in the order in which they come."""
    names = pa.schema(
        [(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type) for field in schema]
    )
    batch = pa.RecordBatch.from_pylist(rows, names)
    columns = [
        column.dictionary_encode() if pa.types.is_dictionary(field.type) else column
        for field, column in zip(schema, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def batches(rows, cuts):
    ends = sorted({min(cut, len(rows)) for cut in cuts} | {0, len(rows)})
    return [rows[start:end] for start, end in itertools.pairwise(ends)]


@given(
    st.lists(st.tuples(NIDS, st.integers(1, 5), st.sampled_from([True, False, None]))),
    st.lists(st.tuples(st.integers(0, 4), NIDS)),
    st.lists(st.integers(0, 20), max_size=4),
)
def test_table(classes, matches, cuts):
    """Counts of `--by nid` (docs/reference/command.md): occurrences and classes of all classes, invalid ones of those with `valid`
    false, sources of the occurrences, which come source by source.
    """
    matches = sorted(matches, key=lambda match: match[0])
    counts = NamespaceCounts()
    for batch in batches(classes, cuts):
        rows = [OF_CLASS | {"nid": nid, "occurrence_count": n, "valid": valid} for nid, n, valid in batch]
        counts.add_classes(coded(rows, CODED_CLASSES))
    for batch in batches(matches, cuts):
        counts.add_occurrences(
            coded([OF_MATCH | {"source": str(number), "nid": nid} for number, nid in batch], OCCURRENCES)
        )
    head, *lines = counts.table()
    assert head.split() == ["namespace", "occurrences", "classes", "invalid", "sources"]
    expected = []
    for nid in {row[0] for row in classes} | {match[1] for match in matches}:
        own = [row for row in classes if row[0] == nid]
        invalid = sum(valid is False for *_, valid in own)
        sources = {number for number, name in matches if name == nid}
        expected.append((nid, sum(n for _, n, _ in own), len(own), invalid, len(sources)))
    expected.sort(key=lambda row: (-row[1], row[0]))
    assert [tuple(line.split()) for line in lines] == [tuple(map(str, row)) for row in expected]
    assert len({len(line) for line in (head, *lines)}) == 1


def test_summary_has_three_lines_at_most():
    """What a run on a terminal ends with: the largest namespaces, and the sum of all others."""
    counts = NamespaceCounts()
    classes = [("b", 7, True), ("a", 7, False), ("c", 2000, None), ("d", 1, False), ("d", 1, True)]
    rows = [OF_CLASS | {"nid": nid, "occurrence_count": n, "valid": valid} for nid, n, valid in classes]
    counts.add_classes(coded(rows[:3], CODED_CLASSES))
    assert counts.summary() == [
        "c: 2,000 occurrences, 1 class",
        "a: 7 occurrences, 1 class, 1 invalid",
        "b: 7 occurrences, 1 class",
    ]
    counts.add_classes(coded(rows[3:], CODED_CLASSES))
    assert counts.summary() == [
        "c: 2,000 occurrences, 1 class",
        "a: 7 occurrences, 1 class, 1 invalid",
        "2 other namespaces: 9 occurrences, 3 classes, 1 invalid",
    ]
