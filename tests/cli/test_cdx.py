"""`--cdx`: a run on the records that an index names gives the rows of a run on the whole files."""

from __future__ import annotations

import gzip
import json
import threading

import pyarrow.parquet as pq
import pytest

import urnscan as library
from tests.inputs.test_cdx import as_csv, cdxj, table, web_archive
from tests.property.test_forms import Archive
from tests.stores.test_remote import Web
from tests.support.processes import wait_until

from .conftest import Command

pytestmark = pytest.mark.full

WARC = "a.warc.gz"
RESPONSE = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/%d\r\nWARC-Record-ID: <urn:uuid:%d>\r\n"
    b"WARC-Date: 2024-01-0%dT00:00:00Z\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)


def responses(count):
    """A file of answers, in two of three of which a URN stands, and the rows of its index."""
    data, rows = b"", []
    for number in range(1, count + 1):
        text = b"urn:example:%d urn:example:all\n" % number if number % 3 else b"none"
        message = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + text
        packed = gzip.compress(RESPONSE % (number, number, number, len(message), message))
        rows.append((len(data), len(packed)))
        data += packed
    return data, rows


@pytest.fixture
def archives(urnscan):
    """A folder with two files, and an index of all their records in another order."""
    data, rows = responses(9)
    for name in ("w/x/a.warc.gz", "w/b.warc.gz"):
        urnscan.write(name, data)
    named = [(name, *row) for row in rows[::-1] for name in ("x/a.warc.gz", "b.warc.gz")]
    urnscan.write("all.cdxj", cdxj(named).encode())
    return urnscan, named


