"""What is not read as what it is: it is told, and nothing is lost silently."""

import bz2
import gzip
import io
import sqlite3
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from urnscan.errors import SourceError, SourceNote
from urnscan.formats.archives import by_libarchive
from urnscan.formats.contents import Document
from urnscan.formats.context import Reading
from urnscan.formats.unfold import open_documents
from urnscan.formats.unread import PACKED
from urnscan.stores.input import Input


@pytest.fixture(autouse=True)
def without_libarchive(monkeypatch):
    """What it would read is told (what it reads is in test_by_libarchive.py)."""
    monkeypatch.setattr(by_libarchive, "missing", lambda: "install it")


def remedy_of(packed):
    return f"{packed.remedy}, or install it" if packed.formats or packed.filter_ else packed.remedy


@pytest.fixture
def opened(tmp_path):
    """What is in a file of this name: texts by their members, notes, and errors."""

    def opened(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        view = memoryview(bytearray(1000))
        out = []
        try:
            for found in open_documents(Input(name, str(path), len(data)), Reading()):
                if isinstance(found, Document):
                    text = b""
                    while got := found.reader.read_into(view):
                        text += view[:got]
                    out.append((found.member, text))
                elif isinstance(found, SourceNote):
                    out.append(f"note: {found}")
                else:
                    out.append(str(found) if isinstance(found, SourceError) else found)
        except SourceError as error:
            out.append(f"raised: {error}")
        return out

    return opened


def tarred():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for number in range(3):
            data = bz2.compress(b"urn:isbn:%d" % number)
            header = tarfile.TarInfo(f"m{number}.txt.bz2")
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"m{number}.txt", b"urn:isbn:%d" % number)
    return file.getvalue()


def record(number):
    head = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <m%d>\r\nContent-Length: 10\r\n\r\n" % number
    return head + b"urn:isbn:%d\r\n\r\n" % number


def flipped(data, at):
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]


