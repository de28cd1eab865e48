"""Columns of fields of MARC -> columns of records: record-level identifiers, control numbers and packed descriptions.

Compiled code reads the fields (`marc_values`). Python reads record-level identifiers in fields that compiled code
cannot read with certainty.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, flag_array, number_array, numbers, string_array, text_array
from urnscan.compiled.bytes import ByteArray, Integers
from urnscan.compiled.jit import read_only
from urnscan.compiled.strings import Offsets, cut
from urnscan.records.columns import Columns, Texts, with_sources
from urnscan.records.decoded_text import decoded, first_name
from urnscan.records.description import described_fields
from urnscan.records.fields import Own, OwnField, admitting, in_brackets, of_subfields, of_value, own_fields
from urnscan.records.marc_bytes import split_field
from urnscan.records.marc_fields import DELETED, STATUS, MarcBytes
from urnscan.records.marc_runs import REFUSED, Fields
from urnscan.records.marc_values import CONTROL, FAMILIES, NONE, PACKED, TAGS, Tables, Values, find_values

_TAGS = 1000
# Index of the type of record in the leader.
_TYPE = 6
# Types of records of holdings. Types of authorities in UNIMARC are among them.
_HOLDINGS = np.frombuffer(b"uvxy", np.uint8)
# Type and level in the leader of MAB2 (`M2.0`) inside MARC: its fields have other meanings, such as 010, its set.
_MAB_TYPE, _MAB_LEVEL, _DELETED = (np.frombuffer(code, np.uint8) for code in (b"M", b"2", DELETED))
# 001 and 003 name the record itself; 003 of MAB2 is a date.
_LAST_NAME, _LAST_NAME_OF_MAB = 3, 1


class MarcColumns:
    """Reads fields of MARC of many records, in columns: record-level identifiers, control numbers and descriptions, by
    the tables of MARC 21 and of UNIMARC.
    """

    def __init__(self, *, own: bool, described: bool, keys: bool) -> None:
        """`own`: record-level identifiers that may become URNs are read. `keys`: identifiers that give keys are read.
        `described`: descriptions are read.
        """
        self._own_tables = [own_fields(name, urns=own, keys=keys) for name in FAMILIES]
        self._description_tables = [described_fields(name) if described else {} for name in FAMILIES]
        self._is_described = described
        names = {name for table in (*self._own_tables, *self._description_tables) for name in table if name.isdigit()}
        self.tags = frozenset({*names, *(f"{tag:03}" for tag in TAGS)})
        """Tags of the fields that are read."""
        self._tables, self._rows = self._tables_and_rows()

    def _tables_and_rows(self) -> tuple[Tables, Sequence[OwnField]]:
        shape = (len(FAMILIES), _TAGS)
        has_own, is_packed = (np.zeros(shape, np.bool_) for _ in range(2))
        first_row, counts = (np.zeros(shape, np.int16) for _ in range(2))
        rows: list[OwnField] = []
        for number, own_table in enumerate(self._own_tables):
            is_packed[number, [int(tag) for tag in self._description_tables[number] if tag.isdigit()]] = True
            for tag, of_tag in own_table.items():
                place = number, int(tag)
                has_own[place], first_row[place], counts[place] = True, len(rows), len(of_tag)
                rows += of_tag
        first, second = (np.frombuffer(b"%b\x1e%b" % (PACKED, name.encode()), np.uint8) for name in FAMILIES)
        tables = Tables(
            has_own,
            is_packed,
            (first, second),
            first_row,
            counts,
            is_alone=np.array(
                [bool(row.schemes or row.unless or row.unless_all or row.once) for row in rows], np.bool_
            ),
            first=_bytes_in([row.first or None for row in rows]),
            second=_bytes_in([row.second or None for row in rows]),
            parts=_bytes_in([row.parts for row in rows]),
            qualifier=_codes([row.qualifier for row in rows]),
            scheme_in=_codes([row.scheme_in for row in rows]),
            source_in=_codes([row.source_in for row in rows]),
        )
        return tables, rows

    def read(self, fields: Fields, records: Integers) -> Columns:
        """Read the fields of MARC of many records. Returns `Columns` with an empty `texts`: `identifiers` and
        `descriptions` have a row for each record in `fields`, in order; in `own` and `deleted` a record has the number
        that `records` gives for it.
        """
        fields = _without_held(fields)
        data = read_only(fields.data)
        fields = fields._replace(data=data)
        out = Values.room(fields, self._tables)
        count = find_values(fields, self._tables, out)
        record_of_field = np.repeat(records, np.diff(fields.ends, prepend=0))
        ends = out.packed_ends if self._is_described else np.zeros_like(out.packed_ends)
        # A copy: Arrow keeps the whole room of a slice, which has as many bytes as the records.
        packed = out.packed[: ends[-1]].copy()
        others = Texts.of_own(self._others(fields, out.families, np.flatnonzero(out.is_alone), record_of_field))
        return Columns(
            identifiers=_identifiers(data, out.numbers),
            texts=[],
            own=[*self._values(data, out, count, record_of_field), *others],
            descriptions=string_array(packed, ends).view(pa.binary()),
            damaged={},
            deleted=records[_in_leaders(fields, STATUS, _DELETED)],
        )

    def _values(self, data: ByteArray, out: Values, count: int, records: Integers) -> Iterator[Texts]:
        """Yield the identifiers that compiled code found (the first `count` of `out`): a `Texts` for each row and
        scheme. `records`: number of the record of each field.
        """
        by_row = np.argsort(out.row[:count], kind="stable")
        places = out.places[by_row]
        texts, schemes, sources, qualifiers = (_cut(data, places[:, at : at + 2]) for at in (0, 2, 4, 6))
        texts = _with_qualifiers(texts, qualifiers, places[:, 6] != NONE)
        row, field = out.row[by_row], out.field[by_row]
        bounds = [*np.flatnonzero(np.diff(row, prepend=-1, append=-1)).tolist()] if count else []
        for start, end in itertools.pairwise(bounds):
            own_field, part = self._rows[row[start]], slice(start, end)
            values, has_source = texts[part], places[part, 4] != NONE
            if own_field.source or has_source.any():
                default = text_array([own_field.source or None])[0]
                values = with_sources(values, pc.if_else(flag_array(has_source), sources[part], default))
            for scheme, indices in _by_scheme(own_field, schemes[part], places[part, 2] != NONE):
                order = field[part][indices]
                of_scheme = values.take(number_array(indices))
                yield Texts(records[order], order.astype(np.int64), of_scheme, scheme, own_field.is_key)

    def _others(
        self, fields: Fields, families: npt.NDArray[np.int16], numbers: Integers, records: Integers
    ) -> Iterator[tuple[int, int, Own]]:
        """Yield (record, order, identifier) from the fields with the indices `numbers`. `families`: 0 (MARC 21) or 1
        (UNIMARC) for each record; `records`: number of the record of each field.
        """
        family = np.repeat(families, np.diff(fields.ends, prepend=0))
        columns = (
            numbers,
            *(column[numbers] for column in (records, family, fields.tags, fields.starts, fields.stops)),
        )
        for order, record, number, tag, start, stop in zip(*(column.tolist() for column in columns), strict=True):
            rows = self._own_tables[number][f"{tag:03}"]
            first, subfields = split_field(fields.data[start:stop].tobytes())
            if tag < CONTROL:
                identifiers = [*of_value(first.strip(), rows)]
            else:
                identifiers = of_subfields(subfields, admitting(rows, *first.ljust(2)[:2]))
            for own in identifiers:
                yield record, order, own


@functools.cache
def marc_columns(*, own: bool, described: bool, keys: bool) -> MarcColumns:
    """Return the `MarcColumns` for these options. It is made once: calls with the same options return the same object."""
    return MarcColumns(own=own, described=described, keys=keys)


def in_columns(records: Sequence[MarcBytes]) -> Fields:
    """Return the fields of MARC records in columns, as compiled code reads them."""
    count = sum(len(record.fields) for record in records)
    out = Fields.room(np.empty(0, np.uint8), len(records), count)
    parts: list[bytes] = []
    at = row = 0
    for number, (leader, total, fields) in enumerate(records):
        parts.append(leader)
        out.leaders[number], out.totals[number] = (at, at + len(leader)), total
        at += len(leader)
        for tag, field in fields:
            parts.append(field)
            out.tags[row], out.starts[row], out.stops[row] = tag, at, at + len(field)
            at += len(field)
            row += 1
        out.ends[number] = row
    return out._replace(data=np.frombuffer(b"".join(parts), np.uint8))


def _in_leaders(fields: Fields, at: int, codes: ByteArray) -> npt.NDArray[np.bool_]:
    """Whether each record has one of the bytes `codes` at the index `at` of its leader; False for a REFUSED record."""
    place = fields.leaders[:, 0] + at
    have_code: npt.NDArray[np.bool_] = (fields.totals != REFUSED) & (place < fields.leaders[:, 1])
    have_code[have_code] = np.isin(fields.data[place[have_code]], codes)
    return have_code


def _without_held(fields: Fields) -> Fields:
    """The fields, without those of records of holdings except 001 to 003 (other identifiers in them belong to the
    work), and without those of records of MAB2 except 001.
    """
    are_holdings = _in_leaders(fields, _TYPE, _HOLDINGS)
    are_mab = _in_leaders(fields, _TYPE, _MAB_TYPE) & _in_leaders(fields, _TYPE + 1, _MAB_LEVEL)
    if not (are_holdings.any() or are_mab.any()):
        return fields
    count = len(fields.leaders)
    record = np.repeat(np.arange(count), np.diff(fields.ends, prepend=0))
    tags = fields.tags[: len(record)]
    # A record with a title or heading is not a record of holdings.
    are_holdings &= np.bincount(record[tags // 100 == 2], minlength=count) == 0
    last_names = np.where(are_mab, _LAST_NAME_OF_MAB, _LAST_NAME)
    which = np.flatnonzero((tags <= last_names[record]) | ~(are_holdings | are_mab)[record])
    ends = np.cumsum(np.bincount(record[which], minlength=count)).astype(fields.ends.dtype)
    return fields._replace(ends=ends, tags=tags[which], starts=fields.starts[which], stops=fields.stops[which])


def _bytes_in(allowed: Sequence[str | None]) -> npt.NDArray[np.bool_]:
    flags = np.zeros((len(allowed), 256), np.bool_)
    for row, characters in enumerate(allowed):
        flags[row, slice(None) if characters is None else [*characters.encode()]] = True
    return flags


def _codes(codes: Sequence[str]) -> npt.NDArray[np.int16]:
    return np.array([ord(code) if code else NONE for code in codes], np.int16)


def _cut(data: ByteArray, places: Offsets) -> pa.StringArray:
    return string_array(*cut(data, np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])))


def _identifiers(data: ByteArray, places: Offsets) -> pa.StringArray:
    """IDs of records: the control numbers at `places` (start and end in `data`, without ASCII white space around them);
    null if empty.
    """
    names = _cut(data, places)
    if not np.any(byte_strings(names)[0] >= 128):
        return pc.if_else(pc.equal(names, text_array([""])[0]), text_array([None])[0], names)
    return text_array([first_name([decoded(name)]) for name in names.view(pa.binary()).to_pylist()])


def _with_qualifiers(
    texts: pa.StringArray, subfields: pa.StringArray, has_subfields: npt.NDArray[np.bool_]
) -> pa.StringArray:
    """The texts, each with its qualifiers in brackets after it: `3161484100 (pbk.)`. `subfields`: those of its
    qualifiers, with delimiters and codes.
    """
    if not has_subfields.any():
        return texts
    encoded = subfields.view(pa.binary()).dictionary_encode()
    qualifiers = [
        in_brackets(map(decoded, data.split(data[:2] or b"\x1f")[1:])) for data in encoded.dictionary.to_pylist()
    ]
    return pc.binary_join_element_wise(texts, text_array(qualifiers).take(encoded.indices), "")


def _by_scheme(
    row: OwnField, schemes: pa.StringArray, has_scheme: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """The schemes of the values of a row, each with the indices of its values. Where `has_scheme` is false, the scheme
    is that of the row.
    """
    if not has_scheme.all():
        yield row.scheme, np.flatnonzero(~has_scheme)
    if has_scheme.any():
        encoded = schemes.dictionary_encode()
        codes = numbers(encoded.indices)
        for code, scheme in enumerate(encoded.dictionary.to_pylist()):
            if len(indices := np.flatnonzero((codes == code) & has_scheme)):
                yield scheme.lower(), indices
