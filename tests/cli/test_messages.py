"""The messages that users meet most often, to be read in one go: what provokes each, and its exact line.

Each has a subject, says what is wrong, and after a semicolon or in parentheses what to do. This guards their words.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import shlex
import sqlite3
import tarfile
import zipfile
from typing import TYPE_CHECKING

import lz4.frame
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from pyarrow import ipc

from tests.support.iso_2709 import book

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Command

pytestmark = pytest.mark.full

OPTIONS = {
    "a.txt --syntax rfc9999": (
        "-s/--syntax: unknown value 'rfc9999'; choose from rfc2141, rfc8141, rfc2141bis-03 (see urnscan --help)"
    ),
    "a.txt -e resolution": "--equivalence: resolution requires --syntax rfc2141bis-03",
    "a.txt --recover wrap": (
        "--recover: unknown value 'wrap'; choose from percent, entities, escapes, wraps, labels, bare, markup, all; is it "
        "wraps?"
    ),
    "a.txt -j two": "-j: must be an integer of at least 1, not 'two' (see urnscan --help)",
    "a.txt --memory 10": "--memory: must be at least 1MB, not '10' (see urnscan --help)",
    "a.txt --max-size big": "--max-size: invalid size 'big'; write it like 500MB or 2GiB (see urnscan --help)",
    "a.txt --max-size 0": "--max-size must be at least 1",
    "a.txt --max-length 268435457": "--max-length must be at most 268,435,456",
    "a.txt -C 10001": "--context is a number of characters from 0 to 10,000, not 10001",
    "a.txt --encoding klingon": (
        "--encoding: unknown encoding 'klingon'; use one that Python has, such as utf-16-le, cp1252, latin-1, shift_jis, "
        "gb18030 or cp037"
    ),
    "a.txt --nonsense": "unknown option --nonsense (see urnscan --help)",
    "a.txt --occ x.csv": "unknown option --occ; is it --occurrences? (see urnscan --help)",
    "a.txt --count --unique": "--count and --unique exclude each other; choose one",
    "a.txt --resume": "--resume needs an output; name it with -o, --occurrences, --rejects or --partial",
    "a.txt --where status=ab": "--where: no record has status=ab; write status=200 or status=2*",
    "a.txt --where mime=html": "--where: no record has mime=html; write mime=text/html or mime=text/*",
    "a.txt --where status=200": "a.txt: is not a web archive; --where reads nothing in it",
    "a.txt b.csv --where status=200": ("2 files are not web archives: a.txt, b.csv; --where reads nothing in them"),
    "a.txt --filter pdf": "--filter: invalid filter 'pdf'; write SUFFIX[,SUFFIX...]:COMMAND, as in 'pdf:pdftotext % -'",
    "a.txt --filter 'pdf:nocommand %'": "--filter: command not found: nocommand; install it, or write its whole path",
    "a.txt --rules cut.toml": "cut.toml:1: invalid TOML: Expected ']' at the end of a table declaration",
    "b.csv --column nope": "b.csv: no column 'nope'; it has id, note",
    "check a.txt --fail-on nope": "--fail-on: unknown value 'nope'; choose from invalid, reject, unregistered",
    "merge a.parquet": "nothing to write; name a table with -o FILE or --classes FILE",
    "merge a.parquet b.parquet -o x.parquet": (
        "syntax is rfc2141 in a.parquet, and rfc8141 in b.parquet; merge needs tables made with the same options"
    ),
}
"""By wrong options: the words of the command, and the line."""

FILES = {
    "nope.txt": "nope.txt: no such file or folder",
    "'nope*'": "nope*: no such file or folder, and no file matches it as a pattern",
    "''": "an input has an empty name",
    "empty": "nothing was read; the folders contain no files, or the options exclude all of them",
    "cut.gz": "cut.gz: truncated gzip file (member starting at byte 0)",
    "checksum.gz": "checksum.gz: the checksum of the gzip member at byte 0 is wrong; its text may be damaged",
    "tail.gz": "tail.gz: 7 bytes at byte 15513 are not gzip; they are skipped",
    "cut.bz2": "cut.bz2: truncated bzip2 file (stream starting at byte 0)",
    "cut.xz": "cut.xz: truncated xz file (stream starting at byte 0)",
    "cut.zst": "cut.zst: truncated zstd file (frame starting at byte 0)",
    "cut.lz4": "cut.lz4: truncated LZ4 file (frame starting at byte 0)",
    "cut.zip": "cut.zip!/b.txt: truncated: only 40 of 15,490 compressed bytes are present",
    "cut-directory.zip": "cut-directory.zip: truncated zip file (at byte 31144, before the end of its directory)",
    "cut.tar": "cut.tar: truncated tar file (in the header at byte 16384)",
    "bad.tar": "bad.tar: invalid tar header at byte 16384; skipped to the next one",
    "cut.warc": "cut.warc!/<urn:uuid:1>: truncated: only 300 of 15,490 bytes are present",
    "cut.parquet": "cut.parquet: truncated Parquet file; copy it again",
    "cut.arrow": "cut.arrow: truncated Arrow file (in the message at byte 3000)",
    "cut.sqlite": "cut.sqlite: damaged SQLite database: database disk image is malformed",
    "encrypted.age": "encrypted.age: what age encrypted is not read; decrypt it first",
    "utf-16.txt": "utf-16.txt: invalid UTF-16-LE at byte 18, read as U+FFFD",
    "--where status=200 --where mime=a/b": (
        "--where: given twice, as status=200 and as mime=a/b; write all conditions in one: 'status=200 mime=text/html' "
        "(see urnscan --help)"
    ),
    "--files-from a.txt --files-from b.csv": (
        "--files-from: given twice, as a.txt and as b.csv; join the lists: cat A B | urnscan --files-from - "
        "(see urnscan --help)"
    ),
    "--cdx b.csv": "--cdx needs exactly one INPUT; name the folder or URL of the files that the index lists",
    "dedup cut.mrc -o x.parquet": "cut.mrc: record 2 at byte 95 is damaged: the dump ends before its record terminator (1D)",
    "dedup cut.mrc -o x.mrc": (
        "x.mrc: -o writes a table, not a dump; --deduplicated x.mrc writes the dump without its duplicates"
    ),
    "merge cut.parquet -o x.parquet": "cut.parquet: truncated Parquet file; copy it again, or run its command again",
    "report a.txt -o x.html": "a.txt: is not a Parquet file; name a file that urnscan -o wrote",
    "diff a.parquet nope.parquet": "nope.parquet: no such file or folder",
}
"""By files that are missing, truncated or damaged: the words of the command, and the first line."""

OUTPUTS = {
    "-o urns.xml": (
        "urns.xml: unknown output format; use .parquet, .xlsx, .csv, .tsv, .jsonl (the last three also with .gz, .bz2, .zst, .lz4)"
    ),
    "-o a.parquet": "a.parquet: exists already; --force replaces it",
    "-o nowhere/x.csv": "nowhere/x.csv: the folder nowhere does not exist; make it first",
    "-o x.csv --occurrences x.csv": "x.csv: named as two outputs; name two files",
    "-o x.csv -o y.csv": ("-o/--output: given twice, as x.csv and as y.csv; give one (see urnscan --help)"),
    "-o https://example.org/x.csv": (
        "https://example.org/x.csv: cannot be written: http and https are for reading; name a file or an object store"
    ),
    "--partial x.parquet": "x.parquet: a partial result is not a table; use .partial, as in urns.partial",
    "-o x.csv --json": "--json is for printing; leave out --json or -o, or write -o - to print the classes",
    "--engine spark -o x.csv": "x.csv: --engine spark writes only folders of Parquet; leave out .csv",
}


def files() -> Iterator[tuple[str, bytes]]:
    """The files of the table: whole ones, and ones that end too early or are damaged."""
    text = b"".join(b"see urn:isbn:%010d here, line %d\n" % (number * 7919, number) for number in range(400))
    yield "a.txt", b"urn:foo:a\n"
    yield "b.csv", b"id,note\n1,urn:foo:a\n"
    yield "cut.toml", b"[x-lamp\n"
    yield "encrypted.age", b"age-encryption.org/v1\nx"
    yield "utf-16.txt", "urn:foo:a".encode("utf-16")[:-1]
    packed = gzip.compress(text, 0)  # of the same length by any library
    yield "cut.gz", packed[:1000]
    yield "checksum.gz", packed[:-6] + b"\0\0" + packed[-4:]
    yield "tail.gz", packed + b"garbage"
    for name, pack in {
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "lz4": lz4.frame.compress,
        "zst": zstandard.compress,
    }.items():
        yield f"cut.{name}", pack(text)[:600]
    zipped = zipped_text(text)
    yield "cut.zip", zipped[: zipped.index(b"b.txt") + 5 + 40]
    yield "cut-directory.zip", zipped[:-30]
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name in ("a.txt", "b.txt"):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    second = 512 + -(-len(text) // 512) * 512
    yield "cut.tar", data.getvalue()[: second + 100]
    yield "bad.tar", data.getvalue()[:second] + b"x" + data.getvalue()[second + 1 :]
    head = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Length: %d\r\n\r\n"
    yield "cut.warc", head % len(text) + text[:300]
    table = pa.table({"note": [f"urn:foo:{number}" for number in range(500)]})
    data = io.BytesIO()
    pq.write_table(table, data)
    yield "cut.parquet", data.getvalue()[:-20]
    data = io.BytesIO()
    with ipc.new_file(data, table.schema) as file:
        file.write_table(table)
    yield "cut.arrow", data.getvalue()[:3000]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t(x)")
    database.executemany("INSERT INTO t VALUES (?)", [(f"urn:foo:{number} {'x' * 50}",) for number in range(2000)])
    database.commit()
    whole = database.serialize()
    yield "cut.sqlite", whole[: len(whole) // 2]
    numbered = (b"020", b"  \x1fa9783161484100")
    yield "cut.mrc", book(1, numbered) + book(2, numbered)[:-20]


def zipped_text(text: bytes) -> bytes:
    """A zip archive with the text twice."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.txt", text)
        archive.writestr("b.txt", text)
    return data.getvalue()


