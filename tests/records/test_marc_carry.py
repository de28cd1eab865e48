"""Fields carried from one record of MARC to another: what goes where, and that other programs read the result."""

from __future__ import annotations

import io
import re

import pymarc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.support.examples import FEW
from urnscan.records.marc_carry import NotChangedError, fields_of, with_fields

SLIM = "http://www.loc.gov/MARC21/slim"
TAGS = ["035", "245", "500", "852", "856"]
texts = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1, max_size=30)
fields = st.lists(
    st.tuples(st.sampled_from(TAGS), st.lists(st.tuples(st.sampled_from("abu9"), texts), min_size=1, max_size=3)),
    max_size=6,
)


def record_of(listed, leader_9="a"):
    record = pymarc.Record(force_utf8=leader_9 == "a", leader=f"00000nam {leader_9}2200000 a 4500")
    record.add_field(pymarc.Field(tag="001", data="x1"))
    for tag, subfields in sorted(listed, key=lambda each: each[0]):
        record.add_field(
            pymarc.Field(
                tag=tag,
                indicators=pymarc.Indicators("4", " "),
                subfields=[pymarc.Subfield(code, text) for code, text in subfields],
            )
        )
    return record


def iso(listed, leader_9="a"):
    content = record_of(listed, leader_9).as_marc()
    return content[:9] + leader_9.encode() + content[10:]


def xml(listed, *, prefix=""):
    root = etree.Element(f"{{{SLIM}}}collection", nsmap={prefix or None: SLIM})
    root.append(etree.fromstring(pymarc.record_to_xml(record_of(listed), namespace=True)))
    etree.indent(root)
    whole = etree.tostring(root, encoding="utf-8")
    begin = re.search(rb"<(?:\w+:)?record", whole).start()
    end = whole.rindex(b"record>") + len(b"record>")
    return whole[:begin], whole[begin:end], whole[end:]


def held(record):
    return [
        (field.tag, [*field.indicators], [(each.code, each.value) for each in field.subfields])
        for field in record.fields
        if not field.is_control_field()
    ]


def read(content):
    (record,) = pymarc.MARCReader(content, permissive=False)
    return record


def expected(kept, removed, tags):
    """All fields of the kept record in their order, and those of the removed one that it does not have."""
    return [field for at, field in enumerate(removed) if field[0] in tags and field not in kept + removed[:at]]


class TestISO2709:
    @FEW
    @given(fields, fields, st.sets(st.sampled_from(TAGS)))
    def test_pymarc_reads_what_is_written(self, kept, removed, tags):
        """Nothing of the kept record is lost or moved; each field that only the other has is there once, by its tag."""
        before = iso(kept)
        changed, count = with_fields("marc", before, fields_of("marc", iso(removed), tags))
        now, was = held(read(changed)), held(read(before))
        new = expected(was, held(read(iso(removed))), tags)
        assert count == len(new)
        assert [field for field in now if field in was] == was
        assert sorted(map(repr, now)) == sorted(map(repr, was + new))
        assert [field[0] for field in now] == sorted(field[0] for field in now)
        assert int(changed[:5]) == len(changed)
        if not new:
            assert changed == before

    @pytest.mark.parametrize(("leader_9", "other", "text"), [(" ", "a", "Färbung"), ("a", " ", "F\xe8arbung")])
    def test_between_encodings_only_ascii(self, leader_9, other, text):
        """MARC-8 in a record of UTF-8, or the other way, would be read wrongly."""
        kept = iso([("245", [("a", "Ink")])], leader_9)
        plain = fields_of("marc", iso([("856", [("u", "http://a.example/")])], other), ["856"])
        assert with_fields("marc", kept, plain)[1] == 1
        removed = iso([("856", [("z", "X")])], other)
        content = text.encode("utf-8" if other == "a" else "latin-1")
        longer = removed.replace(b"\x1fzX", b"\x1fz" + content)
        body = bytearray(longer)
        body[0:5] = b"%05d" % len(longer)
        at = longer.index(b"856")
        body[at + 3 : at + 7] = b"%04d" % (int(longer[at + 3 : at + 7]) + len(content) - 1)
        with pytest.raises(NotChangedError, match="field 856 has another encoding"):
            with_fields("marc", kept, fields_of("marc", bytes(body), ["856"]))

    def test_a_record_that_would_be_too_long(self):
        """Five digits count its bytes."""
        kept = iso([("500", [("a", "x" * 9000)])] * 11)
        with pytest.raises(NotChangedError, match=r"it exceeds ISO 2709 \(99,999 bytes"):
            with_fields("marc", kept, fields_of("marc", iso([("500", [("a", "y" * 1000)])]), ["500"]))

    @pytest.mark.parametrize("damage", [(24 + 3, b"9"), (24 + 12 + 7, b"00004"), (10, b"33"), (-1, b" ")])
    def test_a_record_whose_directory_lies_is_not_changed(self, damage):
        at, content = damage
        kept = bytearray(iso([("245", [("a", "Ink")])]))
        kept[at : at + len(content) if at >= 0 else None] = content
        with pytest.raises(NotChangedError):
            with_fields("marc", bytes(kept), fields_of("marc", iso([("856", [("u", "x")])]), ["856"]))


