"""What a run reads, what it means by its options, and what it writes."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import threading

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.oracle import SYNTAXES

from .conftest import EXPECTED, PATIENCE, expected, is_summary

pytestmark = pytest.mark.full

TEXTS = {
    "texts/a.txt": b"urn:foo:a%2c urn:Foo:a%2C\n\nurn:isbn:0395363411 URN:urn-1:z",
    "texts/b.txt": b"urn:foo:A\nURN:FOO:A urn:foo:A\n",
    "texts/c/d.txt": b"x urn:foo:A <urn:x-lab:n%00>, urn:xn--a:b\r\n",
    "texts/e.txt": b"nothing",
}
DICTIONARY = pa.dictionary(pa.int32(), pa.string())
OCCURRENCE_COLUMNS = {
    "source": DICTIONARY,
    "member": pa.string(),
    "start": pa.int64(),
    "line": pa.int64(),
    "text": pa.string(),
    "urn": pa.string(),
    "nid": DICTIONARY,
    "stop": pa.int16(),
    "punctuation": pa.uint8(),
    "length": pa.int32(),
    "via": DICTIONARY,
    "resolver": DICTIONARY,
    "r_component": pa.string(),
    "q_component": pa.string(),
    "f_component": pa.string(),
    "valid": pa.bool_(),
    "problem": DICTIONARY,
    "spelling_problem": pa.string(),
    "captured": pa.timestamp("ms", "UTC"),
    "status": pa.int16(),
    "mime": DICTIONARY,
}
CLASS_COLUMNS = {
    "urn": pa.string(),
    "nid": DICTIONARY,
    "nss": pa.string(),
    "nid_status": DICTIONARY,
    "occurrence_count": pa.int64(),
    "source_count": pa.int64(),
    "spelling_count": pa.int64(),
    "spellings": None,  # looked at on its own: the names inside a list differ between versions of Parquet
    "first_source": pa.string(),
    "first_member": pa.string(),
    "first_start": pa.int64(),
    "valid": pa.bool_(),
    "problem": pa.string(),
}


@pytest.fixture(scope="module")
def tables(urnscan_of_module):
    """The folder of a run over TEXTS that wrote both outputs."""
    for name, data in TEXTS.items():
        urnscan_of_module.write(name, data)
    urnscan_of_module("texts", "-o", "classes.parquet", "--occurrences", "occ.parquet")
    return urnscan_of_module.folder


def write_texts(urnscan, **names):
    for name, data in names.items():
        urnscan.write(name.replace("_", "."), data)


def digests(folder, *names):
    return [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]


def plain(value):
    """A value of whatever library as Python has it, NaN as None."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, dict):
        return {name: plain(element) for name, element in value.items()}
    if value is None or value is pd.NA or value != value:  # noqa: PLR0124 (NaN)
        return None
    return int(value) if isinstance(value, float | np.integer) else value


def read_with_pyarrow(path):
    return pq.read_table(path).to_pylist()


def read_with_pandas(path):
    return pd.read_parquet(path).to_dict("records")


def read_with_duckdb(path):
    with duckdb.connect() as connection:
        found = connection.execute("select * from read_parquet(?)", [str(path)])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def read_with_polars(path):
    return pytest.importorskip("polars").read_parquet(path).to_dicts()


readers = pytest.mark.parametrize("read", [read_with_pyarrow, read_with_pandas, read_with_duckdb, read_with_polars])


