"""Records of web archives as members, beside what other readers make of the same files."""

import gzip
import io
import re
import time
import uuid
import zlib
from pathlib import Path

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.packed import Given, contents, one_by_one, tar, zipped
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats.archives import warc
from urnscan.formats.archives.warc import is_warc, open_warc
from urnscan.formats.captures import read_where
from urnscan.formats.contents import Texts
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.unfold import open_documents
from urnscan.stores.input import Input
from urnscan.stores.reader import Reader

BODY = b"".join(b"<p>urn:isbn:%d and some more</p>\r\n" % (number * 7919) for number in range(300))


def layer(limits=None):
    limits = limits or Limits()
    budget = Budget("x.warc", limits)
    budget.count_read(1 << 20)
    return Layer("x.warc", "x.warc", Reading(limits=limits), budget)


def read(*parts, size=1 << 16, most=1 << 20, limits=None):
    """The members, in order: (name, bytes), and the texts of errors where they came."""
    return read_all(Given(*parts, most=most), layer(limits), size=size)


def read_all(reader, layer, out=None, size=1 << 16):
    """The same of what a reader gives; where it raises, `out` has what came before."""
    view = memoryview(bytearray(size))
    out = [] if out is None else out
    for found in one_by_one(open_warc(reader, layer)):
        if isinstance(found, SourceError):
            out.append(str(found))
            continue
        name, reader = found
        content = bytearray()
        out.append((name, content))
        with reader:
            while True:
                try:
                    got = reader.read_into(view)
                except LimitError:
                    raise
                except SourceError as error:
                    out.append(str(error))
                    if isinstance(error, DamageError):
                        continue
                    break
                if not got:
                    break
                content += view[:got]
    out[:] = [(item[0], bytes(item[1])) if isinstance(item, tuple) else item for item in out]
    return out


def urn(number):
    return f"<urn:uuid:{uuid.UUID(int=number)}>"


def record(block, number=1, *fields, kind="resource", version="1.0", length=None, end=b"\r\n\r\n", newline=b"\r\n"):
    lines = [
        f"WARC/{version}",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: {urn(number)}",
        "WARC-Date: 2024-01-01T00:00:00Z",
        *fields,
        f"Content-Length: {len(block) if length is None else length}",
        "",
        "",
    ]
    return newline.join(line if isinstance(line, bytes) else line.encode() for line in lines) + block + end


URI = "WARC-Target-URI: https://example.org/a"
HTTP = "Content-Type: application/http; msgtype=response"
PAGE = b"HTTP/1.1 200 OK\r\nX: urn:a:1\r\n\r\nurn:b:2"


# Recognition


def test_a_warc_file_is_known_by_its_first_bytes():
    """And no more bytes are asked for where it is certain that it is none."""
    for version in ("0.17", "0.18", "1.0", "1.1"):
        assert is_warc(record(b"", version=version), layer())
    for count in range(7):
        assert is_warc(b"WARC/1."[:count], layer()) is None
    for head in (b"w", b"WARC/2", b"WARC 1.0", b"filedesc://x.arc", b"ARC", b"\x1f\x8b"):
        assert is_warc(head, layer()) is False


def test_a_text_about_web_archives_is_none():
    """It was passed over to its end. Behind the version nothing stands in its line but blanks, and those are few."""
    for head in (b"WARC/1.0 is a file format of", b"WARC/1.0.\n", b"WARC/1.x\n", b"WARC/1.\n", b"WARC/1.0\rx"):
        assert is_warc(head, layer()) is False
    for head in (b"WARC/1.0\r\n", b"WARC/1.0\n", b"WARC/1.0 \t\r\n", b"WARC/0.17\n"):
        assert is_warc(head, layer())
        assert {is_warc(head[:count], layer()) for count in range(len(head))} == {None}
    for filling in (b"0", b" "):
        assert is_warc(b"WARC/1.0" + filling * 99, layer()) is False


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_records_of_a_file_are_documents(tmp_path, suffix):
    """Through the registry of forms, also in gzip, one member for each record."""
    records = [record(PAGE, 1, URI, HTTP, kind="response"), record(b"urn:c:3", 2)]
    path = tmp_path / ("x.warc" + suffix)
    path.write_bytes(b"".join(map(gzip.compress, records)) if suffix else b"".join(records))
    view = memoryview(bytearray(100))
    found = []
    for document in open_documents(Input("x", str(path), path.stat().st_size), Reading()):
        assert not isinstance(document, SourceError), document
        if suffix and document.member is None:
            pytest.skip("gzip is not read yet")
        found.append((document.member, bytes(view[: document.reader.read_into(view)])))
        assert not document.reader.read_into(view)
    assert found == [(f"https://example.org/a {urn(1)}", b"urn:b:2"), (urn(2), b"urn:c:3")]


