"""`find`: the scanner for a string that is at hand."""

from __future__ import annotations

import io
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import SYNTAXES, oracle
from tests.support.strategies import any_bytes
from urnscan.scanner import find as finding
from urnscan.scanner.find import Occurrence, find
from urnscan.urn.equivalence import canonical

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
_foreign = st.text(st.sampled_from("äß文🦉\u0301\ud800\udfff\x00\x1f\n aZ:%"), max_size=4)
texts = st.lists(st.one_of(any_bytes.map(lambda part: part.decode("latin-1")), _foreign), max_size=5).map("".join)
options = st.fixed_dictionaries(
    {
        "trim": st.booleans(),
        "resolver_tail": st.sampled_from(["keep", "cut"]),
        "max_length": st.one_of(st.just(65_536), st.integers(1, 40)),
    }
)


def expected(text, syntax, **options):
    return [
        Occurrence(
            text=record.text.decode(),
            start=record.start,
            end=record.end,
            urn=record.canonical.decode(),
            nid=record.nid.decode().lower(),
        )
        for record in oracle(text, syntax, **options)
    ]


class TestBytes:
    """Contract, Python: bytes give byte positions."""

    @every_syntax
    @given(text=any_bytes, options=options, rows=st.integers(1, 3))
    def test_oracle(self, syntax, text, options, rows):
        """All there are, however many are handed over at a time."""
        with mock.patch.object(finding, "_ROWS", rows):
            assert find(text, syntax=syntax, **options) == expected(text, syntax, **options)

    def test_more_than_are_handed_over_at_a_time(self):
        text = b" ".join(b"URN:a:%d" % number for number in range(5_000))
        found = find(text)
        assert [one.urn for one in found] == [f"urn:a:{number}" for number in range(5_000)]
        assert all(text[one.start : one.end] == one.text.encode() for one in found)

    @pytest.mark.parametrize(
        "kind", [bytes, bytearray, memoryview, lambda any_bytes: np.frombuffer(any_bytes, np.uint8)]
    )
    def test_kinds_of_bytes(self, kind):
        (found,) = find(kind(b"\xffurn:a:b\xff"))
        assert (found.text, found.start, found.end) == ("urn:a:b", 1, 8)

    @pytest.mark.parametrize("given", [None, 1, 1.5, [], {}, [117, 114], io.StringIO("urn:a:b"), np.array([1])])
    def test_no_text(self, given):
        """Neither bytes made of numbers, nor nothing found in silence, nor an error of an inner part."""
        with pytest.raises(
            TypeError, match=f"^a text must be a str or bytes, not {type(given).__name__}(; urnscan.scan_frame .*)?$"
        ):
            find(given)


class TestCharacters:
    """Contract, Python: "a str gives character positions"."""

    @every_syntax
    @given(text=texts, options=options)
    def test_positions(self, syntax, text, options):
        in_bytes = text.encode("utf-8", "surrogatepass")
        found = find(text, syntax=syntax, **options)
        assert [text[one.start : one.end] for one in found] == [one.text for one in found]
        characters = [
            len(in_bytes[: one.start].decode("utf-8", "surrogatepass"))
            for one in find(in_bytes, syntax=syntax, **options)
        ]
        assert [one.start for one in found] == characters
        assert [(one.text, one.urn, one.nid) for one in found] == [
            (one.text, one.urn, one.nid) for one in expected(in_bytes, syntax, **options)
        ]

    def test_quotation_marks(self):
        (found,) = find("„URN:nbn:de:101:1-201609052530“")
        assert found == Occurrence(
            text="URN:nbn:de:101:1-201609052530",
            start=1,
            end=30,
            urn="urn:nbn:de:101:1-201609052530",
            nid="nbn",
        )

    def test_beyond_the_basic_plane(self):
        assert [(one.start, one.end) for one in find("🦉🦉urn:a:b🦉urn:c:d")] == [(2, 9), (10, 17)]

    def test_nothing(self):
        assert find("") == find(b"") == find("ä") == find("urn:") == []


