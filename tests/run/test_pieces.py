"""What waits for a checksum: given when it is settled, in order, and without what was refused."""

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.oracle import oracle, rejects
from urnscan.arrays.arrow import text_array
from urnscan.errors import FatalError
from urnscan.run import pieces as holding
from urnscan.run.pieces import Dates, Held, Piece
from urnscan.scanner.blocks import Grammar, Scanner
from urnscan.sources import Checks
from urnscan.tables.rows import OCCURRENCES, REJECTS, Found, canonical_column, reject_rows
from urnscan.urn.equivalence import get_level
from urnscan.urn.syntax import get_syntax

LEVEL = get_level("lexical", "rfc2141")
SYNTAX = get_syntax("rfc2141")


def scan(text):
    """The matches in a text, and the piece of them."""
    (matches,) = Scanner(Grammar(SYNTAX)).scan_octets(np.frombuffer(text, np.uint8))
    source = np.zeros(len(matches), np.int32)
    urn = canonical_column(matches, LEVEL)
    found = Found(matches, matches.start, matches.line, source, ["x"], text_array(["m"] * len(matches)), urn)
    trims = int(np.count_nonzero(matches.trailing))
    places = np.zeros(1, np.int32)
    return matches, Piece(len(matches), found.occurrences(), found.partial(places), {0: "x"}, trimmable=trims)


def scan_rejects(text):
    """The rejects in a text, and the piece of them."""
    (matches,) = Scanner(Grammar(SYNTAX, rejects=True)).scan_octets(np.frombuffer(text, np.uint8))
    found = matches.rejects
    place = {"offset": found.start, "line": found.line, "source": np.zeros(len(found), np.int32), "names": ["x"]}
    return found, Piece(rejects=reject_rows(found, **place, member=None, syntax=SYNTAX))


def texts(pieces):
    """The texts of pieces, whose columns must agree; those of rejects in brackets."""
    out = []
    for piece in pieces:
        if piece.rejects is not None:
            piece.rejects.validate(full=True)
            assert piece.rejects.schema.equals(REJECTS)
            assert piece.occurrences is piece.partial is None
            out += [[text] for text in piece.rejects.column("text").to_pylist()]
            continue
        piece.occurrences.validate(full=True)
        assert piece.occurrences.schema.equals(OCCURRENCES)
        rows = piece.occurrences.column("text").to_pylist()
        assert piece.found == len(rows) == piece.partial.num_rows
        assert piece.trimmable == sum(octets > 0 for octets in piece.occurrences.column("trailing").to_pylist())
        out += rows
    return out


# A stream of reads, each of one URN or of half a one, in units that may be nested and that end well or not.
EVENTS = st.lists(
    st.sampled_from(["begin", "confirm", "refuse", "urn:a:%d ", "urn:b:%d. ", "urn:c:", "%d ", "urn:d.%d ", "scan"]),
    max_size=40,
)


class Story:
    """Plays events: reads octets and scans them as a text now and then, while units begin and end."""

    def __init__(self, events):
        self.checks = Checks()
        self.held = Held(self.checks, lambda: Path(tempfile.gettempdir()))
        self.open, self.bad, self.given = [], set(), []
        self.text, self.dates, self.units_of = b"", Dates(self.checks), []
        self.good = []  # (text, the units in which it was read)
        for number, event in enumerate(events):
            if event == "begin":
                self.open.append((number, self.checks.begin()))
            elif event in ("confirm", "refuse"):
                if self.open:
                    name, unit = self.open.pop()
                    getattr(self.checks, event)(unit)
                    if event == "refuse":  # which damages the text: what follows is another
                        self.bad.add(name)
                        self.scan()
            elif event == "scan":
                self.scan()
            else:
                self.read((event % number if "%" in event else event).encode())
        self.scan()
        while self.open:
            self.checks.confirm(self.open.pop()[1])
        self.given += texts(self.held.release())

    def read(self, octets):
        def read_into(view):
            view[: len(octets)] = octets
            return len(octets)

        assert self.dates.read(read_into, memoryview(bytearray(99)), len(self.text)) == len(octets)
        self.units_of += [{name for name, _ in self.open}] * len(octets)
        self.text += octets

    def scan(self):
        for matches, piece in [scan(self.text)] if oracle(self.text, "rfc2141") else []:
            for start, length in zip(matches.start.tolist(), matches.length.tolist(), strict=True):
                units = set().union(*self.units_of[start : start + length])
                self.good.append((self.text[start : start + length].decode(), units))
            self.given += texts(self.held.add(piece, matches, self.dates.of(matches)))
        for found, piece in [scan_rejects(self.text)] if rejects(self.text, "rfc2141") else []:
            for start, length in zip(found.start.tolist(), found.length.tolist(), strict=True):
                units = set().union(*self.units_of[start : start + length])
                self.good.append(([self.text[start : start + length].decode()], units))
            self.given += texts(self.held.add(piece, found, self.dates.of(found)))
        self.text, self.units_of = b"", []
        self.dates.clear()


