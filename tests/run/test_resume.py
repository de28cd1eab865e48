"""What a run has finished is found again whole or not at all, whatever became of its files."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.errors import FatalError, SourceError
from urnscan.run import resume as module
from urnscan.run.resume import Shards, stamp
from urnscan.run.task_results import Begun, Counts, Done, Failed, ResultRows
from urnscan.run.tasks import FileGroup, FilePart
from urnscan.stores.input import Input, Listed
from urnscan.stores.urls import Remote, parse_url

MEANING = {"syntax": "rfc2141", "version": "1"}
TABLES = ("partial", "occurrences", "rejects")


def rows(*texts):
    """Rows with a column of each kind that tables have."""
    return pa.RecordBatch.from_pydict(
        {
            "source": pa.array(texts, pa.string()).dictionary_encode(),
            "text": pa.array(texts, pa.string()),
            "line": pa.array([len(text) for text in texts], pa.int64()),
            "resolver": pa.nulls(len(texts), pa.string()),
        }
    )


def name(number):
    """What stands for the stamp of a task."""
    return f"{number:032x}"


TASKS = {
    name(0): [
        ResultRows(
            Counts(occurrences=2, trimmable=1),
            partial=rows("a", "b"),
            occurrences=rows("a", "ü"),
            names={0: "a", 7: "ü\n"},
        ),
        ResultRows(Counts(rejects=1), rejects=rows("urn:")),
        Done(Counts(inputs=2, byte_count=100)),
    ],
    name(1): [Done(Counts(inputs=1, byte_count=10), lines=4)],
    name(2): [Done()],
    name(3): [
        ResultRows(Counts(occurrences=3), partial=rows("c", "d", "c")),
        Done(Counts(inputs=1, byte_count=20), lines=5),
    ],
}


def said(piece):
    """All that a piece tells, with its rows as they are."""
    if isinstance(piece, Done):
        return piece
    tables = [None if (table := getattr(piece, each)) is None else table.to_pydict() for each in TABLES]
    return [piece.counts, dict(piece.names), *tables]


EXPECTED = {task: [said(piece) for piece in pieces] for task, pieces in TASKS.items()}


def add(shards, task, *pieces, is_kept=False):
    shards.add(Begun(stamp=task, is_kept=is_kept))
    for piece in pieces:
        shards.add(piece)


def keep(shards, tasks=tuple(TASKS)):
    for task in tasks:
        add(shards, task, *TASKS[task])


def kept(shards):
    """What is found of all tasks."""
    found = {task: shards.find(task) for task in TASKS}
    return {
        task: [said(piece) for piece in shards.pieces(pieces)] for task, pieces in found.items() if pieces is not None
    }


def resumed(folder, meaning=MEANING, name="out"):
    return Shards(folder / name, meaning, resume=True)


def places(folder, name="out"):
    """The folder of shards, its file of lines and its file of rows."""
    below = folder / f".{name}.shards.urnscan-tmp"
    return below, below / "shards", below / "rows.arrows"


@pytest.fixture
def left(tmp_path):
    """A folder in which a run was cut off when it had finished all tasks."""
    with resumed(tmp_path) as shards:
        keep(shards)
    return tmp_path


class Whole(NamedTuple):
    """The files of a run that finished all tasks."""

    lines: bytes
    rows: bytes


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with resumed(folder) as shards:
        keep(shards)
    _, lines, raw = places(folder)
    return Whole(lines.read_bytes(), raw.read_bytes())


def check_and_go_on(lines, raw):
    """From these files come whole shards or none; when the others were added, all are there. Gives how many there were."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        below, *files = places(folder)
        below.mkdir(0o700)
        for path, content in zip(files, (lines, raw), strict=True):
            path.write_bytes(content)
        with resumed(folder) as shards:
            before = kept(shards)
            assert before == {task: EXPECTED[task] for task in before}
            keep(shards, [task for task in TASKS if task not in before])
        with resumed(folder) as shards:
            assert kept(shards) == EXPECTED
        return len(before)