# Names


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (b"https://example.org/a", "https://example.org/a "),
        (b"<https://example.org/a>", "https://example.org/a "),
        (b"  https://example.org/a\t", "https://example.org/a "),
        (b"https://example.org/a\r\n b", "https://example.org/a b "),
        (b"https://example.org/\xc3\xbc\xff", "https://example.org/\xfc\\xff "),
        (b"https://example.org/\x1b[31m\x00\x7f\xc2\x85", "https://example.org/\\x1b[31m\\x00\\x7f\\x85 "),
        (b"https://example.org/\xe2\x80\xa8", "https://example.org/\u2028 "),
        (b"", ""),
    ],
)
def test_a_record_is_called_by_its_uri_and_its_id(uri, name):
    """Brackets around the URI, which version 1.0 prescribed by mistake, are dropped; what harms a terminal is escaped."""
    assert read(record(b"urn:a:1", 1, b"WARC-Target-URI: " + uri)) == [(name + urn(1), b"urn:a:1")]


def test_a_record_without_any_name_is_called_by_its_place():
    block = b"WARC/1.0\r\nContent-Length: 7\r\n\r\nurn:a:1\r\n\r\n"
    assert read(block * 2) == [("byte 0", b"urn:a:1"), (f"byte {len(block)}", b"urn:a:1")]


# What is text


@pytest.mark.parametrize(
    ("kind", "fields", "block", "text"),
    [
        ("response", [URI, HTTP], PAGE, b"urn:b:2"),
        (
            "request",
            [URI, "content-type:Application/HTTP;msgtype=request"],
            b"GET /urn:a:1 HTTP/1.1\r\n\r\nurn:b:2",
            b"urn:b:2",
        ),
        ("revisit", [URI, HTTP], b"HTTP/1.1 304 Not Modified\r\nX: urn:a:1\r\n\r\n", b""),
        ("revisit", [URI, HTTP], b"", b""),
        ("response", [URI], PAGE, b"urn:b:2"),
        ("response", ["WARC-Target-URI: dns:x", "Content-Type: text/dns"], b"urn:b:2", b"urn:b:2"),
        ("resource", [URI, "Content-Type: text/html"], PAGE, PAGE),
        ("conversion", [URI, "Content-Type: text/plain"], b"urn:a:1", b"urn:a:1"),
        ("metadata", ["Content-Type: application/json"], b'{"urn:a:1": 1}', b'{"urn:a:1": 1}'),
        ("warcinfo", ["Content-Type: application/warc-fields"], b"isPartOf: urn:a:1\r\n", b"isPartOf: urn:a:1\r\n"),
        ("continuation", [], b"urn:a:1", b"urn:a:1"),
        ("vendor-type", [], b"urn:a:1", b"urn:a:1"),
    ],
)
def test_blocks_are_text_and_http_headers_are_not(kind, fields, block, text):
    assert [item[1] for item in read(record(block, 1, *fields, kind=kind)) if not isinstance(item, str)] == [text]


def test_codings_are_taken_off_and_errors_call_the_record():
    coded = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(BODY)
    name = f"https://example.org/a {urn(1)}"
    assert read(record(coded, 1, URI, HTTP)) == [(name, BODY)]
    out = read(record(coded[:-9], 1, URI, HTTP) + record(b"urn:a:1", 2))
    assert out[0][0] == name
    assert BODY.startswith(out[0][1])
    assert out[1:] == [f"x.warc!/{name}: its gzip coding ends too early: what is there is read", (urn(2), b"urn:a:1")]


# Records one after another


@given(
    st.lists(
        st.tuples(
            st.one_of(st.binary(max_size=60), st.sampled_from([b"\nWARC/1.0\r\n", b"\r\n\r\n", b"WARC/1.1"])),
            st.sampled_from(["0.18", "1.0", "1.1"]),
            st.sampled_from([b"\r\n\r\n", b"\r\n", b"", b"\n\n", b"\n", b"\r\n\r\n\r\n\n"]),
            st.sampled_from([b"\r\n", b"\n"]),
        ),
        max_size=8,
    ),
    st.integers(1, 70),
    st.integers(1, 700),
)
def test_any_records_in_any_pieces(records, size, most):
    """ISO 28500, 4; with line feeds alone, and with too few or too many empty lines between records."""
    content = b"\r\n".join(
        record(block, number, version=version, end=end, newline=newline)
        for number, (block, version, end, newline) in enumerate(records)
    )
    assert read(content, size=size, most=most) == [(urn(number), given[0]) for number, given in enumerate(records)]


