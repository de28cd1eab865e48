"""Merging: tables of several runs become what one run over all inputs writes; what cannot be exact is said."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.results import key_windows
from urnscan.results import merge as merging
from urnscan.results.key_windows import windows
from urnscan.tables.editions import ADDED
from urnscan.tables.output_file import SHARDS_SUFFIX

NAMES = ["a", "b", "c%41", "d%00", "0-395-36341-1", "0-395-36341-6", "e."]
SPELLINGS = [f"{scheme}:{nid}:{name}" for scheme in ("urn", "URN", "Urn") for nid in ("isbn", "FOO") for name in NAMES]
TEXTS = st.lists(st.lists(st.sampled_from(SPELLINGS), max_size=12), min_size=2, max_size=6)
OPTIONS = st.sampled_from([{}, {"syntax": "rfc8141", "trim": True}, {"equivalence": "namespace", "nid": "isbn"}])


def rows(path):
    return pq.read_table(path).to_pylist()


@contextlib.contextmanager
def inputs_of(texts, at_once):
    """Files with these spellings, in a new folder; meanwhile a merge reads so many rows of each table at once."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for module in (merging, key_windows):
            patch.setattr(module, "rows_at_once", lambda *_: at_once)
        inputs = [Path(folder) / f"{number}.txt" for number in range(len(texts))]
        for path, spellings in zip(inputs, texts, strict=True):
            path.write_text("\n".join(spellings))
        yield inputs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with the classes and the occurrences of two runs and of one run over both inputs."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("urn:isbn:1 URN:isbn:1 urn:foo:%41 urn:foo:z")
    Path("b.txt").write_text("URN:isbn:1 urn:isbn:2 urn:foo:%41 urn:bar:b")
    for name, inputs in (("a", ["a.txt"]), ("b", ["b.txt"]), ("both", ["a.txt", "b.txt"])):
        urnscan.scan(*inputs).to_parquet(f"{name}.parquet", occurrences=f"{name}-places.parquet")
    return tmp_path


@FEW
@given(texts=TEXTS, options=OPTIONS, parts=st.integers(1, 5), at_once=st.integers(1, 5))
def test_merged_runs_are_one_run(texts, options, parts, at_once):
    """Any texts, in any number of runs, read in batches of any size: the file has the bytes of one run's."""
    with inputs_of(texts, at_once) as inputs:
        folder = inputs[0].parent
        tables = [folder / f"{start:02}.parquet" for start in range(0, len(inputs), parts)]
        for number, table in enumerate(tables):
            run = inputs[number * parts : (number + 1) * parts]
            urnscan.scan(*run, **options).to_parquet(table)
        urnscan.merge(tables, folder / "merged.parquet")
        urnscan.scan(*inputs, **options).to_parquet(folder / "one.parquet")
        assert rows(folder / "merged.parquet") == rows(folder / "one.parquet")
        assert (folder / "merged.parquet").read_bytes() == (folder / "one.parquet").read_bytes()


@pytest.mark.usefixtures("folder")
class TestMerge:
    def test_occurrences(self):
        """Rows of occurrences follow each other in the order of the tables."""
        report = urnscan.merge(["a-places.parquet", "b-places.parquet"], "all.parquet")
        assert rows("all.parquet") == rows("both-places.parquet")
        assert (report.kind, report.rows, report.occurrences) == ("occurrences", 8, 8)

    def test_metadata(self):
        """Options are said once, and counts are added; a class of both tables counts once."""
        urnscan.merge(["a.parquet", "b.parquet"], "all.parquet")
        said = json.loads(pq.read_metadata("all.parquet").metadata[b"urnscan"])
        assert said == json.loads(pq.read_metadata("both.parquet").metadata[b"urnscan"])
        assert said["counts"]["inputs"] == 2
        assert said["counts"]["classes"] == 5

    def test_the_order_of_tables_decides_what_is_first(self):
        """The other order gives other first places."""
        urnscan.merge(["b.parquet", "a.parquet"], "all.parquet")
        first = {row["urn"]: (row["first_source"], row["first_start"]) for row in rows("all.parquet")}
        assert first["urn:isbn:1"] == ("b.txt", 0)
        assert first["urn:foo:z"] == ("a.txt", 34)

    def test_a_merged_table_can_be_merged(self):
        """(a + b) + c is a + b + c."""
        Path("c.txt").write_text("urn:foo:z urn:isbn:3")
        urnscan.scan("c.txt").to_parquet("c.parquet")
        urnscan.scan("a.txt", "b.txt", "c.txt").to_parquet("one.parquet")
        urnscan.merge(["a.parquet", "b.parquet"], "ab.parquet")
        urnscan.merge(["ab.parquet", "c.parquet"], "abc.parquet")
        assert Path("abc.parquet").read_bytes() == Path("one.parquet").read_bytes()

    @pytest.mark.parametrize("named", [["tables"], ["tables/?.parquet"], ["tables/a.parquet", "tables/*b.parquet"]])
    def test_folders_and_globs(self, named):
        """A folder stands for the Parquet files in it, in the order of their names."""
        Path("tables").mkdir()
        for name in ("a", "b"):
            Path(f"{name}.parquet").rename(f"tables/{name}.parquet")
        Path("tables/notes.txt").write_text("no table")
        urnscan.merge(named, "all.parquet")
        assert rows("all.parquet") == rows("both.parquet")

    def test_other_formats(self):
        """The name of the output tells its format."""
        urnscan.merge(["a.parquet", "b.parquet"], "all.jsonl")
        assert list(map(json.loads, Path("all.jsonl").read_text().splitlines())) == rows("both.parquet")


