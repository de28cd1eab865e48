"""Records whose fields are lines with tags: one reader for all formats, and the layout of each format of references.

* RIS (RIS Format Specifications, Research Information Systems, 2001; the tags by type of reference, 2011): from a line with
  TY to a line with ER. After the two characters of a tag come two spaces, a hyphen and a space; some programs leave out the
  last space before a line end.
* MEDLINE, the format of PubMed: from `PMID- ` up to the next one.
* The import format of EndNote and Refer: from `%0 ` up to the next one.
* The field tagged format of Web of Science: from PT to ER. FN and VR come before the records, EF after them.

A line without a tag continues the line before it. MARC in lines is in `marc_lines`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, lines, too_long
from urnscan.records import description
from urnscan.records.decoded_text import first_name
from urnscan.records.description import Statement
from urnscan.records.fields import Own, of_value
from urnscan.records.format import Format
from urnscan.records.record import Cut, Record, RecordReader

# Octets of a tag, with those to which a pattern of the first line looks ahead.
_LONGEST_TAG = 64
# So many octets without a line end may be the beginning of a first line.
_FIRST_LINE = 64
_BLANK = re.compile(rb"[\r\n]++")
# An address in a new line is a new value. Without an address, a line end may be inside a value, or in a list.
_ANOTHER = re.compile(r"\n(?=[^\S\n]*+[A-Za-z][A-Za-z0-9+.\-]*+:)")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Layout of a format of lines. The patterns fit beginnings of lines, and have no groups."""

    begins: str
    """Tag with which a record begins, for messages."""
    first: bytes
    """Pattern of the first line of a record."""
    last: bytes = b""
    """Pattern of the last line of a record. Empty: a record has no special last line, and ends before `until`."""
    until: bytes = b""
    """Pattern of the line after a record without a special last line. Empty: the first line of the next record."""
    ends: str = ""
    """Tag with which a record ends, for messages."""
    before: bytes = b""
    """Pattern of the octets before the tag in a line."""
    tag: bytes
    """Pattern of a tag."""
    after: bytes
    """Pattern of the octets between the tag and its value."""
    around: bytes = b"(?!)"
    """Pattern of lines with tags outside of records."""
    names: tuple[str, ...]
    """Tags that contain the name of a record, the best first."""

    @cached_property
    def first_line(self) -> re.Pattern[bytes]:
        """Pattern of the first line."""
        return re.compile(self.first)

    @cached_property
    def bound(self) -> re.Pattern[bytes]:
        """Pattern of the line end before the last line of a record, or, with its group, before the first line of the next."""
        if self.last:
            return re.compile(rb"\n(?:(%b)|%b)" % (self.first, self.last))
        return re.compile(rb"\n(?=%b)" % (self.until or self.first))

    @cached_property
    def tagged(self) -> re.Pattern[bytes]:
        """Pattern of a line with a tag of a record."""
        return re.compile(b"(?!%b)%b%b%b" % (self.around, self.before, self.tag, self.after))

    @cached_property
    def field(self) -> re.Pattern[bytes]:
        """Pattern of a field: its tag, and its value with the lines that continue it."""
        line = self.before + self.tag + self.after
        return re.compile(rb"(?m:^)%b(%b)%b([^\n]*+(?:\n(?!%b)[^\n]*+)*+)" % (self.before, self.tag, self.after, line))

    @cached_property
    def name_fields(self) -> tuple[re.Pattern[bytes], ...]:
        """Patterns of the fields that contain the name of a record. Their group is the first line of the value."""
        tags = (re.escape(name.encode()) for name in self.names)
        return tuple(re.compile(rb"(?m:^)%b%b%b([^\n]*+)" % (self.before, tag, self.after)) for tag in tags)