def test_a_record_need_not_be_read_to_its_end():
    content = record(BODY, 1) + record(BODY, 2, length=len(BODY) + 5, end=b"")
    found = list(one_by_one(open_warc(Given(content), layer())))
    assert [item[0] for item in found[:2]] == [urn(1), urn(2)]
    assert str(found[2]) == f"x.warc!/{urn(2)}: truncated: only {len(BODY):,} of {len(BODY) + 5:,} bytes are present"
    assert len(found) == 3


# Damage


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (record(b"urn:bad:1", 7, length="x"), "a header has no valid Content-Length"),
        (record(b"urn:bad:1", 7, length="-1"), "a header has no valid Content-Length"),
        (record(b"urn:bad:1", 7, length="9" * 5000), "a header has no valid Content-Length"),
        (record(b"urn:bad:1", 7).replace(b"Length", b"Lenght"), "a header has no valid Content-Length"),
        (record(b"urn:bad:1", 7).replace(b"/1.0", b"/1x0"), "a line that begins a record has no version"),
        (record(b"urn:bad:1", 7, "X: " + "y" * 65536), "a header has more than 65,536 bytes"),
        (b"something else\r\n\r\nurn:bad:1\r\n", "no record begins here, where {} ends by its length"),
        (b"WARC/1.0\r\n" * 3, "a header ends where another begins"),
    ],
    ids=range(8),
)
@pytest.mark.parametrize("most", [1, 50, 1 << 20])
def test_what_is_no_record_is_told_and_is_text(bad, reason, most):
    """Once, with its place and how much it is; the records before and after it are whole, and names in it are found."""
    good = record(b"urn:a:1", 1)
    out = read(good + bad + record(b"urn:a:2", 2) + record(b"urn:a:3", 3), most=most)
    content = f"{len(bad):,} bytes affected, up to the next record"
    assert (b"urn:bad:1" in bad) == any(b"urn:bad:1" in item[1] for item in out if isinstance(item, tuple))
    assert [item for item in out if isinstance(item, str) or b"urn:a" in item[1]] == [
        (urn(1), b"urn:a:1"),
        f"x.warc: damaged at byte {len(good)}: {reason.format(urn(1))}; {content}",
        (urn(2), b"urn:a:2"),
        (urn(3), b"urn:a:3"),
    ]


def test_a_file_that_ends_in_a_header():
    content = record(b"urn:a:1", 1)
    assert read(content + record(b"", 2)[:50]) == [
        (urn(1), b"urn:a:1"),
        f"x.warc: damaged at byte {len(content)}: a header is truncated; 50 bytes affected, up to the end",
    ]


@given(st.integers(0, 5 * 220), st.integers(1, 300))
def test_a_file_that_is_cut_off(cut, size):
    """Records before the cut are whole; of the last what is there is given, and how much that is."""
    records = [record(b"urn:a:%d" % number * 3, number) for number in range(5)]
    content = b"".join(records)[:cut]
    out = read(content, size=size)
    position = 0
    for number, whole in enumerate(records):
        if position + len(whole) <= cut:
            assert out[number] == (urn(number), b"urn:a:%d" % number * 3)
            position += len(whole)
            continue
        there = cut - position - whole.index(b"\r\n\r\n") - 4
        if 0 <= there < 21:
            assert out[number:] == [
                (urn(number), (b"urn:a:%d" % number * 3)[:there]),
                f"x.warc!/{urn(number)}: truncated: only {there} of 21 bytes are present",
            ]
        elif there < 0 and cut > position:
            assert out[-1].startswith(f"x.warc: damaged at byte {position:,}: ")
            assert out[number:-1] in ([], [(f"byte {position}", content[position:])])
        break


@pytest.mark.parametrize("where", [0.0, 0.1, 0.5, 0.95, 1.0])
def test_what_is_lost_below_is_passed_over(where):
    """What follows the damage may be anything: the next line that begins a record is where reading goes on."""
    torn = record(b"urn:bad:1" * 9, 2)
    cut = int(where * len(torn))
    out = read(
        record(b"urn:a:1", 1) + torn[:cut],
        DamageError("x.warc.gz", "is torn"),
        record(b"urn:a:3", 3),
        record(b"urn:a:4", 4),
    )
    assert [item for item in out if item[0] != urn(2)] == [
        (urn(1), b"urn:a:1"),
        "x.warc.gz: is torn",
        (urn(3), b"urn:a:3"),
        (urn(4), b"urn:a:4"),
    ]


