"""The parser and the `URN` value, by the examples of the standards."""

from __future__ import annotations

import copy
import io
import pickle
from array import array
from dataclasses import FrozenInstanceError
from itertools import combinations
from pathlib import Path

import pytest

from tests.support.oracle import SYNTAXES, whole
from urnscan.errors import ArgumentError, InvalidURN
from urnscan.urn.equivalence import canonical, equivalent
from urnscan.urn.explanation import explain
from urnscan.urn.parser import URN, encode_nss, parse
from urnscan.urn.reject_reasons import REASONS
from urnscan.urn.syntax import RESOLUTION_SERVICES, get_syntax

ADOPTED = "component-not-adopted"

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)
pchar_syntaxes = pytest.mark.parametrize("syntax", ["rfc8141", "rfc2141bis-03"])

SECTION_6 = {
    1: "URN:foo:a123,456",
    2: "urn:foo:a123,456",
    3: "urn:FOO:a123,456",
    4: "urn:foo:A123,456",
    5: "urn:foo:a123%2C456",
    6: "URN:FOO:a123%2c456",
}
"""RFC 2141 §6; rfc2141bis-03 §5.1 has them too."""


def is_urn(text: str | bytes, syntax: str) -> bool:
    try:
        parse(text, syntax)
    except InvalidURN:
        return False
    return True


def refusal(text: str | bytes, syntax: str) -> tuple[int, str]:
    with pytest.raises(InvalidURN) as caught:
        parse(text, syntax)
    return caught.value.position, caught.value.reason


def classes(texts: dict[int, str], syntax: str) -> list[set[int]]:
    """Which of the numbered URNs are equal to each other; that `==`, `hash` and `canonical` agree is checked too."""
    urns = {number: parse(text, syntax) for number, text in texts.items()}
    for one, other in combinations(urns.values(), 2):
        assert (one == other) == (one.canonical == other.canonical) == (len({one, other}) == 1)
    found: dict[URN, set[int]] = {}
    for number, urn in urns.items():
        found.setdefault(urn, set()).add(number)
    return list(found.values())


class TestNID:
    """RFC 2141 §2.1; RFC 8141 §2.1; rfc2141bis-03 §2.1."""

    @every_syntax
    @pytest.mark.parametrize(
        "nid", ["ab", "isbn", "ISBN", "xn--a", "urn-7", "7-a", "00", "a" * 31, "b" * 32, "c" + "-" * 30 + "d"]
    )
    def test_nids(self, nid, syntax):
        assert parse(f"urn:{nid}:x", syntax).nid == nid.lower()

    @every_syntax
    @pytest.mark.parametrize("nid", ["", "-a", "a_b", "a.b", "a+b", "a b", "é", "a" * 33, "a%41"])
    def test_no_nids(self, nid, syntax):
        assert not is_urn(f"urn:{nid}:x", syntax)

    def test_brackets_around_what_may_be_left_out(self):
        """RFC 2141's `<let-num> [ 1,31<let-num-hyp> ]`: one letter is enough, and a hyphen may come last."""
        for nid in ("a", "7", "a-", "a" * 31 + "-"):
            assert is_urn(f"urn:{nid}:x", "rfc2141")
            assert not is_urn(f"urn:{nid}:x", "rfc8141")
            assert not is_urn(f"urn:{nid}:x", "rfc2141bis-03")

    @every_syntax
    @pytest.mark.parametrize("nid", ["urn", "URN", "uRn"])
    def test_urn_is_reserved(self, nid, syntax):
        assert not is_urn(f"urn:{nid}:foo", syntax)
        assert is_urn(f"urn:{nid}x:foo", syntax)

    @every_syntax
    def test_case_of_the_scheme(self, syntax):
        for scheme in ("urn", "URN", "Urn", "uRn", "urN"):
            assert parse(f"{scheme}:example:A", syntax).canonical == "urn:example:A"


