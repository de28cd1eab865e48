"""What is not read as what it is: archives of other forms, and what its name says and its first octets do not.

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
"""What begins so is not read."""
_AR = b"!<arch>\n"

ZIPS = (
    *(".zip", ".jar", ".war", ".ear", ".apk", ".xpi", ".whl", ".epub", ".kmz", ".cbz", ".wacz"),
    *(".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".pptm", ".odt", ".ods", ".odp", ".odg"),
)
"""What the names of zip archives end in."""
TABLES = {
    "a Parquet file": (".parquet",),
    "an Arrow file": (".arrow", ".feather"),
    "an SQLite database": (".sqlite", ".sqlite3"),
}
"""What the names of tables end in."""
DATABASES = (".db", ".db3")
"""What the names of SQLite databases end in, and those of others."""

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
    """What is in an archive of ar, which compresses nothing."""
    yield SourceError(
        layer.name, "an ar archive is not read: scanned as it is; unpack it first for what is packed in it"
    )
    yield Document(layer.member, reader)


def is_like_binary(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether octets that begin so are no text."""
    return is_binary(head)


def is_damaged_tar(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether what is called a tar archive is one: what fills the fields of headers is in the first."""
    if head.startswith(WIDE_MARKS):
        return False
    return b"\0" in head[:_BLOCK] or (None if len(head) < _BLOCK else False)


def is_damaged_warc(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether what is called a web archive is one: the fields of a record are where it begins."""
    return _RECORD.search(head[:_RECORD_IN]) is not None or (None if len(head) < _RECORD_IN else False)


def is_damaged_database(head: bytes, layer: Layer) -> bool | None:  # noqa: ARG001 (its name was looked at)
    """Whether what is called a database is one of SQLite: others are called so, too."""
    return head[_FRACTIONS] == _ALWAYS or (None if len(head) < _FRACTIONS.stop else False)


def scan_mistaken(what: str, reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
    """The octets of what only has the name of something."""
    yield SourceError(layer.name, f"is named like {what} but does not begin like one: scanned as it is")
    yield Document(layer.member, reader)
