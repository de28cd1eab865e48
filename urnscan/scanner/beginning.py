"""Where a URN may begin: the bytes that may precede `urn:`; compiled."""

from __future__ import annotations

from urnscan.compiled.ascii import DOLLAR, ESCAPE, PARENTHESIS, PERCENT, UNIT_SEPARATOR, hex_digit, is_alnum
from urnscan.compiled.bytes import ByteArray
from urnscan.compiled.jit import inlined, inner

_DAGGER, _ALVEOLAR_CLICK = tuple("‡".encode()), tuple("ǂ".encode())
# The lowest first byte of a character of several bytes.
_LEAD = 0x81


@inlined
def is_in_word(data: ByteArray, start: int) -> bool:
    """Whether the byte before index `start` of `data` is an ASCII letter or digit of a word, so that no URN begins
    there. False for index 0.

    Three kinds of letters and digits do not count: a subfield code of MARC (after the byte 0x1F, `$$`, `‡` or `ǂ`), the
    byte after `ESC (` (an escape sequence of ISO 2022), and the end of a percent-encoded ASCII character that is not a
    letter or digit, such as `%22`. Other encodings (`=3D`) and escape sequences (`ESC ) B`) count.
    """
    return start > 0 and is_alnum(data[start - 1]) and not _ends_sign(data, start)


@inner
def _ends_sign(data: ByteArray, end: int) -> bool:
    """Whether one of the signs that `is_in_word` names, such as `$$a` or `%22`, ends at index `end` (exclusive)."""
    if end < 2:
        return False
    last = data[end - 2]
    if last == UNIT_SEPARATOR:
        return True
    if end < 3:
        return False
    before = data[end - 3]
    if before == PERCENT:
        high, low = hex_digit(last), hex_digit(data[end - 1])
        return high >= 0 and low >= 0 and high < 8 and not is_alnum(16 * high + low)
    return bool(
        (last == DOLLAR and before == DOLLAR)
        or (last == PARENTHESIS and before == ESCAPE)
        or (last == _DAGGER[2] and before == _DAGGER[1] and end > 3 and data[end - 4] == _DAGGER[0])
        or (last == _ALVEOLAR_CLICK[1] and before == _ALVEOLAR_CLICK[0])
    )


@inlined
def may_be_character(data: ByteArray, start: int) -> bool:
    """Whether the letter or digit before index `start` may be the last byte of a character of several bytes, as in
    Shift_JIS, because the byte before it is 0x81 or more. Only for a `start` for which `is_in_word` is true.
    """
    return start > 1 and data[start - 2] >= _LEAD
