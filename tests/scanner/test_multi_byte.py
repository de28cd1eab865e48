"""Letters before a name that are the last byte of a character: docs/reference/syntax.md, where a URN begins."""

import gzip
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import urnscan
from tests.support.packed import zipped
from urnscan.compiled.jit import read_only
from urnscan.formats.captures import Capture
from urnscan.formats.declared_encodings import declared_characters
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.urn.syntax import get_syntax

NAME = "urn:isbn:9780395363416"
ENCODINGS = ["shift_jis", "windows-31j", "gbk", "gb2312", "gb18030", "big5", "euc-kr"]
LETTERS = {
    "shift_jis": "ア",
    "windows-31j": "ア",
    "gbk": "丄",
    "gb2312": "丄",
    "gb18030": "丄",
    "big5": "丁",
    "euc-kr": "갂",
}
"""Characters whose last byte is an ASCII letter."""


def coded(text, encoding):
    return text.encode({"gb2312": "gbk", "euc-kr": "cp949", "windows-31j": "cp932"}.get(encoding, encoding))


def texts(path, **options):
    return [
        (row["text"], row["start"]) for row in urnscan.scan(path, progress=False, **options).occurrences.to_pylist()
    ]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "declared",
    [
        '<meta charset="{}">',
        "<META http-equiv=a content='text/html; charset={}'>",
        "<?xml version='1.0' encoding='{}'?>",
    ],
)
def test_a_declared_encoding(tmp_path, encoding, declared):
    """The name begins; the place is that in the file. Without a declaration the letter is one of a word."""
    text = f"<p>{LETTERS[encoding]}{NAME} x"
    assert chr(coded(LETTERS[encoding], encoding)[-1]).isalpha()
    data = coded(declared.format(encoding) + text, encoding)
    (tmp_path / "a.html").write_bytes(data)
    assert texts(tmp_path / "a.html") == [(NAME, data.index(b"urn:isbn"))]
    (tmp_path / "b.html").write_bytes(coded(text, encoding))
    assert texts(tmp_path / "b.html") == []
    for name, packed in (
        ("c.gz", gzip.compress(data)),
        ("d.zip", zipped([("a", b"x"), ("b", data), ("c", data)])),
    ):
        (tmp_path / name).write_bytes(packed)
        assert {text for text, _ in texts(tmp_path / name)} == {NAME}


def test_the_answer_of_http_counts_before_the_text(tmp_path):
    """WARC: as browsers do. A text that the answer calls UTF-8 is no Shift_JIS, whatever it says."""
    body = coded(f'<meta charset="utf-8">ア{NAME}', "shift_jis")
    for charset, expected in (("Shift_JIS", [NAME]), ("x-sjis", [NAME]), ("utf-8", [])):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%b\r\n\r\n" % charset.encode()
        block = head + body
        record = (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http\r\n"
        )
        record += b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(block), block)
        (tmp_path / "a.warc").write_bytes(record)
        assert [text for text, _ in texts(tmp_path / "a.warc")] == expected


def test_a_letter_behind_a_character_is_one(tmp_path):
    """Each character is taken apart from the first: `アreturn:x:y` has no name, and UTF-8 that says it is GBK loses none."""
    data = coded("<meta charset=shift_jis>アreturn:a:b アyurn:c:d\nアaurn:e:f ", "shift_jis")
    (tmp_path / "a.html").write_bytes(data + coded(f"アイア{NAME}", "shift_jis"))
    assert [text for text, _ in texts(tmp_path / "a.html")] == [NAME]
    (tmp_path / "b.html").write_text(f"<meta charset=gbk>中{NAME} é{NAME} 中文{NAME}")
    assert [text for text, _ in texts(tmp_path / "b.html")] == [NAME] * 3


def test_the_end_of_iso_2022(tmp_path):
    """`ESC ( B` goes back to ASCII: its letter is none of the text."""
    (tmp_path / "a.txt").write_bytes(f"日本語{NAME}".encode("iso2022_jp"))
    assert [text for text, _ in texts(tmp_path / "a.txt")] == [NAME]


def test_what_declares_what():
    assert declared_characters(b"<meta charset=euc-jp>") is None
    assert declared_characters(b" " * 1024 + b"<meta charset=gbk>") is None
    assert declared_characters(b"<meta charset=nonsense>") is None
    assert declared_characters(b"", Capture(content_type=b"text/html; charset=GBK")) is not None


_pieces = st.lists(
    st.sampled_from(
        [b"\x83\x41", b"\x83A" + NAME.encode(), b"x", b" ", b"\xb1", b"Aurn:a:b", b"\x83", b"\n", b"\x81\x30"]
    ),
    max_size=40,
)


@settings(deadline=None)
@given(_pieces, st.integers(1, 50))
def test_the_result_does_not_depend_on_blocks(pieces, size):
    """Decisions hold when bytes are scanned again with the next block."""
    data = b"".join(pieces)
    characters = declared_characters(b"<meta charset=shift_jis>")

    def found(matches):
        return [
            (start, length)
            for each in matches
            for start, length in zip(each.start.tolist(), each.length.tolist(), strict=True)
        ]

    import numpy as np

    grammar = Grammar(get_syntax("rfc2141"))
    whole, parted = Scanner(grammar), Scanner(grammar, block=size)
    for scanner in (whole, parted):
        scanner.multi_byte.characters_at = lambda _: characters
    left = memoryview(data)

    def read(view):
        nonlocal left
        got = min(len(view), len(left), size)
        view[:got] = left[:got]
        left = left[got:]
        return got

    array = read_only(np.frombuffer(data, np.uint8)) if data else np.empty(0, np.uint8)
    assert found(whole.scan_bytes(array)) == found(parted.scan(read))


def test_time_is_linear(tmp_path):
    """A text of nothing but such letters, without a place where a character surely ends."""
    taken = []
    for count in (20_000, 80_000):
        (tmp_path / "a.html").write_bytes(b'<meta charset="gbk">' + b"\x83Aurn:" * count)
        begun = time.process_time()
        urnscan.scan(tmp_path / "a.html", progress=False)
        taken.append(time.process_time() - begun)
    assert taken[1] < 12 * taken[0]
