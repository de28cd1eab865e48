"""Failures and notes of a run, reported when they happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from urnscan.errors import FatalError, SourceError, SourceNote, option

NO_PLACE = -1
"""Number of the input for an argument that names no input."""
# Maximum number of failures of a kind in an input that are reported one by one.
_MOST_FAILURES = 20


def add_note(notes: list[SourceNote], note: SourceNote) -> None:
    """Add a note to the notes of a run. If the type of the note has the flag `together`, only the first note of the
    type stays in the list, and counts the others.
    """
    for first in notes if note.together else ():
        if type(first) is type(note):
            first.count += note.count
            return
    notes.append(note)


class Failures:
    """Reports failures and notes when they happen. If an input has very many, only the number of the remaining failures
    or notes is reported.
    """

    def __init__(self, on_failure: Callable[[SourceError], None] = lambda _: None, *, strict: bool = False) -> None:
        """`on_failure` gets failures and notes. With `strict`, the first failure ends the run."""
        self.failures: list[SourceError] = []
        """Failures that were reported so far."""
        self.notes: list[SourceNote] = []
        """Notes that were reported so far."""
        self._on_failure = on_failure
        self._strict = strict
        self._place = NO_PLACE
        self._input = self._last = ""
        # Numbers of failures and notes in the current input, by their kinds.
        self._counts: Counter[type[SourceError]] = Counter()

    def add(self, place: int, name: str, error: SourceError, *, is_part: bool = False) -> None:
        """Add a failure or a note in the input with the number `place` and the given name. Raises FatalError if the
        failure ends the run.

        With `is_part`, the failure is in a part of a huge file. The same failure in the next part is not reported
        again.
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
        self._counts[kind] += 1
        if self._counts[kind] <= _MOST_FAILURES:
            self._report(error)

    def finish(self) -> None:
        """End the current input: report the number of failures and notes that were not reported individually."""
        for kind, count in self._counts.items():
            if (more := count - _MOST_FAILURES) > 0:
                plural = "notes" if kind is SourceNote else "failures"
                others = kind(self._input, f"{more:,} more {plural} in it")
                others.count = more
                self._report(others)
        self._counts.clear()

    def _report(self, error: SourceError) -> None:
        self._on_failure(error)
        if isinstance(error, SourceNote):
            add_note(self.notes, error)
            return
        self.failures.append(error)
        if self._strict:
            raise FatalError(f"stopped at the first input that failed ({option('strict')})")
