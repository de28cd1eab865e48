"""Own identifiers of many records as texts in which the scanner finds URNs: `identifiers.as_text` for columns.

Compiled code reads ISBN as most are written, and patterns know addresses that tell nothing. Any other is read by itself.
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
from urnscan.records.identifiers import ADDRESS, HAS_URN, OTHER, TELLING_ADDRESS, TELLS, as_text, counts_out, kind_of
from urnscan.urn.numbers.isbn import NO_ISBN, RIGHT, WRONG, write_isbn

_BEGINNING = b"urn:isbn:"
_URN_OF_ISBN = len(_BEGINNING) + 13  # octets
_SPACE, _OPENS, _CLOSES = b" ()"
_IN_OTHERS = tuple(b"()[];,|/\n")  # not in a qualifier that is read here
_LONGEST_QUALIFIER = 99
_ALONE, _NOTHING, _URN = NO_ISBN, WRONG, RIGHT  # a text has to be read by itself; it has no URN; it has one

Codes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Texts of some of the values of a column."""

    which: Rows
    """Indices of the values, ascending."""
    texts: pa.StringArray
    doubtful: Rows
    """Indices of values without a text whose check digit may be wrong."""


def as_texts(values: pa.StringArray, scheme: str) -> Texts:
    """The texts of own identifiers of a kind; see `as_text`."""
    kind = kind_of(scheme)
    if kind == "isbn":
        texts, codes = _urns_of_isbn(values)
    else:
        texts, codes = values, _told(values, kind)
    codes[~flags_of(pc.string_is_ascii(values))] = _ALONE
    alone = np.flatnonzero(codes == _ALONE)
    read = [as_text(Own(text, scheme)) for text in values.take(number_array(alone)).to_pylist()]
    is_read = np.array([text is not None for text in read], np.bool_)
    which = np.concatenate([np.flatnonzero(codes == _URN), alone[is_read]])
    order = np.argsort(which, kind="stable")
    found = pa.concat_arrays(
        [texts.filter(flag_array(codes == _URN)), text_array([text for text in read if text is not None])]
    )
    wrong = np.flatnonzero(codes == _NOTHING) if kind == "isbn" else np.empty(0, np.int64)
    return Texts(which[order], found.take(number_array(order)), np.sort(np.concatenate([wrong, alone[~is_read]])))


def _told(values: pa.StringArray, kind: str) -> Codes:
    """Codes of texts that are no ISBN: what holds a URN is a text as it is."""
    has_urn = flags_of(pc.match_substring_regex(values, HAS_URN))
    nothing = np.full(len(values), kind == OTHER)
    if kind == TELLS:
        is_telling = flags_of(pc.match_substring_regex(values, TELLING_ADDRESS))
        nothing = flags_of(pc.match_substring_regex(values, ADDRESS)) & ~is_telling
    return np.where(has_urn, _URN, np.where(nothing, _NOTHING, _ALONE)).astype(np.uint8)


def _urns_of_isbn(values: pa.StringArray) -> tuple[pa.StringArray, Codes]:
    """URNs of ISBN that stand alone or have a qualifier in brackets behind them."""
    octets, offsets = octet_strings(values)
    codes, ends = np.empty(len(values), np.uint8), np.empty(len(values), np.int32)
    out = np.empty((len(values), _URN_OF_ISBN), np.uint8)
    out[:, : len(_BEGINNING)] = np.frombuffer(_BEGINNING, np.uint8)
    _write_isbns(octets, offsets, out.ravel(), codes, ends)
    qualified = np.flatnonzero((codes != _ALONE) & (ends < offsets[1:]))
    qualifiers = string_array(*cut(octets, ends[qualified], offsets[1:][qualified])).dictionary_encode()
    said = [_of_qualified(qualifier.strip()) for qualifier in qualifiers.dictionary.to_pylist()]
    allowed = np.array(said, np.uint8)[numbers(qualifiers.indices)]
    codes[qualified] = np.minimum(codes[qualified], allowed)
    return string_array(out.ravel(), np.arange(0, out.size + 1, _URN_OF_ISBN, dtype=np.int32)), codes


def _of_qualified(qualifier: str) -> int:
    """The highest code that an ISBN with a qualifier can have."""
    if "urn" in qualifier.lower():
        return _ALONE
    return _NOTHING if counts_out(qualifier, "isbn") else _URN


@compiled
def _write_isbns(octets: Octets, offsets: Offsets, out: Octets, codes: Codes, ends: Offsets) -> None:
    """Write the thirteen digits of each ISBN behind the beginning of its URN, its code, and where it ends."""
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
