"""Bodies of archived HTTP messages: headers, chunks and codings taken off, and nothing lost where these are wrong."""

import contextlib
import gzip
import zlib
from functools import partial

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib

from tests.support.packed import Given
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats.archives.http import Body
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits

TEXT = b"".join(b"<p>urn:isbn:%d and some more</p>\r\n" % (number * 7919) for number in range(3000))


def layer(limits=None):
    limits = limits or Limits()
    budget = Budget("record", limits)
    budget.count_read(1)
    return Layer("record", "record", Reading(limits=limits), budget)


def read(*parts, size=1 << 16, most=1 << 20, **shared):
    """The body and the errors on the way; a reader that has ended stays at the end."""
    view = memoryview(bytearray(size))
    out, errors = bytearray(), []
    shared_by_all = layer(**shared)
    with Body(Given(*parts, most=most), shared_by_all) as body:
        while True:
            try:
                got = body.read_into(view)
            except LimitError:
                raise
            except SourceError as error:
                errors.append(error)
                if isinstance(error, DamageError):
                    continue
                break
            if not got:
                assert body.read_into(view) == 0
                break
            out += view[:got]
    return bytes(out), [*errors, *shared_by_all.budget.collected()]


def message(body, *fields):
    return b"HTTP/1.1 200 OK\r\n" + b"".join(field + b"\r\n" for field in fields) + b"\r\n" + body


def chunked(content, sizes=(100,), extension=b"", trailers=b""):
    out, at, turn = b"", 0, 0
    while at < len(content):
        piece = content[at : at + sizes[turn % len(sizes)]]
        out += b"%x%b\r\n%b\r\n" % (len(piece), extension, piece)
        at += len(piece)
        turn += 1
    return out + b"0\r\n" + trailers + b"\r\n"


def deflate_raw(content):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


CODE = {
    b"gzip": gzip.compress,
    b"x-gzip": gzip.compress,
    b"deflate": zlib.compress,
    b"DEFLATE": deflate_raw,
    b"br": partial(brotli.compress, quality=5),
    b"zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}


# Headers


@pytest.mark.full
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX: urn:a:1\r\n\r\n",
        b"HTTP/1.0 200\r\n\r\n",
        b"HTTP/2 200 \nX: urn:a:1\nY:\n\n",
        b"GET /urn:a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PROPFIND /a b HTTP/1.1\r\n\r\n",
        b"ICY 200 OK\r\nicy-name: x\r\n\r\n",
        b"\r\nHTTP/1.1 200 OK\r\nX: urn:a:1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n\turn:a:1\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX : a\r\nno field\r\nY: b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n \t\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: urn:a:1\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 9000 + b"\r\n",
    ],
)
@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_start_line_and_headers_are_no_text(head, most):
    """Also with line feeds alone, folded fields, a line between fields that is none, and interim responses before."""
    for body in (b"", b"urn:b:2", b"\r\n\r\nurn:b:2\r\n\r\n"):
        assert read(head + body, most=most) == (body, [])


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"urn:a:1",
        b"<html>urn:a:1\r\n\r\nurn:a:2",
        b"X: urn:a:1\r\n\r\nurn:a:2",
        b"\r\n\r\nurn:a:1",
        bytes(100_000),
        b"HTTPS://x\r\n\r\n",
    ],
)
def test_a_block_without_a_start_line_is_the_body(block):
    assert read(block) == (block, [])


def test_headers_end_where_they_cannot_be_parsed():
    """Who left out the empty line loses no body for it."""
    body = b"<html>\r\n<a href='urn:a:1'>\r\n\r\n<b>urn:a:2</b>"
    assert read(b"HTTP/1.1 200 OK\r\nX: y\r\n" + body) == (body, [])
    assert read(b"HTTP/1.1 200 OK\nX: y\n{'a': 1}\n\nurn:a:2") == (b"{'a': 1}\n\nurn:a:2", [])


def test_headers_that_do_not_end_are_dropped_up_to_the_end():
    assert read(b"HTTP/1.1 304 Not Modified\r\nX: urn:a:1\r\nETag") == (b"ETag", [])
    assert read(b"HTTP/1.1 304 Not Modified\r\nX: urn:a:1") == (b"", [])


@pytest.mark.parametrize("field", [b"X: urn:a:1\r\n", b"X: " + b"y" * 200_000 + b"\r\n"])
def test_headers_of_more_than_64_kib_are_read_as_they_are_from_there_on(field):
    """Nothing behind the limit is lost, and what is dropped before it ends with a line."""
    block = b"HTTP/1.1 200 OK\r\n" + field * 9000 if len(field) < 1000 else b"HTTP/1.1 200 OK\r\n" + field
    block += b"\r\nurn:b:2"
    out, errors = read(block)
    assert not errors
    assert block.endswith(out)
    assert len(block) - (1 << 16) <= len(out) <= len(block) - (1 << 16) + 1 + len(field)
    assert out.startswith(b"X: ")


