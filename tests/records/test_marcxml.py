"""Plain records of MARCXML say what lxml reads in them, also where compiled code reads many; any other is left to lxml."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import of_run
from urnscan.framing.buffer import LONGEST
from urnscan.records import xml_records
from urnscan.records.fields import Own
from urnscan.records.formats import description_of
from urnscan.records.marc_octets import LONGEST_PACKED
from urnscan.records.marc_runs import ALONE
from urnscan.records.marcxml_runs import fields_of
from urnscan.records.record import Cut, Record, Run
from urnscan.records.xml_records import XmlRecords

SLIM = "http://www.loc.gov/MARC21/slim"
AROUND = ("marcxml", f' xmlns="{SLIM}" xmlns:m="{SLIM}"'.encode(), "utf-8")

PLAIN = """<record type="Bibliographic">
  <leader>00000nam a2200000 c 4500</leader>
  <controlfield tag="001"> 12 </controlfield>
  <controlfield tag="003">DE-101</controlfield>
  <datafield tag="020" ind1=" " ind2=" "><subfield code="a">978-3-16-148410-0</subfield><subfield code="q">pbk.</subfield>
  </datafield>
  <datafield ind2="0" ind1="1" tag="245">
    <subfield code="a">Äpfel &amp; Birnen &lt;</subfield><subfield code="b"></subfield>
  </datafield>
  <datafield tag="999" ind1=" " ind2=" "><subfield code="a">&quot;&apos;&gt;</subfield></datafield>