def test_the_end_of_the_reader_below_is_the_end():
    """In a record it is the record's error; between records it is raised."""
    failing = [record(b"urn:a:1", 1), record(BODY, 2)[:500], SourceError("x.warc.gz", "is gone")]
    out = read(*failing)
    assert [item if isinstance(item, str) else item[0] for item in out] == [urn(1), urn(2), "x.warc.gz: is gone"]
    with pytest.raises(SourceError, match="is gone"):
        read(record(b"urn:a:1", 1), SourceError("x.warc.gz", "is gone"))
    with pytest.raises(LimitError):
        read(record(BODY, 1)[:500], LimitError("x.warc.gz", "is too much"))


@pytest.mark.parametrize("most", [1, 7, 5000])
@pytest.mark.parametrize("bit", range(8))
def test_a_damaged_line_end_before_a_record(bit, most):
    """No line begins the next record: it is read all the same, and the byte is told."""
    records = [record(b"urn:b:%d" % number, number, URI) for number in range(3)]
    content = bytearray(b"".join(records))
    content[len(records[0]) - 1] ^= 1 << bit
    out = read(bytes(content), most=most)
    whole = read(b"".join(records))
    assert out in (whole, [whole[0], (f"byte {len(records[0]) - 1}", out[1][1]), out[2], *whole[1:]])


@given(st.data())
def test_wrong_bits_harm_only_the_record_that_they_are_in(data):
    """Other than in a length or a coded body: then the bytes behind it may be taken for its own."""
    records = [record(PAGE + b"%d" % number * 10, number, URI, HTTP, kind="response") for number in range(6)]
    content = bytearray(b"".join(records))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    out = read(bytes(content), most=data.draw(st.integers(1, 5000)))
    position = 0
    for number, whole in enumerate(records):
        header_end = whole.index(b"\r\n\r\n") + 4
        hit = position <= at < position + len(whole)
        if hit and whole.index(b"Content-Length") <= at - position < header_end:
            return  # lengths are what the way from record to record goes by
        if not hit:
            assert (f"https://example.org/a {urn(number)}", b"urn:b:2" + b"%d" % number * 10) in out
        position += len(whole)


@given(
    st.lists(
        st.one_of(st.binary(max_size=20), st.sampled_from([b"WARC/1.0\r\n", b"\r\n", b"Content-Length: 5\r\n", b"urn"]))
    )
)
def test_whatever_it_is_it_ends(parts):
    content = b"WARC/1.0\r\n" + b"".join(parts)
    out = read(content, size=7, most=9)
    assert len(out) <= 2 * content.count(b"WARC/") + 1


@pytest.mark.full
def test_version_lines_alone_are_read_fast():
    """Each ends the header before it: no search goes further."""
    start = time.process_time()
    (error,) = read(b"WARC/1.0\n" * 200_000)
    assert time.process_time() - start < 5
    assert error.endswith("a header ends where another begins; 1,800,000 bytes affected, up to the end")


# Records together

BLOCKS = st.sampled_from(
    [
        b"urn:a:1",
        b"",
        PAGE,
        PAGE * 3,
        b"\xff\xfeu\0r\0n\0:\0a\0:\0001\0",
        b"\xef\xbb\xbfurn:a:mark",
        gzip.compress(b"urn:a:packed " * 9),
        b"\0" + b"urn:a:nul",
        b"HTTP/1.1 100 Continue\r\n\r\n" + PAGE,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"urn:a:coded "),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nurn:a:1\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\nurn:a:2",
        b"HTTP/1.1 200 OK\r\nX: urn:a:no-end",
        b"\r\nHTTP/1.1 200 OK\r\n\r\nurn:a:3",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"urn:a:4\n\nHTTP",
        b"WARC/1.0\r\nContent-Length: 3\r\n\r\nabc",
    ]
)
RECORDS = st.lists(
    st.tuples(
        BLOCKS,
        st.sampled_from([(URI, HTTP), (URI,), (HTTP,), ("WARC-Target-URI: https://example.org/a.gz",), ()]),
        st.sampled_from(["resource", "response", "request", "revisit"]),
        st.sampled_from([None, None, None, 0, 3, 10**6]),
        st.sampled_from([b"\r\n\r\n", b"", b"\n", b"?\r\n"]),
        st.sampled_from([b"\r\n", b"\n"]),
    ),
    max_size=7,
)


@given(
    RECORDS,
    st.one_of(st.just(0), st.integers(0, 200)),
    st.sampled_from([Limits(), Limits(members=3), Limits(depth=1), Limits(depth=2)]),
)
def test_records_together_are_what_each_is_alone(tmp_path_factory, records, cut, limits):
    """Records that are taken together give the names, texts and errors of those that are taken one by one."""
    content = b"".join(
        record(block, number, *fields, kind=kind, length=length, end=end, newline=newline)
        for number, (block, fields, kind, length, end, newline) in enumerate(records)
    )
    path = tmp_path_factory.getbasetemp() / "records.warc"
    path.write_bytes(b"WARC/1.0\r\nContent-Length: 0\r\n\r\n" + content[: len(content) - cut])
    together = contents(path, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warc._WarcRecords, "_run", lambda _: None)
        assert contents(path, limits) == together


