"""Names and own identifiers of records with named values: members of JSON objects, columns of tables."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from urnscan.records import description
from urnscan.records.decoded_text import whole
from urnscan.records.fields import Own, OwnField, Table

Pairs = Iterable[tuple[str, object]]
"""Names and values. A value is a string, an object (a tuple of such pairs) or an array (a list of values); any other one
is passed over.
"""

_NAMES = ("@id", "id", "_id", "identifier", "recordid", "record_id", "recid", "ppn", "controlnumber", "key", "uid")
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(_NAMES)}
"""Names of values that name a record, in lower case, with their ranks: of several in a record the least one counts."""

# Members that hold the record itself: JSON:API (section 7.2), Elasticsearch, Google Books, DOAJ.
_ENVELOPES = frozenset(("attributes", "_source", "volumeinfo", "bibjson"))
# Members of an object that is an identifier: schema.org PropertyValue, DataCite, JSON-LD, MARC in JSON.
_VALUES = ("value", "@value", "identifier", "id", "@id", "content")
# Members of an object that is a title, a person, a date or a type: DataCite, CSL, Crossref, Zotero, MODS as JSON.
_HOLDING = frozenset("title value @value family familyname lastname date-parts date resourcetypegeneral #text".split())
# Words in brackets behind a name that do not change its meaning: the form of the book, or of the identifier.
_QUALIFIERS = frozenset(
    "print printed electronic online digital ebook epub pdf audiobook hardcover hardback hbk cloth paperback pbk "
    "softcover gedruckt gebunden geb broschiert brosch kartoniert kart elektronisch 10 13 10digit "
    "13digit 10digits 13digits".split()
)
_LONGEST_NAME = 100  # characters; no name of the tables is as long
_QUALIFIED = re.compile(r"([^(\[]*)[(\[]([^()\[\]]*)[)\]]\s*\Z")
_NAMESPACE = re.compile(r"\A.*[/#:](?=.)", re.DOTALL)  # of a scheme that is a URI or a prefixed name


def identifier(pairs: Pairs) -> str | None:
    """Find the name of a record."""
    best, found = len(RANKS), None
    for name, value in pairs:
        rank = RANKS.get(name.lower(), best)
        if rank < best and isinstance(value, str) and value:
            best, found = rank, value
    return found and whole(found)


def own_identifiers(pairs: Pairs, fields: Table) -> Iterator[Own]:
    """Find the record's own identifiers, in the order in which they stand."""
    held = list(pairs)
    members = [(_folded(name[:_LONGEST_NAME]), value) for name, value in held]
    for (as_written, value), (name, _) in zip(held, members, strict=True):
        if isinstance(value, tuple) and as_written.lower() in _ENVELOPES:
            yield from own_identifiers([pair for pair in value if pair[0].lower() not in _ENVELOPES], fields)
        for field in fields.get(name) or fields.get(name.removesuffix("s"), ()):
            if not (field.unless and _has_member(members, *field.unless)):
                for one in _listed(value):
                    yield from _identifiers(one, field)


def statements(pairs: Pairs, fields: description.Table) -> Iterator[description.Statement]:
    """The statements of a record, in the order of its fields."""
    for as_written, value in pairs:
        if isinstance(value, tuple) and as_written.lower() in _ENVELOPES:
            yield from statements([pair for pair in value if pair[0].lower() not in _ENVELOPES], fields)
        name = _folded(as_written[:_LONGEST_NAME])
        if rows := fields.get(name) or fields.get(name.removesuffix("s")):
            text = next(_strings(value), None)
            if text:
                yield from description.of_text(whole(text), rows)


def _strings(value: object) -> Iterator[str]:
    """The strings in a value, from the first on; of an object only those of members of `_HOLDING`, if it has any.

    Example: of `{"lang": "de", "value": "Tinte"}` only `Tinte`.
    """
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            values += reversed(value)
        elif isinstance(value, tuple):
            holding = [said for name, said in value if name.lower() in _HOLDING]
            values += reversed(holding or [said for _, said in value])


@functools.lru_cache(maxsize=1 << 12)
def _folded(name: str) -> str:
    """Reduce a name to small letters and digits: `ISBN-13`, `isbn_13` and `ISBN 13 (print)` are one. Other words in
    brackets belong to the name.
    """
    qualified = _QUALIFIED.match(name)
    if qualified and _alphanumeric(qualified[2]) in _QUALIFIERS:
        name = qualified[1]
    return _alphanumeric(name)


def _alphanumeric(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _has_member(members: list[tuple[str, object]], names: str, values: str) -> bool:
    """Whether a member of one of these names has one of these values, or any value if none are given."""
    wanted, among = names.split(), values.split()
    return any(
        not among or (isinstance(one, str) and _alphanumeric(_NAMESPACE.sub("", one[:_LONGEST_NAME])) in among)
        for name, value in members
        if name in wanted and value
        for one in _listed(value)
    )


def _identifiers(value: object, field: OwnField) -> Iterator[Own]:
    """Identifiers in a string, in an object of an identifier and its kind, or in one with kinds as names."""
    if isinstance(value, str):
        if value and not value.isspace():
            yield Own(whole(value), field.scheme, field.is_key)
    elif isinstance(value, tuple):
        members = {name.lower(): said for name, said in value}
        scheme = _first_string(members, field.scheme_in.split())
        text = _first_string(members, _VALUES)
        if text is not None:
            named = field.scheme if scheme is None else _NAMESPACE.sub("", whole(scheme)).lower()
            yield Own(whole(text), named, field.is_key)
        elif scheme is None and not field.scheme:
            for name, said in members.items():  # {"isbn_13": […], "doi": "…"}
                yield from (
                    Own(whole(text), whole(name), field.is_key) for text in _listed(said) if isinstance(text, str)
                )


def _first_string(members: Mapping[str, object], names: Iterable[str]) -> str | None:
    return next((value for name in names if isinstance(value := members.get(name), str)), None)
