"""Records of PICA+ in its two serialisations for dumps (https://format.gbv.de/pica).

* Normalised: a record is a line; each field ends with 1E, each subfield begins with 1F. Some systems write a number and
  a 1E before the first field. In the binary form, records end with 1D, and line ends between them do not count.
* Plain: a field is a line, `045F/01 $a...`; each subfield begins with `$`, and a dollar in a value is doubled. A blank
  line separates records. WinIBW writes `ƒ` before subfields instead; then a `$` is a dollar. WinIBW also writes lines
  before a record (`SET: S1 [2] TTL: 1`, `Eingabe: …`), which do not belong to the record.

PICA+ in XML is in `xml_kinds`.

A record is damaged if it does not begin with a field, or if it has two different PPNs (then two records ran together).
A normalised record is also damaged if it does not end with a field: it is cut off. In a plain record, a later line that
is not a field continues a value. Fields of levels 1 and 2 (holdings, copies) belong to the record that contains them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from urnscan.framing.buffer import BETWEEN, HEAD, MARK, Buffer
from urnscan.framing.lines import Damaged, parts
from urnscan.records import description
from urnscan.records.decoded_text import decoded, in_line
from urnscan.records.description import Statement
from urnscan.records.fields import Own, of_subfields
from urnscan.records.format import Format
from urnscan.records.record import Cut, Record, RecordReader
from urnscan.records.tagged import LINE_END, with_line_feeds

_TAG = rb"[012][0-9]{2}[A-Z@](?:/[0-9]{2,3})? "
_SIGN = "ƒ".encode()
_NORMALISED = re.compile(rb"(?:[0-9Xx ]{0,40}\x1e)?" + _TAG + rb"\x1f")
_PLAIN = re.compile(_TAG + rb"(?:(\$)|" + _SIGN + rb")")
_PPN = re.compile(rb"(?:\A|[\x1e\n])003@ [^\n\x1e]*?\x1f0([^\n\x1d-\x1f]*)")
# Also in the middle of a field that was cut off.
_ANY_PPN = re.compile(rb"003@ \x1f0([^\n\x1d-\x1f]*)")
_BINARY = re.compile(rb"\x1e\x1d|\n")
_BLANK_LINE = re.compile(rb"(%b)[ \t]{0,64}%b" % (LINE_END, LINE_END))
# Bytes between plain records, also lines of WinIBW.
_BETWEEN_PLAIN = re.compile(
    rb"(?:[\s\0\x1a]{1,256}+|%b|[A-Z](?:[a-z]|[\x80-\xff]|[A-Z]){2,20}: [^\r\n]{0,900}+[\r\n])" % MARK
)
_LINE_ENDS = re.compile(LINE_END)
_CUT_OFF = "it is truncated"


def _begins_with(field: re.Pattern[bytes], head: bytes, _name: str) -> bool | None:
    """Whether the first record of a dump begins with the pattern `field`; None: undecided."""
    if MARK.startswith(head):
        return None
    text = head
    while between := _BETWEEN_PLAIN.match(text):
        text = text[between.end() :]
    if field.match(text):
        return True
    return None if len(text) < 64 and (not text or text[:1].isdigit()) else False


is_pica_normalised = partial(_begins_with, _NORMALISED)
is_pica_plain = partial(_begins_with, _PLAIN)


class PicaRecords(RecordReader):
    """Reader of PICA+ dumps, normalised or plain; the first bytes of a dump show which. The ID of a record is its PPN
    (003@ $0).
    """

    table = described_by = "pica"
    """Name of the tables with the fields of the format."""
    # The serialisation is unknown until the first bytes are read.
    _plain: bool | None = None

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each record as a `Cut` (its place and bytes), in order, and a `Damaged` for a record that is longer
        than 64 MiB, or that is not whole because reading failed. `record` finds other damage.
        """
        # `Cut.around` has whether the dump is plain, and whether bytes before the record are lost.
        is_resumed = self._plain is not None
        if self._plain is None:
            buffer.has(HEAD)
            head = buffer.data[buffer.at : buffer.at + HEAD]
            # A normalised line has at least one 1E and one 1F, a plain line has none.
            self._plain = head.count(b"\x1e") + head.count(b"\x1f") <= len(_LINE_ENDS.findall(head))
        end = None if self._plain else buffer.search(_BINARY)
        terminator = b"\x1d" if end and end[0] == b"\x1e\x1d" else b"\n"
        length = partial(_to_blank_line, buffer) if self._plain else lambda: buffer.find(terminator) + 1
        between = _BETWEEN_PLAIN if self._plain else BETWEEN
        for part in parts(buffer, length, partial(buffer.pass_over, between)):
            if isinstance(part, Damaged):
                yield part
            # The blank line after a plain record is not a part of it: without bytes after it, the record may be cut off.
            elif buffer.error and buffer.at == len(buffer.data) and (self._plain or not part[1].endswith(terminator)):
                yield Damaged(part[0], _CUT_OFF)
            else:
                yield Cut(*part, (self._plain, is_resumed))
            is_resumed = False

    def record(self, cut: Cut) -> Record | Damaged:
        """Read the fields of a record. Returns a `Record` with its ID and, by the options of the reader, texts to scan
        for URNs (with `own`, record-level identifiers instead), identifiers that give keys (`keys`) and a description
        (`described`). Returns a `Damaged` for a record that does not begin with a field, for a normalised record that
        does not end with a field, for a record with two IDs, and for a record without an ID after lost bytes.
        """
        offset, data, (plain, is_resumed) = cut
        first = (_PLAIN if plain else _NORMALISED).match(data)
        if not first:
            return Damaged(offset, "it does not begin with a field of PICA+")
        text = data
        if plain:
            text = with_line_feeds(data)
            text = _normalised(text) if first[1] else text.replace(_SIGN, b"\x1f")
        elif not data.rstrip(b"\r\n\x1d").endswith(b"\x1e"):
            return Damaged(offset, _CUT_OFF)
        ppn = _PPN.search(text)
        identifier = (ppn[1].decode("utf-8", "replace").strip() or None) if ppn else None
        if text.count(b"003@ ") > 1 and len({*map(bytes.strip, _ANY_PPN.findall(text))} - {b""}) > 1:
            return Damaged(offset, "it is two records that ran together: it has 003@ $0 twice")
        if is_resumed and identifier is None:
            return Damaged(offset, "it begins in the middle: what came before could not be read")
        if not (self.fields or self.described):
            return Record(offset, data, identifier, (text,))
        own: list[Own] = []
        statements: list[Statement] = []
        for field in text.split(b"\n" if plain else b"\x1e"):
            tag = field[:4].decode("latin-1")
            rows, description_rows = self.fields.get(tag, ()), self.described.get(tag, ())
            if rows or description_rows:
                subfields = [
                    (part[:1].decode("latin-1"), part[1:].decode("utf-8", "replace"))
                    for part in field.split(b"\x1f")[1:]
                ]
                own += of_subfields(subfields, rows)
                statements += description.of_subfields(subfields, description_rows)
        texts = (text,) if self.has_texts else ()
        return Record(offset, data, identifier, texts, tuple(own), description.pack(self.described_by, statements))


