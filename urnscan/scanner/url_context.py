"""The URL around a URN: the host, and the place where the URN ends and the rest of the URL begins.

The search goes backwards from the URN, over bytes that RFC 3986 §3 allows in a URL, to the nearest `scheme://`. So of
two nested URLs, the inner URL counts, as in `https://nbn-resolving.org/http://nbn-resolving.de/urn:…`. A few bytes that
RFC 3986 allows do not count as bytes of a URL: a `'` is a quotation mark in SQL and scripts, and a `,` or `;` directly
before the URN separates fields of CSV or names of a list, or ends an XML entity.
"""

from __future__ import annotations

import string

import numpy as np

from urnscan.compiled.ascii import COLON, HASH, PERCENT, QUESTION_MARK, SLASH, is_alnum, is_digit
from urnscan.compiled.bytes import ByteArray, find_byte
from urnscan.compiled.jit import inner

LOOK_BACK = 1024
"""Bytes before a URN that are searched for a URL."""
URL_BYTES = (string.ascii_letters + string.digits + "-._~:/?#[]@!$&()*+,;=%").encode()
"""Bytes that a URL may contain before a URN. A "%" needs no hex digits; brackets are allowed only around an address."""

_AT, _OPENING_BRACKET, _CLOSING_BRACKET = b"@[]"
# Roles of a byte: allowed in a URL, allowed right before the URN, allowed in a scheme, a letter.
_URL, _BEFORE, _SCHEME, _LETTER = 1, 2, 4, 8
_AUTHORITY_ENDS = (SLASH, QUESTION_MARK, HASH)
_ALNUM = string.ascii_letters + string.digits
_ROLES = np.array(
    [
        # _BEFORE has no letters and digits, because a URN begins after them only if they end a %HH.
        _URL * (byte in URL_BYTES)
        | _BEFORE * (byte in b"-._~:/?#@!$&()*+=%")
        | _SCHEME * (chr(byte) in _ALNUM + "+-.")
        | _LETTER * (chr(byte) in string.ascii_letters)
        for byte in range(256)
    ],
    np.uint8,
)


@inner
def may_be_in_url(data: ByteArray, start: int) -> bool:
    """Quick test of the byte before the URN at index `start`. False: no URL contains the URN, as for most URNs (a `,`
    or `;` before it ends a URL). True: a URL may contain it, so call `find_host`. After an encoded sign (`%253D`,
    `&#61;`) a False may be wrong: then call `find_host` without this test.
    """
    if start < 1 or not is_alnum(data[start - 1]):
        return start > 0 and _ROLES[data[start - 1]] & _BEFORE != 0
    return start > 2 and data[start - 3] == PERCENT


@inner
def find_host(data: ByteArray, start: int) -> tuple[int, int, bool]:
    """Find the URL around the URN at index `start`, in the last 1,024 bytes before it. Returns the index of the first
    byte of the host, the index after its last byte, and whether the URN is in the path of the URL (True), or in its
    query or fragment (False).

    The host is a registered name, an IPv4 address, or an IPv6 address in brackets, without user information and port
    (RFC 3986 §3.2). Without a URL, or if the URL has no host or a malformed one, both indices are equal, and the third
    value has no meaning. Call `may_be_in_url` first, unless the byte before the URN may be encoded.
    """
    floor = max(0, start - LOOK_BACK)
    begin = -1
    for at in range(start - 1, floor - 1, -1):
        if not _ROLES[data[at]] & _URL:
            break
        if data[at] == SLASH and at - 2 >= floor and data[at - 1] == SLASH and data[at - 2] == COLON:
            if _ends_scheme(data, floor, at - 2):
                begin = at + 1
                break
    if begin == -1:
        return start, start, False
    return _host(data, begin, start)


@inner
def _ends_scheme(data: ByteArray, floor: int, end: int) -> bool:
    """Whether `data[floor:end]` ends with a URL scheme (RFC 3986 §3.1)."""
    for at in range(end - 1, floor - 1, -1):
        if _ROLES[data[at]] & _LETTER:
            return True
        if not _ROLES[data[at]] & _SCHEME:
            return False
    return False


@inner
def _host(data: ByteArray, begin: int, start: int) -> tuple[int, int, bool]:
    """The result of `find_host` for the URN at `start`, in a URL whose authority (after `//`) begins at `begin`."""
    host = end = begin
    while end < start and data[end] not in _AUTHORITY_ENDS:
        if data[end] == _AT:
            host = end + 1
        end += 1
    # An authority cannot contain a URN.
    if end == start:
        return start, start, False
    in_path = True
    brackets = 0
    for at in range(begin, start):
        in_path = in_path and data[at] != QUESTION_MARK and data[at] != HASH
        brackets += (data[at] == _OPENING_BRACKET) + (data[at] == _CLOSING_BRACKET)
    host_end = host
    if data[host] == _OPENING_BRACKET:
        host_end = find_byte(data, host_end, end, _CLOSING_BRACKET)
        brackets -= 2
        if host_end == end or host_end == host + 1:
            return start, start, False
        host_end += 1
    else:
        host_end = find_byte(data, host_end, end, COLON)
    if brackets or (host_end < end and data[host_end] != COLON):
        return start, start, False
    # The rest of the authority is the port.
    for at in range(host_end + 1, end):
        if not is_digit(data[at]):
            return start, start, False
    return host, host_end, in_path


@inner
def find_mark(data: ByteArray, at: int, end: int, mark: int) -> int:
    """Index in `data` of the first byte of `data[at:end]` that is `mark` (a byte) or "#"; -1 if there is none."""
    for i in range(at, end):
        if data[i] == mark or data[i] == HASH:
            return i
    return -1
