"""Descriptions of records: title, year, edition, part, format and pages of the book or article that a record describes.

`descriptions.toml` is a table: in which field of a format each of these stands. A reader applies the rows of its format
to a record (`of_subfields`, `of_text`). Each hit is a `Statement`: a row, and the text of the field.
`pack` joins the statements of a record to a few octets, and `unpack` makes a `Description` of them later: only a record
that shares an identifier with another one needs it, and most do not. `dedup.compare.agreement` compares descriptions.
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
_NON_SORTING = {0x88: ARTICLE_BEGINS, 0x89: ARTICLE_ENDS}  # the same in ISO 6630 itself
SUBTITLE = "\x1f"
"""Between a title and its subtitle."""

_FILE = "descriptions.toml"
_LONGEST = 500  # characters of a value that count: no title needs more
_SEVERAL = ("year", "changed", "language", "issue")  # aspects of which a record may say several
_LONGEST_PACKED = 2_000  # characters of a field, with the white space in it
_YEAR = re.compile(r"(?<![0-9])(?:1[4-9]|20)[0-9]{2}(?=(?:[0-9]{2}){0,2}(?![0-9]))")
_RANGE = re.compile("[0-9]\\s*[-\u2013]")
_VOCABULARY = re.compile(r"\A.*[/#:](?=.)", re.DOTALL)  # before a type that is a URI or a prefixed name


class Description(NamedTuple):
    """A book, an article or the like, as the record writes about it; None where it writes nothing."""

    title: str | None = None
    """Title and subtitle with `SUBTITLE` between them; a leading article that the record marks is between controls."""
    year: str | None = None
    """All years that the field has, with spaces between them."""
    edition: str | None = None
    part: str | None = None
    format: str | None = None
    """Words of `axes()`, with spaces between them."""
    pages: str | None = None
    """Pages in a host; the first page has a hyphen behind it."""
    changed: str | None = None
    """When the record was changed last; several moments with spaces between them."""
    level: str | None = None
    """Fullness of the record: a digit, 1 for the fullest."""
    author: str | None = None
    """The first author as the record writes the name; without one, the first editor."""
    language: str | None = None
    """Languages of the text, as codes or in words, with spaces between them."""
    issue: str | None = None
    """Numbers of an issue of a journal, of a report or of a version, with spaces between them."""
    fields: str | None = None
    """Number of fields of a MARC record."""


NOTHING = Description()
_BETWEEN = "\x1e"  # packed statements; no text has it


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; the head of `descriptions.toml` explains each key."""

    order: int
    """Number in the table of its format: the least one of an aspect counts."""
    aspect: str
    field: str
    parts: str = ""
    at: tuple[int, int] | None = None
    kinds: str = ""
    article: str = ""
    unless: str = ""
    codes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def meaning(self, text: str) -> str:
        """Meaning of the value of a format, in words of the axes; empty if it is not known."""
        if self.codes:
            return self.codes.get(text, "")
        if self.words:
            return _said(tuple(self.words.items()), text.lower())
        return _type(text)


Table = Mapping[str, tuple[Row, ...]]
"""Rows of a format by the name of their field."""
Statement = tuple[Row, str]
"""A row of the table, and the text of its field in a record."""


@functools.cache
def described_fields(format_name: str) -> Table:
    """Read the rows of a format; a format without fields has none."""
    by_field: dict[str, list[Row]] = {}
    for order, entry in enumerate(table_rows(format_name, "descriptions")):
        given = {**entry, "at": tuple(entry["at"]) if "at" in entry else None}
        for name in given.pop("field").split():
            by_field.setdefault(name, []).append(Row(order=order, field=name, **given))
    return MappingProxyType({name: tuple(rows) for name, rows in by_field.items()})


@functools.cache
def _in_order(format_name: str) -> tuple[Row, ...]:
    """Rows of a format by their order; of those with the same, one."""
    rows = {row.order: row for held in described_fields(format_name).values() for row in held}
    return tuple(row for _, row in sorted(rows.items()))


def pack(format_name: str, statements: Iterable[Statement]) -> bytes:
    """Pack the statements of a record; empty if there are none."""
    said = [f"{row.order} {text[:_LONGEST_PACKED].replace(_BETWEEN, ' ')}" for row, text in statements]
    return _BETWEEN.join([format_name, *said]).encode("utf-8", "replace") if said else b""


def unpack(packed: bytes) -> Description:
    """Description of a record from what `pack` made."""
    format_name, *said = packed.decode().split(_BETWEEN)
    rows = _in_order(format_name)
    parts = (each.partition(" ") for each in said)
    return describe((rows[int(order)], text) for order, _, text in parts)


def as_text(description: Description) -> str:
    """Write a description as one text; `from_text` reads it. Equal texts mean equal descriptions."""
    return _BETWEEN.join([value or "" for value in description])


