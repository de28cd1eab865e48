"""Ranges of keys are chosen by the heads of some tasks, and again if they do not fit all keys; and partitions of tasks."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from urnscan.errors import SourceError
from urnscan.grouping.ranges import Ranges
from urnscan.run.options import Options, named_inputs
from urnscan.run.tasks import FileGroup, FilePart, Sizes, tasks
from urnscan.spark.keys import KeySample, choose_heads, sample_head
from urnscan.spark.partitions import partitions_of
from urnscan.stores.input import Input

MIB = 1 << 20


def keys_of(names, data):
    return KeySample([name.encode() for name in names], data)


def test_heads_are_spread_over_the_bytes():
    """A huge file has as many as its share; of parts of files only the first bytes are read."""
    planned = [
        *(FilePart(0, None, number, number + 16 * MIB) for number in range(16)),
        FileGroup(1, ()),
        SourceError("x", "y"),
    ]
    chosen = choose_heads(planned, [16 * MIB] * 16 + [256 * MIB, 0])
    assert len(chosen) == 9, "what has no bytes has no head"
    assert [head.start for head in chosen[:8]] == [1, 3, 5, 7, 9, 11, 13, 15]
    assert all(head.end == head.start + MIB // 2 for head in chosen[:8])
    assert chosen[8] == FileGroup(1, ())


@pytest.mark.parametrize("sizes", [[], [0], [127 * MIB], [MIB] * 127])
def test_no_heads_where_there_is_little_to_do(sizes):
    assert choose_heads([FileGroup(0, ())] * len(sizes), sizes) == []


@pytest.mark.full
@pytest.mark.parametrize("urns", [True, False])
def test_a_head_ends(tmp_path, urns):
    """A file that cannot be cut is read only at its front, in one or two blocks, whether something is found there or not."""
    path = tmp_path / "one.txt"
    path.write_bytes((b"see urn:example:1234567\n" if urns else b"nothing here 1234567....\n") * (2 * MIB))
    options = Options(recover={"wraps"})  # with which files are not cut
    (task,) = tasks(named_inputs([path]), options, (), Sizes())
    read, sample = sample_head(task, options, Sizes())
    assert MIB // 2 <= read <= 16 * MIB < path.stat().st_size // 2
    assert bool(sample.keys) == urns == (sample.byte_count > 0)


def test_ranges_that_fit():
    """Ranges fit if they are about as many as wanted, and about equally large: but for that of a frequent key."""
    names = [f"urn:x:{number:04}" for number in range(1_000)]
    sample = keys_of(names, 8 * 32 * MIB)
    ranges = sample.ranges(2)
    assert len(ranges) == 8
    assert sample.fits(ranges, 2)
    assert sample.fits(Ranges(ranges.bounds[::2]), 2)
    assert not sample.fits(Ranges(ranges.bounds[:1]), 2), "too few"
    assert not sample.fits(Ranges(tuple(sorted(name.encode() for name in names[::20]))), 2), "too many"
    assert not sample.fits(Ranges(tuple(b"urn:a:%d" % number for number in range(7))), 2), "all in the last"
    often = keys_of(names + ["urn:often"] * 9_000, 8 * 32 * MIB)
    assert often.fits(often.ranges(2), 2)


def test_few_rows_are_one_range():
    """However many cores there are, what is grouped in no time is grouped by one."""
    few = keys_of([f"urn:x:{number}" for number in range(1_000)], MIB)
    assert few.ranges(100) == Ranges()
    assert few.fits(Ranges(), 100)


def test_keys_are_cut():
    """A sample of names of 64 KiB would be too much for the driver."""
    sample = KeySample()
    rows = pa.RecordBatch.from_pydict({"urn": ["urn:x:" + "y" * 60_000]})
    sample.add_rows(rows, 1, str(Path()))
    assert [len(key) for key in sample.keys] == [1024]


@pytest.mark.parametrize(
    ("data", "cores", "count"),
    [
        (16 * MIB, 4, 1),  # one task cannot be shared
        (96 * MIB, 2, 2),  # one each
        (1_024 * MIB, 2, 8),  # four each
        (1_024 * MIB, 100, 64),  # as many as there are tasks
        (64 * 1_024 * MIB, 2, 128),  # of 512 MiB
    ],
)
def test_partitions(data, cores, count):
    """Each costs some time of its own, so there are no more of them than are worth it; but each core has one."""
    planned = [FilePart(0, Input("x", None, data), start, start + 16 * MIB) for start in range(0, data, 16 * MIB)]
    found = list(partitions_of(planned, cores))
    assert len(found) == count
    assert [task for _, tasks in found for task in pickle.loads(tasks)] == planned
    assert [first for first, _ in found] == sorted({first for first, _ in found})
