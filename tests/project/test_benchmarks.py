"""What benchmarks/ promises: texts that hold what they say, tables that tell a wrong answer, a guard that fails."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
URN = re.compile(rb"\burn:[a-z0-9][a-z0-9-]{0,31}:[^<> ]+", re.IGNORECASE)


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    """The scripts import each other as Python does for one that is run."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def command(script, *words, statuses=(0,)):
    """What a script prints; it must end with one of the statuses."""
    words = [sys.executable, BENCHMARKS / script, *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in statuses, done.stderr
    return done.stdout


@pytest.mark.full
def test_suite(tmp_path):
    """The command makes its texts in an empty folder, and writes the tables, the numbers and the pictures."""
    pytest.importorskip("matplotlib")
    told = command(
        "bench.py", tmp_path / "new", "--only", "dense,small", "--sizes", "100KB,1MB", "--runs", 1, "--peers", "regex"
    )
    folder = tmp_path / "new" / "results"
    assert (folder / "results.md").read_text("utf-8").strip() == told.strip()
    assert "| dense | time at most 0.5 of `rg -oai \\| sort \\| uniq -c` | - | - | not measured |" in told
    assert re.search(r"file, print \| time at most 0.25 s \| \d+\.\d\d \| CPU \d+\.\d\d \| (\*\*not )?reached", told)
    data = json.loads((folder / "results.json").read_text())
    assert [(each["corpus"], each["files"]) for each in data["measured"]] == [("dense", 1), ("dense", 1), ("small", 1)]
    for each, urns in zip(data["measured"], (10_000, 20_000, 200), strict=True):
        for result in each["results"]:
            assert not result["failure"]
            assert result["matches"] == urns
            assert result["peak_bytes"] > 5_000_000
            assert min(result["seconds"]) > 0
    assert [result["name"] for result in data["measured"][0]["results"]] == ["urnscan, whole job", "regex + dict"]
    for picture in ("time-dense.svg", "memory-dense.svg"):
        assert f"]({picture})" in told
        assert ET.parse(folder / picture).getroot().tag.endswith("svg")


@pytest.mark.full
def test_compare(tmp_path):
    """Two recordings of one version are equal, whatever --jobs; a changed output is shown, and fails unless it is allowed."""
    old, new, allow = tmp_path / "old", tmp_path / "new", tmp_path / "allow"
    urnscan = Path(sys.executable).with_name("urnscan")
    some = ("--only", "damaged/titles.csv/whole/rows", "damaged/uuids.txt.lz4/c*/piped", "dedup/record.mrc/*", "help")
    for folder, jobs in ((old, 1), (new, 2)):
        told = command("compare.py", "record", folder, "--command", urnscan, "--jobs", jobs, *some)
        assert re.match(r"5 runs in \d+ s", told)
        assert "traceback" not in told
    assert "different" in command("compare.py", "diff", old, new)
    assert b"urn:nbn:de:" in (old / "damaged/titles.csv/whole/rows/occurrences.parquet.txt").read_bytes()
    assert b"TIME s" in (old / "damaged/titles.csv/whole/rows/stderr.txt").read_bytes()
    assert (old / "dedup/record.mrc/all/kept/record.mrc.txt").read_bytes().startswith(b"00")

    changed = new / "damaged/titles.csv/whole/rows/classes.parquet.txt"
    changed.write_text(changed.read_text("utf-8").replace("bvb:99-lantern", "bvb:99-tide"), "utf-8")
    (new / "dedup/record.mrc/all/kept/record.mrc.txt").unlink()
    words = [sys.executable, BENCHMARKS / "compare.py", "diff", old, new]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "damaged/titles.csv/whole/rows/classes.parquet\n" in done.stdout
    assert re.search(r"^  - .*99-lantern.*\n  \+ .*99-tide", done.stdout, re.MULTILINE)
    assert "dedup/record.mrc/all/kept/record.mrc: only in OLD" in done.stdout
    assert re.search(r"^classes.parquet +0 +1 +0$", done.stdout, re.MULTILINE)

    allow.write_text("# on purpose\n\ndamaged/*/classes.parquet  the tide\n*/kept/* gone\n")
    told = command("compare.py", "diff", old, new, "--allow", allow)
    assert "1 allowed by damaged/*/classes.parquet: the tide" in told
    assert re.search(r"^classes.parquet +0 +0 +1$", told, re.MULTILINE)


@pytest.mark.full
def test_memory(tmp_path):
    """What is found in the stream is what was drawn, from standard input and from a file."""
    pytest.importorskip("matplotlib")
    told = command("memory.py", tmp_path, "--sizes", "2MB", "--classes", 5000, "--from", "stdin,file")
    rows = [line for line in told.splitlines() if "from stdin |" in line or "from file |" in line]
    assert len(rows) == 2
    assert all(" 25,000 |" in row and "≠" not in row and "failed" not in row for row in rows)
    assert (tmp_path / "memory" / "memory.svg").exists()


@pytest.mark.full
@pytest.mark.parametrize("script", ["forms.py", "dedup.py"])
def test_other_runs(tmp_path, script):
    """Every contender of a form and of a dump finds as much as urnscan, and the results are kept as numbers, with their targets."""
    small = (
        ("--scale", 0.002, "--only", "gz,small.zip,warc.gz,warcs,parquet,jsonl")
        if script == "forms.py"
        else ("--records", 3000, "--many", 5000)
    )
    told = command(script, tmp_path, "--runs", 1, *small)
    assert "failed" not in told
    data = json.loads((tmp_path / script.removesuffix(".py") / "results.json").read_text())
    for text in data["measured"]:
        assert f"## {text['corpus']}, " in told
        ours = text["results"][0]["matches"]
        for result in text["results"]:
            if result["matches"] is not None and "two such" not in result["name"]:
                # ugrep counts the headers of a web archive, too
                assert result["matches"] == ours or (result["name"] == "ugrep -z" and "warc" in text["corpus"])
    if script == "forms.py" or shutil.which("yaz-marcdump"):
        assert re.search(r"\| (WARC|dedup, MARC 21, one core) \| CPU at most ", told)
    if sys.platform == "linux":  # memory of all processes together is read from /proc
        assert min(each["results"][0]["peak_bytes"] for each in data["measured"]) > 50_000_000


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="pins processes to cores")
def test_cores(tmp_path):
    """The stages of a run on one core and on two are told, and what is estimated from them."""
    told = command("cores.py", tmp_path, "--only", "dense", "--size", "3MB", "--runs", 1)
    rows = [line.split(" | ")[1] for line in told.splitlines() if line.startswith("| dense | ")]
    assert rows == ["start", "scan", "ranges", "classes", "encoding", "file", "rest", "at best", "as from one to two"]


