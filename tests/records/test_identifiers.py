"""Own identifiers as texts that hold their URNs: what catalogues write, and python-stdnum's opinion of it."""

from __future__ import annotations

import itertools
import re
import time
import uuid

import pytest
import stdnum.ean
import stdnum.isbn
import stdnum.issn
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import MANY
from urnscan.dedup.policy import PLACEHOLDERS
from urnscan.records.doi_spellings import plain_doi
from urnscan.records.fields import Own
from urnscan.records.identifiers import (
    _PLAIN_DOI,
    _SHOWS_KIND,
    ADDRESS,
    ADDRESS_WITH_IDENTIFIER,
    _dois,
    as_text,
    wrong_numbers,
)
from urnscan.urn import namespaces


def isbn13(payload):
    return payload + stdnum.ean.calc_check_digit(payload)


def isbn10(payload):
    return payload + "0123456789X"[sum(place * int(digit) for place, digit in enumerate(payload, 1)) % 11]


def issn(payload):
    return payload + stdnum.issn.calc_check_digit(payload)


def urns(text, scheme=""):
    return (as_text(Own(text, scheme)) or "").split("\n")


digits = st.sampled_from("0123456789")
nine, seven = (
    st.text("0123456789", min_size=count, max_size=count).filter(lambda text: len(set(text)) > 1) for count in (9, 7)
)
isbns13 = st.builds(lambda gs1, rest: isbn13(gs1 + rest), st.sampled_from(["978", "979"]), nine)
isbns10 = nine.map(isbn10)
issns = seven.map(issn)
BOOK = "urn:isbn:9783161484100"


@pytest.mark.parametrize(
    "text",
    [
        *["9783161484100", "978-3-16-148410-0", "978 3 16 148410 0", "316148410X", "3-16-148410-x"],
        *["9783161484100 (pbk.) : $12.00", "978-3-16-148410-0 (hardback)", "316148410X kart.", "9783161484100hbk."],
        *["ISBN 3-16-148410-X (geb.)", "ISBN-13: 978-3-16-148410-0", "ISBN-10 3-16-148410-X", "ISBN13 9783161484100"],
        *[
            "e-ISBN: 9783161484100",
            "Print ISBN 978-3-16-148410-0",
            "(pbk.) 9783161484100",
            "ISBN (ebook): 9783161484100",
            "Print: 9783161484100; Online: 9783161484117 (falsch)",
            "pbk. 9783161484100",
        ],
        *[
            "\t9783161484100 ;\n",
            "9783161484100:",
            "9783161484100.",
            "978-3-16-148410-0, EUR 24.80",
            "316148410X 2 Bde",
        ],
        *[
            "978\u20113\u201116\u2011148410\u20110",
            "978\u20133\u201316\u2013148410\u20130",
            "\u200e9783161484100\u202c",
        ],
        *[
            "978\u00a03\u00a016\u00a0148410\u00a00",
            "\uff19\uff17\uff18\uff13\uff11\uff16\uff11\uff14\uff18\uff14\uff11\uff10\uff10",
        ],
        *["9783161484100 (Set: 9783161484117)", "9783161484100 (Band 1, 9783161484117)", "978-3-16- 148410-0"],
        *["[9783161484100]", '["9783161484100"]', "['978-3-16-148410-0']", '="9783161484100"'],
        *["9783161484100, Gesamtwerk 9783161484117", "9783161484101 (falsch); 9783161484100", "9783161484100 = 24 S."],
    ],
)
def test_isbn_of_catalogues(text):
    """The leading ISBN of a field for ISBN, without the label before it and what ISBD puts behind it."""
    assert as_text(Own(text, "isbn")) == BOOK


