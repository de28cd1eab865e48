"""The rule for URNs that are broken over lines, held against places that were judged by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.scanner.views.test_recovery import found_in, streamed
from tests.support.oracle import COMPILED, oracle, trimmed
from tests.support.strategies import cuttings
from urnscan.scanner.views.wraps import MAX_AHEAD, MAX_BREAKS

SAMPLES = tomllib.loads((Path(__file__).with_name("wraps.toml")).read_text(encoding="utf-8"))["sample"]
MADE = [sample for sample in SAMPLES if sample["half"] == "made"]

LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b" \n", b"\n    ", b"\r\n\t", b"  \r\n      "])
INVISIBLE = st.sampled_from(["\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff"]).map(str.encode)
NAMES = st.lists(
    st.text("abcxyz0189", min_size=1, max_size=9).filter(lambda name: name != "urn"), min_size=2, max_size=MAX_BREAKS
).map(lambda names: [b"urn:", *[name.encode() + b":" for name in ["nbn", *names[:-1]]], names[-1].encode() + b"end"])
FILLING = st.text("ab >\"'`\n", max_size=300).map(lambda text: text.encode() + b"\n")


def joined(content, syntax):
    """The URNs that are broken at least once, found by the view: where they start and end, and their text."""
    hits = found_in(content, ["wraps"], syntax)
    return [(hit.start, hit.end, hit.text.encode()) for hit in hits if hit.via]


def found(text):
    """What the rule finds in a text, trimmed."""
    urns = [urn for _, _, urn in joined(text.encode(), "rfc8141")]
    return [urn[: trimmed(urn, COMPILED["rfc8141"].match(urn))[1]].decode() for urn in urns]


def wanted(sample):
    """What it should find."""
    return [sample["urn"]] if sample["urn"] else []


def measured(half):
    """How many joins are right, how many are wrong, and how many places where a URN goes on are missed."""
    samples = [sample for sample in SAMPLES if sample["half"] == half]
    right = sum(found(sample["text"]) == wanted(sample) != [] for sample in samples)
    made = sum(found(sample["text"]) != [] for sample in samples)
    there = sum(wanted(sample) != [] for sample in samples)
    return len(samples), right, made - right, there - right


def test_precision_and_recall():
    """At the places in RFCs and XMPP extensions all joins are right, and nineteen of twenty URNs that go on are found."""
    places, right, wrong, missed = measured("tuned")
    assert (places, right, wrong, missed) == (85, 48, 0, 3)
    assert right / (right + wrong) == 1
    assert right / (right + missed) > 0.9


@pytest.mark.parametrize("sample", MADE, ids=lambda sample: ascii(sample["text"]))
def test_made_samples(sample):
    """What is rare in public texts: invisible bytes, quote marks, options, labels, several breaks."""
    assert found(sample["text"]) == wanted(sample)


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("urn:example:weather?=op=map&lat=39.56", "&lon=-104.85"),
        ("urn:example:weather?=op=map&", "lat=39.56"),
        ("urn:example:weather", "?=op=map"),
        ("urn:example:weather?", "=op=map"),
        ("urn:example:weather?=", "op=map"),
        ("urn:example:weather?=op", "=map"),
        ("urn:example:weather?=op=", "map"),
        ("urn:example:a%", "20b"),
        ("urn:example:a%2", "0b"),
        ("urn:example:a%2", "F"),
        ("urn:example:a%C3", "%A9b"),
        ("urn:example:a%E2%82", "%AC"),
        ("urn:example:1/406", "/47452/2"),
    ],
)
def test_components_and_encodings(before, behind):
    """RFC 8141 §2.3: printed names are broken around the signs of components, as its own example of the weather."""
    if behind != "/47452/2":
        assert found(f"see {before}\n   {behind} there") == [before + behind]
    assert found(f"see <{before}\n   {behind}> there") == [before + behind]


@pytest.mark.parametrize("leader", ["> ", ">> ", "# ", " * ", "// ", "-- "])
@pytest.mark.parametrize(
    ("before", "behind"), [("urn:example:weather?=op=map", "&lat=39.56"), ("urn:example:a%C3", "%A9b")]
)
def test_such_signs_after_a_leader(leader, before, behind):
    """Each line of a quoted mail or of a comment begins with the same bytes, which are no part of the name."""
    assert found(f"{leader}{before}\n{leader}{behind} there") == [before + behind]


@pytest.mark.parametrize(
    "text",
    [
        "Is it urn:example:a?\nYes, it is",
        "of urn:example:a\n& others",
        "urn:example:a\n/usr/lib is a folder",
        "it is urn:example:a 100%\nof them",
        "a broken urn:example:a%4\nand more",
        "urn:example:a\n= b",
    ],
)
def test_prose_around_such_signs(text):
    """A question, a list, a path, a share, an equation: nothing is joined."""
    assert found(text) == []


@pytest.mark.parametrize("syntax", sorted(COMPILED))
def test_every_syntax(syntax):
    """The rule takes breaks out; what a URN is, is said by the syntax alone."""
    assert joined(b'"urn:nbn:de:101-\n  1#a b"', syntax) == [(1, 22, b"urn:nbn:de:101-1#a")]


@given(NAMES, st.data(), st.sampled_from([b'""', b"''", b"<>", b"``"]))
def test_marked_urns_are_found_whole(names, data, marks):
    """Between marks a URN is read on over every line end behind a colon, up to `MAX_BREAKS` of them."""
    breaks = data.draw(st.lists(LINE_ENDS, min_size=len(names) - 2, max_size=len(names) - 2))
    broken = names[0] + names[1] + b"".join(gap + name for gap, name in zip(breaks, names[2:], strict=True))
    (record,) = joined(marks[:1] + broken + marks[1:] + b"\n", "rfc8141")
    start, end, text = record
    assert text.removesuffix(b"'") == b"".join(names)
    assert (start, end - text.endswith(b"'")) == (1, 1 + len(broken))


@given(NAMES, st.data())
def test_invisible_bytes_do_not_end_a_urn(names, data):
    """Wherever in a URN one stands behind its scheme, the URN is found as if it did not."""
    urn = b"".join(names)
    at = data.draw(st.integers(4, len(urn) - 1))
    byte = data.draw(INVISIBLE)
    assert joined(urn[:at] + byte + urn[at:], "rfc8141") == [(0, len(urn) + len(byte), urn)]


@given(FILLING, st.sampled_from([sample["text"] for sample in SAMPLES]), FILLING)
@example(b"<\n", "urn:a1:b-\nc> d", b"\n")
def test_what_stands_far_away_does_not_matter(before, text, behind):
    """The rule looks back to the beginning of the line and no further, so that a stream can be scanned."""
    content = text.encode() + b"\n"
    alone = joined(content, "rfc8141")
    assert [
        (start - len(before), end - len(before), urn)
        for start, end, urn in joined(before + content + behind, "rfc8141")
    ][: len(alone)] == alone


@given(st.sampled_from([sample["text"] for sample in SAMPLES]))
def test_a_joined_urn_is_a_urn_that_the_text_holds(text):
    """It is one of the grammar, its bytes stand in the text in this order, and a scan of it finds all of it."""
    content = text.encode()
    last = 0
    for start, end, urn in joined(content, "rfc8141"):
        assert last <= start < end <= len(content)
        last = end
        rest = iter(content[start:end])
        assert all(byte in rest for byte in urn)
        assert [record.text for record in oracle(urn, "rfc8141")] == [urn]
        assert joined(urn, "rfc8141") == []


def test_look_ahead_is_bounded():
    """What goes on for longer than may be read ahead is not read on at all, rather than cut."""
    longest = b"1" * (MAX_AHEAD - 1)
    assert joined(b"urn:a1:b-\n" + longest, "rfc8141") == [(0, 9 + MAX_AHEAD, b"urn:a1:b-" + longest)]
    assert joined(b"urn:a1:b-\n" + longest + b"1", "rfc8141") == []


BORDERS = [
    # (what the number counts, the text with so many, the numbers for which it is joined, those for which it is not)
    (
        "bytes of a line of quoted-printable",
        lambda n: b"x\n" + b"a" * (n - 12) + b" urn:a1:bcd=\nefgh",
        (60, 76),
        (59, 77),
    ),
    ("invisible bytes", lambda n: b"urn:a1:b" + b"\xe2\x80\x8b" * n + b"cdef", (1, 3), (4,)),
    ("blanks before a line end", lambda n: b"urn:a1:b-" + b" " * n + b"\nc1d2", (0, 4), (5,)),
    ("blanks behind it", lambda n: b"urn:a1:b-\n" + b" " * n + b"c1d2", (0, 60), (61,)),
    ("bytes between the mark and the URN", lambda n: b'"' + b"/" * n + b'urn:a1:b\n-c1"', (0, 64), (65,)),
    ("digits of what is telling", lambda n: b"urn:a1:b:\n" + b"1" * n + b"cdefghij", (4,), (3,)),
    ("bytes of what is telling", lambda n: b"urn:a1:b:\n1234" + b"c" * (n - 4), (8,), (7,)),
]


@pytest.mark.parametrize(
    ("text", "numbers", "others"), [border[1:] for border in BORDERS], ids=[border[0] for border in BORDERS]
)
def test_numbers(text, numbers, others):
    """Each number that the rule says is just that one."""
    assert [number for number in (*numbers, *others) if joined(text(number), "rfc8141")] == [*numbers]


@pytest.mark.parametrize(
    ("text", "is_joined"),
    [
        (b"urn:a1:b-\nore d", True),
        (b"urn:a1:b-\nor d", False),
        (b"urn:a1:b-\nand d", False),
        (b"urn:a1:b-\nDie d", False),
        (b"urn:\nnbn:de:1234 d", True),
        (b"URN:\nnbn:de:1234 d", False),
        (b'"URN:\nnbn:de:1234" d', True),
    ],
)
def test_words_and_labels(text, is_joined):
    """What stands between two lines of prose, or behind the label of a field, is not joined."""
    assert bool(joined(text, "rfc8141")) == is_joined


def test_as_long_as_may_be():
    """A broken URN of exactly `max_length` bytes is not cut."""
    (hit,) = found_in(b"<urn:a1:b-\nc1>", ["wraps"], max_length=len(b"urn:a1:b-c1"))
    assert (hit.text, hit.stop) == ("urn:a1:b-c1", ord(">"))


def test_breaks_are_counted():
    """A URN in brackets with more breaks than a URN may have is none, rather than a part of one."""
    whole = b"<urn:a1" + b":\nb1" * MAX_BREAKS
    assert [urn for _, _, urn in joined(whole + b">", "rfc8141")] == [b"urn:a1" + b":b1" * MAX_BREAKS]
    assert joined(whole + b":\nb1>", "rfc8141") == []


def test_waits_for_as_many_breaks_as_there_may_be():
    """A stream that comes byte by byte gives the same."""
    content = b"<urn:a1:b-" + b"\nc-" * MAX_BREAKS + b"d> x"
    assert [hit.via for hit in found_in(content, ["wraps"], "rfc8141")] == ["wraps"]
    assert streamed(content, [1], ["wraps"], "rfc8141") == found_in(content, ["wraps"], "rfc8141")


def test_a_long_line_has_no_leader():
    """The beginning of the line is looked for in so many bytes, and no bytes in the middle of a line are a leader."""
    assert joined(b"a" * 249 + b" // " + b"a" * 400 + b"<urn:a1:b-\nc1>", "rfc8141") != []
    for far in range(300, 330):  # also where what is looked at begins with them
        assert joined(b"a" * 249 + b" // " + b"a" * far + b"<urn:a1:b-\nc1>", "rfc8141") != []


@given(st.lists(st.sampled_from([sample["text"] for sample in SAMPLES]), min_size=1, max_size=3), cuttings)
def test_however_the_text_is_cut(texts, sizes):
    """Semantics §3: the look ahead over line ends waits for what has not been read yet."""
    content = "\n\n".join(texts).encode()
    assert streamed(content, sizes, ["wraps"], "rfc8141") == found_in(content, ["wraps"], "rfc8141")
