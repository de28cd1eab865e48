"""Protocol of forms: how a module declares the form that it reads.

A form is recognised by the first bytes of a file, independent of its name. If the first bytes are damaged, the suffix
decides together with other bytes: a file `a.parquet` with bytes that do not occur in text is a damaged Parquet file.
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
"""Function of the first bytes of a file and its layer (names and limits): whether the file has a form.

None if more bytes are needed.
"""

ANY = bytes(range(256))
"""Every byte value: a byte of a signature with this value may be any byte."""

Sign: TypeAlias = tuple[bytes, ...]
"""Signature at the beginning of a file: for each byte of the file the possible values."""

_Opened = TypeVar("_Opened")


def exactly(*beginnings: bytes) -> tuple[Sign, ...]:
    """Return the signatures for files that begin with any of the given bytes.

    >>> exactly(b"BZ", b"P")
    ((b'B', b'Z'), (b'P',))
    """
    return tuple(tuple(data[at : at + 1] for at in range(len(data))) for data in beginnings)


def never(_head: bytes, _layer: Layer) -> bool:
    """Rule that recognises no file: for a form without a signature."""
    return False


def looks_binary(head: bytes, _: Layer) -> bool | None:
    """Rule for forms that are recognised by the suffix: whether the first bytes are not text; None: more are needed."""
    return is_binary(head)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[_Opened]):
    """Declaration of a file format with text inside: a compression, an archive or a table."""

    name: str
    """Name for messages, with an article: "a Parquet file"."""
    open: Callable[[Reader, Layer], _Opened]
    """Function that opens a file: takes a reader of its bytes, and returns its content, as the subclass says.

    The caller closes the reader.
    """
    recognise: Recognise = never
    """Rule by the first bytes; called for files that may begin with a signature of `signs`."""
    signs: tuple[Sign, ...] = ()
    """Signatures: `recognise` must reject every file that begins otherwise. Empty: no restriction."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of file names, in lower case."""
    recognise_named: Recognise | None = None
    """Rule for files with a suffix in `suffixes` that no `recognise` of any form accepts; None: no rule."""
    needs_beginning: bool = False
    """Whether a file that only `recognise_named` accepts cannot be opened: its bytes are scanned, with an error."""
    is_web_archive: bool = False
    """Whether the members are records of a web archive, which `--where` can select."""


class Compression(Form[Reader]):
    """A form that contains a single text. `open` returns a reader of the text."""


class Archive(Form[Iterator[Document | Member | Texts | SourceError]]):
    """A form that contains named members. `open` yields members and errors, or the bytes of the file as a document.

    The reader of a member is valid until the next item is requested. Small texts may come together as `Texts`.
    """


class Table(Form[Iterator[Document | Values | SourceError]]):
    """A form that contains rows and columns.

    `open` yields columns of values and errors, or the bytes of the file as a document.
    """


def scan_as_it_is(kind: type[SourceError], reason: str) -> Callable[[Reader, Layer], Iterator[Document | SourceError]]:
    """Return an `open` function that yields an error or note (`kind`, `reason`), then the raw bytes as a document."""

    def scan(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
        yield kind(layer.name, reason)
        yield Document(layer.member, reader)

    return scan
