"""Many small files read at one go: the same bytes and the same results as one by one."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import urnscan
from tests.support.examples import FEW
from urnscan.formats import small_files as together
from urnscan.formats.context import Reading
from urnscan.formats.registry import FORMS
from urnscan.formats.small_files import read_together
from urnscan.formats.unfold import doubts, is_plain
from urnscan.run.tasks import Sizes
from urnscan.stores.input import Input, Listed

BUFFER = 1 << 16
SEPARATOR = 10


def read(*paths, room=BUFFER, full=BUFFER):
    """The texts that are read, in place of one that is not surely text ..., of one that cannot be read None."""
    files = Listed.of(Input(str(path), str(path), 1) for path in paths)
    data = np.zeros(room, np.uint8)
    texts, filled = [], 0
    while len(texts) < len(paths) and filled < full:
        got = read_together(
            files.between(len(texts), len(paths)),
            data[filled:],
            separator=SEPARATOR,
            full=full - filled,
            doubts=doubts(Reading()),
        )
        for number, length in enumerate(got.lengths.tolist()):
            assert data[filled + length] == SEPARATOR
            texts.append(... if number in got.doubtful else data[filled : filled + length].tobytes())
            filled += length + 1
        texts += [None] * got.is_stuck
    return texts


class TestReadTogether:
    """What cannot be read like this is left to be read on its own."""

    def test_files(self, tmp_path):
        contents = [b"one", b"", b"\xff" * 500, "Grüße".encode()]
        paths = [tmp_path / f"{number}-u" for number in range(len(contents))]
        for path, data in zip(paths, contents, strict=True):
            path.write_bytes(data)
        assert read(*paths) == [b"one", b"", ..., "Grüße".encode()]

    def test_most_texts_are_read(self, tmp_path):
        """A text is doubtful by a whole sign of a form: first letters and digits alone would doubt most of them."""
        contents = [
            b"2026-11-27 urn:x-y:1",
            b"12345",
            b"Grey lamps",
            b"PDF",
            b'{"a": 1}',
            b'"a","b"',
            b"ID,urn",
            b"=a",
            b"F",
        ]
        paths = [tmp_path / f"{number}-u" for number in range(len(contents))]
        for path, data in zip(paths, contents, strict=True):
            path.write_bytes(data)
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
        for name, data in (("a", b"12345"), ("b", b"6789"), ("c", b"0")):
            (tmp_path / name).write_bytes(data)
        filled = 0
        for text, data in zip(
            read(tmp_path / "a", tmp_path / "b", tmp_path / "c", room=room), [b"12345", b"6789", b"0"], strict=False
        ):
            assert text == (data if filled + len(data) < room else None)
            filled += 0 if text is None else len(text) + 1

    def test_no_more_than_asked_for(self, tmp_path):
        """What is read is scanned before more is."""
        (tmp_path / "a").write_bytes(b"12345")
        assert read(*[tmp_path / "a"] * 5, full=7) == [b"12345"] * 2

    def test_descriptors_are_closed(self, tmp_path):
        (tmp_path / "a").write_bytes(b"a" * 100)
        opened = Path("/proc/self/fd")
        before = len(list(opened.iterdir())) if opened.exists() else 0
        read(*[tmp_path / "a"] * 50, room=20)
        read(*[tmp_path / "a"] * 50)
        assert not before or len(list(opened.iterdir())) == before

    def test_without_compilation_each_is_read_on_its_own(self, tmp_path, monkeypatch):
        (tmp_path / "a").write_bytes(b"a")
        monkeypatch.setattr(together, "IS_COMPILED", False)
        assert read(tmp_path / "a") == [None]


SUFFIXES = ["", ".txt", ".JSON", ".é", ".ZIP", *sorted(FORMS.suffixes)]
HEADS = [b"", b"\0", b"a\0b\0c\0d\0e\0f\0g\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe", b"x" * 5000 + b"\0"]
HEADS += [
    b"".join(place[-1:] for place in sign)[:cut] + tail
    for sign in FORMS.signs
    for cut in (None, -1)
    for tail in (b"", b"1234")
]
NAMED = st.builds("{}{}".format, st.text("aZ.é\udcff", min_size=1, max_size=3), st.sampled_from(SUFFIXES))
CONTENTS = st.builds(
    lambda head, rest: head + rest, st.sampled_from(HEADS), st.binary(max_size=30) | st.just(b"urn:x-y:z")
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMED, data=CONTENTS | st.binary(max_size=600))
@example("a", b"ustar".rjust(262, b" ").ljust(512))
def test_what_is_read_together_is_plain(tmp_path, name, data):
    """Whatever is taken for text at once is also text by the slow way, which looks at all forms."""
    path = tmp_path / name
    try:
        path.write_bytes(data)
    except OSError:  # "." and such
        return
    head = data[: together.HEAD]
    (text,) = read(path)
    assert text in (..., data)
    if text is not ...:
        source = Input(name, str(path), len(data))
        assert is_plain(source, head, is_whole=len(head) == len(data), reading=Reading())
    path.unlink()


def write_all(folder):
    """Small files in all the ways in which a file can be something else than its text."""
    text = b"urn:x-y:%d and urn:x-y:same, \xff\n"
    contents = {
        "plain.txt": text % 1,
        "empty.txt": b"",
        "empty.gz": b"",
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
    for number, (name, data) in enumerate(contents.items()):
        (folder / f"{number:02}-{name}").write_bytes(data)


@pytest.mark.full
@pytest.mark.parametrize("options", [{}, {"encoding": "utf-16-le"}, {"recover": "all"}, {"jobs": 2}])
def test_results_do_not_depend_on_it(tmp_path, monkeypatch, options):
    """Order, offsets, lines, failures, counts: as if each were read on its own."""
    write_all(tmp_path)

    def run():
        found = urnscan.scan(tmp_path, **options)
        failures = [str(failure) for failure in found.report.failures]
        report = found.report
        return found.classes.to_pylist(), found.occurrences.to_pylist(), failures, report.inputs, report.byte_count

    at_one_go = run()
    monkeypatch.setattr(together, "IS_COMPILED", False)
    assert run() == at_one_go
    assert len(at_one_go[1]) > 2
    assert any("empty.gz: is named like a gzip file, but is empty" in failure for failure in at_one_go[2])


def test_a_file_that_has_grown(tmp_path, monkeypatch):
    """Beyond what is scanned together it is read on its own."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"urn:a:b " * 100)
    monkeypatch.setattr("urnscan.run.pipeline._SIZES", Sizes(part=300, together=200, files=10))
    inputs = [Input(str(tmp_path / name), str(tmp_path / name), 10) for name in ("a", "b")]
    monkeypatch.setattr("urnscan.run.tasks.find_listed", lambda *_: iter(inputs))
    assert urnscan.scan(tmp_path).report.occurrences == 200


