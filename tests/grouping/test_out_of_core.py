"""Grouping by examples; and what it must give, said a second time in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from tests.support.spelled import spelled
from urnscan.errors import FatalError
from urnscan.grouping import classes as adding
from urnscan.grouping import out_of_core as grouping
from urnscan.grouping.classes import MAX_SPELLINGS, add_up, classes_of
from urnscan.grouping.out_of_core import Grouping
from urnscan.pool import Pool
from urnscan.tables.schemas import GROUPED, PARTIAL, SINGLE
from urnscan.urn.problems import OF_SPELLINGS
from urnscan.urn.syntax import get_syntax


class Occurrence(NamedTuple):
    """What grouping is told of an occurrence."""

    urn: str
    text: str
    source: int
    member: str | None = None
    start: int = 0


def plain_classes(occurrences, syntax=None):
    """The classes of occurrences, as the contract's table of classes defines them; `first_source` by its place, and
    `marks` by a syntax.
    """
    classes = {}
    for occurrence in occurrences:
        classes.setdefault(occurrence.urn, []).append(occurrence)
    rows = []
    for urn in sorted(classes, key=str.encode):
        found = classes[urn]
        counts = Counter(occurrence.text for occurrence in found)
        spellings = sorted(counts.items(), key=lambda spelling: (-spelling[1], spelling[0].encode()))
        rows.append(
            {
                "urn": urn,
                "occurrence_count": len(found),
                "source_count": len({occurrence.source for occurrence in found}),
                "spelling_count": len(spellings),
                "spellings": [{"text": text, "count": count} for text, count in spellings[:100]],
                "first_source": found[0].source,
                "first_member": found[0].member,
                "first_start": found[0].start,
                "marks": _mark(counts, syntax),
            }
        )
    return rows


def _mark(texts, syntax):
    """The problems of spellings, as a set of bits."""
    problems = {code for text in texts for code in spelled(text, syntax)[1]} if syntax else ()
    return sum(1 << OF_SPELLINGS.index(code) for code in problems)


def partial_rows(occurrences, schema=SINGLE):
    """Occurrences as rows of their own."""
    return pa.RecordBatch.from_pylist(
        [
            {
                "urn": occurrence.urn,
                "text": "" if occurrence.text == occurrence.urn else occurrence.text,
                "occurrence_count": 1,
                "sources": 1,
                "first_source": occurrence.source,
                "last_source": occurrence.source,
                "first_member": occurrence.member,
                "first_start": occurrence.start,
            }
            for occurrence in occurrences
        ],
        schema,
    )


def batches_of(occurrences, sizes):
    """Occurrences in batches of these sizes, over and over; every third batch is of rows that were added up before."""
    start = number = 0
    while start < len(occurrences):
        size = sizes[number % len(sizes)]
        yield partial_rows(occurrences[start : start + size], PARTIAL if number % 3 == 2 else SINGLE)
        start += size
        number += 1


def grouped(batches, folder, *, memory=10**9, jobs=1, syntax=None):
    """What Grouping makes of the batches, one list of rows for each batch of its own.

    It must clean up, and tell of as many rows as it said that it had.
    """
    asked, told = [], []

    def spill_folder():
        asked.append(folder)
        return Path(folder)

    with Pool(jobs) as pool:
        groups = Grouping(memory, pool, spill_folder)
        for batch in batches:
            groups.add(batch)
        spilled = bool(asked)
        assert any(Path(folder).iterdir()) == spilled
        total = groups.complete()
        results = []
        for rows in groups.classes(lambda rows: rows, told.append, syntax and get_syntax(syntax)):
            rows.validate(full=True)
            assert rows.schema.equals(GROUPED)
            results.append(rows.to_pylist())
        assert sum(told) == total
        assert all(rows >= 0 for rows in told)
    assert not any(Path(folder).iterdir())
    return results


def all_rows(results):
    return [row for rows in results for row in rows]


def many(total, classes, *, sources=50, seed=1):
    """Occurrences as they come in a scan: sources in their order, spellings of all sorts, some with members."""
    chance = random.Random(seed)
    places = sorted(chance.randrange(sources) for _ in range(total))
    occurrences = []
    for start, source in enumerate(places):
        urn = f"urn:a:{chance.randrange(classes)}%2C"
        text = chance.choice([urn, urn, urn, urn.replace("%2C", "%2c"), urn.upper(), urn.replace("a", "A")])
        member = chance.choice([None, f"member {source}"])
        occurrences.append(Occurrence(urn, text, source, member, start))
    return occurrences


@pytest.fixture
def small(monkeypatch):
    """Chunks, ranges and slices of so few bytes that a test makes many."""

    def set_sizes(chunk=1, cut=300, first=1):
        monkeypatch.setattr(grouping, "_CHUNK", chunk)
        monkeypatch.setattr(grouping, "_SLICE", cut)
        monkeypatch.setattr(grouping, "_FIRST", first)
        monkeypatch.setattr(grouping, "_RANGE", cut)

    return set_sizes


class TestClass:
    """Contract, `CLASSES.parquet`, column by column."""

    def one(self, *occurrences):
        (row,) = classes_of(add_up([partial_rows(occurrences)]), None).to_pylist()
        assert [row] == plain_classes(occurrences)
        return row

    def test_count(self):
        urn = "urn:a:b"
        assert self.one(*[Occurrence(urn, urn, 0, start=start) for start in range(5)])["occurrence_count"] == 5

    def test_source_count(self):
        """Distinct sources, however often and with whatever spellings they hold it."""
        urn = "urn:a:b"
        texts = ["urn:a:b", "URN:a:b", "Urn:A:b"]
        occurrences = [Occurrence(urn, text, source) for source in (0, 3, 7) for text in texts * 2]
        assert self.one(*occurrences)["source_count"] == 3

    def test_spellings_most_frequent_first_then_by_text(self):
        urn = "urn:a:%2C"
        texts = ["urn:a:%2c", "URN:a:%2C", "urn:a:%2C", "urn:A:%2C", "URN:a:%2C", "urn:A:%2C"]
        row = self.one(*[Occurrence(urn, text, 0) for text in texts])
        assert row["spellings"] == [
            {"text": "URN:a:%2C", "count": 2},
            {"text": "urn:A:%2C", "count": 2},
            {"text": "urn:a:%2C", "count": 1},
            {"text": "urn:a:%2c", "count": 1},
        ]

    @pytest.mark.parametrize("texts", [["urn:a:%2c", "urn:a:%2C"], ["URN:a:%2C", "urn:a:%2C"], ["urn:a:%2C"]])
    def test_canonical_form_stands_in_its_place_among_the_spellings(self, texts):
        """It is stored as an empty text, and is not sorted as one."""
        row = self.one(*[Occurrence("urn:a:%2C", text, 0) for text in texts])
        assert [spelling["text"] for spelling in row["spellings"]] == sorted(texts)

    def test_canonical_form_that_was_never_found_is_no_spelling(self):
        row = self.one(Occurrence("urn:a:b", "URN:a:b", 0), Occurrence("urn:a:b", "uRN:a:b", 0))
        assert [spelling["text"] for spelling in row["spellings"]] == ["URN:a:b", "uRN:a:b"]

    def test_first_occurrence_in_the_order_of_the_inputs(self):
        """Not that of the first spelling, and not the one with the smallest start."""
        row = self.one(
            Occurrence("urn:a:b", "urn:A:b", 2, "member 2", 900),
            Occurrence("urn:a:b", "urn:a:b", 3, None, 5),
            Occurrence("urn:a:b", "URN:a:b", 4, "member 4", 0),
        )
        assert (row["first_source"], row["first_member"], row["first_start"]) == (2, "member 2", 900)

    @pytest.mark.parametrize("total", [99, 100, 101, 150])
    def test_first_hundred_spellings(self, total):
        """All are counted, a hundred are listed: the most frequent, then by text."""
        assert MAX_SPELLINGS == 100
        urn = "urn:a:%2C" * 8
        texts = [
            "".join("urn:a:%2c" if number >> bit & 1 else "urn:a:%2C" for bit in range(8)) for number in range(total)
        ]
        occurrences = [Occurrence(urn, text, 0) for number, text in enumerate(texts) for _ in range(1 + number % 3)]
        random.Random(total).shuffle(occurrences)
        row = self.one(*occurrences)
        assert row["spelling_count"] == total
        assert len(row["spellings"]) == min(total, 100)

    def test_sorted_by_bytes(self):
        urns = ["urn:a:b", "urn:a:B", "urn:a:", "urn:a-:b", "urn:a:b~", "urn:a:b0", "urn:aa:b", "urn:a:%00", "urn:a:b%"]
        rows = classes_of(add_up([partial_rows([Occurrence(urn, urn, 0) for urn in urns])]), None)
        assert rows.column("urn").to_pylist() == sorted(urns, key=str.encode)

    def test_text_of_another_class_is_another_spelling(self):
        """The same spelling can stand in two classes only by its canonical form: they are kept apart."""
        occurrences = [Occurrence("urn:a:b", "urn:a:c", 0), Occurrence("urn:a:c", "urn:a:c", 0)]
        rows = classes_of(add_up([partial_rows(occurrences)]), None).to_pylist()
        assert rows == plain_classes(occurrences)

    def test_more_bytes_than_an_array_holds(self, monkeypatch):
        """One clear line, and no offsets that overflow."""
        rows = partial_rows([Occurrence("urn:a:b", "URN:a:b", 0)])
        byte_count = len("urn:a:b" + "URN:a:b")
        for most, is_too_much in ((byte_count + 200, False), (byte_count, True)):  # buffers of Arrow are padded to 64
            monkeypatch.setattr(adding, "_MAX_BYTES", most)
            if is_too_much:
                with pytest.raises(FatalError, match="more than 2 GiB in all; a lower --max-length cuts them"):
                    classes_of(add_up([rows, rows]), None)
            else:
                assert classes_of(add_up([rows, rows]), None).num_rows == 1

    def test_more_bytes_than_an_array_of_spellings_holds(self, monkeypatch):
        """URNs and texts may each fit into an array, and the spellings made of both may not."""
        added = add_up([partial_rows([Occurrence("urn:a:b", "URN:a:b", 0), Occurrence("urn:a:c", "urn:a:c", 0)])])
        byte_count = len("URN:a:b" + "urn:a:c")
        monkeypatch.setattr(adding, "_MAX_BYTES", byte_count + 1)
        assert classes_of(added, None).num_rows == 2
        monkeypatch.setattr(adding, "_MAX_BYTES", byte_count)
        with pytest.raises(FatalError, match="more than 2 GiB in all; a lower --max-length cuts them"):
            classes_of(added, None)

    def test_nothing(self):
        assert classes_of(add_up([]), None).num_rows == 0
        assert classes_of(add_up([]), None).schema.equals(GROUPED)


class TestOutOfCore:
    """Contract: the same classes "whatever `-j`, `--memory` or the machine"; grouping spills to disk past its memory."""

    def test_nothing(self, tmp_path):
        assert all_rows(grouped([], tmp_path)) == []

    @pytest.mark.full
    @pytest.mark.parametrize("jobs", [1, 2, 5])
    @pytest.mark.parametrize("memory", [1, 150_000, 10**9])
    def test_many_runs(self, small, tmp_path, jobs, memory):
        small(chunk=50_000, cut=25_000, first=100_000)
        occurrences = many(8_000, 1_500)
        results = grouped(batches_of(occurrences, [700, 1, 55]), tmp_path, memory=memory, jobs=jobs)
        assert all_rows(results) == plain_classes(occurrences)
        assert len(results) > 5

    @pytest.mark.full
    def test_default_sizes(self, tmp_path):
        occurrences = many(20_000, 15_000)
        results = grouped(batches_of(occurrences, [3_000]), tmp_path)
        assert all_rows(results) == plain_classes(occurrences)

    def test_spills_past_its_memory_and_not_before(self, small, tmp_path):
        small(chunk=10_000, cut=50_000)
        occurrences = many(2_000, 500)
        byte_count = partial_rows(occurrences).nbytes
        for memory, spills in ((20 * byte_count, False), (byte_count // 20, True)):
            asked = []
            with Pool(1) as pool:
                groups = Grouping(memory, pool, lambda asked=asked: asked.append(1) or tmp_path)
                for batch in batches_of(occurrences, [50]):
                    groups.add(batch)
                assert bool(asked) is bool(list(tmp_path.iterdir())) is spills
                assert all_rows(rows.to_pylist() for rows in groups.classes(lambda rows: rows)) == plain_classes(
                    occurrences
                )
            assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("memory", [1, 10**9])
    def test_class_that_is_larger_than_a_slice(self, small, tmp_path, memory):
        """Rows of one key stay together, however many blocks of however many runs they fill."""
        small(chunk=1, cut=100)
        spellings = [f"urn:a:{'%2c' * i}{'%2C' * (9 - i)}" for i in range(9)]
        occurrences = [
            Occurrence(urn, text, source, start=start)
            for source in range(4)
            for urn, texts in (
                ("urn:a:" + "%2C" * 9, spellings),
                ("urn:a:", ["urn:a:"]),
                ("urn:b:", ["urn:b:", "URN:b:"]),
            )
            for start, text in enumerate(texts)
        ]
        results = grouped(batches_of(occurrences, [5, 12]), tmp_path, memory=memory, jobs=2)
        assert all_rows(results) == plain_classes(occurrences)

    @pytest.mark.parametrize("memory", [1, 10**9])
    def test_class_with_more_than_a_hundred_spellings(self, small, tmp_path, memory):
        """The hundred are chosen when all is known, not in each run."""
        small(chunk=2_000, cut=500)
        chance = random.Random(3)
        urn = "urn:a:" + "%2C" * 8
        texts = ["urn:a:" + "".join("%2c" if number >> bit & 1 else "%2C" for bit in range(8)) for number in range(256)]
        occurrences = [
            Occurrence(urn, chance.choice(texts), source, None, start) for source in range(10) for start in range(120)
        ]
        (row,) = all_rows(grouped(batches_of(occurrences, [40]), tmp_path, memory=memory, jobs=2))
        assert [row] == plain_classes(occurrences)
        assert row["spelling_count"] > 200
        assert len(row["spellings"]) == 100

    @pytest.mark.full
    @pytest.mark.parametrize("memory", [1, 10**9])
    def test_long_urns(self, small, tmp_path, memory):
        """Semantics §3: memory is bounded. What is grouped at once is bounded in bytes, not in rows."""
        small(chunk=100_000, cut=50_000, first=1 << 30)
        occurrences = [
            Occurrence(urn, text, source, None, source)
            for source in range(3)
            for urn in (f"urn:a:{number:04}{'%2C' * 1_000}" for number in range(60))
            for text in (urn, urn.upper())
        ]
        results = grouped(batches_of(occurrences, [5]), tmp_path, memory=memory, jobs=2)
        assert all_rows(results) == plain_classes(occurrences)
        assert max(len(rows) for rows in results) < 30

    def test_source_that_is_cut_by_the_end_of_a_run_counts_once(self, small, tmp_path):
        small(chunk=1)
        occurrences = [Occurrence("urn:a:b", "urn:a:b", source, None, start) for source in (0, 1) for start in range(3)]
        (row,) = all_rows(grouped(batches_of(occurrences, [1]), tmp_path, memory=1))
        assert (row["occurrence_count"], row["source_count"]) == (6, 2)

    def test_what_finish_makes_of_them(self, small, tmp_path):
        """`finish` is called with each batch, and its results come in the order of the keys."""
        small(chunk=500, cut=300, first=9_000)
        occurrences = many(500, 200)
        with Pool(4) as pool:
            groups = Grouping(10**9, pool, lambda: tmp_path)
            for batch in batches_of(occurrences, [7]):
                groups.add(batch)
            results = list(groups.classes(lambda rows: rows.column("urn").to_pylist()))
        assert all_rows(results) == sorted({occurrence.urn for occurrence in occurrences})
        assert len(results) > 10

    def test_error_of_finish_arrives(self, tmp_path):
        def fail(_rows):
            raise ZeroDivisionError

        with Pool(1) as pool:
            groups = Grouping(10**9, pool, lambda: tmp_path)
            groups.add(partial_rows([Occurrence("urn:a:b", "urn:a:b", 0)]))
            with pytest.raises(ZeroDivisionError):
                list(groups.classes(fail))

    def test_results_do_not_pile_up(self, small, tmp_path):
        """Only so many slices are worked at ahead as there are threads."""
        small(chunk=10_000, cut=1, first=1 << 30)
        finished = []
        with Pool(2) as pool:
            groups = Grouping(10**9, pool, lambda: tmp_path)
            groups.add(partial_rows([Occurrence(f"urn:a:{number}", f"urn:a:{number}", 0) for number in range(3_000)]))
            results = groups.classes(lambda rows: finished.append(rows) or rows)
            for taken, _ in enumerate(results, 1):
                assert len(finished) <= taken + 3
        assert len(finished) > 100
