"""Decisions of people about records: applied exactly where they hold."""

import csv
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.cli import main
from urnscan.dedup.join.components import SharedEdges, components
from urnscan.dedup.review.applied_decisions import AppliedDecisions
from urnscan.dedup.review.decisions import Decision, Decisions, PairDecision, Record, Row, read_decisions
from urnscan.errors import ArgumentError, FatalError
from urnscan.tables.schemas import CLUSTERS
from urnscan.tables.writers import open_table

TITLE = "Inks and their makers"
BOOKS = """id,isbn,title,edition,year
b1,9780395363416,Inks and their makers,1st ed.,1998
b2,0-395-36341-1,Inks and their makers,2nd ed.,2004
b3,0-395-36341-1,Inks and their makers,1st ed.,1998
b4,9780395363416,Inks and their makers,1st ed.,1998
"""
PROPOSED = {"b1": "keep", "b2": "apart", "b3": "remove", "b4": "remove"}


@pytest.fixture
def shelf(tmp_path):
    """A dump and its review, and a function that writes decisions into the review and applies them."""
    dump, review = tmp_path / "shelf.csv", tmp_path / "review.csv"
    dump.write_text(BOOKS)
    urnscan.deduplicate(dump, review=review)

    def decide(words, *, text=BOOKS, separator=",", **options):
        with review.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [row | {"decision": words.get(row["record_id"], row["decision"])} for row in reader]
        edited = tmp_path / "edited.csv"
        with edited.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, reader.fieldnames, delimiter=separator)
            writer.writeheader()
            writer.writerows(rows)
        dump.write_text(text)
        return urnscan.deduplicate(dump, decisions=edited, **options)

    return decide


def outcome(found):
    return {row["record_id"]: row["decision"] for row in found.clusters.to_pylist()}


class TestWords:
    """Each word does what it says, and nothing besides."""

    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    def test_proposals_change_nothing(self, shelf, separator):
        """The review as it was written, also as a spreadsheet saves it in other countries."""
        found = shelf({}, separator=separator)
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "removed"}
        assert found.report.refused == []

    def test_another_is_kept(self, shelf):
        found = shelf({"b1": "remove", "b4": "keep"})
        assert outcome(found) == {"b1": "removed", "b2": "apart", "b3": "removed", "b4": "kept"}

    def test_two_are_kept(self, shelf):
        """Both stay: to remove one of them would be against what somebody said."""
        found = shelf({"b3": "keep"})
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "apart", "b4": "removed"}
        ((_, line, text),) = found.report.remarks
        assert text.startswith(f'b3 "{TITLE}": both stay: ')
        assert f": line {line - 1} keeps another record" in text

    @pytest.mark.parametrize("others", [{"b1": ""}, {"b1": "", "b3": "", "b4": "keep"}])
    def test_a_row_that_is_missing(self, shelf, others):
        """docs/howto/deduplicate.md, In a table: `keep` is instead of the others. Whoever deletes the rows of the others removes
        one that the rules keep; a message says so.
        """
        kept = "b4" if "b4" in others else "b3"
        found = shelf({"b3": "keep", **others})
        assert outcome(found)["b1"] == "removed"
        assert outcome(found)[kept] == "kept"
        ((_, _, text),) = found.report.remarks
        assert text == (
            f'{kept} "{TITLE}": the record that the rules keep is removed, as this one has keep; '
            "write apart here if both shall stay"
        )

    def test_no_remark_without_an_effect(self, shelf):
        """What people decided themselves, or what the rules would do, is not reported."""
        assert shelf({}).report.remarks == []
        assert shelf({"b1": "remove", "b4": "keep"}).report.remarks == []
        assert shelf({"b1": "keep", "b3": "", "b4": ""}).report.remarks == []

    def test_apart(self, shelf):
        assert outcome(shelf({"b4": "apart"})) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "apart"}

    def test_together(self, shelf):
        """What contradicts is joined if a person says so; the others of the component are as they were."""
        found = shelf({"b2": "together", "b3": "together"})
        assert outcome(found) == {"b1": "kept", "b2": "kept", "b3": "removed", "b4": "removed"}
        assert ["decision" in row["joined_by"] for row in found.clusters.to_pylist()] == [False, True, True, False]

    def test_nothing_is_removed_without_one_that_is_kept(self, shelf):
        found = shelf({"b2": "remove", "b1": "remove"})
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "removed"}
        assert len(found.report.refused) == 2
        assert all("it stays" in reason for _, _, reason in found.report.refused)

    def test_no_word(self, shelf):
        """A row without a decision is left to the rules."""
        assert outcome(shelf(dict.fromkeys(PROPOSED, ""), keep="last"))["b4"] == "kept"


