"""Zip archives: every member is there, whatever wrote it; what is damaged costs its own member and no other."""

import io
import os
import random
import struct
import subprocess
import zipfile
import zlib
from shutil import which

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.support.packed import Given, contents, one_by_one
from urnscan.errors import DamageError, LimitError, SourceError
from urnscan.formats.archives import zip as zip_archives
from urnscan.formats.archives.zip import FORM, open_zip
from urnscan.formats.context import Layer, Reading
from urnscan.formats.limits import Budget, Limits
from urnscan.stores.files import File

METHODS = {"stored": 0, "deflate": 8, "bzip2": 12}
TEXT = b"".join(b"urn:isbn:%d and some words\n" % (number * 7919) for number in range(3000))


class Read:
    """All that is read of an archive."""

    def __init__(self, reader, view=5000, limits=None, upto=None):
        self.layer = Layer("x", "x", Reading(), Budget("x", limits or Limits(ratio=10**9)))
        self.layer.budget.count_read(1)
        self.members, self.errors = [], []
        block = memoryview(bytearray(view))
        for found in one_by_one(open_zip(reader, self.layer)):
            if isinstance(found, SourceError):
                self.errors.append(str(found))
                continue
            name, member = found
            text = bytearray()
            try:
                with member:
                    while upto is None or len(text) < upto:
                        got = member.read_into(block)
                        if not got:
                            assert member.read_into(block) == 0
                            break
                        text += block[:got]
            except LimitError:
                raise
            except SourceError as error:
                self.errors.append(str(error))
                assert member.read_into(block) == 0
            self.members.append((name, bytes(text)))
        self.wrong = [str(error) for error in self.layer.budget.collected()]


def read(content, **options):
    return Read(Given(content), **options)


def zipped(members, method=8, writer=io.BytesIO):
    file = writer()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return file.getvalue()


class Unseekable(io.BytesIO):
    """Makes zipfile write descriptors behind the members."""

    def seekable(self):
        return False

    def seek(self, *_):
        raise io.UnsupportedOperation

    def tell(self):
        raise io.UnsupportedOperation


def header(name, text, *, method=0, flags=0, crc=None, compressed=None, size=None, extra=b""):
    """The header of a member, with what lies in it at will."""
    crc = zlib.crc32(text) if crc is None else crc
    numbers = (20, flags, method, 0, 0, crc, len(text) if compressed is None else compressed)
    numbers += (len(text) if size is None else size, len(name), len(extra))
    return struct.pack("<4s5H3I2H", b"PK\x03\x04", *numbers) + name + extra


END = b"PK\x05\x06" + bytes(18)


@given(
    members=st.lists(st.tuples(st.text("aé中/\\. ", min_size=1), st.binary(max_size=3000)), max_size=6),
    method=st.sampled_from(list(METHODS.values())),
    writer=st.sampled_from([io.BytesIO, Unseekable]),
    part=st.integers(1, 300),
    view=st.integers(1, 4000),
)
def test_any_archive(members, method, writer, part, view):
    """Any names, contents, methods; written in one pass or not; however it arrives and is asked for."""
    members = list({name: text for name, text in members if not name.endswith(("/", "\\")) and text}.items())
    content = zipped(members, method, writer)
    found = Read(Given(*(content[at : at + part] for at in range(0, len(content), part))), view=view)
    assert (found.members, found.errors) == (members, [])


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
def test_large_members(method, writer, tmp_path):
    """More than a block of everything, from a file and from a pipe."""
    members = [("a", TEXT * 9), ("b", random.Random(1).randbytes(900_000)), ("c", TEXT)]
    content = zipped(members, method, writer)
    (tmp_path / "zip").write_bytes(content)
    file = File("zip", os.open(tmp_path / "zip", os.O_RDONLY), str(tmp_path / "zip"))
    with file:
        assert Read(file, view=1 << 20).members == members
    assert read(content).members == members


@pytest.mark.parametrize("frames", [1, 3])
def test_zstandard(frames):
    """Method 93; 7-Zip writes more than one frame when it has several threads."""
    packed = zstandard.compress(TEXT) * frames
    one = header(b"a", TEXT * frames, method=93, compressed=len(packed)) + packed
    found = read(one + one + END)
    assert (found.members, found.errors) == ([("a", TEXT * frames)] * 2, [])


