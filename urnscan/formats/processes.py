"""Processes that a run started to read files, temporary copies of files for them, and how both end."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Protocol


class Started(Protocol):
    """Protocol: something that must end with the run: a process that it started, or a temporary copy of a file."""

    def end(self) -> None:
        """Kill the process or remove the copy; does nothing if already done. Any thread may call this method."""


class Process(Started, Protocol):
    """Protocol: a process that can be reused for another file, such as a reader of PDFs."""

    def close(self) -> None:
        """Kill the process, and release its pipes; only while no thread uses the process."""


class Processes:
    """The processes and temporary copies of a run: those in use, and idle processes that can be reused.

    All end when this object is deleted, and when Python ends.
    """

    def __init__(self) -> None:
        self._running: set[Started] = set()
        self._idle: deque[Process] = deque()
        # Called when this object is deleted, and when the interpreter ends.
        weakref.finalize(self, _end, self._running, self._idle)

    def __reduce__(self) -> tuple[type[Processes], tuple[()]]:
        # A copy of the options in another process starts its own processes.
        return Processes, ()

    def add(self, process: Started) -> None:
        """Add a process or copy that is in use, so that `end` ends it."""
        self._running.add(process)

    def remove(self, process: Started) -> None:
        """Forget a process or copy that has ended; does not end it. Does nothing if it is unknown."""
        self._running.discard(process)

    def take(self) -> Process | None:
        """Return the idle process that was given back last, which is then in use; None if no process is idle."""
        try:
            process = self._idle.pop()
        except IndexError:
            return None
        self.add(process)
        return process

    def give_back(self, process: Process) -> None:
        """Put a process that was in use, and is idle now, among the idle processes, for the next `take`."""
        self._idle.append(process)
        self.remove(process)

    def end(self) -> None:
        """Kill all processes, idle ones too, and remove the temporary copies; any thread may call this method."""
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
