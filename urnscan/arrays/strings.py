"""Columns of octet strings that lie end to end: sorting, comparing and cutting them, compiled.

A column is `octets` and `offsets`: string i is `octets[offsets[i]:offsets[i + 1]]`, as in Arrow. Strings are compared
in words of eight octets, filled up with zeros. No URN holds the octet 0, so a prefix of a string sorts before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import compiled, inlined, lean, read_only
from urnscan.arrays.octets import Integers, Octets, copy

__all__ = [
    "Column",
    "Integers",
    "Octets",
    "Offsets",
    "Rows",
    "Vocabulary",
    "Words",
    "argsort_pairs",
    "compare",
    "cut",
    "index_words",
    "same",
    "spread",
    "take",
    "take_numbers",
    "word",
    "word_number",
]

Offsets = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Column = tuple[Octets, Offsets]
"""Octets and offsets of a column of strings."""
_Number = TypeVar("_Number", np.int32, np.int64)

_FEW = 32  # rows; fewer are sorted by insertion


@inlined
def word(octets: Octets, start: int, end: int) -> np.uint64:
    """The first eight octets of `octets[start:end]`, filled up with zeros, as a number that sorts in the same order."""
    word = np.uint64(0)
    part = octets[start : min(end, start + 8)]
    if len(part) == 8:
        for i in range(8):
            word = (word << np.uint64(8)) | np.uint64(part[i])
        return word
    for i in range(len(part)):
        word |= np.uint64(part[i]) << np.uint64(56 - 8 * i)
    return word


@inlined
def _pair_word(row: int, depth: int, shared: int, firsts: Column, seconds: Column) -> np.uint64:
    """Word number `depth` of a pair: the words of its first string, the last of them not full, then the second's."""
    first, first_offsets = firsts
    second, second_offsets = seconds
    start, end = first_offsets[row] + shared, first_offsets[row + 1]
    words = (end - start) // 8 + 1
    if depth < words:
        return word(first, start + 8 * depth, end)
    return word(second, second_offsets[row] + 8 * (depth - words), second_offsets[row + 1])


@compiled
def argsort_pairs(shared: int, firsts: Column, seconds: Column) -> Rows:
    """The rows in the order of their pairs (first string, second string); equal pairs keep their order.

    All first strings begin with the same `shared` octets.

    Radix sort, word by word: rows are sorted by a word of eight octets, then rows with the same word by the next. The
    time is linear in the octets that have to be looked at, for any strings.
    """
    first_offsets = firsts[1]
    total = len(first_offsets) - 1
    rows = np.arange(total).astype(np.int32)
    words = np.empty(total, np.uint64)
    for i in range(total):
        words[i] = _pair_word(i, 0, shared, firsts, seconds)
    spare_rows, spare_words = np.empty_like(rows), np.empty_like(words)
    counts = np.empty((8, 256), np.int64)
    parts = [(0, total, 0)]  # from, to, depth: still to be sorted
    while len(parts):
        low, high, depth = parts.pop()
        if high - low <= _FEW:
            _insertion_sort(words[low:high], rows[low:high])
        else:
            _radix_sort(words[low:high], rows[low:high], spare_words[low:high], spare_rows[low:high], counts)
        i = low
        while i < high:
            word = words[i]
            j = i + 1
            while j < high and words[j] == word:
                j += 1
            if j - i > 1 and _goes_on(rows[i], depth, word, shared, first_offsets):
                for k in range(i, j):
                    words[k] = _pair_word(rows[k], depth + 1, shared, firsts, seconds)
                parts.append((i, j, depth + 1))
            i = j
    return rows


@lean
def _insertion_sort(words: Words, rows: Rows) -> None:
    for i in range(1, len(words)):
        word, row = words[i], rows[i]
        j = i
        while j > 0 and words[j - 1] > word:
            words[j], rows[j] = words[j - 1], rows[j - 1]
            j -= 1
        words[j], rows[j] = word, row


@compiled
def _radix_sort(words: Words, rows: Rows, spare_words: Words, spare_rows: Rows, counts: Integers) -> None:
    """Sort by the words, octet by octet from the last; an octet that is equal in all words costs no pass."""
    counts[:] = 0
    for i in range(len(words)):
        word = words[i]
        for digit in range(8):
            counts[digit, (word >> np.uint64(8 * digit)) & np.uint64(255)] += 1
    in_place = True
    for digit in range(8):
        shift = np.uint64(8 * digit)
        if counts[digit, (words[0] >> shift) & np.uint64(255)] == len(words):
            continue
        begin = 0
        for octet in range(256):
            begin, counts[digit, octet] = begin + counts[digit, octet], begin
        for i in range(len(words)):
            octet = (words[i] >> shift) & np.uint64(255)
            to = counts[digit, octet]
            counts[digit, octet] = to + 1
            spare_words[to] = words[i]
            spare_rows[to] = rows[i]
        words, spare_words = spare_words, words
        rows, spare_rows = spare_rows, rows
        in_place = not in_place
    if not in_place:
        spare_words[:] = words
        spare_rows[:] = rows


