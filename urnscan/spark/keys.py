"""Keys of rows, by which their ranges are chosen: an executor groups the rows of one range.

Ranges are chosen before a large scan, by the first octets of some tasks (`heads`), so that executors part what they find
at once. When the scan is done, one of 4,096 of its keys tells whether these ranges fit. If they do not, other ranges are
chosen by these keys, and the rows are parted again.
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

SAMPLED = 4096
"""One of so many rows is in the sample."""

_KEY = 1024  # octets of a key in it, at most
_RANGE = 32 << 20  # octets of rows of a range of keys, about
_LEAST = 4 << 20  # the same where they are fewer ranges than cores
_FEW = 2  # ranges fit if there should be up to so many times as many of them
_MANY = 4  # and if they are up to so many times as many, or one of them so many times as large, as it should be

_SHARE = 32 << 20  # octets of inputs for each head
_FEWEST, _MOST = 4, 256  # heads; for fewer it would not be worth a job of its own
_HEAD = 512 << 10  # octets of a head, about
_END = 4 << 20  # the same where nothing is found in the first ones
_SAMPLED_IN_HEAD = 4  # as SAMPLED


@dataclass
class Keys:
    """Some keys of rows."""

    some: list[bytes] = field(default_factory=list)
    octets: int = 0
    """Octets of all the rows."""

    def take(self, rows: pa.RecordBatch, every: int, seed: str) -> None:
        """Take one of `every` keys. The seed chooses the first, so that many small batches are sampled, too."""
        first = zlib.crc32(seed.encode()) % every
        chosen = rows.column("urn").take(number_array(np.arange(first, rows.num_rows, every)))
        self.some += [key.encode()[:_KEY] for key in chosen.to_pylist()]
        self.octets += rows.nbytes

    def add(self, more: Keys) -> None:
        """Add the keys of other rows."""
        self.some += more.some
        self.octets += more.octets

    def ranges(self, cores: int) -> Ranges:
        """Ranges for all the rows, to be grouped by so many cores."""
        most = max(self.octets // _RANGE, min(cores, self.octets // _LEAST), 1)
        return choose_ranges(self.some, most)

    def fit(self, ranges: Ranges, cores: int) -> bool:
        """Tell if the ranges are about as many as these keys would give, and none is much larger than the others."""
        wanted = len(self.ranges(cores))
        counts = Counter(bisect_right(ranges.bounds, key) for key in self.some)
        largest = max((counts[number] for number in counts if not ranges.is_single(number)), default=0)
        is_count = wanted <= _FEW * len(ranges) and len(ranges) <= _MANY * wanted
        return is_count and largest * wanted <= _MANY * len(self.some)


def heads(planned: Sequence[Task], sizes: Sequence[int]) -> list[Task]:
    """Tasks that are evenly spread over the octets of all; parts of files are cut. Empty if there is little to do."""
    ends = list(accumulate(sizes))
    count = min(ends[-1] // _SHARE, _MOST) if ends else 0
    if count < _FEWEST:
        return []
    places = {bisect_right(ends, (2 * number + 1) * ends[-1] // (2 * count)) for number in range(count)}
    chosen = [planned[place] for place in sorted(places)]
    return [
        replace(task, end=min(task.end, task.start + _HEAD)) if isinstance(task, FilePart) else task for task in chosen
    ]


class _Enough(Exception):  # noqa: N818 (it is no error)
    """Ends the reading of a head."""


def keys_of_head(head: Task, options: Options, sizes: Sizes) -> tuple[int, Keys]:
    """Octets that were read of the first ones of a task, and keys of what was found there."""
    keys, read = Keys(), 0

    def on_read(octets: int) -> None:
        nonlocal read
        if read >= _END:
            raise _Enough
        read += octets

    worker = Worker(options, sizes, {"classes"}, on_read)
    with suppress(_Enough):
        for piece in worker.work(head):
            if isinstance(piece, ResultRows) and piece.partial is not None:
                keys.take(piece.partial, _SAMPLED_IN_HEAD, f"{read} {len(keys.some)}")
            if read >= _HEAD:
                break
    return read, keys