def test_plain_records_are_taken_together():
    """A web archive of pages costs no reader for each."""
    content = b"".join(record(PAGE, number, URI, HTTP, kind="response") for number in range(9))
    (texts,) = open_warc(Given(content, most=len(content)), layer())
    assert [bytes(texts.data[start:end]) for start, end in zip(texts.starts, texts.ends, strict=True)] == [
        b"urn:b:2"
    ] * 9


def test_some_of_the_texts_have_their_own_names():
    """The names tell which members may be of a form: those of others would let a packed member pass for text."""
    content = b"".join(record(PAGE, number, URI, HTTP, kind="response") for number in range(9))
    (texts,) = open_warc(Given(content, most=len(content)), layer())

    def names(some):
        return [bytes(some.names.data[start:end]) for start, end in zip(*some.names[1:], strict=True)]

    assert len(set(names(texts))) == 9
    assert names(texts.between(2, 5)) == names(texts)[2:5]
    assert names(texts.chosen([number % 2 == 0 for number in range(9)])) == names(texts)[::2]


HEADER_LINES = [
    "Content-Type: application/http;msgtype=response",
    "content-type : text/plain",
    "CONTENT-TYPE:",
    "WARC-Date:  2024-05-06T10:00:00Z \t",
    "WARC-Type: revisit",
    "WARC-Target-URI: <https://example.org/\xe9\x07>",
    "WARC-Target-URI: a",
    " folded",
    "no field",
    "WARC/1.0",
    "WARC-Record-ID-Of: x",
    "Content-Length: 3",
]
MESSAGE_LINES = [
    "HTTP/1.1 200 OK",
    "HTTP/1.1 100 Continue",
    "http/1.1 200",
    "GET / HTTP/1.1",
    "GET HTTP/1.1",
    "ICY 200",
    "Server: x",
    "Content-Type : text/html",
    "Content-Encodings: no",
    "content-encoding: gzip",
    "Transfer-Encoding : chunked",
    " folded",
    "a stray line",
    "urn:a:1",
    "",
    "",
]
NEWLINES = st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", "\r\r\n"])


@st.composite
def odd_records(draw):
    """A record whose headers, and those of a message in it, are usual in most lines."""
    lines = draw(st.lists(st.tuples(st.sampled_from(MESSAGE_LINES), NEWLINES), max_size=6))
    block = "".join(line + newline for line, newline in lines).encode() + b"urn:b:2"
    lines = draw(st.lists(st.tuples(st.sampled_from(HEADER_LINES), NEWLINES), max_size=4))
    known = [("WARC-Record-ID: <urn:uuid:1>", "\r\n"), (f"Content-Length: {len(block)}", "\r\n")]
    lines = draw(st.permutations([*lines, *known[draw(st.integers(0, 9)) == 0 :]]))
    head = "".join(line + newline for line, newline in [("WARC/1.0", draw(NEWLINES)), *lines, ("", draw(NEWLINES))])
    return head.encode("latin-1") + block + b"\r\n\r\n"


@pytest.mark.full
@given(st.lists(odd_records(), min_size=1, max_size=6), st.integers(0, 60))
def test_compiled_code_finds_the_records_that_patterns_find(tmp_path_factory, records, cut):
    """Names, captures, texts and errors are those of the patterns, whatever is odd in a header."""
    content = record(b"first", 9, kind="warcinfo") + b"".join(records)
    path = tmp_path_factory.getbasetemp() / "odd.warc"
    path.write_bytes(content[: len(content) - cut])

    def text_of(reader):
        view = memoryview(bytearray(1 << 12))
        try:
            return bytes(view[: reader.read_into(view)])
        except SourceError as error:
            return str(error)

    def all_of_it():
        return [
            str(found) if isinstance(found, SourceError) else (found.member, found.capture, text_of(found.reader))
            for found in open_documents(Input(str(path), str(path), len(content)), Reading())
        ]

    compiled = all_of_it()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warc.UsualRecords, "find", lambda _, content: (Texts.of(content, []), 0))
        assert all_of_it() == compiled


# Lengths that are wrong

CODED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"urn:a:coded ")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nurn:a:1\r\n0\r\n\r\n"


def lost(where, name, content, upto="the next record"):
    """The message for bytes that are no record behind one of this name."""
    ends = f"where {urn(name)} ends by its length"
    return f"x.warc: damaged at byte {where}: no record begins here, {ends}; {content} bytes affected, up to {upto}"


