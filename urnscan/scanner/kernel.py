"""The kernel: goes over a block of octets and appends what it finds to columns. Plain Python, compiled by Numba.

Small functions become part of their callers, so a name costs nothing. With NUMBA_DISABLE_JIT=1 the same functions run
in a debugger.
"""

from __future__ import annotations

from urnscan.arrays.ascii import AMPERSAND, PERCENT, UNIT_SEPARATOR, is_alnum
from urnscan.arrays.jit import inlined, lean
from urnscan.arrays.octets import Integers, Octets, hunt
from urnscan.scanner.columns import (
    AT,
    FULL,
    GO_ON,
    Block,
    Columns,
    RejectColumns,
    Urn,
    add_match,
    add_reject,
    count_lines,
    has_room,
)
from urnscan.scanner.grammar import Rules, match
from urnscan.scanner.trim import separator, trim
from urnscan.scanner.url_context import find_host, find_mark, may_stand_in_url

__all__ = ["is_in_word", "kernel"]

_NEAR = 256  # octets of a match that trimming looks at first
_DENSE = 256  # so close behind a match the next one is likely


@lean
def kernel(block: Block, state: Integers, rules: Rules, columns: Columns, rejects: RejectColumns) -> bool:
    """Scan a block from `state[AT]` on and append what is found; False if a column is full before the block is done.

    When the block is done, `state[AT]` is the first place that the next block must see again (the end of a final one).
    """
    octets, filled, final = block
    at, dense_until = state[AT], 0
    status = GO_ON
    while status == GO_ON:
        at = start = hunt(octets, at, filled, dense_until)
        if start + 4 > filled:
            at = filled if final else at
            break
        if is_in_word(octets, start):
            at = start + 1
            continue

        urn, mark, waits = _longest(block, start, rules)
        if waits:
            break
        if urn.end == -1:
            if rules.rejects:
                status = add_reject(block, start, urn.end, state, rules, rejects)
            at = start + (status == GO_ON)
            continue
        tail = find_mark(octets, urn.colon + 1, urn.end, mark) if mark else -1
        if tail != -1:
            _, nss_end, end, _ = match(octets, start, tail, rules)
            if end == -1:
                at = tail
                continue
            urn = Urn(start, urn.colon, nss_end, end, False, 0, urn.host, urn.host_end)

        end = urn.end
        if not has_room(columns, state, end - start, urn.host_end - urn.host):
            status = FULL
            break
        item_end, nss_end, kept = trim(octets, start, (urn.colon, urn.nss_end, end), rules)
        # A match that ends before a "%", and is not cut there, has a malformed %HH behind it.
        if rules.rejects and end < filled and octets[end] == PERCENT:
            if not urn.is_cut and not (rules.trim and item_end < end):
                status = add_reject(block, start, end, state, rules, rejects)
                if status != GO_ON:
                    break
        at = end
        trailing = end - max(start, kept)
        if rules.trim:
            at = item_end
            if kept == -1:
                continue
            is_cut = urn.is_cut and kept == end
            urn = Urn(start, urn.colon, nss_end, kept, is_cut, 0, urn.host, urn.host_end)
        else:
            urn = Urn(start, urn.colon, urn.nss_end, end, urn.is_cut, trailing, urn.host, urn.host_end)
        dense_until = at + _DENSE
        add_match(block, urn, state, rules, columns)

    count_lines(octets, at, state, rules)
    state[AT] = at
    return status != FULL


@inlined
def is_in_word(octets: Octets, start: int) -> bool:
    """Whether a letter or digit stands before `start`, other than a code behind MARC's subfield delimiter (US)."""
    return start > 0 and is_alnum(octets[start - 1]) and not (start > 1 and octets[start - 2] == UNIT_SEPARATOR)


@lean
def _longest(block: Block, start: int, rules: Rules) -> tuple[Urn, int, bool]:
    """Find the longest URN of at most `max_length` octets at `start`, and the URL around it.

    Also returns the octet that ends the URN in that URL, besides "#" (0: none), and whether more octets are needed to
    decide. If trimming or the tail of the URL ends the URN earlier, the URN returned may be shorter than the longest.
    """
    octets, filled, final = block
    limit = min(filled, start + rules.max_length)
    near = min(limit, start + _NEAR) if rules.trim or rules.cut_tail else limit
    colon, nss_end, end, undecided = match(octets, start, near, rules)
    host, host_end, mark = start, start, 0
    if end != -1 and may_stand_in_url(octets, start):
        host, host_end, in_path = find_host(octets, start)
        if rules.cut_tail and host < host_end:
            mark = rules.path_mark if in_path else AMPERSAND
    # A list without spaces is one long match, and trimming begins anew behind each comma. So look no further than that,
    # nor than the place where the tail of a URL is cut off.
    while (
        undecided
        and near < limit
        and not (rules.trim and separator(octets, colon, end - 1) != -1)
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
    return Urn(start, colon, nss_end, end, is_cut, 0, host, host_end), mark, waits
