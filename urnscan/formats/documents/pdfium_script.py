"""Script of a process in which pdfium reads PDFs. The script imports nothing of urnscan.

Each line of standard input is a PDF: the maximum CPU seconds, a space, and the path in hexadecimal digits. The contents
of the PDF are written to standard output as frames: the kind (a byte), the lengths of name and content (4 and 8 bytes),
name and content.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import mmap
import os
import re
import struct
import sys
from collections.abc import Iterator
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

if TYPE_CHECKING:
    from pypdfium2 import PdfAttachment, PdfDocument, PdfPage

_Frame: TypeAlias = tuple[bytes, str, bytes]

FRAME = struct.Struct(">cLQ")
TEXT, FILE, WRONG, END = b"T", b"F", b"E", b"Z"
"""Kinds of frames: text; attached file; reason why a part (without a name: the PDF) cannot be read; end."""

_LONGEST_NAME = 200  # characters
_BETWEEN = b"\n\n"  # a URN does not go on after an empty line
_XMP = (b"<?xpacket begin", b"<?xpacket end")
_ENCRYPTED = {4: "it is encrypted, and needs a password", 5: "it is encrypted in a way that is not known"}
"""Error of pdfium (`FPDF_ERR_`) -> reason; every other error means a damaged PDF."""
_SIGNS = "\x1b\x1c\x1d\x1e\x1f\x0b\x0c\x0e\x0f"
_LIGATURES = str.maketrans(dict(zip(_SIGNS, "ff fi fl ffi ffl ff fi ffi ffl".split(), strict=True)))
"""Control character -> letters of a ligature, for fonts of TeX without a table of characters; no other text has them.

