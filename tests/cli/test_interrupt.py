"""A run that is ended from outside: 130 or 143, no traceback, and nothing left behind that was not there before."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.support.processes import wait_until
from urnscan.cli import signals
from urnscan.tables.output_file import SHARDS_SUFFIX

from .conftest import PATIENCE

pytestmark = pytest.mark.full

BOTH = ["-o", "classes.parquet", "--occurrences", "occ.parquet"]
OUTPUTS = ["classes.parquet", "occ.parquet"]
ENDINGS = {signal.SIGINT: 130, signal.SIGTERM: 143}
endings = pytest.mark.parametrize("sent", ENDINGS, ids=lambda sent: sent.name)


@pytest.fixture
def endless(urnscan):
    """A FIFO that somebody writes to without end; `endless.read` is how many bytes were taken from it."""
    os.mkfifo(urnscan.folder / "fifo")

    class Endless:
        read = 0

        def write(self):
            try:
                with (urnscan.folder / "fifo").open("wb", buffering=0) as fifo:
                    while True:
                        self.read += fifo.write(b"urn:foo:%d\n" % self.read * 1000)
            except BrokenPipeError:
                pass

    endless = Endless()
    threading.Thread(target=endless.write, daemon=True).start()
    return endless


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """A file that takes a second and more: all its URNs are different. Its folder holds it three times."""
    path = tmp_path_factory.mktemp("dense") / "dense.txt"
    with path.open("wb") as file:
        for number in range(700_000):
            file.write(b"urn:uuid:%032x \n" % (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128))
    for again in ("again.txt", "and-again.txt"):
        path.with_name(again).hardlink_to(path)
    yield str(path)
    for each in path.parent.iterdir():
        each.unlink()


def under_way(urnscan, process):
    """Wait until a run has begun to write."""
    wait_until(lambda: len(work_folders(urnscan)) == 2 or process.poll() is not None, "the run begins")
    assert process.poll() is None, process.stderr.read().decode()


def work_folders(urnscan):
    """Those that a run makes, but for what it keeps for --resume."""
    return [name for name in urnscan.names() if name.startswith(".") and SHARDS_SUFFIX not in name]


def ended(process, sent):
    """Check how a process that was sent a signal ends, and that it ends soon."""
    out, err = process.communicate(timeout=10)
    assert process.returncode == ENDINGS[sent], err.decode()
    assert b"Traceback" not in err
    assert len(err.splitlines()) <= 1
    return out


class TestInterruption:
    """130 interrupted; a process that is asked to end cleans up likewise and says 143."""

    @endings
    def test_of_an_input_that_never_ends(self, urnscan, endless, sent):
        with urnscan.start("fifo", *BOTH) as process:
            wait_until(lambda: endless.read > 20_000_000 or process.poll() is not None, "the run reads")
            process.send_signal(sent)
            ended(process, sent)
        assert urnscan.names() == ["fifo"]

    @endings
    def test_of_an_input_that_never_begins(self, urnscan, sent):
        """Nobody opens the FIFO for writing: even to open it takes for ever."""
        os.mkfifo(urnscan.folder / "fifo")
        with urnscan.start("fifo", *BOTH) as process:
            under_way(urnscan, process)
            time.sleep(0.3)
            process.send_signal(sent)
            ended(process, sent)
        assert urnscan.names() == ["fifo"]

    def test_of_standard_input_that_says_nothing(self, urnscan):
        with urnscan.start(*BOTH, stdin=subprocess.PIPE) as process:
            under_way(urnscan, process)
            process.send_signal(signal.SIGINT)
            ended(process, signal.SIGINT)
        assert urnscan.names() == []

    @endings
    @pytest.mark.parametrize("after", [0.1, 0.8])
    def test_of_a_big_file(self, urnscan, dense, sent, after):
        """While it is scanned, sorted, spilled or written: after any time.

        A run of ten seconds, on a machine that is very busy, keeps its work.
        """
        began = time.monotonic()
        with urnscan.start(Path(dense).parent, *BOTH, "--memory", "1MB") as process:
            under_way(urnscan, process)
            time.sleep(after)
            process.send_signal(sent)
            ended(process, sent)
        is_long = time.monotonic() - began > 10
        assert work_folders(urnscan) == [] if is_long else urnscan.names() == []

    @endings
    def test_more_than_once(self, urnscan, dense, sent):
        """Who presses Ctrl-C presses it again, and a wrapper sends it a second time; all is cleaned up the same."""
        for _ in range(2):  # it is a matter of moments
            with urnscan.start(dense, *BOTH, "--memory", "1MB") as process:
                under_way(urnscan, process)
                while process.poll() is None:
                    process.send_signal(sent)
                    time.sleep(0.001)
                _, err = process.communicate(timeout=10)
            assert process.returncode in (ENDINGS[sent], -sent)  # a shell says the same of both
            assert b"Traceback" not in err
            assert urnscan.names() == []

    @endings
    def test_while_nobody_reads_what_is_printed(self, urnscan, dense, sent):
        """`urnscan big | less`, with `less` waiting for a key."""
        with urnscan.start(dense) as process:
            assert process.stdout.readline()
            time.sleep(0.5)
            process.send_signal(sent)
            wait_until(lambda: process.poll() is not None, "the end", seconds=10)
            ended(process, sent)

    @pytest.mark.usefixtures("endless")
    def test_of_printing(self, urnscan):
        """Each line that comes out is whole, but for the one that was being written."""
        with urnscan.start("fifo", bufsize=0) as process:
            lines = [process.stdout.readline() for _ in range(1000)]
            process.send_signal(signal.SIGINT)
            lines += ended(process, signal.SIGINT).splitlines(keepends=True)
        assert lines[0] == b"fifo:1:urn:foo:0\n"
        assert [line for line in lines[:-1] if not re.fullmatch(rb"fifo:\d+:urn:foo:\d+\n", line)] == []

    @pytest.mark.core
    def test_leaves_an_output_of_last_time_as_it_was(self, urnscan, endless):
        """Also one that was to be replaced."""
        for name in OUTPUTS:
            urnscan.write(name, b"old")
        with urnscan.start("fifo", *BOTH, "--force") as process:
            wait_until(lambda: endless.read > 5_000_000 or process.poll() is not None, "the run reads")
            process.send_signal(signal.SIGINT)
            ended(process, signal.SIGINT)
        assert urnscan.names() == sorted([*OUTPUTS, "fifo"])
        assert [(urnscan.folder / name).read_bytes() for name in OUTPUTS] == [b"old"] * 2


class TestKill:
    """What no process can clean up after itself, the next run of the same command does."""

    def test_no_output_and_nothing_but_the_output_after_the_next_run(self, urnscan, dense):
        command = [dense, *BOTH, "--memory", "1MB"]
        with urnscan.start(*command) as process:
            under_way(urnscan, process)
            time.sleep(0.7)
            process.kill()
            assert process.wait(PATIENCE) == -signal.SIGKILL
        assert not set(OUTPUTS) & set(urnscan.names())
        assert len(work_folders(urnscan)) == 2
        urnscan(*command)
        assert urnscan.names() == OUTPUTS
        assert len(urnscan.rows("occ.parquet", "start")) == 700_000

    def test_the_remains_are_no_inputs(self, urnscan, endless):
        """A run over the folder where another died, into another file, does not read them."""
        urnscan.write("a.txt", b"urn:foo:a")
        with urnscan.start("fifo", *BOTH) as process:
            wait_until(lambda: endless.read > 20_000_000 or process.poll() is not None, "the run reads")
            process.kill()
            process.wait(PATIENCE)
        assert work_folders(urnscan)
        assert urnscan.printed(".") == ["./a.txt:1:urn:foo:a"]

    def test_a_run_that_lives_is_not_cleaned_up(self, urnscan):
        """Two runs into the same file at once: each writes its output whole; the one that ends last stays."""
        with urnscan.start("-", *BOTH, "--force", stdin=subprocess.PIPE) as process:
            under_way(urnscan, process)
            process.stdin.write(b"urn:foo:slow ")
            process.stdin.flush()
            urnscan("-", *BOTH, "--force", stdin=b"urn:foo:quick")
            assert len(work_folders(urnscan)) == 2
            assert urnscan.rows("classes.parquet", "urn") == [("urn:foo:quick",)]
            _, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, err.decode()
        assert urnscan.rows("classes.parquet", "urn") == urnscan.rows("occ.parquet", "urn") == [("urn:foo:slow",)]
        assert urnscan.names() == OUTPUTS


@pytest.mark.parametrize(("output", "is_done"), [("out.parquet", True), ("s3://bucket/out.parquet", False)])
def test_between_making_a_file_and_knowing_of_it_nothing_comes(output, is_done):
    """Who asks to stop is heard behind it, and not forgotten; at once where it may take long. Then nobody is any more."""
    before = {number: signal.getsignal(number) for number in signals._SIGNALS}
    done = []

    def make():
        with signals.uninterrupted([output]):
            signal.raise_signal(signal.SIGTERM)
            done.append("all of it")

    try:
        signals.handle_signals()
        with pytest.raises(SystemExit) as ended:
            make()
        assert ended.value.code == 128 + signal.SIGTERM
        assert bool(done) is is_done
        assert {signal.getsignal(number) for number in before} == {signal.SIG_IGN}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
