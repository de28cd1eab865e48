"""Check digits as arithmetic on octets: plain Python, called for one name, and compiled for columns (`columns.py`).

Compiled functions call no plain ones, so each function here stands alone. Sums are taken modulo their divisor at once:
uncompiled, octets of an array are 8 bits wide and would overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.arrays.octets import Octets

__all__ = [
    "DNB_NUMBERS",
    "dnb_digit",
    "isbn_13",
    "isbn_13_digit",
    "isbn_is_right",
    "issn_digit",
    "issn_is_right",
    "mod_11_2_is_right",
    "mod_37_36_is_right",
    "mod_97_10_is_right",
]

_DIGIT_0, _DIGIT_9, _LETTER_A, _LETTER_X, _HYPHEN, _COLON = b"09ax-:"
_CASE = 32  # the bit in which upper and lower case of a letter differ


def isbn_is_right(octets: Octets | bytes, start: int, end: int) -> bool:
    """ISO 2108: ten digits weighted 10 to 1 are divisible by 11, thirteen weighted 1 and 3 in turn by 10.

    >>> isbn_is_right(b"0-395-36341-1", 0, 13), isbn_is_right(b"9780395363417", 0, 13)
    (True, False)
    """
    count = ten = thirteen = 0
    for i in range(start, end):
        if octets[i] != _HYPHEN:
            digit = 10 if octets[i] | _CASE == _LETTER_X else int(octets[i] - _DIGIT_0)
            ten = (ten + (10 - count) * digit) % 11
            thirteen = (thirteen + (1 + count % 2 * 2) * digit) % 10
            count += 1
    return ten == 0 if count == 10 else thirteen == 0


def isbn_13_digit(octets: Octets | bytes, start: int) -> int:
    """The check digit, as an octet, of an ISBN-13 of which twelve digits stand at `start`."""
    total = 0
    for i in range(12):
        total = (total + (1 + i % 2 * 2) * int(octets[start + i] - _DIGIT_0)) % 10
    return _DIGIT_0 + (10 - total) % 10


def isbn_13(isbn_10: str) -> str:
    """The ISBN-13 of an ISBN-10 without hyphens.

    >>> isbn_13("0395363411")
    '9780395363416'
    """
    twelve = f"978{isbn_10[:9]}"
    return twelve + chr(isbn_13_digit(twelve.encode(), 0))


def issn_is_right(octets: Octets | bytes, start: int, end: int) -> bool:
    """ISO 3297: eight digits weighted 8 to 1 are divisible by 11."""
    count = total = 0
    for i in range(start, end):
        if octets[i] != _HYPHEN:
            digit = 10 if octets[i] | _CASE == _LETTER_X else int(octets[i] - _DIGIT_0)
            total = (total + (8 - count) * digit) % 11
            count += 1
    return total == 0


def issn_digit(seven: str) -> str:
    """The check digit of an ISSN of which seven digits are given.

    >>> issn_digit("0317847")
    '1'
    """
    return "0123456789X"[-sum(weight * int(digit) for weight, digit in zip(range(8, 1, -1), seven, strict=True)) % 11]


def mod_11_2_is_right(octets: Octets | bytes, start: int, end: int) -> bool:
    """ISO/IEC 7064 MOD 11-2, as in an ISNI."""
    check = 0
    for i in range(start, end):
        if octets[i] != _HYPHEN:
            digit = 10 if octets[i] | _CASE == _LETTER_X else int(octets[i] - _DIGIT_0)
            check = (2 * check + digit) % 11
    return check == 1


def mod_97_10_is_right(octets: Octets | bytes, start: int, end: int) -> bool:
    """ISO/IEC 7064 MOD 97-10, as in a LEI; letters in any case count from 10 to 35."""
    check = 0
    for i in range(start, end):
        if octets[i] <= _DIGIT_9:
            check = (check * 10 + int(octets[i] - _DIGIT_0)) % 97
        else:
            check = (check * 100 + 10 + int((octets[i] | _CASE) - _LETTER_A)) % 97
    return check == 1


def mod_37_36_is_right(octets: Octets | bytes, start: int, end: int) -> bool:
    """ISO/IEC 7064 MOD 37,36 over what follows the last colon, without hyphens, as in an EIDR."""
    first = start
    for i in range(start, end):
        if octets[i] == _COLON:
            first = i + 1
    check = 18
    for i in range(first, end):
        if octets[i] != _HYPHEN:
            is_digit = octets[i] <= _DIGIT_9
            value = int(octets[i] - _DIGIT_0) if is_digit else 10 + int((octets[i] | _CASE) - _LETTER_A)
            check = ((36 if check == 0 else check) * 2 % 37 + value) % 36
    return check == 1


_DNB_TABLE = (
    b"0123456789abcdefghijklmnopqrstuvwxyz+:_-./",
    "1 2 3 4 5 6 7 8 9 41 18 14 19 15 16 21 22 23 24 25 42 26 27 13 28 29 31 12 32 33 11 34 35 36 37 38 49 17 43 39 47 45",
)
_NUMBERS = dict(zip(_DNB_TABLE[0], map(int, _DNB_TABLE[1].split()), strict=True))
DNB_NUMBERS = bytes(_NUMBERS.get(ord(chr(octet).lower()), 0) for octet in range(256))
"""The number of each octet in the table of the Deutsche Nationalbibliothek, in any case; 0 for an octet without one."""


def dnb_digit(octets: Octets | bytes, start: int, end: int, numbers: Octets | bytes) -> int:
    """The check digit of the Deutsche Nationalbibliothek for a name without it, `urn:nbn:` included; -1 if the name
    holds an octet that has no number in its table. `numbers` are DNB_NUMBERS.

    https://www.persistent-identifier.de/?link=316: characters become numbers, written one after the other; the digits
    are multiplied by their places and added up; the sum is divided by the last digit, and the last digit of the
    quotient is the check digit.

    >>> dnb_digit(b"urn:nbn:de:gbv:089-332175294", 0, 28, DNB_NUMBERS)
    5
    """
    place = total = last = 0
    for i in range(start, end):
        number = int(numbers[octets[i]])
        if number == 0:
            return -1
        if number > 9:
            place += 1
            total += place * (number // 10)
        last = number % 10
        place += 1
        total += place * last
    return total // last % 10
