"""Windows: decoded copies of hidden URNs, end to end, so that the scanner can read them as one text. Compiled.

A hidden URN is encoded, broken over lines, or behind a label. `hunt` goes to each place where one may begin, reads on
from there in each way that is on, and keeps the reading that reaches farthest in the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urnscan.arrays.ascii import (
    AMPERSAND,
    APOSTROPHE,
    BACKSLASH,
    COLON,
    HASH,
    LESS,
    PERCENT,
    QUESTION_MARK,
    SPACE,
    is_alnum,
    lower,
)
from urnscan.arrays.jit import compiled, inlined, inner
from urnscan.arrays.octets import Integers, Octets, is_scheme, is_urn
from urnscan.arrays.strings import Column, Offsets, cut, word_number
from urnscan.scanner.grammar import IS_CLOSING, Rules, match
from urnscan.scanner.kernel import Block, is_in_word
from urnscan.scanner.url_context import find_host, find_mark, may_stand_in_url
from urnscan.scanner.views.markup import DEPTH, DOUBT, WRAPPER, Part, begins_gap, wrapper
from urnscan.scanner.views.readings import (
    ENTITIES,
    ESCAPES,
    LABELS,
    MARKUP,
    READINGS,
    WRAPS,
    Flags,
    Plan,
    begins_hidden,
    may_be_broken,
    may_help,
    next_candidate,
    step,
)
from urnscan.scanner.views.references import MORE, NOTHING, STOP, read_reference

_LONGEST_PREFIX = len("urn:") + 32 + len(":")
_FIRST = 40  # octets of a reading that are looked at first: in these most candidates fail
_LONGEST_FRONT = 32  # octets of a "%HH", a component and a keyword that are not whole: `?=%4`, `?key`
_SPARE = 1 << 12  # octets of a window behind its longest URN: to look ahead, also behind line ends
_MOST_NOTHING = 16  # places in a row that are skipped, as a line end is; one more ends the reading

SLOTS = 6
AT, USED, COUNT, LITERAL, FIRST_END, BROKEN = range(SLOTS)
"""Slots of the state of a hunt.

AT: the place in the text. USED: the octets of the windows that are used. COUNT: the number of windows. LITERAL: the
number of the literal match at or behind AT. FIRST_END: 0, or, when ASK is returned, the end of the URN's first part.
If the URN goes on behind the line end, the caller writes its window next in the windows, and the place behind its octets
to BROKEN. Then it calls `hunt` again, which tries the other readings and appends the window that shows most.
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
    markup: Integers
    """The state of `step_over_markup`."""


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
        literal_end, stop, first_end = -1, 0, -1
        if number < len(starts) and starts[number] <= at:
            literal_end = ends[number]
            stop, first_end = _stop(octets, at, literal_end, filled, plan)
            if starts[number] < at or not _may_help_literal(stop, plan):  # a window ended in it, or it is whole
                at = literal_end
                continue
        else:
            until = min(starts[number], end) if number < len(starts) else end
            found = next_candidate(octets, at, until, filled, plan.readings[MARKUP] != 0)
            if found == until and until + 3 > filled and not final:
                at = max(at, min(until, filled - 3))
                result = OPEN  # the text may end in `urn`; then the next octet decides
                continue
            at = found
            if found == until:
                continue
        state[AT] = at
        result = _candidate(block, (literal_end, first_end, stop), state, plan, windows)
        at = state[AT]
    state[AT], state[LITERAL] = at, number
    return result


@inner
def _stop(octets: Octets, start: int, end: int, filled: int, plan: Plan) -> tuple[int, int]:
    """The octet that ended the literal match [start, end), or 0, and its place. The octet is "&" instead if references are
    read and the match has one.

    What was trimmed is passed over, and what may be the front of something that goes on: "%" in `urn:a:b%<b>41`.
    """
    has_ampersand = False
    reads_references = (plan.readings[ENTITIES] or plan.readings[MARKUP]) and plan.rules.roles[AMPERSAND] != 0
    if reads_references:
        for i in range(start, end):  # no early exit, so it is vectorised
            has_ampersand |= octets[i] == AMPERSAND
    while plan.rules.trim and end < filled and IS_CLOSING[octets[end]]:
        end += 1
    last = min(filled, end + _LONGEST_FRONT)
    while end < last and _may_stand(octets[end], plan.rules):
        has_ampersand |= reads_references and octets[end] == AMPERSAND
        end += 1
    if has_ampersand:
        return AMPERSAND, end
    return int(octets[end]) if end < filled else 0, end


@inner
def _may_help_literal(stop: int, plan: Plan) -> bool:
    """Whether a reading may find more than a literal match with this stop. A cheap test, hardly ever true."""
    return bool(
        (plan.readings[ESCAPES] and stop == BACKSLASH)
        or (plan.readings[ENTITIES] and stop == AMPERSAND)
        or (plan.readings[MARKUP] and begins_gap(stop))
        or (plan.readings[WRAPS] and (stop <= SPACE or stop >= 0x80 or stop == BACKSLASH))
    )


