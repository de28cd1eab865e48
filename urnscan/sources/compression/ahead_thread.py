"""A thread that decodes ahead: where a core is free, it decompresses a long text while what came before is scanned."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import ParamSpec, TypeAlias

from urnscan.errors import SourceError
from urnscan.sources.cores import Cores

Part: TypeAlias = bytes | memoryview | SourceError
"""A step of text, or an error in its place."""
_Parameters = ParamSpec("_Parameters")
_Calls: TypeAlias = list[Callable[[], object]]
_Taken: TypeAlias = tuple[Part | BaseException | None, _Calls]
"""A part, or the end with its error, and the calls that come before it."""

_LONG = 1 << 22  # octets of text after which a free core is looked for, each time
_BATCH = 1 << 20  # octets that are handed over at once: each time the threads wait for each other
_MOST = 4  # batches that are made ahead


class Notes:
    """Calls that wait until the part is taken before which they were made, so that nothing is counted or told too early."""

    def __init__(self) -> None:
        self._calls: _Calls = []

    def later(self, call: Callable[_Parameters, object]) -> Callable[_Parameters, None]:
        """A function that takes note of a call of this one."""

        def note(*given: _Parameters.args, **named: _Parameters.kwargs) -> None:
            self._calls.append(partial(call, *given, **named))

        return note

    def take(self) -> _Calls:
        """The calls that were noted since the last time."""
        calls, self._calls = self._calls, []
        return calls


class Ahead(Iterator[Part]):
    """The parts of a text, about 4 MiB of which a thread makes ahead, once the text is long and a core is free."""

    def __init__(self, parts: Generator[Part, None, None], notes: Notes, cores: Cores) -> None:
        """`notes` are those that `parts` makes; what their calls raise is raised where the part would be given."""
        self._parts = parts
        self._notes = notes
        self._cores = cores
        self._left = _LONG  # octets up to the next look for a free core
        self._thread: threading.Thread | None = None
        self._batches: queue.SimpleQueue[list[_Taken]] = queue.SimpleQueue()
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()  # has an item for each batch that may be made
        self._batch: Iterator[_Taken] = iter(())
        self._is_closed = False
        self._seconds = 0.0  # of CPU time of the thread

    def __next__(self) -> Part:
        if self._is_closed:
            raise StopIteration
        part, calls = self._take()
        try:
            for call in calls:
                call()
        except SourceError:
            self.close()
            raise
        if not isinstance(part, Part):
            self.close()
            raise part or StopIteration
        self._left -= _octets_of(part)
        return part

    def close(self) -> None:
        """Stop the thread, if there is one, and close the parts."""
        self._is_closed = True
        if self._thread is not None:
            self._room.put(None)  # it may wait for it
            self._thread.join()
            self._thread = None
            self._cores.give_back(self._seconds)
        self._parts.close()

    def _take(self) -> _Taken:
        if self._thread is None and self._left < 0:
            self._left = _LONG
            if self._cores.take():
                self._thread = threading.Thread(target=self._work, name="urnscan-ahead", daemon=True)
                self._thread.start()
                for _ in range(_MOST):
                    self._room.put(None)
        if self._thread is None:
            return next(self._parts, None), self._notes.take()
        while (taken := next(self._batch, None)) is None:
            self._batch = iter(self._batches.get())
            self._room.put(None)
        return taken

    def _work(self) -> None:
        """Make parts until there are no more, or until closed; runs in the thread."""
        end: BaseException | None = None
        batch: list[_Taken] = []
        octets = 0
        try:
            for part in self._parts:
                for each in _slices(part):
                    batch.append((each, self._notes.take()))
                    octets += _octets_of(each)
                    if octets >= _BATCH:
                        self._hand_over(batch)
                        batch, octets = [], 0
                    if self._is_closed:
                        return
        except BaseException as error:  # noqa: BLE001 (it is raised again where the parts are taken)
            end = error
        self._hand_over([*batch, (end, self._notes.take())])

    def _hand_over(self, batch: list[_Taken]) -> None:
        self._seconds = time.thread_time()
        self._room.get()
        self._batches.put(batch)


def _octets_of(part: Part) -> int:
    return 0 if isinstance(part, SourceError) else len(part)


def _slices(part: Part) -> Iterator[Part]:
    """A part in slices: the blocks of bzip2 may have 46 MB of text."""
    if isinstance(part, SourceError) or len(part) <= _BATCH:
        yield part
    else:
        view = memoryview(part)
        yield from (view[at : at + _BATCH] for at in range(0, len(view), _BATCH))
