"""Samples of keys (canonical forms), from which ranges of keys are chosen: an executor groups the rows of a range.

A large scan needs ranges from the start, so that executors can split rows by range. At first, ranges are chosen by the
keys in the heads of some tasks. (The head of a task is its first bytes.) After the scan, a sample of all keys shows
whether these ranges fit. If they do not fit, other ranges are chosen by this sample, and the rows are split again.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import pyarrow as pa

from urnscan.compiled.arrow import number_array
from urnscan.grouping.ranges import Ranges, choose_ranges
from urnscan.run.options import Options
from urnscan.run.task_results import ResultRows
from urnscan.run.tasks import FilePart, Sizes, Task
from urnscan.run.worker import Worker

SAMPLE_STEP = 4096
"""One row in 4,096 gives its key (canonical form) to a sample."""

_KEY = 1024
"""Maximum bytes of a key in a sample."""
_RANGE = 32 << 20
"""Approximate bytes of the rows of a range."""
_SMALL_RANGE = 4 << 20
"""Approximate bytes of the rows of a range, if there are fewer ranges than cores."""
_TOO_FEW = 2
"""Ranges do not fit if more than 2 times as many are needed."""
_TOO_MANY = 4
"""Ranges do not fit if there are more than 4 times as many as needed, or if a range has more than 4 times the keys that
a range of the needed number has on average.
"""

_SHARE = 32 << 20
"""Bytes of inputs for each head."""
# For fewer heads, the separate job of Spark would take longer than it saves.
_MIN_HEADS, _MAX_HEADS = 4, 256
_HEAD = 512 << 10
"""Approximate bytes of a head."""
_MAX_HEAD = 4 << 20
"""Maximum bytes of a head. A head is longer than _HEAD if there are no URNs in the first bytes."""
_HEAD_SAMPLE_STEP = 4
"""One row in 4 gives its key to the sample of a head."""


@dataclass
class KeySample:
    """A sample of the keys (canonical forms) of rows, and the number of bytes of all these rows."""

    keys: list[bytes] = field(default_factory=list)
    """The first 1,024 bytes of each key of the sample, not sorted."""
    byte_count: int = 0
    """Number of bytes of all rows, not only of the sample."""

    def add_rows(self, rows: pa.RecordBatch, step: int, seed: str) -> None:
        """Add the key (column `urn`) of every `step`-th row to the sample, and the bytes of all rows to `byte_count`.
        The seed chooses the first row, below `step`.
        """
        first = zlib.crc32(seed.encode()) % step
        chosen = rows.column("urn").take(number_array(np.arange(first, rows.num_rows, step)))
        self.keys += [key.encode()[:_KEY] for key in chosen.to_pylist()]
        self.byte_count += rows.nbytes

    def add(self, other: KeySample) -> None:
        """Add the sample of other rows to this one; `other` is unchanged."""
        self.keys += other.keys
        self.byte_count += other.byte_count

    def ranges(self, cores: int) -> Ranges:
        """Choose ranges of keys for all rows, by the keys of the sample: about 32 MiB of rows each; smaller, down to 4
        MiB, if there were fewer ranges than cores; a single range for few rows.
        """
        count = max(self.byte_count // _RANGE, min(cores, self.byte_count // _SMALL_RANGE), 1)
        return choose_ranges(self.keys, count)

    def fits(self, ranges: Ranges, cores: int) -> bool:
        """Whether ranges fit the sample: there are at least half and at most 4 times as many as the method `ranges`
        would choose; and no range has more than 4 times as many keys of the sample as those would have on average,
        except a range for a single key.
        """
        wanted = len(self.ranges(cores))
        counts = Counter(bisect_right(ranges.bounds, key) for key in self.keys)
        largest = max((counts[number] for number in counts if not ranges.is_single(number)), default=0)
        does_count_fit = wanted <= _TOO_FEW * len(ranges) and len(ranges) <= _TOO_MANY * wanted
        return does_count_fit and largest * wanted <= _TOO_MANY * len(self.keys)


def choose_heads(planned: Sequence[Task], sizes: Sequence[int]) -> list[Task]:
    """Return the tasks whose heads (first bytes) are to be read: evenly spread over the bytes of all tasks, one for each
    32 MiB; empty if all tasks together have less than 128 MiB.

    A part of a file is shortened to its head. `sizes` has the number of bytes of each task.
    """
    ends = list(accumulate(sizes))
    count = min(ends[-1] // _SHARE, _MAX_HEADS) if ends else 0
    if count < _MIN_HEADS:
        return []
    numbers = {bisect_right(ends, (2 * number + 1) * ends[-1] // (2 * count)) for number in range(count)}
    chosen = [planned[number] for number in sorted(numbers)]
    return [
        replace(task, end=min(task.end, task.start + _HEAD)) if isinstance(task, FilePart) else task for task in chosen
    ]


class _HeadEnd(Exception):  # noqa: N818 (it is not an error)
    """Ends the reading of a head."""


def sample_head(head: Task, options: Options, sizes: Sizes) -> tuple[int, KeySample]:
    """Scan the head of a task: about 512 KiB, or up to 4 MiB until a URN is found. Returns the number of bytes that
    were read, and a sample of the keys (canonical forms) in the head.
    """
    sample, read = KeySample(), 0

    def on_read(byte_count: int) -> None:
        nonlocal read
        if read >= _MAX_HEAD:
            raise _HeadEnd
        read += byte_count

    worker = Worker(options, sizes, {"classes"}, on_read)
    with suppress(_HeadEnd):
        for result in worker.work(head):
            if isinstance(result, ResultRows) and result.partial is not None:
                sample.add_rows(result.partial, _HEAD_SAMPLE_STEP, f"{read} {len(sample.keys)}")
            if read >= _HEAD:
                break
    return read, sample
