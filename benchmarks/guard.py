"""Fail where urnscan has become slower than it was at the last release.

    python benchmarks/guard.py [--record] [--numbers FILE]

Ratios are compared: the CPU time of urnscan to that of a library on the same file, measured in turn in one process, so that
the load of the machine matters little; the median of several rounds counts. The library is `regex` on the text, and before
it the one that reads the form: gzip, fastwarc, pyarrow, json, tarfile. For records it is pymarc, which only reads them.
The kernel is the scanner on text in memory; all else are whole runs on one thread, from a file to classes or clusters.
guard.json has the recorded ratios, the larger ones of several machines, whose ratios differ by up to four times (sparse text);
on one machine those of the same code differ by up to 1.8 times from hour to hour (dense kernel).
`--record` replaces them with those of this machine. Odd values are compared to plain ones by cliffs.py, whose rows
have limits of their own. Exit status: 0 about as fast as recorded, 1 slower.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cliffs
import dedup
import numpy as np
import pyarrow.parquet as pq
import pymarc
import regex
from corpora import DENSITIES, generate, generate_many
from fastwarc import ArchiveIterator
from forms import make
from in_python import PATTERN

from urnscan import Options, __version__, deduplicate
from urnscan.run.pipeline import Outputs, run
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.urn.syntax import get_syntax

NUMBERS = Path(__file__).with_name("guard.json")
SIZES = {
    "dense": 12_000_000,
    "sparse": 64_000_000,
    "gz": 32_000_000,
    "warc.gz": 8_000_000,
    "small.tar": 16_000_000,
    "parquet": 16_000_000,
    "jsonl": 16_000_000,
    "files": 3_000,
    "records": 4_000,
}
"""Bytes of text, or numbers of files or records, of each kind: enough to take some hundredths of a second."""
ROUNDS = 9
TOLERANCE = 2.0
"""Allowed factor between a ratio and the recorded one: above the 1.8 by which ratios of the same code differ."""

Work = Callable[[], int]
"""Does the work once, and returns how much it found."""


def gzip_texts(path: Path) -> Iterator[bytes]:
    """The text of a gzip file."""
    yield gzip.decompress(path.read_bytes())


def warc_texts(path: Path) -> Iterator[bytes]:
    """The bodies of a web archive."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            yield record.reader.read()


def tar_texts(path: Path) -> Iterator[bytes]:
    """The members of a tar archive."""
    with tarfile.open(path) as archive:
        for member in archive:
            if opened := archive.extractfile(member):
                yield opened.read()


def parquet_texts(path: Path) -> Iterator[bytes]:
    """The values of the column `text`."""
    for value in pq.read_table(path).column("text").to_pylist():
        yield value.encode()


def json_texts(path: Path) -> Iterator[bytes]:
    """The values of the field `text`."""
    with path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)["text"].encode()


def file_texts(path: Path) -> Iterator[bytes]:
    """The files of a folder."""
    for file in sorted(path.rglob("*.txt")):
        yield file.read_bytes()


READERS = {
    "gz": gzip_texts,
    "warc.gz": warc_texts,
    "small.tar": tar_texts,
    "parquet": parquet_texts,
    "jsonl": json_texts,
    "files": file_texts,
}


def works(kind: str, folder: Path) -> tuple[Work, dict[str, Work]]:
    """Make the file of a kind in the folder; returns the work of the library, and that of urnscan by name."""
    path = folder / kind
    if kind == "records":
        dedup.generate(path, SIZES[kind])
        return lambda: _records(path), {"MARC dedup": lambda: deduplicate(path, jobs=1).report.records}
    pattern = regex.compile(PATTERN.encode(), regex.IGNORECASE)
    if kind in DENSITIES:
        generate(path, SIZES[kind], DENSITIES[kind])
        text = path.read_bytes()
        byte_count = np.frombuffer(text, np.uint8)
        scanner = Scanner(Grammar(get_syntax("rfc2141"), count_lines=False))
        return lambda: len(pattern.findall(text)), {
            f"{kind} kernel": lambda: sum(len(matches) for matches in scanner.scan_bytes(byte_count)),
            f"{kind} pipeline": lambda: _found(path, Options(jobs=1)),
        }
    if kind == "files":
        generate_many(path, SIZES[kind])
    else:
        path = make(folder, kind, SIZES[kind])
    texts = READERS[kind]
    options = Options(jobs=1, column=("text",) if kind in ("parquet", "jsonl") else ())
    return lambda: sum(len(pattern.findall(text)) for text in texts(path)), {kind: lambda: _found(path, options)}