@pytest.mark.parametrize(
    ("text", "scheme", "expected"),
    [
        ("9783161484100; 9783161484117", "isbn", ["urn:isbn:9783161484100", "urn:isbn:9783161484117"]),
        ("9783161484100 9783161484117", "isbn", ["urn:isbn:9783161484100", "urn:isbn:9783161484117"]),
        ("9783161484100 (pbk.) 9783161484117 (hbk.)", "isbn", ["urn:isbn:9783161484100", "urn:isbn:9783161484117"]),
        ("3-16-148410-X / ISBN 978-3-16-148411-7", "isbn", ["urn:isbn:9783161484100", "urn:isbn:9783161484117"]),
        ("316148410X, 9783161484100", "isbn", ["urn:isbn:9783161484100"]),
        ("1091-6490 (Electronic)\r\n0027-8424 (Linking)", "isbn/issn", ["urn:issn:1091-6490", "urn:issn:0027-8424"]),
        ("ISBN 9783161484100; ISSN 0027-8424", "isbn/issn", ["urn:isbn:9783161484100", "urn:issn:0027-8424"]),
        ("10.1000/182; 10.1000/183", "doi", ["urn:doi:10.1000/182", "urn:doi:10.1000/183"]),
        ("10.1000/182,doi:10.1000/183 [pii]", "doi", ["urn:doi:10.1000/182", "urn:doi:10.1000/183"]),
        ("ISBN 316148410X | 978-3-16-148411-7", "", ["urn:isbn:9783161484100", "urn:isbn:9783161484117"]),
    ],
)
def test_several_in_one_value(text, scheme, expected):
    """All that are listed, each where the scanner finds it: no URN runs into the next."""
    assert urns(text, scheme) == expected
    assert [found.text for found in urnscan.find(as_text(Own(text, scheme)))] == expected


