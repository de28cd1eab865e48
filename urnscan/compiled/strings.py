"""Columns of byte strings, stored without gaps: sorting, comparing and selecting strings, compiled.

A column is `data` and `offsets`: string i is `data[offsets[i]:offsets[i + 1]]`, as in Arrow. Strings are compared in
words of eight bytes; the last word is padded with zeros. No URN contains the byte 0, so `urn:a` sorts before `urn:ab`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from urnscan.compiled.bytes import ByteArray, Integers, copy
from urnscan.compiled.jit import compiled, inlined, inner, read_only

Offsets = npt.NDArray[np.int32]
RowNumbers = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Column = tuple[ByteArray, Offsets]
"""Bytes and offsets of a column of strings; n strings have n + 1 offsets."""
_Number = TypeVar("_Number", np.int32, np.int64)

# Maximum number of rows that are sorted by insertion.
_FEW = 32


@inlined
def word(data: ByteArray, start: int, end: int) -> np.uint64:
    """The first eight bytes of `data[start:end]`, padded with zeros, as a number that sorts in the same order as bytes."""
    word = np.uint64(0)
    prefix = data[start : min(end, start + 8)]
    if len(prefix) == 8:
        for i in range(8):
            word = (word << np.uint64(8)) | np.uint64(prefix[i])
        return word
    for i in range(len(prefix)):
        word |= np.uint64(prefix[i]) << np.uint64(56 - 8 * i)
    return word


@inlined
def _pair_word(row: int, depth: int, shared: int, firsts: Column, seconds: Column) -> np.uint64:
    """Word number `depth`, from 0, of the pair of strings in a row: first the words (eight bytes as a number) of the
    first string without its first `shared` bytes, then those of the second.
    """
    # The last word of the first string has at least one zero, which separates the two strings.
    first, first_offsets = firsts
    second, second_offsets = seconds
    start, end = first_offsets[row] + shared, first_offsets[row + 1]
    words = (end - start) // 8 + 1
    if depth < words:
        return word(first, start + 8 * depth, end)
    return word(second, second_offsets[row] + 8 * (depth - words), second_offsets[row + 1])


class Sorting(NamedTuple):
    """State of a sort: row numbers, the word (eight bytes of a string, as a number) by which each row is sorted, and
    working memory.
    """

    rows: RowNumbers
    words: Words
    spare_rows: RowNumbers
    spare_words: Words
    counts: Integers
    """Working memory for counts: 256 for each of the eight bytes of a word."""

    @classmethod
    def of(cls, total: int) -> Sorting:
        """A new state with the rows 0 to `total - 1`, in this order. The caller must set the words before a sort."""
        rows, words = np.arange(total, dtype=np.int32), np.empty(total, np.uint64)
        return cls(rows, words, np.empty_like(rows), np.empty_like(words), np.empty((8, 256), np.int64))


def argsort_pairs(shared: int, firsts: Column, seconds: Column) -> RowNumbers:
    """The numbers of all rows, sorted by first string, then by second string, each in the order of bytes. Equal pairs
    keep their order. The columns are not changed; both must have the same number of strings, none with the byte 0.

    All first strings must begin with the same bytes, `shared` in number, which are not compared.
    """
    sorting = Sorting.of(len(firsts[1]) - 1)
    parts = np.empty((len(sorting.rows) // 2 + 1, 3), np.int64)
    _sort_pairs(shared, _read_only(firsts), _read_only(seconds), sorting, parts)
    return sorting.rows


def _read_only(column: Column) -> Column:
    data, offsets = column
    return read_only(data), read_only(offsets)


@compiled
def _sort_pairs(shared: int, firsts: Column, seconds: Column, sorting: Sorting, parts: Integers) -> None:
    """Sort `sorting`, a new `Sorting`, by the pairs of strings, without the first `shared` bytes of the first strings.
    `parts` is working memory of at least half as many rows as `sorting`, and one more.
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
    """Sort `rows[low:high]` and `words[low:high]` of `sorting` by the words (eight bytes of each string, as a number), in
    place. Rows with equal words keep their order.
    """
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
def _radix_sort(words: Words, rows: RowNumbers, spare_words: Words, spare_rows: RowNumbers, counts: Integers) -> None:
    """Sort rows and words by the words, in place; equal words keep their order. The other arrays are working memory.
    Precondition: at least one word.
    """
    for digit in range(8):
        for byte in range(256):
            counts[digit, byte] = 0
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
        for byte in range(256):
            begin, counts[digit, byte] = begin + counts[digit, byte], begin
        for i in range(len(words)):
            byte = (words[i] >> shift) & np.uint64(255)
            to = counts[digit, byte]
            counts[digit, byte] = to + 1
            spare_words[to] = words[i]
            spare_rows[to] = rows[i]
        words, spare_words = spare_words, words
        rows, spare_rows = spare_rows, rows
        in_place = not in_place
    if not in_place:
        # A loop, since NumPy's assignment to a slice takes seconds to compile.
        for i in range(len(words)):
            spare_words[i] = words[i]
            spare_rows[i] = rows[i]


@inlined
def _goes_on(row: int, depth: int, word: np.uint64, shared: int, first_offsets: Offsets) -> bool:
    """Whether rows that are equal up to word number `depth`, which is `word`, can differ in a later word. `row` is any
    of them; `shared` as in `_pair_word`.
    """
    words = (first_offsets[row + 1] - first_offsets[row] - shared) // 8 + 1
    return bool((word & np.uint64(255)) != 0 or depth < words)


