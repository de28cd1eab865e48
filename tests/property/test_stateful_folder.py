"""A folder that people work in while it is scanned again and again: a run that is resumed finds what a fresh one finds."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.support.examples import FEW
from tests.support.packed import tar, zipped
from urnscan.run import pipeline
from urnscan.run.options import Options
from urnscan.run.resume import Shards
from urnscan.run.tasks import Sizes
from urnscan.stores.temporary import TEMPORARY_SUFFIX
from urnscan.tables.schemas import CODED_CLASSES, OCCURRENCES, REJECTS

_TINY = Sizes(part=60, together=50, files=2)
_names = st.sampled_from(
    ["a.txt", "b.txt", "sub/a.txt", "sub/b.gz", "sub-1", "sub/deep/c", ".d", "é.txt", "z.tar", "z.zip"]
)
_texts = st.lists(
    st.sampled_from([b"urn:a:b\n", b"URN:A:b ", b"urn:isbn:3-99999-052-X,", b"urn:x", b"\n", b"x" * 40, b"urn:c:%2c"]),
    max_size=12,
).map(b"".join)
_works = st.lists(
    st.tuples(
        st.sampled_from(["write", "append", "change in place", "cut", "remove", "move"]),
        *(_names, _names, _texts, st.integers(0, 99)),
    ),
    max_size=4,
)


class CutOffError(Exception):
    """What ends a run in its midst."""


class Folder(RuleBasedStateMachine):
    """Files come, change and go between runs that are cut off and resumed."""

    @initialize(jobs=st.sampled_from([1, 2]), syntax=st.sampled_from(["rfc2141", "rfc8141"]))
    def begin(self, jobs, syntax):
        self.folder = Path(tempfile.mkdtemp())
        self.inputs = self.folder / "inputs"
        self.inputs.mkdir()
        (self.inputs / "0").write_bytes(b"urn:always:here")  # of no input nothing can be read
        self.options = Options(jobs=jobs, syntax=syntax)
        self.time = 1_000_000_000
        self.patch = mock.patch.object(pipeline, "_SIZES", _TINY)
        self.patch.start()
        for name in ("a.txt", "b.txt", "sub/a.txt"):
            self.write(name, b"urn:a:b\nurn:a:%b\n" % name.encode())

    def put(self, path, data):
        """A file with a time of its own: a clock that stands still is another matter."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.time += 1
        os.utime(path, (self.time, self.time))

    def work(self, kind, name, other, text, at):
        """What people do to a file."""
        path = self.inputs / name
        if kind == "write":
            self.write(name, text)
        elif path.exists():
            data = path.read_bytes()
            match kind:
                case "append":
                    self.put(path, data + text)
                case "change in place":  # as many bytes as before
                    self.put(path, data.translate(bytes.maketrans(b"abc", b"bca")))
                case "cut":
                    self.put(path, data[: at % (len(data) + 1)])
                case "remove":
                    path.unlink()
                case "move":
                    (self.inputs / other).parent.mkdir(parents=True, exist_ok=True)
                    path.replace(self.inputs / other)

    def write(self, name, text):
        pack = {".gz": gzip.compress, ".tar": lambda text: tar([("m", text), ("n", text[:9])])}
        pack[".zip"] = lambda text: zipped([("m", text)])
        self.put(self.inputs / name, pack.get(Path(name).suffix, bytes)(text))

    @rule(works=_works, after=st.integers(0, 5))
    def cut_off(self, works, after):
        """A run ends after so many tables of rows."""
        for each in works:
            self.work(*each)
        left = after

        def count(_):
            nonlocal left
            left -= 1
            if left < 0:
                raise CutOffError

        try:
            with self.shards() as shards:
                self.run(shards, count)
        except CutOffError:
            pass

    @rule(works=_works, is_last=st.booleans())
    def resume(self, works, is_last):
        """With what earlier runs left; that stays there as if the run had been killed at its end, or goes."""
        for each in works:
            self.work(*each)
        fresh = self.run(None)
        with self.shards() as shards:
            assert self.run(shards) == fresh
            if is_last:
                shards.drop()
        assert any(self.folder.glob(f".*{TEMPORARY_SUFFIX}")) <= (not is_last)

    def shards(self):
        return Shards(self.folder / "out", self.options.identity(), resume=True)

    def run(self, shards, on_rows=lambda _: None):
        """All that a run tells, but for the time that it took."""
        found, classes, rejects = [], [], []

        def take(rows):
            on_rows(rows)
            found.append(rows)

        report = pipeline.run(
            [str(self.inputs)],
            self.options,
            pipeline.Outputs(occurrences=take, classes=classes.append, rejects=rejects.append, shards=shards),
        )
        tables = ((found, OCCURRENCES), (classes, CODED_CLASSES), (rejects, REJECTS))
        rows = [pa.Table.from_batches(batches, schema).to_pylist() for batches, schema in tables]
        names = "inputs byte_count occurrences classes rejects trimmable components_in_names".split()
        counts = [getattr(report, name) for name in names]
        return rows, counts, [str(failure) for failure in report.failures]

    def teardown(self):
        if hasattr(self, "patch"):
            self.patch.stop()
            shutil.rmtree(self.folder)


TestFolder = Folder.TestCase
TestFolder.settings = FEW
