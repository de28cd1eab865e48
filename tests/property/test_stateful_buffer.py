"""The buffer of a dump that is damaged here and there: what is looked for and taken is what stands between the damages."""

from __future__ import annotations

import re

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from urnscan.errors import DamageError
from urnscan.framing.buffer import MARK, Buffer

_PATTERN = re.compile(rb"a+b|\n(?=a|\Z)")
_BLANK = re.compile(rb"[ \n]{1,8}")
_parts = st.lists(st.sampled_from([b"a", b"b", b"ab", b"\n", b" ", b"aaaa", MARK]), max_size=30).map(b"".join)


class Dump(RuleBasedStateMachine):
    """What a buffer holds is as if all up to the next damage were held."""

    @initialize(
        parts=st.lists(_parts, min_size=1, max_size=4), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=3)
    )
    def begin(self, parts, sizes):
        self.parts, self.sizes = parts, sizes
        self.part = self.given = self.reads = 0  # which is read, bytes that were given of it
        self.at = self.before = 0  # where in the part that is which is to be taken, bytes of the parts before
        self.buffer = Buffer(self.read)

    def read(self, view):
        piece = self.parts[self.part][self.given :][: self.sizes[self.reads % len(self.sizes)]]
        self.reads += 1
        if not piece and self.part + 1 < len(self.parts):
            self.part, self.given = self.part + 1, 0
            raise DamageError("dump", "damaged")
        view[: len(piece)] = piece
        self.given += len(piece)
        return len(piece)

    @property
    def rest(self):
        """What can still be taken before the next damage."""
        return self.text[self.at :]

    @property
    def text(self):
        return self.parts[self.part - (self.buffer.error is not None)]

    @rule(count=st.integers(0, 12))
    def take(self, count):
        expected = self.rest[:count]
        assert self.buffer.take(count) == expected
        self.at += len(expected)

    @rule(count=st.integers(0, 40))
    def has(self, count):
        assert self.buffer.has(count) == (count <= len(self.rest))

    @rule(needle=st.sampled_from([b"ab", b"\n", b"aab", b"bbbb"]), start=st.integers(0, 12))
    def find(self, needle, start):
        assert self.buffer.find(needle, start) == self.rest.find(needle, start)

    @rule(start=st.integers(0, 12))
    def search(self, start):
        expected = _PATTERN.search(self.text, self.at + start)
        found = self.buffer.search(_PATTERN, start, 99)
        assert (found and (found.start() - self.buffer.at, found[0])) == (
            expected and (expected.start() - self.at, expected[0])
        )

    @rule()
    def match(self):
        expected, found = _PATTERN.match(self.text, self.at), self.buffer.match(_PATTERN, 99)
        assert (found and found[0]) == (expected and expected[0])

    @rule()
    def pass_over(self):
        passed = len(self.rest) - len(self.rest.lstrip(b" \n"))
        self.at += passed
        assert self.buffer.pass_over(_BLANK) == bool(self.rest)

    @rule()
    def take_mark(self):
        is_marked = not self.at and not self.before and self.rest.startswith(MARK)
        self.buffer.take_mark()
        self.at += len(MARK) * is_marked

    @rule()
    def more(self):
        held = len(self.buffer.data) - self.buffer.at
        assert self.buffer.more() == (len(self.buffer.data) - self.buffer.at > held)

    @rule()
    def take_rest(self):
        assert self.buffer.take_rest() == len(self.rest)
        self.at = len(self.text)

    @precondition(lambda self: self.buffer.error is not None)
    @rule()
    def resume(self):
        """What came before the damage is let go of."""
        self.before += len(self.text)
        self.at = 0
        assert self.buffer.resume()

    @invariant()
    def it_knows_where_it_is(self):
        if hasattr(self, "buffer"):
            assert self.buffer.offset == self.before + self.at
            assert self.rest.startswith(self.buffer.data[self.buffer.at :])


TestDump = Dump.TestCase