@inlined
def _goes_on(row: int, depth: int, word: np.uint64, shared: int, first_offsets: Offsets) -> bool:
    """Whether rows whose words are equal up to this one can still differ behind it."""
    words = (first_offsets[row + 1] - first_offsets[row] - shared) // 8 + 1
    return bool((word & np.uint64(255)) != 0 or depth < words)


@inlined
def same(octets: Octets, start: int, end: int, other: Octets, other_start: int, other_end: int) -> bool:
    """Whether two strings are equal."""
    if end - start != other_end - other_start:
        return False
    a, b = octets[start:end], other[other_start:other_end]
    different = 0
    for i in range(len(a)):  # no early exit, so it is vectorised
        different += int(a[i] != b[i])
    return different == 0


@lean
def compare(octets: Octets, start: int, end: int, other: Octets, other_start: int, other_end: int) -> int:
    """A number less than 0, 0 or greater than 0, if the first string sorts before, with or after the other."""
    for i in range(min(end - start, other_end - other_start)):
        difference = np.int64(octets[start + i]) - np.int64(other[other_start + i])
        if difference:
            return int(difference)
    return (end - start) - (other_end - other_start)


@compiled
def cut(octets: Octets, starts: Offsets, ends: Offsets) -> tuple[Octets, Offsets]:
    """A new column of the strings `octets[starts[i]:ends[i]]`."""
    offsets = np.zeros(len(starts) + 1, np.int32)
    for i in range(len(starts)):
        offsets[i + 1] = offsets[i] + ends[i] - starts[i]
    out = np.empty(offsets[len(starts)], np.uint8)
    for i in range(len(starts)):
        copy(octets, starts[i], ends[i], out, offsets[i])
    return out, offsets


@compiled
def take(octets: Octets, offsets: Offsets, rows: Rows | Integers) -> tuple[Octets, Offsets]:
    """A new column of the strings in these rows."""
    taken = np.zeros(len(rows) + 1, np.int32)
    for i in range(len(rows)):
        taken[i + 1] = taken[i] + offsets[rows[i] + 1] - offsets[rows[i]]
    out = np.empty(taken[len(rows)], np.uint8)
    for i in range(len(rows)):
        copy(octets, offsets[rows[i]], offsets[rows[i] + 1], out, taken[i])
    return out, taken


@compiled
def take_numbers(numbers: npt.NDArray[_Number], rows: Rows | Integers) -> npt.NDArray[_Number]:
    """A new column of the numbers in these rows. NumPy would hold the GIL for most of it."""
    taken = np.empty(len(rows), numbers.dtype)
    for i in range(len(rows)):
        taken[i] = numbers[rows[i]]
    return taken


@compiled
def spread(octets: Octets, offsets: Offsets, parts: int) -> Rows:
    """A hash (FNV-1a) of each string, below `parts`, which is a power of two."""
    numbers = np.empty(len(offsets) - 1, np.int32)
    for i in range(len(numbers)):
        value = np.uint64(0xCBF29CE484222325)
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(octets[j])) * np.uint64(0x100000001B3)
        numbers[i] = np.int32((value ^ (value >> np.uint64(32))) & np.uint64(parts - 1))
    return numbers


class Vocabulary(NamedTuple):
    """A hash table of a few words: each in the slot of its hash, or the next free one."""

    octets: Octets
    offsets: Offsets
    slots: Rows


def index_words(words: Sequence[bytes]) -> Vocabulary:
    """The vocabulary of some words, all different."""
    octets = read_only(np.frombuffer(b"".join(words), np.uint8))
    offsets = read_only(np.cumsum([0, *map(len, words)]).astype(np.int32))
    slots = np.full(1 << (4 * len(words)).bit_length(), -1, np.int32)  # most stay empty
    for number in range(len(words)):
        slot = _slot(octets, offsets[number], offsets[number + 1], len(slots))
        while slots[slot] != -1:
            slot = (slot + 1) % len(slots)
        slots[slot] = number
    return Vocabulary(octets, offsets, read_only(slots))


@lean
def word_number(octets: Octets, start: int, end: int, words: Vocabulary) -> int:
    """The number of the word `octets[start:end]`, from 0, or -1."""
    slot = _slot(octets, start, end, len(words.slots))
    while words.slots[slot] != -1:
        number = words.slots[slot]
        if same(octets, start, end, words.octets, words.offsets[number], words.offsets[number + 1]):
            return int(number)
        slot = (slot + 1) % len(words.slots)
    return -1


@lean
def _slot(octets: Octets, start: int, end: int, slots: int) -> int:
    """The slot in which the search for `octets[start:end]` begins; `slots` is a power of two."""
    value = 0
    for i in range(start, end):
        value = (value * 31 + int(np.int64(octets[i]))) & 0xFFFFFF
    return int((value ^ (value >> 9)) & (slots - 1))
