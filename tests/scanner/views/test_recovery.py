"""URNs that a literal scan misses, found in another reading of the text, with their place in it."""

from __future__ import annotations

import html
import json
import time
import urllib.parse
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.oracle import SYNTAXES, oracle
from tests.support.strategies import any_bytes, cuttings, urn_pairs
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.scanner.kernel import END
from urnscan.scanner.scanners import make_scanner
from urnscan.scanner.views.kinds import KINDS
from urnscan.scanner.views.recovery import RecoveringScanner
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)


class Hit(NamedTuple):
    start: int
    end: int
    text: str
    via: str | None
    line: int = 1
    stop: int = END


_SCANNERS: dict = {}


def scanner(syntax, recover, **options):
    """One for each grammar: its compiled code is slow to make ready."""
    key = syntax, tuple(recover), tuple(options.items())
    if key not in _SCANNERS:
        _SCANNERS[key] = make_scanner(Grammar(get_syntax(syntax), **options), recover)
    return _SCANNERS[key]


def hits_of(batches):
    found = []
    for matches in batches:
        via = matches.via
        for row in range(len(matches)):
            start = int(matches.start[row])
            found.append(
                Hit(
                    start,
                    start + int(matches.length[row]),
                    matches.text[matches.text_offsets[row] : matches.text_offsets[row + 1]].tobytes().decode(),
                    (None, *KINDS)[via[row]],
                    int(matches.line[row]),
                    int(matches.stop[row]),
                )
            )
    return found


def found_in(text, recover=KINDS, syntax="rfc2141", **options):
    """What is found in a text in memory; it must be the same however the text is cut."""
    return hits_of(scanner(syntax, recover, **options).scan_bytes(np.frombuffer(text, np.uint8)))


def streamed(text, sizes, recover=KINDS, syntax="rfc2141", **options):
    """What is found when a stream delivers the text in pieces of these sizes, again and again."""
    at = turn = 0

    def read(view):
        nonlocal at, turn
        piece = text[at : at + min(len(view), sizes[turn % len(sizes)])]
        view[: len(piece)] = piece
        at, turn = at + len(piece), turn + 1
        return len(piece)

    scan = scanner(syntax, recover, **options)
    found = hits_of(scan.scan(read))
    assert (scan.byte_count, scan.lines) == (len(text), text.count(b"\n"))
    return found


def simple(hits):
    return [(hit.start, hit.end, hit.text, hit.via) for hit in hits]


def percent(urn):
    return urllib.parse.quote(urn, safe="").encode()


def percent_twice(urn):
    return urllib.parse.quote(urllib.parse.quote(urn, safe=""), safe="").encode()


def numeric(urn):
    return "".join(c if c.isalnum() else f"&#{ord(c)};" for c in urn).encode()


def hexadecimal(urn):
    return "".join(c if c.isalnum() else f"&#X{ord(c):04x};" for c in urn).encode()


def json_escaped(urn):
    return "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in urn).encode()


def slashed(urn):
    return urn.replace(":", "\\x3A").replace("/", "\\/").encode()


HIDINGS = [
    (percent, "percent", b"https://x.example/?u=", b"&v=1"),
    (percent_twice, "percent", b"https%3A%2F%2Fx.example%2F%3Fu%3D", b"%26v%3D1"),
    (numeric, "entities", b'<a href="', b'">'),
    (hexadecimal, "entities", b"<a href='&quot;", b"&quot;'>"),
    (json_escaped, "escapes", b'{"a": "', b'"}'),
    (slashed, "escapes", b'"\\n', b'\\n"'),
]


