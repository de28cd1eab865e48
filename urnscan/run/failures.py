"""Failures of a run, told as they happen, and the folder for spilled rows."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from urnscan.errors import FatalError, SourceError
from urnscan.sources import TEMPORARY_SUFFIX

__all__ = ["NO_PLACE", "Failures", "SpillFolder"]

NO_PLACE = -1
"""Place of an argument that names no input."""
_MOST_FAILURES = 20  # of one input that are told one by one


class Failures:
    """Tells what fails, as it happens; of an input in which very much fails, only how much."""

    def __init__(self, failures: list[SourceError], on_failure: Callable[[SourceError], None], *, strict: bool) -> None:
        """Failures go into `failures` and to `on_failure`; `strict`: the first one ends the run."""
        self._failures = failures
        self._on_failure = on_failure
        self._strict = strict
        self._place = NO_PLACE
        self._input = self._last = ""
        self._told = self._untold = 0

    def add(self, place: int, name: str, error: SourceError, *, is_part: bool = False) -> None:
        """Add a failure in the input of this place and name; `is_part`: in a part of it, of which others may fail in
        the same way. Raises FatalError if that ends the run.
        """
        if place != self._place or place == NO_PLACE:
            self.finish()
            self._place, self._input = place, name
        elif is_part and str(error) == self._last:
            return
        self._last = str(error)
        if self._told < _MOST_FAILURES:
            self._told += 1
            self._tell(error)
        else:
            self._untold += 1

    def finish(self) -> None:
        """The input is done."""
        if self._untold:
            self._tell(SourceError(self._input, f"{self._untold:,} more failures in it"))
        self._told = self._untold = 0

    def _tell(self, error: SourceError) -> None:
        self._failures.append(error)
        self._on_failure(error)
        if self._strict:
            raise FatalError("stopped at the first input that failed (--strict)")


class SpillFolder:
    """A folder for spilled rows, made when it is needed."""

    def __init__(self, parent: Path | None) -> None:
        self._parent = parent
        self._making = threading.Lock()
        self._made: tempfile.TemporaryDirectory[str] | None = None

    def get(self) -> Path:
        """The folder. Raises FatalError where none can be made."""
        with self._making:
            if self._made is None:
                try:
                    self._made = tempfile.TemporaryDirectory(
                        prefix="urnscan-", suffix=TEMPORARY_SUFFIX, dir=self._parent
                    )
                except OSError as error:
                    place = self._parent or tempfile.gettempdir()
                    raise FatalError(f"{place}: cannot hold what is spilled: {error.strerror or error}") from error
        return Path(self._made.name)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        if self._made is not None:
            self._made.cleanup()
