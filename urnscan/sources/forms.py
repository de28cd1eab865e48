"""The registry of the forms that are read, and how one is told from the others.

A form is recognised by its first octets, and where these cannot tell by its name. What it holds is looked at in the
same way, so forms nest as people nest them.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from urnscan.errors import SourceError
from urnscan.sources.archives.tar import is_tar, open_tar
from urnscan.sources.archives.unread import (
    DATABASES,
    TABLES,
    UNREAD,
    ZIPS,
    is_ar,
    is_damaged_database,
    is_damaged_tar,
    is_damaged_warc,
    is_like_binary,
    is_of,
    refuse,
    scan_ar,
    scan_mistaken,
)
from urnscan.sources.archives.warc import is_warc, open_warc
from urnscan.sources.archives.zip import is_zip, open_zip
from urnscan.sources.buffer import Buffer
from urnscan.sources.compression.members import CODINGS, Unpacked
from urnscan.sources.documents import Document, Values
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader
from urnscan.sources.tables.arrow import is_arrow_file, is_arrow_stream, read_arrow_file, read_arrow_stream
from urnscan.sources.tables.fields import is_csv, is_json, read_csv, read_json
from urnscan.sources.tables.parquet import is_parquet, read_parquet
from urnscan.sources.tables.sqlite import is_sqlite, read_sqlite

__all__ = ["FORMS", "Archive", "Compression", "Form", "Registry", "Table"]

Recognise: TypeAlias = Callable[[bytes, Layer], bool | None]
"""Whether what begins with these octets is of a form; None where more octets are needed to tell."""

_ANY = bytes(range(256))
_TELLING = 1 << 9  # octets that tell every form; what is inside of something may come in smaller pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A way in which people keep text."""

    recognise: Recognise
    begins: bytes = _ANY
    """The octets that such a file can begin with."""
    named: tuple[str, ...] = ()
    """Asked only where the name of the file ends in one of these, lower case; none: always."""
    has_nul: bool = False
    """Whether such a file has a NUL in its first octets."""
    of_fields: bool = False
    """Whether it is of this form only where fields are named, and text else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression(Form):
    """A form that holds one text."""

    open: Callable[[Reader, Layer], Reader]
    """The reader of what is inside; who opened the one that it reads closes that."""
    suffixes: tuple[str, ...]
    """Suffixes of the names of such files, lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive(Form):
    """A form that holds members with names."""

    open: Callable[[Reader, Layer], Iterator[tuple[str, Reader] | SourceError]]
    """Gives the members, each to be read before the next is asked for; in place of one that cannot be read, its error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Form):
    """A form that holds values in rows and columns."""

    open: Callable[[Reader, Layer], Iterator[Document | Values | SourceError]]
    """Gives the values; a document if the octets are scanned as they are."""


class Registry:
    """Forms in the order in which they are asked. Archives have millions of members: no form is asked in vain."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self._forms = forms = tuple(forms)
        self._suffixes = tuple(suffix for form in forms for suffix in form.named)
        self._named = [tuple(form for form in forms if octet in form.begins) for octet in _ANY]
        self._others = [tuple(form for form in some if not form.named) for some in self._named]

    @property
    def suffixes(self) -> frozenset[str]:
        """Suffixes by which a form is recognised."""
        return frozenset(self._suffixes)

    @property
    def begins(self) -> frozenset[int]:
        """The octets that something can begin with that is of a form neither by its name nor by a NUL nor by its fields."""
        certain = (form for form in self._forms if not (form.named or form.has_nul or form.of_fields))
        return frozenset(octet for form in certain for octet in form.begins)

    def may_be(self, head: bytes, layer: Layer, *, is_whole: bool) -> bool:
        """Whether what begins with these octets, or is no more than these, may be of a form."""
        name = layer.file_name.lower()
        for form in self._asked(head, name) if head else ():
            known = form.recognise(head, layer)
            if known or (known is None and not is_whole):
                return True
        return False

    def _asked(self, head: bytes, name: str) -> Iterator[Form]:
        """The forms that something with this name can be that begins like this."""
        forms = (self._named if name.endswith(self._suffixes) else self._others)[head[0]]
        return (form for form in forms if not form.named or name.endswith(form.named))

    def recognise(self, reader: Buffer, layer: Layer) -> Form | None:
        """The form of what a reader gives; None where it is text. Looks no further than it must: a pipe may be slow."""
        head = reader.head(_TELLING if layer.depth else 1)
        if not head:
            return None
        name = layer.file_name.lower()
        while True:
            unsure = False
            for form in self._asked(head, name):
                known = form.recognise(head, layer)
                if known:
                    return form
                unsure |= known is None
            longer = reader.head(len(head) + 1) if unsure else head
            if len(longer) == len(head):
                return None
            head = longer


def _compressions() -> Iterator[Compression]:
    for coding in CODINGS:
        yield Compression(
            recognise=coding.recognise,
            open=functools.partial(Unpacked, coding),
            suffixes=coding.suffixes,
            begins=bytes(magic[0] for magic in coding.magics),
        )


def _damaged_compressions() -> Iterator[Compression]:
    """Compressed files with a damaged beginning, which only their names tell."""
    for coding in CODINGS:
        yield Compression(
            recognise=coding.recognise_damaged,
            open=functools.partial(Unpacked, coding),
            suffixes=coding.suffixes,
            named=coding.suffixes,
        )


def _unread() -> Iterator[Archive]:
    for what, magics in UNREAD.items():
        yield Archive(
            recognise=functools.partial(is_of, magics),
            open=functools.partial(refuse, what),
            begins=magics[0][:1],
        )


def _damaged_archives() -> Iterator[Archive]:
    """Archives with a damaged beginning, which only their names tell."""
    yield Archive(recognise=is_like_binary, open=open_zip, named=ZIPS)
    yield Archive(recognise=is_damaged_tar, open=open_tar, named=(".tar",))
    yield Archive(recognise=is_damaged_warc, open=open_warc, named=(".warc", ".wet", ".wat"))


def _mistaken_tables() -> Iterator[Table]:
    """Files that have the names of tables and are none."""
    for what, names in TABLES.items():
        yield Table(recognise=is_like_binary, open=functools.partial(scan_mistaken, what), named=names)
    database = functools.partial(scan_mistaken, "an SQLite database")
    yield Table(recognise=is_damaged_database, open=database, named=DATABASES)


FORMS = Registry(
    [
        *_compressions(),
        Archive(recognise=is_warc, open=open_warc, begins=b"W"),
        Archive(recognise=is_zip, open=open_zip, begins=b"P"),
        Table(recognise=is_parquet, open=read_parquet, begins=b"P"),
        Table(recognise=is_arrow_file, open=read_arrow_file, begins=b"A"),
        Table(recognise=is_sqlite, open=read_sqlite, begins=b"S"),
        Table(recognise=is_arrow_stream, open=read_arrow_stream, begins=b"\xff"),
        Table(recognise=is_ar, open=scan_ar, begins=b"!"),
        *_unread(),
        Archive(recognise=is_tar, open=open_tar, has_nul=True),
        *_damaged_compressions(),
        *_damaged_archives(),
        *_mistaken_tables(),
        # Text, and read as that unless fields are named.
        Table(recognise=is_json, open=read_json, of_fields=True),
        Table(recognise=is_csv, open=read_csv, of_fields=True),
    ]
)
"""Every form that is read, those first that their first octets tell with certainty."""
