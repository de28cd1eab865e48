"""Failures and notes of a run, told as they happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from urnscan.errors import FatalError, SourceError, SourceNote, option

NO_PLACE = -1
"""Place of an argument that names no input."""
_MOST_FAILURES = 20  # of one kind in one input that are told one by one


def add_note(notes: list[SourceNote], note: SourceNote) -> None:
    """Add a note to those of a run; of a type that is told together only the first, which counts the others."""
    for first in notes if note.together else ():
        if type(first) is type(note):
            first.count += note.count
            return
    notes.append(note)


class Failures:
    """Tells failures and notes as they happen; of an input with very many, only their number in the end."""

    def __init__(self, on_failure: Callable[[SourceError], None] = lambda _: None, *, strict: bool = False) -> None:
        """`on_failure` is told of failures and notes; `strict`: the first failure ends the run."""
        self.failures: list[SourceError] = []
        """Failures so far."""
        self.notes: list[SourceNote] = []
        """Notes so far."""
        self._on_failure = on_failure
        self._strict = strict
        self._place = NO_PLACE
        self._input = self._last = ""
        self._met: Counter[type[SourceError]] = Counter()  # in the input, by their kinds

    def add(self, place: int, name: str, error: SourceError, *, is_part: bool = False) -> None:
        """Add a failure or a note in the input of this place and name. Raises FatalError if it ends the run.

        `is_part`: the failure is in a part of the input, and the next parts may fail in the same way, told once.
        """
        if place != self._place or place == NO_PLACE:
            self.finish()
            self._place, self._input = place, name
        elif is_part and str(error) == self._last:
            return
        self._last = str(error)
        if isinstance(error, SourceNote) and error.together:
            self._report(error)
            return
        kind = SourceError if error.most_told is None else type(error)
        self._met[kind] += 1
        if self._met[kind] <= _MOST_FAILURES:
            self._report(error)

    def finish(self) -> None:
        """End an input."""
        for kind, met in self._met.items():
            if (more := met - _MOST_FAILURES) > 0:
                several = "notes" if kind is SourceNote else "failures"
                others = kind(self._input, f"{more:,} more {several} in it")
                others.count = more
                self._report(others)
        self._met.clear()

    def _report(self, error: SourceError) -> None:
        self._on_failure(error)
        if isinstance(error, SourceNote):
            add_note(self.notes, error)
            return
        self.failures.append(error)
        if self._strict:
            raise FatalError(f"stopped at the first input that failed ({option('strict')})")