class TestNSS:
    """RFC 2141 §2.2 to §2.4; RFC 8141 §2.2; rfc2141bis-03 §2.2."""

    UNRESERVED = "abyzABYZ0189()+,-.:=@;$_!*'"
    EXCLUDED = bytes([*range(33), *b'\\"&<>[]^`{|}~', *range(127, 256)])

    @every_syntax
    def test_characters_of_all_three(self, syntax):
        assert parse(f"urn:ab:{self.UNRESERVED}", syntax).nss == self.UNRESERVED
        for character in self.UNRESERVED:
            assert is_urn(f"urn:ab:{character}", syntax)

    def test_reserved_characters_of_rfc2141(self):
        """§2.3.2: "/", "?" and "#" are reserved, and part of <trans> all the same."""
        for nss in ("/", "?", "#", "a/b?c#d?+e?=f##", "?+", "?="):
            assert parse(f"urn:a:{nss}", "rfc2141").nss == nss

    def test_excluded_bytes_of_rfc2141(self):
        """§2.4, byte by byte; byte 0 "should NEVER be used"."""
        for byte in range(256):
            may_stand = byte not in self.EXCLUDED and byte != ord("%")
            assert is_urn(b"urn:ab:c" + bytes([byte]), "rfc2141") == may_stand, byte

    @pchar_syntaxes
    def test_pchar(self, syntax):
        """RFC 3986 §3.3: "~" and "&" too; "/" only in RFC 8141, and not first."""
        assert is_urn("urn:ab:~&", syntax)
        assert is_urn("urn:ab:c/d/", syntax) == (syntax == "rfc8141")
        assert not is_urn("urn:ab:/c", syntax)
        for byte in (*range(33), *b'\\"<>[]^`{|}', *range(127, 256)):
            assert not is_urn(b"urn:ab:c" + bytes([byte]), syntax), byte

    @every_syntax
    def test_percent(self, syntax):
        """§2.3.1: "%" MUST be followed by two characters from the <hex> set."""
        for nss in ("%2C", "%2c", "%25", "%00", "a%C3%9f", "%fFa"):
            assert is_urn(f"urn:ab:{nss}", syntax)
        for nss in ("%", "a%", "a%4", "a%4g", "a%g4", "%%41", "% 41", "%+4"):
            assert not is_urn(f"urn:ab:{nss}", syntax)

    @every_syntax
    def test_never_empty(self, syntax):
        assert refusal("urn:ab:", syntax) == (7, "the NSS is empty")

    def test_example_of_rfc8141(self):
        """§2.2: a hierarchical name."""
        assert parse("urn:example:1/406/47452/2", "rfc8141").nss == "1/406/47452/2"

    @every_syntax
    def test_separators(self, syntax):
        """A byte separates exactly when no URN holds it."""
        spelled = b"urn:ab:c%s", b"urn:ab:c?+a%s", b"urn:ab:c?a=b%s", b"urn:ab:c#%s", b"urn:ab:c%%%s1"
        for byte in range(256):
            held = any(whole(text % bytes([byte]), syntax) for text in spelled) or byte in b"%?#"
            assert (byte in get_syntax(syntax).separators) != held, byte
        if syntax == "rfc2141":
            assert set(get_syntax(syntax).separators) == set(self.EXCLUDED)


class TestComponents:
    """RFC 8141 §2.3."""

    def test_r_component(self):
        """§2.3.1."""
        urn = parse("urn:example:foo-bar-baz-qux?+CCResolve:cc=uk", "rfc8141")
        assert (urn.nss, urn.r_component) == ("foo-bar-baz-qux", "CCResolve:cc=uk")
        assert urn.q_component is urn.f_component is None

    def test_q_component(self):
        """§2.3.2."""
        query = "op=map&lat=39.56&lon=-104.85&datetime=1969-07-21T02:56:15Z"
        urn = parse(f"urn:example:weather?={query}", "rfc8141")
        assert (urn.nss, urn.q_component) == ("weather", query)
        assert urn.r_component is urn.f_component is None

    def test_f_component(self):
        """§2.3.3; it may be empty, which is not the same as absent."""
        assert parse("urn:example:foo-bar-baz-qux#somepart", "rfc8141").f_component == "somepart"
        assert parse("urn:example:foo#", "rfc8141").f_component == ""
        assert parse("urn:example:foo", "rfc8141").f_component is None

    def test_all_three(self):
        urn = parse("urn:a1:b/c?+d/?e?=f?+g?=h#/i?", "rfc8141")
        assert (urn.nss, urn.r_component, urn.q_component, urn.f_component) == ("b/c", "d/?e", "f?+g?=h", "/i?")

    def test_first_equals_ends_the_r_component(self):
        assert parse("urn:a1:b?+x??=y", "rfc8141").r_component == "x?"
        assert parse("urn:a1:b?+x?+y", "rfc8141").r_component == "x?+y"
        assert parse("urn:a1:b?=x?+y", "rfc8141").q_component == "x?+y"
        assert refusal("urn:a1:b?+x?=", "rfc8141")[0] == 11

    @pytest.mark.parametrize(
        "tail", ["?", "?x", "?+", "?=", "?+?", "?=?", "?+/a", "?=/a", "?+#", "?+%4", "#a#b", "#%", "?#", "?&"]
    )
    def test_no_components(self, tail):
        assert refusal(f"urn:a1:b{tail}", "rfc8141")[0] == (10 if tail.startswith("#a") else 9 if tail == "#%" else 8)

    def test_whole_in_rfc2141(self):
        """To RFC 2141 all of it is the NSS."""
        urn = parse("urn:a1:b?+c?=d#e", "rfc2141")
        assert (urn.nss, urn.canonical) == ("b?+c?=d#e", "urn:a1:b?+c?=d#e")
        assert urn.r_component is urn.q_component is urn.f_component is None


