"""Character references of XML and HTML 5, as `&#58;`, `&#x3a;`, `&colon;` and `&shy;`; compiled."""

from __future__ import annotations

from html.entities import html5
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import CASE, HASH, SEMICOLON, is_alnum
from urnscan.compiled.bytes import ByteArray, read_number
from urnscan.compiled.jit import inner
from urnscan.compiled.strings import Vocabulary, index_words, word_number
from urnscan.urn.reject_reasons import INVISIBLES

STOP, NOTHING, MORE = 0, -1, -2
"""Special results of a step through a text, instead of a byte or the end of the text that represents the byte.

STOP: a byte that no URN contains. NOTHING: text to skip. MORE: the result depends on more bytes.
"""
_INVISIBLES = tuple(map(ord, INVISIBLES))
# Bytes of "&CounterClockwiseContourIntegral;", the longest reference.
_LONGEST = 34
_LETTER_X = ord("x")


class References(NamedTuple):
    """Names and values of the named character references of HTML 5, such as `&colon;`. A value is an ASCII byte,
    NOTHING (invisible) or STOP (other).
    """

    names: Vocabulary
    """The names, without `&` and `;`."""
    values: npt.NDArray[np.int16]
    """For each name, the byte of an ASCII character; NOTHING for one of INVISIBLES (soft hyphen, spaces and joiners of
    zero width); STOP for any other, or two characters.
    """


def _value(text: str) -> int:
    if len(text) == 1 and text in INVISIBLES:
        return NOTHING
    return ord(text) if len(text) == 1 and text.isascii() else STOP


_NAMES = sorted(name.removesuffix(";") for name in html5 if name.endswith(";"))
REFERENCES = References(
    index_words([name.encode() for name in _NAMES]),
    np.array([_value(html5[f"{name};"]) for name in _NAMES], np.int16),
)
"""The named character references of HTML 5."""


@inner
def read_reference(data: ByteArray, at: int, filled: int, references: References) -> tuple[int, int]:
    """Decode the character reference, named or numeric, of at most 34 bytes, from the `&` at index `at` to a `;`.
    Returns the ASCII character as a byte, and the index after the `;`: from `&#58;`, COLON and `at + 5`.

    For an invisible character, NOTHING instead of the byte, and for any other character outside of ASCII, or a name of
    two characters, STOP; both with the index after the `;`. If no reference begins there (also for a name that is not
    in `references`, the table of names; case is significant): `&` and `at + 1`. If `data[:filled]` ends too early to
    decide: `&` and MORE.
    """
    byte = int(data[at])
    end = at + 1
    last = min(filled, at + _LONGEST)
    if end < last and data[end] == HASH:
        end += 1
    while end < last and is_alnum(data[end]):
        end += 1
    if end == filled and end < at + _LONGEST:
        return byte, MORE
    if end == last or data[end] != SEMICOLON:
        return byte, at + 1
    if data[at + 1] != HASH:
        name = word_number(data, at + 1, end, references.names)
        return (byte, at + 1) if name == -1 else (int(references.values[name]), end + 1)
    is_hex = data[at + 2] | CASE == _LETTER_X
    number = read_number(data, at + 2 + is_hex, end, 16 if is_hex else 10)
    if number == -1:
        return byte, at + 1
    if number in _INVISIBLES:
        return NOTHING, end + 1
    return number if number < 128 else STOP, end + 1


@inner
def is_invisible(data: ByteArray, at: int) -> bool:
    """Whether an invisible character (a soft hyphen, a space or joiner of zero width) begins at index `at`, in UTF-8.
    `data[at + 2]` must exist.
    """
    first, second, third = data[at], data[at + 1], data[at + 2]
    return bool(
        (first == 0xC2 and second == 0xAD)
        or (first == 0xE2 and second == 0x80 and 0x8B <= third <= 0x8D)
        or (first == 0xE2 and second == 0x81 and third == 0xA0)
        or (first == 0xEF and second == 0xBB and third == 0xBF)
    )
