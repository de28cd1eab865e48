"""ISBN: International Standard Book Number (ISO 2108).

Ten digits, the last a check digit that may be X for 10; since 2007 thirteen, which begin with 978 or 979. In a URN
hyphens may be left out, and an ISBN-10 names the same book as the ISBN-13 that it became.

More information:

* https://www.isbn-international.org/
* https://www.iana.org/assignments/urn-formal/isbn (RFC 3187, which it replaces, §3.1)

The functions on bytes are called in plain Python for one ISBN, and compiled for columns.

>>> [is_right(isbn, 0, len(isbn)) for isbn in (b"0-395-36341-1", b"9780395363416", b"9780395363417")]
[True, True, False]
>>> canonical("0-395-36341-1"), canonical("0-395-36341-x")
('9780395363416', '039536341X')
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urnscan.urn.numbers.digits import drop_hyphens, value_of, weighted_sum

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray

# In "ISBN-13", the 13 belongs to the label only if white space or a colon separates it from the ISBN.
LABEL = r"(?i:e-?)?(?i:isbn)(?:-?1[03](?=[\s:])|\s1[03](?=\s*:))?\s*:?\s*"
"""Pattern of a label before an ISBN, such as `ISBN-13:`."""
FORM = "(?:[0-9][- ]?){9}[0-9Xx]|97[89][- ]?(?:[0-9][- ]?){9}[0-9]"
"""Pattern of the spellings of an ISBN, without a label."""
WANTED = "10 or 13 digits, the last perhaps X, with hyphens or spaces in them at most, as in 978-0-395-36341-6"
"""FORM in words, for messages."""
CHECK = "ISBN-10 modulo 11, ISBN-13 modulo 10 (ISO 2108)"
"""The algorithm of `is_right` in words, for messages."""

NO_ISBN, WRONG, RIGHT = range(3)
"""Results of `write_isbn`: not an ISBN, a wrong check digit, a right one."""

_DIGIT_0, _DIGIT_7, _DIGIT_8, _DIGIT_9, _LETTER_X, _HYPHEN = b"0789x-"
# The bit in which upper and lower case of a letter differ.
_CASE = 32


def is_right(data: ByteArray | bytes | bytearray, start: int, end: int) -> bool:
    """Whether the check digit of the ISBN in `data[start:end]` (10 or 13 digits, not checked here) is right. Hyphens
    are ignored; X, in any case, counts 10.
    """
    count = in_turn = 0
    for i in range(start, end):
        if data[i] != _HYPHEN:
            in_turn += (1 + count % 2 * 2) * value_of(data[i])
            count += 1
    return in_turn % 10 == 0 if count == 13 else weighted_sum(data, start, end) % 11 == 0


def calc_check_digit(data: ByteArray | bytes | bytearray, start: int) -> int:
    """The check digit, as a byte (`ord("0")` to `ord("9")`), for the first twelve digits of an ISBN-13. They begin at
    `data[start]`, without hyphens.

    >>> chr(calc_check_digit(b"978039536341", 0))
    '6'
    """
    total = 0
    for i in range(12):
        total += (1 + i % 2 * 2) * int(data[start + i] - _DIGIT_0)
    return _DIGIT_0 + -total % 10


def write_canonical(data: ByteArray | bytearray, start: int, end: int) -> int:
    """Rewrite the ISBN in `data[start:end]` in place to the canonical form, and return the new end, an index in `data`
    of at most `end + 3`; `data` must have room for these three bytes.

    Hyphens are removed, x becomes X; an ISBN-10 with a right check digit becomes an ISBN-13, one with a wrong check
    digit stays.
    """
    at = drop_hyphens(data, start, end)
    # A wrong ISBN-10 is not converted: it would get a right check digit, and become the name of another book.
    if at - start == 10 and is_right(data, start, at):
        for i in range(at - 1, start - 1, -1):
            data[i + 3] = data[i]
        data[start], data[start + 1], data[start + 2] = _DIGIT_9, _DIGIT_7, _DIGIT_8
        data[at + 2] = calc_check_digit(data, start)
        at += 3
    return at


def canonical(isbn: str) -> str:
    """The canonical form of an ISBN: without hyphens; an ISBN-10 with a right check digit becomes an ISBN-13, one with
    a wrong check digit stays. Nothing else is checked.
    """
    # The three added bytes are room for the prefix of an ISBN-13.
    data = bytearray(f"{isbn}978", "ascii")
    return data[: write_canonical(data, 0, len(isbn))].decode()


def write_isbn(data: ByteArray | bytes, start: int, end: int, out: ByteArray | bytearray, at: int) -> int:
    """Write the ISBN in `data[start:end]` as thirteen digits to `out`, which must have room for them, from index `at`
    on. The last digit is always the right check digit, also if the one in `data` is wrong.

    Returns RIGHT; WRONG if the check digit in `data` was wrong, or if the number only fills a field (9999999999);
    NO_ISBN if the bytes are not an ISBN, or have spaces or two hyphens together. After NO_ISBN, the content of `out` is
    undefined.

    >>> out = bytearray(13)
    >>> write_isbn(b"3-16-148410-X", 0, 13, out, 0), out
    (2, bytearray(b'9783161484100'))
    >>> [write_isbn(isbn, 0, len(isbn), out, 0) for isbn in (b"316148410X", b"3161484101", b"316148410 X", b"9999999999")]
    [2, 1, 0, 1]
    """
    count, is_after_hyphen = 0, True
    for place in range(start, end):
        byte = data[place]
        is_x = place == end - 1 and byte | _CASE == _LETTER_X
        if byte == _HYPHEN:
            if is_after_hyphen:
                return NO_ISBN
        elif not (_DIGIT_0 <= byte <= _DIGIT_9 or is_x):
            return NO_ISBN
        is_after_hyphen = byte == _HYPHEN
        count += not is_after_hyphen
    if is_after_hyphen or not (count == 10 or count == 13):
        return NO_ISBN
    to = at
    if count == 10:
        out[at], out[at + 1], out[at + 2] = _DIGIT_9, _DIGIT_7, _DIGIT_8
        to += 3
    elif data[start] != _DIGIT_9 or data[start + 1] != _DIGIT_7 or data[start + 2] < _DIGIT_8:
        return NO_ISBN
    for place in range(start, end):
        if data[place] != _HYPHEN:
            out[to] = data[place]
            to += 1
    is_filler = out[at + 2] == _DIGIT_8
    for i in range(at + 4, at + 12):
        is_filler &= out[i] == out[at + 3]
    digit = calc_check_digit(out, at)
    # The last byte may be an X, which is not a digit of an ISBN-13.
    has_right_digit = is_right(data, start, end) if count == 10 else out[at + 12] == digit
    out[at + 12] = digit
    return RIGHT if has_right_digit and not is_filler else WRONG
