"""Tables as text are read as the tables in Parquet that the same run writes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.classes import HOSTILE, HOSTILE_SOURCE, classes, made, occurrences
from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.tables.editions import RENAMED
from urnscan.tables.readers import TableFile
from urnscan.tables.writers import open_table

FORMATS = ("csv", "tsv", "jsonl", "csv.gz", "jsonl.zst")
ODD = ["=1+1", "-2", "a,b;c\td", 'a"b', "a\nb", "it's", "é\u2028\U0001f600", HOSTILE_SOURCE]  # fmt: skip


def written(table, path):
    """The table in the format that the name chooses."""
    with open_table(path, table.schema) as file:
        for batch in table.combine_chunks().to_batches():
            file.write(batch)
        file.commit({})
    return str(path)


def read(path, kind, names):
    batches = list(TableFile(path, kind).batches(*names))
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["classes", "occurrences"])
def test_the_same_rows(tmp_path, kind, form):
    """Numbers, flags, lists, nulls, bytes after names, and texts that a spreadsheet would calculate."""
    rows = [(*row[:4], ODD[number % len(ODD)], row[5]) for number, row in enumerate(made(60))]
    rows.append((HOSTILE, 2, [HOSTILE, "urn:x:',;=1"], [1, 1], "'=a", None))
    table = classes(rows) if kind == "classes" else occurrences(rows)
    expected = table.to_pylist()
    rows = read(written(table, tmp_path / f"t.{form}"), kind, table.schema.names)
    if "jsonl" not in form:  # an apostrophe before "=" is not distinguished from that of a cell
        for row in expected:
            row.update({name: row[name].replace("'=", "=") for name in ("first_source", "source") if name in row})
    assert rows == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0'")), min_size=1, max_size=4))
@FEW
def test_any_text(tmp_path_factory, texts):
    """In each format."""
    folder = tmp_path_factory.mktemp("any")
    table = classes([(f"urn:x:{number}", 1, ["urn:x:a"], [1], text, None) for number, text in enumerate(texts)])
    for form in "csv", "tsv", "jsonl":
        rows = read(written(table, folder / f"t.{form}"), "classes", ["first_source"])
        assert [row["first_source"] for row in rows] == texts


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_first_edition(tmp_path, form):
    """The columns have other names there."""
    table = classes(made(20))
    earlier = {now: before for before, now in RENAMED.items()}
    old = table.rename_columns([earlier.get(name, name) for name in table.column_names])
    assert read(written(old, tmp_path / f"t.{form}"), "classes", table.schema.names) == table.to_pylist()


def test_as_a_spreadsheet_writes_it(tmp_path):
    """With semicolons, flags in capitals, CRLF, other columns, and quotation marks only where they are needed."""
    table = classes(made(20))
    text = written(table, tmp_path / "t.csv")
    with Path(text).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    at = rows[0].index("valid")
    lines = io.StringIO(newline="")
    csv.writer(lines, delimiter=";", lineterminator="\r\n").writerows(
        [*row[:at], row[at].upper() if row is not rows[0] else row[at], *row[at + 1 :], "my note"] for row in rows
    )
    (tmp_path / "u.csv").write_text(lines.getvalue(), encoding="utf-8")
    names = [name for name in table.schema.names if name not in ("first_member", "problem")]
    assert read(str(tmp_path / "u.csv"), "classes", names) == table.select(names).to_pylist()


def test_nothing_found(tmp_path):
    """A run that finds nothing writes a header, or nothing."""
    for form in "csv", "jsonl":
        path = written(classes([]), tmp_path / f"t.{form}")
        assert TableFile(path, "classes").rows == 0


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("t.csv", "id;isbn\n1;2\n", "has no column urn; urnscan -o writes classes"),
        ("t.csv", "urn,urn\na,b\n", "has several columns urn"),
        ("t.csv", "", "has no column urn"),
        ("t.csv", "urn,nid\n1\n", "is not a table as urnscan writes it: CSV parse error"),
        (
            "t.csv",
            "urn,occurrence_count\na,many\n",
            "is not a table as urnscan writes it: column occurrence_count: CSV conv",
        ),
        ("t.csv", "1,1\na,b\n", "has no column urn"),
        ("t.csv", "rank,rank\na,b\n", "has several columns cluster_rank"),
        ("t.csv", "urn,spellings\na,[\n", "is not a table as urnscan writes it: JSON parse error"),
        ("t.csv", b"\xff,urn\n", "its first line is not that of a table in CSV"),
        ("t.jsonl", "{\n", "its first line is not that of a table in JSONL"),
        ("t.jsonl", "[1]\n", "has no column urn"),
        ("t.jsonl", '{"urn": "a"}\n{"urn": 1}\n', "is not a table as urnscan writes it: JSON parse error"),
        ("t.csv.gz", "urn\n", "cannot be read"),
    ],
)
def test_other_files(tmp_path, name, text, reason):
    """One line that says what is wrong, and no traceback."""
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FatalError) as error:
        TableFile(str(tmp_path / name), "classes")
    assert str(error.value).startswith(f"{tmp_path / name}: {reason}")
    assert "\n" not in str(error.value)
    assert "row 0" not in str(error.value)


def test_a_count_below_1(tmp_path):
    """No program that reads a table, such as diff, gives on a number that no run counts."""
    path = written(classes(made(3)).set_column(4, "occurrence_count", pa.array([-1] * 3)), tmp_path / "t.csv")
    with pytest.raises(FatalError, match="occurrence_count has values that are not counts"):
        read(path, "classes", ["occurrence_count"])


def test_what_is_no_count(tmp_path):
    """A cell that is empty where a run writes a number is reported with the column."""
    table = classes(made(3))
    path = written(table, tmp_path / "t.jsonl")
    text = (tmp_path / "t.jsonl").read_text().replace('"source_count"', '"other"')
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(FatalError, match="has no column source_count"):
        TableFile(path, "classes")
    assert pa.types.is_int64(
        TableFile(written(table, tmp_path / "u.jsonl"), "classes").take([0], "source_count").schema[0].type
    )
