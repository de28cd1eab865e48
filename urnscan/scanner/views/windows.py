"""Windows: decoded copies of hidden URNs, concatenated so that the scanner can scan them as a single text; compiled.

A hidden URN is encoded, broken over lines, or written after a label. At each place where a hidden URN may begin, `hunt`
decodes the text with each reading that is on, and keeps the reading that reaches farthest in the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urnscan.compiled.ascii import (
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
from urnscan.compiled.bytes import ByteArray, Integers, is_scheme, is_urn
from urnscan.compiled.jit import compiled, inlined, inner
from urnscan.compiled.strings import Column, Offsets, cut, word_number
from urnscan.scanner.beginning import is_in_word
from urnscan.scanner.grammar import IS_CLOSING, Rules, match
from urnscan.scanner.kernel import Block
from urnscan.scanner.url_context import find_host, find_mark, may_be_in_url
from urnscan.scanner.views.markup import DEPTH, DOUBT, WRAPPER, PartialName, begins_gap, wrapper
from urnscan.scanner.views.readings import (
    ENTITIES,
    ESCAPES,
    LABELS,
    MARKUP,
    PERCENT_ONCE,
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
# Number of bytes that a reading decodes first. Most candidates fail within these bytes.
_FIRST = 40
# Maximum bytes of an incomplete "%HH", component or keyword: `?=%4`, `?key`.
_LONGEST_FRONT = 32
# Bytes of a window after its longest URN, for the look-ahead.
_SPARE = 1 << 12
# Maximum number of consecutive steps that skip text, such as line ends.
_MAX_NOTHING = 16

SLOTS = 6
AT, USED, COUNT, LITERAL, FIRST_END, BROKEN = range(SLOTS)
"""Slots of the state of a hunt, the search for hidden URNs.

AT: the index in the text. USED: the used bytes of the windows. COUNT: the number of windows. LITERAL: the number of the
literal match at or after AT. FIRST_END: 0, or, with the result ASK, the end of the first part of a URN. If the URN goes
on after the line end, the caller appends a window for the URN, and sets BROKEN to the index after the window. Then the
caller calls `hunt` again, which tries the other readings and keeps the window that reaches farthest.
"""

DONE, FULL, OPEN, ASK = range(4)
"""Results of a hunt.