class TestKept:
    """What was added is found, in this run's next one and the one after it."""

    def test_all_of_it(self, left):
        for _ in range(3):
            with resumed(left) as shards:
                assert kept(shards) == EXPECTED

    def test_rows_come_back_with_their_schema(self, left):
        with resumed(left) as shards:
            piece = next(shards.pieces(shards.find(name(0))))
        assert piece.partial.equals(TASKS[name(0)][0].partial, check_metadata=True)
        assert piece.occurrences.schema == TASKS[name(0)][0].occurrences.schema

    def test_rows_of_an_earlier_edition(self, tmp_path):
        """A version before kept them, and this one goes on: the columns get their names of now."""
        before = rows("a", "b").rename_columns(["source", "text", "offset", "trailing"])
        with resumed(tmp_path) as shards:
            add(shards, name(0), ResultRows(Counts(), occurrences=before), Done(Counts()))
            shards._mark()
        with resumed(tmp_path) as shards:
            piece = next(shards.pieces(shards.find(name(0))))
        assert piece.occurrences.equals(before.rename_columns(["source", "text", "start", "punctuation"]))

    def test_what_is_not_known_by_a_stamp_is_not_kept(self, tmp_path):
        with resumed(tmp_path) as shards:
            add(shards, "", *TASKS[name(0)])
            assert [*tmp_path.iterdir()] == []  # not even for the time being
            keep(shards, [name(1)])
        with resumed(tmp_path) as shards:
            assert shards.find("") is None
            assert [*kept(shards)] == [name(1)]

    def test_a_task_in_which_something_failed_is_not_kept(self, tmp_path):
        """Neither what came before it nor what comes behind it in the task; the next task is."""
        with resumed(tmp_path) as shards:
            failure = Failed(0, "a", SourceError("a", "broken"))
            add(shards, name(0), TASKS[name(0)][0], failure, TASKS[name(0)][1])
            keep(shards, [name(1), name(3)])
        with resumed(tmp_path) as shards:
            assert [*kept(shards)] == [name(1), name(3)]

    def test_what_was_kept_is_counted_and_not_kept_twice(self, left):
        _, *files = places(left)
        before = [path.read_bytes() for path in files]
        with resumed(left) as shards:
            for task in TASKS:
                add(shards, task, *shards.pieces(shards.find(task)), is_kept=True)
            assert shards.byte_count == 130
        assert [path.read_bytes() for path in files] == before

    def test_another_meaning(self, left):
        """What cannot be used is not discarded either, unless that is said; the message names what differs."""
        for other, said in (({"syntax": "rfc8141"}, "syntax"), ({"version": "2", "more": 1}, "more, version")):
            with pytest.raises(FatalError) as caught:
                resumed(left, MEANING | other)
            assert f" is kept; that run had other options ({said}); its command with --resume continues" in str(
                caught.value
            )
        with Shards(left / "out", MEANING | {"syntax": "rfc8141"}, resume=True, force=True) as shards:
            assert shards.differing == ["syntax"]
            assert kept(shards) == {}
        assert [*left.iterdir()] == []

    def test_what_is_of_no_use(self, left):
        """The bytes of tasks that this run has not."""
        with resumed(left) as shards:
            assert shards.unused == 130
            for task in (name(0), name(7)):
                shards.find(task)
            assert shards.unused == 30

    def test_a_meaning_that_is_not_whole_is_no_other(self, tmp_path):
        """Who was cut off when nothing was kept yet is not told that the options have changed."""
        below, lines, _ = places(tmp_path)
        below.mkdir(0o700)
        lines.write_bytes(b'{"syntax')
        with resumed(tmp_path) as shards:
            assert not shards.differing
            assert kept(shards) == {}

    def test_the_order_of_a_meaning_is_none(self, left):
        with resumed(left, dict(reversed(MEANING.items()))) as shards:
            assert kept(shards) == EXPECTED

    def test_dropped(self, left):
        with resumed(left) as shards:
            shards.drop()
            assert not shards.are_kept
        assert [*left.iterdir()] == []

    def test_nothing_is_made_before_something_is_kept(self, tmp_path):
        for resume in (False, True):
            with Shards(tmp_path / "out", MEANING, resume=resume):
                assert [*tmp_path.iterdir()] == []

    def test_nobody_else_may_read_it(self, left):
        """Least of all where outputs are brought to a store, and it lies in a folder for all."""
        assert places(left)[0].stat().st_mode & 0o777 == 0o700

    def test_what_no_line_tells_of_is_removed(self, left, whole):
        """Or a task that is cut off again and again would fill the disk."""
        _, lines, raw = places(left)
        lines.write_bytes(whole.lines + b"00000000 half")
        raw.write_bytes(whole.rows + b"x" * 1000)
        with resumed(left):
            pass
        assert Whole(lines.read_bytes(), raw.read_bytes()) == whole

    def test_few_bytes_a_task(self, tmp_path):
        """That a run of a terabyte is resumed: 125,000 tasks, each with what many small files are called."""
        names = {number: f"folder/{number:040d}" for number in range(100)}
        with resumed(tmp_path) as shards:
            for number in range(2000):
                add(shards, name(number), ResultRows(names=names), Done(Counts(byte_count=1)))
        with resumed(tmp_path) as shards:
            found = shards._index
            assert len(found) == 2000
            each = max(sys.getsizeof(key) + sum(map(sys.getsizeof, (value, *value))) for key, value in found.items())
            assert each + sys.getsizeof(found) / len(found) < 400