@pytest.mark.parametrize(
    ("text", "scheme", "urn"),
    [
        *[("0027-8424", "issn", "urn:issn:0027-8424"), ("00278424 (print)", "eissn", "urn:issn:0027-8424")],
        *[("ISSN: 1050-124x ;", "issn-l", "urn:issn:1050-124X"), ("0027-8424 = Annals", "issn", "urn:issn:0027-8424")],
        *[("eISSN 1091-6490", "issn", "urn:issn:1091-6490"), ("ISSN (Online) 1091-6490", "", "urn:issn:1091-6490")],
        ("https://portal.issn.org/resource/ISSN/0027-8424", "uri", "urn:issn:0027-8424"),
        *[("9770317847001", "ean", "urn:issn:0317-8471"), ("9783161484100 51295", "gtin13", BOOK)],
        *[("10.1000/182 [doi]", "doi", "urn:doi:10.1000/182"), ("10.1000/182.", "info:doi", "urn:doi:10.1000/182")],
        ("https://dx.doi.org/10.1000/AB", "info:eu-repo/semantics/altIdentifier/doi", "urn:doi:10.1000/ab"),
        ("f81d4fae7dec11d0a76500a0c91e6bf6", "GUID", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        *[("0000 0001 2124 1960", "isni", "urn:isni:0000000121241960"), ("1.3.6.1.", "oid", "urn:oid:1.3.6.1")],
        ("https://isni.org/isni/0000000121241960", "url", "urn:isni:0000000121241960"),
        ("ISAN 0000-0000-D07A-0090-Q", "isan", "urn:isan:0000-0000-D07A-0090-Q"),
        ("7LTWFZYICNSX8D621K86", "lei", "urn:lei:7LTWFZYICNSX8D621K86"),
        ("https://api.gleif.org/api/v1/lei-records/7LTWFZYICNSX8D621K86", "", "urn:lei:7LTWFZYICNSX8D621K86"),
        ("10.5240/7791-8534-2C23-9030-8610-5", "eidr", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5"),
    ],
)
def test_schemes(text, scheme, urn):
    """Each scheme that records name leads to its namespace, however it is capitalised and prefixed."""
    assert as_text(Own(text, scheme)) == urn


@pytest.mark.parametrize(
    "scheme", "isbn ISBN isbn10 isbn-10 isbn-13 isbn_13 isbn13 dcterms:isbn bibo:isbn13 http://schema.org/isbn".split()
)
def test_spellings_of_a_scheme(scheme):
    """Case, punctuation and prefix of what is said do not matter."""
    assert as_text(Own("316148410X", scheme)) == BOOK


@pytest.mark.parametrize(
    ("text", "urn"),
    [
        *[("10.1000/182", "urn:doi:10.1000/182"), ("doi:10.1000/182", "urn:doi:10.1000/182")],
        *[("https://doi.org/10.1000/182", "urn:doi:10.1000/182"), ("info:doi/10.1000/182", "urn:doi:10.1000/182")],
        *[("http://dx.doi.org/10.1000/456%23789", "urn:doi:10.1000/456%23789"), ("DOI 10.1000/1", "urn:doi:10.1000/1")],
        *[("ISBN 3-16-148410-X (geb.)", BOOK), ("isbn:9783161484100", BOOK), ("9783161484100", BOOK)],
        *[("978-3-16-148410-0 (print)", BOOK), ("ISSN 0027-8424", "urn:issn:0027-8424")],
        ("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        ("{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        ("uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        *[("OID 1.3.6.1", "urn:oid:1.3.6.1"), ("oid:1.3.6.1", "urn:oid:1.3.6.1")],
    ],
)
def test_what_tells_by_itself(text, urn):
    """Where no scheme is said, or one that says nothing, some identifiers cannot be mistaken."""
    for scheme in ("", "uri", "url", "purl", "other", "local", "dcterms:identifier", "DC.Identifier"):
        assert as_text(Own(text, scheme)) == urn, scheme


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", "316148410X", "0027-8424", "00278424", "9783161484101", "9790260000438", "979-0-2600-0043-8"],
        *["5901234123457", "f81d4fae7dec11d0a76500a0c91e6bf6", "1.3.6.1", "0000000121241960", "7LTWFZYICNSX8D621K86"],
        *["f81d4fae-7dec-11d0-a765-00a0c91e6bf6.pdf", "9783161484100.jpg", "19783161484100", "97831614841009"],
        *[
            "10.50",
            "10.12/8",
            "https://doi.org/abcd",
            "https://host.example/10.1000/182",
            "Review of ISBN 9783161484100",
        ],
        *[
            "ISBN",
            "ISSN 0027-8425",
            "doi:",
            "10.1000/",
            "Saturn: 12",
            "hdl:10.1000/182",
            "oai:host.example:10.1000/182",
        ],
        *["https://doi.org/10.1000/182?mail", "https://orcid.org/0000-0001-2150-090X", "QA 76.9 .D3", "$12.00"],
    ],
)
def test_what_does_not_tell_by_itself(text):
    """Digits may be anything: a shelf mark, a price, a number of the house."""
    assert as_text(Own(text)) is None


@pytest.mark.parametrize("text", ["9783161484100", "10.1000/182", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "0027-8424"])
def test_what_is_known_to_be_something_else(text):
    """What a record says that it is counts for more than what it looks like."""
    for scheme in "hdl OCLC lccn ismn isrc upc sici arXiv PMID orcid invalid-isbn".split():
        assert as_text(Own(text, scheme)) is None, scheme


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        *[("9783161484101", "isbn"), ("3161484100", "isbn"), ("978316148410X", "isbn"), ("316148410", "isbn")],
        *[("316148410XX", "isbn"), ("97831614841001", "isbn"), ("0027-8424", "isbn"), ("10.1000/182", "isbn")],
        *[("keine", "isbn"), ("set ISBN 9783161484100", "isbn"), ("0027-8425", "issn"), ("9783161484100", "issn")],
        *[("9770317847002", "ean"), ("5901234123457", "ean"), ("9790260000438", "ean"), ("9783161484100", "doi")],
        *[("0000 0001 2124 1961", "isni"), ("urn", "urn"), ("7LTWFZYICNSX8D621K87", "lei"), ("abc", "uuid")],
        *[("sine nomine (0000 0001 2124 1960)", "isni"), ("9783161484101 (9783161484100)", "isbn")],
    ],
)
def test_malformed_ones(text, scheme):
    """What is cut off, too long, of another scheme or has a wrong check digit names nothing that could be known."""
    assert as_text(Own(text, scheme)) is None


@pytest.mark.parametrize(
    "text",
    [
        *["9783161484100 (set)", "978-3-16-148410-0 (Gesamtwerk)", "316148410X (Gesamtausg.)", "9783161484100 [ges.]"],
        *[
            "9783161484100 (set : pbk.)",
            "9783161484100 (pbk. : set)",
            "9783161484100 (boxed set)",
            "(set) 9783161484100",
        ],
        *["9783161484100 (complete)", "9783161484100 (complete edition hardback)", "9783161484100 (compl.)"],
        *["9783161484100 (obra completa)", "9783161484100 (opera completa)", "9783161484100 (édition complète)"],
        *["9783161484100 (l'ensemble)", "9783161484100 (intégrale)", "9783161484100 (Inte\u0301grale)"],
        *["9783161484100 (koko teos)", "9783161484100 (nid. ; koko teos)", "9783161484100 (compleet)"],
        *["9783161484100 (kompl.)", "9783161484100 (mehrbändiges Werk)", "9783161484100 (vollst. Ausg.)"],
        *[
            "9783161484100 (3 Bände)",
            "9783161484100 (2 vols.)",
            "9783161484100 (geb. ; 12 Bde.)",
            "9783161484100 (2 v.)",
        ],
        *["ISBN (Set): 9783161484100", "9783161484100 (pbk.) (set)", "9783161484100 (set (pbk.))", "9783161484100 Set"],
        *["9783161484100 Gesamtwerk : EUR 98.00", "9783161484100 (all volumes)", "9783161484100 (Gesamtwerk) : EUR 9"],
    ],
)
def test_isbn_of_a_set(text):
    """It stands in the records of all the volumes, beside their own; counted, it would make one record of them."""
    for scheme in ("isbn", "", "ean") if text.startswith("978") else ("isbn",):
        assert as_text(Own(text, scheme)) is None, scheme
    beside = as_text(Own(f"9783161484117 (Bd. 1) ; {text}", "isbn"))
    assert beside == "urn:isbn:9783161484117"


@pytest.mark.parametrize(
    "text",
    [
        *["9783161484100 (v. 2)", "9783161484100 (Band 3)", "9783161484100 (3. Band)", "9783161484100 (vol. 2)"],
        *["9783161484100 (Setzkasten)", "9783161484100 (Ensemblestück)", "9783161484100 (complément)"],
        *[
            "9783161484100 (geschenkt)",
            "9783161484100 (offset)",
            "9783161484100 (Gesamtschule)",
            "9783161484100 (1 v.)",
        ],
        *["9783161484100 (Set: 9783161484117)", "9783161484100 (Gesamtwerk ISBN 978-3-16-148411-7)"],
        *["9783161484100 (pbk.); 9783161484117 (set)", "9783161484117 (set) 9783161484100 (pbk.)"],
        *["9783161484117 (Set), 9783161484100", "9783161484100 (hbk. : v. 2)"],
    ],
)
def test_isbn_of_a_volume(text):
    """Words that only begin or end as one for a set does; the set's in the same value."""
    assert as_text(Own(text, "isbn")) == BOOK


@pytest.mark.parametrize(
    "word",
    [
        *[
            "falsch",
            "Falsche ISBN",
            "fälschlich",
            "ungültig",
            "ungu\u0308ltig",
            "wrong",
            "invalid",
            "error",
            "erroneous",
            "err.",
        ],
        *[
            "cancelled",
            "canceled",
            "incorrect",
            "erroné",
            "errónea",
            "inválido",
            "fausse",
            "pbk. ; wrong",
            "ISBN invalid",
        ],
    ],
)
@pytest.mark.parametrize("brackets", ["()", "[]"])
def test_a_number_that_is_said_to_be_wrong(word, brackets):
    """It is printed in the book, and names another or none; the right one may stand beside it."""
    wrong = f"9783161484100 {brackets[0]}{word}{brackets[1]}"
    assert as_text(Own(wrong, "isbn")) is None
    assert as_text(Own(wrong)) is None
    assert as_text(Own(f"{wrong} ; 9783161484117 (korr.)", "isbn")) == "urn:isbn:9783161484117"
    assert as_text(Own(f"9783161484117 (falsch: 9783161484100) ; {wrong}", "isbn")) == "urn:isbn:9783161484117"
    assert as_text(Own(f"0027-8424 ({word})", "issn")) is None
    assert as_text(Own("9783161484100", f"isbn ({word})")) is None


@pytest.mark.parametrize("word", ["korr.", "corrected", "korrigierte ISBN", "errors corrected", "Ferror", "Interror"])
def test_a_number_that_is_said_to_be_right(word):
    assert as_text(Own(f"9783161484100 ({word})", "isbn")) == BOOK


@pytest.mark.parametrize("space", [" ", "\n ", "\r\n      ", "\u00a0", "\t", "\u2009"])
@pytest.mark.parametrize(
    ("front", "rest"),
    [
        *[("10.1007/978-3-540-", "74839-7_1"), ("10.1007/978-3-540-", "74839-7_2"), ("10.1016/j.cell", "2001.01")],
        *[
            ("10.1016/j.", "cell.2001.01 [doi]"),
            ("10.1016/S0140-6736", "(05)67890-1"),
            ("10.1016/S0140-6736", "(05) 67890-1"),
        ],
        *[
            ("https://doi.org/10.1007/978-3-540-", "74839-7_1; 10.1000/182"),
            ("10.1000/1,10.1000/2-", "3"),
            ("10.1000/a", "b:c"),
        ],
        ("10.1000/a", "/b"),
    ],
)
def test_a_doi_that_white_space_cuts_is_none(front, rest, space):
    """Those of all chapters of a book have its beginning in common, where lines are broken."""
    for scheme in ("doi", ""):
        assert as_text(Own(front + space + rest, scheme)) is None, scheme


@pytest.mark.parametrize(
    "rest",
    [
        *[
            "[doi]",
            "(print)",
            "(Version 2) x",
            "[doi] S0140-6736(05)1 [pii]",
            "https://host.example/1",
            "PMID: 123",
            "pmid 1",
        ],
        *["; abc", ", abc", "| x", ": EUR 9", "= x", "/ x", "ISBN 9783161484100", "Zbl: 1", "", ".", "Epub 2005 Jan 3"],
    ],
)
def test_a_doi_before_something_else(rest):
    for joint in (" ", "\n", "\u00a0", ", ", "; "):
        assert as_text(Own("10.1000/182" + joint + rest, "doi")) == "urn:doi:10.1000/182", joint


SICI = "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O"


@pytest.mark.parametrize(
    ("less", "greater"),
    [
        ("<", ">"),
        ("&lt;", "&gt;"),
        ("&amp;lt;", "&amp;gt;"),
        ("&#60;", "&#x3e;"),
        ("%3C", "%3e"),
        ("$<$", "$>$"),
        (r"$\less$", r"$\greater$"),
        (r"\textless{}", r"\textgreater{}"),
        (r"{\textless}", r"{\textgreater}"),
        (r"$\langle$", r"$\rangle$"),
        (r"\<", r"\>"),
    ],
)
@pytest.mark.parametrize("scheme", ["doi", ""])
def test_a_doi_as_html_and_tex_have_it(less, greater, scheme):
    """Exports escape the signs of a SICI, once or twice, and do not undo it."""
    text = SICI.replace("<", less).replace(">", greater)
    assert urns(text, scheme) == urns(f"https://doi.org/{text}", scheme) == urns(SICI, scheme)
    assert urns(SICI, scheme) == ["urn:doi:" + SICI.lower().replace("<", "%3C").replace(">", "%3E")]


@pytest.mark.parametrize(
    "text",
    [
        "10.5555//a.1",
        "10.5555/a.1/",
        "<https://doi.org/10.5555/a.1>",
        "[10.5555/a.1]",
        "{10.5555/a.1}",
        '"10.5555/a.1"',
        "https://doi.org/10.5555//a.1",
        "https://doi.org/10.5555/a.1?nosfx=y",
        "https://doi.org/10.5555/a.1?utm_source=x&utm_medium=y",
        "https://doi-org.proxy.example/10.5555/a.1",
        "https://dx-doi-org.proxy.example:2048/10.5555/a.1",
        "http://dx.doi.org.proxy.example/10.5555/a.1",
        "https://login.proxy.example/login?url=https://doi.org/10.5555/a.1",
        "https://proxy.example/login?auth=x&qurl=https%3A%2F%2Fdx.doi.org%2F10.5555%2Fa.1",
    ],
)
@pytest.mark.parametrize("scheme", ["doi", ""])
def test_a_doi_behind_a_proxy_or_before_a_query(text, scheme):
    """Libraries copy the addresses that their proxies make, in any field of addresses."""
    assert urns(text, scheme) == ["urn:doi:10.5555/a.1"]


@pytest.mark.parametrize(
    "text", ["https://doi.org/10.5555/a?b", "https://doi.org/10.5555/a#part", "https://doi.organic.example/10.5555/a"]
)
def test_what_may_belong_to_a_doi_is_not_cut(text):
    """A sign that is not encoded may be the DOI's own; another host is none of DOI."""
    assert as_text(Own(text, "doi")) is as_text(Own(text)) is None


@given(st.from_regex(_PLAIN_DOI, fullmatch=True))
def test_a_plain_doi_stays_as_it_is(text):
    """Nothing is undone in a DOI without marks of a program."""
    assert plain_doi(text) == text


@pytest.mark.parametrize("joint", [" ", "\n", " doi: ", " (print) ", ", ", " ; https://doi.org/", "\u00a0DOI "])
def test_a_doi_before_another(joint):
    assert urns(f"10.1000/182{joint}10.1000/183", "doi") == ["urn:doi:10.1000/182", "urn:doi:10.1000/183"]


@pytest.mark.parametrize("scheme", ["ISBN (set)", "isbn-set", "isbn_set", "ISBN Gesamtwerk", "ISBN (complete work)"])
def test_what_is_said_to_be_the_isbn_of_a_set(scheme):
    """In the type of an identifier, as in that of MODS."""
    assert as_text(Own("9783161484100", scheme)) is None


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        *[(digit * 10, "isbn") for digit in "0123456789"],
        *[(isbn13("978" + digit * 9), scheme) for digit in "0123456789" for scheme in ("isbn", "ean", "")],
        *[("0-00-000000-0", "isbn"), ("978-0-00-000000-2 (pbk.)", "isbn"), ("0000-0000", "issn"), ("00000000", "sn")],
        *[(f"{digit * 8}-{digit * 4}-{digit * 4}-{digit * 4}-{digit * 12}", "uuid") for digit in "0fF"],
        *[("{00000000-0000-0000-0000-000000000000}", ""), ("0" * 32, "uuid"), ("f" * 32, "guid")],
    ],
)
def test_placeholders(text, scheme):
    """One digit over and over fills a field where nobody knew better; its check digit is right all the same."""
    assert as_text(Own(text, scheme)) is None


