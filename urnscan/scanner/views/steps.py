"""One step of each reading: which octet stands at a place of a text, and where the next one begins.

A step gives the octet, or NOTHING where what stands there is to be passed over; and where it ends, or MORE where that
depends on octets that are not there yet. STOP is an octet that no URN holds.
"""

from __future__ import annotations

from html.entities import html5

from urnscan.arrays.jit import compiled
from urnscan.arrays.strings import Octets, Vocabulary, index_words, word_number

__all__ = [
    "ENTITY_NAMES",
    "ENTITY_OCTETS",
    "MORE",
    "NOTHING",
    "STOP",
    "entity",
    "escape",
    "hex_digit",
    "is_alnum",
    "label",
    "percent",
    "percent_twice",
]

NOTHING, MORE, STOP = -1, -2, 0

_LONGEST_ENTITY = 34  # octets of "&CounterClockwiseContourIntegral;"
_NAMES = sorted(name.removesuffix(";") for name in html5 if name.endswith(";"))
ENTITY_NAMES: Vocabulary = index_words([name.encode() for name in _NAMES])
"""The named character references of HTML 5."""
ENTITY_OCTETS = bytes(ord(text) if len(text := html5[f"{name};"]) == 1 and text.isascii() else STOP for name in _NAMES)
"""The octet that each of them stands for; STOP for all beyond ASCII."""


@compiled
def hex_digit(octet: int) -> int:
    """The value of a hex digit, -1 for any other octet."""
    if 48 <= octet <= 57:
        return octet - 48
    if 97 <= octet | 32 <= 102:
        return (octet | 32) - 87
    return -1


@compiled
def _number(octets: Octets, start: int, end: int, base: int) -> int:
    """The number that digits make, at most 0x110000; -1 where they are none."""
    value = 0
    for i in range(start, end):
        digit = hex_digit(octets[i])
        if digit == -1 or digit >= base:
            return -1
        value = min(value * base + digit, 0x110000)
    return value if end > start else -1


@compiled
def _ascii(value: int) -> int:
    return value if 0 < value < 128 else STOP


@compiled
def _is_own(octet: int) -> bool:
    """Whether an octet is one of `& # ? ; , + = $ @`: bare, it belongs to the URL, for in a value it would be encoded."""
    return octet in (38, 35, 63, 59, 44, 43, 61, 36, 64)


@compiled
def is_alnum(octet: int) -> bool:
    """Whether an octet is a letter or digit of ASCII."""
    return 48 <= octet <= 57 or 97 <= octet | 32 <= 122


@compiled
def percent(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """Percent-encoded once (RFC 3986 §2.1), as a value inside of a URL."""
    octet = int(octets[at])
    if _is_own(octet):
        return STOP, at + 1
    if octet != 37:
        return octet, at + 1
    if at + 2 >= filled:
        return octet, MORE
    high, low = hex_digit(octets[at + 1]), hex_digit(octets[at + 2])
    if high == -1 or low == -1:
        return STOP, at + 1
    return 16 * high + low, at + 3


@compiled
def percent_twice(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """Percent-encoded twice: a value inside of a URL that is a value inside of another."""
    octet, after = percent(octets, at, filled)
    if after == MORE or after == at + 1:
        return octet, after
    if octet != 37:
        return (STOP if _is_own(octet) else octet), after
    if after + 1 >= filled:
        return octet, MORE
    high, low = hex_digit(octets[after]), hex_digit(octets[after + 1])
    return (STOP, after) if high == -1 or low == -1 else (16 * high + low, after + 2)


@compiled
def entity(octets: Octets, at: int, filled: int, names: Vocabulary, values: Octets) -> tuple[int, int]:
    """A character reference of XML or HTML (`&#58;`, `&#x3a;`, `&colon;`); what is none stands for itself."""
    octet = int(octets[at])
    if octet != 38:
        return octet, at + 1
    end = at + 1
    last = min(filled, at + _LONGEST_ENTITY)
    if end < last and octets[end] == 35:
        end += 1
    while end < last and is_alnum(octets[end]):
        end += 1
    if end == filled and end < at + _LONGEST_ENTITY:
        return octet, MORE
    if end == last or octets[end] != 59:
        return octet, at + 1
    if octets[at + 1] != 35:
        number = word_number(octets, at + 1, end, names)
        return (octet, at + 1) if number == -1 else (int(values[number]), end + 1)
    is_hex = octets[at + 2] | 32 == 120
    value = _number(octets, at + 3 if is_hex else at + 2, end, 16 if is_hex else 10)
    return (octet, at + 1) if value == -1 else (_ascii(value), end + 1)


@compiled
def escape(octets: Octets, at: int, filled: int) -> tuple[int, int]:
    """An escape of JSON, C, N-Triples or Python behind a backslash; a backslash at the line end is nothing."""
    octet = int(octets[at])
    if octet != 92:
        return octet, at + 1
    if at + 1 >= filled:
        return octet, MORE
    kind = int(octets[at + 1])
    if kind == 10:
        return NOTHING, at + 2
    if kind == 13:
        if at + 2 >= filled:
            return octet, MORE
        return (NOTHING, at + 3) if octets[at + 2] == 10 else (STOP, at + 1)
    digits, base, first = 0, 16, at + 2
    if kind == 117:
        digits = 4
    elif kind == 85:
        digits = 8
    elif kind == 120:
        digits = 2
    elif 48 <= kind <= 51:
        digits, base, first = 3, 8, at + 1
    if digits:
        if first + digits > filled:
            return octet, MORE
        value = _number(octets, first, first + digits, base)
        return (STOP, at + 1) if value == -1 else (_ascii(value), first + digits)
    return (STOP, at + 1) if is_alnum(kind) or kind >= 127 or kind <= 32 else (kind, at + 2)


@compiled
def label(octets: Octets, at: int, filled: int, is_prefix: bool) -> tuple[int, int]:
    """One or two blanks behind `urn:` or `urn:NID:`, which is what `is_prefix` says; else what stands there."""
    octet = int(octets[at])
    if not is_prefix or not (octet == 32 or octet == 9 or octet == 0xC2):
        return octet, at + 1
    end = at
    for _ in range(2):
        if end < filled and (octets[end] == 32 or octets[end] == 9):
            end += 1
        elif end + 1 < filled and octets[end] == 0xC2 and octets[end + 1] == 0xA0:
            end += 2
    if end + 1 >= filled:
        return octet, MORE
    if octets[end] | 32 == 117:  # another "urn:" is no part of this one
        if end + 3 >= filled:
            return octet, MORE
        if octets[end + 1] | 32 == 114 and octets[end + 2] | 32 == 110 and octets[end + 3] == 58:
            return STOP, at + 1
    return (NOTHING, end) if is_alnum(octets[end]) and end > at else (STOP, at + 1)
