"""Vectorised loops over octets: find `urn:`, find one of two octets, count lines, copy; and numbers.

LLVM vectorises a loop if it works on single octets and has no early exit. So a search computes the minimum of the XOR
of octets: XOR is 0 where two octets are equal. This is several times as fast as comparing and collecting booleans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import CASE, COLON, LF, hex_digit
from urnscan.compiled.jit import IS_COMPILED, compiled, from_c, inlined, inner

Octets = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

# Octets that are searched for `urn:` at once.
_HUNT = 64
# Octets that are counted at once; their count fits into one octet.
_COUNTED = 224
_CASE = np.uint8(CASE)
_U, _R, _N, _COLON = np.frombuffer(b"urn:", np.uint8)
_MOST = np.uint8(255)
# No character has this number.
_NO_CHARACTER = 0x110000
_memcpy = from_c("memcpy", "uintp", "uintp", "uintp", "uintp")


@inlined
def hunt(octets: Octets, at: int, filled: int, dense_until: int) -> int:
    """First place of `urn:` from `at` on, in any case. Without one, the place near the end where `urn:` may still begin.

    A quick check skips blocks without `urn:`. Blocks that begin before `dense_until` are searched without this check,
    since another `urn:` is likely there.
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
    """Beginning of the first block of _HUNT octets from `at` on that contains the "n:" of a `urn:`; else the end of the
    last block.
    """
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
    """Whether the letters `urn` are at `at`, in any case."""
    return bool(octets[at + 2] | CASE == _N and octets[at + 1] | CASE == _R and octets[at] | CASE == _U)


@inlined
def is_scheme(octets: Octets, at: int) -> bool:
    """Whether `urn:` is at `at`, in any case."""
    return octets[at + 3] == COLON and is_urn(octets, at)


@inlined
def may_hold(octets: Octets, at: int, end: int, one: np.uint8, other: np.uint8) -> bool:
    """Whether the octet `one` or `other` may be in `octets[at:end]`.

    The search reads whole blocks of 16 octets, which is fast. So the octet may also be up to 15 places after `end`.
    """
    block = octets[at : max(at, at + (end - at | 15) + 1)]
    least = _MOST
    for i in range(len(block)):
        least = min(least, np.uint8(block[i] ^ one), np.uint8(block[i] ^ other))
    return bool(least == 0)


@inlined
def holds(octets: Octets, wanted: int) -> bool:
    """Whether an octet occurs in others. It has no early exit, so it is vectorised: most texts do not have the octet."""
    least = _MOST
    for i in range(len(octets)):
        least = min(least, octets[i] ^ np.uint8(wanted))
    return bool(least == 0)


@compiled
def count_lf(octets: Octets, start: int, end: int) -> int:
    """Number of LF octets in `octets[start:end]`."""
    return occurrences(octets, start, end, LF)


@inlined
def occurrences(octets: Octets, start: int, end: int, octet: int) -> int:
    """Number of occurrences of an octet in `octets[start:end]`."""
    count = 0
    while start < end:
        block = octets[start : min(end, start + _COUNTED)]
        # The loop is vectorised only if the sum has the type of its terms. `_COUNTED` keeps it below 256.
        block_count = np.uint8(0)
        for i in range(len(block)):
            block_count = np.uint8(block_count + np.uint8(block[i] == octet))
        count += int(block_count)
        start += _COUNTED
    return count


@inlined
def find_octet(octets: Octets, at: int, end: int, octet: int) -> int:
    """First place of an octet in `octets[at:end]`; `end` if it is not there. For short ways: it reads octet by octet."""
    while at < end and octets[at] != octet:
        at += 1
    return at


@compiled
def join(octets: Octets, starts: Integers, ends: Integers, separator: int, into: Octets) -> None:
    """Copy each `octets[starts[i]:ends[i]]` to `into`, one after the other, with the separator after each."""
    at = 0
    for i in range(len(starts)):
        at = copy(octets, starts[i], ends[i], into, at)
        into[at] = separator
        at += 1


@inlined
def copy(octets: Octets, start: int, end: int, into: Octets, at: int) -> int:
    """Copy `octets[start:end]` to `into[at:]` and return the end of the copy. `into` must have room."""
    # memcpy is several times as fast as a loop, also for short strings.
    if IS_COMPILED:
        _memcpy(into.ctypes.data + np.uintp(at), octets.ctypes.data + np.uintp(start), np.uintp(end - start))
    else:
        into[at : at + end - start] = octets[start:end]
    return at + end - start


@inner
def read_number(octets: Octets, start: int, end: int, base: int) -> int:
    """The number in `octets[start:end]`; -1 without digits or with other octets. A number above Unicode becomes 0x110000."""
    number = 0
    for i in range(start, end):
        digit = hex_digit(octets[i])
        if digit == -1 or digit >= base:
            return -1
        number = min(number * base + digit, _NO_CHARACTER)
    return -1 if start == end else number
