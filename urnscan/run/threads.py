"""Threads that work side by side, and results in the order of the work."""

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

_RESULTS = 4  # results of one task that may wait, however large they are
_WAITING = 1 << 25  # octets of the results of all tasks that may wait: a worker is then done before its turn comes
_TASKS = 3  # for each worker, most tasks that are begun and not yet taken over
_PATIENCE = 0.1  # seconds after which a waiting worker looks whether it should stop


@dataclass(frozen=True, slots=True)
class _End:
    """End of the results of a task, or of all tasks; with the error, if one ended them."""

    error: BaseException | None = None


def in_order(
    tasks: Iterable[Task],
    new_worker: Callable[[], _Worker[Task, Result]],
    workers: int,
    octets_of: Callable[[Result], int] = lambda _: _WAITING,
) -> Generator[Result, None, None]:
    """The results of all tasks in the order of the tasks, each worked at by one of `workers` threads.

    `new_worker()` is called in each thread; it returns the function that turns a task into results. `octets_of` tells the
    octets of memory that a result takes; many small results may wait, and few large ones. An error of a task, a worker or
    `tasks` is raised here. The threads stop then, and when this iterator is closed; a thread that waits for input does not
    delay the end.
    """
    crew = _Crew(iter(tasks), new_worker, workers, octets_of)
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
        deadline = time.monotonic() + 1  # seconds for all threads; one that waits for input is left behind
        for thread in threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))


def _until_end(items: queue.SimpleQueue[_Item | _End]) -> Iterator[_Item]:
    """The items up to the end. Raises its error."""
    while not isinstance(item := items.get(), _End):
        yield item
    if item.error is not None:
        raise item.error


def _next(tasks: Iterator[Task]) -> Task | _End:
    """The next task, or the end of them."""
    try:
        return next(tasks)
    except StopIteration:
        return _End()
    except BaseException as error:  # noqa: BLE001 (it is raised again where the results are taken)
        return _End(error)


class _Crew(Generic[Task, Result]):
    """Queues and locks that the threads share."""

    def __init__(
        self,
        tasks: Iterator[Task],
        new_worker: Callable[[], _Worker[Task, Result]],
        workers: int,
        octets_of: Callable[[Result], int],
    ) -> None:
        self.order: queue.SimpleQueue[queue.SimpleQueue[Result | _End] | _End] = queue.SimpleQueue()
        """For each task that was begun, its results."""
        self.free = threading.Semaphore(_TASKS * workers)
        """Counts the tasks that may be begun."""
        self.stopped = threading.Event()
        self._tasks = tasks
        self._task_lock = threading.Lock()
        self._new_worker = new_worker
        self._octets_of = octets_of
        self._waiting = 0  # octets of the results that wait
        self._room = threading.Condition()  # is told when they become fewer

    def take(self, result: Result) -> None:
        """Count a result as taken."""
        with self._room:
            self._waiting -= self._octets_of(result)
            self._room.notify_all()

    def work(self) -> None:
        """Do tasks until there are no more, or until stopped; runs in each thread."""
        try:
            worker = self._new_worker()
            while not self.stopped.is_set():
                if self.free.acquire(timeout=_PATIENCE):
                    results: queue.SimpleQueue[Result | _End] = queue.SimpleQueue()
                    with self._task_lock:  # an error comes before the end that another thread finds behind it
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
        """Have a result wait, when there is room for it."""
        octets = self._octets_of(result)
        with self._room:
            while results.qsize() >= _RESULTS and self._waiting + octets > _WAITING:
                if self.stopped.is_set():
                    return
                self._room.wait(_PATIENCE)
            self._waiting += octets
            results.put(result)
