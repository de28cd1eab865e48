"""Columns and rows of a Parquet file as the table of a data lake has them that it belongs to.

The file may have other names of columns, columns and rows that were removed from the table, and lack columns that the
table has: those that were added later, and those by whose values the table is parted into folders.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from urnscan.arrays.arrow import number_array
from urnscan.sources.inputs import TableFile

_NUMBER = b"PARQUET:field_id"  # key of the number of a column in its metadata


class LakeRows:
    """The columns and rows that are live, by their names in the table."""

    def __init__(self, schema: pa.Schema, file: TableFile) -> None:
        """`schema` is that of the file."""
        self._file = file
        self._deleted = np.frombuffer(file.deleted, np.uint64)
        self._names = _Names(file, are_numbered=any(_number(field) is not None for field in schema))
        self._shown: dict[str, pa.Field] = {}  # by the name in the file
        self.refused: list[str] = []
        """Columns that are not read: a part of them was removed from the table."""
        for field in schema:
            if (name := self._names.find(field, "")) is None:
                continue
            try:
                self._shown[field.name] = pa.field(name, self._names.renamed(field.type, f"{field.name}."))
            except _RemovedError:
                self.refused.append(name)
        self.origins: Mapping[str, str] = {field.name: origin for origin, field in self._shown.items()}
        """Name in the file of each column that is there."""
        absent = [name for name in file.names if name not in self.origins and name not in self.refused]
        self._absent = {name: file.columns.get(name) for name in absent}
        self.schema = pa.schema([*self._shown.values(), *(pa.field(name, pa.string()) for name in absent)])
        """Columns as the table has them."""

    def of(self, batch: pa.RecordBatch, first: int) -> tuple[pa.RecordBatch, Sequence[int]]:
        """Rows of the file, the first of which has the number `first`: those that are live, and the number of each."""
        columns: dict[str, pa.Array] = {}
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if (shown := self._shown.get(field.name)) is not None:
                kind = self._names.renamed(column.type, f"{field.name}.")  # dictionaries may be in it
                columns[shown.name] = column if kind == column.type else column.view(kind)
        zeros = number_array(np.zeros(batch.num_rows, np.int32))
        for name, text in self._absent.items():
            columns[name] = pa.DictionaryArray.from_arrays(zeros, pa.array([text], pa.string()))
        live = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
        from_, to = np.searchsorted(self._deleted, np.array([first, first + batch.num_rows], np.uint64)).tolist()
        if from_ == to:
            return live, range(first, first + batch.num_rows)
        is_live = np.ones(batch.num_rows, np.bool_)
        is_live[self._deleted[from_:to].astype(np.int64) - first] = False
        return live.filter(pa.array(is_live)), (first + np.flatnonzero(is_live)).tolist()


class _RemovedError(Exception):
    pass


class _Names:
    """Names in the table of the columns of a file and of their parts."""

    def __init__(self, file: TableFile, *, are_numbered: bool) -> None:
        self._by_number = file.ids if are_numbered else {}
        self._by_path = file.paths

    def find(self, field: pa.Field, above: str) -> str | None:
        """Name of a column, or of a part below the path `above`; None if the table does not have it."""
        if self._by_number:
            return self._by_number.get(_number(field) or 0)
        return self._by_path.get(above + field.name)

    def renamed(self, kind: pa.DataType, above: str) -> pa.DataType:
        """A type with the names that the table has for its parts. Raises _RemovedError if one was removed."""
        if pa.types.is_struct(kind):
            return pa.struct([self._part(kind.field(index), above) for index in range(kind.num_fields)])
        if pa.types.is_map(kind):
            key, item = self.renamed(kind.key_type, f"{above}key."), self.renamed(kind.item_type, f"{above}value.")
            return pa.map_(key, item)
        if pa.types.is_list(kind):
            return pa.list_(kind.value_field.with_type(self.renamed(kind.value_type, f"{above}element.")))
        return kind

    def _part(self, field: pa.Field, above: str) -> pa.Field:
        name = self.find(field, above)
        if name is None and not (self._by_number or self._knows_parts(above)):
            name = field.name  # the table names columns alone
        if name is None:
            raise _RemovedError
        return pa.field(name, self.renamed(field.type, f"{above}{field.name}."), field.nullable)

    def _knows_parts(self, above: str) -> bool:
        return any(path.startswith(above) for path in self._by_path)


def _number(field: pa.Field) -> int | None:
    number = (field.metadata or {}).get(_NUMBER, b"")
    return int(number) if number.isdigit() else None
