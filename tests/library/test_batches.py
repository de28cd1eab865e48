"""Scanning a column of text from Python: `scan_batches`, for whatever engine maps over batches."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.oracle import oracle
from tests.support.rows import occurrence_row
from tests.support.strategies import any_bytes as rich_bytes
from urnscan.errors import ArgumentError
from urnscan.library.batches import scan_batches
from urnscan.tables import scanned_columns as columns
from urnscan.tables.schemas import IN_COLUMN


def batch(values, type_=None, name="text"):
    return pa.RecordBatch.from_arrays([pa.array(values, type_)], names=[name])


def rows_of(batches):
    rows = []
    batches = list(batches)
    for found in batches:
        found.validate(full=True)
        assert found.schema.equals(IN_COLUMN)
        assert found.num_rows or len(batches) == 1, "one without rows stands alone"
        rows += found.to_pylist()
    return rows


def in_column(row):
    """A row of the occurrence table without the columns that tell of files."""
    of_files = ("source", "member", "captured", "status", "mime")
    return {name: value for name, value in row.items() if name not in of_files}


def expected(values, syntax="rfc2141", equivalence="lexical", name="text", **options):
    """The rows of the values of all batches."""
    return [
        {"row": row, "column_name": name, **in_column(occurrence_row(record, "", None, syntax, equivalence))}
        for row, data in enumerate(values)
        if data is not None
        for record in oracle(data, syntax, keep_query=equivalence == "resolution", **options)
    ]


values_of = st.lists(st.one_of(st.none(), st.just(b""), rich_bytes), max_size=6)


class TestScanBatches:
    """Contract, Python: "the same on a column of text: what any engine can map"."""

    @FEW
    @given(
        st.lists(values_of, max_size=4),
        st.integers(1, 5),
        st.sampled_from([("rfc2141", "lexical"), ("rfc8141", "namespace"), ("rfc2141bis-03", "resolution")]),
        st.booleans(),
        st.sampled_from(["keep", "cut"]),
        st.one_of(st.just(65_536), st.integers(8, 50)),
    )
    def test_oracle(self, batches, rows, meaning, trim, tail, max_length):
        """Each value is a text of its own, however many are scanned at once; null holds nothing."""
        options = {"syntax": meaning[0], "equivalence": meaning[1], "max_length": max_length}
        options |= {"trim": trim, "resolver_tail": tail}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(columns, "_ROWS", rows)
            found = rows_of(scan_batches([batch(values, pa.binary()) for values in batches], "text", **options))
        assert found == expected([value for values in batches for value in values], **options)

    @pytest.mark.parametrize(
        "type_",
        [
            pa.string(),
            pa.large_string(),
            pa.binary(),
            pa.large_binary(),
            pa.dictionary(pa.int8(), pa.string()),
            pa.dictionary(pa.int32(), pa.large_string()),
            pa.dictionary(pa.int16(), pa.binary()),
            pa.string_view(),
            pa.binary_view(),
        ],
        ids=str,
    )
    def test_types(self, type_):
        texts = ["ä urn:a:b\n„urn:c:d“", None, "", "urn:e:f", "nothing", None, "urn:e:f"]
        data = [text if text is None else text.encode() for text in texts]
        values = data if "binary" in str(type_) else texts
        plain = pa.array(values, getattr(type_, "value_type", type_))
        array = plain.dictionary_encode().cast(type_) if pa.types.is_dictionary(type_) else plain
        assert array.type == type_
        whole = pa.RecordBatch.from_arrays([array], names=["text"])
        assert rows_of(scan_batches([whole], "text")) == expected(data)
        assert rows_of(scan_batches([whole.slice(3)], "text")) == expected(data[3:]), "a slice"

    def test_bytes_that_are_no_text(self):
        values = [b"\xff\xfeurn:a:b\xff", b"\0urn:a:c\0urn:a:d"]
        assert rows_of(scan_batches([batch(values, pa.binary())], "text")) == expected(values)

    def test_all_null(self):
        for type_ in (pa.string(), pa.null(), pa.dictionary(pa.int32(), pa.string())):
            assert rows_of(scan_batches([batch([None, None], type_)], "text")) == []

    def test_rows_of_all_batches_are_counted(self):
        """`row` is counted through all batches from 0."""
        batches = [batch(values, name="a/b") for values in (["urn:a:b", ""], ["", "nothing"], [], ["urn:c:d"])]
        found = rows_of(scan_batches(iter(batches), "a/b"))
        assert [(row["row"], row["column_name"]) for row in found] == [(0, "a/b"), (4, "a/b")]

    def test_row_numbers_behind_a_large_batch(self):
        total = 3 * columns._ROWS + 1
        values = [b"urn:a:b" if row % 5_000 == 0 else b"\n" for row in range(total)]
        batches = [batch(values, pa.binary())] * 2
        assert rows_of(scan_batches(batches, "text")) == expected(values * 2)

    def test_only_that_column(self):
        rows = pa.RecordBatch.from_pydict({"one": ["urn:a:b"], "two": ["urn:c:d"], "three": [3]})
        assert [row["text"] for row in rows_of(scan_batches([rows], "two"))] == ["urn:c:d"]

    def test_as_it_is_asked_for(self):
        """An iterator over a stream without end: a batch is taken when the one before is done."""
        taken = []

        def stream():
            for number in range(10**9):
                taken.append(number)
                yield batch([f"urn:a:{number}"])

        found = scan_batches(stream(), "text")
        assert [next(found).column("text").to_pylist() for _ in range(3)] == [["urn:a:0"], ["urn:a:1"], ["urn:a:2"]]
        assert len(taken) == 3

    def test_a_batch_for_each_that_holds_any(self):
        batches = [batch(["urn:a:b", "urn:a:c"]), batch(["nothing"]), batch([]), batch(["urn:a:d"])]
        assert [found.num_rows for found in scan_batches([b for b in batches if b.num_rows], "text")] == [2, 1]

    def test_nothing_found(self):
        """One batch without rows, of the same columns: `pyarrow.Table.from_batches` needs one."""
        found = scan_batches([batch(["nothing"]), batch(["no name"])], "text")
        table = pa.Table.from_batches(found)
        assert (table.schema, table.num_rows) == (IN_COLUMN, 0)

    def test_unknown_column(self):
        with pytest.raises(ArgumentError, match=r"missing.*text"):
            list(scan_batches([batch(["urn:a:b"])], "missing"))

    @pytest.mark.parametrize("values", [[1, None], [True, None], [1.5], [["urn:a:b"]], [{"text": "urn:a:b"}]], ids=str)
    def test_column_that_is_no_text(self, values):
        array = pa.array(values)
        for column in (array, array.dictionary_encode()) if array.type == pa.int64() else (array,):
            rows = pa.RecordBatch.from_arrays([column], names=["a column"])
            with pytest.raises(TypeError, match=r"'a column'.*not text"):
                list(scan_batches([rows], "a column"))

    def test_options_that_are_none(self):
        """Told at the call, before the first batch is asked for."""
        with pytest.raises(ArgumentError, match="syntax: unknown value 'rfc1'"):
            scan_batches([], "text", syntax="rfc1")

    def test_options_of_inputs(self):
        """They would change nothing: a column is none."""
        with pytest.raises(ArgumentError, match="has no option encoding"):
            scan_batches([], "text", encoding="latin-1")

    def test_no_batches(self):
        assert list(scan_batches([], "text")) == []

    def test_batches_together_are_a_table(self):
        """As an engine puts them together."""
        found = scan_batches([batch(["urn:a:b"]), batch(["urn:c:d"])], "text")
        assert pa.Table.from_batches(found, IN_COLUMN).num_rows == 2


def test_scan_batches_of_a_table():
    """What pandas and DuckDB give is often a table."""
    table = pa.table({"text": pa.chunked_array([["urn:a:b"], ["x", "urn:c:d"]])})
    assert [row["row"] for row in rows_of(scan_batches(table, "text"))] == [0, 2]


TEXTS = ["see urn:a:b", None, "ä urn:c:d"]
OF_PANDAS = {
    "None": pd.Series(TEXTS, dtype=object),
    "NaN": pd.Series(["see urn:a:b", np.nan, "ä urn:c:d"], dtype=object),
    "NA": pd.Series(["see urn:a:b", pd.NA, "ä urn:c:d"], dtype=object),
    "data": pd.Series([text and text.encode() for text in TEXTS]),
    **{kind: pd.Series(TEXTS, dtype=kind) for kind in ("string", "string[python]", "string[pyarrow]", "category")},
}


class TestFramesAndTables:
    """`scan_batches` of what hands itself over as Arrow."""

    @staticmethod
    def places(given, column="text"):
        return [f"{row['row']}/{row['column_name']}" for row in rows_of(scan_batches(given, column))]

    def test_of_arrow(self):
        table = pa.table({"text": pa.chunked_array([TEXTS[:1], TEXTS[1:]])})
        whole = table.combine_chunks().to_batches()[0]
        for batches in (table, whole, table.to_reader(), table.to_batches(), iter(table.to_batches()), (whole,)):
            assert self.places(batches) == ["0/text", "2/text"], type(batches)

    @pytest.mark.parametrize("kind", OF_PANDAS)
    def test_missing_values_of_pandas(self, kind):
        frame = pd.DataFrame({"text": OF_PANDAS[kind]})
        expected = [text and text.encode() for text in TEXTS]
        assert rows_of(scan_batches(frame, "text")) == rows_of(scan_batches([batch(expected, pa.binary())], "text"))
        assert self.places(frame[frame["text"].notna()]) == ["0/text", "1/text"], "positions, not the index"

    def test_the_rest_of_a_frame_of_pandas(self):
        """Neither the other columns nor the index need to be anything that Arrow knows."""
        frame = pd.DataFrame({"text": TEXTS, "any": [object(), 1, "a"], 7: TEXTS}, index=[object(), "a", 1])
        assert self.places(frame) == ["0/text", "2/text"]
        assert self.places(frame, "7") == ["0/7", "2/7"], "as Arrow names it"
        with pytest.raises(TypeError, match=r"^column 'any' is not text: "):
            self.places(frame, "any")

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([1, 2], None),
            ([0.5, np.nan], None),
            ([1, 2], "category"),
            (["a", 1], object),
            ([10**30], object),
            (["\ud800"], object),
        ],
    )
    def test_columns_of_pandas_that_are_no_text(self, values, kind):
        with pytest.raises(TypeError, match=r"^column 'text' is .*not text"):
            self.places(pd.DataFrame({"text": pd.Series(values, dtype=kind)}))

    def test_of_sparse_pandas(self):
        """Arrow does not read it."""
        sparse = pd.Series(TEXTS, dtype=pd.SparseDtype(object))
        assert self.places(pd.DataFrame({"text": sparse})) == ["0/text", "2/text"]

    @pytest.mark.parametrize(("values", "shown"), [(["a", None, 1], "at 2 it holds 1;"), ([1j], "at 0 it holds 1j;")])
    def test_the_first_value_of_pandas_that_is_no_text(self, values, shown):
        """Its place and value are in the words of Python, not np.int64(2)."""
        frame = pd.DataFrame({"text": values}, index=np.arange(len(values)))
        with pytest.raises(TypeError, match=f"^column 'text' is not text: {shown}"):
            self.places(frame)

    def test_of_duckdb(self):
        duckdb = pytest.importorskip("duckdb", "1.1.3")  # those before take no argument here
        with duckdb.connect() as connection:
            given = connection.sql("SELECT unnest(['see urn:a:b', NULL, 'ä urn:c:d']) AS text, 1 AS one")
            assert self.places(given) == ["0/text", "2/text"]

    def test_of_polars(self):
        """Its text is of the kind string_view."""
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"text": TEXTS, "kind": polars.Series(TEXTS, dtype=polars.Categorical)})
        assert self.places(frame) == ["0/text", "2/text"]
        assert self.places(frame, "kind") == ["0/kind", "2/kind"]

    def test_of_who_knows(self):
        """The interface is what counts, not who wrote it."""

        class Foreign:
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.table({"text": TEXTS}).__arrow_c_stream__(requested_schema)

        assert self.places(Foreign()) == ["0/text", "2/text"]

    @pytest.mark.parametrize("kind", [lambda table: table, pa.Table.to_pandas, pa.Table.to_reader])
    def test_columns_that_are_not_there(self, kind):
        """Also where there is no row."""
        for rows in (0, 3):
            table = pa.table({"text": pa.array(TEXTS[:rows], pa.string())})
            with pytest.raises(ArgumentError, match="no column 'note' among text"):
                self.places(kind(table), "note")

    def test_columns_of_one_name(self):
        table = pa.table([pa.array(TEXTS)] * 2, names=["text", "text"])
        for batches in (table, table.to_batches(), pd.DataFrame([["a", "b"]], columns=["text", "text"])):
            with pytest.raises(ArgumentError, match="2 columns 'text' among text, text"):
                self.places(batches)

    @pytest.mark.parametrize("given", [None, 1, "urn:a:b", b"urn:a:b", ["urn:a:b"]])
    def test_no_batches(self, given):
        name = type(given[0] if isinstance(given, list) else given).__name__
        with pytest.raises(TypeError, match=rf"^batches must be record batches of Arrow, .* not {name}\b"):
            self.places(given)

    @pytest.mark.parametrize("column", [0, ["text"]])
    def test_columns_that_are_no_names(self, column):
        with pytest.raises(TypeError, match=f"^column must be a str, not {type(column).__name__}$"):
            self.places(pa.table({"text": TEXTS}), column)


class TestSeries:
    """One column that comes alone needs no name."""

    SERIES: ClassVar = {
        "array": pa.array(TEXTS),
        "chunked": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        "dictionary": pa.array(TEXTS).dictionary_encode(),
        **{f"pandas {kind}": series for kind, series in OF_PANDAS.items()},
    }

    @pytest.mark.parametrize("kind", SERIES)
    def test_without_a_name(self, kind):
        rows = rows_of(scan_batches(self.SERIES[kind]))
        assert [(row["row"], row["column_name"], row["urn"]) for row in rows] == [
            (0, "", "urn:a:b"),
            (2, "", "urn:c:d"),
        ]
        assert [row["column_name"] for row in rows_of(scan_batches(self.SERIES[kind], "note"))] == ["note", "note"]

    def test_with_a_name(self):
        polars = pytest.importorskip("polars")
        for series in (pd.Series(TEXTS, name="note"), polars.Series("note", TEXTS)):
            for arguments in ((series,), (series, "note")):
                assert [(row["row"], row["column_name"]) for row in rows_of(scan_batches(*arguments))] == [
                    (0, "note"),
                    (2, "note"),
                ]
            with pytest.raises(ArgumentError, match="no column 'text' among note"):
                scan_batches(series, "text")

    def test_the_only_column(self):
        table = pa.table({"note": TEXTS})
        for batches in (table, table.to_batches(), table.to_pandas()):
            assert [row["column_name"] for row in rows_of(scan_batches(batches))] == ["note", "note"]
        for batches in (pa.table({"a": TEXTS, "b": TEXTS}), pd.DataFrame({"a": TEXTS, "b": TEXTS})):
            with pytest.raises(ArgumentError, match="name the column to scan; there are a, b"):
                scan_batches(batches)

    def test_texts_of_a_list(self):
        with pytest.raises(TypeError, match=r"not str; texts of a list: pyarrow\.array\(texts\)$"):
            list(scan_batches(["see urn:a:b"]))
        assert [row["row"] for row in rows_of(scan_batches(pa.array(["", "see urn:a:b"])))] == [1]


class TestKept:
    """`keep`: columns of the input, such as the identifier of a record, beside each occurrence."""

    TABLE = pa.table(
        {
            "id": pa.chunked_array([["a", None], ["c", "d"]]),
            "note": pa.chunked_array([["urn:a:1 urn:a:2", "urn:a:3"], [None, "urn:a:4"]]),
            "number": pa.chunked_array([[1, 2], [3, None]]),
            "kind": pa.chunked_array([pa.array(half).dictionary_encode() for half in (["x", "y"], ["y", None])]),
        }
    )
    ROWS: ClassVar = [("a", 1, "x", "1"), ("a", 1, "x", "2"), (None, 2, "y", "3"), ("d", None, None, "4")]

    def check(self, given):
        found = pa.Table.from_batches(scan_batches(given, "note", keep=["id", "number", "kind"]))
        found.validate(full=True)
        assert found.schema.names == [*IN_COLUMN.names, "id", "number", "kind"]
        names = [urn.removeprefix("urn:a:") for urn in found.column("urn").to_pylist()]
        kept = (found.column(name).to_pylist() for name in ("id", "number", "kind"))
        assert list(zip(*kept, names, strict=True)) == self.ROWS
        assert found.column("row").to_pylist() == [0, 0, 1, 3]
        return found.schema

    def test_of_arrow(self):
        """Their types and metadata stay."""
        field = pa.field("id", pa.string(), nullable=True, metadata={"of": "a record"})
        table = self.TABLE.cast(self.TABLE.schema.set(0, field))
        for batches in (table, table.to_reader(), table.to_batches(), iter(table.to_batches())):
            schema = self.check(batches)
            assert schema.field("id").equals(field, check_metadata=True)
            assert schema.field("kind").type == pa.dictionary(pa.int32(), pa.string())

    def test_of_pandas(self):
        self.check(self.TABLE.to_pandas().astype({"number": "Int64"}).set_index([[4, 4, 4, 4]]))

    def test_of_polars(self):
        polars = pytest.importorskip("polars")
        self.check(polars.from_arrow(self.TABLE))

    def test_views_of_texts_in_other_types(self):
        """Arrow cannot select rows of views, which Polars uses for all text, also inside lists and structs."""
        polars = pytest.importorskip("polars")
        columns = {"s": "a", "b": b"a", "l": ["a"], "t": {"x": "a"}}
        kinds = {"f": polars.Array(polars.String, 1)}
        frame = polars.DataFrame(
            {"note": ["urn:a:b"], **{k: [v] for k, v in columns.items()}, "f": [["a"]]}, schema_overrides=kinds
        )
        (found,) = scan_batches(frame, "note", keep=[*columns, "f"])
        assert found.select([*columns, "f"]).to_pylist() == [{**columns, "f": ["a"]}]

    def test_other_types_stay(self):
        """Lists and structs without views keep their types; an error names a type whose rows Arrow cannot select."""
        kinds = {
            "l": pa.list_(pa.field("element", pa.int8(), nullable=False)),
            "s": pa.struct([pa.field("x", pa.string(), nullable=False)]),
            "d": pa.decimal128(5, 2),
        }
        table = pa.table({"note": ["urn:a:b"], **{name: pa.nulls(1, kind) for name, kind in kinds.items()}})
        (found,) = scan_batches(table, "note", keep=kinds)
        assert {name: found.schema.field(name).type for name in kinds} == kinds
        views = pa.array([[("a", "b")]], pa.map_(pa.string(), pa.string_view()))
        with pytest.raises(TypeError, match=r"^column 'm' cannot be kept: Arrow cannot select rows of map<"):
            list(scan_batches(pa.table({"note": ["urn:a:b"], "m": views}), "note", keep="m"))

    def test_of_duckdb(self):
        duckdb = pytest.importorskip("duckdb", "1.1.3")
        with duckdb.connect() as connection:
            connection.register("kept", self.TABLE)
            self.check(connection.table("kept"))

    def test_one_name_and_the_same_name_twice(self):
        (found, _) = scan_batches(self.TABLE, "note", keep="id")
        assert found.schema.names[-1] == "id"
        found, _ = scan_batches(self.TABLE, "note", keep=["id", "note", "id"])
        assert found.schema.names == [*IN_COLUMN.names, "id", "note"]

    def test_a_name_that_occurrences_have(self):
        """One rule: it is told, at the call. Any other would rename or lose a column without a word."""
        table = self.TABLE.append_column("line", pa.array([1, 2, 3, 4]))
        with pytest.raises(ArgumentError, match=r"^occurrences already have a column 'line'; rename the one to keep$"):
            scan_batches(table, "note", keep=["id", "line"])

    def test_columns_that_are_not_there(self):
        for batches in (self.TABLE, self.TABLE.to_pandas()):
            with pytest.raises(ArgumentError, match="no column 'title' among id, note, number, kind"):
                scan_batches(batches, "note", keep=["title"])
        frame = pd.DataFrame({"note": ["urn:a:b"], "any": [object()]})
        with pytest.raises(TypeError, match=r"^column 'any' cannot be kept: "):
            scan_batches(frame, "note", keep=["any"])


def test_values_are_scanned_in_parts_that_offsets_can_count():
    """A slice of values that has more bytes than 32-bit offsets can count is halved until it fits."""
    asked = []

    class Values:
        def __init__(self, length, most):
            self.length = length
            self.most = most
            self.type = pa.string()

        def __len__(self):
            return self.length

        def slice(self, start, length=None):
            return Values(min(length or self.length, self.length - start), self.most)

        def cast(self, kind):
            asked.append(self.length)
            if self.length > self.most:
                raise pa.ArrowInvalid("overflow")
            return pa.array(["x"] * self.length).cast(kind)

    assert [len(part) for part in columns._bytes(Values(10, 3))] == [2, 3, 2, 3]
    assert asked[0] == 10
    with pytest.raises(ValueError, match="2 GiB"):
        list(columns._bytes(Values(1, 0)))
