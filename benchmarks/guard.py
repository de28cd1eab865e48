"""Fail where urnscan has become slower than it was at the last release.

    python benchmarks/guard.py [--record] [--numbers FILE]

What is compared is a ratio: the CPU time of urnscan to that of the `regex` module counting the same text, in the same
process and in turn, so that the machine and its neighbours matter little; the median of several rounds counts. The
kernel is the scanner on text in memory; the pipeline is a whole run, from a file to classes, on one thread.
The recorded ratios stand in guard.json; `--record` writes them anew. Exit status: 0 as fast as recorded, or nearly; 1 not.
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
from urnscan.run.pipeline import run
from urnscan.scanner.blocks import Grammar, Scanner
from urnscan.urn.syntax import get_syntax

NUMBERS = Path(__file__).with_name("guard.json")
OCTETS = {"dense": 12_000_000, "sparse": 64_000_000}
"""How much text of each density: so much that none takes less than some milliseconds."""
ROUNDS = 15
TOLERANCE = 1.5
"""How much worse than recorded a ratio may be; what the noise of a machine does is less."""


def cpu_seconds(work: Callable[[], int], expected: int) -> float:
    """What it takes of all threads of the process. Raises ValueError where it does not find so many."""
    began = time.process_time()
    found = work()
    taken = time.process_time() - began
    if found != expected:
        raise ValueError(f"{found:,} found, not {expected:,}: a fast wrong answer is none")
    return taken


def measure(kind: str, folder: Path) -> dict[str, float]:
    """The ratios on one kind of text; files are written in the folder."""
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
        f"{kind} pipeline": lambda: run([str(file)], options, classes=lambda _: None).occurrences,
    }
    ratios: dict[str, list[float]] = {name: [] for name in ours}
    for work in ours.values():  # what is compiled or loaded once
        cpu_seconds(work, expected)
    for _ in range(ROUNDS):
        theirs = cpu_seconds(lambda: sum(1 for _ in pattern.finditer(text)), expected)
        for name, work in ours.items():
            ratios[name].append(cpu_seconds(work, expected) / theirs)
    return {name: statistics.median(of_name) for name, of_name in ratios.items()}


def main(words: list[str] | None = None) -> int:
    """Measure, then record or compare; the exit status."""
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
