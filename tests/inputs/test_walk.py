"""Which inputs a run has, and in which order."""

import inspect
import os
import socket
import sys
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walks import find_inputs
from urnscan.errors import SourceError, SourceNote
from urnscan.formats.small_files import UNKNOWN
from urnscan.inputs import url_inputs as remote
from urnscan.inputs.selection import Selection
from urnscan.stores import urls
from urnscan.stores.input import Input


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make(*paths, data=b""):
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)


def link(path, to):
    Path(path).symlink_to(to)


def names(*arguments, skip=(), **selection):
    """The names of the inputs; the errors in the form of their one line."""
    return [
        str(found) if isinstance(found, SourceError) else found.name
        for found in find_inputs(arguments, Selection(**selection), skip)
    ]


class TestNamed:
    def test_a_dash_is_standard_input(self):
        make("-")
        assert list(find_inputs(["-"])) == [Input("-", None, None)]
        assert names("./-") == ["./-"]

    def test_a_file_is_given_as_it_was_named_with_its_size(self):
        make("a/b.txt", data=b"12345")
        assert list(find_inputs(["./a//b.txt"])) == [Input("./a//b.txt", "./a//b.txt", 5)]

    def test_the_order_is_that_of_the_arguments_and_a_repeated_one_is_repeated(self):
        make("a", "b")
        assert names("b", "-", "a", "b") == ["b", "-", "a", "b"]

    def test_filters_outputs_and_temporary_names_do_not_touch_what_was_named(self):
        make("a.txt", "b.urnscan-tmp")
        everything = {"include": ("*.md",), "exclude": ("*",), "skip": {os.path.realpath("a.txt")}}
        assert names("a.txt", "b.urnscan-tmp", **everything) == ["a.txt", "b.urnscan-tmp"]

    def test_links_and_fifos_and_devices_are_read_too_and_only_files_have_a_size(self):
        make("file", data=b"123")
        link("link", "file")
        os.mkfifo("fifo")
        found = list(find_inputs(["link", "fifo", os.devnull]))
        assert found == [Input("link", "link", 3), Input("fifo", "fifo", None), Input(os.devnull, os.devnull, None)]

    def test_a_linked_folder_is_walked_when_it_was_named(self):
        make("folder/file")
        link("link", "folder")
        assert names("link", "link/") == ["link/file", "link/file"]

    def test_nothing_of_that_name(self):
        make("file")
        link("dangling", "nowhere")
        assert names("nope", "file/below", "dangling", "") == [
            "nope: no such file or folder",
            "file/below: no such file or folder",
            "dangling: no such file or folder",
            ": no such file or folder",
        ]

    @pytest.mark.parametrize("argument", ["a\0b", "a\ud800b"])
    def test_a_name_that_no_file_can_have(self, argument):
        (error,) = find_inputs([argument])
        assert isinstance(error, SourceError)
        assert error.reason == "no file can have such a name"
        assert str(error).isprintable()

    def test_a_name_that_is_too_long(self):
        assert names("x" * 300) == ["x" * 300 + ": no such file or folder"]

    def test_what_may_not_be_looked_at_says_so(self, monkeypatch):
        def refuse(path):
            raise PermissionError(13, "Permission denied", path)

        monkeypatch.setattr(os, "stat", refuse)
        assert names("secret/*.txt", "b") == ["secret/*.txt: Permission denied", "b: Permission denied"]

    @pytest.mark.parametrize("url", ["https://example.org/a?b=*", "s3://bucket/[x]", "GS://b"])
    def test_a_url_that_is_no_path_is_looked_for_in_a_store(self, url, monkeypatch):
        """With the filters and the outputs of the run."""
        asked = []
        monkeypatch.setattr(
            remote, "find_remote", lambda *arguments, **_: asked.append(arguments) or [Input(url, None, 1)]
        )
        assert names(url, skip=("s3://o",), exclude=("*.md",)) == [url]
        ((argument, selection, own),) = asked
        assert (argument, selection, own.places) == (url, Selection(exclude=("*.md",)), {"s3://o"})

    def test_a_file_url_is_the_path_behind_it(self, tmp_path):
        make("in/a b", "in/?")
        assert names(f"file://{tmp_path}/in") == [f"{tmp_path}/in/?", f"{tmp_path}/in/a b"]
        assert names(f"FILE://localhost{tmp_path}/in/a%20b") == [f"{tmp_path}/in/a b"]
        assert names(f"file://{tmp_path}/in/a*") == [f"{tmp_path}/in/a b"]
        assert names("file://elsewhere/x") == ["file://elsewhere/x: invalid file URL; write file:///PATH"]

    def test_the_file_name_of_an_input(self):
        """By its suffix a form may be told: a query is no part of it."""
        store = urls.Url("https", None, "h", "/", "")
        page = urls.Remote(store, "", "")
        assert Input("https://h/x/a.br?b=c/d", None, None, page).file_name == "a.br"
        assert Input("in/a?b", "in/a?b", 1).file_name == "a?b"
        bucket = urls.Remote(urls.Url("s3", None, "b", "/", ""), "", "")
        assert Input("s3://b/x/a?b#.br", None, None, bucket).file_name == "a?b#.br"
        assert Input("-", None, None).file_name == "-"

    def test_a_path_that_looks_like_a_url_is_a_path(self):
        make("s3:/bucket/key")
        assert names("s3://bucket/key") == ["s3://bucket/key"]

    def test_an_error_does_not_end_the_run(self):
        make("a")
        assert names("nope", "a") == ["nope: no such file or folder", "a"]

    def test_arguments_are_looked_at_only_when_they_are_asked_for(self):
        make("a/1", "a/2")

        def arguments():
            yield "a"
            pytest.fail("asked for too early")

        assert [found.name for found in islice(find_inputs(arguments()), 2)] == ["a/1", "a/2"]


