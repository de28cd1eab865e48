"""The fields of records that contain record-level identifiers, by two tables of data.

`fields.toml` has the fields of identifiers that may become URNs, `keys.toml` the fields of other identifiers.

A reader splits a record into fields of three shapes: values with names (`of_value`), subfields with a tag
(`of_subfields`), or objects (`named_values.own_identifiers`). The rows of the tables are applied to these fields.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

_NO_BRACKETS = str.maketrans(dict.fromkeys("()[]", " "))


class Own(NamedTuple):
    """A record-level identifier: the text of a field that identifies the record itself, not a related record, and the
    kind of the identifier.
    """

    text: str
    """The text of the field, perhaps with more than the identifier: `3161484100 (pbk.)`."""
    scheme: str = ""
    """Kind of the identifier (`isbn`, `doi`) by the record or the table, in lower case; empty if neither names the
    kind.
    """
    is_key: bool = False
    """True for an identifier in a field of `keys.toml`: it gives keys, never a URN."""


@dataclasses.dataclass(frozen=True, slots=True)
class OwnField:
    """A row of `fields.toml` or `keys.toml` for a single field: the field contains record-level identifiers under some
    conditions. An empty value or None sets no condition. Several names in a text are separated by spaces.
    """

    field: str
    """Name of the field: a tag, a path of elements, or the name of a value."""
    first: str | None = None
    """Characters of which the first indicator must be one."""
    second: str | None = None
    """Characters of which the second indicator must be one."""
    parts: str = ""
    """In formats with subfields: codes of the subfields that contain an identifier. Without codes, nothing is found."""
    qualifier: str = ""
    """Code of the subfields after an identifier that say what it identifies (a binding, a volume)."""
    scheme: str = ""
    """Kind of the identifier; empty: only its text can show the kind."""
    scheme_in: str = ""
    """Place of the kind in a record: a subfield, an attribute (`@type`), another field or, in JSON, members of the
    value, of which the first with a text counts.
    """
    schemes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Code in `scheme_in` -> kind; with another code, the row does not apply. Empty: `scheme_in` names the kind itself,
    except in formats read by `of_value`, where the row never applies.
    """
    unless: tuple[str, str] | None = None
    """In XML, the name of an attribute, and its value; in JSON and CSV, names of other values, and values (none: any
    value). If the attribute, or a value of that name, has one of the values, the row does not apply. Not used in other
    formats.
    """
    unless_all: str = ""
    """Names of other fields: a record that has all of them is a part of a host, to which the identifier belongs."""
    but_same: str = ""
    """Two of the fields in `unless_all`: if their texts are the same, the record is not a part."""
    once: bool = False
    """Whether only the first field with this name counts."""
    source: str = ""
    """Source of the number if the record names none; not used for elements of XML. The source is written before the
    number: `(OCoLC)1234`.
    """
    source_in: str = ""
    """Place of the source in a record: a subfield, an attribute, or fields, of which the first with a value counts.
    """
    vague: bool = False
    """True for a name that many formats use (`id`, `url`): in a dump with no other known names, every URN counts."""
    is_key: bool = False
    """Whether the row is from `keys.toml`: its identifiers give keys, never a URN."""


Table = Mapping[str, tuple[OwnField, ...]]
"""Rows of a format by the name of their field."""


@functools.cache
def read_data(name: str) -> Mapping[str, Any]:
    """Return the contents of a TOML file: one in the folder of this module, by its name, or another, by its absolute
    path. They are cached, so do not change them.
    """
    import tomllib  # noqa: PLC0415 (not every run needs it)

    with (files(__package__) / name).open("rb") as file:
        return tomllib.load(file)


def table_rows(name: str, kind: str) -> Sequence[dict[str, Any]]:
    """Return the rows of a kind (`fields`, `keys` or `descriptions`) for a format; empty if there are none.

    `name` is the name of a table in the file of that kind (`fields.toml`), or the path of a TOML file that has tables
    of these three names.
    """
    rows: Sequence[dict[str, Any]]
    rows = read_data(name).get(kind, ()) if name.endswith(".toml") else read_data(f"{kind}.toml").get(name, ())
    return rows


@functools.cache
def own_fields(format_name: str, *, urns: bool = True, keys: bool = False) -> Table:
    """Return name of a field -> rows, for the fields of a format that contain record-level identifiers; empty for a
    format without such fields. `format_name`: name of a table of `fields.toml`, or path of another TOML file.

    With `keys`, the rows of `keys.toml` are included. Without `urns`, rows whose identifiers give no key are left out;
    without both, the result is empty.
    """
    if not (urns or keys):
        return MappingProxyType({})
    by_field: dict[str, list[OwnField]] = {}
    left_out = () if urns else read_data("keys.toml")["never"]["schemes"].split()
    for kind in ("fields", "keys") if keys else ("fields",):
        for row in table_rows(format_name, kind):
            if row.get("scheme") in left_out:
                continue
            entry = {**row}
            names, unless = entry.pop("field").split(), entry.pop("unless", None)
            entry |= {"unless": unless and tuple(unless), "is_key": kind == "keys"}
            for name in names:
                by_field.setdefault(name, []).append(OwnField(name, **entry))
    return MappingProxyType({name: tuple(rows) for name, rows in by_field.items()})


