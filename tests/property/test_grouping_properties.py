"""Grouping against plain Python: the same classes, however rows are cut into batches, runs, chunks, ranges and slices."""

from __future__ import annotations

import tempfile
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.grouping.test_out_of_core import Occurrence, all_rows, batches_of, grouped, partial_rows, plain_classes
from urnscan.grouping import out_of_core as grouping
from urnscan.grouping import ranges
from urnscan.grouping.classes import add_up, classes_of
from urnscan.tables.schemas import PARTIAL
from urnscan.urn.syntax import get_syntax

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
    for urn, text, step, member, start in found:
        source += step
        rows.append(Occurrence(urn, text, source, member, start))
    return rows


@st.composite
def cuttings(draw):
    """The sizes that say where rows are cut: bytes of a chunk, of a slice, of the rows by which ranges are chosen."""
    return {
        "_CHUNK": draw(st.sampled_from([1, 300, 1_000, 1 << 25])),
        "_SLICE": draw(st.sampled_from([1, 100, 300, 1_000])),
        "_FIRST": draw(st.sampled_from([1, 500, 1 << 25])),
        "_RANGE": draw(st.sampled_from([1, 100])),
        "_RANGES": draw(st.sampled_from([1, 2, 3, 40])),
        "_SAMPLE": draw(st.sampled_from([1, 5, 1 << 15])),
    }


@pytest.mark.full
@given(
    occurrences(),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    cuttings(),
    st.sampled_from([1, 2_000, 10_000, 10**9]),
    st.sampled_from([1, 2]),
)
@example([], [1], {"_CHUNK": 1, "_SLICE": 1}, 1, 1)
def test_plain_python(found, sizes, cutting, memory, jobs):
    """Contract, `CLASSES.parquet`: occurrence_count, source_count, spelling_count, spellings, first_…; sorted by urn."""
    per_range = mock.patch.object(ranges, "_PER_RANGE", 1)
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(grouping, **cutting), per_range:
        results = grouped(batches_of(found, sizes), folder, memory=memory, jobs=jobs)
    assert all_rows(results) == plain_classes(found)


@given(occurrences(), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_in_memory(found, sizes):
    """The definition itself, without runs."""
    assert classes_of(add_up(list(batches_of(found, sizes))), None).to_pylist() == plain_classes(found)


_pieces = st.sampled_from(["", "#a", "#%D0%B0123", "?+r%00", "?=%41", "?+%c3?=a#p%D0%B0y", "?=a%C2%AD"])


@given(
    st.lists(st.tuples(st.sampled_from(["urn:ab:c", "urn:ab:%41"]), _pieces, st.integers(0, 3)), max_size=20),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from([1, 2_000, 10**9]),
    st.randoms(),
)
def test_problems_of_a_class_are_those_of_its_spellings(found, sizes, memory, chance):
    """A union: it depends neither on the order of the inputs, nor on how rows are cut, spilled and added up."""
    rows = [Occurrence(urn, urn + piece, source) for urn, piece, source in sorted(found, key=lambda each: each[2])]
    with tempfile.TemporaryDirectory() as folder:
        results = all_rows(grouped(batches_of(rows, sizes), folder, memory=memory, jobs=2, syntax="rfc8141"))
    assert results == plain_classes(rows, "rfc8141")
    texts = [(row.urn, row.text) for row in rows]
    again = [Occurrence(*texts[at], 0) for at in chance.sample(range(len(texts)), len(texts))]
    (marks, marks_again) = (
        [(row["urn"], row["marks"]) for row in each]
        for each in (results, classes_of(add_up([partial_rows(again)]), get_syntax("rfc8141")).to_pylist())
    )
    assert marks == marks_again


def test_spellings_that_are_not_listed_count():
    """The 100 most frequent are listed; a problem of any other is one of the class, too."""
    found = [Occurrence("urn:ab:c", f"urn:ab:c#{number}", 0) for number in range(150) for _ in range(2)]
    rows = add_up([partial_rows([*found, Occurrence("urn:ab:c", "urn:ab:c#%00", 1)])])
    (row,) = classes_of(rows, get_syntax("rfc8141")).to_pylist()
    assert "urn:ab:c#%00" not in {spelling["text"] for spelling in row["spellings"]}
    assert row["marks"] == 1


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
