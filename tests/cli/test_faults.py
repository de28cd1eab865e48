"""What the system does to a run: reads that fail, files that change, disks that are full, no memory, signals at any point.

Nothing is lost that could be had, no output is there in part, each fault takes one clear line, no temporary file stays.
"""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from .conftest import PATIENCE, Meddling

pytestmark = pytest.mark.full

OUTPUTS = ["classes.parquet", "occ.parquet", "rej.parquet"]
ALL = ["-o", "classes.parquet", "--occurrences", "occ.parquet", "--rejects", "rej.parquet"]
MIB = 1 << 20


def failing_reads(name: str, after: int, then: str = "raise OSError(5, os.strerror(5))") -> Meddling:
    """What is done instead of reading a file of this name past so many bytes."""
    return Meddling(f"""
import os
real, done = os.readv, []
def readv(descriptor, views):
    if not done and os.readlink(f'/proc/self/fd/{{descriptor}}').endswith({name!r}):
        left = {after} - os.lseek(descriptor, 0, os.SEEK_CUR)
        if left <= 0:
            {then}
        views = [views[0][:left]]
    return real(descriptor, views)
os.readv = readv
""")


def lines(numbers) -> bytes:
    return b"".join(b"see urn:foo:%07d here\n" % number for number in numbers)


