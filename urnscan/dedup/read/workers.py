"""Workers: a thread that reads batches; and processes, for large dumps whose records Python reads one by one.

Python runs in one thread at a time, so only processes use more than one core. They take half a second to start, and
batches pass through their standard input and output. Compiled code reads columns in less time than that: with a second
process, MARC in ISO 2709 took 1.15 times as long.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from urnscan.dedup.read.batch_reader import BatchReader
from urnscan.dedup.read.batches import Batch, ReadBatch
from urnscan.errors import FatalError, option
from urnscan.formats.scripts import start_python
from urnscan.records.format_registry import FORMATS
from urnscan.run.options import Options

# Bytes of records that Python reads one by one. More bytes take longer than the start of processes.
_LARGE = 1 << 24
_SERVE = "from urnscan.dedup.read.workers import serve; serve()"
_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


class Workers:
    """A thread, and processes for large dumps, that read batches while the caller works. The processes start when 16
    MiB of records that Python reads one by one have been submitted, unless `jobs` is 1.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._bytes = 0
        self._in_thread = BatchReader(options).read
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="urnscan-reading")
        # Each of these threads waits for a process.
        self._waiting = ThreadPoolExecutor(options.jobs, thread_name_prefix="urnscan-waiting")
        self._processes: list[_Process] = []
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()

    @property
    def ahead(self) -> int:
        """Number of batches that should be pending, so that no worker waits: twice the number of processes, or 2
        without processes.
        """
        return 2 * max(len(self._processes), 1)

    def submit(self, batch: Batch) -> Future[ReadBatch]:
        """Let the thread or a process read a batch, and return a future at once. Its `result()` waits for the rows,
        raises what reading raises, and FatalError if a process has died.
        """
        is_in_columns = FORMATS[batch.settings.format].in_columns
        self._bytes += 0 if is_in_columns else batch.byte_count
        if is_in_columns or self._options.jobs == 1 or self._bytes < _LARGE:
            return self._thread.submit(self._in_thread, batch)
        if not self._processes:
            self._processes = [_Process(self._options) for _ in range(self._options.jobs)]
            for process in self._processes:
                self._idle.put(process)
        return self._waiting.submit(self._in_process, batch)

    def results(self, function: Callable[[_Argument], _Result], arguments: Iterable[_Argument]) -> Iterator[_Result]:
        """Yield the results of a module-level function, called with each argument, in the order of the arguments.

        The function runs in the processes; if none was started, in the calling thread. Raises the errors of the
        function, and FatalError if a process has died.
        """
        if not self._processes:
            yield from map(function, arguments)
            return
        waiting: deque[Future[_Result]] = deque()
        for argument in arguments:
            waiting.append(self._waiting.submit(self._in_process, partial(function, argument)))
            if len(waiting) > self.ahead:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()

    def close(self) -> None:
        """End thread and processes; pending batches are not read."""
        for process in self._processes:
            process.kill()
        self._waiting.shutdown(cancel_futures=True)
        self._thread.shutdown(cancel_futures=True)

    def _in_process(self, task: Batch | Callable[[], _Result]) -> Any:  # noqa: ANN401 (by the task)
        process = self._idle.get()
        try:
            return process.do(task)
        finally:
            self._idle.put(process)


class _Process:
    """A process that reads batches and calls functions."""

    def __init__(self, options: Options) -> None:
        # `multiprocessing` would run the script of the caller again.
        self._process = start_python("-c", _SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._options: Options | None = options

    def do(self, task: Batch | Callable[[], object]) -> object:
        """Let the process read a batch, or call a function, and return the result. Only one thread at a time may call
        it. Raises FatalError if the process has died.
        """
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            raise ValueError("the process has no pipes")
        try:
            if self._options is not None:
                pickle.dump(self._options, requests, pickle.HIGHEST_PROTOCOL)
                self._options = None
            pickle.dump(task, requests, pickle.HIGHEST_PROTOCOL)
            requests.flush()
            answer: object = pickle.load(answers)  # noqa: S301 (of our own process)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            reason = "a process that read records has died, perhaps because the memory was full"
            raise FatalError(f"{reason}; try {option('jobs', 1)}, which starts no other process") from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                # Half a batch was on its way.
                except BrokenPipeError:
                    continue


def collect_seldom() -> None:
    """Let Python search for cyclic garbage only after 50,000 new objects, and never among the objects that exist now,
    in the whole process.
    """
    # Records have no cycles, and the search took a tenth of the time of their reading.
    gc.freeze()
    gc.set_threshold(50_000)


def serve() -> None:
    """Work as a process of `Workers`: receive the options, then batches and functions, at standard input, read or call
    them, and send back the results or exceptions, until the pipe is closed.
    """
    collect_seldom()
    # The parent process gets the signal, too, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # The output of a library is not an answer.
    os.dup2(2, 1)
    reader = BatchReader(pickle.load(requests))  # noqa: S301 (of the process that started this one)
    while True:
        try:
            task: Batch | Callable[[], object] = pickle.load(requests)  # noqa: S301
        except EOFError:
            return
        try:
            answer = reader.read(task) if isinstance(task, Batch) else task()
        except Exception as error:  # noqa: BLE001 (the other process raises it)
            answer = error
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