@pytest.mark.parametrize("most", [1, 60, 1 << 20])
@pytest.mark.parametrize("block", [PAGE, CODED, CHUNKED], ids=["page", "coded", "chunked"])
def test_a_length_that_is_too_large_is_told(block, most):
    """What it swallows is no record; behind it the next one is found."""
    swallowed = record(b"urn:a:2", 2)
    long = record(block, 1, HTTP, kind="response", length=len(block) + len(swallowed) - 20)
    out = read(long + swallowed + record(b"urn:a:3", 3), most=most)
    assert [item if isinstance(item, str) else item[0] for item in out] == [
        urn(1),
        f"byte {len(long + swallowed) - 24}",
        lost(len(long + swallowed) - 24, 1, 24),
        urn(3),
    ]


def test_a_length_that_is_too_large_for_the_file_is_told():
    """What looks like records in it is its text."""
    rest = record(b"urn:c:3", 2)
    (name, text), error = read(record(PAGE, 1, HTTP, kind="response", length=10**6) + rest)
    assert (name, text) == (urn(1), b"urn:b:2\r\n\r\n" + rest)
    assert error == f"x.warc!/{urn(1)}: truncated: only {len(PAGE) + 4 + len(rest)} of 1,000,000 bytes are present"


@pytest.mark.parametrize("most", [1, 60, 1 << 20])
def test_a_right_length_is_kept_whatever_the_record_holds(most):
    """An archive in a record, at its beginning, in a page, or behind other text, is no record of this one."""
    inner = record(b"urn:b:1", 8) + record(b"urn:b:2", 9)
    blocks = [inner, b"a page\r\n\r\n" + inner + b"about it", b"\n" + inner[:-4]]
    content = b"".join(record(block, number) for number, block in enumerate(blocks))
    assert read(content, most=most) == [(urn(number), block) for number, block in enumerate(blocks)]
    page = record(b"HTTP/1.1 200 OK\r\n\r\n" + inner, 1, HTTP, kind="response")
    assert read(page + page, most=most) == [(urn(1), inner)] * 2


@pytest.mark.parametrize("length", [0, 1, 3, 8])
@pytest.mark.parametrize("most", [1, 50, 1 << 20])
@pytest.mark.parametrize("last", [False, True])
def test_a_length_that_is_too_small_is_told(length, most, last):
    """The text is as long as the header says; the rest is a text of its own, and how much that is, is told."""
    good = b"" if last else record(b"urn:a:2", 2)
    bad = record(b"urn:bad:1", 1, length=length)
    out = read(bad + good, most=most)
    error = lost(len(bad) - 13 + length, 1, 13 - length, "the end" if last else "the next record")
    rest = f"byte {len(bad) - 13 + length}", bad[length - 13 :]
    assert out == [(urn(1), b"urn:bad:1"[:length]), rest, error, *([] if last else [(urn(2), b"urn:a:2")])]


@pytest.mark.parametrize("length", ["x", "9" * 20, ""])
@pytest.mark.parametrize("most", [1, 60, 1 << 20])
def test_a_record_without_a_length_ends_at_the_next(length, most):
    """Only damaged data is lost: such a record was skipped, with all names in it."""
    blocks = [CODED, CHUNKED, PAGE * 3]
    records = [record(block, number, HTTP, kind="response", length=length) for number, block in enumerate(blocks)]
    out = read(b"".join(records) + record(b"urn:a:9", 9), most=most, size=7)
    members = [item for item in out if isinstance(item, tuple)]
    assert [name for name, _ in members] == [urn(number) for number in (0, 1, 2, 9)]
    texts = [b"urn:a:coded ", b"urn:a:1", PAGE.split(b"\r\n\r\n")[1] + PAGE * 2, b"urn:a:9"]
    assert [text.strip(b"\r\n") for _, text in members] == texts
    where = [0, len(records[0]), len(records[0] + records[1])]
    assert [error.partition(": a ")[0] for error in out if isinstance(error, str)] == [
        f"x.warc: damaged at byte {byte}" for byte in where
    ]


@pytest.mark.parametrize("most", [1, 5000, 1 << 20])
def test_what_follows_damage_in_a_record_is_text(most):
    """Names after the damage are found, however far the next record is."""
    rest = BODY * (1 if most == 1 else 90)
    damage = DamageError("x.warc.bz2", "is torn")
    out = read(record(BODY, 1)[:500], damage, rest + record(b"urn:a:2", 2), most=most, size=999)
    assert [item if isinstance(item, str) else item[0] for item in out[1:]] == [
        "x.warc.bz2: is torn",
        "byte 500",
        urn(2),
    ]
    assert out[2][1] == rest


