"""Many files without an object for each: the same inputs as with them."""

import os
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.inputs.arguments import find_listed
from urnscan.inputs.lists import PathList
from urnscan.stores.input import Input, Listed, name_of

PATHS = st.binary(min_size=1, max_size=6).filter(lambda path: b"\0" not in path).map(os.fsdecode)
FILES = st.lists(st.builds(lambda path, size: Input(name_of(path), path, size), PATHS, st.integers(0, 30)), max_size=12)


class TestListed:
    """As a list of inputs, whatever bytes are in their paths."""

    @given(FILES)
    def test_as_inputs(self, files):
        listed = Listed.of(files)
        assert list(listed) == files
        assert listed.names == [each.name for each in files]
        assert listed.keys == [each.key for each in files]

    @given(st.lists(FILES, min_size=1, max_size=4))
    def test_joined(self, some):
        assert list(Listed.joined([Listed.of(files) for files in some])) == list(chain(*some))

    @given(FILES, st.data())
    def test_between_and_chosen(self, files, data):
        start = data.draw(st.integers(0, len(files)))
        end = data.draw(st.integers(start, len(files)))
        assert list(Listed.of(files).between(start, end)) == files[start:end]
        which = data.draw(st.lists(st.booleans(), min_size=len(files), max_size=len(files)))
        chosen = [each for each, is_chosen in zip(files, which, strict=True) if is_chosen]
        assert list(Listed.of(files).chosen(np.array(which, bool))) == chosen

    @given(FILES, st.integers(1, 5), st.integers(0, 40), st.integers(0, 40))
    def test_runs(self, files, most, content, huge):
        """All files in their order; a huge one alone, and no run goes on when it is full."""
        found = []
        for run in Listed.of(files).runs(most, content, huge):
            if isinstance(run, Input):
                assert run.size > huge
                found.append(run)
                continue
            sizes = run.sizes.tolist()
            assert 0 < len(sizes) <= most
            assert max(sizes) <= huge
            assert sum(sizes[:-1]) <= content
            found += run
        assert found == files


class TestPathList:
    """What lists name is never a pattern."""

    def test_of_urls(self, tmp_path, monkeypatch):
        asked = []

        def find_remote(url, *_, is_pattern):
            asked.append((url, is_pattern))
            return []

        monkeypatch.setattr("urnscan.inputs.url_inputs.find_remote", find_remote)
        (tmp_path / "list").write_text("https://example.org/*\n")
        assert list(find_listed([PathList(str(tmp_path / "list")), "s3://b/*"])) == []
        assert asked == [("https://example.org/*", False), ("s3://b/*", True)]

    @pytest.mark.parametrize(
        ("content", "names"),
        [
            (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"]),
            (b"\xef\xbb\xbfa", [b"a"]),
            (b"\xef\xbb\xbf", []),
            (b"\xef\xbb\xbf\n\nb", [b"b"]),
            (b"\xef\xbba\n", [b"\xef\xbba"]),
            (b"\xef\xbb\xbfa\0", [b"\xef\xbb\xbfa"]),
        ],
    )
    def test_byte_order_mark(self, tmp_path, content, names):
        """Before the first line it is none of its name; `find -print0` writes none."""
        (tmp_path / "list").write_bytes(content)
        assert list(chain(*PathList(str(tmp_path / "list")).read(9))) == names

    def test_byte_order_mark_alone_at_first(self, tmp_path, monkeypatch):
        """What follows it is read, however the list is cut."""
        monkeypatch.setattr("urnscan.inputs.lists._TELLING", 3)
        (tmp_path / "list").write_bytes(b"\xef\xbb\xbfa\nb")
        assert list(chain(*PathList(str(tmp_path / "list")).read(9))) == [b"a", b"b"]

    def test_lines_of_windows(self, tmp_path, monkeypatch):
        """A CR may end a name: it is tried, and where nothing has that name, the line says what to do."""
        monkeypatch.chdir(tmp_path)
        for name in ("a", "b", "b\r"):
            (tmp_path / name).touch()
        (tmp_path / "list").write_bytes(b"a\r\nb\r\nc\n")
        first, second, third = find_listed([PathList("list")])
        remedy = "in the list its name ends in CR: is the list from Windows? tr -d '\\r' takes it off"
        assert str(first) == f"a\r: no such file or folder; {remedy}"
        assert second.names == ["b\r"]
        assert str(third) == "c: no such file or folder"

    @pytest.mark.parametrize("most", [1, 2, 100])
    def test_parts(self, tmp_path, most):
        """No more at once than asked for, however the list is read."""
        names = [b"%d" % number * 50 for number in range(5000)]
        (tmp_path / "list").write_bytes(b"\n".join(names))
        parts = list(PathList(str(tmp_path / "list")).read(most))
        assert list(chain(*parts)) == names
        assert max(map(len, parts)) <= most
