"""`urnscan merge TABLE.parquet... -o FILE`: one table of several, whole or not at all."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from urnscan.tables.output_file import SHARDS_SUFFIX

pytestmark = pytest.mark.full


@pytest.fixture
def scanned(urnscan):
    """The command in a folder with tables of two runs, and of one run over both inputs."""
    urnscan.write("a.txt", b"urn:isbn:1 URN:isbn:1 urn:foo:z")
    urnscan.write("b.txt", b"URN:isbn:1 urn:bar:b")
    for name, inputs in (("a", ["a.txt"]), ("b", ["b.txt"]), ("one", ["a.txt", "b.txt"])):
        urnscan(*inputs, "-o", f"{name}.parquet", "--occurrences", f"{name}-o.parquet", "--quiet")
    return urnscan


@pytest.mark.core
def test_merge(scanned):
    """Classes and occurrences; the summary tells what was merged."""
    result = scanned("merge", "a.parquet", "b.parquet", "-o", "all.parquet")
    assert result.err.startswith("urnscan: 5 occurrences, 3 classes, 2 tables, ")
    assert result.err.endswith(" -> all.parquet\n")
    assert (scanned.folder / "all.parquet").read_bytes() == (scanned.folder / "one.parquet").read_bytes()
    assert scanned("merge", "a-o.parquet", "b-o.parquet", "-o", "o.parquet", "--quiet").err == ""
    assert pq.read_table(scanned.folder / "o.parquet").equals(pq.read_table(scanned.folder / "one-o.parquet"))


def test_classes_of_occurrences(scanned):
    """Both tables are those of one run; either may be left out, but not both."""
    places = ["a-o.parquet", "b-o.parquet"]
    result = scanned("merge", *places, "-o", "o.parquet", "--classes", "c.parquet")
    assert result.err.startswith("urnscan: 5 occurrences, 3 classes, 2 tables, ")
    assert result.err.endswith(" -> o.parquet, c.parquet\n")
    for made, name in (("o.parquet", "one-o.parquet"), ("c.parquet", "one.parquet")):
        assert (scanned.folder / made).read_bytes() == (scanned.folder / name).read_bytes()
    assert scanned("merge", *places, status=2).err == (
        "urnscan: nothing to write; name a table with -o FILE or --classes FILE\n"
    )
    refused = scanned("merge", "a.parquet", "--classes", "new.parquet", status=2)
    assert refused.err == "urnscan: --classes is for tables of occurrences; these contain classes\n"


def test_errors_are_one_line_and_nothing_is_lost(scanned):
    """What exists stays without --force; a bad input, and a bad option, end with status 2."""
    before = (scanned.folder / "b.parquet").read_bytes()
    scanned("a.txt", "-o", "a.xlsx", "--quiet")
    for arguments, said in (
        (["a.parquet", "-o", "b.parquet"], "b.parquet: exists already; --force replaces it"),
        (
            ["a.parquet", "b.parquet", "-o", "b.parquet", "--force"],
            "b.parquet: is an input and an output; name another output",
        ),
        (
            ["a.txt", "-o", "new.parquet"],
            "a.txt: is not a Parquet file; name a file that urnscan -o, urnscan --occurrences or urnscan --partial wrote",
        ),
        (
            ["a.xlsx", "-o", "new.parquet"],
            "a.xlsx: is an Excel file, which is not read; write the table as .parquet, too",
        ),
        (["a.parquet", "-o", "new.txt"], "new.txt: unknown output format; use .parquet, .xlsx, .csv"),
        (["a.parquet", "-o", "-"], "-: only a scan writes to standard output"),
        (
            ["a.parquet", "-j", "0", "-o", "new.parquet"],
            "-j: must be an integer of at least 1, not '0' (see urnscan merge --help)",
        ),
    ):
        result = scanned("merge", *arguments, status=2)
        assert result.err.startswith(f"urnscan: {said}")
        assert len(result.err.splitlines()) == 1
    assert (scanned.folder / "b.parquet").read_bytes() == before
    assert not (scanned.folder / "new.parquet").exists()


def test_more_tables_than_files_that_may_be_open(scanned):
    """The command asks the system for more; a job of a cluster writes thousands of tables."""
    (scanned.folder / "parts").mkdir()
    for number in range(100):
        (scanned.folder / f"parts/{number}.parquet").write_bytes((scanned.folder / "b.parquet").read_bytes())
    through = ["sh", "-c", 'ulimit -Sn 64; exec "$@"', "sh"]
    result = scanned("merge", "parts", "-o", "all.parquet", through=through)
    assert "urnscan: 200 occurrences, 2 classes, 100 tables, " in result.err


def test_remarks(scanned):
    """What may count twice is told, also with --quiet."""
    scanned("a.txt", "-o", "again.parquet", "--quiet")
    result = scanned("merge", "a.parquet", "again.parquet", "-o", "all.parquet", "--quiet")
    assert result.err == (
        "urnscan: 2 classes with the same first source in several tables: if it is the same input, it counts several "
        "times there\n"
    )


@pytest.mark.parametrize("option", ["-o", "--partial"])
def test_failures_of_the_runs(scanned, option):
    """A merge reports which runs could not read something; the exit status stays 0, as nothing more fails."""
    suffix = "partial" if option == "--partial" else "parquet"
    scanned("a.txt", "missing.txt", option, f"x.{suffix}", "--quiet", status=1)
    scanned("b.txt", "gone.txt", "lost.txt", option, f"y.{suffix}", "--quiet", status=1)
    result = scanned("merge", f"x.{suffix}", f"y.{suffix}", "-o", "xy.parquet", "--quiet")
    assert result.err == f"urnscan: 3 failures in the runs of x.{suffix}, y.{suffix}; see the messages of these runs\n"


@pytest.mark.parametrize("names", [["parts"], ["parts/*.partial"], ["parts[1]"]])
def test_unfinished_runs(scanned, names):
    """What an interrupted run has kept is not in the result, and is reported: a part that is missing is no silence."""
    folder = names[0].partition("/")[0]
    (scanned.folder / folder).mkdir()
    scanned("a.txt", "--partial", f"{folder}/1.partial", "--quiet")
    (scanned.folder / f"{folder}/.2.partial{SHARDS_SUFFIX}").mkdir()
    result = scanned("merge", *names, "-o", "all.parquet", "--quiet")
    assert result.err == (
        f"urnscan: {folder}/2.partial: unfinished, so not in the result; continue with --resume, and merge again\n"
    )


@pytest.mark.parametrize("how", ["-o", "--partial"])
@pytest.mark.parametrize("option", [[], ["--nid", "isbn,schemas-microsoft-com"]])
def test_it_proposes_what_one_run_proposes(urnscan, how, option):
    """Who scans in jobs reads the summary of the merge only: the lines below it are those of one run over all inputs."""
    urnscan.write("a.txt", b"urn:isbn:0-395-36341-1 urn:isbn:0395363411, urn:foo:a#b")
    urnscan.write("b.txt", "urn:isbn:9780395363416 urn:foo:1ü urn:foo:a&b urn:schemas-microsoft-com:vml".encode())
    inputs = ["a.txt", "b.txt"]
    for name in inputs:
        urnscan(name, how, f"{name}.{'parquet' if how == '-o' else 'partial'}", *option)
    tables = [name for name in urnscan.names() if name.endswith((".parquet", ".partial"))]
    _, *merged = urnscan("merge", *tables, "-o", "all.parquet").err.splitlines()
    _, *one = urnscan(*inputs, "-o", "one.parquet", *option).err.splitlines()
    assert merged == one
    assert len(one) == (2 if option else 6)
    assert urnscan("merge", *tables, "-o", "again.parquet", "--quiet").err == ""


def test_folders_of_spark_are_named(scanned):
    """merge and report read no folder of Spark; the line once was "its metadata have no counts of a run; scan again"."""
    (scanned.folder / "classes").mkdir()
    scanned.write("classes/_urnscan.json", b"{}")
    (scanned.folder / "a.parquet").rename(scanned.folder / "classes" / "part-00000.parquet")
    assert scanned("merge", "classes/", "-o", "all.parquet", status=2).err == (
        "urnscan: classes/part-00000.parquet: is a part of a folder that Spark wrote; urnscan.spark.classes merges such "
        "folders, from their occurrences\n"
    )
    assert scanned("report", "classes/", "-o", "a.html", status=2).err == (
        "urnscan: classes/: is a folder that Spark wrote; make it one file first, in DuckDB: "
        "COPY (FROM 'classes/*.parquet') TO 'one.parquet'\n"
    )
