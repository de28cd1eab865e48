"""Avro: every value of text and its place, as fastavro reads them, and no file that brings the run down."""

import bz2
import io
import json
import lzma
import struct
import zlib
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.tabular import gzipped, is_text, read_values, zipped
from urnscan.sources.layers import Limits

AUTHOR = {
    "type": "record",
    "name": "author",
    "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "int"}],
}
SCHEMA = {
    "type": "record", "name": "book", "namespace": "org.example",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "title", "type": ["null", "string"]},
        {"name": "raw", "type": "bytes"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "code", "type": {"type": "fixed", "name": "code", "size": 2}},
        {"name": "authors", "type": {"type": "array", "items": AUTHOR}},
        {"name": "map", "type": {"type": "map", "values": "string"}},
        {"name": "kind", "type": {"type": "enum", "name": "kind", "symbols": ["print", "online"]}},
        {"name": "editor", "type": ["null", "author", "org.example.kind"]},
        {"name": "part", "type": ["null", "book"]},
        {"name": "double", "type": "double"},
    ],
}  # fmt: skip
PART = {
    "id": 3, "title": "deep", "raw": b"", "price": Decimal("0.5"), "code": b"cc", "authors": [], "map": {}, "kind": "online",
    "editor": {"id": "e", "n": 1}, "part": None, "double": 0.5,
}  # fmt: skip
ROWS = [
    PART | {"title": "a", "raw": b"\xff\xfe", "authors": [{"id": "i1", "n": 1}, {"id": "i2", "n": 2}], "part": PART},
    PART | {"title": None, "raw": b"x", "map": {"k": "v"}, "editor": "print"},
]


VALUES = {
    "0/title": b"a", "0/raw": b"\xff\xfe", "0/code": b"cc", "0/authors[0].id": b"i1", "0/authors[1].id": b"i2",
    "0/editor.id": b"e", "0/part.title": b"deep", "0/part.code": b"cc", "0/part.editor.id": b"e",
    "1/raw": b"x", "1/code": b"cc", "1/map[0].key": b"k", "1/map[0].value": b"v",
}  # fmt: skip
SYNC = b"0123456789abcdef"
TEXT = {"type": "record", "name": "row", "fields": [{"name": "text", "type": "string"}]}


def long(value):
    """A number as Avro writes it."""
    value, out = (value << 1) ^ (value >> 63), b""
    while value > 127:
        value, out = value >> 7, out + bytes([value & 127 | 128])
    return out + bytes([value])


def text(octets):
    return long(len(octets)) + octets


def container(schema, blocks, codec="null", pack=bytes):
    """A file of (rows, octets), its blocks packed."""
    schema = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    header = b"Obj\x01" + long(2) + text(b"avro.schema") + text(schema) + text(b"avro.codec") + text(codec.encode())
    return header + long(0) + SYNC + b"".join(long(n) + text(pack(octets)) + SYNC for n, octets in blocks)


def rows(*values):
    return len(values), b"".join(text(value.encode()) for value in values)


def raw_deflate(octets):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(octets) + packer.flush()


CODECS = {
    "null": bytes,
    "deflate": raw_deflate,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.ZstdCompressor().compress,
    "snappy": lambda octets: pa.compress(octets, "snappy", asbytes=True) + struct.pack(">I", zlib.crc32(octets)),
}


@pytest.fixture
def saved(tmp_path):
    def saved(octets, name="a.avro"):
        (tmp_path / name).write_bytes(octets)
        return tmp_path / name

    return saved


@pytest.fixture
def books():
    out = io.BytesIO()
    fastavro.writer(out, SCHEMA, ROWS, codec="deflate")
    return out.getvalue()


def test_places(saved, books):
    """Records, unions, arrays, maps, names of a namespace, a type that contains itself; numbers and enums are no text."""
    for name in ("a.avro", "000000_0"):
        values, errors = read_values(saved(books, name))
        assert (dict(values), len(values), errors) == (VALUES, len(VALUES), [])


@pytest.mark.parametrize("around", [gzipped, zipped])
def test_in_compression_and_archives_the_values_are_the_same(saved, books, around):
    inside, errors = read_values(around(saved(books)))
    member = "in/a.avro!/" if around is zipped else ""
    assert (dict(inside), errors) == ({member + place: value for place, value in VALUES.items()}, [])


