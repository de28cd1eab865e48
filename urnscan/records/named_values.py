"""What records whose values have names say of themselves: members of JSON objects, columns of tables."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from urnscan.records.fields import OwnField, Table
from urnscan.records.record import Own, whole

__all__ = ["RANKS", "Pairs", "as_octets", "identifier", "own_identifiers"]

Pairs = Iterable[tuple[str, object]]
"""Names and values. A value is a string, an object (a tuple of such pairs), an array (a list of values), or says nothing."""

_NAMES = ("@id", "id", "_id", "identifier", "recordid", "record_id", "recid", "ppn", "controlnumber", "key", "uid")
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(_NAMES)}
"""By which name, in lower case, a record is called: the least that it has."""

# Members that hold the record itself: JSON:API (section 7.2), Elasticsearch, Google Books, DOAJ.
_ENVELOPES = frozenset(("attributes", "_source", "volumeinfo", "bibjson"))
# In an identifier that is an object, what it is: schema.org PropertyValue, DataCite, JSON-LD, MARC in JSON.
_VALUES = ("value", "@value", "identifier", "id", "@id", "content")
# What may stand in brackets behind a name and leave it as it is: the form of what is identified, or of the identifier.
_QUALIFIERS = frozenset(
    "print printed electronic online digital ebook epub pdf audiobook hardcover hardback hbk cloth paperback pbk softcover "
    "gedruckt gebunden geb broschiert brosch kartoniert kart elektronisch 10 13 10digit 13digit 10digits 13digits".split()
)
_LONGEST_NAME = 100  # characters; no name of the tables is as long
_QUALIFIED = re.compile(r"([^(\[]*)[(\[]([^()\[\]]*)[)\]]\s*\Z")
_NAMESPACE = re.compile(r"\A.*[/#:](?=.)", re.DOTALL)  # of a scheme that is a URI or a prefixed name


def identifier(pairs: Pairs) -> str | None:
    """What the record is called."""
    best, called = len(RANKS), None
    for name, value in pairs:
        rank = RANKS.get(name.lower(), best)
        if rank < best and isinstance(value, str) and value:
            best, called = rank, value
    return called


def own_identifiers(pairs: Pairs, fields: Table) -> Iterator[Own]:
    """The record's own identifiers, in the order in which they stand.

    `field` and `unless` name members as `_folded` gives them, in the singular, and `unless` the values as well;
    `scheme_in` names members of objects in lower case. The two latter name any of several, between spaces. `unless` goes by
    any value if it gives none.
    """
    held = list(pairs)
    members = [(_folded(name[:_LONGEST_NAME]), value) for name, value in held]
    for (as_written, value), (name, _) in zip(held, members, strict=True):
        if isinstance(value, tuple) and as_written.lower() in _ENVELOPES:
            yield from own_identifiers([pair for pair in value if pair[0].lower() not in _ENVELOPES], fields)
        for field in fields.get(name) or fields.get(name.removesuffix("s"), ()):
            if not (field.unless and _is_said(members, *field.unless)):
                yield from _identifiers(value, field)


@functools.lru_cache(maxsize=1 << 12)
def _folded(name: str) -> str:
    """A name in small letters and digits alone: `ISBN-13`, `isbn_13` and `ISBN 13 (print)` are one. What is in brackets
    behind it belongs to it, unless it says nothing else of what the name is for.
    """
    qualified = _QUALIFIED.match(name)
    if qualified and _alphanumeric(qualified[2]) in _QUALIFIERS:
        name = qualified[1]
    return _alphanumeric(name)


def _alphanumeric(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def as_octets(text: str) -> bytes:
    """In UTF-8; halves of surrogate pairs, which JSON can escape, have none."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole(text).encode()


def _is_said(members: list[tuple[str, object]], names: str, values: str) -> bool:
    """Whether a member of one of these names has one of these values, or any if there are none."""
    wanted, among = names.split(), values.split()
    for name, value in members:
        if name in wanted and value:
            if not among:
                return True
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, str) and _alphanumeric(_NAMESPACE.sub("", one[:_LONGEST_NAME])) in among:
                    return True
    return False


def _identifiers(value: object, field: OwnField) -> Iterator[Own]:
    """In a value of a field: a string, an object that holds one and what it is, or schemes as names, or a list of these."""
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, str):
            if one and not one.isspace():
                yield Own(whole(one), field.scheme)
        elif isinstance(one, tuple):
            members = {name.lower(): said for name, said in one}
            scheme = next(
                (said for name in field.scheme_in.split() if isinstance(said := members.get(name), str)), None
            )
            text = next((said for name in _VALUES if isinstance(said := members.get(name), str)), None)
            if text is not None:
                yield Own(whole(text), field.scheme if scheme is None else _NAMESPACE.sub("", whole(scheme)).lower())
            elif scheme is None and not field.scheme:
                for name, said in members.items():  # {"isbn_13": […], "doi": "…"}
                    for text in said if isinstance(said, list) else (said,):
                        if isinstance(text, str):
                            yield Own(whole(text), whole(name))