# Chunks


@given(
    st.binary(max_size=300),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.integers(1, 50),
    st.integers(1, 50),
    st.sampled_from([b"", b";a=b", b' ; a="b"', b"  "]),
    st.sampled_from([b"", b"X: urn:a:1\r\n"]),
)
def test_chunks_are_joined(content, sizes, size, most, extension, trailers):
    """RFC 9112, 7.1: any chunks, with extensions and trailers; any view, and any way in which they come."""
    block = message(chunked(content, sizes, extension, trailers), b"Transfer-Encoding: Chunked")
    assert read(block, size=size, most=most) == (content, [])


def test_lines_of_chunks_may_end_in_lf_alone():
    """RFC 9112, 2.2: "a recipient MAY recognize a single LF as a line terminator"."""
    body = b"5\nurn:a\n4;x\n:1 x\n0\n\n"
    assert read(message(body, b"Transfer-Encoding: chunked")) == (b"urn:a:1 x", [])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>urn:a:1",
        b"urn:a:1\r\nurn:a:2",
        b"add\r\n",  # is a size, and the chunk is not there at all
        b"a\r\nurn:a:1\r\nurn:a:2\r\n",
        b"0\r\n<a>urn:a:1",
        b"0\r\n\r\n<a>urn:a:1",
        b"5\nurn:a:1\n",
        b"11111111111111111\r\nurn:a:1",
        b"-5\r\nurn:a:1",
        b"0x5\r\nurn:a\r\n0\r\n\r\n",
    ],
)
def test_a_body_that_is_in_no_chunks_is_as_it_is(body):
    """Many archives keep the header though they joined the chunks."""
    out, errors = read(message(body, b"Transfer-Encoding: chunked"))
    if body == b"add\r\n":
        assert errors
    else:
        assert (out, errors) == (body, [])


def test_damaged_chunks_are_read_on_as_they_are():
    """The break is told where it is, and what follows it is not next to what came before."""
    block = message(b"5\r\nurn:a\r\n5\r\nurn:bTHIS IS NO SIZE\r\nurn:c:1", b"Transfer-Encoding: chunked")
    out, (error,) = read(block)
    assert out == b"urn:aurn:bTHIS IS NO SIZE\r\nurn:c:1"
    assert isinstance(error, DamageError)
    assert str(error) == "record: is damaged where a chunk should begin, so the rest is scanned unchanged"


def test_chunks_that_end_too_early():
    """Between two chunks that is what servers do; in a chunk, bytes are missing."""
    assert read(message(b"5\r\nurn:a\r\n", b"Transfer-Encoding: chunked")) == (b"urn:a", [])
    assert read(message(b"5\r\nurn:a", b"Transfer-Encoding: chunked")) == (b"urn:a", [])
    out, (error,) = read(message(b"8\r\nurn:a", b"Transfer-Encoding: chunked"))
    assert out == b"urn:a"
    assert str(error) == "record: ends 3 bytes before the end of a chunk: all else is read"


# Codings


@pytest.mark.full
@pytest.mark.parametrize("token", CODE)
@pytest.mark.parametrize(("size", "most"), [(1 << 16, 1 << 20), (1 << 16, 1), (999, 1000)])
def test_each_coding_is_taken_off(token, size, most):
    coded = CODE[token](TEXT)
    assert len(coded) < len(TEXT)
    assert read(message(coded, b"Content-Encoding: " + token), size=size, most=most) == (TEXT, [])


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)),
    st.lists(st.sampled_from(list(CODE)), max_size=4),
    st.booleans(),
    st.integers(1, 300),
    st.integers(1, 300),
)
def test_codings_in_each_other(content, tokens, in_chunks, size, most):
    """RFC 9110, 8.4: as they were applied in a row, also in fields of their own."""
    coded = content
    for token in tokens:
        coded = CODE[token](coded)
    fields = [b"content-encoding:" + b" , ".join(tokens[:2]), b"Content-Encoding: " + b",".join(tokens[2:])]
    if in_chunks:
        coded = chunked(coded)
        fields.insert(0, b"Transfer-Encoding: chunked")
    assert read(message(coded, *fields), size=size, most=most) == (content, [])


def test_a_transfer_coding_is_taken_off_after_the_chunks():
    """RFC 9112, 7: chunked is the last that was applied."""
    coded = chunked(gzip.compress(brotli.compress(TEXT)))
    assert read(message(coded, b"Transfer-Encoding: gzip, chunked", b"Content-Encoding: br")) == (TEXT, [])


