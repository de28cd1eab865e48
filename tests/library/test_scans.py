"""Scanning from Python: `scan` for a notebook."""

from __future__ import annotations

import dataclasses
import gzip
import inspect
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import urnscan
from urnscan.cli import main
from urnscan.dedup.policy import Policy
from urnscan.duckdb import register
from urnscan.errors import ArgumentError, FatalError, UrnscanError
from urnscan.library import scans as library
from urnscan.library.batches import scan_batches
from urnscan.library.scans import Scan, scan
from urnscan.pandas import SeriesURN
from urnscan.polars import ColumnURN
from urnscan.run import options
from urnscan.run.options import Options
from urnscan.run.pipeline import Report
from urnscan.scanner.views.kinds import KINDS
from urnscan.spark import driver as spark
from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS, WRITTEN
from urnscan.tables.writers import open_table
from urnscan.urn.namespaces import read_rules


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
        assert found.classes.column("occurrence_count").to_pylist() == [2, 1, 1]
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
        assert scan(tree, trim=True).classes.column("occurrence_count").to_pylist() == [3, 1]
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
            ({"jobs": "all"}, TypeError),
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
        """The classes; or the table that is named, with what the run was, and with types that take null."""
        found = scan(tree, rejects=True)
        frame = found.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == CLASSES.names
        assert frame.urn.tolist() == ["urn:isbn:1", "urn:isbn:1.", "urn:x:y"]
        assert frame.occurrence_count.tolist() == [2, 1, 1]
        assert frame[~frame.valid].urn.tolist() == ["urn:isbn:1", "urn:isbn:1."]
        assert frame.attrs == {"urnscan": found.report.metadata(found.options)}
        assert found.to_pandas("occurrences").stop.tolist() == [32, 10, pd.NA, pd.NA]
        assert found.to_pandas("rejects").columns.tolist() == REJECTS.names
        with pytest.raises(ArgumentError, match="table is classes, occurrences, rejects, not 'report'"):
            found.to_pandas("report")
        with pytest.raises(ArgumentError, match="not asked for rejects"):
            scan(tree).to_pandas("rejects")

    def test_pandas_reads_the_same_from_the_files(self, tree):
        """`pandas.read_parquet` needs no argument to give the types and attributes of `to_pandas`."""
        (tree / "none").mkdir()
        for inputs in (tree, tree / "none"):  # also of tables without rows
            found = scan(inputs, rejects=True)
            paths = {name: tree / f"{name}.parquet" for name in ("classes", "occurrences", "rejects")}
            found.to_parquet(paths["classes"], occurrences=paths["occurrences"], rejects=paths["rejects"], force=True)
            frames = {name: pd.read_parquet(path) for name, path in paths.items()}
            for name, frame in frames.items():
                pd.testing.assert_frame_equal(frame, found.to_pandas(name), check_categorical=False)
                assert frame.attrs == found.to_pandas(name).attrs
                for path in paths.values():
                    path.unlink(missing_ok=True)
            assert (frames["classes"].valid.dtype, frames["occurrences"].stop.dtype) == ("boolean", "Int16")

    def test_immutable(self, tree):
        with pytest.raises(AttributeError):
            scan(tree).report = Report()

    def test_is_itself_alone(self, tree):
        """Not compared table by table, and so it can stand in a set, or in a cache."""
        one, other = scan(tree), scan(tree)
        assert {one: 1, other: 2}[one] == 1
        assert one != other
        assert {urnscan.Dedup(one.occurrences, one.report)}