def _to_blank_line(buffer: Buffer) -> int:
    blank = buffer.search(_BLANK_LINE)
    return blank.end(1) - buffer.at if blank else 0


def _normalised(data: bytes) -> bytes:
    """A plain record with 1F instead of `$` before subfields, and `$` instead of `$$`."""
    return b"$".join(part.replace(b"$", b"\x1f") for part in data.split(b"$$"))


def show_pica(data: bytes) -> str:
    r"""Return a normalised record, decoded as UTF-8, as text in the plain form, for people: a line for each field. A
    `$` in a value becomes `$$`.

    >>> print(show_pica(b"021A \x1faDie Uhrmacher\x1fhA. Wimpelfeld\x1e\n"))
    021A $aDie Uhrmacher$hA. Wimpelfeld
    """
    fields = data.strip(b"\r\n\x1d").replace(b"$", b"$$").split(b"\x1e")
    return "\n".join("$".join(in_line(decoded(part)) for part in field.split(b"\x1f")) for field in fields if field)


FORMATS = (
    Format(
        name="pica",
        title="PICA+ (normalised)",
        reader=PicaRecords,
        recognise=is_pica_normalised,
        trace=rb"[0-9]{3}[A-Z@][ /][^\x1e\n]{0,9}\x1f",
        show=show_pica,
    ),
    Format(name="pica-plain", title="PICA+ (plain)", reader=PicaRecords, recognise=is_pica_plain, line_ends=2),
)
