"""Compressed files: every form, however it is cut into members, however it is read, and whatever is damaged in it."""

import bz2
import contextlib
import gzip
import io
import lzma
import random
import shutil
import struct
import subprocess
import sys
import time
import tracemalloc
import zlib

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats import buffer
from urnscan.formats.compression import decoders, replay
from urnscan.formats.compression.codecs import CODECS, Unpacked
from urnscan.formats.compression.dictionary import ZstandardFile
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.formats.protocol import Compression
from urnscan.formats.registry import FORMS
from urnscan.formats.unfold import open_documents
from urnscan.stores.input import Input
from urnscan.stores.reader import Reader

CODING = {coding.name: coding for coding in CODECS}
COMPRESS = {
    "gzip": gzip.compress,
    "bzip2": lambda text: bz2.compress(text, 1),
    "xz": lambda text: lzma.compress(text, preset=0),
    "zstd": zstandard.ZstdCompressor(level=1, write_checksum=True).compress,
    "LZ4": lambda text: lz4.frame.compress(text, content_checksum=True, block_size=lz4.frame.BLOCKSIZE_MAX64KB),
}
EVERY_FORM = pytest.mark.parametrize("form", COMPRESS)
NO_LIMITS = Limits(ratio=10**6)
BLOCK = 5_099_235  # bytes of one character that a block of bzip2 holds at level 1, in some 30 bytes
GARBAGE = b"\x01 no member at all \xff"


def test_every_form_is_tested():
    """A new codec is in the table above; LZMA alone has no checksum and no second member, and has tests of its own."""
    assert {*COMPRESS, "LZMA"} == {codec.name for codec in CODECS}


