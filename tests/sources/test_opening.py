"""Which readers an input gets, by its beginning and by the encoding that was named."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.errors import FatalError, SourceError
from urnscan.sources import Input, is_splittable, open_input
from urnscan.sources.files import File

MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.fixture
def read(tmp_path):
    def read(octets, encoding=None, size=5):
        (tmp_path / "file").write_bytes(octets)
        view = memoryview(bytearray(size))
        out = b""
        with open_input(Input("file", str(tmp_path / "file"), len(octets)), encoding) as reader:
            while got := reader.read_into(view):
                out += view[:got]
        return out

    return read


@pytest.fixture
def splittable(tmp_path):
    def splittable(octets, encoding=None):
        (tmp_path / "file").write_bytes(octets)
        return is_splittable(Input("file", str(tmp_path / "file"), len(octets)), encoding)

    return splittable


@pytest.mark.parametrize("codec", MARKS)
@given(text=TEXT, size=st.integers(1, 40))
def test_a_byte_order_mark_is_recognised_and_dropped(tmp_path_factory, codec, text, size):
    """Any text, any size of view; only a UTF-16-LE text that begins with NUL looks like UTF-32-LE."""
    if codec == "utf-16-le" and text.startswith("\0"):
        text = "x" + text
    path = tmp_path_factory.getbasetemp() / "marked"
    path.write_bytes(MARKS[codec] + text.encode(codec))
    view = memoryview(bytearray(size))
    out = b""
    with open_input(Input("marked", str(path), None)) as reader:
        while got := reader.read_into(view):
            out += view[:got]
    assert out == text.encode()


def test_a_second_mark_is_text(read):
    assert read(codecs.BOM_UTF16_LE * 2 + "a".encode("utf-16-le")) == "\ufeffa".encode()


@pytest.mark.parametrize("codec", MARKS)
def test_a_mark_wins_over_the_encoding_that_was_named(read, splittable, codec):
    octets = MARKS[codec] + "urn:é:y".encode(codec)
    for encoding in (None, "utf-8", "cp1252", "utf-16", "cp037"):
        assert read(octets, encoding) == "urn:é:y".encode()
        assert not splittable(octets, encoding)


def test_the_mark_of_utf8_belongs_to_the_text_and_wins_too(read, splittable):
    octets = codecs.BOM_UTF8 + "é".encode()
    for encoding in (None, "utf-8", "utf-8-sig", "latin-1", "utf-16-be"):
        assert read(octets, encoding) == octets
        assert splittable(octets, encoding)


@pytest.mark.parametrize(
    "octets", [b"", b"a", b"\xff", b"\xfe", b"\x00", b"\x00\x00\xfe", b"\xef\xbb", b"\xfe\xfe", b"\x00\x00"]
)
def test_what_only_begins_like_a_mark_is_as_it_is(read, splittable, octets):
    assert read(octets) == octets
    assert splittable(octets)


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (codecs.BOM_UTF16_LE, ""),
        (codecs.BOM_UTF16_BE, ""),
        (codecs.BOM_UTF32_LE, ""),
        (codecs.BOM_UTF32_BE, ""),
        (codecs.BOM_UTF16_LE + b"\x00a", "愀"),
        (codecs.BOM_UTF16_LE + b"a\x00", "a"),
    ],
)
def test_short_texts_with_a_mark(read, octets, text):
    assert read(octets) == text.encode()


@given(st.binary(max_size=60), st.sampled_from([None, "utf-8", "UTF8", "ascii", "us-ascii", "utf-8-sig"]))
def test_octets_are_given_as_they_are(tmp_path_factory, octets, encoding):
    """Whatever they are: no encoding, utf-8 and ascii decode nothing, so nothing is invalid."""
    path = tmp_path_factory.getbasetemp() / "octets"
    octets = b"x" + octets  # no mark
    path.write_bytes(octets)
    view = memoryview(bytearray(100))
    with open_input(Input("octets", str(path), len(octets)), encoding) as reader:
        assert isinstance(reader, File)
        assert view[: reader.read_into(view)] == octets


def test_an_encoding_that_was_named(read, splittable):
    assert read("urn:é:y".encode("cp037"), "cp037") == "urn:é:y".encode()
    assert read("urn:é:y".encode("latin-1"), "Latin1") == "urn:é:y".encode()
    assert not splittable(b"abc", "cp037")


def test_utf16_without_a_mark_is_little_endian_on_every_machine(read):
    assert read("urn:é:y".encode("utf-16-le"), "UTF-16") == "urn:é:y".encode()
    assert read("urn:é:y".encode("utf-32-le"), "utf32") == "urn:é:y".encode()


def test_only_regular_files_can_be_split(tmp_path):
    assert not is_splittable(Input("-", None, None), None)
    assert not is_splittable(Input("fifo", str(tmp_path / "not even opened"), None), None)
    with pytest.raises(SourceError, match="nope: No such file or directory"):
        is_splittable(Input("nope", str(tmp_path / "nope"), 5), None)


def test_an_unknown_encoding_ends_the_run(read, splittable):
    for function in (read, splittable):
        with pytest.raises(FatalError, match="'nope'"):
            function(b"abc", "nope")
