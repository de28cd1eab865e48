"""Zstandard files with a dictionary in them, as web archives have it ("Zstandard Compression for WARC Files 1.0")."""

import io
import struct
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.property.test_forms import Archive
from tests.support.examples import FEW
from tests.support.packed import contents, dictionary, dictionary_frame, with_dictionary
from urnscan.errors import DamageError, LimitError
from urnscan.formats.compression.codecs import CODECS, Unpacked
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.stores.reader import PieceReader

ZSTD = next(codec for codec in CODECS if codec.name == "zstd")
RECORDS = [Archive.warc([(str(number), b"urn:example:%d " % number * 9)]) for number in range(6)]
MIB = 1 << 20
DATA = Path(__file__).parents[2] / "data"
ADVICE = "left out, like all that need it; decompress the file first (zstd -d -D DICTIONARY)"


def read(raw, limits=None, most=1 << 30):
    """The text of a file, and its errors; `most` bytes are read at a time."""
    budget = Budget("a.warc.zst", limits or Limits())
    budget.count_read(len(raw))
    pieces = (raw[at : at + most] for at in range(0, len(raw), most))
    text, errors, view = b"", [], memoryview(bytearray(1 << 16))
    layer = Layer("a.warc.zst", "a.warc.zst", Reading(), budget)
    with Unpacked(ZSTD, PieceReader(pieces), layer) as reader:
        while True:
            try:
                got = reader.read_into(view)
            except DamageError as error:
                errors.append(error.reason)
                continue
            if not got:
                return text, errors + [error.reason for error in budget.collected()]
            text += view[:got]


@pytest.mark.parametrize("is_compressed", [False, True])
def test_one_frame_for_each_record(is_compressed):
    """§3.2: the dictionary, compressed or not, and extension frames between the others; read in pieces of any size."""
    extension = b"\x5c\x2a\x4d\x18\x04\0\0\0more"
    frames = [frame + extension for frame in map(with_dictionary, RECORDS)]
    raw = dictionary_frame(is_compressed=is_compressed) + b"".join(frames)
    for most in (1, 7, 1 << 20):
        assert read(raw, most=most) == (b"".join(RECORDS), [])


def test_other_readers_find_the_same_records():
    """FastWARC, and the zstandard library frame by frame."""
    path = DATA / "harvest.warc.zst"
    members = [member for member, _, _ in contents(path, Limits())]
    fastwarc = pytest.importorskip("fastwarc")
    with path.open("rb") as file:
        records = [record.record_id for record in fastwarc.ArchiveIterator(file)]
    assert [member.split(" ")[-1] for member in members] == records
    assert len(records) == 3
    decompressor = zstandard.ZstdDecompressor(dict_data=dictionary())
    assert [decompressor.decompress(with_dictionary(record)) for record in RECORDS] == RECORDS


def test_files_joined_by_cat():
    """A dictionary holds from its frame on, up to the next; frames before it need none."""
    other = zstandard.train_dictionary(1024, [b"urn:other:%d" % (number * 37) * 30 for number in range(999)], dict_id=7)
    frame = zstandard.ZstdCompressor(dict_data=other).compress(b"urn:a:7")
    plain = zstandard.ZstdCompressor().compress(b"urn:a:0 ")
    raw = plain + dictionary_frame() + with_dictionary(b"urn:a:99 ") + dictionary_frame(other.as_bytes()) + frame
    assert read(raw) == (b"urn:a:0 urn:a:99 urn:a:7", [])


def test_a_frame_of_the_same_kind_with_other_contents_is_passed_over():
    """Anybody may use a skippable frame of that number (RFC 8878, 3.1.2)."""
    other = b"\x5d\x2a\x4d\x18\x08\0\0\0whatever"
    assert read(other + zstandard.ZstdCompressor().compress(b"text")) == (b"text", [])


@FEW
@given(number=st.integers(0, 5), data=st.data())
def test_damage_costs_one_record(number, data):
    """A bit that is flipped in a frame: all records before and behind it are given."""
    frames = [bytearray(with_dictionary(record)) for record in RECORDS]
    at = data.draw(st.integers(0, len(frames[number]) - 1))
    frames[number][at] ^= 1 << data.draw(st.integers(0, 7))
    text, errors = read(dictionary_frame() + b"".join(frames))
    assert text.startswith(b"".join(RECORDS[:number]))
    assert text.endswith(b"".join(RECORDS[number + 1 :]))
    assert len(errors) <= 2
    assert errors or text == b"".join(RECORDS)


