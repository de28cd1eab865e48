"""ISSN: International Standard Serial Number (ISO 3297).

Eight digits with a hyphen after the fourth; the last is a check digit, and may be X for 10. In a URN the hyphen may be
left out, and x is X: these spellings are one name. An ISSN and its ISSN-L are different names.

More information:

* https://www.issn.org/understanding-the-issn/what-is-an-issn/
* https://www.iana.org/assignments/urn-formal/issn (RFC 3044, which it replaces, §4.1)

The functions on bytes are called in plain Python for one ISSN, and compiled for columns.

>>> is_right(b"0317-8471", 0, 9), is_right(b"0317-8472", 0, 9), is_right(b"1050-124x", 0, 9)
(True, False, True)
>>> calc_check_digit("0317847"), calc_check_digit("1050124")
('1', 'X')
>>> canonical("1050124x"), canonical("0317-8471")
('1050-124X', '0317-8471')
>>> of_bar_code("9770317847001"), of_bar_code("9780395363416")
('0317-8471', None)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urnscan.urn.numbers.digits import drop_hyphens, weighted_sum

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray

LABEL = r"(?i:[ep]-?)?(?i:issn(?:-l)?)\s*:?\s*"
"""Pattern of a label before an ISSN, such as `eISSN:`."""
FORM = "[0-9]{4}[- ]?[0-9]{3}[0-9Xx]"
"""Pattern of the spellings of an ISSN, without a label."""
WANTED = "8 digits, the last perhaps X, with a hyphen in the middle, as in 0317-8471"
"""FORM in words, for messages."""
CHECK = "modulo 11 with weights 8 to 2 (ISO 3297)"
"""The algorithm of `is_right` in words, for messages."""

_HYPHEN = ord("-")


def is_right(data: ByteArray | bytes, start: int, end: int) -> bool:
    """Whether the check digit of the ISSN in `data[start:end]` (8 digits, not checked here) is right. Hyphens are
    ignored; X, in any case, counts 10.
    """
    return weighted_sum(data, start, end) % 11 == 0


def calc_check_digit(seven: str) -> str:
    """The check digit of an ISSN (`0` to `9` or `X`), from the first seven digits."""
    return "0123456789X"[-weighted_sum(f"{seven}0".encode(), 0, 8) % 11]


def write_canonical(data: ByteArray | bytearray, start: int, end: int) -> int:
    """Rewrite the ISSN in `data[start:end]` in place, with a hyphen after the fourth digit and X in upper case, and
    return the new end, an index in `data` of at most `end + 1`; `data` must have room for this byte. Nothing is
    checked.
    """
    at = drop_hyphens(data, start, end)
    # With a custom rule, there may be fewer than four digits.
    middle = min(start + 4, at)
    for i in range(at, middle, -1):
        data[i] = data[i - 1]
    data[middle] = _HYPHEN
    return at + 1


def canonical(issn: str) -> str:
    """The canonical form of an ISSN: with a hyphen after the fourth digit, and X in upper case. Nothing is checked."""
    # The added byte is room for a hyphen.
    data = bytearray(f"{issn}-", "ascii")
    return data[: write_canonical(data, 0, len(issn))].decode()


def of_bar_code(ean: str) -> str | None:
    """The ISSN, with a hyphen, in an EAN-13 bar code (13 digits, without hyphens and spaces) that begins with 977; None
    for another bar code. The check digit of the bar code is not checked; that of the ISSN is calculated.
    """
    return canonical(ean[3:10] + calc_check_digit(ean[3:10])) if ean.startswith("977") else None
