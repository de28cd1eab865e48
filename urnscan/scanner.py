"""The scanner: octets in, columns of matches out.

One kernel in plain Python, compiled by Numba, is both the hunt for `urn:` and the grammar of all three syntaxes
(tables of octet roles from `syntax.py`). It knows no files, no lines of text and no Arrow. The result does not depend
on how the input is cut into blocks: what a block cannot decide is carried over to the next.

With NUMBA_DISABLE_JIT=1 the same functions run in the debugger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled import compiled, read_only
from urnscan.syntax import (
    ALNUM,
    COMPONENT,
    HEX,
    LDH,
    NSS,
    NSS_FIRST,
    QUERY,
    TAIL_COMPONENTS,
    TAIL_NONE,
    TAIL_QUERY,
    VALUE,
    Syntax,
)

__all__ = ["CUT", "END", "MAX_LENGTH", "Grammar", "Matches", "Scanner"]

MAX_LENGTH = 65_536
"""The default of `max_length`: the most octets of a match."""
END, CUT = -2, -1
"""Values of `stop` that are no octet: the end of the input, and the cut at `max_length`."""

Octets = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

_BLOCK = 1 << 20  # octets read at a time: small enough to stay in the processor's cache
_ROWS = 1 << 16  # matches in one Matches at most
_LOOKAHEAD = 5  # what decides whether a URN ends before a "%" or a "?" is no longer than "?+%HH"
_HUNT = 64  # octets that are searched for "urn:" at once
_NEAR = 256  # octets of a match that trimming looks at first
_DENSE = 4 * _HUNT  # so close behind a match the next one is likely
_CASE = np.uint8(32)  # the bit in which upper and lower case differ; an octet of its own keeps the hunt in octets


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a scan goes by: a syntax and the options that change what is found."""

    syntax: Syntax
    max_length: int = MAX_LENGTH
    trim: bool = False
    keep_query: bool = False
    """Canonical forms keep the query of rfc2141bis-03 (§5, step 5b, before its directives are sorted)."""
    count_lines: bool = True
    """Off, `Matches.line` is 0 throughout: counting costs a pass over all octets."""

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise ValueError("max_length must be at least 1")


@dataclass(frozen=True, slots=True)
class Matches:
    """Columns of matches, in their order. All arrays are the caller's own."""

    start: Integers
    """Octets from the start of the stream."""
    length: npt.NDArray[np.int32]
    line: Integers
    """1 + the LF octets before the match in the stream."""
    nid_length: npt.NDArray[np.uint8]
    stop: npt.NDArray[np.int16]
    """The octet that ended the match, or END, or CUT."""
    trailing: npt.NDArray[np.uint8]
    """How many octets `trim` would cut, 255 for more; 0 where it did."""
    text: Octets
    text_offsets: npt.NDArray[np.int32]
    """The octets as found, end to end: match i is `text[text_offsets[i]:text_offsets[i + 1]]`."""
    canonical: Octets
    canonical_offsets: npt.NDArray[np.int32]
    """The lexical canonical forms in the same way."""

    def __len__(self) -> int:
        return len(self.start)

    def locate(self, starts: Integers, ends: Integers) -> npt.NDArray[np.int32]:
        """In which of several texts each match stands, when they were scanned as one, each followed by a separator.

        Text i is the octets from `starts[i]` to `ends[i]`. What ended a match there was no octet of the text: END.
        """
        which = (np.searchsorted(starts, self.start, side="right") - 1).astype(np.int32)
        self.stop[(self.start + self.length == ends[which]) & (self.stop != CUT)] = END
        return which


class _Rules(NamedTuple):
    """A Grammar as compiled code takes it."""

    roles: Octets
    nid_min: int
    hyphen_ends_nid: bool
    tail: int
    max_length: int
    trim: bool
    keep_query: bool
    count_lines: bool


class _Columns(NamedTuple):
    """Where the kernel puts what it finds: the columns of Matches, with room."""

    start: Integers
    length: npt.NDArray[np.int32]
    line: Integers
    nid_length: Octets
    stop: npt.NDArray[np.int16]
    trailing: Octets
    text: Octets
    text_offsets: npt.NDArray[np.int32]
    canonical: Octets
    canonical_offsets: npt.NDArray[np.int32]