@pytest.mark.full
def test_a_missing_dictionary_is_one_line():
    """However many frames need it. Frames that need none are read, and text on both sides of a gap is not joined."""
    frames = b"".join(map(with_dictionary, RECORDS * 500))
    said = f"the zstd frame at byte 0 needs the dictionary 99, and the file has none: {ADVICE}"
    assert read(frames) == (b"", [said])
    plain = zstandard.ZstdCompressor().compress(b"urn:a:b")
    text, errors = read(plain + frames + plain + frames)
    assert text == b"urn:a:burn:a:b"
    assert [error.split(": ")[0] for error in errors] == [
        f"the zstd frame at byte {at} needs the dictionary 99, and the file has none"
        for at in (len(plain), 2 * len(plain) + len(frames))
    ]


def test_behind_damage_frames_without_their_dictionary_are_not_called_damaged():
    frames = b"".join(map(with_dictionary, RECORDS))
    text, errors = read(zstandard.ZstdCompressor().compress(b"text") + b"\1damage\1" + frames)
    assert text == b"text"
    assert len(errors) == 2
    assert errors[0].startswith("8 bytes at byte ")
    assert "needs the dictionary 99, and the file has none" in errors[1]


def test_another_dictionary():
    frame = bytearray(with_dictionary(RECORDS[0]))
    at = frame.index(99, 4)
    frame[at] = 98
    assert read(dictionary_frame() + bytes(frame)) == (
        b"",
        [f"the zstd frame at byte {len(dictionary_frame())} needs the dictionary 98, and the file has 99: {ADVICE}"],
    )


@pytest.mark.full
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_damaged_dictionary_is_one_line(is_compressed):
    """Its tables, its checksum, or its end; nothing of it is text."""
    whole = dictionary_frame(is_compressed=is_compressed)
    damaged = bytearray(whole)
    damaged[20:60] = bytes(40)
    frames = b"".join(map(with_dictionary, RECORDS * 500))
    named = f"the zstd frame at byte {len(whole)} needs the dictionary at byte 0, which is damaged: {ADVICE}"
    assert read(bytes(damaged) + frames) == (b"", [named])
    cut = struct.pack("<4sI", whole[:4], len(whole) - 8 - 30) + whole[8:-30]
    if is_compressed:
        assert read(cut + frames)[0] == b""
        assert "which is damaged" in read(cut + frames)[1][0]


def test_a_damaged_first_frame_makes_no_text_of_the_dictionary():
    """A compressed dictionary is a frame that is found when the frame around it is damaged; there are URNs in it."""
    assert b"urn:in:dictionary" in dictionary().as_bytes()
    frame = dictionary_frame(is_compressed=True)
    for damaged in (b"\1" + frame[1:], frame[:5] + b"\xff\0\0" + frame[8:], frame[: len(frame) - 9]):
        text, errors = read(damaged + with_dictionary(RECORDS[0]))
        assert text == b""
        assert errors


@pytest.mark.full
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_huge_dictionary_is_not_unfolded(is_compressed):
    """§4: more than 8 MiB need not be taken; nothing near its size is held."""
    content = dictionary().as_bytes() + bytes(300 * MIB if is_compressed else 9 * MIB)
    raw = dictionary_frame(content, is_compressed=is_compressed) + with_dictionary(RECORDS[0])
    del content
    tracemalloc.start()
    text, (error,) = read(raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text == b""
    assert "needs the dictionary at byte 0, which has more than 8 MiB: left out" in error
    assert peak < 64 * MIB


def test_what_a_dictionary_unfolds_to_is_counted():
    """A file of many dictionaries, each some hundred bytes of which 7 MiB come out."""
    one = dictionary_frame(dictionary().as_bytes() + bytes(7 * MIB), is_compressed=True) + with_dictionary(b"urn:a:b")
    with pytest.raises(LimitError, match="unpacks to more than 20,000,000 bytes"):
        read(one * 9, Limits(size=20_000_000))


def test_a_dictionary_that_nothing_needs_is_not_unfolded():
    raw = dictionary_frame(dictionary().as_bytes() + bytes(7 * MIB), is_compressed=True) * 9
    assert read(raw, Limits(size=20_000_000)) == (b"", [])


def test_a_stream_of_records_written_in_blocks():
    """A record in several frames, and in frames without the size of their content, as writers of streams make them."""
    compressor = zstandard.ZstdCompressor(dict_data=dictionary(), write_content_size=False)
    out = io.BytesIO()
    for record in RECORDS:
        for part in (record[:40], record[40:]):
            stream = compressor.compressobj()
            out.write(stream.compress(part) + stream.flush())
    assert read(dictionary_frame() + out.getvalue()) == (b"".join(RECORDS), [])
