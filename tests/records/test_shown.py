"""What a person reads of a record: fields on lines of their own, nothing left out, nothing raised."""

import io
import json
import unicodedata

import pymarc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import buffer_of, read_from
from urnscan.framing.buffer import Buffer
from urnscan.records.format_registry import FORMATS
from urnscan.records.pica import PicaRecords
from urnscan.records.record import description_of


def shown(name, content):
    return FORMATS[name].show(content)


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


def test_the_first_100_tells_unimarc():
    """Without 200 and 245, or with both, the first field 100 tells the family, and with it how letters are decoded."""
    general, name, title = b"  \x1fa20260101d2026", b"1 \x1faSomebody", b"10\x1faf\xe2ete"  # MARC-8: fete with an acute

    def record(*fields):
        at, directory, data = 0, b"", b""
        for tag, field in fields:
            directory += b"%b%04d%05d" % (tag, len(field) + 1, at)
            data += field + b"\x1e"
            at = len(data)
        base = 25 + len(directory)
        return b"%05dnam  22%05d   4500%b\x1e%b\x1d" % (base + len(data) + 1, base, directory, data)

    fields = [(b"100", general), (b"100", name), (b"245", title), (b"200", title)]
    assert "f\ufffdete" in shown("marc", record(*fields))
    assert "f\u00e9te" in unicodedata.normalize("NFC", shown("marc", record(fields[1], fields[0], *fields[2:])))


def test_marc_goes_by_the_directory():
    """Its order is not that of the fields."""
    content = b"00064nam a2200049   4500245000500002001000200000\x1e7\x1e10\x1fa\x1e\x1d"
    assert shown("marc", content).split("\n")[1:] == ["245 10 $a ", "001    7"]


@pytest.mark.parametrize(
    "content", [b"", b"\x1d", BOOK[:-1], BOOK[3:], BOOK[:30] + BOOK[33:], b"no record \xff\x1e\x1d"]
)
def test_marc_that_cannot_be_read_is_shown_as_it_stands(content):
    assert shown("marc", content) == content.decode("utf-8", "replace")


values = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=9)


@given(st.lists(st.tuples(st.sampled_from("abq"), values), min_size=1, max_size=4))
def test_marc_says_what_pymarc_reads(subfields):
    record = pymarc.Record(force_utf8=True)
    record.add_field(
        pymarc.Field("245", pymarc.Indicators("1", " "), [pymarc.Subfield(code, value) for code, value in subfields])
    )
    (line,) = shown("marc", record.as_marc()).split("\n")[1:]
    assert line == " ".join(("245 1 ", *(f"${code} {value}" for code, value in subfields)))


FIELDS = [*shown("marc", BOOK).rstrip().split("\n")]
XML = (
    '<{0}record{1}><{0}leader>00129nam a2200073   4500</{0}leader><{0}controlfield tag="001">31</{0}controlfield>'
    '<{0}datafield tag="245" ind1="1" ind2="0"><{0}subfield code="a">The lamp</{0}subfield><{0}subfield code="b">2</{0}subfield>'
    '</{0}datafield><{0}datafield tag="020" ind1=" " ind2=" "><{0}subfield code="a">978300123</{0}subfield>'
    '<{0}subfield code="q">(pbk.)</{0}subfield></{0}datafield><{0}datafield tag="856" ind1="4" ind2="0">'
    '<{0}subfield code="u">urn:x:é</{0}subfield></{0}datafield></{0}record>'
)
SLIM = ' xmlns="http://www.loc.gov/MARC21/slim"'
OTHERS = [
    ("marcxml", XML.format("", "")),
    ("marcxml", XML.format("", SLIM)),
    ("marcxml", XML.format("marc:", "")),  # the wrapper declares the prefix
    ("oai", f"<o:record><o:header/><o:metadata>{XML.format('', SLIM)}</o:metadata></o:record>"),
    ("sru", f"<record><recordSchema>x</recordSchema><recordData>{XML.format('m:', '')}</recordData></record>"),
    (
        "mrk",
        "=LDR  00129nam a2200073   4500\n=001  31\n=245  10$aThe lamp$b2\n=020  \\\\$a978300123$q(pbk.)\n=856  40$uurn:x:é\n",
    ),
    (
        "marc-lines",
        "00129nam a2200073   4500\n001 31\n245 10 $a The lamp $b 2\n020    $a 978300123 $q (pbk.)\n856 40 $u urn:x:é\n",
    ),
    (
        "aleph",
        (
            "000000031 LDR   L 00129nam^a2200073^^^4500\n000000031 001   L 31\n000000031 24510 L $$aThe lamp$$b2\n"
            "000000031 020   L $$a978300123$$q(pbk.)\n000000031 85640 L $$uurn:x:é\n"
        ),
    ),
    (
        "jsonl",
        (
            '{"leader": "00129nam a2200073   4500", "fields": [{"001": "31"}, {"245": {"ind1": "1", "ind2": "0", "subfields": '
            '[{"a": "The lamp"}, {"b": "2"}]}}, {"020": {"ind1": " ", "ind2": " ", "subfields": [{"a": "978300123"}, '
            '{"q": "(pbk.)"}]}}, {"856": {"ind1": "4", "ind2": "0", "subfields": [{"u": "urn:x:é"}]}}]}'
        ),
    ),
]


