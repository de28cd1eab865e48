"""Objects around an array of records: which array in a JSON object holds the records of a dump."""

from __future__ import annotations

import re

from urnscan.framing.buffer import HEAD
from urnscan.framing.json_values import DECODER
from urnscan.records.named_values import RANKS

__all__ = ["find_array"]

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


def find_array(head: bytes, goes_on: bool) -> tuple[int, int] | None:
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


def _skip(text: str, at: int) -> int:
    """Behind the white space."""
    space = _SPACE.match(text, at)
    return space.end() if space else at
