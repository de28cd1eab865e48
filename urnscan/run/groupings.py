"""Groupings of a run. All share the same threads, and a folder for the rows that do not fit in memory."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from urnscan.errors import FatalError
from urnscan.grouping.out_of_core import Grouping
from urnscan.pool import Pool
from urnscan.stores.temporary import TEMPORARY_SUFFIX


def groupings(pool: Pool, spill_folder: Path | None, stack: ExitStack) -> Callable[[int], Grouping]:
    """Return a function that makes a `Grouping` (of occurrences to classes), whose work the threads of the pool do. The
    argument of the function is the maximum bytes of rows in memory.

    More rows are spilled (moved) to a new folder in `spill_folder`; None: in the system's folder for temporary files.
    The folder is made when it is needed, and removed when `stack` is closed, so groupings must not be used later.
    """
    folder = SpillFolder(spill_folder)
    stack.callback(folder.remove)
    return lambda memory: Grouping(memory, pool, folder.get)


class SpillFolder:
    """A temporary folder for spilled rows (moved to disk), made by the first call of `get`.

    It is in `parent`; None: in the system's folder for temporary files.
    """

    def __init__(self, parent: Path | None) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def get(self) -> Path:
        """Return the folder, which the first call makes. Raises FatalError if it cannot be made."""
        with self._lock:
            if self._folder is None:
                try:
                    self._folder = tempfile.TemporaryDirectory(
                        prefix="urnscan-", suffix=TEMPORARY_SUFFIX, dir=self._parent
                    )
                except OSError as error:
                    place = self._parent or tempfile.gettempdir()
                    raise FatalError(
                        f"{place}: cannot store rows that memory does not hold: {error.strerror or error}"
                    ) from error
        return Path(self._folder.name)

    def remove(self) -> None:
        """Remove the folder with all rows, if it was made. Nothing may use the folder later."""
        if self._folder is not None:
            self._folder.cleanup()