class TestWalk:
    def test_the_order_is_by_the_bytes_of_the_names_folders_among_files(self):
        """Every name at its place, hidden or not, file or folder, so `a/` comes before `a.txt`."""
        make("in/b", "in/a.txt", "in/a/z", "in/a/b/c", "in/.hidden", "in/.folder/x", "in/B", "in/ä", "in/z")
        assert names("in") == [
            "in/.folder/x",
            "in/.hidden",
            "in/B",
            "in/a/b/c",
            "in/a/z",
            "in/a.txt",
            "in/b",
            "in/z",
            "in/ä",
        ]

    @pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take no such names")
    def test_names_that_are_not_utf8(self):
        """Sorted by their bytes, where sorting by characters would put U+E000 after the surrogate escape."""
        Path("in").mkdir()
        for name in (b"\xff", b"\xee\x80\x80", b"\xc3\xa9", b"a\x80b"):
            make(os.fsdecode(b"in/" + name), data=b"1")
        found = list(find_inputs(["in"]))
        assert [source.name for source in found] == ["in/a\\x80b", "in/é", "in/\ue000", "in/\\xff"]
        assert [os.fsencode(source.path) for source in found] == [
            b"in/a\x80b",
            b"in/\xc3\xa9",
            b"in/\xee\x80\x80",
            b"in/\xff",
        ]
        for source in found:
            source.name.encode()

    @pytest.mark.full
    @pytest.mark.parametrize(
        ("argument", "expected"),
        [("in", "in/x"), ("in/", "in/x"), ("in//", "in/x"), (".", "./in/x"), ("./", "./in/x"), ("../.", None)],
    )
    def test_a_name_begins_with_the_argument(self, argument, expected):
        make("in/x")
        found = names(argument)
        assert found == [expected] if expected else all(name.startswith("../.") for name in found)

    def test_the_root_keeps_its_slash(self, monkeypatch):
        real = os.listdir
        monkeypatch.setattr(os, "listdir", lambda path: real(path) if path == b"/" else pytest.fail(path))
        first = next(iter(find_inputs(["/"], Selection(exclude=("*/",)))), None)
        assert first is None or (first.path.startswith("/") and not first.path.startswith("//"))

    def test_an_absolute_path_stays_absolute(self, tmp_path):
        make("in/x")
        assert names(str(tmp_path / "in")) == [f"{tmp_path}/in/x"]

    def test_path_and_size(self):
        make("in/x", data=b"12")
        make("in/empty")
        assert list(find_inputs(["in/"])) == [Input("in/empty", "in/empty", 0), Input("in/x", "in/x", 2)]

    def test_an_empty_folder_has_no_inputs(self):
        Path("in/below").mkdir(parents=True)
        assert names("in") == []

    def test_fifos_sockets_and_devices_are_passed_over(self):
        """Opened, a FIFO would wait for ever."""
        make("in/file")
        os.mkfifo("in/fifo")
        link("in/link-to-fifo", "fifo")
        link("in/link-to-device", os.devnull)
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind("in/socket")
            assert names("in") == ["in/file"]
            assert names("in", follow=True) == ["in/file"]

    @pytest.mark.parametrize("log", ["_delta_log/0.json", "metadata/v1.metadata.json"])
    def test_a_table_of_a_data_lake_is_a_folder_with_a_note(self, log):
        """forms.md: its files are read as they lie, removed rows included, and a note says so."""
        make(f"in/t/{log}", "in/t/a.parquet", "in/z/metadata/a.json")
        note, *files = find_inputs(["in"])
        assert isinstance(note, SourceNote)
        assert str(note).startswith("in/t: is a table of Delta or Iceberg, and all its Parquet files are read")
        assert "urnscan.scan_batches" in str(note)
        assert {file.name for file in files} == {f"in/t/{log}", "in/t/a.parquet", "in/z/metadata/a.json"}
        assert names("in/t/*.parquet") == ["in/t/a.parquet"]

    def test_a_folder_that_cannot_be_listed_is_one_error_and_the_rest_goes_on(self, monkeypatch):
        make("in/a/x", "in/b/x", "in/c")
        real = os.listdir

        def listdir(path):
            if path.endswith((b"in/a", b"closed")):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "listdir", listdir)
        Path("closed").mkdir()
        assert names("closed", "in") == ["closed: Permission denied", "in/a: Permission denied", "in/b/x", "in/c"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_without_the_right_to_read_it(self):
        make("in/a/x", "in/b")
        Path("in/a").chmod(0)
        try:
            assert names("in") == ["in/a: Permission denied", "in/b"]
        finally:
            Path("in/a").chmod(0o700)

    def test_a_file_that_vanishes_is_an_error(self, monkeypatch):
        """When its turn comes, or, where the sizes of a folder's files were asked at once, when it is opened."""
        monkeypatch.setattr(
            "urnscan.inputs.walk.file_states", lambda _, ends, follow: (np.full(len(ends), UNKNOWN), follow)
        )
        make("in/a", "in/b")
        found = find_inputs(["in"])
        assert next(found).name == "in/a"
        Path("in/b").unlink()
        assert [str(error) for error in found] == ["in/b: No such file or directory"]

    @pytest.mark.full
    def test_a_tree_deeper_than_the_recursion_limit(self):
        make("d/" * 200 + "x")
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack()) + 100)
        try:
            assert names("d") == ["d/" * 200 + "x"]
            assert names("**/x") == ["d/" * 200 + "x"]
        finally:
            sys.setrecursionlimit(limit)

    def test_only_the_folders_on_the_way_down_are_in_memory(self, monkeypatch):
        """Folders are listed when their turn comes."""
        make("in/a/1", "in/b/1", "in/c/1")
        listed = []
        real = os.listdir
        monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or real(path))
        found = find_inputs(["in"])
        next(found)
        assert listed == [b"in", b"in/a"]
        next(found)
        assert listed == [b"in", b"in/a", b"in/b"]

    @given(
        st.lists(
            st.lists(st.text("aB.-_é \U0001f600\udcff", min_size=1, max_size=3), min_size=1, max_size=4), max_size=12
        )
    )
    def test_every_file_once_in_the_order_of_its_path_as_folders_and_names(self, paths):
        """The rule in one line: sort by the list of the bytes of the names."""
        made = set()
        with tempfile.TemporaryDirectory(dir=".") as root:
            for parts in paths:
                if sys.platform == "darwin" or {".", ".."} & set(parts):
                    continue
                try:
                    make("/".join([root, *parts]))
                except OSError:  # a file stands where this one wants a folder, or the other way round
                    continue
                made.add(tuple(map(os.fsencode, parts)))
            walked = [os.fsencode(source.path)[len(os.fsencode(root)) + 1 :] for source in find_inputs([root])]
            assert walked == [b"/".join(parts) for parts in sorted(made)]


