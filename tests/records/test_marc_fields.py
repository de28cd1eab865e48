"""Fields of MARC: to which family a record belongs, and what its fields say in each way in which MARC is written."""

import itertools
import json

import pymarc
import pytest
from lxml import etree

from tests.support.reading import buffer_of, keys_of, read_records
from urnscan.records.description import Description
from urnscan.records.fields import Own
from urnscan.records.format_registry import FORMATS, recognise
from urnscan.records.keys import kinds
from urnscan.records.marc_values import is_unimarc
from urnscan.records.record import description_of

CODED = "20260101d1998    m  y0frey50      ba"


def record(*fields):
    """Tags, indicators, and subfields, each with its code before it; of a control field its data."""
    made = pymarc.Record(force_utf8=True, leader="00000nam a2200000 c 4500")
    for tag, *rest in fields:
        if tag < "010":
            made.add_field(pymarc.Field(tag, data=rest[0]))
        else:
            held = [pymarc.Subfield(each[0], each[1:]) for each in rest[1:]]
            made.add_field(pymarc.Field(tag, pymarc.Indicators(*rest[0]), held))
    return made


def as_json(made):
    return json.dumps(made.as_dict(), indent=1).encode()


def as_lines(leader, control, data, blank, sign):
    """A function that writes a record in lines. `control`, `data`: formats of a field; `sign`: what stands before a code."""

    def write(made):
        lines = [leader.format(str(made.leader).replace(" ", blank))]
        for field in made.fields:
            if field.is_control_field():
                lines.append(control.format(field.tag, field.data.replace(" ", blank)))
            else:
                parts = "".join(
                    sign.format(part.code) + part.value.replace("$", "{dollar}") for part in field.subfields
                )
                lines.append(data.format(field.tag, "".join(field.indicators).replace(" ", blank)) + parts)
        return "".join(f"{line}\r\n" for line in lines).encode()

    return write


def as_oai_marc(made):
    """With what real ones have: numbers without zeros, quotes around fixed fields, and ^ as a blank."""
    root = etree.Element(
        "oai_marc", xmlns="http://www.openarchives.org/OAI/1.1/oai_marc", status="n", type="a", level="m"
    )
    for field in made.fields:
        if field.is_control_field():
            data = field.data.replace(" ", "^")
            etree.SubElement(root, "fixfield", id=field.tag.lstrip("0")).text = f'"{data}"'
        else:
            first, second = field.indicators
            held = etree.SubElement(root, "varfield", id=field.tag, i1=first, i2=second)
            for part in field.subfields:
                etree.SubElement(held, "subfield", label=part.code).text = part.value
    return etree.tostring(root)


WRITTEN = {
    "mrk": as_lines("=LDR  {}", "={}  {}", "={}  {}", "\\", "${}"),
    "marc-lines": as_lines("{}", "{} {}", "{} {}", " ", " ${} "),
    "aleph": as_lines("000000007 LDR   L {}", "000000007 {}   L {}", "000000007 {}{} L ", "^", "$${}"),
    "json": as_json,
    "jsonl": lambda made: json.dumps(made.as_dict()).encode() + b"\n",
    "marc": pymarc.Record.as_marc,
    "oai_marc": as_oai_marc,
    "marcxml": lambda made: pymarc.record_to_xml(made, namespace=True),
}
NAMES = {"oai_marc": "marcxml"}
every_way = pytest.mark.parametrize("written", WRITTEN)


def read(written, made, **options):
    (found,) = read_records(
        FORMATS[NAMES.get(written, written)].reader(**{"own": True} | options), WRITTEN[written](made)
    )
    return found


@pytest.mark.parametrize(
    ("tags", "general", "expected"),
    [
        (("001", "100", "245"), CODED, "marc"),  # nobody's 245 is in UNIMARC: 100 is not asked
        (("001", "100", "200"), "Wimpelfeld, A.", "unimarc"),
        (("100",), CODED, "unimarc"),
        (("100",), "19980101 Conference", "marc"),
        (("100",), "", "marc"),
        ((), "", "marc"),
        (("100", "200", "245"), CODED, "unimarc"),
        (("100", "200", "245"), "Wimpelfeld, A.", "marc"),
    ],
)
def test_family(tags, general, expected):
    fields = [f"  \x1fa{general}".encode() if tag == "100" else b"  \x1fa1" for tag in tags]
    ends = [*itertools.accumulate(map(len, fields), initial=0)]
    numbers = [*map(int, tags)]
    assert is_unimarc(b"".join(fields), numbers, ends, ends[1:], 0, len(tags)) is (expected == "unimarc")


