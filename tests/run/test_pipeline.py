"""From inputs to tables: what the oracle finds in each file, however the work is cut and shared out."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import urnscan
from tests.support.oracle import oracle, trimmable, with_components
from tests.support.packed import tar, zipped
from tests.support.results import Result, expected_classes, expected_occurrences, rows_of
from tests.support.strategies import any_bytes as rich_bytes
from tests.support.strategies import near_urns
from urnscan import __version__
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.errors import FatalError, PdfNote, SourceError, SourceNote, count_of
from urnscan.formats import small_files as reading
from urnscan.formats import unfold as opening
from urnscan.grouping import out_of_core as grouping
from urnscan.run import pipeline, worker
from urnscan.run import tasks as planning
from urnscan.run.failures import Failures
from urnscan.run.options import Options
from urnscan.run.pipeline import Outputs, Report, run
from urnscan.run.resume import Shards
from urnscan.run.task_results import Counts
from urnscan.run.tasks import Sizes, plan_size
from urnscan.run.worker import Worker
from urnscan.stores.input import Input
from urnscan.tables import parquet_writer as output
from urnscan.tables.parquet_writer import ParquetOutput
from urnscan.tables.schemas import CLASSES, CODED_CLASSES, OCCURRENCES, REPEATING

MEANINGS = [
    ("rfc2141", "lexical"),
    ("rfc2141", "namespace"),
    ("rfc8141", "lexical"),
    ("rfc8141", "namespace"),
    ("rfc2141bis-03", "lexical"),
    ("rfc2141bis-03", "resolution"),
]

_runs = st.builds(lambda byte, times: byte * times, st.sampled_from([b"x", b"\n", b" ", b"\xff"]), st.integers(1, 90))
_long_urns = st.builds(
    lambda byte, times: b"URN:a:" + byte * times, st.sampled_from([b"b", b"%2c", b"."]), st.integers(1, 90)
)
contents = st.one_of(
    st.just(b""),
    rich_bytes,
    st.lists(st.one_of(near_urns, near_urns, _long_urns, _runs, st.just(b"\n"), st.just(b" ")), max_size=25).map(
        b"".join
    ),
    near_urns,  # a file that ends in a URN
)
sizes = st.builds(
    Sizes,
    part=st.one_of(st.integers(1, 40), st.sampled_from([100, 300, 10_000])),
    together=st.sampled_from([1, 20, 100, 1_000, 10_000]),
    files=st.integers(1, 6),
)


def write_tree(folder, files):
    """Files of these contents, some in folders of their own; (name, bytes) in the order of a walk."""
    written = []
    for number, data in enumerate(files):
        path = Path(folder, f"{number // 3:04}", f"file {number:04}")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        written.append((str(path), data))
    return written


def lines(number, text=b"urn:a:b"):
    return b"".join(b"%b%d\n" % (text, line) for line in range(number))


@pytest.fixture
def one_by_one(monkeypatch):
    """Each file is opened by `open_file`, so that a test can make that fail."""
    monkeypatch.setattr(reading, "IS_COMPILED", False)


@pytest.fixture
def small(monkeypatch):
    """Parts, bundles and runs so small that a test makes many."""

    def set_sizes(part=50, together=20, files=3):
        monkeypatch.setattr(pipeline, "_SIZES", Sizes(part, together, files))

    return set_sizes


class TestOracle:
    """Contract, both tables; semantics §3: "The result never depends on how the input is cut into blocks, on the number
    of workers, or on line ends."
    """

    @given(
        files=st.lists(contents, max_size=7),
        cut=sizes,
        meaning=st.sampled_from(MEANINGS),
        trim=st.booleans(),
        tail=st.sampled_from(["keep", "cut"]),
        max_length=st.one_of(st.just(65_536), st.integers(8, 60)),
        jobs=st.sampled_from([1, 2]),
        memory=st.sampled_from([1, 10**9]),
        runs=st.sampled_from([{}, {"_CHUNK": 1, "_FIRST": 1, "_SLICE": 2}]),
    )
    @example(
        [b"urn:a:b", b"urn:a:b", b"", b"URN:a:b\n"],
        Sizes(99, 99, 9),
        MEANINGS[0],
        False,
        "keep",
        99,
        1,
        1,
        {},
    )
    def test_tree(self, files, cut, meaning, trim, tail, max_length, jobs, memory, runs):
        syntax, equivalence = meaning
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            stack.enter_context(mock.patch.object(pipeline, "_SIZES", cut))
            if runs:
                stack.enter_context(mock.patch.multiple(grouping, **runs))
            written = write_tree(folder, files)
            result = Result(
                [folder],
                syntax=syntax,
                equivalence=equivalence,
                trim=trim,
                resolver_tail=tail,
                max_length=max_length,
                jobs=jobs,
                memory=memory,
            )
        rules = {"trim": trim, "resolver_tail": tail, "max_length": max_length}
        expected = expected_occurrences(written, syntax, equivalence, **rules)
        assert result.occurrences == expected
        assert result.classes == expected_classes(expected, syntax, equivalence)
        report = result.report
        assert report.failures == []
        assert report.inputs == len(files)
        assert report.byte_count == sum(map(len, files))
        assert sum(result.progress) >= report.byte_count
        untrimmed = [oracle(data, syntax, resolver_tail=tail, max_length=max_length) for data in files]
        assert trim or report.trimmable == sum(map(trimmable, untrimmed))
        assert report.components_in_names == with_components((row["text"].encode() for row in expected), syntax)

    @pytest.mark.full
    @given(
        files=st.lists(st.tuples(contents, st.one_of(st.none(), st.integers(0, 300))), max_size=5),
        cut=sizes,
        jobs=st.sampled_from([1, 2]),
    )
    def test_sizes_that_are_not_true(self, files, cut, jobs):
        """A file can grow or shrink after the walk; what is read counts. None is a pipe: it tells no size."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(pipeline, "_SIZES", cut):
            written = write_tree(folder, [data for data, _ in files])
            inputs = [Input(name, name, size) for (name, _), (_, size) in zip(written, files, strict=True)]
            with mock.patch.object(planning, "find_listed", return_value=iter(inputs)):
                result = Result([], jobs=jobs)
        assert result.occurrences == expected_occurrences(written)
        assert result.classes == expected_classes(result.occurrences)
        assert result.report.inputs == len(files)
        assert result.report.byte_count == sum(len(data) for _, data in written)

    @pytest.mark.full
    def test_true_sizes(self, tmp_path):
        """The constants as they are: bundles of many small files, one that is read on its own, one that is read in parts."""
        chance = random.Random(1)
        words = [b"urn:a:b%2c", b"URN:a:b%2C,", b"urn:c:d)", b"x" * 50, b"\n", b" ", b" "]
        small = [b"".join(chance.choices(words, k=chance.randrange(60))) for _ in range(700)]
        huge = b"".join(word + b"\n" + b"x" * chance.randrange(120_000) for word in chance.choices(words, k=320))
        assert len(huge) > 2 * Sizes().part
        expected = expected_occurrences(write_tree(tmp_path, [*small, huge[: 9 << 20], *small[:5], huge]))
        for jobs in (1, 2):
            result = Result([tmp_path], jobs=jobs)
            assert result.occurrences == expected
            assert result.classes == expected_classes(expected)