class TestAnyRecord:
    """Each table of a run says enough of a record to decide about it, also if nothing about it is in doubt."""

    @pytest.fixture
    def run(self, tmp_path):
        """A function that runs over BOOKS without a doubt, and one that gives a table with other words back to a run."""
        dump = tmp_path / "shelf.csv"
        dump.write_text(BOOKS)

        def edited(rows):
            path = tmp_path / "decided.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
            return path

        return lambda **options: urnscan.deduplicate(dump, agree="none", force=True, **options), edited

    def written(self, path):
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    def clusters(self, found, path):
        with open_table(path, CLUSTERS) as table:
            for batch in found.clusters.to_batches():
                table.write(batch)
            table.complete({})
            table.commit({})
        return self.written(path)

    def test_clusters(self, run, tmp_path):
        """The table of -o: as it is, it changes nothing; a word in it does what it says."""
        again, edited = run
        before = again()
        rows = self.clusters(before, tmp_path / "clusters.csv")
        same = again(decisions=edited(rows))
        assert (outcome(same), same.report.refused) == (outcome(before), [])
        (first, *_) = [row for row in rows if row["decision"] == "removed"]
        first["decision"] = "apart"
        after = again(decisions=edited(rows))
        assert outcome(after) == outcome(before) | {first["record_id"]: "apart"}

    def test_mapping(self, run, tmp_path):
        """A removal is undone in the table of --mapping, with a column for the word."""
        again, edited = run
        before = again(mapping=tmp_path / "mapping.csv")
        rows = self.written(tmp_path / "mapping.csv")
        assert len(rows) == before.report.duplicates == 3
        kept = {row["kept_digest"] for row in rows}
        assert kept == {row["digest"] for row in before.clusters.to_pylist() if row["kept"]}
        after = again(decisions=edited([row | {"decision": "apart"} for row in rows[:2]]))
        assert after.report.duplicates == 1
        assert {outcome(after)[row["record_id"]] for row in rows[:2]} == {"apart"}

    @pytest.mark.parametrize("review_all", [False, True])
    def test_review(self, run, tmp_path, review_all):
        """Without a doubt only --review-all shows anything, and that is every removal."""
        again, edited = run
        before = again(review=tmp_path / "review.csv", review_all=review_all)
        rows = self.written(tmp_path / "review.csv")
        removed = {name for name, decision in outcome(before).items() if decision == "removed"}
        assert {row["record_id"] for row in rows if row["decision"] == "remove"} == (removed if review_all else set())
        if review_all:
            rows = [row | {"decision": "apart"} for row in rows if row["decision"] == "remove"]
            assert again(decisions=edited(rows)).report.duplicates == 0

    def test_together_without_component(self, run):
        again, edited = run
        rows = [{"source": "a", "member": "", "record": 1, "digest": "d0", "decision": "together"}]
        with pytest.raises(FatalError, match="line 2: together needs a group in the column component"):
            again(decisions=edited(rows))


def test_review_all_needs_a_review(tmp_path):
    (tmp_path / "shelf.csv").write_text(BOOKS)
    with pytest.raises(FatalError, match="review_all needs review"):
        urnscan.deduplicate(tmp_path / "shelf.csv", review_all=True)


WORDS = {"b1": "remove", "b2": "together", "b3": "together", "b4": "apart"}