def test_placeholders_are_those_that_join_nothing():
    """With and without the fields of records."""
    native = {isbn13(gs1 + digit * 9): "isbn" for gs1 in ("978", "979") for digit in "0123456789"}
    native |= {str(uuid.UUID(digit * 32)): "uuid" for digit in "0123456789abcdef"}
    for text, scheme in native.items():
        assert (as_text(Own(text, scheme)) is None) is (f"{scheme}:{text}" in PLACEHOLDERS), text


@pytest.mark.parametrize("scheme", ["", "urn", "isbn", "hdl", "local"])
@pytest.mark.parametrize(
    "text",
    [
        *["urn:nbn:de:101:1-2016", " URN:ISBN:3-16-148410-X (geb.)", "https://nbn-resolving.org/urn:nbn:de:101:1-2016"],
        *["https://r.example/?u=urn%3Anbn%3Ade", "http%3A%2F%2Fr.example%2Furn%3anbn%3afi", "Urn%253Anbn:de"],
    ],
)
def test_urns_stay_as_they_are(text, scheme):
    """Where a URN stands already, whatever the scheme, the text is the scanner's."""
    assert as_text(Own(text, scheme)) == text


def test_urn_as_the_end_of_a_word():
    """`return:` begins no URN, for the scanner neither; so an ISBN behind it would be lost."""
    assert as_text(Own("9783161484100 (Saturn: 12)", "isbn")) == BOOK


