"""What the corpora begin with: the samples of the project, small files of every form, and bytes of the tests.

    python -m tests.fuzzing.seeds DIRECTORY    write them there, in a folder for each corpus

They are minimised together with what fuzzing adds (`-merge=1`) before `--add` puts them into `corpus/`, which stays small.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import lz4.frame
import zstandard

from tests.fuzzing import finding, inputs, records
from tests.property.test_forms import Archive, Table, Text
from tests.records.test_readers import PIECES
from tests.support.packed import dictionary_frame, tar, with_dictionary, zipped
from tests.support.pdfs import Pdf
from tests.support.registrations import EXAMPLES
from tests.urn.namespaces.test_rules import NIDS

__all__ = ["seeds"]

_SAMPLES = Path(__file__).parents[2] / "data" / "samples"
_TEXT = b"urn:a:b and\n\nURN:ISBN:0-395-36341-1, http://r/urn:nbn:de:1?x#y (urn:x-y:%2c)."
_SAMPLES_OF = {
    "kernel": ("components.txt", "page.html", "prose.txt", "invoice.xml"),
    "records-marc": ("record.mrc",),
    "records-marcxml": ("catalogue.marcxml.xml",),
    "records-oai": ("oai-dc.xml",),
    "records-jsonl": ("records.jsonl",),
    "records-bibtex": ("references.bib",),
    "records-ntriples": ("statements.nt",),
    "records-csv": ("titles.csv",),
    "records-line": ("prose.txt",),
    "read-gzip": ("resolver.log.gz",),
    "read-xz": ("mail.txt.xz",),
    "read-zstd": ("deposit.tar.zst",),
    "read-lz4": ("uuids.txt.lz4",),
    "read-zip": ("book.epub",),
    "read-warc": ("harvest.warc.gz",),
    "read-parquet": ("holdings.parquet",),
    "read-arrow": ("serials.feather",),
    "read-sqlite": ("catalogue.sqlite",),
    "read-csv": ("titles.csv",),
    "read-jsonl": ("records.jsonl",),
    "read-encodings": ("utf16.txt", "utf16-without-mark.txt"),
}
_HEADS = {"kernel": finding.HEAD, "parse": 1, "records": records.HEAD}


def seeds() -> Iterator[tuple[str, bytes]]:
    """Corpora and what they begin with: each file with several choices of the options."""
    for folder, data in _files():
        size = _HEADS.get(folder.partition("-")[0], inputs.HEAD)
        heads = (bytes(size), bytes(range(3, 3 + 8 * size, 8)), bytes(255 - 30 * at for at in range(size)))
        for head in dict.fromkeys(heads):
            yield folder, head + data
    for number, nid in enumerate(NIDS):
        for name, _ in EXAMPLES[nid].get("valid", [])[:2]:
            yield "rules", bytes([number]) + name.split(":", 2)[2].encode()


def _files() -> Iterator[tuple[str, bytes]]:
    for folder, names in _SAMPLES_OF.items():
        for name in names:
            yield folder, (_SAMPLES / name).read_bytes()
    for line in (_SAMPLES / "components.txt").read_bytes().split(b"\n"):
        yield "kernel", line
        yield "parse", line.strip()
    for name, pieces in PIECES.items():
        joined = [piece if isinstance(piece, bytes) else piece.encode() for piece in pieces]
        yield f"records-{name}", b"".join(joined)
        for at in range(0, len(joined), 4):
            yield f"records-{name}", b"".join(joined[at : at + 4])
    yield from _forms()
    yield "files-from", b"a.txt\nb/c.txt\n\n\xff.xml"
    yield "files-from", b"a.txt\0b\nc.txt\0"
    for url in ("s3://key:secret@b/p/*.gz?region=eu", "https://u:p@h:8/a?sig=1&b=2#c", "file:///tmp/%41", "gs://b"):
        yield "urls", url.encode()
    for table in inputs.tables():
        yield "report", table


def _forms() -> Iterator[tuple[str, bytes]]:
    members = [("a.txt", _TEXT), ("b/c.txt", b""), ("d.xml", _TEXT * 3)]
    yield "read-gzip", gzip.compress(_TEXT, mtime=0) + gzip.compress(b"urn:c:d", 0, mtime=0) + b"\0\0"
    yield "read-bzip2", bz2.compress(_TEXT) + bz2.compress(b"urn:c:d")
    for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256):
        yield "read-xz", lzma.compress(_TEXT, check=check) + b"\0\0\0\0" + lzma.compress(b"urn:c:d")
    yield "read-lzma", lzma.compress(_TEXT, lzma.FORMAT_ALONE)
    yield "read-zstd", zstandard.ZstdCompressor(write_checksum=True).compress(_TEXT) + b"\x50\x2a\x4d\x18\1\0\0\0x"
    yield "read-zstd", zstandard.ZstdCompressor(write_content_size=False).compress(_TEXT) * 2
    for is_compressed in (False, True):
        yield "read-zstd", dictionary_frame(is_compressed=is_compressed) + with_dictionary(_TEXT) * 2
    yield "read-lz4", lz4.frame.compress(_TEXT, content_checksum=True, block_checksum=True) * 2
    yield "read-tar", tar(members)
    for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
            info = tarfile.TarInfo("é" * 101)
            info.size = len(_TEXT)
            archive.addfile(info, io.BytesIO(_TEXT))
        yield "read-tar", out.getvalue().rstrip(b"\0") + bytes(1024)
    yield "read-zip", zipped(members)
    yield "read-zip", zipped(members[:1], 0)
    yield "read-zip", zipped([("archive/a.warc.gz", gzip.compress(Archive.warc([("a", _TEXT)]), mtime=0))], 0)
    yield "read-warc", Archive.warc([("a", _TEXT), ("b", b"urn:c:d")])
    body = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    packed = gzip.compress(_TEXT, mtime=0)
    body += b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Type: application/http\r\n"
    yield "read-warc", head + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(body), body)
    yield "read-warc", gzip.compress(head + b"Content-Length: 3\r\n\r\nabc\r\n\r\n", mtime=0)
    mail = b"Subject: =?utf-8?q?urn=3Aa=3Ab?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n%b\n--b\n" % _TEXT
    mail += b"Content-Transfer-Encoding: base64\nContent-Type: text/html\n\ndXJuOmM6ZA==\n--b--\n"
    arc = b"filedesc://a.arc 0.0.0.0 19980305102030 text/plain 4\n1 0\n\nhttp://a/ 1.1.1.1 19980305102030 text/html %d\n%b\n"
    yield "read-arc", arc % (len(body), body)
    yield "read-arc", arc % (7, _TEXT)
    yield "read-message", mail
    yield "read-message", b"Content-Type: message/rfc822\n\n" + mail
    yield "read-mbox", (b"From a Tue Nov 24 10:00:00 2026\n%b\n" % mail) * 2
    yield "read-mbox", b"From a Tue Nov 24 10:00:00 2026\nContent-Length: 9\n\nurn:a:b c\nFrom b\n"
    yield "read-pdf", Pdf([["urn:a:b-", "c"], []], {1: ["urn:a:link"]}, attached=[("a.zip", zipped(members))]).build()
    yield "read-pdf", Pdf([["urn:a:b"]], outline=[("urn:a:title", "")], xmp=_TEXT, info={"Title": "urn:a:c"}).build()
    yield "read-pdf", Pdf([["urn:a:b~", "c"]], characters={0x7E: "2010"}, pinned=[("b", _TEXT)]).build()
    yield "read-pdf", Pdf([["urn:a:b"]], is_encrypted=True).build()
    for kind in ("parquet", "arrow", "sqlite"):
        yield f"read-{kind}", Table(kind, (_TEXT, b"", b"urn:c:d")).build()
    yield "read-csv", b'urn,"id"\r\n"urn:a:""b",1\n\nurn:c:d;,2'
    yield "read-tsv", b"id\turn\n1\turn:a:b\n"
    yield "read-json", b'{"records": [{"urn": "urn:a:\\u00e9", "id": ["urn:c:d", {"value": null}]}, {"urn": 1e5}]}'
    yield "read-jsonl", b'{"urn": "urn:a:b"}\n\n[1]\n{"id": "\\ud800"'
    for codec in ("utf-16", "utf-32", "hz", "shift_jis"):
        yield "read-encodings", "urn:a:b ä文 urn:c:d".encode(codec, "replace")
    yield "read-gzip", gzip.compress(Text(zlib.compress(_TEXT)).build(), mtime=0)


def main() -> None:
    """Write them."""
    folder = Path(sys.argv[1])
    numbers: dict[str, Iterator[int]] = {}
    for corpus, data in seeds():
        number = next(numbers.setdefault(corpus, itertools.count()))
        (folder / corpus).mkdir(parents=True, exist_ok=True)
        (folder / corpus / f"seed-{number:03}").write_bytes(data)


if __name__ == "__main__":
    main()