def field_names(table: Table) -> frozenset[str]:
    """Return the names that the rows of a table use: of fields with identifiers, of fields, subfields or attributes
    with their kind (`scheme_in`) and source (`source_in`), and of the fields in `unless_all` and `but_same`; not those
    in `unless`.
    """
    return frozenset(
        name
        for rows in table.values()
        for row in rows
        for name in f"{row.field} {row.scheme_in} {row.source_in} {row.unless_all} {row.but_same}".split()
    )


def of_value(
    text: str, rows: Iterable[OwnField], kinds: Mapping[str, str] | None = None, *, is_first: bool = True
) -> Iterator[Own]:
    """Yield the record-level identifiers in a field with a single value, `text`: one for each of `rows` (the rows of
    this field) that applies; none for an empty text. If there is a source, it is written before the text:
    `(OCoLC)1234`.

    `kinds`: name -> value of other fields, which rows name in `scheme_in`, `source_in`, `unless_all` and `but_same`. A
    row does not apply if the value in `scheme_in` is not in `schemes`, where case counts. `is_first`: the field is the
    first with its name; otherwise a row with `once` does not apply.
    """
    for row in rows:
        if (row.once and not is_first) or (row.unless_all and _is_part(row, kinds or {})):
            continue
        scheme = row.schemes.get((kinds or {}).get(row.scheme_in, "")) if row.scheme_in else row.scheme
        if scheme is not None and text:
            sources = (kinds[name] for name in row.source_in.split() if kinds and kinds.get(name))
            yield Own(with_source(text, next(sources, row.source)), scheme, row.is_key)


def _is_part(row: OwnField, kinds: Mapping[str, str]) -> bool:
    """Whether the identifier belongs to a host of the record. `kinds`: name -> value of the fields."""
    values = {re.sub(r"[\W_]+", "", kinds.get(name, "")) for name in row.but_same.split()}
    return kinds.keys() >= set(row.unless_all.split()) and (len(values) != 1 or values == {""})


def admitting(rows: Iterable[OwnField], first: str, second: str) -> tuple[OwnField, ...]:
    """Return the rows of `rows` that apply to a field with the indicators `first` and `second`, a character each."""
    return tuple(
        row for row in rows if (not row.first or first in row.first) and (not row.second or second in row.second)
    )


def of_subfields(subfields: Sequence[tuple[str, str]], rows: Iterable[OwnField]) -> list[Own]:
    """Return the record-level identifiers in a field with subfields, which are pairs of code and value; empty if there
    are none. Qualifiers and sources are written into the text of an identifier: `3161484100 (pbk.)`, `(OCoLC)1234`.

    `rows` are the rows of the tag that apply to the indicators of the field (`admitting`).
    """
    identifiers = []
    for row in rows:
        scheme, source, parts, qualifier = row.scheme, row.source, row.parts, row.qualifier
        if row.scheme_in:
            schemes = (value.strip().lower() for code, value in subfields if code == row.scheme_in and value)
            scheme = next(schemes, scheme)
            if row.schemes and (scheme := row.schemes.get(scheme, "")) == "":
                continue
        if row.source_in:
            source = next((value for code, value in subfields if code == row.source_in and value), source)
        for at, (code, value) in enumerate(subfields, 1):
            if code in parts and value and code:
                text = value.strip()
                if qualifier:
                    text += in_brackets(_values_with(qualifier, subfields[at:]))
                identifiers.append(Own(with_source(text, source) if source else text, scheme, row.is_key))
    return identifiers


def with_source(text: str, source: str) -> str:
    """Return a number with its source in brackets before it, as in MARC 035: `(OCoLC)1234`; unchanged if `source` is
    empty.
    """
    return f"({source.strip()}){text}" if source else text


def _values_with(code: str, subfields: Sequence[tuple[str, str]]) -> Iterator[str]:
    return (value for _, value in itertools.takewhile(lambda subfield: subfield[0] == code, subfields))


def in_brackets(qualifiers: Iterable[str]) -> str:
    """Join qualifiers to a text that can follow an identifier: each in brackets, with a space before it. Brackets in a
    qualifier become spaces, and ` :;,` at its ends is removed. Empty for qualifiers without text.

    ["pbk. :", "v. 1"] -> " (pbk.) (v. 1)"
    """
    texts = (qualifier.translate(_NO_BRACKETS).strip(" :;,") for qualifier in qualifiers)
    return "".join(f" ({text})" for text in texts if text)
