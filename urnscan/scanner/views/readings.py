"""Readings of a text: places where a hidden URN may begin, and then step by step the octets that stand there. Compiled.

A step returns the octet, or NOTHING for something to be skipped; and the end of what stands for it, or MORE if that
depends on octets that are not there yet. STOP is an octet that no URN holds.
"""

from __future__ import annotations

from html.entities import html5
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import (
    AMPERSAND,
    BACKSLASH,
    CASE,
    COLON,
    CR,
    EQUALS,
    HASH,
    HYPHEN,
    LF,
    PERCENT,
    SEMICOLON,
    SLASH,
    SPACE,
    TAB,
    hex_digit,
    is_alnum,
    is_letter,
)
from urnscan.arrays.jit import inner
from urnscan.arrays.octets import Octets, is_scheme, is_urn
from urnscan.arrays.strings import Vocabulary, index_words, word_number
from urnscan.scanner.grammar import Rules

READINGS = 6
PERCENT_ONCE, PERCENT_TWICE, ENTITIES, ESCAPES, WRAPS, LABELS = range(READINGS)
"""Ways to read a text."""
NOTHING, MORE, STOP = -1, -2, 0

_HUNT = 64  # octets that are searched at once
_CASE = np.uint8(CASE)
_U, _R, _N = np.frombuffer(b"urn", np.uint8)
_OPENING = tuple(b"<\"'`([{")
_CLOSING = tuple(b">)]}")
_DELIMITERS = (HYPHEN, COLON, SLASH, EQUALS)
_MARKS = np.frombuffer(b"%%&\\::", np.uint8)  # octets that begin an encoded octet in each reading
_ENDS_OF_WORDS = tuple(b"tbhpo")  # turn, burn, churn, spurn, mourn
_URL_DELIMITERS = tuple(b"&#?;,+=$@")  # of the URL around a value: in the value they would be encoded
_DIGIT_0, _DIGIT_2, _DIGIT_3, _DIGIT_5, _DELETE = b"0235\x7f"
_LETTER_N, _LETTER_R, _LETTER_T, _LETTER_U, _LETTER_X, _CAPITAL_U = b"nrtuxU"
_NO_BREAK_SPACE = 0xC2, 0xA0  # in UTF-8

_LONGEST_ENTITY = 34  # octets of "&CounterClockwiseContourIntegral;"
_NAMES = sorted(name.removesuffix(";") for name in html5 if name.endswith(";"))
ENTITY_NAMES: Vocabulary = index_words([name.encode() for name in _NAMES])
"""The named character references of HTML 5."""
ENTITY_OCTETS = bytes(ord(text) if len(text := html5[f"{name};"]) == 1 and text.isascii() else STOP for name in _NAMES)
"""The octet of each name; STOP for characters beyond ASCII."""


Flags = npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """Readings of a hunt, and rules for what they show."""

    readings: Flags
    """1 for each of the READINGS that is on."""
    rules: Rules
    """The grammar."""
    names: Vocabulary
    values: Octets
    """The named character references, and the octets that they stand for."""
    nids: Vocabulary
    """The registered NIDs. Labels stand in prose, where any word may follow, so only these count."""


@inner
def next_candidate(octets: Octets, at: int, until: int, filled: int) -> int:
    """First place in `octets[at:until]` of `urn` and then `:`, "%", "&" or a backslash; `until` if there is none."""
    while at < until and at + 4 <= filled:
        at = _pass_over(octets, at, until)
        block_end = min(at + _HUNT, until, filled - 3)
        while at < block_end:
            if is_urn(octets, at):
                behind = octets[at + 3]
                if behind == COLON or behind == PERCENT or behind == AMPERSAND or behind == BACKSLASH:
                    return at
            at += 1
    return until


@inner
def _pass_over(octets: Octets, at: int, end: int) -> int:
    """First block of _HUNT octets from `at` on in which an `urn` begins; else the end of the last whole block."""
    while at + _HUNT + 3 <= end:
        block = octets[at : at + _HUNT + 3]
        least = np.uint8(255)
        for i in range(_HUNT):  # vectorised, as in `arrays/octets.py`
            differs = ((block[i] | _CASE) ^ _U) | ((block[i + 1] | _CASE) ^ _R) | ((block[i + 2] | _CASE) ^ _N)
            least = min(least, np.uint8(differs))
        if not least:
            break
        at += _HUNT
    return at


@inner
def may_help(reading: int, behind: int, is_literal: bool, stop: int) -> bool:
    """Whether a reading can find more at a candidate than stands there literally.

    `behind` is the octet behind `urn`. `stop` is the octet that ended a literal match, or "&" if the match holds one.
    """
    mark = _MARKS[reading]
    if is_literal:
        return bool(stop == mark and (reading == ENTITIES or reading == ESCAPES))
    return bool(behind == COLON or behind == mark)


@inner
def begins_hidden(reading: int, octets: Octets, at: int) -> bool:
    """Whether a URN can begin at `at` in this reading, though a letter or digit stands before it in the text."""
    if reading == LABELS:
        letter = octets[at - 1] | CASE
        if not is_letter(letter) or letter in _ENDS_OF_WORDS:
            return False
        return not _is_encoded(PERCENT_ONCE, octets, at) and not _is_encoded(ESCAPES, octets, at)
    return _is_encoded(reading, octets, at)