class TestQuery:
    """rfc2141bis-03 §2.3 and §2.4."""

    def test_example(self):
        """§2.3.2: the table of contents of a book."""
        urn = parse("urn:isbn:0-395-36341-1?s=I2L&c=ToC", "rfc2141bis-03")
        assert (urn.nss, urn.q_component, urn.r_component) == ("0-395-36341-1", "s=I2L&c=ToC", None)
        assert list(urn.directives.items()) == [("s", "I2L"), ("c", "ToC")]
        assert urn.problems == (ADOPTED,)

    def test_repeated_keyword(self):
        """§2.3: a resolver MUST ignore all directives that use the offending keyword."""
        urn = parse("urn:foo:b?s=I2L&c=ToC&s=I2R&x=", "rfc2141bis-03")
        assert urn.problems == ("repeated-keyword", ADOPTED)
        assert list(urn.directives.items()) == [("c", "ToC"), ("x", "")]

    def test_keywords_are_case_sensitive(self):
        urn = parse("urn:foo:b?s=1&S=2", "rfc2141bis-03")
        assert (dict(urn.directives), urn.problems) == ({"s": "1", "S": "2"}, (ADOPTED,))

    def test_values(self):
        urn = parse("urn:foo:b?a=b=c&d-e-1=/?:@,;%2c&f=", "rfc2141bis-03")
        assert dict(urn.directives) == {"a": "b=c", "d-e-1": "/?:@,;%2c", "f": ""}

    @pytest.mark.parametrize(
        "query", ["", "x", "=x", "1=x", "-a=x", "a-=x", "a--b=x", "a_b=x", "a+b=x", "a%41=x", "é=x"]
    )
    def test_no_directives(self, query):
        assert refusal(f"urn:ab:c?{query}", "rfc2141bis-03")[0] == 8

    @pytest.mark.parametrize("directive", ["", "b", "1=x", "a-=x", "&b=c"])
    def test_no_second_directive(self, directive):
        assert refusal(f"urn:ab:c?a=b&{directive}", "rfc2141bis-03")[0] == 12

    def test_fragment(self):
        urn = parse("urn:foo:b?s=I2L#/x?y", "rfc2141bis-03")
        assert (urn.q_component, urn.f_component) == ("s=I2L", "/x?y")
        assert parse("urn:foo:b#", "rfc2141bis-03").f_component == ""

    def test_directives_only_in_this_syntax(self):
        for text, syntax in (("urn:foo:b?s=I2L;s=I2R", "rfc2141"), ("urn:foo:b?=s=I2L&s=I2R", "rfc8141")):
            assert dict(parse(text, syntax).directives) == {}
            assert parse(text, syntax).problems == ()

    def test_directives_cannot_be_changed(self):
        with pytest.raises(TypeError):
            parse("urn:foo:b?s=I2L", "rfc2141bis-03").directives["s"] = "I2R"

    def test_resolution_services(self):
        """§9.2.2, the initial registrations."""
        assert dict(RESOLUTION_SERVICES) == {
            "I2L": "URI to URL",
            "I2Ls": "URI to URLs",
            "I2R": "URI to resource",
            "I2Rs": "URI to resources",
            "I2C": "URI to URC",
            "I2Cs": "URI to URCs",
            "I2N": "URI to URN",
            "I2Ns": "URI to URNs",
            "I=I": "URI equal to URI?",
        }
        for service in RESOLUTION_SERVICES:
            assert parse(f"urn:foo:b?s={service}", "rfc2141bis-03").directives == {"s": service}


