"""Looking at what comes next without losing it, and the small helpers of readers."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.packed import Given
from urnscan.errors import DamageError, SourceError
from urnscan.sources import Checks
from urnscan.sources.reader import Peeked, read_up_to, skip


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
    reader = Peeked(Given(*parts), Checks())
    text = b"".join(parts)
    for count in peeks:
        head = reader.peek(count)
        assert text.startswith(head)
        assert len(head) >= min(count, len(text))
    assert read_all(reader, size) == (text, None)
    assert reader.read_into(memoryview(bytearray(1))) == 0


def test_looks_no_further_than_one_read_where_that_is_enough():
    """A slow pipe that has said one octet is not asked for a second."""
    script = Given(b"ab", b"cd")
    reader = Peeked(script, Checks())
    assert reader.peek(1) == reader.peek(2) == b"ab"
    assert script.reads == 1
    assert reader.peek(3) == b"abcd"


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), count=st.integers(1, 20))
def test_an_error_comes_behind_what_was_looked_at(before, after, count):
    """Reader: "Raises DamageError …, after all octets before it were given"; and once."""
    parts = [part for part in (before, DamageError("x", "broken"), after) if part]
    reader = Peeked(Given(*parts), Checks())
    assert before.startswith(reader.peek(count))
    out, error = read_all(reader)
    assert (out, str(error)) == (before, "x: broken")
    assert read_all(reader) == (after, None)


def test_what_was_looked_at_is_as_old_as_it_is():
    """Checks: octets of a unit that is refused later must not count, whenever they are handed on."""
    checks = Checks()
    unit = []
    script = Given(
        lambda: unit.append(checks.begin()),
        b"bad",
        lambda: checks.refuse(unit[0]),
        DamageError("x", "broken"),
        b"good",
    )
    reader = Peeked(script, checks)
    assert reader.peek(100) == b"bad"
    checks.since = checks.now
    assert reader.read_into(memoryview(bytearray(9))) == 3
    ((first, last),) = checks.refused
    assert checks.since <= last
    assert checks.now >= first
    assert isinstance(read_all(reader)[1], DamageError)
    checks.since = checks.now
    assert read_all(reader) == (b"good", None)
    assert checks.since > last


def test_what_was_in_store_below_is_as_old_as_it_was_there():
    """Two of them on top of each other: the inner one looked first."""
    checks = Checks()
    below = Peeked(Given(b"ab"), checks)
    below.peek(1)
    checks.begin()
    reader = Peeked(below, checks)
    reader.peek(1)
    checks.since = checks.now
    reader.read_into(memoryview(bytearray(9)))
    assert checks.since == 0


def test_looking_dates_nothing():
    """Checks: who reads dates what he reads. What is only looked at may be younger than what he holds already."""
    checks = Checks()
    reader = Peeked(Given(b"a", checks.begin, b"b", b"c"), checks)
    checks.since = checks.now
    assert reader.peek(3) == b"abc"
    assert (checks.since, checks.now) == (0, 1)


def test_what_came_in_several_reads_is_as_old_as_the_first():
    """Who takes it together, as headers are taken, has octets of the unit that was refused meanwhile."""
    checks = Checks()
    unit = []
    parts = (lambda: unit.append(checks.begin()), b"bad", lambda: checks.refuse(unit[0]), b"more", b"good")
    reader = Peeked(Given(*parts), checks)
    assert reader.peek(11) == b"badmoregood"
    checks.since = checks.now
    assert read_up_to(reader, 11) == b"badmoregood"
    assert checks.since <= checks.refused[0][1]


def test_closes_what_is_below():
    script = Given()
    with Peeked(script, Checks()):
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
