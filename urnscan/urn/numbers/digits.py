"""Bytes of standard numbers with hyphens among their digits, and perhaps an X for 10 at their end.

The functions are called in plain Python for one number, and compiled for columns. Bytes become `int` before they are added
up: uncompiled, those of an array are 8 bits wide and would overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray

_DIGIT_0, _LETTER_A, _LETTER_X, _LETTER_Z, _HYPHEN = b"0axz-"
_CASE = 32  # the bit in which upper and lower case of a letter differ


def value_of(byte: int) -> int:
    """The value of a digit; 10 for an X, in any case."""
    return 10 if byte | _CASE == _LETTER_X else int(byte - _DIGIT_0)


def weighted_sum(data: ByteArray | bytes | bytearray, start: int, end: int) -> int:
    """The sum of the digits in `bytes[start:end]`: the last one weighs 1, and each other one more than the next."""
    total = sums = 0
    for i in range(start, end):
        if data[i] != _HYPHEN:
            sums += value_of(data[i])
            total += sums  # so the first digit counts as often as there are digits, the last once
    return total


def drop_hyphens(data: ByteArray | bytearray, start: int, end: int) -> int:
    """Move the bytes in `bytes[start:end]` together, without hyphens and in upper case, and return where they end now."""
    at = start
    for i in range(start, end):
        byte = data[i]
        if byte != _HYPHEN:
            data[at] = byte - _CASE if _LETTER_A <= byte <= _LETTER_Z else byte
            at += 1
    return at
