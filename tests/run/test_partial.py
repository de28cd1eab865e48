"""Partial rows of several workers: added up or not, parted by ranges and parted again, they are the same classes."""

from __future__ import annotations

from bisect import bisect_right
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grouping.test_out_of_core import Occurrence, all_rows, partial_rows, plain_classes
from tests.property.test_grouping_properties import occurrences
from urnscan.grouping import ranges as ranging
from urnscan.grouping.classes import add_up, classes_of
from urnscan.grouping.ranges import Ranges
from urnscan.run import partial_result as partial
from urnscan.run.partial_result import Sums, names_of, packed, split_by_range, unpacked
from urnscan.tables.schemas import NAMED_PARTIAL, PARTIAL


def given_by(found, ranges, size=1_000):
    """The rows that Sums gives for occurrences, which come in batches of this size."""
    sums = Sums(ranges)
    for start in range(0, len(found), size):
        some = found[start : start + size]
        yield from sums.add(partial_rows(some), {each.source: f"source {each.source}" for each in some})
    yield from sums.end()


bounds = st.sets(st.sampled_from([b"urn:a", b"urn:a:b", b"urn:a:b\x01", b"urn:a:b%", b"urn:b"])).map(sorted).map(tuple)


@given(
    occurrences(),
    st.lists(st.integers(0, 40), max_size=2).map(sorted),
    bounds.map(Ranges),
    bounds.map(Ranges),
    st.fixed_dictionaries(
        {
            "ROWS": st.sampled_from([1, 4, 1_000]),
            "_BYTES": st.sampled_from([1, 1 << 20]),
            "_TRIED": st.sampled_from([1, 3, 1_000]),
            "_KEYS": st.just(1),
            "_FEWER": st.sampled_from([0.0, 0.9]),
        }
    ),
)
def test_the_same_classes(found, ends, before, after, settings):
    """Contract, `CLASSES.parquet`, for rows of several partitions; each source has its name wherever it comes first."""
    per_range = mock.patch.object(ranging, "_PER_RANGE", 1)
    of_ranges = {}
    with mock.patch.multiple(partial, **settings), per_range:
        for start, end in zip([0, *ends], [*ends, len(found)], strict=True):
            for _, blob in list(given_by(found[start:end], before, 3)):
                (rows,) = unpacked(packed([blob]))
                for number, some in split_by_range(rows.select(PARTIAL.names), names_of(rows), after):
                    assert {bisect_right(after.bounds, urn.encode()) for urn in some["urn"].to_pylist()} == {number}
                    assert some.schema.equals(NAMED_PARTIAL)
                    assert names_of(some) == {place: f"source {place}" for place in some["first_source"].to_pylist()}
                    of_ranges.setdefault(number, []).append(some.select(PARTIAL.names))
    results = [classes_of(add_up(of_ranges[number]), None) for number in sorted(of_ranges)]
    assert all_rows(rows.to_pylist() for rows in results) == plain_classes(found)


@pytest.mark.parametrize(("different", "left"), [(6_000, 6_000), (3_000, 3_000)])
def test_what_is_added_up(different, left):
    """Rows are added up where that makes them fewer; others are given as they came, as sorting them would be in vain."""
    found = [Occurrence(urn := f"urn:x:{number * 7919 % different}", urn, 0) for number in range(6_000)]
    ((number, rows),) = given_by(found, Ranges())
    assert (number, rows.num_rows) == (0, left)
    urns = rows.column("urn").to_pylist()
    assert (urns == sorted(urns)) == (different < len(found))
    assert pa.compute.sum(rows.column("occurrence_count")).as_py() == len(found)


def test_a_frequent_class():
    """It is one row wherever many rows are exchanged, though the others do not repeat: no executor gets all of it."""
    found = [Occurrence(urn := f"urn:x:{number if number % 8 else 'often'}", urn, 0) for number in range(6_000)]
    ((_, rows),) = given_by(found, Ranges())
    assert rows.num_rows == 6_000 // 8 * 7 + 1
    rare = [Occurrence(urn := f"urn:x:{number if number % 80 else 'often'}", urn, 0) for number in range(6_000)]
    alone = Ranges((b"urn:x:often", b"urn:x:often\x01"))
    counts = {number: rows.num_rows for number, rows in given_by(rare, alone)}
    assert counts == {0: 6_000 // 80 * 79, 1: 1}