class TestLinks:
    @pytest.fixture(autouse=True)
    def _links(self):
        make("outside/file", "in/a/file")
        link("in/link", "../outside")
        link("in/link-to-file", "a/file")
        link("in/dangling", "nowhere")

    def test_links_that_are_met_are_not_followed(self):
        assert names("in") == ["in/a/file"]

    def test_with_follow_they_are_and_a_dangling_one_is_an_error(self):
        assert names("in", follow=True) == [
            "in/a/file",
            "in/dangling: No such file or directory",
            "in/link/file",
            "in/link-to-file",
        ]

    def test_the_size_is_that_of_the_file_behind_the_link(self):
        make("outside/file", data=b"1234")
        link("in/b", "../outside/file")
        assert Input("in/b", "in/b", 4) in find_inputs(["in"], Selection(follow=True))

    def test_a_dangling_link_that_is_filtered_is_no_error(self):
        assert names("in", follow=True, exclude=("dang*",)) == ["in/a/file", "in/link/file", "in/link-to-file"]
        assert names("in", follow=True, include=("file",)) == ["in/a/file", "in/link/file"]

    def test_a_link_to_a_folder_above_is_not_entered(self):
        link("in/self", ".")
        link("in/a/up", "..")
        link("in/a/top", "../..")
        assert names("in", exclude=("dangling", "link*")) == ["in/a/file"]
        assert names("in", follow=True, exclude=("dangling", "link*")) == ["in/a/file", "in/a/top/outside/file"]

    def test_the_folder_behind_a_named_link_counts_as_above(self):
        make("loop/file")
        link("loop/again", ".")
        link("named", "loop")
        assert names("named", follow=True) == ["named/file"]

    def test_one_folder_linked_twice_side_by_side_is_walked_twice(self):
        link("in/link2", "../outside")
        assert names("in", follow=True, include=("file",)) == ["in/a/file", "in/link/file", "in/link2/file"]

    def test_links_that_lead_to_each_other_are_an_error_and_no_loop(self):
        link("in/x", "y")
        link("in/y", "x")
        assert names("in", follow=True, include=("[xy]",)) == [
            "in/x: Too many levels of symbolic links",
            "in/y: Too many levels of symbolic links",
        ]
        assert names("in", follow=True, exclude=("[xy]", "a", "l*", "d*")) == []


