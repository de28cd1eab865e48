"""What libarchive reads (the extra `libarchive`): names, texts, limits and damage, as of a zip archive."""

import binascii
import gzip
import importlib.util
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import urnscan
from tests.support.packed import zipped
from urnscan.errors import SourceError, SourceNote
from urnscan.formats.archives import by_libarchive
from urnscan.formats.contents import Document
from urnscan.formats.context import Reading
from urnscan.formats.limits import Limits
from urnscan.formats.unfold import open_documents
from urnscan.stores.input import Input

pytestmark = pytest.mark.skipif(bool(by_libarchive.missing()), reason=by_libarchive.missing())

FILES = [("a.txt", b"urn:ex:a " * 50), ("b.txt", b"urn:ex:b")]


def written(format_, filter_=None):
    """An archive of FILES that libarchive writes."""
    import libarchive

    content = bytearray()

    def add(block):
        content.extend(block)
        return len(block)

    with libarchive.custom_writer(add, format_, filter_) as archive:
        for name, text in FILES:
            archive.add_file_from_memory(name, len(text), text)
    return bytes(content)


def cabinet():
    """A cabinet that packs nothing ([MS-CAB], 2.2 and 2.3)."""
    data = b"".join(text for _, text in FILES)
    entries, at = b"", 0
    for name, text in FILES:
        entries += struct.pack("<IIHHHH", len(text), at, 0, 0x5A21, 0, 0x20) + name.encode() + b"\0"
        at += len(text)
    start = 36 + 8 + len(entries)
    head = struct.pack("<4sIIIIIBBHHHHH", b"MSCF", 0, start + 8 + len(data), 0, 44, 0, 3, 1, 1, len(FILES), 0, 1, 0)
    return head + struct.pack("<IHH", start, 1, 0) + entries + struct.pack("<IHH", 0, len(data), len(data)) + data


def crc16(content):
    """CRC-16/ARC."""
    crc = 0
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 * (crc & 1)
    return crc


def lha():
    """An LHA archive of level 0 that packs nothing."""
    out = b""
    for name, text in FILES:
        rest = struct.pack("<5sIIIBBB", b"-lh0-", len(text), len(text), 0x5A210000, 0x20, 0, len(name))
        rest += name.encode() + struct.pack("<H", crc16(text))
        out += bytes((len(rest), sum(rest) & 0xFF)) + rest + text
    return out + b"\0"


def rar():
    """A RAR archive of version 4 that packs nothing."""

    def block(body):
        return struct.pack("<H", binascii.crc32(body) & 0xFFFF) + body

    out = b"Rar!\x1a\x07\0" + block(struct.pack("<BHH6x", 0x73, 0, 13))
    for name, text in FILES:
        sizes = struct.pack("<BHHII", 0x74, 0x8000, 32 + len(name), len(text), len(text))
        facts = struct.pack("<BIIBBHI", 3, binascii.crc32(text), 0x5A210000, 20, 0x30, len(name), 0o100644)
        out += block(sizes + facts + name.encode()) + text
    return out + block(struct.pack("<BHH", 0x7B, 0x4000, 7))


def rpm():
    """An RPM package of version 3: two headers, and a payload."""
    lead = b"\xed\xab\xee\xdb\3\0" + bytes(90)
    header = b"\x8e\xad\xe8\1" + bytes(4) + struct.pack(">II", 1, 8) + bytes(16 + 8)
    return lead + header + header + gzip.compress(written("cpio_newc"))


FORMS = {
    "a.7z": lambda: written("7zip"),
    "a.rar": rar,
    "a.cab": cabinet,
    "a.lzh": lha,
    "a.xar": lambda: written("xar"),
    "a.rpm": rpm,
    "a.iso": lambda: written("iso9660"),
    "a.cpio": lambda: written("cpio_newc"),
    "b.cpio": lambda: written("cpio"),
    "a.a": lambda: written("ar_svr4"),
    "a.tar.lz": lambda: written("ustar", "lzip"),
    "a.tlz": lambda: written("ustar", "lzip"),
    "a.tar.Z": lambda: written("ustar", "compress"),
}


