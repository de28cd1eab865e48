"""Record-level identifiers of many records -> texts in which the scanner finds URNs: `identifiers.as_text` for columns.

Compiled code reads most ISBN, and patterns find addresses that contain no identifier. Python reads each of the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, flag_array, flags_of, number_array, numbers, string_array, text_array
from urnscan.compiled.ascii import CASE, is_digit
from urnscan.compiled.bytes import ByteArray
from urnscan.compiled.jit import compiled, inlined, inner
from urnscan.compiled.strings import Offsets, cut
from urnscan.records.fields import Own
from urnscan.records.identifiers import (
    ADDRESS,
    ADDRESS_WITH_IDENTIFIER,
    HAS_URN,
    OTHER,
    UNNAMED,
    as_text,
    kind_of,
)
from urnscan.urn.numbers.isbn import NO_ISBN, RIGHT, WRONG, write_isbn

_BEGINNING = b"urn:isbn:"
# Bytes of the URN of an ISBN.
_URN_OF_ISBN = len(_BEGINNING) + 13
_ASCII = 127
_HYPHEN, _LETTER_X = b"-x"
_BETWEEN_DIGITS = tuple(b" -")
_LONGEST_TAIL = 102
# With so many digits, the text after an ISBN may be another number.
_DIGITS = 9
_EXAMPLE, _URN_OF_EXAMPLE = "9780395363416", "urn:isbn:9780395363416"
# Codes of values: Python has to read the value; the value has no URN; the value has a URN.
_ALONE, _NOTHING, _URN = NO_ISBN, WRONG, RIGHT

Codes = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]


class Texts(NamedTuple):
    """Texts made of a column of identifiers, in which the scanner finds URNs (`urn:isbn:9783161484100`). Not every
    value has a text.
    """

    rows: Rows
    """Indices of the values that have a text, from 0, ascending."""
    texts: pa.StringArray
    """The text of each value in `rows`, in the same order."""
    doubtful: Rows
    """Indices of values without a text whose check digit may be wrong, ascending."""


def as_texts(values: pa.StringArray, scheme: str) -> Texts:
    """Return the texts in which the scanner finds the URNs of a column of identifiers, which has no nulls. The text of
    a value is the URN of its identifier (a line for each of several), or the value itself if it contains a URN. Values
    without a URN have no text: for example, those with a wrong check digit. `scheme`: kind of all these identifiers, as
    a record names it (`isbn`), in any case; empty if unknown.
    """
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
    """The code of each value of a kind other than ISBN: _URN if `urn:` is in it, _NOTHING if no URN can be made of it,
    _ALONE if Python has to find out. The codes of values that are not ASCII have no meaning.
    """
    has_urn = flags_of(pc.match_substring_regex(values, HAS_URN))
    has_nothing = np.full(len(values), kind == OTHER)
    if kind == UNNAMED:
        has_identifier = flags_of(pc.match_substring_regex(values, ADDRESS_WITH_IDENTIFIER))
        has_nothing = flags_of(pc.match_substring_regex(values, ADDRESS)) & ~has_identifier
    return np.where(has_urn, _URN, np.where(has_nothing, _NOTHING, _ALONE)).astype(np.uint8)


def _urns_of_isbn(values: pa.StringArray) -> tuple[pa.StringArray, Codes]:
    """A URN and a code for each value of the kind ISBN: _URN; _NOTHING if it has no URN; _ALONE if Python has to read
    it. The URN has a meaning only with _URN.
    """
    data, offsets = byte_strings(values)
    codes, ends = np.empty(len(values), np.uint8), np.empty(len(values), np.int32)
    out = np.empty((len(values), _URN_OF_ISBN), np.uint8)
    out[:, : len(_BEGINNING)] = np.frombuffer(_BEGINNING, np.uint8)
    _write_isbns(data, offsets, out.ravel(), codes, ends)
    with_tail = np.flatnonzero((codes != _ALONE) & (ends < offsets[1:]))
    tails = string_array(*cut(data, ends[with_tail], offsets[1:][with_tail])).dictionary_encode()
    highest = np.array([_highest_code(tail) for tail in tails.dictionary.to_pylist()], np.uint8)
    codes[with_tail] = np.minimum(codes[with_tail], highest[numbers(tails.indices)])
    return string_array(out.ravel(), np.arange(0, out.size + 1, _URN_OF_ISBN, dtype=np.int32)), codes


def _highest_code(tail: str) -> int:
    """The highest code (_ALONE < _NOTHING < _URN) that an ISBN with the text `tail` after it can have: that of a right
    ISBN.
    """
    if sum(map(str.isdigit, tail)) >= _DIGITS:
        return _ALONE
    text = as_text(Own(_EXAMPLE + tail, "isbn"))
    return _NOTHING if text is None else _URN if text == _URN_OF_EXAMPLE else _ALONE


@compiled
def _write_isbns(data: ByteArray, offsets: Offsets, out: ByteArray, codes: Codes, ends: Offsets) -> None:
    """Write the digits of the ISBN of each value to its 22 bytes of `out`, its code (_URN, _NOTHING, _ALONE) to
    `codes`, and the index after it in `data` to `ends`.
    """
    for row in range(len(codes)):
        end = ends[row] = _end_of_isbn(data, offsets[row], offsets[row + 1])
        codes[row] = write_isbn(data, offsets[row], end, out, row * _URN_OF_ISBN + len(_BEGINNING))


@inner
def _end_of_isbn(data: ByteArray, start: int, end: int) -> int:
    """Index after the digits, X and hyphens at the start of `data[start:end]`; `end` if what follows may belong to the
    number, or is too long.
    """
    at = start
    while at < end and (data[at] == _HYPHEN or _is_digit_of_isbn(data[at])):
        at += 1
    place = at
    while place < end and data[place] in _BETWEEN_DIGITS:
        place += 1
    is_sure = place < end and data[place] <= _ASCII and not _is_digit_of_isbn(data[place])
    return at if is_sure and end - at <= _LONGEST_TAIL else end


@inlined
def _is_digit_of_isbn(byte: int) -> bool:
    return is_digit(byte) or byte | CASE == _LETTER_X
