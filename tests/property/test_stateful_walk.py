"""A tree of folders that changes between walks: the files of arguments, each once, in the order that is promised."""
# Paths are bytes here: a Path is text.
# ruff: noqa: PTH103, PTH108, PTH112, PTH113, PTH114, PTH118, PTH120, PTH123, PTH208, PTH211

from __future__ import annotations

import os
import shutil
import tempfile
from fnmatch import fnmatchcase

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.support.examples import FEW
from urnscan.run.options import Options
from urnscan.run.tasks import run_inputs

_names = st.sampled_from([b"a", b"a.txt", b"A", b".h", b"b-", b"\xff", b"\xc3\xa9.txt", b"x.urnscan-tmp", b"c"])
_ways = st.lists(_names, min_size=1, max_size=3).map(b"/".join)
_patterns = st.sampled_from(["*.txt", "a", "a/", "*/a.txt", "a/*", "?", ".*", "*"])


class Tree(RuleBasedStateMachine):
    """Folders, files, FIFOs and links are made and removed."""

    @initialize()
    def begin(self):
        self.root = os.path.realpath(os.fsencode(tempfile.mkdtemp()))

    def place(self, way):
        """A path in whose folders there are no links; None where that is not possible."""
        path = os.path.join(self.root, way)
        above = os.path.dirname(path)
        try:
            os.makedirs(above, exist_ok=True)
        except OSError:  # a file or a link that leads nowhere is in the way
            return None
        return path if os.path.realpath(above) == above and not os.path.lexists(path) else None

    @rule(way=_ways)
    def add_file(self, way):
        if path := self.place(way):
            with open(path, "wb"):
                pass

    @rule(way=_ways)
    def add_fifo(self, way):
        if path := self.place(way):
            os.mkfifo(path)

    @rule(way=_ways, to=st.one_of(_ways, st.just(b"")))
    def add_link(self, way, to):
        if path := self.place(way):
            os.symlink(os.path.join(self.root, to), path)

    @rule(way=_ways)
    def remove(self, way):
        path = os.path.join(self.root, way)
        if os.path.realpath(os.path.dirname(path)) != os.path.dirname(path):
            return
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)

    @rule(
        ways=st.lists(st.one_of(st.just(b""), _ways), max_size=4),
        include=st.lists(_patterns, max_size=1),
        exclude=st.lists(_patterns, max_size=2),
    )
    def walk(self, ways, include, exclude):
        named = [os.path.join(self.root, way) if way else self.root for way in ways]
        named = [path for path in named if os.path.isdir(path) or os.path.isfile(path)]
        self.include, self.exclude = include, exclude
        expected = dict.fromkeys(path for folder in named for path in self.met(folder, "", is_named=True))
        options = Options(include=tuple(include), exclude=tuple(exclude))
        found = run_inputs([os.fsdecode(path) for path in named], options, ())
        assert [os.fsencode(each.path) for each in found] == list(expected)

    def met(self, path, way, *, is_named):
        """The files at a path, by the definition: what was named counts, what was met is filtered, links are not followed."""
        if is_named and not os.path.isdir(path):
            return [path]
        found = []
        for name in sorted(os.listdir(path)):
            here, there = os.path.join(path, name), way + os.fsdecode(name)
            if name.endswith(b".urnscan-tmp") or os.path.islink(here):
                continue
            if os.path.isdir(here):
                if not self.fits(self.exclude, there, is_folder=True):
                    found += self.met(here, there + "/", is_named=False)
            elif (
                os.path.isfile(here)
                and not self.fits(self.exclude, there)
                and (not self.include or self.fits(self.include, there))
            ):
                found.append(here)
        return found

    @staticmethod
    def fits(patterns, way, *, is_folder=False):
        """Whether one of the patterns says this path from the walked folder on; one that ends in "/" means folders."""
        for pattern in patterns:
            if pattern.endswith("/") and not is_folder:
                continue
            plain = pattern.removesuffix("/")
            if fnmatchcase(way if "/" in plain else way.rpartition("/")[2], plain):
                return True
        return False

    def teardown(self):
        if hasattr(self, "root"):
            shutil.rmtree(self.root)


TestTree = Tree.TestCase
TestTree.settings = FEW
