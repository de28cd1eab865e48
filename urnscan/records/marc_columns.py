"""Records of MARC in columns: own identifiers, control numbers and packed descriptions, by the tables of one reader.

Compiled code reads the fields (`marc_values`); Python reads own identifiers in those of which that is not certain.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flag_array, number_array, numbers, octet_strings, string_array, text_array
from urnscan.compiled.jit import read_only
from urnscan.compiled.octets import Integers, Octets
from urnscan.compiled.strings import Offsets, cut
from urnscan.records.columns import Columns, Texts
from urnscan.records.decoded_text import decoded, first_name
from urnscan.records.description import described_fields
from urnscan.records.fields import Own, OwnField, admitting, of_subfields, of_value, own_fields
from urnscan.records.marc_fields import MarcOctets
from urnscan.records.marc_octets import parted
from urnscan.records.marc_runs import Fields
from urnscan.records.marc_values import CONTROL, FAMILIES, NONE, PACKED, TAGS, Tables, Values, find_values

_TAGS = 1000


class MarcColumns:
    """Makes columns of the fields of records, by the tables of both families."""

    def __init__(self, *, own: bool, described: bool, keys: bool) -> None:
        """See `RecordReader`."""
        self._owned = [own_fields(name, urns=own, keys=keys) for name in FAMILIES]
        self._describing = [described_fields(name) if described else {} for name in FAMILIES]
        self._is_described = described
        named = {name for table in (*self._owned, *self._describing) for name in table if name.isdigit()}
        self.tags = frozenset({*named, *(f"{tag:03}" for tag in TAGS)})
        """Tags of the fields that are read."""
        self._tables, self._rows = self._compiled()

    def _compiled(self) -> tuple[Tables, Sequence[OwnField]]:
        """The tables for compiled code, and the rows by their numbers in it."""
        shape = (len(FAMILIES), _TAGS)
        given, packed = (np.zeros(shape, np.bool_) for _ in range(2))
        first_row, counts = (np.zeros(shape, np.int16) for _ in range(2))
        rows: list[OwnField] = []
        for number, owned in enumerate(self._owned):
            packed[number, [int(tag) for tag in self._describing[number] if tag.isdigit()]] = True
            for tag, of_tag in owned.items():
                place = number, int(tag)
                given[place], first_row[place], counts[place] = True, len(rows), len(of_tag)
                rows += of_tag
        first, second = (np.frombuffer(b"%b\x1e%b" % (PACKED, name.encode()), np.uint8) for name in FAMILIES)
        tables = Tables(
            given,
            packed,
            (first, second),
            first_row,
            counts,
            is_alone=np.array(
                [bool(row.schemes or row.unless or row.unless_all or row.once) for row in rows], np.bool_
            ),
            first=_octets_in([row.first or None for row in rows]),
            second=_octets_in([row.second or None for row in rows]),
            parts=_octets_in([row.parts for row in rows]),
            qualifier=_codes([row.qualifier for row in rows]),
            scheme_in=_codes([row.scheme_in for row in rows]),
            source_in=_codes([row.source_in for row in rows]),
        )
        return tables, rows

    def read(self, fields: Fields, records: Integers) -> Columns:
        """Read the fields of records. `records`: the numbers that own identifiers get."""
        octets = read_only(fields.octets)
        fields = fields._replace(octets=octets)
        out = Values.room(fields, self._tables)
        count = find_values(fields, self._tables, out)
        record_of = np.repeat(records, np.diff(fields.ends, prepend=0))  # of each field
        ends = out.packed_ends if self._is_described else np.zeros_like(out.packed_ends)
        others = Texts.of_own(self._others(fields, out.families, np.flatnonzero(out.is_alone), record_of))
        return Columns(
            identifiers=_identifiers(octets, out.numbers),
            texts=[],
            own=[*self._values(octets, out, count, record_of), *others],
            descriptions=string_array(out.packed[: ends[-1]], ends).view(pa.binary()),
            damaged={},
        )

    def _values(self, octets: Octets, out: Values, count: int, records: Integers) -> Iterator[Texts]:
        """Own identifiers by row and scheme."""
        by_row = np.argsort(out.row[:count], kind="stable")
        places = out.places[by_row]
        texts, schemes, sources = (_cut(octets, places[:, at : at + 2]) for at in (0, 2, 4))
        row, field = out.row[by_row], out.field[by_row]
        bounds = [*np.flatnonzero(np.diff(row, prepend=-1, append=-1)).tolist()] if count else []
        for start, end in itertools.pairwise(bounds):
            of_row, some = self._rows[row[start]], slice(start, end)
            mine = _with_sources(texts[some], of_row, sources[some], places[some, 4] != NONE)
            for scheme, which in _by_scheme(of_row, schemes[some], places[some, 2] != NONE):
                order = field[some][which]
                named = mine.take(number_array(which))
                yield Texts(records[order], order.astype(np.int64), named, scheme, of_row.is_key)

    def _others(
        self, fields: Fields, families: npt.NDArray[np.int16], which: Integers, records: Integers
    ) -> Iterator[tuple[int, int, Own]]:
        """Own identifiers in fields that Python reads."""
        family = np.repeat(families, np.diff(fields.ends, prepend=0))
        columns = (which, records[which], family[which], fields.tags[which], fields.starts[which], fields.stops[which])
        for order, record, number, tag, start, stop in zip(*(each.tolist() for each in columns), strict=True):
            rows = self._owned[number][f"{tag:03}"]
            first, subfields = parted(fields.octets[start:stop].tobytes())
            if tag < CONTROL:
                found = [*of_value(first.strip(), rows)]
            else:
                found = of_subfields(subfields, admitting(rows, first[0], first[1]))
            for own in found:
                yield record, order, own


@functools.cache
def marc_columns(*, own: bool, described: bool, keys: bool) -> MarcColumns:
    """The one object that makes columns for all readers with these options."""
    return MarcColumns(own=own, described=described, keys=keys)


def in_columns(records: Sequence[MarcOctets]) -> Fields:
    """The fields of records that Python has taken apart."""
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
    return out._replace(octets=np.frombuffer(b"".join(parts), np.uint8))


def _octets_in(allowed: Sequence[str | None]) -> npt.NDArray[np.bool_]:
    """For each row a flag for each octet: whether it is allowed. None allows all."""
    flags = np.zeros((len(allowed), 256), np.bool_)
    for row, characters in enumerate(allowed):
        flags[row, slice(None) if characters is None else [*characters.encode()]] = True
    return flags


def _codes(codes: Sequence[str]) -> npt.NDArray[np.int16]:
    """The octet of each code of a subfield; NONE for none."""
    return np.array([ord(code) if code else NONE for code in codes], np.int16)


def _cut(octets: Octets, places: Offsets) -> pa.StringArray:
    return string_array(*cut(octets, np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])))


def _identifiers(octets: Octets, places: Offsets) -> pa.StringArray:
    """Names of records, from their control numbers, which have no white space of ASCII around them."""
    names = _cut(octets, places)
    if not np.any(octet_strings(names)[0] >= 128):
        return pc.if_else(pc.equal(names, text_array([""])[0]), text_array([None])[0], names)
    return text_array([first_name([decoded(each)]) for each in names.view(pa.binary()).to_pylist()])


def _with_sources(
    texts: pa.StringArray, row: OwnField, sources: pa.StringArray, has_source: npt.NDArray[np.bool_]
) -> pa.StringArray:
    """Values with their sources before them, like `fields.with_source`."""
    if row.source:
        sources = pc.if_else(flag_array(has_source), sources, text_array([row.source.strip()])[0])
    elif not has_source.any():
        return texts
    opens, closes, nothing = text_array(["(", ")", ""])
    joined = pc.binary_join_element_wise(opens, sources, closes, texts, nothing)
    return joined if row.source else pc.if_else(flag_array(has_source), joined, texts)


def _by_scheme(
    row: OwnField, schemes: pa.StringArray, has_scheme: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """The schemes of values of a row, and the indices of the values with each."""
    if not has_scheme.all():
        yield row.scheme, np.flatnonzero(~has_scheme)
    if has_scheme.any():
        given = schemes.dictionary_encode()
        codes = numbers(given.indices)
        for code, scheme in enumerate(given.dictionary.to_pylist()):
            if len(which := np.flatnonzero((codes == code) & has_scheme)):
                yield scheme.lower(), which