class TestMARCXML:
    @FEW
    @given(fields.filter(bool), fields.filter(bool), st.sampled_from(["", "m"]), st.sampled_from(["", "marc"]))
    def test_pymarc_reads_what_is_written(self, kept, removed, prefix, other_prefix):
        """With other prefixes and in any characters; it is still XML."""
        before, content, behind = xml(kept, prefix=prefix)
        _, other, _ = xml(removed, prefix=other_prefix)
        changed, count = with_fields("marcxml", content, fields_of("marcxml", other, TAGS))
        (now,) = pymarc.parse_xml_to_array(io.BytesIO(before + changed + behind))
        (was,) = pymarc.parse_xml_to_array(io.BytesIO(before + content + behind))
        new = expected(held(was), held(record_of(removed)), TAGS)
        assert count == len(new)
        assert [field for field in held(now) if field in held(was)] == held(was)
        assert sorted(map(repr, held(now))) == sorted(map(repr, held(was) + new))

    def test_white_space_and_attributes(self):
        """A new field looks like its neighbour."""
        _, content, _ = xml([("245", [("a", "Ink")])], prefix="m")
        field = fields_of("marc", iso([("856", [("u", "http://a.example/?a&b"), ("z", "é")])]), ["856"])
        assert with_fields("marcxml", content, field)[0].decode() == content.decode().replace(
            "</m:datafield>",
            "</m:datafield>\n"
            '    <m:datafield tag="856" ind1="4" ind2=" ">\n'
            '      <m:subfield code="u">http://a.example/?a&amp;b</m:subfield>\n'
            '      <m:subfield code="z">&#233;</m:subfield>\n'
            "    </m:datafield>",
        )

    def test_comments_and_cdata(self):
        content = (
            b'<record><!-- <datafield tag="856"><subfield code="u">no</subfield></datafield> -->'
            b'<datafield tag="856" ind1="4" ind2="0"><subfield code="u"><![CDATA[a&b]]></subfield></datafield></record>'
        )
        (field,) = fields_of("marcxml", content, ["856"])
        assert field.data == b"40\x1fua&b"

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"<record/>", "it has no datafield"),
            (b'<record><datafield tag="856"><b>x</b></datafield></record>', "holds more than subfields"),
            (
                b'<record><datafield tag="856"><subfield code="u">\xe9</subfield></datafield></record>',
                "cannot be read as XML",
            ),
            (b'<record><datafield tag="856"><subfield code="u">x</subfield></record>', "is not closed"),
        ],
    )
    def test_what_cannot_be_taken(self, content, reason):
        with pytest.raises(NotChangedError, match=reason):
            fields_of("marcxml", content, ["856"])

    def test_characters_that_xml_cannot_hold(self):
        _, content, _ = xml([("245", [("a", "Ink")])])
        with pytest.raises(NotChangedError, match="characters that XML cannot hold"):
            with_fields("marcxml", content, fields_of("marc", iso([("856", [("u", "a\x1bb")])], " "), ["856"]))
