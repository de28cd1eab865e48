"""MARCXML that compiled code reads gives what lxml gives; all other records are left to lxml."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import refuse
from urnscan.records.fields import Own
from urnscan.records.marc_runs import REFUSED
from urnscan.records.marcxml_runs import fields_of
from urnscan.records.record import Run, description_of
from urnscan.records.record_columns import read_columns
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


ODD = {
    "a comment": ("</leader>", "</leader><!-- -->"),
    "an instruction": ("</leader>", "</leader><?x?>"),
    "a CDATA section": ("DE-101", "<![CDATA[DE-101]]>"),
    "text between fields": ("</leader>", "</leader>x"),
    "another element": ("</leader>", "</leader><other/>"),
    "another prefix": ('<controlfield tag="003">DE-101</c', '<m:controlfield tag="003">DE-101</m:c'),
    "an unknown prefix": ("record>", "x:record>"),
    "a doubled attribute": ('tag="020"', 'tag="020" tag="020"'),
    "a reference of HTML": ("&amp;", "&nbsp;"),
    "a number of no character": ("&amp;", "&#xD800;"),
    "a number of a control character": ("&amp;", "&#31;"),
    "a number without an end": ("&amp;", "&#228"),
    "an open reference": ("&amp;", "&amp"),
    "the end of a CDATA section": ("DE-101", "]]>"),
    "a control character": ("DE-101", "\x1e"),
    "a lone carriage return": ("DE-101", "\r"),
    "no character": ("DE-101", "\ufffe"),
    "a tag between indicators": ('tag="020" ind1=" "', 'ind1=" " tag="020"'),
    "a tag of four": ('"999"', '"9990"'),
    "a control field with the tag of a data field": ('tag="003"', 'tag="022"'),
    "a data field with the tag of a control field": ('tag="020"', 'tag="003"'),
    "a data field without subfields": ("</record>", '<datafield tag="020" ind1=" " ind2=" "/></record>'),
    "indicators of two": ('ind1="1"', 'ind1="11"'),
    "a code of two": ('code="q"', 'code="aq"'),
    "a code that is a reference": ('code="q"', 'code="&#97;"'),
    "an element in a subfield": ("978", "<b>978</b>"),
    "a subfield in a subfield": ("978", '<subfield code="a">978</subfield>'),
}


USUAL = PLAIN.replace('ind2="0" ind1="1" tag="245"', 'tag="245" ind1="1" ind2="0"')


def run_of(records):
    """Records that are found together, with white space between them."""
    data = b"\n ".join(records)
    lengths = np.array([len(record) for record in records])
    starts = np.cumsum([0, *lengths[:-1] + 2])
    return Run(0, data, starts, starts + lengths, AROUND)


def taken(records):
    """Which records compiled code takes apart."""
    return [total != REFUSED for total in fields_of(run_of(records), AROUND[1]).totals]


def read(records, *, own=True):
    """What records say that are read together: names, texts, own identifiers, descriptions; and the damaged ones."""
    columns = read_columns(XmlRecords(own=own, described=True, keys=True), [run_of(records)])
    texts = sorted(
        (at, text) for each in columns.texts for at, text in zip(each.record, each.texts.to_pylist(), strict=True)
    )
    own_of_each = [dict.fromkeys(own) for own in columns.own_of_each()]
    described = [*map(description_of, columns.descriptions.to_pylist())]
    return columns.identifiers.to_pylist(), texts, own_of_each, described, columns.damaged


def agree(records):
    """Records say the same if lxml reads all. Returns which compiled code takes apart."""
    with pytest.MonkeyPatch.context() as patch:
        by_code = [read(records, own=own) for own in (True, False)]
        patch.setattr(XmlRecords, "fields_of", refuse)
        assert by_code == [read(records, own=own) for own in (True, False)]
    return taken(records)


def test_what_a_usual_record_says():
    """It has references, an empty subfield, a qualifier."""
    (name,), _, (own,), (description,), _ = read([USUAL.encode()])
    assert (name, description.title) == ("12", "Äpfel & Birnen <")
    assert Own("978-3-16-148410-0 (pbk.)", "isbn") in own


USUAL_CHANGES = {
    "nothing": ("", ""),
    "the order of pymarc": ('tag="245" ind1="1" ind2="0"', 'ind1="1" ind2="0" tag="245"'),
    "numbers of characters": ("&amp;", "&#9;&#38;&#xe4;&#x20AC;&#128512;"),
    "what looks like a value in single quotation marks": ("<leader>", "<leader>xmlns='x'"),
    "other white space": ("\n", "\n\t "),
    "no white space": (">\n", ">"),
    "two bytes at the end of a line": ("\n", "\r\n"),
    "another title": ("245", "200"),
    "a tag with letters": ("999", "CAT"),
    "indicators that are no letters": ('"999" ind1=" " ind2=" "', '"999" ind1="|" ind2="#"'),
    "a character near to those that are none": ("DE-101", "\uf8ff\ufb01"),
    "signs in a text": ("DE-101", "] >\"'[="),
    "a long field": ("Birnen", "Birnen" * 2_000),
    "no field with a title": ("245", "246"),
    "a title of both families": ("999", "200"),
    "a leader that is not ASCII": ("nam", "näm"),
    "no leader": ("<leader>00000nam a2200000 c 4500</leader>", ""),
    "two leaders": ("<leader>", "<leader></leader><leader>"),
    "a leader behind a field": ("</record>", "<leader></leader></record>"),
    "two control numbers": ('tag="003"', 'tag="001"'),
    "a control number that is blank": (" 12 ", " \n"),
}


@pytest.mark.parametrize("change", USUAL_CHANGES.values(), ids=USUAL_CHANGES)
def test_compiled_code_reads_records_in_their_most_usual_form(change):
    """Most records of a dump are so: lxml takes thirty times as long."""
    data = USUAL.replace(*change).encode()
    assert change[0] in USUAL
    assert agree([data, USUAL.encode(), data]) == [True] * 3


def test_compiled_code_reads_records_with_a_prefix():
    """All elements have that of the start tag."""
    prefixed = USUAL.replace("</", "</m:").replace("<", "<m:").replace("<m:/m:", "</m:")
    assert agree([prefixed.encode(), USUAL.encode(), prefixed.encode()]) == [True, False, True]


RARE = {
    "a leader without text": ("</record>", "<leader/></record>"),
    **ODD,
    "an attribute more": ('tag="020"', 'id="a" tag="020"'),
    "attributes in another order": ('tag="245" ind1="1"', 'ind1="1" tag="245"'),
    "another quote": ('tag="020"', "tag='020'"),
    "white space in a tag": ("</leader>", "</leader >"),
    "a leader as a field": ("999", "LDR"),
    "a control byte as a code": ('code="q"', 'code="\x03"'),
    "a control byte as an indicator": ('ind1="1"', 'ind1="\x02"'),
    "no indicator": ('ind1="1"', 'ind1=""'),
    "a reference as an indicator": ('ind1="1"', 'ind1="&lt;"'),
    "a wrong start tag": ("<record", "<xrecord"),
    "another start tag": ("Bibliographic", "Holdings"),
    "a wrong end tag": ("</record>", "</xrecord>"),
    "an end tag with white space": ("</record>", "</record >"),
    "a whole record inside": ("</record>", f"{USUAL}</record>"),
    "bytes behind": ("</record>", "</record>x"),
    "no UTF-8": ("DE-101", "\udcff"),
}


@pytest.mark.parametrize("change", RARE.values(), ids=RARE)
def test_compiled_code_leaves_any_other_record_alone(change):
    """It reads those before and behind it all the same."""
    assert change[0] in USUAL
    data = USUAL.replace(*change).encode(errors="surrogateescape")
    assert agree([USUAL.encode(), data, USUAL.encode()]) == [True, False, True]


def test_records_have_no_descriptions_where_none_are_wanted():
    """Formats of things stood in the table of clusters, and only for such records."""
    columns = read_columns(XmlRecords(own=True), [run_of([USUAL.encode()] * 2)])
    assert columns.descriptions.to_pylist() == [b""] * 2


@pytest.mark.parametrize("data", ["Biblio\ufffdgraphic", "Biblio' x='graphic"])
def test_an_unusual_start_tag_is_left_to_lxml(data):
    """U+FFFD begins like U+FFFE, which is no character, in bytes. An apostrophe would be read as one in a URN."""
    data = USUAL.replace("Bibliographic", data).encode()
    assert agree([data] * 2) == [False] * 2


MARKUP = "]]> <!-- --> <subfield> </subfield> <record> </record> </datafield> xmlns='x' m: code=\"a\" &amp; &#9; 020 00"
pieces = st.sampled_from([*"<>&;\"'/=! \t\n\r\x7f\x85\ufffd\U0001fffe", *MARKUP.split()])


@given(
    changes=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, len(USUAL)), st.integers(0, 12), st.lists(pieces, max_size=2)),
        max_size=4,
    )
)
def test_compiled_code_and_lxml_agree_on_any_bytes(changes):
    """Some of three records are changed at some places. Whatever compiled code takes apart says the same by lxml, or is damaged."""
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
    """Half a megabyte that begins over and over."""
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
        data = f"<record>{head}{unit * (500_000 // len(unit))}</record>".encode()
        assert taken([data]) == [unit == " " and not head]
