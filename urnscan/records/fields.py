"""Where a record's own identifiers stand: a table of data (`fields.toml`), by format and by field."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType

from urnscan.records.record import Own

__all__ = ["OwnField", "Table", "of_subfields", "of_values", "own_fields", "wanted"]

_NO_BRACKETS = str.maketrans(dict.fromkeys("()[]", " "))


@dataclasses.dataclass(frozen=True, slots=True)
class OwnField:
    """A field that holds an identifier of the record itself; what is empty or None asks for nothing."""

    field: str
    first: str | None = None
    """The first indicators that it may have (MARC), each a character of this."""
    second: str | None = None
    parts: str = ""
    """The codes of the subfields that hold the identifier, each a character."""
    qualifier: str = ""
    """The code of the subfields behind such a one that say of what it is the identifier (MARC)."""
    scheme: str = ""
    """What the identifier is, in lower case."""
    scheme_in: str = ""
    """The subfield or attribute that says what it is."""
    schemes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What is meant by what stands there, if it is a code."""
    unless: tuple[str, str] | None = None
    """An attribute and its value with which the field counts for nothing."""


Table = Mapping[str, tuple[OwnField, ...]]
"""The fields of a format by their names."""


@functools.cache
def own_fields(format_name: str) -> Table:
    """The fields of a format (a table of `fields.toml`) that hold a record's own identifiers, by the name of the field."""
    import tomllib  # noqa: PLC0415 (needed only where own identifiers are asked for)

    with (files(__package__) / "fields.toml").open("rb") as file:
        entries = tomllib.load(file)[format_name]
    by_field: dict[str, list[OwnField]] = {}
    for entry in entries:
        names, unless = entry.pop("field").split(), entry.pop("unless", None)
        for name in names:
            by_field.setdefault(name, []).append(OwnField(name, **entry, unless=unless and tuple(unless)))
    return MappingProxyType({name: tuple(fields) for name, fields in by_field.items()})


def wanted(table: Table) -> frozenset[str]:
    """The names of the fields that hold identifiers, or say what these are."""
    return frozenset(name for rows in table.values() for row in rows for name in (row.field, row.scheme_in) if name)


def of_values(values: Iterable[tuple[str, str]], said: Mapping[str, str], table: Table) -> Iterator[Own]:
    """The identifiers of a record whose fields have one value each: names and values, and of those that say what another
    is, what is a key of its `schemes`.
    """
    for name, text in values:
        for row in table.get(name, ()):
            scheme = row.schemes.get(said.get(row.scheme_in, "")) if row.scheme_in else row.scheme
            if scheme is not None and text:
                yield Own(text, scheme)


def of_subfields(subfields: Sequence[tuple[str, str]], rows: Iterable[OwnField]) -> Iterator[Own]:
    """The identifiers in a field of these rows that has subfields: pairs of code and value. Empty ones say nothing."""
    for row in rows:
        scheme = row.scheme
        if row.scheme_in:
            scheme = next(
                (value.strip().lower() for code, value in subfields if code == row.scheme_in and value), scheme
            )
        for at, (code, value) in enumerate(subfields):
            if value and code and code in row.parts:
                yield Own(value.strip() + _qualifiers(subfields, at + 1, row.qualifier), scheme)


def _qualifiers(subfields: Sequence[tuple[str, str]], at: int, code: str) -> str:
    """What subfields of this code, from there on, say of the one before them, as it was written before there were any:
    ` (pbk.)`.
    """
    text = ""
    while code and at < len(subfields) and subfields[at][0] == code:
        said = subfields[at][1].translate(_NO_BRACKETS).strip(" :;,")
        text += f" ({said})" if said else ""
        at += 1
    return text
