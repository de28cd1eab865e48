"""Processes that a run started, temporary copies of files for them, and how both end."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Protocol


class Started(Protocol):
    """Protocol: a process that a run started, or a temporary copy of a file."""

    def end(self) -> None:
        """Kill the process or remove the copy. Any thread may call this method, also several times."""
        ...


class Process(Started, Protocol):
    """Protocol: a process that can be reused."""

    def close(self) -> None:
        """Kill the process, and release all resources; only while no thread uses the process."""
        ...


class Processes:
    """The processes of a run: commands of filters, readers of PDFs. All end when this object is deleted."""

    def __init__(self) -> None:
        self._running: set[Started] = set()
        self._idle: deque[Process] = deque()
        # Called when this object is deleted, and when the interpreter ends.
        weakref.finalize(self, _end, self._running, self._idle)

    def __reduce__(self) -> tuple[type[Processes], tuple[()]]:
        # A copy of the options in another process starts its own processes.
        return Processes, ()

    def add(self, process: Started) -> None:
        """Add a process that runs."""
        self._running.add(process)

    def remove(self, process: Started) -> None:
        """Forget a process that has ended."""
        self._running.discard(process)

    def take(self) -> Process | None:
        """Return an idle process, which then counts as running; None if no process is idle."""
        try:
            process = self._idle.pop()
        except IndexError:
            return None
        self.add(process)
        return process

    def give_back(self, process: Process) -> None:
        """Add a process that is idle now to the idle processes, for the next `take`."""
        self._idle.append(process)
        self.remove(process)

    def end(self) -> None:
        """Kill all processes, and remove the temporary copies; from any thread. More may be started later."""
        _end(self._running, self._idle)


def _end(running: set[Started], idle: deque[Process]) -> None:
    while idle:
        try:
            idle.pop().close()
        except IndexError:
            # Another thread was faster.
            break
    for process in list(running):
        process.end()
