"""Tables for people: `-o names.xlsx`, `--delimiter` and `--flat`, with every command that writes tables."""

from __future__ import annotations

import csv
import io

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TEXT = b"urn:isbn:9783999990521 URN:ISBN:9783999990521 urn:isbn:3-99999-052-X urn:example:a"
DUMP = b"id,isbn,title\n0012,9783999990521,=Inks\n0013,3-99999-052-X,=Inks\n0014,9783999990774,Tides\n"


def lines(urnscan, name, delimiter=";"):
    text = (urnscan.folder / name).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def sheet(urnscan, name):
    rows = openpyxl.load_workbook(urnscan.folder / name).worksheets[0].values
    names = next(rows)
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_the_sheet_has_the_rows_of_the_parquet(urnscan):
    """docs/howto/excel.md: all tables of a scan can be workbooks, and hold what Parquet holds."""
    urnscan.write("a.txt", TEXT + b" urn:x y")
    names = {"-o": "classes", "--occurrences": "occurrences", "--rejects": "rejects"}
    for suffix in ("xlsx", "parquet"):
        urnscan("a.txt", "--flat", *(word for name, file in names.items() for word in (name, f"{file}.{suffix}")))
    for name in names.values():
        expected = pq.read_table(urnscan.folder / f"{name}.parquet").to_pylist()
        assert sheet(urnscan, f"{name}.xlsx") == expected


@pytest.mark.full
def test_tables_of_dedup(urnscan):
    """Each may be a workbook. A title that begins like a formula is a text, and a record id keeps its zeros."""
    urnscan.write("d.csv", DUMP)
    urnscan(
        "dedup", "d.csv", "-o", "c.xlsx", "--mapping", "m.xlsx", "--review", "r.xlsx", "--review-all", "--candidates", "p.xlsx",
        "--flat",
    )  # fmt: skip
    clusters = sheet(urnscan, "c.xlsx")
    assert [(row["record_id"], row["title"], row["kept"]) for row in clusters][:2] == [
        ("0012", "=Inks", True),
        ("0013", "=Inks", False),
    ]
    assert clusters[0]["urns"] == "urn:isbn:9783999990521"
    assert [row["record_id"] for row in sheet(urnscan, "m.xlsx")] == ["0013"]
    assert [row["decision"] for row in sheet(urnscan, "r.xlsx")] == ["keep", "remove"]
    assert sheet(urnscan, "p.xlsx") == []


@pytest.mark.full
def test_decisions_come_back_with_the_delimiter(urnscan):
    """Excel in German saves what it opened with `;` in the same way."""
    urnscan.write("d.csv", DUMP)
    urnscan("dedup", "d.csv", "--review", "r.csv", "--review-all", "--delimiter", ";", "--flat")
    text = (urnscan.folder / "r.csv").read_text(encoding="utf-8-sig")
    urnscan.write("decided.csv", text.replace('"remove"', '"apart"').encode())
    urnscan("dedup", "d.csv", "-o", "c.csv", "--decisions", "decided.csv")
    assert [row["kept"] for row in lines(urnscan, "c.csv", ",")] == ["true"] * 3


@pytest.mark.full
def test_merge_and_diff(urnscan):
    """The other commands that write tables."""
    urnscan.write("a.txt", TEXT)
    urnscan.write("b.txt", b"urn:example:b")
    urnscan("a.txt", "-o", "a.parquet")
    urnscan("b.txt", "-o", "b.parquet")
    urnscan("merge", "a.parquet", "b.parquet", "-o", "all.xlsx", "--flat")
    assert [row["urn"] for row in sheet(urnscan, "all.xlsx")][:2] == ["urn:example:a", "urn:example:b"]
    urnscan("diff", "a.parquet", "b.parquet", "-o", "d.csv", "--flat", "--delimiter", "|", status=1)
    assert lines(urnscan, "d.csv", "|")[0] | {"changes_what": "", "change": "went"} == {
        "change": "went", "urn": "urn:example:a", "changes_what": "", "changes_old": "", "changes_new": "",
    }  # fmt: skip


def test_flat(urnscan):
    """docs/reference/files.md: no column is nested, in any format, and none of the spellings is lost."""
    urnscan.write("a.txt", TEXT)
    urnscan("a.txt", "-o", "a.csv", "--flat", "--delimiter", ";")
    urnscan("a.txt", "-o", "a.parquet", "--flat")
    table = pq.read_table(urnscan.folder / "a.parquet")
    assert not any(pa.types.is_nested(field.type) for field in table.schema)
    row = {"spellings_text": "URN:ISBN:9783999990521; urn:isbn:9783999990521", "spellings_count": "1; 1"}
    (found,) = (each for each in table.to_pylist() if each["spelling_count"] == 2)
    assert {name: found[name] for name in row} == row
    (found,) = (each for each in lines(urnscan, "a.csv") if each["spelling_count"] == "2")
    assert {name: found[name] for name in row} == row


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-o a.parquet --delimiter ;", "--delimiter is for CSV; name a table that ends in .csv, or leave it out"),
        ("--delimiter ;", "--delimiter is for CSV; name a table that ends in .csv, or leave it out"),
        ("--flat", "--flat is for tables; name one, as in -o names.csv, or leave it out"),
        ("-o - --json --flat", "--flat is for tables, and --json prints lines; leave out --flat, or write -o names.jsonl"),
        ("-o a.xlsx.gz", "a.xlsx.gz: unknown output format; use .parquet, .xlsx, .csv, .tsv, .jsonl (the last three also with "),
        ("-o a.xls", "a.xls: unknown output format; use .parquet, .xlsx, .csv, .tsv, .jsonl (the last three also with "),
        ("-o a.xlsx --engine spark", "a.xlsx: --engine spark writes only folders of Parquet; leave out .xlsx"),
        ("-o a --engine spark --flat", "--flat is for one machine; leave it out, as --engine spark writes Parquet with all columns"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(urnscan, words, said):
    """One line that says why, and what to do."""
    urnscan.write("a.txt", TEXT)
    (line,) = urnscan("a.txt", *words.split(), status=2).err.splitlines()
    assert line.startswith(f"urnscan: {said}")


def test_a_flat_table_is_not_read_again(urnscan):
    """merge, diff and report need the spellings; the line says how to get them."""
    urnscan.write("a.txt", TEXT)
    urnscan("a.txt", "-o", "a.parquet", "--flat")
    said = urnscan("report", "a.parquet", "-o", "a.html", status=2).err
    assert "has no column spellings, as --flat wrote it; write it without that option" in said


def test_results_in_a_folder_are_no_inputs(urnscan):
    """The second run replaces the tables of the first, and does not read them, in any layout."""
    urnscan.write("a.txt", TEXT)
    words = [".", "-o", "names.xlsx", "--occurrences", "places.csv", "--delimiter", ";", "--flat", "--force"]
    assert urnscan(*words).summary.startswith("urnscan: 1 input,")
    assert urnscan(*words).summary.startswith("urnscan: 1 input,")