def test_xz():
    """Method 95."""
    import lzma

    packed = lzma.compress(TEXT)
    one = header(b"a", TEXT, method=95, compressed=len(packed)) + packed
    assert read(one + one + END).members == [("a", TEXT)] * 2


@pytest.mark.parametrize("layout", ["<III", "<IQQ"])
@pytest.mark.parametrize(
    "text", [b"", b"a", TEXT, b"PK\x07\x08" * 3000, b"PK\x03\x04" * 3000, zipped([("in", TEXT)], 0)]
)
@pytest.mark.parametrize("view", [10, 100_000])
def test_stored_with_a_descriptor(layout, text, view):
    """Nothing but the descriptor behind it tells where it ends."""
    tail = b"PK\x07\x08" + struct.pack(layout, zlib.crc32(text), len(text), len(text))
    one = header(b"a", text, flags=8, crc=0, compressed=0, size=0) + text + tail
    found = Read(Given(one, one + zipped([("b", b"b")])), view=view)
    assert (found.members, found.errors) == ([("a", text)] * 2 + [("b", b"b")], [])


@pytest.mark.parametrize("signature", [b"PK\x07\x08", b""])
@pytest.mark.parametrize("layout", ["<III", "<IQQ"])
@pytest.mark.parametrize("crc_off", [0, 1])
def test_deflated_with_a_descriptor(signature, layout, crc_off):
    """All four shapes of it; one that says something else refuses the member, and costs no other."""
    packed = zlib.compress(TEXT, wbits=-15)
    tail = signature + struct.pack(layout, zlib.crc32(TEXT) ^ crc_off, len(packed), len(TEXT))
    one = header(b"a", TEXT, method=8, flags=8, crc=0, compressed=0, size=0) + packed + tail
    found = read(one + zipped([("b", b"b")]))
    assert found.members == [("a", TEXT), ("b", b"b")]
    assert len(found.wrong) == crc_off
    assert found.errors == []


def test_zip64():
    """Sizes of 64 bits in the extra field."""
    extra = struct.pack("<HHQQ", 1, 16, len(TEXT), len(TEXT))
    content = header(b"a", TEXT, compressed=0xFFFFFFFF, size=0xFFFFFFFF, extra=extra) + TEXT
    assert read(content + zipped([("b", b"b")])).members == [("a", TEXT), ("b", b"b")]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a", "w", force_zip64=True) as member:
        member.write(TEXT)
    assert read(file.getvalue()).members == [("a", TEXT)]


def test_names():
    """Code page 437 unless the flag says UTF-8 or the extra field has the name; what is not UTF-8 is escaped."""
    unicode_path = b"\x01" + struct.pack("<I", zlib.crc32(b"\x82")) + "中".encode()
    cases = {
        "é": header(b"\x82", b"x"),
        "ü": header("ü".encode(), b"x", flags=0x800),
        "a\\xff": header(b"a\xff", b"x", flags=0x800),
        "中": header(b"\x82", b"x", extra=struct.pack("<HH", 0x7075, len(unicode_path)) + unicode_path),
        "../../etc/passwd": header(b"../../etc/passwd", b"x"),
    }
    found = read(b"".join(head + b"x" for head in cases.values()) + END)
    assert (found.members, found.errors) == ([(name, b"x") for name in cases], [])


def test_members_without_data_are_passed_over():
    """If their headers say so; deflated, nothing has two bytes."""
    nothing = [("folder/", b""), ("empty", b"")]
    found = read(zipped([*nothing, ("a", b"a")], 0))
    assert (found.members, found.errors) == ([("a", b"a")], [])
    for method, writer in ((8, io.BytesIO), (0, Unseekable), (8, Unseekable)):
        found = read(zipped([*nothing, ("a", b"a")], method, writer))
        assert (found.members, found.errors) == ([*nothing, ("a", b"a")], [])


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
def test_a_folder_with_data_is_read(method, writer):
    """By its name alone it was passed over, and its text lost."""
    members = [("docs/", TEXT), ("b", b"b")]
    found = read(zipped(members, method, writer))
    assert (found.members, found.errors) == (members, [])


