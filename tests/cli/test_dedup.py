"""The command `urnscan dedup`: its outputs, its messages, its exit status."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import signal
import tarfile
import threading
import zipfile

import lxml.html
import pyarrow as pa
import pyarrow.parquet as pq
import pymarc
import pytest
from lxml import etree

from tests.support.dumps import make_dump
from tests.support.processes import wait_until

from .conftest import PATIENCE
from .test_terminal import Screen

pytestmark = pytest.mark.full

ALL = ["-o", "clusters.parquet", "--deduplicated", "kept", "--report", "report.html"]
OUTPUTS = ["clusters.parquet", "kept", "report.html"]
BOOKS = make_dump("marc", 1, 40)
COMMON = ["--any-urn", "--max-class", str(BOOKS.max_class), "--weak", ",".join(BOOKS.weak), "--keep", "first"]
"""What its truth goes by, and the first of each work is kept."""
WORKS = len(set(BOOKS.clusters))
DICTIONARY = pa.dictionary(pa.int32(), pa.string())
URNS = pa.list_(pa.field("element", pa.string(), nullable=False))
COLUMNS = {
    "cluster": pa.int64(),
    "source": DICTIONARY,
    "member": DICTIONARY,
    "record": pa.int64(),
    "record_id": pa.string(),
    "start": pa.int64(),
    "length": pa.int64(),
    "urns": URNS,
    "other_keys": URNS,
    "joined_by": URNS,
    "cluster_rank": pa.int64(),
    "kept": pa.bool_(),
    "decision": DICTIONARY,
    "reason": DICTIONARY,
    "component": pa.int64(),
    "title": pa.string(),
    "publication_year": pa.int32(),
    "format": DICTIONARY,
    "author": pa.string(),
    "digest": pa.string(),
}


def dedup(urnscan, *arguments, **options):
    return urnscan("dedup", *arguments, **options)


def said(result):
    """The lines on standard error but for the summary."""
    return [line.removeprefix("urnscan: ") for line in result.err.splitlines() if " duplicate" not in line]


def numbers_of(result):
    """Dumps, records, clusters, duplicates and failures, as the summary says them."""
    (line,) = [line for line in result.err.splitlines() if re.search(r" [\d,]+ duplicate", line)]
    found = re.fullmatch(
        r"urnscan: ([\d,]+) dumps?, ([\d,]+) records?, ([\d,]+) clusters?, ([\d,]+) duplicates?, "
        r"(?:[\d,]+ groups? in doubt, )?(?:[\d,]+ without (?:URNs|identifiers), )?\d+\.\d s(?:, (\d+) failures?)?(?:, \d+ notes?)?(?: -> .+)?",
        line,
    )
    return tuple(int((number or "0").replace(",", "")) for number in found.groups())


def json_lines(*urns):
    """A record for each, which names these URNs; its `id` is its number, and its title that of all."""
    return b"".join(
        b'{"id": "%d", "urn": "%s", "title": "Inks"}\n' % (at, urn.encode()) for at, urn in enumerate(urns, 1)
    )


def archive(**members):
    """A tar file."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name.replace("_", "."))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def parquet(*urns):
    raw = io.BytesIO()
    pq.write_table(pa.table({"about": list(urns)}), raw)
    return raw.getvalue()


def clustered(urnscan, name="clusters.parquet"):
    """The cluster of each record."""
    return [cluster for (cluster,) in urnscan.rows(name, "cluster")]


def clusters(urnscan, *arguments, dump=b"", **options):
    """The cluster of each record of a dump on standard input."""
    dedup(urnscan, "-o", "clusters.parquet", "--force", "--quiet", *arguments, stdin=dump, **options)
    return clustered(urnscan)


@pytest.fixture(scope="module")
def books(urnscan_of_module):
    """The folder of a run over BOOKS that wrote all outputs; and what it said."""
    urnscan_of_module.write("books.mrc", BOOKS.data)
    outputs = ["-o", "clusters.parquet", "--deduplicated", "kept.mrc.gz", "--report", "report.html"]
    result = dedup(urnscan_of_module, "books.mrc", *COMMON, *outputs)
    return urnscan_of_module, result


class TestClusters:
    """`-o CLUSTERS.parquet`: a row for each record."""

    @pytest.fixture(scope="class")
    @classmethod
    def rows(cls, books):
        return pq.read_table(books[0].folder / "clusters.parquet").to_pylist()

    def test_columns_and_their_types_and_order(self, books):
        schema = pq.read_schema(books[0].folder / "clusters.parquet")
        assert schema.names == list(COLUMNS)
        types = dict(zip(schema.names, schema.types, strict=True))
        for name in ("urns", "other_keys", "joined_by"):  # the names inside a list differ between versions of Parquet
            assert types.pop(name).value_type == pa.string()
        assert types == {name: kind for name, kind in COLUMNS.items() if kind != URNS}
        nullable = ["member", "record_id", "start", "length", "reason", "title", "publication_year", "format", "author"]
        assert [field.name for field in schema if field.nullable] == nullable

    def test_metadata(self, books):
        """What it was judged by, and how much there was; nothing that differs between two runs."""
        told = json.loads(pq.read_metadata(books[0].folder / "clusters.parquet").metadata[b"urnscan"])
        assert told["counts"] == {
            "inputs": 1,
            "failures": 0,
            "notes": 0,
            "byte_count": len(BOOKS.data),
            "records": len(BOOKS.records),
            "damaged": 0,
            "clusters": WORKS,
            "duplicates": len(BOOKS.records) - WORKS,
            "doubts": 0,
            "untitled": 0,
            "too_large": 0,
            "trimmable": 0,
            "components_in_names": 0,
            "longer_in_rfc8141": 0,
            "cut_short": 0,
            "left_out": None,
            "common": 1,
        }
        assert (told["weak"], told["max_class"], told["keep"], told["any_urn"]) == (["issn"], 7, ["first"], True)
        assert (told["agree"], told["max_cluster"]) == (["title", "year", "edition", "part", "format", "language"], 50)
        assert told["equivalence"] == "namespace"

    def test_each_record_is_cut_out_of_the_dump_by_offset_and_length(self, rows):
        assert [BOOKS.data[row["start"] :][: row["length"]] for row in rows] == BOOKS.records
        assert [row["record_id"] for row in rows] == BOOKS.identifiers
        assert [row["record"] for row in rows] == list(range(1, len(rows) + 1))
        assert {(row["source"], row["member"]) for row in rows} == {("books.mrc", None)}

    def test_clusters_are_the_works_and_one_of_each_is_kept(self, rows):
        works = {}
        for row, work in zip(rows, BOOKS.clusters, strict=True):
            works.setdefault(work, []).append((row["cluster"], row["cluster_rank"], row["kept"]))
        assert [[rank for _, rank, _ in each] for each in works.values()] == [
            list(range(1, len(each) + 1)) for each in works.values()
        ]
        assert all(kept == (rank == 1) for each in works.values() for _, rank, kept in each)
        assert [{cluster for cluster, _, _ in each} for each in works.values()] == [{at + 1} for at in range(WORKS)]

    def test_what_is_said(self, books):
        """The class that joins nothing as it is too common, and the summary; what names nothing is not worth a line."""
        result = books[1]
        (line,) = said(result)
        many = len(BOOKS.records)
        assert line == f"urn:isbn:9781931666220: is in {many} records, so it joins none of them (--max-class 7)"
        assert numbers_of(result) == (1, len(BOOKS.records), WORKS, len(BOOKS.records) - WORKS, 0)
        assert result.out == b""

    def test_every_run_writes_the_same_bytes_and_so_does_a_pipe(self, books, urnscan):
        """A pipe has another name, and its dump goes through a file."""
        folder = books[0].folder
        urnscan.write("books.mrc", BOOKS.data)
        names = ["clusters.parquet", "kept.mrc.gz", "report.html"]
        options = [*COMMON, "-o", names[0], "--deduplicated", names[1], "--report", names[2], "--quiet"]
        assert dedup(urnscan, "books.mrc", *options).err.count("\n") == 1
        for name in names:
            assert (urnscan.folder / name).read_bytes() == (folder / name).read_bytes()
        dedup(urnscan, *options, "--force", stdin=gzip.compress(BOOKS.data))
        assert (urnscan.folder / names[1]).read_bytes() == (folder / names[1]).read_bytes()
        page = (urnscan.folder / names[2]).read_text()
        assert re.sub(r"(?<=[> ])-(?=[<, ])", "books.mrc", page).split() == (folder / names[2]).read_text().split()
        columns = [name for name in COLUMNS if name != "source"]
        assert urnscan.rows(names[0], *columns) == books[0].rows(names[0], *columns)
        assert urnscan.names() == sorted(["books.mrc", *names])


