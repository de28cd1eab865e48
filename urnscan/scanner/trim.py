"""Trim, compiled: a match without what follows its quotation, closing punctuation (`endings.CLOSING`) and unmatched brackets."""

from __future__ import annotations

import numpy as np

from urnscan.arrays.ascii import APOSTROPHE, COMMA, SEMICOLON
from urnscan.arrays.jit import inlined, inner
from urnscan.arrays.octets import Octets, is_scheme, may_hold
from urnscan.scanner.grammar import Rules, match
from urnscan.urn.namespaces.endings import CLOSING

_IS_CLOSING = np.array([octet in CLOSING for octet in range(256)])
_OPENING_BRACKET, _CLOSING_BRACKET = b"()"
_COMMA, _SEMICOLON = np.uint8(COMMA), np.uint8(SEMICOLON)


@inlined
def is_closing(octet: int) -> bool:
    """Whether an octet is punctuation that closes a sentence or a bracket."""
    return octet == _CLOSING_BRACKET or _IS_CLOSING[octet]


@inlined
def separator(octets: Octets, start: int, colon: int, end: int) -> int:
    """First place, between the NID's colon and `end`, where the match at `start` is parted from more text; or -1.

    It is that of a "'" if another one stands directly before the match, or of a "," or ";" with `urn:` behind it.
    """
    quotation_end = -1
    if start > 0 and octets[start - 1] == APOSTROPHE:
        for i in range(colon + 1, end):
            if octets[i] == APOSTROPHE:
                quotation_end = end = i
                break
    if may_hold(octets, colon + 1, end, _COMMA, _SEMICOLON):
        for i in range(colon + 1, end - 4):
            if (octets[i] == COMMA or octets[i] == SEMICOLON) and is_scheme(octets, i + 1):
                return i
    return quotation_end


@inlined
def trim(octets: Octets, start: int, parts: tuple[int, int, int], rules: Rules) -> tuple[int, int, int]:
    """Trim the match that begins at `start`; `parts` are its colon and the ends of its NSS and of itself.

    Returns the place where it is parted from more text (its own end if it is not), and the ends of the NSS and of the
    match after trimming (-1: nothing is left).
    """
    colon, nss_end, end = parts
    item_end = end
    at = separator(octets, start, colon, end)
    if at != -1:
        item_end = at
        _, nss_end, end, _ = match(octets, start, item_end, rules)
    if end != -1 and is_closing(octets[end - 1]):
        nss_end, end = _without_closing(octets, start, end, rules)
    return item_end, nss_end, end


@inner
def _without_closing(octets: Octets, start: int, end: int, rules: Rules) -> tuple[int, int]:
    """The ends of the NSS and of the match [start, end) without closing punctuation and unmatched brackets, or -1.

    The rest is matched again, and cut again, until nothing changes.
    """
    while True:
        depth = 0
        kept = start
        for i in range(start, end):
            octet = octets[i]
            if octet == _OPENING_BRACKET:
                depth += 1
                kept = i + 1
            elif octet == _CLOSING_BRACKET:
                if depth > 0:
                    depth -= 1
                    kept = i + 1
            elif not _IS_CLOSING[octet]:
                kept = i + 1
        _, nss_end, again, _ = match(octets, start, kept, rules)
        if again == -1 or again == end:
            return nss_end, again
        end = again
