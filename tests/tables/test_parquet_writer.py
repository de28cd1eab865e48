"""Parquet writer: the same bytes for the same rows."""

from __future__ import annotations

import json
import tempfile
import threading
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.outputs import METADATA, SCHEMA, rows_of, write
from urnscan.pool import Pool
from urnscan.tables import output_file
from urnscan.tables import parquet_writer as parquet
from urnscan.tables.parquet_writer import ParquetOutput


class TestSameBytes:
    """Contract: "The same inputs and options give the same bytes, whatever `-j`, `--memory` or the machine." """

    @pytest.mark.full
    @FEW
    @given(st.integers(0, 30), st.data(), st.integers(1, 9))
    def test_any_batching(self, total, data, group):
        cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=8)))
        whole = rows_of(range(total))
        slices = [whole.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
        made = [rows_of(range(a, b)) for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
        dictionaries = data.draw(st.sampled_from([True, False, ["kind", "parts.list.element.count"]]))
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(parquet, "_ROW_GROUP", group):
            written = []
            for number, batches in enumerate([[whole], slices, made]):
                path = Path(folder) / f"{number}.parquet"
                jobs = data.draw(st.sampled_from([None, 1, 3]))
                with Pool(jobs or 1) as pool:
                    write(path, batches, dictionaries=dictionaries, pool=pool if jobs else None)
                written.append(path.read_bytes())
                assert pq.read_table(path).to_pylist() == whole.to_pylist()
            assert written[0] == written[1] == written[2]
            groups = [pq.read_metadata(path).row_group(n).num_rows for n in range(-(-total // group))]
            assert groups == [min(group, total - start) for start in range(0, total, group)]

    def test_strings_that_came_with_dictionaries(self, tmp_path):
        """The schema tells the types of the file: readers get strings, whatever dictionaries the batches had."""
        schema = pa.schema([pa.field("key", pa.string(), nullable=False), pa.field("member", pa.string())])
        parts = [[("a", None), ("b", "x"), ("b", "y")], [("c", "y"), ("a", "x")]]
        columns = [
            [pa.array(values).cast(pa.dictionary(pa.int32(), pa.string())) for values in zip(*part, strict=True)]
            for part in parts
        ]
        coded = pa.schema([field.with_type(pa.dictionary(pa.int32(), pa.string())) for field in schema])
        write(tmp_path / "a.parquet", [pa.RecordBatch.from_arrays(some, schema=coded) for some in columns], schema)
        table = pq.read_table(tmp_path / "a.parquet")
        assert table.schema.remove_metadata().equals(schema)
        assert [tuple(row.values()) for row in table.to_pylist()] == [row for part in parts for row in part]

    def test_dictionaries_that_came_with_other_values_in_another_order(self, tmp_path):
        """Only the values of a dictionary that rows use are written, in the order of the rows."""
        written = []
        for number, names in enumerate((["x", "y"], ["unused", "y", "also not", "x"])):
            indices = pa.array([names.index(name) for name in "yxxy"], pa.int32())
            kind = pa.DictionaryArray.from_arrays(indices, pa.array(names))
            rows = rows_of(range(4)).set_column(1, SCHEMA.field("kind"), kind)
            path = tmp_path / f"{number}.parquet"
            write(path, [rows])
            written.append(path.read_bytes())
            assert b"unused" not in written[-1]
        assert written[0] == written[1]

    @pytest.mark.parametrize("values", [[None, "y", None, "x"], [None] * 4, [None, "y", "y", "y"]])
    def test_nulls_among_them(self, tmp_path, values):
        """Columns such as `via` and `resolver` have nulls in all batches or in some."""
        schema = pa.schema([pa.field("kind", pa.dictionary(pa.int32(), pa.string()))])
        written = []
        for number, parts in enumerate(([values], [[value] for value in values], [values[:1], values[1:]])):
            path = tmp_path / f"{number}.parquet"
            with ParquetOutput(path, schema) as output:
                for part in parts:
                    column = pa.array(part, pa.string()).dictionary_encode()
                    output.write(pa.RecordBatch.from_arrays([column], schema=schema))
                output.commit(METADATA)
            assert pq.read_table(path).column("kind").to_pylist() == values
            written.append(path.read_bytes())
        assert len(set(written)) == 1

    @pytest.mark.full
    def test_default_row_group(self, tmp_path):
        """Groups and pages have a fixed size, however many batches there are."""
        total = 300_000
        schema = pa.schema([pa.field("number", pa.int64()), pa.field("text", pa.string())])
        numbers = np.arange(total)
        noise = np.random.default_rng(1).bytes(total * 12).hex()
        texts = pa.array([noise[i : i + 24] for i in range(0, len(noise), 24)])
        whole = pa.RecordBatch.from_arrays([pa.array(numbers), texts], schema=schema)
        written = []
        for size in (total, 70_001):
            path = tmp_path / f"{size}.parquet"
            write(path, [whole.slice(start, size) for start in range(0, total, size)], schema, dictionaries=["number"])
            written.append(path.read_bytes())
        assert written[0] == written[1]
        metadata = pq.read_metadata(path)
        sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
        assert sizes == [131_072, 131_072, total - 262_144]


class TestThreads:
    """Row groups are encoded by the threads of a pool: no stage of a run is left to one thread."""

    def test_several_at_once(self, tmp_path, monkeypatch):
        monkeypatch.setattr(parquet, "_ROW_GROUP", 4)
        both, encode = threading.Barrier(2), ParquetOutput._row_group

        def row_group(*given):
            both.wait(timeout=10)  # raises if no other thread comes
            return encode(*given)

        monkeypatch.setattr(ParquetOutput, "_row_group", row_group)
        with Pool(2) as pool:
            write(tmp_path / "out.parquet", [rows_of(range(16))], pool=pool)
        assert pq.read_table(tmp_path / "out.parquet").num_rows == 16

    def test_no_more_wait_than_there_are_threads(self, tmp_path, monkeypatch):
        """Contract: memory does not grow with the table, also where encoding is slower than what comes before it."""
        monkeypatch.setattr(parquet, "_ROW_GROUP", 4)
        with Pool(2) as pool, ParquetOutput(tmp_path / "out.parquet", SCHEMA, pool=pool) as output:
            for start in range(0, 80, 4):
                output.write(rows_of(range(start, start + 4)))
                assert len(output._encoding) <= 2

    def test_an_error_of_one_ends_the_output(self, tmp_path, monkeypatch):
        monkeypatch.setattr(parquet, "_ROW_GROUP", 4)
        monkeypatch.setattr(ParquetOutput, "_row_group", mock.Mock(side_effect=MemoryError))
        with Pool(2) as pool, pytest.raises(MemoryError):
            write(tmp_path / "out.parquet", [rows_of(range(40))], pool=pool)
        assert not list(tmp_path.iterdir())


class TestDisk:
    """The disk begins with a row group as soon as it is written; a run that waits at its end waits for the footer."""

    @pytest.mark.skipif(output_file._sync_file_range is None, reason="this system has no such call")
    def test_each_row_group(self, tmp_path, monkeypatch):
        begun, real = [], output_file._sync_file_range

        def begin(descriptor, start, content, flags):
            begun.append((start, start + content, real(descriptor, start, content, flags)))

        monkeypatch.setattr(output_file, "_sync_file_range", begin)
        monkeypatch.setattr(parquet, "_ROW_GROUP", 4)
        path = tmp_path / "out.parquet"
        write(path, [rows_of(range(10))])
        starts, ends, failed = zip(*begun, strict=True)
        assert starts == (len(b"PAR1"), *ends[:-1])
        assert ends[-1] == path.stat().st_size - pq.read_metadata(path).serialized_size - len(b"PAR1") - 4
        assert failed == (0, 0, 0)

    def test_system_without_it(self, tmp_path, monkeypatch):
        for name, call in (("with", output_file._sync_file_range), ("without", None)):
            monkeypatch.setattr(output_file, "_sync_file_range", call)
            write(tmp_path / name, [rows_of(range(10))])
        assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()


class TestMetadata:
    """Contract: "in the Parquet key-value metadata under `urnscan`, a JSON object"."""

    def test_is_the_json(self, tmp_path):
        path = tmp_path / "out.parquet"
        write(path, [rows_of(range(3))])
        assert json.loads(pq.read_metadata(path).metadata[b"urnscan"]) == METADATA

    def test_the_schema_has_it_too(self, tmp_path):
        """Where Arrow reads the schema of a file, or its table, the metadata is there, and nothing else is other."""
        path = tmp_path / "table.parquet"
        write(path, [rows_of(range(4))])
        for schema in (pq.read_schema(path), pq.read_table(path).schema, pq.ParquetFile(path).schema_arrow):
            assert json.loads(schema.metadata[b"urnscan"]) == METADATA
            assert schema.equals(SCHEMA)

    def test_statistics(self, tmp_path):
        """Statistics of the columns by which a reader selects, or of all."""
        leaves = {"key", "kind", "number", "member", "parts.list.element.text", "parts.list.element.count"}
        for statistics, expected in ((["key", "number"], {"key", "number"}), (True, leaves)):
            path = tmp_path / f"{len(expected)}.parquet"
            write(path, [rows_of(range(3))], statistics=statistics)
            group = pq.read_metadata(path).row_group(0)
            columns = [group.column(number) for number in range(group.num_columns)]
            assert {column.path_in_schema for column in columns if column.is_stats_set} == expected

    def test_schema_is_that_of_the_table(self, tmp_path):
        path = tmp_path / "out.parquet"
        write(path, [rows_of(range(3))])
        assert pq.read_schema(path).remove_metadata().equals(SCHEMA)
