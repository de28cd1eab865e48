"""Records that are in doubt, for people who decide."""

import csv
import json

import urnscan

BOOKS = """id,isbn,title,edition,year
b1,9780306406157,Grammar of lamps,,2011
b2,0-306-40615-2,Grammar of lamps,,2011
b3,9780395363416,Inks and their makers,1st ed.,1998
b4,9780262033848,"=SUM(1)",,2001
b5,0-395-36341-1,Inks and their makers,2nd ed.,2004
b6,0-395-36341-1,Inks and their makers,1st ed.,1998
"""


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_in_doubt(tmp_path):
    """All records of a component where one is kept separate, the kept one of each cluster first; no others."""
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS)
    found = urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    rows = rows_of(tmp_path / "review.csv")
    assert [(row["record_id"], row["decision"], row["edition"]) for row in rows] == [
        ("b3", "keep", "1st ed."),
        ("b6", "remove", "1st ed."),
        ("b5", "apart", "2nd ed."),
    ]
    assert {row["component"] for row in rows} == {str(found.clusters.column("component")[2].as_py())}
    assert "year edition" in {row["reason"] for row in rows}
    assert all(row["title"] == "Inks and their makers" and json.loads(row["urns"]) for row in rows)


def test_why_a_record_is_removed(tmp_path):
    """The review says by which identifiers a removed record was joined, the mapping also its title: people who checked
    removals had the reason in one table and the title in another.
    """
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS)
    urnscan.deduplicate(dump, review=tmp_path / "review.csv", review_all=True, mapping=tmp_path / "mapping.csv")
    rows = {row["record_id"]: row for row in rows_of(tmp_path / "review.csv")}
    lamps, inks = '["urn:isbn:9780306406157"]', '["urn:isbn:9780395363416"]'
    joined = {name: row["joined_by"] for name, row in rows.items()}
    assert joined == {"b1": lamps, "b2": lamps, "b3": inks, "b6": inks, "b5": "[]"}
    assert [(row["joined_by"], row["title"]) for row in rows_of(tmp_path / "mapping.csv")] == [
        (lamps, rows["b2"]["title"]),
        (inks, "Inks and their makers"),
    ]


def test_one_number_of_records_in_doubt(tmp_path):
    """The summary counts the rows that propose `apart`, and no other record of their component.

    c3 shares only an address with c1, so it joins nothing and contradicts nothing; c1 and c2 contradict each other.
    """
    dump = tmp_path / "shelf.csv"
    dump.write_text(
        "id,isbn,url,title,year\nc1,9780306406157,https://a.example/inks,Grammar of lamps,1998\n"
        "c2,0-306-40615-2,,A history of paper,1998\nc3,,https://a.example/inks,Seven ways to fold a map,1998\n"
    )
    found = urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    rows = rows_of(tmp_path / "review.csv")
    assert {row["record_id"]: row["decision"] for row in rows} == {"c1": "apart", "c2": "apart", "c3": "keep"}
    assert found.report.apart == 2
    assert "2 in doubt" in found.report.parts(has_keys=True)


def test_how_many_in_doubt_are_decided(tmp_path):
    """After people decided about all records in doubt, the summary still said `in doubt`, as if work was left."""
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS)
    first = urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    again = urnscan.deduplicate(dump, decisions=tmp_path / "review.csv")
    assert "1 in doubt" in first.report.parts(has_keys=True)
    assert "1 in doubt (1 decided)" in again.report.parts(has_keys=True)


def test_too_many(tmp_path):
    """Of a component that is too large all stay, and all are shown."""
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS)
    urnscan.deduplicate(dump, review=tmp_path / "review.csv", max_cluster=2)
    rows = rows_of(tmp_path / "review.csv")
    assert [(row["record_id"], row["decision"], row["reason"]) for row in rows] == [
        (name, "apart", "max-cluster") for name in ("b3", "b5", "b6")
    ]


def test_clusters_without_a_title(tmp_path):
    """Records are joined under a heading that is not known: they go to people, a line counts them, and none is kept separate."""
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS.replace("title", "heading"))
    found = urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    rows = rows_of(tmp_path / "review.csv")
    assert [(row["record_id"], row["decision"], row["reason"]) for row in rows[:2]] == [
        ("b1", "keep", "no-title"),
        ("b2", "remove", "no-title"),
    ]
    assert found.report.untitled == 2
    assert sum("2 clusters of records without titles" in line for line in found.report.silences()) == 1
    decisions = found.clusters.column("decision").to_pylist()
    assert found.report.apart == decisions.count("apart") == 1
    assert urnscan.deduplicate(dump, agree="year").report.untitled == 0  # nobody asked for titles


def test_equal_records_have_equal_digests(tmp_path):
    """A digest is that of the bytes of a record, wherever it stands; in a spreadsheet it is no number."""
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS + BOOKS.splitlines()[-1] + "\n")
    urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    digests = {row["record"]: row["digest"] for row in rows_of(tmp_path / "review.csv")}
    assert digests["6"] == digests["7"] != digests["5"]
    assert all(digest.startswith("d") for digest in digests.values())


def test_nothing_is_in_doubt(tmp_path):
    """The table is there, without rows."""
    dump = tmp_path / "shelf.csv"
    dump.write_text("".join(BOOKS.splitlines(keepends=True)[:3]))
    assert urnscan.deduplicate(dump, review=tmp_path / "review.csv").report.duplicates == 1
    assert rows_of(tmp_path / "review.csv") == []


def test_part(tmp_path):
    """Number and title of a part (MARC 245 $n and $p) stand with the title: by them two volumes are told apart."""
    record = "<record><leader>00000nam a2200000 a 4500</leader>"
    record += '<datafield tag="020" ind1=" " ind2=" "><subfield code="a">9780395363416</subfield></datafield>'
    record += (
        '<datafield tag="245" ind1=" " ind2=" "><subfield code="a">Inks.</subfield><subfield code="n">{},</subfield>'
    )
    record += '<subfield code="p">{}</subfield></datafield></record>'
    records = record.format("Part 1", "Blue inks") + record.format("Part 2", "Red inks")
    dump = tmp_path / "shelf.xml"
    dump.write_text(f'<collection xmlns="http://www.loc.gov/MARC21/slim">{records}</collection>')
    urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    assert [(row["title"], row["part"]) for row in rows_of(tmp_path / "review.csv")] == [
        ("Inks. : Blue inks", "Part 1,"),
        ("Inks. : Red inks", "Part 2,"),
    ]
