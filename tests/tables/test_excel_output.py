"""Workbooks of Excel: the same rows as Parquet, every text a text, and a sheet that explains the columns."""

from __future__ import annotations

import datetime as dt
import json
import zipfile

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.utils.escape import unescape

from tests.tables.test_writers import rows_of
from urnscan.errors import FatalError
from urnscan.tables.layout import Layout
from urnscan.tables.nested_columns import flat_rows
from urnscan.tables.schemas import CLASSES, CLUSTERS, OCCURRENCES, REJECTS, TABLES
from urnscan.tables.writers import is_result, open_table

REJECT = {"source": "a", "start": 0, "line": 1, "text": "urn:", "reason": "nss-missing", "message": "m", "position": 4}


def write(path, schema, batches, layout=None):
    """Write a workbook; returns the remarks about it."""
    with open_table(path, schema, force=True, layout=layout or Layout()) as output:
        for rows in batches:
            output.write(rows)
        output.commit({"version": "1"})
        return list(output.remarks)


def reject_rows(*texts):
    return pa.RecordBatch.from_pylist([REJECT | {"text": text} for text in texts], REJECTS)


def cells(path, column=None):
    """The cells of the first sheet below its header; with a column, only those in it."""
    names, *rows = openpyxl.load_workbook(path).worksheets[0].rows
    return rows if column is None else [row[[name.value for name in names].index(column)] for row in rows]