class TestHidden:
    """Hiding a URN by a view's own encoding and scanning with that view returns it, its offset and its length."""

    @pytest.mark.parametrize(("hide", "via", "before", "behind"), HIDINGS)
    @every_syntax
    @FEW
    @given(data=st.data())
    def test_is_found(self, hide, via, before, behind, syntax, data):
        spelled, _ = data.draw(urn_pairs(syntax))
        hidden = hide(spelled)
        text = b"some text\n" + before + hidden + behind + b" and more"
        start = len(b"some text\n") + len(before)
        expected = (start, start + len(hidden), spelled, via)
        assert expected in simple(found_in(text, [via], syntax))
        assert expected in simple(found_in(text, KINDS, syntax))

    @every_syntax
    @FEW
    @given(data=st.data(), hiding=st.sampled_from(HIDINGS), sizes=cuttings)
    def test_however_the_text_is_cut(self, syntax, data, hiding, sizes):
        """Semantics §3: the result never depends on how the input is cut into blocks."""
        hide, _, before, behind = hiding
        parts = [
            data.draw(any_bytes) + before + hide(data.draw(urn_pairs(syntax))[0]) + behind
            for _ in range(data.draw(st.integers(1, 3)))
        ]
        text = b"".join(parts)
        options = {"trim": data.draw(st.booleans()), "max_length": data.draw(st.sampled_from([65_536, 20]))}
        assert streamed(text, sizes, KINDS, syntax, **options) == found_in(text, KINDS, syntax, **options)


class TestLiteral:
    """Without hidden forms it is as if no view was asked for."""

    @every_syntax
    @given(text=any_bytes)
    def test_a_text_without_hidden_forms(self, syntax, text):
        for mark in (b"%", b"&", b"\\", b"\xc2", b"\xe2", b"\xef", b"\x1f"):
            text = text.replace(mark, b"|")
        text = b" | ".join(part for part in text.split() if b"urn" in part.lower())
        records = oracle(text, syntax)
        for record in records:  # what is glued to a label, or stands behind it, is what the views are for
            assume(record.start)
        found = found_in(text, ["percent", "entities", "escapes", "wraps"], syntax)
        assert [(hit.start, hit.end, hit.text.encode(), hit.via) for hit in found] == [
            (record.start, record.start + len(record.text), record.text, None) for record in records
        ]

    @every_syntax
    @given(text=any_bytes, options=st.fixed_dictionaries({"trim": st.booleans()}))
    def test_no_view(self, syntax, text, options):
        """The hunt itself changes nothing: with no reading on, all is literal."""
        scan = RecoveringScanner(Grammar(get_syntax(syntax), **options), ())
        found = hits_of(scan.scan_bytes(np.frombuffer(text, np.uint8)))
        assert [(hit.start, hit.end, hit.text.encode(), hit.line, hit.stop) for hit in found] == [
            (record.start, record.start + len(record.text), record.text, record.line, record.stop)
            for record in oracle(text, syntax, **options)
        ]

    @every_syntax
    @given(text=any_bytes, recover=st.lists(st.sampled_from(KINDS), min_size=1, unique=True), sizes=cuttings)
    @example(b"urn:a:b%3", ["percent"], [1])
    def test_order_and_places(self, syntax, text, recover, sizes):
        """Hits are in order and do not overlap; a literal one is the bytes that stand there, and would be found without."""
        found = found_in(text, recover, syntax)
        assert streamed(text, sizes, recover, syntax) == found
        literal = {(record.start, record.start + len(record.text)) for record in oracle(text, syntax)}
        end = 0
        for hit in found:
            assert hit.start >= end
            end = hit.end
            assert hit.line == 1 + text.count(b"\n", 0, hit.start)
            if hit.via is None:
                assert text[hit.start : hit.end] == hit.text.encode()
                assert (hit.start, hit.end) in literal
            else:
                assert hit.via in recover
        kept = {(hit.start, hit.end) for hit in found if hit.via is None}
        for start, stop in literal - kept:  # only what is hidden takes their place
            assert any(hit.via and hit.start < stop and start < hit.end for hit in found)


