"""What the kernel reads and writes: a block of octets, columns of matches and rejects, and its state between calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from urnscan.arrays.ascii import HASH, PERCENT, SPACE, lower, upper
from urnscan.arrays.jit import inlined, lean
from urnscan.arrays.octets import Integers, Octets, copy, count_lf, may_hold
from urnscan.scanner.grammar import Rules, match
from urnscan.urn.syntax import ALNUM

__all__ = [
    "AT",
    "CANONICAL_USED",
    "COUNTED",
    "CUT",
    "END",
    "FOUND",
    "FULL",
    "GO_ON",
    "HOST_USED",
    "LINE",
    "REJECT",
    "REJECTED",
    "REJECT_TEXT_USED",
    "SLOTS",
    "TEXT_USED",
    "Block",
    "Columns",
    "RejectColumns",
    "Urn",
    "add_match",
    "add_reject",
    "count_lines",
    "has_room",
]

END, CUT = -2, -1
"""Values of `stop` that are no octet: the end of the input, and the cut at `max_length`."""
REJECT = 256
"""The most octets of the text of a reject. Whether a URN begins is decided in 40."""

SLOTS = 9
AT, COUNTED, LINE, FOUND, TEXT_USED, CANONICAL_USED, HOST_USED, REJECTED, REJECT_TEXT_USED = range(SLOTS)
"""Slots of the state: the place reached in the block, the place up to which lines are counted, and the line there; then
how much of the columns is used.
"""
GO_ON, WAIT, FULL = range(3)
"""Result of an attempt to append: done, more octets are needed, the columns are full."""

_QUOTE, _LESS, _GREATER, _DELETE = b'"<>\x7f'
_U, _R, _N, _COLON, _PERCENT = np.frombuffer(b"urn:%", np.uint8)


class Block(NamedTuple):
    """Octets at hand."""

    octets: Octets
    filled: int
    """How many of them are there to be read."""
    final: bool
    """Whether the text ends with them."""


class Urn(NamedTuple):
    """A URN in a block, and the host of the URL in which it stands."""

    start: int
    colon: int
    """The place of the colon behind the NID."""
    nss_end: int
    end: int
    """-1 if there is no URN."""
    is_cut: bool
    """Whether it was cut at `max_length`."""
    trailing: int
    """Octets that `trim` would cut."""
    host: int
    host_end: int
    """Equal to `host` if there is no URL."""


class Columns(NamedTuple):
    """The columns of Matches, with room for more."""

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
    """The columns of Rejects, with room for more."""

    start: Integers
    line: Integers
    position: npt.NDArray[np.int32]
    text: Octets
    text_offsets: npt.NDArray[np.int32]


@inlined
def count_lines(octets: Octets, at: int, state: Integers, rules: Rules) -> int:
    """The line in which `at` stands, 0 if lines are not counted. Each LF is counted once."""
    if not rules.count_lines:
        return 0
    state[LINE] += count_lf(octets, state[COUNTED], at)
    state[COUNTED] = at
    return int(state[LINE])


@inlined
def has_room(columns: Columns, state: Integers, text: int, host: int) -> bool:
    """Whether a match of `text` octets, in a URL with a host of `host` octets, can be appended."""
    return bool(
        state[FOUND] < len(columns.start)
        and state[TEXT_USED] + text <= len(columns.text)
        and state[CANONICAL_USED] + text <= len(columns.canonical)
        and state[HOST_USED] + host <= len(columns.host)
    )


@inlined
def add_match(block: Block, urn: Urn, state: Integers, rules: Rules, columns: Columns) -> None:
    """Append a match; there must be room for it."""
    octets, start, end = block.octets, urn.start, urn.end
    found = state[FOUND]
    columns.start[found] = start
    columns.length[found] = end - start
    columns.line[found] = count_lines(octets, start, state, rules)
    columns.nid_length[found] = urn.colon - start - 4
    columns.stop[found] = CUT if urn.is_cut else (octets[end] if end < block.filled else END)
    columns.trailing[found] = min(urn.trailing, 255)
    used = copy(octets, start, end, columns.text, state[TEXT_USED])
    columns.text_offsets[found + 1] = state[TEXT_USED] = used
    canonical_end = urn.nss_end
    if rules.keep_query:
        while canonical_end < end and octets[canonical_end] != HASH:
            canonical_end += 1
    _add_canonical(octets, start, urn.colon, canonical_end, state, columns)
    used = state[HOST_USED]
    for i in range(urn.host, urn.host_end):
        columns.host[used] = lower(octets[i])
        used += 1
    columns.host_offsets[found + 1] = state[HOST_USED] = used
    state[FOUND] = found + 1


@inlined
def _add_canonical(octets: Octets, start: int, colon: int, end: int, state: Integers, columns: Columns) -> None:
    """Append the lexical canonical form: `urn:` and the NID in lower case, hex digits of every %HH in upper case."""
    used = state[CANONICAL_USED]
    canonical = columns.canonical[used : used + end - start]
    canonical[0], canonical[1], canonical[2], canonical[3] = _U, _R, _N, _COLON
    for i in range(4, colon - start):
        canonical[i] = lower(octets[start + i])
    copy(octets, colon, end, canonical, colon - start)
    if may_hold(octets, colon, end, _PERCENT, _PERCENT):
        for i in range(len(canonical) - 2):
            if canonical[i] == PERCENT:
                for j in range(i + 1, i + 3):
                    canonical[j] = upper(canonical[j])
    columns.canonical_offsets[state[FOUND] + 1] = used + len(canonical)
    state[CANONICAL_USED] = used + len(canonical)


@lean
def add_reject(block: Block, start: int, match_end: int, state: Integers, rules: Rules, rejects: RejectColumns) -> int:
    """Append the reject that may begin at `start`: GO_ON if that is decided, WAIT or FULL if not.

    `match_end` is -1, or the end of a match that begins at `start` and has a malformed %HH behind it.
    """
    octets, filled, final = block
    row, used = state[REJECTED], state[REJECT_TEXT_USED]
    if row == len(rejects.start) or used + REJECT > len(rejects.text):
        return FULL
    end = _reject_end(octets, start, filled)
    if end == filled and end < start + REJECT and not final:
        return WAIT
    if match_end == -1 and not _is_reject(octets, start, end, rules):
        return GO_ON
    rejects.start[row] = start
    rejects.line[row] = count_lines(octets, start, state, rules)
    rejects.position[row] = -1 if match_end == -1 else match_end - start
    used = copy(octets, start, end, rejects.text, used)
    rejects.text_offsets[row + 1] = used
    state[REJECTED] = row + 1
    state[REJECT_TEXT_USED] = used
    return GO_ON


@lean
def _reject_end(octets: Octets, start: int, filled: int) -> int:
    """The end of the text of a reject: before one of REJECT_ENDS, after REJECT octets, or at the end of the block."""
    text = octets[start : min(filled, start + REJECT)]
    for i in range(len(text)):
        octet = text[i]
        if octet <= SPACE or octet >= _DELETE or octet == _QUOTE or octet == _LESS or octet == _GREATER:
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