@pytest.mark.parametrize("method", [0, 8])
@pytest.mark.parametrize("zeros", [slice(22, 26), slice(18, 26), slice(14, 26)])
def test_a_header_that_denies_its_data_is_told(method, zeros):
    """It says size 0, or that and more, and there is no descriptor: the member was lost without a word."""
    content = bytearray(zipped([("a", TEXT), ("b", b"b")], method))
    content[zeros] = bytes(zeros.stop - zeros.start)
    found = read(bytes(content))
    assert found.members[-1] == ("b", b"b")
    assert found.wrong or not any(text for _, text in found.members[:-1])
    told = found.wrong + found.errors
    assert 1 <= len(told) <= 2
    wrong = "x!/a: its checksum or size is wrong; its text may be damaged"
    lost = "x: no zip record at byte 31; skipped to the next one"
    assert told[-1] == (lost if zeros.start == 14 or (zeros.start, method) == (18, 0) else wrong)


def test_an_empty_archive_and_its_comment():
    found = read(END[:-2] + b"\x05\x00hello")
    assert (found.members, found.errors) == ([], [])


@pytest.mark.parametrize("mark", [b"PK\x07\x08", b"PK00"])
def test_a_mark_in_front(mark):
    found = read(mark + zipped([("a", TEXT)]))
    assert (found.members, found.errors) == ([("a", TEXT)], [])


def test_archives_one_after_the_other():
    found = read(zipped([("a", TEXT)]) + zipped([("b", TEXT)]))
    assert (found.members, found.errors) == ([("a", TEXT), ("b", TEXT)], [])


def test_what_follows_the_archive_and_is_none_is_reported():
    one = zipped([("a", TEXT)])
    for tail, members in ((b"trailing", 1), (b"x", 1), (b"between" + one, 2)):
        found = read(one + tail)
        assert len(found.members) == members
        assert found.errors == [f"x: no zip record at byte {len(one)}; skipped to the next one"]


def test_the_signature_of_an_android_package():
    content = zipped([("a", TEXT)])
    at = content.index(b"PK\x01\x02")
    size = struct.pack("<Q", 100 + 24)
    found = read(content[:at] + size + bytes(100) + size + b"APK Sig Block 42" + content[at:])
    assert (found.members, found.errors) == ([("a", TEXT)], [])


@pytest.mark.parametrize(
    ("flags", "method", "reason"),
    [
        (1, 8, "encrypted, which is not read; decrypt it first"),
        (0x41, 8, "encrypted, which is not read; decrypt it first"),
        (1, 99, "encrypted, which is not read; decrypt it first"),
        # A workbook with a damaged header was called encrypted.
        (0x40, 8, "its header is damaged, so it is not read; copy the archive again"),
        (0x8001, 8, "its header is damaged, so it is not read; copy the archive again"),
        (0, 99, "its header is damaged, so it is not read; copy the archive again"),
        (0, 9, "compressed by method 9 (Deflate64), which is not read; unpack it and compress it by another"),
        (0, 77, "compressed by method 77 (unknown), which is not read; unpack it and compress it by another"),
    ],
)
@pytest.mark.parametrize("descriptor", [b"", b"PK\x07\x08" + bytes(12)])
def test_what_is_not_read_fails_by_name(flags, method, reason, descriptor):
    """With its size in the header, and with nothing but the next member to tell its end."""
    size = 0 if descriptor else 1000
    secret = random.Random(1).randbytes(1000)
    head = header(b"b", secret, method=method, flags=flags | 8 * bool(descriptor), compressed=size, size=size)
    first = zipped([("a", TEXT)])
    first = first[: first.index(b"PK\x01\x02")]
    found = read(first + head + secret + descriptor + zipped([("c", TEXT)]))
    assert (found.members, found.errors) == ([("a", TEXT), ("c", TEXT)], ["x!/b: " + reason])


