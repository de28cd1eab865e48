"""Records of RIS (RIS Format Specifications, Research Information Systems, 2001; the tags by type of reference, 2011):
from a line with the tag TY to one with the tag ER.

A tag is two characters, two spaces, a hyphen and a space, which some leave out where nothing follows. Lines without a tag
go on with the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from urnscan.framing.buffer import LONGEST, MARK, Buffer
from urnscan.framing.lines import lines, too_long
from urnscan.records.fields import of_values, own_fields, wanted
from urnscan.records.record import Damaged, Record

__all__ = ["RisRecords", "is_ris"]

_TAGGED = rb"  -(?=[ \r\n]|\Z)"
_FIRST = re.compile(rb"TY" + _TAGGED)
_BOUND = re.compile(rb"\n(?:(TY)|ER)" + _TAGGED)  # where a record ends, or another begins before it has
_TAG = re.compile(rb"[A-Z][A-Z0-9]" + _TAGGED)
_LONGEST_TAG = 8
_BLANK = re.compile(rb"[\r\n]++")
_FIELD = re.compile(
    rb"(?m:^)([A-Z][A-Z0-9])" + _TAGGED + rb"([^\n]*+(?:\n(?!" + _TAG.pattern + rb")[^\n]*+)*+)"
)  # a value with the lines that it goes on in
# An address in another line is another value. Else a value may be broken there, or be a list.
_ANOTHER = re.compile(r"\n(?=[^\S\n]*+[A-Za-z][A-Za-z0-9+.\-]*+:)")
# Before the first record some databases say what they are: "Provider: Example Press".
_HEAD = re.compile(
    rb"(?:" + MARK + rb")?(?:(?:[A-Za-z][A-Za-z ]{0,30}+:[^\r\n]*+|[ \t]*+)\r?\n)*+"
    rb"(?:(TY  -[ \r\n])|(?:TY?| *+|TY  ?-?|[A-Za-z][A-Za-z ]{0,30}+(?::[^\n]*+)?)\Z)"
)


def is_ris(head: bytes, name: str) -> bool | None:  # noqa: ARG001 (the content tells)
    """Whether the first line with anything but a name of the provider has the tag TY."""
    match = _HEAD.match(head)
    if match is None:
        return None if MARK.startswith(head) else False
    return True if match[1] else None


class RisRecords:
    """References from TY to ER."""

    def __init__(self, *, own: bool) -> None:
        """`own`: only identifiers of what is referred to are asked for."""
        self._fields = own_fields("ris") if own else None
        self._wanted = {tag.encode() for tag in wanted(self._fields or {})}

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The references. One without ER may have lost a part: it is damaged, and so are tags that no TY comes before."""
        text = lines(buffer)
        told = False  # of the damage that we are in
        while True:
            while buffer.has(1) and (blank := _BLANK.match(buffer.octets, buffer.at)):
                buffer.at = blank.end()  # once more, as the next read may begin with another
            offset = buffer.offset
            if not buffer.match(_FIRST, _LONGEST_TAG):
                if (line := next(text, None)) is None:
                    return
                if isinstance(line, Damaged):
                    yield line
                elif not told and _TAG.match(line[1]):
                    told = True
                    yield Damaged(line[0], "it does not begin with TY")
                continue
            bound = buffer.search(_BOUND, longest=_LONGEST_TAG)
            if bound is None:
                told = True
                yield too_long(offset) if len(buffer.octets) - buffer.at > LONGEST else Damaged(offset, "it has no ER")
                next(text)
                continue
            told = False
            if bound[1]:
                yield Damaged(offset, "it has no ER before the next TY")
                buffer.take(bound.start() + 1 - buffer.at)
                continue
            length = buffer.find(b"\n", bound.end() - buffer.at) + 1 or len(buffer.octets) - buffer.at
            octets = buffer.take(length)
            yield self._record(offset, octets) if length <= LONGEST else too_long(offset)

    def _record(self, offset: int, octets: bytes) -> Record:
        name = _value(octets, b"\nID  -") or _value(octets, b"\nAN  -")
        if self._fields is None:
            return Record(offset, octets, name, (octets,))
        values = [
            (tag.decode(), value.decode("utf-8", "replace"))
            for tag, value in _FIELD.findall(octets)
            if tag in self._wanted
        ]
        types = {tag: value.strip().upper() for tag, value in reversed(values)}
        parts = ((tag, part.strip()) for tag, value in values for part in _ANOTHER.split(value))
        return Record(offset, octets, name, own=list(of_values(parts, types, self._fields)))


def _value(octets: bytes, tag: bytes) -> str | None:
    """What stands behind the first such tag, up to the end of its line; None where that is nothing."""
    start = octets.find(tag)
    if start < 0:
        return None
    start += len(tag)
    return octets[start : octets.find(b"\n", start)].decode("utf-8", "replace").strip() or None
