"""Columns of octet strings that lie end to end: sorting, comparing and cutting them, compiled.

A column is `octets` and `offsets`: string i is `octets[offsets[i]:offsets[i + 1]]`, as in Arrow. No string holds the
octet 0 (none of a URN's is), so that a string which is the beginning of another comes before it when both are read in
words of eight octets that are filled up with zeros.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from urnscan.compiled import compiled

__all__ = ["Integers", "Octets", "Offsets", "Rows", "argsort_pairs", "compare", "cut", "same"]

Octets = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]

_FEW = 12  # so few rows are sorted by insertion


@compiled
def _word(octets: Octets, start: int, end: int) -> np.uint64:
    """The first eight octets of `octets[start:end]` as a number that orders as they do; zeros fill it up."""
    word = np.uint64(0)
    part = octets[start : min(end, start + 8)]
    if len(part) == 8:
        for i in range(8):
            word = (word << np.uint64(8)) | np.uint64(part[i])
        return word
    for i in range(len(part)):
        word |= np.uint64(part[i]) << np.uint64(56 - 8 * i)
    return word


@compiled
def _pair_word(
    row: int, depth: int, shared: int, first: Octets, first_offsets: Offsets, second: Octets, second_offsets: Offsets
) -> np.uint64:
    """Word number `depth` of a pair: the words of its first string, one that is not full among them, then the second's."""
    start, end = first_offsets[row] + shared, first_offsets[row + 1]
    words = (end - start) // 8 + 1
    if depth < words:
        return _word(octets=first, start=start + 8 * depth, end=end)
    return _word(octets=second, start=second_offsets[row] + 8 * (depth - words), end=second_offsets[row + 1])


@compiled
def argsort_pairs(shared: int, first: Octets, first_offsets: Offsets, second: Octets, second_offsets: Offsets) -> Rows:
    """The rows in the order of their pairs (first string, second string); equal pairs in any order.

    `shared` is how many octets all first strings have in common at their beginning.

    Multikey quicksort with a word of eight octets of each row at hand (J. Kärkkäinen, T. Rantala, "Engineering Radix
    Sort for Strings", SPIRE 2008): a comparison reads the strings themselves only where the words before are equal.
    """
    total = len(first_offsets) - 1
    rows = np.arange(total).astype(np.int32)
    words = np.empty(total, np.uint64)
    for i in range(total):
        words[i] = _pair_word(i, 0, shared, first, first_offsets, second, second_offsets)
    # Parts still to sort: from, to, depth. The larger part waits, so the stack stays small.
    stack = [(0, total, 0)]
    jump = 1
    while len(stack):
        low, high, depth = stack.pop()
        while high - low > 1:
            if high - low <= _FEW:
                for i in range(low + 1, high):
                    word, row = words[i], rows[i]
                    j = i
                    while j > low and words[j - 1] > word:
                        words[j], rows[j] = words[j - 1], rows[j - 1]
                        j -= 1
                    words[j], rows[j] = word, row
                i = low
                while i < high:
                    j = i + 1
                    while j < high and words[j] == words[i]:
                        j += 1
                    if j - i > 1 and _goes_on(rows[i], depth, words[i], shared, first_offsets):
                        for k in range(i, j):
                            words[k] = _pair_word(
                                rows[k], depth + 1, shared, first, first_offsets, second, second_offsets
                            )
                        stack.append((i, j, depth + 1))
                    i = j
                break
            # Pivots from places that jump about: fixed ones meet their own swaps again, and sorted input takes forever.
            jump = (jump * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
            pivot = _median(words[low], words[low + jump % (high - low)], words[low + (jump >> 8) % (high - low)])
            less, at, more = low, low, high
            while at < more:
                word = words[at]
                if word < pivot:
                    words[at], words[less] = words[less], word
                    rows[at], rows[less] = rows[less], rows[at]
                    less += 1
                    at += 1
                elif word > pivot:
                    more -= 1
                    words[at], words[more] = words[more], word
                    rows[at], rows[more] = rows[more], rows[at]
                else:
                    at += 1
            if more - less > 1 and _goes_on(rows[less], depth, pivot, shared, first_offsets):
                for k in range(less, more):
                    words[k] = _pair_word(rows[k], depth + 1, shared, first, first_offsets, second, second_offsets)
                stack.append((less, more, depth + 1))
            if less - low < high - more:
                stack.append((more, high, depth))
                high = less
            else:
                stack.append((low, less, depth))
                low = more
    return rows


@compiled
def _median(a: np.uint64, b: np.uint64, c: np.uint64) -> np.uint64:
    return max(min(a, b), min(max(a, b), c))


@compiled
def _goes_on(row: int, depth: int, word: np.uint64, shared: int, first_offsets: Offsets) -> bool:
    """Whether rows that are equal up to and with this word can still differ: it is full, or the first string's last."""
    words = (first_offsets[row + 1] - first_offsets[row] - shared) // 8 + 1
    return bool((word & np.uint64(255)) != 0 or depth < words)


@compiled
def same(octets: Octets, start: int, end: int, other: Octets, other_start: int, other_end: int) -> bool:
    """Whether two strings are the same octets."""
    if end - start != other_end - other_start:
        return False
    a, b = octets[start:end], other[other_start:other_end]
    different = 0
    for i in range(len(a)):  # no early exit, so it is vectorised
        different += int(a[i] != b[i])
    return different == 0


@compiled
def compare(octets: Octets, start: int, end: int, other: Octets, other_start: int, other_end: int) -> int:
    """Less than, equal to, or greater than 0 as the first string comes before, is, or comes after the other."""
    for i in range(min(end - start, other_end - other_start)):
        difference = np.int64(octets[start + i]) - np.int64(other[other_start + i])
        if difference:
            return int(difference)
    return (end - start) - (other_end - other_start)


@compiled
def cut(octets: Octets, starts: Offsets, ends: Offsets) -> tuple[Octets, Offsets]:
    """The strings `octets[starts[i]:ends[i]]`, in that order, as a column of its own."""
    offsets = np.zeros(len(starts) + 1, np.int32)
    for i in range(len(starts)):
        offsets[i + 1] = offsets[i] + ends[i] - starts[i]
    out = np.empty(offsets[len(starts)], np.uint8)
    for i in range(len(starts)):
        source = octets[starts[i] : ends[i]]
        target = out[offsets[i] : offsets[i + 1]]
        for j in range(len(source)):
            target[j] = source[j]
    return out, offsets
