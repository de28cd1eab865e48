"""Loops over octets that are vectorised: the hunt for `urn:`, what may stand in a text, counting, copying.

Such a loop stays in single octets and has no exit. What an octet has in common with the one that is sought, XOR makes 0;
so the least of all tells whether it is among them. That is several times as fast as comparing and collecting truths.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import IS_COMPILED, from_c, inlined, lean

__all__ = ["Integers", "Octets", "copy", "count_lf", "hunt", "is_scheme", "lower", "may_hold"]

Octets = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

_HUNT = 64  # octets that are searched for "urn:" at once
_COUNTED = 224  # octets of which an octet holds the count
_CASE = np.uint8(32)  # the bit in which upper and lower case differ
_U, _R, _N, _COLON = np.frombuffer(b"urn:", np.uint8)
_FAR = np.uint8(255)  # from what is sought
_memcpy = from_c("memcpy", "uintp", "uintp", "uintp", "uintp")


@inlined
def hunt(octets: Octets, at: int, filled: int, dense_until: int) -> int:
    """Where `urn:` first stands from `at` on, in any case; where it does not, the first place that is still undecided.

    Before `dense_until` it is expected in every block.
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
    """The first block of _HUNT octets from `at` on in which an "n:" ends that can be one of "urn:", or the last whole one."""
    while at + _HUNT + 3 <= filled:
        block = octets[at + 2 : at + _HUNT + 3]
        least = _FAR
        for i in range(_HUNT):
            least = min(least, np.uint8((block[i] | _CASE) ^ _N | (block[i + 1] ^ _COLON)))
        if not least:
            break
        at += _HUNT
    return at


@inlined
def _first_scheme(octets: Octets) -> int:
    """Where `urn:` first stands in up to _HUNT + 3 octets, in any case, or -1."""
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
def is_scheme(octets: Octets, at: int) -> bool:
    """Whether `urn:` stands at `at`, in any case."""
    return bool(
        octets[at + 3] == 58 and octets[at + 2] | 32 == 110 and octets[at + 1] | 32 == 114 and octets[at] | 32 == 117
    )


@inlined
def may_hold(octets: Octets, at: int, end: int, one: np.uint8, other: np.uint8) -> bool:
    """Whether `one` octet or the `other` stands from `at` to `end`, or just behind: only whole blocks of 16 are fast."""
    block = octets[at : max(at, at + (end - at | 15) + 1)]
    least = _FAR
    for i in range(len(block)):
        least = min(least, np.uint8(block[i] ^ one), np.uint8(block[i] ^ other))
    return bool(least == 0)


@lean
def count_lf(octets: Octets, start: int, end: int) -> int:
    """The LF octets in `octets[start:end]`."""
    count = 0
    while start < end:
        part = octets[start : min(end, start + _COUNTED)]
        few = np.uint8(0)
        for i in range(len(part)):
            few = np.uint8(few + np.uint8(part[i] == 10))
        count += int(few)
        start += _COUNTED
    return count


@inlined
def lower(octet: np.uint8) -> np.uint8:
    """A letter in lower case, any other octet as it is."""
    return np.uint8(octet | (_CASE * np.uint8(65 <= octet <= 90)))


@inlined
def copy(octets: Octets, start: int, end: int, into: Octets, at: int) -> int:
    """Copy `octets[start:end]` to `into[at:]`, where there must be room; where the copy ends."""
    if IS_COMPILED:  # for short strings, too, several times as fast as a loop
        _memcpy(into.ctypes.data + np.uintp(at), octets.ctypes.data + np.uintp(start), np.uintp(end - start))
    else:
        into[at : at + end - start] = octets[start:end]
    return at + end - start
