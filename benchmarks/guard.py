"""Fail where urnscan has become slower than it was at the last release.

    python benchmarks/guard.py [--record] [--numbers FILE]

Ratios are compared: the CPU time of urnscan to that of the `regex` module on the same text, measured in turn in one
process, so that the load of the machine matters little; the median of several rounds counts. The kernel is the scanner
on text in memory; the pipeline is a whole run, from a file to classes, on one thread.
guard.json has the recorded ratios; `--record` replaces them. Exit status: 0 about as fast as recorded, 1 slower.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import regex
from corpora import DENSITIES, pieces
from in_python import PATTERN

from urnscan import Options, __version__
from urnscan.run.pipeline import Outputs, run
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.urn.syntax import get_syntax

NUMBERS = Path(__file__).with_name("guard.json")
OCTETS = {"dense": 12_000_000, "sparse": 64_000_000}
"""Octets of text of each density: enough to take some milliseconds."""
ROUNDS = 15
TOLERANCE = 1.5
"""Allowed factor between a ratio and the recorded one; noise is smaller."""


def cpu_seconds(work: Callable[[], int], expected: int) -> float:
    """CPU seconds of all threads for `work`. Raises ValueError if it does not find the expected number."""
    began = time.process_time()
    found = work()
    taken = time.process_time() - began
    if found != expected:
        raise ValueError(f"{found:,} found instead of {expected:,}")
    return taken


def measure(kind: str, folder: Path) -> dict[str, float]:
    """Ratios for one kind of text; `folder` is for temporary files."""
    texts, counts = zip(*pieces(OCTETS[kind], DENSITIES[kind]), strict=True)
    text, expected = "".join(texts).encode(), sum(counts)
    file = folder / kind
    file.write_bytes(text)
    octets = np.frombuffer(text, np.uint8)
    pattern = regex.compile(PATTERN.encode(), regex.IGNORECASE)
    scanner = Scanner(Grammar(get_syntax("rfc2141"), count_lines=False))
    options = Options(jobs=1)
    ours: dict[str, Callable[[], int]] = {
        f"{kind} kernel": lambda: sum(len(matches) for matches in scanner.scan_octets(octets)),
        f"{kind} pipeline": lambda: run([str(file)], options, Outputs(classes=lambda _: None)).occurrences,
    }
    ratios: dict[str, list[float]] = {name: [] for name in ours}
    for work in ours.values():  # not measured: compiles, fills caches
        cpu_seconds(work, expected)
    for _ in range(ROUNDS):
        theirs = cpu_seconds(lambda: sum(1 for _ in pattern.finditer(text)), expected)
        for name, work in ours.items():
            ratios[name].append(cpu_seconds(work, expected) / theirs)
    return {name: statistics.median(of_name) for name, of_name in ratios.items()}


def main(words: list[str] | None = None) -> int:
    """Measure, then record or compare; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the ratios instead of comparing them")
    parser.add_argument("--numbers", type=Path, default=NUMBERS, metavar="FILE", help="default: guard.json beside this")
    arguments = parser.parse_args(words)
    if not (arguments.record or arguments.numbers.exists()):
        parser.error(f"{arguments.numbers}: not there; --record writes it")
    with tempfile.TemporaryDirectory() as folder:
        measured = {name: ratio for kind in OCTETS for name, ratio in measure(kind, Path(folder)).items()}
    if arguments.record:
        rounded = {name: float(f"{ratio:.3g}") for name, ratio in measured.items()}
        arguments.numbers.write_text(json.dumps({"release": __version__, "ratios": rounded}, indent=1) + "\n")
    recorded = json.loads(arguments.numbers.read_text())
    worse = 0
    for name, ratio in measured.items():
        was = recorded["ratios"][name]
        slower = ratio > TOLERANCE * was
        worse += slower
        told = f", more than {TOLERANCE} times as much" if slower else ""
        print(f"{name}: {ratio:.3g} of regex, {was:.3g} in {recorded['release']}{told}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
