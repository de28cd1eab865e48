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
    """What a stage of a run (a key of `STAGES`) has used so far: CPU time, elapsed time, and its bytes or rows."""

    cpu: float = 0.0
    """Seconds of CPU time of all threads that have left the stage."""
    wall: float = 0.0
    """Seconds in which at least one thread was in the stage; meaningful only while `threads` is 0."""
    amount: int = 0
    """Bytes or rows, in the unit of `STAGES`."""
    threads: int = 0
    """Number of threads that are in the stage now."""


class Timings:
    """Counter of the CPU time of all threads together, the elapsed time, and the bytes or rows of each stage of a run.

    A stage is a key of `STAGES`, for example "scan". All methods may be called by several threads.
    """

    def __init__(self) -> None:
        self.spent = {stage: Spent() for stage in STAGES}
        """Stage -> what the stage has used."""
        self.start = time.process_time()
        """Seconds of CPU time that the process took before the run."""
        self._began = time.monotonic()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Context manager that adds to a stage the CPU time that this thread uses inside the context, and the elapsed
        time. Elapsed time in which several threads are inside contexts of the same stage counts once.
        """
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
        """Yield the items, unchanged. The time that `items` needs to make each item is added to the CPU time and the
        elapsed time of the stage; the time of the caller between two items is not. The items are not counted.
        """
        while True:
            with self.measure(stage):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report, without LF: for each stage CPU seconds, elapsed seconds, and bytes or rows.

        The first line, `start`, has the CPU seconds of the process before the run. The last two are `rest`, the CPU
        seconds of the run outside of all stages, and `all`: all CPU seconds of the process, and the seconds of the run.
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
    """Thread pool that starts functions in the order of submission, and measures their time by stage (`STAGES`).

    A context manager: the exit waits for the functions that run, and cancels those that have not started.
    """

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
        self._executor.shutdown(cancel_futures=True)

    def submit(
        self,
        stage: str,
        work: Callable[_Parameters, _Result],
        *arguments: _Parameters.args,
        **named: _Parameters.kwargs,
    ) -> Future[_Result]:
        """Let the next free thread call `work(*arguments, **named)`, and add the time of the call to a stage.

        Returns at once the future of the result; `result()` of the future raises the errors of `work`.
        """

        def measured() -> _Result:
            with self.timings.measure(stage):
                return work(*arguments, **named)

        return self._executor.submit(measured)

    def results(self, stage: str, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield `work(item)` for each item, in the order of the items. Threads call `work`; up to `jobs` + 1 calls are
        pending at a time, so items are taken only as results are taken.

        The time of the calls is added to the stage. An error of `work` is raised instead of its result, and ends the
        iterator.
        """
        pending: deque[Future[_Result]] = deque()
        for item in items:
            pending.append(self.submit(stage, work, item))
            if len(pending) > self.jobs:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
