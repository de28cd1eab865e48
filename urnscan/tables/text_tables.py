"""Tables that urnscan wrote as CSV, TSV or JSON Lines -> the same rows in a temporary Parquet file.

A table as text has no types: the types are those of the schemas, by the names of the columns. A program that reads
Parquet by row groups and by row numbers can then read the table in the same way.
"""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from urnscan.errors import FatalError
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.tables.editions import names_now
from urnscan.tables.layout import DELIMITERS
from urnscan.tables.plain_output import CODECS, form_of
from urnscan.tables.schemas import type_of
from urnscan.tables.writers import FORMULA, FORMULA_ESCAPE, SEPARATORS, TEXT_FORMS

# Maximum bytes of the first line.
_HEAD = 1 << 24
# Bytes that are read at once. A row must be shorter.
_BLOCK = 1 << 25
# Places in the messages of Arrow.
_COLUMN, _ROW = re.compile(r"In CSV column #(\d+)"), re.compile(r" in row \d+$")
_NAMES_IN_JSON = {"stop": "", "stop_octet": "stop"}
"""In JSON, `stop` is a character, and the key `stop_octet` has the number of the byte, which is the column `stop`."""


def is_text_table(path: str) -> bool:
    """Whether the name of a file has the suffix of a table as text, in any case: .csv, .tsv or .jsonl, perhaps with
    that of a compression after it (.gz, .bz2, .zst, .lz4).
    """
    return form_of(path)[0] in TEXT_FORMS


def as_parquet(path: str, names: Sequence[str]) -> pa.NativeFile:
    """Copy a table as text (CSV, TSV, JSON Lines), which urnscan wrote, to a temporary Parquet file, and return that
    file, open for reading. It has no name any more, and is gone when the caller closes it.

    The columns get their present names and their types in `schemas`; columns that no schema has are left out. `names`
    are the columns for JSON Lines without lines. Raises FatalError if the first line cannot be read as names of
    columns, or has a column of a schema twice; OSError or ArrowException if the file cannot be read for another reason.
    """
    form, codec = form_of(path)
    with _open(path, codec) as file:
        first = file.read(_HEAD).partition(b"\n")[0]
    given = _names_in(path, first, form) if first.strip() or form in SEPARATORS else list(names)
    is_json = form not in SEPARATORS
    now = names_now(_NAMES_IN_JSON.get(name, name) if is_json else name for name in given)
    known = [new for new in now if type_of(new) is not None]
    if several := next((name for name in known if known.count(name) > 1), None):
        raise FatalError(f"{path}: has several columns {several}")
    columns = {name: new for name, new in zip(given, now, strict=True) if new in known}
    schema = pa.schema([(new, type_of(new)) for new in columns.values()])
    with tempfile.TemporaryDirectory(suffix=TEMPORARY_SUFFIX) as folder, _open(path, codec) as file:
        copy = str(Path(folder, "table.parquet"))
        with pq.ParquetWriter(copy, schema) as writer:
            if columns and first:
                types = {name: schema.field(new).type for name, new in columns.items()}
                try:
                    for rows in _json_rows(file, types) if is_json else _separated_rows(file, first, given, types):
                        writer.write_batch(pa.RecordBatch.from_arrays(rows.columns, schema=schema))
                except pa.ArrowInvalid as error:
                    # Arrow counts columns from 0, and rows from 0 in each block that is read.
                    message = _COLUMN.sub(lambda match: f"column {given[int(match[1])]}", str(error))
                    raise pa.ArrowInvalid(_ROW.sub("", message)) from error
        return pa.OSFile(copy)


def _open(path: str, codec: str) -> pa.NativeFile:
    file = pa.OSFile(os.fsencode(path))
    return pa.CompressedInputStream(file, CODECS[codec]) if codec else file


def _separator(first: bytes) -> str:
    """The most frequent separator in a header. A spreadsheet program may have changed the original one."""
    return max((*DELIMITERS, "\t"), key=lambda separator: first.count(separator.encode()))


def _names_in(path: str, first: bytes, form: str) -> list[str]:
    """The names of the columns, from the first line of a file. `form` is the suffix of the format."""
    try:
        text = first.decode("utf-8-sig")
        if form in SEPARATORS:
            names = next(csv.reader([text], delimiter=_separator(first)), [])
        else:
            row = json.loads(text)
            names = list(row) if isinstance(row, dict) else []
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        raise FatalError(f"{path}: its first line is not that of a table in {form[1:].upper()}: {error}") from error
    return names


def _separated_rows(
    file: pa.NativeFile, first: bytes, names: Sequence[str], types: dict[str, pa.DataType]
) -> Iterator[pa.RecordBatch]:
    """Yield the columns in `types` of CSV or TSV. `file` is at its beginning; `first` is its first line, and `names`
    are all columns. An empty cell without quotation marks is null.
    """
    import pyarrow.csv  # noqa: PLC0415 (few runs need it)

    stored = {name: pa.string() if pa.types.is_list(kind) else kind for name, kind in types.items()}
    reader = pyarrow.csv.open_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(column_names=list(names), skip_rows=1, block_size=_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(delimiter=_separator(first), newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=list(types),
            column_types=stored,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    for rows in reader:
        columns = [_value(rows.column(name), kind) for name, kind in types.items()]
        yield pa.RecordBatch.from_arrays(columns, list(types))


def _value(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values in cells of CSV: a list is JSON, and the apostrophe that escapes a formula (`=1+1`) is removed."""
    if pa.types.is_list(kind):
        lines = "\n".join(f'{{"cell": {cell or "null"}}}' for cell in cells.to_pylist())
        values = _objects(lines.encode(), {"cell": kind})
        if len(values) != len(cells):
            raise pa.ArrowInvalid("a cell with a list is not JSON in one line")
        return values.column(0)
    if pa.types.is_string(kind):
        return pc.replace_substring_regex(cells, f"^{FORMULA_ESCAPE}({FORMULA[1:]})", r"\1")
    return cells


def _json_rows(file: pa.NativeFile, types: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    rest = b""
    while block := file.read(_BLOCK):
        lines, newline, after = block.rpartition(b"\n")
        if newline:
            yield _objects(rest + lines, types)
            rest = after
        else:
            rest += block
    if rest.strip():
        yield _objects(rest, types)


def _objects(lines: bytes, types: dict[str, pa.DataType]) -> pa.RecordBatch:
    """The columns in `types` of lines with a JSON object each. A missing key is null."""
    import pyarrow.json  # noqa: PLC0415 (few runs need it)

    # Arrow cannot read a time with a "Z" as a time.
    stored = [(name, pa.string() if pa.types.is_timestamp(kind) else kind) for name, kind in types.items()]
    table = pyarrow.json.read_json(
        pa.BufferReader(lines),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=pa.schema(stored), unexpected_field_behavior="ignore"),
    )
    columns: list[Any] = [table.column(name).combine_chunks().cast(kind) for name, kind in types.items()]
    return pa.RecordBatch.from_arrays(columns, list(types))
