"""What a dump of JSON is, by its head: lines, an array, an object around an array, or values one after the other."""

from __future__ import annotations

import json
import re
from enum import Enum

from urnscan.records.buffer import HEAD, MARK
from urnscan.records.named_values import RANKS

__all__ = ["DECODER", "Layout", "find_array", "find_layout"]

DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str)
"""Objects as tuples of pairs (a name may stand twice), numbers as they are written (none is too long)."""

_NAMES = (".jsonl", ".ndjson", ".ldjson", ".jsonlines", ".jsonseq", ".geojsonl", ".geojsons")
_LEADING = re.compile(rb"(?:" + MARK + rb")?+[ \t\r\n]*+")
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
# What is said of a record and not of a page of records, besides its names (RANKS); without prefixes and punctuation.
_OF_RECORDS = frozenset(
    "identifiers urn isbn isbn10 isbn13 issn issnl eissn doi uuid handle pid lccn oclc title titles author authors creator "
    "creators".split()
)
_PUNCTUATION = re.compile("[ ._-]")
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
    is_whole_head = len(head) >= HEAD
    if not body or MARK.startswith(head):
        return Layout.NONE if is_whole_head else None
    if body[0] == 0x1E:
        return Layout.LINES
    is_named = name.endswith(_NAMES) and _VALUE.match(body) is not None
    if not is_named and not _BEGUN.match(body):
        return Layout.NONE
    if not is_named and _OBJECTS.match(body):
        return Layout.WHOLE
    line, ended, rest = body.partition(b"\n")
    is_line = _is_value(line)
    wraps = body[0] == 0x7B and find_array(body, goes_on=is_whole_head) is not None
    if not (ended or is_line or is_whole_head):
        return Layout.LINES if is_named and not wraps else None
    if wraps:  # also where each is a line: a page of records is no record
        return Layout.WHOLE
    following = rest.lstrip()[:1]
    if is_named and ended and not is_line and _OBJECTS.match(body):  # an array over several lines, whatever its name
        return Layout.WHOLE
    if is_named or (is_line and following in (b"{", b"[")):
        return Layout.LINES
    if ended and not is_line:
        # The first line may be damaged; that of an object over several lines does not end in its closing bracket.
        return Layout.LINES if line.rstrip().endswith(b"}") and following == b"{" else Layout.WHOLE
    return Layout.WHOLE if body[0] == 0x5B else Layout.LINES


def find_array(head: bytes, *, goes_on: bool) -> tuple[int, int] | None:
    """In a head that begins with an object: the distance to what is behind the opening bracket of the array that holds
    the records, and how many objects are around it; None if the object is a record itself. `goes_on`: the dump may be
    longer than the head.

    It is the array that has a name for such, if it is empty or of objects and none of what is said beside it is said of a
    record. Or else an array of objects that is all there is in the object and the dump, or does not end in the head.
    """
    text = head[:HEAD].decode("latin-1")
    at, depth, count = 1, 1, 0
    is_record = False
    found: tuple[int, int] | None = None
    is_filled = False
    alone: tuple[int, int] | None = None  # the array, as long as it is the only member
    while True:
        at = _skip(text, at)
        while text[at : at + 1] == "}":
            at, depth = _skip(text, at + 1), depth - 1
            if not depth:
                return alone if alone and count == 1 and at == len(text) else None if is_record else found
        if count and text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        if is_record:
            return None
        try:
            name, at = DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(name, str) or text[at : at + 1] != ":":
                return found
        except (ValueError, RecursionError):
            return found
        name = name.lower()
        unprefixed = name.rpartition(":")[2]
        is_record = unprefixed in RANKS or _PUNCTUATION.sub("", unprefixed) in _OF_RECORDS
        begin = at = _skip(text, at + 1)
        first = text[_skip(text, at + 1) :][:1] if text[at : at + 1] == "[" else ""
        if name in _RECORDS and not is_filled and (first == "{" or (first == "]" and not found)):
            found, is_filled = (begin + 1, depth), first == "{"
        elif text[at : at + 1] == "{" and name in _AROUND and not is_filled and depth < _DEEPEST:
            at, depth, count = at + 1, depth + 1, 2
            continue
        try:
            _, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if is_record:
                return None
            return found or ((begin + 1, depth) if first == "{" and goes_on else None)
        count += 1
        alone = (begin + 1, depth) if first == "{" else None


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
