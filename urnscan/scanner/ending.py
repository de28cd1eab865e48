"""Text after a match that looks like a part of the URN; compiled."""

from __future__ import annotations

import numpy as np

from urnscan.compiled.ascii import (
    AMPERSAND,
    EQUALS,
    HASH,
    HYPHEN,
    PERCENT,
    PLUS,
    QUESTION_MARK,
    SEMICOLON,
    SLASH,
    TILDE,
    is_alnum,
)
from urnscan.compiled.bytes import ByteArray, find_byte, is_scheme
from urnscan.compiled.jit import inlined, inner
from urnscan.scanner.grammar import IS_CLOSING, Rules
from urnscan.urn.reject_reasons import DASHES, INVISIBLES
from urnscan.urn.syntax import TAIL_COMPONENTS, TAIL_NONE

# Maximum bytes of a character reference, from "&" to ";".
_LONGEST_REFERENCE = 12
# Letters beyond ASCII that count are those of scripts that separate words by spaces. In UTF-8 they have two bytes (U+00C0
# to U+07FF), or three (Latin and Greek). The constants are ranges of their first and second bytes.
_TWO, _TWO_END, _THREE, _LATIN_OF_THREE = 0xC3, 0xE0, 0xE1, 0xB8
_TAIL, _TAIL_END, _TIMES, _DIVIDED = 0x80, 0xC0, 0x97, 0xB7
# Characters inside a name that people do not notice: dashes instead of a hyphen (also those of full width), the soft
# hyphen, and spaces and joiners of zero width. The constants are the first bytes of these in UTF-8.
_LOOKALIKES = tuple(map(ord, DASHES + INVISIBLES))
_SOFT, _DASH, _WIDE = 0xC2, 0xE2, 0xEF
MAY_BE_CUT = np.array(
    [
        _SOFT <= byte < _TWO_END or byte in (_THREE, _DASH, _WIDE, PERCENT, QUESTION_MARK, HASH, AMPERSAND, TILDE)
        for byte in range(256)
    ]
)
"""For each byte, whether a name may be cut short (end in the middle) before this byte, so that `is_cut_short` must be
called.
"""


@inner
def is_cut_short(data: ByteArray, places: tuple[int, int, int], in_url: bool, mark: int, rules: Rules) -> bool:
    """Whether the text after a URN looks like a part of the URN that the syntax does not allow. There must be such a
    text.

    It begins with a letter beyond ASCII (of a script with spaces between words); with a dash instead of a hyphen or an
    invisible character, before a letter or digit; or with a malformed part: `%4`, and if the syntax has components also
    `?x` or a second `#`. In RFC 2141 also with text that RFC 8141 allows in an NSS (`~`, `&`; in a URL (`in_url`) an
    `&` ends the URN). `places` are the indices of the start of the URN, of the colon after the NID, and of the end.
    `mark` is the byte that ends the URN inside a URL, if the tail of the URL is cut off, and then is not malformed;
    else 0. Call `needs_more` first: `data` must have enough bytes after the URN.
    """
    end = places[2]
    byte, rest = data[end], data[end:]
    if byte >= _SOFT:
        return _is_letter(rest) or (len(rest) > letter_length(byte) and _may_be_lookalike(rest))
    if rules.tail == TAIL_NONE and (byte == TILDE or byte == AMPERSAND):
        if in_url and byte == AMPERSAND:
            return False
        return _fits_rfc8141(data, places) and (byte == TILDE or _goes_on_after(rest[1:], rules))
    return _ends_in_error(rest[:2], mark, rules)


@inner
def needs_more(rest: ByteArray) -> bool:
    """Whether `rest`, the bytes in memory after a URN (at least one), may be too short for `is_cut_short`, so that
    more bytes must be read first. Mostly False if they are not needed: a match in a pipe is reported early.
    """
    if rest[0] == _SOFT or rest[0] == _DASH or rest[0] == _WIDE:
        return len(rest) < letter_length(rest[0]) + len("urn:") and _may_be_lookalike(rest)
    if rest[0] != AMPERSAND:
        return len(rest) < (2 if rest[0] == QUESTION_MARK else letter_length(rest[0]))
    for i in range(1, min(len(rest), _LONGEST_REFERENCE)):
        if not is_alnum(rest[i]):
            return False
    return len(rest) < _LONGEST_REFERENCE


