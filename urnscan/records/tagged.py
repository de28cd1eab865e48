"""Records whose fields are lines with tags: a common reader for all formats, by the layout of each format.

The layouts of references are in `citations`, the layouts of MARC in lines in `marc_lines`. A line without a tag
continues the line before it. A line ends with LF, CR LF or CR. Between records may be byte order marks, of files that
were joined, and lines without a tag: numbers, names of providers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

from urnscan.framing.buffer import HEAD, LONGEST, MARK, Buffer
from urnscan.framing.lines import Damaged, parts, too_long
from urnscan.records import description
from urnscan.records.decoded_text import first_name
from urnscan.records.description import Statement
from urnscan.records.fields import Own, of_value
from urnscan.records.record import Cut, Record, RecordReader

# Bytes of a tag, with the bytes to which a pattern of the first line looks ahead.
_LONGEST_TAG = 64
# Bytes by which the first line of a record, or of a dump, is recognised.
_ENOUGH = 1 << 10
LINE_END = rb"(?:\r\n?+|\n)"
"""Pattern of a line end."""
_LINE_END = re.compile(LINE_END)
# Beginning of a line, with the last byte of the line end before it.
_BEGIN = rb"(?:\A|[\r\n])"
_BETWEEN = re.compile(rb"(?>(?:[\r\n]|" + MARK + rb"){1,256})")
_LEADING = re.compile(rb"\A(?>(?:\s|" + MARK + rb")+)")
# An address in a new line is a new value. Without an address, a line end may be inside a value, or in a list.
_ANOTHER = re.compile(r"\n(?=[^\S\n]*+[A-Za-z][A-Za-z0-9+.\-]*+:)")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Layout of a format of lines with tags: patterns of the lines with which a record begins and ends, and of a line
    with a tag. The patterns are for the beginning of a line, and have no groups.
    """

    begins: str
    """Tag with which a record begins, for messages."""
    first: bytes
    """Pattern of the first line of a record."""
    last: bytes = b""
    """Pattern of the last line of a record. Empty: a record has no special last line, and ends before `until`."""
    until: bytes = b""
    """Pattern of the line after a record without a special last line. Empty: the first line of the next record."""
    following: bytes = b""
    """Pattern of the first line of the next record, if `first` also fits other lines of a record."""
    ends: str = ""
    """Tag with which a record ends, for messages."""
    before: bytes = b""
    """Pattern of the bytes before the tag in a line."""
    tag: bytes
    """Pattern of a tag."""
    after: bytes
    """Pattern of the bytes between tag and value."""
    around: bytes = b"(?!)"
    """Pattern of lines with tags outside of records."""
    names: tuple[str, ...]
    """Tags that contain the ID of a record, the best first."""
    once: tuple[tuple[str, ...], ...] = ()
    """Groups of tags that a record does not repeat. If the first tag of a group has two different values, and each other
    tag of the group is there twice, two records ran together: the lines between them are lost.
    """
    inside: bytes = b"(?!)"
    """Pattern of the first line of a record in the middle of a line: the line before it was cut off."""
    untyped: Layout | None = None
    """Layout of dumps in which records have the last line, but not the first line. The fields are the same."""

    def of_dump(self, head: bytes) -> Layout:
        """Return the layout of a dump that begins with `head`: `untyped`, if there is one and `head` has last lines of
        records and no first line; otherwise this layout.
        """
        if self.untyped and not self.begun.search(head) and self.ended.search(head):
            return self.untyped
        return self

    @cached_property
    def begun(self) -> re.Pattern[bytes]:
        """Compiled pattern of the first line of a record, with the line end before it, if any."""
        return re.compile(rb"%b(?:%b)?%b" % (_BEGIN, MARK, self.first))

    @cached_property
    def ended(self) -> re.Pattern[bytes]:
        """Compiled pattern of the last line of a record, with the line end before it."""
        return re.compile(rb"[\r\n]%b" % self.last)

    @cached_property
    def first_line(self) -> re.Pattern[bytes]:
        """Compiled pattern of the first line of a record."""
        return re.compile(self.first)

    @cached_property
    def bound(self) -> re.Pattern[bytes]:
        """Compiled pattern of the end of a record: a line end, then the last line of the record, or the first line of
        the next record (`following` or `first`) as group 1.

        If `last` is empty: a line end, then in a lookahead, as group 1, any blank lines and a line that fits `until`
        or, if that is empty, the first line of the next record.
        """
        if self.last:
            return re.compile(rb"%b(?:((?:%b)?%b)|%b)" % (LINE_END, MARK, self.following or self.first, self.last))
        return re.compile(rb"%b(?=((?:[\r\n]|%b){0,16}%b))" % (LINE_END, MARK, self.until or self.first))

    @cached_property
    def tagged(self) -> re.Pattern[bytes]:
        """Compiled pattern of a line that begins with a tag of a record."""
        return re.compile(b"(?!%b)%b%b%b" % (self.around, self.before, self.tag, self.after))

    @cached_property
    def field(self) -> re.Pattern[bytes]:
        """Compiled pattern of a field in lines that end with LF. Groups: the tag; the value, not stripped, with all
        lines that continue it (of the last field also the last LF).
        """
        line = self.before + self.tag + self.after
        return re.compile(
            rb"(?m:^)%b(%b)%b([^\n]*+(?>(?:\n(?!%b)[^\n]*+)*))" % (self.before, self.tag, self.after, line)
        )

    @cached_property
    def name_fields(self) -> tuple[re.Pattern[bytes], ...]:
        """Compiled patterns of the fields that contain the ID of a record, the best first, in lines that end with LF.
        Group: the first line of the value, not stripped.
        """
        return self._first_lines(self.names)

    @cached_property
    def _once(self) -> tuple[tuple[re.Pattern[bytes], ...], ...]:
        """Patterns for lines that end with LF. Group: the first line of the value."""
        return tuple(map(self._first_lines, self.once))

    def _first_lines(self, tags: Sequence[str]) -> tuple[re.Pattern[bytes], ...]:
        escaped = (re.escape(tag.encode()) for tag in tags)
        return tuple(re.compile(rb"(?m:^)%b%b%b([^\n]*+)" % (self.before, tag, self.after)) for tag in escaped)

    @cached_property
    def _inside(self) -> re.Pattern[bytes]:
        return re.compile(self.inside)

    def fault(self, lines: bytes) -> str | None:
        """Return the reason why a record, whose lines end with LF, is two records that ran together: the first line of
        a record is in the middle of a line (`inside`), or all tags of a group in `once` are there twice, the first with
        different values. None if there is no such sign.
        """
        for match in self._inside.finditer(lines):
            # Such a line may be indented, in an abstract.
            if lines[lines.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip():
                return f"{self.begins} of another record is in the middle of a line"
        for tags, (first, *others) in zip(self.once, self._once, strict=True):
            if any(lines.count(tag.encode()) < 2 for tag in tags):
                continue
            values = {value.strip() for value in first.findall(lines)} - {b""}
            if len(values) > 1 and all(len(other.findall(lines)) > 1 for other in others):
                return f"it is two records that ran together: it has {' and '.join(tags)} twice"
        return None


class TaggedRecords(RecordReader):
    """Base class of the readers of lines with tags: finds records, and reads their fields, by the layout of their
    format.
    """

    layout: ClassVar[Layout]
    """Layout of the format."""
    # The layout by which records are cut, once the first bytes are read.
    _cut_by: Layout | None = None

    def cuts(self, buffer: Buffer) -> Iterator[Cut | Damaged]:
        """Yield each record of a dump as a `Cut` (its place and bytes), in order, and a `Damaged` for damaged records
        and lines.

        In a format in which records have a last line (`Layout.last`), a record without it is damaged, because it may
        have lost a part. Lines with tags outside of a record are damaged, too; neighbouring lines are reported once.
        """
        if self._cut_by is None:
            buffer.has(HEAD)
            self._cut_by = self.layout.of_dump(buffer.data[buffer.at : buffer.at + HEAD])
        layout = self._cut_by
        text = parts(buffer, partial(to_line_end, buffer), partial(buffer.has, 1))
        # Whether the lines that are read now are damaged: they are reported once.
        is_damaged = False
        while True:
            buffer.pass_over(_BETWEEN)
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
            length, damage = self._cut(buffer, layout)
            is_damaged = length == 0
            if is_damaged:
                next(text)
            data = buffer.take(length)
            yield damage or Cut(offset, data)

    def _cut(self, buffer: Buffer, layout: Layout) -> tuple[int, Damaged | None]:
        """Length in bytes of the record at the start of the buffer (0 if its end is unknown), and its damage. Takes no
        bytes.
        """
        offset = buffer.offset
        end, is_next = self._end(buffer, layout)
        if not end and len(buffer.data) - buffer.at > LONGEST:
            return 0, too_long(offset)
        if layout.last:
            if not end:
                return 0, Damaged(offset, f"it has no {layout.ends}")
            if is_next:
                return end, Damaged(offset, f"it has no {layout.ends} before the next {layout.begins}")
            length = to_line_end(buffer, end) or len(buffer.data) - buffer.at
            return length, too_long(offset) if length > LONGEST else None
        data = buffer.data[buffer.at : buffer.at + end] if end else buffer.data[buffer.at :]
        # Blank lines after the record are between records.
        line_end = _LINE_END.search(data, len(data.rstrip()))
        length = line_end.end() if line_end else len(data)
        return length, Damaged(offset, "it is truncated") if buffer.error and not end else None

    def _end(self, buffer: Buffer, layout: Layout) -> tuple[int, bool]:
        """Distance in bytes to the end of the record at the start of the buffer, and whether the next record begins
        there; otherwise, the last line of this one has begun. 0 and False if neither follows.
        """
        bound = buffer.search(layout.bound, longest=_LONGEST_TAG)
        if bound is None:
            return 0, False
        is_next = bound[1] is not None
        return (bound.start(1) if is_next else bound.end()) - buffer.at, is_next

    def record(self, cut: Cut) -> Record | Damaged:
        """Read the fields of a record. Returns a `Record` with its ID and, by the options of the reader, texts to scan
        for URNs (with `own`, record-level identifiers instead), identifiers that give keys (`keys`) and a description
        (`described`). Returns a `Damaged` for two records that ran together.
        """
        offset, data, _ = cut
        lines = with_line_feeds(data)
        if fault := self.layout.fault(lines):
            return Damaged(offset, fault)
        name = self._name(lines)
        texts = (self._text_to_search(data),) if self.has_texts else ()
        if not (self.fields or self.described):
            return Record(offset, data, name, texts)
        own, packed = self._own_and_description(lines)
        return Record(offset, data, name, texts, own, packed)

    def _own_and_description(self, lines: bytes) -> tuple[Sequence[Own], bytes]:
        values = [
            (name, value.decode("utf-8", "replace").strip())
            for tag, value in self.layout.field.findall(lines)
            if (name := tag.decode("latin-1")) in self.field_names or name in self.described
        ]
        kinds = {tag: value.upper() for tag, value in reversed(values)}
        own: list[Own] = []
        statements: list[Statement] = []
        seen: set[str] = set()
        for tag, value in values:
            statements += description.of_text(value, self.described.get(tag, ()))
            for part in _ANOTHER.split(value) if self.fields else ():
                own += of_value(part.strip(), self.fields.get(tag, ()), kinds, is_first=tag not in seen)
            seen.add(tag)
        return own, description.pack(self.described_by, statements)

    def _name(self, lines: bytes) -> str | None:
        """ID of a record, whose lines end with LF: for each tag of `Layout.names`, the first line of the first field is
        tried. None if there is none.
        """
        matches = (pattern.search(lines) for pattern in self.layout.name_fields)
        return first_name(self._text(match[1]) for match in matches if match)

    def _text_to_search(self, data: bytes) -> bytes:
        return data

    def _text(self, value: bytes) -> str:
        return value.decode("utf-8", "replace")


def with_line_feeds(data: bytes) -> bytes:
    """Return bytes with LF instead of each line end (CR LF or CR)."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def to_line_end(buffer: Buffer, start: int = 0) -> int:
    """Return the distance in bytes from the next byte of the buffer to the end of the first line end (LF, CR LF or CR)
    after `start` bytes; 0 if none follows, or only after more than `LONGEST` bytes. Reads on in the buffer, but takes
    no bytes from it.
    """
    line_end = buffer.search(_LINE_END, start, 2)
    return line_end.end() - buffer.at if line_end else 0


def begins_with(
    pattern: re.Pattern[bytes], head: bytes, _name: str, *, before: re.Pattern[bytes] = _LEADING
) -> bool | None:
    """Whether a dump whose first bytes are `head` begins with a pattern, after bytes that fit `before`: white space and
    byte order marks, if it is not given. None: undecided, because fewer than 1,024 bytes follow; so the pattern must
    not need more.
    """
    text = before.sub(b"", head)
    if pattern.match(text):
        return True
    return None if len(text) < _ENOUGH else False
