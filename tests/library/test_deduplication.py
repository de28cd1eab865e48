"""Dumps with planted duplicates in every format: what belongs together is found, and nothing else."""

import gzip
import json
import zipfile
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pymarc
import pytest
from lxml import etree

import urnscan
from tests.support.dumps import FORMATS, make_dump
from tests.support.packed import zipped
from urnscan.cli import main
from urnscan.dedup.read import damaged_records
from urnscan.dedup.reread import Dump, SecondReading
from urnscan.errors import FatalError, UnknownFormatError
from urnscan.formats.context import Reading
from urnscan.records.format_registry import FORMATS as KNOWN
from urnscan.stores.input import Input

NAMES = {"unimarc": "marc", "marc-in-json": "json", "oai-pmh": "oai", "nquads": "ntriples", "tsv": "csv"}
XML = ("marcxml", "pica-xml", "mods", "dc", "oai-pmh", "onix", "pubmed", "endnote")
every_format = pytest.mark.parametrize("format_", FORMATS)


def deduplicate(folder, dump, **options):
    path = folder / dump.name
    path.write_bytes(dump.data)
    given = {"weak": dump.weak, "max_class": dump.max_class, "any_urn": True} | options
    if dump.format == "line":
        given["record"] = "line"
    return urnscan.deduplicate(path, **given)


def first_of_each(labels):
    """The labels as numbers in the order of their first ones, from 1."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels), 1)}
    return [numbers[label] for label in labels]


class TestClusters:
    """ "precision and recall of the clusters = 1.0 on them" """

    @every_format
    @pytest.mark.parametrize(
        "fields", [pytest.param(False, marks=pytest.mark.full), True], ids=["everything", "fields"]
    )
    @pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
    def test_as_they_were_planted(self, tmp_path, format_, fields, seed):
        dump = make_dump(format_, seed, 60, fields=fields)
        found = deduplicate(tmp_path, dump, any_urn=not fields)
        assert not found.report.failures
        rows = found.clusters.to_pylist()
        assert [row["cluster"] for row in rows] == first_of_each(dump.clusters)
        assert [dump.data[row["start"] :][: row["length"]] for row in rows] == dump.records
        assert [row["record_id"] for row in rows] == dump.identifiers
        assert [row["record"] for row in rows] == list(range(1, len(rows) + 1))

    def test_each_format_is_tested(self):
        """One that is added needs its dumps; SRU is the wrapper of others, and tested with the reader."""
        assert {NAMES.get(name, name) for name in FORMATS} == set(KNOWN) - {"sru"}

    @pytest.mark.full
    def test_they_are_hard(self, tmp_path):
        """Else the test above shows nothing: the lexical form alone misses most, and all that is weak joins too much."""
        dump = make_dump("marc", 0, 60)
        planted = max(first_of_each(dump.clusters))
        assert deduplicate(tmp_path, dump, equivalence="lexical").report.clusters > planted * 1.2
        assert deduplicate(tmp_path, dump, weak=(), agree="none").report.clusters < planted
        loose = {"max_class": 10**6, "max_cluster": 10**6}
        assert deduplicate(tmp_path, dump, **loose, agree="none").report.clusters < planted
        assert deduplicate(tmp_path, dump, **loose).report.doubts


class TestColumns:
    """What a row says of its record and its cluster."""

    @pytest.fixture(scope="class")
    @classmethod
    def rows(cls, tmp_path_factory):
        found = deduplicate(tmp_path_factory.mktemp("columns"), make_dump("marcxml", 3, 60), keep="first")
        return found.clusters.to_pylist()

    def test_joined_by(self, rows):
        """Exactly those of a record's URNs that stand in another record of its cluster."""
        for row in rows:
            others = [other for other in rows if other["cluster"] == row["cluster"] and other is not row]
            shared = {urn for other in others for urn in other["urns"]}
            assert set(row["joined_by"]) <= shared & set(row["urns"])
            assert (row["joined_by"] != []) == (others != [])
        assert any(len(row["joined_by"]) < len(row["urns"]) for row in rows)

    def test_urns_are_canonical_and_once(self, rows):
        for row in rows:
            assert len(set(row["urns"])) == len(row["urns"])
            assert row["urns"] == [urnscan.canonical(urn, equivalence="namespace") for urn in row["urns"]]

    def test_one_of_a_cluster_is_kept(self, rows):
        by_cluster = {}
        for row in rows:
            by_cluster.setdefault(row["cluster"], []).append(row)
        for cluster in by_cluster.values():
            assert [row["cluster_rank"] for row in cluster] == list(range(1, len(cluster) + 1))
            assert [row["kept"] for row in cluster] == [True] + [False] * (len(cluster) - 1)


