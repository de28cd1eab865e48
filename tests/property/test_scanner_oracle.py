"""The compiled scanner finds what the oracle finds, however the text is delivered."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle import SYNTAXES, Pieces, oracle, records_of
from tests.strategies import (
    CLOSING,
    EXCLUDED,
    JOINTS,
    LETTERS,
    MARKS,
    NIDS,
    SCHEMES,
    SETTINGS,
    cuttings,
    octets,
    urn_pairs,
)
from urnscan.scanner import MAX_LENGTH, Grammar, Scanner
from urnscan.syntax import get_syntax

ROOT = Path(__file__).parents[2]
MODES = [
    (syntax, trim, keep_query)
    for syntax, trim, keep_query in product(SYNTAXES, (False, True), (False, True))
    if not keep_query or syntax == "rfc2141bis-03"
]
modes = pytest.mark.parametrize(("syntax", "trim", "keep_query"), MODES)
max_lengths = st.one_of(st.just(MAX_LENGTH), st.integers(7, 60))


def scanner_of(syntax: str, trim: bool, max_length: int, keep_query: bool, **sizes: int) -> Scanner:
    return Scanner(Grammar(get_syntax(syntax), max_length=max_length, trim=trim, keep_query=keep_query), **sizes)


def check_totals(scanner: Scanner, text: bytes) -> None:
    assert scanner.octets == len(text)
    assert scanner.lines == text.count(b"\n")


def check(
    text: bytes, syntax: str, trim: bool, keep_query: bool, max_length: int, block: int, rows: int, sizes: list[int]
) -> None:
    """Kernel and oracle agree on a text in memory and on a stream, twice over with the same scanner."""
    expected = oracle(text, syntax, trim=trim, max_length=max_length, keep_query=keep_query)
    scanner = scanner_of(syntax, trim, max_length, keep_query, block=block, rows=rows)
    assert records_of(scanner.scan_octets(np.frombuffer(text, np.uint8)), rows) == expected
    check_totals(scanner, text)
    assert records_of(scanner.scan(Pieces(text, sizes)), rows) == expected
    check_totals(scanner, text)


@modes
class TestKernelIsTheOracle:
    """RFC 2141 §2; RFC 8141 §2; rfc2141bis-03 §2: one text has one result."""

    @SETTINGS
    @given(text=octets, max_length=max_lengths, rows=st.integers(1, 5))
    @example(text=b"urn:a1:b%2cde", max_length=9, rows=1).via("the cut falls inside a %HH")
    @example(text=b"urn:a1:b;urn:c1:d", max_length=12, rows=1).via("the cut falls inside ';urn:'")
    def test_in_memory(self, syntax, trim, keep_query, text, max_length, rows):
        expected = oracle(text, syntax, trim=trim, max_length=max_length, keep_query=keep_query)
        scanner = scanner_of(syntax, trim, max_length, keep_query, rows=rows)
        assert records_of(scanner.scan_octets(np.frombuffer(text, np.uint8)), rows) == expected
        check_totals(scanner, text)

    @SETTINGS
    @given(text=octets, max_length=max_lengths, rows=st.integers(1, 5), block=st.integers(1, 40), sizes=cuttings)
    def test_as_a_stream(self, syntax, trim, keep_query, text, max_length, rows, block, sizes):
        expected = oracle(text, syntax, trim=trim, max_length=max_length, keep_query=keep_query)
        scanner = scanner_of(syntax, trim, max_length, keep_query, block=block, rows=rows)
        assert records_of(scanner.scan(Pieces(text, sizes)), rows) == expected
        check_totals(scanner, text)

    @SETTINGS
    @given(texts=st.lists(octets, min_size=2, max_size=3), max_length=max_lengths, sizes=cuttings)
    def test_one_scanner_for_many_texts(self, syntax, trim, keep_query, texts, max_length, sizes):
        """Nothing of one text is left for the next, not even when a scan is given up."""
        scanner = scanner_of(syntax, trim, max_length, keep_query, block=16, rows=2)
        for text in texts:
            next(scanner.scan(Pieces(text, sizes)), None)
            expected = oracle(text, syntax, trim=trim, max_length=max_length, keep_query=keep_query)
            assert records_of(scanner.scan(Pieces(text, sizes)), 2) == expected
            check_totals(scanner, text)


@pytest.mark.parametrize("syntax", SYNTAXES)
class TestWellFormed:
    """A URN that stands alone is found whole, with its canonical form."""

    @SETTINGS
    @given(data=st.data())
    def test_found_whole(self, syntax, data):
        spelled, canonical = data.draw(urn_pairs(syntax))
        scanner = scanner_of(syntax, False, MAX_LENGTH, False)
        (found,) = records_of(scanner.scan_octets(np.frombuffer(b" " + spelled.encode() + b"\n", np.uint8)))
        assert (found.start, found.text, found.canonical) == (1, spelled.encode(), canonical.encode())
        assert found.stop == ord("\n")


def pseudo_random_texts(number: int) -> list[tuple[bytes, random.Random]]:
    """Texts like those of the strategy, the same in every run, each with a generator for what else is drawn."""
    texts = []
    for seed in range(number):
        drawn = random.Random(seed)
        pieces = []
        for _ in range(drawn.randrange(12)):
            if drawn.random() < 0.5:
                pieces += [drawn.choice(SCHEMES), drawn.choice(NIDS), b":"]
            groups = drawn.choices([LETTERS, MARKS, CLOSING, JOINTS, EXCLUDED, SCHEMES], k=drawn.randrange(6))
            pieces += [drawn.choice(group) for group in groups]
            if drawn.random() < 0.1:
                pieces.append(drawn.choice([b"x", b" ", b"."]) * drawn.randrange(150))
        texts.append((b"".join(pieces), drawn))
    return texts


def check_pseudo_random_texts(number: int) -> None:
    for text, drawn in pseudo_random_texts(number):
        max_length = drawn.choice([MAX_LENGTH, drawn.randint(7, 60)])
        block, rows = drawn.randint(1, 40), drawn.randint(1, 5)
        sizes = [drawn.randint(1, 20) for _ in range(3)]
        for syntax, trim, keep_query in MODES:
            check(text, syntax, trim, keep_query, max_length, block, rows, sizes)


class TestPseudoRandomTexts:
    """The same texts for the compiled kernel and for the plain Python that it is compiled from."""

    def test_as_configured(self):
        check_pseudo_random_texts(1000)

    def test_without_compiling(self):
        """In plain Python numpy warns of what overflows; nothing does."""
        script = "from tests.property import test_scanner_oracle as t; t.main_without_compiling(300)"
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr[-4000:]
        assert run.stdout == "300 texts\n"


def main_without_compiling(number: int) -> None:
    """What the subprocess runs."""
    assert numba.config.DISABLE_JIT
    warnings.simplefilter("error")
    check_pseudo_random_texts(number)
    sys.stdout.write(f"{number} texts\n")
