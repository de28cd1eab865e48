"""Keys of records: each identifier has one key, whatever its spelling; what looks like one has none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import keys_of as read_keys
from urnscan.dedup.policy import KEYS, Policy
from urnscan.records import keys as module
from urnscan.records.fields import Own, own_fields, read_data
from urnscan.records.format_registry import FORMATS
from urnscan.records.identifiers import as_text
from urnscan.records.keys import DESCRIPTION, KeyReader, keys, kinds
from urnscan.records.record import Record

ALL = KeyReader(kinds(), 1)


def keys_of(text, scheme=""):
    return list(ALL.of_own(Own(text, scheme)))


SAME = {
    ("oclc:12345", "control"): [
        "(OCoLC)12345",
        "(OCoLC)ocm00012345",
        "(ocolc) 0012345",
        "ocm00012345 ",
        "ocn12345",
        "(OCLC)12345",
    ],
    ("oclc:12345", "oclc"): ["12345", "ocm00012345", "OCLC:12345", "https://www.worldcat.org/oclc/12345"],
    ("oclc:12345", ""): ["http://worldcat.org/oclc/12345", "https://www.worldcat.org/title/12345", "(OCoLC)12345"],
    # https://www.loc.gov/marc/lccn-namespace.html
    ("lccn:n78890351", "lccn"): ["n78-890351", "n 78890351 ", "n78890351"],
    ("lccn:85000002", "lccn"): [
        "85-2",
        " 85000002 ",
        "85-2 //r75",
        "info:lccn/85000002",
        "http://lccn.loc.gov/85000002",
    ],
    ("lccn:75425165", "lccn"): ["75-425165//r75"],
    ("lccn:2001000002", "lccn"): ["2001-000002", "2001000002"],
    ("lccn:agr62000298", "lccn"): ["agr 62-298", "agr  62000298"],
    ("nbn-number:04,a37,1022", "national-bibliography"): ["(dnb)04,A37,1022", "(DNB) 04,A37,1022", "04,A37,1022"],
    ("id:de-599/ZDB842411-1", "control"): ["(DE-599)ZDB842411-1", "(de-599) ZDB842411-1"],
    ("agency:sirsi/i978", "control"): ["(Sirsi) i978", "(SIRSI)i978"],
    ("pmid:123456", "pmid"): ["123456", "PMID: 123456", "0123456"],
    ("pmid:123456", ""): ["https://pubmed.ncbi.nlm.nih.gov/123456/", "http://www.ncbi.nlm.nih.gov/pubmed/123456"],
    ("pmid:123456", "accession"): [
        "(NLM)123456",
        "PMID:123456",
        "(PubMed)123456",
        "(Ovid MEDLINE(R) <1946 to June 2026>)123456",
    ],
    ("pmcid:pmc1234567", "pmc"): ["PMC1234567", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1234567/"],
    ("accession:wos:000123456700001", "accession"): [
        *("WOS:000123456700001", "ISI:000123456700001", "(WoS)WOS:000123456700001"),
    ],
    ("accession:2-s2.0-85012345678", ""): [
        "https://www.scopus.com/inward/record.uri?eid=2-s2.0-85012345678&doi=10.1%2fa&partnerID=40",
        "2-s2.0-85012345678",
    ],
    ("accession:embase/601234567", "accession"): [
        "(Embase)L601234567",
        "(EMBASE) 601234567",
        "(Embase Classic)601234567",
    ],
    ("accession:psyc/2010-12345-001", "accession"): ["(PsycINFO)2010-12345-001", "(APA PsycInfo) 2010-12345-001"],
    ("accession:cn-01234567", "accession"): ["CN-01234567", "(Cochrane)CN-01234567"],
    ("url:example.org/ink", "note"): [
        r"Available at https://www.example.org/ink, last seen in 2026",
        "https://example.org/ink.",
    ],
    ("arxiv:2312.00752", "note"): ["arXiv:2312.00752 [cs.LG]"],
    ("accession:a9h/12345678", "accession"): ["(a9h)12345678", "(A9H) 12345678"],
    ("arxiv:2312.00752", ""): [
        *("arXiv:2312.00752", "arXiv:2312.00752v2 [cs.LG]", "https://arxiv.org/abs/2312.00752v2"),
        *("http://arxiv.org/pdf/2312.00752v1.pdf", "10.48550/arXiv.2312.00752", "oai:arXiv.org:2312.00752"),
        *("https://doi.org/10.48550/arXiv.2312.00752", "arXiv preprint arXiv:2312.00752"),
    ],
    ("arxiv:2312.00752", "arxiv"): ["2312.00752", "2312.00752v12", "2312.00752 [cs.LG]"],
    ("arxiv:2312.00752", "arxivvolume"): ["abs/2312.00752"],
    ("arxiv:2312.00752", "doi"): ["10.48550/ARXIV.2312.00752"],
    ("arxiv:math/0309136", ""): ["arXiv:math.GT/0309136", "https://arxiv.org/abs/math/0309136v1"],
    ("handle:2027/mdp.39015", ""): [
        "hdl:2027/mdp.39015",
        "https://hdl.handle.net/2027/mdp.39015",
        "HDL:2027/MDP.39015",
    ],
    ("handle:2027/mdp.39015", "hdl"): ["2027/mdp.39015"],
    ("ark:12148/btv1b8449691v", ""): [
        *("ark:/12148/btv1b8449691v", "ark:12148/btv1b-8449691-v", "https://gallica.bnf.fr/ark:/12148/btv1b8449691v/"),
    ],
    ("url:example.org/a/B?id=1", ""): [
        *("http://example.org/a/B?id=1", "HTTPS://www.Example.ORG:443/a/B/?id=1&utm_source=x#top"),
        "https://example.org/a/B?fbclid=z&id=1",
    ],
    ("id:oai:example.org:Ab1", ""): ["oai:example.org:Ab1"],
}


@pytest.mark.parametrize(("key", "scheme", "text"), [(*name, text) for name, texts in SAME.items() for text in texts])
def test_all_spellings_have_one_key(key, scheme, text):
    assert keys_of(text, scheme) == [key]


@pytest.mark.parametrize(
    ("scheme", "text"),
    [
        *(
            ("lccn", text)
            for text in ("9783161484100", "978-3-16-148410-0", "123", "00000000", "2-07-036024-8", "abcd85000002")
        ),
        *(("control", text) for text in ("12345", "(OCoLC)fst01234", "(OCoLC)", "(OCoLC)0", "()12", "")),
        *(("oclc", text) for text in ("", "0", "none", "12a")),
        *(("isbn", text) for text in ("https://example.org/a", "(OCoLC)12345")),
        *(
            ("", text)
            for text in ("https://example.org", "http://example.org/", "https://example.org/#a", "https://[/a")
        ),
        *(("", text) for text in ("hdl:123456789/12", "ark:/99999/abc", "2312.00752", "12345", "10.1000/182")),
        ("nationalbibliography", "012"),
        ("", "https://nbn-resolving.org/Urn:nbn:de:101:1-2"),
        ("", "https://resolver.example/?id=URN%3anbn:de:101:1-2"),
        ("nationalbibliography", "(dnb)10,O12"),
        ("accession", "12345678"),
        ("arxivplace", "Nature"),
        ("local", "x" * 5_000),
    ],
)
def test_what_is_no_identifier_has_no_key(scheme, text):
    """An ISBN in the field of the LCCN, the home page of a site, a handle of a repository without a prefix."""
    assert keys_of(text, scheme) == []


def test_a_list_has_several():
    assert keys_of("123, 456; 0789", "oclc") == ["oclc:123", "oclc:456", "oclc:789"]


class TestOfRecord:
    """A control number belongs to the institution that is named in the record."""

    def keys(self, *own, name="ocm00012345", wanted=("oclc", "id")):
        return read_keys(wanted, Record(0, b" x\n", name, own=own), dump=7)

    def test_its_institution(self):
        own = Own("DE-101", "institution", True), Own("DLC", "firstagency", True)
        assert self.keys(*own, name="014538970") == ["id:de-101/014538970"]
        assert self.keys(Own("OCoLC", "institution", True)) == ["oclc:12345"]

    def test_without_it(self):
        assert self.keys(Own("DLC", "firstagency", True), name="99") == ["agency:dlc/99", "local:7:99"]
        assert self.keys() == ["oclc:12345", "local:7:ocm00012345"]
        assert self.keys(name=None) == []

    def test_an_accession_number_is_the_number_of_its_database(self):
        """RIS has the same AN of two databases in one file."""
        assert self.keys(Own("(a9h)123", "accession", True), name="123") == []
        assert self.keys(Own("123", "accession", True), name="123") == ["local:7:123"]

    def test_bytes(self):
        """White space around a record belongs to the dump."""
        one, other = (read_keys(["octets"], Record(0, content, "a")) for content in (b" x\n", b"x"))
        assert one == other != read_keys(["octets"], Record(0, b"y", "a"))

    @pytest.mark.parametrize("kind", [kind for kind in kinds()[1:] if kind != DESCRIPTION])
    def test_only_kinds_that_are_wanted(self, kind):
        own = [Own(text, scheme) for (_, scheme), texts in SAME.items() for text in texts]
        found = read_keys([kind], Record(0, b"x", "a", own=own))
        assert {keys()[key.partition(":")[0]].kind for key in found} == {kind}


@given(st.text(), st.sampled_from(["", "control", "lccn", "oclc", "arxiv", "ark", "hdl", "accession", "doi", "url"]))
def test_any_text(text, scheme):
    """Nothing raises, and a key is one word: no white space makes two of one."""
    for key in keys_of(text, scheme):
        assert key.partition(":")[0] in keys()
        assert not any(char.isspace() for char in key)


@given(
    st.integers(1, 10**10), st.integers(0, 10), st.sampled_from(["(OCoLC)", "(OCoLC)ocm", "(OCoLC)ocn", "(OCoLC)on"])
)
def test_zeros_before_a_number_of_oclc_mean_nothing(number, zeros, prefix):
    assert keys_of(f"{prefix}{'0' * zeros}{number}", "control") == [f"oclc:{number}"]


@pytest.mark.parametrize(
    "head", ["", "(ocolc)", "(dnb)", "https://a/", "ark:/12148/", "arXiv:", "info:lccn/", "n 78", "hdl:1/"]
)
@pytest.mark.timeout(10)
def test_hostile_texts(head, monkeypatch):
    """Linear in what is read: a pattern that goes back for each of its beginnings would take minutes."""
    monkeypatch.setattr(module, "LONGEST", 1_000_000)
    for unit in ("0", "1", " ", "1 ", "a", "-", "/", "a/", "(", "(x)", "&", "?eid=", "urn", "ark:/", "https://a/"):
        for scheme in ("", "control", "lccn", "oclc", "nationalbibliography", "accession", "arxiv", "hdl", "pmid"):
            keys_of(head + unit * (20_000 // len(unit)) + "!", scheme)


def test_a_field_of_keys_gives_no_urn():
    """The system number of another record may be a URN; only own fields identify."""
    assert as_text(Own("urn:isbn:9783161484100", "control", True)) is None


def test_the_table_is_whole():
    """Every kind that a field names is written in some way, and every key has a kind that can be turned on."""
    data = read_data("keys.toml")
    named = {name for spelling in data["spelling"] for name in spelling["of"].split()} | {"institution", "firstagency"}
    assert {spelling["key"] for spelling in data["spelling"]} | {"local", "octets", "description"} == set(keys())
    for format_ in [*FORMATS, "unimarc", "separated", "triples"]:
        for rows in own_fields(format_, keys=True).values():
            for row in rows:
                if row.is_key:
                    assert {row.scheme, *row.schemes.values()} - {""} <= named
    assert set(KEYS) == set(kinds())
    assert Policy(keys="all").keys == kinds()
    assert Policy(keys=["oclc", "urn"]).keys == ("urn", "oclc")


@given(
    host=st.text("aW.-ö:@", min_size=1, max_size=6).map("http://www.{}".format),
    path=st.text("/aB;=&?#% .ä", max_size=8),
)
def test_an_address_of_host_and_path_alone_has_the_key_that_its_parts_give(host, path):
    """Most addresses are read by a pattern, without the parser of the standard library, and have the same key."""
    address = f"{host}/{path}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PLAIN_ADDRESS", re.compile("(?!)"))
        expected = module.url(address)
    assert module.url(address) == expected
