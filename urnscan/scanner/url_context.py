"""Where a URN stands in a URL: the URL's host, and where the URN ends in it and the rest of the URL begins.

RFC 3986 §3 read backwards: from the URN over what a URL holds to the nearest `scheme://`. So of a URL in a URL, as in
`https://nbn-resolving.org/http://nbn-resolving.de/urn:…`, the inner one counts. Not all that RFC 3986 allows is taken
for a URL's: a `'` is a quotation mark, in SQL and in scripts, and a `,` or `;` right before the URN is what stands
between two fields of CSV, two names of a list, or ends an entity of XML.
"""

from __future__ import annotations

import string

import numpy as np

from urnscan.arrays.ascii import COLON, HASH, QUESTION_MARK, SLASH, is_digit
from urnscan.arrays.jit import lean
from urnscan.arrays.octets import Octets

__all__ = ["LOOK_BACK", "URL_OCTETS", "find_host", "find_mark", "may_stand_in_url"]

LOOK_BACK = 1024
"""So many octets before a URN are searched for the URL in which it stands."""
URL_OCTETS = (string.ascii_letters + string.digits + "-._~:/?#[]@!$&()*+,;=%").encode()
"""What may stand in a URL before a URN. A "%" does also where no hex digits follow; brackets only around an address."""

_AT, _OPENING_BRACKET, _CLOSING_BRACKET = b"@[]"
_URL, _BEFORE, _SCHEME, _LETTER = 1, 2, 4, 8  # what an octet may be: in a URL, right before the URN, in a scheme, …
_AUTHORITY_ENDS = (SLASH, QUESTION_MARK, HASH)
_ALNUM = string.ascii_letters + string.digits
_ROLES = np.array(
    [
        _URL * (octet in URL_OCTETS)
        | _BEFORE * (octet in b"-._~:/?#@!$&()*+=%")  # letters and digits are none where a URN begins
        | _SCHEME * (chr(octet) in _ALNUM + "+-.")
        | _LETTER * (chr(octet) in string.ascii_letters)
        for octet in range(256)
    ],
    np.uint8,
)


@lean
def may_stand_in_url(octets: Octets, start: int) -> bool:
    """Whether a URN at `start` may stand in a URL, by the octet before it: most do not, and need no more of a look."""
    return start > 0 and _ROLES[octets[start - 1]] & _BEFORE != 0


@lean
def find_host(octets: Octets, start: int) -> tuple[int, int, bool]:
    """The host of the URL in whose path, query or fragment the URN at `start` stands, and whether it is the path.

    The host is `octets[first:end]`: a registered name, an IPv4 address, or an IPv6 address in its brackets, without
    user information and port (RFC 3986 §3.2). It is empty where there is no URL, and where the URL has no host.
    Whoever knows that the octets are spelled as they are asks `may_stand_in_url` first.
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


@lean
def _ends_scheme(octets: Octets, floor: int, end: int) -> bool:
    """Whether a scheme ends at `end`: a letter, then letters, digits, "+", "-" and "." (RFC 3986 §3.1)."""
    for at in range(end - 1, floor - 1, -1):
        if _ROLES[octets[at]] & _LETTER:
            return True
        if not _ROLES[octets[at]] & _SCHEME:
            return False
    return False


@lean
def _host(octets: Octets, begin: int, start: int) -> tuple[int, int, bool]:
    """What `find_host` gives, of a URL whose authority begins at `begin`."""
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


@lean
def find_mark(octets: Octets, at: int, end: int, mark: int) -> int:
    """Where the first `mark` or "#" stands from `at` on, or -1 where none does before `end`."""
    for i in range(at, end):
        if octets[i] == mark or octets[i] == HASH:
            return i
    return -1
