"""What differs where standard error, output or input is a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

import pytest

from tests.support.processes import wait_until

from .conftest import PATIENCE

pytestmark = pytest.mark.full

BAR = re.compile(r"\d\.?\d*[kMG]?B\b|B/s")
"""What only a progress bar says: bytes with a unit, bytes a second."""


class Screen:
    """A terminal of 24 lines of 80 columns, and all that was written on it."""

    def __init__(self):
        self.keyboard, self.line = pty.openpty()
        fcntl.ioctl(self.line, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.written = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        with contextlib.suppress(OSError):  # what Linux says when nobody has the terminal open any more
            while data := os.read(self.keyboard, 1 << 16):
                self.written += data

    def close(self):
        """Wait for the last that is written."""
        if self.line >= 0:
            os.close(self.line)
            self.line = -1
            self._reader.join(PATIENCE)
            os.close(self.keyboard)

    @property
    def text(self):
        """Everything that was written."""
        self.close()
        return self.written.decode()

    @property
    def lines(self):
        """The messages on it in the end: what was written over is gone, colours are no text, and folded lines are one."""
        shown = []
        for line in re.sub(r"\x1b\[[\d;]*m", "", self.text).removesuffix("\n").split("\n"):
            cells = []
            for part in line.rstrip("\r").split("\r"):
                cells[: len(part)] = part
            row = "".join(cells).rstrip()
            if row.startswith("  ") and shown:
                shown[-1] += row[1:]
            else:
                shown.append(row)
        return shown


@pytest.fixture
def screen():
    screen = Screen()
    yield screen
    screen.close()


class TestNoInput:
    """None, and standard input a terminal: nobody means to type URNs."""

    @pytest.mark.core
    def test_says_what_to_do(self, urnscan, screen):
        result = urnscan(stdin=screen.line, status=2)
        (line,) = result.err.splitlines()
        assert line.startswith("urnscan: ")
        assert "--help" in line
        assert " - " in line
        assert result.out == b""

    def test_writes_nothing(self, urnscan, screen):
        urnscan("-o", "classes.parquet", stdin=screen.line, status=2)
        assert urnscan.names() == []

    def test_a_dash_means_it(self, urnscan, screen):
        """Then it is read until the end of what is typed."""
        with urnscan.start("-", "--quiet", stdin=screen.line) as process:
            os.write(screen.keyboard, b"urn:foo:a\n")
            assert process.stdout.readline() == b"-:1:urn:foo:a\n"
            os.write(screen.keyboard, b"\x04")
            out, err = process.communicate(timeout=PATIENCE)
            assert (process.returncode, out, err) == (0, b"", b"")


class TestProgress:
    """Progress on standard error, only on a terminal; it is gone at the end."""

    @pytest.fixture(autouse=True)
    def _inputs(self, urnscan):
        for number in range(20):
            urnscan.write(f"d/{number}.txt", b"urn:foo:x " + b" " * 100_000)

    @pytest.mark.parametrize("options", [["-o", "classes.parquet"], []], ids=["written", "printed to a file"])
    def test_a_bar_of_bytes_with_rate_and_time(self, urnscan, screen, options):
        """Bytes, rate and time, as the size is known."""
        with (urnscan.folder / "printed").open("wb") as printed:
            urnscan("d", *options, stdout=printed, stderr=screen.line)
        assert "%" in screen.text
        assert "B/s" in screen.text
        assert re.search(r"/2\.00M\b", screen.text)
        assert re.search(r"\[\d\d:\d\d\b", screen.text)
        line = screen.lines[0]
        assert line.startswith("urnscan: 20 inputs, 2,000,200 bytes, 20 occurrences")

    def test_grouping_is_a_bar_of_rows(self, urnscan, screen):
        """It says how far it is, in a unit of its own, and begins at 0."""
        urnscan("d", "-o", "classes.parquet", stderr=screen.line)
        bars = re.findall(r"grouping: +(\d+)%.*? (\d+\.\d+)/20\.0 \[00:0\d.*?rows/s\]", screen.text)
        assert bars[0] == ("0", "0.00")

    def test_of_standard_input_no_size_is_known(self, urnscan, screen):
        """Then there are bytes and a rate alone."""
        urnscan("-o", "classes.parquet", stdin=b" " * 1_000_000, stderr=screen.line)
        assert "B/s" in screen.text
        assert "%" not in screen.text
        assert len(screen.lines) == 1

    @pytest.mark.parametrize("option", ["--no-progress", "--quiet"])
    def test_not_where_it_is_not_wanted(self, urnscan, screen, option):
        urnscan("d", "-o", "classes.parquet", option, stderr=screen.line)
        assert not BAR.search(screen.text)
        assert screen.lines == [""] if option == "--quiet" else len(screen.lines) == 2

    def test_not_where_standard_error_is_no_terminal(self, urnscan, screen):
        """Though standard output and input are."""
        result = urnscan("d", "-o", "classes.parquet", stdin=screen.line, stdout=screen.line)
        assert not BAR.search(result.err)
        assert "\r" not in result.err
        assert screen.text == ""

    def test_a_run_ends_with_the_largest_namespaces(self, urnscan, screen):
        """Three lines at most, where a person reads them; a pipe or a file gets none."""
        urnscan.write("e", b"urn:a:1 urn:b:1 urn:b:2 urn:c:1 urn:d:1 urn:isbn:1")
        urnscan("e", "-o", "classes.parquet", stderr=screen.line)
        assert screen.lines[-3:] == [
            "urnscan: b: 2 occurrences, 2 classes",
            "urnscan: a: 1 occurrence, 1 class",
            "urnscan: 3 other namespaces: 3 occurrences, 3 classes, 1 invalid",
        ]
        assert len(urnscan("e", "-o", "classes.parquet", "--force").err.splitlines()) == 1

    def test_long_messages_are_broken_at_words(self, urnscan, screen):
        """A terminal breaks a line anywhere; a long name stays whole, to be copied."""
        name = f"no file/{'x' * 90}"
        urnscan(name, "d", "-o", "classes.parquet", "--no-progress", stderr=screen.line, status=1)
        rows = screen.text.splitlines()
        assert f"  {name.split()[1]}:" in rows
        assert all(len(row) <= 80 for row in rows if "xx" not in row)
        assert screen.lines[0] == f"urnscan: {name}: no such file or folder"

    def test_a_failure_stands_in_a_line_of_its_own(self, urnscan, screen):
        """Each is named in one line, also while the bar is there."""
        urnscan("nope", "d", "nope2", "-o", "classes.parquet", stderr=screen.line, status=1)
        first, second, summary, *_ = screen.lines
        assert first == "urnscan: nope: no such file or folder"
        assert second == "urnscan: nope2: no such file or folder"
        assert summary.endswith("2 failures -> classes.parquet")

    @pytest.mark.parametrize("options", [[], ["--unique"], ["--json"], ["-c"], ["-l"]])
    def test_it_ends_before_the_first_line_goes_into_a_pipe(self, urnscan, screen, options):
        """The program that reads may write to the same terminal, and nobody can know when; without a bar it looks hung."""
        urnscan("d", "nope", *options, through=["sh", "-c", '"$@" | cat', "sh"], stdout=screen.line, stderr=screen.line)
        assert "scanning" in screen.text
        first = re.search(r"\bd/|urn:foo:x", screen.text)
        assert not BAR.search(screen.text, first.start())
        assert any(line.startswith("urnscan: 20 inputs, ") for line in screen.lines)
        assert not any("scanning" in line for line in screen.lines)

    @pytest.mark.core
    def test_occurrences_on_the_same_terminal_stand_above_the_bar(self, urnscan, screen):
        urnscan("d", stdout=screen.line, stderr=screen.line)
        *printed, summary = screen.lines
        assert sorted(printed) == sorted(f"d/{number}.txt:1:urn:foo:x" for number in range(20))
        assert summary.startswith("urnscan: 20 inputs, ")
        assert BAR.search(screen.text)

    def test_an_interruption_leaves_no_half_bar(self, urnscan, screen):
        with urnscan.start("-o", "classes.parquet", stdin=subprocess.PIPE, stderr=screen.line) as process:
            process.stdin.write(b" " * 10_000_000)
            process.stdin.flush()
            process.send_signal(2)
            assert process.wait(PATIENCE) == 130
        assert screen.lines == ["urnscan: interrupted"]

    def test_the_control_character_that_the_terminal_shows_is_gone(self, urnscan, screen):
        """^C stands behind the bar, within its line; in the next line it would keep the bar from being cleared."""
        with urnscan.start("-o", "classes.parquet", stdin=subprocess.PIPE, stderr=screen.line) as process:
            process.stdin.write(b" " * 10_000_000)
            process.stdin.flush()
            wait_until(lambda: b"B/s" in screen.written, "a bar is there")
            os.write(screen.keyboard, b"\x03")
            wait_until(lambda: b"^C" in screen.written, "the terminal shows it")
            process.send_signal(2)
            assert process.wait(PATIENCE) == 130
        assert screen.lines == ["urnscan: interrupted"]

    def test_notes_stand_in_lines_of_their_own(self, urnscan, screen):
        """They are written while the bar is there: at the beginning, and when the run is interrupted."""
        urnscan.write("big.txt", b"urn:foo:x" + b" " * 9_000_000)
        command = ["big.txt", "-", "-o", "classes.parquet", "--resume", "--not-nid", "isbm"]
        with urnscan.start(*command, stdin=subprocess.PIPE, stderr=screen.line) as process:
            kept = urnscan.folder / ".classes.parquet.shards.urnscan-tmp/shards"
            wait_until(lambda: kept.exists() and kept.read_bytes().count(b"\n") == 2, "a task is kept")
            process.send_signal(2)
            assert process.wait(PATIENCE) == 130
        assert BAR.search(screen.text)
        begun, interrupted, kept = screen.lines
        assert begun.startswith("urnscan: --not-nid isbm: not registered")
        assert interrupted == "urnscan: interrupted"
        assert kept.startswith("urnscan: finished work is kept"), "what to do stands last"