@every_way
def test_unimarc(written):
    """Its own identifiers stand where MARC 21 has others: 010 is the ISBN, and no LCCN; 022 and 024 are no identifiers."""
    made = record(
        *[("001", "FRBNF1"), ("010", "  ", "a2-07-036001-6", "bbr.", "d12 EUR", "z2-07-036002-4")],
        *[("011", "  ", "a9299-4172"), ("013", "  ", "a979-0-2600-0043-8"), ("017", "70", "a10.5555/1", "2doi")],
        *[("022", "  ", "aFR", "b1998-1"), ("024", "7 ", "a10.5555/2", "2doi"), ("073", " 0", "a9782070360017")],
        *[("100", "  ", f"a{CODED}"), ("200", "1 ", "aInks")],
        *[("461", " 0", "x9299-4170"), ("856", "4 ", "uurn:x-y:1")],
    )
    assert list(read(written, made).own) == [
        Own("2-07-036001-6 (br.)", "isbn"),
        Own("9299-4172", "issn"),
        Own("979-0-2600-0043-8", "ismn"),
        Own("10.5555/1", "doi"),
        Own("9782070360017", "ean"),
        Own("urn:x-y:1"),
    ]


@every_way
def test_the_same_description(written):
    """In every way in which it is written: an article, a dollar and blanks that stand for something among it."""
    made = record(
        *[("001", "7"), ("008", "260101s2021    gw ||||| |||| 00||||ger  "), ("020", "  ", "a9783999990521")],
        *[
            ("245", "14", "aDie 5 $ Uhr :", "bRoman /", "cA. Wimpelfeld"),
            ("250", "  ", "a3. Aufl."),
            ("264", " 1", "c2021"),
        ],
    )
    if written == "marc-lines":  # nothing in them tells a dollar of the text from that of a subfield
        made["245"]["a"] = "Die 5$ Uhr :"
    found = read(written, made, described=True)
    title = f"\x98Die \x9c5{'' if written == 'marc-lines' else ' '}$ Uhr :\x1fRoman /"
    assert description_of(found.description) == Description(
        title,
        "2021",
        "3. Aufl.",
        format="print text book",
        level="1",
        language="ger",
        fields="6",
        responsibility="A. Wimpelfeld",
    )
    assert list(found.own) == [Own("9783999990521", "isbn")]


@every_way
def test_keys_of_unimarc(written):
    """003 is no institution but an address; the number of a bibliography has its country before it."""
    made = record(
        *[("001", "FRBNF1"), ("003", "http://catalogue.bnf.fr/ark:/12148/cb1"), ("010", "  ", "a2-07-036001-6")],
        *[("020", "  ", "aFR", "b01234567"), ("033", "  ", "ahttp://www.sudoc.fr/0123"), ("035", "  ", "a(OCoLC)123")],
        *[("100", "  ", f"a{CODED}"), ("200", "1 ", "aInks"), ("801", " 0", "aFR", "bBNF")],
    )
    found = read(written, made, own=False, keys=True)
    assert found.identifier == "FRBNF1"
    assert keys_of([kind for kind in kinds() if kind != "octets"], found) == [
        *["ark:12148/cb1", "nbn-number:01234567", "url:sudoc.fr/0123", "oclc:123"],
        *["agency:bnf/FRBNF1", "local:1:FRBNF1"],
    ]