def as_cell(value):
    """A value of Parquet as its cell has it."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return f"{value.isoformat()[:19]}Z" if isinstance(value, dt.datetime) else value


@pytest.mark.full
@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(list(TABLES)), is_flat=st.booleans(), data=st.data())
def test_openpyxl_reads_the_rows_again(tmp_path_factory, name, is_flat, data):
    """docs/howto/excel.md: texts are texts, whatever they look like, counts are numbers, and nothing is a formula."""
    path = tmp_path_factory.mktemp("books") / "a.xlsx"
    rows = pa.RecordBatch.from_pylist(data.draw(rows_of(TABLES[name])), TABLES[name])
    write(path, TABLES[name], [rows], Layout(flat=is_flat))
    expected = (flat_rows(rows) if is_flat else rows).to_pylist()
    found = cells(path)
    assert len(found) == len(expected)
    for line, row in zip(found, expected, strict=True):
        for cell, value in zip(line, row.values(), strict=True):
            assert cell.data_type == (
                "b" if isinstance(value, bool) else "n" if isinstance(cell.value, int | float | None) else "s"
            )
            read = unescape(cell.value) if isinstance(cell.value, str) else cell.value
            if isinstance(value, list):
                assert json.loads(read) == value
            else:
                assert read == as_cell(value)


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("https://example.org")',
        "+1",
        "-1",
        "@SUM(1)",
        "{=1}",
        "9783999990521",
        "0012",
        "1e5",
        "TRUE",
        "https://example.org/",
        "mailto:a@example.org",
        "<r>bold</r>",
        "<r><t>&",
        "_x0041_",
        " a ",
        "'a",
    ],
)
def test_a_text_stays_a_text(tmp_path, text):
    """No formula, number or link is made of a text, and none of its characters is XML."""
    path = tmp_path / "a.xlsx"
    write(path, REJECTS, [reject_rows(text)])
    (cell,) = cells(path, "text")
    assert (cell.data_type, unescape(cell.value), cell.number_format, cell.hyperlink) == ("s", text, "@", None)
    with zipfile.ZipFile(path) as book:
        sheet = book.read("xl/worksheets/sheet1.xml")
        assert b"<f>" not in sheet
        assert b"hyperlink" not in sheet


def test_what_a_sheet_looks_like(tmp_path):
    """The header stays in view and has a filter, columns are as wide as their cells, within limits."""
    path = tmp_path / "a.xlsx"
    write(path, REJECTS, [reject_rows("urn:x " * 9, "urn:y"), reject_rows("urn:z" * 100)])
    sheet, _ = openpyxl.load_workbook(path).worksheets
    assert (sheet.title, sheet.freeze_panes, sheet.auto_filter.ref) == ("rejects", "A2", "A1:H4")
    widths = {cell.value: sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]}
    assert 60 <= widths["text"] < 62
    assert 8 <= widths["start"] < 12
    assert all(cell.font.bold for cell in sheet[1])


@pytest.mark.parametrize(
    ("name", "is_flat"), [(name, False) for name in TABLES] + [("classes", True), ("review", True)]
)
def test_the_second_sheet_explains_each_column(tmp_path, name, is_flat):
    """In plain text: without the marks and links of the page that has the same sentences."""
    path = tmp_path / "a.xlsx"
    write(path, TABLES[name], [], Layout(flat=is_flat))
    sheet, columns = openpyxl.load_workbook(path).worksheets
    assert columns.title == "columns"
    rows = [(row[0].value, row[1].value) for row in columns.iter_rows(min_row=2) if row[0].value]
    assert [name for name, _ in rows] == [cell.value for cell in sheet[1]]
    assert all(meaning and "](" not in meaning and "`" not in meaning for _, meaning in rows)


def test_a_sheet_without_rows_has_its_header(tmp_path):
    """A scan that finds nothing writes a file that opens."""
    path = tmp_path / "a.xlsx"
    write(path, CLASSES, [])
    sheet = openpyxl.load_workbook(path).worksheets[0]
    assert [cell.value for cell in sheet[1]] == CLASSES.names
    assert sheet.max_row == 1


def test_more_rows_than_a_sheet_has(tmp_path):
    """A run that has too many for Excel ends with one line that says what to do, and leaves no half of a file."""
    path = tmp_path / "a.xlsx"
    rows = pa.RecordBatch.from_arrays(
        [
            pa.DictionaryArray.from_arrays(pa.array([0]).cast(pa.int32()).take(pa.array([0] * 1_048_576)), ["a"])
            if pa.types.is_dictionary(field.type)
            else pa.repeat(pa.scalar(REJECT.get(field.name), field.type), 1_048_576)
            for field in REJECTS
        ],
        schema=REJECTS,
    )
    with pytest.raises(FatalError, match=r"a\.xlsx: an Excel sheet has at most 1,048,576 rows.*\.csv"):
        write(path, REJECTS, [rows])
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_is_longer_than_a_cell(tmp_path):
    """It is cut, where no half of a character stays, and both a line and the second sheet say so."""
    path = tmp_path / "a.xlsx"
    (remark,) = write(path, REJECTS, [reject_rows("a" * 32_767, "a" * 32_768, "a" + "\U0001f4d6" * 20_000)])
    assert (
        remark
        == f"{path}: 2 texts cut to 32,767 characters, all that a cell of Excel holds, with … at the end; write .csv or .parquet"
    )
    whole, cut, pairs = (cell.value for cell in cells(path, "text"))
    assert whole == "a" * 32_767
    assert cut == "a" * 32_766 + "…"
    assert pairs in ("a" + "\U0001f4d6" * 16_382 + "…", "a" + "\U0001f4d6" * 16_383)
    explained = [cell.value for cell in openpyxl.load_workbook(path).worksheets[1]["B"]]
    assert any(remark in (text or "") for text in explained)


def test_the_same_bytes_for_any_batches(tmp_path):
    """docs/guarantees.md: a result does not depend on how the work is split, nor on the time."""
    texts = [f"urn:example:{number}" * (number % 7) for number in range(3000)]
    write(tmp_path / "a.xlsx", REJECTS, [reject_rows(*texts)])
    write(tmp_path / "b.xlsx", REJECTS, [reject_rows(*texts[at : at + 700]) for at in range(0, 3000, 700)])
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_an_output_that_is_not_completed_leaves_nothing(tmp_path):
    """Neither the file nor the rows that waited for it."""
    with open_table(tmp_path / "a.xlsx", OCCURRENCES):
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_what_is_known_as_a_result(tmp_path):
    """A workbook of urnscan is passed over in a folder that is read; one of somebody else is not."""
    write(tmp_path / "a.xlsx", CLUSTERS, [])
    openpyxl.Workbook().save(tmp_path / "b.xlsx")
    (tmp_path / "c.xlsx").write_bytes(b"PK")
    assert [is_result(str(tmp_path / name)) for name in ("a.xlsx", "b.xlsx", "c.xlsx")] == [True, False, False]
