"""Measure `urnscan dedup` on MARC 21 dumps, beside a script with pymarc and pandas.

    python benchmarks/dedup.py FOLDER [--records N] [--many N] [--runs N] [--save NAME]

Timed as in bench.py: whole processes in turn, start-up included, on a warm page cache; the median counts.

What is fair and what is not:
* Both find the same number of duplicates, and write the dump without them. In the generated dump all records of a work
  have its ISBN in 020 and its URN:NBN in 856, in different spellings. So one key is enough for `drop_duplicates`; it
  would miss records that are joined by different identifiers.
* pymarc parses whole records. urnscan reads only the fields that it needs, in as many processes as there are cores.
* Only urnscan runs on the larger dumps: they show how its time and memory grow. The script's would grow as well.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from corpora import new, warm
from measurement import Contender, count_numbers, measure, summary
from peers import URNSCAN
from results import heading, parser, rows_of, table, tell

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
    """Make a record of a work; `style` chooses the spelling of its identifiers."""
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
    """Write a dump of so many records, unless it is there; about two in five are duplicates."""
    if path.exists():
        return
    style = random.Random(records)
    with new(path) as unfinished, unfinished.open("wb") as file:
        for number in range(records):
            file.write(record(number, style.randrange(records * 4 // 5), style))


def contenders(dump: Path, work: Path, *, alone: bool) -> list[Contender]:
    """Contenders for a dump; ratios refer to the first."""
    job = [URNSCAN, "dedup", dump, "-o", work / "clusters.parquet", "--deduplicated", work / "out.mrc", "--force"]
    job += ["--agree", "none", "--keys", "urn"]  # the script compares no descriptions, and knows only URNs
    duplicates = summary("duplicate")
    found = [
        Contender("urnscan dedup --fields", [[*job, "--fields"]], duplicates),
        Contender("urnscan dedup", [job], duplicates),
    ]
    if not alone:
        script = work / "with_pymarc.py"
        script.write_text(PYMARC_SCRIPT)
        pymarc = [sys.executable, script, dump, work / "peer.mrc"]
        found.append(Contender("pymarc + pandas", [pymarc], count_numbers))
    return found


def section(dump: Path, records: int, runs: int, *, alone: bool) -> list[str]:
    """Measure on one dump; returns its section of the result."""
    octets = warm(dump).octets
    with tempfile.TemporaryDirectory(dir=dump.parent) as work:
        results = measure(contenders(dump, Path(work), alone=alone), runs)
    head = ["", "median s", "min..max s", "CPU s", "records/s", "`--fields` takes of it", "duplicates", "peak MB"]
    rows = rows_of(results, lambda median: f"{records / median:,.0f}")
    return [f"## {records:,} records, {octets:,} octets", "", *table(head, rows)]


def main() -> None:
    """Generate, measure, print, save."""
    options = parser(__doc__, 3, "benchmarks/runs/NAME.md")
    options.add_argument("--records", type=int, default=200_000)
    options.add_argument("--many", type=int, default=10_000_000)
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rows = [*heading("Deduplication"), "The larger dumps once.", ""]
    for records, runs in ((arguments.records, arguments.runs), (arguments.many // 10, 1), (arguments.many, 1)):
        dump = arguments.folder / f"dump-{records}.mrc"
        generate(dump, records)
        rows += section(dump, records, runs, alone=records != arguments.records)
    tell(rows, arguments.save)


if __name__ == "__main__":
    main()
