"""Classes by their counts: the same as Python sorts them, also if keys go to disk."""

from __future__ import annotations

import random
from collections import Counter
from unittest import mock

import pytest

from tests.grouping.test_out_of_core import Occurrence, partial_rows
from urnscan.grouping import out_of_core
from urnscan.grouping.by_count import by_count
from urnscan.grouping.out_of_core import Grouping
from urnscan.pool import Pool
from urnscan.tables.schemas import FREQUENCIES


def counted(urns, folder, memory):
    """The (urn, occurrence_count) pairs that `by_count` gives for these occurrences."""
    with Pool(2) as pool:
        first, second = (Grouping(memory, pool, lambda: folder) for _ in range(2))
        for start in range(0, len(urns), 100):
            rows = [Occurrence(urn, urn, start) for urn in urns[start : start + 100]]
            first.add(partial_rows(rows))
        batches = list(by_count(first.classes(lambda rows: rows), second))
    assert all(batch.schema.equals(FREQUENCIES) for batch in batches)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("memory", [10**9, 1], ids=["in memory", "on disk"])
def test_most_frequent_first_then_by_name(tmp_path, memory):
    """Counts of more digits come first; equal counts are in the order of bytes, in which capitals come first."""
    draw = random.Random(3)
    names = [f"urn:{nid}:{nss}" for nid in ("ab", "isbn", "a-1") for nss in ("x", "X", "x0", "0" * 40, "%C3%A9")]
    urns = [name for name in names for _ in range(draw.choice([1, 1, 2, 9, 10, 99, 100]))]
    draw.shuffle(urns)
    with mock.patch.object(out_of_core, "_RANGE", 64):
        found = counted(urns, tmp_path, memory)
    assert found == sorted(Counter(urns).items(), key=lambda item: (-item[1], item[0].encode()))
    assert list(tmp_path.iterdir()) == []


def test_nothing(tmp_path):
    assert counted([], tmp_path, 10**9) == []
