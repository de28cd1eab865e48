"""IDs and record-level identifiers of records with named values: members of JSON objects, columns of tables."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from urnscan.records import description
from urnscan.records.decoded_text import whole
from urnscan.records.fields import Own, OwnField, Table, own_fields

Pairs = Iterable[tuple[str, object]]
"""Pairs of name and value. A value is a string, an object (a tuple of pairs) or an array (a list of values). Other
values are ignored.
"""

_NAMES = ("@id", "id", "_id", "identifier", "recordid", "record_id", "recid", "ppn", "controlnumber", "key", "uid")
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(_NAMES)}
"""Names of values that may be the ID of a record, in lower case, each with a rank, from 0: the value with the lowest
rank is the ID.
"""

# Members that contain the record itself: JSON:API (section 7.2), Elasticsearch, Google Books, DOAJ; and Zenodo, Zotero,
# whose names have other meanings where the object around them has a title.
_ENVELOPES = frozenset(("attributes", "_source", "volumeinfo", "bibjson"))
_ALL_ENVELOPES = _ENVELOPES | {"metadata", "data", "record"}
# Members of an object that is an identifier: schema.org PropertyValue, DataCite, JSON-LD, MARC in JSON.
_VALUES = ("value", "@value", "identifier", "id", "@id", "content")
# Members of an object that is a title, a person, a date or a type: DataCite, CSL, Crossref, Zotero, MODS as JSON.
_TEXTS = frozenset("title value @value family familyname lastname date-parts date resourcetypegeneral #text".split())
# Words in brackets after a name that do not change its meaning: the form of the book or of the identifier, the language.
_QUALIFIERS = frozenset(
    "print printed electronic online digital ebook epub pdf audiobook hardcover hardback hbk cloth paperback pbk "
    "softcover gedruckt gebunden geb broschiert brosch kartoniert kart elektronisch 10 13 10digit "
    "13digit 10digits 13digits english german french spanish italian portuguese russian chinese japanese korean "
    "englisch deutsch original".split()
)
# Characters. Names in the tables are not as long.
_LONGEST_NAME = 100
_QUALIFIED = re.compile(r"([^(\[]*)[(\[]([^()\[\]]*)[)\]]\s*\Z")
# A language in square brackets after a name, as DSpace writes it, also none.
_LANGUAGE = re.compile(r"(?<!\])(?>(?:\[(?:[a-z]{2,3}(?:[_-][A-Za-z]{2,4})?|\*)?\])+)\s*+\Z")
# A language, or a suffix of Solr and similar programs for the index of a field, after a name.
_SUFFIX = re.compile(
    r"(?<=[A-Za-z0-9])(?:[_.@:-](?:en|de|fr|es|it|pt|nl|sv|da|no|fi|pl|cs|ru|uk|zh|ja|ko|ar|el|tr|hu|eng|ger|deu|fre|fra|spa|ita|por|[a-z]{2}[_-][A-Za-z]{2}"
    r"|full|display|str|txt|text|t|s|ss|tsi|tsim|ssi|ssim|stored|original|main|proper))+\Z",
    re.IGNORECASE,
)
# The object that has all members, or the kind of the record, before a name.
_ENVELOPE = re.compile(
    r"\A(?:(?:metadata|record|fields?|attributes|item|document|doc|_source|bibjson|dublin core|dc|dcterms|dcvalue|prism|bibo|schema|mods|titleinfo"
    r"|biblio|biblioitems|bibliographic(?: details)?|(?:n[or°º]?\.?|num(?:ber|mer|[eé]ro)|n[uú]mero|code|codice|c[oó]digo|asin)(?=[\s._:/-]+(?:isbn|issn|doi)\b))[\s._:/-]+)+",
    re.IGNORECASE,
)
# The part of a URI or a prefixed name before the scheme.
_NAMESPACE = re.compile(r"\A.*[/#:](?=.)", re.DOTALL)


_Row = TypeVar("_Row")


def identifier(pairs: Pairs) -> str | None:
    """Return the ID of a record: of its strings that are not empty, the one whose name, in any case, has the lowest
    rank in `RANKS` (`@id` before `id`), and of several the first; None without such a string.
    """
    best, best_value = len(RANKS), None
    for name, value in pairs:
        rank = RANKS.get(name.lower(), best)
        if rank < best and isinstance(value, str) and value:
            best, best_value = rank, value
    return best_value and whole(best_value)


def are_known(names: Collection[str], table: str) -> bool:
    """Whether a table of fields.toml (`table`) has one of the names, in any spelling (`ISBN-13`, `isbn_13`), as the
    name of an identifier. Vague names (`id`, `url`) do not count, except `@id`.
    """
    known = own_fields(table)
    rows = (row for name in names for row in _rows_of(known, name))
    return any(not row.vague for row in rows) or "@id" in names


def own_identifiers(pairs: Pairs, fields: Table) -> Iterator[Own]:
    """Yield the record-level identifiers of a record (identifiers in fields that name the record itself), in the order
    of the named values. `fields`: rows of a table, from `fields.own_fields`. Spellings of a name are equal: `ISBN-13`,
    `isbn_13`.
    """
    for name, value, has_member in _members(pairs):
        for field in _rows_of(fields, name):
            if not (field.unless and has_member(*field.unless)):
                for item in _as_list(value):
                    yield from _identifiers(item, field)


def statements(pairs: Pairs, fields: description.Table) -> Iterator[description.Statement]:
    """Yield the statements of a record about a work, in the order of the named values. A statement is a pair of a row
    of `fields` and a text; of a value with several strings, the first is taken.
    """
    for name, value, _ in _members(pairs):
        if (rows := _rows_of(fields, name)) and (text := next(_strings(value), None)):
            yield from description.of_text(whole(text), rows)


def _members(pairs: Pairs) -> Iterator[tuple[str, object, Callable[[str, str], bool]]]:
    """For each member of a record: its name, its value, and `_has_member` for its object. The members of an envelope
    (an object around the record, such as `attributes`) come before it.
    """
    members = list(pairs)
    has_member = functools.partial(_has_member, members, {})
    for name, value in members:
        if isinstance(value, tuple) and name.lower() in _ALL_ENVELOPES:
            has_title = any(_fold(other[:_LONGEST_NAME]) == "title" for other, _ in members)
            if name.lower() in _ENVELOPES or not has_title:
                yield from _members(pair for pair in value if pair[0].lower() not in _ALL_ENVELOPES)
        yield name, value, has_member


def _strings(value: object) -> Iterator[str]:
    """The strings in a value, in order. Of an object with members of `_TEXTS`, only theirs: of `{"lang": "de", "value":
    "Tinte"}` only `Tinte`.
    """
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            values += reversed(value)
        elif isinstance(value, tuple):
            texts = [member for name, member in value if name.lower() in _TEXTS]
            values += reversed(texts or [member for _, member in value])


def _rows_of(fields: Mapping[str, tuple[_Row, ...]], written_name: str) -> tuple[_Row, ...]:
    return next((fields[name] for name in _spellings(written_name[:_LONGEST_NAME]) if name in fields), ())


@functools.lru_cache(maxsize=1 << 12)
def _spellings(name: str) -> tuple[str, ...]:
    """The folded names (`_fold`), the closest first, under which a table may have the row for `name`. Later ones leave
    out a language or suffix (`title_en`), an envelope (`metadata.title`), or a plural `s`.
    """
    name = _LANGUAGE.sub("", name)
    without = _SUFFIX.sub("", name)
    forms = [name, without, _ENVELOPE.sub("", name), _ENVELOPE.sub("", without)]
    folded = [_fold(form) for form in forms if form]
    return tuple(dict.fromkeys(form for name in folded for form in (name, name.removesuffix("s"))))


@functools.lru_cache(maxsize=1 << 12)
def _fold(name: str) -> str:
    """Reduce a name to lower-case letters and digits, without a usual qualifier in brackets: `ISBN 13 (print)` becomes
    `isbn13`.
    """
    qualified = _QUALIFIED.match(name)
    if qualified and _alphanumeric(qualified[2]) in _QUALIFIERS:
        name = qualified[1]
    return _alphanumeric(name)


def _alphanumeric(text: str) -> str:
    """The letters and digits of a text, in lower case and without accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    # Syllables of Korean consist of letters again.
    return unicodedata.normalize("NFC", "".join(filter(str.isalnum, text.lower())))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _has_member(
    members: list[tuple[str, object]], answers: dict[tuple[str, str], bool], names: str, values: str
) -> bool:
    """Whether a member has a name in `names` and a value in `values` (words in lower-case letters and digits; "" is any
    value that is not empty). `answers` keeps the results for these members.
    """
    # A record may have thousands of members whose rows have one condition.
    if (names, values) not in answers:
        member_names, member_values = names.split(), values.split()
        answers[names, values] = any(
            not member_values
            or (isinstance(item, str) and _alphanumeric(_NAMESPACE.sub("", item[:_LONGEST_NAME])) in member_values)
            for name, value in members
            if value and _fold(name[:_LONGEST_NAME]) in member_names
            for item in _as_list(value)
        )
    return answers[names, values]