@pytest.fixture(scope="module")
def archives():
    class Archives(dict):
        def __repr__(self):  # hypothesis prints it
            return "archives"

    return Archives({name: make() for name, make in FORMS.items()})


def opened(path, **limits):
    """Members with their texts, and errors, in their order."""
    view, out = memoryview(bytearray(1000)), []
    try:
        for found in open_documents(Input("x", str(path), path.stat().st_size), Reading(limits=Limits(**limits))):
            if isinstance(found, SourceError):
                out.append(found)
                continue
            assert isinstance(found, Document)
            text = b""
            out.append(found.member)
            try:
                while got := found.reader.read_into(view):
                    text += bytes(view[:got])
            except SourceError as error:
                out.append(error)
            out[out.index(found.member)] = (found.member, text)
    except SourceError as error:
        out.append(error)
    return out


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("within", ["", "gzip", "zip"])
def test_members(tmp_path, archives, name, within):
    """Under any name, and inside other forms; ISO 9660 has names of its own."""
    content, way = archives[name], ""
    if within == "gzip":
        content = gzip.compress(content)
    elif within == "zip":
        content, way = zipped([("inner", content), ("z.txt", b"z")]), "inner!/"
    (tmp_path / "x").write_bytes(content)
    found = [(member.lower(), text) for member, text in opened(tmp_path / "x")]
    expected = [(f"{way}{member}", text) for member, text in FILES] + [("z.txt", b"z")] * (within == "zip")
    assert sorted(found) == sorted(expected)


def test_places(tmp_path, archives):
    """A name is at its place in the member, as in a zip archive; what is packed in a member is read."""
    (tmp_path / "a.7z").write_bytes(archives["a.7z"])
    scan = urnscan.scan(tmp_path / "a.7z", progress=False)
    rows = [(row["member"], row["start"]) for row in scan.occurrences.to_pylist()]
    assert rows == [*(("a.txt", 9 * number) for number in range(50)), ("b.txt", 0)]
    assert not scan.report.failures


@pytest.mark.parametrize("name", FORMS)
def test_limits(tmp_path, archives, name):
    """--max-members and --max-size stop an archive that unfolds without end; --max-depth one in an archive."""
    (tmp_path / "x").write_bytes(archives[name])
    assert "has more than 1 member;" in str(opened(tmp_path / "x", members=1)[-1])
    assert "unpacks to more than 100 bytes" in str(opened(tmp_path / "x", size=100)[-1])
    assert any("nested more than 0 deep" in str(found) for found in opened(tmp_path / "x", depth=0))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FORMS)), st.floats(0, 1, exclude_max=True))
def test_an_archive_that_is_cut_off_is_told(tmp_path, archives, name, where):
    """All members are there, or an error says what is missing, or the bytes are scanned as they are.

    But libarchive takes the end of `ar`, RAR and LHA between two members for the end, and what compress wrote does not say where it ends.
    """
    content = archives[name][: max(8, int(where * len(archives[name])))]
    (tmp_path / name).write_bytes(content)
    out = opened(tmp_path / name)
    members = [found for found in out if isinstance(found, tuple) and found[0] is not None]
    errors = [found for found in out if isinstance(found, SourceError) and not isinstance(found, SourceNote)]
    whole = sorted((member.lower(), text) for member, text in members) == sorted(FILES)
    assert whole or errors or out == [(None, content)] or name in ("a.a", "a.rar", "a.lzh", "a.tar.Z")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FORMS)), st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 255)), max_size=5))
def test_whatever_is_damaged_it_ends(tmp_path, archives, name, flips):
    """Damage gives errors of one line, and no other."""
    content = bytearray(archives[name])
    for at, bits in flips:
        content[at % len(content)] ^= bits
    (tmp_path / name).write_bytes(content)
    assert all("\n" not in str(found) for found in opened(tmp_path / name) if isinstance(found, SourceError))


def test_without_it_the_line_names_the_package(tmp_path, archives, monkeypatch):
    """Each form says what reads it."""
    by_libarchive.missing.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    try:
        for name, content in archives.items():
            (tmp_path / name).write_bytes(content)
            assert "pip install 'urnscan[libarchive]'" in " ".join(map(str, opened(tmp_path / name)))
    finally:
        by_libarchive.missing.cache_clear()
