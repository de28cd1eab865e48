"""The scanner by examples: what is found, where it ends and what its canonical form is."""

from __future__ import annotations

import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from tests.support.oracle import CUT, END, SYNTAXES, Pieces, Record, oracle, records_of, rejects
from urnscan.compiled.jit import IS_COMPILED
from urnscan.scanner import blocks as scanner_module
from urnscan.scanner.blocks import Matches, Rejects, Scanner
from urnscan.scanner.grammar import MAX_LENGTH, Grammar
from urnscan.urn.syntax import get_syntax

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
EXCLUDED = bytes([*range(33), *b'\\"&<>[]^`{|}~', *range(127, 256)])


def scan(text: str | bytes, syntax: str = "rfc2141", **options: object) -> list[Record]:
    """All matches, which the oracle finds too."""
    data = text.encode() if isinstance(text, str) else text
    found = records_of(Scanner(Grammar(get_syntax(syntax), **options)).scan_bytes(np.frombuffer(data, np.uint8)))
    assert found == oracle(data, syntax, **options)
    return found


def texts(text: str | bytes, syntax: str = "rfc2141", **options: object) -> list[str]:
    return [record.text.decode() for record in scan(text, syntax, **options)]


class TestWhereAURNEnds:
    """RFC 2141 §2.4: "An URN ends when a byte/character from the excluded character set is encountered"."""

    def test_excluded_bytes(self):
        for byte in range(256):
            text = b"urn:ab:c" + bytes([byte]) + b"d"
            (found,) = scan(text)
            if byte in EXCLUDED or byte == ord("%"):
                assert (found.text, found.stop) == (b"urn:ab:c", byte)
            else:
                assert (found.text, found.stop) == (text, END)

    def test_punctuation_stays(self):
        for mark in ".,)';!?":
            assert texts(f"see urn:a:b{mark} and") == [f"urn:a:b{mark}"]

    @every_syntax
    def test_malformed_percent(self, syntax):
        """§2.3.1: "%" MUST be followed by two hex digits."""
        for rest in ("%", "%4", "%4g", "%g4", "%%41", "% 41"):
            (found,) = scan(f"urn:ab:c{rest} d", syntax)
            assert (found.text, found.stop) == (b"urn:ab:c", ord("%"))
        assert texts("urn:ab:%4g", syntax) == []
        assert texts("urn:ab:%4G%4a", syntax) == []
        assert texts("urn:ab:a%4a%4", syntax) == ["urn:ab:a%4a"]

    @every_syntax
    def test_nul_byte(self, syntax):
        """`%00` is well-formed, a bare one is excluded."""
        assert texts("urn:ab:a%00b", syntax) == ["urn:ab:a%00b"]
        assert texts("urn:ab:a\0b", syntax) == ["urn:ab:a"]

    def test_end_of_the_input(self):
        assert [record.stop for record in scan("urn:a:b urn:c:d")] == [ord(" "), END]


class TestNID:
    """RFC 2141 §2.1; RFC 8141 §2.1; rfc2141bis-03 §2.1."""

    def test_one_letter(self):
        assert texts("urn:x:y") == ["urn:x:y"]
        assert texts("urn:x:y", "rfc8141") == texts("urn:x:y", "rfc2141bis-03") == []

    def test_hyphen_at_its_end(self):
        assert texts("urn:ab-:y") == ["urn:ab-:y"]
        assert texts("urn:ab-:y", "rfc8141") == texts("urn:ab-:y", "rfc2141bis-03") == []

    @every_syntax
    def test_32_characters(self, syntax):
        assert texts(f"urn:{'a' * 32}:b", syntax) == [f"urn:{'a' * 32}:b"]
        assert texts(f"urn:{'a' * 33}:b", syntax) == []
        assert texts(f"urn:{'-' * 32}:b", syntax) == []

    @every_syntax
    def test_urn_is_reserved(self, syntax):
        """After a failed candidate the scan goes on one byte later."""
        assert texts("urn:urn:foo:bar", syntax) == ["urn:foo:bar"]
        assert texts("URN:Urn:uRn:foo:bar", syntax) == ["uRn:foo:bar"]
        assert texts("urn:urn:", syntax) == []
        assert texts("urn:URN:x1", syntax) == []

    @every_syntax
    def test_failed_candidates(self, syntax):
        assert texts("urn: urn:: urn:-a:b urn:a_b:c urn:ab urn:ab: urn:cd:e", syntax) == ["urn:cd:e"]


