"""What a person reads of a record: fields on lines of their own, nothing left out, nothing raised."""

import io

import pymarc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.framing.buffer import Buffer
from urnscan.records.formats import FORMATS
from urnscan.records.pica import PicaRecords


def shown(name, octets):
    return FORMATS[name].show(octets)


BOOK = (
    b"00129nam a2200073   4500001000300000245001600003020002200019856001400041"
    b"\x1e31\x1e10\x1faThe lamp\x1fb2\x1e  \x1fa978300123\x1fq(pbk.)\x1e40\x1fuurn:x:\xc3\xa9\n\x1e\x1d"
)


def test_marc_has_a_line_for_each_field():
    """ISO 2709: the leader, tags by the directory, indicators, subfields; a line end in a value begins no line."""
    assert shown("marc", BOOK).split("\n") == [
        "LDR    00129nam a2200073   4500",
        "001    31",
        "245 10 $a The lamp $b 2",
        "020    $a 978300123 $q (pbk.)",
        "856 40 $u urn:x:é ",
    ]


def test_marc_goes_by_the_directory():
    """Its order is not that of the fields."""
    octets = b"00064nam a2200049   4500245000500002001000200000\x1e7\x1e10\x1fa\x1e\x1d"
    assert shown("marc", octets).split("\n")[1:] == ["245 10 $a ", "001    7"]


@pytest.mark.parametrize(
    "octets", [b"", b"\x1d", BOOK[:-1], BOOK[3:], BOOK[:30] + BOOK[33:], b"no record \xff\x1e\x1d"]
)
def test_marc_that_cannot_be_read_is_shown_as_it_stands(octets):
    assert shown("marc", octets) == octets.decode("utf-8", "replace")


values = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=9)


@given(st.lists(st.tuples(st.sampled_from("abq"), values), min_size=1, max_size=4))
def test_marc_says_what_pymarc_reads(subfields):
    record = pymarc.Record(force_utf8=True)
    record.add_field(
        pymarc.Field("245", pymarc.Indicators("1", " "), [pymarc.Subfield(code, value) for code, value in subfields])
    )
    (line,) = shown("marc", record.as_marc()).split("\n")[1:]
    assert line == " ".join(("245 1 ", *(f"${code} {value}" for code, value in subfields)))


@given(
    st.lists(st.tuples(st.sampled_from("0au"), values), min_size=1, max_size=4), st.sampled_from([b"\n", b"\x1d", b""])
)
def test_pica_is_shown_in_its_plain_form(subfields, end):
    """It says the same to the reader of the plain form."""
    field = b"021A " + b"".join(b"\x1f%b%b" % (code.encode(), value.encode()) for code, value in subfields)
    text = shown("pica", b"003@ \x1f0123\x1e" + field + b"\x1e" + end)
    assert text.split("\n")[0] == "003@ $0123"
    assert text.count("\n") == 1
    file = io.BytesIO(text.encode())
    (record,) = PicaRecords(own=False).read(Buffer(file.readinto))
    assert record.texts[0].split(b"\n")[1] == field


@pytest.mark.parametrize("format_name", sorted({*FORMATS} - {"marc", "pica"}))
def test_other_formats_are_text(format_name):
    assert shown(format_name, "<a>ü</a>\n".encode() + b"\xff") == "<a>ü</a>\n\ufffd"


@given(
    st.binary(max_size=60) | st.binary(max_size=9).map(lambda octets: BOOK[:70] + octets + BOOK[79:]),
    st.sampled_from([*FORMATS]),
)
def test_any_octets(octets, format_name):
    """Nothing raises."""
    shown(format_name, octets)