def _identifiers(value: object, field: OwnField) -> Iterator[Own]:
    """Identifiers in a string, in an object of identifier and kind (`{"type": "doi", "value": "10.5555/a"}`), or in an
    object whose names are kinds (`{"doi": "10.5555/a"}`).
    """
    if isinstance(value, str):
        if value and not value.isspace():
            yield Own(whole(value), field.scheme, field.is_key)
    elif isinstance(value, tuple):
        members = {name.lower(): member for name, member in value}
        scheme = _first_string(members, field.scheme_in.split())
        text = _first_string(members, _VALUES)
        if text is not None:
            kind = field.scheme if scheme is None else _NAMESPACE.sub("", whole(scheme)).lower()
            yield Own(whole(text), kind, field.is_key)
        elif scheme is None and not field.scheme:
            # For example {"isbn_13": […], "doi": "…"}.
            for name, member in members.items():
                for item in _as_list(member):
                    # {"doi": {"identifier": "…"}}: InvenioRDM
                    value = _first_string(dict(item), _VALUES) if isinstance(item, tuple) else item
                    if isinstance(value, str):
                        yield Own(whole(value), whole(name), field.is_key)


def _first_string(members: Mapping[str, object], names: Iterable[str]) -> str | None:
    return next((value for name in names if isinstance(value := members.get(name), str)), None)