def from_text(text: str) -> Description:
    """Read a description from what `as_text` made."""
    return Description(*[value or None for value in text.split(_BETWEEN)])


@functools.cache
def axes() -> Mapping[str, str]:
    """Words of formats -> what each is about: the content, the carrier or the extent. Example: `audio` -> `content`."""
    return MappingProxyType({word: axis for axis, words in read_data(_FILE)["axes"].items() for word in words.split()})


@functools.lru_cache(maxsize=1 << 12)
def _said(words: Sequence[tuple[str, str]], text: str) -> str:
    """Meanings of the patterns that stand in a text."""
    return " ".join(meaning for pattern, meaning in words if re.search(pattern, text))


@functools.lru_cache(maxsize=1 << 10)
def _type(text: str) -> str:
    """Meaning of a type of resources: `info:eu-repo/semantics/article`, `Journal Article`, `JOUR`."""
    folded = "".join(filter(str.isalnum, _VOCABULARY.sub("", text[:_LONGEST]).lower()))
    meaning: str = read_data(_FILE)["types"].get(folded, "")
    return meaning


def of_text(text: str, rows: Iterable[Row], kind: str = "") -> Iterator[Statement]:
    """The statements of a field with one value, one for each of its rows. `kind`: leader/06 of the record."""
    for row in rows:
        if not row.kinds or (kind and kind in row.kinds):
            yield row, text[slice(*row.at)] if row.at else text


def of_subfields(subfields: Sequence[tuple[str, str]], rows: Iterable[Row], second: str = " ") -> Iterator[Statement]:
    """The statements of a field with subfields, one for each row of its tag.

    `subfields`: pairs of code and value. `second`: the second indicator.
    """
    for row in rows:
        if text := " ".join([value for code, value in subfields if code and code in row.parts]):
            yield statement(row, text, second)


def statement(row: Row, text: str, second: str = " ") -> Statement:
    """The statement of a row about a field with subfields, of which `text` are the values that it asks for."""
    if row.article == "@" and "@" in text:
        article, _, text = text.partition("@")
        text = f"{ARTICLE_BEGINS}{article}{ARTICLE_ENDS}{text}" if article else text
    elif row.article == "second" and second in "123456789" and 0 < int(second) < len(text):
        text = f"{ARTICLE_BEGINS}{text[: int(second)]}{ARTICLE_ENDS}{text[int(second) :]}"
    elif row.article == "controls":
        text = text.translate(_NON_SORTING)
    return row, text[slice(*row.at)] if row.at else text


def shown_title(title: str) -> str:
    r"""Show the title of a description: without controls, and with ` : ` before a subtitle.

    >>> shown_title("\x98Die \x9cUhrmacher :\x1fRoman /")
    'Die Uhrmacher : Roman'
    """
    proper, _, rest = title.replace(ARTICLE_BEGINS, "").replace(ARTICLE_ENDS, "").partition(SUBTITLE)
    shown = (part.rstrip(" :;=/") for part in (proper, rest))
    return " : ".join(part for part in shown if part)


def describe(statements: Iterable[Statement]) -> Description:
    """Make a description of the statements of a record, which come in the order of its fields."""
    found: dict[str, tuple[int, str]] = {}
    meanings: dict[str, tuple[int, dict[str, None]]] = {}  # by axis: words, of the row that comes first
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
        order, before = found.get(aspect, (row.order + 1, ""))
        if row.order > order:  # another row says it that comes first
            continue
        said = " ".join(text[:_LONGEST_PACKED].split())[:_LONGEST]  # XML is indented also within titles
        if aspect == "level":
            said = row.codes.get(text, "")
        elif aspect == "language":
            said = said.strip("|")  # a code that nobody filled in
        elif aspect == "year":
            said = " ".join(dict.fromkeys(_YEAR.findall(said)))
        if said and row.order == order:
            if aspect in _SEVERAL:  # a field that is repeated says several
                found[aspect] = order, f"{before} {said}"[:_LONGEST]
        elif said:
            found[aspect] = row.order, said
    if not found and not meanings:
        return NOTHING
    values = {aspect: text for aspect, (_, text) in found.items()}
    title = values.get("title")
    if title and (article := values.get("article")):
        title = f"{ARTICLE_BEGINS}{article} {ARTICLE_ENDS}{title}"
    if title and (subtitle := values.get("subtitle")):
        title += SUBTITLE + subtitle
    pages = values.get("pages")
    if start := values.get("start"):
        pages = start if _RANGE.search(start) else f"{start}-"
    return Description(
        title=title,
        year=values.get("year"),
        edition=values.get("edition"),
        part=values.get("part"),
        format=" ".join(word for axis in sorted(meanings) for word in meanings[axis][1]) or None,
        pages=pages,
        changed=values.get("changed"),
        level=values.get("level"),
        author=values.get("author"),
        language=values.get("language"),
        issue=values.get("issue"),
        fields=values.get("fields"),
    )
