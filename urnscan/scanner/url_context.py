"""The URL around a URN: its host, and the place where the URN ends and the rest of the URL begins.

RFC 3986 §3 is read backwards: from the URN over octets of a URL to the nearest `scheme://`. So the inner one of two
URLs counts, as in `https://nbn-resolving.org/http://nbn-resolving.de/urn:…`. Some octets that RFC 3986 allows are left
out: a `'` is a quotation mark in SQL and scripts, and a `,` or `;` right before the URN separates fields of CSV or
names of a list, or ends an entity of XML.
"""

from __future__ import annotations

import string

import numpy as np

from urnscan.arrays.ascii import COLON, HASH, QUESTION_MARK, SLASH, is_digit
from urnscan.arrays.jit import inner
from urnscan.arrays.octets import Octets

LOOK_BACK = 1024
"""Octets before a URN that are searched for a URL."""
URL_OCTETS = (string.ascii_letters + string.digits + "-._~:/?#[]@!$&()*+,;=%").encode()
"""Octets that may stand in a URL before a URN: a "%" also without hex digits, brackets only around an address."""

_AT, _OPENING_BRACKET, _CLOSING_BRACKET = b"@[]"
_URL, _BEFORE, _SCHEME, _LETTER = 1, 2, 4, 8  # roles of an octet: in a URL, right before the URN, in a scheme, a letter
_AUTHORITY_ENDS = (SLASH, QUESTION_MARK, HASH)
_ALNUM = string.ascii_letters + string.digits
_ROLES = np.array(
    [
        _URL * (octet in URL_OCTETS)
        | _BEFORE * (octet in b"-._~:/?#@!$&()*+=%")  # no letters and digits: no URN begins behind them
        | _SCHEME * (chr(octet) in _ALNUM + "+-.")
        | _LETTER * (chr(octet) in string.ascii_letters)
        for octet in range(256)
    ],
    np.uint8,
)


@inner
def may_stand_in_url(octets: Octets, start: int) -> bool:
    """Whether a URN at `start` may stand in a URL, by the octet before it: a quick test that most URNs fail."""
    return start > 0 and _ROLES[octets[start - 1]] & _BEFORE != 0


@inner
def find_host(octets: Octets, start: int) -> tuple[int, int, bool]:
    """The host of the URL around the URN at `start`, and whether the URN stands in its path (else in query or
    fragment).

    The host is `octets[first:end]`: a registered name, an IPv4 address, or an IPv6 address in its brackets, without
    user information and port (RFC 3986 §3.2). It is empty if there is no URL, or if the URL has no host. Call
    `may_stand_in_url` first, unless the octet before the URN may be encoded.
    """
    floor = max(0, start - LOOK_BACK)
    begin = -1
    for at in range(start - 1, floor - 1, -1):
        if not _ROLES[octets[at]] & _URL:
            break
        if octets[at] == SLASH and at - 2 >= floor and octets[at - 1] == SLASH and octets[at - 2] == COLON:
            if _ends_scheme(octets, floor, at - 2):
                begin = at + 1
                break
    if begin == -1:
        return start, start, False
    return _host(octets, begin, start)


@inner
def _ends_scheme(octets: Octets, floor: int, end: int) -> bool:
    """Whether a scheme ends at `end`: a letter, then letters, digits, "+", "-" and "." (RFC 3986 §3.1)."""
    for at in range(end - 1, floor - 1, -1):
        if _ROLES[octets[at]] & _LETTER:
            return True
        if not _ROLES[octets[at]] & _SCHEME:
            return False
    return False


@inner
def _host(octets: Octets, begin: int, start: int) -> tuple[int, int, bool]:
    """The result of `find_host` for a URL whose authority begins at `begin`."""
    host = end = begin
    while end < start and octets[end] not in _AUTHORITY_ENDS:
        if octets[end] == _AT:
            host = end + 1
        end += 1
    if end == start:  # the URN would stand in the authority
        return start, start, False
    in_path = True
    brackets = 0
    for at in range(begin, start):
        in_path = in_path and octets[at] != QUESTION_MARK and octets[at] != HASH
        brackets += (octets[at] == _OPENING_BRACKET) + (octets[at] == _CLOSING_BRACKET)
    host_end = host
    if octets[host] == _OPENING_BRACKET:
        while host_end < end and octets[host_end] != _CLOSING_BRACKET:
            host_end += 1
        brackets -= 2
        if host_end == end or host_end == host + 1:
            return start, start, False
        host_end += 1
    else:
        while host_end < end and octets[host_end] != COLON:
            host_end += 1
    if brackets or (host_end < end and octets[host_end] != COLON):
        return start, start, False
    for at in range(host_end + 1, end):  # the port
        if not is_digit(octets[at]):
            return start, start, False
    return host, host_end, in_path


@inner
def find_mark(octets: Octets, at: int, end: int, mark: int) -> int:
    """First place of `mark` or "#" in `octets[at:end]`, or -1."""
    for i in range(at, end):
        if octets[i] == mark or octets[i] == HASH:
            return i
    return -1
