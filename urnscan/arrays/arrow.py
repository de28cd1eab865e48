"""Between Arrow columns and the arrays that compiled code takes, without copying.

pyarrow's own conversions import pandas, to see whether they were given an object of pandas. That costs each start a
quarter of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.arrays.jit import read_only
from urnscan.arrays.octets import Octets
from urnscan.arrays.strings import Offsets

_DTYPES = {pa.uint8(): np.uint8, pa.int32(): np.int32, pa.int64(): np.int64}


def octet_strings(column: pa.StringArray) -> tuple[Octets, Offsets]:
    """The octets and offsets of a column of strings, not copied."""
    _, offsets, octets = column.buffers()
    return (
        read_only(np.frombuffer(octets or b"", np.uint8)),
        read_only(np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]),
    )


def string_array(octets: Octets, offsets: Offsets) -> pa.StringArray:
    """A column of strings from octets and offsets, not copied."""
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(octets))


def numbers(column: pa.Array) -> npt.NDArray[Any]:
    """The array of a column of numbers without nulls, not copied."""
    values = np.frombuffer(column.buffers()[1], _DTYPES[column.type])
    return read_only(values[column.offset : column.offset + len(column)])


def number_array(values: npt.NDArray[Any]) -> pa.Array:
    """A column of numbers from an array, not copied if the array is contiguous."""
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def number_scalar(value: int) -> pa.Int64Scalar:
    """A number for functions of pyarrow, which would import pandas to make it from an int."""
    return number_array(np.array([value], np.int64))[0]


def bits(flags: npt.NDArray[np.bool_] | Sequence[bool]) -> pa.Buffer:
    """Flags packed as Arrow does: the validity of values, or a column of booleans."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def flag_array(flags: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """A column of booleans from an array."""
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, bits(flags)])


def flags_of(column: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """The array of a column of booleans without nulls."""
    packed = np.unpackbits(np.frombuffer(column.buffers()[1], np.uint8), bitorder="little")
    return packed[column.offset : column.offset + len(column)].astype(np.bool_)


def decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column without its dictionary, if it has one."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def octets_array(values: Sequence[bytes]) -> pa.BinaryArray:
    """A column of octets, of not more than 2 GiB in all."""
    return _column(pa.binary(), values)


def text_array(texts: Sequence[str | None]) -> pa.StringArray:
    """A column of a few strings; None is null, a lone surrogate becomes an escape."""
    known = bits([text is not None for text in texts]) if None in texts else None
    return _column(pa.string(), [(text or "").encode("utf-8", "backslashreplace") for text in texts], known)


def _column(kind: pa.DataType, values: Sequence[bytes], known: pa.Buffer | None = None) -> pa.Array:
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))])


def filtered(lists: pa.ListArray, which: npt.NDArray[np.bool_]) -> pa.ListArray:
    """Lists with only those of their values that `which` marks."""
    if which.all():
        return lists
    ends = np.append(np.int32(0), np.cumsum(which, dtype=np.int32))[numbers(lists.offsets)]
    return pa.ListArray.from_arrays(number_array(ends), lists.values.filter(flag_array(which)), type=lists.type)
