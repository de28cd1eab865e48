"""Functions of whole columns in pandas, Polars and DuckDB: each value gets what the functions of one text say of it."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
import urnscan.pandas
from tests.support.examples import FEW
from tests.support.strategies import any_bytes as rich_bytes
from urnscan.errors import ArgumentError, InvalidURN
from urnscan.library import columns
from urnscan.run.options import Options
from urnscan.tables import scanned_columns as parts

MEANINGS = [(syntax, level) for level in urnscan.LEVELS for syntax in urnscan.LEVELS[level].syntaxes]
TEXTS = [
    "URN:ISBN:0-395-36341-1",
    None,
    "see urn:ietf:rfc:2648, urn:isbn:0395363411",
    "urn:isbn:9780395363417",
    "nothing",
    "",
    "urn:x-mine:a",
    "urn:a:b ",
    "URN:ISBN:0-395-36341-1",
]
CANONICAL = ["urn:isbn:0-395-36341-1", None, None, "urn:isbn:9780395363417", None, None, "urn:x-mine:a", None]
CANONICAL += CANONICAL[:1]
VALID = [True, None, False, False, False, False, None, False, True]
FOUND = [[name] if name else [] for name in CANONICAL]
FOUND[1], FOUND[2], FOUND[7] = None, ["urn:ietf:rfc:2648,", "urn:isbn:0395363411"], ["urn:a:b"]
NIDS = ["isbn", None, None, "isbn", None, None, "x-mine", None, "isbn"]
PROBLEMS = [
    None,
    None,
    "scheme-missing",
    "check-digit",
    "scheme-missing",
    "scheme-missing",
    None,
    "excluded-character",
    None,
]
COUNTS = [1, None, 2, 1, 0, 0, 1, 1, 1]


def canonical(text, options):
    """The canonical form of one value, or None."""
    try:
        return urnscan.canonical(text, syntax=options.syntax, equivalence=options.equivalence)
    except InvalidURN:
        return None


def is_valid(text, options):
    """The verdict on one value."""
    explained = urnscan.explain(text, syntax=options.syntax)
    return explained.valid if explained.is_urn else False


def names(text, options):
    """The URNs in one value."""
    found = urnscan.find(text, syntax=options.syntax, equivalence=options.equivalence, trim=options.trim)
    return [occurrence.urn for occurrence in found]


def nid(text, options):
    """The NID of one value, or None."""
    try:
        return urnscan.parse(text, options.syntax).nid
    except InvalidURN:
        return None


def problem(text, options):
    """What is wrong with one value, or None."""
    try:
        urnscan.parse(text, options.syntax)
    except InvalidURN as error:
        return error.code
    return "; ".join(urnscan.explain(text, syntax=options.syntax).problems) or None


def count(text, options):
    """The number of URNs in one value."""
    return len(names(text, options))


FUNCTIONS = [
    (columns.canonical_forms, canonical),
    (columns.validities, is_valid),
    (columns.names_in, names),
    (columns.nids, nid),
    (columns.problems, problem),
    (columns.counts, count),
]
OF_TEXTS = (columns.names_in, columns.counts)


@st.composite
def values(draw):
    """Texts, URNs that stand in them, and these with something before or behind."""
    texts = draw(st.lists(rich_bytes, max_size=3))
    syntax = draw(st.sampled_from(list(urnscan.SYNTAXES)))
    urns = [found.text.encode() for text in texts for found in urnscan.find(text, syntax=syntax)]
    near = [draw(st.sampled_from([b"%b ", b" %b", b"%b%%", b"x%b", b"%b\0"])) % urn for urn in urns]
    return draw(st.permutations([*texts, *urns, *urns, *near, None]))


class TestFunctions:
    """The functions of Arrow arrays, under all of them."""

    @FEW
    @given(values(), st.sampled_from(MEANINGS), st.booleans(), st.integers(1, 4), st.integers(1, 4))
    def test_agree_with_those_of_one_text(self, texts, meaning, trim, rows, cut):
        options = Options(syntax=meaning[0], equivalence=meaning[1], trim=trim)
        array = pa.chunked_array([pa.array(texts[:cut], pa.binary()), pa.array(texts[cut:], pa.binary())])
        for function, plain in FUNCTIONS:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(parts, "_ROWS", rows)  # as where there are many
                patch.setattr(columns, "_ROWS", rows)
                found = function(array, options if function in OF_TEXTS else Options(*meaning))
            found.validate(full=True)
            assert found.to_pylist() == [None if text is None else plain(text, options) for text in texts]

    def test_a_verdict_is_null_for_the_text_around_a_name(self):
        """As of one text: punctuation, a path or a template makes no name invalid."""
        texts = [
            "urn:isbn:0395363411.",
            "urn:isbn:0395363411/cover.jpg",
            "urn:isbn:n-nn-nnnnnn-n",
            "urn:isbn:0395363412",
        ]
        expected = [is_valid(text, Options()) for text in texts]
        assert expected == [None, None, None, False]
        assert columns.validities(pa.array(texts), Options()).to_pylist() == expected

    @pytest.mark.parametrize(
        "kind",
        [
            pa.string(),
            pa.large_string(),
            pa.string_view(),
            pa.binary(),
            pa.binary_view(),
            pa.dictionary(pa.int8(), pa.string()),
        ],
        ids=str,
    )
    def test_types(self, kind):
        """Neither the type nor the chunks change the result."""
        array = (
            pa.array(TEXTS).dictionary_encode().cast(kind)
            if pa.types.is_dictionary(kind)
            else pa.array(TEXTS).cast(kind)
        )
        for function, expected in zip(
            (each for each, _ in FUNCTIONS), (CANONICAL, VALID, FOUND, NIDS, PROBLEMS, COUNTS), strict=True
        ):
            assert function(array, Options()).to_pylist() == expected
            assert function(array.slice(2, 4), Options()).to_pylist() == expected[2:6]
            chunks = pa.chunked_array([array.slice(0, 1), array.slice(1, 0), array.slice(1)])
            assert function(chunks, Options()).to_pylist() == expected
            none = pa.chunked_array([], kind)
            assert function(none, Options()).type == function(array, Options()).type

    def test_all_null_and_no_text(self):
        for function, _ in FUNCTIONS:
            assert function(pa.nulls(2), Options()).to_pylist() == [None, None]
            with pytest.raises(TypeError, match="these values are int64, not text"):
                function(pa.array([1]), Options())

    def test_a_very_long_name(self):
        """Longer than what a scan takes for a URN by default."""
        long = "urn:a:" + "b" * 100_000
        assert columns.canonical_forms(pa.array([long, "urn:c:d"]), Options()).to_pylist() == [long, "urn:c:d"]

    def test_each_different_text_once(self, monkeypatch):
        """A column of a million rows with few names costs what the few cost."""
        seen = []
        real = columns.scan_values
        monkeypatch.setattr(
            columns, "scan_values", lambda scanner, texts: seen.append(len(texts)) or real(scanner, texts)
        )
        for function, _ in FUNCTIONS:
            chunks = pa.chunked_array([["urn:a:b", "x"] * 50, ["x", "urn:c:d", None] * 50])
            assert function(chunks, Options()).null_count >= 50
        assert seen == [3] * len(FUNCTIONS)


class TestPandas:
    """The accessor `urn`."""

    @pytest.mark.parametrize("kind", [None, object, "string", "category", pd.ArrowDtype(pa.string())], ids=str)
    def test_methods(self, kind):
        series = pd.Series(TEXTS, index=[f"row {row}" for row in range(9)], name="note", dtype=kind)
        for found, expected in (
            (series.urn.canonical(), CANONICAL),
            (series.urn.is_valid(), VALID),
            (series.urn.find(), FOUND),
            (series.urn.nid(), NIDS),
            (series.urn.problem(), PROBLEMS),
            (series.urn.count(), COUNTS),
        ):
            assert found.index.equals(series.index)
            assert found.name == "note"
            assert [None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in found] == expected
        assert series.urn.is_valid().dtype == "boolean"
        assert series.urn.count().dtype == "Int64"
        assert series.urn.canonical().dtype == pd.Series(TEXTS).dtype, "that of text"

    def test_options(self):
        series = pd.Series(["URN:ISBN:0-395-36341-1", "urn:example:a?=b"])
        assert series.urn.canonical(equivalence="namespace")[0] == "urn:isbn:9780395363416"
        assert series.urn.canonical(syntax="rfc8141")[1] == "urn:example:a"
        assert series.urn.find(syntax="rfc8141", trim=True)[1] == ["urn:example:a"]
        assert pd.Series(["x%3Aurn%3Aa%3Ab"]).urn.find(recover="percent").explode().tolist() == ["urn:a:b"]
        for name in ("canonical", "is_valid", "find", "explain", "nid", "problem", "count"):
            method = getattr(series.urn, name)
            with pytest.raises(ArgumentError, match="syntax: unknown value 'rfc1'"):
                method(syntax="rfc1")

    def test_a_row_for_each_name(self):
        """What people do with `find`."""
        frame = pd.DataFrame({"id": list(range(9)), "note": TEXTS})
        rows = frame.assign(urn=frame["note"].urn.find()).explode("urn").dropna(subset="urn")
        assert list(zip(rows["id"], rows["urn"], strict=True)) == [
            (row, name) for row, found in enumerate(FOUND) for name in found or []
        ]

    def test_explain(self):
        series = pd.Series(TEXTS, index=[5] * 9)
        frame = series.urn.explain(equivalence="namespace")
        assert frame.index.equals(series.index)
        for text, (_, row) in zip(TEXTS, frame.iterrows(), strict=True):
            if text is None:
                assert row.isna().all()
            else:
                said = urnscan.explain(text, equivalence="namespace").as_dict()
                assert said.pop("directives") == {}
                assert row.pop("directives") == ()
                assert {
                    name: said[name] if pd.api.types.is_scalar(value) and pd.isna(value) else value
                    for name, value in row.items()
                } == said
                assert [name for name, value in said.items() if value is None] == [
                    name for name, value in row.items() if pd.api.types.is_scalar(value) and pd.isna(value)
                ]

    def test_explained_directives(self):
        """As texts: a column of dicts would be a struct with a field for each keyword of anyone."""
        found = pd.Series(["urn:ab:c?s=I2L&c=a=b", "urn:ab:c"]).urn.explain(syntax="rfc2141bis-03")
        assert found["directives"].tolist() == [("s=I2L", "c=a=b"), ()]

    @pytest.mark.full
    @pytest.mark.parametrize("syntax", urnscan.SYNTAXES)
    def test_explanations_can_be_kept(self, tmp_path, syntax):
        """Whatever is empty in them: no directives, problems or remarks, no URN, no text at all."""
        for texts in (
            ["urn:isbn:0-395-36341-1"],
            ["urn:ab:c?s=I2L&c=a#p", "x", None, "978-0-395-36341-6"],
            ["x"],
            [None],
        ):
            frame = pd.Series(texts, dtype=object).urn.explain(syntax=syntax)
            frame.to_parquet(tmp_path / "a.parquet")
            again = pd.read_parquet(tmp_path / "a.parquet")
            for name in ("text", "canonical", "valid", "position", "reason"):
                assert again[name].isna().tolist() == frame[name].isna().tolist()
                assert again[name].dropna().tolist() == frame[name].dropna().tolist()

    def test_what_stands_for_a_urn(self):
        """Only `explain` reads a bare ISBN as its URN: a column of names is not to be valid with numbers in it."""
        series = pd.Series(["978-0-395-36341-6"])
        assert series.urn.canonical().isna().tolist() == [True]
        assert series.urn.is_valid().tolist() == [False]
        told = series.urn.explain().iloc[0]
        assert (told["is_urn"], told["read_as"], told["valid"]) == (False, "urn:isbn:9780395363416", True)

    def test_empty(self):
        series = pd.Series([], dtype=str)
        for found in (series.urn.canonical(), series.urn.is_valid(), series.urn.find(), series.urn.explain()):
            assert len(found) == 0

    def test_nothing_but_missing_values(self):
        """pandas reads a column without a value as numbers."""
        series = pd.Series([None, float("nan")], dtype="float64")
        assert series.urn.canonical().isna().all()
        assert next(urnscan.scan_batches(series.to_frame("urn"), "urn")).num_rows == 0

    def test_no_text(self):
        for series in (pd.Series([1, 2]), pd.Series(["a", 1]), pd.Series([1.5]).astype("category")):
            for method in ("canonical", "is_valid", "find", "explain", "nid", "problem", "count"):
                with pytest.raises(TypeError, match="not text"):
                    getattr(series.urn, method)()


class TestPolars:
    """The namespace `urn`."""

    @pytest.fixture(autouse=True)
    def polars(self):
        pytest.importorskip("urnscan.polars", exc_type=ImportError)
        return pytest.importorskip("polars")

    def test_methods(self, polars):
        frame = polars.DataFrame({"note": TEXTS})
        note = polars.col("note").urn
        rows = frame.select(c=note.canonical(), v=note.is_valid(), f=note.find())
        assert rows.schema == {"c": polars.String(), "v": polars.Boolean(), "f": polars.List(polars.String())}
        assert rows.to_dict(as_series=False) == {"c": CANONICAL, "v": VALID, "f": FOUND}
        rows = frame.with_columns(n=note.nid(), p=note.problem(), s=note.count()).drop("note")
        assert rows.schema == {"n": polars.String(), "p": polars.String(), "s": polars.Int64()}
        assert rows.to_dict(as_series=False) == {"n": NIDS, "p": PROBLEMS, "s": COUNTS}
        rows = frame.select(c=note.canonical(), v=note.is_valid(), f=note.find())
        series = frame["note"].urn
        for found, column in ((series.canonical(), "c"), (series.is_valid(), "v"), (series.find(), "f")):
            assert found.name == "note"
            assert found.to_list() == rows[column].to_list()

    def test_explain(self, polars):
        """A struct with the fields of `Explanation`, of one type whatever is in them; null and bytes that are no text, too."""
        frame = polars.DataFrame({"note": [*TEXTS, "978-0-395-36341-6", "urn:isbn:Ä"]})
        rows = frame.lazy().select(polars.col("note").urn.explain(equivalence="namespace"))
        kind = rows.collect_schema()["note"]
        found = rows.collect()["note"]
        assert found.dtype == kind
        for text, row in zip(frame["note"], found.to_list(), strict=True):
            if text is None:
                assert row is None
            else:
                said = urnscan.explain(text, equivalence="namespace").as_dict()
                assert row == {**said, "directives": [], "problems": [*said["problems"]], "remarks": [*said["remarks"]]}
        assert frame["note"].urn.explain(equivalence="namespace").to_list() == found.to_list()
        asked = polars.Series(["urn:ab:c?s=I2L&c=a=b"]).urn.explain(syntax="rfc2141bis-03")
        assert asked.struct.field("directives").to_list() == [["s=I2L", "c=a=b"]]
        assert polars.Series([b"urn:a:\xff"]).urn.explain().struct.field("is_urn").to_list() == [False]
        assert polars.Series([], dtype=polars.String).urn.explain().dtype == kind

    def test_in_queries(self, polars):
        """Lazy, in groups, on a slice, in the engine of streams, on categories; null and empty columns keep the types."""
        frame = polars.DataFrame({"note": TEXTS * 3, "group": [1, 2, 3] * 9})
        lazy = frame.lazy().with_columns(urn=polars.col("note").urn.canonical(equivalence="namespace"))
        assert lazy.collect_schema()["urn"] == polars.String
        counts = lazy.filter(polars.col("urn").is_not_null()).group_by("urn").len().sort("urn")
        expected = [("urn:isbn:9780395363416", 6), ("urn:isbn:9780395363417", 3), ("urn:x-mine:a", 3)]
        assert counts.collect().rows() == expected
        assert counts.collect(engine="streaming").rows() == expected
        grouped = frame.group_by("group").agg(polars.col("note").urn.canonical().drop_nulls().len()).sort("group")
        assert sum(grouped["note"]) == 12
        kind = frame["note"].cast(polars.Categorical)
        assert kind.slice(1, 3).urn.canonical().to_list() == CANONICAL[1:4]
        for empty in (frame.head(0), polars.DataFrame({"note": [None, None]})):
            found = empty.select(polars.col("note").urn.find())
            assert found.schema == {"note": polars.List(polars.String)}
            assert found["note"].to_list() == [None] * len(empty)

    def test_what_is_wrong(self, polars):
        with pytest.raises(ArgumentError, match="syntax: unknown value 'rfc1'"):
            polars.col("note").urn.canonical(syntax="rfc1")
        with pytest.raises(TypeError, match="these values are int64, not text"):
            polars.Series([1]).urn.canonical()
        with pytest.raises(Exception, match="these values are int64, not text"):
            polars.DataFrame({"a": [1]}).select(polars.col("a").urn.canonical())
        # Arrow gets the addresses of objects of Python, as 8 bytes each.
        objects = polars.DataFrame({"a": polars.Series([b"urn:a:b", None], dtype=polars.Object)})
        for scan in (objects["a"].urn.find, lambda: urnscan.scan_frame(objects, "a")):
            with pytest.raises(ArgumentError, match="is Object of Polars, not text"):
                scan()
        with_text = objects.with_columns(b=polars.lit("urn:a:b"))
        for scan in (
            lambda: urnscan.scan_batches(objects["a"]),
            lambda: urnscan.scan_batches(with_text, "b", keep="a"),
        ):
            with pytest.raises(ArgumentError, match="column 'a' is Object of Polars, not text"):
                list(scan())
        assert urnscan.scan_frame(with_text, "b", keep="a")["a"].to_list() == [b"urn:a:b", None]
        # The fields of a series of structs are columns.
        records = polars.Series("s", [{"a": "urn:a:b", "n": 1}])
        assert [rows.num_rows for rows in urnscan.scan_batches(records, "a", keep="n")] == [1]


@pytest.fixture
def mine(tmp_path):
    """A file of rules for urn:x-mine."""
    path = tmp_path / "mine.toml"
    path.write_text(
        '[x-mine]\ntitle = "t"\nrule = "r"\nequality = "e"\nsyntax = "s"\ngrammar = "(?<upper>[A-Za-z])"\n',
        encoding="utf-8",
    )
    return path


class TestOwnRules:
    """The option `rules` of each function of a column."""

    NAMES: ClassVar = ["urn:x-mine:a", "urn:x-mine:a1"]
    FORMS: ClassVar = ["urn:x-mine:A", "urn:x-mine:a1"]

    def test_pandas(self, mine):
        urn = pd.Series(self.NAMES).urn
        assert urn.canonical(equivalence="namespace", rules=mine).tolist() == self.FORMS
        assert urn.is_valid(rules=mine).tolist() == [True, False]
        assert urn.find(equivalence="namespace", rules=mine).explode().tolist() == self.FORMS
        assert urn.explain(rules=mine)["valid"].tolist() == [True, False]

    def test_polars(self, mine):
        urn = pytest.importorskip("polars").Series(self.NAMES).urn
        assert urn.canonical(equivalence="namespace", rules=mine).to_list() == self.FORMS
        assert urn.is_valid(rules=mine).to_list() == [True, False]
        assert urn.find(equivalence="namespace", rules=mine).explode().to_list() == self.FORMS

    def test_duckdb(self, mine):
        with pytest.importorskip("duckdb").connect() as connection:
            import urnscan.duckdb

            urnscan.duckdb.register(connection, equivalence="namespace", rules=mine)
            query = "SELECT urn_canonical(name), urn_is_valid(name), urn_find(name) FROM (SELECT unnest(?) AS name)"
            expected = [(form, valid, [form]) for form, valid in zip(self.FORMS, (True, False), strict=True)]
            assert connection.execute(query, [self.NAMES]).fetchall() == expected


class TestDuckDB:
    """The functions of SQL."""

    @pytest.fixture
    def connection(self):
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            connection.register("texts", pa.table({"text": TEXTS}))
            yield connection

    def test_functions(self, connection):
        import urnscan.duckdb

        with pytest.raises(ArgumentError, match="a connection of DuckDB, not NoneType"):
            urnscan.duckdb.register(None)
        urnscan.duckdb.register(connection)
        rows = connection.sql("SELECT urn_canonical(text), urn_is_valid(text), urn_find(text) FROM texts").fetchall()
        assert rows == list(zip(CANONICAL, VALID, FOUND, strict=True))
        rows = connection.sql("SELECT urn_nid(text), urn_problem(text), urn_count(text) FROM texts").fetchall()
        assert rows == list(zip(NIDS, PROBLEMS, COUNTS, strict=True))
        names = connection.sql("SELECT unnest(urn_find(text)) AS urn FROM texts").fetchall()
        assert [name for (name,) in names] == [name for found in FOUND for name in found or []]

    def test_explain(self, connection):
        """A struct, whose fields SQL can name."""
        import urnscan.duckdb

        urnscan.duckdb.register(connection, equivalence="namespace")
        rows = connection.sql("SELECT urn_explain(text) FROM texts").fetchall()
        for text, (row,) in zip(TEXTS, rows, strict=True):
            if text is None:
                assert row is None
            else:
                said = urnscan.explain(text, equivalence="namespace").as_dict()
                assert row == {**said, "directives": [], "problems": [*said["problems"]], "remarks": [*said["remarks"]]}
        query = "SELECT text FROM texts WHERE NOT urn_explain(text).valid ORDER BY text"
        assert connection.sql(query).fetchall() == [("urn:isbn:9780395363417",)]

    def test_options_and_a_second_call(self, connection):
        """A cell of a notebook that is run again changes the functions and is no error."""
        import urnscan.duckdb

        for options, expected in (({}, CANONICAL[0]), ({"equivalence": "namespace"}, "urn:isbn:9780395363416")):
            urnscan.duckdb.register(connection, **options)
            assert connection.sql(f"SELECT urn_canonical('{TEXTS[0]}')").fetchall() == [(expected,)]
        with pytest.raises(ArgumentError, match="syntax: unknown value 'rfc1'"):
            urnscan.duckdb.register(connection, syntax="rfc1")

    def test_many_rows(self, connection):
        """DuckDB asks for 2,048 rows at a time, from several threads."""
        import urnscan.duckdb

        urnscan.duckdb.register(connection)
        connection.sql("SET threads = 4")
        query = "SELECT count(DISTINCT urn_canonical('URN:A:' || (i % 5000))), count(*) FROM range(50_000) AS t(i)"
        assert connection.sql(query).fetchall() == [(5_000, 50_000)]


@pytest.mark.full
@pytest.mark.parametrize(("module", "library"), [("polars", "Polars"), ("duckdb", "DuckDB")])
def test_a_library_that_is_not_there(module, library):
    """One line that says what to install."""
    code = f"import sys; sys.modules[{module!r}] = None; import urnscan.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    says = f"ImportError: urnscan.{module} needs {library}: pip install 'urnscan[{module}]'"
    assert done.stderr.splitlines()[-1] == says


@pytest.mark.full
def test_pandas_is_loaded_on_purpose():
    """`import urnscan` alone registers nothing."""
    code = (
        "import urnscan, sys; assert 'pandas' not in sys.modules; import pandas; print(hasattr(pandas.Series, 'urn'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
