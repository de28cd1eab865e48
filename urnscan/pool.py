"""Threads that the stages of a run share, and the time that each stage takes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, Self, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Parameters = ParamSpec("_Parameters")

STAGES = {"scan": "byte", "ranges": "row", "classes": "row", "encoding": "row", "file": "byte"}
"""The stages of a run, and the unit that is counted in each.

scan: read inputs and scan them. ranges: split rows by ranges of keys. classes: sort the rows of a range, add them up to
classes, and check the classes. encoding: encode row groups of Parquet. file: write row groups.
"""


@dataclass
class Spent:
    """CPU time, time and amount of bytes or rows of a stage (`STAGES`) so far."""

    cpu: float = 0.0
    """Seconds of CPU time of all threads."""
    wall: float = 0.0
    """Seconds in which at least one thread was in the stage."""
    amount: int = 0
    """Bytes or rows, in the unit of `STAGES`."""
    threads: int = 0
    """Number of threads that are in the stage now."""


class Timings:
    """Counter of the CPU time of all threads, the time, and the amount of each stage of a run (a key of `STAGES`)."""

    def __init__(self) -> None:
        self.spent = {stage: Spent() for stage in STAGES}
        self.start = time.process_time()
        """Seconds of CPU time that the process took before the run."""
        self._began = time.monotonic()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Context that adds to a stage the CPU time of this thread inside, and the time while any thread is inside."""
        spent = self.spent[stage]
        with self._lock:
            spent.threads += 1
            if spent.threads == 1:
                spent.wall -= time.monotonic()
        began = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                spent.cpu += time.thread_time() - began
                spent.threads -= 1
                if not spent.threads:
                    spent.wall += time.monotonic()

    def count(self, stage: str, amount: int) -> None:
        """Add bytes or rows to the amount of a stage."""
        with self._lock:
            self.spent[stage].amount += amount

    def steps(self, stage: str, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield the items, unchanged. The time that `items` takes to make each item is added to a stage."""
        while True:
            with self.measure(stage):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report, without LF: for each stage CPU seconds, seconds, and bytes or rows.

        Before them the CPU time before the run; after them the CPU time in no stage, and of the whole process.
        """
        cpu, wall = time.process_time(), time.monotonic() - self._began
        yield f"{'start':9}{self.start:8.2f} s CPU"
        for stage, unit in STAGES.items():
            spent = self.spent[stage]
            amount = f"{spent.amount:,} {unit}{'' if spent.amount == 1 else 's'}"
            yield f"{stage:9}{spent.cpu:8.2f} s CPU{spent.wall:8.2f} s  {amount}"
        rest = cpu - self.start - sum(spent.cpu for spent in self.spent.values())
        yield f"{'rest':9}{rest:8.2f} s CPU"
        yield f"{'all':9}{cpu:8.2f} s CPU{wall:8.2f} s"


class Pool:
    """Thread pool that starts functions in the order of submission; a context manager whose exit stops the threads."""

    def __init__(self, jobs: int) -> None:
        """`jobs` is the maximum number of threads, which start when functions are submitted."""
        self.jobs = jobs
        """Maximum number of threads.

        Callers keep few more functions pending, as results of more only fill the memory.
        """
        self.timings = Timings()
        """The time of the submitted functions by stage, and of other stages that the run measures."""
        self._executor = ThreadPoolExecutor(jobs, thread_name_prefix="urnscan-pool")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the running functions, and cancel the pending functions."""
        self._executor.shutdown(cancel_futures=True)

    def submit(
        self,
        stage: str,
        work: Callable[_Parameters, _Result],
        *arguments: _Parameters.args,
        **named: _Parameters.kwargs,
    ) -> Future[_Result]:
        """Start a call of `work` in a thread, whose time is added to a stage. Returns the future of the result, which
        raises the errors of `work`.
        """

        def measured() -> _Result:
            with self.timings.measure(stage):
                return work(*arguments, **named)

        return self._executor.submit(measured)

    def results(self, stage: str, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield the results of `work` for all items, in the order of the items; threads call `work` ahead.

        At most `jobs` + 1 calls are pending. Raises the errors of `work`.
        """
        pending: deque[Future[_Result]] = deque()
        for item in items:
            pending.append(self.submit(stage, work, item))
            if len(pending) > self.jobs:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