class TestParts:
    """A huge file is read in parts, each a task; nobody sees where it was cut."""

    @given(st.integers(0, 1 << 45))
    def test_sizes(self, byte_count):
        """Many small parts take time, few large ones leave cores without work, and larger ones make a resumed run lose more."""
        part = Sizes().part_of(byte_count)
        assert 8 << 20 <= part <= 64 << 20
        assert byte_count // part >= 32 or part == 8 << 20
        assert byte_count // part <= 64 or byte_count < 512 << 20 or part == 64 << 20

    def check(self, tmp_path, data, jobs=2, **options):
        path = tmp_path / "huge"
        path.write_bytes(data)
        result = Result([path], jobs=jobs, **options)
        assert result.occurrences == expected_occurrences([(str(path), data)], **options)
        assert result.report.inputs == 1
        assert result.report.byte_count == len(data)
        return result

    @pytest.mark.parametrize("parts", [1, 2, 3, 10])
    def test_is_read_in_parts(self, tmp_path, small, parts):
        """As many as it has room for; one that is not twice a part is read in one."""
        small(part=50)
        with mock.patch.object(worker, "open_range", side_effect=worker.open_range) as ranges:
            self.check(tmp_path, lines(100)[: parts * 50 + 49])
        assert len(ranges.call_args_list) == (parts if parts > 1 else 0)

    @pytest.mark.full
    @pytest.mark.parametrize("size", [0, 49, 51, 120, 400, 1_000, 2_000])
    def test_that_grew_or_shrank_after_the_walk(self, tmp_path, small, size):
        """Its parts are planned by the size that it had; what there is when it is read is read."""
        small(part=50)
        path = tmp_path / "huge"
        path.write_bytes(lines(100))
        with mock.patch.object(planning, "find_listed", return_value=iter([Input(str(path), str(path), size)])):
            result = Result([])
        assert result.occurrences == expected_occurrences([(str(path), lines(100))])
        assert result.report.byte_count == len(lines(100))

    def test_lines(self, tmp_path, small):
        """Semantics §3: `line` = 1 + the LF bytes before the match, in the file and not in the part."""
        small(part=30)
        result = self.check(tmp_path, lines(100))
        assert [row["line"] for row in result.occurrences] == list(range(1, 101))

    @pytest.mark.parametrize("part", range(20, 40))
    def test_cut_everywhere(self, tmp_path, small, part):
        """Also just before, in and just behind a URN: its text, offset and stop are the same."""
        small(part=part)
        self.check(tmp_path, b"urn:a:b\nURN:cc:ddd.)\n\n<urn:e:f>\x1furn:g:h\x1faurn:i:j,urn:k:l " * 8)

    @pytest.mark.full
    @pytest.mark.parametrize("syntax", ["rfc2141", "rfc8141", "rfc2141bis-03"])
    @pytest.mark.parametrize("part", [13, 17, 20, 29])
    def test_cut_in_urls(self, tmp_path, small, part, syntax):
        """A part begins behind no byte of a URL, as "&" and "~" are though no URN of RFC 2141 holds them."""
        small(part=part)
        text = b"<http://[::1]/~a/b&c?d[e&urn:ab:c>\nhttps://r.example/~user/a?b=c&d=e&urn=urn:ab:c&f\n" * 9
        result = self.check(tmp_path, text, syntax=syntax)
        assert {row["resolver"] for row in result.occurrences} == {None, "r.example"}

    def test_stop_at_the_end_of_a_part(self, tmp_path, small):
        """Contract: `stop` is null at the end of the input, which the end of a part is not."""
        small(part=8)
        result = self.check(tmp_path, b"urn:a:b urn:c:d\nurn:e:f\turn:g:h")
        assert [row["stop"] for row in result.occurrences] == [32, 10, 9, None]

    @pytest.mark.full
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_long_text_without_separators(self, tmp_path, small, jobs):
        """Several parts have no place where they could begin."""
        small(part=30)
        for text in (b"urn:a:" + b"b" * 500, b"x" * 500, b"urn:a:b" * 80, b"x" * 200 + b" urn:a:b " + b"y" * 300):
            self.check(tmp_path, text, jobs=jobs)
            self.check(tmp_path, text + b"\nurn:c:d\n" + text, jobs=jobs, max_length=16)

    def test_followed_by_other_files(self, tmp_path, small):
        """Lines begin anew, also between two huge files."""
        small(part=30)
        files = write_tree(tmp_path, [lines(20), lines(30), b"\nurn:x:y", lines(9), lines(1)])
        result = Result([tmp_path], jobs=2)
        assert result.occurrences == expected_occurrences(files)

    def test_that_fails_is_one_failure(self, tmp_path, small):
        """Gone after the walk: each part would say so."""
        small(part=50)
        gone, kept = tmp_path / "a", tmp_path / "b"
        gone.write_bytes(lines(100))
        kept.write_bytes(lines(5))

        def open_range(source, *_rest):
            raise SourceError(source.name, "gone")

        with mock.patch.object(worker, "open_range", open_range):
            result = Result([gone, kept], jobs=2)
        assert [(failure.source, failure.reason) for failure in result.failed] == [(str(gone), "gone")]
        assert result.occurrences == expected_occurrences([(str(kept), lines(5))])
        assert result.report.inputs == 1

    def test_that_fails_in_its_first_part_is_read_in_the_others(self, tmp_path, small):
        """Report.inputs: "Inputs that were read, or of which a part was." """
        small(part=50)
        path = tmp_path / "huge"
        path.write_bytes(lines(50, b"urn:a:"))

        def open_range(source, start, *rest):
            if start == 0:
                raise SourceError(source.name, "broken")
            return original(source, start, *rest)

        original = worker.open_range
        with mock.patch.object(worker, "open_range", open_range):
            result = Result([path])
        assert [failure.reason for failure in result.failed] == ["broken"]
        assert result.texts == [f"urn:a:{line}" for line in range(50) if lines(line, b"urn:a:")[49:]]
        assert result.report.inputs == 1


