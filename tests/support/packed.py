"""What tests of forms share: archives made by the standard library, and a reader that plays what it is told."""

import functools
import io
import struct
import tarfile
import zipfile

import zstandard

from urnscan.errors import SourceError
from urnscan.formats.contents import Member, Texts
from urnscan.formats.context import Reading
from urnscan.formats.unfold import open_documents
from urnscan.stores.input import Input
from urnscan.stores.reader import Reader


def one_by_one(opened):
    """What an opened archive gives: names and readers of members, none together with others, and errors."""
    for found in opened:
        members = map(Member.of, found.documents()) if isinstance(found, Texts) else [found]
        for member in members:
            yield member[:2] if isinstance(member, Member) else member


def tar(members):
    """A tar archive of (name, bytes)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(members, method=zipfile.ZIP_DEFLATED):
    """A zip archive of (name, bytes)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


@functools.cache
def dictionary():
    """A dictionary of Zstandard with the number 99, trained on records of web archives."""
    record = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/{0}\r\nContent-Length: {0}\r\n\r\nurn:in:dictionary"
    return zstandard.train_dictionary(2048, [record.format(number).encode() * 2 for number in range(999)], dict_id=99)


def dictionary_frame(content=None, *, is_compressed=False):
    """The first frame of a `.warc.zst`, with a dictionary in it."""
    content = dictionary().as_bytes() if content is None else content
    data = zstandard.ZstdCompressor(write_checksum=True).compress(content) if is_compressed else content
    return b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(data)) + data


def with_dictionary(text):
    """A frame that needs the dictionary."""
    return zstandard.ZstdCompressor(dict_data=dictionary(), write_checksum=True).compress(text)


def contents(path, limits):
    """Members and texts of an archive, with errors and the limit in their places."""
    out = []
    try:
        for found in open_documents(Input(path.name, str(path), path.stat().st_size), Reading(limits=limits)):
            if isinstance(found, SourceError):
                out.append(str(found))
            else:
                view, data = memoryview(bytearray(1 << 16)), b""
                try:
                    while got := found.reader.read_into(view):
                        data += view[:got]
                finally:
                    out.append((found.member, found.codec, data))
    except SourceError as error:
        out.append(str(error))
    return out


class Given(Reader):
    """Gives its parts one by one, at most `most` bytes at a time; raises those that are errors, calls those that can be."""

    def __init__(self, *parts, most=1 << 20):
        self.parts = list(parts)
        self.most = most
        self.reads = 0
        self.closed = False

    def read_into(self, view):
        self.reads += 1
        while self.parts:
            part = self.parts.pop(0)
            if isinstance(part, Exception):
                raise part
            if callable(part):
                part()
                continue
            got = min(len(part), len(view), self.most)
            view[:got] = part[:got]
            if part[got:]:
                self.parts.insert(0, part[got:])
            if got:
                return got
        return 0

    def close(self):
        self.closed = True
