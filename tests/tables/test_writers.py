"""Tables in CSV, TSV and JSON Lines: the same rows as Parquet, and no cell that a spreadsheet runs."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.plain_output import CODECS
from urnscan.tables.schemas import OCCURRENCES, TABLES
from urnscan.tables.writers import TEXT_FORMS, is_result, open_table, separated_lines

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6) | st.sampled_from(
    ["=1+1", "-1", "@a", "+", "\t=1", "\r", "\n", "'=1", "a,b\tc", '"', "", "\uff1d1"]
)
DANGEROUS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def value_of(field):
    """Values that a column may hold."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_list(kind):
        inside = kind.value_field
        values = st.lists(value_of(inside), max_size=2)
    elif pa.types.is_struct(kind):
        values = st.fixed_dictionaries({each.name: value_of(each) for each in kind})
    elif pa.types.is_boolean(kind):
        values = st.booleans()
    elif pa.types.is_integer(kind):
        values = st.integers(0, 100)
    elif pa.types.is_timestamp(kind):
        values = st.datetimes(timezones=st.just(dt.UTC)).map(lambda moment: moment.replace(microsecond=0))
    elif pa.types.is_floating(kind):
        values = st.sampled_from([0.9, 0.957, 1])
    else:
        # Names of URNs need no escape in JSON: nothing in them does.
        is_urn = field.name in ("text", "urn", "nid", "nss", "element")
        values = st.text("abc:-'=", min_size=1, max_size=4) if is_urn else TEXTS
    return values | st.none() if field.nullable else values


def rows_of(schema):
    return st.lists(st.fixed_dictionaries({field.name: value_of(field) for field in schema}), max_size=3)


def written(folder, name, schema, rows):
    """The bytes of a file of these rows, written one by one; without its compression."""
    path = folder / name
    with open_table(path, schema, force=True) as output:
        for row in rows:
            output.write(pa.RecordBatch.from_pylist([row], schema))
        output.commit({"version": "1"})
    with pa.input_stream(path) as file:
        return file.read()


@pytest.mark.full
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("separator", [",", "\t"])
@given(data=st.data())
def test_cells_are_those_of_the_rows_and_none_is_a_formula(name, separator, data):
    """Python's own reader of CSV finds each text again, with an apostrophe where a spreadsheet would calculate."""
    rows = data.draw(rows_of(TABLES[name]))
    lines = bytes(separated_lines(pa.RecordBatch.from_pylist(rows, TABLES[name]), separator)).decode()
    found = list(csv.reader(io.StringIO(lines, newline=""), delimiter=separator, strict=True))
    assert len(found) == len(rows)
    for cells, row in zip(found, rows, strict=True):
        for cell, value in zip(cells, map(row.get, TABLES[name].names), strict=True):
            assert not cell.startswith(DANGEROUS)
            if isinstance(value, dt.datetime):
                assert cell == f"{value.isoformat()[:19]}Z"
            elif isinstance(value, str):
                assert cell == ("'" + value if value.startswith(DANGEROUS) else value)
            elif isinstance(value, list):
                assert json.loads(cell) == value
            else:
                assert cell == ("" if value is None else str(value).lower())


@pytest.mark.parametrize("suffix", TEXT_FORMS)
@pytest.mark.parametrize("codec", ["", *CODECS])
def test_files(tmp_path, suffix, codec):
    """A file has its header once, also if it has no rows; it is known as a result; two make no difference. Nothing is quoted
    behind the mark of UTF-8: OpenRefine would take the whole file for one cell.
    """
    row = dict.fromkeys("source text urn nid".split(), "a") | {"start": 5, "line": 1, "punctuation": 0, "length": 1}
    content = written(tmp_path, f"a{suffix}{codec}", OCCURRENCES, [row, row])
    empty = written(tmp_path, f"b{suffix}{codec}", OCCURRENCES, [])
    assert content.startswith(empty)
    assert content.count(b"\n") == empty.count(b"\n") + 2 == (2 if suffix == ".jsonl" else 3)
    assert empty.startswith(b"" if suffix == ".jsonl" else b"\xef\xbb\xbfsource")
    assert is_result(str(tmp_path / f"a{suffix}{codec}"))
    assert is_result(str(tmp_path / f"b{suffix}{codec}"))


def test_programs_read_it_again(tmp_path):
    """Arrow finds the columns, without the mark of UTF-8 in the name of the first, and null apart from an empty text."""
    row = dict.fromkeys("source text urn nid".split(), "ä") | {"start": 5, "line": 1, "punctuation": 0, "length": 1}
    written(tmp_path, "a.csv", OCCURRENCES, [row, row | {"member": ""}])
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    table = pyarrow.csv.read_csv(tmp_path / "a.csv", convert_options=options)
    assert table.column_names == OCCURRENCES.names
    assert table.column("member").to_pylist() == [None, ""]
    assert table.column("source").to_pylist() == ["ä", "ä"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl", "a.parquet", "a.html", "a"])
def test_files_of_others_are_no_results(tmp_path, name):
    """What urnscan did not write is never taken for a result, which a run may replace without reading it."""
    path = tmp_path / name
    for content in (b"urn,nid\n", b'{"url": 1}\n', b"<html>", b"PAR1", b"\x1f\x8b"):
        path.write_bytes(content)
        assert not is_result(str(path)), content


def test_parquet_of_others_is_no_result(tmp_path):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"urn": ["a"]}), path)
    assert not is_result(str(path))
    with ParquetOutput(path, pa.schema({"urn": pa.string()}), force=True) as output:
        output.commit({})
    assert is_result(str(path))