The control characters are codes in TeX's encodings T1 and OT1 (without "fl" of OT1, which is a line end).
"""
_DRAWN_HYPHEN = re.compile("\u2010(?=\r\n)")


def contents(path: str) -> Iterator[_Frame]:
    """Yield (kind, name, bytes) for each part of the PDF at `path` that is not empty: each page and its links as TEXT,
    with files attached to it as FILE, then outline, metadata (TEXT), attached files (FILE), and XMP packets (TEXT).

    For a part that cannot be read the kind is WRONG and the bytes are the reason; without a name it is the whole PDF.
    All damaged pages together are one such part, after the other pages.
    """
    import pypdfium2  # noqa: PLC0415 (pdfium.py imports only the names above)

    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        yield WRONG, "", _ENCRYPTED.get(getattr(error, "err_code", 0) or 0, "it is damaged").encode()
        return
    with pdf:
        yield from _pages(pdf)
        yield from _text("outline", _outline(pdf))
        yield from _text("metadata", (value.encode(errors="replace") for value in pdf.get_metadata_dict().values()))
        for number in range(pdf.count_attachments()):
            yield from _attached(pdf.get_attachment(number), f"attachment {number + 1}")
    yield from _text("xmp", _xmp(path))


@functools.cache
def _breaks() -> ModuleType:
    # From its file: this process does not load the package.
    file = Path(__file__).with_name("pdfium_breaks.py")
    spec = cast(ModuleSpec, importlib.util.spec_from_file_location(file.stem, file))
    module = importlib.util.module_from_spec(spec)
    cast(Loader, spec.loader).exec_module(module)
    return module


def _text(name: str, texts: Iterator[bytes]) -> Iterator[_Frame]:
    together = _BETWEEN.join(filter(None, texts))
    if together:
        yield TEXT, name, together


def _pages(pdf: PdfDocument) -> Iterator[_Frame]:
    from pypdfium2 import PdfiumError  # noqa: PLC0415 (as above)

    wrong = []
    for number in range(len(pdf)):
        try:
            with contextlib.closing(pdf[number]) as page:
                yield from _page(pdf, page, f"page {number + 1}")
        except (PdfiumError, RecursionError):
            # pypdfium2 recurses for each code that is not a character.
            wrong.append(number)
    if wrong:
        more = f", and {len(wrong) - 1:,} other pages are, too" if len(wrong) > 1 else ""
        yield WRONG, f"page {wrong[0] + 1}", f"it is damaged, and not read{more}".encode()


def _page(pdf: PdfDocument, page: PdfPage, name: str) -> Iterator[_Frame]:
    with contextlib.closing(page.get_textpage()) as text:
        content = _breaks().Breaks(text, page, pdf).marked()
        if any(map(content.__contains__, _SIGNS)):
            content = content.translate(_LIGATURES)
    if content:
        # U+2010 at a line end was drawn where a word was divided, so it becomes a soft hyphen again.
        yield TEXT, name, _DRAWN_HYPHEN.sub("\xad", content).encode(errors="replace")
    yield from _text(f"{name}/links", _links(pdf, page))
    yield from _notes(page, name)


def _links(pdf: PdfDocument, page: PdfPage) -> Iterator[bytes]:
    from pypdfium2 import raw  # noqa: PLC0415 (as above)

    place, link = ctypes.c_int(0), raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(page, place, link):
        yield _breaks().address(pdf, raw.FPDFLink_GetAction(link))


def _notes(page: PdfPage, name: str) -> Iterator[_Frame]:
    """Yield the frames of files that are attached by annotations to a page with this name."""
    from pypdfium2 import PdfAttachment, raw  # noqa: PLC0415 (as above)

    for number in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        try:
            if raw.FPDFAnnot_GetSubtype(note) == raw.FPDF_ANNOT_FILEATTACHMENT:
                attached = raw.FPDFAnnot_GetFileAttachment(note)
                if attached:
                    yield from _attached(PdfAttachment(attached, page.pdf), f"{name}/attachment {number + 1}")
        finally:
            raw.FPDFPage_CloseAnnot(note)


def _attached(attached: PdfAttachment, name: str) -> Iterator[_Frame]:
    """Yield the frame of an attached file: of kind WRONG if it is damaged, none if it is empty. `name`: for a file
    without one.
    """
    from pypdfium2 import PdfiumError, raw  # noqa: PLC0415 (as above)

    length = ctypes.c_ulong()
    has_data = raw.FPDFAttachment_GetFile(attached, None, 0, length)
    try:
        name = attached.get_name() or name
        content = bytes(attached.get_data()) if length else b""
    except PdfiumError:
        has_data = False
    if not has_data:
        yield WRONG, name, b"it is damaged, and not read"
    elif content:
        yield FILE, name, content


def _outline(pdf: PdfDocument) -> Iterator[bytes]:
    from pypdfium2 import raw  # noqa: PLC0415 (as above)

    for entry in pdf.get_toc():
        yield entry.get_title().encode(errors="replace")
        yield _breaks().address(pdf, raw.FPDFBookmark_GetAction(entry))


def _xmp(path: str) -> Iterator[bytes]:
    """Yield the uncompressed XMP packets in the bytes of a PDF, which pdfium does not return."""
    begin, end = _XMP
    with open(path, "rb") as file:  # noqa: PTH123 (names may be odd)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        after = 0
        while (start := data.find(begin, after)) >= 0 and (after := data.find(end, start)) >= 0:
            yield data[start:after]


def _write(out: BinaryIO, kind: bytes, name: str, content: bytes) -> None:
    named = name.encode(errors="replace")
    out.write(FRAME.pack(kind, len(named), len(content)) + named)
    out.write(content)
    out.flush()


def _limit(seconds: int) -> None:
    """Limit the CPU time of this process to `seconds` from now on."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 (not every system has it)

        usage = resource.getrusage(resource.RUSAGE_SELF)
        soft, hard = int(usage.ru_utime + usage.ru_stime) + 1 + seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def main() -> None:
    """For each line of standard input (maximum CPU seconds, and the path of a PDF in hexadecimal digits), write the
    parts of the PDF to standard output as frames, and a frame END after them. Returns when standard input ends.

    What cannot be read is a frame WRONG with the reason: without a name for the whole PDF, with the name of a part, or
    with the name `rest` for an error of the system or of memory. If the CPU seconds are used up (some systems cannot
    limit them), or pdfium crashes, the process ends without END.
    """
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        seconds, path = line.split()
        _limit(int(seconds))
        try:
            for frame in contents(os.fsdecode(bytes.fromhex(path.decode()))):
                _write(out, *frame)
        except ImportError as error:
            _write(out, WRONG, "", f"pypdfium2 cannot be loaded ({error})".encode(errors="replace"))
        except (OSError, MemoryError) as error:
            _write(out, WRONG, "rest", (str(error) or "pdfium has no memory left").encode(errors="replace"))
        _write(out, END, "", b"")


if __name__ == "__main__":
    main()
