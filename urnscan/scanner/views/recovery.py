"""The scanner that finds hidden URNs in addition to literal URNs, and returns all matches in the order of the text.

Hidden and literal matches do not overlap. A hidden URN replaces a literal match that is a part of it, such as the first
half of a broken URN. There is no search for hidden URNs inside a literal match.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import APOSTROPHE, LF, SPACE
from urnscan.compiled.bytes import ByteArray, Integers
from urnscan.compiled.jit import read_only
from urnscan.compiled.strings import take
from urnscan.scanner.blocks import BufferedText, Matches, Rejects, Scanner
from urnscan.scanner.grammar import Grammar
from urnscan.scanner.kernel import CUT, END, Block, mark_selected
from urnscan.scanner.views.bare import LOOK_BACK, find_references
from urnscan.scanner.views.elements import ELEMENTS
from urnscan.scanner.views.kinds import KINDS
from urnscan.scanner.views.markup import SLOTS as SLOTS_OF_MARKUP
from urnscan.scanner.views.readings import WRAPS, Plan
from urnscan.scanner.views.references import REFERENCES, STOP
from urnscan.scanner.views.windows import (
    ASK,
    AT,
    BROKEN,
    COUNT,
    DONE,
    FIRST_END,
    FULL,
    OPEN,
    SLOTS,
    USED,
    Windows,
    hosts,
    hunt,
)
from urnscan.scanner.views.wraps import AHEAD, is_enough, read_on
from urnscan.scanner.views.wraps import LOOK_BACK as LOOK_BACK_OF_WRAPS
from urnscan.urn.namespaces.judgement_columns import numbered_nids
from urnscan.urn.namespaces.registry import OURS

_VIA = np.array([1, 1, 2, 3, 4, 5, 7], np.uint8)
"""For each of the READINGS, the number of its view: the index in KINDS plus 1. "percent" has two readings."""
# Maximum number of windows that are scanned as one text.
_WINDOWS = 1 << 12
_NO_PLACES = np.empty(0, np.int64)
_NUMBERS = ("start", "length", "line", "nid_length", "stop", "punctuation", "cut_short", "via")
_STRINGS = ("text", "canonical", "host")


class RecoveringScanner:
    """A scanner like `blocks.Scanner`, which also finds hidden URNs: encoded, broken over lines, or without `urn:`.

    `Matches.via` is 0 for a literal match, else 1 + the index of the view in KINDS; `length` is the length in the text.
    Rejects (texts that are nearly URNs) come in a Matches without rows, perhaps before matches of earlier text.
    """

    def __init__(self, grammar: Grammar, recover: Collection[str]) -> None:
        """`recover` has the names of the views (decodings) to use, from KINDS; another name raises ValueError."""
        self.grammar = grammar
        self.byte_count = self.lines = self.left_out = 0
        # Names are selected at the end, since a literal match that `nid` leaves out still replaces hidden URNs inside it.
        all_names = replace(grammar, nid=(), not_nid=())
        self._literal = Scanner(all_names)
        self.multi_byte = self._literal.multi_byte
        self._hidden = Scanner(replace(all_names, count_lines=False, rejects=False))
        self._rules = grammar.rules
        self._reads_bare = "bare" in recover
        on = np.isin(_VIA, [1 + KINDS.index(kind) for kind in recover]).astype(np.uint8)
        self._plan = Plan(on, self._hidden.rules, REFERENCES, ELEMENTS, numbered_nids(OURS))
        room = (1 << 18) + 8 * grammar.max_length
        self._windows = Windows(
            *(np.empty(room, kind) for kind in ("u1", "i8", "i8", "u1")),
            *(
                np.empty(size, kind)
                for size, kind in zip(4 * [_WINDOWS] + [SLOTS_OF_MARKUP], ("i8", "i8", "u1", "u1", "i8"), strict=True)
            ),
        )

    def prepare(self) -> None:
        """Load or compile `hunt`, the largest function of the search, so that the first scan need not wait."""
        for _ in self._scan(iter(()), in_memory=True):
            raise AssertionError

    def scan_bytes(self, data: ByteArray) -> Iterator[Matches]:
        """Yield the literal and hidden matches of a whole text in memory, in the order of the text; and its rejects."""
        return self._selected(self._scan(self._literal.scan_bytes(data), in_memory=True))

    def scan(self, read_into: Callable[[memoryview], int]) -> Iterator[Matches]:
        """Yield the literal and hidden matches of a stream, in order; and its rejects. `read_into(view)` fills the
        beginning of a view and returns the number of bytes; 0 means the end. Its errors are raised after the matches.
        """
        return self._selected(self._scan(self._literal.scan(read_into, after_each=True), in_memory=False))

    def _selected(self, batches: Iterator[Matches]) -> Iterator[Matches]:
        if not self._rules.filters_names:
            yield from batches
            return
        for matches in batches:
            rows = self._selected_rows(matches)
            self.left_out += len(matches) - len(rows)
            rejects = matches.rejects
            if rejects:
                rejects = _reject_rows(rejects, self._selected_rows(rejects))
            if len(rows) or rejects:
                yield replace(_rows(matches, rows), rejects=rejects)

    def _selected_rows(self, batch: Matches | Rejects) -> Integers:
        flags = np.empty(len(batch), np.bool_)
        mark_selected(read_only(batch.text), read_only(batch.text_offsets), self._rules, flags)
        return np.flatnonzero(flags)

    def _scan(self, batches: Iterator[Matches], *, in_memory: bool) -> Iterator[Matches]:
        """Yield the literal matches (`batches`), hidden matches and rejects; errors of `batches` come after all of
        them.
        """
        pending, literal = _PendingMatches(), self._literal
        try:
            for matches in batches:
                if matches.rejects:
                    yield replace(_rows(matches, _NO_PLACES), rejects=matches.rejects)
                pending.add(matches)
                yield from self._hunt(pending, literal.buffered, final=in_memory)
                literal.keep_from = min(pending.hunt_end, pending.reference_end) - LOOK_BACK
        except Exception:
            # A hidden URN before the failure counts, if it is complete.
            yield from self._hunt(pending, self._last_buffered(), failed=True)
            raise
        yield from self._hunt(pending, self._last_buffered(), final=True)

    def _last_buffered(self) -> BufferedText:
        self.byte_count, self.lines = self._literal.byte_count, self._literal.lines
        # After the last read, all literal matches are known.
        return self._literal.buffered._replace(decided=self.byte_count, lines=self.lines)

    def _hunt(
        self, pending: _PendingMatches, text: BufferedText, *, final: bool = False, failed: bool = False
    ) -> Iterator[Matches]:
        """Search for hidden URNs as far as all literal matches are known, and yield the decided matches. With `final`,
        the text ends after the buffered bytes; with `failed`, the next bytes cannot be read.
        """
        data, base = text.data, text.base
        starts, ends = (places - base for places in pending.extents())
        state = np.zeros(SLOTS, np.int64)
        state[AT] = pending.hunt_end - base
        block = Block(data, len(data), final)
        while True:
            result = hunt(block, text.decided - base, (starts, ends), state, self._plan, self._windows)
            if result == ASK:
                result = self._read_on(state, data, final=final, failed=failed)
                if result == DONE:
                    continue
            pending.hidden += self._scan_windows(state, pending, text)
            if result == OPEN and failed:
                # The unreadable bytes may belong to the URN here. So a literal match of its beginning does not count.
                pending.add_hidden(base + state[[AT]], base + state[[AT]] + 1)
                state[AT], state[FIRST_END] = state[AT] + 1, 0
            elif result != FULL:
                break
        pending.hunt_end = base + int(state[AT])
        at_the_end = (final or failed) and text.decided == base + len(data)
        if self._reads_bare:
            self._add_references(pending, text, whole=final and at_the_end, failed=failed)
        else:
            # Otherwise the whole text would stay in memory.
            pending.reference_end = pending.hunt_end
        yield from pending.decided(sys.maxsize if at_the_end else pending.reference_end)

    def _add_references(self, pending: _PendingMatches, text: BufferedText, *, whole: bool, failed: bool) -> None:
        """Add references to names without `urn:` that overlap no other match. `whole`: the text ends after the buffered
        bytes; `failed`: the next bytes cannot be read.
        """
        base, hunt_end = text.base, pending.hunt_end - text.base

        def are_free(places: Integers) -> npt.NDArray[np.bool_]:
            return pending.are_free(places + base, places + base + 1)

        references, end = find_references(
            text.data, pending.reference_end - base, hunt_end, are_free, whole=whole or failed
        )
        pending.reference_end = base + end
        # Unreadable bytes may belong to the name, or to a URN around the name.
        if failed:
            references = [
                reference
                for reference in references
                if reference.end < hunt_end and _separates(text.data[reference.end : reference.end + AHEAD])
            ]
        if not references:
            return
        starts = np.array([reference.start for reference in references]) + base
        ends = np.array([reference.end for reference in references]) + base
        free = np.flatnonzero(pending.are_free(starts, ends))
        urns = [references[row].urn for row in free]
        begins = np.cumsum([0, *(len(urn) + 1 for urn in urns)])
        joined = np.frombuffer(b"\0".join([*urns, b""]), np.uint8)
        for matches in self._hidden.scan_bytes(joined):
            numbers = np.searchsorted(begins, matches.start, side="right") - 1
            is_whole = np.diff(matches.text_offsets) == begins[numbers + 1] - begins[numbers] - 1
            rows, row = np.flatnonzero(is_whole), free[numbers[is_whole]]
            # Some URNs are not valid in each syntax: rfc2141bis-03 does not allow the slash of a DOI.
            if not len(rows):
                continue
            placed = self._placed(_rows(matches, rows), starts[row], ends[row], text)
            pending.hidden.append(replace(placed, via=np.full(len(rows), 1 + KINDS.index("bare"), np.uint8)))

    def _read_on(self, state: Integers, data: ByteArray, *, final: bool, failed: bool) -> int:
        """Append a window for the URN at `state[AT]`, if it goes on after a break. Returns DONE, also if it does not;
        ASK if more bytes are needed; OPEN if they cannot be read.
        """
        windows = self._windows
        at, used, count, first_end = (int(state[slot]) for slot in (AT, USED, COUNT, FIRST_END))
        ahead = first_end + AHEAD
        if not final and not failed and not is_enough(data[first_end:ahead].tobytes()):
            return ASK
        first = max(0, at - LOOK_BACK_OF_WRAPS)
        broken = read_on(data[first:ahead].tobytes(), at - first, self.grammar.syntax, self.grammar.max_length)
        if broken is None:
            return DONE
        if failed and first + broken.places[-1] + 1 == len(data):
            return OPEN
        # Trimming ends a URN at an apostrophe if another one precedes the URN. So the window needs this one, too.
        if at and data[at - 1] == APOSTROPHE:
            windows.data[used] = APOSTROPHE
            used += 1
        end = used + len(broken.text)
        windows.data[used:end] = np.frombuffer(broken.text, np.uint8)
        windows.data[end] = STOP
        windows.origin[used:end] = broken.places + first
        windows.after[used:end] = windows.origin[used:end] + 1
        windows.changed[used:end] = np.diff(broken.places, prepend=broken.places[0] - 1) != 1
        windows.starts[count], windows.ends[count] = used, windows.after[end - 1]
        windows.cuts[count], windows.readings[count] = broken.is_cut, WRAPS
        state[BROKEN] = end + 1
        return DONE

    def _scan_windows(self, state: Integers, pending: _PendingMatches, text: BufferedText) -> Iterator[Matches]:
        """Yield the matches in the windows, with their positions in the text, and remove the windows."""
        used, count = int(state[USED]), int(state[COUNT])
        if not count:
            return
        state[USED] = state[COUNT] = 0
        windows, base = self._windows, text.base
        starts, ends = windows.starts[:count], windows.ends[:count] + base
        pending.add_hidden(windows.origin[starts] + base, ends)
        changes = np.append(0, np.cumsum(windows.changed[:used], dtype=np.int64))
        for matches in self._hidden.scan_bytes(windows.data[:used]):
            first = matches.start
            last = first + np.diff(matches.text_offsets) - 1
            numbers = np.searchsorted(starts, first, side="right") - 1
            start, end = windows.origin[first] + base, windows.after[last] + base
            placed = self._placed(matches, start, end, text)
            is_cut = (windows.cuts[numbers] > 0) & (end == ends[numbers])
            # Trimming splits lists. The later items of a list in a window may be literal.
            is_hidden = (first == starts[numbers]) | (changes[last + 1] > changes[first])
            yield replace(
                placed,
                stop=np.where(is_cut, CUT, placed.stop).astype(np.int16),
                via=np.where(is_hidden, _VIA[windows.readings[numbers]], 0).astype(np.uint8),
            )

    def _placed(self, matches: Matches, start: Integers, end: Integers, text: BufferedText) -> Matches:
        """Matches in decoded text, with places in the original text: byte offsets, `end` exclusive."""
        # The URL around a hidden URN is in the original text only.
        host, host_offsets = hosts(text.data, start - text.base)
        return replace(
            matches,
            start=start,
            length=(end - start).astype(np.int32),
            host=host,
            host_offsets=host_offsets,
            line=_lines(start, text) if self.grammar.count_lines else matches.line,
            stop=_stops(end, text).astype(np.int16),
        )


def _separates(data: ByteArray) -> bool:
    """Whether a URN that begins before `data` certainly ends in it, even if broken over lines."""
    return bool((data <= SPACE).any()) and is_enough(data.tobytes())


def _lines(places: Integers, text: BufferedText) -> Integers:
    """The line numbers, from 1, of byte offsets in the text, which must be sorted, not empty, and in memory."""
    decided, places = text.decided - text.base, places - text.base
    low, high = min(decided, places[0]), max(decided, places[-1])
    ends = low + np.flatnonzero(text.data[low:high] == LF)
    return 1 + text.lines + np.searchsorted(ends, places) - np.searchsorted(ends, decided)


def _stops(places: Integers, text: BufferedText) -> Integers:
    within = places < text.base + len(text.data)
    return np.where(within, text.data[np.where(within, places - text.base, 0)].astype(np.int64), END)


class _PendingMatches:
    def __init__(self) -> None:
        self.hidden: list[Matches] = []
        """Hidden matches, in order."""
        self.hunt_end = 0
        """Byte offset in the text up to which all hidden URNs are known."""
        self.reference_end = 0
        """Byte offset in the text up to which all references to names without `urn:` are known."""
        # The end of the last match that was yielded.
        self._last_end = 0
        # Matches before `hunt_end` that cannot be yielded until `reference_end` has passed them.
        self._hunted: list[Matches] = []
        self._literal: list[Matches] = []
        # Starts and ends of hidden URNs in the text. The first column is only a sentinel for searches.
        self._hidden_extents = np.full((2, 1), -1)

    def add(self, matches: Matches) -> None:
        if len(matches):
            self._literal.append(self._free(replace(matches, rejects=None)))

    def add_hidden(self, starts: Integers, ends: Integers) -> None:
        """Remember the places of hidden URNs in the text (byte offsets): literal matches that begin inside one of them
        are dropped. The matches themselves are added to `hidden`.
        """
        self._hidden_extents = np.hstack([self._hidden_extents, [starts, ends]])

    def extents(self) -> tuple[Integers, Integers]:
        starts = [matches.start for matches in self._literal]
        ends = [matches.start + matches.length for matches in self._literal]
        return np.concatenate([_NO_PLACES, *starts]), np.concatenate([_NO_PLACES, *ends])

    def are_free(self, starts: Integers, ends: Integers) -> npt.NDArray[np.bool_]:
        """For each range of bytes, `starts[i]` to before `ends[i]`, whether it overlaps no match. No range ends after
        `hunt_end`.
        """
        batches = [*self._literal, *self._hunted, *self.hidden]
        begin = np.concatenate([[0], *(matches.start for matches in batches)])
        end = np.concatenate([[self._last_end], *(matches.start + matches.length for matches in batches)])
        order = np.argsort(begin, kind="stable")
        last_ends = np.maximum.accumulate(end[order])
        return last_ends[np.searchsorted(begin[order], ends) - 1] <= starts

    def decided(self, until: int) -> Iterator[Matches]:
        """Remove and yield, in order, the matches that begin before `until`."""
        batches = [self._free(matches) for matches in self._literal]
        hidden = [*self._hunted, *self.hidden]
        if hidden:
            joined = _joined([*batches, *hidden])
            batches = [_rows(joined, np.argsort(joined.start, kind="stable"))]
        self.hidden, self._hunted, self._literal = [], [], []
        for matches in batches:
            count, hunted = np.searchsorted(matches.start, [until, max(until, self.hunt_end)]).tolist()
            if count:
                self._last_end = int(matches.start[count - 1] + matches.length[count - 1])
                yield matches if count == len(matches) else _rows(matches, np.arange(count))
            if count < hunted:
                self._hunted.append(_rows(matches, np.arange(count, hunted)))
            if hunted < len(matches):
                self._literal.append(_rows(matches, np.arange(hunted, len(matches))))
        # Only the last hidden URN can reach beyond `hunt_end`.
        self._hidden_extents = self._hidden_extents[:, [0, -1]]

    def _free(self, matches: Matches) -> Matches:
        """The literal matches that do not begin inside a hidden URN."""
        starts, ends = self._hidden_extents
        free = matches.start >= ends[np.searchsorted(starts, matches.start, side="right") - 1]
        return matches if free.all() else _rows(matches, np.flatnonzero(free))


def _rows(matches: Matches, numbers: Integers) -> Matches:
    """The matches with these row numbers, without rejects."""
    rows = numbers.astype(np.int32)
    columns: dict[str, Any] = {name: getattr(matches, name)[rows] for name in _NUMBERS}
    for name in _STRINGS:
        offsets = f"{name}_offsets"
        columns[name], columns[offsets] = take(getattr(matches, name), getattr(matches, offsets), rows)
    return Matches(**columns)


def _reject_rows(rejects: Rejects, rows: Integers) -> Rejects:
    text, text_offsets = take(rejects.text, rejects.text_offsets, rows.astype(np.int32))
    start, line, position, rest = (rejects.start, rejects.line, rejects.position, rejects.rest)
    return Rejects(start[rows], line[rows], position[rows], rest[rows], text, text_offsets)


def _joined(batches: Sequence[Matches]) -> Matches:
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(matches, name) for matches in batches]) for name in (*_NUMBERS, *_STRINGS)
    }
    for name in _STRINGS:
        lengths = [np.diff(getattr(matches, f"{name}_offsets")) for matches in batches]
        columns[f"{name}_offsets"] = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int32)
    return Matches(**columns)
