"""Usual records of a WARC file: compiled code finds many by one call; `warc.py` reads all other records.

A record is usual if its header lines end with CR LF and are not folded, if it has a record ID, if it is not a segment,
and if an HTTP message in it has no header about a coding of the body. `warc.py` would give the same members.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from urnscan.compiled.ascii import COLON
from urnscan.compiled.bytes import ByteArray, copy, find_byte
from urnscan.compiled.jit import compiled, inner, read_only
from urnscan.formats.captures import Capture
from urnscan.formats.contents import Label, Labels, Names, Texts

_Spans = npt.NDArray[np.int64]
"""Starts and ends of the parts of a record: value of each field in _FIELDS (-1, -1 without the field), head of the HTTP
message, text.
"""

HEADER = 1 << 16
"""Maximum bytes of the header of a record, and of the head (start line and headers) of an HTTP message in it."""
_MAX = 1 << 12  # maximum records per call

_FIELDS = (b"content-length", b"content-type", b"warc-date", b"warc-record-id", b"warc-target-uri", b"warc-type")
_LENGTH, _TYPE, _DATE, _ID, _URI, _KIND, _MESSAGE, _TEXT = range(0, 16, 2)
_NAMES = np.frombuffer(b"".join(_FIELDS), np.uint8)
_NAME_ENDS = np.cumsum([len(name) for name in _FIELDS])
_VERSION = np.frombuffer(b"WARC/1.", np.uint8)
_HTTP = np.frombuffer(b"HTTP/", np.uint8)
_HTTP_TYPE = np.frombuffer(b"application/http", np.uint8)
_CONTINUATION = np.frombuffer(b"continuation", np.uint8)
_RESPONSE, _REQUEST, _REVISIT = (np.frombuffer(kind, np.uint8) for kind in (b"response", b"request", b"revisit"))
_CONTENT, _TRANSFER = (np.frombuffer(kind, np.uint8) for kind in (b"content-encoding", b"transfer-encoding"))
_CR, _LF, _TAB, _SPACE, _ONE, _GREATER = np.frombuffer(b"\r\n\t 1>", np.uint8)
_TOKEN = np.zeros(256, np.bool_)  # bytes of the name of a field of HTTP
_TOKEN[np.frombuffer(b"!#$%&'*+.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-", np.uint8)] = True


class UsualRecords:
    """Finds the usual records of a WARC file: their header lines end with CR LF and are not folded, they have a record
    ID, and are no segment, and an HTTP body is not coded. One object is for many blocks of bytes, and for one thread.
    """

    def __init__(self, name_of: Callable[[dict[bytes, bytes]], str]) -> None:
        """`name_of`: function from two fields of a record, `warc-target-uri` and `warc-record-id` (empty if missing),
        to the name of the member.
        """
        self._name_of = name_of
        self._heads = np.empty(0, np.uint8)
        self._spans = np.empty((_MAX, _TEXT + 2), np.int64)

    def find(self, data: memoryview) -> tuple[Texts, int]:
        """Find the records at the beginning of `data`, up to the first that is incomplete or unusual, at most 4,096.

        Returns their texts (without the headers of WARC and HTTP, as slices of `data`), and the index after the last
        record; no texts and 0 if the first record is incomplete or unusual.
        """
        if len(self._heads) < len(data):
            self._heads = np.empty(len(data), np.uint8)
        count = end = filled = 0
        if data:
            count, end, filled = _find(read_only(np.frombuffer(data, np.uint8)), self._heads, self._spans)
        heads, spans = self._heads[:filled].tobytes(), self._spans[:count].copy()

        def label(number: int) -> Label:
            places = spans[number].tolist()

            def value(field: int) -> bytes:
                return heads[places[field] : places[field + 1]] if places[field] >= 0 else b""

            name = self._name_of({b"warc-target-uri": value(_URI), b"warc-record-id": value(_ID)})
            return Label(name, Capture(value(_DATE), value(_TYPE), value(_MESSAGE)))

        starts, ends = spans[:, _TEXT].copy(), spans[:, _TEXT + 1].copy()
        # The record ID is the end of the name.
        names = Names(np.frombuffer(heads, np.uint8), spans[:, _ID].copy(), spans[:, _ID + 1].copy())
        return Texts(data, Labels(label, range(count)), starts, ends, has_captures=True, names=names), end


@compiled
def _find(data: ByteArray, heads: ByteArray, spans: npt.NDArray[np.int64]) -> tuple[int, int, int]:
    """Find the records at the beginning of `data`, up to an unusual or incomplete one, or until `spans` is full: a row
    for each, with starts and ends of the fields and of the HTTP head in `heads`, and of the text in `data`. `heads`
    gets the headers, and must be as long as `data`. Returns the number of records, and how many bytes of `data` and of
    `heads` they take.
    """
    count = at = filled = 0
    while count < len(spans):
        begin = at
        while begin < len(data) and (data[begin] == _CR or data[begin] == _LF):
            begin += 1
        span = spans[count]
        span[:] = -1
        start = _header_end(data, begin, span)
        if start < 0:
            break
        length = _number(data, span[_LENGTH], span[_LENGTH + 1])
        if length < 0 or length > len(data) - start or not _has_id(data, span) or _is_kind(data, span, _CONTINUATION):
            break
        end = body = start + length
        if not _is_http(data, span):
            body = start
        else:
            body = _body(data, start, min(end, start + HEADER))
            if body < 0:
                break
            span[_MESSAGE], span[_MESSAGE + 1] = start, body
        for i in range(_TEXT):
            if span[i] >= 0:
                span[i] += filled - begin
        filled = copy(data, begin, body, heads, filled)
        span[_TEXT], span[_TEXT + 1] = body, end
        at = end
        count += 1
    return count, at, filled


@inner
def _header_end(data: ByteArray, at: int, span: _Spans) -> int:
    """Index after the record header at `at`; -1 if it is unusual or incomplete. Writes start and end of its fields into
    `span`, which must be -1 before.
    """
    last = min(len(data), at + HEADER)
    if last - at < len(_VERSION) + 3 or not _is(data, at, _VERSION):
        return -1
    at += len(_VERSION)
    if not 0x30 <= data[at] <= 0x39 or data[at + 1] != _CR or data[at + 2] != _LF:
        return -1
    at += 3
    while True:
        end = find_byte(data, at, last, _LF)
        if end == last or end == at or data[end - 1] != _CR:
            return -1
        if end == at + 1:
            return end + 1
        first = data[at]
        if first == _SPACE or first == _TAB or first == _CR:
            return -1
        if end - at > 5 and _is(data, at, _VERSION[:5]):
            return -1
        _put_field(data, at, end, span)
        at = end + 1


@inner
def _put_field(data: ByteArray, at: int, end: int, span: _Spans) -> None:
    """Put start and end of the value of the field `data[at:end]` into `span`, if it is one of _FIELDS, and the first
    with its name.
    """
    begin = 0
    for field in range(len(_NAME_ENDS)):
        name = _NAMES[begin : _NAME_ENDS[field]]
        begin = _NAME_ENDS[field]
        if span[2 * field] < 0 and _is_field(data, at, end, name):
            start = at + len(name)
            while data[start] != COLON:
                start += 1
            start += 1
            while start < end and _is_space(data[start]):
                start += 1
            while end > start and _is_space(data[end - 1]):
                end -= 1
            span[2 * field], span[2 * field + 1] = start, end
            return


@inner
def _body(data: ByteArray, at: int, last: int) -> int:
    """Index of the body of the HTTP message at `at`; -1 if its head is unusual or does not end before `last`, or if the
    body may need decoding.
    """
    is_first = True
    while True:
        end = find_byte(data, at, last, _LF)
        if end == last:
            return -1
        if end == at or (end == at + 1 and data[at] == _CR):
            return -1 if is_first else end + 1
        if is_first:
            if not _is_start_line(data, at, end):
                return -1
        else:
            colon = at
            while _TOKEN[data[colon]]:
                colon += 1
            if colon == at:
                return -1
            if _is_field(data, at, end, _CONTENT) or _is_field(data, at, end, _TRANSFER):
                return -1
            while data[colon] == _SPACE or data[colon] == _TAB:
                colon += 1
            if data[colon] != COLON:
                return -1
        is_first = False
        at = end + 1


@inner
def _is_start_line(data: ByteArray, at: int, end: int) -> bool:
    """Whether `data[at:end]` is the start line of an HTTP response (not interim, 1xx) or request with a version."""
    if end - at > 6 and _is(data, at, _HTTP):
        at += len(_HTTP)
        if not 0x30 <= data[at] <= 0x39:
            return False
        while data[at] != _SPACE and data[at] != _TAB:
            if at == end:
                return True
            at += 1
        while data[at] == _SPACE or data[at] == _TAB:
            at += 1
        return bool(data[at] != _ONE)
    method = at
    while 0x41 <= data[at] <= 0x5A:
        at += 1
    if at == method or data[at] != _SPACE:
        return False
    for i in range(at + 1, end - 6):
        if data[i] == _SPACE and _is(data, i + 1, _HTTP) and 0x30 <= data[i + 6] <= 0x39:
            return True
    return False


@inner
def _is_http(data: ByteArray, span: _Spans) -> bool:
    start, end = span[_TYPE], span[_TYPE + 1]
    if end > start:
        return end - start >= len(_HTTP_TYPE) and _is(data, start, _HTTP_TYPE)
    return _is_kind(data, span, _RESPONSE) or _is_kind(data, span, _REQUEST) or _is_kind(data, span, _REVISIT)


@inner
def _is_kind(data: ByteArray, span: _Spans, kind: ByteArray) -> bool:
    start, end = span[_KIND], span[_KIND + 1]
    return bool(end - start == len(kind) and _is(data, start, kind))


@inner
def _has_id(data: ByteArray, span: _Spans) -> bool:
    # The ID is the end of the name: after ">" the name has no suffix such as `.gz`.
    return bool(span[_ID + 1] > span[_ID] and data[span[_ID + 1] - 1] == _GREATER)


@inner
def _number(data: ByteArray, start: int, end: int) -> int:
    if not 0 < end - start <= 18:
        return -1
    number = np.int64(0)
    for i in range(start, end):
        if not 0x30 <= data[i] <= 0x39:
            return -1
        number = number * np.int64(10) + np.int64(data[i] - 0x30)
    return int(number)


@inner
def _is_field(data: ByteArray, at: int, end: int, name: ByteArray) -> bool:
    # `name` is in lower case, and LF follows the line.
    if end - at <= len(name) or not _is(data, at, name):
        return False
    at += len(name)
    while data[at] == _SPACE or data[at] == _TAB:
        at += 1
    return bool(data[at] == COLON)


@inner
def _is(data: ByteArray, at: int, word: ByteArray) -> bool:
    """Whether `word` is at `data[at]`, where so many bytes must exist. Small letters of `word` match in any case,
    capitals only themselves.
    """
    for i in range(len(word)):
        byte = data[at + i]
        if 0x41 <= byte <= 0x5A and byte != word[i]:
            byte |= 0x20
        if byte != word[i]:
            return False
    return True


@inner
def _is_space(byte: int) -> bool:
    return bool(byte == _SPACE or 0x09 <= byte <= 0x0D)
