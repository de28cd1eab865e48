"""Captures of web archives: their columns, and the conditions of --where."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.packed import zipped
from urnscan.errors import NoWebArchiveNote
from urnscan.formats.captures import NAMES, Capture, Where, read_where
from urnscan.tables.printed_lines import json_lines
from urnscan.tables.writers import separated_lines

TIDE = "2024-01-31T23:59:59Z"


def record(body: bytes, *, date: str = TIDE, head: bytes | None = b"HTTP/1.1 200 OK\r\n", kind: str = "") -> bytes:
    """A record of a web archive; `head` None: it holds no HTTP message."""
    content = body if head is None else head + b"\r\n" + body
    kind = kind or ("text/plain; charset=utf-8" if head is None else "application/http; msgtype=response")
    fields = f"WARC-Type: response\r\nWARC-Date: {date}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    return f"WARC/1.1\r\n{fields}\r\n".encode() + content + b"\r\n\r\n"


def html(status: str, kind: str = "Text/HTML; charset=x", *more: str) -> bytes:
    """Start line and headers of an answer."""
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", f"Content-Type: {kind}", *more)).encode()


def columns(tmp_path, archive: bytes, name: str = "a.warc", **options: object) -> list[tuple[object, ...]]:
    """The columns of the captures, and the URN, of each occurrence."""
    (tmp_path / name).write_bytes(archive)
    rows = urnscan.scan(tmp_path / name, progress=False, **options).occurrences.to_pylist()
    return [(row["urn"], row["captured"], row["status"], row["mime"]) for row in rows]


ARC = b"filedesc://a.arc 0.0.0.0 19980305102030 text/plain 76\n1 0 InternetArchive\n"
ARC += b"URL IP-address Archive-date Content-type Archive-length\n\n"
MOMENT = dt.datetime(2024, 1, 31, 23, 59, 59, tzinfo=dt.UTC)


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_columns(tmp_path, name):
    """HTTP answers, also coded ones, say status and type; other records have the type of the archive."""
    packed = gzip.compress(b"urn:ex:b")
    records = [
        record(b"urn:ex:a", head=html("200 OK")),
        record(packed, head=html("404 Not Found", "text/plain", "Content-Encoding: gzip")),
        record(b"urn:ex:c", head=None),
        record(b"urn:ex:d", head=b"HTTP/1.0 301\r\n", date="2024"),
        record(b"urn:ex:e", head=b"GET /x HTTP/1.1\r\n", date="yesterday"),
    ]
    found = columns(tmp_path, b"".join(map(gzip.compress, records) if name.endswith("gz") else records), name)
    assert found == [
        ("urn:ex:a", MOMENT, 200, "text/html"),
        ("urn:ex:b", MOMENT, 404, "text/plain"),
        ("urn:ex:c", MOMENT, None, "text/plain"),
        ("urn:ex:d", dt.datetime(2024, 1, 1, tzinfo=dt.UTC), 301, None),
        ("urn:ex:e", None, None, None),
    ]


def test_what_lies_in_a_record(tmp_path):
    """Members of an archive that was fetched, and values of a table, are of that record."""
    table = io.BytesIO()
    pq.write_table(pa.table({"a": ["urn:ex:b"]}), table)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("a.txt", "b.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = 8
            archive.addfile(entry, io.BytesIO(b"urn:ex:c"))
    bodies = [zipped([("a.txt", b"urn:ex:a")]), table.getvalue(), packed.getvalue()]
    archive = b"".join(record(body, head=html("200", "application/x")) for body in bodies)
    found = columns(tmp_path, archive)
    assert [urn for urn, *_ in found] == ["urn:ex:a", "urn:ex:b", "urn:ex:c", "urn:ex:c"]
    assert {tuple(others) for _, *others in found} == {(MOMENT, 200, "application/x")}
    assert columns(tmp_path, archive, where="status=200") == found
    assert columns(tmp_path, archive, where="status=404") == []


def test_elsewhere(tmp_path):
    """What is in no web archive has no capture, and fits no condition: files, large ones, members and values."""
    (tmp_path / "a.txt").write_bytes(b"urn:ex:a")
    (tmp_path / "b.txt").write_bytes(b"urn:ex:b\n" + b"x" * (1 << 21))
    (tmp_path / "c.zip").write_bytes(zipped([("c", b"urn:ex:c")]))
    pq.write_table(pa.table({"d": ["urn:ex:d"]}), tmp_path / "d.parquet")
    with tarfile.open(tmp_path / "e.tar", "w") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    found = urnscan.scan(tmp_path, progress=False).occurrences
    assert len(found) == 5
    assert all(found.column(name).null_count == 5 for name in ("captured", "status", "mime"))
    scan = urnscan.scan(tmp_path, progress=False, where="status=*")
    assert not len(scan.occurrences)
    assert [(type(note), note.count) for note in scan.report.notes] == [(NoWebArchiveNote, 5)]


def test_web_archives_in_others(tmp_path):
    """An input that contains a web archive, also without a record that fits, has no note that it is not one."""
    (tmp_path / "a.zip").write_bytes(
        zipped([("a.warc", record(b"urn:ex:a", head=html("200"))), ("b.txt", b"urn:ex:b")])
    )
    (tmp_path / "b.warc").write_bytes(record(b"urn:ex:c", head=html("404")))
    (tmp_path / "c.arc").write_bytes(ARC)
    assert urnscan.scan(tmp_path, progress=False, where="status=200").report.notes == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("where", "which"),
    [
        ("status=200", "a"),
        ("status=200,404", "ab"),
        ("status=?0?", "ab"),
        ("mime=text/*", "abc"),
        ("mime=TEXT/Html", "a"),
        ("captured=2024*", "ab"),
        ("captured=2024-01-31T23:59:59Z", "a"),
        ("mime=text/* captured=2025*", "c"),
        ("status=200 mime=text/plain", ""),
    ],
)
@pytest.mark.parametrize("coding", ["", "gzip"])
def test_where(tmp_path, where, which, coding):
    """All conditions must hold; of a list, and of a pattern, one value."""
    pack = gzip.compress if coding else bytes
    more = ("Content-Encoding: gzip",) if coding else ()
    archive = b"".join(
        [
            record(pack(b"urn:ex:a"), head=html("200 OK", "text/html", *more)),
            record(pack(b"urn:ex:b"), head=html("404", "text/plain", *more), date="2024-02-01T00:00:00Z"),
            record(b"urn:ex:c", head=None, date="2025-02-01T00:00:00Z"),
        ]
    )
    assert [urn[-1] for urn, *_ in columns(tmp_path, archive, where=where)] == list(which)


IMPOSSIBLE = ["status=ab", "status=20", "status=200,2x", "status=2????", "captured=2024", "captured=20240131*"]
IMPOSSIBLE += [
    "captured=2024-01-31t*",
    "captured=yesterday",
    "mime=html",
    "mime=a?",
    "mime=ä/b",
    "mime=text/* status=ok",
]


@pytest.mark.parametrize("where", IMPOSSIBLE)
def test_conditions_that_no_record_fulfils(where):
    """A typo, or a time in another form, is an error that shows how it is written, not an empty result."""
    with pytest.raises(urnscan.ArgumentError, match=r"^where: no record has \w+=\S+; write \w+="):
        urnscan.scan("a", where=where)


@given(
    st.data(), st.datetimes(), st.integers(100, 999), st.from_regex(rb"[a-z+.-]{1,9}/[a-z0-9;]{1,9}", fullmatch=True)
)
def test_conditions_that_a_record_fulfils(data, moment, status, mime):
    """No pattern that fits a record is refused, wherever a `*`, a `?` or a set stands in the place of its characters."""
    capture = Capture(moment.isoformat()[:19].encode(), mime, b"HTTP/1.1 %d\nContent-Type: %b\n" % (status, mime))
    name = data.draw(st.sampled_from(NAMES))
    text = capture.text(name)
    others = st.sampled_from("? * [!_] [%] ?* **".split())
    changes = data.draw(st.dictionaries(st.integers(0, max(len(text) - 1, 0)), others, max_size=6))
    glob = "".join(
        changes[at].replace("%", character) if at in changes else character for at, character in enumerate(text)
    )
    assert read_where(f"{name}={glob or '*'}").fits(capture)


@pytest.mark.parametrize("where", ["", " ", "200", "code=200", "status=", "status=200,", "Status=200"])
def test_wrong_conditions(where):
    """Each is refused in one line that shows how they are written."""
    with pytest.raises(urnscan.ArgumentError, match="status=200 mime=text"):
        urnscan.scan("a", where=where)


@given(st.datetimes())
def test_times(moment):
    """ISO 28500 §5.4, and the fourteen digits of ARC; WARC 1.1 admits fractions and less precision."""
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=dt.UTC)
    whole = moment.replace(microsecond=0)
    text = moment.isoformat().removesuffix("+00:00")
    assert Capture(f"{text}Z".encode()).captured == moment
    assert Capture("".join(filter(str.isdigit, whole.isoformat()[:19])).encode()).captured == whole
    assert Capture(text[:10].encode()).captured == whole.replace(hour=0, minute=0, second=0)


@given(st.binary(max_size=30), st.binary(max_size=30), st.binary(max_size=60))
def test_any_bytes(date, content_type, head):
    """No header can break a row, or fit a condition that it does not name."""
    capture = Capture(date, content_type, head)
    pa.array([capture.captured], pa.timestamp("ms", "UTC"))
    pa.array([capture.status], pa.int16())
    pa.array([capture.mime], pa.string()).validate(full=True)
    assert not Where((("status", "x"),)).fits(capture)


def test_outputs_for_people(tmp_path):
    """CSV and JSON have the time as ISO 8601, so that spreadsheets and programs read it."""
    (tmp_path / "a.warc").write_bytes(record(b"urn:ex:a", head=html("200")))
    (rows,) = urnscan.scan(tmp_path / "a.warc", progress=False).occurrences.to_batches()
    assert bytes(separated_lines(rows, ",")).endswith(f'"{TIDE}",200,"text/html"\n'.encode())
    assert bytes(json_lines(rows)).endswith(f'"captured": "{TIDE}", "status": 200, "mime": "text/html"}}\n'.encode())
