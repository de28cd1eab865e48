"""Check digits of namespaces, as arithmetic on bytes. `urn/numbers` has the check digits of ISBN and ISSN.

The functions are called in plain Python for one name, and compiled for columns (`judgement_columns.py`).

Bytes become `int` before they are added up: in plain Python, elements of an array have 8 bits and would overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urnscan.urn.numbers.digits import value_of

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray


_DIGIT_0, _DIGIT_9, _LETTER_A, _LETTER_D, _LETTER_E, _LETTER_X, _HYPHEN, _COLON = b"09adex-:"
_CAPITAL_A, _CAPITAL_Z = b"AZ"
# The bit in which upper and lower case of a letter differ.
_CASE = 32


def mod_11_2_is_right(data: ByteArray | bytes, start: int, end: int) -> bool:
    """Whether the check character at the end of `data[start:end]` is right by ISO/IEC 7064 MOD 11-2, as in an ISNI.
    Hyphens are ignored; all other bytes must be digits or X, which counts 10 in any case.
    """
    check = 0
    for i in range(start, end):
        if data[i] != _HYPHEN:
            check = (2 * check + value_of(data[i])) % 11
    return check == 1


def mod_97_10_is_right(data: ByteArray | bytes, start: int, end: int) -> bool:
    """Whether the two check digits at the end of `data[start:end]` are right by ISO/IEC 7064 MOD 97-10, as in a LEI.
    All bytes must be digits or letters; letters in any case count from 10 (A) to 35 (Z).
    """
    check = 0
    for i in range(start, end):
        if data[i] <= _DIGIT_9:
            check = (check * 10 + int(data[i] - _DIGIT_0)) % 97
        else:
            check = (check * 100 + 10 + int((data[i] | _CASE) - _LETTER_A)) % 97
    return check == 1


def mod_37_36_is_right(data: ByteArray | bytes, start: int, end: int) -> bool:
    """Whether the check character at the end of `data[start:end]` is right by ISO/IEC 7064 MOD 37,36, as in an EIDR.

    The algorithm covers the characters after the last colon (all, without a colon), except hyphens. They must be digits
    or letters, in any case.
    """
    first = start
    for i in range(start, end):
        if data[i] == _COLON:
            first = i + 1
    check = 18
    for i in range(first, end):
        if data[i] != _HYPHEN:
            is_digit = data[i] <= _DIGIT_9
            value = int(data[i] - _DIGIT_0) if is_digit else 10 + int((data[i] | _CASE) - _LETTER_A)
            check = ((36 if check == 0 else check) * 2 % 37 + value) % 36
    return check == 1


def eic_is_right(data: ByteArray | bytes, start: int, end: int) -> bool:
    """Whether the check character of an Energy Identification Code is right (EIC Reference Manual). False also if
    `data[start:end]` is not 16 characters (0 to 9, capital letters, hyphens), and if the last one is a hyphen.

    >>> eic_is_right(b"22XWATTPLUS----G", 0, 16), eic_is_right(b"22XWATTPLUS----H", 0, 16)
    (True, False)
    """
    if end - start != 16 or data[end - 1] == _HYPHEN:
        return False
    total = sums = 0
    for i in range(start, end):
        if _DIGIT_0 <= data[i] <= _DIGIT_9:
            sums += int(data[i] - _DIGIT_0)
        elif _CAPITAL_A <= data[i] <= _CAPITAL_Z:
            sums += 10 + int(data[i] - _CAPITAL_A)
        elif data[i] == _HYPHEN:
            sums += 36
        else:
            return False
        # So the first character counts sixteen times, the last once.
        total += sums
    return total % 37 == 0


_DNB_TABLE = (
    "0:1 1:2 2:3 3:4 4:5 5:6 6:7 7:8 8:9 9:41 a:18 b:14 c:19 d:15 e:16 f:21 g:22 h:23 i:24 j:25 k:42 l:26 m:27 n:13 "
    "o:28 p:29 q:31 r:12 s:32 t:33 u:11 v:34 w:35 x:36 y:37 z:38 +:49 ::17 _:43 -:39 .:47 /:45"
)
_NUMBERS = {ord(entry[0]): int(entry[2:]) for entry in _DNB_TABLE.split()}
DNB_NUMBERS = bytes(_NUMBERS.get(ord(chr(byte).lower()), 0) for byte in range(256))
"""For each byte, its number in the table of the Deutsche Nationalbibliothek, in any case; 0 for a byte without a
number.
"""


def dnb_digit(data: ByteArray | bytes, start: int, end: int, numbers: ByteArray | bytes) -> int:
    """The check digit (0 to 9) of the Deutsche Nationalbibliothek for a name `urn:nbn:de:…` without its check digit; -1
    for a name of another country than `de`, and for a name with a byte that has no number in DNB_NUMBERS.

    `data[start:end]` is the name with `urn:nbn:`, in any case, and at least three bytes after it; `numbers` is
    DNB_NUMBERS. The algorithm is in https://www.persistent-identifier.de/?link=316.

    >>> dnb_digit(b"urn:nbn:de:gbv:089-332175294", 0, 28, DNB_NUMBERS)
    5
    """
    country = start + len("urn:nbn:")
    if data[country] | _CASE != _LETTER_D or data[country + 1] | _CASE != _LETTER_E:
        return -1
    if data[country + 2] != _COLON and data[country + 2] != _HYPHEN:
        return -1
    place = total = last = 0
    for i in range(start, end):
        number = int(numbers[data[i]])
        if number == 0:
            return -1
        if number > 9:
            place += 1
            total += place * (number // 10)
        last = number % 10
        place += 1
        total += place * last
    return total // last % 10
