"""Compiled code that reads fields of MARC: family of a record, control number, record-level identifiers, packed
description.

MARC 21 and UNIMARC have the same structure, but their tags have different meanings: 010 is the LCCN in MARC 21, the
ISBN in UNIMARC. The leader does not show the family with certainty (many UNIMARC leaders end with 4500), so the fields
of each record decide (`is_unimarc`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import is_white
from urnscan.compiled.bytes import ByteArray, copy, find_byte
from urnscan.compiled.jit import compiled, inner
from urnscan.compiled.strings import Offsets
from urnscan.records.marc_runs import REFUSED, TAG, Fields, Numbers

FAMILIES = ("marc", "unimarc")
"""Names of the tables of MARC 21 and of UNIMARC."""
PACKED = b"ISO 2709"
"""Prefix of packed descriptions of MARC (bytes that `marc_bytes.unpack_marc` reads). No table of descriptions.toml has
this name.
"""
NONE = -1
"""-1, which takes the place of the start and end of a missing subfield, and of the code in a row without a code."""
CONTROL = 10
"""Tags of control fields are below this number."""
# Returned instead of the number of values, for a field that Python reads.
_ALONE = -1
_NUMBER, _GENERAL, _TITLE, _TITLE_OF_UNIMARC = 1, 100, 245, 200
TAGS = (_NUMBER, _GENERAL, _TITLE, _TITLE_OF_UNIMARC)
"""Tags that are read in all records, in addition to the tags of the tables."""
_DELIMITER, _FIELD_END, _A, _Z, _BAR, _DIGIT_0, _DIGIT_9 = b"\x1f\x1eaz|09"
_ASCII = 0x7F
# Bytes of a field that are packed.
_LONGEST_PACKED = 2_000
# Bytes of a number of fields, with its separator.
_MAX_DIGITS = 8


def is_unimarc(
    data: ByteArray | bytes,
    tags: Numbers | Sequence[int],
    starts: Offsets | Sequence[int],
    stops: Offsets | Sequence[int],
    first: int,
    last: int,
) -> bool:
    r"""Whether the record with the fields `first` to `last - 1` is UNIMARC; otherwise it is MARC 21.

    `tags` has the tag of each field as a number, `starts` and `stops` its place in `data`. UNIMARC has the title in
    200, MARC 21 in 245. If a record has both tags, or neither, 100 $a decides: in UNIMARC it begins with a date of
    eight digits and a type of date.

    >>> is_unimarc(b"  \x1fa20260101d2026", [100], [0], [16], 0, 1), is_unimarc(b"10\x1faInks", [245], [0], [8], 0, 1)
    (True, False)
    """
    has_200 = has_245 = False
    for field in range(first, last):
        has_200 |= tags[field] == _TITLE_OF_UNIMARC
        has_245 |= tags[field] == _TITLE
    if has_200 != has_245:
        return has_200
    for field in range(first, last):
        for at in range(starts[field], stops[field] - 1):
            if tags[field] == _GENERAL and data[at] == _DELIMITER and data[at + 1] == _A:
                coded = at + 10 < stops[field]
                for place in range(at + 2, min(at + 10, stops[field])):
                    coded &= _DIGIT_0 <= data[place] <= _DIGIT_9
                return coded and (_A <= data[at + 10] <= _Z or data[at + 10] == _BAR)
    return False


class Tables(NamedTuple):
    """Rows of fields.toml and keys.toml as arrays for compiled code, and the tags that are read, for the families 0
    (MARC 21) and 1 (UNIMARC).

    A tag is a number. A column of flags has the shape (rows, 256), with a flag for each byte. A column of codes has a
    byte for each row, or NONE.
    """

    is_given: npt.NDArray[np.bool_]
    """Tags whose fields have record-level identifiers; shape (family, tag)."""
    is_packed: npt.NDArray[np.bool_]
    """Tags whose fields are packed, that is, copied for the description; shape (family, tag)."""
    names: tuple[ByteArray, ByteArray]
    """The prefix of packed descriptions, by family."""
    first_row: Numbers
    """The first row of each tag; shape (family, tag)."""
    rows: Numbers
    """The number of rows of each tag; shape (family, tag)."""
    is_alone: npt.NDArray[np.bool_]
    """Rows that only Python can apply."""
    first: npt.NDArray[np.bool_]
    """The first indicators that each row admits."""
    second: npt.NDArray[np.bool_]
    """The second indicators that each row admits."""
    parts: npt.NDArray[np.bool_]
    """The codes of the subfields that contain identifiers, for each row."""
    qualifier: Numbers
    """For each row, the code of the subfields that qualify the subfield before them, or NONE."""
    scheme_in: Numbers
    """For each row, the code of the subfield with the kind of identifier, or NONE."""
    source_in: Numbers
    """For each row, the code of the subfield with the source of the identifier, or NONE."""


class Values(NamedTuple):
    """Values that `find_values` finds in the fields of many records: control numbers, packed descriptions and
    record-level identifiers. The columns of identifiers have room for more: only as many rows as `find_values` returns
    are filled.
    """

    families: Numbers
    """The family of each record: 0 for MARC 21, 1 for UNIMARC."""
    numbers: Offsets
    """Start and end of the control number of each record in the bytes of the fields: the first 001 that is not blank;
    start and end are equal without a control number.
    """
    packed: ByteArray
    """The packed descriptions of all records, one after the other: leader, number of fields, and the fields that
    describe the work.
    """
    packed_ends: Offsets
    """The start of the first packed description, 0, and the end of each."""
    is_alone: npt.NDArray[np.bool_]
    """Fields whose record-level identifiers only Python can read, for example because they are not ASCII."""
    field: Offsets
    """Index, from 0, in the columns of fields, of the field in which each identifier is."""
    row: Numbers
    """Number of the row in `Tables`, from 0, by which each identifier was found."""
    places: Offsets
    """Shape (rows, 8): start and end of the identifier, of the kind in its field, of the source (all three
    without white space around them), and of the subfields with qualifiers. NONE for a missing part.
    """

    @classmethod
    def room(cls, fields: Fields, tables: Tables) -> Values:
        """Return columns with room for all values in `fields`, to be filled by `find_values`."""
        records, count = len(fields.ends), fields.total
        is_given = np.logical_or(*tables.is_given)[fields.tags[:count]]
        lengths = (fields.stops[:count] - fields.starts[:count])[is_given]
        # A value has at least three bytes, with its delimiter and code.
        most = (int(lengths.sum()) // 3 + len(lengths)) * max(int(tables.rows.max()), 1)
        beginning = max(map(len, tables.names)) + _MAX_DIGITS
        return cls(
            np.zeros(records, np.int16),
            np.zeros((records, 2), np.int32),
            np.empty(len(fields.data) + records * beginning + count * (TAG + 2), np.uint8),
            np.zeros(records + 1, np.int32),
            np.zeros(count, np.bool_),
            np.empty(most, np.int32),
            np.empty(most, np.int16),
            np.empty((most, 8), np.int32),
        )


@inner
def _write(data: ByteArray, start: int, end: int, out: ByteArray, at: int) -> int:
    at = copy(data, start, end, out, at)
    out[at] = _FIELD_END
    return at + 1


@inner
def _write_number(number: int, digits: int, out: ByteArray, at: int) -> int:
    """Write a number in at least `digits` digits, and a field terminator, to `out`. Returns the index after them."""
    size = 10**digits
    while number >= size:
        size *= 10
    while size > 1:
        size //= 10
        out[at] = _DIGIT_0 + number // size % 10
        at += 1
    out[at] = _FIELD_END
    return at + 1


@inner
def _trim(data: ByteArray, start: int, end: int, places: Offsets, row: int, column: int) -> bool:
    """Write start and end of `data[start:end]` without white space around it to row `row` of `places`, in the columns
    `column` and `column` + 1. Returns whether it is ASCII.
    """
    while start < end and is_white(data[start]):
        start += 1
    while start < end and is_white(data[end - 1]):
        end -= 1
    places[row, column], places[row, column + 1] = start, end
    every = np.uint8(0)
    for place in range(start, end):
        every |= data[place]
    return bool(every <= _ASCII)


@inner
def _trim_first(data: ByteArray, start: int, end: int, code: int, places: Offsets, row: int, column: int) -> bool:
    """Like `_trim`, for the first value with the code `code` that is not empty; without one, writes NONE twice, and
    returns True.
    """
    places[row, column] = places[row, column + 1] = NONE
    if code == NONE:
        return True
    for place in range(start, end - 2):
        if data[place] == _DELIMITER and data[place + 1] == code and data[place + 2] != _DELIMITER:
            return _trim(data, place + 2, find_byte(data, place + 2, end, _DELIMITER), places, row, column)
    return True


@inner
def _find_qualifiers(data: ByteArray, at: int, end: int, code: int, places: Offsets, row: int) -> None:
    """Write start and end of the neighbouring subfields with the code `code` from index `at` on to the columns 6 and 7;
    NONE twice if there are none.
    """
    start = at
    while at + 1 < end and data[at + 1] == code:
        at = find_byte(data, at + 2, end, _DELIMITER)
    places[row, 6], places[row, 7] = (start, at) if at > start else (NONE, NONE)


@inner
def _of_control(data: ByteArray, start: int, end: int, out: Values, at: int) -> int:
    """Write the identifier in the control field `data[start:end]` to row `at` of `out.places`. Returns `at` + 1, or
    _ALONE if Python must read the field.
    """
    is_plain = _trim(data, start, end, out.places, at, 0) and out.places[at, 0] < out.places[at, 1]
    for column in range(2, 8):
        out.places[at, column] = NONE
    return at + 1 if is_plain and find_byte(data, start, end, _DELIMITER) == end else _ALONE


@inner
def _of_row(data: ByteArray, start: int, end: int, row: int, tables: Tables, out: Values, at: int) -> int:
    """Write the identifiers in the data field `data[start:end]`, by the row `row` of `tables`, to `out.places`, from
    row `at` on. Returns the next free row, or _ALONE if Python must read the field.
    """
    if end - start < 2 or data[start] == _DELIMITER or data[start + 1] == _DELIMITER:
        return _ALONE
    if max(data[start], data[start + 1]) > _ASCII:
        return _ALONE
    if not (tables.first[row, data[start]] and tables.second[row, data[start + 1]]):
        return at
    first, is_plain = at, True
    for place in range(start, end - 2):
        if data[place] != _DELIMITER:
            continue
        code = data[place + 1]
        if tables.parts[row, code] and data[place + 2] != _DELIMITER:
            after = find_byte(data, place + 2, end, _DELIMITER)
            is_plain &= _trim(data, place + 2, after, out.places, at, 0)
            _find_qualifiers(data, after, end, tables.qualifier[row], out.places, at)
            is_plain &= out.places[at, 0] < out.places[at, 1]
            if at == first:
                is_plain &= _trim_first(data, start, end, tables.scheme_in[row], out.places, at, 2)
                is_plain &= _trim_first(data, start, end, tables.source_in[row], out.places, at, 4)
            else:
                for column in range(2, 6):
                    out.places[at, column] = out.places[first, column]
            at += 1
    return at if is_plain else _ALONE


@inner
def _of_field(fields: Fields, field: int, family: int, tables: Tables, out: Values, at: int) -> int:
    """Write the identifiers in a field to `out`, from number `at` on. `family`: 0 (MARC 21) or 1 (UNIMARC). Returns the
    next free number, or _ALONE if Python must read the field.
    """
    tag, start, end = fields.tags[field], fields.starts[field], fields.stops[field]
    first = tables.first_row[family, tag]
    for row in range(first, first + tables.rows[family, tag]):
        if tables.is_alone[row]:
            return _ALONE
        if tag < CONTROL:
            found = _of_control(fields.data, start, end, out, at)
        else:
            found = _of_row(fields.data, start, end, row, tables, out, at)
        if found == _ALONE:
            return _ALONE
        for value in range(at, found):
            out.field[value], out.row[value] = field, row
        at = found
    return at


@compiled
def find_values(fields: Fields, tables: Tables, out: Values) -> int:
    """Read the fields of records, and write the values in them to `out`: family, control number, packed description,
    record-level identifiers. Returns the number of identifiers. A record that is REFUSED (`fields` has no fields of it)
    gets no values. A field with an identifier that only Python can read gives no identifiers, and `out.is_alone` is True
    for it. `out`: what `Values.room` returned for the same `fields` and `tables`, unused; bounds are not checked.
    """
    data = fields.data
    values = at = first = 0
    for record in range(len(fields.ends)):
        last = fields.ends[record]
        if fields.totals[record] != REFUSED:
            family = int(is_unimarc(data, fields.tags, fields.starts, fields.stops, first, last))
            out.families[record] = family
            at = _write(tables.names[family], 0, len(tables.names[family]), out.packed, at)
            at = _write(data, fields.leaders[record, 0], fields.leaders[record, 1], out.packed, at)
            at = _write_number(fields.totals[record], 1, out.packed, at)
            for field in range(first, last):
                tag, start, end = fields.tags[field], fields.starts[field], fields.stops[field]
                if tag == _NUMBER and out.numbers[record, 0] == out.numbers[record, 1]:
                    _trim(data, start, end, out.numbers, record, 0)
                if tables.is_packed[family, tag]:
                    at = _write_number(tag, TAG, out.packed, at)
                    at = _write(data, start, min(end, start + _LONGEST_PACKED), out.packed, at)
                if tables.is_given[family, tag]:
                    found = _of_field(fields, field, family, tables, out, values)
                    out.is_alone[field] = found == _ALONE
                    values = values if found == _ALONE else found
            at -= 1  # no terminator at the end
        out.packed_ends[record + 1] = at
        first = last
    return values
