"""`--ignore-files`: what git ignores is skipped, nothing else, and what was named is always read."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.walks import find_inputs
from urnscan.errors import SourceError
from urnscan.sources.ignore_patterns import Patterns, parse
from urnscan.sources.selection import Selection

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="needs git")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(files):
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())


def walked(*arguments, **more):
    """The names of the inputs but for ignore files; errors in the form of their one line."""
    found = find_inputs(arguments, Selection(ignore_files=True, **more))
    names = [str(each) if isinstance(each, SourceError) else each.name for each in found]
    return [name for name in names if not name.endswith("ignore")]


class TestGit:
    """git is asked which files of a tree it ignores: the others are read."""

    NAMES = ("a", "b", "ab", "a.b", "b a", "A", "é", "[a]", "-", "#a", "!a", "a*", "\\a", "]", "a ")
    PIECES = (
        *("a", "b", "ab", ".", "-", "é", "A", " ", "#", "!", "*", "*", "?", "**", "\\a", "\\*", "\\!", "\\ ", "\\"),
        *("[ab]", "[!a]", "[^b]", "[a-b]", "[b-a]", "[]a]", "[!]]", "[a-]", "[--a]", "[\\]]", "[[:alpha:]]", "[[:x:]]"),
        *("[a", "[a/b]"),
    )
    # Git takes "a**/b" for "a" and "**/b", which its manual does not say: there `**` is a part of its own.
    SEGMENTS = st.one_of(
        st.sampled_from(["**", "*", "a", "b", "ab", "***"]),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join).filter(lambda text: "**" not in text),
    )
    LINES = st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "", "", "!", "#"]),
        st.sampled_from(["", "", "/"]),
        st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join),
        st.sampled_from(["", "", "", "/", " ", "\\ ", "\r"]),
    )
    PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
    IGNORING = st.dictionaries(
        st.sampled_from(["", "a/", "b/", "a/b/", "ab/"]), st.lists(LINES, max_size=5).map("\n".join), min_size=1
    )

    @needs_git
    @given(st.lists(PATHS, min_size=1, max_size=15), IGNORING)
    @example(["a/a", "a/b", "b"], {"": "a/\n!/a/"})
    @example(["a/b/c", "a/c"], {"": "a/**\n!a/b"})
    @example(["a/b/c.log", "a/x"], {"": "*.log", "a/": "!b/"})
    @example(["a/f", "b"], {"": "/**\n!/a/"})
    def test_a_tree(self, tmp_path_factory, paths, ignoring):
        folder = tmp_path_factory.getbasetemp() / "repository"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / ".git").mkdir(parents=True)
        (folder / ".git/HEAD").write_text("ref: refs/heads/x\n")  # no more is needed to be one
        (folder / ".git/objects").mkdir()
        (folder / ".git/refs").mkdir()
        made = []
        for path in paths:
            place = folder / path
            if not place.exists() and all(not above.is_file() for above in place.parents):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(b"")
                made.append(os.fsencode(path))
        for below, text in ignoring.items():
            if (folder / below).is_dir():
                (folder / below / ".gitignore").write_text(text + "\n", newline="")
        asked = subprocess.run(
            [GIT, "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--stdin", "-z"],
            input=b"".join(path + b"\0" for path in made),
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert not asked.stderr
        expected = set(made) - set(asked.stdout.split(b"\0"))
        found = {os.fsencode(Path(each.path).relative_to(folder)) for each in find_inputs([str(folder)], IGNORE)}
        assert {path for path in found if not path.endswith(b".gitignore")} == expected


IGNORE = Selection(ignore_files=True)


class TestWhichFilesDecide:
    def test_by_default_everything_is_read(self):
        write({"d/.git/info/exclude": "*", "d/.gitignore": "*", "d/.ignore": "*", "d/a": "", "d/.hidden": ""})
        names = [each.name for each in find_inputs(["d"])]
        assert names == ["d/.git/info/exclude", "d/.gitignore", "d/.hidden", "d/.ignore", "d/a"]

    def test_in_no_repository(self):
        """The option was given, so none is needed; files above the walked folder do not count then."""
        write(
            {".gitignore": "b", "d/.gitignore": "a\n", "d/a": "", "d/b": "", "d/.hidden": "", "d/e/a": "", "d/e/b": ""}
        )
        assert walked("d") == ["d/.hidden", "d/b", "d/e/b"]

    def test_above_the_folder_up_to_the_top_of_the_repository(self):
        write({".gitignore": "c", "r/.git/HEAD": "", "r/.gitignore": "a\n/d/b", "r/.ignore": "x"})
        write({f"r/d/{name}": "" for name in ("a", "b", "c", "x", "e/a", "e/b")})
        assert walked("r/d") == ["r/d/c", "r/d/e/b"]
        assert walked("r") == ["r/d/c", "r/d/e/b"]
        os.chdir("r/d")
        assert walked(".") == ["./c", "./e/b"]
        assert walked("../d/e/") == ["../d/e/b"]

    def test_an_ignored_folder_that_was_named_is_read(self):
        """By its own ignore files: those above it would leave nothing of it."""
        write({".git/HEAD": "", ".gitignore": "build/\n*.o", "build/a.o": "", "build/b": "", "build/.gitignore": "b"})
        assert walked(".") == []
        assert walked("build") == ["build/a.o"]

    def test_what_was_named_is_read(self, tmp_path):
        write({".git/HEAD": "", ".gitignore": "*", "a": "", "d/b": ""})
        assert walked("a", "d/*", ".git/HEAD", f"file://{tmp_path}/a") == ["a", "d/b", ".git/HEAD", f"{tmp_path}/a"]
        assert walked(".") == []

    def test_ignore_before_gitignore_before_the_list_of_the_repository(self):
        write({".git/info/exclude": "a\nb\nc", ".gitignore": "!a\n!b\nd", "e/.ignore": "b", ".ignore": "!d"})
        write(dict.fromkeys(("a", "b", "c", "d", "e/a", "e/b", "e/d", "e/c"), ""))
        assert walked(".") == ["./a", "./b", "./d", "./e/a", "./e/d"]

    def test_a_repository_in_another(self):
        """The .gitignore of the outer one says nothing of it, but .ignore is no business of git."""
        write(
            {".git/HEAD": "", ".gitignore": "a", ".ignore": "b", "r/.git": "gitdir: elsewhere\n", "r/.gitignore": "c"}
        )
        write({f"r/{name}": "" for name in ("a", "b", "c", "d/a", "d/c")} | {"a": "", "c": ""})
        assert walked(".") == ["./c", "./r/a", "./r/d/a"]

    def test_dot_git_is_no_part_of_the_files(self):
        write({"a/.git/config": "", "a/b/.git": "gitdir: x", "a/.gitx": "", "a/c": "", "a/.gitignore": "!.git"})
        assert walked("a") == ["a/.gitx", "a/c"]

    def test_with_include_and_exclude(self):
        write({"d/.gitignore": "a.txt", "d/a.txt": "", "d/b.txt": "", "d/c.txt": "", "d/b.md": ""})
        assert walked("d", include=("*.txt",), exclude=("c*",)) == ["d/b.txt"]

    def test_line_ends_and_a_mark(self):
        write({"d/.gitignore": b"\xef\xbb\xbfa\r\n\r\n# b\r\nc", "d/a": "", "d/b": "", "d/c": ""})
        assert walked("d") == ["d/b"]

    def test_names_that_are_not_utf8(self):
        write({"d/.gitignore": b"\xff*\n?"})
        for name in (b"\xff1", b"\xe9", b"\xc3\xa9"):
            Path(os.fsdecode(b"d/" + name)).write_bytes(b"")
        assert walked("d") == ["d/é"], "a ? is one octet, as in git"

    def test_linked_folders(self):
        """An entry is judged by its path in the walk."""
        write({"d/.gitignore": "e/a", "f/a": "", "f/b": ""})
        Path("d/e").symlink_to("../f")
        assert walked("d", follow=True) == ["d/e/b"]


class TestFilesThatAreNone:
    def test_what_is_no_file(self):
        """A folder, a FIFO (which nobody waits for) and a link, which git follows neither."""
        write({"d/a": "", "d/e/a": "", "d/f/a": "", "all": "*"})
        Path("d/.gitignore").mkdir()
        os.mkfifo("d/e/.gitignore")
        Path("d/f/.gitignore").symlink_to("../../all")
        assert walked("d") == ["d/a", "d/e/a", "d/f/a"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_one_that_cannot_be_read_is_told(self):
        write({"d/.gitignore": "a", "d/a": ""})
        Path("d/.gitignore").chmod(0)
        assert walked("d") == ["d/.gitignore: cannot be read as a list of files to ignore: Permission denied", "d/a"]

    def test_one_that_is_too_large_is_told(self):
        """It ignores nothing, and the rest is read."""
        write({"d/.ignore": b"a\n" * (1 << 19) + b"a", "d/a": ""})
        error, name = walked("d")
        assert error.endswith("d/.ignore: has more than 1,048,576 octets: nothing is ignored by it")
        assert name == "d/a"


@pytest.mark.parametrize("pattern", [b"*a" * 40 + b"*b", b"**/" + b"a*/**/" * 40 + b"b", b"[a-c]*" * 40 + b"d"])
def test_hostile_patterns_take_linear_time(pattern):
    """With a usual translation of wildcards one name takes longer than the universe has."""
    patterns = Patterns([pattern])
    began = time.process_time()
    assert patterns.decide(b"a" * 255, is_folder=False) is None
    assert patterns.decide(b"/".join([b"a"] * 2000), is_folder=False) is None
    assert time.process_time() - began < 5


def test_brackets_without_end_take_linear_time():
    """An ignore file may be one line of 1 MiB."""
    began = time.process_time()
    assert parse(b"[" * (1 << 20)) is None
    assert time.process_time() - began < 5