@inner
def _candidate(block: Block, literal: tuple[int, int, int], state: Integers, plan: Plan, windows: Windows) -> int:
    """Read a candidate in every way that is on. `literal` are the end of a literal match, or -1; its end before it was
    trimmed; and the octet there.
    """
    literal_end, first_end, stop = literal
    octets, filled, _ = block
    at, used, count = state[AT], state[USED], state[COUNT]
    if used + 3 * plan.rules.max_length + _SPARE > len(windows.octets) or count == len(windows.starts):
        return FULL
    is_literal, is_glued = literal_end != -1, is_in_word(octets, at)
    behind = int(octets[at + 3]) if is_urn(octets, at) else LESS
    if plan.readings[WRAPS] and not state[FIRST_END] and not is_glued and behind == COLON:
        if not is_literal:  # it may begin with `urn:`, a NID and a colon
            first_end, _, _, _ = match(octets, at, min(filled, at + _LONGEST_PREFIX), plan.rules)
            first_end += first_end < filled and octets[first_end] == COLON
        if may_be_broken(octets, at, first_end, filled):
            state[FIRST_END] = first_end
            return ASK
    if at > 0 and octets[at - 1] == APOSTROPHE:  # it ends the URN where it stands again, if that is trimmed
        windows.octets[used] = APOSTROPHE
        used += 1
    found_end, found_reading, begin = -1, -1, used
    if state[BROKEN]:
        found_end, found_reading, begin = windows.ends[count], WRAPS, state[BROKEN]
    state[FIRST_END] = state[BROKEN] = 0
    for reading in range(READINGS):
        if not plan.readings[reading] or reading == WRAPS:
            continue
        if not may_help(reading, behind, is_literal, stop):
            continue
        if is_glued and not begins_hidden(reading, octets, at):
            continue
        window_end, _ = _read_urn(reading, block, (at, begin), plan, windows)
        if window_end == _OPEN:
            return OPEN
        if window_end == _NONE:
            continue
        text_end = windows.after[window_end - 1]
        is_hidden = is_glued or _is_other(block, begin, window_end, literal_end, plan, windows)
        if is_hidden and text_end > found_end:
            found_end, found_reading = text_end, reading
    if found_reading == -1:
        state[AT] = literal_end if is_literal else at + 1
        return DONE
    if found_reading != WRAPS:  # all readings write to the same place: read the best one again
        window_end, is_cut = _read_urn(found_reading, block, (at, used), plan, windows)
        windows.octets[window_end] = STOP
        windows.starts[count], windows.ends[count] = used, found_end
        windows.cuts[count], windows.readings[count] = is_cut, found_reading
        begin = window_end + 1
    state[AT], state[USED], state[COUNT] = found_end, begin, count + 1
    return DONE


@inner
def _is_other(block: Block, begin: int, end: int, literal_end: int, plan: Plan, windows: Windows) -> bool:
    """Whether a window shows another URN than a literal match. If it only shows less, a reference ends it."""
    octets, filled, _ = block
    text_end = windows.after[end - 1]
    if windows.changed[begin:end].any():
        return True
    if text_end >= literal_end or octets[text_end] != AMPERSAND:
        return False
    _, after = read_reference(octets, text_end, filled, plan.references)
    return bool(after > text_end + 1)


@inner
def _read_urn(reading: int, block: Block, places: tuple[int, int], plan: Plan, windows: Windows) -> tuple[int, bool]:
    """Read a candidate from a place of the text into the windows, from a place of these on: the end of its URN there,
    _NONE or _OPEN; and whether it is cut for its length.
    """
    octets, _, final = block
    start, begin = places
    rules = plan.rules
    at, used, room = start, begin, _FIRST
    most = 2 * rules.max_length + 8
    if reading == MARKUP:
        windows.markup[WRAPPER] = wrapper(octets, start, plan.elements)
        windows.markup[DEPTH] = windows.markup[DOUBT] = 0
    while True:
        at, used, ended = _read(reading, block, (start, at), (begin, used, min(room, most)), plan, windows)
        if ended == OPEN and final:
            ended = DONE
        if used - begin < 4:
            return (_OPEN if ended == OPEN else _NONE), False
        if not is_scheme(windows.octets, begin):
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
    if reading == MARKUP and windows.markup[DOUBT]:
        return _NONE, False
    if reading == MARKUP and end != -1:
        end = _without_punctuation(begin, end, windows)
        _, _, end, _ = match(windows.octets, begin, end, rules)
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
def _without_punctuation(begin: int, end: int, windows: Windows) -> int:
    """The end of a URN in a window without punctuation that stands alone behind the last gap."""
    for i in range(end - 1, begin, -1):
        if is_alnum(windows.octets[i]):
            break
        if windows.origin[i] > windows.after[i - 1]:
            end = i
    return end


@inner
def _read(
    reading: int, block: Block, places: tuple[int, int], window: tuple[int, int, int], plan: Plan, windows: Windows
) -> tuple[int, int, int]:
    """Read on into a window: its beginning, the end of what it holds, and how many octets it may hold. The places are
    those where the URN begins and where it is read on.

    Returns the places reached in the text and in the window, and DONE if the reading ended, OPEN if the octets did,
    FULL if neither did.
    """
    start, at = places
    begin, used, room = window
    rules = plan.rules
    changed = np.uint8(0)
    nothing = colons = 0
    for i in range(begin, used):
        colons += windows.octets[i] == COLON
    while used - begin < room:
        if at >= block.filled:
            return at, used, OPEN
        part = Part(start, int(windows.octets[used - 1]) if used > begin else 0, colons)
        octet, after = step(reading, block, at, part, plan, windows.markup)
        if after == MORE:
            return at, used, OPEN
        if octet == NOTHING:
            nothing += 1
            if nothing > _MOST_NOTHING:
                return at, used, DONE
            changed = np.uint8(1)
        else:
            nothing = 0
            if octet == STOP or not _may_stand(octet, rules):
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


@inlined
def _may_stand(octet: int, rules: Rules) -> bool:
    """Whether an octet may stand in a URN."""
    return rules.roles[octet] != 0 or octet == PERCENT or octet == QUESTION_MARK or octet == HASH


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
