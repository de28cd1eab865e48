"""Measure `urnscan dedup` on MARC 21 dumps, beside what one would do with pymarc and pandas.

    python benchmarks/dedup.py FOLDER [--records N] [--many N] [--runs N] [--save NAME]

Timed as in bench.py: whole processes in turn, start-up included, on a warm page cache; the median counts.

What is fair and what is not:
* Both find the same duplicates, which shows in their number, and write the dump without them. In the generated dump all
  records of a work have its ISBN in 020 and its URN:NBN in 856, in different spellings, so that one key is enough for
  `drop_duplicates`; it would miss records that share one identifier with each other and another with a third.
* pymarc parses whole records. urnscan looks at the fields that it needs, on one thread, and scans on another.
* The larger dump is urnscan's alone: it shows how time and memory grow. pymarc's frame of keys would grow as well.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import Contender, run, tell

PYMARC_SCRIPT = r"""
import sys
import pandas as pd
import pymarc
from stdnum import isbn
source, target = sys.argv[1:]
keys = []
with open(source, "rb") as file:
    for record in pymarc.MARCReader(file):
        keys.append(isbn.to_isbn13(record["020"]["a"]).replace("-", ""))
kept = set(pd.DataFrame({"isbn": keys}).drop_duplicates().index)
with open(source, "rb") as file, open(target, "wb") as out:
    reader = pymarc.MARCReader(file)
    for number, _ in enumerate(reader):
        if number in kept:
            out.write(reader.current_chunk)
print(len(keys) - len(kept))
"""

TITLE = b"10\x1faA title that is as long as titles are :\x1fbwith what follows it /\x1fcby somebody."
NOTES = [
    b"  \x1faIncludes bibliographical references (pages 301-317) and index.",
    b"  \x1faA note, as catalogues have them, of some length and without a name in it; and a second sentence of the same kind.",
]


def record(number: int, work: int, style: random.Random) -> bytes:
    """A record of a work, its identifiers in one of their spellings."""
    isbn = f"978{work:09d}"
    isbn += str(-sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(isbn)) % 10)
    if style.random() < 0.5:
        isbn = f"{isbn[:3]}-{isbn[3]}-{isbn[4:8]}-{isbn[8:12]}-{isbn[12]}"
    urn = f"{style.choice(['urn:nbn:de', 'URN:NBN:de', 'urn:NBN:DE'])}:101:1-{work:012d}"
    fields = [
        ("001", b"rec%010d" % number),
        ("008", b"260101s2026    gw            000 0 eng  "),
        ("020", b"  \x1fa" + isbn.encode()),
        ("245", TITLE),
        ("264", b" 1\x1faBerlin :\x1fbA Publisher,\x1fc2026."),
        *(("500", note) for note in NOTES),
        ("650", b" 0\x1faLibraries\x1fxAutomation."),
        ("856", b"40\x1fuhttps://nbn-resolving.org/" + urn.encode()),
    ]
    directory, data = b"", b""
    for tag, content in fields:
        directory += b"%s%04d%05d" % (tag.encode(), len(content) + 1, len(data))
        data += content + b"\x1e"
    base = 24 + len(directory) + 1
    return b"%05dnam a22%05d i 4500" % (base + len(data) + 1, base) + directory + b"\x1e" + data + b"\x1d"


def generate(path: Path, records: int) -> None:
    """A dump of so many records, of which about two in five are duplicates; the same for the same number."""
    if path.exists():
        return
    style = random.Random(records)
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        for number in range(records):
            file.write(record(number, style.randrange(records * 4 // 5), style))
    new.rename(path)


def contenders(dump: Path, work: Path, *, alone: bool) -> list[Contender]:
    """What is run on a dump; the first is what the ratios are of."""
    command = shutil.which("urnscan", path=str(Path(sys.executable).parent)) or "urnscan"
    written = f"{command} dedup {dump} -o {work / 'clusters.parquet'} --deduplicated {work / 'out.mrc'} --force"
    found = [
        Contender("urnscan dedup --fields", f"{written} --fields", "duplicates"),
        Contender("urnscan dedup", written, "duplicates"),
    ]
    if not alone:
        script = work / "with_pymarc.py"
        script.write_text(PYMARC_SCRIPT)
        found.append(Contender("pymarc + pandas", f"{sys.executable} {script} {dump} {work / 'peer.mrc'}"))
    return found


def measure(dump: Path, records: int, runs: int, *, alone: bool) -> list[str]:
    """The table of one dump."""
    with dump.open("rb") as file:  # into the page cache
        while file.read(1 << 24):
            pass
    with tempfile.TemporaryDirectory(dir=dump.parent) as work:
        field = contenders(dump, Path(work), alone=alone)
        for _ in range(runs):
            for contender in field:
                run(contender)
    ours = statistics.median(field[0].seconds)
    rows = [
        f"## {records:,} records, {dump.stat().st_size:,} octets",
        "",
        "| | median s | min-max s | records/s | `--fields` takes | duplicates | peak MB |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for contender in field:
        median = statistics.median(contender.seconds)
        rows.append(
            f"| {contender.name} | {median:.1f} | {min(contender.seconds):.1f}-{max(contender.seconds):.1f} "
            f"| {records / median:,.0f} | {ours / median:.2f} of it | {contender.matches:,} | {contender.megabytes:,.0f} |"
        )
    return [*rows, ""]


def main() -> None:
    """Generate, measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--many", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--save", metavar="NAME", help="keep the result as benchmarks/runs/NAME.md")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rows = [
        f"# {time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "",
        f"`python benchmarks/dedup.py FOLDER --runs {arguments.runs}`, the larger dumps once",
        "",
    ]
    for records, runs in ((arguments.records, arguments.runs), (arguments.many // 10, 1), (arguments.many, 1)):
        dump = arguments.folder / f"dump-{records}.mrc"
        generate(dump, records)
        rows += measure(dump, records, runs, alone=records != arguments.records)
    tell(rows, arguments.save)


if __name__ == "__main__":
    main()