@pytest.mark.parametrize("error", [DamageError("x.warc.gz", "is torn"), SourceError("x.warc.gz", "is gone")])
def test_what_fails_behind_the_end_of_a_coding_is_told(error):
    """Though no text comes from there; after a damage the records behind it are read."""
    long = record(CODED, 1, HTTP, kind="response", length=10**6)
    out = read(long, error, record(b"urn:a:3", 3))
    rest = [(urn(3), b"urn:a:3")] if isinstance(error, DamageError) else []
    assert out == [(urn(1), b"urn:a:coded "), str(error), *rest]


def test_records_that_are_too_deep_are_told():
    assert read(record(b"urn:a:1", 1), limits=Limits(depth=0)) == [
        "x.warc: is nested more than 0 deep, so it is not read; max_depth allows more"
    ]


def test_memory_is_bounded():
    """A large record passes through the view alone; what is held besides is room for the heads of many small ones."""
    tracemalloc = pytest.importorskip("tracemalloc")

    class Endless(Reader):
        left = 1 << 28

        def __init__(self):
            self.head = record(b"", 1, length=1 << 28, end=b"")

        def read_into(self, view):
            if self.head:
                got, self.head = len(self.head), b""
                view[:got] = record(b"", 1, length=1 << 28, end=b"")
                return got
            got = min(self.left, len(view))
            self.left -= got
            return got

        def close(self):
            pass

    view = memoryview(bytearray(1 << 20))
    tracemalloc.start()
    try:
        read_all = [reader.read_into(view) for _, reader in one_by_one(open_warc(Endless(), layer()))]
        assert len(read_all) == 1
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


# Beside others


def compressed_raw(content):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


def chunks(content):
    pieces = [content[at : at + 1000] for at in range(0, len(content), 1000)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


BODIES = [
    ([], BODY),
    ([("Transfer-Encoding", "chunked")], chunks(BODY)),
    ([("Transfer-Encoding", "chunked")], BODY),
    ([("Content-Encoding", "gzip")], gzip.compress(BODY)),
    ([("Content-Encoding", "gzip")], BODY),
    ([("Content-Encoding", "br")], brotli.compress(BODY)),
    ([("Content-Encoding", "deflate")], zlib.compress(BODY)),
    ([("Content-Encoding", "deflate")], compressed_raw(BODY)),
    ([("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")], chunks(gzip.compress(BODY))),
    ([("Content-Encoding", "br"), ("Transfer-Encoding", "chunked")], chunks(brotli.compress(BODY))),
    ([], b""),
]


@pytest.fixture(params=["1.0", "1.1"])
def archive(request):
    """What warcio writes."""
    writer_module = pytest.importorskip("warcio.warcwriter")
    from warcio.statusandheaders import StatusAndHeaders

    out = io.BytesIO()
    writer = writer_module.WARCWriter(out, gzip=False, warc_version=request.param)
    writer._create_temp_file = io.BytesIO  # it leaves its own open
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "urn:a:1"}))
    for number, (fields, body) in enumerate(BODIES):
        headers = StatusAndHeaders("200 OK", [("X", "urn:a:1"), *fields], protocol="HTTP/1.1")
        uri = f"https://example.org/{number}"
        response = writer.create_warc_record(uri, "response", payload=io.BytesIO(body), http_headers=headers)
        asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
        writer.write_request_response_pair(writer.create_warc_record(uri, "request", http_headers=asked), response)
        headers = StatusAndHeaders("200 OK", [("X", "urn:a:1")], protocol="HTTP/1.1")
        writer.write_record(
            writer.create_revisit_record(uri, "sha1:X", uri, "2024-01-01T00:00:00Z", http_headers=headers)
        )
    writer.write_record(writer.create_warc_record("urn:x:y", "resource", payload=io.BytesIO(BODY)))
    return out.getvalue()