# Archives whose first header is damaged


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.tar", flipped(tarred(), 5)),
        ("x.TAR", flipped(tarred(), 300)),
        ("x.tar.gz", gzip.compress(flipped(tarred(), 5))),
        ("x.tgz", gzip.compress(flipped(tarred(), 5))),
        ("x.zip", flipped(zipped(), 0)),
        ("x.epub", flipped(zipped(), 3)),
        ("x.docx.gz", gzip.compress(flipped(zipped(), 1))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_beginning_costs_the_first_member_alone(opened, name, data):
    """Known by its name, it is told; without that it would be scanned as a text, silently."""
    error, *members = opened(name, data)
    assert "byte 0" in error
    assert "skipped" in error
    assert [text for _, text in members] == [b"urn:isbn:1", b"urn:isbn:2"]
    assert [member[:2] for member, _ in members] == ["m1", "m2"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.warc", flipped(record(0), 0) + record(1) + record(2)),
        ("x.wet.gz", gzip.compress(flipped(record(0), 1)) + gzip.compress(record(1)) + gzip.compress(record(2))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_first_record_is_a_text(opened, name, data):
    """Known by its name, the archive is read from its second record on, and names in the first are found."""
    first, error, *members = opened(name, data)
    assert first[0] == "byte 0"
    assert b"urn:isbn:0" in first[1]
    assert "damaged at byte 0: no record begins here" in error
    assert members == [("<m1>", b"urn:isbn:1"), ("<m2>", b"urn:isbn:2")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.tar", b"urn:a:b and no NUL"),
        ("x.tar", b"\xff\xfeu\0r\0n\0:\0a\0:\0b\0"),
        ("x.zip", b"PK, urn:a:b and no control character"),
        ("x.warc", b"about archives: urn:a:b"),
        ("x.parquet", b"a text called like a table: urn:a:b"),
        ("x.db", b"a text called like a database: urn:a:b"),
        ("x.db", b"Another database\0\x01\x02 urn:a:b"),
        ("x.bin", flipped(zipped(), 0)),
        ("x.bin", b"\0\x01\x02\x03" * 300),
    ],
)
def test_what_is_no_damaged_archive_is_scanned_as_it_is(opened, name, text):
    ((member, data),) = opened(name, text)
    assert member is None
    assert data == (text.decode("utf-16").encode() if text.startswith(b"\xff\xfe") else text)


def test_an_empty_tar_archive_is_one(opened):
    """It is of zeros alone."""
    assert opened("x.tar", bytes(10240)) == []


# Tables


def tables(tmp_path):
    table = pa.table({"a": ["urn:a:b"]})
    pq.write_table(table, tmp_path / "t")
    yield "x.parquet", "a Parquet file", (tmp_path / "t").read_bytes(), 0
    for name in ("x.arrow", "x.feather"):
        with pa.OSFile(str(tmp_path / "t"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write(table)
        yield name, "an Arrow file", (tmp_path / "t").read_bytes(), 2
    (tmp_path / "t").unlink()
    database = sqlite3.connect(tmp_path / "t")
    database.execute("create table t(a)")
    database.execute("insert into t values ('urn:a:b')")
    database.commit()
    database.close()
    for name in ("x.sqlite", "x.sqlite3", "x.db"):
        yield name, "an SQLite database", (tmp_path / "t").read_bytes(), 3


def test_a_table_that_does_not_begin_like_one_is_scanned_as_it_is(opened, tmp_path):
    """And that is told: the values of one that is compressed are not found so."""
    for name, what, data, at in tables(tmp_path):
        assert not any(isinstance(item, str) for item in opened(name, data))
        bad = flipped(data, at)
        error = f"{name}: is named like {what} but does not begin like one: scanned unchanged, so text may be missing"
        assert opened(name, bad) == [error, (None, bad)]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("x.GZ", "a gzip file"),
        ("x.mrc.zst", "a zstd file"),
        ("x.xz", "an xz file"),
        ("x.lz4", "an LZ4 file"),
        ("x.xlsx", "a zip archive"),
        ("x.parquet", "a Parquet file"),
        ("x.avro", "an Avro file"),
        ("x.txt", None),
        ("x.tar", None),
        ("x.sqlite", None),
        ("x.warc", None),
    ],
)
def test_an_empty_file(opened, name, what):
    """A failed transfer often leaves one. No file of a form with a signature is empty; an empty tar or SQLite file is one."""
    error = f"{name}: is named like {what}, but is empty: it may be a failed transfer"
    assert opened(name, b"") == [*([error] if what else []), (None, b"")]


# Forms that are not read


SIGNS = [(packed, sign) for packed in PACKED for sign in packed.signs]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=3 * len(SIGNS))
@given(sign=st.sampled_from(SIGNS), rest=st.binary(max_size=200), within=st.sampled_from(("", "gzip", "zip")))
def test_every_packed_form_is_told(opened, sign, rest, within):
    """Exit status 0 means that no byte was left out (guarantees.md): under any name, and inside other forms."""
    packed, magic = sign
    data = bytes(packed.at) + magic + b"\0" + rest
    said = f"{packed.name} is not read; {remedy_of(packed)}"
    if within == "gzip":
        assert opened("x", gzip.compress(data)) == [f"raised: x: {said}"]
    elif within == "zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a", data)
            archive.writestr("b", b"urn:a:b")
        assert opened("x", file.getvalue()) == [f"x!/a: {said}", ("b", b"urn:a:b")]
    else:
        assert opened("x", data) == [f"raised: x: {said}"]


@pytest.mark.parametrize(
    ("packed", "suffix"), [(packed, suffix) for packed in PACKED for suffix in packed.suffixes], ids=str
)
def test_a_file_that_is_only_named_like_a_packed_form_is_told(opened, packed, suffix):
    """Its first bytes may be damaged, or the form has none by which it is known (Brotli, an Apple disk image)."""
    first, *others = opened(f"X{suffix.upper()}", b"\x03\x02\x01 urn:a:b")
    if packed.signs:
        assert first.endswith("does not begin like one: scanned unchanged, so text may be missing")
        assert len(others) == 1
    else:
        assert (first, others) == (f"raised: X{suffix.upper()}: {packed.name} is not read; {remedy_of(packed)}", [])
    assert opened(f"x{suffix}", b"urn:a:b in a text") == [(None, b"urn:a:b in a text")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sign=st.sampled_from(
        [sign for packed, sign in SIGNS if sign.isascii() and sign.decode().isprintable() and not packed.is_text]
    ),
    before=st.text("abc urn:", max_size=60),
    text=st.text("abc urn:\n", max_size=100),
)
def test_a_text_that_begins_like_a_packed_form_is_text(opened, sign, before, text):
    """A sign of letters alone counts only where control characters follow: no text is lost to it."""
    data = (before + sign.decode() + text).encode()
    assert opened("x", data) == [(None, data)]


