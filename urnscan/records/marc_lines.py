"""Records of MARC in lines, a line for each field: formats that people edit and that programs print.

* The format of MarcEdit (mrk): `=245  10$aInks`; a backslash is a space, `{dollar}` a dollar. A record begins with
  =LDR.
* The format of yaz-marcdump: `245 10 $a Inks`. A record begins with a leader, and ends with a blank line.
* Aleph Sequential: `000000001 24510 L $$aInks`. All lines of a record begin with its number; `^` is a space.

Two neighbouring records of Aleph may have the same number: FMT or LDR begins the second record if the first record has
a field with this tag already.
"""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from urnscan.framing.buffer import MARK, Buffer
from urnscan.framing.lines import Damaged
from urnscan.records.decoded_text import decoded
from urnscan.records.format import Format
from urnscan.records.marc_fields import LEADERS, MarcFields, SplitField
from urnscan.records.record import Cut, Record
from urnscan.records.tagged import LINE_END, Layout, TaggedRecords, begins_with, to_line_end, with_line_feeds

_TAG = rb"[0-9A-Z]{3}"
# Some systems write two control numbers (a 001 of their own), some two titles, but none both.
_ONCE = (("001", "245"), ("001", "200"))


class MarcLineRecords(TaggedRecords):
    """Base class of the readers of dumps of MARC in lines (a line for each field). A subclass sets `layout`, `blank`
    and `sign`.
    """

    table = described_by = "marc"
    """Name of the tables with the fields of the format."""
    blank: ClassVar[str]
    """Character that represents a space in the leader, in control fields and in indicators."""
    sign: ClassVar[re.Pattern[str]]
    """Pattern of the start of a subfield, with its code as a group."""
    delimiter: ClassVar[bytes] = b""
    """Bytes before a code, in formats without a space between the code and the value; otherwise empty."""
    indented: ClassVar[int] = 0
    """Number of characters between the tag and the value of a control field."""
    leader: ClassVar[int] = 0
    """Number of bytes of a leader without a tag, at the start of a record; 0 if the leader has a tag."""

    @classmethod
    def show(cls, data: bytes) -> str:
        """Return a record as text in the form of MARC editors (`245 10 $a Inks`), the same for all formats of MARC; the
        bytes of the record, only decoded, if no field is recognised. Bytes are decoded as UTF-8.
        """
        marc = cls(own=False).fields_of(data)
        return marc.lines() if marc.fields else decoded(data)

    def fields_of(self, data: bytes) -> MarcFields:
        """Read the lines of a record, and return its leader (empty if it has none) and its fields, not yet split into
        subfields; a leader with a tag is also among the fields.
        """
        fields = [(tag.decode(), value) for tag, value in self.layout.field.findall(with_line_feeds(data))]
        leaders = [value for tag, value in fields if tag in LEADERS] or [data[: self.leader]]
        return MarcFields(self._split(leaders[0])[0], fields, self._split)

    def record(self, cut: Cut) -> Record | Damaged:
        """Read the leader and fields of a record. Returns a `Record` with the ID, the fields of MARC (`Record.marc`)
        and, without `own`, a text to scan for URNs; or a `Damaged` for two records that ran together.
        """
        offset, data, _ = cut
        lines = with_line_feeds(data)
        if fault := self.layout.fault(lines):
            return Damaged(offset, fault)
        texts = (self._text_to_search(data),) if self.has_texts else ()
        marc = self.fields_of(data).data(self.marc.tags)
        return Record(offset, data, self._name(lines), texts, marc=marc)

    def _text_to_search(self, data: bytes) -> bytes:
        # A URN may follow its code without white space. Without 1F, the code would be a letter before the URN.
        return data.replace(self.delimiter, b"\x1f").replace(b"{dollar}", b"$") if self.delimiter else data

    def _text(self, value: bytes) -> str:
        return self._split(value)[0]

    def _split(self, value: bytes) -> SplitField:
        text = value.decode("utf-8", "replace").rstrip("\n")
        first, *subfields = self.sign.split(text)
        if not subfields:
            return text[self.indented :].replace(self.blank, " "), ()
        parts = zip(subfields[::2], subfields[1::2], strict=True)
        return first[:2].replace(self.blank, " "), [(code, text.replace("{dollar}", "$")) for code, text in parts]


