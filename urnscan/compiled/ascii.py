"""ASCII characters by name, and tests of single octets, for compiled code.

Compiled code treats a name as a constant: `octets[at] == COLON` costs no more than `octets[at] == 58`.
"""

from __future__ import annotations

import numpy as np

from urnscan.compiled.jit import inlined

TAB, LF, CR, ESCAPE, UNIT_SEPARATOR, SPACE = b"\t\n\r\x1b\x1f "
HASH, DOLLAR, PERCENT, AMPERSAND, APOSTROPHE, PARENTHESIS, PLUS, HYPHEN, SLASH = b"#$%&'(+-/"
COLON, SEMICOLON, LESS, EQUALS, GREATER, QUESTION_MARK, BACKSLASH, TILDE = b":;<=>?\\~"
CASE = 32
"""The bit in which upper and lower case of a letter differ."""

WHITE = bytes(octet for octet in range(128) if chr(octet).isspace())
"""White space in ASCII as Python has it: RE2 and Arrow know fewer octets."""

_WHITE = tuple(WHITE)
_DIGIT_0, _DIGIT_9, _CAPITAL_A, _CAPITAL_Z, _A, _F, _Z = b"09AZafz"


@inlined
def lower(octet: np.uint8) -> np.uint8:
    """A letter in lower case, any other octet unchanged."""
    return np.uint8(octet | np.uint8(CASE * (_CAPITAL_A <= octet <= _CAPITAL_Z)))


@inlined
def upper(octet: np.uint8) -> np.uint8:
    """A letter in upper case, any other octet unchanged."""
    return np.uint8(octet ^ np.uint8(CASE * (_A <= octet <= _Z)))


@inlined
def is_white(octet: int) -> bool:
    """Whether an octet is in WHITE."""
    return octet in _WHITE


@inlined
def is_digit(octet: int) -> bool:
    """Whether an octet is a digit."""
    return _DIGIT_0 <= octet <= _DIGIT_9


@inlined
def is_letter(octet: int) -> bool:
    """Whether an octet is a letter."""
    return _A <= octet | CASE <= _Z


@inlined
def is_alnum(octet: int) -> bool:
    """Whether an octet is a letter or digit."""
    return _DIGIT_0 <= octet <= _DIGIT_9 or _A <= octet | CASE <= _Z


@inlined
def hex_digit(octet: int) -> int:
    """The value of a hex digit, -1 for any other octet."""
    if is_digit(octet):
        return int(np.int64(octet)) - _DIGIT_0
    if _A <= octet | CASE <= _F:
        return int(np.int64(octet | CASE)) - _A + 10
    return -1