class TaggedRecords(RecordReader):
    """Base of the readers: finds records by the layout of their format."""

    layout: ClassVar[Layout]

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Find the records. A record without its last line is damaged, because it may have lost a part. Lines with tags
        outside of a record are damaged, too.
        """
        layout, text = self.layout, lines(buffer)
        # Whether the lines that are read now are damaged: they are reported once.
        is_damaged = False
        while True:
            # In a loop, because the octets that are read next may also begin with blank lines.
            while buffer.has(1) and (blank := _BLANK.match(buffer.octets, buffer.at)):
                buffer.at = blank.end()
            offset = buffer.offset
            if not buffer.match(layout.first_line, _LONGEST_TAG):
                if (line := next(text, None)) is None:
                    return
                if isinstance(line, Damaged):
                    yield line
                elif not is_damaged and layout.tagged.match(line[1]):
                    is_damaged = True
                    yield Damaged(line[0], f"it does not begin with {layout.begins}")
                continue
            length, damage = self._cut(buffer)
            is_damaged = length == 0
            if is_damaged:
                next(text)
            octets = buffer.take(length)
            yield damage or Cut(offset, octets)

    def _cut(self, buffer: Buffer) -> tuple[int, Damaged | None]:
        """Length of the record that begins here, 0 if its end is unknown; and its damage if it is damaged."""
        layout, offset = self.layout, buffer.offset
        end, is_next = self._end(buffer)
        if not end and len(buffer.octets) - buffer.at > LONGEST:
            return 0, too_long(offset)
        if layout.last:
            if not end:
                return 0, Damaged(offset, f"it has no {layout.ends}")
            if is_next:
                return end, Damaged(offset, f"it has no {layout.ends} before the next {layout.begins}")
            length = buffer.find(b"\n", end) + 1 or len(buffer.octets) - buffer.at
            return length, too_long(offset) if length > LONGEST else None
        octets = buffer.octets[buffer.at : buffer.at + end] if end else buffer.octets[buffer.at :]
        # Blank lines after the record are between records.
        length = octets.find(b"\n", len(octets.rstrip())) + 1 or len(octets)
        return length, Damaged(offset, "it is cut off") if buffer.error and not end else None

    def _end(self, buffer: Buffer) -> tuple[int, bool]:
        """Distance to the end of the record that begins here, and whether the first line of the next record follows.

        The end is after the tag of the last line of the record, or before the first line of the next. 0: there is neither.
        """
        bound = buffer.search(self.layout.bound, longest=_LONGEST_TAG)
        if bound is None:
            return 0, False
        is_next = not self.layout.last or bound[1] is not None
        return (bound.start() + 1 if is_next else bound.end()) - buffer.at, is_next

    def record(self, cut: Cut) -> Record:
        """Read a record."""
        offset, octets, _ = cut
        name = self._name(octets)
        texts = (self._text_to_search(octets),) if self.has_texts else ()
        if self.fields is None and not self.described:
            return Record(offset, octets, name, texts)
        own, packed = self._own_and_description(octets)
        return Record(offset, octets, name, texts, own, packed)

    def _own_and_description(self, octets: bytes) -> tuple[Sequence[Own], bytes]:
        """Own identifiers of a record, and its packed description."""
        values = [
            (tag.decode(), value.decode("utf-8", "replace").strip())
            for tag, value in self.layout.field.findall(octets)
            if tag in self.field_names or tag in self.described_octets
        ]
        kinds = {tag: value.upper() for tag, value in reversed(values)}
        own: list[Own] = []
        statements: list[Statement] = []
        seen: set[str] = set()
        for tag, value in values:
            statements += description.of_text(value, self.described.get(tag, ()))
            for part in _ANOTHER.split(value) if self.fields else ():
                own += of_value(part.strip(), (self.fields or {}).get(tag, ()), kinds, is_first=tag not in seen)
            seen.add(tag)
        return own, description.pack(self.described_by, statements)

    def _name(self, octets: bytes) -> str | None:
        """Name of a record: the first line of the first of `Layout.names` that has a value; None if it has none."""
        matches = (pattern.search(octets) for pattern in self.layout.name_fields)
        return first_name(self._text(match[1]) for match in matches if match)

    def _text_to_search(self, octets: bytes) -> bytes:
        """The text of a record in which URNs are searched."""
        return octets

    def _text(self, value: bytes) -> str:
        """Text of a value."""
        return value.decode("utf-8", "replace")


_RIS = rb"  -(?=[ \r\n]|\Z)"
# End of a tag.
_END = rb"(?=[ \r\n]|\Z)"


class RisRecords(TaggedRecords):
    """Reads RIS."""

    table = described_by = "ris"
    layout = Layout(
        begins="TY",
        first=rb"TY" + _RIS,
        ends="ER",
        last=rb"ER" + _RIS,
        tag=rb"[A-Z][A-Z0-9]",
        after=_RIS,
        names=("ID", "AN"),
    )


class MedlineRecords(TaggedRecords):
    """Reads the format of PubMed."""

    table = described_by = "nbib"
    layout = Layout(
        begins="PMID",
        first=rb"PMID *- ",
        tag=rb"[A-Z][A-Z0-9]{1,3}",
        after=rb" {0,2}-" + _END,
        names=("PMID",),
    )


class EndNoteRecords(TaggedRecords):
    """Reads the import format of EndNote."""

    table = described_by = "enw"
    layout = Layout(begins="%0", first=rb"%0 ", before=b"%", tag=rb"[!-~]", after=_END, names=("F", "M"))


class WebOfScienceRecords(TaggedRecords):
    """Reads the field tagged format of Web of Science."""

    table = described_by = "ciw"
    layout = Layout(
        begins="PT",
        first=rb"PT [A-Z]" + _END,
        ends="ER",
        last=rb"ER" + _END,
        tag=rb"[A-Z][A-Z0-9]",
        after=_END,
        around=rb"(?:FN|VR|EF)" + _END,
        names=("UT",),
    )


# Some databases write their name before the first record: "Provider: Example Press". Some number the records: "1.".
_RIS_HEAD = re.compile(
    rb"(?:" + MARK + rb")?(?:(?:[A-Za-z][A-Za-z ]{0,30}+:[^\r\n]*+|[ \t]*+|[0-9]{1,9}+[.)]?)\r?\n)*+"
    rb"(?:(TY  -[ \r\n])|(?:TY?| *+|TY  ?-?|[0-9]{1,9}+[.)]?|[A-Za-z][A-Za-z ]{0,30}+(?::[^\n]*+)?)\r?\Z)"
)


def is_ris(head: bytes, _name: str) -> bool | None:
    """Whether the first line has the tag TY. Lines before it may name the provider."""
    match = _RIS_HEAD.match(head)
    if match is None:
        return None if MARK.startswith(head) else False
    return True if match[1] else None


def begins_with(pattern: re.Pattern[bytes], head: bytes, _name: str) -> bool | None:
    """Whether a dump begins with a pattern, after blank lines."""
    text = head.removeprefix(MARK).lstrip()
    if pattern.match(text):
        return True
    return None if len(text) < _FIRST_LINE and b"\n" not in text else False


is_medline = partial(begins_with, MedlineRecords.layout.first_line)
is_endnote = partial(begins_with, EndNoteRecords.layout.first_line)
is_web_of_science = partial(begins_with, re.compile(rb"FN [^\n]*+\nVR [^\n]*+\n|" + WebOfScienceRecords.layout.first))


FORMATS = (
    Format(
        name="ris",
        title="RIS",
        reader=RisRecords,
        recognise=is_ris,
        suffixes=(".ris",),
        trace=rb"(?m:^)[A-Z][A-Z0-9]  - ",
    ),
    Format(
        name="nbib",
        title="PubMed (MEDLINE)",
        reader=MedlineRecords,
        recognise=is_medline,
        suffixes=(".nbib",),
        line_ends=2,
    ),
    Format(
        name="enw",
        title="EndNote (import format)",
        reader=EndNoteRecords,
        recognise=is_endnote,
        suffixes=(".enw",),
        line_ends=2,
    ),
    Format(
        name="ciw",
        title="Web of Science (field tagged)",
        reader=WebOfScienceRecords,
        recognise=is_web_of_science,
        suffixes=(".ciw",),
        framed=True,
    ),
)
