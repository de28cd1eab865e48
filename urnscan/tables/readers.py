"""Reader of tables that urnscan wrote: rows in batches or by number, with the types of the schema.

Tables as text (CSV, TSV, JSON Lines) are copied to a temporary Parquet file, and then read in the same way.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from urnscan.compiled.arrow import number_array
from urnscan.compiled.bytes import Integers
from urnscan.errors import FatalError, option
from urnscan.tables.editions import ADDED, names_now
from urnscan.tables.metadata import KEY, OF_FOLDER
from urnscan.tables.nested_columns import flat_names
from urnscan.tables.parquet_footer import MAGIC
from urnscan.tables.plain_output import form_of
from urnscan.tables.schemas import CLASSES, CLUSTERS, NAMED_PARTIAL, OCCURRENCES, REJECTS
from urnscan.tables.text_tables import as_parquet, is_text_table
from urnscan.tables.writers import EXCEL

_BEGINS_AS_URN = "^urn:[^:]*:"
_ROWS = 1 << 17
_MAX_COUNTED = 1 << 40
"""The largest count that is accepted in a file, so that sums fit in 64 bits."""
# Bytes of a column that are read at once.
_BUFFER = 1 << 18
# Counts that are shown after the options of a run.
_COUNTS = ("inputs", "failures", "notes", "byte_count", "octets", "left_out")
_MADE_BY = {
    "classes": (CLASSES, "urnscan -o"),
    "occurrences": (OCCURRENCES, "urnscan --occurrences"),
    "rejects": (REJECTS, "urnscan --rejects"),
    "clusters": (CLUSTERS, "urnscan dedup -o"),
    "partial results": (NAMED_PARTIAL, "urnscan --partial"),
}
"""Kind of table -> the schema, and the command that writes the table."""


class TableFile:
    """A file with a table that urnscan wrote, open for reading. Errors about the file are FatalErrors that name it."""

    def __init__(self, path: str, *kinds: str) -> None:
        """Open a file. `kinds` are the kinds of tables that the caller accepts, at least one of "classes",
        "occurrences", "rejects", "clusters" and "partial results". A table as text (CSV, TSV, JSON Lines) is copied to
        a temporary file.

        Raises FatalError if the file cannot be read, or is not a table of these kinds.
        """
        self.path = path
        """Path of the file, as given."""
        self._kinds = kinds
        self._is_text = is_text_table(path)
        with self._as_fatal():
            if Path(path).is_dir():
                if Path(path, OF_FOLDER).exists():
                    query = f"COPY (FROM '{Path(path)}/*.parquet') TO 'one.parquet'"
                    raise FatalError(
                        f"{path}: is a folder that Spark wrote; make it one file first, in DuckDB: {query}"
                    )
                raise FatalError(f"{path}: is a folder; name a file in it")
            file = as_parquet(path, _MADE_BY[kinds[0]][0].names) if self._is_text else pa.OSFile(os.fsencode(path))
            stored = pq.ParquetFile(file).schema_arrow
            names = names_now(stored.names)
            columns = pa.schema(map(pa.Field.with_name, stored, names))
            misfits = {kind: _misfit(columns, kind) for kind in kinds}
            self.kind = next((kind for kind in kinds if not misfits[kind]), kinds[0])
            """The kind of the table: one of `kinds`."""
            self._schema, made_by = _MADE_BY[self.kind]
            if misfit := misfits[self.kind]:
                raise FatalError(f"{path}: {misfit}; {made_by} writes {self.kind}")
            # The names of the columns in the file, which may be of an earlier edition.
            self._names = dict(zip(names, stored.names, strict=True))
            texts = {field.name for field in self._schema if pa.types.is_string(_decoded(field.type))}
            repeating = [self._names[name] for name in names if name in texts - {"urn", "text", "nss"}]
            # A buffer for the whole file, which is the default, would let many tables take much memory.
            self._file = pq.ParquetFile(file, read_dictionary=repeating, buffer_size=_BUFFER, pre_buffer=False)
        self.rows: int = self._file.metadata.num_rows
        """Number of rows."""

    def lacks(self, *names: str) -> bool:
        """Whether the file has none of the columns `names` (their present names), for example because an earlier
        version of urnscan wrote it.
        """
        return self._names.keys().isdisjoint(names)

    def batches(
        self, *names: str, groups: Sequence[int] | None = None, max_rows: int = _ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches with the columns `names`, by their present names also for an older file: all rows in the order
        of the file, or those of the row groups with the numbers `groups` (from 0). A batch has at most `max_rows` rows.
        Integers are int64; texts that repeat may be dictionaries.

        Raises FatalError for a column that the file does not have, for values that urnscan does not write, and for a
        damaged file.
        """
        metadata = self._file.metadata
        expected = self.rows if groups is None else sum(metadata.row_group(group).num_rows for group in groups)
        groups = range(metadata.num_row_groups) if groups is None else groups
        if absent := next((name for name in names if name not in self._names), None):
            raise FatalError(
                f"{self.path}: has no column {absent}, as an earlier version wrote it; scan its inputs again"
            )
        columns = [self._names[name] for name in names]
        with self._as_fatal():
            batches = self._file.iter_batches(max_rows, row_groups=groups, columns=columns, use_threads=True)
            for batch in batches:
                # Arrow does not check the dictionaries and the UTF-8 of a damaged file when it reads them.
                batch.validate(full=True)
                expected -= len(batch)
                yield pa.RecordBatch.from_arrays([self._column(batch, name) for name in names], names=list(names))
            if expected:
                raise FatalError(f"{self.path}: is damaged: it has fewer or more rows than its footer says")

    def take(self, row_numbers: Integers, *names: str) -> pa.Table:
        """The columns `names` of the rows with the given numbers (from 0), sorted by row number. A number that is given
        twice gives two rows; one that the file does not have gives none. Raises FatalError if the file does not have a
        column, or is damaged in a row group that has such rows.
        """
        wanted = np.sort(row_numbers)
        tables, start = [], 0
        metadata = self._file.metadata
        for group in range(metadata.num_row_groups):
            end = start + metadata.row_group(group).num_rows
            if np.searchsorted(wanted, end) > np.searchsorted(wanted, start):
                for batch in self.batches(*names, groups=[group]):
                    within = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + len(batch))]
                    tables.append(pa.Table.from_batches([batch.take(number_array(within - start))]))
                    start += len(batch)
            start = end
        return pa.concat_tables(tables).unify_dictionaries() if tables else self._schema.empty_table().select(names)

    def take_in_order(self, row_numbers: Integers, *names: str) -> list[dict[str, Any]]:
        """The columns `names` of the rows with the given numbers (from 0), as a dict (name -> value) for each element
        of `row_numbers`, in that order. The file must have all these rows. Raises FatalError if the file does not have
        a column, or is damaged.
        """
        rows = self.take(row_numbers, *names).to_pylist()
        return [rows[place] for place in np.argsort(np.argsort(row_numbers))]

    def metadata(self) -> dict[str, Any]:
        """The metadata of the run that wrote the file; empty if the file has none, or other ones. A table as text has
        none.
        """
        with contextlib.suppress(KeyError, ValueError):
            metadata = json.loads((self._file.metadata.metadata or {})[KEY.encode()])
            return metadata if isinstance(metadata, dict) else {}
        return {}

    @property
    def row_bytes(self) -> int:
        """Estimate of the bytes that a row takes in memory: the bytes of a row group without compression, divided by
        its rows; the highest of these values. 1 for a file without row groups.
        """
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        return max((group.total_byte_size // max(group.num_rows, 1) + 1 for group in groups), default=1)

    def settings(self) -> list[tuple[str, str]]:
        """Options and some counts of the run that wrote the file, as pairs (name, value) for people: ("max length",
        "65,536"). Without options that have no value. Empty if the file has no metadata.
        """
        with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):
            metadata = self.metadata()
            counts = metadata.pop("counts", {})
            rows = [*metadata.items(), *((name, counts.get(name)) for name in _COUNTS)]
            return [(str(name).replace("_", " "), _in_words(value)) for name, value in rows if value not in (None, [])]
        return []

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """The column with the present name `name`; integers become int64. Raises FatalError for values that urnscan
        does not write.
        """
        column, field = batch.column(self._names[name]), self._schema.field(name)
        if column.null_count and not field.nullable:
            raise FatalError(f"{self.path}: the column {self._names[name]} has nulls; it is not as urnscan wrote it")
        # Compiled code looks for the colon after the NID, and does not expect the end of the text before it.
        if name == "urn" and not pc.all(pc.match_substring_regex(column, _BEGINS_AS_URN)).as_py():
            raise FatalError(
                f"{self.path}: the column urn contains other texts than URNs; it is not as urnscan wrote it"
            )
        if pa.types.is_integer(field.type):
            column = column.cast(pa.int64())
            extremes = pc.min_max(column) if name.endswith("_count") and len(column) else {}
            if not all(1 <= count.as_py() <= _MAX_COUNTED for count in extremes.values()):
                raise FatalError(
                    f"{self.path}: the column {name} has values that are not counts; it is not as urnscan wrote it"
                )
            return column
        if pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type.value_type):
            return column.cast(pa.dictionary(pa.int32(), pa.string()))
        return column

    @contextlib.contextmanager
    def _as_fatal(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise FatalError(f"{self.path}: no such file or folder") from error
        except OSError as error:
            reason = error.strerror or str(error).splitlines()[0]
            raise FatalError(f"{self.path}: cannot be read: {reason}") from error
        except (pa.ArrowException, ValueError) as error:
            if self._is_text:
                reason = (str(error).splitlines() or [""])[0]
                raise FatalError(f"{self.path}: is not a table as urnscan writes it: {reason}") from error
            if not _has_sign(self.path, 0, os.SEEK_SET):
                if form_of(self.path)[0] == EXCEL:
                    raise FatalError(
                        f"{self.path}: is an Excel file, which is not read; write the table as .parquet, too"
                    ) from error
                *others, last = (_MADE_BY[kind][1] for kind in self._kinds)
                made_by = f"{', '.join(others)} or {last}" if others else last
                raise FatalError(f"{self.path}: is not a Parquet file; name a file that {made_by} wrote") from error
            if not _has_sign(self.path, -len(MAGIC), os.SEEK_END):
                raise FatalError(
                    f"{self.path}: truncated Parquet file; copy it again, or run its command again"
                ) from error
            reason = (str(error).splitlines() or [""])[0]
            raise FatalError(f"{self.path}: damaged Parquet file: {reason}") from error


def _has_sign(path: str, offset: int, whence: int) -> bool:
    """Whether `PAR1` is at a position of a file (arguments of `seek`). True if reading fails."""
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        file.seek(offset, whence)
        return file.read(len(MAGIC)) == MAGIC
    return True


def _misfit(schema: pa.Schema, kind: str) -> str:
    """Why a file with this schema (present names of the columns) is not a table of this kind; empty if it is one."""
    expected, _ = _MADE_BY[kind]
    missing = [name for name in _needed(kind) if name not in schema.names]
    for other, (_, made_by) in _MADE_BY.items():
        if missing and set(_needed(other)) <= set(schema.names):
            return f"contains {other} ({made_by}), not {kind}"
    if missing:
        is_flat = missing[0] not in (flat := flat_names(expected.field(missing[0]))) and set(flat) <= set(schema.names)
        reason = f", as {option('flat')} wrote it; write it without that option" if is_flat else ""
        return f"has no column {missing[0]}{reason}"
    for field in expected:
        if schema.names.count(field.name) > 1:
            return f"has several columns {field.name}"
        column = schema.field(field.name).type if field.name in schema.names else field.type
        if not _is_like(column, field.type):
            return f"the column {field.name} is {column}, not {_decoded(field.type)}"
    return ""


def _needed(kind: str) -> list[str]:
    """The columns of this kind in the files of every version of urnscan."""
    schema, _ = _MADE_BY[kind]
    return [name for name in schema.names if kind != "occurrences" or name not in ADDED]


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_like(stored: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column of type `stored` can be read as `expected`. The widths of numbers and strings may differ."""
    stored, expected = _decoded(stored), _decoded(expected)
    if pa.types.is_string(expected):
        return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored))
    if pa.types.is_integer(expected):
        return bool(pa.types.is_integer(stored))
    if pa.types.is_list(expected):
        is_list = pa.types.is_list(stored) or pa.types.is_large_list(stored)
        return bool(is_list and _is_like(stored.value_type, expected.value_type))
    if not pa.types.is_struct(expected):
        return bool(stored == expected)
    fields = {field.name: field.type for field in stored} if pa.types.is_struct(stored) else {}
    return all(field.name in fields and _is_like(fields[field.name], field.type) for field in expected)


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
