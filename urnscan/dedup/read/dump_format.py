"""Whether a document is a dump of records: its format, or the error or note that says why it is none."""

from __future__ import annotations

from collections.abc import Collection

from urnscan.errors import FormatError, NoDumpNote, SourceError, UnknownFormatError, option
from urnscan.formats.contents import Values
from urnscan.formats.context import INSIDE
from urnscan.formats.encodings import is_binary
from urnscan.framing.buffer import Buffer
from urnscan.records.format import Format
from urnscan.records.format_registry import FORMATS, likely, recognise
from urnscan.stores.input import Input


class DumpFormats:
    """Recognises the formats of dumps, and says of other documents why they are no dumps."""

    def __init__(self, record: str | None, named: Collection[str]) -> None:
        """`record`: name of the format that the user chose. `named`: names of the inputs that the user gave; all other
        inputs were met in folders and archives.
        """
        self._chosen = FORMATS[record] if record else None
        self._named = named

    def recognise(self, buffer: Buffer, name: str) -> tuple[Format | None, bool]:
        """The format of a document of this name, None if unknown; and whether its bytes were recognised as that."""
        recognised = recognise(buffer, name)
        format_ = self._chosen or recognised
        return format_, format_ is recognised

    def error_of_unknown(self, source: Input, name: str, data: bytes, format_: Format | None) -> SourceError:
        """The error or note about a document in no format of records that is read; `data` are its first."""
        if format_ is not None:
            return FormatError(name, f"{format_.title} is not read; {format_.recipe}")
        reason = "unknown record format (urnscan dedup --help lists the formats)"
        if guess := likely(data):
            reason += f"; it resembles {guess.title}: try {option('record', guess.name)}"
            return UnknownFormatError(name, reason)
        if not is_binary(data):
            reason += f"; {option('record', 'line')} reads each line as a record"
        return self._no_dump(source, name.removeprefix(source.name), reason)

    def error_of_pdf(self, source: Input, member: str | None) -> SourceError:
        """The error or note about a PDF; `member` is one of its pages or streams."""
        around, _, _ = f"{INSIDE}{member}".rpartition(INSIDE)
        return self._no_dump(source, around, "is a PDF, not a dump of records")

    def _no_dump(self, source: Input, member: str, reason: str) -> SourceError:
        """An error if the user named this input, and a note if it was met in a folder or an archive."""
        kind = UnknownFormatError if source.name in self._named and not member else NoDumpNote
        return kind(source.name + member, reason)


def error_of_table(source: Input, values: Values) -> FormatError:
    """The error about a table. Raises it if the table is the whole input."""
    reason = "is a table, not a dump of records: export it as CSV or JSON Lines"
    member, inside, _ = values.place(0).rpartition(INSIDE)
    if not inside:
        raise FormatError(source.name, reason)
    return FormatError(source.name + INSIDE + member, reason)