@pytest.mark.full
@FEW
@given(texts=TEXTS, options=OPTIONS, parts=st.integers(1, 5), at_once=st.integers(1, 5))
def test_classes_of_occurrences_are_those_of_one_run(texts, options, parts, at_once):
    """From occurrences in any number of tables: the same file, byte for byte, and the merged occurrences beside it."""
    with inputs_of(texts, at_once) as inputs:
        folder = inputs[0].parent
        for start in range(0, len(inputs), parts):
            run = urnscan.scan(*inputs[start : start + parts], **options)
            run.to_parquet(folder / f"{start:02}-c.parquet", occurrences=folder / f"{start:02}-o.parquet")
        urnscan.merge(folder / "*-o.parquet", folder / "o.parquet", classes=folder / "c.parquet")
        urnscan.scan(*inputs, **options).to_parquet(folder / "one-c.parquet", occurrences=folder / "one-o.parquet")
        assert (folder / "c.parquet").read_bytes() == (folder / "one-c.parquet").read_bytes()
        assert rows(folder / "o.parquet") == rows(folder / "one-o.parquet")


@pytest.mark.usefixtures("folder")
class TestClassesOfOccurrences:
    def test_an_input_in_two_tables_counts_in_each(self):
        """As in merged classes: `source_count` is that of the runs."""
        urnscan.merge(["a-places.parquet"], classes="a2.parquet")
        assert rows("a2.parquet") == rows("a.parquet")
        Path("again").mkdir()
        Path("again/a.parquet").write_bytes(Path("a-places.parquet").read_bytes())
        report = urnscan.merge(["a-places.parquet", "again/a.parquet"], classes="all.parquet")
        assert (report.kind, report.occurrences, report.classes) == ("occurrences", 8, 3)
        assert {row["source_count"] for row in rows("all.parquet")} == {2}

    @pytest.mark.full
    def test_spilled_rows(self):
        """Memory is bounded, and what does not fit waits in files; none of them stays."""
        Path("many.txt").write_text("".join(f"urn:foo:{number:07} URN:foo:{number:07}\n" for number in range(60_000)))
        urnscan.scan("many.txt").to_parquet("one.parquet", occurrences="many-places.parquet")
        urnscan.merge("many-places.parquet", classes="all.parquet", memory="1MB")
        assert Path("all.parquet").read_bytes() == Path("one.parquet").read_bytes()
        assert not list(Path().glob("*urnscan*"))

    def test_refused(self):
        """Classes have no classes, rules are not in a table, and a merge without an output does nothing."""
        for named, outputs, said in (
            ("a.parquet", {"classes": "all.parquet"}, "classes is for tables of occurrences"),
            ("r-places.parquet", {"classes": "all.parquet"}, "r-places.parquet: its run had --rules"),
            ("a-places.parquet", {}, "name a file for the merged table"),
        ):
            Path("rules.toml").write_text('[shelf]\ntitle = "shelves"\nrule = "base"\nequality = "our guide"\n')
            urnscan.scan("a.txt", rules="rules.toml").to_parquet(occurrences="r-places.parquet", force=True)
            with pytest.raises((FatalError, urnscan.ArgumentError)) as error:
                urnscan.merge(named, **outputs)
            assert str(error.value).startswith(said)
            assert not Path("all.parquet").exists()