TABLE = [
    # percent: what is decoded is that level only
    ("percent", b"?u=urn%3Anbn%3Ade%3A101%3A1-2&x", [(3, 29, "urn:nbn:de:101:1-2")]),
    ("percent", b"?u=URN%3aisbn%3a1%252C2", [(3, 23, "URN:isbn:1%2C2")]),
    ("percent", b"?u=urn%253Aisbn%253A1%25252C2", [(3, 29, "urn:isbn:1%2C2")]),
    ("percent", b"?u=urn:nbn%3Ade-1", [(3, 17, "urn:nbn:de-1")]),
    ("percent", b"?u=%22urn:isbn:1%22", [(6, 16, "urn:isbn:1")]),
    ("percent", b"%3Furn%3Aisbn%3A1%26a", [(3, 17, "urn:isbn:1")]),
    ("percent", b"?u=urn%3Aisbn%3A1%20x urn%3A", [(3, 17, "urn:isbn:1")]),
    ("percent", b"?u=urn%3Aisbn%3A1%2", [(3, 17, "urn:isbn:1")]),
    (
        "percent",
        b"?;node=urn%3Axmpp%3Amicroblog%3A0;item=1 ?l=urn%3Aa%3Ab,urn%3Ac%3Ad+e",
        [(7, 33, "urn:xmpp:microblog:0"), (44, 55, "urn:a:b"), (56, 67, "urn:c:d")],
    ),
    ("percent", b"return%3Afoo%3Abar urn%3Aa urn%3A%3A", []),
    # entities: named, decimal, hexadecimal; what they stand for can end it
    ("entities", b"urn&#58;isbn&#x3A;1&amp;", [(0, 19, "urn:isbn:1")]),
    ("entities", b"urn&colon;doi&colon;10&period;1&sol;2&quot;x", [(0, 37, "urn:doi:10.1/2")]),
    ("entities", b"urn&#58;a:b&eacute;c &#117;rn:a:b", [(0, 11, "urn:a:b")]),
    ("entities", b"urn&#58;a:b&unknown;", [(0, 11, "urn:a:b")]),
    ("entities", b"urn&#58:isbn urn&colon isbn urn&#;a:b urn&#x;a:b", []),
    # escapes: JSON, C, N-Triples, LaTeX
    ("escapes", b'"urn\\u003aisbn\\u003A1"', [(1, 21, "urn:isbn:1")]),
    ("escapes", b'"urn:doi:10.1\\/2\\\\x"', [(1, 16, "urn:doi:10.1/2")]),
    ("escapes", b"urn\\x3aa\\072b \\U0000003a", [(0, 13, "urn:a:b")]),
    ("escapes", b"urn:nbn:de:0030\\_x\\\n-1", [(0, 22, "urn:nbn:de:0030_x-1")]),
    ("escapes", b'"\\nurn:isbn:1\\n" \\"urn:a:b\\"', [(3, 13, "urn:isbn:1")]),
    ("escapes", b"urn\\u00e9a urn\\nisbn:1 urn\\u003 urn\\", []),
    # labels: spaced or glued, and only of registered namespaces
    ("labels", b"URN: nbn:de:101:1-2 urn:  isbn:1", [(0, 19, "URN:nbn:de:101:1-2"), (20, 32, "urn:isbn:1")]),
    ("labels", b"urn:nbn: se:uu:diva-1", [(0, 21, "urn:nbn:se:uu:diva-1")]),
    ("labels", b"urn:\xc2\xa0isbn:1", [(0, 12, "urn:isbn:1")]),
    ("labels", b"http://nbnurn:nbn:de:1", [(10, 22, "urn:nbn:de:1")]),
    (
        "labels",
        b"ISBNurn:isbn:1 return:isbn:1 turn:service:x xurn:foo:bar urn: foo:bar urn: see urn:   isbn:1",
        [(4, 14, "urn:isbn:1")],
    ),
    ("labels", b"urn:example: urn:example:a urn: URN:x:y", []),
    ("labels", b"urn: isbn: 1 urn:isbn: and", [(0, 12, "urn:isbn:1"), (13, 26, "urn:isbn:and")]),
]


@pytest.mark.parametrize(("kind", "text", "expected"), TABLE, ids=lambda value: value if isinstance(value, str) else "")
def test_table(kind, text, expected):
    """What each view reads, and what it leaves alone; nothing but its own."""
    found = [hit for hit in found_in(text, [kind]) if hit.via]
    assert simple(found) == [(*hit, kind) for hit in expected]


