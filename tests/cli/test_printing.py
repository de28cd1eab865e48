"""What the command prints where no output is a file: colours, counts, sources, classes, and tables in a stream."""

from __future__ import annotations

import io
import json
import os
import subprocess

import pyarrow.parquet as pq
import pytest

from tests.cli.test_terminal import Screen
from tests.support.packed import tar

pytestmark = pytest.mark.full

COLOURED = "\x1b[35ma.txt\x1b[m\x1b[36m:\x1b[m\x1b[32m1\x1b[m\x1b[36m:\x1b[m\x1b[1;31murn:foo:a\x1b[m"


@pytest.fixture
def inputs(urnscan):
    """The command in a folder with five sources, one of them without a URN, and one an archive."""
    urnscan.write("d/1.txt", b"urn:foo:a URN:foo:a, urn:foo:b\n")
    urnscan.write("d/2.txt", b"nothing\n")
    urnscan.write("d/3.tar", tar([("x", b"urn:foo:a"), ("y", b"urn:foo:c")]))
    urnscan.write("d/4.txt", b"urn:isbn:0-395-36341-1 urn:isbn:9780395363416\n" * 2)
    urnscan.write("d/5.txt", b"")
    return urnscan


class TestColours:
    @pytest.fixture(autouse=True)
    def _an_input(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")

    @pytest.fixture
    def screen(self):
        screen = Screen()
        yield screen
        screen.close()

    @pytest.mark.core
    def test_on_a_terminal(self, urnscan, screen):
        urnscan("a.txt", "--quiet", stdout=screen.line)
        assert screen.text == f"{COLOURED}\r\n"

    @pytest.mark.parametrize(
        ("environment", "options"),
        [({"NO_COLOR": "1"}, []), ({"TERM": "dumb"}, []), ({}, ["--color", "never"]), ({}, ["--json"])],
    )
    def test_none_on_a_terminal(self, urnscan, screen, environment, options):
        """NO_COLOR wins over `auto` (no-color.org); JSON has none in any case."""
        urnscan.environment |= environment
        urnscan("a.txt", "-q", *options, stdout=screen.line)
        assert "\x1b" not in screen.text
        assert "urn:foo:a" in screen.text

    def test_an_empty_no_color_says_nothing(self, urnscan, screen):
        urnscan.environment["NO_COLOR"] = ""
        urnscan("a.txt", "-q", stdout=screen.line)
        assert screen.text == f"{COLOURED}\r\n"

    def test_always_and_by_default_in_a_pipe(self, urnscan):
        urnscan.environment["NO_COLOR"] = "1"
        assert urnscan.printed("a.txt", "--color", "always") == [COLOURED]
        assert urnscan.printed("a.txt", "--color=auto") == ["a.txt:1:urn:foo:a"]


class TestCount:
    @pytest.mark.core
    def test_sources_without_any_have_0(self, inputs):
        """An archive is one source, an input that cannot be read has no line."""
        assert inputs.printed("d", "nope", "--count", status=1) == [
            "      3 d/1.txt",
            "      0 d/2.txt",
            "      2 d/3.tar",
            "      4 d/4.txt",
            "      0 d/5.txt",
        ]

    @pytest.mark.parametrize("jobs", ["1", "3"])
    def test_many_and_large_files_stay_in_order(self, urnscan, jobs):
        """A file that several threads scan in parts has one line."""
        counts = {}
        for number in range(3000):
            urnscan.write(f"d/{number:04}", b"urn:foo:a " * (number % 3))
            counts[f"d/{number:04}"] = number % 3
        urnscan.write("d/1234x", b"urn:foo:abcdefgh\n" * 1_500_000)
        urnscan.write("d/1234y", b"nothing at all\n" * 1_500_000)
        counts |= {"d/1234x": 1_500_000, "d/1234y": 0}
        printed = urnscan.printed("d", "-c", "-j", jobs)
        assert printed == [f"{count:7} {name}" for name, count in sorted(counts.items())]

    def test_names_with_colons_are_sorted_by_their_counts(self, urnscan):
        """`sort -rn` needs the count first: a name may have any character that could stand before a count behind it."""
        for name, count in {"a:9": 1, "b:1 0": 12, "c": 3}.items():
            urnscan.write(f"d/{name}", b"urn:foo:a " * count)
        lines = urnscan.printed("d", "-c")
        done = subprocess.run(["sort", "-rn"], input="\n".join(lines), capture_output=True, check=True, text=True)
        assert [line.split(maxsplit=1)[1] for line in done.stdout.splitlines()] == ["d/b:1 0", "d/c", "d/a:9"]

    def test_standard_input(self, urnscan):
        assert urnscan.printed("--count", stdin=b"urn:a:b urn:c:d") == ["      2 -"]

    def test_hostile_names(self, urnscan):
        urnscan.write("a\x1b[31m\n.txt", b"urn:foo:a")
        assert urnscan.printed(".", "-c") == [r"      1 ./a\x1b[31m\n.txt"]
        assert urnscan.printed(".", "-l") == [r"./a\x1b[31m\n.txt"]


class TestSources:
    @pytest.mark.core
    def test_only_those_with_an_occurrence(self, inputs):
        assert inputs.printed("d", "--list-sources") == ["d/1.txt", "d/3.tar", "d/4.txt"]

    def test_each_once(self, urnscan):
        """A large file gives its occurrences in many batches."""
        urnscan.write("a", b"urn:foo:abcdefgh\n" * 1_500_000)
        urnscan.write("b", b"urn:foo:abcdefgh\n")
        assert urnscan.printed("a", "b", "-l") == ["a", "b"]


class TestUnique:
    @pytest.mark.core
    def test_most_frequent_first_then_by_name(self, inputs):
        result = inputs("d", "--unique", "--trim")
        assert result.out.decode().splitlines() == [
            "      3 urn:foo:a",
            "      2 urn:isbn:0-395-36341-1",
            "      2 urn:isbn:9780395363416",
            "      1 urn:foo:b",
            "      1 urn:foo:c",
        ]
        assert "9 occurrences, 5 classes" in result.summary

    def test_classes_are_those_of_the_output(self, inputs):
        """By the rules of the namespaces, trimmed or not, in little memory: one grouping for both."""
        for options in ([], ["--trim"], ["--equivalence", "namespace"], ["--memory", "1MB"]):
            inputs("d", "-o", "c.parquet", "--force", *options)
            classes = sorted(inputs.rows("c.parquet", "urn", "occurrence_count"), key=lambda row: (-row[1], row[0]))
            assert [tuple(line.split()) for line in inputs.printed("d", "--unique", *options)] == [
                (str(count), urn) for urn, count in classes
            ]

    def test_nothing_found(self, urnscan):
        assert urnscan("--unique", stdin=b"nothing").out == b""


class TestByNamespace:
    @pytest.mark.core
    def test_counts_are_those_of_the_tables(self, inputs):
        """The table has the sums of `-o` and `--occurrences`, trimmed or not; `--unique` changes nothing."""
        for options in ([], ["--trim"], ["--equivalence", "namespace", "--unique"]):
            tables = [option for option in options if option != "--unique"]
            inputs("d", "-o", "c.parquet", "--occurrences", "o.parquet", "--force", *tables)
            places = inputs.rows("o.parquet", "nid", "source")
            classes = inputs.rows("c.parquet", "nid", "valid")
            expected = {
                nid: [
                    sum(place[0] == nid for place in places),
                    sum(row[0] == nid for row in classes),
                    sum(row == (nid, False) for row in classes),
                    len({source for name, source in places if name == nid}),
                ]
                for nid, _ in places
            }
            head, *lines = [line.split() for line in inputs.printed("d", "--by", "nid", *options)]
            assert head == ["namespace", "occurrences", "classes", "invalid", "sources"]
            assert {nid: list(map(int, counts)) for nid, *counts in lines} == expected

    def test_nothing_found(self, urnscan):
        assert urnscan.printed("--by", "nid", stdin=b"nothing") == ["namespace  occurrences  classes  invalid  sources"]


class TestCanonical:
    """RFC 2141 §4, RFC 8141 §4.4: "all URN-aware applications MUST offer the option of displaying URNs in this canonical
    form".
    """

    def test_in_the_place_of_the_text(self, inputs):
        """By the level of equivalence; the text around, the order and the places stay as they are."""
        lines = inputs.printed("d", "--trim")
        assert "d/1.txt:1:URN:foo:a" in lines
        lexical = [line.replace("URN:", "urn:") for line in lines]
        assert inputs.printed("d", "--trim", "--canonical") == lexical
        isbn = [line.replace("0-395-36341-1", "9780395363416") for line in lexical]
        assert inputs.printed("d", "--trim", "--canonical", "--equivalence", "namespace") == isbn
        assert inputs.printed("d/1.txt", "--trim", "--canonical", "-C", "2") == [
            "d/1.txt:1:urn:foo:a U",
            "d/1.txt:1:a urn:foo:a, ",
            "d/1.txt:1:, urn:foo:b ",
        ]

    def test_components(self, urnscan):
        """They do not belong to it, but the query does at the level `resolution`."""
        urnscan.write("a.txt", b"URN:foo:a?s=2&c=1#f")
        options = ["a.txt", "--canonical", "--syntax", "rfc2141bis-03"]
        assert urnscan.printed(*options) == ["a.txt:1:urn:foo:a"]
        assert urnscan.printed(*options, "--equivalence", "resolution") == ["a.txt:1:urn:foo:a?c=1&s=2"]


class TestContext:
    """`-C N`: the inputs are read again for the characters around each occurrence."""

    @pytest.mark.core
    def test_characters_on_both_sides(self, urnscan):
        """Characters, not lines, in one line; whatever an input is kept in, also members of one name."""
        urnscan.write("a.txt", "ä see\nurn:foo:a\tand urn:foo:b".encode())
        urnscan.write("b.tar", tar([("x", b"one urn:foo:c"), ("x", b"urn:foo:d two"), ("y", b"urn:foo:e.")]))
        assert urnscan.printed("a.txt", "b.tar", "-C", "6", "--trim") == [
            "a.txt:2:ä see urn:foo:a and u",
            "a.txt:2:a and urn:foo:b",
            "b.tar!/x:1:one urn:foo:c",
            "b.tar!/x:1:urn:foo:d two",
            "b.tar!/y:1:urn:foo:e.",
        ]
        first, *_ = urnscan.printed("a.txt", "--context", "3", "--json")
        row = json.loads(first)
        assert (row["before"], row["text"], row["after"]) == ("ee\n", "urn:foo:a", "\tan")

    def test_large_and_many_files(self, urnscan):
        """Occurrences come in many batches, by several threads; each input is read again once, front to back."""
        urnscan.write("d/0", b"".join(b"<%d urn:foo:%d %d>\n" % (n, n, n) for n in range(600_000)))
        for number in range(1500):
            urnscan.write(f"d/a{number:04}", b"(urn:foo:%d)" % number if number % 2 else b"")
        printed = urnscan.printed("d", "-C", "3", "-j", "3")
        assert len(printed) == 600_000 + 750
        assert printed[599_999] == "d/0:600000:99 urn:foo:599999 59"
        assert printed[-1] == "d/a1499:1:(urn:foo:1499)"

    def test_what_can_be_read_only_once(self, urnscan):
        said = "urnscan: -C reads the inputs twice, but standard input can be read only once; save it to a file\n"
        assert urnscan("-C", "3", stdin=b"urn:a:b", status=2).err == said
        assert urnscan("--files-from", "-", "-C", "3", stdin=b"a.txt", status=2).err == said
        os.mkfifo(urnscan.folder / "fifo")
        with urnscan.start("fifo", "-C", "3") as process:
            (urnscan.folder / "fifo").write_bytes(b"x urn:foo:a y")
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (1, b"fifo:1:urn:foo:a\n")
        assert err.startswith(b"urnscan: fifo: can be read only once: 1 occurrence without the text around\n")

    def test_no_such_width(self, urnscan):
        for width, said in (("-1", "at least 0"), ("10001", "from 0 to 10,000")):
            assert said in urnscan("a.txt", "-C", width, status=2).err


class TestStream:
    """`-o -`: a table goes to standard output, and no file is called `-`."""

    @pytest.mark.core
    def test_parquet_is_that_of_a_file(self, inputs):
        inputs("d", "-o", "c.parquet")
        result = inputs("d", "-o", "-")
        assert result.out == (inputs.folder / "c.parquet").read_bytes()
        assert inputs.names() == ["c.parquet", "d"]
        assert "6 classes" in result.summary

    @pytest.mark.parametrize("option", ["-o", "--occurrences", "--rejects"])
    def test_json_has_the_rows_of_the_file(self, inputs, option):
        inputs.write("d/6.txt", b"urn:urn:x urn:a\\b:c")
        inputs("d", option, "t.parquet")
        printed = [json.loads(line) for line in inputs.printed("d", option, "-", "--json")]
        for row in printed:
            if "stop" in row:
                row["stop"] = row.pop("stop_octet")
        assert printed == pq.read_table(inputs.folder / "t.parquet").to_pylist()
        assert printed

    def test_beside_files(self, inputs):
        result = inputs("d", "--output", "-", "--occurrences", "o.parquet")
        assert pq.read_table(io.BytesIO(result.out)).num_rows == 6
        assert len(inputs.rows("o.parquet", "urn")) == 9
        printed = inputs.printed("d", "-o", "-", "--json", "--occurrences", "o.parquet", "--force")
        assert len(printed) == 6

    def test_a_terminal_gets_no_parquet(self, inputs):
        screen = Screen()
        try:
            result = inputs("d", "-o", "-", stdout=screen.line, status=2)
        finally:
            screen.close()
        assert result.err == (
            "urnscan: -o - would print Parquet to a terminal; add --json, or redirect it with | or >\n"
        )
        assert screen.text == ""

    def test_nothing_is_sent_of_a_run_that_ends(self, inputs):
        assert inputs("nope", "-o", "-", status=2).out == b""
        assert inputs("d", "nope", "--strict", "-o", "-", status=2).out == b""

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")  # noqa: PTH110
    def test_a_full_disk_leaves_no_other_output(self, inputs):
        with open("/dev/full", "wb") as full:  # noqa: PTH123
            result = inputs("d", "-o", "-", "--occurrences", "o.parquet", stdout=full, status=2)
        assert result.err == "urnscan: standard output: cannot be written: No space left on device\n"
        assert inputs.names() == ["d"]

    def test_a_reader_that_is_gone(self, inputs):
        inputs.write("d/6.txt", b"".join(b"urn:foo:%06d\n" % number for number in range(200_000)))
        with inputs.start("d", "-o", "-") as process:
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 0

    @pytest.mark.parametrize("command", [["dedup", "d", "-o"], ["dedup", "d", "--deduplicated"]])
    def test_other_commands_write_files(self, inputs, command):
        said = inputs(*command, "-", status=2).err
        assert said == "urnscan: -: only a scan writes to standard output; name a file (./- for one of this name)\n"
        assert inputs.names() == ["d"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--count -l", "--count and --list-sources exclude each other; choose one"),
        ("--by nid -o a.csv", "--by prints a table; leave out --by or -o"),
        ("--by nid --count", "--by prints a table; leave out --by or --count"),
        ("--unique --count", "--count and --unique exclude each other; choose one"),
        ("--count --json", "--count prints lines; leave out --count or --json"),
        ("--unique --json", "--unique prints lines; for the classes as JSON write -o - --json instead"),
        ("--json -o x", "--json is for printing; leave out --json or -o, or write -o - to print the classes"),
        ("-l --rejects x", "--list-sources is for printing; leave out --list-sources or --rejects"),
        ("--unique -o -", "--unique is for printing; leave out --unique or -o -"),
        ("-C 3 --count", "-C is for printing occurrences; leave out -C or --count"),
        ("-C 3 -o x", "-C is for printing occurrences; leave out -C or -o"),
        ("--canonical -o x", "--canonical is for printing occurrences; leave out --canonical or -o"),
        ("--canonical -o - --json", "--canonical is for printing occurrences; leave out --canonical or -o -"),
        ("--canonical -l", "--canonical is for printing occurrences; leave out --canonical or --list-sources"),
        ("--canonical --unique", "--unique always prints canonical forms; leave out --canonical"),
        (
            "--json --canonical",
            '--json has the canonical form as "urn"; leave out --canonical',
        ),
        ("--engine spark --canonical", "--canonical is for printing, which --engine spark does not do; leave it out"),
        ("-o - --rejects -", "-o - and --rejects - are two outputs in one stream; name a file for one"),
        ("-o - --occurrences x --resume", "--resume needs files as outputs; name a file in -o -"),
        ("--engine spark -o -", "-o -: the outputs of --engine spark are folders; name one"),
        ("--engine spark --unique", "--unique is for printing, which --engine spark does not do; leave it out"),
    ],
)
def test_options_that_do_not_go_together(urnscan, options, said):
    """One line says what to do, and nothing is written."""
    result = urnscan("-", *options.split(), status=2)
    assert result.err == f"urnscan: {said}\n"
    assert urnscan.names() == []