def test_columns(saved, books):
    """`--column` names a column or a dotted path; it is said where none of them is there, and where one is not text."""
    path = saved(books)
    assert read_values(path, "authors.id") == ([("0/authors[0].id", b"i1"), ("0/authors[1].id", b"i2")], [])
    assert read_values(path, "map.key", "title") == ([("0/title", b"a"), ("1/map[0].key", b"k")], [])
    assert read_values(path, "nope", "title") == ([("0/title", b"a")], [])
    (error,) = read_values(path, "nope")[1]
    assert error.startswith("in: no column 'nope': it has id, title, raw, price, code, authors, map, kind, editor")
    assert read_values(path, "kind", "price") == (
        [],
        ["in: column 'kind' is not text", "in: column 'price' is not text"],
    )


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec(saved, codec):
    octets = container(TEXT, [rows("a", "b"), rows("c" * 9999)], codec, CODECS[codec])
    assert read_values(saved(octets)) == ([("0/text", b"a"), ("1/text", b"b"), ("2/text", b"c" * 9999)], [])
    damaged = octets.replace(CODECS[codec](rows("c" * 9999)[1]), b"\xff" * len(CODECS[codec](rows("c" * 9999)[1])))
    values, errors = read_values(saved(damaged))
    assert len(values) == 2
    assert len(errors) == 1
    assert "rows 2 and on, damaged: " in errors[0]


def test_a_codec_that_is_not_known_is_told(saved):
    assert read_values(saved(container(TEXT, [rows("a")], "lzo"))) == (
        [],
        ["in: is compressed with 'lzo', which is not read"],
    )


SCALARS = [("string", st.text(max_size=5)), ("bytes", st.binary(max_size=5)), ("long", st.integers(-(2**63), 2**63 - 1)),
    ("null", st.none()), ("boolean", st.booleans()), ("double", st.floats(allow_nan=False))]  # fmt: skip


def deeper(inner):
    def grow(leaf):
        kind, values = leaf
        choices = [
            ({"type": "array", "items": kind}, st.lists(values, max_size=3)),
            ({"type": "map", "values": kind}, st.dictionaries(st.text("ab", max_size=3), values, max_size=2)),
        ]
        if kind != "null":
            choices.append((["null", kind], st.one_of(st.none(), values)) if isinstance(kind, str) else choices[0])
        return st.sampled_from(choices)

    return inner.flatmap(grow)


def naive(value, place):
    """The values of text in a Python object: what is independent of the walk."""
    match value:
        case str() | bytes():
            yield place, value.encode() if isinstance(value, str) else value
        case dict():
            for at, (key, inner) in enumerate(value.items()):
                yield from naive(key, f"{place}[{at}].key")
                yield from naive(inner, f"{place}[{at}].value")
        case list():
            for at, inner in enumerate(value):
                yield from naive(inner, f"{place}[{at}]")


@FEW
@given(data=st.data())
def test_what_comes_out_is_what_fastavro_reads(tmp_path_factory, data):
    kind, values = data.draw(st.recursive(st.sampled_from(SCALARS), deeper, max_leaves=3))
    written = data.draw(st.lists(values, max_size=5))
    path = tmp_path_factory.getbasetemp() / "a.avro"
    with path.open("wb") as out:
        schema = {"type": "record", "name": "row", "fields": [{"name": "a", "type": kind}]}
        fastavro.writer(out, schema, [{"a": value} for value in written], sync_interval=20)
    with path.open("rb") as file:
        read = [row["a"] for row in fastavro.reader(file)]
    expected = [pair for row, value in enumerate(read) for pair in naive(value, f"{row}/a") if pair[1]]
    assert read_values(path) == (expected, [])


def test_a_damaged_block_costs_itself(saved):
    """One that does not end where it says, and one that is no data of its schema; the rows behind the latter are known."""
    blocks = [rows("a", "b"), rows("cc"), rows("d")]
    whole = container(TEXT, blocks)
    bad = whole.replace(long(1) + text(rows("cc")[1]), long(1) + b"\x10" + rows("cc")[1])
    values, errors = read_values(saved(bad))
    assert [value for _, value in values] == [b"a", b"b", b"d"]
    assert len(errors) == 1
    assert "it does not end where it says" in errors[0]
    bad = whole.replace(rows("cc")[1], b"\x09cc")
    values, errors = read_values(saved(bad))
    assert values == [("0/text", b"a"), ("1/text", b"b"), ("3/text", b"d")]
    assert "rows 2 and on, damaged: a text is longer than what follows" in errors[0]


