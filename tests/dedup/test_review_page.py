"""The page of records in doubt: the table of --review and the records, as a file that any browser opens."""

import json
import subprocess
import sys

import pymarc
import pytest

import urnscan
from tests.support.reviews import blocks, shelf
from urnscan.dedup.review import page as review_page
from urnscan.errors import FatalError


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "shelf.csv"
    path.write_text(shelf())
    return path


def page_of(*dumps, to, **options):
    report = urnscan.deduplicate(*dumps, review=to, force=True, **options).report
    return to.read_text(), report


def test_the_page_holds_the_table(dump, tmp_path, monkeypatch):
    """All blocks together are the file that --review FILE.csv writes; so its rows go back to --decisions unchanged."""
    page_of(dump, to=tmp_path / "table.csv")
    for size in (1, 1 << 20):
        monkeypatch.setattr(review_page, "_BLOCK", size)
        page, _ = page_of(dump, to=tmp_path / "page.html")
        assert b"".join(blocks(page, "rows")) == (tmp_path / "table.csv").read_bytes()
        assert len(blocks(page, "records")) == (5 if size == 1 else 1)


def test_no_text_of_a_dump_is_markup(dump, tmp_path):
    """Titles stand in deflated blocks only, and the page allows no script but its own."""
    page, _ = page_of(dump, to=tmp_path / "page.html")
    assert "alert" not in page
    assert "script-src 'sha256-" in page
    assert "5 groups with 15 records" in page


def test_records_of_all_forms_of_marc_are_compared_field_by_field(tmp_path):
    """A record in ISO 2709 and one in MARCXML with a prefix differ in the fields that differ, and in nothing else."""
    records = []
    for edition in ("First edition", "2nd edition"):
        record = pymarc.Record(force_utf8=True, leader="00000nam a2200000 a 4500")
        fields = {"020": "9780306406157", "245": "Caf\u00e9 lamps", "250": edition}
        for tag, value in fields.items():
            record.add_field(pymarc.Field(tag, pymarc.Indicators(" ", " "), [pymarc.Subfield("a", value)]))
        records.append(record)
    plain, xml = tmp_path / "a.mrc", tmp_path / "b.xml"
    plain.write_bytes(records[0].as_marc())
    text = pymarc.record_to_xml(records[1]).decode().replace("<", "<m:").replace("<m:/", "</m:")
    xml.write_text(f'<m:collection xmlns:m="http://www.loc.gov/MARC21/slim">{text}</m:collection>')
    page, report = page_of(plain, xml, to=tmp_path / "page.html")
    assert report.apart == 2
    (held,) = blocks(page, "records")
    shown = [
        {"".join(line[1::2]): line[0] for line in lines if not line[1].startswith("LDR")}
        for _, *lines in json.loads(held)
    ]
    assert shown == [
        {"020    $a 9780306406157": 1, "245    $a Caf\u00e9 lamps": 1, "250    $a First edition": 0},
        {"020    $a 9780306406157": 1, "245    $a Caf\u00e9 lamps": 1, "250    $a 2nd edition": 0},
    ]
    assert "9780306406157" in [
        line[at] for _, *lines in json.loads(held) for line in lines for at in range(1, len(line), 2)
    ]


def test_nothing_is_in_doubt(tmp_path):
    dump = tmp_path / "shelf.csv"
    dump.write_text("id,isbn,title\n1,9780306406157,Lamps\n2,0306406152,Lamps\n")
    page, _ = page_of(dump, to=tmp_path / "page.html")
    assert "There are none" in page
    assert "<script" not in page


def test_the_same_page_again(dump, tmp_path):
    """A page has no date and no name of the machine."""
    pages = [page_of(dump, to=tmp_path / name)[0] for name in ("one.html", "two.html")]
    assert pages[0] == pages[1]


def test_a_dump_that_changes_meanwhile_ends_the_run(dump, tmp_path, monkeypatch):
    """Nobody is shown one record and decides about another; no page is left."""
    monkeypatch.setattr(review_page, "digest_of", lambda _: 0)
    with pytest.raises(FatalError, match="has changed during the run"):
        page_of(dump, to=tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.full
def test_out_of_a_pipe(dump, tmp_path):
    """The command shows records that come from standard input, too."""
    command = [sys.executable, "-m", "urnscan", "dedup", "-", "--fields", "--review", "page.html"]
    subprocess.run(command, input=dump.read_bytes(), cwd=tmp_path, check=True)
    assert len(json.loads(blocks((tmp_path / "page.html").read_text(), "records")[0])) == 15
