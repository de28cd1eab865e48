"""On Spark the same tables as on one machine: on a local cluster of two executors, each a process of its own."""

from __future__ import annotations

import contextlib
import doctest
import functools
import gzip
import json
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import urnscan
from tests.cli.test_corpora import CORPORA
from tests.inputs.test_cdx import cdxj
from tests.project.test_sessions import SECONDS, commands
from tests.property.test_forms import Archive
from tests.support.processes import wait_for_readers
from tests.support.verdicts import differing
from urnscan.cli import main
from urnscan.errors import ArgumentError, FatalError
from urnscan.formats.archives import by_libarchive
from urnscan.run.options import Options
from urnscan.run.partial_result import unpacked
from urnscan.run.tasks import Sizes
from urnscan.spark.job import LEAN
from urnscan.tables.editions import RENAMED
from urnscan.tables.schemas import CLASSES, OCCURRENCES, REJECTS

ROOT = Path(__file__).parents[2]
FREQUENT = "urn:isbn:0451450523"
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j leaves its sockets to the garbage
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A cluster on this machine: two workers, each with one core and 1024 MiB; viewfs://out/ is a folder of it."""
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install 'urnscan[spark]'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    folder = tmp_path_factory.getbasetemp() / "viewfs"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        for key, value in {
            "spark.log.level": "OFF",
            "spark.driver.extraJavaOptions": LEAN,
            "spark.executor.extraJavaOptions": LEAN,
            "spark.hadoop.fs.viewfs.mounttable.out.linkFallback": f"file://{folder}",
            "spark.sql.shuffle.partitions": 3,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }.items():
            builder.config(key, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """One class is most of all occurrences, in many spellings; gzip members are damaged; a file is huge."""
    folder = tmp_path_factory.mktemp("corpus")
    rng = random.Random(8)

    def text(count):
        urns = (FREQUENT if rng.random() < 0.8 else f"urn:example:{rng.randrange(300):x}" for _ in range(count))
        spelled = (
            urn.upper()
            if urn[4] == "e" and rng.random() < 0.1
            else urn.replace("urn", rng.choice(["urn", "URN", "Urn"]))
            for urn in urns
        )
        return "".join(urn + rng.choice(["\n", " ", ".\n\n", "#p2\n"]) for urn in spelled).encode()

    for number in range(20):
        (folder / f"{number:02}.txt").write_bytes(text(rng.randrange(200)))
    (folder / "huge.txt").write_bytes(text(20_000))
    for number in range(4):
        data = bytearray(gzip.compress(text(900)) + gzip.compress(text(900)) + gzip.compress(text(9)))
        for _ in range(number):
            data[rng.randrange(20, len(data))] ^= 0x55
        (folder / f"members{number}.gz").write_bytes(data)
    return folder


def ordered(rows):
    return sorted(
        rows, key=lambda row: [(value is not None, value) for value in row.values() if not isinstance(value, list)]
    )


def in_order(occurrences):
    """The rows of a frame of occurrences as on one machine."""
    return occurrences.orderBy("place").drop("place").toArrow().to_pylist()


def told(report):
    names = "inputs byte_count occurrences left_out trimmable components_in_names".split()
    return (*(getattr(report, name) for name in names), [str(each) for each in report.failures])


@pytest.mark.parametrize(
    "options",
    [{}, {"syntax": "rfc2141bis-03", "equivalence": "resolution", "trim": True, "recover": "all", "not_nid": "nbn:de"}],
    ids=["", "other"],
)
def test_samples(spark, options):
    """Every form that is read; `classes` of occurrences, of some of them, and of those that went through a shuffle."""
    from urnscan import spark as here

    one = urnscan.scan(ROOT / "data" / "samples", rejects=True, **options)
    with here.scan(spark, ROOT / "data" / "samples", rejects=True, **options) as scan:
        assert in_order(scan.occurrences) == one.occurrences.to_pylist()
        assert scan.occurrences.columns == [*OCCURRENCES.names, "place"]
        assert scan.classes.toArrow().to_pylist() == one.classes.to_pylist()
        assert scan.classes.columns == CLASSES.names
        assert ordered(scan.rejects.toArrow().to_pylist()) == ordered(one.rejects.to_pylist())
        assert scan.rejects.columns == REJECTS.names
        assert told(scan.report()) == told(one.report)
        some = scan.occurrences.where("nid = 'isbn'").repartition(5)
        assert here.classes(some).toArrow().to_pylist() == [
            row for row in one.classes.to_pylist() if row["nid"] == "isbn"
        ]


def test_components_and_problems(spark, tmp_path):
    """Those of each spelling, and of a class those of all its spellings, wherever executors meet them."""
    from urnscan import spark as here

    ends = ["", "#%D0%B0123", "?+%00", "?=%41", "?+r?=q#", "#caf%E9"]
    for number in range(12):
        names = [f"urn:isbn:0-395-36341-{number % 2 * 5 + 1}{ends[number % 6]}", f"urn:example:a{ends[number // 2]}"]
        (tmp_path / f"{number:02}.txt").write_text(" ".join(names))
    one = urnscan.scan(tmp_path, syntax="rfc8141")
    assert "nul-octet; confusable; not-utf-8; needless-encoding" in one.classes.column("problem").to_pylist()
    with here.scan(spark, tmp_path, syntax="rfc8141") as scan:
        assert in_order(scan.occurrences) == one.occurrences.to_pylist()
        assert scan.classes.toArrow().to_pylist() == one.classes.to_pylist()
        assert not differing(in_order(scan.occurrences), scan.classes.toArrow().to_pylist())
        assert here.classes(scan.occurrences.repartition(5)).toArrow().to_pylist() == one.classes.to_pylist()


def test_own_rules(spark, tmp_path):
    """The executors get the rules and not the path of their file, which is gone when they run; `classes` asks for them."""
    from urnscan import spark as here

    (tmp_path / "a.txt").write_text("urn:x-a:LAMP urn:x-a:lamp urn:x-a:1")
    path = tmp_path / "own.toml"
    path.write_text('[x-a]\ntitle = "t"\nrule = "r"\nequality = "e"\nsyntax = "s"\ngrammar = "(?<lower>[A-Za-z]+)"\n')
    rules = urnscan.namespaces.read_rules(path)
    with here.scan(spark, tmp_path / "a.txt", rules=path, equivalence="namespace") as scan:
        path.unlink()
        expected = [("urn:x-a:1", 1, False), ("urn:x-a:lamp", 2, True)]
        assert [tuple(row) for row in scan.classes.select("urn", "occurrence_count", "valid").collect()] == expected
        assert not differing(in_order(scan.occurrences), scan.classes.toArrow().to_pylist())
        again = here.classes(scan.occurrences, rules=rules)
        assert [tuple(row) for row in again.select("urn", "occurrence_count", "valid").collect()] == expected
        with pytest.raises(ValueError, match="found with other rules; give the same file as rules="):
            here.classes(scan.occurrences)


def test_real_texts(spark):
    """The archives of texts beside the project, where there are some."""
    from urnscan import spark as here

    archives = sorted(map(str, CORPORA.glob("*.tar.xz")))
    if not archives:
        pytest.skip(f"no archives of texts (*.tar.xz) in {CORPORA}")
    one = urnscan.scan(*archives)
    with here.scan(spark, archives) as scan:
        assert in_order(scan.occurrences) == one.occurrences.to_pylist()
        assert scan.classes.toArrow().to_pylist() == one.classes.to_pylist()
        assert told(scan.report()) == told(one.report)


def test_skew_damage_and_parts(spark, corpus, monkeypatch):
    """A huge file is cut where no URN is and its lines are counted through; failures are rows, each once."""
    from urnscan.spark import partitions
    from urnscan.spark.driver import scan_inputs
    from urnscan.spark.executors import ScanRequest

    monkeypatch.setattr(partitions, "_WORTH", 1)
    one = urnscan.scan(corpus, corpus / "missing", corpus / "00.txt")
    inputs = [str(corpus), str(corpus / "missing"), str(corpus / "00.txt")]
    sizes = Sizes(part=1 << 15, together=1 << 13)
    with scan_inputs(spark, inputs, ScanRequest(Options(), sizes=sizes)) as scan:
        assert scan.has_parts
        assert scan.results.rdd.getNumPartitions() > 4
        assert in_order(scan.occurrences) == one.occurrences.to_pylist()
        assert scan.classes.toArrow().to_pylist() == one.classes.to_pylist()
        assert told(scan.report()) == told(one.report)
        errors = [(row["source"], row["reason"]) for row in scan.errors.collect()]
        assert errors == [(each.source, each.reason) for each in one.report.failures]
        assert len(errors) > 3


@pytest.mark.parametrize("heads", ["none", "that fit", "that do not"])
def test_ranges_of_keys(spark, corpus, tmp_path, monkeypatch, heads):
    """Classes are in order, and each is whole, where many executors have a range of the keys each.

    Ranges that the heads of tasks gave are those of the scan; if they do not fit, rows are split again.
    """
    from urnscan.spark import driver, executors, keys, partitions

    monkeypatch.setattr(keys, "_RANGE", 1 << 10)
    monkeypatch.setattr(keys, "_HEAD_SAMPLE_STEP", 1)
    monkeypatch.setattr(partitions, "_PARTITION", 1 << 15)
    if heads != "none":
        monkeypatch.setattr(keys, "_SHARE", 1 << 14)
    if heads == "that do not":  # each file begins with names that sort before all others
        (tmp_path / "all").mkdir()
        for number in range(5):
            names = [f"urn:a:{some}" for some in range(20_000)] + [f"urn:b:{number}-{some}" for some in range(20_000)]
            (tmp_path / "all" / f"{number}.txt").write_text("\n".join(names))
        corpus = tmp_path / "all"
        monkeypatch.setattr(keys, "_RANGE", 1 << 19)
        monkeypatch.setattr(keys, "_SHARE", 1 << 17)
    one = urnscan.scan(corpus).classes.to_pylist()
    with driver.scan_inputs(spark, [str(corpus)], executors.ScanRequest(Options(), sample_step=1)) as scan:
        before = scan._ranges
        assert (len(before) > 1) == (heads != "none")
        used = {row["range"] for row in scan.results.where("kind = 'partial'").select("range").collect()}
        assert used <= {*range(len(before))}
        classes = scan.classes
        assert classes.rdd.getNumPartitions() > 4
        assert (classes.rdd.getNumPartitions() == len(before)) == (heads == "that fit")
        assert classes.toArrow().to_pylist() == one


def test_parts_that_fail_are_told_once(spark, tmp_path):
    """A file that is gone when its parts are read is one failure, not one for each part."""
    from urnscan.spark.driver import scan_inputs
    from urnscan.spark.executors import ScanRequest

    path = tmp_path / "huge.txt"
    path.write_bytes(b"urn:a:b " * 30_000)
    with scan_inputs(spark, [str(path)], ScanRequest(Options(), sizes=Sizes(part=1 << 15))) as scan:
        path.unlink()
        assert [row["source"] for row in scan.errors.collect()] == [str(path)]
        assert scan.report().inputs == 0


@pytest.mark.skipif(not by_libarchive.missing(), reason="libarchive reads what gives a note without it")
def test_notes_are_no_errors(spark, tmp_path):
    """What was scanned in full is no row of `errors`, and the report counts it apart, as on one machine."""
    from urnscan import spark as here

    # libarchive, where it is installed, reads ar and RAR.
    (tmp_path / "x.a").write_bytes(b"!<arch>\nurn:foo:a\n")
    (tmp_path / "x.rar").write_bytes(b"Rar!\x1a\x07\x00")
    one = urnscan.scan(tmp_path).report
    with here.scan(spark, tmp_path) as scan:
        assert [row["source"] for row in scan.errors.collect()] == [f"{tmp_path}/x.rar"]
        assert [row["source"] for row in scan.notes.collect()] == [f"{tmp_path}/x.a"]
        assert told(scan.report()) == told(one)
        assert [str(each) for each in scan.report().notes] == [str(each) for each in one.notes]


def test_strict(spark, tmp_path):
    """With `strict`, a failure raises FatalError at the call, as in `urnscan.scan`; without one, nothing differs."""
    from urnscan import spark as here

    good, missing = tmp_path / "good.txt", tmp_path / "missing.txt"
    good.write_text("urn:a:b")
    for function in (here.scan, here.occurrences):
        with pytest.raises(FatalError, match=rf"^an input failed \(strict=True\): {missing}: no such file or folder$"):
            function(spark, [good, missing], strict=True)
    assert here.occurrences(spark, good, strict=True).count() == 1
    with here.scan(spark, good, strict=True) as scan:
        assert scan.classes.count() == 1


def test_partial_sums_go_through_the_shuffle(spark, corpus):
    """The frequent class is one row a spelling and partition there, however often it occurs."""
    from urnscan.spark.driver import scan_inputs
    from urnscan.spark.executors import ScanRequest

    with scan_inputs(spark, [str(corpus)], ScanRequest(Options())) as scan:
        blobs = [row["rows"] for row in scan.results.where("kind = 'partial'").collect()]
        assert len(blobs) <= scan.results.rdd.getNumPartitions()
        rows = [
            row["text"]
            for blob in blobs
            for rows in unpacked(blob)
            for row in rows.to_pylist()
            if row["urn"] == FREQUENT
        ]
        assert 3 <= len(set(rows)) < 20  # damaged members have some spellings of their own
        assert len(rows) <= len(set(rows)) * len(blobs)


def test_occurrences_of_the_first_edition(spark, corpus):
    """Those that an earlier version wrote, with other names, can be grouped."""
    from urnscan import spark as here

    found = here.occurrences(spark, corpus)
    before = {new: old for old, new in RENAMED.items()}
    assert here.classes(found.withColumnsRenamed(before)).collect() == here.classes(found).collect()


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_lost_executor(spark, corpus, tmp_path):
    """An executor that is killed in the middle of a task costs that task alone: it is done again, by another."""
    from urnscan import spark as here

    pipe = tmp_path / "pipe"
    content = (corpus / "00.txt").read_bytes() + b"urn:a:pipe "
    pipe.write_bytes(content)
    one = urnscan.scan(corpus, pipe)
    pipe.unlink()
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # so that who opens it to read need not wait
    got = []
    with here.scan(spark, [corpus, pipe]) as scan:
        job = threading.Thread(target=lambda: got.append(in_order(scan.occurrences)))
        job.start()
        (worker,) = wait_for_readers(pipe)
        executor = parent(parent(worker))
        assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
        os.kill(executor, signal.SIGKILL)
        os.kill(worker, signal.SIGKILL)
        time.sleep(1)
        wait_for_readers(pipe)
        os.write(writer, content)
        os.close(writer)
        job.join(100)
        assert got == [one.occurrences.to_pylist()]
        assert scan.classes.toArrow().to_pylist() == one.classes.to_pylist()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_executor_lost_after_the_scan(spark, corpus):
    """What lay on the disk of an executor is gone with it: those tasks are done again before rows are grouped and written."""
    from urnscan import spark as here

    one = urnscan.scan(corpus)
    with here.scan(spark, corpus) as scan:
        assert told(scan.report()) == told(one.report)
        for executor in executors():
            os.kill(executor, signal.SIGKILL)
        assert scan.classes.toArrow().to_pylist() == one.classes.to_pylist()
        assert in_order(scan.occurrences) == one.occurrences.to_pylist()


def executors():
    """The processes of the executors of this test."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes() and os.getpid() in ancestors(
                int(process.name)
            ):
                yield int(process.name)


def ancestors(process):
    while process > 1:
        process = parent(process)
        yield process


def test_column(spark):
    """`scan_column` gives what `scan_batches` gives, with the columns kept, and `classes` takes it."""
    from urnscan import spark as here

    texts = [None, "x urn:a:b\nURN:A:c", "", "urn:a:B urn:a:b", "nothing"]
    table = pa.table({"text": pa.array(texts), "id": range(len(texts))})
    frame = spark.createDataFrame(list(zip(texts, range(len(texts)), strict=True)), "text string, id bigint").coalesce(
        1
    )
    found = here.scan_column(frame, "text", keep=["id"])
    one = pa.Table.from_batches(urnscan.scan_batches(table, "text", keep=["id"]))
    rows = found.orderBy("place").drop("place", "source").toArrow().to_pylist()
    assert [row["id"] for row in rows] == [1, 1, 3, 3]
    for row in rows:
        number, row["column_name"] = row.pop("member").split("/")
        row["row"] = int(number)
        assert [row.pop(name) for name in ("captured", "status", "mime")] == [None] * 3
    assert rows == one.to_pylist()
    counts = {row["urn"]: row["occurrence_count"] for row in here.classes(found).collect()}
    assert counts == {"urn:a:b": 2, "urn:a:c": 1, "urn:a:B": 1}


def test_column_that_is_none(spark):
    from urnscan import spark as here

    frame = spark.range(3).withColumnRenamed("id", "line")
    for column, keep, reason in [
        ("text", (), "no column 'text'"),
        ("line", (), "is long"),
        ("line", ["line"], "rename"),
    ]:
        with pytest.raises(ValueError, match=reason):
            here.scan_column(frame, column, keep=keep)
    with pytest.raises(ValueError, match=r"was not made by urnscan\.spark"):
        here.classes(frame)


def test_options_that_are_none(spark):
    """As in the library."""
    from urnscan import spark as here

    for function in (here.scan, here.occurrences):
        with pytest.raises(ArgumentError, match="syntax: unknown value 'rfc1'"):
            function(spark, ["a"], syntax="rfc1")
        with pytest.raises(ArgumentError, match="nothing to read"):
            function(spark, [])
    with pytest.raises(TypeError, match="has no option memory"):
        here.scan_column(spark.createDataFrame([("a",)], "text string"), "text", memory="1GB")


@pytest.mark.usefixtures("spark")
class TestCommand:
    """`urnscan --engine spark`: the same options, exit status and summary."""

    def test_records_that_an_index_names(self, tmp_path, capsys):
        """`--cdx`: the driver reads the index, the executors the records; the rows and lines are those of one machine."""
        records = [gzip.compress(Archive.warc([(f"r{number}", b"urn:example:%d\n" % number)])) for number in range(40)]
        starts = [sum(map(len, records[:number])) for number in range(40)]
        for name in ("a.warc.gz", "b.warc.gz"):
            (tmp_path / name).write_bytes(b"".join(records))
        rows = [(name, starts[at], len(records[at])) for name in ("b.warc.gz", "a.warc.gz") for at in range(39, 0, -3)]
        (tmp_path / "l").write_text(cdxj([*rows, ("gone.warc.gz", 1, 2), ("a.warc.gz", "-1", 2)]))
        inputs = ["--cdx", str(tmp_path / "l"), str(tmp_path)]
        assert main([*inputs, "--occurrences", str(tmp_path / "one.parquet")]) == 1
        on_one = capsys.readouterr().err.splitlines()
        assert main(["--engine", "spark", *inputs, "--occurrences", str(tmp_path / "occurrences")]) == 1
        here = capsys.readouterr().err.splitlines()
        found = pq.read_table(tmp_path / "one.parquet")
        assert pq.read_table(tmp_path / "occurrences").to_pylist() == found.to_pylist()
        assert len(found) == len(rows)
        assert sorted(here[:2]) == sorted(on_one[:2])

    def test_tables(self, corpus, tmp_path, capsys):
        """The same rows in the same order, in the files by their names; the same lines on standard error."""
        inputs = [str(corpus), str(tmp_path / "missing")]
        outputs = ["-o", str(tmp_path / "classes"), "--occurrences", str(tmp_path / "occurrences")]
        assert (
            main([*inputs, "-o", str(tmp_path / "one.c.parquet"), "--occurrences", str(tmp_path / "one.o.parquet")])
            == 1
        )
        on_one = capsys.readouterr().err.splitlines()
        errors = ["--errors", str(tmp_path / "errors")]
        assert main(["--engine", "spark", *inputs, *outputs, *errors]) == 1
        here = capsys.readouterr().err.splitlines()
        # What only this machine counts: Report.joinable.
        on_one = [line for line in on_one if "--equivalence namespace" not in line]
        *failures, summary, trimmable, components = (
            line.rpartition(", ") if " s, " in line else line for line in on_one
        )
        assert here[: len(failures)] == failures
        assert here[-2:] == [trimmable, components]
        assert "only then)" in trimmable
        assert "--syntax rfc8141" in components
        assert here[-3].split(", ")[:4] == "".join(summary).split(", ")[:4]
        for name, single in (("classes", "one.c.parquet"), ("occurrences", "one.o.parquet")):
            table = pq.read_table(tmp_path / single)
            rows = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / name).glob("part-*")))
            assert rows.column_names == table.column_names
            assert rows.to_pylist() == table.to_pylist()
            kept = json.loads(pq.read_metadata(tmp_path / single).metadata[b"urnscan"])
            assert json.loads((tmp_path / name / "_urnscan.json").read_text()) == kept
        assert pq.read_table(tmp_path / "errors").num_rows == len(failures)

        assert main(["--engine", "spark", *inputs, *outputs]) == 2
        assert capsys.readouterr().err == f"urnscan: {outputs[1]}: exists already; --force replaces it\n"
        assert main(["--engine", "spark", str(corpus / "00.txt"), *outputs, "--force", "--quiet"]) == 0
        assert pq.read_table(tmp_path / "occurrences").num_rows < 500
        assert (
            main(
                [
                    "--engine",
                    "spark",
                    str(tmp_path),
                    *outputs,
                    "--force",
                    "--quiet",
                    "--include",
                    "part-*",
                    "--exclude",
                    "errors",
                ]
            )
            == 0
        )
        assert pq.read_table(tmp_path / "occurrences").num_rows == 0  # what it wrote before is no input
        names = {"classes", "errors", "occurrences", "one.c.parquet", "one.o.parquet"}
        assert {path.name for path in tmp_path.iterdir()} == names

    def test_only_whole_attempts_are_taken(self, corpus, tmp_path, monkeypatch, capsys):
        """Files that a lost attempt left are no rows of the table; a file that an executor wrote elsewhere is missed."""
        from urnscan.spark.driver import Scan

        write = Scan.write

        def with_leavings(scan, table, folder):
            Path(folder, "000000000000-lost.parquet").write_bytes(b"PAR1")
            return write(scan, table, folder)

        def elsewhere(scan, table, folder):
            files = write(scan, table, folder)
            Path(folder, files[0].file).unlink()
            return files

        command = ["--engine", "spark", str(corpus / "00.txt"), "-o", str(tmp_path / "classes"), "--quiet"]
        monkeypatch.setattr(Scan, "write", with_leavings)
        assert main(command) == 0
        one = urnscan.scan(corpus / "00.txt").classes
        assert pq.read_table(tmp_path / "classes").to_pylist() == one.to_pylist()
        assert sorted(path.name for path in (tmp_path / "classes").glob("[!.]*")) == [
            "_urnscan.json",
            "part-00000.parquet",
        ]
        monkeypatch.setattr(Scan, "write", elsewhere)
        assert main([*command, "--force"]) == 2
        assert "name a folder that all machines share, or a URL" in capsys.readouterr().err
        assert pq.read_table(tmp_path / "classes").num_rows == one.num_rows  # what was there stays
        assert [path.name for path in tmp_path.iterdir()] == ["classes"]

    def test_urls_are_written_by_spark(self, corpus, tmp_path_factory):
        """With the same rows, in the same order; of many partitions with few occurrences comes one file."""
        outputs = ["-o", "viewfs://out/classes", "--occurrences", "viewfs://out/occurrences"]
        assert main(["--engine", "spark", str(corpus), *outputs, "--quiet"]) == 1
        one, folder = urnscan.scan(corpus), tmp_path_factory.getbasetemp() / "viewfs"
        for name, table in (("classes", one.classes), ("occurrences", one.occurrences)):
            parts = sorted((folder / name).glob("part-*"))
            rows = pa.concat_tables(map(pq.read_table, parts)).select(
                [field for field in table.schema.names if field != "captured"]
            )
            assert rows.to_pylist() == table.select(rows.column_names).to_pylist()
        assert len(parts) == 1

    def test_file_urls_are_paths(self, tmp_path):
        """Executors write them like paths, and are missed in the same way: each machine has its own file://."""
        inputs = [str(ROOT / "data" / "samples" / "prose.txt")]
        assert main(["--engine", "spark", *inputs, "-o", f"file://{tmp_path}/classes", "--quiet"]) == 0
        schema = pq.read_schema(tmp_path / "classes" / "part-00000.parquet")
        assert pa.types.is_dictionary(schema.field("nid").type)
        assert [path.name for path in tmp_path.iterdir()] == ["classes"]

    def test_small_partitions_come_into_one_file(self, corpus, tmp_path, monkeypatch):
        """A crawl of 90,000 files with few URNs must not become 90,000 files of occurrences."""
        from urnscan.spark import job, partitions

        monkeypatch.setattr(partitions, "_PARTITION", 1 << 12)
        monkeypatch.setattr(
            job, "ScanRequest", functools.partial(job.ScanRequest, sizes=Sizes(part=1 << 15, together=1 << 10))
        )
        monkeypatch.chdir(tmp_path)  # a relative path counts from the folder of the driver
        command = ["--engine", "spark", str(corpus), "--quiet", "--occurrences"]
        one = urnscan.scan(corpus).occurrences.to_pylist()
        for name, data, files in (
            ("few", 32 << 20, [1]),
            ("some", 1 << 16, range(2, 20)),
            ("many", 1, range(20, 60)),
        ):
            monkeypatch.setattr(partitions, "_FILE", data)
            assert main([*command, name]) == 1
            parts = sorted((tmp_path / name).glob("part-*"))
            assert len(parts) in files
            assert pa.concat_tables(map(pq.read_table, parts)).to_pylist() == one

    def test_dead_workers(self, tmp_path, capsys):
        """A Python worker that dies at each attempt ends the run with its cause in one line, and leaves nothing."""
        (tmp_path / "a.kill").write_text("urn:a:b")
        (tmp_path / "out").mkdir()
        kill = "kill:sh -c 'kill -9 $PPID'"  # a filter is a child of the worker
        command = ["--engine", "spark", str(tmp_path / "a.kill"), "--filter", kill, "-o", str(tmp_path / "out" / "x")]
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("urnscan: Spark: Python worker exited unexpectedly (crashed), in executor ")
        assert ", after 4 attempts; memory is probably short: raise " in line
        assert not list((tmp_path / "out").iterdir())

    def test_missing_rows(self, corpus, tmp_path, monkeypatch, capsys):
        """Rows of a file that did not arrive are missed, also where the file is there."""
        from urnscan.spark.driver import Scan

        write = Scan.write
        monkeypatch.setattr(Scan, "write", lambda *arguments: write(*arguments)[1:])
        for table in ("-o", "--occurrences"):
            assert main(["--engine", "spark", str(corpus / "huge.txt"), table, str(tmp_path / "x"), "--quiet"]) == 2
            assert " occurrences were written of 20,000 that were found: " in capsys.readouterr().err
            assert not list(tmp_path.iterdir())

    def test_a_folder_of_others_is_not_replaced(self, corpus, capsys):
        """`--force` with the folder above the inputs would delete them."""
        files = sorted(corpus.iterdir())
        assert main(["--engine", "spark", str(files[0]), "-o", str(corpus), "--force"]) == 2
        assert "is not the result of an earlier run on Spark, so it is not replaced" in capsys.readouterr().err
        assert sorted(corpus.iterdir()) == files

    def test_nothing_could_be_read(self, tmp_path, capsys):
        command = ["--engine", "spark", str(tmp_path / "missing"), "-o", str(tmp_path / "classes")]
        for more, last in (
            ([], "no input could be read"),
            (["--strict"], "an input failed (--strict): nothing is written"),
        ):
            assert main([*command, *more]) == 2
            assert capsys.readouterr().err.splitlines() == [
                f"urnscan: {tmp_path / 'missing'}: no such file or folder",
                f"urnscan: {last}",
            ]
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--engine", "spark", "x"], "prints no occurrences"),
        (["--engine", "spark", "x", "--json"], "--json is for printing"),
        (["--engine", "spark", "x", "-o", "y", "--resume"], "--resume is for one machine"),
        (["--engine", "spark", "x", "-o", "y", "-j", "3"], "-j is for one machine"),
        (["--engine", "spark", "x", "-o", "y", "--memory", "1GB"], "--memory is for one machine"),
        (["--engine", "spark", "x", "-o", "y", "--timings"], "--timings is for one machine"),
        (["--engine", "spark", "x", "-o", "y.csv"], "writes only folders of Parquet; leave out .csv"),
        (["x", "--master", "local[2]"], "--master is for Spark"),
        (["x", "--errors", "y"], "--errors is for Spark"),
    ],
)
def test_refused(words, reason, capsys):
    """What makes no sense is refused in one line, before anything starts."""
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line