class TestEntities:
    def test_end_what_rfc8141_would_swallow(self):
        """RFC 8141's alphabet holds & and ;, so a literal match runs on through the references of a page."""
        text = b"<a>urn:example:a&quot;&gt;b</a> urn:example:a&amp;b &lt;urn:example:c&gt;&nbsp;x urn:example:d&e;"
        assert [(hit.text, hit.via) for hit in found_in(text, ["entities"], "rfc8141")] == [
            ("urn:example:a", "entities"),
            ("urn:example:a&b", "entities"),
            ("urn:example:c", "entities"),
            ("urn:example:d&e;", None),
        ]
        assert [hit.text for hit in found_in(text, ["entities"], "rfc2141")] == [f"urn:example:{x}" for x in "aacd"]

    @pytest.mark.parametrize(
        "name", ["colon", "sol", "period", "lpar", "plus", "equals", "num", "quest", "lowbar", "Tab"]
    )
    def test_names(self, name):
        """The names are those of HTML 5."""
        character = html.unescape(f"&{name};")
        expected = "urn:a:b" + (character + "c" if character != "\t" else "")
        assert found_in(f"urn&#58;a:b&{name};c".encode(), ["entities"])[0].text == expected


class TestEscapes:
    @given(urn_pairs("rfc2141"))
    def test_json(self, pair):
        """Whatever JSON writes: with every other character escaped it is still one string."""
        spelled, _ = pair
        escaped = spelled[:3] + "".join(c if i % 2 else f"\\u{ord(c):04X}" for i, c in enumerate(spelled[3:]))
        assert json.loads(f'"{escaped}"') == spelled
        assert simple(found_in(f'"{escaped}"'.encode(), ["escapes"])) == [(1, 1 + len(escaped), spelled, "escapes")]


def test_literal_wins_inside_of_itself():
    """Percent-encodings that belong to a URN stay: nothing is looked for inside of a literal match."""
    text = b"urn:foo:bar?u=urn%3Aisbn%3A1"
    assert simple(found_in(text)) == [(0, len(text), text.decode(), None)]
    assert simple(found_in(text, KINDS, "rfc8141")) == [(0, 11, "urn:foo:bar", None), (14, 28, "urn:isbn:1", "percent")]


def test_long_ones_are_cut_as_literal_ones_are():
    """`max_length` counts the bytes of the URN, not those that hide it."""
    found = found_in(b"?u=urn%3Aa%3A" + b"%41" * 100, ["percent"], max_length=20)
    assert (found[0].text, found[0].end - found[0].start) == ("urn:a:" + "A" * 14, 3 + 3 + 1 + 3 + 14 * 3)


@pytest.mark.full
def test_many_short_ones():
    """More than the windows hold at once, and broken ones longer than `max_length` allows."""
    text = b"<urn:a1:b-\n" + b"c" * 200 + b"> urn%3Aa1%3Ab "
    found = found_in(text * 3_000, max_length=8)
    assert len(found) == 2 * 3_000
    assert {hit.text for hit in found} == {"urn:a1:b"}


def test_lines_where_literal_ones_come_in_many_batches():
    """What is hidden between two batches of literal ones has the line in which it stands."""
    text = b"\nurn:a:b\n\nurn%3Aa:c\nurn:a:d\nurn:a:e urn%3Aa:f\n\nurn%3Aa:g"
    scan = RecoveringScanner(Grammar(get_syntax("rfc2141")), ["percent"])
    scan._literal = Scanner(scan.grammar, rows=1)
    hits = hits_of(scan.scan_bytes(np.frombuffer(text, np.uint8)))
    assert [(hit.text[-1], hit.line) for hit in hits] == [("b", 2), ("c", 4), ("d", 5), ("e", 6), ("f", 6), ("g", 8)]
    assert hits == found_in(text, ["percent"])


def test_only_the_last_of_a_list_is_cut_for_the_length_of_all():
    """Where trimming takes apart what is read as one, the others end at a comma."""
    hits = found_in(b"urn&#58;a1:b,urn&#58;c1:defgh ", ["entities"], trim=True, max_length=20)
    assert [(hit.text, hit.stop) for hit in hits] == [("urn:a1:b", ord(",")), ("urn:c1:defg", -1)]