@pytest.mark.skipif(which("zip") is None, reason="there is no zip command")
@pytest.mark.parametrize("options", [["-q"], ["-q", "-0"], ["-q", "-e", "-P", "x"], ["-q", "-Z", "bzip2"]])
def test_info_zip(tmp_path, options):
    for name in "ab":
        (tmp_path / name).write_bytes(TEXT)
    for target in ("to.zip", "-"):
        done = subprocess.run(["zip", *options, target, "a", "b"], cwd=tmp_path, check=True, capture_output=True)
        found = read(done.stdout or (tmp_path / "to.zip").read_bytes())
        if "-e" in options:
            assert found.members == []
            assert found.errors == [f"x!/{name}: encrypted, which is not read; decrypt it first" for name in "ab"]
        else:
            assert (found.members, found.errors) == ([("a", TEXT), ("b", TEXT)], [])


def test_cut_off_between_two_records():
    """It is told wherever no end of a directory stands last, also behind another archive that is whole."""
    whole = zipped([("a", TEXT), ("b", b"b" * 99)])
    entry = whole.index(b"PK\x01\x02", whole.index(b"PK\x01\x02") + 4)
    member = whole[: whole.index(b"PK\x03\x04", 4)]
    for content, names in ((whole[:entry], ["a", "b"]), (whole + member, ["a", "b", "a"])):
        found = read(content)
        assert [name for name, _ in found.members] == names
        assert found.errors == [f"x: truncated zip file (at byte {len(content)}, before the end of its directory)"]


@pytest.mark.parametrize("before", [1, 4, 29, 30, 31])
def test_a_member_where_two_searches_meet(before):
    """It is found that begins so many bytes before the end of what is looked through at a time."""
    first, second = (zipped([(name, b"text")], 0)[:35] for name in "ab")
    content = first + b"\1" * ((1 << 16) - before) + second + END
    assert read(content).members == [("a", b"text"), ("b", b"text")]


def test_a_stored_member_has_the_less_of_its_two_sizes():
    """One of them is damaged; were it the larger, the members that follow would be text of this one."""
    content = bytearray(zipped([("a", TEXT), ("b", b"b" * 99)], 0))
    content[20] += 1  # its compressed size: 65,536 more
    found = read(bytes(content))
    assert found.members == [("a", TEXT), ("b", b"b" * 99)]


def test_a_unicode_name_is_that_of_the_name_that_it_was_made_for():
    """APPNOTE, 4.6.9: where the CRC is that of another name, the member was renamed since."""
    for name, expected in ((b"a", "new"), (b"b", "a")):
        extra = struct.pack("<HHBI", 0x7075, 8, 1, zlib.crc32(name)) + b"new"
        assert read(header(b"a", b"text", extra=extra) + b"text" + END).members == [(expected, b"text")]


def test_behind_a_hole_below_there_is_a_way_back():
    """In a pipe, too, a record is searched for from a damaged member on, whatever that says of its size."""
    content = bytearray(zipped([("a", TEXT), ("b", TEXT), ("c", b"c" * 99)]))
    second = content.index(b"PK\x03\x04", 4)
    content[second + 18] ^= 0x55  # its compressed size
    content[second + 200 : second + 220] = bytes(20)
    found = Read(Given(content[:1000], DamageError("below", "a hole"), content[1500:]))
    assert found.members[-1] == ("c", b"c" * 99)
    assert [name for name, _ in found.members] == ["a", "b", "c"]
    assert found.errors[0] == "below: a hole"
    assert len(found.errors) == 2


@pytest.mark.parametrize("method", [0, 8])
def test_a_wrong_size_is_told_as_a_wrong_checksum_is(method):
    """All is given, though its CRC is right."""
    content = bytearray(zipped([("a", TEXT), ("b", b"b" * 99)], method))
    content[22] += 1  # of its size
    found = read(bytes(content))
    assert found.members == [("a", TEXT), ("b", b"b" * 99)]
    assert found.wrong == ["x!/a: its checksum or size is wrong; its text may be damaged"]
    assert found.errors == []


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
def test_a_wrong_checksum_is_told_and_costs_nothing(method, writer):
    """The bytes of all members are given, and the one is named."""
    content = bytearray(zipped([("a", b"a" * 99), ("b", TEXT), ("c", b"c" * 99)], method, writer))
    at = content.index(b"PK\x03\x04", 1) + 14
    if writer is Unseekable:
        at = content.index(b"PK\x07\x08", at) + 4
    content[at] ^= 1
    found = read(bytes(content))
    assert found.members == [("a", b"a" * 99), ("b", TEXT), ("c", b"c" * 99)]
    assert found.wrong == ["x!/b: its checksum or size is wrong; its text may be damaged"]
    assert found.errors == []


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("upto", [0, 10, 10_000])
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
def test_a_member_that_is_not_read_on(method, upto, writer):
    """Closed early, it is passed over."""
    members = [("a", TEXT * 5), ("b", TEXT * 5), ("c", TEXT)]
    found = read(zipped(members, method, writer), upto=upto)
    assert [name for name, _ in found.members] == ["a", "b", "c"]
    assert (found.errors, found.wrong) == ([], [])


