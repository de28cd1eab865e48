"""Whether a document is a dump of records: the format, or the error or note with the reason why not."""

from __future__ import annotations

import string
from collections.abc import Collection

from urnscan.display.text import counted
from urnscan.errors import FormatError, NoDumpNote, SourceError, UnknownFormatError, option
from urnscan.formats.contents import Values
from urnscan.formats.context import INSIDE
from urnscan.formats.encodings import is_binary
from urnscan.framing.buffer import MARK, Buffer
from urnscan.records.format import Format
from urnscan.records.format_registry import FORMATS, likely, recognise
from urnscan.stores.input import Input

# White space, and the bytes of a byte order mark.
_BLANK = string.whitespace.encode() + MARK


class DumpFormats:
    """Recognises the formats of dumps, and makes the errors and notes about documents that are not dumps."""

    def __init__(self, record: str | None, named: Collection[str]) -> None:
        """`record`: name of the format that the user chose. `named`: names of the inputs that are arguments; all other
        inputs are in folders, patterns, lists and archives.
        """
        self._chosen = FORMATS[record] if record else None
        self._named = named

    def recognise(self, buffer: Buffer, name: str) -> tuple[Format | None, bool]:
        """Return the format of a document, and whether its bytes were recognised: (None, True) if the format is
        unknown; (chosen format, False) if the user chose a format that the bytes do not show. `name`: name of the file
        or member; its ending may decide. `buffer` stays at the start of the document.
        """
        recognised = recognise(buffer, name)
        format_ = self._chosen or recognised
        return format_, format_ is recognised

    def error_of_unknown(self, source: Input, name: str, data: bytes, format_: Format | None) -> SourceError:
        """Return the error or note about a document whose format is unknown (`format_` is None) or not read:
        FormatError for `format_`, with the advice how to convert it; UnknownFormatError if `data`, the start of the
        document, resembles a format, or if the document is an input that the user named; otherwise a NoDumpNote.
        `name`: name of the document in messages.
        """
        if format_ is not None:
            return FormatError(name, f"{format_.title} is not read; {format_.recipe}")
        if not data.strip(_BLANK):
            reason = f"no record: only white space in its first {counted(len(data), 'byte')}"
            return self._no_dump(source, name.removeprefix(source.name), reason)
        reason = "unknown record format (urnscan dedup --help lists the formats)"
        if guess := likely(data):
            reason += f"; it resembles {guess.title}: try {option('record', guess.name)}"
            return UnknownFormatError(name, reason)
        if not is_binary(data):
            reason += f"; {option('record', 'line')} reads each line as a record"
        return self._no_dump(source, name.removeprefix(source.name), reason)

    def error_of_pdf(self, source: Input, member: str | None) -> SourceError:
        """Return the error or note about a PDF: an UnknownFormatError if the PDF is an input that the user named, a
        NoDumpNote if it is in a folder or an archive. `member`: path of a page or stream in the input: `page 1`, or
        `b.pdf!/page 1` in an archive.
        """
        around, _, _ = f"{INSIDE}{member}".rpartition(INSIDE)
        return self._no_dump(source, around, "is a PDF, not a dump of records")

    def _no_dump(self, source: Input, member: str, reason: str) -> SourceError:
        """An error if the user named the input itself, else a note. `member`: the text after the name of the input,
        such as `!/a.txt`.
        """
        kind = UnknownFormatError if source.name in self._named and not member else NoDumpNote
        return kind(source.name + member, reason)


def error_of_table(source: Input, values: Values) -> FormatError:
    """Return the error about a table that is a part of an input. Raises the error if the table is the whole input."""
    reason = "is a table, not a dump of records; export it as CSV or JSON Lines"
    member, inside, _ = values.place(0).rpartition(INSIDE)
    if not inside:
        raise FormatError(source.name, reason)
    return FormatError(source.name + INSIDE + member, reason)
