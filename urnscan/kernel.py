"""The kernel: the hunt for `urn:` and the grammar of all three syntaxes, in plain Python, compiled by Numba.

It goes by tables of octet roles (`syntax.py`), and writes what it finds straight into columns. It stands in one file with
most of what it calls, because Numba's cache of a compiled function watches only the file of the function itself.
With NUMBA_DISABLE_JIT=1 the same functions run in the debugger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled import compiled
from urnscan.links import find_host, find_mark, may_stand_in_url
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
)

__all__ = [
    "AT",
    "CANONICAL_USED",
    "COUNTED",
    "CUT",
    "END",
    "FOUND",
    "HOST_USED",
    "LINE",
    "LOOKAHEAD",
    "REJECT",
    "REJECTED",
    "REJECT_TEXT_USED",
    "SLOTS",
    "TEXT_USED",
    "Columns",
    "Integers",
    "Octets",
    "RejectColumns",
    "Rules",
    "count_lf",
    "kernel",
    "match",
]

END, CUT = -2, -1
"""Values of `stop` that are no octet: the end of the input, and the cut at `max_length`."""

Octets = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

LOOKAHEAD = 5
"""What decides whether a URN ends before a "%" or a "?" is no longer than "?+%HH"."""
REJECT = 256
"""Octets of the text of a reject, at most; whether a URN begins is decided in 40."""
_HUNT = 64  # octets that are searched for "urn:" at once
_NEAR = 256  # octets of a match that trimming looks at first
_DENSE = 4 * _HUNT  # so close behind a match the next one is likely
_CASE = np.uint8(32)  # the bit in which upper and lower case differ; an octet of its own keeps the hunt in octets


class Rules(NamedTuple):
    """A Grammar as compiled code takes it."""

    roles: Octets
    nid_min: int
    hyphen_ends_nid: bool
    tail: int
    max_length: int
    trim: bool
    cut_tail: bool
    path_mark: int
    """What ends a URN in the path of a URL, if that is cut; there "#" does in any case."""
    keep_query: bool
    count_lines: bool
    rejects: bool


class Columns(NamedTuple):
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
    host: Octets
    host_offsets: npt.NDArray[np.int32]


class RejectColumns(NamedTuple):
    """The same for the columns of Rejects."""

    start: Integers
    line: Integers
    position: npt.NDArray[np.int32]
    text: Octets
    text_offsets: npt.NDArray[np.int32]


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
    return end == limit or (end + LOOKAHEAD > limit and (octets[end] == 37 or octets[end] == 63))


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
def match(octets: Octets, start: int, limit: int, rules: Rules) -> tuple[int, int, int, bool]:
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
def _trimmed(octets: Octets, start: int, nss_end: int, end: int, rules: Rules) -> tuple[int, int]:
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
        _, nss_end, again, _ = match(octets, start, kept, rules)
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
def count_lf(octets: Octets, start: int, end: int) -> int:
    """The LF octets in `octets[start:end]`."""
    count = 0
    part = octets[start:end]
    for i in range(len(part)):
        count += part[i] == 10
    return count


# Where the kernel stands between two calls: the slots of its `state`.
SLOTS = 9
AT, COUNTED, LINE, FOUND, TEXT_USED, CANONICAL_USED, HOST_USED, REJECTED, REJECT_TEXT_USED = range(SLOTS)


@compiled
def _reject_end(
    octets: Octets, start: int, filled: int, final: bool, state: Integers, rejects: RejectColumns
) -> tuple[int, bool]:
    """Where the text of a reject at `start` ends: before one of REJECT_ENDS, or with REJECT octets, or with the last.

    -1 where it cannot be appended yet, and then whether for want of room, or of the octets that come next.
    """
    if state[REJECTED] == len(rejects.start) or state[REJECT_TEXT_USED] + REJECT > len(rejects.text):
        return -1, True
    text = octets[start : min(filled, start + REJECT)]
    for i in range(len(text)):
        octet = text[i]
        if octet <= 32 or octet >= 127 or octet == 34 or octet == 60 or octet == 62:
            return start + i, False
    if len(text) < REJECT and not final:
        return -1, False
    return start + len(text), False


@compiled
def _is_reject(octets: Octets, start: int, end: int, rules: Rules) -> bool:
    """Whether no URN begins in the text [start, end), however short matches are cut, and yet it names something."""
    names = np.uint8(0)
    for i in range(start + 4, end):
        names |= rules.roles[octets[i]] & np.uint8(ALNUM)
    _, _, match_end, _ = match(octets, start, end, rules)
    return bool(names and match_end == -1)


@compiled
def _add_reject(
    octets: Octets, start: int, end: int, line: int, position: int, state: Integers, rejects: RejectColumns
) -> None:
    """Append a reject with the text [start, end)."""
    row, used = state[REJECTED], state[REJECT_TEXT_USED]
    rejects.start[row] = start
    rejects.line[row] = line
    rejects.position[row] = position
    for i in range(end - start):
        rejects.text[used + i] = octets[start + i]
    rejects.text_offsets[row + 1] = used + end - start
    state[REJECTED] = row + 1
    state[REJECT_TEXT_USED] = used + end - start


@compiled
def kernel(
    octets: Octets,
    filled: int,
    final: bool,
    state: Integers,
    rules: Rules,
    columns: Columns,
    rejects: RejectColumns,
) -> bool:
    """Scan `octets[state[AT]:filled]` and append what is found; True when the block is done, False when a column is full.

    Done, `state[AT]` is the first position that the next block must see again (`filled`, where `final`).
    """
    roles, max_length = rules.roles, rules.max_length
    at = state[AT]
    counted = state[COUNTED]
    line = state[LINE]
    found = state[FOUND]
    text_used = state[TEXT_USED]
    canonical_used = state[CANONICAL_USED]
    host_used = state[HOST_USED]
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
        near = min(limit, start + _NEAR) if rules.trim or rules.cut_tail else limit
        colon, nss_end, end, undecided = match(octets, start, near, rules)
        host, host_end, mark = start, start, 0
        if end != -1 and may_stand_in_url(octets, start):
            host, host_end, in_path = find_host(octets, start)
            if rules.cut_tail and host < host_end:
                mark = rules.path_mark if in_path else 38
        # A list without spaces is one long match, and trimming begins anew behind each comma: look no further than that,
        # nor than where the tail of a URL is cut off.
        while (
            near < limit
            and undecided
            and not (rules.trim and _separator(octets, colon, end - 1) != -1)
            and not (mark and find_mark(octets, colon + 1, end - 1, mark) != -1)
        ):
            near = min(limit, near + near - start)
            colon, nss_end, end, undecided = match(octets, start, near, rules)
        cut = False
        if undecided and near == limit:
            if limit == filled and not final:
                at = start
                break
            if limit < filled:
                wide = min(filled, start + 2 * max_length)
                _, _, longest, undecided = match(octets, start, wide, rules)
                if undecided and wide == filled and not final:
                    at = start
                    break
                cut = longest > end
        if end == -1:
            if rules.rejects:
                text_end, is_full = _reject_end(octets, start, filled, final, state, rejects)
                if text_end == -1:
                    at = start
                    done = not is_full
                    break
                if _is_reject(octets, start, text_end, rules):
                    if rules.count_lines:
                        line += count_lf(octets, counted, start)
                        counted = start
                    _add_reject(octets, start, text_end, line * rules.count_lines, -1, state, rejects)
            at = start + 1
            continue

        if mark:
            tail = find_mark(octets, colon + 1, end, mark)
            if tail != -1:
                cut = False
                _, nss_end, end, _ = match(octets, start, tail, rules)
                if end == -1:
                    at = tail
                    continue

        if (
            found == rows
            or host_used + host_end - host > len(columns.host)
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
            _, trimmed_nss_end, trimmed_end, _ = match(octets, start, item_end, rules)
        if trimmed_end != -1:
            trimmed_nss_end, trimmed_end = _trimmed(octets, start, trimmed_nss_end, trimmed_end, rules)
        # What ends before a "%" that is no cut is followed by a malformed %HH.
        if rules.rejects and end < filled and octets[end] == 37 and not cut and not (rules.trim and separator != -1):
            text_end, is_full = _reject_end(octets, start, filled, final, state, rejects)
            if text_end == -1:
                at = start
                done = not is_full
                break
            if rules.count_lines:
                line += count_lf(octets, counted, start)
                counted = start
            _add_reject(octets, start, text_end, line * rules.count_lines, end - start, state, rejects)
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
            line += count_lf(octets, counted, start)
            counted = start
            columns.line[found] = line
        else:
            columns.line[found] = 0
        columns.start[found] = start
        columns.length[found] = end - start
        columns.nid_length[found] = colon - start - 4
        columns.trailing[found] = min(trailing, 255)
        columns.stop[found] = CUT if cut else (octets[end] if end < filled else END)

        taken = octets[start:end]
        text = columns.text[text_used : text_used + len(taken)]
        for i in range(len(taken)):
            text[i] = taken[i]
        text_used += len(taken)

        canonical_end = nss_end
        if rules.keep_query:  # up to the fragment
            while canonical_end < end and octets[canonical_end] != 35:
                canonical_end += 1
        length = canonical_end - start
        canonical = columns.canonical[canonical_used : canonical_used + length]
        percents = 0
        for i in range(length):
            canonical[i] = taken[i]
            percents += taken[i] == 37
        for i in range(colon - start):
            canonical[i] |= _CASE * np.uint8(65 <= canonical[i] <= 90)
        if percents:
            for i in range(length - 2):
                if canonical[i] == 37:
                    for j in range(i + 1, i + 3):
                        canonical[j] -= _CASE * np.uint8(canonical[j] >= 97)
        canonical_used += length

        for i in range(host, host_end):
            columns.host[host_used] = octets[i] | (_CASE * np.uint8(65 <= octets[i] <= 90))
            host_used += 1
        found += 1
        columns.text_offsets[found] = text_used
        columns.canonical_offsets[found] = canonical_used
        columns.host_offsets[found] = host_used
    else:
        if final:
            at = filled

    if rules.count_lines:
        line += count_lf(octets, counted, at)
        counted = at
    state[AT] = at
    state[COUNTED] = counted
    state[LINE] = line
    state[FOUND] = found
    state[TEXT_USED] = text_used
    state[CANONICAL_USED] = canonical_used
    state[HOST_USED] = host_used
    return done
