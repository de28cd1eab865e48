"""`urnscan report CLASSES.parquet -o FILE.html`: a page of what a run found, whole or not at all."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Command

pytestmark = pytest.mark.full

TEXT = b"urn:isbn:0-395-36341-1 URN:ISBN:0-395-36341-1, urn:isbn:0-395-36341-6 urn:foo:a"
HOSTILE = "<script>alert(1)<\u202escript>.txt"


@pytest.fixture(scope="module")
def tables(tmp_path_factory, home):
    """The classes and the occurrences of a run."""
    urnscan = Command(tmp_path_factory.mktemp("tables"), home)
    urnscan.write("a.txt", TEXT)
    urnscan.write(HOSTILE, b"see urn:foo:a")
    urnscan(".", "-o", "c.parquet", "--occurrences", "o.parquet", "--trim", "--quiet")
    return {name: (urnscan.folder / name).read_bytes() for name in ("c.parquet", "o.parquet")}


@pytest.fixture
def scanned(urnscan, tables):
    """The command in a folder with these."""
    for name, data in tables.items():
        urnscan.write(name, data)
    return urnscan


@pytest.fixture(scope="module")
def others(urnscan_of_module):
    """The command in a folder with the tables of two runs and of a deduplication, and with what is none."""
    urnscan = urnscan_of_module
    urnscan.write("a.txt", TEXT)
    urnscan.write("b.txt", b"urn:foo:a")
    urnscan.write("empty", b"")
    urnscan("a.txt", "-o", "c.parquet", "--occurrences", "o.parquet")
    urnscan("b.txt", "--occurrences", "p.parquet")
    urnscan("dedup", "b.txt", "--record", "line", "-o", "d.parquet")
    data = (urnscan.folder / "c.parquet").read_bytes()
    urnscan.write("half.parquet", data[: len(data) // 2])
    return urnscan


def page(urnscan, name="r.html"):
    return (urnscan.folder / name).read_text(encoding="utf-8")


class TestName:
    """A page is HTML: a name that says something else is refused; a name without a suffix says nothing else."""

    @pytest.mark.parametrize("name", ["r.pdf", "r.html.xz", "r.md.gz", "r.2026"])
    def test_of_another_form(self, scanned, name):
        result = scanned("report", "c.parquet", "-o", name, status=2)
        assert result.err.startswith(f"urnscan: {name}: a page is HTML; use .html")
        assert result.err.endswith("; use .html\n")
        assert name not in scanned.names()

    @pytest.mark.parametrize("name", ["r", "r.HTM", "r.xhtml", "r.html.gz"])
    def test_of_a_page(self, scanned, name):
        scanned("report", "c.parquet", "-o", name)
        assert name in scanned.names()

    def test_of_a_page_about_duplicates(self, scanned):
        """`urnscan dedup --report` has the same rule."""
        result = scanned("dedup", "a.txt", "--record", "line", "--report", "r.pdf", status=2)
        assert "r.pdf: a page is HTML; use .html" in result.err

    def test_of_no_name(self, scanned):
        """Without -o the page is in the current folder, and has the name of the table. It replaces nothing."""
        (scanned.folder / "deep.er").mkdir()
        scanned.write("a.txt", TEXT)
        scanned("a.txt", "-o", "deep.er/d.csv.gz", "--quiet")
        assert scanned("report", "deep.er/d.csv.gz").err.endswith(" -> d.html\n")
        assert "d.html" in scanned.names()
        assert scanned("report", "deep.er/d.csv.gz", status=2).err == (
            "urnscan: d.html: exists already; --force replaces it\n"
        )
        assert scanned("report", "c.parquet").err.endswith(" -> c.html\n")

    def test_of_tables_as_text(self, scanned):
        """The page is that of the same tables in Parquet, except for the options of the run, which only these have."""
        scanned.write("a.txt", TEXT)
        run = ["a.txt", "--trim", "--quiet"]
        pages = []
        for form in "parquet", "csv", "jsonl":
            scanned(*run, "-o", f"t.{form}", "--occurrences", f"u.{form}")
            scanned("report", f"t.{form}", "--occurrences", f"u.{form}", "-o", f"{form}.html")
            text = page(scanned, f"{form}.html").replace(f"t.{form}", "TABLE")
            pages.append([text.split('<section id="settings"')[0], text.split('id="data"')[1]])
        assert pages[0] == pages[1] == pages[2]


class TestReport:
    @pytest.mark.core
    def test_what_it_says(self, scanned):
        result = scanned("report", "c.parquet", "--occurrences", "o.parquet", "-o", "r.html")
        assert re.fullmatch(r"urnscan: 5 occurrences, 3 classes, \d+\.\d s -> r\.html\n", result.err)
        assert result.out == b""
        assert "check-digit" in page(scanned)
        assert "end of the text" in page(scanned)
        assert "<script>alert" not in page(scanned)
        assert "&lt;script&gt;alert(1)" in page(scanned)

    def test_of_own_rules(self, scanned):
        """With the file of the run nothing is said; other rules, and no rules, are told in a line."""
        said = b'[foo]\ntitle = "Our things"\nrule = "base"\nequality = "guide"\n'
        scanned.write("own.toml", said + b"resolvers = [{names = '.+', url = 'https://foo.example/{nss}'}]\n")
        scanned.write("others.toml", said)
        scanned.write("a.txt", TEXT)
        scanned("a.txt", "--rules", "own.toml", "-o", "own.parquet", "--quiet")
        run = ["report", "own.parquet", "-o", "r.html", "--force"]
        first = scanned(*run, "--rules", "own.toml").err.splitlines()[0]
        assert re.fullmatch(r"urnscan: \d occurrences, .*", first)
        assert scanned(*run).err.startswith("urnscan: the run had custom rules; give their file to --rules ")
        assert scanned(*run, "--rules", "others.toml").err.startswith(
            "urnscan: others.toml: the page has the titles and links of these rules; the run had different ones (SHA-256 "
        )
        assert (
            "these rules; the run had none" in scanned("report", "c.parquet", "-o", "c.html", "--rules", "own.toml").err
        )
        assert scanned(*run, "--rules", "none.toml", status=2).err.startswith(
            "urnscan: none.toml: cannot be read as rules"
        )

    def test_of_the_classes_alone(self, scanned):
        assert scanned("report", "c.parquet", "-o", "r.html", "--quiet").err == ""
        assert "The classes do not tell" in page(scanned)

    def test_of_nothing_found(self, urnscan):
        urnscan.write("a.txt", b"nothing")
        urnscan("a.txt", "-o", "c.parquet", "--occurrences", "o.parquet")
        urnscan("report", "c.parquet", "--occurrences", "o.parquet", "-o", "r.html")
        assert "There are no classes." in page(urnscan)

    def test_an_output_that_exists_is_replaced_with_force_alone(self, scanned):
        scanned.write("r.html", b"mine")
        result = scanned("report", "c.parquet", "-o", "r.html", status=2)
        assert result.err == "urnscan: r.html: exists already; --force replaces it\n"
        scanned("report", "c.parquet", "-o", "r.html", "--force")
        assert page(scanned).startswith("<!DOCTYPE html>")

    def test_what_it_is_made_of_is_never_replaced(self, scanned):
        for words in (
            ["c.parquet", "-o", "./c.parquet"],
            ["c.parquet", "--occurrences", "o.parquet", "-o", "o.parquet"],
        ):
            assert "is an input and an output" in scanned("report", *words, "--force", status=2).err
        scanned("report", "c.parquet", "--occurrences", "o.parquet", "-o", "r.html")

    def test_it_is_compressed_by_its_name(self, scanned):
        scanned("report", "c.parquet", "-o", "r.html.gz")
        assert (scanned.folder / "r.html.gz").read_bytes()[:2] == b"\x1f\x8b"

    def test_a_name_that_is_not_utf8(self, scanned):
        """A file may be called anything."""
        (scanned.folder / "c.parquet").rename(scanned.folder / b"c\xff.parquet".decode(errors="surrogateescape"))
        scanned("report", b"c\xff.parquet", "-o", "r.html")
        assert "c<span" in page(scanned)

    def test_help(self, urnscan):
        assert "usage: urnscan report CLASSES [-o FILE.html]" in urnscan("report", "--help").out.decode()
        assert "urnscan report" in urnscan("--help").out.decode()

    def test_an_input_of_that_name(self, urnscan):
        urnscan.write("report", b"urn:foo:a")
        assert urnscan.printed("./report") == ["./report:1:urn:foo:a"]


class TestBadInput:
    """2, and one line that says what is wrong; nothing is written."""

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (["none.parquet"], "none.parquet: no such file or folder"),
            (["."], ".: is a folder"),
            (["empty"], "empty: is not a Parquet file; name a file that urnscan -o wrote"),
            (["a.txt"], "a.txt: is not a Parquet file; name a file that urnscan -o wrote"),
            (["half.parquet"], "half.parquet: truncated Parquet file; "),
            (
                ["o.parquet"],
                "o.parquet: contains occurrences (urnscan --occurrences), not classes; urnscan -o writes classes",
            ),
            (["d.parquet"], "d.parquet: contains clusters (urnscan dedup -o), not classes; urnscan -o writes classes"),
            (
                ["c.parquet", "--occurrences", "c.parquet"],
                "c.parquet: contains classes (urnscan -o), not occurrences; ",
            ),
            (
                ["c.parquet", "--occurrences", "p.parquet"],
                "p.parquet: contains 1 occurrences, and the classes of c.parquet",
            ),
            (
                ["https://user:secret@example.org/c.parquet"],
                "https://example.org/c.parquet: a report reads only files on this machine",
            ),
        ],
        ids=lambda value: value[-1] if isinstance(value, list) else "",
    )
    def test_other_files(self, others, words, reason):
        before = others.names()
        (line,) = others("report", *words, "-o", "r.html", status=2).err.splitlines()
        assert line.startswith(f"urnscan: {reason}")
        assert others.names() == before

    @pytest.mark.parametrize("words", [[], ["-o", "r.html"], ["c.parquet", "d.parquet", "-o", "r.html"]])
    def test_usage(self, urnscan, words):
        (line,) = urnscan("report", *words, status=2).err.splitlines()
        assert line.endswith("(see urnscan report --help)")
