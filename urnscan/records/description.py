"""Descriptions of records: title, year, edition, part, format and pages of the book or article that a record describes.

`descriptions.toml` says which fields of a format have these values. A reader applies the rows of its format to a record
(`of_subfields`, `of_text`). The result is `Statement`s: a statement is a row and the text of a field.

`pack` joins the statements of a record to a few bytes. `unpack` makes a `Description` of the bytes later, only where a
description is needed: most records share no identifier with another record. `dedup.compare.agreement` compares
descriptions.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from urnscan.records.fields import read_data, table_rows

ARTICLE_BEGINS, ARTICLE_ENDS = "\x98", "\x9c"
"""Controls around a leading article (ISO 6630, NSB and NSE), as library systems write them in Unicode."""
# The same controls in ISO 6630 itself.
_NON_SORTING = {0x88: ARTICLE_BEGINS, 0x89: ARTICLE_ENDS}
SUBTITLE = "\x1f"
"""Separator between title and subtitle."""

_FILE = "descriptions.toml"
# Characters of a value that count: titles are not longer.
_LONGEST = 500
# Aspects that may have several values in a record.
_SEVERAL = ("year", "changed", "language", "issue", "document", "series", "extent", "publisher", "scale")
# Separators of several values, if a value may have white space in it.
_BETWEEN_VALUES = dict.fromkeys(("document", "series", "extent", "scale"), " | ")
# Characters of a packed field, with the white space in it.
_LONGEST_PACKED = 2_000
# Codes of no language, of an unknown one, and of several.
_NO_LANGUAGE = frozenset(("mis", "mul", "und", "zxx"))
_YEAR = re.compile(r"(?<![0-9])(?:1[4-9]|20)[0-9]{2}(?=(?:[0-9]{2}){0,2}(?![0-9]))")
# `1985-`, `[1985]- `, `1985-<1990>`, `1985-9999`, `1985 or 86-`; not `[198-]`, a decade.
_OPEN = re.compile(r"(?<![0-9])[0-9]{4}[\])?>]*\s*[-\u2013]\s*(?:\Z|[<,;.)\]]|9999)|\b[0-9]{2}\]?-\s*\Z")
_RANGE = re.compile("[0-9]\\s*[-\u2013]")
# The part of a URI or a prefixed name before the type.
_VOCABULARY = re.compile(r"\A.*[/#:](?=.)", re.DOTALL)


class Description(NamedTuple):
    """The description of a book, an article or another work by a record; None for a value that the record lacks. A
    value is as the record writes it, unless a form is named here. If a field is repeated, the first value counts,
    except where a separator (a space, ` | `) is named.
    """

    title: str | None = None
    """Title and subtitle with `SUBTITLE` between them. `ARTICLE_BEGINS` and `ARTICLE_ENDS` enclose a leading article,
    if the record marks it.
    """
    year: str | None = None
    """Years of publication, with four digits each, and spaces between them."""
    edition: str | None = None
    """Statement of the edition, as in `2nd ed.`."""
    part: str | None = None
    """Number or name of a part or volume, as in `Vol. 2`."""
    format: str | None = None
    """Words about the format of the work, such as `audio` (see `axes`), with spaces between them."""
    pages: str | None = None
    """Pages of an article in its journal or book. A hyphen follows a first page whose last page is unknown: `17-`."""
    changed: str | None = None
    """Time of the last change of the record; several times have spaces between them."""
    level: str | None = None
    """Fullness of the record: a digit, 1 for the fullest, at most 8."""
    author: str | None = None
    """The first author, as the record writes the name; if there is no author, the first editor."""
    language: str | None = None
    """Languages of the text, as codes or in words, not normalized, with spaces between them; without codes such as
    `mul` and `und`.
    """
    issue: str | None = None
    """Numbers of an issue of a journal, of a report or of a version, with spaces between them."""
    fields: str | None = None
    """Number of fields of a MARC record, as digits."""
    document: str | None = None
    """Numbers of a government document, with ` | ` between them."""
    series: str | None = None
    """Numbers in a series, with ` | ` between them."""
    extent: str | None = None
    """Pages and volumes, as the record counts them, with ` | ` between several statements."""
    scale: str | None = None
    """Scales of a map, with ` | ` between them: `25000`, or `Scale 1:25,000`."""
    publisher: str | None = None
    """Publisher, or printer; several have spaces between them."""
    dates: str | None = None
    """`open` if the publication still appears (`1985-`)."""
    host: str | None = None
    """Title of the journal, or of the book in which a chapter is, in full or abbreviated."""
    responsibility: str | None = None
    """Statement of responsibility: who has made the work, in words of the title page."""
    coauthors: str | None = None
    """The other authors and editors that have fields of their own, with ` | ` between them."""


NOTHING = Description()
"""The description of a record that describes nothing: all values are None."""
# Separates packed statements; it occurs in no text.
_BETWEEN = "\x1e"


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A row of `descriptions.toml`: a field of a format, the aspect of the work that the field describes, and the
    conditions under which it does. `at`, `kinds` and `unless`, if empty or None, set no condition.
    """

    order: int
    """Number, from 0, of the row in the table of the format. Of the rows of an aspect that find a value in a record,
    usually the first one counts; for the aspect `format`, the first one of each axis (`axes`).
    """
    aspect: str
    """Name of an attribute of Description, or of a part of one (`subtitle`, `article`, `start`)."""
    field: str
    """Name of the field: a tag, a path of elements, or the name of a value."""
    parts: str = ""
    """Codes of the subfields whose values count, such as `ab`; empty for a field without subfields (in a field with
    subfields, a row without codes finds nothing).
    """
    at: tuple[int, int] | None = None
    """Start and end (exclusive), from 0, of the characters of the text that count; None: all."""
    kinds: str = ""
    """Types of records (byte 6 of a MARC leader) to which the row applies; empty: all."""
    article: str = ""
    """How the field marks a leading article: `second` (the second indicator counts its characters), `@` (it ends at the
    first @), or `controls` (it is between control characters); empty: not at all.
    """
    unless: str = ""
    """Name of an XML attribute: an element does not count if the element or its parent has this attribute."""
    codes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Code in the field (case counts) -> its meaning; other codes have no meaning."""
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Regular expression, in lower case, to search in the text in any case -> its meaning; if several match, all
    meanings count. Not used if there are `codes`.
    """

    def meaning(self, text: str) -> str:
        """Return what a value of the field says about the format of the work (`book online`): words of `axes()` with
        spaces between them; empty if unknown. Without `codes` and `words`, the value is looked up as a type of resource
        (`JOUR`).
        """
        if self.codes:
            return self.codes.get(text, "")
        if self.words:
            return _meanings(tuple(self.words.items()), text.lower())
        return _type(text)

    def applies_to(self, kind: str) -> bool:
        """Whether the row applies to records of a type (byte 6 of a MARC leader). To an unknown type (""), only rows
        for all types apply.
        """
        return not self.kinds or (bool(kind) and kind in self.kinds)