@given(nine, st.data())
def test_isbn_agree(payload, data):
    """Both forms of any ISBN, with hyphens where stdnum puts them or anywhere, give the URN that the namespace gives."""
    ten, thirteen = isbn10(payload), isbn13("978" + payload)
    assert stdnum.isbn.is_valid(ten)
    assert stdnum.isbn.is_valid(thirteen)
    at = data.draw(st.integers(1, 9))
    for form in (ten, thirteen, stdnum.isbn.format(ten), stdnum.isbn.format(thirteen), f"{ten[:at]}-{ten[at:]}"):
        assert as_text(Own(form, "isbn")) == namespaces.isbn.to_urn(form) == f"urn:isbn:{thirteen}"
    assert urns(thirteen) == urns(thirteen, "ean") == urns(f"ISBN {ten}") == [f"urn:isbn:{thirteen}"]


@given(st.one_of(st.tuples(st.just("isbn"), isbns10 | isbns13), st.tuples(st.just("issn"), issns)), st.data())
def test_wrong_digits(identifier, data):
    """One digit changed, two neighbours changed over: exactly what stdnum calls valid comes out."""
    scheme, right = identifier
    at = data.draw(st.integers(0, len(right) - 1))
    one = right[:at] + data.draw(digits) + right[at + 1 :]
    for text in (right, one, right[:at] + right[at : at + 2][::-1] + right[at + 2 :], right[:at] + right[at + 1 :]):
        valid = getattr(stdnum, scheme).is_valid(text) and len(text) != 9  # to stdnum an SBN is an ISBN
        valid &= len(set(text[-10:-1])) > 1 or text.startswith("979")  # nor is one digit over and over
        assert as_text(Own(text, scheme)) == (getattr(namespaces, scheme).to_urn(text) if valid else None)


