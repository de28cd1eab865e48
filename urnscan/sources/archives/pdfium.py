"""Processes in which pdfium reads PDFs: it may crash, and serves one thread alone.

A process is used again for the next PDF. One that crashes, or is silent for too long, is replaced.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import cast

from urnscan.sources.archives import pdfium_script
from urnscan.sources.archives.pdfium_script import END, FILE, FRAME, WRONG
from urnscan.sources.processes import Processes
from urnscan.sources.scripts import ProcessError, Script

__all__ = ["FILE", "WRONG", "Pdfium", "ProcessError", "lent"]


@contextlib.contextmanager
def lent(processes: Processes) -> Iterator[Pdfium]:
    """A process of a run, for one PDF. Raises ProcessError."""
    pdfium = cast(Pdfium | None, processes.take())
    while pdfium is not None and not pdfium.is_ready:  # somebody has ended it
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


class Pdfium(Script):
    """A process that reads PDFs one by one, for one thread at a time."""

    name, part = "pdfium", "a page"
    memory = 2 << 30

    def __init__(self) -> None:
        """Raises ProcessError if it cannot be started."""
        super().__init__(pdfium_script.__file__)
        self._has_answered = True  # the last question, whole

    @property
    def is_ready(self) -> bool:
        """Whether it can read another PDF."""
        return self._has_answered and self.is_alive

    def contents(self, path: str) -> Iterator[tuple[bytes, str, int]]:
        """The kind, name and length of what is in a PDF; the caller takes the octets of each. Raises ProcessError."""
        self._has_answered = False
        self.ask(os.fsencode(path).hex().encode())
        while True:
            kind, name_length, length = FRAME.unpack(self.take(FRAME.size))
            name = self.take(name_length).decode("utf-8", "replace")
            if kind == END:
                self._has_answered = True
                return
            yield kind, name, length