@pytest.mark.parametrize(("format_name", "text"), OTHERS)
def test_all_forms_of_marc_look_alike(format_name, text):
    """Two records side by side differ where they say something else, and not where one is in another format."""
    assert shown(format_name, text.encode()).split("\n") == FIELDS


def test_marc_in_json_over_several_lines():
    """It was once shown as JSON if its array was indented."""
    line = dict(OTHERS)["jsonl"]
    assert shown("json", json.dumps(json.loads(line), indent=1).encode()).split("\n") == FIELDS


words = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="<>&\"'"), min_size=1)
prefixes = st.from_regex(r"[A-Za-z_\u00e9\u0250][A-Za-z0-9_.\-]{0,4}", fullmatch=True).filter(
    lambda name: not name.lower().startswith("xml")
)


@given(
    prefixes,
    prefixes,
    st.sampled_from(["", "oai", "sru"]),
    st.booleans(),
    words | st.just("\u201cLamp: ink, xml:y, a\u0250:z"),
)
def test_prefixes_are_no_part_of_marc(prefix, other, around, is_declared, word):
    """A record declares its prefix itself, or an element around it does; it may have attributes with other prefixes,
    and a colon in its text.
    """
    attributes = f' xmlns:{prefix}="http://www.loc.gov/MARC21/slim"' if is_declared else ""
    record = XML.format(f"{prefix}:", f' {attributes} xml:lang="de" {other}:type="x"').replace("The lamp", word)
    content = {
        "": record,
        "oai": f'<o:record xmlns:o="http://www.openarchives.org/OAI/2.0/"><o:header/><o:metadata>{record}</o:metadata></o:record>',
        "sru": f"<z:record><z:recordSchema>x</z:recordSchema><z:recordData>{record}</z:recordData></z:record>",
    }[around]
    assert shown(around or "marcxml", content.encode()) == shown(
        "marcxml", XML.format("", "").replace("The lamp", word).encode()
    )


@pytest.mark.parametrize("prefix", ["", "o:"])
def test_oai_marc_is_shown_as_marc(prefix):
    """Local names decide, as the namespace of a prefix may be declared around the record."""
    record = '<{0}oai_marc><{0}varfield id="245" i1="1" i2="0"><{0}subfield label="a">Ink</{0}subfield></{0}varfield></{0}oai_marc>'
    assert shown("marcxml", record.format(prefix).encode()).split("\n")[-1] == "245 10 $a Ink"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"caf\xe2e au lait", "café au lait"),  # ANSEL: the accent before its letter
        (b"\x1bgb\x1bs-rays", "β-rays"),  # a Greek letter, all in ASCII
        (b"\x1b(NkNIGA\x1b(B x", "\u041a\u043d\u0438\u0433\u0430 x"),  # Cyrillic
        ("café".encode(), "café"),  # UTF-8, though the leader does not say so
    ],
)
def test_marc_8_is_shown_in_its_letters(content, text):
    """MARC 21 Specifications, Character Sets, Part 2: a record whose leader does not say UTF-8."""
    record = titled(content)
    assert shown("marc", record).split("\n")[1] == f"245 10 $a {text}"
    assert described(record).title == text  # so do tables, and so titles are compared


def test_utf_8_that_is_cut_is_no_marc_8():
    """Only the beginning of a long field is kept: its last letter may be cut."""
    content = "é".encode() * 1500  # behind two indicators, a delimiter and a code
    assert set(described(titled(b"x" + content)).title) == {"x", "é"}
    assert set(described(titled(content)).title) == {"é"}


def titled(content):
    """A record of MARC 21 with nothing but a title."""
    field = b"10\x1fa" + content + b"\x1e"
    entry = b"245%04d00000" % len(field)
    return b"%05dnam  2200037   4500" % (24 + 13 + len(field) + 1) + entry + b"\x1e" + field + b"\x1d"


def described(content):
    (record,) = read_from(FORMATS["marc"].reader(own=True, described=True), buffer_of(content))
    return description_of(record.description)


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
    (record,) = read_from(PicaRecords(own=False), Buffer(file.readinto))
    assert record.texts[0].split(b"\n")[1] == field


@pytest.mark.parametrize("format_name", sorted({*FORMATS} - {"marc", "pica"}))
def test_other_texts_are_shown_as_they_stand(format_name):
    assert shown(format_name, "<a>ü</a>\n".encode() + b"\xff") == "<a>ü</a>\n\ufffd"


@given(
    st.binary(max_size=60) | st.binary(max_size=9).map(lambda content: BOOK[:70] + content + BOOK[79:]),
    st.sampled_from([*FORMATS]),
)
def test_any_bytes(content, format_name):
    """Nothing raises."""
    shown(format_name, content)
