"""Many inputs: a list of them in the place of arguments, and no more memory for a million files than for few."""

from __future__ import annotations

import os
import resource
import threading

import pytest

from tests.support.dumps import make_dump

from .test_terminal import Screen

pytestmark = pytest.mark.full

NAMES = ["a.txt", "d/b.txt", "d/é.txt", "d/[x]*.txt", " spaces "]


@pytest.fixture(autouse=True)
def _files(urnscan):
    for number, name in enumerate(NAMES):
        urnscan.write(name, b"urn:x-y:%d" % number)


def of(*numbers):
    """The lines that are printed of these files."""
    return [f"{NAMES[number]}:1:urn:x-y:{number}" for number in numbers]


class TestLists:
    """`--files-from`: what the list names is read as if it were named itself, but for patterns."""

    @pytest.mark.parametrize("end", ["\n", "\0"])
    @pytest.mark.parametrize("closed", [True, False])
    def test_lines_and_nuls(self, urnscan, end, closed):
        """In the order of the list; what `find` and `find -print0` write, with or without the last end."""
        names = ["", *reversed(NAMES), *([""] if closed else [])]  # an empty one is none
        data = end.join(names).encode()
        urnscan.write("list", data)
        assert urnscan.printed("--files-from", "list") == of(4, 3, 2, 1, 0)
        assert urnscan.printed("--files-from", "-", stdin=data) == of(4, 3, 2, 1, 0)

    def test_a_name_with_a_line_end_in_it(self, urnscan):
        """It is read, and does not end the line that tells of it."""
        urnscan.write("one\ntwo", b"urn:x-y:z")
        assert urnscan.printed("--files-from", "-", stdin=b"a.txt\0one\ntwo\0") == [*of(0), "one\\ntwo:1:urn:x-y:z"]

    @pytest.mark.core
    def test_beside_arguments(self, urnscan):
        """The arguments come first, and each input counts once."""
        assert urnscan.printed("d/b.txt", "--files-from", "-", stdin=b"a.txt\nd/b.txt\na.txt\n") == of(1, 0)

    def test_folders_are_walked(self, urnscan):
        assert sorted(urnscan.printed("--files-from", "-", stdin=b"d\nd/b.txt\n")) == sorted(of(1, 2, 3))

    def test_patterns_are_names(self, urnscan):
        result = urnscan("--files-from", "-", stdin=b"d/[x]*.txt\nd/*.txt\n", status=1)
        assert result.out.decode().splitlines() == of(3)
        assert result.said == ["urnscan: d/*.txt: no such file or folder"]

    @pytest.mark.parametrize("named", ["{}/out.parquet", "file://{}/out.parquet"])
    def test_an_output_is_no_input(self, urnscan, named):
        """However the list names it, a result that the run replaces is not read."""
        urnscan("a.txt", "-o", "out.parquet")
        urnscan.write("list", f"a.txt\n{named.format(urnscan.folder)}\n".encode())
        result = urnscan("--files-from", "list", "-o", "out.parquet", "--force")
        assert result.summary.startswith("urnscan: 1 input,")

    def test_a_nul_among_lines_costs_one_name(self, urnscan):
        """Behind what tells how the list is written: with an output, too, where names are compared with its place."""
        urnscan.write("list", b"a.txt\n" * 2_000 + b"b\0c\na.txt\n")
        result = urnscan("--files-from", "list", "-o", "out.parquet", status=1)
        assert len(result.said) == 1
        assert result.summary.startswith("urnscan: 1 input,")

    def test_a_dash_is_a_name(self, urnscan):
        urnscan.write("-", b"urn:x-y:dash")
        assert urnscan.printed("--files-from", "-", stdin=b"-\n") == ["-:1:urn:x-y:dash"]

    def test_links_fifos_and_urls(self, urnscan):
        """What is named is read, whatever it is."""
        (urnscan.folder / "link").symlink_to("a.txt")
        os.mkfifo(urnscan.folder / "fifo")
        writer = threading.Thread(target=(urnscan.folder / "fifo").write_bytes, args=(b"urn:x-y:fifo",))
        writer.start()
        listed = f"link\nfifo\nfile://{urnscan.folder}/d/b.txt\n".encode()
        assert urnscan.printed("--files-from", "-", stdin=listed) == [
            "link:1:urn:x-y:0",
            "fifo:1:urn:x-y:fifo",
            f"{urnscan.folder}/d/b.txt:1:urn:x-y:1",
        ]
        writer.join()

    def test_names_that_are_not_utf8(self, urnscan):
        (urnscan.folder / os.fsdecode(b"\xff")).write_bytes(b"urn:x-y:z")
        assert urnscan.printed("--files-from", "-", stdin=b"\xff\n") == [r"\xff:1:urn:x-y:z"]

    def test_what_is_missing_takes_a_line_each(self, urnscan):
        result = urnscan("--files-from", "-", stdin=b"nope\na.txt\nneither\n" + b"x" * 5000, status=1)
        assert result.out.decode().splitlines() == of(0)
        assert result.said[:2] == [f"urnscan: {name}: no such file or folder" for name in ("nope", "neither")]
        assert len(result.said) == 3

    def test_a_line_with_a_nul_is_no_name(self, urnscan):
        """Where the list began with lines."""
        listed = b"a.txt\n" * 2000 + b"d/b.txt\nx\0y\n"
        result = urnscan("--files-from", "-", stdin=listed, status=1)
        assert result.out.decode().splitlines() == of(0, 1)
        assert result.said == [r"urnscan: x\x00y: no file can have such a name"]

    def test_outputs_in_it_are_passed_over(self, urnscan):
        """`find . | urnscan --files-from - -o x.parquet --force`, a second time."""
        urnscan("d/b.txt", "-o", "x.parquet")
        result = urnscan("--files-from", "-", "-o", "./x.parquet", "--force", stdin=b"a.txt\nx.parquet\nd/b.txt\n")
        assert result.summary.startswith("urnscan: 2 inputs, ")

    def test_dedup(self, urnscan):
        urnscan.write("one.mrc", make_dump("marc", 1, 12).data)
        urnscan.write("two.mrc", make_dump("marc", 1, 12).data)
        result = urnscan("dedup", "--files-from", "-", "-o", "c.parquet", stdin=b"one.mrc\ntwo.mrc\none.mrc\n")
        assert "2 dumps" in result.err

    def test_more_than_is_looked_at_together(self, urnscan):
        for number in range(5000):
            urnscan.write(f"many/{number}", b"urn:x-y:%d" % number)
        listed = b"".join(b"many/%d\n" % number for number in range(5000))
        assert urnscan.printed("--files-from", "-", stdin=listed) == [
            f"many/{number}:1:urn:x-y:{number}" for number in range(5000)
        ]

    def test_progress_does_not_need_the_list_twice(self, urnscan):
        """Of a list that is a file the size is told; of a pipe, which is there once, bytes alone."""
        for argument, total in (("list", True), ("-", False)):
            screen = Screen()
            listed = b"d/b.txt\n" + b"big\n"
            urnscan.write("list", listed)
            urnscan.write("big", b" " * 2_000_000)
            urnscan("--files-from", argument, "-o", "x.parquet", "--force", stdin=listed, stderr=screen.line)
            assert "B/s" in screen.text
            assert ("/2.00M" in screen.text) == total
            assert "2 inputs" in screen.text
            screen.close()


