"""Plain records of MARCXML say what lxml reads in them; any other is left to lxml."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.framing.buffer import LONGEST
from urnscan.records import xml_records
from urnscan.records.fields import Own
from urnscan.records.formats import description_of
from urnscan.records.marc_octets import LONGEST_PACKED
from urnscan.records.record import Cut, Record
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


FIELD = '<datafield tag="245" ind1=" " ind2=" ">'
SUBFIELD = '<subfield code="a">'


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
