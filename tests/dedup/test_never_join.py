"""Pairs of identifiers whose records are never joined: the table, and what it does to clusters."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.dedup.join.never_join import read_never_join
from urnscan.dedup.join.union_find import least_connected
from urnscan.errors import ArgumentError, FatalError


@pytest.fixture
def never(tmp_path):
    """Writes the table with these rows."""

    def write(*rows, head="identifier,other", encoding="utf-8"):
        path = tmp_path / "never.csv"
        path.write_text("\n".join([head, *rows, ""]), encoding=encoding)
        return path

    return write


def clusters(tmp_path, lines, **options):
    """The groups of record identifiers, and the reasons, of a CSV dump."""
    dump = tmp_path / "dump.csv"
    dump.write_text("\n".join(["id,isbn,doi,oclc_number,title", *lines, ""]))
    rows = urnscan.deduplicate(dump, **options).clusters.to_pylist()
    of = {}
    for row in rows:
        of.setdefault(row["cluster"], []).append(row["record_id"])
    return sorted(of.values()), {row["record_id"]: row["reason"] for row in rows}


def connects(pair, column):
    """Whether two records have the same value in a column."""
    return column[pair[0]] == column[pair[1]] != ""


BOOKS = ["a,9780395363416,,1,Ink", "b,9780395363416,,2,Ink", "c,,10.1000/182,2,Ink"]


class TestRule:
    def test_records_with_the_two_identifiers_are_apart(self, tmp_path, never):
        """What stands between them is not changed: b and c are one."""
        assert clusters(tmp_path, BOOKS)[0] == [["a", "b", "c"]]
        groups, reasons = clusters(tmp_path, BOOKS, never_join=never("oclc:1,oclc:2"))
        assert groups == [["a"], ["b", "c"]]
        assert reasons == {"a": "never-join", "b": "never-join", "c": None}

    @pytest.mark.parametrize("agree", ["none", "title"])
    def test_with_and_without_the_brake(self, tmp_path, never, agree):
        """A DOI in another spelling; the chain from a over b to c is cut, although a and c share nothing."""
        table = never("OCLC:1,doi:10.1000/182".replace("OCLC", "oclc"))
        groups, reasons = clusters(tmp_path, BOOKS, never_join=table, agree=agree)
        assert ["a", "c"] not in groups
        assert all(not {"a", "c"} <= set(group) for group in groups)
        assert reasons["b"] == "chain"

    def test_an_identifier_in_any_spelling(self, tmp_path, never):
        """An ISBN-10 with hyphens means the ISBN-13 of the record."""
        groups, _ = clusters(tmp_path, BOOKS, never_join=never("ISBN 0-395-36341-1,https://doi.org/10.1000/182"))
        assert groups == [["a"], ["b"], ["c"]] or ["b", "c"] not in groups

    def test_people_who_have_seen_the_records_count_more(self, tmp_path, never):
        """`together` in the table of decisions joins them."""
        table = never("oclc:1,oclc:2")
        review = tmp_path / "review.csv"
        clusters(tmp_path, BOOKS, never_join=table, review=review)
        text = review.read_text(encoding="utf-8-sig")
        edited = tmp_path / "edited.csv"
        edited.write_text(
            text.replace('"apart"', '"together"').replace('"keep"', '"together"').replace('"remove"', '"together"')
        )
        assert clusters(tmp_path, BOOKS, never_join=table, decisions=edited)[0] == [["a", "b", "c"]]

    @FEW
    @given(data=st.data())
    def test_no_cluster_holds_a_pair(self, data, tmp_path_factory):
        """Whatever the records share: no cluster has two records of a pair, and components without a pair are as before.

        In a component with a pair other records may change: where the pair ends a doubt, they are joined.
        """
        folder = tmp_path_factory.mktemp("never")
        numbers = st.sampled_from(["1", "2", "3", ""])
        isbns = st.sampled_from(["9780395363416", "9780306406157", ""])
        lines = [f"r{at},{data.draw(isbns)},,{data.draw(numbers)},Ink" for at in range(data.draw(st.integers(2, 7)))]
        pairs = data.draw(st.lists(st.sampled_from(list(itertools.combinations("123", 2))), min_size=1, max_size=2))
        table = folder / "never.csv"
        table.write_text("identifier,other\n" + "".join(f"oclc:{one},oclc:{other}\n" for one, other in pairs))
        groups, _ = clusters(folder, lines, never_join=table)
        isbn, number = ([line.split(",")[column] for line in lines] for column in (1, 3))
        for group, (one, other) in itertools.product(groups, pairs):
            assert not {one, other} <= {number[int(name[1:])] for name in group}
        records = range(len(lines))
        links = [
            pair for pair in itertools.product(records, repeat=2) if connects(pair, isbn) or connects(pair, number)
        ]
        component = least_connected(links)
        before, _ = clusters(folder, lines)
        for group in before:
            first = component.get(int(group[0][1:]))
            connected = {number[record] for record in records if component.get(record) == first}
            if not any(connected >= set(pair) for pair in pairs):
                assert group in groups


class TestTable:
    def test_separators_and_doubled_rows(self, never):
        table = never(
            "oclc:1;ISBN 0-395-36341-1", "oclc:1;ISBN 0-395-36341-1", head="identifier;other", encoding="utf-8-sig"
        )
        assert read_never_join(table).pairs == (("oclc:1", "urn:isbn:9780395363416"),)

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            (["oclc:1,foo"], "line 2: 'foo' is neither a URN nor a key such as oclc:1234"),
            (["oclc:1,oclc:2", "oclc:1,"], "line 3: '' is neither a URN nor a key such as oclc:1234"),
            (["0-395-36341-1,urn:isbn:9780395363416"], "line 2: both identifiers are urn:isbn:9780395363416"),
        ],
    )
    def test_bad_rows(self, never, rows, message):
        """Named with their line; nothing is written."""
        with pytest.raises(FatalError, match=message):
            read_never_join(never(*rows))

    def test_bad_files(self, never, tmp_path):
        with pytest.raises(FatalError, match="has no column other; it needs the columns identifier and other"):
            read_never_join(never("oclc:1", head="identifier"))
        with pytest.raises(FatalError, match="the pairs of identifiers cannot be read: No such file"):
            read_never_join(tmp_path / "none.csv")
        with pytest.raises(ArgumentError, match="never_join must be a path"):
            urnscan.deduplicate("x", never_join=[("a", "b")])

    def test_the_table_is_in_the_metadata_and_is_never_written_over(self, never, tmp_path):
        table = never("oclc:1,oclc:2")
        with pytest.raises(FatalError, match="is an input and an output"):
            clusters(tmp_path, BOOKS, never_join=table, mapping=table, force=True)
        found = clusters(tmp_path, BOOKS, never_join=table)
        assert found
        assert len(read_never_join(table).sha256) == 64