def _found(path: Path, options: Options) -> int:
    return run([str(path)], options, Outputs(classes=lambda _: None)).occurrences


def _records(path: Path) -> int:
    with path.open("rb") as dump:
        return sum(record is not None for record in pymarc.MARCReader(dump))


def cpu_seconds(work: Work, expected: int) -> float:
    """CPU seconds of all threads for `work`. Raises ValueError if it does not find the expected number."""
    began = time.process_time()
    found = work()
    taken = time.process_time() - began
    if found != expected:
        raise ValueError(f"{found:,} found instead of {expected:,}")
    return taken


def measure(kind: str, folder: Path) -> dict[str, float]:
    """Ratios for one kind of file; `folder` is for temporary files."""
    theirs, ours = works(kind, folder)
    expected = theirs()
    ratios: dict[str, list[float]] = {name: [] for name in ours}
    for work in ours.values():  # not measured: compiles, fills caches
        cpu_seconds(work, expected)
    for _ in range(ROUNDS):
        taken = cpu_seconds(theirs, expected)
        for name, work in ours.items():
            ratios[name].append(cpu_seconds(work, expected) / taken)
    return {name: statistics.median(of_name) for name, of_name in ratios.items()}


def least(kind: str, recorded: dict[str, float]) -> dict[str, float]:
    """Least ratios for one kind of file, which is measured until all are as recorded, at most `cliffs.TRIES` times."""
    ratios: dict[str, float] = {}
    for _ in range(cliffs.TRIES):
        with tempfile.TemporaryDirectory() as folder:
            for name, ratio in measure(kind, Path(folder)).items():
                ratios[name] = min(ratio, ratios.get(name, ratio))
        if all(ratio <= TOLERANCE * recorded.get(name, ratio) for name, ratio in ratios.items()):
            break
    return ratios


def main(words: list[str] | None = None) -> int:
    """Measure, then record or compare; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the ratios instead of comparing them")
    parser.add_argument(
        "--numbers", type=Path, default=NUMBERS, metavar="FILE", help="default: guard.json next to this"
    )
    arguments = parser.parse_args(words)
    if not (arguments.record or arguments.numbers.exists()):
        parser.error(f"{arguments.numbers}: not there; --record writes it")
    recorded = {"ratios": {}} if arguments.record else json.loads(arguments.numbers.read_text())
    measured = {name: ratio for kind in SIZES for name, ratio in least(kind, recorded["ratios"]).items()}
    if arguments.record:
        rounded = {name: float(f"{ratio:.3g}") for name, ratio in measured.items()}
        recorded = {"release": __version__, "ratios": rounded}
        arguments.numbers.write_text(json.dumps(recorded, indent=1) + "\n")
    worse = 0
    for name, ratio in measured.items():
        was = recorded["ratios"][name]
        slower = ratio > TOLERANCE * was
        worse += slower
        note = f", more than {TOLERANCE} times as much" if slower else ""
        print(f"{name}: {ratio:.3g} of the library, {was:.3g} in {recorded['release']}{note}")
    for slower in () if arguments.record else cliffs.slower_rows():
        worse += 1
        print(f"{slower.row.name}: odd values take {slower.ratio:.3g} of plain ones, limit {slower.row.limit:g}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
