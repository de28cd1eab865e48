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

_Given = TypeVar("_Given")
_Result = TypeVar("_Result")
_Parameters = ParamSpec("_Parameters")

STAGES = {"scan": "octet", "ranges": "row", "classes": "row", "encoding": "row", "file": "octet"}
"""The stages of a run, and what is counted in each: reading and scanning; bringing rows into ranges of keys; sorting a range,
adding it up, and judging its classes; encoding row groups of Parquet; writing them.
"""


@dataclass
class Spent:
    """Time and amount that a stage has taken so far."""

    cpu: float = 0.0
    """Seconds of CPU time of all threads."""
    wall: float = 0.0
    """Seconds in which at least one thread was in the stage."""
    amount: int = 0
    """Octets or rows, as `STAGES` says."""
    threads: int = 0
    """Threads that are in the stage now."""


class Timings:
    """Time that the stages of a run take, added up over its threads."""

    def __init__(self) -> None:
        self.spent = {stage: Spent() for stage in STAGES}
        self.start = time.process_time()
        """CPU time of the process before the run."""
        self._began = time.monotonic()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Count the time of this context for a stage."""
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
        """Count octets or rows for a stage."""
        with self._lock:
            self.spent[stage].amount += amount

    def steps(self, stage: str, items: Iterator[_Given]) -> Iterator[_Given]:
        """The items; the time that the iterator takes for them counts for a stage."""
        while True:
            with self.measure(stage):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def lines(self) -> Iterator[str]:
        """A line for each stage: CPU seconds, seconds, octets or rows; then the rest of the process, and all."""
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
    """Threads that do work in the order in which it is given; a context manager, at whose end they stop."""

    def __init__(self, jobs: int) -> None:
        """`jobs` is the number of threads; each starts with its first work."""
        self.jobs = jobs
        """Number of threads. Whoever gives more work than so much at once only fills the memory with results."""
        self.timings = Timings()
        """The time of the work, and of what else the run measures."""
        self._executor = ThreadPoolExecutor(jobs, thread_name_prefix="urnscan-pool")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop when the work that has begun is done; what has not begun is dropped."""
        self._executor.shutdown(cancel_futures=True)

    def submit(
        self, stage: str, work: Callable[_Parameters, _Result], *given: _Parameters.args, **named: _Parameters.kwargs
    ) -> Future[_Result]:
        """Have a thread call the function; its time counts for the stage."""

        def measured() -> _Result:
            with self.timings.measure(stage):
                return work(*given, **named)

        return self._executor.submit(measured)

    def results(self, stage: str, work: Callable[[_Given], _Result], given: Iterable[_Given]) -> Iterator[_Result]:
        """Results of the function for each of `given`, in that order; threads call it, as with `submit`."""
        working: deque[Future[_Result]] = deque()
        for each in given:
            working.append(self.submit(stage, work, each))
            if len(working) > self.jobs:
                yield working.popleft().result()
        while working:
            yield working.popleft().result()
