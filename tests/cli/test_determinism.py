"""The same bytes out, whatever is not the input: threads, memory, the order in which a system lists files, locale, time zone,
hashes, the day. (tests/run/test_pipeline.py, tests/tables/test_parquet_writer.py: the same however the work is cut.)
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Command, Meddling

pytestmark = pytest.mark.full

SCAN = [
    "-o",
    "c.parquet",
    "--occurrences",
    "o.parquet",
    "--rejects",
    "r.parquet",
    "--partial",
    "p.partial",
    "--recover",
    "all",
    "--force",
    "--quiet",
]
REPORT = ["report", "c.parquet", "--occurrences", "o.parquet", "-o", "page.html", "--force", "--quiet"]
DEDUP = [
    "dedup",
    "dumps",
    "-o",
    "clusters.parquet",
    "--deduplicated",
    "out/",
    "--report",
    "dedup.html",
    "--fields",
    "--force",
    "--quiet",
]
FILES = ["c.parquet", "o.parquet", "r.parquet", "p.partial", "page.html", "clusters.parquet", "dedup.html"]


def write_inputs(folder: Path, order: int = 1) -> None:
    """The same tree, its files made in this order or the other one."""
    texts = {
        f"d/{number % 7}/{name}{number}.txt": b"urn:foo:%d urn:X-%d:i&#58; urn:isbn:%s, urn:x %%zz\n"
        % (number % 40, number % 3, digits)
        for number in range(60)
        for name, digits in (("a", b"0-395-36341-1"), ("\u0131I\u00dfz", b"9780395363416"))
    }
    texts |= {f"dumps/{number}.jsonl": b"".join(
        b'{"id": "%d-%d", "isbn": "97803953634%02d", "urn": "urn:nbn:de:%d"}\n' % (number, each, each % 90, each % 50) for each in range(300)
    ) for number in range(6)}  # fmt: skip
    texts["d/big.txt"] = b"".join(
        b"urn:big:%07d urn:Big:%07d.\n" % (number * 7919 % 99_991, number) for number in range(16_000)
    )
    texts["d/z.gz"] = gzip.compress(b"urn:foo:1 urn:foo:z\n" * 99, mtime=0)
    for name in sorted(texts)[::order]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(texts[name])
    (folder / "out").mkdir(exist_ok=True)


def outputs(command: Command) -> dict[str, str]:
    """What each of the files holds, as a checksum."""
    names = [*FILES, *(f"out/{name}" for name in command.names("out"))]
    return {name: hashlib.sha256((command.folder / name).read_bytes()).hexdigest() for name in names}


def run_all(command: Command, *scan: str, **options: object) -> dict[str, str]:
    command("d", *SCAN, *scan, **options)
    command(*REPORT, **options)
    command(*DEDUP, **options)
    return outputs(command)


@pytest.fixture(scope="module")
def once(tmp_path_factory, home):
    """A folder where all was done once, and what came out."""
    command = Command(tmp_path_factory.mktemp("once"), home)
    write_inputs(command.folder)
    return command, run_all(command, "-j", "2")


@pytest.mark.parametrize("options", [["-j", "1"], ["-j", "4", "--memory", "1MB"]], ids=" ".join)
def test_threads_and_memory(once, options):
    """And any of both at once; page and clusters follow from what is read."""
    command, expected = once
    command("d", *SCAN, *options)
    assert outputs(command) == expected


LOCALES = {
    "tr": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1"},
    "de": {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "America/St_Johns", "PYTHONHASHSEED": "77"},
    "c": {
        "LC_ALL": "C",
        "LANG": "C",
        "TZ": "UTC",
        "PYTHONHASHSEED": "4294967295",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
}


def has_locale(name: str) -> bool:
    listed = subprocess.run(["locale", "-a"], capture_output=True, check=False).stdout.decode(errors="replace")
    return name == "C" or name.lower().replace("-", "") in listed.lower().replace("-", "").split()


@pytest.mark.skipif(shutil.which("locale") is None, reason="no `locale` to ask which there are")
@pytest.mark.parametrize("which", LOCALES)
def test_locale_zone_and_hashes(once, which):
    """Turkish, in which I and i are not one letter; a zone of another day; C, in which a name of a file is bytes."""
    command, expected = once
    if not has_locale(LOCALES[which]["LC_ALL"]):
        pytest.skip(f"{LOCALES[which]['LC_ALL']} is not generated here")
    other = Command(command.folder, Path(command.environment["HOME"]))
    other.environment |= LOCALES[which]
    assert run_all(other) == expected


def test_order_of_files_and_the_day(once, tmp_path, home):
    """The same tree in another place, made the other way round, with other times, listed in any order, on another day."""
    _, expected = once
    other = Command(tmp_path, home)
    write_inputs(other.folder, order=-1)
    for path in other.folder.rglob("*.txt"):
        os.utime(path, (1, 1))
    shuffled = Meddling("""
import os, random, time
class Listed:
    def __init__(self, entries): self.entries = entries
    def __enter__(self): return iter(self.entries)
    def __exit__(self, *_): pass
    def __iter__(self): return iter(self.entries)
    def close(self): pass
scandir, listdir, now = os.scandir, os.listdir, time.time
def shuffle(names):
    random.Random(len(names)).shuffle(names)
    return names
os.scandir = lambda *path: Listed(shuffle(list(scandir(*path))))
os.listdir = lambda *path: shuffle(list(listdir(*path)))
time.time = lambda: now() + 4e8
""")
    assert run_all(other, through=shuffled) == expected
