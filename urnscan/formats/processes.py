"""Processes that a run has started, copies of files that it made for them, and their end."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Protocol


class Started(Protocol):
    """A process that a run has started, or a copy of a file."""

    def end(self) -> None:
        """End or remove it; any thread may call this, also a second time."""
        ...


class Process(Started, Protocol):
    """A process that can be used again."""

    def close(self) -> None:
        """End it, and release its resources; only while no thread uses it."""
        ...


class Processes:
    """The processes of a run: commands of filters, readers of PDFs. They end with it, or when nothing refers to this."""

    def __init__(self) -> None:
        self._running: set[Started] = set()
        self._idle: deque[Process] = deque()
        # Also where the interpreter ends.
        weakref.finalize(self, _end, self._running, self._idle)

    def __reduce__(self) -> tuple[type[Processes], tuple[()]]:
        # Options that go to another process start their own.
        return Processes, ()

    def add(self, process: Started) -> None:
        """Take note of a process that runs."""
        self._running.add(process)

    def remove(self, process: Started) -> None:
        """Forget a process that has ended."""
        self._running.discard(process)

    def take(self) -> Process | None:
        """Take an idle process; None if there is none."""
        try:
            process = self._idle.pop()
        except IndexError:
            return None
        self.add(process)
        return process

    def give_back(self, process: Process) -> None:
        """Keep a process that has done its work for the next who takes one."""
        self._idle.append(process)
        self.remove(process)

    def end(self) -> None:
        """End all of them, from any thread. Others may be started later."""
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
