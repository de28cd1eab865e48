"""Processes in which pdfium reads PDFs, because pdfium may crash, and cannot be used by several threads.

A process starts in 0.15 s, as its script imports nothing of urnscan, and is reused for the next PDF. A process that
crashes, or is silent for too long, is replaced.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from typing import IO, cast

from urnscan.formats import script_start
from urnscan.formats.documents import pdfium_script
from urnscan.formats.documents.pdfium_script import END, FILE, FRAME, WRONG
from urnscan.formats.processes import Processes
from urnscan.formats.scripts import start_python

__all__ = ["FILE", "WRONG", "Pdfium", "ProcessError", "lent"]

_PATIENCE = 60  # maximum seconds without output of a process
# Maximum CPU seconds for a PDF: 120, and one more for each 10,000 bytes; a PDF may contain a page a thousand times.
_TIME = 120
_BYTES_PER_SECOND = 10_000
_BLOCK = 1 << 18
_MEMORY = 2 << 30  # maximum bytes of memory of a process


class ProcessError(Exception):
    """A process of pdfium could not be started, ended early, or gave no output for 60 seconds. The message is the
    reason.
    """


@contextlib.contextmanager
def lent(processes: Processes) -> Iterator[Pdfium]:
    """Context with a process of pdfium for a single PDF: an idle process of the run (`processes`), or a new one.

    At the end of the context the process is idle again, for the next PDF; if it has not read its PDF to the end, it is
    killed. Raises ProcessError if no process can be started.
    """
    pdfium = cast(Pdfium | None, processes.take())
    # An idle process may have ended.
    while pdfium is not None and not pdfium.is_ready:
        processes.remove(pdfium)
        pdfium.close()
        pdfium = cast(Pdfium | None, processes.take())
    if pdfium is None:
        pdfium = Pdfium()
        processes.add(pdfium)
    try:
        yield pdfium
    finally:
        if pdfium.is_ready:
            processes.give_back(pdfium)
        else:
            processes.remove(pdfium)
            pdfium.close()


class Pdfium:
    """A process that reads PDFs by pdfium, one after the other, for a single thread at a time."""

    def __init__(self) -> None:
        """Start the process. Raises ProcessError."""
        self._output = bytearray()  # unused bytes that were read from the process
        self._seconds = 0  # maximum CPU seconds for the current PDF
        self._has_answered = True  # whether the last request was answered completely
        try:
            self._process = start_python(
                script_start.__file__,
                pdfium_script.__file__,
                str(_MEMORY),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise ProcessError(f"pdfium could not be started ({error.strerror or error})") from error
        self._in, self._out = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    @property
    def is_ready(self) -> bool:
        """Whether the process runs, and has no unfinished PDF, so that it can read another."""
        return self._has_answered and self._process.poll() is None

    def contents(self, path: str) -> Iterator[tuple[bytes, str, int]]:
        """Let the process read the PDF at `path`, and yield (kind, name, length in bytes) for each part of it.

        Kinds: TEXT, FILE (attached) and WRONG, a part that cannot be read: its bytes are the reason, and without a name
        it is the whole PDF. Before the next part the caller must get the bytes by `take(length)`. Raises ProcessError
        if the process ends, or is silent for 60 seconds.
        """
        self._has_answered = False
        self._seconds = _TIME + os.path.getsize(path) // _BYTES_PER_SECOND  # noqa: PTH202 (names may be odd)
        # If the process has ended, the next read reports it.
        with contextlib.suppress(BrokenPipeError):
            self._in.write(b"%d %b\n" % (self._seconds, os.fsencode(path).hex().encode()))
        while True:
            kind, name_length, length = FRAME.unpack(self.take(FRAME.size))
            name = self.take(name_length).decode("utf-8", "replace")
            if kind == END:
                self._has_answered = True
                return
            yield kind, name, length

    def take(self, length: int) -> bytes:
        """Wait for the next `length` bytes of the output of the process, and return them.

        Raises ProcessError if the process ends before, or is silent for 60 seconds.
        """
        while len(self._output) < length:
            if not self._poll.poll(_PATIENCE * 1000):
                raise ProcessError(f"pdfium took more than {_PATIENCE} s for a page")
            data = os.read(self._out.fileno(), _BLOCK)
            if not data:
                status = self._process.wait()
                how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
                if status == -signal.SIGXCPU:
                    how = f"took more than {self._seconds:,} s of the processor for it"
                raise ProcessError(f"pdfium {how}")
            self._output += data
        data = bytes(self._output[:length])
        del self._output[:length]
        return data

    def end(self) -> None:
        """Kill the process; any thread may call this method. A thread that reads from it gets a ProcessError."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process, wait for its end, and close its pipes; only while no thread reads from it."""
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()