@pytest.mark.parametrize("in_memory", [1 << 26, 1, 3_000])
@pytest.mark.parametrize("many", [1 << 12, 1])
@given(events=EVENTS)
# A unit inside of another one that is still open: the dates before both are not forgotten.
@example(events=["urn:a:%d ", "begin", "urn:b:%d ", "begin", "urn:a:%d ", "refuse", "refuse"])
# What is spilled when an earlier file is being read goes into another file.
@example(events=["begin", "urn:a:%d ", "scan", "confirm", "begin", "urn:b:%d. ", "scan", "confirm"])
# Of what `trim` would change only what is kept is counted.
@example(events=["urn:b:%d. ", "begin", "urn:b:%d. ", "refuse"])
def test_what_was_read_in_a_unit_that_is_refused_is_kept_out(in_memory, many, events):
    """ "Hits from a member whose checksum fails are kept out", and no others; in memory, in files, dates forgotten."""
    with mock.patch.multiple(holding, _IN_MEMORY=in_memory, _MANY=many):
        story = Story(events)
    assert story.given == [text for text, units in story.good if not units & story.bad]
    assert story.held.is_empty


def test_nothing_waits_where_there_is_nothing_to_wait_for():
    story = Story([])
    matches, piece = scan(b"urn:a:b")
    story.dates.read(lambda view: view.nbytes, memoryview(bytearray(7)), 0)
    (given_at_once,) = story.held.add(piece, matches, story.dates.of(matches))
    assert given_at_once is piece


def test_waits_for_the_end_of_the_unit():
    checks = Checks()
    held, dates = Held(checks, Path), Dates(checks)
    unit = checks.begin()
    matches, piece = scan(b"urn:a:b")
    dates.read(lambda view: view.nbytes, memoryview(bytearray(7)), 0)
    assert list(held.add(piece, matches, dates.of(matches))) == []
    checks.confirm(unit)
    assert list(held.release()) == [piece]


def test_a_refused_unit_in_the_middle_of_a_text_is_not_forgotten():
    """Also where dates are forgotten: those tell nothing any more only if all octets are good."""
    checks = Checks()
    held, dates, text = Held(checks, Path), Dates(checks), b""
    with mock.patch.object(holding, "_MANY", 1):
        for name, is_bad in (("a", False), ("b", True), ("c", False), ("d", False)):
            unit = checks.begin()
            dates.read(lambda view: view.nbytes, memoryview(bytearray(8)), len(text))
            text += b"urn:x:%b " % name.encode()
            (checks.refuse if is_bad else checks.confirm)(unit)
    matches, piece = scan(text)
    assert texts(held.add(piece, matches, dates.of(matches))) == ["urn:x:a", "urn:x:c", "urn:x:d"]


@pytest.mark.parametrize("stored", [False, True])
def test_dates_end_with_a_match_and_begin_with_a_store(stored):
    """The octet behind a match does not count; octets that come out of a store count from when they went into it."""
    checks = Checks()
    held, dates = Held(checks, Path), Dates(checks)

    def read_into(view):
        if stored:
            checks.since = 0
        return view.nbytes

    matches, piece = scan(b"urn:x:a urn:x:b")
    dates.read(lambda view: view.nbytes, memoryview(bytearray(7)), 0)
    unit = checks.begin()
    dates.read(read_into, memoryview(bytearray(8)), 7)
    checks.refuse(unit)
    assert texts(held.add(piece, matches, dates.of(matches))) == ["urn:x:a"]


def test_no_disk_left(tmp_path):
    """One clear line: the run ends."""
    checks = Checks()
    held, dates = Held(checks, lambda: tmp_path / "missing"), Dates(checks)
    checks.begin()
    matches, piece = scan(b"urn:a:b")
    dates.read(lambda view: view.nbytes, memoryview(bytearray(7)), 0)
    with mock.patch.object(holding, "_IN_MEMORY", 1), pytest.raises(FatalError, match="cannot hold what is spilled"):
        list(held.add(piece, matches, dates.of(matches)))


@given(steps=st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=10), start=st.integers(0, 30))
def test_dates_of_the_rest_of_a_text(steps, start):
    """They are those of the same octets, counted from another beginning."""
    checks = Checks()
    dates, at = Dates(checks), 0
    for length, turn in steps:
        if turn:
            checks.begin()
        dates.read(lambda view: view.nbytes, memoryview(bytearray(length)), at)
        at += length
    start = min(start, at - 1)
    rest = dates.since(start)

    def of(which, octet):
        matches = mock.Mock(start=np.array([octet]), length=np.array([1]))
        return [int(date[0]) for date in which.of(matches)]

    for octet in range(start, at):
        assert of(rest, octet - start) == of(dates, octet)