@pytest.mark.full
def test_made_up_texts():
    """`pieces` tells how many URNs it made, and makes the same again; earlier results were measured on the same text."""
    from corpora import DENSITIES, pieces

    for kind, digest in (("dense", "efb589df91fb1aaa"), ("sparse", "b5b9a02b8c750743")):
        texts, counts = zip(*pieces(200_000, DENSITIES[kind]), strict=True)
        text = "".join(texts)
        assert len(URN.findall(text.encode())) == sum(counts)
        assert hashlib.sha256(text.encode()).hexdigest().startswith(digest)
        assert list(pieces(200_000, DENSITIES[kind])) == list(zip(texts, counts, strict=True))


def result(name, seconds, matches=7, failure=""):
    from measurement import Contender, Counts, Result, count_lines

    return Result(Contender(name, [], count_lines), [seconds], [seconds], 10**7, Counts(matches, matches), failure)


def measured(kind, content, *results):
    from corpora import Corpus
    from results import Measured

    return Measured(Corpus(kind, Path("text"), content), list(results), [])


@pytest.mark.full
def test_fast_wrong_answers_show():
    """A count that is not the whole job's is marked; who failed has no numbers."""
    rows = measured(
        "dense", 10**6, result("urnscan, whole job", 2), result("hasty", 1, 6), result("broken", 1, 0, "no memory")
    ).rows()
    assert "| hasty | 1.00 | 1.00..1.00 | 1.00 | 2.00 | 2.00 | ≠ 6 | ≠ 6 | 10 |" in rows
    assert "| broken: failed: no memory | - | - | - | - | - | - | - | - |" in rows
    assert not any("≠" in row for row in rows if "urnscan" in row)


