"""Ranges of keys, in the order of octets: rows are brought into ranges, and each range is sorted on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from urnscan.arrays.jit import compiled, inlined, read_only
from urnscan.arrays.octets import Integers, Octets
from urnscan.arrays.strings import Column, Offsets, Rows, Words, cut, word

_PER_RANGE = 16  # keys of the sample for each range
_KEY = 1024  # octets of a bound, at most
_NEXT = b"\x01"  # no URN holds it: a key with this appended sorts before all longer keys that begin with the key


@dataclass(frozen=True)
class Ranges:
    """Ranges of keys. Range i begins with `bounds[i - 1]` and ends before `bounds[i]`; the first and last are open."""

    bounds: tuple[bytes, ...] = ()

    def __len__(self) -> int:
        return len(self.bounds) + 1

    def shared(self, first: int, last: int) -> int:
        """Length of the prefix that all keys in the ranges from `first` to before `last` share for certain."""
        if first == 0 or last == len(self):
            return 0
        low, high = self.bounds[first - 1], self.bounds[last - 1]
        return next((i for i in range(len(low)) if high[i : i + 1] != low[i : i + 1]), len(low))

    def is_single(self, number: int) -> bool:
        """Whether a range holds only one key."""
        return 0 < number < len(self.bounds) and self.bounds[number] == self.bounds[number - 1] + _NEXT

    def order(self, octets: Octets, offsets: Offsets) -> tuple[Rows, Integers]:
        """The rows of a column of keys, range by range, in their order within each; and the beginning of each range,
        with the end of the last.
        """
        numbers, rows = np.empty(len(offsets) - 1, np.int32), np.empty(len(offsets) - 1, np.int32)
        begins = np.zeros(len(self) + 1, np.int64)
        _number((octets, offsets), *self._words, numbers, begins)
        _bring_together(numbers, begins.copy(), rows)
        return rows, begins

    @cached_property
    def _words(self) -> tuple[Words, Integers]:
        """Words of the bounds: row d has word number d of each bound. And for each word, the end of its run: of the bounds
        that are equal up to that word.
        """
        words = max((len(bound) for bound in self.bounds), default=0) // 8 + 1
        padded = b"".join(bound.ljust(8 * words, b"\0") for bound in self.bounds)
        table = np.frombuffer(padded, ">u8").reshape(len(self.bounds), words).T
        differs = np.logical_or.accumulate(table[:, 1:] != table[:, :-1])  # from the bound before it
        ends = np.full(table.shape, len(self.bounds), np.int64)
        for depth in range(words):
            firsts = np.flatnonzero(differs[depth]) + 1
            ends[depth, : firsts[-1] if len(firsts) else 0] = np.repeat(firsts, np.diff(firsts, prepend=0))
        return read_only(np.ascontiguousarray(table, np.uint64)), read_only(ends)


def sample(octets: Octets, offsets: Offsets, every: int) -> list[bytes]:
    """One of `every` keys of a column."""
    rows = np.arange(every // 2, len(offsets) - 1, every)
    keys, ends = cut(octets, offsets[rows], np.minimum(offsets[rows + 1], offsets[rows] + np.int32(_KEY)))
    text = keys.tobytes()
    return [text[start:end] for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def choose_ranges(keys: Sequence[bytes], most: int) -> Ranges:
    """Choose about `most` ranges with equal numbers of these keys, or fewer ranges if the keys are few.

    A key that would fill a range has a range of its own. If there are two ranges or more, none holds all of the keys,
    unless all keys are equal.
    """
    keys = sorted(keys)
    step = max(_PER_RANGE, -(-len(keys) // most))
    chosen = keys[step::step]
    bounds = set(chosen)
    bounds.update(key + _NEXT for key, before in zip(chosen, keys[:1] + chosen, strict=False) if key == before)
    return Ranges(tuple(sorted(bounds)))


@compiled
def _number(keys: Column, bounds: Words, ends: Integers, numbers: Rows, begins: Integers) -> None:
    """Set the number of the range of each key, and the beginning of each range in their order, with the end of the last;
    `begins` is 0.
    """
    octets, offsets = keys
    for row in range(len(numbers)):
        number = _range_of(octets, offsets[row], offsets[row + 1], bounds, ends)
        numbers[row] = number
        begins[number + 1] += 1
    for number in range(1, len(begins)):
        begins[number] += begins[number - 1]


@compiled
def _bring_together(numbers: Rows, next_of: Integers, rows: Rows) -> None:
    """Set the rows in the order of their ranges; `next_of` is the beginning of each range, and becomes its end."""
    for row in range(len(numbers)):
        rows[next_of[numbers[row]]] = row
        next_of[numbers[row]] += 1


@inlined
def _range_of(octets: Octets, start: int, end: int, bounds: Words, ends: Integers) -> int:
    """The range of a key, by binary search, word by word, among the bounds that are equal to it so far."""
    low, high = 0, bounds.shape[1]
    for depth in range(bounds.shape[0]):
        key = word(octets, start + 8 * depth, end)
        words = bounds[depth]
        first = _lower_bound(words, low, high, key)
        if first == high or words[first] != key:
            return first
        if key & np.uint64(255) == 0:  # both end here, and bounds are all different
            return first + 1
        low, high = first, ends[depth, first]
    return low


@inlined
def _lower_bound(words: Words, low: int, high: int, key: np.uint64) -> int:
    """Index of the first of the sorted words in [low, high) that is not less than the key."""
    left = high - low
    if left == 0 or words[low] >= key:
        return low
    while left > 1:  # without a branch that the processor would mispredict
        half = left >> 1
        low += half if words[low + half] < key else 0
        left -= half
    return low + 1
