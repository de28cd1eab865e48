"""The command in processes that are forked from one that has loaded it: a start takes a tenth of the CPU time.

Tests call `Forks.run`. For a shell, `forked_command` makes a command of the same name.

Run as a script, this module is the process that is forked. The command itself, its arguments, streams, exit status and
signals are those of the installed one. Only what Python does before the command's first line is not done anew.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXITS = {"--help", "--version"}  # with them the command leaves in another way where modules are loaded that read inputs

_MAX = 1 << 20  # bytes of a message
_LENGTH = 4
_LOADED = (
    "grouping",
    "records",
    "dedup",
    "results",
    "report",
    "run",
    "scanner",
    "stores",
    "formats",
    "inputs",
    "tables",
)
"""Packages whose modules are loaded ahead."""


class Forks:
    """A process that has loaded the command, and forks at each call."""

    def __init__(self, command: Path, environment: dict[str, str]) -> None:
        """`command` is what a user would start; `environment` is that of all runs."""
        self.environment = environment
        self._socket, theirs = socket.socketpair()
        words = [sys.executable, __file__, str(theirs.fileno()), str(command)]
        self._process = subprocess.Popen(words, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()

    def run(
        self, words: list[str], folder: Path, stdin: bytes, timeout: float, code: str = ""
    ) -> tuple[int, bytes, bytes]:
        """The exit status (below 0: the signal) and the streams of one run; TimeoutExpired if it takes too long.

        `code` is run in its process before the command begins.
        """
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        ours = [os.fdopen(pipes[0][1], "wb"), os.fdopen(pipes[1][0], "rb"), os.fdopen(pipes[2][0], "rb")]
        message = "\0".join([str(folder), code, *words]).encode("utf-8", "surrogateescape")
        assert len(message) < _MAX
        self._socket.settimeout(timeout)
        socket.send_fds(self._socket, [len(message).to_bytes(_LENGTH, "big")], theirs)
        self._socket.sendall(message)
        for each in theirs:
            os.close(each)
        process = self._number()
        streams = [b"", b""]
        threads = [threading.Thread(target=_write, args=(ours[0], stdin))]
        threads += [threading.Thread(target=_read, args=(ours[1 + at], streams, at)) for at in range(2)]
        for thread in threads:
            thread.start()
        try:
            status = self._number()
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self._number()
            raise subprocess.TimeoutExpired(words, timeout) from None
        finally:
            for thread in threads:
                thread.join()
        return os.waitstatus_to_exitcode(status), *streams

    def _number(self) -> int:
        return int.from_bytes(self._socket.recv(_LENGTH), "big")

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.wait()


_CLIENT = """#!{python} -IS
import os, socket, sys
if {exits} & {{*sys.argv}}:
    os.execv({command!r}, sys.argv)
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
code = f"import os; os.environ.clear(); os.environ.update({{dict(os.environ)!r}})"
message = chr(0).join([os.getcwd(), code, *sys.argv[1:]]).encode("utf-8", "surrogateescape")
socket.send_fds(server, [len(message).to_bytes({length}, "big")], [0, 1, 2])
server.sendall(message)
_, status = (int.from_bytes(server.recv({length}), "big") for _ in range(2))
status = os.waitstatus_to_exitcode(status)
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


@contextlib.contextmanager
def forked_command(command: Path, folder: Path) -> Iterator[Path]:
    """A program called as the command, in the folder: who calls it gets a forked run, with their environment and streams.

    Several may run at the same time, as in a pipe of a shell.
    """
    address, client = folder / "socket", folder / command.name
    names = {"python": sys.executable, "command": str(command), "address": str(address), "exits": EXITS}
    client.write_text(_CLIENT.format(**names, length=_LENGTH))
    client.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        server.listen()
        words = [sys.executable, __file__, str(server.fileno()), str(command)]
        process = subprocess.Popen(words, pass_fds=[server.fileno()])
    try:
        yield client
    finally:
        process.terminate()
        process.wait()


def _write(file, data):
    try:
        with file:
            file.write(data)
    except BrokenPipeError:  # it did not read all
        pass


def _read(file, streams, at):
    with file:
        streams[at] = file.read()


def _connected(server: socket.socket) -> socket.socket:
    """A socket that a caller is connected to: the given one, or, if it listens, a new one in a process forked for each caller."""
    if not server.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return server
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        found, _ = server.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            return found
        found.close()


def _fork_at_each_call(server: socket.socket) -> bool:
    """Fork a process at each message, and tell its number and its status. True in each process that is forked."""
    while True:
        length, files, *_ = socket.recv_fds(server, _LENGTH, 3)
        if not length:
            return False
        message = b""
        while len(message) < int.from_bytes(length, "big"):
            message += server.recv(_MAX)
        folder, code, *words = message.decode("utf-8", "surrogateescape").split("\0")
        process = os.fork()
        if not process:
            server.close()
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            os.chdir(folder)
            sys.argv[1:] = words
            exec(code, {})
            return True
        for file in files:
            os.close(file)
        server.sendall(process.to_bytes(_LENGTH, "big"))
        _, status = os.waitpid(process, 0)
        server.sendall(status.to_bytes(_LENGTH, "big"))


def _load() -> None:
    """Load the modules of the command and what is compiled, as the first run in a process does."""
    import importlib
    import pkgutil

    import urnscan
    from urnscan.cli.lazy_imports import loading

    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command does
    with loading():
        for package in _LOADED:
            found = importlib.import_module(f"urnscan.{package}")
            for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
                if not module.name.endswith("_script"):
                    importlib.import_module(module.name)
        urnscan.find("urn:isbn:0451450523")


if __name__ == "__main__":
    from urnscan.cli import main

    _, descriptor, sys.argv[0] = sys.argv
    del sys.argv[1:], sys.path[0]  # as the installed script finds them
    _load()
    sys.exit(main() if _fork_at_each_call(_connected(socket.socket(fileno=int(descriptor)))) else 0)
