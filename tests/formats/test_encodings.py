"""Transcoding: the text is the same however it is cut, and what is wrong with it is said."""

import codecs
import encodings.aliases
import re
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.packed import Given
from urnscan import scan
from urnscan.errors import DamageError, FatalError, SourceError
from urnscan.formats.context import Layer, Reading
from urnscan.formats.encodings import Transcoder, check_encoding
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.unfold import open_documents
from urnscan.stores.input import Input
from urnscan.stores.reader import Reader

NO_TEXT = {"base64_codec", "bz2_codec", "hex_codec", "mbcs", "quopri_codec", "rot_13", "uu_codec", "zlib_codec"}
NOT_TRANSCODED = {"ascii", "punycode", "utf_8", "utf_16", "utf_32"}
SHIFTING = {name for name in encodings.aliases.aliases.values() if name.startswith(("iso2022", "utf_7"))}
CODECS = sorted(set(encodings.aliases.aliases.values()) - NO_TEXT - NOT_TRANSCODED - SHIFTING)
PIECES = [
    b"\x1b",
    b"$(",
    b"B",
    b"(J",
    b"~",
    b"{",
    b"+",
    b"-",
    b"2AA",
    b"/",
    b"\x0e",
    b"\x0f",
    b"\x81",
    b"0",
    b"\xd8\x00",
    b"\xff",
    b"\\",
    b"a ",
    b"\n",
]


def layer_of(name):
    return Layer(name, name, Reading(), Budget(name, Limits()))


class Parts(Reader):
    """A reader of what it is given, part by part."""

    def __init__(self, *parts):
        self.parts = list(parts)
        self.closed = False

    def read_into(self, view):
        if not self.parts:
            return 0
        part = self.parts.pop(0)
        view[: len(part)] = part
        return len(part)

    def close(self):
        self.closed = True


def transcode(codec, parts, size=50, mark=0):
    """The bytes that come out, and the error that is collected at the end, or None."""
    view = memoryview(bytearray(size))
    out = b""
    layer = layer_of("the name")
    with Transcoder(Parts(*parts), layer, codec, mark) as reader:
        while got := reader.read_into(view):
            assert got <= size
            out += view[:got]
        assert reader.read_into(view) == 0
    return out, next(layer.budget.collected(), None)


@st.composite
def cut(draw, content):
    """Bytes and the parts they are cut into."""
    whole = draw(content)
    places = sorted(draw(st.sets(st.integers(1, max(1, len(whole) - 1)), max_size=len(whole))))
    return whole, [part for a, b in zip([0, *places], [*places, None], strict=True) if (part := whole[a:b])]


def first_bad(content, codec):
    try:
        content.decode(codec)
    except UnicodeDecodeError as error:
        return error.start
    return None


@pytest.mark.parametrize(
    ("codec", "before", "after", "text"),
    [("utf-16-le", b"a\0b", b"c\0", b"ac"), ("shift_jis", b"a\x81", b"c", b"ac")],
)
def test_behind_damage_nothing_goes_on_that_was_begun(codec, before, after, text):
    """Not with half a character that the decoder keeps."""

    def pieces():
        while True:
            try:
                got = reader.read_into(view)
            except DamageError:
                continue
            if not got:
                return
            yield bytes(view[:got])

    view = memoryview(bytearray(9))
    with Transcoder(Given(before, DamageError("x", "a hole"), after), layer_of("x"), codec) as reader:
        assert b"".join(pieces()) == text


