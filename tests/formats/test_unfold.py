"""Which readers an input gets, by its beginning and by the encoding that was named."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.errors import FatalError, SourceError
from urnscan.formats.context import Reading
from urnscan.formats.encodings import Transcoder
from urnscan.formats.unfold import is_splittable, open_documents
from urnscan.stores.input import Input

MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def text_of(path, encoding=None, size=5):
    """The only text in a file, read in pieces of `size` bytes, and its reader."""
    view = memoryview(bytearray(size))
    out = b""
    for document in open_documents(Input("file", str(path), None), Reading(encoding)):
        assert document.member is None
        while got := document.reader.read_into(view):
            out += view[:got]
    return out, document.reader


@pytest.fixture
def read(tmp_path):
    def read(data, encoding=None):
        (tmp_path / "file").write_bytes(data)
        return text_of(tmp_path / "file", encoding)[0]

    return read


@pytest.fixture
def splittable(tmp_path):
    def splittable(data, encoding=None):
        (tmp_path / "file").write_bytes(data)
        return is_splittable(Input("file", str(tmp_path / "file"), len(data)), Reading(encoding))

    return splittable


@pytest.mark.parametrize("codec", MARKS)
@given(text=TEXT, size=st.integers(1, 40))
def test_a_byte_order_mark_is_recognised_and_dropped(tmp_path_factory, codec, text, size):
    """Any text, any size of view; only a UTF-16-LE text that begins with NUL looks like UTF-32-LE."""
    if codec == "utf-16-le" and text.startswith("\0"):
        text = "x" + text
    path = tmp_path_factory.getbasetemp() / "marked"
    path.write_bytes(MARKS[codec] + text.encode(codec))
    assert text_of(path, size=size)[0] == text.encode()


def test_a_second_mark_is_text(read):
    assert read(codecs.BOM_UTF16_LE * 2 + "a".encode("utf-16-le")) == "\ufeffa".encode()


@pytest.mark.parametrize("codec", MARKS)
def test_a_mark_wins_over_the_encoding_that_was_named(read, splittable, codec):
    data = MARKS[codec] + "urn:é:y".encode(codec)
    for encoding in (None, "utf-8", "cp1252", "utf-16", "cp037"):
        assert read(data, encoding) == "urn:é:y".encode()
        assert not splittable(data, encoding)


def test_the_mark_of_utf8_belongs_to_the_text_and_wins_too(read, splittable):
    data = codecs.BOM_UTF8 + "é".encode()
    for encoding in (None, "utf-8", "utf-8-sig", "latin-1", "utf-16-be"):
        assert read(data, encoding) == data
        assert splittable(data, encoding)


@pytest.mark.parametrize(
    "data", [b"", b"a", b"\xff", b"\xfe", b"\x00", b"\x00\x00\xfe", b"\xef\xbb", b"\xfe\xfe", b"\x00\x00"]
)
def test_what_only_begins_like_a_mark_is_as_it_is(read, splittable, data):
    assert read(data) == data
    assert splittable(data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (codecs.BOM_UTF16_LE, ""),
        (codecs.BOM_UTF16_BE, ""),
        (codecs.BOM_UTF32_LE, ""),
        (codecs.BOM_UTF32_BE, ""),
        (codecs.BOM_UTF16_LE + b"\x00a", "愀"),
        (codecs.BOM_UTF16_LE + b"a\x00", "a"),
    ],
)
def test_short_texts_with_a_mark(read, data, text):
    assert read(data) == text.encode()


@given(st.binary(max_size=60), st.sampled_from([None, "utf-8", "UTF8", "ascii", "us-ascii", "utf-8-sig"]))
def test_bytes_are_given_as_they_are(tmp_path_factory, data, encoding):
    """Whatever they are: no encoding, utf-8 and ascii decode nothing, so nothing is invalid."""
    path = tmp_path_factory.getbasetemp() / "bytes"
    data = b"e" + data.replace(b"\0", b"")  # no mark, no sign of a packed form, and no pattern of NULs
    path.write_bytes(data)
    text, reader = text_of(path, encoding, size=100)
    assert text == data
    assert not isinstance(reader, Transcoder)


def test_an_encoding_that_was_named(read, splittable):
    assert read("urn:é:y".encode("cp037"), "cp037") == "urn:é:y".encode()
    assert read("urn:é:y".encode("latin-1"), "Latin1") == "urn:é:y".encode()
    assert not splittable(b"abc", "cp037")


def test_utf16_without_a_mark_is_little_endian_on_every_machine(read):
    assert read("urn:é:y".encode("utf-16-le"), "UTF-16") == "urn:é:y".encode()
    assert read("urn:é:y".encode("utf-32-le"), "utf32") == "urn:é:y".encode()


def test_only_regular_files_can_be_split(tmp_path):
    assert not is_splittable(Input("-", None, None), Reading())
    assert not is_splittable(Input("fifo", str(tmp_path / "not even opened"), None), Reading())
    with pytest.raises(SourceError, match="nope: No such file or directory"):
        is_splittable(Input("nope", str(tmp_path / "nope"), 5), Reading())


def test_an_unknown_encoding_ends_the_run(read, splittable):
    for function in (read, splittable):
        with pytest.raises(FatalError, match="'nope'"):
            function(b"abc", "nope")


WIDE = st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])


class TestWithoutAMark:
    """ "UTF-16/32 … without [a byte order mark] where the NUL pattern is unmistakable; everything else is scanned as bytes." """

    @given(text=st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=6), codec=WIDE)
    def test_ascii(self, tmp_path_factory, text, codec):
        path = tmp_path_factory.getbasetemp() / "wide"
        path.write_bytes(text.encode(codec))
        assert text_of(path)[0] == text.encode()

    @given(codec=WIDE)
    def test_other_letters_among_them(self, tmp_path_factory, codec):
        path = tmp_path_factory.getbasetemp() / "wide"
        text = "Œuvres complètes: urn:nbn:de:1, 第 1 巻"
        path.write_bytes(text.encode(codec))
        assert text_of(path)[0] == text.encode()

    @pytest.mark.parametrize(
        "data",
        [
            b"urn:a:b\0urn:c:d\0",  # separated by NUL
            b"\0" * 64,
            b"a\0b\0",  # too short to tell
            b"a\0" * 8 + b"\0\0" + b"b\0" * 8,  # U+0000
            bytes(range(256)) * 2,
            "第一章第二章第三章第四章第五章".encode("utf-16-le"),  # no NULs
            b"".join(bytes([n % 256, n // 256]) for n in range(0, 9000, 45)),  # numbers
        ],
    )
    def test_mistakable(self, read, splittable, data):
        assert read(data) == data
        assert splittable(data)

    def test_an_encoding_that_was_named_wins(self, read):
        text = "urn:a:b".encode("utf-16-le")
        assert read(text, "latin-1") == text.decode("latin-1").encode()
        assert read(text, "utf-8") == text

    def test_is_not_split(self, splittable):
        assert not splittable("urn:a:b".encode("utf-16-le"))
