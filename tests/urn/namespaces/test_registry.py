"""The registry of namespaces and the standing of a NID."""

from __future__ import annotations

import csv
import io
import string
from collections import Counter
from datetime import date
from importlib.resources import files
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import whole
from urnscan.scanner.find import find
from urnscan.urn.namespaces import Namespace, NidStatus, judge, namespace_form, nid_status, registered, rules

nids = st.builds(
    str.__add__,
    st.sampled_from(["", "x-", "X-", "xn--", "ab-", "urn-", "URN-", "a1-", "1a-", "x", "urn", "isbn", "urn-7"]),
    st.text(string.ascii_letters + string.digits + "-", max_size=8),
).filter(lambda nid: nid[:1].isalnum())


class TestTable:
    """Contract, semantics §6: the IANA table, 97 formal and 8 informal namespaces, is data of the package."""

    def test_entries(self):
        assert Counter(entry.kind for entry in registered().values()) == {"formal": 97, "informal": 8}
        assert len(registered()) == 105

    def test_is_package_data(self):
        table = (files("urnscan.urn.namespaces") / "urn-namespaces.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(table)))
        assert len(rows) == 105
        assert {row["nid"].lower(): Namespace(**row) for row in rows} == registered()

    def test_says_where_it_is_from(self):
        source = (files("urnscan.urn.namespaces") / "urn-namespaces.SOURCE.txt").read_text(encoding="utf-8")
        assert "IANA" in source
        assert "97 formal + 8 informal = 105" in source

    def test_entries_are_complete(self):
        for nid, entry in registered().items():
            assert nid == entry.nid.lower()
            assert entry.kind in ("formal", "informal")
            assert entry.description.strip() == entry.description != ""
            assert entry.reference.strip() == entry.reference
            assert all(entry.reference.split("; ")), nid

    def test_every_nid_is_one(self):
        """RFC 8141 §2.1: every registered NID is well-formed in the strictest of the syntaxes."""
        for nid in registered():
            assert whole(f"urn:{nid}:a".encode(), "rfc8141")

    def test_informal_ones_are_numbered(self):
        """RFC 8141 §5.2: "urn-" and a number."""
        informal = [nid for nid, entry in registered().items() if entry.kind == "informal"]
        assert sorted(informal) == [f"urn-{number}" for number in range(1, 9)]

    @pytest.mark.parametrize("nid", ["isbn", "issn", "nbn", "uuid", "oid", "ietf", "example", "3gpp", "gs1", "xmlorg"])
    def test_well_known(self, nid):
        assert registered()[nid].kind == "formal"

    def test_cannot_be_changed(self):
        with pytest.raises(TypeError):
            registered()["mine"] = registered()["isbn"]
        with pytest.raises(AttributeError):
            registered()["isbn"].kind = "informal"


class TestNoText:
    """What is asked of the namespaces is a str: one sentence says so, for whatever is none."""

    @pytest.mark.parametrize("given", [None, 1, [], b"urn:isbn:0395363411"])
    @pytest.mark.parametrize(
        ("function", "what"),
        [(nid_status, "NID"), (judge, "URN"), (namespace_form, "URN"), (rules()["doi"].link, "URN")],
    )
    def test_no_text(self, function, what, given):
        with pytest.raises(TypeError, match=f"^a {what} must be a str, not {type(given).__name__}$"):
            function(given)

    @pytest.mark.parametrize("text", ["", "urn", "urn:isbn", "a:b:c", "URN:ISBN:0395363411"])
    @pytest.mark.parametrize("function", [judge, namespace_form, rules()["doi"].link])
    def test_not_canonical(self, function, text):
        """A NID in capital letters would not be found: its names would seem to be of no registered namespace."""
        with pytest.raises(ValueError, match=f"^'{text}' is no URN in canonical form, as urnscan.canonical gives it$"):
            function(text)


class TestTemplates:
    """RFC 8141 §6.4, Appendix A: what a registration template says."""

    def test_of_a_namespace(self):
        isbn = registered()["isbn"]
        assert (isbn.version, isbn.date, isbn.registrant) == (2, "2017-06-12", "International ISBN Agency")
        assert "resolution" in isbn.resolution
        assert registered()["urn-5"].registrant.startswith("University of Jyväskylä")

    def test_without_a_template(self):
        """Namespaces that an RFC registers have none at the IANA."""
        ietf = registered()["ietf"]
        assert {ietf.version, ietf.date, ietf.registrant, ietf.assignment, ietf.resolution, ietf.security} == {None}

    def test_all(self):
        """Each has a version; dates are dates; texts are texts of several words."""
        found = [entry for entry in registered().values() if entry.version]
        assert len(found) == 45
        for entry in found:
            assert entry.date is None or date.fromisoformat(entry.date), entry.nid
            for text in (entry.assignment, entry.resolution, entry.security):
                assert text is None or len(text) > 5, entry.nid


class TestStatus:
    """Semantics §6: formal, informal (in the table), experimental (`X-…`), reserved (RFC 8141 §5.1: two
    characters; two letters and a hyphen; `urn-…` that is not registered), else unregistered.
    """

    @pytest.mark.parametrize(
        ("nid", "status"),
        [
            ("isbn", "formal"),
            ("ISBN", "formal"),
            ("3gpp2", "formal"),
            ("broadband-forum-org", "formal"),
            ("urn-5", "informal"),
            ("URN-8", "informal"),
            ("x-test", "experimental"),
            ("X-Test", "experimental"),
            ("x-", "experimental"),
            ("x-5", "experimental"),
            ("xn--80ak6aa92e", "reserved"),
            ("XN--a", "reserved"),
            ("de-nbn", "reserved"),
            ("ab-", "reserved"),
            ("urn", "reserved"),
            ("URN", "reserved"),
            ("urn-9", "reserved"),
            ("URN-0", "reserved"),
            ("urn-05", "reserved"),
            ("urn-12345", "reserved"),
            ("urn-", "reserved"),
            ("urn-x", "reserved"),
            ("URN-nbn", "reserved"),
            ("urn-9x", "reserved"),
            ("urn9", "unregistered"),
            ("hathi", "unregistered"),
            ("xtest", "unregistered"),
            ("x", "unregistered"),
            ("ab", "reserved"),
            ("a-", "reserved"),
            ("42", "reserved"),
            ("a1-b", "unregistered"),
            ("1a-b", "unregistered"),
            ("12-b", "unregistered"),
            ("abc-d", "unregistered"),
            ("a-b", "unregistered"),
            ("isbn-a", "unregistered"),
        ],
    )
    def test_examples(self, nid, status):
        assert nid_status(nid) == status

    def test_all_of_the_table(self):
        for nid, entry in registered().items():
            assert nid_status(nid) == nid_status(nid.upper()) == entry.kind

    @given(nids)
    def test_rule(self, nid):
        """The rule once more, without a pattern; case never counts."""
        low = nid.lower()
        if low in registered():
            expected = registered()[low].kind
        elif low[:2] == "x-":
            expected = "experimental"
        elif len(low) == 2 or (low[:2].isalpha() and low[2:3] == "-") or low == "urn" or low[:4] == "urn-":
            expected = "reserved"
        else:
            expected = "unregistered"
        assert nid_status(nid) == nid_status(nid.swapcase()) == expected
        assert expected in get_args(NidStatus)

    def test_never_a_reason_to_drop_a_match(self):
        nids = ["isbn", "urn-5", "x-test", "xn--a", "urn-99", "nobody"]
        assert [found.nid for found in find(" ".join(f"urn:{nid}:a" for nid in nids))] == nids