Table = Mapping[str, tuple[Row, ...]]
"""Rows of a format by the name of their field."""
Statement = tuple[Row, str]
"""A row of the table that applies to a field of a record, and the text of this field."""


@functools.cache
def described_fields(format_name: str) -> Table:
    """Return the rows of `descriptions.toml` for the fields of a format that describe a work, by the name of the field
    in the format (`245` in MARC, `TI` in RIS); empty for a format without such fields. `format_name`: name of a table
    of that file, or path of another TOML file.
    """
    by_field: dict[str, list[Row]] = {}
    shared = read_data(_FILE)["shared"]
    for order, entry in enumerate(table_rows(format_name, "descriptions")):
        values = {**entry, "at": tuple(entry["at"]) if "at" in entry else None}
        values |= {name: shared[entry[name]] for name in ("codes", "words") if isinstance(entry.get(name), str)}
        for name in values.pop("field").split():
            by_field.setdefault(name, []).append(Row(order=order, field=name, **values))
    return MappingProxyType({name: tuple(rows) for name, rows in by_field.items()})


@functools.cache
def with_hosts() -> tuple[bytes, ...]:
    r"""Return the bytes with which `pack` begins a description, for each format of `descriptions.toml` that has fields
    with the host of an article (its journal or book): name of the format and separator, as in `b"ris\x1e"`.
    """
    data = read_data(_FILE)
    formats = [
        name for name, rows in data.items() if isinstance(rows, list) and any(row["aspect"] == "host" for row in rows)
    ]
    return tuple(f"{name}{_BETWEEN}".encode() for name in formats)


