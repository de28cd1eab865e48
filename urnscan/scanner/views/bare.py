"""References to names without `urn:`: `ISBN 978-0-395-36341-6`, `https://doi.org/10.1000/182`.

A reference becomes the URN that the registration of its namespace defines. An identifier with a check digit counts only
if the digit is right. If the end of a DOI is in doubt, the reference does not count: no name is better than a wrong
name.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from urnscan.compiled.bytes import ByteArray, Integers
from urnscan.errors import ArgumentError
from urnscan.scanner.views.label_words import find_words
from urnscan.urn.namespaces import identifiers as native
from urnscan.urn.namespaces.native import Native
from urnscan.urn.namespaces.registry import OURS

Booleans = npt.NDArray[np.bool_]

LOOK_BACK = 1024
"""Bytes before a reference that must be in memory, because they may contain the URL around the reference."""
LOOK_AHEAD = 1 << 12
"""Bytes that decide about a reference, from the beginning of its word on (`sbn`, `doi`, … in a label or address)."""
# Bytes after a name that decide whether the name ends there.
_STOP = 4
# Maximum bytes of a label before its word (`_Kind.word`).
_LABEL = 32
# Maximum bytes of an address before an NBN.
_ADDRESS = 256
# Maximum number of words that are found at once.
_PLACES = 1 << 12

# Between a label and its number: `ISBN: 978...`, `"isbn_13": ["978...`, `<isbn>978...`, `isbn = {978...}`.
_GAP = rb"""(?:[\s:=#/|"'>{\[\\.,-]|\xc2\xa0|\xe2\x80[\x90-\x94]){0,24}"""
_LABEL_END = rb"(?:\s?\([^()\r\n]{1,24}\))?(?:[-\x20]?(?:nr|no|number|nummer))?" + _GAP
# A line may end after a hyphen.
_HYPHEN = rb"(?:(?:-|\xe2\x80[\x90\x91\x93])(?:\r?\n[\x20\t]{0,24})?)"
_SEPARATOR = rb"(?:%b|\x20|\xc2\xa0)" % _HYPHEN
_NO_MORE = rb"(?![0-9A-Za-z]|%b\d)" % _HYPHEN

# A DOI ends before bytes that no DOI has in practice, or that separate fields, items of a list or parts of a query.
_DOI = rb"10\.\d{4,9}(?:\.\d+)*+(?:/|%%2F)[^\x00-\x20\"'<>\\^`{|}\x7f-\xff?#&,;]{1,%d}+" % (LOOK_AHEAD // 2)
# A SICI contains "<", ">" and ";" (ANSI/NISO Z39.56).
_SICI = (
    rb"10\.\d{4,9}(?:/|%2F)(?:(?:\(|%28)SICI(?:\)|%29))?\d{4}-\d{3}[\dX](?:\(|%28)\d{4,8}(?:\)|%29)"
    rb"[^\x00-\x20\"'>\\]{1,64}?(?:<|&lt;|%3C)"
    rb"[^\x00-\x20\"'<>\\]{1,32}?(?:>|&gt;|%3E)\d\.\d\.[A-Z]{2}(?:;|%3B)2-[\dA-Z#]"
)
_SICI_BEGINNING = regex.compile(rb".*/(?:\(SICI|\d{4}-\d{3}[\dX]\(\d{4,8}\)\d+:)", regex.IGNORECASE)
_WHOLE_SICI = regex.compile(_SICI, regex.IGNORECASE)
_DOI_NAME = rb"(%b|%b)" % (_SICI, _DOI)
_DOI_GAP = rb"""(?:[\s:;="'`>{|\[\\]|\xc2\xa0){1,24}"""


class _Kind(NamedTuple):
    """A kind of reference, such as an ISBN after a label."""

    nid: str
    word: bytes
    """Three letters of the label or address that `find_words` finds, such as `sbn`."""
    before: regex.Pattern[bytes]
    """Pattern of the label or address, up to the word."""
    after: regex.Pattern[bytes]
    """Pattern of the word and the text after it. Group 1 is the identifier."""


def _kind(nid: str, word: bytes, before: bytes, after: bytes) -> _Kind:
    return _Kind(
        nid, word, regex.compile(before + rb"\Z", regex.IGNORECASE), regex.compile(word + after, regex.IGNORECASE)
    )


# No letter or digit precedes, except the letter of an escape such as the `\n` of JSON.
_ALONE = rb"(?:(?<![0-9A-Za-z])|(?<=\\[nrt]))"
_HOST = _ALONE + rb"(?:https?://)?(?:(?:dx|www)\.)?"
_KINDS = (
    _kind(
        "isbn",
        b"sbn",
        _ALONE + rb"(?:[ep]-?)?i",
        # The number of "ISBN-13" belongs to the label if neither a hyphen nor a digit follows.
        rb"s?(?:[-_\x20]?1[03](?=[^-0-9]))?%b(97[89]%b?(?:\d%b?){9}\d|(?:\d%b?){9}[\dX])%b"
        % (_LABEL_END, *3 * (_SEPARATOR,), _NO_MORE),
    ),
    _kind(
        "issn",
        b"ssn",
        _ALONE + rb"(?:[epl]-?)?i",
        rb"(?:-?l)?%b(\d{4}%b\d{3}[\dX])%b" % (_LABEL_END, _HYPHEN, _NO_MORE),
    ),
    _kind("isni", b"sni", _ALONE + b"i", rb"%b((?:\d{4}%b?){3}\d{3}[\dX])%b" % (_LABEL_END, _SEPARATOR, _NO_MORE)),
    _kind("doi", b"doi", _HOST, rb"\.org/(?:doi:)?" + _DOI_NAME),
    _kind("doi", b"doi", _ALONE + b"info:", b"/" + _DOI_NAME),
    _kind("doi", b"doi", _ALONE, _DOI_GAP + _DOI_NAME),
)
_RESOLVER = _KINDS[3]

_NBN = regex.compile(rb"nbn:[a-z]{2}[:-][^\x00-\x20\"'<>\\^`{|}\x7f-\xff?#&,;]{1,512}+", regex.IGNORECASE)
_TAILS = (
    # Names of a publisher's pages and files for the same work, and punctuation of the text.
    *b"/abstract /full /fulltext /full-text /pdf /epdf /meta /summary /references /html /suppinfo".split(),
    *b".pdf .htm .html .full".split(),
    *(bytes([byte]) for byte in b".:!*_~/"),
)
_STRAY_PERCENT = regex.compile(rb"%(?![0-9A-Fa-f]{2})")
_PARTNERS = {ord(")"): ord("("), ord("]"): ord("[")}
# After these bytes at the end of a line, the name may go on in the next line.
_GOES_ON = tuple(b"-/_:(=+")
# Characters beyond ASCII that may end a name: spaces, quotation marks, dashes.
_MARK = regex.compile(r"[\p{Z}\p{P}\p{S}\p{Cf}]")


class Reference(NamedTuple):
    """A reference to a name without `urn:`, such as an ISBN after a label. Indices are in the data that was searched."""

    start: int
    """Index of the first byte of the identifier, after the label or address."""
    end: int
    """Index after the last byte of the identifier; equal to `start` if the end of a DOI or NBN is in doubt."""
    urn: bytes
    """The URN of the identifier; empty if the identifier is not valid (a wrong check digit, one digit repeated), or its
    end is in doubt.
    """


def find_references(
    data: ByteArray, start: int, end: int, are_free: Callable[[Integers], Booleans], *, whole: bool
) -> tuple[list[Reference], int]:
    """Find the references to names without `urn:` (`ISBN 978-…`) whose word, a part of the label or address such as
    `sbn` or `doi`, is in `data[start:end]`. Returns those that have a URN, in order, and the index from which the
    caller must search on.

    This index is less than `end` if a reference there may go on, or may depend on bytes after `data`. With `whole`, the
    text ends after `data`, and the index is `end`. `are_free` returns, for an array of indices of words, whether each
    is outside of all other matches; other words are skipped. Precondition: `data` has the 256 bytes before `start`, if
    the text has so many.
    """
    references: list[Reference] = []
    places = np.empty(_PLACES, np.int64)
    last = min(end, len(data) - 2)
    while start < last:
        count, next_start = find_words(data, start, last, places)
        words = places[:count]
        for place in words[are_free(words)].tolist():
            if place < start:
                continue
            reference = _reference(data, place)
            if not whole and (place + LOOK_AHEAD > len(data) or (reference and reference.end > end)):
                return references, place
            if reference:
                start = reference.end
                if reference.urn:
                    references.append(reference)
        start = max(start, next_start)
    return references, end if whole else max(start, last)


def _reference(data: ByteArray, place: int) -> Reference | None:
    """The reference whose word (`sbn`, `doi`) begins at index `place`; None if there is none. Its `urn` may be empty."""
    after = data[place : place + LOOK_AHEAD].tobytes()
    if after[:3].lower() == b"nbn":
        return _nbn(data, place, after)
    before = data[max(0, place - _LABEL) : place].tobytes()
    for kind in _KINDS:
        match = kind.after.match(after) if kind.word == after[:3].lower() else None
        label = match and kind.before.search(before)
        if match and label:
            start, end = match.span(1)
            if kind.nid == "doi":
                end = _end_of_name(after, start, end, opening=before[: label.start()][-1:])
            is_address = kind is _RESOLVER
            return Reference(place + start, place + end, _urn(kind.nid, after[start:end], is_address=is_address))
    return None


def _nbn(data: ByteArray, place: int, after: bytes) -> Reference | None:
    """The reference to an NBN in the address of a resolver, from index `place` on, where `after` begins. Its `urn` is
    empty if the end is in doubt.
    """
    match = _NBN.match(after)
    if match is None or not _address_of_nbn().search(data[max(0, place - _ADDRESS) : place].tobytes()):
        return None
    end = _end_of_name(after, 0, match.end())
    return Reference(place, place + end, b"urn:" + after[:end] if end else b"")


@functools.cache
def _address_of_nbn() -> regex.Pattern[bytes]:
    """Pattern of the address of a resolver before an NBN."""
    hosts = {resolver.url.split("/")[2].removeprefix("www.") for resolver in OURS.rules["nbn"].resolvers}
    names = "|".join(map(regex.escape, sorted(hosts | {"nbn-resolving.de"})))
    return regex.compile(rf"https?://(?:www\.)?(?:{names})/[^\s\"<>]*(?<=[/=])\Z".encode(), regex.IGNORECASE)


def _end_of_name(text: bytes, start: int, end: int, opening: bytes = b"") -> int:
    """The end of the DOI or NBN in `text[start:end]`, without punctuation and names of a publisher's pages
    (`/abstract`); `start` if the end is in doubt. `opening` is the byte before the reference.
    """
    if _SICI_BEGINNING.match(text[start:end].replace(b"%28", b"(").replace(b"%29", b")").replace(b"%2F", b"/")):
        return end if _WHOLE_SICI.fullmatch(text[start:end]) else start
    stop = text[end : end + _STOP]
    # Without the closing ">", the name goes on in the next line.
    if opening == b"<" and stop[:1] not in (b">", b"?", b"#"):
        return start
    if stop[:1].isspace() and text[end - 1] in _GOES_ON:
        return start
    # A program completes the name; or LaTeX escapes the next byte of the name.
    if stop[:1] in (b"{", b"$", b"%") or (stop[:1] == b"\\" and not stop[1:2].isalnum() and stop[1:2] != b'"'):
        return start
    if stop and stop[0] >= 0x80 and not _MARK.match(stop.decode(errors="replace")):
        return start
    if _STRAY_PERCENT.search(text[start:end]):
        return start
    # An ellipsis shows that the name is shortened.
    if text[start:end].endswith(b"..") or stop.startswith("\u2026".encode()):
        return start
    name = text[start : _balanced(text, start, end)].lower()
    while name.endswith(_TAILS):
        name = name[: -max(len(tail) for tail in _TAILS if name.endswith(tail))]
    return start + len(name)


def _balanced(text: bytes, start: int, end: int) -> int:
    """Index of the first `)` or `]` in `text[start:end]` that does not close the last open bracket (1 for `a)b`); else
    `end`.
    """
    opened: list[int] = []
    for place in range(start, end):
        if text[place] in _PARTNERS.values():
            opened.append(text[place])
        elif text[place] in _PARTNERS and (not opened or opened.pop() != _PARTNERS[text[place]]):
            return place
    return end


@functools.lru_cache(maxsize=1 << 12)
def _urn(nid: str, identifier: bytes, *, is_address: bool) -> bytes:
    """The URN of an identifier; empty if it is invalid or a placeholder. `is_address`: it is from the address of a DOI,
    and percent-encoded.
    """
    text = html.unescape("".join(map(str.strip, identifier.decode().splitlines())))
    # 0000-0000 is a placeholder, although its check digit is right.
    if nid != "doi" and len(set(filter(str.isalnum, text))) == 1:
        return b""
    converter: Native = getattr(native, nid)
    try:
        return converter.to_urn(f"https://doi.org/{text}" if is_address else text).encode()
    except ArgumentError:
        return b""