def undamaged_front(packed):
    """What comes out of the bytes before a damage, byte by byte."""
    decompressor = zlib.decompressobj(wbits=-15)
    out = b""
    try:
        for at in range(len(packed)):
            out += decompressor.decompress(packed[at : at + 1])
    except zlib.error:
        return out
    return None


def test_what_decodes_before_a_damage_is_given_exactly():
    """All of it, though the library loses what it had decoded in the call that failed."""
    rng = random.Random(5)
    packed = zlib.compress(TEXT, wbits=-15)
    after = zipped([("b", TEXT)])
    count = 0
    for _ in range(30):
        at = rng.randrange(len(packed) - 300)
        damaged = packed[:at] + rng.randbytes(300) + packed[at + 300 :]
        front = undamaged_front(damaged)
        if front is None:
            continue
        count += 1
        head = header(b"a", TEXT, method=8, compressed=len(packed))
        found = read(head + damaged + after, view=rng.choice([100, 5000, 100_000]))
        assert found.members == [("a", front), ("b", TEXT)]
        assert "damaged" in found.errors[0]
        assert len(found.errors) == 1
    assert count > 5


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
def test_cut_off_anywhere(method, writer):
    """Members before the end are whole, the one that is cut is as far as it goes, and it is said once."""
    members = [(name, TEXT[:4000]) for name in "abc"]
    content = zipped(members, method, writer)
    directory = content.index(b"PK\x01\x02")
    rng = random.Random(3)
    for at in [*rng.sample(range(4, len(content)), 60), directory]:
        found = read(content[:at])
        assert len(found.errors) == 1, at
        assert "truncated" in found.errors[0]
        assert len(found.members) <= 3
        for (name, text), whole in zip(found.members, members, strict=False):
            assert name == whole[0]
            if method or writer is io.BytesIO:
                assert whole[1].startswith(text)
        assert [text for _, text in found.members[:-1]] == [
            text for _, text in members[: max(0, len(found.members) - 1)]
        ]
        if at >= directory:
            assert found.members == members


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
def test_flipped_bits(method, writer):
    """Never a crash; all but one or two members are whole; what differs and is not told to be wrong is only the name."""
    texts = {f"name{number}": TEXT[number * 50 : number * 50 + 2000] for number in range(8)}
    content = zipped(texts.items(), method, writer)
    directory = content.index(b"PK\x01\x02")
    rng = random.Random(method)
    for _ in range(150):
        at = rng.randrange(len(content))
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        found = read(bytes(damaged))
        whole = [name for name, text in found.members if texts.get(name) == text]
        assert len(whole) >= (6 if at < directory else 8), (at, found.errors)
        for name, text in found.members:
            assert found.errors or found.wrong or text in texts.values(), (at, name)


@given(st.data())
def test_whatever_the_bytes_are(data):
    """No crash, no hang: parts of archives in any order, with anything between."""
    whole = zipped([("a", b"urn:a:b" * 30), ("b", b"c" * 40)], data.draw(st.sampled_from(list(METHODS.values()))))
    pieces = st.one_of(st.binary(max_size=60), st.tuples(st.integers(0, 400), st.integers(0, 400)))
    content = b""
    for piece in data.draw(st.lists(pieces, max_size=8)):
        content += piece if isinstance(piece, bytes) else whole[min(piece) : max(piece)]
    found = read(whole[:4] + content, view=data.draw(st.integers(1, 1000)))
    assert len(found.errors) < 50


