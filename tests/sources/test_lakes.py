"""Tables of a data lake: what is read is what the table has now, as its own library reads it."""

import json
import shutil

import deltalake
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.lakes import added, commit, delete_by_positions, delete_by_vector, delta, iceberg
from urnscan.errors import LakeNote, SourceError
from urnscan.sources import lakes
from urnscan.sources.inputs import Input, TableFile, one_by_one
from urnscan.sources.layers import Reading
from urnscan.sources.selection import Selection
from urnscan.sources.texts import open_documents
from urnscan.sources.walk import find_listed

pytestmark = pytest.mark.slow  # a process for each table

ROWS = pa.table(
    {
        "n": [0, 1, 2],
        "part": ["a b", "a/b", None],
        "text": ["urn:isbn:0451450523", "urn:isbn:0140449132", "urn:issn:0317-8471"],
        "more": [[{"of": "x"}], [], [{"of": "y"}, {"of": "z"}]],
    }
)
MORE = pa.table({"n": [3], "part": ["a/b"], "text": ["urn:nbn:de:1"], "more": pa.array([[]], ROWS["more"].type)})


def read(folder, *columns, selection=None):
    """The values of a folder, as (row and column, text), sorted, and the errors."""
    values, errors = [], []
    for found in one_by_one(find_listed([str(folder)], selection or Selection())):
        if isinstance(found, SourceError):
            errors.append(found)
            continue
        assert found.name.startswith(f"{folder}/")
        for each in open_documents(found, Reading(columns=columns)):
            if isinstance(each, SourceError):
                errors.append(each)
            else:
                texts = [value.as_py() for value in each.values]
                values += [(each.place(at), text.decode()) for at, text in enumerate(texts) if text]
    return sorted(values), [str(error) for error in errors]


def texts(values, *names):
    """Texts of columns, sorted."""
    return sorted(text for place, text in values if not names or place.partition("/")[2].startswith(names))


@pytest.mark.quick
def test_removed_files_are_not_read(tmp_path):
    """forms.md, Tables of a data lake: names that the table has no longer are not found, and its log is no text."""
    delta(tmp_path, ROWS, MORE).delete("n = 1")
    values, errors = read(tmp_path, "text")
    assert errors == []
    assert texts(values) == ["urn:isbn:0451450523", "urn:issn:0317-8471", "urn:nbn:de:1"]
    assert len(list(tmp_path.glob("*.parquet"))) == 3


def test_columns_of_partition(tmp_path):
    """forms.md: a column by which the table is parted is read, though no file has it."""
    folder = tmp_path / "a ü"
    delta(folder, ROWS, MORE, partition_by=["part"])
    values, errors = read(folder, "part")
    assert (values, errors) == ([("0/part", "a b"), ("0/part", "a/b"), ("0/part", "a/b")], [])
    assert len(texts(read(folder)[0], "text")) == 4
    folder.rename(tmp_path / "a%20b")
    assert "has a % in it: rename the folder" in read(tmp_path / "a%20b")[1][0]


@pytest.mark.parametrize("rows", [[1], [0, 2], [0, 1, 2]])
def test_deletion_vectors(tmp_path, rows):
    """forms.md: deleted rows are not read, and the others keep their numbers."""
    delta(tmp_path, ROWS, configuration={"delta.enableDeletionVectors": "true"})
    delete_by_vector(tmp_path, rows)
    left = [row for row in range(3) if row not in rows]
    assert read(tmp_path, "text") == ([(f"{row}/text", ROWS["text"][row].as_py()) for row in left], [])
    assert sum(batch.num_rows for batch in deltalake.DeltaTable(tmp_path).scan()) == len(left)


