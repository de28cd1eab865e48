"""The registry of the forms that are read, and how one is told from the others.

A form is recognised by its first octets, and where these cannot tell by its name. What it holds is looked at in the
same way, so forms nest as people nest them.

Archives of other forms are refused, and a table whose first octets are damaged is scanned as it is. An archive whose
first header is damaged is known by its name and by octets that no text has; it is read from its next header on.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

from urnscan.errors import SourceError, SourceNote
from urnscan.sources.archives.arc import is_arc, open_arc
from urnscan.sources.archives.mail import is_mbox, is_message, open_mbox, open_message
from urnscan.sources.archives.pdf import is_pdf, is_pdf_within, open_pdf
from urnscan.sources.archives.tar import is_tar, open_tar
from urnscan.sources.archives.warc import is_warc, open_warc
from urnscan.sources.archives.zip import is_zip, open_zip
from urnscan.sources.buffer import Buffer
from urnscan.sources.compression.codecs import CODECS, Codec, Unpacked
from urnscan.sources.documents import Document, Member, Texts, Values
from urnscan.sources.encodings import WIDE_MARKS, is_binary
from urnscan.sources.layers import Layer
from urnscan.sources.reader import Reader, begins
from urnscan.sources.tables.arrow import is_arrow_file, is_arrow_stream, read_arrow_file, read_arrow_stream
from urnscan.sources.tables.fields import is_csv, is_json, read_csv, read_json
from urnscan.sources.tables.parquet import RESULT, is_parquet, read_parquet
from urnscan.sources.tables.sqlite import is_sqlite, read_sqlite

Recognise: TypeAlias = Callable[[bytes, Layer], bool | None]
"""Whether what begins with these octets is of a form; None where more octets are needed to tell."""

_ANY = bytes(range(256))
_TELLING = 1 << 9  # octets that tell every form; what is inside of something may come in smaller pieces

_WITH_COMPRESS = tuple(b"\x1f\x9d%c" % (block | bits) for block in (0, 0x80) for bits in range(9, 17))
_ZIPS = (
    *(".zip", ".jar", ".war", ".ear", ".apk", ".xpi", ".whl", ".epub", ".kmz", ".cbz", ".wacz"),
    *(".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".pptm", ".odt", ".ods", ".odp", ".odg"),
)
_TAR_HEADER = 512  # octets
_SQLITE_FRACTIONS = slice(21, 24)  # where in an SQLite database octets stand that are always the same
_WARC_FIELD = re.compile(rb"(?im)^(?:WARC-[A-Z-]+[ \t]*:|WARC/[0-9])")
_WARC_FIELD_IN = 1 << 10  # octets by which a damaged web archive is known


_Opened = TypeVar("_Opened")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[_Opened]):
    """A way in which people keep text."""

    recognise: Recognise
    open: Callable[[Reader, Layer], _Opened]
    """Gives what is inside; the caller closes the reader."""
    begins: bytes = _ANY
    """Octets that such a file can begin with. If any, its name tells the form, a NUL in its first octets, or an option."""
    named: tuple[str, ...] = ()
    """Asked only where the name of the file ends in one of these, lower case; none: always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression(Form[Reader]):
    """A form that holds one text."""

    suffixes: tuple[str, ...]
    """Suffixes of the names of such files, lower case."""


class Archive(Form[Iterator[Document | Member | Texts | SourceError]]):
    """A form that holds members with names, each to be read before the next is asked for, or many together.

    Gives a document if the octets are scanned as they are.
    """


class Table(Form[Iterator[Document | Values | SourceError]]):
    """A form that holds values in rows and columns; gives a document if the octets are scanned as they are."""