def text_of(seed, size):
    """A text that no other seed gives, which deflates to about a third."""
    rng = random.Random(seed)
    return b"".join(b"%d urn:example:%d\n" % (seed, rng.randrange(1 << 30)) for _ in range(size // 16 + 1))[:size]


def damaged(content, damage, where):
    """The bytes with such a damage, or none, at this part of their length."""
    at = int(len(content) * where)
    match damage:
        case "flip":
            return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]
        case "cut":
            return content[:at]
        case "garbage":
            return content[:at] + GARBAGE + content[at:]
    return content


class ByteArray(Reader):
    """Gives bytes, `most` at a time; where `seekable`, a second file has them too; damaged where `damaged` says."""

    def __init__(self, content, most=1 << 30, seekable=True, damaged=None):
        self.data, self.most, self.seekable, self.damaged = content, most, seekable, damaged
        self.position = 0
        self.second = None

    def read_into(self, view):
        if self.position == self.damaged:
            self.damaged = None
            raise DamageError("below", "a hole")
        end = len(self.data) if self.damaged is None else self.damaged
        piece = self.data[self.position : min(end, self.position + min(len(view), self.most))]
        view[: len(piece)] = piece
        self.position += len(piece)
        return len(piece)

    def reopen(self):
        if not self.seekable:
            return None
        self.second = io.BytesIO(self.data)
        return self.second

    def close(self):
        pass


def layer_of(name="file", limits=NO_LIMITS):
    budget = Budget(name, limits)
    budget.count_read(1 << 20)
    return Layer(name, name, Reading(limits=limits), budget)


class Read:
    """All that the reader of a compressed file gives: `text`, `errors`, wrong checksums."""

    def __init__(self, form, content, size=1 << 20, **options):
        layer = layer_of()
        source = content if isinstance(content, ByteArray) else ByteArray(content, **options)
        view = memoryview(bytearray(size))
        self.text, self.errors = b"", []
        with Unpacked(CODING[form], source, layer) as reader:
            while True:
                try:
                    got = reader.read_into(view)
                except DamageError as error:
                    self.errors.append((len(self.text), error.reason))
                    continue
                if not got:
                    break
                self.text += view[:got]
            assert reader.read_into(view) == 0
        self.wrong = [error.reason for error in layer.budget.collected()]
        self.reasons = [reason for _, reason in self.errors]


@EVERY_FORM
@FEW
@given(
    sizes=st.lists(st.sampled_from([0, 1, 20, 1023, 3000, 20_000]), min_size=1, max_size=5),
    size=st.integers(1, 5000),
    most=st.one_of(st.integers(1, 50), st.just(1 << 20)),
    zeros=st.integers(0, 9),
    seekable=st.booleans(),
)
def test_members_are_one_text(form, sizes, size, most, zeros, seekable):
    """Empty ones too, read in any pieces into views of any size, with padding behind each."""
    texts = [bytes([65 + number]) * size for number, size in enumerate(sizes)]
    content = b"".join(COMPRESS[form](text) + bytes(zeros) for text in texts)
    read = Read(form, content, size, most=most, seekable=seekable)
    assert (read.text, read.errors, read.wrong) == (b"".join(texts), [], [])


@EVERY_FORM
@FEW
@given(
    parts=st.lists(
        st.tuples(st.integers(0, 5000), st.one_of(st.just(b""), st.binary(min_size=1, max_size=40))), max_size=5
    ),
    size=st.integers(1, 3000),
)
def test_what_is_no_member_is_passed_over_and_said_once_in_its_place(form, parts, size):
    content, text, errors = b"", b"", []
    for number, (length, garbage) in enumerate(parts):
        member = text_of(number, length)
        content += COMPRESS[form](member)
        text += member
        if garbage:
            errors.append(
                (len(text), f"{len(garbage) + 2} bytes at byte {len(content)} are not {form}; they are skipped")
            )
            content += b"\x01" + garbage + b"\x01"
    read = Read(form, content, size)
    assert (read.text, read.errors) == (text, errors)


@EVERY_FORM
def test_garbage_that_looks_like_a_member_is_none(form):
    """A candidate that gives less than 1,024 bytes and then fails is not given; the real member inside it is found."""
    first, second = text_of(1, 500), text_of(2, 500)
    half = COMPRESS[form](text_of(3, 150))[:-30]
    content = COMPRESS[form](first) + GARBAGE + half + COMPRESS[form](second)
    read = Read(form, content)
    at = len(COMPRESS[form](first))
    assert read.text == first + second
    assert read.errors == [(500, f"{len(GARBAGE + half)} bytes at byte {at} are not {form}; they are skipped")]


@EVERY_FORM
@FEW
@given(data=st.data(), flip=st.booleans(), seekable=st.booleans())
def test_damage_costs_one_member_at_most(form, data, flip, seekable):
    """A flipped bit or bytes that are gone: the members before and behind are given, and what is reported is one place."""
    sizes = data.draw(st.lists(st.sampled_from([10, 900, 30_000, 250_000]), min_size=1, max_size=4))
    number = data.draw(st.integers(0, len(sizes) - 1))
    texts = [text_of(seed, size) for seed, size in enumerate(sizes)]
    members = [COMPRESS[form](text) for text in texts]
    at = data.draw(st.integers(not flip, len(members[number]) - 1))
    damaged = bytearray(members[number])
    if flip:
        damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del damaged[at:]
    content = b"".join([*members[:number], bytes(damaged), *members[number + 1 :]])
    read = Read(form, content, data.draw(st.integers(100, 300_000)), seekable=seekable)
    before, behind = b"".join(texts[:number]), b"".join(texts[number + 1 :])
    assert read.text.startswith(before)
    assert read.text.endswith(behind)
    assert len(read.errors) <= 2
    given = read.text[len(before) : len(read.text) - len(behind)]
    if form == "bzip2":
        assert texts[number].startswith(given)
    if not flip and number == len(members) - 1:
        assert texts[number].startswith(given)
        assert len(read.errors) == 1
    if not read.errors and not read.wrong:  # a header says more than the text needs
        assert read.text == b"".join(texts)


@EVERY_FORM
@FEW
@given(data=st.data())
def test_what_is_told_of_nothing_is_what_was_encoded(form, data):
    """Any bytes changed behind the header: without an error the text is the one that was encoded."""
    text = text_of(7, 20_000)
    content = bytearray(COMPRESS[form](text))
    at = data.draw(st.integers(20, len(content) - 1))
    change = data.draw(st.binary(min_size=1, max_size=8))
    content[at : at + len(change)] = change[: len(content) - at]
    read = Read(form, bytes(content))
    if not read.errors and not read.wrong:
        assert read.text == text


def decoded_by_byte(form, content):
    """All that the library can decode before it raises."""
    new = {"gzip": lambda: zlib.decompressobj(31), "xz": lzma.LZMADecompressor}[form]()
    texts = []
    with contextlib.suppress(zlib.error, lzma.LZMAError):
        texts.extend(new.decompress(content[at : at + 1]) for at in range(len(content)))
    return b"".join(texts)


@pytest.mark.full
@pytest.mark.parametrize("form", ["gzip", "xz"])
def test_all_that_decodes_before_the_damage_is_given(form):
    """To the byte, though the libraries lose what they have decoded when they raise."""
    text = text_of(1, 900_000)
    content = COMPRESS[form](text)
    rng = random.Random(3)
    for at in [rng.randrange(100, len(content) - 30) for _ in range(6)]:
        damaged = content[:at] + rng.randbytes(4) + content[at + 4 :]
        expected = decoded_by_byte(form, damaged)
        for seekable in (True, False):
            read = Read(form, damaged, 50_000, seekable=seekable)
            assert read.text == expected
            assert len(read.errors) + len(read.wrong) == 1
            assert all(place == len(expected) for place, _ in read.errors)


@pytest.mark.full
def test_bzip2_gives_whole_blocks_whose_crc_is_good():
    """Wherever the damage is; also where a good block ends in the very bytes after which the library raises."""
    text = bytes(2 * BLOCK)
    content = bz2.compress(text, 1)
    lengths = []
    for at in range(4, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 255
        read = Read("bzip2", bytes(damaged))
        if read.errors:  # some bytes may have any value
            lengths.append(len(read.text))
    assert len(lengths) > len(content) // 3 - 10
    assert lengths == sorted(lengths)
    assert set(lengths) == {number * BLOCK for number in range(3)}


@pytest.mark.parametrize(
    ("form", "block", "blocks"), [("zstd", 1 << 17, 3), ("LZ4", 1 << 16, 6), ("bzip2", 99_981, 3), ("xz", 65_000, 4)]
)
def test_the_blocks_before_a_damaged_one_are_given(form, block, blocks):
    text = text_of(1, 900_000)
    content = COMPRESS[form](text)
    damaged = bytearray(content)
    at = len(content) // 2
    damaged[at : at + 40] = bytes(40)
    read = Read(form, bytes(damaged))
    assert read.text[: block * blocks] == text[: block * blocks]
    assert len(read.text) >= block * blocks
    (reason,) = (read.reasons + read.wrong)[:1]
    assert "is damaged at about byte" in reason or "checksum" in reason


@pytest.mark.parametrize(("form", "from_end"), [("gzip", 8), ("gzip", 4), ("xz", 30), ("zstd", 4), ("LZ4", 4)])
def test_a_wrong_checksum_is_told_and_costs_nothing(form, from_end):
    """All is decoded and given, and the member is named."""
    text, behind = text_of(1, 30_000), text_of(2, 100)
    damaged = bytearray(COMPRESS[form](text))
    damaged[-from_end] ^= 1
    read = Read(form, COMPRESS[form](behind) + damaged + COMPRESS[form](behind))
    assert read.text == behind + text + behind
    at = len(COMPRESS[form](behind))
    unit = CODING[form].unit
    assert read.errors == []
    assert read.wrong == [f"the checksum of the {form} {unit} at byte {at} is wrong; its text may be damaged"]


def test_the_checks_of_xz_are_told_from_damage():
    """All kinds of check; the bytes around the check are not taken for it."""
    text = text_of(1, 3001)
    for check, size in ((lzma.CHECK_CRC32, 4), (lzma.CHECK_CRC64, 8), (lzma.CHECK_SHA256, 32)):
        content = lzma.compress(text, check=check)
        index_at = len(content) - 12 - (content[-8] + 1) * 4
        for at in range(index_at - size - 6, len(content)):
            damaged = bytearray(content)
            damaged[at] ^= 1
            read = Read("xz", bytes(damaged))
            in_check = index_at - size <= at < index_at
            assert len(read.errors) + len(read.wrong) == 1
            assert bool(read.wrong) == in_check, (check, at)
            if at >= index_at - size:
                assert read.text == text


def test_a_block_of_xz_with_a_wrong_check_ends_its_stream():
    """The library decodes no block behind it: what is lost is said."""
    text = text_of(1, 300_000)
    blocks = subprocess.run(["xz", "-c", "--block-size=100000"], input=text, check=True, capture_output=True).stdout
    first = 12 + 4 * (blocks[12] + 1)
    while blocks[first]:
        first += 6 + (blocks[first] >= 0xC0) + int.from_bytes(blocks[first + 3 : first + 5], "big")
    at = -(-first // 4) * 4
    damaged = blocks[:at] + bytes([blocks[at] ^ 1]) + blocks[at + 1 :]
    read = Read("xz", damaged + lzma.compress(b"behind"))
    assert read.text == text[:100_000] + b"behind"
    reason = f"the xz stream at byte 0 has a wrong checksum before byte {at + 8}; the rest of it is lost"
    assert (read.reasons, read.wrong) == ([reason], [])


def test_a_block_of_lz4_with_a_wrong_checksum_is_not_given():
    """Those before it have good checksums of their own, and count."""
    text = text_of(1, 300_000)
    content = bytearray(lz4.frame.compress(text, block_checksum=True, block_size=lz4.frame.BLOCKSIZE_MAX64KB))
    content[len(content) // 2] ^= 1
    read = Read("LZ4", bytes(content))
    assert read.text == text[: len(read.text)]
    assert len(read.text) in (1 << 16, 2 << 16, 3 << 16)


@pytest.mark.full
@EVERY_FORM
def test_a_member_that_is_cut_off(form):
    """At every byte: what was decoded counts, and the line says so; after the last byte of the text nothing is lost."""
    text = text_of(1, 400)
    first, content = COMPRESS[form](text), COMPRESS[form](text_of(2, 3000))
    unit = CODING[form].unit
    reason = f"truncated {form} file ({unit} starting at byte {len(first)})"
    for end in range(1, len(content)):
        read = Read(form, first + content[:end])
        assert read.reasons == [reason], end
        assert (text + text_of(2, 3000)).startswith(read.text)
        assert len(read.text) >= len(text)


@EVERY_FORM
def test_a_file_that_is_only_a_magic(form):
    magic = CODING[form].magics[0]
    read = Read(form, magic)
    assert read.text == b""
    assert read.reasons == [f"truncated {form} file ({CODING[form].unit} starting at byte 0)"]


@EVERY_FORM
def test_a_damaged_first_header_does_not_hide_the_members_behind_it(form):
    texts = text_of(1, 5000), text_of(2, 5000)
    first, second = map(COMPRESS[form], texts)
    read = Read(form, b"\x00" + first[1:] + second)
    assert read.text == texts[1]
    assert read.errors == [(0, f"{len(first):,} bytes at byte 0 are not {form}; they are skipped")]
    read = Read(form, b"\x00" * 2000)
    assert (read.text, read.reasons) == (b"", [f"2,000 bytes at byte 0 are not {form}; they are skipped"])


@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_the_optional_fields_of_a_gzip_header(most):
    """FEXTRA, FNAME, FCOMMENT, FHCRC, each alone and all together, also cut over reads; a name without an end is damage."""
    text = text_of(1, 300)
    deflated = gzip.compress(text)[10:]
    fields = {4: b"\x05\x00extra", 8: b"a name\x00", 16: b"a comment\x00" * 1, 2: b"\x12\x34"}
    for flags in range(32):
        header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
        content = header + b"".join(field for flag, field in fields.items() if flags & flag) + deflated
        read = Read("gzip", content * 2, most=most)
        assert (read.text, read.errors) == (text * 2, []), flags
    read = Read("gzip", b"\x1f\x8b\x08\x08" + b"x" * 100_000 + gzip.compress(text), most=max(most, 100))
    assert read.text == text
    assert len(read.errors) == 1
    read = Read("gzip", b"\x1f\x8b\x08\x08" + b"x" * 100_006 + b"\0" + deflated + gzip.compress(text), most=1 << 20)
    assert read.text == text, "a name of more than 64 KiB is none"
    assert len(read.errors) == 1
    for reserved in (0x20, 0x40, 0x80):
        read = Read("gzip", b"\x1f\x8b\x08" + bytes([reserved]) + bytes(6) + deflated)
        assert (read.text, len(read.errors)) == (b"", 1), "nobody knows what follows the header"


@pytest.mark.full
@FEW
@given(data=st.data(), damage=st.sampled_from(["flip", "cut", "garbage", "nothing"]), size=st.integers(100, 300_000))
def test_many_gzip_members_are_read_as_one_by_one(data, damage, size):
    """Decoded by one call where a second file allows to go back, they give the text, errors and checksums that each gives
    by itself, wherever the damage is.
    """
    texts = [text_of(seed, size) for seed, size in enumerate([20_000, 9_000, 300_000] * 4)]
    members = [gzip.compress(text, 1) for text in texts]
    content = bytearray(b"".join(members))
    at = data.draw(st.integers(0, len(content) - 1))
    flags = {sum(map(len, members[:number])) + 3 for number in range(len(members))}
    match damage:
        case "flip":  # a bit of the flags that is reserved is known one by one only
            content[at] ^= 1 << data.draw(st.integers(0, 4 if at in flags else 7))
        case "cut":
            del content[at:]
        case "garbage":
            content[at:at] = GARBAGE
    many, each = (Read("gzip", bytes(content), size, seekable=seekable) for seekable in (True, False))
    assert (many.text, many.errors, many.wrong) == (each.text, each.errors, each.wrong)


def with_and_without_short():
    """Twice: as it is, and with each frame decoded block by block."""
    yield
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ZstandardFile, "short", lambda *_: b"")
        yield


@FEW
@given(
    frames=st.lists(
        st.tuples(
            st.sampled_from([0, 1, 300, 20_000, 150_000, 300_000]), st.sampled_from(["", "size", "checksum", "both"])
        ),
        min_size=1,
        max_size=12,
    ),
    skippable=st.integers(-1, 12),
    damage=st.sampled_from(["none", "none", "flip", "cut", "garbage"]),
    where=st.floats(0, 0.999),
    size=st.sampled_from([1000, 1 << 20]),
    seekable=st.booleans(),
)
def test_short_frames_are_read_as_one_by_one(frames, skippable, damage, where, size, seekable):
    """Those of web archives have some KB: they are decoded together, as long as nothing is wrong with one."""
    parts = [
        zstandard.ZstdCompressor(
            write_content_size=told in ("size", "both"), write_checksum=told in ("checksum", "both")
        ).compress(text_of(number, content))
        for number, (content, told) in enumerate(frames)
    ]
    if skippable >= 0:
        parts.insert(skippable, b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip")
    content = damaged(b"".join(parts), damage, where)
    read, each = (Read("zstd", content, size, seekable=seekable) for _ in with_and_without_short())
    assert (read.text, read.errors, read.wrong) == (each.text, each.errors, each.wrong)


@pytest.mark.parametrize(
    ("size", "block"), [(0, b"xyz"), (3, b"xyzq"), (5, b"xyz"), (1 << 18, b"xyz"), (1 << 40, b"xyz")]
)
def test_a_short_frame_whose_header_lies(size, block):
    """It costs itself alone, and takes no memory that it only announces."""
    head = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", size)
    frame = head + struct.pack("<I", len(block) << 3 | 1)[:3] + block
    content = frame + COMPRESS["zstd"](b"behind") + bytes(20)
    tracemalloc.start()
    read, each = (Read("zstd", content) for _ in with_and_without_short())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (read.text, read.errors, read.wrong) == (each.text, each.errors, each.wrong)
    assert read.text.endswith(b"behind")
    assert len(read.errors) == 1
    assert peak < 8 << 20


def test_members_that_are_decoded_twice_count_once():
    """The limits count what is given, and damage at the end does not make a bomb of a file that is none."""
    text = bytes(1 << 21)
    content = gzip.compress(b"") + gzip.compress(text) + gzip.compress(text)[:-9]
    layer = layer_of(limits=Limits(size=3 << 21))
    with Unpacked(CODING["gzip"], ByteArray(content), layer) as reader:
        view = memoryview(bytearray(1 << 20))
        with pytest.raises(DamageError, match="truncated"):
            assert sum(iter(lambda: reader.read_into(view), 0)) == 0


@pytest.mark.full
def test_gzip_without_isal(monkeypatch):
    """zlib from the standard library does the same."""
    monkeypatch.setitem(sys.modules, "isal", None)
    monkeypatch.setattr(decoders, "_inflater", decoders._inflater.__wrapped__)
    texts = [text_of(1, 900_000), b"a" * 1_000_000, b"", text_of(2, 10)]
    content = b"".join(map(gzip.compress, texts))
    assert Read("gzip", content).text == b"".join(texts)
    damaged = content[:200_000] + b"\xff" * 4 + content[200_004:]
    read = Read("gzip", damaged)
    expected = decoded_by_byte("gzip", damaged[: len(gzip.compress(texts[0]))])
    assert read.text == expected + b"".join(texts[1:])
    wrong = bytearray(gzip.compress(texts[0]))
    wrong[-8] ^= 1
    assert len(Read("gzip", bytes(wrong)).wrong) == 1


def test_skippable_frames_are_passed_over():
    for form in ("zstd", "LZ4"):
        skippable = [
            bytes([0x50 + number]) + b"\x2a\x4d\x18" + struct.pack("<I", 9) + b"skipped.." for number in (0, 15)
        ]
        text = text_of(1, 2000)
        content = skippable[0] + COMPRESS[form](text) + skippable[1] + COMPRESS[form](text) + skippable[0]
        read = Read(form, content, most=5)
        assert (read.text, read.errors) == (text * 2, [])
        read = Read(form, content[:-3])
        assert "truncated" in read.reasons[0]


def test_frames_without_a_checksum_and_of_every_layout():
    """Content size or none, single segment or window, blocks linked or not, raw, run and compressed blocks."""
    text = text_of(1, 400_000) + bytes(400_000) + random.Random(1).randbytes(300_000)
    for write_content_size in (True, False):
        compressor = zstandard.ZstdCompressor(write_content_size=write_content_size, write_checksum=False)
        stream = compressor.compressobj()
        content = compressor.compress(text) + stream.compress(text) + stream.flush()
        assert Read("zstd", content).text == text * 2
    for linked in (True, False):
        for size in (0, 4, 5, 6, 7):
            content = lz4.frame.compress(
                text, block_size=size, block_linked=linked, store_size=linked, block_checksum=linked
            )
            assert Read("LZ4", content * 2).text == text * 2


def test_what_needs_too_much_memory_is_told_to_be_decompressed_first():
    """And is no reason to lose the frame behind it."""
    good = text_of(1, 100)
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    content = stream.compress(b"text") + stream.flush()
    read = Read("zstd", content + COMPRESS["zstd"](good))
    assert read.text == good
    assert read.reasons[0].endswith("needs a window of more than 128 MiB; decompress it first")
    for code, fits in ((30, True), (31, False)):  # dictionaries of 128 MiB and 192 MiB
        content = bytearray(lzma.compress(b"text"))
        content[16] = code
        content[20:24] = struct.pack("<I", zlib.crc32(bytes(content[12:20])))
        read = Read("xz", bytes(content) + COMPRESS["xz"](good))
        assert read.text == b"text" * fits + good
        remedy = "the xz stream at byte 0 needs more than 128 MiB of memory; decompress it first"
        assert read.reasons == [remedy] * (not fits)


def test_a_frame_that_needs_a_dictionary_says_so():
    dictionary = zstandard.ZstdCompressionDict(text_of(1, 10_000), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    content = bytearray(zstandard.ZstdCompressor(dict_data=dictionary).compress(b"text"))
    content[4] |= 1  # one byte for the number of the dictionary
    content[5:5] = b"\x07"
    assert (
        "at byte 0 needs the dictionary 7, and the file has none: left out" in Read("zstd", bytes(content)).reasons[0]
    )


@pytest.mark.full
def test_lzma_alone():
    """With the length in the header or an end marker; what is behind it is said to be none."""
    text = text_of(1, 900_000)
    content = lzma.compress(text, lzma.FORMAT_ALONE)
    read = Read("LZMA", content + bytes(10))
    assert (read.text, read.errors) == (text, [])
    assert Read("LZMA", content + GARBAGE).reasons == [
        f"{len(GARBAGE)} bytes at byte {len(content)} are not LZMA; they are skipped"
    ]
    read = Read("LZMA", content[: len(content) // 2])
    assert text.startswith(read.text)
    assert len(read.text) > 300_000
    assert "truncated" in read.reasons[0]


@pytest.mark.full
@EVERY_FORM
def test_many_tiny_members_are_no_reason_to_be_slow(form):
    """Some 10 us each; what is linear in the size of a block for each of them takes a hundred times as long."""
    member = COMPRESS[form](b"urn:isbn:0451450523\n")
    begin = time.thread_time()
    read = Read(form, member * 10_000)
    assert read.text == b"urn:isbn:0451450523\n" * 10_000
    assert time.thread_time() - begin < 2


@pytest.mark.full
@pytest.mark.parametrize(
    ("form", "most"),
    [("gzip", 1 << 18), ("bzip2", 2 * BLOCK), ("xz", 1 << 18), ("zstd", 1 << 17), ("LZ4", 1 << 16)],
)
def test_a_bomb_comes_out_in_steps(form, most, monkeypatch):
    """However much comes out, only a step of it is in memory, and every step counts for the limits."""
    steps = []
    monkeypatch.setattr(Budget, "count_unfolded", lambda _, content: steps.append(content))
    text = bytes(4 * BLOCK)
    Read(form, bz2.compress(text, 1) if form == "bzip2" else COMPRESS[form](text))
    assert sum(steps) == len(text)
    assert max(steps) <= most


@EVERY_FORM
def test_the_limits_end_it(form):
    layer = layer_of(limits=Limits(size=1000))
    with Unpacked(CODING[form], ByteArray(COMPRESS[form](bytes(5000))), layer) as reader:
        with pytest.raises(LimitError):
            reader.read_into(memoryview(bytearray(100)))
        assert reader.read_into(memoryview(bytearray(100))) == 0


def test_an_xz_chunk_of_each_kind_is_as_long_as_it_is():
    """LZMA2 (xz, 5.3.1): what is stored, then the first that is compressed, which sets properties and no dictionary."""
    text = random.Random(1).randbytes(70_000) + text_of(1, 20_000)
    content = lzma.compress(text, preset=0)
    first = 12 + 4 * (content[12] + 1)  # behind the headers of the stream and its block
    assert content[first] == 1
    second = first + 4 + int.from_bytes(content[first + 1 : first + 3], "big")
    while content[second] == 2:
        second += 4 + int.from_bytes(content[second + 1 : second + 3], "big")
    assert content[second] == 0xC0
    read = Read("xz", content * 2)
    assert (read.text, read.errors) == (text * 2, [])
    index = 4 * (int.from_bytes(content[-8:-4], "little") + 1)
    wrong = bytearray(content)
    wrong[-12 - index - 1] ^= 1  # the check of the block, which is told from its chunks
    assert len(Read("xz", bytes(wrong)).wrong) == 1


@pytest.mark.parametrize(("window", "is_read"), [(0x88, True), (0x89, False)])
def test_a_zstd_window_of_128_mib_is_the_largest(window, is_read):
    """RFC 8878, 3.1.1.1.2; "needs a window of more than 128 MiB" is said of none that needs no more."""
    frame = b"\x28\xb5\x2f\xfd\0" + bytes([window]) + (5 << 3 | 1).to_bytes(3, "little") + b"urn:a"
    read = Read("zstd", frame)
    assert (read.text, len(read.errors)) == ((b"urn:a", 0) if is_read else (b"", 1))


def test_the_size_of_a_gzip_member_counts_up_to_4_gib(monkeypatch):
    """RFC 1952, ISIZE: "modulo 2^32"; such a member is as whole as any other."""

    class Huge(bytes):
        def __len__(self):
            return (1 << 32) + 5

    class Inflater:
        crc, eof, needs_input, unused_data = 7, False, True, b""

        def decompress(self, data, _):
            self.eof, self.unused_data = True, bytes(data[1:])
            return Huge(b"x")

    content = b"\x1f\x8b\x08" + bytes(7) + b"\0" + struct.pack("<II", 7, 5)
    monkeypatch.setattr(decoders, "_inflater", lambda **_: (Inflater, zlib.error))
    member = decoders.gzip(buffer.Buffer(ByteArray(content)))
    assert list(map(len, member)) == [(1 << 32) + 5]


@EVERY_FORM
@pytest.mark.parametrize("seekable", [True, False])
def test_damage_below_is_passed_on_and_read_over(form, seekable):
    """What came before it is given first, and what follows is searched for the next member."""
    texts = [text_of(seed, 20_000) for seed in range(3)]
    members = [COMPRESS[form](text) for text in texts]
    content = b"".join(members)
    source = ByteArray(content, 1000, seekable, damaged=len(members[0]) + len(members[1]) // 2)
    read = Read(form, source)
    assert read.text.startswith(texts[0])
    assert read.text.endswith(texts[2])
    assert read.reasons == ["a hole"]
    read = Read(form, ByteArray(content, 1000, seekable, damaged=len(members[0])))
    assert read.text == b"".join(texts)
    assert read.errors == [(20_000, "a hole")]


def test_what_is_the_end_below_is_the_end():
    """An error that is no damage, after the bytes before it."""

    class Failing(ByteArray):
        def read_into(self, view):
            if self.position == len(self.data):
                raise SourceError("below", "unplugged")
            return super().read_into(view)

    text = text_of(1, 50_000)
    view = memoryview(bytearray(1 << 20))
    with Unpacked(CODING["gzip"], Failing(gzip.compress(text)[:-2]), layer_of()) as reader:
        assert view[: reader.read_into(view)] == text
        with pytest.raises(SourceError, match="below: unplugged"):
            reader.read_into(view)
        assert reader.read_into(view) == 0


def test_what_a_slow_pipe_says_is_not_held_back():
    """Flushed text is given before more is read."""
    compressor = zlib.compressobj(wbits=31)
    said = [compressor.compress(b"one") + compressor.flush(zlib.Z_SYNC_FLUSH)]
    said.append(compressor.compress(b"two") + compressor.flush(zlib.Z_FULL_FLUSH))
    said.append(compressor.flush())

    class Slow(ByteArray):
        def read_into(self, view):
            piece = said.pop(0) if said else b""
            view[: len(piece)] = piece
            return len(piece)

    view = memoryview(bytearray(100))
    with Unpacked(CODING["gzip"], Slow(b"", seekable=False), layer_of()) as reader:
        assert view[: reader.read_into(view)] == b"one"
        assert len(said) == 2
        assert view[: reader.read_into(view)] == b"two"
        assert len(said) == 1
        assert reader.read_into(view) == 0


def test_a_reader_that_is_closed_early_closes_its_file():
    layer = layer_of()
    source = ByteArray(gzip.compress(text_of(1, 500_000)))
    with Unpacked(CODING["gzip"], source, layer) as reader:
        assert reader.read_into(memoryview(bytearray(10))) == 10
    assert source.second.closed
    reader.close()


@pytest.mark.full
@pytest.mark.parametrize("form", ["gzip", "xz"])
def test_a_member_too_long_to_be_kept_loses_a_step_at_most(form, monkeypatch):
    """Without a second file only so much is kept to be decoded again."""
    monkeypatch.setattr(buffer, "_MAX_KEPT", 60_000)
    monkeypatch.setattr(buffer, "_MIN_KEPT", 30_000)
    text, behind = text_of(1, 2_000_000), text_of(2, 5000)
    content = COMPRESS[form](text)
    at = len(content) * 3 // 4
    damaged = content[:at] + b"\xff" * 4 + content[at + 4 :]
    read = Read(form, damaged + COMPRESS[form](behind), seekable=False, most=5000)
    expected = decoded_by_byte(form, damaged)
    assert read.text.endswith(behind)
    given = read.text[: -len(behind)]
    assert expected.startswith(given)
    assert len(expected) - (1 << 16) <= len(given)
    assert replay._STEP_WITHOUT_REPLAY == 1 << 16


def test_forms_are_recognised_by_their_magic():
    """As soon as it is there, and not sooner; no other form claims it, nor text."""
    layer = layer_of("name")
    for form, compress in COMPRESS.items():
        content = compress(b"text")
        answers = [CODING[form].recognise(content[:count], layer) for count in range(1, 20)]
        first = answers.index(True)
        assert answers == [None] * first + [True] * (19 - first)
        assert first <= 9
        for other in CODECS:
            if other.name != form:
                assert other.recognise(content, layer) is False
    for text in (b"", b"BZhang said", b"\xfd", b"PQRS", b"]text", "é".encode()):
        assert not any(coding.recognise(text, layer) for coding in CODECS)


def test_what_the_magic_does_not_tell_the_name_does():
    skippable, alone = b"\x50\x2a\x4d\x18", lzma.compress(b"text", lzma.FORMAT_ALONE)
    told = [coding.name for coding in CODECS if coding.recognise(skippable, layer_of("a.txt"))]
    assert told == ["zstd"]
    assert next(coding.name for coding in CODECS if coding.recognise(skippable, layer_of("a.LZ4"))) == "LZ4"
    assert CODING["LZMA"].recognise(alone, layer_of("a.lzma"))
    assert CODING["LZMA"].recognise(alone, layer_of("a.txt")) is False


@pytest.mark.parametrize(
    ("name", "content", "damaged"),
    [
        ("a.gz", b"\x00\x8b\x08\x00\x00\x00", True),
        ("a.txt", b"\x00\x8b\x08\x00\x00\x00", False),
        ("a.gz", "plain text, é\n".encode(), False),
        ("a.gz", "Latin-1, é\n".encode("latin-1"), False),
        ("a.gz", "UTF-16".encode("utf-16"), False),
        ("a.lzma", b"\x00\x00\x00", True),
        ("a.tlz", b"plain text", False),
        ("a.gz", b"", False),
    ],
)
def test_a_damaged_beginning_is_told_by_the_name_and_text_is_not(name, content, damaged):
    form = FORMS.recognise(buffer.Buffer(ByteArray(content)), layer_of(name))
    assert isinstance(form, Compression) is damaged


def documents(path):
    """The text of the documents in a file, and the errors."""
    text, errors = b"", []
    view = memoryview(bytearray(100_000))
    for found in open_documents(Input(str(path), str(path), None), Reading()):
        if isinstance(found, SourceError):
            errors.append(str(found))
            continue
        while True:
            try:
                got = found.reader.read_into(view)
            except DamageError as error:
                errors.append(str(error))
                continue
            if not got:
                break
            text += view[:got]
    return text, errors


@EVERY_FORM
def test_they_are_registered(form, tmp_path):
    """Whatever the name; in each other; with a damaged beginning by the name; misnamed text stays text."""
    text = text_of(1, 5000)
    content = COMPRESS[form](text)
    path = tmp_path / "any name"
    path.write_bytes(content)
    assert documents(path) == (text, [])
    path.write_bytes(gzip.compress(content))
    assert documents(path) == (text, [])
    path = tmp_path / ("name" + CODING[form].suffixes[0])
    path.write_bytes(b"\x00" + content[1:] + content)
    assert documents(path) == (text, [f"{path}: {len(content):,} bytes at byte 0 are not {form}; they are skipped"])
    path.write_bytes(text)
    assert documents(path) == (text, [])


@pytest.mark.full
@pytest.mark.parametrize(
    ("form", "command"),
    [
        ("gzip", ["gzip", "-9"]),
        ("bzip2", ["bzip2"]),
        ("xz", ["xz", "-0", "--block-size=100000"]),
        ("xz", ["xz", "-9e", "--check=sha256"]),
        ("xz", ["xz", "--x86", "--delta=dist=4", "--lzma2=preset=1"]),
        ("xz", ["xz", "--check=none"]),
        ("LZMA", ["xz", "--format=lzma"]),
        ("zstd", ["zstd", "-T2", "-B100000"]),
        ("zstd", ["zstd", "--ultra", "-22", "--long=27"]),
        ("zstd", ["zstd", "--no-check"]),
        ("LZ4", ["lz4"]),
        ("LZ4", ["lz4", "-9", "-B4", "-BD", "-BX", "--content-size"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_the_usual_programs_write(form, command, tmp_path):
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} here")
    text = text_of(1, 500_000) + bytes(100_000) + random.Random(1).randbytes(100_000)
    (tmp_path / "file").write_bytes(text)
    content = subprocess.run([*command, "-c", str(tmp_path / "file")], check=True, capture_output=True).stdout
    read = Read(form, content + content, 50_000)
    assert (read.text, read.errors) == (text + text, [])
