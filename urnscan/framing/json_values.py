"""Readers that split a JSON text (RFC 8259) into values: on lines, in arrays, in arrays in objects, after each other.

Python's decoder finds the end of a value. If the decoder fails (at a damaged, truncated or long value), the end is
found by counting brackets outside of strings.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from json import JSONDecodeError
from typing import NamedTuple

from urnscan.framing.buffer import HEAD, LONGEST, Buffer
from urnscan.framing.lines import Damaged, lines, too_long

DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str)
"""Decodes an object to a tuple of (name, value) pairs, as a name may occur twice, and a number to its text as str.

`{"a": 1, "a": [2.50]}` -> `(("a", "1"), ("a", ["2.50"]))`
"""
Wraps = Callable[[bytes, bool], tuple[int, int] | None]
"""Function that finds the array of records in the first bytes of a text that begins with an object.

Its arguments are these bytes, and whether the text may continue after them. It returns the index after the `[` of the
array, and the number of objects around the array; None without such an array. `{"a": {"records": [` gives (19, 2).
"""

# Bytes per call of the decoder; halved after each damaged value.
_WINDOW, _MIN_WINDOW = 1 << 16, 1 << 6
_TAIL = 1 << 12  # bytes after an array that are searched at a time
_SPACE = "\x1e \t\r\n"
_DEEP = "its brackets nest too deep"
_UNKNOWN = "unknown where the next record begins: the rest is not read"
_CUT_OFF = "another page begins before its array ends"

_GAP = re.compile("[ \t\r\n,\x1e]*")
_AFTER = frozenset(" \t\r\n,[]{\x1e")  # characters that may follow a value; at the end of a window a number may go on
_GAPS = re.compile(rb"[ \t\r\n,\x1e]{1,1024}")
# A string contains no line end; if a line ends in a string, a quotation mark is missing.
_TOKEN = re.compile(rb'"[^"\\\n]*+"|["{}\[\]]')
_IN_STRING = re.compile(rb'["\n]|\\.', re.DOTALL)
_FIRST_NAME = re.compile(rb'[ \t\r\n]*+(\{[ \t\r\n]*+"[^"\\\n]{0,40}+")')
_SCALAR_END = re.compile(rb'[ \t\r\n,\[\]{"\x1e]')


class Value(NamedTuple):
    """A JSON value in a text, such as a record: its bytes, and the decoded value."""

    offset: int
    """Number of bytes of the text before `data`."""
    data: bytes
    """Bytes of the value in the text; in JSON Lines the whole line with its LF."""
    value: object
    """Value as the decoder of the reader returns it; bytes in it that are not UTF-8 are surrogate escapes."""
    fault: str | None = None
    """Always None, so that a `Value` can be used like a row of CSV (`rows.Row`); a damaged value is a `Damaged`."""


class ValueLines:
    """Reader of JSON Lines: a value on each line. Blank lines are skipped; a line may begin with byte 0x1E (RFC 7464).

    `decoder`: decodes each value; by default objects become tuples of (name, value) pairs, and numbers str.
    """

    def __init__(self, decoder: json.JSONDecoder = DECODER) -> None:
        self._decoder = decoder

    def read(self, buffer: Buffer) -> Iterator[Value | Damaged]:
        """Take the lines from the next byte on, and yield a `Value` for each: `data` is the line with its LF.

        A line that is not exactly one JSON value, or has more than 64 MiB, is yielded as `Damaged`.
        """
        for line in lines(buffer):
            if isinstance(line, Damaged):
                yield line
                continue
            offset, data = line
            text = data.decode("utf-8", "surrogateescape").strip(_SPACE)
            if not text:
                continue
            try:
                value, end = self._decoder.raw_decode(text)
            except (ValueError, RecursionError) as error:
                yield Damaged(offset, _reason(error))
                continue
            if end < len(text):
                yield Damaged(offset, f"it is not JSON: its value ends before column {end + 1}")
            else:
                yield Value(offset, data, value)


class JsonValues:
    """Reader of values in arrays, as in `[{…}, {…}]`, in pages, as `{"records": [{…}]}`, or after each other.

    A page is an object around an array of records. `wraps` gets the first bytes of an object, and finds the array in
    it, or returns None; without `wraps` each object is a value. A text may contain several arrays or pages. `decoder`:
    by default objects become tuples of (name, value) pairs, and numbers str.
    """

    def __init__(self, decoder: json.JSONDecoder = DECODER, wraps: Wraps | None = None) -> None:
        self._decoder = decoder
        self._wraps = wraps
        self._begun = False
        self._around = 0  # brackets around the values
        self._is_wrapped: bool | None = None  # whether the objects contain an array of records, by the first object
        # Bytes from LF to the first byte of a value; empty if line ends do not separate values, None if unknown.
        self._joint: bytes | None = None
        self._page = b""  # first bytes of an object around an array, up to its first name, if no value begins so
        self._tried = 0  # offset up to which no end of a value was found
        self._window = _WINDOW
        self._lost = False  # whether the rest could not be read

    def read(self, buffer: Buffer) -> Iterator[Value | Damaged]:
        """Take the text from the next byte on. Yield a `Value` for each value in its arrays or pages, or after each
        other, and a `Damaged` for each damaged part and for a value of more than 64 MiB.

        `Value.data` has no comma, bracket of the array or white space around the value. A second call, after
        `Buffer.resume`, first yields a `Damaged` for the bytes up to the next value or page; if that is not found, for
        the rest of the text.
        """
        if self._begun:
            yield from self._find_again(buffer)
        self._begun = True
        while self._around or self._enter(buffer):
            yield from self._values(buffer) if self._around or not self._is_wrapped else (self._one(buffer),)
            if self._lost:
                return
            if self._around and not self._pass_around(buffer):
                yield Damaged(buffer.offset, "its array is truncated" if self._around else _CUT_OFF)
                if self._around:
                    return

    def _enter(self, buffer: Buffer) -> bool:
        """Move to the next value, also into an array or a page (object around an array of records): `_around` becomes
        the number of brackets around it. False if there is none.
        """
        if not buffer.pass_over(_GAPS):
            return False
        byte = buffer.data[buffer.at]
        if byte == 0x5B:
            buffer.take(1)
            self._around = 1
        elif byte == 0x7B and self._wraps is not None and self._is_wrapped is not False:
            self._enter_object(buffer, self._wraps)
        if not self._around and self._joint is None:
            self._joint = b"\n" + bytes([byte])
        return True

    def _enter_object(self, buffer: Buffer, wraps: Wraps) -> None:
        """Move into the array of records in the next object, if `wraps` finds one: `_around` becomes the number of
        brackets around its values. The next byte must be `{`.
        """
        goes_on = buffer.has(HEAD)
        head = buffer.data[buffer.at : buffer.at + HEAD]
        pages = _marks(self._page, None)
        following = pages.search(head) if pages else None
        array = wraps(head[: following.end()] if following else head, goes_on)
        self._is_wrapped = self._is_wrapped or array is not None
        if array:
            first, inner = _FIRST_NAME.match(head), _FIRST_NAME.match(head, array[0])
            self._page = self._page or (first[1] if first and inner and first[1] != inner[1] else b"")
            buffer.take(array[0])
            self._around = 1 + array[1]

    def _find_again(self, buffer: Buffer) -> Iterator[Damaged]:
        """Move to the next value or page after lost bytes, or to the end of the text, and yield a `Damaged` for the
        bytes before.
        """
        offset = buffer.offset
        marks = _marks(self._page, self._joint)
        mark = buffer.search(marks, 0, len(marks.pattern)) if marks else None
        self._lost = False
        if mark:
            buffer.take(self._begun_at(mark) - buffer.at)
            yield Damaged(offset, "its beginning is missing")
        elif buffer.take_rest():
            yield Damaged(offset, _UNKNOWN)
            self._around = 0

    def _begun_at(self, mark: re.Match[bytes]) -> int:
        """Index at which the page or value begins that `mark`, a match of `_marks`, shows. A page ends the array."""
        if self._page and mark[0] == b"\n" + self._page:
            self._around = 0
            return mark.start() + 1
        return mark.end() - 1

    def _pass_around(self, buffer: Buffer) -> bool:
        """Take the rest of the objects around an array, after its bracket: `_around` becomes 0. False if another page
        comes first (`_around` becomes 0, too), or the end of the text (`_around` stays above 0).
        """
        brackets = _Brackets(self._around)
        pages = _marks(self._page, None)
        # Searched bytes that are not yet taken, as the beginning of a page may be among them.
        passed = 0
        while buffer.has(passed + 2) or buffer.has(passed + 1):
            data = buffer.data[buffer.at : buffer.at + passed + _TAIL]
            page = pages.search(data) if pages else None
            end = brackets.advance(data[: page.start()] if page else data, passed)
            if brackets.ended:
                buffer.at += end
                self._around = 0
                return True
            if page:
                buffer.at += self._begun_at(page)
                return False
            if end == passed:
                break
            passed = min(end, len(self._page))
            buffer.at += end - passed
        buffer.take_rest()
        return False

    def _values(self, buffer: Buffer) -> Iterator[Value | Damaged]:
        """Yield the values in an array (`_around` is not 0), and take its bracket; outside of an array, those up to the
        next array. A page inside of an array ends it: `_around` becomes 0.
        """
        decode = self._decoder.raw_decode
        leaving = "]" if self._around else "["
        while not self._lost and (buffer.has(self._window) or buffer.has(1)):
            text = buffer.data[buffer.at : buffer.at + self._window].decode("utf-8", "surrogateescape")
            end = count = 0
            while True:
                gap = _GAP.match(text, end)
                at = gap.end() if gap else end
                if self._page and self._is_page(text, end, at):
                    buffer.at += at - end
                    self._around = 0
                    yield Damaged(buffer.offset, _CUT_OFF)
                    return
                if self._joint is None and at < len(text) and text[at] != leaving:
                    self._learn(text[end : at + 1], last=count > 0)
                buffer.at += at - end
                if text[at : at + 1] == leaving:
                    if self._around:
                        buffer.take(1)
                        self._around -= 1
                    return
                try:
                    value, end = decode(text, at)
                except (ValueError, RecursionError):
                    break
                if text[end : end + 1] not in _AFTER:
                    break
                offset, data = buffer.offset, text[at:end].encode("utf-8", "surrogateescape")
                buffer.at += len(data)
                count += 1
                yield Value(offset, data, value)
            if count:
                self._window = _WINDOW
            elif not at:
                one = self._one(buffer)
                self._window = max(self._window >> 1, _MIN_WINDOW) if isinstance(one, Damaged) else _WINDOW
                yield one
                if self._page and not self._around:
                    return

    def _is_page(self, text: str, end: int, at: int) -> bool:
        """Whether a page begins at `at`, on a new line, without a comma before it. `text[end:at]`: the gap after the
        last value.
        """
        page = self._page.decode("utf-8", "surrogateescape")
        return self._around > 0 and text.startswith(page, at) and "\n" in text[end:at] and "," not in text[end:at]

    def _learn(self, gap: str, *, last: bool) -> None:
        """Store whether line ends separate values. `gap`: text before a value, and its first character; `last`: whether
        a value precedes it.
        """
        line_end = gap.rfind("\n")
        if line_end >= 0:
            self._joint = gap[line_end:].encode("utf-8", "surrogateescape")
        elif last:
            self._joint = b""

    def _one(self, buffer: Buffer) -> Value | Damaged:
        """Take the next value; a `Damaged` if it is damaged or has more than 64 MiB. If neither brackets nor a next
        value after a line end show where it ends, takes the rest of the text, and sets `_lost`.
        """
        offset, marks = buffer.offset, _marks(self._page, self._joint)
        longest = len(marks.pattern) if marks else 0
        # An earlier value has shown that brackets find no end here.
        if offset < self._tried and marks:
            mark = buffer.search(marks, 1, longest)
            if mark:
                data = buffer.data[buffer.at : mark.start()].rstrip(b" \t\r\n,")
                buffer.at = self._begun_at(mark)
                return self._decoded(offset, data)
            self._tried = 0
        brackets = _Brackets()
        length = _length(buffer, brackets)
        data = buffer.data[buffer.at : buffer.at + min(length or LONGEST, LONGEST)]
        is_followed = False
        value: Value | Damaged
        if not 0 < length <= LONGEST:
            value = too_long(offset) if length else Damaged(offset, "it is truncated")
        elif buffer.has(length + 1) and chr(buffer.data[buffer.at + length]) not in _AFTER:
            value, is_followed = Damaged(offset, "no comma or line end follows it"), True
        else:
            value = self._decoded(offset, data)
        if isinstance(value, Damaged) and marks:
            end = buffer.at + len(data)
            mark = buffer.search(marks, 1, longest) if is_followed else marks.search(buffer.data, buffer.at + 1, end)
            if mark:
                if mark.end() - buffer.at <= len(data):
                    self._tried = offset + (length or len(data))
                length = self._begun_at(mark) - buffer.at
            elif is_followed:
                # So the search, which found nothing, is not repeated for each value.
                self._joint = self._page = b""
        if not length:
            self._lost = True
            buffer.take_rest()
        buffer.at += length
        while length > LONGEST and not brackets.ended and buffer.has(1):
            buffer.at = brackets.advance(buffer.data, buffer.at)
            if not brackets.ended and not buffer.more():
                break
        return value

    def _decoded(self, offset: int, data: bytes) -> Value | Damaged:
        try:
            return Value(offset, data, self._decoder.decode(data.decode("utf-8", "surrogateescape")))
        except (ValueError, RecursionError) as error:
            return Damaged(offset, _reason(error))


@functools.lru_cache(maxsize=4)
def _marks(page: bytes, joint: bytes | None) -> re.Pattern[bytes] | None:
    """Pattern for the beginning of a page or value after a line end; None if both are unknown. `page`: first bytes of a
    page; `joint`: from LF to the first byte of a value.
    """
    known = b"|".join(re.escape(mark) for mark in (page and b"\n" + page, joint) if mark)
    return re.compile(known) if known else None


class _Brackets:
    """Counter of brackets outside of strings, up to the end of a value, where `ended` becomes True."""

    def __init__(self, depth: int = 0) -> None:
        """`depth`: number of brackets that are open at the beginning."""
        self.ended = False
        self._depth = depth
        self._is_string = False

    def advance(self, data: bytes, at: int) -> int:
        """Count from the index `at`. Returns the index after the value or, before its end, the index at which to go on."""
        while at < len(data) and not self.ended:
            token = (_IN_STRING if self._is_string else _TOKEN).search(data, at)
            if token is None:
                return max(at, len(data) - (self._is_string and data.endswith(b"\\")))
            at = token.end()
            first = data[token.start()]
            if self._is_string:
                self._is_string = first == 0x5C
            elif first == 0x22:
                self._is_string = at == token.start() + 1
            else:
                self._depth += 1 if first in b"[{" else -1
            self.ended = not self._depth and not self._is_string
        return at


def _length(buffer: Buffer, brackets: _Brackets) -> int:
    """Number of bytes of the next value, which is not taken; 0 if it does not end, and any number above 64 MiB if it is
    longer. `brackets`: a new counter, which then shows whether the end was found.
    """
    if buffer.data[buffer.at] not in b'"[{':
        brackets.ended = True
        end = buffer.search(_SCALAR_END, 1, 1)
        return (end.start() if end else len(buffer.data)) - buffer.at
    length = 0
    while True:
        length = brackets.advance(buffer.data, buffer.at + length) - buffer.at
        if brackets.ended or length > LONGEST:
            return length
        if not buffer.more():
            return 0


def _reason(error: ValueError | RecursionError) -> str:
    if not isinstance(error, JSONDecodeError):
        return _DEEP
    line = f"its line {error.lineno}, " if error.lineno > 1 else ""
    return f"it is not JSON: {error.msg}, {line}column {error.colno}"