class TestChecks:
    """A decision holds only for the record about which it was made."""

    def test_a_record_that_has_changed(self, shelf):
        found = shelf({"b2": "together", "b1": "together"}, text=BOOKS.replace("b2,0-395", "b2,0 395"))
        assert outcome(found)["b2"] == "apart"
        assert outcome(found)["b1"] == "kept"
        (alone, changed) = found.report.refused
        title = '"Inks and their makers"'
        # The row of b2 has the word, so "no other record has it" was no answer.
        assert alone[1] == 2
        assert alone[2].startswith(f"b1 {title}: no other row of its group with together is applied (")
        assert "edited.csv: line 5: " in alone[2]
        assert alone[2].endswith("shelf.csv: record 2 has changed); the rules decide about it")
        assert changed[1] == 5
        assert changed[2].endswith("shelf.csv: record 2 has changed; it stays, and joins no other record")

    def test_several_of_a_group_are_missing(self, shelf):
        """Of the records that are together one is left: the message names the first of the others, and counts the rest."""
        words = dict.fromkeys(("b1", "b2", "b3"), "together")
        found = shelf(words, text=BOOKS.replace("2,0-395", "2,0 395").replace("b3", "b9"))
        assert outcome(found)["b1"] == "kept"
        (reason,) = [reason for _, line, reason in found.report.refused if line == 2]
        assert "line 3" in reason
        assert reason.endswith("shelf.csv: record 3 no longer exists, and 1 more row); the rules decide about it")

    def test_together_without_a_partner(self, shelf):
        """No other row of the group has the word."""
        ((_, _, reason),) = shelf({"b1": "together"}).report.refused
        assert reason.endswith(": no other record of its group has the decision together; the rules decide about it")

    def test_a_record_that_has_changed_is_not_removed(self, shelf):
        """Whatever was said about it: nobody has seen what it is now."""
        for word in ("remove", "apart", "together", "keep"):
            found = shelf({"b4": word}, text=BOOKS.replace("b4,978039", "b4,978-039"))
            assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "apart"}
            assert [line for _, line, _ in found.report.refused] == [4]

    @pytest.mark.parametrize("more", ["n1,9780306406157,New,,2020\n", "n1,0-306-40615-2,New,,2020\nn2,,New,,2020\n"])
    def test_a_record_has_changed_and_moved(self, shelf, more):
        """It is known by its identifier; the record that is now at its place is not."""
        head, books = BOOKS.split("\n", 1)
        found = shelf({}, text=f"{head}\n{more}{books}".replace("b4,978039", "b4,978-039"))
        names = [row["record_id"] for row in found.clusters.to_pylist()]
        assert outcome(found)["b4"] == "apart"
        ((_, line, reason),) = found.report.refused
        assert line == 4
        assert reason.endswith(f"record {names.index('b4') + 1} now; it stays, and joins no other record")

    @pytest.mark.parametrize("more", ["n1,9780306406157,New,,2020\n", "n1,0-306-40615-2,New,,2020\nn2,,New,,2020\n"])
    def test_the_records_have_moved(self, shelf, more):
        """Next month other records come before them: a decision is about the bytes of a record, wherever it is now."""
        head, books = BOOKS.split("\n", 1)
        before = outcome(shelf(WORDS))
        found = shelf(WORDS, text=f"{head}\n{more}{books}")
        assert {name: word for name, word in outcome(found).items() if name[0] == "b"} == before
        assert [reason for _, _, reason in found.report.refused] == [
            (
                'b1 "Inks and their makers": it is alone in its cluster, so remove would leave no record of its work; it '
                "stays. If a record of another cluster is the same, write together in both rows"
            )
        ]

    @pytest.mark.parametrize("name", ["feb/shelf.csv", "shelf-2.csv"])
    def test_the_dump_has_another_name(self, shelf, tmp_path, name):
        """Another folder, or the dump of another month."""
        before = outcome(shelf(WORDS))
        (tmp_path / "feb").mkdir()
        (tmp_path / "shelf.csv").rename(tmp_path / name)
        assert outcome(urnscan.deduplicate(tmp_path / name, decisions=tmp_path / "edited.csv")) == before

    def test_another_dump(self, shelf, tmp_path):
        """A dump that the rows name, too, is no other name of the one that is not there: changed records of the one are not
        looked for in the other. The message says what is not there.
        """
        shelf(WORDS)
        rows = (tmp_path / "edited.csv").read_text()
        other = tmp_path / "other.csv"
        other.write_text(BOOKS.replace("1st ed.", "First edition").replace("2nd", "Second"))
        head, *of_shelf = rows.splitlines(keepends=True)
        (tmp_path / "edited.csv").write_text(head + "".join(of_shelf) + of_shelf[0].replace("shelf.csv", "other.csv"))
        found = urnscan.deduplicate(other, decisions=tmp_path / "edited.csv")
        assert [reason.split(": ", 1)[1] for _, _, reason in found.report.refused][:4] == [
            f"{tmp_path / 'shelf.csv'}: record {number} was not found: its dump is not an input, or the record has changed"
            for number in (1, 3, 4, 2)
        ]

    def test_the_next_month_has_its_own_decisions(self, shelf, tmp_path):
        """A row finds its record by its digest in a dump that other rows name, too; and a changed one by its ID. Guards against
        the loss of all decisions of the first month.
        """
        shelf({"b2": "", "b3": "apart"})
        january = tmp_path / "january.csv"
        (tmp_path / "edited.csv").rename(january)
        dump = tmp_path / "shelf-2.csv"
        dump.write_text(BOOKS.replace("b4,978039", "b4,978-039"))
        urnscan.deduplicate(dump, review=tmp_path / "february.csv")
        rows = (tmp_path / "february.csv").read_text(encoding="utf-8-sig").splitlines(keepends=True)
        february = tmp_path / "february.csv"
        february.write_text("".join([rows[0], *(row.replace('"keep"', '"apart"') for row in rows if '"b2"' in row)]))
        found = urnscan.deduplicate(dump, decisions=[january, february])
        assert outcome(found) == {"b1": "apart", "b2": "apart", "b3": "apart", "b4": "apart"}
        ((path, _, reason),) = found.report.refused
        assert (path, reason.split(": ")[0]) == (str(january), 'b4 "Inks and their makers"')
        assert reason.endswith("record 4 now; it stays, and joins no other record")

    def test_rows_of_two_names_of_a_dump(self, shelf, tmp_path):
        """They find one record: the decision that removes less is applied, and the other row is reported."""
        shelf({"b3": "apart"})
        january, february = tmp_path / "january.csv", tmp_path / "february.csv"
        (tmp_path / "edited.csv").rename(january)
        february.write_text(january.read_text().replace("shelf.csv", "shelf-2.csv").replace("apart", "remove"))
        (tmp_path / "shelf.csv").rename(tmp_path / "shelf-2.csv")
        found = urnscan.deduplicate(tmp_path / "shelf-2.csv", decisions=[january, february])
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "apart", "b4": "removed"}
        assert {(path, reason.split(": ", 1)[1].split(" decides ")[1]) for path, _, reason in found.report.refused} == {
            (str(february), "apart about the same record")
        }

    def test_an_equal_record_of_another_dump(self, tmp_path):
        """It has its own row, so a record that has changed is not taken for it."""
        head, one, *_ = BOOKS.splitlines(keepends=True)
        dumps = [tmp_path / "a.csv", tmp_path / "b.csv"]
        for dump in dumps:
            dump.write_text(head + one)
        urnscan.deduplicate(*dumps, review=tmp_path / "review.csv", review_all=True)
        dumps[0].write_text(head + one.replace("1998", "1999"))
        found = urnscan.deduplicate(*dumps, decisions=tmp_path / "review.csv")
        assert [row["decision"] for row in found.clusters.to_pylist()] == ["apart", "alone"]
        assert any(
            reason.endswith("a.csv: record 1 has changed; it stays, and joins no other record")
            for _, _, reason in found.report.refused
        )

    def test_people_see_a_changed_record_again(self, shelf, tmp_path):
        """Its group is in the next review, also if nothing else about it is in doubt; a decision that holds is in none."""
        shelf({"b2": "remove", "b4": "apart"}, text=BOOKS.replace("2nd ed.,2004", "1st ed.,1998"))
        shelf(
            {"b2": ""},
            text=BOOKS.replace("b4,978039", "b4,978-039").replace("2nd ed.,2004", "1st ed.,1998"),
            review=tmp_path / "again.csv",
        )
        rows = csv.DictReader((tmp_path / "again.csv").read_text(encoding="utf-8-sig").splitlines())
        assert {row["record_id"]: row["decision"] for row in rows}["b4"] == "apart"

    def test_equal_records(self, tmp_path):
        """Of two records with the same bytes each has its own decision, also after they moved."""
        head, one, *_ = BOOKS.splitlines(keepends=True)
        (tmp_path / "shelf.csv").write_text(head + one + one)
        urnscan.deduplicate(tmp_path / "shelf.csv", review=tmp_path / "review.csv", review_all=True)
        swapped = {"keep": "remove", "remove": "keep"}
        with (tmp_path / "review.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = [row | {"decision": swapped[row["decision"]]} for row in csv.DictReader(file)]
        with (tmp_path / "edited.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        (tmp_path / "shelf.csv").write_text(head + "x,,Ink,,1900\n" + one + one)
        found = urnscan.deduplicate(tmp_path / "shelf.csv", decisions=tmp_path / "edited.csv")
        assert [row["decision"] for row in found.clusters.to_pylist()] == ["alone", "removed", "kept"]
        assert found.report.refused == []

    def test_another_record_is_in_its_place(self, shelf):
        """What has another identifier is not the record after a change: the rules decide about it."""
        found = shelf({"b4": "apart"}, text=BOOKS.replace("b4,978039", "b5,978-039"))
        assert outcome(found)["b5"] == "removed"
        ((_, _, reason),) = found.report.refused
        assert reason.endswith("record 4 no longer exists")

    def test_a_record_that_is_gone(self, shelf):
        found = shelf({"b1": "remove", "b4": "keep"}, text="".join(BOOKS.splitlines(keepends=True)[:-1]))
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed"}
        (stays, gone) = found.report.refused
        about = 'b1 "Inks and their makers"'
        assert stays[1:] == (2, f"{about}: every record of its cluster has the decision remove; it stays")
        assert gone[1] == 4
        assert gone[2].endswith("shelf.csv: record 4 no longer exists")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                '<!DOCTYPE html>\n<html><button type="button" id="save" disabled>',
                "is a page; open it in a browser, press Save the decisions, and give the file that it saves",
            ),
            (
                "<!DOCTYPE html>\n<html><title>Duplicate records</title>",
                "is a page without decisions; give the table of --review, or the file that the page of --review saves",
            ),
            ("id,title\na,b\n", "has no column decision; urnscan dedup --review"),
            ("decision,component,source,member,record,digest\nmaybe,1,a,,1,d0\n", "line 2: decision cannot be 'maybe'"),
            (
                "decision,component,source,member,record,digest\nkeep,1,a,,one,d0\n",
                "line 2: record must be a number of at most 18 digits, not 'one'",
            ),
            (
                f"decision,component,source,member,record,digest\nkeep,1,a,,{'9' * 5_000},d0\n",
                "line 2: record must be a number of at most 18 digits, not '999",
            ),
            (
                "decision,component,source,member,record,digest\nkeep,1,a,,1,d0\nremove,1,a,,1,d0\n",
                "lines 2 and 3 make different decisions",
            ),
            # Nobody changed the record: a spreadsheet, or a person, changed the cell.
            *(
                (
                    f"decision,component,source,member,record,digest\nkeep,1,a,,1,{cell}\n",
                    f"line 2: digest must be the checksum .*, not '{cell}'".replace("+", r"\+"),
                )
                for cell in ("", "1.23E+15", "=d0")
            ),
            ("decision\nk\xe4ep\n", "is not in UTF-8"),
            ("PK\x03\x04\xff", "is an Excel file or another workbook; save it as CSV in UTF-8 first"),
            ("\xd0\xcf\x11\xe0\xa1", "is an Excel file or another workbook; save it as CSV in UTF-8 first"),
            ("PAR1\x15\xff", "is in Parquet; save it as CSV first"),
        ],
    )
    def test_a_file_that_is_no_review(self, tmp_path, text, message):
        path = tmp_path / "review.csv"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(FatalError, match=message):
            read_decisions(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(FatalError, match="the decisions cannot be read: No such file"):
            read_decisions(tmp_path / "none.csv")

    def test_never_written_over(self, shelf, tmp_path):
        """What a person has decided is no output, whatever `force` says."""
        with pytest.raises(FatalError, match="is an input and an output"):
            shelf({}, review=tmp_path / "edited.csv", force=True)

    def test_names_that_a_spreadsheet_would_calculate(self, tmp_path):
        """Their apostrophe is no part of the name."""
        path = tmp_path / "review.csv"
        path.write_text("decision,component,source,member,record,digest\nkeep,1,'-,'=a,1,d0\n,1,x,,,\n")
        record = Record(("-", "=a"), 1, "d0")
        assert read_decisions(path).records == [Decision(Row(str(path), 2), "keep", "1", record, "")]


class TestSeveralFiles:
    """Several people decide, each in a file: all count, and nobody silently overrules another."""

    HEAD = "decision,component,source,member,record,digest,other_source,other_member,other_record,other_digest\n"

    @pytest.fixture
    def write(self, tmp_path):
        """A function that writes rows, each of a few words, into a file: `keep a1 5` or `apart a1 b1`; returns the path."""

        def written(name, *rows):
            lines = []
            for word, record, *others in map(str.split, rows):
                component, other = (others[0], ",,,") if others and others[0].isdigit() else ("", ",,,")
                if others and not component:
                    other = f"{others[0][0]},,{others[0][1:]},d{others[0]}"
                lines.append(f"{word},{component},{record[0]},,{record[1:]},d{record},{other}\n")
            path = tmp_path / name
            path.write_text(self.HEAD + "".join(lines))
            return path

        return written

    def test_all_rows_count(self, write):
        """In the order of the files; what is said twice counts once, and so does a file that is named twice."""
        one = write("one.csv", "keep a1", "apart a2 b1")
        other = write("other.csv", "remove a3", "keep a1", "apart b1 a2")
        read = read_decisions(one, other, one)
        assert [(decision.word, decision.record.number) for decision in read.records] == [
            ("keep", 1),
            ("keep", 1),
            ("remove", 3),
        ]
        assert [str(pair.row) for pair in read.pairs] == [f"{one}: line 3"]
        assert (read.paths, len(read.sha256)) == ([str(one), str(other)], 2)

    @pytest.mark.parametrize(
        ("first", "second", "about"),
        [
            ("keep a1", "remove a1", "one record (a: record 1): keep and remove"),
            ("together a1 1", "apart a1", "one record (a: record 1): together in group 1 and apart"),
            (
                "together a1 b2",
                "apart b2 a1",
                "one pair (b: record 2, a: record 1): together as a pair and apart as a pair",
            ),
        ],
    )
    def test_a_contradiction_names_both_rows(self, write, first, second, about):
        """In two files and in one: the people have to agree first."""
        one, other = write("one.csv", "keep c1", first), write("other.csv", second)
        both = write("both.csv", first, second)
        for paths, where in (
            ((one, other), f"{one}: line 3 and {other}: line 2"),
            ((both,), f"{both}: lines 2 and 3"),
        ):
            with pytest.raises(FatalError) as error:
                read_decisions(*paths)
            assert str(error.value) == f"{where} make different decisions about {about}; leave one of them empty"

    @pytest.mark.parametrize(
        "rows",
        [
            ["together a1 b1", "together b1 c1", "apart a1 c1"],
            ["together a1 1", "together c1 1", "apart a1 c1"],
            ["together a1 1", "together b1 1", "together b1 c1", "apart c1 a1"],
        ],
    )
    def test_over_other_records(self, write, rows):
        """Two records that rows make one work, over others, are no pair that is apart."""
        with pytest.raises(FatalError, match="make different decisions about one pair"):
            read_decisions(write("rows.csv", *rows))

    def test_components_are_those_of_a_file(self, write):
        """Numbers of two runs mean nothing to each other: groups of two files are one only over a record of both."""
        read = read_decisions(write("jan.csv", "together a1 5"), write("feb.csv", "together b1 5", "together a1 7"))
        assert len(read.records) == 3
        with pytest.raises(FatalError, match="together in group 5 and together in group 7"):
            read_decisions(write("one.csv", "together a1 5", "together a1 7"))

    def test_other_states_of_a_record(self, write):
        """A row about a record before it changed contradicts none about what it is now."""
        old = write("old.csv", "keep a1")
        old.write_text(old.read_text().replace("da1", "dee"))
        assert len(read_decisions(old, write("new.csv", "apart a1")).records) == 2

    def test_they_are_applied(self, shelf, tmp_path):
        """Two pages of one run: what the one says about a group, and the other about a record of it."""
        shelf({"b3": "keep"})
        rows = (tmp_path / "edited.csv").read_text().splitlines(keepends=True)
        halves = [tmp_path / "one.csv", tmp_path / "other.csv"]
        halves[0].write_text("".join([rows[0], *(row for row in rows[1:] if "b3" in row)]))
        halves[1].write_text("".join([rows[0], *(row for row in rows[1:] if "b4" in row)]).replace("remove", "apart"))
        found = urnscan.deduplicate(tmp_path / "shelf.csv", decisions=halves)
        assert outcome(found) == {"b1": "removed", "b2": "apart", "b3": "kept", "b4": "apart"}
        assert found.report.refused == []

    def test_the_newer_decision_counts(self, shelf, tmp_path):
        """A record that has changed, about which somebody decided again: the old row alone is refused."""
        text = BOOKS.replace("b4,978039", "b4,978-039")
        shelf({"b4": "apart"})
        (tmp_path / "edited.csv").rename(tmp_path / "old.csv")
        (tmp_path / "shelf.csv").write_text(text)
        urnscan.deduplicate(tmp_path / "shelf.csv", review=tmp_path / "new.csv", keep="first")
        found = urnscan.deduplicate(tmp_path / "shelf.csv", decisions=[tmp_path / "old.csv", tmp_path / "new.csv"])
        assert outcome(found)["b4"] == "removed"
        ((path, line, reason),) = found.report.refused
        assert (path, line) == (str(tmp_path / "old.csv"), 4)
        assert reason.endswith("record 4 has changed; another row is about the record that is there now")

    def test_no_path(self):
        with pytest.raises(ArgumentError, match="decisions must be a path, paths"):
            urnscan.deduplicate("x", decisions=[1])

    def test_a_frame(self):
        """The message says what to do; guards against "component: the decisions cannot be read": a frame is a series of
        names of columns.
        """
        frame = pd.DataFrame({"component": [1], "decision": ["keep"]})
        polars = pytest.importorskip("polars")
        written = 'to_csv."edited.csv", index=False., and give "edited.csv"'
        for decisions in (frame, [frame]):
            with pytest.raises(
                ArgumentError, match=f"decisions must be a path, not a DataFrame; write it with {written}"
            ):
                urnscan.deduplicate("x", decisions=decisions)
        with pytest.raises(ArgumentError, match="never_join must be a path, not a DataFrame; write it with to_csv"):
            urnscan.deduplicate("x", never_join=frame)
        with pytest.raises(ArgumentError, match="decisions must be a path, not a DataFrame; write it with write_csv"):
            urnscan.deduplicate("x", decisions=polars.DataFrame({"decision": ["keep"]}))
        with pytest.raises(ArgumentError, match="decisions must be a path, not a Table; write it as CSV first"):
            urnscan.deduplicate("x", decisions=pa.table(frame))


def applied(words, pairs=(), apart=()):
    """Decisions about records of a dump, one for each, and pairs of them that are together and apart."""
    records = [Record(("a", ""), at, "d0000000000000000") for at in range(len(words))]
    decisions = [Decision(Row("", at), word, "1", records[at], "") for at, word in enumerate(words) if word]
    both = [(word, pair) for word, of_word in (("together", pairs), ("apart", apart)) for pair in of_word]
    of_pairs = [
        PairDecision(Row("", 100 + at), word, tuple(records[end] for end in pair))
        for at, (word, pair) in enumerate(both)
    ]
    rows = pa.record_batch(
        {
            "record": np.arange(len(words)),
            "digest": np.zeros(len(words), np.int64),
            "record_id": pa.nulls(len(words), pa.string()),
        }
    )
    dump = SimpleNamespace(source=SimpleNamespace(name="a"), member=None)
    read = Decisions([""], [""], decisions, of_pairs)
    return AppliedDecisions(read, [(dump, slice(0, len(words)), rows)], np.arange(len(words), dtype=np.int32))


@FEW
@given(
    classes=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9),
    words=st.lists(st.sampled_from(["", "keep", "remove", "apart", "together"]), min_size=9, max_size=9),
)
def test_any_clusters(classes, words):
    """Those apart are alone; those together are one; no two that are to be kept are in one cluster; and no cluster
    joins what was not joined before.
    """
    records = len(classes)
    words = words[:records]
    edges = sorted({(class_, record) for record, both in enumerate(classes) for class_ in both})
    class_, record = np.array(edges, np.int32).T
    joined = SharedEdges(np.arange(len(edges), dtype=np.int32), record, class_, np.zeros(5, np.int32), [])
    none = (np.empty(0, np.int32), np.empty(0, np.int32))
    before = components(records, joined.pairs())
    after = applied(words).clusters(before, joined, none)
    if words.count("together") == 1:  # with whom?
        words[words.index("together")] = ""
    together = [at for at, word in enumerate(words) if word == "together"]
    for one in range(records):
        mine = [other for other in range(records) if after[other] == after[one]]
        if words[one] == "apart":
            assert mine == [one]
        elif words[one] == "together":
            assert mine == together
        else:
            assert len({before[other] for other in mine}) == 1
            assert [words[other] for other in mine].count("keep") <= 1
    if not {"apart", "together", "keep"}.intersection(words):
        assert after.tolist() == before.tolist()


