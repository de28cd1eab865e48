"""ASCII characters by name, and tests of single bytes, for compiled code.

Compiled code treats a name as a constant: `data[at] == COLON` costs no more than `data[at] == 58`.
"""

from __future__ import annotations

import numpy as np

from urnscan.compiled.jit import inlined

TAB, LF, CR, ESCAPE, UNIT_SEPARATOR, SPACE = b"\t\n\r\x1b\x1f "
HASH, DOLLAR, PERCENT, AMPERSAND, APOSTROPHE, PARENTHESIS, PLUS, HYPHEN, SLASH = b"#$%&'(+-/"
COLON, SEMICOLON, LESS, EQUALS, GREATER, QUESTION_MARK, BACKSLASH, TILDE = b":;<=>?\\~"
CASE = 32
"""The bit in which upper and lower case of a letter differ."""

WHITE = bytes(byte for byte in range(128) if chr(byte).isspace())
"""ASCII white space as Python defines it: RE2 and Arrow know fewer bytes."""

_WHITE = tuple(WHITE)
_DIGIT_0, _DIGIT_9, _CAPITAL_A, _CAPITAL_Z, _A, _F, _Z = b"09AZafz"


@inlined
def lower(byte: np.uint8) -> np.uint8:
    """The lower case of a byte that is an ASCII letter; any other byte unchanged."""
    return np.uint8(byte | np.uint8(CASE * (_CAPITAL_A <= byte <= _CAPITAL_Z)))


@inlined
def upper(byte: np.uint8) -> np.uint8:
    """The upper case of a byte that is an ASCII letter; any other byte unchanged."""
    return np.uint8(byte ^ np.uint8(CASE * (_A <= byte <= _Z)))


@inlined
def is_white(byte: int) -> bool:
    """Whether a byte is ASCII white space as Python defines it (WHITE)."""
    return byte in _WHITE


@inlined
def is_digit(byte: int) -> bool:
    """Whether a byte is an ASCII digit."""
    return _DIGIT_0 <= byte <= _DIGIT_9


@inlined
def is_letter(byte: int) -> bool:
    """Whether a byte is an ASCII letter, in any case."""
    return _A <= byte | CASE <= _Z


@inlined
def is_alnum(byte: int) -> bool:
    """Whether a byte is an ASCII letter or digit."""
    return _DIGIT_0 <= byte <= _DIGIT_9 or _A <= byte | CASE <= _Z


@inlined
def hex_digit(byte: int) -> int:
    """The value of a hex digit, from 0 to 15; -1 for any other byte."""
    if is_digit(byte):
        return int(np.int64(byte)) - _DIGIT_0
    if _A <= byte | CASE <= _F:
        return int(np.int64(byte | CASE)) - _A + 10
    return -1