@pytest.mark.parametrize(
    "codec",
    [
        "latin-1",
        "cp1252",
        "cp037",
        "shift_jis",
        "gb18030",
        "euc_jp",
        "big5",
        "hz",
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
    ],
)
@given(data=st.data(), size=st.integers(1, 40))
def test_any_text_cut_anywhere(codec, data, size):
    """What the encoding can say comes out as it is, with views down to one byte."""
    # no control characters but LF: those that switch in ISO 2022 do not come through it
    text = data.draw(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n")))
    content, parts = data.draw(cut(st.just(text.encode(codec, "ignore"))))
    assert transcode(codec, parts, size) == (content.decode(codec).encode(), None)


@pytest.mark.full
@pytest.mark.parametrize("codec", CODECS)
@FEW
@given(st.data())
def test_any_bytes_in_any_encoding(codec, data):
    """All encodings of Python: the cuts do not show, and the place of the first bad sequence is exact."""
    canonical = check_encoding(codec)
    content = st.one_of(st.binary(max_size=20), st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
    content, parts = data.draw(cut(content))
    out, error = transcode(canonical, parts)
    text = content.decode(canonical, "replace")
    assert out == text.encode()
    start = first_bad(content, canonical)
    if start is None:
        assert error is None
    else:
        assert f"invalid {canonical.upper()} at byte {start}, " in error.reason


def test_what_the_error_says():
    content = "ab".encode("utf-16-le") + b"\x00\xd8" + "c".encode("utf-16-le")
    out, error = transcode("utf-16-le", [content])
    assert out.decode() == "ab\ufffdc"
    assert str(error) == ("the name: invalid UTF-16-LE at byte 4, read as U+FFFD; name the right one with encoding")
    out, error = transcode("utf-16-le", [content, content, content[:3]])
    assert out.decode() == "ab\ufffdcab\ufffdca\ufffd"
    assert error.reason == (
        "invalid UTF-16-LE at byte 4, read as U+FFFD (3 such places); name the right one with encoding"
    )


def test_behind_a_mark_the_place_is_that_in_the_file_and_no_option_helps():
    _, error = transcode("utf-16-le", [b"a\x00\x00", b"\xd8b\x00"], mark=2)
    assert error.reason == "invalid UTF-16-LE at byte 4, read as U+FFFD"


@given(cut(st.binary(max_size=40)), st.sampled_from(["utf-16-be", "utf-32-be", "shift_jis", "cp1252", "gb18030"]))
@example((b"\xd8\x00\xd8\x00\xdc\x00", [b"\xd8", b"\x00\xd8", b"\x00\xdc\x00"]), "utf-16-be")
def test_every_bad_place_is_counted(cut_bytes, codec):
    """As many as the error handler of Python would be called for."""
    content, parts = cut_bytes
    called = []

    def count(error):
        called.append(error.start)
        return "\ufffd", error.end

    codecs.register_error("test.count", count)
    content.decode(codec, "test.count")
    _, error = transcode(codec, parts)
    if not called:
        assert error is None
    else:
        said = re.search(r"\((\d+) such places\)", error.reason)
        assert (int(said[1]) if said else 1) == len(called)
        assert f"at byte {called[0]}," in error.reason


def test_a_replacement_character_in_the_text_is_no_error():
    assert transcode("utf-16-le", ["\ufffd".encode("utf-16-le")]) == ("\ufffd".encode(), None)


def test_what_is_decoded_already_is_not_held_back():
    """One read of the input a call, as the next may have to wait."""
    parts = Parts("urn:a:b".encode("utf-16-le") + b"\n", b"\x00c")
    view = memoryview(bytearray(100))
    with Transcoder(parts, layer_of("the name"), "utf-16-le") as reader:
        assert view[: reader.read_into(view)] == b"urn:a:b"
        assert len(parts.parts) == 1
        assert view[: reader.read_into(view)] == b"\n"


@pytest.mark.parametrize("codec", ["shift_jis", "utf-16-le"])
def test_bytes_that_cannot_be_decoded_cost_no_urn_at_the_end(tmp_path, codec):
    """The error was raised where the text ends, so the URN that ends there was taken for one that may go on."""
    bad = "\ud800".encode(codec, "surrogatepass") if codec == "utf-16-le" else b"\xff"
    (tmp_path / "file").write_bytes(bad + " urn:example:a".encode(codec))
    found = scan(str(tmp_path / "file"), encoding=codec)
    assert found.classes["urn"].to_pylist() == ["urn:example:a"]
    assert "U+FFFD" in str(found.report.failures[0])


def test_half_a_character_is_not_the_end():
    assert transcode("utf-16-le", [b"a", b"\x00", b"b", b"\x00"]) == (b"ab", None)


def test_blocks_larger_than_those_of_the_transcoder(tmp_path):
    text = "urn:é:\U0001f600日 " * 50_000
    for codec in ("utf-16-le", "gb18030"):
        (tmp_path / "file").write_bytes(("x" + text).encode(codec))
        view = memoryview(bytearray(1_000_003))
        out = b""
        for document in open_documents(Input("file", str(tmp_path / "file"), None), Reading(codec)):
            while got := document.reader.read_into(view):
                out += view[:got]
        assert out.decode() == "x" + text


def test_closing_closes_the_reader_below():
    parts = Parts(b"a")
    with Transcoder(parts, layer_of("the name"), "latin-1"):
        assert not parts.closed
    assert parts.closed


def test_an_error_of_the_reader_below_is_passed_on():
    class Broken(Parts):
        def read_into(self, _):
            raise SourceError("below", "Input/output error")

    with (
        Transcoder(Broken(), layer_of("the name"), "latin-1") as reader,
        pytest.raises(SourceError, match="below: Input/output"),
    ):
        reader.read_into(memoryview(bytearray(5)))


class TestOddities:
    def test_a_codec_that_breaks_its_word(self):
        """One that someone else registered, and that does not know error handlers."""

        class Stubborn(codecs.BufferedIncrementalDecoder):
            def _buffer_decode(self, *_):
                raise UnicodeError("no")

        def search(name):
            if name == "stubborn":
                return codecs.CodecInfo(lambda *_: (b"", 0), lambda *_: ("", 0), incrementaldecoder=Stubborn, name=name)
            return None

        codecs.register(search)
        try:
            wanted = pytest.raises(SourceError, match="the name: cannot be decoded as STUBBORN: no")
            with Transcoder(Parts(b"a"), layer_of("the name"), "stubborn") as reader, wanted:
                reader.read_into(memoryview(bytearray(5)))
        finally:
            codecs.unregister(search)

    def test_the_error_handler_is_for_decoding_only(self):
        with pytest.raises(UnicodeEncodeError):
            "é".encode("ascii", "urnscan.replace")

    def test_transcoders_in_several_threads_count_for_themselves(self):
        """The error handler is one for the whole process."""
        errors = {}

        def run(bad):
            parts = [b"\x81" * bad] * 50
            errors[bad] = [transcode("cp1252", parts)[1].reason for _ in range(20)]

        threads = [threading.Thread(target=run, args=(bad,)) for bad in (1, 2, 3, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for bad, reasons in errors.items():
            assert {re.search(r"\((\d+) such", reason)[1] for reason in reasons} == {str(50 * bad)}


class TestCheckEncoding:
    @pytest.mark.parametrize(
        ("name", "canonical"),
        [
            ("UTF8", "utf-8"),
            ("utf-16", "utf-16"),
            ("Latin 1", "iso8859-1"),
            ("windows-1252", "cp1252"),
            ("IBM037", "cp037"),
            ("sjis", "shift_jis"),
        ],
    )
    def test_a_known_name(self, name, canonical):
        assert check_encoding(name) == canonical

    @pytest.mark.parametrize(
        "name",
        [
            "nope",
            "",
            ".",
            "é",
            "a\0b",
            "\ud800",
            "aliases",
            "rot13",
            "base64",
            "hex",
            "zlib",
            "idna",
            "undefined",
            "punycode",
            "unicode_escape",
            "raw_unicode_escape",
        ],
    )
    def test_anything_else_is_one_clear_line_with_what_to_do(self, name):
        with pytest.raises(FatalError) as caught:
            check_encoding(name)
        message = str(caught.value)
        assert repr(name) in message
        assert "cp1252" in message
        assert message.isprintable()

    @pytest.mark.parametrize("name", sorted(SHIFTING))
    def test_encodings_that_shift_are_refused_with_what_to_do(self, name):
        """Their decoders may keep bytes without end, or take none. Text in them is ASCII, so that URNs are found."""
        with pytest.raises(FatalError, match=r"cannot be decoded here; leave it out, .*iconv -f [-A-Z0-9]+ -t UTF-8"):
            check_encoding(name)