class TestComponents:
    """RFC 8141 §2, §2.3: "a "?" that is not immediately followed by "=" or "+" is not defined for URNs"."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("urn:a1:b?c", "urn:a1:b"),
            ("urn:a1:b?", "urn:a1:b"),
            ("urn:a1:b?+", "urn:a1:b"),
            ("urn:a1:b?=", "urn:a1:b"),
            ("urn:a1:b?+%4", "urn:a1:b"),
            ("urn:a1:b?+/c", "urn:a1:b"),
            ("urn:a1:b?+?=c", "urn:a1:b"),
            ("urn:a1:b?+x?=", "urn:a1:b?+x"),
            ("urn:a1:b?+x?=%4", "urn:a1:b?+x"),
            ("urn:a1:b?+x?#y", "urn:a1:b?+x?#y"),
            ("urn:a1:b?+x??=y", "urn:a1:b?+x??=y"),
            ("urn:a1:b?=x?+y", "urn:a1:b?=x?+y"),
            ("urn:a1:b?=x?=y", "urn:a1:b?=x?=y"),
            ("urn:a1:b#", "urn:a1:b#"),
            ("urn:a1:b#c#d", "urn:a1:b#c"),
            ("urn:a1:b?#c", "urn:a1:b"),
            ("urn:a1:/b", None),
        ],
    )
    def test_extent(self, text, found):
        assert texts(f"{text} z", "rfc8141") == ([found] if found else [])

    def test_dropped_from_the_canonical_form(self):
        """RFC 8141 §3.1; RFC 2141 knows no components."""
        (found,) = scan("URN:EX:A%2c?+%2c?=%2c#%2c", "rfc8141")
        assert found.canonical == b"urn:ex:A%2C"
        (found,) = scan("URN:EX:A%2c?+%2c?=%2c#%2c")
        assert found.canonical == b"urn:ex:A%2C?+%2C?=%2C#%2C"


class TestQuery:
    """rfc2141bis-03 §2.3."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("urn:a1:b?s=I2L&c=ToC#d", "urn:a1:b?s=I2L&c=ToC#d"),
            ("urn:a1:b?s", "urn:a1:b"),
            ("urn:a1:b?=c", "urn:a1:b"),
            ("urn:a1:b?+c=d", "urn:a1:b"),
            ("urn:a1:b?s=&", "urn:a1:b?s="),
            ("urn:a1:b?s=&c", "urn:a1:b?s="),
            ("urn:a1:b?s=&1=2", "urn:a1:b?s="),
            ("urn:a1:b?s-=c", "urn:a1:b"),
            ("urn:a1:b?s-1=c&d--e=f", "urn:a1:b?s-1=c"),
            ("urn:a1:b?s=%4", "urn:a1:b?s="),
            ("urn:a1:b?s=/?&t=?#?/", "urn:a1:b?s=/?&t=?#?/"),
            ("urn:a1:b?#c", "urn:a1:b"),
            ("urn:a1:b?c#d", "urn:a1:b"),
            ("urn:a1:b&c", "urn:a1:b&c"),
            ("urn:a1:b/c", "urn:a1:b"),
        ],
    )
    def test_extent(self, text, found):
        assert texts(f"{text} z", "rfc2141bis-03") == [found]

    def test_kept_where_that_is_wanted(self):
        """§5 step 5b, before the directives are sorted; the fragment goes."""
        text = "URN:EX:A%2c?T=%2c&S=%c3#%2c"
        assert [record.canonical for record in scan(text, "rfc2141bis-03")] == [b"urn:ex:A%2C"]
        (found,) = scan(text, "rfc2141bis-03", keep_query=True)
        assert found.canonical == b"urn:ex:A%2C?T=%2C&S=%C3"
        (found,) = scan("urn:ex:A#b?c=d", "rfc2141bis-03", keep_query=True)
        assert found.canonical == b"urn:ex:A"


class TestCanonicalForm:
    """RFC 2141 §6; RFC 8141 §3.2; rfc2141bis-03 §5.1."""

    @every_syntax
    def test_examples_of_rfc2141(self, syntax):
        found = scan(
            "URN:foo:a123,456 urn:foo:a123,456 urn:FOO:a123,456 urn:foo:A123,456 urn:foo:a123%2C456 URN:FOO:a123%2c456",
            syntax,
        )
        one, four, five = b"urn:foo:a123,456", b"urn:foo:A123,456", b"urn:foo:a123%2C456"
        assert [record.canonical for record in found] == [one, one, one, four, five, five]

    def test_examples_of_rfc8141(self):
        found = scan(
            "urn:example:a123,z456 URN:example:a123,z456 urn:EXAMPLE:a123,z456 "
            "urn:example:a123,z456?+abc urn:example:a123,z456?=xyz urn:example:a123,z456#789 "
            "urn:example:a123,z456/foo urn:example:a123%2Cz456 URN:EXAMPLE:a123%2cz456 urn:example:%D0%B0123,z456",
            "rfc8141",
        )
        assert [record.canonical.decode() for record in found] == [
            *["urn:example:a123,z456"] * 6,
            "urn:example:a123,z456/foo",
            *["urn:example:a123%2Cz456"] * 2,
            "urn:example:%D0%B0123,z456",
        ]

    def test_examples_of_bis_03(self):
        """Step 5a joins 1, 2, 3, 7 and 8; keeping the query sets 7 apart."""
        text = "URN:foo:a123,456 urn:foo:a123,456 urn:FOO:a123,456 urn:foo:a123,456?x=y urn:foo:a123,456#xyz"
        assert {record.canonical for record in scan(text, "rfc2141bis-03")} == {b"urn:foo:a123,456"}
        kept = [record.canonical for record in scan(text, "rfc2141bis-03", keep_query=True)]
        assert kept == [*[b"urn:foo:a123,456"] * 3, b"urn:foo:a123,456?x=y", b"urn:foo:a123,456"]

    def test_only_hex_digits_scheme_and_nid_are_folded(self):
        (found,) = scan("uRn:X-aB:aBc%aBc%25ab%c3%ffZ@")
        assert found.canonical == b"urn:x-ab:aBc%ABc%25ab%C3%FFZ@"
        assert found.nid == b"X-aB"


