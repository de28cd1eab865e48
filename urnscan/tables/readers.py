"""Tables of urnscan in Parquet files: rows in batches or at places, in the types of their schema, or a FatalError."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from urnscan.compiled.arrow import number_array
from urnscan.compiled.octets import Integers
from urnscan.errors import FatalError
from urnscan.tables.editions import ADDED, names_now
from urnscan.tables.metadata import KEY
from urnscan.tables.schemas import CLASSES, CLUSTERS, OCCURRENCES, REJECTS

_ROWS = 1 << 17
_BUFFER = 1 << 18  # octets of a column that are read at once
_COUNTS = ("inputs", "failures", "notes", "octets", "left_out")  # among the settings of a run
_MADE_BY = {
    "classes": (CLASSES, "urnscan -o"),
    "occurrences": (OCCURRENCES, "urnscan --occurrences"),
    "rejects": (REJECTS, "urnscan --rejects"),
    "clusters": (CLUSTERS, "urnscan dedup -o"),
}
"""The tables of urnscan, and the commands that write them."""


class Table:
    """A Parquet file with a table of urnscan. All errors are FatalErrors that name the file."""

    def __init__(self, path: str, *kinds: str) -> None:
        """Open the table of a file, which is of one of these kinds: keys of `_MADE_BY`."""
        self.path = path
        self._kinds = kinds
        with self._as_fatal():
            if Path(path).is_dir():
                raise FatalError(f"{path}: is a folder; name a file in it")
            file = pa.OSFile(os.fsencode(path))
            found = pq.ParquetFile(file).schema_arrow
            names = names_now(found.names)
            columns = pa.schema(map(pa.Field.with_name, found, names))
            misfits = {kind: _misfit(columns, kind) for kind in kinds}
            self.kind = next((kind for kind in kinds if not misfits[kind]), kinds[0])
            """The kind of its rows, a key of `_MADE_BY`."""
            self._schema, made_by = _MADE_BY[self.kind]
            if wrong := misfits[self.kind]:
                raise FatalError(f"{path}: {wrong}; {made_by} writes {self.kind}")
            self._names = dict(zip(names, found.names, strict=True))  # in the file, which may be of an earlier edition
            texts = {field.name for field in self._schema if pa.types.is_string(_decoded(field.type))}
            repeating = [self._names[name] for name in names if name in texts - {"urn", "text", "nss"}]
            # A buffer for the whole file, which is the default, would let many tables take much memory.
            self._file = pq.ParquetFile(file, read_dictionary=repeating, buffer_size=_BUFFER, pre_buffer=False)
        self.rows: int = self._file.metadata.num_rows

    def batches(self, *names: str, groups: Sequence[int] | None = None, most: int = _ROWS) -> Iterator[pa.RecordBatch]:
        """All rows, or those of some row groups, with these columns, in the types of the schema; at most `most` at once."""
        metadata = self._file.metadata
        expected = self.rows if groups is None else sum(metadata.row_group(group).num_rows for group in groups)
        groups = range(metadata.num_row_groups) if groups is None else groups
        if absent := next((name for name in names if name not in self._names), None):
            raise FatalError(
                f"{self.path}: has no column {absent}, as an earlier version wrote it: scan its inputs again"
            )
        columns = [self._names[name] for name in names]
        with self._as_fatal():
            batches = self._file.iter_batches(most, row_groups=groups, columns=columns, use_threads=True)
            for batch in batches if groups else ():  # Arrow 19 fails in a file without row groups
                batch.validate(full=True)  # of a damaged file, dictionaries and UTF-8 too
                expected -= len(batch)
                yield pa.RecordBatch.from_arrays([self._column(batch, name) for name in names], names=list(names))
            if expected:
                raise FatalError(f"{self.path}: is damaged: it has not as many rows as it says")

    def take(self, places: Integers, *names: str) -> pa.Table:
        """The rows at these places, in ascending order, with these columns."""
        places = np.sort(places)
        found, start = [], 0
        metadata = self._file.metadata
        for group in range(metadata.num_row_groups):
            end = start + metadata.row_group(group).num_rows
            if np.searchsorted(places, end) > np.searchsorted(places, start):
                for batch in self.batches(*names, groups=[group]):
                    within = places[np.searchsorted(places, start) : np.searchsorted(places, start + len(batch))]
                    found.append(pa.Table.from_batches([batch.take(number_array(within - start))]))
                    start += len(batch)
            start = end
        return pa.concat_tables(found).unify_dictionaries() if found else self._schema.empty_table().select(names)

    def take_in_order(self, places: Integers, *names: str) -> list[dict[str, Any]]:
        """The rows at these places, in the order of the places."""
        rows = self.take(places, *names).to_pylist()
        return [rows[place] for place in np.argsort(np.argsort(places))]

    def metadata(self) -> dict[str, Any]:
        """Metadata of the run that wrote the file; empty if it has none."""
        with contextlib.suppress(KeyError, ValueError):
            said = json.loads((self._file.metadata.metadata or {})[KEY.encode()])
            return said if isinstance(said, dict) else {}
        return {}

    @property
    def row_octets(self) -> int:
        """Octets of a row in memory, about: of the row group with the largest."""
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        return max((group.total_byte_size // max(group.num_rows, 1) + 1 for group in groups), default=1)

    def settings(self) -> list[tuple[str, str]]:
        """Settings of the run that wrote the file; none if it does not tell."""
        with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):
            said = self.metadata()
            counts = said.pop("counts", {})
            rows = [*said.items(), *((name, counts.get(name)) for name in _COUNTS)]
            return [(str(name).replace("_", " "), _in_words(value)) for name, value in rows if value not in (None, [])]
        return []

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """A column without nulls, unless the schema allows them."""
        column, field = batch.column(self._names[name]), self._schema.field(name)
        if column.null_count and not field.nullable:
            raise FatalError(
                f"{self.path}: the column {self._names[name]} is null somewhere; it is not as urnscan wrote it"
            )
        if pa.types.is_integer(field.type):
            return column.cast(pa.int64())
        if pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type.value_type):
            return column.cast(pa.dictionary(pa.int32(), pa.string()))
        return column

    @contextlib.contextmanager
    def _as_fatal(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise FatalError(f"{self.path}: No such file or directory") from error
        except OSError as error:
            reason = error.strerror or str(error).splitlines()[0]
            raise FatalError(f"{self.path}: cannot be read: {reason}") from error
        except (pa.ArrowException, ValueError) as error:
            if not _begins_as_parquet(self.path):
                made_by = " or ".join(_MADE_BY[kind][1] for kind in self._kinds)
                raise FatalError(f"{self.path}: is no Parquet file: name a .parquet that {made_by} wrote") from error
            reason = (str(error).splitlines() or [""])[0]
            raise FatalError(f"{self.path}: is a damaged Parquet file: {reason}") from error


def _begins_as_parquet(path: str) -> bool:
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return file.read(4) == b"PAR1"
    return True


def _misfit(found: pa.Schema, kind: str) -> str:
    """The first difference between a schema and the table that it should be; empty if it fits."""
    expected, _ = _MADE_BY[kind]
    missing = [name for name in _needed(kind) if name not in found.names]
    for other, (_, made_by) in _MADE_BY.items():
        if missing and set(_needed(other)) <= set(found.names):
            return f"holds {other} ({made_by}), not {kind}"
    if missing:
        return f"has no column {missing[0]}"
    for field in expected:
        if found.names.count(field.name) > 1:
            return f"has several columns {field.name}"
        column = found.field(field.name).type if field.name in found.names else field.type
        if not _is_like(column, field.type):
            return f"the column {field.name} holds {column}, not {_decoded(field.type)}"
    return ""


def _needed(kind: str) -> list[str]:
    """The columns that each file with a table has, of any edition."""
    schema, _ = _MADE_BY[kind]
    return [name for name in schema.names if kind != "occurrences" or name not in ADDED]


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_like(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column can be read as `expected`: other writers keep numbers and strings in other widths."""
    found, expected = _decoded(found), _decoded(expected)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    if pa.types.is_integer(expected):
        return bool(pa.types.is_integer(found))
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return bool(is_list and _is_like(found.value_type, expected.value_type))
    if not pa.types.is_struct(expected):
        return bool(found == expected)
    fields = {field.name: field.type for field in found} if pa.types.is_struct(found) else {}
    return all(field.name in fields and _is_like(fields[field.name], field.type) for field in expected)


def _in_words(value: object) -> str:
    """A setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
