"""Places where a hidden URN may begin: quick looks that spare most places a reading. Compiled."""

from __future__ import annotations

import numpy as np

from urnscan.arrays.ascii import (
    AMPERSAND,
    BACKSLASH,
    CASE,
    COLON,
    CR,
    EQUALS,
    HYPHEN,
    LF,
    PERCENT,
    SLASH,
    SPACE,
    TAB,
    hex_digit,
    is_alnum,
    is_letter,
)
from urnscan.arrays.jit import lean
from urnscan.arrays.octets import Octets, is_urn

__all__ = [
    "ENTITIES",
    "ESCAPES",
    "LABELS",
    "PERCENT_ONCE",
    "PERCENT_TWICE",
    "READINGS",
    "WRAPS",
    "begins_hidden",
    "may_be_broken",
    "may_help",
    "next_candidate",
]

READINGS = 6
PERCENT_ONCE, PERCENT_TWICE, ENTITIES, ESCAPES, WRAPS, LABELS = range(READINGS)
"""Ways to read a text."""

_HUNT = 64  # octets that are searched at once
_CASE = np.uint8(CASE)
_U, _R, _N = np.frombuffer(b"urn", np.uint8)
_DIGIT_2, _DIGIT_5, _LETTER_N, _LETTER_R, _LETTER_T, _LETTER_U = b"25nrtu"
_OPENING = tuple(b"<\"'`([{")
_CLOSING = tuple(b">)]}")
_DELIMITERS = (HYPHEN, COLON, SLASH, EQUALS)
_ENDS_OF_WORDS = tuple(b"tbhpo")  # turn, burn, churn, spurn, mourn


@lean
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


@lean
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


@lean
def may_help(reading: int, behind: int, is_literal: bool, stop: int) -> bool:
    """Whether a reading can find more at a candidate than stands there literally.

    `behind` is the octet behind `urn`. `stop` is the octet that ended a literal match, or "&" if the match holds one.
    """
    if reading == LABELS:
        return behind == COLON and not is_literal
    if behind == COLON and is_literal:
        return (reading == ENTITIES and stop == AMPERSAND) or (reading == ESCAPES and stop == BACKSLASH)
    if reading == ENTITIES:
        return behind == COLON or behind == AMPERSAND
    if reading == ESCAPES:
        return behind == COLON or behind == BACKSLASH
    return behind == COLON or behind == PERCENT


@lean
def begins_hidden(reading: int, octets: Octets, at: int) -> bool:
    """Whether a URN can begin at `at` in this reading, though a letter or digit stands before it in the text."""
    if reading == LABELS:
        letter = octets[at - 1] | CASE
        if not is_letter(letter) or letter in _ENDS_OF_WORDS:
            return False
        return not _is_encoded(PERCENT_ONCE, octets, at) and not _is_encoded(ESCAPES, octets, at)
    return _is_encoded(reading, octets, at)


@lean
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


@lean
def _is_delimiter(octets: Octets, at: int) -> bool:
    """Whether two hex digits stand for an octet that is no letter or digit."""
    high, low = hex_digit(octets[at]), hex_digit(octets[at + 1])
    return high != -1 and low != -1 and not is_alnum(16 * high + low)


@lean
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


@lean
def _is_invisible(first: int, second: int, third: int) -> bool:
    """Whether the octets begin with U+00AD, U+200B to U+200D, U+2060 or U+FEFF in UTF-8."""
    return (
        (first == 0xC2 and second == 0xAD)
        or (first == 0xE2 and second == 0x80 and 0x8B <= third <= 0x8D)
        or (first == 0xE2 and second == 0x81 and third == 0xA0)
        or (first == 0xEF and second == 0xBB and third == 0xBF)
    )
