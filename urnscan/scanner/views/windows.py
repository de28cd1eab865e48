"""Where in a text a hidden URN can begin, and how far each reading of it goes: compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import compiled
from urnscan.arrays.strings import Offsets, Vocabulary, word_number
from urnscan.scanner.kernel import Integers, Octets, Rules, match
from urnscan.scanner.url_context import find_host, find_mark, may_stand_in_url
from urnscan.scanner.views.steps import (
    MORE,
    NOTHING,
    STOP,
    entity,
    escape,
    hex_digit,
    is_alnum,
    label,
    percent,
    percent_twice,
)

__all__ = [
    "ANSWERED",
    "ASK",
    "AT",
    "COUNT",
    "DONE",
    "ENTITIES",
    "ESCAPES",
    "FULL",
    "LABELS",
    "LITERAL",
    "OPEN",
    "PERCENT",
    "PERCENT_TWICE",
    "READINGS",
    "SLOTS",
    "USED",
    "WRAPS",
    "Plan",
    "Windows",
    "hosts",
    "hunt",
]

READINGS = 6
PERCENT, PERCENT_TWICE, ENTITIES, ESCAPES, WRAPS, LABELS = range(READINGS)

_HUNT = 64  # octets that are searched at once
_LONGEST_PREFIX = len("urn:") + 32 + len(":")
_FIRST = 40  # octets of a reading that are looked at first: in these most candidates fail
_SPARE = 1 << 12  # octets of a window behind those of its longest URN: to look ahead, behind line ends too
_CASE = np.uint8(32)

SLOTS = 5
AT, USED, COUNT, LITERAL, ANSWERED = range(SLOTS)
"""Where a hunt stands, in its `state`: in the text, in the octets of the windows, in the windows, in the literal matches;
and whether what was asked there is answered, so that it goes on with the other readings.
"""

DONE, FULL, OPEN, ASK = range(4)
"""How a hunt ended: at the end of what it was to look at; with no room left; at what more octets decide; at a URN that
may go on behind a line end, which is for others to tell.
"""
_NONE, _FOUND, _OPEN = range(3)
"""What comes of a candidate in one reading; _OPEN: more octets decide."""
_MOST_NOTHING = 16  # times that what stands for no octet may be passed over in a row

Flags = npt.NDArray[np.uint8]


class Plan(NamedTuple):
    """What is hunted for."""

    readings: Flags
    """Which of the READINGS are on."""
    rules: Rules
    """The grammar."""
    names: Vocabulary
    values: Octets
    """The named character references, and what they stand for."""
    nids: Vocabulary
    """The registered NIDs: labels stand in prose, where anything may, so only what is registered counts."""


class Windows(NamedTuple):
    """What was read, end to end, an octet that no URN holds behind each: to be scanned as one text."""

    octets: Octets
    origin: Integers
    """Where in the text each octet stands …"""
    after: Integers
    """… and where what stands for it ends."""
    changed: Flags
    """1 where something else stands in the text."""
    starts: Integers
    """Where each window begins in `octets`."""
    ends: Integers
    """Where in the text it ends: up to there what is literal is part of it."""
    cuts: Flags
    """1 where it goes on, but is cut for its length."""
    readings: Flags
    """By which of the READINGS each was read."""


@compiled
def _pass_over(octets: Octets, at: int, end: int) -> int:
    """The first block of _HUNT octets from `at` on in which an "urn" begins, or the last whole one."""
    while at + _HUNT + 3 <= end:
        block = octets[at : at + _HUNT + 3]
        hits = np.uint8(0)
        for i in range(_HUNT):  # vectorised, as in the kernel
            hits |= (
                np.uint8(block[i + 2] | _CASE == 110)
                & np.uint8(block[i + 1] | _CASE == 114)
                & np.uint8(block[i] | _CASE == 117)
            )
        if hits:
            break
        at += _HUNT
    return at


@compiled
def _first(octets: Octets) -> int:
    """Where `urn` first stands in _HUNT + 3 octets, or _HUNT where it does not."""
    first = np.uint8(0)
    for i in range(_HUNT):  # vectorised as above
        hit = (
            np.uint8(octets[i + 2] | _CASE == 110)
            & np.uint8(octets[i + 1] | _CASE == 114)
            & np.uint8(octets[i] | _CASE == 117)
        )
        first = max(first, np.uint8(hit * np.uint8(_HUNT - i)))
    return _HUNT - int(np.int64(first))


@compiled
def _next(octets: Octets, at: int, until: int, filled: int) -> int:
    """Where `urn`, and then `:` or what may stand for it, first begins in `octets[at:until]`, or `until`."""
    if at + _HUNT <= until:
        at = _pass_over(octets, at, until)
    while at < until and at + 4 <= filled:
        if at + _HUNT + 3 <= filled:
            at += _first(octets[at : at + _HUNT + 3])
            if octets[at + 2] | 32 != 110 or octets[at] | 32 != 117 or octets[at + 1] | 32 != 114:
                at = _pass_over(octets, at, until) if at + _HUNT <= until else at
                continue
        elif octets[at + 2] | 32 != 110 or octets[at + 1] | 32 != 114 or octets[at] | 32 != 117:
            at += 1
            continue
        if at >= until:
            break
        behind = octets[at + 3]
        if behind == 58 or behind == 37 or behind == 38 or behind == 92:
            return at
        at += 1
    return until


@compiled
def _is_glued(octets: Octets, at: int) -> bool:
    """Whether a letter or digit stands before, so that no URN begins there (but a subfield code of ISO 2709)."""
    return bool(at > 0 and is_alnum(octets[at - 1]) and not (at > 1 and octets[at - 2] == 31))


@compiled
def _opens(reading: int, octets: Octets, at: int) -> bool:
    """Whether in this reading no letter or digit stands before, though one does in the text: what is there is encoded."""
    if reading == ESCAPES:
        letter = octets[at - 1]
        if at > 1 and octets[at - 2] == 92:
            return bool(letter == 110 or letter == 116 or letter == 114)
        return bool(at > 5 and octets[at - 6] == 92 and octets[at - 5] == 117 and _is_delimiter(_hex(octets, at - 2)))
    if reading == PERCENT:
        return bool(at > 2 and octets[at - 3] == 37 and _is_delimiter(_hex(octets, at - 2)))
    if reading == PERCENT_TWICE and at > 2:
        is_twice = at > 4 and octets[at - 5] == 37 and octets[at - 4] == 50 and octets[at - 3] == 53
        return bool((is_twice or octets[at - 3] == 37) and _is_delimiter(_hex(octets, at - 2)))
    return False


@compiled
def _hex(octets: Octets, at: int) -> int:
    """The octet that two hex digits stand for, -1 if they are none."""
    high, low = hex_digit(octets[at]), hex_digit(octets[at + 1])
    return -1 if high == -1 or low == -1 else 16 * high + low


@compiled
def _is_delimiter(octet: int) -> bool:
    return octet >= 0 and not is_alnum(octet)


@compiled
def _may_help(reading: int, behind: int, is_literal: bool, stop: int) -> bool:
    """Whether a reading can find more at a candidate than stands there literally.

    `behind` is what stands behind "urn", `stop` what ended a literal match there, or 38 if there is a "&" in it.
    """
    if reading == LABELS:
        return behind == 58 and not is_literal
    if behind == 58 and is_literal:
        return (reading == ENTITIES and stop == 38) or (reading == ESCAPES and stop == 92)
    if reading == ENTITIES:
        return behind == 58 or behind == 38
    if reading == ESCAPES:
        return behind == 58 or behind == 92
    return behind == 58 or behind == 37


@compiled
def _is_label(octets: Octets, at: int) -> bool:
    """Whether what is glued to "urn" can be a label: a letter that makes none of turn, burn, churn, spurn, mourn of it."""
    letter = octets[at - 1] | 32
    if letter < 97 or letter == 116 or letter == 98 or letter == 104 or letter == 112 or letter == 111:
        return False
    return not (_opens(PERCENT, octets, at) or _opens(ESCAPES, octets, at))


@compiled
def _is_invisible(first: int, second: int, third: int) -> bool:
    """Whether the octets begin with U+00AD, U+200B to U+200D, U+2060 or U+FEFF in UTF-8."""
    return (
        (first == 0xC2 and second == 0xAD)
        or (first == 0xE2 and second == 0x80 and 0x8B <= third <= 0x8D)
        or (first == 0xE2 and second == 0x81 and third == 0xA0)
        or (first == 0xEF and second == 0xBB and third == 0xBF)
    )


@compiled
def _may_be_broken(octets: Octets, start: int, end: int, filled: int) -> bool:
    """Whether a match, or what begins like one, may go on behind its end: a first look, to spare most the second."""
    if end >= filled:
        return True
    octet = octets[end]
    if octet == 92:
        return True
    if octet >= 0x80:
        return end + 2 >= filled or _is_invisible(octet, octets[end + 1], octets[end + 2])
    at = end
    while at < filled and (octets[at] == 32 or octets[at] == 9) and at < end + 5:
        at += 1
    if at < filled and octets[at] == 13:
        at += 1
    if at < filled and octets[at] != 10:
        return False
    before = octets[end - 1]
    if before == 45 or before == 58 or before == 47 or before == 61:
        return True
    # Between marks it may go on behind any line end: an opening one, and neither blank nor mark between it and the URN.
    for i in range(start - 1, max(-1, start - 66), -1):
        octet = octets[i]
        if octet == 60 or octet == 34 or octet == 39 or octet == 96 or octet == 40 or octet == 91 or octet == 123:
            return True
        if octet <= 32 or octet == 62 or octet == 41 or octet == 93 or octet == 125:
            return False
    return False


@compiled
def _step(reading: int, octets: Octets, at: int, filled: int, is_prefix: bool, plan: Plan) -> tuple[int, int]:
    if reading == PERCENT:
        return percent(octets, at, filled)
    if reading == PERCENT_TWICE:
        return percent_twice(octets, at, filled)
    if reading == ENTITIES:
        return entity(octets, at, filled, plan.names, plan.values)
    if reading == ESCAPES:
        return escape(octets, at, filled)
    return label(octets, at, filled, is_prefix)


@compiled
def _read(
    reading: int, octets: Octets, at: int, filled: int, begin: int, used: int, room: int, plan: Plan, windows: Windows
) -> tuple[int, int, int]:
    """Read on from `at` into the window that begins at `begin` and holds `used - begin` octets, until there are `room`.

    Returns where it stands in the text and in the window, and DONE where the reading ended, OPEN where it met the end
    of the octets, FULL where it met neither.
    """
    roles = plan.rules.roles
    changed = np.uint8(0)
    nothing = colons = 0
    for i in range(begin, used):
        colons += windows.octets[i] == 58
    while used - begin < room:
        if at >= filled:
            return at, used, OPEN
        is_prefix = used > begin and windows.octets[used - 1] == 58 and colons <= 2
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
            if octet == STOP or (roles[octet] == 0 and octet != 37 and octet != 63 and octet != 35):
                return at, used, DONE
            windows.octets[used] = octet
            windows.origin[used] = at
            windows.after[used] = after
            windows.changed[used] = changed | np.uint8(after - at > 1)
            changed = np.uint8(0)
            colons += octet == 58
            used += 1
        at = after
    return at, used, FULL


@compiled
def _try(
    reading: int,
    octets: Octets,
    start: int,
    filled: int,
    final: bool,
    literal_end: int,
    is_glued: bool,
    begin: int,
    plan: Plan,
    windows: Windows,
) -> tuple[int, int, int, bool]:
    """Read a candidate: _FOUND, with the end of its URN in the window and in the text, and whether it is cut there for its
    length; else _NONE or _OPEN.
    """
    at, used, room = start, begin, _FIRST
    most = 2 * plan.rules.max_length + 8
    while True:
        at, used, ended = _read(reading, octets, at, filled, begin, used, min(room, most), plan, windows)
        if ended == OPEN and final:
            ended = DONE
        if used - begin < 4:
            return (_OPEN if ended == OPEN else _NONE), used, -1, False
        if windows.octets[begin + 3] != 58:
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
    if end == -1:
        return _NONE, end, -1, False
    is_cut = end - begin > plan.rules.max_length
    if is_cut:
        _, _, end, _ = match(windows.octets, begin, begin + plan.rules.max_length, plan.rules)
        if end == -1:
            return _NONE, end, -1, False
    if plan.rules.cut_tail and may_stand_in_url(octets, start):
        host, host_end, in_path = find_host(octets, start)
        tail = find_mark(windows.octets, colon + 1, end, plan.rules.path_mark if in_path else 38)
        if host_end > host and tail != -1:
            is_cut = False
            _, _, end, _ = match(windows.octets, begin, tail, plan.rules)
            if end == -1:
                return _NONE, end, -1, False
    text_end = int(windows.after[end - 1])
    changed = is_glued or text_end < literal_end
    for i in range(begin, end):
        changed = changed or windows.changed[i] != 0
    return (_FOUND if changed else _NONE), end, text_end, is_cut


@compiled
def _nid_end(begin: int, used: int, windows: Windows) -> int:
    """Where the NID of what was read ends, -1 if it does not."""
    for i in range(begin + 4, min(used, begin + _LONGEST_PREFIX)):
        if windows.octets[i] == 58:
            return i
    return -1


@compiled
def _is_registered(begin: int, nid_end: int, used: int, plan: Plan, windows: Windows) -> bool:
    """Whether the NID of what was read is registered; its lower case is written behind what was read."""
    to = used
    for i in range(begin + 4, nid_end):
        octet = windows.octets[i]
        windows.octets[to] = octet | 32 if 65 <= octet <= 90 else octet
        to += 1
    return word_number(windows.octets, used, to, plan.nids) != -1


@compiled
def hunt(
    octets: Octets,
    end: int,
    filled: int,
    final: bool,
    starts: Integers,
    ends: Integers,
    state: Integers,
    plan: Plan,
    windows: Windows,
) -> int:
    """Hunt in `octets[state[AT]:end]` for hidden URNs, and append a window for each; how it ended (DONE, FULL, OPEN, ASK).

    `filled` octets are there to look ahead; `starts` and `ends` are those of the literal matches.
    """
    at, literal = state[AT], state[LITERAL]
    result = DONE
    while at < end:
        while literal < len(starts) and ends[literal] <= at:
            literal += 1
        is_literal = literal < len(starts) and starts[literal] <= at
        if is_literal:
            if starts[literal] < at or not _may_help_literal(octets, at, ends[literal], filled, plan):
                at = ends[literal]
                continue
        else:
            until = min(starts[literal], end) if literal < len(starts) else end
            found = _next(octets, at, until, filled)
            if found == until:
                # At the very end "urn" may stand, and what comes next tells.
                if until + 3 > filled and not final:
                    at = max(at, min(until, filled - 3))
                    result = OPEN
                    break
                at = until
                continue
            at = found
        state[AT], state[LITERAL] = at, literal
        result = _candidate(octets, filled, final, ends[literal] if is_literal else -1, state, plan, windows)
        at = state[AT]
        if result != DONE:
            break
    state[AT], state[LITERAL] = at, literal
    return result


@compiled
def _may_help_literal(octets: Octets, start: int, end: int, filled: int, plan: Plan) -> bool:
    """Whether a reading can find more than the literal match [start, end); hardly ever, and this is a quick look."""
    stop = octets[end] if end < filled else np.uint8(0)
    if plan.readings[ESCAPES] and stop == 92:
        return True
    if plan.readings[WRAPS] and (stop <= 32 or stop >= 0x80 or stop == 92):
        return True
    if not plan.readings[ENTITIES]:
        return False
    return bool(stop == 38 or (plan.rules.roles[38] and _holds(octets, start, end, 38)))


@compiled
def _holds(octets: Octets, start: int, end: int, octet: int) -> bool:
    found = False
    for i in range(start, end):
        found |= octets[i] == octet
    return found


@compiled
def _candidate(
    octets: Octets, filled: int, final: bool, literal_end: int, state: Integers, plan: Plan, windows: Windows
) -> int:
    """Read what begins at `octets[state[AT]]` in every way that is on; `literal_end` is that of a literal match, or -1."""
    at, used, count, answered = state[AT], state[USED], state[COUNT], state[ANSWERED]
    if used + 2 * plan.rules.max_length + _SPARE > len(windows.octets) or count == len(windows.starts):
        return FULL
    is_literal = literal_end != -1
    is_glued = _is_glued(octets, at)
    if plan.readings[WRAPS] and not answered and not is_glued and octets[at + 3] == 58:
        first_end = literal_end if is_literal else _stub_end(octets, at, filled)
        if _may_be_broken(octets, at, first_end, filled):
            state[ANSWERED] = 1
            return ASK
    state[ANSWERED] = 0
    stop = 0
    if is_literal:
        stop = octets[literal_end] if literal_end < filled else 0
        if plan.readings[ENTITIES] and _holds(octets, at, literal_end, 38):
            stop = 38
    found_end, found_reading = -1, -1
    for reading in range(READINGS):
        if not plan.readings[reading] or reading == WRAPS:
            continue
        if not _may_help(reading, int(octets[at + 3]), is_literal, int(stop)):
            continue
        if is_glued and not (_is_label(octets, at) if reading == LABELS else _opens(reading, octets, at)):
            continue
        status, _, text_end, _ = _try(reading, octets, at, filled, final, literal_end, is_glued, used, plan, windows)
        if status == _OPEN:
            return OPEN
        if status == _FOUND and text_end > found_end:
            found_end, found_reading = text_end, reading
    if found_reading == -1:
        state[AT] = literal_end if is_literal else at + 3
        return DONE
    # Another reading may have written over it.
    _, window_end, _, is_cut = _try(
        found_reading, octets, at, filled, final, literal_end, is_glued, used, plan, windows
    )
    windows.octets[window_end] = STOP
    windows.starts[count] = used
    windows.ends[count] = found_end
    windows.cuts[count] = is_cut
    windows.readings[count] = found_reading
    state[AT], state[USED], state[COUNT] = found_end, window_end + 1, count + 1
    return DONE


@compiled
def _stub_end(octets: Octets, start: int, filled: int) -> int:
    """Where what begins like a URN and is none ends: behind `urn:`, the NID, or the colon behind it."""
    at = start + 4
    while at < filled and at < start + 36 and (is_alnum(octets[at]) or octets[at] == 45):
        at += 1
    return at + 1 if at < filled and octets[at] == 58 else at


@compiled
def hosts(octets: Octets, places: Integers) -> tuple[Octets, Offsets]:
    """The hosts of the URLs in which URNs at these places stand, in lower case; empty for those that stand in none."""
    offsets = np.zeros(len(places) + 1, np.int32)
    firsts = np.zeros(len(places), np.int64)
    for i in range(len(places)):
        first, end = 0, 0
        if places[i] > 0:  # what stands right before it may be encoded, or a label
            first, end, _ = find_host(octets, places[i])
        firsts[i] = first
        offsets[i + 1] = offsets[i] + end - first
    out = np.empty(offsets[len(places)], np.uint8)
    for i in range(len(places)):
        for j in range(offsets[i + 1] - offsets[i]):
            octet = octets[firsts[i] + j]
            out[offsets[i] + j] = octet | 32 if 65 <= octet <= 90 else octet
    return out, offsets