@compiled
def _run(octets: Octets, at: int, limit: int, roles: Octets, role: int) -> int:
    """The end of the run of characters with that role, a well-formed %HH being one of them."""
    rest = octets[at:limit]
    for i in range(len(rest)):
        octet = rest[i]
        # Hex digits have every role, so of a %HH only the "%" needs a look ahead.
        if not roles[octet] & role and not (
            octet == 37 and i + 2 < len(rest) and roles[rest[i + 1]] & HEX and roles[rest[i + 2]] & HEX
        ):
            return at + i
    return limit


@compiled
def _may_go_on(octets: Octets, end: int, limit: int) -> bool:
    """Whether octets from `limit` on could lengthen what ends at `end`: it touches, or "%" or "?" looks further."""
    return end == limit or (end + _LOOKAHEAD > limit and (octets[end] == 37 or octets[end] == 63))


@compiled
def _directive(octets: Octets, at: int, limit: int, roles: Octets) -> tuple[int, bool]:
    """The end of a directive that begins at `at`, or -1, and whether `limit` kept it from being decided."""
    if at >= limit:
        return -1, True
    if not (65 <= (octets[at] & 0xDF) <= 90):
        return -1, False
    at += 1
    while at < limit and (
        roles[octets[at]] & ALNUM or (octets[at] == 45 and at + 1 < limit and roles[octets[at + 1]] & ALNUM)
    ):
        at += 1
    if at + 1 >= limit:
        return (at + 1 if at < limit and octets[at] == 61 else -1), True
    if octets[at] != 61:
        return -1, False
    return _run(octets, at + 1, limit, roles, VALUE), False


@compiled
def _match(octets: Octets, start: int, limit: int, rules: _Rules) -> tuple[int, int, int, bool]:
    """The longest URN at `start`, where `urn:` stands, as if the text ended at `limit`.

    Returns the index of the colon behind the NID, the end of the NSS, the end of the URN (-1: none), and whether
    octets from `limit` on could change that.
    """
    roles = rules.roles
    at = start + 4
    nid = octets[at : min(limit, at + 32)]
    for i in range(len(nid)):
        if not roles[nid[i]] & LDH:
            at += i
            break
    else:
        at += len(nid)
    if at >= limit:
        return at, at, -1, True
    length = at - start - 4
    if octets[at] != 58 or length < rules.nid_min or octets[start + 4] == 45:
        return at, at, -1, False
    if octets[at - 1] == 45 and not rules.hyphen_ends_nid:
        return at, at, -1, False
    if (
        length == 3 and octets[at - 3] | 32 == 117 and octets[at - 2] | 32 == 114 and octets[at - 1] | 32 == 110
    ):  # the NID "urn" is reserved
        return at, at, -1, False
    colon = at
    at += 1
    if at >= limit:
        return colon, at, -1, True
    if octets[at] != 37 and not roles[octets[at]] & NSS_FIRST:
        return colon, at, -1, False
    end = _run(octets, at, limit, roles, NSS)
    undecided = _may_go_on(octets, end, limit)
    if end == at:
        return colon, end, -1, undecided
    nss_end = end
    if rules.tail == TAIL_NONE:
        return colon, nss_end, end, undecided

    if rules.tail == TAIL_COMPONENTS:
        if end + 2 < limit and octets[end] == 63 and octets[end + 1] == 43:
            # the first character of a component is a pchar: NSS_FIRST, or a well-formed %HH
            if octets[end + 2] == 37 or roles[octets[end + 2]] & NSS_FIRST:
                at = _run(octets, end + 2, limit, roles, COMPONENT)
                if at > end + 2:
                    while at < limit and octets[at] == 63 and not (at + 1 < limit and octets[at + 1] == 61):
                        at = _run(octets, at + 1, limit, roles, COMPONENT)
                    end = at
        if end + 2 < limit and octets[end] == 63 and octets[end + 1] == 61:
            if octets[end + 2] == 37 or roles[octets[end + 2]] & NSS_FIRST:
                at = _run(octets, end + 2, limit, roles, QUERY)
                if at > end + 2:
                    end = at
    elif rules.tail == TAIL_QUERY:
        if end < limit and octets[end] == 63:
            at, reached = _directive(octets, end + 1, limit, roles)
            undecided = undecided or reached
            while at != -1:
                end = at
                if end >= limit or octets[end] != 38:
                    break
                at, reached = _directive(octets, end + 1, limit, roles)
                undecided = undecided or reached
    if end < limit and octets[end] == 35:
        end = _run(octets, end + 1, limit, roles, QUERY)
    return colon, nss_end, end, undecided or _may_go_on(octets, end, limit)


