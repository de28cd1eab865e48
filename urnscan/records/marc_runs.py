"""Records of ISO 2709 without faults, as nearly all are: compiled code finds many of them, and takes them apart into fields.

`marc` takes apart any other record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.jit import compiled, inlined, inner
from urnscan.compiled.octets import Integers, Octets, occurrences
from urnscan.compiled.strings import Offsets

LEADER, ENTRY = 24, 12  # octets of the leader, and of each entry of the directory
_FIELD_END, _RECORD_END = 0x1E, 0x1D
_BETWEEN = tuple(b" \t\n\v\f\r\0\x1a")  # may stand between records
_DIGIT_0, _DIGIT_9 = b"09"
NO_NUMBER = -1
REFUSED = -1
"""Number of fields of a record that compiled code does not take apart."""
TAG = 3  # digits

Numbers = npt.NDArray[np.int16]


@inner
def number_at(octets: Octets, at: int, digits: int) -> int:
    """Number in so many digits at a place; NO_NUMBER if other octets stand there."""
    number = 0
    for place in range(at, at + digits):
        if not _DIGIT_0 <= octets[place] <= _DIGIT_9:
            return NO_NUMBER
        number = 10 * number + int(octets[place]) - _DIGIT_0
    return number


@inlined
def _are_digits(octets: Octets, start: int, end: int) -> bool:
    part = octets[start:end]
    wrong = np.uint8(0)
    for i in range(len(part)):
        wrong = np.uint8(wrong | np.uint8(np.uint8(part[i] - _DIGIT_0) > _DIGIT_9 - _DIGIT_0))
    return bool(wrong == 0)


@inner
def _base(octets: Octets, start: int, end: int) -> int:
    """Place behind the directory of a record, if it is made of digits and has as many entries as there are fields; else 0."""
    first = last = start + LEADER
    while last < end and octets[last] != _FIELD_END:
        last += ENTRY
    if first == last or last >= end or not _are_digits(octets, first, last):
        return 0
    base = last + 1
    return base if occurrences(octets, base, end, _FIELD_END) == (last - first) // ENTRY else 0


@compiled
def find_whole(octets: Octets, at: int, starts: Integers, ends: Integers) -> int:
    """Find the records from `at` on up to the first that has a fault or is not whole; the number of them.

    A record is found where the length in its leader leads to the first record terminator behind it, and where its last
    field is at the place that its directory gives.
    """
    for count in range(len(starts)):
        while at < len(octets) and octets[at] in _BETWEEN:
            at += 1
        if at + LEADER + ENTRY > len(octets):
            return count
        length = number_at(octets, at, 5)
        end = at + length
        if length <= LEADER + ENTRY or end > len(octets) or number_at(octets, at + 12, 5) == NO_NUMBER:
            return count
        terminators = occurrences(octets, at, end, _RECORD_END)
        marks = occurrences(octets, at, at + LEADER, _FIELD_END)
        base = _base(octets, at, end)
        if terminators != 1 or octets[end - 1] != _RECORD_END or marks or not base:
            return count
        last = base + number_at(octets, base - 6, 5) - 1
        if last >= end or octets[last] != _FIELD_END:
            return count
        starts[count], ends[count] = at, end
        at = end
    return len(starts)


class Fields(NamedTuple):
    """The fields of many records of MARC in columns, as they stand in ISO 2709, whatever the records were written in.

    A data field has two indicators, and before each subfield a delimiter (1F) and its code: `10␟aInks␟bA handbook`.
    """

    octets: Octets
    """Leaders and fields, and perhaps other octets."""
    leaders: Offsets
    """The beginning and end of the leader of each record."""
    totals: Offsets
    """The number of all fields of each record, also of those that are not here; REFUSED for a record without columns."""
    ends: Offsets
    """The number of fields of each record and of all before it."""
    tags: Numbers
    """The tag of each field as a number. Fields whose tags have letters are not here."""
    starts: Offsets
    """The beginning of each field."""
    stops: Offsets
    """The end of each field, without its terminator."""

    @classmethod
    def room(cls, octets: Octets, records: int, fields: int) -> Fields:
        """Room for so many records and fields."""
        return cls(
            octets,
            np.zeros((records, 2), np.int32),
            np.full(records, REFUSED, np.int32),
            np.zeros(records, np.int32),
            np.empty(fields, np.int16),
            *(np.empty(fields, np.int32) for _ in range(2)),
        )

    @classmethod
    def joined(cls, some: Sequence[Fields]) -> Fields:
        """The fields of several groups of records as one."""
        if len(some) == 1:
            return some[0]
        first = np.cumsum([0, *(len(each.octets) for each in some)])  # octet of each group
        count = np.cumsum([0, *(each.total for each in some)])
        places = [
            [getattr(each, name)[: each.total] + at for each, at in zip(some, first, strict=False)]
            for name in ("starts", "stops")
        ]
        return cls(
            np.concatenate([each.octets for each in some]),
            np.concatenate([each.leaders + at for each, at in zip(some, first, strict=False)]).astype(np.int32),
            np.concatenate([each.totals for each in some]),
            np.concatenate([each.ends + at for each, at in zip(some, count, strict=False)]).astype(np.int32),
            np.concatenate([each.tags[: each.total] for each in some]),
            *(np.concatenate(each).astype(np.int32) for each in places),
        )

    @property
    def total(self) -> int:
        """Number of fields that are here."""
        return int(self.ends[-1]) if len(self.ends) else 0


@compiled
def take_apart(octets: Octets, starts: Integers, ends: Integers, out: Fields) -> None:
    """Find the fields of records whose directory gives as many fields as there are, in their order."""
    row = 0
    for record in range(len(ends)):
        start, end, first = starts[record], ends[record], row
        place = base = _base(octets, start, end) if end - start > LEADER + ENTRY else 0
        previous = 0
        for entry in range(start + LEADER, base - 1, ENTRY):
            given = number_at(octets, entry + 7, 5)
            if given < previous:
                base = 0
                break
            previous = given
            out.tags[row], out.starts[row] = number_at(octets, entry, TAG), place
            while octets[place] != _FIELD_END:
                place += 1
            out.stops[row] = place
            place += 1
            row += 1
        if base:
            out.totals[record], out.leaders[record, 0], out.leaders[record, 1] = row - first, start, start + LEADER
        else:
            row = first
        out.ends[record] = row


def fields_of(octets: bytes, starts: Integers, ends: Integers) -> Fields:
    """The fields of records of ISO 2709."""
    out = Fields.room(np.frombuffer(octets, np.uint8), len(ends), len(octets) // ENTRY)
    take_apart(out.octets, starts, ends, out)
    return out