@functools.cache
def _in_order(format_name: str) -> tuple[Row, ...]:
    rows = {row.order: row for of_field in described_fields(format_name).values() for row in of_field}
    return tuple(row for _, row in sorted(rows.items()))


def pack(format_name: str, statements: Iterable[Statement]) -> bytes:
    """Write the statements of a record as a few bytes, from which `unpack` makes a `Description`; empty bytes if there
    are none. A text of more than 2,000 characters is cut.

    A statement is a pair of a `Row` of the format, as from `described_fields(format_name)`, and the text of a field.
    `format_name`: name of a table of `descriptions.toml`, such as `ris`, or path of another TOML file.
    """
    packed = [f"{row.order} {text[:_LONGEST_PACKED].replace(_BETWEEN, ' ')}" for row, text in statements]
    return _BETWEEN.join([format_name, *packed]).encode("utf-8", "replace") if packed else b""


def unpack(packed: bytes) -> Description:
    """Return the `Description` that the statements in `packed` make; `NOTHING` if `packed` is empty. `packed`: bytes
    that `pack` has written.
    """
    format_name, *statements = packed.decode().split(_BETWEEN)
    rows = _in_order(format_name)
    parts = (statement.partition(" ") for statement in statements)
    return describe((rows[int(order)], text) for order, _, text in parts)


def as_text(description: Description) -> str:
    """Write a description as a text, from which `from_text` makes the same description. Equal texts mean equal
    descriptions.
    """
    return _BETWEEN.join([value or "" for value in description])


def from_text(text: str) -> Description:
    """Return the description from a text that `as_text` has written."""
    return Description(*[value or None for value in text.split(_BETWEEN)])


@functools.cache
def axes() -> Mapping[str, str]:
    """Return word -> axis, for all words that describe the format of a work (`Description.format`): `audio` ->
    `content`, `print` -> `carrier`. Words of the same axis exclude each other.
    """
    return MappingProxyType({word: axis for axis, words in read_data(_FILE)["axes"].items() for word in words.split()})


@functools.lru_cache(maxsize=1 << 12)
def _meanings(words: Sequence[tuple[str, str]], text: str) -> str:
    return " ".join(meaning for pattern, meaning in words if re.search(pattern, text))


@functools.lru_cache(maxsize=1 << 10)
def _type(text: str) -> str:
    """Meaning of a type of resource (`Journal Article`, `JOUR`); empty if unknown."""
    folded = "".join(filter(str.isalnum, _VOCABULARY.sub("", text[:_LONGEST]).lower()))
    meaning: str = read_data(_FILE)["types"].get(folded, "")
    return meaning


def of_text(text: str, rows: Iterable[Row], kind: str = "") -> Iterator[Statement]:
    """Yield the statements about a work that a field with a single value, `text`, makes: a pair (row, text) for each of
    `rows` (the rows of this field) that applies. In the pair are only the characters of the text that count (`Row.at`),
    which may be none.

    `kind`: type of the record (byte 6 of a MARC leader), or empty. A row with `kinds` applies only to these types.
    """
    for row in rows:
        if row.applies_to(kind):
            yield row, text[slice(*row.at)] if row.at else text


def of_subfields(
    subfields: Sequence[tuple[str, str]], rows: Iterable[Row], second: str = " ", kind: str = ""
) -> Iterator[Statement]:
    """Yield the statements about a work that a field with subfields makes: a pair (row, text) for each of `rows` (the
    rows of this field) whose subfields (`Row.parts`) have a value in the field. The text is these values, with spaces
    between them, with controls around a leading article, and cut to the characters that count (`Row.at`).

    `subfields` are pairs of code and value; `second` is the second indicator, the length of a leading article in some
    fields; `kind` is the type of the record (byte 6 of a MARC leader), or empty: a row with `kinds` applies only to
    these types.
    """
    for row in rows:
        if not row.applies_to(kind):
            continue
        if text := " ".join([value for code, value in subfields if code and code in row.parts]):
            yield statement(row, text, second)