class TestOptions:
    """Semantics §4, §5: the options of the command."""

    def test_trim(self):
        assert [one.text for one in find("(urn:a:b).")] == ["urn:a:b)."]
        assert [one.text for one in find("(urn:a:b).", trim=True)] == ["urn:a:b"]
        assert [one.text for one in find("urn:a:b;urn:c:d", trim=True)] == ["urn:a:b", "urn:c:d"]

    @pytest.mark.parametrize(
        ("text", "syntax", "texts"),
        [
            ("urn:li:like:(urn:li:person:A,urn:li:activity:1)", "rfc2141", None),
            ("urn:li:a:(urn:li:b:(urn:li:c:d,e),f,urn:li:g:h)", "rfc2141", None),
            ("urn:ab:(b,urn:cc:d", "rfc2141", ["urn:ab:(b", "urn:cc:d"]),
            ("(urn:ab:b,urn:cc:d)", "rfc2141", ["urn:ab:b", "urn:cc:d"]),
            ("urn:ab:(b),urn:cc:d", "rfc2141", ["urn:ab:(b)", "urn:cc:d"]),
            ("urn:ab:(b(c,urn:cc:d)", "rfc2141", None),
            ("'urn:ab:(b,urn:cc:d')", "rfc2141", ["urn:ab:(b", "urn:cc:d"]),
            ("urn:isbn:9780395363416's", "rfc2141", ["urn:isbn:9780395363416"]),
            ("urn:ab:b'S.", "rfc2141", ["urn:ab:b"]),
            ("urn:ab:rock'n'roll's", "rfc2141", ["urn:ab:rock'n'roll"]),
            ("urn:ab:b's-c", "rfc2141", None),
            ("urn:ab:b&urn:cc:d", "rfc8141", ["urn:ab:b", "urn:cc:d"]),
            ("urn:ab:b&quot;, urn:ab:c&lt;/a&gt; urn:ab:d&gt;", "rfc8141", ["urn:ab:b", "urn:ab:c", "urn:ab:d"]),
            ("urn:ab:b&amp; urn:ab:c&amp;urn:ab:d", "rfc8141", ["urn:ab:b", "urn:ab:c", "urn:ab:d"]),
            ("urn:ab:b&#34; urn:ab:c&#x22;. urn:ab:d&#39;s", "rfc8141", ["urn:ab:b", "urn:ab:c", "urn:ab:d"]),
            ("urn:ab:b&apos; urn:ab:c&nbsp;d urn:ab:d&#8221;", "rfc8141", ["urn:ab:b", "urn:ab:c", "urn:ab:d"]),
            ("urn:ab:b&ampere urn:ab:c&lt urn:ab:d&amp;e", "rfc8141", None),
            ("urn:ab:b&#45;c urn:ab:c&#x urn:ab:d&quote;e", "rfc8141", None),
        ],
    )
    def test_trim_of_lists_genitives_and_markup(self, text, syntax, texts):
        """Semantics, `--trim`, steps 1 and 2; None: nothing is cut."""
        assert [one.text for one in find(text, syntax=syntax, trim=True)] == (texts or text.split(" "))

    @pytest.mark.parametrize(("distance", "names"), [(512, 1), (513, 2)])
    def test_a_bracket_holds_a_list_for_some_bytes_only(self, distance, names):
        """512 bytes from the comma to the bracket: else lists of open brackets take time that grows with its square."""
        text = f"urn:ab:(b,{'urn:cc:'.ljust(distance - 1, 'd')})"
        assert len(find(text, trim=True)) == names

    @pytest.mark.parametrize(
        "text", ["x-urn:ab:c", "foo+urn:ab:c", "legacy.urn:ab:c", "?q=%22urn:ab:c", "%2Curn:ab:c", "a%20urn:ab:c"]
    )
    def test_what_may_stand_before_a_name(self, text):
        """Semantics, where a URN begins: what could be another scheme (RFC 3986 §3.1), and an encoded character."""
        assert [one.text for one in find(text)] == ["urn:ab:c"]

    @pytest.mark.parametrize("text", ["%41urn:ab:c", "%E9urn:ab:c", "22urn:ab:c", "%2urn:ab:c"])
    def test_a_letter_before_a_name(self, text):
        """An encoded letter, a byte beyond ASCII, and no encoding at all: the word may go on."""
        assert find(text) == []

    def test_trim_that_is_no_flag(self):
        """`trim="no"` must not trim in silence."""
        with pytest.raises(TypeError, match="trim must be True or False, not 'no'"):
            find("(urn:a:b).", trim="no")

    def test_max_length(self):
        assert [one.text for one in find("urn:a:" + "b" * 10, max_length=9)] == ["urn:a:bbb"]

    @pytest.mark.parametrize(
        ("given", "error", "says"),
        [(0, ValueError, "at least 1"), (2**28 + 1, ValueError, "at most 268,435,456"), (1.5, TypeError, "not 1.5")],
    )
    def test_max_length_that_is_none(self, given, error, says):
        """Said in a line: neither the compiler nor the allocator of arrays has to."""
        with pytest.raises(error, match=f"^max_length must be .*{says}$"):
            find("urn:a:b", max_length=given)

    @given(any_bytes)
    def test_resolution(self, text):
        """The classes are those of `canonical`."""
        meaning = {"syntax": "rfc2141bis-03", "equivalence": "resolution"}
        found = find(text, **meaning)
        assert [one.urn for one in found] == [canonical(one.text, **meaning) for one in found]
        assert len(found) == len(find(text, syntax="rfc2141bis-03"))

    def test_directives_sorted(self):
        (found,) = find("<urn:ab:c?s=1&c=%2c#f>", syntax="rfc2141bis-03", equivalence="resolution")
        assert (found.text, found.urn) == ("urn:ab:c?s=1&c=%2c#f", "urn:ab:c?c=%2C&s=1")

    def test_errors(self):
        with pytest.raises(ValueError, match="syntax: unknown value"):
            find("", syntax="rfc1")
        with pytest.raises(ValueError, match="equivalence: unknown value"):
            find("", equivalence="none")
        with pytest.raises(ValueError, match="resolution"):
            find("", equivalence="resolution")

    def test_immutable(self):
        (found,) = find("urn:a:b")
        with pytest.raises(AttributeError):
            found.urn = "urn:c:d"
