"""Partial results in files: merged they are one run; what is damaged, or from elsewhere, is reported in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import urnscan
from tests.results.test_merge import OPTIONS, TEXTS, inputs_of, rows
from tests.support.examples import FEW
from urnscan.errors import FatalError
from urnscan.run.options import Options
from urnscan.run.pipeline import Outputs, run
from urnscan.tables.partial_output import PartialOutput

RULES = '[foo]\ntitle = "shelves"\ngrammar = "[a-b]+"\nsyntax = "our guide"\nrule = "base"\nequality = "our guide"\n'


def write_partial(path, *inputs, **options):
    """What `urnscan INPUT... --partial PATH` does."""
    meaning = Options(**options)
    with PartialOutput(path, meaning.reading_metadata()) as file:
        report = run(list(map(str, inputs)), meaning, Outputs(partial=file.write))
        file.commit(report.metadata(meaning))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with two inputs and their partial results."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("urn:isbn:1 URN:isbn:1 urn:foo:%41 urn:foo:z")
    Path("b.txt").write_text("URN:isbn:1 urn:isbn:2 urn:foo:%41 urn:bar:b")
    for name in "ab":
        write_partial(f"{name}.partial", f"{name}.txt")
    return tmp_path


def changed(source, path, rows=lambda table: table, metadata=lambda entries: entries):
    """Write a file like another one, with other rows or other metadata."""
    table = pq.read_table(source)
    told = metadata(json.loads(table.schema.metadata[b"urnscan"]))
    pq.write_table(rows(table).replace_schema_metadata({"urnscan": json.dumps(told)}), path)


@FEW
@given(texts=TEXTS, options=OPTIONS, parts=st.integers(1, 5), at_once=st.integers(1, 5))
def test_merged_partial_results_are_one_run(texts, options, parts, at_once):
    """Promise: any texts, in any number of runs, read in batches of any size: the file has the bytes of one run's."""
    with inputs_of(texts, at_once) as inputs:
        folder = inputs[0].parent
        for start in range(0, len(inputs), parts):
            write_partial(folder / f"{start:02}.partial", *inputs[start : start + parts], **options)
        urnscan.merge(folder, folder / "merged.parquet")
        urnscan.scan(*inputs, **options).to_parquet(folder / "one.parquet")
        assert rows(folder / "merged.parquet") == rows(folder / "one.parquet")
        assert (folder / "merged.parquet").read_bytes() == (folder / "one.parquet").read_bytes()


@pytest.mark.usefixtures("folder")
class TestExact:
    def test_more_than_100_spellings(self):
        """Where a merge of tables is not exact, that of partial results is, and says nothing."""
        names = [f"{n}:foo:x?={number}" for n in ("urn", "URN") for number in range(70)]
        Path("c.txt").write_text("\n".join(names[:120] * 2))
        Path("d.txt").write_text("\n".join(names[60:]))
        for name in "cd":
            write_partial(f"{name}.partial", f"{name}.txt", syntax="rfc8141")
        report = urnscan.merge(["c.partial", "d.partial"], "all.parquet")
        urnscan.scan("c.txt", "d.txt", syntax="rfc8141").to_parquet("one.parquet")
        assert Path("all.parquet").read_bytes() == Path("one.parquet").read_bytes()
        assert rows("all.parquet")[0]["spelling_count"] == 140
        assert list(report.remarks()) == []

    @pytest.mark.full
    def test_little_memory(self):
        """Rows that do not fit into the memory are spilled; the result is the same, and no files are left."""
        for name, step in (("c", 7919), ("d", 104729)):
            lines = [f"urn:x:{number * step % 50_021:060} URN:x:{number:060}" for number in range(30_000)]
            Path(f"{name}.txt").write_text("\n".join(lines))
            write_partial(f"{name}.partial", f"{name}.txt", memory="1MB")
        before = set(Path().iterdir())
        urnscan.merge(["c.partial", "d.partial"], "all.parquet", memory="1MB")
        assert {*Path().iterdir()} - before == {Path("all.parquet")}
        urnscan.scan("c.txt", "d.txt").to_parquet("one.parquet")
        assert Path("all.parquet").read_bytes() == Path("one.parquet").read_bytes()

    def test_custom_rules(self):
        """The file has the rules of its run, so `valid` and `problem` are those of one run."""
        Path("rules.toml").write_text(RULES)
        for name in "ab":
            write_partial(f"{name}r.partial", f"{name}.txt", rules="rules.toml", equivalence="namespace")
        Path("rules.toml").rename("moved.toml")
        urnscan.merge(["ar.partial", "br.partial"], "all.parquet")
        urnscan.scan("a.txt", "b.txt", rules="moved.toml", equivalence="namespace").to_parquet("one.parquet")
        assert Path("all.parquet").read_bytes() == Path("one.parquet").read_bytes()
        assert {row["urn"]: row["problem"] for row in rows("all.parquet")}["urn:foo:z"] == "template"

    def test_an_input_of_two_runs(self):
        """It counts twice, and that is reported."""
        write_partial("again.partial", "a.txt")
        (remark,) = urnscan.merge(["a.partial", "b.partial", "again.partial"], "all.parquet").remarks()
        assert remark.startswith("1 input with the same name in several partial results")

    def test_nothing_in_them(self):
        """A share without a URN is a good share."""
        Path("none.txt").write_text("none")
        write_partial("none.partial", "none.txt")
        for named, inputs in (
            (["none.partial", "a.partial"], ["none.txt", "a.txt"]),
            (["none.partial"], ["none.txt"]),
        ):
            urnscan.merge(named, "all.parquet", force=True)
            urnscan.scan(*inputs).to_parquet("one.parquet", force=True)
            assert Path("all.parquet").read_bytes() == Path("one.parquet").read_bytes()


