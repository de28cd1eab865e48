"""Where a URN may begin: what may stand before its `urn:`; compiled."""

from __future__ import annotations

from urnscan.compiled.ascii import DOLLAR, ESCAPE, PARENTHESIS, PERCENT, UNIT_SEPARATOR, hex_digit, is_alnum
from urnscan.compiled.bytes import ByteArray
from urnscan.compiled.jit import inlined, inner

_DAGGER, _ALVEOLAR_CLICK = tuple("‡".encode()), tuple("ǂ".encode())
_LEAD = 0x81  # the least first byte of a character of several


@inlined
def is_in_word(data: ByteArray, start: int) -> bool:
    """Whether a letter or digit precedes `start`. The code of a subfield of MARC does not count, nor does the end of ISO 2022's
    `ESC ( B`, or an encoded character that is neither, such as `%22`.
    """
    return start > 0 and is_alnum(data[start - 1]) and not _ends_sign(data, start)


@inner
def _ends_sign(data: ByteArray, end: int) -> bool:
    """Whether such a code, escape or `%HH` ends at `end`. Delimiters of MARC: US, and as people write it `$$`, `‡` or `ǂ` in UTF-8."""
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
    """Whether the letter or digit before `start` may be the last byte of a character of several, by the byte before it."""
    return start > 1 and data[start - 2] >= _LEAD