class TestReport:
    """`--report FILE.html`"""

    def test_it_names_the_numbers_of_the_summary(self, books):
        raw = (books[0].folder / "report.html").read_bytes()
        parser = lxml.html.HTMLParser(encoding="utf-8")
        text = lxml.html.document_fromstring(raw, parser=parser).text_content()
        # libxml2 knows no HTML5 element names, and finds nothing else
        assert {error.type_name for error in parser.error_log} <= {"HTML_UNKNOWN_TAG"}
        for number in numbers_of(books[1])[1:4]:
            assert re.search(rf"\b{number}\b", text)
        for word in ("books.mrc", "MARC (ISO 2709)", "urn:isbn:9781931666220", "--max-class"):
            assert word in text

    def test_records_of_large_clusters_have_titles(self, urnscan):
        """A control number that all records of a cluster have names none of them."""
        dump = b"id,title,isbn\na1,Invented inks,9780306406157\na1,Invented inks,9780306406157\na2,Invented inks,9780306406157\n"
        (urnscan.folder / "a.csv").write_bytes(dump)
        dedup(urnscan, "a.csv", "--report", "r.html")
        page = lxml.html.fromstring((urnscan.folder / "r.html").read_text())
        (names,) = page.xpath("//section[@id='largest']//small[starts-with(., 'Among them')]")
        assert " ".join(names.text_content().split()) == (
            'Among them: a1 (record 1) "Invented inks", a1 (record 2) "Invented inks", a2 "Invented inks"'
        )

    def test_a_long_title_without_spaces_is_cut(self, urnscan):
        """Its beginning stays: a title in Chinese has no space at which it could be cut."""
        rows = "".join(f"a{number},{'漢' * 70},9780306406157\n" for number in (1, 2))
        urnscan.write("a.csv", f"id,title,isbn\n{rows}".encode())
        dedup(urnscan, "a.csv", "--report", "r.html")
        assert f'"{"漢" * 60}…"' in lxml.html.fromstring((urnscan.folder / "r.html").read_text()).text_content()

    def test_it_asks_nothing_of_the_network(self, books):
        page = lxml.html.document_fromstring((books[0].folder / "report.html").read_bytes())
        assert page.xpath("//script|//link[@href]|//img|//iframe|//@src") == []

    def test_alone_of_what_is_damaged_and_hostile(self, urnscan):
        """No record can put markup into it, and what could not be read is named."""
        dump = json_lines("urn:foo:a <script>alert(1)</script>", "urn:foo:a </pre><b>") + b'{"id": "3\n'
        dedup(urnscan, "--report", "report.html", stdin=dump, status=1)
        page = lxml.html.document_fromstring((urnscan.folder / "report.html").read_bytes())
        assert page.xpath("//script") == []
        assert "alert(1)" in page.text_content()
        assert "record 3 at byte" in page.text_content()
        assert urnscan.names() == ["report.html"]


def pieces_left(before, after, pattern):
    """How many pieces of `before` are gone; fails where something was added or changed places."""
    pieces, rest = pattern.findall(before), iter(pattern.findall(after))
    assert b"".join(pieces) == before
    wanted = next(rest, None)
    gone = 0
    for piece in pieces:
        if piece == wanted:
            wanted = next(rest, None)
        else:
            gone += 1
    assert wanted is None
    return gone


LINE = re.compile(rb"[^\n]*\n|[^\n]+")
MARCXML = b"""\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?>
<!-- exported on a Sunday -->
<collection xmlns="http://www.loc.gov/MARC21/slim">
  <record>
    <controlfield tag="001">1</controlfield>
    <datafield tag="024" ind1="7" ind2=" "><subfield code="a">urn:foo:1</subfield></datafield>
  </record>
  <record>
    <controlfield tag="001">2</controlfield>
    <datafield tag="500" ind1=" " ind2=" "><subfield code="a">A &lt;URN:Foo:1&gt;, s. o.</subfield></datafield>
  </record>
  <!-- the rest is of last year -->
  <record>
    <controlfield tag="001">3</controlfield>
  </record>
  <record>
    <controlfield tag="001">4</controlfield>
    <datafield tag="856" ind1="4" ind2="0"><subfield code="u">https://r.example/urn:foo:1</subfield></datafield>
  </record>
</collection>
<!-- end -->
"""
MODS = b"""<mods:modsCollection xmlns:mods="http://www.loc.gov/mods/v3">
  <mods:mods><mods:titleInfo><mods:title>One &amp; one</mods:title></mods:titleInfo>
    <mods:identifier type="urn">urn:nbn:de:101:1-201</mods:identifier></mods:mods>
  <mods:mods><mods:identifier type="urn">URN:NBN:DE:101:1-201</mods:identifier></mods:mods>
</mods:modsCollection>
"""