class TestWhereAURNBegins:
    """At `urn:` in any case, not behind an ASCII letter or digit; in ISO 2709 a subfield code is neither."""

    @every_syntax
    @pytest.mark.parametrize(
        "before", ["", " ", "/", "=", "_", '"', ".", "-", ":", "<", "\n", "%", "ü", "文", "\u00a0", "\0"]
    )
    def test_begins(self, before, syntax):
        (found,) = scan(f"{before}urn:ab:c", syntax)
        assert found.start == len(before.encode())

    @every_syntax
    @pytest.mark.parametrize("before", ["a", "Z", "0", "9", "a\x1fbc", "\x1f\x1fab", "\x1f ab"])
    def test_does_not_begin(self, before, syntax):
        assert scan(f"{before}urn:ab:c", syntax) == []

    def test_words(self):
        assert scan("return:foo:bar sideburn:x:y") == []
        assert scan(b"\xc3\xbcurn:a:b")[0].text == b"urn:a:b"

    def test_every_byte(self):
        for byte in range(256):
            found = scan(bytes([byte]) + b"urn:ab:c")
            assert bool(found) != bytes([byte]).isalnum(), byte

    def test_subfield_codes(self):
        """ISO 2709: 0x1F, a code of one character, the data."""
        assert texts("\x1faurn:nbn:de:101\x1f2urn\x1fuURN:nbn:fi:102\x1e") == ["urn:nbn:de:101", "URN:nbn:fi:102"]
        assert texts("\x1furn:nbn:de") == ["urn:nbn:de"]
        assert texts("\x1fabcurn:nbn:de") == []

    @pytest.mark.parametrize("delimiter", ["$$", "‡", "ǂ"])
    def test_subfield_codes_as_people_write_them(self, delimiter):
        """docs/reference/syntax.md, where a URN begins: a code behind `$$`, `‡` or `ǂ` may stand before a name; `$` alone may not."""
        assert texts(f"856 40 {delimiter}uurn:nbn:de:101:1-2 {delimiter}3URN:nbn:fi:1") == [
            "urn:nbn:de:101:1-2",
            "URN:nbn:fi:1",
        ]
        assert texts(f"{delimiter}uurn:a:b") == ["urn:a:b"]
        assert texts(f"{delimiter}returnurn:a:b {delimiter[:-1]}xuurn:a:b") == []

    def test_half_a_delimiter_is_none(self):
        assert texts("$uurn:a:b") == []
        assert texts("uurn:a:b") == []
        assert texts(b"\xa1uurn:a:b \x80\xa1uurn:a:b \x82uurn:a:b") == []

    def test_after_a_match(self):
        """A scan goes on at the end of a match, which is what then stands before."""
        assert texts("urn:a:burn:c:d") == ["urn:a:burn:c:d"]
        assert texts("urn:a:b%urn:c:d") == ["urn:a:b", "urn:c:d"]
        assert texts("urn:a1:b#c#urn:d1:e", "rfc8141") == ["urn:a1:b#c", "urn:d1:e"]

    @pytest.mark.full
    def test_anywhere_in_a_long_text(self):
        """Whatever the step in which the hunt goes through a text."""
        for before in range(300):
            for after in (0, 1, 70):
                (found,) = scan(b" " * before + b"urn:a:b" + b" " * after)
                assert found.start == before

    def test_in_any_case(self):
        spellings = [a + b + c for a in "uU" for b in "rR" for c in "nN"]
        assert texts(" ".join(f"{spelling}:a:b" for spelling in spellings)) == [
            f"{spelling}:a:b" for spelling in spellings
        ]
        assert texts("urn;a:b \x55\x12\x4e:a:b 5rn:a:b u2n:a:b ur.:a:b urn\x1a:a:b") == []


