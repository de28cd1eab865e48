"""MARC and PICA+ records as lines of text, a line for each field: delimiters of subfields, so that each subfield is a
text.

In most of these forms the code of a subfield is directly before the value, and the next delimiter directly after it, as
in `$aurn:x:y$2urn`. The lines of yaz-marcdump have spaces there, and `‡` and `ǂ` are not in URNs: no rule is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from urnscan.errors import SourceError
from urnscan.formats.buffer import Buffer
from urnscan.formats.contents import Document
from urnscan.formats.context import Layer
from urnscan.formats.encodings import as_text
from urnscan.formats.protocol import Archive, exactly
from urnscan.stores.reader import PieceReader, Reader

_UNIT_SEPARATOR = b"\x1f"
_BLOCK = 1 << 16
_WITHIN = 1 << 12  # bytes in which the first field with subfields must begin
_MARK = rb"(?:\xef\xbb\xbf)?(?>(?:[ \t]{0,8}\r?\n){0,8})"
_CONTROL_FIELDS = rb"(?>(?:(?:LDR|LEADER|00[0-9])[ \t][^\n]*\n)*)"
# Lines of WinIBW before a record. Their number is bounded, so that each pattern takes linear time.
_WINIBW = rb"(?>(?:(?:(?:SET|Eingabe|Input):[^\n]{0,200}|[ \t\r]{0,8})\n){0,8})"
_PICA = _WINIBW + rb"[0-2][0-9]{2}[A-Z@](?:/[0-9]{2,3})? "

_FORMS = (
    # MarcEdit.
    (rb"=LDR {1,2}[0-9 ]{5}|=0[0-9]{2}  |=[0-9A-Z]{3} {1,2}[^\r\n]{2}\$[0-9a-z]", rb"\$"),
    # Aleph Sequential.
    (rb"[0-9]{9} [0-9A-Z]{3}[0-9A-Za-z^ ]{2} [A-Z ] ", rb"\$\$"),
    # MARC::Record, a line for each subfield.
    (_CONTROL_FIELDS + rb"[0-9]{3} [^\r\n]{2} _[0-9a-z]", rb"(?m)(?<=^[0-9 ]{3} .{2} )_(?=[0-9a-z])"),
    # Tag, indicators and subfields as catalogues show them.
    (_CONTROL_FIELDS + rb"[0-9]{3}[ \t][0-9a-z#_.\\ \t]{0,4}\$[0-9a-z]", rb"\$"),
    (_CONTROL_FIELDS + rb"[0-9]{3}[ \t][0-9a-z#_.\\ \t]{0,4}\|[0-9a-z]", rb"\|"),
    # PICA+ plain, where `$$` is a dollar; and as WinIBW writes it, in UTF-8 and in Windows-1252.
    (_PICA + rb"\$[0-9A-Za-z]", rb"(?<!\$)\$(?=[0-9A-Za-z])"),
    (_PICA + rb"\xc6\x92[0-9A-Za-z]", rb"\xc6\x92"),
    (_PICA + rb"\x83[0-9A-Za-z]", rb"\x83"),
)
_KNOWN = tuple((re.compile(_MARK + rb"(?:%b)" % first), re.compile(delimiter)) for first, delimiter in _FORMS)
"""Patterns of the beginning of a text in a form of MARC, and of the delimiter before the code of a subfield."""
_DIGIT, _BLANK = b"0123456789", b" \t"
_IN_TAG = _DIGIT + b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS = (
    (b"=", *[_IN_TAG] * 3, b" "),
    (*[_DIGIT] * 9, b" "),
    (*[_DIGIT] * 3, _BLANK),
    *((*sign, _BLANK) for sign in exactly(b"LDR", b"LEADER")),
    (b"012", _DIGIT, _DIGIT, _IN_TAG + b"@", b" /"),
    *exactly(b"SET:", b"Eingabe:", b"Input:", b"\xef\xbb\xbf"),
    (b" \t\r\n",),
)
_MAY_BE = re.compile(
    _MARK
    + rb"(?:=[0-9A-Z]{0,3}(?: [^\n]*)?|[0-9]{1,9}(?:[ \t][^\n]*)?|L[DE]?[RA]?D?E?R?|%b[^\n]{0,12}|%b(?:[0-2][0-9]{0,2}"
    rb"(?:[A-Z@]/?[0-9]{0,3}[ \xc6]?)?|S|SET?|E[ingabe]{0,6}|In?p?u?t?|(?:SET|Eingabe|Input):[^\n]*)?)"
    % (_CONTROL_FIELDS, _WINIBW)
)


def _delimiter(head: bytes) -> re.Pattern[bytes] | None:
    """Pattern of the delimiter of subfields, if a text that begins with `head` is MARC as lines; else None."""
    return next((delimiter for first, delimiter in _KNOWN if first.match(head)), None)


def is_marc_text(head: bytes, _: Layer) -> bool | None:
    """Whether a text that begins with `head` has MARC records as lines, as `245 10 $a…`: by the first field with
    subfields, or the leader that MarcEdit writes. None if more bytes are needed.
    """
    if _delimiter(head) is not None:
        return True
    return None if len(head) < _WITHIN and _MAY_BE.fullmatch(head) else False


def open_marc_text(reader: Reader, layer: Layer) -> Iterator[Document | SourceError]:
    """Yield the whole text as a single document, whose `delimiter` matches the bytes before the code of a subfield, as
    `$` in `$a`.

    It is converted to UTF-8 if it is in UTF-16, UTF-32 or the encoding of the user (`--encoding`). Raises FatalError
    for an unknown encoding; yields no SourceError.
    """
    buffer = Buffer.of(reader)
    delimiter = _delimiter(buffer.head(_WITHIN))
    yield replace(as_text(buffer, layer), delimiter=delimiter)


class Subfields(PieceReader):
    """Reader of MARC as lines of text, with each byte of a delimiter replaced by 0x1F, the subfield delimiter of ISO
    2709: `$$aText` becomes `aText` after two bytes 0x1F. So a URN ends where its subfield ends.
    """

    def __init__(self, reader: Reader, delimiter: re.Pattern[bytes]) -> None:
        """`reader` is closed with this reader. `delimiter`: matches the bytes before the code of a subfield."""
        super().__init__(iter(self._next, None))
        self._reader = reader
        self._delimiter = delimiter
        self._block = memoryview(bytearray(_BLOCK))
        self._line = b""  # beginning of a line whose end is not yet read
        self._error: SourceError | None = None  # of the other reader; raised after the text before it
        self._ended = False

    def close(self) -> None:
        """Close the reader given to the constructor."""
        self._reader.close()

    def _next(self) -> bytes | None:
        """Return the complete lines of a single read; at the end, before an error and in a very long line, all bytes.
        None after the end.
        """
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._ended:
            return None
        got = 0
        try:
            got = self._reader.read_into(self._block)
            self._ended = not got
        except SourceError as error:
            self._error = error
        data = self._line + self._block[:got]
        end = data.rfind(b"\n") + 1
        if not got or (not end and len(data) > _BLOCK):
            end = len(data)
        self._line = data[end:]
        return self._delimiter.sub(lambda match: _UNIT_SEPARATOR * len(match[0]), data[:end])


FORM = Archive(name="MARC as text", open=open_marc_text, recognise=is_marc_text, signs=_SIGNS)
