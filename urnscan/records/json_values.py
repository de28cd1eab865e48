"""Records that are JSON values (RFC 8259): in lines, in an array, in an array within an object, one after the other.

A value is cut out by the decoder itself, which says where it ends. It is given the octets as characters (ISO 8859-1), so
that places in the text are those in the dump; all that has a meaning in JSON is ASCII. What it does not take, a value that
is damaged, cut off or long, is cut by brackets and strings alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from json import JSONDecodeError

from urnscan.records.buffer import HEAD, LONGEST, Buffer
from urnscan.records.fields import own_fields
from urnscan.records.json_heads import DECODER, Layout, find_array, find_layout
from urnscan.records.lines import lines, too_long
from urnscan.records.named_values import as_octets, identifier, own_identifiers
from urnscan.records.record import Damaged, Record, whole

__all__ = ["JsonArrayRecords", "JsonLineRecords", "is_json_array", "is_json_lines"]

_WINDOW, _LEAST_WINDOW = 1 << 16, 1 << 6  # octets given to the decoder at a time; fewer the more are damaged
_TAIL = 1 << 12  # octets behind an array that are looked through at a time
_SPACE = "\x1e \t\r\n"
_DEEP = "its brackets nest too deep"
_UNKNOWN = "it cannot be told where the next record begins: the rest is not read"
_CUT_OFF = "another page begins before its array ends"

_GAP = re.compile("[ \t\r\n,]*")
_BEHIND = frozenset(" \t\r\n,[]{")  # what may follow a value; after a number nothing is not enough
_NO_GAP = re.compile(rb"[^ \t\r\n,]")
# A string never goes on behind the end of a line; if it seems to, a quotation mark is missing.
_TOKEN = re.compile(rb'"[^"\\\n]*+"|["{}\[\]]')
_IN_STRING = re.compile(rb'["\n]|\\.', re.DOTALL)
_FIRST_NAME = re.compile(rb'[ \t\r\n]*+(\{[ \t\r\n]*+"[^"\\\n]{0,40}+")')
_SCALAR_END = re.compile(rb'[ \t\r\n,\[\]{"]')


def is_json_lines(head: bytes, name: str) -> bool | None:
    """Whether each line is a value, by the first, or by the name: .jsonl, .ndjson and such."""
    layout = find_layout(head, name)
    return None if layout is None else layout is Layout.LINES


def is_json_array(head: bytes, name: str) -> bool | None:
    """Whether it is an array, or one or more objects, over several lines."""
    layout = find_layout(head, name)
    return None if layout is None else layout is Layout.WHOLE


class _Values:
    """Makes records of values."""

    def __init__(self, *, own: bool) -> None:
        self._own = own_fields("json") if own else None

    def record(self, offset: int, octets: bytes, value: object, *, latin: bool) -> Record | Damaged:
        """The record of a value. `latin`: it was decoded from these octets, nothing else, as ISO 8859-1."""
        escaped = b"\\" in octets
        if latin and (escaped or not (self._own is None or octets.isascii())):
            latin = False
            try:
                value = DECODER.decode(octets.decode("utf-8", "replace"))
            except RecursionError:  # it was close before
                return Damaged(offset, _DEEP)
        pairs = value if isinstance(value, tuple) else ()
        called = identifier(pairs)
        if called is not None and not called.isascii():
            called = called.encode("latin-1").decode("utf-8", "replace") if latin else whole(called)
        if self._own is not None:
            return Record(offset, octets, called, own=tuple(own_identifiers(pairs, self._own)))
        return Record(offset, octets, called, (as_octets("\0".join(_strings(value))),) if escaped else (octets,))


class JsonLineRecords(_Values):
    """Lines, blank ones passed over (JSON Lines). A line may begin with a record separator (RFC 7464)."""

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The lines, each with its LF."""
        for line in lines(buffer):
            if isinstance(line, Damaged):
                yield line
                continue
            offset, octets = line
            text = octets.decode("utf-8", "replace").rstrip(_SPACE)
            start = len(text) - len(text.lstrip(_SPACE))
            if not text:
                continue
            try:
                value, end = DECODER.raw_decode(text, start)
            except (ValueError, RecursionError) as error:
                yield Damaged(offset, _reason(error))
                continue
            if end < len(text):
                yield Damaged(offset, f"it is not JSON: its value ends before column {end + 1}")
            else:
                yield self.record(offset, octets, value, latin=False)