@compiled
def _pass_over(octets: Octets, at: int, filled: int) -> int:
    """The first block of _HUNT octets from `at` on in which an "n:" ends that can be one of "urn:", or the last whole one.

    The loop inside has no exit and stays in single octets, so it is vectorised: 32 octets at a time on most machines.
    """
    while at + _HUNT + 3 <= filled:
        block = octets[at + 2 : at + _HUNT + 3]
        hits = np.uint8(0)
        for i in range(_HUNT):
            hits |= np.uint8(block[i + 1] == 58) & np.uint8(block[i] | _CASE == 110)
        if hits:
            break
        at += _HUNT
    return at


@compiled
def _next_scheme(octets: Octets) -> int:
    """Where `urn:` first stands in up to _HUNT + 3 octets, in any case, or _HUNT where it does not."""
    if len(octets) < _HUNT + 3:
        for i in range(len(octets) - 3):
            if _is_scheme(octets, i):
                return i
        return _HUNT
    first = np.uint8(0)
    for i in range(_HUNT):  # vectorised as above
        hit = (
            np.uint8(octets[i + 3] == 58)
            & np.uint8(octets[i + 2] | _CASE == 110)
            & np.uint8(octets[i + 1] | _CASE == 114)
            & np.uint8(octets[i] | _CASE == 117)
        )
        first = max(first, np.uint8(hit * np.uint8(_HUNT - i)))
    return _HUNT - int(np.int64(first))


@compiled
def _is_scheme(octets: Octets, at: int) -> bool:
    """Whether `urn:` stands at `at`, in any case."""
    return bool(
        octets[at + 3] == 58 and octets[at + 2] | 32 == 110 and octets[at + 1] | 32 == 114 and octets[at] | 32 == 117
    )


@compiled
def _separator(octets: Octets, colon: int, end: int) -> int:
    """Where the first "," or ";" stands that "urn:" follows, between the NID's colon and `end`, or -1."""
    separators = 0
    nss = octets[colon + 1 : end]
    for i in range(len(nss)):  # counting has no early exit, so it is vectorised; most matches have none
        separators += (nss[i] == 44) | (nss[i] == 59)
    if separators:
        for i in range(colon + 1, end - 4):
            if (octets[i] == 44 or octets[i] == 59) and _is_scheme(octets, i + 1):
                return i
    return -1


@compiled
def _trimmed(octets: Octets, start: int, nss_end: int, end: int, rules: _Rules) -> tuple[int, int]:
    """Where the NSS and the match [start, end) end without closing punctuation and unmatched brackets; -1: none is left.

    What is left is matched again, and cut again, until nothing changes.
    """
    if octets[end - 1] != 41 and not _is_closing(octets[end - 1]):
        return nss_end, end
    while True:
        depth = 0
        kept = start
        for i in range(start, end):
            octet = octets[i]
            if octet == 40:
                depth += 1
                kept = i + 1
            elif octet == 41:
                if depth > 0:
                    depth -= 1
                    kept = i + 1
            elif not _is_closing(octet):
                kept = i + 1
        _, nss_end, again, _ = _match(octets, start, kept, rules)
        if again == -1 or again == end:
            return nss_end, again
        end = again


@compiled
def _is_closing(octet: int) -> bool:
    """Whether the octet is one of . , ; : ! ? ' * _"""
    return (
        octet == 46
        or octet == 44
        or octet == 59
        or octet == 58
        or octet == 33
        or octet == 63
        or octet == 39
        or octet == 42
        or octet == 95
    )


@compiled
def _count_lf(octets: Octets, start: int, end: int) -> int:
    count = 0
    part = octets[start:end]
    for i in range(len(part)):
        count += part[i] == 10
    return count


# Where the kernel stands between two calls: the slots of its `state`.
_AT, _COUNTED, _LINE, _FOUND, _TEXT_USED, _CANONICAL_USED = range(6)