class TestDeduplicated:
    """`--deduplicated FILE`: the kept records, byte for byte as they came, in the input's format, wrapper and all."""

    def test_marc_into_gzip(self, books):
        """The bytes of the kept records one after the other; and another library reads them."""
        kept = [record for record, kept in zip(BOOKS.records, self._kept(books[0]), strict=True) if kept]
        raw = gzip.decompress((books[0].folder / "kept.mrc.gz").read_bytes())
        assert raw == b"".join(kept)
        assert [record["001"].data for record in pymarc.MARCReader(raw)] == [
            name for name, kept in zip(BOOKS.identifiers, self._kept(books[0]), strict=True) if kept
        ]

    def _kept(self, urnscan):
        return [kept for (kept,) in urnscan.rows("clusters.parquet", "kept")]

    def test_xml_and_json_and_csv_into_a_folder(self, urnscan):
        """A file for each, of the input's name, compressed like it, from which lines are only removed."""
        array = b'[\n{"id": 1, "urn": "urn:foo:j"},\n{"id": 2, "urn": "urn:foo:\\u006a"},\n{"id": 3}\n]\n'
        table = b'id,urn\r\n1,urn:foo:c\r\n2,"x, urn:foo:c"\r\n'
        dumps = {"a.xml": MARCXML, "b.xml": MODS, "c.json": array, "d.csv": table}
        for name, raw in dumps.items():
            urnscan.write(f"in/{name}", raw)
        urnscan.write("in/b.xml.gz", gzip.compress(dumps.pop("b.xml")))
        (urnscan.folder / "in/b.xml").unlink()
        (urnscan.folder / "out").mkdir()
        result = dedup(urnscan, "in", "--any-urn", "--keep", "first", "--deduplicated", "out")
        assert numbers_of(result) == (4, 11, 6, 5, 0)
        assert urnscan.names() == ["in", "out"]
        assert urnscan.names("out") == ["a.xml", "b.xml.gz", "c.json", "d.csv"]
        made = {name: (urnscan.folder / "out" / name).read_bytes() for name in dumps}
        assert pieces_left(MARCXML, made["a.xml"], LINE) == 8
        before, after = (etree.fromstring(raw) for raw in (MARCXML, made["a.xml"]))
        assert after.xpath("//*[@tag='001']/text()") == ["1", "3"]
        assert [etree.tostring(record).strip() for record in after.iter("{*}record")] == [
            etree.tostring(before[at]).strip() for at in (0, 3)
        ]
        assert b"end -->" in made["a.xml"]
        assert b"of last year" in made["a.xml"]
        mods = gzip.decompress((urnscan.folder / "out/b.xml.gz").read_bytes())
        assert pieces_left(MODS, mods, LINE) == 1
        assert etree.fromstring(mods).xpath("count(*)") == 1
        assert json.loads(made["c.json"]) == [{"id": 1, "urn": "urn:foo:j"}, {"id": 3}]
        assert made["d.csv"] == b"id,urn\r\n1,urn:foo:c\r\n"

    def test_removed_records_into_a_folder(self, urnscan):
        """As the kept ones: a file for each dump, also for one of which nothing is removed."""
        urnscan.write("a.jsonl", json_lines("urn:foo:a", "urn:foo:b"))
        urnscan.write("b.jsonl", json_lines("urn:foo:b", "urn:foo:c", "urn:foo:a"))
        (urnscan.folder / "gone").mkdir()
        dedup(urnscan, "a.jsonl", "b.jsonl", "--removed", "gone")
        first, _, third = (urnscan.folder / "b.jsonl").read_bytes().splitlines(keepends=True)
        gone = {path.name: path.read_bytes() for path in (urnscan.folder / "gone").iterdir()}
        assert gone == {"a.jsonl": b"", "b.jsonl": first + third}

    def test_several_dumps_into_one_file(self, urnscan):
        """Compressed and not; the ends of lines that their ends lack stand between them, and no mark of UTF-8."""
        one, other = json_lines("urn:foo:a", "urn:foo:b"), json_lines("URN:foo:b", "urn:foo:c", "urn:foo:a")
        urnscan.write("a.jsonl", b"\xef\xbb\xbf" + one.removesuffix(b"\n"))
        urnscan.write("b.jsonl.gz", gzip.compress(b"\xef\xbb\xbf" + other))
        result = dedup(urnscan, "a.jsonl", "b.jsonl.gz", "--keep", "first", *ALL[:4])
        assert (urnscan.folder / "kept").read_bytes() == b"\xef\xbb\xbf" + one + LINE.findall(other)[1]
        assert numbers_of(result) == (2, 5, 3, 2, 0)
        assert urnscan.rows("clusters.parquet", "source", "record", "cluster", "cluster_rank") == [
            ("a.jsonl", 1, 1, 1),
            ("a.jsonl", 2, 2, 1),
            ("b.jsonl.gz", 1, 2, 2),
            ("b.jsonl.gz", 2, 3, 1),
            ("b.jsonl.gz", 3, 1, 2),
        ]

    def test_blank_lines_part_the_records_of_some_formats(self, urnscan):
        """Two dumps of plain PICA+ whose ends have none."""
        for name in "ab":
            urnscan.write(f"{name}.pp", b"003@ $0%s\n017C $uurn:foo:%s\n" % (name.encode(), name.encode()))
        dedup(urnscan, "a.pp", "b.pp", "--deduplicated", "kept")
        assert (urnscan.folder / "kept").read_bytes().count(b"\n\n") == 1
        assert clusters(urnscan, dump=(urnscan.folder / "kept").read_bytes()) == [1, 2]

    @pytest.mark.core
    def test_counts_without_an_output(self, urnscan):
        """A first answer needs no option: the counts are those of a run that writes; no file appears."""
        urnscan.write("a.mrc", b"".join(BOOKS.records))
        written = numbers_of(dedup(urnscan, "a.mrc", *COMMON, "--deduplicated", "b.mrc"))
        before = sorted(urnscan.folder.iterdir())
        result = dedup(urnscan, "a.mrc", *COMMON)
        assert numbers_of(result) == written
        assert "nothing is written: --deduplicated FILE writes" in result.err
        assert sorted(urnscan.folder.iterdir()) == before

    @pytest.mark.core
    def test_marc_files_end_to_end(self, urnscan):
        """In the order in which they are named; what was there is replaced with --force."""
        half = len(BOOKS.records) // 2
        urnscan.write("a.mrc", b"".join(BOOKS.records[:half]))
        urnscan.write("b.mrc", b"".join(BOOKS.records[half:]))
        urnscan.write("kept", b"of last time")
        dedup(urnscan, "a.mrc", "b.mrc", *COMMON, "--deduplicated", "kept", "--force")
        first = {}  # of each work
        for work, record in zip(BOOKS.clusters, BOOKS.records, strict=True):
            first.setdefault(work, record)
        assert (urnscan.folder / "kept").read_bytes() == b"".join(first.values())

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["a.xml", "-q"], ["nothing to write or print", "--deduplicated", "leave out -q"]),
            (
                ["a.xml", "b.xml", "--deduplicated", "kept"],
                ["cannot contain two dumps of MODS (b.xml)", "name an existing folder"],
            ),
            (
                ["a.xml", "c.jsonl", "--deduplicated", "kept"],
                ["MODS and JSON Lines (c.jsonl)", "name an existing folder"],
            ),
            (["u.jsonl", "--deduplicated", "kept"], ["u.jsonl: is in utf-16-le", "UTF-8"]),
            (["a.xml", "--deduplicated", "there"], ["there: exists already", "--force"]),
            (["b.xml", "--deduplicated", "in"], ["in/b.xml: exists already", "--force"]),
            (["a.xml", "--deduplicated", "none/"], ["none/: this folder does not exist; make it first"]),
            (["a.xml", "-o", "kept", "--deduplicated", "in/../kept"], ["kept: named as two outputs"]),
            (["a.xml", "--report", ""], ["empty name"]),
            (["a.xml", "--deduplicated", "a.xml", "--force"], ["a.xml: is an input and an output"]),
            (["in/b.xml", "--deduplicated", "in", "--force"], ["in/b.xml: is an input and an output"]),
            (["in/b.xml", "--removed", "in", "--force"], ["in/b.xml: is an input and an output"]),
            (["a.xml", "--deduplicated", "out", "--removed", "out/"], ["out", "named as two outputs"]),
            (["a.xml", "--deduplicated", "out", "--removed", "out/a.xml"], ["out/a.xml", "is another output"]),
            (["a.xml", "--deduplicated", "links", "--removed", "out", "--force"], ["a.xml", "is another output"]),
            (["a.xml", "-o", "kept", "--max-class", "1"], ["at least 2"]),
            (["a.xml", "-o", "kept", "--record", "excel"], ["excel", "marcxml", "line"]),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else None,
    )
    def test_what_cannot_be(self, urnscan, arguments, words):
        """One line, before anything is written; nothing is left behind."""
        urnscan.write("a.xml", MODS)
        urnscan.write("b.xml", MODS)
        urnscan.write("in/b.xml", MODS)
        urnscan.write("c.jsonl", json_lines("urn:foo:a"))
        urnscan.write("u.jsonl", json_lines("urn:foo:a").decode().encode("utf-16"))
        urnscan.write("there", b"precious")
        (urnscan.folder / "out").mkdir()
        (urnscan.folder / "links").mkdir()
        (urnscan.folder / "links" / "a.xml").symlink_to("../out/a.xml")
        names = urnscan.names()
        result = dedup(urnscan, *arguments, status=2)
        (line,) = result.err.splitlines()
        assert [word for word in words if word not in line] == []
        assert urnscan.names() == names
        assert (urnscan.folder / "there").read_bytes() == b"precious"
        assert (urnscan.names("in"), urnscan.names("out")) == (["b.xml"], [])
        assert (urnscan.folder / "in/b.xml").read_bytes() == (urnscan.folder / "a.xml").read_bytes() == MODS

    def test_utf16_is_read_all_the_same(self, urnscan):
        """Where nothing is written byte for byte."""
        dump = json_lines("urn:foo:ä", "urn:foo:a").decode().encode("utf-16")
        urnscan.write("u.jsonl", dump)
        dedup(urnscan, "u.jsonl", "-o", "clusters.parquet", "--report", "report.html")
        assert urnscan.names() == ["clusters.parquet", "report.html", "u.jsonl"]