</record>"""


def read(octets, *, plain):
    """The record, with its description unpacked; with `plain` as usual, else by lxml alone."""
    reader = XmlRecords(own=True, described=True, keys=True)
    with pytest.MonkeyPatch.context() as patch:
        if not plain:
            patch.setattr(xml_records, "plain_record", lambda *_: None)
        record = reader.record(Cut(0, octets, AROUND))
    return record._replace(description=description_of(record.description)) if isinstance(record, Record) else record


def is_plain(octets):
    reader = XmlRecords(own=True, described=True, keys=True)
    return xml_records.plain_record(octets, AROUND[1], reader._tables) is not None


def test_a_usual_record_is_read_by_the_pattern():
    """It has references, an empty subfield, attributes in another order: nothing of that needs a tree."""
    octets = PLAIN.encode()
    record = read(octets, plain=True)
    assert is_plain(octets)
    assert record == read(octets, plain=False)
    assert (record.identifier, record.description.title) == ("12", "Äpfel & Birnen <")
    assert Own("978-3-16-148410-0 (pbk.)", "isbn") in record.own
    prefixed = PLAIN.replace("</", "</m:").replace("<", "<m:").replace("<m:/m:", "</m:").encode()
    assert is_plain(prefixed)
    assert read(prefixed, plain=True)._replace(octets=octets) == record
    assert is_plain(PLAIN.replace("\n", "\r\n").encode())


ODD = {
    "a comment": ("</leader>", "</leader><!-- -->"),
    "an instruction": ("</leader>", "</leader><?x?>"),
    "a CDATA section": ("DE-101", "<![CDATA[DE-101]]>"),
    "text between fields": ("</leader>", "</leader>x"),
    "another element": ("</leader>", "</leader><other/>"),
    "the leader behind": ("</record>", "<leader/></record>"),
    "another prefix": ('<controlfield tag="003">DE-101</c', '<m:controlfield tag="003">DE-101</m:c'),
    "an unknown prefix": ("record>", "x:record>"),
    "a doubled attribute": ('tag="020"', 'tag="020" tag="020"'),
    "a reference of HTML": ("&amp;", "&nbsp;"),
    "a numeric reference": ("&amp;", "&#228;"),
    "an open reference": ("&amp;", "&amp"),
    "the end of a CDATA section": ("DE-101", "]]>"),
    "a control character": ("DE-101", "\x1e"),
    "a lone carriage return": ("DE-101", "\r"),
    "no character": ("DE-101", "\ufffe"),
    "no field with a title": ("245", "246"),
    "a title of both families": ("999", "200"),
    "a tag of four": ('"999"', '"9990"'),
    "a control field with the tag of a data field": ('tag="003"', 'tag="022"'),
    "a data field with the tag of a control field": ('tag="020"', 'tag="003"'),
    "a data field without subfields": ("</record>", '<datafield tag="020" ind1=" " ind2=" "/></record>'),
    "indicators of two": ('ind1="1"', 'ind1="11"'),
    "a code of two": ('code="q"', 'code="aq"'),
    "a code that is a reference": ('code="q"', 'code="&#97;"'),
    "an element in a subfield": ("978", "<b>978</b>"),
    "a subfield in a subfield": ("978", '<subfield code="a">978</subfield>'),
    "a long field": ("Birnen", "Birnen" * LONGEST_PACKED),
    "a leader that is not ASCII": ("nam", "näm"),
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_a_record_with_anything_else_is_left_to_lxml(change):
    """So it is read, or damaged, as before."""
    octets = PLAIN.replace(*change).encode()
    assert octets != PLAIN.encode()
    assert not is_plain(octets)
    assert read(octets, plain=True) == read(octets, plain=False)


@pytest.mark.parametrize("octets", [b"\xff", b"\xe4", b"\xed\xa0\x80", b"\xc3"])
def test_a_record_that_is_not_utf_8_is_left_to_lxml(octets):
    """Octets that are no UTF-8 become U+FFFD, as in any record in XML."""
    changed = PLAIN.encode().replace(b"DE-101", octets)
    assert not is_plain(changed)
    assert read(changed, plain=True) == read(changed, plain=False)


USUAL = PLAIN.replace('ind2="0" ind1="1" tag="245"', 'tag="245" ind1="1" ind2="0"')
START = '<record type="Bibliographic">'


def run_of(records):
    """Records that are found together, with white space between them."""
    octets = b"\n ".join(records)
    lengths = np.array([len(record) for record in records])
    starts = np.cumsum([0, *lengths[:-1] + 2])
    return Run(0, octets, starts, starts + lengths, AROUND)


def taken(records, *, start=START, prefix=""):
    """Which records compiled code takes apart."""
    tables, _ = XmlRecords(own=True, described=True, keys=True)._tables.compiled()
    _, fields, _ = fields_of(run_of(records), start.encode(), prefix.encode(), tables)
    return [family != ALONE for family in fields.families]


def agree(records):
    """Records that are read together are those that are read one by one. Returns which compiled code takes."""
    reader, run = XmlRecords(own=True, described=True, keys=True), run_of(records)
    assert of_run(reader, run) == [reader.record(cut) for cut in run.cuts()]
    by_code = taken(records)
    assert not [octets for octets, is_taken in zip(records, by_code, strict=True) if is_taken and not is_plain(octets)]
    return by_code


USUAL_CHANGES = {
    "nothing": ("", ""),
    "other white space": ("\n", "\n\t "),
    "no white space": (">\n", ">"),
    "two octets at the end of a line": ("\n", "\r\n"),
    "another title": ("245", "200"),
    "a tag with letters": ("999", "CAT"),
    "indicators that are no letters": ('"999" ind1=" " ind2=" "', '"999" ind1="|" ind2="#"'),
    "a character near to those that are none": ("DE-101", "\uf8ff\ufb01"),
    "signs in a text": ("DE-101", "] >\"'[="),
    "a long field that nothing asks for": ("&quot;", "Birnen" * LONGEST_PACKED),
    "a control number that is blank": (" 12 ", " \n"),
}


@pytest.mark.parametrize("change", USUAL_CHANGES.values(), ids=USUAL_CHANGES)
def test_compiled_code_reads_records_in_their_most_usual_form(change):
    """Most records of a dump are so: read by the pattern, they took twenty times as long."""
    octets = USUAL.replace(*change).encode()
    assert change[0] in USUAL
    assert agree([octets, USUAL.encode(), octets]) == [True] * 3


def test_compiled_code_reads_records_with_a_prefix():
    """All elements have that of the start tag."""
    prefixed, start = (
        text.replace("</", "</m:").replace("<", "<m:").replace("<m:/m:", "</m:") for text in (USUAL, START)
    )
    assert agree([prefixed.encode()] * 2) == [False] * 2  # with another start tag
    assert taken([prefixed.encode(), USUAL.encode()], start=start, prefix="m:") == [True, False]


RARE = {
    **ODD,
    "an attribute more": ('tag="020"', 'id="a" tag="020"'),
    "attributes in another order": ('tag="245" ind1="1"', 'ind1="1" tag="245"'),
    "another quote": ('tag="020"', "tag='020'"),
    "white space in a tag": ("</leader>", "</leader >"),
    "no leader": ("<leader>00000nam a2200000 c 4500</leader>", ""),
    "two leaders": ("<leader>", "<leader></leader><leader>"),
    "a leader behind a field": ("</record>", "<leader></leader></record>"),
    "two control numbers": ('tag="003"', 'tag="001"'),
    "a leader as a field": ("999", "LDR"),
    "no indicator": ('ind1="1"', 'ind1=""'),
    "a reference as an indicator": ('ind1="1"', 'ind1="&lt;"'),
    "a wrong start tag": ("<record", "<xrecord"),
    "another start tag": ("Bibliographic", "Holdings"),
    "a wrong end tag": ("</record>", "</xrecord>"),
    "an end tag with white space": ("</record>", "</record >"),
    "a whole record inside": ("</record>", f"{USUAL}</record>"),
    "octets behind": ("</record>", "</record>x"),
    "no UTF-8": ("DE-101", "\udcff"),
}


@pytest.mark.parametrize("change", RARE.values(), ids=RARE)
def test_compiled_code_leaves_any_other_record_alone(change):
    """It reads those before and behind it all the same."""
    assert change[0] in USUAL
    octets = USUAL.replace(*change).encode(errors="surrogateescape")
    assert agree([USUAL.encode(), octets, USUAL.encode()]) == [True, False, True]


def test_records_that_are_read_together_have_no_descriptions_where_none_are_wanted():
    """Formats of things stood in the table of clusters, and only for such records."""
    run = run_of([USUAL.encode()] * 2)
    described, bare = (XmlRecords(own=True, described=is_wanted).columns(run) for is_wanted in (True, False))
    assert [description_of(each).title for each in described.descriptions.to_pylist()] == ["Äpfel & Birnen <"] * 2
    assert bare.descriptions.to_pylist() == [b""] * 2


def test_a_start_tag_with_what_may_be_no_character_is_left_to_lxml():
    """U+FFFD begins like U+FFFE, which is no character, in octets."""
    octets = USUAL.replace("Bibliographic", "Biblio\ufffdgraphic").encode()
    assert agree([octets] * 2) == [False] * 2
    assert not is_plain(octets)


MARKUP = "]]> <!-- --> <subfield> </subfield> <record> </record> </datafield> xmlns='x' m: code=\"a\" &amp; &#9; 020 00"
pieces = st.sampled_from([*"<>&;\"'/=! \t\n\r\x7f\x85\ufffd\U0001fffe", *MARKUP.split()])


@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(PLAIN)), st.integers(0, 12), st.lists(pieces, max_size=2)), max_size=3
    ),
    has_title=st.booleans(),
)
def test_the_pattern_and_lxml_agree_on_any_octets(changes, has_title):
    """A record whose octets are changed at some places says the same by the pattern as by lxml, or is damaged by both."""
    text = PLAIN if has_title else PLAIN.replace("245", "200")
    for at, dropped, put in changes:
        text = text[:at] + "".join(put) + text[at + dropped :]
    octets = text.encode()
    assert len(octets) < LONGEST
    try:
        expected = read(octets, plain=False)
    except IndexError:  # no element at all: no reader cuts such a record
        return
    assert read(octets, plain=True) == expected


@given(
    changes=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, len(USUAL)), st.integers(0, 12), st.lists(pieces, max_size=2)),
        max_size=4,
    )
)
def test_compiled_code_and_the_pattern_agree_on_any_octets(changes):
    """Some of three records are changed at some places. Whatever compiled code reads says the same by the pattern."""
    texts = [USUAL] * 3
    for which, at, dropped, put in changes:
        texts[which] = texts[which][:at] + "".join(put) + texts[which][at + dropped :]
    try:
        by_code = agree([text.encode() for text in texts])
    except IndexError:  # no element at all: no reader cuts such a record
        return
    assert by_code[0] or texts[0] != USUAL


FIELD = '<datafield tag="245" ind1=" " ind2=" ">'
SUBFIELD = '<subfield code="a">'


@pytest.mark.full
@pytest.mark.parametrize("head", ["", "<leader>", '<controlfield tag="001">', FIELD, FIELD + SUBFIELD])
@pytest.mark.timeout(10)
def test_hostile_records_take_linear_time(head):
    """The pattern is tried at each beginning of a field: one that went on to the end each time would take hours."""
    units = [
        FIELD,
        SUBFIELD,
        f"{SUBFIELD}x</subfield>",
        f"{FIELD}{SUBFIELD}x</subfield>",
        "<",
        "&",
        "&amp;",
        " ",
        "a",
        "a ",
        ">",
    ]
    for unit in units:
        octets = f"<record>{head}{unit * (500_000 // len(unit))}</record>".encode()
        assert not is_plain(octets)
