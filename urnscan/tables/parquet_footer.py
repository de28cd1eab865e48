"""Footers of Parquet files: row groups that were written as files of their own become those of one file.

A footer is the structure `FileMetaData` of parquet.thrift, in Thrift's compact protocol. It says where in the file each
column of each row group begins. So a footer is read, gets other places, and is written again. All else stays as pyarrow
wrote it.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAGIC = b"PAR1"
"""Octets with which a Parquet file begins and ends."""

_Structure = dict[int, tuple[int, Any]]
"""Type and value of each field, by the number of the field, in the order of the octets."""

# Types of the compact protocol; parquet.thrift has no others.
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _STRUCTURE = (*range(10), 12)
_INTEGERS = (_I16, _I32, _I64)
_WIDTHS = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}
"""Octets of values that have always so many; a boolean is its type alone."""
_LONG = 15  # in the place of a number that is larger than 14: it follows

# Fields of parquet.thrift.
_FILE_ROWS, _FILE_GROUPS = 3, 4
_GROUP_COLUMNS, _GROUP_ROWS, _GROUP_PLACE, _GROUP_NUMBER = 1, 3, 5, 7
_COLUMN_PLACE, _COLUMN_METADATA = 2, 3
_DATA_PLACE, _DICTIONARY_PLACE = 9, 11
_MOST_NUMBER = (1 << 15) - 1  # of a row group; the field may be left out


class RowGroup:
    """The row group of a Parquet file that has only one."""

    def __init__(self, file: memoryview) -> None:
        """`file` has the octets of the whole file."""
        end, footer = _parts(file)
        _, groups = footer[_FILE_GROUPS][1]
        (self._fields,) = groups
        self.octets = file[len(MAGIC) : end]
        """The pages of its columns."""
        self.rows: int = self._fields[_GROUP_ROWS][1]
        """Number of its rows."""

    def placed(self, number: int, place: int) -> bytes:
        """The structure `RowGroup` of row group `number`, from 0, of a file in which its octets begin at `place`.

        Call it once.
        """
        further = place - len(MAGIC)
        _move(self._fields, _GROUP_PLACE, further)
        for column in self._fields[_GROUP_COLUMNS][1][1]:
            _move(column, _COLUMN_PLACE, further)
            for field in (_DATA_PLACE, _DICTIONARY_PLACE):
                _move(column[_COLUMN_METADATA][1], field, further)
        if _GROUP_NUMBER in self._fields:  # pyarrow 19 sets it
            if number <= _MOST_NUMBER:
                self._fields[_GROUP_NUMBER] = (_I16, number)
            else:
                del self._fields[_GROUP_NUMBER]
        return _encoded(self._fields)


def end_of_file(empty: memoryview, groups: Sequence[bytes], rows: int) -> bytes:
    """The octets behind the row groups of a Parquet file.

    `empty` is a file with the same schema, and no row. `groups` are row groups as `RowGroup.placed` gives them; they
    have `rows` rows in all.
    """
    _, footer = _parts(empty)
    footer[_FILE_ROWS] = (_I64, rows)
    footer[_FILE_GROUPS] = (_LIST, (_STRUCTURE, groups))
    octets = _encoded(footer)
    return octets + len(octets).to_bytes(4, "little") + MAGIC


def _parts(file: memoryview) -> tuple[int, _Structure]:
    """The place in a Parquet file where its footer begins, and the footer."""
    end = len(file) - 4 - len(MAGIC)
    start = end - int.from_bytes(file[end : end + 4], "little")
    return start, _Reader(bytes(file[start:end])).structure()


def _move(fields: _Structure, number: int, further: int) -> None:
    """Let a place in a file be so many octets further; 0, or no such field, means that there is none."""
    kind, place = fields.get(number, (_I64, 0))
    if place:
        fields[number] = (kind, place + further)


class _Reader:
    """Reads values of the compact protocol."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    def structure(self) -> _Structure:
        """Read fields up to the end of the structure."""
        fields: _Structure = {}
        number = 0
        while (head := self._octet()) != _STOP:
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
            head = self._octet()
            length = head >> 4 if head >> 4 != _LONG else self._unsigned()
            return head & 15, [self._value(head & 15) for _ in range(length)]
        length = self._unsigned() if kind == _BINARY else _WIDTHS[kind]
        self._at += length
        return self._octets[self._at - length : self._at]

    def _octet(self) -> int:
        self._at += 1
        return self._octets[self._at - 1]

    def _unsigned(self) -> int:
        """Read a number in groups of seven bits, the lowest first."""
        number = shift = 0
        while (octet := self._octet()) > 127:
            number |= (octet & 127) << shift
            shift += 7
        return number | octet << shift

    def _integer(self) -> int:
        """Read a number whose lowest bit is its sign."""
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)


def _encoded(fields: _Structure) -> bytes:
    """The octets of a structure."""
    out = bytearray()
    _write_structure(out, fields)
    return bytes(out)


def _write_structure(out: bytearray, fields: _Structure) -> None:
    before = 0
    for number, (kind, value) in fields.items():
        if number - before <= _LONG:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_integer(out, number)
        _write_value(out, kind, value)
        before = number
    out.append(_STOP)


def _write_value(out: bytearray, kind: int, value: Any) -> None:  # noqa: ANN401 (of any type of the protocol)
    if kind in _INTEGERS:
        _write_integer(out, value)
    elif isinstance(value, bytes):  # or a structure that is encoded already
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
        for each in values:
            _write_value(out, inner, each)


def _write_unsigned(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _write_integer(out: bytearray, number: int) -> None:
    _write_unsigned(out, number << 1 if number >= 0 else (-number << 1) - 1)
