"""What goes wrong, what is said about it, what is left behind, and the exit status."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from urnscan.tables.schemas import CLASSES, OCCURRENCES

pytestmark = pytest.mark.full

BOTH = ["-o", "classes.parquet", "--occurrences", "occ.parquet"]
OUTPUTS = ["classes.parquet", "occ.parquet"]
ROOT = os.geteuid() == 0
LINUX = sys.platform == "linux"


@pytest.fixture
def as_a_user():
    """A command that takes from root the right to read and write what the modes forbid."""
    if not ROOT:
        return []
    without = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    if (
        shutil.which("setpriv") is None
        or subprocess.run([*without, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("root reads everything here")
    return without


@pytest.fixture
def mounted():
    """Runs a command where a folder is mounted as told; nobody else sees the mount, and it ends with the command."""
    private = ["unshare", "--mount"]
    if not (LINUX and ROOT and shutil.which("unshare")):
        pytest.skip("only root may mount")
    if subprocess.run([*private, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    return lambda *mount: [*private, "sh", "-c", f'mount {" ".join(mount)} && exec "$@"', "sh"]


def one_line(result, *words):
    """The only line on standard error, which holds all these words."""
    (line,) = result.err.splitlines()
    assert line.startswith("urnscan: ")
    for word in words:
        assert word in line
    return line


class TestInputs:
    """1: done, but some inputs failed, each named in one line on standard error. 2: nothing could be done."""

    @pytest.mark.core
    def test_no_such_input_alone(self, urnscan):
        result = urnscan("nope.txt", *BOTH, status=2)
        assert any("nope.txt" in line for line in result.err.splitlines())
        assert result.out == b""
        assert urnscan.names() == []

    @pytest.mark.core
    def test_no_such_input_among_good_ones(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")
        urnscan.write("b.txt", b"urn:foo:b")
        result = urnscan("a.txt", "nope.txt", "b.txt", "nope*.md", *BOTH, status=1)
        first, second = result.said
        assert "nope.txt" in first
        assert "nope*.md" in second
        assert urnscan.names() == ["a.txt", "b.txt", *OUTPUTS]
        assert urnscan.rows("occ.parquet", "source") == [("a.txt",), ("b.txt",)]
        assert urnscan.rows("classes.parquet", "urn") == [("urn:foo:a",), ("urn:foo:b",)]
        assert ", 2 failures" in result.summary

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ([""], "an input has an empty name"),
            (["dedup", "a.txt", ""], "an input has an empty name"),
            (["a.txt", "--files-from", ""], "the list of inputs has an empty name"),
        ],
    )
    def test_empty_names(self, urnscan, arguments, said):
        """As of `"$UNSET"`: said as such, and before anything is read."""
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan(*arguments, "-o", "classes.parquet", status=2)
        assert result.said == [f"urnscan: {said}"]
        assert urnscan.names() == ["a.txt"]

    def test_files_and_folders_that_may_not_be_read(self, urnscan, as_a_user):
        for name in ("d/a.txt", "d/b.txt", "d/c/in.txt", "d/z.txt"):
            urnscan.write(name, b"urn:foo:a")
        for name in ("d/b.txt", "d/c"):
            (urnscan.folder / name).chmod(0)
        try:
            result = urnscan("d", through=as_a_user, status=1)
        finally:
            (urnscan.folder / "d/c").chmod(0o700)
        assert result.out.decode().splitlines() == ["d/a.txt:1:urn:foo:a", "d/z.txt:1:urn:foo:a"]
        assert result.said == ["urnscan: d/b.txt: Permission denied", "urnscan: d/c: Permission denied"]

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that fails while it is read")
    def test_a_file_that_fails_while_it_is_read(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan("/proc/self/mem", "a.txt", status=1)
        assert result.said == ["urnscan: /proc/self/mem: Input/output error"]
        assert result.out == b"a.txt:1:urn:foo:a\n"

    @pytest.mark.core
    def test_strict_ends_the_run_at_the_first_that_fails(self, urnscan):
        """Outputs exist only whole: here not at all."""
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan("a.txt", "nope", "nope2", "a.txt", "--strict", *BOTH, status=2)
        assert "nope" in result.err
        assert "nope2" not in result.err
        assert urnscan.names() == ["a.txt"]

    @pytest.mark.core
    def test_notes(self, urnscan):
        """They are not failures: status 0 with --strict, too; counted apart; twenty of a run are told one by one."""
        for number in range(23):
            urnscan.write(f"d/{number:02}.a", b"!<arch>\nurn:foo:a\n")
        result = urnscan("d", *BOTH, "--strict")
        for number, line in enumerate(result.said[:2]):
            assert line.startswith(
                f"urnscan: d/0{number}.a: an ar archive is scanned unchanged, so members that are packed "
            )
        assert len(result.said) == 21
        assert result.said[-1] == "urnscan: 3 more notes, which are not failures"
        assert ", 23 notes -> " in result.summary
        assert len(urnscan.rows("occ.parquet")) == 23
        result = urnscan("d/00.a", "nope", status=1)
        assert result.summary.endswith(" s, 1 failure, 1 note")

    def test_an_empty_folder(self, urnscan):
        """0, and outputs with all columns and no rows."""
        (urnscan.folder / "d/e").mkdir(parents=True)
        result = urnscan("d", *BOTH)
        assert "0 inputs, 0 bytes, 0 occurrences, 0 classes" in result.summary
        assert result.said == [
            "urnscan: nothing was read; the folders contain no files, or the options exclude all of them"
        ]
        for name, columns in zip(OUTPUTS, (CLASSES, OCCURRENCES), strict=True):
            table = pq.read_table(urnscan.folder / name)
            assert (table.num_rows, table.column_names) == (0, columns.names)

    def test_standard_input_that_is_closed(self, urnscan):
        """As cron and some daemons start their children."""
        result = urnscan(through=["sh", "-c", 'exec "$@" <&-', "sh"], stdin=None, status=2)
        one_line(result)
        result = urnscan("-", through=["sh", "-c", 'exec "$@" <&-', "sh"], stdin=None, status=2)
        assert "urnscan: -: " in result.err


class TestNamesInMessages:
    """Names of files must not command the terminal of who reads the messages: each message is one line of text."""

    HOSTILE = "a\x1b[31mred\x1b]0;title\x07\nurnscan: 9 failed\r\u202e\u2028\x9b1m.txt"

    def check(self, result, lines):
        assert len(result.err.splitlines()) == lines
        assert not [character for character in result.err if not (character.isprintable() or character == "\n")]
        assert "\\x1b[31mred" in result.err

    def test_of_an_input_that_is_not_there(self, urnscan):
        self.check(urnscan(self.HOSTILE, status=2), 2)

    def test_of_an_input_that_fails_in_a_folder(self, urnscan, as_a_user):
        urnscan.write("d/a.txt", b"")
        urnscan.write(f"d/{self.HOSTILE}", b"urn:foo:a").chmod(0)
        self.check(urnscan("d", "--quiet", through=as_a_user, status=1), 1)

    def test_of_an_output_that_cannot_be_written(self, urnscan):
        (urnscan.folder / self.HOSTILE).mkdir()
        self.check(urnscan("-", "-o", self.HOSTILE, status=2), 1)

    def test_of_a_file_that_looks_like_an_option(self, urnscan):
        """As `urnscan *` makes of it."""
        result = urnscan("-\x1b[31mred\x1b]0;title\x07.txt", status=2)
        assert not [character for character in result.err if not (character.isprintable() or character == "\n")]

    @pytest.mark.core
    def test_of_bytes_that_are_not_utf8(self, urnscan):
        result = urnscan(b"nope\xff", status=2)
        assert "nope" in result.err


class TestOutputs:
    """An output exists only whole: it appears by rename at the end, or not at all."""

    @pytest.fixture(autouse=True)
    def _an_input(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")

    @pytest.mark.core
    @pytest.mark.parametrize("option", ["-o", "--occurrences"])
    def test_one_that_exists_stays_as_it_is(self, urnscan, option):
        """An existing output is an error without `--force`."""
        path = urnscan.write("out.csv", b"precious")
        result = urnscan("a.txt", option, "out.csv", status=2)
        one_line(result, "out.csv", "--force")
        assert path.read_bytes() == b"precious"
        assert urnscan.names() == ["a.txt", "out.csv"]

    @pytest.mark.parametrize("name", ["in/note.csv", "in/d/note.jsonl", "in/note.parquet"])
    @pytest.mark.parametrize("inputs", [["in"], ["in/**"], ["--files-from", "-"]], ids=" ".join)
    def test_an_input_in_a_folder_is_never_replaced(self, urnscan, name, inputs):
        """Not with `--force` either: only a result of an earlier run is."""
        path = urnscan.write(name, b"urn:foo:precious")
        result = urnscan(*inputs, "-o", name, "--force", "--no-progress", stdin=name.encode(), status=2)
        assert "is an input (in a folder or a list) and an output; name another output" in result.err
        assert path.read_bytes() == b"urn:foo:precious"

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv.gz", ".jsonl.zst"])
    def test_a_result_in_the_folder_is_replaced_and_not_read(self, urnscan, suffix):
        """`urnscan in -o in/urns.csv --force`, night after night."""
        urnscan.write("in/a.txt", b"urn:foo:a")
        for flags in ([], ["--force"]):
            result = urnscan("in", "-o", f"in/urns{suffix}", *flags)
            reason = "is an output of this run, so it is skipped"
            assert result.said == ([f"urnscan: in/urns{suffix}: {reason}"] if flags else [])
            assert result.summary.startswith("urnscan: 1 input, 9 bytes, 1 occurrence, 1 class")

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv.gz", ".jsonl"])
    def test_a_table_of_an_earlier_run_is_told_and_scanned(self, urnscan, suffix):
        """What begins like one may be anything. A column that is named is read."""
        urnscan("a.txt", "-o", f"urns{suffix}", "--occurrences", f"places{suffix}", "--rejects", f"rejects{suffix}")
        result = urnscan(".", "-o", "new.parquet")
        reason = "looks like a table that urnscan wrote, and is scanned, so its names count once more"
        names = [f"{name}{suffix}" for name in ("places", "rejects", "urns")]
        with_rows = [name for name in names if (urnscan.folder / name).stat().st_size]  # JSON Lines have no header
        assert [line.partition("; --")[0] for line in result.said] == [
            f"urnscan: ./{name}: {reason}" for name in with_rows
        ]
        assert result.summary.startswith("urnscan: 4 inputs, ")
        assert urnscan.rows("new.parquet", "urn", "source_count") == [("urn:foo:a", 3)]
        assert urnscan.printed(f"urns{suffix}", "--column", "urn")[0].endswith(":1:urn:foo:a")

    @pytest.mark.parametrize("name", ["urns", "urns.xml", "urns.txt", "urns.parquet.gz", "urns.csv.xz", "folder/"])
    def test_a_name_that_tells_no_format(self, urnscan, name):
        """`-o list.xml` would have made Parquet of that name."""
        one_line(urnscan("a.txt", "-o", name, status=2), name, ".parquet", ".csv", ".jsonl")
        assert urnscan.names() == ["a.txt"]

    def test_where_one_of_two_exists_neither_is_written(self, urnscan):
        urnscan.write("occ.parquet", b"precious")
        urnscan("a.txt", *BOTH, status=2)
        assert urnscan.names() == ["a.txt", "occ.parquet"]

    def test_force_replaces_both(self, urnscan):
        for name in OUTPUTS:
            urnscan.write(name, b"old")
        urnscan("a.txt", *BOTH, "--force")
        assert urnscan.rows("classes.parquet", "urn") == urnscan.rows("occ.parquet", "urn") == [("urn:foo:a",)]
        assert urnscan.names() == ["a.txt", *OUTPUTS]

    def test_force_replaces_nothing_where_the_run_fails(self, urnscan):
        for name in OUTPUTS:
            urnscan.write(name, b"old")
        urnscan("nope", *BOTH, "--force", status=2)
        assert [(urnscan.folder / name).read_bytes() for name in OUTPUTS] == [b"old"] * 2
        assert urnscan.names() == ["a.txt", *OUTPUTS]

    def test_a_link_stays_and_what_it_leads_to_is_replaced(self, urnscan):
        (urnscan.folder / "elsewhere").mkdir()
        urnscan.write("elsewhere/real.parquet", b"old")
        (urnscan.folder / "link.parquet").symlink_to("elsewhere/real.parquet")
        urnscan("a.txt", "-o", "link.parquet", "--force")
        assert (urnscan.folder / "link.parquet").is_symlink()
        assert urnscan.rows("elsewhere/real.parquet", "urn") == [("urn:foo:a",)]
        assert urnscan.names("elsewhere") == ["real.parquet"]

    @pytest.mark.parametrize("options", [["-o"], ["--force", "--occurrences"]], ids=" ".join)
    @pytest.mark.parametrize("place", ["nowhere/out.parquet", "a.txt/out.parquet", "folder.parquet"])
    def test_places_where_there_can_be_none(self, urnscan, options, place):
        """A folder that is missing, one that is a file, and a folder in the output's own place."""
        (urnscan.folder / "folder.parquet").mkdir()
        one_line(urnscan("a.txt", *options, place, status=2), place)
        assert urnscan.names() == ["a.txt", "folder.parquet"]
        assert urnscan.names("folder.parquet") == []

    @pytest.mark.parametrize("second", ["one.csv", "folder/../one.csv", "link.parquet"])
    def test_both_in_one_file(self, urnscan, second):
        (urnscan.folder / "folder").mkdir()
        (urnscan.folder / "link.parquet").symlink_to("one.csv")
        before = urnscan.names()
        one_line(urnscan("a.txt", "-o", "one.csv", "--occurrences", second, status=2), "one.csv", "two")
        assert urnscan.names() == before

    def test_a_name_that_is_empty(self, urnscan):
        """`-o "$UNSET"` is a mistake, not a wish to have all occurrences on the screen."""
        result = urnscan("a.txt", "-o", "", status=2)
        assert result.out == b""

    def test_a_folder_that_may_not_be_written(self, urnscan, as_a_user):
        (urnscan.folder / "folder").mkdir(mode=0o500)
        one_line(
            urnscan("a.txt", "-o", "folder/out.parquet", through=as_a_user, status=2),
            "folder/out.parquet",
            "Permission denied",
        )
        assert urnscan.names("folder") == []

    def test_a_file_system_that_is_read_only(self, urnscan, mounted):
        (urnscan.folder / "folder").mkdir()
        result = urnscan(
            "a.txt", "-o", "folder/out.parquet", through=mounted("-t", "tmpfs", "-o", "ro", "none", "folder"), status=2
        )
        one_line(result, "folder/out.parquet", "Read-only file system")

    @pytest.mark.parametrize("option", ["-o", "--occurrences"])
    def test_a_disk_that_is_full(self, urnscan, mounted, option):
        """One line, and what was written so far is gone."""
        data = b"".join(b"urn:uuid:%x " % (number * 0x9E3779B97F4A7C15**3 % 2**128) for number in range(200_000))
        urnscan.write("b.txt", data)
        (urnscan.folder / "folder").mkdir()
        listed = 'mount -t tmpfs -o size=1m none folder; "$@"; status=$?; ls -A folder; exit $status'
        result = urnscan(
            "b.txt", option, "folder/out.parquet", through=[*mounted()[:2], "sh", "-c", listed, "sh"], status=2
        )
        one_line(result, "folder/out.parquet", "No space left on device")
        assert result.out == b""

    def test_a_disk_that_is_too_full_to_spill(self, urnscan, mounted):
        """Grouping past `--memory` spills beside the output; that can fail, too."""
        data = b"".join(b"urn:uuid:%x " % (number * 0x9E3779B97F4A7C15**3 % 2**128) for number in range(500_000))
        urnscan.write("b.txt", data)
        (urnscan.folder / "folder").mkdir()
        listed = 'mount -t tmpfs -o size=1m none folder; "$@"; status=$?; ls -A folder; exit $status'
        through = [*mounted()[:2], "sh", "-c", listed, "sh"]
        result = urnscan("b.txt", "-o", "folder/out.parquet", "--memory", "1MB", through=through, status=2)
        one_line(result, "No space left on device")
        assert result.out == b""


