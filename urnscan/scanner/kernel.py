"""The kernel: the grammar of all three syntaxes where `urn:` stands, in plain Python, compiled by Numba.

It goes by tables of octet roles (`urn/syntax.py`), and writes what it finds straight into columns. Small functions become
part of those that call them, so that names cost nothing.
With NUMBA_DISABLE_JIT=1 the same functions run in the debugger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.jit import inlined, lean
from urnscan.arrays.octets import Integers, Octets, copy, count_lf, hunt, is_scheme, lower, may_hold
from urnscan.scanner.url_context import find_host, find_mark, may_stand_in_url
from urnscan.urn.syntax import (
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
    "kernel",
    "match",
]

END, CUT = -2, -1
"""Values of `stop` that are no octet: the end of the input, and the cut at `max_length`."""

LOOKAHEAD = 5
"""What decides whether a URN ends before a "%" or a "?" is no longer than "?+%HH"."""
REJECT = 256
"""Octets of the text of a reject, at most; whether a URN begins is decided in 40."""
_NEAR = 256  # octets of a match that trimming looks at first
_DENSE = 256  # so close behind a match the next one is likely
_U, _R, _N, _COLON, _COMMA, _SEMICOLON, _PERCENT = np.frombuffer(b"urn:,;%", np.uint8)
_GO_ON, _WAIT, _FULL = range(3)  # whether something could be appended


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


class _Urn(NamedTuple):
    """A URN in the octets, and the URL in which it stands."""

    colon: int
    """Behind the NID."""
    nss_end: int
    end: int
    """-1 where there is none."""
    is_cut: bool
    """By `max_length`."""
    waits: bool
    """Nothing can be said before more is read."""
    host: int
    host_end: int
    """The same as `host` where there is none."""
    mark: int
    """What ends it in that URL, besides "#"; 0 for nothing."""


class RejectColumns(NamedTuple):
    """The same for the columns of Rejects."""

    start: Integers
    line: Integers
    position: npt.NDArray[np.int32]
    text: Octets
    text_offsets: npt.NDArray[np.int32]


@lean
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


@lean
def _may_go_on(octets: Octets, end: int, limit: int) -> bool:
    """Whether octets from `limit` on could lengthen what ends at `end`: it touches, or "%" or "?" looks further."""
    return end == limit or (end + LOOKAHEAD > limit and (octets[end] == 37 or octets[end] == 63))


@lean
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


@lean
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


@inlined
def _is_in_word(octets: Octets, start: int, roles: Octets) -> bool:
    """Whether a letter or digit stands before `start`; one right behind US (31), MARC's subfield delimiter, is a code."""
    return bool(start > 0 and roles[octets[start - 1]] & ALNUM and not (start > 1 and octets[start - 2] == 31))


@inlined
def _longest(octets: Octets, start: int, filled: int, final: bool, rules: Rules) -> _Urn:
    """The longest URN at `start` of at most `max_length` octets, and the URL around it.

    Where trimming or the tail of the URL cut it off before, it may be a shorter one.
    """
    limit = min(filled, start + rules.max_length)
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
        undecided
        and near < limit
        and not (rules.trim and _separator(octets, colon, end - 1) != -1)
        and not (mark and find_mark(octets, colon + 1, end - 1, mark) != -1)
    ):
        near = min(limit, near + near - start)
        colon, nss_end, end, undecided = match(octets, start, near, rules)
    is_cut = waits = False
    if undecided and near == limit == filled:
        waits = not final
    elif undecided and near == limit:
        wide = min(filled, start + 2 * rules.max_length)
        _, _, longest, undecided = match(octets, start, wide, rules)
        waits = undecided and wide == filled and not final
        is_cut = longest > end
    return _Urn(colon, nss_end, end, is_cut, waits, host, host_end, mark)


@inlined
def _separator(octets: Octets, colon: int, end: int) -> int:
    """Where the first "," or ";" stands that "urn:" follows, between the NID's colon and `end`, or -1."""
    if may_hold(octets, colon + 1, end, _COMMA, _SEMICOLON):
        for i in range(colon + 1, end - 4):
            if (octets[i] == 44 or octets[i] == 59) and is_scheme(octets, i + 1):
                return i
    return -1


