"""PDFs: the text and links of each page, outline, metadata and attached files, by pdfium (the extra `pdf`).

If pdfium cannot open a PDF, or the extra is not installed, the raw bytes of the PDF are scanned.
"""

from __future__ import annotations

import functools
import importlib.util
import tempfile
from collections.abc import Iterator
from typing import IO

from urnscan.errors import PdfNote, SourceError
from urnscan.formats.contents import Document, Member, plain_name
from urnscan.formats.context import Layer
from urnscan.formats.on_disk import on_disk
from urnscan.formats.protocol import Archive, begins_with, exactly
from urnscan.stores.reader import PieceReader, Reader

_UNCHANGED = "is scanned unchanged, and its text is not read"
_BEGIN = b"%PDF-"  # ISO 32000-2, 7.5.2
_BEGIN_WITHIN = 1 << 10  # bytes in which "%PDF-" must begin, as in other readers of PDFs
_BLOCK = 1 << 18
_IN_MEMORY = 1 << 24  # maximum bytes of attached files in memory; more are written to the disk


@functools.cache
def is_installed() -> bool:
    """Whether the package pypdfium2 is installed (the extra `pdf`), so that PDFs can be read."""
    return importlib.util.find_spec("pypdfium2") is not None


def is_pdf_within(head: bytes, _: Layer) -> bool | None:
    """Whether a file with the suffix .pdf is opened as a PDF: its first 1,024 bytes contain "%PDF-".

    None if more bytes are needed.
    """
    return _BEGIN in head[:_BEGIN_WITHIN] or (None if len(head) < _BEGIN_WITHIN else False)


def open_pdf(reader: Reader, layer: Layer) -> Iterator[Document | Member | SourceError]:
    """Yield the texts of a PDF as members (`page 1`, `page 1/links`, …, `outline`, `metadata`, `xmp`), errors about
    parts that cannot be read, and last the attached files as members.

    If the PDF cannot be read: an error, or a note if pypdfium2 is not installed, and the raw bytes as a document.
    Nothing for a record of a web archive that `--where` excludes. Raises SourceError if the PDF cannot be copied to a
    file for pdfium, or if nothing inside it may be opened (`--max-depth`), and LimitError.
    """
    if layer.capture is not None and not layer.is_wanted:
        return
    if not is_installed():
        yield PdfNote(layer.name, f"a PDF {_UNCHANGED}; pip install 'urnscan[pdf]'")
        yield Document(layer.member, reader)
        return
    # Raises if members would exceed the limit of depth: once for the whole PDF, not for each member.
    layer.inside("")
    with on_disk(reader, layer) as path, tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
        files: list[tuple[str, int]] = []
        try:
            yield from _texts(path, layer, file, files)
        except _UnreadableError as error:
            yield SourceError(layer.name, f"{error}: it {_UNCHANGED}")
            with open(path, "rb") as data:  # noqa: PTH123 (names may be odd)
                yield Document(layer.member, PieceReader(iter(functools.partial(data.read, _BLOCK), b"")))
        file.seek(0)
        for name, length in files:
            yield Member(name, PieceReader(_pieces(file, length)))


class _UnreadableError(Exception):
    """Nothing in a PDF can be read. The message is the reason."""


def _texts(path: str, layer: Layer, file: IO[bytes], files: list[tuple[str, int]]) -> Iterator[Member | SourceError]:
    """Yield the texts of the PDF at `path` as members, and errors. Writes attached files to `file`, one after the
    other, and adds their names and lengths to `files`. Raises _UnreadableError if nothing can be read.
    """
    from urnscan.formats.documents.pdfium import FILE, WRONG, ProcessError, lent  # noqa: PLC0415 (few inputs are PDFs)

    has_begun = False
    try:
        with lent(layer.reading.processes) as pdfium:
            for kind, name, length in pdfium.contents(path):
                layer.budget.check_announced(length)
                if kind == WRONG:
                    reason = pdfium.take(length).decode("utf-8", "replace")
                    if not name:
                        raise _UnreadableError(reason)
                    yield SourceError(layer.name_of(name), reason)
                elif kind == FILE:
                    files.append((plain_name(name), length))
                    for size in _sizes(length):
                        file.write(pdfium.take(size))
                        layer.budget.count_unfolded(size)
                else:
                    has_begun = True
                    layer.budget.count_unfolded(length)
                    yield Member(name, PieceReader(iter([pdfium.take(length)])), is_set_in_lines=True)
    except ProcessError as error:
        if not has_begun:
            raise _UnreadableError(str(error)) from error
        yield SourceError(layer.name, f"{error}: what it gave until then is read")


def _pieces(file: IO[bytes], length: int) -> Iterator[bytes]:
    return (file.read(size) for size in _sizes(length))


def _sizes(length: int) -> Iterator[int]:
    return (min(_BLOCK, length - start) for start in range(0, length, _BLOCK))


FORM = Archive(
    name="a PDF",
    open=open_pdf,
    recognise=begins_with(_BEGIN),
    signs=exactly(_BEGIN),
    suffixes=(".pdf",),
    recognise_named=is_pdf_within,
)
