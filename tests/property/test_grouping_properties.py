"""Grouping against plain Python: the same classes, however rows are cut into batches, runs, chunks, ranges and slices."""

from __future__ import annotations

import tempfile
from unittest import mock

from hypothesis import example, given
from hypothesis import strategies as st

from tests.grouping.test_external import Occurrence, all_rows, batches_of, grouped, partial_rows, plain_classes
from urnscan.grouping import external as grouping
from urnscan.grouping import ranges
from urnscan.grouping.classes import add_up, group
from urnscan.tables.schemas import PARTIAL

# Few names of many spellings: some spellings sort before the canonical form and some behind it.
_urns = st.sampled_from(
    ["urn:a:b", "urn:a:b%2C", "urn:a:%AF", "urn:a:%AF%2C", "urn:ab:c", "urn:a:B", "urn:a:bbbbbbbbbbb"]
)
_spelled = st.sampled_from([str, str.upper, str.lower, str.swapcase, str.title, lambda urn: urn[:4] + urn[4:].lower()])


@st.composite
def occurrences(draw):
    """Occurrences in the order of the inputs; members are null, the same, or one's own."""
    found = draw(
        st.lists(
            st.builds(
                lambda urn, spelled, *rest: (urn, spelled(urn), *rest),
                _urns,
                _spelled,
                st.integers(0, 2),  # how many sources further on
                st.sampled_from([None, "member", "ä\n"]),
                st.integers(0, 2**40),
            ),
            max_size=40,
        )
    )
    source = draw(st.integers(0, 3))
    rows = []
    for urn, text, step, member, offset in found:
        source += step
        rows.append(Occurrence(urn, text, source, member, offset))
    return rows


@st.composite
def cuttings(draw):
    """The sizes that say where rows are cut: octets of a chunk, of a slice, of the rows by which ranges are chosen."""
    return {
        "_CHUNK": draw(st.sampled_from([1, 300, 1_000, 1 << 25])),
        "_SLICE": draw(st.sampled_from([1, 100, 300, 1_000])),
        "_FIRST": draw(st.sampled_from([1, 500, 1 << 25])),
        "_RANGE": draw(st.sampled_from([1, 100])),
        "_RANGES": draw(st.sampled_from([1, 2, 3, 40])),
        "_SAMPLE": draw(st.sampled_from([1, 5, 1 << 15])),
    }


@given(
    occurrences(),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    cuttings(),
    st.sampled_from([1, 2_000, 10_000, 10**9]),
    st.sampled_from([1, 2]),
)
@example([], [1], {"_CHUNK": 1, "_SLICE": 1}, 1, 1)
def test_plain_python(found, sizes, cutting, memory, jobs):
    """Contract, `CLASSES.parquet`: count, source_count, variant_count, variants, first_…; sorted by urn."""
    per_range = mock.patch.object(ranges, "_PER_RANGE", 1)
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(grouping, **cutting), per_range:
        results = grouped(batches_of(found, sizes), folder, memory=memory, jobs=jobs)
    assert all_rows(results) == plain_classes(found)


@given(occurrences(), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_in_memory(found, sizes):
    """The definition itself, without runs."""
    assert group(list(batches_of(found, sizes))).to_pylist() == plain_classes(found)


@given(occurrences(), st.data())
def test_partial_rows_add_up_in_any_grouping(found, data):
    """Rows that are added up already can be added up again: two runs are one."""
    middle = data.draw(st.integers(0, len(found)))
    once = add_up([partial_rows(found)])
    twice = add_up([add_up([partial_rows(part)]) for part in (found[:middle], found[middle:])])
    assert once.schema.equals(PARTIAL)
    assert twice.to_pylist() == once.to_pylist()
    spellings = [(row["urn"], row["text"]) for row in once.to_pylist()]
    assert spellings == sorted(set(spellings))