@compiled
def _kernel(octets: Octets, filled: int, final: bool, state: Integers, rules: _Rules, columns: _Columns) -> bool:
    """Scan `octets[state[_AT]:filled]` and append what is found; True when the block is done, False when a column is full.

    Done, `state[_AT]` is the first position that the next block must see again (`filled`, where `final`).
    """
    roles, max_length = rules.roles, rules.max_length
    at = state[_AT]
    counted = state[_COUNTED]
    line = state[_LINE]
    found = state[_FOUND]
    text_used = state[_TEXT_USED]
    canonical_used = state[_CANONICAL_USED]
    rows = len(columns.start)
    likely_until = 0
    done = True
    while at + 4 <= filled:
        if at >= likely_until:
            at = _pass_over(octets, at, filled)
        start = at + _next_scheme(octets[at : min(at + _HUNT + 3, filled)])
        if start >= min(at + _HUNT, filled - 3):
            at = min(at + _HUNT, filled - 3)
            continue
        if start > 0 and roles[octets[start - 1]] & ALNUM and not (start > 1 and octets[start - 2] == 31):
            at = start + 1
            continue

        limit = min(filled, start + max_length)
        near = min(limit, start + _NEAR) if rules.trim else limit
        colon, nss_end, end, undecided = _match(octets, start, near, rules)
        # A list without spaces is one long match, and trimming begins anew behind each comma: look no further than that.
        while near < limit and undecided and _separator(octets, colon, end - 1) == -1:
            near = min(limit, near + near - start)
            colon, nss_end, end, undecided = _match(octets, start, near, rules)
        cut = False
        if undecided and near == limit:
            if limit == filled and not final:
                at = start
                break
            if limit < filled:
                wide = min(filled, start + 2 * max_length)
                _, _, longest, undecided = _match(octets, start, wide, rules)
                if undecided and wide == filled and not final:
                    at = start
                    break
                cut = longest > end
        if end == -1:
            at = start + 1
            continue

        if (
            found == rows
            or text_used + end - start > len(columns.text)
            or canonical_used + end - start > len(columns.canonical)
        ):
            at = start
            done = False
            break
        # Trimming: first before the next of a list, then closing punctuation.
        separator = _separator(octets, colon, end)
        trimmed_end = item_end = end
        trimmed_nss_end = nss_end
        if separator != -1:
            item_end = separator
            _, trimmed_nss_end, trimmed_end, _ = _match(octets, start, item_end, rules)
        if trimmed_end != -1:
            trimmed_nss_end, trimmed_end = _trimmed(octets, start, trimmed_nss_end, trimmed_end, rules)
        if rules.trim:
            at = item_end
            if trimmed_end == -1:
                continue
            if trimmed_end != end:
                cut = False
            end = trimmed_end
            nss_end = trimmed_nss_end
            trailing = 0
        else:
            at = end
            trailing = end - (start if trimmed_end == -1 else trimmed_end)

        likely_until = at + _DENSE

        if rules.count_lines:
            line += _count_lf(octets, counted, start)
            counted = start
            columns.line[found] = line
        else:
            columns.line[found] = 0
        columns.start[found] = start
        columns.length[found] = end - start
        columns.nid_length[found] = colon - start - 4
        columns.trailing[found] = min(trailing, 255)
        columns.stop[found] = CUT if cut else (octets[end] if end < filled else END)

        match = octets[start:end]
        text = columns.text[text_used : text_used + len(match)]
        for i in range(len(match)):
            text[i] = match[i]
        text_used += len(match)

        canonical_end = nss_end
        if rules.keep_query:  # up to the fragment
            while canonical_end < end and octets[canonical_end] != 35:
                canonical_end += 1
        length = canonical_end - start
        canonical = columns.canonical[canonical_used : canonical_used + length]
        percents = 0
        for i in range(length):
            canonical[i] = match[i]
            percents += match[i] == 37
        for i in range(colon - start):
            canonical[i] |= _CASE * np.uint8(65 <= canonical[i] <= 90)
        if percents:
            for i in range(length - 2):
                if canonical[i] == 37:
                    for j in range(i + 1, i + 3):
                        canonical[j] -= _CASE * np.uint8(canonical[j] >= 97)
        canonical_used += length
        found += 1
        columns.text_offsets[found] = text_used
        columns.canonical_offsets[found] = canonical_used
    else:
        if final:
            at = filled

    if rules.count_lines:
        line += _count_lf(octets, counted, at)
        counted = at
    state[_AT] = at
    state[_COUNTED] = counted
    state[_LINE] = line
    state[_FOUND] = found
    state[_TEXT_USED] = text_used
    state[_CANONICAL_USED] = canonical_used
    return done


