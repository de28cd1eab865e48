"""The same text gives the same occurrences in every form in which people keep it, and in any nesting of forms."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import sqlite3
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import lz4.frame
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracle import oracle
from tests.support.packed import dictionary_frame, tar, with_dictionary, zipped
from tests.support.results import Result, expected_classes
from tests.support.rows import occurrence_row
from tests.support.strategies import near_urns

COMPRESSIONS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zst with a dictionary": lambda data: dictionary_frame(is_compressed=True) + with_dictionary(data),
    "lz4": lambda data: lz4.frame.compress(data, content_checksum=True),
}


@dataclass(frozen=True)
class Text:
    """A text as it is."""

    data: bytes

    def build(self):
        return self.data

    def texts(self):
        """(member, bytes) of each text inside, in order."""
        return [(None, self.data)]


@dataclass(frozen=True)
class Compressed:
    """What is inside, cut into as many members as there are cuts, one after the other."""

    kind: str
    inner: object
    cuts: tuple[int, ...]

    def build(self):
        data = self.inner.build()
        marks = [0, *sorted(cut % (len(data) + 1) for cut in self.cuts), len(data)]
        compress = COMPRESSIONS[self.kind]
        return b"".join(compress(data[a:b]) for a, b in itertools.pairwise(marks))

    def texts(self):
        return self.inner.texts()


@dataclass(frozen=True)
class Archive:
    """Members with names."""

    kind: str
    members: tuple[tuple[str, object], ...]

    def build(self):
        return getattr(self, self.kind)([(name, inner.build()) for name, inner in self.members])

    def texts(self):
        out = []
        for name, inner in self.members:
            way = self.name(name)
            out += [(way if deep is None else f"{way}!/{deep}", data) for deep, data in inner.texts()]
        return out

    def name(self, name):
        return f"https://example.org/{name} <urn:uuid:{name}>" if self.kind == "warc" else name

    @staticmethod
    def tar(members):
        return tar(members)

    @staticmethod
    def stored(members):
        return zipped(members, zipfile.ZIP_STORED)

    @staticmethod
    def deflated(members):
        return zipped(members)

    @staticmethod
    def warc(members):
        return b"".join(
            b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: https://example.org/%b\r\n"
            b"WARC-Record-ID: <urn:uuid:%b>\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
            % (name.encode(), name.encode(), len(data), data)
            for name, data in members
        )


@dataclass(frozen=True)
class Table:
    """Values in a column `text`."""

    kind: str
    values: tuple[bytes, ...]

    def build(self):
        return getattr(self, self.kind)()

    def texts(self):
        first = "t/{}/text" if self.kind == "sqlite" else "{}/text"
        start = 1 if self.kind == "sqlite" else 0
        return [(first.format(row), data) for row, data in enumerate(self.values, start)]

    def parquet(self):
        out = io.BytesIO()
        pq.write_table(
            pa.table({"text": pa.array(self.values, pa.binary())}), out, row_group_size=max(2, len(self.values) // 10)
        )
        return out.getvalue()

    def arrow(self):
        out = io.BytesIO()
        table = pa.table({"text": pa.array(self.values, pa.large_binary())})
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table, max(2, len(self.values) // 10))
        return out.getvalue()

    def sqlite(self):
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE TABLE t (number INTEGER, text BLOB)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate(self.values))
            connection.commit()
            data = connection.serialize()
        connection.close()
        return data


plain = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, categories=["L", "N", "P", "Z"])).map(str.encode)
texts = st.lists(st.one_of(near_urns, plain, st.sampled_from([b"\n", b" ", b"urn:a:b"])), max_size=8).map(b"".join)
# No name must make a form of what is none, and no text look like one.
leaves = st.one_of(
    texts.map(lambda data: Text(b"- " + data)),
    st.builds(Table, st.sampled_from(["parquet", "arrow", "sqlite"]), st.lists(texts, max_size=5).map(tuple)),
)
names = st.lists(st.text("abcé", min_size=1, max_size=9), min_size=0, max_size=3, unique=True)


def deeper(inner):
    """What is in one more form."""
    compressed = st.builds(
        Compressed,
        st.sampled_from(sorted(COMPRESSIONS)),
        inner,
        st.lists(st.integers(0, 10_000), max_size=2).map(tuple),
    )
    archives = names.flatmap(
        lambda names: st.builds(
            Archive,
            st.sampled_from(["tar", "stored", "deflated", "warc"]),
            st.tuples(*[inner for _ in names]).map(lambda inners: tuple(zip(names, inners, strict=True))),
        )
    )
    return st.one_of(compressed, archives)


nested = st.recursive(leaves, deeper, max_leaves=6)


def as_oracle(data):
    """The rows of a text by the oracle."""
    return [occurrence_row(record, "", None, "rfc2141", "lexical") for record in oracle(data, "rfc2141")]


def as_file(data):
    """The rows of a text as it is: what is shown elsewhere to be right, and faster than the oracle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(data)
        return Result([path]).occurrences


def check(form, rows_of=as_oracle):
    """Scan what a form makes of its texts; compare with what is found in them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(form.build())
        result = Result([path])
    expected = [row | {"source": str(path), "member": member} for member, data in form.texts() for row in rows_of(data)]
    assert result.failed == []
    assert result.occurrences == expected
    assert result.classes == expected_classes(expected)


@given(nested)
def test_any_nesting(form):
    """ "for every form, the same text in that form gives the same occurrences", as deep as people nest them."""
    check(form)


LONG = b"".join(b"urn:example:%d%%2c, and %b\n" % (number * 7919 % 3_000, b"so on " * 30) for number in range(8_000))


@pytest.mark.full
@pytest.mark.parametrize("kind", sorted(COMPRESSIONS))
def test_long_text_in_several_members(kind):
    """Larger than any block; members end anywhere, in the midst of a URN, too."""
    check(Compressed(kind, Text(LONG), (300_003, 700_000)), as_file)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["tar", "stored", "deflated", "warc"])
def test_long_and_short_members(kind):
    """One that is scanned on its own between many that are scanned together."""
    short = [(f"s{number}", Text(b"- urn:a:%d\n" % number)) for number in range(100)]
    long = ("long", Text(LONG * 10))
    check(
        Archive(kind, (*short[:50], long, *short[50:])),
        lambda data: (as_file if len(data) > 99 else as_oracle)(data),
    )


@pytest.mark.full
@pytest.mark.parametrize("kind", ["parquet", "arrow", "sqlite"])
def test_many_values(kind):
    """More than are scanned as one text (`run/small_texts.py`), in several row groups."""
    check(Table(kind, tuple(b"urn:a:%d\nurn:b:c" % number for number in range(17_000))))


def test_what_people_have():
    """`dump.tar.gz` of `.xml.bz2`."""
    xml = Text(b"<id>urn:nbn:de:1</id>\n")
    check(Compressed("gz", Archive("tar", (("a.xml.bz2", Compressed("bz2", xml, ())), ("b.xml", xml))), ()))