def statement(row: Row, text: str, second: str = " ") -> Statement:
    """Return the pair of `row` and `text`, after two changes of the text: ARTICLE_BEGINS and ARTICLE_ENDS are put
    around a leading article (`Row.article` says how to find it), and the text is cut to `Row.at`.

    `text`: the values of the subfields that the row names. `second`: the second indicator of the field.
    """
    if row.article == "@" and "@" in text:
        article, _, text = text.partition("@")
        text = f"{ARTICLE_BEGINS}{article}{ARTICLE_ENDS}{text}" if article else text
    elif row.article == "second" and second in "123456789" and 0 < int(second) < len(text):
        text = f"{ARTICLE_BEGINS}{text[: int(second)]}{ARTICLE_ENDS}{text[int(second) :]}"
    elif row.article == "controls":
        text = text.translate(_NON_SORTING)
    return row, text[slice(*row.at)] if row.at else text


def shown_title(title: str) -> str:
    r"""Return the title of a description for people: without the controls around an article, with ` : ` before a
    subtitle, and without ` :;=/` at the end of title and subtitle.

    >>> shown_title("\x98Die \x9cUhrmacher :\x1fRoman /")
    'Die Uhrmacher : Roman'
    """
    proper, _, rest = title.replace(ARTICLE_BEGINS, "").replace(ARTICLE_ENDS, "").partition(SUBTITLE)
    parts = (part.rstrip(" :;=/") for part in (proper, rest))
    return " : ".join(part for part in parts if part)


def describe(statements: Iterable[Statement]) -> Description:
    """Return the `Description` that the statements of a record (pairs of row and text, in the order of the fields)
    make; `NOTHING` if no statement has a value. If several rows with the same aspect (`title`, `year`) have a value,
    usually the row that comes first in the table counts; for `format`, the first row of each axis (`axes`). Values are
    cut to 500 characters.
    """
    # By aspect: the order of the first row that applies, and its values.
    of_aspects: dict[str, tuple[int, str]] = {}
    # By axis: the order of the first row that applies, and its words.
    meanings: dict[str, tuple[int, dict[str, None]]] = {}
    names: list[str] = []
    for row, text in statements:
        aspect = row.aspect
        if aspect == "format":
            for word in row.meaning(text).split():
                axis = axes()[word]
                if row.order < meanings.setdefault(axis, (row.order, {}))[0]:
                    meanings[axis] = row.order, {}
                if row.order == meanings[axis][0]:
                    meanings[axis][1][word] = None
            continue
        if aspect == "author":
            names.append(" ".join(text.split()))
        order, earlier = of_aspects.get(aspect, (row.order + 1, ""))
        # An earlier row of the table has a value already.
        if row.order > order:
            continue
        # XML may have line ends and indentation inside titles.
        value = " ".join(text[:_LONGEST_PACKED].split())[:_LONGEST]
        if aspect in ("level", "dates"):
            value = row.codes.get(text, "")
        elif aspect == "language":
            # A code that nobody has filled in is `|||`.
            value = "" if value in _NO_LANGUAGE else value.strip("|")
        elif aspect == "year":
            if _OPEN.search(value):
                of_aspects["dates"] = -1, "open"
            value = " ".join(dict.fromkeys(_YEAR.findall(value)))
        if value and row.order == order:
            # The field is repeated.
            if aspect in _SEVERAL:
                of_aspects[aspect] = order, f"{earlier}{_BETWEEN_VALUES.get(aspect, ' ')}{value}"[:_LONGEST]
        elif value:
            of_aspects[aspect] = row.order, value
    if not of_aspects and not meanings:
        return NOTHING
    values: dict[str, str | None] = {aspect: text for aspect, (_, text) in of_aspects.items()}
    title = values.get("title")
    if title and (article := values.get("article")):
        title = f"{ARTICLE_BEGINS}{article} {ARTICLE_ENDS}{title}"
    if title and (subtitle := values.get("subtitle")):
        title += SUBTITLE + subtitle
    pages = values.get("pages")
    if start := values.get("start"):
        pages = start if _RANGE.search(start) else f"{start}-"
    format_ = " ".join(word for axis in sorted(meanings) for word in meanings[axis][1])
    author = values.get("author")
    coauthors = " | ".join(name for name in dict.fromkeys(names) if name != author)[:_LONGEST]
    values |= {"title": title, "format": format_, "pages": pages, "coauthors": coauthors}
    return Description(**{name: values.get(name) or None for name in Description._fields})
