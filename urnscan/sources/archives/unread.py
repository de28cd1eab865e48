"""Files that are not read in their form: archives of other forms, and files whose names and first octets disagree.

An archive whose first header is damaged is known by its name and by octets that no text has; it is read from its next
header on. Of a table, which has all that matters in one place, what is there is scanned as it is.
"""

import re
from collections.abc import Iterator
from typing import NoReturn

from urnscan.errors import SourceError
from urnscan.sources.documents import Document
from urnscan.sources.encodings import WIDE_MARKS, is_binary
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins

__all__ = [
    "DATABASES",
    "TABLES",
    "UNREAD",
    "ZIPS",
    "is_ar",
    "is_damaged_database",
    "is_damaged_tar",
    "is_damaged_warc",
    "is_like_binary",
    "is_of",
    "refuse",
    "scan_ar",
    "scan_mistaken",
]

UNREAD = {
    "a 7z archive": (b"7z\xbc\xaf\x27\x1c",),
    "a RAR archive": (b"Rar!\x1a\x07",),
    "a cabinet": (b"MSCF\0\0\0\0",),
    "what compress wrote": tuple(b"\x1f\x9d%c" % (block | bits) for block in (0, 0x80) for bits in range(9, 17)),
}
"""Archives that are not read, by the octets with which they begin."""
_AR = b"!<arch>\n"

ZIPS = (
    *(".zip", ".jar", ".war", ".ear", ".apk", ".xpi", ".whl", ".epub", ".kmz", ".cbz", ".wacz"),
    *(".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".pptm", ".odt", ".ods", ".odp", ".odg"),
)
"""Suffixes of zip archives."""
TABLES = {
    "a Parquet file": (".parquet",),
    "an Arrow file": (".arrow", ".feather"),
    "an SQLite database": (".sqlite", ".sqlite3"),
}
"""Suffixes of tables."""
DATABASES = (".db", ".db3")
"""Suffixes of SQLite databases and of other databases."""

_BLOCK = 512  # octets of the header of a tar archive
_FRACTIONS = slice(21, 24)  # where in an SQLite database octets stand that are always the same
_ALWAYS = b"\x40\x20\x20"
_RECORD = re.compile(rb"(?im)^(?:WARC-[A-Z-]+[ \t]*:|WARC/[0-9])")
_RECORD_IN = 1 << 10  # octets by which a damaged web archive is known


def is_of(magics: tuple[bytes, ...], head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its octets tell)
    """Whether it begins with one of these."""
    return begins(head, *magics)


def refuse(what: str, reader: Reader, layer: Layer) -> NoReturn:  # noqa: ARG001 (nothing is read)
    """Raises SourceError: such a file is not read."""
    raise SourceError(layer.name, f"{what} is not read: unpack it first")


def is_ar(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (it is known by its octets)
    """Whether it is an archive of ar."""
    return begins(head, _AR)


def scan_ar(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
    """The octets of an archive of ar, which compresses nothing."""
    yield SourceError(
        layer.name, "an ar archive is not read: scanned as it is; unpack it first for what is packed in it"
    )
    yield Document(layer.member, reader)


def is_like_binary(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether octets that begin so are no text."""
    return is_binary(head)


def is_damaged_tar(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether a file called a tar archive is one: NULs fill the fields of its first header."""
    if head.startswith(WIDE_MARKS):
        return False
    return b"\0" in head[:_BLOCK] or (None if len(head) < _BLOCK else False)


def is_damaged_warc(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether a file called a web archive is one: fields of a record are in its first octets."""
    return _RECORD.search(head[:_RECORD_IN]) is not None or (None if len(head) < _RECORD_IN else False)


def is_damaged_database(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether a file called a database is one of SQLite; other databases have such names, too."""
    return head[_FRACTIONS] == _ALWAYS or (None if len(head) < _FRACTIONS.stop else False)


def scan_mistaken(what: str, reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
    """The octets of a file that only has the name of a form."""
    yield SourceError(layer.name, f"is named like {what} but does not begin like one: scanned as it is")
    yield Document(layer.member, reader)