@pytest.mark.parametrize(
    ("name", "data", "kind", "what"),
    [
        ("x", b"070701" + b"0" * 104 + b"a\0urn:a:b", "note: ", "a cpio archive"),
        ("x", b"070707" + b"0" * 70 + b"a\0urn:a:b", "note: ", "a cpio archive"),
        ("x", b"\xc7\x71" + bytes(24) + b"a\0urn:a:b", "note: ", "a cpio archive"),
        ("x", b"!<thin>\n//          ", "note: ", "a thin ar archive"),
        ("x", bytes(32768) + b"\x01CD001 urn:a:b", "note: ", "an ISO image"),
        ("x.iso", b"\x33\xed" + bytes(32766) + b"\x01CD001 urn:a:b", "note: ", "an ISO image"),
        ("x", b"begin 644 a.txt\n'=7)N.F$Z8@  \n`\nend\n", "", "what uuencode wrote"),
        ("x.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 urn:a:b", "", "an Office file up to 2003 or an Outlook message"),
    ],
)
def test_what_is_scanned_as_it_is_is_told(opened, name, data, kind, what):
    """Archives that pack nothing lose nothing (a note); what is encoded is lost (a failure)."""
    said, text = opened(name, data)
    assert said.startswith(f"{kind}{name}: {what} is scanned ")
    assert text == (None, data)


@pytest.mark.parametrize(
    "text", [b"070701 urn:a:b", b"begin 644", b"begin 644 urn:a:b\nof the day\nurn:a:b", b"\0" * 600]
)
def test_what_only_begins_like_them_is_text(opened, text):
    """No note about a text."""
    assert opened("x", text) == [(None, text)]


@pytest.mark.parametrize(
    ("name", "data", "remedy"),
    [
        (
            "x",
            b"Obj\x01\x04",
            "an Avro file is not read; read it with fastavro, and give its batches to urnscan.scan_batches",
        ),
        (
            "000000_0",
            b"ORC\x03urn:a:b",
            "an ORC file is not read; read it with pyarrow.orc, and give its batches to urnscan.scan_batches",
        ),
        (
            "x.orc",
            b"ORCurn:a:b",
            "an ORC file is not read; read it with pyarrow.orc, and give its batches to urnscan.scan_batches",
        ),
    ],
)
def test_avro_and_orc_are_told_with_what_reads_them(opened, name, data, remedy):
    """not-read.md: their text is packed, so it is no text to scan; whatever their names, but ORC begins as a text may."""
    assert opened(name, data) == [f"raised: {name}: {remedy}"]


@pytest.mark.parametrize(("name", "what"), [("x.avro", "an Avro file"), ("x.orc", "an ORC file")])
def test_what_is_only_named_like_them_is_scanned_as_it_is(opened, name, what):
    """not-read.md: that is told, as the text in it may be packed."""
    error = f"{name}: is named like {what} but does not begin like one: scanned unchanged, so text may be missing"
    assert opened(name, b"\0urn:a:b") == [error, (None, b"\0urn:a:b")]
    assert opened(name, b"urn:a:b") == [(None, b"urn:a:b")]


@pytest.mark.parametrize(
    "text",
    [
        b"7z",
        b"Rar! it said",
        b"MSCF",
        b"\x1f\x9d",
        b"\x1f\x9d\x00",
        b"!<arch>",
        b"7",
        b"Obj",
        b"ORC",
        b"ORCHID urn:a:b",
    ],
)
def test_what_only_begins_a_little_like_them_is_text(opened, text):
    assert opened("x", text) == [(None, text)]


def test_an_ar_archive_is_scanned_as_it_is(opened):
    """It compresses nothing: what is in it is found, but not what is packed in that."""
    data = b"!<arch>\na/              0           0     0     100644  8         `\nurn:a:b\n"
    note, found = opened("x", data)
    assert note == "note: x: an ar archive is scanned unchanged, so members that are packed are not read; install it"
    assert found == (None, data)


def test_a_debian_package_is_a_failure(opened):
    """It is an ar archive whose members are all packed, so its text is lost; it is scanned all the same."""
    data = b"!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n"
    error, found = opened("x", data)
    assert error.startswith("x: a Debian package is scanned unchanged, and what is packed in it is not read")
    assert found == (None, data)
