"""The first run compiles all that later runs need, says so, and keeps it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import urnscan as library
from tests.cli.conftest import URNSCAN, Command, environment_of, forked
from tests.cli.test_terminal import screen  # noqa: F401 (a fixture)
from tests.support.first_run import lay_first_run
from urnscan.library import compilation

pytestmark = [pytest.mark.full, pytest.mark.timeout(1200)]

SAMPLES = library.samples()
COMMANDS = {
    "print": ["{samples}"],
    "json": ["{samples}", "--json", "--trim"],
    "rfc8141": ["{samples}", "-o", "a.parquet", "--syntax", "rfc8141", "--rejects", "r.parquet"],
    "bis-03": ["{samples}", "-o", "b.parquet", "--syntax", "rfc2141bis-03", "--equivalence", "resolution"],
    "namespace": ["{samples}", "-o", "c.parquet", "--equivalence", "namespace", "--resolver-tail", "cut", "-j", "2"],
    "recover": ["{samples}", "-o", "d.parquet", "--occurrences", "o.parquet", "--recover", "all", "--max-length", "99"],
    "nid": ["{samples}", "--rejects", "n.parquet", "--recover", "percent", "--nid", "isbn,nbn:de"],
    "inputs": ["{samples}/prose.txt", "{samples}", "-o", "e.parquet"],
    "parts": ["large.txt", "-o", "f.parquet", "--memory", "1MB"],
    "column": ["{samples}/titles.csv", "--column", "urn"],
    "standard input": ["-", "-o", "g.parquet"],
    "dedup": ["dedup", "{samples}/catalogue.marcxml.xml", "--deduplicated", "out.xml", "--report", "page.html"],
    "merge": ["merge", "a.parquet", "b.parquet", "-o", "m.parquet"],
    "diff": ["diff", "a.parquet", "a.parquet", "-o", "i.parquet", "--quiet"],
    "report": ["report", "a.parquet", "-o", "a.html"],
    "dedup fields": ["dedup", "{samples}/catalogue.marcxml.xml", "--fields", "-o", "h.parquet", "--recover", "all"],
}


def kept(folder: Path) -> set[str]:
    """Names of the files of compiled code."""
    return {path.name for path in folder.rglob("*.o")}


@pytest.fixture(scope="module")
def cache(tmp_path_factory, request) -> Path:
    """A folder with what a first run keeps. That run was quiet, so it said nothing."""
    folder = tmp_path_factory.mktemp("cache")
    out, err = lay_first_run(request.config, folder)
    assert err == b""
    assert out.startswith(bytes(SAMPLES))
    return folder


@pytest.fixture
def urnscan(urnscan, cache) -> Command:
    """The command, where a first run was."""
    urnscan.environment["NUMBA_CACHE_DIR"] = str(cache)
    return urnscan


@pytest.fixture(scope="module")
def forks_of_cache(home, cache):
    """The process from which later runs are forked: it has loaded what `find` needs, and no more."""
    with forked({**environment_of(home), "NUMBA_CACHE_DIR": str(cache)}) as found:
        yield found


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_no_later_run_compiles(urnscan, cache, forks_of_cache, words):
    """A bar that stands still at another moment, for another option, looks like a program that hangs."""
    urnscan.forks = forks_of_cache
    if words[0] in ("merge", "diff", "report"):
        urnscan(SAMPLES / "prose.txt", "-o", "a.parquet")
        urnscan(SAMPLES / "titles.csv", "-o", "b.parquet")
    before = kept(cache)
    if "large.txt" in words:
        urnscan.write("large.txt", b"".join(b"see urn:x-y:%d\n" % number for number in range(600_000)))
    result = urnscan(*(word.format(samples=SAMPLES) for word in words), stdin=b"urn:isbn:0451450523")
    assert "compiling" not in result.err
    assert kept(cache) == before


def test_the_library_compiles_no_more(cache):
    """`find` and `scan_batches` use the same functions."""
    script = "import urnscan; urnscan.find('urn:a-b:c'); list(urnscan.scan_batches(t)); print(jit.count())"
    script = f"import pyarrow as pa; from urnscan.compiled import jit; t = pa.table({{'a': ['urn:a-b:c']}}); {script}"
    environment = {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [URNSCAN.with_name("python"), "-c", script], env=environment, capture_output=True, check=True, text=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


READ_ONLY = """
import tempfile
def refuse(*_, **__):
    raise PermissionError
