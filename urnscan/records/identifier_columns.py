"""Own identifiers of many records as texts in which the scanner finds URNs: `identifiers.as_text` for columns.

Compiled code reads most ISBN, and patterns find addresses that contain no identifier. Python reads the others one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import flag_array, flags_of, number_array, numbers, octet_strings, string_array, text_array
from urnscan.compiled.jit import compiled, inner
from urnscan.compiled.octets import Octets
from urnscan.compiled.strings import Offsets, cut
from urnscan.records.fields import Own
from urnscan.records.identifiers import (
    ADDRESS,
    ADDRESS_WITH_IDENTIFIER,
    HAS_URN,
    OTHER,
    UNNAMED,
    as_text,
    counts_out,
    kind_of,
)
from urnscan.urn.numbers.isbn import NO_ISBN, RIGHT, WRONG, write_isbn

_BEGINNING = b"urn:isbn:"
# Octets of the URN of an ISBN.
_URN_OF_ISBN = len(_BEGINNING) + 13
_SPACE, _OPENS, _CLOSES = b" ()"
# Octets that occur in no qualifier that is read here.
_IN_OTHERS = tuple(b"()[];,|/\n")
_LONGEST_QUALIFIER = 99
# Codes of values: Python has to read it; it has no URN; it has a URN.
_ALONE, _NOTHING, _URN = NO_ISBN, WRONG, RIGHT

Codes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Texts of some of the values of a column."""

    rows: Rows
    """Indices of the values that have a text, ascending."""
    texts: pa.StringArray
    doubtful: Rows
    """Indices of values without a text whose check digit may be wrong."""


def as_texts(values: pa.StringArray, scheme: str) -> Texts:
    """The texts of own identifiers of a kind; see `as_text`."""
    kind = kind_of(scheme)
    if kind == "isbn":
        texts, codes = _urns_of_isbn(values)
    else:
        texts, codes = values, _codes_of_others(values, kind)
    codes[~flags_of(pc.string_is_ascii(values))] = _ALONE
    alone = np.flatnonzero(codes == _ALONE)
    texts_of_alone = [as_text(Own(text, scheme)) for text in values.take(number_array(alone)).to_pylist()]
    has_text = np.array([text is not None for text in texts_of_alone], np.bool_)
    rows = np.concatenate([np.flatnonzero(codes == _URN), alone[has_text]])
    order = np.argsort(rows, kind="stable")
    all_texts = pa.concat_arrays(
        [texts.filter(flag_array(codes == _URN)), text_array([text for text in texts_of_alone if text is not None])]
    )
    wrong = np.flatnonzero(codes == _NOTHING) if kind == "isbn" else np.empty(0, np.int64)
    return Texts(rows[order], all_texts.take(number_array(order)), np.sort(np.concatenate([wrong, alone[~has_text]])))


def _codes_of_others(values: pa.StringArray, kind: str) -> Codes:
    """Codes of values of another kind than ISBN. A value that contains a URN is a text without any change."""
    has_urn = flags_of(pc.match_substring_regex(values, HAS_URN))
    has_nothing = np.full(len(values), kind == OTHER)
    if kind == UNNAMED:
        has_identifier = flags_of(pc.match_substring_regex(values, ADDRESS_WITH_IDENTIFIER))
        has_nothing = flags_of(pc.match_substring_regex(values, ADDRESS)) & ~has_identifier
    return np.where(has_urn, _URN, np.where(has_nothing, _NOTHING, _ALONE)).astype(np.uint8)


def _urns_of_isbn(values: pa.StringArray) -> tuple[pa.StringArray, Codes]:
    """URNs and codes of values that are an ISBN, or an ISBN and a qualifier in brackets. URNs of others are not valid."""
    octets, offsets = octet_strings(values)
    codes, ends = np.empty(len(values), np.uint8), np.empty(len(values), np.int32)
    out = np.empty((len(values), _URN_OF_ISBN), np.uint8)
    out[:, : len(_BEGINNING)] = np.frombuffer(_BEGINNING, np.uint8)
    _write_isbns(octets, offsets, out.ravel(), codes, ends)
    with_qualifier = np.flatnonzero((codes != _ALONE) & (ends < offsets[1:]))
    qualifiers = string_array(*cut(octets, ends[with_qualifier], offsets[1:][with_qualifier])).dictionary_encode()
    highest = [_highest_code(qualifier.strip()) for qualifier in qualifiers.dictionary.to_pylist()]
    codes[with_qualifier] = np.minimum(codes[with_qualifier], np.array(highest, np.uint8)[numbers(qualifiers.indices)])
    return string_array(out.ravel(), np.arange(0, out.size + 1, _URN_OF_ISBN, dtype=np.int32)), codes


def _highest_code(qualifier: str) -> int:
    """The highest code that an ISBN with a qualifier can have."""
    if "urn" in qualifier.lower():
        return _ALONE
    return _NOTHING if counts_out(qualifier, "isbn") else _URN


@compiled
def _write_isbns(octets: Octets, offsets: Offsets, out: Octets, codes: Codes, ends: Offsets) -> None:
    """Write the thirteen digits of each ISBN after the beginning of its URN, its code, and the place of its end."""
    for row in range(len(codes)):
        end = ends[row] = _end_of_isbn(octets, offsets[row], offsets[row + 1])
        codes[row] = write_isbn(octets, offsets[row], end, out, row * _URN_OF_ISBN + len(_BEGINNING))


@inner
def _end_of_isbn(octets: Octets, start: int, end: int) -> int:
    """The end of a number before a qualifier in brackets, or of the whole text."""
    at = start
    while at < end and octets[at] != _SPACE:
        at += 1
    if end - at <= _LONGEST_QUALIFIER + 3 and at + 2 < end and octets[at + 1] == _OPENS and octets[end - 1] == _CLOSES:
        for place in range(at + 2, end - 1):
            if octets[place] in _IN_OTHERS:
                return end
        return at
    return end