class TestLexicalEquivalence:
    """RFC 2141 §5 and §6; RFC 8141 §3; rfc2141bis-03 §5."""

    @every_syntax
    def test_examples_of_rfc2141(self, syntax):
        """RFC 2141 §6; the later drafts agree."""
        assert classes(SECTION_6, syntax) == [{1, 2, 3}, {4}, {5, 6}]
        assert parse(SECTION_6[6], syntax).canonical == "urn:foo:a123%2C456"

    def test_examples_of_rfc8141(self):
        """RFC 8141 §3.2, all six groups."""
        first = ["urn:example:a123,z456", "URN:example:a123,z456", "urn:EXAMPLE:a123,z456"]
        second = ["urn:example:a123,z456?+abc", "urn:example:a123,z456?=xyz", "urn:example:a123,z456#789"]
        third = ["urn:example:a123,z456/foo", "urn:example:a123,z456/bar", "urn:example:a123,z456/baz"]
        fourth = ["urn:example:a123%2Cz456", "URN:EXAMPLE:a123%2cz456"]
        fifth = ["urn:example:A123,z456", "urn:example:a123,Z456"]
        sixth = ["urn:example:%D0%B0123,z456"]
        texts = dict(enumerate(first + second + third + fourth + fifth + sixth))
        expected = [{0, 1, 2, 3, 4, 5}, {6}, {7}, {8}, {9, 10}, {11}, {12}, {13}]
        assert classes(texts, "rfc8141") == expected

    def test_examples_of_bis_03(self):
        """rfc2141bis-03 §5.1 with step 5a: 7 joins 1, 2, 3 and 8."""
        texts = SECTION_6 | {7: "urn:foo:a123,456?x=y", 8: "urn:foo:a123,456#xyz"}
        assert classes(texts, "rfc2141bis-03") == [{1, 2, 3, 7, 8}, {4}, {5, 6}]

    def test_rfc2141_drops_nothing(self):
        assert len({parse(f"urn:foo:a{tail}") for tail in ("", "?x=y", "#xyz", "/b", "?+abc")}) == 5

    def test_percent_encoding_is_never_removed(self):
        """RFC 2141 §5, RFC 8141 §3.1: "%-escaping MUST NOT be removed"."""
        assert parse("urn:foo:%61") != parse("urn:foo:a")
        assert parse("urn:foo:%7E", "rfc8141") != parse("urn:foo:~", "rfc8141")

    def test_only_hex_digits_are_folded(self):
        assert parse("urn:foo:%aBc%25ab").canonical == "urn:foo:%ABc%25ab"

    def test_other_types(self):
        urn = parse("urn:foo:a")
        assert urn != "urn:foo:a"
        assert urn is not None
        assert urn.__eq__("urn:foo:a") is NotImplemented


CODES = [
    ("x", "rfc2141", "scheme-missing"),
    ("urn:-a:b", "rfc2141", "nid-first-character"),
    ("urn:" + "a" * 33 + ":b", "rfc2141", "nid-too-long"),
    ("urn:isbn", "rfc2141", "nid-colon-missing"),
    ("urn:cen.eu:en16931", "rfc2141", "nid-character"),
    ("urn:urn:a:b", "rfc2141", "nid-reserved"),
    ("urn:a:b", "rfc8141", "nid-too-short"),
    ("urn:ab-:c", "rfc8141", "nid-hyphen"),
    ("urn:ab:", "rfc2141", "nss-missing"),
    ("urn:ab:c%4", "rfc2141", "percent-malformed"),
    ("urn:ab:c\0", "rfc2141", "nul-octet"),
    ("urn:ab:c{d}", "rfc2141", "excluded-character"),
    ("urn:ab:é", "rfc2141", "non-ascii-character"),
    ("urn:ab:/c", "rfc8141", "slash"),
    ("urn:ab:c?d", "rfc8141", "question-mark"),
    ("urn:ab:c?d", "rfc2141bis-03", "query-directive"),
    ("urn:ab:c#d#e", "rfc8141", "second-fragment"),
    ("urn:ab:c?+", "rfc8141", "component-missing"),
    ("urn:ab:c?=%4", "rfc8141", "component-first-character"),
]
"""A text, a syntax, and why the one is no URN in the other."""