def test_hostile_sizes():
    """Larger than anything: cut off, and no memory taken for it."""
    extra = struct.pack("<HHQQ", 1, 16, 1 << 63, (1 << 64) - 1)
    for method in (0, 8, 12):
        content = header(b"a", b"", method=method, compressed=0xFFFFFFFF, size=0xFFFFFFFF, extra=extra) + b"\x00" * 50
        found = read(content)
        assert len(found.errors) == 1
    found = read(header(b"a", b"", flags=1, compressed=0xFFFFFFFF, size=0xFFFFFFFF, extra=extra))
    assert "encrypted" in found.errors[0] or "cut off" in found.errors[0]


def test_headers_that_lie_do_not_take_forever():
    """Each sends the search far ahead and back again: only so often."""
    content = (header(b"a", b"", method=8, compressed=50_000_000, size=5) + b"\xff") * 100_000
    found = read(content)
    assert 0 < len(found.errors) < 1000


def test_without_isal(monkeypatch):
    """There is none for some machines; zlib reads the same."""
    import sys

    monkeypatch.setitem(sys.modules, "isal", None)
    members = [("a", TEXT * 20), ("b", TEXT)]
    for writer in (io.BytesIO, Unseekable):
        found = read(zipped(members, 8, writer))
        assert (found.members, found.errors) == (members, [])


@pytest.mark.full
def test_a_bomb_ends_at_the_limit():
    """LimitError passes through, also from a member that is only passed over."""
    content = zipped([("a", bytes(200 << 20))], writer=Unseekable)
    for upto in (None, 0):
        with pytest.raises(LimitError):
            read(content, limits=Limits(size=1 << 20), upto=upto)


def test_damage_below():
    """The member is as far as it goes, the error is that of the reader below, and members behind are found."""
    members = [(name, TEXT) for name in "abcd"]
    for method in METHODS.values():
        content = zipped(members, method)
        at = content.index(b"PK\x03\x04", 50) + 60
        found = Read(Given(content[:at], DamageError("below", "a hole"), content[at + 20 :]))
        assert found.members[0] == members[0]
        assert found.members[-2:] == members[2:]
        assert TEXT.startswith(found.members[1][1])
        assert found.errors == ["below: a hole"]


def test_a_failure_below_is_the_end():
    content = zipped([("a", TEXT)], 0)
    found = Read(Given(content[:500], SourceError("below", "gone")))
    assert (len(found.members), found.errors) == (1, ["below: gone"])
    with pytest.raises(SourceError, match="below: gone"):
        Read(Given(content[:20], SourceError("below", "gone")))


LAYER = Layer("x", "x", Reading(), Budget("x", Limits()))


@pytest.mark.parametrize("content", [zipped([("a", b"a")]), END, b"PK\x07\x08PK\x03\x04", b"PK00PK\x03\x04"])
def test_recognised(content):
    """By as many bytes as it takes, and no more are asked for."""
    assert FORM.recognise(content, LAYER)
    assert FORM.recognise(content[:3], LAYER) is None


@pytest.mark.parametrize("content", [b"x", b"PKx", b"PK\x03x", b"MZ" + zipped([("a", b"a")]), b"PK\x01\x02"])
def test_not_recognised(content):
    assert FORM.recognise(content, LAYER) is False


@pytest.mark.full
@pytest.mark.parametrize("writer", [io.BytesIO, Unseekable])
@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("upto", [10, 10_000])
def test_a_wrong_checksum_of_a_member_that_was_not_read_on_is_told(writer, method, upto):
    """Its end is read for the checksum alone."""
    content = bytearray(zipped([("a", TEXT), ("b", TEXT * 5), ("c", TEXT)], method, writer))
    right = struct.pack("<I", zlib.crc32(TEXT * 5))
    for at in [at for at in range(len(content)) if content.startswith(right, at)]:
        content[at] ^= 1
    found = read(bytes(content), upto=upto)
    assert [name for name, _ in found.members] == ["a", "b", "c"]
    assert found.wrong == ["x!/b: its checksum or size is wrong; its text may be damaged"]
    assert found.errors == []


