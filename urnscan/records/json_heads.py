"""What a dump of JSON is, by its head: lines, an array, an object around an array, or values one after the other."""

from __future__ import annotations

import json
import re
from enum import Enum

from urnscan.records.named_values import RANKS

__all__ = ["DECODER", "HEAD", "Layout", "find_array", "find_layout"]

HEAD = 1 << 16
"""Octets that are looked at."""

DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str)
"""Objects as tuples of pairs (a name may stand twice), numbers as they are written (none is too long)."""

_NAMES = (".jsonl", ".ndjson", ".ldjson", ".jsonlines", ".jsonseq", ".geojsonl", ".geojsons")
_LEADING = re.compile(rb"(?:\xef\xbb\xbf)?+[ \t\r\n]*+")
_MARK = re.compile(rb"\xef(?:\xbb(?:\xbf)?+)?+")
_VALUE = re.compile(rb'\x1e|["{\[0-9tfn-]')
# Not so few texts begin with a bracket.
_BEGUN = re.compile(rb'\{[ \t\r\n]*+(?:["}]|\Z)|\[[ \t\r\n\[]*+(?:["{\]]|\Z)')
_OBJECTS = re.compile(rb"\[[ \t\r\n]*+\{")

# Under which names the records stand: JSON-LD, Crossref, DataCite, OpenAlex, Solr, Elasticsearch, OData, GeoJSON.
_RECORDS = frozenset(
    "@graph records record items data results result docs documents works entries hits value features rows "
    "resources publications".split()
)
# In which an array of records stands, in its turn.
_AROUND = frozenset("response message _embedded hits data result results".split())
_DEEPEST = 4  # objects within each other around an array
_SPACE = re.compile(r"[ \t\r\n]*")


class Layout(Enum):
    """How values stand in a dump."""

    NONE = 0
    """It is not JSON."""
    LINES = 1
    WHOLE = 2
    """Over lines, in arrays or not."""


def find_layout(head: bytes, name: str) -> Layout | None:
    """The layout of a dump that begins so; None where more octets are needed to tell."""
    start = _leading(head)
    body = head[start:]
    if not body or (not start and _MARK.fullmatch(body)):
        return None if len(head) < HEAD else Layout.NONE
    if body[0] == 0x1E or (name.endswith(_NAMES) and _VALUE.match(body)):
        return Layout.LINES
    if not _BEGUN.match(body):
        return Layout.NONE
    if _OBJECTS.match(body):
        return Layout.WHOLE
    line, ended, rest = body.partition(b"\n")
    if _is_value(line):
        if rest.lstrip()[:1] in (b"{", b"["):
            return Layout.LINES
        return Layout.WHOLE if body[0] == 0x5B or find_array(body) else Layout.LINES
    if ended:
        # The first line may be damaged; that of an object over several lines does not end in its closing bracket.
        lines = line.rstrip().endswith(b"}") and rest.lstrip()[:1] == b"{" and not find_array(body)
        return Layout.LINES if lines else Layout.WHOLE
    if len(head) < HEAD:
        return None
    return Layout.WHOLE if body[0] == 0x5B or find_array(body) else Layout.LINES


def find_array(head: bytes) -> tuple[int, int] | None:
    """In a head that begins with an object: the distance to what is behind the opening bracket of the array that holds
    the records, and how many objects are around it; None if the object is a record itself.

    It is the array that has a name for such, or else an array of objects that is all there is in the object and the dump,
    or one that does not end in the head, if the object has no identifier.
    """
    text = head[:HEAD].decode("latin-1")
    at, depth, called = 1, 1, False
    alone: int | None = None  # the array, as long as it is the only member
    count = 0
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return (alone, depth) if alone and count == 1 and not text[at + 1 :].strip(" \t\r\n") else None
        try:
            name, at = DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(name, str) or text[at : at + 1] != ":":
                return None
        except (ValueError, RecursionError):
            return None
        name = name.lower()
        at = _skip(text, at + 1)
        opening = text[at : at + 1]
        objects = opening == "[" and text[_skip(text, at + 1) :][:1] == "{"
        if objects and name in _RECORDS:
            return at + 1, depth
        if opening == "{" and name in _AROUND and depth < _DEEPEST:
            at, depth, count = at + 1, depth + 1, 2
            continue
        begin = at
        try:
            _, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            whole_head = len(head) >= HEAD
            return (begin + 1, depth) if objects and whole_head and not called else None
        count += 1
        called |= name in RANKS
        alone = begin + 1 if objects else None
        at = _skip(text, at)
        while depth > 1 and text[at : at + 1] == "}":
            at, depth = _skip(text, at + 1), depth - 1
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != "}":
            return None


def _leading(head: bytes) -> int:
    """Octets of a byte order mark and white space."""
    leading = _LEADING.match(head)
    return leading.end() if leading else 0


def _skip(text: str, at: int) -> int:
    """Behind the white space."""
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _is_value(line: bytes) -> bool:
    """Whether a line is a value, all of it."""
    try:
        DECODER.decode(line.decode("latin-1"))
    except (ValueError, RecursionError):
        return False
    return True
