"""Ranges of keys: which range a key is in is what bisection says."""

from __future__ import annotations

from bisect import bisect_right
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from tests.compiled.test_strings import column
from urnscan.grouping import ranges
from urnscan.grouping.ranges import Ranges, choose_ranges, sample

# Short ones over few bytes: many are equal, begin another, or differ where a word of eight bytes ends.
keys = st.text("ab~", max_size=18).map(lambda rest: b"urn:" + rest.encode())


def numbers_of(chosen, found):
    """The range of each key, and whether its rows stand in their order."""
    rows, begins = chosen.order(*column(found))
    parts = [rows[begins[number] : begins[number + 1]].tolist() for number in range(len(chosen))]
    assert all(part == sorted(part) for part in parts)
    assert sorted(row for part in parts for row in part) == list(range(len(found)))
    return [number for _, number in sorted((row, number) for number, part in enumerate(parts) for row in part)]


@given(st.sets(keys, max_size=9), st.lists(keys, max_size=40))
def test_order(bounds, found):
    """Range i holds the keys from bound i - 1 on that come before bound i, in their order."""
    chosen = Ranges(tuple(sorted(bounds)))
    assert numbers_of(chosen, found) == [bisect_right(chosen.bounds, key) for key in found]


@given(st.lists(keys, min_size=1, max_size=40), st.integers(1, 9), st.sampled_from([1, 2, 5]))
def test_chosen(found, most, per_range):
    """Of two ranges and more none holds all keys, unless they are the same: a large range can always be cut again."""
    with mock.patch.object(ranges, "_PER_RANGE", per_range):
        chosen = choose_ranges(found, most)
    assert list(chosen.bounds) == sorted(set(chosen.bounds))
    assert len(chosen) <= 2 * most + 2
    held = numbers_of(chosen, found)
    if len(chosen) > 1 and len(set(found)) > 1:
        assert len(set(held)) > 1
    for number in range(len(chosen)):
        inside = {key for key, at in zip(found, held, strict=True) if at == number}
        if chosen.is_single(number):
            assert len(inside) <= 1
        for last in range(number + 1, len(chosen) + 1):
            between = [key for key, at in zip(found, held, strict=True) if number <= at < last]
            assert all(key.startswith(between[0][: chosen.shared(number, last)]) for key in between)


def test_a_key_that_fills_a_range_has_its_own():
    """However often one name stands there, its neighbours are not sorted with it."""
    chosen = choose_ranges([b"urn:a:a"] * 50 + [b"urn:a:b"] * 500 + [b"urn:a:c"] * 50, 10)
    (number,) = set(numbers_of(chosen, [b"urn:a:b"] * 3))
    assert chosen.is_single(number)


def test_shares_what_both_bounds_begin_with():
    chosen = Ranges((b"urn:isbn:978", b"urn:isbn:979", b"urn:issn:1"))
    assert [chosen.shared(1, 2), chosen.shared(1, 3), chosen.shared(0, 1), chosen.shared(2, 4)] == [11, 6, 0, 0]


@given(st.lists(keys, max_size=30), st.integers(1, 7))
def test_sample(found, every):
    """One key of so many, each of them whole."""
    assert sample(*column(found), every) == found[every // 2 :: every]