@pytest.mark.skipif(sys.platform != "linux", reason="a descriptor's file is told by /proc")
class TestReading:
    """A file that cannot be read to its end costs what cannot be read."""

    MANY = 400_000  # lines, of 25 bytes: more than is read with others, by one call of compiled code

    @pytest.mark.core
    def test_an_error_in_the_midst(self, urnscan):
        urnscan.write("a.txt", lines(range(3)))
        urnscan.write("big.bin", lines(range(self.MANY)))
        urnscan.write("z.txt", b"urn:foo:z")
        result = urnscan(
            "a.txt", "big.bin", "z.txt", *ALL, "-j", "1", through=failing_reads("big.bin", 25 * 100_000 + 12), status=1
        )
        assert result.said == ["urnscan: big.bin: Input/output error"]
        texts = [text for (text,) in urnscan.rows("occ.parquet", "text")]
        assert len(texts) == 3 + 100_000 + 1  # the one in which the error came is not whole
        assert texts[-2:] == ["urn:foo:0099999", "urn:foo:z"]
        assert urnscan.names() == ["a.txt", "big.bin", *OUTPUTS, "z.txt"]

    def test_an_error_in_the_midst_of_what_is_compressed(self, urnscan):
        data = gzip.compress(lines(range(self.MANY)), 1)
        urnscan.write("big.gz", data)
        result = urnscan("big.gz", *ALL, through=failing_reads("big.gz", len(data) // 2), status=1)
        assert result.said[0] == "urnscan: big.gz: Input/output error"
        assert urnscan.names() == ["big.gz", *OUTPUTS]

    def test_a_file_that_shrinks_while_it_is_read(self, urnscan):
        """What is there is read."""
        urnscan.write("big.bin", lines(range(self.MANY)))
        end = 25 * 100_000
        through = failing_reads("big.bin", end, f"os.truncate('big.bin', {end}); return real(descriptor, views)")
        urnscan("big.bin", *ALL, "-j", "1", through=through)
        assert len(urnscan.rows("occ.parquet", "text")) == 100_000

    def test_a_file_that_grows_while_it_is_read(self, urnscan):
        """A run ends though a log does not, and each name in it is whole."""
        urnscan.write("big.bin", lines(range(self.MANY)))
        then = "open('big.bin', 'ab').write(b'urn:foo:more ' * 9); done.append(1); return real(descriptor, views)"
        urnscan("big.bin", *ALL, "-j", "1", through=failing_reads("big.bin", 25 * 100_000, then))
        texts = [text for (text,) in urnscan.rows("occ.parquet", "text")]
        assert len(texts) in (self.MANY, self.MANY + 9)

    def test_a_file_that_is_removed_while_it_is_read(self, urnscan):
        """Who has it open reads it to its end; one that is gone before takes a line."""
        urnscan.write("big.bin", lines(range(self.MANY)))
        urnscan.write("z.txt", b"urn:foo:z " * 500_000)
        then = "os.unlink('big.bin'); os.unlink('z.txt'); done.append(1); return real(descriptor, views)"
        through = failing_reads("big.bin", 25 * 1_000, then)
        result = urnscan("big.bin", "z.txt", *ALL, "-j", "1", through=through, status=1)
        assert result.said == ["urnscan: z.txt: no such file or folder"]
        assert len(urnscan.rows("occ.parquet", "text")) == self.MANY

    def test_of_dumps(self, urnscan):
        """The records before the fault count; what is written is what could be read, and the exit status tells."""
        data = b"".join(b'{"id": "%d", "urn": "urn:foo:%d"}\n' % (number, number % 900) for number in range(90_000))
        urnscan.write("dump.jsonl", data)
        command = ["dedup", "dump.jsonl", "-o", "clusters.parquet", "--no-progress"]
        result = urnscan(*command, through=failing_reads("dump.jsonl", MIB), status=1)
        assert "urnscan: dump.jsonl: Input/output error" in result.err.splitlines()
        assert len(urnscan.rows("clusters.parquet", "record")) == data[:MIB].count(b"\n")
        assert urnscan.names() == ["clusters.parquet", "dump.jsonl"]

    def test_of_dumps_at_the_second_reading(self, urnscan):
        """What could be read when it was read first has to be there: else nothing is written."""
        data = b"".join(b'{"id": "%d", "urn": "urn:foo:%d"}\n' % (number, number % 900) for number in range(90_000))
        urnscan.write("dump.jsonl", data)
        through = Meddling(
            "import os\nfrom urnscan.dedup import reread\nreal = reread.SecondReading.read\ndef read(self):\n    os.truncate('dump.jsonl', 1 << 20)\n    return real(self)\nreread.SecondReading.read = read"
        )
        command = ["dedup", "dump.jsonl", "-o", "clusters.parquet", "--deduplicated", "out.jsonl", "--no-progress"]
        result = urnscan(*command, through=through, status=2)
        (line,) = result.err.splitlines()
        assert line.startswith("urnscan: dump.jsonl: ")
        assert urnscan.names() == ["dump.jsonl"]


class TestDisk:
    """A disk that is full, or fails, wherever that is met: one line, status 2, and no output at all."""

    @pytest.fixture(autouse=True)
    def _inputs(self, urnscan):
        data = b"".join(b"urn:uuid:%032x urn:x\n" % (n * 0x9E3779B97F4A7C15**3 % 2**128) for n in range(20_000))
        urnscan.write("a.txt", data)

    @pytest.mark.core
    @pytest.mark.parametrize("failing", [1, 2, 3])
    def test_all_outputs_or_none(self, urnscan, failing):
        """One that cannot be completed keeps back the others, which were to replace what is there."""
        for name in OUTPUTS:
            urnscan.write(name, b"old")
        through = Meddling(f"""
import os
real, calls = os.fsync, []
def fsync(descriptor):
    calls.append(descriptor)
    if len(calls) == {failing}:
        raise OSError(28, os.strerror(28))
    return real(descriptor)
os.fsync = fsync
""")
        result = urnscan("a.txt", *ALL, "--force", through=through, status=2)
        place = OUTPUTS[failing - 1]
        assert result.err.splitlines() == [f"urnscan: {place}: cannot be written: No space left on device"]
        assert [(urnscan.folder / name).read_bytes() for name in OUTPUTS] == [b"old"] * 3
        assert urnscan.names() == ["a.txt", *OUTPUTS]

    @pytest.mark.parametrize("data", [300 << 9, 1 << 9, 2_500 << 9])
    def test_files_that_may_not_grow(self, urnscan, data):
        """Met while rows are written, or when the file is completed; by the first output or another."""
        through = ["sh", "-c", f'ulimit -f {data >> 9} && exec "$@"', "sh"]
        urnscan.environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python would leave half of it
        result = urnscan("a.txt", *ALL, "--memory", "1MB", through=through, status=2)
        (line,) = result.err.splitlines()
        assert "File too large" in line
        assert urnscan.names() == ["a.txt"]

    def test_of_a_page(self, urnscan):
        urnscan("a.txt", "-o", "classes.parquet", "--quiet")
        through = ["sh", "-c", 'ulimit -f 16 && exec "$@"', "sh"]
        urnscan.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        result = urnscan("report", "classes.parquet", "-o", "page.html", through=through, status=2)
        (line,) = result.err.splitlines()
        assert line.startswith("urnscan: page.html: cannot be written: ")
        assert "File too large" in line
        assert urnscan.names() == ["a.txt", "classes.parquet"]

    def test_of_dumps(self, urnscan):
        """Of three outputs of `dedup` the last cannot be completed: none is there."""
        through = Meddling("""
from urnscan.tables.parquet_writer import ParquetOutput
def complete(self, metadata):
    from urnscan.errors import FatalError
    raise FatalError('clusters.parquet: cannot be written: No space left on device')
ParquetOutput.complete = complete
""")
        outputs = ["-o", "clusters.parquet", "--deduplicated", "out.txt", "--report", "page.html"]
        result = urnscan("dedup", "a.txt", "--record", "line", *outputs, "--no-progress", through=through, status=2)
        assert result.err.splitlines() == ["urnscan: clusters.parquet: cannot be written: No space left on device"]
        assert urnscan.names() == ["a.txt"]

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
    @pytest.mark.parametrize(("inputs", "status"), [(["a.txt", "nope"], 1), (["nope"], 2)], ids=str)
    def test_behind_standard_error(self, urnscan, inputs, status):
        """`2> log` on a disk that is full: nobody can be told, but what was to be done is done, and the status is true."""
        with Path("/dev/full").open("wb") as full:
            urnscan(*inputs, *ALL, stderr=full, status=status)
        assert urnscan.names() == ["a.txt", *(OUTPUTS if status < 2 else [])]


class TestMemory:
    """Out of memory: one line, status 2, no file; never a traceback."""

    @pytest.mark.skipif(sys.platform != "linux", reason="the limit is not kept")
    @pytest.mark.parametrize(
        "command",
        [["a.txt", *ALL], ["dedup", "a.txt", "-o", "classes.parquet"]],
        ids=["scan", "dedup"],
    )
    def test_too_little_to_begin(self, urnscan, command):
        """LLVM ends the process where it gets none: so it is not begun."""
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan(*command, through=["sh", "-c", 'ulimit -v 700000 && exec "$@"', "sh"], status=2)
        assert result.err == "urnscan: the memory limit is 683 MB (ulimit -v); set it to at least 1024 MB\n"
        assert urnscan.names() == ["a.txt"]

    @pytest.mark.core
    @pytest.mark.parametrize(
        ("module", "name", "error", "line"),
        [
            (
                "urnscan.run.worker",
                "Worker._scan_small",
                "MemoryError",
                "out of memory; where a command has -j or --memory, smaller values need less",
            ),
            (
                "urnscan.grouping.out_of_core",
                "add_up",
                'RuntimeError("can\'t start new thread")',
                "the system starts no more threads; a scan takes fewer with -j 1",
            ),
        ],
        ids=["memory", "threads"],
    )
    def test_none_left_on_the_way(self, urnscan, module, name, error, line):
        """In a thread that scans, and in one that adds up."""
        urnscan.write("a.txt", b"urn:foo:a")
        code = f"import {module} as module\ndef none(*_):\n    raise {error}\nmodule.{name} = none"
        result = urnscan("a.txt", *ALL, through=Meddling(code), status=2)
        assert result.err.splitlines() == [f"urnscan: {line}"]
        assert urnscan.names() == ["a.txt"]


PHASES = {
    "reading": ("urnscan.run.worker", "Worker._scan_small"),
    "grouping": ("urnscan.run.pipeline", "class_rows"),
    "writing": ("urnscan.tables.parquet_writer", "ParquetOutput._write_group"),
    "completing": ("urnscan.tables.parquet_writer", "ParquetOutput.complete"),
}
DEDUP_PHASES = {
    "reading": ("urnscan.dedup.read.read_dumps", "_DumpReader._dump"),
    "joining": ("urnscan.dedup.cluster_records", "components"),
    "rewriting": ("urnscan.dedup.job", "copy_without"),
    "page": ("urnscan.dedup.write.summary", "ReportClusters.page"),
}


def signalled(module: str, name: str, sent: int) -> Meddling:
    """When this is called, whoever runs the command asks it to stop."""
    return Meddling(f"""
import os
import {module} as module
real = module.{name}
def asked(*arguments, **options):
    os.kill(os.getpid(), {int(sent)})
    return real(*arguments, **options)
module.{name} = asked
""")


class TestSignals:
    """130 and 143 in every phase, with nothing left behind."""

    @pytest.mark.core
    @pytest.mark.parametrize(
        ("phase", "sent"),
        [
            ("reading", signal.SIGINT),
            ("writing", signal.SIGTERM),
            ("grouping", signal.SIGINT),
            ("completing", signal.SIGINT),
        ],
    )
    def test_of_a_scan(self, urnscan, phase, sent):
        urnscan.write("a.txt", b"urn:foo:a urn:x")
        result = urnscan(
            "a.txt", *ALL, through=signalled(*PHASES[phase], sent), status=130 if sent == signal.SIGINT else 143
        )
        assert result.err in ("urnscan: interrupted\n", "")
        assert urnscan.names() == ["a.txt"]

    @pytest.mark.parametrize(
        "phase",
        ["joining", "page", "reading", "rewriting"],
    )
    def test_of_a_deduplication(self, urnscan, phase):
        urnscan.write("a.txt", b"urn:foo:a\nurn:foo:b\nurn:foo:a\n")
        outputs = ["-o", "clusters.parquet", "--deduplicated", "out.txt", "--report", "page.html"]
        through = signalled(*DEDUP_PHASES[phase], signal.SIGTERM)
        urnscan("dedup", "a.txt", "--record", "line", *outputs, through=through, status=143)
        assert urnscan.names() == ["a.txt"]

    def test_while_outputs_appear(self, urnscan):
        """It is too late then: all are put in their places, and then it ends."""
        urnscan.write("a.txt", b"urn:foo:a urn:x")
        result = urnscan(
            "a.txt", *ALL, through=signalled("urnscan.tables.output_file", "_Local.put", signal.SIGINT), status=130
        )
        assert result.err == "urnscan: interrupted\n"
        assert urnscan.names() == ["a.txt", *OUTPUTS]

    def test_a_pipe_that_nobody_reads_any_more(self, urnscan):
        """`2>&1 | head` and `explain | head`: quietly, and the outputs are there all the same."""
        urnscan.write("a.txt", b"urn:foo:a")
        read, write = os.pipe()
        os.close(read)
        try:
            urnscan("a.txt", "nope", *ALL, stdout=write, stderr=write, status=1)
            urnscan("explain", "urn:foo:a", stdout=write)
        finally:
            os.close(write)
        assert urnscan.names() == ["a.txt", *OUTPUTS]


class Dying:
    """A server that breaks off in the middle of each of its answers."""

    LIST = (
        b'HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 5000\r\n\r\n<?xml version="1.0"?>'
        b"<ListBucketResult><Name>b</Name><Contents><Key>a.t"
    )
    BODY = b'HTTP/1.1 206 Partial Content\r\nContent-Length: 999999\r\nContent-Range: bytes 0-999998/999999\r\nETag: "x"\r\n\r\n'
    HEAD = b'HTTP/1.1 200 OK\r\nContent-Length: 999999\r\nETag: "x"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n'

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=99)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(1 << 16)
                if request.startswith(b"HEAD"):
                    connection.sendall(self.HEAD)
                elif b"list-type" in request:
                    connection.sendall(self.LIST)
                else:
                    connection.sendall(self.BODY + b"urn:foo:a\n" * 1000)

    def close(self) -> None:
        self._socket.close()


def test_a_store_that_dies(urnscan):
    """In the middle of a listing and of an object, for a scan and for `dedup`: a line each, and nothing is written.

    They wait for the server to come back, all at the same time here.
    """
    server = Dying()
    urnscan.environment |= {
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": server.address,
    }  # fmt: skip
    commands = [
        [*command, url, "-o", f"{number}.parquet"]
        for number, (command, url) in enumerate(
            (command, url) for command in ([], ["dedup"]) for url in ("s3://b/", "s3://b/k.txt")
        )
    ]
    script = Path(sys.executable).with_name("urnscan")
    running = [
        subprocess.Popen([script, *command], cwd=urnscan.folder, env=urnscan.environment, stderr=subprocess.PIPE)
        for command in commands
    ]
    for process, command in zip(running, commands, strict=True):
        _, err = process.communicate(timeout=PATIENCE)
        first, last = err.decode().splitlines()
        assert process.returncode == 2, err
        assert "s3://b/" in first
        assert "Transferred a partial file; tried 4 times" in first, command
        assert last == "urnscan: no input could be read"
    server.close()
    assert urnscan.names() == []
