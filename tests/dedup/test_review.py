"""Records that are in doubt, for people who decide."""

import csv
import itertools
import json

import pytest

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
    """Rows propose `apart` for what is kept separate, and for no other record of the group; the summary counts the group.

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
    assert "1 group in doubt" in found.report.parts(has_keys=True)


def test_two_clusters_that_conflict(tmp_path):
    """Two editions, each in two libraries: no record is alone, so the summary looked free of doubt, and the review was not empty."""
    dump = tmp_path / "shelf.csv"
    dump.write_text(BOOKS + BOOKS.splitlines()[-2].replace("b5", "b7") + "\n")
    found = urnscan.deduplicate(dump, review=tmp_path / "review.csv")
    assert {row["decision"] for row in rows_of(tmp_path / "review.csv")} == {"keep", "remove"}
    assert "1 group in doubt" in found.report.parts(has_keys=True)


class TestNextReview:
    """The review of the next month has what people did not decide, and the summary counts the same."""

    @pytest.fixture
    def month(self, tmp_path):
        """A function that runs over a dump, and returns the report and the rows of the review."""
        number = itertools.count()

        def run(text, **options):
            dump, review = tmp_path / f"{next(number)}.csv", tmp_path / "review.csv"
            dump.write_text(text)
            report = urnscan.deduplicate(dump, review=review, force=True, **options).report
            rows = rows_of(review)
            assert len({row["component"] for row in rows}) == report.doubts - report.decided or "review_all" in options
            return report, rows

        return run

    @pytest.fixture
    def decided(self, month, tmp_path):
        """A function that writes the rows of the first month with other words, and returns the path."""
        _, rows = month(BOOKS)

        def write(words):
            path = tmp_path / "decided.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(row | {"decision": words.get(row["record_id"], row["decision"])} for row in rows)
            return path

        return write

    NEW = "c1,0-262-03384-4,A history of paper,,2001\n"

    @pytest.mark.parametrize(
        "words", [{}, {"b3": "apart", "b6": "apart"}, {"b3": "remove", "b6": "keep"}, {"b5": "keep"}]
    )
    def test_a_decided_group_is_left_out(self, month, decided, words):
        """People got all their groups again each month, with nothing to tell them from the new ones."""
        report, rows = month(BOOKS.replace('"=SUM(1)"', "Seven maps") + self.NEW, decisions=decided(words))
        assert {row["record_id"] for row in rows} == {"b4", "c1"}
        assert "2 groups in doubt (1 decided)" in report.parts(has_keys=True)

    def test_all_groups(self, month, decided):
        """With `review_all` the decided group is shown with the removals."""
        _, rows = month(BOOKS, decisions=decided({"b3": "apart", "b6": "apart"}), review_all=True)
        assert {row["record_id"] for row in rows} == {"b1", "b2", "b3", "b5", "b6"}

    @pytest.mark.parametrize("name", ["b3", "b5", "b6"])
    def test_a_record_that_nobody_decided(self, month, decided, name):
        """Each of the three has a reason. The group is shown as long as one row is empty."""
        report, rows = month(BOOKS, decisions=decided({name: ""}))
        assert {row["record_id"] for row in rows} == {"b3", "b5", "b6"}
        assert (report.doubts, report.decided) == (1, 0)

    @pytest.mark.parametrize("name", ["b3", "b5", "b6"])
    def test_a_record_that_has_changed(self, month, decided, name):
        text = BOOKS.replace(f"{name},", f"{name}, ")
        report, rows = month(text, decisions=decided({}))
        assert {row["record_id"] for row in rows} == {"b3", "b5", "b6"}
        assert (report.doubts, report.decided) == (1, 0)

    def test_a_new_record_in_a_decided_group(self, month, decided):
        """A third edition: nobody has seen it, so the whole group is shown."""
        new = "b7,9780395363416,Inks and their makers,3rd ed.,2012\n"
        _, rows = month(BOOKS + new, decisions=decided({}))
        assert {row["record_id"]: row["decision"] for row in rows} == {
            "b3": "keep",
            "b6": "remove",
            "b5": "apart",
            "b7": "apart",
        }

    def test_a_decision_that_is_not_applied(self, month, decided):
        """b5 cannot be removed, as nothing would be kept instead: people look at it again."""
        report, rows = month(BOOKS, decisions=decided({"b5": "remove"}))
        assert len(report.refused) == 1
        assert {row["record_id"] for row in rows} == {"b3", "b5", "b6"}

    def test_clusters_without_a_title(self, month, tmp_path):
        """The message that sends to the review is silent after people decided, as the review has no such cluster."""
        text = BOOKS.replace("title", "heading")
        _, rows = month(text)
        (tmp_path / "review.csv").rename(tmp_path / "decided.csv")
        report, again = month(text, decisions=tmp_path / "decided.csv")
        assert rows
        assert (again, report.untitled) == ([], 0)
        assert not any("without titles" in line for line in report.silences())


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
    assert decisions.count("apart") == 1
    assert "2 groups in doubt" in found.report.parts(has_keys=True)
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