class Scanner:
    """Scans one stream after another with the same buffers; one thread's own.

    After a scan `octets` is what was read of it and `lines` the LF octets in it.
    """

    def __init__(self, grammar: Grammar, block: int = _BLOCK, rows: int = _ROWS) -> None:
        """`block` is how many octets are read at a time, `rows` the most matches in one Matches; both at least 1."""
        self.grammar = grammar
        self.octets = self.lines = 0
        syntax = grammar.syntax
        self._rules = _Rules(
            np.frombuffer(syntax.octets, np.uint8),
            syntax.nid_min,
            syntax.nid_may_end_in_hyphen,
            syntax.tail,
            grammar.max_length,
            grammar.trim,
            grammar.keep_query,
            grammar.count_lines,
        )
        self._block = block
        self._buffer = np.empty(0, np.uint8)  # only streams need it
        text_size = max(grammar.max_length, 64 * rows)
        self._columns = _Columns(
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
        )
        self._state = np.zeros(6, np.int64)

    def scan_octets(self, octets: Octets) -> Iterator[Matches]:
        """The matches of a text that is in memory."""
        self._begin()
        octets = read_only(octets)
        while not _kernel(octets, len(octets), True, self._state, self._rules, self._columns):
            yield self._take()
        self._finish(len(octets))
        if self._state[_FOUND]:
            yield self._take()

    def scan(self, read_into: Callable[[memoryview], int]) -> Iterator[Matches]:
        """The matches of a stream.

        `read_into(view)` fills the front of a writable view of octets and returns how many; 0 is the end. When it
        fills less than the view, what has been found so far is handed out without waiting for more.
        Raises what `read_into` raises, after the matches that were decided before.
        """
        # A match is decided at the latest after twice max_length; two octets before it decide whether it may begin.
        if not len(self._buffer):
            self._buffer = np.empty(2 + 2 * self.grammar.max_length + _LOOKAHEAD + self._block, np.uint8)
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
                # A URN that runs into the failure is not whole; all before it counts.
                if self.grammar.count_lines:
                    state[_LINE] += _count_lf(octets, int(state[_COUNTED]), filled)
                self._finish(base + filled)
                if state[_FOUND]:
                    yield self._take()
                raise
            filled += got
            done = False
            while not done:
                before = int(state[_FOUND])
                done = _kernel(octets, filled, got == 0, state, self._rules, self._columns)
                self._columns.start[before : state[_FOUND]] += base
                if state[_FOUND] and (not done or got < self._block):
                    yield self._take()
            if got == 0:
                self._finish(base + filled)
                return
            keep_from = max(0, int(state[_AT]) - 2)
            if keep_from:
                buffer[: filled - keep_from] = buffer[keep_from:filled].copy()
                base += keep_from
                filled -= keep_from
                state[_AT] -= keep_from
                state[_COUNTED] -= keep_from

    def _begin(self) -> None:
        self._state[:] = 0
        self._state[_LINE] = 1
        self.octets = self.lines = 0

    def _finish(self, octets: int) -> None:
        self.octets = octets
        self.lines = int(self._state[_LINE]) - 1

    def _take(self) -> Matches:
        """What the columns hold, as arrays of their own; the columns are empty then."""
        state = self._state
        found, text, canonical = int(state[_FOUND]), int(state[_TEXT_USED]), int(state[_CANONICAL_USED])
        sizes = (found,) * 6 + (text, found + 1, canonical, found + 1)
        state[_FOUND] = state[_TEXT_USED] = state[_CANONICAL_USED] = 0
        columns: tuple[npt.NDArray[Any], ...] = self._columns
        return Matches(*(column[:size].copy() for column, size in zip(columns, sizes, strict=True)))
