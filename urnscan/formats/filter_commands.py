"""Filters (`--filter`) that run: the process of a command that converts a file to text, its output, and its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator

from urnscan.errors import SourceError, option
from urnscan.formats.context import Layer
from urnscan.formats.filters import PATH, Filter, takes_path
from urnscan.formats.on_disk import on_disk
from urnscan.stores.reader import Reader

_PATIENCE = 0.1  # seconds between checks whether the reader was closed
_BLOCK = 1 << 16
_MAX_STDERR = 1 << 12  # first bytes of standard error that are stored
_LONGEST = 200  # maximum characters of standard error in a message
_GUARD_SCRIPT = 'read -r group; read -r _; kill -s KILL -- "-$group"'
"""Shell script of the guard: reads the id of a process group, waits for the end of standard input (the end of the
process of urnscan), and kills the group.
"""
_COMMAND_SCRIPT = 'echo $$ >&0; file=$1; shift; exec "$@" <"$file"'
"""Shell script that writes its process id to the guard (the pipe on standard input), and becomes the command. So a
command never runs without the knowledge of its guard.
"""


class Filtered(Reader):
    """Reader of the text that a command of the user (`--filter`) prints for a file; `close` kills the command.

    If the command ends with a status other than 0 or takes too long, `read_into` raises SourceError after the text.
    """

    def __init__(self, filter_: Filter, reader: Reader, layer: Layer) -> None:
        """Start the command on the file that `reader` reads, or on a temporary copy of the bytes. Raises SourceError if
        they cannot be read or copied, or the command cannot be started. `layer`: names and limits of the file.
        """
        self._filter = filter_
        self._layer = layer
        self._stderr = b""
        self._is_stderr_open = True
        self._is_open = True
        self._has_ended = False
        self._lock = threading.Lock()  # `close` may come from the thread that ends the run
        self._stack = contextlib.ExitStack()
        self._deadline = time.monotonic() + filter_.timeout
        layer.reading.processes.add(self)
        try:
            with contextlib.ExitStack() as started:
                self._out, out = self._pipe(started)
                self._err, err = self._pipe(started)
                self._process = self._start(reader, out, err)
        except BaseException:
            self.close()
            raise
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)

    def read_into(self, view: memoryview) -> int:
        """Wait for output of the command, and read it into the front of the view. Returns its length, 0 at the end.

        Raises SourceError if the command fails, takes too long, or is ended by a signal or by `close`; and LimitError
        for too much text.
        """
        while not self._has_ended:
            if (left := self._deadline - time.monotonic()) <= 0:
                self._has_ended = True
                more = f"what it printed until then is read; {option('filter_timeout', None)} allows more"
                raise self._error(f"took more than {self._filter.timeout:,} s: {more}")
            with self._lock:
                if not self._is_open:
                    raise self._error("was ended with the run")
                if self._out in self._listen(min(left, _PATIENCE)):
                    if got := os.readv(self._out, [view]):
                        self._layer.budget.count_unfolded(got)
                        return got
                    self._has_ended = True
                    self._poll.unregister(self._out)
                    self._finish()
        return 0

    def close(self) -> None:
        """Kill the command, and remove the temporary copy of the file."""
        self._layer.reading.processes.remove(self)
        with self._lock:
            self._is_open = False
            self._stack.close()

    def end(self) -> None:
        """Kill the command, as `close` does; for the thread that ends the run. Reading then raises SourceError."""
        self.close()

    def _pipe(self, started: contextlib.ExitStack) -> tuple[int, int]:
        reading, writing = os.pipe()
        self._stack.callback(os.close, reading)
        started.callback(os.close, writing)
        return reading, writing

    def _start(self, reader: Reader, out: int, err: int) -> subprocess.Popen[bytes]:
        """Start the command, with `out` and `err` (file descriptors) as its standard output and error. It gets a path
        to the bytes of the reader in place of the word `%` (or `…=%`), otherwise the bytes as standard input.
        """
        path = self._stack.enter_context(on_disk(reader, self._layer))
        words = [path.join(word.rsplit(PATH, 1)) if takes_path(word) else word for word in self._filter.command]
        stdin = path if words == [*self._filter.command] else os.devnull
        script = ["sh", "-c", _COMMAND_SCRIPT, "sh", stdin, *words]
        try:
            guard = self._stack.enter_context(_guard())
            process = subprocess.Popen(  # noqa: S603 (the user's own command; its words are no part of the script)
                script,
                stdin=guard.stdin,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise self._error(f"could not be started: {error.strerror or error}") from error
        self._stack.callback(_end, process)
        return process

    def _listen(self, seconds: float) -> set[int]:
        """Wait up to `seconds` for output, and store the first 4 KiB of standard error. Returns the file descriptors
        that have bytes or ended.
        """
        ready = {descriptor for descriptor, _ in self._poll.poll(seconds * 1000)}
        if self._err in ready:
            data = os.read(self._err, _BLOCK)
            self._stderr = (self._stderr + data)[:_MAX_STDERR]
            if not data:
                self._poll.unregister(self._err)
                self._is_stderr_open = False
        return ready

    def _finish(self) -> None:
        """Wait for the end of the command, whose standard output is closed. Raises SourceError if it fails, or does not
        end in time.
        """
        while self._process.poll() is None and time.monotonic() < self._deadline:
            if self._is_stderr_open:
                self._listen(_PATIENCE)
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE)
        status = self._process.returncode
        if status is None:
            raise self._error("closed its output and did not end")
        if status:
            self._listen(0)
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
            raise self._error(f"{how}{': ' + ' '.join(lines[0].split())[:_LONGEST] if lines else ''}")

    def _error(self, what: str) -> SourceError:
        return SourceError(self._layer.name, f"{self._filter.name} {what}")


@contextlib.contextmanager
def _guard() -> Iterator[subprocess.Popen[bytes]]:
    """Context with a process that kills a command if this process is killed. The command must write its process group
    to the standard input of the guard.
    """
    # For example by Spark, or for lack of memory.
    words = ["sh", "-c", _GUARD_SCRIPT]
    with subprocess.Popen(  # noqa: S603 (a constant)
        words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as guard:
        yield guard
        guard.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a command, which leads a process group, with all of the group, unless the command has ended."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
