"""Arithmetic on standard numbers as bytes. Hyphens may be between the digits; the last character may be an X, which
means 10.

The functions are called in plain Python for one number, and compiled for columns. Bytes become `int` before they are
added up: in plain Python, elements of an array have 8 bits and would overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray

_DIGIT_0, _LETTER_A, _LETTER_X, _LETTER_Z, _HYPHEN = b"0axz-"
# The bit in which upper and lower case of a letter differ.
_CASE = 32


def value_of(byte: int) -> int:
    """The value of a digit from 0 to 9, given as a byte; 10 for an X in any case; no meaning for other bytes."""
    return 10 if byte | _CASE == _LETTER_X else int(byte - _DIGIT_0)


def weighted_sum(data: ByteArray | bytes | bytearray, start: int, end: int) -> int:
    """The weighted sum of the digits in `data[start:end]`. The last digit has the weight 1, the second last 2, and so
    on. Hyphens are ignored; X, in any case, counts 10.
    """
    total = sums = 0
    for i in range(start, end):
        if data[i] != _HYPHEN:
            sums += value_of(data[i])
            # So of n digits, the first counts n times, the last once.
            total += sums
    return total


def drop_hyphens(data: ByteArray | bytearray, start: int, end: int) -> int:
    """Remove the hyphens in `data[start:end]` in place, change letters to upper case, and return the new end, an index
    in `data`. The bytes from there to `end` have no meaning.
    """
    at = start
    for i in range(start, end):
        byte = data[i]
        if byte != _HYPHEN:
            data[at] = byte - _CASE if _LETTER_A <= byte <= _LETTER_Z else byte
            at += 1
    return at
