"""Trimming: what `--trim` cuts off the end of a match. Closing punctuation, brackets without a partner, the rest of a list.

The whole rule is here. The scanner cuts by it, and matches again what is left (`scanner/grammar.py`). Verdicts report
by it that a name is untrimmed. The view `wraps` and the rule for a "?" at the end of a URN use the same characters.

The functions are called in plain Python, and compiled by the scanner and for columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urnscan.compiled.octets import Octets

CLOSING = b".,;:!?'*_"
"""Punctuation that may end a sentence after a name, though a name may hold it, too."""
QUOTATION_MARK = b"'"[0]
"""The quotation mark. It ends a name that has another one directly before it."""
LIST_SEPARATORS = tuple(b",;")
"""The separators of a list. One ends a name if `urn:` follows it directly."""
BRACKETS = tuple(b"()")
"""The one that opens and the one that closes; the second is cut only without the first."""

CLOSES = bytes(octet in (*CLOSING, BRACKETS[1]) for octet in range(256))
"""For each octet: 1 if it may be cut off the end, else 0. An argument of the functions."""

_OPENING_BRACKET, _CLOSING_BRACKET = BRACKETS
_COMMA, _SEMICOLON = LIST_SEPARATORS
_COLON, _U, _R, _N = b":urn"
_CASE = 32  # the bit in which upper and lower case of a letter differ


def separator(octets: Octets | bytes, start: int, colon: int, end: int) -> int:
    """First place between the NID's colon and `end` where other text follows the match at `start`; -1 if there is none.

    It is the place of the second quotation mark, or of a list separator.

    >>> text = b"'urn:a:b,urn:a:c'"
    >>> separator(text, 1, 6, len(text)), separator(text, 9, 14, len(text))
    (8, -1)
    """
    quotation_end = -1
    if start > 0 and octets[start - 1] == QUOTATION_MARK:
        for i in range(colon + 1, end):
            if octets[i] == QUOTATION_MARK:
                quotation_end = end = i
                break
    for i in range(colon + 1, end - 4):
        if (octets[i] == _COMMA or octets[i] == _SEMICOLON) and octets[i + 4] == _COLON:
            u, r, n = octets[i + 1] | _CASE, octets[i + 2] | _CASE, octets[i + 3] | _CASE
            if u == _U and r == _R and n == _N:
                return i
    return quotation_end


def end_without_closing(octets: Octets | bytes, start: int, end: int, closes: Octets | bytes) -> int:
    """The end of `octets[start:end]` without closing punctuation and without closing brackets that have no partner.

    >>> [end_without_closing(text, 0, len(text), CLOSES) for text in (b"urn:a:b).", b"urn:a:b(c).", b"urn:a:b.c")]
    [7, 10, 9]
    """
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
        elif not closes[octet]:
            kept = i + 1
    return kept


def is_trimmable(octets: Octets | bytes, at: int, end: int, closes: Octets | bytes) -> bool:
    """Whether all from `at` on is cut: what closes, up to the end or up to the next item of a list.

    >>> is_trimmable(b").", 0, 2, CLOSES), is_trimmable(b").,urn:a:b", 0, 10, CLOSES), is_trimmable(b"/2", 0, 2, CLOSES)
    (True, True, False)
    """
    i = at
    while i < end and closes[octets[i]]:
        i += 1
    if i == end:
        return True
    is_item = i > at and i + 3 < end and (octets[i - 1] == _COMMA or octets[i - 1] == _SEMICOLON)
    is_scheme = is_item and octets[i] | _CASE == _U and octets[i + 1] | _CASE == _R and octets[i + 2] | _CASE == _N
    return bool(is_scheme and octets[i + 3] == _COLON)