@pytest.mark.usefixtures("folder")
class TestNotExact:
    def test_more_than_100_spellings(self):
        """Counts stay exact where a table lists not all spellings, and the number of such classes is told."""
        cases = [
            f"{a}{b}{c}:{d}{e}{f}:x" for a in "uU" for b in "rR" for c in "nN" for d in "fF" for e in "oO" for f in "oO"
        ]
        names = [name for name in cases for _ in range(2)] + [f"{case}?={i}" for case in cases[:3] for i in range(30)]
        Path("many.txt").write_text("\n".join(names))
        for name, inputs in (("m", ["many.txt"]), ("one", ["many.txt", "c.txt"]), ("c", ["c.txt"])):
            Path("c.txt").write_text("urn:foo:x?=7 urn:foo:x?=new")
            urnscan.scan(*inputs, syntax="rfc8141").to_parquet(f"{name}.parquet")
        report = urnscan.merge(["m.parquet", "c.parquet"], "all.parquet")
        assert report.inexact == 1
        assert [line for line in report.remarks() if "spelling counts may be too low" in line]
        ((merged,), (one,)) = rows("all.parquet"), rows("one.parquet")
        assert one["spelling_count"] == 155
        assert 154 <= merged["spelling_count"] <= 155
        assert len(merged["spellings"]) == 100
        exact = [name for name in one if not name.startswith("spelling")]
        assert {name: merged[name] for name in exact} == {name: one[name] for name in exact}

    def test_an_input_of_two_runs(self):
        """It counts twice, and that is told."""
        urnscan.scan("a.txt", max_size=10**6).to_parquet("again.parquet")
        report = urnscan.merge(["a.parquet", "again.parquet"], "all.parquet")
        assert report.shared == 3
        assert [line for line in report.remarks() if "counts several times" in line]
        assert Counter(row["source_count"] for row in rows("all.parquet")) == {2: 3}

    def test_no_remark_where_all_is_exact(self):
        """Remarks are only made with a reason."""
        assert list(urnscan.merge(["a.parquet", "b.parquet"], "all.parquet").remarks()) == []


@pytest.mark.usefixtures("folder")
class TestRefused:
    """One line says what is wrong, and no file is written."""

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"trim": True}, "trim is off in a.parquet, and on in c.parquet"),
            ({"equivalence": "namespace"}, "equivalence is lexical in a.parquet, and namespace in c.parquet"),
            ({"nid": ["isbn", "nbn"]}, "nid is not given in a.parquet, and isbn,nbn in c.parquet"),
            ({"max_length": 9}, "max-length is 65536 in a.parquet, and 9 in c.parquet"),
        ],
        ids=str,
    )
    def test_other_options(self, options, said):
        urnscan.scan("a.txt", **options).to_parquet("c.parquet")
        with pytest.raises(FatalError, match="merge needs tables made with the same options") as error:
            urnscan.merge(["a.parquet", "c.parquet"], "all.parquet")
        assert str(error.value).startswith(said)
        assert not Path("all.parquet").exists()

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("named", "said"),
        [
            (["a.parquet", "./a.parquet"], "a.parquet: is named twice"),
            (
                ["a.parquet", "b-places.parquet"],
                "b-places.parquet: contains occurrences, but a.parquet contains classes",
            ),
            (["a.parquet", "all.parquet"], "all.parquet: is an input and an output; name another output"),
            (["a.parquet", "half.parquet"], "half.parquet: truncated Parquet file; "),
            (["a.parquet", "other.parquet"], "other.parquet: has no column urn"),
            (["a.parquet", "bare.parquet"], "bare.parquet: lacks the options of its run; scan again"),
            (
                ["a.parquet", "first.parquet"],
                "first.parquet: was written by an older or newer urnscan (edition 1 of the tables, not 2 or 3); scan again",
            ),
            (["a.parquet", "unsorted.parquet"], "unsorted.parquet: is not sorted by urn"),
            (["a.parquet", "none.parquet"], "none.parquet: no such file or folder"),
            (["empty"], "empty: contains no Parquet file"),
            (
                ["begun"],
                "begun: contains no Parquet file, but unfinished work of 00.partial, 01.partial; continue it with --resume",
            ),
            (["-"], "-: standard input cannot be read here"),
            (["s3://bucket/a.parquet"], "s3://bucket/a.parquet: copy it here first"),
        ],
        ids=str,
    )
    def test_other_files(self, named, said):
        classes = pq.read_table("a.parquet")
        told = json.loads(classes.schema.metadata[b"urnscan"])
        Path("empty").mkdir()
        for name in ("01.partial", "00.partial"):
            Path("begun", f".{name}{SHARDS_SUFFIX}").mkdir(parents=True)
        Path("half.parquet").write_bytes(Path("a.parquet").read_bytes()[:2000])
        pq.write_table(pa.table({"a": [1]}), "other.parquet")
        pq.write_table(classes.replace_schema_metadata({}), "bare.parquet")
        first = {"urnscan": json.dumps({name: value for name, value in told.items() if name != "schema"})}
        pq.write_table(classes.replace_schema_metadata(first), "first.parquet")
        pq.write_table(classes.take([1, 0]), "unsorted.parquet")
        Path("all.parquet").write_bytes(Path("b.parquet").read_bytes())
        before = Path("all.parquet").read_bytes()
        with pytest.raises(FatalError) as error:
            urnscan.merge(named, "all.parquet", force=True)
        assert said in str(error.value)
        assert "\n" not in str(error.value)
        assert Path("all.parquet").read_bytes() == before


