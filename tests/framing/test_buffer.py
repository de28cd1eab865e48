"""The buffer that readers of records read from: it finds what a plain search in the whole dump finds."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import buffer_of
from urnscan.errors import DamageError, SourceError
from urnscan.framing.buffer import BETWEEN, MARK, Buffer

DUMPS = st.lists(st.sampled_from([b"a", b"b", b"ab", b"\n", b"aaaa"]), max_size=40).map(b"".join)
PATTERN = re.compile(rb"a+b|\n(?=a|\Z)")


def buffered(dump, size=None):
    return buffer_of(dump, (size,))


@given(
    DUMPS,
    st.integers(1, 5),
    st.lists(
        st.tuples(st.sampled_from(["find", "search", "match", "take", "has", "more"]), st.integers(0, 9)), max_size=12
    ),
)
def test_it_is_like_having_the_whole_dump(dump, size, steps):
    """Whatever the blocks are, and whatever was asked before."""
    buffer, at = buffered(dump, size), 0
    for step, number in steps:
        assert buffer.offset == at
        if step == "find":
            assert buffer.find(b"ab", number) == (
                dump.find(b"ab", at + number) - at if b"ab" in dump[at + number :] else -1
            )
        elif step == "search":
            found, expected = buffer.search(PATTERN, number, 99), PATTERN.search(dump, at + number)
            assert (found and (found.start() - buffer.at, found[0])) == (
                expected and (expected.start() - at, expected[0])
            )
        elif step == "match":
            found, expected = buffer.match(PATTERN, 99), PATTERN.match(dump, at)
            assert (found and found[0]) == (expected and expected[0])
        elif step == "take":
            assert buffer.take(number) == dump[at : at + number]
            at = min(at + number, len(dump))
        elif step == "has":
            assert buffer.has(number) == (at + number <= len(dump))
        else:
            held = len(buffer.data) - buffer.at
            assert buffer.more() == (len(buffer.data) - buffer.at > held)
    assert buffer.take_rest() == len(dump) - at
    assert (buffer.offset, buffer.take(1), buffer.more()) == (len(dump), b"", False)


def test_a_match_at_the_end_counts_from_at():
    """What was taken is let go of when the end is looked for: the places of a match from before would be wrong."""
    buffer = buffered(b"taken-ab")
    buffer.take(6)
    match = buffer.search(PATTERN)
    assert (match.start() - buffer.at, buffer.data[match.start() : match.end()]) == (0, b"ab")


@pytest.mark.parametrize("size", [1, 7, 64, None])
def test_what_parts_records_is_passed_over(size):
    """However long it is; and whether anything follows is told."""
    buffer = buffered(b" \n" * 3_000 + b"\0\x1aa  ", size)
    assert buffer.pass_over(BETWEEN)
    assert (buffer.offset, buffer.take(1)) == (6_002, b"a")
    assert not buffer.pass_over(BETWEEN)


@pytest.mark.parametrize("size", [1, 7, 64, None])
def test_nothing_is_found_beyond_the_longest_record(monkeypatch, size):
    """Even if it is held: what is a record must not depend on the blocks."""
    monkeypatch.setattr("urnscan.framing.buffer.LONGEST", 20)
    dump = b"." * 21 + b"ab" + b"." * 50
    for taken, found in ((0, -1), (1, 20)):
        buffer = buffered(dump, size)
        buffer.take(taken)
        assert buffer.find(b"ab") == found
        match = buffer.search(PATTERN, longest=4)
        assert (match.start() - buffer.at if match else -1) == found


def test_it_holds_little():
    """Twice what is asked for and a block at most, and nothing of what was taken."""
    zeros = bytes(1 << 20)
    buffer = Buffer(lambda block: len(zeros[: len(block)]))
    for _ in range(50):
        buffer.take(1 << 20)
        assert len(buffer.data) <= 4 << 20
    assert buffer.offset == 50 << 20


@pytest.mark.parametrize("kind", [DamageError, SourceError])
def test_an_error_ends_what_is_read_and_damage_can_be_passed(kind):
    """`resume` lets go of what came before the loss; any other error is the end."""
    parts = iter([b"abc", kind("x", "damaged"), b"def"])

    def read_into(block):
        part = next(parts, b"")
        if isinstance(part, Exception):
            raise part
        block[: len(part)] = part
        return len(part)

    buffer = Buffer(read_into)
    assert buffer.take(1) == b"a"
    assert not buffer.has(3)
    assert isinstance(buffer.error, kind)
    assert buffer.data[buffer.at :] == b"bc"
    assert buffer.resume() is (kind is DamageError)
    assert buffer.error is None
    assert buffer.offset == 3
    assert buffer.take(9) == (b"def" if kind is DamageError else b"")


def test_a_mark_is_one_at_the_beginning_only():
    buffer = Buffer(io.BytesIO(MARK + b"abc").readinto)
    buffer.take_mark()
    buffer.take_mark()
    assert buffer.take(9) == b"abc"
