"""Measure `urnscan dedup` on MARC 21 and MARCXML dumps, next to a script with pymarc and pandas, and to parsers alone.

    python benchmarks/dedup.py FOLDER [--records N] [--many N] [--runs N] [--save NAME]

Timed as in bench.py: whole processes in turn, start-up included, on a warm page cache; the median counts. With the defaults
it takes some six minutes on two quiet cores.

What is fair and what is not:
* Both find the same number of duplicates, and write the dump without them. In the generated dump all records of a work
  have its ISBN in 020 and its URN:NBN in 856, in different spellings. So one key is enough for `drop_duplicates`; it
  would miss records that are joined by different identifiers.
* pymarc parses whole records. urnscan reads only the fields that it needs, in another thread than the one that finds the records.
* yaz-marcdump prints the records as lines, and lxml builds the elements of each record and drops them: neither looks for
  anything, nor writes a dump. Both use one core, so urnscan is compared with them with `-j 1`, by CPU time.
* Only urnscan runs on the larger dump: it shows how its time and memory grow. The script's would grow as well. Memory is
  that of all its processes together, read ten times a second; of the smaller dumps that of the largest process.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from corpora import new, warm
from measurement import Contender, count_nothing, count_numbers, measure, summary
from peers import URNSCAN
from results import Measured, heading, keep, parser, place, table
from targets import DEDUP, HEAD, rows
from watch import Peak, memory

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

LXML_SCRIPT = r"""
import sys
from lxml import etree
for _, record in etree.iterparse(sys.argv[1], tag="{*}record"):
    record.clear()
    while record.getprevious() is not None:
        del record.getparent()[0]
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
    return iso_2709(fields)


def iso_2709(fields: Iterable[tuple[str, bytes]]) -> bytes:
    """A record of MARC 21 in ISO 2709, of tags and contents of fields."""
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


def contenders(kind: str, dump: Path, work: Path) -> list[Contender]:
    """Contenders for a dump; ratios refer to the first."""
    files = ["-o", work / "clusters.parquet", "--deduplicated", work / "out", "--force"]
    job = [
        URNSCAN,
        "dedup",
        dump,
        *files,
        "--agree",
        "none",
        "--keys",
        "urn",
        "--keep",
        "first",
    ]  # the script does not compare, knows only URNs, and keeps the first
    duplicates = summary("duplicate")
    one_core = Contender(f"{DEDUP} -j 1", [[*job, "-j", 1]], duplicates)
    if kind == "marcxml":
        lxml = [sys.executable, _script(work, "with_lxml.py", LXML_SCRIPT), dump]
        return [one_core, Contender("lxml, parsing alone", [lxml], count_nothing)]
    found = [Contender(DEDUP, [job], duplicates), Contender(f"{DEDUP} --any-urn", [[*job, "--any-urn"]], duplicates)]
    if kind == "marc":
        found.append(one_core)
        pymarc = [sys.executable, _script(work, "with_pymarc.py", PYMARC_SCRIPT), dump, work / "peer.mrc"]
        found.append(Contender("pymarc + pandas", [pymarc], count_numbers))
        if shutil.which("yaz-marcdump"):
            found.append(Contender("yaz-marcdump", [["yaz-marcdump", dump]], count_nothing))
    return found


def _script(work: Path, name: str, text: str) -> Path:
    path = work / name
    path.write_text(text)
    return path


def run(kind: str, dump: Path, records: int, runs: int) -> Measured:
    """Measure on one dump."""
    corpus = replace(warm(dump), kind=kind)
    results = []
    with tempfile.TemporaryDirectory(dir=dump.parent) as work:
        found = contenders(kind, dump, Path(work))
        for some in [[each] for each in found] if kind == "many marc" else [found]:
            with Peak(memory) as peak:
                results += measure(some, runs, lambda line: print(f"{kind}, {line}", file=sys.stderr))
            if kind == "many marc":
                results[-1].peak = peak.largest or results[-1].peak
    return Measured(corpus, results, about=f"{records:,} records")


def main() -> None:
    """Generate, measure, print, save."""
    options = parser(__doc__, 3)
    options.add_argument("--records", type=int, default=500_000)
    options.add_argument("--many", type=int, default=10_000_000)
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    some, many = (arguments.folder / f"dump-{records}.mrc" for records in (arguments.records, arguments.many))
    generate(some, arguments.records)
    generate(many, arguments.many)
    dumps = [("marc", some, arguments.records, arguments.runs), ("many marc", many, arguments.many, 1)]
    if shutil.which("yaz-marcdump"):
        xml = some.with_suffix(".xml")
        if not xml.exists():
            with new(xml) as unfinished, unfinished.open("wb") as out:
                subprocess.run(["yaz-marcdump", "-i", "marc", "-o", "marcxml", some], stdout=out, check=True)
        dumps.insert(1, ("marcxml", xml, arguments.records, arguments.runs))
    measured = [run(*each) for each in dumps]
    data = [each.json() for each in measured]
    lines = [*heading("Deduplication"), *table(HEAD, [row for row in rows([data]) if row[2] != "-"], left=2)]
    lines += [line for each in measured for line in each.rows()]
    keep(place(arguments, "dedup"), lines, {"measured": data})
    print("\n".join(lines))


if __name__ == "__main__":
    main()