class Registry:
    """Forms in the order in which they are asked. Archives have millions of members: no form is asked in vain."""

    def __init__(self, forms: Iterable[Form[Any]]) -> None:
        forms = tuple(forms)
        self._suffixes = tuple(suffix for form in forms for suffix in form.named)
        self._named = [tuple(form for form in forms if octet in form.begins) for octet in _ANY]
        self._others = [tuple(form for form in some if not form.named) for some in self._named]
        self.suffixes = frozenset(self._suffixes)
        """Suffixes by which a form is recognised."""
        self.begins = frozenset(octet for form in forms if form.begins != _ANY for octet in form.begins)
        """First octets of forms that are told by them."""

    def is_named(self, name: str) -> bool:
        """Whether a name ends in a suffix by which a form is recognised."""
        return name[name.rfind(".") :].lower() in self.suffixes

    def may_be(self, head: bytes, layer: Layer, *, is_whole: bool) -> bool:
        """Whether a text that begins with these octets, or has no others, may be of a form."""
        form, is_unsure = self._tell(head, layer)
        return form is not None or (is_unsure and not is_whole)

    def recognise(self, reader: Buffer, layer: Layer) -> Form[Any] | None:
        """The form of what a reader gives; None where it is text. Looks no further than it must: a pipe may be slow."""
        head = reader.head(_TELLING if layer.depth else 1)
        while True:
            form, is_unsure = self._tell(head, layer)
            longer = reader.head(len(head) + 1) if is_unsure else head
            if len(longer) == len(head):
                return form
            head = longer

    def _tell(self, head: bytes, layer: Layer) -> tuple[Form[Any] | None, bool]:
        """The form of what begins with these octets; where there is none, whether more octets may tell."""
        is_unsure = False
        name = layer.file_name.lower()
        forms = self._named if name.endswith(self._suffixes) else self._others
        for form in forms[head[0]] if head else ():
            if not form.named or name.endswith(form.named):
                known = form.recognise(head, layer)
                if known:
                    return form, False
                is_unsure |= known is None
        return None, is_unsure


def _unread(what: str, *magics: bytes, remedy: str = "unpack it first", recognise: Recognise | None = None) -> Archive:
    """A form that is not read; `recognise`: where the magics alone do not tell it."""

    def refuse(_: Reader, layer: Layer) -> NoReturn:
        raise SourceError(layer.name, f"{what} is not read: {remedy}")

    return Archive(recognise=recognise or (lambda head, _: begins(head, *magics)), open=refuse, begins=magics[0][:1])