@inner
def _is_letter(text: ByteArray) -> bool:
    """Whether a text begins with a letter beyond ASCII of a script with spaces between words."""
    if len(text) < 2 or not _TAIL <= text[1] < _TAIL_END:
        return False
    if text[0] == _THREE:
        return len(text) > 2 and text[1] >= _LATIN_OF_THREE and _TAIL <= text[2] < _TAIL_END
    return _TWO <= text[0] < _TWO_END and not (text[0] == _TWO and (text[1] == _TIMES or text[1] == _DIVIDED))


@inner
def _may_be_lookalike(text: ByteArray) -> bool:
    """Whether a text begins with a dash or an invisible character, and then an ASCII letter or digit that begins no
    URN, or is too short to decide. Its first byte must be at least _SOFT.
    """
    size, length = len(text), letter_length(text[0])
    if size < length:
        return True
    point = (int(text[0]) & 0x1F) << 6 | (int(text[1]) & 0x3F)
    if length > 2:
        point = (int(text[0]) & 0x0F) << 12 | (int(text[1]) & 0x3F) << 6 | (int(text[2]) & 0x3F)
    if point not in _LOOKALIKES:
        return False
    if size > length + 3 and is_scheme(text, length):
        return False
    return size == length or is_alnum(text[length])


@inner
def _fits_rfc8141(data: ByteArray, places: tuple[int, int, int]) -> bool:
    start, colon, end = places
    has_nid = colon - start - 4 > 1 and data[colon - 1] != HYPHEN
    has_components = find_byte(data, colon, end, HASH) < end or find_byte(data, colon, end, QUESTION_MARK) < end
    return has_nid and data[colon + 1] != SLASH and not has_components


@inner
def _goes_on_after(rest: ByteArray, rules: Rules) -> bool:
    """Whether `rest`, the text after an ampersand that follows a URN, continues a name, and does not look like the rest
    of a character reference (`lt;`).
    """
    if len(rest) > 3 and is_scheme(rest, 0):
        return False
    if len(rest) == 0 or not (rules.roles[rest[0]] or rest[0] == TILDE) or rest[0] == HASH:
        return False
    for i in range(min(len(rest), _LONGEST_REFERENCE - 1)):
        if rest[i] == SEMICOLON:
            return False
        if not is_alnum(rest[i]):
            return True
    return True


@inlined
def _ends_in_error(rest: ByteArray, mark: int, rules: Rules) -> bool:
    """Whether `rest`, the text after a match (at least one byte), looks like a malformed part of the URN: `%4`, `?x`.
    `mark` is that of `is_cut_short`.
    """
    byte = rest[0]
    if byte == PERCENT or rules.tail == TAIL_NONE:
        return bool(byte == PERCENT)
    if byte == mark:
        return False
    # A "#" is a second one. A "&" ends a match only after directives.
    if byte == HASH or byte == AMPERSAND:
        return True
    if byte != QUESTION_MARK or len(rest) == 1:
        return False
    following = rest[1]
    if rules.tail == TAIL_COMPONENTS and (following == PLUS or following == EQUALS):
        return True
    # In the path of a URL, "?" begins the query of the URL.
    if mark == HASH:
        return False
    # A "?" before white space or closing punctuation belongs to the sentence.
    return bool((rules.roles[following] or following == PERCENT or following == HASH) and not IS_CLOSING[following])


@inlined
def letter_length(byte: int) -> int:
    """The number of bytes (2 or 3) of the UTF-8 character that begins with this byte; 0 for a byte below 0xC2, so also
    for ASCII. Characters of four bytes count as 3.
    """
    # `is_cut_short` looks for no character of four bytes.
    return 0 if byte < _SOFT else 2 if byte < _TWO_END else 3
