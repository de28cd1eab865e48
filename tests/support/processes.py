"""Other processes, as Linux shows them in `/proc`."""

import os
import time
from pathlib import Path


def readers(path):
    """The processes other than this one that have the file open."""
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) != os.getpid():
            try:
                if any(os.path.samestat(file.stat(), path.stat()) for file in (process / "fd").iterdir()):
                    yield int(process.name)
            except OSError:
                continue


def wait_for_readers(path, count=1):
    """So many processes that have the file open, or more."""
    deadline = time.monotonic() + 250
    while time.monotonic() < deadline:
        if len(found := list(readers(path))) >= count:
            return found
        time.sleep(0.1)
    raise AssertionError("too few read it")


def wait_for_no_readers(path):
    """Wait until no other process has the file open."""
    deadline = time.monotonic() + 60
    while found := list(readers(path)):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def wait_until(happened, what: str, seconds: float = 60) -> None:
    """Wait until `happened()`; fail where it does not."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, f"{what}: not within {seconds} seconds"
        time.sleep(0.01)
