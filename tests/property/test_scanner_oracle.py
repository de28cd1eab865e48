"""The compiled scanner finds what the oracle finds, however the text is delivered."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.examples import FEW
from tests.support.oracle import SYNTAXES, Pieces, oracle, records_of, rejects, rejects_of
from tests.support.strategies import (
    CLOSING,
    EXCLUDED,
    JOINTS,
    LETTERS,
    LINKS,
    MARKS,
    NIDS,
    SCHEMES,
    any_bytes,
    cuttings,
    urn_pairs,
)
from urnscan.compiled.jit import IS_COMPILED
from urnscan.scanner.blocks import Scanner
from urnscan.scanner.grammar import MAX_LENGTH, Grammar
from urnscan.urn.syntax import get_syntax

ROOT = Path(__file__).parents[2]
MODES = [
    (syntax, trim, keep_query)
    for syntax, trim, keep_query in product(SYNTAXES, (False, True), (False, True))
    if not keep_query or syntax == "rfc2141bis-03"
]
modes = pytest.mark.parametrize(("syntax", "trim", "keep_query"), MODES)
max_lengths = st.one_of(st.just(MAX_LENGTH), st.integers(7, 60))


resolver_tails = st.sampled_from(["keep", "cut"])


def scanner_of(
    syntax: str, trim: bool, max_length: int, keep_query: bool, resolver_tail: str = "keep", **sizes: int
) -> Scanner:
    grammar = Grammar(
        get_syntax(syntax), max_length=max_length, trim=trim, resolver_tail=resolver_tail, keep_query=keep_query
    )
    return Scanner(grammar, **sizes)


def check_totals(scanner: Scanner, text: bytes) -> None:
    assert scanner.byte_count == len(text)
    assert scanner.lines == text.count(b"\n")


def check(
    text: bytes,
    syntax: str,
    trim: bool,
    keep_query: bool,
    tail: str,
    max_length: int,
    block: int,
    rows: int,
    sizes: list[int],
) -> None:
    """Kernel and oracle agree on a text in memory and on a stream, twice over with the same scanner."""
    expected = oracle(text, syntax, trim=trim, resolver_tail=tail, max_length=max_length, keep_query=keep_query)
    scanner = scanner_of(syntax, trim, max_length, keep_query, tail, block=block, rows=rows)
    assert records_of(scanner.scan_bytes(np.frombuffer(text, np.uint8)), rows) == expected
    check_totals(scanner, text)
    assert records_of(scanner.scan(Pieces(text, sizes)), rows) == expected
    check_totals(scanner, text)
    if not keep_query:
        check_rejects(text, syntax, trim, "keep", max_length, block, rows, sizes)


def check_rejects(
    text: bytes, syntax: str, trim: bool, tail: str, max_length: int, block: int, rows: int, sizes: list[int]
) -> None:
    """Kernel and oracle agree on what is none, in memory and in a stream, and what is one stays the same."""
    expected = [
        (
            *(reject.start, reject.line, reject.text),
            *((reject.position, reject.behind) if reject.name else (-1, b"")),
        )
        for reject in rejects(text, syntax, trim=trim, resolver_tail=tail, max_length=max_length)
    ]
    grammar = Grammar(get_syntax(syntax), max_length=max_length, trim=trim, resolver_tail=tail, rejects=True)
    scanner = Scanner(grammar, block=block, rows=rows)
    for scan in (lambda: scanner.scan_bytes(np.frombuffer(text, np.uint8)), lambda: scanner.scan(Pieces(text, sizes))):
        batches = list(scan())
        assert rejects_of(batches) == expected
        assert records_of(batches, rows) == oracle(text, syntax, trim=trim, resolver_tail=tail, max_length=max_length)
        check_totals(scanner, text)


@modes
class TestKernelIsTheOracle:
    """RFC 2141 §2; RFC 8141 §2; rfc2141bis-03 §2: one text has one result."""

    @given(text=any_bytes, tail=resolver_tails, max_length=max_lengths, rows=st.integers(1, 5))
    @example(text=b"urn:a1:b%2cde", tail="keep", max_length=9, rows=1).via("the cut falls inside a %HH")
    @example(text=b"urn:a1:b;urn:c1:d", tail="keep", max_length=12, rows=1).via("the cut falls inside ';urn:'")
    def test_in_memory(self, syntax, trim, keep_query, text, tail, max_length, rows):
        expected = oracle(text, syntax, trim=trim, resolver_tail=tail, max_length=max_length, keep_query=keep_query)
        scanner = scanner_of(syntax, trim, max_length, keep_query, tail, rows=rows)
        assert records_of(scanner.scan_bytes(np.frombuffer(text, np.uint8)), rows) == expected
        check_totals(scanner, text)

    @given(
        text=any_bytes,
        tail=resolver_tails,
        max_length=max_lengths,
        rows=st.integers(1, 5),
        block=st.integers(1, 40),
        sizes=cuttings,
    )
    def test_as_a_stream(self, syntax, trim, keep_query, text, tail, max_length, rows, block, sizes):
        expected = oracle(text, syntax, trim=trim, resolver_tail=tail, max_length=max_length, keep_query=keep_query)
        scanner = scanner_of(syntax, trim, max_length, keep_query, tail, block=block, rows=rows)
        assert records_of(scanner.scan(Pieces(text, sizes)), rows) == expected
        check_totals(scanner, text)

    @given(
        texts=st.lists(any_bytes, min_size=2, max_size=3), tail=resolver_tails, max_length=max_lengths, sizes=cuttings
    )
    def test_one_scanner_for_many_texts(self, syntax, trim, keep_query, texts, tail, max_length, sizes):
        """Nothing of one text is left for the next, not even when a scan is given up."""
        scanner = scanner_of(syntax, trim, max_length, keep_query, tail, block=16, rows=2)
        for text in texts:
            next(scanner.scan(Pieces(text, sizes)), None)
            expected = oracle(text, syntax, trim=trim, resolver_tail=tail, max_length=max_length, keep_query=keep_query)
            assert records_of(scanner.scan(Pieces(text, sizes)), 2) == expected
            check_totals(scanner, text)


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize(("trim", "tail"), [*product((False, True), ("keep", "cut"))])
class TestRejects:
    """What begins like a URN and is none is listed once, however the text is delivered, and hides no match."""

    @FEW
    @given(
        text=any_bytes,
        max_length=max_lengths,
        rows=st.integers(1, 5),
        block=st.one_of(st.integers(1, 40), st.just(300)),
        sizes=cuttings,
    )
    @example(text=b"urn:ab:c%4 urn:%4", max_length=9, rows=1, block=1, sizes=[1]).via("both kinds, and no room for two")
    @example(text=b"urn:ab:c%2", max_length=9, rows=1, block=1, sizes=[1]).via("the end of the text spoils the %HH")
    @example(text=b"urn:ab:c%2C", max_length=9, rows=1, block=1, sizes=[1]).via("a cut before a %HH is no reject")
    @example(text=b"urn:ab:c;urn:ab:d%", max_length=99, rows=1, block=1, sizes=[1]).via("the end of a list")
    @example(text=b"urn:ab:.%x", max_length=99, rows=1, block=1, sizes=[1]).via("trimming drops what ends in a %")
    @example(text=b"urn:" + b"-" * 252 + b"a", max_length=99, rows=1, block=1, sizes=[1]).via("nothing in 256 bytes")
    @example(text=b"urn:" + b"-" * 251 + b"a", max_length=99, rows=1, block=1, sizes=[1]).via("a letter in the 256th")
    @example(text=b"urn:ab:" + b"c" * 300 + b"%", max_length=999, rows=1, block=7, sizes=[7]).via("% past the text")
    @example(text=b"urn:abcdefgh:i", max_length=7, rows=1, block=1, sizes=[1]).via("a URN, but for `max_length`")
    @example(text=b"http://a/urn:ab:c?%x", max_length=99, rows=1, block=1, sizes=[1]).via("a % in the tail")
    @example(text=b"urn:ab:c?d urn:ab:c? urn:ab:c?), urn:ab:c?%", max_length=99, rows=9, block=1, sizes=[1]).via(
        "a lone ?"
    )
    @example(text=b"urn:ab:c?=#d urn:ab:c?+?=d urn:ab:c?=", max_length=99, rows=9, block=1, sizes=[1]).via(
        "nothing in it"
    )
    @example(text=b"urn:ab:c?=/ urn:ab:c?+d?=%zz", max_length=99, rows=9, block=1, sizes=[1]).via("a wrong beginning")
    @example(text=b"urn:ab:c#d#e urn:ab:c?s=d&", max_length=99, rows=9, block=1, sizes=[1]).via("a second # or &")
    @example(text=b"urn:ab:" + b"c" * 300 + b"?=/", max_length=999, rows=1, block=7, sizes=[7]).via("?= past the text")
    @example(text=b"urn:ab:c?=def", max_length=10, rows=1, block=1, sizes=[1]).via("a cut in a component is no reject")
    @example(text=b"http://a/urn:ab:c?d http://a/urn:ab:c?= ", max_length=99, rows=9, block=1, sizes=[1]).via(
        "in a path"
    )
    @example(text=b"http://a/?b=urn:ab:c?s=d&", max_length=99, rows=9, block=1, sizes=[1]).via("in a query")
    @example(text=b"http://a/?b=urn:ab:c?=&", max_length=99, rows=9, block=1, sizes=[1]).via(
        "a tail that cuts a component"
    )
    @example(text=b"urn:ab:c?d;urn:ab:e", max_length=99, rows=9, block=1, sizes=[1]).via("a list")
    @example(text=b"http://a/urn:ab:c%x?", max_length=99, rows=1, block=1, sizes=[1]).via("a % before the tail")
    def test_kernel_is_the_oracle(self, syntax, trim, tail, text, max_length, rows, block, sizes):
        check_rejects(text, syntax, trim, tail, max_length, block, rows, sizes)

    @FEW
    @given(text=any_bytes, rest=any_bytes, sizes=cuttings)
    @example(text=b"urn:ab:c%4,", rest=b"", sizes=[1]).via("a match whose reject runs into the failure")
    @example(text=b"urn:ab.c;urn:ab:c%x,", rest=b"", sizes=[1]).via("a match in a reject that runs into it")
    def test_before_a_failure(self, syntax, trim, tail, text, rest, sizes):
        """The matches that are whole when reading fails are the same with rejects and without; all of these are true."""
        given = []
        for wanted in (False, True):
            grammar = Grammar(get_syntax(syntax), trim=trim, resolver_tail=tail, rejects=wanted)
            scanner = Scanner(grammar, block=16, rows=2)
            pieces, batches = Pieces(text, sizes), []

            def read(view, pieces=pieces):
                any_bytes = pieces(view)
                if not any_bytes:
                    raise ZeroDivisionError
                return any_bytes

            with pytest.raises(ZeroDivisionError):
                batches.extend(scanner.scan(read))
            check_totals(scanner, text)
            given.append(batches)
        assert records_of(given[0]) == records_of(given[1])
        starts = {reject.start for reject in rejects(text + rest, syntax, trim=trim, resolver_tail=tail)}
        assert {start for start, *_ in rejects_of(given[1])} <= starts


@pytest.mark.parametrize("syntax", SYNTAXES)
class TestWellFormed:
    """A URN that stands alone is found whole, with its canonical form."""

    @given(data=st.data())
    def test_found_whole(self, syntax, data):
        spelled, canonical = data.draw(urn_pairs(syntax))
        scanner = scanner_of(syntax, False, MAX_LENGTH, False)
        (found,) = records_of(scanner.scan_bytes(np.frombuffer(b" " + spelled.encode() + b"\n", np.uint8)))
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
            if drawn.random() < 0.2:
                pieces += [drawn.choice(LINKS), drawn.choice(SCHEMES), drawn.choice(NIDS), b":"]
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
            tail = drawn.choice(["keep", "cut"])
            check(text, syntax, trim, keep_query, tail, max_length, block, rows, sizes)


class TestPseudoRandomTexts:
    """The same texts for the compiled kernel and for the plain Python that it is compiled from."""

    @pytest.mark.parametrize("number", [100, pytest.param(500, marks=pytest.mark.full)])
    def test_as_configured(self, number):
        check_pseudo_random_texts(number)

    @pytest.mark.full
    def test_without_compiling(self):
        """In plain Python numpy warns of what overflows; nothing does."""
        script = "from tests.property import test_scanner_oracle as t; t.main_without_compiling(100)"
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr[-4000:]
        assert run.stdout == "100 texts\n"


def main_without_compiling(number: int) -> None:
    """What the subprocess runs."""
    assert not IS_COMPILED
    warnings.simplefilter("error")
    check_pseudo_random_texts(number)
    sys.stdout.write(f"{number} texts\n")
