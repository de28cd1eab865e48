"""The sizes of files, many at a call."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.walks import find_inputs
from urnscan.formats import small_files
from urnscan.formats.small_files import UNKNOWN, file_states
from urnscan.inputs import walk as walking
from urnscan.inputs.selection import Selection

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Python asks one by one")


@pytest.fixture
def tree(tmp_path):
    """All kinds of things that a folder can hold."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_bytes(b"12")
    (tmp_path / "empty").touch()
    (tmp_path / "with spaces\nand lines").write_bytes(b"x" * 1234)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/not utf-8 \xff")).write_bytes(b"abc")
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(5 << 30)
    return tmp_path


@linux
def test_sizes(tree):
    """As `os.lstat` has them; what is no regular file is left to be asked on its own."""
    paths = [entry.path for entry in os.scandir(tree)] + [f"{tree}/gone", f"{tree}/folder/inner"]
    expected = []
    for path in map(Path, paths):
        is_file = path.is_file() and not path.is_symlink()
        expected.append(path.lstat().st_size if is_file else UNKNOWN)
    data = [os.fsencode(path) + b"\0" for path in paths]
    sizes, _ = file_states(b"".join(data), np.cumsum([len(path) for path in data]), follow=False)
    assert sizes.tolist() == expected
    assert {0, 2, 3, 1234, 5 << 30, UNKNOWN} <= set(expected)


@pytest.mark.parametrize("can_ask", [pytest.param(True, marks=linux), False])
def test_states(tree, monkeypatch, can_ask):
    """As `os.stat` has them, to the nanosecond and behind links, asked at once or one by one."""
    os.utime(tree / "empty", ns=(0, 1_700_000_000_123_456_789))
    os.utime(tree / "sparse", ns=(0, -1))
    paths = [entry.path for entry in os.scandir(tree)] + [f"{tree}/gone", f"{tree}/folder/inner"]
    expected = [
        (path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else (UNKNOWN, 0) for path in map(Path, paths)
    ]
    data = [os.fsencode(path) + b"\0" for path in paths]
    monkeypatch.setattr(small_files, "_CAN_ASK", can_ask)
    found = file_states(b"".join(data), np.cumsum([len(path) for path in data]), follow=True)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


@pytest.mark.parametrize("follow", [False, True])
def test_the_walk_does_not_depend_on_it(tree, monkeypatch, follow):
    """Elsewhere, and for what is no regular file, each is asked on its own."""
    selection = Selection(follow=follow)
    together = [*find_inputs([str(tree)], selection, frozenset())]
    monkeypatch.setattr(walking, "file_states", lambda _, ends, follow: (np.full(len(ends), UNKNOWN), follow))
    alone = [*find_inputs([str(tree)], selection, frozenset())]
    assert [vars_of(each) for each in together] == [vars_of(each) for each in alone]
    assert len(together) >= 5


def vars_of(found):
    return repr(found) if not isinstance(found, Exception) else str(found)
