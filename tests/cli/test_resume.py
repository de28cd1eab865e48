"""`--resume`: what a run had finished when it was cut off is not done again, and what comes out is the same to the byte."""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.stores.test_remote import Web
from tests.support.processes import wait_until

from .conftest import PATIENCE, Command

pytestmark = pytest.mark.full

CLASSES, OCCURRENCES = ["-o", "classes.parquet"], ["--occurrences", "occ.parquet"]
OUTPUTS = [*CLASSES, *OCCURRENCES, "--rejects", "rej.parquet"]
FILES = ["classes.parquet", "occ.parquet", "rej.parquet"]
INPUTS = ["small", "big.txt", "late.txt"]
COMMAND = [*INPUTS, *OUTPUTS, "--column", "id"]
SHARDS = ".classes.parquet.shards.urnscan-tmp"
LATE = b"urn:late:a\nurn:x\n" + b"\n" * (8 << 20)  # more than is scanned with others
ROOT = os.geteuid() == 0


def write_inputs(folder: Path) -> None:
    """Small inputs of many forms, which are one task, and a huge one, which is two; `late.txt` is not there yet."""
    small = folder / "small"
    small.mkdir()
    (small / "a.txt").write_bytes(b"urn:foo:a urn:foo:b,\nurn:foo:A urn:x urn:-y:z")
    (small / "b.txt").write_bytes(b"urn:foo:b")
    (small / "c.txt.gz").write_bytes(gzip.compress(b"\n\nurn:foo:c\nurn:x\n" * 500, mtime=0))
    with zipfile.ZipFile(small / "d.zip", "w") as archive:
        for name in ("one.txt", "d/two.txt"):
            archive.writestr(name, f"urn:foo:a\nurn:foo:{name}")
    (small / "e.csv").write_bytes(b"id,other\nurn:foo:e,urn:foo:not\nurn:foo:a,urn:foo:not\n")
    pq.write_table(pa.table({"id": ["urn:foo:f", "urn:foo:a"], "x": ["urn:foo:not", ""]}), small / "f.parquet")
    line = b"%07d urn:big:%07d urn:x urn:foo:a." + b"." * 9000 + b"\n"
    (folder / "big.txt").write_bytes(b"".join(line % (number, number % 777) for number in range(1900)))


def lines_kept(urnscan: Command) -> int:
    """How many tasks a run has finished and kept, here or in the folder for temporary files."""
    lines = [
        *urnscan.folder.glob(".*.shards.urnscan-tmp/shards"),
        *urnscan.folder.glob("tmp/.*.shards.urnscan-tmp/shards"),
    ]
    return sum(path.read_bytes().count(b"\n") - 1 for path in lines)


def cut_off(urnscan: Command, *command: str, tasks: int = 3, sent: int = signal.SIGKILL) -> str:
    """Begin a run whose last input is a FIFO; end it there, when it has kept so many tasks. What it said."""
    late = urnscan.folder / "late.txt"
    if not late.exists():
        os.mkfifo(late)
    with urnscan.start(*command) as process:
        wait_until(lambda: lines_kept(urnscan) == tasks or process.poll() is not None, "tasks are kept")
        assert process.poll() is None, process.stderr.read().decode()
        process.send_signal(sent)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == (-sent if sent == signal.SIGKILL else 128 + sent), err.decode()
    return err.decode()


def arrive(folder: Path) -> None:
    """In place of the FIFO there is a file."""
    (folder / "late.txt").unlink(missing_ok=True)
    (folder / "late.txt").write_bytes(LATE)


