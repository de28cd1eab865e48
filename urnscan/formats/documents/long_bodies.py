"""Parsing of mail messages without their long bodies, put back afterwards, as the parser makes an object of each line.

So memory is a few times the bytes of a message, and not forty times. Messages that would take much time or memory are
refused: with headers or fields that are too long, or with too many lines outside of long bodies.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from email.errors import MissingHeaderBodySeparatorDefect
from email.message import Message
from email.parser import BytesParser
from typing import TypeVar

_Parsed = TypeVar("_Parsed", bound=Message)

_MAX_IN_HEAD = 1 << 20  # bytes
_MAX_FIELDS = 10_000
_MAX_IN_FIELD = 1 << 14  # bytes of a field with parameters, which `email` parses in quadratic time
_MAX_PARAMETERS = 100
_MAX_PARSED = 1 << 23  # bytes
_MAX_LINES = 250_000
_DEEPEST, _DEEPEST_LONG = 16, 2  # maximum messages around a message, and around a message of more than _MAX_PARSED
_KEPT = 1 << 16  # first bytes of a part that are parsed; they must contain its header
_LONG = 1 << 12  # minimum bytes of a body that is set aside

_REPORT = "message/delivery-status"
_LINE_END = re.compile(rb"(?:\r\n|\r|\n)\Z")
HEAD_END = re.compile(rb"\n\r?\n")
"""Pattern of the end of the header of a message: a line end and an empty line."""
_FIELD = re.compile(rb"(?i)(?<![^\r\n])content-[a-z-]++:[^\r\n]*+(?>(?:(?:\r\n|\r|\n)[ \t][^\r\n]*+)*)")
# Each line that may be a delimiter of parts; only `email` knows the boundaries.
_DELIMITER = re.compile(rb"[\r\n](?=--)")


def check_depth(data: bytes, depth: int) -> None:
    """Raise ValueError if a mail message is attached too deep: inside more than 16 other messages, or more than 2 if it
    has over 8 MiB. `data`: its bytes; `depth`: number of messages around it.
    """
    if depth > _DEEPEST or (depth > _DEEPEST_LONG and len(data) > _MAX_PARSED):
        raise ValueError("too many messages are attached in one another")


def check_head(data: bytes, head: int) -> None:
    """Raise ValueError if the header of a mail message, `data[:head]`, has more than 1 MiB or 10,000 lines, or a field
    `Content-…` of more than 16 KiB or 100 parameters.
    """
    if head > _MAX_IN_HEAD:
        raise ValueError(f"its header has more than {_MAX_IN_HEAD:,} bytes")
    if _lines(data, head) > _MAX_FIELDS:
        raise ValueError(f"its header has more than {_MAX_FIELDS:,} lines")
    _check_fields(data[:head])


def parse(parser: BytesParser[_Parsed], data: bytes) -> _Parsed:
    """Return the message that `parser` makes of the bytes `data`, in less memory than `parser.parsebytes(data)` takes.

    Raises ValueError if parsing would still take too much time or memory, and the errors of the parser.
    """
    mark = f"urnscan-{os.urandom(12).hex()}-"  # random, so that no message can contain it
    short, bodies = _set_aside(data, mark)
    if len(short) > _MAX_PARSED or _lines(short, len(short)) > _MAX_LINES:
        raise ValueError(f"more than {_MAX_PARSED:,} bytes or {_MAX_LINES:,} lines of it are no long bodies")
    _check_fields(short)
    message = parser.parsebytes(short)
    if bodies:
        parts = [*message.walk()]
        # The parser makes a part of each block of a delivery report; the blocks contain only headers.
        blocks = {id(block) for part in parts if part.get_content_type() == _REPORT for block in part.walk()}
        pattern = re.compile(f"{mark}([0-9]+)")
        there = sum(_put_back(part, pattern, bodies) for part in parts if id(part) not in blocks)
        if there < len(bodies):
            raise ValueError(f"the header of a part has more than {_KEPT:,} bytes")
    return message


def _lines(data: bytes, end: int) -> int:
    # `email` also reads a single CR as a line end.
    return max(data.count(b"\n", 0, end), data.count(b"\r", 0, end))


def _check_fields(data: bytes) -> None:
    for field in _FIELD.finditer(data):
        if len(field[0]) > _MAX_IN_FIELD or field[0].count(b";") > _MAX_PARAMETERS:
            limits = f"{_MAX_IN_FIELD:,} bytes or {_MAX_PARAMETERS} parameters"
            raise ValueError(f"a field of its header has more than {limits}")


def _set_aside(data: bytes, mark: str) -> tuple[bytes, Sequence[memoryview]]:
    """Replace long bodies in a message by lines with `mark` and a number from 0. Returns the shortened message, and the
    bodies by number.
    """
    pieces: list[bytes] = []
    bodies: list[memoryview] = []
    start = end_of_last = 0
    for end in itertools.chain((match.end() for match in _DELIMITER.finditer(data)), [len(data)]):
        cut = data.find(b"\n", start + _KEPT, end) + 1
        if cut and end - cut >= _LONG and HEAD_END.search(data, start, cut):
            line_end = _LINE_END.search(data, end - 2, end)
            end_of_body = line_end.start() if line_end else end
            pieces += [data[end_of_last:cut], f"{mark}{len(bodies)}".encode()]
            bodies.append(memoryview(data)[cut:end_of_body])
            end_of_last = end_of_body
        start = end
    return b"".join([*pieces, data[end_of_last:]]), bodies


def _put_back(part: Message, mark: re.Pattern[str], bodies: Sequence[memoryview]) -> int:
    """Replace the marks in the text of `part` itself by bodies, and return their number. Replaces none if a mark ended
    the header. `mark`: its group 1 is the index of the body.
    """

    def body(found: re.Match[str]) -> str:
        return str(bodies[int(found[1])], "ascii", "surrogateescape")

    # `get_payload` would decode the payload.
    payload: object = part._payload  # type: ignore[attr-defined]  # noqa: SLF001
    count = 0
    if isinstance(payload, str):
        if mark.match(payload) and any(isinstance(each, MissingHeaderBodySeparatorDefect) for each in part.defects):
            return 0
        payload, count = mark.subn(body, payload)
        if count:
            part.set_payload(payload)
    for around in ("preamble", "epilogue"):
        if text := getattr(part, around):
            text, more = mark.subn(body, text)
            setattr(part, around, text)
            count += more
    return count
