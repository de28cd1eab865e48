"""Columns of octet strings that lie end to end: sorting, comparing and cutting them, compiled.

A column is `octets` and `offsets`: string i is `octets[offsets[i]:offsets[i + 1]]`, as in Arrow. Strings are compared
in words of eight octets, filled up with zeros. No URN holds the octet 0, so a prefix of a string sorts before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import compiled, inlined, inner, read_only
from urnscan.arrays.octets import Integers, Octets, copy

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


class Sorting(NamedTuple):
    """Rows, the word of each by which they are sorted, and room to sort them."""

    rows: Rows
    words: Words
    spare_rows: Rows
    spare_words: Words
    counts: Integers
    """Room for 256 counts for each octet of a word."""

    @classmethod
    def of(cls, total: int) -> Sorting:
        """Rows from 0 on, in this order; their words are not set."""
        rows, words = np.arange(total, dtype=np.int32), np.empty(total, np.uint64)
        return cls(rows, words, np.empty_like(rows), np.empty_like(words), np.empty((8, 256), np.int64))


def argsort_pairs(shared: int, firsts: Column, seconds: Column) -> Rows:
    """The rows in the order of their pairs (first string, second string); equal pairs keep their order.

    All first strings begin with the same `shared` octets.
    """
    sorting = Sorting.of(len(firsts[1]) - 1)
    parts = np.empty((len(sorting.rows) // 2 + 1, 3), np.int64)
    _sort_pairs(shared, _read_only(firsts), _read_only(seconds), sorting, parts)
    return sorting.rows


def _read_only(column: Column) -> Column:
    octets, offsets = column
    return read_only(octets), read_only(offsets)


@compiled
def _sort_pairs(shared: int, firsts: Column, seconds: Column, sorting: Sorting, parts: Integers) -> None:
    """Radix sort, word by word: rows are sorted by a word of eight octets, then rows with the same word by the next, in
    time linear in the octets that have to be looked at.

    `parts` has room for the parts that are still to be sorted, of two rows or more each: from, to, depth.
    """
    rows, words = sorting.rows, sorting.words
    for i in range(len(rows)):
        words[i] = _pair_word(i, 0, shared, firsts, seconds)
    parts[0, 0], parts[0, 1], parts[0, 2] = 0, len(rows), 0
    waiting = 1
    while waiting:
        waiting -= 1
        low, high, depth = parts[waiting, 0], parts[waiting, 1], parts[waiting, 2]
        sort_words(sorting, low, high)
        i = low
        while i < high:
            word = words[i]
            j = i + 1
            while j < high and words[j] == word:
                j += 1
            if j - i > 1 and _goes_on(rows[i], depth, word, shared, firsts[1]):
                for k in range(i, j):
                    words[k] = _pair_word(rows[k], depth + 1, shared, firsts, seconds)
                parts[waiting, 0], parts[waiting, 1], parts[waiting, 2] = i, j, depth + 1
                waiting += 1
            i = j


@inner
def sort_words(sorting: Sorting, low: int, high: int) -> None:
    """Sort the rows from `low` to `high`, and their words, by the words; rows with equal words keep their order."""
    rows, words = sorting.rows[low:high], sorting.words[low:high]
    if high - low > _FEW:
        _radix_sort(words, rows, sorting.spare_words[low:high], sorting.spare_rows[low:high], sorting.counts)
        return
    for i in range(1, len(words)):
        word, row = words[i], rows[i]
        j = i
        while j > 0 and words[j - 1] > word:
            words[j], rows[j] = words[j - 1], rows[j - 1]
            j -= 1
        words[j], rows[j] = word, row


@inner
def _radix_sort(words: Words, rows: Rows, spare_words: Words, spare_rows: Rows, counts: Integers) -> None:
    """Sort by the words, octet by octet from the last; an octet that is equal in all words costs no pass."""
    for digit in range(8):
        for octet in range(256):
            counts[digit, octet] = 0
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
        for i in range(len(words)):  # NumPy's assignment of a slice takes seconds to compile, for its message of error
            spare_words[i] = words[i]
            spare_rows[i] = rows[i]


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


@inner
def compare(octets: Octets, start: int, end: int, other: Octets, other_start: int, other_end: int) -> int:
    """A number less than 0, 0 or greater than 0, if the first string sorts before, with or after the other."""
    for i in range(min(end - start, other_end - other_start)):
        difference = np.int64(octets[start + i]) - np.int64(other[other_start + i])
        if difference:
            return int(difference)
    return (end - start) - (other_end - other_start)


def cut(octets: Octets, starts: Offsets, ends: Offsets) -> Column:
    """A new column of the strings `octets[starts[i]:ends[i]]`."""
    offsets = np.empty(len(starts) + 1, np.int32)
    starts = read_only(starts)
    _add_lengths(starts, read_only(ends), offsets)
    out = np.empty(offsets[-1], np.uint8)
    _copy_strings(read_only(octets), starts, offsets, out)
    return out, offsets


def take(octets: Octets, offsets: Offsets, rows: Rows) -> Column:
    """A new column of the strings in these rows."""
    return cut(octets, take_numbers(offsets, rows), take_numbers(offsets[1:], rows))


def take_numbers(numbers: npt.NDArray[_Number], rows: Rows) -> npt.NDArray[_Number]:
    """A new column of the numbers in these rows. NumPy would hold the GIL for most of it."""
    out = np.empty(len(rows), numbers.dtype)
    _take_numbers(read_only(numbers), read_only(rows), out)
    return out


@compiled
def _add_lengths(starts: Offsets, ends: Offsets, offsets: Offsets) -> None:
    """The offsets of strings that lie end to end, by their places in another text."""
    offset = offsets[0] = 0
    for i in range(len(starts)):
        offset += ends[i] - starts[i]
        offsets[i + 1] = offset


@compiled
def _copy_strings(octets: Octets, starts: Offsets, offsets: Offsets, out: Octets) -> None:
    """Copy the strings that begin at `starts` to their `offsets` in `out`."""
    for i in range(len(starts)):
        copy(octets, starts[i], starts[i] + offsets[i + 1] - offsets[i], out, offsets[i])


@compiled
def _take_numbers(numbers: npt.NDArray[_Number], rows: Rows, out: npt.NDArray[_Number]) -> None:
    for i in range(len(rows)):
        out[i] = numbers[rows[i]]


def spread(octets: Octets, offsets: Offsets, parts: int) -> Rows:
    """A hash (FNV-1a) of each string, below `parts`, which is a power of two."""
    numbers = np.empty(len(offsets) - 1, np.int32)
    _spread(octets, offsets, parts, numbers)
    return numbers


@compiled
def _spread(octets: Octets, offsets: Offsets, parts: int, numbers: Rows) -> None:
    for i in range(len(numbers)):
        value = np.uint64(0xCBF29CE484222325)
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(octets[j])) * np.uint64(0x100000001B3)
        numbers[i] = np.int32((value ^ (value >> np.uint64(32))) & np.uint64(parts - 1))


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
    for number, word in enumerate(words):
        slot = _slot(word, 0, len(word), len(slots))
        while slots[slot] != -1:
            slot = (slot + 1) % len(slots)
        slots[slot] = number
    return Vocabulary(octets, offsets, read_only(slots))


def _slot(octets: Octets | bytes, start: int, end: int, slots: int) -> int:
    """The slot in which the search for `octets[start:end]` begins; `slots` is a power of two."""
    value = 0
    for i in range(start, end):
        value = (value * 31 + int(np.int64(octets[i]))) & 0xFFFFFF
    return int((value ^ (value >> 9)) & (slots - 1))


_compiled_slot = inner(_slot)


@inner
def word_number(octets: Octets, start: int, end: int, words: Vocabulary) -> int:
    """The number of the word `octets[start:end]`, from 0, or -1."""
    slot = _compiled_slot(octets, start, end, len(words.slots))
    while words.slots[slot] != -1:
        number = words.slots[slot]
        if same(octets, start, end, words.octets, words.offsets[number], words.offsets[number + 1]):
            return int(number)
        slot = (slot + 1) % len(words.slots)
    return -1
