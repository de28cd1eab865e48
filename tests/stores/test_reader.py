"""Looking at what comes next without losing it, and the small helpers of readers."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.packed import Given
from urnscan.errors import DamageError, SourceError
from urnscan.formats.buffer import Buffer
from urnscan.stores.reader import read_up_to, skip


def read_all(reader, size=3):
    """What a reader gives up to its end or an error, which is given too."""
    view = memoryview(bytearray(size))
    out = b""
    try:
        while got := reader.read_into(view):
            out += view[:got]
    except SourceError as error:
        return out, error
    return out, None


PARTS = st.lists(st.binary(min_size=1, max_size=20), max_size=6)


@given(parts=PARTS, peeks=st.lists(st.integers(1, 90), max_size=4), size=st.integers(1, 30))
def test_what_was_looked_at_is_still_read(parts, peeks, size):
    reader = Buffer(Given(*parts))
    text = b"".join(parts)
    for count in peeks:
        head = reader.peek(count)
        assert text.startswith(head)
        assert len(head) >= min(count, len(text))
    assert read_all(reader, size) == (text, None)
    assert reader.read_into(memoryview(bytearray(1))) == 0


def test_looks_no_further_than_one_read_where_that_is_enough():
    """A slow pipe that has said one byte is not asked for a second."""
    script = Given(b"ab", b"cd")
    reader = Buffer(script)
    assert reader.peek(1) == reader.peek(2) == b"ab"
    assert script.reads == 1
    assert reader.peek(3) == b"abcd"


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), count=st.integers(1, 20))
def test_an_error_comes_behind_what_was_looked_at(before, after, count):
    """Reader: "Raises DamageError …, after all bytes before it were given"; and once."""
    parts = [part for part in (before, DamageError("x", "broken"), after) if part]
    reader = Buffer(Given(*parts))
    assert before.startswith(reader.peek(count))
    out, error = read_all(reader)
    assert (out, str(error)) == (before, "x: broken")
    assert read_all(reader) == (after, None)


def test_closes_what_is_below():
    script = Given()
    with Buffer(script):
        assert not script.closed
    assert script.closed


@given(parts=PARTS, count=st.integers(0, 90))
def test_read_up_to_and_skip(parts, count):
    text = b"".join(parts)
    assert read_up_to(Given(*parts), count) == text[:count]
    script = Given(*parts)
    if count:
        assert skip(script, count) == len(text[:count])
        assert read_all(script) == (text[count:], None)
