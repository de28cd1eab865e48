"""What is true of the readers of all formats, whatever a dump holds."""

import importlib
import io
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dumps import FORMATS as DUMPS
from tests.support.dumps import make_dump
from tests.support.reading import keys_of, read_records
from urnscan.framing.buffer import Buffer
from urnscan.framing.lines import Damaged
from urnscan.records import format_registry
from urnscan.records.fields import Own
from urnscan.records.format_registry import FORMATS, recognise
from urnscan.records.keys import kinds
from urnscan.records.record import Record, description_of
from urnscan.records.tagged import Layout, TaggedRecords

XML = [
    *[
        "<?xml version='1.0'?>",
        '<x:r xmlns:x="http://www.loc.gov/MARC21/slim">',
        "</x:r>",
        "<record>",
        "</record>",
        "<mods>",
    ],
    *[
        '<collection xmlns="http://www.loc.gov/MARC21/slim">',
        "</collection>",
        "<!-- ",
        " -->",
        "<![CDATA[",
        "]]>",
        "&amp;",
    ],
    *[
        '<controlfield tag="001">1</controlfield>',
        '<datafield tag="020" ind1=" " ind2=" "><subfield code="a">1</subfield>',
    ],
    *[
        "</datafield>",
        "&#xD800;",
        "&#x110000;",
        "\n",
        "<record/>",
        "<!DOCTYPE x [",
        '<!ENTITY a "b">',
        "]>",
        "</mods>",
        "<",
    ],
    *[
        "<record",
        "</record",
        "<m:record xmlns:m='http://www.loc.gov/MARC21/slim'>",
        "</m:record>",
        "<!--",
        "-->",
        "<?",
        "?>",
    ],
    *[
        "<?xml version='1.0' encoding='x'?>",
        "<!DOCTYPE a [",
        "<header>",
        "<metadata>",
        "<leader/>",
        "<leader>",
        "</leader>",
    ],
    *['<oai_marc type="a">', "</oai_marc>", '<fixfield id="1">"1"</fixfield>', '<varfield id="020"/>'],
    *["<PubmedArticle>", "</PubmedArticle>", "<PMID>1</PMID>", "<database/>", "<isbn><style>1</style></isbn>"],
    *["<a>", "</a>", "<a xmlns:m='u'>", " xmlns='u'", "&nbsp;", "&#0;", "&", '"', "'", ">", " ", "\0", "a"],
]
JSON = [
    *[
        '{"id": "1"}',
        '{"isbn": ["a", {"value": "b"}]}',
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\n",
        '"',
        '"id"',
        "\\ud800",
        "\\",
        "1",
        "\x1e",
    ],
    *['{"records": [', '{"id": "\\ud800", "doi": "\\udfff\\u00e9"}', " "],
    *['{"a":', "nul", '{"records":[', '{"total":1,"records":[{', '\n{"total":', '"id":1', "{}"],
]
PICA = [
    *[
        "003@ \x1f01\x1e004A \x1f0978\x1e\n",
        "003@ \x1f02\x1e\x1d",
        "003@ $03\n004U $0urn:a:$$b\n",
        "003@ ƒ04\r\n",
        "\n",
        "\r\n",
    ],
    *[" \t\n", "\0", "\x1d", "\x1e", "\x1f", "003@ ", "$", "\x1a"],
]
TRIPLES = [
    *[
        "<a:b> <c:d> <e:f> .\n",
        '<a:b> <http://schema.org/isbn> "978\\uD800" .\n',
        '_:b0 <c:d> "x"@en .\r\n',
        "# on\n",
        "\r",
        "\n",
    ],
    *["<a:b> ", "<http://schema.org/url> ", '"', "\\", ".", "_:", " ", "\\uD800\\uDC00"],
]
RIS = [
    *[
        "TY  - BOOK\r\n",
        "TY  - JOUR\n",
        "TY  -\tJOUR\r",
        "TY - JOUR\n",
        "ER  - \r\n",
        "ER  -\r",
        "1. \n",
        "\ufeff",
        "Record #1 of 2\n",
        "ER  -\n",
        "SN  - 978\n",
        "UR  - urn:a:b\n  https://c\n",
        "ID  - 1\n",
        "\n",
    ],
    *["goes on\n", "ER  -x\n", "Provider: Press\n", "TY"],
]
NBIB = [
    "PMID- 1\n",
    "TI  - A lamp\n",
    "      goes on\r\n",
    "LID - 10.1/a [doi]\n",
    "\n",
    " \n",
    "PMID-",
    "PMC -\n",
    "x",
]
OVID = ["<1. >\n", "<2. >\r\n", "<3. >x\n", "TI  - A lamp\n", "      goes on\r", "DO  - 10.1/a\n", "\n", "UI  - 1\n"]
ENW = ["%0 Book\n", "%T A lamp\r\n", "goes on\n", "%@ 978\n", "%R 10.1/a\n", "\n", "%", "%0", "%0 \n", " "]
CIW = [
    "FN X\n",
    "VR 1.0\n",
    "PT J\n",
    "TI A\n",
    "   lamp\n",
    "DI 10.1/a\r\n",
    "ER\n",
    "ER \n",
    "EF\n",
    "UT WOS:1\n",
    "\n",
]
MRK = [
    "=LDR  00000nam\\a22\\\\\n",
    "=001  1\n",
    "=020  \\\\$a978$q{dollar}\r\n",
    "=245  1",
    "$",
    "\n",
    "=",
    "=LDR",
    "a\n",
]
MARC_LINES = [
    *["00000nam a2200000 c 4500\n", "     nam a22     uc 4500\r\n", "001 1\n", "020    $a 978 $q x\n", "245 10", " $"],
    *["\n", "\r\n", "(Base address)\n", " ", "$a "],
]
ALEPH = [
    *[
        "000000001 FMT   L BK\n",
        "000000001 LDR   L 00000nam^\n",
        "000000001 020   L $$a978\r\n",
        "000000002 001   L 1\n",
    ],
    *["000000002 24510 L $$a", "\n", "000000001", " ", "$$", "a\n", "000000002 LDR   L \n"],
]
BIBTEX = [
    "@book{a, isbn = {978}}",
    '@misc(b, doi = "1" # x)',
    "@",
    "{",
    "}",
    "(",
    ")",
    '"',
    ",",
    "=",
    "#",
    "\n",
    "@string{a = {b}}",
    "\\_",
    "é",
]
TABLE = ["id,isbn\n", '"id"\tdoi\r\n', "sep=;\n", '"', '""', ",", "\n", "\r", "\r\n", " ", "a", "\0", "\t", ";", '="1"']
LINES = ["urn:a:b", " ", "\r", "\n", "\x0b", "\x85"]