@inlined
def same(data: ByteArray, start: int, end: int, other: ByteArray, other_start: int, other_end: int) -> bool:
    """Whether `data[start:end]` and `other[other_start:other_end]` are equal."""
    if end - start != other_end - other_start:
        return False
    a, b = data[start:end], other[other_start:other_end]
    different = 0
    # Without an early exit the loop is vectorised.
    for i in range(len(a)):
        different += int(a[i] != b[i])
    return different == 0


@inner
def compare(data: ByteArray, start: int, end: int, other: ByteArray, other_start: int, other_end: int) -> int:
    """Comparison of `data[start:end]` and `other[other_start:other_end]` byte by byte: a negative number if the first
    is less, 0 if both are equal, a positive number if the first is greater. The start of a string is less than the
    string.
    """
    for i in range(min(end - start, other_end - other_start)):
        difference = np.int64(data[start + i]) - np.int64(other[other_start + i])
        if difference:
            return int(difference)
    return (end - start) - (other_end - other_start)


def cut(data: ByteArray, starts: Offsets, ends: Offsets) -> Column:
    """A new column of the strings `data[starts[i]:ends[i]]`, copied: (bytes, offsets). All together must have less than
    2 GiB.
    """
    offsets = np.empty(len(starts) + 1, np.int32)
    starts = read_only(starts)
    _add_lengths(starts, read_only(ends), offsets)
    out = np.empty(offsets[-1], np.uint8)
    _copy_strings(read_only(data), starts, offsets, out)
    return out, offsets


def take(data: ByteArray, offsets: Offsets, rows: RowNumbers) -> Column:
    """A new column, (bytes, offsets): copies of the strings with the numbers, from 0, in `rows`, in that order. String
    i is `data[offsets[i]:offsets[i + 1]]`. A number may occur several times.
    """
    return cut(data, take_numbers(offsets, rows), take_numbers(offsets[1:], rows))


def take_numbers(numbers: npt.NDArray[_Number], rows: RowNumbers) -> npt.NDArray[_Number]:
    """A new array: the elements of `numbers` with the indices in `rows`, in that order, like `numbers[rows]`."""
    # NumPy would keep the GIL most of the time.
    out = np.empty(len(rows), numbers.dtype)
    _take_numbers(read_only(numbers), read_only(rows), out)
    return out


@compiled
def _add_lengths(starts: Offsets, ends: Offsets, offsets: Offsets) -> None:
    offset = offsets[0] = 0
    for i in range(len(starts)):
        offset += ends[i] - starts[i]
        offsets[i + 1] = offset


@compiled
def _copy_strings(data: ByteArray, starts: Offsets, offsets: Offsets, out: ByteArray) -> None:
    for i in range(len(starts)):
        copy(data, starts[i], starts[i] + offsets[i + 1] - offsets[i], out, offsets[i])


@compiled
def _take_numbers(numbers: npt.NDArray[_Number], rows: RowNumbers, out: npt.NDArray[_Number]) -> None:
    for i in range(len(rows)):
        out[i] = numbers[rows[i]]


def spread(data: ByteArray, offsets: Offsets, parts: int) -> RowNumbers:
    """For each string of a column, a number from 0 to `parts - 1` by its hash (FNV-1a), so that equal strings get the
    same number. String i is `data[offsets[i]:offsets[i + 1]]`; `parts` must be a power of two.
    """
    numbers = np.empty(len(offsets) - 1, np.int32)
    _spread(data, offsets, parts, numbers)
    return numbers


@compiled
def _spread(data: ByteArray, offsets: Offsets, parts: int, numbers: RowNumbers) -> None:
    for i in range(len(numbers)):
        value = np.uint64(0xCBF29CE484222325)
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        numbers[i] = np.int32((value ^ (value >> np.uint64(32))) & np.uint64(parts - 1))


class Vocabulary(NamedTuple):
    """A hash table of a few words (byte strings), in which `word_number` looks up the number of a word. Word i is
    `data[offsets[i]:offsets[i + 1]]`.
    """

    data: ByteArray
    offsets: Offsets
    slots: RowNumbers
    """The number of the word in each slot; -1 in an empty slot."""


def index_words(words: Sequence[bytes]) -> Vocabulary:
    """A hash table of the given words, in which `word_number` finds the index of a word in `words`. All words must be
    different.
    """
    data = read_only(np.frombuffer(b"".join(words), np.uint8))
    offsets = read_only(np.cumsum([0, *map(len, words)]).astype(np.int32))
    # Most slots stay empty, so that a search is short.
    slots = np.full(1 << (4 * len(words)).bit_length(), -1, np.int32)
    for number, word in enumerate(words):
        slot = _slot(word, 0, len(word), len(slots))
        while slots[slot] != -1:
            slot = (slot + 1) % len(slots)
        slots[slot] = number
    return Vocabulary(data, offsets, read_only(slots))


def _slot(data: ByteArray | bytes, start: int, end: int, slots: int) -> int:
    """The slot in which the search for `data[start:end]` begins. `slots` is a power of two."""
    value = 0
    for i in range(start, end):
        value = (value * 31 + int(np.int64(data[i]))) & 0xFFFFFF
    return int((value ^ (value >> 9)) & (slots - 1))


@inner
def word_number(data: ByteArray, start: int, end: int, words: Vocabulary) -> int:
    """The number, from 0, of the word in the vocabulary that is equal to `data[start:end]`, in the same case; -1 if
    there is none.
    """
    slot = _slot(data, start, end, len(words.slots))
    while words.slots[slot] != -1:
        number = words.slots[slot]
        if same(data, start, end, words.data, words.offsets[number], words.offsets[number + 1]):
            return int(number)
        slot = (slot + 1) % len(words.slots)
    return -1