@pytest.fixture(scope="module")
def command(urnscan_of_module: Command) -> Command:
    """The command in a folder with the files of the table."""
    for name, data in files():
        urnscan_of_module.write(name, data)
    (urnscan_of_module.folder / "empty").mkdir()
    urnscan_of_module("a.txt", "-o", "a.parquet", "--quiet")
    urnscan_of_module("a.txt", "-o", "b.parquet", "-s", "rfc8141", "--quiet")
    return urnscan_of_module


LINES = [*OPTIONS.items(), *FILES.items(), *((f"a.txt {words}", line) for words, line in OUTPUTS.items())]


@pytest.mark.parametrize(("words", "line"), LINES, ids=[words for words, _ in LINES])
def test_message(command: Command, words: str, line: str) -> None:
    """The message is this line; nothing is said twice, and no output is left behind."""
    before = command.names()
    said = command(*shlex.split(words), status=None).said
    assert said[0] == f"urnscan: {line}"
    assert all(other.endswith((" no input could be read", " -> x.parquet")) for other in said[1:])
    for name in set(command.names()) - set(before):
        (command.folder / name).unlink()


@pytest.mark.core
@pytest.mark.parametrize("line", [line for _, line in LINES])
def test_length(line: str) -> None:
    """What is wrong takes at most 100 characters; what to do follows a semicolon, or stands in parentheses."""
    said, *_ = re.split(r"; | \(", f"urnscan: {line}", maxsplit=1)
    assert len(said) <= 100
