"""What a run of deduplication tells of its progress, and which files it reads."""

from __future__ import annotations

import gzip
import os
import threading
from types import SimpleNamespace

import pytest

import urnscan
from tests.support.dumps import make_dump
from urnscan.dedup.job import run
from urnscan.dedup.policy import Policy
from urnscan.dedup.read.batch_reader import BatchReader
from urnscan.dedup.write.outputs import Dumps, Outputs
from urnscan.display.progress import ROWS, Progress, Stage
from urnscan.run.options import Options


@pytest.mark.parametrize("format_", ["jsonl", "ntriples"])
def test_each_stage_comes_to_its_end(tmp_path, format_):
    """Its bar has a unit and a total of its own; in N-Triples, statements of one subject are joined, too."""
    dump = make_dump(format_, 1, 60)
    path = tmp_path / f"{dump.name}.gz"
    path.write_bytes(gzip.compress(dump.data))
    told = [[Stage("reading", path.stat().st_size), 0]]

    def on_progress(more):
        told[-1][1] += more

    progress = Progress(on_progress=on_progress, on_stage=lambda stage: told.append([stage, 0]))
    with Dumps(str(tmp_path / "kept")) as dumps:
        wanted = Outputs(clusters=lambda _: None, candidates=lambda _: None, dumps=dumps, page=lambda _: None)
        report = run([str(path)], Options(), Policy(keep=("newest",)), wanted, progress)
    assert [stage.name for stage, _ in told] == [
        "reading",
        "joining",
        "comparing articles",
        "reading descriptions",
        "comparing",
        "choosing",
        "writing",
        "looking for candidates",
        "comparing candidates",
        "reading examples",
        "copying",
    ]
    assert [stage.unit for stage, _ in told] == ["B", ROWS, "B", ROWS, ROWS, ROWS, ROWS, "B", ROWS, "B", "B"]
    stages = {stage.name: (stage.total, done) for stage, done in told}
    for name in ("comparing articles", "reading examples", "looking for candidates"):
        assert stages.pop(name)[0] is None
    assert stages["choosing"][0] == report.records
    assert all(total == done for total, done in stages.values())
    assert stages["writing"][0] == report.records
    assert stages["copying"][0] == len(dump.data)


def test_what_came_out_of_a_pipe_is_copied_from_the_spool(tmp_path):
    """And counted like the others."""
    dump = make_dump("jsonl", 1, 60)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[dump.data])
    writer.start()
    stages, told = [], []
    progress = Progress(on_progress=lambda more: told.append((len(stages), more)), on_stage=stages.append)
    with Dumps(str(tmp_path / "kept")) as dumps:
        run([str(pipe)], Options(), Policy(), Outputs(dumps=dumps), progress)
    writer.join()
    assert stages[-1] == Stage("copying", len(dump.data))
    assert sum(more for stage, more in told if stage == len(stages)) == len(dump.data)


def test_bytes_count_when_their_records_are_read(tmp_path, monkeypatch):
    """Bytes are found faster than records are read: a bar that counted what is found stood at its end all the while."""
    dump = make_dump("jsonl", 1, 60)
    names = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for name in names:
        name.write_bytes(dump.data)
    told, read, before_stages = [], [], []
    real = BatchReader.read

    def reading(reader, batch):
        read.append(sum(told))
        return real(reader, batch)

    monkeypatch.setattr(BatchReader, "read", reading)
    progress = Progress(on_progress=told.append, on_stage=lambda _: before_stages.append(sum(told)))
    run(list(map(str, names)), Options(), Policy(), Outputs(clusters=lambda _: None), progress)
    assert len(read) == len(names)
    assert all(before < at * len(dump.data) for at, before in enumerate(read, 1))
    assert before_stages[0] == len(names) * len(dump.data)


def test_records_that_only_a_wrong_number_names(tmp_path):
    """They are counted apart from records that say nothing at all, and named: a librarian can correct them."""
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": "one", "isbn": "978-0-395-36341-5"}\n'
        '{"id": "right", "isbn": "978-0-395-36341-6"}\n'
        '{"id": "nothing"}\n'
        '{"id": "both", "isbn": ["978-0-395-36341-5", "978-0-395-36341-6"]}\n'
        '{"issn": "1234-5678", "isbn": "0395363411 (falsch)"}\n'
        '{"id": "key", "isbn": "978-0-395-36341-5", "oclc": "ocm00012345"}\n' + '{"isbn": "9780395363415"}\n' * 200
    )
    report = run([str(path)], Options(), Policy(), Outputs(clusters=lambda _: None), Progress())
    assert (report.records, report.without, report.wrong) == (206, 203, 202)
    assert report.wrong_identifiers[:3] == [
        (f"{path}: record 1 (one)", "978-0-395-36341-5"),
        (f"{path}: record 5", "1234-5678"),
        (f"{path}: record 7", "9780395363415"),
    ]
    assert len(report.wrong_identifiers) == 100
    assert "203 without identifiers (202 with a wrong check digit)" in report.parts(has_keys=True)
    first, *_, last = report.mistakes()
    problem = (
        "978-0-395-36341-5 has a wrong check digit, so no identifier joins the record; wrong lists all wrong numbers"
    )
    assert first == f"{path}: record 1 (one): {problem}"
    assert last == "197 more records whose identifiers all have a wrong check digit"
    assert len(report.mistakes()) == 6
    without_fields = run([str(path)], Options(), Policy(any_urn=True), Outputs(clusters=lambda _: None), Progress())
    assert without_fields.wrong == 0
    assert not without_fields.mistakes()


def test_an_inode_of_two_files(tmp_path, monkeypatch):
    """Some network file systems give all files one. No dump is left out as a link for it."""
    for name in ("a", "bc"):
        (tmp_path / name).write_text(f'{{"urn": "urn:foo:{name}"}}\n')

    class OfOneInode(type(tmp_path)):
        def stat(self, **options):
            status = super().stat(**options)
            return SimpleNamespace(st_dev=1, st_ino=0, st_size=status.st_size, st_mtime_ns=status.st_mtime_ns)

    monkeypatch.setattr("urnscan.dedup.job.Path", OfOneInode)
    assert urnscan.deduplicate(tmp_path).clusters.num_rows == 2