class TestFiles:
    """Results in memory as the files that the command writes."""

    @pytest.fixture
    def corpus(self, tree):
        (tree / "c").write_bytes(b"urn:isbn:9780395363416 urn:x urn:issn:0317-8471, urn:z:%c3%a4 %zz\n" * 40)
        return tree

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("words", "options"),
        [([], {}), (["--trim", "--equivalence", "namespace"], {"trim": True, "equivalence": "namespace"})],
    )
    def test_bytes_are_those_of_the_command(self, corpus, tmp_path_factory, words, options):
        """Rows, schema, row groups and metadata, also where a table has several batches with dictionaries of their own."""
        here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
        for number in range(3):
            (corpus / f"large {number}").write_bytes(b"".join(b"urn:n%d:%d\n" % (n % 7, n) for n in range(60_000)))
        names = ("classes.parquet", "occurrences.parquet", "rejects.parquet")
        options_of = ("-o", "--occurrences", "--rejects")
        given = [word for option, name in zip(options_of, names, strict=True) for word in (option, there / name)]
        assert main([str(corpus), *map(str, given), *words, "--quiet"]) == 0
        found = scan(corpus, rejects=True, **options)
        assert found.occurrences.column("nid").num_chunks > 1
        classes, occurrences, rejects = (here / name for name in names)
        found.to_parquet(classes, occurrences=occurrences, rejects=rejects)
        for name in names:
            assert (here / name).read_bytes() == (there / name).read_bytes(), name

    def test_all_or_none(self, tree, tmp_path_factory):
        out = tmp_path_factory.mktemp("out")
        found = scan(tree)
        with pytest.raises(FatalError, match=r"the folder .*none does not exist"):
            found.to_parquet(out / "a.parquet", occurrences=out / "none" / "b.parquet")
        assert list(out.iterdir()) == []
        found.to_parquet(out / "a.parquet")
        with pytest.raises(FatalError, match="exists already"):
            found.to_parquet(out / "a.parquet")
        found.to_parquet(out / "a.parquet", force=True)
        with pytest.raises(FatalError, match="named as two outputs"):
            found.to_parquet(out / "b.parquet", occurrences=out / "b.parquet")
        with pytest.raises(FatalError, match=r"tables are written in Parquet, not as \.csv"):
            found.to_parquet(out / "b.csv")

    def test_what_is_not_there(self, tree):
        with pytest.raises(ArgumentError, match="name a file"):
            scan(tree).to_parquet()
        with pytest.raises(ArgumentError, match=r"not asked for rejects: urnscan\.scan\(\.\.\., rejects=True\)"):
            scan(tree).to_parquet(rejects=tree / "r.parquet")

    def test_page(self, corpus, tmp_path_factory):
        """That of `urnscan report` with both tables, but for the name of the file."""
        out = tmp_path_factory.mktemp("out")
        found = scan(corpus)
        found.to_html(out / "here.html")
        found.to_parquet(out / "c.parquet", occurrences=out / "o.parquet")
        words = ["report", str(out / "c.parquet"), "--occurrences", str(out / "o.parquet")]
        assert main([*words, "-o", str(out / "there.html"), "--quiet"]) == 0
        there = (out / "there.html").read_text()
        assert there.count(str(out / "c.parquet")) > 0
        assert (out / "here.html").read_text() == there.replace(str(out / "c.parquet"), "Scan.classes")
        with pytest.raises(FatalError, match="exists already"):
            found.to_html(out / "here.html")
        found.to_html(out / "here.html", force=True)

    def test_page_of_nothing(self, tmp_path):
        scan(tmp_path).to_html(tmp_path / "a.html")
        assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")