def outputs(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


def check(urnscan: Command, expected: list[bytes]) -> None:
    """The outputs are these, and besides the inputs nothing else is there."""
    assert outputs(urnscan.folder) == expected
    assert set(urnscan.names()) <= {*INPUTS, *FILES}


def earlier(result) -> int:
    """How many bytes the summary says came from an earlier run."""
    told = [part for part in result.summary.split(", ") if part.endswith("from an earlier run")]
    return int(told[0].split()[0].replace(",", "")) if told else 0


@pytest.fixture(scope="module")
def state(tmp_path_factory, home):
    """A folder where a plain run was killed that had all inputs but the last; now that is there, too."""
    command = Command(tmp_path_factory.mktemp("state"), home)
    write_inputs(command.folder)
    cut_off(command, *COMMAND)
    arrive(command.folder)
    return command


@pytest.fixture(scope="module")
def plain(state, tmp_path_factory, home):
    """What a plain run over the same inputs writes."""
    command = Command(tmp_path_factory.mktemp("plain"), home)
    for name in INPUTS:
        copy(state.folder / name, command.folder / name)
    command(*COMMAND)
    assert set(command.names()) == {*INPUTS, *FILES}
    return outputs(command.folder)


def copy(source: Path, target: Path) -> None:
    """With its times."""
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


@pytest.fixture
def killed(urnscan, state):
    """The command in a copy of that folder."""
    for path in state.folder.iterdir():
        copy(path, urnscan.folder / path.name)
    return urnscan


@pytest.fixture(scope="module")
def data(state):
    """Of text in what was finished, and in its huge file."""
    result = state("small", "--occurrences", "other.parquet", "--column", "id")
    (state.folder / "other.parquet").unlink()
    (small,) = [part for part in result.summary.split(", ") if part.endswith(" bytes")]
    big = (state.folder / "big.txt").stat().st_size
    return int(small.split()[0].replace(",", "")) + big, big


class TestKilled:
    """What was finished is taken over, the rest is done."""

    def test_a_plain_run(self, killed, plain, data):
        result = killed(*COMMAND, "--resume")
        assert earlier(result) == data[0]
        assert result.said == []
        check(killed, plain)

    def test_a_run_with_resume_and_one_that_was_itself_resumed(self, urnscan, plain, data):
        """Kill after kill, with other numbers of threads and other memory."""
        write_inputs(urnscan.folder)
        (urnscan.folder / "big.txt").rename(urnscan.folder / "big")
        os.mkfifo(urnscan.folder / "big.txt")
        cut_off(urnscan, *COMMAND, "--resume", "-j", "1", tasks=1)
        (urnscan.folder / "big").rename(urnscan.folder / "big.txt")
        cut_off(urnscan, *COMMAND, "--resume", "-j", "2", "--memory", "1MB")
        cut_off(urnscan, *COMMAND, "--resume", "-j", "1", "--no-progress")
        arrive(urnscan.folder)
        result = urnscan(*COMMAND, "--resume", "-j", "3", "--memory", "2MB", "--force")
        assert earlier(result) == data[0]
        check(urnscan, plain)

    def test_a_plain_run_removes_what_a_short_one_left(self, killed, plain):
        result = killed(*COMMAND)
        assert earlier(result) == 0
        check(killed, plain)

    def test_work_that_is_kept_is_not_lost(self, urnscan, data):
        """A plain run, or one with other options, does not begin before somebody has decided: one line says how."""
        write_inputs(urnscan.folder)
        cut_off(urnscan, *COMMAND, "--resume", "--no-progress", sent=signal.SIGTERM)
        arrive(urnscan.folder)
        work = f"the work of an earlier run on {data[0]:,} bytes, interrupted at [-0-9]+ [:0-9]+, is"
        with_resume, force = "--resume continues it", "--force discards it"
        for options, expected in (
            ([], f"{work} kept; {with_resume}, {force}"),
            (["--trim"], rf"{work} kept; that run had other options \(trim\); its command with {with_resume}, {force}"),
            (["--trim", "--resume"], rf"{work} kept; that run had other options \(trim\); .*"),
            (["--nid", "isbn", "--resume"], rf"{work} kept; that run had other options \(nid\); .*"),
        ):
            (line,) = urnscan(*COMMAND, *options, status=2).err.splitlines()
            assert re.fullmatch(f"urnscan: classes.parquet: {expected}", line)
            assert lines_kept(urnscan) == 3
        result = urnscan(*COMMAND, "--force")
        (line,) = result.said
        assert re.fullmatch(f"urnscan: --force: {work} discarded", line)
        assert earlier(result) == 0
        assert SHARDS not in urnscan.names()

    def test_work_of_other_inputs_is_told(self, killed, data):
        result = killed("late.txt", *OUTPUTS, "--column", "id", "--resume")
        reason = "is not used; its inputs have changed, or are missing"
        assert result.said == [f"urnscan: the work of an earlier run on {data[0]:,} bytes {reason}"]

    def test_the_remains_are_no_inputs(self, killed):
        assert set(killed.printed(".", "--exclude", "big.txt", "--exclude", "small")) == {"./late.txt:1:urn:late:a"}


class TestChanges:
    """What is not as it was is done again."""

    def expected(self, killed, *command):
        """What a plain run writes in the same folder."""
        killed(*command, "--force")
        assert SHARDS not in killed.names()
        return [(killed.folder / name).read_bytes() for name in FILES if (killed.folder / name).exists()]

    def check(self, killed, *command):
        """Resume, and compare; the result of the resumed run."""
        result = killed(*command, "--resume")
        resumed = [(killed.folder / name).read_bytes() for name in FILES if (killed.folder / name).exists()]
        assert resumed == self.expected(killed, *command)
        return result

    def test_an_input_of_the_same_size(self, killed, data):
        (killed.folder / "small/b.txt").write_bytes(b"urn:foo:Z")
        assert earlier(self.check(killed, *COMMAND)) == data[1]
        assert ("urn:foo:Z",) in killed.rows("classes.parquet", "urn")

    def test_an_input_before_the_others(self, killed):
        """What stands behind it has another place."""
        killed.write("first.txt", b"urn:foo:new")
        assert earlier(self.check(killed, "first.txt", *COMMAND)) == 0

    def test_an_input_behind_the_others(self, killed, data):
        killed.write("first.txt", b"urn:foo:new")
        assert earlier(self.check(killed, *COMMAND, "first.txt")) == data[0]

    def test_options(self, killed):
        result = self.check(killed, *COMMAND, "--trim")
        assert result.said == ["urnscan: the earlier run had other options; the scan begins at the first input"]
        assert earlier(result) == 0

    def test_rules(self, killed):
        """Other rules are another run, also under the same name."""
        rules = '[foo]\ntitle = "t"\nrule = "r"\nequality = "e"\nsyntax = "s"\ngrammar = "(?<upper>[a-z]+)"\n'
        killed.write("rules.toml", rules.encode())
        result = self.check(killed, *COMMAND, "--rules", "rules.toml", "--equivalence", "namespace")
        assert result.said == ["urnscan: the earlier run had other options; the scan begins at the first input"]
        assert earlier(result) == 0

    def test_tables(self, killed):
        result = self.check(killed, *INPUTS, *CLASSES, "--column", "id")
        assert result.said == ["urnscan: the earlier run had other options; the scan begins at the first input"]

    @pytest.mark.core
    def test_what_does_not_matter(self, killed, plain, data):
        other = ["--exclude", "nothing", "--strict", "-j", "7", "--memory", "1MB"]
        assert earlier(killed(*COMMAND, *other, "--resume")) == data[0]
        check(killed, plain)


def flip(path: Path, at: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(at * len(data))] ^= 1
    path.write_bytes(data)


def append(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


# What of the big file is then still whole: how many of its two parts. (tests/run/test_resume.py has every byte.)
DAMAGES = {
    "a byte of the first rows": (2, lambda folder: flip(folder / "rows.arrows", 0)),
    "rows cut off": (
        1,
        lambda folder: os.truncate(folder / "rows.arrows", (folder / "rows.arrows").stat().st_size - 9),
    ),
    "a line cut off": (1, lambda folder: os.truncate(folder / "shards", (folder / "shards").stat().st_size - 30)),
    "lines of something else": (2, lambda folder: append(folder / "shards", b'{"stamp": []}\n[]\n\xff\n')),
    "nothing in it": (0, lambda folder: [path.unlink() for path in folder.iterdir()]),
}


class TestDamage:
    """What was kept and is not whole any more is done again."""

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_of_files(self, killed, plain, damage):
        parts, do_damage = DAMAGES[damage]
        do_damage(killed.folder / SHARDS)
        assert earlier(killed(*COMMAND, "--resume")) // (8 << 20) == parts
        check(killed, plain)

    def test_a_folder_that_is_a_file(self, urnscan):
        """One line that says what to do."""
        urnscan.write("small", b"urn:foo:a")
        urnscan.write(SHARDS, b"mine")
        result = urnscan("small", *CLASSES, "--resume", status=2)
        reason = "the work of an earlier run cannot be read: it is not a folder, or belongs to another user; remove it to start again"
        assert result.err.splitlines() == [f"urnscan: {urnscan.folder}/{SHARDS}: {reason}"]
        assert urnscan.names() == [SHARDS, "small"]

    def test_a_folder_without_permission(self, killed, plain):
        through = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if ROOT else []
        if through and (shutil.which("setpriv") is None or subprocess.run([*through, "true"], check=False).returncode):
            pytest.skip("root reads everything here")
        (killed.folder / SHARDS).chmod(0)
        try:
            (line,) = killed(*COMMAND, "--resume", through=through, status=2).err.splitlines()
            assert "Permission denied; remove it to start again" in line
            killed(*COMMAND, through=through)
        finally:
            (killed.folder / SHARDS).chmod(0o700)
        assert outputs(killed.folder) == plain


class TestFailures:
    """A task in which an input failed is done again."""

    def test_an_input_that_is_repaired(self, urnscan):
        """Though it has the size and the time of before, as from a copy that keeps them; and `--strict` keeps what was done."""
        write_inputs(urnscan.folder)
        good = gzip.compress(b"urn:foo:repaired\n" * 99, mtime=0)
        path = urnscan.write("bad.gz", good[:-8] + b"\0" * 8)
        times = path.stat().st_atime_ns, path.stat().st_mtime_ns
        command = ["big.txt", "bad.gz", *OUTPUTS, "--strict", "--resume"]
        *_, told, hint = urnscan(*command, status=2).said
        assert told == "urnscan: stopped at the first input that failed (--strict)"
        assert "--resume" in hint, "how to go on comes last"
        assert lines_kept(urnscan) == 2
        path.write_bytes(good)
        os.utime(path, ns=times)
        result = urnscan(*command)
        assert earlier(result) == (urnscan.folder / "big.txt").stat().st_size
        assert "failure" not in result.summary
        resumed = outputs(urnscan.folder)
        urnscan(*command, "--force")
        assert outputs(urnscan.folder) == resumed

    def test_an_input_that_fails_again_is_told_again(self, killed):
        """Also where the first run was killed after it had told so."""
        shutil.rmtree(killed.folder / SHARDS)
        (killed.folder / "late.txt").unlink()
        killed.write("small/bad.gz", gzip.compress(b"urn:foo:bad\n" * 99)[:-4])
        cut_off(killed, *COMMAND, tasks=2)
        arrive(killed.folder)
        result = killed(*COMMAND, "--resume", status=1)
        assert len([line for line in result.said if "bad.gz" in line]) == 1
        assert earlier(result) == (killed.folder / "big.txt").stat().st_size
        resumed = outputs(killed.folder)
        killed(*COMMAND, "--force", status=1)
        assert outputs(killed.folder) == resumed

    def test_a_disk_that_is_full_and_then_is_larger(self, urnscan):
        if not ROOT or sys.platform != "linux" or shutil.which("unshare") is None:
            pytest.skip("only root may mount")
        data = b"".join(b"urn:uuid:%x " % (number * 0x9E3779B97F4A7C15**3 % 2**128) for number in range(30_000))
        for letter in "abcdef":
            urnscan.write(f"{letter}.txt", data + b"\n" * (8 << 20))
        (urnscan.folder / "out").mkdir()
        script = (
            "mount -t tmpfs -o size=3m none out || exit 77; "
            '"$@"; echo $?; mount -o remount,size=64m out; "$@"; echo $?; ls -A out; cat out/occ.parquet > occ.parquet'
        )
        command = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "--occurrences", "out/occ.parquet", "--resume"]
        through = ["unshare", "--mount", "sh", "-c", script, "sh"]
        done = subprocess.run(
            [*through, Path(sys.executable).with_name("urnscan"), *command],
            cwd=urnscan.folder,
            env=urnscan.environment,
            capture_output=True,
            check=False,
        )
        if done.returncode == 77:
            pytest.skip("nothing can be mounted here")
        assert done.stdout.split() == [b"2", b"0", b"occ.parquet"], done
        said = done.stderr.decode().splitlines()
        assert [line for line in said if "No space left on device" in line] != []
        assert "bytes from an earlier run" in said[-1]
        resumed = (urnscan.folder / "occ.parquet").read_bytes()
        urnscan(*command[:-2], "occ.parquet", "--force")
        assert (urnscan.folder / "occ.parquet").read_bytes() == resumed


class TestEnds:
    """A run that is asked to end."""

    def test_with_resume(self, urnscan, plain, data):
        write_inputs(urnscan.folder)
        err = cut_off(urnscan, *COMMAND, "--resume", "--no-progress", sent=signal.SIGTERM)
        assert err.splitlines() == [
            "urnscan: finished work is kept next to the output; the same command with --resume continues it",
        ]
        assert set(urnscan.names()) == {*INPUTS, SHARDS}
        arrive(urnscan.folder)
        assert earlier(urnscan(*COMMAND, "--resume")) == data[0]
        check(urnscan, plain)

    @pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
    def test_without_it_when_it_was_short(self, urnscan, sent):
        write_inputs(urnscan.folder)
        err = cut_off(urnscan, *COMMAND, sent=sent)
        assert "--resume" not in err
        assert set(urnscan.names()) == set(INPUTS)


class TestOthers:
    """One run at a time resumes an output."""

    def test_a_run_that_lives(self, urnscan, plain, data):
        write_inputs(urnscan.folder)
        os.mkfifo(urnscan.folder / "late.txt")
        with urnscan.start(*COMMAND) as process:
            wait_until(lambda: lines_kept(urnscan) == 3, "tasks are kept")
            result = urnscan(*COMMAND, "--resume", status=2)
            assert result.err.splitlines() == ["urnscan: classes.parquet: another run is writing it; wait for its end"]
            assert urnscan("small", *OUTPUTS, status=2).err == result.err
            urnscan("small", *OUTPUTS, "--force")
            assert lines_kept(urnscan) == 3
            process.kill()
            process.wait()
        arrive(urnscan.folder)
        assert earlier(urnscan(*COMMAND, "--resume", "--force")) == data[0]
        check(urnscan, plain)

    def test_standard_input_is_read_again(self, killed, data):
        """It may be another one."""
        command = ["-", "big.txt", *OUTPUTS, "--resume"]
        (killed.folder / "late.txt").unlink()
        os.mkfifo(killed.folder / "late.txt")
        shutil.rmtree(killed.folder / SHARDS)
        with killed.start(*command, "late.txt", stdin=subprocess.PIPE) as process:
            process.stdin.write(b"urn:foo:first")
            process.stdin.close()
            wait_until(lambda: lines_kept(killed) == 2, "tasks are kept")
            process.kill()
            process.wait()
        result = killed(*command, stdin=b"urn:foo:other")
        assert earlier(result) == data[1]
        assert killed.rows("occ.parquet", "urn")[0] == ("urn:foo:other",)

    @pytest.mark.parametrize("change", ["nothing", "the ETag", "no ETag"])
    def test_urls(self, urnscan, change):
        """RFC 9110, 8.8: what has the ETag of before is not read again; else it is, and that is said."""
        web = Web()
        try:
            web.pages = {"/a.txt": b"urn:foo:a\n" * 9, "/b.txt": b"urn:foo:b\n"}
            if change == "no ETag":
                web.etag = None
            command = [f"{web.url}/a.txt", f"{web.url}/b.txt", "late.txt", *CLASSES, *OCCURRENCES]
            late = urnscan.folder / "late.txt"
            os.mkfifo(late)
            with urnscan.start(*command, "--resume") as process:
                wait_until(lambda: len(web.asked) >= 4, "both are read")
                if change != "no ETag":
                    wait_until(lambda: lines_kept(urnscan) == 1, "the task is kept")
                process.kill()
                process.wait()
            web.asked.clear()
            late.unlink()
            late.write_bytes(LATE)
            if change == "the ETag":
                web.pages["/a.txt"], web.etag = b"urn:foo:x\n" * 9, '"2"'
            result = urnscan(*command, "--resume")
        finally:
            web.close()
        read = {path for _, path, data in web.asked if data != "bytes=0-0"}
        assert read == (set() if change == "nothing" else {"/a.txt", "/b.txt"})
        assert earlier(result) == (100 if change == "nothing" else 0)
        first = "urn:foo:x" if change == "the ETag" else "urn:foo:a"
        assert urnscan.rows("occ.parquet", "urn") == [(first,)] * 9 + [("urn:foo:b",), ("urn:late:a",)]
        said = "\n".join(result.said)
        assert ("is not used" in said) == (change == "the ETag")
        assert ("2 URLs read from the start, as the server gives" in said) == (change == "no ETag")

    def test_no_output(self, urnscan):
        urnscan.write("a.txt", b"urn:foo:a")
        result = urnscan("a.txt", "--resume", status=2)
        assert result.err.splitlines() == [
            "urnscan: --resume needs an output; name it with -o, --occurrences, --rejects or --partial"
        ]
        assert result.out == b""

    def test_outputs_in_a_store(self, urnscan, plain, data, s3_server):
        """What is kept lies here, in the folder for temporary files."""
        boto3 = pytest.importorskip("boto3")
        (urnscan.folder / "tmp").mkdir()
        access = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_ENDPOINT_URL": s3_server}
        urnscan.environment |= {**access, "TMPDIR": str(urnscan.folder / "tmp")}
        client = boto3.client(
            "s3",
            region_name="us-east-1",
            endpoint_url=s3_server,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        client.create_bucket(Bucket="resumed")
        write_inputs(urnscan.folder)
        command = [word if word not in FILES else f"s3://resumed/{word}" for word in COMMAND]
        cut_off(urnscan, *command)
        arrive(urnscan.folder)
        urnscan("small", "-o", "s3://resumed/other/classes.parquet")  # another output of the same name
        assert earlier(urnscan(*command, "--resume")) == data[0]
        assert not [name for name in urnscan.names("tmp") if "shards" in name]
        assert [client.get_object(Bucket="resumed", Key=name)["Body"].read() for name in FILES] == plain


KILLS = int(os.environ.get("URNSCAN_TEST_KILLS", "4"))


def test_kills_at_any_moment(urnscan):
    """While it begins, scans, spills, sorts, writes, or ends: at last the outputs are those of a plain run."""
    data = b"".join(b"urn:uuid:%032x \n" % (number * 0x9E3779B97F4A7C15**3 % 2**128) for number in range(250_000))
    path = urnscan.write("d/0.txt", data)
    (urnscan.folder / "d/1.txt").hardlink_to(path)
    command = ["d", "small.txt", *OUTPUTS, "--memory", "10MB", "--quiet"]
    urnscan.write("small.txt", b"urn:foo:a urn:x")
    began = time.monotonic()
    urnscan(*command)
    seconds = time.monotonic() - began
    plain = outputs(urnscan.folder)
    kills = 0
    moments = random.Random(KILLS)
    while kills < KILLS:
        for name in FILES:
            (urnscan.folder / name).unlink(missing_ok=True)
        resume: list[str] = []
        while True:
            with urnscan.start(*command, *resume, "--force") as process:
                try:
                    process.wait(moments.uniform(0.2, 0.8) * seconds if kills < KILLS else PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    kills += 1
                _, err = process.communicate(timeout=PATIENCE)
            resume = ["--resume"]
            if process.returncode != -signal.SIGKILL:
                break
        assert (process.returncode, err) == (0, b"")
        assert set(urnscan.names()) == {"d", "small.txt", *FILES}
        assert outputs(urnscan.folder) == plain