def test_bytes_are_those_of_the_command(tmp_path):
    """`Dedup.to_parquet` writes what `urnscan dedup -o` does, and replaces nothing unasked."""
    dump = str(urnscan.samples() / "catalogue.marcxml.xml")
    assert main(["dedup", dump, "-o", str(tmp_path / "there.parquet"), "--quiet"]) == 0
    found = urnscan.deduplicate(dump)
    found.to_parquet(tmp_path / "here.parquet")
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()
    with pytest.raises(FatalError, match="exists already"):
        found.to_parquet(tmp_path / "here.parquet")


NBN, LINK = "urn:nbn:de:101:1-201609052530", "https://r.example"


class TestComponents:
    """RFC 8141 §3.1: a component makes no other name of a name; nor does the rest of a link around it."""

    ENDS = ("", "#page=2", "?=format=pdf", "?+copy=b", "#", "?=", "?+/x")
    LINKS = (f"{LINK}/{NBN}?lang=de", f"{LINK}/{NBN}#top", f"{LINK}/?urn={NBN}&lang=de", f"{LINK}/{NBN}?+copy=b&c")

    @pytest.mark.parametrize("texts", [[NBN + end for end in ENDS], [NBN, *LINKS]])
    def test_one_thing(self, tmp_path, texts):
        (tmp_path / "a").write_text("".join(f"{text}\n" for text in texts))
        found = urnscan.deduplicate(tmp_path / "a", record="line")
        assert found.clusters.column("urns").to_pylist() == [[NBN]] * len(texts)
        assert (found.report.clusters, found.report.components_in_names) == (1, 0)
        told = found.to_pandas().attrs["urnscan"]
        assert (told["syntax"], told["resolver_tail"]) == ("rfc8141", "cut")

    def test_other_standards_are_there(self, tmp_path):
        """Whoever names RFC 2141 gets its names, and is told how many have components."""
        (tmp_path / "a").write_text(f"{NBN}\n{NBN}#page=2\n")
        found = urnscan.deduplicate(tmp_path / "a", record="line", syntax="rfc2141")
        assert (found.report.clusters, found.report.components_in_names) == (2, 1)


def outside(data, records):
    """What stands between and around the records of a dump, without white space."""
    ends = [0]
    for offset, length in records:
        ends += [offset, offset + length]
    ends.append(len(data))
    return b"".join(data[start:end] for start, end in list(pairwise(ends))[::2]).split()


def test_pandas_reads_the_same_from_the_file(tmp_path, monkeypatch):
    """The file of the command, and `to_pandas`: rows, types, categories, and in the attributes what the run was."""
    monkeypatch.chdir(tmp_path)
    dump = make_dump("csv", 3, 12)
    Path("dump.csv").write_bytes(dump.data)
    assert main(["dedup", "dump.csv", "-o", "clusters.parquet", "--quiet"]) == 0
    frame, found = pd.read_parquet("clusters.parquet"), urnscan.deduplicate("dump.csv").to_pandas()
    pd.testing.assert_frame_equal(frame, found, check_categorical=False)
    # The dictionary of `reason` has all combinations of aspects. Only the order of the categories may differ.
    for name in frame.select_dtypes("category"):
        assert sorted(frame[name].cat.categories) == sorted(found[name].cat.categories), name
    assert frame.attrs == found.attrs
    assert frame.attrs["urnscan"]["counts"]["records"] == len(frame)