def _as_it_is(
    told: type[SourceError], why: str, recognise: Recognise, *, begins: bytes = _ANY, named: tuple[str, ...] = ()
) -> Table:
    """Files that are not read in the form that they seem to have; `why` is told by a note or an error of this type."""

    def scan(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
        yield told(layer.name, why)
        yield Document(layer.member, reader)

    return Table(recognise=recognise, open=scan, begins=begins, named=named)


def _is_result(head: bytes, layer: Layer) -> bool | None:
    """Tell a table that urnscan wrote in CSV, TSV or JSON Lines. With `--column` it is read like any other."""
    if layer.reading.columns:
        return False
    if not head.startswith(b"{"):
        return begins(head, *_RESULTS)
    if _RESULT_LINE.match(head):
        return True
    may_be = len(head) < _TELLING and begins(head, b'{"urn": "', b'{"source": "', b'{"cluster": ') is not False
    return None if may_be else False


def _pass_over(_: Reader, layer: Layer) -> Iterator[SourceNote]:
    yield SourceNote(layer.name, RESULT)


def _compression(
    coding: Codec, recognise: Recognise, *, begins: bytes = _ANY, named: tuple[str, ...] = ()
) -> Compression:
    open_coded = functools.partial(Unpacked, coding)
    return Compression(recognise=recognise, open=open_coded, suffixes=coding.suffixes, begins=begins, named=named)


def _is_binary(head: bytes, _: Layer) -> bool | None:
    return is_binary(head)


def _is_orc(head: bytes, layer: Layer) -> bool | None:
    """Tell ORC by its magic, and by its name or octets that are no text: text may begin with these letters."""
    known = begins(head, _ORC)
    return is_binary(head) if known and not layer.file_name.lower().endswith(".orc") else known


def _is_damaged_tar(head: bytes, _: Layer) -> bool | None:
    """Whether a file called a tar archive is one: NULs fill the fields of its first header."""
    if head.startswith(WIDE_MARKS):
        return False
    return b"\0" in head[:_TAR_HEADER] or (None if len(head) < _TAR_HEADER else False)


def _is_damaged_warc(head: bytes, _: Layer) -> bool | None:
    """Whether a file called a web archive is one: fields of a record are in its first octets."""
    return _WARC_FIELD.search(head[:_WARC_FIELD_IN]) is not None or (None if len(head) < _WARC_FIELD_IN else False)


def _is_damaged_database(head: bytes, _: Layer) -> bool | None:
    """Whether a file called a database is one of SQLite; other databases have such names, too."""
    return head[_SQLITE_FRACTIONS] == b"\x40\x20\x20" or (None if len(head) < _SQLITE_FRACTIONS.stop else False)


_FIRST_COLUMNS = ("urn nid nss nid_status", "source member start line text", "cluster source member record")
"""Names of the first columns of tables that urnscan writes: of classes, of occurrences and rejects, of clusters."""
_RESULTS = tuple(
    b"\xef\xbb\xbf" + separator.join(names.encode().split()) + separator
    for names in _FIRST_COLUMNS
    for separator in (b",", b"\t")
)
_STRING = rb'"(?:[^"\\]|\\.)*"'
_RESULT_LINE = re.compile(
    rb'\{"urn": S, "nid": S, "nss": S, "nid_status": '
    rb'|\{"source": S, "member": (?:null|S), "start": \d+, "line": \d+, "text": '
    rb'|\{"cluster": \d+, "source": S, "member": (?:null|S), "record": '.replace(b"S", _STRING)
)
"""The beginning of such a table in JSON Lines."""
_AR = "an ar archive is scanned as it is; unpack it first if its members are packed themselves"
_DEB = "a Debian package is scanned as it is, and what is packed in it is not read: unpack it first (dpkg-deb -x)"
_ORC = b"ORC"
_RECIPE = "docs/howto/engines.md shows how to scan it with {}"
_MISTAKEN = "is named like {} but does not begin like one: scanned as it is, so values may be missing"

FORMS = Registry(
    [
        *(_compression(each, each.recognise, begins=bytes(magic[0] for magic in each.magics)) for each in CODECS),
        Archive(recognise=is_warc, open=open_warc, begins=b"W"),
        Archive(recognise=is_zip, open=open_zip, begins=b"P"),
        Archive(recognise=is_pdf, open=open_pdf, begins=b"%"),
        Archive(recognise=is_mbox, open=open_mbox, begins=b"F"),
        Archive(recognise=is_message, open=open_message, begins=b"DFRX"),
        Table(recognise=is_parquet, open=read_parquet, begins=b"P"),
        Table(recognise=is_arrow_file, open=read_arrow_file, begins=b"A"),
        Table(recognise=is_sqlite, open=read_sqlite, begins=b"S"),
        Table(recognise=is_arrow_stream, open=read_arrow_stream, begins=b"\xff"),
        Table(recognise=_is_result, open=_pass_over, begins=b"\xef{"),
        _as_it_is(SourceError, _DEB, lambda head, _: begins(head, b"!<arch>\ndebian-binary"), begins=b"!"),
        _as_it_is(SourceNote, _AR, lambda head, _: begins(head, b"!<arch>\n"), begins=b"!"),
        _unread("a 7z archive", b"7z\xbc\xaf\x27\x1c"),
        _unread("a RAR archive", b"Rar!\x1a\x07"),
        _unread("a cabinet", b"MSCF\0\0\0\0"),
        _unread("what compress wrote", *_WITH_COMPRESS),
        _unread("an Avro file", b"Obj\x01", remedy=_RECIPE.format("fastavro")),
        _unread("an ORC file", _ORC, remedy=_RECIPE.format("pyarrow.orc"), recognise=_is_orc),
        Archive(recognise=is_tar, open=open_tar),
        # Damaged where they begin, so that only their names tell.
        *(
            _compression(each, lambda head, _: bool(is_binary(head)), named=each.suffixes)
            for each in CODECS
            if each.telling
        ),
        Archive(recognise=_is_binary, open=open_zip, named=_ZIPS),
        Archive(recognise=_is_damaged_tar, open=open_tar, named=(".tar",)),
        Archive(recognise=_is_damaged_warc, open=open_warc, named=(".warc", ".wet", ".wat")),
        Archive(recognise=is_pdf_within, open=open_pdf, named=(".pdf",)),
        _as_it_is(SourceError, _MISTAKEN.format("a Parquet file"), _is_binary, named=(".parquet",)),
        _as_it_is(SourceError, _MISTAKEN.format("an Avro file"), _is_binary, named=(".avro",)),
        _as_it_is(SourceError, _MISTAKEN.format("an Arrow file"), _is_binary, named=(".arrow", ".feather")),
        _as_it_is(SourceError, _MISTAKEN.format("an ORC file"), _is_binary, named=(".orc",)),
        _as_it_is(SourceError, _MISTAKEN.format("an SQLite database"), _is_binary, named=(".sqlite", ".sqlite3")),
        _as_it_is(SourceError, _MISTAKEN.format("an SQLite database"), _is_damaged_database, named=(".db", ".db3")),
        Archive(recognise=is_arc, open=open_arc, named=(".arc",)),
        Archive(recognise=lambda head, _: not is_binary(head), open=open_message, named=(".eml",)),
        # Text, and read as that unless fields are named.
        Table(recognise=is_json, open=read_json),
        Table(recognise=is_csv, open=read_csv),
    ]
)
"""Every form that is read, those first that their first octets tell with certainty."""
