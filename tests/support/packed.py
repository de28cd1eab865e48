"""What tests of forms share: archives made by the standard library, and a reader that plays what it is told."""

import io
import tarfile
import zipfile

from urnscan.errors import SourceError
from urnscan.sources.documents import Member, Texts
from urnscan.sources.inputs import Input
from urnscan.sources.layers import Reading
from urnscan.sources.reader import Reader
from urnscan.sources.texts import open_documents


def one_by_one(opened):
    """What an opened archive gives: names and readers of members, none together with others, and errors."""
    for found in opened:
        members = map(Member.of, found.documents()) if isinstance(found, Texts) else [found]
        for member in members:
            yield member[:2] if isinstance(member, Member) else member


def tar(members):
    """A tar archive of (name, octets)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, octets in members:
            info = tarfile.TarInfo(name)
            info.size = len(octets)
            archive.addfile(info, io.BytesIO(octets))
    return out.getvalue()


def zipped(members, method=zipfile.ZIP_DEFLATED):
    """A zip archive of (name, octets)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, octets in members:
            archive.writestr(zipfile.ZipInfo(name), octets, method)
    return out.getvalue()


def contents(path, limits):
    """Members and texts of an archive, with errors and the limit in their places."""
    out = []
    try:
        for found in open_documents(Input(path.name, str(path), path.stat().st_size), Reading(limits=limits)):
            if isinstance(found, SourceError):
                out.append(str(found))
            else:
                view, octets = memoryview(bytearray(1 << 16)), b""
                try:
                    while got := found.reader.read_into(view):
                        octets += view[:got]
                finally:
                    out.append((found.member, found.codec, octets))
    except SourceError as error:
        out.append(str(error))
    return out


class Given(Reader):
    """Gives its parts one by one, at most `most` octets at a time; raises those that are errors, calls those that can be."""

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
