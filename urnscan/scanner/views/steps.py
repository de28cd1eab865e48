"""One step of each reading: the octet at a place of a text, and the place of the next one.

A step returns the octet, or NOTHING for something to be skipped; and the end of what stands for it, or MORE if that
depends on octets that are not there yet. STOP is an octet that no URN holds.
"""

from __future__ import annotations

from html.entities import html5

from urnscan.arrays.ascii import (
    AMPERSAND,
    BACKSLASH,
    CASE,
    CR,
    HASH,
    LF,
    PERCENT,
    SEMICOLON,
    SPACE,
    TAB,
    hex_digit,
    is_alnum,
)
from urnscan.arrays.jit import lean
from urnscan.arrays.octets import is_scheme
from urnscan.arrays.strings import Octets, Vocabulary, index_words, word_number

__all__ = [
    "ENTITY_NAMES",
    "ENTITY_OCTETS",
    "MORE",
    "NOTHING",
    "STOP",
    "entity",
    "escape",
    "label",
    "percent",
    "percent_twice",
]

NOTHING, MORE, STOP = -1, -2, 0

_URL_DELIMITERS = tuple(b"&#?;,+=$@")
_LETTER_U, _CAPITAL_U, _LETTER_X, _DIGIT_0, _DIGIT_3, _DELETE = b"uUx03\x7f"
_NO_BREAK_SPACE = 0xC2, 0xA0  # in UTF-8

_LONGEST_ENTITY = 34  # octets of "&CounterClockwiseContourIntegral;"
_NAMES = sorted(name.removesuffix(";") for name in html5 if name.endswith(";"))
ENTITY_NAMES: Vocabulary = index_words([name.encode() for name in _NAMES])
"""The named character references of HTML 5."""
ENTITY_OCTETS = bytes(ord(text) if len(text := html5[f"{name};"]) == 1 and text.isascii() else STOP for name in _NAMES)
"""The octet of each name; STOP for characters beyond ASCII."""


@lean
def _number(octets: Octets, start: int, end: int, base: int) -> int:
    """The value of digits, at most 0x110000; -1 if they are none."""
    value = 0
    for i in range(start, end):
        digit = hex_digit(octets[i])
        if digit == -1 or digit >= base:
            return -1
        value = min(value * base + digit, 0x110000)
    return value if end > start else -1


@lean
def _ascii(value: int) -> int:
    return value if 0 < value < 128 else STOP


@lean
def _is_own(octet: int) -> bool:
    """Whether an octet is a delimiter of the URL around a value: in the value it would be encoded."""
    return octet in _URL_DELIMITERS


@lean
def percent(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """A step in text that is percent-encoded once (RFC 3986 §2.1), as a value inside a URL."""
    octet = int(octets[at])
    if _is_own(octet):
        return STOP, at + 1
    if octet != PERCENT:
        return octet, at + 1
    if at + 2 >= filled:
        return octet, MORE
    high, low = hex_digit(octets[at + 1]), hex_digit(octets[at + 2])
    if high == -1 or low == -1:
        return STOP, at + 1
    return 16 * high + low, at + 3


@lean
def percent_twice(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """A step in text that is percent-encoded twice: a value inside a URL that is a value inside another URL."""
    octet, after = percent(octets, at, filled)
    if after == MORE or after == at + 1:
        return octet, after
    if octet != PERCENT:
        return (STOP if _is_own(octet) else octet), after
    if after + 1 >= filled:
        return octet, MORE
    high, low = hex_digit(octets[after]), hex_digit(octets[after + 1])
    return (STOP, after) if high == -1 or low == -1 else (16 * high + low, after + 2)


@lean
def entity(octets: Octets, at: int, filled: int, names: Vocabulary, values: Octets) -> tuple[int, int]:
    """A step over a character reference of XML or HTML (`&#58;`, `&#x3a;`, `&colon;`); other octets are themselves."""
    octet = int(octets[at])
    if octet != AMPERSAND:
        return octet, at + 1
    end = at + 1
    last = min(filled, at + _LONGEST_ENTITY)
    if end < last and octets[end] == HASH:
        end += 1
    while end < last and is_alnum(octets[end]):
        end += 1
    if end == filled and end < at + _LONGEST_ENTITY:
        return octet, MORE
    if end == last or octets[end] != SEMICOLON:
        return octet, at + 1
    if octets[at + 1] != HASH:
        number = word_number(octets, at + 1, end, names)
        return (octet, at + 1) if number == -1 else (int(values[number]), end + 1)
    is_hex = octets[at + 2] | CASE == _LETTER_X
    value = _number(octets, at + 3 if is_hex else at + 2, end, 16 if is_hex else 10)
    return (octet, at + 1) if value == -1 else (_ascii(value), end + 1)


@lean
def escape(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """A step over an escape of JSON, C, N-Triples or Python; a backslash at a line end is NOTHING."""
    octet = int(octets[at])
    if octet != BACKSLASH:
        return octet, at + 1
    if at + 1 >= filled:
        return octet, MORE
    kind = int(octets[at + 1])
    if kind == LF:
        return NOTHING, at + 2
    if kind == CR:
        if at + 2 >= filled:
            return octet, MORE
        return (NOTHING, at + 3) if octets[at + 2] == LF else (STOP, at + 1)
    digits, base, first = 0, 16, at + 2
    if kind == _LETTER_U:
        digits = 4
    elif kind == _CAPITAL_U:
        digits = 8
    elif kind == _LETTER_X:
        digits = 2
    elif _DIGIT_0 <= kind <= _DIGIT_3:
        digits, base, first = 3, 8, at + 1
    if digits:
        if first + digits > filled:
            return octet, MORE
        value = _number(octets, first, first + digits, base)
        return (STOP, at + 1) if value == -1 else (_ascii(value), first + digits)
    return (STOP, at + 1) if is_alnum(kind) or kind >= _DELETE or kind <= SPACE else (kind, at + 2)


@lean
def label(octets: Octets, at: int, filled: int, is_prefix: bool) -> tuple[int, int]:
    """A step over one or two blanks behind `urn:` or `urn:NID:`, if `is_prefix`; other octets are themselves."""
    octet = int(octets[at])
    if not is_prefix or not (octet == SPACE or octet == TAB or octet == _NO_BREAK_SPACE[0]):
        return octet, at + 1
    end = at
    for _ in range(2):
        if end < filled and (octets[end] == SPACE or octets[end] == TAB):
            end += 1
        elif end + 1 < filled and octets[end] == _NO_BREAK_SPACE[0] and octets[end + 1] == _NO_BREAK_SPACE[1]:
            end += 2
    if end + 1 >= filled:
        return octet, MORE
    if octets[end] | CASE == _LETTER_U:  # another "urn:" is no part of this one
        if end + 3 >= filled:
            return octet, MORE
        if is_scheme(octets, end):
            return STOP, at + 1
    return (NOTHING, end) if is_alnum(octets[end]) and end > at else (STOP, at + 1)
