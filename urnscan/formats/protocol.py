"""Declaration of a form: a format of files with text inside, such as gzip, tar or Parquet, that a module can read.

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
from urnscan.stores.reader import Reader, begins

Recognise: TypeAlias = Callable[[bytes, Layer], bool | None]
"""Function of the first bytes of a file and its layer (its names, options and limits).

Returns whether the file has the form for which the function is; None if more bytes are needed to decide.
"""

ANY = bytes(range(256))
"""All byte values: an element of a signature (`Sign`) that any byte of a file matches."""

Sign: TypeAlias = tuple[bytes, ...]
"""Signature at the beginning of a file: for each byte of the file its possible values.

`(b"Pp", b"K")`: the file begins with `PK` or `pK`.
"""

_Opened = TypeVar("_Opened")


def exactly(*beginnings: bytes) -> tuple[Sign, ...]:
    """Return a signature (for each of the first bytes the values that it may have) for each argument, for files that
    begin with exactly these bytes.

    >>> exactly(b"BZ", b"P")
    ((b'B', b'Z'), (b'P',))
    """
    return tuple(tuple(data[at : at + 1] for at in range(len(data))) for data in beginnings)


def begins_with(*signs: bytes) -> Recognise:
    """Return the rule (`Recognise`, a function of the first bytes and the layer) for a form whose files begin with one
    of `signs`.

    `begins_with(b"PK34")` returns True for a file that begins with `PK34`, None for `PK` (more bytes are needed), and
    False for `PKx`.
    """
    return lambda head, _: begins(head, *signs)


def never(_head: bytes, _layer: Layer) -> bool:
    """Rule (`Recognise`) that is False for every file: for a form that is tried only for files with its suffix."""
    return False


def looks_binary(head: bytes, _: Layer) -> bool | None:
    """Rule (`Recognise`) for files with the suffix of a form: whether a file is not text, as its first 64 bytes contain
    a control character. None if `head` is shorter and has none. False for UTF-16 and UTF-32 with a byte order mark. True
    for an empty `head`: each file of such a form has a signature, so an empty file is none.
    """
    return is_binary(head) if head else True


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[_Opened]):
    """Declaration of a form (a file format with text inside): how it is recognised, and the function that opens it.

    Its subclasses are `Compression`, `Archive` and `Table`.
    """

    name: str
    """Name for messages, with an article: "a Parquet file"."""
    open: Callable[[Reader, Layer], _Opened]
    """Function that opens a file: takes a reader of its bytes, which the caller closes, and its names and limits.
    Returns a reader of the unpacked bytes (`Compression`), or an iterator of members (`Archive`) or values (`Table`).
    """
    recognise: Recognise = never
    """Rule by the first bytes: True, False or None (more bytes are needed); with `signs`, called only for files whose
    first byte fits a signature.
    """
    signs: tuple[Sign, ...] = ()
    """Signatures: `recognise` must return False for every file that begins otherwise. Empty: no restriction."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of file names, with the dot, in lower case."""
    recognise_named: Recognise | None = None
    """Rule for files with a suffix in `suffixes` for which no form's `recognise` is True, as their first bytes may be
    damaged. None: such a file does not have this form.
    """
    needs_beginning: bool = False
    """Whether a file for which only `recognise_named` is True is not opened: its raw bytes are scanned, which an error
    says.
    """
    is_web_archive: bool = False
    """Whether the members are records of a web archive, which `--where` can select."""


class Compression(Form[Reader]):
    """A form that contains the bytes of a single file, such as gzip. `open` returns a reader of the unpacked bytes."""


class Archive(Form[Iterator[Document | Member | Texts | SourceError]]):
    """A form that contains named members, such as tar. `open` yields members (small ones several at a time, as `Texts`)
    and errors. Instead of members it yields a single `Document` if the file is scanned as text: its raw bytes, if it
    cannot be unpacked (an error or a note says so), or its text in UTF-8, if it is itself a text (MARC as lines).

    The reader of a member or document may be used until the next item is requested.
    """


class Table(Form[Iterator[Document | Values | SourceError]]):
    """A form that contains rows and columns, such as Parquet. `open` yields values and errors. If the file cannot be
    read as a table, it may yield an error that says so, and then the raw bytes as a `Document`, to be scanned as text.
    """


def scan_as_it_is(kind: type[SourceError], reason: str) -> Callable[[Reader, Layer], Iterator[Document | SourceError]]:
    """Return a function for `Form.open` that does not open a file: it yields an error or note of the type `kind` with
    the message `reason`, then the raw bytes of the file as a document.
    """

    def scan(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
        yield kind(layer.name, reason)
        yield Document(layer.member, reader)

    return scan
