"""Scanning from Python: `scan` for a notebook, `scan_batches` for whatever engine maps over batches."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from tests.support.oracle import oracle
from tests.support.rows import occurrence_row
from tests.support.strategies import octets as rich_octets
from urnscan.errors import ArgumentError, FatalError
from urnscan.library import scans as library
from urnscan.library.scans import Scan, scan, scan_batches
from urnscan.run.pipeline import Report
from urnscan.tables import values as columns
from urnscan.tables.schemas import CLASSES, OCCURRENCES


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a").write_bytes(b"URN:ISBN:1 urn:isbn:1\nurn:x:y")
    (tmp_path / "b").write_bytes(b"urn:isbn:1.")
    return tmp_path


class TestScan:
    """Contract, Python: `.classes` and `.occurrences` are the two tables, `.report` says what was done."""

    def test_tables(self, tree):
        found = scan(tree)
        assert found.classes.schema.equals(CLASSES)
        assert found.occurrences.schema.equals(OCCURRENCES)
        found.classes.validate(full=True)
        found.occurrences.validate(full=True)
        assert found.classes.column("urn").to_pylist() == ["urn:isbn:1", "urn:isbn:1.", "urn:x:y"]
        assert found.classes.column("count").to_pylist() == [2, 1, 1]
        assert found.occurrences.column("text").to_pylist() == ["URN:ISBN:1", "urn:isbn:1", "urn:x:y", "urn:isbn:1."]
        assert found.occurrences.column("line").to_pylist() == [1, 1, 2, 1]
        assert (found.report.inputs, found.report.occurrences, found.report.classes) == (2, 4, 3)

    @pytest.mark.parametrize("kind", [str, Path, lambda path: str(path) + "/*"])
    def test_kinds_of_inputs(self, tree, kind):
        assert scan(kind(tree)).report.inputs == 2

    def test_several_inputs(self, tree):
        found = scan(tree / "b", str(tree / "a"))
        assert found.occurrences.column("source").to_pylist() == [str(tree / "b"), *[str(tree / "a")] * 3]

    def test_nothing_found(self, tmp_path):
        found = scan(tmp_path)
        assert found.classes.num_rows == found.occurrences.num_rows == found.report.inputs == 0
        assert found.classes.schema.equals(CLASSES)
        assert found.occurrences.schema.equals(OCCURRENCES)

    def test_options(self, tree):
        """Those of the command line, under their names."""
        assert scan(tree, trim=True).classes.column("count").to_pylist() == [3, 1]
        assert scan(tree, exclude=["b"]).report.inputs == 1
        assert scan(tree, include=("b",), jobs=1, memory=1, strict=True).report.inputs == 1
        assert scan(tree, max_length=10).occurrences.column("stop").to_pylist() == [32, 10, None, -1]
        assert scan(tree, syntax="rfc8141").classes.column("nid").to_pylist() == ["isbn", "isbn"]
        (tree / "q").write_bytes(b"urn:ab:c?b=1&a=2#f")
        found = scan(tree / "q", syntax="rfc2141bis-03", equivalence="resolution")
        assert found.classes.column("urn").to_pylist() == ["urn:ab:c?a=2&b=1"]

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"syntax": "rfc1"}, ValueError),
            ({"equivalence": "resolution"}, ValueError),
            ({"jobs": 0}, ValueError),
            ({"encoding": "rot13"}, FatalError),
            ({"colour": "never"}, TypeError),
        ],
    )
    def test_options_that_are_none(self, tree, options, error):
        with pytest.raises(error):
            scan(tree, **options)

    def test_same_whatever_the_threads(self, tree):
        for number in range(40):
            (tree / f"file {number}").write_bytes(b"urn:isbn:%d\n" % (number % 7) * number)
        one, other = (scan(tree, jobs=jobs, memory=memory) for jobs, memory in ((1, 10**9), (3, 1)))
        assert one.classes.equals(other.classes)
        assert one.occurrences.to_pylist() == other.occurrences.to_pylist()

    def test_failures(self, tree):
        found = scan(tree, tree / "missing")
        assert [failure.source for failure in found.report.failures] == [str(tree / "missing")]
        assert found.report.inputs == 2
        with pytest.raises(FatalError, match="no input"):
            scan(tree / "missing")
        with pytest.raises(FatalError, match="strict"):
            scan(tree, tree / "missing", strict=True)

    def test_one_dictionary(self, tree):
        """However many batches came, a column has one dictionary: engines that are handed the table want that."""
        for number in range(1_200):
            (tree / f"file {number}").write_bytes(b"urn:n%d:a" % number)
        found = scan(tree)
        for table, name in ((found.occurrences, "source"), (found.occurrences, "nid"), (found.classes, "nid")):
            first, *others = (chunk.dictionary for chunk in table.column(name).chunks)
            assert all(other.equals(first) for other in others)

    def test_to_pandas(self, tree):
        frame = scan(tree).to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == CLASSES.names
        assert frame["urn"].tolist() == ["urn:isbn:1", "urn:isbn:1.", "urn:x:y"]
        assert frame["count"].tolist() == [2, 1, 1]

    def test_immutable(self, tree):
        with pytest.raises(AttributeError):
            scan(tree).report = Report()

    def test_is_itself_alone(self, tree):
        """Not compared table by table, and so it can stand in a set, or in a cache."""
        one, other = scan(tree), scan(tree)
        assert {one: 1, other: 2}[one] == 1
        assert one != other
        assert {urnscan.Dedup(one.occurrences, one.report)}


class TestWhatIsWrong:
    """Errors in a notebook read like sentences: they say what to change."""

    def test_no_input_could_be_read(self, tmp_path):
        """The command has said why by then; here nobody has."""
        (tmp_path / "a.csv").write_bytes(b"id,title\n1,x\n")
        with pytest.raises(FatalError, match=r"no input could be read: .*a\.csv: no column 'urn': it has id, title$"):
            scan(tmp_path / "a.csv", column="urn")
        with pytest.raises(FatalError, match=r"no input could be read: .*nope: no such file or folder \(and 1 more\)$"):
            scan(tmp_path / "nope", tmp_path / "neither")

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"syntx": "a"}, "scan has no option 'syntx': did you mean 'syntax'?"),
            ({"brightness": 1}, "scan has no option 'brightness': it has syntax, equivalence, "),
            ({"syntax": "rfc1"}, "unknown syntax 'rfc1': choose from rfc2141, "),
            ({"recover": "wrap"}, "no view is called 'wrap': choose from percent, "),
            ({"memory": "1 elephant"}, "memory: '1 elephant' is no size; write it like 500MB or 2GiB"),
            ({"memory": "9" * 400}, f"memory: '{'9' * 400}' is no size; "),
            ({"jobs": 0}, "jobs must be at least 1"),
            ({"trim": "no"}, "trim must be True or False, not 'no'"),
            ({"strict": None}, "strict must be True or False, not None"),
            ({"include": None}, "include must be strings, not None"),
            ({"column": ["a", 1]}, "column must be strings, not ['a', 1]"),
            ({"recover": b"wraps"}, "recover must be strings, not b'wraps'"),
            ({"syntax": ["rfc2141"]}, "syntax must be a string, not ['rfc2141']"),
            ({"encoding": 5}, "encoding must be a string, not 5"),
        ],
    )
    def test_options(self, tmp_path, options, says):
        with pytest.raises(ArgumentError, match=f"^{re.escape(says)}"):
            scan(tmp_path, **options)

    @pytest.mark.parametrize("function", [scan, urnscan.deduplicate])
    def test_inputs(self, function):
        """None at all, and a list in the place of its parts."""
        with pytest.raises(ArgumentError, match="nothing to read: name files, "):
            function()
        with pytest.raises(ArgumentError, match=r"not \['a', 'b'\]; several are so many arguments: \*paths"):
            function(["a", "b"])
        with pytest.raises(ArgumentError, match=r"^an input has an empty name$"):
            function("a", "")
        with pytest.raises(ArgumentError, match=r"^.*not a 0 x; several .*$"):  # in one line
            function(pd.DataFrame({"a": ["x"]}))

    def test_options_of_deduplicate(self):
        for name in ("column", "jobs", "memory"):
            with pytest.raises(ArgumentError, match=f"deduplicate has no option '{name}'"):
                urnscan.deduplicate("x", **{name: 1})
        with pytest.raises(ArgumentError, match="keep cannot be 'best'"):
            urnscan.deduplicate("x", keep="best")

    def test_no_dump(self, tmp_path):
        """Why none could be read is said here, too: nobody has told it before."""
        with pytest.raises(
            FatalError, match=r"^no input could be read: .*nope: no such file or folder \(and 1 more\)$"
        ):
            urnscan.deduplicate(tmp_path / "nope", tmp_path / "neither")

    def test_sizes_as_text(self, tmp_path):
        """As on the command line."""
        assert scan(tmp_path, memory="2 MiB", max_size="1.5kB").options.memory == 1 << 21
        assert scan(tmp_path, max_size="1.5kB").options.max_size == 1_500
        assert scan(tmp_path, max_size="9007199254740993").options.max_size == 2**53 + 1, "no float is between"

    def test_values_of_numpy(self, tmp_path):
        """They are taken for what they are, and become Python's own."""
        options = scan(tmp_path, trim=np.True_, jobs=np.int8(2)).options
        assert options.trim is True
        assert type(options.jobs) is int

    @pytest.mark.parametrize("name", ["jobs", "max_length", "max_ratio", "max_depth", "max_members"])
    def test_numbers(self, tmp_path, name):
        with pytest.raises(TypeError, match=f"{name} must be a whole number, not '1KB'"):
            scan(tmp_path, **{name: "1KB"})

    def test_a_path_of_octets(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:a:b")
        assert scan(os.fsencode(tmp_path / "a")).report.occurrences == 1


class TestColumns:
    def test_column(self, tmp_path):
        """One name or several, as on the command line."""
        (tmp_path / "a.jsonl").write_bytes(b'{"a": "urn:a:b", "b": "urn:c:d", "c": "urn:e:f"}\n')
        for named in ("a", ("b", "c")):
            found = scan(tmp_path, column=named).occurrences.column("member").to_pylist()
            assert found == [f"0/{column}" for column in named]


class Text(HTMLParser):
    """The text of HTML, and the tags in it; and that each tag that begins ends."""

    def __init__(self, source):
        super().__init__()
        self.text, self.tags, self._open = "", set(), []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self._open.append(tag)
        assert not attrs or (attrs[0][0] == "style" and "color" not in attrs[0][1])

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data


class TestNotebook:
    """Contract, Python: a Scan "shows itself in a notebook"."""

    def show(self, found):
        source = found._repr_html_()
        shown = Text(source)
        assert shown.tags <= {"p", "b", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
        return shown.text

    def test_most_frequent_first(self, tree):
        text = self.show(scan(tree))
        assert re.search("4 occurrences.*3 classes.*2 inputs", text)
        assert text.index("urn:isbn:1") < text.index("urn:isbn:1.") < text.index("urn:x:y")

    def test_escapes(self, tmp_path):
        """What stands in URNs and in names of files is text and no markup."""
        (tmp_path / "a").write_bytes(b"urn:ab:c&lt;&amp;d'e")
        missing = tmp_path / "<script>alert(1)</script> & co"
        found = scan(tmp_path, missing, syntax="rfc8141")
        text = self.show(found)
        assert "urn:ab:c&lt;&amp;d'e" in text
        assert f"{missing}: " in text
        assert "<script>" not in found._repr_html_()

    def test_only_the_first_are_shown(self, tmp_path):
        (tmp_path / "a").write_bytes(b"".join(b"urn:a:%03d\n" % number * (number + 1) for number in range(100)))
        text = self.show(scan(tmp_path))
        assert text.count("urn:a:") == library._SHOWN
        assert "urn:a:099" in text
        assert "100 classes" in text

    def test_nothing(self, tmp_path):
        assert "0 occurrences" in self.show(scan(tmp_path))

    def test_repr_is_short(self, tree):
        """The tables would fill the screen."""
        assert len(repr(scan(tree))) < 500


def batch(values, type_=None, name="text"):
    return pa.RecordBatch.from_arrays([pa.array(values, type_)], names=[name])


def rows_of(batches):
    rows = []
    for found in batches:
        found.validate(full=True)
        assert found.schema.equals(OCCURRENCES)
        assert found.num_rows
        rows += found.to_pylist()
    return rows


def expected(values, syntax="rfc2141", equivalence="lexical", name="text", **options):
    """The rows of the values of all batches."""
    return [
        occurrence_row(record, "", f"{row}/{name}", syntax, equivalence)
        for row, octets in enumerate(values)
        if octets is not None
        for record in oracle(octets, syntax, keep_query=equivalence == "resolution", **options)
    ]


values_of = st.lists(st.one_of(st.none(), st.just(b""), rich_octets), max_size=6)


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
        octets = [text if text is None else text.encode() for text in texts]
        values = octets if "binary" in str(type_) else texts
        plain = pa.array(values, getattr(type_, "value_type", type_))
        array = plain.dictionary_encode().cast(type_) if pa.types.is_dictionary(type_) else plain
        assert array.type == type_
        whole = pa.RecordBatch.from_arrays([array], names=["text"])
        assert rows_of(scan_batches([whole], "text")) == expected(octets)
        assert rows_of(scan_batches([whole.slice(3)], "text")) == expected(octets[3:]), "a slice"

    def test_octets_that_are_no_text(self):
        values = [b"\xff\xfeurn:a:b\xff", b"\0urn:a:c\0urn:a:d"]
        assert rows_of(scan_batches([batch(values, pa.binary())], "text")) == expected(values)

    def test_all_null(self):
        for type_ in (pa.string(), pa.null(), pa.dictionary(pa.int32(), pa.string())):
            assert rows_of(scan_batches([batch([None, None], type_)], "text")) == []

    def test_rows_of_all_batches_are_counted(self):
        """`member` is the row, counted through all batches from 0, and the column."""
        batches = [batch(values, name="a/b") for values in (["urn:a:b", ""], ["", "nothing"], [], ["urn:c:d"])]
        assert [row["member"] for row in rows_of(scan_batches(iter(batches), "a/b"))] == ["0/a/b", "4/a/b"]

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

    def test_unknown_column(self):
        with pytest.raises(KeyError, match=r"missing.*text"):
            list(scan_batches([batch(["urn:a:b"])], "missing"))

    @pytest.mark.parametrize("values", [[1, None], [True, None], [1.5], [["urn:a:b"]], [{"text": "urn:a:b"}]], ids=str)
    def test_column_that_is_no_text(self, values):
        array = pa.array(values)
        for column in (array, array.dictionary_encode()) if array.type == pa.int64() else (array,):
            rows = pa.RecordBatch.from_arrays([column], names=["a column"])
            with pytest.raises(TypeError, match=r"'a column'.*not text"):
                list(scan_batches([rows], "a column"))

    def test_options_that_are_none(self):
        for options, error in (({"syntax": "rfc1"}, ValueError), ({"colour": 1}, TypeError)):
            with pytest.raises(error):
                list(scan_batches([], "text", **options))

    def test_options_of_inputs(self):
        """They would change nothing: a column is none."""
        with pytest.raises(ArgumentError, match="scan_batches has no option 'encoding'"):
            list(scan_batches([], "text", encoding="latin-1"))

    def test_no_batches(self):
        assert list(scan_batches([], "text")) == []

    def test_batches_together_are_a_table(self):
        """As an engine puts them together."""
        found = scan_batches([batch(["urn:a:b"]), batch(["urn:c:d"])], "text")
        assert pa.Table.from_batches(found, OCCURRENCES).num_rows == 2


def test_scan_batches_of_a_table():
    """What pandas and DuckDB give is often a table."""
    table = pa.table({"text": pa.chunked_array([["urn:a:b"], ["x", "urn:c:d"]])})
    assert [row["member"] for row in rows_of(scan_batches(table, "text"))] == ["0/text", "2/text"]


TEXTS = ["see urn:a:b", None, "ä urn:c:d"]
OF_PANDAS = {
    "None": pd.Series(TEXTS, dtype=object),
    "NaN": pd.Series(["see urn:a:b", np.nan, "ä urn:c:d"], dtype=object),
    "NA": pd.Series(["see urn:a:b", pd.NA, "ä urn:c:d"], dtype=object),
    "octets": pd.Series([text and text.encode() for text in TEXTS]),
    **{kind: pd.Series(TEXTS, dtype=kind) for kind in ("string", "string[python]", "string[pyarrow]", "category")},
}


class TestFramesAndTables:
    """`scan_batches` of what hands itself over as Arrow."""

    @staticmethod
    def members(given, column="text"):
        return [row["member"] for row in rows_of(scan_batches(given, column))]

    def test_of_arrow(self):
        table = pa.table({"text": pa.chunked_array([TEXTS[:1], TEXTS[1:]])})
        whole = table.combine_chunks().to_batches()[0]
        for batches in (table, whole, table.to_reader(), table.to_batches(), iter(table.to_batches()), (whole,)):
            assert self.members(batches) == ["0/text", "2/text"], type(batches)

    @pytest.mark.parametrize("kind", OF_PANDAS)
    def test_missing_values_of_pandas(self, kind):
        frame = pd.DataFrame({"text": OF_PANDAS[kind]})
        expected = [text and text.encode() for text in TEXTS]
        assert rows_of(scan_batches(frame, "text")) == rows_of(scan_batches([batch(expected, pa.binary())], "text"))
        assert self.members(frame[frame["text"].notna()]) == ["0/text", "1/text"], "positions, not the index"

    def test_the_rest_of_a_frame_of_pandas(self):
        """Neither the other columns nor the index need to be anything that Arrow knows."""
        frame = pd.DataFrame({"text": TEXTS, "any": [object(), 1, "a"], 7: TEXTS}, index=[object(), "a", 1])
        assert self.members(frame) == ["0/text", "2/text"]
        assert self.members(frame, "7") == ["0/7", "2/7"], "as Arrow names it"
        with pytest.raises(TypeError, match=r"^column 'any' is not text: "):
            self.members(frame, "any")

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
            self.members(pd.DataFrame({"text": pd.Series(values, dtype=kind)}))

    def test_of_duckdb(self):
        duckdb = pytest.importorskip("duckdb", "1.1.3")  # those before take no argument here
        with duckdb.connect() as connection:
            given = connection.sql("SELECT unnest(['see urn:a:b', NULL, 'ä urn:c:d']) AS text, 1 AS one")
            assert self.members(given) == ["0/text", "2/text"]

    def test_of_polars(self):
        """Its text is of the kind string_view."""
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"text": TEXTS, "kind": polars.Series(TEXTS, dtype=polars.Categorical)})
        assert self.members(frame) == ["0/text", "2/text"]
        assert self.members(frame, "kind") == ["0/kind", "2/kind"]

    def test_of_who_knows(self):
        """The interface is what counts, not who wrote it."""

        class Foreign:
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.table({"text": TEXTS}).__arrow_c_stream__(requested_schema)

        assert self.members(Foreign()) == ["0/text", "2/text"]

    @pytest.mark.parametrize("kind", [lambda table: table, pa.Table.to_pandas, pa.Table.to_reader])
    def test_columns_that_are_not_there(self, kind):
        """Also where there is no row."""
        for rows in (0, 3):
            table = pa.table({"text": pa.array(TEXTS[:rows], pa.string())})
            with pytest.raises(KeyError, match="no column 'note' among text"):
                self.members(kind(table), "note")

    def test_columns_of_one_name(self):
        table = pa.table([pa.array(TEXTS)] * 2, names=["text", "text"])
        for batches in (table, table.to_batches(), pd.DataFrame([["a", "b"]], columns=["text", "text"])):
            with pytest.raises(KeyError, match="2 columns 'text' among text, text"):
                self.members(batches)

    @pytest.mark.parametrize("given", [None, 1, "urn:a:b", b"urn:a:b", ["urn:a:b"], pa.chunked_array([TEXTS])])
    def test_no_batches(self, given):
        name = type(given[0] if isinstance(given, str | bytes | list) else given).__name__
        with pytest.raises(TypeError, match=rf"^batches must be record batches of Arrow, .* not {name}\b"):
            self.members(given)

    @pytest.mark.parametrize("column", [None, 0, ["text"]])
    def test_columns_that_are_no_names(self, column):
        with pytest.raises(TypeError, match=f"^column must be a str, not {type(column).__name__}$"):
            self.members(pa.table({"text": TEXTS}), column)


class TestNames:
    """Contract, Python: what users import."""

    def test_are_the_library(self):
        assert urnscan.scan is scan
        assert urnscan.scan_batches is scan_batches
        assert urnscan.Scan is Scan


class TestOptionsAndLimits:
    """What would otherwise go wrong silently."""

    def test_one_pattern_is_not_its_letters(self, tmp_path):
        """`include="*.txt"` is one pattern; taken letter by letter its star would match every file."""
        (tmp_path / "a.txt").write_bytes(b"urn:a:b")
        (tmp_path / "b.md").write_bytes(b"urn:c:d")
        assert urnscan.scan(tmp_path, include="*.txt").occurrences.column("text").to_pylist() == ["urn:a:b"]

    def test_values_are_scanned_in_parts_that_offsets_can_count(self):
        """A slice of values that has more octets than 32-bit offsets can count is halved until it fits."""
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

        assert [len(part) for part in columns._octets(Values(10, 3))] == [2, 3, 2, 3]
        assert asked[0] == 10
        with pytest.raises(ValueError, match="2 GiB"):
            list(columns._octets(Values(1, 0)))
