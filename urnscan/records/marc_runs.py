"""Records of ISO 2709 without faults, like nearly all: compiled code finds many records, and splits them into fields.

`marc` reads the other records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.bytes import ByteArray, Integers, occurrences
from urnscan.compiled.jit import compiled, inlined, inner
from urnscan.compiled.strings import Offsets

# Bytes of the leader, and of an entry of the directory.
LEADER, ENTRY = 24, 12
_FIELD_END, _RECORD_END = 0x1E, 0x1D
# Bytes that may be between records.
_BETWEEN = tuple(b" \t\n\v\f\r\0\x1a")
_DIGIT_0, _DIGIT_9 = b"09"
NO_NUMBER = -1
"""-1, which takes the place of a number if the bytes are not digits."""
REFUSED = -1
"""-1, which takes the place of the number of fields: compiled code cannot read the record, so `RecordReader.record`
must.
"""
# Digits of a tag.
TAG = 3

Numbers = npt.NDArray[np.int16]


@inner
def number_at(data: ByteArray, at: int, digits: int) -> int:
    """Return the decimal number in the `digits` bytes from index `at` on, which must all exist; NO_NUMBER (-1) if one
    of them is not a digit.
    """
    number = 0
    for place in range(at, at + digits):
        if not _DIGIT_0 <= data[place] <= _DIGIT_9:
            return NO_NUMBER
        number = 10 * number + int(data[place]) - _DIGIT_0
    return number


@inlined
def _are_digits(data: ByteArray, start: int, end: int) -> bool:
    part = data[start:end]
    wrong = np.uint8(0)
    for i in range(len(part)):
        wrong = np.uint8(wrong | np.uint8(np.uint8(part[i] - _DIGIT_0) > _DIGIT_9 - _DIGIT_0))
    return bool(wrong == 0)


@inner
def _base(data: ByteArray, start: int, end: int) -> int:
    """Index after the directory of the record `data[start:end]`; 0 if it has bytes other than digits, or not an entry
    for each field.
    """
    first = last = start + LEADER
    while last < end and data[last] != _FIELD_END:
        last += ENTRY
    if first == last or last >= end or not _are_digits(data, first, last):
        return 0
    base = last + 1
    return base if occurrences(data, base, end, _FIELD_END) == (last - first) // ENTRY else 0


@compiled
def find_whole(data: ByteArray, at: int, starts: Integers, ends: Integers) -> int:
    """Find the records from index `at` of `data` on, up to the first record that has a fault or is incomplete, or until
    `starts` and `ends`, of equal length, are full. Writes the start and end of each record to these arrays, and returns
    the number of records.

    A record has no fault if the length in the leader leads to the first record terminator, if the directory has only
    digits and an entry for each field, and if the last field starts where the directory says.
    """
    for count in range(len(starts)):
        while at < len(data) and data[at] in _BETWEEN:
            at += 1
        if at + LEADER + ENTRY > len(data):
            return count
        length = number_at(data, at, 5)
        end = at + length
        if length <= LEADER + ENTRY or end > len(data) or number_at(data, at + 12, 5) == NO_NUMBER:
            return count
        terminators = occurrences(data, at, end, _RECORD_END)
        marks = occurrences(data, at, at + LEADER, _FIELD_END)
        base = _base(data, at, end)
        if terminators != 1 or data[end - 1] != _RECORD_END or marks or not base:
            return count
        last = base + number_at(data, base - 6, 5) - 1
        if last >= end or data[last] != _FIELD_END:
            return count
        starts[count], ends[count] = at, end
        at = end
    return len(starts)


class Fields(NamedTuple):
    """Fields of many records of MARC in columns. They are in the form of ISO 2709, even if the records had another
    form.

    A data field has two indicators. Before the value of a subfield come a delimiter (1F) and its code, as in
    `10␟aInks␟bA handbook`.
    """

    data: ByteArray
    """Leaders and fields, and perhaps other bytes."""
    leaders: Offsets
    """Start and end of the leader of each record in `data`; shape (records, 2)."""
    totals: Offsets
    """Number of all fields of each record, including fields that the columns lack; -1 (REFUSED) for a record that
    compiled code could not read: it has no fields in the columns.
    """
    ends: Offsets
    """For each record, the number of fields in the columns up to its end, with those of all earlier records."""
    tags: Numbers
    """The tag of each field as a number. The columns do not contain fields whose tags have letters."""
    starts: Offsets
    """Start of each field in `data`."""
    stops: Offsets
    """End of each field in `data`, before its terminator."""

    @classmethod
    def room(cls, data: ByteArray, records: int, fields: int) -> Fields:
        """Return columns with room for `records` records and `fields` fields, to be filled. At first, every record
        has -1 (REFUSED) as its number of fields, and no fields.
        """
        return cls(
            data,
            np.zeros((records, 2), np.int32),
            np.full(records, REFUSED, np.int32),
            np.zeros(records, np.int32),
            np.empty(fields, np.int16),
            *(np.empty(fields, np.int32) for _ in range(2)),
        )

    @classmethod
    def joined(cls, groups: Sequence[Fields]) -> Fields:
        """Join the columns of several groups of records, at least one, to columns of all records, in order."""
        if len(groups) == 1:
            return groups[0]
        first_bytes = np.cumsum([0, *(len(group.data) for group in groups)])
        first_fields = np.cumsum([0, *(group.total for group in groups)])
        places = [
            [getattr(group, name)[: group.total] + at for group, at in zip(groups, first_bytes, strict=False)]
            for name in ("starts", "stops")
        ]
        return cls(
            np.concatenate([group.data for group in groups]),
            np.concatenate([group.leaders + at for group, at in zip(groups, first_bytes, strict=False)]).astype(
                np.int32
            ),
            np.concatenate([group.totals for group in groups]),
            np.concatenate([group.ends + at for group, at in zip(groups, first_fields, strict=False)]).astype(np.int32),
            np.concatenate([group.tags[: group.total] for group in groups]),
            *(np.concatenate(columns).astype(np.int32) for columns in places),
        )

    @property
    def total(self) -> int:
        """Number of fields that the columns contain, of all records."""
        return int(self.ends[-1]) if len(self.ends) else 0


@compiled
def take_apart(data: ByteArray, starts: Integers, ends: Integers, out: Fields) -> None:
    """Split records of ISO 2709 into fields, and write the places of the fields to `out`, new columns of `Fields.room`.
    `starts` and `ends` are the places of the records in `data`. A record whose directory does not list all its fields
    in their order keeps -1 (REFUSED) as its number of fields, and gets no fields.

    Bounds are not checked: `out` must have room for `len(ends)` records and `len(data) // ENTRY` fields.
    """
    row = 0
    for record in range(len(ends)):
        start, end, first = starts[record], ends[record], row
        place = base = _base(data, start, end) if end - start > LEADER + ENTRY else 0
        previous = 0
        for entry in range(start + LEADER, base - 1, ENTRY):
            given = number_at(data, entry + 7, 5)
            if given < previous:
                base = 0
                break
            previous = given
            out.tags[row], out.starts[row] = number_at(data, entry, TAG), place
            while data[place] != _FIELD_END:
                place += 1
            out.stops[row] = place
            place += 1
            row += 1
        if base:
            out.totals[record], out.leaders[record, 0], out.leaders[record, 1] = row - first, start, start + LEADER
        else:
            row = first
        out.ends[record] = row


def fields_of(data: bytes, starts: Integers, ends: Integers) -> Fields:
    """Split records of ISO 2709 into fields, and return these in columns; `starts` and `ends` are the places of the
    records in `data`. A record that compiled code cannot read has -1 (REFUSED) as its number of fields, and no fields.
    """
    out = Fields.room(np.frombuffer(data, np.uint8), len(ends), len(data) // ENTRY)
    take_apart(out.data, starts, ends, out)
    return out
