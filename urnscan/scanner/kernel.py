"""The kernel: scans a block of bytes and appends matches and rejects to columns. Plain Python, compiled by Numba.

All syntaxes share the same code, because a syntax is a table of roles. The columns become the arrays of the Arrow
tables, so no match is copied. Small functions are inlined into their callers, so a call costs nothing. With
NUMBA_DISABLE_JIT=1 the same functions run in a debugger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import AMPERSAND, HASH, PERCENT, SPACE, lower, upper
from urnscan.compiled.bytes import ByteArray, Integers, copy, count_lf, find_byte, hunt, may_hold
from urnscan.compiled.jit import compiled, inlined, inner
from urnscan.scanner.beginning import is_in_word, may_be_character
from urnscan.scanner.ending import MAY_BE_CUT, is_cut_short, letter_length, needs_more
from urnscan.scanner.grammar import Rules, is_selected, match, may_be_selected, separator, trim
from urnscan.scanner.url_context import find_host, find_mark, may_be_in_url
from urnscan.urn.syntax import ALNUM

END, CUT = -2, -1
"""Values of `stop` that are not bytes: END for the end of the input, CUT for a cut at `max_length`."""
REJECT = 256
"""Maximum bytes of the text of a reject. Whether a URN begins depends on at most 40 bytes."""
REST = 4
"""Number of bytes after a match that show the error in which the match ends, such as "?+?="."""

SLOTS = 12
AT, COUNTED, LINE, LEFT_OUT, DOUBT, BEGIN, MATCHES, TEXT_USED, CANONICAL_USED, HOST_USED, REJECTS, REJECT_TEXT_USED = (
    range(SLOTS)
)
"""Slots of the state of a scan. All indices are in the block.

