"""Endings of names that are the text's and not the name's: `valid` is null for these names, and not false.

The name in front must be good: one with a wrong check digit is invalid, whatever stands behind it.

Text of the document may have stuck to a name: `urn:isbn:0451450523).` ends in punctuation, and behind
`urn:isbn:0451450523&page=2` the name runs on. A template has letters in place of a name: `urn:isbn:n-nn-nnnnnn-n`.

The functions are called in plain Python for one name, and compiled for columns (`columns.py`). Compiled functions cannot
call plain ones, so no function here calls another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from urnscan.urn.trim import CLOSES

if TYPE_CHECKING:
    from urnscan.arrays.octets import Octets

PARTING = b",;&/()'"
"""Punctuation that may stand between a name and more text, without a blank."""

_CLOSES, _PARTS = 1, 2
KINDS = bytes(_CLOSES * CLOSES[octet] + _PARTS * (octet in PARTING) for octet in range(256))
"""For each octet: 1 if trimming may cut it, 2 if it is in PARTING, 3 if both, else 0. An argument of `front`."""

_A, _Z, _DIGIT_0, _DIGIT_9 = b"az09"
_CASE = 32  # the bit in which upper and lower case of a letter differ


def front(octets: Octets | bytes, start: int, fits: Octets | Sequence[int], kinds: Octets | bytes) -> int:
    """Length of the name at the front of octets, if other text follows it there; 0 if there is none.

    `fits[n]` says whether the first `n` octets from `start` on fit the pattern of the namespace. The octets
    as a whole do not fit. The name is the longest beginning that fits and ends where punctuation begins: what trimming
    cuts, up to the end of the octets, or one of PARTING, perhaps with what trimming cuts before it.

    >>> text = b"0451450523).&page=2"
    >>> front(text, 0, [length == 10 for length in range(len(text) + 1)], KINDS)
    10
    >>> front(b"0451450523x", 0, [length == 10 for length in range(12)], KINDS)
    0
    """
    longest = waiting = 0  # waiting: a beginning that fits, with nothing but what trimming cuts behind it so far
    for i in range(len(fits) - 1):
        if fits[i]:
            waiting = i
        kind = kinds[octets[start + i]]
        if kind & _PARTS and waiting > 0:
            longest = waiting
        if not kind & _CLOSES:
            waiting = 0
    return waiting if waiting > 0 else longest


def is_template(octets: Octets | bytes, start: int, end: int) -> bool:
    """Whether no digits and no two different letters stand there: `n-nn-nnnnnn-n`, `XXXX-xxxx`, `...`, or nothing.

    >>> [is_template(nss, 0, len(nss)) for nss in (b"n-nn-nnnnnn-n", b"XXXX-xxxx", b"...", b"abc", b"1")]
    [True, True, True, False, False]
    """
    letter = 0
    for i in range(start, end):
        octet = octets[i]
        if _DIGIT_0 <= octet <= _DIGIT_9:
            return False
        small = int(octet | _CASE)
        if _A <= small <= _Z:
            if letter not in (0, small):
                return False
            letter = small
    return True
