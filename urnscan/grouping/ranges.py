"""Ranges of keys, in the order of their bytes. Rows are split by ranges; then each range can be sorted separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from urnscan.compiled.bytes import ByteArray, Integers
from urnscan.compiled.jit import compiled, inlined, read_only
from urnscan.compiled.strings import Column, Offsets, RowNumbers, Words, cut, word

# Keys of the sample for each range.
_PER_RANGE = 16
# Maximum bytes of a bound.
_KEY = 1024
# No URN contains this byte. So a key with the byte appended sorts before all longer keys that begin with the key.
_NEXT = b"\x01"


@dataclass(frozen=True)
class Ranges:
    """Ranges of keys (canonical forms as bytes), numbered from 0. Range i contains the keys from `bounds[i - 1]` to
    before `bounds[i]`; `bounds` are ascending, without duplicates.

    The first range has no lower bound, the last range no upper bound. Without bounds, one range has all keys.
    """

    bounds: tuple[bytes, ...] = ()

    def __len__(self) -> int:
        return len(self.bounds) + 1

    def shared(self, first: int, last: int) -> int:
        """Length in bytes of the prefix that, by the bounds, all keys in the ranges from `first` to `last - 1` share.

        0 if the first or the last of all ranges is among them.
        """
        if first == 0 or last == len(self):
            return 0
        low, high = self.bounds[first - 1], self.bounds[last - 1]
        return next((i for i in range(len(low)) if high[i : i + 1] != low[i : i + 1]), len(low))

    def is_single(self, number: int) -> bool:
        """Whether the range with this number is for a single key, as `choose_ranges` makes it for a frequent key: its
        upper bound is its lower bound and a byte 0x01.
        """
        return 0 < number < len(self.bounds) and self.bounds[number] == self.bounds[number - 1] + _NEXT

    def order(self, data: ByteArray, offsets: Offsets) -> tuple[RowNumbers, Integers]:
        """Sort the rows of a column of keys by range; rows of a range keep their order. `data` has the bytes of all
        keys, `offsets` the start of each key, and the end of the last.

        Returns the row numbers in this order, and where each range begins in them; then, as last element, where the
        last range ends.
        """
        numbers, rows = np.empty(len(offsets) - 1, np.int32), np.empty(len(offsets) - 1, np.int32)
        begins = np.zeros(len(self) + 1, np.int64)
        _number((data, offsets), *self._words, numbers, begins)
        _sort_by_range(numbers, begins.copy(), rows)
        return rows, begins

    @cached_property
    def _words(self) -> tuple[Words, Integers]:
        """Two tables with a row for each word number d (a word: 8 bytes of a bound as a number), a column for each
        bound: the words, padded with NUL; and the number of the first later bound that differs in word d or an earlier
        word.
        """
        words = max((len(bound) for bound in self.bounds), default=0) // 8 + 1
        padded = b"".join(bound.ljust(8 * words, b"\0") for bound in self.bounds)
        table = np.frombuffer(padded, ">u8").reshape(len(self.bounds), words).T
        # Whether a bound differs from the previous bound in this word or an earlier word.
        differs = np.logical_or.accumulate(table[:, 1:] != table[:, :-1])
        ends = np.full(table.shape, len(self.bounds), np.int64)
        for depth in range(words):
            firsts = np.flatnonzero(differs[depth]) + 1
            ends[depth, : firsts[-1] if len(firsts) else 0] = np.repeat(firsts, np.diff(firsts, prepend=0))
        return read_only(np.ascontiguousarray(table, np.uint64)), read_only(ends)


def sample(data: ByteArray, offsets: Offsets, every: int) -> list[bytes]:
    """Return every n-th key of a column, where n is `every`, beginning with the key number `every // 2`; each cut to
    1,024 bytes. `data` has the bytes of all keys, `offsets` the start of each key, and the end of the last.
    """
    rows = np.arange(every // 2, len(offsets) - 1, every)
    keys, ends = cut(data, offsets[rows], np.minimum(offsets[rows + 1], offsets[rows] + np.int32(_KEY)))
    text = keys.tobytes()
    return [text[start:end] for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def choose_ranges(keys: Sequence[bytes], most: int) -> Ranges:
    """Return about `most` ranges with about equal numbers of `keys` (a sample, in any order, with duplicates); fewer
    ranges if that would be less than 16 keys for each.

    A key that would fill two ranges gets a range with no other key. If there are several ranges, no range contains all
    keys, unless all keys are equal.
    """
    keys = sorted(keys)
    step = max(_PER_RANGE, -(-len(keys) // most))
    chosen = keys[step::step]
    bounds = set(chosen)
    bounds.update(key + _NEXT for key, previous in zip(chosen, keys[:1] + chosen, strict=False) if key == previous)
    return Ranges(tuple(sorted(bounds)))


@compiled
def _number(keys: Column, bounds: Words, ends: Integers, numbers: RowNumbers, begins: Integers) -> None:
    """Write the number of the range of each key to `numbers`, and the number of keys before each range, and of all
    keys, to `begins`, which must be 0. `bounds`, `ends`: the tables of `Ranges._words`.
    """
    data, offsets = keys
    for row in range(len(numbers)):
        number = _range_of(data, offsets[row], offsets[row + 1], bounds, ends)
        numbers[row] = number
        begins[number + 1] += 1
    for number in range(1, len(begins)):
        begins[number] += begins[number - 1]


@compiled
def _sort_by_range(numbers: RowNumbers, offsets: Integers, rows: RowNumbers) -> None:
    """Write the row numbers to `rows`, range by range. `offsets`: where each range begins in `rows`; changed to where
    it ends.
    """
    for row in range(len(numbers)):
        rows[offsets[numbers[row]]] = row
        offsets[numbers[row]] += 1


@inlined
def _range_of(data: ByteArray, start: int, end: int, bounds: Words, ends: Integers) -> int:
    """Number of the range of the key `data[start:end]`, by binary search. `bounds`, `ends`: the tables of
    `Ranges._words`.
    """
    low, high = 0, bounds.shape[1]
    for depth in range(bounds.shape[0]):
        key = word(data, start + 8 * depth, end)
        words = bounds[depth]
        first = _lower_bound(words, low, high, key)
        if first == high or words[first] != key:
            return first
        # Key and bound end in this word, so they are equal. No second bound is equal to the key.
        if key & np.uint64(255) == 0:
            return first + 1
        low, high = first, ends[depth, first]
    return low


@inlined
def _lower_bound(words: Words, low: int, high: int, key: np.uint64) -> int:
    """Index of the first of the sorted words in [low, high) that is not less than the key; `high` if all are less."""
    left = high - low
    if left == 0 or words[low] >= key:
        return low
    # The loop has no branch that the processor could mispredict.
    while left > 1:
        half = left >> 1
        low += half if words[low + half] < key else 0
        left -= half
    return low + 1