class TestTogether:
    """Small files are scanned as one text; nobody sees that they were."""

    def test_urn_at_the_end_of_a_file(self, tmp_path):
        """`stop` is null there, and what follows in the next file is another match."""
        files = write_tree(tmp_path, [b"urn:a:b", b"urn:c:d", b"", b"c", b"urn:e:f,", b"urn:", b"g:h", b"urn:i:j\0"])
        result = Result([tmp_path], jobs=1)
        assert result.occurrences == expected_occurrences(files)
        assert [row["stop"] for row in result.occurrences] == [None, None, None, 0]

    @pytest.mark.parametrize(
        ("files", "together", "bundles"), [(512, 1_000, 1), (9, 1_000, 1), (4, 1_000, 3), (512, 20, 3)]
    )
    def test_bundles(self, tmp_path, small, files, together, bundles):
        """So many files, or so many bytes; with the sizes as they are, nine small ones are one."""
        small(part=8, together=together, files=files)
        write_tree(tmp_path, [b"urn:a:b"] * 9)
        with mock.patch.object(Worker, "work", autospec=True, return_value=iter(())) as scanned:
            run([str(tmp_path)], Options(jobs=1))
        assert scanned.call_count == bundles

    def test_letter_at_the_end_of_the_file_before(self, tmp_path):
        """Semantics §2: what precedes a match is in its own file."""
        files = write_tree(tmp_path, [b"sideb", b"urn:a:b", b"x\x1f", b"urn:c:d", b"\x1f", b"aurn:e:f"])
        assert Result([tmp_path]).occurrences == expected_occurrences(files)

    def test_url_at_the_end_of_the_file_before(self, tmp_path):
        """The URL in which a match stands is in its own file."""
        files = write_tree(tmp_path, [b"http://r.example/", b"urn:a:b", b"http://r.example/?", b"/urn:c:d"])
        result = Result([tmp_path])
        assert result.occurrences == expected_occurrences(files)
        assert [row["resolver"] for row in result.occurrences] == [None, None]

    def test_lines(self, tmp_path):
        files = write_tree(tmp_path, [b"\n\n", b"urn:a:b\nurn:c:d", b"\nurn:e:f\n", b"urn:g:h"])
        result = Result([tmp_path])
        assert [row["line"] for row in result.occurrences] == [1, 2, 2, 1]
        assert result.occurrences == expected_occurrences(files)

    def test_cut_at_the_end_of_a_file(self, tmp_path):
        """A match that is cut at `max_length` is cut, whatever follows."""
        files = write_tree(tmp_path, [b"urn:a:bcd", b"urn:a:bcde", b"urn:a:bcdefurn:g:hij"])
        result = Result([tmp_path], max_length=9)
        assert result.occurrences == expected_occurrences(files, max_length=9)
        assert [row["stop"] for row in result.occurrences][:2] == [None, -1]

    def test_tables_among_them(self, tmp_path):
        """What waits to be scanned comes before a table that is scanned at once; bytes of values are bytes of text."""
        for name, data in (("a.txt", b"urn:a:a"), ("b.csv", b"id,no\nurn:b:b,urn:n:n"), ("c.txt", b"urn:c:c")):
            (tmp_path / name).write_bytes(data)
        result = Result([tmp_path], column=("id",))
        assert result.texts == ["urn:a:a", "urn:b:b", "urn:c:c"]
        assert (result.report.inputs, result.report.byte_count) == (3, 21)

    def test_same_file_twice(self, tmp_path):
        """What several arguments name is read once: a pattern and a folder may overlap, and no occurrence is two."""
        path = tmp_path / "a"
        path.write_bytes(b"urn:a:b")
        result = Result([path, path])
        assert result.texts == ["urn:a:b"]
        assert result.report.inputs == 1

    @pytest.mark.parametrize("first", ["a", "d", "d/../a", "./d//b", "link", "file://{}/a", "[ad]", "{}/d/."])
    def test_same_file_by_another_path(self, tmp_path, monkeypatch, first):
        """However it is written; but over a link or ".." it is another: that could lead elsewhere, and then none is lost."""
        monkeypatch.chdir(tmp_path)
        Path("d").mkdir()
        for name in ("a", "d/b", "d/.b", "d/..b"):
            Path(name).write_bytes(b"urn:a:" + name.encode())
        Path("link").symlink_to("d")
        inputs = [first, "a", "./a", ".//a", "{}/a", "{}/./a", "file://{}//a", "d", "./d//", "d/b", "{}/d//b", "d/.b"]
        result = Result([path.format(tmp_path) for path in inputs])
        counts = Counter(result.texts)
        again = {"d/../a": ["a"], "link": ["d/b", "d/.b", "d/..b"]}.get(first, [])
        assert counts == Counter([f"urn:a:{name}" for name in ("a", "d/b", "d/.b", "d/..b", *again)])

    def test_where_the_folder_is_gone(self, tmp_path, monkeypatch):
        """What is named from the root is read nevertheless."""
        (tmp_path / "a").write_bytes(b"urn:a:b")
        (tmp_path / "gone").mkdir()
        monkeypatch.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()
        result = Result([tmp_path / "a", "b", f"{tmp_path}//a"])
        assert result.texts == ["urn:a:b"]
        monkeypatch.chdir(tmp_path)


