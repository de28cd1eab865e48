"""Scripts that run as processes of their own, as the libraries in them may crash: for PDFs."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from typing import IO, Any, cast

from urnscan.sources import script_start

_PATIENCE = 60  # seconds without a word, after which a process is ended
_BLOCK = 1 << 18


def start_python(*words: str, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 (those of Popen)
    """Start this Python as a new process, which finds the modules that this one finds. Raises OSError.

    No module is taken from beside the script or from the working folder, where it may have the name of another one.
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen([sys.executable, "-P", *words], env={**os.environ, "PYTHONPATH": paths}, **options)  # noqa: S603


class ProcessError(Exception):
    """A process has ended, or was ended, before it said all; the text says how."""


class Script:
    """A script as a process, for one thread at a time."""

    name = ""
    """Name of the library in it, for errors."""
    part = "one answer"
    """The work for which it may be silent, for errors."""
    memory = 4 << 30
    """Octets that it may take."""

    def __init__(self, file: str) -> None:
        """Raises ProcessError if it cannot be started."""
        self._said = bytearray()  # octets that were read, and not taken
        try:
            self._process = start_python(
                script_start.__file__,
                file,
                str(self.memory),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise ProcessError(f"{self.name} could not be started ({error.strerror or error})") from error
        self._in, self._out = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def ask(self, line: bytes) -> None:
        """Give it a line. If it has ended, what it says next tells that."""
        with contextlib.suppress(BrokenPipeError):
            self._in.write(line + b"\n")

    def take(self, length: int) -> bytes:
        """The next octets that it says. Raises ProcessError if it ends or is silent before."""
        while len(self._said) < length:
            if not self._poll.poll(_PATIENCE * 1000):
                raise ProcessError(f"{self.name} took more than {_PATIENCE} s for {self.part}")
            said = os.read(self._out.fileno(), _BLOCK)
            if not said:
                status = self._process.wait()
                how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
                raise ProcessError(f"{self.name} {how}")
            self._said += said
        taken = bytes(self._said[:length])
        del self._said[:length]
        return taken

    def end(self) -> None:
        """End it, from any thread: the thread that uses it meets the end of what it says."""
        self._process.kill()

    def close(self) -> None:
        """End it, and close the pipes."""
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()
