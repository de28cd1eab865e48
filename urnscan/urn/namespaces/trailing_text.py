"""Text at the end of a match that may belong to the document and not to the name. In this case, `valid` is null, not
false.

`urn:isbn:0451450523).` is a valid name with punctuation after it. In `urn:isbn:0451450523&page=2`, other text follows
the name. If the name before that text has a wrong check digit, it is invalid. A template has letters instead of a name:
`urn:isbn:n-nn-nnnnnn-n`.

The functions are called in plain Python for one name, and compiled for columns (`judgement_columns.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from urnscan.urn.trim import CLOSES

if TYPE_CHECKING:
    from urnscan.compiled.bytes import ByteArray

SEPARATING = b",;&/()'"
"""Punctuation after which other text may follow a name, without a space. `,` `;` and `'` are also closing punctuation.
"""

_CLOSES, _SEPARATES = 1, 2
KINDS = bytes(_CLOSES * CLOSES[byte] + _SEPARATES * (byte in SEPARATING) for byte in range(256))
"""The kind of each byte: 1 if trimming may cut it, 2 if it is in SEPARATING, 3 for both, else 0.

The functions get this table as an argument.
"""

_QUESTION_MARK, _HASH = b"?#"
_A, _Z, _DIGIT_0, _DIGIT_9 = b"az09"
# The bit in which upper and lower case of a letter differ.
_CASE = 32


def front(data: ByteArray | bytes, start: int, fits: ByteArray | Sequence[int], kinds: ByteArray | bytes) -> int:
    """The length in bytes of the name at the beginning of an NSS, if other text follows the name; 0 if no name is
    found. The NSS as a whole does not fit the pattern of its namespace.

    The NSS begins at `data[start]`. `fits[n]` says whether its first `n` bytes fit the pattern, for each `n` from 0 to
    the length of the NSS. The name is the longest prefix that fits and is followed by closing punctuation up to the
    end, or by one of `,;&/()'`, perhaps with closing punctuation before that byte. `kinds` is KINDS.

    >>> text = b"0451450523).&page=2"
    >>> front(text, 0, [length == 10 for length in range(len(text) + 1)], KINDS)
    10
    >>> front(b"0451450523x", 0, [length == 10 for length in range(12)], KINDS)
    0
    """
    # `candidate` is a prefix that fits and that only closing punctuation has followed so far.
    longest = candidate = 0
    for i in range(len(fits) - 1):
        if fits[i]:
            candidate = i
        kind = kinds[data[start + i]]
        if kind & _SEPARATES and candidate > 0:
            longest = candidate
        if not kind & _CLOSES:
            candidate = 0
    return candidate if candidate > 0 else longest


def reserved_at(data: ByteArray | bytes, start: int, end: int) -> int:
    """Index in `data` of the first "?" or "#" in `data[start:end]`; `end` if there is none.

    >>> reserved_at(b"10.1000/182#p2", 0, 14), reserved_at(b"10.1000/182", 0, 11)
    (11, 11)
    """
    for i in range(start, end):
        if data[i] == _QUESTION_MARK or data[i] == _HASH:
            return i
    return end


def is_template(data: ByteArray | bytes, start: int, end: int) -> bool:
    """Whether `data[start:end]` is a template for names and not a name: it has no digit and no two different letters,
    in any case, as in `n-nn-nnnnnn-n`, `XXXX-xxxx` and `...`. True for an empty text.

    >>> [is_template(nss, 0, len(nss)) for nss in (b"n-nn-nnnnnn-n", b"XXXX-xxxx", b"...", b"abc", b"1")]
    [True, True, True, False, False]
    """
    letter = 0
    for i in range(start, end):
        byte = data[i]
        if _DIGIT_0 <= byte <= _DIGIT_9:
            return False
        small = int(byte | _CASE)
        if _A <= small <= _Z:
            if letter not in (0, small):
                return False
            letter = small
    return True