class TestStandardStreams:
    """Where what is printed cannot be written."""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
    @pytest.mark.parametrize("arguments", [["a.txt"], ["a.txt", "--json"], ["explain", "urn:foo:a"]], ids=" ".join)
    def test_a_full_disk_behind_standard_output(self, urnscan, arguments):
        """`urnscan a.txt > list.txt`: a list that is not whole must not pass for one."""
        urnscan.write("a.txt", b"urn:foo:a")
        with Path("/dev/full").open("wb") as full:
            result = urnscan(*arguments, stdout=full, status=2)
        one_line(result, "No space left on device")

    def test_a_closed_standard_output_that_nobody_needs(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")
        urnscan("a.txt", *BOTH, through=["sh", "-c", 'exec "$@" >&-', "sh"])
        assert urnscan.rows("occ.parquet", "urn") == [("urn:foo:a",)]

    def test_a_closed_standard_output_that_is_needed(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")
        one_line(urnscan("a.txt", through=["sh", "-c", 'exec "$@" >&-', "sh"], status=2))

    def test_a_closed_standard_error(self, urnscan):
        """What belongs there must not get among the occurrences."""
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan("a.txt", "nope", through=["sh", "-c", 'exec "$@" 2>&-', "sh"], status=1)
        assert result.out == b"a.txt:1:urn:foo:a\n"


@pytest.mark.core
class TestUsage:
    """2: usage."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--nonsense"],
            ["--occ", "occ.parquet"],
            ["--syntax", "rfc9999"],
            ["--equivalence", "spiritual"],
            ["--max-length", "0"],
            ["-j", "0"],
            ["--memory", "0"],
            ["--memory", "1"],
            ["--memory", "999999"],
            ["--memory", "lots"],
            ["--memory", "-1GB"],
            ["--encoding", "rot13"],
            ["--encoding", "\x1b[31m\n"],
            ["--json", "-o", "classes.parquet"],
            ["-o"],
        ],
        ids=" ".join,
    )
    def test_what_is_wrong_is_said(self, urnscan, arguments):
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan("a.txt", *arguments, status=2)
        assert result.out == b""
        *usage, line = result.err.splitlines()
        assert line.startswith("urnscan: ")
        assert usage == [] or usage[0].startswith("usage: ")
        assert urnscan.names() == ["a.txt"]

    def test_a_broken_encoding_takes_one_line(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")
        one_line(urnscan("a.txt", "--encoding", "klingon", *BOTH, status=2), "klingon")
        assert urnscan.names() == ["a.txt"]

    def test_a_max_length_that_no_memory_holds(self, urnscan):
        """An answer in one line, or a run that needs no more than the input; no traceback."""
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan("a.txt", "--max-length", "999999999999", through=["sh", "-c", '"$@"; echo $? >&2', "sh"])
        *said, status = result.err.splitlines()
        assert (status, len(said)) in (("2", 1), ("0", 1))