def test_warcio_reads_the_same(archive, monkeypatch):
    """The same records, URIs and decoded bodies."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.bufferedreaders import BufferedReader

    class Brotli:
        """What warcio (1.8) needs a decompressor to be, which that of brotli (1.2) is not."""

        unused_data = b""

        def __init__(self):
            self.decompress = brotli.Decompressor().process

    monkeypatch.setitem(BufferedReader.DECOMPRESSORS, "br", Brotli)
    want = []
    for found in ArchiveIterator(io.BytesIO(archive)):
        uri = found.rec_headers.get_header("WARC-Target-URI")
        name = found.rec_headers.get_header("WARC-Record-ID")
        want.append((f"{uri} {name}" if uri else name, found.content_stream().read()))
    assert len(want) == 2 + 3 * len(BODIES)
    assert read(archive, most=3333) == want


def test_fastwarc_reads_the_same(archive):
    """The same records and, where it decodes (br it does not, and bodies not as announced are lost), the same bodies."""
    fastwarc = pytest.importorskip("fastwarc")
    want = [(found.record_id, found.reader.read()) for found in fastwarc.ArchiveIterator(io.BytesIO(archive))]
    out = [(re.search(r"<(.*)>", name)[1], content) for name, content in read(archive)]
    assert [name for name, _ in out] == [name.strip("<>") for name, _ in want]
    plain = [number for number, (_, content) in enumerate(want) if content in (BODY, b"")]
    assert len(plain) > len(BODIES)
    for number in plain:
        assert out[number][1] == want[number][1]


def test_where_warcio_reads_otherwise():
    """RFC 9110, 8.4 lists codings in any number, RFC 9112, 7 tokens in any case; warcio takes off one, in lower case."""
    from_warcio = pytest.importorskip("warcio.archiveiterator")
    for fields, body in (
        ("Content-Encoding: gzip, br", brotli.compress(gzip.compress(BODY))),
        ("Transfer-Encoding: Chunked", chunks(BODY)),
        ("Content-Encoding: x-gzip", gzip.compress(BODY)),
        ("Content-Encoding: gzip", gzip.compress(BODY[:500]) + gzip.compress(BODY[500:])),
    ):
        content = record(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode() + body, 1, URI, HTTP, kind="response")
        (theirs,) = (found.content_stream().read() for found in from_warcio.ArchiveIterator(io.BytesIO(content)))
        ((_, ours),) = read(content)
        assert ours == BODY != theirs


WACZ = Path(__file__).parents[2] / "data" / "harvest.wacz"


def opened(path, **reading):
    """(member, capture) of each document in a file, and errors."""
    found = open_documents(Input(path.name, str(path), path.stat().st_size), Reading(**reading))
    return [str(each) if isinstance(each, SourceError) else (each.member, each.capture) for each in found]


def test_wacz_of_the_usual_program():
    """What py-wacz wrote: the records with their captures, and the other members as text."""
    members = opened(WACZ)
    records = [(member, capture) for member, capture in members if capture is not None]
    assert [member for member, capture in members if capture is None] == [
        *("indexes/index.cdx.gz", "indexes/index.idx"),
        *("pages/pages.jsonl", "datapackage.json", "datapackage-digest.json"),
    ]
    plain = Path(WACZ.parent, "samples", "harvest.warc.gz")
    assert records == [(f"archive/harvest.warc.gz!/{member}", capture) for member, capture in opened(plain)]
    assert len(records) == 3
    assert opened(WACZ, where=read_where("status=200")) == records[1:2]


@pytest.mark.parametrize("pack", [tar, zipped])
def test_conditions_reach_web_archives_in_an_archive(pack, tmp_path):
    """Small members of an archive have no capture of their own; the records of a web archive among them have one."""
    plain = Path(WACZ.parent, "samples", "harvest.warc.gz")
    path = tmp_path / "packed"
    path.write_bytes(pack([("a.txt", b"urn:a:text"), ("b.warc.gz", plain.read_bytes()), ("c.txt", b"urn:a:text")]))
    where = read_where("status=200")
    records = [(f"b.warc.gz!/{member}", capture) for member, capture in opened(plain, where=where)]
    assert len(records) == 1
    assert opened(path, where=where) == records


def test_wacz_whose_first_header_is_damaged_is_known_by_its_name(tmp_path):
    """It costs the member in front, an index; the bytes are no text."""
    path = tmp_path / "a.wacz"
    path.write_bytes(b"\x00" + WACZ.read_bytes()[1:])
    members = opened(path)
    assert "skipped" in members[0]
    assert [each for each in members[1:] if isinstance(each, str)] == []
    assert len([each for each in members[1:] if each[1] is not None]) == 3


@pytest.mark.parametrize("most", [1, 50, 1 << 20])
def test_segments_of_a_record_are_told_once(most):
    """ISO 28500, 6.9: a name over two segments is not found, so one message says so; each segment is read all the same."""
    first = record(b"urn:isbn:97803", 1, URI, "WARC-Segment-Number: 1")
    others = [
        record(b"95363416", number, URI, f"WARC-Segment-Number: {number}", kind="continuation") for number in (2, 3)
    ]
    name = f"https://example.org/a {urn(2)}"
    reason = "is a segment of another record (WARC-Type: continuation): segments are read each on its own"
    assert read(first, *others, record(b"urn:a:b", 4), most=most) == [
        (f"https://example.org/a {urn(1)}", b"urn:isbn:97803"),
        f"x.warc!/{name}: {reason}, so a name over two of them is not found",
        (name, b"95363416"),
        (f"https://example.org/a {urn(3)}", b"95363416"),
        (urn(4), b"urn:a:b"),
    ]