def marc(fields, length=None):
    """`fields` are of three bytes each, with their terminators."""
    directory = b"".join(b"%s0003%05d" % (tag, 3 * at) for at, (tag, _) in enumerate(fields)) + b"\x1e"
    data = directory + b"".join(value for _, value in fields) + b"\x1d"
    return b"%05dnam a22%05d   4500" % (24 + len(data) if length is None else length, 24 + len(directory)) + data


MARC = [
    marc([(b"001", b"12\x1e")]),
    marc([(b"001", b"3 \x1e"), (b"020", b"  \x1e")]),
    marc([(b"001", b"\xff4\x1e")], 0),
]
MARC += [MARC[0][:30], MARC[1][20:], b"\x1d", b"\x1e", b"\x1f", b"450", b"\n", b"\0", b"\x1a"]

PIECES = {
    "marc": MARC,
    **dict.fromkeys(("marcxml", "pica-xml", "mods", "dc", "oai", "sru", "onix", "pubmed", "endnote"), XML),
    **dict.fromkeys(("json", "jsonl"), JSON),
    **dict.fromkeys(("pica", "pica-plain"), PICA),
    "ntriples": TRIPLES,
    "ris": RIS,
    "nbib": NBIB,
    "ovid": OVID,
    "enw": ENW,
    "ciw": CIW,
    "mrk": MRK,
    "marc-lines": MARC_LINES,
    "aleph": ALEPH,
    "bibtex": BIBTEX,
    "csv": TABLE,
    "line": LINES,
}


@st.composite
def dumps(draw, name):
    pieces = [piece if isinstance(piece, bytes) else piece.encode() for piece in PIECES[name]]
    return b"".join(draw(st.lists(st.sampled_from(pieces) | st.binary(max_size=6), max_size=12)))


def read(name, dump, *, own=False, keys=False, sizes=(None,)):
    return read_records(FORMATS[name].reader(own=own, described=True, keys=keys), dump, sizes)


def readers():
    """One format of each reader."""
    return list({(format_.reader, name == "pica-plain"): name for name, format_ in FORMATS.items()}.values())


