"""Footers of Parquet files: several files with a single row group each become a file with all row groups.

A footer is the structure `FileMetaData` of parquet.thrift, in Thrift's compact protocol. It contains the offset in the
file at which each column of each row group begins. So a footer is read, gets other offsets, and is written again. All
other fields stay as pyarrow wrote them.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAGIC = b"PAR1"
"""Bytes with which a Parquet file begins and ends."""

_Structure = dict[int, tuple[int, Any]]
"""A structure: number of a field -> type and value, in the order in which the fields are written."""

# Types of the compact protocol; parquet.thrift has no others.
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _STRUCTURE = (*range(10), 12)
_INTEGERS = (_I16, _I32, _I64)
_WIDTHS = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}
"""Lengths in bytes of values of a fixed length. A boolean has no bytes, because the type is the value."""
_LONG = 15
"""Four bits contain a length up to 14; this number instead means that the length follows."""

# Fields of parquet.thrift.
_FILE_ROWS, _FILE_GROUPS = 3, 4
_GROUP_COLUMNS, _GROUP_ROWS, _GROUP_OFFSET, _GROUP_NUMBER = 1, 3, 5, 7
_COLUMN_OFFSET, _COLUMN_METADATA = 2, 3
_DATA_OFFSET, _DICTIONARY_OFFSET = 9, 11
_MAX_NUMBER = (1 << 15) - 1
"""The highest number that the field for the number of a row group can contain. A row group may lack this field."""


class RowGroup:
    """The row group of a Parquet file that has only this row group, so that it can be moved to a larger file: its bytes
    (`data`), its number of rows (`rows`), and its entry in the footer (`moved_to`).
    """

    def __init__(self, file: memoryview) -> None:
        """`file` has the bytes of a whole Parquet file with exactly one row group; nothing is copied."""
        end, footer = _read_footer(file)
        _, groups = footer[_FILE_GROUPS][1]
        (self._fields,) = groups
        self.data = file[len(MAGIC) : end]
        """The pages of the columns."""
        self.rows: int = self._fields[_GROUP_ROWS][1]
        """Number of rows."""

    def moved_to(self, offset: int, number: int) -> bytes:
        """Return the entry of this row group for the footer of another file: the encoded Thrift structure `RowGroup`.

        `offset` is the byte offset in that file at which the caller writes `data`; `number` is the number of the row
        group there, from 0. May be called only once, because it changes the offsets of this row group.
        """
        distance = offset - len(MAGIC)
        _move(self._fields, _GROUP_OFFSET, distance)
        for column in self._fields[_GROUP_COLUMNS][1][1]:
            _move(column, _COLUMN_OFFSET, distance)
            for field in (_DATA_OFFSET, _DICTIONARY_OFFSET):
                _move(column[_COLUMN_METADATA][1], field, distance)
        # pyarrow 19 writes this field, other versions do not.
        if _GROUP_NUMBER in self._fields:
            if number <= _MAX_NUMBER:
                self._fields[_GROUP_NUMBER] = (_I16, number)
            else:
                del self._fields[_GROUP_NUMBER]
        return _encoded(self._fields)


def end_of_file(empty: memoryview, groups: Sequence[bytes], rows: int) -> bytes:
    """Return the bytes of a Parquet file after the row groups: the footer, its length, and MAGIC.

    `empty` has the bytes of a Parquet file with the same schema and without rows. `groups` are the entries of the row
    groups, in the order of the file, as `RowGroup.moved_to` returns them; `rows` is the number of rows in all of them.
    """
    _, footer = _read_footer(empty)
    footer[_FILE_ROWS] = (_I64, rows)
    footer[_FILE_GROUPS] = (_LIST, (_STRUCTURE, groups))
    data = _encoded(footer)
    return data + len(data).to_bytes(4, "little") + MAGIC


def _read_footer(file: memoryview) -> tuple[int, _Structure]:
    end = len(file) - 4 - len(MAGIC)
    start = end - int.from_bytes(file[end : end + 4], "little")
    return start, _Reader(bytes(file[start:end])).structure()


def _move(fields: _Structure, number: int, distance: int) -> None:
    """Add `distance` to the offset in a field. An offset that is 0 or absent means "none", and stays."""
    kind, offset = fields.get(number, (_I64, 0))
    if offset:
        fields[number] = (kind, offset + distance)


class _Reader:
    """Reader of a structure in the compact protocol of Thrift."""

    def __init__(self, data: bytes) -> None:
        self._bytes = data
        self._at = 0

    def structure(self) -> _Structure:
        fields: _Structure = {}
        number = 0
        while (head := self._byte()) != _STOP:
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = (kind, self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:  # noqa: ANN401 (of any type of the protocol)
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCTURE:
            return self.structure()
        if kind == _LIST:
            head = self._byte()
            length = head >> 4 if head >> 4 != _LONG else self._unsigned()
            return head & 15, [self._value(head & 15) for _ in range(length)]
        length = self._unsigned() if kind == _BINARY else _WIDTHS[kind]
        self._at += length
        return self._bytes[self._at - length : self._at]

    def _byte(self) -> int:
        self._at += 1
        return self._bytes[self._at - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while (byte := self._byte()) > 127:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift

    def _integer(self) -> int:
        """Read a number in zigzag form: 0, 1, 2, 3 in the file mean 0, -1, 1, -2."""
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)


def _encoded(fields: _Structure) -> bytes:
    out = bytearray()
    _write_structure(out, fields)
    return bytes(out)


def _write_structure(out: bytearray, fields: _Structure) -> None:
    previous = 0
    for number, (kind, value) in fields.items():
        if number - previous <= _LONG:
            out.append((number - previous) << 4 | kind)
        else:
            out.append(kind)
            _write_integer(out, number)
        _write_value(out, kind, value)
        previous = number
    out.append(_STOP)


def _write_value(out: bytearray, kind: int, value: Any) -> None:  # noqa: ANN401 (of any type of the protocol)
    if kind in _INTEGERS:
        _write_integer(out, value)
    # A field of the type _STRUCTURE has bytes if it is encoded already, as `moved_to` returns it.
    elif isinstance(value, bytes):
        if kind == _BINARY:
            _write_unsigned(out, len(value))
        out += value
    elif kind == _STRUCTURE:
        _write_structure(out, value)
    else:
        inner, values = value
        out.append(min(len(values), _LONG) << 4 | inner)
        if len(values) >= _LONG:
            _write_unsigned(out, len(values))
        for item in values:
            _write_value(out, inner, item)


def _write_unsigned(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _write_integer(out: bytearray, number: int) -> None:
    _write_unsigned(out, number << 1 if number >= 0 else (-number << 1) - 1)
