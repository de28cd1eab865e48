"""The scanner of a stream: octets in, columns of matches out.

It knows no files, no lines of text and no Arrow. The result does not depend on how the input is cut into blocks: octets
that a block cannot decide are carried over to the next. The kernel (`kernel.py`) scans a single block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import read_only
from urnscan.arrays.octets import Integers, Octets, count_lf
from urnscan.scanner.columns import (
    AT,
    CANONICAL_USED,
    COUNTED,
    CUT,
    END,
    FOUND,
    HOST_USED,
    LINE,
    REJECT,
    REJECT_TEXT_USED,
    REJECTED,
    SLOTS,
    TEXT_USED,
    Block,
    Columns,
    RejectColumns,
)
from urnscan.scanner.grammar import LOOKAHEAD, MAX_LENGTH, REJECT_ENDS, Grammar, ResolverTail, Rules
from urnscan.scanner.kernel import kernel
from urnscan.scanner.url_context import LOOK_BACK

__all__ = [
    "CUT",
    "END",
    "MAX_LENGTH",
    "REJECT_ENDS",
    "Grammar",
    "Matches",
    "Rejects",
    "ResolverTail",
    "Scanner",
    "Sight",
]

_BLOCK = 1 << 20  # octets read at a time: small enough to stay in the processor's cache
_ROWS = 1 << 16  # matches in one Matches at most


@dataclass(frozen=True, slots=True)
class Rejects:
    """Columns of rejects, in their order: texts that begin like a URN and are none, and matches with a malformed %HH
    behind.

    A `urn:` without a letter or digit behind it names nothing and is no reject. The caller owns all arrays.
    """

    start: Integers
    """Octets from the start of the stream."""
    line: Integers
    """1 + the LF octets before it in the stream."""
    position: npt.NDArray[np.int32]
    """Place of the malformed %HH behind a match, in octets from `start`; -1 if no match begins there."""
    text: Octets
    text_offsets: npt.NDArray[np.int32]
    """The octets before one of REJECT_ENDS, at most 256, end to end as in Matches."""

    def __len__(self) -> int:
        return len(self.start)

    @property
    def length(self) -> npt.NDArray[np.int32]:
        """Octets of each text."""
        return np.diff(self.text_offsets)

    def locate(self, starts: Integers, _ends: Integers) -> npt.NDArray[np.int32]:
        """Number of the text in which each reject stands; see `Matches.locate`."""
        return (np.searchsorted(starts, self.start, side="right") - 1).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Matches:
    """Columns of matches, in their order. The caller owns all arrays."""

    start: Integers
    """Octets from the start of the stream."""
    length: npt.NDArray[np.int32]
    line: Integers
    """1 + the LF octets before the match in the stream."""
    nid_length: npt.NDArray[np.uint8]
    stop: npt.NDArray[np.int16]
    """The octet that ended the match, END or CUT."""
    trailing: npt.NDArray[np.uint8]
    """Octets that `trim` would cut, at most 255; 0 after trimming."""
    text: Octets
    text_offsets: npt.NDArray[np.int32]
    """Octets as found, end to end: match i is `text[text_offsets[i]:text_offsets[i + 1]]`."""
    canonical: Octets
    canonical_offsets: npt.NDArray[np.int32]
    """Lexical canonical forms, end to end."""
    host: Octets
    host_offsets: npt.NDArray[np.int32]
    """Hosts of the URLs around the matches, end to end, in lower case; empty for a match in no URL."""
    rejects: Rejects | None = None
    """Rejects, if the Grammar asks for them; then there may be no match."""
    via: Octets | None = None
    """View of each match: its number in `views.KINDS`, from 1, or 0 for a literal match; None: all are literal."""

    def __len__(self) -> int:
        return len(self.start)

    def locate(self, starts: Integers, ends: Integers) -> npt.NDArray[np.int32]:
        """Number of the text in which each match stands, if several texts were scanned as one, with a separator behind
        each.

        Text i has the octets from `starts[i]` to `ends[i]`. A match that a separator ended gets END as its `stop`.
        """
        which = (np.searchsorted(starts, self.start, side="right") - 1).astype(np.int32)
        self.stop[(self.start + self.length == ends[which]) & (self.stop != CUT)] = END
        return which


class Sight(NamedTuple):
    """The part of a stream that is in memory."""

    octets: Octets
    """Read-only, and valid until the next read."""
    base: int
    """Place of the first of them in the stream."""
    decided: int
    """Place in the stream before which all matches have been found."""
    lines: int
    """LF octets before that place."""


_NOTHING = read_only(np.empty(0, np.uint8))


class Scanner:
    """Scans one stream after another with the same buffers, in one thread.

    After a scan `octets` is the number of octets read, and `lines` the number of LF octets among them.

    A caller that searches the stream itself, too, finds the octets in memory in `sight`, at each Matches and after a
    failure to read. It sets `kept` to the first place in the stream that has to stay in memory.
    """

    def __init__(self, grammar: Grammar, block: int = _BLOCK, rows: int = _ROWS) -> None:
        """`block` is the number of octets read at a time, `rows` the most matches in one Matches; both at least 1."""
        self.grammar = grammar
        self.octets = self.lines = 0
        self.sight = Sight(_NOTHING, 0, 0, 0)
        self.kept = sys.maxsize
        self.rules = grammar.rules
        self._block = block
        self._buffer = np.empty(0, np.uint8)  # needed only for streams
        text_size = max(grammar.max_length, 64 * rows)
        self._columns = Columns(
            np.empty(rows, np.int64),
            np.empty(rows, np.int32),
            np.empty(rows, np.int64),
            np.empty(rows, np.uint8),
            np.empty(rows, np.int16),
            np.empty(rows, np.uint8),
            np.empty(text_size, np.uint8),
            np.zeros(rows + 1, np.int32),
            np.empty(text_size, np.uint8),
            np.zeros(rows + 1, np.int32),
            np.empty(max(LOOK_BACK, 16 * rows), np.uint8),
            np.zeros(rows + 1, np.int32),
        )
        reject_rows = rows if grammar.rejects else 0
        self._rejects = RejectColumns(
            np.empty(reject_rows, np.int64),
            np.empty(reject_rows, np.int64),
            np.empty(reject_rows, np.int32),
            np.empty(max(REJECT, 64 * reject_rows), np.uint8),
            np.zeros(reject_rows + 1, np.int32),
        )
        self._state = np.zeros(SLOTS, np.int64)

    def scan_octets(self, octets: Octets) -> Iterator[Matches]:
        """The matches of a text in memory."""
        self._begin()
        octets = read_only(octets)
        block = Block(octets, len(octets), True)
        while not kernel(block, self._state, self.rules, self._columns, self._rejects):
            yield self._take()
        self._finish(len(octets))
        if self._holds_some():
            yield self._take()

    def scan(self, read_into: Callable[[memoryview], int], *, after_each: bool = False) -> Iterator[Matches]:
        """The matches of a stream.

        `read_into(view)` fills the front of a writable view of octets and returns their number; 0 is the end. If it
        fills less than the view, the matches so far are given without waiting for more. With `after_each` they are
        given after each read, even if there are none. Raises what `read_into` raises, after the matches that were
        decided before.
        """
        # A match is decided after twice max_length at the latest. The octets before it decide whether it may begin, and
        # whether it stands in a URL.
        if not len(self._buffer):
            undecided = max(2 * self.grammar.max_length + LOOKAHEAD, REJECT)
            self._buffer = np.empty(LOOK_BACK + undecided + self._block, np.uint8)
        buffer, state = self._buffer, self._state
        octets = read_only(buffer)
        view = buffer.data
        self._begin()
        base = filled = 0
        while True:
            room = len(buffer) - filled if self._block > 1 else 1
            try:
                got = read_into(view[filled : filled + min(room, self._block)])
            except Exception:
                # A URN that runs into the failure is not whole and does not count; all before it does. A reject that runs
                # into it is given up, so that the matches behind its beginning are found.
                rules = self.rules._replace(rejects=False)
                while self.grammar.rejects and not self._advance(octets, filled, False, rules, base):
                    self._look(octets[:filled], base)
                    yield self._take()
                self._look(octets[:filled], base)
                if self.grammar.count_lines:
                    state[LINE] += count_lf(octets, int(state[COUNTED]), filled)
                self._finish(base + filled)
                if self._holds_some():
                    yield self._take()
                raise
            filled += got
            done = False
            while not done:
                done = self._advance(octets, filled, got == 0, self.rules, base)
                self._look(octets[:filled], base)
                if after_each or (self._holds_some() and (not done or got < self._block)):
                    yield self._take()
            if got == 0:
                self._finish(base + filled)
                return
            keep_from = max(0, min(int(state[AT]) - LOOK_BACK, self.kept - base))
            if filled - keep_from + self._block > len(buffer):
                self._buffer = buffer = np.concatenate([buffer, np.empty(len(buffer), np.uint8)])
                octets, view = read_only(buffer), buffer.data
            if keep_from:
                buffer[: filled - keep_from] = buffer[keep_from:filled].copy()
                base += keep_from
                filled -= keep_from
                state[AT] -= keep_from
                state[COUNTED] -= keep_from

    def _look(self, octets: Octets, base: int) -> None:
        """Set `sight` to these octets, which begin at the octet `base` of the stream."""
        self.sight = Sight(octets, base, base + int(self._state[AT]), int(self._state[LINE]) - 1)

    def _advance(self, octets: Octets, filled: int, final: bool, rules: Rules, base: int) -> bool:
        """Run the kernel on a block that begins at the octet `base` of the stream; True if the block is done."""
        state = self._state
        found, rejected = int(state[FOUND]), int(state[REJECTED])
        done = bool(kernel(Block(octets, filled, final), state, rules, self._columns, self._rejects))
        self._columns.start[found : state[FOUND]] += base
        self._rejects.start[rejected : state[REJECTED]] += base
        return done

    def _holds_some(self) -> bool:
        """Whether the columns hold anything."""
        return bool(self._state[FOUND] or self._state[REJECTED])

    def _begin(self) -> None:
        self.kept = sys.maxsize
        self._state[:] = 0
        self._state[LINE] = 1
        self.octets = self.lines = 0

    def _finish(self, octets: int) -> None:
        self.octets = octets
        self.lines = int(self._state[LINE]) - 1

    def _take(self) -> Matches:
        """Move the contents of the columns into arrays of their own."""
        state = self._state
        found = int(state[FOUND])
        sizes: tuple[int, ...] = (found,) * 6
        for used in (TEXT_USED, CANONICAL_USED, HOST_USED):
            sizes += (int(state[used]), found + 1)
            state[used] = 0
        state[FOUND] = 0
        columns: dict[str, Any] = self._columns._asdict()
        taken = {name: column[:size].copy() for (name, column), size in zip(columns.items(), sizes, strict=True)}
        return Matches(**taken, rejects=self._take_rejects() if self.grammar.rejects else None)

    def _take_rejects(self) -> Rejects:
        state = self._state
        rows, text = int(state[REJECTED]), int(state[REJECT_TEXT_USED])
        state[REJECTED] = state[REJECT_TEXT_USED] = 0
        columns: tuple[npt.NDArray[Any], ...] = self._rejects
        sizes = (rows, rows, rows, text, rows + 1)
        return Rejects(*(column[:size].copy() for column, size in zip(columns, sizes, strict=True)))
