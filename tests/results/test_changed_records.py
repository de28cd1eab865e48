"""The difference of two tables of clusters: the records that came, went and changed, and nothing else."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.results import changed_records, sorting
from urnscan.results.difference import Difference
from urnscan.run.options import Options
from urnscan.tables.schemas import CLUSTERS

LISTS = ("urns", "other_keys", "joined_by")
KEYS = st.lists(st.sampled_from(["urn:foo:a", "urn:foo:b", "oclc:1", "x\0y", ""]), unique=True, max_size=3)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "source": st.sampled_from(["a", "a\0b"]),
            "member": st.sampled_from([None, "", "b"]),
            "record_id": st.sampled_from([None, "", "b", "\0", "é"]),
            "start": st.integers(0, 3),
            "cluster": st.integers(1, 4),
            "first": st.sampled_from(["alone", "kept", "apart"]),
            "reason": st.sampled_from([None, "title"]),
            **dict.fromkeys(LISTS, KEYS),
        }
    ),
    max_size=12,
)


def table(records):
    """CLUSTERS rows of records in which each cluster has one that is kept, and the name of that for those removed."""
    rows, kept = [], {}
    for number, record in enumerate(records):
        row = {
            "length": 1,
            "component": 1,
            "title": None,
            "publication_year": None,
            "format": None,
            "author": None,
        } | record
        first = kept.setdefault(record["cluster"], record)
        place = f"@{first['start']}" if first["record_id"] is None else first["record_id"]
        member = "" if first["member"] is None else f"!/{first['member']}"
        is_kept = first is record
        row |= {"record": number + 1, "cluster_rank": 1 if is_kept else number + 2, "kept": is_kept}
        row["decision"] = record["first"] if is_kept else "removed"
        row["replaced_by"] = None if is_kept else f"{first['source']}{member}:{place}"
        rows.append(row)
    return rows


def write(name, rows):
    said = {b"urnscan": json.dumps({"schema": 2}).encode()}
    pq.write_table(pa.Table.from_pylist(rows, CLUSTERS).replace_schema_metadata(said), name)


def found(old, new):
    difference = Difference(old, new, options=Options(memory=1000))
    rows = [row for rows in difference.rows() for row in rows.to_pylist()]
    assert sum(difference.counts.values()) == len(rows)
    return rows


def partners(old, new):
    """Pairs of rows that are one record, and rows without partner: as the reference says it."""
    groups = defaultdict(lambda: ([], []))
    for side, rows in enumerate((old, new)):
        for row in rows:
            groups[row["source"], row["member"], row["record_id"]][side].append(row)
    for (_, _, record_id), (olds, news) in groups.items():
        if record_id is not None and len(olds) == len(news) == 1:
            yield olds[0], news[0]
            continue
        for start in range(4):
            here = [[row for row in rows if row["start"] == start] for rows in (olds, news)]
            yield from itertools.zip_longest(*here)


def values(row):
    """What is compared of a row."""
    if row is None:
        return {"decision": "null", "reason": "null", "replaced_by": "null", **dict.fromkeys(LISTS, frozenset())}
    alone = {name: row[name] or "null" for name in ("decision", "reason", "replaced_by")}
    return alone | {name: frozenset(row[name]) for name in LISTS}


def applied(before, changes):
    """Values after changes."""
    after = dict(before)
    for change in changes:
        what, old, new = change["what"], change["old"], change["new"]
        if what in LISTS:
            assert (old == "null") != (new == "null")
            assert (old in before[what]) == (new == "null")
            after[what] = after[what] - {old} if new == "null" else after[what] | {new}
        else:
            assert after[what] == old
            after[what] = new
    return after


@FEW
@given(old=RECORDS, new=RECORDS, at_once=st.integers(1, 4), spilled=st.booleans())
def test_changes_lead_from_one_to_the_other(old, new, at_once, spilled):
    """What changed, applied to the old values, gives the new ones; it is told of the records that differ, in order.

    So it is wherever windows are cut, and if rows wait in files. A table does not differ from itself.
    """
    old, new = table(old), table(new)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(changed_records, "rows_at_once", lambda *_: at_once)
        patch.setattr(sorting, "_ROWS", at_once)
        patch.setattr(sorting, "_OF_FILE", at_once)
        if spilled:
            patch.setattr(sorting, "_LEAST", 1)
        write("old.parquet", old)
        write("new.parquet", new)
        rows = found("old.parquet", "new.parquet")
        same = found("new.parquet", "new.parquet")
    differing = [(one, other) for one, other in partners(old, new) if values(one) != values(other)]
    told = defaultdict(list)
    for row in rows:
        told[tuple(row[name] for name in ("change", "source", "member", "record_id", "start"))].append(row["changes"])
    for one, other in differing:
        change = "came" if one is None else "went" if other is None else "changed"
        place = tuple((other or one)[name] for name in ("source", "member", "record_id", "start"))
        assert values(other) in [
            applied(values(one), changes) for changes in told[change, *place] if fits(one, changes)
        ]
    assert len(rows) == len(differing)
    order = [
        tuple((row[name] is not None, row[name] or "") for name in ("source", "member", "record_id")) for row in rows
    ]
    assert order == sorted(order)
    assert same == []


def fits(row, changes):
    """Whether changes are about a row: only members of an archive with one name can have two at one place."""
    before = values(row)
    return all(
        change["old"] == before[change["what"]]
        if change["what"] not in LISTS
        else (change["old"] in before[change["what"]]) == (change["new"] == "null")
        for change in changes
    )


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """Function that compares what `urnscan dedup` says of two dumps with the same name."""
    monkeypatch.chdir(tmp_path)

    def compare(old, new, **options):
        for name, records in (("old", old), ("new", new)):
            Path("dump.csv").write_text("id,isbn,title\n" + "".join(f"{record}\n" for record in records))
            urnscan.deduplicate("dump.csv", fields=True, **options).to_parquet(f"{name}.parquet", force=True)
        return [
            (row["change"], row["record_id"], [tuple(each.values()) for each in row["changes"]])
            for row in found("old.parquet", "new.parquet")
        ]

    return compare


A, B, C = "1,9783999990521,Inks", "2,9783999990521,Inks", "3,9783999990774,Tides"


class TestRecords:
    def test_a_record_that_is_now_removed(self, compared):
        """Its decision and the record in its place; the other one is now kept in place of it. Places do not count."""
        isbn = "urn:isbn:9783999990521"
        assert compared([C, B], [C, A, B]) == [
            ("came", "1", [("decision", "null", "kept"), ("urns", "null", isbn), ("joined_by", "null", isbn)]),
            (
                "changed",
                "2",
                [("decision", "alone", "removed"), ("replaced_by", "null", "dump.csv:1"), ("joined_by", "null", isbn)],
            ),
        ]

    def test_a_record_that_went(self, compared):
        """All its values are told."""
        assert compared([C, A], [A]) == [
            ("went", "3", [("decision", "alone", "null"), ("urns", "urn:isbn:9783999990774", "null")])
        ]

    def test_another_record_is_kept(self, compared):
        """Both decisions change, and nothing else."""
        changed = compared([A, B, C], [B, A, C])
        assert [(change, name, [what for what, _, _ in what]) for change, name, what in changed] == [
            ("changed", "1", ["decision", "replaced_by"]),
            ("changed", "2", ["decision", "replaced_by"]),
        ]

    def test_identifiers_that_repeat(self, compared):
        """Their places tell records apart."""
        twice = "1,9783999990774,Tides"
        assert compared([A, twice], [A, twice]) == []
        assert [(change, name) for change, name, _ in compared([A, twice], [A])] == [("went", "1")]


def test_refused(tmp_path, monkeypatch):
    """Tables of two kinds, and a choice of namespaces among records, in one line."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("urn:foo:a")
    urnscan.scan("a.txt").to_parquet("classes.parquet")
    write("clusters.parquet", [])
    for names, options, said in (
        (("classes.parquet", "clusters.parquet"), {}, "clusters.parquet: holds clusters, and classes.parquet classes"),
        (("clusters.parquet",) * 2, {"nid": "isbn"}, "clusters.parquet: holds clusters; namespaces can be chosen"),
    ):
        with pytest.raises(FatalError) as error:
            Difference(*names, options=Options(**options))
        assert str(error.value).startswith(said)
        assert "\n" not in str(error.value)