@pytest.mark.core
class TestTables:
    """`CLASSES.parquet` and `OCCURRENCES.parquet`, column by column."""

    def test_the_columns_of_occurrences_and_their_types_and_order(self, tables):
        schema = pq.read_schema(tables / "occ.parquet")
        assert dict(zip(schema.names, schema.types, strict=True)) == OCCURRENCE_COLUMNS
        assert schema.names == list(OCCURRENCE_COLUMNS)

    def test_the_columns_of_classes_and_their_types_and_order(self, tables):
        schema = pq.read_schema(tables / "classes.parquet")
        assert schema.names == list(CLASS_COLUMNS)
        types = dict(zip(schema.names, schema.types, strict=True))
        spellings = types.pop("spellings")
        assert types == {name: kind for name, kind in CLASS_COLUMNS.items() if kind is not None}
        assert pa.types.is_list(spellings)
        assert spellings.value_type == pa.struct(
            [pa.field("text", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)]
        )

    def test_the_rows_of_classes(self, tables):
        """Every column but `valid`, which waits for the namespaces; sorted by `urn` in the order of bytes."""
        rows = [
            tuple(value for name, value in row.items() if name != "valid")
            for row in pq.read_table(tables / "classes.parquet").to_pylist()
        ]

        def spellings(*pairs):
            return [{"text": text, "count": count} for text, count in pairs]

        a, b, d = "texts/a.txt", "texts/b.txt", "texts/c/d.txt"
        foo_a = spellings(("urn:foo:A", 3), ("URN:FOO:A", 1))
        foo_comma = spellings(("urn:Foo:a%2C", 1), ("urn:foo:a%2c", 1))
        isbn = spellings(("urn:isbn:0395363411", 1))
        urn_1 = spellings(("URN:urn-1:z", 1))
        lab = spellings(("urn:x-lab:n%00", 1))
        xn = spellings(("urn:xn--a:b", 1))
        assert rows == [
            ("urn:foo:A", "foo", "A", "unregistered", 4, 2, 2, foo_a, b, None, 0, None),
            ("urn:foo:a%2C", "foo", "a%2C", "unregistered", 2, 1, 2, foo_comma, a, None, 0, None),
            ("urn:isbn:0395363411", "isbn", "0395363411", "formal", 1, 1, 1, isbn, a, None, 27, None),
            ("urn:urn-1:z", "urn-1", "z", "informal", 1, 1, 1, urn_1, a, None, 47, None),
            ("urn:x-lab:n%00", "x-lab", "n%00", "experimental", 1, 1, 1, lab, d, None, 13, "nul-octet"),
            ("urn:xn--a:b", "xn--a", "b", "reserved", 1, 1, 1, xn, d, None, 30, None),
        ]

    def test_where_a_namespace_has_no_grammar_valid_is_null(self, tables):
        rows = {row["urn"]: row["valid"] for row in pq.read_table(tables / "classes.parquet").to_pylist()}
        assert rows["urn:foo:A"] is None

    def test_the_rows_of_occurrences(self, tables):
        """In the order of the walk, then by `start`; a stop is null at the end of the input."""
        rows = pq.read_table(tables / "occ.parquet").to_pylist()
        assert [tuple(row[name] for name in EXPECTED) for row in rows] == [
            row for name in sorted(TEXTS) for row in expected(name, TEXTS[name])
        ]
        assert {row["member"] for row in rows} == {None}
        assert [row["stop"] for row in rows] == [32, 10, 32, None, 10, 32, 10, 32, ord(">"), 13]

    @readers
    @pytest.mark.parametrize("name", ["classes.parquet", "occ.parquet"])
    def test_every_reader_of_parquet_sees_the_same(self, tables, read, name):
        """pandas, DuckDB and Polars read both files."""
        rows = [plain(row) for row in read(tables / name)]
        assert rows == read_with_pyarrow(tables / name)
        assert len(rows) == {"classes.parquet": 6, "occ.parquet": 10}[name]
        assert list(rows[0]) == list(CLASS_COLUMNS if name == "classes.parquet" else OCCURRENCE_COLUMNS)

    @pytest.mark.parametrize("name", ["classes.parquet", "occ.parquet"])
    def test_both_files_say_how_they_were_made(self, tables, name):
        """The key-value metadata under `urnscan`: version, syntax, equivalence, trim, counts."""
        from urnscan import __version__

        made = json.loads(pq.read_metadata(tables / name).metadata[b"urnscan"])
        assert made["version"] == __version__
        assert (made["syntax"], made["equivalence"], made["trim"]) == ("rfc2141", "lexical", False)
        counts = made["counts"]
        assert counts["inputs"] == len(TEXTS)
        assert counts["byte_count"] == sum(map(len, TEXTS.values()))
        assert (counts["occurrences"], counts["classes"], counts["failures"]) == (10, 6, 0)

    def test_one_output_without_the_other(self, urnscan):
        """Either, both, or neither; what one holds does not depend on the other, but for the number of classes."""
        write_texts(urnscan, a_txt=b"urn:a:b urn:a:c")
        urnscan("a.txt", "-o", "c.parquet")
        urnscan("a.txt", "--occurrences", "o.parquet")
        assert urnscan.names() == ["a.txt", "c.parquet", "o.parquet"]
        assert [row[0] for row in urnscan.rows("c.parquet", "urn")] == ["urn:a:b", "urn:a:c"]
        assert [row[0] for row in urnscan.rows("o.parquet", "urn")] == ["urn:a:b", "urn:a:c"]

    def test_only_the_hundred_most_frequent_spellings_are_listed(self, urnscan):
        """Most frequent first, then by text; `spelling_count` counts them all."""
        spellings = [
            "urn:" + "".join(letters) + ":x" for letters in itertools.product("aA", "bB", "cC", "dD", "eE", "fF", "gG")
        ]
        twice = spellings[-1]
        write_texts(urnscan, a_txt=" ".join([*spellings, twice]).encode())
        urnscan("a.txt", "-o", "c.parquet")
        ((count, listed),) = urnscan.rows("c.parquet", "spelling_count", "spellings")
        assert count == 128
        expected = [twice, *sorted(set(spellings) - {twice})][:100]
        assert [spelling["text"] for spelling in listed] == expected
        assert [spelling["count"] for spelling in listed] == [2] + [1] * 99

    def test_a_source_named_twice_is_read_once(self, urnscan):
        """A pattern and a folder may name the same file; its occurrences are there once, and it is one source."""
        write_texts(urnscan, a_txt=b"urn:a:b")
        urnscan("a.txt", "a.txt", "-o", "c.parquet", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", "source", "urn") == [("a.txt", "urn:a:b")]
        assert urnscan.rows("c.parquet", "occurrence_count", "source_count") == [(1, 1)]

    def test_nothing_found_is_no_failure(self, urnscan):
        """0 done (also with nothing found)."""
        write_texts(urnscan, a_txt=b"return:foo:bar and nothing else")
        urnscan("a.txt", "-o", "c.parquet", "--occurrences", "occ.parquet")
        assert urnscan.rows() == urnscan.rows("c.parquet") == []


class TestPrinting:
    """Without an output, occurrences go to standard output."""

    @pytest.mark.core
    def test_source_line_text_as_grep_prints_them(self, urnscan):
        write_texts(urnscan, b_txt=b"\n\nurn:foo:B%2c. urn:foo:C\r\n", a_txt=b"URN:foo:A")
        assert urnscan.printed("b.txt", "./a.txt") == [
            "b.txt:3:urn:foo:B%2c.",
            "b.txt:3:urn:foo:C",
            "./a.txt:1:URN:foo:A",
        ]
        assert urnscan.names() == ["a.txt", "b.txt"]

    @pytest.mark.core
    def test_json_has_the_columns_of_the_occurrence_table(self, urnscan):
        """And the byte that ended the URN twice: as a character, and as the number of the table."""
        write_texts(urnscan, a_txt=b"urn:foo:B%2c. urn:foo:C")
        printed = [json.loads(line) for line in urnscan.printed("a.txt", "--json")]
        columns = [
            name for column in OCCURRENCE_COLUMNS for name in ([column, "stop_octet"] if column == "stop" else [column])
        ]
        assert [list(row) for row in printed] == [columns] * 2
        assert (printed[0]["stop"], printed[0]["stop_octet"]) == (" ", 32)
        assert printed[1] == {
            "source": "a.txt", "member": None, "start": 14, "line": 1, "text": "urn:foo:C", "urn": "urn:foo:C",
            "nid": "foo", "stop": None, "stop_octet": None, "punctuation": 0, "length": 9, "via": None, "resolver": None,
            "r_component": None, "q_component": None, "f_component": None,
            "valid": None, "problem": None, "spelling_problem": None,
            "captured": None, "status": None, "mime": None,
        }  # fmt: skip

    def test_json_of_resolvers(self, urnscan):
        """Some null and some not, whatever a host is made of."""
        urnscan.write("a.txt", b"urn:a:b http://[::1]/urn:a:b http://$(x)!%22%5C/urn:a:b?c\n")
        printed = [json.loads(line)["resolver"] for line in urnscan.printed("a.txt", "--json")]
        assert printed == [None, "[::1]", "$(x)!%22%5c"]

    @pytest.mark.core
    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_head_ends_it_quietly(self, urnscan, options):
        """`| head` ends quietly, with far more to print than a pipe holds."""
        urnscan.write("a.txt", b"".join(b"urn:foo:%06d\n" % number for number in range(1_000_000)))
        with urnscan.start("a.txt", *options) as process:
            assert b"urn:foo:000000" in process.stdout.readline()
            process.stdout.close()
            said = process.stderr.read().decode().splitlines()
            assert process.wait(PATIENCE) == 0
        assert [line for line in said if not is_summary(line)] == []

    def test_lines_come_at_once_from_a_pipe_that_goes_on(self, urnscan):
        """`tail -f | urnscan` is of no use when it says nothing before the end."""
        with urnscan.start(stdin=subprocess.PIPE) as process:
            for number in range(3):
                process.stdin.write(b"urn:foo:%d \n" % number)
                process.stdin.flush()
                assert process.stdout.readline() == b"-:%d:urn:foo:%d\n" % (number + 1, number)
            process.stdin.close()
            assert process.wait(PATIENCE) == 0


class TestInputs:
    """A file, a folder, a glob, `-`: which are read, in which order, and how they are called."""

    def test_standard_input_by_its_name_and_by_default(self, urnscan):
        assert urnscan.printed(stdin=b"\nurn:foo:a") == ["-:2:urn:foo:a"]
        assert urnscan.printed("-", stdin=b"\nurn:foo:a") == ["-:2:urn:foo:a"]

    def test_standard_input_between_files(self, urnscan):
        write_texts(urnscan, a_txt=b"urn:foo:a", b_txt=b"urn:foo:b")
        assert urnscan.printed("b.txt", "-", "a.txt", stdin=b"urn:foo:x") == [
            "b.txt:1:urn:foo:b",
            "-:1:urn:foo:x",
            "a.txt:1:urn:foo:a",
        ]

    def test_standard_input_that_is_a_file(self, urnscan):
        path = urnscan.write("a.txt", b"urn:foo:a\n" * 1000)
        with path.open("rb") as file:
            assert len(urnscan.printed(stdin=file)) == 1000

    @pytest.mark.core
    def test_a_folder_is_walked_sorted_and_links_in_it_are_not_followed(self, urnscan):
        for name in ("d/b.txt", "d/a/z.txt", "d/.hidden", "d/Z.txt", "d/a.txt"):
            urnscan.write(name, b"urn:foo:x")
        urnscan.write("elsewhere/e.txt", b"urn:foo:x")
        (urnscan.folder / "d/link").symlink_to("../elsewhere")
        (urnscan.folder / "d/link.txt").symlink_to("../elsewhere/e.txt")
        assert [line.split(":")[0] for line in urnscan.printed("d")] == [
            "d/.hidden",
            "d/Z.txt",
            "d/a/z.txt",
            "d/a.txt",
            "d/b.txt",
        ]

    def test_follow_ends_where_links_go_round_in_circles(self, urnscan):
        urnscan.write("d/deep/a.txt", b"urn:foo:x")
        urnscan.write("elsewhere/e.txt", b"urn:foo:y")
        for name, target in {"up": "..", "self": ".", "deep/top": "../../d", "out": "../elsewhere"}.items():
            (urnscan.folder / "d" / name).symlink_to(target)
        (urnscan.folder / "elsewhere/back").symlink_to("../d")
        result = urnscan("d", "--follow")
        found = {line.split(":", 1)[0] for line in result.out.decode().splitlines()}
        assert {"d/deep/a.txt", "d/out/e.txt"} <= found
        assert len(found) < 20

    def test_a_glob_that_the_shell_did_not_expand(self, urnscan):
        for name in ("a.txt", "b.md", "c/d.txt", "c/e/f.txt", "[x].txt"):
            urnscan.write(name, b"urn:foo:x")
        found = [line.split(":")[0] for line in urnscan.printed("**/f.txt", "?.txt", "c*", "[x].txt")]
        assert found == ["c/e/f.txt", "a.txt", "c/d.txt", "[x].txt"]

    def test_include_and_exclude_filter_what_is_walked_never_what_was_named(self, urnscan):
        for name in ("d/a.txt", "d/b.md", "d/c.xml", "d/skip/d.txt", "named.xml"):
            urnscan.write(name, b"urn:foo:x")
        options = ["--include", "*.txt", "--include", "*.md", "--exclude", "skip", "--exclude", "named.xml"]
        assert [line.split(":")[0] for line in urnscan.printed("d", "named.xml", *options)] == [
            "d/a.txt",
            "d/b.md",
            "named.xml",
        ]

    def test_a_fifo_is_read_when_it_was_named(self, urnscan):
        fifo = urnscan.folder / "fifo"
        os.mkfifo(fifo)
        writer = threading.Thread(target=fifo.write_bytes, args=(b"\nurn:foo:x",), daemon=True)
        writer.start()
        assert urnscan.printed("fifo") == ["fifo:2:urn:foo:x"]
        writer.join()

    def test_a_fifo_in_a_folder_is_passed_over(self, urnscan):
        """Nobody writes into it: the run would wait for ever."""
        urnscan.write("d/a.txt", b"urn:foo:x")
        os.mkfifo(urnscan.folder / "d/fifo")
        assert urnscan.printed("d") == ["d/a.txt:1:urn:foo:x"]

    def test_binary_files_and_nul_bytes(self, urnscan):
        data = bytes(range(256)) * 3 + b"\0\0urn:foo:a\0urn:foo:b\xff\x1faurn:foo:c\x1e" + bytes(1000)
        urnscan.write("a.bin", data)
        urnscan("a.bin", "--occurrences", "occ.parquet")
        rows = urnscan.rows("occ.parquet", *EXPECTED)
        assert rows == expected("a.bin", data)
        assert [row[3] for row in rows] == ["urn:foo:a", "urn:foo:b", "urn:foo:c"]

    def test_an_empty_file(self, urnscan):
        urnscan.write("empty", b"")
        assert "1 input, 0 bytes, 0 occurrences" in urnscan("empty").summary

    def test_a_name_that_is_not_utf8(self, urnscan):
        """`source` is a string for every reader, so bytes that are none are written as escapes."""
        name = os.fsdecode(b"caf\xe9.txt")
        try:
            urnscan.write(name, b"urn:foo:x")
        except OSError:
            pytest.skip("file names here are UTF-8")
        urnscan(".", "--occurrences", "occ.parquet", "-o", "c.parquet")
        assert urnscan.rows("occ.parquet", "source", "urn") == [("./caf\\xe9.txt", "urn:foo:x")]
        assert urnscan.rows("c.parquet", "first_source") == [("./caf\\xe9.txt",)]

    def test_own_outputs_in_a_walked_folder_are_not_read(self, urnscan):
        """The same inputs and options give the same bytes: also when the outputs of last time lie among the inputs."""
        urnscan.write("a.txt", b"urn:foo:x urn:foo:y")
        run = [".", "-o", "c.parquet", "--occurrences", "occ.parquet"]
        urnscan(*run)
        first = digests(urnscan.folder, "c.parquet", "occ.parquet")
        result = urnscan(*run, "--force")
        assert "1 input, 19 bytes, 2 occurrences" in result.summary
        assert digests(urnscan.folder, "c.parquet", "occ.parquet") == first


class TestEncodings:
    """UTF-16 and UTF-32 are known by their marks, all else is bytes, unless `--encoding` says what it is."""

    TEXT = "\nÜ urn:foo:ä €urn:foo:b\n"

    @pytest.mark.core
    def test_a_byte_order_mark_is_enough(self, urnscan):
        """Offsets are bytes of the text as UTF-8, without the mark."""
        codecs = ["utf-16-be", "utf-16-le", "utf-32-be", "utf-32-le"]
        for codec in codecs:
            urnscan.write(f"d/{codec}", ("\ufeff" + self.TEXT).encode(codec))
        urnscan("d", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", *EXPECTED) == [
            row for codec in codecs for row in expected(f"d/{codec}", self.TEXT.encode())
        ]

    @pytest.mark.parametrize("codec", ["latin-1", "cp037", "utf-16-le"])
    def test_encoding_says_what_has_no_mark(self, urnscan, codec):
        """Of files and of standard input alike."""
        text = self.TEXT.replace("€", "§")
        urnscan.write("a.txt", text.encode(codec))
        urnscan("a.txt", "-", "--encoding", codec, "--occurrences", "occ.parquet", stdin=text.encode(codec))
        assert urnscan.rows("occ.parquet", *EXPECTED) == [
            row for name in ("a.txt", "-") for row in expected(name, text.encode())
        ]

    def test_a_mark_wins_over_the_option(self, urnscan):
        urnscan.write("a.txt", "\ufeffurn:foo:x".encode("utf-16-be"))
        assert urnscan.printed("a.txt", "--encoding", "latin-1") == ["a.txt:1:urn:foo:x"]

    def test_without_either_bytes_are_as_they_are(self, urnscan):
        """Broken UTF-8 and Latin-1 need nothing: URNs are ASCII."""
        data = b"\xff\xfc\xe9urn:foo:\xe9 \xc3urn:foo:a\xc3 urn:foo:b"
        urnscan.write("a.txt", data)
        urnscan("a.txt", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", *EXPECTED) == expected("a.txt", data)

    def test_what_cannot_be_decoded_is_a_failure_of_that_input_which_is_read_all_the_same(self, urnscan):
        urnscan.write("bad.txt", "urn:foo:a ".encode("utf-16-le") + b"\x00\xdc" + " urn:foo:b ".encode("utf-16-le"))
        result = urnscan("bad.txt", "--encoding", "utf-16-le", status=1)
        assert result.out.decode().splitlines() == ["bad.txt:1:urn:foo:a", "bad.txt:1:urn:foo:b"]
        (line,) = result.said
        assert line.startswith("urnscan: bad.txt: ")


class TestMeaning:
    """`--syntax`, `--trim`, `--equivalence`, `--max-length`: as the reference pages say, by the oracle."""

    TEXT = (
        b"see urn:foo:a1; (urn:foo:b(c)) urn:foo:d,urn:foo:e;urn:foo:f. urn:foo:'quoted',\n"
        b"urn:f:one-letter urn:foo-:ends-in-a-hyphen urn:foo:a/b/c?d?e urn:foo:x~y urn:foo:%4g urn:foo:%c3%A4\n"
        b"urn:example:a?+r?=q#f urn:example:a?=q?+x#f urn:example:a#frag/? urn:example:a?+ urn:example:a?= x\n"
        b"urn:example:t?s=I2L&c=ToC#p1 urn:example:t?c=ToC&s=I2L urn:example:t?1=x urn:urn:foo:bar sideburn:a:b\n"
        b"urn:"
        + b"n" * 33
        + b":x urn:"
        + b"n" * 32
        + b":x http://example.org/urn:foo:z?u=urn:foo:z&v=1 *urn:foo:b* _urn:foo:b_"
    )

    @pytest.mark.parametrize("trim", [False, True])
    @pytest.mark.parametrize("syntax", SYNTAXES)
    def test_syntax_and_trim(self, urnscan, syntax, trim):
        urnscan.write("a.txt", self.TEXT)
        options = ["--syntax", syntax] + ["--trim"] * trim
        urnscan("a.txt", "-o", "c.parquet", "--occurrences", "occ.parquet", *options)
        rows = expected("a.txt", self.TEXT, syntax, trim=trim)
        assert urnscan.rows("occ.parquet", *EXPECTED) == rows
        assert urnscan.rows("c.parquet", "urn") == sorted({(row[4],) for row in rows})

    def test_equivalence_resolution_keeps_the_query_with_its_directives_sorted(self, urnscan):
        urnscan.write("a.txt", self.TEXT)
        options = ["--syntax", "rfc2141bis-03", "-o", "c.parquet"]
        urnscan("a.txt", *options, "--equivalence", "resolution", "--occurrences", "occ.parquet")
        assert ("urn:example:t?c=ToC&s=I2L", 2) in urnscan.rows("c.parquet", "urn", "occurrence_count")
        urnscan("a.txt", *options, "--equivalence", "lexical", "--force")
        assert ("urn:example:t", 3) in urnscan.rows("c.parquet", "urn", "occurrence_count")

    @pytest.mark.parametrize("syntax", SYNTAXES)
    def test_equivalence_namespace_joins_what_the_namespace_calls_equal(self, urnscan, syntax):
        """RFC 8141 §3.1, IANA template of isbn: one book, whatever the digits and hyphens; and what is wrong is told."""
        text = b"<urn:isbn:0-395-36341-1> <URN:ISBN:9780395363416> <urn:isbn:978-0-395-36341-6> <urn:isbn:0395363416>"
        urnscan.write("a.txt", text)
        options = ["--syntax", syntax, "-o", "c.parquet", "--occurrences", "occ.parquet"]
        urnscan("a.txt", *options, "--equivalence", "namespace")
        assert urnscan.rows("c.parquet", "urn", "occurrence_count", "valid", "problem") == [
            ("urn:isbn:0395363416", 1, False, "check-digit"),
            ("urn:isbn:9780395363416", 3, True, None),
        ]
        assert [urn for (urn,) in urnscan.rows("occ.parquet", "urn")].count("urn:isbn:9780395363416") == 3
        urnscan("a.txt", *options, "--force")
        assert urnscan.rows("c.parquet", "occurrence_count", "valid") == [(1, True), (1, False), (1, True), (1, True)]

    def test_equivalence_resolution_is_an_error_where_no_standard_defines_it(self, urnscan):
        urnscan.write("a.txt", self.TEXT)
        options = ["-o", "c.parquet", "--syntax", "rfc8141", "--equivalence", "resolution"]
        (line,) = urnscan("a.txt", *options, status=2).err.splitlines()
        assert line == "urnscan: --equivalence: resolution requires --syntax rfc2141bis-03"
        assert urnscan.names() == ["a.txt"]

    def test_resolver_tail(self, urnscan):
        data = b"https://r.example/urn:a:b?c#d urn:a:b?c"
        urnscan.write("a.txt", data)
        for options, tail in (([], "keep"), (["--resolver-tail", "keep"], "keep"), (["--resolver-tail", "cut"], "cut")):
            urnscan("a.txt", "--occurrences", "occ.parquet", "--force", *options)
            assert urnscan.rows("occ.parquet", *EXPECTED) == expected("a.txt", data, resolver_tail=tail)
            made = json.loads(pq.read_metadata(urnscan.folder / "occ.parquet").metadata[b"urnscan"])
            assert made["resolver_tail"] == tail

    def test_max_length(self, urnscan):
        """A longer match is cut there, its stop is -1, and scanning goes on behind the cut."""
        data = b"urn:foo:a/urn:foo:bcdefghi urn:foo:4567 urn:foo:45678"
        urnscan.write("a.txt", data)
        urnscan("a.txt", "--occurrences", "occ.parquet", "--max-length", "12")
        rows = expected("a.txt", data, max_length=12)
        assert urnscan.rows("occ.parquet", *EXPECTED) == rows
        assert [row[6] for row in rows] == [-1, 32, -1]

    def test_the_default_of_max_length(self, urnscan):
        data = b"urn:foo:" + b"a" * (65_536 - 8) + b" urn:foo:" + b"a" * (65_536 - 7)
        urnscan.write("a.txt", data)
        urnscan("a.txt", "--occurrences", "occ.parquet")
        ends = [(len(text), stop) for text, stop in urnscan.rows("occ.parquet", "text", "stop")]
        assert ends == [(65_536, 32), (65_536, -1)]


@pytest.fixture(scope="module")
def folder(urnscan_of_module):
    """A file that is read in parts by several threads and grouped past 1 MB, and small ones with the same URNs."""
    pieces = [
        b"%d urn:nbn:de:%d\nURN:Foo:%%%02x/%d," % (i, i * 7919 % 150_003, i % 256, i % 1000) + b" " * (i % 97)
        for i in range(210_000)
    ]
    urnscan_of_module.write("many/big.txt", b"\n".join(pieces))
    for number in range(100):
        urnscan_of_module.write(f"many/{number}.txt", b" ".join(pieces[number * 10 : number * 10 + 20]))
    return urnscan_of_module


@pytest.fixture(scope="module")
def first(folder):
    """A run with one thread and memory enough."""
    return folder("many", "-o", "first.c.parquet", "--occurrences", "first.o.parquet", "-j", "1", "--memory", "1GB")


class TestSameBytes:
    """The same inputs and options give the same bytes, whatever `-j`, `--memory` or the machine."""

    @pytest.mark.parametrize(("jobs", "memory"), [("2", "1GB"), ("2", "1MB")])
    def test_whatever_the_threads_and_the_memory(self, folder, first, jobs, memory):
        options = ["-j", jobs, "--memory", memory, "--force"]
        result = folder("many", "-o", "again.c.parquet", "--occurrences", "again.o.parquet", *options)
        assert digests(folder.folder, "again.c.parquet", "again.o.parquet") == digests(
            folder.folder, "first.c.parquet", "first.o.parquet"
        )
        assert without_seconds(result.summary) == without_seconds(first.summary)

    @pytest.mark.usefixtures("first")
    def test_every_offset_and_line_is_that_of_its_text(self, folder):
        """Also behind the places where a huge file is split between threads."""
        data = (folder.folder / "many/big.txt").read_bytes()
        assert len(data) > 2 * (8 << 20)
        table = pq.read_table(folder.folder / "first.o.parquet", columns=["source", "start", "line", "text"])
        rows = table.filter(pa.compute.equal(table["source"].cast(pa.string()), "many/big.txt"))
        offsets, texts = rows["start"].to_numpy(), rows["text"].to_pylist()
        assert len(texts) == 420_000
        assert all(data.startswith(text.encode(), offset) for offset, text in zip(offsets.tolist(), texts, strict=True))
        line_ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        assert (rows["line"].to_numpy() == 1 + np.searchsorted(line_ends, offsets)).all()

    @pytest.mark.usefixtures("first")
    def test_the_classes_add_up_to_the_occurrences(self, folder):
        occurrences = pd.read_parquet(folder.folder / "first.o.parquet", columns=["urn", "source"])
        classes = pd.read_parquet(folder.folder / "first.c.parquet").set_index("urn")
        groups = occurrences.groupby("urn")
        assert classes["occurrence_count"].to_dict() == groups.size().to_dict()
        assert classes["source_count"].to_dict() == groups["source"].nunique().to_dict()
        assert list(classes.index) == sorted(set(occurrences["urn"]), key=str.encode)


def without_seconds(summary):
    return re.sub(r"[\d.]+ s\b.*", "", summary)


class TestSummary:
    """At the end one summary line: inputs, bytes, occurrences, classes, seconds, failures, outputs."""

    @pytest.mark.core
    def test_every_number_in_it(self, urnscan):
        for number in range(3):
            urnscan.write(f"d/{number}", b"urn:foo:x URN:foo:x urn:foo:y " + b" " * 970)
        result = urnscan("d", "nope", "nope2", "-o", "c.parquet", status=1)
        number = r"[\d,]+"
        match = re.fullmatch(
            rf"urnscan: ({number}) inputs, ({number}) bytes, ({number}) occurrences, ({number}) classes, "
            rf"(\d+\.\d) s, ({number}) failures -> c\.parquet",
            result.err.splitlines()[-1],
        )
        assert match
        assert match.groups()[:4] == ("3", "3,000", "9", "2")
        assert match[6] == "2"

    def test_one_of_each(self, urnscan):
        urnscan.write("a", b"urn:foo:x")
        result = urnscan("a", "-o", "c.parquet")
        assert re.fullmatch(r"urnscan: 1 input, 9 bytes, 1 occurrence, 1 class, \d+\.\d s -> c\.parquet\n", result.err)

    def test_outputs_as_they_were_named(self, urnscan):
        """Each, also for another command; without the secrets of a URL, and in one line. What is printed names none."""
        urnscan.write("a.jsonl", b'{"id": "urn:foo:x"}\n')
        (urnscan.folder / "out").mkdir()
        result = urnscan("a.jsonl", "--occurrences", "./o\n.parquet", "-o", f"{urnscan.folder}/c.parquet")
        assert result.summary.endswith(rf" s -> {urnscan.folder}/c.parquet, ./o\n.parquet")
        assert "->" not in urnscan("a.jsonl").summary
        outputs = ["--report", "out/r.html", "--deduplicated", "out/"]
        assert urnscan("dedup", "a.jsonl", *outputs).err.endswith(" s -> out/, out/r.html\n")
        assert urnscan("report", "c.parquet", "-o", "r.html").summary.endswith(" s -> r.html")

    def test_bytes_of_a_transcoded_input_are_those_that_were_scanned(self, urnscan):
        urnscan.write("a", "urn:foo:x ä".encode("utf-16"))
        assert "1 input, 12 bytes, 1 occurrence" in urnscan("a").summary

    @pytest.mark.core
    def test_a_hint_where_trimming_would_change_something(self, urnscan):
        """A run that did not trim counts the occurrences that would have changed, in one line with the option's name."""
        urnscan.write("a", b"urn:foo:x, urn:foo:y urn:foo:z. urn:foo:a;urn:foo:b")
        _, hint = urnscan("a").err.splitlines()
        assert "--trim" in hint
        assert re.search(r"\b3\b", hint)
        assert "(" not in hint
        assert len(urnscan("a", "--trim").err.splitlines()) == 1
        urnscan.write("b", b"(urn:isbn:0-395-36341-1), (urn:alert:source:internal)")
        _, hint = urnscan("b", "-o", "b.parquet").err.splitlines()
        assert hint.endswith("; --trim cuts that off (2 names fit their namespaces only then)")

    @pytest.mark.core
    def test_a_hint_where_rfc_2141_takes_components_for_the_name(self, urnscan):
        """Such occurrences are counted in one line with the option that separates them from the name, and in the metadata."""
        texts = [f"urn:isbn:0395363411{end}" for end in ("", "?+r", "?=q", "#p2", "#", "?page", "?=", "?+/r")]
        urnscan.write("a", "\n".join([*texts, "urn:x:one-letter#p2"]).encode())
        said = "4 occurrences have components of RFC 8141 (?+ ?= #); --syntax rfc8141 separates them from the name"
        assert urnscan("a", "-o", "a.parquet").err.splitlines()[1:] == [f"urnscan: {said}"]
        metadata = pq.read_metadata(urnscan.folder / "a.parquet").metadata[b"urnscan"]
        assert json.loads(metadata)["counts"]["components_in_names"] == 4
        _, hint = urnscan("a", "--syntax", "rfc8141").err.splitlines()
        assert hint.startswith("urnscan: 3 occurrences are cut before characters that no URN may contain there, ")
        assert len(urnscan("a", "--syntax", "rfc8141", "--rejects", "r.parquet").err.splitlines()) == 1
        _, hint = urnscan("dedup", "a", "--record", "line", "--syntax", "rfc2141", "-o", "b.parquet").err.splitlines()
        assert hint == f"urnscan: {said}"

    @pytest.mark.core
    def test_a_hint_where_the_rules_of_namespaces_would_join_classes(self, urnscan):
        """One line says how many, wherever classes are counted, as a run with that option then shows there
        is none without classes, at another level, with nothing to join, or with -q.
        """
        urnscan.write("a", b"urn:isbn:0-395-36341-1 urn:isbn:9780395363416 urn:isbn:0395363411 urn:foo:x")
        said = "2 classes are equivalent to others by the rules of their namespaces; --equivalence namespace joins them"
        for made in (("-o", "a.parquet"), ("-u",), ("--by", "nid"), ("-u", "--syntax", "rfc8141")):
            counts, *hints = urnscan("a", *made, "--force").err.splitlines()
            assert ("4 classes" in counts, hints) == (True, [f"urnscan: {said}"])
            counts, *hints = urnscan("a", *made, "--force", "--equivalence", "namespace").err.splitlines()
            assert ("2 classes" in counts, hints) == (True, [])
            assert urnscan("a", *made, "--force", "-q").err == ""
        assert len(urnscan("a").err.splitlines()) == 1
        urnscan.write("b", b"urn:isbn:0-395-36341-1 urn:isbn:0-395-36341-1 urn:foo:x")
        assert len(urnscan("b", "-u").err.splitlines()) == 1
        urnscan.write("c", b"urn:isbn:0-395-36341-1 urn:isbn:9780395363416")
        assert urnscan("c", "-u").err.splitlines()[1].startswith("urnscan: 1 class is equivalent to another by ")

    def test_quiet(self, urnscan):
        """Nothing but the failures, each in its line."""
        urnscan.write("a", b"urn:foo:x,")
        result = urnscan("a", "nope", "--quiet", status=1)
        assert result.err == "urnscan: nope: no such file or folder\n"
        assert result.out == b"a:1:urn:foo:x,\n"


@pytest.mark.core
class TestHelp:
    def test_version(self, urnscan):
        from urnscan import __version__

        result = urnscan("--version")
        assert result.out.decode() == f"urnscan {__version__}\n"
        assert result.err == ""

    def test_help_names_every_option_of_the_contract(self, urnscan):
        result = urnscan("--help")
        assert result.err == ""
        options = (
            "-o --occurrences --json --syntax --equivalence --trim --resolver-tail --max-length --include --exclude --follow "
            "--encoding -j --memory --force --quiet --no-progress --strict --version"
        )
        text = result.out.decode()
        for option in options.split():
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", text.partition("INPUT  ")[2]), option
        for value in (*SYNTAXES, "lexical", "resolution", "explain", "exit status"):
            assert value in text

    @pytest.mark.parametrize("quiet", [(), ("--quiet",)])
    def test_timings(self, urnscan, quiet):
        """Contract of `--timings`: a line for each stage, which together are all of the process; also without a summary."""
        (urnscan.folder / "a.txt").write_bytes(b"urn:isbn:0395363411 and urn:foo:a again URN:FOO:a\n" * 20_000)
        lines = urnscan("a.txt", "-o", "out.parquet", "--timings", *quiet).err.splitlines()
        lines = [line.removeprefix("urnscan: ") for line in lines if " s CPU" in line]
        assert [line.split()[0] for line in lines] == "start scan ranges classes encoding file rest all".split()
        *parts, total = [float(line.split()[1]) for line in lines]
        assert sum(parts) == pytest.approx(total, abs=0.05)
        amounts = {line.split()[0]: line.split("  ")[-1] for line in lines[1:6]}
        assert amounts.pop("file").endswith(" bytes")
        assert amounts == {
            "scan": "1,000,000 bytes",
            "ranges": "60,000 rows",
            "classes": "2 rows",
            "encoding": "2 rows",
        }

    def test_help_comes_with_inputs_too_and_reads_none(self, urnscan):
        assert "usage: urnscan" in urnscan("nope", "--help").out.decode()


class TestBig:
    """Memory is bounded by the block size and `max_length`, never by a line, a file or a URN."""

    GIGABYTE = 10**9

    @pytest.fixture
    def big(self, urnscan):
        path = urnscan.folder / "big"
        yield path
        path.unlink(missing_ok=True)  # pytest keeps the folders of the last runs

    def test_a_line_of_200_mb(self, urnscan, big):
        size, part = 200_000_000, 8 << 20
        urn = b" urn:foo:needle "
        # At the beginning, over the places where a file may be split, and at the end.
        offsets = [0, 3 * part - 5, 20 * part - 1, size - len(urn)]
        with big.open("wb") as file:
            for _ in range(size // 1_000_000):
                file.write(b"x" * 1_000_000)
            for offset in offsets:
                file.seek(offset)
                file.write(urn)
        result, peak = urnscan.measured("big", "-o", "c.parquet", "--occurrences", "occ.parquet", "-j", "2")
        assert urnscan.rows("occ.parquet", "start", "line", "text") == [
            (offset + 1, 1, "urn:foo:needle") for offset in offsets
        ]
        assert "1 input, 200,000,000 bytes, 4 occurrences, 1 class" in result.summary
        assert peak < self.GIGABYTE

    def test_a_urn_of_200_mb(self, urnscan, big):
        """It is cut at `max_length`; behind the cut no URN begins."""
        with big.open("wb") as file:
            file.write(b"urn:x:")
            for _ in range(200):
                file.write(b"a" * 1_000_000)
            file.write(b" urn:x:b")
        result, peak = urnscan.measured("big", "-o", "c.parquet", "--occurrences", "occ.parquet", "-j", "2")
        assert [
            (offset, len(text), stop) for offset, text, stop in urnscan.rows("occ.parquet", "start", "text", "stop")
        ] == [
            (0, 65_536, -1),
            (200_000_007, 7, None),
        ]
        assert "1 input, 200,000,014 bytes, 2 occurrences, 2 classes" in result.summary
        assert peak < self.GIGABYTE

    def test_200_mb_of_pieces_that_are_cut(self, urnscan, big):
        """After each cut the next URN begins at once; each is its own class."""
        pieces = 3_000
        with big.open("wb") as file:
            for number in range(pieces):
                file.write(long_urn(number))
        _, peak = urnscan.measured("big", "-o", "c.parquet", "--occurrences", "occ.parquet", "--memory", "100MB")
        rows = urnscan.rows("occ.parquet", "start", "stop")
        assert rows == [(number * 65_536, -1 if number < pieces - 1 else None) for number in range(pieces)]
        assert urnscan.rows("c.parquet", "occurrence_count", "first_start") == [(1, offset) for offset, _ in rows]
        assert peak < self.GIGABYTE

    def test_more_bytes_of_urns_than_fit_in_31_bits(self, urnscan):
        """None is lost: 2.2 GB of URNs, all different, as long as they come; and they are not kept in memory."""
        pieces = 33_000
        arguments = ["-", "-o", "c.parquet", "--memory", "100MB"]
        with subprocess.Popen([sys.executable, "-c", LONG_URNS, str(pieces)], stdout=subprocess.PIPE) as writer:
            _, peak = urnscan.measured(*arguments, stdin=writer.stdout)
        assert urnscan.rows("c.parquet", "occurrence_count", "first_start") == [
            (1, number * 65_536) for number in range(pieces)
        ]
        assert peak < self.GIGABYTE


LONG_URNS = """
import sys
for number in range(int(sys.argv[1])):
    sys.stdout.buffer.write((b"urn:x:%08d" % number).ljust(65_535, b"a") + b"/")
"""


def long_urn(number: int) -> bytes:
    """A URN of as many bytes as are not cut, behind which another may begin."""
    return (b"urn:x:%08d" % number).ljust(65_535, b"a") + b"/"