class TestCut:
    """A match longer than `max_length` is cut; the scan goes on behind the cut."""

    def test_exactly(self):
        (found,) = scan("urn:a:bcd", max_length=9)
        assert (found.text, found.stop) == (b"urn:a:bcd", END)
        (found,) = scan("urn:a:bcd ", max_length=9)
        assert (found.text, found.stop) == (b"urn:a:bcd", ord(" "))
        (found,) = scan("urn:a:bcde", max_length=9)
        assert (found.text, found.stop) == (b"urn:a:bcd", CUT)

    def test_default(self):
        data = b"urn:a:" + b"x" * (MAX_LENGTH - 6)
        assert [record.stop for record in scan(data)] == [END]
        (found,) = scan(data + b"x")
        assert (found.end, found.stop) == (65_536, CUT)

    def test_goes_on_behind_the_cut(self):
        found = scan("urn:a:bcd.urn:e:fgh", max_length=10)
        assert [(record.text, record.stop) for record in found] == [(b"urn:a:bcd.", CUT), (b"urn:e:fgh", END)]
        assert len(scan("urn:a:bcdurn:e:fgh", max_length=9)) == 1

    @every_syntax
    def test_never_inside_a_percent_encoding(self, syntax):
        for max_length in (9, 10, 11):
            (found,) = scan("urn:ab:c%2cd", syntax, max_length=max_length)
            expected = (b"urn:ab:c", CUT) if max_length < 11 else (b"urn:ab:c%2c", CUT)
            assert (found.text, found.stop) == expected
        (found,) = scan("urn:ab:c%2g", syntax, max_length=9)
        assert (found.text, found.stop) == (b"urn:ab:c", ord("%"))

    def test_not_where_the_urn_ends_all_the_same(self):
        """The "?" is left for the next byte to decide; "+" or "=" with nothing behind it lengthens nothing."""
        (found,) = scan("urn:a1:b?+ c", "rfc8141", max_length=8)
        assert (found.text, found.stop) == (b"urn:a1:b", ord("?"))
        (found,) = scan("urn:a1:b?+c", "rfc8141", max_length=8)
        assert (found.text, found.stop) == (b"urn:a1:b", CUT)

    def test_question_mark_at_the_cut(self):
        """Cut behind the "?" of `?=`, an r-component holds it; without the cut the URN is shorter, so none was made."""
        (found,) = scan("urn:a1:b?+c?= d", "rfc8141", max_length=12)
        assert (found.text, found.stop) == (b"urn:a1:b?+c?", ord("="))

    def test_no_room_for_a_urn(self):
        assert scan("urn:a:b", max_length=6) == []
        assert scan("urn:abcdef:b", max_length=7) == []
        assert len(scan("urn:a:b", max_length=7)) == 1


class TestEveryCut:
    """Each text cut at every `max_length` and delivered in two parts, parted at every byte."""

    TEXTS = (
        b"urn:ab:c?+%41?=%42#%43/d",
        b"urn:ab:c?=%42?+%2 urn:de:f",
        b"urn:ab:c?+d??=e?+#f?#",
        b"urn:ab:c?+d?e?",
        b"urn:ab:c?keyword=value&k-2=%c3&=#%41",
        b"urn:ab:c?k=&long-keyword=v ",
        b"urn:ab:c?k=v&long-keyword ",
        b"urn:ab:%4urn:ab:%41%4",
        b"urn:ab:c(d).;urn:ef:g,urn:hi:),uRn:urn:jk:l...",
        b"urn:" + b"a" * 32 + b":b%41c urn:" + b"a" * 33 + b":b",
    )

    @every_syntax
    @pytest.mark.parametrize("trim", [False, pytest.param(True, marks=pytest.mark.full)])
    @pytest.mark.parametrize("text", TEXTS)
    def test_as_the_oracle_finds(self, text, trim, syntax):
        for max_length in range(7, len(text) + 2):
            expected = oracle(text, syntax, trim=trim, max_length=max_length)
            scanner = Scanner(Grammar(get_syntax(syntax), max_length=max_length, trim=trim))
            assert records_of(scanner.scan_bytes(np.frombuffer(text, np.uint8))) == expected, max_length
            for first in range(1, len(text)):
                assert records_of(scanner.scan(Pieces(text, [first, len(text)]))) == expected, (max_length, first)


