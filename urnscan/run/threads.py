"""Threads that work side by side, and results in the order of the work."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["in_order"]

Task = TypeVar("Task")
Result = TypeVar("Result")

_RESULTS = 4  # of one task that may wait
_TASKS = 3  # for each worker that may be begun and not yet taken over
_PATIENCE = 0.1  # seconds after which a waiting worker looks whether it should stop


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


class _End:
    """The end of a task's results, or of all tasks."""


def in_order(
    tasks: Iterable[Task], new_worker: Callable[[], Callable[[Task], Iterator[Result]]], workers: int
) -> Generator[Result, None, None]:
    """The results of all tasks in the order of the tasks, each worked at by one of `workers` threads.

    `new_worker()` is called in each thread and returns what turns a task into its results. Only so many results wait as
    keep the threads busy, however slowly they are taken. What a task, a worker or `tasks` raises is raised here; the
    threads stop then, and when this iterator is closed. A thread that waits for input then does not hold up the end.
    """
    source = iter(tasks)
    taking = threading.Lock()
    begun = threading.Semaphore(_TASKS * workers)
    stopped = threading.Event()
    order: queue.SimpleQueue[queue.Queue[Result | _Raised | type[_End]] | _Raised | type[_End]] = queue.SimpleQueue()

    def put(results: queue.Queue[Result | _Raised | type[_End]], result: Result | _Raised | type[_End]) -> None:
        while not stopped.is_set():
            try:
                results.put(result, timeout=_PATIENCE)
            except queue.Full:
                continue
            return

    def work() -> None:
        try:
            worker = new_worker()
            while not stopped.is_set():
                if not begun.acquire(timeout=_PATIENCE):
                    continue
                results: queue.Queue[Result | _Raised | type[_End]] = queue.Queue(_RESULTS)
                with taking:
                    task = next(source, _End)
                    if task is _End:
                        order.put(_End)
                        return
                    order.put(results)
                try:
                    for result in worker(task):  # type: ignore[arg-type]
                        put(results, result)
                        if stopped.is_set():
                            return
                    put(results, _End)
                except BaseException as error:  # noqa: BLE001 (it is raised again where the results are taken)
                    put(results, _Raised(error))
        except BaseException as error:  # noqa: BLE001
            order.put(_Raised(error))

    threads = [threading.Thread(target=work, daemon=True, name=f"urnscan-{number}") for number in range(workers)]
    for thread in threads:
        thread.start()
    try:
        while True:
            results = order.get()
            if results is _End:
                return
            if isinstance(results, _Raised):
                raise results.error
            assert isinstance(results, queue.Queue)  # noqa: S101 (for the type checker)
            while (result := results.get()) is not _End:
                if isinstance(result, _Raised):
                    raise result.error
                yield result  # type: ignore[misc]
            begun.release()
    finally:
        stopped.set()
        deadline = time.monotonic() + 1  # seconds for all: one that waits for input is left to wait
        for thread in threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))
