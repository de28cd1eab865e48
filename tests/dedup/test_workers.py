"""Large dumps are read by processes, with the result that a thread has."""

import json
import subprocess
import sys

import pytest

import urnscan
from tests.support.dumps import make_dump
from urnscan.dedup.read import workers
from urnscan.errors import FatalError

NAMES = ("marc", "marcxml", "jsonl", "csv")


@pytest.fixture
def dumps(tmp_path, monkeypatch):
    """Small dumps that count as large; records in them are damaged."""
    monkeypatch.setattr(workers, "_LARGE", 0)
    for name in NAMES:
        dump = make_dump(name, 1, 60)
        damaged = b"".join(data[: 30 if number % 7 == 3 else None] for number, data in enumerate(dump.records))
        (tmp_path / dump.name).write_bytes(dump.data if name in ("marcxml", "csv") else damaged)
    return tmp_path


@pytest.mark.full
def test_processes_change_nothing(dumps, tmp_path):
    """docs/reference/dedup/outputs.md, Time and memory: rows, counts, failures and the written dumps are the same."""
    found, copies = {}, {}
    for jobs in (1, 3):
        (tmp_path / str(jobs)).mkdir()
        given = {"deduplicated": tmp_path / str(jobs), "exclude": "[13]/*", "jobs": jobs}
        found[jobs] = urnscan.deduplicate(dumps, **given)
        copies[jobs] = {path.name: path.read_bytes() for path in (tmp_path / str(jobs)).rglob("*") if path.is_file()}
    assert len(copies[1]) == len(NAMES)
    assert found[1].report.damaged > 2
    assert found[1].report.duplicates > 2
    assert copies[3] == copies[1]
    assert found[3].clusters.equals(found[1].clusters)
    ours, theirs = (vars(found[jobs].report) | {"seconds": 0} for jobs in (1, 3))
    assert [*map(str, ours.pop("failures"))] == [*map(str, theirs.pop("failures"))]
    assert ours == theirs


def test_no_process_reads_what_compiled_code_reads(dumps, monkeypatch):
    """docs/reference/dedup/outputs.md, Time and memory: to hand MARC to a process takes longer than to read it."""
    monkeypatch.setattr(workers, "start_python", None)
    for name in ("marc", "marcxml"):
        assert urnscan.deduplicate(dumps / make_dump(name, 1, 60).name, jobs=2).report.duplicates > 2


@pytest.mark.full
def test_a_process_that_dies(dumps, monkeypatch):
    """As where memory runs short: one line, and no result of a part."""
    monkeypatch.setattr(workers, "_SERVE", "raise SystemExit(9)")
    with pytest.raises(FatalError, match=r"a process that read records has died.*jobs=1"):
        urnscan.deduplicate(dumps, jobs=2)


@pytest.fixture
def doubtful(tmp_path, monkeypatch):
    """A small dump that counts as large: many of its records share an ISBN and contradict each other."""
    monkeypatch.setattr(workers, "_LARGE", 0)
    titles = ["Inks", "Inks of the world", "Papers", "Inks, volume 2"]
    records = [
        {"isbn": f"978{at // 5:09}", "title": titles[at % 7 % 4], "year": 1990 + at % 3, "doi": f"10.1000/{at // 2}"}
        for at in range(600)
    ]
    for record in records:
        digits = map(int, record["isbn"])
        record["isbn"] += str(-sum(digit * (3 if at % 2 else 1) for at, digit in enumerate(digits)) % 10)
    path = tmp_path / "doubtful.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.full
def test_processes_compare_as_one_does(doubtful):
    """docs/reference/dedup/outputs.md, Time and memory: who compares descriptions changes no cluster and no reason."""
    found = {jobs: urnscan.deduplicate(doubtful, jobs=jobs) for jobs in (1, 2, 3)}
    assert found[1].report.duplicates > 9
    assert found[1].report.doubts > 9
    for jobs in (2, 3):
        assert found[jobs].clusters.equals(found[1].clusters)
        assert found[jobs].report.doubts == found[1].report.doubts


@pytest.mark.full
def test_a_process_that_dies_while_it_compares(doubtful, monkeypatch):
    """It has read its records, and then memory runs short: one line as well."""
    dying = "from urnscan.dedup.join import component_batches; from urnscan.dedup.read import workers; component_batches.rules_of = lambda _: workers.os._exit(9)"
    monkeypatch.setattr(workers, "_SERVE", f"{dying}; workers.serve()")
    with pytest.raises(FatalError, match=r"a process that read records has died.*jobs=1"):
        urnscan.deduplicate(doubtful, jobs=2)


@pytest.mark.full
def test_modules_of_the_working_folder_are_not_taken(dumps, tmp_path, monkeypatch):
    """A user's `queue.py` beside the dump ended the processes, which imported it in place of Python's own."""
    (tmp_path / "queue.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert urnscan.deduplicate(dumps, exclude="*.py", jobs=2).report.duplicates > 2


@pytest.mark.full
def test_a_script_without_a_guard(tmp_path):
    """Processes do not run the script of the caller again: it needs no `if __name__ == "__main__"`."""
    dump = make_dump("jsonl", 1, 60)
    (tmp_path / "a.jsonl").write_bytes(dump.data)
    lines = [
        "import urnscan",
        "from urnscan.dedup.read import workers",
        "workers._LARGE = 0",
        "print('begun')",
        "print(urnscan.deduplicate('a.jsonl', jobs=2).report.records)",
    ]
    (tmp_path / "script.py").write_text("\n".join(lines))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"begun\n{len(dump.records)}\n", "")
