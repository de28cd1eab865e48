"""`urnscan diff OLD.parquet NEW.parquet`: lines, JSON or a table, and the exit status of diff."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.full


@pytest.fixture
def scanned(urnscan):
    """The command in a folder with the tables of two runs."""
    for name, text in (("old", b"urn:foo:a urn:foo:b urn:foo:z"), ("new", b"urn:foo:b URN:foo:b urn:bar:c urn:foo:z")):
        urnscan.write("text.txt", text)
        urnscan("text.txt", "-o", f"{name}.parquet", "--quiet")
    return urnscan


@pytest.mark.core
def test_lines(scanned):
    """A line for each class that differs; the exit status is that of diff."""
    result = scanned("diff", "old.parquet", "new.parquet", status=1)
    assert result.out.decode().splitlines() == [
        "+ urn:bar:c",
        "- urn:foo:a",
        "~ urn:foo:b occurrence_count 1 -> 2, spelling_count 1 -> 2, spelling URN:foo:b 0 -> 1",
    ]
    assert result.err.startswith("urnscan: 1 came, 1 went, 1 changed, ")
    assert scanned("diff", "old.parquet", "old.parquet", "--quiet", status=0).out == b""
    assert scanned("diff", "old.parquet", "none.parquet", status=2).err == (
        "urnscan: none.parquet: no such file or folder\n"
    )


def test_clusters(urnscan):
    """Two tables of clusters are told in one line, with the page that has the SQL for them."""
    urnscan.write("dump.csv", b"id,isbn\na,9783999990521\n")
    urnscan("dedup", "dump.csv", "--fields", "-o", "clusters.parquet", "--quiet")
    assert urnscan("diff", "clusters.parquet", "clusters.parquet", status=2).err == (
        "urnscan: clusters.parquet: contains clusters, and only classes are compared; man urnscan-diff compares "
        "clusters in SQL\n"
    )


def test_namespaces(scanned):
    """Only the classes that are chosen are compared; an unknown namespace is told."""
    chosen = scanned("diff", "old.parquet", "new.parquet", "--nid", "bar", "--quiet", status=1)
    assert chosen.out == b"+ urn:bar:c\n"
    others = scanned("diff", "old.parquet", "new.parquet", "--not-nid", "foo,bar", status=0)
    assert others.out == b""


def test_json_and_tables(scanned):
    """Both have the same rows; an output is never an input, and nothing is replaced without --force."""
    printed = scanned("diff", "old.parquet", "new.parquet", "--json", "--quiet", status=1).out.splitlines()
    assert [json.loads(line)["change"] for line in printed] == ["came", "went", "changed"]
    assert scanned("diff", "old.parquet", "new.parquet", "-o", "d.jsonl", status=1).out == b""
    assert (scanned.folder / "d.jsonl").read_bytes().splitlines() == printed
    result = scanned("diff", "old.parquet", "new.parquet", "-o", "new.parquet", "--force", status=2)
    assert result.err == "urnscan: new.parquet: is an input and an output; name another output\n"
    assert "exists already" in scanned("diff", "old.parquet", "new.parquet", "-o", "d.jsonl", status=2).err