def test_what_is_cut_off_is_said(saved, books):
    for at in (len(books) - 1, len(books) - 20, 500, 30):
        errors = read_values(saved(books[:at]))[1]
        assert len(errors) == 1, at
        assert "cut off" in errors[0] or "its header is damaged" in errors[0]


@FEW
@given(data=st.data())
def test_damaged_copies_end_in_errors(tmp_path_factory, data):
    """Cut off or with octets flipped: no crash, no traceback, and nothing endless."""
    out = io.BytesIO()
    fastavro.writer(out, SCHEMA, ROWS * 3, codec="null", sync_interval=30)
    octets = bytearray(out.getvalue())
    for at in data.draw(st.lists(st.integers(4, len(octets) - 1), max_size=3)):
        octets[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.avro"
    path.write_bytes(octets[: data.draw(st.one_of(st.just(len(octets)), st.integers(4, len(octets))))])
    read_values(path, limits=Limits(size=1 << 20))
    read_values(gzipped(path), limits=Limits(size=1 << 20))


class TestHostile:
    """Files that end a process, or fill the memory, of readers that make an object of each value."""

    def test_values_in_each_other_without_end(self, saved):
        """fastavro 1.13 ends with a segmentation fault."""
        linked = {"type": "record", "name": "n", "fields": [{"name": "next", "type": ["null", "n"]}]}
        linked["fields"].append({"name": "text", "type": "string"})
        octets = container(linked, [(1, b"\x02" * 2_000_000), (1, b"\x00" + text(b"good"))])
        values, (error,) = read_values(saved(octets))
        assert values == [("1/text", b"good")]
        assert error.endswith("damaged: nested too deep")

    @pytest.mark.parametrize("item", ["null", {"type": "record", "name": "e", "fields": []}])
    def test_items_and_rows_that_take_no_octets(self, saved, item):
        """As many as somebody likes to write."""
        fields = [{"name": "a", "type": {"type": "array", "items": item}}, {"name": "text", "type": "string"}]
        schema = {"type": "record", "name": "row", "fields": fields}
        many = long(1 << 62)
        octets = container(schema, [(1, many + long(0) + text(b"good"))])
        assert read_values(saved(octets)) == ([("0/text", b"good")], [])
        assert read_values(saved(container(item, [(1 << 62, b"")]))) == ([], [])

    def test_sizes_that_are_not_true(self, saved):
        """Memory is taken for octets that come."""
        head = container(TEXT, [rows("a")])
        for announced in (1 << 27, 1 << 40, -1):
            values, errors = read_values(saved(head + long(1) + long(announced) + b"abc"))
            assert values == [("0/text", b"a")]
            assert len(errors) == 1

    @pytest.mark.parametrize("codec", ["deflate", "zstandard", "snappy", "xz", "bzip2"])
    def test_bombs(self, saved, codec):
        octets = container(TEXT, [(1, bytes(30 << 20))], codec, CODECS[codec])
        _, (error,) = read_values(saved(octets), limits=Limits(size=20_000_000))
        assert "unfolds to more than 20,000,000 octets" in error

    @pytest.mark.parametrize(
        "schema",
        [b"", b"1", b"{}", b'{"type": "record", "name": "a"}', b'{"type": "fixed", "name": "a", "size": []}', b"[" * 9999,
         b'{"type": ' * 900 + b'"int"' + b"}" * 900, b'"what"', b"\xff", b'{"type":"record","name":"a","fields":[1]}'],
    )  # fmt: skip
    def test_schemas_that_are_none(self, saved, schema):
        _, (error,) = read_values(saved(container(schema, [rows("a")])))
        assert error.startswith("in: cannot be read as Avro: its header is damaged: ")


def test_what_is_named_so_and_begins_otherwise(saved):
    """Binary files are scanned as they are, and that is told; text is text."""
    assert is_text(saved(b"urn:a:b"))
    path = saved(b"\0\0urn:a:b")
    assert is_text(path)
