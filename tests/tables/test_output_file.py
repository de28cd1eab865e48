"""Outputs on this machine: a file appears at its path whole, or not at all."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.outputs import METADATA, SCHEMA, fail, incompressible, one_line, rows_of, write
from tests.support.walks import find_inputs
from urnscan.errors import FatalError
from urnscan.inputs.selection import Selection
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.tables import output_file
from urnscan.tables.output_file import SHARDS_SUFFIX, work_folder
from urnscan.tables.parquet_writer import ParquetOutput


class TestWholeOrNotAtAll:
    """Contract: "An output exists only whole: it appears by rename at the end, or not at all." """

    def test_appears_by_commit(self, tmp_path):
        path = tmp_path / "out.parquet"
        with ParquetOutput(path, SCHEMA) as file:
            file.write(rows_of(range(10)))
            assert not path.exists()
            file.commit(METADATA)
            assert pq.read_table(path).to_pylist() == rows_of(range(10)).to_pylist()
        assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]
        assert pq.read_table(path).num_rows == 10

    @pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
    def test_nothing_is_left_after_an_exception(self, tmp_path, error):
        with pytest.raises(error):
            fail(tmp_path / "out.parquet", error)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_left_without_a_commit(self, tmp_path):
        with ParquetOutput(tmp_path / "out.parquet", SCHEMA) as file:
            file.write(rows_of(range(3)))
        assert list(tmp_path.iterdir()) == []

    def test_what_was_spilled_into_the_work_folder_goes_too(self, tmp_path):
        with ParquetOutput(tmp_path / "out.parquet", SCHEMA) as file:
            assert file.folder.parent == tmp_path
            (file.folder / "spilled").mkdir()
            (file.folder / "spilled" / "run").write_bytes(b"x")
            file.commit(METADATA)
        assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]

    def test_old_file_stays_until_the_commit(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        with pytest.raises(ZeroDivisionError):
            fail(path, ZeroDivisionError, force=True)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_reader_of_the_old_file_is_not_disturbed(self, tmp_path):
        """The new file replaces the old one by rename: a process that has the old one open reads it to its end."""
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        with path.open("rb") as reader:
            write(path, [rows_of(range(3))], force=True)
            assert reader.read() == b"old"
        assert pq.read_table(path).num_rows == 3

    def test_no_rows(self, tmp_path):
        path = tmp_path / "out.parquet"
        write(path, [])
        assert pq.read_table(path).num_rows == 0
        assert pq.read_schema(path).names == SCHEMA.names

    def test_permissions_are_those_of_other_files(self, tmp_path):
        """The work folder is for its owner alone; the file is not."""
        (tmp_path / "other").touch()
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        modes = {stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir()}
        assert len(modes) == 1

    def test_two_outputs_side_by_side(self, tmp_path):
        """Their names may begin alike."""
        with ParquetOutput(tmp_path / "a", SCHEMA) as one, ParquetOutput(tmp_path / "a.b", SCHEMA) as other:
            one.write(rows_of([1]))
            other.write(rows_of([2]))
            one.commit(METADATA)
            other.commit(METADATA)
        assert pq.read_table(tmp_path / "a").column("number").to_pylist() == [1]
        assert pq.read_table(tmp_path / "a.b").column("number").to_pylist() == [2]


class TestPlace:
    """Contract: "an existing output is an error without" --force; a folder, a device and the like are an error always."""

    @pytest.mark.parametrize("name", ["urns.csv", "urns.JSON", "urns.parquet.gz"])
    def test_name_of_another_form(self, tmp_path, name):
        """Parquet in a file that is called .csv would look damaged to a program that opens it."""
        with pytest.raises(FatalError, match=r"not as \.\w+; use \.parquet") as caught:
            ParquetOutput(tmp_path / name, SCHEMA)
        one_line(caught, tmp_path / name)
        assert not list(tmp_path.iterdir())

    def test_existing(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA)
        assert "exists already; force=True replaces it" in one_line(caught, path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_force(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        write(path, [rows_of(range(3))], force=True)
        assert pq.read_table(path).num_rows == 3
        write(tmp_path / "new.parquet", [rows_of(range(3))], force=True)
        assert pq.read_table(tmp_path / "new.parquet").num_rows == 3

    @pytest.mark.parametrize("force", [False, True])
    def test_folder_is_missing(self, tmp_path, force):
        path = tmp_path / "missing" / "out.parquet"
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA, force=force)
        assert "does not exist" in one_line(caught, path)
        assert str(path.parent) in str(caught.value)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("force", [False, True])
    def test_is_a_folder(self, tmp_path, force):
        with pytest.raises(FatalError) as caught:
            ParquetOutput(tmp_path, SCHEMA, force=force)
        assert "folder" in one_line(caught, tmp_path)

    @pytest.mark.parametrize("force", [False, True])
    def test_folder_is_a_file(self, tmp_path, force):
        (tmp_path / "file").touch()
        path = tmp_path / "file" / "out.parquet"
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA, force=force)
        one_line(caught, path)

    @pytest.mark.parametrize("force", [False, True])
    def test_is_no_regular_file(self, tmp_path, force):
        """A rename would put a file in the place of /dev/null."""
        path = tmp_path / "fifo"
        os.mkfifo(path)
        with pytest.raises(FatalError) as caught:
            ParquetOutput(path, SCHEMA, force=force)
        assert "regular file" in one_line(caught, path)
        assert stat.S_ISFIFO(path.stat().st_mode)

    def test_relative_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write("out.parquet", [rows_of(range(3))])
        assert os.listdir(tmp_path) == ["out.parquet"]  # noqa: PTH208

    def test_strange_name(self, tmp_path):
        """The name is no pattern."""
        path = tmp_path / "[a]*?.parquet"
        write(path, [rows_of(range(3))])
        write(path, [rows_of(range(4))], force=True)
        assert list(tmp_path.iterdir()) == [path]
        assert pq.read_table(path).num_rows == 4

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_folder_that_cannot_be_written_to(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(FatalError) as caught:
            ParquetOutput(tmp_path / "out.parquet", SCHEMA)
        one_line(caught, tmp_path / "out.parquet")


class TestLink:
    """A symbolic link as output stays one; its target is replaced."""

    def test_leads_to_a_file(self, tmp_path):
        (tmp_path / "data").mkdir()
        target, path = tmp_path / "data" / "target.parquet", tmp_path / "out.parquet"
        target.write_bytes(b"old")
        path.symlink_to("data/target.parquet")
        with pytest.raises(FatalError, match="force=True"):
            ParquetOutput(path, SCHEMA)
        write(path, [rows_of(range(3))], force=True)
        assert path.is_symlink()
        assert not target.is_symlink()
        assert pq.read_table(target).num_rows == 3
        assert [entry.name for entry in target.parent.iterdir()] == ["target.parquet"]

    def test_leads_nowhere_yet(self, tmp_path):
        path = tmp_path / "out.parquet"
        path.symlink_to("target.parquet")
        write(path, [rows_of(range(3))], force=True)
        assert path.is_symlink()
        assert pq.read_table(tmp_path / "target.parquet").num_rows == 3

    def test_leads_to_a_folder(self, tmp_path):
        (tmp_path / "folder").mkdir()
        path = tmp_path / "out.parquet"
        path.symlink_to("folder")
        with pytest.raises(FatalError, match="folder"):
            ParquetOutput(path, SCHEMA, force=True)


class TestWorkFolder:
    """A run removes the folder of a dead run for the same output; that of a living one stays."""

    def stale(self, tmp_path, name="out.parquet", *, locked=True, age=0.0):
        folder = tmp_path / f".{name}.abc123{TEMPORARY_SUFFIX}"
        folder.mkdir()
        (folder / "output.parquet").write_bytes(b"half")
        if locked:
            (folder / "lock").touch()
        then = time.time() - age
        os.utime(folder, (then, then))
        return folder

    def test_name(self, tmp_path):
        """The name is hidden, and a walk passes it over."""
        with work_folder(tmp_path / "out.parquet") as folder:
            assert folder.name.startswith(".out.parquet.")
            (folder / "output.parquet").touch()
            assert list(find_inputs([str(tmp_path)], Selection())) == []

    def test_gone_afterwards(self, tmp_path):
        with work_folder(tmp_path / "out.parquet") as folder:
            (folder / "more").touch()
        assert list(tmp_path.iterdir()) == []

    def test_of_a_dead_process(self, tmp_path):
        """A process that is killed cannot clean up; the system gives back its lock."""
        code = (
            "import sys, time\n"
            "from pathlib import Path\n"
            "from urnscan.tables.output_file import work_folder\n"
            "with work_folder(Path(sys.argv[1])) as folder:\n"
            "    print(folder, flush=True)\n"
            "    time.sleep(60)\n"
        )
        path = tmp_path / "out.parquet"
        with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) as process:
            folder = Path(process.stdout.readline().strip())
            assert folder.is_dir()
            with work_folder(path) as ours:
                assert folder.is_dir(), "the other process is alive"
                assert ours != folder
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert folder.is_dir()
        with work_folder(path):
            assert not folder.exists()
        assert list(tmp_path.iterdir()) == []

    def test_of_a_living_one(self, tmp_path):
        folder = self.stale(tmp_path, age=3_600)
        with (folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            write(tmp_path / "out.parquet", [rows_of(range(3))])
            assert (folder / "output.parquet").read_bytes() == b"half"
        write(tmp_path / "out.parquet", [rows_of(range(3))], force=True)
        assert not folder.exists()

    def test_of_another_output(self, tmp_path):
        folder = self.stale(tmp_path, "other.parquet")
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert folder.exists()

    def test_name_is_no_pattern(self, tmp_path):
        own, other = self.stale(tmp_path, "[ab]?.parquet"), self.stale(tmp_path, "ax.parquet")
        write(tmp_path / "[ab]?.parquet", [rows_of(range(3))])
        assert not own.exists()
        assert other.exists()

    @pytest.mark.parametrize(("age", "stays"), [(0, True), (3_600, False)])
    def test_without_a_lock(self, tmp_path, age, stays):
        """Without a lock a young folder may be one that is being made; an old one is not."""
        folder = self.stale(tmp_path, locked=False, age=age)
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert folder.exists() is stays

    def test_what_is_kept_for_resuming_stays(self, tmp_path):
        """The folder for `--resume` stays however old it is; its lock has another name."""
        folder = self.stale(tmp_path, locked=False, age=3_600).rename(tmp_path / f".out.parquet{SHARDS_SUFFIX}")
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert folder.is_dir()

    def test_being_made_this_moment(self, tmp_path):
        """Another process may look for stale folders between the making of a folder and its lock."""
        path = tmp_path / "out.parquet"
        original = fcntl.flock
        looked = []

        def slow(*arguments):
            if not looked:
                looked.append(True)
                with work_folder(path):
                    pass
            return original(*arguments)

        with mock.patch.object(output_file.fcntl, "flock", slow), work_folder(path) as folder:
            assert folder.is_dir()
        assert list(tmp_path.iterdir()) == []

    def test_that_is_none(self, tmp_path):
        """Files and links of such a name stay and cause no error."""
        name = tmp_path / f".out.parquet.abc123{TEMPORARY_SUFFIX}"
        name.write_bytes(b"a file")
        write(tmp_path / "out.parquet", [rows_of(range(3))])
        assert name.read_bytes() == b"a file"


class TestDiskFull:
    """Contract, exit status 2: FatalError in one line, and no file."""

    def test_no_room(self, tmp_path):
        """A file system of its own, where one can be had."""
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "none", tmp_path], check=False, capture_output=True
        )
        if mounted.returncode:
            pytest.skip("mounting is for root")
        path = tmp_path / "out.parquet"
        try:
            with incompressible() as (schema, batch):
                with pytest.raises(FatalError) as caught:
                    write(path, [batch], schema)
                assert "No space left" in one_line(caught, path)
                assert list(tmp_path.iterdir()) == []
        finally:
            subprocess.run(["umount", tmp_path], check=True)

    @pytest.mark.parametrize("rows", [20_000, 4_000])
    def test_file_may_not_grow(self, tmp_path, rows):
        """A limit of the size of files is met while groups are written, or only at the end."""
        path = tmp_path / "out.parquet"
        path.write_bytes(b"old")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        with incompressible(rows) as (schema, batch):
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
            try:
                with pytest.raises(FatalError) as caught:
                    write(path, [batch], schema, force=True)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
        one_line(caught, path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_while_it_is_completed(self, tmp_path):
        path = tmp_path / "out.parquet"
        full = OSError(28, "No space left on device")
        with mock.patch.object(output_file.os, "fsync", side_effect=full), pytest.raises(FatalError) as caught:
            write(path, [rows_of(range(3))])
        assert "No space left on device" in one_line(caught, path)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_what_comes_into_being_during_the_run_is_not_replaced(tmp_path, monkeypatch, has_links):
    """Contract: "an existing output is an error without" `--force`, also when it exists only at the end, and on a file
    system without links.
    """
    if not has_links:
        monkeypatch.setattr(
            output_file.os, "link", mock.Mock(side_effect=PermissionError(1, "Operation not permitted"))
        )
    path = tmp_path / "out.parquet"
    schema = pa.schema([("a", pa.int64())])
    with ParquetOutput(path, schema) as late:
        path.write_bytes(b"somebody else's")
        with pytest.raises(FatalError, match="was created during the run"):
            late.commit({})
    assert path.read_bytes() == b"somebody else's"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.parquet"]
    write(tmp_path / "other.parquet", [rows_of(range(3))])
    assert pq.read_table(tmp_path / "other.parquet").num_rows == 3