class TestArchives:
    """Dumps where they are kept: in tar and zip files."""

    def test_members_are_dumps(self, urnscan):
        """What is no dump is told and lies not in the way of the others."""
        lines = json_lines("urn:foo:a", "urn:foo:b")
        tar = archive(table_parquet=parquet("urn:foo:a"), a_jsonl=lines, b_bin=bytes(range(256)), c_jsonl=lines)
        urnscan.write("t.tar.gz", gzip.compress(tar))
        with zipfile.ZipFile(urnscan.folder / "z.zip", "w") as file:
            file.writestr("d/e.mrc", BOOKS.data)
        (urnscan.folder / "out").mkdir()
        result = dedup(
            urnscan, "t.tar.gz", "z.zip", *COMMON, "-o", "clusters.parquet", "--deduplicated", "out", status=1
        )
        assert said(result)[:2] == [
            "t.tar.gz!/table.parquet: is a table, not a dump of records; export it as CSV or JSON Lines",
            "t.tar.gz!/b.bin: unknown record format (urnscan dedup --help lists the formats)",
        ]
        assert numbers_of(result) == (3, 4 + len(BOOKS.records), 2 + WORKS, 2 + len(BOOKS.records) - WORKS, 1)
        rows = urnscan.rows("clusters.parquet", "source", "member", "record", "start", "cluster")
        assert [(member, record, offset) for _, member, record, offset, _ in rows[:4]] == [
            (name, record, offset) for name in ("a.jsonl", "c.jsonl") for record, offset in ((1, 0), (2, 49))
        ]
        assert [cluster for *_, cluster in rows[:4]] == [1, 2, 1, 2]
        assert {row[:2] for row in rows[4:]} == {("z.zip", "d/e.mrc")}
        # No archives are written: what was in one is named without its suffix.
        assert urnscan.names("out") == ["t.gz", "z"]
        assert gzip.decompress((urnscan.folder / "out/t.gz").read_bytes()) == lines
        assert len(list(pymarc.MARCReader((urnscan.folder / "out/z").read_bytes()))) == WORKS

    def test_an_archive_of_many_dumps_out_of_a_pipe(self, urnscan):
        """More than files may be open at a time."""
        members = {f"p{at}_jsonl": json_lines(f"urn:foo:{at // 2}") for at in range(200)}
        through = ["sh", "-c", 'ulimit -n 64 && PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh"]
        result = dedup(urnscan, *ALL, stdin=archive(**members), through=through)
        assert numbers_of(result) == (200, 200, 100, 100, 0)
        assert (urnscan.folder / "kept").read_bytes() == b"".join(list(members.values())[::2])
        assert urnscan.rows("clusters.parquet", "source", "member")[199] == ("-", "p199.jsonl")

    def test_the_table_itself(self, urnscan):
        urnscan.write("a.parquet", parquet("urn:foo:a"))
        result = dedup(urnscan, "a.parquet", "-o", "clusters.parquet", status=2)
        assert said(result) == [
            "a.parquet: is a table, not a dump of records; export it as CSV or JSON Lines",
            "no input could be read",
        ]


class TestPolicy:
    """What joins records, and which are kept."""

    @pytest.mark.parametrize(
        ("keep", "ranks"),
        [
            ("last", [4, 3, 1, 2, 1]),
            ("longest", [2, 1, 1, 3, 4]),
            ("most-identifiers", [2, 3, 1, 1, 4]),
        ],
    )
    def test_keep(self, urnscan, keep, ranks):
        """By default the first, see above, also of equals; two spellings of a URN are one identifier."""
        lines = ["urn:foo:a URN:foo:a", "urn:foo:a xxxxxxxxxxxxxxxx", "none", "urn:foo:a urn:f-oo:b", "urn:foo:a"]
        if keep == "most-identifiers":
            lines[0] += " urn:f-oo:c"
            lines[3] += " urn:f-oo:d"
        dump = "".join(f"{line}\n" for line in lines).encode()
        if keep == "longest":
            dump = dump.replace(b"urn:f-oo:b", b"")
        clusters(urnscan, "--record", "line", "--keep", keep, "--deduplicated", "kept", dump=dump)
        assert [rank for (rank,) in urnscan.rows("clusters.parquet", "cluster_rank")] == ranks
        lines = LINE.findall(dump)
        assert (urnscan.folder / "kept").read_bytes() == b"".join(
            line for line, rank in zip(lines, ranks, strict=True) if rank == 1
        )

    def test_fields(self, urnscan):
        """A note that names another work joins nothing, and ISBN and URN are one."""
        record = (
            '<record><datafield tag="020" ind1=" " ind2=" "><subfield code="a">{}</subfield></datafield>'
            '<datafield tag="024" ind1="7" ind2=" "><subfield code="a">{}</subfield></datafield>'
            '<datafield tag="500" ind1=" " ind2=" "><subfield code="a">Review of {}</subfield></datafield></record>'
        )
        dump = '<collection xmlns="http://www.loc.gov/MARC21/slim">{}{}{}</collection>'.format(
            record.format("3-16-148410-X (geb.)", "urn:foo:a", "urn:foo:b"),
            record.format("", "urn:foo:b", "nothing"),
            record.format("9783161484100", "urn:foo:c", "nothing"),
        ).encode()
        assert clusters(urnscan, "--any-urn", dump=dump) == [1, 1, 2]
        assert clusters(urnscan, "--fields", dump=dump) == [1, 2, 1], "an option that does nothing is accepted"
        assert clusters(urnscan, dump=dump) == [1, 2, 1]
        assert urnscan.rows("clusters.parquet", "joined_by")[0] == (["urn:isbn:9783161484100"],)

    @pytest.mark.parametrize(
        ("arguments", "found"),
        [
            ([], [1, 2, 3, 3, 4, 5]),
            (["--weak", "FOO,ietf:params"], [1, 1, 2, 3, 4, 5]),
            (["--weak", ""], [1, 1, 2, 2, 3, 3]),
        ],
        ids=["default", "others", "none"],
    )
    def test_weak(self, urnscan, arguments, found):
        """Listed, but joining nothing: by default serials and the languages of documents."""
        serial, other, language = "urn:ISSN:0028-0836", "urn:foo:a", "urn:ietf:params:xml:ns:x"
        dump = json_lines(serial, serial, other, other, language, language)
        assert clusters(urnscan, *arguments, dump=dump) == found
        assert urnscan.rows("clusters.parquet", "urns")[4] == ([language],)

    def test_max_class(self, urnscan):
        """The first few that are too common are told, of the others their number; also with --quiet."""
        dump = json_lines(*[" ".join(f"urn:foo:{letter}" for letter in "abcdefg"[at:]) for at in range(7)])
        result = dedup(urnscan, "-o", "clusters.parquet", "--max-class", "2", "--quiet", stdin=dump)
        assert said(result) == [
            "urn:foo:g: is in 7 records, so it joins none of them (--max-class 2)",
            "urn:foo:f: is in 6 records, so it joins none of them (--max-class 2)",
            "urn:foo:e: is in 5 records, so it joins none of them (--max-class 2)",
            "urn:foo:d: is in 4 records, so it joins none of them (--max-class 2)",
            "urn:foo:c: is in 3 records, so it joins none of them (--max-class 2)",
        ]
        assert clustered(urnscan) == [1, 1, 2, 3, 4, 5, 6]
        result = dedup(urnscan, "-o", "again.parquet", "--max-class", "90%", "--quiet", stdin=dump)
        assert said(result) == ["urn:foo:g: is in 7 records, so it joins none of them (--max-class 90%)"]

    def test_agree(self, urnscan):
        """Of two editions with one ISBN none is removed, and the line counts their group; with `none` one is."""
        editions = b"".join(
            b'{"isbn": "9780395363416", "title": "Inks", "edition": "%d"}\n' % number for number in (1, 2, 2)
        )
        urnscan.write("editions.jsonl", editions)
        outputs = ("-o", "clusters.parquet", "--deduplicated", "kept.jsonl", "--force")
        result = dedup(urnscan, "editions.jsonl", "--fields", *outputs)
        assert "1 duplicate, 1 group in doubt," in result.err
        assert urnscan.rows("clusters.parquet", "decision") == [("apart",), ("kept",), ("removed",)]
        assert (urnscan.folder / "kept.jsonl").read_bytes() == b"".join(editions.splitlines(keepends=True)[:2])
        dedup(urnscan, "editions.jsonl", "--fields", "--agree", "none", *outputs)
        assert (urnscan.folder / "kept.jsonl").read_bytes() == editions.splitlines(keepends=True)[0]
        result = dedup(urnscan, "editions.jsonl", "--agree", "colour", *outputs, status=2)
        assert (
            "--agree cannot be 'colour'; choose from title, year, edition, part, format, language, or none alone"
            in result.err
        )

    def test_max_cluster(self, urnscan):
        """Records that a chain of URNs connects are told in one line, and none of them is joined."""
        chain = json_lines(*[f"urn:foo:{at} urn:foo:{at + 1}" for at in range(5)], "urn:foo:x", "urn:foo:x")
        urnscan.write("chain.jsonl", chain)
        result = dedup(urnscan, "chain.jsonl", "--max-cluster", "4", "-o", "clusters.parquet")
        line = "chain.jsonl: record 1: shared URNs connect it with 4 more records, so none of them is joined"
        assert said(result)[0] == f"{line} (--max-cluster 4)"
        assert clustered(urnscan) == [1, 2, 3, 4, 5, 6, 6]
        rows = pq.read_table(urnscan.folder / "clusters.parquet").to_pylist()
        assert [row["reason"] for row in rows] == ["max-cluster"] * 5 + [None] * 2
        assert [row["component"] for row in rows] == [1] * 5 + [2] * 2

    def test_equivalence(self, urnscan):
        """By default that of the namespace, see above; `lexical` that of the syntax alone."""
        dump = json_lines("urn:isbn:316148410x", "urn:ISBN:978-3-16-148410-0", "URN:isbn:316148410x")
        assert clusters(urnscan, "--equivalence", "lexical", dump=dump) == [1, 2, 1]

    def test_trim_and_its_hint(self, urnscan):
        """Punctuation that ends a URN parts it from others, which is told as the main command tells it."""
        dump = json_lines("urn:foo:a", "s. urn:foo:a.", "(urn:foo:a)")
        result = dedup(urnscan, "-o", "clusters.parquet", stdin=dump)
        assert said(result) == ["2 occurrences end in punctuation or contain the next URN; --trim cuts that off"]
        assert clustered(urnscan) == [1, 2, 3]
        result = dedup(urnscan, "-o", "clusters.parquet", "--force", "--trim", stdin=dump)
        assert said(result) == []
        assert clustered(urnscan) == [1, 1, 1]

    def test_recover(self, urnscan):
        """Just what is asked for."""
        dump = json_lines("urn:foo:a", "https://r.example/?id=urn%3Afoo%3Aa", "urn&#58;foo&#58;a")
        assert clusters(urnscan, "--recover", "percent", dump=dump) == [1, 1, 2]


@pytest.mark.parametrize(
    ("one", "other", "clusters"),
    [
        ("Book", "Audiobook", 2),
        ("Buch", "Hörbuch", 2),
        ("Livre", "Livre audio", 2),
        ("Libro", "DVD", 2),
        ("Book", "Map", 1),  # an atlas
        ("Book", "Score", 1),
        ("Hörbuch", "Audiobook", 1),
    ],
)
def test_types_of_a_table(urnscan, one, other, clusters):
    """Guards against the loss of an audiobook whose record has the ISBN of the book."""
    table = f"id,title,isbn,type\na,Inks,9780306406157,{one}\nb,Inks,9780306406157,{other}\n"
    urnscan.write("table.csv", table.encode())
    assert numbers_of(dedup(urnscan, "table.csv", "-o", "clusters.csv"))[2] == clusters


class TestInputs:
    """1: done, but some records or inputs could not be read, each told in one line. 2: nothing could be done."""

    @pytest.mark.core
    def test_what_is_no_dump(self, urnscan):
        """An empty file is one without records."""
        for name, raw in {
            "a.jsonl": json_lines("urn:foo:a", "urn:foo:a"),
            "b.txt": b"The letters urn:foo:a and\nurn:foo:b\n",
            "c.bin": bytes(range(256)) * 100,
            "d.parquet": parquet("urn:foo:a"),
            "empty": b"",
        }.items():
            urnscan.write(f"in/{name}", raw)
        unknown = "unknown record format (urnscan dedup --help lists the formats)"
        result = dedup(urnscan, "in", "nope.mrc", *ALL, status=1)
        remedy = "name their format with --record, or read fewer files with --include"
        assert said(result) == [
            "in/d.parquet: is a table, not a dump of records; export it as CSV or JSON Lines",
            "nope.mrc: no such file or folder",
            f"2 files are not dumps of records: in/b.txt, in/c.bin; {remedy}",
        ]
        assert numbers_of(result) == (1, 2, 1, 1, 2)
        assert (urnscan.folder / "kept").read_bytes() == json_lines("urn:foo:a")
        result = dedup(urnscan, "in/a.jsonl", "in/b.txt", "-o", "x.csv", status=1)
        assert said(result) == [f"in/b.txt: {unknown}; --record line reads each line as a record"]

    def test_a_readme_beside_the_dumps_is_a_note(self, urnscan):
        """A file that a walk meets and that is like no dump changes no exit status; one that is named or like one does."""
        urnscan.write("in/a.jsonl", json_lines("urn:foo:a", "urn:foo:a"))
        urnscan.write("in/README.txt", b"The letters of A and B, in JSON Lines.\n")
        line = "in/README.txt: unknown record format (urnscan dedup --help lists the formats); "
        result = dedup(urnscan, "in", *ALL, status=0)
        assert said(result)[0].startswith(line)
        assert "0.0 s, 1 note -> " in re.sub(r"\d\.\d s", "0.0 s", result.err)
        dedup(urnscan, "in", "in/README.txt", *ALL, "--force", status=1)
        dedup(urnscan, "in/a.jsonl", (urnscan.folder / "in/README.txt").as_uri(), *ALL, "--force", status=1)
        urnscan.write("in/b.ris", b"A list of lamps,\nby M. Ahn.\nTY  - BOOK\nUR  - urn:foo:a\nER  - \n")
        assert "it resembles RIS" in said(dedup(urnscan, "in", *ALL, "--force", status=1))[0]

    def test_of_no_dumps_nothing_is_written(self, urnscan):
        urnscan.write("in/README.txt", b"No dump.\n")
        assert said(dedup(urnscan, "in", *ALL, status=2))[-1] == "no input could be read"
        assert urnscan.names() == ["in"]

    def test_the_likely_format_of_what_is_not_recognised(self, urnscan):
        """The line names the option that may help, and it does."""
        text = b"A list of lamps,\nby M. Ahn.\nTY  - BOOK\nUR  - urn:foo:a\nER  - \n"
        (line, _) = said(dedup(urnscan, *ALL, stdin=text, status=2))
        assert line.endswith("; it resembles RIS: try --record ris")
        assert numbers_of(dedup(urnscan, "--record", "ris", *ALL, stdin=text)) == (1, 1, 1, 0, 0)

    @pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
    def test_a_link_is_the_same_dump(self, urnscan, link):
        """Its records are not duplicates of themselves. Guards against a copy without any record."""
        dump = urnscan.write("a.jsonl", json_lines("urn:foo:a", "urn:foo:b"))
        getattr(urnscan.folder / "b.jsonl", link)(dump)
        (urnscan.folder / "out").mkdir()
        result = dedup(urnscan, "b.jsonl", "a.jsonl", "--deduplicated", "out/")
        assert said(result) == ["a.jsonl: is the file b.jsonl under another name, and is not read again"]
        assert urnscan.names("out") == ["b.jsonl"]
        assert (urnscan.folder / "out/b.jsonl").read_bytes() == dump.read_bytes()

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            (b"TI  - Inks\nLID - 10.5555/a [doi]\n", "nbib"),
            (b"OWN - NLM\nTI  - Inks\n\nPMID- 2\nTI  - Lamps\n", "nbib"),
            (b"TI  - Inks\n\n<2. >\nUI  - 2\nTI  - Lamps\n", "ovid"),
            (b"%T Inks\n%A Ahn, M.\n%D 1998\n", "enw"),
        ],
    )
    def test_of_a_dump_without_its_first_line(self, urnscan, text, name):
        """The format is named, and with it the line that is missing. Some fields of PubMed and Ovid are like those of RIS."""
        (line, _) = said(dedup(urnscan, *ALL, stdin=text, status=2))
        assert line.endswith(f": try --record {name}")
        dedup(urnscan, "--record", name, *ALL, stdin=text, status=1)

    @pytest.mark.parametrize("text", [b"\n\r\n", b"\xef\xbb\xbf"])
    def test_white_space_alone(self, urnscan, text):
        """The line says so. It does not propose a format for what has no records."""
        (line, _) = said(dedup(urnscan, *ALL, stdin=text, status=2))
        assert line == "-: no record: only white space in its first 3 bytes"

    def test_a_page_is_not_bibtex(self, urnscan):
        """A page of --report resembled it, by the rules of its style."""
        page = b"<!DOCTYPE html>\n<style>\n@media (width < 60em) {\n  @page { margin: 0, 1em }\n}\n</style>\n"
        (line, _) = said(dedup(urnscan, *ALL, stdin=page, status=2))
        assert "resembles" not in line

    def test_of_nothing_but_failures_nothing_is_written(self, urnscan):
        result = dedup(urnscan, "nope.mrc", *ALL, status=2)
        assert said(result) == ["nope.mrc: no such file or folder", "no input could be read"]
        assert urnscan.names() == []

    def test_an_empty_dump_that_is_packed(self, urnscan):
        """Its transfer failed, so its copy is not written as if it had no records."""
        urnscan.write("a.mrc.gz", b"")
        result = dedup(urnscan, "a.mrc.gz", *ALL, status=2)
        assert said(result)[0].startswith("a.mrc.gz: is named like a gzip file, but is empty")
        assert urnscan.names() == ["a.mrc.gz"]

    def test_an_empty_dump(self, urnscan):
        """No records and no failure: all outputs are there."""
        assert numbers_of(dedup(urnscan, *ALL, stdin=b"")) == (0, 0, 0, 0, 0)
        assert urnscan.names() == OUTPUTS
        assert urnscan.rows("clusters.parquet") == []
        assert (urnscan.folder / "kept").read_bytes() == b""

    def test_an_empty_dump_beside_another(self, urnscan):
        """In a folder it has a file as well, packed as it was: who asks for all of them finds all of them."""
        urnscan.write("a.mrc", b"")
        urnscan.write("b.mrc.gz", gzip.compress(b"", mtime=0))
        urnscan.write("c.jsonl", json_lines("urn:foo:a", "urn:foo:a"))
        (urnscan.folder / "folder").mkdir()
        result = dedup(urnscan, "a.mrc", "b.mrc.gz", "c.jsonl", "--deduplicated", "folder/")
        assert numbers_of(result) == (1, 2, 1, 1, 0)
        written = {path.name: path.read_bytes() for path in (urnscan.folder / "folder").iterdir()}
        assert written.keys() == {"a.mrc", "b.mrc.gz", "c.jsonl"}
        assert written["a.mrc"] == gzip.decompress(written["b.mrc.gz"]) == b""
        assert written["c.jsonl"] == json_lines("urn:foo:a")

    def test_lines_of_a_text(self, urnscan):
        """Any text, where it is asked for."""
        text = b"see urn:foo:a\n\nand urn:foo:b\r\nURN:foo:a"
        assert clusters(urnscan, "--record", "line", "--deduplicated", "kept", dump=text) == [1, 2, 1]
        assert (urnscan.folder / "kept").read_bytes() == b"see urn:foo:a\n\nand urn:foo:b\r\n"

    def test_damaged_records(self, urnscan):
        """Told by number and byte, no more than 20 of an input; the rest is read, and damaged ones stay where they are."""
        good = LINE.findall(json_lines(*["urn:foo:a"] * 25))
        dump = b"".join(line + b'{"id": \n' for line in good)
        urnscan.write("a.jsonl", dump)
        urnscan.write("b.jsonl", b'{"id"\n')
        urnscan.write("c.jsonl", good[0])
        result = dedup(urnscan, "a.jsonl", "c.jsonl", "b.jsonl", *ALL, "--record", "jsonl", "--keep", "first", status=1)
        lines = said(result)
        assert len(lines) == 22
        for number, line in enumerate(lines[:20], 1):
            offset = sum(map(len, good[:number])) + 8 * (number - 1)
            assert line.startswith(f"a.jsonl: record {2 * number} at byte {offset:,} is damaged: ")
        assert lines[20] == "a.jsonl: 5 more failures in it"
        assert lines[21].startswith("b.jsonl: record 1 at byte 0 is damaged: ")
        assert numbers_of(result) == (3, 26, 1, 25, 26)
        assert (urnscan.folder / "kept").read_bytes() == good[0] + b'{"id": \n' * 25 + b'{"id"\n'
        assert [record for (record,) in urnscan.rows("clusters.parquet", "record")] == [*range(1, 50, 2), 1]

    @pytest.mark.core
    def test_a_folder_of_other_files(self, urnscan):
        """All that are no dumps have one line, and a hundred damaged records are named; a line counts the rest."""
        for number in range(23):
            urnscan.write(f"in/{number:02}.js", b"var a = 1;\n")
        urnscan.write("in/none.json", b"[{a: 1},\n{b: 2},\n{c: 3}]\n")
        for number in range(5):
            urnscan.write(f"in/some{number}.jsonl", json_lines("urn:foo:a") + b'{"id": \n' * 22)
        urnscan.write("in/z.rar", b"Rar!\x1a\x07\x00")
        result = dedup(urnscan, "in", "-o", "clusters.parquet", status=1)
        lines = said(result)
        assert sum(": none of its 3 records can be read; record 1 at byte 1 is damaged" in line for line in lines) == 1
        assert sum("some" in line for line in lines) == 99
        assert lines[-3].startswith("in/z.rar: a RAR archive is not read; "), "all other failures are named"
        assert lines[-2:] == [
            (
                "23 files are not dumps of records: in/00.js, in/01.js, in/02.js, …; name their format with --record, or read "
                "fewer files with --include"
            ),
            "7 more damaged records; --report counts them for each dump",
        ]
        assert len(lines) == 1 + 99 + 1 + 2
        assert numbers_of(result) == (6, 5, 1, 4, 1 + 5 * 22 + 1)

    @pytest.mark.core
    def test_a_record_that_is_damaged_and_a_dump_that_is_cut_off(self, urnscan):
        """MARC of which a record lacks its end; a compressed file that ends too early."""
        urnscan.write("a.mrc", b"".join([*BOOKS.records[:2], BOOKS.records[2][:200], *BOOKS.records[3:6]]))
        whole = gzip.compress(BOOKS.data, mtime=0)
        urnscan.write("b.mrc.gz", whole[: len(whole) // 2])
        result = dedup(urnscan, "a.mrc", "b.mrc.gz", "-o", "clusters.parquet", "--max-class", "500", status=1)
        first, second, third_line = (line for line in said(result) if "stands in" not in line)
        assert first.startswith(f"a.mrc: record 3 at byte {sum(map(len, BOOKS.records[:2])):,} is damaged: ")
        found = urnscan.rows("clusters.parquet", "source", "record", "record_id")
        assert found[:5] == [("a.mrc", at + 1, BOOKS.identifiers[at]) for at in (0, 1, 3, 4, 5)]
        of_b = len(found) - 5
        assert found[5:] == [("b.mrc.gz", at + 1, BOOKS.identifiers[at]) for at in range(of_b)]
        offset = sum(map(len, BOOKS.records[:of_b]))
        assert second.startswith(f"b.mrc.gz: record {of_b + 1} at byte {offset:,} is damaged: the dump ends")
        assert third_line.startswith("b.mrc.gz: truncated gzip file")

    def test_a_format_that_it_is_not(self, urnscan):
        """What was named holds no record in it: told, and not taken for a dump without duplicates."""
        result = dedup(
            urnscan, "--record", "marcxml", "-o", "clusters.parquet", stdin=json_lines("urn:foo:a"), status=1
        )
        (line,) = said(result)
        assert line.startswith("-: no record in MARCXML format")
        assert numbers_of(result) == (1, 0, 0, 0, 1)

    def test_dumps_without_urns(self, urnscan):
        """Told, with what would find more."""
        urnscan.write("a.jsonl", b'{"isbn": "9783161484100"}\n{"isbn": "316148410X"}\n')
        result = dedup(urnscan, "a.jsonl", "--any-urn", "-o", "clusters.parquet")
        assert said(result) == ["a.jsonl: none of its 2 records contains a URN"]
        assert "2 without identifiers" in result.err
        urnscan.write("b.jsonl", b'{"isbn": "", "note": "urn:foo:a"}\n{"note": "urn:foo:a"}\n')
        result = dedup(urnscan, "b.jsonl", "-o", "clusters.parquet", "--force")
        assert said(result) == [
            "b.jsonl: none of its 2 records has a record-level identifier; --any-urn counts every URN"
        ]

    @pytest.mark.core
    @pytest.mark.parametrize(
        ("name", "dump", "is_known"),
        [
            ("a.csv", b"nr,about\n1,urn:foo:a\n2,urn:foo:a\n", False),
            ("a.csv", b"id,url\n1,see urn:foo:a\n2,see urn:foo:a\n", False),
            ("a.csv", b"isbn,about,x\n,urn:foo:a,1\n,urn:foo:a,2\n", True),
            ("a.jsonl", b'{"id": 1, "x": "urn:foo:a"}\n{"id": 2, "x": "urn:foo:a"}\n', False),
            ("a.jsonl", b'{"id": 1, "x": "urn:foo:a"}\n{"doi": "", "x": "urn:foo:a"}\n', True),
            ("a.jsonl", b'{"@id": "urn:foo:b", "x": "urn:foo:a"}\n{"@id": "urn:foo:c", "x": "urn:foo:a"}\n', True),
            (
                "a.json",
                b'{"fields": [{"001": "1"}, {"500": "urn:foo:a"}]}\n{"fields": [{"001": "2"}, {"500": "urn:foo:a"}]}\n',
                True,
            ),
            ("a.nt", b"<http://a> <p> <urn:foo:a> .\n<http://b> <p> <urn:foo:a> .\n", False),
            ("a.nt", b"<urn:foo:b> <p> <urn:foo:a> .\n<urn:foo:c> <p> <urn:foo:a> .\n", True),
            ("a.ris", b"TY  - BOOK\nN1  - urn:foo:a\nER  - \nTY  - MAP\nN1  - urn:foo:a\nER  - \n", True),
        ],
    )
    def test_every_urn_counts_where_no_field_is_known(self, urnscan, name, dump, is_known):
        """Page of dedup, a record's own identifiers: in a table or object without known fields, and a line says so."""
        urnscan.write(name, dump)
        result = dedup(urnscan, name, "-o", "clusters.parquet")
        line = f"{name}: no field is known to contain identifiers, so every URN in a record counts"
        assert (line in said(result)) == (not is_known)
        assert clustered(urnscan) == ([1, 2] if is_known else [1, 1])

    def test_strict(self, urnscan):
        """The first record that is damaged ends the run, and nothing is written."""
        dump = json_lines("urn:foo:a") + b"{\n{\n"
        result = dedup(urnscan, *ALL, "--strict", stdin=dump, status=2)
        first, second = said(result)
        assert first.startswith("-: record 2 at byte 49 is damaged: ")
        assert "--strict" in second
        assert urnscan.names() == []

    def test_statements_that_do_not_stand_together(self, urnscan):
        """Records of N-Triples are known by their subject: its statements are kept or go together, wherever they stand."""
        lines = [
            b'<x:a> <x:p> "urn:foo:a" .\n',
            b'<x:b> <x:p> "urn:foo:b" .\n',
            b'<x:a> <x:q> "urn:foo:b" .\n',
        ]
        urnscan.write("a.nt", b"".join(lines))
        dedup(urnscan, "a.nt", "-o", "clusters.parquet", "--deduplicated", "kept.nt")
        assert clustered(urnscan) == [1, 1, 1]
        assert (urnscan.folder / "kept.nt").read_bytes() == lines[0] + lines[2]

    def test_rdf_that_is_not_read(self, urnscan):
        """Page of dedup, RDF: Turtle is told in a line with the recipe, in a folder, too; the other dumps are read."""
        urnscan.write("in/a.ttl", b"@prefix s: <https://schema.org/> .\n<x:a> s:url <urn:foo:a> .\n")
        urnscan.write("in/b.nt", b"<urn:foo:a> <x:p> <x:b> .\n")
        for given, status, count in (("in/a.ttl", 2, 2), ("in", 1, 1)):
            told = said(dedup(urnscan, given, "-o", "clusters.parquet", status=status))
            assert len(told) == count
            assert "in/a.ttl: RDF/XML, Turtle or TriG is not read; make N-Triples of it: " in told[0]
            assert "rapper -q -i guess -o ntriples DUMP > DUMP.nt" in told[0]
        assert clustered(urnscan) == [1]
        dedup(urnscan, "in/a.ttl", "--record", "line", "-o", "lines.parquet")

    def test_the_main_command_reads_a_file_of_that_name(self, urnscan):
        urnscan.write("dedup", b"urn:foo:a\n")
        assert urnscan.printed("./dedup") == ["./dedup:1:urn:foo:a"]


def opened(path, process):
    """A FIFO to write to, as soon as a process reads it."""
    descriptors = []

    def open_it():
        with contextlib.suppress(OSError):  # nobody reads it yet
            descriptors.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        return descriptors or process.poll() is not None

    wait_until(open_it, "somebody reads")
    assert descriptors, process.stderr.read().decode()
    return os.fdopen(descriptors[0], "wb")


class TestChanges:
    """Dumps are read twice: what is not the same the second time is not written."""

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda path: path.write_bytes(json_lines("urn:foo:b")), "a.jsonl: has changed during the run"),
            (lambda path: path.unlink(), "a.jsonl: cannot be read a second time: "),
        ],
        ids=["another record", "gone"],
    )
    def test_between_the_two_readings(self, urnscan, change, words):
        """When somebody opens the FIFO the first dump has been read. Of a folder the file that is at fault is missing."""
        path = urnscan.write("a.jsonl", json_lines("urn:foo:a"))
        os.mkfifo(urnscan.folder / "fifo")
        (urnscan.folder / "out").mkdir()
        outputs = ["-o", "clusters.parquet", "--deduplicated", "out", "--report", "report.html"]
        with urnscan.start("dedup", "a.jsonl", "fifo", *outputs) as process:
            with opened(urnscan.folder / "fifo", process) as fifo:
                change(path)
                fifo.write(json_lines("urn:foo:c"))
            _, err = process.communicate(timeout=PATIENCE)
        (line,) = err.decode().splitlines()
        assert process.returncode == 2
        assert words in line
        assert not set(urnscan.names()) - {"a.jsonl", "fifo", "out"}
        assert urnscan.names("out") == []