def column(name, values):
    """A function that replaces a column of a table."""

    def replaced(table):
        at = table.schema.names.index(name)
        return table.set_column(
            at, table.schema.field(at), pa.array(values(table.column(at).to_pylist()), table.schema.field(at).type)
        )

    return replaced


@pytest.mark.usefixtures("folder")
class TestRefused:
    """One line says what is wrong, and no file is written."""

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                {"trim": True},
                "trim is off in a.partial, and on in c.partial; merge needs tables made with the same options",
            ),
            ({"encoding": "utf-16"}, "encoding is not given in a.partial, and utf-16 in c.partial"),
            ({"column": ["note"]}, "column is not given in a.partial, and note in c.partial"),
            ({"max_size": 10**6}, "max-size is 10000000000000 in a.partial, and 1000000 in c.partial"),
        ],
        ids=str,
    )
    def test_other_options(self, options, said):
        """A mix of options would be the result of no run: also of those that tables do not keep, as the result is exact."""
        Path("c.txt").write_bytes("urn:foo:z".encode("utf-16"))
        write_partial("c.partial", "c.txt", **options)
        with pytest.raises(FatalError) as error:
            urnscan.merge(["a.partial", "c.partial"], "all.parquet")
        assert str(error.value).startswith(said)
        assert not Path("all.parquet").exists()

    def test_other_kinds(self):
        """Tables are refused beside partial results, and partial results where tables are needed."""
        urnscan.scan("a.txt").to_parquet("a.parquet")
        with pytest.raises(
            FatalError,
            match=r"a\.parquet: contains classes, but b\.partial contains partial results; name tables of one",
        ):
            urnscan.merge(["b.partial", "a.parquet"], "all.parquet")
        with pytest.raises(FatalError, match="classes is for tables of occurrences; these contain partial results"):
            urnscan.merge("b.partial", classes="all.parquet")
        with pytest.raises(
            FatalError, match=r"b\.partial: contains partial results \(urnscan --partial\), not classes"
        ):
            urnscan.diff("a.parquet", "b.partial")
        assert not Path("all.parquet").exists()

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (column("urn", lambda urns: ["x" for _ in urns]), "the column urn contains other texts than URNs"),
            (column("urn", lambda urns: urns[::-1]), "rows are not as urnscan wrote them"),
            (column("source", lambda names: [None for _ in names]), "rows are not as urnscan wrote them"),
            (column("first_source", lambda places: [-1 for _ in places]), "rows are not as urnscan wrote them"),
            (column("last_source", lambda places: [2**31 - 1 for _ in places]), "rows are not as urnscan wrote them"),
            (column("sources", lambda counts: [0 for _ in counts]), "rows are not as urnscan wrote them"),
            (column("sources", lambda counts: [1 for _ in counts]), "rows are not as urnscan wrote them"),
            (
                column("occurrence_count", lambda counts: [-5 for _ in counts]),
                "the column occurrence_count has values that",
            ),
            (lambda table: table.drop_columns(["sources"]), "has no column "),
        ],
    )
    def test_rows_that_lie(self, rows, said):
        """Hostile input: compiled code gets only rows whose order, numbers and texts it expects."""
        changed("a.partial", "c.partial", rows)
        with pytest.raises(FatalError) as error:
            urnscan.merge(["b.partial", "c.partial"], "all.parquet")
        assert str(error.value).startswith("c.partial: ")
        assert said in str(error.value)
        assert "\n" not in str(error.value)
        assert not Path("all.parquet").exists()

    @pytest.mark.parametrize(
        ("entries", "said"),
        [
            ({"partial": None}, "its metadata have no options of a partial result"),
            ({"partial": {}}, "its metadata have no valid options of a run"),
            ({"version": "0.0.1"}, "was written by urnscan 0.0.1, and this is"),
            ({"syntax": "rfc1"}, "its metadata have no valid options of a run"),
            ({"syntax": ["rfc2141"]}, "its metadata have no valid options of a run"),
            ({"counts": [1]}, "its metadata have no counts of a run"),
            ({"schema": 1}, "(edition 1 of the tables, not 2 or 3); scan again"),
            ({"rules": "0" * 64}, "the rules in it are not those of its run"),
            ({"partial": {"rules_text": "x = "}}, "c.partial, its rules:1: invalid TOML"),
        ],
        ids=str,
    )
    def test_metadata_that_lie(self, entries, said):
        """Hostile input: options are read as options, and nothing in a file is run."""
        changed("a.partial", "c.partial", metadata=lambda told: told | entries)
        with pytest.raises(FatalError) as error:
            urnscan.merge("c.partial", "all.parquet")
        assert str(error.value).startswith("c.partial")
        assert said in str(error.value)
        assert "\n" not in str(error.value)

    def test_cut_off(self):
        """A copy that broke off, at any place, is one line."""
        data = Path("a.partial").read_bytes()
        for end in range(0, len(data), 97):
            Path("c.partial").write_bytes(data[:end])
            with pytest.raises(FatalError) as error:
                urnscan.merge(["c.partial", "b.partial"], "all.parquet")
            said = "truncated Parquet file; copy it again" if end > 3 else "is not a Parquet file"
            assert str(error.value).startswith(f"c.partial: {said}")

    def test_the_name_of_the_output(self):
        """The suffix says that it is no table; --force replaces one, as it replaces a table."""
        with pytest.raises(FatalError, match=r"c\.parquet: a partial result is not a table; use \.partial"):
            write_partial("c.parquet", "a.txt")
        with pytest.raises(FatalError, match=r"a\.partial: exists already"):
            write_partial("a.partial", "a.txt")
