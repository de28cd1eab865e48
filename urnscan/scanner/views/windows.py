"""Windows: decoded copies of hidden URNs, end to end, so that the scanner can read them as one text. Compiled.

A hidden URN is encoded, broken over lines, or behind a label. `hunt` goes to each place where one may begin, reads on
from there in each way that is on, and keeps the reading that reaches farthest in the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urnscan.arrays.ascii import (
    AMPERSAND,
    BACKSLASH,
    COLON,
    HASH,
    PERCENT,
    QUESTION_MARK,
    SPACE,
    lower,
)
from urnscan.arrays.jit import compiled, inner
from urnscan.arrays.octets import Integers, Octets
from urnscan.arrays.strings import Column, Offsets, cut, word_number
from urnscan.scanner.grammar import match
from urnscan.scanner.kernel import Block, is_in_word
from urnscan.scanner.url_context import find_host, find_mark, may_stand_in_url
from urnscan.scanner.views.readings import (
    ENTITIES,
    ESCAPES,
    LABELS,
    MORE,
    NOTHING,
    READINGS,
    STOP,
    WRAPS,
    Flags,
    Plan,
    begins_hidden,
    may_be_broken,
    may_help,
    next_candidate,
    step,
)

_LONGEST_PREFIX = len("urn:") + 32 + len(":")
_FIRST = 40  # octets of a reading that are looked at first: in these most candidates fail
_SPARE = 1 << 12  # octets of a window behind its longest URN: to look ahead, also behind line ends
_MOST_NOTHING = 16  # places in a row that are skipped, as a line end is; one more ends the reading

SLOTS = 5
AT, USED, COUNT, LITERAL, FIRST_END = range(SLOTS)
"""Slots of the state of a hunt.

AT: the place in the text. USED: the octets of the windows that are used. COUNT: the number of windows. LITERAL: the
number of the literal match at or behind AT. FIRST_END: 0, or, when ASK is returned, the end of the URN's first part.
If the URN goes on behind the line end, the caller appends its window, moves AT behind it and sets FIRST_END to 0. If
not, the caller changes nothing and calls `hunt` again, which tries the other readings.
"""

DONE, FULL, OPEN, ASK = range(4)
"""Results of a hunt.

