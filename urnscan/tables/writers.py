"""Writers of tables. The suffix of the name chooses the format: Parquet, CSV, TSV, JSON Lines or Excel."""

from __future__ import annotations

import codecs
import contextlib
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from urnscan.errors import FatalError
from urnscan.pool import Pool
from urnscan.tables.layout import DELIMITERS, USUAL, Layout
from urnscan.tables.metadata import KEY, OF_FOLDER
from urnscan.tables.nested_columns import FlatTable, cell_values, flat_schema
from urnscan.tables.output_file import Output, name_of
from urnscan.tables.plain_output import CODECS, GENERATOR, PARTIAL_SUFFIX, ByteOutput, form_of
from urnscan.tables.printed_lines import json_lines
from urnscan.tables.schemas import TABLES

_PARQUET = (".parquet", ".parq", ".pq")
EXCEL = ".xlsx"
"""Suffix of a workbook of Excel."""
FORMULA = "^[=+@\uff1d\uff0b\uff0d\uff20\t\r\n-]"
"""Pattern of the beginning of a text that a spreadsheet would calculate. Excel in Japanese treats the full-width forms
of `= + - @` in the same way.
"""
FORMULA_ESCAPE = "'"
"""The character that a cell of CSV has before a text that matches FORMULA."""


Lines = Callable[[pa.RecordBatch], bytes | memoryview]
"""Function that returns the lines of rows, in UTF-8."""