class TestDeduplicated:
    """ "writes the kept records, byte for byte as they came, in the input's format" """

    @pytest.mark.parametrize(
        ("format_", "keep"),
        [
            *((format_, "first") for format_ in FORMATS),
            *((format_, "last") for format_ in ("marc", "onix", "json", "tsv")),
        ],
    )
    def test_kept_and_removed_together_are_the_dump(self, tmp_path, format_, keep):
        """No record is in both files or in none, and the file of the removed ones is a dump of the same format."""
        dump = make_dump(format_, 8, 25)
        places = {"deduplicated": tmp_path / f"kept-{dump.name}", "removed": tmp_path / f"gone-{dump.name}"}
        found = deduplicate(tmp_path, dump, keep=keep, **places)
        records = {}
        for name, place in places.items():
            rows = urnscan.deduplicate(place, record=NAMES.get(format_, format_), agree="none").clusters.to_pylist()
            cut = [(row["start"], row["length"]) for row in rows]
            records[name] = iter([place.read_bytes()[start:][:length] for start, length in cut])
            if NAMES.get(format_, format_) != "json":  # there commas go with records
                before = [(row["start"], row["length"]) for row in found.clusters.to_pylist()]
                assert outside(place.read_bytes(), cut) == outside(dump.data, before)
        decided = [("removed", "deduplicated")[row["kept"]] for row in found.clusters.to_pylist()]
        assert decided.count("removed") == found.report.duplicates > 0
        assert [next(records[name]) for name in decided] == dump.records
        assert [list(rest) for rest in records.values()] == [[], []]

    @pytest.mark.parametrize("format_", ["marc", "ntriples"])
    @pytest.mark.parametrize("keep", ["first", "last", "longest"])
    def test_mapping_leads_to_the_kept_record(self, tmp_path, format_, keep):
        """From each removed record of two dumps, also where the kept one comes behind it or lies in another dump."""
        names = []
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            dump = make_dump(format_, 8, 25)
            names.append(tmp_path / folder / dump.name)
            names[-1].write_bytes(dump.data)
        place = tmp_path / "mapping.jsonl"
        found = urnscan.deduplicate(*names, mapping=place, keep=keep, agree="none")
        rows = found.clusters.to_pylist()
        kept = {row["cluster"]: row for row in reversed(rows) if row["kept"]}
        shared = "source member record record_id start cluster joined_by digest".split()
        expected = [
            {name: row[name] for name in shared}
            | {
                f"kept_{name}": kept[row["cluster"]][name]
                for name in ("source", "member", "record", "record_id", "digest")
            }
            # Without a comparison (`agree="none"`) no title is read.
            | {"title": None}
            for row in rows
            if not row["kept"]
        ]
        written = [json.loads(line) for line in place.read_text().splitlines()]
        assert written == expected
        assert any(row["source"] != row["kept_source"] for row in written)

    def test_twice_is_once(self, tmp_path):
        """What has no duplicates is not changed."""
        dump = make_dump("mods", 1, 40)
        deduplicate(tmp_path, dump, deduplicated=tmp_path / "once.xml")
        urnscan.deduplicate(
            tmp_path / "once.xml", weak=dump.weak, max_class=dump.max_class, deduplicated=tmp_path / "twice.xml"
        )
        assert (tmp_path / "once.xml").read_bytes() == (tmp_path / "twice.xml").read_bytes()

    def test_marc_through_pymarc(self, tmp_path):
        dump = make_dump("marc", 2, 40)
        found = deduplicate(tmp_path, dump, deduplicated=tmp_path / "out.mrc")
        with (tmp_path / "out.mrc").open("rb") as file:
            read = [record.as_marc() for record in pymarc.MARCReader(file)]
        assert read == [
            record for record, row in zip(dump.records, found.clusters.to_pylist(), strict=True) if row["kept"]
        ]

    @pytest.mark.full
    @pytest.mark.parametrize("format_", XML)
    def test_xml_through_lxml(self, tmp_path, format_):
        dump = make_dump(format_, 2, 40)
        found = deduplicate(tmp_path, dump, deduplicated=tmp_path / "out.xml")
        before, after = etree.fromstring(dump.data), etree.parse(tmp_path / "out.xml").getroot()
        assert (after.tag, after.attrib, after.nsmap) == (before.tag, before.attrib, before.nsmap)
        removed = found.report.records - found.report.clusters
        holder = max(before.iter(), key=len) if format_ != "oai-pmh" else next(before.iter("{*}ListRecords"))
        left = max(after.iter(), key=len) if format_ != "oai-pmh" else next(after.iter("{*}ListRecords"))
        assert len(left) == len(holder) - removed

    def test_json_through_json(self, tmp_path):
        dump = make_dump("json", 2, 40)
        found = deduplicate(tmp_path, dump, deduplicated=tmp_path / "out.json")
        (kept,) = (json.loads((tmp_path / "out.json").read_bytes()),)
        text = json.dumps(kept)
        rows = zip(dump.records, found.clusters.to_pylist(), strict=True)
        for record, row in rows:
            assert (json.dumps(json.loads(record)) in text) == row["kept"]