class TestFilters:
    @pytest.fixture(autouse=True)
    def _tree(self):
        make("in/a.txt", "in/a.md", "in/docs/b.txt", "in/docs/logs/c.txt", "in/logs/d.txt", "in/LOGS/e.TXT")

    @pytest.mark.parametrize(
        ("include", "exclude", "expected"),
        [
            (("*.md",), (), ["a.md"]),
            (("*.md", "c.*"), (), ["a.md", "docs/logs/c.txt"]),
            ((), ("*.txt",), ["LOGS/e.TXT", "a.md"]),
            (("*.txt",), ("[ab].*",), ["docs/logs/c.txt", "logs/d.txt"]),
            # with a "/": the path from the walked folder on, where "*" crosses "/"
            (("docs/*",), (), ["docs/b.txt", "docs/logs/c.txt"]),
            (("*/logs/*",), (), ["docs/logs/c.txt"]),
            (("in/*",), (), []),
            # a folder that matches is not entered, by its name or by its path
            ((), ("logs",), ["LOGS/e.TXT", "a.md", "a.txt", "docs/b.txt"]),
            ((), ("docs/logs",), ["LOGS/e.TXT", "a.md", "a.txt", "docs/b.txt", "logs/d.txt"]),
            ((), ("docs",), ["LOGS/e.TXT", "a.md", "a.txt", "logs/d.txt"]),
            # an include does not keep a folder from being entered
            (("c.txt",), (), ["docs/logs/c.txt"]),
            # "/" at the end: folders only, at any depth
            ((), ("logs/", "a.txt/"), ["LOGS/e.TXT", "a.md", "a.txt", "docs/b.txt"]),
            ((), ("*/",), ["a.md", "a.txt"]),
        ],
    )
    def test_filters(self, include, exclude, expected):
        assert names("in", include=include, exclude=exclude) == [f"in/{name}" for name in expected]

    def test_the_walked_folder_itself_is_named_and_so_not_filtered(self):
        assert names("in/logs", "in/docs/", exclude=("logs", "in")) == ["in/logs/d.txt", "in/docs/b.txt"]