@inlined
def _trim(octets: Octets, start: int, colon: int, nss_end: int, end: int, rules: Rules) -> tuple[int, int, int]:
    """Where the match [start, end) is cut before the next of a list (`end`: it is not), and what trimming leaves of that.

    The latter is where the NSS ends, and the match; -1: nothing is left.
    """
    item_end = end
    separator = _separator(octets, colon, end)
    if separator != -1:
        item_end = separator
        _, nss_end, end, _ = match(octets, start, item_end, rules)
    if end != -1 and (octets[end - 1] == 41 or _is_closing(octets[end - 1])):
        nss_end, end = _without_closing(octets, start, end, rules)
    return item_end, nss_end, end


@lean
def _without_closing(octets: Octets, start: int, end: int, rules: Rules) -> tuple[int, int]:
    """Where the NSS and the match [start, end) end without closing punctuation and unmatched brackets; -1: none is left.

    What is left is matched again, and cut again, until nothing changes.
    """
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


@inlined
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


# Where the kernel stands between two calls: the slots of its `state`.
SLOTS = 9
AT, COUNTED, LINE, FOUND, TEXT_USED, CANONICAL_USED, HOST_USED, REJECTED, REJECT_TEXT_USED = range(SLOTS)


@inlined
def _line(octets: Octets, at: int, state: Integers, rules: Rules) -> int:
    """The line in which `at` stands, no LF being counted twice; 0 where none are counted."""
    if not rules.count_lines:
        return 0
    state[LINE] += count_lf(octets, state[COUNTED], at)
    state[COUNTED] = at
    return int(state[LINE])


@lean
def _add_reject(
    octets: Octets,
    start: int,
    filled: int,
    final: bool,
    position: int,
    state: Integers,
    rules: Rules,
    rejects: RejectColumns,
) -> int:
    """Append the reject that `start` may begin, -1 as `position`, or that a malformed %HH ends there behind it.

    _GO_ON, also where it is none; _WAIT or _FULL where it cannot be appended yet.
    """
    row, used = state[REJECTED], state[REJECT_TEXT_USED]
    if row == len(rejects.start) or used + REJECT > len(rejects.text):
        return _FULL
    end = _reject_end(octets, start, filled)
    if end == filled and end < start + REJECT and not final:
        return _WAIT
    if position == -1 and not _is_reject(octets, start, end, rules):
        return _GO_ON
    rejects.start[row] = start
    rejects.line[row] = _line(octets, start, state, rules)
    rejects.position[row] = position
    used = copy(octets, start, end, rejects.text, used)
    rejects.text_offsets[row + 1] = used
    state[REJECTED] = row + 1
    state[REJECT_TEXT_USED] = used
    return _GO_ON


@lean
def _reject_end(octets: Octets, start: int, filled: int) -> int:
    """Where the text of a reject at `start` ends: before one of REJECT_ENDS, or with REJECT octets, or with the last."""
    text = octets[start : min(filled, start + REJECT)]
    for i in range(len(text)):
        octet = text[i]
        if octet <= 32 or octet >= 127 or octet == 34 or octet == 60 or octet == 62:
            return start + i
    return start + len(text)


@lean
def _is_reject(octets: Octets, start: int, end: int, rules: Rules) -> bool:
    """Whether no URN begins in the text [start, end), however short matches are cut, and yet it names something."""
    names = np.uint8(0)
    for i in range(start + 4, end):
        names |= rules.roles[octets[i]] & np.uint8(ALNUM)
    _, _, match_end, _ = match(octets, start, end, rules)
    return bool(names and match_end == -1)


@inlined
def _has_room(columns: Columns, state: Integers, text: int, host: int) -> bool:
    """Whether a match of so many octets, in a URL with a host of so many, can be appended."""
    return bool(
        state[FOUND] < len(columns.start)
        and state[TEXT_USED] + text <= len(columns.text)
        and state[CANONICAL_USED] + text <= len(columns.canonical)
        and state[HOST_USED] + host <= len(columns.host)
    )