@FEW
@given(
    classes=st.lists(st.integers(0, 4), min_size=2, max_size=9),
    words=st.lists(st.sampled_from(["", "keep", "remove", "apart"]), min_size=9, max_size=9),
    pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4),
)
def test_any_pairs(classes, words, pairs):
    """A pair joins what a key would join that both records have: so the result is that of a run with such a key."""
    records = len(classes)
    words, pairs = words[:records], [pair for pair in pairs if max(pair) < records]
    edges = [(class_, record) for record, class_ in enumerate(classes)]
    more = [(5 + number, end) for number, pair in enumerate(pairs) for end in dict.fromkeys(pair)]
    none = (np.empty(0, np.int32), np.empty(0, np.int32))

    def joined(of):
        class_, record = np.array(sorted(of), np.int32).T
        return SharedEdges(np.arange(len(of), dtype=np.int32), record, class_, np.zeros(9, np.int32), [])

    with_pairs, with_keys = joined(edges), joined([*edges, *more])
    mine = applied(words, pairs).clusters(components(records, with_pairs.pairs()), with_pairs, none)
    other = applied(words).clusters(components(records, with_keys.pairs()), with_keys, none)
    assert mine.tolist() == other.tolist()


@FEW
@given(
    classes=st.lists(st.integers(0, 4), min_size=2, max_size=9),
    words=st.lists(st.sampled_from(["", "", "keep", "remove", "apart"]), min_size=9, max_size=9),
    pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=5),
    apart=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=3),
)
def test_no_pair_is_joined_that_is_apart(classes, words, pairs, apart):
    """Whatever else people decide; a pair that is not joined for that reason, or any other, is reported."""
    records = len(classes)
    words, pairs = words[:records], [pair for pair in pairs if max(pair) < records]
    class_, record = np.array(sorted((class_, record) for record, class_ in enumerate(classes)), np.int32).T
    joined = SharedEdges(np.arange(records, dtype=np.int32), record, class_, np.zeros(5, np.int32), [])
    none = (np.empty(0, np.int32), np.empty(0, np.int32))
    before = components(records, joined.pairs())
    apart = [pair for pair in apart if max(pair) < records and before[pair[0]] != before[pair[1]]]
    decisions = applied(words, pairs, apart)
    after = decisions.clusters(before, joined, none)
    decisions.check(after, *(np.ones(records, np.int32) for _ in "12"))
    assert all(after[one] != after[other] for one, other in apart)
    refused = {line - 100 for _, line, _ in decisions.refused if line >= 100}
    assert {at for at, (one, other) in enumerate(pairs) if after[one] != after[other]} <= refused
    if not apart and not {"keep", "apart"}.intersection(words):
        assert not refused


@pytest.mark.parametrize(("is_terminal", "lines"), [(False, 120), (True, 100)])
def test_all_messages_can_be_read(tmp_path, monkeypatch, capsys, is_terminal, lines):
    """A file gets a line for each decision that is not applied, a terminal the first hundred; one line says that most rows are
    not. Guards against "5 more decisions not applied", which were nowhere.
    """
    (tmp_path / "shelf.csv").write_text(BOOKS)
    rows = "".join(f"keep,shelf.csv,,{at},d{at:016x},x{at},Gone\n" for at in range(1, 121))
    (tmp_path / "old.csv").write_text(f"decision,source,member,record,digest,record_id,title\n{rows}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("urnscan.cli.dedup_command.has_terminal", lambda: is_terminal)
    main(["dedup", "shelf.csv", "--decisions", "old.csv", "-o", "clusters.csv"])
    said = capsys.readouterr().err
    assert "old.csv: 120 of 120 decisions not applied: is the table for these dumps?" in said
    assert 'old.csv: line 2 is not applied: x1 "Gone": shelf.csv: record 1 no longer exists' in said
    assert said.count("is not applied: x") == lines
    assert ("20 more decisions not applied; to see all" in said) == is_terminal