DONE: it has reached the end of its text. FULL: the windows are full. OPEN: octets that are not in the block yet decide
about AT; call again with more. ASK: the caller must decide whether a URN goes on behind a line end.
"""
_NONE, _OPEN = -1, -2  # no URN in a reading; one that more octets decide


class Windows(NamedTuple):
    """Texts that were read, end to end, STOP behind each, so that they can be scanned as one text."""

    octets: Octets
    origin: Integers
    """For each octet, where the thing that stands for it begins in the text."""
    after: Integers
    """For each octet, where that thing ends in the text."""
    changed: Flags
    """For each octet, 1 if it was decoded, or if something before it was skipped."""
    starts: Integers
    """The beginning of each window in `octets`."""
    ends: Integers
    """Where each window ends in the text. Literal matches that begin inside a window are dropped."""
    cuts: Flags
    """1 if the URN was cut at `max_length`."""
    readings: Flags
    """The READING of each window."""


@compiled
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
    while at < end and result == DONE:
        while number < len(starts) and ends[number] <= at:
            number += 1
        literal_end, stop = -1, 0
        if number < len(starts) and starts[number] <= at:
            literal_end = ends[number]
            stop = _stop(octets, at, literal_end, filled, plan)
            if starts[number] < at or not _may_help_literal(stop, plan):  # a window ended in it, or it is whole
                at = literal_end
                continue
        else:
            until = min(starts[number], end) if number < len(starts) else end
            found = next_candidate(octets, at, until, filled)
            if found == until and until + 3 > filled and not final:
                at = max(at, min(until, filled - 3))
                result = OPEN  # the text may end in `urn`; then the next octet decides
                continue
            at = found
            if found == until:
                continue
        state[AT] = at
        result = _candidate(block, literal_end, stop, state, plan, windows)
        at = state[AT]
    state[AT], state[LITERAL] = at, number
    return result


@inner
def _stop(octets: Octets, start: int, end: int, filled: int, plan: Plan) -> int:
    """The octet that ended the literal match [start, end), or 0; "&" instead if ENTITIES is on and the match has one."""
    has_ampersand = False
    if plan.readings[ENTITIES] and plan.rules.roles[AMPERSAND]:
        for i in range(start, end):  # no early exit, so it is vectorised
            has_ampersand |= octets[i] == AMPERSAND
    if has_ampersand:
        return AMPERSAND
    return int(octets[end]) if end < filled else 0


@inner
def _may_help_literal(stop: int, plan: Plan) -> bool:
    """Whether a reading may find more than a literal match with this stop. A cheap test, hardly ever true."""
    return bool(
        (plan.readings[ESCAPES] and stop == BACKSLASH)
        or (plan.readings[ENTITIES] and stop == AMPERSAND)
        or (plan.readings[WRAPS] and (stop <= SPACE or stop >= 0x80 or stop == BACKSLASH))
    )


@inner
def _candidate(block: Block, literal_end: int, stop: int, state: Integers, plan: Plan, windows: Windows) -> int:
    """Read a candidate in every way that is on; `literal_end` is the end of a literal match, or -1."""
    octets, filled, _ = block
    at, used, count = state[AT], state[USED], state[COUNT]
    if used + 2 * plan.rules.max_length + _SPARE > len(windows.octets) or count == len(windows.starts):
        return FULL
    is_literal, is_glued = literal_end != -1, is_in_word(octets, at)
    if plan.readings[WRAPS] and not state[FIRST_END] and not is_glued and octets[at + 3] == COLON:
        first_end = literal_end
        if not is_literal:  # it may begin with `urn:`, a NID and a colon
            first_end, _, _, _ = match(octets, at, min(filled, at + _LONGEST_PREFIX), plan.rules)
            first_end += first_end < filled and octets[first_end] == COLON
        if may_be_broken(octets, at, first_end, filled):
            state[FIRST_END] = first_end
            return ASK
    state[FIRST_END] = 0
    found_end, found_reading = -1, -1
    for reading in range(READINGS):
        if not plan.readings[reading] or reading == WRAPS:
            continue
        if not may_help(reading, int(octets[at + 3]), is_literal, stop):
            continue
        if is_glued and not begins_hidden(reading, octets, at):
            continue
        window_end, _ = _read_urn(reading, block, state, plan, windows)
        if window_end == _OPEN:
            return OPEN
        if window_end == _NONE:
            continue
        text_end = windows.after[window_end - 1]
        is_hidden = is_glued or text_end < literal_end or windows.changed[used:window_end].any()
        if is_hidden and text_end > found_end:
            found_end, found_reading = text_end, reading
    if found_reading == -1:
        state[AT] = literal_end if is_literal else at + 3
        return DONE
    # All readings write to the same place: read the best one again.
    window_end, is_cut = _read_urn(found_reading, block, state, plan, windows)
    windows.octets[window_end] = STOP
    windows.starts[count], windows.ends[count] = used, found_end
    windows.cuts[count], windows.readings[count] = is_cut, found_reading
    state[AT], state[USED], state[COUNT] = found_end, window_end + 1, count + 1
    return DONE


@inner
def _read_urn(reading: int, block: Block, state: Integers, plan: Plan, windows: Windows) -> tuple[int, bool]:
    """Read a candidate: the end of its URN in the window, _NONE or _OPEN; and whether it is cut for its length."""
    octets, _, final = block
    rules, start, begin = plan.rules, state[AT], state[USED]
    at, used, room = start, begin, _FIRST
    most = 2 * rules.max_length + 8
    while True:
        at, used, ended = _read(reading, block, at, (begin, used, min(room, most)), plan, windows)
        if ended == OPEN and final:
            ended = DONE
        if used - begin < 4:
            return (_OPEN if ended == OPEN else _NONE), False
        if windows.octets[begin + 3] != COLON:
            return _NONE, False
        colon, _, end, undecided = match(windows.octets, begin, used, rules)
        if reading == LABELS and colon >= used:
            return (_OPEN if ended == OPEN else _NONE), False
        if reading == LABELS and not _is_registered(begin, colon, used, plan, windows):
            return _NONE, False
        if ended == DONE or not undecided or used - begin >= most:
            break
        if ended == OPEN:
            return _OPEN, False
        room *= 4
    is_cut = end - begin > rules.max_length
    if is_cut:
        _, _, end, _ = match(windows.octets, begin, begin + rules.max_length, rules)
    if end != -1 and rules.cut_tail and may_stand_in_url(octets, start):
        host, host_end, in_path = find_host(octets, start)
        tail = find_mark(windows.octets, colon + 1, end, rules.path_mark if in_path else AMPERSAND)
        if host_end > host and tail != -1:
            is_cut = False
            _, _, end, _ = match(windows.octets, begin, tail, rules)
    return end, is_cut


@inner
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
        octet, after = step(reading, octets, at, filled, is_prefix, plan)
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


@inner
def _is_registered(begin: int, colon: int, used: int, plan: Plan, windows: Windows) -> bool:
    """Whether the NID in a window is registered. The octets behind the window hold its lower case meanwhile."""
    to = used
    for i in range(begin + 4, colon):
        windows.octets[to] = lower(windows.octets[i])
        to += 1
    return word_number(windows.octets, used, to, plan.nids) != -1


def hosts(octets: Octets, places: Integers) -> Column:
    """The hosts of the URLs around URNs at these places, in lower case; empty for a URN in no URL."""
    starts, ends = np.empty(len(places), np.int32), np.empty(len(places), np.int32)
    _find_hosts(octets, places, starts, ends)
    host, offsets = cut(octets, starts, ends)
    return np.frombuffer(host.tobytes().lower(), np.uint8), offsets


@compiled
def _find_hosts(octets: Octets, places: Integers, starts: Offsets, ends: Offsets) -> None:
    for i in range(len(places)):  # `may_stand_in_url` is not asked: `%3D` or a label may stand before it
        starts[i], ends[i], _ = find_host(octets, places[i])
