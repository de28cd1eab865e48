"""What `explain` tells of a text, URN or not."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.misleading import misleading
from tests.support.oracle import SYNTAXES, whole
from tests.support.strategies import spoiled_urns, urn_pairs
from urnscan.errors import InvalidURN
from urnscan.urn.equivalence import canonical
from urnscan.urn.explanation import Explanation, explain
from urnscan.urn.namespaces import nid_status
from urnscan.urn.parser import parse

every_syntax = pytest.mark.parametrize("syntax", SYNTAXES)


class TestURN:
    """Contract, `urnscan explain`: what a URN is made of."""

    def test_rfc2141(self):
        assert explain("URN:ISBN:0-395-36341-1?x") == Explanation(
            text="URN:ISBN:0-395-36341-1?x",
            syntax="rfc2141",
            is_urn=True,
            canonical="urn:isbn:0-395-36341-1?x",
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
        assert found.problems == ("repeated-keyword",)
        assert found.q_component == "s=I=I&c=ToC&x=1&x=2"
        assert found.f_component == "p"

    def test_level(self):
        text = "URN:AB:c?s=I2L&c=ToC#p"
        assert explain(text, syntax="rfc2141bis-03").canonical == "urn:ab:c"
        resolution = explain(text, syntax="rfc2141bis-03", equivalence="resolution")
        assert resolution.canonical == "urn:ab:c?c=ToC&s=I2L"

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
            ("urn:isbn:abc%00", False, "invalid: the NSS does not fit", ("nss-grammar", "nul-octet")),
            ("urn:nbn:de:101:1-2020112012434733354624", True, "valid: the check digit of the", ("dnb-check-digit",)),
            ("urn:nbn:hr:204:468943", None, "unknown: libraries also assign", ()),
        ],
    )
    def test_verdict(self, text, valid, verdict, problems):
        """Contract, `valid` and `problem`; a good name that a grammar rejects is not called wrong."""
        found = explain(text)
        assert (found.valid, found.problems) == (valid, problems)
        assert found.verdict.startswith(verdict)

    @pytest.mark.parametrize(
        ("text", "resolver"),
        [
            ("URN:NBN:DE:101:1-201609052530", "https://nbn-resolving.org/urn:nbn:de:101:1-201609052530"),
            ("urn:nbn:se-2002-1?=s=1#p2", "https://urn.kb.se/resolve?urn=urn:nbn:se-2002-1&s=1#p2"),
            ("urn:doi:10.1000/182#p", "https://doi.org/10.1000/182#p"),
            ("urn:ietf:rfc:2648", "https://www.rfc-editor.org/info/rfc2648"),
            ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", None),
        ],
    )
    def test_resolver(self, text, resolver):
        """RFC 8141 §2.3: a public service, with the q- and f-component where they belong."""
        assert explain(text, syntax="rfc8141").resolver == resolver

    @pytest.mark.parametrize("nid", ["isbn", "urn-5", "x-a", "xn--a", "nobody"])
    def test_status(self, nid):
        assert explain(f"urn:{nid.upper()}:a").nid_status == nid_status(nid)

    def test_problems(self):
        """RFC 2141 §2.4: octet 0 must never be in a URN, encoded or not."""
        assert explain("urn:ab:a%00b").problems == ("nul-octet",)
        assert explain("urn:ab:a%30b").problems == ()
        assert explain("urn:ab:c?a=%00&a=1", syntax="rfc2141bis-03").problems == ("nul-octet", "repeated-keyword")

    def test_display(self):
        """RFC 8141 §4.4: the form for people."""
        assert explain("URN:AB:stra%c3%9fe%2c").display == "urn:ab:straße%2C"

    @every_syntax
    @FEW
    @given(data=st.data())
    def test_parts_are_those_of_parse(self, syntax, data):
        spelled, folded = data.draw(urn_pairs(syntax))
        found, urn = explain(spelled, syntax=syntax), parse(spelled, syntax)
        assert found.is_urn
        assert found.canonical == folded
        for name in ("text", "syntax", "nid", "nss", "r_component", "q_component", "f_component"):
            assert getattr(found, name) == getattr(urn, name)
        assert found.problems == (*urn.problems, *misleading(folded.split(":", 2)[2]))
        assert found.display == urn.display()
        assert found.directives == dict(urn.directives)
        assert found.position is found.reason is None


class TestNoURN:
    """Where a text is no URN, only `text`, `syntax`, `position` and `reason` are set."""

    @pytest.mark.parametrize(
        ("text", "position"),
        [
            ("", 0),
            ("doi:10.1000/1", 0),
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
        """Nothing else comes out of it, whatever the text; reason and position are those of parse."""
        text = data.draw(st.one_of(spoiled_urns(syntax).map(lambda octets: octets.decode("latin-1")), st.text()))
        found = explain(text, syntax=syntax)
        assert found.is_urn == (text.isascii() and whole(text.encode(), syntax))
        if not found.is_urn:
            with pytest.raises(InvalidURN) as caught:
                canonical(text, syntax=syntax)
            assert (found.reason, found.position) == (caught.value.reason, caught.value.position)
            assert 0 <= found.position <= len(text)
            assert found.canonical is found.nid is found.nss is found.display is None

    @pytest.mark.parametrize("octets", [b"urn:ab:c", "urn:ab:é".encode()])
    def test_octets(self, octets):
        """As the characters that `parse` sees, so that what is shown and what JSON has is text."""
        found = explain(octets)
        assert found == explain(octets.decode("latin-1"))
        assert found._repr_html_()

    def test_in_a_set(self):
        """A frozen record; the mapping in it does not count."""
        texts = ("urn:ab:c?s=I2L", "urn:ab:c?s=I2L", "urn:ab:d")
        assert len({explain(text, syntax="rfc2141bis-03") for text in texts}) == 2

    def test_unknown_names_are_errors_even_so(self):
        with pytest.raises(ValueError, match="unknown syntax"):
            explain("no urn", syntax="rfc1")
        with pytest.raises(ValueError, match="unknown equivalence"):
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
        assert as_dict["problems"] == list(found.problems)
        assert Explanation(**{**as_dict, "problems": tuple(as_dict["problems"])}) == found

    def test_immutable(self):
        with pytest.raises(AttributeError):
            explain("urn:ab:c").nid = "x"