class TestSame:
    """Contract: "The same inputs and options give the same bytes, whatever `-j`, `--memory` or the machine." """

    def files_of(self, tmp_path, name, folder, **options):
        """The two Parquet files of a run, and the report."""
        paths = tmp_path / f"{name}-classes", tmp_path / f"{name}-occurrences"
        with (
            ParquetOutput(paths[0], CLASSES, dictionaries=REPEATING) as classes,
            ParquetOutput(paths[1], OCCURRENCES) as occurrences,
        ):
            rules = Options(**options)
            report = run(
                [str(folder)],
                rules,
                Outputs(occurrences=occurrences.write, classes=classes.write, spill_folder=classes.folder),
            )
            classes.commit(report.metadata(rules))
            occurrences.commit(report.metadata(rules))
        return [path.read_bytes() for path in paths], report

    def test_files(self, tmp_path, monkeypatch):
        folder = tmp_path / "tree"
        folder.mkdir()
        chance = random.Random(5)
        urns = [b"urn:a:%d%%2c" % number for number in range(300)]
        urns += [urn.upper() for urn in urns] + [urn.replace(b"a", b"isbn") for urn in urns]
        write_tree(folder, [b"\n".join(chance.choices(urns, k=chance.randrange(900))) for _ in range(20)])
        monkeypatch.setattr(output, "_ROW_GROUP", 500)
        first, report = self.files_of(tmp_path, "first", folder, jobs=1)
        assert report.occurrences > 3_000
        for number, (jobs, memory, part, together, cut) in enumerate(
            [
                (1, 1, 1 << 20, 1, 3),
                (2, 10**9, 3_000, 9_000, 512),
                (4, 1, 700, 1, 16),
                (3, 300_000, 1 << 20, 1 << 20, 1),
            ]
        ):
            monkeypatch.setattr(pipeline, "_SIZES", Sizes(part, together))
            monkeypatch.setattr(grouping, "_CHUNK", 40_000)
            monkeypatch.setattr(grouping, "_SLICE", 8_000 * cut)
            again, _ = self.files_of(tmp_path, str(number), folder, jobs=jobs, memory=memory)
            assert again == first
        assert {path.name for path in tmp_path.iterdir()} == {
            "tree",
            *(f"{name}-{table}" for name in ("first", *range(4)) for table in ("classes", "occurrences")),
        }

    def test_other_engines_read_both(self, tmp_path):
        """ "pandas, DuckDB, Polars and Spark read both." """
        duckdb = pytest.importorskip("duckdb")
        folder = tmp_path / "tree"
        folder.mkdir()
        write_tree(folder, [lines(300), b"URN:A:B0 urn:a:%00"])
        _, report = self.files_of(tmp_path, "both", folder)
        classes, occurrences = tmp_path / "both-classes", tmp_path / "both-occurrences"
        with duckdb.connect() as database:

            def ask(query, path):
                return database.execute(query, [str(path)]).fetchone()

            assert ask("SELECT count(*), sum(occurrence_count)::INT FROM read_parquet(?)", classes) == (302, 302)
            assert ask("SELECT count(*), count(stop) FROM read_parquet(?)", occurrences) == (302, 301)
            spellings = ask("SELECT spellings, problem FROM read_parquet(?) WHERE nss = '%00'", classes)
            assert spellings == ([{"text": "urn:a:%00", "count": 1}], "nul-octet")
            for path in (classes, occurrences):
                ((value,),) = database.execute(
                    "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'urnscan'::BLOB", [str(path)]
                ).fetchall()
                assert json.loads(value) == report.metadata(Options())
        for path, rows in ((classes, 302), (occurrences, 302)):
            assert len(pd.read_parquet(path)) == rows

    def test_spilled_rows_are_gone(self, tmp_path):
        spilled = tmp_path / "spilled"
        spilled.mkdir()
        (tmp_path / "a").write_bytes(lines(100))
        with mock.patch.object(tempfile, "TemporaryDirectory", side_effect=tempfile.TemporaryDirectory) as made:
            Result([tmp_path / "a"], memory=1, spill_folder=spilled)
        assert made.call_count == 1
        assert made.call_args.kwargs["dir"] == spilled
        assert list(spilled.iterdir()) == []

    def test_spilled_rows_are_gone_after_an_error(self, tmp_path):
        spilled = tmp_path / "spilled"
        spilled.mkdir()
        (tmp_path / "a").write_bytes(lines(100))

        def fail(_rows):
            assert list(spilled.iterdir())
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            run([str(tmp_path / "a")], Options(memory=1), Outputs(classes=fail, spill_folder=spilled))
        assert list(spilled.iterdir()) == []

    def test_disk_is_full_when_rows_are_spilled(self, tmp_path):
        """errors.py: what ends the run is a FatalError of one line (here by a limit on the size of files)."""
        (tmp_path / "a").write_bytes(lines(2_000))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, before[1]))
        try:
            with pytest.raises(FatalError) as caught:
                Result([tmp_path / "a"], memory=1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "File too large" in str(caught.value)
        assert "\n" not in str(caught.value)


class TestVerdicts:
    """Punctuation of the text at the end of a name is not its author's error."""

    NAMES = (
        "urn:isbn:0-395-36341-1. URN:ISBN:0-395-36341-1. urn:isbn:0-395-36341-1 (urn:alert:source:internal) "
        "urn:isbn:0-395-36341-6. urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6;grid=99a urn:issn:nnnn-nnnn urn:doi:10 "
    )

    @pytest.mark.full
    @pytest.mark.parametrize(("syntax", "equivalence"), MEANINGS)
    @pytest.mark.parametrize("memory", [1, 10**9])
    def test_untrimmed(self, tmp_path, small, memory, syntax, equivalence):
        """At every level, in memory or not: unknown without `--trim`, valid with it, and the run counts them."""
        small()
        write_tree(tmp_path, [self.NAMES.encode() * 9] * 3)
        with mock.patch.multiple(grouping, _CHUNK=4000, _SLICE=800):
            result = Result([tmp_path], memory=memory, syntax=syntax, equivalence=equivalence)
            trimmed = Result([tmp_path], memory=memory, syntax=syntax, equivalence=equivalence, trim=True)
        book = "urn:isbn:9780395363416" if equivalence == "namespace" else "urn:isbn:0-395-36341-1"
        assert {row["urn"]: (row["occurrence_count"], row["valid"], row["problem"]) for row in result.classes} == {
            "urn:alert:source:internal)": (27, None, "untrimmed"),
            "urn:doi:10": (27, False, "nss-grammar"),
            "urn:isbn:0-395-36341-1.": (54, None, "untrimmed"),
            "urn:isbn:0-395-36341-6.": (27, False, "nss-grammar"),
            book: (27, True, None),
            "urn:issn:nnnn-nnnn": (27, None, "template"),
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6;grid=99a": (27, None, "run-on"),
        }
        assert (result.report.untrimmed, trimmed.report.untrimmed) == (2, 0)
        after = {row["urn"]: (row["occurrence_count"], row["valid"]) for row in trimmed.classes}
        assert (after[book], after["urn:alert:source:internal"]) == ((81, True), (27, True))
        assert pipeline.Report().untrimmed is None

    @pytest.mark.full
    @pytest.mark.parametrize("jobs", [1, 3])
    @pytest.mark.parametrize("memory", [1, 10**9])
    def test_problems_of_spellings(self, tmp_path, small, memory, jobs):
        """The verdict on the class comes first, then what any spelling has, wherever among the inputs it stands."""
        small()
        odd = [b"urn:isbn:0-395-36341-1?=%00 ", b"urn:isbn:0-395-36341-6#%D0%B0123 ", b"urn:isbn:0-395-36341-6?+%41 "]
        plain = b"urn:isbn:0-395-36341-1 urn:isbn:0-395-36341-6 URN:ISBN:0-395-36341-6#p2 " * 9
        expected = {
            "urn:isbn:0-395-36341-1": (True, "nul-octet"),
            "urn:isbn:0-395-36341-6": (False, "check-digit; confusable; needless-encoding"),
        }
        for number, some in enumerate([odd, odd[::-1]]):
            folder = tmp_path / str(number)
            folder.mkdir()
            write_tree(folder, [some[0], *[plain] * 3, some[1], *[plain] * 3, some[2]])
            with mock.patch.multiple(grouping, _CHUNK=4000, _SLICE=800):
                result = Result([folder], memory=memory, jobs=jobs, syntax="rfc8141")
            assert {row["urn"]: (row["valid"], row["problem"]) for row in result.classes} == expected
            assert {row["spelling_problem"] for row in result.occurrences} == {
                None,
                "nul-octet",
                "confusable",
                "needless-encoding",
            }
            assert result.classes == expected_classes(result.occurrences, "rfc8141")


class TestEncodings:
    """Semantics §3: "Offsets are bytes from the start of the document (… after transcoding to UTF-8 for UTF-16/32 input)"."""

    TEXT = "ä urn:a:b\n„URN:nbn:de:101:1-201609052530“\r\nurn:c:d🦉\n" * 9

    @pytest.mark.full
    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    @pytest.mark.parametrize("part", [20, 100, 1 << 20])
    def test_byte_order_mark(self, tmp_path, small, encoding, part):
        """Small or huge: it cannot be read in parts, and nobody sees that."""
        small(part=part, together=part)
        data = self.TEXT.encode()
        files = write_tree(tmp_path, [b"urn:a:b", data, b"urn:a:b"])
        Path(files[1][0]).write_bytes(("\ufeff" + self.TEXT).encode(encoding))
        result = Result([tmp_path], jobs=2)
        assert result.occurrences == expected_occurrences(files)
        assert result.report.byte_count == 14 + len(data)

    @pytest.mark.parametrize("part", [20, 1 << 20])
    def test_named(self, tmp_path, small, part):
        small(part=part)
        (tmp_path / "a").write_bytes(self.TEXT.replace("🦉", "").encode("cp1252"))
        result = Result([tmp_path / "a"], encoding="cp1252")
        text = self.TEXT.replace("🦉", "").encode()
        assert result.occurrences == expected_occurrences([(str(tmp_path / "a"), text)])

    @pytest.mark.parametrize("part", [20, 1 << 20])
    def test_broken(self, tmp_path, small, part):
        """What can be read is read, to the end, and the input is named as one that failed in part."""
        small(part=part, together=part)
        data = "\ufeffurn:a:b \udc00 urn:c:d\n".encode("utf-16-le", "surrogatepass") * 9 + "urn:e:f".encode("utf-16-le")
        path = tmp_path / "a"
        path.write_bytes(data + b"x")
        text = data.decode("utf-16-le", "replace")[1:].encode() + "\ufffd".encode()
        result = Result([path])
        assert result.texts[-1] == "urn:e:f"
        assert result.occurrences == expected_occurrences([(str(path), text)])
        assert [failure.source for failure in result.failed] == [str(path)]
        assert result.report.inputs == 1
        assert result.report.byte_count == len(text)


class TestStreams:
    """Standard input, FIFOs: what tells no size is read as it comes."""

    @pytest.mark.full
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_fifo(self, tmp_path, jobs):
        fifo, file = tmp_path / "fifo", tmp_path / "file"
        os.mkfifo(fifo)
        file.write_bytes(b"\nurn:x:y")
        text = lines(1_500, b"x" * 900 + b" urn:a:b")
        writer = threading.Thread(target=fifo.write_bytes, args=(text,))
        writer.start()
        result = Result([fifo, file], jobs=jobs)
        writer.join()
        assert result.occurrences == expected_occurrences([(str(fifo), text), (str(file), b"\nurn:x:y")])
        assert result.report.byte_count == len(text) + 8

    def test_occurrences_are_given_while_more_is_to_come(self, tmp_path):
        """Contract: occurrences go to standard output; a slow pipe is not held back."""
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        seen = threading.Event()

        def write():
            with fifo.open("wb", buffering=0) as pipe:
                pipe.write(b"urn:a:b ")
                assert seen.wait(10)
                pipe.write(b"urn:c:d ")

        writer = threading.Thread(target=write)
        writer.start()
        found = []
        run(
            [str(fifo)],
            Options(jobs=1),
            Outputs(occurrences=lambda rows: found.append(rows.to_pylist()) or seen.set()),
        )
        writer.join()
        assert [[row["text"] for row in rows] for rows in found] == [["urn:a:b"], ["urn:c:d"]]


class TestFailures:
    """errors.py, SourceError: "this input is skipped and counted"; contract, exit statuses 1 and 2."""

    def good(self, tmp_path, number=3):
        return write_tree(tmp_path, [b"urn:a:%d" % file for file in range(number)])

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_among_good_ones(self, tmp_path, jobs):
        files = self.good(tmp_path)
        missing = [str(tmp_path / "missing one"), str(tmp_path / "missing two")]
        inputs = [missing[0], files[0][0], missing[1], files[1][0], files[2][0], missing[1]]
        result = Result(inputs, jobs=jobs)
        assert result.occurrences == expected_occurrences(files)
        assert result.classes == expected_classes(result.occurrences)
        assert [failure.source for failure in result.failed] == [missing[0], missing[1], missing[1]]
        assert all(isinstance(failure, SourceError) and "\n" not in str(failure) for failure in result.failed)
        assert result.report.inputs == 3

    @pytest.mark.usefixtures("one_by_one")
    @pytest.mark.parametrize("size", [5, 500])
    def test_that_cannot_be_opened(self, tmp_path, small, size):
        """In a bundle, or huge and on its own; met only when its turn comes."""
        small(part=50, together=1_000, files=10)
        files = write_tree(tmp_path, [b"urn:a:b", b"x" * size, b"urn:c:d"])

        def refuse(source, *rest):
            if source.name == files[1][0]:
                raise SourceError(source.name, "refused")
            return original(source, *rest)

        original = opening.open_file
        with (
            mock.patch.object(opening, "open_file", refuse),
            mock.patch.object(planning, "is_splittable", return_value=False),
        ):
            result = Result([tmp_path])
        assert result.occurrences == expected_occurrences([files[0], files[2]])
        assert [str(failure) for failure in result.failed] == [f"{files[1][0]}: refused"]
        assert result.report.inputs == 2

    @pytest.mark.usefixtures("one_by_one")
    @pytest.mark.parametrize("size", [0, 40, 200, 5_000, None])
    @pytest.mark.parametrize("read", [0, 40, 200, 1 << 16])
    def test_in_the_midst(self, tmp_path, small, size, read):
        """Report.inputs: "Inputs that were read, or of which a part was." What was read of it counts, however it is
        read: in a bundle, on its own, or as a stream.
        """
        small(part=100, together=100, files=10)
        head = b"urn:a:b " * (read // 8)
        files = write_tree(tmp_path, [b"urn:x:y", head, b"urn:z:z"])
        inputs = [Input(name, name, len(data)) for name, data in files]
        inputs[1] = Input(files[1][0], files[1][0], size)

        def breaking(source, *rest):
            reader = original(source, *rest)
            if source.name == files[1][0]:
                reader.read_into = broken(reader.read_into)
            return reader

        def broken(read_into):
            left = read

            def read_less(view):
                nonlocal left
                if not left:
                    raise SourceError(files[1][0], "broken")
                got = read_into(view[:left])
                left -= got
                return got

            return read_less

        original = opening.open_file
        with (
            mock.patch.object(planning, "find_listed", return_value=iter(inputs)),
            mock.patch.object(opening, "open_file", breaking),
            mock.patch.object(planning, "is_splittable", return_value=False),
        ):
            result = Result([])
        assert [str(failure) for failure in result.failed] == [f"{files[1][0]}: broken"]
        assert Counter(result.texts) == {"urn:x:y": 1, "urn:z:z": 1} | ({"urn:a:b": read // 8} if read else {})
        assert result.texts[0] + result.texts[-1] == "urn:x:yurn:z:z"
        assert result.report.inputs == (3 if read else 2)
        assert result.report.byte_count == 14 + read

    @pytest.mark.parametrize("pack", [tar, zipped])
    @pytest.mark.parametrize("together", [20, 1_000])
    def test_a_wrong_checksum_of_a_short_member(self, tmp_path, small, pack, together):
        """It counts and is told, also where it was read to its end to see what it is."""
        small(part=1_000, together=together, files=9)
        bad = bytearray(gzip.compress(b"urn:bad:b and more\n"))
        bad[-8] ^= 1
        path = tmp_path / "archive"
        path.write_bytes(pack([("a", b"urn:good:a and more\n"), ("b.gz", bytes(bad)), ("c", b"urn:good:c")]))
        result = Result([path])
        assert result.texts == ["urn:good:a", "urn:bad:b", "urn:good:c"]
        assert [failure.reason for failure in result.failed] == [
            "the checksum of the gzip member at byte 0 is wrong; its text may be damaged"
        ]

    def test_very_many_in_an_input(self):
        """Twenty are told one by one; how many more there are is counted for each input."""
        told = []
        failures = Failures(told.append)
        for place, count in enumerate((25, 20, 22)):
            for number in range(count):
                failures.add(place, str(place), SourceError(str(place), f"failure {number}"))
        failures.finish()
        assert len(told) == 20 + 1 + 20 + 20 + 1
        assert [str(error) for error in told if "more" in error.reason] == [
            "0: 5 more failures in it",
            "2: 2 more failures in it",
        ]

    def test_notes_take_no_place_of_failures(self):
        """Twenty of each are told of an input."""
        failures = Failures()
        for number in range(25):
            failures.add(0, "a", SourceNote("a", f"note {number}"))
        for number in range(21):
            failures.add(0, "a", SourceError("a", f"failure {number}"))
        failures.finish()
        assert [len(failures.failures), len(failures.notes)] == [21, 21]
        assert str(failures.failures[-1]) == "a: 1 more failures in it"
        assert str(failures.notes[-1]) == "a: 5 more notes in it"

    @pytest.mark.core
    def test_notes_that_are_told_together_count_once(self):
        """A report may be made again of the same notes, as that of a run on Spark is: it counted them once more each time."""
        notes = [PdfNote(name, "a PDF") for name in "abc"]
        reports = [Report.of(Counts(inputs=3), [SourceError("d", "gone"), *notes], Options()) for _ in range(3)]
        assert [(len(report.failures), len(report.notes), count_of(report.notes)) for report in reports] == [
            (1, 1, 3)
        ] * 3

    def test_tables_whose_checksum_is_wrong_count(self, tmp_path):
        names = ("a.csv", "b.csv", "c.csv")
        data = bytearray(zipped([(name, b"id\nurn:example:%b" % name[:1].encode()) for name in names]))
        data[data.index(b"PK\x03\x04", 4) + 14] ^= 1
        path = tmp_path / "tables.zip"
        path.write_bytes(data)
        result = Result([path], column=("id",))
        assert result.texts == ["urn:example:a", "urn:example:b", "urn:example:c"]
        assert [str(failure) for failure in result.failed] == [
            f"{path}!/b.csv: its checksum or size is wrong; its text may be damaged"
        ]

    def test_strict(self, tmp_path):
        """Contract: "the first input that fails ends the run"."""
        files = self.good(tmp_path)
        missing = [str(tmp_path / "missing one"), str(tmp_path / "missing two")]
        found, failed = [], []
        with pytest.raises(FatalError, match="strict=True"):
            run(
                [files[0][0], missing[0], missing[1], files[1][0]],
                Options(strict=True, jobs=2),
                Outputs(occurrences=found.append),
                Progress(on_failure=failed.append),
            )
        assert [failure.source for failure in failed] == missing[:1]
        assert [row["source"] for row in rows_of(found, OCCURRENCES)] == [files[0][0]]

    def test_strict_without_a_failure(self, tmp_path):
        files = self.good(tmp_path)
        assert Result([tmp_path], strict=True).occurrences == expected_occurrences(files)

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_only_failures(self, tmp_path, jobs):
        failed = []
        with pytest.raises(FatalError, match="no input could be read"):
            run(
                [str(tmp_path / "missing"), str(tmp_path / "*.none")],
                Options(jobs=jobs),
                Outputs(classes=failed.append),
                Progress(on_failure=failed.append),
            )
        assert [failure.source for failure in failed] == [str(tmp_path / "missing"), str(tmp_path / "*.none")]

    def test_nothing_found_is_no_failure(self, tmp_path):
        (tmp_path / "a").write_bytes(b"nothing")
        (tmp_path / "empty").touch()
        result = Result([tmp_path])
        assert (result.occurrences, result.classes, result.failed) == ([], [], [])
        assert result.report.inputs == 2

    def test_empty_folder(self, tmp_path):
        assert Result([tmp_path]).report.inputs == 0

    def test_error_of_a_sink_arrives(self, tmp_path):
        self.good(tmp_path)

        def fail(_rows):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            run([str(tmp_path)], Options(), Outputs(occurrences=fail))
        with pytest.raises(ZeroDivisionError):
            run([str(tmp_path)], Options(), Outputs(classes=fail))


class TestNotes:
    """What was scanned in full, though not in its own form, is told and counted apart: it is no failure."""

    AR = b"!<arch>\na/              0           0     0     100644  8         `\nurn:a:b\n"

    def test_of_an_input_and_of_a_member(self, tmp_path):
        (tmp_path / "x.a").write_bytes(self.AR)
        (tmp_path / "x.tar").write_bytes(tar([("y.a", self.AR), ("z", b"urn:a:c")]))
        result = Result([tmp_path], strict=True)
        assert result.texts == ["urn:a:b", "urn:a:b", "urn:a:c"]
        assert result.report.failures == []
        assert [note.source for note in result.report.notes] == [f"{tmp_path}/x.a", f"{tmp_path}/x.tar!/y.a"]
        assert result.report.metadata(result.options)["counts"] == {
            "inputs": 2,
            "failures": 0,
            "notes": 2,
            "byte_count": 2 * len(self.AR) + 7,
            "occurrences": 3,
            "trimmable": 0,
            "components_in_names": 0,
            "longer_in_rfc8141": 0,
            "cut_short": 0,
            "left_out": None,
            "classes": 2,
            "rejects": None,
        }

    def test_a_failure_beside_a_note(self, tmp_path):
        """With `strict` the failure ends the run, and its message names the failure alone."""
        (tmp_path / "x.a").write_bytes(self.AR)
        (tmp_path / "x.rar").write_bytes(b"Rar!\x1a\x07\x00")
        result = Result([tmp_path])
        assert [len(result.report.failures), len(result.report.notes)] == [1, 1]
        with pytest.raises(
            FatalError, match=r"strict=True\): [^;]*x\.rar: a RAR archive is not read; unpack it first[^;]*$"
        ):
            urnscan.scan(tmp_path, strict=True)


class TestOwnOutputs:
    """A run does not read what it writes, nor what it wrote before."""

    @pytest.mark.parametrize("spelled", ["absolute", "relative", "through a link"])
    def test_inside_the_scanned_folder(self, tmp_path, monkeypatch, spelled):
        monkeypatch.chdir(tmp_path)
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "a").write_bytes(b"urn:a:b")
        (folder / "out.jsonl").write_bytes(b'{"urn": "urn:old:output"}\n')
        (tmp_path / "link").symlink_to(folder)
        path = {
            "absolute": folder / "out.jsonl",
            "relative": "folder/out.jsonl",
            "through a link": "link/out.jsonl",
        }
        outputs = [str(path[spelled])]
        assert Result(["folder"], outputs=outputs).texts == ["urn:a:b"]
        assert Result([folder], outputs=outputs).texts == ["urn:a:b"]
        assert sorted(Result([folder]).texts) == ["urn:a:b", "urn:old:output"]
        assert plan_size(["folder"], Options(), outputs) == 7
        (folder / "out.jsonl").write_bytes(b"urn:a:precious")
        with pytest.raises(FatalError, match=r"is an input \(in a folder or a list\) and an output"):
            Result(["folder"], outputs=outputs)

    def test_while_they_are_written(self, tmp_path):
        """The work folder, with what is spilled in it."""
        (tmp_path / "a").write_bytes(lines(50))
        with ParquetOutput(tmp_path / "out.parquet", CLASSES) as file:
            (file.folder / "run").write_bytes(b"urn:half:written")
            result = Result([tmp_path], outputs=[str(tmp_path / "out.parquet")], spill_folder=file.folder, memory=1)
        assert len(result.occurrences) == 50


class TestSinks:
    """Both tables, either, or neither."""

    def test_either(self, tmp_path, small):
        small(part=30)
        files = write_tree(tmp_path, [lines(30), b"urn:a:b\n" * 3, b"urn:a:b"])
        both = Result([tmp_path])
        for wanted in ("occurrences", "classes"):
            batches = []
            report = run([str(tmp_path)], Options(), Outputs(**{wanted: batches.append}))
            schema = OCCURRENCES if wanted == "occurrences" else CODED_CLASSES
            assert rows_of(batches, schema) == getattr(both, wanted)
            assert report.occurrences == both.report.occurrences
            assert report.byte_count == sum(len(data) for _, data in files)
            assert report.classes == (both.report.classes if wanted == "classes" else None)

    def test_neither(self, tmp_path):
        (tmp_path / "a").write_bytes(lines(5))
        report = run([str(tmp_path)], Options())
        assert (report.occurrences, report.classes, report.inputs) == (5, None, 1)

    def test_occurrences_come_in_order_from_one_thread(self, tmp_path, small):
        small(part=30)
        write_tree(tmp_path, [lines(20)] * 9)
        threads = set()
        run([str(tmp_path)], Options(jobs=4), Outputs(occurrences=lambda _: threads.add(threading.get_ident())))
        assert threads == {threading.get_ident()}

    def test_progress_one_at_a_time(self, tmp_path, small):
        """ "from the threads that read, one at a time"; together the bytes that are read."""
        small(part=30)
        files = write_tree(tmp_path, [lines(40)] * 9)
        busy = threading.Lock()
        data = []

        def on_progress(number):
            assert busy.acquire(blocking=False)
            time.sleep(0.0005)
            data.append(number)
            busy.release()

        run([str(tmp_path)], Options(jobs=4), progress=Progress(on_progress=on_progress))
        assert sum(data) == sum(len(text) for _, text in files)

    def test_told_when_grouping_begins(self, tmp_path):
        """Once, when all is read and no class is there yet, and then of its rows; never where there are no classes."""
        write_tree(tmp_path, [lines(40)] * 3)
        seen = []

        def go(**sinks):
            seen.clear()
            progress = Progress(
                on_progress=lambda data: seen.append("progress") if data else None, on_stage=seen.append
            )
            run(
                [str(tmp_path)],
                Options(),
                Outputs(occurrences=lambda rows: seen.append(rows.num_rows), **sinks),
                progress,
            )
            return seen

        grouping = Stage("grouping", 120, ROWS)
        assert grouping not in go()
        assert go(classes=lambda _: seen.append("classes"))[-3:] == [grouping, "classes", "progress"]
        assert seen.count(grouping) == 1

    @pytest.mark.parametrize("memory", [1, 10**9])
    def test_a_bar_of_rows_comes_to_its_end(self, tmp_path, memory):
        """Also where rows are spilled."""
        write_tree(tmp_path, [lines(40)] * 3)
        told = []
        progress = Progress(on_progress=told.append, on_stage=lambda _: told.clear())
        run([str(tmp_path)], Options(memory=memory), Outputs(classes=lambda _: None), progress)
        assert sum(told) == 120

    @pytest.mark.parametrize("size", [30, 100, 400])
    def test_progress_of_a_file_for_which_there_is_no_room(self, tmp_path, small, size):
        """What is read once is told once, also where it is passed on from a bundle to a stream."""
        small(part=100, together=1)
        text = lines(200)[:size]
        (tmp_path / "a").write_bytes(text)
        told = []
        with mock.patch.object(planning, "is_splittable", return_value=False):
            report = run([str(tmp_path)], Options(jobs=1), progress=Progress(on_progress=told.append))
        assert report.byte_count == sum(told) == size

    def test_progress_of_what_an_earlier_run_kept(self, tmp_path, small):
        """It need not be read again, and a bar that did not count it would never come to its end."""
        small(part=30)
        files = write_tree(tmp_path, [lines(40)] * 3)
        inputs = [path for path, _ in files]
        told = []
        for _ in range(2):
            with Shards(tmp_path / "out", {}, resume=True) as shards:
                told.append([])
                run(inputs, Options(jobs=1), Outputs(shards=shards), Progress(on_progress=told[-1].append))
        assert shards.byte_count == sum(told[1]) == sum(told[0]) == sum(len(text) for _, text in files)

    def test_plan_size(self, tmp_path):
        """How many bytes a run will read; None where one does not tell."""
        files = write_tree(tmp_path, [lines(40), b"", b"x"])
        total = sum(len(text) for _, text in files)
        assert plan_size([str(tmp_path)], Options()) == total
        assert (
            plan_size([str(tmp_path), str(tmp_path / "missing"), files[0][0]], Options()) == total
        )  # each is read once
        assert plan_size(["-"], Options()) is None


class TestOptions:
    """Contract, command line: names and defaults."""

    def test_defaults(self):
        options = Options()
        assert (options.syntax, options.equivalence, options.trim) == ("rfc2141", "lexical", False)
        assert options.max_length == 65_536
        assert options.memory == 10**9
        assert 1 <= options.jobs <= os.cpu_count()

    @pytest.mark.parametrize("name", ["max_length", "jobs", "memory"])
    @pytest.mark.parametrize("value", [0, -1])
    def test_numbers(self, name, value):
        with pytest.raises(ValueError, match=name):
            Options(**{name: value})

    def test_names(self):
        with pytest.raises(ValueError, match="syntax: unknown value"):
            Options(syntax="rfc1")
        with pytest.raises(ValueError, match="equivalence: unknown value"):
            Options(equivalence="none")
        with pytest.raises(ValueError, match="resolution"):
            Options(equivalence="resolution")
        with pytest.raises(FatalError, match="rot13"):
            Options(encoding="rot13")
        with pytest.raises(TypeError):
            Options(colour=True)

    def test_immutable(self):
        with pytest.raises(AttributeError):
            Options().trim = True

    def test_include_and_exclude(self, tmp_path):
        for name in ("a.txt", "b.txt", "c.bin"):
            (tmp_path / name).write_bytes(b"urn:a:%b" % name.encode())
        result = Result([tmp_path, tmp_path / "c.bin"], include=["*.txt"], exclude=["b*"])
        assert result.texts == ["urn:a:a.txt", "urn:a:c.bin"], "what is named is always read"


class TestMetadata:
    """Contract: "a JSON object: version, syntax, equivalence, trim, counts"; nothing in it varies between two runs."""

    def test_what_it_says(self, tmp_path):
        write_tree(tmp_path, [b"urn:a:b URN:a:b urn:c:d", b"urn:a:b"])
        result = Result([tmp_path, tmp_path / "missing"], trim=True, max_length=99)
        assert result.report.metadata(result.options) == {
            "version": __version__,
            "schema": 3,
            "syntax": "rfc2141",
            "equivalence": "lexical",
            "trim": True,
            "recover": [],
            "nid": [],
            "not_nid": [],
            "rules": None,
            "where": None,
            "filters": [],
            "resolver_tail": "keep",
            "max_length": 99,
            "counts": {
                "inputs": 2,
                "failures": 1,
                "notes": 0,
                "byte_count": 30,
                "occurrences": 4,
                "trimmable": 0,
                "components_in_names": 0,
                "longer_in_rfc8141": 0,
                "cut_short": 0,
                "left_out": None,
                "classes": 2,
                "rejects": None,
            },
        }

    def test_nothing_varies(self, tmp_path):
        write_tree(tmp_path, [lines(50), lines(9)])
        results = [
            Result([tmp_path], jobs=1),
            Result([tmp_path], jobs=3, memory=1, strict=True),
        ]
        one, other = (result.report.metadata(result.options) for result in results)
        assert one == other
        assert results[0].report.seconds != results[1].report.seconds
        assert str(tmp_path) not in str(one)

    def test_report_of_nothing(self):
        assert Report().metadata(Options())["counts"]["classes"] is None
