"""The page of records in doubt: the table of --review and the records, as a file that any browser opens."""

import csv
import io
import json
import subprocess
import sys

import pymarc
import pytest

import urnscan
from tests.support.reviews import blocks, shelf
from urnscan.dedup.review import page as review_page
from urnscan.dedup.review import review_table
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


CARDS = """id,title,author,year,isbn,edition
c1,Invented inks,"Wimpelfeld, Ansgar",1998,9780306406157,1st ed.
c2,Invented Inks.,Ansgar Wimpelfeld,1998,,
c3,Invented inks,"Wimpelfeld, A.",1998,0-306-40615-2,2nd ed.
c4,Invented ink,"Wimpelfeld, A.",1998,,
"""


@pytest.fixture
def cards(tmp_path):
    """A dump with a group in doubt (c1, c3) and with pairs that may be the same, of which some have one record."""
    path = tmp_path / "cards.csv"
    path.write_text(CARDS)
    return path


def rows_of(page):
    return list(csv.DictReader(io.StringIO(b"".join(blocks(page, "rows")).decode("utf-8-sig"))))


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_candidates_are_rows_of_the_page(cards, tmp_path, monkeypatch, size):
    """After the rows of the review, with all that the tables have; the records of each pair are next to each other. Without
    decisions the rows of the page change nothing as `decisions`.
    """
    monkeypatch.setattr(review_page, "_BLOCK", size)
    page, report = page_of(cards, to=tmp_path / "page.html", candidates=tmp_path / "pairs.csv")
    page_of(cards, to=tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        review = list(csv.DictReader(file))
    with (tmp_path / "pairs.csv").open(encoding="utf-8-sig", newline="") as file:
        pairs = list(csv.DictReader(file))
    shown = rows_of(page)
    assert len(pairs) == report.candidates == 5
    assert [{name: row[name] for name in review[0]} for row in shown[: len(review)]] == review
    assert [{name: row[name] for name in pairs[0]} for row in shown[len(review) :]] == pairs
    texts = [
        "".join(line[1::2]) for block in blocks(page, "records") for _, *lines in json.loads(block) for line in lines
    ]
    names = [text[:2] for text in texts]
    ends = [name for row in pairs for name in (row["record_id"], row["other_record_id"])]
    assert names == [*(row["record_id"] for row in review), *ends]
    assert f"{report.candidates} candidates: pairs of records" in " ".join(page.split())
    (tmp_path / "saved.csv").write_bytes(b"".join(blocks(page, "rows")))
    again = urnscan.deduplicate(cards, decisions=tmp_path / "saved.csv")
    assert again.clusters.equals(urnscan.deduplicate(cards).clusters)


def test_a_page_has_the_most_similar_candidates(cards, tmp_path, monkeypatch):
    """In the order of the table; the page says how many it leaves out, and what to do for the others."""
    monkeypatch.setattr(review_table, "MAX_PAIRS", 2)
    page, report = page_of(cards, to=tmp_path / "page.html", candidates=tmp_path / "pairs.csv")
    shown = [row for row in rows_of(page) if row["other_record"]]
    assert [(row["record_id"], row["other_record_id"], row["similarity"]) for row in shown] == [
        ("c1", "c2", "1"),
        ("c2", "c3", "1"),
    ]
    assert "The page has the 2 most similar of 5 candidates." in " ".join(page.split())
    assert report.candidates == 5


def test_candidates_and_no_doubt(tmp_path):
    """The page has nothing but pairs; without `candidates` it has no word about them."""
    (tmp_path / "cards.csv").write_text("".join(CARDS.splitlines(keepends=True)[:3]))
    page, _ = page_of(tmp_path / "cards.csv", to=tmp_path / "page.html", candidates=tmp_path / "pairs.csv")
    assert [row["other_record_id"] for row in rows_of(page)] == ["c2"]
    assert "Nothing is in doubt" in page
    assert "candidate" not in page_of(tmp_path / "cards.csv", to=tmp_path / "page.html")[0].partition("<script")[0]


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
    assert report.doubts == 1
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


def test_an_isbn_with_a_qualifier_is_marked(tmp_path):
    """docs/howto/deduplicate.md, In the page: common identifiers are yellow, also if a subfield of the same field says what the
    number is about.
    """
    records = []
    for binding in ("hardcover", "(hbk.)"):
        record = pymarc.Record()
        record.add_ordered_field(pymarc.Field("001", data=f"{binding}1"))
        subfields = [pymarc.Subfield("a", "9780306406157"), pymarc.Subfield("q", binding)]
        record.add_ordered_field(pymarc.Field("020", [" ", " "], subfields))
        record.add_ordered_field(pymarc.Field("245", [" ", " "], [pymarc.Subfield("a", "Inks")]))
        records.append(record.as_marc())
    (tmp_path / "two.mrc").write_bytes(b"".join(records))
    page, _ = page_of(tmp_path / "two.mrc", to=tmp_path / "page.html", review_all=True)
    for _, *lines in json.loads(b"".join(blocks(page, "records"))):
        ((_, *parts),) = [line for line in lines if line[1].startswith("020")]
        marked = [parts[at] for at in range(0, len(parts), 2) if parts[at + 1] == 2]
        assert marked == ["9780306406157"]


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
