"""The inputs of compare.py: samples, made-up inputs in every form that is read, damaged ones, corpora; always the same bytes.

A made-up input is a list of parts (members, streams, frames, records), so that garbage can be between two of them.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import html
import io
import itertools
import lzma
import random
import re
import shutil
import sqlite3
import tarfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import lz4.frame
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import zstandard
from corpora import pieces
from dedup import record as marc_record

__all__ = ["NAMES", "damaged", "dumps", "forms", "make_inputs", "spellings"]

NAMES = """urn:isbn:0451450523|URN:ISBN:0-395-36341-6|urn:isbn:978-0-395-36341-6|urn:isbn:0-395-36341-1|urn:issn:0167-6423
urn:ISSN:0167-6424|urn:nbn:de:101:1-201102033592|URN:NBN:DE:101:1-201102033592|urn:nbn:fi-fe2026023100042|urn:x:y
urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6|urn:UUID:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6|urn:uuid:f81d4fae|urn:oid:1.3.6.1.4.1
urn:oid:1.03.6|urn:ietf:rfc:2648|urn:ietf:params:xml:ns:geopriv|urn:oasis:names:tc:SAML:2.0:assertion|urn:3gpp:video-orientation
urn:lex:it:stato:legge:2003-09-21;456|urn:doi:10.1000/182|urn:DOI:10.1000%2F182|urn:isni:0000-0001-2103-2683|urn:xmpp:jingle:1
urn:lei:5493001KJTIIGC8Y1R12|urn:epc:id:sgtin:0614141.112345.400|urn:dev:mac:0024befffe804ff1|urn:mrn:iala:aton:us:1234.5
urn:ogc:def:crs:EPSG::4326|urn:publicid:ISO%2FIEC+10179%3A1996|urn:isan:0000-0000-9E59-0000-O-0000-0000-2|urn:un:unece:uncefact
urn:example:a?+r?=q#f|urn:example:a?key=value&k=v#part|urn:example:a%2cb|urn:EXAMPLE:a%2Cb|urn:example:a,b|urn:example:A,b
urn:schemas-microsoft-com:office|urn:urn-7:1|urn:unknown:name|urn:urn:isbn:0451450523|urn:cen.eu:en16931:2017|urn:example:
urn:example|urn::x|urn:-a:b|urn:a-:b|urn:example:/x|urn:example:%zz|urn:example:half%2|urn:example:{x}|urn:example:a b
urn:abcdefghijklmnopqrstuvwxyz0123456:x|urn:\u0435xample:cyrillic|urn:example:ä|no name|return:x:y""".replace(
    "\n", "|"
).split("|")

_ROOT = Path(__file__).resolve().parent.parent
_SAMPLE_DUMPS = """catalogue.marcxml.xml deposit.tar.zst oai-dc.xml record.mrc records.jsonl references.bib statements.nt
titles.csv"""
_TEXTS = (
    "README.md components.txt invoice.xml page.html prose.txt"  # samples of which damaged ones are only other texts
)
_HEADS = {"kernel": 8, "read": 3, "records": 4}  # bytes that begin a find of fuzzing and say how it is read
_ISBNS = ["9780395363416", "978-0-395-36341-6", "0-395-36341-1", "9783161484100", "9780451450524", "0451450523"]
_DUMPS = {  # head, record, tail; @n, @isbn and @urn are replaced by the values of a record
    "made.ris": ("", "TY  - BOOK\nID  - @n\nTI  - Title\nSN  - @isbn\nUR  - https://r.example/@urn\nER  - \n\n", ""),
    "made.pica": ("", "003@ \x1f0@n\x1e004A \x1f0@isbn\x1e004U \x1f0@urn\x1e\n", ""),
    "made.plain": ("", "003@ $0@n\n004A $0@isbn\n004U $0@urn\n\n", ""),
    "made.bib": ("@comment{made}\n", '@book{k@n,\n  title = "{T}",\n  isbn = {@isbn},\n  url = {@urn}\n}\n\n', ""),
    "made.csv": ("id,title,isbn,urn\r\n", '@n,"A ""title"", a\r\nb",@isbn,@urn\r\n', ""),
    "made.jsonl": ("", '{"id": "@n", "isbn": "@isbn", "urn": ["@urn", "urn\\u003ax-e:\\/@n"]}\n', ""),
    "made.json": ('{"records": [', '{"id": @n, "isbn": "@isbn", "urn": "@urn"}, ', '{"id": "last"}]}\n'),
    "made.nq": (
        "",
        '<https://d.example/@n> <http://purl.org/dc/terms/identifier> "@urn" <https://d.example/g> .\n',
        "",
    ),
    "onix.xml": (
        '<ONIXMessage release="3.0" xmlns="http://ns.editeur.org/onix/3.0/reference">\n',
        """<Product><RecordReference>@n</RecordReference><ProductIdentifier><ProductIDType>15</ProductIDType>
        <IDValue>@isbn</IDValue></ProductIdentifier><Text>@urn</Text></Product>\n""",
        "</ONIXMessage>\n",
    ),
    "mods.xml": (
        '<?xml version="1.0"?>\n<modsCollection xmlns="http://www.loc.gov/mods/v3">\n',
        '<mods ID="m@n"><identifier type="isbn">@isbn</identifier><identifier type="urn">@urn</identifier></mods>\n',
        "</modsCollection>\n",
    ),
    "sru.xml": (
        '<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><records>\n',
        """<record><recordData><dc xmlns="http://purl.org/dc/elements/1.1/"><identifier>@isbn</identifier>
        <identifier>@urn</identifier></dc></recordData><recordIdentifier>@n</recordIdentifier></record>\n""",
        "</records></searchRetrieveResponse>\n",
    ),
}


def make_inputs(work: Path, corpora: Path | None, also: Path | None) -> None:
    """Write all inputs into the folder in which the commands run."""
    shutil.copytree(_ROOT / "data" / "samples", work / "samples")
    samples = {path.name: [path.read_bytes()] for path in sorted((work / "samples").iterdir())}
    whole = samples | forms() | dumps()
    for name in whole.keys() - set(_TEXTS.split()):
        for kind, files in damaged(name, whole[name]):
            for number, content in enumerate(files):
                _write(work / "damaged" / name / kind / f"{number}.{name}", content)
    for name in (*_SAMPLE_DUMPS.split(), *dumps()):
        _write(work / "dumps" / name, b"".join(whole[name]))
    for path in also.iterdir() if also else ():
        _write(work / "dumps" / path.name, path.read_bytes())
    _write(work / "samples" / "spellings.txt", spellings().encode())
    _write(work / "samples" / "empty.txt", b"")
    _write(work / "lists" / "some.txt", b"samples/prose.txt\n\nsamples/none.txt\nsamples/page.html\n")
    for path in (_ROOT / "tests" / "fuzzing" / "corpus").iterdir():
        kind, _, form = path.stem.partition("-")
        if kind in _HEADS:
            with zipfile.ZipFile(path) as corpus:
                for name in corpus.namelist():
                    byte_count = corpus.read(name)[_HEADS[kind] :]
                    _write(work / "fuzzed" / path.stem / f"{name}.{form or 'txt'}", byte_count)
    for path in corpora.glob("*.tar.xz") if corpora else ():
        _write(work / "corpora" / path.name, path.read_bytes())
        with tarfile.open(path) as archive:
            archive.extractall(work / "corpora" / path.name.removesuffix(".tar.xz"), filter="data")


def spellings() -> str:
    """Each name as it is, in brackets, in a link, and in every disguise that a view reads."""
    lines = []
    for name in NAMES:
        start, _, end = name.rpartition(":")
        lines += [name, f"({name}).", f"see <{name}>, '{name}'; https://resolver.example/?urn={name}&lang=de#top"]
        lines += [
            urllib.parse.quote(name, safe=""),
            html.escape(name).replace(":", "&#58;"),
            name.replace(":", "\\u003A"),
        ]
        lines += [f"<{start}:\n   {end}>", f"{name[:9]}=\n{name[9:]}", f"URN: {name[4:]}", f"http://nbn{name}"]
    return "\n".join(lines) + "\n"


def dumps() -> dict[str, list[bytes]]:
    """Bibliographic dumps by file name; some of their records share an ISBN or a URN in other spellings."""
    style = random.Random("dumps")
    urns = [name for name in NAMES if re.fullmatch(r"(?i)urn:(nbn|uuid|doi|issn|oid)[!-~]*", name)]
    made = {}
    for name, (head, pattern, tail) in _DUMPS.items():
        values = [
            {"@n": str(number), "@isbn": style.choice(_ISBNS), "@urn": style.choice(urns)} for number in range(24)
        ]
        records = [
            re.sub("@(?:n|isbn|urn)(?![a-z])", lambda found, each=each: each[found[0]], pattern) for each in values
        ]
        made[name] = [(head + "".join(records[:12])).encode(), ("".join(records[12:]) + tail).encode()]
    made["made.mrc"] = [marc_record(number, style.randrange(30), style) for number in range(40)]
    made["dump.mrc.gz"] = [gzip.compress(b"".join(made["made.mrc"][at : at + 20]), mtime=0) for at in (0, 20)]
    return made


def forms() -> dict[str, list[bytes]]:
    """Inputs by file name, in every form that is read."""
    text = "".join(part for part, _ in pieces(100_000, 1000)) + spellings()
    sparse = "".join(part for part, _ in pieces(3_000_000, 100)).encode()
    parts = [text[at : at + 40_000].encode() for at in range(0, len(text), 40_000)]
    members = {f"texts/{number}.txt": part for number, part in enumerate(parts * 2)}
    mixed = {"a.zip": _zip(members), "b.gz": gzip.compress(parts[0], mtime=0), "c.txt": text.encode("utf-16")}
    values = NAMES * 4
    deep = [{"id": value[::-1], "also": [value, None]} for value in values]
    table = pa.table(
        {"urn": pa.array(values).dictionary_encode(), "list": [[value, ""] for value in values], "deep": deep}
    )
    paged = {"row_group_size": 100, "compression": "zstd", "write_page_checksum": True}
    zst = zstandard.ZstdCompressor(write_checksum=True)
    warc = _warc(parts)
    return {
        "made.txt": parts,
        "utf32.txt": [text.encode("utf-32")],
        "latin1.txt": [b"\xe4\xf6 " + text.encode("latin-1", "replace")],
        "made.gz": [gzip.compress(part, mtime=0) for part in parts],
        "long.gz": [gzip.compress(sparse, 1, mtime=0)],
        "made.bz2": [bz2.compress(part) for part in parts],
        "made.xz": [lzma.compress(part) for part in parts],
        "made.lzma": [lzma.compress(text.encode(), lzma.FORMAT_ALONE)],
        "made.zst": [zst.compress(part) for part in parts],
        "made.lz4": [lz4.frame.compress(part, content_checksum=True, block_checksum=True) for part in parts],
        "made.zip": [_zip(members)],
        "nested.zip": [_zip(mixed)],
        "gnu.tar": [_tar(members, tarfile.GNU_FORMAT)],
        "pax.tar.gz": [gzip.compress(_tar(mixed, tarfile.PAX_FORMAT), mtime=0)],
        "made.warc": warc,
        "made.warc.gz": [gzip.compress(record, mtime=0) for record in warc],
        "made.parquet": [_written(lambda file: pq.write_table(table, file, **paged))],
        "made.feather": [
            _written(lambda file: pa.feather.write_feather(table, file, compression="zstd", chunksize=90))
        ],
        "made.arrows": [_written(lambda file: _stream(table, file))],
        "made.sqlite": [_sqlite(values)],
    }


def damaged(name: str, parts: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Kinds of damage, each with the files that have it; the same for the same name and bytes."""
    whole, chance = b"".join(parts), random.Random(name)
    size, junk = len(whole), chance.randbytes(300) + b" urn:example:junk\n"
    places = sorted(chance.randrange(size) for _ in range(5))
    yield "whole", [whole]
    yield "cut", [whole[:at] for at in (size // 4, size // 2, size * 9 // 10, size - 9, size - 1)]
    yield "flipped", [_flipped(whole, *some) for some in ([0], [3], *([at] for at in places), [size - 3], places)]
    yield "after", [whole + junk, whole + bytes(700), whole + b"urn:example:after\n"]
    yield "front", [junk + whole, bytes(512) + whole, b"\n" + whole]
    if len(parts) > 1:
        yield "between", [junk.join(parts), bytes(100).join(parts)]
    if _checksum(name, whole) is not None:
        bad = [_flipped(part, _checksum(name, part)) for part in parts]
        yield "checksum", [b"".join([*parts[:at], bad[at], *parts[at + 1 :]]) for at in range(min(len(parts), 4))]


def _flipped(byte_count: bytes, *places: int) -> bytes:
    """The bytes with a bit turned over at each place."""
    changed = bytearray(byte_count)
    for place in places:
        changed[place] ^= 4
    return bytes(changed)


def _checksum(name: str, part: bytes) -> int | None:
    """Where in a part of such a file a checksum is; None if its form has none at a known place."""
    in_xz = -(13 + (int.from_bytes(part[-8:-4], "little") + 1) * 4)  # before the index, whose size the footer has
    places = {".gz": -8, ".bz2": 10, ".xz": in_xz, ".zst": -1, ".lz4": -1, ".zip": 14, ".epub": 14, ".tar": 148}
    return places.get(Path(name).suffix)


def _write(path: Path, content: bytes) -> None:
    """Write a file, and the folders in which it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _written(write: Callable[[io.BytesIO], object]) -> bytes:
    """The bytes that are written into a file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    """A zip archive whose members are compressed in turn by each method."""
    file = io.BytesIO()
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(file, "w") as archive:
        for (name, content), method in zip(members.items(), itertools.cycle(methods), strict=False):
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def _tar(members: dict[str, bytes], layout: int) -> bytes:
    """A tar archive; the name of its first member needs more than a header."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=layout) as archive:
        for name, content in {"long/" * 30 + "name.txt": b"urn:example:long\n", **members}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def _warc(texts: list[bytes]) -> list[bytes]:
    """Records of a web archive: a response in each content coding, one in chunks, and a resource."""
    head, chunks = b"HTTP/1.1 200 OK\r\n", (texts[0][:999], texts[0][999:])
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    coded = {
        b"gzip": gzip.compress(texts[1], mtime=0),
        b"br": brotli.compress(texts[1]),
        b"deflate": zlib.compress(texts[1]),
    }
    blocks = [head + b"Content-Encoding: %s\r\n\r\n" % coding + body for coding, body in coded.items()]
    blocks = [*blocks, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked, texts[-1]]
    kinds = [(b"response", b"application/http; msgtype=response")] * 4 + [(b"resource", b"text/plain")]
    record = (
        b"WARC/1.0\r\nWARC-Type: %s\r\nContent-Type: %s\r\nWARC-Record-ID: <urn:uuid:%032d>\r\n"
        b"WARC-Target-URI: https://w.example/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
    )
    return [record % (*kind, at, len(block), block) for at, (kind, block) in enumerate(zip(kinds, blocks, strict=True))]


def _sqlite(values: list[str]) -> bytes:
    """A database whose longer values overflow their pages."""
    rows = [(value, f"{value} " * (number % 7 * 40)) for number, value in enumerate(values)]
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE works (id INTEGER PRIMARY KEY, urn TEXT, note BLOB)")
        database.executemany("INSERT INTO works (urn, note) VALUES (?, ?)", rows)
        database.commit()
        return database.serialize()


def _stream(table: pa.Table, file: io.BytesIO) -> None:
    """Write an Arrow IPC stream."""
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=50)