class TestInvalidURN:
    """Why a text is no URN, and where it stops being one."""

    @every_syntax
    @pytest.mark.parametrize(
        ("text", "position", "reason"),
        [
            ("", 0, 'a URN begins with "urn:"'),
            ("x", 0, 'a URN begins with "urn:"'),
            (" urn:ab:c", 0, 'a URN begins with "urn:"'),
            ("ur", 2, 'a URN begins with "urn:"'),
            ("URx:ab:c", 2, 'a URN begins with "urn:"'),
            ("urn", 3, 'a URN begins with "urn:"'),
            ("urn;ab:c", 3, 'a URN begins with "urn:"'),
            ("urn:", 4, "a NID begins with a letter or digit"),
            ("urn::c", 4, "a NID begins with a letter or digit"),
            ("urn:-ab:c", 4, "a NID begins with a letter or digit"),
            ("urn:é:c", 4, "a NID begins with a letter or digit"),
            ("urn:" + "a" * 33 + ":c", 36, "a NID has at most 32 characters"),
            ("urn:" + "a" * 33, 36, "a NID has at most 32 characters"),
            ("urn:isbn", 8, 'no ":" after the NID'),
            ("urn:is_bn:c", 6, "'_' is not allowed in a NID"),
            ("urn:is bn:c", 6, "' ' is not allowed in a NID"),
            ("urn:urn:c", 4, 'the NID "urn" is reserved'),
            ("URN:URN:c", 4, 'the NID "urn" is reserved'),
            ("urn:ab:", 7, "the NSS is empty"),
            ("urn:ab:%", 7, '"%" is not followed by two hex digits; a "%" itself is written %25'),
            ("urn:ab:c%4", 8, '"%" is not followed by two hex digits; a "%" itself is written %25'),
            ("urn:ab:c%4g", 8, '"%" is not followed by two hex digits; a "%" itself is written %25'),
            ("urn:ab:c d", 8, "' ' is not allowed in a URN; its encoded form is %20"),
            ("urn:ab:c\n", 8, r"'\n' is not allowed in a URN; its encoded form is %0A"),
            ('urn:ab:"', 7, "'\"' is not allowed in a URN; its encoded form is %22"),
            ("urn:ab:c\0", 8, "NUL is not allowed in a URN, encoded or not"),
            ("urn:ab:cé", 8, "'é' is not allowed in a URN"),
        ],
    )
    def test_in_all_syntaxes(self, text, position, reason, syntax):
        assert refusal(text, syntax) == (position, reason)

    def test_rfc2141(self):
        assert refusal("urn:ab:c&d", "rfc2141") == (8, "'&' is not allowed in a URN; its encoded form is %26")
        assert refusal("urn:ab:c~", "rfc2141") == (8, "'~' is not allowed in a URN; its encoded form is %7E")

    @pchar_syntaxes
    def test_nids_of_two_characters(self, syntax):
        position, reason = refusal("urn:x:y", syntax)
        assert position == 4
        assert reason == f'the NID "x" is too short: {get_syntax(syntax).reference} wants 2 characters'
        assert refusal("urn:ab-:c", syntax) == (6, "a NID may not end in a hyphen")

    @pchar_syntaxes
    def test_pchar(self, syntax):
        assert refusal("urn:ab:/c", syntax) == (7, '"/" is not allowed here in the NSS')
        assert refusal("urn:ab:c#d#e", syntax) == (10, 'a second "#"')
        assert refusal("urn:ab:c##", syntax) == (9, 'a second "#"')
        assert refusal("urn:ab:c#d[", syntax) == (10, "'[' is not allowed in a URN; its encoded form is %5B")

    @pytest.mark.parametrize(
        ("text", "position", "reason"),
        [
            ("urn:ab:c?", 8, '"?" is followed by neither "+" nor "="'),
            ("urn:ab:c?x", 8, '"?" is followed by neither "+" nor "="'),
            ("urn:ab:c?#", 8, '"?" is followed by neither "+" nor "="'),
            ("urn:ab:c?+", 8, "the r-component is empty"),
            ("urn:ab:c?+#", 8, "the r-component is empty"),
            ("urn:ab:c?=", 8, "the q-component is empty"),
            ("urn:a1:b?+x?=", 11, "the q-component is empty"),
            ("urn:ab:c?+x%", 11, '"%" is not followed by two hex digits; a "%" itself is written %25'),
            ("urn:ab:c?=x%4", 11, '"%" is not followed by two hex digits; a "%" itself is written %25'),
        ],
    )
    def test_rfc8141(self, text, position, reason):
        assert refusal(text, "rfc8141") == (position, reason)

    def test_bis_03(self):
        reason = 'a query is made of directives keyword=value, joined by "&"'
        for text, position in (("urn:ab:c?", 8), ("urn:ab:c?x", 8), ("urn:ab:c?a=b&", 12), ("urn:ab:c?a=b&c#d", 12)):
            assert refusal(text, "rfc2141bis-03") == (position, reason)
        assert refusal("urn:ab:c/d", "rfc2141bis-03") == (8, '"/" is not allowed here in the NSS')

    @pytest.mark.parametrize(
        ("text", "syntax"),
        [
            ("urn:ab:?+c", "rfc8141"),
            ("urn:ab:?=c", "rfc8141"),
            ("urn:ab:#c", "rfc8141"),
            ("urn:ab:?c=d", "rfc2141bis-03"),
        ],
    )
    def test_empty_nss_before_a_component(self, text, syntax):
        """The component is well-formed: what is missing is the NSS."""
        position, reason = refusal(text, syntax)
        assert position == 7
        assert "NSS" in reason

    def test_component_that_begins_wrongly(self):
        """A component that holds something is not empty."""
        for text in ("urn:ab:c?+/d", "urn:ab:c?=%4", "urn:ab:c?+?d"):
            position, reason = refusal(text, "rfc8141")
            assert 8 <= position <= 10
            assert "empty" not in reason

    def test_is_a_value_error(self):
        with pytest.raises(ValueError, match=r"^the NSS is empty \(at position 7\)$"):
            parse("urn:ab:")

    def test_pickled(self):
        error = InvalidURN("the NSS is empty", 7, "nss-missing")
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(error, protocol))
            assert type(again) is InvalidURN
            assert (again.reason, again.position, str(again)) == (error.reason, 7, "the NSS is empty (at position 7)")
            assert again.code == "nss-missing"

    @pytest.mark.parametrize(("text", "syntax", "code"), CODES)
    def test_codes(self, text, syntax, code):
        """docs/reference/rejects.md, reasons: a closed list that programs rely on; each has its sentence in the one table."""
        with pytest.raises(InvalidURN) as caught:
            parse(text, syntax)
        assert caught.value.code == code

    def test_all_codes(self):
        assert [code for _, _, code in CODES] == list(REASONS)

    def test_unknown_syntax(self):
        with pytest.raises(
            ValueError, match="syntax: unknown value 'rfc1'; choose from rfc2141, rfc8141, rfc2141bis-03"
        ) as caught:
            parse("urn:ab:c", "rfc1")
        assert not isinstance(caught.value, InvalidURN)