@pytest.mark.full
def test_a_pipe_is_measured_whole():
    """Time and memory are those of all its processes; a failure anywhere in it is one, and is told in its own words."""
    from measurement import Contender, Counts, count_lines, measure

    held = [sys.executable, "-c", "import time; held = bytearray(80_000_000); time.sleep(.2); print(1); print(2)"]
    whole, last, broken, lacking = measure(
        [
            Contender(
                "whole", [held, [sys.executable, "-c", "x = input(); print(len(bytearray(40_000_000)))"]], count_lines
            ),
            Contender("last", [held, ["cat"]], count_lines, ours=1),
            Contender("broken", [["sh", "-c", "echo why >&2; exit 3"], ["cat"]], count_lines),
            Contender("lacking", [["/no/such/command"]], count_lines),
        ],
        1,
    )
    assert whole.found == Counts(1)
    assert last.found == Counts(2)
    assert whole.median > 0.2
    assert whole.peak > 130_000_000
    assert last.peak < 60_000_000
    assert broken.failure == "why"
    assert not broken.seconds
    assert "/no/such/command" in lacking.failure


@pytest.mark.full
def test_guard(tmp_path, monkeypatch, capsys):
    """It fails where a ratio is worse than recorded by more than the tolerance, and says which: all kinds of files are guarded."""
    import guard

    monkeypatch.setattr(guard.cliffs, "ROWS", ())
    few = {kind: 200 if size < 10_000 else 300_000 for kind, size in guard.SIZES.items() if kind != "sparse"}
    monkeypatch.setattr(guard, "SIZES", few)
    monkeypatch.setattr(guard, "ROUNDS", 1)
    numbers = tmp_path / "guard.json"
    assert guard.main(["--record", "--numbers", str(numbers)]) == 0
    recorded = json.loads(numbers.read_text())
    kinds = {"gz", "warc.gz", "small.tar", "parquet", "jsonl", "files"}
    assert set(recorded["ratios"]) == {"dense kernel", "dense pipeline", "MARC dedup", *kinds}
    assert set(json.loads(guard.NUMBERS.read_text())["ratios"]) > set(recorded["ratios"])
    doctored = {name: ratio * 100 for name, ratio in recorded["ratios"].items()}
    numbers.write_text(json.dumps(recorded | {"ratios": doctored}))
    assert guard.main(["--numbers", str(numbers)]) == 0
    slower = f"more than {guard.TOLERANCE} times as much"
    assert slower not in capsys.readouterr().out
    doctored["MARC dedup"] = recorded["ratios"]["MARC dedup"] / 100
    numbers.write_text(json.dumps(recorded | {"ratios": doctored}))
    assert guard.main(["--numbers", str(numbers)]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if slower in line]
    assert line.startswith("MARC dedup: ")


@pytest.mark.full
def test_cliffs(monkeypatch):
    """Odd and plain values are all found, by the command and in the process of the guard, which names a row above its limit."""
    import cliffs

    # So few values take some milliseconds: on a busy machine their ratio may be above the limit, which is status 1.
    told = command("cliffs.py", "--only", "own rules", "--values", 3000, "--runs", 1, statuses=(0, 1))
    assert told.count("| 3,000 occurrences, 3,000 classes ") == 2
    assert cliffs.LIMIT == 2
    row = next(row for row in cliffs.ROWS if row.name == "MARC: ISBN, $q")
    monkeypatch.setattr(cliffs, "_RECORDS_OF_GUARD", 300)
    monkeypatch.setattr(cliffs, "ROWS", (row._replace(limit=-1000), row._replace(limit=1000)))
    assert [slower.odd.counts for slower in cliffs.slower_rows()] == ["300 records, 300 clusters"]


@pytest.mark.guard
@pytest.mark.timeout(900)
def test_not_slower_than_the_last_release():
    """benchmarks/guard.json holds what the last release took."""
    done = subprocess.run([sys.executable, BENCHMARKS / "guard.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.full
def test_tasks_of_the_benchmark_on_spark(tmp_path, monkeypatch):
    """One machine, and tasks with a merge, find the same in each of its texts, and what they took is told above the start."""
    import on_spark

    monkeypatch.setattr(on_spark, "TASKS", 3)
    for kind in ("dense", "warc", "many"):
        text = on_spark.make(tmp_path, kind, 600_000)
        (work := tmp_path / f"work-{kind}").mkdir()
        commands = on_spark.commands(text, "local[1]", work)
        one, tasks = (on_spark.run(commands[name]) for name in ("one machine", "3 tasks and a merge"))
        assert one.found == tasks.found
        assert one.found.matches > 50
    shown = on_spark.row("x", one, one._replace(cpu={"unseen": 1.0}), 2.0)
    assert shown[:3] == ["x", f"{one.total - 1:.1f}", f"{(one.total - 1) / 2:.2f}"]
