"""Conversions between Arrow columns and the arrays that compiled code gets, without copying.

The conversions of pyarrow import pandas, to check whether an argument is an object of pandas. That import would cost
each start a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from urnscan.compiled.bytes import ByteArray
from urnscan.compiled.jit import read_only
from urnscan.compiled.strings import Offsets

_DTYPES = {pa.uint8(): np.uint8, pa.uint16(): np.uint16, pa.int32(): np.int32, pa.int64(): np.int64}


def byte_strings(column: pa.StringArray) -> tuple[ByteArray, Offsets]:
    """The bytes and offsets of a column of strings, read-only and not copied: string i is `data[offsets[i]:offsets[i +
    1]]`; there is one offset more than strings. The string of a null has no meaning.
    """
    _, offsets, data = column.buffers()
    return (
        read_only(np.frombuffer(data or b"", np.uint8)),
        read_only(np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]),
    )


def string_array(data: ByteArray, offsets: Offsets) -> pa.StringArray:
    """A column of strings without nulls, not copied: string i is `data[offsets[i]:offsets[i + 1]]` (UTF-8, which is not
    checked); `offsets` has one item more than strings. The arrays must not change afterwards.
    """
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def numbers(column: pa.Array) -> npt.NDArray[Any]:
    """The values of a column of uint8, uint16, int32 or int64, as a read-only array, not copied. Raises KeyError for
    another type of values. The number of a null has no meaning.
    """
    values = np.frombuffer(column.buffers()[1], _DTYPES[column.type])
    return read_only(values[column.offset : column.offset + len(column)])


def number_array(values: npt.NDArray[Any]) -> pa.Array:
    """A column of numbers without nulls from an array, of the same type. If the array is contiguous it is not copied,
    and must not change afterwards.
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def number_scalar(value: int) -> pa.Int64Scalar:
    """An int as an Arrow scalar of the type int64."""
    # Functions of pyarrow would import pandas to convert a plain int.
    return number_array(np.array([value], np.int64))[0]


def bits(flags: npt.NDArray[np.bool_] | Sequence[bool]) -> pa.Buffer:
    """Flags packed into bits, lowest bit first, as a new buffer: Arrow stores so the validity of values (1 is not null)
    and columns of booleans.
    """
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def flag_array(flags: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """A column of booleans without nulls from an array."""
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, bits(flags)])


def flags_of(column: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """The values of a column of booleans as a new array. The value of a null has no meaning."""
    packed = np.unpackbits(np.frombuffer(column.buffers()[1], np.uint8), bitorder="little")
    return packed[column.offset : column.offset + len(column)].astype(np.bool_)


def decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The column with plain values, if the column is dictionary-encoded (each value stored once, with numbers in the
    rows); else the column unchanged.
    """
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def bytes_array(values: Sequence[bytes]) -> pa.BinaryArray:
    """A column of the given byte strings, in order, which must have less than 2 GiB together."""
    return _column(pa.binary(), values)


def text_array(texts: Sequence[str | None]) -> pa.StringArray:
    r"""A column of the given strings, in order, which must have less than 2 GiB together; None becomes null, a lone
    surrogate an escape such as `\ud800`.
    """
    validity = bits([text is not None for text in texts]) if None in texts else None
    return _column(pa.string(), [(text or "").encode("utf-8", "backslashreplace") for text in texts], validity)


def _column(kind: pa.DataType, values: Sequence[bytes], validity: pa.Buffer | None = None) -> pa.Array:
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))])


def filtered(lists: pa.ListArray, flags: npt.NDArray[np.bool_]) -> pa.ListArray:
    """Return lists without the values whose flag is false, in the same order; a list may become empty. `lists` must
    have no null.

    `flags[i]` is the flag of element i of `lists.values`, the values of all lists one after the other.
    """
    if flags.all():
        return lists
    ends = np.append(np.int32(0), np.cumsum(flags, dtype=np.int32))[numbers(lists.offsets)]
    return pa.ListArray.from_arrays(number_array(ends), lists.values.filter(flag_array(flags)), type=lists.type)