PLAIN = [
    b"",
    b"a",
    b"{}",
    b"[]",
    b"ok\n",
    b"urn:a:1",
    b"<!DOCTYPE html><html>urn:a:1</html>",
    "Grüße urn:a:1 überall".encode(),
    b"hello, world. this is nothing but text that begins as zlib could",
    TEXT,
    b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\x00\x01\x02",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00",
    b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
]


@pytest.mark.full
@pytest.mark.parametrize("token", CODE)
@pytest.mark.parametrize("plain", PLAIN, ids=range(len(PLAIN)))
def test_a_body_that_is_plainly_not_coded_is_as_it_is(token, plain):
    """Many archives keep the header though they decoded the body."""
    assert read(message(plain, b"Content-Encoding: " + token)) == (plain, [])


@given(
    st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), max_size=60), st.sampled_from(list(CODE))
)
def test_short_text_is_seldom_taken_for_coded(text, token):
    """Bytes that decode to their very end are what the header says; there must be nothing left of them."""
    out, errors = read(message(text.encode(), b"Content-Encoding: " + token))
    assert not errors
    if out != text.encode():
        window = {b"deflate": (15, -15), b"DEFLATE": (15, -15)}.get(token)
        assert window or token == b"br"


@pytest.mark.parametrize("token", [b"identity", b"utf-8", b"none", b"compress", b"gzip2", b"", b"sdch;q=1"])
def test_what_is_no_coding_that_is_known_is_not_taken_off(token):
    assert read(message(b"urn:a:1", b"Content-Encoding: " + token)) == (b"urn:a:1", [])


def test_several_members_and_what_follows_them():
    """RFC 1952, 2.2 and RFC 8878, 3; what is behind the last is dropped, as browsers do."""
    for token in (b"gzip", b"zstd"):
        coded = CODE[token](b"urn:a") + CODE[token](b":1") + b"\0\0junk urn:b:1"
        assert read(message(coded, b"Content-Encoding: " + token)) == (b"urn:a:1", [])
    for token in (b"deflate", b"DEFLATE", b"br"):
        coded = CODE[token](TEXT) + b"\0\0junk urn:b:1"
        assert read(message(coded, b"Content-Encoding: " + token)) == (TEXT, [])
        coded = CODE[token](b"urn:a:\xe9\x01" * 9) + b"\0\0junk urn:b:1"
        assert read(message(coded, b"Content-Encoding: " + token)) == (b"urn:a:\xe9\x01" * 9, [])


@pytest.mark.full
@pytest.mark.parametrize("token", CODE)
@pytest.mark.parametrize("part", [0.2, 0.5, 0.999])
def test_a_coding_that_is_cut_off(token, part):
    """What is there is given, all of it that decodes, then an error that names the record. (zstd has blocks of 128 KiB.)"""
    text = b"".join(b"urn:x:%d\n" % (number**3 % 1_000_003) for number in range(100_000))
    coded = CODE[token](text)
    coded = coded[: int(part * len(coded))]
    out, (error,) = read(message(coded, b"Content-Encoding: " + token))
    assert text.startswith(out)
    assert len(out) > (part - 0.2) * len(text)
    if token in (b"gzip", b"x-gzip"):
        assert len(out) >= len(zlib.decompressobj(31).decompress(coded)) - 2  # isal decodes several bytes at once
    name = token.decode().lower().removeprefix("x-")
    assert str(error) == f"record: its {name} coding ends too early: what is there is read"


class _Brotli:
    """Brotli's decompressor with the name that the others give the method."""

    def __init__(self):
        self.decompress = brotli.Decompressor().process


def byte_by_byte(decompressor, coded):
    """The text that a library gives if it gets one byte after the other."""
    text = b""
    with contextlib.suppress(zlib.error, isal_zlib.error, brotli.error, zstandard.ZstdError):
        for byte in coded:
            text += decompressor.decompress(bytes([byte]))
    return text


@given(
    st.sampled_from([token for token in CODE if token != b"x-gzip"]), st.floats(0, 1), st.integers(1, 255), st.data()
)
def test_a_coding_with_a_wrong_byte(token, where, change, data):
    """What came before it is given: what the library gives if it gets one byte after the other."""
    text = TEXT[: data.draw(st.sampled_from([100, 2000, len(TEXT)]))]
    coded = bytearray(CODE[token](text))
    at = min(int(where * len(coded)), len(coded) - 1)
    coded[at] ^= change
    out, errors = read(message(bytes(coded), b"Content-Encoding: " + token))
    assert len(errors) <= 1
    if out != coded:  # its beginning was not that of the coding any more
        libraries = {
            b"gzip": [zlib.decompressobj(31), isal_zlib.decompressobj(31)],
            b"deflate": [zlib.decompressobj(15)],
            # isal decodes on where zlib refuses a table of distances.
            b"DEFLATE": [zlib.decompressobj(-15), isal_zlib.decompressobj(-15)],
            b"br": [_Brotli()],
            b"zstd": [zstandard.ZstdDecompressor().decompressobj()],
        }[token]
        wanted = [byte_by_byte(library, coded) for library in libraries]
        # isal keeps back the last bytes where its input ends too early, but not if they come singly.
        if token == b"DEFLATE":
            with contextlib.suppress(isal_zlib.error):
                wanted.append(isal_zlib.decompressobj(-15).decompress(bytes(coded)))
        assert out in wanted or (token == b"deflate" and wanted == [b""])  # it is tried without its header then


