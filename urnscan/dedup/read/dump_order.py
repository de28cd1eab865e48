"""Pending batches and callbacks, in dump order: workers read batches while later records are searched."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

from urnscan.dedup.read.batches import Batch, ReadBatch
from urnscan.dedup.read.workers import Workers

# Maximum number of pending callbacks and batches.
_MAX_PENDING = 1_000


class _PendingBatch(NamedTuple):
    result: Future[ReadBatch]
    on_result: Callable[[ReadBatch], object]


class DumpOrder:
    """A queue of batches and callbacks: a callback runs after all earlier batches are read and added."""

    def __init__(self, workers: Workers, on_read: Callable[[int], object]) -> None:
        """`on_read` is called with the number of bytes read since the last call, without bytes that are read ahead."""
        self._workers = workers
        self._on_read = on_read
        self._pending: deque[_PendingBatch | Callable[[], object]] = deque()
        self._batches = 0
        """Number of pending batches."""
        self._unreported = 0
        """Bytes of dumps that were read since the last batch."""
        self.is_in_dump = False
        """Whether the bytes that are read now belong to a dump."""

    def submit(self, batch: Batch, on_result: Callable[[ReadBatch], object]) -> None:
        """Give a batch to a worker (a thread, or a process). `on_result` is called with the result, in dump order, by
        this or a later call of a method. Waits while too many batches are pending. An empty batch does nothing. Raises
        FatalError if a process has died, and what reading or a callback raises.
        """
        if batch.records:
            self._pending += [_PendingBatch(self._workers.submit(batch), on_result), self._report()]
            self._batches += 1
            self._run(self._workers.ahead)

    def call(self, callback: Callable[[], object]) -> None:
        """Put a callback into the queue: it runs after all earlier batches, at once if none is pending. Waits for all
        batches if the queue is full. Raises FatalError if a process has died, and what reading or a callback raises.
        """
        self._pending.append(callback)
        self._run(self._workers.ahead if len(self._pending) < _MAX_PENDING else 0)

    def count(self, byte_count: int) -> None:
        """Count bytes that were read just now; `on_read` gets their number: of bytes of a dump (`is_in_dump`) when
        their records are read; of others now or, if batches are pending, after these.
        """
        self._unreported += byte_count
        if self.is_in_dump:
            return
        report = self._report()
        if self._batches:
            self._pending.append(report)
        else:
            report()

    def finish(self) -> None:
        """Wait for all batches, and run all pending callbacks. Raises FatalError if a process has died, and what
        reading or a callback raises.
        """
        self._run(0)

    def _report(self) -> Callable[[], object]:
        data, self._unreported = self._unreported, 0
        return partial(self._on_read, data)

    def _run(self, max_batches: int) -> None:
        """Run the callbacks at the start of the queue, and wait until at most `max_batches` batches are pending."""
        while self._pending:
            first = self._pending[0]
            if isinstance(first, _PendingBatch):
                if self._batches <= max_batches:
                    return
                self._batches -= 1
                first.on_result(first.result.result())
            else:
                first()
            self._pending.popleft()
