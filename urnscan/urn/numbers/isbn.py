"""ISBN: International Standard Book Number (ISO 2108).

Ten digits, the last a check digit that may be X for 10; since 2007 thirteen, which begin with 978 or 979. In a URN
hyphens may be left out, and an ISBN-10 names the same book as the ISBN-13 that it became.

More information:

* https://www.isbn-international.org/
* https://www.iana.org/assignments/urn-formal/isbn (RFC 3187, which it replaces, §3.1)

The functions on octets are called in plain Python for one ISBN, and compiled for columns. Compiled functions cannot call
plain ones, so these call no other. Octets become `int` before they are added up: uncompiled, those of an array are 8
bits wide and would overflow.

>>> [is_right(isbn, 0, len(isbn)) for isbn in (b"0-395-36341-1", b"9780395363416", b"9780395363417")]
[True, True, False]
>>> canonical("0-395-36341-1"), canonical("0-395-36341-x")
('9780395363416', '039536341X')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.arrays.octets import Octets

# Of "ISBN-13" the number belongs to the label only where something parts it from the ISBN.
LABEL = r"(?i:e-?)?(?i:isbn)(?:-?1[03](?=[\s:])|\s1[03](?=\s*:))?\s*:?\s*"
"""Pattern of a label that people write before it."""
FORM = "(?:[0-9][- ]?){9}[0-9Xx]|97[89][- ]?(?:[0-9][- ]?){9}[0-9]"
"""Pattern of the forms in which people write it."""
WANTED = "10 or 13 digits, the last perhaps X, with hyphens or spaces in them at most, as in 978-0-395-36341-6"
"""FORM in words, for messages."""
CHECK = "ISBN-10 modulo 11, ISBN-13 modulo 10 (ISO 2108)"
"""What `is_right` computes, in words, for messages."""

_DIGIT_0, _LETTER_X, _HYPHEN = b"0x-"
_CASE = 32  # the bit in which upper and lower case of a letter differ


def is_right(octets: Octets | bytes, start: int, end: int) -> bool:
    """Whether the digits of an ISBN-10, weighted 10 to 1, add up to a multiple of 11, or those of an ISBN-13, weighted
    1 and 3 in turn, to a multiple of 10.
    """
    count = by_places = sums = in_turn = 0
    for i in range(start, end):
        if octets[i] != _HYPHEN:
            digit = 10 if octets[i] | _CASE == _LETTER_X else int(octets[i] - _DIGIT_0)
            sums += digit
            by_places += sums  # so the first digit counts as often as there are digits, the last once
            in_turn += (1 + count % 2 * 2) * digit
            count += 1
    return in_turn % 10 == 0 if count == 13 else by_places % 11 == 0


def is_right_isbn_13(isbn_13: str) -> bool:
    """Whether thirteen digits without hyphens are an ISBN: fast, as dumps have many.

    >>> is_right_isbn_13("9780395363416"), is_right_isbn_13("9780395363417")
    (True, False)
    """
    octets = isbn_13.encode()  # each digit is 48 more than its value: by their weights 25 times 48, which 10 divides
    return (sum(octets[::2]) + 3 * sum(octets[1::2])) % 10 == 0


def calc_check_digit(octets: Octets | bytes, start: int) -> int:
    """The check digit, as an octet, of an ISBN-13 of which twelve digits stand at `start`.

    >>> chr(calc_check_digit(b"978039536341", 0))
    '6'
    """
    total = 0
    for i in range(12):
        total += (1 + i % 2 * 2) * int(octets[start + i] - _DIGIT_0)
    return _DIGIT_0 + -total % 10


def to_isbn_13(isbn_10: str) -> str:
    """The ISBN-13 of an ISBN-10 without hyphens.

    >>> to_isbn_13("0395363411")
    '9780395363416'
    """
    twelve = f"978{isbn_10[:9]}"
    return twelve + chr(calc_check_digit(twelve.encode(), 0))


def canonical(isbn: str) -> str:
    """The form that all spellings of an ISBN share: without hyphens, an ISBN-10 as ISBN-13."""
    digits = isbn.replace("-", "").upper()
    # A wrong ISBN-10 is not converted: it would get a right check digit, and become the name of another book.
    return to_isbn_13(digits) if len(digits) == 10 and is_right(digits.encode(), 0, 10) else digits