tempfile.TemporaryFile = refuse  # it is tried by this whether a folder can be written
import numpy
from urnscan.compiled import jit, object_code
from urnscan.compiled.bytes import count_lf
count_lf(numpy.frombuffer(b"a", numpy.uint8), 0, 1)
print(jit.count(), jit.kept_in(), object_code.is_complete())
"""


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_read_only_cache_is_used_if_it_holds_all(cache, tmp_path, is_complete):
    """An installation that its owner warmed up: each other user compiled again, in each run or once a home."""
    folder = tmp_path / "cache"
    shutil.copytree(cache, folder)
    if not is_complete:
        for mark in folder.rglob("*.complete"):
            mark.unlink()
    environment = {"NUMBA_CACHE_DIR": str(folder), "HOME": str(tmp_path)}
    words = [URNSCAN.with_name("python"), "-c", READ_ONLY]
    done = subprocess.run(words, env=environment, capture_output=True, check=True, text=True)
    assert (done.stdout == f"0 {folder} True\n") == is_complete
    assert (str(folder) in done.stdout) == is_complete


def test_warm_up_has_nothing_to_do(urnscan, cache):
    result = urnscan("--warm-up")
    assert result.err == f"urnscan: everything is already compiled; compiled code is kept in {cache}\n"
    assert urnscan("--warm-up", "--quiet").err == ""


def test_the_total_of_the_bar(cache):
    """The bar cannot know how many functions there are before they are called."""
    assert len(kept(cache)) == compilation._FUNCTIONS


def test_warm_up_reads_nothing(urnscan):
    assert urnscan("--warm-up", "a.txt", status=2).err == "urnscan: --warm-up reads no inputs; leave them out\n"


def test_what_is_missing_is_compiled_with_a_line(urnscan, cache):
    """The line stands alone, before all others; what is there is not compiled again."""
    before = kept(cache)
    for path in cache.rglob("*.strings._spread.*"):
        path.unlink()
    result = urnscan("dedup", SAMPLES / "catalogue.marcxml.xml", "-o", "clusters.parquet")
    line, *others = result.err.splitlines()
    assert line == f"urnscan: compiling for this machine, once, takes about a minute; the result is kept in {cache}"
    assert others
    assert not any("compiling" in other for other in others)
    assert kept(cache) == before


def test_warm_up_tells_what_it_compiled(urnscan, cache):
    before = kept(cache)
    for path in cache.rglob("*.strings._copy_strings.*"):
        path.unlink()
    first, second = urnscan("--warm-up").err.splitlines()
    assert first.startswith("urnscan: compiling for this machine, once")
    assert second.startswith("urnscan: compiled 1 function in ")
    assert second.endswith(f" s; compiled code is kept in {cache}")
    assert kept(cache) == before


def test_a_bar_counts_what_is_compiled(urnscan, cache, screen):  # noqa: F811 (as above)
    """Twenty seconds behind one line look hung, and on a slow machine it is a minute or more. It says how many are left."""
    for pattern in ("*.strings._copy_strings.*", "*.complete"):
        for path in cache.rglob(pattern):
            path.unlink()
    urnscan(SAMPLES / "prose.txt", "-o", "a.parquet", stderr=screen.line)
    line, *others = screen.lines
    assert line.startswith("urnscan: compiling for this machine, once")
    assert re.search(r"compiling: +0%\|.*\| 0.00/1.00 \[.*compiling: 100%\|.*\| 1.00/1.00 \[", screen.text, re.DOTALL)
    assert [other.split(":")[0] for other in others] == ["urnscan"] * len(others)
