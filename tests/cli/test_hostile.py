"""Input that was made to harm, given to the installed command: bombs, names that command, references, crafted tables.

What the readers of each form do with it stands in tests/formats and tests/records; here is what a user meets.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tarfile
import threading
import zipfile
import zlib

import brotli
import lz4.frame
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.support.packed import dictionary, dictionary_frame, with_dictionary, zipped
from urnscan.cli import COMMANDS
from urnscan.run.options import Options

from .conftest import MEASURED, URNSCAN

pytestmark = pytest.mark.full

MIB = 1 << 20
NAME = "e\x1b[31mred\x1b]0;t\x07\nurnscan: 9 failed\r\u202e\u2028\x9b1m"
SHOWN = r"e\x1b[31mred\x1b]0;t\x07\nurnscan: 9 failed\r\u202e\u2028\x9b1m"
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")  # all but the line feed


def packed(text: bytes) -> dict[str, bytes]:
    """It in each form that unfolds."""
    zstd = zstandard.ZstdCompressor(1).compress(text)
    forms = {
        "b.gz": gzip.compress(text, 1),
        "b.bz2": bz2.compress(text, 1),
        "b.xz": lzma.compress(text, preset=0),
        "b.lzma": lzma.compress(text, lzma.FORMAT_ALONE, preset=0),
        "b.zst": zstd,
        "b.lz4": lz4.frame.compress(text),
    }
    for number, method in enumerate((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", method, compresslevel=1) as zipped:
            zipped.writestr("in.txt", text)
        forms[f"b{number}.zip"] = archive.getvalue()
    deflate = zlib.compress(text, 1)
    br = brotli.compress(text, quality=1)
    for coding, body in (("gzip", forms["b.gz"]), ("deflate", deflate), ("br", br), ("zstd", zstd)):
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\n\r\n" % coding.encode()
        forms[f"{coding}.warc"] = (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
            b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n" % len(head + body)
        ) + head + body + b"\r\n\r\n"  # fmt: skip
    return forms


class TestBombs:
    """Each is ended at its limit, by name, in bounded memory, and costs no other."""

    def test_every_form(self, urnscan):
        """Also in another: what unfolds is counted, however many forms lie around it."""
        forms = packed(bytes(24 * MIB))
        forms["b.wacz"] = zipped([("archive/b.warc.gz", gzip.compress(forms["br.warc"]))], zipfile.ZIP_STORED)
        forms |= {
            f"{name}.again.gz": gzip.compress(content) for name, content in forms.items() if name in ("b.xz", "br.warc")
        }
        for name, content in forms.items():
            urnscan.write(f"d/{name}", content)
        urnscan.write("d/z.txt", b"urn:foo:z")
        result, peak = urnscan.measured("d", "--max-size", "20MB", "--occurrences", "occ.parquet", status=1)
        said = {line.split(":")[1].split("!/")[0].removeprefix(" d/") for line in result.said}
        assert said == set(forms)
        assert len(result.said) == len(forms)
        assert [line for line in result.said if "unpacks to more than 20,000,000 bytes" not in line] == []
        assert urnscan.rows("occ.parquet", "text") == [("urn:foo:z",)]
        assert peak < 500 * MIB

    def test_sparse_tar(self, urnscan):
        """A hole of an exabyte in some hundred bytes."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
            member = tarfile.TarInfo("hole")
            data = b"1\n0\n1\n".ljust(512, b"\0") + b"x"
            member.size = len(data)
            member.pax_headers = {
                "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole",
                "GNU.sparse.realsize": str(1 << 60),
            }  # fmt: skip
            tar.addfile(member, io.BytesIO(data))
        urnscan.write("a.tar", archive.getvalue())
        urnscan.write("z.txt", b"urn:foo:z")
        result, peak = urnscan.measured("a.tar", "z.txt", "--max-size", "20MB", status=1)
        assert len(result.said) == 1
        assert result.out == b"z.txt:1:urn:foo:z\n"
        assert peak < 400 * MIB

    @pytest.mark.core
    def test_dictionaries(self, urnscan):
        """Of one more comes out than is taken; of many, each small enough, more than the limit."""
        frame = with_dictionary(b"urn:foo:y")
        huge = dictionary_frame(dictionary().as_bytes() + bytes(200 * MIB), is_compressed=True)
        many = dictionary_frame(dictionary().as_bytes() + bytes(7 * MIB), is_compressed=True)
        urnscan.write("a.warc.zst", huge + frame)
        urnscan.write("b.warc.zst", (many + frame) * 9)
        urnscan.write("z.txt", b"urn:foo:z")
        result, peak = urnscan.measured("a.warc.zst", "b.warc.zst", "z.txt", "--max-size", "20MB", status=1)
        assert "which has more than 8 MiB" in result.said[0]
        assert "unpacks to more than 20,000,000 bytes" in result.said[1]
        assert len(result.said) == 2
        assert result.out.endswith(b"z.txt:1:urn:foo:z\n")
        assert peak < 400 * MIB

    def test_a_page_of_parquet(self, urnscan):
        """270 MiB in a page of some kilobytes: pyarrow would take them thrice before anything is counted."""
        column = pa.array([bytes(270 * MIB)], pa.large_binary())
        pq.write_table(
            pa.table({"a": column}),
            urnscan.folder / "b.parquet",
            compression="zstd",
            use_dictionary=False,
            write_statistics=False,
        )
        del column
        urnscan.write("z.txt", b"urn:foo:z")
        result, peak = urnscan.measured("b.parquet", "z.txt", status=1)
        (line,) = result.said
        assert line.startswith("urnscan: b.parquet: unpacks to more than 1,000 times its size")
        assert result.out == b"z.txt:1:urn:foo:z\n"
        assert peak < 400 * MIB

    @pytest.mark.parametrize("names", ["nulls", "the same"])
    def test_a_list_of_parquet(self, urnscan, names):
        """600 bytes that say that a row has 30 million values: each would take twelve bytes and more."""
        count = 30_000_000
        values = pa.nulls(count, pa.string())
        if names == "the same":
            values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), ["urn:foo:a"])
        column = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), values)
        pq.write_table(pa.table({"a": column}), urnscan.folder / "b.parquet", compression="zstd")
        assert (urnscan.folder / "b.parquet").stat().st_size < 1000
        del values, column
        urnscan.write("z.txt", b"urn:foo:z")
        result, peak = urnscan.measured("b.parquet", "z.txt", status=1)
        (line,) = result.said
        assert line.startswith("urnscan: b.parquet: unpacks to more than 1,000 times its size")
        assert result.out == b"z.txt:1:urn:foo:z\n"
        assert peak < 300 * MIB

    @pytest.mark.timeout(900)
    def test_millions_of_members(self, urnscan):
        """As many as `--max-members` allows, and then one more; out of a pipe, in bounded memory.

        The default would take minutes; eight times as many members show what each of them would leave in memory.
        """
        assert Options().max_members == 10_000_000
        few, many = (self.peak_of_members(urnscan, limit) for limit in (50_000, 400_000))
        assert many - few < 60 * MIB

    def peak_of_members(self, urnscan, limit):
        """The memory that a run takes which comes to its limit."""
        member = tarfile.TarInfo("m")
        member.size = 9
        content = (member.tobuf() + b"urn:foo:m".ljust(512, b"\0")) * 10_000

        def feed(pipe):
            with pipe:
                for _ in range(limit // 10_000):
                    pipe.write(content)
                pipe.write(content[:1024])

        command = [sys.executable, "-c", MEASURED, str(8 << 30), "../peak"]
        command += [URNSCAN, "-", "-o", "classes.parquet", "--memory", "1MB", "--force"]
        command += ["--max-members", str(limit)]
        with subprocess.Popen(
            command, cwd=urnscan.folder, env=urnscan.environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            threading.Thread(target=feed, args=(process.stdin,), daemon=True).start()
            err = process.stderr.read().decode()
        assert process.returncode == 1
        assert err.splitlines()[0].startswith(f"urnscan: -: has more than {limit:,} members; the rest is not read")
        assert urnscan.rows("classes.parquet", "urn", "occurrence_count") == [("urn:foo:m", limit)]
        return int((urnscan.folder.parent / "peak").read_text())


@pytest.fixture
def named(urnscan):
    """Inputs in all of whose names there is what commands a terminal and ends lines."""
    urnscan.write(f"d/{NAME}/{NAME}.txt", b"urn:foo:a")
    (urnscan.folder / os.fsdecode(b"d/\xff\x1b[1m.txt")).write_bytes(b"urn:foo:b")
    broken = gzip.compress(b"urn:foo:x" * 99)[:-20]
    with tarfile.open(urnscan.folder / "a.tar", "w") as tar:
        for name, content in ((f"{NAME}.txt", b"urn:foo:c"), (f"{NAME}.gz", broken)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    with zipfile.ZipFile(urnscan.folder / "b.zip", "w") as archive:
        archive.writestr(f"{NAME}.txt", "urn:foo:d")
    head = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://x/\x1b[31m\u202e\x9b\x07\r\nContent-Length: 9\r\n\r\n"
    urnscan.write("c.warc", head.encode() + b"urn:foo:e\r\n\r\n")
    with sqlite3.connect(urnscan.folder / "e.sqlite") as database:
        database.execute(f'CREATE TABLE "{NAME}" ("{NAME}" TEXT)')
        database.execute(f'INSERT INTO "{NAME}" VALUES (?)', ("urn:foo:f",))
    database.close()
    pq.write_table(pa.table({NAME: ["urn:foo:g"]}), urnscan.folder / "f.parquet")
    return ["d", "a.tar", "b.zip", "c.warc", "e.sqlite", "f.parquet"]


class TestNames:
    """Of files, members, addresses, tables, columns and records: an occurrence is a line, a failure is one, and none commands."""

    @pytest.mark.core
    def test_lines(self, urnscan, named):
        result = urnscan(*named, "--quiet", status=1)
        out = result.out.decode()
        assert not UNSEEN.search(out + result.err)
        assert sorted(line.rpartition(":")[2] for line in out.splitlines()) == list("abcdefg")
        assert f"d/{SHOWN}/{SHOWN}.txt:1:urn:foo:a" in out.splitlines()
        (line,) = result.err.splitlines()
        assert line.startswith(f"urnscan: a.tar!/{SHOWN}.gz: ")

    def test_json(self, urnscan, named):
        """JSON escapes what commands, and says the name as it is."""
        out = urnscan(*named, "--json", "--quiet", status=1).out.decode()
        assert not UNSEEN.search(out)
        rows = [json.loads(line) for line in out.splitlines()]
        assert len(rows) == 7
        assert f"d/{NAME}/{NAME}.txt" in [row["source"] for row in rows]
        urnscan(*named, "--occurrences", "occ.parquet", "--quiet", status=1)
        table = pq.read_table(urnscan.folder / "occ.parquet").drop_columns("stop").to_pylist()
        assert [{name: row[name] for name in row if name not in ("stop", "stop_octet")} for row in rows] == table

    def test_of_columns_that_are_named(self, urnscan):
        """The message about one that is not there lists those that are."""
        pq.write_table(pa.table({NAME: ["urn:foo:g"]}), urnscan.folder / "f.parquet")
        result = urnscan("f.parquet", "--column", NAME + "x", status=2)
        assert len(result.err.splitlines()) == 2
        assert not UNSEEN.search(result.err)

    def test_of_records_and_dumps(self, urnscan):
        """What `dedup` says of records that are damaged, and of URNs and dumps that it tells."""
        urnscan.write(f"{NAME}.jsonl", b'{"id": "\\u001b[31m", "urn": "urn:foo:a"}\n{"id": \x1b[31m}\n')
        result = urnscan("dedup", f"./{NAME}.jsonl", "-o", "c.parquet", "--report", "r.html", "--no-progress", status=1)
        assert not UNSEEN.search(result.err)
        assert len(result.err.splitlines()) == 2
        assert not UNSEEN.search((urnscan.folder / "r.html").read_text())

    def test_of_pages(self, urnscan, named):
        """The page of a scan: no name makes an element, a script or a sign that is not seen."""
        urnscan.write("<img src=x onerror=alert(1)>.txt", b"urn:foo:<script>")
        inputs = [*named, "<img src=x onerror=alert(1)>.txt"]
        urnscan(*inputs, "-o", "c.parquet", "--occurrences", "o.parquet", "--quiet", status=1)
        urnscan("report", "c.parquet", "--occurrences", "o.parquet", "-o", "r.html", "--quiet")
        page = (urnscan.folder / "r.html").read_text()
        assert not UNSEEN.search(page)
        assert "<img" not in page


MULTIPART = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
MAIL = {
    "fields": b"X: a\n" * 5_000_000 + b"\nurn:foo:a\n",
    "a folded field": b"X: a\n" + b" b\n" * 8_000_000 + b"\nurn:foo:a\n",
    "parameters": b"Content-Type: text/plain; " + b"a=b;" * 6_000_000 + b"\n\nurn:foo:a\n",
    "fields of a part": MULTIPART + b"X: a\n" * 5_000_000 + b"\nurn:foo:a\n",
    "delimiters": MULTIPART + b"\n--\n" * 6_000_000 + b"\nurn:foo:a\n",
    "lines of a part": MULTIPART + b"\n" * 30_000_000 + b"\nurn:foo:a\n",
    "a part in base64": MULTIPART
    + b"Content-Transfer-Encoding: base64\n\n"
    + b"dXJuOmZvbzphCg==\n" * 9
    + b"AAAA" * 18
    + b"\n"
    + (b"A" * 72 + b"\n") * 400_000,
}


class TestMail:
    """Of each kind a message of some 30 MB, in some kB of gzip, takes seconds and a few times its bytes."""

    @pytest.mark.parametrize("kind", MAIL)
    def test_memory(self, urnscan, kind):
        urnscan.write("a.eml.gz", gzip.compress(MAIL[kind], 1))
        result, peak = urnscan.measured("a.eml.gz", "-j", "1", most=3 << 30, status=None)
        assert b"urn:foo:a" in result.out
        assert result.status == 0 or "cannot be split into parts" in result.err
        assert peak < 650 * MIB


class TestSecrets:
    """No line has the password of an address, whichever argument is the address, and however it was mistyped."""

    @pytest.mark.core
    @pytest.mark.parametrize(
        "words",
        [
            ["http:///me:secret@host/a"],
            ["https:me:secret@host/a"],
            ["https://me:sec/ret-secret@host/a"],
            ["--files-from", "http://me:secret@host/a"],
            ["--rules", "https://host/a?pw=secret&pass=secret&hmac=secret&sharedsecret=secret&bearer=secret"],
        ],
    )
    def test_of_a_scan(self, urnscan, words):
        result = urnscan(*words, status=2)
        assert "secret" not in result.err
        assert "host/a" in result.err or "…" in result.err

    @pytest.mark.parametrize("name", COMMANDS)
    def test_of_any_option(self, urnscan, name):
        """Of each command each option that takes a value, and its inputs."""
        names = [action.option_strings[-1:] for action in COMMANDS[name].parser()._actions]
        for option in {"".join(last) for last in names} - {"--filter"}:  # that takes a command, whose name is told
            address = "http:///me:secret@host/a" if option else "https:me:secret@host/a?hmac=secret"
            words = [*name.split()[1:], *([option] if option else []), address]
            assert "secret" not in urnscan(*words, status=None).err, words


DOCUMENT = """<?xml version="1.0"?>
<!DOCTYPE modsCollection {external} [
  <!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
  <!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;">
  <!ENTITY file SYSTEM "{file}"><!ENTITY net SYSTEM "{net}/e">
  <!ENTITY % param SYSTEM "{net}/p"> %param;
]>
<modsCollection xmlns="http://www.loc.gov/mods/v3">
<mods><titleInfo><title>&f;</title></titleInfo><note>&file;</note><note>&net;</note><identifier type="urn">urn:foo:a</identifier></mods>
<mods><titleInfo><title>&f;</title></titleInfo><identifier type="urn">urn:foo:a</identifier></mods>
</modsCollection>
"""


def test_entities_of_xml(urnscan):
    """Billion laughs, files and addresses named as entities, parameters and DTDs: nothing is expanded, opened or fetched."""
    secret = urnscan.write("secret.txt", b"urn:foo:secret")
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0)
    address = f"http://127.0.0.1:{server.getsockname()[1]}"
    text = DOCUMENT.format(external=f'SYSTEM "{address}/dtd"', file=secret.as_uri(), net=address)
    urnscan.write("mods.xml", text.encode())
    result, peak = urnscan.measured(
        "dedup",
        "mods.xml",
        "-o",
        "c.parquet",
        "--deduplicated",
        "out.xml",
        "--report",
        "r.html",
        "--fields",
        "--no-progress",
    )
    assert "2 records, 1 cluster, 1 duplicate" in result.err
    assert {urn for (urns,) in urnscan.rows("c.parquet", "urns") for urn in urns} == {"urn:foo:a"}
    assert "urn:foo:secret" not in (urnscan.folder / "r.html").read_text()
    assert peak < 500 * MIB
    with pytest.raises(BlockingIOError):
        server.accept()
    server.close()


@pytest.mark.core
def test_links_in_circles(urnscan):
    """With `--follow`, in a tree where every folder leads to every other: it ends, with each file once a way."""
    for name in "abc":
        urnscan.write(f"d/{name}/f.txt", b"urn:foo:" + name.encode())
        for other in "abc":
            (urnscan.folder / f"d/{name}/to-{other}").symlink_to(f"../{other}")
    (urnscan.folder / "d/up").symlink_to("..")
    (urnscan.folder / "d/self").symlink_to("self")
    result = urnscan("d", "--follow", "--quiet", status=1)
    assert [line for line in result.err.splitlines() if "d/self" not in line] == []
    assert {line.rpartition(":")[2] for line in result.out.decode().splitlines()} == set("abc")


CRAFTED = {
    "a.parquet": lambda good: good[:-8] + b"\xff\xff\xff\x7fPAR1",  # a footer of 2 GB
    "b.parquet": lambda good: b"PAR1" + b"\x15\x04\x15\xfe\xff\xff\xff\x0f" + good[12:],  # a page of 2 GB
    "c.parquet": lambda good: good.replace(
        b"\x16\x06", b"\x16\xfe\xff\xff\xff\xff\xff\xff\xff\x0f"
    ),  # rows without end
    "d.arrow": lambda _: b"ARROW1\0\0\xff\xff\xff\xff\xff\xff\xff\x7f",
    "e.sqlite": lambda _: b"SQLite format 3\0\xff\xff" + b"\xff" * 4096,
    "f.arrows": lambda _: b"\xff\xff\xff\xff\xf0\xff\xff\x7f" + b"\0" * 999,
}


def test_tables_that_lie(urnscan):
    """Sizes, counts and places that no file has: a line each, no memory for them, and never the end of the process."""
    good = io.BytesIO()
    pq.write_table(pa.table({"a": ["urn:foo:a", "b", "c"]}), good, compression="none")
    for name, craft in CRAFTED.items():
        urnscan.write(f"d/{name}", craft(good.getvalue()))
    urnscan.write("d/z.txt", b"urn:foo:z")
    result, peak = urnscan.measured("d", status=1)
    assert result.out.endswith(b"d/z.txt:1:urn:foo:z\n")
    assert {line.split(": ")[1] for line in result.said} >= {f"d/{name}" for name in CRAFTED if name != "c.parquet"}
    assert peak < 400 * MIB


class TestPdf:
    """pdfium is C++, and reads in a process of its own."""

    def test_forms_in_forms(self, urnscan):
        """A page of a kilobyte that shows a text a million million times takes its process, and nothing else."""
        pytest.importorskip("pypdfium2")
        objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>"]
        shows = b"/Resources<</XObject<</X %d 0 R>>>>/Length %d"
        objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R%b>>" % (shows % (5, 0)))
        objects.append(b"<</Length 5>>stream\n/X Do\nendstream")
        form = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]%b>>stream\n%b\nendstream"
        objects += [form % (shows % (number, 60), b"/X Do " * 10) for number in range(6, 18)]
        objects.append(form % (b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Courier>>>>>>/Length 27",
                               b"BT /F 9 Tf (urn:foo:a) Tj ET"))  # fmt: skip
        body = b"".join(b"%d 0 obj\n%b\nendobj\n" % each for each in enumerate(objects, 1))
        urnscan.write("d/a.pdf", b"%%PDF-1.7\n%btrailer<</Root 1 0 R>>\n%%%%EOF" % body)
        urnscan.write("d/z.txt", b"urn:foo:z")
        result = urnscan("d", "--quiet", status=1)
        (line,) = result.said
        assert line.startswith("urnscan: d/a.pdf: pdfium was ended by signal")
        assert result.out.endswith(b"d/z.txt:1:urn:foo:z\n")
