"""Threads that process tasks in parallel, and results in the order of the tasks."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
_Item = TypeVar("_Item")
_Worker = Callable[[Task], Iterator[Result]]

# Number of results of a task that may wait, however large they are.
_RESULTS = 4
# Bytes of results of all tasks that may wait. With this number, most workers finish a task before its turn comes.
_WAITING = 1 << 25
# Maximum number of tasks for each worker that are begun and whose results are not yet yielded.
_TASKS = 3
# Seconds after which a waiting worker checks whether it should stop.
_PATIENCE = 0.1


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the results of a task, or of all tasks."""

    error: BaseException | None = None


def in_order(
    tasks: Iterable[Task],
    new_worker: Callable[[], _Worker[Task, Result]],
    workers: int,
    bytes_of: Callable[[Result], int] = lambda _: _WAITING,
) -> Generator[Result, None, None]:
    """Yield the results of all tasks, in the order of the tasks; `workers` threads process the tasks, ahead of the
    caller.

    `new_worker()` is called in each thread; it returns the function that yields the results of a task. `bytes_of` gives
    the number of bytes of a result in memory: many small results may wait, and few large ones. An error of a task, a
    worker or `tasks` is raised by this iterator, after the results before. The threads stop after an error, and when
    this iterator is closed; a thread that still waits for input after a second is left.
    """
    crew = _Crew(iter(tasks), new_worker, workers, bytes_of)
    threads = [threading.Thread(target=crew.work, daemon=True, name=f"urnscan-{i}") for i in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for results in _until_end(crew.order):
            for result in _until_end(results):
                crew.take(result)
                yield result
            crew.free.release()
    finally:
        crew.stopped.set()
        # All threads together have one second to end. A thread that still waits for input is left running.
        deadline = time.monotonic() + 1
        for thread in threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))


def _until_end(items: queue.SimpleQueue[_Item | _End]) -> Iterator[_Item]:
    while not isinstance(item := items.get(), _End):
        yield item
    if item.error is not None:
        raise item.error


def _next(tasks: Iterator[Task]) -> Task | _End:
    try:
        return next(tasks, _End())
    except BaseException as error:  # noqa: BLE001 (it is raised again where the results are taken)
        return _End(error)


class _Crew(Generic[Task, Result]):
    def __init__(
        self,
        tasks: Iterator[Task],
        new_worker: Callable[[], _Worker[Task, Result]],
        workers: int,
        bytes_of: Callable[[Result], int],
    ) -> None:
        self.order: queue.SimpleQueue[queue.SimpleQueue[Result | _End] | _End] = queue.SimpleQueue()
        """The queue of results of each task that was begun, in the order of the tasks."""
        self.free = threading.Semaphore(_TASKS * workers)
        """Number of tasks that may still be begun."""
        self.stopped = threading.Event()
        self._tasks = tasks
        self._task_lock = threading.Lock()
        self._new_worker = new_worker
        self._bytes_of = bytes_of
        # Bytes of the results that wait, and the condition that is notified when they become fewer.
        self._waiting = 0
        self._room = threading.Condition()

    def take(self, result: Result) -> None:
        with self._room:
            self._waiting -= self._bytes_of(result)
            self._room.notify_all()

    def work(self) -> None:
        """Runs in each thread."""
        try:
            worker = self._new_worker()
            while not self.stopped.is_set():
                if self.free.acquire(timeout=_PATIENCE):
                    results: queue.SimpleQueue[Result | _End] = queue.SimpleQueue()
                    # Both steps are under the same lock, so that an error of `tasks` is in the order before the end that
                    # another thread sees after the error.
                    with self._task_lock:
                        task = _next(self._tasks)
                        self.order.put(task if isinstance(task, _End) else results)
                    if isinstance(task, _End):
                        break
                    self._do(worker, task, results)
        except BaseException as error:  # noqa: BLE001 (as above)
            self.order.put(_End(error))

    def _do(self, worker: _Worker[Task, Result], task: Task, results: queue.SimpleQueue[Result | _End]) -> None:
        try:
            for result in worker(task):
                self._put(results, result)
                if self.stopped.is_set():
                    return
            results.put(_End())
        except BaseException as error:  # noqa: BLE001 (as above)
            results.put(_End(error))

    def _put(self, results: queue.SimpleQueue[Result | _End], result: Result) -> None:
        byte_count = self._bytes_of(result)
        with self._room:
            while results.qsize() >= _RESULTS and self._waiting + byte_count > _WAITING:
                if self.stopped.is_set():
                    return
                self._room.wait(_PATIENCE)
            self._waiting += byte_count
            results.put(result)