class TestInURLs:
    """What is hidden in a URL has that URL's host, and loses that URL's tail where the tail is cut."""

    @pytest.mark.parametrize(
        ("text", "host"),
        [
            (b"https://h.example/?q=urn%3Aa1%3Ab", "h.example"),
            (b"https://h.example/?q=%3Durn%3Aa1%3Ab", "h.example"),
            (b"https://proxy.example/login?url=https%3A%2F%2Fr.example%2Furn%3Anbn%3Ade%3A101-1&x=1", "proxy.example"),
            (b"http://h.example/nbnurn:nbn:de:1-2", "h.example"),
            (b"see urn%3Aa1%3Ab", ""),
        ],
    )
    def test_host(self, text, host):
        (matches,) = scanner("rfc2141", KINDS).scan_bytes(np.frombuffer(text, np.uint8))
        assert matches.host.tobytes().decode() == host
        assert matches.host_offsets.tolist() == [0, len(host)]

    @pytest.mark.parametrize(
        ("text", "syntax", "urn"),
        [
            (b"https://h.example/?u=urn:nbn:de:101:1-2&amp;x=y ", "rfc8141", "urn:nbn:de:101:1-2"),
            (b"https://h.example/urn:nbn:de:101:1-&#50;?x=y ", "rfc2141", "urn:nbn:de:101:1-2"),
            (b"see urn:nbn:de:101:1-&#50;?x=y ", "rfc2141", "urn:nbn:de:101:1-2?x=y"),
        ],
    )
    def test_tail(self, text, syntax, urn):
        (hit,) = found_in(text, ["entities"], syntax, resolver_tail="cut")
        assert hit.text == urn

    @pytest.mark.parametrize("urn", [b"urn:ab:c", b"urn&#58;ab:c"])
    def test_tail_behind_a_cut_at_max_length(self, urn):
        """As for what is literal: the tail is cut off what is left, and is what ends the URN."""
        (hit,) = found_in(b"https://r.example/" + urn + b"?defgh ", ["entities"], resolver_tail="cut", max_length=10)
        assert (hit.text, hit.stop) == ("urn:ab:c", ord("?"))


def test_in_a_list_what_is_literal_stays_literal():
    """`via` is null for what stands there literally, also where trimming takes a list apart that begins hidden."""
    assert simple(found_in(b"urn&#58;a1:b,urn:c1:d", ["entities"], trim=True)) == [
        (0, 12, "urn:a1:b", "entities"),
        (13, 21, "urn:c1:d", None),
    ]


def test_a_slow_stream_need_not_wait():
    """Five line ends, an empty line, or what is no break at all decide whether a URN goes on."""
    pieces = [b"urn:a1:b\xe2\x80\x9d x\n", b"next urn:c1:d-\n\n", b"urn:e1:f-\n1\n2\n3\n4\n5\n"]
    given = []

    def read(view):
        if not pieces:
            given.append(b"")
            return 0
        view[: len(pieces[0])] = pieces[0]
        given.append(pieces[0])
        return len(pieces.pop(0))

    for number, hits in enumerate(map(hits_of, ([matches] for matches in scanner("rfc2141", ["wraps"]).scan(read)))):
        if hits:
            assert len(given) == number + 1, "before more is read"
        assert len(hits) == (number < 3)


class TestFailure:
    """As `Scanner.scan`: what was read before a failure counts, if it is whole."""

    @every_syntax
    @FEW
    @given(data=st.data(), sizes=cuttings, rejects=st.booleans())
    def test_what_was_whole_counts(self, syntax, data, sizes, rejects):
        parts = [data.draw(any_bytes) for _ in range(data.draw(st.integers(0, 3)))]
        text = b" | ".join(
            [*parts, b"urn%3Aisbn%3A1 urn&#58;isbn&#58;2", b"urn:ab:c-\n  d1234:5\n\n", data.draw(any_bytes)]
        )
        pieces = [text[at : at + sizes[0]] for at in range(0, len(text), sizes[0])]

        def read(view):
            if not pieces:
                raise OSError("gone")
            view[: len(pieces[0])] = pieces[0]
            return len(pieces.pop(0))

        scan = scanner(syntax, KINDS, rejects=rejects)
        batches = []
        with pytest.raises(OSError, match="gone"):
            batches.extend(scan.scan(read))  # which keeps what came before
        found = hits_of(batches)
        assert scan.byte_count == len(text)
        whole = found_in(text, KINDS, syntax)
        assert [hit for hit in found if hit not in whole] == []
        assert [hit for hit in whole if hit not in found and hit.end + 2 < len(text) - 400] == []

    @pytest.mark.parametrize(
        ("text", "beginning"),
        [
            (b"urn:aa:a\\:", "urn:aa:a"),
            (b"urn:aa:a&#58;", "urn:aa:a"),
            (b"urn:ab:c-\n  d1234:5\n\nurn:ab:urn:a:\naurn:a:a", "urn:ab:urn:a:"),
        ],
    )
    def test_a_urn_that_may_go_on_does_not_count(self, text, beginning):
        """Reading fails behind a hidden byte or a line end: the literal beginning of a URN is not given for all of it."""
        pieces = [b"x urn:aa:b | " + text]

        def read(view):
            if not pieces:
                raise OSError("gone")
            view[: len(pieces[0])] = pieces[0]
            return len(pieces.pop(0))

        batches = []
        with pytest.raises(OSError, match="gone"):
            batches.extend(scanner("rfc8141", KINDS).scan(read))
        texts = [hit.text for hit in hits_of(batches)]
        assert beginning not in texts
        assert "urn:aa:b" in texts


