"""Readers of bytes as they are: nothing lost, nothing held back, nothing left open."""

import errno
import fcntl
import os
import re
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from urnscan.errors import SourceError
from urnscan.stores import files
from urnscan.stores.files import open_file, open_range
from urnscan.stores.input import Input


def read_all(reader, size=7):
    """All bytes, read with views of `size` bytes; and that the end stays the end."""
    view = memoryview(bytearray(size))
    data = b""
    while got := reader.read_into(view):
        assert 0 < got <= size
        data += view[:got]
    assert reader.read_into(view) == 0
    return data


def written(path, data):
    path.write_bytes(data)
    return Input("the name", str(path), len(data))


@pytest.fixture
def pipe():
    """Standard input as a pipe: what is to be written into it."""
    ours = os.dup(0)
    read_end, write_end = os.pipe()
    os.dup2(read_end, 0)
    os.close(read_end)
    with os.fdopen(write_end, "wb", buffering=0) as writer:
        yield writer
    os.dup2(ours, 0)
    os.close(ours)


STDIN = Input("-", None, None)


class TestFile:
    @pytest.mark.full
    @given(st.binary(max_size=300), st.integers(1, 310))
    def test_all_bytes_in_full_views(self, tmp_path_factory, data, size):
        """Fewer bytes than fit mean that the end is near."""
        source = written(tmp_path_factory.getbasetemp() / "file", data)
        view = memoryview(bytearray(size))
        with open_file(source) as reader:
            for start in range(0, len(data), size):
                got = reader.read_into(view)
                assert view[:got] == data[start : start + size]
            assert reader.read_into(view) == 0

    def test_full_views_where_the_system_gives_less(self, tmp_path, monkeypatch):
        real = os.readv
        monkeypatch.setattr(os, "readv", lambda descriptor, views: real(descriptor, [views[0][:3]]))
        view = memoryview(bytearray(8))
        with open_file(written(tmp_path / "file", b"0123456789")) as reader:
            assert (reader.read_into(view), view.tobytes()) == (8, b"01234567")
            assert reader.read_into(view) == 2

    def test_what_is_appended_behind_the_end_is_not_read(self, tmp_path):
        """A run ends, though a log it reads may not."""
        source = written(tmp_path / "log", b"12")
        view = memoryview(bytearray(8))
        with open_file(source) as reader:
            assert reader.read_into(view) == 2
            with Path(source.path).open("ab") as log:
                log.write(b"34")
            assert reader.read_into(view) == 0

    def test_a_name_that_is_not_utf8(self, tmp_path):
        path = os.path.join(os.fsencode(tmp_path), b"\xff")  # noqa: PTH118
        try:
            with open(path, "wb") as file:  # noqa: PTH123
                file.write(b"12")
        except OSError:
            pytest.skip("the file system takes no such names")
        with open_file(Input("\\xff", os.fsdecode(path), 2)) as reader:
            assert read_all(reader) == b"12"

    def test_a_file_of_the_system_that_says_it_is_empty(self):
        if not Path("/proc/self/status").exists():
            pytest.skip("no /proc")
        with open_file(Input("status", "/proc/self/status", 0)) as reader:
            assert b"Pid:" in read_all(reader, 100)

    def test_what_cannot_be_opened(self, tmp_path, monkeypatch):
        for path, reason in (
            (tmp_path / "nope", "No such file or directory"),
            (tmp_path, "a folder cannot be read as a file"),
        ):
            with pytest.raises(SourceError) as caught:
                open_file(Input("the name", str(path), None))
            assert str(caught.value) == f"the name: {reason}"

        def refuse(*_):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(SourceError, match="the name: Permission denied"):
            open_file(Input("the name", "x", None))

    def test_a_socket_cannot_be_opened(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind("socket")
            with pytest.raises(SourceError, match=r"socket: .+"):
                open_file(Input("socket", "socket", None))

    def test_an_error_on_the_way_names_the_input(self, tmp_path, monkeypatch):
        def fail(*_):
            raise OSError(errno.EIO, "Input/output error")

        source = written(tmp_path / "file", b"123")
        before = os.listdir("/dev/fd")  # noqa: PTH208
        monkeypatch.setattr(os, "readv", fail)
        with pytest.raises(SourceError, match="the name: Input/output error"), open_file(source) as reader:
            reader.read_into(memoryview(bytearray(8)))
        assert os.listdir("/dev/fd") == before  # noqa: PTH208

    def test_close_gives_the_descriptor_back_once(self, tmp_path):
        source = written(tmp_path / "file", b"123")
        before = os.listdir("/dev/fd")  # noqa: PTH208
        reader = open_file(source)
        reader.close()
        with Path(source.path).open("rb") as other:  # it has the same descriptor
            reader.close()
            assert other.read() == b"123"
        with pytest.raises(SourceError):
            reader.read_into(memoryview(bytearray(8)))
        with pytest.raises(SourceError):
            open_file(Input("folder", str(tmp_path), None))
        assert os.listdir("/dev/fd") == before  # noqa: PTH208


@pytest.mark.usefixtures("pipe")
class TestPipe:
    def test_standard_input_is_read_and_stays_open(self, pipe):
        pipe.write(b"0123456789")
        pipe.close()
        with open_file(STDIN) as reader:
            assert read_all(reader) == b"0123456789"
        os.fstat(0)

    def test_a_slow_pipe_is_not_held_back(self, pipe):
        """What was written can be read while the writer thinks of more, to the single byte."""
        view = memoryview(bytearray(100))
        pipe.write(b"u")
        with open_file(STDIN) as reader:
            assert (reader.read_into(view), view[:1].tobytes()) == (1, b"u")
            for said in (b"urn:a:b\n", b"x", b"\xff"):
                pipe.write(said)
                assert reader.read_into(view) == len(said)
                assert view[: len(said)] == said

    @pytest.mark.skipif(
        not hasattr(os, "O_DIRECT") or sys.platform != "linux", reason="only Linux has pipes of packets"
    )
    def test_a_busy_pipe_gives_full_views(self):
        """A pipe of packets gives one a read: all that are there are read at once."""
        read_end, write_end = os.pipe2(os.O_DIRECT)
        reader = files.Pipe("packets", read_end)
        with os.fdopen(write_end, "wb", buffering=0) as writer, reader:
            for packet in (b"one", b"two", b"three"):
                writer.write(packet)
            view = memoryview(bytearray(100))
            assert (reader.read_into(view), view[:11].tobytes()) == (11, b"onetwothree")

    def test_the_end_is_seen_with_and_without_bytes_before_it(self, pipe):
        view = memoryview(bytearray(4))
        pipe.write(b"12345")
        pipe.close()
        with open_file(STDIN) as reader:
            assert [reader.read_into(view) for _ in range(4)] == [4, 1, 0, 0]

    def test_an_empty_pipe(self, pipe):
        pipe.close()
        with open_file(STDIN) as reader:
            assert read_all(reader) == b""

    def test_a_pipe_that_does_not_block_is_waited_for(self, pipe):
        """Whoever shares a pipe with us may have set it so."""
        os.set_blocking(0, False)

        def write_later():
            for data in (b"\xff", b"\xff1", b"2"):
                time.sleep(0.02)
                pipe.write(data)
            pipe.close()

        writer = threading.Thread(target=write_later)
        writer.start()
        with open_file(STDIN) as reader:
            assert read_all(reader) == b"\xff\xff12"
        writer.join()

    @given(st.lists(st.binary(min_size=1, max_size=40), max_size=10), st.integers(1, 50))
    def test_all_bytes_however_they_are_written(self, parts, size):
        read_end, write_end = os.pipe()

        def write():
            with os.fdopen(write_end, "wb", buffering=0) as writer:
                for part in parts:
                    writer.write(part)

        with files.Pipe("pipe", read_end) as reader:
            writer = threading.Thread(target=write)
            writer.start()
            assert read_all(reader, size) == b"".join(parts)
            writer.join()

    def test_a_named_fifo_is_read(self, tmp_path):
        os.mkfifo(tmp_path / "fifo")
        writer = threading.Thread(target=(tmp_path / "fifo").write_bytes, args=(b"0123456789",))
        writer.start()
        with open_file(Input("fifo", str(tmp_path / "fifo"), None)) as reader:
            assert read_all(reader) == b"0123456789"
        writer.join()

    def test_a_device_is_read(self):
        with open_file(Input("null", os.devnull, None)) as reader:
            assert read_all(reader) == b""

    def test_a_file_as_standard_input_is_read_from_where_it_stands(self, tmp_path):
        (tmp_path / "file").write_bytes(b"0123456789")
        with (tmp_path / "file").open("rb", buffering=0) as file:
            file.seek(3)
            os.dup2(file.fileno(), 0)
        view = memoryview(bytearray(100))
        with open_file(STDIN) as reader:
            assert (reader.read_into(view), view[:7].tobytes()) == (7, b"3456789")

    def test_a_folder_as_standard_input(self, tmp_path):
        folder = os.open(tmp_path, os.O_RDONLY)
        os.dup2(folder, 0)
        os.close(folder)
        with pytest.raises(SourceError, match="-: a folder cannot be read as a file"):
            open_file(STDIN)
        os.fstat(0)

    def test_standard_input_that_is_closed(self):
        os.close(0)
        with pytest.raises(SourceError, match="-: Bad file descriptor"):
            open_file(STDIN)

    @pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="only on Linux")
    def test_a_pipe_is_made_larger_never_smaller_and_a_refusal_does_not_matter(self, pipe, monkeypatch):
        before = fcntl.fcntl(0, fcntl.F_GETPIPE_SZ)
        asked = []

        def resize(_, command, size=0):
            if command == fcntl.F_SETPIPE_SZ:
                asked.append(size)
                raise PermissionError
            return before

        monkeypatch.setattr(fcntl, "fcntl", resize)
        pipe.write(b"12")
        pipe.close()
        with open_file(STDIN) as reader:
            assert read_all(reader) == b"12"
        assert asked == [1 << 20]
        before = 1 << 22
        with open_file(STDIN):
            assert asked == [1 << 20]