class TestTrim:
    """What is not the RFC's: off by default, and then only counted."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("urn:a:b;urn:c:d", ["urn:a:b", "urn:c:d"]),
            ("urn:a:b,URN:c:d", ["urn:a:b", "URN:c:d"]),
            ("urn:a:b,urn:c:d;urn:e:f.", ["urn:a:b", "urn:c:d", "urn:e:f"]),
            ("urn:a:b.,;urn:c:d", ["urn:a:b", "urn:c:d"]),
            ("urn:a:;urn:c:d", ["urn:c:d"]),
            ("urn:a:.;urn:c:d", ["urn:c:d"]),
            ("urn:a:b;urn", ["urn:a:b;urn"]),
            ("urn:a:b;urn:", ["urn:a:b"]),
            ("urn:a:b/urn:c:d", ["urn:a:b/urn:c:d"]),
            ("urn:a:b. ", ["urn:a:b"]),
            ("urn:a:b.,;:!?'*_ ", ["urn:a:b"]),
            ("urn:a:b-/+=@$# ", ["urn:a:b-/+=@$#"]),
            ("urn:a:... ", []),
            ("urn:a:b) ", ["urn:a:b"]),
            ("urn:a:(b) ", ["urn:a:(b)"]),
            ("urn:a:(b)). ", ["urn:a:(b)"]),
            ("urn:a:a)b(c) ", ["urn:a:a)b(c)"]),
            ("urn:a:a(b)c) ", ["urn:a:a(b)c"]),
            ("urn:a:a((b) ", ["urn:a:a((b)"]),
            ("urn:a:a(b.) ", ["urn:a:a(b.)"]),
            ("urn:a:) ", []),
            ("urn:a:() ", ["urn:a:()"]),
            ("(urn:a:b) ", ["urn:a:b"]),
            ("urn:a:b...urn:c:d ", ["urn:a:b...urn:c:d"]),
            ("<a xmlns='urn:a:b'/> ", ["urn:a:b"]),
            ("a='urn:a:b'c='d' ", ["urn:a:b"]),
            ("'urn:a:b,urn:c:d;e'/urn:f:g ", ["urn:a:b", "urn:c:d;e'/urn:f:g"]),
            ("'urn:a:'/urn:c:d ", ["urn:c:d"]),
            ("' urn:a:b'/c urn:o'b:c ", ["urn:a:b'/c"]),
        ],
    )
    def test_rfc2141(self, text, found):
        assert texts(text, trim=True) == found

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("urn:a1:b?+.", "urn:a1:b"),
            ("urn:a1:b?=.", "urn:a1:b"),
            ("urn:a1:b.?+.", "urn:a1:b"),
            ("urn:a1:b?+c.?=.,;", "urn:a1:b?+c"),
            ("urn:a1:b#.", "urn:a1:b#"),
            ("urn:a1:b(?+c).", "urn:a1:b(?+c)"),
            ("urn:a1:b?=c,urn:d1:e", "urn:a1:b?=c"),
            ("urn:a1:b#c;urn:", "urn:a1:b#c"),
        ],
    )
    def test_rfc8141(self, text, found):
        """Step 3: what is left is matched again, so a bare `?+` or `?=` falls off."""
        assert texts(text, "rfc8141", trim=True)[0] == found

    def test_bis_03(self):
        assert texts("urn:a1:b?c=d. urn:a1:b?c=. urn:a1:b?c=d&e=!", "rfc2141bis-03", trim=True) == [
            *("urn:a1:b?c=d", "urn:a1:b?c=", "urn:a1:b?c=d&e="),
        ]

    def test_stop_is_the_first_byte_cut_off(self):
        found = scan("urn:a:b;urn:c:d., urn:e:f urn:g:h", trim=True)
        assert [record.stop for record in found] == [ord(";"), ord("."), ord(" "), END]
        assert [record.stop for record in scan("urn:a:b.cde", max_length=8, trim=True)] == [ord(".")]
        assert [record.stop for record in scan("urn:a:bcde", max_length=8, trim=True)] == [CUT]

    def test_cut_first(self):
        """Step 1 looks inside the cut match only."""
        assert texts("urn:a:b;urn:c:d", max_length=12, trim=True) == ["urn:a:b", "urn:c:d"]
        assert texts("urn:a:b;urn:c:d", max_length=11, trim=True) == ["urn:a:b;urn"]

    def test_where_the_scan_goes_on(self):
        """Behind what steps 2 and 3 cut off or dropped; at the separator of step 1."""
        assert texts("urn:a:b.urn:c:d) urn:e:f", trim=True) == ["urn:a:b.urn:c:d", "urn:e:f"]
        assert texts("urn:a:_urn:b:_ urn:c:d", trim=True) == ["urn:a:_urn:b", "urn:c:d"]
        assert texts("urn:a:.;urn:c:d", trim=True) == ["urn:c:d"]

    def test_canonical_form_of_what_is_left(self):
        assert [record.canonical for record in scan("URN:A:%c3%9f.", trim=True)] == [b"urn:a:%C3%9F"]
        (found,) = scan("URN:A1:b?c=%c3.", "rfc2141bis-03", trim=True, keep_query=True)
        assert found.canonical == b"urn:a1:b?c=%C3"

    @pytest.mark.parametrize(
        ("text", "punctuation"),
        [
            ("urn:a:b", 0),
            ("urn:a:b.", 1),
            ("urn:a:(b)).", 2),
            ("urn:a:b;urn:c:d", 8),
            ("urn:a:...", 9),
            ("urn:a:b" + "." * 255, 255),
            ("urn:a:b" + "." * 256, 255),
            ("urn:a:b" + "." * 254, 254),
            ("urn:a:" + "." * 300, 255),
        ],
    )
    def test_counted_where_it_is_off(self, text, punctuation):
        grammar = Grammar(get_syntax("rfc2141"))
        scanner = Scanner(grammar)
        (found,) = records_of(scanner.scan_bytes(np.frombuffer(text.encode(), np.uint8)))
        assert (found.text, found.punctuation) == (text.encode(), punctuation)
        assert all(record.punctuation == 0 for record in scan(text, trim=True))


class TestLinesAndOffsets:
    """Offsets are bytes from the start; `line` is 1 + the LF bytes before the match."""

    def test_lines(self):
        found = scan("\nurn:a:b\r\nurn:c:d urn:e:f\r\rurn:g:h\n\nurn:i:j\n")
        assert [record.line for record in found] == [2, 3, 3, 3, 5]

    def test_totals(self):
        text = b"\nurn:a:b\r\n\xff\n "
        scanner = Scanner(Grammar(get_syntax("rfc2141")))
        for _ in range(2):
            records_of(scanner.scan_bytes(np.frombuffer(text, np.uint8)))
            assert (scanner.byte_count, scanner.lines) == (13, 3)
            records_of(scanner.scan(Pieces(text, [3])))
            assert (scanner.byte_count, scanner.lines) == (13, 3)

    def test_not_counted(self):
        scanner = Scanner(Grammar(get_syntax("rfc2141"), count_lines=False), block=3)
        text = b"\n\nurn:a:b\n\nurn:c:d\n"
        for batches in (scanner.scan_bytes(np.frombuffer(text, np.uint8)), scanner.scan(Pieces(text, [2]))):
            found = records_of(batches)
            assert [(record.start, record.line) for record in found] == [(2, 0), (11, 0)]

    def test_line_ends_change_nothing_else(self):
        lines = ["urn:a:b c", "", "d urn:e:f", "urn:g:h."]
        found = [[(record.text, record.line) for record in scan(end.join(lines))] for end in ("\n", "\r\n")]
        assert found[0] == found[1]

    @pytest.mark.full
    @pytest.mark.skipif(not IS_COMPILED, reason="too much for plain Python")
    def test_beyond_32_bits(self):
        """Offsets and lines count on: here behind 2**32 lines."""
        scanner = Scanner(Grammar(get_syntax("rfc2141")))
        readers = [Endless(b"", b"\n", 2**32), Pieces(b" urn:a:b", [8])]

        def read_into(view):
            return readers[0](view) or readers[1](view)

        (found,) = records_of(scanner.scan(read_into))
        assert (found.start, found.line, found.text) == (2**32 + 1, 2**32 + 1, b"urn:a:b")
        assert (scanner.byte_count, scanner.lines) == (2**32 + 8, 2**32)


class TestStreams:
    """The result never depends on how the input is cut into blocks."""

    TEXT = b"x\nurn:a:b%2c, (urn:c:d)\nreturn:e:f \x1faurn:g:h;URN:i:j%2 urn:urn:k:l?+m?=n#o urn:" + b"p" * 32 + b":q"

    @every_syntax
    @pytest.mark.parametrize("trim", [False, True])
    def test_every_block_and_every_piece(self, trim, syntax):
        expected = oracle(self.TEXT, syntax, trim=trim)
        for size in range(1, len(self.TEXT) + 2):
            for block, sizes in ((size, [1 << 20]), (1 << 18, [size]), (7, [size, 1])):
                scanner = Scanner(Grammar(get_syntax(syntax), trim=trim), block=block)
                assert records_of(scanner.scan(Pieces(self.TEXT, sizes))) == expected

    @pytest.mark.parametrize("sizes", [[1], [2, 3], [1 << 20]])
    def test_nothing(self, sizes):
        scanner = Scanner(Grammar(get_syntax("rfc2141")))
        assert records_of(scanner.scan(Pieces(b"", sizes))) == []
        assert records_of(scanner.scan_bytes(np.empty(0, np.uint8))) == []
        assert (scanner.byte_count, scanner.lines) == (0, 0)

    @pytest.mark.parametrize("rows", [1, 2, 3, 100])
    def test_full_columns(self, rows):
        text = b" urn:a:b" * 100
        scanner = Scanner(Grammar(get_syntax("rfc2141")), rows=rows)
        sizes = [len(batch) for batch in scanner.scan_bytes(np.frombuffer(text, np.uint8))]
        assert sizes == [rows] * (100 // rows) + [100 % rows] * (100 % rows > 0)

    @pytest.mark.full
    def test_columns_full_of_long_matches(self):
        """The room for text may be used up before the rows are."""
        text = b" ".join([b"urn:a:" + b"x" * 60_000] * 9)
        scanner = Scanner(Grammar(get_syntax("rfc2141")), rows=8)
        assert records_of(scanner.scan_bytes(np.frombuffer(text, np.uint8)), 8) == oracle(text, "rfc2141")
        assert records_of(scanner.scan(Pieces(text, [10_000])), 8) == oracle(text, "rfc2141")

    def test_columns_full_of_long_rejects(self):
        """The room for their texts may be used up before the rows are."""
        data = b" ".join(b"urn:%d%b" % (number, b"x" * 300) for number in range(20))
        scanner = Scanner(Grammar(get_syntax("rfc2141"), rejects=True), rows=8)
        texts = [
            batch.rejects.text[start:end].tobytes()
            for batch in scanner.scan_bytes(np.frombuffer(data, np.uint8))
            for start, end in pairwise(batch.rejects.text_offsets)
        ]
        assert texts == [reject.text for reject in rejects(data, "rfc2141")]
        assert len(texts) == 20

    def test_a_short_read_hands_out_what_is_found(self):
        """Whoever types sees the result of a line before typing the next."""
        reads = []

        def read_into(view):
            lines = [b"urn:a:b\n", b"urn:c:d\n", b""]
            reads.append(lines[len(reads)])
            view[: len(reads[-1])] = reads[-1]
            return len(reads[-1])

        batches = Scanner(Grammar(get_syntax("rfc2141"))).scan(read_into)
        assert [record.text for record in records_of([next(batches)])] == [b"urn:a:b"]
        assert len(reads) == 1
        assert [record.text for record in records_of([next(batches)])] == [b"urn:c:d"]
        assert len(reads) == 2
        assert list(batches) == []

    @pytest.mark.parametrize("behind", ["~", "é", "& ", "&x=", "&amp;", "# "])
    @every_syntax
    def test_what_may_cut_a_name_short_does_not_hold_it_back(self, syntax, behind):
        """A name in a pipe is given before more comes: no bytes are waited for but those that decide."""
        data = b"urn:ab:c" + behind.encode() + b"\n"
        pieces = Pieces(data, [len(data)])
        found = next(Scanner(Grammar(get_syntax(syntax))).scan(pieces))
        assert [record.start for record in records_of([found])] == [0]
        assert pieces.reads == 1

    def test_errors_of_the_reader(self):
        """They come out as they are, behind what was found; the scanner can be used again."""
        scanner = Scanner(Grammar(get_syntax("rfc2141")))
        pieces = Pieces(b"urn:a:b urn:c:", [100])

        def read_into(view):
            size = pieces(view)
            if not size:
                raise OSError("gone")
            return size

        batches = scanner.scan(read_into)
        assert [record.text for record in records_of([next(batches)])] == [b"urn:a:b"]
        with pytest.raises(OSError, match="gone"):
            next(batches)
        assert [record.start for record in records_of(scanner.scan(Pieces(b"\nurn:e:f", [1])))] == [1]

    @pytest.mark.parametrize("text", [b"\n", b"\n\n\n", b"a\nurn:a:b\n", b"a\nurn:a:b\nurn:c:\n", b"\nurn"])
    def test_lines_before_an_error_of_the_reader(self, text):
        """What is read behind a damage goes on counting there: also the LF at its very edge."""
        pieces = Pieces(text, [3])

        def read_into(view):
            size = pieces(view)
            if not size:
                raise OSError("gone")
            return size

        scanner = Scanner(Grammar(get_syntax("rfc2141")))
        with pytest.raises(OSError, match="gone"):
            list(scanner.scan(read_into))
        assert (scanner.byte_count, scanner.lines) == (len(text), text.count(b"\n"))

    def test_arrays_are_the_callers_own(self):
        scanner = Scanner(Grammar(get_syntax("rfc2141"), rejects=True), rows=1)
        batches = list(scanner.scan_bytes(np.frombuffer(b"urn:a:b%x urn:c:d%y", np.uint8)))
        for batch in batches:
            for array in (*arrays(batch).values(), *arrays(batch.rejects).values()):
                assert array.base is None
                assert array.flags.writeable
        batches[0].text[:] = batches[0].rejects.text[:] = 0
        assert batches[1].text.tobytes() == b"urn:c:d"
        assert batches[1].rejects.text.tobytes() == b"urn:c:d%y"

    def test_types_of_the_columns(self):
        grammar = Grammar(get_syntax("rfc2141"), rejects=True)
        (batch,) = Scanner(grammar).scan_bytes(np.frombuffer(b"urn:a:b%", np.uint8))
        assert {name: array.dtype.name for name, array in arrays(batch.rejects).items()} == {
            "start": "int64",
            "line": "int64",
            "position": "int32",
            "rest": "uint32",
            "text": "uint8",
            "text_offsets": "int32",
        }
        assert {name: array.dtype.name for name, array in arrays(batch).items()} == {
            "start": "int64",
            "length": "int32",
            "line": "int64",
            "nid_length": "uint8",
            "stop": "int16",
            "punctuation": "uint8",
            "cut_short": "bool",
            "text": "uint8",
            "text_offsets": "int32",
            "canonical": "uint8",
            "canonical_offsets": "int32",
            "host": "uint8",
            "host_offsets": "int32",
            "via": "uint8",
        }
        assert len(batch) == 1

    def test_leaves_the_text_alone(self):
        data = np.frombuffer(bytearray(b"URN:A:%2c."), np.uint8)
        records_of(Scanner(Grammar(get_syntax("rfc2141"), trim=True)).scan_bytes(data))
        assert data.tobytes() == b"URN:A:%2c."
        assert data.flags.writeable

    def test_constants(self):
        assert (scanner_module.END, scanner_module.CUT, MAX_LENGTH) == (END, CUT, 65_536)


def arrays(found: Matches | Rejects) -> dict[str, np.ndarray]:
    """The columns."""
    columns = {name: getattr(found, name) for name in type(found).__slots__}
    return {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}


class Endless:
    """A `read_into` that makes its bytes up: a head, then a unit over and over, `byte_count` in all."""

    def __init__(self, head: bytes, unit: bytes, byte_count: int) -> None:
        self.head, self.left, self.at, self.unit = head, byte_count, 0, unit
        self.many = unit * (1 + (1 << 20) // len(unit))

    def __call__(self, view: memoryview) -> int:
        if self.head:
            size = len(self.head)
            view[:size] = self.head
            self.head = b""
        else:
            first = self.at % len(self.unit)
            size = min(len(view), self.left, len(self.many) - first)
            view[:size] = memoryview(self.many)[first : first + size]
            self.at += size
        self.left -= size
        return size


@pytest.mark.skipif(not IS_COMPILED, reason="too much for plain Python")
class TestOneURNWithoutEnd:
    """Memory is bounded by the block size and `max_length`, never by a line, a file or a URN."""

    SIZE = 50_000_000
    MEMORY = 40_000_000  # the columns of 65,536 rows, the buffer, and one copy of them
    SECONDS = 15  # a fraction of one; quadratic work would take hours

    def scan(self, syntax: str, reader: Endless, **options: object):
        """The batches; whoever takes them all has the time and the memory measured."""
        scanner = Scanner(Grammar(get_syntax(syntax), **options))
        list(scanner.scan(Pieces(b"urn:ab:c", [8])))  # compiled before the clock starts
        tracemalloc.start()
        began = time.thread_time()
        try:
            yield from scanner.scan(reader)
            assert tracemalloc.get_traced_memory()[1] < self.MEMORY
        finally:
            tracemalloc.stop()
        assert time.thread_time() - began < self.SECONDS
        assert scanner.byte_count == self.SIZE
        assert scanner.lines == 0

    @pytest.mark.parametrize("trim", [False, True])
    @every_syntax
    def test_cut_once(self, syntax, trim):
        """What is behind the cut is no URN."""
        (found,) = records_of(self.scan(syntax, Endless(b"urn:ab:", b"x", self.SIZE), trim=trim))
        assert (found.start, found.end, found.stop, found.punctuation) == (0, MAX_LENGTH, CUT, 0)
        assert found.text == b"urn:ab:" + b"x" * (MAX_LENGTH - 7)
        assert found.canonical == found.text

    @pytest.mark.full
    @every_syntax
    def test_cut_into_pieces(self, syntax):
        """A URN begins at each cut, so the pieces make up the text."""
        unit = b".Urn:ab:xxxxxxxx"
        found = 0
        end = 1
        for batch in self.scan(syntax, Endless(b".", unit[1:] + unit[:1], self.SIZE)):
            assert batch.start[0] == end
            assert (batch.start[:-1] + batch.length[:-1] == batch.start[1:]).all()
            assert set(batch.length[:-1].tolist()) <= {MAX_LENGTH}
            assert set(batch.stop[:-1].tolist()) <= {CUT}
            end = int(batch.start[-1] + batch.length[-1])
            found += len(batch)
            last_stop = int(batch.stop[-1])
        assert (end, found, last_stop) == (self.SIZE, -(-(self.SIZE - 1) // MAX_LENGTH), END)

    def test_percent_at_every_cut(self):
        """Cuts fall between the encodings: none is torn, none is lost."""
        pieces = self.scan("rfc2141", Endless(b"urn:a:", b"%c3", self.SIZE))
        (found,) = records_of(pieces)
        assert (found.end, found.stop) == (MAX_LENGTH - (MAX_LENGTH - 6) % 3, CUT)
        assert found.canonical == b"urn:a:" + b"%C3" * ((MAX_LENGTH - 6) // 3)

    @pytest.mark.full
    def test_nothing_found(self):
        """Failed candidates without end."""
        assert records_of(self.scan("rfc8141", Endless(b"", b"urn:", self.SIZE))) == []

    def test_lists_without_spaces(self):
        """With `trim` each of them is found; what is matched and thrown away again is bounded, too."""
        size = 400_000
        scanner = Scanner(Grammar(get_syntax("rfc2141"), trim=True))
        count = 0
        for batch in scanner.scan(Endless(b"urn:a:bcde", b";urn:a:bcd", size)):
            assert set(batch.length[1:].tolist()) <= {9}
            assert set(batch.stop[:-1].tolist()) <= {ord(";")}
            assert all(other - one == 10 for one, other in pairwise(batch.start[1:].tolist()))
            count += len(batch)
        assert count == size // 10
        assert scanner.byte_count == size


@pytest.mark.parametrize(("seconds", "given"), [(0.01, [3]), (0.3, [1, 1, 1])])
def test_matches_do_not_wait_for_many_others(monkeypatch, seconds, given):
    """`urnscan huge.bz2 | head -1` ended only with the file: its first lines waited for 65,536 matches."""
    monkeypatch.setattr(scanner_module, "monotonic", (step * seconds for step in range(1_000)).__next__)
    block = 1 << 12
    text = b"".join(b"urn:a:%d " % number + bytes(block - 8) for number in range(3))
    scanner = Scanner(Grammar(get_syntax("rfc2141"), max_length=100), block=block)
    reads = iter([text[:block], text[block : 2 * block], text[2 * block :], b""])

    def read_into(view):
        data = next(reads)
        view[: len(data)] = data
        return len(data)

    assert [len(matches) for matches in scanner.scan(read_into)] == given