@given(st.one_of(st.tuples(st.just("isbn"), isbns10 | isbns13), st.tuples(st.just("issn"), issns)), st.data())
def test_the_number_whose_digit_is_wrong(identifier, data):
    """It is named, so that a librarian knows what to correct: not one that is right, that only fills the field, or that
    the record itself calls wrong.
    """
    scheme, right = identifier
    at = data.draw(st.integers(3 if len(right) == 13 else 0, len(right) - 1))
    wrong = right[:at] + data.draw(digits.filter(lambda digit: digit != right[at])) + right[at + 1 :]
    is_filler = len(set(wrong.removeprefix("978")[:-1])) == 1
    for text in (wrong, f"{wrong} (pbk.)", f" {wrong} ; {wrong}"):
        assert as_text(Own(text, scheme)) is None
        assert [*wrong_numbers(Own(text, scheme))] == ([] if is_filler else [wrong] * text.count(wrong))
    for text in (f"{wrong} (falsch)", "nothing", ""):
        assert as_text(Own(text, scheme)) is None
        assert [*wrong_numbers(Own(text, scheme))] == []
    assert [*wrong_numbers(Own(wrong, "oclc"))] == []


@given(seven, st.text("0123456789", min_size=2, max_size=2))
def test_issn_in_a_bar_code(payload, variant):
    """ISO 3297: 977, the ISSN without its check digit, two digits, and the check digit of the bar code."""
    code = isbn13("977" + payload + variant)
    assert as_text(Own(code, "ean")) == namespaces.issn.to_urn(issn(payload))
    if variant == "00":
        assert stdnum.issn.to_ean(issn(payload)) == code
    assert as_text(Own(code)) is None


