"""Windows: readings of a text from the places where a hidden URN may begin, to be scanned as texts. Compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import (
    AMPERSAND,
    BACKSLASH,
    COLON,
    HASH,
    HYPHEN,
    PERCENT,
    QUESTION_MARK,
    SPACE,
    is_alnum,
    lower,
)
from urnscan.arrays.jit import compiled, lean
from urnscan.arrays.octets import Integers, Octets
from urnscan.arrays.strings import Offsets, Vocabulary, word_number
from urnscan.scanner.columns import Block
from urnscan.scanner.grammar import Rules, match
from urnscan.scanner.kernel import is_in_word
from urnscan.scanner.url_context import find_host, find_mark, may_stand_in_url
from urnscan.scanner.views.candidates import (
    ENTITIES,
    ESCAPES,
    LABELS,
    PERCENT_ONCE,
    PERCENT_TWICE,
    READINGS,
    WRAPS,
    begins_hidden,
    may_be_broken,
    may_help,
    next_candidate,
)
from urnscan.scanner.views.steps import MORE, NOTHING, STOP, entity, escape, label, percent, percent_twice

__all__ = [
    "ANSWERED",
    "ASK",
    "AT",
    "COUNT",
    "DONE",
    "FULL",
    "LITERAL",
    "OPEN",
    "SLOTS",
    "USED",
    "Plan",
    "Windows",
    "hosts",
    "hunt",
]

_LONGEST_PREFIX = len("urn:") + 32 + len(":")
_FIRST = 40  # octets of a reading that are looked at first: in these most candidates fail
_SPARE = 1 << 12  # octets of a window behind its longest URN: to look ahead, also behind line ends

SLOTS = 5
AT, USED, COUNT, LITERAL, ANSWERED = range(SLOTS)
"""Slots of the state of a hunt: places in the text, in the octets of the windows, in the windows and in the literal
matches; and 1 if the caller has answered ASK for this place, so that the hunt goes on with the other readings.
"""

DONE, FULL, OPEN, ASK = range(4)
"""How a hunt ended: at the end of its text; with the windows full; at a place that more octets decide; at a URN that
may go on behind a line end, which the caller decides.
"""
_NONE, _FOUND, _OPEN = range(3)
"""Result of a candidate in one reading; _OPEN: more octets decide."""
_MOST_NOTHING = 16  # places in a row that stand for no octet

Flags = npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """What is hunted for."""

    readings: Flags
    """1 for each of the READINGS that is on."""
    rules: Rules
    """The grammar."""
    names: Vocabulary
    values: Octets
    """The named character references, and the octets that they stand for."""
    nids: Vocabulary
    """The registered NIDs. Labels stand in prose, where any word may follow, so only these count."""


class Windows(NamedTuple):
    """Texts that were read, end to end, STOP behind each, so that they can be scanned as one text."""

    octets: Octets
    origin: Integers
    """The place in the text of each octet …"""
    after: Integers
    """… and the end of what stands for it."""
    changed: Flags
    """1 if the text has something else there."""
    starts: Integers
    """The beginning of each window in `octets`."""
    ends: Integers
    """The end of each window in the text: literal matches before it are part of the window."""
    cuts: Flags
    """1 if the URN goes on, but is cut for its length."""
    readings: Flags
    """The READING of each window."""


class _Candidate(NamedTuple):
    """A place where a hidden URN may begin, and the window for it."""

    start: int
    literal_end: int
    """End of a literal match that begins there, or -1."""
    is_glued: bool
    """Whether a letter or digit stands before it in the text."""
    begin: int
    """The beginning of the window."""


@lean
def hunt(
    block: Block, end: int, literal: tuple[Integers, Integers], state: Integers, plan: Plan, windows: Windows
) -> int:
    """Hunt from `state[AT]` to `end` and append a window for each hidden URN; returns DONE, FULL, OPEN or ASK.

    Octets of the block behind `end` are there to look ahead. `literal` has the starts and ends of the literal matches.
    """
    octets, filled, final = block
    starts, ends = literal
    at, number = state[AT], state[LITERAL]
    result = DONE
    while at < end:
        while number < len(starts) and ends[number] <= at:
            number += 1
        is_literal = number < len(starts) and starts[number] <= at
        if is_literal:
            if starts[number] < at or not _may_help_literal(octets, at, ends[number], filled, plan):
                at = ends[number]
                continue
        else:
            until = min(starts[number], end) if number < len(starts) else end
            found = next_candidate(octets, at, until, filled)
            if found == until:
                # The text may end in `urn`; then the next octet decides.
                if until + 3 > filled and not final:
                    at = max(at, min(until, filled - 3))
                    result = OPEN
                    break
                at = until
                continue
            at = found
        state[AT], state[LITERAL] = at, number
        result = _candidate(block, ends[number] if is_literal else -1, state, plan, windows)
        at = state[AT]
        if result != DONE:
            break
    state[AT], state[LITERAL] = at, number
    return result


@lean
def _may_help_literal(octets: Octets, start: int, end: int, filled: int, plan: Plan) -> bool:
    """Whether a reading may find more than the literal match [start, end): a quick look, hardly ever true."""
    stop = octets[end] if end < filled else np.uint8(0)
    if plan.readings[ESCAPES] and stop == BACKSLASH:
        return True
    if plan.readings[WRAPS] and (stop <= SPACE or stop >= 0x80 or stop == BACKSLASH):
        return True
    if not plan.readings[ENTITIES]:
        return False
    return bool(stop == AMPERSAND or (plan.rules.roles[AMPERSAND] and _has_ampersand(octets, start, end)))


@lean
def _has_ampersand(octets: Octets, start: int, end: int) -> bool:
    found = False
    for i in range(start, end):
        found |= octets[i] == AMPERSAND
    return found


@lean
def _candidate(block: Block, literal_end: int, state: Integers, plan: Plan, windows: Windows) -> int:
    """Read a candidate in every way that is on; `literal_end` is the end of a literal match, or -1."""
    octets, filled, _ = block
    at, used, count = state[AT], state[USED], state[COUNT]
    if used + 2 * plan.rules.max_length + _SPARE > len(windows.octets) or count == len(windows.starts):
        return FULL
    is_literal = literal_end != -1
    candidate = _Candidate(at, literal_end, is_in_word(octets, at), used)
    if plan.readings[WRAPS] and not state[ANSWERED] and not candidate.is_glued and octets[at + 3] == COLON:
        first_end = literal_end if is_literal else _stub_end(octets, at, filled)
        if may_be_broken(octets, at, first_end, filled):
            state[ANSWERED] = 1
            return ASK
    state[ANSWERED] = 0
    stop = 0
    if is_literal:
        stop = octets[literal_end] if literal_end < filled else 0
        if plan.readings[ENTITIES] and _has_ampersand(octets, at, literal_end):
            stop = AMPERSAND
    found_end, found_reading = -1, -1
    for reading in range(READINGS):
        if not plan.readings[reading] or reading == WRAPS:
            continue
        if not may_help(reading, int(octets[at + 3]), is_literal, int(stop)):
            continue
        if candidate.is_glued and not begins_hidden(reading, octets, at):
            continue
        status, _, text_end, _ = _try(reading, block, candidate, plan, windows)
        if status == _OPEN:
            return OPEN
        if status == _FOUND and text_end > found_end:
            found_end, found_reading = text_end, reading
    if found_reading == -1:
        state[AT] = literal_end if is_literal else at + 3
        return DONE
    # Another reading may have written over the window.
    _, window_end, _, is_cut = _try(found_reading, block, candidate, plan, windows)
    windows.octets[window_end] = STOP
    windows.starts[count] = used
    windows.ends[count] = found_end
    windows.cuts[count] = is_cut
    windows.readings[count] = found_reading
    state[AT], state[USED], state[COUNT] = found_end, window_end + 1, count + 1
    return DONE


@lean
def _stub_end(octets: Octets, start: int, filled: int) -> int:
    """The end of what begins like a URN and is none: of `urn:`, of the NID, or of the colon behind it."""
    at = start + 4
    while at < filled and at < start + 36 and (is_alnum(octets[at]) or octets[at] == HYPHEN):
        at += 1
    return at + 1 if at < filled and octets[at] == COLON else at


@lean
def _try(reading: int, block: Block, candidate: _Candidate, plan: Plan, windows: Windows) -> tuple[int, int, int, bool]:
    """Read a candidate.

    Returns _FOUND, the ends of its URN in the window and in the text, and whether the URN is cut for its length; or
    _NONE or _OPEN and nothing of meaning.
    """
    octets, _, final = block
    begin = candidate.begin
    at, used, room = candidate.start, begin, _FIRST
    most = 2 * plan.rules.max_length + 8
    while True:
        at, used, ended = _read(reading, block, at, (begin, used, min(room, most)), plan, windows)
        if ended == OPEN and final:
            ended = DONE
        if used - begin < 4:
            return (_OPEN if ended == OPEN else _NONE), used, -1, False
        if windows.octets[begin + 3] != COLON:
            return _NONE, used, -1, False
        if reading == LABELS:
            nid_end = _nid_end(begin, used, windows)
            if nid_end == -1 and ended == OPEN and used - begin < _LONGEST_PREFIX:
                return _OPEN, used, -1, False
            if nid_end == -1 or not _is_registered(begin, nid_end, used, plan, windows):
                return _NONE, used, -1, False
        colon, _, end, undecided = match(windows.octets, begin, used, plan.rules)
        if ended == DONE or not undecided or used - begin >= most:
            break
        if ended == OPEN:
            return _OPEN, used, -1, False
        room *= 4
    is_cut = end - begin > plan.rules.max_length
    if is_cut:
        _, _, end, _ = match(windows.octets, begin, begin + plan.rules.max_length, plan.rules)
    if end != -1 and plan.rules.cut_tail and may_stand_in_url(octets, candidate.start):
        host, host_end, in_path = find_host(octets, candidate.start)
        tail = find_mark(windows.octets, colon + 1, end, plan.rules.path_mark if in_path else AMPERSAND)
        if host_end > host and tail != -1:
            is_cut = False
            _, _, end, _ = match(windows.octets, begin, tail, plan.rules)
    if end == -1:
        return _NONE, end, -1, False
    text_end = int(windows.after[end - 1])
    changed = candidate.is_glued or text_end < candidate.literal_end
    for i in range(begin, end):
        changed = changed or windows.changed[i] != 0
    return (_FOUND if changed else _NONE), end, text_end, is_cut


@lean
def _read(
    reading: int, block: Block, at: int, window: tuple[int, int, int], plan: Plan, windows: Windows
) -> tuple[int, int, int]:
    """Read on from `at` into a window: its beginning, the end of what it holds, and how many octets it may hold.

    Returns the places reached in the text and in the window, and DONE if the reading ended, OPEN if the octets did,
    FULL if neither did.
    """
    octets, filled, _ = block
    begin, used, room = window
    roles = plan.rules.roles
    changed = np.uint8(0)
    nothing = colons = 0
    for i in range(begin, used):
        colons += windows.octets[i] == COLON
    while used - begin < room:
        if at >= filled:
            return at, used, OPEN
        is_prefix = used > begin and windows.octets[used - 1] == COLON and colons <= 2
        octet, after = _step(reading, octets, at, filled, is_prefix, plan)
        if after == MORE:
            return at, used, OPEN
        if octet == NOTHING:
            nothing += 1
            if nothing > _MOST_NOTHING:
                return at, used, DONE
            changed = np.uint8(1)
        else:
            nothing = 0
            if octet == STOP or (roles[octet] == 0 and octet != PERCENT and octet != QUESTION_MARK and octet != HASH):
                return at, used, DONE
            windows.octets[used] = octet
            windows.origin[used] = at
            windows.after[used] = after
            windows.changed[used] = changed | np.uint8(after - at > 1)
            changed = np.uint8(0)
            colons += octet == COLON
            used += 1
        at = after
    return at, used, FULL


@lean
def _step(reading: int, octets: Octets, at: int, filled: int, is_prefix: bool, plan: Plan) -> tuple[int, int]:
    """One step of a reading: the octet and the end of what stands for it."""
    if reading == PERCENT_ONCE:
        return percent(octets, at, filled)
    if reading == PERCENT_TWICE:
        return percent_twice(octets, at, filled)
    if reading == ENTITIES:
        return entity(octets, at, filled, plan.names, plan.values)
    if reading == ESCAPES:
        return escape(octets, at, filled)
    return label(octets, at, filled, is_prefix)


@lean
def _nid_end(begin: int, used: int, windows: Windows) -> int:
    """The place of the colon behind the NID in a window, or -1."""
    for i in range(begin + 4, min(used, begin + _LONGEST_PREFIX)):
        if windows.octets[i] == COLON:
            return i
    return -1


@lean
def _is_registered(begin: int, nid_end: int, used: int, plan: Plan, windows: Windows) -> bool:
    """Whether the NID in a window is registered. Its lower case is written behind the window."""
    to = used
    for i in range(begin + 4, nid_end):
        windows.octets[to] = lower(windows.octets[i])
        to += 1
    return word_number(windows.octets, used, to, plan.nids) != -1


@compiled
def hosts(octets: Octets, places: Integers) -> tuple[Octets, Offsets]:
    """The hosts of the URLs around URNs at these places, in lower case; empty for a URN in no URL."""
    offsets = np.zeros(len(places) + 1, np.int32)
    firsts = np.zeros(len(places), np.int64)
    for i in range(len(places)):
        first, end = 0, 0
        if places[i] > 0:  # the octet before it may be encoded, or a label
            first, end, _ = find_host(octets, places[i])
        firsts[i] = first
        offsets[i + 1] = offsets[i] + end - first
    out = np.empty(offsets[len(places)], np.uint8)
    for i in range(len(places)):
        for j in range(offsets[i + 1] - offsets[i]):
            out[offsets[i] + j] = lower(octets[firsts[i] + j])
    return out, offsets