class TestOwnFiles:
    def test_temporary_files_and_folders_are_passed_over(self):
        make("in/a", "in/out.parquet.urnscan-tmp", "in/spill.urnscan-tmp/b", "in/urnscan-tmp")
        assert names("in") == ["in/a", "in/urnscan-tmp"]
        assert names("in/*") == ["in/a", "in/urnscan-tmp"]

    def test_outputs_are_known_by_their_real_paths(self):
        make("in/out.parquet", "in/deep/out.parquet", "elsewhere/x")
        link("in/latest", "out.parquet")
        skip = {os.path.realpath("in/out.parquet")}
        told = ": is an output of this run, so it is skipped"
        assert names("in", skip=skip) == ["in/deep/out.parquet", f"in/out.parquet{told}"]
        assert names("in", skip=skip, follow=True) == ["in/deep/out.parquet", f"in/latest{told}"]
        link("way", "in")
        assert names("way", skip=skip) == ["way/deep/out.parquet", f"way/out.parquet{told}"]
        assert names("in/*", skip=skip) == ["in/deep/out.parquet", f"in/latest{told}"]

    def test_the_real_path_is_looked_up_only_where_the_name_is_that_of_an_output(self, monkeypatch):
        make("in/a", "in/out")
        skip = {os.path.realpath("elsewhere/out")}
        asked = []
        real = os.path.realpath
        monkeypatch.setattr(os.path, "realpath", lambda path: asked.append(path) or real(path))
        assert names("in", skip=skip) == ["in/a", "in/out"]
        assert asked == ["in/out"]