@inner
def _is_encoded(reading: int, octets: Octets, at: int) -> bool:
    """Whether the letter or digit before `at` ends an encoded delimiter, as in `%3Curn:`, or after a backslash."""
    if reading == ESCAPES:
        letter = octets[at - 1]
        if at > 1 and octets[at - 2] == BACKSLASH:
            return bool(letter == _LETTER_N or letter == _LETTER_T or letter == _LETTER_R)
        return bool(
            at > 5 and octets[at - 6] == BACKSLASH and octets[at - 5] == _LETTER_U and _is_delimiter(octets, at - 2)
        )
    if at < 3 or not (reading == PERCENT_ONCE or reading == PERCENT_TWICE):
        return False
    is_percent = octets[at - 3] == PERCENT
    if reading == PERCENT_TWICE and at > 4 and octets[at - 5] == PERCENT:
        is_percent = is_percent or (octets[at - 4] == _DIGIT_2 and octets[at - 3] == _DIGIT_5)
    return is_percent and _is_delimiter(octets, at - 2)


@inner
def _is_delimiter(octets: Octets, at: int) -> bool:
    """Whether two hex digits stand for an octet that is no letter or digit."""
    high, low = hex_digit(octets[at]), hex_digit(octets[at + 1])
    return high != -1 and low != -1 and not is_alnum(16 * high + low)


@inner
def may_be_broken(octets: Octets, start: int, end: int, filled: int) -> bool:
    """Whether a match, or the beginning of one, may go on behind its end: a quick look before `wraps.read_on`."""
    if end >= filled:
        return True
    octet = octets[end]
    if octet == BACKSLASH:
        return True
    if octet >= 0x80:
        return end + 2 >= filled or _is_invisible(octet, octets[end + 1], octets[end + 2])
    at = end
    while at < filled and (octets[at] == SPACE or octets[at] == TAB) and at < end + 5:
        at += 1
    if at < filled and octets[at] == CR:
        at += 1
    if at < filled and octets[at] != LF:
        return False
    if octets[end - 1] in _DELIMITERS:
        return True
    # Between marks a URN may go on behind any line end, if no blank and no other mark stands between the opening mark
    # and the URN.
    for i in range(start - 1, max(-1, start - 66), -1):
        octet = octets[i]
        if octet in _OPENING:
            return True
        if octet <= SPACE or octet in _CLOSING:
            return False
    return False


@inner
def _is_invisible(first: int, second: int, third: int) -> bool:
    """Whether the octets begin with U+00AD, U+200B to U+200D, U+2060 or U+FEFF in UTF-8."""
    return (
        (first == 0xC2 and second == 0xAD)
        or (first == 0xE2 and second == 0x80 and 0x8B <= third <= 0x8D)
        or (first == 0xE2 and second == 0x81 and third == 0xA0)
        or (first == 0xEF and second == 0xBB and third == 0xBF)
    )


@inner
def step(reading: int, octets: Octets, at: int, filled: int, is_prefix: bool, plan: Plan) -> tuple[int, int]:
    """One step of a reading: the octet and the end of what stands for it."""
    if reading == PERCENT_ONCE:
        return _percent(octets, at, filled, 1)
    if reading == PERCENT_TWICE:
        return _percent(octets, at, filled, 2)
    if reading == ENTITIES:
        return _entity(octets, at, filled, plan.names, plan.values)
    if reading == ESCAPES:
        return _escape(octets, at, filled)
    return _label(octets, at, filled, is_prefix)


@inner
def _percent(octets: Octets, at: int, filled: int, times: int) -> tuple[int, int]:
    """A step in text that is percent-encoded once (RFC 3986 §2.1), as a value inside a URL, or twice, as a value inside
    a URL that is a value inside another URL.
    """
    octet, after = int(octets[at]), at + 1
    for _ in range(times):
        if octet in _URL_DELIMITERS:
            return STOP, after
        if octet != PERCENT:
            break
        if after + 1 >= filled:
            return octet, MORE
        high, low = hex_digit(octets[after]), hex_digit(octets[after + 1])
        if high == -1 or low == -1:
            return STOP, after
        octet, after = 16 * high + low, after + 2
    return octet, after


@inner
def _entity(octets: Octets, at: int, filled: int, names: Vocabulary, values: Octets) -> tuple[int, int]:
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
    value = _ascii(octets, at + 2 + is_hex, end, 16 if is_hex else 10)
    return (octet, at + 1) if value == -1 else (value, end + 1)


@inner
def _escape(octets: Octets, at: int, filled: int) -> tuple[int, int]:
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
        value = _ascii(octets, first, first + digits, base)
        return (STOP, at + 1) if value == -1 else (value, first + digits)
    return (STOP, at + 1) if is_alnum(kind) or kind >= _DELETE or kind <= SPACE else (kind, at + 2)


@inner
def _ascii(octets: Octets, start: int, end: int, base: int) -> int:
    """The ASCII character with that number, in digits; STOP for another character, -1 if they are no digits."""
    value = 0
    for i in range(start, end):
        digit = hex_digit(octets[i])
        if digit == -1 or digit >= base:
            return -1
        value = min(value * base + digit, 128)
    if start == end:
        return -1
    return value if value < 128 else STOP


@inner
def _label(octets: Octets, at: int, filled: int, is_prefix: bool) -> tuple[int, int]:
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
