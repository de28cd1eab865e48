"""The cores that a run may use (`-j`): a thread that helps another one begins only where one of them is free."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Cores:
    """Counts the threads of a run that work."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._working = 0
        self._helped = 0.0
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Cores], tuple[int]]:
        return Cores, (self._count,)  # in another process nobody works yet

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Count the thread of the caller as one that works."""
        self._count_more(1)
        try:
            yield
        finally:
            self._count_more(-1)

    def take(self) -> bool:
        """Count one more thread, if a core is free for it; whether it is. None is where nobody is known to work."""
        with self._lock:
            is_free = 0 < self._working < self._count
            self._working += is_free
        return is_free

    def give_back(self, seconds: float) -> None:
        """Count the thread no longer for which `take` was called; it took so many seconds of CPU time."""
        self._count_more(-1)
        with self._lock:
            self._helped += seconds

    def helped(self) -> float:
        """Seconds of CPU time of such threads since the last call."""
        with self._lock:
            seconds, self._helped = self._helped, 0.0
        return seconds

    def _count_more(self, threads: int) -> None:
        with self._lock:
            self._working += threads
