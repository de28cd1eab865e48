"""ARC files: the records of web archives before WARC (Internet Archive, "Arc File Format", 1996)."""

from __future__ import annotations

import datetime as dt
import gzip
import time

import pytest

import urnscan

HEAD = b"filedesc://a.arc 0.0.0.0 19980305102030 text/plain 76\n1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n\n"
TWO = b"filedesc://a.arc 0.0.0.0 19980305102030 text/plain 200 - - 0 a.arc 122\n2 0 InternetArchive\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n\n"


def record(number: int, body: bytes, *, two: bool = False, kind: bytes = b"text/html") -> bytes:
    """A record with an answer of HTTP."""
    content = b"HTTP/1.0 200 OK\r\nContent-Type: %b; charset=x\r\nLink: urn:ex:header\r\n\r\n%b" % (kind, body)
    more = b" 200 - - 99 a.arc" if two else b""
    return b"http://ex.org/%d 1.2.3.4 1998030510203%d %b%b %d\n%b\n" % (
        number,
        number,
        kind,
        more,
        len(content),
        content,
    )


def scanned(tmp_path, data: bytes, name: str = "a.arc", **options: object):
    """The members, texts and captures of a scan, and the reasons of its failures."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / "also").write_bytes(b"")
    found = urnscan.scan(tmp_path / name, tmp_path / "also", progress=False, **options)
    rows = found.occurrences.to_pylist()
    columns = ("member", "text", "captured", "status", "mime")
    return [tuple(map(row.get, columns)) for row in rows], [each.reason for each in found.report.failures]


@pytest.mark.parametrize("name", ["a.arc", "a.arc.gz", "A.ARC"])
@pytest.mark.parametrize("two", [False, True])
def test_records(tmp_path, name, two):
    """Both versions, each record compressed or none; headers of HTTP are no text."""
    parts = [TWO if two else HEAD, *(record(number, b"urn:ex:%d" % number, two=two) for number in (1, 2))]
    rows, failures = scanned(tmp_path, b"".join(map(gzip.compress, parts) if name.endswith("gz") else parts), name)
    moments = [dt.datetime(1998, 3, 5, 10, 20, 30 + number, tzinfo=dt.UTC) for number in (1, 2)]
    assert rows == [
        (f"http://ex.org/{number}", f"urn:ex:{number}", moment, 200, "text/html")
        for number, moment in enumerate(moments, 1)
    ]
    assert failures == []


def test_other_records(tmp_path):
    """A record that is no HTTP has its media type from its line; --where knows it, too."""
    data = HEAD + b"dns:ex.org 1.2.3.4 19980305102030 text/dns 8\nurn:ex:a\n" + record(1, b"urn:ex:b")
    rows, failures = scanned(tmp_path, data)
    assert [(row[0], row[1], row[3], row[4]) for row in rows] == [
        ("dns:ex.org", "urn:ex:a", None, "text/dns"),
        ("http://ex.org/1", "urn:ex:b", 200, "text/html"),
    ]
    assert failures == []
    assert [row[1] for row in scanned(tmp_path, data, where="mime=text/dns")[0]] == ["urn:ex:a"]


def test_text_with_such_a_name(tmp_path):
    """A file called .arc that is none is read as it is."""
    assert scanned(tmp_path, b"filedesc of urn:ex:a\n")[0] == [(None, "urn:ex:a", None, None, None)]
    assert scanned(tmp_path, HEAD + record(1, b"urn:ex:b"), "a.txt")[0][0][0] is None


class TestDamage:
    def test_a_length_that_lies(self, tmp_path):
        """It costs no name; the message says how far."""
        wrong = record(1, b"urn:ex:a " + b"x" * 20_000 + b" urn:ex:c ")
        at = wrong.index(b"\n")
        wrong = wrong[: at - 2] + wrong[at:]  # shorter
        rows, (reason,) = scanned(tmp_path, HEAD + wrong + record(2, b"urn:ex:b"))
        assert [row[1] for row in rows] == ["urn:ex:a", "urn:ex:c", "urn:ex:b"]
        assert [rows[0][0], rows[2][0]] == ["http://ex.org/1", "http://ex.org/2"]
        assert "no record begins here, where http://ex.org/1 ends" in reason
        assert reason.endswith(" bytes affected, up to the next record")

    def test_no_record_follows(self, tmp_path):
        """The message does not speak of a next record."""
        rows, (reason,) = scanned(tmp_path, HEAD + record(1, b"urn:ex:a") + b"urn:ex:b ")
        assert [row[1] for row in rows] == ["urn:ex:a", "urn:ex:b"]
        assert reason.endswith("; 9 bytes affected, up to the end")

    def test_cut_off_anywhere(self, tmp_path):
        """Records before the cut are found."""
        data = HEAD + record(1, b"urn:ex:a ") + record(2, b"urn:ex:b ")
        first = len(HEAD + record(1, b"urn:ex:a "))
        for end in range(len(HEAD), len(data), 11):
            rows, _ = scanned(tmp_path, data[:end])
            assert end < first or ("http://ex.org/1", "urn:ex:a") in [row[:2] for row in rows]

    @pytest.mark.full
    @pytest.mark.parametrize(
        "data",
        [
            b"http:a b " * 200_000,
            b"http:a 1.1.1.1 19980305102030 " * 100_000,
            b"\n" * 10**6 + b"x\n" * 500_000,
            b"h:" * 10**6,
        ],
        ids=["words", "lines", "blank", "addresses"],
    )
    def test_hostile(self, tmp_path, data):
        """What is no record is passed over in linear time."""
        began = time.process_time()
        rows, _ = scanned(tmp_path, HEAD + data + b"\n" + record(1, b"urn:ex:a"))
        assert time.process_time() - began < 20
        assert ("http://ex.org/1", "urn:ex:a") in [row[:2] for row in rows]


@pytest.mark.parametrize("two", [False, True])
def test_blanks_in_an_address_and_in_a_type(tmp_path, two):
    """Common Crawl's of 2008 to 2012: the line is split from its end, so no record is lost."""
    data = record(1, b"urn:ex:a", two=two).replace(b"/1 1.2.3.4", b"/a b 1 1.2.3.4", 1)
    data += record(2, b"urn:ex:b", two=two).replace(b" text/html ", b" text/html; charset=x y ", 1)
    data += record(3, b"urn:ex:c", two=two).replace(b"/3 1.2.3.4", b"/?q=9 1.1.1.1 20000101000000 x 1.2.3.4", 1)
    rows, failures = scanned(tmp_path, (TWO if two else HEAD) + data)
    assert [row[:2] for row in rows] == [
        ("http://ex.org/a b 1", "urn:ex:a"),
        ("http://ex.org/2", "urn:ex:b"),
        ("http://ex.org/?q=9 1.1.1.1 20000101000000 x", "urn:ex:c"),
    ]
    assert failures == []


@pytest.mark.parametrize("two", [False, True])
def test_the_media_type_of_a_line(tmp_path, two):
    """--where reads it also where it has a blank, without the other fields of version 2."""
    more = b" 200 - - 99 a.arc" if two else b""
    data = b"dns:ex.org 1.2.3.4 19980305102030 text/dns; x=y z%b 8\nurn:ex:a\n" % more
    rows, _ = scanned(tmp_path, (TWO if two else HEAD) + data, where="mime=text/dns")
    assert [(row[1], row[4]) for row in rows] == [("urn:ex:a", "text/dns")]
