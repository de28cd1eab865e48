"""`scan_frame`: a column of a frame, with a frame of the same library as the result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.errors import ArgumentError
from urnscan.library import dataframes
from urnscan.tables.schemas import IN_COLUMN

polars = pytest.importorskip("polars")

NOTES = {"id": ["a", "b", "c"], "note": ["see urn:a:1 and URN:A:1", None, "ä urn:c:2"]}
KINDS = {"pandas": pd.DataFrame, "polars": polars.DataFrame, "arrow": pa.table}


def rows_of(frame):
    """The rows of a frame of any library; null is None."""
    if isinstance(frame, pd.DataFrame):
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    return frame.to_pylist() if isinstance(frame, pa.Table) else frame.to_dicts()


class TestEachLibrary:
    """Page "How to use it from Python": the result is a frame of the library of the argument."""

    @FEW
    @given(st.lists(st.one_of(st.none(), st.text("urn:a1 \nä", max_size=12))), st.integers(1, 3))
    def test_rows_are_those_of_batches(self, texts, rows):
        """One scan: each library gives the rows that `scan_batches` gives, however many are scanned at once."""
        columns = {"id": list(range(len(texts))), "note": pa.array(texts, pa.string())}
        wanted = pa.Table.from_batches(urnscan.scan_batches(pa.table(columns), "note", keep="id"), SCHEMA).to_pylist()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dataframes, "_ROWS", rows)
            for frame in (pa.table(columns), pa.table(columns).to_pandas(), polars.DataFrame(pa.table(columns))):
                found = urnscan.scan_frame(frame, "note", keep=["id"])
                assert type(found) is type(frame)
                assert rows_of(found) == wanted

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("rows", [0, 3])
    def test_columns(self, kind, rows):
        """Also of a frame in which nothing is found, or which has no rows: engines join the results of parts."""
        table = pa.table(NOTES).slice(0, rows)
        frame = {"pandas": table.to_pandas, "polars": lambda: polars.DataFrame(table), "arrow": lambda: table}[kind]()
        found = urnscan.scan_frame(frame, "note", keep="id")
        names = found.schema.names if kind == "arrow" else list(found.columns)
        assert names == [*IN_COLUMN.names, "id"]
        assert len(found) == rows

    def test_types_of_pandas(self):
        """Integers with nulls stay integers; kept columns have their types, also those that Arrow does not know."""
        thing = object()
        frame = pd.DataFrame(NOTES, index=[7, 7, 8]).assign(any=[thing, 1, {}], number=[1, None, 3])
        frame = frame.astype({"id": "category", "number": "Int64"})
        found = urnscan.scan_frame(frame, "note", keep=["any", "number", "id"], trim=True)
        assert found["any"].tolist() == [thing, thing, {}]
        assert found["number"].dtype == "Int64"
        assert found["id"].dtype == frame["id"].dtype
        assert found["stop"].dtype == "Int16"
        assert found.index.tolist() == [0, 1, 2]
        assert found.attrs["urnscan"]["trim"] is True

    def test_types_of_polars(self):
        """Text is text, so that it can be joined; kept columns have their types."""
        frame = polars.DataFrame(NOTES).with_columns(polars.col("id").cast(polars.Enum(["a", "b", "c"])))
        found = urnscan.scan_frame(frame, "note", keep="id")
        assert found["id"].dtype == frame["id"].dtype
        assert found["nid"].dtype == polars.String

    def test_of_arrow(self):
        """A batch, a reader and whatever has the interface of Arrow give a table; a reader is read once."""

        class Foreign:
            def __arrow_c_stream__(self, requested_schema=None):
                return table.__arrow_c_stream__(requested_schema)

        table = pa.table(NOTES)
        for frame in (table.to_batches()[0], table.to_reader(), Foreign()):
            assert urnscan.scan_frame(frame, "note", keep="id").column("id").to_pylist() == ["a", "a", "c"]

    def test_of_duckdb(self):
        duckdb = pytest.importorskip("duckdb", "1.1.3")
        with duckdb.connect() as connection:
            connection.register("notes", pa.table(NOTES))
            found = urnscan.scan_frame(connection.table("notes"), "note", keep="id")
        assert found.column("id").to_pylist() == ["a", "a", "c"]

    def test_views_of_texts_are_kept(self):
        """Arrow cannot select rows of views, which other libraries use for text."""
        table = pa.table({**NOTES, "more": pa.array(["x", "y", "z"], pa.string_view())})
        assert urnscan.scan_frame(table, "note", keep="more").column("more").to_pylist() == ["x", "x", "z"]


SCHEMA = pa.schema([*IN_COLUMN, ("id", pa.int64())])


class TestMistakes:
    """Each is one sentence, before anything is scanned."""

    @pytest.mark.parametrize(
        ("frame", "said"),
        [
            (pd.Series(["x"]), "not Series; its method to_frame() makes one"),
            (polars.Series(["x"]), "not Series; its method to_frame() makes one"),
            (polars.LazyFrame(NOTES), "not LazyFrame; its method collect() makes one"),
            (pa.array(["x"]), 'not StringArray; pyarrow.table({"text": array}) makes one'),
            (pa.chunked_array([["x"]]), 'not ChunkedArray; pyarrow.table({"text": array}) makes one'),
            (["urn:a:b"], "not list"),
            (None, "not NoneType"),
        ],
    )
    def test_no_frame(self, frame, said):
        with pytest.raises(ArgumentError) as caught:
            urnscan.scan_frame(frame)
        assert str(caught.value) == f"frame must be a frame of pandas or Polars, or a table of Arrow, {said}"

    @pytest.mark.parametrize("kind", KINDS)
    def test_columns(self, kind, monkeypatch):
        frame = KINDS[kind](NOTES)
        monkeypatch.setattr(dataframes, "scanned", None)
        for arguments, said in (
            ({"column": "text"}, "no column 'text' among id, note"),
            ({}, "name the column to scan; there are id, note"),
            ({"column": "note", "keep": ["title"]}, "no column 'title' among id, note"),
            ({"column": "note", "keep": "line"}, "occurrences already have a column 'line'; rename the one to keep"),
        ):
            with pytest.raises(ArgumentError, match=f"^{said}$"):
                urnscan.scan_frame(frame, **arguments)
        with pytest.raises(ArgumentError, match=r"^column 'number' is int64, not text$"):
            urnscan.scan_frame(KINDS[kind]({"number": np.arange(3)}))
