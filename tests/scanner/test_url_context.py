"""URLs around URNs: the host that resolves them, and what of the URL is not the URN's."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.support.oracle import SYNTAXES, Pieces, oracle, records_of
from urnscan.compiled.jit import IS_COMPILED
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.scanner.url_context import LOOK_BACK, URL_BYTES
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)


def scan(text, syntax="rfc2141", **options):
    """All matches, which the oracle finds too, however the text is delivered."""
    data = text.encode()
    scanner = Scanner(Grammar(get_syntax(syntax), **options), block=16)
    found = records_of(scanner.scan_bytes(np.frombuffer(data, np.uint8)))
    assert found == records_of(scanner.scan(Pieces(data, [5]))) == oracle(data, syntax, **options)
    return found


def hosts(text, syntax="rfc2141"):
    return [record.resolver for record in scan(text, syntax)]


def cut(text, syntax="rfc2141", **options):
    return [record.text.decode() for record in scan(text, syntax, resolver_tail="cut", **options)]


class TestHost:
    """RFC 3986 §3.2.2, in lower case, without user information and port."""

    @every_syntax
    @pytest.mark.parametrize(
        ("before", "host"),
        [
            ("https://nbn-resolving.org/", "nbn-resolving.org"),
            ("http://urn.fi/", "urn.fi"),
            ("HTTP://NBN-Resolving.DE/urn/resolver.pl?urn=", "nbn-resolving.de"),
            ("http://nbn-resolving.de/urn/resolver.pl?", "nbn-resolving.de"),
            ("https://r.example/view#", "r.example"),
            ("https://r.example?id=", "r.example"),
            ("https://r.example/?page=1&urn=", "r.example"),
            ("https://r.example/~user/%7E/100%/(a)!$*+;=:@/", "r.example"),
            ("https://r.example:8080/", "r.example"),
            ("https://r.example:/", "r.example"),
            ("https://user:secret@r.example:8080/", "r.example"),
            ("https://a@b@r.example/", "r.example"),
            ("https://192.0.2.7/", "192.0.2.7"),
            ("https://[2001:DB8::7]/", "[2001:db8::7]"),
            ("https://user@[2001:db8::7]:443/", "[2001:db8::7]"),
            ("https://caf%C3%A9.example/", "caf%c3%a9.example"),
            ("svn+ssh.2://r.example/", "r.example"),
            ("(see:https://r.example/", "r.example"),
            ("https://nbn-resolving.org/http://nbn-resolving.de/", "nbn-resolving.de"),
            ("https://web.archive.example/web/2020id_/https://urn.kb.se/resolve?urn=", "urn.kb.se"),
            ("https://r.example/9://b/", "r.example"),
            ("https://r.example//", "r.example"),
        ],
    )
    def test_of_a_url(self, before, host, syntax):
        assert hosts(f"x {before}urn:nbn:de:101-1", syntax) == [host]

    @pytest.mark.full
    @every_syntax
    @pytest.mark.parametrize(
        "before",
        [
            "",
            "/",
            "=",
            "r.example/",
            "//r.example/",
            "://r.example/",
            "9://r.example/",
            "+.://r.example/",
            "file:///tmp/",
            "http://:80/",
            "http://user@/",
            "http://",
            "http://r.example:",
            "http://user:",
            "http://r.example:port/",
            "http://[::1/",
            "http://::1]/",
            "http://[]/",
            "http://[::1]x/",
            "http://[[::1]]/",
            "http://[::1]@r.example/",
            "http://r.example/a[1]/",
            "http://[::1]/a[/",
            "http://r.example/[",
            "http://r.example/ ",
            "http://r.example/ü/",
            "http://r.example/\\",
        ],
    )
    def test_of_none(self, before, syntax):
        assert hosts(f"{before}urn:nbn:de:101-1", syntax) == [None]

    @pytest.mark.parametrize(
        "text",
        [
            "17,https://r.example/x,urn:nbn:de:101-1,Title",
            "17;https://r.example/x;urn:nbn:de:101-1;Title",
            "<a>http://r.example&lt;urn:nbn:de:101-1",
            "<a>http://r.example/?a&lt;urn:nbn:de:101-1",
            "INSERT INTO t VALUES('http://r.example/','urn:nbn:de:101-1')",
            "'http://r.example/'+'urn:nbn:de:101-1'",
            "[[http://r.example/][urn:nbn:de:101-1]]",
            '"http://r.example/":"urn:nbn:de:101-1"',
        ],
    )
    def test_beside_a_url(self, text):
        """RFC 3986 would let some of these be a URL's; tables, scripts and escaped markup mean two things."""
        assert hosts(text) == [None]

    def test_of_all_in_one_url(self):
        """Also behind another URN."""
        assert hosts("https://r.example/?a=urn:ab:c&b=urn:de:f urn:gh:i") == ["r.example", "r.example", None]

    def test_behind_a_subfield_code(self):
        """ISO 2709: a URL would have to hold the byte 0x1F."""
        assert hosts("http://r.example/\x1faurn:nbn:de:101-1") == [None]

    @pytest.mark.parametrize("far", [LOOK_BACK - 1, LOOK_BACK, LOOK_BACK + 1, LOOK_BACK + 9])
    def test_that_is_far(self, far):
        """As far as one looks back a letter of its scheme must stand, however the text is delivered."""
        text = f"http://r.example/{'x' * (far - 15)}/urn:ab:c"
        assert text.index("urn:") - text.index("p:") == far
        assert hosts(text) == ["r.example" if far <= LOOK_BACK else None]

    @pytest.mark.full
    def test_more_hosts_than_there_is_room_for(self):
        """The room for hosts may be used up before the rows are."""
        data = b" ".join(b"http://%b%d/urn:ab:c" % (b"h" * 900, number) for number in range(20))
        scanner = Scanner(Grammar(get_syntax("rfc2141")), rows=8)
        assert records_of(scanner.scan_bytes(np.frombuffer(data, np.uint8)), 8) == oracle(data, "rfc2141")

    @every_syntax
    def test_separators(self, syntax):
        """A text is cut only where no URL is cut: see `TestParts` in test_pipeline."""
        separators = Grammar(get_syntax(syntax)).separators
        assert separators[0] == 0
        assert set(separators).isdisjoint(URL_BYTES)
        assert set(separators) <= set(get_syntax(syntax).separators)
        assert set(b'\n "<>') <= set(separators)