@pytest.mark.parametrize("name", readers())
@given(st.data(), st.lists(st.integers(1, 60), min_size=1, max_size=4), st.booleans())
def test_where_the_stream_is_cut_changes_nothing(name, data, sizes, own):
    dump = data.draw(dumps(name))
    assert read(name, dump, own=own, sizes=sizes) == read(name, dump, own=own)


@pytest.mark.parametrize("name", readers())
@given(st.data(), st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_records_are_bytes_of_the_dump_in_their_order(name, data, mark):
    """Any bytes at all: nothing raises, no record holds a byte of its neighbour or of the byte order mark, and which there
    are does not depend on what is asked for. Of the formats that one reader reads, no two are recognised.
    """
    dump = mark + data.draw(dumps(name))
    at = len(mark)
    found, owned = read(name, dump), read(name, dump, own=True)
    for one in found:
        assert at <= one.offset <= len(dump)
        if isinstance(one, Damaged):
            at = one.offset
            assert "\n" not in one.reason
        else:
            at = one.offset + len(one.data)
            assert dump[one.offset : at] == one.data != b""
            assert not one.own
    keyed = read(name, dump, keys=True)
    assert [one.texts for one in found if isinstance(one, Record)] == [
        one.texts for one in keyed if isinstance(one, Record)
    ]
    for one, other, third in zip(found, owned, keyed, strict=True):
        assert one[:3] == other[:3] == third[:3]
        if isinstance(third, Record):
            assert name == "line" or {own for own in third.own if not own.is_key} <= {*other.own}
            for key in keys_of(kinds(), third):
                key.encode()
        if isinstance(other, Record):
            assert not other.texts
            for text in [other.identifier or "", *(text for own in other.own for text in own[:2])]:
                text.encode()  # it is well-formed
    known = {kind: format_.recognise(dump, f"x.{name}") for kind, format_ in FORMATS.items()}
    assert set(known.values()) <= {True, False, None}
    assert [known[kind] for kind in known if FORMATS[kind].reader is FORMATS[name].reader].count(True) <= 1


@pytest.mark.full
@pytest.mark.parametrize("format_", DUMPS)
def test_what_is_found_can_be_read_elsewhere(format_):
    """Another reader, in another process, reads the same: a record is read from what it is handed, and from nothing else."""
    dump = make_dump(format_, 1, 20)
    opened = (recognise(Buffer(io.BytesIO(dump.data).readinto), dump.name) or FORMATS["line"]).reader
    for wanted in ({"own": False}, {"own": True, "keys": True, "described": True}):
        here = opened(**wanted)
        found = [*here.cuts(Buffer(io.BytesIO(dump.data).readinto))]
        assert len(found) > 1
        elsewhere = opened(**wanted)
        for cut in found:
            assert elsewhere.record(pickle.loads(pickle.dumps(cut))) == here.record(cut)


def test_modules_declare_the_formats_that_the_registry_lists():
    """A format that is declared and not listed is read by nobody; one with a recipe must not be offered by `--record`."""
    modules = {importlib.import_module(f"urnscan.records.{name}") for name in format_registry._MODULES.values()}
    declared = {
        format_.name: (module.__name__.rpartition(".")[2], bool(format_.recipe))
        for module in modules
        for format_ in module.FORMATS
    }
    assert declared == {name: (module, name not in FORMATS) for name, module in format_registry._MODULES.items()}


def test_a_reader_can_have_tables_of_its_own(tmp_path):
    """A package outside of this one says what its fields mean in a file, as the tables of this package do."""
    path = tmp_path / "notes.toml"
    path.write_text(
        '[[fields]]\nfield = "isbn"\nscheme = "isbn"\n[[keys]]\nfield = "pubmed"\nscheme = "pmid"\n'
        '[[descriptions]]\nfield = "title"\naspect = "title"\n'
    )

    class Notes(TaggedRecords):
        table = described_by = str(path)
        layout = Layout(begins="---", first=rb"---\n", tag=rb"[a-z]+", after=rb": ", names=("id",))

    dump = b"---\nid: 1\ntitle: Inks\nisbn: 316148410X\npubmed: 7\n"
    (record,) = read_records(Notes(own=True, described=True, keys=True), dump)
    assert [*record.own] == [Own("316148410X", "isbn"), Own("7", "pmid", is_key=True)]
    assert description_of(record.description).title == "Inks"