class TestWhatIsWrong:
    """Errors in a notebook read like sentences: they say what to change."""

    def test_no_input_could_be_read(self, tmp_path):
        """The command has said why by then; here nobody has."""
        (tmp_path / "a.csv").write_bytes(b"id,title\n1,x\n")
        with pytest.raises(FatalError, match=r"no input could be read: .*a\.csv: no column 'urn'; it has id, title$"):
            scan(tmp_path / "a.csv", column="urn")
        with pytest.raises(FatalError, match=r"no input could be read: .*nope: no such file or folder \(and 1 more\)$"):
            scan(tmp_path / "nope", tmp_path / "neither")

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"syntax": "rfc1"}, "syntax: unknown value 'rfc1'; choose from rfc2141, "),
            ({"recover": "wrap"}, "recover: unknown value 'wrap'; choose from percent, "),
            ({"memory": "1 elephant"}, "memory: invalid size '1 elephant'; write it like 500MB or 2GiB"),
            ({"memory": "9" * 400}, f"memory: invalid size '{'9' * 400}'; "),
            ({"jobs": 0}, "jobs must be at least 1"),
            ({"trim": "no"}, "trim must be True or False, not 'no'"),
            ({"strict": None}, "strict must be True or False, not None"),
            ({"include": None}, "include must be strings, not None"),
            ({"column": ["a", 1]}, "column must be strings, not ['a', 1]"),
            ({"recover": b"wraps"}, "recover must be strings, not b'wraps'"),
            ({"nid": ["isbn", 1]}, "nid must be strings, not ['isbn', 1]"),
            ({"not_nid": "a b"}, "not_nid: no URN begins with 'a b': ' ' is not allowed in a NID"),
            ({"syntax": ["rfc2141"]}, "syntax must be a string, not ['rfc2141']"),
            ({"encoding": 5}, "encoding must be a string, not 5"),
        ],
    )
    def test_options(self, tmp_path, options, says):
        with pytest.raises(ArgumentError, match=f"^{re.escape(says)}"):
            scan(tmp_path, **options)

    @pytest.mark.parametrize("function", [scan, urnscan.deduplicate])
    def test_inputs(self, function):
        """None at all, and what is no path; lists are the inputs in them, and `~` is the home folder."""
        with pytest.raises(ArgumentError, match="nothing to read; name files, "):
            function()
        with pytest.raises(ArgumentError, match="nothing to read; name files, "):
            function([])
        with pytest.raises(ArgumentError, match=r"or a list of them, not generator; urnscan\.find takes"):
            function(path for path in ["a"])
        with pytest.raises(ArgumentError, match=r"not 3; urnscan\.find takes"):
            function(["a", 3])
        with pytest.raises(ArgumentError, match=r"^an input has an empty name$"):
            function("a", "")
        with pytest.raises(ArgumentError, match=r"^.*not DataFrame; urnscan\.find .*$"):  # in one line
            function(pd.DataFrame({"a": ["x"]}))

    def test_names_of_inputs_and_outputs(self, tmp_path, monkeypatch):
        """As pandas has it: `~` is the home folder, for inputs and outputs; several inputs may be in a list."""
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "a.txt").write_text("urn:foo:a")
        (tmp_path / "b.txt").write_text("urn:foo:b")
        found = scan(["~/a.txt", tmp_path / "b.txt"])
        assert found.occurrences.column("source").to_pylist() == [f"{tmp_path}/a.txt", f"{tmp_path}/b.txt"]
        found.to_parquet("~/c.parquet")
        found.to_html("~/c.html")
        assert (tmp_path / "c.parquet").exists()
        assert (tmp_path / "c.html").exists()

    @pytest.mark.parametrize("function", [scan, urnscan.deduplicate])
    def test_a_wish_for_progress_that_is_none(self, function):
        with pytest.raises(ArgumentError, match="progress must be True, False or None, not 'always'"):
            function("a", progress="always")

    def test_the_help_has_all_values(self):
        """`help(urnscan.scan)` in a notebook is all that a user sees."""
        for value in (*urnscan.SYNTAXES, *urnscan.LEVELS, *KINDS, "all", "keep", "cut"):
            assert re.search(rf"\b{value}\b", scan.__doc__), value

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("see urn:isbn:0451450523", "see urn:isbn:0451450523: no such file or folder"),
            ("urn:isbn:0451450523", "urn:isbn:0451450523: no such file or folder"),
            ("two words", "two words: no such file or folder"),
            ("see\nURN:A:B", "see URN:A:B: no such file or folder"),
            ("[urn:a:b]", "[urn:a:b]: no such file or folder, and no file matches it as a pattern"),
            ("a\0urn:a:b", r"a\x00urn:a:b: no file can have such a name"),
            ("x" * 9_000 + " urn:a:b", "x" * 60 + "…: no such file or folder"),
        ],
    )
    def test_a_text_in_the_place_of_a_path(self, text, shown):
        """One line that names the functions that take texts."""
        hint = "; urnscan.find takes a text, urnscan.scan_frame a column of texts"
        with pytest.raises(FatalError, match=f"^no input could be read: {re.escape(shown + hint)}$"):
            scan(text)

    def test_paths_that_are_not_there(self, tree, monkeypatch):
        """A path gets no such hint, nor does a file that is there."""
        monkeypatch.chdir(tree)
        (tree / "urn:a:b").write_bytes(b"\x1f\x8b\x08")
        for path in ("nope.txt", "urn:a:b"):
            with pytest.raises(FatalError, match="no input could be read") as told:
                scan(path)
            assert "find" not in str(told.value)

    @pytest.mark.parametrize("texts", [["urn:a:b", "x"], pd.Series(["urn:a:b"]), ("see urn:a:b",)])
    def test_texts_in_the_place_of_a_path(self, texts):
        """A list of texts is taken for a list of paths, of which there is none."""
        said = (
            r"^(an input is|no input could be read: ).*urnscan\.find takes a text, urnscan\.scan_frame a column of .*$"
        )
        with pytest.raises(UrnscanError, match=said):
            scan(texts)

    def test_options_of_deduplicate(self):
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
        with pytest.raises(TypeError, match=f"{name} must be an integer, not '1KB'"):
            scan(tmp_path, **{name: "1KB"})

    def test_a_path_of_bytes(self, tmp_path):
        (tmp_path / "a").write_bytes(b"urn:a:b")
        assert scan(os.fsencode(tmp_path / "a")).report.occurrences == 1