@FEW
@given(data=st.data())
@pytest.mark.quick
def test_deleted_rows_of_many(tmp_path_factory, data):
    """Deleted rows are not read and the others keep their numbers, however the rows lie in groups and batches."""
    path = tmp_path_factory.getbasetemp() / "a.parquet"
    count = data.draw(st.sampled_from([1, 2, 1000, 70_000]))
    table = pa.table({"text": [f"value {row}" for row in range(count)]})
    pq.write_table(table, path, row_group_size=data.draw(st.integers(max(1, count // 3), count)))
    deleted = data.draw(st.sets(st.integers(0, count - 1), max_size=50) | st.just(set(range(0, count, 2))))
    rows = np.array(sorted(deleted), np.uint64)
    of_table = TableFile(("text",), {}, {"text": "text"}, {}, rows.tobytes())
    values = []
    for found in open_documents(Input("a", str(path), None, table=of_table), Reading()):
        values += [(found.place(at), text.as_py()) for at, text in enumerate(found.values)]
    assert values == [(f"{row}/text", b"value %d" % row) for row in range(count) if row not in deleted]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_column_mapping(tmp_path, mode):
    """forms.md: columns and their parts are named as in the table, whatever the files call them."""
    delta(tmp_path, ROWS, configuration={"delta.columnMapping.mode": mode}, partition_by=["part"])
    values, errors = read(tmp_path, "text", "part", "more.of")
    assert errors == []
    assert texts(values, "text") == sorted(ROWS["text"].to_pylist())
    assert texts(values, "part") == ["a b", "a/b"]
    assert [place for place, _ in values if "more" in place] == ["0/more[0].of"] * 2 + ["0/more[1].of"]


def test_columns_that_were_removed_or_renamed(tmp_path):
    """forms.md: a column that was removed is not read, though the files have it."""
    delta(tmp_path, ROWS, configuration={"delta.columnMapping.mode": "name"})
    _, schema = _metadata(tmp_path)
    fields = {field["name"]: field for field in schema["fields"]}
    del fields["part"]
    fields["text"]["name"] = "body"
    _set_schema(tmp_path, list(fields.values()))
    values, errors = read(tmp_path)
    assert errors == []
    assert {place.partition("/")[2].partition("[")[0] for place, _ in values} == {"body", "more"}


def test_removed_part_of_a_column(tmp_path):
    """forms.md: a column of which a part was removed is not read, and a line says so."""
    delta(tmp_path, ROWS, configuration={"delta.columnMapping.mode": "name"})
    _, schema = _metadata(tmp_path)
    schema["fields"][3]["type"]["elementType"]["fields"][0]["metadata"]["delta.columnMapping.physicalName"] = "other"
    _set_schema(tmp_path, schema["fields"])
    values, (error,) = read(tmp_path)
    assert "column 'more' is not read" in error
    assert len(texts(values, "text")) == 3


def test_removed_part_of_a_column_of_iceberg(tmp_path):
    """forms.md: a column of Iceberg of which a part was removed is not read, also where the part is one of a list."""
    rows = pa.table({"text": ["urn:a:b"], "pair": [{"a": "urn:a:c", "b": "urn:a:d"}], "more": [[{"a": "x", "b": "y"}]]})
    table, folder = iceberg(tmp_path, rows)
    for path in (("pair", "b"), ("more", "element", "b")):
        with table.update_schema(allow_incompatible_changes=True) as update:
            update.delete_column(path)
    values, errors = read(folder)
    assert texts(values) == ["urn:a:b"]
    assert ["column 'pair' is not read" in errors[0], "column 'more' is not read" in errors[1]] == [True, True]


@pytest.mark.quick
def test_column_that_came_later(tmp_path):
    """A column that some files lack is one of the table: `--column` finds no fault with them."""
    delta(tmp_path, ROWS.select(["n"]))
    deltalake.write_deltalake(tmp_path, ROWS.select(["n", "text"]), mode="append", schema_mode="merge")
    values, errors = read(tmp_path, "text")
    assert (len(values), errors) == (3, [])


@pytest.mark.parametrize(
    "path", ["../a.parquet", "/etc/passwd", "file:///etc/passwd", "s3://a/b.parquet", "gone.parquet"]
)
def test_files_elsewhere(tmp_path, path):
    """A log that names a file elsewhere, or one that is gone, costs that file, and no other."""
    table = tmp_path / "t"
    delta(table, ROWS)
    (tmp_path / "a.parquet").write_bytes(next(table.glob("*.parquet")).read_bytes())
    add = added(table)[-1]["add"]
    commit(table, {"add": {**add, "path": path}})
    values, (error,) = read(table, "text")
    assert len(values) == 3
    assert "is outside of the folder of the table" in error or "the table has this file" in error


@pytest.mark.parametrize("log", [b'{"add":', b'{"add":{"path":5}}', b"\0\xff", b'{"protocol":{"minReaderVersion":99}}'])
def test_damaged_log(tmp_path, log):
    """A log that cannot be read costs its table, in one line with what to do, and nothing else."""
    delta(tmp_path / "a", ROWS)
    delta(tmp_path / "b", ROWS)
    (tmp_path / "a" / "_delta_log" / f"{1:020}.json").write_bytes(log)
    values, (error,) = read(tmp_path, "text")
    assert len(values) == 3
    assert error.startswith(f"{tmp_path}/a: the Delta table is not read: ")
    assert error.endswith(f"; '{tmp_path}/a/**/*.parquet' names all files that it ever had")
    assert "\n" not in error


def test_unknown_feature(tmp_path):
    """A table with a feature that the library does not know is refused."""
    delta(tmp_path, ROWS)
    commit(tmp_path, _features("newest"))
    values, (error,) = read(tmp_path)
    assert values == []
    assert "the Delta table is not read" in error


def test_selection(tmp_path):
    """`--include` and `--exclude` select files of a table as in any folder."""
    delta(tmp_path, ROWS, partition_by=["part"])
    assert len(read(tmp_path, "text", selection=Selection(exclude=("part=a*/",)))[0]) == 1
    assert len(read(tmp_path, "text", selection=Selection(include=("part=a*/*",)))[0]) == 2
    assert read(tmp_path, selection=Selection(include=("*.txt",))) == ([], [])


@pytest.mark.quick
def test_without_the_library(tmp_path, monkeypatch):
    """forms.md: without the extra all files are read, and a note says so."""
    delta(tmp_path, ROWS, MORE).delete("n = 1")
    monkeypatch.setattr(lakes, "_is_installed", lambda _: False)
    notes = [found for found in find_listed([str(tmp_path)]) if isinstance(found, SourceError)]
    assert [type(note) for note in notes] == [LakeNote]
    assert "pip install 'urnscan[lake]'" in str(notes[0])
    found = [str(each) for each in one_by_one(find_listed([str(tmp_path)])) if not isinstance(each, SourceError)]
    assert sum(".parquet" in each for each in found) == 3


@pytest.mark.parametrize(
    "names", [["_delta_log/a.json"], ["metadata/a.metadata.json"], ["metadata/v1.metadata.json.txt"]]
)
def test_folders_that_are_no_tables(tmp_path, names):
    """A folder whose name is that of a log is a folder like any other, unless its files are those of a log."""
    for name in [*names, "b.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("urn:isbn:0451450523")
    found = [each.name.removeprefix(f"{tmp_path}/") for each in one_by_one(find_listed([str(tmp_path)]))]
    assert sorted(found) == sorted([*names, "b.txt"])


def test_crash_of_the_library(tmp_path, monkeypatch):
    """A process that ends before it has answered is told, and costs the table alone."""
    delta(tmp_path / "t", ROWS)
    (tmp_path / "deltalake.py").write_text("import os; os.abort()")
    monkeypatch.syspath_prepend(tmp_path)
    values, (error,) = read(tmp_path / "t")
    assert values == []
    assert "deltalake was ended by signal 6" in error


@pytest.mark.parametrize("is_moved", [False, True])
def test_iceberg(tmp_path, is_moved):
    """An Iceberg table is read like one of Delta, by the numbers of its columns; also where it was moved to."""
    table, folder = iceberg(tmp_path, ROWS)
    with table.update_spec() as update:
        update.add_identity("n")
    table.append(MORE)
    with table.update_schema() as update:
        update.rename_column("text", "body")
        update.delete_column("part")
    table.delete("n = 1")
    if is_moved:
        folder = shutil.move(folder, tmp_path / "moved here")
        shutil.rmtree(tmp_path / "default")
    values, errors = read(folder)
    assert errors == []
    assert texts(values, "body") == ["urn:isbn:0451450523", "urn:issn:0317-8471", "urn:nbn:de:1"]
    assert {place.partition("/")[2].partition("[")[0] for place, _ in values} == {"body", "more"}


@pytest.mark.parametrize("form", ["PARQUET", "PUFFIN"])
def test_iceberg_deleted_rows(tmp_path, form):
    """Rows that a file of deletes or a deletion vector lists are not read."""
    table, folder = iceberg(tmp_path, ROWS, MORE)
    first = next(iter(table.scan().plan_files())).file.record_count
    delete_by_positions(table, folder, [0], form=form)
    values, errors = read(folder, "text")
    assert errors == []
    assert len(values) == 3
    assert first == 1 or ("0/text", "urn:isbn:0451450523") not in values


def test_iceberg_refused(tmp_path):
    """A table whose rows are deleted by what is in them is told in one line, and not scanned wrongly."""
    table, folder = iceberg(tmp_path, ROWS)
    delete_by_positions(table, folder, [0], content="EQUALITY_DELETES")
    values, (error,) = read(folder)
    assert values == []
    assert "the Iceberg table is not read: PyIceberg does not yet support equality deletes" in error


def test_iceberg_hint(tmp_path):
    """The hint names the newest metadata, if it is there; a file that a failed commit left is not it."""
    table, folder = iceberg(tmp_path, ROWS)
    names = [path.name for path in (folder / "metadata").glob("*.metadata.json")]
    newest = max(names)
    table.append(MORE)
    (folder / "metadata" / "version-hint.text").write_text(newest.removesuffix(".metadata.json"))
    assert len(read(folder, "text")[0]) == 3
    (folder / "metadata" / "version-hint.text").write_text("no such")
    assert len(read(folder, "text")[0]) == 4


def test_iceberg_made_to_harm(tmp_path):
    """Metadata of an Iceberg table opens no file elsewhere, and names no class of Python that is loaded."""
    table, folder = iceberg(tmp_path, ROWS)
    newest = max((folder / "metadata").glob("*.metadata.json"))
    metadata = json.loads(newest.read_text())
    metadata["properties"] |= {"py-io-impl": "no.such.Class"}
    newest.write_text(json.dumps(metadata))
    assert len(read(folder, "text")[0]) == 3
    metadata["snapshots"][-1]["manifest-list"] = "file:///etc/passwd"
    newest.write_text(json.dumps(metadata))
    assert "/etc/passwd is outside of the folder of the table" in read(folder)[1][0]
    newest.write_text("{")
    assert "the Iceberg table is not read" in read(folder)[1][0]
    assert table.metadata.location


def _metadata(folder):
    """The metadata of a Delta table in its first commit, and the schema in it."""
    lines = (folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (metadata,) = (json.loads(line)["metaData"] for line in lines if "metaData" in line)
    return metadata, json.loads(metadata["schemaString"])


def _set_schema(folder, fields):
    metadata, schema = _metadata(folder)
    commit(folder, {"metaData": metadata | {"schemaString": json.dumps(schema | {"fields": fields})}})


def _features(*names):
    features = {"readerFeatures": names, "writerFeatures": names}
    return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