class TestBadLists:
    """One clear line, exit status 2."""

    @pytest.mark.parametrize(
        ("arguments", "stdin", "said"),
        [
            (["nope"], b"", "nope: cannot be read as a list of inputs: No such file or directory"),
            (["d"], b"", "d: cannot be read as a list of inputs: Is a directory"),
            (
                ["-", "-"],
                b"a.txt",
                "standard input cannot be an input and the list of inputs; leave out - or --files-from -",
            ),
            (
                ["-"],
                b"a.txt\n" + b"x" * 100_000,
                "standard input: path 2 has more than 65,536 bytes; write one path on each line",
            ),
        ],
    )
    def test_that_cannot_be_read(self, urnscan, arguments, stdin, said):
        result = urnscan("--files-from", *arguments, stdin=stdin, status=2)
        assert result.said == [f"urnscan: {said}"]

    @pytest.mark.parametrize("stdin", [b"", b"\n\n", b"\0"])
    def test_that_is_empty(self, urnscan, stdin):
        result = urnscan("--files-from", "-", stdin=stdin, status=2)
        assert result.said == [
            "urnscan: standard input: the list names no inputs",
            "urnscan: no input could be read",
        ]
        assert urnscan("a.txt", "--files-from", "-", stdin=stdin, status=1).out.decode().splitlines() == of(0)

    def test_that_is_an_output(self, urnscan):
        urnscan.write("list.csv", b"a.txt\n")
        result = urnscan("--files-from", "list.csv", "-o", "list.csv", "--force", status=2)
        assert result.said == ["urnscan: list.csv: is an input and an output; name another output"]
        assert (urnscan.folder / "list.csv").read_bytes() == b"a.txt\n"


def test_few_open_files_are_enough(urnscan):
    """`ulimit -n 64`, with files that are read together, compressed ones and folders in each other."""
    for number in range(500):
        urnscan.write(f"many/{'f/' * (number % 50)}{number}", b"urn:x-y:%d" % number)

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    listed = b"".join(os.fsencode(path) + b"\0" for path in sorted(map(str, (urnscan.folder / "many").rglob("*"))))
    assert len(urnscan.printed("many", preexec_fn=limit)) == 500
    assert len(urnscan.printed("--files-from", "-", stdin=listed, preexec_fn=limit)) == 500


def test_memory_does_not_grow_with_the_files(urnscan):
    """Ten times the files: less than 400 bytes for each of those that are more."""
    for number in range(20_000):
        path = urnscan.folder / f"many/{number // 1000}/{number}"
        if number % 1000 == 0:
            path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
    _, few = urnscan.measured("many/0", "many/1", "-o", "x.parquet", "--force")
    _, many = urnscan.measured("many", "-o", "x.parquet", "--force")
    assert many - few < 18_000 * 400 + (8 << 20)
