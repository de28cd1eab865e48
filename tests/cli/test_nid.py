"""`--nid` and `--not-nid`: only names of some namespaces count."""

from __future__ import annotations

import json
import re

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.full

NAMES = "urn:isbn:1 urn:nbn:de:1 URN:NBN:de-2 urn:nbn:den:1 urn:nbn:fi-1 urn:x-a:1 urn:issn:1 urn:isbn:1,".split()
NO_SUCH = "not registered, used as it is"


@pytest.fixture
def scanned(urnscan):
    """A function: the texts that a run with these arguments finds, and the run."""
    urnscan.write("a.txt", "\n".join([*NAMES, "urn:isbn:%zz urn:issn: urn:x y"]).encode())

    def scan(*arguments):
        result = urnscan("a.txt", "-o", "c.parquet", "--occurrences", "o.parquet", "--force", *arguments)
        return [text for (text,) in urnscan.rows("o.parquet", "text")], result

    scan.command = urnscan
    return scan


@pytest.mark.core
def test_a_list_and_its_summary(scanned):
    """Each namespace in any case; `nbn:de` with what it parts from; then `--not-nid` takes away."""
    found, result = scanned("--nid", "ISBN,nbn:de", "--nid", "x-*", "--not-nid", "nbn:de:")
    assert found == ["urn:isbn:1", "URN:NBN:de-2", "urn:x-a:1", "urn:isbn:1,"]
    assert re.match(r"urnscan: 1 input, \d+ bytes, 4 occurrences, 4 occurrences left out, 4 classes, ", result.summary)
    assert result.said == []
    made = [
        json.loads(pq.read_metadata(scanned.command.folder / name).metadata[b"urnscan"])
        for name in ("c.parquet", "o.parquet")
    ]
    assert made[0] == made[1]
    assert (made[0]["nid"], made[0]["not_nid"]) == (["isbn", "nbn:de", "x-*"], ["nbn:de:"])
    assert (made[0]["counts"]["occurrences"], made[0]["counts"]["left_out"]) == (4, 4)


def test_without_them_nothing_is_said_of_it(scanned):
    found, result = scanned()
    assert found == NAMES
    assert "left out" not in result.err


def test_only_not_nid(scanned):
    found, result = scanned("--not-nid", "nbn,isbn")
    assert found == ["urn:x-a:1", "urn:issn:1"]
    assert "2 occurrences, 6 occurrences left out" in result.summary


def test_rejects(scanned):
    """A reject is left out by its NID; one without a NID to tell is listed."""
    scanned("--nid", "isbn", "--rejects", "r.parquet")
    assert scanned.command.rows("r.parquet", "text") == [("urn:isbn:%zz",), ("urn:x",)]


@pytest.mark.parametrize("option", [[], ["--unique"], ["--json"], ["--count"], ["-C", "3"], ["--recover", "all"]])
def test_printed(scanned, option):
    """The lines of the others, as they are without the option."""
    lines = scanned.command.printed("a.txt", *option)
    some = scanned.command.printed("a.txt", *option, "--nid", "nbn")
    if option == ["--count"]:
        assert (lines, some) == (["      8 a.txt"], ["      4 a.txt"])
    else:
        assert some == [line for line in lines if "nbn:" in line.lower()] != []


@pytest.mark.parametrize("name", [pytest.param("a b", marks=pytest.mark.core), "", "isbn,,issn", "urn"])
def test_what_cannot_be_is_refused(scanned, name):
    for option in ("--nid", "--not-nid"):
        (line,) = scanned.command("a.txt", option, name, status=2).err.splitlines()
        assert line.startswith(f"urnscan: {option}")