class JsonArrayRecords(_Values):
    """Elements of an array, of the array in an object that holds the records, or values that are in none."""

    def __init__(self, *, own: bool) -> None:
        super().__init__(own=own)
        self._begun = False
        self._around = 0  # brackets around the records
        self._wraps: bool | None = None  # whether objects may hold arrays of records, as the first does; None before it
        # From the end of a line to the first octet of a record; empty if these do not part records, None if not yet known.
        self._joint: bytes | None = None
        self._page = b""  # up to its first name an object around an array, if no record begins so
        self._tried = 0  # up to which offset the end of a record was looked for in vain
        self._window = _WINDOW
        self._lost = False  # whether the rest could not be read

    def read(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The values, without what is around them. An array may follow behind an array."""
        if self._begun:
            yield from self._find_again(buffer)
        self._begun = True
        while self._around or self._enter(buffer):
            yield from self._values(buffer) if self._around or not self._wraps else self._one(buffer)
            if self._lost:
                return
            if self._around and not self._pass_around(buffer):
                yield Damaged(buffer.offset, "the dump ends before its array does" if self._around else _CUT_OFF)
                if self._around:
                    return

    def _enter(self, buffer: Buffer) -> bool:
        """Go to the first value; whether there is one."""
        if not _pass_gap(buffer):
            return False
        octet = buffer.octets[buffer.at]
        if octet == 0x5B:
            buffer.take(1)
            self._around = 1
        elif octet == 0x7B and self._wraps is not False:
            goes_on = buffer.has(HEAD)
            head = buffer.octets[buffer.at : buffer.at + HEAD]
            pages = _marks(self._page, None)
            following = pages.search(head) if pages else None
            found = find_array(head[: following.end()] if following else head, goes_on=goes_on)
            self._wraps = self._wraps or found is not None
            if found:
                first, inner = _FIRST_NAME.match(head), _FIRST_NAME.match(head, found[0])
                self._page = self._page or (first[1] if first and inner and first[1] != inner[1] else b"")
                buffer.take(found[0])
                self._around = 1 + found[1]
        if not self._around and self._joint is None:
            self._joint = b"\n" + bytes([octet])
        return True

    def _find_again(self, buffer: Buffer) -> Iterator[Damaged]:
        """Go on behind a loss."""
        offset = buffer.offset
        marks = _marks(self._page, self._joint)
        found = buffer.search(marks, 0, len(marks.pattern)) if marks else None
        self._lost = False
        if found:
            buffer.take(self._begun_at(found) - buffer.at)
            yield Damaged(offset, "its beginning is missing")
        elif buffer.take_rest():
            yield Damaged(offset, _UNKNOWN)
            self._around = 0

    def _begun_at(self, mark: re.Match[bytes]) -> int:
        """Where a record or a page begins, of which such a mark was found."""
        if self._page and mark[0] == b"\n" + self._page:
            self._around = 0
            return mark.start() + 1
        return mark.end() - 1

    def _pass_around(self, buffer: Buffer) -> bool:
        """Take what is left of the objects around an array; whether they end."""
        brackets = _Brackets(self._around)
        pages = _marks(self._page, None)
        passed = 0  # octets that are still held, as a page may begin in them
        while buffer.has(passed + 2) or buffer.has(passed + 1):
            octets = buffer.octets[buffer.at : buffer.at + passed + _TAIL]
            begun = pages.search(octets) if pages else None
            end = brackets.advance(octets[: begun.start()] if begun else octets, passed)
            if brackets.ended:
                buffer.at += end
                self._around = 0
                return True
            if begun:
                buffer.at += self._begun_at(begun)
                return False
            if end == passed:
                break
            passed = min(end, len(self._page))
            buffer.at += end - passed
        buffer.take_rest()
        return False

    def _values(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The values up to the bracket that closes their array, which is taken; without an array, up to an array."""
        count = 0
        leaving = "]" if self._around else "["
        page = self._page.decode("latin-1") if self._around else ""
        while not self._lost and (buffer.has(self._window) or buffer.has(1)):
            octets, start, base = buffer.octets, buffer.at, buffer.offset
            text = octets[start : start + self._window].decode("latin-1")
            at = end = 0
            while True:
                gap = _GAP.match(text, end)
                at = gap.end() if gap else end
                if text[at : at + 1] == leaving:
                    break
                if page and text.startswith(page, at) and "\n" in text[end:at] and "," not in text[end:at]:
                    buffer.at = start + at
                    self._around = 0
                    yield Damaged(base + at, _CUT_OFF)
                    return
                if self._joint is None and at < len(text):
                    self._learn(text[end : at + 1], last=count > 0 and end > 0)
                try:
                    value, behind = DECODER.raw_decode(text, at)
                except (ValueError, RecursionError):
                    break
                if text[behind : behind + 1] not in _BEHIND:
                    break
                end = behind
                buffer.at = start + end
                count += 1
                yield self.record(base + at, octets[start + at : start + end], value, latin=True)
            buffer.at = start + at
            if text[at : at + 1] == leaving:
                if self._around:
                    buffer.take(1)
                    self._around -= 1
                return
            if end:
                self._window = _WINDOW
            elif not at:
                count += 1
                for found in self._one(buffer):
                    self._window = max(self._window >> 1, _LEAST_WINDOW) if isinstance(found, Damaged) else _WINDOW
                    yield found
                if page and not self._around:
                    return

    def _learn(self, gap: str, *, last: bool) -> None:
        """How records are parted, if by the ends of lines: to find the next one behind a damaged one."""
        line_end = gap.rfind("\n")
        if line_end >= 0:
            self._joint = gap[line_end:].encode("latin-1")
        elif last:
            self._joint = b""

    def _one(self, buffer: Buffer) -> Iterator[Record | Damaged]:
        """The next value, by its brackets and strings."""
        offset = buffer.offset
        marks = _marks(self._page, self._joint)
        longest = len(marks.pattern) if marks else 0
        if offset < self._tried and marks:  # its end is not to be found by these
            mark = buffer.search(marks, 1, longest)
            if mark:
                octets = buffer.octets[buffer.at : mark.start()].rstrip(b" \t\r\n,")
                buffer.at = self._begun_at(mark)
                yield self._decoded(offset, octets)
                return
            self._tried = 0
        brackets = _Brackets()
        length = _length(buffer, brackets)
        is_whole = 0 < length <= LONGEST
        followed = is_whole and buffer.has(length + 1) and chr(buffer.octets[buffer.at + length]) not in _BEHIND
        if is_whole:
            octets = buffer.octets[buffer.at : buffer.at + length]
            record = Damaged(offset, "something follows it") if followed else self._decoded(offset, octets)
        else:
            octets = buffer.octets[buffer.at : buffer.at + LONGEST]
            record = too_long(offset) if length else Damaged(offset, "the dump ends before it does")
        if isinstance(record, Damaged) and marks:
            end = buffer.at + len(octets)
            mark = buffer.search(marks, 1, longest) if followed else marks.search(buffer.octets, buffer.at + 1, end)
            if mark:
                if mark.end() - buffer.at <= len(octets):
                    self._tried = offset + (length or len(octets))
                length = self._begun_at(mark) - buffer.at
            elif followed:  # they are not looked for again and again
                self._joint = self._page = b""
        if not length:
            self._lost = True
            buffer.take_rest()
        elif length > LONGEST and not brackets.ended:
            buffer.at += length
            while not brackets.ended and buffer.has(1):
                buffer.at = brackets.advance(buffer.octets, buffer.at)
                if not brackets.ended and not buffer.more():
                    break
        else:
            buffer.at += length
        yield record

    def _decoded(self, offset: int, octets: bytes) -> Record | Damaged:
        """The record of what should be a value."""
        try:
            value = DECODER.decode(octets.decode("latin-1"))
        except (ValueError, RecursionError) as error:
            return Damaged(offset, _reason(error))
        return self.record(offset, octets, value, latin=True)


@functools.lru_cache(maxsize=4)
def _marks(page: bytes, joint: bytes | None) -> re.Pattern[bytes] | None:
    """A pattern for what pages and records begin with, behind the end of a line; None if neither is known."""
    known = b"|".join(re.escape(mark) for mark in (page and b"\n" + page, joint) if mark)
    return re.compile(known) if known else None


class _Brackets:
    """Follows brackets and strings to where a value ends, through whatever part of it is at hand."""

    def __init__(self, depth: int = 0) -> None:
        """`depth`: how many brackets are to be closed, if it has begun."""
        self.ended = False
        self._depth = depth
        self._quoted = False

    def advance(self, octets: bytes, at: int) -> int:
        """How far it goes from there: the place behind its end, or before what more octets are needed for."""
        while at < len(octets):
            if self._quoted:
                for match in _IN_STRING.finditer(octets, at):
                    at = match.end()
                    if octets[match.start()] != 0x5C:
                        self._quoted = False
                        break
                else:
                    return max(at, len(octets) - octets.endswith(b"\\"))
                self.ended = not self._depth
                if self.ended:
                    return at
            for match in _TOKEN.finditer(octets, at):
                at = match.end()
                first = octets[match.start()]
                if first == 0x22:
                    if at == match.start() + 1:
                        self._quoted = True
                        break
                else:
                    self._depth += 1 if first in b"[{" else -1
                if not self._depth:
                    self.ended = True
                    return at
            else:
                return len(octets)
        return at


def _length(buffer: Buffer, brackets: _Brackets) -> int:
    """Of the value that begins with the next octet; 0 if the dump ends before it, of one that is too long what was read."""
    if buffer.octets[buffer.at] not in b'"[{':
        brackets.ended = True
        end = buffer.search(_SCALAR_END, 1, 1)
        return (end.start() if end else len(buffer.octets)) - buffer.at
    length = 0
    while True:
        length = brackets.advance(buffer.octets, buffer.at + length) - buffer.at
        if brackets.ended or length > LONGEST:
            return length
        if not buffer.more():
            return 0


def _pass_gap(buffer: Buffer) -> bool:
    """Take white space; whether something follows."""
    while buffer.has(1):
        found = _NO_GAP.search(buffer.octets, buffer.at)
        buffer.at = found.start() if found else len(buffer.octets)
        if found:
            return True
    return False


def _strings(value: object) -> Iterator[str]:
    """The strings in a value, names of members too."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (tuple, list)):
            values.extend(value)


def _reason(error: ValueError | RecursionError) -> str:
    """Why a value cannot be read."""
    if not isinstance(error, JSONDecodeError):
        return _DEEP
    line = f"its line {error.lineno}, " if error.lineno > 1 else ""
    return f"it is not JSON: {error.msg}, {line}column {error.colno}"
