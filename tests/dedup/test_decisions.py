"""Decisions of people about records: applied exactly where they hold."""

import csv
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.dedup.join.components import SharedEdges, components
from urnscan.dedup.review.decisions import (
    AppliedDecisions,
    Decision,
    Decisions,
    PairDecision,
    Record,
    read_decisions,
)
from urnscan.errors import FatalError
from urnscan.tables.schemas import CLUSTERS
from urnscan.tables.writers import open_table

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
        assert outcome(shelf({"b3": "keep"})) == {"b1": "kept", "b2": "apart", "b3": "apart", "b4": "removed"}

    def test_apart(self, shelf):
        assert outcome(shelf({"b4": "apart"})) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "apart"}

    def test_together(self, shelf):
        """What contradicts is joined if a person says so; the others of the component are as they were."""
        found = outcome(shelf({"b2": "together", "b3": "together"}))
        assert found == {"b1": "kept", "b2": "kept", "b3": "removed", "b4": "removed"}

    def test_nothing_is_removed_without_one_that_is_kept(self, shelf):
        found = shelf({"b2": "remove", "b1": "remove"})
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "removed"}
        assert len(found.report.refused) == 2
        assert all("it stays" in reason for _, reason in found.report.refused)

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
        assert after.report.apart == 1

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
        with pytest.raises(FatalError, match="line 2: together needs a value in the column component"):
            again(decisions=edited(rows))


def test_review_all_needs_a_review(tmp_path):
    (tmp_path / "shelf.csv").write_text(BOOKS)
    with pytest.raises(FatalError, match="review_all needs review"):
        urnscan.deduplicate(tmp_path / "shelf.csv", review_all=True)


class TestChecks:
    """A decision holds only for the record about which it was made."""

    def test_a_record_that_has_changed(self, shelf):
        found = shelf({"b2": "together", "b1": "together"}, text=BOOKS.replace("b2,0-395", "b2,0 395"))
        assert outcome(found)["b2"] == "apart"
        assert outcome(found)["b1"] == "kept"
        (alone, changed) = found.report.refused
        assert alone == (2, "no other record of its component has the decision together")
        assert changed[0] == 5
        assert changed[1].endswith("shelf.csv: record 2 has changed; it stays, and joins no other record")

    def test_a_record_that_has_changed_is_not_removed(self, shelf):
        """Whatever was said about it: nobody has seen what it is now."""
        for word in ("remove", "apart", "together", "keep"):
            found = shelf({"b4": word}, text=BOOKS.replace("b4,978039", "b4,978-039"))
            assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed", "b4": "apart"}
            assert [line for line, _ in found.report.refused] == [4]

    def test_a_record_that_is_gone(self, shelf):
        found = shelf({"b1": "remove", "b4": "keep"}, text="".join(BOOKS.splitlines(keepends=True)[:-1]))
        assert outcome(found) == {"b1": "kept", "b2": "apart", "b3": "removed"}
        (stays, gone) = found.report.refused
        assert stays == (2, "no other record would be kept instead of this one; it stays")
        assert gone[0] == 4
        assert gone[1].endswith("shelf.csv: record 4 no longer exists")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("id,title\na,b\n", "has no column decision; urnscan dedup --review"),
            ("decision,component,source,member,record,digest\nmaybe,1,a,,1,d0\n", "line 2: decision cannot be 'maybe'"),
            (
                "decision,component,source,member,record,digest\nkeep,1,a,,one,d0\n",
                "line 2: record must be a number, not 'one'",
            ),
            (
                "decision,component,source,member,record,digest\nkeep,1,a,,1,d0\nremove,1,a,,1,d0\n",
                "lines 2 and 3 make different decisions",
            ),
            ("decision\nk\xe4ep\n", "is not in UTF-8"),
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
        assert read_decisions(path).of_dump == {("-", "=a"): {1: Decision(2, "keep", "1", 1, "d0")}}


def applied(words, pairs=()):
    """Decisions about records of a dump, one for each, and pairs of them."""
    decisions = {at: Decision(at, word, "1", at, "d0000000000000000") for at, word in enumerate(words) if word}
    names = [tuple(Record(("a", ""), at, "d0000000000000000") for at in pair) for pair in pairs]
    rows = pa.record_batch({"record": np.arange(len(words)), "digest": np.zeros(len(words), np.int64)})
    dump = SimpleNamespace(source=SimpleNamespace(name="a"), member=None)
    read = Decisions("", "", {("a", ""): decisions}, [PairDecision(99, both) for both in names])
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