def test_a_folder_that_an_executor_does_not_see(tmp_path):
    """It is told at once, by the name of the machine, and not as a missing folder of some file."""
    from urnscan.spark import executors, frames

    blobs = [frames.batch([(0, 0, b"")], pa.schema([("task", pa.int64()), ("row", pa.int64()), ("rows", pa.binary())]))]
    with pytest.raises(
        FatalError, match=rf"x: is not there on {re.escape(platform.node())}, .*; name a folder that all"
    ):
        list(executors.write_file(blobs, iter, "occurrences", {}, str(tmp_path / "x")))


def test_without_pyspark(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    assert main(["--engine", "spark", str(tmp_path), "-o", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.startswith(
        "urnscan: --engine spark needs pyspark and Java 17; pip install 'urnscan[spark]'"
    )


def test_page(spark, monkeypatch):
    """What docs/howto/spark.md shows prints what it shows."""
    page = (ROOT / "docs" / "howto" / "spark.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(>>> .*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {"spark": spark}, "spark", "docs/howto/spark.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.tries >= 6
    assert runner.failures == 0


def test_command_of_page(tmp_path, monkeypatch):
    """What docs/howto/spark.md shows of the command is what it prints, after the warnings of Java and the progress."""
    pytest.importorskip("pyspark", reason="needs pyspark: pip install 'urnscan[spark]'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    page = (ROOT / "docs" / "howto" / "spark.md").read_text(encoding="utf-8")
    (session,) = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    for command, output in commands(session):
        done = subprocess.run(
            command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert done.returncode == 0
        assert SECONDS.sub("N s", done.stdout).endswith(SECONDS.sub("N s", output)), command


def test_docstrings(spark, monkeypatch):
    """The examples of the public functions, which the doctests leave out for want of a cluster, print what they show."""
    from urnscan.spark import driver as scanning

    monkeypatch.chdir(ROOT)
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(scanning, "scanning", globs={"spark": spark, "urnscan": urnscan}):
        for each in test.examples:
            assert each.options.pop(doctest.SKIP)
        runner.run(test)
    assert runner.tries >= 6
    assert runner.failures == 0


def test_spark_submit(tmp_path):
    """The script of docs/howto/spark.md is one that spark-submit takes."""
    pyspark = pytest.importorskip("pyspark", reason="needs pyspark: pip install 'urnscan[spark]'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    page = (ROOT / "docs" / "howto" / "spark.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"^```python\n(import sys\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "job.py").write_text(job)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    few = [
        "--conf",
        "spark.sql.shuffle.partitions=1",
        "--conf",
        "spark.ui.enabled=false",
        "--driver-java-options",
        LEAN,
    ]
    inputs = [ROOT / "data" / "samples" / "prose.txt", "-o", tmp_path / "classes", "--no-progress"]
    done = subprocess.run(
        [submit, "--master", "local[1]", *few, tmp_path / "job.py", *inputs],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "urnscan: 1 input, " in done.stdout  # spark-submit lets standard error run into it
    one = urnscan.scan(ROOT / "data" / "samples" / "prose.txt")
    assert pq.read_table(tmp_path / "classes")["urn"].to_pylist() == one.classes["urn"].to_pylist()
