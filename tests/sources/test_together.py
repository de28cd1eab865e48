"""Many small files read at one go: the same octets and the same results as one by one."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import urnscan
from urnscan import worker
from urnscan.planning import Sizes
from urnscan.sources import NOT_READ, Input, read_together

BUFFER = 1 << 16


def read(*paths, room=BUFFER):
    octets = np.zeros(room, np.uint8)
    lengths = read_together([Input(str(path), str(path), 1) for path in paths], octets).tolist()
    texts, at = [], 0
    for length in lengths:
        texts.append(None if length == NOT_READ else octets[at : at + length].tobytes())
        at += max(length, 0)
    return texts


class TestReadTogether:
    """What cannot be read like this is left to be read on its own."""

    def test_files(self, tmp_path):
        contents = [b"one", b"", b"\0\xff" * 500, "Grüße".encode()]
        paths = [tmp_path / f"{number}-ü" for number in range(len(contents))]
        for path, octets in zip(paths, contents, strict=True):
            path.write_bytes(octets)
        assert read(*paths) == contents

    def test_what_is_none(self, tmp_path):
        """Folders, files that are gone, files that nobody may read."""
        (tmp_path / "a").write_bytes(b"a")
        (tmp_path / "b").write_bytes(b"b")
        assert read(tmp_path / "a", tmp_path, tmp_path / "gone", tmp_path / "b") == [b"a", None, None, b"b"]

    @pytest.mark.timeout(20)
    def test_a_fifo_is_not_waited_for(self, tmp_path):
        """A file that was one when it was found."""
        os.mkfifo(tmp_path / "fifo")
        assert read(tmp_path / "fifo")[0] in (None, b"")

    @pytest.mark.parametrize("room", range(1, 12))
    def test_what_has_no_room(self, tmp_path, room):
        """Whole or not at all: its end must have been seen."""
        for name, octets in (("a", b"12345"), ("b", b"6789"), ("c", b"0")):
            (tmp_path / name).write_bytes(octets)
        texts = read(tmp_path / "a", tmp_path / "b", tmp_path / "c", room=room)
        filled = 0
        for text, octets in zip(texts, [b"12345", b"6789", b"0"], strict=True):
            assert text == (octets if filled + len(octets) < room else None)
            filled += len(text or b"")

    def test_descriptors_are_closed(self, tmp_path):
        (tmp_path / "a").write_bytes(b"a" * 100)
        opened = Path("/proc/self/fd")
        before = len(list(opened.iterdir())) if opened.exists() else 0
        read(*[tmp_path / "a"] * 50, room=20)
        assert not before or len(list(opened.iterdir())) == before

    def test_pipes_and_what_is_elsewhere(self):
        """Their size is not known, or they have no path."""
        octets = np.zeros(10, np.uint8)
        assert read_together([Input("-", None, None), Input("x", "x", None)], octets).tolist() == [NOT_READ] * 2


def write_all(folder):
    """Small files in all the ways in which a file can be something else than its text."""
    text = b"urn:x-y:%d and urn:x-y:same, \xff\n"
    contents = {
        "plain.txt": text % 1,
        "empty.txt": b"",
        "short": b"urn:a:b",
        "mark.txt": b"\xef\xbb\xbfurn:x-y:marked",
        "wide.txt": "urn:x-y:wide".encode("utf-16"),
        "nuls.txt": "urn:x-y:without-mark".encode("utf-16-le"),
        "packed.gz": gzip.compress(text % 2),
        "damaged.gz": gzip.compress(text % 3)[:-20],
        "named.zip": text % 4,
        "named.tar": b"\1\2" + text % 5,
        "ends.txt": b"urn:x-y:one-text",
        "begins.txt": b"-and-another urn:x-y:next",
        "large.txt": text % 6 * 3000,
        "last.txt": text % 7,
    }
    for number, (name, octets) in enumerate(contents.items()):
        (folder / f"{number:02}-{name}").write_bytes(octets)


@pytest.mark.parametrize("options", [{}, {"encoding": "utf-16-le"}, {"recover": "all"}, {"jobs": 2}])
def test_results_do_not_depend_on_it(tmp_path, monkeypatch, options):
    """Order, offsets, lines, failures, counts: as if each were read on its own."""
    write_all(tmp_path)

    def run():
        found = urnscan.scan(tmp_path, **options)
        failures = [str(failure) for failure in found.report.failures]
        report = found.report
        return found.classes.to_pylist(), found.occurrences.to_pylist(), failures, report.inputs, report.octets

    together = run()
    monkeypatch.setattr(worker, "read_together", lambda inputs, _: np.full(len(inputs), NOT_READ))
    assert run() == together
    assert len(together[1]) > 2


def test_a_file_that_has_grown(tmp_path, monkeypatch):
    """Beyond what is scanned together it is read on its own."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"urn:a:b " * 100)
    monkeypatch.setattr("urnscan.pipeline._SIZES", Sizes(part=300, together=200, files=10))
    inputs = [Input(str(tmp_path / name), str(tmp_path / name), 10) for name in ("a", "b")]
    monkeypatch.setattr("urnscan.planning.find_inputs", lambda *_: iter(inputs))
    assert urnscan.scan(tmp_path).report.occurrences == 200