class MarcEditRecords(MarcLineRecords):
    """Reader of MARC dumps in the format of MarcEdit (`=245  10$aInks`)."""

    blank, sign, delimiter = "\\", re.compile(r"\$(.)"), b"$"
    layout = Layout(
        begins="=LDR",
        first=rb"=(?:LDR|000)  ",
        inside=rb"=LDR  [0-9]{5}",
        before=b"=",
        tag=_TAG,
        after=rb"  ",
        names=("001",),
        once=_ONCE,
    )


class YazRecords(MarcLineRecords):
    """Reader of MARC dumps in the lines of yaz-marcdump (`245 10 $a Inks`)."""

    blank, sign, leader = " ", re.compile(r" \$([0-9a-z]) "), 24
    layout = Layout(
        begins="a leader",
        first=rb"[0-9 ]{5}[a-z ][ -~]{14}45[ -~]{2}" + LINE_END + rb"(?=" + _TAG + rb" )",
        until=LINE_END,
        tag=_TAG,
        after=rb" ",
        names=("001",),
        once=_ONCE,
    )


class AlephRecords(MarcLineRecords):
    """Reader of MARC dumps in Aleph Sequential (`000000001 24510 L $$aInks`)."""

    blank, sign, delimiter, indented = "^", re.compile(r"\$\$(.)"), b"$$", 5
    layout = Layout(
        begins="a number of nine digits",
        first=rb"[0-9]{9} " + _TAG + rb"[0-9A-Za-z^ ]{2} [A-Z ] ",
        before=rb"[0-9]{9} ",
        tag=_TAG,
        after=b"",
        names=("001",),
        once=_ONCE,
    )

    def _name(self, lines: bytes) -> str | None:
        return super()._name(lines) or lines[:9].decode()

    def _end(self, buffer: Buffer, _layout: Layout) -> tuple[int, bool]:
        """Distance in bytes from the record at the start of the buffer to the next line without its number, or with a
        second FMT or LDR, and True; 0 and False if none follows in the text. Reads on as needed.
        """
        number = buffer.data[buffer.at : buffer.at + 10]
        seen = set()
        end = 0
        while True:
            tag = buffer.data[buffer.at + end + 10 : buffer.at + end + 13]
            if tag in (b"FMT", b"LDR"):
                if tag in seen:
                    return end, True
                seen.add(tag)
            end = to_line_end(buffer, end)
            if not end or not (buffer.has(end + 13) or buffer.has(end + 1)):
                return 0, False
            if not buffer.data.startswith(number, buffer.at + end):
                return end, True


is_marc_edit = partial(begins_with, MarcEditRecords.layout.first_line)
# yaz-marcdump warns between records, in brackets or in comments; before the first record, it may warn of each byte.
is_yaz = partial(
    begins_with,
    YazRecords.layout.first_line,
    before=re.compile(rb"\A(?>(?:\s|" + MARK + rb"|(?:\(|<!--)[^\r\n]*+)+)"),
)
is_aleph = partial(begins_with, AlephRecords.layout.first_line)


FORMATS = (
    Format(
        name="mrk",
        title="MARC in lines (MarcEdit)",
        reader=MarcEditRecords,
        recognise=is_marc_edit,
        suffixes=(".mrk",),
        trace=rb"(?m:^)=[0-9]{3}  ",
        line_ends=2,
        show=MarcEditRecords.show,
    ),
    Format(
        name="marc-lines",
        title="MARC in lines (yaz-marcdump)",
        reader=YazRecords,
        recognise=is_yaz,
        line_ends=2,
        show=YazRecords.show,
    ),
    Format(
        name="aleph",
        title="Aleph Sequential",
        reader=AlephRecords,
        recognise=is_aleph,
        trace=rb"(?m:^)[0-9]{9} [0-9A-Z]{3}[0-9A-Za-z^ ]{2} [A-Z ] ",
        # The last record of one dump and the first of another may have the same number.
        framed=True,
        show=AlephRecords.show,
    ),
)
