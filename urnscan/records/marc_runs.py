"""Records of ISO 2709 without faults, as nearly all are: compiled code finds many of them, their fields and own identifiers.

`marc` reads any other record by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import compiled, inlined, inner
from urnscan.arrays.octets import Integers, Octets, copy, occurrences
from urnscan.arrays.strings import Offsets

LEADER, ENTRY = 24, 12  # octets of the leader, and of each entry of the directory
DELIMITER, _FIELD_END, _RECORD_END = 0x1F, 0x1E, 0x1D
_SPACE, ASCII = 0x20, 0x7F
_BETWEEN = tuple(b" \t\n\v\f\r\0\x1a")  # may stand between records
_DIGIT_0, _DIGIT_9 = b"09"
NO_NUMBER = NONE = -1
ALONE = -1
"""Family of a record that has to be read by itself."""
TAG = 3  # digits
_NUMBER, _CONTROL = 1, 10  # the tag of control numbers; those of control fields are less
_MOST_DIGITS = 8  # of a number of fields, and what parts it from others
LONGEST_PACKED = 2_000
"""Octets of a field that are packed."""

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


class Tables(NamedTuple):
    """The fields that are wanted in each of two families, 0 and 1, and the rows of fields.toml and keys.toml for them.

    A tag is a number. A row has a flag for each of 256 octets, or an octet; NONE is no octet.
    """

    is_given: npt.NDArray[np.bool_]
    """Tags whose fields are found, by family and tag."""
    is_packed: npt.NDArray[np.bool_]
    """Tags whose fields are packed."""
    names: tuple[Octets, Octets]
    """The beginnings of packed descriptions."""
    first_row: Numbers
    """The first row of each tag, by family and tag."""
    rows: Numbers
    """The number of rows of each tag."""
    is_alone: npt.NDArray[np.bool_]
    """Rows that have to be applied to each field by itself."""
    first: npt.NDArray[np.bool_]
    """The first indicators that each row admits."""
    second: npt.NDArray[np.bool_]
    parts: npt.NDArray[np.bool_]
    """The codes of the subfields that each row asks for."""
    qualifier: Numbers
    """The code of the subfield that qualifies the one before it."""
    scheme_in: Numbers
    """The code of the subfield that says the kind."""
    source_in: Numbers
    """The code of the subfield that says the source."""


class Fields(NamedTuple):
    """The fields of many records: those that are given, and packed descriptions."""

    families: Numbers
    """The family of each record; ALONE for one that has to be read by itself."""
    ends: Offsets
    """The number of fields that are given of each record and of all before it."""
    tags: Numbers
    """The tag of each field."""
    places: Offsets
    """The beginning and end of each field, without its terminator."""
    numbers: Offsets
    """The beginning and end of the control number (001) of each record; the same for none."""
    packed: Octets
    """The packed descriptions, end to end."""
    packed_ends: Offsets
    """The beginning of the first of them, and the end of each."""

    @classmethod
    def of(cls, records: int, octets: int, tables: Tables) -> Fields:
        """Room for the fields of so many records with so many octets."""
        beginning = max(map(len, tables.names)) + _MOST_DIGITS
        return cls(
            np.empty(records, np.int16),
            np.empty(records, np.int32),
            np.empty(octets // ENTRY, np.int16),
            np.empty((octets // ENTRY, 2), np.int32),
            np.zeros((records, 2), np.int32),
            np.empty(octets + records * beginning, np.uint8),
            np.zeros(records + 1, np.int32),
        )


class Values(NamedTuple):
    """Own identifiers as they stand in fields, without white space around them."""

    field: Offsets
    """The number of the field of each."""
    row: Numbers
    """The number of its row."""
    places: Offsets
    """Its beginning and end, those of the kind that its field says, and those of the source; NONE for none."""
    is_alone: npt.NDArray[np.bool_]
    """Fields that have to be read by themselves: the values are not in ASCII, are blank, or have qualifiers."""


@inner
def write(given: Octets, start: int, end: int, out: Octets, at: int) -> int:
    """Write a part of `given` and a field terminator; the place behind them."""
    at = copy(given, start, end, out, at)
    out[at] = _FIELD_END
    return at + 1


@inner
def write_number(number: int, out: Octets, at: int) -> int:
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
    """1 for a record with a field 200, 0 with a field 245; ALONE if it has both or none, or its places are in no order."""
    has_200 = has_245 = False
    previous = 0
    for entry in range(start + LEADER, base - 1, ENTRY):
        tag, place = number_at(octets, entry, TAG), number_at(octets, entry + 7, 5)
        if place < previous:
            return ALONE
        previous = place
        has_200 |= tag == 200
        has_245 |= tag == 245
    return has_200 if has_200 != has_245 else ALONE


@compiled
def find_fields(octets: Octets, starts: Integers, ends: Integers, tables: Tables, out: Fields) -> int:
    """Find the fields of records, and pack their descriptions; the number of the fields that are given."""
    row = at = 0
    for record in range(len(ends)):
        start, end = starts[record], ends[record]
        base = _base(octets, start, end) if end - start > LEADER + ENTRY else 0
        family = _family(octets, start, base) if base else ALONE
        if family != ALONE:
            name, place = tables.names[family], base
            at = write(octets, start, start + LEADER, out.packed, write(name, 0, len(name), out.packed, at))
            at = write_number((base - start - LEADER) // ENTRY, out.packed, at)
            for entry in range(start + LEADER, base - 1, ENTRY):
                first = place
                while octets[place] != _FIELD_END:
                    place += 1
                tag = number_at(octets, entry, TAG)
                if tables.is_given[family, tag]:
                    out.tags[row], out.places[row, 0], out.places[row, 1] = tag, first, place
                    row += 1
                if tag == _NUMBER and out.numbers[record, 1] == 0:
                    out.numbers[record, 0], out.numbers[record, 1] = first, place
                if tables.is_packed[family, tag]:
                    at = write(octets, entry, entry + TAG, out.packed, at)
                    at = write(octets, first, min(place, first + LONGEST_PACKED), out.packed, at)
                place += 1
            at -= 1  # no terminator at the end
        out.families[record], out.ends[record], out.packed_ends[record + 1] = family, row, at
    return row


@inner
def _is_blank(octet: int) -> bool:
    """Whether Python takes an octet for white space in a text."""
    return octet == _SPACE or 9 <= octet <= 13 or 28 <= octet <= 31


@inner
def _trim(octets: Octets, start: int, end: int, places: Offsets, row: int, column: int) -> bool:
    """Set the place of a part of a field without white space around it; whether it is in ASCII."""
    while start < end and _is_blank(octets[start]):
        start += 1
    while start < end and _is_blank(octets[end - 1]):
        end -= 1
    places[row, column], places[row, column + 1] = start, end
    every = np.uint8(0)
    for place in range(start, end):
        every |= octets[place]
    return bool(every <= ASCII)


@inner
def _trim_first(octets: Octets, start: int, end: int, code: int, places: Offsets, row: int, column: int) -> bool:
    """Set the place of the first subfield with a code that is not empty, or NONE; whether it is in ASCII."""
    places[row, column] = places[row, column + 1] = NONE
    if code == NONE:
        return True
    for place in range(start, end - 2):
        if octets[place] == DELIMITER and octets[place + 1] == code and octets[place + 2] != DELIMITER:
            return _trim(octets, place + 2, _end_of_value(octets, place + 2, end), places, row, column)
    return True


@inner
def _end_of_value(octets: Octets, at: int, end: int) -> int:
    while at < end and octets[at] != DELIMITER:
        at += 1
    return at


@inner
def _of_control(octets: Octets, start: int, end: int, out: Values, at: int) -> int:
    """Find the value of a control field; the number of values then, or ALONE."""
    is_plain = _trim(octets, start, end, out.places, at, 0) and out.places[at, 0] < out.places[at, 1]
    for column in range(2, 6):
        out.places[at, column] = NONE
    return at + 1 if is_plain and _end_of_value(octets, start, end) == end else ALONE


@inner
def _of_row(octets: Octets, start: int, end: int, row: int, tables: Tables, out: Values, at: int) -> int:
    """Find the values in a data field by a row of its tag; the number of values then, or ALONE."""
    if end - start < 2 or octets[start] == DELIMITER or octets[start + 1] == DELIMITER:
        return ALONE
    if max(octets[start], octets[start + 1]) > ASCII:
        return ALONE
    if not (tables.first[row, octets[start]] and tables.second[row, octets[start + 1]]):
        return at
    first, is_plain = at, True
    for place in range(start, end - 2):
        if octets[place] != DELIMITER:
            continue
        code = octets[place + 1]
        is_plain &= code != tables.qualifier[row]
        if tables.parts[row, code] and octets[place + 2] != DELIMITER:
            is_plain &= _trim(octets, place + 2, _end_of_value(octets, place + 2, end), out.places, at, 0)
            is_plain &= out.places[at, 0] < out.places[at, 1]
            if at == first:
                is_plain &= _trim_first(octets, start, end, tables.scheme_in[row], out.places, at, 2)
                is_plain &= _trim_first(octets, start, end, tables.source_in[row], out.places, at, 4)
            else:
                for column in range(2, 6):
                    out.places[at, column] = out.places[first, column]
            at += 1
    return at if is_plain else ALONE


@compiled
def find_values(octets: Octets, fields: Fields, tables: Tables, out: Values) -> int:
    """Find own identifiers in fields; the number of them."""
    at = field = 0
    for record in range(len(fields.families)):
        family = fields.families[record]
        while field < fields.ends[record]:
            before, tag = at, fields.tags[field]
            start, end = fields.places[field, 0], fields.places[field, 1]
            out.is_alone[field] = False
            first = tables.first_row[family, tag]
            for row in range(first, first + tables.rows[family, tag]):
                if tables.is_alone[row]:
                    found = ALONE
                elif tag < _CONTROL:
                    found = _of_control(octets, start, end, out, at)
                else:
                    found = _of_row(octets, start, end, row, tables, out, at)
                if found == ALONE:
                    out.is_alone[field] = True
                    at = before
                    break
                for value in range(at, found):
                    out.field[value], out.row[value] = field, row
                at = found
            field += 1
    return at
