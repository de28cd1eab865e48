"""The search for the words of labels and addresses before names without `urn:`; compiled."""

from __future__ import annotations

import numpy as np

from urnscan.compiled.ascii import CASE
from urnscan.compiled.bytes import ByteArray, Integers
from urnscan.compiled.jit import compiled, inlined

# Number of bytes that are searched at once.
_HUNT = 64
_CASE = np.uint8(CASE)
_B, _D, _I, _N, _O, _S = np.frombuffer(b"bdinos", np.uint8)


@compiled
def find_words(data: ByteArray, at: int, end: int, places: Integers) -> tuple[int, int]:
    """Write to the beginning of `places` the indices at which `sbn`, `ssn`, `sni`, `nbn` or `doi` begins in
    `data[at:end]`, in any case and in ascending order.

    `data` must have two bytes after `end`, which the last word may reach. Returns the number of indices, and the index
    from which the caller must search on: `end`, or less if `places` has no room for 64 more. So `places` must have room
    for at least 64.
    """
    count = 0
    while at < end and count + _HUNT <= len(places):
        last = min(at + _HUNT, end)
        if last - at < _HUNT or _has_word(data[at : last + 2]):
            for i in range(at, last):
                if not _differs(data[i], data[i + 1], data[i + 2]):
                    places[count] = i
                    count += 1
        at = last
    return count, at


@inlined
def _has_word(data: ByteArray) -> bool:
    """Precondition: `data` has at least 66 bytes."""
    least = np.uint8(255)
    # The loop is vectorised, as in `compiled/bytes.py`.
    for i in range(_HUNT):
        least = min(least, _differs(data[i], data[i + 1], data[i + 2]))
    return bool(least == 0)


@inlined
def _differs(first: np.uint8, second: np.uint8, third: np.uint8) -> np.uint8:
    """0 if the three bytes are `sbn`, `ssn`, `sni`, `nbn` or `doi`, in any case."""
    first, second, third = np.uint8(first | _CASE), np.uint8(second | _CASE), np.uint8(third | _CASE)
    from_s, from_b = np.uint8(first ^ _S), np.uint8(second ^ _B)
    from_sbn_or_ssn = np.uint8(from_s | min(from_b, np.uint8(second ^ _S)))
    from_nbn = np.uint8(np.uint8(first ^ _N) | from_b)
    ends_in_n = np.uint8(np.uint8(third ^ _N) | min(from_sbn_or_ssn, from_nbn))
    from_sni = np.uint8(from_s | np.uint8(second ^ _N))
    from_doi = np.uint8(np.uint8(first ^ _D) | np.uint8(second ^ _O))
    return min(ends_in_n, np.uint8(np.uint8(third ^ _I) | min(from_sni, from_doi)))
