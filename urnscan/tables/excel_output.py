"""Tables as workbooks of Excel: the rows on the first sheet, the meanings of the columns on the second."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxFileError
from xlsxwriter.worksheet import Worksheet

from urnscan.display.text import counted
from urnscan.errors import FatalError
from urnscan.tables.column_meanings import explained_columns, table_name
from urnscan.tables.metadata import KEY
from urnscan.tables.nested_columns import cell_values
from urnscan.tables.output_file import Output, as_fatal
from urnscan.version import __version__

# Limits of Excel: rows of a sheet, including the header, and UTF-16 units in a cell.
_SHEET_ROWS = 1_048_576
_CELL_UNITS = 32_767
_CUT_MARK = "…"

# Number of rows that are Python objects at a time.
_PART = 1 << 12
# The longest cell in this number of first rows decides the width of a column.
_MEASURED_ROWS = 1000
# Widths in characters; _FILTER_WIDTH is the width of the filter button in the header.
_NARROWEST, _WIDEST, _MEANING_WIDTH = 8, 60, 110
_FILTER_WIDTH = 4
_MADE = dt.datetime(1980, 1, 1)  # noqa: DTZ001 (the time of the members of the file, so that a run gives the same bytes again)
_PROPERTIES = "docProps/custom.xml"


class _Sheet(Worksheet):  # type: ignore[misc]
    """A sheet in which a text that begins with `<r>` stays a text. XlsxWriter would treat it as XML."""

    def _xml_rich_inline_string(self, string: str, attributes: Any) -> None:  # noqa: ANN401 (as in XlsxWriter)
        self._xml_inline_string(string, True, attributes)


class ExcelOutput(Output):
    """A workbook of Excel with a table: the rows on the first sheet, the meanings of the columns on the second.

    Texts are cells of the type text, so Excel reads no text as a formula, a number or a link.
    """

    def __init__(self, path: str | os.PathLike[str], schema: pa.Schema, *, force: bool = False) -> None:
        """`schema` is that of a table (a value of TABLES), or the result of `flat_schema` for it. Raises FatalError if
        `path` exists already (unless `force`), is a folder, or cannot be written to.
        """
        super().__init__(path, force=force)
        self.schema = schema
        self._rows = self._cut = 0
        self._widths = [max(len(name) + _FILTER_WIDTH, _NARROWEST) for name in schema.names]
        with as_fatal(self._place.name), contextlib.ExitStack() as stack:
            stack.push(self)
            self._book = Workbook(str(self._written), {"constant_memory": True, "tmpdir": str(self.folder)})
            # A member may have more than 2 GiB.
            self._book.use_zip64()
            self._clean_up.callback(self._close)
            self._sheet = self._book.add_worksheet(table_name(schema), _Sheet)
            # A cell of the type text stays text, also when somebody edits it.
            self._formats = [self._book.add_format({"num_format": _number_format(field.type)}) for field in schema]
            self._head = self._book.add_format({"bold": True, "bottom": 1, "num_format": "@"})
            for column, name in enumerate(schema.names):
                self._sheet.set_column(column, column, None, self._formats[column])
                self._sheet.write_string(0, column, name, self._head)
            self._sheet.freeze_panes(1, 0)
            stack.pop_all()

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows of the schema. Raises FatalError if the disk is full or fails, or if the sheet would get more
        than 1,048,576 rows with the header.

        A text of more than 32,767 UTF-16 units is cut; after `complete`, `remarks` reports how many texts were cut.
        """
        if 1 + self._rows + rows.num_rows > _SHEET_ROWS:
            raise FatalError(
                f"{self._place.name}: an Excel sheet has at most {_SHEET_ROWS:,} rows, and this table has more; write .csv or .parquet"
            )
        with as_fatal(self._place.name):
            for start in range(0, rows.num_rows, _PART):
                self._write_cells([cell_values(column) for column in rows.slice(start, _PART).columns])

    def _write_cells(self, columns: list[pa.Array]) -> None:
        """Write the next rows cell by cell, as the mode `constant_memory` requires."""
        if self._rows < _MEASURED_ROWS:
            self._measure(columns)
        writers = [self._writer(column.type) for column in columns]
        for cells in zip(*(column.to_pylist() for column in columns), strict=True):
            self._rows += 1
            for column, (write, cell) in enumerate(zip(writers, cells, strict=True)):
                if cell is not None:
                    write(self._rows, column, cell)

    def _writer(self, kind: pa.DataType) -> Callable[[int, int, Any], Any]:
        number = self._sheet.write_boolean if pa.types.is_boolean(kind) else self._sheet.write_number
        write: Callable[[int, int, Any], Any] = self._write_text if pa.types.is_string(kind) else number
        return write

    def _write_text(self, row: int, column: int, text: str) -> None:
        if len(text) > _CELL_UNITS // 2 and (units := text.encode("utf-16-le"))[2 * _CELL_UNITS :]:
            self._cut += 1
            text = units[: 2 * (_CELL_UNITS - 1)].decode("utf-16-le", "ignore") + _CUT_MARK
        self._sheet.write_string(row, column, text)

    def _measure(self, columns: list[pa.Array]) -> None:
        """Widen the columns for the longest texts in the next rows of the table, `columns`."""
        for number, column in enumerate(columns):
            texts = column.slice(0, _MEASURED_ROWS - self._rows).cast(pa.string()).to_pylist()
            longest = max((len(text) for text in texts if text is not None), default=0)
            self._widths[number] = min(max(self._widths[number], longest + 1), _WIDEST)

    def _write_end(self, metadata: Mapping[str, Any]) -> None:
        for column, width in enumerate(self._widths):
            self._sheet.set_column(column, column, width, self._formats[column])
        self._sheet.autofilter(0, 0, self._rows, len(self._widths) - 1)
        if self._cut:
            texts = counted(self._cut, "text")
            most = f"{_CELL_UNITS:,} characters, all that a cell of Excel holds"
            self.remarks = [
                f"{self._place.name}: {texts} cut to {most}, with {_CUT_MARK} at the end; write .csv or .parquet"
            ]
        self._explain()
        self._book.set_properties({"created": _MADE})
        self._book.set_custom_property(KEY, str(metadata.get("version", __version__)))
        try:
            self._book.close()
        # For example, the disk is full.
        except XlsxFileError as error:
            raise OSError(str(error)) from error

    def _explain(self) -> None:
        """Write the second sheet: the meaning of each column, and the remarks."""
        sheet = self._book.add_worksheet("columns", _Sheet)
        text = self._book.add_format({"num_format": "@", "text_wrap": True, "valign": "top"})
        rows = explained_columns(self.schema)
        sheet.set_column(0, 0, max(len(name) for name, _ in rows) + 2, text)
        sheet.set_column(1, 1, _MEANING_WIDTH, text)
        sheet.freeze_panes(1, 0)
        notes = ["", "A cell is empty where this says null.", *(f"Note: {remark}" for remark in self.remarks)]
        for row, cells in enumerate([("column", "meaning"), *rows, *(("", note) for note in notes)]):
            for column, cell in enumerate(cells):
                sheet.write_string(row, column, cell, self._head if row == 0 else text)

    def _close(self) -> None:
        """Close the temporary files of an incomplete output."""
        for sheet in self._book.worksheets():
            with contextlib.suppress(OSError):
                sheet.row_data_fh.close()


def is_workbook(path: str) -> bool:
    """Whether a file is a workbook of Excel that urnscan wrote; False for any other file. Raises OSError if the file
    does not exist or cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as book:
            return f'name="{KEY}"'.encode() in book.read(_PROPERTIES)
    except (zipfile.BadZipFile, KeyError):
        return False


def _number_format(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "0"
    return "General" if pa.types.is_boolean(kind) or pa.types.is_floating(kind) else "@"
