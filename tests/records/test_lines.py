"""Lines as records: against `splitlines`, however the text comes in."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import buffer_of, read_from, set_longest
from urnscan.framing.lines import Damaged, lines
from urnscan.records.fields import Own
from urnscan.records.lines import LineRecords
from urnscan.records.record import Record

TEXTS = st.lists(
    st.sampled_from([b"urn:x:a", b"\xff", b" ", b"\r", b"\n", b"\n", b"\r\n", b"\x0b", b"\x85"]), max_size=12
).map(b"".join)


def buffered(dump, size=None):
    return buffer_of(dump, (size,))


@given(TEXTS, st.sampled_from([1, 2, None]))
def test_lines_make_up_the_text(dump, size):
    """Only LF ends a line; each begins where the one before ended."""
    found = list(lines(buffered(dump, size)))
    assert [data for _, data in found] == list(io.BytesIO(dump))
    assert all(dump[offset:].startswith(data) for offset, data in found)
    assert b"".join(data for _, data in found) == dump


@given(TEXTS, st.sampled_from([1, 2, None]))
def test_records_are_the_lines_that_are_not_blank(dump, size):
    found = list(read_from(LineRecords(own=False), buffered(dump, size)))
    assert [record.data for record in found] == [line for line in io.BytesIO(dump) if line.strip()]
    assert all(record == Record(record.offset, record.data, None, (record.data,)) for record in found)


def test_a_line_is_its_own_identifier():
    """It has no fields; bytes that are not UTF-8 are no damage."""
    assert list(read_from(LineRecords(own=True), buffered(b" urn:x:a \xff\r\n\nb"))) == [
        Record(0, b" urn:x:a \xff\r\n", None, own=(Own("urn:x:a \ufffd"),)),
        Record(13, b"b", None, own=(Own("b"),)),
    ]


@pytest.mark.parametrize("size", [1, 7, 30, None])
@pytest.mark.parametrize(
    "rest",
    [
        b"b\n",
        b"y" * 19 + b"\n" + b"y" * 20 + b"\n",
        b"y" * 20,
        b"y" * 21,
        b"x" * 60,
        b"x" * 60 + b"\n" + b"y" * 20 + b"\nb",
        b"",
    ],
)
def test_a_line_that_is_too_long_is_damaged(monkeypatch, size, rest):
    """Whatever the blocks are, also where its LF is held already; the next are read."""
    set_longest(monkeypatch, 20)
    dump = b"a\n" + b"x" * 45 + b"\n" + rest
    expected, at = [], 0
    for line in io.BytesIO(dump):
        expected.append((at, Damaged if len(line) > 20 else Record))
        at += len(line)
    assert [(each.offset, type(each)) for each in read_from(LineRecords(own=False), buffered(dump, size))] == expected
