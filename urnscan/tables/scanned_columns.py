"""Scans of a column of values: many values are scanned as a single text, and each match is assigned to a value."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from urnscan.compiled.arrow import byte_strings, bytes_array
from urnscan.errors import ArgumentError
from urnscan.scanner.blocks import Matches, Scanner

if TYPE_CHECKING:
    from urnscan.scanner.views.recovery import RecoveringScanner


# Maximum number of values that are scanned as a single text.
_ROWS = 1 << 14
_TEXT = (pa.null(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


@dataclass(frozen=True, slots=True)
class PlacesInValues:
    """Positions of matches or rejects in the values of a column: the value (`value`, an index from 0), and the place in
    the value (`start`, `line`).
    """

    value: npt.NDArray[np.int64]
    """The index of the value, from 0."""
    start: npt.NDArray[np.int64]
    """Byte offset in the value, from 0."""
    line: npt.NDArray[np.int64]
    """Line number in the value, from 1; 0 if lines are not counted."""


@dataclass(frozen=True, slots=True)
class InValues(PlacesInValues):
    """Matches in the values of a column, with their positions: element i of `value`, `start` and `line` is the position
    of match i of `matches`. `rejects` has the positions of `matches.rejects`.
    """

    matches: Matches
    rejects: PlacesInValues | None = None
    """Positions of `matches.rejects`; None without rejects."""


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type can be scanned: texts, bytes, a dictionary of these, or the type null."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return kind in _TEXT or pa.types.is_fixed_size_binary(kind)


def scan_values(scanner: Scanner | RecoveringScanner, values: pa.Array) -> Iterator[InValues]:
    """Scan the values of a column of texts or bytes (a type that `is_text` accepts), and yield the matches in them, in
    order. Each InValues has at least one match or reject, often of several values.

    A null has no matches, and no match reaches over two values. `InValues.value` is an index in the whole column;
    `line` has a meaning only if the scanner counts lines. Raises ArgumentError for a value of 2 GiB or more.
    """
    first = 0
    for byte_values in _bytes(values):
        data, offsets = byte_strings(byte_values)
        number = np.arange(first, first + len(byte_values))
        starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64) - 1
        line_ends: npt.NDArray[np.int64] | None = None if scanner.grammar.count_lines else starts[:0]
        for matches in scanner.scan_bytes(data[: offsets[-1]]):
            # Line ends are found here, so that values without matches need not be searched for them.
            if line_ends is None:
                line_ends = np.flatnonzero(data == ord("\n"))
            rejects: PlacesInValues | None = None
            if matches.rejects:
                of = matches.rejects.locate(starts, ends)
                line = matches.rejects.line - np.searchsorted(line_ends, starts[of])
                rejects = PlacesInValues(number[of], matches.rejects.start - starts[of], line)
            of = matches.locate(starts, ends)
            line = matches.line - np.searchsorted(line_ends, starts[of])
            yield InValues(number[of], matches.start - starts[of], line, matches, rejects)
        first += len(byte_values)


def count_bytes(values: pa.Array) -> int:
    """The total number of bytes of all values (texts in UTF-8, or bytes); a null has none. The type of `values` must be
    one that `is_text` accepts.
    """
    return pc.sum(pc.binary_length(as_bytes(values))).as_py() or 0


def as_bytes(values: pa.Array) -> pa.LargeBinaryArray:
    """Return an array of byte strings: texts become UTF-8, bytes stay, a dictionary is replaced by its values, a null
    stays null. The type of `values` must be one that `is_text` accepts.
    """
    return _decoded(values).cast(pa.large_binary())


def _decoded(values: pa.Array) -> pa.Array:
    if not pa.types.is_dictionary(values.type):
        return values
    # Arrow cannot cast a column with a dictionary of string views, as Polars makes it; so the dictionary is cast first.
    return values.dictionary.cast(pa.large_binary()).take(values.indices)


def _bytes(values: pa.Array) -> Iterator[pa.BinaryArray]:
    """Yield the values in arrays with 32-bit offsets. A zero byte follows each value, and a null is empty. Raises
    ArgumentError for a value that is too long.
    """
    values = _decoded(values)
    separator, nothing = bytes_array([b"\0", b""])
    rest = deque(values.slice(start, _ROWS) for start in range(0, len(values), _ROWS))
    while rest:
        part = rest.popleft()
        try:
            yield pc.binary_join_element_wise(part.cast(pa.binary()).fill_null(nothing), nothing, separator)
        except pa.ArrowInvalid as error:
            if len(part) == 1:
                raise ArgumentError("a value has more than 2 GiB; scan it from a file") from error
            half = len(part) // 2
            rest.extendleft((part.slice(half), part.slice(0, half)))
