"""The scanner that finds hidden URNs beside literal ones, all in their order.

Hidden and literal matches do not overlap. A hidden URN replaces a literal match that is part of it, such as its first
half; and no hidden URN is searched for inside a literal match.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import APOSTROPHE, SPACE
from urnscan.arrays.jit import read_only
from urnscan.arrays.octets import Integers, Octets
from urnscan.arrays.strings import take
from urnscan.scanner.blocks import Matches, Rejects, Scanner, Sight
from urnscan.scanner.grammar import Grammar
from urnscan.scanner.kernel import CUT, END, Block, mark_wanted
from urnscan.scanner.views import KINDS
from urnscan.scanner.views.bare import LOOK_BACK, find_references
from urnscan.scanner.views.elements import ELEMENTS
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
from urnscan.scanner.views.wraps import AHEAD, BEHIND, is_enough, read_on
from urnscan.urn.namespaces.columns import registered_nids

_LF = 10
_VIA = np.array([1, 1, 2, 3, 4, 5, 7], np.uint8)
"""The view of each of the READINGS: its number in KINDS, from 1. "percent" is read once and twice."""
_WINDOWS = 1 << 12  # windows that are scanned as one text
_NO_PLACES = np.empty(0, np.int64)
_NUMBERS = ("start", "length", "line", "nid_length", "stop", "punctuation", "via")
_STRINGS = ("text", "canonical", "host")


class RecoveringScanner:
    """Scans as `Scanner` does, and finds URNs that views show, too, in one thread.

    `Matches.via` is 0 for a literal match, else 1 + the index of the view in KINDS; `length` is the length in the text.
    Rejects come in a Matches of their own.
    """

    def __init__(self, grammar: Grammar, recover: Collection[str]) -> None:
        """`recover` are names of KINDS."""
        self.grammar = grammar
        self.octets = self.lines = self.left_out = 0
        # Also a literal match that is not wanted hides what stands in it.
        every = replace(grammar, nid=(), not_nid=())
        self._literal = Scanner(every)
        self._hidden = Scanner(replace(every, count_lines=False, rejects=False))
        self._rules = grammar.rules
        self._reads_bare = "bare" in recover
        on = np.isin(_VIA, [1 + KINDS.index(kind) for kind in recover]).astype(np.uint8)
        self._plan = Plan(on, self._hidden.rules, REFERENCES, ELEMENTS, registered_nids())
        room = (1 << 18) + 8 * grammar.max_length
        self._windows = Windows(
            *(np.empty(room, kind) for kind in ("u1", "i8", "i8", "u1")),
            *(
                np.empty(size, kind)
                for size, kind in zip(4 * [_WINDOWS] + [SLOTS_OF_MARKUP], ("i8", "i8", "u1", "u1", "i8"), strict=True)
            ),
        )

    def prepare(self) -> None:
        """Compile or load the search for hidden URNs, and nothing else."""
        for _ in self._scan(iter(()), in_memory=True):
            raise AssertionError

    def scan_octets(self, octets: Octets) -> Iterator[Matches]:
        """The matches of a text in memory."""
        return self._wanted(self._scan(self._literal.scan_octets(octets), in_memory=True))

    def scan(self, read_into: Callable[[memoryview], int]) -> Iterator[Matches]:
        """The matches of a stream. Reads and raises as `Scanner.scan` does."""
        return self._wanted(self._scan(self._literal.scan(read_into, after_each=True), in_memory=False))

    def _wanted(self, found: Iterator[Matches]) -> Iterator[Matches]:
        """The matches and rejects that are wanted."""
        if not self._rules.chooses:
            yield from found
            return
        for matches in found:
            places = self._where_wanted(matches)
            self.left_out += len(matches) - len(places)
            rejects = matches.rejects
            if rejects:
                rejects = _reject_rows(rejects, self._where_wanted(rejects))
            if len(places) or rejects:
                yield replace(_rows(matches, places), rejects=rejects)

    def _where_wanted(self, found: Matches | Rejects) -> Integers:
        """The rows that are wanted."""
        wanted = np.empty(len(found), np.bool_)
        mark_wanted(read_only(found.text), read_only(found.text_offsets), self._rules, wanted)
        return np.flatnonzero(wanted)

    def _scan(self, found: Iterator[Matches], *, in_memory: bool) -> Iterator[Matches]:
        """The literal matches, and the hidden ones beside them."""
        pending, literal = _Pending(), self._literal
        try:
            for matches in found:
                if matches.rejects:
                    yield replace(_rows(matches, _NO_PLACES), rejects=matches.rejects)
                pending.add(matches)
                yield from self._hunt(pending, literal.sight, final=in_memory)
                literal.kept = min(pending.hunted, pending.referred) - LOOK_BACK
        except Exception:
            # A hidden URN before the failure counts, if it is whole.
            yield from self._hunt(pending, self._all_in_sight(), failed=True)
            raise
        yield from self._hunt(pending, self._all_in_sight(), final=True)

    def _all_in_sight(self) -> Sight:
        """The octets in memory after the last read, all of them decided."""
        self.octets, self.lines = self._literal.octets, self._literal.lines
        return self._literal.sight._replace(decided=self.octets, lines=self.lines)

    def _hunt(self, pending: _Pending, sight: Sight, *, final: bool = False, failed: bool = False) -> Iterator[Matches]:
        """Hunt up to the place before which all literal matches are known; give the matches before the place reached.

        If `final`, the octets in sight are the last. If `failed`, the next octets cannot be read, and a URN that
        depends on them is left out.
        """
        octets, base = sight.octets, sight.base
        starts, ends = (places - base for places in pending.extents())
        state = np.zeros(SLOTS, np.int64)
        state[AT] = pending.hunted - base
        block = Block(octets, len(octets), final)
        while True:
            ended = hunt(block, sight.decided - base, (starts, ends), state, self._plan, self._windows)
            if ended == ASK:
                ended = self._read_on(state, octets, final=final, failed=failed)
                if ended == DONE:
                    continue
            pending.hits += self._scan_windows(state, pending, sight)
            if ended == OPEN and failed:
                # Octets that cannot be read may be part of the URN here: a literal beginning of it does not count.
                pending.take(base + state[[AT]], base + state[[AT]] + 1)
                state[AT], state[FIRST_END] = state[AT] + 1, 0
            elif ended != FULL:
                break
        pending.hunted = base + int(state[AT])
        at_the_end = (final or failed) and sight.decided == base + len(octets)
        until = pending.hunted
        if self._reads_bare:
            self._refer(pending, sight, whole=final and at_the_end, failed=failed)
            until = pending.referred
        yield from pending.decided(sys.maxsize if at_the_end else until)

    def _refer(self, pending: _Pending, sight: Sight, *, whole: bool, failed: bool) -> None:
        """Add the references to names without `urn:` that overlap no other match, up to where all matches are known.

        If `whole`, no octets follow those in sight. If `failed`, the next ones cannot be read.
        """
        base, hunted = sight.base, pending.hunted - sight.base

        def are_free(places: Integers) -> npt.NDArray[np.bool_]:
            return pending.are_free(places + base, places + base + 1)

        found, reached = find_references(sight.octets, pending.referred - base, hunted, are_free, whole=whole or failed)
        pending.referred = base + reached
        if failed:  # octets that cannot be read may belong to the name, or to a URN around it
            found = [
                each for each in found if each.end < hunted and _is_apart(sight.octets[each.end : each.end + AHEAD])
            ]
        if not found:
            return
        starts, ends = (
            np.array(places) + base for places in zip(*((each.start, each.end) for each in found), strict=True)
        )
        free = np.flatnonzero(pending.are_free(starts, ends))
        urns = [found[row].urn for row in free]
        begins = np.cumsum([0, *(len(urn) + 1 for urn in urns)])
        text = np.frombuffer(b"\0".join([*urns, b""]), np.uint8)
        for matches in self._hidden.scan_octets(text):
            of = np.searchsorted(begins, matches.start, side="right") - 1
            is_whole = np.diff(matches.text_offsets) == begins[of + 1] - begins[of] - 1
            rows, row = np.flatnonzero(is_whole), free[of[is_whole]]
            if not len(rows):  # a DOI with a slash is no name of rfc2141bis-03
                continue
            host, host_offsets = hosts(sight.octets, starts[row] - base)
            pending.hits.append(
                replace(
                    _rows(matches, rows),
                    start=starts[row],
                    length=(ends - starts)[row].astype(np.int32),
                    host=host,
                    host_offsets=host_offsets,
                    line=_lines(starts[row], sight) if self.grammar.count_lines else matches.line[rows],
                    stop=_stops(ends[row], sight).astype(np.int16),
                    via=np.full(len(rows), 1 + KINDS.index("bare"), np.uint8),
                )
            )

    def _read_on(self, state: Integers, octets: Octets, *, final: bool, failed: bool) -> int:
        """Put a window for the URN at which the hunt stands next, if it goes on behind a line end.

        Returns DONE; ASK if octets that are not in the block yet decide it; OPEN if octets that cannot be read do.
        """
        windows = self._windows
        at, used, count, first_end = (int(state[slot]) for slot in (AT, USED, COUNT, FIRST_END))
        ahead = first_end + AHEAD
        if not final and not failed and not is_enough(octets[first_end:ahead].tobytes()):
            return ASK
        behind = max(0, at - BEHIND)
        broken = read_on(octets[behind:ahead].tobytes(), at - behind, self.grammar.syntax, self.grammar.max_length)
        if broken is None:
            return DONE
        if failed and behind + broken.places[-1] + 1 == len(octets):
            return OPEN
        if at and octets[at - 1] == APOSTROPHE:  # it ends the URN where it stands again, if that is trimmed
            windows.octets[used] = APOSTROPHE
            used += 1
        end = used + len(broken.text)
        windows.octets[used:end] = np.frombuffer(broken.text, np.uint8)
        windows.octets[end] = STOP
        windows.origin[used:end] = broken.places + behind
        windows.after[used:end] = windows.origin[used:end] + 1
        windows.changed[used:end] = np.diff(broken.places, prepend=broken.places[0] - 1) != 1
        windows.starts[count], windows.ends[count] = used, windows.after[end - 1]
        windows.cuts[count], windows.readings[count] = broken.is_cut, WRAPS
        state[BROKEN] = end + 1
        return DONE

    def _scan_windows(self, state: Integers, pending: _Pending, sight: Sight) -> Iterator[Matches]:
        """Matches of the grammar in the windows, with their places in the text; then there are no windows."""
        used, count = int(state[USED]), int(state[COUNT])
        if not count:
            return
        state[USED] = state[COUNT] = 0
        windows, base = self._windows, sight.base
        starts, ends = windows.starts[:count], windows.ends[:count] + base
        pending.take(windows.origin[starts] + base, ends)
        changes = np.append(0, np.cumsum(windows.changed[:used], dtype=np.int64))
        for matches in self._hidden.scan_octets(windows.octets[:used]):
            first = matches.start
            last = first + np.diff(matches.text_offsets) - 1
            of = np.searchsorted(starts, first, side="right") - 1
            start, end = windows.origin[first] + base, windows.after[last] + base
            # Windows do not hold the URL around a hidden URN; the text does.
            host, host_offsets = hosts(sight.octets, windows.origin[first])
            is_cut = (windows.cuts[of] > 0) & (end == ends[of])
            # Later items of a list that trimming takes apart may be literal.
            is_hidden = (first == starts[of]) | (changes[last + 1] > changes[first])
            yield replace(
                matches,
                start=start,
                length=(end - start).astype(np.int32),
                host=host,
                host_offsets=host_offsets,
                line=_lines(start, sight) if self.grammar.count_lines else matches.line,
                stop=np.where(is_cut, CUT, _stops(end, sight)).astype(np.int16),
                via=np.where(is_hidden, _VIA[windows.readings[of]], 0).astype(np.uint8),
            )


def _is_apart(behind: Octets) -> bool:
    """Whether no URN goes on through all of these octets, also not over line ends."""
    return bool((behind <= SPACE).any()) and is_enough(behind.tobytes())


def _lines(places: Integers, sight: Sight) -> Integers:
    """The line of each of these places of the text, which are sorted."""
    decided, places = sight.decided - sight.base, places - sight.base
    low, high = min(decided, places[0]), max(decided, places[-1])
    ends = low + np.flatnonzero(sight.octets[low:high] == _LF)
    return 1 + sight.lines + np.searchsorted(ends, places) - np.searchsorted(ends, decided)


def _stops(places: Integers, sight: Sight) -> Integers:
    """The octet at each place of the text, END behind the last octet."""
    within = places < sight.base + len(sight.octets)
    return np.where(within, sight.octets[np.where(within, places - sight.base, 0)].astype(np.int64), END)


class _Pending:
    """Literal and hidden matches that wait to be put in one order."""

    def __init__(self) -> None:
        self.hits: list[Matches] = []
        """Hidden matches, in order."""
        self.hunted = 0
        """Place in the text before which all hidden URNs have been found."""
        self.referred = 0
        """Place in the text before which all references to names without `urn:` have been found."""
        self._ended = 0  # the end of the last match that was given
        self._known: list[Matches] = []  # matches before `hunted` that wait for references before them
        self._literal: list[Matches] = []
        self._taken = np.full((2, 1), -1)  # beginnings and ends of hidden URNs in the text; the first is none

    def add(self, matches: Matches) -> None:
        """Take the next literal matches."""
        if len(matches):
            self._literal.append(self._free(replace(matches, rejects=None)))

    def take(self, starts: Integers, ends: Integers) -> None:
        """Take hidden URNs by beginning and end; literal matches that begin inside them do not count."""
        self._taken = np.hstack([self._taken, [starts, ends]])

    def extents(self) -> tuple[Integers, Integers]:
        """Beginnings and ends of the waiting literal matches."""
        starts = [matches.start for matches in self._literal]
        ends = [matches.start + matches.length for matches in self._literal]
        return np.concatenate([_NO_PLACES, *starts]), np.concatenate([_NO_PLACES, *ends])

    def are_free(self, starts: Integers, ends: Integers) -> npt.NDArray[np.bool_]:
        """Whether each of these stretches of the text, all before `hunted`, overlaps no match."""
        matches = [*self._literal, *self._known, *self.hits]
        begin = np.concatenate([[0], *(each.start for each in matches)])
        end = np.concatenate([[self._ended], *(each.start + each.length for each in matches)])
        order = np.argsort(begin, kind="stable")
        last_ends = np.maximum.accumulate(end[order])
        return last_ends[np.searchsorted(begin[order], ends) - 1] <= starts

    def decided(self, until: int) -> Iterator[Matches]:
        """All matches that begin before `until`, in order, without literal ones inside hidden ones."""
        found = [self._free(matches) for matches in self._literal]
        known = [*self._known, *self.hits]
        if known:
            joined = _joined([*found, *known])
            found = [_rows(joined, np.argsort(joined.start, kind="stable"))]
        self.hits, self._known, self._literal = [], [], []
        for matches in found:
            given, hunted = np.searchsorted(matches.start, [until, max(until, self.hunted)]).tolist()
            if given:
                self._ended = int(matches.start[given - 1] + matches.length[given - 1])
                yield matches if given == len(matches) else _rows(matches, np.arange(given))
            if given < hunted:
                self._known.append(_rows(matches, np.arange(given, hunted)))
            if hunted < len(matches):
                self._literal.append(_rows(matches, np.arange(hunted, len(matches))))
        self._taken = self._taken[:, [0, -1]]  # only the last hidden URN can reach beyond `hunted`

    def _free(self, matches: Matches) -> Matches:
        """The literal matches that begin in no hidden URN."""
        starts, ends = self._taken
        free = matches.start >= ends[np.searchsorted(starts, matches.start, side="right") - 1]
        return matches if free.all() else _rows(matches, np.flatnonzero(free))


def _rows(matches: Matches, places: Integers) -> Matches:
    """The matches in these rows, without rejects."""
    rows = places.astype(np.int32)
    columns: dict[str, Any] = {name: getattr(matches, name)[rows] for name in _NUMBERS}
    for name in _STRINGS:
        offsets = f"{name}_offsets"
        columns[name], columns[offsets] = take(getattr(matches, name), getattr(matches, offsets), rows)
    return Matches(**columns)


def _reject_rows(rejects: Rejects, places: Integers) -> Rejects:
    """The rejects in these rows."""
    text, text_offsets = take(rejects.text, rejects.text_offsets, places.astype(np.int32))
    start, line, position, rest = (rejects.start, rejects.line, rejects.position, rejects.rest)
    return Rejects(start[places], line[places], position[places], rest[places], text, text_offsets)


def _joined(parts: Sequence[Matches]) -> Matches:
    """The concatenated matches."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in (*_NUMBERS, *_STRINGS)
    }
    for name in _STRINGS:
        lengths = [np.diff(getattr(part, f"{name}_offsets")) for part in parts]
        columns[f"{name}_offsets"] = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int32)
    return Matches(**columns)
