"""Records of ISO 2709 without faults, as nearly all are: compiled code finds many of them, and their fields, by one call.

`marc` reads any other record by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import compiled, inner
from urnscan.arrays.octets import Integers, Octets

LEADER, ENTRY = 24, 12  # octets of the leader, and of each entry of the directory
_FIELD_END, _RECORD_END = 0x1E, 0x1D
_BETWEEN = tuple(b" \t\n\v\f\r\0\x1a")  # may stand between records
_DIGIT_0, _DIGIT_9 = b"09"
_NO_NUMBER = _ALONE = -1
_TAG = 3  # digits
_MOST_DIGITS = 8  # of a number of fields, and what parts it from others
_TAGS = [b"%03d" % tag for tag in range(1000)]
LONGEST_PACKED = 2_000
"""Octets of a field that are packed."""

Numbers = npt.NDArray[np.int16]


@inner
def _number(octets: Octets, at: int, digits: int) -> int:
    """Number in so many digits at a place; _NO_NUMBER if other octets stand there."""
    number = 0
    for place in range(at, at + digits):
        if not _DIGIT_0 <= octets[place] <= _DIGIT_9:
            return _NO_NUMBER
        number = 10 * number + int(octets[place]) - _DIGIT_0
    return number


@inner
def _base(octets: Octets, start: int, end: int) -> int:
    """Place behind the directory of a record, if it is made of digits and has as many entries as there are fields; else 0."""
    at, entries = start + LEADER, 0
    while at + ENTRY < end and octets[at] != _FIELD_END:
        if _number(octets, at, ENTRY) == _NO_NUMBER:
            return 0
        at, entries = at + ENTRY, entries + 1
    if not entries or octets[at] != _FIELD_END:
        return 0
    base, fields = at + 1, 0
    for at in range(base, end):
        fields += octets[at] == _FIELD_END
    return base if fields == entries else 0


@compiled
def find_whole(octets: Octets, at: int, starts: Integers, ends: Integers, bases: Integers) -> int:
    """Find the records from `at` on up to the first that has a fault or is not whole; the number of them.

    A record is found where the length in its leader leads to the first record terminator behind it, and where its last
    field is at the place that its directory gives. `bases`: places behind the directories.
    """
    for count in range(len(starts)):
        while at < len(octets) and octets[at] in _BETWEEN:
            at += 1
        if at + LEADER + ENTRY > len(octets):
            return count
        length = _number(octets, at, 5)
        end = at + length
        if length <= LEADER + ENTRY or end > len(octets) or _number(octets, at + 12, 5) == _NO_NUMBER:
            return count
        terminators = marks = 0
        for place in range(at, end):
            terminators += octets[place] == _RECORD_END
        for place in range(at, at + LEADER):
            marks += octets[place] == _FIELD_END
        base = _base(octets, at, end)
        if terminators != 1 or octets[end - 1] != _RECORD_END or marks or not base:
            return count
        last = base + _number(octets, base - 6, 5) - 1
        if last >= end or octets[last] != _FIELD_END:
            return count
        starts[count], ends[count], bases[count] = at, end, base
        at = end
    return len(starts)


class Tables(NamedTuple):
    """The tags that are wanted in each of two families, 0 and 1: by the number of the family, and the tag as a number."""

    is_given: npt.NDArray[np.bool_]
    is_packed: npt.NDArray[np.bool_]
    names: tuple[Octets, Octets]
    """The beginnings of packed descriptions."""


class _Places(NamedTuple):
    """Results of `_find_fields`."""

    families: Numbers
    """The family of each record; _ALONE for one that has to be read by itself."""
    counts: Integers
    """The number of fields of each record that are given; the fields of all records follow each other."""
    tags: Numbers
    """The tag of each field."""
    fields: Integers
    """The beginning and end of each field, without its terminator."""
    packed: Octets
    """The packed descriptions, end to end."""
    ends: Integers
    """The end of each of them."""


class Apart(NamedTuple):
    """A record that was taken apart."""

    family: int
    fields: Sequence[tuple[bytes, bytes]]
    """Tags, and fields without their terminators."""
    packed: bytes
    """The packed description."""


@inner
def _write(given: Octets, start: int, end: int, out: Octets, at: int) -> int:
    """Write a part of `given` and a field terminator; the place behind them."""
    for place in range(start, end):
        out[at] = given[place]
        at += 1
    out[at] = _FIELD_END
    return at + 1


@inner
def _write_number(number: int, out: Octets, at: int) -> int:
    """Write a number in decimal digits, and a field terminator; the place behind them."""
    size = 10
    while number >= size:
        size *= 10
    while size > 1:
        size //= 10
        out[at] = _DIGIT_0 + number // size % 10
        at += 1
    out[at] = _FIELD_END
    return at + 1


@inner
def _family(octets: Octets, start: int, base: int) -> int:
    """1 for a record with a field 200, 0 with a field 245; _ALONE if it has both or none, or its places are in no order."""
    has_200 = has_245 = False
    previous = 0
    for entry in range(start + LEADER, base - 1, ENTRY):
        tag, place = _number(octets, entry, _TAG), _number(octets, entry + 7, 5)
        if place < previous:
            return _ALONE
        previous = place
        has_200 |= tag == 200
        has_245 |= tag == 245
    return has_200 if has_200 != has_245 else _ALONE


@compiled
def _find_fields(octets: Octets, ends: Integers, tables: Tables, out: _Places) -> int:
    """Find the fields of records that lie end to end, and pack their descriptions; the number of the fields.

    `ends`: the ends of the records.
    """
    start = row = at = 0
    for record in range(len(ends)):
        end, before = ends[record], row
        base = _base(octets, start, end) if end - start > LEADER + ENTRY else 0
        family = _family(octets, start, base) if base else _ALONE
        if family != _ALONE:
            name, place = tables.names[family], base
            at = _write(octets, start, start + LEADER, out.packed, _write(name, 0, len(name), out.packed, at))
            at = _write_number((base - start - LEADER) // ENTRY, out.packed, at)
            for entry in range(start + LEADER, base - 1, ENTRY):
                first = place
                while octets[place] != _FIELD_END:
                    place += 1
                tag = _number(octets, entry, _TAG)
                if tables.is_given[family, tag]:
                    out.tags[row], out.fields[row, 0], out.fields[row, 1] = tag, first, place
                    row += 1
                if tables.is_packed[family, tag]:
                    at = _write(octets, entry, entry + _TAG, out.packed, at)
                    at = _write(octets, first, min(place, first + LONGEST_PACKED), out.packed, at)
                place += 1
            at -= 1  # no terminator at the end
        out.families[record], out.counts[record], out.ends[record] = family, row - before, at
        start = end
    return row


def take_apart(records: Sequence[bytes], tables: Tables) -> Iterator[Apart | None]:
    """Take records apart; None for one that `find_whole` does not find, or whose family or order of fields is not plain."""
    octets = b"".join(records)
    ends = np.cumsum([len(record) for record in records])
    most, count = len(octets) // ENTRY, len(records)
    packed = np.empty(len(octets) + count * (max(map(len, tables.names)) + _MOST_DIGITS), np.uint8)
    out = _Places(
        np.empty(count, np.int16),
        np.empty(count, np.int64),
        np.empty(most, np.int16),
        np.empty((most, 2), np.int64),
        packed,
        np.empty(count, np.int64),
    )
    rows = _find_fields(np.frombuffer(octets, np.uint8), ends, tables, out)
    places = zip(out.tags[:rows].tolist(), out.fields[:rows].tolist(), strict=True)
    fields = [(_TAGS[tag], octets[start:end]) for tag, (start, end) in places]
    descriptions = packed.data
    at = start = 0
    for family, count, end in zip(out.families.tolist(), out.counts.tolist(), out.ends.tolist(), strict=True):
        yield Apart(family, fields[at : at + count], bytes(descriptions[start:end])) if family != _ALONE else None
        at, start = at + count, end