@pytest.mark.parametrize("kind", ["empty", "folder", "encrypted"])
def test_members_that_are_passed_over_count(kind):
    """Else an archive of nothing but them would have no limit."""
    content = zipped([(f"{number}/" if kind == "folder" else str(number), b"") for number in range(4)], 0)
    if kind == "encrypted":
        content = content.replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01")
        assert len(read(content).errors) == 4
    assert read(content, limits=Limits(members=4)).members == []
    with pytest.raises(LimitError, match="more than 3 members"):
        read(content, limits=Limits(members=3))


def test_a_file_that_is_cut_off_between_the_frames_of_a_member():
    frame = zstandard.compress(TEXT)
    header = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 93, 0, 0, 0, 2 * len(frame), 2 * len(TEXT), 1, 0) + b"a"
    found = read(header + frame)
    assert found.members == [("a", TEXT)]
    assert found.errors == [f"x!/a: truncated: only {len(frame):,} of {2 * len(frame):,} compressed bytes are present"]


def deflated(text):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(text) + packer.flush()


TEXTS = st.one_of(
    st.binary(max_size=300),
    st.sampled_from(
        [b"urn:a:b" * 999, b"\xef\xbb\xbfurn:a:mark", "urn:a:b".encode("utf-16"), zipped([("in", b"urn:a:c")])]
    ),
)
PARTS = st.one_of(
    st.builds(
        lambda name, text, wrong, size, behind: (
            header(
                name,
                text,
                method=8,
                crc=zlib.crc32(text) ^ wrong,
                compressed=len(deflated(text)),
                size=max(0, len(text) + size),
            )
            + deflated(text)
            + behind
        ),
        st.sampled_from([b"a", b"b/c.gz", b"\x82.txt"]),
        TEXTS,
        st.sampled_from([0, 0, 0, 1]),
        st.sampled_from([0, 0, 0, 1, -1]),
        st.sampled_from([b"", b"", b"", b"?"]),
    ),
    st.builds(
        lambda name, text, flags, more: header(name, text, flags=flags, compressed=len(text) + more) + text,
        st.sampled_from([b"d", b"e/"]),
        TEXTS,
        st.sampled_from([0, 0, 0, 1, 8, 1 << 11]),
        st.sampled_from([0, 0, 0, 1, 5000]),
    ),
    st.builds(zipped, st.lists(st.tuples(st.sampled_from("xy"), TEXTS), max_size=2, unique_by=lambda each: each[0])),
    st.builds(zipped, st.just([("u", b"urn:a:u" * 40)]), st.just(8), st.just(Unseekable)),
    st.binary(max_size=9),
)


@given(
    st.lists(PARTS, max_size=6),
    st.one_of(st.just(0), st.integers(0, 2000)),
    st.sampled_from(
        [Limits(), Limits(members=3), Limits(depth=1), Limits(depth=2), Limits(size=900), Limits(size=2500)]
    ),
)
def test_members_together_are_what_each_is_alone(tmp_path_factory, parts, cut, limits):
    """Members that are taken together give the names, texts and errors of those that are taken one by one."""
    path = tmp_path_factory.getbasetemp() / "members.zip"
    content = header(b"first", b"urn:a:first") + b"urn:a:first" + b"".join(parts) + END
    path.write_bytes(content[: max(60, len(content) - cut)])
    together = contents(path, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zip_archives._ZipMembers, "_run", lambda _: None)
        patch.setattr(zip_archives._ZipMembers, "_pass_over_entries", lambda _: None)
        assert contents(path, limits) == together


@pytest.mark.parametrize("method", [0, 8])
def test_members_are_taken_together(method):
    """An archive of small members costs no reader for each."""
    content = zipped([(str(number), b"urn:a:%d" % number) for number in range(9)], method)
    (texts,) = open_zip(Given(content), Layer("x", "x", Reading(), Budget("x", Limits())))
    assert [label.member for label in texts.labels] == [*"012345678"]
    assert [bytes(texts.data[start:end]) for start, end in zip(texts.starts, texts.ends, strict=True)] == [
        b"urn:a:%d" % number for number in range(9)
    ]
