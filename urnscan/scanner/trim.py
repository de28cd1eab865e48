"""What `trim` cuts off a match, compiled: the next items of a list, closing punctuation, unmatched brackets."""

from __future__ import annotations

import numpy as np

from urnscan.arrays.ascii import COMMA, SEMICOLON
from urnscan.arrays.jit import inlined, lean
from urnscan.arrays.octets import Octets, is_scheme, may_hold
from urnscan.scanner.grammar import Rules, match

__all__ = ["separator", "trim"]

_IS_CLOSING = np.array([octet in b".,;:!?'*_" for octet in range(256)])
_OPENING_BRACKET, _CLOSING_BRACKET = b"()"
_COMMA, _SEMICOLON = np.uint8(COMMA), np.uint8(SEMICOLON)


@inlined
def separator(octets: Octets, colon: int, end: int) -> int:
    """First place of a "," or ";" with `urn:` behind it, between the NID's colon and `end`, or -1."""
    if may_hold(octets, colon + 1, end, _COMMA, _SEMICOLON):
        for i in range(colon + 1, end - 4):
            if (octets[i] == COMMA or octets[i] == SEMICOLON) and is_scheme(octets, i + 1):
                return i
    return -1


@inlined
def trim(octets: Octets, start: int, parts: tuple[int, int, int], rules: Rules) -> tuple[int, int, int]:
    """Trim the match that begins at `start`; `parts` are its colon and the ends of its NSS and of itself.

    Returns the end of the first item if the match is a list (else its own end), and the ends of the NSS and of the
    match after trimming (-1: nothing is left).
    """
    colon, nss_end, end = parts
    item_end = end
    at = separator(octets, colon, end)
    if at != -1:
        item_end = at
        _, nss_end, end, _ = match(octets, start, item_end, rules)
    if end != -1 and (octets[end - 1] == _CLOSING_BRACKET or _IS_CLOSING[octets[end - 1]]):
        nss_end, end = _without_closing(octets, start, end, rules)
    return item_end, nss_end, end


@lean
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