@every_way
def test_records_of_both_families_in_one_dump(written):
    """Each is read by its own tables."""
    one = record(("001", "1"), ("010", "  ", "a2-07-036001-6"), ("200", "1 ", "aInks"))
    other = record(("001", "2"), ("010", "  ", "a85000002"), ("020", "  ", "a2-07-036001-6"), ("245", "10", "aInks"))
    number = iter((b"000000007", b"000000008", b"000000009"))
    dumps = [WRITTEN[written](each).replace(b"000000007", next(number)) for each in (one, other, one)]
    dump = (b"\n" if written == "marc-lines" else b"").join(dumps)
    found = read_records(FORMATS[NAMES.get(written, written)].reader(own=True), dump)
    assert [list(each.own) for each in found] == [[Own("2-07-036001-6", "isbn")]] * 3


def test_oai_marc_of_journals():
    """Open Journal Systems writes `tag` for `id` and `$a` for `a`; the kind of thing stands in an attribute."""
    content = (
        b'<oai_marc status="c" type="e" level="m" encLvl="3" xmlns="http://www.openarchives.org/OAI/1.1/oai_marc">'
        b'<varfield tag="245" ind1="0" ind2="0"><subfield label="$a">Inks</subfield></varfield>'
        b'<varfield tag="856" i1="4" i2="0"><subfield label="$u">urn:x-y:1</subfield></varfield></oai_marc>'
    )
    (found,) = read_records(FORMATS["marcxml"].reader(own=True, described=True), content)
    assert list(found.own) == [Own("urn:x-y:1")]
    assert description_of(found.description) == Description("Inks", format="map", level="5", fields="2")


class TestJson:
    """MARC-in-JSON: what is one record, and what only resembles it."""

    def test_a_single_record_is_not_cut_apart(self):
        """Its fields are an array of objects, but no records, whether the leader stands before them, behind them or is absent."""
        made = record(("001", "1"), ("024", "7 ", "aurn:x-y:1", "2urn"), ("245", "10", "aInks")).as_dict()
        for members in (made, dict(reversed(made.items())), {"fields": made["fields"]}):
            for content in (json.dumps(members, indent=1).encode(), json.dumps(members).encode() + b"\n"):
                format_ = recognise(buffer_of(content), "x.json")
                (found,) = read_records(format_.reader(own=True), content)
                assert (found.data, found.identifier) == (content.removesuffix(b"\n" * (format_.name != "jsonl")), "1")
                assert list(found.own) == [Own("urn:x-y:1", "urn")]

    @pytest.mark.parametrize(
        "content",
        [
            b'{"fields": [{"id": "isbn"}, {"id": "title"}], "isbn": "1"}',  # a description of columns
            b'{"fields": [], "isbn": "1"}',
            b'{"fields": [["001", "1"]], "isbn": "1"}',
            b'{"fields": {"001": "1"}, "isbn": "1"}',
            b'{"fields": [{"001": "1"}, {"title": "Inks"}], "isbn": "1"}',
        ],
    )
    def test_other_objects_are_read_by_their_names(self, content):
        (found,) = read_records(FORMATS["jsonl"].reader(own=True), content)
        assert list(found.own) == [Own("1", "isbn")]

    @pytest.mark.parametrize(
        "field",
        ['{"subfields": 1}', '{"subfields": [1, {"a": null}]}', '{"ind1": 7, "ind2": [1], "subfields": []}', "{}"],
    )
    def test_a_field_without_subfields_says_nothing(self, field):
        """And costs no other field."""
        content = b'{"fields": [{"024": %b}, {"020": {"subfields": [{"a": "1"}]}}]}' % field.encode()
        (found,) = read_records(FORMATS["jsonl"].reader(own=True, described=True, keys=True), content)
        assert list(found.own) == [Own("1", "isbn")]


@pytest.mark.parametrize("mark", ["\x1d", "\x1e", "\x1f", "\x1b"])
def test_separators_of_iso_2709_in_another_format_separate_nothing(mark):
    """They may stand in a text of JSON; a packed description has them between fields."""
    made = record(("001", "1"), ("020", "  ", "a9783161484100"), ("245", "10", f"aInks{mark}bPapers")).as_dict()
    (found,) = read_records(FORMATS["jsonl"].reader(own=True, described=True), json.dumps(made).encode())
    described = description_of(found.description)
    assert (" ".join((described.title or "").split()), list(found.own)) == (
        "Inks bPapers",
        [Own("9783161484100", "isbn")],
    )