@inlined
def _add_text(octets: Octets, start: int, end: int, state: Integers, columns: Columns) -> None:
    """Append the octets as found."""
    used = copy(octets, start, end, columns.text, state[TEXT_USED])
    columns.text_offsets[state[FOUND] + 1] = used
    state[TEXT_USED] = used


@inlined
def _add_canonical(octets: Octets, start: int, colon: int, end: int, state: Integers, columns: Columns) -> None:
    """Append the lexical canonical form: `urn:` and the NID in lower case, the hex digits of every %HH in upper case."""
    used = state[CANONICAL_USED]
    canonical = columns.canonical[used : used + end - start]
    canonical[0], canonical[1], canonical[2], canonical[3] = _U, _R, _N, _COLON
    for i in range(4, colon - start):
        canonical[i] = lower(octets[start + i])
    copy(octets, colon, end, canonical, colon - start)
    if may_hold(octets, colon, end, _PERCENT, _PERCENT):
        for i in range(len(canonical) - 2):
            if canonical[i] == 37:
                for j in range(i + 1, i + 3):
                    canonical[j] -= 32 * (canonical[j] >= 97)
    columns.canonical_offsets[state[FOUND] + 1] = used + len(canonical)
    state[CANONICAL_USED] = used + len(canonical)


@inlined
def _add_host(octets: Octets, start: int, end: int, state: Integers, columns: Columns) -> None:
    """Append the host in lower case."""
    used = state[HOST_USED]
    for i in range(start, end):
        columns.host[used] = lower(octets[i])
        used += 1
    columns.host_offsets[state[FOUND] + 1] = used
    state[HOST_USED] = used


@inlined
def _fragment(octets: Octets, at: int, end: int) -> int:
    """Where the first "#" from `at` on stands, or `end`."""
    while at < end and octets[at] != 35:
        at += 1
    return at


@lean
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
    at, dense_until = state[AT], 0
    status = _GO_ON
    while status == _GO_ON:
        at = start = hunt(octets, at, filled, dense_until)
        if start + 4 > filled:
            if final:
                at = filled
            break
        if _is_in_word(octets, start, rules.roles):
            at = start + 1
            continue

        colon, nss_end, end, is_cut, waits, host, host_end, mark = _longest(octets, start, filled, final, rules)
        if waits:
            break
        if end == -1:
            if rules.rejects:
                status = _add_reject(octets, start, filled, final, -1, state, rules, rejects)
            at = start + (status == _GO_ON)
            continue
        tail = find_mark(octets, colon + 1, end, mark) if mark else -1
        if tail != -1:
            is_cut = False
            _, nss_end, end, _ = match(octets, start, tail, rules)
            if end == -1:
                at = tail
                continue

        if not _has_room(columns, state, end - start, host_end - host):
            status = _FULL
            break
        item_end, trimmed_nss_end, trimmed_end = _trim(octets, start, colon, nss_end, end, rules)
        # What ends before a "%" that is no cut is followed by a malformed %HH.
        if rules.rejects and end < filled and octets[end] == 37 and not is_cut and not (rules.trim and item_end < end):
            status = _add_reject(octets, start, filled, final, end - start, state, rules, rejects)
            if status != _GO_ON:
                break
        trailing = end - max(start, trimmed_end)
        at = end
        if rules.trim:
            at = item_end
            if trimmed_end == -1:
                continue
            is_cut = is_cut and trimmed_end == end
            nss_end, end, trailing = trimmed_nss_end, trimmed_end, 0
        dense_until = at + _DENSE

        found = state[FOUND]
        columns.start[found] = start
        columns.length[found] = end - start
        columns.line[found] = _line(octets, start, state, rules)
        columns.nid_length[found] = colon - start - 4
        columns.stop[found] = CUT if is_cut else (octets[end] if end < filled else END)
        columns.trailing[found] = min(trailing, 255)
        _add_text(octets, start, end, state, columns)
        canonical_end = _fragment(octets, nss_end, end) if rules.keep_query else nss_end
        _add_canonical(octets, start, colon, canonical_end, state, columns)
        _add_host(octets, host, host_end, state, columns)
        state[FOUND] = found + 1

    _line(octets, at, state, rules)
    state[AT] = at
    return status != _FULL
