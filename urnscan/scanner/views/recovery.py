"""The scanner that finds hidden URNs beside literal ones, all in their order.

Hidden and literal matches do not overlap. A hidden URN replaces a literal match that is part of it, such as its first
half; and no hidden URN is searched for inside a literal match.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from urnscan.arrays.jit import read_only
from urnscan.arrays.octets import Integers, Octets, count_lf
from urnscan.arrays.strings import cut
from urnscan.scanner.blocks import Grammar, Matches, Rejects, Scanner, Sight
from urnscan.scanner.columns import CUT, END, Block
from urnscan.scanner.views import KINDS
from urnscan.scanner.views.candidates import (
    ENTITIES,
    ESCAPES,
    LABELS,
    PERCENT_ONCE,
    PERCENT_TWICE,
    READINGS,
    WRAPS,
)
from urnscan.scanner.views.steps import ENTITY_NAMES, ENTITY_OCTETS, STOP
from urnscan.scanner.views.windows import (
    ANSWERED,
    ASK,
    AT,
    COUNT,
    DONE,
    FULL,
    LITERAL,
    OPEN,
    SLOTS,
    USED,
    Plan,
    Windows,
    hosts,
    hunt,
)
from urnscan.scanner.views.wraps import AHEAD, BEHIND, is_enough, read_on
from urnscan.urn.namespaces.columns import registered_nids

__all__ = ["RecoveringScanner"]

_READINGS_OF = {
    "percent": (PERCENT_ONCE, PERCENT_TWICE),
    "entities": (ENTITIES,),
    "escapes": (ESCAPES,),
    "wraps": (WRAPS,),
    "labels": (LABELS,),
}
_VIA = np.zeros(READINGS, np.uint8)
for _number, _kind in enumerate(KINDS, 1):
    _VIA[list(_READINGS_OF[_kind])] = _number
_WINDOWS = 1 << 12  # windows that are scanned as one text
_NO_PLACES = np.empty(0, np.int64)
_STRINGS = [field.name.removesuffix("_offsets") for field in fields(Matches) if field.name.endswith("_offsets")]
_NUMBERS = [
    field.name
    for field in fields(Matches)
    if field.name not in ("rejects", *_STRINGS) and not field.name.endswith("_offsets")
]


class RecoveringScanner:
    """Scans as `Scanner` does, and finds URNs that views show, too, in one thread.

    `Matches.via` is 0 for a literal match, else 1 + the index of the view in KINDS; `length` is the length in the text.
    """

    def __init__(self, grammar: Grammar, recover: Collection[str]) -> None:
        """`recover` are names of KINDS."""
        self.grammar = grammar
        self.octets = self.lines = 0
        self._literal = Scanner(grammar)
        self._hidden = Scanner(replace(grammar, count_lines=False, rejects=False))
        on = np.zeros(READINGS, np.uint8)
        on[[reading for kind in recover for reading in _READINGS_OF[kind]]] = 1
        self._plan = Plan(
            on, self._hidden.rules, ENTITY_NAMES, np.frombuffer(ENTITY_OCTETS, np.uint8), registered_nids()
        )
        room = (1 << 18) + 8 * grammar.max_length
        self._windows = Windows(
            np.empty(room, np.uint8),
            np.empty(room, np.int64),
            np.empty(room, np.int64),
            np.empty(room, np.uint8),
            np.empty(_WINDOWS, np.int64),
            np.empty(_WINDOWS, np.int64),
            np.empty(_WINDOWS, np.uint8),
            np.empty(_WINDOWS, np.uint8),
        )

    def scan_octets(self, octets: Octets) -> Iterator[Matches]:
        """The matches of a text in memory."""
        merging = _Merging()
        octets = read_only(octets)
        decided = lines = 0
        for matches in self._literal.scan_octets(octets):
            if len(matches):  # the next match begins behind the last of these
                decided = int(matches.start[-1] + matches.length[-1])
                lines = int(matches.line[-1]) - 1
            yield from self._hunt(merging, matches, Sight(octets, 0, decided, lines), final=True)
        self._take_counts()
        yield from self._hunt(merging, None, Sight(octets, 0, len(octets), self.lines), final=True)

    def scan(self, read_into: Callable[[memoryview], int]) -> Iterator[Matches]:
        """The matches of a stream. Reads and raises as `Scanner.scan` does."""
        merging, literal = _Merging(), self._literal
        try:
            for matches in literal.scan(read_into, after_each=True):
                yield from self._hunt(merging, matches, literal.sight, final=False)
                literal.kept = merging.hunted - BEHIND
        except Exception:
            # A hidden URN before the failure counts, if it is whole.
            yield from self._hunt(merging, None, self._all_in_sight(), final=False, failed=True)
            raise
        yield from self._hunt(merging, None, self._all_in_sight(), final=True)

    def _all_in_sight(self) -> Sight:
        """The octets in memory after the last read, all of them decided."""
        self._take_counts()
        sight = self._literal.sight
        return sight._replace(decided=sight.base + len(sight.octets), lines=self.lines)

    def _take_counts(self) -> None:
        self.octets, self.lines = self._literal.octets, self._literal.lines

    def _hunt(
        self, merging: _Merging, matches: Matches | None, sight: Sight, *, final: bool, failed: bool = False
    ) -> Iterator[Matches]:
        """Hunt up to the place before which all literal matches are known; give the matches before the place reached.

        If `final`, the octets in sight are the last. If `failed`, the next octets cannot be read, and a URN that
        depends on them is left out.
        """
        merging.add(matches)
        octets, base = sight.octets, sight.base
        starts, ends = (places - base for places in merging.extents())
        state = np.zeros(SLOTS, np.int64)
        state[AT] = merging.hunted - base
        block, literal_places = Block(octets, len(octets), final), (starts, ends)
        goes_on = merging.hunted < sight.decided
        while goes_on:
            ended = hunt(block, sight.decided - base, literal_places, state, self._plan, self._windows)
            goes_on = ended == FULL
            if ended == ASK:
                literal = int(state[LITERAL])
                is_literal = literal < len(starts) and starts[literal] == state[AT]
                first_end = int(ends[literal] if is_literal else state[AT])
                ended = self._read_on(state, first_end, octets, final=final, failed=failed)
                goes_on = ended != ASK
            if ended == OPEN and failed:
                merging.leave_open(base + int(state[AT]))
                state[AT], state[ANSWERED] = state[AT] + 1, 0
                goes_on = True
            if ended == FULL or not goes_on:
                merging.hits += self._scan_windows(int(state[USED]), int(state[COUNT]), merging, sight)
                state[USED] = state[COUNT] = 0
        merging.hunted = max(merging.hunted, base + int(state[AT]))
        at_the_end = (final or failed) and sight.decided == base + len(octets)
        yield from merging.decided(None if at_the_end else merging.hunted)

    def _read_on(self, state: Integers, first_end: int, octets: Octets, *, final: bool, failed: bool) -> int:
        """Append a window for the URN at which the hunt stands, if it goes on behind a line end.

        `first_end` is where its first part ends, or where it begins if that is not known. Returns DONE; ASK if more
        octets decide it; OPEN if octets that cannot be read do.
        """
        windows = self._windows
        at, used, count = (int(state[slot]) for slot in (AT, USED, COUNT))
        ahead = first_end + AHEAD
        if not final and not failed and not is_enough(octets[first_end:ahead].tobytes()):
            state[ANSWERED] = 0
            return ASK
        behind = max(0, at - BEHIND)
        broken = read_on(octets[behind:ahead].tobytes(), at - behind, self.grammar.syntax, self.grammar.max_length)
        if broken is None:
            return DONE
        if failed and behind + broken.places[-1] + 1 == len(octets):
            return OPEN
        end = used + len(broken.text)
        windows.octets[used:end] = np.frombuffer(broken.text, np.uint8)
        windows.octets[end] = STOP
        windows.origin[used:end] = broken.places + behind
        windows.after[used:end] = windows.origin[used:end] + 1
        windows.changed[used:end] = np.diff(broken.places, prepend=broken.places[0] - 1) != 1
        text_end = int(windows.after[end - 1])
        windows.starts[count], windows.ends[count] = used, text_end
        windows.cuts[count], windows.readings[count] = broken.is_cut, WRAPS
        state[AT], state[USED], state[COUNT], state[ANSWERED] = text_end, end + 1, count + 1, 0
        return DONE

    def _scan_windows(self, used: int, count: int, merging: _Merging, sight: Sight) -> list[Matches]:
        """Matches of the grammar in the windows, with their places in the text."""
        if not count:
            return []
        windows, base, found = self._windows, sight.base, []
        merging.take(windows.origin[windows.starts[:count]] + base, windows.ends[:count] + base)
        changes = np.concatenate([_NO_PLACES, [0], np.cumsum(windows.changed[:used], dtype=np.int64)])
        for matches in self._hidden.scan_octets(windows.octets[:used]):
            first = matches.start
            length = np.diff(matches.text_offsets)
            last = first + length - 1
            of = np.searchsorted(windows.starts[:count], first, side="right") - 1
            start, end = windows.origin[first] + base, windows.after[last] + base
            # Windows do not hold the URL around a hidden URN; the text does.
            host, host_offsets = hosts(sight.octets, windows.origin[first])
            is_cut = (windows.cuts[of] > 0) & (end == windows.ends[of] + base)
            # Later items of a list that trimming takes apart may be literal.
            is_hidden = (first == windows.starts[of]) | (changes[last + 1] > changes[first])
            hits = replace(
                matches,
                start=start,
                length=(end - start).astype(np.int32),
                host=host,
                host_offsets=host_offsets,
                line=_lines_before(start, sight) + 1 if self.grammar.count_lines else matches.line,
                stop=np.where(is_cut, CUT, _stops(end, sight)).astype(np.int16),
                via=np.where(is_hidden, _VIA[windows.readings[of]], 0).astype(np.uint8),
            )
            found.append(hits)
        return found


def _lines_before(places: Integers, sight: Sight) -> Integers:
    """LF octets of the stream before each place."""
    lines = np.empty(len(places), np.int64)
    at, before = sight.decided - sight.base, sight.lines
    for i, place in enumerate((places - sight.base).tolist()):
        low, high = min(at, place), max(at, place)
        between = count_lf(sight.octets, low, high)
        at, before = place, before + (between if place > at else -between)
        lines[i] = before
    return lines


def _stops(places: Integers, sight: Sight) -> Integers:
    """The octet at each place of the stream, END behind the last octet."""
    within = places < sight.base + len(sight.octets)
    return np.where(within, sight.octets[np.where(within, places - sight.base, 0)].astype(np.int64), END)


class _Merging:
    """Literal and hidden matches that wait to be put in one order."""

    def __init__(self) -> None:
        self.hits: list[Matches] = []
        """Hidden matches, in order."""
        self.hunted = 0
        """Place in the stream before which all hidden URNs have been found."""
        self._literal: list[Matches] = []
        self._open: list[int] = []
        self._taken = [_NO_PLACES], [_NO_PLACES]  # beginnings and ends of the hidden URNs in the text

    def add(self, matches: Matches | None) -> None:
        """Take the next literal matches."""
        if matches is not None and (len(matches) or matches.rejects is not None):
            self._literal.append(self._free(matches))

    def take(self, starts: Integers, ends: Integers) -> None:
        """Take hidden URNs by beginning and end; literal matches that begin inside them do not count."""
        self._taken[0].append(starts)
        self._taken[1].append(ends)

    def leave_open(self, at: int) -> None:
        """Octets that cannot be read may be part of the URN at `at`: a literal beginning of it does not count."""
        self._open.append(at)

    def extents(self) -> tuple[Integers, Integers]:
        """Beginnings and ends of the waiting literal matches."""
        starts = [matches.start for matches in self._literal]
        ends = [matches.start + matches.length for matches in self._literal]
        return np.concatenate([_NO_PLACES, *starts]), np.concatenate([_NO_PLACES, *ends])

    def decided(self, until: int | None) -> Iterator[Matches]:
        """All matches that begin before `until` (None: all), in order, without literal ones inside hidden ones."""
        hits, self.hits = self.hits, []
        literal, self._literal = [self._free(matches) for matches in self._literal], []
        if hits:
            for matches in literal:
                if matches.rejects is not None:
                    yield _rows(matches, _NO_PLACES, rejects=matches.rejects)
            found = _joined([*literal, *hits])
            literal = [_rows(found, np.argsort(found.start, kind="stable"), rejects=None)]
        for matches in literal:
            count = len(matches) if until is None else int(np.searchsorted(matches.start, until))
            if count == len(matches):
                yield matches
                continue
            self._literal.append(_rows(matches, np.arange(count, len(matches)), rejects=None))
            if count or matches.rejects is not None:
                yield _rows(matches, np.arange(count), rejects=matches.rejects)
        # Only the last hidden URN can reach beyond `until`.
        self._taken = [np.concatenate(self._taken[0])[-1:]], [np.concatenate(self._taken[1])[-1:]]

    def _free(self, matches: Matches) -> Matches:
        """The literal matches that begin in no hidden URN."""
        starts, ends = map(np.concatenate, self._taken)
        if not len(matches):
            return matches
        free = ~np.isin(matches.start, self._open)
        if len(starts):
            before = np.searchsorted(starts, matches.start, side="right") - 1
            free &= (before < 0) | (matches.start >= ends[before])
        return matches if free.all() else _rows(matches, np.flatnonzero(free), matches.rejects)


def _rows(matches: Matches, rows: Integers, rejects: Rejects | None) -> Matches:
    """The matches in these rows."""
    columns: dict[str, Any] = {}
    for name in _STRINGS:
        octets, offsets = getattr(matches, name), getattr(matches, f"{name}_offsets")
        columns[name], columns[f"{name}_offsets"] = cut(octets, offsets[:-1][rows], offsets[1:][rows])
    for name in _NUMBERS:
        column = getattr(matches, name)
        columns[name] = None if column is None else column[rows]
    return Matches(**columns, rejects=rejects)


def _joined(parts: Sequence[Matches]) -> Matches:
    """The concatenated matches."""
    columns: dict[str, Any] = {}
    for name in _STRINGS:
        columns[name] = np.concatenate([getattr(part, name) for part in parts])
        lengths = [np.diff(getattr(part, f"{name}_offsets")) for part in parts]
        columns[f"{name}_offsets"] = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
    for name in _NUMBERS:
        columns[name] = np.concatenate(
            [np.zeros(len(part), np.uint8) if (column := getattr(part, name)) is None else column for part in parts]
        )
    return Matches(**columns, rejects=None)