class TestOutputs:
    """Outputs exist whole or not at all."""

    @pytest.mark.parametrize("options", [ALL[:2], ALL[2:]], ids=["clusters", "deduplicated"])
    def test_a_disk_that_is_full(self, urnscan, options):
        """Here: files may only have 4,096 bytes; one line says so."""
        urnscan.write("books.mrc", BOOKS.data)
        through = ["sh", "-c", 'ulimit -f 8 && exec "$@"', "sh"]
        urnscan.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python would leave half of it
        result = dedup(urnscan, "books.mrc", *options, *COMMON, "--quiet", through=through, status=2)
        (line,) = [line for line in result.err.splitlines() if "stands in" not in line]
        assert line.startswith(f"urnscan: {options[1]}: cannot be written: ")
        assert "File too large" in line
        assert urnscan.names() == ["books.mrc"]

    def test_a_pipe_that_no_disk_holds(self, urnscan):
        through = ["sh", "-c", 'ulimit -f 8 && exec "$@"', "sh"]
        urnscan.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python would leave half of it
        result = dedup(urnscan, "--report", "report.html", stdin=BOOKS.data, through=through, status=2)
        (line,) = result.err.splitlines()
        assert "cannot store the content of a pipe: File too large" in line
        assert urnscan.names() == []