@pytest.mark.core
def test_what_is_not_registered_is_told(scanned):
    """A NID like a registered one may be mistyped: a line says what may be meant. All others have no line, also not
    those of vocabularies of office files, which a line of urnscan itself proposes for `--not-nid`.
    """
    found, result = scanned("--nid", "isbm,x-a,schemas-*,isbn", "--not-nid", "schemas-microsoft-com,foo:bar")
    assert found == ["urn:isbn:1", "urn:x-a:1", "urn:isbn:1,"]
    assert result.said == [f"urnscan: --nid isbm: {NO_SUCH}; is it isbn?"]
    assert scanned("--nid", "isbm", "--quiet")[1].err == f"urnscan: --nid isbm: {NO_SUCH}; is it isbn?\n"


class TestDedup:
    """Only identifiers of these namespaces join."""

    DUMP = b"urn:isbn:1 urn:foo:a\nurn:isbn:1 urn:foo:b\nurn:foo:b\n"

    def clusters(self, urnscan, *arguments):
        result = urnscan(
            *("dedup", "-", "--record", "line", "-o", "c.parquet", "--force", "--report", "r.html", *arguments),
            stdin=self.DUMP,
        )
        return urnscan.rows("c.parquet", "cluster", "urns"), result.err.splitlines()

    def test_what_joins(self, urnscan):
        assert [cluster for cluster, _ in self.clusters(urnscan)[0]] == [1, 1, 1]
        rows, (*_, line) = self.clusters(urnscan, "--nid", "isbn")
        assert rows == [(1, ["urn:isbn:1"]), (1, ["urn:isbn:1"]), (2, [])]
        assert (
            "2 clusters, 1 duplicate, 1 group in doubt, 1 without identifiers that count, 3 occurrences left out"
            in line
        )
        told = json.loads(pq.read_metadata(urnscan.folder / "c.parquet").metadata[b"urnscan"])
        assert (told["nid"], told["counts"]["left_out"]) == (["isbn"], 3)
        assert "<code>--nid</code></bdi></th><td><bdi>isbn</bdi></td>" in (urnscan.folder / "r.html").read_text()

    def test_a_dump_without_any_that_counts(self, urnscan):
        _, (line, _) = self.clusters(urnscan, "--nid", "doi")
        assert line == "urnscan: -: none of its 3 records contains a URN that counts (--nid, --not-nid)"


OFFICE = b"<a xmlns:v='urn:schemas-microsoft-com:vml'/> urn:isbn:9783999990521 urn:schemas-microsoft-com:office:word"


@pytest.mark.parametrize(
    "words", [[], ["--unique"], ["-o", "a.parquet"], ["--occurrences", "a.parquet"], ["--by", "nid"]]
)
def test_names_of_office_files_are_told(urnscan, words):
    """Word, Excel and LibreOffice write them into each file: a line says how to do without, unless the user chose names."""
    urnscan.write("a.xml", OFFICE)
    line = (
        "urnscan: 2 occurrences name vocabularies of office files, such as urn:schemas-microsoft-com:…; "
        "--not-nid schemas-microsoft-com leaves them out"
    )
    assert line in urnscan("a.xml", "--trim", *words).err.splitlines()
    for more in (["-q"], ["--nid", "schemas-microsoft-com"], ["--not-nid", "schemas-microsoft-com"]):
        assert "office files" not in urnscan("a.xml", "--trim", "--force", *more, *words).err


@pytest.mark.full
def test_names_of_both_office_programs(urnscan):
    """A folder of DOCX and ODT: what the line proposes leaves out just these names."""
    urnscan.write("a.xml", OFFICE + b" urn:oasis:names:tc:opendocument:xmlns:office:1.0 urn:oasis:names:tc:SAML:2.0")
    said = urnscan("a.xml", "--trim", "-o", "a.parquet").err
    assert "3 occurrences name vocabularies" in said
    (proposed,) = re.findall(r"--not-nid (\S+) leaves", said)
    assert urnscan.printed("a.xml", "--trim", "-u", "-q", "--not-nid", proposed) == [
        "      1 urn:isbn:9783999990521",
        "      1 urn:oasis:names:tc:SAML:2.0",
    ]
