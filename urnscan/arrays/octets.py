"""Vectorised loops over octets: find `urn:`, find one of two octets, count lines, copy.

A loop is vectorised if it works on single octets and has no early exit. So the search is for the least XOR of octets:
XOR is 0 where two octets are equal. That is several times as fast as to compare and to collect booleans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import CASE, COLON, LF
from urnscan.arrays.jit import IS_COMPILED, compiled, from_c, inlined

Octets = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

_HUNT = 64  # octets that are searched for `urn:` at once
_COUNTED = 224  # octets whose count fits into one octet
_CASE = np.uint8(CASE)
_U, _R, _N, _COLON = np.frombuffer(b"urn:", np.uint8)
_MOST = np.uint8(255)
_memcpy = from_c("memcpy", "uintp", "uintp", "uintp", "uintp")


@inlined
def hunt(octets: Octets, at: int, filled: int, dense_until: int) -> int:
    """First place of `urn:` from `at` on, in any case; if there is none, the first place where it may still begin.

    Blocks that begin before `dense_until` are searched at once: there another `urn:` is likely.
    """
    while at + 4 <= filled:
        if at >= dense_until:
            at = _pass_over(octets, at, filled)
        first = _first_scheme(octets[at : min(at + _HUNT + 3, filled)])
        if first != -1:
            return at + first
        at = min(at + _HUNT, filled - 3)
    return at


@inlined
def _pass_over(octets: Octets, at: int, filled: int) -> int:
    """First block of _HUNT octets from `at` on in which an "n:" of `urn:` ends; else the end of the last block."""
    while at + _HUNT + 3 <= filled:
        block = octets[at + 2 : at + _HUNT + 3]
        least = _MOST
        for i in range(_HUNT):
            least = min(least, np.uint8((block[i] | _CASE) ^ _N | (block[i + 1] ^ _COLON)))
        if not least:
            break
        at += _HUNT
    return at


@inlined
def _first_scheme(octets: Octets) -> int:
    """First place of `urn:` in up to _HUNT + 3 octets, in any case, or -1."""
    if len(octets) < _HUNT + 3:
        for i in range(len(octets) - 3):
            if is_scheme(octets, i):
                return i
        return -1
    first = np.uint8(_HUNT)
    for i in range(_HUNT):
        differs = np.uint8(
            ((octets[i] | _CASE) ^ _U)
            | ((octets[i + 1] | _CASE) ^ _R)
            | ((octets[i + 2] | _CASE) ^ _N)
            | (octets[i + 3] ^ _COLON)
        )
        first = min(first, np.uint8(_HUNT) if differs else np.uint8(i))
    return int(first) if first < _HUNT else -1


@inlined
def is_urn(octets: Octets, at: int) -> bool:
    """Whether the letters `urn` stand at `at`, in any case."""
    return bool(octets[at + 2] | CASE == _N and octets[at + 1] | CASE == _R and octets[at] | CASE == _U)


@inlined
def is_scheme(octets: Octets, at: int) -> bool:
    """Whether `urn:` stands at `at`, in any case."""
    return octets[at + 3] == COLON and is_urn(octets, at)


@inlined
def may_hold(octets: Octets, at: int, end: int, one: np.uint8, other: np.uint8) -> bool:
    """Whether `one` octet or the `other` stands in `octets[at:end]`, or less than 16 behind: whole blocks are fast."""
    block = octets[at : max(at, at + (end - at | 15) + 1)]
    least = _MOST
    for i in range(len(block)):
        least = min(least, np.uint8(block[i] ^ one), np.uint8(block[i] ^ other))
    return bool(least == 0)


@compiled
def find_words(octets: Octets, at: int, end: int, words: Octets, places: Integers) -> tuple[int, int]:
    """The places in `octets[at:end]` at which one of `words`, each a row of three small letters, begins in any case.

    Two octets behind `end` are looked at. Returns how many places there are and the place reached, which lies before
    `end` if there is no room for more.
    """
    count = 0
    while at < end and count + _HUNT <= len(places):
        last = min(at + _HUNT, end)
        if last - at < _HUNT or _has_word(octets[at : last + 2], words):
            for i in range(at, last):
                for word in words:
                    if (
                        octets[i] | CASE == word[0]
                        and octets[i + 1] | CASE == word[1]
                        and octets[i + 2] | CASE == word[2]
                    ):
                        places[count] = i
                        count += 1
                        break
        at = last
    return count, at


@inlined
def _has_word(octets: Octets, words: Octets) -> bool:
    """Whether one of the words begins in the first _HUNT of _HUNT + 2 octets."""
    least = _MOST
    for word in words:
        first, second, third = word
        for i in range(_HUNT):
            differs = ((octets[i] | _CASE) ^ first) | ((octets[i + 1] | _CASE) ^ second)
            least = min(least, np.uint8(differs | ((octets[i + 2] | _CASE) ^ third)))
    return bool(least == 0)


@compiled
def count_lf(octets: Octets, start: int, end: int) -> int:
    """Number of LF octets in `octets[start:end]`."""
    return occurrences(octets, start, end, LF)


@inlined
def occurrences(octets: Octets, start: int, end: int, octet: int) -> int:
    """Number of places in `octets[start:end]` where an octet stands."""
    count = 0
    while start < end:
        part = octets[start : min(end, start + _COUNTED)]
        few = np.uint8(0)  # many at once are compared and added, as long as the sum is an octet, too
        for i in range(len(part)):
            few = np.uint8(few + np.uint8(part[i] == octet))
        count += int(few)
        start += _COUNTED
    return count


@compiled
def join(octets: Octets, starts: Integers, ends: Integers, separator: int, into: Octets) -> None:
    """Copy each `octets[starts[i]:ends[i]]` to `into`, one behind the other with the separator behind each."""
    at = 0
    for i in range(len(starts)):
        at = copy(octets, starts[i], ends[i], into, at)
        into[at] = separator
        at += 1


@inlined
def copy(octets: Octets, start: int, end: int, into: Octets, at: int) -> int:
    """Copy `octets[start:end]` to `into[at:]` and return where the copy ends; there must be room for it."""
    if IS_COMPILED:  # for short strings, too, several times as fast as a loop
        _memcpy(into.ctypes.data + np.uintp(at), octets.ctypes.data + np.uintp(start), np.uintp(end - start))
    else:
        into[at : at + end - start] = octets[start:end]
    return at + end - start