class TestWhen:
    """A plain run that is short keeps little, and none when it is over."""

    @pytest.fixture(autouse=True)
    def _time(self, monkeypatch):
        self.now = 1000.0
        others = {"strftime": time.strftime, "localtime": time.localtime}
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now, **others))
        monkeypatch.setattr(module, "_AT_ONCE", 1)

    def plain(self, folder):
        return Shards(folder / "out", MEANING, resume=False)

    def test_a_short_run(self, tmp_path):
        with self.plain(tmp_path) as shards:
            keep(shards)
            assert places(tmp_path)[0].exists()  # somebody may kill it
            assert not shards.are_kept
        assert [*tmp_path.iterdir()] == []

    def test_a_long_run_keeps_what_was_kept_at_once_and_what_came_late(self, tmp_path):
        with self.plain(tmp_path) as shards:
            keep(shards, [name(1), name(2)])
            shards.add(Begun(stamp=name(0)))
            shards.add(TASKS[name(0)][0])  # more than is kept at once
            shards.add(TASKS[name(0)][1])
            self.now += 11  # in the middle of the task
            shards.add(TASKS[name(0)][2])
            keep(shards, [name(3)])
            assert shards.are_kept
        with resumed(tmp_path) as shards:
            assert [*kept(shards)] == [name(1), name(2), name(3)]

    def test_what_is_resumed_is_always_kept(self, tmp_path):
        with resumed(tmp_path) as shards:
            keep(shards)
            assert shards.are_kept
        with resumed(tmp_path) as shards:
            assert kept(shards) == EXPECTED

    def test_a_plain_run_does_not_remove_what_another_kept(self, left):
        """Not the first, and not the second that is tried."""
        os.utime(places(left)[1], (0, 86400))
        for _ in range(2):
            with pytest.raises(FatalError) as caught:
                self.plain(left)
            work = "the work of an earlier run on 130 bytes, interrupted at 1970-01-02"
            assert str(caught.value).startswith(f"{left}/out: {work} ")
            assert str(caught.value).endswith(", is kept; --resume continues it, --force discards it")
        with resumed(left) as shards:
            assert kept(shards) == EXPECTED

    def test_force_removes_it_and_says_so(self, left):
        with Shards(left / "out", MEANING, resume=False, force=True) as shards:
            assert shards.discarded.startswith("the work of an earlier run on 130 bytes, ")
            assert kept(shards) == {}
            assert [*left.iterdir()] == []

    def test_what_a_short_run_left_is_removed(self, tmp_path):
        """One that was killed: nobody was told that its work is kept, and it is soon done again."""
        with self.plain(tmp_path) as shards:
            keep(shards)
            shards._close()
            with self.plain(tmp_path) as other:
                assert not other.discarded
                assert [*tmp_path.iterdir()] == []

    def test_what_a_run_left_that_became_long_is_not(self, tmp_path):
        """All was kept at its beginning, and it was interrupted later, for example in its grouping."""
        with self.plain(tmp_path) as shards:
            keep(shards, [name(1)])
            self.now += 11
        with pytest.raises(FatalError, match="10 bytes"):
            self.plain(tmp_path)

    def test_what_a_long_run_left_is_not(self, tmp_path):
        """One that was killed, after the time from which on it keeps all."""
        with self.plain(tmp_path) as shards:
            self.now += 11
            keep(shards)
            shards._close()
            with pytest.raises(FatalError, match="130 bytes"):
                self.plain(tmp_path)


