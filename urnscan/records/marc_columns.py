"""Records of MARC read many at a time: compiled code finds their fields and own identifiers, which become columns.

`marc_octets` reads by itself any field of which this is not certain, and the readers any such record.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.arrays.arrow import flag_array, number_array, numbers, octet_strings, string_array, text_array
from urnscan.arrays.octets import Octets
from urnscan.arrays.strings import Offsets, cut
from urnscan.records.fields import Own, OwnField
from urnscan.records.marc_fields import FAMILIES
from urnscan.records.marc_octets import OctetTables
from urnscan.records.marc_runs import ALONE, NONE, Fields, Tables, Values, find_values
from urnscan.records.record import Columns, RecordReader, decoded
from urnscan.records.record import Values as OwnValues

_LEAST_VALUE = 3  # octets of a value in a field, with delimiter and code
_BLANKS = range(28, 32)  # white space to Python, and not to Arrow
_TAGS = [b"%03d" % tag for tag in range(1000)]


class MarcColumns:
    """Makes columns of the fields of records, by the tables of one reader."""

    def __init__(self, tables: OctetTables) -> None:
        self.tables = tables
        self.compiled: Tables
        """The tables for compiled code."""
        self.compiled, self._rows = tables.compiled()
        self._most = max(int(self.compiled.rows.max()), 1)

    def of_fields(self, octets: Octets, fields: Fields, count: int) -> Columns:
        """Columns of records whose `count` fields stand in `octets`."""
        places = fields.places[:count]
        most = int((places[:, 1] - places[:, 0]).sum()) // _LEAST_VALUE + count
        out = Values(
            np.empty(most * self._most, np.int32),
            np.empty(most * self._most, np.int16),
            np.empty((most * self._most, 6), np.int32),
            np.empty(count, np.bool_),
        )
        values = find_values(octets, fields, self.compiled, out)
        records = np.repeat(np.arange(len(fields.ends)), np.diff(fields.ends, prepend=0))  # of each field
        ends = fields.packed_ends if self.tables.is_described else np.zeros_like(fields.packed_ends)
        return Columns(
            identifiers=_identifiers(octets, fields.numbers),
            values=[*self._values(octets, out, values, records)],
            others=[*self._others(octets, fields, np.flatnonzero(out.is_alone), records)],
            descriptions=string_array(fields.packed[: ends[-1]], ends).view(pa.binary()),
            alone=fields.families == ALONE,
        )

    def _values(self, octets: Octets, out: Values, count: int, records: npt.NDArray[np.int64]) -> Iterator[OwnValues]:
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
                yield OwnValues(
                    mine.take(number_array(which)), scheme, of_row.is_key, records[order], order.astype(np.int64)
                )

    def _others(
        self, octets: Octets, fields: Fields, which: npt.NDArray[np.int64], records: npt.NDArray[np.int64]
    ) -> Iterator[tuple[int, int, Own]]:
        """Own identifiers in fields that are read by themselves."""
        held = zip(
            *(each.tolist() for each in (which, records[which], fields.tags[which], fields.places[which])), strict=True
        )
        for field, record, tag, (start, end) in held:
            family = FAMILIES[fields.families[record]]
            for own in self.tables.own(family, [(_TAGS[tag], octets[start:end].tobytes())]):
                yield record, field, own


@functools.cache
def marc_columns(*, own: bool, described: bool, keys: bool) -> MarcColumns:
    """The one object that makes columns for all readers with these options."""
    return MarcColumns(OctetTables(RecordReader(own=own, described=described, keys=keys)))


def _cut(octets: Octets, places: Offsets) -> pa.StringArray:
    return string_array(*cut(octets, np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])))


def _identifiers(octets: Octets, places: Offsets) -> pa.StringArray:
    """Names of records, from their control numbers."""
    names = _cut(octets, places)
    held, _ = octet_strings(names)
    if not np.any((held >= 128) | np.isin(held, _BLANKS)):
        trimmed = pc.ascii_trim_whitespace(names)
        return pc.if_else(pc.equal(trimmed, text_array([""])[0]), text_array([None])[0], trimmed)
    return text_array([decoded(each).strip() or None for each in names.view(pa.binary()).to_pylist()])


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