OF_INPUTS = "include exclude follow encoding max_ratio max_size max_depth max_members strict".split()
OF_MATCHES = "syntax equivalence trim recover resolver_tail max_length nid not_nid rules".split()
OF_NAMES = ["syntax", "equivalence", "rules"]
OF_VERDICTS = ["syntax", "rules"]
OF_POLICY = [field.name for field in dataclasses.fields(Policy)]
OF_DEDUPLICATE = {"syntax": "rfc8141", "equivalence": "namespace", "resolver_tail": "cut"}  # defaults of its own
SIGNATURES = {  # function: its options; all are fields of the records
    scan: [*OF_MATCHES, *OF_INPUTS, "column", "where", "filters", "filter_timeout", "jobs", "memory"],
    scan_batches: OF_MATCHES,
    urnscan.scan_frame: OF_MATCHES,
    urnscan.find: [name for name in OF_MATCHES if name != "recover"],
    urnscan.deduplicate: [*OF_POLICY, *OF_MATCHES, *OF_INPUTS],
    SeriesURN.canonical: OF_NAMES,
    SeriesURN.is_valid: OF_VERDICTS,
    SeriesURN.find: OF_MATCHES,
    SeriesURN.count: [name for name in OF_MATCHES if name != "equivalence"],
    SeriesURN.nid: ["syntax"],
    SeriesURN.problem: OF_VERDICTS,
    SeriesURN.explain: OF_NAMES,
    ColumnURN.canonical: OF_NAMES,
    ColumnURN.is_valid: OF_VERDICTS,
    ColumnURN.find: OF_MATCHES,
    ColumnURN.count: [name for name in OF_MATCHES if name != "equivalence"],
    ColumnURN.nid: ["syntax"],
    ColumnURN.problem: OF_VERDICTS,
    register: OF_MATCHES,
    spark.scan: [*OF_MATCHES, *OF_INPUTS, "column", "where", "filters", "filter_timeout"],
    spark.occurrences: [*OF_MATCHES, *OF_INPUTS, "column", "where", "filters", "filter_timeout"],
    spark.scan_column: OF_MATCHES,
}