class TestInterruption:
    """130 interrupted, 143 terminated; nothing is left behind, nor in the folder for temporary files."""

    @pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
    def test_while_a_pipe_is_read(self, urnscan, sent, status):
        temporary = urnscan.folder.parent / "tmp"
        temporary.mkdir()
        urnscan.environment["TMPDIR"] = str(temporary)
        os.mkfifo(urnscan.folder / "fifo")
        written = 0

        def write():
            nonlocal written
            with contextlib.suppress(BrokenPipeError), (urnscan.folder / "fifo").open("wb", buffering=0) as fifo:
                while True:
                    written += fifo.write(json_lines(*[f"urn:foo:{written + at}" for at in range(1000)]))

        threading.Thread(target=write, daemon=True).start()
        with urnscan.start("dedup", "fifo", *ALL) as process:
            wait_until(lambda: written > 5_000_000 or process.poll() is not None, "the run reads")
            assert len([name for name in urnscan.names() if name.startswith(".")]) == 3
            process.send_signal(sent)
            _, err = process.communicate(timeout=10)
        assert process.returncode == status, err.decode()
        assert err.decode() == ("urnscan: interrupted\n" if status == 130 else "")
        assert urnscan.names() == ["fifo"]
        assert list(temporary.iterdir()) == []


class TestProgress:
    """On a terminal, of bytes; gone at the end."""

    @pytest.fixture
    def screen(self):
        screen = Screen()
        yield screen
        screen.close()

    def test_a_bar(self, urnscan, screen):
        urnscan.write("a.jsonl", b"{\n" + json_lines(*[f"urn:foo:{at // 2}" for at in range(20_000)]))
        dedup(urnscan, "a.jsonl", "--record", "jsonl", *ALL, stderr=screen.line, status=1)
        assert "reading:" in screen.text
        assert "B/s" in screen.text
        damaged, summary = screen.lines
        assert damaged.startswith("urnscan: a.jsonl: record 1 at byte 0 is damaged")
        assert summary.startswith("urnscan: 1 dump, 20,000 records, 10,000 clusters, 10,000 duplicates, ")

    @pytest.mark.parametrize("option", ["--no-progress", "--quiet"])
    def test_not_where_it_is_not_wanted(self, urnscan, screen, option):
        dedup(urnscan, "-o", "clusters.parquet", option, stdin=json_lines("urn:foo:a"), stderr=screen.line)
        assert "B/s" not in screen.text
        assert len(screen.text.splitlines()) == (option == "--no-progress")
