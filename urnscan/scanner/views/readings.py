"""Readings of a text: places where a hidden URN may begin, and then step by step the octets that stand there. Compiled.

A step returns the octet, or NOTHING for something to be skipped; and the end of what stands for it, or MORE if that
depends on octets that are not there yet. STOP is an octet that no URN holds.
"""

from __future__ import annotations

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
from urnscan.arrays.jit import inner
from urnscan.arrays.octets import Integers, Octets, is_scheme, is_urn
from urnscan.arrays.strings import Vocabulary
from urnscan.scanner.grammar import Rules
from urnscan.scanner.kernel import Block
from urnscan.scanner.views.markup import Elements, Part, begins_gap, is_parted, step_over_markup
from urnscan.scanner.views.references import (
    MORE,
    NOTHING,
    STOP,
    References,
    is_invisible,
    read_number,
    read_reference,
)

READINGS = 7
PERCENT_ONCE, PERCENT_TWICE, ENTITIES, ESCAPES, WRAPS, LABELS, MARKUP = range(READINGS)
"""Ways to read a text."""

_HUNT = 64  # octets that are searched at once
_CASE = np.uint8(CASE)
_U, _R, _N = np.frombuffer(b"urn", np.uint8)
_OPENING = tuple(b"<\"'`([{")
_CLOSING = tuple(b">)]}")
_DELIMITERS = (HYPHEN, COLON, SLASH, EQUALS)
_LESS, _AMPERSAND, _GAP_1, _GAP_2, _GAP_3 = np.frombuffer(b"<&\xc2\xe2\xef", np.uint8)  # where `begins_gap` is true
_MARKS = np.frombuffer(b"%%&\\::", np.uint8)  # octets that begin an encoded octet in each reading
_ENDS_OF_WORDS = tuple(b"tbhpo")  # turn, burn, churn, spurn, mourn
_URL_DELIMITERS = tuple(b"&#?;,+=$@")  # of the URL around a value: in the value they would be encoded
_DIGIT_0, _DIGIT_2, _DIGIT_3, _DIGIT_5, _DELETE = b"0235\x7f"
_LETTER_N, _LETTER_R, _LETTER_T, _LETTER_U, _LETTER_X, _CAPITAL_U = b"nrtuxU"
_NO_BREAK_SPACE = 0xC2, 0xA0  # in UTF-8

Flags = npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """Readings of a hunt, and rules for what they show."""

    readings: Flags
    """1 for each of the READINGS that is on."""
    rules: Rules
    """The grammar."""
    references: References
    elements: Elements
    nids: Vocabulary
    """The registered NIDs. Labels stand in prose, where any word may follow, so only these count."""


@inner
def next_candidate(octets: Octets, at: int, until: int, filled: int, in_markup: bool) -> int:
    """First place in `octets[at:until]` of `urn` and then `:`, "%", "&" or a backslash; `until` if there is none.

    If `in_markup`, there may also be a gap between or behind the letters.
    """
    while at < until and at + 4 <= filled:
        at = _pass_over_gaps(octets, at, until) if in_markup else _pass_over(octets, at, until)
        block_end = min(at + _HUNT, until, filled - 3)
        while at < block_end:
            if is_urn(octets, at):
                behind = octets[at + 3]
                if behind == COLON or behind == PERCENT or behind == AMPERSAND or behind == BACKSLASH:
                    return at
                if in_markup and begins_gap(behind):
                    return at
            elif in_markup and is_parted(octets, at):
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
def _pass_over_gaps(octets: Octets, at: int, end: int) -> int:
    """First block, as `_pass_over` finds it, in which an `urn` begins that may have a gap behind its first or second letter."""
    while at + _HUNT + 3 <= end:
        block = octets[at : at + _HUNT + 3]
        least = np.uint8(255)
        for i in range(_HUNT):
            second, third = block[i + 1], block[i + 2]
            gap = min(second ^ _LESS, second ^ _AMPERSAND, second ^ _GAP_1, second ^ _GAP_2, second ^ _GAP_3)
            behind = min(third ^ _LESS, third ^ _AMPERSAND, third ^ _GAP_1, third ^ _GAP_2, third ^ _GAP_3)
            differs = ((second | _CASE) ^ _R) | min((third | _CASE) ^ _N, behind)
            least = min(least, np.uint8(((block[i] | _CASE) ^ _U) | min(differs, gap)))
        if not least:
            break
        at += _HUNT
    return at


@inner
def may_help(reading: int, behind: int, is_literal: bool, stop: int) -> bool:
    """Whether a reading can find more at a candidate than stands there literally.

    `behind` is the octet behind `urn`. `stop` is the octet that ended a literal match, or "&" if the match holds one.
    """
    if reading == MARKUP:
        return begins_gap(stop) if is_literal else behind == COLON or begins_gap(behind)
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
        return end + 2 >= filled or is_invisible(octets, end)
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
def step(reading: int, block: Block, at: int, part: Part, plan: Plan, state: Integers) -> tuple[int, int]:
    """One step of a reading: the octet and the end of what stands for it. `state` is that of `step_over_markup`."""
    octets, filled, _ = block
    if reading == PERCENT_ONCE:
        return _percent(octets, at, filled, 1)
    if reading == PERCENT_TWICE:
        return _percent(octets, at, filled, 2)
    if reading == ENTITIES:
        return _entity(octets, at, filled, plan.references)
    if reading == ESCAPES:
        return _escape(octets, at, filled)
    if reading == MARKUP:
        return step_over_markup(block, at, part, state, (plan.elements, plan.references))
    return _label(octets, at, filled, part.last == COLON and part.colons <= 2)


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
def _entity(octets: Octets, at: int, filled: int, references: References) -> tuple[int, int]:
    """A step over a character reference of XML or HTML (`&#58;`, `&#x3a;`, `&colon;`); other octets are themselves."""
    if octets[at] != AMPERSAND:
        return int(octets[at]), at + 1
    octet, after = read_reference(octets, at, filled, references)
    return STOP if octet == NOTHING else octet, after


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
        number = read_number(octets, first, first + digits, base)
        if number == -1:
            return STOP, at + 1
        return number if number <= _DELETE else STOP, first + digits
    return (STOP, at + 1) if is_alnum(kind) or kind >= _DELETE or kind <= SPACE else (kind, at + 2)


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