class TestPatterns:
    @pytest.fixture(autouse=True)
    def _tree(self):
        make("a.txt", "b.txt", ".hidden.txt", "c.md", "d/e.txt", "d/f/g.txt", "d/f/h.md", "d/f/f/g.txt", "i/e.txt")

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("*.txt", [".hidden.txt", "a.txt", "b.txt"]),
            ("./[ab].txt", ["./a.txt", "./b.txt"]),
            ("?.md", ["c.md"]),
            ("*/e.txt", ["d/e.txt", "i/e.txt"]),
            ("d/*/g.txt", ["d/f/g.txt"]),
            ("d/f/*.m*", ["d/f/h.md"]),
            ("**/g.txt", ["d/f/f/g.txt", "d/f/g.txt"]),
            ("d/**/*.txt", ["d/e.txt", "d/f/f/g.txt", "d/f/g.txt"]),
            ("**/f/**/g.txt", ["d/f/f/g.txt", "d/f/g.txt"]),
            ("**/**/h.md", ["d/f/h.md"]),
            ("*//e.txt", ["d/e.txt", "i/e.txt"]),
            ("d/*/../e.txt", ["d/f/../e.txt"]),
            # a folder is walked, and what is in it is not read a second time
            ("d/f*", ["d/f/f/g.txt", "d/f/g.txt", "d/f/h.md"]),
            ("d/**", ["d/e.txt", "d/f/f/g.txt", "d/f/g.txt", "d/f/h.md"]),
            ("d/**/*", ["d/e.txt", "d/f/f/g.txt", "d/f/g.txt", "d/f/h.md"]),
            ("*/**", ["d/e.txt", "d/f/f/g.txt", "d/f/g.txt", "d/f/h.md", "i/e.txt"]),
            # "/" at the end: folders only
            ("[ci]*/", ["i/e.txt"]),
            ("**/f/", ["d/f/f/g.txt", "d/f/g.txt", "d/f/h.md"]),
        ],
    )
    def test_what_a_pattern_matches(self, pattern, expected):
        assert names(pattern) == expected

    @pytest.mark.parametrize("top", [0, 1])
    def test_an_absolute_pattern(self, tmp_path, top):
        """From any folder on, also from the root."""
        parts = f"{tmp_path}/d".split("/")
        parts[1] = f"[{parts[1][0]}]{parts[1][1:]}" if top else parts[1]
        assert names(f"{'/'.join(parts)}/*.txt") == [f"{tmp_path}/d/e.txt"]

    @pytest.mark.parametrize("pattern", ["/[d]ev/nul[l]", "fif[o]", "**/fifo", "*/sock*"])
    def test_what_has_no_end_is_no_match(self, pattern):
        """A FIFO would be waited for, and a device may be endless: as in a walk, only what is named by its name is opened."""
        os.mkfifo("fifo")
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind("d/socket")
        assert names(pattern) == [f"{pattern}: no such file or folder, and no file matches it as a pattern"]

    @pytest.mark.parametrize(
        "pattern", ["*.nope", "nope/*", "nope/**", "a.txt/*", "c.md*/", "x" * 300 + "*", "[", "**/nope"]
    )
    def test_no_match(self, pattern):
        assert names(pattern) == [f"{pattern}: no such file or folder, and no file matches it as a pattern"]

    def test_a_file_of_that_very_name_comes_before_what_it_matches(self):
        make("[ab].txt")
        assert names("[ab].txt") == ["[ab].txt"]

    def test_a_match_counts_as_named(self):
        """A file is not filtered, a folder is walked with the filters."""
        assert names("[ad]*", exclude=("*.txt",)) == ["a.txt", "d/f/h.md"]

    def test_a_match_that_leads_nowhere_is_an_error_even_where_its_name_is_a_pattern(self):
        link("*", "nowhere")
        assert names("[*a]*") == ["*: No such file or directory", "a.txt"]
        assert names("*")[0] == "*: No such file or directory"

    def test_stars_do_not_follow_links_in_circles(self):
        """Two links to a folder above make 2**40 paths for one who follows them."""
        link("d/up", "..")
        link("d/up2", "..")
        assert names("d/**/e.txt") == ["d/e.txt"]
        assert names("d/*/i/e.txt") == ["d/up/i/e.txt", "d/up2/i/e.txt"]
        assert names("d/**/e.txt", follow=True) == [
            "d/e.txt",
            "d/up/i/e.txt",
            "d/up2/i/e.txt",
        ]

    def test_with_follow_stars_go_through_links(self):
        make("outside/e.txt")
        link("i/link", "../outside")
        assert names("i/**/e.txt") == ["i/e.txt"]
        assert names("i/**/e.txt", follow=True) == ["i/e.txt", "i/link/e.txt"]

    def test_a_folder_that_cannot_be_listed_is_an_error(self, monkeypatch):
        real = os.scandir

        def scandir(path):
            if path.startswith("d"):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        assert names("**/e.txt") == ["d: Permission denied", "i/e.txt"]
        assert names("d/*.txt") == ["d: Permission denied"]
        # where every name is known nothing needs to be listed
        assert names("[d]/e.txt") == ["d/e.txt"]

    def test_matches_are_found_as_they_are_asked_for(self, monkeypatch):
        listed = []
        real = os.scandir
        monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or real(path))
        assert next(iter(find_inputs(["**/e.txt"]))).name == "d/e.txt"
        assert "i/" not in listed

    @given(
        st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), max_size=8),
        st.lists(st.sampled_from(["a", "b", "*", "[ab]", "**"]), min_size=1, max_size=4).filter(
            lambda parts: any(part not in ("a", "b") for part in parts)
        ),
    )
    def test_each_file_that_glob_would_name_or_walk_is_found_once(self, paths, parts):
        import glob

        with tempfile.TemporaryDirectory(dir=".") as root:
            for path in paths:
                try:
                    make("/".join([root, *path]))
                except OSError:
                    continue
            pattern = "/".join([root, *parts])
            expected = set()
            for match in glob.iglob(pattern, recursive=True, include_hidden=True):
                if match.endswith("/") and not Path(match).is_dir():
                    continue  # it gives "a/" for "a/**" even where there is no folder of that name
                if Path(match).is_dir():
                    expected |= {str(path) for path in Path(match).rglob("*") if path.is_file()}
                else:
                    expected.add(str(Path(match)))
            found = list(find_inputs([pattern]))
            assert sorted(os.path.normpath(f.path) for f in found if isinstance(f, Input)) == sorted(
                map(os.path.normpath, expected)
            )