class TestDamage:
    """ "A damaged record is reported with its number and position, and the rest goes on." """

    @every_format
    def test_truncated(self, tmp_path, format_):
        """All that is whole before the cut is read."""
        dump = make_dump(format_, 5, 30)
        path = tmp_path / dump.name
        start = dump.data.index(dump.records[-5], len(dump.data) // 2)
        path.write_bytes(dump.data[: start + len(dump.records[-5]) // 2])
        found = urnscan.deduplicate(path, record="line" if format_ == "line" else NAMES.get(format_, format_))
        assert found.report.records >= len(dump.records) - 5
        rows = found.clusters.to_pylist()
        whole = len(dump.records) - 5
        assert [dump.data[row["start"] :][: row["length"]] for row in rows[:whole]] == dump.records[:whole]

    @pytest.mark.parametrize("format_", ["marc", "marcxml", "jsonl", "json", "onix", "ntriples", "bibtex"])
    def test_a_damaged_record(self, tmp_path, format_):
        """Told by number and byte; those before and behind it are read, and it stays in what is written."""
        dump = make_dump(format_, 6, 30)
        at = dump.data.index(dump.records[3])
        bad = {
            "marc": lambda record: b"x" * 30 + record[30:],
            "ntriples": lambda record: b"<broken " + record.split(b" ", 1)[1],
            "bibtex": lambda record: record[: record.rindex(b"}")] + b"\n",
        }.get(format_, lambda record: record.replace(b'"', b"<", 1) if b'"' in record else record.replace(b">", b"", 1))
        damaged = bad(dump.records[3])
        data = dump.data[:at] + damaged + dump.data[at + len(dump.records[3]) :]
        path = tmp_path / dump.name
        path.write_bytes(data)
        found = urnscan.deduplicate(path, record=NAMES.get(format_, format_), deduplicated=tmp_path / "out")
        assert found.report.damaged >= 1
        assert f"record 4 at byte {at:,} is damaged: " in str(found.report.failures[0])
        read = {data[row["start"] :][: row["length"]] for row in found.clusters.to_pylist()}
        assert set(dump.records[:3] + dump.records[5:]) <= read
        told = damaged.splitlines()[0] if format_ == "ntriples" else damaged.rstrip()  # its other lines are statements
        assert told in (tmp_path / "out").read_bytes()


class TestPieces:
    """N-Triples "by subject": what is said of one subject is one record, wherever it stands."""

    TRIPLES = (
        "<http://a> <p> <urn:x-y:1> .\n<http://b> <p> <urn:x-y:1> .\n<http://c> <p> <urn:x-y:2> .\n"
        '<http://a> <p> "more" .\n<http://b> <p> "more" .\n'
    )

    def test_they_are_kept_or_go_together(self, tmp_path):
        """Nothing is lost of a subject that is kept."""
        path, out = tmp_path / "a.nt", tmp_path / "out.nt"
        path.write_text(self.TRIPLES)
        found = urnscan.deduplicate(path, deduplicated=out)
        rows = found.clusters.to_pylist()
        assert [row["cluster"] for row in rows] == [1, 1, 2, 1, 1]
        assert [row["cluster_rank"] for row in rows] == [1, 2, 1, 1, 2]
        assert out.read_text() == "".join(line for line in self.TRIPLES.splitlines(True) if "b>" not in line)
        assert (found.report.clusters, found.report.duplicates) == (2, 2)

    def test_longest_is_that_of_all_pieces(self, tmp_path):
        path = tmp_path / "a.nt"
        path.write_text(self.TRIPLES.replace('<http://b> <p> "more"', '<http://b> <p> "more of it"'))
        rows = urnscan.deduplicate(path, keep="longest").clusters.to_pylist()
        assert [row["cluster_rank"] for row in rows] == [2, 1, 1, 2, 1]

    def test_a_damaged_line_between_them(self, tmp_path):
        """It costs itself and nothing else."""
        path, out = tmp_path / "a.nt", tmp_path / "out.nt"
        path.write_text("<http://a> <p> <urn:x-y:1> .\n<http://a> <broken\n<http://a> <p> <urn:x-y:2> .\n")
        found = urnscan.deduplicate(path, deduplicated=out)
        assert [row["cluster"] for row in found.clusters.to_pylist()] == [1, 1]
        assert out.read_text() == path.read_text()
        assert len(found.report.failures) == 1


class TestWhatJoinsNothing:
    """What only looks like the same name."""

    def test_a_placeholder(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_text("urn:isbn:0000000000\n" * 3 + "urn:uuid:00000000-0000-0000-0000-000000000000\n" * 3)
        assert urnscan.deduplicate(path, record="line").report.clusters == 6

    def test_a_cut_name(self, tmp_path):
        """Two that have the first bytes in common, as many as are looked at, may be different."""
        path = tmp_path / "a.txt"
        path.write_text("urn:x-y:abcdefgh\nurn:x-y:abcdefgz\n")
        report = urnscan.deduplicate(path, record="line", max_length=12).report
        assert (report.clusters, report.cut, report.without) == (2, 2, 2)


class TestInputs:
    """One that cannot be read costs itself."""

    def test_a_damaged_member(self, tmp_path):
        """The other members of its archive are read."""
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("0.mrc", "1.mrc"):
                archive.writestr(name, make_dump("marc", 1, 20).data)
        data = bytearray(path.read_bytes())
        data[40:60] = bytes(20)
        path.write_bytes(data)
        found = urnscan.deduplicate(path)
        assert set(found.clusters.column("member").to_pylist()) == {"1.mrc"}
        assert len(found.report.failures) == 1

    def test_damage_in_the_midst(self, tmp_path):
        """What is behind it in the same dump is read, and the bytes that are lost to the first reading are to the second."""
        members = [bytearray(gzip.compress(b"urn:foo:%d\n" % number)) for number in range(3)]
        members[1][-8] ^= 1  # its checksum
        path, out = tmp_path / "a.txt.gz", tmp_path / "out.txt"
        path.write_bytes(b"".join(members))
        found = urnscan.deduplicate(path, record="line", deduplicated=out)
        assert [row["urns"] for row in found.clusters.to_pylist()] == [["urn:foo:0"], ["urn:foo:1"], ["urn:foo:2"]]
        assert len(found.report.failures) == 1
        assert out.read_bytes() == b"urn:foo:0\nurn:foo:1\nurn:foo:2\n"

    def test_all_failures_are_in_the_report(self, tmp_path):
        """The command names only the first of very many; a program gets all of them."""
        for number in range(25):
            (tmp_path / f"{number:02}.js").write_text("var a = 1;\n")
        (tmp_path / "a.jsonl").write_text('{"id": "urn:a:b"}\n')
        failures = urnscan.deduplicate(sorted(tmp_path.iterdir())).report.failures
        assert [failure.source for failure in failures] == [f"{tmp_path}/{number:02}.js" for number in range(25)]
        assert {type(failure) for failure in failures} == {UnknownFormatError}

    def test_records_are_told_when_one_can_be_read(self, tmp_path, monkeypatch):
        """Those before it were held back; so is no more than a bounded number."""
        path = tmp_path / "a.jsonl"
        path.write_text('{"id"\n{"id"\n{"id": "urn:a:b"}\n')
        reasons = [failure.reason for failure in urnscan.deduplicate(path).report.failures]
        assert [reason.split(" is damaged")[0] for reason in reasons] == ["record 1 at byte 0", "record 2 at byte 6"]
        monkeypatch.setattr(damaged_records, "_MAX_AT_START", 2)
        path.write_text('{"id"\n' * 5)
        reasons = [failure.reason for failure in urnscan.deduplicate(path, record="jsonl").report.failures]
        assert [reason.split(" at ")[0] for reason in reasons] == [f"record {number}" for number in range(1, 6)]

    def test_limits(self, tmp_path):
        """What was read until then counts, and is written; nothing more of the input is read."""
        dump = make_dump("marc", 1, 40)
        records = dump.records * (1_000_000 // len(dump.data))  # more than is unfolded in one step
        path, out = tmp_path / "a.mrc.gz", tmp_path / "out.mrc"
        path.write_bytes(gzip.compress(b"".join(records)))
        found = urnscan.deduplicate(path, deduplicated=out, max_size=600_000)
        rows = found.clusters.to_pylist()
        assert any("max_size" in str(failure) for failure in found.report.failures)
        assert 0 < len(rows) < len(records)
        kept = b"".join(record for record, row in zip(records, rows, strict=False) if row["kept"])
        assert out.read_bytes().startswith(kept)

    def test_another_format_than_the_dump_has(self, tmp_path):
        """`--record` is believed; a dump in which nothing is then found is told."""
        path = tmp_path / "a.mrc"
        path.write_bytes(make_dump("marc", 1, 20).data)
        (failure,) = urnscan.deduplicate(path, record="marcxml").report.failures
        assert str(failure).endswith("no record in MARCXML format; leave out record to have the format recognised")
        (tmp_path / "b.xml").write_text("<collection xmlns='http://www.loc.gov/MARC21/slim'/>")
        assert not urnscan.deduplicate(tmp_path / "b.xml", record="marcxml").report.failures

    def test_options_of_scans_alone(self, tmp_path):
        """What would mean nothing is refused."""
        for name in ("column", "memory"):
            with pytest.raises(TypeError, match=f"has no option {name}"):
                urnscan.deduplicate(tmp_path, **{name: 1})


def test_syntax_without_slash(tmp_path):
    """A URN of rfc2141bis-03 ends at "/": all DOIs of a publisher would be one. So every URN counts, and no DOI."""
    path = tmp_path / "a.txt"
    path.write_text("{doi}\n{doi}\n".format(doi='{"doi": "10.5555/a", "note": "urn:isbn:9780395363416"}'))
    by_syntax = {syntax: urnscan.deduplicate(path, syntax=syntax).clusters for syntax in ("rfc8141", "rfc2141bis-03")}
    urns = {syntax: clusters.column("urns").to_pylist() for syntax, clusters in by_syntax.items()}
    assert urns == {"rfc8141": [["urn:doi:10.5555/a"]] * 2, "rfc2141bis-03": [["urn:isbn:9780395363416"]] * 2}


def test_a_dump_that_is_not_in_its_archive_any_more(tmp_path):
    """The archive can be read to its end, and that is less than it was."""
    path = tmp_path / "dumps.zip"
    path.write_bytes(zipped([("a.txt", b"urn:foo:a\n")]))
    source = Input("dumps.zip", str(path), path.stat().st_size)
    first, gone = (
        Dump(source, f"dumps.zip!/{name}", name, number, KNOWN["line"], number)
        for number, name in enumerate(("a.txt", "b.txt"))
    )
    found = SecondReading([first, gone], None, Reading(), lambda _: None).excerpts({first: [(4, 5)], gone: [(0, 9)]})
    assert next(found) == ((first, 4), b"foo:a")
    with pytest.raises(urnscan.FatalError, match=r"dumps.zip!/b.txt: has changed during the run"):
        next(found)
