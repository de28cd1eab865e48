"""The protocol of forms: what a module declares about the form that it reads.

A form is recognised by its first bytes, whatever the name of the file is. If these are damaged, its
name decides together with other bytes: a file `a.parquet` with bytes that no text has is a damaged Parquet file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from urnscan.errors import SourceError
from urnscan.formats.contents import Document, Member, Texts, Values
from urnscan.formats.context import Layer
from urnscan.formats.encodings import is_binary
from urnscan.stores.reader import Reader

Recognise: TypeAlias = Callable[[bytes, Layer], bool | None]
"""Whether a file with these first bytes is of a form; None where more bytes are needed."""

ANY = bytes(range(256))
"""Every byte."""

Sign: TypeAlias = tuple[bytes, ...]
"""A beginning of a file: for each of its places the bytes that may stand there."""

_Opened = TypeVar("_Opened")


def exactly(*beginnings: bytes) -> tuple[Sign, ...]:
    """The signs of files that begin with just these bytes.

    >>> exactly(b"BZ", b"P")
    ((b'B', b'Z'), (b'P',))
    """
    return tuple(tuple(data[at : at + 1] for at in range(len(data))) for data in beginnings)


def never(_head: bytes, _layer: Layer) -> bool:
    """Recognise no file: the rule of a form that has no first bytes of its own."""
    return False


def looks_binary(head: bytes, _: Layer) -> bool | None:
    """Whether these bytes are not text: the rule for files whose form is recognised by the name alone."""
    return is_binary(head)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[_Opened]):
    """A file format with text inside: a compression, an archive or a table."""

    name: str
    """Its name in messages, with an article: "a Parquet file"."""
    open: Callable[[Reader, Layer], _Opened]
    """Gives the content of a file; the caller closes the reader."""
    recognise: Recognise = never
    """The rule by the first bytes, asked of every file."""
    signs: tuple[Sign, ...] = ()
    """How such a file can begin; without any, as it likes. `recognise` says yes to no other file: small ones are not shown to it."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of the names of such files, lower case."""
    recognise_named: Recognise | None = None
    """The rule for files with one of the suffixes that no rule by first bytes recognises; None: no such rule."""
    needs_beginning: bool = False
    """Whether a file that only `recognise_named` recognises cannot be opened: it is scanned unchanged, with an error."""
    is_web_archive: bool = False
    """Whether the members are records of a web archive; the option `where` selects some of them."""


class Compression(Form[Reader]):
    """A form that contains one text."""


class Archive(Form[Iterator[Document | Member | Texts | SourceError]]):
    """A form that contains members with names, each to be read before the next is asked for, or many together.

    Gives a document if the bytes are scanned as they are.
    """


class Table(Form[Iterator[Document | Values | SourceError]]):
    """A form that contains values in rows and columns; gives a document if the bytes are scanned as they are."""


def scan_as_it_is(kind: type[SourceError], reason: str) -> Callable[[Reader, Layer], Iterator[Document | SourceError]]:
    """A function that opens a file as the bytes that it has, after a note or an error that says the reason."""

    def scan(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
        yield kind(layer.name, reason)
        yield Document(layer.member, reader)

    return scan