DONE: the end of the text is reached. FULL: the windows are full. OPEN: the bytes after the block decide about AT; call
`hunt` again with more bytes. ASK: the caller must decide whether a URN goes on after a line end.
"""
# Special results of a reading, instead of the end of a URN: there is no URN; more bytes are needed.
_NONE, _OPEN = -1, -2


class Windows(NamedTuple):
    """Decoded copies of hidden URNs (windows), each followed by STOP (the byte 0), to be scanned as a single text."""

    data: ByteArray
    origin: Integers
    """For each byte, the index in the original text where its encoded form begins."""
    after: Integers
    """For each byte, the index in the original text where its encoded form ends."""
    changed: Flags
    """For each byte, 1 if it was encoded, or if text was skipped before it."""
    starts: Integers
    """The start of each window in `data`."""
    ends: Integers
    """The end of each window in the original text. Literal matches that begin inside a window are dropped."""
    cuts: Flags
    """For each window, 1 if the URN was cut at `max_length`."""
    readings: Flags
    """For each window, the number of the reading (the way to decode) that made it."""
    markup: Integers
    """The state of the reading MARKUP: WRAPPER, DEPTH and DOUBT."""


@compiled
def hunt(
    block: Block, end: int, literal: tuple[Integers, Integers], state: Integers, plan: Plan, windows: Windows
) -> int:
    """Search a block for hidden URNs from index `state[AT]` to `end`, and append a window (decoded copy) for each.
    Returns DONE at `end`; FULL if the windows have no more room; OPEN if bytes after the block are needed; ASK if the
    caller must decide by `wraps.read_on` whether a URN goes on after a line end. After these three the caller acts, and
    calls again. Changes `state` and `windows`. The bytes of the block after `end` are only look-ahead. `literal` has
    the starts and the ends (indices) of the literal matches.
    """
    data, filled, final = block
    starts, ends = literal
    at, number = state[AT], state[LITERAL]
    result = DONE
    while at < end and result == DONE:
        while number < len(starts) and ends[number] <= at:
            number += 1
        literal_end, stop, first_end = -1, 0, -1
        if number < len(starts) and starts[number] <= at:
            literal_end = ends[number]
            stop, first_end = _stop(data, at, literal_end, filled, plan)
            # Skip a literal match in which a window ended, or that no reading can make longer.
            if starts[number] < at or not (
                _may_help_literal(stop, plan) or _is_in_encoded(PERCENT_ONCE, data, at, plan)
            ):
                at = literal_end
                continue
        else:
            until = min(starts[number], end) if number < len(starts) else end
            place = next_candidate(data, at, until, filled, plan.readings[MARKUP] != 0)
            # The bytes may end in `urn`. Then the next byte decides.
            if place == until and until + 3 > filled and not final:
                at = max(at, min(until, filled - 3))
                result = OPEN
                continue
            at = place
            if place == until:
                continue
        state[AT] = at
        result = _candidate(block, (literal_end, first_end, stop), state, plan, windows)
        at = state[AT]
    state[AT], state[LITERAL] = at, number
    return result


@inner
def _stop(data: ByteArray, start: int, end: int, filled: int, plan: Plan) -> tuple[int, int]:
    """The byte that ended the literal match `data[start:end]` (0 at the end of the bytes), and its index. Trimmed
    punctuation is skipped, and a malformed piece that may be encoded: the "%" in `urn:a:b%<b>41`. If references are
    decoded and an "&" precedes, the byte is "&".
    """
    has_ampersand = False
    reads_references = (plan.readings[ENTITIES] or plan.readings[MARKUP]) and plan.rules.roles[AMPERSAND] != 0
    if reads_references:
        # Without an early exit the loop is vectorised.
        for i in range(start, end):
            has_ampersand |= data[i] == AMPERSAND
    while plan.rules.trim and end < filled and IS_CLOSING[data[end]]:
        end += 1
    last = min(filled, end + _LONGEST_FRONT)
    while end < last and _is_urn_byte(data[end], plan.rules):
        has_ampersand |= reads_references and data[end] == AMPERSAND
        end += 1
    if has_ampersand:
        return AMPERSAND, end
    return int(data[end]) if end < filled else 0, end


@inner
def _may_help_literal(stop: int, plan: Plan) -> bool:
    """Whether `stop`, the byte that ended a literal match (0 at the end of the bytes), may begin what a reading that is
    on decodes. Percent-encoding is not tested.
    """
    return bool(
        (plan.readings[ESCAPES] and stop == BACKSLASH)
        or (plan.readings[ENTITIES] and stop == AMPERSAND)
        or (plan.readings[MARKUP] and begins_gap(stop))
        or (plan.readings[WRAPS] and (stop <= SPACE or stop >= 0x80 or stop == BACKSLASH))
    )


@inlined
def _is_in_encoded(reading: int, data: ByteArray, at: int, plan: Plan) -> bool:
    """Whether `reading`, if it is PERCENT_ONCE and on, decodes text before the literal match: `%22urn:`."""
    return bool(reading == PERCENT_ONCE and plan.readings[reading] and begins_hidden(reading, data, at))


@inner
def _candidate(block: Block, literal: tuple[int, int, int], state: Integers, plan: Plan, windows: Windows) -> int:
    """Decode the text at `state[AT]` with each reading that is on, and append the window that reaches farthest. Returns
    a result of `hunt`. `literal` has the end of the literal match, or -1; then the index and the byte of `_stop`.
    """
    literal_end, first_end, stop = literal
    data, filled, _ = block
    at, used, count = state[AT], state[USED], state[COUNT]
    if used + 3 * plan.rules.max_length + _SPARE > len(windows.data) or count == len(windows.starts):
        return FULL
    is_literal, follows_word = literal_end != -1, is_in_word(data, at)
    following = int(data[at + 3]) if is_urn(data, at) else LESS
    if plan.readings[WRAPS] and not state[FIRST_END] and not follows_word and following == COLON:
        # Without a literal match, the candidate may be `urn:`, perhaps with a NID and a colon.
        if not is_literal:
            first_end, _, _, _ = match(data, at, min(filled, at + _LONGEST_PREFIX), plan.rules)
            first_end += first_end < filled and data[first_end] == COLON
        if may_be_broken(data, at, first_end, filled):
            state[FIRST_END] = first_end
            return ASK
    # Trimming ends a URN at an apostrophe if another one precedes the URN. So the window needs this one, too.
    if at > 0 and data[at - 1] == APOSTROPHE:
        windows.data[used] = APOSTROPHE
        used += 1
    best_end, best_reading, begin = -1, -1, used
    if state[BROKEN]:
        best_end, best_reading, begin = windows.ends[count], WRAPS, state[BROKEN]
    state[FIRST_END] = state[BROKEN] = 0
    for reading in range(READINGS):
        if not plan.readings[reading] or reading == WRAPS:
            continue
        is_in_encoded = is_literal and _is_in_encoded(reading, data, at, plan)
        if not (is_in_encoded or may_help(reading, following, is_literal, stop)):
            continue
        if follows_word and not begins_hidden(reading, data, at):
            continue
        window_end, _ = _read_urn(reading, block, (at, begin), plan, windows)
        if window_end == _OPEN:
            return OPEN
        if window_end == _NONE:
            continue
        text_end = windows.after[window_end - 1]
        is_hidden = follows_word or (is_in_encoded and text_end < literal_end)
        is_hidden = is_hidden or _is_different(block, begin, window_end, literal_end, plan, windows)
        if is_hidden and text_end > best_end:
            best_end, best_reading = text_end, reading
    if best_reading == -1:
        state[AT] = literal_end if is_literal else at + 1
        return DONE
    # All readings write to the same place, so the best one must be decoded again.
    if best_reading != WRAPS:
        window_end, is_cut = _read_urn(best_reading, block, (at, used), plan, windows)
        windows.data[window_end] = STOP
        windows.starts[count], windows.ends[count] = used, best_end
        windows.cuts[count], windows.readings[count] = is_cut, best_reading
        begin = window_end + 1
    state[AT], state[USED], state[COUNT] = best_end, begin, count + 1
    return DONE


@inner
def _is_different(block: Block, begin: int, end: int, literal_end: int, plan: Plan, windows: Windows) -> bool:
    """Whether the URN `windows.data[begin:end]` has changed bytes, or a reference ends it before `literal_end`, the end
    of the literal match.
    """
    data, filled, _ = block
    text_end = windows.after[end - 1]
    if windows.changed[begin:end].any():
        return True
    if text_end >= literal_end or data[text_end] != AMPERSAND:
        return False
    _, after = read_reference(data, text_end, filled, plan.references)
    return bool(after > text_end + 1)


@inner
def _read_urn(reading: int, block: Block, places: tuple[int, int], plan: Plan, windows: Windows) -> tuple[int, bool]:
    """Decode a candidate; `places` are its indices in the text and in the windows. Returns the end of the URN in the
    windows, _NONE or _OPEN, and whether the URN is cut at `max_length`.
    """
    data, _, final = block
    start, begin = places
    rules = plan.rules
    at, used, room = start, begin, _FIRST
    most = 2 * rules.max_length + 8
    if reading == MARKUP:
        windows.markup[WRAPPER] = wrapper(data, start, plan.elements)
        windows.markup[DEPTH] = windows.markup[DOUBT] = 0
    while True:
        at, used, ended = _read(reading, block, (start, at), (begin, used, min(room, most)), plan, windows)
        if ended == OPEN and final:
            ended = DONE
        if used - begin < 4:
            return (_OPEN if ended == OPEN else _NONE), False
        if not is_scheme(windows.data, begin):
            return _NONE, False
        colon, _, end, undecided = match(windows.data, begin, used, rules)
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
        _, _, end, _ = match(windows.data, begin, end, rules)
    is_cut = end - begin > rules.max_length
    if is_cut:
        _, _, end, _ = match(windows.data, begin, begin + rules.max_length, rules)
    if end != -1 and rules.cut_tail and may_be_in_url(data, start):
        host, host_end, in_path = find_host(data, start)
        tail = find_mark(windows.data, colon + 1, end, rules.path_mark if in_path else AMPERSAND)
        if host_end > host and tail != -1:
            is_cut = False
            _, _, end, _ = match(windows.data, begin, tail, rules)
    return end, is_cut


@inner
def _without_punctuation(begin: int, end: int, windows: Windows) -> int:
    """Where the URN `windows.data[begin:end]` ends if it must not go on with punctuation after a gap (skipped text):
    the index after the first gap after its last letter or digit; without such a gap `end`, even after punctuation.
    """
    for i in range(end - 1, begin, -1):
        if is_alnum(windows.data[i]):
            break
        if windows.origin[i] > windows.after[i - 1]:
            end = i
    return end


@inner
def _read(
    reading: int, block: Block, places: tuple[int, int], window: tuple[int, int, int], plan: Plan, windows: Windows
) -> tuple[int, int, int]:
    """Decode more bytes into a window. `places`: the indices in the text of the URN and of the next byte. `window`: its
    start, its end so far, its maximum length. Returns the indices reached in text and window, and DONE (no byte of a
    URN follows), OPEN (the block ended) or FULL.
    """
    start, at = places
    begin, used, room = window
    rules = plan.rules
    changed = np.uint8(0)
    nothing = colons = 0
    for i in range(begin, used):
        colons += windows.data[i] == COLON
    while used - begin < room:
        if at >= block.filled:
            return at, used, OPEN
        name = PartialName(start, int(windows.data[used - 1]) if used > begin else 0, colons)
        byte, after = step(reading, block, at, name, plan, windows.markup)
        if after == MORE:
            return at, used, OPEN
        if byte == NOTHING:
            nothing += 1
            if nothing > _MAX_NOTHING:
                return at, used, DONE
            changed = np.uint8(1)
        else:
            nothing = 0
            if byte == STOP or not _is_urn_byte(byte, rules):
                return at, used, DONE
            windows.data[used] = byte
            windows.origin[used] = at
            windows.after[used] = after
            windows.changed[used] = changed | np.uint8(after - at > 1)
            changed = np.uint8(0)
            colons += byte == COLON
            used += 1
        at = after
    return at, used, FULL


@inlined
def _is_urn_byte(byte: int, rules: Rules) -> bool:
    return rules.roles[byte] != 0 or byte == PERCENT or byte == QUESTION_MARK or byte == HASH


@inner
def _is_registered(begin: int, colon: int, used: int, plan: Plan, windows: Windows) -> bool:
    """Whether the NID is registered. Overwrites `windows.data` from `used`, the end of the window, on."""
    to = used
    for i in range(begin + 4, colon):
        windows.data[to] = lower(windows.data[i])
        to += 1
    return word_number(windows.data, used, to, plan.nids) != -1


def hosts(data: ByteArray, places: Integers) -> Column:
    """For each URN, at an index in `places`: the host of the URL around it, in lower case; empty outside of URLs."""
    starts, ends = np.empty(len(places), np.int32), np.empty(len(places), np.int32)
    _find_hosts(data, places, starts, ends)
    host, offsets = cut(data, starts, ends)
    return np.frombuffer(host.tobytes().lower(), np.uint8), offsets


@compiled
def _find_hosts(data: ByteArray, places: Integers, starts: Offsets, ends: Offsets) -> None:
    # The quick test `may_be_in_url` is left out, because `%3D` or a label may precede a hidden URN.
    for i in range(len(places)):
        starts[i], ends[i], _ = find_host(data, places[i])