class TestDamage:
    """Any state of the files gives only whole shards, or none; and the run goes on from there."""

    def test_none(self, whole):
        assert check_and_go_on(*whole) == len(TASKS)

    @given(st.data())
    def test_cut_off_anywhere(self, whole, data):
        """After the end of a machine, each file may end at any byte."""
        lines = whole.lines[: data.draw(st.integers(0, len(whole.lines)))]
        raw = whole.rows[: data.draw(st.integers(0, len(whole.rows)))]
        assert check_and_go_on(lines, raw) <= lines.count(b"\n")

    @given(st.data())
    def test_other_bytes_anywhere(self, whole, data):
        """Zeros where a block did not reach the disk, or anything else."""
        files = [bytearray(whole.lines), bytearray(whole.rows)]
        for _ in range(data.draw(st.integers(1, 3))):
            file = data.draw(st.sampled_from(files))
            start = data.draw(st.integers(0, len(file) - 1))
            other = data.draw(st.one_of(st.binary(min_size=1, max_size=4), st.integers(1, 3000).map(bytes)))
            file[start : start + len(other)] = other[: len(file) - start]
        check_and_go_on(*map(bytes, files))

    @pytest.mark.parametrize(
        "garbage",
        [b"", b"\n", b"\0" * 4096, b"[]\n", b"null\n", b'{"stamp": 5}\n', b'{"stamp": "", "pieces": 7}\n', b"\xff\n"],
    )
    def test_garbage_behind_the_lines(self, whole, garbage):
        assert check_and_go_on(whole.lines + garbage, whole.rows) == len(TASKS)

    @pytest.mark.parametrize("garbage", [b"", b"\n", b"{}\n", b"\0" * 4096])
    def test_garbage_before_the_lines(self, whole, garbage):
        assert check_and_go_on(garbage + whole.lines, whole.rows) == (0 if garbage else len(TASKS))

    @pytest.mark.parametrize("lost", ["shards", "rows.arrows"])
    def test_a_file_that_is_gone(self, left, lost):
        """A task without rows is whole without them."""
        (places(left)[0] / lost).unlink()
        with resumed(left) as shards:
            assert kept(shards).keys() == ({name(1), name(2)} if lost == "rows.arrows" else set())

    def test_a_file_that_takes_less(self):
        """A file without a buffer may take less than it is given, as where a disk is nearly full."""
        taken = bytearray()
        file = SimpleNamespace(write=lambda view: taken.extend(view[:3]) or min(3, len(view)))
        module._write(file, b"a line\n")
        assert taken == b"a line\n"

    def test_a_disk_that_is_full(self, tmp_path, monkeypatch, whole):
        """What was kept before stays; nothing is kept behind it, and nobody is told."""
        for room in (0, 50, len(whole.rows) // 2, len(whole.rows) + 10):
            left = room

            def write(file, raw, whole_write=module._write):
                nonlocal left
                some = bytes(raw)[:left]
                left -= len(some)
                whole_write(file, some)
                if len(some) < len(bytes(raw)):
                    raise OSError(28, "No space left on device")

            with monkeypatch.context() as full:
                full.setattr(module, "_write", write)
                with resumed(tmp_path, name=str(room)) as shards:
                    keep(shards)
            with resumed(tmp_path, name=str(room)) as shards:
                before = kept(shards)
                assert before == {task: EXPECTED[task] for task in [*TASKS][: len(before)]}
                assert len(before) < len(TASKS)


class TestOthers:
    """One run at a time, and nobody else's files."""

    def test_another_run_that_lives(self, tmp_path):
        with resumed(tmp_path) as shards:
            keep(shards, [name(1)])
            with pytest.raises(FatalError, match="another run is writing it"):
                resumed(tmp_path)
            with pytest.raises(FatalError, match="another run is writing it"):
                Shards(tmp_path / "out", MEANING, resume=False)
            with Shards(tmp_path / "out", MEANING, resume=False, force=True) as other:
                keep(other)
                assert not other.are_kept
            keep(shards, [name(3)])
        with resumed(tmp_path) as shards:
            assert [*kept(shards)] == [name(1), name(3)]

    def test_another_run_that_begins_meanwhile(self, tmp_path):
        """The one that keeps something first is the one that keeps."""
        with resumed(tmp_path) as first, resumed(tmp_path) as second:
            keep(second, [name(1)])
            keep(first, [name(3)])
        with resumed(tmp_path) as shards:
            assert [*kept(shards)] == [name(1)]

    @pytest.mark.parametrize(
        "trap", ["a file", "a link", "a link to nothing", "a file that is a folder", "not one's own"]
    )
    def test_what_cannot_be_read(self, left, trap):
        """To resume from it is an error, in one line that says what to do; a plain run goes on and touches nothing."""
        below, lines, _ = places(left)
        elsewhere = left / "elsewhere"
        if trap == "a file that is a folder":
            lines.unlink()
            lines.mkdir()
        elif trap == "not one's own":
            if os.geteuid():
                pytest.skip("only root may give a folder away")
            os.chown(below, 12345, -1)
        elif trap == "a file":
            shutil.rmtree(below)
            below.write_bytes(b"x")
        elif trap == "a link":
            below.rename(elsewhere)
            below.symlink_to(elsewhere)
        else:
            shutil.rmtree(below)
            below.symlink_to(elsewhere)
        before = sorted((path, path.is_dir() or path.read_bytes()) for path in left.rglob("*") if path.exists())
        with pytest.raises(FatalError, match=r"\.out\.shards\.urnscan-tmp: .*; remove it to start again$"):
            resumed(left)
        with Shards(left / "out", MEANING, resume=False) as shards:
            keep(shards)
        after = sorted((path, path.is_dir() or path.read_bytes()) for path in left.rglob("*") if path.exists())
        assert before == after


def listed(*paths):
    return Listed.of(Input(str(path), str(path), path.stat().st_size) for path in paths)


class TestStamp:
    """A task is known by its inputs as they are."""

    @pytest.fixture
    def files(self, tmp_path):
        for letter in "abc":
            (tmp_path / letter).write_bytes(letter.encode() * 5)
        return [tmp_path / letter for letter in "abc"]

    def test_bytes(self, files):
        whole = Input(str(files[0]), str(files[0]), 5)
        assert stamp(FileGroup(0, (listed(*files),))).byte_count == 15
        assert stamp(FileGroup(0, (whole, listed(*files[1:])))).byte_count == 15
        assert stamp(FilePart(0, whole, 0, 2)).byte_count == 2
        assert stamp(FilePart(0, whole, 2, sys.maxsize)).byte_count == 3

    def test_each_task_has_its_own(self, files):
        whole = Input(str(files[0]), str(files[0]), 5)
        tasks = [
            *(FileGroup(place, (listed(*files[:count]),)) for place in (0, 1) for count in (1, 2, 3)),
            FileGroup(0, (listed(*reversed(files)),)),
            FilePart(0, whole, 0, 2),
            FilePart(0, whole, 2, 4),
            FilePart(0, whole, 2, sys.maxsize),
            FilePart(1, whole, 0, 2),
        ]
        assert len({stamp(task).text for task in tasks}) == len(tasks)
        assert all(stamp(task) == stamp(task) and len(stamp(task).text) == 32 for task in tasks)

    @pytest.mark.parametrize("change", ["size", "time"])
    def test_it_changes_with_each_input(self, files, change):
        task = FileGroup(0, (listed(*files),))
        for path in files:
            before = stamp(task)
            found = path.stat()
            if change == "size":
                path.write_bytes(b"longer than it was")
            os.utime(path, ns=(0, found.st_mtime_ns + (change == "time")))
            assert stamp(task).text != before.text

    def test_what_is_not_known(self, files, tmp_path):
        """Their bytes may differ each time, or there are none; and with them all of the task."""
        os.mkfifo(tmp_path / "fifo")
        paths = [str(tmp_path / "fifo"), "/dev/zero", str(tmp_path), str(tmp_path / "nope"), None]
        for path in paths:
            task = FileGroup(0, (listed(*files), Input(path or "-", path, None)))
            assert stamp(task) == ("", 0, 0)
        assert stamp(SourceError("nope", "does not exist")) == ("", 0, 0)

    def test_urls(self, files):
        """Known by their marks; one without a mark makes the task unknown, and is counted."""

        def page(path, mark, size=5):
            url = parse_url("https://h/")
            return Input(f"https://h/{path}", None, size, Remote(url, f"https://h/{path}", f"https://h/{path}"), mark)

        inputs = [(page("a", "1"),), (page("b", "1"),), (page("a", "2"),), (page("a", "1"), page("b", "1"))]
        inputs += [(listed(*files), page("a", "1"))]
        tasks = [FileGroup(0, each) for each in inputs] + [FileGroup(1, inputs[0])]
        assert len({stamp(task).text for task in tasks}) == len(tasks)
        assert all(stamp(task) == stamp(task) and len(stamp(task).text) == 32 for task in tasks)
        assert stamp(tasks[3]).byte_count == 10
        assert stamp(FileGroup(0, (page("a", None), page("b", "1"), page("c", None)))) == ("", 0, 2)

    def test_records(self, files):
        """`--cdx`: a task is another one if the index names other records of its files; their bytes count."""
        path = str(files[0])

        def task(*extents):
            return FileGroup(0, (Input(path, path, sum(end - start for start, end in extents), extents=extents),))

        tasks = [task((0, 2)), task((0, 3)), task((0, 2), (3, 4)), FileGroup(0, (Input(path, path, 5),))]
        assert len({stamp(each).text for each in tasks}) == len(tasks)
        assert [stamp(each).byte_count for each in tasks] == [2, 3, 3, 5]
        before = stamp(tasks[0])
        files[0].write_bytes(b"longer than it was")
        assert stamp(tasks[0]).text != before.text