class TestTail:
    """`resolver_tail="cut"`: a URN ends where the next part of the URL begins."""

    @pytest.mark.parametrize(
        ("text", "rfc2141", "rfc8141", "bis_03"),
        [
            # in the path: before the query and the fragment; RFC 8141 §2.3: "?+" and "?=" are the URN's own
            ("https://r/urn:ab:c?x=y", "urn:ab:c", "urn:ab:c", "urn:ab:c"),
            ("https://r/urn:ab:c#x", "urn:ab:c", "urn:ab:c", "urn:ab:c"),
            ("https://r/urn:ab:c?+x?=y#z", "urn:ab:c", "urn:ab:c?+x?=y", "urn:ab:c"),
            ("https://r/urn:ab:c;v=1,2", "urn:ab:c;v=1,2", "urn:ab:c;v=1,2", "urn:ab:c;v=1,2"),
            ("https://r/urn:ab:c&x", "urn:ab:c", "urn:ab:c&x", "urn:ab:c&x"),
            ("https://r/urn:ab:%3F?x", "urn:ab:%3F", "urn:ab:%3F", "urn:ab:%3F"),
            # in the query: before the next parameter and the fragment
            ("https://r/?u=urn:ab:c&x=y", "urn:ab:c", "urn:ab:c", "urn:ab:c"),
            ("https://r/?urn:ab:c#x", "urn:ab:c", "urn:ab:c", "urn:ab:c"),
            ("https://r/?u=urn:ab:c;x=y", "urn:ab:c;x=y", "urn:ab:c;x=y", "urn:ab:c;x=y"),
            ("https://r/?u=urn:ab:c?x=y&z=1", "urn:ab:c?x=y", "urn:ab:c", "urn:ab:c?x=y"),
            ("https://r/?u=urn:ab:c?=x&y=1", "urn:ab:c?=x", "urn:ab:c?=x", "urn:ab:c"),
            # in the fragment, as in the query
            ("https://r/#urn:ab:c?x=y", "urn:ab:c?x=y", "urn:ab:c", "urn:ab:c?x=y"),
            ("https://r/#/view?u=urn:ab:c&x=y", "urn:ab:c", "urn:ab:c", "urn:ab:c"),
            # the innermost URL counts
            ("https://q/?u=https://r/urn:ab:c?x=y", "urn:ab:c", "urn:ab:c", "urn:ab:c"),
            # in no URL
            ("(urn:ab:c?x=y#z", "urn:ab:c?x=y#z", "urn:ab:c", "urn:ab:c?x=y#z"),
            ("//r/urn:ab:c#z", "urn:ab:c#z", "urn:ab:c#z", "urn:ab:c#z"),
        ],
    )
    def test_ends(self, text, rfc2141, rfc8141, bis_03):
        for syntax, found in zip(SYNTAXES, (rfc2141, rfc8141, bis_03), strict=True):
            assert cut(f"<{text}>", syntax) == [found], syntax

    def test_stop_is_the_first_byte_cut_off(self):
        found = scan("https://r/urn:ab:c?x https://r/?urn:ab:c#y https://r/urn:ab:c", resolver_tail="cut")
        assert [record.stop for record in found] == [ord("?"), ord("#"), -2]

    def test_what_is_left_is_matched_again(self):
        """A bare `?+` falls off; what is no URN any more is dropped."""
        (found,) = scan("https://r/?urn:ab:c?+&x", "rfc8141", resolver_tail="cut")
        assert (found.text, found.stop) == (b"urn:ab:c", ord("?"))
        assert cut("https://r/urn:ab:?x https://r/urn:ab:#x") == []
        assert cut("https://r/urn:ab:?urn:cd:e") == ["urn:cd:e"]

    def test_goes_on_behind_the_cut(self):
        found = scan("https://r/urn:ab:c?also=urn:de:f?x#urn:gh:i", resolver_tail="cut")
        assert [(record.text, record.resolver) for record in found] == [
            (b"urn:ab:c", "r"),
            (b"urn:de:f?x", "r"),
            (b"urn:gh:i", "r"),
        ]

    def test_before_trimming(self):
        """So that the full stop before the "?" goes, and that of the URL does not count."""
        assert cut("https://r/urn:ab:c.?x. https://r/urn:ab:c,urn:de:f?x. z", trim=True) == [
            *("urn:ab:c", "urn:ab:c", "urn:de:f?x"),
        ]
        found = scan("https://r/urn:ab:c?x. https://r/urn:ab:c.?x", resolver_tail="cut")
        assert [(record.text, record.punctuation) for record in found] == [(b"urn:ab:c", 0), (b"urn:ab:c.", 1)]
        (found,) = scan("https://r/urn:ab:c.?x", resolver_tail="cut", trim=True)
        assert found.stop == ord(".")

    def test_behind_a_cut_at_max_length(self):
        """The tail is cut off what is left of the match."""
        (found,) = scan("https://r/urn:ab:c?defgh", resolver_tail="cut", max_length=10)
        assert (found.text, found.stop) == (b"urn:ab:c", ord("?"))
        (found,) = scan("https://r/urn:ab:cdef?g", resolver_tail="cut", max_length=10)
        assert (found.text, found.stop) == (b"urn:ab:cde", -1)

    def test_canonical_form_of_what_is_left(self):
        found = scan("https://r/URN:AB:%c3?d=e https://r/?URN:AB:%c3?d=e&f=g", "rfc2141bis-03", resolver_tail="cut")
        assert [record.canonical for record in found] == [b"urn:ab:%C3"] * 2
        found = scan(
            "https://r/URN:AB:%c3?d=e https://r/?URN:AB:%c3?d=e&f=g",
            "rfc2141bis-03",
            resolver_tail="cut",
            keep_query=True,
        )
        assert [record.canonical for record in found] == [b"urn:ab:%C3", b"urn:ab:%C3?d=e"]

    def test_neither_kept_nor_cut(self):
        with pytest.raises(ValueError, match="resolver_tail must be keep or cut, not 'drop'"):
            Grammar(get_syntax("rfc2141"), resolver_tail="drop")

    @pytest.mark.full
    @every_syntax
    @pytest.mark.parametrize("trim", [False, True])
    @pytest.mark.parametrize("first", [2, 200, 250, 256, 257, 300, 600])
    def test_far_behind(self, syntax, trim, first):
        """A match is looked at bit by bit, and found the same."""
        long = "x" * 400
        for tail in (f"?x={long}{long}", f"?+{long}#y", f"&{long}#", f"?k={long}&l=;urn:ab:c", f",urn:ab:{long}?x"):
            for begin in ("https://r/", "https://r/?", "~"):
                cut(f"{begin}urn:ab:{'c' * first}{tail} z", syntax, trim=trim)


@pytest.mark.skipif(not IS_COMPILED, reason="too much for plain Python")
class TestTime:
    """Linear in the text, whatever it is: a bounded look back, and no long match that is matched over and over."""

    @pytest.mark.full
    @pytest.mark.parametrize(
        "unit", [b"urn:ab:c~", b"urn:", b"http://r/urn:ab:c?", b"?urn:ab:c", b"://", b"http://r/urn:ab:c,urn:ab:d&"]
    )
    def test_of_texts_that_are_made_to_harm(self, unit):
        text = np.frombuffer(b"http://r/" + unit * (8_000_000 // len(unit)), np.uint8)
        scanner = Scanner(Grammar(get_syntax("rfc2141"), resolver_tail="cut"))
        next(scanner.scan_bytes(text[:99]), None)  # compiled before the clock starts
        began = time.thread_time()
        for _ in scanner.scan_bytes(text):
            pass
        assert time.thread_time() - began < 8  # a fraction of one; to match to the end of each would take minutes