@given(
    st.text(
        st.characters(exclude_categories=("C", "Z"), exclude_characters=";,|.:$\\{%"), min_size=1, max_size=20
    ).filter(lambda suffix: suffix[0] != "/")
)
def test_doi_keeps_what_it_says(suffix):
    """A DOI comes back from its URN, whatever it holds but for what programs write in it: TeX,
    encoded signs, two slashes. Only ASCII letters are equal in any case (ISO 26324).
    """
    text = as_text(Own(f" 10.1000/{suffix}. ", "doi"))
    assert text == namespaces.doi.to_urn(f"10.1000/{suffix}")
    assert [found.text for found in urnscan.find(text)] == [text]


@given(st.from_regex(_PLAIN_DOI, fullmatch=True))
def test_a_plain_doi_is_read_as_any_other(text):
    """The pattern for plain DOI, which is faster, gives what the namespace's own rules give."""
    assert as_text(Own(text, "doi")) == "\n".join(_dois(text))


@given(
    st.sampled_from(["http", "HTTPS"]),
    st.sampled_from(["", "www.", "dx.", "api.", "portal.", "x."]),
    st.sampled_from("doi.org issn.org isni.org gleif.org isbn.org doi.de example.org".split()),
    st.sampled_from(["/10.1000/182", "/resource/issn/0027-8424", "/api/v1/lei-records/", "/#/record/", "/", ""]),
)
def test_an_address_that_is_passed_over_tells_nothing(scheme, front, host, path):
    """Addresses at other hosts are not searched for identifiers: no pattern of identifiers that tell fits them."""
    address = f"{scheme}://{front}{host}{path}"
    assert re.match(ADDRESS, address)
    assert re.match(ADDRESS_WITH_IDENTIFIER, address) or not _SHOWS_KIND.match(address)
    assert not re.match(ADDRESS_WITH_IDENTIFIER, "http://example.org/")


@given(st.uuids())
def test_uuids(value: uuid.UUID):
    """RFC 9562 §4: the URN is Python's."""
    for form in (str(value), str(value).upper(), f"{{{value}}}", f"uuid:{value}"):
        assert as_text(Own(form)) == value.urn
    assert as_text(Own(value.hex, "uuid")) == value.urn


