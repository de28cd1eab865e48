"""Threads that the stages of a run share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, Self, TypeVar

_Given = TypeVar("_Given")
_Result = TypeVar("_Result")
_Parameters = ParamSpec("_Parameters")


class Pool:
    """Threads that do work in the order in which it is given; a context manager, at whose end they stop."""

    def __init__(self, jobs: int) -> None:
        """`jobs` is the number of threads; each starts with its first work."""
        self.jobs = jobs
        """Number of threads. Who gives more work than so much at once only fills the memory with results."""
        self._executor = ThreadPoolExecutor(jobs, thread_name_prefix="urnscan-pool")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop when the work that has begun is done; what has not begun is dropped."""
        self._executor.shutdown(cancel_futures=True)

    def submit(
        self, work: Callable[_Parameters, _Result], *given: _Parameters.args, **named: _Parameters.kwargs
    ) -> Future[_Result]:
        """Have a thread call the function."""
        return self._executor.submit(work, *given, **named)

    def results(self, work: Callable[[_Given], _Result], given: Iterable[_Given]) -> Iterator[_Result]:
        """Results of the function for each of `given`, in that order; threads call it."""
        working: deque[Future[_Result]] = deque()
        for each in given:
            working.append(self.submit(work, each))
            if len(working) > self.jobs:
                yield working.popleft().result()
        while working:
            yield working.popleft().result()
