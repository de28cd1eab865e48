"""Readings: ways to decode a text step by step, from places where a hidden URN may begin; compiled.

A step decodes one byte and returns the byte and the end of the text that represents it: from `%3A`, COLON and the index
after the `A`. Instead of a byte it may return NOTHING for text to skip, or STOP for a byte that no URN contains.
Instead of an index it returns MORE if the result depends on bytes that have not been read yet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import (
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
from urnscan.compiled.bytes import ByteArray, Integers, is_scheme, is_urn, read_number
from urnscan.compiled.jit import inlined, inner
from urnscan.compiled.strings import Vocabulary
from urnscan.scanner.grammar import Rules
from urnscan.scanner.kernel import Block
from urnscan.scanner.views.markup import Elements, PartialName, begins_gap, is_split, step_over_markup
from urnscan.scanner.views.references import MORE, NOTHING, STOP, References, is_invisible, read_reference

READINGS = 7
PERCENT_ONCE, PERCENT_TWICE, ENTITIES, ESCAPES, WRAPS, LABELS, MARKUP = range(READINGS)
"""Numbers of the readings (ways to decode a text): percent-encoding, once or twice; character references; escapes of
JSON or C; line ends; labels; tags.
"""

# Number of bytes that are searched at once.
_HUNT = 64
_CASE = np.uint8(CASE)
_U, _R, _N = np.frombuffer(b"urn", np.uint8)
_SIGNS = tuple(b"&=?%")
# Bytes before the text of a line: spaces, comment leaders, quote marks, and the "/" with which a URN may go on.
_LEADERS = tuple(b" \t>#*-/")
_OPENING = tuple(b"<\"'`([{")
_CLOSING = tuple(b">)]}")
_DELIMITERS = (HYPHEN, COLON, SLASH, EQUALS)
# The bytes for which `begins_gap` is true; two of them differ only by _CASE.
_LESS, _AMPERSAND, _GAP_1_OR_2, _GAP_3 = np.frombuffer(b"<&\xe2\xef", np.uint8)
# For each reading, the byte that begins an encoded byte.
_MARKS = np.frombuffer(b"%%&\\::", np.uint8)
# Letters before `urn` in words: turn, burn, churn, spurn, mourn.
_ENDS_OF_WORDS = tuple(b"tbhpo")
# Delimiters of the URL around an encoded value. Inside the value they would be encoded.
_URL_DELIMITERS = tuple(b"&#?;,+=$@")
_DIGIT_0, _DIGIT_2, _DIGIT_3, _DIGIT_5, _DELETE = b"0235\x7f"
_LETTER_N, _LETTER_R, _LETTER_T, _LETTER_U, _LETTER_X, _CAPITAL_U = b"nrtuxU"
# The no-break space in UTF-8.
_NO_BREAK_SPACE = 0xC2, 0xA0

Flags = npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """The readings (ways to decode a text) of a search for hidden URNs, with the grammar and the tables that they need."""

    readings: Flags
    """For each reading, by its number, from 0 (PERCENT_ONCE, …): 1 if it is on, else 0."""
    rules: Rules
    """The grammar."""
    references: References
    elements: Elements
    nids: Vocabulary
    """The registered NIDs. After a label such as `URN: `, only registered NIDs count, because any word may follow in
    prose.
    """


@inner
def next_candidate(data: ByteArray, at: int, until: int, filled: int, in_markup: bool) -> int:
    """Index of the first candidate, a place where a hidden URN may begin, in `data[at:until]`: a `urn`, in any case,
    that is followed by `:`, "%", "&" or a backslash; `until` if there is none.

    With `in_markup`, what may begin markup (a tag, a reference, an invisible character) may also be after any of the
    letters. The bytes from `filled` on are not read, and a candidate counts only if its first four bytes are before
    `filled`.
    """
    while at < until and at + 4 <= filled:
        at = _pass_over_gaps(data, at, until) if in_markup else _pass_over(data, at, until)
        block_end = min(at + _HUNT, until, filled - 3)
        while at < block_end:
            if is_urn(data, at):
                following = data[at + 3]
                if following == COLON or following == PERCENT or following == AMPERSAND or following == BACKSLASH:
                    return at
                if in_markup and begins_gap(following):
                    return at
            elif in_markup and is_split(data, at):
                return at
            at += 1
    return until


@inner
def _pass_over(data: ByteArray, at: int, end: int) -> int:
    """Start of the first block of 64 bytes, from `at` on, in which a `urn`, in any case, begins; else start of the rest
    before `end`, which is not searched.
    """
    while at + _HUNT + 3 <= end:
        block = data[at : at + _HUNT + 3]
        least = np.uint8(255)
        # The loop is vectorised, as in `compiled/bytes.py`.
        for i in range(_HUNT):
            differs = ((block[i] | _CASE) ^ _U) | ((block[i + 1] | _CASE) ^ _R) | ((block[i + 2] | _CASE) ^ _N)
            least = min(least, np.uint8(differs))
        if not least:
            break
        at += _HUNT
    return at


@inner
def _pass_over_gaps(data: ByteArray, at: int, end: int) -> int:
    """`_pass_over` for a `urn` that may have a gap (markup) after the first or second letter."""
    while at + _HUNT + 3 <= end:
        block = data[at : at + _HUNT + 3]
        least = np.uint8(255)
        for i in range(_HUNT):
            second, third = block[i + 1], block[i + 2]
            n_or_gap = min(np.uint8((third | _CASE) ^ _N), _differs_from_gap(third))
            rest = min(np.uint8(((second | _CASE) ^ _R) | n_or_gap), _differs_from_gap(second))
            least = min(least, np.uint8(((block[i] | _CASE) ^ _U) | rest))
        if not least:
            break
        at += _HUNT
    return at


@inlined
def _differs_from_gap(byte: np.uint8) -> np.uint8:
    """0 if `begins_gap` is true of the byte; else more."""
    # Without these conversions the numbers have 64 bits, and the search takes seven times as long.
    first = min(np.uint8(byte ^ _LESS), np.uint8(byte ^ _AMPERSAND))
    return min(first, np.uint8((byte | _CASE) ^ _GAP_1_OR_2), np.uint8(byte ^ _GAP_3))


@inner
def may_help(reading: int, following: int, is_literal: bool, stop: int) -> bool:
    """Quick test of a reading (a way to decode) at a `urn`. False: it certainly finds no URN there, or, if a literal
    match begins there (`is_literal`), none that is longer. True: it may.

    `following` is the byte after `urn`. `stop`, used only with `is_literal`, is the byte that ended the literal match,
    or "&" if the match contains "&".
    """
    if reading == MARKUP:
        return begins_gap(stop) if is_literal else following == COLON or begins_gap(following)
    mark = _MARKS[reading]
    if is_literal:
        return bool(stop == mark and (reading == ENTITIES or reading == ESCAPES))
    return bool(following == COLON or following == mark)


@inner
def begins_hidden(reading: int, data: ByteArray, at: int) -> bool:
    """Whether a URN can begin at index `at` in this reading (a way to decode), although a letter or digit precedes
    index `at`. True if this letter or digit belongs to an encoded delimiter (`%3Curn:`), or, for LABELS, ends a word
    directly before the label (`BookURN:`, but not `turn:`).
    """
    if reading == LABELS:
        letter = data[at - 1] | CASE
        if not is_letter(letter) or letter in _ENDS_OF_WORDS:
            return False
        return not _is_encoded(PERCENT_ONCE, data, at) and not _is_encoded(ESCAPES, data, at)
    return _is_encoded(reading, data, at)


@inner
def _is_encoded(reading: int, data: ByteArray, at: int) -> bool:
    r"""Whether the letter or digit before index `at` ends an encoded delimiter that this reading decodes, as in
    `%3Curn:` and `\nurn:`.
    """
    if reading == ESCAPES:
        letter = data[at - 1]
        if at > 1 and data[at - 2] == BACKSLASH:
            return bool(letter == _LETTER_N or letter == _LETTER_T or letter == _LETTER_R)
        return bool(at > 5 and data[at - 6] == BACKSLASH and data[at - 5] == _LETTER_U and _is_delimiter(data, at - 2))
    if at < 3 or not (reading == PERCENT_ONCE or reading == PERCENT_TWICE):
        return False
    is_percent = data[at - 3] == PERCENT
    if reading == PERCENT_TWICE and at > 4 and data[at - 5] == PERCENT:
        is_percent = is_percent or (data[at - 4] == _DIGIT_2 and data[at - 3] == _DIGIT_5)
    return is_percent and _is_delimiter(data, at - 2)


@inner
def _is_delimiter(data: ByteArray, at: int) -> bool:
    high, low = hex_digit(data[at]), hex_digit(data[at + 1])
    return high != -1 and low != -1 and not is_alnum(16 * high + low)


@inner
def may_be_broken(data: ByteArray, start: int, end: int, filled: int) -> bool:
    """Quick test of a break (a line end, an invisible character) at index `end`: False if the URN that begins at
    `start` and ends there certainly does not go on after it; True if it may, and also if `data[:filled]` ends too early
    to decide. Then `wraps.read_on` decides.
    """
    if end >= filled:
        return True
    byte = data[end]
    if byte == BACKSLASH:
        return True
    if byte >= 0x80:
        return end + 2 >= filled or is_invisible(data, end)
    # A "%HH" or the sign of a component may be broken in its middle.
    line_end = end
    if byte in _SIGNS:
        line_end += 1
        is_begun = hex_digit(data[line_end]) != -1 or data[line_end] in _SIGNS if line_end < filled else False
        line_end += is_begun
    at = line_end
    while at < filled and (data[at] == SPACE or data[at] == TAB) and at < line_end + 5:
        at += 1
    if at < filled and data[at] == CR:
        at += 1
    if at < filled and data[at] != LF:
        return False
    if data[line_end - 1] in _DELIMITERS or data[line_end - 1] in _SIGNS or line_end > end:
        return True
    # `end` may be after a "%" and one digit.
    if data[line_end - 2] == PERCENT:
        return True
    at += 1
    while at < filled and data[at] in _LEADERS:
        at += 1
    if at >= filled or data[at - 1] == SLASH or data[at] in _SIGNS:
        return True
    # Between marks a URN may go on after any line end, if there is no space and no other mark between the opening mark
    # and the URN.
    for i in range(start - 1, max(-1, start - 66), -1):
        byte = data[i]
        if byte in _OPENING:
            return True
        if byte <= SPACE or byte in _CLOSING:
            return False
    return False


@inner
def step(reading: int, block: Block, at: int, name: PartialName, plan: Plan, state: Integers) -> tuple[int, int]:
    """Decode one byte from index `at` on by a reading (a way to decode), except WRAPS, which `wraps.read_on` decodes.

    Returns the byte, or NOTHING (text to skip) or STOP (no byte of a URN); and the index after its encoded text, or
    MORE (more bytes are needed). From `%3A` by PERCENT_ONCE: COLON and `at + 3`. `name` is the part of the URN that was
    read before. Only MARKUP reads and changes `state` (WRAPPER, DEPTH, DOUBT).
    """
    data, filled, _ = block
    if reading == PERCENT_ONCE:
        return _percent(data, at, filled, 1)
    if reading == PERCENT_TWICE:
        return _percent(data, at, filled, 2)
    if reading == ENTITIES:
        return _entity(data, at, filled, plan.references)
    if reading == ESCAPES:
        return _escape(data, at, filled)
    if reading == MARKUP:
        return step_over_markup(block, at, name, state, (plan.elements, plan.references))
    return _label(data, at, filled, name.last == COLON and name.colons <= 2)


@inner
def _percent(data: ByteArray, at: int, filled: int, times: int) -> tuple[int, int]:
    """Decode a byte that is percent-encoded (RFC 3986 §2.1) up to `times` times. Results are those of `step`: STOP for
    a malformed `%HH`, and for a delimiter of URLs (`&`) that is encoded fewer times.
    """
    byte, after = int(data[at]), at + 1
    for _ in range(times):
        if byte in _URL_DELIMITERS:
            return STOP, after
        if byte != PERCENT:
            break
        if after + 1 >= filled:
            return byte, MORE
        high, low = hex_digit(data[after]), hex_digit(data[after + 1])
        if high == -1 or low == -1:
            return STOP, after
        byte, after = 16 * high + low, after + 2
    return byte, after


@inner
def _entity(data: ByteArray, at: int, filled: int, references: References) -> tuple[int, int]:
    """Decode a byte that may be a character reference (`&#58;`). Results are those of `step`: STOP for a reference to
    an invisible or non-ASCII character.
    """
    if data[at] != AMPERSAND:
        return int(data[at]), at + 1
    byte, after = read_reference(data, at, filled, references)
    return STOP if byte == NOTHING else byte, after


@inner
def _escape(data: ByteArray, at: int, filled: int) -> tuple[int, int]:
    r"""Decode a byte that may be an escape of JSON, C, N-Triples or Python. Results are those of `step`: NOTHING for a
    backslash at a line end; STOP (then the index has no meaning) for `\n`, a non-ASCII character or an unknown escape.
    """
    byte = int(data[at])
    if byte != BACKSLASH:
        return byte, at + 1
    if at + 1 >= filled:
        return byte, MORE
    kind = int(data[at + 1])
    if kind == LF:
        return NOTHING, at + 2
    if kind == CR:
        if at + 2 >= filled:
            return byte, MORE
        return (NOTHING, at + 3) if data[at + 2] == LF else (STOP, at + 1)
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
            return byte, MORE
        number = read_number(data, first, first + digits, base)
        if number == -1:
            return STOP, at + 1
        return number if number <= _DELETE else STOP, first + digits
    return (STOP, at + 1) if is_alnum(kind) or kind >= _DELETE or kind <= SPACE else (kind, at + 2)


@inner
def _label(data: ByteArray, at: int, filled: int, is_prefix: bool) -> tuple[int, int]:
    """Read a byte of a URN after a label. Results are those of `step`: if `is_prefix` (the URN so far is `urn:` or
    `urn:NID:`), NOTHING for one or two spaces before a letter or digit, STOP for other spaces.
    """
    byte = int(data[at])
    if not is_prefix or not (byte == SPACE or byte == TAB or byte == _NO_BREAK_SPACE[0]):
        return byte, at + 1
    end = at
    for _ in range(2):
        if end < filled and (data[end] == SPACE or data[end] == TAB):
            end += 1
        elif end + 1 < filled and data[end] == _NO_BREAK_SPACE[0] and data[end + 1] == _NO_BREAK_SPACE[1]:
            end += 2
    if end + 1 >= filled:
        return byte, MORE
    # Another "urn:" does not belong to this URN.
    if data[end] | CASE == _LETTER_U:
        if end + 3 >= filled:
            return byte, MORE
        if is_scheme(data, end):
            return STOP, at + 1
    return (NOTHING, end) if is_alnum(data[end]) and end > at else (STOP, at + 1)
