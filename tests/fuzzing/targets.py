"""The table of targets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tests.fuzzing import finding, inputs, records
from tests.fuzzing.corpora import CORPORA
from tests.records.test_readers import PIECES
from tests.support.strategies import CLOSING, JOINTS, KNOWN, LINKS, MARKS, NIDS, SCHEMES
from urnscan.records.format_registry import FORMATS

__all__ = ["TARGETS", "Target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that takes bytes of others, with all that it promises of them."""

    name: str
    run: Callable[[bytes], object]
    """Raises what must not be."""
    corpus_name: str
    """Of its corpus, which it may share with others."""
    tokens: tuple[bytes, ...] = ()
    """What its inputs are made of, for the fuzzer to put together."""
    most: int = 4096
    """Bytes of an input, at most."""
    python: bool = False
    """Whether compiled functions are to run as the Python that they are written in, so that the fuzzer sees into them."""

    @property
    def corpus(self) -> Path:
        """The archive that its corpus is in."""
        return CORPORA / f"{self.corpus_name}.zip"


_URNS = (*SCHEMES, *NIDS, *MARKS, *CLOSING, *JOINTS, *LINKS, *KNOWN)
_HIDDEN = (b"%3a", b"%253A", b"&#58;", b"&colon;", b"\\u003a", b"\\x3a", b"&shy;", b"=\r\n", b"\n> ", b"-\n", b"<wbr>")
_ZIP = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\7\x08")
_WARC = (
    *(
        b"WARC/1.0\r\n",
        b"WARC-Type: response\r\n",
        b"WARC-Target-URI: ",
        b"Content-Length: ",
        b"\r\n\r\n",
        b"HTTP/1.1 200\r\n",
    ),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"Content-Type: application/http\r\n"),
)
_TAR = (b"ustar\x00", b"ustar  \0", b"././@LongLink", b" path=", b"GNU.sparse.", b" size=", b"\0" * 512)
_FIELDS = (
    b'{"urn":',
    b"[",
    b"]",
    b"}",
    b",",
    b'"',
    b"\\u00e9",
    b"\\ud800",
    b"urn,id\n",
    b"\t",
    b";",
    b"\r\n",
    b"null",
    b"1e5",
)
_MAIL = (b"Content-Type: multipart/mixed; boundary=b\n", b"\n--b\n", b"\n--b--\n", b"Content-Type: message/rfc822\n\n",
    b"Content-Type: text/plain; charset=utf-16\n", b"Content-Transfer-Encoding: base64\n\n", b"=?utf-8?q?urn=3Aa?=",
    b"Content-Disposition: attachment; filename=a.zip\n", b": ", b"\n ", b"\n\n")  # fmt: skip
_PDF = (b"%PDF-1.7\n", b"1 0 obj\n", b"2 0 R", b"endobj\n", b"stream\n", b"\nendstream", b"trailer\n", b"startxref\n0\n%%EOF",
    b"<<", b">>", b"/Type/Page", b"/Kids[", b"/Count 9", b"/Filter/FlateDecode", b"/Length 9", b"(urn:a:b)' ", b"/URI(urn:a:b)")  # fmt: skip
# Name of the target, of the file, what it is made of.
_FORMS: tuple[tuple[str, str, tuple[bytes, ...]], ...] = (
    ("gzip", "in.gz", (b"\x1f\x8b\x08",)),
    ("bzip2", "in.bz2", (b"BZh9", b"1AY&SY", b"\x17rE8P\x90")),
    ("xz", "in.xz", (b"\xfd7zXZ\0", b"YZ")),
    ("lzma", "in.lzma", (b"]\0\0\x80\0",)),
    ("zstd", "in.zst", (b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18", b"\x5d\x2a\x4d\x18", b"\x37\xa4\x30\xec")),
    ("lz4", "in.lz4", (b"\x04\x22\x4d\x18", b"\x50\x2a\x4d\x18", b"\x02\x21\x4c\x18")),
    ("tar", "in.tar", _TAR),
    ("zip", "in.zip", _ZIP),
    ("warc", "in.warc", _WARC),
    ("arc", "in.arc", (b"filedesc://a 0.0.0.0 19980305102030 text/plain 3\n", b"http://a 1.1.1.1 19980305102030 a/b 9\n", b"HTTP/1.0 200\r\n\r\n")),
    ("message", "in.eml", _MAIL),
    ("mbox", "in.mbox", (*_MAIL, b"\n\nFrom a Tue 10:00:00 2026\n", b"Content-Length: 9\n")),
    ("pdf", "in.pdf", _PDF),
    ("parquet", "in.parquet", (b"PAR1",)),
    ("arrow", "in.arrow", (b"ARROW1\0\0", b"\xff\xff\xff\xff")),
    ("sqlite", "in.sqlite", (b"SQLite format 3\0",)),
    ("csv", "in.csv", _FIELDS),
    ("tsv", "in.tsv", _FIELDS),
    ("json", "in.json", _FIELDS),
    ("jsonl", "in.jsonl", _FIELDS),
    ("encodings", "in.txt", (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"+/v8", b"\x1b$B", b"\x0e", b"~{")),
)  # fmt: skip


def _all() -> Iterable[Target]:
    scan = {"run": finding.kernel, "corpus_name": "kernel", "tokens": (*_URNS, *_HIDDEN), "most": 1024}
    yield Target(name="kernel", **scan)
    yield Target(name="kernel-python", python=True, **{**scan, "most": 160})
    yield Target(name="parse", run=finding.parse, corpus_name="parse", tokens=_URNS, most=300)
    yield Target(name="rules", run=finding.rules, corpus_name="rules", tokens=(b"%2D", b"-", b":", b"de:"), most=120)
    for name in FORMATS:
        pieces = tuple(piece if isinstance(piece, bytes) else piece.encode() for piece in PIECES[name])
        run = functools.partial(records.records, name)
        yield Target(name=f"records-{name}", run=run, corpus_name=f"records-{name}", tokens=pieces)
    for name, file_name, tokens in _FORMS:
        columns = ("urn", "id") if name in ("csv", "tsv", "json", "jsonl", "parquet", "arrow", "sqlite") else ()
        run = functools.partial(inputs.form, file_name, columns=columns, encoded=name == "encodings")
        yield Target(name=f"read-{name}", run=run, corpus_name=f"read-{name}", tokens=tokens, most=8192)
    yield Target(name="files-from", run=inputs.files_from, corpus_name="files-from", tokens=(b"\n", b"\0", b"urn.txt"))
    yield Target(
        name="urls",
        run=inputs.urls,
        corpus_name="urls",
        tokens=(b"s3://", b"https://", b"file://", b"?sig=", b"&token=1", b"@"),
    )
    yield Target(name="report", run=inputs.report, corpus_name="report", tokens=(b"PAR1",), most=16_384)


TARGETS: Mapping[str, Target] = MappingProxyType({target.name: target for target in _all()})
"""Every target by its name."""