@pytest.mark.usefixtures("folder")
def test_occurrences_of_an_earlier_version():
    """A table without the columns of spellings is told in a line, wherever it stands, and no file is written."""
    pq.write_table(pq.read_table("a-places.parquet").drop_columns(list(ADDED)), "early.parquet")
    for named in (["early.parquet", "b-places.parquet"], ["b-places.parquet", "early.parquet"]):
        with pytest.raises(FatalError, match=r"^early\.parquet: has no column r_component, as an earlier version"):
            urnscan.merge(named, "all.parquet")
        assert not Path("all.parquet").exists()


def write_second_edition(path, new_path, **entries):
    """A copy of a table as the second edition had it, with these entries in its metadata."""
    table = pq.read_table(path)
    told = json.loads(table.schema.metadata[b"urnscan"]) | {"schema": 2} | entries
    if "spelling_problem" in table.column_names:
        table = table.drop_columns(["valid", "problem"])
        table = table.rename_columns({"spelling_problem": "problem"})
    pq.write_table(table.replace_schema_metadata({"urnscan": json.dumps(told)}), new_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("named", [["2.parquet", "b{}"], ["a{}", "2.parquet"]])
def test_tables_of_the_second_edition(named):
    """Files, earlier editions: they are merged with tables of now, and the result is that of one run of now."""
    for suffix in (".parquet", "-places.parquet"):
        names = [name.format(suffix) for name in named]
        write_second_edition(f"{'a' if names[0] == '2.parquet' else 'b'}{suffix}", "2.parquet")
        urnscan.merge(names, "all.parquet", force=True)
        assert rows("all.parquet") == rows(f"both{suffix}")
        merged = pq.read_schema("all.parquet")
        assert merged.equals(pq.read_schema(f"both{suffix}"))
        assert json.loads(merged.metadata[b"urnscan"])["schema"] == 3
    urnscan.merge(names, classes="classes.parquet")
    assert rows("classes.parquet") == rows("both.parquet")
    assert {row["spelling_problem"] for row in rows("all.parquet")} == {None, "needless-encoding"}
    assert "nss-grammar" in {row["problem"] for row in rows("all.parquet")}


@pytest.mark.usefixtures("folder")
def test_occurrences_of_the_second_edition_with_custom_rules():
    """Files, earlier editions: without the rules their verdict is not known; no file is written."""
    for name in "ab":
        write_second_edition(f"{name}-places.parquet", f"{name}2.parquet", rules="0" * 64)
    with pytest.raises(
        FatalError, match=r"^a2\.parquet: has no columns valid and problem, which need the rules .*; scan again$"
    ):
        urnscan.merge(["a2.parquet", "b2.parquet"], "all.parquet")
    assert not Path("all.parquet").exists()


@pytest.mark.usefixtures("folder")
def test_options_that_are_none():
    """Hostile input: the options in the metadata are read as options."""
    write_second_edition("a-places.parquet", "2.parquet", syntax=["rfc2141"])
    with pytest.raises(FatalError, match=r"^2\.parquet: its metadata have no valid options of a run; scan again$"):
        urnscan.merge("2.parquet", "all.parquet")


@given(
    tables=st.lists(st.sets(st.integers(0, 60)).map(sorted), max_size=5),
    at_once=st.integers(1, 9),
)
def test_a_window_has_all_rows_of_its_keys(tables, at_once):
    """Whatever the batches: all rows come in order, and no key is in two windows."""

    def batches(keys):
        for start in range(0, len(keys), at_once):
            names = [f"{key:03}" for key in keys[start : start + at_once]]
            yield pa.RecordBatch.from_pydict({"urn": pa.array(names, pa.string())})

    found = list(windows([(str(number), batches(keys)) for number, keys in enumerate(tables)]))
    columns = [[[key for rows in taken for key in rows.column("urn").to_pylist()] for taken in each] for each in found]
    for number, keys in enumerate(tables):
        assert [int(key) for window in columns for key in window[number]] == keys
    of_windows = [{key for taken in window for key in taken} for window in columns]
    assert all(max(one) < min(other) for one, other in pairwise(of_windows))
