"""Deduplication of records whose identifiers lie: of each case that was met in real dumps a small one."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.dumps import make_dump
from tests.support.reading import read_from
from urnscan.dedup.compare.agreement import RULES, compare
from urnscan.framing.buffer import Buffer
from urnscan.records.format_registry import FORMATS
from urnscan.records.record import Record, description_of

CASES = Path(__file__).parents[1] / "dedup" / "cases"


def rows_of(*dumps, **options):
    found = urnscan.deduplicate(*dumps, **options)
    assert not found.report.failures
    return found.clusters.to_pylist()


def lines(*records):
    """JSON Lines; each record has an identifier of its own as `id`."""
    return b"".join(json.dumps({"id": f"r{at}"} | record).encode() + b"\n" for at, record in enumerate(records))


class TestCases:
    """No record of them is a duplicate."""

    @pytest.mark.parametrize(
        ("name", "reasons"),
        [
            ("marc-isbn-reused-by-editions.mrc", ["title edition part"] * 2 + ["title part"] * 2),
            ("marc-teachers-edition-isbn.mrc", ["part"] * 2),
            ("csv-supplement-doi.csv", ["title part"] * 3),
        ],
    )
    def test_an_identifier_that_lies(self, name, reasons):
        """An ISBN of the next edition, one of all levels of a schoolbook, a DOI of a whole supplement."""
        rows = rows_of(CASES / name)
        assert all(row["kept"] and row["decision"] == "apart" for row in rows)
        assert [row["reason"] for row in rows] == reasons
        assert not any(row["joined_by"] for row in rows)
        joined = rows_of(CASES / name, agree="none")
        assert sum(row["kept"] for row in joined) < len(joined)
        assert [row["cluster"] for row in joined] == [row["component"] for row in rows]

    def test_identifiers_of_the_host_do_not_count(self):
        """The second DO of a chapter, and the ISBN of a BOOK with a host and pages, whatever their titles are."""
        rows = rows_of(CASES / "ris-wos-chapters.ris", agree="none")
        assert [row["decision"] for row in rows] == ["alone"] * 4
        assert [row["urns"] for row in rows[:2]] == [
            ["urn:doi:10.1007/978-3-319-46010-9_7"],
            ["urn:doi:10.1007/978-3-319-46010-9_14"],
        ]

    def test_a_chapter_as_a_book_of_bibtex(self, tmp_path):
        """An entry with a host and pages has the ISBN of the host; a book has its own."""
        entry = "@book{%s, title = {T}, isbn = {9780395363416}%s}\n"
        dump = tmp_path / "a.bib"
        dump.write_text(entry % ("a", "") + entry % ("b", ", booktitle = {H}, pages = {3--9}") + entry % ("c", ""))
        assert [len(row["urns"]) for row in rows_of(dump)] == [1, 0, 1]

    def test_proceedings_with_their_title_as_that_of_a_host(self, tmp_path):
        """BibTeX of texbook3.bib: `booktitle` is the title once more, and `pages` counts all pages; the ISBN is its own."""
        entry = "@proceedings{%s, title = {{Raster} Imaging}, booktitle = {%s}, pages = {%s}, isbn = {9780395363416}}\n"
        dump = tmp_path / "a.bib"
        dump.write_text(entry % ("a", "Raster imaging.", "x + 220") + entry % ("b", "Imaging", "3--9"))
        assert [row["urns"] for row in rows_of(dump)] == [["urn:isbn:9780395363416"], []]

    def test_anywhere_in_the_record(self, tmp_path):
        """With `any_urn` a URN anywhere counts, and the descriptions are compared, too."""
        dump = tmp_path / "a.jsonl"
        urn = "urn:nbn:de:101:1-2"
        dump.write_bytes(
            lines({"title": "Inks", "note": urn}, {"title": "Grammar", "note": urn}, {"title": "Inks", "x": urn})
        )
        rows = rows_of(dump, any_urn=True)
        assert [row["decision"] for row in rows] == ["kept", "apart", "removed"]
        assert [row["reason"] for row in rows] == ["title"] * 3
        assert [row["joined_by"] for row in rows] == [[urn], [], [urn]]


ISBNS = [f"urn:nbn:de:101:1-{number}" for number in range(4)]
records = st.lists(
    st.fixed_dictionaries(
        {"urn": st.lists(st.sampled_from(ISBNS), unique=True, min_size=1, max_size=2)},
        optional={
            "title": st.sampled_from(["Physics", "Physics 1", "Grammar"]),
            "year": st.sampled_from([1999, 2000, 2001]),
            "edition": st.sampled_from(["1", "2"]),
        },
    ),
    min_size=1,
    max_size=7,
)


def clusters_of(rows):
    held = {}
    for row in rows:
        held.setdefault(row["cluster"], set()).add(row["record_id"])
    return {frozenset(names) for names in held.values()}


class TestAnyRecords:
    """The whole way, from dumps to rows."""

    @given(found=records, data=st.data())
    def test_no_contradiction_and_no_order(self, tmp_path_factory, found, data):
        """No two records of a cluster contradict each other, and another order of the dumps changes no cluster."""
        folder = tmp_path_factory.mktemp("order")
        dumps = [folder / f"{at}.jsonl" for at in range(len(found))]
        for at, (dump, record) in enumerate(zip(dumps, found, strict=True)):
            dump.write_bytes(lines({**record, "id": f"r{at}"}))
        rows = rows_of(*dumps)
        described = []
        for dump in dumps:
            with dump.open("rb") as file:
                (record,) = read_from(FORMATS["jsonl"].reader(own=True, described=True), Buffer(file.readinto))
            assert isinstance(record, Record)
            described.append(description_of(record.description))
        for one, row in zip(described, rows, strict=True):
            for other, beside in zip(described, rows, strict=True):
                if row["cluster"] == beside["cluster"]:
                    assert not compare(one, other, RULES).against
        again = rows_of(*data.draw(st.permutations(dumps)))
        assert clusters_of(again) == clusters_of(rows)

    @pytest.mark.full
    @given(found=records)
    def test_none_is_plain_components(self, tmp_path_factory, found):
        """`agree="none"`: clusters are the components of the default, whatever the records describe."""
        dump = tmp_path_factory.mktemp("none") / "a.jsonl"
        dump.write_bytes(lines(*found))
        plain = [row["cluster"] for row in rows_of(dump, agree="none")]
        label = list(range(len(found)))
        for urn in ISBNS:
            holders = [at for at, record in enumerate(found) if urn in record["urn"]]
            label = [
                label[holders[0]] if label[at] in {label[each] for each in holders} else label[at]
                for at in range(len(found))
            ]
        first = {each: number for number, each in enumerate(dict.fromkeys(label), 1)}
        assert plain == [first[each] for each in label] == [row["component"] for row in rows_of(dump)]


class TestMaxCluster:
    """Components that are too large."""

    def test_none_is_joined(self, tmp_path):
        """None of a chain of records is removed, and the report names the first; what is small enough is joined.

        The name has the number that the record has in the tables: damaged records count.
        """
        dump = tmp_path / "chain.jsonl"
        chain = [{"urn": [f"urn:foo:{at}", f"urn:foo:{at + 1}"], "title": "T"} for at in range(6)]
        dump.write_bytes(b'{"urn": "urn:foo:d"\n' + lines(*[{"urn": "urn:foo:x", "title": "T"}] * 2, *chain))
        for agree in ("none", "title"):
            found = urnscan.deduplicate(dump, max_cluster=5, agree=agree)
            assert found.report.too_large == [(f"{dump}: record 4", 6)]
            assert found.clusters["record"].to_pylist() == [*range(2, 10)]
            assert found.report.duplicates == 1
            assert found.report.doubts == 1
            assert found.clusters["reason"].to_pylist() == [None, None, *["max-cluster"] * 6]
        assert urnscan.deduplicate(dump, max_cluster=6).report.duplicates == 6

    def test_the_largest_come_first(self, tmp_path):
        """Of several dumps: `urnscan dedup` prints only the first five."""
        for name, size in (("a", 6), ("b", 9)):
            chain = [{"urn": [f"urn:{name * 3}:{at}", f"urn:{name * 3}:{at + 1}"]} for at in range(size)]
            (tmp_path / f"{name}.jsonl").write_bytes(lines(*chain))
        dumps = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
        report = urnscan.deduplicate(dumps, max_cluster=5, agree="none").report
        assert report.too_large == [(f"{dumps[1]}: record 1", 9), (f"{dumps[0]}: record 1", 6)]

    def test_pieces_of_one_record_are_one(self, tmp_path):
        """A subject whose statements are scattered is one thing, however many pieces it has."""
        dump = make_dump("ntriples", 0, 12)
        path = tmp_path / dump.name
        about = b'<urn:example:lamp> <http://purl.org/dc/terms/title> "Lamp" .\n'
        other = b'<urn:example:other> <http://purl.org/dc/terms/title> "Other" .\n'
        path.write_bytes((about + other) * 30)
        found = urnscan.deduplicate(path, max_cluster=5)
        assert found.report.clusters == 2
        assert found.report.too_large == []


def test_spilled_descriptions_count(tmp_path, monkeypatch):
    """Memory is bounded: descriptions wait in files, and nothing is different."""
    dump = make_dump("marc", 1, 60, fields=True)
    path = tmp_path / dump.name
    path.write_bytes(dump.data)
    held = rows_of(path)
    monkeypatch.setattr("urnscan.dedup.join.contradictions._IN_MEMORY", 1)
    monkeypatch.setattr("urnscan.dedup.cluster_records._IN_MEMORY", 1)
    monkeypatch.setattr("urnscan.dedup.read.record_collection._IN_MEMORY", 1)
    assert rows_of(path) == held
