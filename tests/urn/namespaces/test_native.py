"""From native identifiers to URNs and back, for the namespaces whose registration defines it."""

from __future__ import annotations

import string
import subprocess
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stdnum import isan, isbn, issn
from stdnum.iso7064 import mod_11_2, mod_37_36, mod_97_10

import urnscan.urn.namespaces
from tests.support.examples import FEW
from tests.support.registrations import EXAMPLES, names
from urnscan.errors import InvalidURN
from urnscan.urn.namespaces import namespace_form
from urnscan.urn.parser import parse

NIDS = "doi eidr ietf isan isbn isni issn lei oid publicid uuid".split()
every_nid = pytest.mark.parametrize("nid", NIDS)


def native(nid):
    return getattr(urnscan.urn.namespaces, nid)


# The identifier as its standard displays it, its URN, and where both are from.
PAIRS = [
    ("isbn", "978-951-0-18435-6", "urn:isbn:9789510184356", 'IANA template, "Syntax", example 2'),
    ("isbn", "978-952-10-3937-9", "urn:isbn:9789521039379", 'IANA template, "Resolution"'),
    ("isbn", "978-0-395-36341-6", "urn:isbn:9780395363416", "the book of RFC 3187's time, as ISBN-13"),
    ("isbn", "979-10-90636-07-1", "urn:isbn:9791090636071", "a French book with the prefix 979, which has no ISBN-10"),
    ("isbn", "979-999999999-0", "urn:isbn:9799999999990", "no group has this range yet: fewer hyphens"),
    ("issn", "0317-8471", "urn:issn:0317-8471", 'IANA template, "Syntax", example 1'),
    ("issn", "1050-124X", "urn:issn:1050-124X", 'IANA template, "Syntax", example 2'),
    ("isni", "0000 0001 2124 1960", "urn:isni:0000000121241960", 'IANA template, "Syntax" (Elvis Presley)'),
    ("isni", "0000 0001 2150 090X", "urn:isni:000000012150090X", "an ISNI whose check digit is X"),
    ("isan", "0000-0000-D07A-0090-Q-0000-0000-X", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "python-stdnum"),
    (
        "isan",
        "0000-0000-9E59-0000-O",
        "urn:isan:0000-0000-9E59-0000-O",
        "without a version; from tests of URN libraries",
    ),
    ("doi", "10.1000/182", "urn:doi:10.1000/182", 'IANA template, "Syntax", example 3: the DOI Handbook'),
    ("doi", "10.1000/456#789", "urn:doi:10.1000/456%23789", 'IANA template, "Character set"'),
    ("doi", "15434/abc", "urn:doi:15434/abc", 'the prefix is of the IANA template, "Syntax", example 2'),
    ("doi", "10.17487/rfc8141", "urn:doi:10.17487/rfc8141", "RFC 8141"),
    (
        *("doi", "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2"),
        "urn:doi:10.1002/(sici)1097-0258(19980815/30)17:15/16%3C1661::aid-sim968%3E3.0.co;2-2",
        "Statistics in Medicine 17: everything that a SICI holds, and slashes that stay",
    ),
    ("doi", "10.1000/grüße, 100% & ~", "urn:doi:10.1000/gr%C3%BC%C3%9Fe,%20100%25%20%26%20%7E", "made up: UTF-8"),
    ("eidr", "10.5240/7791-8534-2C23-9030-8610-5", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5", "RFC 7972 §1"),
    ("lei", "7LTWFZYICNSX8D621K86", "urn:lei:7LTWFZYICNSX8D621K86", 'IANA template, "Syntax" 1'),
    ("oid", "1.3.6.1.4.1", "urn:oid:1.3.6.1.4.1", "RFC 3061 §3"),
    ("oid", "0.9.2342.19200300.100.4", "urn:oid:0.9.2342.19200300.100.4", "RFC 3061 §3"),
    ("oid", "2", "urn:oid:2", "one arc is enough for the ABNF of RFC 3061 §2"),
    (
        *("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        "RFC 4122 §3",
    ),
    ("ietf", "RFC 2648", "urn:ietf:rfc:2648", "RFC 2648"),
    ("ietf", "STD 50", "urn:ietf:std:50", "RFC 2648 §3"),
    ("ietf", "BCP 14", "urn:ietf:bcp:14", "RFC 2119"),
    ("ietf", "FYI 4", "urn:ietf:fyi:4", "RFC 2664"),
    # RFC 3151 §3, all eight.
    *(
        ("publicid", identifier, urn, "RFC 3151 §3")
        for identifier, urn in (
            (
                "ISO/IEC 10179:1996//DTD DSSSL Architecture//EN",
                "urn:publicid:ISO%2FIEC+10179%3A1996:DTD+DSSSL+Architecture:EN",
            ),
            (
                "ISO 8879:1986//ENTITIES Added Latin 1//EN",
                "urn:publicid:ISO+8879%3A1986:ENTITIES+Added+Latin+1:EN",
            ),
            (
                "-//OASIS//DTD DocBook XML V4.1.2//EN",
                "urn:publicid:-:OASIS:DTD+DocBook+XML+V4.1.2:EN",
            ),
            (
                "+//IDN example.org//DTD XML Bookmarks 1.0//EN//XML",
                "urn:publicid:%2B:IDN+example.org:DTD+XML+Bookmarks+1.0:EN:XML",
            ),
            (
                "-//ArborText::prod//DTD Help Document::19970708//EN",
                "urn:publicid:-:ArborText;prod:DTD+Help+Document;19970708:EN",
            ),
            ("foo", "urn:publicid:foo"),
            ("3+3=6", "urn:publicid:3%2B3=6"),
            (
                "-//Acme, Inc.//DTD Book Version 1.0",
                "urn:publicid:-:Acme,+Inc.:DTD+Book+Version+1.0",
            ),
        )
    ),
    ("publicid", "it's; #1? 100%", "urn:publicid:it%27s%3B+%231%3F+100%25", "the rest of the rules of RFC 3151 §2"),
    ("publicid", "a///b:::c", "urn:publicid:a:%2Fb;%3Ac", "from left to right, where // and / or :: and : meet"),
]


@pytest.mark.parametrize(("nid", "identifier", "urn", "source"), PAIRS)
def test_there_and_back(nid, identifier, urn, source):
    """Contract: each way gives what the registration shows; the URN is in the canonical form of its namespace."""
    assert native(nid).to_urn(identifier) == urn == namespace_form(urn), source
    assert native(nid).from_urn(urn) == identifier, source


@pytest.mark.full
@pytest.mark.parametrize(
    ("nid", "urn", "pasted"),
    [
        ("isbn", "urn:isbn:9780395363416", "ISBN 0-395-36341-1"),
        ("isbn", "urn:isbn:9780395363416", "isbn:0395363411"),
        ("isbn", "urn:isbn:9780395363416", "ISBN-10: 0 395 36341 1"),
        ("isbn", "urn:isbn:9780395363416", "ISBN10 0395363411"),
        ("isbn", "urn:isbn:9780395363416", "ISBN 10: 0395363411"),
        ("isbn", "urn:isbn:9780395363416", "ISBN0395363411"),
        ("isbn", "urn:isbn:9780395363416", "ISBN-13: 978-0-395-36341-6"),
        ("isbn", "urn:isbn:9780395363416", "ISBN13 9780395363416"),
        ("isbn", "urn:isbn:9780395363416", "Isbn 13 : 9780395363416"),
        ("isbn", "urn:isbn:9780395363416", "e-ISBN 978-0-395-36341-6"),
        ("isbn", "urn:isbn:9780395363416", "\t 978-0395363416\r\n"),
        ("isbn", "urn:isbn:9780395363416", "978\u20130\u2013395\u201336341\u20136"),
        ("isbn", "urn:isbn:9780395363416", "978\u20110\u2011395\u201136341\u20116"),
        ("isbn", "urn:isbn:9780395363416", "978\u00a00\u00a0395363416"),
        ("isbn", "urn:isbn:9780804429573", "0-8044-2957-X"),
        ("isbn", "urn:isbn:9780804429573", "080442957x"),
        ("isbn", "urn:isbn:9780804429573", "ISBN 0 8044 2957 X"),
        ("issn", "urn:issn:1050-124X", "ISSN 1050-124X"),
        ("issn", "urn:issn:1050-124X", "issn:1050124x"),
        ("issn", "urn:issn:1050-124X", "1050 124X"),
        ("issn", "urn:issn:1050-124X", "eISSN: 1050-124x"),
        ("issn", "urn:issn:1050-124X", "p-ISSN 1050-124X"),
        ("issn", "urn:issn:1050-124X", "ISSN-L 1050-124X"),
        ("isni", "urn:isni:000000012150090X", "ISNI 0000 0001 2150 090X"),
        ("isni", "urn:isni:000000012150090X", "isni:000000012150090x"),
        ("isni", "urn:isni:000000012150090X", "0000-0001-2150-090X"),
        ("isni", "urn:isni:000000012150090X", "0000\u00a00001\u00a02150\u00a0090X"),
        ("isni", "urn:isni:000000012150090X", "https://isni.org/isni/000000012150090X"),
        ("isni", "urn:isni:000000012150090X", "http://www.isni.org/000000012150090X"),
        ("isni", "urn:isni:000000012150090X", "ISNI000000012150090X"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "ISAN 0000-0000-D07A-0090-Q-0000-0000-X"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "isan:0000-0000-d07a-0090-q-0000-0000-x"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "0000 0000 D07A 0090 Q 0000 0000 X"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "00000000D07A009000000000"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "00000000D07A0090Q00000000X"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "ISAN 0000-0000-D07A-0090-0000-0000"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000-X", "V-ISAN 00000000D07A009000000000"),
        ("doi", "urn:doi:10.1000/456%23789", "doi:10.1000/456#789"),
        ("doi", "urn:doi:10.1000/456%23789", "DOI 10.1000/456#789"),
        ("doi", "urn:doi:10.1000/456%23789", "DOI: 10.1000/456#789"),
        ("doi", "urn:doi:10.1000/456%23789", "info:doi/10.1000/456#789"),
        ("doi", "urn:doi:10.1000/456%23789", "https://doi.org/10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%23789", "http://dx.doi.org/10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%23789", "https://www.doi.org/10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%23789", "doi.org/10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%23789", "DOI: https://doi.org/10.1000/456%23789"),
        ("isni", "urn:isni:000000012150090X", "ISNI: https://isni.org/isni/000000012150090X"),
        ("isni", "urn:isni:000000012150090X", "isni.org/isni/000000012150090X"),
        (
            "eidr",
            "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5",
            "EIDR: https://doi.org/10.5240/7791-8534-2C23-9030-8610-5",
        ),
        ("doi", "urn:doi:10.1000/456%23789", "https://doi.org/doi:10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%23789", "https://doi.org/urn:doi:10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%2523789", "10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%2523789", "doi:10.1000/456%23789"),
        ("doi", "urn:doi:10.1000/456%2523789", "https://doi.org/10.1000/456%2523789"),
        ("eidr", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5", "EIDR 10.5240/7791-8534-2C23-9030-8610-5"),
        ("eidr", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5", "eidr:10.5240/7791-8534-2c23-9030-8610-5"),
        ("eidr", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5", "doi:10.5240/7791-8534-2C23-9030-8610-5"),
        ("eidr", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5", "https://doi.org/10.5240/7791-8534-2C23-9030-8610-5"),
        ("lei", "urn:lei:7LTWFZYICNSX8D621K86", "LEI 7LTWFZYICNSX8D621K86"),
        ("lei", "urn:lei:7LTWFZYICNSX8D621K86", "lei:7ltwfzyicnsx8d621k86"),
        ("lei", "urn:lei:7LTWFZYICNSX8D621K86", "LEI : 7LTWFZYICNSX8D621K86"),
        ("oid", "urn:oid:1.3.6.1", "oid:1.3.6.1"),
        ("oid", "urn:oid:1.3.6.1", "OID 1.3.6.1"),
        ("oid", "urn:oid:1.3.6.1", "OID: 1.3.6.1"),
        ("uuid", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}"),
        ("uuid", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae7dec11d0a76500a0c91e6bf6"),
        ("uuid", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"),
        ("uuid", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "GUID {f81d4fae-7dec-11d0-a765-00a0c91e6bf6}"),
        ("uuid", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "UUID: f81d4fae7dec11d0a76500a0c91e6bf6"),
        ("ietf", "urn:ietf:rfc:791", "RFC791"),
        ("ietf", "urn:ietf:rfc:791", "rfc 791"),
        ("ietf", "urn:ietf:rfc:791", "RFC 0791"),
        ("ietf", "urn:ietf:rfc:791", "RFC-791"),
        ("ietf", "urn:ietf:rfc:791", "rfc:791"),
        ("ietf", "urn:ietf:rfc:791", "RFC\u00a0791"),
        ("publicid", "urn:publicid:-:OASIS:DTD+x", " -//OASIS//DTD \r\n\t x\n"),
    ],
)
def test_as_pasted(nid, urn, pasted):
    """Contract: labels in any case, white space around it, hyphens and spaces where the standard allows them."""
    assert native(nid).to_urn(pasted) == urn


@pytest.mark.parametrize(
    ("nid", "identifier", "reason"),
    [
        ("isbn", "0-395-36341-6", "the check digit is wrong"),
        ("isbn", "978-0-395-36341-7", "the check digit is wrong"),
        ("isbn", "978039536341", "it ends too early"),
        ("isbn", "97803953634161", "'1' cannot follow '9780395363416'"),
        ("isbn", "9770395363416", "cannot follow"),
        ("isbn", "0-395-3634I-1", "'I' cannot follow '0-395-3634'"),
        ("isbn", "0-395--36341-1", "'-' cannot follow '0-395-'"),
        ("isbn", "ISBN-13978-0-395-36341-6", "'-' cannot begin it"),
        ("isbn", "ISBN", "a label alone"),
        ("issn", "0317-8472", "the check digit is wrong"),
        ("issn", "X317-8471", "'X' cannot begin it"),
        ("isni", "0000 0001 2150 0900", "the check digit is wrong"),
        ("isan", "0000-0000-D07A-0090-Q-0000-0000-Y", "a check character is wrong"),
        ("isan", "0000-0000-D07A-0090-R-0000-0000-X", "a check character is wrong"),
        ("isan", "0123-1230-3210-2310-1", "a check character is wrong"),  # the example of RFC 4246 §2 is made up
        ("isan", "0000-0000-D07A-0090-Q-0000-0000", "it ends too early"),
        ("doi", "10.1000", "it ends too early"),
        ("doi", "10.1000/", "it ends too early"),
        ("doi", "abc/def", "'a' cannot begin it"),
        ("doi", "10.1000/a\u200bb", "'\\u200b' cannot follow '10.1000/a'"),
        ("doi", "10.1000/\ud800", "cannot follow"),
        ("doi", "https://doi.org/10.1000/a?b=c", "a ? or #"),
        ("doi", "https://doi.org/10.1000/a#b", "a ? or #"),
        ("doi", "https://doi.org/10.1000/a%FF", "not UTF-8"),
        ("doi", "https://doi.org/10.1000/100%", "two hex digits"),
        ("eidr", "10.5240/7791-8534-2C23-9030-8610-6", "the check digit is wrong"),
        ("eidr", "10.1000/182", "cannot follow"),
        ("lei", "7LTWFZYICNSX8D621K87", "the check digit is wrong"),
        ("lei", "7LTWFZYICNSX8D621K8", "it ends too early"),
        ("oid", "1.3.06", "'6' cannot follow '1.3.0'"),
        ("oid", "1..3", "'.' cannot follow '1.'"),
        ("oid", "1.3.", "it ends too early"),
        ("oid", ".1.3", "'.' cannot begin it"),
        ("uuid", "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "it ends too early"),
        ("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", "'}' cannot follow"),
        ("uuid", "f81d4fae-7dec11d0a76500a0c91e6bf6", "'1' cannot follow"),
        ("uuid", "g81d4fae-7dec-11d0-a765-00a0c91e6bf6", "'g' cannot begin it"),
        ("ietf", "RFC", "it ends too early"),
        ("ietf", "RFC 0", "it ends too early"),
        ("ietf", "IEN 2", "'I' cannot begin it"),
        ("ietf", "2648", "'2' cannot begin it"),
        ("publicid", "a\0b", "'\\x00' cannot follow 'a'"),
        ("publicid", "-//Grüße", "'ü' cannot follow"),
    ],
)
def test_says_why_not(nid, identifier, reason):
    """Contract: what, why and what is wanted, in one line; nothing is guessed and nothing put right."""
    with pytest.raises(ValueError, match="; wanted: ") as caught:
        native(nid).to_urn(identifier)
    message = str(caught.value)
    assert message.startswith(repr(identifier))
    assert reason in message
    assert len(message.splitlines()) == 1


# No identifier in any namespace. Digits of other scripts: Arabic, fullwidth, bold, superscript, Devanagari.
JUNK = [
    *["", " ", "\n", "\0", "\x1b[31m", "\ud800", "\ufeff", "\u200b"],
    *[
        "\u0660\u0663\u0669\u0665",
        "\uff10\uff13\uff19\uff15",
        "\U0001d7ce395363411",
        "\u00b2",
        "\u0966\u0966",
        "\uff58",
    ],
    *[character * 10_000 for character in ("0", "9", "-", " ", "1.", "a/", "ISBN ", "10.1/", "RFC 1", "\u00e9")],
    *["isbn" + " " * 2_000 + "!\0", "doi" + " " * 2_000 + "\0", "10.1/" + " a" * 1_000 + "\0", "1." * 1_000 + "\0"],
]


def test_longest():
    """2048 characters are still looked at."""
    longest = "1" + ".1" * 1_023 + "1"
    assert (len(longest), native("oid").to_urn(longest)) == (2_048, f"urn:oid:{longest}")
    with pytest.raises(ValueError, match="it has 2049 characters"):
        native("oid").to_urn(f"{longest}1")


@every_nid
@pytest.mark.parametrize("function", ["to_urn", "from_urn"])
def test_junk(nid, function):
    """Contract: ValueError in one short line, never another exception, and at once."""
    here = native(nid)
    here.from_urn(next(pair[2] for pair in PAIRS if pair[0] == nid))  # what is loaded at the first use is not measured
    start = time.thread_time()
    for text in JUNK:
        with pytest.raises(ValueError, match=r"\w") as caught:
            getattr(here, function)(text)
        assert len(str(caught.value).splitlines()) == 1
        assert len(str(caught.value)) < 600
        assert str(caught.value).isprintable()
    assert time.thread_time() - start < 5


@every_nid
@FEW
@given(data=st.data())
def test_anything(nid, data):
    """Whatever is pasted: a URN that comes out is canonical and leads back to itself, else there is a ValueError."""
    known = st.sampled_from([pair[1] for pair in PAIRS if pair[0] == nid])
    text = data.draw(
        st.one_of(
            st.text(max_size=40),
            st.builds(
                lambda text, at, put: text[: at % (len(text) + 1)] + put + text[at % (len(text) + 1) :],
                known,
                st.integers(0, 100),
                st.one_of(
                    st.text(max_size=2), st.sampled_from([" ", "-", "/", "//", "::", "%", "%2F", "?", "#", "0", "X"])
                ),
            ),
            st.text(string.digits + "-./:; Xx'%+", max_size=30).map(
                lambda text: "10.1/" + text if nid == "doi" else text
            ),
        )
    )
    try:
        urn = native(nid).to_urn(text)
    except ValueError:
        return
    assert namespace_form(parse(urn, syntax="rfc8141").canonical) == urn
    assert parse(urn).canonical == urn  # in RFC 2141, too
    identifier = native(nid).from_urn(urn)
    assert native(nid).to_urn(identifier) == urn
    assert native(nid).from_urn(native(nid).to_urn(identifier)) == identifier


def hexadecimal(size):
    return st.text("0123456789ABCDEF", min_size=size, max_size=size)


def digits(size):
    return st.text(string.digits, min_size=size, max_size=size)


def grouped(*parts):
    return "-".join(parts)


# Right identifiers of every namespace, as their standards display them, from the algorithms and not from the package.
RIGHT = {
    "isbn": st.builds("{}{}".format, st.sampled_from(["978", "979"]), digits(9)).map(
        lambda text: isbn.format(isbn.to_isbn13(text[3:] + "0") if text[:3] == "978" else _ean(text))
    ),
    "issn": digits(7).map(lambda text: issn.format(text + issn.calc_check_digit(text))),
    "isni": digits(15)
    .map(lambda text: text + mod_11_2.calc_check_digit(text))
    .map(lambda text: " ".join(text[at : at + 4] for at in range(0, 16, 4))),
    "isan": st.one_of(hexadecimal(16), hexadecimal(24)).map(isan.format),
    "doi": st.builds(
        "10.{}/{}".format,
        st.integers(1000, 99999),
        st.text(st.characters(exclude_categories=["C", "Z", "Lu"]), min_size=1, max_size=20).filter(
            lambda text: not set(text) & set(string.ascii_uppercase)
        ),
    ),
    "eidr": hexadecimal(20).map(
        lambda text: (
            "10.5240/" + grouped(*(text[at : at + 4] for at in range(0, 20, 4)), mod_37_36.calc_check_digit(text))
        )
    ),
    "lei": st.text(string.digits + string.ascii_uppercase, min_size=18, max_size=18).map(
        lambda text: text + mod_97_10.calc_check_digits(text)
    ),
    "oid": st.lists(st.integers(0, 2**130), min_size=1, max_size=12).map(lambda arcs: ".".join(map(str, arcs))),
    "uuid": st.uuids().map(str),
    "publicid": st.text(string.ascii_letters[:3] + string.digits[:3] + " '()+,./:=?;!*#@$_%-", min_size=1).map(
        lambda text: " ".join(text.split()) or "foo"
    ),
    "ietf": st.builds("{} {}".format, st.sampled_from(["RFC", "BCP", "STD", "FYI"]), st.integers(1, 99999)),
}


def _ean(text):
    from stdnum import ean

    return text + ean.calc_check_digit(text)


@every_nid
@FEW
@given(data=st.data())
def test_round_trip(nid, data):
    """Contract: `from_urn(to_urn(x))` is the displayed form of x, here x itself, and its URN is valid and canonical."""
    identifier = data.draw(RIGHT[nid])
    urn = native(nid).to_urn(identifier)
    assert urnscan.urn.namespaces.judge(urn).valid is True
    assert namespace_form(urn) == urn
    assert native(nid).from_urn(urn) == identifier


# Valid names that are no transcription of an identifier by the rules of their registration, or of one with a check digit
# that its standard would not give: `from_urn` reads what can be read, `to_urn` writes the right one or refuses.
NOT_BACK = {
    "urn:isan:0123-1230-3210-2310-1": None,
    "urn:isan:1881-66C7-3420-6541-9-9F3A-0245-U": None,
    "urn:doi:10.1000/%41": "urn:doi:10.1000/a",
    "urn:doi:10.1000/a%2Fb": "urn:doi:10.1000/a/b",
    "urn:doi:10.1000:182": "urn:doi:10.1000/182",
    "urn:doi:10.22152%2Fprogramming-journal.org%2F2022%2F6%2F12": "urn:doi:10.22152/programming-journal.org/2022/6/12",
    "urn:publicid:%2F%2F": "urn:publicid::",
    "urn:publicid:%2F:": "urn:publicid::%2F",
    "urn:publicid:-//OASIS//DTD+x": "urn:publicid:-:OASIS:DTD+x",
    "urn:ietf:rfc:0791": "urn:ietf:rfc:791",
    "urn:isan:0000-0000-D07A-0090": "urn:isan:0000-0000-D07A-0090-Q",
    "urn:eidr:10.5239:0123-4567": None,
    "urn:lei:7ltwfzyicnsx8d621k86": "urn:lei:7LTWFZYICNSX8D621K86",
}


@pytest.mark.parametrize("urn", NOT_BACK)
def test_where_it_does_not_lead_back(urn):
    """The limits that the docstrings tell: these names are read, and come back as another name or not at all."""
    here = native(urn.split(":")[1])
    identifier = here.from_urn(urn)
    if NOT_BACK[urn] is None:
        with pytest.raises(ValueError, match="is no "):
            here.to_urn(identifier)
    else:
        assert here.to_urn(identifier) == NOT_BACK[urn] != namespace_form(urn)


@pytest.mark.full
@pytest.mark.parametrize(
    ("urn", "identifier"),
    [(urn, identifier) for _, identifier, urn, _ in PAIRS]
    + [
        ("URN:ISBN:951-0-18435-7", "978-951-0-18435-6"),
        ("urn:isbn:0-8044-2957-x", "978-0-8044-2957-3"),
        ("urn:issn:1050124x", "1050-124X"),
        ("urn:isni:000000012150090x", "0000 0001 2150 090X"),
        ("urn:isan:0000-0000-d07a-0090-q-0000-0000-x", "0000-0000-D07A-0090-Q-0000-0000-X"),
        ("urn:isan:0123-1230-3210-2310-1", "0123-1230-3210-2310-1"),
        ("urn:DOI:10.1000/ABC", "10.1000/abc"),
        ("urn:doi:10.1000/182?=a=b#c", "10.1000/182"),
        ("urn:eidr:10.5240:7791-8534-2c23-9030-8610-5", "10.5240/7791-8534-2C23-9030-8610-5"),
        ("urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
        ("URN:IETF:Rfc:2648", "RFC 2648"),
        ("urn:publicid:iso%2fiec", "iso/iec"),
    ],
)
def test_from_any_spelling(urn, identifier):
    """Contract: every spelling that the namespace declares equal leads to the same identifier, as text and parsed."""
    here = native(urn.split(":")[1].lower())
    assert here.from_urn(urn) == identifier
    assert here.from_urn(parse(urn, syntax="rfc8141")) == identifier


@pytest.mark.parametrize("nid", NIDS)
def test_examples_of_the_registrations(nid):
    """Contract: `to_urn(from_urn(u))` is the canonical form of u in its namespace for every valid example of the table."""
    others = ("urn:ietf:id:", "urn:ietf:mtg:", "urn:ietf:params:")
    seen = 0
    for urn, _ in EXAMPLES[nid]["valid"]:
        canonical = namespace_form(parse(urn, syntax="rfc8141").canonical)
        if canonical not in NOT_BACK and not canonical.startswith(others):
            assert native(nid).to_urn(native(nid).from_urn(urn)) == canonical
            seen += 1
    assert seen


@every_nid
@FEW
@given(data=st.data())
def test_any_name(nid, data):
    """Any name in the namespace: an identifier that comes out is one, and its URN leads to it again; else a ValueError."""
    urn = data.draw(names(nid))
    here = native(nid)
    try:
        identifier = here.from_urn(urn)
    except ValueError:
        return
    try:
        again = here.to_urn(identifier)
    except ValueError:
        assert nid in ("isan", "eidr")  # as NOT_BACK has it
        return
    assert here.from_urn(again) == identifier


@pytest.mark.parametrize(
    ("nid", "urn", "reason"),
    [
        ("isbn", "urn:issn:0317-8471", "is a name in urn:issn, not in urn:isbn"),
        ("doi", "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5", "not in urn:doi"),
        ("isbn", "urn:isbn:0-395-36341-6", "the check digit is wrong"),
        ("isbn", "urn:isbn:9770395363410", "cannot follow"),
        ("issn", "urn:issn:03178472", "the check digit is wrong"),
        ("lei", "urn:lei:7ltwfzyicnsx8d621k87", "the check digit is wrong"),
        ("lei", "urn:lei:7LTWFZYICNSX8D621K86.", "punctuation at its end"),
        ("uuid", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6;grid=99a", "punctuation and what follows it"),
        ("uuid", "urn:uuid:1", "does not have the required form"),
        ("oid", "urn:oid:1.03", "does not have the required form"),
        ("doi", "urn:doi:abc/def", "cannot begin it"),
        ("doi", "urn:doi:10.1000/%FF", "not UTF-8"),
        ("doi", "urn:doi:10.1000/a%0Ab", "cannot follow"),
        ("doi", "urn:doi:10.1000/a%20", "it ends too early"),
        ("publicid", "urn:publicid:a++b", "does not have the required form"),
        ("publicid", "urn:publicid:a%20+b", "white space"),
        ("publicid", "urn:publicid:%C3%A9", "cannot begin it"),
        ("ietf", "urn:ietf:params:xml:ns:yang:ietf-ip", "cannot begin it"),
        ("ietf", "urn:ietf:rfc:rfc9711", "cannot follow"),
        ("isan", "urn:isan:0000-0000-D07A-0090-Q-0000-0000", "it ends too early"),
    ],
)
def test_from_urn_says_why_not(nid, urn, reason):
    """Contract: ValueError, but no InvalidURN, for another namespace and for what the grammar or the form rules out."""
    with pytest.raises(ValueError, match=r"^'[^']*' is ") as caught:
        native(nid).from_urn(urn)
    assert reason in str(caught.value)
    assert not isinstance(caught.value, InvalidURN)


@every_nid
@pytest.mark.parametrize(
    "text", ["", "x", "0-395-36341-1", "urn:", "urn:isbn", "urn:isbn:", "urn:isbn:a b", " urn:isbn:1", "urn:x:1"]
)
def test_no_urn(nid, text):
    """Contract: InvalidURN for what is no URN of RFC 8141."""
    with pytest.raises(InvalidURN):
        native(nid).from_urn(text)


@pytest.mark.full
@every_nid
@pytest.mark.parametrize("value", [None, 395363411, 1.5, b"0395363411", ["0395363411"]])
def test_no_text(nid, value):
    """Contract: TypeError says what was given in the place of a text."""
    with pytest.raises(TypeError, match=f" must be a str, not {type(value).__name__}$"):
        native(nid).to_urn(value)
    if not isinstance(value, bytes):
        with pytest.raises(TypeError, match=f"^a URN must be a str or bytes, not {type(value).__name__}$"):
            native(nid).from_urn(value)


@FEW
@given(RIGHT["publicid"], RIGHT["publicid"])
@example("a///b", "a//%2Fb")
def test_transcription_is_one_to_one(one, other):
    """RFC 3151 §2: URNs are identical if and only if the public identifiers are."""
    to_urn = urnscan.urn.namespaces.publicid.to_urn
    assert (to_urn(one) == to_urn(other)) == (one == other)


class TestPackage:
    """The objects belong to `urnscan.urn.namespaces` without being loaded with it."""

    @every_nid
    def test_two_public_functions(self, nid):
        assert {"from_urn", "to_urn"} <= set(dir(native(nid)))
        assert native(nid) is native(nid)
        assert native(nid).nid == nid

    def test_are_listed(self):
        assert set(NIDS) <= set(dir(urnscan.urn.namespaces)) == set(urnscan.urn.namespaces.__all__)

    def test_nothing_else_is_there(self):
        with pytest.raises(AttributeError, match="no attribute 'nbn'"):
            urnscan.urn.namespaces.nbn  # noqa: B018

    def test_are_loaded_when_used(self):
        """`import urnscan` stays light: neither these objects nor python-stdnum come with it."""
        program = (
            "import sys, urnscan.urn.namespaces\n"
            "late = {'urnscan.urn.namespaces.identifiers', 'urnscan.urn.namespaces.native', 'stdnum'}\n"
            "assert not late & set(sys.modules), late & set(sys.modules)\n"
            "assert urnscan.urn.namespaces.isbn.to_urn('0-395-36341-1') == 'urn:isbn:9780395363416'\n"
            "import uuid\n"
            "assert urnscan.urn.namespaces.uuid is not uuid and uuid.UUID\n"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)