@pytest.mark.parametrize("token", [b"gzip", b"deflate", b"zstd"])
@pytest.mark.parametrize("text", [b"urn:a:1 \xe9\x01", TEXT])
def test_a_checksum_that_fails_is_told(token, text):
    """All is given."""
    coded = bytearray(CODE[token](text))
    coded[-5 if token == b"gzip" else -1] ^= 1
    out, (error,) = read(message(bytes(coded), b"Content-Encoding: " + token))
    if token != b"zstd" or len(coded) < 1 << 16:
        assert out == text
    name = "gzip" if token == b"gzip" else token.decode()
    assert str(error) == f"record: the checksum of its {name} coding is wrong; its text may be damaged"


@pytest.mark.full
@pytest.mark.parametrize("token", [b"gzip", b"deflate", b"DEFLATE", b"br", b"zstd"])
def test_what_unfolds_to_too_much_is_stopped(token):
    """A bomb ends the input, at the limit and not when it is all in memory."""
    coded = CODE[token](bytes(1 << 25))
    with pytest.raises(LimitError, match=r"unpacks to more than 10,000,000 bytes"):
        read(message(coded, b"Content-Encoding: " + token), limits=Limits(size=10**7, ratio=10**9))


def test_there_are_not_endlessly_many_codings():
    block = message(b"urn:a:1", b"Content-Encoding: " + b"gzip," * 10_000)
    out, (error,) = read(block)
    assert out == b""
    assert str(error) == "record: is coded more than 8 times over: not read"


# What goes wrong below


@pytest.mark.full
@pytest.mark.parametrize("kind", [DamageError, SourceError])
@pytest.mark.parametrize(
    "fields", [[], [b"Transfer-Encoding: chunked"], [b"Content-Encoding: gzip"], [b"Content-Encoding: br"]]
)
def test_an_error_below_is_raised_behind_what_came_before_it(kind, fields):
    coded = {0: TEXT, 9: gzip.compress(TEXT), 7: brotli.compress(TEXT)}
    body = TEXT if not fields else chunked(TEXT) if b"chunked" in fields[0] else None
    if body is None:
        body = coded[9 if b"gzip" in fields[0] else 7]
    block = message(body, *fields)
    cut = len(block) * 2 // 3
    out, errors = read(block[:cut], kind("input", "is torn"))
    assert [str(error) for error in errors] == ["input: is torn"]
    assert TEXT.startswith(out) or b"chunked" in fields[0]
    assert len(out) > len(TEXT) // 3


def test_damage_in_the_name_in_a_gzip_header_is_told_once():
    """It was also told that the coding ends too early, as the bytes of the name were still there to be read."""
    header = b"\x1f\x8b\x08\x08" + bytes(6) + b"a-name-without-end"
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    _, errors = read(head + header, DamageError("f", "a hole"), b"rest")
    assert [error.reason for error in errors] == ["a hole"]


def test_an_error_in_the_headers_is_raised():
    out, errors = read(b"HTTP/1.1 200 OK\r\nX: y", DamageError("input", "is torn"), b"urn:a:1")
    assert [str(error) for error in errors] == ["input: is torn"]
    assert out == b"urn:a:1"


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.sampled_from(
                [
                    b"HTTP/1.1 200 OK\r\n",
                    b"\r\n",
                    b"\n",
                    b"Transfer-Encoding: chunked\r\n",
                    b"Content-Encoding: gzip, br\r\n",
                    b"Content-Encoding: deflate\r\n",
                    b"Content-Encoding: zstd\r\n",
                    b"X: y\r\n",
                    b"5\r\nabcde\r\n",
                    b"0\r\n\r\n",
                    gzip.compress(b"urn:a:1"),
                    brotli.compress(b"urn:a:1"),
                    zlib.compress(b"urn:a:1"),
                    zstandard.compress(b"urn:a:1"),
                ]
            ),
        ),
        max_size=12,
    ),
    st.integers(1, 40),
)
def test_whatever_it_is_it_ends_with_one_error_at_most_of_each_kind(parts, size):
    """No crash, and no loop; a coding that is damaged ends the body, chunks that are do not."""
    out, errors = read(b"".join(parts), size=size)
    assert len(errors) <= 2
    if not any(b"ncoding" in part for part in parts):
        assert b"".join(parts).endswith(out)
