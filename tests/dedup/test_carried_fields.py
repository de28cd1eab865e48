"""Fields of removed records in the dump without duplicates: which, where, and what is told."""

from __future__ import annotations

import io
import shutil
import subprocess

import pymarc
import pytest

import urnscan
from tests.records.test_marc_carry import iso, xml
from urnscan.errors import ArgumentError, FatalError

ISBN = ("020", [("a", "9780395363416")])
ONE = [ISBN, ("035", [("a", "(OCoLC)1")]), ("245", [("a", "Ink")]), ("852", [("a", "DE-1")])]
TWO = [
    ISBN,
    ("035", [("a", "(OCoLC)1")]),
    ("245", [("a", "Ink")]),
    ("852", [("a", "DE-2")]),
    ("856", [("u", "http://b/")]),
]
THREE = [ISBN, ("245", [("a", "Ink")]), ("852", [("a", "DE-2")]), ("856", [("u", "http://c/é")])]


def read(path):
    with path.open("rb") as file:
        return [
            [(each.tag, each.subfields[0].value) for each in record.fields if not each.is_control_field()]
            for record in pymarc.MARCReader(file, permissive=False)
        ]


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "dump.mrc"
    path.write_bytes(iso(ONE) + iso(TWO) + iso([("245", [("a", "Paper")])]) + iso(THREE))
    return path


class TestMARC:
    def test_each_field_once_by_its_tag(self, dump, tmp_path):
        """What the kept record has is not doubled; what two removed ones have is there once; others are as they were."""
        out, removed = tmp_path / "out.mrc", tmp_path / "removed.mrc"
        found = urnscan.deduplicate(
            dump,
            keep="first",
            deduplicated=out,
            removed=removed,
            carry=["035", "852", "856"],
            mapping=tmp_path / "m.csv",
        )
        assert read(out) == [
            [
                *(("020", "9780395363416"), ("035", "(OCoLC)1"), ("245", "Ink")),
                *(("852", "DE-1"), ("852", "DE-2"), ("856", "http://b/"), ("856", "http://c/é")),
            ],
            [("245", "Paper")],
        ]
        assert (found.report.carried, list(found.report.not_carried)) == (3, [])
        assert removed.read_bytes() == iso(TWO) + iso(THREE)

    @pytest.mark.skipif(shutil.which("yaz-marcdump") is None, reason="yaz is not installed")
    def test_yaz_reads_it(self, dump, tmp_path):
        out = tmp_path / "out.mrc"
        urnscan.deduplicate(dump, deduplicated=out, carry=["856"])
        done = subprocess.run(["yaz-marcdump", "-n", "-p", out], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert "Warning" not in done.stdout
        assert "Separator" not in done.stdout

    def test_nothing_to_carry_is_the_same_dump(self, dump, tmp_path):
        plain, carried = tmp_path / "plain.mrc", tmp_path / "carried.mrc"
        urnscan.deduplicate(dump, deduplicated=plain)
        assert urnscan.deduplicate(dump, deduplicated=carried, carry="999").report.carried == 0
        assert carried.read_bytes() == plain.read_bytes()

    def test_another_encoding_is_told(self, tmp_path):
        """A record that cannot take a field stays as it is, whole, and the line names it."""
        dump, out = tmp_path / "dump.mrc", tmp_path / "out.mrc"
        kept = iso(ONE, " ")
        dump.write_bytes(kept + iso(THREE))
        found = urnscan.deduplicate(dump, keep="first", deduplicated=out, carry="856")
        assert out.read_bytes() == kept
        ((name, reason),) = found.report.not_carried
        assert name == f"{dump}: record 1"
        assert reason == "no fields are copied into it: field 856 has another encoding"


def test_marcxml_and_iso_2709(tmp_path):
    """A field goes from one format to the other; the wrapper stays."""
    before, one, behind = xml(ONE)
    a, b, out = tmp_path / "a.xml", tmp_path / "b.mrc", tmp_path / "out"
    a.write_bytes(before + one + behind)
    b.write_bytes(iso(THREE))
    out.mkdir()
    report = urnscan.deduplicate([a, b], deduplicated=out, carry=["852", "856"]).report
    (record,) = pymarc.parse_xml_to_array(io.BytesIO((out / "a.xml").read_bytes()))
    assert [each.subfields[0].value for each in record.get_fields("852", "856")] == ["DE-1", "DE-2", "http://c/é"]
    assert report.carried == 2
    assert (out / "a.xml").read_bytes().startswith(before)


class TestOption:
    @pytest.mark.parametrize(
        ("tags", "reason"), [("001", "control fields"), ("8565", "name tags of MARC"), ("8:6", "name tags")]
    )
    def test_bad_tags(self, dump, tags, reason):
        with pytest.raises(ArgumentError, match=reason):
            urnscan.deduplicate(dump, carry=tags)

    def test_without_a_dump_to_write(self, dump):
        with pytest.raises(FatalError, match="carry needs deduplicated"):
            urnscan.deduplicate(dump, carry="856")

    def test_other_formats(self, tmp_path):
        dump = tmp_path / "a.csv"
        dump.write_text("id,isbn\n1,9780395363416\n2,9780395363416\n")
        with pytest.raises(FatalError, match="needs a dump in MARC"):
            urnscan.deduplicate(dump, carry="856", deduplicated=tmp_path / "b.csv")
        assert not (tmp_path / "b.csv").exists()
