"""A scanner that is fed bit by bit: after each bit it has found what is decided, in the end what the oracle finds."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.support.examples import FEW
from tests.support.oracle import SYNTAXES, Record, oracle, records_of
from tests.support.strategies import any_bytes, near_urns
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import LOOKAHEAD, MAX_LENGTH, Grammar
from urnscan.urn.syntax import get_syntax

_BLOCK = 64
_PLAIN = {"trim": False, "resolver_tail": "keep", "max_length": MAX_LENGTH}


class BrokenError(Exception):
    """What a source raises that cannot be read any more."""


class FedScanner(RuleBasedStateMachine):
    """A scan in which one read gives what was fed, and nothing is read ahead; one scanner for all scans."""

    @initialize(
        syntax=st.sampled_from(SYNTAXES),
        trim=st.booleans(),
        tail=st.sampled_from(["keep", "cut"]),
        max_length=st.sampled_from([MAX_LENGTH, 7, 12, 30]),
        rows=st.integers(1, 4),
    )
    def begin(self, syntax, trim, tail, max_length, rows):
        self.options = {"trim": trim, "resolver_tail": tail, "max_length": max_length}
        self.syntax = syntax
        self.scanner = Scanner(Grammar(get_syntax(syntax), **self.options), block=_BLOCK, rows=rows)
        self.begin_scan()

    def begin_scan(self):
        self.text = b""
        self.waiting = []  # what the next reads give; an exception is raised
        self.found: list[Record] = []
        self.batches = self.scanner.scan(self.read, after_each=True)

    def read(self, view):
        piece = self.waiting.pop(0)
        if isinstance(piece, Exception):
            raise piece
        view[: len(piece)] = piece
        return len(piece)

    def take(self):
        """What the scanner has to say of one read: one batch at least, more where its columns were full."""
        while True:
            batch = next(self.batches)
            if len(batch):
                self.found += records_of([batch])
            if not self.waiting:
                return

    @rule(piece=st.one_of(near_urns, any_bytes, st.sampled_from([b",urn:", b"%", b"http://r.example/", b"?="])))
    def feed(self, piece):
        for at in range(0, len(piece), _BLOCK):
            self.waiting = [piece[at : at + _BLOCK]]
            self.text += piece[at : at + _BLOCK]
            self.take()

    @rule(byte=st.sampled_from([b" ", b"\n", b"x", b"/"]), count=st.integers(1, 40))
    def feed_what_takes_room(self, byte, count):
        """More than is looked back at: what was read before is let go of."""
        self.feed(byte * count * _BLOCK)

    @rule()
    def check_what_is_decided(self):
        """Whatever follows: nothing that was found is taken back, and what begins before `decided` was all found."""
        decided = self.scanner.buffered.decided
        expected = oracle(self.text + b"\n", self.syntax, **self.options)
        assert [record for record in expected if record.start < decided][: len(self.found)] == self.found
        if self.text:
            assert self.scanner.buffered.base + len(self.scanner.buffered.data) == len(self.text)

    @rule()
    def end(self):
        self.waiting = [b""]
        self.found += records_of(batch for batch in self.batches if len(batch))
        assert self.found == oracle(self.text, self.syntax, **self.options)
        assert (self.scanner.byte_count, self.scanner.lines) == (len(self.text), self.text.count(b"\n"))
        self.begin_scan()

    @rule()
    def fail(self):
        """What is whole before the failure counts; nothing of it is left for the next scan."""
        self.waiting = [BrokenError()]
        try:
            for batch in self.batches:
                self.found += records_of([batch] if len(batch) else [])
        except BrokenError:
            pass
        else:
            raise AssertionError("it reads what is not there")
        expected = oracle(self.text, self.syntax, **self.options)
        assert self.found == expected[: len(self.found)]
        if self.options == _PLAIN:
            whole = [record for record in expected if record.end + LOOKAHEAD < len(self.text)]
            assert self.found[: len(whole)] == whole
        self.begin_scan()

    @precondition(lambda self: self.text)
    @rule()
    def give_up(self):
        """A scan is left before its end."""
        self.batches.close()
        self.begin_scan()


TestFedScanner = FedScanner.TestCase
TestFedScanner.settings = FEW
