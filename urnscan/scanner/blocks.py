"""The scanner of a stream: octets in, columns of matches out.

It knows no files, no lines of text and no Arrow. The result does not depend on how the input is cut into blocks: octets
that a block cannot decide are carried over to the next. The kernel (`kernel.py`) scans a single block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import read_only, with_last
from urnscan.arrays.octets import Integers, Octets, count_lf
from urnscan.scanner.grammar import LOOKAHEAD, Grammar, Rules
from urnscan.scanner.kernel import (
    AT,
    COUNTED,
    CUT,
    END,
    FOUND,
    LEFT_OUT,
    LINE,
    REJECT,
    REJECTED,
    SLOTS,
    Block,
    Columns,
    RejectColumns,
    count_components,
    kernel,
)
from urnscan.scanner.url_context import LOOK_BACK
from urnscan.urn.syntax import TAIL_NONE, get_syntax

_PATIENCE = 0.2  # seconds: whoever reads lines as they are printed waits no longer
_BLOCK = 1 << 20  # octets read at a time: small enough to stay in the processor's cache
_ROWS = 1 << 16  # matches in one Matches at most
_RFC8141 = Grammar(get_syntax("rfc8141")).rules


@dataclass(frozen=True, slots=True)
class Rejects:
    """Columns of rejects, in their order: texts that begin like a URN and are none, and matches that end badly: behind
    them begins what is no part of a URN, though it looks like one, as the "%" of a malformed %HH.

    A `urn:` without a letter or digit behind it names nothing and is no reject. The caller owns all arrays.
    """

    start: Integers
    """Octets from the start of the stream."""
    line: Integers
    """1 + the LF octets before it in the stream."""
    position: npt.NDArray[np.int32]
    """Octets from `start` to the end of a match that ends badly; -1 if no URN begins at `start`."""
    rest: npt.NDArray[np.uint32]
    """The octets behind such a match, at most REST of them and only of the same text, the first in the last octet."""
    text: Octets
    text_offsets: npt.NDArray[np.int32]
    """Text of each reject, end to end as in Matches: from `start` up to one of REJECT_ENDS, at most 256 octets."""

    def __len__(self) -> int:
        return len(self.start)

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
    """End of the match: the value of the next octet, END (the end of the text), or CUT (cut at `max_length`)."""
    punctuation: npt.NDArray[np.uint8]
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
    via: Octets
    """View of each match: its number in `views.KINDS`, from 1, or 0 for a literal match."""
    rejects: Rejects | None = None
    """Rejects, if the Grammar asks for them; then there may be no match."""

    def __len__(self) -> int:
        return len(self.start)

    def locate(self, starts: Integers, ends: Integers) -> npt.NDArray[np.int32]:
        """Number of the text of each match, if several texts were scanned as one, with a separator behind each.

        Text i has the octets from `starts[i]` to `ends[i]`. Changes `stop`: a match that a separator ended gets END.
        """
        which = (np.searchsorted(starts, self.start, side="right") - 1).astype(np.int32)
        self.stop[(self.start + self.length == ends[which]) & (self.stop != CUT)] = END
        return which


def components_in_names(matches: Matches, grammar: Grammar) -> int:
    """The number of matches whose names hold what RFC 8141 calls components; only RFC 2141 takes them for the name."""
    if grammar.syntax.tail != TAIL_NONE:
        return 0
    return int(count_components(read_only(matches.text), read_only(matches.text_offsets), _RFC8141))


class Sight(NamedTuple):
    """The part of a text that is in memory."""

    octets: Octets
    """Read-only, and valid until the next read."""
    base: int
    """Place of the first of them in the text."""
    decided: int
    """Place in the text before which all matches have been found."""
    lines: int
    """LF octets before that place."""


class Scanner:
    """Scans one text after another with the same buffers, in one thread.

    After a scan `octets` is the number of octets read, and `lines` the number of LF octets among them (0 if the grammar
    does not count lines). `left_out` is the number of matches in all scans so far that the grammar does not want.

    A caller that searches the text itself, too, finds the octets in memory in `sight`, at each Matches and after a
    failure to read. It sets `kept` to the first place in the text that has to stay in memory.
    """

    def __init__(self, grammar: Grammar, block: int = _BLOCK, rows: int = _ROWS) -> None:
        """`block` is the number of octets read at a time, `rows` the most matches in one Matches; both at least 1."""
        self.grammar = grammar
        self.octets = self.lines = self.left_out = 0
        self.sight = Sight(read_only(np.empty(0, np.uint8)), 0, 0, 0)
        self.kept = sys.maxsize
        self.rules = grammar.rules
        self._block = block
        self._buffer = np.empty(0, np.uint8)  # needed only for streams
        text = max(grammar.max_length, 64 * rows)
        self._columns = Columns(*_room(rows, ("i8", "i4", "i8", "u1", "i2", "u1"), (text, text, LOOK_BACK + 16 * rows)))
        rows = rows if grammar.rejects else 0
        self._rejects = RejectColumns(*_room(rows, ("i8", "i8", "i4", "u4"), (REJECT + 64 * rows,)))
        self._state = np.zeros(SLOTS, np.int64)
        self._kernel = self._kernel_by(self.rules)

    def scan_octets(self, octets: Octets) -> Iterator[Matches]:
        """The matches of a text in memory."""
        self._begin()
        octets, done = read_only(octets), False
        while not done:
            done = self._advance(self._kernel, Block(octets, len(octets), True), 0)
            if done:
                self._finish(octets, 0)
            if self._holds_some():
                yield self._take()

    def scan(self, read_into: Callable[[memoryview], int], *, after_each: bool = False) -> Iterator[Matches]:
        """The matches of a stream.

        `read_into(view)` fills the front of a writable view of octets and returns their number; 0 is the end. If it
        fills less than the view, or no match was given for a fifth of a second, the matches so far are given without
        waiting for more. With `after_each` they are given after each read, even if there are none.
        Raises what `read_into` raises, after the matches that were decided before.
        """
        # A match is decided at most 2 * max_length octets behind its start: a list is cut at its separator and matched
        # again. The octets before it decide whether it may begin, and whether it stands in a URL.
        if not len(self._buffer):
            undecided = max(2 * self.grammar.max_length + LOOKAHEAD, REJECT)
            self._buffer = np.empty(LOOK_BACK + undecided + self._block, np.uint8)
        buffer, state, find = self._buffer, self._state, self._kernel
        self._begin()
        base = filled = 0
        given = monotonic()
        failure: Exception | None = None
        while True:
            room = min(len(buffer) - filled, self._block)
            try:
                got = read_into(buffer.data[filled : filled + room])
            except Exception as error:  # noqa: BLE001 (raised again below)
                # A URN that runs into the failure is not whole and does not count; all before it does. A reject that
                # runs into it is given up, so that the matches behind its beginning are found.
                failure, got, find = error, 0, self._kernel_by(self.rules._replace(rejects=False))
            filled += got
            octets, done = read_only(buffer[:filled]), False
            while not done:
                done = self._advance(find, Block(octets, filled, not got and failure is None), base)
                if done and not got:
                    self._finish(octets, base)
                is_due = not done or got < self._block or monotonic() - given > _PATIENCE
                if after_each or (is_due and self._holds_some()):
                    yield self._take()
                    given = monotonic()
            if failure is not None:
                raise failure
            if not got:
                return
            keep_from = max(0, min(int(state[AT]) - LOOK_BACK, self.kept - base))
            if filled - keep_from + self._block > len(buffer):
                self._buffer = buffer = np.concatenate([buffer, np.empty(len(buffer), np.uint8)])
            if keep_from:
                buffer[: filled - keep_from] = buffer[keep_from:filled].copy()
                base += keep_from
                filled -= keep_from
                state[[AT, COUNTED]] -= keep_from

    def _begin(self) -> None:
        self.kept = sys.maxsize
        self._state[:] = 0
        self._state[LINE] = 1
        self.octets = self.lines = 0

    def _kernel_by(self, rules: Rules) -> Callable[[Block], bool]:
        """The kernel with these rules and the columns."""
        return with_last(kernel, self._state, rules, self._columns, self._rejects)

    def _advance(self, find: Callable[[Block], bool], block: Block, base: int) -> bool:
        """Run the kernel on a block that begins at the octet `base` of the text; True if the block is done."""
        state = self._state
        found, rejected = int(state[FOUND]), int(state[REJECTED])
        done = bool(find(block))
        self._columns.start[found : state[FOUND]] += base
        self._rejects.start[rejected : state[REJECTED]] += base
        self.left_out += int(state[LEFT_OUT])
        state[LEFT_OUT] = 0
        self.sight = Sight(block.octets, base, base + int(state[AT]), int(state[LINE]) - 1)
        return done

    def _finish(self, octets: Octets, base: int) -> None:
        """Count what was read; `octets` are the last."""
        self.octets = base + len(octets)
        self.lines = int(self._state[LINE]) - 1
        if self.grammar.count_lines:
            self.lines += count_lf(octets, int(self._state[COUNTED]), len(octets))

    def _holds_some(self) -> bool:
        """Whether the columns hold anything."""
        return bool(self._state[FOUND] or self._state[REJECTED])

    def _take(self) -> Matches:
        """Move the contents of the columns into arrays of their own."""
        found, text, canonical, host, rejected, reject_text = self._state[FOUND:].tolist()
        self._state[FOUND:] = 0
        rejects = Rejects(**_contents(self._rejects, rejected, (reject_text,))) if self.grammar.rejects else None
        matches = _contents(self._columns, found, (text, canonical, host))
        return Matches(**matches, via=np.zeros(found, np.uint8), rejects=rejects)


def _room(rows: int, kinds: Sequence[str], texts: Sequence[int]) -> Iterator[npt.NDArray[Any]]:
    """Columns of numbers, then columns of octets, of these sizes, each with its offsets."""
    yield from (np.empty(rows, kind) for kind in kinds)
    for size in texts:
        yield np.empty(size, np.uint8)
        yield np.zeros(rows + 1, np.int32)


def _contents(columns: Columns | RejectColumns, rows: int, used: Sequence[int]) -> dict[str, Any]:
    """Copies of the columns that `_room` makes, as far as they are filled, by name."""
    sizes = [rows] * (len(columns) - 2 * len(used))
    for octets in used:
        sizes += [octets, rows + 1]
    arrays: dict[str, npt.NDArray[Any]] = columns._asdict()
    return {name: array[:size].copy() for (name, array), size in zip(arrays.items(), sizes, strict=True)}
