"""What is compressed, packed or in tables, read by the installed command: damage, limits, pipes, columns."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import lzma
import os
import sqlite3
import struct
import subprocess
import time
import zipfile
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.packed import tar, zipped

pytestmark = pytest.mark.full

MIB = 1 << 20


def lines(numbers, urn="urn:example:%d"):
    """A text with a URN on each line."""
    return "".join(f"{urn % number} and so on\n" for number in numbers).encode()


def texts(numbers, urn="urn:example:%d"):
    return [(urn % number,) for number in numbers]


def with_wrong_crc(member):
    """A gzip member whose text is whole and whose checksum is not that of it."""
    return member[:-8] + struct.pack("<I", zlib.crc32(b"else")) + member[-4:]


class TestDamage:
    """ "A damaged member is reported with its byte position, what decodes before and after it is still scanned …, and the
    exit status is 1. What decodes counts, also where the checksum is wrong."
    """

    FIRST, SECOND, THIRD = (gzip.compress(lines(range(start, start + 40))) for start in (0, 40, 80))

    def scan(self, urnscan, data, status=1):
        urnscan.write("x.gz", data)
        urnscan.write("z.txt", b"urn:last:1")
        result = urnscan(
            "x.gz", "z.txt", "--occurrences", "occ.parquet", "-o", "classes.parquet", "--force", status=status
        )
        *found, last = urnscan.rows("occ.parquet", "text")
        assert last == ("urn:last:1",)
        assert sum(count for (count,) in urnscan.rows("classes.parquet", "occurrence_count")) == len(found) + 1
        return result, found

    @pytest.mark.core
    def test_checksum(self, urnscan):
        damaged = self.FIRST + with_wrong_crc(self.SECOND) + self.THIRD
        result, found = self.scan(urnscan, damaged)
        assert found == texts(range(120))
        where = f"the gzip member at byte {len(self.FIRST)}"
        assert result.said == [f"urnscan: x.gz: the checksum of {where} is wrong; its text may be damaged"]
        assert ", 1 failure" in result.summary

    @pytest.mark.core
    def test_a_member_that_cannot_be_decoded(self, urnscan):
        """All that can be is given, to the byte."""
        deflate = zlib.compressobj(wbits=-15)
        head = deflate.compress(lines(range(40, 60))) + deflate.flush(zlib.Z_FULL_FLUSH)
        damaged = self.FIRST[:10] + head + b"\x07" + bytes(100)  # there is no block of type 3
        result, found = self.scan(urnscan, self.FIRST + damaged + self.THIRD)
        assert found == texts([*range(60), *range(80, 120)])
        (line,) = result.said
        where = len(self.FIRST) + 10 + len(head)
        assert f"x.gz: the gzip member at byte {len(self.FIRST)} is damaged at about byte {where}" in line

    def test_cut_off(self, urnscan):
        result, found = self.scan(urnscan, self.FIRST + self.SECOND[:-30])
        assert found == texts(range(len(found)))
        assert 40 < len(found) < 80
        (line,) = result.said
        assert "truncated gzip file" in line

    @pytest.mark.parametrize("padding", [b"", b"\0" * 7, b"\0" * 100_000])
    def test_zeros_behind_it_are_nothing(self, urnscan, padding):
        _, found = self.scan(urnscan, self.FIRST + self.SECOND + padding, status=0)
        assert found == texts(range(80))

    def test_garbage_loses_nothing(self, urnscan):
        result, found = self.scan(urnscan, self.FIRST + b"garbage" + self.THIRD + b"more of it")
        assert found == texts([*range(40), *range(80, 120)])
        assert len(result.said) == 2

    def test_a_urn_that_runs_into_the_damage_is_none(self, urnscan):
        """What is left of it is not its name."""
        deflate = zlib.compressobj(wbits=-15)
        head = deflate.compress(b"urn:a:b urn:example:12") + deflate.flush(zlib.Z_FULL_FLUSH)
        _, found = self.scan(urnscan, self.FIRST[:10] + head + b"\x07" + bytes(100) + gzip.compress(b"345 "))
        assert found == [("urn:a:b",)]

    def test_a_urn_across_a_wrong_checksum_is_whole(self, urnscan):
        """Nothing is missing between the two members."""
        _, found = self.scan(urnscan, with_wrong_crc(gzip.compress(b"urn:a:b urn:example:12")) + gzip.compress(b"345 "))
        assert found == [("urn:a:b",), ("urn:example:12345",)]

    def test_lines_and_offsets_go_on_behind_it(self, urnscan):
        first = lines(range(3))
        urnscan.write("x.gz", gzip.compress(first) + b"garbage" + gzip.compress(b"\nurn:a:b"))
        urnscan("x.gz", "--occurrences", "occ.parquet", status=1)
        assert urnscan.rows("occ.parquet", "text", "start", "line")[-1] == ("urn:a:b", len(first) + 1, 5)

    def test_in_an_archive(self, urnscan):
        """A checksum that fails around other members costs none of them."""
        inner = gzip.compress(tar([("a", b"urn:in:a"), ("b", b"urn:in:b")]))
        good = gzip.compress(b"urn:in:c")
        urnscan.write("x.zip", zipped([("one.tgz", with_wrong_crc(inner)), ("two.gz", good)]))
        result = urnscan("x.zip", "--occurrences", "occ.parquet", status=1)
        assert urnscan.rows("occ.parquet", "text", "member") == [
            ("urn:in:a", "one.tgz!/a"),
            ("urn:in:b", "one.tgz!/b"),
            ("urn:in:c", "two.gz"),
        ]
        assert "x.zip!/one.tgz: the checksum of the gzip member at byte 0 is wrong" in result.said[0]

    def test_encrypted_members_fail_by_name(self, urnscan):
        """ "Encrypted zip members fail by name, the rest goes on." """
        data = bytearray(zipped([("secret.txt", b"urn:in:a"), ("open.txt", b"urn:in:b")]))
        data[6] |= 1  # of the first local header
        urnscan.write("x.zip", bytes(data))
        result = urnscan("x.zip", "--occurrences", "occ.parquet", status=1)
        assert urnscan.rows("occ.parquet", "text", "member") == [("urn:in:b", "open.txt")]
        (line,) = result.said
        assert line.startswith("urnscan: x.zip!/secret.txt: ")
        assert "encrypted" in line

    def test_each_of_those_that_are_called_the_same(self, urnscan):
        data = b""
        for _ in range(5):
            data += bytearray(zipped([("same.txt", b"urn:in:a")])).replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0")
        urnscan.write("x.zip", data)
        urnscan.write("z.txt", b"urn:a:b")
        assert len(urnscan("x.zip", "z.txt", "--occurrences", "occ.parquet", status=1).said) == 5

    def test_more_wrong_checksums_than_anybody_would_look_at_twice(self, urnscan):
        """They cost no search, so there may be any number of them."""
        good = gzip.compress(b"urn:a:b ")
        result, found = self.scan(urnscan, with_wrong_crc(good) * 1_500 + good)
        assert found == [("urn:a:b",)] * 1_501
        assert result.said[-1] == "urnscan: x.gz: 1,480 more failures in it"
        assert ", 1,500 failures -> " in result.summary

    @pytest.mark.parametrize("cut", range(500, 509))
    def test_damage_in_the_midst_of_a_character(self, urnscan, cut):
        """UTF-16: what follows begins with a whole character, however many bytes there were before."""
        text = lines(range(3_000)).decode().encode("utf-16")
        half = len(text) // 4 * 2
        data = gzip.compress(text[:half])[:-cut] + gzip.compress(text[half:])
        _, found = self.scan(urnscan, data)
        assert found[-1_400:] == texts(range(1_600, 3_000))

    def test_a_table_whose_end_nobody_needs(self, urnscan):
        """An Arrow file is read up to its footer; the checksum around it counts all the same."""
        out = io.BytesIO()
        table = pa.table({"urn": ["urn:in:a"]})
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
        data = zipped([("t.arrow", out.getvalue())], zipfile.ZIP_STORED)
        urnscan.write("x.zip", data.replace(struct.pack("<I", zlib.crc32(out.getvalue())), b"\1\2\3\4"))
        urnscan.write("z.txt", b"urn:a:b")
        result = urnscan("x.zip", "z.txt", "--occurrences", "occ.parquet", status=1)
        assert urnscan.rows("occ.parquet", "text") == [("urn:in:a",), ("urn:a:b",)]
        assert "x.zip!/t.arrow: its checksum or size is wrong" in result.said[0]

    def test_a_failure_keeps_nothing_in_memory(self, urnscan):
        """Hundreds of damaged files: what they were read through is not kept with what went wrong."""
        damaged = gzip.compress(os.urandom(400_000))[:-500]
        for number in range(400):
            urnscan.write(f"{number}.gz", damaged)
        urnscan.write("z.txt", b"urn:a:b")
        _, peak = urnscan.measured(".", "--occurrences", "occ.parquet", "-j", "1", status=1)
        assert peak < 350 * MIB

    def test_very_much_damage_is_summed_up(self, urnscan):
        """An archive of a million damaged members must not fill the terminal."""
        data = zipped([(f"{number}.gz", with_wrong_crc(gzip.compress(b"x"))) for number in range(100)])
        urnscan.write("x.zip", data)
        urnscan.write("z.txt", b"urn:a:b")
        result = urnscan("x.zip", "z.txt", "--occurrences", "occ.parquet", status=1)
        assert len(result.said) == 21
        assert result.said[-1] == "urnscan: x.zip: 80 more failures in it"
        urnscan.write("a!/x.zip", data)  # a folder may be called so
        result = urnscan("a!/x.zip", "z.txt", "--quiet", status=1)
        assert result.said[-1] == "urnscan: a!/x.zip: 80 more failures in it"

    @pytest.mark.core
    def test_nothing_but_damage_is_2(self, urnscan):
        urnscan.write("x.gz", gzip.compress(b"urn:a:b")[:10])
        urnscan("x.gz", "-o", "classes.parquet", status=2)
        assert urnscan.names() == ["x.gz"]

    def test_large_member_whose_checksum_fails(self, urnscan):
        """Nothing waits for the checksum: memory stays bounded."""
        body = lines(range(2_000_000))
        urnscan.write("x.gz", gzip.compress(b"urn:a:first\n") + with_wrong_crc(gzip.compress(body, 1)))
        outputs = ["--occurrences", "occ.parquet", "-o", "classes.parquet"]
        _, peak = urnscan.measured("x.gz", *outputs, "-j", "1", status=1)
        assert len(urnscan.rows("occ.parquet", "text")) == len(urnscan.rows("classes.parquet", "urn")) == 2_000_001
        assert peak < 700 * MIB
        assert urnscan.names() == ["classes.parquet", "occ.parquet", "x.gz"]


@functools.cache
def zeros():
    """A bomb of gzip."""
    return gzip.compress(bytes(300 * MIB))


class TestLimits:
    """ "past a limit that input fails by name, and the run goes on" """

    def bomb(self, urnscan, *options, data=None):
        urnscan.write("bomb.gz", zeros() if data is None else data)
        urnscan.write("good.txt", b"urn:a:b")
        result = urnscan("bomb.gz", "good.txt", "--occurrences", "occ.parquet", *options, status=1)
        assert urnscan.rows("occ.parquet", "text")[-1] == ("urn:a:b",)
        (line,) = result.said
        return line

    def test_ratio(self, urnscan):
        line = self.bomb(urnscan)
        assert line == (
            "urnscan: bomb.gz: unpacks to more than 1,000 times its size; the rest is not read; --max-ratio allows more"
        )

    def test_ratio_that_is_allowed(self, urnscan):
        urnscan.write("bomb.gz", zeros())
        urnscan("bomb.gz", "--max-ratio", "2000")

    def test_size(self, urnscan):
        assert "--max-size" in self.bomb(urnscan, "--max-size", "1MB")

    def test_what_was_found_before_the_limit_counts(self, urnscan):
        data = gzip.compress(b"urn:before:1\n") + zeros()
        self.bomb(urnscan, data=data)
        assert urnscan.rows("occ.parquet", "text")[0] == ("urn:before:1",)

    def test_all_before_the_limit_counts(self, urnscan):
        """Also what came out of the same read."""
        text = lines(range(100_000))
        self.bomb(urnscan, "--max-size", "2MB", data=gzip.compress(text))
        found = [row for row in urnscan.rows("occ.parquet", "text") if row != ("urn:a:b",)]
        assert found == texts(range(len(found)))
        assert len(found) > 100_000 * 1_600_000 / len(text)

    @pytest.mark.core
    def test_depth(self, urnscan):
        data = b"urn:in:a"
        for _ in range(9):
            data = gzip.compress(data)
        assert "nested more than 8 deep" in self.bomb(urnscan, data=data)

    @pytest.mark.parametrize(("most", "said"), [(5, "5 members;"), (1, "1 member;")])
    def test_members(self, urnscan, most, said):
        data = zipped([(str(number), b"urn:in:%d" % number) for number in range(9)])
        line = self.bomb(urnscan, "--max-members", str(most), data=data)
        assert f"has more than {said}" in line
        assert len(urnscan.rows("occ.parquet", "text")) == most + 1

    @pytest.mark.parametrize("option", ["--max-ratio", "--max-size", "--max-depth", "--max-members"])
    def test_nonsense(self, urnscan, option):
        urnscan.write("a", b"")
        urnscan("a", option, "0", status=2)
        urnscan("a", option, "x", status=2)

    def test_a_bomb_takes_little_memory(self, urnscan):
        urnscan.write("bomb.bz2", bz2.compress(bytes(100 * MIB)) * 9)
        result, peak = urnscan.measured("bomb.bz2", status=1)
        assert "--max-ratio" in result.said[0]
        assert peak < 600 * MIB


class TestPipes:
    """A stream may be compressed, too; and what is said slowly is not held back."""

    @pytest.mark.core
    @pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
    def test_compressed(self, urnscan, compress):
        data = compress(tar([("a", lines(range(500))), ("b", b"urn:a:b")]))
        printed = urnscan.printed("-", stdin=data)
        assert len(printed) == 501
        assert printed[-1] == "-!/b:1:urn:a:b"

    def test_slow_text_is_not_taken_for_something_that_needs_more(self, urnscan):
        """The first line is told before the second is said, whatever the first bytes could begin."""
        with urnscan.start("-", "--no-progress", stdin=subprocess.PIPE, bufsize=0) as process:
            for text in (b"P urn:a:b\n", b"urn:c:d\n"):
                process.stdin.write(text)
                time.sleep(0.1)
                assert process.stdout.readline().endswith(text.split(b" ")[-1])

    def test_a_table_through_a_pipe(self, urnscan):
        out = io.BytesIO()
        pq.write_table(pa.table({"urn": ["urn:a:b", None, "urn:c:d"]}), out)
        rows = [json.loads(row) for row in urnscan.printed("-", "--json", stdin=out.getvalue())]
        assert [(row["member"], row["text"]) for row in rows] == [("0/urn", "urn:a:b"), ("2/urn", "urn:c:d")]


class TestPrinting:
    """Contract: `source:line:text`; what lies in an archive is named with the way to it."""

    MEMBERS = (("a/b.txt", b"\nurn:a:b"), ("evil\n\x1b[31m.txt", b"urn:c:d"), ('"quoted"\\', b"urn:e:f"))

    @pytest.mark.core
    def test_lines(self, urnscan):
        urnscan.write("x.tar", tar(self.MEMBERS))
        assert urnscan.printed("x.tar") == [
            "x.tar!/a/b.txt:2:urn:a:b",
            r"x.tar!/evil\n\x1b[31m.txt:1:urn:c:d",
            'x.tar!/"quoted"\\:1:urn:e:f',
        ]

    def test_json(self, urnscan):
        urnscan.write("x.tar", tar(self.MEMBERS))
        urnscan.write("y.txt", b"urn:g:h ")
        rows = [json.loads(line) for line in urnscan.printed("x.tar", "y.txt", "--json")]
        assert [row["member"] for row in rows] == [*(name for name, _ in self.MEMBERS), None]
        urnscan("x.tar", "y.txt", "--occurrences", "occ.parquet")
        as_table = [{name: value for name, value in row.items() if name != "stop_octet"} for row in rows]
        for row, printed in zip(as_table, rows, strict=True):
            row["stop"] = printed["stop_octet"]
        assert as_table == pq.read_table(urnscan.folder / "occ.parquet").to_pylist()


class TestColumns:
    """ "CSV, TSV, JSON and JSON Lines are text and stay scanned as bytes, unless `--column` names fields of theirs" """

    def test_json(self, urnscan):
        urnscan.write("x.jsonl", b'{"id": "urn\\u003aa\\u003ab", "note": "urn:c:d"}\n{"id": "urn:e:f\\/g"}\n')
        assert urnscan.printed("x.jsonl") == ["x.jsonl:1:urn:c:d", "x.jsonl:2:urn:e:f"]
        urnscan("x.jsonl", "--column", "id", "--occurrences", "occ.parquet")
        # RFC 2141 ends a name at "/" no more than at a letter: it is reserved, and may stand there.
        assert urnscan.rows("occ.parquet", "member", "start", "text") == [
            ("0/id", 0, "urn:a:b"),
            ("1/id", 0, "urn:e:f/g"),
        ]

    def test_csv_of_a_column_that_is_not_there(self, urnscan):
        urnscan.write("a.csv", b"urn\nurn:a:b\n")
        urnscan.write("b.csv", b"id;title\nurn:c:d;x\n")
        result = urnscan("a.csv", "b.csv", "--column", "urn", "--occurrences", "occ.parquet", status=1)
        assert urnscan.rows("occ.parquet", "source", "text") == [("a.csv", "urn:a:b")]
        assert result.said == ["urnscan: b.csv: no column 'urn'; it has id, title"]

    def test_one_of_several_is_enough(self, urnscan):
        """The same for all forms: a folder of many tables has not all columns in each."""
        urnscan.write("a.csv", b"urn\nurn:a:b\n")
        urnscan.write("b.jsonl", b'{"id": "urn:c:d"}\n')
        pq.write_table(pa.table({"urn": ["urn:e:f"]}), urnscan.folder / "c.parquet")
        with sqlite3.connect(urnscan.folder / "d.db") as connection:
            connection.execute("CREATE TABLE t (id)")
            connection.execute("INSERT INTO t VALUES ('urn:g:h')")
        connection.close()
        urnscan(".", "--column", "urn", "--column", "id", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", "text") == [("urn:a:b",), ("urn:c:d",), ("urn:e:f",), ("urn:g:h",)]

    def test_tables_and_text_side_by_side(self, urnscan):
        """Text that has no fields is scanned as it is."""
        with sqlite3.connect(urnscan.folder / "b.db") as connection:
            connection.execute("CREATE TABLE t (urn, note)")
            connection.execute("INSERT INTO t VALUES ('urn:a:b', 'urn:not:this')")
        connection.close()
        urnscan.write("c.txt", b"urn:c:d")
        urnscan("b.db", "c.txt", "--column", "urn", "--occurrences", "occ.parquet")
        assert urnscan.rows("occ.parquet", "member", "text") == [("t/1/urn", "urn:a:b"), (None, "urn:c:d")]


def test_same_rows_on_one_thread_and_two(urnscan):
    """Contract: "The same inputs and options give the same bytes, whatever `-j`"."""
    for number in range(6):
        members = [(f"m{member}", lines(range(number * member, 3000))) for member in range(4)]
        urnscan.write(f"{number}.tar.gz", gzip.compress(tar(members), 1))
        urnscan.write(f"{number}.zip", zipped([*members, ("bad.gz", with_wrong_crc(gzip.compress(b"urn:x:y")))]))
    written = []
    for jobs in ("1", "2"):
        urnscan(
            ".",
            "-j",
            jobs,
            "--include",
            "*.gz",
            "--include",
            "*.zip",
            "-o",
            f"c{jobs}.parquet",
            "--occurrences",
            f"o{jobs}.parquet",
            status=1,
        )
        written.append([(urnscan.folder / f"{name}{jobs}.parquet").read_bytes() for name in "co"])
    assert written[0] == written[1]


@pytest.mark.parametrize("way", ["standard input", "fifo"])
def test_what_is_found_in_a_gzip_is_printed_before_it_ends(urnscan, way):
    """No checksum holds results back: the member is still open when its first line is printed (512 bytes tell its form)."""
    packer = zlib.compressobj(wbits=31)
    data = packer.compress(b"urn:a:first\n" * 50) + packer.flush(zlib.Z_SYNC_FLUSH)
    if way == "fifo":
        os.mkfifo(urnscan.folder / "x.gz")
        with urnscan.start("x.gz") as process, (urnscan.folder / "x.gz").open("wb", buffering=0) as fifo:
            fifo.write(data)
            assert process.stdout.readline() == b"x.gz:1:urn:a:first\n"
    else:
        with urnscan.start("-", stdin=subprocess.PIPE) as process:
            process.stdin.write(data)
            process.stdin.flush()
            assert process.stdout.readline() == b"-:1:urn:a:first\n"


def test_strict_ends_the_run_at_a_wrong_checksum(urnscan):
    """What was found before counts for nothing: no output appears."""
    urnscan.write("a.gz", with_wrong_crc(gzip.compress(b"urn:a:b\n")))
    urnscan.write("b.txt", b"urn:c:d\n")
    result = urnscan("a.gz", "b.txt", "--strict", "--occurrences", "occ.parquet", status=2)
    assert "the checksum of the gzip member at byte 0 is wrong" in result.said[0]
    assert "--strict" in result.said[1]
    assert "occ.parquet" not in urnscan.names()


def test_many_small_members_in_a_stream(urnscan):
    """Logs are appended as gzip members of a line each: through a pipe they take no longer than from a file."""
    data = b"".join(gzip.compress(b"urn:example:%d\n" % number) for number in range(20_000))
    began = time.monotonic()
    assert len(urnscan.printed("-", stdin=data)) == 20_000
    assert time.monotonic() - began < 6


def test_inputs_behind_options(urnscan):
    urnscan.write("a.txt", b"urn:a:b")
    urnscan.write("b.txt", b"urn:c:d")
    assert urnscan.printed("a.txt", "--quiet", "b.txt") == ["a.txt:1:urn:a:b", "b.txt:1:urn:c:d"]


def test_nothing_is_unpacked_to_disk(urnscan):
    """ "Nothing is ever extracted to disk, so no member's name can reach outside." """
    names = ["../outside.txt", "/tmp/urnscan-absolute.txt", "..\\outside.txt", "a/../../outside.txt"]
    urnscan.write("x.zip", zipped([(name, b"urn:a:b") for name in names]))
    urnscan.write("x.tar", tar([(name, b"urn:a:b") for name in names]))
    urnscan("x.zip", "x.tar", "--occurrences", "occ.parquet")
    assert [member for (member,) in urnscan.rows("occ.parquet", "member")] == names * 2
    assert urnscan.names() == ["occ.parquet", "x.tar", "x.zip"]
    assert not os.path.lexists("/tmp/urnscan-absolute.txt")
    assert not (urnscan.folder.parent / "outside.txt").exists()
