"""References to names without `urn:`: which there are, where they end, and which are left alone."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import isbn as isbn_numbers
from stdnum import issn as issn_numbers

from tests.scanner.views.test_recovery import found_in, simple, streamed
from tests.support.examples import FEW
from tests.support.strategies import cuttings
from urnscan.scanner.views.kinds import KINDS

FOUND = [
    # labels of numbers with a check digit, in prose, in data and in addresses
    ("ISBN 978-0-395-36341-6.", "978-0-395-36341-6", "urn:isbn:9780395363416"),
    ("ISBN 0-395-36341-1 (pbk.)", "0-395-36341-1", "urn:isbn:9780395363416"),
    ("ISBN: 0 521 30811 9", "0 521 30811 9", "urn:isbn:9780521308113"),
    ("isbn 3-540-65386-x", None, None),  # the check digit is 4
    ("ISBN-13: 9780395363416", "9780395363416", "urn:isbn:9780395363416"),
    ("ISBN 10: 2884491929", "2884491929", "urn:isbn:9782884491921"),
    ("ISBN (print): 978\u20110\u2011395\u201136341\u20116", "978\u20110\u2011395\u201136341\u20116", "urn:isbn:9780395363416"),
    ("ISBN\n      0-12-064480-0.", "0-12-064480-0", "urn:isbn:9780120644803"),
    ("ISBN 1-884777-\n     14-7.", "1-884777-\n     14-7", "urn:isbn:9781884777141"),
    ("ISBN 0-201-61633-\n   5", "0-201-61633-\n   5", "urn:isbn:9780201616330"),
    ('{"isbn_13": ["9780395363416"]}', "9780395363416", "urn:isbn:9780395363416"),
    ('"text\\nISBN 0395363411"', "0395363411", "urn:isbn:9780395363416"),
    ("<isbn>0395363411</isbn>", "0395363411", "urn:isbn:9780395363416"),
    ("isbn = {0395363411},", "0395363411", "urn:isbn:9780395363416"),
    ("https://shop.example/isbn/9780395363416/x", "9780395363416", "urn:isbn:9780395363416"),
    ("eISSN: 0317-8471", "0317-8471", "urn:issn:0317-8471"),
    ("ISSN-L 1046-8188 ", "1046-8188", "urn:issn:1046-8188"),
    ("https://portal.issn.org/resource/ISSN/0317-8471", "0317-8471", "urn:issn:0317-8471"),
    ("ISNI 0000 0001 2124 1960", "0000 0001 2124 1960", "urn:isni:0000000121241960"),
    ("https://isni.org/isni/0000000121241960", "0000000121241960", "urn:isni:0000000121241960"),
    # DOIs: by their resolver, the scheme info: and the label
    ("https://doi.org/10.1000/182", "10.1000/182", "urn:doi:10.1000/182"),
    ("<http://dx.doi.org/10.1000%2F182>", "10.1000%2F182", "urn:doi:10.1000/182"),
    ("(doi:10.1016/S0140-6736(05)17709-5)", "10.1016/S0140-6736(05)17709-5", "urn:doi:10.1016/s0140-6736(05)17709-5"),
    ("[x](https://doi.org/10.1000/182)[2]", "10.1000/182", "urn:doi:10.1000/182"),
    ("info:doi/10.1000/182", "10.1000/182", "urn:doi:10.1000/182"),
    ("DOI 10.17487/RFC8141, May 2017", "10.17487/RFC8141", "urn:doi:10.17487/rfc8141"),
    (":doi:`10.1000/182`", "10.1000/182", "urn:doi:10.1000/182"),
    ("doi = {10.1000/182},", "10.1000/182", "urn:doi:10.1000/182"),
    ("doi:https://doi.org/10.1000/182.", "10.1000/182", "urn:doi:10.1000/182"),
    ("doi:10.1000/182/abstract", "10.1000/182", "urn:doi:10.1000/182"),
    ("https://doi.org/10.1000/182/full/pdf", "10.1000/182", "urn:doi:10.1000/182"),
    ("https://doi.org/10.1000/182.pdf?download", "10.1000/182", "urn:doi:10.1000/182"),
    ("10,doi:10.1000/182,2020,Title", "10.1000/182", "urn:doi:10.1000/182"),
    ("doi:10.1000/182\u3002\u6b21", "10.1000/182", "urn:doi:10.1000/182"),
    (
        "doi:10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O.",
        "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
        "urn:doi:10.1002/(sici)1097-4571(199806)49:8%3C693::aid-asi4%3E3.0.co;2-o",
    ),
    (
        "https://doi.org/10.1002/1097-0037(200010)36:3&lt;156::AID-NET2&gt;3.0.CO;2-L",
        "10.1002/1097-0037(200010)36:3&lt;156::AID-NET2&gt;3.0.CO;2-L",
        "urn:doi:10.1002/1097-0037(200010)36:3%3C156::aid-net2%3E3.0.co;2-l",
    ),
    # National Bibliography Numbers behind their resolvers
    ("https://nbn-resolving.org/nbn:de:101:1-2?x=y", "nbn:de:101:1-2", "urn:nbn:de:101:1-2"),
    ("http://nbn-resolving.de/resolver?id=nbn:de:101:1-2", "nbn:de:101:1-2", "urn:nbn:de:101:1-2"),
]  # fmt: skip
LEFT_ALONE = [
    "ISBN 978-0-395-36341-7",  # a wrong check digit
    "ISBN 0-00-000000-0 ISSN 0000-0000",  # right check digits of no publication
    "0-395-36341-1 0317-8471 phone 0317-8471",  # no label
    "misbn 0395363411 isbns of 2003",
    "ISBN 0395363411x ISSN 0317-84712 ISSN 0317-8471-1",  # longer numbers
    "ISSN 03178471",  # eight digits behind a label are also dates and telephone numbers
    "urn:isbn:0395363411 URN:ISSN:0317-8471 urn:doi:10.1000/182",  # literal URNs
    "http://x.example/?u=urn:example:isbn/0395363411",
    "10.1000/182 https://publisher.example/doi/10.1000/182 https://nodoi.org/10.1000/182",
    "doi:10.1000/ doi:10.1000 doi:11.1000/182 doi: see 10.1000/182",
    "<https://doi.org/10.1000/18\n  2>",  # broken over lines
    "doi:10.1000/xyz-\n182 doi:10.1000/xyz/\n182",
    "https://doi.org/10.1000/{id} https://doi.org/10.1000/a${b} doi:10.1000/%s",  # a program completes them
    r"\url{https://doi.org/10.1000/a\_b}",  # an escape of LaTeX
    "doi:10.1000/abc... doi:10.1000/abc\u2026",  # cut
    "doi:10.1000/abc\u00e9",
    "doi:10.1002/(SICI)1097-4571(199806)49:8 doi:10.1002/1097-0037(200010)36:3<b>",  # halves of SICIs
    "https://example.org/nbn:de:101:1-2 nbn:de:101:1-2",  # no resolver
]


@pytest.mark.parametrize(("text", "name", "urn"), FOUND, ids=range(len(FOUND)))
def test_found(text, name, urn):
    """The place is that of the identifier alone; the URN is that of its registration."""
    found = [(each.start, each.end, each.text) for each in found_in(text.encode(), ["bare"])]
    if name is None:
        assert found == []
    else:
        start = text.encode().index(name.encode())
        assert found == [(start, start + len(name.encode()), urn)]


@pytest.mark.parametrize("text", LEFT_ALONE, ids=range(len(LEFT_ALONE)))
def test_left_alone(text):
    """Semantics, "Views": a name is given only if its check digit is right, and if the text shows where it ends."""
    assert [each.text for each in found_in(text.encode(), ["bare"]) if each.via] == []


def test_the_host_of_an_address_and_what_ends_the_name():
    hits = found_in(b"a\nhttps://doi.org/10.1000/182?x", ["bare"])
    assert [(each.line, each.stop, each.via) for each in hits] == [(2, ord("?"), "bare")]


@pytest.mark.parametrize("text", [b"doi:10.1000/182 ", b"doi:10.1000/182 ISBN 0395363411"])
def test_a_doi_is_no_name_of_rfc2141bis_03(text):
    """Its NSS has no "/" (rfc2141bis-03 §2.2). A text with nothing but such names ended in a traceback."""
    isbn = [] if text.endswith(b"182 ") else ["urn:isbn:9780395363416"]
    assert [hit.text for hit in found_in(text, ["bare"], "rfc2141bis-03")] == isbn


@pytest.mark.parametrize("recover", [["bare"], KINDS])
def test_a_match_of_another_kind_stands_before_it(recover):
    """Promise: no place has two occurrences. A reference that holds a URN, literal or hidden, does not count."""
    text = b"doi:10.1000/urn:isbn:1 isbn:0395363411 doi:10.1000/a"
    assert [(hit.text, hit.via) for hit in found_in(text, recover)] == [
        ("urn:isbn:1", None),
        ("urn:isbn:9780395363416", "bare"),
        ("urn:doi:10.1000/a", "bare"),
    ]


def with_check_digit(digits):
    return digits + isbn_numbers._calc_isbn10_check_digit(digits)


numbers = st.one_of(
    st.text(string.digits, min_size=9, max_size=9).map(with_check_digit),
    st.text(string.digits, min_size=9, max_size=9).map(lambda nine: isbn_numbers.to_isbn13(with_check_digit(nine))),
).filter(lambda number: len(set(number)) > 1)
serials = (
    st.text(string.digits, min_size=7, max_size=7)
    .map(lambda seven: f"{seven[:4]}-{seven[4:]}{issn_numbers.calc_check_digit(seven)}")
    .filter(lambda serial: len(set(serial)) > 2)
)


class TestNumbers:
    @FEW
    @given(numbers, st.sampled_from(["ISBN ", "isbn:", "ISBN-13: ", '"isbn": "', "eISBN\u00a0"]))
    def test_isbn(self, number, label):
        """Every number with the right check digit (ISO 2108) is found, and none with a wrong one."""
        (hit,) = found_in(f"{label}{number}\n".encode(), ["bare"])
        assert hit.text == f"urn:isbn:{isbn_numbers.to_isbn13(number)}"
        wrong = number[:-1] + ("0" if number[-1] != "0" else "1")
        assert found_in(f"{label}{wrong}\n".encode(), ["bare"]) == []

    @FEW
    @given(serials, st.sampled_from(["ISSN ", "p-ISSN: ", "issn=", "ISSN (online) "]))
    def test_issn(self, serial, label):
        """ISO 3297."""
        (hit,) = found_in(f"{label}{serial},".encode(), ["bare"])
        assert hit.text == f"urn:issn:{serial}"


PIECES = (
    [text for text, _, _ in FOUND]
    + LEFT_ALONE
    + ["urn:isbn:1 ", "urn%3Aisbn%3A1 ", "urn:nbn:de-\n2 ", " and ", "x" * 70]
)


@FEW
@given(st.lists(st.sampled_from(PIECES), max_size=8), cuttings, st.sampled_from([("bare",), KINDS]))
def test_however_the_text_is_cut(pieces, sizes, recover):
    """Semantics §3: the result never depends on how the input is cut into blocks; matches are in order, without overlap."""
    text = "".join(pieces).encode()
    whole = found_in(text, recover)
    assert streamed(text, sizes, recover) == whole
    assert all(first.end <= second.start for first, second in itertools.pairwise(whole))


@pytest.mark.full
def test_far_apart():
    """What is found in the first bytes waits for nothing in the last ones, and many references are found at once."""
    text = b"ISBN 0395363411, doi:10.1000/a and urn:isbn:1; " * 9000
    found = found_in(text, ["bare"])
    assert len(found) == 27000
    assert streamed(text, [1 << 16, 977], ["bare"]) == found
    assert simple(found)[-1] == (len(text) - 12, len(text) - 1, "urn:isbn:1;", None)
