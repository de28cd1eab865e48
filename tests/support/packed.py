"""What tests of forms share: archives made by the standard library, and a reader that plays what it is told."""

import io
import tarfile
import zipfile

from urnscan.sources import Reader


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