class TestFolders:
    """Folders with all sorts of files give the same results fast and slow."""

    @pytest.mark.full
    @settings(FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        files=st.dictionaries(NAMED, CONTENTS | st.just(gzip.compress(b"urn:x-y:packed")), max_size=12),
        odd=st.sets(st.sampled_from(["link", "dangling", "fifo", "folder", "closed", "temporary"])),
        sizes=st.builds(
            Sizes, part=st.sampled_from([20, 10_000]), together=st.sampled_from([1, 50]), files=st.sampled_from([2, 50])
        ),
        options=st.sampled_from(
            [{}, {"follow": True}, {"exclude": ["*.txt"]}, {"include": ["*a*"]}, {"encoding": "utf-16-le"}]
        ),
    )
    def test_fast_and_slow(self, tmp_path_factory, files, odd, sizes, options):
        folder = tmp_path_factory.mktemp("folder")
        for name, data in files.items():
            if name not in (".", ".."):
                (folder / name).write_bytes(data)
        for what in sorted(odd):
            make_odd(folder / f"odd-{what}", what)

        def run():
            found = urnscan.scan(folder, rejects=True, jobs=1, **options)
            report = found.report
            tables = found.classes.to_pylist(), found.occurrences.to_pylist(), found.rejects.to_pylist()
            return *tables, sorted(map(str, report.failures)), report.inputs, report.byte_count

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("urnscan.run.pipeline._SIZES", sizes)
            (folder / "some.txt").write_bytes(b"urn:x-y:in-any-case")
            (folder / "some.a").write_bytes(b"urn:x-y:in-any-case")
            fast = run()
            patch.setattr(together, "IS_COMPILED", False)
            patch.setattr("urnscan.formats.small_files._CAN_ASK", False)
            assert run() == fast
        (folder / "odd-closed").chmod(0o700) if (folder / "odd-closed").exists() else None

    def test_files_that_vanish(self, tmp_path, monkeypatch):
        """Between the walk and the reading: one line each, and the others are read."""
        for number in range(6):
            (tmp_path / f"{number}.txt").write_bytes(b"urn:x-y:%d" % number)
        real = together._read_files

        def late(*arguments):
            for number in (0, 3, 5):
                (tmp_path / f"{number}.txt").unlink(missing_ok=True)
            return real(*arguments)

        monkeypatch.setattr(together, "_read_files", late)
        found = urnscan.scan(tmp_path)
        assert [row["text"] for row in found.occurrences.to_pylist()] == ["urn:x-y:1", "urn:x-y:2", "urn:x-y:4"]
        assert [str(failure) for failure in found.report.failures] == [
            f"{tmp_path}/{number}.txt: No such file or directory" for number in (0, 3, 5)
        ]


def make_odd(path, what):
    """Something in a folder that is no regular file, or is none of the inputs."""
    match what:
        case "link":
            path.symlink_to("some.txt")
        case "dangling":
            path.symlink_to("nowhere")
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
            (path / "inner").write_bytes(b"urn:x-y:inner")
        case "closed":
            path.write_bytes(b"urn:x-y:closed")
            path.chmod(0)
        case "temporary":
            path.with_name(path.name + ".urnscan-tmp").write_bytes(b"urn:x-y:temporary")