class TestURN:
    """The value that `parse` returns."""

    @every_syntax
    def test_attributes(self, syntax):
        urn = parse("URN:ISBN:0-395-%2fA", syntax)
        assert (urn.text, urn.nid, urn.nss) == ("URN:ISBN:0-395-%2fA", "isbn", "0-395-%2fA")
        assert (urn.syntax, urn.canonical, str(urn)) == (syntax, "urn:isbn:0-395-%2FA", "urn:isbn:0-395-%2FA")
        assert urn.r_component is urn.q_component is urn.f_component is None
        assert (urn.problems, dict(urn.directives)) == ((), {})

    def test_default_syntax(self):
        assert parse("urn:x:y?z").syntax == "rfc2141"

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    def test_bytes(self, kind):
        urn = parse(kind(b"URN:ab:%c3"))
        assert (urn.text, urn.canonical) == ("URN:ab:%c3", "urn:ab:%C3")
        assert type(urn.text) is str
        assert refusal(kind("urn:ab:é".encode()), "rfc2141")[0] == 7
        assert refusal(kind("urn:ab:é:é ".encode()), "rfc2141")[0] == 7

    @pytest.mark.parametrize("given", [None, 1, [], {}, Path("urn:ab:c"), io.StringIO("urn:ab:c"), array("i", [1])])
    def test_no_text(self, given):
        """What was wanted and what was given, not what an inner part wants."""
        for function in (parse, canonical, explain, lambda given: equivalent("urn:ab:c", given)):
            with pytest.raises(TypeError, match=f"^a URN must be a str or bytes, not {type(given).__name__}$"):
                function(given)

    @pytest.mark.parametrize("given", [None, 1, [], b"rfc2141"])
    def test_arguments_that_are_no_names(self, given):
        named = f"must be a str, not {type(given).__name__}$"
        with pytest.raises(TypeError, match=f"^syntax {named}"):
            parse("urn:ab:c", given)
        with pytest.raises(TypeError, match=f"^equivalence {named}"):
            canonical("urn:ab:c", equivalence=given)
        with pytest.raises(TypeError, match=f"^base {named}"):
            parse("urn:ab:c").locator(given)

    def test_str_keeps_components(self):
        """RFC 8141 §4.4."""
        urn = parse("URN:A1:b%2c?+C%2c?=D%2c#E%2c", "rfc8141")
        assert str(urn) == "urn:a1:b%2C?+C%2C?=D%2C#E%2C"
        assert urn.canonical == "urn:a1:b%2C"

    @pytest.mark.parametrize("name", ["text", "nid", "canonical", "f_component"])
    def test_immutable(self, name):
        urn = parse("urn:ab:c")
        with pytest.raises(FrozenInstanceError):
            setattr(urn, name, "x")
        with pytest.raises(FrozenInstanceError):
            delattr(urn, name)
        assert urn.text == "urn:ab:c"

    def test_nothing_can_be_added(self):
        with pytest.raises((AttributeError, TypeError)):
            parse("urn:ab:c").extra = 1

    def test_copies(self):
        urn = parse("URN:AB:c%2c?s=I2L#d", "rfc2141bis-03")
        copies = [pickle.loads(pickle.dumps(urn, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
        for again in (*copies, copy.copy(urn), copy.deepcopy(urn)):
            assert repr(again) == repr(urn)
            assert again == urn
            assert hash(again) == hash(urn)

    def test_equal_across_syntaxes(self):
        assert parse("urn:ab:c") == parse("URN:AB:c#d", "rfc8141") == parse("urn:ab:c?d=", "rfc2141bis-03")

    def test_nul_byte(self):
        """RFC 2141 §2.4: byte 0 should NEVER be used, encoded or not; the first is a problem, the second no URN."""
        assert parse("urn:ab:a%00b").problems == ("nul-octet",)
        assert parse("urn:ab:a%2500b").problems == ()
        assert parse("urn:ab:a%00b?c=%00&c=", "rfc2141bis-03").problems == ("nul-octet", "repeated-keyword", ADOPTED)
        assert not is_urn("urn:ab:a\0b", "rfc2141")


class TestLocator:
    """RFC 8141 §2.3.2 and §2.3.3: what a resolver makes of the components."""

    def test_example(self):
        query = "op=map&lat=39.56&lon=-104.85&datetime=1969-07-21T02:56:15Z"
        urn = parse(f"urn:example:weather?={query}", "rfc8141")
        assert urn.locator("https://weatherapp.example") == f"https://weatherapp.example?{query}"

    def test_f_component(self):
        urn = parse("urn:example:foo-bar-baz-qux#somepart", "rfc8141")
        assert urn.locator("https://a.example/b?c") == "https://a.example/b?c#somepart"
        assert urn.locator("https://a.example/b#c") == "https://a.example/b#somepart"
        assert parse("urn:ab:c#", "rfc8141").locator("https://a.example") == "https://a.example#"

    def test_joined_to_a_query(self):
        urn = parse("urn:ab:c?+r?=q#f", "rfc8141")
        assert urn.locator("https://a.example/?x=y#z") == "https://a.example/?x=y&q#f"
        assert urn.locator("https://a.example/#z?") == "https://a.example/?q#f"

    @pytest.mark.parametrize(
        ("base", "q", "locator"),
        [
            ("https://a.example/?x=y&", "q", "https://a.example/?x=y&q"),
            ("https://a.example/?x=y", "&q", "https://a.example/?x=y&q"),
            ("https://a.example/?x=y&", "&q", "https://a.example/?x=y&q"),
            ("https://a.example/?", "q", "https://a.example/?q"),
            ("https://a.example/b?c?", "q", "https://a.example/b?c?&q"),
        ],
    )
    def test_one_ampersand_joins(self, base, q, locator):
        """Also where the query of the base ends in one, or the q-component begins with one, or the query is empty."""
        assert parse(f"urn:ab:c?={q}", "rfc8141").locator(base) == locator

    @pytest.mark.parametrize(
        "base",
        ["", "a.example/b", "//a.example", "/b", "urn:ab:c", "mailto:a@b.example", "https://", "https://a b", "1a://b",
         "https://a.example/\n", "https://é.example", "https://a.example/%zz", "https://a.example/#b#c", "<https://a>"],
    )  # fmt: skip
    def test_no_url(self, base):
        """What would come out is no locator."""
        with pytest.raises(ValueError, match=r"^base must be a URL, .*, not '"):
            parse("urn:ab:c").locator(base)

    @pytest.mark.parametrize(
        "base", ["file:///a/b", "http://[::1]:80/a[]?b[]=%7e", "s3+x://a", "HTTPS://u:p@a.example"]
    )
    def test_urls(self, base):
        """A URL of any scheme; brackets stand in many queries."""
        assert parse("urn:ab:c").locator(base) == base

    @every_syntax
    def test_nothing_to_copy(self, syntax):
        assert parse("urn:ab:c", syntax).locator("https://a.example/b?c#d") == "https://a.example/b?c#d"

    def test_query_of_bis_03_speaks_to_the_resolver(self):
        urn = parse("urn:ab:c?s=I2L#f", "rfc2141bis-03")
        assert urn.locator("https://a.example/b") == "https://a.example/b#f"


class TestDisplay:
    """RFC 2141 §4, RFC 8141 §4.4."""

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("URN:Example:stra%c3%9Fe", "urn:example:straße"),
            ("urn:example:a123%2cz%20%25", "urn:example:a123%2Cz%20%25"),
            ("urn:example:%D0%B0123,z456", "urn:example:а123,z456"),  # noqa: RUF001
            ("urn:example:%c3", "urn:example:%C3"),
            ("urn:example:%9f%c3%9f%c3", "urn:example:%9Fß%C3"),
            ("urn:example:%ed%a0%80%c0%af", "urn:example:%ED%A0%80%C0%AF"),
            ("urn:example:%c2%85%E2%80%AE%c2%a0", "urn:example:%C2%85%E2%80%AE%C2%A0"),
            ("urn:example:%F0%9F%98%80", "urn:example:\N{GRINNING FACE}"),
        ],
    )
    def test_shown(self, text, shown):
        assert parse(text).display() == shown

    def test_components(self):
        assert parse("urn:ab:c?+%c3%9f?=%c3%9f#%c3%9f", "rfc8141").display() == "urn:ab:c?+ß?=ß#ß"


class TestEncodeNSS:
    """RFC 2141 §2.2 to §2.4."""

    @pytest.mark.parametrize(
        ("text", "nss"),
        [
            ("0-395-36341-1", "0-395-36341-1"),
            ("straße", "stra%C3%9Fe"),
            ("a/b?c#d%", "a%2Fb%3Fc%23d%25"),
            ('"&<>[]^`{|}~\\ \x7f', "%22%26%3C%3E%5B%5D%5E%60%7B%7C%7D%7E%5C%20%7F"),
            ("(),.:=@;$_!*'+-", "(),.:=@;$_!*'+-"),
            ("文\N{GRINNING FACE}", "%E6%96%87%F0%9F%98%80"),
        ],
    )
    def test_encoded(self, text, nss):
        assert encode_nss(text) == nss

    @pytest.mark.parametrize(
        ("syntax", "slash", "others"),
        [("rfc2141", "%2F", "%7E%26"), ("rfc8141", "/", "~&"), ("rfc2141bis-03", "%2F", "~&")],
    )
    def test_what_a_syntax_has(self, syntax, slash, others):
        """RFC 8141 §2.2 has "/", "~" and "&" in an NSS, and "1/406/47452/2" as an example; rfc2141bis-03 App. C "~&"."""
        assert encode_nss("1/406/47452/2", syntax) == slash.join(("1", "406", "47452", "2"))
        assert encode_nss("a~&/?#%[", syntax=syntax) == f"a{others}{slash}%3F%23%25%5B"
        assert encode_nss("/~&/", syntax) == f"%2F{others}{slash}", "an NSS begins with no slash"
        assert parse(f"urn:example:{encode_nss('/~&/?#', syntax)}", syntax).f_component is None

    def test_of_a_namespace(self):
        """RFC 8141 §2.2: a program that does not know the names of a namespace must not make URNs of them."""
        assert encode_nss("0-395-36341-1", nid="ISBN") == "0-395-36341-1"
        assert encode_nss("10.1000/ü", nid="doi", syntax="rfc8141") == "10.1000/%C3%BC"
        assert encode_nss("anything at all", nid="x-test") == "anything%20at%20all"
        for text, nid in (("0-395-36341-6", "isbn"), ("0-395-36341-1.", "isbn"), ("n-nn", "isbn"), ("abc", "oid")):
            with pytest.raises(ArgumentError, match=f"is no name in the namespace {nid}"):
                encode_nss(text, nid=nid)
        with pytest.raises(InvalidURN, match="reserved"):
            encode_nss("a", nid="urn")

    def test_refused(self):
        with pytest.raises(ValueError, match="at least one character"):
            encode_nss("")
        with pytest.raises(ValueError, match="NUL at position 1"):
            encode_nss("a\0")
        with pytest.raises(ArgumentError, match="surrogate at position 2"):
            encode_nss("ä \ud800")
        with pytest.raises(TypeError, match=r"^a name must be a str, not NoneType$"):
            encode_nss(None)
        with pytest.raises(ValueError, match="syntax: unknown value 'rfc1'"):
            encode_nss("a", "rfc1")
