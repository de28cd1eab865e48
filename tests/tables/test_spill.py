"""Rows that may be more than memory holds come back as they were added, wherever they were meanwhile."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urnscan.errors import FatalError
from urnscan.tables.spill import Spilled, SpilledParts

SCHEMA = pa.schema([("urn", pa.string())])


def rows(*urns):
    return pa.RecordBatch.from_arrays([pa.array(urns, pa.string())], schema=SCHEMA)


@given(steps=st.lists(st.one_of(st.lists(st.text(max_size=5), max_size=3), st.just("spill")), max_size=8))
def test_all_rows_in_their_order_as_often_as_they_are_wanted(steps):
    """Spilled never, once or again and again; `data` are those in memory."""
    spilled = Spilled(SCHEMA, lambda: Path(tempfile.gettempdir()))
    added, in_memory = [], []
    for step in steps:
        if step == "spill":
            spilled.spill()
            in_memory = []
        else:
            spilled.add(rows(*step))
            added += step
            in_memory.append(rows(*step).nbytes)
        assert spilled.byte_count == sum(in_memory)
    for _ in range(2):
        assert [urn for batch in spilled.batches() for urn in batch.column("urn").to_pylist()] == added
    spilled.close()


def test_all_rows_again_after_some_of_them():
    """Reading anew closed the stream of the writer once more, which wrote its end over the rows."""
    spilled = Spilled(SCHEMA, lambda: Path(tempfile.gettempdir()))
    for number in range(5):
        spilled.add(rows(*[f"urn:a:{number}"] * 1_000))
    spilled.spill()
    some = spilled.batches()
    next(some)
    for _ in range(2):
        assert sum(len(batch) for batch in spilled.batches()) == 5_000
    spilled.close()


def test_no_file_where_nothing_is_spilled():
    """The folder is not even asked for."""
    spilled = Spilled(SCHEMA, lambda: pytest.fail("asked for a folder"))
    spilled.add(rows("urn:a:b"))
    assert [batch.to_pydict() for batch in spilled.batches()] == [{"urn": ["urn:a:b"]}]
    spilled.close()


def test_no_disk_left(tmp_path):
    """One clear line: the run ends."""
    spilled = Spilled(SCHEMA, lambda: tmp_path / "missing")
    spilled.add(rows("urn:a:b"))
    with pytest.raises(FatalError, match=r"missing: cannot write temporary data: No such file or directory$"):
        spilled.spill()


@given(
    batches=st.lists(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=3)), max_size=5), max_size=5),
    in_memory=st.sampled_from([0, 20, 1000]),
)
def test_parts_have_their_rows_in_the_order_of_adding(batches, in_memory):
    """Spilled or not: classes and descriptions are joined by their parts."""
    parts = SpilledParts(SCHEMA, 4, in_memory, lambda: Path(tempfile.gettempdir()))
    for batch in batches:
        parts.add(np.array([part for part, _ in batch], np.int32), rows(*[text for _, text in batch]))
    for number in range(4):
        expected = [text for batch in batches for part, text in batch if part == number]
        assert parts.take(number).column("urn").to_pylist() == expected
    parts.close()


def test_parts_share_the_memory():
    """What is in memory is bounded for all parts together, and not for each."""
    asked = []
    parts = SpilledParts(SCHEMA, 2, 1000, lambda: asked.append(1) or Path(tempfile.gettempdir()))
    for _ in range(2):
        parts.add(np.array([0, 1], np.int32), rows("a" * 300, "b" * 300))
    assert len(asked) == 2
    parts.close()
