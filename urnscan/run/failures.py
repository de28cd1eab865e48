"""Failures and notes of a run, reported when they happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from urnscan.errors import FatalError, SourceError, SourceNote, option

NO_PLACE = -1
"""Instead of the number of an input, for an error about an argument that leads to no input, such as a missing file."""
# Maximum number of failures of a kind in an input that are reported one by one.
_MAX_FAILURES = 20


def add_note(notes: list[SourceNote], note: SourceNote) -> None:
    """Append a note to `notes`. But if notes of its type are reported together (`together` is set) and the list has
    one, only the `count` of that one grows, by the `count` of the new note.
    """
    for first in notes if note.together else ():
        if type(first) is type(note):
            first.count += note.count
            return
    notes.append(note)


class Failures:
    """Reports failures and notes when they happen, and collects them. Of each kind, the first 20 of an input are
    reported, and then a single failure or note with the number of the others.
    """

    def __init__(self, on_failure: Callable[[SourceError], None] = lambda _: None, *, strict: bool = False) -> None:
        """`on_failure` is called with each failure and note. With `strict`, `add` raises FatalError at a failure."""
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
        """Report a failure or a note about the input with the number `place`, from 0 (or NO_PLACE, for an argument
        without inputs), and the given name.

        Errors about the same input come one after another: an error about another input first calls `finish`. A kind is
        a type of errors with `max_reported` (such as RecordError); all others are one kind. Of a kind only the first 20 in
        an input are reported; `finish` reports the number of the others. Notes with `together` are all passed on.
        With `is_part`, the error is in a part of a huge file, and is not reported if the error before in this file has
        the same text. Raises FatalError for a failure with `strict`.
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
        kind = SourceError if error.max_reported is None else type(error)
        self._counts[kind] += 1
        if self._counts[kind] <= _MAX_FAILURES:
            self._report(error)

    def finish(self) -> None:
        """End the current input: report the number of its failures and notes beyond the first 20 of a kind, if any. To
        be called once more after the last input.

        With `strict`, raises FatalError if these are failures.
        """
        for kind, count in self._counts.items():
            if (more := count - _MAX_FAILURES) > 0:
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
