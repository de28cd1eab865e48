"""Largest value of a quantity while commands run: memory of all processes of urnscan together, bytes of temporary files. Linux only."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Container
from pathlib import Path
from typing import Self

from processes import children

_PERIOD = 0.1  # seconds between two readings


class Peak:
    """A context manager that reads a value ten times a second, and keeps the largest."""

    def __init__(self, read: Callable[[], int]) -> None:
        self.largest = 0
        self._read = read
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_PERIOD):
            self.largest = max(self.largest, self._read())


def memory() -> int:
    """Bytes of memory of all processes of urnscan below this one; what several of them share counts once."""
    total = 0
    for process in children():
        try:
            command = (process / "cmdline").read_text(errors="replace")
            if "urnscan" in command and "child.py" not in command:
                text = (process / "smaps_rollup").read_text()
                total += sum(int(byte_count) for byte_count in re.findall(r"^Pss: +(\d+) kB", text, re.MULTILINE))
        except OSError:  # it has ended
            continue
    return total * 1024


def temporary(folder: Path, output: Container[str]) -> int:
    """Bytes on disk of temporary files: all below the folder but those of the output, and files without a name that were made there."""
    total = 0
    for place, _, names in os.walk(folder):
        total += sum(_bytes(Path(place, name)) for name in names if name not in output)
    for process in children():
        try:
            for opened in (process / "fd").iterdir():
                name = str(opened.readlink())
                if name.startswith(f"{folder}/") and name.endswith(" (deleted)"):
                    total += _bytes(opened)
        except OSError:  # it has ended
            continue
    return total


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512
    except OSError:  # it is gone
        return 0
