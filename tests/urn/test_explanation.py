"""What `explain` tells of a text, URN or not."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from urllib.parse import unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.test_identifiers import isbns10, isbns13
from tests.support.examples import FEW
from tests.support.misleading import is_judged
from tests.support.oracle import SYNTAXES, whole
from tests.support.spelled import spelled
from tests.support.strategies import spoiled_urns, urn_pairs
from urnscan.errors import InvalidURN
from urnscan.records.fields import Own
from urnscan.records.identifiers import as_text
from urnscan.urn.equivalence import canonical
from urnscan.urn.explanation import Explanation, explain
from urnscan.urn.namespaces import nid_status
from urnscan.urn.namespaces.references import why_no_isbn_or_issn
from urnscan.urn.parser import parse
from urnscan.urn.syntax import RESOLUTION_SERVICES

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)


class TestURN:
    """Contract, `urnscan explain`: what a URN is made of."""

    def test_rfc2141(self):
        assert explain("URN:ISBN:0-395-36341-1?x") == Explanation(
            text="URN:ISBN:0-395-36341-1?x",
            syntax="rfc2141",
            is_urn=True,
            canonical="urn:isbn:0-395-36341-1?x",
            equivalence="lexical",
            nid="isbn",
            nid_status="formal",
            namespace=explain("urn:isbn:1").namespace,
            rule=explain("urn:isbn:1").rule,
            valid=None,
            verdict=explain("urn:isbn:1?").verdict,
            nss="0-395-36341-1?x",
            display="urn:isbn:0-395-36341-1?x",
        )

    def test_rfc8141(self):
        """RFC 8141 §2.3: r-, q- and f-component."""
        found = explain("urn:Example:a%2cb?+r?r?=q?+q#f", syntax="rfc8141")
        assert (found.nss, found.r_component, found.q_component, found.f_component) == ("a%2cb", "r?r", "q?+q", "f")
        assert found.canonical == "urn:example:a%2Cb"
        assert found.directives == {}

    def test_empty_component_is_not_a_missing_one(self):
        assert explain("urn:ab:c#", syntax="rfc8141").f_component == ""
        assert explain("urn:ab:c", syntax="rfc8141").f_component is None

    def test_directives(self):
        """rfc2141bis-03 §2.3: directives keyword=value; a keyword that is repeated is to be ignored."""
        found = explain("urn:ab:c?s=I=I&c=ToC&x=1&x=2#p", syntax="rfc2141bis-03")
        assert found.directives == {"s": "I=I", "c": "ToC"}
        assert found.problems == ("repeated-keyword", "component-not-adopted")
        assert found.q_component == "s=I=I&c=ToC&x=1&x=2"
        assert found.f_component == "p"

    @pytest.mark.parametrize(
        ("text", "syntax", "remarks"),
        [
            ("urn:example:a~b", "rfc2141", ("it is a URN in rfc8141 and rfc2141bis-03",)),
            ("urn:example:a?x", "rfc8141", ("it is a URN in rfc2141",)),
            ("urn:example:müller", "rfc2141", ()),
        ],
    )
    def test_the_other_syntax_is_named(self, text, syntax, remarks):
        """Who gave a name of RFC 8141 to the default syntax learns how to have it taken."""
        found = explain(text, syntax=syntax)
        assert (found.is_urn, found.remarks) == (False, remarks)
        assert all(f"remarks      {remark}" in str(found) for remark in remarks)

    def test_level(self):
        text = "URN:AB:c?s=I2L&c=ToC#p"
        assert explain(text, syntax="rfc2141bis-03").canonical == "urn:ab:c"
        resolution = explain(text, syntax="rfc2141bis-03", equivalence="resolution")
        assert resolution.canonical == "urn:ab:c?c=ToC&s=I2L"
        assert resolution.equivalence == "resolution"

    def test_namespace(self):
        """What is named, and where the namespace and its rule are defined."""
        found = explain("urn:UUID:f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
        assert found.namespace == "UUIDs (RFC9562)"
        assert found.rule == "the whole NSS in any case (RFC 4122 §3, RFC 9562 §4)"
        assert explain("urn:3gpp:video-orientation").rule == "none of its own (RFC 5279 §2)"
        unregistered = explain("urn:nobody:a")
        assert (unregistered.namespace, unregistered.rule, unregistered.resolver) == (None, None, None)
        assert unregistered.valid is None
        assert "not registered" in unregistered.verdict

    @pytest.mark.parametrize(
        ("text", "valid", "verdict", "problems"),
        [
            ("urn:isbn:0-395-36341-1", True, "valid: it fits ", ()),
            ("urn:isbn:0-395-36341-6", False, "invalid: the check digit is wrong", ("check-digit",)),
            ("urn:isbn:abc%00", False, "invalid: an ISBN has only digits", ("nss-grammar", "nul-octet")),
            (
                "urn:nbn:de:101:1-2020112012434733354624",
                True,
                "valid: it fits RFC 8458 §4.2, §4.3; a hint: ",
                ("dnb-check-digit",),
            ),
            ("urn:nbn:hr:204:468943", None, "unknown: libraries also assign", ()),
            ("urn:xmpp:a%00", None, "unknown: it fits RFC 4854 §2, but it holds %00", ("nul-octet",)),
        ],
    )
    def test_verdict(self, text, valid, verdict, problems):
        """Contract, `valid` and `problem`; a good name that a grammar rejects is not called wrong."""
        found = explain(text)
        assert (found.valid, found.problems) == (valid, problems)
        assert found.verdict.startswith(verdict)
        assert f"\n  result       {verdict}" in str(found)

    @pytest.mark.parametrize(
        ("text", "resolver"),
        [
            ("URN:NBN:DE:101:1-201609052530", "https://nbn-resolving.org/urn:nbn:de:101:1-201609052530"),
            ("urn:nbn:de:101:1-2?+part=%2c3?=lang=de#p4", "https://nbn-resolving.org/urn:nbn:de:101:1-2?+part=%2c3#p4"),
            ("urn:nbn:se-2002-1?=s=1#p2", "https://urn.kb.se/resolve?urn=urn:nbn:se-2002-1#p2"),
            ("urn:nbn:se-a%2cb?+r=a&b", "https://urn.kb.se/resolve?urn=urn:nbn:se-a%252Cb?%2Br=a%26b"),
            ("urn:doi:10.1000/182?+r#p", "https://doi.org/10.1000/182#p"),
            ("urn:ietf:rfc:2648", "https://www.rfc-editor.org/info/rfc2648"),
            ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", None),
        ],
    )
    def test_resolver(self, text, resolver):
        """RFC 8141 §2.3: the r-component goes to a service that is asked with the URN, as a whole; the q-component goes to
        none; the f-component is kept by the client.
        """
        assert explain(text, syntax="rfc8141").resolver == resolver

    @pytest.mark.parametrize(
        ("text", "resolver"),
        [
            ("urn:doi:10.1002/a%3Cb%3E3.0.CO;2-#", "https://doi.org/10.1002/a%3Cb%3E3.0.CO;2-%23"),
            ("urn:doi:10.1002/a?b#c?", "https://doi.org/10.1002/a%3Fb%23c%3F"),
            ("urn:nbn:de:101:1-2#p?x", "https://nbn-resolving.org/urn:nbn:de:101:1-2%23p%3Fx"),
            ("urn:nbn:se-a?b#c", "https://urn.kb.se/resolve?urn=urn:nbn:se-a?b%23c"),
            ("urn:isbn:0395363411#p2", None),
        ],
    )
    def test_marks_of_a_name_of_rfc_2141(self, text, resolver):
        """RFC 2141 §2.3.2: "?" and "#" stand in the name; raw, they would end the path, and another name is asked for."""
        assert explain(text).resolver == resolver

    @pytest.mark.parametrize(
        ("text", "resolver"),
        [
            ("urn:nbn:de:101:1-2?s=I2L&c=ToC#p", "https://nbn-resolving.org/urn:nbn:de:101:1-2?s=I2L&c=ToC#p"),
            ("urn:nbn:se-1?s=I2L&c=ToC", "https://urn.kb.se/resolve?urn=urn:nbn:se-1?s=I2L%26c=ToC"),
            ("urn:ietf:rfc:2648?s=I2L", "https://www.rfc-editor.org/info/rfc2648"),
        ],
    )
    def test_directives_go_to_the_resolver(self, text, resolver):
        """rfc2141bis-03 §2.3: a query is for resolution services."""
        assert explain(text, syntax="rfc2141bis-03").resolver == resolver

    @pytest.mark.parametrize("text", ["urn:nbn:se-a%2cb&c?+r=a+b&c", "urn:nbn:fi-a%2cb?+r?x", "urn:nbn:de:a~b"])
    def test_a_resolver_gets_the_name_and_the_r_component(self, text):
        """What a server reads out of the address, decoded once from a query, is the URN."""
        assigned = str(parse(text, "rfc8141"))
        link = explain(text, syntax="rfc8141").resolver
        asked = unquote_plus(link.partition("?urn=")[2]) if "?urn=" in link else link.partition("/urn:")[2]
        assert asked in (assigned, assigned.removeprefix("urn:"))

    def test_service(self):
        """rfc2141bis-03 §9.2.2, RFC 2483 §4.1 to §4.9: what `s` asks for."""
        sections = {}
        for name in RESOLUTION_SERVICES:
            title, section = explain(f"urn:ab:c?s={name}", syntax="rfc2141bis-03").service.split(" (RFC 2483 §4.")
            sections[name] = int(section.removesuffix(")"))
            assert title == RESOLUTION_SERVICES[name]
        assert sections == {
            "I2L": 1,
            "I2Ls": 2,
            "I2R": 3,
            "I2Rs": 4,
            "I2C": 5,
            "I2Cs": 6,
            "I2N": 7,
            "I2Ns": 8,
            "I=I": 9,
        }
        for text in ("urn:ab:c", "urn:ab:c?s=i2l", "urn:ab:c?S=I2L", "urn:ab:c?s=I2L&s=I2R"):
            assert explain(text, syntax="rfc2141bis-03").service is None

    @pytest.mark.parametrize(
        ("syntax", "text", "begin"),
        [
            ("rfc2141", "urn:ab:c?+r?=q#f", []),
            ("rfc8141", "urn:ab:c", []),
            (
                "rfc8141",
                "urn:ab:c?+r?=q#f",
                ["the r-component goes", "the q-component does not", "the f-component does not"],
            ),
            ("rfc2141bis-03", "urn:ab:c", []),
            ("rfc2141bis-03", "urn:ab:c?s=I2L&c=ToC", ["the directives go"]),
            ("rfc2141bis-03", "urn:ab:c?s=I2U", ["the directives go", 'the service "I2U" is not registered']),
            ("rfc2141bis-03", "urn:ab:c?C=1&s=", ["the dir", 'the keyword "C" is not', 'the service "" is not']),
            (
                "rfc2141bis-03",
                "urn:ab:c?x=1&s=I2U&x=2&s=1",
                ["the dir", 'the keyword "x" is rep', 'the keyword "s" is rep'],
            ),
            ("rfc2141bis-03", "urn:ab:c#", ["a fragment is allowed only"]),
        ],
    )
    def test_remarks(self, syntax, text, begin):
        """RFC 8141 §2.3.1 to §2.3.3; rfc2141bis-03 §2.3, §2.4 and §9.2: each with its section."""
        remarks = explain(text, syntax=syntax).remarks
        assert [remark.startswith(start) for remark, start in zip(remarks, begin, strict=True)] == [True] * len(begin)
        assert all("(RFC 8141 §2.3." in remark or "(rfc2141bis-03 §" in remark for remark in remarks)

    @pytest.mark.parametrize(
        ("text", "is_said"), [("urn:doi:10.1000/182?+r", True), ("urn:nbn:de:a-1?+r", False), ("urn:ab:c?+r", False)]
    )
    def test_what_a_service_does_not_get_is_said(self, text, is_said):
        """doi.org is asked with a DOI, not with a URN, and knows no r-component."""
        (remark,) = explain(text, syntax="rfc8141").remarks
        assert remark.endswith("is not asked with a URN, and does not get it") is is_said

    @pytest.mark.parametrize("nid", ["isbn", "urn-5", "x-a", "xn--a", "nobody"])
    def test_status(self, nid):
        assert explain(f"urn:{nid.upper()}:a").nid_status == nid_status(nid)

    def test_problems(self):
        """RFC 2141 §2.4: byte 0 must never be in a URN, encoded or not."""
        assert explain("urn:ab:a%00b").problems == ("nul-octet",)
        assert explain("urn:ab:a%20b").problems == ()
        assert explain("urn:ab:c?a=%00&a=1", syntax="rfc2141bis-03").problems == (
            "nul-octet",
            "repeated-keyword",
            "component-not-adopted",
        )

    def test_display(self):
        """RFC 8141 §4.4: the form for people."""
        assert explain("URN:AB:stra%c3%9fe%2c").display == "urn:ab:straße%2C"

    @every_syntax
    @FEW
    @given(data=st.data())
    def test_parts_are_those_of_parse(self, syntax, data):
        text, folded = data.draw(urn_pairs(syntax).filter(lambda pair: is_judged(pair[0])))
        found, urn = explain(text, syntax=syntax), parse(text, syntax)
        assert found.is_urn
        assert found.canonical == folded
        for name in ("text", "syntax", "nid", "nss", "r_component", "q_component", "f_component"):
            assert getattr(found, name) == getattr(urn, name)
        assert found.problems == urn.problems == tuple(spelled(text, syntax)[1])
        assert found.display == urn.display()
        assert found.directives == dict(urn.directives)
        assert found.position is found.reason is None


class TestStandsForURN:
    """An identifier in the form of its own standard, or a link: explained as its URN, and that is said."""

    @pytest.mark.parametrize(
        ("text", "urn"),
        [
            ("978-0-395-36341-6", "urn:isbn:9780395363416"),
            (" ISBN-10: 0 395 36341 1\n", "urn:isbn:9780395363416"),
            ("0-395-36341-6", "urn:isbn:0395363416"),
            ("0317-8471", "urn:issn:0317-8471"),
            ("03178472", "urn:issn:0317-8472"),
            ("10.1000/182", "urn:doi:10.1000/182"),
            ("doi:10.1000/456#789", "urn:doi:10.1000/456%23789"),
            ("https://doi.org/10.1000/456%23789", "urn:doi:10.1000/456%23789"),
            ("F81D4FAE7DEC11D0A76500A0C91E6BF6", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
            ("0000 0001 2124 1960", "urn:isni:0000000121241960"),
            ("https://isni.org/isni/0000000121241960", "urn:isni:0000000121241960"),
            ("LEI: 7LTWFZYICNSX8D621K86", "urn:lei:7LTWFZYICNSX8D621K86"),
            ("oid:1.3.6.1", "urn:oid:1.3.6.1"),
            ("RFC 2648", "urn:ietf:rfc:2648"),
            ("https://nbn-resolving.org/urn:nbn:de:101:1-201609052530", "urn:nbn:de:101:1-201609052530"),
            ("http://nbn-resolving.org/resolver/URN:NBN:de:101:1-a?x=y#z", "URN:NBN:de:101:1-a"),
            ("https://urn.kb.se/resolve?a=b&urn=urn%3Anbn%3Ase%3Aa-1&x=y", "urn:nbn:se:a-1"),
            ("HTTPS://portal.issn.org/resource/issn/0317-8471#top", "urn:issn:0317-8471"),
            ("https://nrs.harvard.edu/urn-3:HUL.x:1", "urn:urn-3:HUL.x:1"),
            ("<urn:isbn:0451450523>", "urn:isbn:0451450523"),
            ("<URL: URN:example:a >", "URN:example:a"),
            ('"urn:example:a"', "urn:example:a"),
            ("'urn:example:a'", "urn:example:a"),
            (" urn:example:a\n", "urn:example:a"),
        ],
    )
    def test_read_as(self, text, urn):
        """Also in the delimiters of RFC 3986, Appendix C."""
        found, other = explain(text, equivalence="namespace"), explain(urn, equivalence="namespace")
        assert found == replace(other, text=text, is_urn=False, read_as=urn)
        assert found.is_good == (other.valid is not False)

    def test_the_spelling_of_a_number_is_told(self):
        """At the level "lexical" 0451450523 and urn:isbn:0451450523 have different canonical forms."""
        (remark,) = explain("0451450523").remarks
        assert remark.startswith("the text is read in the canonical form of its namespace")
        assert explain("9780451450524").remarks == explain("0451450523", equivalence="namespace").remarks == ()

    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("978-0-395-36341-6 (pbk.)", "9780395363416"),
            ("0-395-36341-1 :", "0395363411"),
            ("ISBN-13 (ebook): 978 0 395 36341 6 ; v. 1", "9780395363416"),
            ("978\u20130\u2013395\u201336341\u20135 geb.", "9780395363415"),
            ("3-16-148410-x, 978-3-16-148410-0", "316148410X"),
            ("(pbk.) 0-395-36341-6", "0395363416"),
            ("0317-8471 (online)", "03178471"),
        ],
    )
    def test_a_number_with_a_remark(self, text, number):
        """As fields of catalogues have it, and `dedup` reads it; what is not read is told, and the digit is checked."""
        found, other = explain(text, equivalence="namespace"), explain(number, equivalence="namespace")
        assert found == replace(other, text=text, remarks=(f"only the number is read: {number}",))

    @FEW
    @given(number=isbns10 | isbns13, remark=st.sampled_from([" (pbk.)", " :", ", geb.", " [hors commerce]"]))
    def test_as_dedup_reads_it(self, number, remark):
        """One rule for both: the URN of a field 020 $a, where its check digit is right."""
        assert as_text(Own(number + remark, "isbn")) == explain(number + remark, equivalence="namespace").read_as

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("97803953634", "it has 11 digits, but an ISBN has 10 or 13, and an ISSN has 8"),
            ("978-0-395-36341 (pbk.)", "it has 12 digits, but an ISBN has 10 or 13, and an ISSN has 8"),
            ("0317-847", "it has 7 digits, but an ISBN has 10 or 13, and an ISSN has 8"),
            ("ISBN 978", "it has 3 digits, but an ISBN has 10 or 13"),
            ("ISSN 978-0-395-36341-6", "it has 13 digits, but an ISSN has 8"),
            ("978-0-395-3634l-6", "an ISBN or ISSN has only digits, hyphens and perhaps an X at its end"),
            ("03953X3411", "an ISBN or ISSN has only digits, hyphens and perhaps an X at its end"),
            ("9760395363416", "an ISBN with 13 digits begins with 978 or 979, and has no X"),
            ("978039536341X", "an ISBN with 13 digits begins with 978 or 979, and has no X"),
            ("ISSN 031-78471", "in an ISSN, the hyphen is after the fourth digit"),
            *(
                (text, 'a URN begins with "urn:"')
                for text in ("2026-11-27", "2026-11-27 20:12:33", "12345678.pdf", "12345", "1" * 21, "oclc:1234", "")
            ),
            *(
                (text, 'a URN begins with "urn:"; it is no ISBN or ISSN either: it has letters')
                for text in ("ISBN", "A1234567", "testISSN", "n766732", "preceding title")
            ),
            ("123456789123456", "it has 15 digits, but an ISBN has 10 or 13, and an ISSN has 8"),
        ],
    )
    def test_what_is_nearly_a_number(self, text, reason):
        """The reason begins with what a reader can see in the number; dates, files and other digits are none."""
        found = explain(text)
        assert (found.reason, found.read_as, found.is_good) == (reason, None, False)

    @pytest.mark.parametrize(
        "text",
        [
            "<urn:example:a",
            "<urn:>",
            "<urn:example:a b>",
            "",
            "12345",
            "1.3.6.1",
            "ABCD0001000",
            "a book",
            "7LTWFZYICNSX8D621K86",
            "oclc:1234",
            "https://example.org/isbn",
            "isbn",
            "https://nbn-resolving.org/urn:",
            "https://example.org/?urn=",
            "10.1000/" + "a" * 5000,
        ],
    )
    def test_what_stands_for_none(self, text):
        """A form that many other texts have is not enough without a label."""
        found = explain(text)
        assert (found.read_as, found.is_urn, found.is_good) == (None, False, False)
        assert found.reason

    def test_syntax(self):
        """rfc2141bis-03 has no slash in a name: there a DOI stands for no URN."""
        assert explain("10.1000/182", syntax="rfc8141").read_as == "urn:doi:10.1000/182"
        assert explain("10.1000/182", syntax="rfc2141bis-03").read_as is None
        link = "https://resolver.example/urn:example:a?=map?x#top"
        assert explain(link, syntax="rfc8141").q_component == "map"


class TestNoURN:
    """Where a text is no URN, only `text`, `syntax`, `position` and `reason` are set."""

    @pytest.mark.parametrize(
        ("text", "position"),
        [
            ("", 0),
            ("doi: 10", 0),
            ("urn", 3),
            ("urn:isbn:0 395", 10),
            ("urn:isbn:straße", 13),
            ("urn:urn:a", 4),
            ("urn:é:a", 4),
            ("urn:ab:%2", 7),
        ],
    )
    def test_where(self, text, position):
        found = explain(text)
        assert found == Explanation(text=text, syntax="rfc2141", is_urn=False, position=position, reason=found.reason)
        assert found.reason

    @every_syntax
    @FEW
    @given(data=st.data())
    def test_is_a_urn_or_not(self, syntax, data):
        """Nothing else comes out of it, whatever the text; reason and position of what stands for no URN are those of parse."""
        text = data.draw(st.one_of(spoiled_urns(syntax).map(lambda content: content.decode("latin-1")), st.text()))
        found = explain(text, syntax=syntax)
        assert found.is_urn == (text.isascii() and whole(text.encode(), syntax))
        if not found.is_urn and found.read_as is None:
            with pytest.raises(InvalidURN) as caught:
                canonical(text, syntax=syntax)
            reason = why_no_isbn_or_issn(text) or caught.value.reason
            assert (found.reason, found.position) == (reason, caught.value.position)
            assert 0 <= found.position <= len(text)
            assert found.canonical is found.nid is found.nss is found.display is None

    @pytest.mark.parametrize("content", [b"urn:ab:c", "urn:ab:é".encode()])
    def test_bytes(self, content):
        """As the characters that `parse` sees, so that what is shown and what JSON has is text."""
        found = explain(content)
        assert found == explain(content.decode("latin-1"))
        assert found._repr_html_()

    def test_in_a_set(self):
        """A frozen record; the mapping in it does not count."""
        texts = ("urn:ab:c?s=I2L", "urn:ab:c?s=I2L", "urn:ab:d")
        assert len({explain(text, syntax="rfc2141bis-03") for text in texts}) == 2

    def test_unknown_names_are_errors_even_so(self):
        with pytest.raises(ValueError, match="syntax: unknown value"):
            explain("no urn", syntax="rfc1")
        with pytest.raises(ValueError, match="equivalence: unknown value"):
            explain("no urn", equivalence="none")
        with pytest.raises(ValueError, match="resolution"):
            explain("no urn", equivalence="resolution")


class TestAsDict:
    """One record for people and programs alike."""

    @pytest.mark.parametrize("text", ["urn:ab:c?a=1&b=%00#f", "no urn"])
    def test_is_json(self, text):
        found = explain(text, syntax="rfc2141bis-03")
        as_dict = json.loads(json.dumps(found.as_dict()))
        assert list(as_dict) == [field.name for field in fields(Explanation)]
        lists = {name: tuple(as_dict[name]) for name in ("problems", "remarks")}
        assert lists["problems"] == found.problems
        assert Explanation(**{**as_dict, **lists}) == found

    def test_immutable(self):
        with pytest.raises(AttributeError):
            explain("urn:ab:c").nid = "x"