class TestSignatures:
    """Options are parameters of their own, so that `help()`, completion and type checkers know them."""

    FIELDS: ClassVar = {each.name: each for kind in (Options, Policy) for each in dataclasses.fields(kind)}

    def test_all_options(self):
        """A new option of a record is an option of `scan` or of `deduplicate`."""
        assert set(SIGNATURES[scan]) == {field.name for field in dataclasses.fields(Options)}
        assert set(SIGNATURES[scan]) - set(SIGNATURES[urnscan.deduplicate]) == {
            "column",
            "where",
            "filters",
            "filter_timeout",
            "jobs",
            "memory",
        }
        assert set(SIGNATURES[scan]) - set(OF_MATCHES) == options.OF_INPUTS

    @pytest.mark.parametrize(
        "function", SIGNATURES, ids=lambda function: f"{function.__module__}.{function.__qualname__}"
    )
    def test_is_that_of_the_records(self, function):
        """Names and defaults. None is the default of a number that is counted anew for each run."""
        parameters = inspect.signature(function).parameters
        assert not [each for each in parameters.values() if each.kind is each.VAR_KEYWORD]
        assert [name for name in parameters if name in SIGNATURES[function]] == sorted(
            SIGNATURES[function], key=list(parameters).index
        )
        for name in SIGNATURES[function]:
            default = self.FIELDS[name].default
            if function is urnscan.deduplicate:
                default = OF_DEDUPLICATE.get(name, default)
            expected = None if default is dataclasses.MISSING else default
            assert (parameters[name].default, type(parameters[name].default)) == (expected, type(expected)), name
            assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
            assert parameters[name].annotation is not inspect.Parameter.empty

    def test_each_option_arrives(self, tree):
        """None is lost between the parameter and the record."""
        given = {
            "syntax": "rfc2141bis-03", "equivalence": "resolution", "trim": True, "recover": ("wraps",),
            "resolver_tail": "cut", "max_length": 99, "nid": ("isbn",), "not_nid": ("isbn:978*",), "include": ("a",), "exclude": ("b",), "follow": True,
            "encoding": "latin-1", "column": ("c",), "where": "status=200",
            "filters": ("a:cat",), "filter_timeout": 7, "max_ratio": 7, "max_size": 10**6, "max_depth": 3,
            "max_members": 4, "jobs": 1, "memory": 10**6, "strict": True,
            "rules": read_rules(Path(urnscan.__file__).with_name("urn") / "namespaces" / "rules.toml"),
        }  # fmt: skip
        found = scan(tree, **given).options
        assert set(given) == set(SIGNATURES[scan])
        assert {name: getattr(found, name) for name in given} == given
        assert all(getattr(Options(), name) != value for name, value in given.items() if name != "jobs")

    def test_of_policy(self, tmp_path):
        """As above, for `deduplicate`: a weak namespace joins nothing, the last is kept."""
        (tmp_path / "a.txt").write_text("urn:aa:b 1\nurn:aa:b 2\nurn:cc:d 3\nurn:cc:d 4\n")
        found = urnscan.deduplicate(tmp_path / "a.txt", record="line", weak="cc", keep="last")
        assert found.clusters["kept"].to_pylist() == [False, True, True, True]

    def test_no_such_option(self, tree):
        with pytest.raises(TypeError, match="scan has no option syntx; is it syntax"):
            scan(tree, syntx="rfc8141")


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


class TestNames:
    """Contract, Python: what users import."""

    def test_are_the_library(self):
        assert urnscan.scan is scan
        assert urnscan.Scan is Scan


class TestOptionsAndLimits:
    """What would otherwise go wrong silently."""

    def test_one_pattern_is_not_its_letters(self, tmp_path):
        """`include="*.txt"` is one pattern; taken letter by letter its star would match every file."""
        (tmp_path / "a.txt").write_bytes(b"urn:a:b")
        (tmp_path / "b.md").write_bytes(b"urn:c:d")
        assert urnscan.scan(tmp_path, include="*.txt").occurrences.column("text").to_pylist() == ["urn:a:b"]