SCHEMES = st.sampled_from(
    ["", "isbn", "issn", "isbn/issn", "ean", "doi", "uuid", "isni", "isan", "lei", "oid", "eidr", "urn", "uri", "hdl"]
)
PIECES = st.sampled_from(
    [
        *[
            "9783161484100",
            "978-3-16-148410-0",
            "316148410X",
            "0027-8424",
            "9770317847001",
            "10.1000/182",
            "10.1/a(b",
            "978",
        ],
        *[
            "ISBN",
            "ISSN ",
            "doi:",
            "https://doi.org/",
            "https://isni.org/isni/",
            "oid:",
            "uuid:",
            "EAN ",
            "print ",
            "-13",
        ],
        *[
            "(pbk.)",
            "[doi]",
            "(",
            ")",
            "[",
            "{",
            "}",
            ";",
            ", ",
            " / ",
            "|",
            "\n",
            "\r\n",
            " : $12.00",
            "=",
            ".",
            " ",
            "-",
        ],
        *["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "0000000121241960", "7LTWFZYICNSX8D621K86", "0000-0000-D07A-0090-Q"],
        *[
            "10.5240/7791-8534-2C23-9030-8610-5",
            "1.3.6.1",
            "%2f",
            "%",
            "\0",
            "\ud800",
            "\u2011",
            "\u00df",
            "\u0660",
            "1" * 30,
        ],
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join) | st.text(), SCHEMES | st.text())
@MANY
def test_any_text(text, scheme):
    """Nothing raises, and all that comes out of native identifiers is canonical in its namespace, as the scanner finds it."""
    result = as_text(Own(text, scheme))
    if result is None or result == text:
        assert result is None or "urn" in text.lower()
        return
    found = urnscan.find(result)
    assert [occurrence.text for occurrence in found] == result.split("\n")
    assert len(set(result.split("\n"))) == len(found) > 0
    for occurrence in found:
        assert occurrence.text == urnscan.canonical(occurrence.text, equivalence="namespace")
        assert namespaces.judge(occurrence.text).valid


@given(
    st.lists(
        st.tuples(isbns10 | isbns13, st.sampled_from(["", " (pbk.)", " (geb., EUR 9.80)"])), min_size=1, max_size=4
    )
)
def test_lists_of_any_isbn(parts):
    """A list holds each of its members once, in their order."""
    expected = list(dict.fromkeys(namespaces.isbn.to_urn(isbn) for isbn, _ in parts))
    for separator in ("; ", ";", ", ", "\n", " / ", " | "):
        assert urns(separator.join(map("".join, parts)), "isbn") == expected


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["", "isbn", "isbn/issn", "doi", "uuid"])
@pytest.mark.timeout(60)
def test_hostile_texts(scheme):
    """Linear in what is read: a pattern that goes back for each of its beginnings would take minutes."""
    units = ["(", "((;", "[;(", "(a;b", "10.1000/;", "10.1000/1 ", "ISBN ", "isbn(", ";", "doi:", "978-", "\n", " \n"]
    units += ["\n\t[", "10.1000/1 (a", "10.1000/1 a", "[a", ";[a;", "\n("]
    for head, unit in itertools.product(["", "x"], units):
        began = time.process_time()
        as_text(Own(head + unit * (20_000 // len(unit)) + "x", scheme))
        assert time.process_time() - began < 1.6, (head, unit)


@MANY
@given(
    st.one_of(nine.map(isbn10), nine.map(lambda payload: isbn13("978" + payload)), st.text("0123456789", min_size=13)),
    st.lists(st.integers(1, 12), max_size=4),
    st.sampled_from(["", " (geb.)", " (set)", " (2 Bde.)", " (falsch)", " (ISBN 3-16-148410-X)", " ()", " (a) (b)"]),
)
def test_an_isbn_alone_is_read_as_one_in_a_list(isbn, hyphens, qualifier):
    """An ISBN with nothing but a qualifier is read by a faster pattern: it gives what the one for lists gives."""
    for place in hyphens:
        isbn = f"{isbn[:place]}-{isbn[place:]}"
    text = isbn + qualifier
    assert as_text(Own(text, "isbn")) == as_text(Own(f"{text};", "isbn"))


@pytest.mark.parametrize("text", ["[10.5555/a]", "(https://doi.org/10.5555/a)", "'10.5555/a'", " <10.5555/a> "])
def test_a_doi_in_brackets(text):
    """Brackets and quotation marks around a DOI are not of it, if both are there."""
    assert plain_doi(text).removeprefix("https://doi.org/") == "10.5555/a"
    assert plain_doi(text.strip()[:-1]) == text.strip()[:-1]