def boundary(data, at, separators):
    """Where a range that begins nominally at `at` begins: the rule, as plainly as it can be said."""
    if at == 0:
        return 0
    return next((i for i in range(at, len(data)) if data[i] in separators), len(data))


class TestRange:
    @given(
        st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(b"aab \n"), max_size=200).map(bytes)),
        st.integers(1, 80),
        st.sets(st.sampled_from([*b" \n-]^\\a\x00\xff"])).map(bytes),
        st.integers(1, 90),
    )
    @example(b"", 1, b" ", 1)
    @example(b"no separator at all", 3, b"", 2)
    @example(b"          ", 1, b" ", 1)
    def test_ranges_hold_every_byte_once_and_begin_at_separators(self, tmp_path_factory, data, step, separators, size):
        source = written(tmp_path_factory.getbasetemp() / "ranges", data)
        starts = list(range(0, max(1, len(data)), step))
        together = b""
        for start, end in zip(starts, [*starts[1:], sys.maxsize], strict=True):
            with open_range(source, start, end, separators) as reader:
                part = read_all(reader, size)
                begin, stop = boundary(data, start, separators), boundary(data, end, separators)
                assert part == data[begin:stop]
                if part:
                    assert reader.offset == len(together) == begin
                    assert start == 0 or part[0] in separators
                together += part
        assert together == data

    def test_separators_far_away(self, tmp_path):
        """Further than is searched at a time, for the beginning and for the end."""
        data = b"x" * 200_000 + b" " + b"y" * 200_000 + b" z"
        source = written(tmp_path / "file", data)
        parts = []
        for start, end in ((0, 10), (10, 150_000), (150_000, 300_000), (300_000, sys.maxsize)):
            with open_range(source, start, end, b" ") as reader:
                parts.append((reader.offset, read_all(reader, 70_000)))
        assert [part for _, part in parts] == [data[:200_000], b"", data[200_000:400_001], data[400_001:]]
        assert [offset for offset, part in parts if part] == [0, 200_000, 400_001]

    def test_the_search_for_a_beginning_ends_with_the_range(self, tmp_path, monkeypatch):
        """So that a file without separators is not read once more for each range."""
        data = b"x" * 300_000
        source = written(tmp_path / "file", data)
        sought = []
        real = os.pread
        monkeypatch.setattr(os, "pread", lambda fd, count, at: sought.append((at, count)) or real(fd, count, at))
        with open_range(source, 100_000, 200_000, b" ") as reader:
            assert read_all(reader) == b""
        assert sought[0][0] == 100_000
        assert sum(count for _, count in sought) == 100_000

    def test_an_empty_range(self, tmp_path):
        source = written(tmp_path / "file", b" a b")
        for start, end in ((0, 0), (2, 2), (3, 2), (100, 200), (100, sys.maxsize)):
            with open_range(source, start, end, b" ") as reader:
                assert read_all(reader) == b""

    def test_ranges_of_one_file_are_read_side_by_side(self, tmp_path):
        source = written(tmp_path / "file", b"aa bb cc")
        view = memoryview(bytearray(2))
        with open_range(source, 0, 4, b" ") as one, open_range(source, 4, sys.maxsize, b" ") as two:
            got = {one: b"", two: b""}
            for reader in (one, two) * 4:
                got[reader] += view[: reader.read_into(view)]
        assert list(got.values()) == [b"aa bb", b" cc"]

    def test_every_match_is_whole_in_one_range(self, tmp_path):
        """The reason for it all, with a pattern whose matches hold no separator."""
        data = b"urn:a:bcd " * 50 + b"<urn:e:f>" * 50
        source = written(tmp_path / "file", data)
        wanted = [match[0] for match in re.finditer(rb"urn:\w:\w+", data)]
        for step in range(1, 40):
            found = []
            for start in range(0, len(data), step):
                end = start + step if start + step < len(data) else sys.maxsize
                with open_range(source, start, end, b" <>") as reader:
                    found += re.findall(rb"urn:\w:\w+", read_all(reader, 64))
            assert found == wanted

    def test_what_cannot_be_split(self, tmp_path):
        before = os.listdir("/dev/fd")  # noqa: PTH208
        with pytest.raises(SourceError, match="the name: No such file or directory"):
            open_range(Input("the name", str(tmp_path / "nope"), 9), 0, 9, b" ")
        os.mkfifo(tmp_path / "fifo")
        holder = os.open(tmp_path / "fifo", os.O_RDWR)
        with pytest.raises(SourceError, match="fifo: Illegal seek"):
            open_range(Input("fifo", str(tmp_path / "fifo"), 9), 0, 9, b" ")
        os.close(holder)
        assert os.listdir("/dev/fd") == before  # noqa: PTH208
