"""Vectorised loops over bytes: find `urn:`, find either of two bytes, count lines, copy, read a number.

LLVM vectorises a loop that works on single bytes and has no early exit. So a search computes the minimum of the XOR of
bytes, which is 0 where two bytes are equal. This is several times as fast as comparing bytes and collecting booleans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import CASE, COLON, LF, hex_digit
from urnscan.compiled.jit import IS_COMPILED, compiled, from_c, inlined, inner

ByteArray = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

# Number of bytes that are searched for `urn:` at once.
_HUNT = 64
# Number of bytes that are counted at once, so that the count fits into a byte.
_COUNTED = 224
_CASE = np.uint8(CASE)
_U, _R, _N, _COLON = np.frombuffer(b"urn:", np.uint8)
_MAX = np.uint8(255)
# No character has this number.
_NO_CHARACTER = 0x110000
_memcpy = from_c("memcpy", "uintp", "uintp", "uintp", "uintp")


@inlined
def hunt(data: ByteArray, at: int, filled: int, dense_until: int) -> int:
    """Index of the first `urn:` in `data[at:filled]`, in any case. If there is none: an index above `filled - 4`; no
    `urn:` begins before it, and the search must go on there when more bytes follow.

    `filled`: end of the bytes in `data` that are valid. `dense_until` changes only the speed: before this index, blocks
    are searched without a quick check, as `urn:` is likely.
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
    """Start of the first block of _HUNT bytes, from `at` on, in which a `urn:` may begin; else a place less than _HUNT
    + 3 bytes before `filled`, the end of the valid bytes.
    """
    while at + _HUNT + 3 <= filled:
        block = data[at + 2 : at + _HUNT + 3]
        least = _MAX
        for i in range(_HUNT):
            least = min(least, np.uint8((block[i] | _CASE) ^ _N | (block[i + 1] ^ _COLON)))
        if not least:
            break
        at += _HUNT
    return at


@inlined
def _first_scheme(data: ByteArray) -> int:
    """Index of the first `urn:`, in any case, in the first _HUNT + 3 bytes of `data`; -1 without one."""
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
    """Whether the letters `urn`, in any case, begin at `data[at]`. `data[at + 2]` must exist."""
    return bool(data[at + 2] | CASE == _N and data[at + 1] | CASE == _R and data[at] | CASE == _U)


@inlined
def is_scheme(data: ByteArray, at: int) -> bool:
    """Whether `urn:`, in any case, begins at `data[at]`. `data[at + 3]` must exist."""
    return data[at + 3] == COLON and is_urn(data, at)


@inlined
def may_hold(data: ByteArray, at: int, end: int, one: np.uint8, other: np.uint8) -> bool:
    """Whether either of two bytes may be in `data[at:end]`; False is certain. True may also mean a byte in the 16 bytes
    from `end` on, because whole blocks are read; bytes beyond the end of `data` are not read.
    """
    block = data[at : max(at, at + (end - at | 15) + 1)]
    least = _MAX
    for i in range(len(block)):
        least = min(least, np.uint8(block[i] ^ one), np.uint8(block[i] ^ other))
    return bool(least == 0)


@inlined
def holds(data: ByteArray, wanted: int) -> bool:
    """Whether `data` contains the byte `wanted`."""
    # The loop has no early exit and so is vectorised: most texts do not contain the byte.
    least = _MAX
    for i in range(len(data)):
        least = min(least, data[i] ^ np.uint8(wanted))
    return bool(least == 0)


@compiled
def count_lf(data: ByteArray, start: int, end: int) -> int:
    """Number of LF bytes in `data[start:end]`."""
    return occurrences(data, start, end, LF)


@inlined
def occurrences(data: ByteArray, start: int, end: int, byte: int) -> int:
    """Number of occurrences of a byte in `data[start:end]`."""
    count = 0
    while start < end:
        block = data[start : min(end, start + _COUNTED)]
        # The loop is vectorised only if the sum has the type of its terms. `_COUNTED` keeps the sum below 256.
        block_count = np.uint8(0)
        for i in range(len(block)):
            block_count = np.uint8(block_count + np.uint8(block[i] == byte))
        count += int(block_count)
        start += _COUNTED
    return count


@inlined
def find_byte(data: ByteArray, at: int, end: int, byte: int) -> int:
    """Index in `data` of the first occurrence of a byte in `data[at:end]`; `end` without an occurrence. For short
    texts: it is a plain loop.
    """
    while at < end and data[at] != byte:
        at += 1
    return at


@compiled
def join(data: ByteArray, starts: Integers, ends: Integers, separator: int, into: ByteArray) -> None:
    """Copy each `data[starts[i]:ends[i]]` to `into`, in this order from index 0 on, each followed by the byte
    `separator`. `into` must have room for all strings and a byte more for each: nothing is checked.
    """
    at = 0
    for i in range(len(starts)):
        at = copy(data, starts[i], ends[i], into, at)
        into[at] = separator
        at += 1


@inlined
def copy(data: ByteArray, start: int, end: int, into: ByteArray, at: int) -> int:
    """Copy `data[start:end]` to `into[at:]` and return the end of the copy, an index in `into`. `into` must have room
    for `end - start` bytes from `at` on, in memory apart from the source: nothing is checked.
    """
    # memcpy is several times as fast as a loop, also for short strings.
    if IS_COMPILED:
        _memcpy(into.ctypes.data + np.uintp(at), data.ctypes.data + np.uintp(start), np.uintp(end - start))
    else:
        into[at : at + end - start] = data[start:end]
    return at + end - start


@inner
def read_number(data: ByteArray, start: int, end: int, base: int) -> int:
    """The number that the digits in `data[start:end]` represent in base `base` (at most 16; letters in any case).

    -1 for an empty text, and if a byte is not a digit in this base. A number above 0x10FFFF, the last code point of
    Unicode, becomes 0x110000.
    """
    number = 0
    for i in range(start, end):
        digit = hex_digit(data[i])
        if digit == -1 or digit >= base:
            return -1
        number = min(number * base + digit, _NO_CHARACTER)
    return -1 if start == end else number