@pytest.mark.parametrize(
    ("quoted", "view"),
    [
        (b"urn%3Aex%3Aab", "percent"),
        (b"urn:ex:a&#98;", "entities"),
        (b"urn:ex:\\u0061b", "escapes"),
        (b"urn:ex:a\xc2\xadb", "wraps"),
        (b"urn:isbn: ab", "labels"),
        (b"urn:ex:a<b>b</b>", "markup"),
    ],
)
def test_a_quotation_ends_a_hidden_urn(quoted, view):
    """Semantics, "Trim": a `'` directly before a URN ends it at the next `'`, also in a view."""
    hits = found_in(b"<a xmlns='" + quoted + b"'/>", [view], trim=True)
    assert [(hit.text[-3:], hit.via) for hit in hits] == [(":ab", view)]


def test_texts_side_by_side():
    """NUL stands between texts that are scanned as one: nothing of one counts for the other."""
    for before, text in ((b"# foo", b"urn:ietf:params:rtp-\n   hdrext:sdes:mid x"), (b'"', b"urn:ab:c-\nand x")):
        alone = found_in(text, ["wraps"])
        both = found_in(before + b"\0" + text, ["wraps"])
        assert [hit.text for hit in both] == [hit.text for hit in alone]


def test_broken_ones_are_cut():
    """`stop` is -1 for a cut at `max_length`, whatever shows the URN."""
    (hit,) = found_in(b"<urn:a1:b-\n" + b"c" * 200 + b">", ["wraps"], max_length=20)
    assert (hit.text, hit.stop, hit.via) == ("urn:a1:b-" + "c" * 11, -1, "wraps")


@pytest.mark.full
@pytest.mark.parametrize(
    "piece",
    [
        b"urn%3Aa%3A",
        b"urn%3A",
        b"urn&#58;",
        b"urn:urn\\u003a",
        b"urn: ",
        b"xurn:foo:",
        b"xurn:iso:",
        b"urn:a:b-\n",
        b"<urn:a:\n",
    ],
)
def test_linear_time(piece):
    """Candidates in candidates: twice the bytes take twice the time, and no byte is read again and again."""

    def seconds(times):
        began = time.thread_time()
        found_in(piece * times)
        return time.thread_time() - began

    seconds(10)
    small = min(seconds(2_000) for _ in range(3))
    assert min(seconds(8_000) for _ in range(3)) < 8 * small + 0.05


@pytest.mark.parametrize("recover", [KINDS, *((kind,) for kind in KINDS)])
def test_memory_is_bounded(recover):
    """What is passed over is no URN, however much of it there is, with each of the views."""
    scan = scanner("rfc2141", recover)
    left = [(b"urn" + b"\\\n" * 100_000)] + [b"\\\n" * 200_000] * 20

    def read(view):
        piece = left[0][: len(view)] if left else b""
        view[: len(piece)] = piece
        if left:
            left[0] = left[0][len(piece) :]
            if not left[0]:
                left.pop(0)
        return len(piece)

    assert hits_of(scan.scan(read)) == []
    assert len(scan._literal._buffer) < 4 << 20