AT: the index reached. COUNTED: the index up to which lines are counted. LINE: the line number, from 1, at COUNTED.
LEFT_OUT: the number of matches that `nid` or `not_nid` left out. DOUBT: -1, or the index of a `urn:` after a letter;
the caller must decide whether this letter ends a character of several bytes. BEGIN: the index of a `urn:` for which the
caller decided that it does. The others: the used lengths of the columns.
"""

# Results of an attempt to append a row: appended, more bytes are needed, the columns are full.
_GO_ON, _WAIT, _FULL = range(3)
# Bytes of a match that are matched first, if trimming may end the match early.
_NEAR = 256
# Within this number of bytes after a match, another match is likely.
_DENSE = 256
_QUOTE, _LESS, _GREATER, _DELETE = b'"<>\x7f'
_U, _R, _N, _COLON, _PERCENT, _HASH, _QUESTION_MARK = np.frombuffer(b"urn:%#?", np.uint8)


class Block(NamedTuple):
    """A part of a text in memory: the first `filled` bytes of `data`."""

    data: ByteArray
    filled: int
    """Number of bytes, from the beginning of `data`, that belong to the text; the others have no meaning."""
    final: bool
    """Whether the text ends after these bytes."""


class Columns(NamedTuple):
    """The arrays that the kernel fills: the columns of `Matches`, except `via`, with free rows at the end.
    `state[MATCHES]` is the number of filled rows.
    """

    start: Integers
    length: npt.NDArray[np.int32]
    line: Integers
    nid_length: ByteArray
    stop: npt.NDArray[np.int16]
    punctuation: ByteArray
    cut_short: npt.NDArray[np.bool_]
    text: ByteArray
    text_offsets: npt.NDArray[np.int32]
    canonical: ByteArray
    canonical_offsets: npt.NDArray[np.int32]
    host: ByteArray
    host_offsets: npt.NDArray[np.int32]


class RejectColumns(NamedTuple):
    """The arrays that the kernel fills: the columns of `Rejects`, with free rows at the end. `state[REJECTS]` is the
    number of filled rows.
    """

    start: Integers
    line: Integers
    position: npt.NDArray[np.int32]
    rest: npt.NDArray[np.uint32]
    text: ByteArray
    text_offsets: npt.NDArray[np.int32]


class _Urn(NamedTuple):
    """A URN in a block, and the host of the URL around it. Positions are indices in the block; ends are exclusive."""

    start: int
    colon: int
    """The index of the colon after the NID."""
    nss_end: int
    end: int
    """-1 if there is no URN."""
    is_cut: bool
    """Whether the URN was cut at `max_length`."""
    punctuation: int
    """Number of bytes that `trim` would cut off."""
    cut_short: bool
    """Whether the text after the URN looks like a part of the URN."""
    host: int
    host_end: int
    """Equal to `host` if there is no URL with a host."""


@compiled
def kernel(block: Block, state: Integers, rules: Rules, columns: Columns, rejects: RejectColumns) -> bool:
    """Scan a block (a part of a text) from index `state[AT]` on, and append matches and rejects to the columns.

    Returns True if the block is done. Returns False if a column is full (the caller empties the columns), or if
    `state[DOUBT]` is not -1 (the caller decides about the letter there); then the caller calls again with the same
    block. `state` has the slots AT to REJECT_TEXT_USED, and is changed. When a block is done, `state[AT]` is the first
    index that must be scanned again with the next block; in a final block it is the end of the block.
    """
    data, filled, final = block
    at, dense_until = state[AT], 0
    status = _GO_ON
    while status == _GO_ON:
        at = start = hunt(data, at, filled, dense_until)
        if start + 4 > filled:
            at = filled if final else at
            break
        if is_in_word(data, start) and start != state[BEGIN]:
            if may_be_character(data, start):
                state[DOUBT], status = start, _FULL
                break
            at = start + 1
            continue

        urn, mark, waits = _longest(block, start, rules)
        if waits:
            break
        if urn.end == -1:
            # Without `--rejects`, this comparison is the whole cost of rejects.
            if rules.rejects:
                status = _add_reject(block, start, urn.end, state, rules, rejects)
            at = start + (status == _GO_ON)
            continue
        nss_end, end, is_cut = urn.nss_end, urn.end, urn.is_cut
        tail = find_mark(data, urn.colon + 1, end, mark) if mark else -1
        if tail != -1:
            _, nss_end, end, _ = match(data, start, tail, rules)
            is_cut = False
            if end == -1:
                at = tail
                continue

        if not _has_room(columns, state, end - start, urn.host_end - urn.host):
            status = _FULL
            break
        item_end, trimmed_nss_end, trimmed_end = trim(data, start, (urn.colon, nss_end, end), rules)
        cut_short, is_whole = False, not is_cut and tail == -1 and not (rules.trim and item_end < end)
        if is_whole and rules.tells_cuts and end < filled and MAY_BE_CUT[data[end]]:
            cut_short, status = _tell_cut(block, urn, end, mark, state, rules, rejects)
            if status != _GO_ON:
                break
        at = end
        punctuation = end - max(start, trimmed_end)
        if rules.trim:
            at = item_end
            if trimmed_end == -1:
                continue
            nss_end, end, is_cut, punctuation = trimmed_nss_end, trimmed_end, is_cut and trimmed_end == end, 0
        dense_until = at + _DENSE
        if rules.filters_names and not is_selected(data, start, end, rules):
            state[LEFT_OUT] += 1
            continue
        urn = _Urn(start, urn.colon, nss_end, end, is_cut, punctuation, cut_short, urn.host, urn.host_end)
        _add_match(block, urn, state, rules, columns)

    _count_lines(data, at, state, rules)
    state[AT] = at
    return status != _FULL


@inlined
def _longest(block: Block, start: int, rules: Rules) -> tuple[_Urn, int, bool]:
    """Find the longest URN of at most `max_length` bytes at `start`; it may be shorter if trimming or the tail of a URL
    ends it early.

    Returns the URN (`end` is -1 if there is none); the byte that, in addition to "#", ends the URN inside the URL (0:
    no byte); and whether more bytes are needed (then the rest has no meaning).
    """
    data, filled, final = block
    limit = min(filled, start + rules.max_length)
    near = min(limit, start + _NEAR) if rules.trim or rules.cut_tail else limit
    colon, nss_end, end, undecided = match(data, start, near, rules)
    host, host_end, mark = start, start, 0
    if end != -1 and may_be_in_url(data, start):
        host, host_end, in_path = find_host(data, start)
        if rules.cut_tail and host < host_end:
            mark = rules.path_mark if in_path else AMPERSAND
    # A list of URNs without spaces is one long match, but trimming ends a match at a comma or quotation mark. To match
    # the whole list at each item would take quadratic time. So the match grows in steps, up to such a separator, or up
    # to the place where the tail of a URL is cut off.
    while (
        undecided
        and near < limit
        and not (rules.trim and separator(data, start, colon, end - 1, False, rules) != -1)
        and not (mark and find_mark(data, colon + 1, end - 1, mark) != -1)
    ):
        near = min(limit, near + near - start)
        colon, nss_end, end, undecided = match(data, start, near, rules)
    is_cut = waits = False
    if undecided and near == limit == filled:
        waits = not final
    elif undecided and near == limit:
        wide = min(filled, start + 2 * rules.max_length)
        _, _, longest, undecided = match(data, start, wide, rules)
        waits = undecided and wide == filled and not final
        is_cut = longest > end
    return _Urn(start, colon, nss_end, end, is_cut, 0, False, host, host_end), mark, waits


@inner
def _tell_cut(
    block: Block, urn: _Urn, end: int, mark: int, state: Integers, rules: Rules, rejects: RejectColumns
) -> tuple[bool, int]:
    """Whether the text after a URN that ends at `end` looks like a part of the URN, which with `rejects` is then a
    reject, too. The second value is _GO_ON, or _WAIT or _FULL if the caller must try again.
    """
    data, filled, final = block
    if not final and (needs_more(data[end:filled]) or (rules.rejects and end + REST > filled)):
        return False, _WAIT
    cut_short = is_cut_short(data[:filled], (urn.start, urn.colon, end), urn.host < urn.host_end, mark, rules)
    if cut_short and rules.rejects:
        return cut_short, _add_reject(block, urn.start, end, state, rules, rejects)
    return cut_short, _GO_ON


@inlined
def _count_lines(data: ByteArray, at: int, state: Integers, rules: Rules) -> int:
    if not rules.count_lines:
        return 0
    state[LINE] += count_lf(data, state[COUNTED], at)
    state[COUNTED] = at
    return int(state[LINE])


@inlined
def _has_room(columns: Columns, state: Integers, text: int, host: int) -> bool:
    return bool(
        state[MATCHES] < len(columns.start)
        and state[TEXT_USED] + text <= len(columns.text)
        and state[CANONICAL_USED] + text <= len(columns.canonical)
        and state[HOST_USED] + host <= len(columns.host)
    )


@compiled
def mark_selected(text: ByteArray, offsets: npt.NDArray[np.int32], rules: Rules, flags: npt.NDArray[np.bool_]) -> None:
    """Set each `flags[i]` to whether the options `nid` and `not_nid` in `rules` keep the match or reject
    `text[offsets[i]:offsets[i + 1]]`; `offsets` has one element more than `flags`. A reject without a NID is kept.
    """
    for i in range(len(flags)):
        flags[i] = may_be_selected(text, offsets[i], offsets[i + 1], rules)


@compiled
def count_components(text: ByteArray, offsets: npt.NDArray[np.int32], rules: Rules) -> int:
    """The number of texts `text[offsets[i]:offsets[i + 1]]` that are, or begin with, a URN with at least one component.
    `rules` must be those of the syntax rfc8141.
    """
    count = 0
    if may_hold(text, 0, len(text), _HASH, _QUESTION_MARK):
        for i in range(len(offsets) - 1):
            start, end = offsets[i], offsets[i + 1]
            if may_hold(text, start, end, _HASH, _QUESTION_MARK):
                _, nss_end, urn_end, _ = match(text, start, end, rules)
                count += urn_end > nss_end
    return count


@inlined
def _add_match(block: Block, urn: _Urn, state: Integers, rules: Rules, columns: Columns) -> None:
    """Append a match. Precondition: `_has_room` is true."""
    data, start, end = block.data, urn.start, urn.end
    row = state[MATCHES]
    columns.start[row] = start
    columns.length[row] = end - start
    columns.line[row] = _count_lines(data, start, state, rules)
    columns.nid_length[row] = urn.colon - start - 4
    columns.stop[row] = CUT if urn.is_cut else (data[end] if end < block.filled else END)
    columns.punctuation[row] = min(urn.punctuation, 255)
    columns.cut_short[row] = urn.cut_short
    used = copy(data, start, end, columns.text, state[TEXT_USED])
    columns.text_offsets[row + 1] = state[TEXT_USED] = used
    canonical_end = urn.nss_end
    if rules.keep_query:
        canonical_end = find_byte(data, canonical_end, end, HASH)
    _add_canonical(data, start, urn.colon, canonical_end, state, columns)
    used = state[HOST_USED]
    for i in range(urn.host, urn.host_end):
        columns.host[used] = lower(data[i])
        used += 1
    columns.host_offsets[row + 1] = state[HOST_USED] = used
    state[MATCHES] = row + 1


@inlined
def _add_canonical(data: ByteArray, start: int, colon: int, end: int, state: Integers, columns: Columns) -> None:
    """Append the lexical canonical form of the URN `data[start:end]`, whose NID ends before index `colon`."""
    used = state[CANONICAL_USED]
    canonical = columns.canonical[used : used + end - start]
    canonical[0], canonical[1], canonical[2], canonical[3] = _U, _R, _N, _COLON
    for i in range(4, colon - start):
        canonical[i] = lower(data[start + i])
    copy(data, colon, end, canonical, colon - start)
    if may_hold(data, colon, end, _PERCENT, _PERCENT):
        for i in range(len(canonical) - 2):
            if canonical[i] == PERCENT:
                for j in range(i + 1, i + 3):
                    canonical[j] = upper(canonical[j])
    columns.canonical_offsets[state[MATCHES] + 1] = used + len(canonical)
    state[CANONICAL_USED] = used + len(canonical)


@inner
def _add_reject(block: Block, start: int, match_end: int, state: Integers, rules: Rules, rejects: RejectColumns) -> int:
    """Append the reject at `start`, if there is one and `nid` and `not_nid` keep it. `match_end`: -1, or the end of a
    match there that ends in an error. Returns _GO_ON, or _WAIT or _FULL if the caller must try again.
    """
    data, filled, final = block
    row, used = state[REJECTS], state[REJECT_TEXT_USED]
    if row == len(rejects.start) or used + REJECT > len(rejects.text):
        return _FULL
    end = _reject_end(data, start, filled)
    if end == filled and end < start + REJECT and not final:
        return _WAIT
    if match_end == -1 and not _is_reject(data, start, end, rules):
        return _GO_ON
    if rules.filters_names and not may_be_selected(data, start, end, rules):
        return _GO_ON
    rejects.start[row] = start
    rejects.line[row] = _count_lines(data, start, state, rules)
    rejects.position[row] = -1 if match_end == -1 else match_end - start
    rejects.rest[row] = 0 if match_end == -1 else _packed(data, match_end, min(match_end + REST, filled))
    used = copy(data, start, end, rejects.text, used)
    rejects.text_offsets[row + 1] = used
    state[REJECTS] = row + 1
    state[REJECT_TEXT_USED] = used
    return _GO_ON


@inner
def _reject_end(data: ByteArray, start: int, filled: int) -> int:
    """The end of the reject at `start`. The bytes that are tested here are those of REJECT_ENDS."""
    text = data[start : min(filled, start + REJECT)]
    for i in range(len(text)):
        byte = text[i]
        if byte <= SPACE or byte >= _DELETE or byte == _QUOTE or byte == _LESS or byte == _GREATER:
            return start + i
    return start + len(text)


@inlined
def _packed(data: ByteArray, start: int, limit: int) -> int:
    """The bytes from `start` to the end of a reject or to `limit`, as a little-endian number; only the first character,
    if it is beyond ASCII.
    """
    packed = 0
    for i in range(letter_length(data[start]) or _reject_end(data, start, limit) - start):
        packed |= int(data[start + i]) << 8 * i
    return packed


@inner
def _is_reject(data: ByteArray, start: int, end: int, rules: Rules) -> bool:
    names = np.uint8(0)
    for i in range(start + 4, end):
        names |= rules.roles[data[i]] & np.uint8(ALNUM)
    _, _, match_end, _ = match(data, start, end, rules)
    return bool(names and match_end == -1)