class TestForms:
    """A scan shows itself, and gives its tables in the forms that other programs take."""

    @pytest.fixture
    def folder(self, tmp_path):
        for number in range(12):
            (tmp_path / f"{number}.txt").write_text(
                f"urn:a:{number} " * (number + 1) + "urn:b:\u00fc urn:c:d.", encoding="utf-8"
            )
        return tmp_path

    def test_as_text(self, folder):
        """The counts, the most frequent classes, what failed, and what an argument of Python would change; no control."""
        text = repr(scan(folder, folder / "no\nthing", progress=False))
        first, *lines = text.split("\n")
        assert first == "90 occurrences, 13 classes, 12 inputs"
        assert [line.split() for line in lines[:2]] == [["12", "urn:a:11"], ["12", "urn:c:d."]]
        assert len(lines) == 10 + 3
        assert lines[10] == "and 3 other classes"
        assert lines[11] == f"1 failure: {folder}/no\\nthing: no such file or folder"
        assert lines[12].startswith(
            "12 occurrences end in punctuation or contain the next URN; trim=True cuts that off"
        )

    def test_hints_name_arguments_of_python(self, folder):
        """What Python shows names no option of the shell; a scan that lists its rejects does not propose that."""
        (folder / "a.txt").write_text("urn:example:a\u00fc")
        for given in (scan(folder), urnscan.deduplicate(folder, record="line")):
            shown = given._repr_html_()
            assert "rejects=True) lists the places" in shown
            assert "--" not in shown
        assert "lists the places" in repr(scan(folder))
        assert "lists the places" not in repr(scan(folder, rejects=True))

    def test_length(self, folder):
        assert len(scan(folder)) == scan(folder).classes.num_rows == 13

    def test_to_polars(self, folder):
        """Text is text, not categories, and all else is as in the table."""
        polars = pytest.importorskip("polars")
        found = scan(folder, rejects=True)
        for name in ("classes", "occurrences", "rejects"):
            frame = found.to_polars(name)
            assert polars.Categorical not in frame.dtypes
            assert frame.to_dicts() == getattr(found, name).to_pylist()
        with pytest.raises(ArgumentError, match="table is classes, occurrences, rejects, not 'urns'"):
            found.to_polars("urns")

    def test_to_csv(self, folder, tmp_path):
        """The same bytes as the command writes; all files appear, or none."""
        found = scan(folder, rejects=True)
        names = {name: str(tmp_path / f"{name}.csv") for name in ("classes", "occurrences", "rejects")}
        found.to_csv(**names)
        for name, path in names.items():
            expected = tmp_path / f"expected-{name}.csv"
            with open_table(expected, **WRITTEN[name]) as file:
                for batch in getattr(found, name).to_batches():
                    file.write(batch)
                file.commit({})
            assert Path(path).read_bytes() == expected.read_bytes()
        assert Path(names["classes"]).read_text(encoding="utf-8-sig").startswith("urn,nid,nss,")
        found.to_csv(tmp_path / "a.tsv.gz")
        assert gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()).decode("utf-8-sig").startswith("urn\tnid\tnss\t")
        with pytest.raises(FatalError, match="exists already; force=True replaces it"):
            found.to_csv(names["classes"])
        found.to_csv(names["classes"], force=True)
        with pytest.raises(ArgumentError, match=r"b\.parquet: unknown suffix; use \.csv or \.tsv"):
            found.to_csv(tmp_path / "b.csv", occurrences=tmp_path / "b.parquet")
        assert not (tmp_path / "b.csv").exists()
        with pytest.raises(ArgumentError, match="name a file for"):
            found.to_csv()


@pytest.mark.parametrize("name", ["recover", "nid", "not_nid"])
def test_several_values_in_one_string(name):
    """`--recover percent,entities` is one word of the command, but a list in Python; the error says so."""
    with pytest.raises(ArgumentError, match=rf"^{name}: 'bare,wraps' is one value; give a list: \['bare', 'wraps'\]$"):
        urnscan.scan("none.txt", **{name: "bare,wraps"})


@pytest.mark.parametrize(
    "call",
    [lambda: urnscan.diff(None, "x"), lambda: urnscan.diff("x", ["b"]), lambda: urnscan.scan("x", cdx=1)],
    ids=["diff old", "diff new", "cdx"],
)
def test_a_file_that_is_no_path(call):
    """Promise: only errors of urnscan are raised."""
    with pytest.raises(ArgumentError, match="a file must be a str or a path, not "):
        call()