def test_all_records(archives):
    """All columns of all tables, with source_count and first_start; then the rows of some records."""
    urnscan, named = archives
    urnscan("w", "-o", "whole.parquet", "--occurrences", "whole-occ.parquet")
    urnscan("--cdx", "all.cdxj", "w", "-o", "c.parquet", "--occurrences", "occ.parquet")
    assert urnscan.rows("c.parquet") == urnscan.rows("whole.parquet")
    assert urnscan.rows("occ.parquet") == urnscan.rows("whole-occ.parquet")
    assert len(urnscan.rows("occ.parquet")) == 24
    urnscan.write("some.cdxj", cdxj(named[4:9]).encode())
    result = urnscan("w/", "--cdx", "some.cdxj", "--occurrences", "some.parquet", "-j", "3")
    ids = {("x/a.warc.gz" if at % 2 == 0 else "b.warc.gz", 9 - at // 2) for at in range(4, 9)}
    some = [
        row
        for row in pq.read_table(urnscan.folder / "whole-occ.parquet").to_pylist()
        if (row["source"].removeprefix("w/"), int(row["member"].split()[0].rpartition("/")[2])) in ids
    ]
    assert pq.read_table(urnscan.folder / "some.parquet").to_pylist() == some
    assert len(some) == 6
    assert "2 inputs" in result.summary


@pytest.mark.parametrize("form", ["cdxj", "parquet"])
def test_standard_input(archives, form):
    """forms.md, An index of records: `-` is standard input, also where it is read twice as for -C."""
    urnscan, named = archives
    data = cdxj(named[4:9]).encode()
    if form == "parquet":
        pq.write_table(table(named[4:9]), urnscan.folder / "some.parquet")
        data = (urnscan.folder / "some.parquet").read_bytes()
    urnscan.write("some.cdxj", cdxj(named[4:9]).encode())
    wanted = urnscan.printed("--cdx", "some.cdxj", "w", "-C", "2")
    assert len(wanted) == 6
    assert urnscan.printed("--cdx", "-", "w", "-C", "2", stdin=data) == wanted
    assert "-: the index lists no records" in urnscan("--cdx", "-", "w", stdin=b"", status=2).err


def test_printed_with_context_and_where(archives):
    """-C reads the records a second time; --where chooses among them."""
    urnscan, _ = archives
    lines = urnscan.printed("--cdx", "all.cdxj", "w", "-C", "2", "--where", "captured=2024-01-02*", "--json")
    found = [json.loads(line) for line in lines]
    assert [(each["source"], each["before"], each["text"], each["after"]) for each in found] == [
        (source, *around)
        for source in ("w/b.warc.gz", "w/x/a.warc.gz")
        for around in (("", "urn:example:2", " u"), ("2 ", "urn:example:all", "\n"))
    ]


def test_in_python(archives):
    """`cdx`, and the context of what was found."""
    urnscan, _ = archives
    found = library.scan(urnscan.folder / "w", cdx=urnscan.folder / "all.cdxj")
    assert found.report.occurrences == 24
    assert [line.member for line in found.context("urn:example:4").lines] == ["http://a/4 <urn:uuid:4>"] * 2
    with pytest.raises(ValueError, match="cdx needs exactly one input; name the folder"):
        library.scan("a", "b", cdx="c")
    with pytest.raises(ValueError, match="cdx cannot be standard input; name a file"):
        library.scan("a", cdx="-")
    with pytest.raises(library.errors.FatalError, match=r"gone\.cdxj: cannot be read as an index: No such file"):
        library.scan(urnscan.folder / "w", cdx=urnscan.folder / "gone.cdxj")


def test_failures_are_lines(archives):
    """What an index names wrongly is told, and the exit status is 1."""
    urnscan, named = archives
    rows = [*named[:1], ("gone.warc.gz", 1, 2), ("b.warc.gz", "-3", 2), *named[3:4]]
    urnscan.write("l.cdxj", cdxj(rows).encode())
    result = urnscan("--cdx", "l.cdxj", "w", status=1)
    assert len(result.out.splitlines()) == 2
    assert sorted(result.said) == [
        "urnscan: l.cdxj: line 3: invalid offset: '-3'",
        "urnscan: w/gone.warc.gz: no such file or folder",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cdx", "l"], "--cdx needs exactly one INPUT; name the folder or URL of the files that the index lists"),
        (
            ["--cdx", "l", "-"],
            "--cdx needs exactly one INPUT; name the folder or URL of the files that the index lists",
        ),
        (
            ["--cdx", "l", ".", "--files-from", "l"],
            "--cdx needs exactly one INPUT; name the folder or URL of the files that the index lists",
        ),
        (
            ["--cdx", "l", "."],
            "l: unknown format of an index; use CDXJ, CDX with a header, or CSV or Parquet with the ",
        ),
        (["--cdx", "l", "./l"], "./l: no such folder; name the folder or URL of the files that the index lists"),
        (["--cdx", "l.csv", ".", "-o", "l.csv", "--force"], "l.csv: is an input and an output; name another output"),
    ],
)
def test_wrong_usage(urnscan, arguments, said):
    """One line, exit status 2, and the index is still there."""
    urnscan.write("l", b"text")
    urnscan.write("l.csv", as_csv([("a", 1, 2)]).encode())
    assert urnscan(*arguments, status=2).err.startswith(f"urnscan: {said}")
    assert urnscan.names() == ["l", "l.csv"]


def test_an_index_that_names_an_output(archives):
    """One line says so, as for an output in a folder; it does not say that an output is no file."""
    urnscan, named = archives
    urnscan("w", "-o", "w/o.parquet", "--quiet")
    urnscan.write("all.cdxj", cdxj([*named, ("o.parquet", 0, 9)]).encode())
    said = urnscan("w", "--cdx", "all.cdxj", "-o", "w/o.parquet", "--force", status=0).said
    assert [line.split(":")[1] for line in said] == [" w/o.parquet"]
    assert "is an output of this run" in said[0]


def test_resume(urnscan: Command):
    """Files whose records were read are not read again: they have the ETag and the records of before."""
    web = Web()
    go_on = threading.Event()
    big = Archive.warc([("big", b"urn:example:big\n" + b" " * (5 << 20))])
    small, places = web_archive(WARC)

    def late(handler):
        if handler.headers.get("Range") != "bytes=0-0":
            go_on.wait(60)
        handler.give(small)

    try:
        web.pages = {"/1.warc": big, "/2.warc": big, "/3.warc.gz": late}
        rows = [("1.warc", 0, len(big)), ("2.warc", 0, len(big)), ("3.warc.gz", *places[1])]
        urnscan.write("l.cdxj", cdxj(rows).encode())
        command = ["--cdx", "l.cdxj", web.url, "-o", "c.parquet", "--resume"]
        kept = urnscan.folder / ".c.parquet.shards.urnscan-tmp" / "shards"
        with urnscan.start(*command) as process:
            wait_until(lambda: kept.exists() and kept.read_bytes().count(b"\n") == 3, "both tasks are kept")
            process.kill()
            process.wait()
        go_on.set()
        web.asked.clear()
        urnscan.write("l.cdxj", cdxj([*rows, ("3.warc.gz", *places[5])]).encode())
        result = urnscan(*command)
    finally:
        go_on.set()
        web.close()
    assert "from an earlier run" in result.summary
    assert {path for _, path, data in web.asked if data != "bytes=0-0"} == {"/3.warc.gz"}
    assert urnscan.rows("c.parquet", "urn", "occurrence_count") == [
        ("urn:example:1", 2),
        ("urn:example:5", 3),
        ("urn:example:big", 2),
    ]


def test_where_that_no_record_fits(urnscan):
    """A typo in --where once gave only "0 bytes, 0 occurrences": a line names the values that are there."""
    urnscan.write(WARC, responses(2)[0])
    result = urnscan(WARC, "--where", "status=200 mime=text/htm")
    assert result.said == [
        "urnscan: no record with text fits --where 'status=200 mime=text/htm'; there are mime=text/html"
    ]
    assert urnscan(WARC, "--where", "status=404").said[0].endswith("; there are status=200")
    assert urnscan(WARC, "--where", "status=200").said == []