class LinesOutput(ByteOutput):
    """An output with a table as lines of text (CSV, TSV, JSON Lines), which appears only when `commit` is called, like
    every `Output`. The suffix of the name may choose a compression, as in `.csv.gz`. Metadata are not written.
    """

    def __init__(
        self, path: str | os.PathLike[str], schema: pa.Schema, head: bytes, lines: Lines, *, force: bool = False
    ) -> None:
        """`head` is written before all rows; `lines` returns the bytes of the lines of a batch of rows. Raises
        FatalError if the file exists already (unless `force`), if nothing can be written to its folder, and for the
        suffix of a compression that is not written, such as .xz.
        """
        super().__init__(path, force=force)
        self.schema = schema
        self._lines = lines
        with contextlib.ExitStack() as stack:
            stack.push(self)
            super().write(head)
            stack.pop_all()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows of the schema, as lines. Raises FatalError if the disk is full or fails."""
        super().write(self._lines(rows))


def open_table(
    path: str | os.PathLike[str] | IO[bytes],
    schema: pa.Schema,
    *,
    dictionaries: Sequence[str] | bool = True,
    statistics: Sequence[str] | bool = True,
    force: bool = False,
    pool: Pool | None = None,
    layout: Layout = USUAL,
) -> Output | FlatTable:
    """Open an output for rows of the schema, in the format that the suffix of the file name chooses: Parquet, CSV, TSV,
    JSON Lines or Excel. A stream gets Parquet. The file appears only when `commit` is called.

    `layout.delimiter` is the separator of CSV. With `layout.flat`, the file gets lists as texts, but `write` takes the
    same rows as without it. Only for Parquet: `dictionaries` and `statistics` are the leaf columns
    (`urns.list.element`) that get a dictionary, or minimum and maximum (True: all), and threads of `pool` encode.
    Raises FatalError for another suffix, if the file exists already (unless `force`), and if nothing can be written to
    its folder.
    """
    if layout.flat:
        schema = flat_schema(schema)
        dictionaries, statistics = (_flat_leaves(leaves, schema) for leaves in (dictionaries, statistics))
    table: Output
    form, codec = form_of(name_of(path)) if isinstance(path, str | os.PathLike) else (_PARQUET[0], "")
    if isinstance(path, str | os.PathLike) and form in TEXT_FORMS:
        head, lines = _separated(layout.delimiter, schema) if form == _CSV else TEXT_FORMS[form](schema)
        table = LinesOutput(path, schema, head, lines, force=force)
    elif isinstance(path, str | os.PathLike) and form == EXCEL and not codec:
        from urnscan.tables.excel_output import ExcelOutput  # noqa: PLC0415 (few runs need it)

        table = ExcelOutput(path, schema, force=force)
    elif form in _PARQUET and not codec:
        from urnscan.tables.parquet_writer import ParquetOutput  # noqa: PLC0415 (takes long to load, and runs that only print do not need it)

        table = ParquetOutput(path, schema, dictionaries=dictionaries, statistics=statistics, force=force, pool=pool)
    else:
        raise FatalError(
            f"{name_of(path)}: unknown output format; use .parquet, {EXCEL}, {', '.join(TEXT_FORMS)} (the last three "
            f"also with {', '.join(CODECS)})"
        )
    return FlatTable(table) if layout.flat else table


def _flat_leaves(leaves: Sequence[str] | bool, flat: pa.Schema) -> Sequence[str] | bool:
    """The leaf columns by their names in the flat table, without those that it lacks: `urns.list.element` becomes
    `urns`.
    """
    if isinstance(leaves, bool):
        return leaves
    return [name for leaf in leaves if (name := leaf.partition(".")[0]) in flat.names]


def open_partial(
    path: str | os.PathLike[str], reading: Mapping[str, Any], *, force: bool = False, pool: Pool | None = None
) -> Output:
    """Open an output for the partial result of a run, rows of the schema NAMED_PARTIAL, which `urnscan merge` reads.
    The file appears only when `commit` is called. `reading` is a dict for JSON with the options that the metadata of
    tables do not have (`Options.reading_metadata`); it is written with the metadata. Threads of `pool` encode the rows;
    None: the calling thread does.

    Raises FatalError for a name without the suffix `.partial`, if the file exists already (unless `force`), and if
    nothing can be written to its folder.
    """
    from urnscan.tables.partial_output import PartialOutput  # noqa: PLC0415 (as above)

    return PartialOutput(path, reading, force=force, pool=pool)


def is_result(path: str) -> bool:
    """Whether a file on this machine is a table or a page that urnscan wrote, by its metadata or its first bytes, so
    that a run may replace it.

    True also for an empty file, unless the suffix is that of Parquet, Excel or a partial result, and for every path
    directly in a folder that a run on Spark wrote. False if the file cannot be read.
    """
    if Path(path).with_name(OF_FOLDER).is_file():
        return True
    form, codec = form_of(path)
    try:
        if form == EXCEL:
            from urnscan.tables.excel_output import is_workbook  # noqa: PLC0415 (few runs need it)

            return is_workbook(path)
        if form in (*_PARQUET, PARTIAL_SUFFIX):
            import pyarrow.parquet as pq  # noqa: PLC0415 (few runs need it)

            return KEY.encode() in (pq.read_metadata(path).metadata or {})
        with pa.input_stream(path, compression=CODECS.get(codec)) as file:
            head = file.read(1 << 12)
    except (OSError, pa.ArrowException):
        return False
    schemas = [*TABLES.values(), *map(flat_schema, TABLES.values())]
    if form in SEPARATORS:
        heads = [_separated(each, schema)[0] for each in SEPARATORS[form] for schema in schemas]
        return not head or head.startswith(tuple(heads))
    if form == ".jsonl":
        line = head.partition(b"\n")[0]
        return not head or line.startswith(tuple(map(_json_head, schemas)))
    return not head or GENERATOR in head


def separated_lines(rows: pa.RecordBatch, separator: str) -> memoryview:
    r"""Return a line of CSV with LF for each row, in UTF-8, without a header: `separator` between the cells, texts in
    quotation marks; a list is JSON, a time a text in ISO 8601, and null an empty cell.

    A spreadsheet would calculate a text like `=1+1` as a formula, which could start programs. So a text that begins
    with `=`, `+`, `-` or `@`, also in full width, a tab or a line end gets an apostrophe before it.

    >>> rows = pa.RecordBatch.from_pydict({"title": ["=1+1", "1=1", None]})
    >>> bytes(separated_lines(rows, ","))
    b'"\'=1+1"\n"1=1"\n\n'
    """
    import pyarrow.csv  # noqa: PLC0415 (few runs need it)

    columns = [_cells(column) for column in rows.columns]
    cells = pa.RecordBatch.from_arrays(columns, rows.schema.names)
    stream = pa.BufferOutputStream()
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=separator, batch_size=1 << 16)
    pyarrow.csv.write_csv(cells, stream, options)
    return memoryview(stream.getvalue())


def _cells(column: pa.Array) -> pa.Array:
    is_list = pa.types.is_list(column.type)
    column = cell_values(column)
    # The JSON of a list begins with a bracket.
    if is_list or not pa.types.is_string(column.type):
        return column
    is_formula = pc.match_substring_regex(column, FORMULA)
    if not pc.any(is_formula).as_py():
        return column
    return pc.if_else(is_formula, pc.binary_join_element_wise(FORMULA_ESCAPE, column, ""), column)


def _separated(separator: str, schema: pa.Schema) -> tuple[bytes, Lines]:
    """(first bytes of a file of separated values, function that returns the lines of rows)."""
    # The byte order mark comes first: Excel reads a file without it in the local encoding. The header has no quotation
    # marks: after a byte order mark, OpenRefine treats a quotation mark as text, and the whole file as one cell.
    header = separator.join(schema.names).encode() + b"\n"
    return codecs.BOM_UTF8 + header, functools.partial(separated_lines, separator=separator)


def _json_head(schema: pa.Schema) -> bytes:
    return f'{{"{schema.names[0]}": '.encode()


_CSV = ".csv"
SEPARATORS = {_CSV: DELIMITERS, ".tsv": ("\t",)}
"""Suffix -> separators of cells; the first separator is usual."""
TEXT_FORMS: Mapping[str, Callable[[pa.Schema], tuple[bytes, Lines]]] = {
    **{suffix: functools.partial(_separated, separators[0]) for suffix, separators in SEPARATORS.items()},
    ".jsonl": lambda _: (b"", json_lines),
}
"""Suffix of a text format -> a function that returns, for a schema, the first bytes of a file and the function for the
lines.
"""
