"""Vectorised loops over bytes: find `urn:`, find one of two bytes, count lines, copy; and numbers.

LLVM vectorises a loop if it works on single bytes and has no early exit. So a search computes the minimum of the XOR
of bytes: XOR is 0 where two bytes are equal. This is several times as fast as comparing and collecting booleans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import CASE, COLON, LF, hex_digit
from urnscan.compiled.jit import IS_COMPILED, compiled, from_c, inlined, inner

ByteArray = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

# Bytes that are searched for `urn:` at once.
_HUNT = 64
# Bytes that are counted at once; their count fits into one byte.
_COUNTED = 224
_CASE = np.uint8(CASE)
_U, _R, _N, _COLON = np.frombuffer(b"urn:", np.uint8)
_MOST = np.uint8(255)
# No character has this number.
_NO_CHARACTER = 0x110000
_memcpy = from_c("memcpy", "uintp", "uintp", "uintp", "uintp")


@inlined
def hunt(data: ByteArray, at: int, filled: int, dense_until: int) -> int:
    """First place of `urn:` from `at` on, in any case. Without one, the place near the end where `urn:` may still begin.

    A quick check skips blocks without `urn:`. Blocks that begin before `dense_until` are searched without this check,
    since another `urn:` is likely there.
    """
    while at + 4 <= filled:
        if at >= dense_until:
            at = _pass_over(data, at, filled)
        first = _first_scheme(data[at : min(at + _HUNT + 3, filled)])
        if first != -1:
            return at + first
        at = min(at + _HUNT, filled - 3)
    return at


@inlined
def _pass_over(data: ByteArray, at: int, filled: int) -> int:
    """Beginning of the first block of _HUNT bytes from `at` on that contains the "n:" of a `urn:`; else the end of the
    last block.
    """
    while at + _HUNT + 3 <= filled:
        block = data[at + 2 : at + _HUNT + 3]
        least = _MOST
        for i in range(_HUNT):
            least = min(least, np.uint8((block[i] | _CASE) ^ _N | (block[i + 1] ^ _COLON)))
        if not least:
            break
        at += _HUNT
    return at


@inlined
def _first_scheme(data: ByteArray) -> int:
    """First place of `urn:` in up to _HUNT + 3 bytes, in any case, or -1."""
    if len(data) < _HUNT + 3:
        for i in range(len(data) - 3):
            if is_scheme(data, i):
                return i
        return -1
    first = np.uint8(_HUNT)
    for i in range(_HUNT):
        differs = np.uint8(
            ((data[i] | _CASE) ^ _U)
            | ((data[i + 1] | _CASE) ^ _R)
            | ((data[i + 2] | _CASE) ^ _N)
            | (data[i + 3] ^ _COLON)
        )
        first = min(first, np.uint8(_HUNT) if differs else np.uint8(i))
    return int(first) if first < _HUNT else -1


@inlined
def is_urn(data: ByteArray, at: int) -> bool:
    """Whether the letters `urn` are at `at`, in any case."""
    return bool(data[at + 2] | CASE == _N and data[at + 1] | CASE == _R and data[at] | CASE == _U)


@inlined
def is_scheme(data: ByteArray, at: int) -> bool:
    """Whether `urn:` is at `at`, in any case."""
    return data[at + 3] == COLON and is_urn(data, at)


@inlined
def may_hold(data: ByteArray, at: int, end: int, one: np.uint8, other: np.uint8) -> bool:
    """Whether the byte `one` or `other` may be in `bytes[at:end]`.

    The search reads whole blocks of 16 bytes, which is fast. So the byte may also be up to 15 places after `end`.
    """
    block = data[at : max(at, at + (end - at | 15) + 1)]
    least = _MOST
    for i in range(len(block)):
        least = min(least, np.uint8(block[i] ^ one), np.uint8(block[i] ^ other))
    return bool(least == 0)


@inlined
def holds(data: ByteArray, wanted: int) -> bool:
    """Whether a byte occurs in others. It has no early exit, so it is vectorised: most texts do not have the byte."""
    least = _MOST
    for i in range(len(data)):
        least = min(least, data[i] ^ np.uint8(wanted))
    return bool(least == 0)


@compiled
def count_lf(data: ByteArray, start: int, end: int) -> int:
    """Number of LF bytes in `bytes[start:end]`."""
    return occurrences(data, start, end, LF)


@inlined
def occurrences(data: ByteArray, start: int, end: int, byte: int) -> int:
    """Number of occurrences of a byte in `bytes[start:end]`."""
    count = 0
    while start < end:
        block = data[start : min(end, start + _COUNTED)]
        # The loop is vectorised only if the sum has the type of its terms. `_COUNTED` keeps it below 256.
        block_count = np.uint8(0)
        for i in range(len(block)):
            block_count = np.uint8(block_count + np.uint8(block[i] == byte))
        count += int(block_count)
        start += _COUNTED
    return count


@inlined
def find_byte(data: ByteArray, at: int, end: int, byte: int) -> int:
    """First place of a byte in `bytes[at:end]`; `end` if it is not there. For short ways: it reads byte by byte."""
    while at < end and data[at] != byte:
        at += 1
    return at


@compiled
def join(data: ByteArray, starts: Integers, ends: Integers, separator: int, into: ByteArray) -> None:
    """Copy each `bytes[starts[i]:ends[i]]` to `into`, one after the other, with the separator after each."""
    at = 0
    for i in range(len(starts)):
        at = copy(data, starts[i], ends[i], into, at)
        into[at] = separator
        at += 1


@inlined
def copy(data: ByteArray, start: int, end: int, into: ByteArray, at: int) -> int:
    """Copy `bytes[start:end]` to `into[at:]` and return the end of the copy. `into` must have room."""
    # memcpy is several times as fast as a loop, also for short strings.
    if IS_COMPILED:
        _memcpy(into.ctypes.data + np.uintp(at), data.ctypes.data + np.uintp(start), np.uintp(end - start))
    else:
        into[at : at + end - start] = data[start:end]
    return at + end - start


@inner
def read_number(data: ByteArray, start: int, end: int, base: int) -> int:
    """The number in `bytes[start:end]`; -1 without digits or with other bytes. A number above Unicode becomes 0x110000."""
    number = 0
    for i in range(start, end):
        digit = hex_digit(data[i])
        if digit == -1 or digit >= base:
            return -1
        number = min(number * base + digit, _NO_CHARACTER)
    return -1 if start == end else number
